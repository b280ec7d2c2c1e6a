"""What a program's signature means: the types and defaults of its arguments, and types as they are written in annotations."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Attribute

from pantograf.errors import UserError
from pantograf.ir.graph import EdgesType, PropertyType, VectorType, VertexSetType, VertexType, is_scalar
from pantograf.lang.captures import TYPE_NAMES
from pantograf.lang.values import Module, NoVertex, Number, Type, Word, describe

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer

_LEGAL = f"legal: {TYPE_NAMES}, VertexSet, Property[f64], Property[vector(f64, 20)]; first Edges, Edges[i32] or Edges[Weight]"
_FIRST = "write def {name}(edges: Edges, ...), or Edges[i32] with weights"


def annotated(t: Tracer, node: ast.expr) -> Attribute:
    """A type as it is written: a name, `Edges[i32]`, `Property[vector(f64, 20)]`, or a text of these."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            inner = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            t.fail(node, "this is not a type of a program", _LEGAL)
        for part in ast.walk(inner):
            for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                if hasattr(part, name):
                    setattr(part, name, getattr(node, name))
        return annotated(t, inner)
    if isinstance(node, ast.Subscript):
        base = base_of(t, node.value)
        if base in ("Edges", "Property"):
            parameter = annotated(t, node.slice)
            if base == "Edges" and is_scalar(parameter) and not isinstance(parameter, VertexType):
                return EdgesType(parameter)
            if base == "Property" and (is_scalar(parameter) or isinstance(parameter, VectorType)):
                return PropertyType(parameter)
        t.fail(node, "this is not a type of a program", _LEGAL)
    if isinstance(node, ast.Name) and not t.knows(node.id):
        t.fail(node, f"{node.id} is not a type of a program", _LEGAL)
    if isinstance(node, (ast.Name, ast.Attribute)) and base_of(t, node) == "Edges":
        return EdgesType(NoneAttr())
    found = t.operand(node)
    if not isinstance(found, Type):
        t.fail(node, f"{describe(found)} is not a type of a program", _LEGAL)
    return found.type


def base_of(t: Tracer, node: ast.expr) -> str:
    """The name of the vocabulary that a type begins with."""
    found = t.operand(node)
    if isinstance(found, Module):
        return ""
    return found.name if isinstance(found, Word) else ""


def program_arguments(t: Tracer, node: ast.FunctionDef) -> list[tuple[str, Attribute, Attribute]]:
    """Each argument of a program: name, type, default."""
    source, args = t.frame.source, node.args
    for starred in (args.vararg, args.kwarg):
        if starred is not None:
            source.fail(starred, f"{node.name} takes any number of arguments", "name each argument, with its type")
    parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    defaults += [*args.defaults, *args.kw_defaults]
    if not parameters:
        raise UserError(f"{node.name} takes no edges", source.name_of(node), _FIRST.format(name=node.name))
    found = []
    for i, (parameter, default) in enumerate(zip(parameters, defaults, strict=True)):
        if parameter.annotation is None:
            hint = _LEGAL if i else _FIRST.format(name=node.name)
            source.fail(parameter, f"the argument {parameter.arg} needs a type", hint)
        kind = annotated(t, parameter.annotation)
        if isinstance(kind, EdgesType) != (i == 0):
            message = (
                f"the argument {parameter.arg} cannot be edges: a program has one graph"
                if i
                else "the first argument of a program is its edges"
            )
            source.fail(parameter, message, _LEGAL if i else _FIRST.format(name=node.name))
        if not (is_scalar(kind) or isinstance(kind, (EdgesType, PropertyType, VertexSetType))):
            source.fail(parameter.annotation, f"{describe(kind)} cannot be an argument", _LEGAL)
        found.append((parameter.arg, kind, default_of(t, parameter, default, kind)))
    return found


def default_of(t: Tracer, parameter: ast.arg, default: ast.expr | None, kind: Attribute) -> Attribute:
    """A default as the program holds it."""
    if default is None:
        return t.builder.default(None, kind, "")
    value = t.operand(default)
    with t.builder.at(t.place(default)):
        if not is_scalar(kind):
            t.fail(default, f"{describe(kind)} has no default", "leave it out: the caller gives it")
        if not isinstance(value, (Number, NoVertex)):
            t.fail(
                default,
                f"the default of {parameter.arg} is {describe(value)}",
                "a default is a number, True, False, inf or none",
            )
        return t.builder.default(value, kind, parameter.arg)
