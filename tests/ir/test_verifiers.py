"""What is wrong with GraphIR: the whole message, its line with a caret, and the hint."""

from __future__ import annotations

import inspect

import pytest
from prelude import LINE, program

from pantograf.errors import UserError
from pantograf.ir import graph as g
from pantograf.ir import text as ir_text

EDGE = "apply(%src: !graph.vertex, %dst: !graph.vertex)"
VERTEX = "apply(%v: !graph.vertex)"

WRONG = [
    ("%x = graph.constant 3 : !graph.vertexset", "a constant is a scalar, not VertexSet", ""),
    ("%x = graph.constant none : i32", "none is a vertex, not i32", ""),
    ("%x = graph.constant 300000000000 : i32", "300000000000 does not fit i32", "from -2147483648 to 2147483647"),
    ("%x = graph.constant -1 : ui32", "-1 does not fit u32", "from 0 to 4294967295"),
    ("%x = graph.constant 2 : i1", "2 does not fit bool", "from 0 to 1"),
    ("%x = graph.constant 1.5 : i32", "a constant of type i32 is a whole number", ""),
    ('%x = graph.binary %int, %int {kind = "plus"} : i32', "graph.binary has no kind 'plus'", f"legal: {', '.join(g.BINARY_KINDS)}"),
    ('%x = graph.binary %int, %long {kind = "add"} : i32', "add of i32 and i64", ""),
    ('%x = graph.binary %source, %source {kind = "add"} : !graph.vertex', "no arithmetic on Vertex", ""),
    ('%x = graph.binary %set, %set {kind = "max"} : !graph.vertexset', "no arithmetic on VertexSet", ""),
    ('%x = graph.binary %int, %int {kind = "div"} : i32', "div is not for i32", "cast to f64 first, or write floordiv or cdiv"),
    ('%x = graph.binary %real, %real {kind = "xor"} : f64', "xor is not for f64", ""),
    ('%x = graph.unary %int {kind = "minus"} : i32', "graph.unary has no kind 'minus'", f"legal: {', '.join(g.UNARY_KINDS)}"),
    ('%x = graph.unary %int {kind = "neg"} : i64', "neg of i32 is not i64", ""),
    ('%x = graph.unary %int {kind = "sqrt"} : i32', "sqrt is not for i32", ""),
    ('%x = graph.unary %real {kind = "not"} : f64', "not is not for f64", ""),
    ('%x = graph.unary %source {kind = "neg"} : !graph.vertex', "neg is not for Vertex", ""),
    ('%x = graph.compare %int, %long {kind = "lt"} : i1', "cannot compare i32 with i64", ""),
    ('%x = graph.compare %int, %int {kind = "less"} : i1', "graph.compare has no kind 'less'", f"legal: {', '.join(g.COMPARE_KINDS)}"),
    ('%x = graph.compare %set, %set {kind = "eq"} : i1', "VertexSet cannot be compared", ""),
    ("%x = graph.select %true, %int, %long : i32", "either i32 or i64 is not i32", ""),
    ("%x = graph.cast %set : i32", "only scalars can be cast, not VertexSet", ""),
    ("%x = graph.random keys(%real) : f64", "a key of a random number is a whole number or a vertex, not f64", ""),
    ("%x = graph.random keys(%int) : i32", "a random number is f64 or u64, not i32", ""),
    ("%x = graph.call arguments(%real) {callee = @mix} : f64", "mix is f64, i64 -> f64, and is called as f64 -> f64", ""),
    ("%x = graph.call {callee = @mux} : f64", "there is no graph.extern named mux", "externs: mix"),
    ("%x = graph.variable %int : !graph.cell<i64>", "a variable of i64 cannot hold i32", ""),
    ("%x = graph.get %cell : i64", "a variable of i32 does not hold i64", ""),
    ("graph.set %cell, %long", "a variable of i32 cannot hold i64", ""),
    ('graph.while {label = "w"} condition {\n  graph.yield\n} body {\n}', "the condition of a while must yield a bool", ""),
    ('graph.while {label = "w"} condition {\n} body {\n}', "the condition of a while must yield a bool", ""),
    ('graph.while {label = "w"} condition {\n  graph.yield values(%true)\n} body(%i: i64) {\n}', "the regions of a while have no "
     "arguments", ""),
    ('graph.for %long, %long, %long {label = "f"} body {\n}', "the body of a loop takes one index, an i64", ""),
    ('graph.par_for %long, %long {label = "f"} body(%i: i32) {\n  graph.yield\n}', "the body of a loop takes one index, an i64", ""),
    ("graph.break", "there is no loop round this break", ""),
    ("graph.continue", "there is no loop round this continue", ""),
    ('graph.par_for %long, %long {label = "f"} body(%i: i64) {\n  graph.if %true then {\n    graph.break\n  } otherwise {\n  }\n  graph.yield\n}',
     "there is no loop round this break", ""),
    ("%x = graph.transpose %edges : !graph.edges<f64>", "graph.transpose needs Edges[i32] here, not Edges[f64]", ""),
    ("%x = graph.relabel %edges : !graph.edges<none>", "graph.relabel needs Edges[i32] here, not Edges", ""),
    ('%x = graph.degrees %edges {direction = "both"} : !graph.property<i64>', "direction cannot be 'both'", "legal: in, out"),
    ('%x = graph.degrees %edges {direction = "in"} : !graph.property<i32>', "graph.degrees needs Property[i64] here, not Property[i32]", ""),
    ("%x = graph.weight %edges, %source, %long : f64", "graph.weight needs i32 here, not f64", ""),
    ("%x = graph.property %edges, %int : !graph.property<f64>", "a property of f64 cannot start as i32", ""),
    ("%x = graph.property %edges, %int : !graph.property<!graph.vector<2, f64>>", "a property of vector(f64, 2) cannot start as i32", ""),
    ("%x = graph.copy %ints : !graph.property<i64>", "graph.copy needs Property[i32] here, not Property[i64]", ""),
    ("graph.assign %ints, %longs", "graph.assign needs Property[i32] here, not Property[i64]", ""),
    ("graph.fill %vectors, %int", "graph.fill needs f64 here, not i32", ""),
    ("%x = graph.load %ints at(%source) : i64", "a value of Property[i32] is not i64", ""),
    ("%x = graph.load %ints : i32", "a value of Property[i32] needs 1 index(es): a vertex", ""),
    ("%x = graph.load %vectors at(%source) : f64", "a value of Property[vector(f64, 3)] needs 2 index(es): a vertex, an i64", ""),
    ("%x = graph.load %ints at(%long) : i32", "a value of Property[i32] needs 1 index(es): a vertex", ""),
    ("graph.store %ints, %long at(%source)", "a value of Property[i32] is not i64", ""),
    ('graph.reduce %ints, %int at(%source) {kind = "mul"}', "graph.reduce has no kind 'mul'", "legal: sum, min, max, or"),
    ('graph.reduce %cell, %long {kind = "sum"}', "a value of i32 is not i64", ""),
    ('graph.reduce %cell, %int at(%source) {kind = "sum"}', "a variable has no index", ""),
    ('graph.reduce %parents, %source at(%source) {kind = "sum"}', "sum is no reduction of Vertex", ""),
    ('graph.reduce %reals, %real at(%source) {kind = "or"}', "or is no reduction of f64", ""),
    ("%x = graph.compare_and_swap %ints, %source, %long, %long : i1", "compare_and_swap on Property[i32] cannot change i64 for i64", ""),
    ('%x = graph.aggregate %ints {kind = "count"} : i32', "graph.aggregate has no kind 'count'", "legal: sum, min, max, or"),
    ('%x = graph.aggregate %ints {kind = "sum"} : i64', "graph.aggregate needs i32 here, not i64", ""),
    ('%x = graph.aggregate %vectors {kind = "sum"} : f64', "there is no sum of vector(f64, 3)", ""),
    ("%x = graph.is_dense %edges {threshold = 0 : i64} : i1", "threshold cannot be 0", "a whole number from 1"),
    (f'graph.edge_apply %edges {{label = "a", function = "f"}} {VERTEX} {{\n  graph.yield\n}}', "an edge function takes (src, dst) or "
     "(src, dst, weight), not (Vertex)", ""),
    ('graph.edge_apply %edges {label = "a", function = "f"} apply(%src: !graph.vertex, %dst: !graph.vertex, %w: f64) {\n  graph.yield\n}',
     "an edge function takes (src, dst) or (src, dst, weight), not (Vertex, Vertex, f64)", ""),
    (f'graph.edge_apply %edges {{label = "a", function = "f"}} to_filter(%v: i64) {{\n  graph.yield values(%true)\n}} {EDGE} {{\n  graph.yield\n}}',
     "this function takes one vertex", ""),
    (f'graph.edge_apply %edges {{label = "a", function = "f"}} from_filter(%v: !graph.vertex) {{\n  graph.yield\n}} {EDGE} {{\n  graph.yield\n}}',
     "this function must return a bool on every path", ""),
    (f'graph.edge_apply %edges modified(%ints) {{label = "a", function = "f"}} {EDGE} {{\n  graph.yield\n}}', "modified without a result", ""),
    (f'%x = graph.edge_apply %edges {{label = "a", function = "f"}} {EDGE} {{\n  graph.yield\n}} : !graph.vertexset',
     "this function must return a bool on every path", ""),
    (f'graph.vertex_apply %set {{label = "a", function = "f"}} {EDGE} {{\n  graph.yield\n}}', "this function takes one vertex", ""),
    (f'graph.vertex_apply %set modified(%ints) {{label = "a", function = "f"}} {VERTEX} {{\n  graph.yield\n}}', "modified and a result go "
     "together", ""),
    (f'graph.vertex_apply %set {{label = "a", function = "f"}} {VERTEX} {{\n  graph.yield values(%true)\n}}', "this function returns nothing", ""),
    (f'%x = graph.where %set {{label = "a", function = "f"}} {VERTEX} {{\n  graph.yield values(%int)\n}} : !graph.vertexset',
     "this function must return a bool on every path", ""),
    ("%x = graph.list : !graph.list<!graph.property<i32>>", "a list holds scalars or vertex sets, not Property[i32]", ""),
    ("graph.append %sets, %int", "graph.append needs VertexSet here, not i32", ""),
    ("%x = graph.list_pop %numbers : i32", "graph.list_pop needs f64 here, not i32", ""),
    ("%x = graph.list_get %numbers, %long : i32", "graph.list_get needs f64 here, not i32", ""),
    ('%x = graph.queue %ints, %int {order = "up", start = "none", label = "q"} : !graph.queue<i32>', "order cannot be 'up'",
     "legal: lowest, highest"),
    ('%x = graph.queue %ints, %int {order = "lowest", start = "some", label = "q"} : !graph.queue<i32>', "start cannot be 'some'",
     "legal: none, all"),
    ('%x = graph.queue %ints, %long {order = "lowest", start = "all", label = "q"} : !graph.queue<i32>', "graph.queue needs i32 here, not i64", ""),
    ('%x = graph.queue %flags, %true {order = "lowest", start = "all", label = "q"} : !graph.queue<i1>', "a priority is a number, not bool", ""),
    ("graph.queue_add %queue, %source, %long", "graph.queue_add needs i32 here, not i64", ""),
    ("%x = graph.queue_priority %queue : i64", "graph.queue_priority needs i32 here, not i64", ""),
    ('graph.queue_update %queue, %source, %int {kind = "or"}', "graph.queue_update has no kind 'or'", "legal: min, max, sum"),
    ('graph.queue_update %queue, %source, %int {kind = "sum"}', "a limit belongs to sum, and to nothing else", ""),
    ('graph.queue_update %queue, %source, %int limit(%int) {kind = "min"}', "a limit belongs to sum, and to nothing else", ""),
    ('graph.queue_update %queue, %source, %long {kind = "min"}', "graph.queue_update needs i32 here, not i64", ""),
    ('graph.fixpoint %edges, %ints {label = "a", loop = "b", function = "f", kind = "min"} message(%s: !graph.vertex, %d: !graph.vertex) {\n'
     "  graph.yield values(%int)\n}", "a fixpoint starts from a set or from a queue", ""),
    ('graph.fixpoint %edges, %ints start(%set) {label = "a", loop = "b", function = "f", kind = "sum"} message(%s: !graph.vertex, '
     "%d: !graph.vertex) {\n  graph.yield values(%int)\n}", "settle belongs to sum, and to nothing else", ""),
    ('graph.fixpoint %edges, %ints start(%set) {label = "a", loop = "b", function = "f", kind = "min"} message(%s: !graph.vertex, '
     "%d: !graph.vertex) {\n  graph.yield values(%real)\n}", "a message to Property[i32] is one i32", ""),
    ('graph.fixpoint %edges, %vectors start(%set) {label = "a", loop = "b", function = "f", kind = "min"} message(%s: !graph.vertex, '
     "%d: !graph.vertex) {\n  graph.yield values(%real)\n}", "the state of a fixpoint is a scalar, not vector(f64, 3)", ""),
    # What xDSL itself finds: operands, results and attributes of the wrong kind.
    ("%x = graph.size %int : i64", "this GraphIR is not valid: Unexpected attribute i32", ""),
    ("graph.set %int, %int", "this GraphIR is not valid: i32 should be of base attribute graph.cell", ""),
    ("%x = graph.vertex_count %edges : i32", "this GraphIR is not valid: Expected attribute i64 but got i32", ""),
    ("graph.if %int then {\n} otherwise {\n}", "this GraphIR is not valid: Expected attribute i1 but got i32", ""),
    ("%x = graph.binary %int, %int : i32", "this GraphIR is not valid: property 'kind' expected in operation 'graph.binary'", ""),
    ("%x = graph.binary %int, %int {kind = 3 : i64} : i32", "this GraphIR is not valid: 3 : i64 should be of base attribute string", ""),
    (f'graph.edge_apply %edges {{label = "a", function = "f"}} {EDGE} {{\n}}', "this GraphIR is not valid: Operation graph.edge_apply contains "
     "empty block in single-block region that expects at least a terminator", ""),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message", "hint"), WRONG)
def test_message_and_place(body: str, message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        ir_text.parse_module(program(body), "p.gir")
    error = caught.value
    assert error.message == message
    assert error.hint == hint
    place = error.place
    assert place is not None
    lines = body.splitlines()
    at = place.line - LINE
    assert place.file == "p.gir"
    assert lines[at].strip() == (place.text or "").strip()
    assert at == (next(i for i, line in enumerate(lines) if "graph.break" in line) if "this break" in message else 0)
    caret = str(error).splitlines()[2]
    assert caret.strip() == "^" * len(lines[at].strip())


HEADS = [
    ('graph.program {sym_name = "p", defaults = [], visibility = "after"} body {\n  graph.return {names = []}\n}',
     "p.gir:1: the first argument of a program is its edges", "write def f(edges: Edges, ...)"),
    ('graph.program {sym_name = "p", defaults = [], visibility = "after"} body(%e: !graph.edges<none>) {\n  graph.return {names = []}\n}',
     "p.gir:1: 1 arguments but 0 defaults", ""),
    ('graph.program {sym_name = "p", arguments = ["e", "e"], defaults = [unit, unit], visibility = "after"} '
     "body(%e: !graph.edges<none>, %f: i32) {\n  graph.return {names = []}\n}", "p.gir:1: each argument of a program needs a name of its own", ""),
    ('graph.program {sym_name = "p", defaults = [unit], visibility = "later"} body(%e: !graph.edges<none>) {\n  graph.return {names = []}\n}',
     "p.gir:1: visibility cannot be 'later'", "legal: after, inplace"),
    ('graph.program {sym_name = "p", defaults = [unit], visibility = "after"} body(%e: !graph.edges<none>) {\n  graph.timer_start\n}',
     "p.gir:1: a program ends with graph.return", ""),
    ('graph.program {sym_name = "p", defaults = [unit], visibility = "after"} body(%e: !graph.edges<none>) {\n'
     '  graph.return values(%e) {names = []}\n}', "p.gir:2: 1 values are returned under 0 names", ""),
    ('graph.program {sym_name = "p", defaults = [unit], visibility = "after"} body(%e: !graph.edges<none>) {\n'
     '  graph.return values(%e, %e) {names = ["a", "a"]}\n}', "p.gir:2: two results have one name: a, a", ""),
    ('graph.extern {sym_name = "f", inputs = [!graph.vertexset], output = i32}', "p.gir:1: an extern takes and returns scalars, not VertexSet", ""),
    ('graph.program {sym_name = "p", defaults = [unit], visibility = "after"} body(%e: !graph.edges<none>) {\n  %z = graph.constant 0 : i64\n'
     "  %w = graph.weight %e, %z, %z : i32\n  graph.return {names = []}\n}",
     "p.gir:3: this GraphIR is not valid: i64 should be of base attribute graph.vertex", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "first", "hint"), HEADS)
def test_programs(text: str, first: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        ir_text.parse_module(text, "p.gir")
    assert str(caught.value).splitlines()[0] == first
    assert caught.value.hint == hint


UNREADABLE = [
    ("%x = graph.frob %int : i32", "Operation graph.frob is not registered"),
    ("%x = graph.size %nobody : i64", "%nobody is not defined"),
    ("%x = graph.binary %int : i32", "Expected ','"),
    ("%x = graph.constant many : i32", "integer or float literal expected"),
    ("%x, %y = graph.size %set : i64", "Operation has 1 results, but was given 2 to bind."),
    ("%x = graph.size %set", "graph.size has 1 result(s) and needs their types"),
    ("%x = graph.size %set : i64, i64", "graph.size has 1 result(s) and needs their types"),
    ("graph.if %true then {\n}", "Expected 'otherwise'"),
    ("%x = graph.cast %int : i32x", "type expected"),
]


@pytest.mark.parametrize(("body", "message"), UNREADABLE)
def test_text_that_cannot_be_read(body: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        ir_text.parse_module(program(body), "p.gir")
    error = caught.value
    assert error.message == f"cannot read GraphIR: {message}"
    assert error.hint == "print a program's GraphIR to see the form"
    assert error.place is not None
    assert LINE <= error.place.line <= LINE + body.count("\n") + 1


def test_no_program() -> None:
    with pytest.raises(UserError, match=r"there is no graph\.program in this module"):
        ir_text.program_of(ir_text.parse_module("builtin.module {\n}"))


def test_messages_are_checked_for_every_operation_with_a_verifier() -> None:
    """Each operation with a verifier of its own has a case above."""
    cases = " ".join([*(body for body, _, _ in WRONG), *(text for text, _, _ in HEADS)])
    for op in g.Graph.operations:
        if "def verify_(" in inspect.getsource(op):
            assert f"{op.name} " in cases or f"{op.name}\n" in cases or cases.endswith(op.name), op.name
