"""Fusing and splitting, on request: GraphIt's fuseForLoop, splitForLoop and fuseApplyFunctions.

Each says what it needs to be legal, and refuses at the line where that does not hold: fusing never changes a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf.errors import UserError
from pantograf.ir import graph as g
from pantograf.ir.functions import PURE, canonical, function_of, relation, roots, shown
from pantograf.ir.location import fail
from pantograf.passes.labels import find_label
from pantograf.passes.query import Query

Resource = SSAValue | str
"""Something that two pieces of a program may both touch: an object, a variable, or `print` and `timer`."""


def touched(op: Operation) -> tuple[set[Resource], set[Resource]]:
    """What an operation itself (not its regions) reads, and what it writes."""
    reads: set[Resource] = set()
    writes: set[Resource] = set()
    match op:
        case g.GetOp():
            reads.add(op.variable)
        case g.SetOp():
            writes.add(op.variable)
        case g.PrintOp():
            writes.add("print")
        case g.TimerStartOp() | g.TimerStopOp():
            writes.add("timer")
        case g.StoreOp() | g.FillOp() | g.AddOp():
            writes |= roots(op.target)
        case g.AssignOp():
            reads |= roots(op.source)
            writes |= roots(op.target)
        case g.ReduceOp() | g.CompareAndSwapOp() | g.AppendOp():
            changed = roots(op.target)
            reads |= changed
            writes |= changed
        case g.ListPopOp():
            writes |= roots(op.source)
        case g.QueueAddOp() | g.QueuePopOp() | g.QueueUpdateOp():
            for queue in roots(op.queue):
                writes.add(queue)
                if isinstance(queue.owner, g.QueueOp):
                    writes |= roots(queue.owner.priority)
        case _:
            for operand in op.operands:
                if isinstance(operand.type, (g.PropertyType, g.VertexSetType, g.QueueType, g.ListType)):
                    reads |= roots(operand)
    return reads, writes


def conflict(first: list[Operation], second: list[Operation]) -> tuple[Operation, Resource] | None:
    """The operation of `second` that touches what `first` writes, or writes what `first` touches."""
    reads, writes = set[Resource](), set[Resource]()
    for op in first:
        for inner in op.walk():
            r, w = touched(inner)
            reads |= r
            writes |= w
    for op in second:
        for inner in op.walk():
            r, w = touched(inner)
            if shared := ((r | w) & writes) | (w & reads):
                return inner, next(iter(shared))
    return None


def named(resource: Resource) -> str:
    """A resource in an author's words."""
    return (
        {"print": "what is printed", "timer": "the timer"}[resource] if isinstance(resource, str) else shown(resource)
    )


def bounds(loop: g.ForOp) -> tuple[int, int, int]:
    """The constant bounds and step of a loop."""
    values = []
    for value in (loop.low, loop.high, loop.step):
        owner = value.owner
        number = g.constant_value(owner) if isinstance(owner, g.ConstantOp) else None
        if not isinstance(number, int):
            fail(
                loop,
                f"the loop {loop.label.data} has no constant bounds",
                "write range(10): numbers known when the program is traced",
            )
        values.append(number)
    return values[0], values[1], values[2]


def _loop(module: ModuleOp, label: str) -> g.ForOp:
    op = find_label(module, label)
    if not isinstance(op, g.ForOp):
        raise UserError(f"{label!r} is not a for loop", hint="name a loop written for i in range(...)")
    for inner in op.body.walk():
        if isinstance(inner, (g.BreakOp, g.ContinueOp)) and _loop_of(inner) is op:
            fail(inner, f"the loop {label} is left from inside: its turns cannot be moved")
    return op


def _loop_of(op: Operation) -> Operation | None:
    around = op.parent_op()
    while around is not None and not isinstance(around, (g.ForOp, g.WhileOp, g.ParForOp)):
        around = around.parent_op()
    return around


def _adjacent(first: Operation, second: Operation) -> None:
    """Bring `first` directly before `second`: what stands between must not depend on when it runs."""
    if first.parent_block() is not second.parent_block() or not first.is_before_in_block(second):
        fail(second, "the second does not follow the first in one block")
    between: list[Operation] = []
    op = first.next_op
    while op is not None and op is not second:
        between.append(op)
        op = op.next_op
    block = first.parent_block()
    assert block is not None
    for op in between:
        hit = conflict([first], [op])
        if not isinstance(op, (*PURE, g.GetOp, g.LoadOp, g.VariableOp)) or hit is not None:
            fail(op, "this stands between the two and cannot be moved before them")
        block.detach_op(op)
        block.insert_op_before(op, first)


def _for(like: g.ForOp, low: int, high: int, label: str, builder: Builder) -> g.ForOp:
    """A loop over `low .. high` with a copy of the body of `like`."""
    step = bounds(like)[2]
    numbers = [builder.insert(g.constant(n, g.i64)).out for n in (low, high, step)]
    made = g.ForOp(operands=numbers, properties={"label": StringAttr(label)}, regions=[like.body.clone()])
    made.location = like.location
    return builder.insert(made)


@dataclass(frozen=True)
class SplitLoop:
    """The loop `loop` of n turns becomes `first` with the first `turns` of them, and `second` with the rest."""

    spec_name: ClassVar[str] = "split-loop"
    loop: str
    first: str
    second: str
    turns: int

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Split."""
        op = _loop(module, self.loop)
        low, high, step = bounds(op)
        count = max(0, -(-(high - low) // step)) if step > 0 else 0
        if not 0 <= self.turns <= count:
            raise UserError(f"split-loop.turns cannot be {self.turns}", hint=f"{self.loop} has {count} turns")
        middle = low + self.turns * step
        before = Builder(InsertPoint.before(op))
        _for(op, low, middle, self.first, before)
        _for(op, middle, high, self.second, before)
        Rewriter.erase_op(op)


@dataclass(frozen=True)
class FuseLoops:
    """Two loops that follow each other become one, `fused`, as far as both run; the rest runs before or after it.

    In label paths what came from them is found under `fused:first` and `fused:second`.
    """

    spec_name: ClassVar[str] = "fuse-loops"
    first: str
    second: str
    fused: str

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Fuse, if no turn of one loop can notice the other loop."""
        one, two = _loop(module, self.first), _loop(module, self.second)
        (low1, high1, step1), (low2, high2, step2) = bounds(one), bounds(two)
        if step1 != 1 or step2 != 1:
            fail(two, "only loops in steps of 1 can be fused")
        hit = conflict([one], [two])
        if hit is not None:
            fail(
                hit[0],
                f"the loops {self.first} and {self.second} cannot be fused: both use {named(hit[1])}, and one writes it",
            )
        _adjacent(one, two)
        low, high = max(low1, low2), min(high1, high2)
        before = Builder(InsertPoint.before(two))
        if low >= high:
            fail(two, f"the loops {self.first} and {self.second} have no turn in common")
        for op, start, label in ((one, low1, self.first), (two, low2, self.second)):
            if start < low:
                _for(op, start, low, f"{label}_prologue", before)
        both = _for(one, low, high, self.fused, before)
        body = both.body.block
        _scope(body, self.first)
        other = two.body.clone().block
        _scope(other, self.second)
        other.args[0].replace_all_uses_with(body.args[0])
        for inner in list(other.ops):
            other.detach_op(inner)
            body.add_op(inner)
        for op, end, label in ((one, high1, self.first), (two, high2, self.second)):
            if end > high:
                _for(op, high, end, f"{label}_epilogue", before)
        Rewriter.erase_op(one)
        Rewriter.erase_op(two)


def _scope(block: Block, name: str) -> None:
    for op in block.ops:
        if op.regions:
            inner = op.attributes.get("scope")
            op.attributes["scope"] = StringAttr(f"{name}:{inner.data}" if isinstance(inner, StringAttr) else name)


@dataclass(frozen=True)
class FuseApplies:
    """Two edge applies over the same edges become one whose function, `name`, does what both did."""

    spec_name: ClassVar[str] = "fuse-applies"
    first: str
    second: str
    name: str

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Fuse, if the second does not see what the first writes."""
        one, two = (self._find(module, label) for label in (self.first, self.second))
        _same_edges(one, two)
        writes = [(op, touched(op)[1]) for op in one.apply.walk()]
        for op in two.apply.walk():
            reads, changes = touched(op)
            for other, changed in writes:
                if not (reads | changes) & changed:
                    continue
                alike = isinstance(op, g.ReduceOp) and isinstance(other, g.ReduceOp) and op.kind == other.kind
                if not alike:
                    what = named(next(iter((reads | changes) & changed)))
                    fail(
                        op,
                        f"{self.first} and {self.second} cannot be fused: {self.second} uses {what}, which {self.first} writes",
                    )
        _adjacent(one, two)
        Rewriter.replace_op(two, self._fused(one, two), new_results=[])
        Rewriter.erase_op(one)

    def _find(self, module: ModuleOp, label: str) -> g.EdgeApplyOp:
        op = find_label(module, label)
        if not isinstance(op, g.EdgeApplyOp):
            raise UserError(f"{label!r} is not an apply on edges", hint="name an edges.apply(...)")
        if op.out is not None:
            fail(op, f"{label} has a result: it cannot be fused")
        return op

    def _fused(self, one: g.EdgeApplyOp, two: g.EdgeApplyOp) -> g.EdgeApplyOp:
        wide, narrow = (one, two) if len(one.apply.block.args) >= len(two.apply.block.args) else (two, one)
        body = Region(Block(arg_types=[a.type for a in wide.apply.block.args]))
        for made, known in zip(body.block.args, wide.apply.block.args, strict=True):
            made.name_hint = known.name_hint
        for part in (one, two):
            block = part.apply.clone().block
            for made, known in zip(body.block.args, block.args, strict=False):
                known.replace_all_uses_with(made)
            for op in list(block.ops):
                block.detach_op(op)
                if not isinstance(op, g.YieldOp):
                    body.block.add_op(op)
        body.block.add_op(g.YieldOp(operands=[[]]))
        fused = g.EdgeApplyOp(
            operands=[[one.edges], *([v] if v is not None else [] for v in (one.from_, one.to_)), []],
            result_types=[[]],
            properties={"label": StringAttr(self.name), "function": StringAttr(self.name)}
            | {k: v for k, v in narrow.properties.items() if k == "in_place"},
            attributes={k: v for k, v in one.attributes.items() if k == "scope"},
            regions=[
                *([region.clone()] if region is not None else [] for region in (one.from_filter, one.to_filter)),
                body,
            ],
        )
        fused.location = two.location
        return fused


def _same_edges(one: g.EdgeApplyOp, two: g.EdgeApplyOp) -> None:
    """Check that two applies call their functions for the same edges, in the same way."""
    for a, b in ((one.edges, two.edges), (one.from_, two.from_), (one.to_, two.to_)):
        if (a is None) != (b is None) or (a is not None and b is not None and canonical(a) is not canonical(b)):
            fail(two, f"{two.label.data} does not run on the edges of {one.label.data}")
    for f, s in ((one.from_filter, two.from_filter), (one.to_filter, two.to_filter)):
        if (f is None) != (s is None) or (f is not None and s is not None and not f.is_structurally_equivalent(s)):
            fail(two, f"{two.label.data} and {one.label.data} have different filters")
    if one.in_place != two.in_place:
        fail(two, "one of the two sees the writes of other calls, the other does not")
    filters = [function_of(two, role) for role in ("from_filter", "to_filter") if getattr(two, role) is not None]
    for function in filters:
        for access in function.accesses():
            for write in function_of(one, "apply").accesses():
                if write.writes and relation(access.handle, write.handle) != "distinct":
                    fail(access.op, f"the filter reads {shown(access.handle)}, which {one.label.data} writes")
