"""Programs and their GraphIR: `golden/NAME.gir`. After a change that is meant, run this file as a script to write them anew."""

from __future__ import annotations

from pathlib import Path

import programs
import pytest

from pantograf.ir.text import parse_module, print_module
from pantograf.lang.trace import trace_function

FOLDER = Path(__file__).with_name("golden")


def text_of(program: object) -> str:
    return print_module(trace_function(program).module)  # type: ignore[arg-type]


@pytest.mark.parametrize("program", programs.ALL, ids=lambda f: f.__name__)
def test_graphir(program: object) -> None:
    assert text_of(program) == (FOLDER / f"{program.__name__}.gir").read_text()  # type: ignore[attr-defined]


@pytest.mark.parametrize("program", programs.ALL, ids=lambda f: f.__name__)
def test_text_reads_back_and_verifies(program: object) -> None:
    text = text_of(program)
    assert print_module(parse_module(text)) == text


def test_each_file_belongs_to_a_program() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.gir")) == sorted(f.__name__ for f in programs.ALL)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for program in programs.ALL:
        (FOLDER / f"{program.__name__}.gir").write_text(text_of(program))
