"""GraphIR operations on scalars, variables and properties as Python statements: one statement per operation, named by its hint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.machines.cpu.far import constant, counts_edges
from pantograf.machines.cpu.plan import form_of
from pantograf.machines.cpu.text import Lines, Names, literal, scalar_type

COUNT = "load(w.knobs, 1)"
"""The text of the number of vertices."""
VERTICES = "vertices are 0 to {last}"
SHORT = 1024
"""Turns of a loop in a function that no one who wants it to stop would notice."""
_PLAIN = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_BITS = {"and": "&", "or": "|", "xor": "^"}
_CALLS = {"floordiv": "floor_divide", "mod": "modulo", "cdiv": "c_divide", "cmod": "c_modulo", "pow": "power"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

_TURNED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass
class Checks:
    """What compiled code may complain about: indices that a program computes, and (`every`) all others, overflows and races."""

    sites: list[tuple[Operation, str]]
    """Each operation that may complain, and what would be right there."""
    every: bool


class Body:
    """Writes the operations of a function (or of a driver, which adds to it)."""

    def __init__(self, out: Lines, names: Names, wide: bool, checks: Checks) -> None:
        self.out = out
        self.names = names
        self.wide = wide
        self.checks = checks
        self.text: dict[SSAValue, str] = {}
        self.halves: set[str] = set()
        """The forms of the graph of which it has to be known where in a row a vertex's own number comes."""

    # --- values

    def value(self, v: SSAValue) -> str:
        """The text of a value: a name, or a constant."""
        if v in self.text:
            return self.text[v]
        if isinstance(v, OpResult) and isinstance(v.op, g.ConstantOp):
            return literal(g.constant_value(v.op), v.type, self.wide)
        return self.outer(v)

    def outer(self, v: SSAValue) -> str:
        """The text of a value from outside of what is being written."""
        raise AssertionError(f"{v} has no text")

    def kind(self, v: SSAValue) -> str:
        """The scalar type of a value."""
        return scalar_type(v.type, self.wide)

    def define(self, v: SSAValue, expression: str) -> None:
        """Give a result its name."""
        name = self.names.make(v.name_hint)
        self.out(f"{name} = {expression}")
        self.text[v] = name

    # --- checks

    def site(self, op: Operation, hint: str) -> int:
        """The number by which compiled code names an operation that it complains about."""
        self.checks.sites.append((op, hint))
        return len(self.checks.sites) - 1

    def inside(self, index: str, size: str, op: Operation, sure: bool, hint: str) -> str:
        """An index, checked unless it is sure to be right: 0, and a complaint, if it is out of range."""
        if sure and not self.checks.every:
            return index
        name = self.names.make("at")
        self.out(f"{name} = inside(w, {index}, {size}, {self.site(op, hint)})")
        return name

    def check_range(self, value: str, op: g.CastOp) -> None:
        """Complain about a float that no integer of the type is near."""
        if self.checks.every:
            t = self.kind(op.out)
            low, high = _bounds(t)
            site = self.site(op, f"{t} holds {low} to {high}")
            self.out(f"fits(w, {value}, {float(low)!r}, {float(high)!r}, abs({value}) == np.inf, {site})")

    def check_overflow(self, op: g.BinaryOp) -> None:
        """Complain about a sum, difference or product that does not fit its type."""
        t, kind = self.kind(op.out), op.kind.data
        if not self.checks.every or kind not in ("add", "add_inf", "sub", "mul") or t[0] not in "iu":
            return
        if t[0] == "u" and any(isinstance(v.owner, g.UnaryOp) for v in (op.left, op.right)):
            return  # a subtraction, written as the addition of what wraps to the same
        a, b = self.value(op.left), self.value(op.right)
        low, high = _bounds(t)
        exact = f"f64({a}) {_PLAIN['add' if kind == 'add_inf' else kind]} f64({b})"
        infinite = f"{self.value(op.out)} == {literal(high, op.out.type, self.wide)}"
        self.out(
            f"fits(w, {exact}, {float(low)!r}, {float(high)!r}, {infinite}, {self.site(op, 'use a wider type, i64 or f64')})"
        )

    # --- operations

    def block(self, block: Block) -> None:
        """Write the operations of a block in order."""
        for op in block.ops:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        """Write one operation."""
        writer: Callable[[Operation], None] | None = getattr(self, f"write_{op.name.removeprefix('graph.')}", None)
        if writer is None:
            raise AssertionError(f"no text for {op.name}")
        writer(op)

    def write_constant(self, op: g.ConstantOp) -> None:
        """A constant stands where it is used."""

    def write_binary(self, op: g.BinaryOp) -> None:
        """Arithmetic in exactly the operation's type."""
        self.define(op.out, self.binary(op.kind.data, op.left, op.right, self.kind(op.out)))
        self.check_overflow(op)

    def binary(self, kind: str, left: SSAValue, right: SSAValue, t: str) -> str:
        """`left kind right` in type `t`."""
        a, b = self.value(left), self.value(right)
        whole = t not in ("f32", "f64")
        if kind == "add_inf" and whole:
            infinite = literal(g.infinity(left.type), left.type, self.wide)
            tests = [f"{x} == {infinite}" for x, v in ((a, left), (b, right)) if not _finite(v)]
            total = f"{t}({a} + {b})"
            return f"({infinite} if {' or '.join(tests)} else {total})" if tests else total
        if kind in ("min", "max"):
            return f"{t}({kind}({a}, {b}))"
        if kind in _BITS:
            if t == "bool":
                return f"({a} {kind} {b})" if kind != "xor" else f"({a} != {b})"
            return f"{t}({a} {_BITS[kind]} {b})"
        if kind in ("shl", "shr"):
            return f"{t}(shift_{'left' if kind == 'shl' else 'right'}({a}, {b}, {t[1:]}))"
        if kind in _CALLS:
            if whole:
                return f"{t}({_CALLS[kind]}({a}, {b}))"
            return f"{t}({a} {dict(floordiv='//', mod='%', cdiv='/', cmod='%', pow='**')[kind]} {b})"
        return f"{t}({a} {_PLAIN['add' if kind == 'add_inf' else kind]} {b})"

    def write_unary(self, op: g.UnaryOp) -> None:
        """Arithmetic on one value."""
        a, t = self.value(op.value), self.kind(op.out)
        match op.kind.data:
            case "neg":
                text = f"{t}(-{a})"
            case "not":
                text = f"(not {a})" if t == "bool" else f"{t}(~{a})"
            case "abs":
                text = a if t[0] == "u" else f"{t}(abs({a}))"
            case kind:
                text = f"{t}(np.{kind}({a}))"
        self.define(op.out, text)

    def write_compare(self, op: g.CompareOp) -> None:
        """A comparison; of two that say the same, the one with a constant last, or with the smaller first."""
        kind, left, right = op.kind.data, self.value(op.left), self.value(op.right)
        fixed = [isinstance(v.owner, g.ConstantOp) for v in (op.left, op.right)]
        if fixed == [True, False] or (fixed == [False, False] and kind in ("gt", "ge")):
            kind, left, right = _TURNED[kind], right, left
        self.define(op.out, f"{left} {_COMPARE[kind]} {right}")

    def write_select(self, op: g.SelectOp) -> None:
        """A choice between two values."""
        self.define(op.out, f"{self.value(op.yes)} if {self.value(op.condition)} else {self.value(op.no)}")

    def write_cast(self, op: g.CastOp) -> None:
        """A change of type: integers wrap, floats saturate towards the nearest."""
        source, target, a = self.kind(op.value), self.kind(op.out), self.value(op.value)
        if target == "bool":
            text = a if source == "bool" else f"{a} != 0"
        elif source[0] == "f" and target[0] in "iu":
            self.check_range(a, op)
            text = f"float_to_{target}({a})"
        else:
            text = f"{target}({a})"
        if isinstance(op.out.type, g.VertexType) and not isinstance(op.value.type, g.VertexType):
            whole = a if source[0] in "iu" else text  # checked before it is cut to the width of an id
            text = self.inside(whole, COUNT, op, sure=False, hint=VERTICES)
        self.define(op.out, text)

    def write_random(self, op: g.RandomOp) -> None:
        """splitmix64 over the keys."""
        h = "u64(0)"
        for key in op.keys:
            kind = self.kind(key)
            bits = f"u64(float_bits(f64({self.value(key)})))" if kind[0] == "f" else f"u64(i64({self.value(key)}))"
            h = f"mix({h}, {bits})"
        self.define(op.out, h if self.kind(op.out) == "u64" else f"f64({h} >> u64(11)) * 1.1102230246251565e-16")

    def write_call(self, op: g.CallOp) -> None:
        """A call of an extern function, its result in the declared type."""
        name = op.callee.root_reference.data
        arguments = ", ".join(self.value(a) for a in op.arguments)
        self.define(op.out, f"{self.kind(op.out)}(extern_{name}({arguments}))")

    def write_variable(self, op: g.VariableOp) -> None:
        """A local variable."""
        name = self.names.make(op.out.name_hint)
        self.text[op.out] = name
        self.out(f"{name} = {self.typed(op.value)}")

    def typed(self, v: SSAValue) -> str:
        """A value that keeps its type when a variable first takes it."""
        return f"{self.kind(v)}({self.value(v)})" if g.is_scalar(v.type) and self.kind(v) != "bool" else self.value(v)

    def write_get(self, op: g.GetOp) -> None:
        """The value that a variable has now."""
        self.define(op.out, self.value(op.variable))

    def write_set(self, op: g.SetOp) -> None:
        """A new value for a variable."""
        self.out(f"{self.value(op.variable)} = {self.typed(op.value)}")

    def write_if(self, op: g.IfOp) -> None:
        """Two branches."""
        with self.out.block(f"if {self.value(op.condition)}"):
            self.block(op.then.block)
        if op.otherwise.block.ops:
            with self.out.block("else"):
                self.block(op.otherwise.block)

    def write_while(self, op: g.WhileOp) -> None:
        """A loop whose condition is computed at each turn."""
        with self.out.block("while True"):
            with self.out.block("if told_to_stop(w)"):
                self.out("break")
            self.block(op.condition.block)
            last = op.condition.block.last_op
            assert isinstance(last, g.YieldOp)
            with self.out.block(f"if not {self.value(last.values[0])}"):
                self.out("break")
            self.block(op.body.block)

    def write_for(self, op: g.ForOp) -> None:
        """A counting loop."""
        counter = self.names.make(op.body.block.args[0].name_hint, "i")
        self.text[op.body.block.args[0]] = counter
        low, high, step = (self.value(v) for v in (op.low, op.high, op.step))
        if constant(op.low) is None or (constant(op.high) or SHORT) >= SHORT:
            high = f"{low} if told_to_stop(w) else {high}"
        with self.out.block(f"for {counter} in range({low}, {high}, {step})"):
            self.before_turn(op, counter)
            self.block(op.body.block)

    def before_turn(self, loop: g.ForOp, counter: str) -> None:
        """What a turn of a counting loop begins with."""

    def write_break(self, op: g.BreakOp) -> None:
        """Leave the loop."""
        self.out("break")

    def write_continue(self, op: g.ContinueOp) -> None:
        """Next turn."""
        self.out("continue")

    def write_yield(self, op: g.YieldOp) -> None:
        """Whoever writes the region reads the yielded value."""

    # --- the graph

    def write_vertex_count(self, op: g.VertexCountOp) -> None:
        """n."""
        self.define(op.out, f"i64({self.value(op.edges)}.offsets.size - 1)")

    def write_edge_count(self, op: g.EdgeCountOp) -> None:
        """m."""
        self.define(op.out, f"i64({self.value(op.edges)}.neighbors.size)")

    def write_degree(self, op: g.DegreeOp) -> None:
        """Out-degree."""
        graph = self.value(op.edges)
        v = self.vertex(op.vertex, f"{graph}.offsets.size - 1", op)
        self.define(op.out, f"i64(load({graph}.offsets, i64({v}) + 1)) - i64(load({graph}.offsets, {v}))")

    def write_neighbor(self, op: g.NeighborOp) -> None:
        """The k-th out-neighbour."""
        graph, edge = self.edge(op)
        self.define(op.out, f"load({graph}.neighbors, {edge})")

    def write_weight(self, op: g.WeightOp) -> None:
        """The weight of the k-th out-edge."""
        graph, edge = self.edge(op)
        self.define(op.out, f"{self.kind(op.out)}(load({graph}.weights, {edge}))")

    def edge(self, op: g.NeighborOp | g.WeightOp) -> tuple[str, str]:
        """A graph, and where the k-th out-edge of a vertex is in it."""
        graph = self.value(op.edges)
        v = self.vertex(op.vertex, f"{graph}.offsets.size - 1", op)
        degree = f"load({graph}.offsets, i64({v}) + 1) - load({graph}.offsets, {v})"
        k = self.inside(self.value(op.k), degree, op, counts_edges(op), "from 0 to the degree of the vertex - 1")
        return graph, f"i64(load({graph}.offsets, {v})) + {k}"

    def rows(
        self, op: g.IntersectOp, turned: bool = False, cut_second: bool = False
    ) -> tuple[str, str, list[str], list[str]]:
        """The two vertices of an intersection (the second first if `turned`), and from where to where their neighbours are looked
        at: those from `below` on are left out of the second's, or of the first's where that costs no search and suffices."""
        graph = self.value(op.edges)
        pair = (op.b, op.a) if turned else (op.a, op.b)
        a, b = (self.vertex(v, f"{graph}.offsets.size - 1", op) for v in pair)
        starts = [f"row_start({graph}, {v})" for v in (a, b)]
        ends = [f"row_end({graph}, {v})" for v in (a, b)]
        if op.below is not None:
            halved = next((i for i in ((1,) if cut_second else (1, 0)) if op.below is pair[i]), None)
            if halved is not None:
                starts[halved] = f"half_start({graph}, {(a, b)[halved]})"
                ends[halved] = f"row_middle({graph}, {(a, b)[halved]})"
                self.halves.add(form_of(op.edges))
            else:
                ends[1] = f"row_cut({graph}, {b}, {self.value(op.below)})"
        return a, b, [starts[0], ends[0]], [starts[1], ends[1]]

    def final(self, op: g.QueueFinishedNodeOp) -> str:
        """Whether the bucket of a vertex is behind the current one."""
        q = self.value(op.queue)
        v = self.vertex(op.vertex, f"{q}.priority.size", op)
        return f"bucket({q}, load({q}.priority, {v})) < load({q}.meta, CURRENT)"

    # --- properties

    def vertex(self, v: SSAValue, size: str, op: Operation) -> str:
        """A vertex that is used as an index."""
        return self.inside(self.value(v), size, op, _is_vertex(v), VERTICES)

    def place(self, handle: SSAValue, at: tuple[SSAValue, ...], op: Operation) -> tuple[str, str]:
        """The index of an element in the flat array of a property, and the vertex that it belongs to."""
        element = handle.type.element  # type: ignore[attr-defined]
        size = f"{self.value(handle)}.size"
        if isinstance(element, g.VectorType):
            width = element.size.data
            v = self.vertex(at[0], f"{size} // {width}", op)
            k = self.inside(
                self.value(at[1]), str(width), op, _counts_to(at[1], width), f"entries are 0 to {width - 1}"
            )
            return f"i64({v}) * {width} + {k}", v
        v = self.vertex(at[0], size, op)
        return v, v

    def element(self, array: str, place: str, v: SSAValue) -> str:
        """The text that loads a scalar."""
        return f"load({array}, {place}) != 0" if self.kind(v) == "bool" else f"load({array}, {place})"

    def write_load(self, op: g.LoadOp) -> None:
        """A value of a property."""
        self.define(op.out, self.element(self.value(op.source), self.place(op.source, tuple(op.at), op)[0], op.out))


def _finite(v: SSAValue) -> bool:
    """Whether a value is a constant that is not inf."""
    if not isinstance(v, OpResult) or not isinstance(v.op, g.ConstantOp):
        return False
    assert isinstance(v.type, IntegerType)
    return g.constant_value(v.op) != g.infinity(v.type)


def _bounds(t: str) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    bits = int(t[1:])
    return (0, 2**bits - 1) if t[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _is_vertex(v: SSAValue) -> bool:
    """Whether a vertex is sure to be one: an argument, a neighbour, or a number that was checked when it became a vertex."""
    if isinstance(v, BlockArgument):
        return isinstance(v.type, g.VertexType)
    if isinstance(v.owner, g.CastOp):
        return not isinstance(v.owner.value.type, g.VertexType) or _is_vertex(v.owner.value)
    return isinstance(v.owner, g.NeighborOp)


def _counts_to(k: SSAValue, width: int) -> bool:
    """Whether an index is a constant, or counts between constants, from 0 up to below `width`."""
    loop = k.owner.parent_op() if isinstance(k, BlockArgument) else None
    if isinstance(loop, g.ForOp):
        low, high = constant(loop.low), constant(loop.high)
        return low is not None and low >= 0 and high is not None and high <= width
    found = constant(k)
    return found is not None and 0 <= found < width
