"""Where `load` looks, and data sets that are downloaded."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pantograf import Graph, UserError, load
from pantograf.graphs import datasets, formats, save


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local folder of data sets."""
    found = tmp_path / "data"
    found.mkdir()
    monkeypatch.setenv("PANTOGRAF_DATA", f"{tmp_path / 'absent'}:{found}")
    monkeypatch.setenv("PANTOGRAF_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return found


def test_local_folders(folder: Path) -> None:
    save(Graph.from_edges([0], [1]), folder / "mine.npz")
    save(Graph.from_edges([0], [2]), folder / "other.el.gz")
    np.savez(folder / "mine.coords.npz", lon=[1.0, 2.0], lat=[3.0, 4.0])
    (folder / "notes.txt").write_text("no graph")
    assert datasets.local() == {"mine": folder / "mine.npz", "other": folder / "other.el.gz"}
    assert load("mine").coordinates.tolist() == [[1.0, 3.0], [2.0, 4.0]]  # type: ignore[union-attr]
    assert load("other", undirected=True).m == 2
    assert load("other", name="x").name == "x"
    with pytest.raises(UserError, match="there is no file, data set or generator 'mien'") as caught:
        load("mien")
    assert "did you mean mine, mlens? generators: kronecker" in caught.value.hint
    with pytest.raises(UserError, match="there is no data set 'mien'"):
        datasets.load("mien")
    save(Graph.from_edges([0, 1], [1, 2]), folder / "orkut.npz")
    assert load("orkut").m == 2  # before the table


def test_a_file_comes_before_a_name(folder: Path) -> None:
    save(Graph.from_edges([0, 1, 2], [1, 2, 3]), Path("near.el"))
    assert load("near.el").m == 3
    assert load(Path("near.el")).m == 3
    with pytest.raises(UserError, match=r"cannot read far\.el: there is no such file"):
        load("far.el")
    with pytest.raises(UserError, match="cannot read"):
        load("some/folder/graph.npz")


def test_generators_take_no_file_options() -> None:
    assert load("star{vertices=5}").m == 8
    assert load("star").name == "star"
    assert load("star:vertices=5").m == 8
    assert load("star{vertices=5}", weights="unit").weights is not None
    assert load("star{vertices=5}", name="hub").name == "hub"
    assert load("road{rows=3, columns=3}", weights=False).weights is None
    with pytest.raises(UserError, match="duplicates, compact cannot be set for a generated graph") as caught:
        load("star{vertices=5}", duplicates="drop", compact=True)
    assert caught.value.hint == "legal settings: vertices, directed, weights"


def test_the_table_can_be_read() -> None:
    for entry in datasets.TABLE.values():
        assert entry.suffix in formats.FORMATS or entry.suffix == "movielens"
        assert entry.licence
        assert entry.url is None or entry.url.startswith("http")
        assert entry.sha256 is None or len(entry.sha256) == 64
    papers = " ".join(entry.used_by for entry in datasets.TABLE.values())
    for name in "orkut LiveJournal twitter indochina rdUSE rdUSW big-mlens mlens pubmed cora".split():
        assert f"PolyGraph {name}" in papers
    for name in "OK TW LJ SW HW PK IC RU RC RN".split():
        assert f"UGC {name}" in papers
    for name in "AMZ DCT EML OLS RAJ WNG".split():
        assert f"coherence {name}" in papers


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """An HTTP server on this machine, and the folder that it serves."""
    root = tmp_path / "served"
    root.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, directory=str(root), **options)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}", root
        running.shutdown()
        thread.join()


def entry(url: str, **changes: Any) -> datasets.DataSet:
    given: dict[str, Any] = dict(name="far", kind="road", url=url, suffix=".el", licence="none", used_by="a test")
    return datasets.DataSet(**{**given, **changes})


def test_downloads(folder: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url, root = server
    (root / "far.txt").write_text("# SNAP\n5 7\n7 9\n")
    monkeypatch.setitem(datasets.TABLE, "far", entry(f"{url}/far.txt", undirected=True, compact=True))
    with pytest.raises(UserError, match="no checksum of far is known") as caught:
        load("far")
    assert "verify=False" in caught.value.hint
    assert "PANTOGRAF_DATA" in caught.value.hint
    graph = load("far", verify=False)
    assert (graph.n, graph.m, graph.symmetric, graph.name) == (3, 4, True, "far")
    (root / "far.txt").unlink()
    assert load("far").equals(graph)  # from the cache, checked against the checksum that was kept
    cached = next(path for path in folder.parent.glob("cache/graphs/*") if path.suffix == ".txt")
    cached.write_text("0 1\n")
    with pytest.raises(UserError, match="cannot fetch far"):
        load("far")


def test_downloads_are_verified(folder: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url, root = server
    content = b"0 1\n"
    (root / "far.txt").write_bytes(content)
    right = hashlib.sha256(content).hexdigest()
    monkeypatch.setitem(datasets.TABLE, "far", entry(f"{url}/far.txt", sha256="0" * 64))
    with pytest.raises(UserError, match="cannot fetch far"):
        load("far")
    monkeypatch.setitem(datasets.TABLE, "far", entry(f"{url}/far.txt", sha256=right))
    assert load("far").m == 1
    monkeypatch.setitem(datasets.TABLE, "gone", entry(f"{url}/gone.txt", name="gone", sha256=right))
    with pytest.raises(UserError, match="cannot fetch gone from"):
        load("gone")
    with pytest.raises(UserError, match="pubmed is published in no form"):
        load("pubmed", verify=False)


def test_archives_are_unpacked(folder: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url, root = server
    content = b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"
    with tarfile.open(root / "far.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("far/far.mtx")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    archived = entry(f"{url}/far.tar.gz", suffix=".mtx", member="far/far.mtx")
    monkeypatch.setitem(datasets.TABLE, "far", archived)
    assert load("far", verify=False).m == 4
    monkeypatch.setitem(datasets.TABLE, "far", entry(archived.url, suffix=".mtx", member="far/other.mtx"))
    with pytest.raises(UserError, match=r"has no far/other\.mtx"):
        load("far")


def test_the_shared_folder_as_local_data(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANTOGRAF_DATA", str(shared / "data"))
    assert {"cnr-2000", "wing", "USA-road-FLA"} <= datasets.local().keys()
    assert load("wing").n == 62_032
    assert not any("features" in name or "coords" in name for name in datasets.local())
