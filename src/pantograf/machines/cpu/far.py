"""Loops over the edges of a vertex in the functions of an apply: what they read at the far ends, which the processor cannot foresee
and which can be asked for early, and what they add up."""

from __future__ import annotations

from xdsl.ir import BlockArgument, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import PURE, functions_of

Apply = g.EdgeApplyOp | g.VertexApplyOp | g.WhereOp


def own_edges(op: Apply) -> list[g.NeighborOp | g.WeightOp]:
    """In a loop over all vertices: the lookups of the own vertex's k-th edge, with the same k in all calls."""
    if not isinstance(op, (g.VertexApplyOp, g.WhereOp)) or not isinstance(op.vertices.owner, g.VerticesOp):
        return []
    found: list[g.NeighborOp | g.WeightOp] = []
    for function in functions_of(op):
        for inner in function.operations():
            if isinstance(inner, (g.NeighborOp, g.WeightOp)) and inner.vertex is function.block.args[0]:
                steady = isinstance(inner.k.owner, g.ConstantOp) or not function.inside(inner.k)
                found += [inner] if steady else []
    return found


def edge_loops(op: Apply) -> list[g.ForOp]:
    """The loops of a function over all edges of a vertex in which a property is read at the far ends."""
    inner = (x for function in functions_of(op) for x in function.operations())
    return [x for x in inner if isinstance(x, g.ForOp) and far_loads(x)]


def far_loads(loop: g.ForOp) -> list[tuple[g.NeighborOp, g.LoadOp]]:
    """Of a loop that counts all edges of a vertex: each neighbour that it looks up and what it reads of it."""
    found = []
    for op in loop.body.block.ops:
        if isinstance(op, g.NeighborOp) and counts_edges(op):
            for use in op.out.uses:
                load = use.operation
                if isinstance(load, g.LoadOp) and load.at[0] is op.out:
                    found.append((op, load))
    return found


def summed_over_edges(op: g.SetOp) -> SSAValue | None:
    """What a loop over all edges of a vertex adds to a float, of which it does not look at partial sums; none for other assignments.
    Such a sum has no order: edges have none."""
    loop, total = op.parent_op(), op.value.owner
    if not isinstance(loop, g.ForOp) or not any(
        isinstance(x, g.NeighborOp) and counts_edges(x) for x in loop.body.block.ops
    ):
        return None
    if not isinstance(total, g.BinaryOp) or total.kind.data != "add" or not g.is_float(total.out.type):
        return None
    for before, summand in ((total.left, total.right), (total.right, total.left)):
        read = before.owner
        if isinstance(read, g.GetOp) and read.variable is op.variable and len(list(read.out.uses)) == 1:
            touching = [use.operation for use in op.variable.uses if loop.is_ancestor(use.operation)]
            if len(touching) == 2 and len(list(total.out.uses)) == 1:
                return summand
    return None


def counts_edges(op: g.NeighborOp | g.WeightOp) -> bool:
    """Whether k counts from 0 to the degree of the vertex."""
    loop = op.k.owner.parent_op() if isinstance(op.k, BlockArgument) else None
    if not isinstance(loop, g.ForOp) or not isinstance(loop.high.owner, g.DegreeOp):
        return False
    low, last = constant(loop.low), loop.high.owner
    return low is not None and low >= 0 and surely_same(last.vertex, op.vertex) and surely_same(last.edges, op.edges)


def surely_same(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are equal whatever was written between the places where they are computed."""
    if a is b:
        return True
    if not isinstance(a, OpResult) or not isinstance(b, OpResult) or type(a.op) is not type(b.op):
        return False
    x, y = a.op, b.op
    if (
        not isinstance(x, PURE)
        or x.properties != y.properties
        or a.index != b.index
        or len(x.operands) != len(y.operands)
    ):
        return False
    return all(surely_same(p, q) for p, q in zip(x.operands, y.operands, strict=True))


def constant(v: SSAValue) -> int | None:
    """The value of a whole constant."""
    found = g.constant_value(v.owner) if isinstance(v.owner, g.ConstantOp) else None
    return found if isinstance(found, int) else None
