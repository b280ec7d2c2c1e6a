"""What functions read and write, and which handles are one property."""

from __future__ import annotations

import pytest
from prelude import program
from xdsl.ir import SSAValue

from pantograf.ir import functions as f
from pantograf.ir import graph as g
from pantograf.ir import text as ir_text


def accesses(body: str) -> list[str]:
    """Each access of the first apply's functions, as `role kind property[index]`."""
    module = ir_text.parse_module(program(body))
    op = next(op for op in module.walk() if isinstance(op, (*f.APPLIES, g.ParForOp, g.FixpointOp)))
    return [
        f"{function.role} {a.kind} {f.shown(a.handle)}[{a.index}]"
        for function in f.functions_of(op)
        for a in function.accesses()
    ]


def test_edge_functions() -> None:
    assert accesses(
        """\
graph.edge_apply %edges {label = "a", function = "f"} from_filter(%u: !graph.vertex) {
  %a = graph.load %flags at(%u) : i1
  graph.yield values(%a)
} to_filter(%v: !graph.vertex) {
  %b = graph.load %flags at(%v) : i1
  graph.yield values(%b)
} apply(%src: !graph.vertex, %dst: !graph.vertex) {
  %c = graph.load %ints at(%src) : i32
  graph.store %ints, %c at(%dst)
  graph.reduce %ints, %c at(%source) {kind = "sum"}
  graph.reduce %cell, %c {kind = "sum"}
  %d = graph.load %parents at(%dst) : !graph.vertex
  %e = graph.compare_and_swap %ints, %d, %c, %c : i1
  graph.queue_update %queue, %dst, %c {kind = "min"}
  %w = graph.load %vectors at(%src, %long) : f64
  graph.yield
}"""
    ) == [
        "from_filter load flags[src]",
        "to_filter load flags[dst]",
        "apply load ints[src]",
        "apply store ints[dst]",
        "apply reduce ints[other]",
        "apply load parents[dst]",
        "apply swap ints[unknown]",
        "apply update ints[dst]",
        "apply load vectors[src]",
    ]


def test_vertex_functions() -> None:
    assert accesses(
        """\
%hub = graph.variable %source : !graph.cell<!graph.vertex>
%x = graph.where %set {label = "a", function = "f"} apply(%v: !graph.vertex) {
  graph.store %ints, %int at(%v)
  %h = graph.get %hub : !graph.vertex
  graph.store %ints, %int at(%h)
  %own = graph.variable %v : !graph.cell<!graph.vertex>
  graph.for %long, %long, %long {label = ""} body(%k: i64) {
    %u = graph.neighbor %edges, %v, %k : !graph.vertex
    graph.store %ints, %int at(%u)
  }
  %o = graph.get %own : !graph.vertex
  graph.store %ints, %int at(%o)
  graph.yield values(%true)
} : !graph.vertexset"""
    ) == ["apply store ints[own]", "apply store ints[other]", "apply store ints[unknown]", "apply store ints[unknown]"]


def test_fixpoints_and_par_for() -> None:
    assert accesses(
        """\
graph.fixpoint %edges, %ints start(%set) {label = "a", loop = "b", function = "f", kind = "sum"} message(%s: !graph.vertex, %d: !graph.vertex) {
  %x = graph.load %ints at(%s) : i32
  %y = graph.load %ints at(%d) : i32
  graph.yield values(%x)
} settle(%v: !graph.vertex) {
  graph.store %ints, %int at(%v)
  graph.yield values(%true)
}"""
    ) == ["message load ints[src]", "message load ints[dst]", "settle store ints[own]"]
    assert accesses(
        """\
graph.par_for %long, %long {label = "f"} body(%i: i64) {
  %v = graph.cast %i : !graph.vertex
  graph.store %ints, %int at(%v)
  graph.store %ints, %int at(%source)
  graph.yield
}"""
    ) == ["body store ints[unknown]", "body store ints[other]"]


def test_effects_are_what_can_be_noticed() -> None:
    module = ir_text.parse_module(
        program(
            """\
graph.vertex_apply %set {label = "a", function = "f"} apply(%v: !graph.vertex) {
  %own = graph.variable %int : !graph.cell<i32>
  graph.set %own, %int
  graph.reduce %own, %int {kind = "sum"}
  graph.reduce %cell, %int {kind = "sum"}
  graph.store %ints, %int at(%v)
  graph.print {text = "here"}
  graph.yield
}"""
        )
    )
    op = next(op for op in module.walk() if isinstance(op, g.VertexApplyOp))
    effects = f.function_of(op, "apply").effects()
    assert [effect.name for effect in effects] == ["graph.reduce", "graph.store", "graph.print"]


def test_the_function_around() -> None:
    module = ir_text.parse_module(
        program(
            """\
graph.vertex_apply %set {label = "a", function = "f"} apply(%v: !graph.vertex) {
  graph.if %true then {
    graph.store %ints, %int at(%v)
  } otherwise {
  }
  graph.yield
}"""
        )
    )
    store = next(op for op in module.walk() if isinstance(op, g.StoreOp))
    around = f.function_around(store)
    assert around is not None
    assert around.role == "apply"
    assert f.function_around(around.op) is None


def relations(body: str) -> dict[tuple[str, str], str]:
    """The relation of each two handles of the loads in a program, by the names of what they load."""
    module = ir_text.parse_module(program(body))
    loads = [op for op in module.walk() if isinstance(op, g.LoadOp)]
    handles: list[tuple[str, SSAValue]] = [(op.out.name_hint or "", op.source) for op in loads]
    return {(a, b): f.relation(x, y) for i, (a, x) in enumerate(handles) for b, y in handles[:i]}


def loads(*handles: str) -> str:
    """Loads named a, b, ... of these handles; `!x` reads the variable x first."""
    lines = []
    for name, handle in zip("abcdef", handles, strict=False):
        if handle.startswith("!"):
            lines.append(f"%h{name} = graph.get %{handle[1:]} : !graph.property<i32>")
            handle = f"h{name}"
        lines.append(f"%{name} = graph.load %{handle} at(%source) : i32")
    return "\n".join(lines)


P = "!graph.property<i32>"
TWO = f"%p = graph.copy %ints : {P}\n%q = graph.copy %ints : {P}\n"

CASES = [
    (TWO + loads("p", "p", "q"), {("b", "a"): "same", ("c", "a"): "distinct", ("c", "b"): "distinct"}),
    # A variable that is set once is its value.
    (
        TWO + f"%x = graph.variable %p : !graph.cell<{P}>\n" + loads("!x", "p", "q"),
        {("b", "a"): "same", ("c", "a"): "distinct"},
    ),
    # Two reads of one variable agree; it may be any of what it was given.
    (
        TWO + f"%x = graph.variable %p : !graph.cell<{P}>\ngraph.set %x, %q\n" + loads("!x", "!x", "p", "ints"),
        {("b", "a"): "same", ("c", "a"): "maybe", ("d", "a"): "distinct"},
    ),
    # Two that change places never meet, even in a loop and with a third to hold one.
    (
        TWO
        + f"%x = graph.variable %p : !graph.cell<{P}>\n%y = graph.variable %q : !graph.cell<{P}>\n"
        + 'graph.for %long, %long, %long {label = "l"} body(%i: i64) {\n'
        + f"%v = graph.get %x : {P}\n%w = graph.get %y : {P}\ngraph.set %x, %w\ngraph.set %y, %v\n}}\n"
        + loads("!x", "!y", "p"),
        {("b", "a"): "distinct", ("c", "a"): "maybe", ("c", "b"): "maybe"},
    ),
    # They may meet when one is given to the other; they are one when they start as one.
    (
        TWO
        + f"%x = graph.variable %p : !graph.cell<{P}>\n%y = graph.variable %q : !graph.cell<{P}>\n"
        + f"%v = graph.get %x : {P}\ngraph.set %y, %v\n"
        + loads("!x", "!y"),
        {("b", "a"): "maybe"},
    ),
    (
        TWO
        + f"%x = graph.variable %p : !graph.cell<{P}>\n%y = graph.variable %p : !graph.cell<{P}>\n"
        + f"%v = graph.get %x : {P}\n%w = graph.get %y : {P}\ngraph.set %x, %w\ngraph.set %y, %v\n"
        + loads("!x", "!y"),
        {("b", "a"): "same"},
    ),
    # Half an exchange, with something run in between.
    (
        TWO
        + f"%x = graph.variable %p : !graph.cell<{P}>\n%y = graph.variable %q : !graph.cell<{P}>\n"
        + f"%v = graph.get %x : {P}\n%w = graph.get %y : {P}\ngraph.set %x, %w\ngraph.fill %w, %int\ngraph.set %y, %v\n"
        + loads("!x", "!y"),
        {("b", "a"): "maybe"},
    ),
    # A property made anew in each turn of a loop, and the one of the turn before.
    (
        f"%x = graph.variable %ints : !graph.cell<{P}>\n"
        + 'graph.for %long, %long, %long {label = "l"} body(%i: i64) {\n'
        + f"%p = graph.copy %ints : {P}\n"
        + loads("!x", "p")
        + "\ngraph.set %x, %p\n}",
        {("b", "a"): "maybe"},
    ),
    (
        TWO + f"%s = graph.select %true, %p, %q : {P}\n" + loads("s", "p", "ints"),
        {("b", "a"): "maybe", ("c", "a"): "distinct"},
    ),
]


@pytest.mark.parametrize(("body", "expected"), CASES)
def test_relations(body: str, expected: dict[tuple[str, str], str]) -> None:
    found = relations(body)
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("%a = graph.constant 3 : i32", "%b = graph.constant 3 : i32", True),
        ("%a = graph.constant 3 : i32", "%b = graph.constant 4 : i32", False),
        ("%a = graph.constant 3 : i32", "%b = graph.constant 3 : i64", False),
        ("%a = graph.load %ints at(%source) : i32", "%b = graph.load %ints at(%source) : i32", True),
        (
            '%a = graph.binary %int, %int {kind = "add"} : i32',
            '%b = graph.binary %int, %int {kind = "add"} : i32',
            True,
        ),
        (
            '%a = graph.binary %int, %int {kind = "add"} : i32',
            '%b = graph.binary %int, %int {kind = "sub"} : i32',
            False,
        ),
        ("%a = graph.get %cell : i32", "%b = graph.get %cell : i32", True),
        ("%a = graph.queue_priority %queue : i32", "%b = graph.queue_priority %queue : i32", False),
        (
            "%a = graph.neighbor %edges, %source, %long : !graph.vertex",
            "%b = graph.neighbor %edges, %source, %long : !graph.vertex",
            True,
        ),
    ],
)
def test_same_values(a: str, b: str, same: bool) -> None:
    module = ir_text.parse_module(program(f"{a}\n{b}"))
    values = {r.name_hint: r for op in module.walk() for r in op.results}
    assert f.same_value(values["a"], values["b"]) is same


def test_values_in_an_authors_words() -> None:
    module = ir_text.parse_module(program("%a = graph.load %ints at(%source) : i32\n%b = graph.get %cell : i32"))
    values = {r.name_hint: r for op in module.walk() for r in op.results}
    assert f.shown(values["a"]) == "ints[source]"
    assert f.shown(values["b"]) == "cell"
    assert f.shown(values["int"]) == "7"
    assert f.place_shown(values["vectors"], [values["long"], values["long"]]) == "vectors[9, 9]"
