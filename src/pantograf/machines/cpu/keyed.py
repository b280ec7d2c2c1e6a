"""Which priority queues need no flag for each vertex, because an entry can say by itself whether it still counts."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import APPLIES, functions_of, relation
from pantograf.machines.cpu.choose import queue_schedule

_READS = (g.QueuePopOp, g.QueueFinishedNodeOp, g.QueuePriorityOp)


def is_keyed(queue: SSAValue, wide: bool) -> bool:
    """Whether every change gives a vertex a priority that it never had: all go one way, nothing but the queue writes priorities,
    and one vertex at most is queued otherwise. (Vertex and priority have to fit one word.)"""
    op = queue.owner
    if not isinstance(queue, OpResult) or not isinstance(op, g.QueueOp) or wide or op.start.data != "none":
        return False
    element = op.priority.type.element  # type: ignore[attr-defined]
    if not isinstance(element, IntegerType) or element.width.data != 32:
        return False
    if queue_schedule(queue).priority not in ("eager", "fused"):
        return False
    way, added = "min" if op.order.data == "lowest" else "max", 0
    for use in queue.uses:
        match use.operation:
            case g.QueueUpdateOp() as update if update.kind.data == way:
                pass
            case g.QueueAddOp() as add if isinstance(add.parent_op(), g.ProgramOp):
                added += 1
            case g.QueueFinishedOp() as asked if not _in_function(asked):
                pass
            case found if not isinstance(found, _READS):
                return False
    return added <= 1 and not _written_elsewhere(op)


def _in_function(op: Operation) -> bool:
    around = op.parent_op()
    while around is not None and not isinstance(around, APPLIES):
        around = around.parent_op()
    return around is not None


def _written_elsewhere(queue: g.QueueOp) -> bool:
    """Whether anything but the queue may write its priorities."""
    program: Operation | None = queue.parent_op()
    while program is not None and not isinstance(program, g.ProgramOp):
        program = program.parent_op()
    assert program is not None
    for op in program.walk():
        handles: list[SSAValue] = []
        match op:
            case g.StoreOp() | g.ReduceOp() | g.CompareAndSwapOp() | g.FillOp() | g.AssignOp():
                handles = [op.target]
            case _ if isinstance(op, APPLIES):
                handles = [
                    a.handle
                    for function in functions_of(op)
                    for a in function.accesses()
                    if a.writes and getattr(a.op, "queue", None) is not queue.out
                ]
        if any(isinstance(h.type, g.PropertyType) and relation(h, queue.priority) != "distinct" for h in handles):
            return True
    return False


def popped_next(op: g.QueueFinishedOp) -> g.QueuePopOp | None:
    """The pop that a loop begins with whose condition asks this: what was found out for the one serves the other."""
    loop = op.parent_op()
    if not isinstance(loop, g.WhileOp) or op.parent_block() is not loop.condition.block:
        return None
    first = loop.body.block.first_op
    return first if isinstance(first, g.QueuePopOp) and first.queue is op.queue else None
