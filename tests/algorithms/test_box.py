"""Finding algorithms: by name, by attribute, in any order of imports; and making graphs that they can run on."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import numpy as np
import pytest
from algorithm_cases import ALGORITHMS, edges_of

from pantograf import UserError, algorithms
from pantograf.algorithms import Algorithm, find
from pantograf.graphs import Graph
from pantograf.lang.program import Program

HERE = "pantograf.algorithms"


@pytest.mark.parametrize(
    "code",
    [
        f"from {HERE} import bfs; import pantograf; assert pantograf.algorithms.bfs is bfs",
        f"import pantograf; bfs = pantograf.algorithms.bfs; import {HERE}.bfs; assert pantograf.algorithms.bfs is bfs",
        f"import {HERE}.bfs; import pantograf; bfs = pantograf.algorithms.bfs; from {HERE} import bfs as b; assert b is bfs",
        f"import {HERE}.bfs as bfs; from {HERE}.bfs import algorithm; assert algorithm.program is bfs",
        f"from {HERE}.bfs import bfs; from {HERE} import find; assert find('bfs').program is bfs",
        f"from {HERE} import find; find('bfs'); from {HERE} import bfs",
        f"from {HERE} import cc_afforest; from {HERE} import cc; bfs = cc; assert cc.name == 'cc'",
        f"import importlib; importlib.import_module('{HERE}.bfs'); from {HERE} import bfs",
        f"from {HERE}.bfs import compare; assert callable(compare); from {HERE} import bfs",
    ],
)
def test_the_attribute_is_the_program(code: str) -> None:
    check = "; from pantograf.lang.program import Program; assert type(bfs) is Program, bfs"
    done = subprocess.run([sys.executable, "-c", code + check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_the_box_reads_no_program() -> None:
    heavy = ("xdsl", "scipy", "numba", f"{HERE}.bfs")
    code = f"import {HERE}, sys; {HERE}.names(); assert not any(name in sys.modules for name in {heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_file_is_an_algorithm(name: str) -> None:
    algorithm = find(name)
    assert isinstance(algorithm, Algorithm)
    assert algorithm.name == name
    assert isinstance(algorithm.program, Program)
    assert getattr(algorithms, name) is algorithm.program
    assert name in dir(algorithms)
    assert algorithm.title and any(character.isdigit() for character in algorithm.citation), "a citation has a year"
    module = sys.modules[f"{HERE}.{name}"]
    assert inspect.getdoc(module)


def test_what_editors_are_told_exists() -> None:
    """The list for editors may lag behind the files, but not name what is gone."""
    tree = ast.parse(inspect.getsource(algorithms))
    told = [
        node.module.removeprefix(f"{HERE}.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{HERE}.")
    ]
    assert "bfs" in told
    assert set(told) <= set(ALGORITHMS)


def test_unknown_names() -> None:
    with pytest.raises(UserError) as caught:
        find("bsf")
    assert caught.value.message == "there is no algorithm 'bsf'"
    assert caught.value.hint == f"did you mean 'bfs'? algorithms: {', '.join(ALGORITHMS)}"
    with pytest.raises(UserError) as caught:
        find("quicksort")
    assert caught.value.hint == f"algorithms: {', '.join(ALGORITHMS)}"
    with pytest.raises(AttributeError, match="there is no algorithm 'quicksort'"):
        _ = algorithms.quicksort
    with pytest.raises(ImportError):
        from pantograf.algorithms import quicksort  # noqa: F401


def test_a_graph_that_lacks_nothing_is_used_as_it_is() -> None:
    graph = edges_of(3, (0, 1), (1, 2), undirected=True)
    for name in ("bfs", "kcore", "triangles", "cc", "mis"):
        assert find(name).prepare(graph) is graph
        assert find(name).changes(graph) == []


def test_preparing_says_what_it_does() -> None:
    graph = Graph.from_edges([0, 1, 1, 1, 2], [1, 0, 1, 2, 0], n=4, labels=["a", "b", "c", "d"], name="g")
    triangles = find("triangles")
    assert triangles.changes(graph) == [
        "each edge stored both ways, once: 5 edges became 7",
        "self-loops dropped: 1",
    ]
    prepared = triangles.prepare(graph)
    assert prepared.symmetric
    assert prepared.neighbors.tolist() == [1, 2, 0, 2, 0, 1]
    assert prepared.labels is not None and prepared.labels.tolist() == ["a", "b", "c", "d"]
    assert prepared.name == "g"
    assert triangles.prepare(graph) is prepared
    assert find("kcore").prepare(graph) is prepared, "what needs the same shares it"
    assert find("sssp").changes(graph) == ["weights added: random{low=1, high=255, seed=1}"]
    assert find("sssp").prepare(graph).m == 5


def test_parallel_edges_are_counted() -> None:
    graph = edges_of(3, (0, 1), (0, 1), (0, 1), (2, 2), (2, 2), undirected=True)
    assert find("kcore").changes(graph) == ["self-loops dropped: 2", "parallel edges dropped: 4"]
    assert find("kcore").prepare(graph).m == 2


def test_a_two_way_edge_gets_its_lesser_weight() -> None:
    graph = Graph.from_edges([0, 1], [1, 0], [3, 2], n=2)
    prepared = find("cf").prepare(graph)
    assert prepared.weights is not None
    assert prepared.weights.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("name", "undirected", "weight", "message"),
    [
        ("sssp", False, -1, "sssp: a weight of g is -1, and no weight may be below 0"),
        ("ppsp", False, -0.5, "ppsp: a weight of g is -0.5, and no weight may be below 0"),
        ("sssp", False, np.nan, "sssp needs weights that are numbers, and g has NaN"),
        ("bellman_ford", False, np.nan, "bellman_ford needs weights that are numbers, and g has NaN"),
        (
            "bellman_ford",
            True,
            -2,
            "bellman_ford: a weight of g is -2, which taken both ways is a cycle of negative length",
        ),
    ],
)
def test_weights_that_are_no_lengths(name: str, undirected: bool, weight: float, message: str) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], np.array([weight, 1]), n=3, undirected=undirected, name="g")
    with pytest.raises(UserError) as caught:
        find(name).prepare(graph)
    assert caught.value.message == message
    assert caught.value.hint == "graph.with_weights('unit'), 'random{low=1, high=255, seed=1}', or an array"


def test_negative_weights_suit_some() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [-1, np.nan], n=3)
    assert find("spmv").prepare(graph) is graph
    graph = Graph.from_edges([0, 1], [1, 2], [-1, 2], n=3)
    assert find("bellman_ford").prepare(graph) is graph


def test_arguments_suit_the_graph() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [10, 20], n=3, labels=["x", "y", "z"])
    assert find("sssp").arguments(graph) == {"source": "x", "delta": 64}
    assert find("sssp").arguments(graph, {"source": "y"}) == {"source": "y", "delta": 64}
    assert find("ppsp").arguments(graph) == {"source": "x", "target": "z", "delta": 64}
    assert find("betweenness").arguments(graph)["sources"].tolist() == ["x", "y", "z"]
    zero = graph.with_weights(np.array([0.0, 0.0]))
    assert find("sssp").arguments(zero)["delta"] == 1.0
    assert find("pagerank").arguments(graph) == {}
    assert find("cf").arguments(graph) == {"step": 0.01}
