"""Runs a program's source as plain Python on a tiny graph: a second meaning, which the reference machine must agree with.

The function's own statements run, one edge after the other; only numbers, reductions and results are rewritten (`rewrite`),
and the vocabulary is replaced by plain objects (`objects`). Nothing here knows GraphIR.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from pantograf.errors import UserError
from pantograf.lang import source
from pantograf.lang.plain.namespace import namespace
from pantograf.lang.plain.objects import World, result
from pantograf.lang.plain.rewrite import arguments, compile_program


def run(function: Callable[..., Any], graph: Any, /, **given: Any) -> dict[str, Any]:
    """Run a program on a graph; its results by name: arrays for properties and sets, numbers for scalars."""
    function = getattr(function, "function", function)
    if not isinstance(function, FunctionType):
        raise UserError(f"plain Python cannot run {function!r}", hint="give the function under @pg.program")
    world = World(graph)
    text, node = source.find(function)
    names = namespace(function, world)
    called = compile_program(text, node, names)
    values = called(**arguments(node, names, world, given))
    return {name: result(value) for name, value in (values or {}).items()}
