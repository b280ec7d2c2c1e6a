"""The only place that makes GraphIR operations: owns locations, names of values, conversions, promotions, labels, defaults.

A front end says what to make and where it stands (`at`); what does not fit is a `UserError` at that place.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pantograf.ir import graph
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
)
from pantograf.lang.labels import Labels
from pantograf.lang.scalars import Scalar, ScalarBuilder, valid_hint
from pantograf.lang.values import Value


class Builder(ScalarBuilder):
    """Makes all operations."""

    def __init__(self) -> None:
        super().__init__()
        self.labels = Labels()

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
        return self.put(
            graph.WhileOp(properties={"label": StringAttr(label)}, regions=[Region(Block()), Region(Block())])
        )

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
            operands=[low.ssa, high.ssa],
            properties={"label": StringAttr(label)},
            regions=[Region(Block(arg_types=[i64]))],
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
        return self.value(
            graph.PropertyOp(operands=[edges.ssa, initial.ssa], result_types=[PropertyType(element)]), "property"
        )

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
                operands=[target, value.ssa, [a.ssa for a in at]],
                properties={"kind": StringAttr(kind)},
                result_types=[[]],
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
        self,
        vertices: Value,
        apply: Block,
        *,
        label: str,
        function: str,
        modified: Value | None = None,
        in_place: bool = False,
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
        return self.value(
            graph.ListGetOp(operands=[source.ssa, position.ssa], result_types=[element_of(source.type)]), "item"
        )

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
                operands=[queue.ssa, vertex.ssa, value.ssa, [limit.ssa] if limit else []],
                properties={"kind": StringAttr(kind)},
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


def _flags(**flags: bool) -> dict[str, Attribute]:
    return {name: UnitAttr() for name, on in flags.items() if on}
