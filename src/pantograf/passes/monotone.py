"""How a value computed in an edge function moves when the state of the source moves: with it, against it, or not at all."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import LOOPS, Function, assigned, place_shown, relation, same_value, shown
from pantograf.ir.location import place_of

WITH, AGAINST, STILL = 1, -1, 0
"""The three ways to move."""


class WhyNot(Exception):
    """Why a loop cannot run in any order, and the operation that shows it."""

    def __init__(self, op: Operation, text: str) -> None:
        super().__init__(op, text)
        self.op = op
        self.text = text

    def __str__(self) -> str:
        place = place_of(self.op)
        return self.text if place is None else f"line {place.line}: {self.text}"


class Movement:
    """The movements of the values in `function` when `state` at the source rises; what has none is a `WhyNot`."""

    def __init__(self, function: Function, state: SSAValue, kind: str) -> None:
        self.function = function
        self.state = state
        self.kind = kind
        self.source = place_shown(state, [function.block.args[0]])
        self.better = AGAINST if kind == "min" else WITH
        self._open: set[SSAValue] = set()

    def of(self, value: SSAValue) -> int:
        """`WITH`, `AGAINST` or `STILL`."""
        if not isinstance(value, OpResult) or not self.function.inside(value):
            return STILL
        op = value.op
        match op:
            case g.LoadOp():
                return self._load(op)
            case g.GetOp():
                return self._variable(op)
            case g.BinaryOp():
                return self._binary(op)
            case g.UnaryOp():
                return self._unary(op)
            case g.CompareOp():
                return self._compare(op)
            case g.SelectOp():
                return self._select(op)
            case g.CastOp():
                return self._cast(op)
            case g.QueuePriorityOp() | g.QueueFinishedNodeOp() | g.QueueFinishedOp():
                raise WhyNot(op, "asks the queue which bucket is current: in another order it is another")
            case g.ReduceOp() | g.CompareAndSwapOp():
                raise WhyNot(
                    op, f"uses whether {place_shown(op.target, op.operands[1:2])} changed: that depends on the order"
                )
        if any(self.of(operand) for operand in op.operands):
            raise WhyNot(op, f"{_word(op)} of {self.source} need not keep the order of its values")
        return STILL

    def improves(self, condition: SSAValue) -> bool:
        """Whether a condition, once true, stays true while the source gets better (or never changes)."""
        return self.of(condition) in (STILL, self.better)

    def _load(self, op: g.LoadOp) -> int:
        for index in op.at:
            if self.of(index):
                raise WhyNot(op, f"{place_shown(op.source, op.at)} is read at a place that depends on {self.source}")
        same = relation(op.source, self.state)
        if same == "distinct":
            return STILL
        place = place_shown(op.source, op.at)
        if same == "maybe":
            raise WhyNot(op, f"{place} may be the property that the loop writes, {shown(self.state)}")
        if op.at[0] is not self.function.block.args[0] or len(op.at) != 1:
            raise WhyNot(op, f"the message reads {place}, and other messages change it: only {self.source} may be read")
        return WITH

    def _variable(self, op: g.GetOp) -> int:
        cell = op.variable
        if not self.function.inside(cell) or cell in self._open:
            return STILL
        self._open.add(cell)
        moves = [self.of(value) for value in assigned(cell)]
        self._open.remove(cell)
        for use in cell.uses:
            if isinstance(use.operation, g.SetOp):
                self.steady(use.operation)
        return self._join(op, moves)

    def steady(self, op: Operation) -> None:
        """Check that whether `op` is run does not depend on the source's state."""
        around = op.parent_op()
        while around is not None and around is not self.function.op:
            conditions: list[SSAValue] = []
            if isinstance(around, g.IfOp):
                conditions = [around.condition]
            elif isinstance(around, g.WhileOp):
                last = around.condition.block.last_op
                conditions = list(last.operands) if last is not None else []
            elif isinstance(around, g.ForOp):
                conditions = [around.low, around.high, around.step]
            if any(self.of(condition) for condition in conditions):
                raise WhyNot(
                    op, f"which value the message takes depends on {self.source} in a way that may be no order"
                )
            around = around.parent_op()

    def _join(self, op: Operation, moves: list[int]) -> int:
        if WITH in moves and AGAINST in moves:
            raise WhyNot(op, f"the message both rises and falls with {self.source}")
        return WITH if WITH in moves else AGAINST if AGAINST in moves else STILL

    def _binary(self, op: g.BinaryOp) -> int:
        left, right = self.of(op.left), self.of(op.right)
        kind = op.kind.data
        if kind in ("add", "add_inf", "min", "max"):
            return self._join(op, [left, right])
        if kind == "sub":
            return self._join(op, [left, -right])
        if left == right == STILL:
            return STILL
        if kind in ("and", "or") and (op.out.type == g.i1 or self.kind == "or"):
            return self._join(op, [left, right])
        if kind in ("div", "floordiv", "cdiv", "shr") and right == STILL and (sign := _sign(op.right)):
            return left * sign
        if kind == "mul" and STILL in (left, right):
            moving, factor = (left, op.right) if right == STILL else (right, op.left)
            if sign := _sign(factor):
                return moving * sign
            raise WhyNot(op, f"{self.source} is multiplied by {shown(factor)}, which may be negative")
        raise WhyNot(op, f"{kind} of {self.source} need not keep the order of its values")

    def _unary(self, op: g.UnaryOp) -> int:
        move = self.of(op.value)
        if op.kind.data in ("neg", "not"):
            return -move
        if op.kind.data == "abs" and move:
            raise WhyNot(op, f"abs of {self.source} need not keep the order of its values")
        return move

    def _compare(self, op: g.CompareOp) -> int:
        left, right = self.of(op.left), self.of(op.right)
        match op.kind.data:
            case "lt" | "le":
                return self._join(op, [-left, right])
            case "gt" | "ge":
                return self._join(op, [left, -right])
        if left == right == STILL:
            return STILL
        for bound, move in ((op.right, left), (op.left, right)):
            end = _end(bound)
            if end and op.kind.data == "ne" and move:
                return -move * end
        raise WhyNot(op, f"{shown(op.left)} is compared for equality: that is no order of {shown(op.left)}")

    def _select(self, op: g.SelectOp) -> int:
        moves = [self.of(op.yes), self.of(op.no)]
        if self.of(op.condition) == STILL:
            return self._join(op, moves)
        compare = op.condition.owner
        if isinstance(compare, g.CompareOp) and compare.kind.data in ("lt", "le", "gt", "ge"):
            sides = (compare.left, compare.right)
            chosen = ((op.yes, op.no), (op.no, op.yes))
            if any(same_value(sides[0], a) and same_value(sides[1], b) for a, b in chosen):
                return self._join(op, moves)
        worst = 1 if self.kind == "min" else -1
        if self.improves(op.condition) and _end(op.no) == worst:
            return self._join(op, [moves[0], WITH])
        raise WhyNot(op, f"which value the message takes depends on {self.source} in a way that may be no order")

    def _cast(self, op: g.CastOp) -> int:
        move = self.of(op.value)
        if move and not _keeps_order(op.value.type, op.out.type):
            raise WhyNot(op, f"{g.type_name(op.out.type)}() of {self.source} need not keep the order of its values")
        return move


def _word(op: Operation) -> str:
    return op.name.removeprefix("graph.")


def _sign(value: SSAValue) -> int:
    """1 for a constant that is not negative and for unsigned values, -1 for a negative constant, 0 if unknown."""
    if isinstance(value.owner, g.ConstantOp):
        number = g.constant_value(value.owner)
        return 0 if number is None else 1 if number >= 0 else -1
    if isinstance(value.owner, g.CastOp):
        return _sign(value.owner.value)
    return 1 if g.is_unsigned(value.type) else 0


def _end(value: SSAValue) -> int:
    """1 for a constant that is the greatest value of its type, -1 for the least, else 0."""
    if not isinstance(value.owner, g.ConstantOp):
        return 0
    t, number = value.type, g.constant_value(value.owner)
    if number is None:
        return -1
    if isinstance(t, g.VertexType):
        return 0
    if t == g.i1:
        return 1 if number else -1
    if number == g.infinity(t):
        return 1
    least = -g.infinity(t) - (0 if g.is_float(t) else 1)
    return -1 if number == (0 if g.is_unsigned(t) else least) else 0


def _keeps_order(before: Attribute, after: Attribute) -> bool:
    if g.is_float(after) or isinstance(before, g.VertexType) or isinstance(after, g.VertexType):
        return True
    if after == g.i1 or not isinstance(after, IntegerType):
        return False
    if g.is_float(before):
        return not g.is_unsigned(after)
    assert isinstance(before, IntegerType)
    if g.is_unsigned(before) == g.is_unsigned(after):
        return bool(after.width.data >= before.width.data)
    return before == g.i1 or bool(g.is_unsigned(before) and after.width.data > before.width.data)


__all__ = ["AGAINST", "LOOPS", "STILL", "WITH", "Movement", "WhyNot"]
