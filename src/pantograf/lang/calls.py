"""What calls mean: conversions, Python's builtins, the functions of the vocabulary, externs, and the author's functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute

from pantograf.ir import graph
from pantograf.ir.graph import PropertyType, VectorType, VertexSetType, VertexType, f64, is_scalar, u64
from pantograf.lang.arguments import bind, program_only
from pantograf.lang.builder import element_of
from pantograf.lang.captures import annotation
from pantograf.lang.functions import check_write, inline, root
from pantograf.lang.methods import method, size
from pantograf.lang.values import (
    Foreign,
    Function,
    Method,
    Nothing,
    NoVertex,
    Number,
    Operand,
    Text,
    Type,
    Value,
    Word,
    describe,
)

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer


def call(t: Tracer, node: ast.Call) -> Operand:
    """A call."""
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            t.fail(argument, "a call in a program has no *arguments", "write each argument out")
    for keyword in node.keywords:
        if keyword.arg is None:
            t.fail(keyword.value, "a call in a program has no **arguments", "write each argument out")
    callee = t.operand(node.func)
    match callee:
        case Method():
            return method(t, node, callee)
        case Function():
            return inline(t, callee, arguments_of(t, node, callee), node)
        case Foreign():
            return foreign(t, node, callee)
        case Type():
            return conversion(t, node, callee.type)
        case Word(name) if name in WORDS:
            return WORDS[name](t, node)
        case Word(name):
            t.fail(
                node,
                f"{name} cannot be called here",
                MISPLACED.get(name, "legal: functions, methods, and types as conversions"),
            )
    t.fail(node, f"{describe(callee)} cannot be called", "legal: functions, methods, and types as conversions: i64(x)")


def arguments_of(t: Tracer, node: ast.Call, function: Function) -> list[Operand]:
    """The arguments of a call to a function of the author's, in its order."""
    names = [a.arg for a in (*function.node.args.posonlyargs, *function.node.args.args)]
    found = bind(t, node, function.name, names, len(names))
    return [t.operand(found[name]) for name in names]


def conversion(t: Tracer, node: ast.Call, to: Attribute) -> Operand:
    """`i64(x)`."""
    argument = bind(t, node, graph.type_name(to), ["x"], 1)["x"]
    if not is_scalar(to):
        t.fail(
            node,
            f"{describe(to)} is not made by a conversion",
            "edges.vertices.property(f64, 0), pg.vertex_set(v), pg.list_of(i32)",
        )
    found = t.scalar(argument)
    if to == graph.i1 and isinstance(found, Value) and isinstance(found.type, VertexType):
        t.fail(argument, "a vertex is no truth value", "compare it: v != pg.none")
    return t.builder.cast(found, to)


def foreign(t: Tracer, node: ast.Call, callee: Foreign) -> Value:
    """A call of an extern, which is declared at its first call."""
    extern = callee.extern
    names = [f"x{i + 1}" for i in range(len(extern.inputs))]
    found = bind(t, node, extern.name, names, len(names))
    inputs = [annotation(t, kind, node) for kind in extern.inputs]
    output = annotation(t, extern.output, node)
    values = [
        t.converted(found[name], kind, f"an argument of {extern.name}")
        for name, kind in zip(names, inputs, strict=True)
    ]
    name = extern.name
    while t.externs.get(name, extern.function) is not extern.function:
        name += "_"
    if name not in t.externs:
        t.externs[name] = extern.function
        t.builder.extern(name, inputs, output)
    return t.builder.call(name, values, output)


# --- words ------------------------------------------------------------------------------------------------------------


def absolute(t: Tracer, node: ast.Call) -> Operand:
    """`abs(x)`."""
    return t.builder.unary("abs", t.scalar(bind(t, node, "abs", ["x"], 1)["x"]))


def extreme(kind: str) -> Callable[[Tracer, ast.Call], Operand]:
    """`min` and `max` of two scalars or more."""

    def made(t: Tracer, node: ast.Call) -> Operand:
        if node.keywords:
            t.fail(node.keywords[0], f"{kind} has no argument {node.keywords[0].arg!r}", f"{kind}(a, b, ...)")
        if len(node.args) < 2:
            t.fail(
                node, f"{kind} takes two numbers or more", f"{kind}(a, b), and p.{kind}() for all values of a property"
            )
        found: Value | Number | NoVertex = t.scalar(node.args[0])
        for argument in node.args[1:]:
            found = t.builder.binary(kind, found, t.scalar(argument))
        return found

    return made


def length(t: Tracer, node: ast.Call) -> Operand:
    """`len(x)`."""
    argument = bind(t, node, "len", ["x"], 1)["x"]
    return size(t, t.operand(argument), argument)


def elementary(kind: str) -> Callable[[Tracer, ast.Call], Operand]:
    """`sqrt` and its like."""

    def made(t: Tracer, node: ast.Call) -> Operand:
        return t.builder.unary(kind, t.scalar(bind(t, node, kind, ["x"], 1)["x"]))

    return made


def show(t: Tracer, node: ast.Call) -> Operand:
    """`print`: one text at most, at the front, and values."""
    if node.keywords:
        t.fail(node.keywords[0], f"print has no argument {node.keywords[0].arg!r}", 'print("text", value, ...)')
    text, values = "", []
    for i, argument in enumerate(node.args):
        found = t.operand(argument)
        if isinstance(found, Text):
            if i:
                t.fail(argument, "a text stands first in print", 'print("text", value, ...)')
            text = found.value
        else:
            values.append(t.scalar(argument) if not isinstance(found, (Value, Number, NoVertex)) else found)
    t.builder.say(text, [t.builder.own(v) for v in values if isinstance(v, (Value, Number, NoVertex))])
    return Nothing("print gives no value", "print on a line of its own")


def vertex_set(t: Tracer, node: ast.Call) -> Operand:
    """`pg.vertex_set(v, w)`."""
    program_only(t, node, "vertex_set", "make sets in the program; where(f) is the set of vertices for which f is true")
    if node.keywords:
        t.fail(node.keywords[0], f"vertex_set has no argument {node.keywords[0].arg!r}", "vertex_set(v, w, ...)")
    assert t.edges is not None
    return t.builder.vertex_set(t.edges, [t.converted(a, VertexType(), "a member") for a in node.args])


def priority_queue(t: Tracer, node: ast.Call) -> Operand:
    """`pg.priority_queue(p)`; from here on the property changes only through the queue."""
    program_only(t, node, "priority_queue", "make queues in the program")
    found = bind(t, node, "priority_queue", ["priority", "lowest_first", "delta", "start", "label"], 1)
    priority = t.value(found["priority"])
    if not isinstance(priority.type, PropertyType) or isinstance(priority.type.element, (VectorType, VertexType)):
        t.fail(
            found["priority"],
            f"a queue is ordered by a property of numbers, and this is {describe(priority)}",
            "edges.vertices.property(i32, inf)",
        )
    lowest = t.operand(found["lowest_first"]) if "lowest_first" in found else Number(True)
    if not (isinstance(lowest, Number) and isinstance(lowest.value, bool)):
        t.fail(found["lowest_first"], "lowest_first is known when the program is read", "legal: True, False")
    start = t.operand(found["start"]) if "start" in found else Text("none")
    if not (isinstance(start, Text) and start.value in ("none", "all")):
        t.fail(found["start"], "start says which vertices are queued at first", 'legal: "none", "all"')
    kind = element_of(priority.type)
    delta = t.converted(found["delta"], kind, "delta") if "delta" in found else t.builder.convert(Number(1), kind)
    label = t.label(node, "queue", found.get("label"))
    t.queued[root(priority)] = priority.ssa.name_hint or "it"
    return t.builder.queue(priority, delta, lowest_first=lowest.value, start=start.value, label=label)


def list_of(t: Tracer, node: ast.Call) -> Operand:
    """`pg.list_of(i32)`."""
    program_only(t, node, "list_of", "make lists in the program")
    argument = bind(t, node, "list_of", ["element"], 1)["element"]
    kind = t.operand(argument)
    if not (isinstance(kind, Type) and (is_scalar(kind.type) or isinstance(kind.type, VertexSetType))):
        t.fail(argument, "a list holds vertex sets or scalars", "pg.list_of(VertexSet), pg.list_of(i32)")
    return t.builder.list_of(kind.type)


def vector(t: Tracer, node: ast.Call) -> Operand:
    """`pg.vector(f64, 20)`."""
    found = bind(t, node, "vector", ["element", "size"], 2)
    kind, size = t.operand(found["element"]), t.operand(found["size"])
    if not (isinstance(kind, Type) and is_scalar(kind.type) and not isinstance(kind.type, VertexType)):
        t.fail(found["element"], "a vector holds numbers", "vector(f64, 20)")
    if not (isinstance(size, Number) and type(size.value) is int and size.value > 0):
        t.fail(
            found["size"],
            "a vector's size is a whole number from 1 that is known when the program is read",
            "vector(f64, 20)",
        )
    return Type(VectorType(IntAttr(int(size.value)), kind.type))


def compare_and_swap(t: Tracer, node: ast.Call) -> Operand:
    """`pg.compare_and_swap(p, v, old, new)`: the apply around it runs in place."""
    found = bind(t, node, "compare_and_swap", ["target", "vertex", "old", "new"], 4)
    if not t.context.is_function:
        t.fail(
            node,
            "compare_and_swap is for functions that run on many at once",
            "in the program write: if p[v] == old: p[v] = new",
        )
    target = t.value(found["target"])
    if not isinstance(target.type, PropertyType) or isinstance(target.type.element, VectorType):
        t.fail(
            found["target"],
            f"compare_and_swap is for a property of scalars, and this is {describe(target)}",
            "compare_and_swap(p, v, old, new)",
        )
    t.context.in_place = True
    check_write(t, node, target, [])
    kind = target.type.element
    vertex = t.vertex(found["vertex"], "the vertex")
    old, new = t.converted(found["old"], kind, "old"), t.converted(found["new"], kind, "new")
    return t.builder.compare_and_swap(target, vertex, old, new)


def random(kind: Attribute, name: str) -> Callable[[Tracer, ast.Call], Operand]:
    """`pg.random` and `pg.random_bits`."""

    def made(t: Tracer, node: ast.Call) -> Operand:
        if node.keywords:
            t.fail(node.keywords[0], f"{name} has no argument {node.keywords[0].arg!r}", f"{name}(key, ...)")
        if not node.args:
            t.fail(node, f"{name} needs a key", f"the number depends on the keys alone: {name}(seed, v)")
        keys = []
        for argument in node.args:
            key = t.builder.own(t.scalar(argument))
            if graph.is_float(key.type):
                t.fail(argument, f"a key is a whole number or a vertex, and this is {describe(key)}", "i64(x) cuts it")
            keys.append(key)
        return t.builder.random(keys, kind)

    return made


def timer_start(t: Tracer, node: ast.Call) -> Operand:
    """`pg.timer_start()`."""
    bind(t, node, "timer_start", [], 0)
    program_only(t, node, "timer_start", "time in the program, around the apply")
    t.builder.timer_start()
    return Nothing("timer_start gives no value", "pg.timer_stop() gives the seconds since it")


def timer_stop(t: Tracer, node: ast.Call) -> Operand:
    """`pg.timer_stop()`."""
    bind(t, node, "timer_stop", [], 0)
    program_only(t, node, "timer_stop", "time in the program, around the apply")
    return t.builder.timer_stop()


WORDS: Mapping[str, Callable[[Tracer, ast.Call], Operand]] = {
    "abs": absolute,
    "min": extreme("min"),
    "max": extreme("max"),
    "len": length,
    "print": show,
    **{kind: elementary(kind) for kind in ("sqrt", "exp", "log", "floor", "ceil")},
    "vertex_set": vertex_set,
    "priority_queue": priority_queue,
    "list_of": list_of,
    "vector": vector,
    "compare_and_swap": compare_and_swap,
    "random": random(f64, "random"),
    "random_bits": random(u64, "random_bits"),
    "timer_start": timer_start,
    "timer_stop": timer_stop,
}
MISPLACED = {
    "range": "range belongs into a loop: for i in range(n)",
    "par_range": "par_range belongs into a loop: for i in pg.par_range(0, n)",
    "label": 'label belongs into a with: with pg.label("s0"):',
    "results": "results belongs into the return: return pg.results(total=x)",
    "extern": "declare externs outside of the program: @pg.extern def f(x: f64) -> f64",
    "Edges": "the edges are the program's first argument",
    "Property": "edges.vertices.property(f64, 0) makes a property",
    "PriorityQueue": "pg.priority_queue(p) makes a queue",
    "List": "pg.list_of(i32) makes a list",
}
