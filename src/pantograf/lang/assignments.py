"""What assignments mean: names, values of vertices, whole properties, and reductions where many turns run at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from pantograf.ir import graph
from pantograf.ir.graph import ListType, PropertyType, VectorType, i64, is_scalar
from pantograf.lang import functions, signatures
from pantograf.lang.arguments import program_only
from pantograf.lang.builder import element_of
from pantograf.lang.expressions import BINARY, indices
from pantograf.lang.scalars import SYMBOLS
from pantograf.lang.values import (
    Cell,
    NoVertex,
    Number,
    Operand,
    Several,
    Value,
    Word,
    describe,
)

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer


def assign(t: Tracer, node: ast.Assign) -> None:
    """`x = e`, `p[v] = e`, `p[:] = e`, `a, b = b, a`."""
    if len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            return assign_value(t, node, target, node.value)
        if isinstance(target, ast.Name) and is_outer(t, target):
            return reduce_name(t, node, target, node.value)
    found = t.operand_as(node.value, kind) if (kind := known_type(t, node.targets[0])) else t.operand(node.value)
    for target in node.targets:
        give(t, target, found, node.value)


def known_type(t: Tracer, target: ast.expr) -> Attribute | None:
    """The type of a name that already is a variable."""
    found = t.frame.bindings.get(target.id) if isinstance(target, ast.Name) else None
    return found.type if isinstance(found, Cell) else None


def give(t: Tracer, target: ast.expr, found: Operand, value: ast.expr) -> None:
    """Give a target a value that is already read."""
    match target:
        case ast.Name(id=name):
            if isinstance(found, Several):
                t.fail(value, f"{name} would be a tuple", "give each value a name: a, b = 1, 2")
            with t.builder.at(t.place(value)):
                t.bind(name, found, target)
        case ast.Tuple(elts=parts):
            if not isinstance(found, Several) or len(found.items) != len(parts):
                have = len(found.items) if isinstance(found, Several) else 1
                t.fail(
                    target,
                    f"{len(parts)} names for {have} value{'' if have == 1 else 's'}",
                    "as many values as names: a, b = b, a",
                )
            for part, item in zip(parts, found.items, strict=True):
                give(t, part, item, value)
        case ast.Subscript(slice=ast.Slice(lower=None, upper=None, step=None)):
            fill(t, target, found, value)
        case ast.Subscript(slice=ast.Slice()):
            t.fail(target, "a property is filled as a whole", "p[:] = x gives all vertices a value")
        case ast.Subscript():
            place, at_ = place_of(t, target)
            store(t, target, place, at_, found, value)
        case ast.Attribute():
            t.fail(
                target,
                f"{target.attr} cannot be assigned",
                "p[v] = x gives a vertex a value, and a name is bound with x = e",
            )
        case _:
            t.fail(target, "this cannot be assigned to", "legal: x = e, p[v] = e, p[v, i] = e, p[:] = e, a, b = c, d")


def fill(t: Tracer, target: ast.Subscript, found: Operand, value: ast.expr) -> None:
    """`p[:] = q` or `p[:] = x`."""
    program_only(t, target, "p[:] = x", "give one vertex a value: p[v] = x")
    place = t.value(target.value)
    if not isinstance(place.type, PropertyType):
        t.fail(target, f"{describe(place)} is not filled with [:]", "p[:] = x is for properties")
    functions.check_write(t, target, place, [])
    if isinstance(found, Value) and isinstance(found.type, PropertyType):
        if found.type != place.type:
            t.fail(value, f"{describe(place)} cannot take the values of {describe(found)}", "both have one type")
        t.builder.assign(place, found)
        return
    if not isinstance(found, (Value, Number, NoVertex)):
        t.fail(
            value,
            f"{describe(place)} cannot be filled with {describe(found)}",
            "p[:] = q copies a property, p[:] = x gives all one value",
        )
    with t.builder.at(t.place(value)):
        converted = t.builder.convert(found, element_of(place.type), "a value of this property")
    t.builder.fill(place, converted)


def place_of(t: Tracer, target: ast.Subscript) -> tuple[Value, list[Value]]:
    """The property and the indices that a subscript on the left side means."""
    inner = target.value
    if isinstance(inner, ast.Subscript):
        place = t.value(inner.value)
        if isinstance(place.type, PropertyType) and isinstance(place.type.element, VectorType):
            return place, [t.vertex(inner.slice, "an index"), t.converted(target.slice, i64, "an index")]
    place = t.value(inner)
    if isinstance(place.type, ListType):
        t.fail(
            target,
            "a list's values cannot be changed",
            "l.append(x) puts a value at the end, l.pop() takes the last off",
        )
    if not isinstance(place.type, PropertyType):
        t.fail(target, f"{describe(place)} has no values to assign", "p[v] = x gives a vertex a value in a property")
    found = indices(t, target, place)
    if not found:
        t.fail(target, "a vector is written one element at a time", "write p[v, i] = x")
    return place, found


def store(t: Tracer, target: ast.Subscript, place: Value, at_: list[Value], found: Operand, value: ast.expr) -> None:
    """A plain write."""
    functions.check_write(t, target, place, at_)
    if not isinstance(found, (Value, Number, NoVertex)):
        found = t.materialize_at(found, value)
    with t.builder.at(t.place(value)):
        converted = t.builder.convert(
            found, element_of(place.type), f"a value of {place.ssa.name_hint or 'this property'}"
        )
    t.builder.store(place, converted, at_)


def assign_value(t: Tracer, node: ast.Assign, target: ast.Subscript, value: ast.expr) -> None:
    """`p[v] = e`; where many run at once, `p[v] = min(p[v], e)` and its like are reductions."""
    place, at_ = place_of(t, target)
    kept, t.same_place = t.same_place, (ast.dump(target), at_)
    try:
        pattern = reduction(t, target, value) if at_once(t) else None
        if pattern is not None and legal_reduction(pattern[0], element_of(place.type)):
            kind, parts = pattern
            functions.check_write(t, target, place, at_, reduction=True)
            t.builder.reduce(
                kind, place.ssa, combined(t, kind, parts, element_of(place.type), place.ssa.name_hint or "p"), at_
            )
            return
        found = t.operand_as(value, element_of(place.type))
    finally:
        t.same_place = kept
    store(t, target, place, at_, found, value)


def at_once(t: Tracer) -> bool:
    """Whether many turns of what is read may run together."""
    return t.context.kind != "program"


def reduction(t: Tracer, target: ast.expr, value: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """The kind of a reduction into `target` and what is combined into it, where `value` has its form."""
    own = ast.dump(target).replace("Store()", "Load()")

    def split(parts: list[ast.expr]) -> list[ast.expr] | None:
        others = [part for part in parts if ast.dump(part) != own]
        return others if len(others) == len(parts) - 1 and others else None

    kind: str
    match value:
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=args, keywords=[]) if t.lookup(name, value) == Word(
            name
        ):
            kind, found = name, split(args)
        case ast.BoolOp(op=ast.Or(), values=args):
            kind, found = "or", split(args)
        case ast.BinOp(op=ast.Add() | ast.BitOr() as op):
            kind, found = "sum" if isinstance(op, ast.Add) else "or", split([value.left, value.right])
        case ast.BinOp(op=ast.Sub()) if ast.dump(value.left) == own:
            kind, found = "sum", [ast.copy_location(ast.UnaryOp(ast.USub(), value.right), value.right)]
        case _:
            return None
    return (kind, found) if found else None


def legal_reduction(kind: str, t: object) -> bool:
    """Whether values of a type are combined this way."""
    if kind == "or":
        return isinstance(t, IntegerType)
    if kind == "sum":
        return t != graph.i1 and not isinstance(t, graph.VertexType)
    return t != graph.i1


def combined(t: Tracer, kind: str, parts: list[ast.expr], into: Attribute, what: str) -> Value:
    """What a reduction combines into its target, as one value."""
    found: Value | Number | NoVertex
    match parts[0]:
        case ast.IfExp():
            found = t.converted(parts[0], into, what)
        case ast.UnaryOp(op=ast.USub(), operand=taken) if kind == "sum":
            found = negative(t, t.scalar(taken), into, what)
        case _:
            found = t.scalar(parts[0])
    for part in parts[1:]:
        found = t.builder.binary(kind, found, t.scalar(part))
    with t.builder.at(t.place(parts[0])):
        return t.builder.convert(found, into, what)


def negative(t: Tracer, found: Operand, into: Attribute, what: str) -> Value | Number:
    """What is added where `found` is subtracted: of an unsigned type, the number that wraps to the same."""
    assert isinstance(found, (Value, Number))
    taken = t.builder.convert(found, into, what) if graph.is_unsigned(into) else found
    result = t.builder.unary("neg", taken)
    assert isinstance(result, (Value, Number))
    return result


def is_outer(t: Tracer, target: ast.Name) -> bool:
    """Whether a name is a variable of the program, seen from where many turns run at once."""
    if not at_once(t):
        return False
    name = target.id
    frame = t.owner(name, target) if name in t.frame.names.outer else t.frame
    known = frame.bindings.get(name)
    return isinstance(known, Cell) and known.context is not t.context


def reduce_name(t: Tracer, node: ast.AST, target: ast.Name, value: ast.expr) -> None:
    """`x = min(x, e)` and its like, into a variable of the program."""
    cell = t.lookup(target.id, target)
    assert isinstance(cell, Cell)
    load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    pattern = reduction(t, load, value)
    if pattern is None or not legal_reduction(pattern[0], cell.type):
        t.outer_write(target.id, node)
    if t.context.kind == "filter":
        t.fail(node, "a filter cannot write", "write in the function that apply runs")
    kind, parts = pattern
    t.builder.reduce(kind, cell.ssa, combined(t, kind, parts, cell.type, target.id))
    t.context.reduced[cell.ssa] = target.id


def augmented(t: Tracer, node: ast.AugAssign) -> None:
    """`x += e`, `p[v] += e`."""
    kind = BINARY.get(type(node.op))
    if kind is None:
        t.fail(node, "@ has no meaning in a program", "legal: += -= *= /= //= %= **= &= |= ^= <<= >>=")
    target = node.target
    if isinstance(target, ast.Subscript):
        return augmented_value(t, node, target, kind)
    if not isinstance(target, ast.Name):
        t.fail(target, "this cannot be assigned to", "legal: x += e, p[v] += e")
    load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    whole = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
    if is_outer(t, target):
        return reduce_name(t, node, target, whole)
    t.lookup(target.id, target)
    t.bind(target.id, t.operand(whole), target)


def augmented_value(t: Tracer, node: ast.AugAssign, target: ast.Subscript, kind: str) -> None:
    """`p[v] += e`: where many run at once, a reduction if it can be one."""
    if isinstance(target.slice, ast.Slice):
        t.fail(target, "a property is not changed as a whole", "apply a function: def f(v): p[v] += x")
    place, at_ = place_of(t, target)
    element = element_of(place.type)
    name = place.ssa.name_hint or "p"
    if at_once(t) and kind in ("add", "sub", "or") and legal_reduction("or" if kind == "or" else "sum", element):
        functions.check_write(t, target, place, at_, reduction=True)
        found = t.scalar(node.value)
        with t.builder.at(t.place(node.value)):
            if kind == "sub":
                found = negative(t, found, element, name)
            value = t.builder.convert(found, element, name)
        t.builder.reduce("or" if kind == "or" else "sum", place.ssa, value, at_)
        return
    if t.context.kind == "edge" and not t.context.in_place:
        message = f"{SYMBOLS[kind]}= is no reduction, and edges that run together would lose each other's writes"
        t.fail(
            node,
            message,
            f"legal: {name}[v] += e, -= e, |= e, {name}[v] = min({name}[v], e), max({name}[v], e), {name}[v] or e",
        )
    functions.check_write(t, target, place, at_)
    changed = t.builder.binary(kind, t.builder.load(place, at_), t.scalar(node.value))
    t.builder.store(place, t.builder.convert(changed, element, f"a value of {name}"), at_)


def annotated(t: Tracer, node: ast.AnnAssign) -> None:
    """`x: i32 = 0`."""
    if not isinstance(node.target, ast.Name) or node.value is None:
        t.fail(node, "a type is written where a name gets its value", "write x: i32 = 0")
    kind = signatures.annotated(t, node.annotation)
    if is_scalar(kind):
        found: Operand = t.converted(node.value, kind, node.target.id)
    else:
        found = t.value(node.value)
        assert isinstance(found, Value)
        if found.type != kind:
            t.fail(
                node.value,
                f"{node.target.id} is {describe(kind)}, and this is {describe(found)}",
                "change the type, or leave it out",
            )
    t.bind(node.target.id, found, node.target)
