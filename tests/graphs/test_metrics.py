"""What a graph is like, against NetworkX, plain loops and published tables."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantograf import Graph, UserError, load
from pantograf.graphs import describe, metrics, reorder

PAIRS = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=40)


def made(edges: list[tuple[int, int]], undirected: bool = False) -> tuple[Graph, Any]:
    graph = Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n=15, undirected=undirected)
    theirs = (nx.Graph if undirected else nx.DiGraph)()
    theirs.add_nodes_from(range(15))
    theirs.add_edges_from(edges)
    return graph, theirs


@given(PAIRS)
def test_components(edges: list[tuple[int, int]]) -> None:
    graph, theirs = made(edges)
    weak, strong = metrics.components(graph), metrics.components(graph, strong=True)
    assert weak.number == nx.number_weakly_connected_components(theirs)
    assert weak.largest == max(map(len, nx.weakly_connected_components(theirs)))
    assert strong.number == nx.number_strongly_connected_components(theirs)
    for part in nx.weakly_connected_components(theirs):
        assert len({weak.of_vertex[v] for v in part}) == 1


@given(PAIRS, st.integers(0, 14))
def test_levels(edges: list[tuple[int, int]], source: int) -> None:
    graph, theirs = made(edges)
    expected = nx.single_source_shortest_path_length(theirs, source)
    assert metrics.levels(graph, source).tolist() == [expected.get(v, -1) for v in range(15)]


def test_levels_of_a_long_path() -> None:
    assert (metrics.levels(load("path{vertices=50000}"), 10) == np.abs(np.arange(50_000) - 10)).all()
    with pytest.raises(UserError, match="5 is no vertex of path"):
        metrics.levels(load("path{vertices=5}"), 5)


@given(PAIRS)
def test_diameter_is_a_lower_bound(edges: list[tuple[int, int]]) -> None:
    graph, theirs = made(edges, undirected=True)
    largest = max(nx.connected_components(theirs), key=len)
    same_size = [part for part in nx.connected_components(theirs) if len(part) == len(largest)]
    bound = max(nx.diameter(theirs.subgraph(part)) for part in same_size)
    estimate = metrics.diameter_estimate(graph, sweeps=15)
    assert estimate <= bound
    if nx.is_forest(theirs) and len(same_size) == 1 and not any(u == v for u, v in edges):
        assert estimate == bound  # a double sweep is exact on trees


def test_diameter_of_known_graphs() -> None:
    assert metrics.diameter_estimate(load("path{vertices=100}")) == 99
    assert metrics.diameter_estimate(load("path{vertices=100, directed=true}")) == 99
    assert metrics.diameter_estimate(load("grid{rows=10, columns=20}")) == 28
    assert metrics.diameter_estimate(load("star{vertices=50}")) == 2
    assert metrics.diameter_estimate(Graph.from_edges([], [], n=3)) == 0
    with pytest.raises(UserError, match="sweeps cannot be 0"):
        metrics.diameter_estimate(load("star"), 0)


def test_degrees() -> None:
    values = np.array([1, 1, 2, 8])
    found = metrics.degrees(values)
    assert found[:3] == (1, 8, 3.0)
    assert found.deviation == pytest.approx(np.std(values))
    assert found.skewness == pytest.approx(np.mean((values - 3) ** 3) / np.std(values) ** 3)
    assert found.top_share == pytest.approx(8 / 12)
    assert metrics.degrees(np.array([2, 2])).skewness == 0
    assert metrics.degrees(np.array([], np.int64)) == (0, 0, 0, 0, 0, 0)


def plain_locality(graph: Graph, block: int, warp: int) -> tuple[float, float, float]:
    """AN_L, AN_R and Imbalance by the equations, one vertex at a time."""
    src, dst, _ = graph.edges()
    local = sum(int(u != v and u // block == v // block) for u, v in zip(src, dst, strict=True)) / graph.n
    remote = sum(int(u // block != v // block) for u, v in zip(src, dst, strict=True)) / graph.n
    marked = blocks = 0
    for begin in range(0, graph.n, block):
        degrees = graph.out_degrees[begin : begin + block]
        values = sorted(degrees[at : at + warp].max() for at in range(0, len(degrees), warp))
        best = (float("inf"), 0.0)
        for cut in range(1, len(values)):
            low, high = np.array(values[:cut]), np.array(values[cut:])
            error = ((low - low.mean()) ** 2).sum() + ((high - high.mean()) ** 2).sum()
            if error < best[0] - 1e-9:
                best = (error, high.mean() - low.mean())
        blocks += 1
        marked += best[1] > 10
    return local, remote, marked / blocks


@pytest.mark.parametrize("n", [7, 64, 200, 333])
@pytest.mark.parametrize("seed", [1, 2])
def test_locality_by_its_equations(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    src = (random.random(3000) ** 3 * n).astype(int)
    graph = Graph.from_edges(src, random.integers(0, n, 3000), n=n)
    for block, warp in ((64, 8), (32, 32), (50, 7)):
        found = metrics.locality(graph, block=block, warp=warp, multiprocessors=4)
        assert (found.an_local, found.an_remote, found.imbalance) == pytest.approx(plain_locality(graph, block, warp))
        assert found.volume_kib == pytest.approx((n + 3000) * 4 / 1024 / 4)
        assert found.reuse == pytest.approx(0.5 * (1 + (found.an_local - found.an_remote) * n / 3000))


def test_locality_of_nothing() -> None:
    assert metrics.locality(Graph.from_edges([], [])) == (0, 0, 0, 0, 0)
    assert metrics.locality(Graph.from_edges([], [], n=9)).reuse == 0
    with pytest.raises(UserError, match="at least 1"):
        metrics.locality(load("star"), block=0)


@pytest.mark.parametrize(
    ("name", "volume", "local", "remote", "reuse", "imbalance"),
    [
        ("dictionary28", 60.085, 1.215, 2.167, 0.359, 18 / 206),
        ("wing", 79.458, 0.020, 3.899, 0.005, 0.0),
        ("email-EuAll-und", 258.9, 0.229, 2.520, 0.083, 0.470),
    ],
)
def test_locality_as_published(
    shared: Any, name: str, volume: float, local: float, remote: float, reuse: float, imbalance: float
) -> None:
    """Table II of Salvador et al., with the corrections of the design: its row of wing repeats another graph's reuse."""
    found = metrics.locality(load(shared / "data" / f"{name}.npz"))
    assert tuple(found) == pytest.approx((volume, local, remote, reuse, imbalance), abs=6e-4)


def test_real_graphs_have_the_expected_components_and_levels(shared: Any) -> None:
    expected = json.loads((shared / "data" / "expected.json").read_text())
    for name in ("cnr-2000", "USA-road-NY", "wiki-Vote", "gowalla-checkins", "dictionary28"):
        graph = load(shared / "data" / f"{name}.npz")
        assert metrics.components(graph).number == expected[name]["weak_components"]
        for key, source in (("bfs_from_0", 0), ("bfs_from_hub", expected[name]["bfs_source_hub"])):
            hops = metrics.levels(graph, source)
            reached = hops[hops >= 0]
            wanted = expected[name][key]
            assert (reached.size, reached.max(), reached.sum()) == (
                wanted["reached"],
                wanted["depth"],
                wanted["level_sum"],
            )


def test_describe_is_flat_and_plain() -> None:
    graph = Graph.from_edges([0, 0, 1, 3], [1, 1, 1, 4], [1.5, 2.5, 3.5, 0.5], n=7, name="g")
    found = describe(graph)
    assert json.loads(json.dumps(found)) == found
    assert (found["vertices"], found["edges"], found["self_loops"], found["parallel_edges"]) == (7, 4, 1, 1)
    assert (found["isolated"], found["weights"], found["weights.least"], found["weights.greatest"]) == (
        3,
        "f64",
        0.5,
        3.5,
    )
    assert (found["components"], found["components.largest"], found["diameter.at_least"]) == (5, 2, 1)
    assert (found["out_degree.greatest"], found["in_degree.greatest"]) == (2, 3)
    assert "components" not in describe(graph, deep=False)
    assert describe(Graph.from_edges([], []))["vertices"] == 0
    assert describe(Graph.from_bipartite([0], [0]))["bipartite"] == 1


@given(PAIRS, st.integers(0, 100))
def test_relabeled(edges: list[tuple[int, int]], seed: int) -> None:
    graph, _ = made(edges)
    names = [f"v{v}" for v in range(15)]
    graph = Graph.from_edges(*graph.edges()[:2], np.arange(graph.m), n=15, labels=names)
    graph.coordinates = np.arange(30.0).reshape(15, 2)

    def content(g: Graph) -> set[tuple[str, str, int]]:
        src, dst, weights = g.edges()
        assert g.labels is not None
        assert weights is not None
        return set(zip(g.labels[src].tolist(), g.labels[dst].tolist(), weights.tolist(), strict=True))

    for other in (graph.relabeled(reorder.at_random(graph, seed)), graph.relabeled_by_degree()):
        assert content(other) == content(graph)
        assert other.coordinates is not None
        assert [other.coordinates[other.index_of(name)].tolist() for name in names] == graph.coordinates.tolist()
    by_degree = graph.relabeled_by_degree()
    assert (np.diff(by_degree.out_degrees) <= 0).all()
    order = sorted(range(15), key=lambda v: (-graph.out_degrees[v], v))
    assert by_degree.labels is not None
    assert by_degree.labels.tolist() == [f"v{v}" for v in order]


def test_relabeling_needs_a_permutation() -> None:
    graph = load("path{vertices=3}")
    assert graph.relabeled([2, 0, 1]).edges()[1].tolist() == [1, 2, 0, 0]
    for wrong in ([0, 1], [0, 0, 1], [0, 1, 3], [0, -1, 1]):
        with pytest.raises(UserError, match="is no permutation of 0 to 2"):
            graph.relabeled(wrong)
    with pytest.raises(UserError, match="a seed cannot be -1"):
        reorder.at_random(graph, -1)
