"""What the scalar operations of GraphIR mean, on plain Python numbers. A vertex is its id; no vertex is -1.

Integers are exact and then cut to their width; f32 is a double rounded after each operation. Where C has no answer,
there is one:

| operation                                      | answer                                                    |
|------------------------------------------------|-----------------------------------------------------------|
| `//`, `%`, C's `/` and `%` of integers by zero | 0                                                         |
| an integer to a negative power                 | the exact quotient 1 / x**k cut towards zero; 0 for x = 0 |
| a shift by a negative number or past the width | every bit is shifted out: 0, or -1 for a negative `>>`    |
| floats                                         | as IEEE 754: no operation fails, `0 / 0` is nan           |
| min, max with nan                              | the left value, unless the right one is less (greater)    |
| a float cast to an integer                     | cut towards zero; nan, or what does not fit, is an error  |
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerType
from xdsl.ir import Attribute, Operation

from pantograf.ir.graph import VertexType, infinity, is_bool, is_float, is_unsigned, type_name
from pantograf.ir.location import fail

Number = Any
"""bool, int or float: what a scalar is in this machine."""
NONE = -1
_MASK = (1 << 64) - 1


def fit(t: Attribute) -> Callable[[Number], Number]:
    """Cut a number to its type: integers wrap, f32 rounds, a truth value keeps its lowest bit."""
    if isinstance(t, Float32Type):
        return lambda x: ctypes.c_float(x).value
    if is_float(t) or isinstance(t, VertexType):
        return lambda x: x
    if is_bool(t):
        return lambda x: bool(int(x) & 1)
    assert isinstance(t, IntegerType)
    size = 1 << t.width.data
    if is_unsigned(t):
        return lambda x: x % size
    half = size >> 1
    return lambda x: (x + half) % size - half


def least(t: Attribute) -> Number:
    """The least value of a type: minus infinity for floats, none for vertices."""
    if isinstance(t, VertexType):
        return NONE
    if is_float(t):
        return -math.inf
    if is_bool(t):
        return False
    return 0 if is_unsigned(t) else -infinity(t) - 1


def greatest(t: Attribute) -> Number:
    """`inf` of a type; none for vertices, which have no greatest."""
    if isinstance(t, VertexType):
        return NONE
    return True if is_bool(t) else infinity(t)


def zero(t: Attribute) -> Number:
    """The value that counts nothing: 0, false, none."""
    if isinstance(t, VertexType):
        return NONE
    return False if is_bool(t) else 0.0 if is_float(t) else 0


def binary(kind: str, t: Attribute) -> Callable[[Number, Number], Number]:
    """The operation `kind` on two values of type `t`."""
    if kind in ("min", "max"):
        return _SHARED[kind]
    cut = fit(t)
    if kind == "add_inf" and not is_float(t):
        top = infinity(t)
        return lambda a, b: top if top in (a, b) else cut(a + b)
    if kind in ("shl", "shr"):
        assert isinstance(t, IntegerType)
        exact = _shift(kind, t.width.data)
    else:
        exact = (_FLOAT if is_float(t) else _INTEGER)[kind]
    return lambda a, b: cut(exact(a, b))


def unary(kind: str, t: Attribute) -> Callable[[Number], Number]:
    """The operation `kind` on a value of type `t`."""
    if kind == "not" and is_bool(t):
        return operator.not_
    cut, exact = fit(t), _UNARY[kind]
    return lambda a: cut(exact(a))


COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def reduction(kind: str, t: Attribute) -> Callable[[Number, Number], Number]:
    """Combine the old value and a new one."""
    return binary({"sum": "add"}.get(kind, kind), t)


def cast(source: Attribute, target: Attribute, op: Operation) -> Callable[[Number], Number]:
    """The value as another type."""
    cut = fit(target)
    if is_bool(target):
        return lambda x: x != 0
    if isinstance(target, Float32Type):
        return lambda x: float(np.float32(x)) if isinstance(x, float) else _single(x)
    if is_float(target):
        return float
    if is_float(source):

        def truncate(x: float) -> int:
            if not math.isfinite(x) or cut(int(x)) != int(x):
                fail(op, f"{x!r} does not fit {type_name(target)}", "compare with the limits before the cast")
            return int(x)

        return truncate
    return lambda x: cut(int(x))


def random_bits(keys: list[int]) -> int:
    """64 bits that depend on the keys alone: splitmix64 folded over them."""
    h = 0
    for key in keys:
        h = (h + 0x9E3779B97F4A7C15 + int(key)) & _MASK
        h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & _MASK
        h ^= h >> 31
    return h


def _single(x: int) -> float:
    """An integer rounded once to f32."""
    return float(np.array(int(x), np.uint64 if x > np.iinfo(np.int64).max else np.int64).astype(np.float32))


def _truncated_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b) if b else 0
    return -quotient if (a < 0) != (b < 0) else quotient


def _integer_power(a: int, b: int) -> int:
    if b >= 0:
        # Powers of any size, cut early: every width divides 2**64.
        return pow(a, b, 1 << 64)
    return 1 if a == 1 else (1, -1)[b % 2] if a == -1 else 0


def _shift(kind: str, width: int) -> Callable[[int, int], int]:
    def shift(a: int, b: int) -> int:
        outside = not 0 <= b < width
        if kind == "shl":
            return 0 if outside else a << b
        return a >> (width if outside else b)

    return shift


def _quotient(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _float_power(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(a), np.float64(b)))


def _safely(function: Callable[[float], float], beyond: float) -> Callable[[float], float]:
    """`function` with an answer where Python complains: `beyond` when it is too large, nan outside the domain."""

    def safe(x: float) -> float:
        try:
            return float(function(x))
        except OverflowError:
            return beyond
        except ValueError:
            return -math.inf if function is math.log and x == 0 else math.nan

    return safe


_SHARED: dict[str, Callable[[Number, Number], Number]] = {
    "add": operator.add,
    "add_inf": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": lambda a, b: b if b < a else a,
    "max": lambda a, b: b if b > a else a,
}
_INTEGER = _SHARED | {
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "cdiv": _truncated_quotient,
    "cmod": lambda a, b: a - b * _truncated_quotient(a, b) if b else 0,
    "pow": _integer_power,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
_FLOAT = _SHARED | {
    "div": _quotient,
    "floordiv": lambda a, b: a // b if b else _quotient(a, b),
    "mod": lambda a, b: a % b if b and not math.isinf(a) else math.nan,
    "pow": _float_power,
}
_UNARY: dict[str, Callable[[Number], Number]] = {
    "neg": operator.neg,
    "abs": abs,
    "not": operator.invert,
    "sqrt": _safely(math.sqrt, math.inf),
    "exp": _safely(math.exp, math.inf),
    "log": _safely(math.log, math.inf),
    "floor": lambda x: float(math.floor(x)) if math.isfinite(x) else x,
    "ceil": lambda x: float(math.ceil(x)) if math.isfinite(x) else x,
}
