"""`pantograf tune`: what it prints, its JSON, how it stops and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_output import on_a_terminal

GRAPH = "kronecker{scale=6}"
WORDS = ("tune", "bfs_depth", "--graph", GRAPH, "--on", "cpu{threads=2}", "--trials", "1", "--state", "kept.jsonl")


def test_tables_reasons_and_the_schedule_to_paste(here) -> None:
    said = here(*WORDS, "--cells", "3")
    assert said.code == 0
    assert "the best of 3 cells" in said.out
    assert "while:traverse: direction=push" in said.out
    assert "default / best" in said.out
    assert "--schedule while:traverse=" in said.out.replace("'", "") or "the default is the best" in said.out
    again = here(*WORDS, "--cells", "3", "--json")
    assert "note: 3 cells are kept" in again.err
    document = again.document
    assert {cell["status"] for cell in document["cells"]} <= {"measured", "dropped"}
    assert document["cells"][0]["cell"] == {}
    assert (document["kept"], len(document["arguments"])) == (3, 4)
    assert document["ratio"]["low"] <= document["ratio"]["value"] <= document["ratio"]["high"]
    assert len(document["why"]) == 2


def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    code, seen = on_a_terminal(*WORDS, "--cells", "3", folder=tmp_path)
    assert code == 0
    assert "3/3" in seen and "━" in seen
    assert "the best of 3 cells" in seen


def test_a_program_of_the_users_own(here, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import pantograf as pg\n"
        "from pantograf import Edges, Vertex, i32\n\n\n"
        "@pg.program\n"
        "def own(edges: Edges, root: Vertex, by: i32 = 2):\n"
        "    p = edges.vertices.property(i32, 0)\n\n"
        "    def more(v):\n"
        "        p[v] += by\n\n"
        "    p[root] = 1\n"
        "    edges.vertices.apply(more)\n"
        "    return p\n"
    )
    words = ("tune", "own.py", "--graph", "path{vertices=50}", "--trials", "1", "--cells", "2", "--state", "s")
    document = here(*words, "--by", "7", "--sources", "2", "--json").document
    assert [run["by"] for run in document["arguments"]] == [7, 7]
    assert len({run["root"] for run in document["arguments"]}) == 2
    assert here(*words, "--bye", "7").code == 2


def test_a_wrong_answer_has_code_3_and_names_the_cell(here, monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.machine import Executable

    plain = Executable.__call__

    def lie(self, *arguments, **named):
        result = plain(self, *arguments, **named)
        if self.program.schedules:
            result.values["depth"][-1:] += 1
        return result

    monkeypatch.setattr(Executable, "__call__", lie)
    said = here(*WORDS, "--cells", "2")
    assert said.code == 3
    assert "wrong answer: while:traverse=cpu{direction=push}: vertex" in said.err


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["tune", "bfss", "--graph", GRAPH], 1, "there is no algorithm 'bfss'"),
        (["tune", "bfs", "--graph", "kronecke{scale=6}"], 1, "no generator is called"),
        (["tune", "bfs", "--graph", GRAPH, "--on", "reference"], 1, "reference takes no schedules"),
        (["tune", "bfs", "--graph", GRAPH, "--cells", "0"], 2, "--cells"),
        (["tune", "bfs", "--graph", GRAPH, "--source", "99999"], 1, "99999"),
    ],
)
def test_mistakes(here, words: list[str], code: int, complaint: str) -> None:
    said = here(*words)
    assert said.code == code
    assert complaint in said.err


def test_ctrl_c_shows_the_best_so_far(tmp_path: Path) -> None:
    """Also while it compiles. The cells that were finished are kept."""
    state = tmp_path / "kept.jsonl"
    words = [sys.executable, "-m", "pantograf", *WORDS[:-1], str(state)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    end = time.monotonic() + 60
    while time.monotonic() < end and (not state.exists() or state.read_text().count("\n") < 4):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "the best of" in out
    assert "which are kept" in err
    assert "interrupted" in err
    assert state.read_text().count("\n") >= 4
