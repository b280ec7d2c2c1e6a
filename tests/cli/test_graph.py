"""`pantograf graph` and `pantograf list`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pantograf
from pantograf.graphs.formats import FORMATS


def test_info(here) -> None:
    found = here("graph", "info", "grid{rows=3, columns=4}", "--json").document
    assert (found["vertices"], found["edges"], found["components"], found["diameter.at_least"]) == (12, 34, 1, 5)
    shown = here("graph", "info", "grid:rows=3,columns=4")
    assert shown.out.splitlines()[0] == "grid{rows=3, columns=4}"
    assert "  diameter.at_least" in shown.out


def test_quick_info_leaves_out_what_takes_long(here) -> None:
    assert "components" not in here("graph", "info", "path{vertices=4}", "--quick", "--json").document


@pytest.mark.parametrize("suffix", [suffix for suffix in FORMATS if suffix != ".sg"])
def test_convert_keeps_the_graph(here, suffix: str, tmp_path: Path) -> None:
    spec = "grid{rows=4, columns=5}"
    target = tmp_path / f"graph{suffix}"
    done = here("graph", "generate", spec, "--weights", "random{low=1, high=9, seed=1}", "-o", str(target), "--json")
    assert (done.code, done.document["edges"]) == (0, 62)
    back = tmp_path / "back.npz"
    assert here("graph", "convert", str(target), str(back)).code == 0
    before, after = pantograf.load(spec).with_weights("random{low=1, high=9, seed=1}"), pantograf.load(back)
    assert np.array_equal(before.offsets, after.offsets)
    assert np.array_equal(before.neighbors, after.neighbors)
    if suffix != ".el":
        assert np.array_equal(before.weights, after.weights)


def test_convert_options_act(here, tmp_path: Path) -> None:
    (tmp_path / "g.el").write_text("0 1\n0 1\n1 1\n1 5\n")
    assert here("graph", "info", "g.el", "--json").document["edges"] == 4
    assert here("graph", "info", "g.el", "--duplicates", "drop", "--json").document["edges"] == 3
    assert here("graph", "info", "g.el", "--self-loops", "drop", "--json").document["edges"] == 3
    assert here("graph", "info", "g.el", "--undirected", "--duplicates", "drop", "--json").document["edges"] == 5
    assert here("graph", "info", "g.el", "--compact", "--json").document["vertices"] == 3
    assert here("graph", "info", "g.el", "--weights", "unit", "--json").document["weights"] is not None


def test_a_malformed_file_names_the_line_and_leaves_no_output(here, tmp_path: Path) -> None:
    (tmp_path / "bad.el").write_text("0 1\n2 x\n")
    said = here("graph", "convert", "bad.el", "out.npz")
    assert said.code == 1
    assert "bad.el:2" in said.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.el"]


def test_an_unknown_suffix_lists_the_legal_ones(here, tmp_path: Path) -> None:
    said = here("graph", "generate", "path{vertices=3}", "-o", "out.xyz")
    assert said.code == 1
    assert ".mtx" in said.err.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_generate_wants_a_generator(here) -> None:
    said = here("graph", "generate", "pubmed", "-o", "out.el")
    assert said.code == 1
    assert said.err.splitlines()[-1].startswith("hint: generators: kronecker, ")


def test_an_unwritable_place(here) -> None:
    said = here("graph", "generate", "path{vertices=3}", "-o", "nowhere/out.el")
    assert said.code == 1
    assert "nowhere/out.el" in said.err
    assert "Traceback" not in said.err


def test_list_graphs(here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.el").write_text("0 1\n")
    monkeypatch.setenv("PANTOGRAF_DATA", str(tmp_path))
    found = here("list", "graphs", "--json").document
    assert found["local"] == {"mine": str(tmp_path / "mine.el")}
    assert "kronecker" in {entry["name"] for entry in found["generators"]}
    assert "soc-LiveJournal1" in {entry["name"] for entry in found["data_sets"]}
    shown = here("list", "graphs").out
    for word in ("mine", "kronecker", "soc-LiveJournal1", ".parquet"):
        assert word in shown


def test_list_machines_and_their_settings(here) -> None:
    found = {entry["name"]: entry for entry in here("list", "machines", "--json").document}
    assert {"reference", "cpu"} <= found.keys()
    assert found["cpu"]["settings"]["threads"]["default"]
    assert all(entry["what"] for entry in found.values())
    assert "settings of cpu" in here("list", "machines").out


def test_list_schedules_has_every_knob(here) -> None:
    from dataclasses import fields

    found = {entry["name"]: entry for entry in here("list", "schedules", "--json").document}
    assert set(found["cpu"]["knobs"]) == {field.name for field in fields(pantograf.cpu.Traverse)}
    assert "hybrid{first=" in here("list", "schedules").out


def test_list_algorithms(here) -> None:
    found = {entry["name"]: entry for entry in here("list", "algorithms", "--json").document}
    assert found.keys() == set(pantograf.algorithms.names())
    assert found["bfs"]["labels"] == ["while", "while:traverse"]
    assert all(entry["citation"] and entry["same_answer"] for entry in found.values())
    assert "sssp " in here("list", "algorithms").out


def test_list_passes(here) -> None:
    names = [entry["name"] for entry in here("list", "passes", "--json").document]
    assert names.index("recognize-reductions") < names.index("choose-direction") < names.index("insert-atomics")
    assert "insert-atomics" in here("list", "passes").out
