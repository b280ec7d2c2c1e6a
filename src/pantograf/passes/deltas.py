"""Accumulated deltas: when `received = edges.from_(frontier).apply(send, modified=r); frontier = received.where(settle)` may run
in any order.

It may when nothing that is sent gets lost or counted twice: `settle` either leaves its vertex alone, or moves all of `r[v]` at
once: it stores 0 there, and what it adds to other properties, or stores for `send` to pass on, is `r[v]` times something that
does not change. Then the sums are those of all the deltas, whichever way they travelled, but for what waits below the threshold.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import Access, Function, function_of, place_shown, relation, same_value, shown
from pantograf.passes.monotone import WhyNot

Degree = Callable[[g.LoadOp], int]
"""0 for a load that the loop does not change, 1 for one that a value may be proportional to; `WhyNot` otherwise."""


def check(send: Function, write: g.ReduceOp, settle_op: g.WhereOp) -> None:
    """Check both functions of such a loop; what is wrong is a `WhyNot`."""
    state = write.target
    settle = function_of(settle_op, "apply")
    inside = _moves(settle)
    written = [access for access in settle.accesses() if access.writes]
    carried = [access for access in written if access.kind == "store" and relation(access.handle, state) == "distinct"]
    _sends(send, write, state, written, carried)
    emptied = False
    for access in written:
        op = access.op
        place = place_shown(access.handle, access.at)
        if access.index != "own":
            raise WhyNot(op, f"{place} is not the vertex that settles")
        if relation(access.handle, state) != "distinct":
            if not isinstance(op, g.StoreOp) or not _is_zero(op.value) or op.parent_op() is not inside:
                raise WhyNot(op, f"{place} has to become 0 whenever it is passed on")
            emptied = True
        elif isinstance(op, g.ReduceOp):
            if op.kind.data != "sum" or _degree(op.value, settle, _own(settle, state, written)) == 0:
                raise WhyNot(op, f"what {place} receives is not {shown(state)}[v] times something that does not change")
        elif not isinstance(op, g.StoreOp) or _degree(op.value, settle, _own(settle, state, written)) == 0:
            raise WhyNot(op, f"{place} is not {shown(state)}[v] times something that does not change")
        elif not _always(op, inside, send):
            raise WhyNot(op, f"{place} may keep its last value, which would be sent again")
    if not emptied:
        raise WhyNot(settle_op, f"{shown(state)}[v] does not become 0 when it is passed on")


def _moves(settle: Function) -> g.IfOp:
    """The `if` whose condition `settle` returns, and that holds all that it does."""
    last = settle.block.last_op
    assert isinstance(last, g.YieldOp)
    whole = [op for op in settle.block.ops if isinstance(op, g.IfOp)]
    effects = settle.effects()
    for op in effects:
        if not isinstance(op, (g.StoreOp, g.ReduceOp)) or not isinstance(op.target.type, g.PropertyType):
            raise WhyNot(op, "settling does more than write its vertex")
    for choice in whole:
        held = same_value(choice.condition, last.values[0]) and not choice.otherwise.block.ops
        if held and all(choice.then.is_ancestor(op) for op in effects):
            return choice
    raise WhyNot(
        effects[0] if effects else settle.op,
        "a vertex that stays inactive has to keep what it received: write only under the condition that is returned",
    )


def _sends(send: Function, write: g.ReduceOp, state: SSAValue, written: list[Access], carried: list[Access]) -> None:
    source = send.block.args[0]

    def known(load: g.LoadOp) -> int:
        if all(relation(load.source, access.handle) == "distinct" for access in written):
            if relation(load.source, state) == "distinct":
                return 0
        elif load.at[0] is source and any(relation(load.source, access.handle) == "same" for access in carried):
            return 1
        place = place_shown(load.source, load.at)
        raise WhyNot(load, f"{place} may change between two messages, and is not what settling stores for them")

    if _degree(write.value, send, known) == 0:
        raise WhyNot(write, "the message is not what settling stores for it times something that does not change")


def _own(settle: Function, state: SSAValue, written: list[Access]) -> Degree:
    vertex = settle.block.args[0]

    def known(load: g.LoadOp) -> int:
        if load.at[0] is vertex and relation(load.source, state) == "same":
            return 1
        if all(relation(load.source, access.handle) == "distinct" for access in written):
            return 0
        raise WhyNot(load, f"{place_shown(load.source, load.at)} changes as the loop goes on")

    return known


def _degree(value: SSAValue, function: Function, known: Degree) -> int:
    """1 if a value is proportional to what `known` calls 1, 0 if it does not change at all, -1 for 0 itself (it is both)."""
    if not function.inside(value) or not isinstance(value.owner, Operation):
        return -1 if _is_zero(value) else 0
    op = value.owner
    degrees = [
        _degree(operand, function, known) for operand in op.operands if not isinstance(operand.type, g.PropertyType)
    ]
    match op:
        case g.LoadOp():
            if any(degree == 1 for degree in degrees):
                raise WhyNot(op, f"{place_shown(op.source, op.at)} is read at a place that changes")
            return known(op)
        case g.ConstantOp():
            return -1 if _is_zero(value) else 0
        case g.GetOp() if not function.inside(op.variable):
            return 0
        case g.GetOp():
            raise WhyNot(op, f"{shown(value)} depends on the path")
    if 1 not in degrees:
        return 0
    match op:
        case g.BinaryOp() if op.kind.data in ("add", "add_inf", "sub") and 0 not in degrees:
            return 1
        case g.BinaryOp() if op.kind.data == "mul" and degrees.count(1) == 1:
            return 1
        case g.BinaryOp() if op.kind.data == "div" and degrees[1] == 0:
            return 1
        case g.UnaryOp() if op.kind.data == "neg":
            return 1
        case g.CastOp() if g.is_float(op.out.type) and g.is_float(op.value.type):
            return 1
        case g.SelectOp() if degrees[0] == 0 and 0 not in degrees[1:]:
            return 1
    raise WhyNot(op, "the sum of two deltas would not do what the deltas do one by one")


def _is_zero(value: SSAValue) -> bool:
    return isinstance(value.owner, g.ConstantOp) and g.constant_value(value.owner) == 0


def _always(op: Operation, inside: g.IfOp, send: Function) -> bool:
    """Whether a store is made each time a vertex with out-edges settles."""
    around = op.parent_op()
    while around is not inside:
        if not isinstance(around, g.IfOp) or not around.then.is_ancestor(op) or not _has_edges(around.condition, send):
            return False
        around = around.parent_op()
    return True


def _has_edges(condition: SSAValue, send: Function) -> bool:
    """Whether a condition says that a vertex has out-edges: then it does not matter what would be stored if it had none."""
    compare = condition.owner
    if not isinstance(compare, g.CompareOp) or compare.kind.data not in ("gt", "ne") or not _is_zero(compare.right):
        return False
    op, edges = compare.left.owner, send.op.operands[0]
    if isinstance(op, g.DegreeOp):
        return op.edges is edges
    if isinstance(op, g.LoadOp) and isinstance(op.source.owner, g.DegreesOp):
        return op.source.owner.edges is edges and op.source.owner.direction.data == "out"
    return False
