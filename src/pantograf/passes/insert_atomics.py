"""Which writes of functions race, given the direction and what runs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import APPLIES, Access, Index, functions_of, roots
from pantograf.passes.query import Query, traversal


@dataclass(frozen=True)
class InsertAtomics:
    """Mark `atomic` each write that another call may make to the same place at the same time.

    Reductions into variables are never marked (machines keep partial results), nor plain stores to elements of vectors.
    """

    spec_name: ClassVar[str] = "insert-atomics"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Mark; the body of a par_for includes the functions of the applies in it."""
        for op in module.walk():
            if isinstance(op, (*APPLIES, g.ParForOp)):
                alone = _private_indices(op, query)
                for function in functions_of(op):
                    for access in function.accesses():
                        if access.writes and _shared(access, alone, op) and not _vector_store(access):
                            access.op.attributes["atomic"] = UnitAttr()


def _private_indices(op: Operation, query: Query) -> tuple[Index, ...] | None:
    """The indices that no two calls at once have in common; none when calls do not run at once."""
    how = traversal(op, query)
    if how.parallelism == "serial":
        return None
    match op:
        case g.VertexApplyOp() | g.WhereOp():
            return ("own",)
        case g.EdgeApplyOp():
            direction = op.attributes.get("direction")
            if isinstance(direction, StringAttr) and direction.data == "pull":
                return ("dst",)
            return ("src",) if how.parallelism == "vertex" else ()
    return ()


def _shared(access: Access, alone: tuple[Index, ...] | None, op: Operation) -> bool:
    if alone is None:
        return False
    if isinstance(op, g.ParForOp):
        return _made_outside(access.handle, op)
    return access.index not in alone


def _made_outside(handle: SSAValue, loop: Operation) -> bool:
    return any(not loop.is_ancestor(_maker(root)) for root in roots(handle))


def _maker(value: SSAValue) -> Operation:
    owner = value.owner
    made = owner if isinstance(owner, Operation) else owner.parent_op()
    assert made is not None
    return made


def _vector_store(access: Access) -> bool:
    return access.kind == "store" and len(access.at) > 1
