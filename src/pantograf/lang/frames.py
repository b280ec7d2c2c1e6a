"""What is known while functions are read: where their operations run, their names, blocks and loops, and how they return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pantograf.errors import Place, UserError
from pantograf.lang.names import Names, Path, analyse
from pantograf.lang.source import FunctionNode, Source
from pantograf.lang.values import (
    Cell,
    Function,
    Operand,
    Value,
)


@dataclass(eq=False)
class Context:
    """Where operations run: the program itself, or a function that machines run on many edges or vertices at once."""

    kind: str
    """program, edge, vertex, where, filter or par_for."""
    ends: tuple[SSAValue, ...] = ()
    """The vertices that the function was given."""
    point: InsertPoint | None = None
    """Before the apply: variables from outside are read there, once."""
    captured: dict[SSAValue, Value] = field(default_factory=dict)
    in_place: bool = False
    """Whether it swaps: racy by intent."""
    reduced: dict[SSAValue, str] = field(default_factory=dict)
    """Variables from outside that it reduces into, by name."""
    written: set[Attribute] = field(default_factory=set)
    """The types of the properties that it writes."""
    read: dict[SSAValue, Place] = field(default_factory=dict)
    """Variables from outside that it reads."""
    stray: list[UserError] = field(default_factory=list)
    """Writes to vertices other than its own, wrong unless it turns out to be racy by intent."""

    @property
    def is_function(self) -> bool:
        """Whether this is a function that an apply runs."""
        return self.kind not in ("program", "par_for")


@dataclass
class Opened:
    """A block of statements being read, and the GraphIR block that it began in."""

    path: Path
    block: Block
    context: Context
    made: list[str] = field(default_factory=list)
    """Plain names bound here: unknown outside."""


@dataclass(eq=False)
class Frame:
    """One function being read."""

    node: FunctionNode | None
    source: Source
    outer: Frame | None
    python: Mapping[str, Any]
    """What Python knows under names that are not the program's."""
    context: Context
    names: Names
    bindings: dict[str, Operand | Cell] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    lost: dict[str, int] = field(default_factory=dict)
    """Names that have a value on some paths only, and the line that gave it."""
    opened: list[Opened] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    """The loops around, innermost last: while, for or par_for."""
    returns: Returns | None = None


@dataclass
class Returns:
    """How a function gives its one value: at its end, or through a variable and one that says that it is there."""

    gives: bool
    """Whether it gives a value at all."""
    returned: Operation | None = None
    """The variable that says whether it has returned; none where the only return is the end."""
    cell: Value | None = None
    wanted: Attribute | None = None
    value: Operand | None = None
    """The value of a return at the end."""


def enter(function: Function, context: Context) -> Frame:
    """A frame to read a function in."""
    base = function.frame
    return Frame(function.node, base.source, base, base.python, context, analyse(function.node))
