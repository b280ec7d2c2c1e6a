"""Liveness of frontiers: where an apply is the last to look at its input set, its result may take that set's memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import LOOPS, assigned, exclusive
from pantograf.passes.query import Query

_FRESH = (g.VertexSetOp, g.EdgeApplyOp, g.VertexApplyOp, g.WhereOp, g.QueuePopOp, g.CopyOp, g.ListPopOp, g.ListGetOp)
_COPIES = (g.AppendOp, g.CopyOp, g.SizeOp, g.ContainsOp, g.IsDenseOp, g.AddOp)


@dataclass(frozen=True)
class ReuseFrontiers:
    """Mark `reuse` an apply with a result whose input frontier nothing reads afterwards."""

    spec_name: ClassVar[str] = "reuse-frontiers"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Mark."""
        for op in module.walk():
            frontier = _frontier(op)
            if frontier is not None and op.results and _dead_after(frontier, op):
                op.attributes["reuse"] = UnitAttr()


def _frontier(op: Operation) -> SSAValue | None:
    if isinstance(op, g.EdgeApplyOp):
        return op.from_
    return op.vertices if isinstance(op, (g.VertexApplyOp, g.WhereOp)) else None


def _dead_after(frontier: SSAValue, op: Operation) -> bool:
    if any(use.operation is op and use.index != _position(op) for use in frontier.uses) or _inside(frontier, op):
        return False
    if not isinstance(frontier, OpResult):
        return False
    if isinstance(frontier.op, g.GetOp):
        return _variable_dead(frontier, op, frontier.op.variable)
    fresh = isinstance(frontier.op, _FRESH) and frontier.op.parent_block() is op.parent_block()
    return fresh and all(_finished(use.operation, op) for use in frontier.uses)


def _position(op: Operation) -> int:
    return 1 if isinstance(op, g.EdgeApplyOp) else 0


def _inside(frontier: SSAValue, op: Operation) -> bool:
    """Whether the functions of `op` look into the set themselves."""
    cell = frontier.owner.variable if isinstance(frontier.owner, g.GetOp) else None
    return any(operand in (frontier, cell) for inner in op.walk() if inner is not op for operand in inner.operands)


def _finished(user: Operation, op: Operation) -> bool:
    """Whether a use of the set stands before `op`, and keeps no handle."""
    if user is op:
        return True
    around: Operation | None = user
    while around is not None and around.parent_block() is not op.parent_block():
        around = around.parent_op()
    keeps = not isinstance(user, _COPIES) and _frontier(user) is None
    return around is not None and around.is_before_in_block(op) and not keeps


def _variable_dead(frontier: OpResult, op: Operation, cell: SSAValue) -> bool:
    """Whether the variable is the only one that holds its sets, and gets a new one before anything reads it again."""
    if not isinstance(cell, OpResult) or not all(_held_by(value, cell) for value in assigned(cell)):
        return False
    for use in cell.uses:
        if isinstance(use.operation, g.GetOp) and not _let_go(use.operation, op):
            return False
    at: Operation = op
    while True:
        following = at.next_op
        while following is not None:
            if isinstance(following, g.SetOp) and following.variable is cell:
                return True
            if any(_reads(inner, frontier, cell) for inner in following.walk()):
                return False
            following = following.next_op
        around = at.parent_op()
        if not isinstance(around, g.IfOp):
            return False
        at = around


def _let_go(get: g.GetOp, op: Operation) -> bool:
    """Whether what was read from the variable is not looked at after `op`, and no other variable keeps it."""
    order = {inner: i for i, inner in enumerate(_program(op).walk())}
    loop = _loop(op)
    for use in get.out.uses:
        user = use.operation
        if not isinstance(user, _COPIES) and _frontier(user) is None:
            return False
        if exclusive(user, op):
            continue
        before = order[user] <= order[op] and (loop is None or loop.is_ancestor(get))
        if not before and order[get] < order[op]:
            return False
    return True


def _program(op: Operation) -> Operation:
    around = op.parent_op()
    return op if around is None else _program(around)


def _loop(op: Operation) -> Operation | None:
    around = op.parent_op()
    while around is not None and not isinstance(around, LOOPS):
        around = around.parent_op()
    return around


def _held_by(value: SSAValue, cell: SSAValue) -> bool:
    """Whether a set that the variable is given is new, and nobody else has a handle on it."""
    if not isinstance(value, OpResult) or not isinstance(value.op, _FRESH):
        return False
    for use in value.uses:
        match use.operation:
            case g.VariableOp():
                if use.operation.out is not cell:
                    return False
            case g.SetOp():
                if use.operation.variable is not cell:
                    return False
            case other:
                if not isinstance(other, _COPIES):
                    return False
    return True


def _reads(op: Operation, frontier: SSAValue, cell: SSAValue) -> bool:
    leaves = isinstance(op, (g.BreakOp, g.ContinueOp))
    return leaves or frontier in op.operands or (isinstance(op, g.GetOp) and op.variable is cell)
