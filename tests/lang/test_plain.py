"""Programs run as plain Python: against SciPy, and against the reference machine, which shares no code with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import programs
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra, shortest_path

import pantograf as pg
from pantograf import Edges, Vertex, f32, i32, i64, u64
from pantograf.errors import UserError
from pantograf.graphs import Graph
from pantograf.lang import plain
from pantograf.lang.plain import numbers
from pantograf.lang.program import program

ARGUMENTS: dict[str, dict[str, Any]] = {
    "bfs": {"source": 0},
    "sssp": {"source": 0, "delta": 3},
    "bfs_depth": {"source": 0},
    "brandes": {"source": 0},
    "early": {"wanted": 3},
    "guarded": {"source": 1},
    "generic": {"source": 0},
    "reached": {"source": 0},
    "properties": {"given": np.arange(12.0), "start": [0, 3]},
}


def random_graph(seed: int, symmetric: bool = False, weight: Any = np.int32, n: int = 12) -> Graph:
    """A random tree with some more edges, loops and parallel edges among them."""
    rng = np.random.default_rng(seed)
    parents = np.array([rng.integers(0, v) for v in range(1, n)])
    src = np.concatenate([parents, rng.integers(0, n, n)])
    dst = np.concatenate([np.arange(1, n), rng.integers(0, n, n)])
    weights = rng.integers(1, 9, len(src)).astype(weight)
    if symmetric:
        src, dst, weights = np.concatenate([src, dst]), np.concatenate([dst, src]), np.tile(weights, 2)
    return Graph.from_edges(src, dst, weights, n=n)


def matrix(graph: Graph) -> csr_array:
    """A SciPy matrix in which parallel edges keep the least weight."""
    n = graph.n
    dense = np.full((n, n), np.inf)
    for v in range(n):
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            dense[v, graph.neighbors[k]] = min(dense[v, graph.neighbors[k]], graph.weights[k])
    return csr_array(np.where(np.isinf(dense), 0, dense))


@pytest.mark.parametrize("seed", range(4))
def test_bfs(seed: int) -> None:
    graph = random_graph(seed)
    parent = plain.run(programs.bfs, graph, source=0)["parent"]
    levels = shortest_path(matrix(graph), unweighted=True, indices=0)
    _, reached = breadth_first_order(matrix(graph), 0)[0], np.isfinite(levels)
    assert (parent >= 0).tolist() == reached.tolist()
    for v in range(1, graph.n):
        if reached[v]:
            assert levels[parent[v]] == levels[v] - 1
            assert v in graph.neighbors[graph.offsets[parent[v]] : graph.offsets[parent[v] + 1]]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("delta", [1, 4])
def test_sssp(seed: int, delta: int) -> None:
    graph = random_graph(seed)
    distance = plain.run(programs.sssp, graph, source=0, delta=delta)["distance"]
    expected = dijkstra(matrix(graph), indices=0)
    assert distance.dtype == np.int32
    assert np.where(distance == np.iinfo(np.int32).max, np.inf, distance).tolist() == expected.tolist()


def test_pagerank() -> None:
    graph = random_graph(1, symmetric=True)
    rank = plain.run(programs.pagerank, graph, tolerance=1e-12, rounds=500)["rank"]
    n = graph.n
    links = np.zeros((n, n))
    for v in range(n):
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            links[graph.neighbors[k], v] += 1 / (graph.offsets[v + 1] - graph.offsets[v])
    expected = np.linalg.solve(np.eye(n) - 0.85 * links, np.full(n, 0.15 / n))
    np.testing.assert_allclose(rank, expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("function", programs.ALL, ids=lambda f: f.__name__)
def test_agrees_with_the_reference_machine(function: Any, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    """All programs: scalars, sets and properties are equal (floats up to the order of their sums)."""
    symmetric = function.__name__ in ("components", "hooking", "independent", "cores", "triangles", "brandes")
    graph = random_graph(seed, symmetric, np.float32 if function.__name__ == "factors" else np.int32)
    arguments = ARGUMENTS.get(function.__name__, {})
    ours = plain.run(function, graph, **arguments)
    printed = capsys.readouterr().out
    theirs = program(function).on("reference")(graph, **arguments)
    assert capsys.readouterr().out == printed
    assert list(ours) == list(theirs.values)
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs.values[name], rtol=1e-5, err_msg=name)


def test_functions_read_the_state_before_the_apply() -> None:
    def shift(edges: Edges):
        p = edges.vertices.property(i64, 0)

        def number(v):
            p[v] = i64(v)

        def move(src, dst):
            p[dst] = p[src]

        def twice(v):
            p[v] += 1
            p[v] = p[v] * 10

        edges.vertices.apply(number)
        moved = edges.apply(move, modified=p)
        edges.vertices.apply(twice)
        return p, moved

    chain = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    found = plain.run(shift, chain)
    assert found["p"].tolist() == [10, 10, 20, 30]
    assert found["moved"].tolist() == [1, 2, 3]


def test_racing_writes_keep_the_smallest_and_reductions_combine() -> None:
    def race(edges: Edges):
        written = edges.vertices.property(Vertex, pg.none)
        summed = edges.vertices.property(i64, 100)
        least = edges.vertices.property(i64, 2)

        def write(src, dst):
            written[dst] = src
            summed[dst] += i64(src)
            least[dst] = min(least[dst], i64(src))

        changed = edges.apply(write, modified=least)
        return written, summed, least, changed

    star = Graph.from_edges([3, 1, 2, 3], [0, 0, 0, 4], n=5)
    found = plain.run(race, star)
    assert found["written"].tolist() == [1, -1, -1, -1, 3]
    assert found["summed"].tolist() == [106, 100, 100, 100, 103]
    assert found["least"].tolist() == [1, 2, 2, 2, 2]
    assert found["changed"].tolist() == [0]


def test_arithmetic() -> None:
    big = np.int32(2**31 - 1)
    assert numbers.operate("+", big, np.int32(1)) == big
    assert numbers.operate("*", big, 2) == -2 and numbers.operate("*", big, 2).dtype == np.int32
    assert numbers.operate("/", np.int32(7), 2) == 3.5
    assert numbers.operate("/", np.float32(7), np.float32(2)).dtype == np.float32
    assert numbers.operate("//", np.int64(-7), 2) == -4 and numbers.operate("%", np.int64(-7), 2) == 1
    assert numbers.operate("+", np.int32(1), np.int64(1)).dtype == np.int64
    assert numbers.operate("+", np.float32(1), np.int64(1)).dtype == np.float32
    assert numbers.compare(("==",), big, float("inf")) is True
    assert numbers.cast(-1, np.uint64) == 2**64 - 1


def test_results_and_arguments() -> None:
    def many(edges: Edges, x: f32, k: u64 = 3):
        return pg.results(doubled=x * 2, k=k, some=pg.vertex_set(2, 0), n=edges.vertices.size)

    found = plain.run(many, Graph.from_edges([0], [1], n=3), x=0.1)
    assert found["doubled"] == np.float32(0.2) and found["k"].dtype == np.uint64
    assert found["some"].tolist() == [0, 2] and found["n"] == 3
    with pytest.raises(UserError, match="many needs x"):
        plain.run(many, Graph.from_edges([0], [1], n=3))
    with pytest.raises(UserError, match="there is no argument y"):
        plain.run(many, Graph.from_edges([0], [1], n=3), x=1, y=2)
    with pytest.raises(UserError, match="this program needs weights"):
        plain.run(programs.sssp, Graph.from_edges([0], [1], n=3), source=0)
    with pytest.raises(UserError, match="there is no vertex -1; n is 3"):
        plain.run(outside, Graph.from_edges([0], [1], n=3))


def outside(edges: Edges):
    p = edges.vertices.property(i32, 0)
    return p[edges.vertices.size - 4]
