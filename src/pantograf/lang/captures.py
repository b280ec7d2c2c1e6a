"""What Python objects from outside mean in a program: the vocabulary, frozen numbers, functions to inline, and types."""

from __future__ import annotations

import ast
import builtins
import numbers
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntAttr, NoneAttr
from xdsl.ir import Attribute

from pantograf.ir import graph
from pantograf.ir.graph import PropertyType, VectorType, VertexSetType, VertexType, is_scalar
from pantograf.lang import source, types
from pantograf.lang.frames import Frame
from pantograf.lang.names import Names
from pantograf.lang.values import (
    Foreign,
    Function,
    Module,
    NoVertex,
    Number,
    Operand,
    Text,
    Type,
    Word,
)

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer

SCALAR_TYPES: dict[Any, Attribute] = {
    types.i32: graph.i32,
    types.i64: graph.i64,
    types.u32: graph.u32,
    types.u64: graph.u64,
    types.f32: graph.f32,
    types.f64: graph.f64,
    types.Vertex: VertexType(),
    bool: graph.i1,
    int: graph.i64,
    float: graph.f64,
}
TYPE_NAMES = "i32, i64, u32, u64, f32, f64, bool, Vertex"
BUILTINS = ("abs", "min", "max", "len", "print", "range", "bool", "int", "float")
_WORDS = {id(word): name for name, word in types.vars_of_vocabulary().items() if callable(word)}


def captured(t: Tracer, name: str, x: Any, node: ast.AST) -> Operand:
    """A Python object as an operand: numbers are frozen, functions are read, the vocabulary is known."""
    if x is types.none:
        return NoVertex()
    if x is types.inf:
        return Number(float("inf"))
    if x is types.Weight:
        t.generic = True
        return Type(t.weight)
    if isinstance(x, type) and x in SCALAR_TYPES:
        return Type(SCALAR_TYPES[x])
    if x is types.VertexSet:
        return Type(VertexSetType())
    if id(x) in _WORDS:
        return Word(_WORDS[id(x)])
    if isinstance(x, types.Annotation):
        return Type(annotation(t, x, node))
    if isinstance(x, types.Extern):
        return Foreign(x)
    if isinstance(x, ModuleType):
        return Module(x)
    if isinstance(x, (bool, int, float)):
        return Number(x)
    if isinstance(x, numbers.Number) and hasattr(x, "item") and isinstance(x.item(), (bool, int, float)):
        return Number(x.item())
    if type(x).__name__ == "bool" and hasattr(x, "item"):
        return Number(bool(x))
    if isinstance(x, str):
        return Text(x)
    if isinstance(x, FunctionType):
        return outside(t, x)
    if type(x).__module__ == "numpy" and hasattr(x, "shape"):
        t.fail(
            node,
            f"{name} is a NumPy array, which a program cannot capture",
            f"make it an argument: {name}: Property[f64]",
        )
    if getattr(x, "__module__", "") == "pantograf.lang.program" or type(x).__module__ == "pantograf.lang.program":
        t.fail(
            node,
            f"{name} is a program, and a program cannot call another",
            "move what they share into a plain function; calls are inlined",
        )
    builtin = getattr(x, "__name__", name)
    if builtin in BUILTINS and getattr(builtins, builtin, None) is x:
        return Word(builtin)
    if callable(x):
        t.fail(
            node,
            f"{name} is a Python {type(x).__name__}, which a program cannot call",
            "legal: functions in Python source, which are inlined; @pg.extern; pg.sqrt exp log floor ceil; abs min max",
        )
    t.fail(
        node,
        f"{name} is a Python {type(x).__name__}, which a program cannot capture",
        "numbers and bools are frozen when the program is read; arrays come in as arguments: Property[f64]",
    )


def outside(t: Tracer, function: FunctionType) -> Function:
    """A Python function from outside of the program, as one that can be inlined."""
    text, node = source.find(function)
    frame = Frame(None, text, None, source.namespace(function), t.frames[0].context, Names({}, {}, {}))
    return Function(function.__name__ if function.__name__ != "<lambda>" else "lambda", node, frame)


def annotation(t: Tracer, x: Any, node: ast.AST) -> Attribute:
    """A Python object as a type."""
    if x is types.Weight:
        t.generic = True
        return t.weight
    if isinstance(x, type) and x in SCALAR_TYPES:
        return SCALAR_TYPES[x]
    if x is types.Edges:
        return graph.EdgesType(NoneAttr())
    if x is types.VertexSet:
        return VertexSetType()
    if isinstance(x, types.Annotation):
        inner = annotation(t, x.parameter, node)
        if x.base == "Property" and (is_scalar(inner) or isinstance(inner, VectorType)):
            return PropertyType(inner)
        if is_scalar(inner) and not isinstance(inner, VertexType):
            if x.base == "Edges":
                return graph.EdgesType(inner)
            if x.base == "vector" and x.size is not None:
                return VectorType(IntAttr(x.size), inner)
        t.fail(node, f"{x!r} is not a type of a program", f"in brackets: {TYPE_NAMES}")
    t.fail(
        node,
        "this is not a type of a program",
        f"legal: {TYPE_NAMES}, VertexSet, Edges, Edges[i32], Property[f64], Property[vector(f64, 20)]",
    )
