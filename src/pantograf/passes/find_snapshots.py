"""Which loads must see the state before the apply although a function of the same apply writes the property."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import (
    APPLIES,
    PURE,
    Access,
    Function,
    function_of,
    functions_of,
    place_shown,
    relation,
    same_value,
)
from pantograf.ir.location import fail
from pantograf.passes.query import Query, in_place


@dataclass(frozen=True)
class FindSnapshots:
    """Mark `snapshot` each load that could see another call's write: "yes", or "maybe" if the property could be another.

    A load needs none when every access to its property is at the function's own vertex, and when it only guards the one
    plain store that the whole function makes, at the same place: the first call to pass the guard sees the state before,
    and of several values written any may stay. (Where the smallest must stay, each call has to pass its guard.)
    """

    spec_name: ClassVar[str] = "find-snapshots"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Mark the loads of each apply."""
        for op in module.walk():
            if isinstance(op, APPLIES) and not in_place(op):
                _mark(op, query.deterministic)


def _mark(op: Operation, deterministic: bool) -> None:
    functions = functions_of(op)
    accesses = [access for function in functions for access in function.accesses()]
    writes = [access for access in accesses if access.writes]
    for access in accesses:
        if access.kind != "load":
            continue
        near = [write for write in writes if relation(access.handle, write.handle) != "distinct"]
        if not near or _only_own(access, accesses) or (not deterministic and _only_guards(access, op)):
            continue
        if "own_writes" in access.op.attributes:
            place = place_shown(access.handle, access.at)
            fail(
                access.op,
                f"{place} is read where this function may have written the same vertex before",
                "read it before the function's first write, or loop over each vertex once",
            )
        certain = any(relation(access.handle, write.handle) == "same" for write in near)
        access.op.attributes["snapshot"] = StringAttr("yes" if certain else "maybe")


def _only_own(load: Access, accesses: list[Access]) -> bool:
    """Whether all accesses to this property, reads and writes, are at the own vertex."""
    return all(a.index == "own" for a in accesses if relation(a.handle, load.handle) != "distinct")


def _only_guards(load: Access, op: Operation) -> bool:
    function = function_of(op, "apply")
    store = lone_store(function)
    if store is None or relation(load.handle, store.target) != "same" or len(store.at) != 1 or len(load.at) != 1:
        return False
    if isinstance(op, g.EdgeApplyOp) and op.to_filter is not None and op.to_filter.is_ancestor(load.op):
        around = function_of(op, "to_filter")
        filtered = store.at[0] is function.block.args[1] and load.at[0] is around.block.args[0]
        return filtered and _decides_only(load.op.results[0], store)
    if not function.contains(load.op) or not same_value(load.at[0], store.at[0]):
        return False
    return _decides_only(load.op.results[0], store)


def lone_store(function: Function) -> g.StoreOp | None:
    """The plain store that is all that a call can change; none if there is something else."""
    effects = function.effects()
    if len(effects) == 1 and isinstance(effects[0], g.StoreOp) and _yields_nothing(function):
        return effects[0]
    return None


def _yields_nothing(function: Function) -> bool:
    last = function.block.last_op
    return isinstance(last, g.YieldOp) and not last.values


def _decides_only(value: SSAValue, store: g.StoreOp) -> bool:
    """Whether a value has no use but to decide whether `store` is run."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, g.YieldOp):
            filter_region = user.parent_region()
            parent = user.parent_op()
            if not isinstance(parent, g.EdgeApplyOp) or filter_region is not parent.to_filter:
                return False
        elif isinstance(user, g.IfOp):
            if not user.is_ancestor(store):
                return False
        elif isinstance(user, PURE):
            if not all(_decides_only(result, store) for result in user.results):
                return False
        else:
            return False
    return isinstance(value, OpResult)
