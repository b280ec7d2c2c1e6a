"""Edge and vertex functions: what they read and write, at which vertices, and which handles may be one property.

An index is `own` (the vertex of a vertex function), `src`, `dst`, `other` (a vertex fixed before the apply) or `unknown` (a
vertex that the function computes). Handles are followed through variables; each argument of a program has storage of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue

from pantograf.ir import graph as g

Index = Literal["own", "src", "dst", "other", "unknown"]
Relation = Literal["same", "maybe", "distinct"]
Role = Literal["apply", "from_filter", "to_filter", "message", "settle", "body"]

APPLIES = (g.EdgeApplyOp, g.VertexApplyOp, g.WhereOp)
LOOPS = (g.WhileOp, g.ForOp, g.ParForOp)

PURE = (
    g.ConstantOp,
    g.BinaryOp,
    g.UnaryOp,
    g.CompareOp,
    g.SelectOp,
    g.CastOp,
    g.RandomOp,
    g.VertexCountOp,
    g.EdgeCountOp,
    g.VerticesOp,
    g.TransposeOp,
    g.DegreesOp,
    g.DegreeOp,
    g.NeighborOp,
    g.WeightOp,
    g.IntersectOp,
)
"""Operations that change nothing and give the same result whenever their operands are the same."""

READS = (
    g.LoadOp,
    g.GetOp,
    g.ContainsOp,
    g.SizeOp,
    g.QueueFinishedOp,
    g.QueueFinishedNodeOp,
    g.QueuePriorityOp,
    g.IsDenseOp,
)
"""Operations that change nothing, but depend on when they run."""

_ROLES: dict[type[Operation], tuple[Role, ...]] = {
    g.EdgeApplyOp: ("from_filter", "to_filter", "apply"),
    g.VertexApplyOp: ("apply",),
    g.WhereOp: ("apply",),
    g.FixpointOp: ("to_filter", "message", "settle"),
    g.ParForOp: ("body",),
}


@dataclass(frozen=True)
class Access:
    """One reading or writing of a property inside a function; `update` writes through a queue."""

    op: Operation
    handle: SSAValue
    at: tuple[SSAValue, ...]
    index: Index
    kind: Literal["load", "store", "reduce", "swap", "update"]

    @property
    def writes(self) -> bool:
        """Whether this may change the property."""
        return self.kind != "load"


@dataclass(frozen=True)
class Function:
    """A region that an apply, a fixpoint or a par_for calls many times."""

    op: Operation
    region: Region
    role: Role

    @property
    def block(self) -> Block:
        """The function's outermost block."""
        return self.region.block

    def operations(self) -> Iterable[Operation]:
        """All operations, in the order of the text."""
        return self.block.walk()

    def contains(self, op: Operation) -> bool:
        """Whether `op` stands inside this function."""
        return self.region.is_ancestor(op)

    def inside(self, value: SSAValue) -> bool:
        """Whether a value is made inside this function (its arguments are)."""
        owner = value.owner
        return owner is self.block or self.region.is_ancestor(owner)

    def index(self, vertex: SSAValue) -> Index:
        """Which vertex of a call this value is."""
        if isinstance(vertex, BlockArgument) and vertex.owner is self.block:
            match self.role:
                case "from_filter":
                    return "src"
                case "to_filter":
                    return "dst"
                case "message" | "apply" if isinstance(self.op, (g.EdgeApplyOp, g.FixpointOp)):
                    return "src" if vertex.index == 0 else "dst"
                case "body":
                    return "unknown"
            return "own"
        if not self.inside(vertex):
            return "other"
        if isinstance(vertex, OpResult) and isinstance(vertex.op, g.GetOp) and not self.inside(vertex.op.variable):
            return "other"
        return "unknown"

    def accesses(self) -> list[Access]:
        """Each load and write of a property, in the order of the text."""
        found = []
        for op in self.operations():
            match op:
                case g.LoadOp():
                    found.append(Access(op, op.source, tuple(op.at), self.index(op.at[0]), "load"))
                case g.StoreOp():
                    found.append(Access(op, op.target, tuple(op.at), self.index(op.at[0]), "store"))
                case g.ReduceOp() if isinstance(op.target.type, g.PropertyType):
                    found.append(Access(op, op.target, tuple(op.at), self.index(op.at[0]), "reduce"))
                case g.CompareAndSwapOp():
                    found.append(Access(op, op.target, (op.vertex,), self.index(op.vertex), "swap"))
                case g.QueueUpdateOp() | g.QueueAddOp():
                    for priority in _priorities(op.queue):
                        found.append(Access(op, priority, (op.vertex,), self.index(op.vertex), "update"))
        return found

    def effects(self) -> list[Operation]:
        """Each operation whose execution can be noticed outside the call."""
        return [op for op in self.operations() if is_effect(op) and not self._private(op)]

    def _private(self, op: Operation) -> bool:
        """Whether `op` only changes a variable of the call's own."""
        if isinstance(op, g.SetOp):
            return self.inside(op.variable)
        return isinstance(op, g.ReduceOp) and isinstance(op.target.type, g.CellType) and self.inside(op.target)


def is_effect(op: Operation) -> bool:
    """Whether `op` itself (not its regions) changes anything or speaks to the user."""
    return isinstance(
        op,
        (
            g.StoreOp,
            g.ReduceOp,
            g.CompareAndSwapOp,
            g.QueueUpdateOp,
            g.QueueAddOp,
            g.QueuePopOp,
            g.SetOp,
            g.AddOp,
            g.AppendOp,
            g.ListPopOp,
            g.AssignOp,
            g.FillOp,
            g.PrintOp,
            g.TimerStartOp,
            g.TimerStopOp,
        ),
    )


def functions_of(op: Operation) -> list[Function]:
    """The functions that an apply, a fixpoint or a par_for calls, filters first."""
    found = []
    for role in _ROLES.get(type(op), ()):
        region = getattr(op, role)
        if region is not None:
            found.append(Function(op, region, role))
    return found


def function_of(op: Operation, role: Role) -> Function:
    """The function of `op` in this role, which must be there."""
    region = getattr(op, role)
    assert region is not None
    return Function(op, region, role)


def function_around(op: Operation) -> Function | None:
    """The innermost function that `op` stands in; none at the program's level."""
    region = op.parent_region()
    while region is not None:
        parent = region.parent
        if parent is None:
            return None
        for role in _ROLES.get(type(parent), ()):
            if getattr(parent, role) is region:
                return Function(parent, region, role)
        region = parent.parent_region()
    return None


def _priorities(queue: SSAValue) -> list[SSAValue]:
    """The properties that order a queue (several when a variable holds several queues)."""
    return [root.op.priority for root in roots(queue) if isinstance(root, OpResult) and isinstance(root.op, g.QueueOp)]


def exclusive(a: Operation, b: Operation) -> bool:
    """Whether two operations stand in the two branches of one `if`, with no loop between it and `a`."""
    around = a.parent_op()
    while around is not None and not isinstance(around, LOOPS):
        if isinstance(around, g.IfOp):
            for one, other in ((around.then, around.otherwise), (around.otherwise, around.then)):
                if one.is_ancestor(a) and other.is_ancestor(b):
                    return True
        around = around.parent_op()
    return False


# --- handles ----------------------------------------------------------------------------------------------------------


def roots(handle: SSAValue) -> frozenset[SSAValue]:
    """The values (new objects or arguments) that a handle may be, whichever way variables were set."""
    found: set[SSAValue] = set()
    seen: set[SSAValue] = set()
    todo = [handle]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.owner, g.GetOp):
            todo += assigned(value.owner.variable)
        elif isinstance(value.owner, g.SelectOp):
            todo += [value.owner.yes, value.owner.no]
        else:
            found.add(value)
    return frozenset(found)


def assigned(cell: SSAValue) -> list[SSAValue]:
    """Every value that a variable is ever given."""
    values = [use.operation.value for use in cell.uses if isinstance(use.operation, g.SetOp) and use.index == 0]
    if isinstance(cell, OpResult) and isinstance(cell.op, g.VariableOp):
        values.append(cell.op.value)
    return values


def canonical(handle: SSAValue) -> SSAValue:
    """The variable that a handle was read from, or the handle itself: equal if two handles are one thing during an apply."""
    while isinstance(handle, OpResult) and isinstance(handle.op, g.GetOp):
        values = assigned(handle.op.variable)
        if len(values) != 1:
            return handle.op.variable
        handle = values[0]
    return handle


def relation(a: SSAValue, b: SSAValue) -> Relation:
    """Whether two handles that are used in one apply are the same property."""
    if canonical(a) is canonical(b):
        return "same"
    if a.type != b.type:
        return "distinct"
    roots_a, roots_b = roots(a), roots(b)
    if not roots_a & roots_b or _exchanged(canonical(a), canonical(b)):
        return "distinct"
    if len(roots_a) == len(roots_b) == 1 and not _in_loop(next(iter(roots_a))):
        return "same"
    return "maybe"


def _in_loop(value: SSAValue) -> bool:
    parent = value.owner.parent_op() if isinstance(value.owner, (Operation, Block)) else None
    while parent is not None:
        if isinstance(parent, LOOPS):
            return True
        parent = parent.parent_op()
    return False


def _exchanged(a: SSAValue, b: SSAValue) -> bool:
    """Whether two variables start with different properties and only ever exchange them: they never hold the same one."""
    cells = _exchange_group(a)
    if cells is None or b not in cells:
        return False
    starts = []
    for cell in cells:
        if not isinstance(cell, OpResult) or not isinstance(cell.op, g.VariableOp):
            return False
        starts.append(cell.op)
    if len({start.parent_block() for start in starts}) != 1:
        return False
    origins = [roots(start.value) for start in starts]
    return all(not origins[i] & origins[j] for i in range(len(origins)) for j in range(i))


def _exchange_group(cell: SSAValue) -> set[SSAValue] | None:
    """The variables that exchange values with `cell`; none if one of them is ever set in any other way."""
    group = {cell}
    todo = [cell]
    while todo:
        for use in todo.pop().uses:
            if not isinstance(use.operation, g.SetOp):
                continue
            touched = _exchange_around(use.operation)
            if touched is None:
                return None
            todo += touched - group
            group |= touched
    return group


def _exchange_around(op: g.SetOp) -> set[SSAValue] | None:
    """The variables that give each other their values in the run of gets and sets around `op`, if they only permute them."""
    run: list[Operation] = [op]
    while (before := run[0].prev_op) is not None and isinstance(before, (g.GetOp, g.SetOp, *PURE)):
        run.insert(0, before)
    while (after := run[-1].next_op) is not None and isinstance(after, (g.GetOp, g.SetOp, *PURE)):
        run.append(after)
    held: dict[SSAValue, SSAValue] = {}
    values: dict[SSAValue, SSAValue] = {}
    for step in run:
        if isinstance(step, g.GetOp):
            values[step.out] = held.get(step.variable, step.variable)
        elif isinstance(step, g.SetOp) and step.value.type == op.value.type:
            held[step.variable] = values.get(step.value, step.value)
    group: set[SSAValue] = set()
    todo = [op.variable]
    while todo:
        cell = todo.pop()
        if cell not in group:
            group.add(cell)
            todo.append(held.get(cell, cell))
    return group if {held.get(cell, cell) for cell in group} == group else None


# --- equal values -----------------------------------------------------------------------------------------------------


def same_value(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are equal, if nothing was written between the reads that they are made of."""
    if a is b:
        return True
    if not isinstance(a, OpResult) or not isinstance(b, OpResult) or a.type != b.type:
        return False
    x, y = a.op, b.op
    if type(x) is not type(y) or x.properties != y.properties or len(x.operands) != len(y.operands):
        return False
    if isinstance(x, g.GetOp) and isinstance(y, g.GetOp):
        return x.variable is y.variable
    if not isinstance(x, (*PURE, g.LoadOp)) or a.index != b.index:
        return False
    return all(
        relation(p, q) == "same" if isinstance(p.type, g.PropertyType) else same_value(p, q)
        for p, q in zip(x.operands, y.operands, strict=True)
    )


def depends_on(value: SSAValue, cause: SSAValue) -> bool:
    """Whether `value` is computed from `cause` (through values, not through variables or properties)."""
    if value is cause:
        return True
    return isinstance(value, OpResult) and any(depends_on(operand, cause) for operand in value.op.operands)


def shown(value: SSAValue) -> str:
    """A value in an author's words, as far as names are known: `rank[src]`, `parent`."""
    if isinstance(value, OpResult):
        op = value.op
        if isinstance(op, g.LoadOp):
            return place_shown(op.source, op.at)
        if isinstance(op, g.ConstantOp):
            number = g.constant_value(op)
            return "none" if number is None else str(number)
        if isinstance(op, g.GetOp):
            return shown(op.variable)
    return value.name_hint or "..."


def place_shown(handle: SSAValue, at: Sequence[SSAValue]) -> str:
    """An element of a property, or a variable, in an author's words: `parent[dst]`."""
    index = ", ".join(shown(i) for i in at)
    return f"{shown(handle)}[{index}]" if at else shown(handle)
