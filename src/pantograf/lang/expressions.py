"""What expressions mean: literals, names, operators, comparisons, conditions, subscripts and attributes."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pantograf.ir import graph
from pantograf.ir.graph import (
    ListType,
    PropertyType,
    QueueType,
    VectorType,
    VertexSetType,
    i64,
    is_scalar,
)
from pantograf.lang import types
from pantograf.lang.calls import call
from pantograf.lang.captures import captured
from pantograf.lang.methods import ATTRIBUTES, METHODS, attribute, kind_of
from pantograf.lang.scalars import Scalar
from pantograf.lang.values import (
    Cell,
    Function,
    Method,
    Module,
    NoVertex,
    Number,
    Operand,
    Row,
    Several,
    Text,
    Value,
    describe,
)

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from pantograf.lang.tracer import Tracer

BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


def constant(t: Tracer, node: ast.Constant) -> Operand:
    """A literal."""
    value = node.value
    if isinstance(value, (bool, int, float)):
        return Number(value)
    if isinstance(value, str):
        return Text(value)
    if value is None:
        t.fail(node, "Python's None has no meaning in a program", "no vertex is pg.none")
    t.fail(node, f"a program has no {type(value).__name__}", "literals are numbers, True, False and texts")


def name(t: Tracer, node: ast.Name) -> Operand:
    """A name: its value, or what its variable holds now."""
    found = t.lookup(node.id, node)
    if isinstance(found, Cell):
        if found.context is t.context:
            return t.builder.get(found.ssa)
        t.context.read.setdefault(found.ssa, t.place(node))
        return outer_value(t, found)
    return found


def outer_value(t: Tracer, cell: Cell) -> Value:
    """What a variable from outside holds; no call of an apply can change it, so it is read before the apply."""
    context = t.context
    if context.point is None:
        return t.builder.get(cell.ssa)
    if cell.ssa not in context.captured:
        with t.builder.going_to(context.point):
            context.captured[cell.ssa] = t.builder.get(cell.ssa)
    return context.captured[cell.ssa]


def attribute_(t: Tracer, node: ast.Attribute) -> Operand:
    """`x.y`: a word of a module, a property of a handle, or a method about to be called."""
    receiver = t.operand(node.value)
    if isinstance(receiver, Module):
        return of_module(t, node, receiver)
    kind = kind_of(receiver)
    known = (*ATTRIBUTES.get(kind, ()), *METHODS.get(kind, ()))
    if node.attr in ATTRIBUTES.get(kind, ()):
        return attribute(t, kind, receiver, node.attr)
    if node.attr in METHODS.get(kind, ()):
        return Method(receiver, node.attr)
    if not known:
        t.fail(
            node,
            f"{describe(receiver)} has no {node.attr!r}",
            "methods belong to edges, sets, properties, queues and lists",
        )
    close = difflib.get_close_matches(node.attr, known, 1)
    hint = (f"did you mean {close[0]}? " if close else "") + f"it has: {', '.join(known)}"
    t.fail(node, f"{describe(receiver)} has no {node.attr!r}", hint)


def of_module(t: Tracer, node: ast.Attribute, receiver: Module) -> Operand:
    """A word of a module: of Pantograf's vocabulary, or anything that a program may capture."""
    module = receiver.module
    if module.__name__ == "pantograf" and node.attr in types.__all__:
        return captured(t, node.attr, getattr(types, node.attr), node)
    if module.__name__ == "pantograf" or not hasattr(module, node.attr):
        words = types.__all__ if module.__name__ == "pantograf" else [w for w in dir(module) if not w.startswith("_")]
        close = difflib.get_close_matches(node.attr, words, 1)
        hint = (f"did you mean {close[0]}? " if close else "") + f"it has: {', '.join(words[:40])}"
        t.fail(node, f"there is no {node.attr!r} for programs in {module.__name__}", hint)
    return captured(t, node.attr, getattr(module, node.attr), node)


def subscript(t: Tracer, node: ast.Subscript) -> Operand:
    """`p[v]`, `p[v, i]`, `p[v][i]` or `l[i]`."""
    receiver = t.operand(node.value)
    if isinstance(receiver, Row):
        return t.builder.load(receiver.property, [receiver.vertex, t.converted(node.slice, i64, "an index")])
    match receiver:
        case Value(ssa) if isinstance(ssa.type, PropertyType):
            same = t.same_place
            if same is not None and same[0] == ast.dump(node).replace("Load()", "Store()"):
                return t.builder.load(receiver, same[1])
            at = indices(t, node, receiver)
            return t.builder.load(receiver, at) if at else Row(receiver, t.vertex(node.slice, "an index"))
        case Value(ssa) if isinstance(ssa.type, ListType):
            return t.builder.list_get(receiver, t.converted(node.slice, i64, "a position"))
    t.fail(
        node,
        f"{describe(receiver)} cannot be indexed",
        "p[v] is the value of a vertex, p[v, i] of a vector's element, l[i] of a list",
    )


def indices(t: Tracer, node: ast.Subscript, of: Value) -> list[Value]:
    """The index values of `p[...]`; none for the whole vector of a vertex."""
    assert isinstance(of.type, PropertyType)
    vector = isinstance(of.type.element, VectorType)
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(node.slice, ast.Slice):
        t.fail(node, "a slice has no value", "p.copy() copies a property; p[:] = x gives all vertices a value")
    if vector and len(parts) == 1:
        return []
    if len(parts) != (2 if vector else 1):
        hint = "write p[v, i]" if vector else "write p[v]"
        t.fail(
            node,
            f"a value of {describe(of)} has {2 if vector else 1} index, not {len(parts)}".replace(
                "2 index", "2 indices"
            ),
            hint,
        )
    at = [t.vertex(parts[0], "an index")]
    if vector:
        at.append(t.converted(parts[1], i64, "an index"))
    return at


def binary(t: Tracer, node: ast.BinOp) -> Operand:
    """An operator between two scalars."""
    kind = BINARY.get(type(node.op))
    if kind is None:
        t.fail(node, "@ has no meaning in a program", "legal: + - * / // % ** & | ^ << >>")
    left, right = t.scalar(node.left), t.scalar(node.right)
    if (
        kind == "pow"
        and isinstance(right, Number)
        and isinstance(right.value, int)
        and right.value < 0
        and isinstance(left, Value)
    ):
        right = Number(float(right.value))
    return t.builder.binary(kind, left, right)


def unary(t: Tracer, node: ast.UnaryOp) -> Operand:
    """`-x`, `+x`, `~x`, `not x`."""
    if isinstance(node.op, ast.Not):
        found = t.operand(node.operand)
        if isinstance(found, Number) and isinstance(found.value, bool):
            return Number(not found.value)
        with t.builder.at(t.place(node.operand)):
            value = t.materialize(found)
            if isinstance(value.type, QueueType):
                return t.builder.queue_finished(value)
            if isinstance(value.type, (VertexSetType, ListType)):
                return t.builder.compare("eq", t.builder.size(value), Number(0))
            value = t.truth(value)
        return t.builder.unary("not", value)
    operand = t.scalar(node.operand)
    if isinstance(node.op, ast.UAdd):
        return operand
    return t.builder.unary("neg" if isinstance(node.op, ast.USub) else "not", operand)


def both(t: Tracer, node: ast.BoolOp) -> Operand:
    """`and`, `or`: the right side is evaluated only where that can matter."""
    kind = "and" if isinstance(node.op, ast.And) else "or"
    found = bool_operand(t, node.values[0])
    for part in node.values[1:]:
        if isinstance(found, Number):
            if bool(found.value) == (kind == "or"):
                return found
            found = bool_operand(t, part)
            continue
        found = joined(t, kind, found, part)
    return found


def bool_operand(t: Tracer, node: ast.expr) -> Value | Number:
    """An operand of `and` or `or`."""
    found = t.operand(node)
    if isinstance(found, Number) and isinstance(found.value, bool):
        return found
    with t.builder.at(t.place(node)):
        return t.truth(found)


def joined(t: Tracer, kind: str, left: Value, right: ast.expr) -> Value | Number:
    """`left and right`, `left or right`; a right side that could fail is evaluated only where it matters."""
    if not risky(t, right):
        made = t.builder.binary(kind, left, bool_operand(t, right))
        assert isinstance(made, (Value, Number))
        return made
    cell = t.builder.variable(left, kind)
    branch = t.builder.branch(left)
    with t.builder.inside((branch.then if kind == "and" else branch.otherwise).block):
        t.builder.set(cell.ssa, t.builder.own(bool_operand(t, right)))
    return t.builder.get(cell.ssa)


def risky(t: Tracer, node: ast.expr) -> bool:
    """Whether evaluating an expression in vain could fail: it loads at a computed index, calls, or divides whole numbers."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Call, ast.IfExp)):
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            return True
        if isinstance(part, ast.Subscript) and not own_vertex(t, part.slice):
            return True
    return False


def own_vertex(t: Tracer, node: ast.expr) -> bool:
    """Whether an index is a vertex that the function was given, which exists for sure."""
    if not isinstance(node, ast.Name):
        return False
    found = t.frame.bindings.get(node.id)
    return isinstance(found, Value) and found.ssa in t.context.ends


def compare(t: Tracer, node: ast.Compare) -> Operand:
    """A comparison, or a chain of them in which the middle is evaluated once."""
    left = comparable(t, node.left)
    found: Value | Number | None = None
    for op, part in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, (ast.In, ast.NotIn)):
            made = membership(t, node, op, left, part)
            right: Operand = left
        else:
            right = comparable(t, part)
            with t.builder.at(t.place(node)):
                made = one_comparison(t, node, op, left, right)
        if found is None:
            found = made
        else:
            joined_ = t.builder.binary("and", found, made)
            assert isinstance(joined_, (Value, Number))
            found = joined_
        left = right
    assert found is not None
    return found


def comparable(t: Tracer, node: ast.expr) -> Operand:
    """A side of a comparison; numbers stay literals."""
    found = t.operand(node)
    return found if isinstance(found, (Number, NoVertex)) else t.materialize_at(found, node)


def one_comparison(t: Tracer, node: ast.Compare, op: ast.cmpop, left: Operand, right: Operand) -> Value:
    """One step of a comparison."""
    kind = COMPARE.get(type(op))
    if kind is None:
        t.fail(node, "`is` has no meaning in a program", "compare with == or !=")
    for side in (left, right):
        if isinstance(side, Value) and not is_scalar(side.type):
            hint = "`while s:` and `if not s:` ask whether it is empty, s.size is its size"
            t.fail(
                node,
                f"{describe(side)} cannot be compared",
                hint if not isinstance(side.type, PropertyType) else "compare values: p[v] == q[v]",
            )
    assert isinstance(left, (Value, Number, NoVertex)) and isinstance(right, (Value, Number, NoVertex))
    return t.builder.compare(kind, left, right)


def membership(t: Tracer, node: ast.Compare, op: ast.cmpop, left: Operand, right: ast.expr) -> Value:
    """`v in s`."""
    of = t.value(right)
    if not isinstance(of.type, VertexSetType):
        t.fail(right, f"`in` asks a vertex set for a member, and this is {describe(of)}", "write v in s")
    assert isinstance(left, (Value, Number, NoVertex))
    found = t.builder.contains(of, t.builder.convert(left, graph.VertexType(), "a member"))
    if isinstance(op, ast.In):
        return found
    made = t.builder.unary("not", found)
    assert isinstance(made, Value)
    return made


def conditional(t: Tracer, node: ast.IfExp, wanted: Attribute | None = None) -> Operand:
    """`a if c else b`: both sides are evaluated where that is safe; `wanted` is the type that two numbers take."""
    condition = t.operand(node.test)
    if isinstance(condition, Number) and isinstance(condition.value, bool):
        return t.operand(node.body if condition.value else node.orelse)
    with t.builder.at(t.place(node.test)):
        test = t.truth(condition)
    if not risky(t, node.body) and not risky(t, node.orelse):
        sides = [t.scalar(node.body), t.scalar(node.orelse)]
        kind = chosen_type(t, sides, wanted)
        return t.builder.select(test, t.builder.convert(sides[0], kind), t.builder.convert(sides[1], kind))
    branch = t.builder.branch(test)
    sides = []
    for side, region in ((node.body, branch.then), (node.orelse, branch.otherwise)):
        with t.builder.inside(region.block):
            sides.append(t.scalar(side))
    kind = chosen_type(t, sides, wanted)
    with t.builder.before(branch):
        cell = t.builder.variable(t.builder.zero(kind), "chosen")
    for found, region in zip(sides, (branch.then, branch.otherwise), strict=True):
        with t.builder.inside(region.block):
            t.builder.set(cell.ssa, t.builder.convert(found, kind))
    return t.builder.get(cell.ssa)


def chosen_type(t: Tracer, sides: list[Scalar], wanted: Attribute | None) -> Attribute:
    """The type of a conditional expression."""
    if wanted is not None and all(not isinstance(x, Value) and t.adapts(x, wanted) for x in sides):
        return wanted
    return t.builder.common_type("if-else", sides[0], sides[1])


def anonymous(t: Tracer, node: ast.Lambda) -> Operand:
    """A lambda."""
    return Function("lambda", node, t.frame)


def several(t: Tracer, node: ast.Tuple) -> Operand:
    """A tuple, for several assignments at once and several results."""
    return Several(tuple(t.operand(part) for part in node.elts))


EXPRESSIONS: Mapping[type, Callable[..., Operand]] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.Attribute: attribute_,
    ast.Subscript: subscript,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.BoolOp: both,
    ast.Compare: compare,
    ast.IfExp: conditional,
    ast.Lambda: anonymous,
    ast.Tuple: several,
    ast.Call: call,
}
