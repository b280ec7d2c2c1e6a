"""`pantograf conform`: the matrix, its exit code, its JSON."""

from __future__ import annotations

import pytest


def test_a_matrix_that_agrees(here) -> None:
    words = ("conform", "bfs_depth", "kcore", "--on", "reference", "--draws", "0")
    said = here(*words)
    assert said.code == 0
    assert said.out.splitlines()[0].split() == ["algorithm", "reference"]
    assert "all agree (seed 0" in said.out
    document = here(*words, "--seed", "3", "--json").document
    assert (document["ok"], document["seed"]) == (True, 3)
    assert {cell["algorithm"] for cell in document["cells"]} == {"bfs_depth", "kcore"}
    assert all(cell["status"] == "agrees" and cell["runs"] > 5 for cell in document["cells"])


def test_a_wrong_machine_has_code_3(here, monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.machine import Executable

    plain = Executable.__call__

    def lie(self, *arguments, **named):
        result = plain(self, *arguments, **named)
        result.values["depth"][-1:] += 1
        return result

    monkeypatch.setattr(Executable, "__call__", lie)
    said = here("conform", "bfs_depth", "--on", "reference", "--draws", "0")
    assert said.code == 3
    assert "WRONG: bfs_depth on reference" in said.out


def test_unknown_names_are_refused(here) -> None:
    assert here("conform", "bfss").err.startswith("there is no algorithm 'bfss'")
    assert here("conform", "bfs_depth", "--on", "cpuu").err.startswith("there is no machine 'cpuu'")
