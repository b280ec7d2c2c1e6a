"""What each construct of the language becomes: small programs and the operations that stand for them."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pantograf as pg
from pantograf import Edges, Vertex, Weight, f32, f64, i32, i64, inf
from pantograf.graphs import Graph
from pantograf.ir import graph as ir
from pantograf.ir.text import print_module, program_of
from pantograf.lang.program import program
from pantograf.lang.trace import Traced, trace_function, trace_text


def traced(body: str, arguments: str = "edges: Edges", **names: Any) -> Traced:
    lines = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    return trace_text(f"def f({arguments}):\n{lines}\n", "<text>", 1, "f", names)


def text_of(body: str, arguments: str = "edges: Edges", **names: Any) -> str:
    return print_module(traced(body, arguments, **names).module)


def operations(found: Traced, kind: type) -> list[Any]:
    return [op for op in found.module.walk() if isinstance(op, kind)]


def run(body: str, graph: Graph | None = None, arguments: str = "edges: Edges", **given: Any) -> Any:
    lines = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    made = pg.parse(f"def f({arguments}):\n{lines}\n", name="f").on("reference")
    return made(graph or Graph.from_edges([0, 1, 2], [1, 2, 3], n=4), **given)


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_name_assigned_once_is_a_value_and_otherwise_a_variable() -> None:
    text = text_of("a = edges.size\nb = edges.size\nb = b + a\nreturn b")
    assert "%a = graph.edge_count" in text and "%b = graph.variable" in text and "%a = graph.variable" not in text


def test_a_loops_own_variable_starts_anew_in_each_turn() -> None:
    found = traced(
        "for i in range(3):\n    x = i\n    for j in range(2):\n        x += 1\n    edges.vertices.apply(g)", g=keep
    )
    loop = operations(found, ir.ForOp)[0]
    assert [type(op) for op in loop.body.block.ops][:1] == [ir.VariableOp]


def keep(v):
    return None


def test_a_variable_given_a_value_in_both_branches_stands_before_them() -> None:
    result = run("if edges.size > 2:\n    x = 5\nelse:\n    x = 7\nreturn x")
    assert result.x == 5
    assert run(
        "if edges.size > 9:\n    s = pg.vertex_set(1)\nelse:\n    s = pg.vertex_set(0, 2)\nreturn s"
    ).s.tolist() == [0, 2]


def test_assigning_never_copies() -> None:
    result = run("p = edges.vertices.property(i32, 1)\nq = p\nr = p.copy()\nq[0] = 5\nreturn p, q, r")
    assert result.p.tolist() == result.q.tolist() == [5, 1, 1, 1]
    assert result.r.tolist() == [1, 1, 1, 1]


def test_a_function_sees_names_as_they_are_when_it_is_applied() -> None:
    body = "p = edges.vertices.property(i64, 0)\nk = 1\ndef f2(v):\n    p[v] += k\nedges.vertices.apply(f2)\nk = 10\nedges.vertices.apply(f2)"
    assert run(body + "\nreturn p").p.tolist() == [11] * 4


def test_variables_from_outside_are_read_once_before_the_apply() -> None:
    found = traced(
        "k = 1\np = edges.vertices.property(i64)\nk = 2\ndef f2(v):\n    p[v] = k + k\nedges.vertices.apply(f2)"
    )
    apply = operations(found, ir.VertexApplyOp)[0]
    assert not [op for op in apply.walk() if isinstance(op, ir.GetOp)]
    assert isinstance(apply.prev_op, ir.GetOp)


def test_the_property_that_is_modified_is_the_one_that_is_written() -> None:
    """A handle in a variable is read once: `modified` and the writes name one value."""
    body = "p = edges.vertices.property(i32)\nq = edges.vertices.property(i32)\np, q = q, p\n"
    found = traced(body + "def f2(s, d):\n    q[d] = 1\nedges.from_(edges.apply(f2, modified=q)).apply(f2)")
    apply = operations(found, ir.EdgeApplyOp)[0]
    (store,) = [op for op in apply.walk() if isinstance(op, ir.StoreOp)]
    assert store.target is apply.modified


def test_helpers_of_the_program_may_assign_its_names() -> None:
    body = "x = edges.size - 2\ndef step(by):\n    nonlocal x\n    x = x * 2 + by\nstep(1)\nstep(2)\nreturn x"
    assert run(body).x == 8


def test_shadowing() -> None:
    """A parameter, a local name and a loop's name hide what is outside."""
    body = """
x = 97 + edges.size
def add(x):
    y = x + 1
    return y
y = add(1)
for i in range(3):
    y = add(y)
return x, y
"""
    result = run(body)
    assert (result.x, result.y) == (100, 5)


def test_the_authors_own_min_is_no_reduction() -> None:
    body = "def min(a, b):\n    return a * b\np = edges.vertices.property(i64, 2)\ndef f2(v):\n    p[v] = min(p[v], 3)\nedges.vertices.apply(f2)\nreturn p"
    assert run(body).p.tolist() == [6] * 4


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ("i32", "i32", "i32"),
        ("i32", "i64", "i64"),
        ("u32", "i64", "i64"),
        ("u32", "u64", "u64"),
        ("i64", "f32", "f32"),
        ("i32", "f64", "f64"),
        ("f32", "f64", "f64"),
    ],
)
def test_an_operation_has_the_wider_type(left: str, right: str, wanted: str) -> None:
    for order in (f"a: {left}, b: {right}", f"a: {right}, b: {left}"):
        found = traced("return a * b", f"edges: Edges, {order}")
        assert ir.type_name(operations(found, ir.BinaryOp)[0].out.type) == wanted


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("a + 1", "i32"),
        ("a * 0.5", "f64"),
        ("a / 2", "f64"),
        ("a // 2", "i32"),
        ("a + pg.inf", "i32"),
        ("x / 2", "f32"),
        ("x + 0.1", "f32"),
    ],
)
def test_literals_adapt(expression: str, wanted: str) -> None:
    found = traced(f"return {expression}", "edges: Edges, a: i32, x: f32")
    assert ir.type_name(operations(found, ir.ReturnOp)[0].values[0].type) == wanted


def test_numbers_are_folded_and_captured_numbers_are_frozen() -> None:
    text = text_of(
        "return pg.results(a=STEP * 2 + 1, b=math.pi, c=-(2 ** 3), d=WIDE)", STEP=3, math=math, WIDE=np.int32(4)
    )
    assert re.findall(r"graph.constant (\S+)", text) == ["7", "3.141592653589793", "-8", "4"]


def test_a_frozen_bool_picks_its_branch() -> None:
    text = text_of("x = 1\nif EAGER:\n    x = edges.size\nelse:\n    x = edges.vertices.size\nreturn x", EAGER=True)
    assert "edge_count" in text and "vertex_count" not in text and "graph.if" not in text


def test_conditional_numbers_take_the_type_that_is_wanted() -> None:
    body = "p = edges.vertices.property(i32)\ndef f2(v):\n    p[v] = 1 if v == 0 else 2\nedges.vertices.apply(f2)\nreturn p"
    assert run(body).p.tolist() == [1, 2, 2, 2]


def test_sums_keep_inf_only_where_there_may_be_one() -> None:
    kinds = lambda body, arguments="edges: Edges": [  # noqa: E731
        op.kind.data for op in operations(traced(body, arguments), ir.BinaryOp) if "add" in op.kind.data
    ]
    assert kinds("x = 0\nfor i in range(3):\n    x += i + 1\nreturn x") == ["add", "add"]
    assert kinds("return a + 1", "edges: Edges, a: i32") == ["add_inf"]
    assert kinds("return edges.size + edges.degree(0)") == ["add"]
    spread = "p = edges.vertices.property(i32, {start})\ndef f2(s, d):\n    p[d] = min(p[d], p[s] + 1)\nedges.apply(f2)"
    assert kinds(spread.format(start="inf")) == ["add_inf"]
    assert kinds(spread.format(start="0")) == ["add"]
    assert kinds(spread.format(start="0") + "\np[0] = inf") == ["add_inf"]
    swapped = "p = edges.vertices.property(i32, 0)\nq = edges.vertices.property(i32, inf)\np, q = q, p\nreturn p[0] + 1"
    assert kinds(swapped) == ["add_inf"]
    assert kinds("p = edges.vertices.property(f64, inf)\nreturn p[0] + 1") == ["add"]


def test_inf_saturates() -> None:
    assert run("p = edges.vertices.property(i32, inf)\nreturn p[0] + 5").value == 2**31 - 1


# --- short circuits ---------------------------------------------------------------------------------------------------


def test_the_right_side_is_guarded_only_where_it_could_fail() -> None:
    guarded = "p = edges.vertices.property(Vertex, pg.none)\nreturn edges.vertices.where(lambda v: p[v] != pg.none and p[p[v]] == v)"
    plain = "p = edges.vertices.property(i32)\nreturn edges.vertices.where(lambda v: p[v] > 1 and p[v] < 5 or v == 0)"
    assert len(operations(traced(guarded), ir.IfOp)) == 1
    assert not operations(traced(plain), ir.IfOp)
    assert run(guarded).value.tolist() == []


def test_or_does_not_evaluate_its_right_side_in_vain() -> None:
    body = "p = edges.vertices.property(Vertex, pg.none)\nreturn edges.vertices.where(lambda v: p[v] == pg.none or p[p[v]] == v)"
    assert run(body).value.tolist() == [0, 1, 2, 3]


# --- reductions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("p[d] += w", "sum"),
        ("p[d] -= w", "sum"),
        ("p[d] = p[d] + w", "sum"),
        ("p[d] = w + p[d]", "sum"),
        ("p[d] = p[d] - w", "sum"),
        ("p[d] = min(p[d], w)", "min"),
        ("p[d] = max(w, p[d], 3)", "max"),
        ("p[d] |= w", "or"),
        ("b[d] = b[d] or w > 3", "or"),
        ("b[d] |= w > 3", "or"),
        ("p[other[d]] += w", "sum"),
        ("p[other[d]] = min(p[other[d]], w)", "min"),
    ],
)
def test_reductions_of_properties(statement: str, kind: str) -> None:
    body = f"""
p = edges.vertices.property(i32)
b = edges.vertices.property(bool)
other = edges.vertices.property(Vertex)
def f2(s, d, w):
    {statement}
edges.apply(f2)
"""
    found = traced(body, "edges: Edges[i32]")
    (reduce,) = operations(found, ir.ReduceOp)
    assert reduce.kind.data == kind and not operations(found, ir.StoreOp)


@pytest.mark.parametrize(
    ("start", "statement", "value"),
    [
        ("0", "x += 2", 8),
        ("0", "x -= i64(v)", -6),
        ("9", "x = min(x, i64(v) + 4)", 4),
        ("0", "x = max(i64(v), x)", 3),
        ("False", "x = x or v == 2", True),
        ("False", "x |= v == 9", False),
    ],
)
def test_reductions_of_variables(start: str, statement: str, value: object) -> None:
    assert (
        run(f"x = {start}\ndef f2(v):\n    nonlocal x\n    {statement}\nedges.vertices.apply(f2)\nreturn x").x == value
    )


# --- applies ----------------------------------------------------------------------------------------------------------


def test_sets_and_filters_chain() -> None:
    body = """
s = pg.vertex_set(0, 1)
def small(v):
    return v < 1
return edges.from_(s).from_(small).to(s).to(lambda v: v > 0).apply(lambda a, b: True)
"""
    (apply,) = operations(traced(body), ir.EdgeApplyOp)
    assert apply.from_ is not None and apply.to_ is not None
    assert apply.from_filter is not None and apply.to_filter is not None
    assert run(body).value.tolist() == [1]


def test_compare_and_swap_makes_an_apply_in_place() -> None:
    body = "p = edges.vertices.property(Vertex)\ndef deep(v):\n    return pg.compare_and_swap(p, v, pg.none, v)\ndef f2(s, d):\n    {use}\nedges.apply(f2)"
    assert operations(traced(body.format(use="deep(d)")), ir.EdgeApplyOp)[0].in_place is not None
    assert operations(traced(body.format(use="p[d] = s")), ir.EdgeApplyOp)[0].in_place is None


def test_functions_are_defs_lambdas_and_functions_of_the_module() -> None:
    table = {"keep_even": keep_even}
    body = "a = edges.vertices.where(keep_even)\nb = edges.vertices.where(lambda v: i64(v) % 2 == 1)\nreturn a, b"
    names = [op.function.data for op in operations(traced(body, **table), ir.WhereOp)]
    assert names == ["keep_even", "lambda"]


def keep_even(v):
    return i64(v) % 2 == 0


def test_lambdas_on_one_line_are_told_apart() -> None:
    low = 1
    first, second = (lambda v: i64(v) < low), (lambda v: i64(v) > low)

    def both(edges: Edges):
        a = edges.vertices.where(first)
        b = edges.vertices.where(second)
        return a, b

    result = program(both).on("reference")(Graph.from_edges([0], [1], n=4))
    assert result.a.tolist() == [0] and result.b.tolist() == [2, 3]


def test_weights_of_any_type() -> None:
    found = trace_function(generic, weight="f64")
    assert found.generic
    assert ir.type_name(program_of(found.module).body.block.args[0].type) == "Edges[f64]"
    assert not traced("pass").generic
    assert trace_function(generic).module is not None


def generic(edges: Edges[Weight], least: Weight = 0):
    p = edges.vertices.property(Weight, inf)
    p[0] = least
    return p


def test_externs_are_declared_once() -> None:
    @pg.extern
    def half(x: f64) -> f64:
        return x / 2

    found = traced("return pg.results(a=half(1), b=half(edges.size))", half=half)
    assert len(operations(found, ir.ExternOp)) == 1 and found.externs["half"](4.0) == 2.0
    assert half(3.0) == 1.5  # outside of programs it is the function


def test_two_externs_of_one_name_stay_apart() -> None:
    def make(factor: float) -> Any:
        @pg.extern
        def scale(x: f64) -> f64:
            return x * factor

        return scale

    found = traced("return pg.results(a=one(1), b=two(1))", one=make(2.0), two=make(3.0))
    assert sorted(f(1.0) for f in found.externs.values()) == [2.0, 3.0]


# --- labels and places ------------------------------------------------------------------------------------------------


def labels(found: Traced) -> list[str]:
    kinds = (
        ir.EdgeApplyOp,
        ir.VertexApplyOp,
        ir.WhereOp,
        ir.WhileOp,
        ir.ForOp,
        ir.ParForOp,
        ir.QueueOp,
        ir.IntersectOp,
    )
    return [op.label.data for op in found.module.walk() if isinstance(op, kinds)]


def test_labels_are_the_authors_or_the_functions_names() -> None:
    body = """
def visit(v):
    pass
def keep(v):
    for i in range(2):
        pass
    return True
for i in range(2):
    edges.vertices.apply(visit)
    edges.vertices.apply(visit, label="mine")
    edges.vertices.apply(visit)
while edges.size < 0:
    s = edges.vertices.where(keep)
for i in range(2):
    edges.vertices.apply(visit, label="visit.2")
with pg.label("last"):
    x = edges.vertices.where(keep)
"""
    wanted = ["for", "visit", "mine", "visit.3", "while", "keep", "", "for.2", "visit.2", "last", ""]
    assert labels(traced(body)) == wanted


def test_operations_know_their_line() -> None:
    found = traced("x = edges.size\n\ny = (x +\n     edges.vertices.size)\nreturn y")
    lines = {
        type(op).__name__: op.location.line.data
        for op in found.module.walk()
        if isinstance(op, (ir.EdgeCountOp, ir.VertexCountOp))
    }
    assert lines == {"EdgeCountOp": 2, "VertexCountOp": 5}


def test_operations_of_a_helper_stand_where_it_stands() -> None:
    found = trace_function(uses_helper)
    (binary,) = operations(found, ir.BinaryOp)
    assert binary.location.filename.data == __file__
    assert binary.location.line.data == tripled.__code__.co_firstlineno + 1


def tripled(x):
    return x * 3


def uses_helper(edges: Edges):
    return tripled(edges.size)


def test_arguments_whose_names_end_in_numbers() -> None:
    found = traced("return w_1 + w_2", "edges: Edges, w_1: i32 = 4, w_2: i32 = 5, on: bool = True")
    op = program_of(found.module)
    assert op.argument_names() == ["edges", "w_1", "w_2", "on"]
    assert [ir.default_value(d) for d in op.defaults.data[1:]] == [4, 5, True]


# --- texts ------------------------------------------------------------------------------------------------------------


def test_a_text_brings_its_own_helpers_numbers_and_imports() -> None:
    text = """
from math import tau
import pantograf as graphs
from pantograf import Edges, f64 as real

SIZE = 3

def area(r):
    return tau * r + SIZE

@graphs.program
def circle(edges: "Edges", r: real = 2):
    return area(r) + edges.size

def not_this(edges: Edges):
    return 1
"""
    found = trace_text(text, "<text>", 1, None, {})
    assert found.name == "circle"
    assert pg.parse(text).on("reference")(Graph.from_edges([0], [1])).value == pytest.approx(2 * math.tau + 4)


def test_types_as_texts() -> None:
    def quoted(edges: "Edges[i32]", source: "Vertex", x: "f32" = 2):  # noqa: UP037
        y: "f64" = x  # noqa: UP037
        return y

    op = program_of(trace_function(quoted).module)
    assert [ir.type_name(a.type) for a in op.body.block.args] == ["Edges[i32]", "Vertex", "f32"]


# --- the vocabulary outside of programs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda: pg.vertex_set(0),
        lambda: pg.sqrt(2.0),
        lambda: pg.random(1),
        lambda: pg.i32(3),
        lambda: pg.Vertex(3),
        lambda: pg.Edges(),
        lambda: pg.label("x"),
        lambda: pg.compare_and_swap(None, 0, 1, 2),
        lambda: pg.par_range(0, 3),
        lambda: pg.results(a=1),
        lambda: pg.list_of(pg.i32),
        lambda: pg.priority_queue(None),
        lambda: pg.timer_stop(),
    ],
)
def test_words_have_no_meaning_outside(use: Any) -> None:
    with pytest.raises(pg.UserError, match="has a meaning inside of a program only"):
        use()


def test_a_vector_has_a_size() -> None:
    assert repr(pg.vector(pg.f64, 20)) == "vector(f64, 20)"
    with pytest.raises(pg.UserError, match="a vector cannot have 0 elements"):
        pg.vector(pg.f64, 0)


def test_the_vocabulary_is_light() -> None:
    code = "import sys, pantograf.lang.types; print({'xdsl', 'numba', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_each_word_is_public() -> None:
    from pantograf.lang import types

    assert {name for name in types.__all__ if getattr(pg, name, None) is getattr(types, name)} == set(types.__all__)


@pytest.mark.slow
def test_programs_pass_a_type_checker(tmp_path: Any) -> None:
    """Editors and mypy accept programs as they are written."""
    from mypy import api

    file = tmp_path / "typed.py"
    file.write_text(TYPED)
    out, _, status = api.run([str(file), "--check-untyped-defs"])
    assert status == 0, out


TYPED = """
import pantograf as pg
from pantograf import Edges, Property, Vertex, VertexSet, f64, i32, inf


def bfs(edges: Edges, source: Vertex) -> Property[Vertex]:
    parent = edges.vertices.property(Vertex, pg.none)
    def unvisited(v: Vertex) -> bool: return parent[v] == pg.none
    def visit(src: Vertex, dst: Vertex) -> None: parent[dst] = src
    parent[source] = source
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).to(unvisited).apply(visit, modified=parent, label="traverse")
    return parent


def sssp(edges: Edges[i32], source: Vertex, delta: i32 = 1) -> Property[i32]:
    distance = edges.vertices.property(i32, inf)
    queue = pg.priority_queue(distance, lowest_first=True, delta=delta)
    def relax(src: Vertex, dst: Vertex, weight: i32) -> None: queue.update_min(dst, distance[src] + weight)
    queue.add(source, 0)
    while queue:
        edges.from_(queue.pop()).apply(relax)
    return distance


def others(edges: Edges, given: Property[f64], start: VertexSet) -> Property[f64]:
    total = f64(0)
    latent = edges.vertices.property(pg.vector(f64, 20), 0.5)
    levels = pg.list_of(VertexSet)
    levels.append(start)
    def change(v: Vertex) -> None:
        nonlocal total
        total += abs(given[v])
        given[v] = latent[v, 3] * 2
    with pg.label("s0"):
        for i in range(len(levels)):
            levels[i].apply(change)
    given[:] = given.copy()
    return given
"""
