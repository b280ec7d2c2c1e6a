"""A program with a value of every type, for tests to put operations into."""

from __future__ import annotations

HEAD = """\
graph.extern {sym_name = "mix", inputs = [f64, i64], output = f64}
graph.program {sym_name = "p", arguments = ["edges", "source"], defaults = [unit, unit], visibility = "after"} body(%edges: !graph.edges<i32>, %source: !graph.vertex) {
  %true = graph.constant true : i1
  %int = graph.constant 7 : i32
  %long = graph.constant 9 : i64
  %real = graph.constant 1.5 : f64
  %set = graph.vertices %edges : !graph.vertexset
  %ints = graph.property %edges, %int : !graph.property<i32>
  %longs = graph.property %edges, %long : !graph.property<i64>
  %reals = graph.property %edges, %real : !graph.property<f64>
  %flags = graph.property %edges, %true : !graph.property<i1>
  %parents = graph.property %edges, %source : !graph.property<!graph.vertex>
  %vectors = graph.property %edges, %real : !graph.property<!graph.vector<3, f64>>
  %queue = graph.queue %ints, %int {order = "lowest", start = "none", label = "queue"} : !graph.queue<i32>
  %cell = graph.variable %int : !graph.cell<i32>
  %sets = graph.list : !graph.list<!graph.vertexset>
  %numbers = graph.list : !graph.list<f64>
"""
TAIL = """\
  graph.return values(%ints, %long) {names = ["ints", "long"]}
}
"""
LINE = HEAD.count("\n") + 1
"""The line that the first line of a body stands at."""


def program(body: str) -> str:
    """The text of a program with these lines in it."""
    return HEAD + "".join(f"  {line}\n" for line in body.splitlines()) + TAIL
