"""The oracles agree with NetworkX, with published values, and with `expected.json`; and each check tells wrong results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from algorithm_cases import karate, tree_and_more

import pantograf as pg
from pantograf.algorithms import Algorithm, find
from pantograf.graphs import Graph
from pantograf.result import Result

SEEDS = range(4)


def file_of(name: str) -> Any:
    """The module of an algorithm, for its oracle."""
    find(name)
    return sys.modules[f"pantograf.algorithms.{name}"]


def networkx_of(graph: Graph, multi: bool = False) -> Any:
    kind = {
        (True, True): nx.MultiGraph,
        (False, True): nx.MultiDiGraph,
        (True, False): nx.Graph,
        (False, False): nx.DiGraph,
    }
    made = kind[graph.symmetric, multi]()
    made.add_nodes_from(range(graph.n))
    src, dst, weights = graph.edges()
    for k in range(graph.m):
        if not graph.symmetric or src[k] <= dst[k]:
            made.add_edge(int(src[k]), int(dst[k]), **({} if weights is None else {"weight": weights[k].item()}))
    return made


def as_list(found: dict[int, Any], n: int, missing: Any) -> list[Any]:
    return [found.get(v, missing) for v in range(n)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("undirected", [True, False])
class TestAgainstNetworkX:
    def test_levels(self, seed: int, undirected: bool) -> None:
        graph = tree_and_more(40, 30, seed, undirected=undirected)
        expected = as_list(nx.single_source_shortest_path_length(networkx_of(graph), seed), graph.n, -1)
        assert file_of("bfs_depth").levels(graph, seed).tolist() == expected

    def test_distances(self, seed: int, undirected: bool) -> None:
        graph = tree_and_more(40, 30, seed, undirected=undirected, weight="i32")
        multi = networkx_of(graph, multi=True)
        expected = as_list(nx.single_source_dijkstra_path_length(multi, seed), graph.n, np.inf)
        assert file_of("sssp").distances(graph, seed).tolist() == expected

    def test_components(self, seed: int, undirected: bool) -> None:
        graph = tree_and_more(40, 3, seed, undirected=undirected)
        made = networkx_of(graph)
        expected = nx.connected_components(made) if undirected else nx.weakly_connected_components(made)
        label = file_of("cc").weak_components(graph)
        assert {frozenset(np.flatnonzero(label == k).tolist()) for k in np.unique(label)} == {
            frozenset(c) for c in expected
        }

    def test_ranks(self, seed: int, undirected: bool) -> None:
        graph = tree_and_more(40, 30, seed, undirected=undirected)
        plain = Graph.from_edges(*graph.edges()[:2], n=graph.n, duplicates="drop")
        expected = nx.pagerank(networkx_of(plain), alpha=0.7, tol=1e-13, max_iter=1000)
        found = file_of("pagerank").stationary(plain, 0.7, spread=True)
        np.testing.assert_allclose(found, as_list(expected, graph.n, None), rtol=1e-9)
        dropped = file_of("pagerank").stationary(plain, 0.7, spread=False)
        np.testing.assert_allclose(dropped / dropped.sum(), found, rtol=1e-9)

    def test_dependencies(self, seed: int, undirected: bool) -> None:
        graph = tree_and_more(40, 30, seed, undirected=undirected)
        plain = Graph.from_edges(*graph.edges()[:2], n=graph.n, duplicates="drop", self_loops="drop")
        everything = range(graph.n)
        expected = nx.betweenness_centrality_subset(networkx_of(plain), [seed], everything)
        np.testing.assert_allclose(
            file_of("bc").dependencies(plain, seed), as_list(expected, graph.n, None), rtol=1e-12, atol=1e-12
        )

    def test_cores_and_triangles(self, seed: int, undirected: bool) -> None:
        algorithm = find("triangles")
        graph = algorithm.prepare(tree_and_more(40, 90, seed, undirected=undirected))
        made = networkx_of(graph)
        assert file_of("kcore").cores(graph).tolist() == as_list(nx.core_number(made), graph.n, None)
        assert file_of("triangles").count(graph) == sum(nx.triangles(made).values()) // 3 > 0


def test_first_factors_are_splitmix64() -> None:
    """The keys folded one after another, by Python's own integers."""

    def fold(*keys: int) -> float:
        state, mask = 0, 2**64 - 1
        for key in keys:
            x = (state + 0x9E3779B97F4A7C15 + key) & mask
            x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
            x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
            state = x ^ (x >> 31)
        return (state >> 11) / 2**53

    drawn = file_of("cf").drawn(9, 3)
    assert drawn[2, 4] == fold(9, 2, 4)
    assert drawn[0, 0] == fold(9, 0, 0)
    assert 0.3 < drawn.mean() < 0.7


def test_a_step_that_suits_lowers_the_error() -> None:
    algorithm = find("cf")
    graph = algorithm.prepare(karate())
    arguments = {"step": algorithm.arguments(graph)["step"], "penalty": 0.001, "seed": 1}
    errors = [
        algorithm.summarise(
            graph, {}, Result({"factors": file_of("cf").descended(graph, {**arguments, "rounds": r})}, {}, {})
        )["rmse"]
        for r in (0, 10, 200)
    ]
    assert errors[0] > errors[1] > errors[2]


# --- right results pass and wrong ones do not


def right_results() -> dict[str, tuple[Graph, dict[str, Any], dict[str, Any]]]:
    """For each algorithm a graph, arguments and a right result that no program of ours computed."""
    graph = find("kcore").prepare(tree_and_more(40, 60, 8, undirected=True))
    weighted = graph.with_weights("random{low=1, high=9, seed=1}")
    made, heavy = networkx_of(graph), networkx_of(weighted)
    n = graph.n
    depth = as_list(nx.single_source_shortest_path_length(made, 3), n, 2**31 - 1)
    parent = [3 if v == 3 else -1 for v in range(n)]
    for v, above in nx.bfs_predecessors(made, 3):
        parent[v] = above
    distance = as_list(nx.single_source_dijkstra_path_length(heavy, 3), n, 2**31 - 1)
    component = [min(nx.node_connected_component(made, v)) for v in range(n)]
    rank = np.array(as_list(nx.pagerank(made, tol=1e-13, max_iter=1000), n, None))
    one = 2 * np.array(as_list(nx.betweenness_centrality_subset(made, [3], range(n)), n, None))
    color = as_list(nx.greedy_color(made), n, None)
    independent = np.zeros(n, bool)
    independent[list(nx.maximal_independent_set(made, seed=1))] = True
    x = np.linspace(-1, 1, n)
    ratings = {"rounds": 2, "step": 0.001, "penalty": 0.1, "seed": 1}
    far = int(np.argmax(np.where(np.array(depth) < n, depth, -1)))
    return {
        "bfs": (graph, {"source": 3}, {"parent": np.array(parent)}),
        "bfs_depth": (graph, {"source": 3}, {"depth": np.array(depth, np.int32)}),
        "sssp": (weighted, {"source": 3}, {"distance": np.array(distance, np.int32)}),
        "bellman_ford": (weighted, {"source": 3}, {"distance": np.array(distance, np.int32)}),
        "ppsp": (weighted, {"source": 3, "target": far}, {"length": distance[far]}),
        **{
            name: (graph, {}, {"component": np.array(component)})
            for name in ("cc", "wcc", "cc_pointer_jumping", "cc_afforest")
        },
        "pagerank": (graph, {"tolerance": 1e-9}, {"rank": rank}),
        "pagerank_in_place": (graph, {"tolerance": 1e-6, "spread": True}, {"rank": rank}),
        "pagerank_delta": (graph, {"tolerance": 1e-9}, {"rank": rank}),
        "bc": (graph, {"source": 3}, {"centrality": one}),
        "betweenness": (graph, {"sources": [3]}, {"centrality": one}),
        "kcore": (graph, {}, {"coreness": np.array(as_list(nx.core_number(made), n, None))}),
        "triangles": (graph, {}, {"triangles": sum(nx.triangles(made).values()) // 3}),
        "mis": (graph, {}, {"independent": independent}),
        "coloring": (graph, {}, {"color": np.array(color)}),
        "spmv": (weighted, {"x": x}, {"y": nx.to_numpy_array(heavy, nodelist=range(n)) @ x}),
        "cf": (weighted, ratings, {"factors": dense_descent(weighted, ratings)}),
    }


def dense_descent(graph: Graph, arguments: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The factors by loops over single edges."""
    factors = file_of("cf").drawn(arguments["seed"], graph.n)
    src, dst, weights = graph.edges()
    assert weights is not None
    for _ in range(arguments["rounds"]):
        gradient = np.zeros_like(factors)
        for u, v, rating in zip(src, dst, weights, strict=True):
            gradient[v] += (rating - factors[u] @ factors[v]) * factors[u]
        factors = factors + arguments["step"] * (gradient - arguments["penalty"] * factors)
    return factors


RIGHT = right_results()


def test_every_algorithm_has_a_right_result() -> None:
    assert sorted(RIGHT) == pg.algorithms.names()


def checked(name: str, values: dict[str, Any]) -> list[str]:
    algorithm: Algorithm = find(name)
    graph, arguments, _ = RIGHT[name]
    # the parameters of the program come from its tracing; a check alone needs the arguments only
    complete = {"damping": 0.85, "rounds": 10_000, "spread": True, **arguments}
    return algorithm.compare(graph, complete, Result(values, {}, {}))


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_right_result_passes(name: str) -> None:
    assert checked(name, RIGHT[name][2]) == []


@pytest.mark.parametrize("name", sorted(RIGHT))
@pytest.mark.parametrize("vertex", [0, 7, 20, 33])
def test_one_changed_value_is_found(name: str, vertex: int) -> None:
    graph, arguments, values = RIGHT[name]
    ((key, value),) = values.items()
    if np.isscalar(value):
        wrong: Any = value + 1
    else:
        wrong = np.array(value)
        old = wrong[vertex].copy() if wrong.ndim > 1 else wrong[vertex]
        if wrong.dtype == bool:
            wrong[vertex] = not old
        elif name == "coloring":
            wrong[vertex] = wrong[graph.neighbors[graph.offsets[vertex]]] if graph.out_degrees[vertex] else -1
        elif name == "bfs":
            wrong[vertex] = (old + 1) % graph.n if vertex != arguments["source"] else -1
        elif key == "component":
            wrong[vertex] = graph.n
            if np.count_nonzero(value == old) == 1:
                wrong[vertex] = value[vertex - 1]
        else:
            wrong[vertex] = old + 1
    assert checked(name, {key: wrong}), f"{name}: {value} and {wrong}"


def test_what_the_checks_say() -> None:
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=5, undirected=True)
    source = {"source": 0}

    def said(name: str, **values: Any) -> list[str]:
        return find(name).compare(graph, source, Result({k: np.array(v) for k, v in values.items()}, {}, {}))

    assert said("bfs", parent=[0, 0, 1, 0, -1]) == []
    assert said("bfs", parent=[0, 0, 3, 0, -1]) == []
    assert said("bfs", parent=[1, 0, 3, 0, -1]) == ["the parent of the source 0 is 1, not itself"]
    assert said("bfs", parent=[0, 0, 1, 2, -1]) == ["vertex 3 at level 1 has the parent 2 at level 2 (1 such)"]
    assert said("bfs", parent=[0, 0, 1, 0, 0]) == ["vertex 4 has the parent 0, but cannot be reached (1 such)"]
    assert said("bfs", parent=[0, 0, -1, 0, -1]) == [
        "vertex 2 has the parent -1, but can be reached, at level 2 (1 such)"
    ]
    far = 2**31 - 1
    depth = np.array([0, 1, 3, 1, far], np.int32)
    assert said("bfs_depth", depth=depth) == ["vertex 2 is at level 3, not 2 (1 such)"]
    assert said("cc", component=[0, 0, 0, 0, 4]) == said("cc", component=[7, 7, 7, 7, 2]) == []
    assert said("cc", component=[0, 0, 0, 0, 0]) == ["vertices 0 and 4 have one label, 0, but no path joins them"]
    assert said("cc", component=[0, 1, 0, 0, 4]) == ["a path joins vertices 0 and 1, but their labels are 0 and 1"]
    assert said("mis", independent=[1, 1, 0, 0, 1]) == [
        "vertices 0 and 1 are both in the set, and adjacent (2 such edges)"
    ]
    assert said("mis", independent=[1, 0, 0, 0, 1]) == [
        "vertex 2 could be in the set: none of its neighbours is (1 such)"
    ]
    assert said("coloring", color=[0, 1, 0, 1, 0]) == []
    assert said("coloring", color=[0, 0, 1, 1, 0]) == [
        "vertices 0 and 1 are adjacent and both have colour 0 (4 such edges)"
    ]
    assert said("coloring", color=[0, 1, 0, 1, 1]) == ["vertex 4 of degree 0 has colour 1 (1 such)"]
    loop = Graph.from_edges([0, 0, 1, 2], [1, 3, 2, 3], n=4)
    tree = Result({"parent": np.array([0, 0, 3, 0])}, {}, {})
    assert find("bfs").compare(loop, source, tree) == ["vertex 2 has the parent 3 without an edge from it (1 such)"]


# --- real graphs

REAL = [
    "PGPgiantcompo", "SF-road", "TG-road", "USA-road-COL", "USA-road-FLA", "USA-road-NY", "ca-AstroPh-cc1", "cal-road",
    "cnr-2000", "cora", "dictionary28", "email-Enron", "email-EuAll-und", "facebook-combined", "gowalla-checkins", "memplus",
    "npm-dependencies-2016", "pubmed", "soc-Epinions1", "soc-Slashdot0902", "wiki-Vote", "wing",
]  # fmt: skip


@pytest.fixture(scope="module")
def expected(shared: Path) -> Any:
    """What SciPy gave for each real graph, kept beside them."""
    return json.loads((shared / "data" / "expected.json").read_text())


def test_every_real_graph_is_listed(expected: Any) -> None:
    assert sorted(expected) == sorted(REAL)


@pytest.mark.parametrize("name", REAL)
def test_oracles_on_real_graphs(name: str, shared: Path, expected: Any) -> None:
    graph, known = pg.load(str(shared / "data" / f"{name}.npz")), expected[name]
    for key, source in (("bfs_from_0", 0), ("bfs_from_hub", known["bfs_source_hub"])):
        level = file_of("bfs_depth").levels(graph, source)
        assert file_of("bfs_depth").profile(level).items() <= known[key].items()
        if known[key]["histogram"]:
            assert np.bincount(level[level >= 0]).tolist() == known[key]["histogram"]
    assert np.unique(file_of("cc").weak_components(graph)).size == known["weak_components"]
    if "triangles" in known:
        assert file_of("triangles").count(find("triangles").prepare(graph)) == known["triangles"]
    if "sssp_from_hub_float64" in known:
        assert graph.weights is not None
        exact = graph.with_weights(graph.weights.astype(np.float64))
        distance = file_of("sssp").distances(exact, known["bfs_source_hub"])
        found = find("sssp").summarise(exact, {}, Result({"distance": distance}, {}, {}))
        assert found == pytest.approx({key: known["sssp_from_hub_float64"][key] for key in found}, rel=1e-12)


@pytest.mark.parametrize("name", REAL)
def test_ranks_on_real_graphs(name: str, shared: Path, expected: Any) -> None:
    known = expected[name]["pagerank_0.85"]
    rank = file_of("pagerank").stationary(pg.load(str(shared / "data" / f"{name}.npz")), 0.85, spread=True)
    assert (rank**2).sum() == pytest.approx(known["sum_of_squares"], rel=1e-6)
    for vertex, value in known["top5"]:
        assert rank[vertex] == pytest.approx(value, abs=10 * known["l1_change"] + 1e-12)


@pytest.fixture(scope="module")
def lagraph(shared: Path) -> Path:
    return shared / "data" / "small" / "lagraph"


@pytest.fixture(scope="module")
def values(lagraph: Path) -> Any:
    return json.loads((lagraph / "expected.json").read_text())


class TestPublishedValues:
    """What the tests of LAGraph and GraphIt expect of small matrices."""

    def test_counts(self, lagraph: Path, values: Any) -> None:
        for file, count in values["triangles"].items():
            graph = find("triangles").prepare(pg.load(str(lagraph / f"{file}.gz")))
            assert file_of("triangles").count(graph) == count, file
        for file, count in values["weak_components"].items():
            graph = pg.load(str(lagraph / f"{file}.gz"))
            assert np.unique(file_of("cc").weak_components(graph)).size == count, file

    def test_cores(self, lagraph: Path, values: Any) -> None:
        for file, top in values["max_core"].items():
            graph = find("kcore").prepare(pg.load(str(lagraph / f"{file}.gz")))
            assert file_of("kcore").cores(graph).max() == top, file

    def test_ranks(self, lagraph: Path, values: Any) -> None:
        for file, ranks in values["pagerank_0.85"].items():
            graph = pg.load(str(lagraph / f"{file}.gz"))
            found = file_of("pagerank").stationary(graph, 0.85, spread=True)
            np.testing.assert_allclose(found, ranks, atol=1e-4)

    def test_betweenness(self, lagraph: Path, values: Any) -> None:
        for file, known in values["betweenness_partial"].items():
            graph = pg.load(str(lagraph / f"{file}.gz"))
            found = sum(file_of("bc").dependencies(graph, source) for source in known["sources"])
            np.testing.assert_allclose(found, known["values"], rtol=1e-4, atol=1e-5)

    def test_levels(self, lagraph: Path, values: Any) -> None:
        for file, known in values["bfs_levels"].items():
            graph = pg.load(str(lagraph / f"{file}.gz"))
            assert file_of("bfs_depth").levels(graph, known["source"]).tolist() == known["levels"]

    def test_graphit_cores(self, shared: Path) -> None:
        folder = shared / "data" / "small" / "graphit"
        for file, top in json.loads((folder / "expected.json").read_text())["kcore_max"].items():
            path = folder / file
            if not path.suffix:
                continue
            graph = find("kcore").prepare(pg.load(str(path if path.exists() else folder / f"{file}.gz")))
            assert file_of("kcore").cores(graph).max() == top, file
