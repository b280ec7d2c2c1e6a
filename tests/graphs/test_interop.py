"""Graphs from and to other libraries."""

from __future__ import annotations

import sys
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pantograf import Graph, UserError


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_from_scipy(form: str) -> None:
    matrix = sp.random_array((20, 20), density=0.2, rng=np.random.default_rng(1), format=form)
    graph = Graph.from_scipy(matrix)
    assert (graph.to_scipy().toarray() == matrix.toarray()).all()
    assert Graph.from_scipy(matrix, weights=False).weights is None
    assert (Graph.from_scipy(sp.csr_matrix(matrix)).to_scipy().toarray() == matrix.toarray()).all()


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_rectangle_is_bipartite(form: str) -> None:
    matrix = sp.random_array((3, 5), density=0.6, rng=np.random.default_rng(1), format=form)
    graph = Graph.from_scipy(matrix)
    assert (graph.n, graph.bipartite, graph.symmetric) == (8, 3, True)
    assert (graph.to_scipy().toarray()[:3, 3:] == matrix.toarray()).all()


def test_scipy_arrays_are_shared_only_when_asked() -> None:
    matrix = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    shared = Graph.from_scipy(matrix, copy=False)
    assert shared.weights is not None
    assert np.shares_memory(shared.weights, matrix.data)
    assert np.shares_memory(shared.neighbors, matrix.indices)
    own = Graph.from_scipy(matrix)
    matrix.data[:] = 9
    assert own.weights is not None
    assert own.weights.tolist() == [1.0, 2.0]
    assert np.shares_memory(own.to_scipy().data, own.weights)


def test_unsorted_and_repeated_scipy_entries() -> None:
    matrix = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    graph = Graph.from_scipy(matrix)
    assert graph.neighbors.tolist() == [0, 1, 1]
    assert graph.weights is not None
    assert graph.weights.tolist() == [2.0, 1.0, 3.0]
    with pytest.raises(UserError, match="list is no SciPy sparse matrix"):
        Graph.from_scipy([[0, 1], [1, 0]])


names = st.one_of(st.integers(-5, 5), st.text("ab", max_size=2), st.tuples(st.integers(0, 2), st.integers(0, 2)))


@given(st.lists(st.tuples(names, names, st.integers(1, 9)), max_size=20), st.sampled_from(range(4)))
def test_networkx_there_and_back(edges: list[tuple[Any, Any, int]], kind: int) -> None:
    theirs = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph][kind]()
    theirs.add_node("alone")
    theirs.add_weighted_edges_from(edges)
    graph = Graph.from_networkx(theirs)
    assert graph.symmetric == (not theirs.is_directed())
    assert graph.n == len(theirs)
    back = graph.to_networkx()
    assert list(back) == list(theirs)
    assert back.is_directed() == theirs.is_directed()

    def content(g: Any) -> list[Any]:
        ends = (lambda u, v: (u, v)) if g.is_directed() else (lambda u, v: frozenset([u, v]))
        return sorted(((ends(u, v), w) for u, v, w in g.edges(data="weight")), key=repr)

    assert sorted(map(repr, content(back))) == sorted(map(repr, content(theirs)))
    for u, v, _ in edges:
        row = graph.index_of(u)
        assert graph.index_of(v) in graph.neighbors[graph.offsets[row] : graph.offsets[row + 1]]


def test_networkx_weights_and_names() -> None:
    karate = nx.karate_club_graph()
    graph = Graph.from_networkx(karate)
    assert (graph.n, graph.m, graph.labels, graph.name) == (34, 156, None, "Zachary's Karate Club")
    assert graph.weights is not None
    assert Graph.from_networkx(karate, weight=None).weights is None
    assert Graph.from_networkx(karate, name="k").name == "k"
    half = nx.Graph()
    half.add_edge("a", "b", weight=2)
    half.add_edge("b", "c")
    with pytest.raises(UserError, match="edge 'b' - 'c' has no attribute 'weight', others have"):
        Graph.from_networkx(half)
    assert Graph.from_networkx(half, weight="length").weights is None
    assert Graph.from_networkx(nx.Graph()).n == 0


TABLE = {"a": [3, 0, 3], "b": [1, 2, 0], "w": [0.5, 1.5, 2.5]}


@pytest.mark.parametrize(
    "kind",
    [
        pa.table,
        pd.DataFrame,
        dict,
        lambda t: pa.RecordBatchReader.from_batches(pa.table(t).schema, pa.table(t).to_batches()),
    ],
)
def test_tables(kind: Any) -> None:
    graph = Graph.from_dataframe(kind(TABLE), "a", "b", "w", duplicates="drop")
    assert graph.equals(Graph.from_edges(TABLE["a"], TABLE["b"], TABLE["w"]))
    assert Graph.from_dataframe(kind(TABLE), "a", "b", n=9, undirected=True).n == 9
    with pytest.raises(UserError, match="the table has no column 'src'") as caught:
        Graph.from_dataframe(kind(TABLE))
    assert caught.value.hint == "its columns: a, b, w"


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, lambda t: {k: np.array(v) for k, v in t.items()}])
def test_tables_of_names(kind: Any) -> None:
    table = {"src": ["y", "é", "x"], "dst": ["x", "y", "z"], "w": [1, 2, 3]}
    graph = Graph.from_dataframe(kind(table), weight="w")
    assert graph.labels is not None
    assert graph.labels.tolist() == ["x", "y", "z", "é"]
    src, dst, weights = graph.edges()
    assert weights is not None
    found = {(graph.labels[u], graph.labels[v], w) for u, v, w in zip(src, dst, weights.tolist(), strict=True)}
    assert found == {("y", "x", 1), ("é", "y", 2), ("x", "z", 3)}


def test_tables_that_are_none() -> None:
    with pytest.raises(UserError, match="list is no table"):
        Graph.from_dataframe([1, 2])
    with pytest.raises(UserError, match="column 'src' has 1 nulls"):
        Graph.from_dataframe(pa.table({"src": [1, None], "dst": [0, 1]}))


def test_arrow_out() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [1.5, 2.5], labels=["x", "y", "z"])
    table = pa.table(graph)
    assert table.to_pydict() == {"src": ["x", "y"], "dst": ["y", "z"], "weight": [1.5, 2.5]}
    assert Graph.from_dataframe(graph, weight="weight").equals(graph)
    assert pd.DataFrame.from_arrow(graph)["src"].tolist() == ["x", "y"] if hasattr(pd.DataFrame, "from_arrow") else True
    assert pa.table(Graph.from_edges([0], [1])).column_names == ["src", "dst"]


@pytest.mark.parametrize(
    ("library", "use", "hint"),
    [
        ("pyarrow", lambda g: g.to_arrow(), "pantograf[parquet]"),
        ("pyarrow", lambda g: Graph.from_dataframe(pd.DataFrame(TABLE), "a", "b"), "pass a dict of arrays"),
        ("networkx", lambda g: g.to_networkx(), "pantograf[networkx]"),
    ],
)
def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, library: str, use: Any, hint: str) -> None:
    graph = Graph.from_edges([0], [1])
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UserError) as caught:
        use(graph)
    assert hint in caught.value.hint


def test_scipy_cannot_change_a_graph_with_parallel_edges() -> None:
    graph = Graph.from_edges([0, 0, 1, 3], [1, 1, 1, 4], [1.5, 2.5, 3.5, 0.5], n=7)
    before = graph.fingerprint
    matrix = graph.to_scipy()
    assert matrix.nnz == 4
    matrix.sum_duplicates()
    assert matrix.nnz == 3
    again = Graph.from_csr(*graph.rows)
    assert again.fingerprint == before
    assert again.m == 4
