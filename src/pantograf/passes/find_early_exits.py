"""Where a pulling apply may stop with a destination: after the first call that wrote, the others change nothing visible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import BlockArgument, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import PURE, Function, function_of, functions_of, relation
from pantograf.passes.find_snapshots import lone_store
from pantograf.passes.query import Query, in_place


@dataclass(frozen=True)
class FindEarlyExits:
    """Mark `early_exit` a pulling apply whose calls do one thing at dst: a plain write, of which any may stay, or a
    reduction by min, max or or with a value that is the same for every edge of a destination. Never where writes add up.

    In a program that sees writes at once, and where the smallest write must stay, the filter has to become false.
    """

    spec_name: ClassVar[str] = "find-early-exits"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Mark."""
        for op in module.walk():
            if not isinstance(op, g.EdgeApplyOp) or op.attributes.get("direction") != StringAttr("pull"):
                continue
            if one_write_is_enough(op, query.deterministic):
                op.attributes["early_exit"] = UnitAttr()


def one_write_is_enough(op: g.EdgeApplyOp, deterministic: bool) -> bool:
    """Whether after one call that wrote at a destination the others change nothing visible there."""
    function = function_of(op, "apply")
    effects = function.effects()
    if len(effects) != 1 or _yields(function):
        return False
    write = effects[0]
    if not isinstance(write, (g.StoreOp, g.ReduceOp)) or not isinstance(write.target.type, g.PropertyType):
        return False
    if len(write.at) != 1 or write.at[0] is not function.block.args[1]:
        return False
    same = _same_for_every_edge(write.value, op, function)
    if isinstance(write, g.ReduceOp):
        return write.kind.data != "sum" and same
    if in_place(op):
        return claimed(op) is not None
    return same or not deterministic


def _yields(function: Function) -> bool:
    last = function.block.last_op
    return isinstance(last, g.YieldOp) and bool(last.values)


def _same_for_every_edge(value: SSAValue, op: g.EdgeApplyOp, function: Function) -> bool:
    """Whether all edges of one destination compute this value alike."""
    if isinstance(value, BlockArgument) and value.owner is function.block:
        return value.index == 1
    if not function.inside(value):
        return True
    if not isinstance(value, OpResult) or not isinstance(value.op, (*PURE, g.LoadOp, g.GetOp)):
        return False
    if isinstance(value.op, g.LoadOp) and in_place(op):
        writes = [access for access in function.accesses() if access.writes]
        if any(relation(value.op.source, write.handle) != "distinct" for write in writes):
            return False
    if isinstance(value.op, g.GetOp):
        return not function.inside(value.op.variable)
    return all(_same_for_every_edge(operand, op, function) for operand in value.op.operands)


def claimed(op: g.EdgeApplyOp) -> g.ConstantOp | None:
    """The constant that `to_filter`, or an `if` round the only write, a plain store at dst, wants to find there, if the
    store gives another value: then one compare-and-swap does both, and one call in all succeeds.
    """
    function = function_of(op, "apply")
    store = lone_store(function)
    if store is None or len(store.at) != 1 or store.at[0] is not function.block.args[1]:
        return None
    conditions: list[tuple[SSAValue, SSAValue]] = []
    for around in functions_of(op):
        last = around.block.last_op
        if around.role == "to_filter" and isinstance(last, g.YieldOp):
            conditions.append((last.values[0], around.block.args[0]))
    parent = store.parent_op()
    if isinstance(parent, g.IfOp) and parent.then.is_ancestor(store) and parent.parent_block() is function.block:
        conditions.append((parent.condition, function.block.args[1]))
    elif parent is not op:
        return None
    for condition, vertex in conditions:
        for part in _conjuncts(condition):
            constant = _wanted_constant(part, vertex, store)
            if constant is not None and _never(store.value, constant, op):
                return constant
    return None


def _conjuncts(condition: SSAValue) -> list[SSAValue]:
    op = condition.owner
    if isinstance(op, g.BinaryOp) and op.kind.data == "and":
        return _conjuncts(op.left) + _conjuncts(op.right)
    return [condition]


def _wanted_constant(condition: SSAValue, vertex: SSAValue, store: g.StoreOp) -> g.ConstantOp | None:
    """`c` where the condition is `p[vertex] == c`, or `p[vertex]` itself or `not p[vertex]` of a bool."""
    op = condition.owner
    if isinstance(op, g.CompareOp) and op.kind.data == "eq":
        for one, other in ((op.left, op.right), (op.right, op.left)):
            if _loads(one, vertex, store) and isinstance(other.owner, g.ConstantOp):
                return other.owner
    if isinstance(op, g.UnaryOp) and op.kind.data == "not" and _loads(op.value, vertex, store):
        return g.constant(False, g.i1)
    if _loads(condition, vertex, store) and condition.type == g.i1:
        return g.constant(True, g.i1)
    return None


def _loads(value: SSAValue, vertex: SSAValue, store: g.StoreOp) -> bool:
    op = value.owner
    return isinstance(op, g.LoadOp) and list(op.at) == [vertex] and relation(op.source, store.target) == "same"


def _never(value: SSAValue, constant: g.ConstantOp, op: g.EdgeApplyOp) -> bool:
    """Whether a stored value surely differs from a constant: src is never none, and constants compare."""
    if isinstance(value.owner, g.ConstantOp):
        return g.constant_value(value.owner) != g.constant_value(constant)
    if isinstance(value.type, g.VertexType):
        return g.constant_value(constant) is None and value in op.apply.block.args
    return False
