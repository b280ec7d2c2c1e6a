"""What a program computes wrongly is refused at its line, on every machine, and never reaches memory; loops can be stopped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pantograf as pg
from pantograf import UserError

MACHINES = ("reference", "cpu{threads=1}", "cpu{threads=2}", "cpu{threads=2, check=true}")
GRAPH = pg.load("path{vertices=5}").with_weights("unit")

WRONG = {
    "a vertex from a number": (
        """
def p(edges: Edges, k: i64 = 10000000):
    d = edges.vertices.property(i32, 0)
    d[Vertex(k)] = 3
    return d
""",
        4,
    ),
    "a number that is a vertex in its lower half": (
        """
def p(edges: Edges, k: i64 = 4294967299):
    d = edges.vertices.property(i32, 0)
    d[Vertex(k)] = 3
    return d
""",
        4,
    ),
    "none through a cast": (
        """
def p(edges: Edges):
    d = edges.vertices.property(i32, 0)
    q = edges.vertices.property(Vertex, pg.none)
    def f(v):
        d[Vertex(q[v])] += 77
    edges.vertices.apply(f)
    return d
""",
        6,
    ),
    "a constant": ("def p(edges: Edges):\n    d = edges.vertices.property(i32, 0)\n    d[70] = 3\n    return d\n", 3),
    "a member of a set": ("def p(edges: Edges):\n    return pg.vertex_set(900)\n", 2),
    "a number in a function": (
        """
def p(edges: Edges, k: i64 = 77):
    d = edges.vertices.property(i32, 0)
    def f(v):
        d[Vertex(k)] += 1
    edges.vertices.apply(f)
    return d
""",
        5,
    ),
    "none": (
        """
def p(edges: Edges):
    d = edges.vertices.property(i32, 0)
    q = edges.vertices.property(Vertex, pg.none)
    def f(v):
        d[q[v]] += 77
    edges.vertices.apply(f)
    return d
""",
        6,
    ),
    "none in a result's set": (
        """
def p(edges: Edges):
    d = edges.vertices.property(i32, 0)
    q = edges.vertices.property(Vertex, pg.none)
    def f(src, dst):
        d[q[dst]] = 5
    s = edges.apply(f, modified=d)
    return s
""",
        6,
    ),
    "an entry of a vector": (
        """
def p(edges: Edges, k: i64 = 7):
    d = edges.vertices.property(pg.vector(f64, 3), 0)
    def f(v):
        d[v, k] = 1
    edges.vertices.apply(f)
    return d
""",
        5,
    ),
    "a neighbour": (
        """
def p(edges: Edges):
    d = edges.vertices.property(Vertex, pg.none)
    def f(v):
        d[v] = edges.neighbor(v, 100)
    edges.vertices.apply(f)
    return d
""",
        5,
    ),
    "a width of buckets": (
        """
def p(edges: Edges, delta: i32 = 0):
    d = edges.vertices.property(i32, inf)
    q = pg.priority_queue(d, lowest_first=True, delta=delta)
    q.add(Vertex(0), 0)
    return d
""",
        4,
    ),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("what", WRONG)
def test_refused_at_its_line(what: str, machine: str) -> None:
    text, line = WRONG[what]
    with pytest.raises(UserError) as caught:
        pg.parse(text).on(machine)(GRAPH)
    assert caught.value.place is not None
    assert caught.value.place.line == line
    assert caught.value.hint


ENDLESS = {
    "of scalars": """
def p(edges: Edges):
    x = i64(1)
    while x > 0:
        x = (x * 3 + 7) % 1000003 + 1
    return x
""",
    "in a function": """
def p(edges: Edges):
    d = edges.vertices.property(i64, 1)
    def f(v):
        x = i64(1)
        while x > 0:
            x = (x * 3 + 7) % 1000003 + 1
        d[v] = x
    edges.vertices.apply(f)
    return d
""",
    "counted in a function": """
def p(edges: Edges):
    d = edges.vertices.property(f64, 1)
    def f(v):
        x = d[v]
        for j in range(1000000):
            for k in range(1000000):
                x = x * 0.5 + 1 / (x + k)
        d[v] = x
    edges.vertices.apply(f)
    return d
""",
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("what", ENDLESS)
def test_loops_end_when_they_are_told_to(what: str, threads: int) -> None:
    result = pg.parse(ENDLESS[what]).on(f"cpu{{threads={threads}}}")(GRAPH, max_seconds=0.1)
    assert result.stats["completed"] is False


def test_a_run_that_does_not_fit_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.graphs import build

    graph = pg.load("path{vertices=50}")
    monkeypatch.setattr(build, "available_bytes", lambda: 100)
    with pytest.raises(UserError, match=r"running bfs on .* would take about 0.0 GiB of memory, and 0.0 GiB are free"):
        pg.algorithms.bfs.compile(graph)


def test_a_float_that_is_no_integer_is_noted() -> None:
    text = "def p(edges: Edges, x: f64 = 1e300):\n    y = i32(x)\n    return y\n"
    with pytest.raises(UserError) as caught:
        pg.parse(text).on("cpu{check=true}")(GRAPH)
    assert caught.value.hint == "i32 holds -2147483648 to 2147483647"


@pytest.mark.parametrize(
    "call", [lambda: pg.load(3), lambda: pg.parse(3), lambda: pg.from_graphir(3), lambda: pg.program(len)]
)
def test_things_of_the_wrong_kind(call: Callable[[], object]) -> None:
    with pytest.raises(UserError) as caught:
        call()
    assert caught.value.hint
