"""Weights given to a graph."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pantograf import Graph, UserError
from pantograf.graphs import weights
from pantograf.graphs.csr import edge_blocks, row_ranges


def path(**options: object) -> Graph:
    return Graph.from_edges([0, 1, 2], [1, 2, 3], **options)  # type: ignore[arg-type]


def values(graph: Graph) -> list[float]:
    assert graph.weights is not None
    return graph.weights.tolist()  # type: ignore[no-any-return]


def test_unit_and_none() -> None:
    graph = path(undirected=True)
    assert values(graph.with_weights("unit")) == [1] * 6
    assert graph.with_weights("unit{type=f32}").weights.dtype == np.float32  # type: ignore[union-attr]
    assert graph.with_weights("unit").with_weights("none").weights is None
    assert graph.with_weights("unit").with_weights(None).weights is None
    assert graph.with_weights(weights.Unit()).symmetric


def test_random_is_the_same_both_ways_and_everywhere() -> None:
    random = np.random.default_rng(1)
    graph = Graph.from_edges(random.integers(0, 500, 20_000), random.integers(0, 500, 20_000), undirected=True)
    weighted = graph.with_weights("random{low=3, high=7, seed=9}")
    assert weighted.symmetric
    assert set(values(weighted)) == {3, 4, 5, 6, 7}
    assert Graph.from_csr(*weighted.rows, symmetric=True).symmetric
    counts = np.bincount(weighted.weights)[3:]  # type: ignore[arg-type]
    assert counts.min() > 0.18 * graph.m
    assert not np.array_equal(weighted.weights, graph.with_weights("random{low=3, high=7, seed=8}").weights)
    first = values(Graph.from_edges([0, 2], [1, 1]).with_weights("random{low=1, high=1000, seed=1}"))
    assert first == [drawn(0, 1, 1), drawn(1, 2, 1)]


def drawn(low_end: int, high_end: int, seed: int) -> int:
    """A weight from 1 to 1000 in Python's whole numbers."""
    mask = 2**64 - 1

    def mixed(x: int) -> int:
        x = (x + 0x9E3779B97F4A7C15) & mask
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return x ^ (x >> 31)

    draw = mixed((mixed(low_end ^ mixed(seed)) + high_end) & mask) >> 32
    return 1 + (draw * 1000 >> 32)


def test_random_at_the_limits() -> None:
    assert values(path().with_weights("random{low=-5, high=-5}")) == [-5, -5, -5]
    wide = path().with_weights("random{low=-2147483648, high=2147483647}")
    assert wide.weights is not None
    assert wide.weights.dtype == np.int32
    for text, message in [
        ("random{low=3, high=2}", "random weights from 3 to 2 are none"),
        ("random{low=0, high=256, type=u8}", "weights 0 to 256 do not fit in u8"),
        ("random{low=-1, high=4294967296, type=i64}", "span 4294967298 values"),
    ]:
        with pytest.raises(UserError, match=message):
            path().with_weights(text)


def test_rounded_and_converted() -> None:
    graph = path(weight=[0.4, 1.6, -2.5])
    assert values(graph.with_weights("rounded")) == [0, 2, -2]
    assert graph.with_weights("rounded{type=i64}").weights.dtype == np.int64  # type: ignore[union-attr]
    assert graph.with_weights("converted{type=f32}").weights.dtype == np.float32  # type: ignore[union-attr]
    assert values(path(weight=[1.0, 2.0, 3.0]).with_weights("converted{type=u8}")) == [1, 2, 3]
    cases = [
        (graph, "converted{type=i32}", "weight 0.4 of graph is no i32"),
        (graph, "rounded{type=u8}", "weight -2.0 of graph does not fit in u8"),
        (path(weight=[1, 2, 300]), "converted{type=u8}", "weight 300 of graph does not fit in u8"),
        (path(weight=[1, np.nan, 2]), "rounded", "a weight of graph is NaN, which no i32 can hold"),
        (path(weight=[1, np.inf, 2]), "rounded", "weight inf of graph does not fit in i32"),
        (path(), "rounded", "graph has no weights that could be rounded"),
        (path(), "coordinates", "graph has no coordinates"),
        (path(), "heavy", "no weights are called 'heavy'"),
        (path(), "unit{type=f16}", "unit.type cannot be 'f16'"),
    ]
    for made, text, message in cases:
        with pytest.raises(UserError, match=message) as caught:
            made.with_weights(text)
        assert caught.value.hint


def test_from_coordinates() -> None:
    graph = path(undirected=True)
    graph.coordinates = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0], [3.0, 5.0]])
    assert values(graph.with_weights("coordinates")) == [5.0, 5.0, 1.0, 1.0, 0.0, 0.0]
    assert values(graph.with_weights("coordinates{scale=10, type=i32}")) == [50, 50, 10, 10, 0, 0]
    degree = Graph.from_edges([0], [1])
    degree.coordinates = np.array([[10.0, 0.0], [11.0, 0.0]])
    assert values(degree.with_weights("coordinates{globe=true}")) == [pytest.approx(111_195, rel=1e-4)]


def test_an_array_in_the_order_of_edges() -> None:
    graph = path(undirected=True)
    given = np.array([1, 1, 2, 2, 3, 3], np.int16)
    same = graph.with_weights(given)
    given[:] = 0
    assert values(same) == [1, 1, 2, 2, 3, 3]
    assert same.symmetric
    other = graph.with_weights([1, 2, 3, 4, 5, 6])
    assert not other.symmetric
    assert values(other.transposed()) == [2, 1, 4, 3, 6, 5]
    with pytest.raises(UserError, match="5 weights are given for 6 edges"):
        graph.with_weights([1, 2, 3, 4, 5])


def test_blocks_cover_every_edge_once() -> None:
    random = np.random.default_rng(1)
    graph = Graph.from_edges(random.integers(0, 50, 3000), random.integers(0, 50, 3000))
    for size in (1, 7, 100, 10**6):
        ranges = list(row_ranges(graph, size))
        assert ranges[0][0] == 0
        assert ranges[-1][1] == graph.n
        assert all(a[1] == b[0] and a[0] < a[1] for a, b in itertools.pairwise(ranges))
    src = np.concatenate([src for _, src, _ in edge_blocks(graph)])
    assert (src == graph.edges()[0]).all()
