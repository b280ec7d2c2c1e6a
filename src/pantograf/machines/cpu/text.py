"""Python text for emitted programs: lines with indentation, names that do not clash, and types as Numba knows them."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from xdsl.dialects.builtin import Float32Type, IntegerType
from xdsl.ir import Attribute

from pantograf.ir import graph as g

_LOCALS = (
    "w i32 i64 u32 u64 f32 f64 np njit range min max abs len first last phase size limit grain gathered base changed wrote edge "
    "end word bits looked seen part parts thread tail hub hub_count before dealing chunk edge_start edge_end alone second count "
    "timer stamp candidates few far upcoming rows"
)


@cache
def reserved() -> frozenset[str]:
    """Names that emitted text uses by itself: its own locals and all that it imports."""
    from pantograf.machines.cpu import intrinsics, runtime

    return frozenset([*_LOCALS.split(), *vars(runtime), *vars(intrinsics), *dir(builtins)])


class Names:
    """Unique names in one emitted function or module."""

    def __init__(self) -> None:
        self._taken = set(reserved())

    def make(self, hint: str | None, default: str = "x") -> str:
        """A new name like `hint`."""
        stem = re.sub(r"\W", "_", hint or default)
        if not stem or stem[0].isdigit() or keyword.iskeyword(stem):
            stem = f"_{stem}"
        name, number = stem, 2
        while name in self._taken or keyword.iskeyword(name):
            name, number = f"{stem}_{number}", number + 1
        self._taken.add(name)
        return name


class Lines:
    """Lines of Python that are being written."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def __call__(self, line: str = "") -> None:
        """Write a line at the present depth."""
        self._lines.append("    " * self._depth + line if line else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write `head:` and indent what follows; an empty block says `pass`."""
        self(head + ":")
        self._depth += 1
        at = len(self._lines)
        yield
        if len(self._lines) == at:
            self("pass")
        self._depth -= 1

    def extend(self, other: Lines) -> None:
        """Write another's lines here."""
        for line in other._lines:
            self(line)

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"


def scalar_type(t: Attribute, wide: bool) -> str:
    """The NumPy name of a scalar as it stands in a local variable: `i32`, `f64`, `bool`; a vertex is i32 or i64."""
    if isinstance(t, g.VertexType):
        return "i64" if wide else "i32"
    if isinstance(t, IntegerType):
        return "bool" if t == g.i1 else f"{'u' if g.is_unsigned(t) else 'i'}{t.width.data}"
    return "f32" if isinstance(t, Float32Type) else "f64"


DTYPES = {**g.DTYPES, "bool": "uint8"}
"""The NumPy type in which compiled code keeps a scalar type."""


def literal(value: bool | int | float | None, t: Attribute, wide: bool) -> str:
    """A constant as text that Numba gives exactly this type."""
    name = scalar_type(t, wide)
    if value is None:
        return f"{name}(-1)"
    if name == "bool":
        return str(bool(value))
    if name in ("f32", "f64"):
        number = float(value)
        text = "np.nan" if number != number else "np.inf" if number == float("inf") else repr(number)
        text = "-np.inf" if number == float("-inf") else text
        return text if name == "f64" else f"f32({text})"
    return str(int(value)) if name == "i64" and abs(int(value)) < 2**63 else f"{name}({int(value)})"
