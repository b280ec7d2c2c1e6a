"""Graphs from arrays against SciPy, whichever builder makes them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pantograf import Graph, UserError
from pantograf.graphs import buckets, build

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def dense(n: int, edges: list[tuple[int, int, int]], undirected: bool) -> np.ndarray[Any, Any]:
    """Sums of weights, entry by entry."""
    matrix = np.zeros((n, n), np.int64)
    for u, v, w in edges:
        matrix[u, v] += w
        if undirected and u != v:
            matrix[v, u] += w
    return matrix


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, int]]]:
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex, st.integers(1, 9)), max_size=40))


def columns(edges: list[tuple[int, int, int]]) -> tuple[list[int], list[int], list[int]]:
    return [e[0] for e in edges], [e[1] for e in edges], [e[2] for e in edges]


@given(edge_lists(), st.booleans())
def test_from_edges_is_the_matrix(made: tuple[int, list[tuple[int, int, int]]], undirected: bool) -> None:
    n, edges = made
    graph = Graph.from_edges(*columns(edges), n, undirected=undirected)
    expected = dense(n, edges, undirected)
    assert graph.n == n
    assert graph.symmetric == undirected
    assert (graph.to_scipy().toarray() == expected).all()
    assert (graph.transposed().to_scipy().toarray() == expected.T).all()
    assert graph.m == sum(2 if undirected and u != v else 1 for u, v, _ in edges)
    for v in range(n):
        row = graph.neighbors[graph.offsets[v] : graph.offsets[v + 1]]
        assert (np.diff(row) >= 0).all()
    assert (graph.in_degrees == np.bincount(graph.neighbors, minlength=n)).all()
    assert (graph.out_degrees == np.diff(graph.offsets)).all()


@given(edge_lists(), st.booleans(), st.sampled_from(["drop", "min", "max", "sum"]), st.sampled_from(["keep", "drop"]))
def test_duplicates_and_loops(
    made: tuple[int, list[tuple[int, int, int]]], undirected: bool, duplicates: Any, loops: Any
) -> None:
    n, edges = made
    graph = Graph.from_edges(*columns(edges), n, undirected=undirected, duplicates=duplicates, self_loops=loops)
    expected: dict[tuple[int, int], int] = {}
    combine = {"drop": lambda a, b: a, "min": min, "max": max, "sum": lambda a, b: a + b}[duplicates]
    for u, v, w in edges:
        for pair in {(u, v), (v, u)} if undirected else {(u, v)}:
            if u != v or loops == "keep":
                expected[pair] = combine(expected[pair], w) if pair in expected else w
    src, dst, weights = graph.edges()
    assert weights is not None
    assert dict(zip(zip(src.tolist(), dst.tolist(), strict=True), weights.tolist(), strict=True)) == expected
    assert graph.m == len(expected)
    assert (graph.duplicates, graph.self_loops) == (duplicates, loops)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([1, 2, 7, 300, 5000, 70_000]),
    m=st.sampled_from([0, 1, 50, 3000, 150_000]),
    mirror=st.booleans(),
    kind=st.sampled_from([None, np.int8, np.float32, np.float64, np.int64, np.uint16]),
    ids=st.sampled_from([INT32, INT64]),
    skewed=st.booleans(),
)
def test_both_builders_agree(
    seed: int, n: int, m: int, mirror: bool, kind: Any, ids: np.dtype[Any], skewed: bool
) -> None:
    random = np.random.default_rng(seed)
    src = random.integers(0, n, m).astype(ids)
    dst = random.integers(0, n, m).astype(ids)
    if skewed:  # one row too long for insertion
        src[: m // 2] = n // 2
    weights = None if kind is None else random.integers(0, 100, m).astype(kind)
    for array in (src, dst, weights):
        if array is not None and seed % 2:
            array.flags.writeable = False
    compiled = buckets.compress(src, dst, weights, n, ids, mirror)
    if mirror:
        src, dst, weights = build._mirrored(src, dst, weights)
    sorted_ = build._compress_by_sorting(src, dst, weights, n, ids)
    for ours, theirs in zip(compiled, sorted_, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            assert ours.dtype == theirs.dtype
            assert (ours == theirs).all()


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_any_number_of_threads(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    random = np.random.default_rng(workers)
    src, dst, weights = random.integers(0, 3000, 90_000), random.integers(0, 3000, 90_000), random.random(90_000)
    monkeypatch.setattr(buckets, "threads", lambda: workers)
    compiled = buckets.compress(src, dst, weights, 3000, INT32, False)
    for ours, theirs in zip(compiled, build._compress_by_sorting(src, dst, weights, 3000, INT32), strict=True):
        assert (ours == theirs).all()  # type: ignore[union-attr]


BUILDERS = pytest.mark.parametrize("compiled_from", [0, 1 << 40], ids=["compiled", "sorted"])


def test_ids_too_wide_for_one_key() -> None:
    random = np.random.default_rng(1)
    n, m = 1 << 24, 1 << 16
    src, dst, weights = random.integers(0, 50, m), random.integers(n - 50, n, m), random.random(m)
    assert 2 * (n - 1).bit_length() + (m - 1).bit_length() > 63
    wide = build._compress_by_sorting(src, dst, weights, n, INT32)
    narrow = build._compress_by_sorting(src, dst - (n - 50), weights, 50, INT32)
    assert (wide.offsets[:51] == narrow.offsets).all()
    assert (wide.neighbors == narrow.neighbors + (n - 50)).all()
    assert (wide.weights == narrow.weights).all()


@BUILDERS
def test_many_edges_equal_scipy(monkeypatch: pytest.MonkeyPatch, compiled_from: int) -> None:
    monkeypatch.setattr(build, "COMPILED_FROM_EDGES", compiled_from)
    random = np.random.default_rng(5)
    n, m = 40_000, 600_000
    src, dst, weights = random.integers(0, n, m), random.integers(0, n, m), random.random(m)
    graph = Graph.from_edges(src, dst, weights, n, duplicates="sum")
    expected = sp.coo_array((weights, (src, dst)), shape=(n, n)).tocsr()
    expected.sum_duplicates()
    assert (graph.offsets == expected.indptr).all()
    assert (graph.neighbors == expected.indices).all()
    assert np.allclose(graph.weights, expected.data, rtol=1e-14)
    back = graph.transposed()
    assert (back.to_scipy() != expected.T.tocsr()).nnz == 0
    assert back.transposed() is graph


def test_a_small_graph_does_not_load_numba() -> None:
    code = (
        "import sys; from pantograf import Graph; g = Graph.from_edges([0, 1], [1, 2]); g.transposed(); g.fingerprint; "
        "print([m for m in ('numba', 'scipy', 'networkx', 'pooch', 'pyarrow', 'xdsl') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_parallel_edges_keep_their_order_both_ways() -> None:
    graph = Graph.from_edges([0, 1, 0], [1, 0, 1], [7, 8, 9], undirected=True)
    assert graph.weights is not None
    assert graph.weights.tolist() == [7, 8, 9, 7, 8, 9]


def test_the_callers_arrays_are_not_shared() -> None:
    src, dst, weights = np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.array([1.0, 2.0])
    graph = Graph.from_edges(src, dst, weights)
    offsets, neighbors = np.array([0, 1, 2, 2]), np.array([1, 2], np.int32)
    rows = Graph.from_csr(offsets, neighbors, weights)
    for array in (src, dst, weights, offsets, neighbors):
        array[:] = 0
    for made in (graph, rows):
        assert made.offsets.tolist() == [0, 1, 2, 2]
        assert made.neighbors.tolist() == [1, 2]
        assert made.weights is not None
        assert made.weights.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_no_edges(n: int) -> None:
    graph = Graph.from_edges([], [], n=n)
    assert (graph.n, graph.m, graph.offsets.tolist()) == (n, 0, [0] * (n + 1))
    assert graph.transposed().n == n
    assert graph.as_undirected().symmetric
    assert graph.in_degrees.tolist() == [0] * n
    assert graph.relabeled_by_degree().n == n
    assert Graph.from_edges([], []).n == 0


def test_isolated_vertices_beyond_the_largest_id() -> None:
    graph = Graph.from_edges([2], [0], n=6)
    assert graph.offsets.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert graph.transposed().offsets.tolist() == [0, 1, 1, 1, 1, 1, 1]


@BUILDERS
def test_a_giant_hub(monkeypatch: pytest.MonkeyPatch, compiled_from: int) -> None:
    monkeypatch.setattr(build, "COMPILED_FROM_EDGES", compiled_from)
    n = 300_000
    leaves = np.random.default_rng(1).permutation(np.arange(1, n))
    graph = Graph.from_edges(np.zeros(n - 1, np.int64), leaves, leaves, undirected=True)
    assert (graph.neighbors[: n - 1] == np.arange(1, n)).all()
    assert graph.weights is not None
    assert (graph.weights[: n - 1] == np.arange(1, n)).all()
    assert graph.out_degrees[0] == n - 1
    assert (graph.out_degrees[1:] == 1).all()


def test_nan_weights_are_kept() -> None:
    weights = np.array([np.nan, -np.inf, -0.0])
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], weights, undirected=True)
    assert graph.weights is not None
    assert np.isnan(graph.weights).sum() == 2
    assert graph.as_undirected().equals(graph)
    assert Graph.from_csr(*graph.rows, symmetric=True).symmetric
    assert pickle.loads(pickle.dumps(graph)).equals(graph)


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
def test_types_of_weights_stay(kind: str) -> None:
    graph = Graph.from_edges([1, 0], [0, 1], np.array([3, 4], kind))
    assert graph.weights is not None
    assert graph.weights.dtype == np.dtype(kind)
    assert graph.weights.tolist() == [4, 3]


def test_odd_weights_become_types_that_programs_know() -> None:
    assert Graph.from_edges([0], [1], [True]).weights.dtype == np.uint8  # type: ignore[union-attr]
    assert Graph.from_edges([0], [1], np.array([1], np.float16)).weights.dtype == np.float32  # type: ignore[union-attr]
    assert Graph.from_edges([0, 0], [1, 1], 3).weights.tolist() == [3, 3]  # type: ignore[union-attr]


def test_sixty_four_bit_ids() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [5, 6], ids=64)
    assert graph.neighbors.dtype == np.int64
    assert graph.transposed().neighbors.dtype == np.int64
    assert graph.relabeled([2, 0, 1]).neighbors.dtype == np.int64
    assert build.id_type(2**31 - 1) == np.int32
    assert build.id_type(2**31) == np.int64
    assert build.estimate_bytes(2**20, 2**31) > 2**34  # 2**31 edges, counted in Python's numbers
    with pytest.raises(UserError, match="do not fit in 32-bit ids"):
        build.id_type(2**31, 32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(src=[0, 1], dst=[1]), "src has 2 vertices and dst has 1"),
        (dict(src=[0, -3], dst=[1, 1]), r"src\[1\] is -3, vertex ids start at 0"),
        (dict(src=[0, 1], dst=[1, 4], n=3), r"dst\[1\] is 4, but n is 3, so the largest vertex id is 2"),
        (dict(src=[0.5], dst=[1]), "src holds float64 values, vertex ids are whole numbers"),
        (dict(src=[[0]], dst=[1]), "src has 2 dimensions"),
        (dict(src=["a"], dst=["b"]), "src holds <U1 values"),
        (dict(src=[0], dst=[1], weight=[1, 2]), "2 weights are given for 1 edges"),
        (dict(src=[0], dst=[1], weight=[1j]), "weights cannot be complex128"),
        (dict(src=[0], dst=[1], weight=["x"]), "weights cannot be <U1"),
        (dict(src=[0], dst=[1], n=-1), "n cannot be -1"),
        (dict(src=[0], dst=[1], n=2.5), "n cannot be 2.5"),
        (dict(src=[0], dst=[1], labels=["a"], n=2), "1 labels are given for 2 vertices"),
        (dict(src=[0], dst=[1], labels=["a", "a"]), "the label 'a' is given to two vertices"),
        (dict(src=[0], dst=[1], self_loops="maybe"), "self_loops cannot be 'maybe'"),
        (dict(src=[0], dst=[1], duplicates="first"), "duplicates cannot be 'first'"),
        (dict(src=[0], dst=[1], ids=16), "vertex ids cannot have 16 bits"),
        (dict(src=[0], dst=[1], n=2, compact=True), "compact=True numbers the vertices itself"),
        (dict(src=[0], dst=[2**40]), r"vertex id 1,099,511,627,776 but only 1 edges"),
        (dict(src=[0], dst=[1], n=10**15), r"a graph of 1,000,000,000,000,000 vertices would take about"),
        (dict(src=np.array([2**64 - 1], np.uint64), dst=[1]), "more than a 64-bit id can be"),
        (dict(src=np.array(["a", 1], object), dst=np.array([1, 1], object), compact=True), "cannot be put in order"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        Graph.from_edges(**arguments)
    assert caught.value.hint or "start at 0" in message or "n is" in message


def test_compact_numbers_names_and_ids() -> None:
    graph = Graph.from_edges(["b", "c"], ["a", "b"], compact=True)
    assert graph.labels is not None
    assert graph.labels.tolist() == ["a", "b", "c"]
    assert graph.neighbors.tolist() == [0, 1]
    assert graph.index_of("c") == 2
    far = Graph.from_edges([2**40], [7], compact=True)
    assert (far.n, far.index_of(2**40), far.index_of(np.int64(7))) == (2, 1, 0)


def test_index_of() -> None:
    plain = Graph.from_edges([0], [1], n=3)
    assert plain.index_of(2) == 2
    assert plain.index_of(np.int32(1)) == 1
    for wrong in (3, -1, 1.0, "1", True):
        with pytest.raises(UserError, match="is no vertex of graph") as caught:
            plain.index_of(wrong)
        assert caught.value.hint == "vertices are the whole numbers 0 to 2"
    named = Graph.from_edges([0], [1], labels=["Lyon", "Paris"])
    with pytest.raises(UserError, match="'Pari' is no vertex") as caught:
        named.index_of("Pari")
    assert caught.value.hint == "did you mean Paris?"
    with pytest.raises(UserError) as caught:
        named.index_of(["unhashable"])
    assert "vertices are called 'Lyon', 'Paris', ..." in caught.value.hint
    tuples = Graph.from_edges([0], [1], labels=[(0, 0), (0, 1)])
    assert tuples.index_of((0, 1)) == 1


def test_from_csr_sorts_and_checks() -> None:
    graph = Graph.from_csr([0, 3, 3, 4], [2, 0, 1, 0], [1.0, 2.0, 3.0, 4.0])
    assert graph.neighbors.tolist() == [0, 1, 2, 0]
    assert graph.weights is not None
    assert graph.weights.tolist() == [2.0, 3.0, 1.0, 4.0]
    shared = np.array([0, 1, 2], np.int64), np.array([1, 0], np.int32)
    assert np.shares_memory(Graph.from_csr(*shared, copy=False).neighbors, shared[1])
    assert not np.shares_memory(Graph.from_csr(*shared).neighbors, shared[1])
    for offsets in ([], [1, 2], [0, 2, 1, 2], [0, 1], [0, 3]):
        with pytest.raises(UserError, match="offsets do not describe rows of 2 neighbors"):
            Graph.from_csr(offsets, [0, 0])
    with pytest.raises(UserError, match=r"neighbors\[1\] is 9, but n is 2"):
        Graph.from_csr([0, 1, 2], [0, 9])


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        (([0, 1, 1], [1, 0, 2], None), "edge 1 -> 2 has no edge 2 -> 1"),
        (([0, 1], [1, 0], [1, 2]), "edge 0 -> 1 weighs 1, its reverse 2"),
        (([0, 0, 1], [1, 1, 0], None), "vertex 0 has parallel edges whose reverses are fewer or more"),
        (([0, 0, 1], [1, 2, 0], None), "edge 0 -> 2 has no edge 2 -> 0"),
        (([0, 1, 2], [1, 2, 0], None), "edge 0 -> 1 has no edge 1 -> 0"),
    ],
)
def test_symmetry_is_verified(edges: tuple[Any, Any, Any], reason: str) -> None:
    graph = Graph.from_edges(*edges)
    with pytest.raises(UserError, match=f"graph is not symmetric: {reason}"):
        graph.verified_symmetric()
    with pytest.raises(UserError, match="not symmetric"):
        Graph.from_csr(*graph.rows, symmetric=True)
    assert graph.as_undirected("min").verified_symmetric().symmetric


def test_as_undirected_once_or_twice() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 0, 2], [5, 6, 7])
    assert graph.as_undirected().weights.tolist() == [5, 5, 7]  # type: ignore[union-attr]
    assert graph.as_undirected("keep").m == 5
    assert graph.as_undirected("sum").weights.tolist() == [11, 11, 7]  # type: ignore[union-attr]
    with pytest.raises(UserError, match="duplicates cannot be 'some'"):
        graph.as_undirected("some")  # type: ignore[arg-type]


def test_fingerprint_is_content() -> None:
    def made(**changes: Any) -> Graph:
        arguments: dict[str, Any] = dict(src=[0, 1, 1], dst=[1, 2, 2], weight=[1, 2, 3], n=4)
        return Graph.from_edges(**{**arguments, **changes})

    base = made()
    assert base.fingerprint == made(name="other").fingerprint
    assert base.fingerprint == base.named("x").fingerprint
    changes: list[dict[str, Any]] = [
        {"n": 5},
        {"dst": [1, 2, 0]},
        {"weight": None},
        {"weight": [1, 2, 4]},
        {"weight": np.array([1, 2, 3], np.float64)},
        {"self_loops": "drop"},
        {"duplicates": "drop"},
        {"undirected": True},
        {"labels": list("abcd")},
        {"ids": 64},
    ]
    prints = {base.fingerprint, *(made(**change).fingerprint for change in changes)}
    assert len(prints) == 1 + len(changes)
    code = "from pantograf import Graph; print(Graph.from_edges([0, 1, 1], [1, 2, 2], [1, 2, 3], n=4).fingerprint)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == base.fingerprint
    assert len(base.fingerprint) == 16


def test_pickling_keeps_the_content_and_nothing_else() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [1.5, 2.5], labels=["x", "y", "z"], name="named")
    small = len(pickle.dumps(graph))
    graph.transposed()
    graph.index_of("x")
    _ = graph.in_degrees, graph.out_degrees, graph.fingerprint
    assert len(pickle.dumps(graph)) < small + 40
    copy = pickle.loads(pickle.dumps(graph))
    assert copy.equals(graph)
    assert (copy.name, copy.fingerprint, copy.index_of("z")) == ("named", graph.fingerprint, 2)
    assert copy.transposed().equals(graph.transposed())


def test_repr() -> None:
    assert repr(Graph.from_edges([0], [1], [1.0])) == "Graph('graph', n=2, m=1, weights=float64)"
    assert repr(Graph.from_edges([0], [1], undirected=True, name="g")) == "Graph('g', n=2, m=2, symmetric)"
    assert repr(Graph.from_bipartite([0, 0], [0, 1])) == "Graph('graph', n=3, m=4, bipartite=1)"


def test_bipartite() -> None:
    graph = Graph.from_bipartite([0, 1, 1], [2, 0, 2], [1.0, 2.0, 3.0], n_rows=2, n_columns=3)
    assert (graph.n, graph.m, graph.bipartite, graph.symmetric) == (5, 6, 2, True)
    assert graph.neighbors.tolist() == [4, 2, 4, 1, 0, 1]
    assert graph.weights is not None
    assert graph.weights.tolist() == [1.0, 2.0, 3.0, 2.0, 1.0, 3.0]
    with pytest.raises(UserError, match=r"columns\[0\] is 3, but n is 3"):
        Graph.from_bipartite([0], [3], n_rows=1, n_columns=3)
