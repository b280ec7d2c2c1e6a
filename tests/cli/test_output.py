"""What commands print, and where."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pantograf.cli.output import Output, brief, plain


def on_a_terminal(*words: str, folder: Path) -> tuple[int, str]:
    """Give a command whose stdout and stderr are a terminal; all that it wrote there."""
    outer, inner = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pantograf", *words],
        stdout=inner,
        stderr=inner,
        stdin=inner,
        cwd=folder,
        env=environment,
    )
    os.close(inner)
    seen = b""
    while True:
        try:
            piece = os.read(outer, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(outer)
    return process.wait(timeout=60), seen.decode()


def test_a_terminal_gets_colours_and_a_spinner(tmp_path: Path) -> None:
    code, seen = on_a_terminal("run", "bfs_depth", "--graph", "path{vertices=5}", "--on", "reference", folder=tmp_path)
    assert code == 0
    assert "\x1b[" in seen
    assert "reached" in seen
    assert "0:00:00" in seen


def test_a_terminal_gets_errors_with_their_hint(tmp_path: Path) -> None:
    code, seen = on_a_terminal("run", "bfs", "--graph", "path{vertices=5}", "--on", "cpuu", folder=tmp_path)
    assert code == 1
    assert "there is no machine 'cpuu'" in seen
    assert "hint: machines:" in seen


def test_a_pipe_gets_plain_lines(new_process) -> None:
    said = new_process("list", "machines")
    assert "\x1b" not in said.out + said.err
    assert said.err == ""
    assert said.out.startswith("machines\n  name")


def test_plain_values_are_json_s_own() -> None:
    value = {"a": np.int32(3), "b": np.array([1.5, np.inf]), "c": (float("nan"), None), "d": np.bool_(True)}
    assert plain(value) == {"a": 3, "b": [1.5, "inf"], "c": ["nan", None], "d": True}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (True, "yes"),
        (1 / 3, "0.333333"),
        ({"a": 1, "b": [2, 3]}, "a=1, b=2, 3"),
        ({}, "-"),
        (np.float64(0.5), "0.5"),
        (np.zeros(7), "array of 7"),
        ("cpu{threads=2}", "cpu{threads=2}"),
    ],
)
def test_brief_values_take_one_line(value: object, shown: str) -> None:
    assert brief(value) == shown


def test_numbers_stand_on_the_right(capfd: pytest.CaptureFixture[str]) -> None:
    with Output() as out:
        out.table("title", ("name", "number"), [("a", 1), ("bcd", 1000)])
        out.table("none", ("name",), [])
    assert capfd.readouterr().out == "title\n  name  number\n  a          1\n  bcd     1000\nnone\n  name\n"


def test_json_keeps_stdout_for_the_document(capfd: pytest.CaptureFixture[str]) -> None:
    with Output(json=True) as out:
        print("from Python")
        os.write(1, b"from compiled code\n")
        out.document({"a": 1})
    print("after")
    captured = capfd.readouterr()
    assert captured.out == '{\n  "a": 1\n}\nafter\n'
    assert "from Python" in captured.err
    assert "from compiled code" in captured.err
