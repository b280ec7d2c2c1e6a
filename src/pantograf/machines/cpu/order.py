"""What sorted neighbour lists let a loop leave out: the edges on one side of a vertex's own number."""

from __future__ import annotations

from typing import Literal

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from pantograf.ir import graph as g
from pantograf.ir.functions import PURE, functions_of

Side = Literal["", "below", "above"]
_SIDES: dict[tuple[str, bool], Side] = {
    ("lt", True): "below",
    ("gt", True): "above",
    ("lt", False): "above",
    ("gt", False): "below",
}
"""By the comparison, and whether the destination stands on its left."""


def turned(op: g.IntersectOp, around: Operation) -> bool:
    """Whether it is the second vertex of an intersection that stays the same in the inner loop of an apply."""
    return any(op.b is function.block.args[stays_at(around)] for function in functions_of(around))


def stays_at(apply: Operation) -> int:
    """Which argument of a function stays the same in the inner loop: a push goes from one source, a pull to one destination."""
    return int(isinstance(apply, g.EdgeApplyOp) and apply.attributes.get("direction") == StringAttr("pull"))


def side(op: g.EdgeApplyOp) -> Side:
    """Whether an edge function does nothing but for destinations `below` (or `above`) their source."""
    block = op.apply.block
    guards = [inner for inner in block.ops if not isinstance(inner, PURE)]
    if len(guards) != 2 or not isinstance(guards[0], g.IfOp) or guards[0].otherwise.block.ops:
        return ""
    test, last = guards[0].condition.owner, guards[1]
    if not isinstance(test, g.CompareOp) or not isinstance(last, g.YieldOp) or last.values:
        return ""
    source, target = block.args[0], block.args[1]
    if (test.left, test.right) not in ((target, source), (source, target)):
        return ""
    return _SIDES.get((test.kind.data, test.left is target), "")
