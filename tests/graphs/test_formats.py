"""Files: written and read back, read from small texts, and refused with file, line and reason."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pantograf import Graph, UserError, load
from pantograf.graphs import formats, save
from pantograf.graphs.formats import text

SUFFIXES = [".el", ".wel", ".mtx", ".gr", ".graph", ".sg", ".wsg", ".npz", ".parquet"]
TEXTS = [suffix for suffix in SUFFIXES if formats.FORMATS[suffix].is_text]
WEIGHTED = {".wel", ".mtx", ".gr", ".graph", ".wsg", ".npz", ".parquet"}
KNOWS_SYMMETRY = {".mtx", ".graph", ".sg", ".wsg", ".npz", ".parquet"}


def sample(kind: Any, undirected: bool, loops: bool = True) -> Graph:
    src, dst = [0, 0, 2, 2, 4, 3, 4], [1, 1, 0, 3, 4, 2, 0]
    if not loops:
        src, dst = src[:4] + src[5:], dst[:4] + dst[5:]
    weights = None if kind is None else np.arange(1, len(src) + 1).astype(kind)
    return Graph.from_edges(src, dst, weights, 6, undirected=undirected, name="sample")


@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trip(tmp_path: Path, suffix: str, undirected: bool) -> None:
    graph = sample(np.int32 if suffix in WEIGHTED else None, undirected)
    path = tmp_path / f"sample{suffix}"
    save(graph, path)
    back = load(path)
    if undirected and suffix not in KNOWS_SYMMETRY:
        assert not back.symmetric
        back = back.verified_symmetric()
    assert back.equals(graph)
    assert back.name == "sample"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", TEXTS)
def test_round_trip_compressed(tmp_path: Path, suffix: str) -> None:
    graph = sample(np.int32 if suffix in WEIGHTED else None, False)
    path = tmp_path / f"sample{suffix}.gz"
    save(graph, path)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert load(path).equals(graph)
    first = path.read_bytes()
    save(graph, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("suffix", [".mtx", ".npz", ".parquet"])
def test_formats_that_keep_the_type_of_weights(tmp_path: Path, suffix: str, kind: str) -> None:
    graph = sample(kind, True)
    save(graph, tmp_path / f"g{suffix}")
    assert load(tmp_path / f"g{suffix}").equals(graph)


@pytest.mark.parametrize("suffix", [".wel", ".gr", ".graph", ".mtx", ".npz", ".parquet"])
def test_odd_weights(tmp_path: Path, suffix: str) -> None:
    values = [0.1, -1e-300, np.nan, np.inf, -np.inf, 1 / 3, -0.0, 1e22, 5e-324]
    graph = Graph.from_edges(np.arange(9), np.arange(1, 10), values)
    save(graph, tmp_path / f"g{suffix}")
    back = load(tmp_path / f"g{suffix}").weights
    assert back is not None
    assert np.array(values).tobytes() == back.tobytes()
    short = graph.with_weights(np.array(values).astype(np.float32))
    save(short, tmp_path / f"g{suffix}")
    found = load(tmp_path / f"g{suffix}").weights
    assert found is not None
    assert np.array_equal(found.astype(np.float32), short.weights, equal_nan=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".wel", ".gr", ".graph"])
def test_whole_weights_too_large_for_32_bits(tmp_path: Path, suffix: str) -> None:
    graph = Graph.from_edges([0, 1], [1, 0], [2**63 - 1, -(2**63)])
    save(graph, tmp_path / f"g{suffix}")
    assert load(tmp_path / f"g{suffix}").equals(graph)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".mtx.gz"])
@pytest.mark.parametrize(("n", "undirected"), [(0, True), (1, True), (5, True), (5, False)])
def test_no_edges(tmp_path: Path, suffix: str, n: int, undirected: bool) -> None:
    graph = Graph.from_edges([], [], n=n, undirected=undirected)
    save(graph, tmp_path / f"g{suffix}")
    back = load(tmp_path / f"g{suffix}")
    assert (back.n, back.m) == (n, 0)


def test_self_loops_alone(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 2], [0, 2], undirected=True)
    for suffix in KNOWS_SYMMETRY:
        save(graph, tmp_path / f"g{suffix}")
        assert load(tmp_path / f"g{suffix}", weights=False).equals(graph)


@settings(max_examples=40, deadline=None)
@given(
    data=st.data(),
    n=st.integers(1, 9),
    undirected=st.booleans(),
    suffix=st.sampled_from(SUFFIXES),
)
def test_any_graph_survives(tmp_path_factory: Any, data: st.DataObject, n: int, undirected: bool, suffix: str) -> None:
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex, st.integers(-(2**31), 2**31 - 1)), max_size=20))
    src, dst, weights = ([edge[i] for edge in edges] for i in range(3))
    values = np.array(weights, np.int32) if suffix in WEIGHTED else None
    graph = Graph.from_edges(src, dst, values, n, undirected=undirected)
    path = tmp_path_factory.mktemp("any") / f"g{suffix}"
    save(graph, path)
    back = load(path)
    assert back.n == n
    for ours, theirs in zip(back.edges()[:2], graph.edges()[:2], strict=True):
        assert (ours == theirs).all()
    if values is not None and edges:
        assert (back.weights == graph.weights).all()


def test_bipartite_labels_and_coordinates(tmp_path: Path) -> None:
    ratings = Graph.from_bipartite([0, 1, 1], [2, 0, 2], [1.0, 2.0, 3.0], 2, 3)
    square = Graph.from_bipartite([0, 1], [1, 0], None, 2, 2)
    for suffix in (".npz", ".parquet", ".mtx"):
        save(ratings, tmp_path / f"r{suffix}")
        back = load(tmp_path / f"r{suffix}")
        assert back.equals(ratings)
        assert back.bipartite == 2
        save(square, tmp_path / f"s{suffix}")
        assert load(tmp_path / f"s{suffix}").equals(square)
    assert load(tmp_path / "s.npz").bipartite == 2
    named = Graph.from_edges([0, 1], [1, 2], labels=["ä", "b", "c"])
    named.coordinates = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.5]])
    for suffix in (".npz", ".parquet"):
        save(named, tmp_path / f"n{suffix}")
        back = load(tmp_path / f"n{suffix}")
        assert back.equals(named)
        assert back.fingerprint == named.fingerprint
        tuples = Graph.from_edges([0], [1], labels=[(1, 2), (3, 4)])
        with pytest.raises(UserError, match="the labels of graph are tuples"):
            save(tuples, tmp_path / f"t{suffix}")


def test_matrix_market_as_scipy_reads_it(tmp_path: Path) -> None:
    for undirected in (False, True):
        for kind in (None, np.int64, np.float64):
            graph = sample(kind, undirected)
            save(graph, tmp_path / "g.mtx")
            matrix = sp.coo_array(scipy.io.mmread(tmp_path / "g.mtx"))
            assert (matrix.toarray() == graph.to_scipy().toarray()).all()


@pytest.mark.parametrize(
    ("form", "field", "symmetry"),
    [
        (form, field, symmetry)
        for form in ("coordinate", "array")
        for field in ("integer", "real", "pattern")
        for symmetry in ("general", "symmetric", "skew-symmetric")
        if field != "pattern" or (form == "coordinate" and symmetry != "skew-symmetric")
    ],
)
def test_matrix_market_as_scipy_writes_it(tmp_path: Path, symmetry: str, form: str, field: str) -> None:
    random = np.random.default_rng(3)
    matrix = random.integers(0, 3, (9, 9)) * (1 if field != "real" else 0.25)
    if symmetry == "symmetric":
        matrix = matrix + matrix.T
    if symmetry == "skew-symmetric":
        matrix = matrix - matrix.T
    if field == "pattern":
        matrix = (matrix != 0).astype(np.int64)
    path = tmp_path / "g.mtx"
    scipy.io.mmwrite(path, matrix if form == "array" else sp.coo_array(matrix), field=field, symmetry=symmetry)
    graph = load(path)
    assert (graph.to_scipy().toarray() == matrix).all()
    assert graph.symmetric == (symmetry == "symmetric")
    assert (graph.weights is None) == (field == "pattern")


def test_matrix_market_rectangle_and_type(tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate integer general\n%%GraphBLAS type uint16_t\n\n2 3 2\n1 3 7\n2 1 9\n"
    )
    graph = load(path)
    assert (graph.n, graph.m, graph.bipartite) == (5, 4, 2)
    assert graph.weights is not None
    assert graph.weights.dtype == np.uint16
    path.write_text("%%MatrixMarket matrix coordinate integer general\n%%GraphBLAS type int8_t\n1 1 1\n1 1 200\n")
    with pytest.raises(UserError, match="weights that do not fit in the int8"):
        load(path)


def test_scipy_npz_both_ways(tmp_path: Path) -> None:
    graph = sample(np.float32, False)
    save(graph, tmp_path / "ours.npz", form="scipy")
    assert (sp.load_npz(tmp_path / "ours.npz").toarray() == graph.to_scipy().toarray()).all()
    assert load(tmp_path / "ours.npz").equals(graph)
    for form in ("csr", "csc", "coo"):
        sp.save_npz(
            tmp_path / "theirs.npz", sp.random_array((9, 9), density=0.3, rng=np.random.default_rng(1), format=form)
        )
        expected = sp.load_npz(tmp_path / "theirs.npz").toarray()
        assert (load(tmp_path / "theirs.npz").to_scipy().toarray() == expected).all()
        sp.save_npz(
            tmp_path / "theirs.npz", sp.random_array((3, 5), density=0.5, rng=np.random.default_rng(1), format=form)
        )
        wide = load(tmp_path / "theirs.npz")
        assert (wide.to_scipy().toarray()[:3, 3:] == sp.load_npz(tmp_path / "theirs.npz").toarray()).all()
        assert (wide.n, wide.bipartite) == (8, 3)
    with pytest.raises(UserError, match=r"no form 'matrix'"):
        save(graph, tmp_path / "g.npz", form="matrix")
    with pytest.raises(UserError, match=r"\.el files have one form"):
        save(graph, tmp_path / "g.el", form="scipy")


def test_serialized_bytes(tmp_path: Path) -> None:
    """The layout of GAPBS's writer.h, byte by byte."""
    save(Graph.from_edges([0, 2], [1, 0], [7, 8], 3), tmp_path / "g.wsg")
    expected = b"\x01" + np.array([2, 3, 0, 1, 1, 2], "<i8").tobytes() + np.array([1, 7, 0, 8], "<i4").tobytes()
    expected += np.array([0, 1, 2, 2], "<i8").tobytes() + np.array([2, 8, 0, 7], "<i4").tobytes()
    assert (tmp_path / "g.wsg").read_bytes() == expected
    save(Graph.from_edges([0], [1], undirected=True), tmp_path / "g.sg")
    expected = b"\x00" + np.array([2, 2, 0, 1, 2], "<i8").tobytes() + np.array([1, 0], "<i4").tobytes()
    assert (tmp_path / "g.sg").read_bytes() == expected
    with pytest.raises(UserError, match="64-bit ids"):
        save(Graph.from_edges([0], [1], ids=64), tmp_path / "h.sg")
    with pytest.raises(UserError, match=r"weight 0\.5 of graph is no i32"):
        save(Graph.from_edges([0], [1], [0.5]), tmp_path / "h.wsg")
    assert not (tmp_path / "h.sg").exists()


@pytest.mark.parametrize(
    ("name", "content", "n", "edges"),
    [
        ("a.el", "# a comment\n0 1\n\n  2\t3  \n% another\n1 0", 4, [(0, 1), (1, 0), (2, 3)]),
        ("b.el", "\ufeff0 1\r\n1 2\r\n", 3, [(0, 1), (1, 2)]),
        ("c.el", "# Nodes: 9 Edges: 1\n0 1\n", 9, [(0, 1)]),
        ("d.el", "", 0, []),
        ("e.wel", "0 1 2.5\n1 0 3\n", 2, [(0, 1), (1, 0)]),
        ("f.gr", "c hello\np sp 3 2\na 1 2 10\nc between\na 3 1 5\n", 3, [(0, 1), (2, 0)]),
        ("g.graph", "% c\n3 2\n2 3\n% c\n1\n1\n", 3, [(0, 1), (0, 2), (1, 0), (2, 0)]),
        ("h.graph", "4 1\n2\n1\n\n", 4, [(0, 1), (1, 0)]),
        ("i.graph", "2 1 011 1\n5 2 7\n6 1 7\n", 2, [(0, 1), (1, 0)]),
        ("j.graph", "2 1 111 2\n9 5 5 2 7\n9 6 6 1 7\n", 2, [(0, 1), (1, 0)]),
        ("k.graph", "3 2 100\n2 3\n\n\n", 3, [(0, 1), (0, 2)]),
        ("l.graph", "2 1 100\n4 2\n4 1\n", 2, [(0, 1), (1, 0)]),
        ("m.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", 3, [(0, 1), (1, 0), (2, 2)]),
    ],
)
def test_small_texts(tmp_path: Path, name: str, content: str, n: int, edges: list[tuple[int, int]]) -> None:
    (tmp_path / name).write_bytes(content.encode())
    graph = load(tmp_path / name)
    src, dst, _ = graph.edges()
    assert graph.n == n
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == edges


MM = "%%MatrixMarket matrix coordinate "


@pytest.mark.parametrize(
    ("name", "content", "line", "reason"),
    [
        ("a.el", "0 1\n0 x\n", 2, "'x' is no vertex id"),
        ("b.el", "0 1\n\n0 1 2\n", 3, "expected 2 numbers, found 3"),
        ("c.el", "0 1\n0 1 2\n3\n", 2, "expected 2 numbers, found 3"),
        ("d.el", "0\n1\n", 1, "expected 2 numbers, found 1"),
        ("e.el", "0 1\n-4 1\n", 2, "-4 is no vertex id, they start at 0"),
        ("f.el", "0 1.0\n", 1, "'1.0' is no vertex id"),
        ("g.el", "0 1\n0 99999999999999999999\n", 2, "99999999999999999999 does not fit in a 64-bit vertex id"),
        ("h.el", f"0 1\n1 2\n2 3\n3 {2**50}\n4 5\n", 4, "a graph of 1,125,899,906,842,625 vertices would take about"),
        ("i.el", "0 1\n\x00\x00\n", 2, "a zero byte stands here"),
        ("j.wel", "0 1 5\n0 1 heavy\n", 2, "'heavy' is no weight"),
        ("k.wel", "0 1 5\n0 1\n", 2, "expected 3 numbers, found 2"),
        ("l.wel", "0 1 0.5\n0.5 1 1\n", 2, "'0.5' is no vertex id"),
        ("m.gr", "p sp 2 1\na 1 2 3\na 2 1 3\n", 1, "the header promises 1 edges, line 3 is past that"),
        ("n.gr", "p sp 2 2\na 1 2 3\n", 1, "the header promises 2 edges, the file has 1"),
        ("o.gr", "p sp 2 1\na 1 3 3\n", 2, "vertex 3 is beyond the 2 that the header promises"),
        ("p.gr", "p sp 2 1\na 0 1 3\n", 2, "0 is no vertex id, they start at 1"),
        ("q.gr", "p sp 2 2\na 1 2 3\n1 2 3\n", 3, "expected a line that starts with 'a ', found '1'"),
        ("r.gr", "p max 2 1\na 1 2 3\n", 1, "expected the header 'p sp VERTICES ARCS'"),
        ("s.gr", "p sp two 1\na 1 2 3\n", 1, "'two' is no number of vertices"),
        ("t.gr", "p sp 2 1000000000000\na 1 2 3\n", 1, "a file of 29 bytes cannot hold them"),
        ("u.gr", "p sp 1000000000000000 1\na 1 2 3\n", 1, "would take about"),
        ("v.graph", "2 1\n2\n3\n", 3, "vertex 2 has the neighbour 3, vertices are 1 to 2"),
        ("w.graph", "2 1\n2\nx\n", 3, "'x' is no number"),
        ("x.graph", "2 1\n2\n1.5\n", 3, "'1.5' is no vertex id"),
        ("y.graph", "2 3\n2\n1\n", 1, "the header promises 3 edges, the lines have 2 neighbours"),
        ("z.graph", "2 1\n2\n1\n1\n", 4, "a line past the last one has neighbours"),
        ("A.graph", "5 1\n2\n1\n", 3, "the header promises 5 vertices, the file has lines for 2"),
        ("B.graph", "3 1 1\n2 7\n% c\n1\n\n", 4, "vertex 2 has 1 numbers, not 0 and then 2 for each neighbour"),
        ("C.graph", "3 2 0\n2 3\n3\n2\n", 1, "the file is not symmetric"),
        ("D.graph", "3 2 7\n", 1, "expected the header 'VERTICES EDGES"),
        ("E.graph", "1000000000000 1\n\n", 1, "cannot hold them"),
        ("F.mtx", "3 3 1\n1 1\n", 1, "this is no Matrix Market header"),
        ("G.mtx", MM + "complex general\n1 1 1\n1 1 1 1\n", 1, "'complex' matrices are not graphs"),
        ("H.mtx", MM + "real hermitian\n1 1 1\n1 1 1\n", 1, "'hermitian' matrices are not graphs"),
        ("I.mtx", MM + "pattern general\n2 2\n", 2, "expected the numbers of rows, columns, entries, found 2 words"),
        ("J.mtx", MM + "pattern symmetric\n2 3 1\n1 1\n", 2, "a symmetric matrix cannot be 2 x 3"),
        ("K.mtx", MM + "pattern general\n2 2 1000000000000\n1 1\n", 2, "cannot hold them"),
        ("L.mtx", MM + "pattern general\n2 3 1\n3 1\n", 3, "vertex 3 is beyond the 2 that the header promises"),
        ("M.mtx", MM + "integer general\n2 2 1\n1 1 0.5\n", 3, "'0.5' is no 64-bit whole number"),
        ("N.mtx", MM + "real general\n2 2 2\n1 1 0.5\n1 1 one\n", 4, "'one' is no weight"),
        (
            "O.mtx",
            MM.replace("coordinate", "array") + "real general\n2 2\n1\n2\n3\n",
            2,
            "has 4 values, the file has 3",
        ),
        ("P.mtx", MM.replace("coordinate", "array") + "real general\n1 2\n1\nq\n", 4, "'q' is no number"),
        ("Q.mtx", MM + "pattern general\n99999999999999999999 1 1\n1 1\n", 2, "is no number of rows"),
        ("R.mtx", MM + "pattern general\n1000000000000000 1000000000000000 1\n1 1\n", 2, "would take about"),
    ],
)
def test_malformed_texts(tmp_path: Path, name: str, content: str, line: int, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    with pytest.raises(UserError) as caught:
        load(path)
    assert reason in caught.value.message
    assert caught.value.place is not None
    assert (caught.value.place.file, caught.value.place.line) == (str(path), line)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_the_whole_message(tmp_path: Path) -> None:
    path = tmp_path / "g.wel"
    path.write_text("0 1 5\n  3 4  heavy\n")
    with pytest.raises(UserError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}:2: 'heavy' is no weight\n    3 4  heavy\n         ^^^^^\nhint: each line holds: source destination weight"
    )


def test_a_mistake_far_down(tmp_path: Path) -> None:
    lines = [f"{i} {i + 1}" for i in range(300_000)]
    lines[50] = "# a comment"
    lines[250_000] = "7 eight"
    path = tmp_path / "g.el"
    path.write_text("\n".join(lines))
    with pytest.raises(UserError, match="'eight' is no vertex id") as caught:
        load(path)
    assert caught.value.place is not None
    assert caught.value.place.line == 250_001
    lines[250_000] = ""
    path.write_text("\n".join(lines))
    graph = load(path)
    assert (graph.n, graph.m) == (300_001, 299_998)


def test_stray_ids_are_refused_before_memory(tmp_path: Path) -> None:
    path = tmp_path / "g.el"
    path.write_text(f"0 1\n1 2\n{2**28} 3\n")
    with pytest.raises(UserError, match=r"g has vertex id 268,435,456 but only 3 edges") as caught:
        load(path)
    assert "compact=True" in caught.value.hint
    graph = load(path, compact=True)
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 2, 3, 2**28]


@pytest.mark.parametrize("block", [1, 7, 64])
def test_small_blocks_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    graph = sample(np.float64, True)
    for suffix in (".wel", ".mtx", ".gr", ".graph"):
        save(graph, tmp_path / f"g{suffix}")
    monkeypatch.setattr(text, "_BLOCK_BYTES", block)
    for suffix in (".wel", ".mtx", ".gr", ".graph"):
        back = load(tmp_path / f"g{suffix}")
        assert (back.neighbors == graph.neighbors).all()
        assert (back.weights == graph.weights).all()


def npz(path: Path, **changes: Any) -> Path:
    arrays: dict[str, Any] = dict(row=[0, 1], col=[1, 1], n_rows=2, n_cols=2, directed=True, name="x")
    np.savez(path, **{k: np.asarray(v) for k, v in {**arrays, **changes}.items() if v is not None})
    return path


def test_malformed_binaries(tmp_path: Path) -> None:
    def refused(path: Path, message: str) -> None:
        with pytest.raises(UserError) as caught:
            load(path)
        assert message in str(caught.value)
        assert str(path) in str(caught.value)

    good = npz(tmp_path / "good.npz")
    assert load(good).m == 2
    refused(npz(tmp_path / "a.npz", n_rows=None), "which is no graph")
    refused(npz(tmp_path / "b.npz", row=[0, 5]), "row[1] is 5, but n is 2")
    refused(npz(tmp_path / "c.npz", row=[0]), "row has 1 values, col 2")
    refused(npz(tmp_path / "d.npz", weight=[1.0]), "1 weights are given for 2 edges")
    refused(npz(tmp_path / "e.npz", row=np.array([{}, {}], object)), "row holds Python objects")
    (tmp_path / "f.npz").write_bytes(good.read_bytes()[:-40])
    refused(tmp_path / "f.npz", "not a zip file")
    (tmp_path / "g.npz").write_bytes(good.read_bytes().replace(b"(2,)", b"(9,)"))
    refused(tmp_path / "g.npz", "Bad CRC-32")
    sp.save_npz(tmp_path / "h.npz", sp.dia_array(np.eye(3)))
    refused(tmp_path / "h.npz", "is a dia matrix")

    save(sample(None, False), tmp_path / "s.sg")
    raw = (tmp_path / "s.sg").read_bytes()
    (tmp_path / "t.sg").write_bytes(raw[:-4])
    refused(tmp_path / "t.sg", "but it has")
    (tmp_path / "u.sg").write_bytes(raw[:1] + (10**12).to_bytes(8, "little") + raw[9:])
    refused(tmp_path / "u.sg", "1,000,000,000,000 directed edges")
    (tmp_path / "v.sg").write_bytes(b"\x07" + raw[1:])
    refused(tmp_path / "v.sg", "is no serialized graph")
    (tmp_path / "w.sg").write_bytes(raw[:25] + (99).to_bytes(8, "little") + raw[33:])
    refused(tmp_path / "w.sg", "offsets do not describe rows")
    (tmp_path / "x.sg").write_bytes(raw[:-4] + (3).to_bytes(4, "little"))
    refused(tmp_path / "x.sg", "the reversed edges are not those of its edges")
    half = 17 + 8 * 7 + 4 * 7
    (tmp_path / "y.sg").write_bytes(b"\x00" + raw[1:half])
    refused(tmp_path / "y.sg", "says it is undirected")

    (tmp_path / "z.parquet").write_bytes(b"PAR1 nothing")
    refused(tmp_path / "z.parquet", "cannot read")


def test_a_lying_npz_header_is_refused(tmp_path: Path) -> None:
    import zipfile

    path = npz(tmp_path / "a.npz")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "b.npz", "w") as new:
        for member in old.namelist():
            content = old.read(member)
            new.writestr(
                member, content.replace(b"(2,), }        ", b"(999999999,), }") if member == "row.npy" else content
            )
    with pytest.raises(UserError, match="row promises 999,999,999 values"):
        load(tmp_path / "b.npz")


def test_compressed_promises_cost_nothing(tmp_path: Path) -> None:
    for name, content, line in [
        ("a.gr.gz", "p sp 2 1000000000000\na 1 2 3\n", 1),
        ("b.mtx.gz", MM + "pattern general\n2 2 1000000000000\n1 1\n", 2),
        ("c.mtx.gz", MM + "pattern general\n1000000000000000 1000000000000000 1\n1 1\n", 2),
        ("d.graph.gz", "1000000000000 1\n\n", 1),
    ]:
        (tmp_path / name).write_bytes(gzip.compress(content.encode()))
        with pytest.raises(UserError) as caught:
            load(tmp_path / name)
        assert caught.value.place is not None
        assert caught.value.place.line == line


def test_broken_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(b"0 1\n" * 200_000)
    for content in (whole[: len(whole) // 2], b"0 1\n", whole[:20] + b"\xff" * 30 + whole[50:]):
        path = tmp_path / "g.el.gz"
        path.write_bytes(content)
        with pytest.raises(UserError, match=f"cannot read {path} after line"):
            load(path)


def test_parquet_of_others(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")

    path = tmp_path / "g.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"source": ["x", "y"], "target": ["y", "z"], "weight": [1.5, 2.5]}), path)
    graph = load(path)
    assert graph.labels is not None
    assert graph.labels.tolist() == ["x", "y", "z"]
    assert graph.weights is not None
    assert graph.weights.tolist() == [1.5, 2.5]
    pyarrow.parquet.write_table(pyarrow.table({"src": [0, None], "dst": [1, 2]}), path)
    with pytest.raises(UserError, match="column src has 1 nulls"):
        load(path)
    pyarrow.parquet.write_table(pyarrow.table({"a": [0], "b": [1]}), path)
    with pytest.raises(UserError, match="has the columns a, b"):
        load(path)


def test_movielens(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("userId,movieId,rating,timestamp\n7,30,4.5,1\n7,10,3.0,2\n9,10,5,3\n")
    (tmp_path / "ratings.dat").write_text("7::30::4.5::1\n7::10::3::2\n9::10::5::3\n")
    for name in ("ratings.csv", "ratings.dat"):
        graph = load(tmp_path / name, suffix="movielens")
        assert (graph.n, graph.m, graph.bipartite) == (4, 6, 2)
        assert graph.weights is not None
        assert graph.weights.tolist() == [3.0, 4.5, 5.0, 3.0, 5.0, 4.5]
    (tmp_path / "bad.csv").write_text("userId,movieId,rating,timestamp\n7,30,4.5,1\n7,10,3.0\n")
    with pytest.raises(UserError, match="expected user, item, rating and time") as caught:
        load(tmp_path / "bad.csv", suffix="movielens")
    assert caught.value.place is not None
    assert caught.value.place.line == 3


def test_which_files_are_graphs(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("0 1\n")
    with pytest.raises(UserError, match=r"has the suffix '\.txt', which is no graph's") as caught:
        load(tmp_path / "g.txt")
    assert ".el[.gz], .wel[.gz], .mtx[.gz]" in caught.value.hint
    assert load(tmp_path / "g.txt", suffix=".el").m == 1
    with pytest.raises(UserError, match=r"no format has the suffix '\.foo'"):
        load(tmp_path / "g.txt", suffix=".foo")
    with pytest.raises(UserError, match="there is no such file"):
        load(tmp_path / "absent.el")
    (tmp_path / "folder.el").mkdir()
    with pytest.raises(UserError, match="it is a folder"):
        load(tmp_path / "folder.el")
    with pytest.raises(UserError, match=r"'\.sg\.gz'"):
        load(tmp_path / "g.sg.gz")


def test_writing_is_whole_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.el"
    save(Graph.from_edges([0], [1]), path)
    monkeypatch.setattr(text, "write_rows", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        save(Graph.from_edges([5], [6]), path)
    assert path.read_text() == "0 1\n"
    assert os.listdir(tmp_path) == ["g.el"]
    with pytest.raises(UserError, match="cannot write"):
        save(Graph.from_edges([0], [1]), tmp_path / "absent" / "g.el")


def test_options_of_loading(tmp_path: Path) -> None:
    path = tmp_path / "g.wel"
    path.write_text("0 1 5\n0 1 3\n1 1 2\n2 0 1\n")
    assert load(path).m == 4
    assert load(path, self_loops="drop").m == 3
    assert load(path, duplicates="min").weights.tolist() == [3, 2, 1]  # type: ignore[union-attr]
    assert load(path, undirected=True).m == 7
    assert load(path, undirected=True).symmetric
    assert load(path, weights=False).weights is None
    assert load(path, weights="unit").weights.tolist() == [1] * 4  # type: ignore[union-attr]
    assert load(path, n=9).n == 9
    assert load(path, name="other").name == "other"
    assert load(str(path)).fingerprint != load(path, duplicates="drop").fingerprint
    with pytest.raises(UserError, match=r"dst\[0\] is 1, but n is 1|src\[3\] is 2, but n is 1"):
        load(path, n=1)
    with pytest.raises(UserError, match="compact=True numbers the vertices itself"):
        load(path, n=3, compact=True)
    save(load(path), tmp_path / "g.wsg")
    for options in ({"self_loops": "drop"}, {"duplicates": "sum"}, {"undirected": True}, {"n": 9}, {"compact": True}):
        assert load(tmp_path / "g.wsg", **options).equals(load(path, **options)), options  # type: ignore[arg-type]


def test_gapbs_files_agree(shared: Path) -> None:
    folder = shared / "data" / "small" / "gapbs"
    names = ["4.el", "4.wel", "4.mtx", "4.gr", "4.graph", "4w.mtx", "4w.graph"]
    graphs = [load(folder / name, self_loops="drop", duplicates="drop") for name in names]
    for graph in graphs:
        assert (graph.n, graph.m) == (14, 53)  # as reference/graph-4.*.out say
        assert (graph.neighbors == graphs[0].neighbors).all()
        assert (graph.offsets == graphs[0].offsets).all()
    weighted = load(folder / "4.wel")
    assert (load(folder / "4.gr").weights == weighted.weights).all()


def test_lagraph_files_equal_scipy(shared: Path) -> None:
    paths = sorted((shared / "data" / "small" / "lagraph").glob("*.mtx.gz"))
    assert len(paths) > 20
    for path in paths:
        matrix = scipy.io.mmread(path)
        matrix = sp.coo_array(matrix)
        rows, columns = matrix.shape
        found = load(path).to_scipy().toarray()
        if rows != columns:
            found = found[:rows, rows:]
        assert np.array_equal(found.astype(float), matrix.toarray().astype(float)), path.name


def test_networkit_and_graphit_files(shared: Path) -> None:
    small = shared / "data" / "small"
    expected = {
        "karate": (34, 78),
        "jazz": (198, 2742),
        "lesmis": (77, 254),
        "power": (4941, 6594),
        "polblogs": (1490, 16715),
    }
    for name, (n, m) in expected.items():
        graph = load(small / "networkit" / f"{name}.graph.gz")
        assert (graph.n, graph.m, graph.symmetric) == (n, 2 * m, True)
    mirrored = load(small / "gapbs" / "4.el", self_loops="drop", duplicates="drop").as_undirected("keep")
    assert mirrored.m == load(small / "graphit" / "4_sym.el").m
    assert load(small / "graphit" / "monaco.wel.gz").weights is not None
    assert load(small / "graphit" / "rmat10.el.gz").verified_symmetric().m == 20_992


def test_the_large_graphs_have_the_manifest_counts(shared: Path) -> None:
    lines = (shared / "data" / "MANIFEST.md").read_text().splitlines()
    counted = 0
    for line in lines:
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) < 12 or not cells[0].startswith("`"):
            continue
        name = cells[0].strip("`")
        sizes = [int(size.replace(",", "")) for size in cells[1].split(" x ")]
        stored, both = (int(cell.replace(",", "")) for cell in cells[2:4])
        graph = load(shared / "data" / f"{name}.npz")
        assert graph.n == sum(sizes), name
        assert graph.m == (stored if cells[4] == "yes" else both), name
        assert graph.bipartite == (sizes[0] if len(sizes) > 1 else None), name
        assert (graph.weights is None) == (cells[5] == "-"), name
        if cells[4] == "yes":
            assert graph.as_undirected().m == both, name
        counted += 1
    assert counted >= 20
    assert load(shared / "data" / "cal-road.npz").coordinates is not None
    assert json.loads((shared / "data" / "expected.json").read_text())
