"""Which applies could put a vertex twice into a list that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import function_of, functions_of, relation
from pantograf.passes.find_early_exits import claimed
from pantograf.passes.query import Query, in_place, traversal


@dataclass(frozen=True)
class Deduplicate:
    """Mark `deduplicate` an edge apply whose result could name a vertex more than once.

    It cannot when the apply pulls (one worker decides on a destination), when the author says so (`keep_duplicates`), or when
    the one store claims a vertex: `replaces`, the value it takes the place of, is written on the store, and a compare-and-swap
    from that value succeeds once. A schedule that asks for no deduplication gets that where nobody could see the difference.
    """

    spec_name: ClassVar[str] = "deduplicate"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Mark."""
        for op in module.walk():
            if not isinstance(op, g.EdgeApplyOp) or op.out is None:
                continue
            constant = claimed(op)
            if constant is not None:
                function_of(op, "apply").effects()[0].attributes["replaces"] = constant.value
            pulls = op.attributes.get("direction") == StringAttr("pull")
            if pulls or op.keep_duplicates is not None or constant is not None:
                continue
            if traversal(op, query).deduplicate or not _unseen(op.out):
                op.attributes["deduplicate"] = UnitAttr()


def _unseen(result: SSAValue) -> bool:
    """Whether nothing that is done with a set depends on how often a vertex stands in it."""
    seen: set[SSAValue] = set()
    todo = [result]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            match use.operation:
                case g.SetOp() | g.VariableOp():
                    cell = use.operation.variable if isinstance(use.operation, g.SetOp) else use.operation.out
                    todo += [u.operation.out for u in cell.uses if isinstance(u.operation, g.GetOp)]
                case g.SizeOp():
                    if not all(_with_zero(u.operation) for u in use.operation.out.uses):
                        return False
                case g.ContainsOp() | g.IsDenseOp():
                    pass
                case g.EdgeApplyOp() if _repeatable(use.operation):
                    pass
                case g.VertexApplyOp() if _repeatable(use.operation):
                    todo += use.operation.results
                case _:
                    return False
    return True


def _with_zero(op: Operation) -> bool:
    if not isinstance(op, g.CompareOp):
        return False
    sides = [v.owner for v in (op.left, op.right)]
    return any(isinstance(s, g.ConstantOp) and g.constant_value(s) == 0 for s in sides)


def _repeatable(op: Operation) -> bool:
    """Whether calling the functions of `op` twice for a vertex, perhaps at once, does what calling them once does."""
    accesses = [access for function in functions_of(op) for access in function.accesses()]
    for write in accesses:
        read = any(relation(a.handle, write.handle) != "distinct" for a in accesses if not a.writes)
        if write.writes and read and (write.kind == "store" or write.index in ("own", "src")):
            return False
    for effect in [effect for function in functions_of(op) for effect in function.effects()]:
        if isinstance(effect, g.StoreOp) and not in_place(op):
            continue
        if not isinstance(effect, (g.ReduceOp, g.QueueUpdateOp)) or effect.kind.data == "sum":
            return False
    return all(write.index not in ("own", "src") or write.kind == "store" for write in accesses if write.writes)
