"""Every operation and type of the dialect: what is printed can be read, and prints equal."""

from __future__ import annotations

import pytest
from prelude import HEAD, TAIL, program

from pantograf.ir import graph as g
from pantograf.ir import text as ir_text
from pantograf.ir.location import place_of

EDGE_FUNCTION = "apply(%src: !graph.vertex, %dst: !graph.vertex) {\n  graph.yield\n}"

BODIES = [
    '%x = graph.constant -3 : i32\n%y = graph.constant inf : i32\n%z = graph.constant inf : ui64\n%w = graph.constant 18446744073709551614 : ui64',
    "%x = graph.constant 0.1 : f32\n%y = graph.constant inf : f64\n%z = graph.constant neg_inf : f32\n%w = graph.constant nan : f64\n"
    "%v = graph.constant 1.0e-300 : f64\n%u = graph.constant -0.0 : f64\n%t = graph.constant 3.0 : f64",
    "%x = graph.constant none : !graph.vertex\n%y = graph.constant 4 : !graph.vertex\n%z = graph.constant false : i1\n%w = graph.constant 1 : i64",
    *(f'%x = graph.binary %int, %int {{kind = "{kind}"}} : i32' for kind in g.BINARY_KINDS if kind != "div"),
    '%x = graph.binary %real, %real {kind = "div"} : f64\n%y = graph.binary %source, %source {kind = "min"} : !graph.vertex',
    *(f'%x = graph.unary %real {{kind = "{kind}"}} : f64' for kind in g.UNARY_KINDS if kind != "not"),
    '%x = graph.unary %true {kind = "not"} : i1\n%y = graph.unary %int {kind = "not"} : i32',
    *(f'%x = graph.compare %int, %int {{kind = "{kind}"}} : i1' for kind in g.COMPARE_KINDS),
    '%x = graph.compare %source, %source {kind = "lt"} : i1',
    "%x = graph.select %true, %int, %int : i32\n%y = graph.cast %int : f64\n%z = graph.cast %source : i64\n%w = graph.cast %long : !graph.vertex",
    "%x = graph.random keys(%int, %source) : f64\n%y = graph.random : ui64",
    "%x = graph.call arguments(%real, %long) {callee = @mix} : f64",
    "%x = graph.get %cell : i32\ngraph.set %cell, %x\n%y = graph.variable %ints : !graph.cell<!graph.property<i32>>",
    "graph.if %true then {\n  graph.set %cell, %int\n} otherwise {\n}",
    'graph.while {label = "loop"} condition {\n  graph.yield values(%true)\n} body {\n  graph.break\n}',
    'graph.for %long, %long, %long {label = "loop"} body(%i: i64) {\n  graph.if %true then {\n    graph.continue\n  } otherwise {\n  }\n}',
    'graph.par_for %long, %long {label = "loop"} body(%i: i64) {\n  graph.yield\n}',
    "%n = graph.vertex_count %edges : i64\n%m = graph.edge_count %edges : i64\n%all = graph.vertices %edges : !graph.vertexset",
    "%t = graph.transpose %edges : !graph.edges<i32>\n%r = graph.relabel %edges : !graph.edges<i32>",
    '%o = graph.degrees %edges {direction = "out"} : !graph.property<i64>\n%d = graph.degree %edges, %source : i64',
    "%u = graph.neighbor %edges, %source, %long : !graph.vertex\n%w = graph.weight %edges, %source, %long : i32",
    '%x = graph.intersect %edges, %source, %source {label = "i"} : i64\n%y = graph.intersect %edges, %source, %source below(%source) {label = "j"} : i64',
    "%x = graph.copy %ints : !graph.property<i32>\n%y = graph.copy %set : !graph.vertexset\ngraph.assign %ints, %x\ngraph.fill %vectors, %real",
    "%x = graph.load %ints at(%source) : i32\n%y = graph.load %vectors at(%source, %long) : f64\ngraph.store %ints, %x at(%source)\n"
    "graph.store %vectors, %y at(%source, %long) {atomic}",
    'graph.reduce %ints, %int at(%source) {kind = "sum"}\n%c = graph.reduce %ints, %int at(%source) {kind = "min", atomic} : i1\n'
    'graph.reduce %cell, %int {kind = "max"}\ngraph.reduce %flags, %true at(%source) {kind = "or"}',
    "%x = graph.compare_and_swap %ints, %source, %int, %int : i1",
    *(f'%x = graph.aggregate %ints {{kind = "{kind}"}} : i32' for kind in g.REDUCE_KINDS),
    "%x = graph.vertex_set %edges : !graph.vertexset\n%y = graph.vertex_set %edges members(%source, %source) : !graph.vertexset",
    "%x = graph.size %set : i64\n%y = graph.size %sets : i64\ngraph.add %set, %source\n%z = graph.contains %set, %source : i1",
    "%x = graph.is_dense %edges from(%set) {threshold = 20 : i64} : i1\n%y = graph.is_dense %edges {threshold = 1 : i64} : i1",
    f'graph.edge_apply %edges {{label = "a", function = "f"}} {EDGE_FUNCTION}',
    '%x = graph.edge_apply %edges from(%set) to(%set) modified(%ints) {label = "a", function = "f", in_place, keep_duplicates} '
    "from_filter(%u: !graph.vertex) {\n  graph.yield values(%true)\n} to_filter(%v: !graph.vertex) {\n  graph.yield values(%true)\n} "
    "apply(%src: !graph.vertex, %dst: !graph.vertex, %weight: i32) {\n  graph.yield\n} : !graph.vertexset",
    '%x = graph.edge_apply %edges to(%set) {label = "a", function = "f", direction = "pull", early_exit} '
    "apply(%src: !graph.vertex, %dst: !graph.vertex) {\n  graph.yield values(%true)\n} : !graph.vertexset",
    '%x = graph.vertex_apply %set modified(%ints) {label = "a", function = "f", in_place} apply(%v: !graph.vertex) {\n'
    "  graph.yield\n} : !graph.vertexset",
    '%x = graph.where %set {label = "a", function = "f"} apply(%v: !graph.vertex) {\n  graph.yield values(%true)\n} : !graph.vertexset',
    "graph.append %sets, %set\n%x = graph.list_pop %sets : !graph.vertexset\ngraph.append %numbers, %real\n"
    "%y = graph.list_get %numbers, %long : f64",
    '%q = graph.queue %longs, %long {order = "highest", start = "all", label = "other"} : !graph.queue<i64>',
    "graph.queue_add %queue, %source, %int\n%x = graph.queue_pop %queue : !graph.vertexset\n%y = graph.queue_finished %queue : i1\n"
    "%z = graph.queue_finished_node %queue, %source : i1\n%w = graph.queue_priority %queue : i32",
    'graph.queue_update %queue, %source, %int {kind = "min"}\ngraph.queue_update %queue, %source, %int limit(%int) {kind = "sum", atomic}',
    'graph.fixpoint %edges, %ints start(%set) {label = "a", loop = "b", function = "f", kind = "min", asserted} '
    "message(%src: !graph.vertex, %dst: !graph.vertex, %weight: i32) {\n  graph.yield values(%weight)\n}",
    'graph.fixpoint %edges, %ints queue(%queue) {label = "a", loop = "b", function = "f", kind = "sum"} '
    "to_filter(%v: !graph.vertex) {\n  graph.yield values(%true)\n} message(%src: !graph.vertex, %dst: !graph.vertex) {\n"
    "  graph.yield values(%int)\n} settle(%v: !graph.vertex) {\n  graph.yield values(%true)\n}",
    'graph.print values(%int, %set, %ints) {text = "a \\"b\\""}\ngraph.timer_start\n%x = graph.timer_stop : f64',
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_round_trip(body: str) -> None:
    module = ir_text.parse_module(program(body), "p.gir")
    printed = ir_text.print_module(module)
    again = ir_text.parse_module(printed, "p.gir")
    assert ir_text.print_module(again) == printed
    assert module.is_structurally_equivalent(again)


@pytest.mark.parametrize("body", BODIES)
def test_a_copy_prints_equal(body: str) -> None:
    module = ir_text.parse_module(program(body))
    assert ir_text.print_module(module.clone()) == ir_text.print_module(module)


def test_every_operation_is_printed_and_read() -> None:
    seen = {op.name for body in BODIES for op in ir_text.parse_module(program(body)).walk()}
    assert {op.name for op in g.Graph.operations} <= seen


def test_every_type_is_printed_and_read() -> None:
    printed = "".join(ir_text.print_module(ir_text.parse_module(program(body))) for body in BODIES)
    for attribute in g.Graph.attributes:
        assert f"!{attribute.name}" in printed


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("3 : i32", 3),
        ("-3 : i64", -3),
        ("inf : i32", 2**31 - 1),
        ("inf : ui32", 2**32 - 1),
        ("inf : ui64", 2**64 - 1),
        ("-9223372036854775808 : i64", -(2**63)),
        ("true : i1", True),
        ("none : !graph.vertex", None),
        ("2 : f64", 2.0),
        ("0.1 : f32", 0.1),
        ("1.0e-300 : f64", 1e-300),
        ("1.0e+300 : f64", 1e300),
        ("inf : f32", float("inf")),
        ("neg_inf : f64", float("-inf")),
    ],
)
def test_constants_keep_their_values(written: str, value: float | None) -> None:
    module = ir_text.parse_module(program(f"%x = graph.constant {written}"))
    again = ir_text.parse_module(ir_text.print_module(module))
    for each in (module, again):
        found = [op for op in each.walk() if isinstance(op, g.ConstantOp)][-1]
        assert g.constant_value(found) == value
        assert type(g.constant_value(found)) is type(value)


def test_a_constant_can_be_edited_in_the_text() -> None:
    printed = ir_text.print_module(ir_text.parse_module(HEAD + TAIL))
    edited = ir_text.parse_module(printed.replace("graph.constant 7 : i32", "graph.constant 8 : i32"))
    assert 8 in [g.constant_value(op) for op in edited.walk() if isinstance(op, g.ConstantOp)]


def test_operations_know_their_lines() -> None:
    module = ir_text.parse_module(program("%x = graph.size %set : i64"), "p.gir")
    op = next(op for op in module.walk() if isinstance(op, g.SizeOp))
    place = place_of(op)
    assert place is not None
    assert (place.file, place.line, place.column) == ("p.gir", HEAD.count("\n") + 1, 2)
    copy = place_of(op.clone())
    assert copy == place


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("i1", "bool"),
        ("i32", "i32"),
        ("ui64", "u64"),
        ("f32", "f32"),
        ("!graph.vertex", "Vertex"),
        ("!graph.vertexset", "VertexSet"),
        ("!graph.edges<none>", "Edges"),
        ("!graph.edges<f64>", "Edges[f64]"),
        ("!graph.property<!graph.vector<20, f32>>", "Property[vector(f32, 20)]"),
        ("!graph.queue<i32>", "PriorityQueue[i32]"),
        ("!graph.list<!graph.vertexset>", "List[VertexSet]"),
        ("!graph.cell<ui32>", "u32"),
    ],
)
def test_types_in_an_authors_words(kind: str, word: str) -> None:
    text = f'graph.program {{sym_name = "p", defaults = [unit, unit], visibility = "after"}} body(%e: !graph.edges<none>, %x: {kind}) {{\n'
    module = ir_text.parse_module(text + "  graph.return {names = []}\n}\n")
    assert g.type_name(ir_text.program_of(module).body.block.args[1].type) == word
