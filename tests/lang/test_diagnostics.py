"""What is wrong with a program is said at its line, with a caret and a hint: each class of mistake in two syntactic contexts.

`diagnostics.txt` holds, per class, programs and the full text of the message that each must give.
"""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import pantograf as pg
from pantograf import Edges, f64, i32
from pantograf.errors import UserError
from pantograf.lang.trace import trace_function, trace_text

FILE = Path(__file__).with_name("diagnostics.txt")


@pg.program
def other(edges: Edges):
    return edges.size


NAMES = {
    "TABLE": {"a": 1},
    "ARRAY": np.zeros(3),
    "HYPOT": math.hypot,
    "PARTIAL": functools.partial(max, 1),
    "PROGRAM": other,
}


class Case(NamedTuple):
    kind: str
    source: str
    message: str


def cases() -> list[Case]:
    found = []
    for section in FILE.read_text().split("## ")[1:]:
        kind, _, body = section.partition("\n")
        for part in body.split("\n====\n")[:-1]:
            source, _, message = part.partition("\n-->\n")
            found.append(Case(kind, source + "\n", message))
    return found


CASES = cases()


def complaint(source: str) -> UserError:
    with pytest.raises(UserError) as caught:
        trace_text(source, "<text>", 1, "f", NAMES)
    return caught.value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_full_text(case: Case) -> None:
    assert str(complaint(case.source)) == case.message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_caret_is_under_the_place(case: Case) -> None:
    error = complaint(case.source)
    assert error.place is not None and error.hint
    line = case.source.split("\n")[error.place.line - 1]
    _, shown, caret, _ = case.message.split("\n")
    assert shown.strip() == line.strip()
    assert caret.index("^") - 4 == error.place.column - (len(line) - len(line.lstrip()))
    assert caret.count("^") == min(error.place.width, len(line) - error.place.column) or caret.count("^") == 1


def test_each_class_has_two_contexts_and_its_own_message() -> None:
    kinds = [case.kind for case in CASES]
    assert len(set(kinds)) >= 120
    assert all(kinds.count(kind) == 2 for kind in kinds)
    headers = {(case.kind, re.sub(r"<text>:\d+", "", case.message.split("\n")[0])) for case in CASES}
    assert len({text for _, text in headers}) >= 120
    contexts = [case.source for case in CASES]
    assert len(set(contexts)) == len(contexts)


def test_place_in_a_file() -> None:
    """The place of a mistake in a decorated function is that of its file."""

    def wrong(edges: Edges):
        total = 0

        def visit(src, dst):
            nonlocal total
            total = 3

        edges.apply(visit)

    with pytest.raises(UserError) as caught:
        trace_function(wrong)
    place = caught.value.place
    assert place is not None and place.file == __file__
    assert place.line == wrong.__code__.co_firstlineno + 5
    assert place.source_line()[place.column :] == "total = 3"


def test_columns_count_characters() -> None:
    text = "def f(edges: Edges):\n    größe = 'ü'; x = größe + nichts\n"
    error = complaint(text)
    assert str(error).split("\n")[2] == "    " + " " * 17 + "^" * 5


def test_place_in_a_helper_of_the_module() -> None:
    """A mistake in a function that is inlined is shown where it stands."""

    def bad(edges: Edges):
        def f(v):
            return shift(v)

        edges.vertices.where(f)

    with pytest.raises(UserError) as caught:
        trace_function(bad)
    assert caught.value.place is not None
    assert caught.value.place.source_line().strip() == "return v + 1  # shifted"
    assert caught.value.message == "+ does not go between a Vertex and the number 1"


def shift(v):
    return v + 1  # shifted


def test_extern_needs_types() -> None:
    with pytest.raises(UserError, match="f: x needs a scalar type"):

        @pg.extern
        def f(x) -> f64:
            return x

    with pytest.raises(UserError, match="g: its result needs a scalar type"):

        @pg.extern
        def g(x: i32):
            return x


def test_argument_of_an_extern() -> None:
    @pg.extern
    def half(x: i32) -> f64:
        return x / 2

    def wrong(edges: Edges):
        return half(edges.size)

    with pytest.raises(UserError, match="an argument of half is an i32, and this is an i64"):
        trace_function(wrong)


def test_no_source() -> None:
    scope: dict[str, object] = {}
    exec("def f(edges):\n    pass", scope)
    with pytest.raises(UserError, match="the source of f cannot be read"):
        trace_function(scope["f"])  # type: ignore[arg-type]


def test_no_function_in_the_text() -> None:
    with pytest.raises(UserError, match="there is no function in this text"):
        trace_text("x = 1\n", "<text>", 1, None, {})
    with pytest.raises(UserError, match="there is no function 'g' in this text"):
        trace_text("def f(edges: Edges):\n    pass\n", "<text>", 1, "g", {})
