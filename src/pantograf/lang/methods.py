"""What methods and attributes mean: of edges, vertex sets, properties, queues and lists."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pantograf.ir import graph
from pantograf.ir.graph import (
    EdgesType,
    ListType,
    PropertyType,
    QueueType,
    VectorType,
    VertexSetType,
    VertexType,
    i1,
    is_scalar,
)
from pantograf.lang.arguments import bind, program_only
from pantograf.lang.builder import element_of
from pantograf.lang.functions import apply_to_edges, apply_to_vertices, select_vertices
from pantograf.lang.values import (
    AllVertices,
    Function,
    Method,
    Nothing,
    NoVertex,
    Number,
    Operand,
    Selection,
    Type,
    Value,
    describe,
    is_number,
    is_weighted,
)

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer

ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "edges": ("vertices", "size", "out_degrees", "in_degrees"),
    "vertices": ("size",),
    "set": ("size",),
    "queue": ("priority",),
    "list": ("size",),
}


def kind_of(x: Operand) -> str:
    """Which table of methods an operand has."""
    match x:
        case AllVertices():
            return "vertices"
        case Selection():
            return "edges"
        case Value():
            match x.type:
                case EdgesType():
                    return "edges"
                case VertexSetType():
                    return "set"
                case PropertyType():
                    return "property"
                case QueueType():
                    return "queue"
                case ListType():
                    return "list"
    return ""


def attribute(t: Tracer, kind: str, receiver: Operand, name: str) -> Operand:
    """A property of a handle, in Python's sense."""
    if name == "size" and kind != "edges":
        return size(t, receiver, None)
    value = edges_of(receiver) if kind == "edges" else t.materialize(receiver)
    match name:
        case "vertices":
            return AllVertices(value)
        case "size":
            return t.builder.edge_count(value)
        case "priority":
            return t.builder.queue_priority(value)
    degrees = t.builder.degrees(value, name.removesuffix("_degrees"))
    t.fixed.add(degrees.ssa)
    return degrees


def edges_of(x: Operand) -> Value:
    """The edges that a selection selects from, or the edges themselves."""
    found = x.edges if isinstance(x, Selection) else x
    assert isinstance(found, Value)
    return found


def size(t: Tracer, x: Operand, node: ast.expr | None) -> Value:
    """How many members a set or a list has, or the edges."""
    if isinstance(x, AllVertices):
        return t.builder.vertex_count(x.edges)
    value = t.materialize(x)
    if isinstance(value.type, EdgesType):
        return t.builder.edge_count(value)
    if not isinstance(value.type, (VertexSetType, ListType)):
        assert node is not None
        t.fail(node, f"{describe(value)} has no length", "len is for vertex sets, lists and edges")
    return t.builder.size(value)


def method(t: Tracer, node: ast.Call, callee: Method) -> Operand:
    """A method call."""
    kind = kind_of(callee.receiver)
    return METHODS[kind][callee.name](t, node, callee.receiver)


# --- edges ------------------------------------------------------------------------------------------------------------


def restrict(clause: str) -> Callable[[Tracer, ast.Call, Operand], Operand]:
    """`from_` and `to`: one set and one filter each."""

    def made(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
        argument = bind(t, node, clause, ["vertices"], 1)["vertices"]
        found = t.operand(argument)
        if isinstance(found, Nothing):
            t.materialize_at(found, argument)
        selection = receiver if isinstance(receiver, Selection) else Selection(edges_of(receiver))
        if isinstance(found, AllVertices):
            return selection
        is_filter = isinstance(found, Function)
        if not is_filter and not (isinstance(found, Value) and isinstance(found.type, VertexSetType)):
            t.fail(
                argument,
                f"{clause} takes a vertex set or a filter, and this is {describe(found)}",
                f"{clause}(frontier), {clause}(f) with f giving a bool",
            )
        key = f"{clause.rstrip('_')}_{'filter' if is_filter else 'set'}"
        if key in selection.said:
            t.fail(
                argument,
                f"{clause} already has a {'filter' if is_filter else 'set'}",
                f"one set and one filter: {clause}(s).{clause}(f)",
            )
        assert isinstance(found, (Value, Function))
        return Selection(selection.edges, {**selection.said, key: found})

    return made


def edge_apply(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`edges.apply(f)`."""
    return apply_to_edges(t, node, receiver if isinstance(receiver, Selection) else Selection(edges_of(receiver)))


def whole(t: Tracer, node: ast.Call, receiver: Operand, what: str) -> Value:
    """The receiver, if nothing was selected from it."""
    if isinstance(receiver, Selection):
        t.fail(node, f"{what} is for edges, and these are selected edges", "after from_ and to comes apply")
    return edges_of(receiver)


def transpose(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`edges.transpose()`."""
    bind(t, node, "transpose", [], 0)
    program_only(t, node, "transpose", "transpose in the program")
    return t.builder.transpose(whole(t, node, receiver, "transpose"))


def relabel(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`edges.relabel()`."""
    bind(t, node, "relabel", [], 0)
    program_only(t, node, "relabel", "relabel in the program")
    return t.builder.relabel(whole(t, node, receiver, "relabel"))


def degree(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`edges.degree(v)`."""
    found = bind(t, node, "degree", ["vertex"], 1)
    return t.builder.degree(whole(t, node, receiver, "degree"), t.vertex(found["vertex"]))


def neighbor(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`edges.neighbor(v, k)`."""
    found = bind(t, node, "neighbor", ["vertex", "k"], 2)
    vertex, k = t.vertex(found["vertex"]), t.converted(found["k"], graph.i64, "k")
    return t.builder.neighbor(whole(t, node, receiver, "neighbor"), vertex, k)


def weight(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`edges.weight(v, k)`."""
    found = bind(t, node, "weight", ["vertex", "k"], 2)
    edges = whole(t, node, receiver, "weight")
    if not is_weighted(edges.type):
        t.fail(
            node,
            "these edges have no weights",
            "declare the argument as Edges[i32], Edges[f64], or Edges[Weight] for any type",
        )
    return t.builder.weight(edges, t.vertex(found["vertex"]), t.converted(found["k"], graph.i64, "k"))


def intersect(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`edges.intersect(a, b, below=c)`."""
    found = bind(t, node, "intersect", ["a", "b", "below", "label"], 2)
    edges = whole(t, node, receiver, "intersect")
    a, b = t.vertex(found["a"]), t.vertex(found["b"])
    below = t.vertex(found["below"]) if "below" in found else None
    return t.builder.intersect(edges, a, b, below, t.label(node, "intersect", found.get("label")))


# --- vertex sets ------------------------------------------------------------------------------------------------------


def make_property(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`vertices.property(f64, 0)`."""
    found = bind(t, node, "property", ["type", "initial"], 1)
    program_only(t, node, "property", "make properties in the program")
    kind = t.operand(found["type"])
    if not (isinstance(kind, Type) and (is_scalar(kind.type) or isinstance(kind.type, VectorType))):
        legal = "legal: i32, i64, u32, u64, f32, f64, bool, Vertex, vector(f64, 20)"
        t.fail(found["type"], f"a property's values have a type, and this is {describe(kind)}", legal)
    element = kind.type.element if isinstance(kind.type, VectorType) else kind.type
    default: Number | NoVertex = (
        NoVertex() if isinstance(element, VertexType) else Number(False if element == i1 else 0)
    )
    if "initial" in found:
        initial = t.converted(found["initial"], element, "a value of this property")
    else:
        initial = t.builder.convert(default, element)
    assert isinstance(receiver, AllVertices)
    return t.builder.property(receiver.edges, initial, kind.type)


def add_vertex(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`s.add(v)`."""
    found = bind(t, node, "add", ["vertex"], 1)
    program_only(t, node, "add", "apply(f, modified=p) and where(f) make sets from what functions do")
    t.builder.add(t.materialize(receiver), t.converted(found["vertex"], VertexType(), "a member"))
    return Nothing("add gives no value", "it changes the set; write it on a line of its own")


def copy(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`p.copy()`, `s.copy()`."""
    bind(t, node, "copy", [], 0)
    program_only(t, node, "copy", "copy in the program")
    return t.builder.copy(t.materialize(receiver))


# --- properties -------------------------------------------------------------------------------------------------------


def aggregate(name: str) -> Callable[[Tracer, ast.Call, Operand], Operand]:
    """`sum`, `min`, `max`, `any` of all values."""

    def made(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
        bind(t, node, name, [], 0)
        program_only(t, node, f"{name} of a property", f"compute it before: total = p.{name}()")
        source = t.materialize(receiver)
        assert isinstance(source.type, PropertyType)
        element = source.type.element
        if isinstance(element, VectorType) or (not is_number(element) if name != "any" else element != i1):
            legal = "any is for bools, sum, min and max are for numbers"
            t.fail(node, f"{describe(source)} has no {name}", legal)
        return t.builder.aggregate(source, "or" if name == "any" else name)

    return made


# --- queues and lists -------------------------------------------------------------------------------------------------


def queue_add(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`queue.add(v, priority)`."""
    found = bind(t, node, "add", ["vertex", "priority"], 2)
    program_only(t, node, "add", "in a function: queue.update_min(v, x), update_max(v, x), update_sum(v, x, limit)")
    queue = t.materialize(receiver)
    vertex = t.converted(found["vertex"], VertexType(), "what is queued")
    t.builder.queue_add(queue, vertex, t.converted(found["priority"], element_of(queue.type), "a priority"))
    return Nothing("add gives no value", "it changes the queue; write it on a line of its own")


def queue_pop(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`queue.pop()`."""
    bind(t, node, "pop", [], 0)
    program_only(t, node, "pop", "pop in the program")
    return t.builder.queue_pop(t.materialize(receiver))


def update(kind: str) -> Callable[[Tracer, ast.Call, Operand], Operand]:
    """`update_min`, `update_max`, `update_sum`."""

    def made(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
        what = f"update_{kind}"
        names = ["vertex", "value", "limit"] if kind == "sum" else ["vertex", "value"]
        found = bind(t, node, what, names, len(names))
        if not t.context.is_function or t.context.kind == "filter":
            t.fail(node, f"{what} is for functions that an apply runs", "in the program: queue.add(v, priority)")
        queue = t.materialize(receiver)
        assert isinstance(queue.type, QueueType)
        vertex = t.vertex(found["vertex"])
        value = t.converted(found["value"], queue.type.priority, "a priority")
        limit = t.converted(found["limit"], queue.type.priority, "the limit") if kind == "sum" else None
        t.builder.queue_update(queue, vertex, value, limit, kind)
        t.context.written.add(PropertyType(queue.type.priority))
        return Nothing(f"{what} gives no value", "it changes the queue; write it on a line of its own")

    return made


def finished(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`queue.finished()`."""
    bind(t, node, "finished", [], 0)
    return t.builder.queue_finished(t.materialize(receiver))


def finished_node(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`queue.finished_node(v)`."""
    found = bind(t, node, "finished_node", ["vertex"], 1)
    return t.builder.queue_finished_node(t.materialize(receiver), t.vertex(found["vertex"]))


def append(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`l.append(x)`."""
    found = bind(t, node, "append", ["value"], 1)
    program_only(t, node, "append", "append in the program")
    target = t.materialize(receiver)
    element = element_of(target.type)
    if is_scalar(element):
        value = t.converted(found["value"], element, "a value of this list")
    else:
        value = t.value(found["value"])
        if value.type != element:
            t.fail(
                found["value"],
                f"this list holds vertex sets, and this is {describe(value)}",
                "append a VertexSet, or make pg.list_of(i32)",
            )
    t.builder.append(target, value)
    return Nothing("append gives no value", "it changes the list; write it on a line of its own")


def list_pop(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`l.pop()`."""
    bind(t, node, "pop", [], 0)
    program_only(t, node, "pop", "pop in the program")
    return t.builder.list_pop(t.materialize(receiver))


Rule = Callable[["Tracer", ast.Call, Operand], Operand]
_SETS: Mapping[str, Rule] = {"apply": apply_to_vertices, "where": select_vertices, "copy": copy}
METHODS: Mapping[str, Mapping[str, Rule]] = {
    "edges": {
        "from_": restrict("from_"),
        "to": restrict("to"),
        "apply": edge_apply,
        "transpose": transpose,
        "relabel": relabel,
        "degree": degree,
        "neighbor": neighbor,
        "weight": weight,
        "intersect": intersect,
    },
    "vertices": {**_SETS, "property": make_property},
    "set": {**_SETS, "add": add_vertex},
    "property": {"copy": copy, **{name: aggregate(name) for name in ("sum", "min", "max", "any")}},
    "queue": {
        "add": queue_add,
        "pop": queue_pop,
        **{f"update_{kind}": update(kind) for kind in ("min", "max", "sum")},
        "finished": finished,
        "finished_node": finished_node,
    },
    "list": {"append": append, "pop": list_pop},
}
