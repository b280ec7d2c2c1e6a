"""Loops that may run in any order: `while frontier: frontier = edges.from_(frontier).apply(relax, modified=p)`, and over a queue.

The edge function must do nothing but combine a message into `p[dst]` by min, max or or, and the message must never get worse
when `p[src]` gets better. Then the last values are the best over all paths from the first frontier, whichever way the messages
travelled. (Arithmetic is taken as exact: an overflow is an overflow in any order, but perhaps not the same.) Or it sends deltas,
see `deltas`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf.ir import graph as g
from pantograf.ir.functions import (
    APPLIES,
    LOOPS,
    PURE,
    READS,
    Function,
    canonical,
    function_around,
    function_of,
    functions_of,
    place_shown,
    relation,
    roots,
    shown,
)
from pantograf.passes import deltas
from pantograf.passes.monotone import AGAINST, STILL, Movement, WhyNot
from pantograf.passes.query import Query
from pantograf.passes.recognize_reductions import drop_dead

_MAY_STOP = "the loop may stop while vertices are still active: what is done by then depends on the order"


@dataclass(frozen=True)
class RaiseFixpoints:
    """Turn each loop that may run in any order into `graph.fixpoint`; write on each other loop why it may not."""

    spec_name: ClassVar[str] = "raise-fixpoints"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Raise, or say why not."""
        for op in list(module.walk()):
            if isinstance(op, g.WhileOp) and function_around(op) is None:
                try:
                    found = _recognize(op)
                except WhyNot as reason:
                    op.attributes["fixpoint"] = StringAttr(str(reason))
                else:
                    if query.raises(op):
                        _raise(found)
                    else:
                        op.attributes["fixpoint"] = StringAttr("legal, but the schedule keeps the rounds")


@dataclass
class _Found:
    """A loop that is a fixpoint: what it is made of."""

    loop: g.WhileOp
    apply: g.EdgeApplyOp
    frontier: SSAValue | None
    """The variable that holds the frontier; none where a queue does."""
    queue: SSAValue | None
    state: SSAValue
    kind: str
    writes: list[Operation]
    settle: g.WhereOp | None = None


def _recognize(loop: g.WhileOp) -> _Found:
    condition = _condition(loop)
    _only_known(loop)
    applies = [op for op in loop.body.block.ops if isinstance(op, APPLIES)]
    if len(applies) == 2 and isinstance(applies[0], g.EdgeApplyOp) and isinstance(applies[1], g.WhereOp):
        return _recognize_deltas(loop, applies[0], applies[1], condition)
    if len(applies) != 1 or not isinstance(applies[0], g.EdgeApplyOp):
        if len(applies) > 1:
            raise WhyNot(applies[1], "a second apply runs in each round: each needs what the other has finished")
        raise WhyNot(applies[0] if applies else loop, "the loop does not send messages along edges")
    apply = applies[0]
    frontier, queue = (None, condition) if isinstance(condition.type, g.QueueType) else (condition, None)
    if frontier is not None:
        _frontier_shape(loop, apply, frontier)
        if apply.modified is None:
            raise WhyNot(apply, "which vertices are active next is not which changed: write modified=")
    else:
        assert queue is not None
        _queue_shape(loop, apply, queue)
    function = function_of(apply, "apply")
    state, kind, writes = _writes(function, queue)
    movement = Movement(function, state, kind)
    for write in writes:
        value = write.operands[1] if isinstance(write, g.ReduceOp) else write.operands[2]
        if movement.of(value) == AGAINST:
            raise WhyNot(write, f"the message falls when {movement.source} rises: a {kind} of it depends on the order")
        _guards(write, function, movement)
    if apply.modified is not None and relation(apply.modified, state) != "same":
        raise WhyNot(apply, f"the frontier holds what changed in {shown(apply.modified)}, not in {shown(state)}")
    _filters(apply, state, frontier)
    return _Found(loop, apply, frontier, queue, state, kind, writes)


def _recognize_deltas(loop: g.WhileOp, apply: g.EdgeApplyOp, settle: g.WhereOp, frontier: SSAValue) -> _Found:
    """The form with a second function, `settle`, that decides which vertices pass on what they received."""
    if isinstance(frontier.type, g.QueueType) or apply.out is None or apply.modified is None:
        raise WhyNot(settle, "a second apply runs in each round: each needs what the other has finished")
    if settle.vertices is not apply.out:
        raise WhyNot(settle, "settling has to look at just the vertices that received something: received.where(...)")
    _frontier_shape(loop, apply, frontier, settle)
    function = function_of(apply, "apply")
    effects = function.effects()
    for op in effects:
        if not isinstance(op, g.ReduceOp) or op.kind.data != "sum" or isinstance(op.target.type, g.CellType):
            raise WhyNot(op, "beside a settling function, the edge function has to add one message to its destination")
        if len(op.at) != 1 or op.at[0] is not function.block.args[1]:
            raise WhyNot(op, f"the function writes {place_shown(op.target, op.at)}, not at its destination")
    if len(effects) != 1:
        raise WhyNot(apply, "beside a settling function, the edge function has to add one message to its destination")
    write = effects[0]
    assert isinstance(write, g.ReduceOp)
    if relation(apply.modified, write.target) != "same":
        raise WhyNot(apply, f"the function writes {shown(write.target)}, and {shown(apply.modified)} says who received")
    if write.parent_block() is not function.block:
        raise WhyNot(write, "whether a message is sent depends on a condition")
    deltas.check(function, write, settle)
    changed = [write.target, *(access.handle for access in function_of(settle, "apply").accesses() if access.writes)]
    for state in changed:
        _filters(apply, state, frontier)
    return _Found(loop, apply, frontier, None, write.target, "sum", [write], settle)


def _condition(loop: g.WhileOp) -> SSAValue:
    """The variable of the frontier, or the queue, that keeps the loop running."""
    last = loop.condition.block.last_op
    assert isinstance(last, g.YieldOp)
    found = _asks(last.values[0])
    if found is None:
        if any(_asks(value) is not None for op in loop.condition.walk() for value in op.results if value.uses):
            raise WhyNot(loop, _MAY_STOP)
        raise WhyNot(loop, "the loop does not run just while a frontier or a queue has members")
    return found


def _asks(value: SSAValue) -> SSAValue | None:
    """The variable or queue, if `value` is whether it has members."""
    op = value.owner
    if isinstance(op, g.UnaryOp) and op.kind.data == "not":
        inner = op.value.owner
        if isinstance(inner, g.QueueFinishedOp):
            return inner.queue
        return _sized(inner, ("eq", "le", "lt"))
    return _sized(op, ("ne", "gt", "ge"))


def _sized(op: Operation | Block, kinds: tuple[str, ...]) -> SSAValue | None:
    """The variable whose set's size `op` compares with 0: `kinds` are `== 0`, `<= 0`, `< 1`, or their opposites."""
    if not isinstance(op, g.CompareOp):
        return None
    flipped = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
    for size, number, kind in ((op.left, op.right, op.kind.data), (op.right, op.left, op.kind.data)):
        if size is op.right:
            kind = flipped.get(kind, kind)
        if not isinstance(size.owner, g.SizeOp) or not isinstance(number.owner, g.ConstantOp):
            continue
        wanted = {kinds[0]: 0, kinds[1]: 0, kinds[2]: 1}
        got = size.owner.source.owner
        if wanted.get(kind) == g.constant_value(number.owner) and isinstance(got, g.GetOp):
            return got.variable
    return None


def _only_known(loop: g.WhileOp) -> None:
    """Check that the loop does nothing that shows its rounds."""
    for op in loop.body.walk():
        around = function_around(op)
        if around is not None and loop.is_ancestor(around.op):
            continue
        match op:
            case g.PrintOp():
                raise WhyNot(op, "each round prints")
            case g.BreakOp():
                raise WhyNot(op, _MAY_STOP)
            case g.ContinueOp():
                raise WhyNot(op, "a round may be cut short")
            case g.SetOp() if (
                not isinstance(op.variable.type, g.CellType) or op.variable.type.element != g.VertexSetType()
            ):
                raise WhyNot(
                    op, f"{shown(op.variable)} is set in each round, and rounds have no meaning in another order"
                )
            case g.AppendOp() | g.ListPopOp() | g.ListGetOp():
                raise WhyNot(op, "each round's vertices are kept in a list")
            case g.SizeOp() if list(op.out.uses):
                raise WhyNot(op, "each round asks how many vertices are active")
            case g.TimerStartOp() | g.TimerStopOp():
                raise WhyNot(op, "each round is timed")
            case g.AssignOp() | g.FillOp() | g.StoreOp() | g.ReduceOp() | g.CompareAndSwapOp():
                raise WhyNot(op, f"each round also writes {shown(op.operands[0])}")
            case g.AggregateOp() | g.LoadOp() if list(op.results[0].uses):
                raise WhyNot(op, f"each round also reads {shown(op.operands[0])}")
            case g.IfOp():
                raise WhyNot(op, "what a round does depends on a condition")
            case g.WhileOp() | g.ForOp() | g.ParForOp():
                raise WhyNot(op, "each round runs a loop of its own")
            case g.QueueAddOp() | g.AddOp():
                raise WhyNot(op, "each round makes vertices active in another way")
            case g.SetOp() | g.QueuePopOp() | g.EdgeApplyOp() | g.VertexApplyOp() | g.WhereOp() | g.YieldOp():
                pass
            case _ if not isinstance(op, (*PURE, *READS)):
                raise WhyNot(op, f"each round also does {op.name.removeprefix('graph.')}")


def _frontier_shape(loop: g.WhileOp, apply: g.EdgeApplyOp, frontier: SSAValue, settle: g.WhereOp | None = None) -> None:
    """Check `frontier = edges.from_(frontier)...apply(...)`, perhaps with `.where(settle)` behind it."""
    changed = apply.out if settle is None else settle.out
    name = shown(frontier)
    source = apply.from_.owner if apply.from_ is not None else None
    if not isinstance(source, g.GetOp) or source.variable is not frontier:
        raise WhyNot(apply, f"the apply does not start from {name}")
    for use in frontier.uses:
        op = use.operation
        if not loop.body.is_ancestor(op):
            continue
        if isinstance(op, g.SetOp) and op.value is not changed:
            raise WhyNot(op, f"{name} is not just what the apply changed")
        if isinstance(op, g.GetOp) and any(user.operation is not apply or user.index != 1 for user in op.out.uses):
            raise WhyNot(op, f"{name} is used for something else in each round")
    sets = [op for op in loop.body.block.ops if isinstance(op, g.SetOp)]
    if len(sets) != 1 or sets[0].variable is not frontier:
        raise WhyNot(sets[0] if sets else apply, f"{name} does not become what the apply changed")
    if any(out is not None and len(list(out.uses)) != 1 for out in (apply.out, changed)):
        raise WhyNot(apply, "what the apply changed is used for something else in each round")


def _queue_shape(loop: g.WhileOp, apply: g.EdgeApplyOp, queue: SSAValue) -> None:
    """Check `edges.from_(queue.pop())...apply(...)`, or the same through a variable."""
    source = apply.from_.owner if apply.from_ is not None else None
    sets = [op for op in loop.body.block.ops if isinstance(op, g.SetOp)]
    if isinstance(source, g.GetOp) and len(sets) == 1 and sets[0].variable is source.variable:
        if any(not loop.body.is_ancestor(use.operation) for use in source.variable.uses if _reads(use.operation)):
            raise WhyNot(sets[0], f"{shown(source.variable)}, the last bucket, is used after the loop")
        source = sets[0].value.owner
    elif sets:
        raise WhyNot(
            sets[0], f"{shown(sets[0].variable)} is set in each round, and rounds have no meaning in another order"
        )
    pops = [op for op in loop.body.walk() if isinstance(op, g.QueuePopOp)]
    if len(pops) != 1 or source is not pops[0] or canonical(pops[0].queue) is not canonical(queue):
        raise WhyNot(apply, "the apply does not start from the queue's next bucket")
    if len(list(pops[0].out.uses)) != 1:
        raise WhyNot(pops[0], "the bucket is used for something else in each round")
    if apply.out is not None and list(apply.out.uses):
        raise WhyNot(apply, "what the apply changed is used in each round")


def _reads(op: Operation) -> bool:
    return isinstance(op, g.GetOp)


def _writes(function: Function, queue: SSAValue | None) -> tuple[SSAValue, str, list[Operation]]:
    """The property that the function combines into, how, and where; a function that does anything else is a `WhyNot`."""
    effects = function.effects()
    if not effects:
        raise WhyNot(function.op, "the edge function writes nothing")
    found: list[tuple[SSAValue, str]] = []
    for op in effects:
        found.append(_write(op, function, queue))
    state, kind = found[0]
    for (other, how), op in zip(found, effects, strict=True):
        if relation(other, state) != "same" or how != kind:
            raise WhyNot(
                op, f"the function writes {shown(other)} as well as {shown(state)}: they would get out of step"
            )
    return state, kind, effects


def _write(op: Operation, function: Function, queue: SSAValue | None) -> tuple[SSAValue, str]:
    match op:
        case g.StoreOp():
            place = place_shown(op.target, op.at)
            raise WhyNot(
                op,
                f"{place} = {shown(op.value)} keeps one of the values written, and another order would keep another; "
                "write it with min, max or or",
            )
        case g.CompareAndSwapOp():
            place = place_shown(op.target, [op.vertex])
            raise WhyNot(op, f"compare_and_swap on {place} succeeds once: another order would choose another edge")
        case g.PrintOp():
            raise WhyNot(op, "the edge function prints")
        case g.ReduceOp() if isinstance(op.target.type, g.CellType):
            raise WhyNot(op, f"{shown(op.target)} counts over all calls, and another order makes more or fewer calls")
        case g.ReduceOp() | g.QueueUpdateOp():
            vertex = op.at[0] if isinstance(op, g.ReduceOp) else op.vertex
            target = op.target if isinstance(op, g.ReduceOp) else _priority(op)
            place = place_shown(target, [vertex])
            if op.kind.data == "sum":
                raise WhyNot(op, f"{place} adds up one message per edge and round; another order sends more or fewer")
            if vertex is not function.block.args[1]:
                raise WhyNot(op, f"the function writes {place}, not at its destination")
            if isinstance(op, g.ReduceOp) and len(op.at) > 1:
                raise WhyNot(op, f"{shown(target)} holds vectors: a vertex would be active for one element of many")
            if isinstance(op, g.ReduceOp) == (queue is not None):
                raise WhyNot(op, f"{place} is not written through what keeps the loop running")
            if isinstance(op, g.QueueUpdateOp) and canonical(op.queue) is not canonical(queue or op.queue):
                raise WhyNot(op, f"{shown(op.queue)} is not the queue that keeps the loop running")
            if isinstance(op, g.ReduceOp) and op.out is not None and list(op.out.uses):
                raise WhyNot(op, f"uses whether {place} changed: that depends on the order")
            return target, op.kind.data
    raise WhyNot(op, f"the edge function does {op.name.removeprefix('graph.')}")


def _priority(op: g.QueueUpdateOp) -> SSAValue:
    found = [root.op for root in roots(op.queue) if isinstance(root, OpResult) and isinstance(root.op, g.QueueOp)]
    if len(found) != 1:
        raise WhyNot(op, f"{shown(op.queue)} may be one of several queues")
    return found[0].priority


def _guards(write: Operation, function: Function, movement: Movement) -> None:
    """Check the conditions under which a message is sent: once they hold, a better source must not undo them."""
    inner: Operation = write
    around = write.parent_op()
    while around is not None and around is not function.op:
        if isinstance(around, g.IfOp):
            fine = movement.improves(around.condition) if around.then.is_ancestor(inner) else None
            if fine is False or (fine is None and movement.of(around.condition) != STILL):
                raise WhyNot(
                    write, f"whether the message is sent depends on {movement.source}, and a better value may stop it"
                )
        elif isinstance(around, LOOPS):
            movement.steady(write)
        inner, around = around, around.parent_op()


def _filters(apply: g.EdgeApplyOp, state: SSAValue, frontier: SSAValue | None) -> None:
    """Check that no filter looks at what the loop changes."""
    for function in functions_of(apply):
        if function.role == "apply":
            continue
        for access in function.accesses():
            if relation(access.handle, state) != "distinct":
                place = place_shown(access.handle, access.at)
                vertex = "source" if function.role == "from_filter" else "destination"
                raise WhyNot(
                    access.op,
                    f"the filter reads {place}, which the loop changes: a {vertex} reached late could be left out, or a first "
                    "value never improved",
                )
        if function.effects():
            raise WhyNot(function.effects()[0], "the filter writes")
    for function in functions_of(apply):
        for op in function.operations():
            if isinstance(op, (g.ContainsOp, g.SizeOp)) and frontier is not None:
                got = op.source.owner
                if isinstance(got, g.GetOp) and got.variable is frontier:
                    raise WhyNot(op, f"the function looks into {shown(frontier)}, which differs in another order")
    if apply.to_ is not None and frontier is not None and canonical(apply.to_) is frontier:
        raise WhyNot(apply, f"messages go to {shown(frontier)} only, which differs in another order")


# --- building ---------------------------------------------------------------------------------------------------------


def _raise(found: _Found) -> None:
    loop, apply = found.loop, found.apply
    builder = Builder(InsertPoint.before(loop))
    _hoist(found)
    start: list[SSAValue] = []
    if found.frontier is not None:
        first = builder.insert(g.GetOp(operands=[found.frontier], result_types=[g.VertexSetType()]))
        first.location = loop.location
        first.out.name_hint = found.frontier.name_hint
        start = [first.out]
    no_region: list[Region] = []
    to_filter = _to_filter(found)
    properties: dict[str, Attribute] = {
        "label": apply.label,
        "loop": loop.label,
        "function": apply.function,
        "kind": StringAttr(found.kind),
    }
    queue = [found.queue] if found.queue is not None else []
    fixpoint = g.FixpointOp(
        operands=[apply.edges, _outer(found.state, builder), start, queue],
        result_types=[],
        properties=properties,
        regions=[
            [to_filter] if to_filter is not None else no_region,
            _message(found),
            [found.settle.apply.clone()] if found.settle is not None else no_region,
        ],
    )
    fixpoint.location = apply.location
    schedules = [op.attributes["schedule"] for op in (apply, loop) if "schedule" in op.attributes]
    for name, schedule in zip(("schedule", "loop_schedule"), schedules, strict=False):
        fixpoint.attributes[name] = schedule
    if found.settle is not None and "schedule" in found.settle.attributes:
        fixpoint.attributes["settle_schedule"] = found.settle.attributes["schedule"]
    builder.insert(fixpoint)
    if found.frontier is not None and _read_elsewhere(found):
        empty = builder.insert(g.VertexSetOp(operands=[apply.edges, []], result_types=[g.VertexSetType()]))
        ended = builder.insert(g.SetOp(operands=[found.frontier, empty.out]))
        empty.location = ended.location = loop.location
    Rewriter.erase_op(loop)


def _read_elsewhere(found: _Found) -> bool:
    """Whether anything outside the loop may read the variable of the frontier afterwards."""
    assert found.frontier is not None
    gets = [use.operation for use in found.frontier.uses if isinstance(use.operation, g.GetOp)]
    outside = [op for op in gets if not found.loop.is_ancestor(op)]
    return len(outside) > 1 or isinstance(found.loop.parent_op(), (*LOOPS, g.IfOp))


def _hoist(found: _Found) -> None:
    """Move before the loop what the apply is given: it is the same in every round."""
    block, parent = found.loop.body.block, found.loop.parent_block()
    assert parent is not None
    for op in list(block.ops):
        frontier = isinstance(op, g.GetOp) and (op.variable is found.frontier or op.out is found.apply.from_)
        if isinstance(op, (*PURE, g.GetOp)) and not frontier:
            block.detach_op(op)
            parent.insert_op_before(op, found.loop)


def _outer(handle: SSAValue, builder: Builder) -> SSAValue:
    """A handle that is read from a variable inside the function, read before the loop instead."""
    owner = handle.owner
    if isinstance(owner, g.GetOp) and function_around(owner) is not None:
        return builder.insert(g.GetOp(operands=[owner.variable], result_types=[handle.type])).out
    return handle


def _message(found: _Found) -> Region:
    """The edge function as a message: what it would have combined into the destination."""
    apply = found.apply
    if apply.from_filter is not None:
        _inline_filter(apply)
    region = apply.apply.clone()
    block = region.block
    pairs = dict(zip(apply.apply.walk(), region.walk(), strict=True))
    writes = [pairs[write] for write in found.writes]
    last = block.last_op
    assert last is not None
    if len(writes) == 1 and writes[0].parent_block() is block:
        value = _value(writes[0])
        Rewriter.erase_op(writes[0])
    else:
        value = _gathered(block, writes, found)
    Rewriter.replace_op(last, g.YieldOp(operands=[[value]]), new_results=[])
    drop_dead(block)
    return region


def _value(write: Operation) -> SSAValue:
    return write.operands[1] if isinstance(write, g.ReduceOp) else write.operands[2]


def _gathered(block: Block, writes: list[Operation], found: _Found) -> SSAValue:
    """The combination of all messages of one call, kept in a variable that starts with what changes nothing."""
    t = _value(writes[0]).type
    start = Builder(InsertPoint.at_start(block))
    kind = "add" if found.kind == "sum" else found.kind
    nothing = start.insert(nothing_to_say(found.kind, t))
    cell = start.insert(g.VariableOp(operands=[nothing.out], result_types=[g.CellType(t)]))
    cell.out.name_hint = "message"
    for write in writes:
        here = Builder(InsertPoint.before(write))
        so_far = here.insert(g.GetOp(operands=[cell.out], result_types=[t]))
        both = here.insert(
            g.BinaryOp(operands=[so_far.out, _value(write)], properties={"kind": StringAttr(kind)}, result_types=[t])
        )
        here.insert(g.SetOp(operands=[cell.out, both.out]))
        Rewriter.erase_op(write)
    last = block.last_op
    assert last is not None
    return Builder(InsertPoint.before(last)).insert(g.GetOp(operands=[cell.out], result_types=[t])).out


def nothing_to_say(kind: str, t: Attribute) -> g.ConstantOp:
    """The constant that a reduction of this kind ignores."""
    if kind in ("or", "sum"):
        return g.constant(0, t)
    if kind == "min":
        return g.constant(True if t == g.i1 else g.infinity(t), t)
    if isinstance(t, g.VertexType):
        return g.constant(None, t)
    if g.is_float(t):
        return g.constant(float("-inf"), t)
    return g.constant(0 if t == g.i1 or g.is_unsigned(t) else -int(g.infinity(t)) - 1, t)


def _inline_filter(apply: g.EdgeApplyOp) -> None:
    """Put the from filter into the function, as an `if` round the rest."""
    assert apply.from_filter is not None
    test = apply.from_filter.clone().block
    body = apply.apply.block
    test.args[0].replace_all_uses_with(body.args[0])
    answer = test.last_op
    assert isinstance(answer, g.YieldOp)
    condition = answer.values[0]
    inner = [op for op in body.ops if op is not body.last_op]
    moved = Block()
    for op in inner:
        body.detach_op(op)
        moved.add_op(op)
    for op in list(test.ops):
        test.detach_op(op)
        if op is not answer:
            assert body.last_op is not None
            body.insert_op_before(op, body.last_op)
    choice = g.IfOp(operands=[condition], regions=[Region(moved), Region(Block())])
    assert body.last_op is not None
    body.insert_op_before(choice, body.last_op)


def _to_filter(found: _Found) -> Region | None:
    """The filter of destinations; a set of destinations becomes part of it."""
    apply = found.apply
    region = apply.to_filter.clone() if apply.to_filter is not None else None
    if apply.to_ is None:
        return region
    if region is None:
        region = Region(Block([g.YieldOp(operands=[[]])], arg_types=[g.VertexType()]))
        region.block.args[0].name_hint = "v"
    last = region.block.last_op
    assert isinstance(last, g.YieldOp)
    here = Builder(InsertPoint.before(last))
    member = here.insert(g.ContainsOp(operands=[apply.to_, region.block.args[0]], result_types=[g.i1]))
    answer: SSAValue = member.out
    if last.values:
        answer = here.insert(
            g.BinaryOp(operands=[last.values[0], answer], properties={"kind": StringAttr("and")}, result_types=[g.i1])
        ).out
    Rewriter.replace_op(last, g.YieldOp(operands=[[answer]]), new_results=[])
    return region
