"""What the CPU will not run, and why, at the program's line."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pantograf.errors import Refused
from pantograf.ir import graph as g
from pantograf.ir.functions import functions_of
from pantograf.ir.location import place_of
from pantograf.machines.cpu.lower import in_par_for, queue_schedule, schedule_of


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
            return _edge_refusal(op, deterministic)
        case g.ParForOp() if in_par_for(op):
            return "a par_for inside a par_for is not supported on the cpu", "use range for the inner loop"
        case g.QueueUpdateOp() if op.kind.data != "sum" and queue_schedule(op.queue).priority == "constant_sum":
            return f"constant_sum counts update_sum, and this is update_{op.kind.data}", "priority=eager, lazy or fused"
        case g.QueueOp() if queue_schedule(op.out).priority == "fused" and not _continues(op):
            return (
                "fused needs a loop over this queue that may run in any order",
                "priority=eager or lazy; pantograf explain says why the loop is not a fixpoint",
            )
    return None


def _continues(op: g.QueueOp) -> bool:
    for use in op.out.uses:
        around: Operation | None = use.operation
        while around is not None:
            if isinstance(around, g.EdgeApplyOp) and "continues" in around.attributes:
                return True
            around = around.parent_op()
    return False


def _edge_refusal(op: g.EdgeApplyOp, deterministic: bool) -> tuple[str, str] | None:
    schedule = schedule_of(op)
    if schedule is not None and schedule.fixpoint == "async" and "continues" not in op.attributes:
        return (
            "an asynchronous schedule needs a loop that may run in any order, and this one may not",
            "fixpoint=rounds; pantograf explain says why the loop is not a fixpoint",
        )
    if deterministic:
        for function in functions_of(op):
            for access in function.accesses():
                floats = isinstance(access.op, g.ReduceOp) and g.is_float(access.op.value.type)
                racing = access.kind in ("store", "swap") or floats
                if racing and access.index != "dst" and "atomic" in access.op.attributes:
                    return (
                        "deterministic=true cannot order writes at a vertex that is not the destination",
                        "deterministic=false, or write at dst",
                    )
    return None
