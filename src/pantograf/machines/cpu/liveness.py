"""Which memory may be used again: the sets and properties that are alive where a new one is made."""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, SSAValue

from pantograf.ir import graph as g


def as_range(op: Operation, index: int) -> bool:
    """Whether an operation takes the set of all vertices as a range."""
    if isinstance(op, (g.VertexApplyOp, g.WhereOp)):
        return index == 0
    return isinstance(op, g.SizeOp)


def maker(v: SSAValue) -> Operation:
    """The operation that a value comes from: the one around its block, for an argument."""
    owner = v.owner
    made = owner if isinstance(owner, Operation) else owner.parent_op()
    assert made is not None
    return made


def in_loop(op: Operation) -> bool:
    """Whether an operation may run several times in one run (or one turn of a par_for)."""
    around = op.parent_op()
    while around is not None and not isinstance(around, g.ParForOp):
        if isinstance(around, (g.WhileOp, g.ForOp)):
            return True
        around = around.parent_op()
    return False


def cells_of(op: Operation, t: object) -> list[SSAValue]:
    """The variables of a type that may be alive at an operation."""
    top = op
    while (parent := top.parent_op()) is not None:
        top = parent
    return [x.out for x in top.walk() if isinstance(x, g.VariableOp) and x.value.type == t]


def live_sets(op: Operation, out: SSAValue) -> list[SSAValue]:
    """The sets whose buffers must not be overwritten when `op` makes a new one: variables in sight, and values still to be used."""
    found: list[SSAValue] = []
    block: Block | None = op.parent_block()
    at: Operation = op
    while block is not None:
        for argument in block.args:
            if isinstance(argument.type, g.VertexSetType):
                found.append(argument)
        for other in block.ops:
            if other is at:
                break
            for result in other.results:
                if (isinstance(result.type, g.CellType) and isinstance(result.type.element, g.VertexSetType)) or (
                    isinstance(result.type, g.VertexSetType)
                    and _used_from(result, at, block)
                    and not _covered(result, at)
                ):
                    found.append(result)
        parent = block.parent_op()
        if parent is None or isinstance(parent, (g.ProgramOp, g.ParForOp)):
            break
        at, block = parent, parent.parent_block()
    return [
        v
        for v in found
        if not (isinstance(v.owner, g.VerticesOp) and all(as_range(u.operation, u.index) for u in v.uses))
    ]


def _used_from(v: SSAValue, at: Operation, block: Block) -> bool:
    """Whether a value made in `block` is used by `at` or later (anywhere in `at`, if that is a loop)."""
    for use in v.uses:
        user: Operation | None = use.operation
        while user is not None and user.parent_block() is not block:
            user = user.parent_op()
        if user is None:
            return True
        if user is at or at.is_before_in_block(user):
            return True
    return False


def _covered(v: SSAValue, at: Operation) -> bool:
    """Whether a value read from a variable still is that variable's, so that the variable protects it."""
    if not isinstance(v, OpResult) or not isinstance(v.op, g.GetOp):
        return False
    step = v.op.next_op
    while step is not None and step is not at:
        if any(isinstance(x, g.SetOp) and x.variable is v.op.variable for x in step.walk()):
            return False
        step = step.next_op
    return step is at and not any(
        isinstance(x, g.SetOp) and x.variable is v.op.variable for x in at.walk() if x is not at
    )
