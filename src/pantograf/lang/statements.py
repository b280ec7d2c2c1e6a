"""What statements mean: assignments and reductions, branches and loops, labels, and the ways out of functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pantograf.lang import assignments, functions, loops, refusals, results
from pantograf.lang.names import Path, contains, leaves
from pantograf.lang.values import (
    Function,
    Number,
    Text,
    Value,
    Word,
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


# --- branches ---------------------------------------------------------------------------------------------------------


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


# --- the rest ---------------------------------------------------------------------------------------------------------


def with_(t: Tracer, node: ast.With) -> None:
    """`with pg.label("s0"):` round one loop or apply."""
    hint = 'the only with is: with pg.label("s0"): round one loop or apply'
    call = node.items[0].context_expr
    named = isinstance(call, ast.Call) and results.last_word(call.func) == "label"
    callee = t.operand(call.func) if isinstance(call, ast.Call) and named else None
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
    ast.Assign: assignments.assign,
    ast.AugAssign: assignments.augmented,
    ast.AnnAssign: assignments.annotated,
    ast.If: branch,
    ast.While: loops.while_,
    ast.For: loops.for_,
    ast.Break: loops.jump,
    ast.Continue: loops.jump,
    ast.With: with_,
    ast.Expr: expression,
    ast.FunctionDef: define,
    ast.Nonlocal: nonlocal_,
    ast.Return: return_,
    ast.Pass: nothing,
}
