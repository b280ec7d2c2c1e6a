"""What a program's `return` means: its values under their names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pantograf.ir.graph import PropertyType, VertexSetType, is_scalar
from pantograf.lang.values import Value, Word, describe

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer

RESERVED = ("stats", "provenance", "values")
_HINT = "name it: return pg.results(total=...)"


def give(t: Tracer, node: ast.Return) -> None:
    """End the program with its results."""
    frame = t.frame
    assert isinstance(frame.node, ast.FunctionDef)
    if frame.node.body[-1] is not node:
        t.fail(
            node,
            "a program returns once, on its last line",
            "leave loops with break, put the rest under an if, and return at the end",
        )
    named = [(name, value(t, name, part)) for name, part in results(t, node)]
    for i, (name, _) in enumerate(named):
        if name in (other for other, _ in named[:i]):
            t.fail(
                node, f"two results have the name {name}", "return pg.results(a=x, b=y) gives each a name of its own"
            )
    t.builder.results(named)


def results(t: Tracer, node: ast.Return) -> list[tuple[str, ast.expr]]:
    """Each result: its name, and the expression."""
    found = node.value
    if found is None or (isinstance(found, ast.Constant) and found.value is None):
        return []
    if isinstance(found, ast.Tuple):
        return [(part.id if isinstance(part, ast.Name) else unnamed(t, part), part) for part in found.elts]
    if isinstance(found, ast.Name):
        return [(found.id, found)]
    if isinstance(found, ast.Call):
        callee = t.operand(found.func) if last_word(found.func) == "results" else None
        if isinstance(callee, Word) and callee.name == "results":
            for part in found.args:
                t.fail(part, "a result of pg.results has a name", "return pg.results(total=x)")
            for keyword in found.keywords:
                if keyword.arg is None:
                    t.fail(keyword.value, "a call in a program has no **arguments", "write each result out")
            return [(k.arg, k.value) for k in found.keywords if k.arg is not None]
    return [("value", found)]


def last_word(node: ast.expr) -> str:
    """`c` of `a.b.c`, which may be a word of the vocabulary."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def unnamed(t: Tracer, node: ast.expr) -> str:
    """Complain about one of several results that has no name."""
    t.fail(node, "one of several results has no name", _HINT)


def value(t: Tracer, name: str, node: ast.expr) -> Value:
    """One result."""
    if name in RESERVED:
        t.fail(node, f"a result cannot have the name {name}", f"reserved: {', '.join(RESERVED)}; {_HINT}")
    found = t.value(node)
    if not (is_scalar(found.type) or isinstance(found.type, (PropertyType, VertexSetType))):
        t.fail(node, f"{describe(found)} cannot be a result", "results are scalars, properties and vertex sets")
    return found
