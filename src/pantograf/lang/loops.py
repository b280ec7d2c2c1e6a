"""What loops mean: `while`, `for` over ranges, loops whose turns may run together, `break` and `continue`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xdsl.ir import Block

from pantograf.ir.graph import EdgesType, PropertyType, QueueType, VertexSetType, i64
from pantograf.lang.frames import Context
from pantograf.lang.values import (
    AllVertices,
    Number,
    Value,
    Word,
    describe,
)

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer


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
    t: Tracer,
    nodes: list[ast.stmt],
    block: Block,
    kind: str,
    label: str,
    target: str = "",
    index: Value | None = None,
    at_: ast.AST | None = None,
) -> None:
    """Read the body of a loop; what it binds has no value after it, since it may not run."""
    before = t.bound()
    t.frame.loops.append(kind)
    if label:
        t.builder.labels.around.append(label)
    with t.opened(nodes, block):
        if index is not None and at_ is not None:
            bind_index(t, target, index, at_)
        t.statements(nodes)
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
    count = b.own(b.binary("sub", low, high))
    if step < -1:
        count = b.own(b.binary("floordiv", b.binary("add", count, Number(-step - 1)), Number(-step)))
    op = b.loop_for(b.constant(0, i64), count, b.constant(1, i64), label, f"{name}_down")
    with b.inside(op.body.block):
        turn = Value(op.body.block.args[0])
        index = b.own(b.binary("sub", low, turn if step == -1 else b.binary("mul", turn, Number(-step))))
        index.ssa.name_hint = name
    loop_body(t, node.body, op.body.block, "for", label, name, index, node.target)


def refuse_iteration(t: Tracer, node: ast.For) -> None:
    """A loop over anything but a range."""
    found = t.operand(node.iter)
    if isinstance(found, AllVertices) or (
        isinstance(found, Value) and isinstance(found.type, (VertexSetType, PropertyType, QueueType))
    ):
        t.fail(
            node.iter,
            f"a program does not loop over {describe(found)}",
            "apply a function to all of it at once: vertices.apply(f), with def f(v): ...",
        )
    if isinstance(found, Value) and isinstance(found.type, EdgesType):
        t.fail(
            node.iter,
            "a program does not loop over edges",
            "apply a function to all of them at once: edges.apply(f), with def f(src, dst): ...",
        )
    t.fail(
        node.iter,
        f"a program does not loop over {describe(found)}",
        "loops: for i in range(n), for i in pg.par_range(0, n), while",
    )


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
            t.fail(
                node.args[2],
                "the step of a range is a whole number that is known when the program is read",
                "range(low, high, 2), range(high, low, -1)",
            )
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
        t.fail(
            node,
            f"{word} cannot leave a turn of a par_range loop",
            "put what remains under an if, or write range(low, high)",
        )
    (t.builder.leave if word == "break" else t.builder.go_on)()
