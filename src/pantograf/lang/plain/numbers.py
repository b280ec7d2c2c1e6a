"""Arithmetic as programs have it, on NumPy scalars: the wider type, adapting literals, wrapping integers, sums that keep inf."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pantograf.errors import UserError
from pantograf.lang import types


class VertexId(int):
    """A vertex; -1 is none."""

    def __repr__(self) -> str:
        return "none" if self < 0 else str(int(self))


NONE = VertexId(-1)
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "min": min, "max": max,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


def infinity(kind: Any) -> Any:
    """`inf` of a NumPy type."""
    return kind(np.inf) if np.issubdtype(kind, np.floating) else kind(np.iinfo(kind).max)


def typed(x: Any) -> bool:
    """Whether a value has a type of its own; Python's numbers are literals."""
    return isinstance(x, (np.generic, VertexId))


def cast(x: Any, kind: Any) -> Any:
    """A number as a NumPy type: integers wrap, floats are cut, inf is the type's."""
    if isinstance(x, float) and not typed(x) and math.isinf(x) and np.issubdtype(kind, np.integer):
        return infinity(kind) if x > 0 else kind(np.iinfo(kind).min)
    if np.issubdtype(kind, np.integer):
        if isinstance(x, (float, np.floating)):
            x = math.trunc(float(x))
        return np.array(int(x) & (2 ** (8 * kind().itemsize) - 1), np.uint64).astype(kind)[()]
    return kind(x)


def common(a: Any, b: Any) -> Any:
    """The NumPy type of an operation on two numbers."""
    known = [type(x) for x in (a, b) if isinstance(x, np.generic)]
    if not known:
        return np.float64 if isinstance(a, float) or isinstance(b, float) else np.int64
    if len(known) == 1:
        literal = b if isinstance(a, np.generic) else a
        fraction = isinstance(literal, float) and math.isfinite(literal)
        return np.float64 if fraction and np.issubdtype(known[0], np.integer) else known[0]
    floats = [k for k in known if np.issubdtype(k, np.floating)]
    return max(floats or known, key=lambda k: np.dtype(k).itemsize)


def operate(symbol: str, a: Any, b: Any) -> Any:
    """`a symbol b`."""
    if isinstance(a, (bool, np.bool_, VertexId)) or isinstance(b, VertexId):
        return OPERATORS[symbol](a, b)
    if not typed(a) and not typed(b):
        return OPERATORS[symbol](a, b)
    if symbol == "**" and isinstance(b, int) and b < 0:
        b = float(b)
    kind = common(a, b)
    if symbol == "/" and np.issubdtype(kind, np.integer):
        kind = np.float64
    left, right = cast(a, kind), cast(b, kind)
    if symbol == "+" and np.issubdtype(kind, np.integer) and infinity(kind) in (left, right):
        return infinity(kind)
    with np.errstate(all="ignore"):
        return kind(OPERATORS[symbol](left, right))


def compare(symbols: tuple[str, ...], *values: Any) -> bool:
    """A comparison, or a chain of them."""
    return all(_holds(symbol, a, b) for symbol, a, b in zip(symbols, values, values[1:], strict=False))


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.number)) and not isinstance(x, (bool, VertexId))


def _holds(symbol: str, a: Any, b: Any) -> bool:
    if symbol not in ("in", "not in") and _is_number(a) and _is_number(b) and (typed(a) or typed(b)):
        kind = common(a, b)
        a, b = cast(a, kind), cast(b, kind)
    return bool(COMPARISONS[symbol](a, b))


def keep(value: Any, before: Any) -> Any:
    """What a variable holds when it is given a value: of the type that it had before; a literal has its own type."""
    if not _is_number(value):
        return value
    if isinstance(before, VertexId):
        return VertexId(value)
    if isinstance(before, np.number):
        return cast(value, type(before))
    return value if typed(value) else np.float64(value) if isinstance(value, float) else np.int64(value)


def least(*values: Any) -> Any:
    """`min`."""
    return _fold("min", values)


def greatest(*values: Any) -> Any:
    """`max`."""
    return _fold("max", values)


def _fold(symbol: str, values: tuple[Any, ...]) -> Any:
    found = values[0]
    for value in values[1:]:
        found = operate(symbol, found, value)
    return found


def elementary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of one float; whole numbers become f64."""

    def made(x: Any) -> Any:
        kind = type(x) if isinstance(x, np.floating) else np.float64
        with np.errstate(all="ignore"):
            return kind(function(kind(x)))

    return made


def vertex(x: Any) -> VertexId:
    """A number as a vertex."""
    return x if isinstance(x, VertexId) else VertexId(int(x))


def bits(*keys: Any) -> Any:
    """64 random bits that depend on the keys alone: splitmix64, folded."""
    state, mask = 0, 2**64 - 1
    for key in keys:
        state = (state + 0x9E3779B97F4A7C15 + int(key)) & mask
        state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
        state = ((state ^ state >> 27) * 0x94D049BB133111EB) & mask
        state ^= state >> 31
    return np.uint64(state)


def fraction(*keys: Any) -> Any:
    """A number in [0, 1) that depends on the keys alone."""
    return np.float64((int(bits(*keys)) >> 11) / 2**53)


KINDS: dict[Any, Any] = {
    **{
        getattr(types, f"{c}{size}"): getattr(np, f"{name}{size}")
        for c, name in (("i", "int"), ("u", "uint"))
        for size in (32, 64)
    },
    types.f32: np.float32,
    types.f64: np.float64,
    bool: np.bool_,
    int: np.int64,
    float: np.float64,
    types.Vertex: VertexId,
}


def weight_kind(weights: Any) -> Any:
    """The NumPy type that a program sees weights as: narrow ones are widened to 32 bits."""
    kind = np.dtype(np.int32) if weights is None else weights.dtype
    if kind.itemsize < 4:
        return np.float32 if np.issubdtype(kind, np.floating) else np.int32
    return kind.type


class Kind:
    """A type of the vocabulary, which converts when it is called; `Weight` is what the graph's weights are."""

    def __init__(self, word: Any, kind: Any = None) -> None:
        self.word = word
        self.kind = kind

    def __repr__(self) -> str:
        return str(self.word.__name__)

    def __call__(self, x: Any) -> Any:
        return convert(x, self)


def dtype_of(kind: Any) -> Any:
    """The NumPy type of a word of the vocabulary (for vertices, `VertexId`)."""
    if isinstance(kind, Kind) and kind.kind is not None:
        return kind.kind
    word = getattr(kind, "word", kind)
    if word not in KINDS:
        raise UserError(
            f"plain Python has no values of {kind!r}", hint=f"it has: {', '.join(k.__name__ for k in KINDS)}"
        )
    return KINDS[word]


def convert(x: Any, kind: Any) -> Any:
    """A number as a word of the vocabulary says."""
    found = dtype_of(kind)
    return vertex(x) if found is VertexId else cast(x, found)
