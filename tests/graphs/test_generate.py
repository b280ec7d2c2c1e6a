"""Generators: what they make, and that the same text makes it again."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from pantograf import Graph, UserError, load, spec
from pantograf.graphs import GENERATORS, generate, metrics

SMALL = {
    "kronecker": "kronecker{scale=8, degree=6}",
    "uniform": "uniform{scale=8, degree=6}",
    "grid": "grid{rows=7, columns=9}",
    "road": "road{rows=12, columns=15}",
    "star": "star{vertices=20}",
    "path": "path{vertices=20}",
    "cycle": "cycle{vertices=20}",
    "complete": "complete{vertices=12}",
    "tree": "tree{vertices=20, branching=3}",
    "small_world": "small_world{vertices=60, degree=4, rewired=0.2}",
    "ratings": "ratings{users=30, items=20, ratings=200}",
}
FINGERPRINTS = {
    "kronecker": "336066225f73235a",
    "uniform": "9aa02a3368a3ae3d",
    "grid": "1ddfc3f9e69ebe82",
    "road": "ae8330b2aae1a30a",
    "star": "ca9217cf0b965af7",
    "path": "1d953035db35f6ed",
    "cycle": "6ec4fe3d7e1b771e",
    "complete": "6fe83db23a603fa4",
    "tree": "1c6406b5c199e90d",
    "small_world": "f375068517a4f21f",
    "ratings": "b74e158cf0a2da60",
}


def test_every_generator_is_here() -> None:
    assert SMALL.keys() == GENERATORS.keys() == FINGERPRINTS.keys()


@pytest.mark.parametrize("name", SMALL)
def test_the_same_text_makes_the_same_graph(name: str) -> None:
    graph = load(SMALL[name])
    assert graph.equals(load(SMALL[name]))
    assert graph.fingerprint == FINGERPRINTS[name], "the generator's output changed, and with it every stored result"
    assert Graph.from_csr(*graph.rows, symmetric=True).equals(graph)
    assert load(graph.name).equals(graph)


@pytest.mark.parametrize("name", ["kronecker", "uniform", "road", "small_world", "ratings"])
def test_another_seed_makes_another_graph(name: str) -> None:
    first, second = (load(SMALL[name][:-1] + f", seed={seed}}}") for seed in (1, 2))
    assert first.fingerprint == load(SMALL[name]).fingerprint
    assert first.fingerprint != second.fingerprint
    with pytest.raises(UserError, match="a seed cannot be -1"):
        load(SMALL[name][:-1] + ", seed=-1}")


def equal_edges(graph: Graph, expected: Any) -> bool:
    src, dst, _ = graph.edges()
    both = {(u, v) for u, v in expected.edges()} | ({(v, u) for u, v in expected.edges()} if graph.symmetric else set())
    return (
        graph.n == len(expected) and set(zip(src.tolist(), dst.tolist(), strict=True)) == both and graph.m == len(both)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("star{vertices=9}", nx.star_graph(8)),
        ("path{vertices=9}", nx.path_graph(9)),
        ("path{vertices=9, directed=true}", nx.path_graph(9, create_using=nx.DiGraph)),
        ("cycle{vertices=9}", nx.cycle_graph(9)),
        ("cycle{vertices=9, directed=true}", nx.cycle_graph(9, create_using=nx.DiGraph)),
        ("complete{vertices=6}", nx.complete_graph(6)),
        ("tree{vertices=15}", nx.full_rary_tree(2, 15)),
        ("tree{vertices=14, branching=3}", nx.full_rary_tree(3, 14)),
        ("grid{rows=3, columns=4}", nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4), ordering="sorted")),
        ("small_world{vertices=9, degree=4, rewired=0.0}", nx.watts_strogatz_graph(9, 4, 0.0)),
    ],
)
def test_known_graphs(text: str, expected: Any) -> None:
    assert equal_edges(load(text), expected)


@pytest.mark.parametrize(
    "text", ["path{vertices=0}", "grid{rows=0, columns=5}", "road{rows=1, columns=1}", "complete{vertices=1}"]
)
def test_almost_nothing(text: str) -> None:
    graph = load(text)
    assert graph.m == 0
    assert graph.n <= 1


def quadrants(graph: Graph) -> list[float]:
    """The share of edges in each quadrant of the matrix."""
    src, dst, _ = graph.edges()
    half = graph.n // 2
    return (np.bincount(2 * (src >= half) + (dst >= half), minlength=4) / graph.m).tolist()  # type: ignore[no-any-return]


def test_kronecker_has_gaps_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    every = "directed=true, self_loops=keep, duplicates=keep"
    graph = load(f"kronecker{{scale=12, degree=16, {every}}}")
    assert (graph.n, graph.m) == (4096, 65536)
    assert metrics.degrees(graph.out_degrees).skewness > 4
    assert quadrants(graph) == pytest.approx([0.25] * 4, abs=0.1)  # ids are permuted
    monkeypatch.setattr(generate, "permutation", lambda n, *_: np.arange(n))
    assert quadrants(load(f"kronecker{{scale=12, degree=16, {every}}}")) == pytest.approx(
        [0.57, 0.19, 0.19, 0.05], abs=0.01
    )
    assert quadrants(load(f"kronecker{{scale=12, a=0.1, b=0.2, c=0.3, {every}}}")) == pytest.approx(
        [0.1, 0.2, 0.3, 0.4], abs=0.01
    )


def test_sizes_as_gapbs_prints_them() -> None:
    """GAPBS makes 10,496 and 16,125 undirected edges with its own random numbers (graph-g10.out, graph-u10.out)."""
    assert load("kronecker{scale=10}").m / 2 == pytest.approx(10_496, rel=0.02)
    assert load("uniform{scale=10}").m / 2 == pytest.approx(16_125, rel=0.01)


def test_uniform_is_uniform() -> None:
    graph = load("uniform{scale=10, degree=64, directed=true, self_loops=keep, duplicates=keep}")
    assert graph.m == 65536
    for degrees in (graph.out_degrees, graph.in_degrees):
        assert degrees.min() > 25
        assert degrees.max() < 110


def test_road_is_a_connected_part_of_a_grid() -> None:
    road, grid = load("road{rows=40, columns=50}"), load("grid{rows=40, columns=50}")
    mine, whole = ({(u, v) for u, v in zip(*(a.tolist() for a in g.edges()[:2]), strict=True)} for g in (road, grid))
    assert mine < whole
    assert road.m == 2 * round(2000 * 2.6 / 2)
    assert metrics.components(road).number == 1
    assert road.weights is not None
    assert road.weights.dtype == np.int32
    assert (road.weights.min() >= 20) and (road.weights.max() <= 200)
    assert len(np.unique(road.weights)) > 50
    tree = load("road{rows=40, columns=50, degree=2, weights=none}")
    assert tree.m == 2 * 2000  # a spanning tree and one edge
    assert tree.weights is None


def test_ratings_are_bipartite_and_skewed() -> None:
    graph = load("ratings{users=500, items=100, ratings=8000}")
    assert (graph.n, graph.bipartite) == (600, 500)
    src, dst, ratings = graph.edges()
    assert ratings is not None
    assert set(ratings.tolist()) == {1, 2, 3, 4, 5}
    assert ((src < 500) != (dst < 500)).all()
    popularity = graph.out_degrees[500:]
    assert popularity.max() > 5 * np.median(popularity)
    even = load("ratings{users=500, items=100, ratings=8000, skew=0.0}").out_degrees[500:]
    assert even.max() < 2 * np.median(even)


def test_small_world_is_rewired() -> None:
    ring, moved = load("small_world{vertices=2000, rewired=0.0}"), load("small_world{vertices=2000, rewired=0.1}")
    assert 0.98 * ring.m < moved.m <= ring.m
    kept = len(
        set(zip(*map(np.ndarray.tolist, ring.edges()[:2]), strict=True))
        & set(zip(*map(np.ndarray.tolist, moved.edges()[:2]), strict=True))
    )
    assert kept / ring.m == pytest.approx(0.9, abs=0.03)
    assert metrics.diameter_estimate(moved) < metrics.diameter_estimate(ring) / 10


def test_random_trees() -> None:
    graph = load("tree{vertices=500, branching=0, directed=true}")
    src, dst, _ = graph.edges()
    assert sorted(dst.tolist()) == list(range(1, 500))
    assert (src < dst).all()
    assert graph.out_degrees.max() > 3


@pytest.mark.parametrize(
    "text", ["kronecker{scale=6, weights=random{low=2, high=4}}", "grid{rows=3, columns=3, weights=unit{type=f32}}"]
)
def test_weights_of_generators(text: str) -> None:
    graph = load(text)
    assert graph.name == text.replace("scale=6, ", "scale=6, ")
    assert graph.weights is not None
    assert graph.symmetric
    assert graph.weights.min() >= 1
    assert graph.weights.max() <= 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kronecker{scale=41}", "kronecker.scale cannot be 41"),
        ("kronecker{a=0.9, b=0.9}", "0.9, 0.9, 0.19 are no probabilities"),
        ("uniform{scale=-1}", "uniform.scale cannot be -1"),
        ("uniform{scale=39}", "would take about"),
        ("complete{vertices=10000000}", "would take about"),
        ("star{vertices=0}", "star.vertices cannot be 0"),
        ("cycle{vertices=2}", "cycle.vertices cannot be 2"),
        ("small_world{degree=3}", "small_world.degree cannot be 3"),
        ("small_world{vertices=4, degree=4}", "small_world.degree cannot be 4"),
        ("small_world{rewired=1.5}", "small_world.rewired cannot be 1.5"),
        ("road{degree=5.0}", "road.degree cannot be 5.0"),
        ("road{jitter=0.7}", "road.jitter cannot be 0.7"),
        ("ratings{low=5, high=4}", "ratings.high cannot be 4"),
        ("tree{branching=-1}", "tree.branching cannot be -1"),
        ("kronecker{scales=4}", "kronecker has no setting 'scales'"),
        ("kroneker{scale=4}", "no generator is called 'kroneker'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(text)
    assert message in caught.value.message
    assert caught.value.hint


def test_text_form_round_trips() -> None:
    for name, kind in GENERATORS.items():
        made = spec.build(kind, SMALL[name])
        assert spec.build(kind, spec.show(made)) == made
