"""The only place that makes GraphIR operations: owns locations, names of values, conversions, promotions, labels and defaults.

A front end says what to make and where it stands (`at`); what does not fit is a `UserError` at that place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    Float32Type,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pantograf.errors import Place, UserError
from pantograf.ir import graph, location
from pantograf.ir.graph import (
    CellType,
    EdgesType,
    ListType,
    PropertyType,
    QueueType,
    VectorType,
    VertexSetType,
    VertexType,
    f64,
    i1,
    i64,
    infinity,
    is_float,
    is_unsigned,
    type_name,
)
from pantograf.lang.values import NoVertex, Number, Value, describe, is_integer, is_number, is_vertex, show_number

Scalar = Value | Number | NoVertex
Op = TypeVar("Op", bound=Operation)

SYMBOLS = {
    "add": "+", "add_inf": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
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


@dataclass
class Labels:
    """The labels of a program: each place has its own path of labels, the author's or one made from a name."""

    reserved: set[str] = field(default_factory=set)
    """The author's labels, which no made label may take."""
    around: list[str] = field(default_factory=list)
    taken: dict[tuple[str, ...], Place] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def made(self, name: str) -> str:
        """`visit`, then `visit.2`, ..."""
        while True:
            count = self.counts[name] = self.counts.get(name, 0) + 1
            label = name if count == 1 else f"{name}.{count}"
            if label not in self.reserved:
                return label

    def given(self, label: str, place: Place) -> str:
        """A label of the author's, which must be the only one at its path."""
        path = (*self.around, label)
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", label):
            raise UserError(f"{label!r} cannot be a label", place, "a label is a word: letters, digits, _ . -, beginning with a letter")
        if path in self.taken:
            raise UserError(
                f"the label {':'.join(path)!r} is used twice (first on line {self.taken[path].line})",
                place,
                "give each apply and loop a label of its own, or leave label= out and have one made",
            )
        self.taken[path] = place
        return label


class Builder:
    """Makes operations, one after the other, at an insertion point."""

    def __init__(self) -> None:
        self.module = ModuleOp([])
        self.point = InsertPoint.at_end(self.module.body.block)
        self.place = Place("<text>", 1)
        self.labels = Labels()

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
                self.fail(f"{what} is {describe(t)}, and none is no vertex", "none belongs to type Vertex; for numbers use -1 or inf")
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
                self.fail(f"{what} is {describe(t)}, and {show_number(value)} is not whole", f"write {type_name(t)}({show_number(value)}) to cut")
            if not low <= value <= high:
                self.fail(f"{show_number(value)} does not fit {type_name(t)}", f"{type_name(t)} holds {low} to {high}; wider: i64, u64, f64")
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
                self.fail(f"{symbol} of {names}: neither type holds all values of the other", "convert one side: i64(x), u64(x), f64(x)")
            return found
        if isinstance(b, Value):
            a, b = b, a
        if isinstance(a, Value):
            return self._met(symbol, a, b)
        if isinstance(a, NoVertex) or isinstance(b, NoVertex):
            if any(isinstance(x, Number) and (isinstance(x.value, float) or isinstance(x.value, bool)) for x in (a, b)):
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
        kinds = {type_name(x.type) if isinstance(x, Value) else "Vertex" if isinstance(x, NoVertex) else x.own_type for x in (a, b)}
        if "Vertex" in kinds:
            hint = "vertices compare with vertices and none; i64(v) is the id of a vertex, Vertex(i) the vertex of an id"
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
            self.fail(f"{symbol} does not go between {describe(a)} and {describe(b)}", "there is no arithmetic on vertices: i64(v) is the id of a vertex")
        if t == i1 and kind not in ("and", "or", "xor"):
            self.fail(f"{symbol} does not go between {describe(a)} and {describe(b)}", "convert: i64(b) is 1 or 0; on bools: and, or, not, ==, !=")
        if is_float(t) and kind in ("and", "or", "xor", "shl", "shr"):
            self.fail(f"{symbol} does not go between {describe(a)} and {describe(b)}", "bit operators are for whole numbers: i64(x)")
        if kind == "add" and is_integer(t):
            kind = "add_inf"
        return self._binary(kind, left, right)

    def _binary(self, kind: str, left: Value, right: Value) -> Value:
        return self.value(
            graph.BinaryOp(operands=[left.ssa, right.ssa], properties={"kind": StringAttr(kind)}, result_types=[left.type])
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
            self.fail(f"{show_number(a)} {SYMBOLS[kind]} {show_number(b)} divides by zero", "a divisor that is known is not 0")
        except OverflowError:
            self.fail(f"{show_number(a)} {SYMBOLS[kind]} {show_number(b)} is too large", "use pg.inf for more than every number")
        return None

    def compare(self, kind: str, a: Scalar, b: Scalar) -> Value:
        """Whether two scalars stand in an order."""
        left, right = self.unify(SYMBOLS[kind], a, b)
        return self.value(graph.CompareOp(operands=[left.ssa, right.ssa], properties={"kind": StringAttr(kind)}, result_types=[i1]))

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
            hint = "convert: i64(b) is 1 or 0" if t == i1 else "i64(v) is the id of a vertex" if is_vertex(t) else "it is for numbers"
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
        op = graph.CallOp(operands=[[a.ssa for a in arguments]], properties={"callee": SymbolRefAttr(name)}, result_types=[t])
        return self.value(op, name)

    # --- variables and control

    def variable(self, value: Value, name: str) -> Value:
        """A new variable."""
        return self.value(graph.VariableOp(operands=[value.ssa], result_types=[CellType(value.type)]), name)

    def get(self, cell: SSAValue) -> Value:
        """The value of a variable."""
        assert isinstance(cell.type, CellType)
        return self.value(graph.GetOp(operands=[cell], result_types=[cell.type.element]), cell.name_hint or "")

    def set(self, cell: SSAValue, value: Value) -> None:
        """Give a variable a value of its type."""
        self.put(graph.SetOp(operands=[cell, value.ssa]))

    def branch(self, condition: Value) -> graph.IfOp:
        """An `if`, both of its blocks empty."""
        return self.put(graph.IfOp(operands=[condition.ssa], regions=[Region(Block()), Region(Block())]))

    def loop_while(self, label: str) -> graph.WhileOp:
        """A `while`, condition and body empty."""
        return self.put(graph.WhileOp(properties={"label": StringAttr(label)}, regions=[Region(Block()), Region(Block())]))

    def loop_for(self, low: Value, high: Value, step: Value, label: str, name: str) -> graph.ForOp:
        """A `for`, its body empty."""
        op = graph.ForOp(
            operands=[low.ssa, high.ssa, step.ssa],
            properties={"label": StringAttr(label)},
            regions=[Region(Block(arg_types=[i64]))],
        )
        op.body.block.args[0].name_hint = valid_hint(name)
        return self.put(op)

    def loop_par(self, low: Value, high: Value, label: str, name: str) -> graph.ParForOp:
        """A `par_for`, its body empty."""
        op = graph.ParForOp(
            operands=[low.ssa, high.ssa], properties={"label": StringAttr(label)}, regions=[Region(Block(arg_types=[i64]))]
        )
        op.body.block.args[0].name_hint = valid_hint(name)
        return self.put(op)

    def leave(self) -> None:
        """Leave the innermost loop."""
        self.put(graph.BreakOp())

    def go_on(self) -> None:
        """The innermost loop's next turn."""
        self.put(graph.ContinueOp())

    def give(self, *values: Value) -> None:
        """End a function or a condition."""
        self.put(graph.YieldOp(operands=[[v.ssa for v in values]]))

    # --- the graph

    def vertex_count(self, edges: Value) -> Value:
        """How many vertices there are."""
        return self.value(graph.VertexCountOp(operands=[edges.ssa], result_types=[i64]), "n")

    def edge_count(self, edges: Value) -> Value:
        """How many edges there are."""
        return self.value(graph.EdgeCountOp(operands=[edges.ssa], result_types=[i64]), "m")

    def vertices(self, edges: Value) -> Value:
        """The set of all vertices."""
        return self.value(graph.VerticesOp(operands=[edges.ssa], result_types=[VertexSetType()]), "vertices")

    def transpose(self, edges: Value) -> Value:
        """The edges turned round."""
        return self.value(graph.TransposeOp(operands=[edges.ssa], result_types=[edges.type]), "transposed")

    def relabel(self, edges: Value) -> Value:
        """The graph numbered by falling degree."""
        return self.value(graph.RelabelOp(operands=[edges.ssa], result_types=[edges.type]), "relabeled")

    def degrees(self, edges: Value, direction: str) -> Value:
        """The degrees as a property."""
        op = graph.DegreesOp(
            operands=[edges.ssa], properties={"direction": StringAttr(direction)}, result_types=[PropertyType(i64)]
        )
        return self.value(op, f"{direction}_degrees")

    def degree(self, edges: Value, vertex: Value) -> Value:
        """The out-degree of a vertex."""
        return self.value(graph.DegreeOp(operands=[edges.ssa, vertex.ssa], result_types=[i64]), "degree")

    def neighbor(self, edges: Value, vertex: Value, k: Value) -> Value:
        """The k-th out-neighbour."""
        op = graph.NeighborOp(operands=[edges.ssa, vertex.ssa, k.ssa], result_types=[VertexType()])
        return self.value(op, "neighbor")

    def weight(self, edges: Value, vertex: Value, k: Value) -> Value:
        """The weight of the k-th out-edge."""
        assert isinstance(edges.type, EdgesType)
        op = graph.WeightOp(operands=[edges.ssa, vertex.ssa, k.ssa], result_types=[edges.type.weight])
        return self.value(op, "weight")

    def intersect(self, edges: Value, a: Value, b: Value, below: Value | None, label: str) -> Value:
        """How many common out-neighbours there are."""
        op = graph.IntersectOp(
            operands=[edges.ssa, a.ssa, b.ssa, [below.ssa] if below else []],
            properties={"label": StringAttr(label)},
            result_types=[i64],
        )
        return self.value(op, "common")

    # --- properties

    def property(self, edges: Value, initial: Value, element: Attribute) -> Value:
        """A new property."""
        return self.value(graph.PropertyOp(operands=[edges.ssa, initial.ssa], result_types=[PropertyType(element)]), "property")

    def copy(self, source: Value) -> Value:
        """A copy of a property or a set."""
        hint = f"{source.ssa.name_hint}_copy" if source.ssa.name_hint else "copy"
        return self.value(graph.CopyOp(operands=[source.ssa], result_types=[source.type]), hint)

    def assign(self, target: Value, source: Value) -> None:
        """All values of one property to another."""
        self.put(graph.AssignOp(operands=[target.ssa, source.ssa]))

    def fill(self, target: Value, value: Value) -> None:
        """One value to all vertices."""
        self.put(graph.FillOp(operands=[target.ssa, value.ssa]))

    def load(self, source: Value, at: Sequence[Value]) -> Value:
        """A vertex's value."""
        hints = [source.ssa.name_hint, at[0].ssa.name_hint]
        op = graph.LoadOp(operands=[source.ssa, [a.ssa for a in at]], result_types=[element_of(source.type)])
        return self.value(op, "_".join(h for h in hints if h))

    def store(self, target: Value, value: Value, at: Sequence[Value]) -> None:
        """Give a vertex a value."""
        self.put(graph.StoreOp(operands=[target.ssa, value.ssa, [a.ssa for a in at]]))

    def reduce(self, kind: str, target: SSAValue, value: Value, at: Sequence[Value] = ()) -> None:
        """Combine a value into a property's vertex or a variable."""
        self.put(
            graph.ReduceOp(
                operands=[target, value.ssa, [a.ssa for a in at]], properties={"kind": StringAttr(kind)}, result_types=[[]]
            )
        )

    def compare_and_swap(self, target: Value, vertex: Value, old: Value, new: Value) -> Value:
        """Swap if the old value is there."""
        op = graph.CompareAndSwapOp(operands=[target.ssa, vertex.ssa, old.ssa, new.ssa], result_types=[i1])
        return self.value(op, "swapped")

    def aggregate(self, source: Value, kind: str) -> Value:
        """The sum, min, max or or of a property."""
        op = graph.AggregateOp(
            operands=[source.ssa], properties={"kind": StringAttr(kind)}, result_types=[element_of(source.type)]
        )
        return self.value(op, kind)

    # --- sets and applies

    def vertex_set(self, edges: Value, members: Sequence[Value]) -> Value:
        """A new set."""
        op = graph.VertexSetOp(operands=[edges.ssa, [m.ssa for m in members]], result_types=[VertexSetType()])
        return self.value(op, "set")

    def size(self, source: Value) -> Value:
        """How many members."""
        hint = f"{source.ssa.name_hint}_size" if source.ssa.name_hint else "size"
        return self.value(graph.SizeOp(operands=[source.ssa], result_types=[i64]), hint)

    def add(self, target: Value, vertex: Value) -> None:
        """Put a vertex into a set."""
        self.put(graph.AddOp(operands=[target.ssa, vertex.ssa]))

    def contains(self, source: Value, vertex: Value) -> Value:
        """Whether a vertex is in a set."""
        return self.value(graph.ContainsOp(operands=[source.ssa, vertex.ssa], result_types=[i1]))

    def edge_apply(
        self,
        edges: Value,
        apply: Block,
        *,
        label: str,
        function: str,
        from_: Value | None = None,
        to: Value | None = None,
        modified: Value | None = None,
        from_filter: Block | None = None,
        to_filter: Block | None = None,
        in_place: bool = False,
        keep_duplicates: bool = False,
        has_result: bool = False,
    ) -> Value | None:
        """Apply a function to edges; its blocks are already made."""
        optional = [[v.ssa] if v else [] for v in (from_, to, modified)]
        properties: dict[str, Attribute] = {"label": StringAttr(label), "function": StringAttr(function)}
        properties |= _flags(in_place=in_place, keep_duplicates=keep_duplicates)
        op = graph.EdgeApplyOp(
            operands=[edges.ssa, *optional],
            properties=properties,
            regions=[*([Region(b)] if b else [] for b in (from_filter, to_filter)), Region(apply)],
            result_types=[[VertexSetType()] if has_result else []],
        )
        self.put(op, "modified" if modified else "reached")
        return Value(op.results[0]) if has_result else None

    def vertex_apply(
        self, vertices: Value, apply: Block, *, label: str, function: str, modified: Value | None = None, in_place: bool = False
    ) -> Value | None:
        """Apply a function to vertices; its block is already made."""
        op = graph.VertexApplyOp(
            operands=[vertices.ssa, [modified.ssa] if modified else []],
            properties=_flags(in_place=in_place) | {"label": StringAttr(label), "function": StringAttr(function)},
            regions=[Region(apply)],
            result_types=[[VertexSetType()] if modified else []],
        )
        self.put(op, "modified")
        return Value(op.results[0]) if modified else None

    def where(self, vertices: Value, apply: Block, *, label: str, function: str, in_place: bool = False) -> Value:
        """The vertices that pass a function; its block is already made."""
        op = graph.WhereOp(
            operands=[vertices.ssa],
            properties=_flags(in_place=in_place) | {"label": StringAttr(label), "function": StringAttr(function)},
            regions=[Region(apply)],
            result_types=[VertexSetType()],
        )
        return self.value(op, function if function.isidentifier() else "where")

    # --- lists and queues

    def list_of(self, element: Attribute) -> Value:
        """A new list."""
        return self.value(graph.ListOp(result_types=[ListType(element)]), "list")

    def append(self, target: Value, value: Value) -> None:
        """Put a value at the end."""
        self.put(graph.AppendOp(operands=[target.ssa, value.ssa]))

    def list_pop(self, source: Value) -> Value:
        """Take the last value."""
        return self.value(graph.ListPopOp(operands=[source.ssa], result_types=[element_of(source.type)]), "popped")

    def list_get(self, source: Value, position: Value) -> Value:
        """The value at a position."""
        return self.value(graph.ListGetOp(operands=[source.ssa, position.ssa], result_types=[element_of(source.type)]), "item")

    def queue(self, priority: Value, delta: Value, *, lowest_first: bool, start: str, label: str) -> Value:
        """A new priority queue."""
        op = graph.QueueOp(
            operands=[priority.ssa, delta.ssa],
            properties={
                "order": StringAttr("lowest" if lowest_first else "highest"),
                "start": StringAttr(start),
                "label": StringAttr(label),
            },
            result_types=[QueueType(element_of(priority.type))],
        )
        return self.value(op, "queue")

    def queue_add(self, queue: Value, vertex: Value, priority: Value) -> None:
        """Queue a vertex."""
        self.put(graph.QueueAddOp(operands=[queue.ssa, vertex.ssa, priority.ssa]))

    def queue_pop(self, queue: Value) -> Value:
        """Take the first bucket."""
        return self.value(graph.QueuePopOp(operands=[queue.ssa], result_types=[VertexSetType()]), "bucket")

    def queue_finished(self, queue: Value) -> Value:
        """Whether no vertex is queued."""
        return self.value(graph.QueueFinishedOp(operands=[queue.ssa], result_types=[i1]), "finished")

    def queue_finished_node(self, queue: Value, vertex: Value) -> Value:
        """Whether a vertex is done."""
        return self.value(graph.QueueFinishedNodeOp(operands=[queue.ssa, vertex.ssa], result_types=[i1]), "finished")

    def queue_priority(self, queue: Value) -> Value:
        """The priority of the bucket popped last."""
        op = graph.QueuePriorityOp(operands=[queue.ssa], result_types=[element_of(queue.type)])
        return self.value(op, "priority")

    def queue_update(self, queue: Value, vertex: Value, value: Value, limit: Value | None, kind: str) -> None:
        """Change a vertex's priority."""
        self.put(
            graph.QueueUpdateOp(
                operands=[queue.ssa, vertex.ssa, value.ssa, [limit.ssa] if limit else []], properties={"kind": StringAttr(kind)}
            )
        )

    # --- programs

    def extern(self, name: str, inputs: Sequence[Attribute], output: Attribute) -> None:
        """Declare an extern, before the program."""
        op = graph.ExternOp(
            properties={"sym_name": StringAttr(name), "inputs": ArrayAttr(list(inputs)), "output": output},
        )
        first = self.module.body.block.first_op
        with self.before(first) if first is not None else self.inside(self.module.body.block):
            self.put(op)

    def program(
        self, name: str, arguments: Sequence[tuple[str, Attribute, Attribute]], visibility: str = "after"
    ) -> graph.ProgramOp:
        """A program with arguments (name, type, default), its body empty; the builder moves into it."""
        block = Block(arg_types=[t for _, t, _ in arguments])
        for value, (hint, _, _) in zip(block.args, arguments, strict=True):
            value.name_hint = valid_hint(hint)
        op = graph.ProgramOp(
            properties={
                "sym_name": StringAttr(name),
                "arguments": ArrayAttr([StringAttr(n) for n, _, _ in arguments]),
                "defaults": ArrayAttr([d for _, _, d in arguments]),
                "visibility": StringAttr(visibility),
            },
            regions=[Region(block)],
        )
        self.put(op)
        self.point = InsertPoint.at_end(block)
        return op

    def default(self, x: Scalar | None, t: Attribute, what: str) -> Attribute:
        """The default of an argument as the program holds it; None where it has none."""
        if x is None:
            return UnitAttr()
        with self.inside(Block()):
            op = self.convert(x, t, what).ssa.owner
        assert isinstance(op, graph.ConstantOp)
        if t == i1:
            return IntegerAttr.from_bool(bool(graph.constant_value(op)))
        found: Attribute = op.value
        return found

    def results(self, named: Sequence[tuple[str, Value]]) -> None:
        """End the program."""
        names = ArrayAttr([StringAttr(n) for n, _ in named])
        self.put(graph.ReturnOp(operands=[[v.ssa for _, v in named]], properties={"names": names}))

    def say(self, text: str, values: Sequence[Value]) -> None:
        """Print."""
        self.put(graph.PrintOp(operands=[[v.ssa for v in values]], properties={"text": StringAttr(text)}))

    def timer_start(self) -> None:
        """Start the timer."""
        self.put(graph.TimerStartOp())

    def timer_stop(self) -> Value:
        """Seconds since the start."""
        return self.value(graph.TimerStopOp(result_types=[f64]), "seconds")


def element_of(t: Attribute) -> Attribute:
    """What one value of a property (of vectors: one number), a list or a queue is."""
    match t:
        case PropertyType(element=VectorType() as vector):
            return vector.element
        case PropertyType() | ListType():
            return t.element
        case QueueType():
            return t.priority
    raise AssertionError(t)


def valid_hint(name: str) -> str:
    """A name that GraphIR's text form can carry."""
    kept = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return kept if kept and not kept[0].isdigit() else f"v{kept}"


def _flags(**flags: bool) -> dict[str, Attribute]:
    return {name: UnitAttr() for name, on in flags.items() if on}


def _conversion(have: Attribute, want: Attribute) -> str:
    if is_vertex(want):
        return "Vertex(i) is the vertex with id i" if is_integer(have) else "a vertex is an argument, a number from 0, or pg.none"
    if want == i1:
        return "compare: x != 0 is a bool"
    if graph.is_scalar(want) and graph.is_scalar(have):
        return f"write {type_name(want)}(...) to convert it"
    return f"give {describe(want)}"
