"""From a program to GraphIR that says everything the emitter needs: schedules resolved, fixpoints lowered, races marked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf import passes, spec
from pantograf.errors import Refused
from pantograf.ir import graph as g
from pantograf.ir.location import place_of
from pantograf.machines.cpu.choose import LOW_DEGREE, SMALL_ROUNDS, CpuQuery, attached, queue_schedule, schedule_of
from pantograf.machines.cpu.far import edge_loops, own_edges
from pantograf.machines.cpu.schedule import Traverse
from pantograf.schedule import Hybrid, Schedule

IN_PLACE = "a fixpoint: its applies write in place, so nothing is copied"
"""What is written on a loop that was a fixpoint."""


def lower(module: ModuleOp, schedules: Mapping[str, Schedule], query: CpuQuery) -> ModuleOp:
    """A lowered copy of a program's module."""
    copy = module.clone()
    texts = {label: spec.show(schedule) for label, schedule in schedules.items()}
    stages = passes.pipeline(texts)
    at = next(i for i, stage in enumerate(stages) if isinstance(stage, passes.SplitHybrids))
    passes.run(copy, stages[:1], query)
    check_knobs(copy)
    passes.run(copy, stages[1:at], query)
    lower_fixpoints(copy, query)
    return passes.run(copy, stages[at:], query)


# --- knobs ------------------------------------------------------------------------------------------------------------


def check_knobs(module: ModuleOp) -> None:
    """Refuse a knob where it can have no effect: it would say something that is not so."""
    names = [op.out.name_hint or "" for op in module.walk() if isinstance(op, g.PropertyOp) and _scalar(op)]
    taken: dict[str, tuple[str, ...]] = {}
    for op in module.walk():
        found = attached(op)
        for fused in (found.fuse for found in [schedule_of(op)] if found is not None):
            for name in fused:
                if name not in names:
                    hint = f"properties of scalars: {', '.join(sorted(set(names))) or 'none'}"
                    raise Refused(f"cpu.fuse names {name!r}, which is no property of scalars here", place_of(op), hint)
                if taken.setdefault(name, fused) != fused:
                    raise Refused(f"cpu.fuse puts {name!r} into two records", place_of(op), "name it in one group")
        parts = [found] if isinstance(found, Traverse) else list(found.parts()) if isinstance(found, Hybrid) else []
        acting = acting_knobs(op)
        if isinstance(found, Hybrid) and not isinstance(op, g.EdgeApplyOp):
            raise Refused(
                "a hybrid schedule is for an edge apply", place_of(op), f"knobs here: {', '.join(acting) or 'none'}"
            )
        traversals = [part for part in parts if isinstance(part, Traverse)]
        mixed = isinstance(found, Hybrid) or any(part.direction in ("hybrid", "dense_push") for part in traversals)
        if mixed and isinstance(op, g.EdgeApplyOp) and op.from_ is None:
            raise Refused(
                "hybrid and dense_push look at a frontier, and this apply has none: it visits every edge",
                place_of(op),
                "direction=pull, or push",
            )
        for part in traversals:
            for knob in dataclasses.fields(part):
                if getattr(part, knob.name) != knob.default and knob.name not in acting:
                    label = op.properties["label"].data  # type: ignore[attr-defined]
                    hint = f"knobs here: {', '.join(acting) or 'none'}"
                    raise Refused(f"cpu.{knob.name} has no effect at {label!r}", place_of(op), hint)


def _scalar(op: g.PropertyOp) -> bool:
    return not isinstance(op.out.type.element, g.VectorType)


def acting_knobs(op: Operation) -> list[str]:
    """The knobs that change how an operation runs."""
    inside = list(op.walk())
    queue = ["priority", "delta", "buckets", "merge"]
    found: list[str] = []
    match op:
        case g.EdgeApplyOp():
            found = ["direction", "parallelism", "dealing", "grain", "fixpoint", "prefetch", "fuse"]
            found += ["segments", "segment_bytes", "balance"]
            found += ["frontier", "threshold"] if op.from_ is not None else []
            found += ["lookahead"] if not (op.from_ is None and op.to_ is None and op.to_filter is None) else []
            found += ["deduplicate"] if op.out is not None else []
            found += queue if any(isinstance(x, g.QueueUpdateOp) for x in inside) else []
            given = schedule_of(op)
            found += ["merge"] if given is None or given.fixpoint == "async" else []
        case g.VertexApplyOp() | g.WhereOp():
            found = ["parallelism", "dealing", "grain", "fuse"]
            found += ["prefetch"] if edge_loops(op) else []
            found += ["lookahead"] if own_edges(op) else []
        case g.QueueOp():
            found = queue
    if any(isinstance(x, g.IntersectOp) for x in inside) and not isinstance(op, (g.WhileOp, g.ForOp, g.ParForOp)):
        found.append("intersection")
    return found


# --- fixpoints --------------------------------------------------------------------------------------------------------


def lower_fixpoints(module: ModuleOp, query: CpuQuery) -> None:
    """Each fixpoint as a loop again, now with applies in place. `continues` says what a thread goes on with by itself: vertices
    that it changed (`local`), or its part of the current bucket (`queue`)."""
    for op in list(module.walk()):
        if isinstance(op, g.FixpointOp):
            if op.queue is not None:
                if (
                    query.shape is not None
                    and query.shape.mean_degree < LOW_DEGREE
                    and isinstance(op.queue.owner, g.QueueOp)
                ):
                    op.queue.owner.attributes[SMALL_ROUNDS] = UnitAttr()
                _queue_loop(op, op.queue)
            elif op.start is not None:
                _set_loop(op, op.start)


def _loop(op: g.FixpointOp, condition: Block, body: Block) -> g.WhileOp:
    loop = g.WhileOp(
        properties={"label": op.loop},
        regions=[Region(condition), Region(body)],
        attributes={"fixpoint": StringAttr(IN_PLACE)},
    )
    for inner in [loop, *condition.ops, *body.ops]:
        inner.location = op.location
    return loop


def _edge_apply(op: g.FixpointOp, active: SSAValue, out: bool) -> g.EdgeApplyOp:
    """The fixpoint's message as an edge function that reduces."""
    message = op.message.clone()
    block = message.block
    last = block.last_op
    assert isinstance(last, g.YieldOp)
    value = last.values[0]
    target = block.args[1]
    Rewriter.erase_op(last)
    if op.queue is not None:
        block.add_op(g.QueueUpdateOp(operands=[op.queue, target, value, []], properties={"kind": op.kind}))
    else:
        block.add_op(g.ReduceOp(operands=[op.state, value, [target]], properties={"kind": op.kind}, result_types=[[]]))
    block.add_op(g.YieldOp(operands=[[]]))
    apply = g.EdgeApplyOp(
        operands=[op.edges, [active], [], [op.state] if out else []],
        result_types=[[g.VertexSetType()] if out else []],
        properties={"label": op.label, "function": op.function, "in_place": UnitAttr()},
        regions=[[], [op.to_filter.clone()] if op.to_filter is not None else [], message],
        attributes={"any_order": UnitAttr()},
    )
    if "schedule" in op.attributes:
        apply.attributes["schedule"] = op.attributes["schedule"]
    given = schedule_of(op) or Traverse()
    if op.queue is not None and queue_schedule(op.queue).priority == "fused":
        apply.attributes["continues"] = StringAttr("queue")
    if op.queue is None and op.settle is None and given.fixpoint == "async":
        apply.attributes["continues"] = StringAttr("local")
    for inner in block.walk():
        inner.location = op.location
    return apply


def _set_loop(op: g.FixpointOp, start: SSAValue) -> None:
    kind = g.VertexSetType()
    before = Builder(InsertPoint.before(op))
    cell = before.insert(g.VariableOp(operands=[start], result_types=[g.CellType(kind)]))
    cell.out.name_hint = "frontier"
    cell.location = op.location
    get = g.GetOp(operands=[cell.out], result_types=[kind])
    size = g.SizeOp(operands=[get.out], result_types=[g.i64])
    zero = g.constant(0, g.i64)
    some = g.CompareOp(operands=[size.out, zero.out], properties={"kind": StringAttr("gt")}, result_types=[g.i1])
    condition = Block([get, size, zero, some, g.YieldOp(operands=[[some.out]])])
    active = g.GetOp(operands=[cell.out], result_types=[kind])
    apply = _edge_apply(op, active.out, out=True)
    assert apply.out is not None
    body = [active, apply]
    result: SSAValue = apply.out
    if op.settle is not None:
        where = g.WhereOp(
            operands=[apply.out],
            result_types=[kind],
            properties={"label": StringAttr(f"{op.label.data}.settle"), "function": op.function},
            regions=[op.settle.clone()],
        )
        body.append(where)
        result = where.out
    body.append(g.SetOp(operands=[cell.out, result]))
    before.insert(_loop(op, condition, Block(body)))
    Rewriter.erase_op(op)


def _queue_loop(op: g.FixpointOp, queue: SSAValue) -> None:
    before = Builder(InsertPoint.before(op))
    finished = g.QueueFinishedOp(operands=[queue], result_types=[g.i1])
    some = g.UnaryOp(operands=[finished.out], properties={"kind": StringAttr("not")}, result_types=[g.i1])
    condition = Block([finished, some, g.YieldOp(operands=[[some.out]])])
    pop = g.QueuePopOp(operands=[queue], result_types=[g.VertexSetType()])
    pop.out.name_hint = "bucket"
    body = Block([pop, _edge_apply(op, pop.out, out=False)])
    before.insert(_loop(op, condition, body))
    Rewriter.erase_op(op)
