"""What an expression of a program stands for while it is read: a value in GraphIR, or something without an operation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from pantograf.ir.graph import CellType, EdgesType, VertexType, is_float, type_name

if TYPE_CHECKING:
    from pantograf.lang.frames import Context, Frame
    from pantograf.lang.source import FunctionNode
    from pantograf.lang.types import Extern


@dataclass(frozen=True)
class Value:
    """A value in GraphIR."""

    ssa: SSAValue

    @property
    def type(self) -> Attribute:
        """Its type in GraphIR."""
        return self.ssa.type


@dataclass(frozen=True)
class Number:
    """A literal, a captured number, or `inf`: it takes the type of what it meets."""

    value: bool | int | float

    @property
    def own_type(self) -> str:
        """The type it has where nothing else gives one."""
        return "bool" if isinstance(self.value, bool) else "i64" if isinstance(self.value, int) else "f64"


@dataclass(frozen=True)
class NoVertex:
    """`pg.none`."""


@dataclass(frozen=True)
class Text:
    """A string."""

    value: str


@dataclass(frozen=True)
class Cell:
    """A variable."""

    ssa: SSAValue
    context: Context
    """Where it was made: functions that run on edges may only reduce into variables from outside."""

    @property
    def type(self) -> Attribute:
        """The type of what it holds."""
        assert isinstance(self.ssa.type, CellType)
        return self.ssa.type.element


@dataclass(frozen=True)
class Function:
    """A function of the author's."""

    name: str
    node: FunctionNode
    frame: Frame
    """Where its free names are looked up."""

    @property
    def shown(self) -> str:
        """What a message calls it."""
        return "the lambda" if self.name == "lambda" else self.name


@dataclass(frozen=True)
class Foreign:
    """An extern."""

    extern: Extern


@dataclass(frozen=True)
class Type:
    """A type used as a value: to convert, or as an argument."""

    type: Attribute


@dataclass(frozen=True)
class Word:
    """A function of the vocabulary, or a Python builtin that programs know."""

    name: str


@dataclass(frozen=True)
class Module:
    """A Python module."""

    module: ModuleType


@dataclass(frozen=True)
class AllVertices:
    """The vertices of a graph."""

    edges: Value


@dataclass(frozen=True)
class Selection:
    """Edges with `from_` and `to` said, waiting for `apply`."""

    edges: Value
    said: dict[str, Value | Function] = field(default_factory=dict)
    """By clause: from_, from_filter, to, to_filter."""


@dataclass(frozen=True)
class Row:
    """The vector of one vertex: `p[v]` in `p[v][i]`."""

    property: Value
    vertex: Value


@dataclass(frozen=True)
class Method:
    """A method that is about to be called."""

    receiver: Operand
    name: str


@dataclass(frozen=True)
class Several:
    """A tuple."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Nothing:
    """What a statement gives."""

    why: str
    """What to say when it is used as a value."""
    hint: str


Operand = (
    Value
    | Number
    | NoVertex
    | Text
    | Function
    | Foreign
    | Type
    | Word
    | Module
    | AllVertices
    | Selection
    | Row
    | Method
    | Several
    | Nothing
)


def describe(x: Operand | Cell | Attribute) -> str:
    """An operand in the words of an author, with its article."""
    match x:
        case Number(value):
            return f"the number {show_number(value)}" if not isinstance(value, bool) else f"the bool {value}"
        case NoVertex():
            return "none (a Vertex)"
        case Text():
            return "a text"
        case Function():
            return "the lambda" if x.name == "lambda" else f"the function {x.name}"
        case Foreign():
            return f"the extern {x.extern.name}"
        case Type():
            return f"the type {type_name(x.type)}"
        case Word():
            return f"the function {x.name}"
        case Module():
            return f"the module {x.module.__name__}"
        case AllVertices():
            return "a VertexSet"
        case Selection():
            return "a selection of edges"
        case Row():
            return "a vector"
        case Method():
            return f"the method {x.name}"
        case Several():
            return "a tuple"
        case Nothing():
            return "nothing"
        case Value() | Cell():
            return describe(x.type)
    name = type_name(x)
    return f"{'an' if name[0] in 'aeioE' or name in ('f32', 'f64') else 'a'} {name}"


def show_number(value: float) -> str:
    """A number as an author would write it."""
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def is_integer(t: Attribute) -> bool:
    """Whether this is a type of whole numbers (bool is not)."""
    return isinstance(t, IntegerType) and t.width.data > 1


def is_number(t: Attribute) -> bool:
    """Whether there is arithmetic on this type."""
    return is_integer(t) or is_float(t)


def is_vertex(t: Attribute) -> bool:
    """Whether this is the type of vertices."""
    return isinstance(t, VertexType)


def is_weighted(t: Attribute) -> bool:
    """Whether these edges have weights."""
    from xdsl.dialects.builtin import NoneAttr

    return isinstance(t, EdgesType) and not isinstance(t.weight, NoneAttr)
