"""From a program to GraphIR that says everything the emitter needs: schedules resolved, fixpoints lowered, races marked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf import passes, spec
from pantograf.errors import Refused
from pantograf.ir import graph as g
from pantograf.ir.functions import functions_of
from pantograf.ir.location import place_of
from pantograf.machines.cpu.schedule import Traverse
from pantograf.passes.find_early_exits import claimed
from pantograf.schedule import Hybrid, Mixed, Schedule, Traversal, read

IN_PLACE = "a fixpoint: its applies write in place, so nothing is copied"
"""What is written on a loop that was a fixpoint."""

Direction = Literal["auto", "push", "dense_push", "pull", "hybrid"]
KINDS: Mapping[str, type[Schedule]] = {Traverse.spec_name: Traverse}


@lru_cache(maxsize=1024)
def _read(text: str) -> Schedule:
    return read(text, KINDS)


def attached(op: Operation) -> Schedule | None:
    """The schedule that was written on an operation."""
    text = op.attributes.get("schedule")
    return _read(text.data) if isinstance(text, StringAttr) else None


def schedule_of(op: Operation) -> Traverse | None:
    """The attached schedule of an operation as one `Traverse`: of a hybrid, the part that this operation is."""
    found = attached(op)
    while isinstance(found, Hybrid):
        first, second = found.parts()
        found = second if op.attributes.get("part") == StringAttr("sparse") else first
    assert found is None or isinstance(found, Traverse)
    return found


@dataclass(frozen=True)
class Choice:
    """A resolved schedule and the reason for what was chosen."""

    schedule: Traverse
    reason: str = ""


@dataclass(frozen=True)
class CpuQuery:
    """The CPU's answers to the passes."""

    deterministic: bool = False

    def traverse(self, op: Operation) -> Traversal | Mixed:
        """How an apply runs."""
        found = attached(op)
        if isinstance(found, Hybrid) and not self.deterministic and not in_par_for(op):
            dense, sparse = found.parts()
            return Mixed(_plain(dense), _plain(sparse), found.when)
        return self.choose(op).schedule.traversal()

    def raises(self, loop: g.WhileOp) -> bool:
        """Always: rounds in place need no copies of properties."""
        return True

    def choose(self, op: Operation) -> Choice:
        """The schedule of an apply with nothing left open."""
        return choose(op, self.deterministic)


def _plain(part: Schedule) -> Traversal:
    found = part.traversal()
    return found.dense if isinstance(found, Mixed) else found


def in_par_for(op: Operation) -> bool:
    """Whether an operation runs inside a par_for, where everything is serial."""
    around = op.parent_op()
    while around is not None:
        if isinstance(around, g.ParForOp):
            return True
        around = around.parent_op()
    return False


def choose(op: Operation, deterministic: bool) -> Choice:
    """The schedule of an apply with nothing left open, and why."""
    given = schedule_of(op) or Traverse()
    reason = "as scheduled"
    if isinstance(op, g.EdgeApplyOp):
        direction, reason = _direction(op, given, deterministic)
        segments = given.segments if direction in ("pull", "hybrid") else 0
        if direction == "hybrid" and isinstance(op.attributes.get("part"), StringAttr):
            direction = "push" if op.attributes["part"] == StringAttr("sparse") else "pull"
            segments = given.segments if direction == "pull" else 0
        settled = given.fixpoint if direction == "push" else "rounds"
        given = dataclasses.replace(given, direction=direction, segments=segments, fixpoint=settled)
    if in_par_for(op) and given.parallelism != "serial":
        given = dataclasses.replace(given, parallelism="serial")
        reason += "; serial, as it stands in a par_for"
    return Choice(given, reason)


def _direction(op: g.EdgeApplyOp, given: Traverse, deterministic: bool) -> tuple[Direction, str]:
    """`push`, `dense_push`, `pull` or `hybrid`, and the reason."""
    writes = [a for function in functions_of(op) for a in function.accesses() if a.writes]
    racing = [a for a in writes if a.index != "own"]
    if deterministic and racing and all(a.index == "dst" for a in racing):
        return "pull", "deterministic: one thread decides on each destination, over its sources in order"
    if deterministic and racing and all(a.index == "src" for a in racing):
        return "push", "deterministic: one thread decides on each source, over its destinations in order"
    if given.direction != "auto":
        return given.direction, "as scheduled"
    if op.from_ is not None and claimed(op) is not None:
        return "hybrid", "the first write settles a destination: pulling stops there while many sources are active"
    if (
        op.from_ is None
        and op.from_filter is None
        and writes
        and all(a.kind == "reduce" and a.index == "dst" for a in writes)
    ):
        return "pull", "every edge is visited and writes its destination only: pulling needs no atomics"
    return "push", "the out-edges of the active vertices alone are visited"


def lower(module: ModuleOp, schedules: Mapping[str, Schedule], deterministic: bool) -> ModuleOp:
    """A lowered copy of a program's module."""
    copy = module.clone()
    query = CpuQuery(deterministic)
    texts = {label: spec.show(schedule) for label, schedule in schedules.items()}
    stages = passes.pipeline(texts)
    at = next(i for i, stage in enumerate(stages) if isinstance(stage, passes.SplitHybrids))
    passes.run(copy, stages[:1], query)
    check_knobs(copy)
    passes.run(copy, stages[1:at], query)
    lower_fixpoints(copy)
    return passes.run(copy, stages[at:], query)


# --- knobs ------------------------------------------------------------------------------------------------------------


def check_knobs(module: ModuleOp) -> None:
    """Refuse a knob where it can have no effect: it would say something that is not so."""
    for op in module.walk():
        found = attached(op)
        parts = [found] if isinstance(found, Traverse) else list(found.parts()) if isinstance(found, Hybrid) else []
        acting = acting_knobs(op)
        if isinstance(found, Hybrid) and not isinstance(op, g.EdgeApplyOp):
            raise Refused(
                "a hybrid schedule is for an edge apply", place_of(op), f"knobs here: {', '.join(acting) or 'none'}"
            )
        for part in parts:
            for knob in dataclasses.fields(part):
                if getattr(part, knob.name) != knob.default and knob.name not in acting and isinstance(part, Traverse):
                    label = op.properties["label"].data  # type: ignore[attr-defined]
                    hint = f"knobs here: {', '.join(acting) or 'none'}"
                    raise Refused(f"cpu.{knob.name} has no effect at {label!r}", place_of(op), hint)


def acting_knobs(op: Operation) -> list[str]:
    """The knobs that change how an operation runs."""
    inside = list(op.walk())
    queue = ["priority", "delta", "buckets", "merge"]
    found: list[str] = []
    match op:
        case g.EdgeApplyOp():
            found = ["direction", "parallelism", "dealing", "grain", "segments", "fixpoint", "merge", "prefetch"]
            found += ["frontier", "threshold"] if op.from_ is not None else []
            found += ["deduplicate"] if op.out is not None else []
            found += (
                [knob for knob in queue if knob != "merge"]
                if any(isinstance(x, g.QueueUpdateOp) for x in inside)
                else []
            )
        case g.VertexApplyOp() | g.WhereOp():
            found = ["parallelism", "dealing", "grain"]
        case g.QueueOp():
            found = queue
    if any(isinstance(x, g.IntersectOp) for x in inside) and not isinstance(op, (g.WhileOp, g.ForOp, g.ParForOp)):
        found.append("intersection")
    return found


# --- fixpoints --------------------------------------------------------------------------------------------------------


def lower_fixpoints(module: ModuleOp) -> None:
    """Each fixpoint as a loop again, now with applies in place. `continues` says what a thread goes on with by itself: vertices
    that it changed (`local`), or its part of the current bucket (`queue`)."""
    for op in list(module.walk()):
        if isinstance(op, g.FixpointOp):
            if op.queue is not None:
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


def queue_schedule(queue: SSAValue) -> Traverse:
    """The knobs of a queue: those at its own label, then those of the applies that update it."""
    found: list[Traverse] = []
    owner = queue.owner
    if isinstance(queue, OpResult) and isinstance(owner, g.QueueOp) and (own := schedule_of(owner)) is not None:
        found.append(own)
    for use in queue.uses:
        around: Operation | None = use.operation
        while around is not None:
            if (
                isinstance(around, (g.EdgeApplyOp, g.VertexApplyOp, g.FixpointOp))
                and (at := schedule_of(around)) is not None
            ):
                found.append(at)
            around = around.parent_op()
    settled = Traverse()
    for each in found:
        for name in ("priority", "delta", "buckets", "merge"):
            if getattr(settled, name) == getattr(Traverse(), name):
                settled = dataclasses.replace(settled, **{name: getattr(each, name)})
    if settled.priority == "auto":
        settled = dataclasses.replace(settled, priority="eager")
    return settled
