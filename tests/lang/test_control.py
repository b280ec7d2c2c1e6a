"""Branches, loops and early returns, drawn at random: the traced program does what Python does."""

from __future__ import annotations

import random
from typing import Any

import pytest

import pantograf as pg
from pantograf.graphs import Graph

VERTICES = 9


class Writer:
    """Writes a function of one number with nested control flow; each loop ends."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0

    def function(self) -> str:
        self.lines = ["def g(x):", "    total = 0", "    turns = 0"]
        if self.block(1, 0):
            self.line(1, "return total")
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def value(self) -> str:
        return self.random.choice(["x", "total", "turns", "3", "x + 1", "total - x", "x * 2 - turns"])

    def condition(self) -> str:
        left, right = self.value(), self.value()
        simple = f"{left} {self.random.choice(['<', '>', '==', '!=', '<='])} {right}"
        if self.random.random() < 0.25:
            return f"{simple} {self.random.choice(['and', 'or'])} x // (1 + turns) > {self.random.randint(0, 3)}"
        return simple

    def block(self, depth: int, loops: int) -> bool:
        """Write statements; whether the end of them is reached."""
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.3 or depth > 4:
                self.line(depth, f"total {self.random.choice(['+=', '-=', '='])} {self.value()}")
            elif kind < 0.6:
                self.line(depth, f"if {self.condition()}:")
                first = self.block(depth + 1, loops)
                second = True
                if self.random.random() < 0.5:
                    self.line(depth, "else:")
                    second = self.block(depth + 1, loops)
                if not (first or second):
                    return False
            elif kind < 0.72:
                self.loops += 1
                name = f"i{self.loops}"
                bounds = self.random.choice(["3", "1, 4", "4, 0, -1", "7, 0, -3", "0, 5, 2"])
                self.line(depth, f"for {name} in range({bounds}):")
                self.line(depth + 1, f"total += {name}")
                self.block(depth + 1, loops + 1)
            elif kind < 0.82:
                self.line(depth, f"while turns < {self.random.randint(1, 12)}:")
                self.line(depth + 1, "turns += 1")
                self.block(depth + 1, loops + 1)
            elif kind < 0.9 and loops:
                self.line(depth, self.random.choice(["break", "continue"]))
                return False
            elif depth > 1:
                self.line(depth, f"return {self.value()}")
                return False
        return True


FRAME = """
def f(edges: Edges):
    out = edges.vertices.property(i64, 0)
    at_top = edges.vertices.property(i64, 0)

    def fill(v):
        out[v] = g(i64(v) - 2)

    edges.vertices.apply(fill)
    for i in range(edges.vertices.size):
        at_top[i] = g(i - 2)
    return out, at_top
"""


@pytest.mark.parametrize("seed", range(60))
def test_as_python(seed: int) -> None:
    """In a function that runs on vertices, and inlined into the program itself."""
    text = Writer(seed).function()
    program = pg.parse(text + FRAME, name="f").on("reference")
    scope: dict[str, Any] = {}
    exec(text, scope)
    expected = [scope["g"](v - 2) for v in range(VERTICES)]
    found = program(Graph.from_edges([0], [1], n=VERTICES))
    assert found.out.tolist() == expected, text
    assert found.at_top.tolist() == expected, text


def test_the_drawn_functions_return_early() -> None:
    """The draw is worth something: many functions return from loops and from nested branches."""
    texts = [Writer(seed).function() for seed in range(60)]
    returns = [line for text in texts for line in text.splitlines() if line.strip().startswith("return")]
    assert sum(line.startswith(" " * 12) for line in returns) > 20
    assert sum("break" in text for text in texts) > 5
