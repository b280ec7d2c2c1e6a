"""What the CPU will not run, and why, at the program's line."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from pantograf.errors import Refused
from pantograf.ir import graph as g
from pantograf.ir.functions import functions_of, relation
from pantograf.ir.location import place_of
from pantograf.machines.cpu.choose import in_par_for, queue_schedule, schedule_of, tells_changes


def find_refusal(module: ModuleOp, deterministic: bool) -> Refused | None:
    """The first thing in a lowered program that cannot run."""
    for op in module.walk():
        found = _refusal(op, deterministic)
        if found is not None:
            message, hint = found
            return Refused(message, place_of(op), hint)
    return None


def _refusal(op: Operation, deterministic: bool) -> tuple[str, str] | None:
    match op:
        case g.FixpointOp():
            return "this fixpoint was not lowered", "report this"
        case g.VariableOp() if isinstance(op.value.type, (g.EdgesType, g.QueueType, g.ListType)):
            kind = g.type_name(op.value.type)
            return f"a variable that is given several {kind} is not supported on the cpu", "use one name for each"
        case g.EdgeApplyOp():
            return _edge_refusal(op) or (_racing(op, "dst") if deterministic else None)
        case g.VertexApplyOp() if deterministic:
            return _racing(op, "own")
        case g.ParForOp() if in_par_for(op):
            return "a par_for inside a par_for is not supported on the cpu", "use range for the inner loop"
        case g.QueueUpdateOp() if op.kind.data != "sum" and queue_schedule(op.queue).priority == "constant_sum":
            return f"constant_sum counts update_sum, and this is update_{op.kind.data}", "priority=eager, lazy or fused"
        case g.QueueUpdateOp() if queue_schedule(op.queue).priority == "constant_sum" and tells_changes(op.queue):
            return "constant_sum makes its updates after the apply, whose result they are", "priority=eager or lazy"
        case g.QueueOp():
            return _queue_refusal(op)
    return None


def _queue_refusal(op: g.QueueOp) -> tuple[str, str] | None:
    schedule = queue_schedule(op.out)
    around: Operation = op
    while (parent := around.parent_op()) is not None:
        around = parent
    for other in around.walk():
        if isinstance(other, g.QueueOp) and other is not op and relation(other.priority, op.priority) != "distinct":
            return "one property orders two queues", "give each a property of its own"
    if schedule.priority == "fused" and not _applied(op, "continues"):
        return (
            "fused needs a loop over this queue that may run in any order",
            "priority=eager or lazy; pantograf explain says why the loop is not a fixpoint",
        )
    if schedule.delta is not None and not _applied(op, "any_order") and not _depends_on_argument(op.delta):
        return (
            "another delta would give another answer: the program fixes the width of its buckets and their order",
            "leave delta out; or make it an argument of the program, if any width is right",
        )
    return None


def _applied(op: g.QueueOp, attribute: str) -> bool:
    """Whether the queue is used by an edge apply that has the attribute."""
    for use in op.out.uses:
        around: Operation | None = use.operation
        while around is not None:
            if isinstance(around, g.EdgeApplyOp) and attribute in around.attributes:
                return True
            around = around.parent_op()
    return False


def _depends_on_argument(value: SSAValue) -> bool:
    """Whether a value is computed from an argument of the program."""
    if isinstance(value, BlockArgument):
        return isinstance(value.owner.parent_op(), g.ProgramOp)
    return isinstance(value.owner, Operation) and any(map(_depends_on_argument, value.owner.operands))


def _edge_refusal(op: g.EdgeApplyOp) -> tuple[str, str] | None:
    schedule = schedule_of(op)
    if schedule is None or schedule.fixpoint != "async" or "continues" in op.attributes:
        return None
    if "any_order" not in op.attributes:
        return (
            "an asynchronous schedule needs a loop that may run in any order, and this one may not",
            f"fixpoint=rounds; {_why_not(op)}",
        )
    if any(isinstance(x, g.QueueUpdateOp) for x in op.walk()):
        return "the vertices of this loop wait in a queue: a thread goes on by priority=fused", "priority=fused"
    return "the vertices of this loop are settled when all threads have met: no thread goes on alone", "fixpoint=rounds"


def _why_not(op: Operation) -> str:
    """Why the loop around an apply is no fixpoint."""
    around = op.parent_op()
    while around is not None and not isinstance(around, g.WhileOp):
        around = around.parent_op()
    reason = around.attributes.get("fixpoint") if around is not None else None
    return reason.data if isinstance(reason, StringAttr) else "it does not stand in a while loop"


def _racing(op: Operation, own: str) -> tuple[str, str] | None:
    """The first write whose order would show: one that is not at `own`, the vertex that one thread decides on."""
    stores = [access for function in functions_of(op) for access in function.accesses() if access.kind == "store"]
    for function in functions_of(op):
        for access in function.accesses():
            floats = isinstance(access.op, g.ReduceOp) and g.is_float(access.op.value.type)
            racing = access.kind in ("store", "swap") or floats
            if racing and access.index != own and "atomic" in access.op.attributes:
                what = {"dst": "the destination", "own": "the function's own"}[own]
                return (
                    f"deterministic=true cannot order writes at a vertex that is not {what}",
                    f"deterministic=false, or write at {'dst' if own == 'dst' else 'v'}",
                )
    twice = [a for a in stores if sum(relation(a.handle, b.handle) != "distinct" for b in stores) > 1]
    looped = [a for a in stores if isinstance(_loop_around(a.op, op), Operation)]
    if isinstance(op, g.EdgeApplyOp) and (twice or looped):
        name = (twice or looped)[0].handle.name_hint or "a property"
        return f"deterministic=true cannot tell which of two writes to {name} in one call is the last", "write it once"
    return None


def _loop_around(op: Operation, end: Operation) -> Operation | None:
    around = op.parent_op()
    while around is not None and around is not end:
        if isinstance(around, (g.WhileOp, g.ForOp)):
            return around
        around = around.parent_op()
    return None
