"""What statements mean: assignments and reductions, branches and loops, labels, and the ways out of functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Block

from pantograf.ir import graph
from pantograf.ir.graph import EdgesType, ListType, PropertyType, QueueType, VectorType, VertexSetType, i64, is_scalar
from pantograf.lang import functions, refusals, results
from pantograf.lang.builder import element_of
from pantograf.lang.expressions import BINARY, indices
from pantograf.lang.names import Path, contains, leaves
from pantograf.lang.tracer import Context
from pantograf.lang.values import (
    AllVertices,
    Cell,
    Function,
    NoVertex,
    Number,
    Operand,
    Several,
    Text,
    Value,
    Word,
    describe,
)

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer



class Rest(NamedTuple):
    """What follows a branch that may return: statements of the block around it, and what follows those."""

    nodes: list[ast.stmt]
    path: Path
    after: Rest | None


def read(t: Tracer, nodes: list[ast.stmt], after: Rest | None = None) -> None:
    """Read statements one after the other, then what is after them; what may have been returned from runs no further."""
    for i, node in enumerate(nodes):
        rest = nodes[i + 1 :]
        if rest and leaves([node]):
            t.fail(rest[0], "this is never reached", "take it away, or move it before the statement that leaves")
        early = contains([node], ast.Return) and not isinstance(node, ast.Return) and t.frame is not t.frames[0]
        following = Rest(rest, t.frame.opened[-1].path, after) if rest else after
        if early and not t.frame.loops and isinstance(node, ast.If) and (leaves(node.body) or leaves(node.orelse)):
            at(t, node, branch, following)
            return
        at(t, node, RULES.get(type(node), refuse))
        if early and isinstance(node, (ast.For, ast.While)):
            after_loop(t)
        if early and not t.frame.loops and following is not None and not leaves([node]):
            plan = t.frame.returns
            assert plan is not None and plan.returned is not None
            going = t.builder.unary("not", t.builder.get(plan.returned.results[0]))
            assert isinstance(going, Value)
            with t.builder.inside(t.builder.branch(going).then.block):
                go_on(t, following)
            return
    if after is not None and not leaves(nodes):
        go_on(t, after)


def go_on(t: Tracer, rest: Rest) -> None:
    """Read what follows, in the block of GraphIR that is open, as part of the block of statements that it belongs to."""
    with t.reopened(rest.path):
        read(t, rest.nodes, rest.after)


def at(t: Tracer, node: ast.stmt, rule: Callable[..., None], *more: object) -> None:
    """Apply a rule to a statement, its operations at its place."""
    with t.builder.at(t.place(node)):
        rule(t, node, *more)


def after_loop(t: Tracer) -> None:
    """After a loop in a loop that may have returned, leave the outer one too."""
    if t.frame.loops:
        plan = t.frame.returns
        assert plan is not None and plan.returned is not None
        with t.builder.inside(t.builder.branch(t.builder.get(plan.returned.results[0])).then.block):
            t.builder.leave()


def refuse(t: Tracer, node: ast.stmt) -> None:
    """A statement that programs do not have."""
    message, hint = refusals.statement(node)
    t.fail(node, message, hint)


# --- assignment -------------------------------------------------------------------------------------------------------


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
                t.fail(target, f"{len(parts)} names for {have} value{'' if have == 1 else 's'}", "as many values as names: a, b = b, a")
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
            t.fail(target, f"{target.attr} cannot be assigned", "p[v] = x gives a vertex a value, and a name is bound with x = e")
        case _:
            t.fail(target, "this cannot be assigned to", "legal: x = e, p[v] = e, p[v, i] = e, p[:] = e, a, b = c, d")


def fill(t: Tracer, target: ast.Subscript, found: Operand, value: ast.expr) -> None:
    """`p[:] = q` or `p[:] = x`."""
    from pantograf.lang.calls import program_only

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
        t.fail(value, f"{describe(place)} cannot be filled with {describe(found)}", "p[:] = q copies a property, p[:] = x gives all one value")
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
        t.fail(target, "a list's values cannot be changed", "l.append(x) puts a value at the end, l.pop() takes the last off")
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
        converted = t.builder.convert(found, element_of(place.type), f"a value of {place.ssa.name_hint or 'this property'}")
    t.builder.store(place, converted, at_)


def assign_value(t: Tracer, node: ast.Assign, target: ast.Subscript, value: ast.expr) -> None:
    """`p[v] = e`; where many run at once, `p[v] = min(p[v], e)` and its like are reductions."""
    place, at_ = place_of(t, target)
    kept, t.same_place = t.same_place, (ast.dump(target), at_)
    try:
        pattern = reduction(target, value) if at_once(t) else None
        if pattern is not None and legal_reduction(pattern[0], element_of(place.type)):
            kind, parts = pattern
            functions.check_write(t, target, place, at_, reduction=True)
            t.builder.reduce(kind, place.ssa, combined(t, kind, parts, element_of(place.type), place.ssa.name_hint or "p"), at_)
            return
        found = t.operand_as(value, element_of(place.type))
    finally:
        t.same_place = kept
    store(t, target, place, at_, found, value)


def at_once(t: Tracer) -> bool:
    """Whether many turns of what is read may run together."""
    return t.context.kind != "program"


def reduction(target: ast.expr, value: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """The kind of a reduction into `target` and what is combined into it, where `value` has its form."""
    own = ast.dump(target).replace("Store()", "Load()")

    def split(parts: list[ast.expr]) -> list[ast.expr] | None:
        others = [part for part in parts if ast.dump(part) != own]
        return others if len(others) == len(parts) - 1 and others else None

    kind: str
    match value:
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=args, keywords=[]):
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
    found = t.converted(parts[0], into, what) if isinstance(parts[0], ast.IfExp) else t.scalar(parts[0])
    for part in parts[1:]:
        found = t.builder.binary(kind, found, t.scalar(part))
    with t.builder.at(t.place(parts[0])):
        return t.builder.convert(found, into, what)


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
    pattern = reduction(load, value)
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
                negative = t.builder.unary("neg", found)
                assert isinstance(negative, (Value, Number))
                found = negative
            value = t.builder.convert(found, element, name)
        t.builder.reduce("or" if kind == "or" else "sum", place.ssa, value, at_)
        return
    functions.check_write(t, target, place, at_)
    changed = t.builder.binary(kind, t.builder.load(place, at_), t.scalar(node.value))
    t.builder.store(place, t.builder.convert(changed, element, f"a value of {name}"), at_)


def annotated(t: Tracer, node: ast.AnnAssign) -> None:
    """`x: i32 = 0`."""
    from pantograf.lang.signatures import annotated as type_of

    if not isinstance(node.target, ast.Name) or node.value is None:
        t.fail(node, "a type is written where a name gets its value", "write x: i32 = 0")
    kind = type_of(t, node.annotation)
    if is_scalar(kind):
        found: Operand = t.converted(node.value, kind, node.target.id)
    else:
        found = t.value(node.value)
        assert isinstance(found, Value)
        if found.type != kind:
            t.fail(node.value, f"{node.target.id} is {describe(kind)}, and this is {describe(found)}", "change the type, or leave it out")
    t.bind(node.target.id, found, node.target)


# --- branches and loops -----------------------------------------------------------------------------------------------


def branch(t: Tracer, node: ast.If, after: Rest | None = None) -> None:
    """`if`; `after` is what follows, for the arm that goes on when the other one returns."""
    found = t.operand(node.test)
    if isinstance(found, Number) and isinstance(found.value, bool):
        arm = node.body if found.value else node.orelse
        with t.opened(arm, t.builder.block):
            read(t, arm, after)
        return
    op = t.builder.branch(t.truth_at(found, node.test))
    before, ways = t.bound(), []
    for arm, block in ((node.body, op.then.block), (node.orelse, op.otherwise.block)):
        t.rebound(before)
        with t.opened(arm, block):
            read(t, arm, after)
        if not leaves(arm):
            ways.append(t.bound())
    t.rebound(*(ways or [before]))


def no_else(t: Tracer, node: ast.For | ast.While) -> None:
    """Refuse the else of a loop."""
    if node.orelse:
        t.fail(node.orelse[0], "a loop in a program has no else", "set a bool before break, and test it after the loop")


def while_(t: Tracer, node: ast.While) -> None:
    """`while`."""
    no_else(t, node)
    label = loop_label(t, node, "while")
    op = t.builder.loop_while(label)
    with t.builder.inside(op.condition.block):
        found = t.operand(node.test)
        t.builder.give(t.truth_at(found, node.test))
    loop_body(t, node.body, op.body.block, "while", label)


def loop_label(t: Tracer, node: ast.AST, made: str) -> str:
    """The label of a loop; loops in functions have none."""
    return "" if t.context.is_function else t.label(node, made)


def loop_body(
    t: Tracer, nodes: list[ast.stmt], block: Block, kind: str, label: str, target: str = "", index: Value | None = None, at_: ast.AST | None = None
) -> None:
    """Read the body of a loop; what it binds has no value after it, since it may not run."""
    before = t.bound()
    t.frame.loops.append(kind)
    if label:
        t.builder.labels.around.append(label)
    with t.opened(nodes, block):
        if index is not None and at_ is not None:
            bind_index(t, target, index, at_)
        read(t, nodes)
        if kind == "par_for":
            t.builder.give()
    if label:
        t.builder.labels.around.pop()
    t.frame.loops.pop()
    t.rebound(before)


def bind_index(t: Tracer, target: str, index: Value, node: ast.AST) -> None:
    """Bind the target of a `for`."""
    frame = t.frame
    if frame.names.table[target].is_variable:
        t.bind(target, index, node)
    else:
        frame.bindings[target] = index
        frame.bound.add(target)
        frame.lost[target] = getattr(node, "lineno", 0)
        frame.opened[-1].made.append(target)


def for_(t: Tracer, node: ast.For) -> None:
    """`for i in range(...)` and `for i in pg.par_range(...)`."""
    no_else(t, node)
    if not isinstance(node.target, ast.Name):
        t.fail(node.target, "the target of a loop is one name", "for i in range(n)")
    callee = t.operand(node.iter.func) if isinstance(node.iter, ast.Call) else None
    if not (isinstance(callee, Word) and callee.name in ("range", "par_range")):
        refuse_iteration(t, node)
    assert isinstance(node.iter, ast.Call) and isinstance(callee, Word)
    low, high, step = bounds(t, node.iter, callee.name)
    name = node.target.id
    if callee.name == "par_range":
        return par_for(t, node, low, high, name)
    label = loop_label(t, node, "for")
    b = t.builder
    if step > 0:
        op = b.loop_for(low, high, b.constant(step, i64), label, name)
        return loop_body(t, node.body, op.body.block, "for", label, name, Value(op.body.block.args[0]), node.target)
    span = b.binary("add", b.binary("sub", low, high), Number(-step - 1))
    count = b.own(b.binary("floordiv", span, Number(-step)))
    op = b.loop_for(b.constant(0, i64), count, b.constant(1, i64), label, f"{name}_down")
    with b.inside(op.body.block):
        index = b.own(b.binary("sub", low, b.binary("mul", Value(op.body.block.args[0]), Number(-step))))
        index.ssa.name_hint = name
    loop_body(t, node.body, op.body.block, "for", label, name, index, node.target)


def refuse_iteration(t: Tracer, node: ast.For) -> None:
    """A loop over anything but a range."""
    found = t.operand(node.iter)
    if isinstance(found, AllVertices) or isinstance(found, Value) and isinstance(found.type, (VertexSetType, PropertyType, QueueType)):
        t.fail(node.iter, f"a program does not loop over {describe(found)}", "apply a function to all of it at once: vertices.apply(f), with def f(v): ...")
    if isinstance(found, Value) and isinstance(found.type, EdgesType):
        t.fail(node.iter, "a program does not loop over edges", "apply a function to all of them at once: edges.apply(f), with def f(src, dst): ...")
    t.fail(node.iter, f"a program does not loop over {describe(found)}", "loops: for i in range(n), for i in pg.par_range(0, n), while")


def bounds(t: Tracer, node: ast.Call, name: str) -> tuple[Value, Value, int]:
    """Low, high and step of a range."""
    if node.keywords:
        t.fail(node.keywords[0], f"{name} has no argument {node.keywords[0].arg!r}", f"{name}(n), {name}(low, high)")
    most = 3 if name == "range" else 2
    if not 1 <= len(node.args) <= most:
        t.fail(node, f"{name} takes 1 to {most} arguments, not {len(node.args)}", f"{name}(n), {name}(low, high)")
    step = 1
    if len(node.args) == 3:
        found = t.operand(node.args[2])
        if not (isinstance(found, Number) and type(found.value) is int and found.value):
            t.fail(node.args[2], "the step of a range is a whole number that is known when the program is read", "range(low, high, 2), range(high, low, -1)")
        step = int(found.value)
    values = [t.converted(a, i64, f"a bound of {name}") for a in node.args[:2]]
    if len(values) == 1:
        values.insert(0, t.builder.constant(0, i64))
    return values[0], values[1], step


def par_for(t: Tracer, node: ast.For, low: Value, high: Value, name: str) -> None:
    """A loop whose turns may run together: what it names is its own, and it reduces into the names around it."""
    if t.context.kind != "program":
        t.fail(node.iter, "par_range cannot stand in what already runs at once", "write range(low, high)")
    label = t.label(node, "par_for")
    op = t.builder.loop_par(low, high, label, name)
    frame = t.frame
    kept, frame.context = frame.context, Context("par_for")
    loop_body(t, node.body, op.body.block, "par_for", label, name, Value(op.body.block.args[0]), node.target)
    frame.context = kept


def jump(t: Tracer, node: ast.Break | ast.Continue) -> None:
    """`break` and `continue`."""
    word = "break" if isinstance(node, ast.Break) else "continue"
    loops = t.frame.loops
    if not loops:
        t.fail(node, f"{word} stands outside of a loop", f"{word} belongs into while or for")
    if loops[-1] == "par_for":
        t.fail(node, f"{word} cannot leave a turn of a par_range loop", "put what remains under an if, or write range(low, high)")
    (t.builder.leave if word == "break" else t.builder.go_on)()


# --- the rest ---------------------------------------------------------------------------------------------------------


def with_(t: Tracer, node: ast.With) -> None:
    """`with pg.label("s0"):` round one loop or apply."""
    hint = 'the only with is: with pg.label("s0"): round one loop or apply'
    call = node.items[0].context_expr
    callee = t.operand(call.func) if isinstance(call, ast.Call) else None
    if len(node.items) != 1 or not (isinstance(callee, Word) and callee.name == "label"):
        t.fail(call, "a program has no such with", hint)
    assert isinstance(call, ast.Call)
    text = t.operand(call.args[0]) if len(call.args) == 1 and not call.keywords else None
    if not isinstance(text, Text):
        t.fail(call, "label takes one text", hint)
    if t.pending_label is not None:
        t.fail(call, "this has two labels", "one label round one loop or apply")
    if len(node.body) != 1:
        t.fail(node.body[1], "a label names one loop or apply, and here is more", hint)
    t.pending_label = (text.value, t.place(call))
    read(t, node.body)
    if t.pending_label is not None:
        t.fail(call, f"the label {text.value!r} names nothing", hint)


def expression(t: Tracer, node: ast.Expr) -> None:
    """A call on a line of its own, or a docstring."""
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
        return
    if not isinstance(node.value, ast.Call):
        t.operand(node.value)
        t.fail(node, "this line does nothing", "give its value a name, or take it away")
    t.operand(node.value)


def define(t: Tracer, node: ast.FunctionDef) -> None:
    """A nested function: read where it is applied or called."""
    if len(t.frame.names.table[node.name].assigned) > 1:
        t.fail(node, f"{node.name} is defined more than once", "give each function a name of its own")
    function = Function(node.name, node, t.frame)
    functions.refuse_signature(function)
    t.bind(node.name, function, node)


def nonlocal_(t: Tracer, node: ast.Nonlocal) -> None:
    """`nonlocal`: the names are looked up when they are assigned."""
    for name in node.names:
        t.owner(name, node)


def return_(t: Tracer, node: ast.Return) -> None:
    """`return`: of a function, or of the program."""
    if t.frame is t.frames[0]:
        results.give(t, node)
    else:
        functions.give(t, node)


def nothing(t: Tracer, node: ast.Pass) -> None:
    """`pass`."""


RULES: Mapping[type, Callable[..., None]] = {
    ast.Assign: assign,
    ast.AugAssign: augmented,
    ast.AnnAssign: annotated,
    ast.If: branch,
    ast.While: while_,
    ast.For: for_,
    ast.Break: jump,
    ast.Continue: jump,
    ast.With: with_,
    ast.Expr: expression,
    ast.FunctionDef: define,
    ast.Nonlocal: nonlocal_,
    ast.Return: return_,
    ast.Pass: nothing,
}
