"""Why a loop may not run in any order: the whole sentence for each reason, at its line."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import StringAttr

from pantograf import passes
from pantograf.ir import graph as g
from pantograf.ir import text as ir_text

HEAD = """\
graph.program {{sym_name = "p", defaults = [unit, unit, unit], visibility = "after"}} body(%edges : !graph.edges<i32>, %start : !graph.vertexset, %hub : !graph.vertex) {{
  %one = graph.constant 1 : i32
  %zero = graph.constant 0 : i64
  %dist = graph.property %edges, %one : !graph.property<i32>
  %other = graph.property %edges, %one : !graph.property<i32>
  %parent = graph.property %edges, %hub : !graph.property<!graph.vertex>
  %round = graph.variable %one : !graph.cell<i32>
  %list = graph.list : !graph.list<!graph.vertexset>
  %any = graph.variable %dist : !graph.cell<!graph.property<i32>>
  graph.set %any, %other
  %queue = graph.queue %other, %one {{order = "lowest", start = "none", label = "queue"}} : !graph.queue<i32>
  %frontier = graph.variable %start : !graph.cell<!graph.vertexset>
"""
LOOP = """\
  graph.while {{label = "loop"}} condition {{
    %now = graph.get %frontier : !graph.vertexset
    %n = graph.size %now : i64
    %c = graph.compare %n, %zero {{kind = "gt"}} : i1
    {condition}
  }} body {{
    %now = graph.get %frontier : !graph.vertexset
    {before}
    %next = graph.edge_apply %edges from(%now) {to} modified({modified}) {{label = "a", function = "f"}} {filter} apply(%src : !graph.vertex, %dst : !graph.vertex, %weight : i32) {{
      %d = graph.load %dist at(%src) : i32
      {body}
      graph.yield
    }} : !graph.vertexset
    {after}
    graph.set %frontier, %next
  }}
  graph.return values(%dist, %parent) {{names = ["dist", "parent"]}}
}}
"""
BODY = 13 + HEAD.count("\n") - 12 + 11
"""The line that the first line of `body` stands at."""


def reason(
    body: str = 'graph.reduce %dist, %d at(%dst) {kind = "min"}',
    *,
    before: str = "",
    after: str = "",
    filter: str = "",
    to: str = "",
    modified: str = "%dist",
    condition: str = "graph.yield values(%c)",
) -> str | None:
    """Why the loop is not raised; `None` if it is."""
    text = HEAD.format() + LOOP.format(
        body=body, before=before, after=after, filter=filter, to=to, modified=modified, condition=condition
    )
    module = passes.run(ir_text.parse_module(text, "p.gir"), "recognize-reductions,raise-fixpoints")
    loops = [op for op in module.walk() if isinstance(op, g.WhileOp) and op.label.data]
    if not loops:
        assert any(isinstance(op, g.FixpointOp) for op in module.walk())
        return None
    found = loops[0].attributes["fixpoint"]
    assert isinstance(found, StringAttr)
    return found.data


MIN = ' graph.reduce %dist, %m at(%dst) {kind = "min"}'
MAX = ' graph.reduce %dist, %m at(%dst) {kind = "max"}'

BODIES = {
    "graph.store %parent, %src at(%dst)": "parent[dst] = src keeps one of the values written, and another order would keep another; "
    "write it with min, max or or",
    'graph.reduce %dist, %d at(%dst) {kind = "sum"}': "dist[dst] adds up one message per edge and round; another order sends more or fewer",
    'graph.reduce %dist, %d at(%src) {kind = "min"}': "the function writes dist[src], not at its destination",
    'graph.reduce %dist, %d at(%hub) {kind = "min"}': "the function writes dist[hub], not at its destination",
    'graph.reduce %round, %d {kind = "max"} graph.reduce %dist, %d at(%dst) {kind = "min"}': "round counts over all calls, and another "
    "order makes more or fewer calls",
    'graph.reduce %dist, %d at(%dst) {kind = "min"} graph.reduce %other, %d at(%dst) {kind = "min"}': "the function writes other as "
    "well as dist: they would get out of step",
    'graph.reduce %dist, %d at(%dst) {kind = "min"} graph.print values(%d) {text = ""}': "the edge function prints",
    "%w = graph.compare_and_swap %dist, %dst, %d, %one : i1": "compare_and_swap on dist[dst] succeeds once: another order would choose "
    "another edge",
    'graph.queue_update %queue, %dst, %d {kind = "min"}': "other[dst] is not written through what keeps the loop running",
    '%m = graph.load %dist at(%dst) : i32 %s = graph.binary %m, %d {kind = "max"} : i32 '
    'graph.reduce %dist, %s at(%dst) {kind = "min"}': "the message reads dist[dst], and other messages change it: only dist[src] may be read",
    '%a = graph.get %any : !graph.property<i32> %m = graph.load %a at(%src) : i32' + MIN: "any[src] may be the property that the loop "
    "writes, dist",
    '%m = graph.binary %one, %d {kind = "sub"} : i32' + MIN: "the message falls when dist[src] rises: a min of it depends on the order",
    '%m = graph.unary %d {kind = "neg"} : i32' + MAX: "the message falls when dist[src] rises: a max of it depends on the order",
    '%m = graph.unary %d {kind = "abs"} : i32' + MIN: "abs of dist[src] need not keep the order of its values",
    '%m = graph.binary %d, %weight {kind = "mul"} : i32' + MIN: "dist[src] is multiplied by weight, which may be negative",
    '%m = graph.binary %d, %weight {kind = "mod"} : i32' + MIN: "mod of dist[src] need not keep the order of its values",
    '%x = graph.unary %d {kind = "neg"} : i32 %m = graph.binary %x, %d {kind = "max"} : i32' + MIN: "the message both rises and falls with "
    "dist[src]",
    '%v = graph.cast %d : !graph.vertex %m = graph.load %other at(%v) : i32' + MIN: "other[v] is read at a place that depends on dist[src]",
    '%c5 = graph.compare %d, %one {kind = "eq"} : i1 graph.if %c5 then { graph.reduce %dist, %d at(%dst) {kind = "min"} } otherwise { }':
    "dist[src] is compared for equality: that is no order of dist[src]",
    '%c5 = graph.compare %d, %one {kind = "gt"} : i1 graph.if %c5 then { graph.reduce %dist, %d at(%dst) {kind = "min"} } otherwise { }':
    "whether the message is sent depends on dist[src], and a better value may stop it",
    '%c5 = graph.compare %d, %one {kind = "gt"} : i1 %m = graph.select %c5, %d, %one : i32' + MAX: None,
    '%c5 = graph.compare %d, %weight {kind = "lt"} : i1 %m = graph.select %c5, %one, %weight : i32' + MIN: "which value the message takes "
    "depends on dist[src] in a way that may be no order",
    "%x = graph.cast %d : ui32 %m = graph.cast %x : i32" + MIN: "u32() of dist[src] need not keep the order of its values",
    "%p = graph.queue_priority %queue : i32 %m = graph.binary %d, %p {kind = \"add\"} : i32" + MIN: "asks the queue which bucket is current: "
    "in another order it is another",
    '%ch = graph.reduce %dist, %d at(%dst) {kind = "min"} : i1 graph.if %ch then { graph.print {text = "x"} } otherwise { }': "uses whether "
    "dist[dst] changed: that depends on the order",
    "%f = graph.get %frontier : !graph.vertexset %in = graph.contains %f, %dst : i1 graph.if %in then { "
    'graph.reduce %dist, %d at(%dst) {kind = "min"} } otherwise { }': "frontier is used for something else in each round",
    "%k = graph.constant 3 : i64": "the edge function writes nothing",
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), BODIES.items())
def test_edge_functions(body: str, expected: str | None) -> None:
    found = reason(body)
    assert found == (expected if expected is None else f"line {line_of(found)}: {expected}")


def line_of(found: str | None) -> int:
    """The line of a reason, which must be one of the loop's."""
    assert found is not None
    line = int(found.split(":")[0].removeprefix("line "))
    assert HEAD.count("\n") < line <= HEAD.count("\n") + LOOP.count("\n")
    return line


ROUNDS = {
    ("after", 'graph.print values(%zero) {text = ""}'): "each round prints",
    ("after", "%r = graph.get %round : i32 graph.set %round, %r"): "round is set in each round, and rounds have no meaning in another order",
    ("before", "graph.append %list, %now"): "each round's vertices are kept in a list",
    ("after", '%size = graph.size %next : i64 %e = graph.compare %size, %zero {kind = "gt"} : i1 '
     "graph.if %e then { graph.break } otherwise { }"): "each round asks how many vertices are active",
    ("after", '%e = graph.compare %zero, %zero {kind = "gt"} : i1 graph.if %e then { graph.break } otherwise { }'): "what a round does depends "
    "on a condition",
    ("before", "graph.store %dist, %one at(%hub)"): "each round also writes dist",
    ("before", "graph.timer_start"): "each round is timed",
    ("before", "graph.queue_add %queue, %hub, %one"): "each round makes vertices active in another way",
    ("before", 'graph.edge_apply %edges {label = "b", function = "g"} apply(%s : !graph.vertex, %t : !graph.vertex) { graph.yield }'):
    "a second apply runs in each round: each needs what the other has finished",
    ("before", 'graph.for %zero, %zero, %zero {label = "inner"} body(%i : i64) { }'): "each round runs a loop of its own",
    ("to", "to(%now)"): "frontier is used for something else in each round",
    ("modified", "%other"): "the frontier holds what changed in other, not in dist",
    ("condition", '%t = graph.constant true : i1 %both = graph.binary %c, %t {kind = "and"} : i1 graph.yield values(%both)'): "the loop may stop "
    "while vertices are still active: what is done by then depends on the order",
    ("condition", "%r = graph.get %round : i32 %t = graph.compare %r, %one {kind = \"gt\"} : i1 graph.yield values(%t)"): "the loop does not run just while a frontier or a queue has members",
    ("filter", 'to_filter(%v : !graph.vertex) { %x = graph.load %dist at(%v) : i32 %t = graph.compare %x, %one {kind = "eq"} : i1 '
     "graph.yield values(%t) }"): "the filter reads dist[v], which the loop changes: a destination reached late could be left out, or a "
    "first value never improved",
}  # fmt: skip


@pytest.mark.parametrize(("where", "text", "expected"), [(*key, expected) for key, expected in ROUNDS.items()])
def test_rounds_that_show(where: str, text: str, expected: str) -> None:
    found = reason(**{where: text})
    assert found == f"line {line_of(found)}: {expected}"


def test_the_line_is_the_one_to_blame() -> None:
    found = reason("\n".join(['graph.print {text = ""}', "graph.store %parent, %src at(%dst)"]))
    assert found is not None
    first = HEAD.count("\n") + LOOP[: LOOP.index("{body}")].count("\n") + 1
    assert found == f"line {first}: the edge function prints"


RAISED = [
    '%m = graph.binary %d, %weight {kind = "add_inf"} : i32' + MIN,
    '%m = graph.binary %d, %weight {kind = "min"} : i32' + MAX,
    '%m = graph.binary %d, %weight {kind = "sub"} : i32' + MIN,
    '%m = graph.binary %d, %one {kind = "mul"} : i32' + MAX,
    "%x = graph.cast %d : i64 %y = graph.cast %x : f64 %z = graph.unary %y {kind = \"sqrt\"} : f64 %m = graph.cast %z : i32" + MIN,
    '%o = graph.load %other at(%dst) : i32 %m = graph.binary %d, %o {kind = "max"} : i32' + MIN,
    '%m = graph.unary %one {kind = "neg"} : i32' + MIN,
    '%c5 = graph.compare %d, %weight {kind = "lt"} : i1 graph.if %c5 then { graph.reduce %dist, %d at(%dst) {kind = "min"} } otherwise { }',
    '%x = graph.variable %d : !graph.cell<i32> graph.for %zero, %zero, %zero {label = ""} body(%i : i64) { %y = graph.get %x : i32 '
    '%z = graph.binary %y, %one {kind = "add"} : i32 graph.set %x, %z } %m = graph.get %x : i32' + MIN,
]  # fmt: skip


@pytest.mark.parametrize("body", RAISED)
def test_messages_that_keep_order(body: str) -> None:
    assert reason(body) is None


DELTAS = """\
graph.program {sym_name = "p", defaults = [unit, unit], visibility = "after"} body(%edges : !graph.edges<none>, %start : !graph.vertexset) {
  %zero = graph.constant 0.0 : f64
  %none = graph.constant 0 : i64
  %limit = graph.constant 0.5 : f64
  %r = graph.property %edges, %zero : !graph.property<f64>
  %rank = graph.property %edges, %zero : !graph.property<f64>
  %share = graph.property %edges, %zero : !graph.property<f64>
  %fixed = graph.property %edges, %zero : !graph.property<f64>
  %degrees = graph.degrees %edges {direction = "out"} : !graph.property<i64>
  %frontier = graph.variable %start : !graph.cell<!graph.vertexset>
  graph.while {label = "loop"} condition {
    %now = graph.get %frontier : !graph.vertexset
    %n = graph.size %now : i64
    %c = graph.compare %n, %none {kind = "gt"} : i1
    graph.yield values(%c)
  } body {
    %now = graph.get %frontier : !graph.vertexset
    %got = graph.edge_apply %edges from(%now) modified(%r) {label = "send", function = "send"} apply(%src : !graph.vertex, %dst : !graph.vertex) {
      %s = graph.load %share at(%src) : f64
      graph.reduce %r, %s at(%dst) {kind = "sum"}
      graph.yield
    } : !graph.vertexset
    %next = graph.where %got {label = "settle", function = "settle"} apply(%v : !graph.vertex) {
      %x = graph.load %r at(%v) : f64
      %heavy = graph.compare %x, %limit {kind = "gt"} : i1
      graph.if %heavy then {
        graph.reduce %rank, %x at(%v) {kind = "sum"}
        %d = graph.load %degrees at(%v) : i64
        %some = graph.compare %d, %none {kind = "gt"} : i1
        graph.if %some then {
          %f = graph.cast %d : f64
          %y = graph.binary %x, %f {kind = "div"} : f64
          graph.store %share, %y at(%v)
        } otherwise {
        }
        graph.store %r, %zero at(%v)
      } otherwise {
      }
      graph.yield values(%heavy)
    } : !graph.vertexset
    graph.set %frontier, %next
  }
  graph.return values(%rank) {names = ["rank"]}
}
"""


def raised(text: str) -> g.FixpointOp | str:
    """The fixpoint that a program becomes, or why it does not."""
    module = passes.run(ir_text.parse_module(text, "d.gir"), "raise-fixpoints")
    for op in module.walk():
        if isinstance(op, g.FixpointOp):
            return op
        if isinstance(op, g.WhileOp) and op.label.data:
            found = op.attributes["fixpoint"]
            assert isinstance(found, StringAttr)
            return found.data.partition(": ")[2]
    raise AssertionError("no loop")


def test_deltas_are_raised() -> None:
    found = raised(DELTAS)
    assert isinstance(found, g.FixpointOp)
    assert found.kind.data == "sum"
    assert found.state.name_hint == "r"
    assert found.settle is not None
    assert sum(isinstance(op, g.StoreOp) for op in found.settle.walk()) == 2
    message = [op.name for op in found.message.walk()]
    assert message == ["graph.load", "graph.yield"]


SETTLING = [
    ("graph.store %r, %zero at(%v)", "", "r[v] does not become 0 when it is passed on"),
    ("graph.store %r, %zero at(%v)", "graph.store %r, %limit at(%v)", "r[v] has to become 0 whenever it is passed on"),
    ("graph.yield values(%heavy)", "%t = graph.constant true : i1 graph.yield values(%t)", "a vertex that stays inactive has to keep "
     "what it received: write only under the condition that is returned"),
    ("%x, %f {kind = \"div\"}", "%f, %x {kind = \"div\"}", "the sum of two deltas would not do what the deltas do one by one"),
    ("%x, %f {kind = \"div\"}", "%f, %limit {kind = \"div\"}", "share[v] is not r[v] times something that does not change"),
    ("graph.reduce %rank, %x at(%v) {kind = \"sum\"}", "graph.reduce %rank, %x at(%v) {kind = \"max\"}", "what rank[v] receives is not r[v] "
     "times something that does not change"),
    ("graph.reduce %rank, %x at(%v) {kind = \"sum\"}", "%a = graph.load %rank at(%v) : f64 graph.reduce %rank, %a at(%v) {kind = \"sum\"}",
     "rank[v] changes as the loop goes on"),
    ("graph.compare %d, %none {kind = \"gt\"}", "graph.compare %none, %d {kind = \"lt\"}", "share[v] may keep its last value, which would be "
     "sent again"),
    ("%s = graph.load %share at(%src) : f64", "%s = graph.load %fixed at(%src) : f64", "the message is not what settling stores for it times "
     "something that does not change"),
    ("%s = graph.load %share at(%src) : f64", "%s = graph.load %rank at(%src) : f64", "rank[src] may change between two messages, and is not "
     "what settling stores for them"),
    ("graph.where %got", "graph.where %now", "settling has to look at just the vertices that received something: received.where(...)"),
    ("graph.reduce %r, %s at(%dst) {kind = \"sum\"}", "graph.reduce %r, %s at(%dst) {kind = \"min\"}", "beside a settling function, the edge "
     "function has to add one message to its destination"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), SETTLING)
def test_deltas_that_could_be_lost(old: str, new: str, expected: str) -> None:
    assert old in DELTAS
    assert raised(DELTAS.replace(old, new)) == expected
