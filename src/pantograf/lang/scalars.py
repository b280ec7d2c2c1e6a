"""Operations on scalars: where they go, how numbers become values of a type, and which type an operation has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from xdsl.dialects.builtin import Float32Type, IntegerType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf.errors import Place, UserError
from pantograf.ir import graph, location
from pantograf.ir.graph import VertexType, f64, i1, i64, infinity, is_float, is_unsigned, type_name
from pantograf.lang.values import NoVertex, Number, Value, describe, is_integer, is_number, is_vertex, show_number

Scalar = Value | Number | NoVertex
Op = TypeVar("Op", bound=Operation)

SYMBOLS = {
    "add": "+", "add_inf": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


def wider(a: Attribute, b: Attribute) -> Attribute | None:
    """The type of an operation on two types of numbers, or None where there is none."""
    if a == b:
        return a
    if is_float(a) or is_float(b):
        floats = [t for t in (a, b) if is_float(t)]
        return floats[0] if len(floats) == 1 or isinstance(floats[1], Float32Type) else floats[1]
    assert isinstance(a, IntegerType) and isinstance(b, IntegerType)
    small, large = sorted((a, b), key=lambda t: t.width.data)
    if small.width == large.width or (is_unsigned(large) and not is_unsigned(small)):
        return None
    return large


def bounds(t: Attribute) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    assert isinstance(t, IntegerType)
    return (0 if is_unsigned(t) else -(1 << (t.width.data - 1))), int(infinity(t))


class ScalarBuilder:
    """Makes operations, one after the other, at an insertion point."""

    def __init__(self) -> None:
        self.module = ModuleOp([])
        self.point = InsertPoint.at_end(self.module.body.block)
        self.place = Place("<text>", 1)

    # --- where

    @contextmanager
    def at(self, place: Place) -> Iterator[None]:
        """Operations and complaints within belong to this place."""
        kept, self.place = self.place, place
        try:
            yield
        finally:
            self.place = kept

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Operations within go to the end of this block."""
        kept, self.point = self.point, InsertPoint.at_end(block)
        try:
            yield
        finally:
            self.point = kept

    @contextmanager
    def before(self, op: Operation) -> Iterator[None]:
        """Operations within go before another."""
        kept, self.point = self.point, InsertPoint.before(op)
        try:
            yield
        finally:
            self.point = kept

    @contextmanager
    def going_to(self, point: InsertPoint) -> Iterator[None]:
        """Operations within go to another place."""
        kept, self.point = self.point, point
        try:
            yield
        finally:
            self.point = kept

    @property
    def block(self) -> Block:
        """The block that operations go to."""
        return self.point.block

    def fail(self, message: str, hint: str) -> NoReturn:
        """Complain here."""
        raise UserError(message, self.place, hint)

    def put(self, op: Op, hint: str = "") -> Op:
        """Insert an operation here."""
        op.location = location.at(self.place.file, self.place.line, self.place.column)
        Rewriter.insert_op(op, self.point)
        if hint and op.results:
            op.results[0].name_hint = valid_hint(hint)
        return op

    def value(self, op: Operation, hint: str = "") -> Value:
        """Insert an operation, and its result."""
        return Value(self.put(op, hint).results[0])

    # --- scalars

    def constant(self, value: bool | int | float | None, t: Attribute) -> Value:
        """A constant that fits."""
        return self.value(graph.constant(value, t))

    def zero(self, t: Attribute) -> Value:
        """The value that a variable of scalars has before anyone gives it one."""
        return self.constant(None if isinstance(t, VertexType) else False if t == i1 else 0, t)

    def own(self, x: Scalar) -> Value:
        """A scalar as a value; a number takes its own type."""
        if isinstance(x, Value):
            return x
        if isinstance(x, NoVertex):
            return self.constant(None, VertexType())
        return self.convert(x, {"bool": i1, "i64": i64, "f64": f64}[x.own_type])

    def convert(self, x: Scalar, t: Attribute, what: str = "this") -> Value:
        """A scalar as a value of a type that can hold all values of its own; `what` names the receiver in a complaint."""
        if isinstance(x, Value):
            if x.type == t:
                return x
            if is_number(t) and is_number(x.type) and wider(x.type, t) == t:
                return self.cast(x, t)
            self.fail(f"{what} is {describe(t)}, and this is {describe(x)}", _conversion(x.type, t))
        if isinstance(x, NoVertex):
            if not is_vertex(t):
                self.fail(
                    f"{what} is {describe(t)}, and none is a Vertex",
                    "a number that says so: -1 or pg.inf",
                )
            return self.constant(None, t)
        return self._literal(x, t, what)

    def _literal(self, x: Number, t: Attribute, what: str) -> Value:
        value = x.value
        if isinstance(value, bool) or t == i1:
            if not (isinstance(value, bool) and t == i1):
                hint = "write True or False, or compare: x != 0" if t == i1 else "write 1 or 0"
                self.fail(f"{what} is {describe(t)}, and this is {describe(x)}", hint)
            return self.constant(value, t)
        if is_float(t):
            return self.constant(float(value), t)
        if is_integer(t):
            low, high = bounds(t)
            if isinstance(value, float) and math.isinf(value):
                return self.constant(high if value > 0 else low, t)
            if isinstance(value, float) and not value.is_integer():
                self.fail(
                    f"{what} is {describe(t)}, and {show_number(value)} is not whole",
                    f"write {type_name(t)}({show_number(value)}) to cut",
                )
            if not low <= value <= high:
                self.fail(
                    f"{show_number(value)} does not fit {type_name(t)}",
                    f"{type_name(t)} holds {low} to {high}; wider: i64, u64, f64",
                )
            return self.constant(int(value), t)
        if is_vertex(t) and isinstance(value, int) and value >= 0:
            return self.constant(value, t)
        hint = "a vertex is an argument, a number from 0, or pg.none" if is_vertex(t) else f"give {describe(t)}"
        self.fail(f"{what} is {describe(t)}, and this is {describe(x)}", hint)

    def cast(self, x: Scalar, t: Attribute) -> Value:
        """A scalar as another type, as the author asked."""
        if isinstance(x, NoVertex) or (isinstance(x, Number) and is_vertex(t)):
            return self.convert(x, t)
        if isinstance(x, Number):
            if isinstance(x.value, bool):
                return self.constant(x.value, t) if t == i1 else self.convert(Number(int(x.value)), t)
            if t == i1:
                return self.constant(x.value != 0, t)
            if is_integer(t) and isinstance(x.value, float) and math.isfinite(x.value):
                return self.convert(Number(int(x.value)), t)
            return self.convert(x, t)
        if x.type == t:
            return x
        if t == i1:
            return self.compare("ne", x, Number(0))
        return self.value(graph.CastOp(operands=[x.ssa], result_types=[t]), x.ssa.name_hint or "")

    def common_type(self, symbol: str, a: Scalar, b: Scalar) -> Attribute:
        """The type of an operation on two scalars: the wider one; a number adapts to the other side."""
        if isinstance(a, Value) and isinstance(b, Value):
            if a.type == b.type:
                return a.type
            if not (is_number(a.type) and is_number(b.type)):
                self._cannot(symbol, a, b)
            found = wider(a.type, b.type)
            if found is None:
                names = f"{type_name(a.type)} and {type_name(b.type)}"
                self.fail(
                    f"{symbol} of {names}: neither type holds all values of the other",
                    "convert one side: i64(x), u64(x), f64(x)",
                )
            return found
        if isinstance(b, Value):
            a, b = b, a
        if isinstance(a, Value):
            return self._met(symbol, a, b)
        if isinstance(a, NoVertex) or isinstance(b, NoVertex):
            if any(isinstance(x, Number) and isinstance(x.value, (float, bool)) for x in (a, b)):
                self._cannot(symbol, a, b)
            return VertexType()
        assert isinstance(a, Number) and isinstance(b, Number)
        types = {a.own_type, b.own_type}
        if "bool" in types:
            return i1 if len(types) == 1 else self._cannot(symbol, a, b)
        return f64 if "f64" in types else i64

    def _met(self, symbol: str, value: Value, x: Scalar) -> Attribute:
        """The type of an operation on a value and a literal; a fraction makes an f64 of whole numbers."""
        t = value.type
        if isinstance(x, NoVertex):
            fits = is_vertex(t)
        else:
            assert isinstance(x, Number)
            if isinstance(x.value, bool):
                fits = t == i1
            elif is_number(t):
                return f64 if is_integer(t) and isinstance(x.value, float) and math.isfinite(x.value) else t
            else:
                fits = is_vertex(t) and isinstance(x.value, int)
        return t if fits else self._cannot(symbol, value, x)

    def unify(self, symbol: str, a: Scalar, b: Scalar) -> tuple[Value, Value]:
        """Two scalars as one type."""
        t = self.common_type(symbol, a, b)
        return self.convert(a, t), self.convert(b, t)

    def _cannot(self, symbol: str, a: Scalar, b: Scalar) -> NoReturn:
        kinds = {
            type_name(x.type) if isinstance(x, Value) else "Vertex" if isinstance(x, NoVertex) else x.own_type
            for x in (a, b)
        }
        if "Vertex" in kinds:
            hint = (
                "vertices compare with vertices and none; i64(v) is the id of a vertex, Vertex(i) the vertex of an id"
            )
        elif "bool" in kinds:
            hint = "convert: i64(b) is 1 or 0, x != 0 is a bool"
        else:
            hint = "convert one side: i32(x), i64(x), f64(x)"
        self.fail(f"{symbol} does not go between {describe(a)} and {describe(b)}", hint)

    def binary(self, kind: str, a: Scalar, b: Scalar) -> Scalar:
        """An operation on two scalars; two numbers give a number."""
        symbol = SYMBOLS.get(kind, kind)
        if isinstance(a, Number) and isinstance(b, Number):
            folded = self._fold(kind, a.value, b.value)
            if folded is not None:
                return Number(folded)
        if kind == "div" and is_integer(self.common_type(symbol, a, b)):
            a, b = self.cast(a, f64), self.cast(b, f64)
        left, right = self.unify(symbol, a, b)
        t = left.type
        if is_vertex(t) and kind not in ("min", "max"):
            self.fail(
                f"{symbol} does not go between {describe(a)} and {describe(b)}",
                "there is no arithmetic on vertices: i64(v) is the id of a vertex",
            )
        if t == i1 and kind not in ("and", "or", "xor"):
            self.fail(
                f"{symbol} does not go between {describe(a)} and {describe(b)}",
                "convert: i64(b) is 1 or 0; on bools: and, or, not, ==, !=",
            )
        if is_float(t) and kind in ("and", "or", "xor", "shl", "shr"):
            self.fail(
                f"{symbol} does not go between {describe(a)} and {describe(b)}",
                "bit operators are for whole numbers: i64(x)",
            )
        if kind == "add" and is_integer(t):
            kind = "add_inf"
        return self._binary(kind, left, right)

    def _binary(self, kind: str, left: Value, right: Value) -> Value:
        return self.value(
            graph.BinaryOp(
                operands=[left.ssa, right.ssa], properties={"kind": StringAttr(kind)}, result_types=[left.type]
            )
        )

    def _fold(self, kind: str, a: bool | int | float, b: bool | int | float) -> bool | int | float | None:
        if isinstance(a, bool) or isinstance(b, bool):
            return None
        try:
            match kind:
                case "add":
                    return a + b
                case "sub":
                    return a - b
                case "mul":
                    return a * b
                case "div":
                    return a / b
                case "floordiv":
                    return a // b
                case "mod":
                    return a % b
                case "pow" if abs(b) <= 1024:
                    power = a**b
                    return power if isinstance(power, (int, float)) else None
                case "min":
                    return min(a, b)
                case "max":
                    return max(a, b)
        except ZeroDivisionError:
            self.fail(
                f"{show_number(a)} {SYMBOLS[kind]} {show_number(b)} divides by zero", "a divisor that is known is not 0"
            )
        except OverflowError:
            self.fail(
                f"{show_number(a)} {SYMBOLS[kind]} {show_number(b)} is too large",
                "use pg.inf for more than every number",
            )
        return None

    def compare(self, kind: str, a: Scalar, b: Scalar) -> Value:
        """Whether two scalars stand in an order."""
        left, right = self.unify(SYMBOLS[kind], a, b)
        return self.value(
            graph.CompareOp(operands=[left.ssa, right.ssa], properties={"kind": StringAttr(kind)}, result_types=[i1])
        )

    def unary(self, kind: str, x: Scalar) -> Scalar:
        """An operation on one scalar; `sqrt` and its like make an f64 of whole numbers."""
        if isinstance(x, Number) and not isinstance(x.value, bool):
            if kind == "neg":
                return Number(-x.value)
            if kind == "abs":
                return Number(abs(x.value))
            if kind not in ("not",):
                x = Number(float(x.value))
        value = self.own(x)
        t = value.type
        if kind == "not" and (t == i1 or is_integer(t)):
            pass
        elif not is_number(t):
            name = {"neg": "-", "not": "~"}.get(kind, kind)
            hint = (
                "convert: i64(b) is 1 or 0"
                if t == i1
                else "i64(v) is the id of a vertex"
                if is_vertex(t)
                else "it is for numbers"
            )
            self.fail(f"{name} does not go with {describe(x)}", hint)
        elif kind == "not":
            self.fail(f"~ does not go with {describe(x)}", "it is for whole numbers; for bools write not x")
        if kind in ("sqrt", "exp", "log", "floor", "ceil") and not is_float(t):
            value, t = self.cast(value, f64), f64
        return self.value(graph.UnaryOp(operands=[value.ssa], properties={"kind": StringAttr(kind)}, result_types=[t]))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """One of two values of one type."""
        return self.value(graph.SelectOp(operands=[condition.ssa, yes.ssa, no.ssa], result_types=[yes.type]))

    def random(self, keys: Sequence[Value], t: Attribute) -> Value:
        """A number that depends on the keys alone."""
        return self.value(graph.RandomOp(operands=[[k.ssa for k in keys]], result_types=[t]), "random")

    def call(self, name: str, arguments: Sequence[Value], t: Attribute) -> Value:
        """Call an extern."""
        op = graph.CallOp(
            operands=[[a.ssa for a in arguments]], properties={"callee": SymbolRefAttr(name)}, result_types=[t]
        )
        return self.value(op, name)


def valid_hint(name: str) -> str:
    """A name that GraphIR's text form can carry."""
    kept = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return kept if kept and not kept[0].isdigit() else f"v{kept}"


def _conversion(have: Attribute, want: Attribute) -> str:
    if is_vertex(want):
        return (
            "Vertex(i) is the vertex with id i"
            if is_integer(have)
            else "a vertex is an argument, a number from 0, or pg.none"
        )
    if want == i1:
        return "compare: x != 0 is a bool"
    if graph.is_scalar(want) and graph.is_scalar(have):
        return f"write {type_name(want)}(...) to convert it"
    return f"give {describe(want)}"
