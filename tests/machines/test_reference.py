"""The reference machine: each operation of GraphIR on examples small enough to compute by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import pantograf as pg
from pantograf import Edges, Vertex, i32
from pantograf.errors import UserError
from pantograf.graphs import Graph
from pantograf.lang.program import from_graphir
from pantograf.result import Result

# 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3, 3 -> 4, and 5 alone
DIAMOND = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], n=6)
WEIGHTED = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], np.array([1, 5, 7, 1, 2], np.int32), n=6)
# 0 and 1 both point at 2; 3 points nowhere
FORK = Graph.from_edges([0, 1], [2, 2], n=4)

CONSTANTS = """
    %zero = graph.constant 0 : i32
    %one = graph.constant 1 : i32
    %two = graph.constant 2 : i32
    %five = graph.constant 5 : i32
    %inf = graph.constant inf : i32
    %none = graph.constant none : !graph.vertex
    %no = graph.constant false : i1
    %yes = graph.constant true : i1
    %i0 = graph.constant 0 : i64
    %i1 = graph.constant 1 : i64
    %i2 = graph.constant 2 : i64
    %v0 = graph.cast %i0 : !graph.vertex
    %v1 = graph.cast %i1 : !graph.vertex
    %v2 = graph.cast %i2 : !graph.vertex
    %all = graph.vertices %edges : !graph.vertexset
    %x = graph.property %edges, %zero : !graph.property<i32>
"""


def run(
    body: str,
    graph: Graph = DIAMOND,
    signature: str = "",
    arguments: Mapping[str, Any] | None = None,
    *,
    visibility: str = "after",
    externs: Mapping[str, Any] | None = None,
    before: str = "",
    **limits: Any,
) -> Result:
    """Run the body of a program, with the constants above, on the reference machine."""
    weight = "none" if graph.weights is None else "i32"
    units = ", ".join(["unit"] * (1 + signature.count(":")))
    text = f"""builtin.module {{
    {before}
    graph.program {{sym_name = "f", defaults = [{units}], visibility = "{visibility}"}}
      body(%edges : !graph.edges<{weight}>{", " if signature else ""}{signature}) {{
    {CONSTANTS}
    {body}
    }}
    }}"""
    program = from_graphir(text, externs=externs or {}).on("reference")
    return program(graph, **(arguments or {}), **limits)


def returned(*names: str) -> str:
    return (
        "\n"
        + f"graph.return values({', '.join('%' + n for n in names)}) {{names = [{', '.join(repr(n) for n in names)}]}}".replace(
            "'", '"'
        )
    )


# --- scalars ----------------------------------------------------------------------------------------------------------

LOW = -(2**31)
HIGH = 2**31 - 1


@pytest.mark.parametrize(
    ("kind", "type", "a", "b", "answer"),
    [
        ("add", "i32", HIGH, 1, LOW),
        ("add", "i64", 2**63 - 1, 1, -(2**63)),
        ("add", "ui32", 2**32 - 1, 2, 1),
        ("sub", "ui64", 0, 1, 2**64 - 1),
        ("mul", "i32", 65536, 65536, 0),
        ("add_inf", "i32", HIGH, 5, HIGH),
        ("add_inf", "i32", 5, HIGH, HIGH),
        ("add_inf", "i32", HIGH, -5, HIGH),
        ("add_inf", "i32", HIGH - 1, 2, LOW),
        ("add_inf", "f64", math.inf, 1.0, math.inf),
        ("floordiv", "i32", -7, 2, -4),
        ("floordiv", "i32", 7, 0, 0),
        ("floordiv", "i32", LOW, -1, LOW),
        ("mod", "i32", -7, 2, 1),
        ("mod", "i32", 7, -2, -1),
        ("mod", "i32", 7, 0, 0),
        ("cdiv", "i32", -7, 2, -3),
        ("cdiv", "i32", 7, 0, 0),
        ("cmod", "i32", -7, 2, -1),
        ("cmod", "i32", 7, -2, 1),
        ("pow", "i32", 3, 4, 81),
        ("pow", "i32", -3, 3, -27),
        ("pow", "i32", 2, 40, 0),
        ("pow", "i32", 2, -1, 0),
        ("pow", "i32", -1, -3, -1),
        ("pow", "i32", 0, -1, 0),
        ("pow", "f64", -8.0, 1 / 3, math.nan),
        ("pow", "f64", 1e200, 2.0, math.inf),
        ("min", "i32", -3, 4, -3),
        ("max", "ui32", 3, 2**32 - 1, 2**32 - 1),
        ("min", "f64", 1.0, math.nan, 1.0),
        ("max", "f64", 1.0, math.nan, 1.0),
        ("and", "i32", 12, 10, 8),
        ("or", "i32", 12, 10, 14),
        ("xor", "i32", -1, 1, -2),
        ("and", "i1", True, False, False),
        ("or", "i1", True, False, True),
        ("xor", "i1", True, True, False),
        ("shl", "i32", 1, 31, LOW),
        ("shl", "i32", 1, 32, 0),
        ("shl", "i32", 1, -1, 0),
        ("shr", "i32", -8, 1, -4),
        ("shr", "i32", -8, 99, -1),
        ("shr", "ui32", 2**32 - 1, 31, 1),
        ("div", "f64", 1.0, 0.0, math.inf),
        ("div", "f64", -1.0, 0.0, -math.inf),
        ("div", "f64", 0.0, 0.0, math.nan),
        ("div", "f32", 1.0, 3.0, float(np.float32(1) / np.float32(3))),
        ("floordiv", "f64", -7.5, 2.0, -4.0),
        ("mod", "f64", -7.5, 2.0, 0.5),
        ("mod", "f64", 1.0, 0.0, math.nan),
        ("add", "f32", 16777216.0, 1.0, 16777216.0),
        ("mul", "f32", 1e30, 1e30, math.inf),
    ],
)
def test_binary(kind: str, type: str, a: Any, b: Any, answer: Any) -> None:
    body = f'%r = graph.binary %a, %b {{kind = "{kind}"}} : {type}\n{returned("r")}'
    found = run(body, signature=f"%a : {type}, %b : {type}", arguments={"a": a, "b": b}).r
    assert found == pytest.approx(answer, rel=0, abs=0, nan_ok=True)
    assert isinstance(found, bool) == (type == "i1")
    assert isinstance(found, float) == type.startswith("f")


@pytest.mark.parametrize(
    ("kind", "type", "a", "answer"),
    [
        ("neg", "i32", LOW, LOW),
        ("neg", "ui32", 1, 2**32 - 1),
        ("abs", "i32", -5, 5),
        ("abs", "i32", LOW, LOW),
        ("not", "i32", 0, -1),
        ("not", "ui32", 0, 2**32 - 1),
        ("not", "i1", True, False),
        ("neg", "f64", 1.5, -1.5),
        ("sqrt", "f64", 2.25, 1.5),
        ("sqrt", "f64", -1.0, math.nan),
        ("exp", "f64", 0.0, 1.0),
        ("exp", "f64", 1e9, math.inf),
        ("log", "f64", math.e, 1.0),
        ("log", "f64", 0.0, -math.inf),
        ("log", "f64", -1.0, math.nan),
        ("floor", "f64", -1.5, -2.0),
        ("ceil", "f64", -1.5, -1.0),
        ("floor", "f64", math.inf, math.inf),
    ],
)
def test_unary(kind: str, type: str, a: Any, answer: Any) -> None:
    body = f'%r = graph.unary %a {{kind = "{kind}"}} : {type}\n{returned("r")}'
    assert run(body, signature=f"%a : {type}", arguments={"a": a}).r == pytest.approx(answer, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("kind", "answer"), [("eq", False), ("ne", True), ("lt", True), ("le", True), ("gt", False), ("ge", False)]
)
def test_compare(kind: str, answer: bool) -> None:
    body = f'%r = graph.compare %a, %b {{kind = "{kind}"}} : i1\n{returned("r")}'
    assert run(body, signature="%a : i32, %b : i32", arguments={"a": -1, "b": 1}).r is answer
    below = f'%r = graph.compare %none, %v0 {{kind = "{kind}"}} : i1\n{returned("r")}'
    assert run(below).r is answer, "none is below every vertex"


def test_none_equals_none_only() -> None:
    body = f"""
    %same = graph.compare %none, %none {{kind = "eq"}} : i1
    %other = graph.compare %none, %v0 {{kind = "eq"}} : i1
    {returned("same", "other")}"""
    result = run(body)
    assert (result.same, result.other) == (True, False)


def test_select() -> None:
    body = f"%r = graph.select %c, %two, %five : i32\n{returned('r')}"
    assert run(body, signature="%c : i1", arguments={"c": True}).r == 2
    assert run(body, signature="%c : i1", arguments={"c": False}).r == 5


@pytest.mark.parametrize(
    ("source", "target", "value", "answer"),
    [
        ("i64", "i32", 2**32 + 3, 3),
        ("i64", "ui32", -1, 2**32 - 1),
        ("i32", "i1", 2, True),
        ("i32", "i1", 0, False),
        ("i1", "i32", True, 1),
        ("f64", "i32", -2.9, -2),
        ("f64", "i1", math.nan, True),
        ("i32", "f64", 3, 3.0),
        ("i64", "f32", 16777217, 16777216.0),
        ("f64", "f32", 0.1, float(np.float32(0.1))),
        ("i64", "f32", 9007199791611905, 9007200328482816.0),  # rounded once; by way of f64 it would be ...3741440
    ],
)
def test_cast(source: str, target: str, value: Any, answer: Any) -> None:
    found = run(f"%r = graph.cast %a : {target}\n{returned('r')}", signature=f"%a : {source}", arguments={"a": value}).r
    assert found == answer
    assert type(found) is type(answer)


@pytest.mark.parametrize("value", [math.nan, math.inf, 2.0**31])
def test_cast_that_does_not_fit(value: float) -> None:
    with pytest.raises(UserError, match="does not fit i32"):
        run(f"%r = graph.cast %a : i32\n{returned('r')}", signature="%a : f64", arguments={"a": value})


def test_vertices_are_their_ids() -> None:
    body = f"""
    %id = graph.cast %v2 : i64
    %no_id = graph.cast %none : i32
    {returned("id", "no_id")}"""
    result = run(body)
    assert (result.id, result.no_id) == (2, -1)


def test_random_is_splitmix64() -> None:
    body = f"""
    %bits = graph.random keys(%i0) : ui64
    %more = graph.random keys(%i0, %i1) : ui64
    %part = graph.random keys(%i0) : f64
    {returned("bits", "more", "part")}"""
    result = run(body)
    assert result.bits == 0xE220A8397B1DCDAF, "the first output of splitmix64 seeded with 0"
    assert result.more not in (result.bits, 0)
    assert result.part == (0xE220A8397B1DCDAF >> 11) / 2**53


EXTERN = 'graph.extern {sym_name = "half", inputs = [i32], output = i32}'


def test_extern() -> None:
    body = f"%r = graph.call arguments(%five) {{callee = @half}} : i32\n{returned('r')}"
    assert run(body, before=EXTERN, externs={"half": lambda a: a // 2}).r == 2
    assert run(body, before=EXTERN, externs={"half": lambda a: a + 2**32}).r == 5, "its result is cut to its type"
    with pytest.raises(UserError, match="there is no extern function 'half'"):
        run(body, before=EXTERN)
    with pytest.raises(UserError, match="half failed: ZeroDivisionError"):
        run(body, before=EXTERN, externs={"half": lambda a: a // 0})


# --- variables and control --------------------------------------------------------------------------------------------


def test_loops_and_branches() -> None:
    """The sum of 0, 1, 3 and 4: `continue` leaves out 2, `break` ends at 5."""
    body = f"""
    %sum = graph.variable %i0 : !graph.cell<i64>
    %ten = graph.constant 10 : i64
    %i5 = graph.constant 5 : i64
    graph.for %i0, %ten, %i1 {{label = "count"}} body(%i : i64) {{
      %skip = graph.compare %i, %i2 {{kind = "eq"}} : i1
      graph.if %skip then {{ graph.continue }} otherwise {{ }}
      %stop = graph.compare %i, %i5 {{kind = "ge"}} : i1
      graph.if %stop then {{ graph.break }} otherwise {{ }}
      %old = graph.get %sum : i64
      %new = graph.binary %old, %i {{kind = "add"}} : i64
      graph.set %sum, %new
    }}
    %r = graph.get %sum : i64
    {returned("r")}"""
    result = run(body)
    assert result.r == 8
    assert result.stats["rounds"] == 6


def test_loop_down_and_without_turns() -> None:
    body = f"""
    %count = graph.variable %i0 : !graph.cell<i64>
    %down = graph.constant -1 : i64
    graph.for %i2, %i0, %down {{label = "down"}} body(%i : i64) {{ graph.set %count, %i }}
    graph.for %i2, %i0, %i1 {{label = "never"}} body(%i : i64) {{ graph.set %count, %i0 }}
    %r = graph.get %count : i64
    {returned("r")}"""
    assert run(body).r == 1


def test_step_zero() -> None:
    with pytest.raises(UserError, match="a loop's step is 0"):
        run(f'graph.for %i0, %i2, %i0 {{label = "a"}} body(%i : i64) {{ }}\n{returned()}')


def test_while_and_par_for() -> None:
    body = f"""
    %n = graph.variable %i0 : !graph.cell<i64>
    %seven = graph.constant 7 : i64
    graph.while {{label = "up"}} condition {{
      %now = graph.get %n : i64
      %more = graph.compare %now, %seven {{kind = "lt"}} : i1
      graph.yield values(%more)
    }} body {{
      %now = graph.get %n : i64
      %next = graph.binary %now, %i2 {{kind = "add"}} : i64
      graph.set %n, %next
    }}
    graph.par_for %i0, %i2 {{label = "p"}} body(%i : i64) {{
      graph.reduce %n, %seven {{kind = "sum"}}
      graph.yield
    }}
    %r = graph.get %n : i64
    {returned("r")}"""
    result = run(body)
    assert result.r == 8 + 14
    assert result.stats["rounds"] == 4


def test_a_function_may_not_set_the_programs_variable() -> None:
    body = f"""
    %n = graph.variable %zero : !graph.cell<i32>
    graph.vertex_apply %all {{label = "a", function = "a"}} apply(%v : !graph.vertex) {{
      graph.set %n, %one
      graph.yield
    }}
    {returned()}"""
    with pytest.raises(UserError, match="a function may only combine values into n"):
        run(body)


def test_variables_and_loops_inside_a_function() -> None:
    """Each vertex adds up the ids of its out-neighbours with a loop of its own."""
    body = f"""
    graph.vertex_apply %all {{label = "a", function = "a"}} apply(%v : !graph.vertex) {{
      %total = graph.variable %zero : !graph.cell<i32>
      %d = graph.degree %edges, %v : i64
      graph.for %i0, %d, %i1 {{label = ""}} body(%k : i64) {{
        %u = graph.neighbor %edges, %v, %k : !graph.vertex
        %id = graph.cast %u : i32
        %old = graph.get %total : i32
        %new = graph.binary %old, %id {{kind = "add"}} : i32
        graph.set %total, %new
      }}
      %t = graph.get %total : i32
      graph.store %x, %t at(%v)
      graph.yield
    }}
    {returned("x")}"""
    result = run(body)
    assert result.x.tolist() == [3, 3, 3, 4, 0, 0]
    assert result.stats["rounds"] == 0
    assert result.stats["vertices_processed"] == 6


# --- the graph --------------------------------------------------------------------------------------------------------


def test_counts_and_degrees() -> None:
    body = f"""
    %n = graph.vertex_count %edges : i64
    %m = graph.edge_count %edges : i64
    %out = graph.degrees %edges {{direction = "out"}} : !graph.property<i64>
    %in = graph.degrees %edges {{direction = "in"}} : !graph.property<i64>
    %size = graph.size %all : i64
    %d = graph.degree %edges, %v0 : i64
    {returned("n", "m", "out", "in", "size", "d", "all")}"""
    result = run(body)
    assert (result.n, result.m, result.size, result.d) == (6, 5, 6, 2)
    assert result.out.tolist() == [2, 1, 1, 1, 0, 0]
    assert result.values["in"].tolist() == [0, 1, 1, 2, 1, 0]
    assert result.all.tolist() == [0, 1, 2, 3, 4, 5]
    assert result.all.dtype == np.int64


def test_neighbors_weights_and_transpose() -> None:
    body = f"""
    %u = graph.neighbor %edges, %v0, %i1 : !graph.vertex
    %w = graph.weight %edges, %v0, %i1 : i32
    %back = graph.transpose %edges : !graph.edges<i32>
    %p = graph.neighbor %back, %v2, %i0 : !graph.vertex
    %pw = graph.weight %back, %v2, %i0 : i32
    {returned("u", "w", "p", "pw")}"""
    result = run(body, WEIGHTED)
    assert (result.u, result.w, result.p, result.pw) == (2, 5, 0, 5)


def test_relabel_by_falling_degree() -> None:
    """In a star round vertex 3, the centre becomes 0 and the others keep their order."""
    star = Graph.from_edges([3, 3, 3], [0, 1, 2], undirected=True)
    body = f"""
    %again = graph.relabel %edges : !graph.edges<none>
    %d = graph.degrees %again {{direction = "out"}} : !graph.property<i64>
    {returned("d")}"""
    assert run(body, star).d.tolist() == [3, 1, 1, 1]


def test_intersect() -> None:
    """0 -> 1, 2, 2, 3 and 1 -> 2, 2, 3: they share 2 and 3, each once."""
    graph = Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 2, 3, 2, 2, 3])
    body = f"""
    %both = graph.intersect %edges, %v0, %v1 {{label = "i"}} : i64
    %three = graph.constant 3 : i64
    %v3 = graph.cast %three : !graph.vertex
    %low = graph.intersect %edges, %v0, %v1 below(%v3) {{label = "j"}} : i64
    {returned("both", "low")}"""
    result = run(body, graph)
    assert (result.both, result.low) == (2, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%r = graph.load %x at(%none) : i32", "none is used as a vertex"),
        ("%r = graph.load %x at(%v9) : i32", "there is no vertex 9; n is 6"),
        ("graph.store %x, %one at(%v9)", "there is no vertex 9; n is 6"),
        ('graph.reduce %x, %one at(%none) {kind = "sum"}', "none is used as a vertex"),
        ("%r = graph.degree %edges, %v9 : i64", "there is no vertex 9; n is 6"),
        ("%r = graph.neighbor %edges, %v0, %nine : !graph.vertex", "vertex 0 has no neighbour 9; its degree is 2"),
        ("%r = graph.vertex_set %edges members(%v9) : !graph.vertexset", "there is no vertex 9; n is 6"),
        ("graph.add %all, %none", "none is used as a vertex"),
        ("%r = graph.load %vectors at(%v0, %nine) : i32", "there is no element 9; a vector here has 3"),
        ("graph.queue_add %q, %v9, %one", "there is no vertex 9; n is 6"),
    ],
)
def test_bad_indices_are_reported_at_their_line(line: str, message: str) -> None:
    body = f"""
    %nine = graph.constant 9 : i64
    %v9 = graph.cast %nine : !graph.vertex
    %vectors = graph.property %edges, %zero : !graph.property<!graph.vector<3, i32>>
    %q = graph.queue %x, %one {{order = "lowest", start = "none", label = "q"}} : !graph.queue<i32>
    {line}
    {returned()}"""
    with pytest.raises(UserError, match=message) as caught:
        run(body)
    place = caught.value.place
    assert place is not None
    assert place.file == "<text>"
    assert place.line > 20


# --- properties -------------------------------------------------------------------------------------------------------


def test_copy_assign_fill_and_handles() -> None:
    """`y` is the property `x` itself; `z` is a copy."""
    body = f"""
    %y = graph.variable %x : !graph.cell<!graph.property<i32>>
    %z = graph.copy %x : !graph.property<i32>
    graph.fill %x, %five
    graph.store %z, %two at(%v1)
    %same = graph.get %y : !graph.property<i32>
    %w = graph.property %edges, %one : !graph.property<i32>
    graph.assign %w, %z
    graph.store %z, %one at(%v0)
    {returned("same", "z", "w")}"""
    result = run(body)
    assert result.same.tolist() == [5] * 6
    assert result.z.tolist() == [1, 2, 0, 0, 0, 0]
    assert result.w.tolist() == [0, 2, 0, 0, 0, 0]
    assert result.w.dtype == np.int32


def test_vectors() -> None:
    body = f"""
    %p = graph.property %edges, %zero : !graph.property<!graph.vector<2, i32>>
    graph.store %p, %five at(%v1, %i0)
    graph.reduce %p, %two at(%v1, %i1) {{kind = "sum"}}
    graph.reduce %p, %two at(%v1, %i1) {{kind = "sum"}}
    {returned("p")}"""
    assert run(body).p.tolist() == [[0, 0], [5, 4], [0, 0], [0, 0], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("kind", "answer", "of_none"), [("sum", 12, 0), ("min", -1, HIGH), ("max", 9, LOW), ("or", -1, 0)]
)
def test_aggregates(kind: str, answer: int, of_none: int) -> None:
    body = f'%r = graph.aggregate %p {{kind = "{kind}"}} : i32\n{returned("r")}'
    signature = "%p : !graph.property<i32>"
    assert run(body, DIAMOND, signature, {"p": np.array([4, -1, 9, 0, 0, 0], np.int32)}).r == answer
    nobody = Graph.from_edges([], [], n=0)
    assert run(body, nobody, signature, {"p": np.array([], np.int32)}).r == of_none


def test_arguments_are_not_aliased() -> None:
    values = np.zeros(6, np.int32)
    result = run(
        f"graph.fill %p, %five\n{returned('p')}", signature="%p : !graph.property<i32>", arguments={"p": values}
    )
    assert result.p.tolist() == [5] * 6
    assert values.tolist() == [0] * 6


@pytest.mark.parametrize(
    ("type", "initial", "dtype"),
    [
        ("i1", "true", "bool"),
        ("i64", "1", "int64"),
        ("ui32", "inf", "uint32"),
        ("f32", "0.5", "float32"),
        ("f64", "inf", "float64"),
    ],
)
def test_result_types(type: str, initial: str, dtype: str) -> None:
    body = f"""
    %i = graph.constant {initial} : {type}
    %p = graph.property %edges, %i : !graph.property<{type}>
    %q = graph.property %edges, %none : !graph.property<!graph.vertex>
    {returned("p", "q")}"""
    result = run(body)
    assert result.p.dtype == dtype
    assert result.q.dtype == np.int32
    assert result.q.tolist() == [-1] * 6


# --- what an apply sees -----------------------------------------------------------------------------------------------


def vertex_apply(function: str, extra: str = "", result: str = "") -> str:
    out = f"%{result} = " if result else ""
    return f"""{out}graph.vertex_apply %all {extra} {{label = "a", function = "a"}} apply(%v : !graph.vertex) {{
      {function}
      graph.yield
    }}{" : !graph.vertexset" if result else ""}"""


def edge_apply(
    function: str, clauses: str = "", result: str = "", flags: str = "", filters: str = "", yields: str = ""
) -> str:
    out = f"%{result} = " if result else ""
    return f"""{out}graph.edge_apply %edges {clauses} {{label = "e", function = "e"{flags}}} {filters}
      apply(%src : !graph.vertex, %dst : !graph.vertex) {{
      {function}
      graph.yield {f"values({yields})" if yields else ""}
    }}{" : !graph.vertexset" if result else ""}"""


CHAIN = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
STEP = """
      %own = graph.load %p at(%src) : i32
      %next = graph.binary %own, %one {kind = "add"} : i32
      graph.store %p, %next at(%dst)"""


@pytest.mark.parametrize(
    ("visibility", "flags", "answer"),
    [("after", "", [7, 8, 1, 1, 1]), ("inplace", "", [7, 8, 9, 10, 11]), ("after", ", in_place", [7, 8, 9, 10, 11])],
)
def test_visibility(visibility: str, flags: str, answer: list[int]) -> None:
    """p[dst] = p[src] + 1 along a chain: with the state before, one step; in place, all the way."""
    start = np.array([7, 0, 0, 0, 0], np.int32)
    body = edge_apply(STEP, flags=flags) + returned("p")
    result = run(body, CHAIN, "%p : !graph.property<i32>", {"p": start}, visibility=visibility)
    assert result.p.tolist() == answer
    assert result.stats["edges_processed"] == 4


def test_a_call_sees_its_own_writes() -> None:
    """x[v] = 5; x[v] += 2; y[v] = x[v]."""
    body = f"""
    %y = graph.property %edges, %zero : !graph.property<i32>
    {
        vertex_apply('''graph.store %x, %five at(%v)
      graph.reduce %x, %two at(%v) {kind = "sum"}
      %seen = graph.load %x at(%v) : i32
      graph.store %y, %seen at(%v)''')
    }
    {returned("x", "y")}"""
    result = run(body)
    assert result.x.tolist() == [7] * 6
    assert result.y.tolist() == [7] * 6


def test_racing_writes_keep_the_smallest() -> None:
    body = f"""
    %parent = graph.property %edges, %none : !graph.property<!graph.vertex>
    {edge_apply("graph.store %parent, %src at(%dst)")}
    {returned("parent")}"""
    assert run(body, FORK).parent.tolist() == [-1, -1, 0, -1]


def test_none_is_the_smallest_vertex() -> None:
    """Of two calls that write 1 and none, none stays."""
    body = f"""
    %parent = graph.property %edges, %v2 : !graph.property<!graph.vertex>
    {
        edge_apply('''%first = graph.compare %src, %v0 {kind = "eq"} : i1
      %w = graph.select %first, %v1, %none : !graph.vertex
      graph.store %parent, %w at(%dst)''')
    }
    {returned("parent")}"""
    assert run(body, FORK).parent.tolist() == [2, 2, -1, 2]


@pytest.mark.parametrize(("kind", "answer"), [("sum", 10 + 3 + 4), ("min", 3), ("max", 10), ("or", 10 | 3 | 4)])
def test_reductions_of_all_calls_combine(kind: str, answer: int) -> None:
    body = f"""
    %ten = graph.constant 10 : i32
    %p = graph.property %edges, %ten : !graph.property<i32>
    {
        edge_apply(f'''%s = graph.cast %src : i32
      %three = graph.constant 3 : i32
      %w = graph.binary %s, %three {{kind = "add"}} : i32
      graph.reduce %p, %w at(%dst) {{kind = "{kind}"}}''')
    }
    {returned("p")}"""
    assert run(body, FORK).p.tolist() == [10, 10, answer, 10]


def test_reductions_add_to_a_racing_write() -> None:
    """0 assigns 5 to vertex 2, and 1 adds 2 to it: the writes first, then the sums."""
    body = f"""
    {
        edge_apply('''%first = graph.compare %src, %v0 {kind = "eq"} : i1
      graph.if %first then { graph.store %x, %five at(%dst) }
      otherwise { graph.reduce %x, %two at(%dst) {kind = "sum"} }''')
    }
    {returned("x")}"""
    assert run(body, FORK).x.tolist() == [0, 0, 7, 0]


def test_written_out_reductions_are_reductions() -> None:
    """x[dst] = x[dst] + 1 adds one for each edge."""
    body = f"""
    {
        edge_apply('''%old = graph.load %x at(%dst) : i32
      %new = graph.binary %old, %one {kind = "add"} : i32
      graph.store %x, %new at(%dst)''')
    }
    {returned("x")}"""
    assert run(body).x.tolist() == [0, 1, 1, 2, 1, 0]


def test_reduction_into_a_variable() -> None:
    body = f"""
    %n = graph.variable %five : !graph.cell<i32>
    {edge_apply('graph.reduce %n, %one {kind = "sum"}')}
    %r = graph.get %n : i32
    {returned("r")}"""
    assert run(body).r == 5 + 5


def test_reduce_says_whether_it_changed() -> None:
    """min with 0 changes nothing at 0; sum always counts as a change."""
    body = f"""
    %y = graph.property %edges, %no : !graph.property<i1>
    %z = graph.property %edges, %no : !graph.property<i1>
    graph.store %x, %five at(%v1)
    {
        vertex_apply('''%c = graph.reduce %x, %zero at(%v) {kind = "min"} : i1
      graph.store %y, %c at(%v)
      %d = graph.reduce %x, %zero at(%v) {kind = "sum"} : i1
      graph.store %z, %d at(%v)''')
    }
    {returned("y", "z")}"""
    result = run(body)
    assert result.y.tolist() == [False, True, False, False, False, False]
    assert result.z.all()


def test_float_sums_in_row_order() -> None:
    values = np.array([1e16, 1.0, -1e16, 0.0], np.float64)
    graph = Graph.from_edges([0, 1, 2], [3, 3, 3])
    body = edge_apply("""%w = graph.load %p at(%src) : f64
      graph.reduce %p, %w at(%dst) {kind = "sum"}""")
    assert run(body + returned("p"), graph, "%p : !graph.property<f64>", {"p": values}).p[3] == (0 + 1e16 + 1.0) - 1e16


@pytest.mark.parametrize(
    ("write", "members"),
    [
        ("graph.store %p, %zero at(%dst)", [1, 2, 3, 4]),
        ('graph.reduce %p, %zero at(%dst) {kind = "sum"}', [1, 2, 3, 4]),
        ('graph.reduce %p, %one at(%dst) {kind = "max"}', [1, 2, 4]),
        ('graph.reduce %p, %two at(%dst) {kind = "or"}', [1, 2, 3, 4]),
        ('graph.reduce %p, %one at(%dst) {kind = "min"}', [3]),
    ],
)
def test_modified(write: str, members: list[int]) -> None:
    """p is 0 but at vertex 3, where it is 5."""
    values = np.array([0, 0, 0, 5, 0, 0], np.int32)
    body = edge_apply(write, "modified(%p)", "out") + returned("out")
    assert run(body, DIAMOND, "%p : !graph.property<i32>", {"p": values}).out.tolist() == members


def test_modified_of_vertices() -> None:
    body = vertex_apply('graph.reduce %p, %one at(%v) {kind = "max"}', "modified(%p)", "out") + returned("out")
    values = np.array([0, 3, 0, 5, 1, 0], np.int32)
    assert run(body, DIAMOND, "%p : !graph.property<i32>", {"p": values}).out.tolist() == [0, 2, 5]


def test_from_to_and_filters() -> None:
    """Edges from {0, 1} to vertices of {1, 3} that are not 1: only 1 -> 3."""
    is_one = 'to_filter(%u : !graph.vertex) {\n%c = graph.compare %u, %v1 {kind = "ne"} : i1\ngraph.yield values(%c)\n}'
    body = f"""
    %three = graph.constant 3 : i64
    %v3 = graph.cast %three : !graph.vertex
    %a = graph.vertex_set %edges members(%v0, %v1) : !graph.vertexset
    %b = graph.vertex_set %edges members(%v1, %v3) : !graph.vertexset
    {edge_apply("graph.reduce %x, %one at(%dst) {kind = 'sum'}".replace("'", '"'), "from(%a) to(%b)", filters=is_one)}
    {returned("x")}"""
    result = run(body)
    assert result.x.tolist() == [0, 0, 0, 1, 0, 0]
    assert result.stats["edges_processed"] == 1


def test_from_filter() -> None:
    only_zero = (
        'from_filter(%u : !graph.vertex) {\n%c = graph.compare %u, %v0 {kind = "eq"} : i1\ngraph.yield values(%c)\n}'
    )
    body = edge_apply('graph.reduce %x, %one at(%dst) {kind = "sum"}', filters=only_zero) + returned("x")
    assert run(body).x.tolist() == [0, 1, 1, 0, 0, 0]


def test_filters_see_the_state_before() -> None:
    """Both edges into 3 are taken although the first sets what the filter reads."""
    fresh = """to_filter(%u : !graph.vertex) {
      %now = graph.load %x at(%u) : i32
      %c = graph.compare %now, %zero {kind = "eq"} : i1
      graph.yield values(%c)
    }"""
    body = edge_apply('graph.reduce %x, %one at(%dst) {kind = "sum"}', filters=fresh) + returned("x")
    assert run(body).x.tolist() == [0, 1, 1, 2, 1, 0]
    assert run(body, visibility="inplace").x.tolist() == [0, 1, 1, 1, 1, 0]


def test_edges_that_yield_true() -> None:
    body = edge_apply('%c = graph.compare %src, %v1 {kind = "ge"} : i1', "", "out", yields="%c") + returned("out")
    assert run(body).out.tolist() == [3, 4]


def test_weights_in_edge_functions() -> None:
    body = f"""graph.edge_apply %edges {{label = "e", function = "e"}}
      apply(%src : !graph.vertex, %dst : !graph.vertex, %weight : i32) {{
      graph.reduce %x, %weight at(%dst) {{kind = "sum"}}
      graph.yield
    }}
    {returned("x")}"""
    assert run(body, WEIGHTED).x.tolist() == [0, 1, 5, 8, 2, 0]


def test_where_may_write() -> None:
    body = f"""
    %out = graph.where %all {{label = "w", function = "w"}} apply(%v : !graph.vertex) {{
      graph.store %x, %one at(%v)
      %d = graph.degree %edges, %v : i64
      %c = graph.compare %d, %i1 {{kind = "eq"}} : i1
      graph.yield values(%c)
    }} : !graph.vertexset
    {returned("out", "x")}"""
    result = run(body)
    assert result.out.tolist() == [1, 2, 3]
    assert result.x.tolist() == [1] * 6


def test_compare_and_swap() -> None:
    """The first of two edges into 2 takes it; the second comes too late."""
    body = f"""
    %p = graph.property %edges, %none : !graph.property<!graph.vertex>
    %won = graph.property %edges, %no : !graph.property<i1>
    {
        edge_apply(
            '''%ok = graph.compare_and_swap %p, %dst, %none, %src : i1
      graph.store %won, %ok at(%src)''',
            "modified(%p)",
            "out",
            ", in_place",
        )
    }
    {returned("p", "won", "out")}"""
    result = run(body, FORK)
    assert result.p.tolist() == [-1, -1, 0, -1]
    assert result.won.tolist() == [True, False, False, False]
    assert result.out.tolist() == [2]
    with pytest.raises(UserError, match="not in_place"):
        run(body.replace(", in_place", ""), FORK)


def test_statistics_count_edges_once_and_with_repeats() -> None:
    body = f"""
    graph.for %i0, %i2, %i1 {{label = "twice"}} body(%i : i64) {{
      {edge_apply('graph.reduce %x, %one at(%dst) {kind = "sum"}')}
    }}
    {returned("x")}"""
    stats = run(body).stats
    assert (stats["edges"], stats["edges_processed"], stats["rounds"], stats["completed"]) == (5, 10, 2, True)


# --- sets and lists ---------------------------------------------------------------------------------------------------


def test_sets_are_handles() -> None:
    body = f"""
    %a = graph.vertex_set %edges members(%v2, %v0, %v2) : !graph.vertexset
    %b = graph.copy %a : !graph.vertexset
    graph.add %a, %v1
    %in = graph.contains %a, %v1 : i1
    %not = graph.contains %b, %v1 : i1
    {returned("a", "b", "in", "not")}"""
    result = run(body)
    assert result.a.tolist() == [0, 1, 2]
    assert result.b.tolist() == [0, 2]
    assert (result.values["in"], result.values["not"]) == (True, False)


def test_lists() -> None:
    body = f"""
    %l = graph.list : !graph.list<!graph.vertexset>
    %a = graph.vertex_set %edges members(%v0) : !graph.vertexset
    graph.append %l, %a
    graph.add %a, %v1
    graph.append %l, %a
    %size = graph.size %l : i64
    %first = graph.list_get %l, %i0 : !graph.vertexset
    %outside = graph.list_get %l, %i2 : !graph.vertexset
    %last = graph.list_pop %l : !graph.vertexset
    %rest = graph.list_pop %l : !graph.vertexset
    %empty = graph.list_pop %l : !graph.vertexset
    %numbers = graph.list : !graph.list<i32>
    graph.append %numbers, %five
    %number = graph.list_pop %numbers : i32
    %nothing = graph.list_pop %numbers : i32
    graph.append %numbers, %two
    {returned("size", "first", "outside", "last", "rest", "empty", "number", "nothing", "numbers")}"""
    result = run(body)
    assert result.size == 2
    for name, members in [("first", [0]), ("outside", []), ("last", [0, 1]), ("rest", [0]), ("empty", [])]:
        assert result.values[name].tolist() == members, name
    assert (result.number, result.nothing, result.numbers) == (5, 0, [2])


def test_is_dense() -> None:
    """{0} and its 2 out-edges are 3, and 5 edges / 2 is 2.5; {1} and its edge are 2."""
    body = f"""
    %a = graph.vertex_set %edges members(%v0) : !graph.vertexset
    %b = graph.vertex_set %edges members(%v1) : !graph.vertexset
    %dense = graph.is_dense %edges from(%a) {{threshold = 2 : i64}} : i1
    %sparse = graph.is_dense %edges from(%b) {{threshold = 2 : i64}} : i1
    {returned("dense", "sparse")}"""
    result = run(body)
    assert (result.dense, result.sparse) == (True, False)


# --- priority queues --------------------------------------------------------------------------------------------------


def queue(
    priorities: list[int], script: str, names: list[str], order: str = "lowest", delta: int = 1, start: str = "all"
) -> Result:
    graph = Graph.from_edges([], [], n=len(priorities))
    body = f"""
    %delta = graph.constant {delta} : i32
    %q = graph.queue %p, %delta {{order = "{order}", start = "{start}", label = "q"}} : !graph.queue<i32>
    {script}
    {returned(*names)}"""
    return run(body, graph, "%p : !graph.property<i32>", {"p": np.array(priorities, np.int32)})


def pops(count: int) -> str:
    return "\n".join(
        f"%pop{i} = graph.queue_pop %q : !graph.vertexset\n%now{i} = graph.queue_priority %q : i32"
        for i in "abcdef"[:count]
    )


def members(result: Result, count: int) -> list[list[int]]:
    return [result.values[f"pop{i}"].tolist() for i in "abcdef"[:count]]


def test_buckets_lowest_first() -> None:
    names = [f"{kind}{i}" for i in "abcd" for kind in ("pop", "now")]
    result = queue([5, -1, 3, HIGH, 4], pops(4), names, delta=2)
    assert members(result, 4) == [[1], [2], [0, 4], []], "floor division; inf is not queued"
    assert [result.values[f"now{i}"] for i in "abcd"] == [-2, 2, 4, 4]
    assert result.stats["pops"] == 4


def test_buckets_highest_first() -> None:
    names = [f"{kind}{i}" for i in "abc" for kind in ("pop", "now")]
    result = queue([5, -1, 3, LOW, 4], pops(3), names, order="highest", delta=2)
    assert members(result, 3) == [[0, 4], [2], [1]]
    assert [result.values[f"now{i}"] for i in "abc"] == [4, 2, -2]


def test_queue_add_and_finished() -> None:
    script = """
    %before = graph.queue_finished %q : i1
    graph.queue_add %q, %v1, %five
    graph.queue_add %q, %v1, %two
    %after = graph.queue_finished %q : i1
    %popa = graph.queue_pop %q : !graph.vertexset
    %popb = graph.queue_pop %q : !graph.vertexset
    %end = graph.queue_finished %q : i1"""
    result = queue([9, 9, 9], script, ["before", "after", "end", "popa", "popb", "p"], start="none")
    assert (result.before, result.after, result.end) == (True, False, True)
    assert members(result, 2) == [[1], []]
    assert result.p.tolist() == [9, 2, 9]


def test_queue_update_min_after_the_apply() -> None:
    """Delta-stepping from 0 by hand: the first pop relaxes two edges; the call sees the state before."""
    body = f"""
    %d = graph.property %edges, %inf : !graph.property<i32>
    %q = graph.queue %d, %one {{order = "lowest", start = "none", label = "q"}} : !graph.queue<i32>
    graph.queue_add %q, %v0, %zero
    %first = graph.queue_pop %q : !graph.vertexset
    graph.while {{label = "loop"}} condition {{
      %done = graph.queue_finished %q : i1
      %more = graph.unary %done {{kind = "not"}} : i1
      %go = graph.binary %more, %yes {{kind = "or"}} : i1
      %size = graph.size %first : i64
      graph.yield values(%go)
    }} body {{
      graph.edge_apply %edges from(%first) {{label = "e", function = "relax"}}
        apply(%src : !graph.vertex, %dst : !graph.vertex, %weight : i32) {{
        %have = graph.load %d at(%src) : i32
        %new = graph.binary %have, %weight {{kind = "add_inf"}} : i32
        graph.queue_update %q, %dst, %new {{kind = "min"}}
        graph.yield
      }}
      graph.break
    }}
    %second = graph.queue_pop %q : !graph.vertexset
    %three = graph.constant 3 : i64
    %v3 = graph.cast %three : !graph.vertex
    %passed = graph.queue_finished_node %q, %v0 : i1
    %not = graph.queue_finished_node %q, %v1 : i1
    {returned("d", "first", "second", "passed", "not")}"""
    result = run(body, WEIGHTED)
    assert result.d.tolist() == [0, 1, 5, HIGH, HIGH, HIGH]
    assert (result.first.tolist(), result.second.tolist()) == ([0], [1])
    assert (result.passed, result.values["not"]) == (True, False)


@pytest.mark.parametrize(
    ("kind", "value", "queued", "after"), [("min", "%zero", [0], 0), ("max", "%five", [2], 5), ("max", "%zero", [], 2)]
)
def test_queue_update_queues_what_changed(kind: str, value: str, queued: list[int], after: int) -> None:
    script = f"""
    graph.queue_update %q, %v0, {value} {{kind = "{kind}"}}
    graph.queue_update %q, %v0, {value} {{kind = "{kind}"}}
    %popa = graph.queue_pop %q : !graph.vertexset"""
    result = queue([2, 2], script, ["popa", "p"], start="none")
    assert result.popa.tolist() == ([0] if queued else [])
    assert result.p.tolist() == [after, 2]


def test_queue_update_sum_has_a_limit() -> None:
    """5 - 1 - 1 stops at 4; 3, already below 4, stays."""
    script = """
    %four = graph.constant 4 : i32
    %minus = graph.constant -1 : i32
    graph.queue_update %q, %v0, %minus limit(%four) {kind = "sum"}
    graph.queue_update %q, %v0, %minus limit(%four) {kind = "sum"}
    graph.queue_update %q, %v1, %minus limit(%four) {kind = "sum"}
    %popa = graph.queue_pop %q : !graph.vertexset"""
    result = queue([5, 3], script, ["popa", "p"], start="none")
    assert result.p.tolist() == [4, 3]
    assert result.popa.tolist() == [0]


def test_a_finished_vertex_is_not_queued_again_by_sum() -> None:
    script = """
    %popa = graph.queue_pop %q : !graph.vertexset
    %popb = graph.queue_pop %q : !graph.vertexset
    graph.queue_update %q, %v0, %one limit(%zero) {kind = "sum"}
    graph.queue_update %q, %v1, %one limit(%zero) {kind = "sum"}
    %popc = graph.queue_pop %q : !graph.vertexset"""
    result = queue([1, 4], script, ["popa", "popb", "popc", "p"])
    assert members(result, 3) == [[0], [1], [1]]
    assert result.p.tolist() == [2, 5]


def test_queue_of_floats() -> None:
    body = f"""
    %half = graph.constant 0.5 : f64
    %q = graph.queue %p, %half {{order = "lowest", start = "all", label = "q"}} : !graph.queue<f64>
    {pops(3).replace("i32", "f64")}
    {returned("popa", "popb", "popc", "nowa", "nowb")}"""
    values = np.array([0.9, 0.6, -0.1, math.inf, math.inf, math.inf])
    result = run(body, DIAMOND, "%p : !graph.property<f64>", {"p": values})
    assert members(result, 3) == [[2], [0, 1], []]
    assert (result.nowa, result.nowb) == (-0.5, 0.5)


def test_delta_must_be_positive() -> None:
    with pytest.raises(UserError, match="a priority queue needs a delta above 0"):
        queue([1], "", [], delta=0)


# --- fixpoints --------------------------------------------------------------------------------------------------------

MESSAGE = """message(%src : !graph.vertex, %dst : !graph.vertex, %weight : i32) {
      %have = graph.load %d at(%src) : i32
      %new = graph.binary %have, %weight {kind = "add_inf"} : i32
      graph.yield values(%new)
    }"""
NAMES = 'label = "e", loop = "l", function = "relax"'


def test_fixpoint_from_a_set() -> None:
    body = f"""
    %d = graph.property %edges, %inf : !graph.property<i32>
    graph.store %d, %zero at(%v0)
    %start = graph.vertex_set %edges members(%v0) : !graph.vertexset
    graph.fixpoint %edges, %d start(%start) {{{NAMES}, kind = "min"}} {MESSAGE}
    {returned("d")}"""
    assert run(body, WEIGHTED).d.tolist() == [0, 1, 5, 6, 8, HIGH]


def test_fixpoint_from_a_queue() -> None:
    body = f"""
    %d = graph.property %edges, %inf : !graph.property<i32>
    %q = graph.queue %d, %one {{order = "lowest", start = "none", label = "q"}} : !graph.queue<i32>
    graph.queue_add %q, %v0, %zero
    graph.fixpoint %edges, %d queue(%q) {{{NAMES}, kind = "min"}} {MESSAGE}
    {returned("d")}"""
    result = run(body, WEIGHTED)
    assert result.d.tolist() == [0, 1, 5, 6, 8, HIGH]
    assert result.stats["pops"] == result.stats["rounds"] == 5


def test_fixpoint_of_sums() -> None:
    """Each vertex passes on what came in; `settle` moves it to the total and is active while there was something."""
    body = f"""
    %total = graph.property %edges, %zero : !graph.property<i32>
    %sent = graph.property %edges, %zero : !graph.property<i32>
    graph.store %sent, %five at(%v0)
    %start = graph.vertex_set %edges members(%v0) : !graph.vertexset
    graph.fixpoint %edges, %x start(%start) {{{NAMES}, kind = "sum"}}
      message(%src : !graph.vertex, %dst : !graph.vertex) {{
        %have = graph.load %sent at(%src) : i32
        graph.yield values(%have)
      }} settle(%v : !graph.vertex) {{
        %got = graph.load %x at(%v) : i32
        graph.store %sent, %got at(%v)
        graph.reduce %total, %got at(%v) {{kind = "sum"}}
        graph.store %x, %zero at(%v)
        %more = graph.compare %got, %zero {{kind = "ne"}} : i1
        graph.yield values(%more)
      }}
    {returned("total")}"""
    assert run(body).total.tolist() == [0, 5, 5, 10, 10, 0]


# --- what a program says ----------------------------------------------------------------------------------------------


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    body = f"""
    %third = graph.constant 0.1 : f32
    {vertex_apply('graph.print values(%v, %none, %yes, %third) {text = "at"}')}
    graph.print {{text = "done"}}
    {returned()}"""
    run(body, FORK)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"at {v} none True 0.1" for v in range(4)] + ["done"]


def test_timer() -> None:
    body = f"graph.timer_start\n%r = graph.timer_stop : f64\n{returned('r')}"
    assert 0 <= run(body).r < 5


# --- limits -----------------------------------------------------------------------------------------------------------

ENDLESS = f"""
    %n = graph.variable %i0 : !graph.cell<i64>
    graph.while {{label = "forever"}} condition {{
      graph.yield values(%yes)
    }} body {{
      %now = graph.get %n : i64
      %next = graph.binary %now, %i1 {{kind = "add"}} : i64
      graph.set %n, %next
    }}
    %r = graph.get %n : i64
    %twice = graph.binary %r, %r {{kind = "add"}} : i64
    {returned("twice")}"""


def test_max_rounds() -> None:
    result = run(ENDLESS, max_rounds=3)
    assert result.twice == 6, "what is computed after the loop is computed from the state at the limit"
    assert (result.stats["completed"], result.stats["rounds"]) == (False, 3)
    assert run(ENDLESS, max_rounds=0).twice == 0


def test_a_run_that_needs_just_the_limit_is_complete() -> None:
    body = f'graph.for %i0, %i2, %i1 {{label = "l"}} body(%i : i64) {{ }}\n{returned()}'
    assert run(body, max_rounds=2).stats["completed"] is True
    assert run(body, max_rounds=1).stats["completed"] is False


def test_max_seconds() -> None:
    result = run(ENDLESS, max_seconds=0.05)
    assert result.stats["completed"] is False
    assert result.twice > 0


def test_max_seconds_ends_an_endless_function() -> None:
    """The apply that did not end leaves no trace."""
    body = f"""
    {
        vertex_apply('''graph.store %x, %five at(%v)
      graph.while {label = ""} condition { graph.yield values(%yes) } body { }''')
    }
    {returned("x")}"""
    assert run(body, max_seconds=0.05).x.tolist() == [0] * 6


def test_interrupt_passes_through() -> None:
    def interrupt(a: int) -> int:
        raise KeyboardInterrupt

    body = f"%r = graph.call arguments(%five) {{callee = @half}} : i32\n{returned('r')}"
    with pytest.raises(KeyboardInterrupt):
        run(body, before=EXTERN, externs={"half": interrupt})


def test_every_operation_has_a_meaning() -> None:
    """A new operation of the dialect needs an entry in the reference."""
    from pantograf.ir import graph as ir
    from pantograf.machines.reference.interpreter import MEANING

    structure = {ir.ProgramOp, ir.ExternOp}
    assert set(ir.Graph.operations) - structure == set(MEANING)


def test_no_schedules() -> None:
    program = from_graphir(
        'builtin.module { graph.program {sym_name = "f", defaults = [unit], visibility = "after"}'
        " body(%edges : !graph.edges<none>) {\n"
        "%all = graph.vertices %edges : !graph.vertexset\n"
        'graph.vertex_apply %all {label = "a", function = "a"} apply(%v : !graph.vertex) { graph.yield }\n'
        "graph.return {names = []} } }"
    )
    scheduled = program.scheduled({"a": "cpu{}"}).on("reference")
    with pytest.raises(UserError, match="there is no schedule 'cpu' on this machine"):
        scheduled(DIAMOND)


# --- programs in Python -----------------------------------------------------------------------------------------------


@pg.program
def out_of_range(edges: Edges):
    parent = edges.vertices.property(Vertex, pg.none)
    x = edges.vertices.property(i32, 0)

    def follow(v):
        x[v] = x[parent[v]]

    edges.vertices.apply(follow)
    return x


def test_errors_show_the_line() -> None:
    with pytest.raises(pg.UserError) as caught:
        out_of_range.on("reference")(DIAMOND)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(__file__)
    assert lines[0].endswith("none is used as a vertex")
    assert lines[1].strip() == "x[v] = x[parent[v]]"
    assert "^" in lines[2]
    assert lines[3] == "hint: compare with none first"


@pg.program
def narrated(edges: Edges):
    def visit(v):
        print("at", v)

    edges.vertices.apply(visit)


def test_prints_in_functions_of_programs(capsys: pytest.CaptureFixture[str]) -> None:
    narrated.on("reference")(FORK)
    assert capsys.readouterr().out.splitlines() == [f"at {v}" for v in range(4)]
