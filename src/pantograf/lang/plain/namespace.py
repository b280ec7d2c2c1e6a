"""What the names of a program's source mean in plain Python."""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from pantograf.errors import UserError
from pantograf.lang import source, types
from pantograf.lang.plain.numbers import (
    KINDS,
    NONE,
    Kind,
    bits,
    cast,
    compare,
    convert,
    elementary,
    fraction,
    greatest,
    keep,
    least,
    operate,
    vertex,
    weight_kind,
)
from pantograf.lang.plain.objects import List, PriorityQueue, Property, Row, VertexSet, World


def vocabulary(world: World) -> dict[str, Any]:
    """The words of the vocabulary as plain Python functions; types stay what they are, and convert when they are called."""
    clock: list[float] = []

    def timer_start() -> None:
        clock[:] = [time.perf_counter()]

    def timer_stop() -> Any:
        return np.float64(time.perf_counter() - clock[0])

    def swap(target: Property, v: Any, old: Any, new: Any) -> bool:
        if target[v] != target.convert(old):
            return False
        target[v] = new
        return True

    return {
        "none": NONE,
        "inf": float("inf"),
        "vertex_set": lambda *members: VertexSet(world, [vertex(v) for v in members]),
        "priority_queue": PriorityQueue,
        "list_of": lambda element: List(world, element),
        "par_range": counted,
        "label": lambda name: contextlib.nullcontext(),
        "compare_and_swap": swap,
        "random": fraction,
        "random_bits": bits,
        "timer_start": timer_start,
        "timer_stop": timer_stop,
        "vector": types.vector,
        **{name: elementary(getattr(np, name)) for name in ("sqrt", "exp", "log", "floor", "ceil")},
        **{name: getattr(types, name) for name in ("Edges", "VertexSet", "Property", "PriorityQueue", "List")},
        "Weight": Kind(types.Weight, weight_kind(world.graph.weights)),
        **{name: Kind(getattr(types, name)) for name in ("Vertex", "i32", "i64", "u32", "u64", "f32", "f64")},
    }


def counted(*bounds: Any) -> Iterator[Any]:
    """`range`, whose numbers are i64."""
    return (np.int64(i) for i in range(*(int(b) for b in bounds)))


def change(target: Any, at: Any, symbol: str, value: Any) -> None:
    """`p[v] += e` and its like: a reduction, if a function does it."""
    if isinstance(target, (Property, Row)) and symbol in ("+", "-", "|", "or", "min", "max"):
        target.reduce(at, "or" if symbol == "|" else symbol, value)
    else:
        target[at] = operate(symbol, target[at], value)


def as_type(kind: Any, value: Any) -> Any:
    """A value as a declared type."""
    return convert(value, kind) if isinstance(kind, Kind) else value


BUILTINS: dict[str, Any] = {
    "_operate": operate,
    "_compare": compare,
    "_change": change,
    "_keep": keep,
    "_as": as_type,
    "min": least,
    "max": greatest,
    "range": counted,
    **{kind.__name__: Kind(kind) for kind in (bool, int, float)},
    "len": lambda x: np.int64(len(x)),
}


def note_swapping(tree: ast.AST, swapping: set[str]) -> None:
    """Collect the names of functions that compare and swap, directly or through others."""
    functions = [part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef)]
    for _ in functions:
        for part in functions:
            words = {x.id for x in ast.walk(part) if isinstance(x, ast.Name)}
            words |= {x.attr for x in ast.walk(part) if isinstance(x, ast.Attribute)}
            if words & ({"compare_and_swap"} | swapping):
                swapping.add(part.name)


def namespace(function: FunctionType, world: World) -> dict[str, Any]:
    """The names that a function sees, Pantograf's replaced by plain objects and functions of the author's made plain."""
    words = vocabulary(world)
    by_identity = {id(getattr(types, name)): value for name, value in words.items() if hasattr(types, name)}
    made: dict[FunctionType, Callable[..., Any]] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, ModuleType):
            return SimpleNamespace(**words) if value.__name__ == "pantograf" else value
        if id(value) in by_identity:
            return by_identity[id(value)]
        if isinstance(value, types.Extern):
            return extern(value)
        if isinstance(value, FunctionType) and value.__module__ != "pantograf.lang.types":
            return made.get(value) or Later(value, made, plain, world)
        return value

    return scope(function, plain, world)


def scope(function: FunctionType, plain: Callable[[Any], Any], world: World) -> dict[str, Any]:
    """The names of one function."""
    _, node = source.find(function)
    note_swapping(node, world.swapping)
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    known: Mapping[str, Any] = source.namespace(function)
    return {**BUILTINS, **{name: plain(known[name]) for name in used if name in known and name != function.__name__}}


class Later:
    """A function of the author's from outside of the program: read when it is called first."""

    def __init__(
        self, function: FunctionType, made: dict[FunctionType, Any], plain: Callable[[Any], Any], world: World
    ) -> None:
        self.function, self.made, self.plain, self.world = function, made, plain, world
        self.__name__ = function.__name__
        self.__code__ = function.__code__
        note_swapping(source.find(function)[1], world.swapping)

    def __call__(self, *arguments: Any) -> Any:
        from pantograf.lang.plain.rewrite import compiled

        if self.function not in self.made:
            text, node = source.find(self.function)
            self.made[self.function] = compiled(text, node, scope(self.function, self.plain, self.world))
        return self.made[self.function](*arguments)


def extern(declared: types.Extern) -> Callable[..., Any]:
    """An extern with its arguments and its result converted to their types."""
    inputs, output = [KINDS[kind] for kind in declared.inputs], KINDS[declared.output]

    def called(*values: Any) -> Any:
        if len(values) != len(inputs):
            raise UserError(
                f"{declared.name} takes {len(inputs)} arguments, not {len(values)}", hint=f"{declared.name}(...)"
            )
        return cast(declared.function(*(cast(v, kind) for v, kind in zip(values, inputs, strict=True))), output)

    return called
