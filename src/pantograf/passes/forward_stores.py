"""A call sees its own writes: a load behind a write of the same call gets its value from the call, not from the property.

After this pass no load has to look for the call's own writes: a machine may take every load from the state before the apply.
A load for which that cannot be done (the function writes at vertices that it computes in a loop) is marked `own_writes`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf.ir import graph as g
from pantograf.ir.functions import (
    APPLIES,
    LOOPS,
    Access,
    Function,
    exclusive,
    functions_of,
    relation,
    same_value,
)
from pantograf.passes.query import in_place
from pantograf.passes.recognize_reductions import drop_dead


@dataclass(frozen=True)
class ForwardStores:
    """Replace loads behind the call's own writes by the value written; by a variable where that depends on the path."""

    spec_name: ClassVar[str] = "forward-stores"

    def apply(self, module: ModuleOp, query: object) -> None:
        """Forward in each function that does not see other calls' writes anyway."""
        for op in list(module.walk()):
            if isinstance(op, APPLIES) and not in_place(op):
                for function in functions_of(op):
                    _forward(function)
                    drop_dead(function.block)


def _forward(function: Function) -> None:
    done: set[Operation] = set()
    ignored: dict[Operation, set[Operation]] = {}
    while True:
        accesses = function.accesses()
        for load in accesses:
            if load.kind != "load" or load.op in done:
                continue
            writes = [w for w in _reaching(load, accesses, function) if w.op not in ignored.get(load.op, ())]
            if not writes:
                done.add(load.op)
            elif _replace(load, writes, accesses, function, ignored):
                break
            else:
                load.op.attributes["own_writes"] = UnitAttr()
                done.add(load.op)
        else:
            return


def _reaching(load: Access, accesses: list[Access], function: Function) -> list[Access]:
    """The writes of this call that the load may see."""
    order = {op: i for i, op in enumerate(function.operations())}
    found = [
        write
        for write in accesses
        if write.writes
        and relation(write.handle, load.handle) != "distinct"
        and not exclusive(write.op, load.op)
        and (order[write.op] < order[load.op] or _share_a_loop(write.op, load.op, function, but=_counters(write, load)))
    ]
    for sure in reversed(found):
        if isinstance(sure.op, g.StoreOp) and _same_place(sure, load) and _dominates(sure.op, load.op):
            return [
                w
                for w in found
                if w is sure
                or order[sure.op] < order[w.op] < order[load.op]
                or _share_a_loop(w.op, load.op, function, without=sure.op, but=_counters(w, load))
            ]
    return found


def _counters(write: Access, load: Access) -> set[Operation]:
    """The loops that count the place itself, so that another turn of theirs is about another place."""
    if not _same_place(write, load):
        return set()
    owners = [v.owner.parent_op() for v in load.at if isinstance(v, BlockArgument)]
    return {loop for loop in owners if isinstance(loop, g.ForOp)}


def _share_a_loop(
    a: Operation,
    b: Operation,
    function: Function,
    without: Operation | None = None,
    but: AbstractSet[Operation] = frozenset(),
) -> bool:
    """Whether a loop of the function, other than those in `but`, repeats both (and not `without`)."""
    around = a.parent_op()
    while around is not None and around is not function.op:
        repeats = isinstance(around, LOOPS) and around not in but and around.is_ancestor(b)
        if repeats and (without is None or not around.is_ancestor(without)):
            return True
        around = around.parent_op()
    return False


def _replace(
    load: Access,
    writes: list[Access],
    accesses: list[Access],
    function: Function,
    ignored: dict[Operation, set[Operation]],
) -> bool:
    """Give the load its value; whether that could be done."""
    last = writes[-1]
    different = [write for write in writes if not _same_place(write, load)]
    if len(different) == len(writes):
        return _compare_places(load, last, accesses, function, ignored)
    repeated = any(_share_a_loop(w.op, load.op, function, but=_counters(w, load)) for w in writes)
    alone = len(writes) == 1 if isinstance(last.op, g.StoreOp) else not repeated and not different
    if _dominates(last.op, load.op) and alone and not isinstance(last.op, g.CompareAndSwapOp):
        value: SSAValue | None = _after(last, load)
    else:
        value = _through_variable(load, accesses, function)
    if value is None:
        return False
    load.op.results[0].replace_all_uses_with(value)
    Rewriter.erase_op(load.op)
    return True


def _same_place(write: Access, load: Access) -> bool:
    return (
        relation(write.handle, load.handle) == "same"
        and len(write.at) == len(load.at)
        and all(map(same_value, write.at, load.at))
    )


def _dominates(write: Operation, load: Operation) -> bool:
    """Whether the load runs only after the write, in the same turn of every loop."""
    block = write.parent_block()
    around: Operation | None = load
    while around is not None and around.parent_block() is not block:
        around = around.parent_op()
    return around is not None and write.is_before_in_block(around)


def _after(write: Access, load: Access) -> SSAValue:
    """The value at the place right after `write`."""
    op = write.op
    if isinstance(op, g.StoreOp):
        return op.value
    at_write = Builder(InsertPoint.before(op))
    before = at_write.insert(g.LoadOp(operands=[write.handle, list(write.at)], result_types=[load.op.results[0].type]))
    before.location = load.op.location
    return _combined(before.out, op, Builder(InsertPoint.after(op)))


def _combined(before: SSAValue, op: Operation, builder: Builder) -> SSAValue:
    """What a reduction or an update through a queue makes of the value before it."""
    assert isinstance(op, (g.ReduceOp, g.QueueUpdateOp, g.QueueAddOp))
    if isinstance(op, g.QueueAddOp):
        return op.priority
    kind = {"sum": "add"}.get(op.kind.data, op.kind.data)
    result = _binary(before, op.value, kind, builder, op)
    if isinstance(op, g.QueueUpdateOp) and op.limit is not None:
        return _binary(result, op.limit, "max", builder, op)
    return result


def _binary(left: SSAValue, right: SSAValue, kind: str, builder: Builder, origin: Operation) -> SSAValue:
    made = g.BinaryOp(operands=[left, right], properties={"kind": StringAttr(kind)}, result_types=[left.type])
    builder.insert(made).location = origin.location
    return made.out


def _through_variable(load: Access, accesses: list[Access], function: Function) -> SSAValue | None:
    """The value of a new variable that follows the call's own writes to the place, read where the load stands."""
    start = _earliest(load, function)
    if start is None:
        return None
    first = start.insert(g.LoadOp(operands=[load.handle, list(load.at)], result_types=[load.op.results[0].type]))
    first.location = load.op.location
    order = {op: i for i, op in enumerate(function.operations())}
    before = _reaching(replace(load, op=first), accesses, function)
    behind = [w for w in accesses if _may_hit(w, load) and order[w.op] > order[first]]
    if any(_same_place(w, load) for w in before) or not all(_followed(w, load, function) for w in behind):
        Rewriter.erase_op(first)
        return None
    cell = start.insert(g.VariableOp(operands=[first.out], result_types=[g.CellType(first.out.type)]))
    cell.location = load.op.location
    cell.out.name_hint = "own"
    for write in behind:
        _follow(write, load, cell.out)
    read = Builder(InsertPoint.before(load.op)).insert(g.GetOp(operands=[cell.out], result_types=[first.out.type]))
    read.location = load.op.location
    return read.out


def _may_hit(write: Access, load: Access) -> bool:
    return write.writes and relation(write.handle, load.handle) != "distinct"


def _followed(write: Access, load: Access, function: Function) -> bool:
    """Whether a variable can follow the write: it is clear what it makes of the place's value, and whether it hits it."""
    if isinstance(write.op, g.CompareAndSwapOp):
        return False
    if _same_place(write, load):
        return True
    known = all(_visible(v, write.op, function) for v in load.at)
    return known and relation(write.handle, load.handle) == "same" and len(write.at) == len(load.at) == 1


def _follow(write: Access, load: Access, cell: SSAValue) -> None:
    """Behind the write, set the variable to what the place now holds."""
    builder = Builder(InsertPoint.after(write.op))
    kind = load.op.results[0].type
    hit = None if _same_place(write, load) else builder.insert(_equal(write.at[0], load.at[0]))
    now = None
    if hit is not None or not isinstance(write.op, g.StoreOp):
        now = builder.insert(g.GetOp(operands=[cell], result_types=[kind]))
    if isinstance(write.op, g.StoreOp):
        value: SSAValue = write.op.value
    else:
        assert now is not None
        value = _combined(now.out, write.op, builder)
    if hit is not None:
        assert now is not None
        value = builder.insert(g.SelectOp(operands=[hit.out, value, now.out], result_types=[kind])).out
    builder.insert(g.SetOp(operands=[cell, value]))
    last = write.op
    while not isinstance(last, g.SetOp) or last.variable is not cell:
        assert last.next_op is not None
        last = last.next_op
        last.location = write.op.location


def _equal(a: SSAValue, b: SSAValue) -> g.CompareOp:
    return g.CompareOp(operands=[a, b], properties={"kind": StringAttr("eq")}, result_types=[g.i1])


def _earliest(load: Access, function: Function) -> Builder | None:
    """Where the place of a load is first known: at the function's start, unless the function computes the vertex."""
    parts = [v for v in (load.handle, *load.at) if function.inside(v) and v.owner is not function.block]
    if not parts:
        return Builder(InsertPoint.at_start(function.block))
    blocks = {v.owner.parent_block() if isinstance(v.owner, Operation) else v.owner for v in parts}
    counters = {v.owner.parent_op() for v in parts if isinstance(v, BlockArgument)} - {None}
    repeated = _share_a_loop(load.op, load.op, function, but={op for op in counters if op is not None})
    if len(blocks) != 1 or repeated:
        return None
    makers = [v.owner for v in parts if isinstance(v.owner, Operation)]
    if not makers:
        block = blocks.pop()
        assert block is not None
        return Builder(InsertPoint.at_start(block))
    latest = makers[0]
    for maker in makers[1:]:
        latest = maker if latest.is_before_in_block(maker) else latest
    return Builder(InsertPoint.after(latest))


def _compare_places(
    load: Access, write: Access, accesses: list[Access], function: Function, ignored: dict[Operation, set[Operation]]
) -> bool:
    """Choose at run time: where the written vertex happens to be the loaded one, the call's own value."""
    known = all(_visible(v, load.op, function) for v in write.at)
    if relation(write.handle, load.handle) != "same" or not known or len(write.at) != 1:
        return False
    builder = Builder(InsertPoint.before(load.op))
    kind = load.op.results[0].type
    equal = builder.insert(_equal(write.at[0], load.at[0]))
    own = builder.insert(g.LoadOp(operands=[write.handle, list(write.at)], result_types=[kind]))
    other = builder.insert(g.LoadOp(operands=[load.handle, list(load.at)], result_types=[kind]))
    choice = builder.insert(g.SelectOp(operands=[equal.out, own.out, other.out], result_types=[kind]))
    for op in (equal, own, other, choice):
        op.location = load.op.location
    ignored[other] = ignored.get(load.op, set()) | {w.op for w in accesses if w.writes and w.at == write.at}
    load.op.results[0].replace_all_uses_with(choice.out)
    Rewriter.erase_op(load.op)
    return True


def _visible(value: SSAValue, op: Operation, function: Function) -> bool:
    if not function.inside(value) or value.owner is function.block:
        return True
    return isinstance(value.owner, Operation) and _dominates(value.owner, op)
