"""Push or pull: each edge apply gets one direction; one with a hybrid schedule becomes two.

Any edge function may be pulled: the same edges are visited, only in the order of their destinations. What a direction changes
is which writes race, which later passes find out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Block, Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf.ir import graph as g
from pantograf.passes.query import Query, traversal
from pantograf.schedule import Mixed


@dataclass(frozen=True)
class SplitHybrids:
    """An edge apply with a hybrid schedule becomes `if is_dense` with two applies; `part` says which is which."""

    spec_name: ClassVar[str] = "split-hybrids"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Split each hybrid."""
        for op in list(module.walk()):
            if isinstance(op, g.EdgeApplyOp) and "part" not in op.attributes:
                found = query.traverse(op)
                if isinstance(found, Mixed):
                    _split(op, found.threshold)


def _split(op: g.EdgeApplyOp, threshold: int) -> None:
    if op.from_ is None:
        op.attributes["part"] = StringAttr("dense")
        return
    into: g.SetOp | None = None
    before = Builder(InsertPoint.before(op))
    result: g.VariableOp | None = None
    if op.out is not None:
        into = _only_set(op)
        if into is None:
            empty = before.insert(g.VertexSetOp(operands=[op.edges, []], result_types=[g.VertexSetType()]))
            kind = g.CellType(g.VertexSetType())
            result = before.insert(g.VariableOp(operands=[empty.out], result_types=[kind]))
            empty.out.name_hint, result.out.name_hint = "none_yet", op.out.name_hint
            empty.location = result.location = op.location
    dense = before.insert(
        g.IsDenseOp(
            operands=[op.edges, [op.from_]],
            properties={"threshold": IntegerAttr(threshold, i64)},
            result_types=[g.i1],
        )
    )
    dense.out.name_hint = "dense"
    branches = []
    for part in ("dense", "sparse"):
        copy = op.clone()
        copy.attributes["part"] = StringAttr(part)
        block = Block([copy])
        if copy.out is not None:
            variable = into.variable if into is not None else result.out if result is not None else None
            assert variable is not None
            block.add_op(g.SetOp(operands=[variable, copy.out]))
        branches.append(Region(block))
    choice = before.insert(g.IfOp(operands=[dense.out], regions=branches))
    dense.location = choice.location = op.location
    for block in (choice.then.block, choice.otherwise.block):
        for inner in block.ops:
            inner.location = op.location
    if into is not None:
        Rewriter.erase_op(into)
    elif result is not None and op.out is not None:
        value = Builder(InsertPoint.after(choice)).insert(g.GetOp(operands=[result.out], result_types=[op.out.type]))
        value.location = op.location
        op.out.replace_all_uses_with(value.out)
    Rewriter.erase_op(op)


def _only_set(op: g.EdgeApplyOp) -> g.SetOp | None:
    """The operation right behind `op` that gives its result to a variable, if nothing else uses it."""
    after: Operation | None = op.next_op
    used = list(op.out.uses) if op.out is not None else []
    return after if isinstance(after, g.SetOp) and len(used) == 1 and used[0].operation is after else None


@dataclass(frozen=True)
class ChooseDirection:
    """Write the schedule's direction on each edge apply."""

    spec_name: ClassVar[str] = "choose-direction"

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Set `direction`."""
        for op in module.walk():
            if isinstance(op, g.EdgeApplyOp):
                op.attributes["direction"] = StringAttr(traversal(op, query).direction)
