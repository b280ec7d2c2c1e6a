"""Ways to give a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pantograf import cli


class Said(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; NaN and infinities are not JSON."""

        def refuse(word: str) -> None:
            raise ValueError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Command = Callable[..., Said]


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Give a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def give(*words: str) -> Said:
        capfd.readouterr()
        code = cli.call(words)
        captured = capfd.readouterr()
        return Said(code, captured.out, captured.err)

    return give


@pytest.fixture
def new_process(tmp_path: Path) -> Command:
    """Give a command in a process of its own, in an empty folder."""

    def give(*words: str, timeout: float = 120, **environment: str) -> Said:
        done = subprocess.run(
            [sys.executable, "-m", "pantograf", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=timeout,
            env=os.environ | environment,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return give
