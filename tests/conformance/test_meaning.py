"""What programs mean, on every machine: each feature of the language in a small program, with answers computed by hand.

Tests run on all machines; what two machines may do differently (which of two racing writers wins) is asserted as such.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pantograf as pg
from pantograf import Edges, Graph, Property, Vertex, VertexSet, f64, i32, i64, inf
from pantograf import machine as machines
from pantograf.lang import plain

ALL = pytest.mark.parametrize("machine", machines.names())

# 0 -> 1 -> 2 -> 3, 0 -> 2, 4 alone; weights 4, 3, 9, 2
GRAPH = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 2], np.array([4, 3, 9, 2], np.int32), n=5)


@pg.program
def widest_path(edges: Edges[i32], source: Vertex):
    width = edges.vertices.property(i32, 0)
    width[source] = inf
    frontier = pg.vertex_set(source)

    def widen(src, dst, weight):
        width[dst] = max(width[dst], min(width[src], weight))

    while frontier:
        frontier = edges.from_(frontier).apply(widen, modified=width)
    return width


@ALL
def test_widest_path(machine: str) -> None:
    assert widest_path.on(machine)(GRAPH, source=0).width.tolist() == [2**31 - 1, 4, 3, 3, 0]


@pg.program
def within_hops(edges: Edges, sources: VertexSet, hops: i32 = 2):
    seen = edges.vertices.property(bool, False)

    def unseen(v):
        return not seen[v]

    def see(src, dst):
        seen[dst] = True

    def start(v):
        seen[v] = True

    frontier = sources
    frontier.apply(start)
    for _ in range(hops):
        frontier = edges.from_(frontier).to(unseen).apply(see, modified=seen)
        if not frontier:
            break
    reached = edges.vertices.where(lambda v: seen[v])
    return pg.results(seen=seen, reached=reached, count=reached.size)


@ALL
def test_reachability_within_hops(machine: str) -> None:
    result = within_hops.on(machine)(GRAPH, sources=[1, 4], hops=1)
    assert result.seen.tolist() == [False, True, True, False, True]
    assert result.reached.tolist() == [1, 2, 4]
    assert result.count == 3
    assert within_hops.on(machine)(GRAPH, [0]).reached.tolist() == [0, 1, 2, 3]
    assert within_hops.on(machine)(GRAPH, [0], max_rounds=1).stats["completed"] is False


@pg.program
def swapped(edges: Edges, rounds: i32):
    old = edges.vertices.property(i64, 1)
    new = edges.vertices.property(i64, 0)

    def add(src, dst):
        new[dst] += old[src]

    for _ in range(rounds):
        new[:] = 0
        edges.apply(add)
        old, new = new, old
    return old


@ALL
def test_swapping_properties(machine: str) -> None:
    """How many walks of two edges end at each vertex: 0-1-2, 0-2-3, 1-2-3."""
    assert swapped.on(machine)(GRAPH, 2).old.tolist() == [0, 0, 1, 2, 0]


@pg.program
def levels_backwards(edges: Edges, source: Vertex):
    """Levels in a list, walked from the last to the first."""
    depth = edges.vertices.property(i32, -1)
    below = edges.vertices.property(i64, 0)
    levels = pg.list_of(VertexSet)
    frontier = pg.vertex_set(source)
    depth[source] = 0

    def unseen(v):
        return depth[v] == -1

    def descend(src, dst):
        depth[dst] = depth[src] + 1

    def count(src, dst):
        if depth[dst] == depth[src] + 1:
            below[src] += below[dst] + 1

    while frontier:
        levels.append(frontier)
        frontier = edges.from_(frontier).to(unseen).apply(descend, modified=depth)
    height = levels.size
    for i in range(height):
        edges.from_(levels[height - 1 - i]).apply(count)
    return pg.results(below=below, height=height)


@ALL
def test_lists_of_sets(machine: str) -> None:
    result = levels_backwards.on(machine)(GRAPH, source=0)
    assert result.height == 3
    assert result.below.tolist() == [3, 0, 1, 0, 0]


@pg.program
def by_priority(edges: Edges[i32], source: Vertex, delta: i32 = 3):
    distance = edges.vertices.property(i32, inf)
    queue = pg.priority_queue(distance, lowest_first=True, delta=delta)
    order = edges.vertices.property(i32, -1)
    turn = i32(0)

    def relax(src, dst, weight):
        queue.update_min(dst, distance[src] + weight)

    def note(v):
        order[v] = turn

    queue.add(source, 0)
    while queue:
        bucket = queue.pop()
        bucket.apply(note)
        edges.from_(bucket).apply(relax)
        turn += 1
    return pg.results(distance=distance, order=order, turns=turn)


@ALL
def test_priority_queue(machine: str) -> None:
    """0 at 0; then 2 (at 2) in the same bucket, 1 (at 4), 3 (at 11); inf plus a weight stays inf."""
    result = by_priority.on(machine)(GRAPH, source=0)
    assert result.distance.tolist() == [0, 4, 2, 11, 2**31 - 1]
    assert result.order.tolist() == [0, 2, 1, 3, -1]
    assert result.turns == 4


@pg.program
def claims(edges: Edges):
    """Each edge tries to claim its destination; one wins."""
    owner = edges.vertices.property(Vertex, pg.none)
    wins = edges.vertices.property(i32, 0)
    claimed = 0

    def claim(src, dst):
        nonlocal claimed
        if pg.compare_and_swap(owner, dst, pg.none, src):
            wins[src] += 1
            claimed += 1

    edges.apply(claim)
    return pg.results(owner=owner, wins=wins, claimed=claimed)


@ALL
def test_compare_and_swap(machine: str) -> None:
    """2 has edges from 0 and 1: one of them wins."""
    result = claims.on(machine)(GRAPH)
    assert result.owner.tolist() in ([-1, 0, 0, 2, -1], [-1, 0, 1, 2, -1])
    assert result.wins.tolist() == np.bincount(result.owner[result.owner >= 0], minlength=5).tolist()
    assert result.claimed == 3


@pg.program
def neighbours_of_neighbours(edges: Edges[i32], values: Property[f64]):
    total = edges.vertices.property(f64, 0)
    heaviest = i32(0)

    def walk(v):
        nonlocal heaviest
        for k in range(edges.degree(v)):
            total[v] += values[edges.neighbor(v, k)] / 2
            heaviest = max(heaviest, edges.weight(v, k))

    edges.vertices.apply(walk)
    return pg.results(total=total, heaviest=heaviest, sum=total.sum(), shared=edges.intersect(0, 1))


@ALL
def test_neighbours_degrees_and_weights(machine: str) -> None:
    result = neighbours_of_neighbours.on(machine)(GRAPH, values=[1.0, 2, 3, 4, 5])
    assert result.total.tolist() == [2.5, 1.5, 2.0, 0, 0]
    assert (result.heaviest, result.sum, result.shared) == (9, 6.0, 1)


@pg.extern
def twice(x: f64) -> f64:
    return x * 2


@pg.program
def several(edges: Edges, low: i64, high: i64):
    """par_range, an extern, vectors, the transposed graph, casts."""
    table = edges.vertices.property(pg.vector(f64, 3), 1)
    back = edges.transpose()
    into = back.out_degrees
    total = f64(0)
    for i in pg.par_range(low, high):
        total += twice(f64(i))

    def fill(v):
        table[v, 1] += f64(into[v])

    edges.vertices.apply(fill)
    print("total", total)
    return pg.results(table=table, total=total)


@ALL
def test_par_range_externs_vectors_and_prints(machine: str, capfd: pytest.CaptureFixture[str]) -> None:
    result = several.on(machine)(GRAPH, 1, 4)
    assert result.total == 12
    assert result.table.tolist() == [[1, 1, 1], [1, 2, 1], [1, 3, 1], [1, 2, 1], [1, 1, 1]]
    assert capfd.readouterr().out.splitlines() == ["total 12.0"]


@ALL
def test_labels_of_vertices(machine: str) -> None:
    """Results stand in the order of the graph's vertices; arguments are the user's names."""
    graph = Graph.from_edges(["b", "a"], ["a", "c"], compact=True)
    result = within_hops.on(machine)(graph, sources=["b"], hops=1)
    assert result.by_label("seen") == {"a": True, "b": True, "c": False}


@ALL
def test_no_vertices(machine: str) -> None:
    nobody = Graph.from_edges([], [], n=0)
    assert swapped.on(machine)(nobody, 2).old.tolist() == []


# --- what an apply sees -----------------------------------------------------------------------------------------------

CHAIN = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])


@pg.program
def visibility(edges: Edges):
    """All of these read what other calls write."""
    moved = edges.vertices.property(i32, 0)
    moved[0] = 7
    walked = moved.copy()
    rotated = edges.vertices.property(i64, 0)
    marked = edges.vertices.property(bool, False)
    marked[1] = True
    seen = edges.vertices.property(i32, 0)
    own = edges.vertices.property(i32, 0)
    echo = edges.vertices.property(i32, 0)

    def move(src, dst):
        moved[dst] = moved[src] + 1

    def number(v):
        rotated[v] = i64(v)

    def rotate(v):
        if edges.degree(v) > 0:
            rotated[v] = rotated[edges.neighbor(v, 0)]

    def mark(src, dst):
        if marked[src]:
            marked[dst] = True
            seen[dst] += 1

    def add_own(src, dst):
        own[dst] = 5
        own[dst] += 2
        echo[dst] = own[dst] * 10

    edges.apply(move)
    edges.vertices.apply(number)
    edges.vertices.apply(rotate)
    edges.apply(mark)
    edges.apply(add_own)
    return pg.results(moved=moved, walked=walked, rotated=rotated, marked=marked, seen=seen, own=own, echo=echo)


@ALL
def test_an_apply_reads_the_state_before_it(machine: str) -> None:
    result = visibility.on(machine)(CHAIN)
    assert result.moved.tolist() == [7, 8, 1, 1, 1]
    assert result.walked.tolist() == [7, 0, 0, 0, 0]
    assert result.rotated.tolist() == [1, 2, 3, 4, 4]
    assert result.marked.tolist() == [False, True, True, False, False]
    assert result.seen.tolist() == [0, 0, 1, 0, 0]
    assert result.own.tolist() == [0, 7, 7, 7, 7]
    assert result.echo.tolist() == [0, 70, 70, 70, 70]


# 0, 1 and 2 all point at 3; 3 points at 4
FAN = Graph.from_edges([0, 1, 2, 3], [3, 3, 3, 4], n=6)


@pg.program
def modifications(edges: Edges):
    """What `modified` counts as a change, and that filters do not hide later edges."""
    assigned = edges.vertices.property(i32, 0)
    summed = edges.vertices.property(i32, 0)
    least = edges.vertices.property(i32, 2)
    most = edges.vertices.property(i32, 2)
    either = edges.vertices.property(bool, False)
    either[4] = True
    sigma = edges.vertices.property(i64, 0)
    racing = edges.vertices.property(Vertex, pg.none)

    def assign(src, dst):
        assigned[dst] = 0

    def add(src, dst):
        summed[dst] += 0

    def lower(src, dst):
        least[dst] = min(least[dst], i32(src))

    def raise_(src, dst):
        most[dst] = max(most[dst], i32(src))

    def either_(src, dst):
        either[dst] = either[dst] or True

    def fresh(v):
        return sigma[v] == 0

    def count(src, dst):
        sigma[dst] += 1

    def race(src, dst):
        racing[dst] = src

    a = edges.apply(assign, modified=assigned)
    b = edges.apply(add, modified=summed)
    c = edges.apply(lower, modified=least)
    d = edges.apply(raise_, modified=most)
    e = edges.apply(either_, modified=either)
    f = edges.to(fresh).apply(count, modified=sigma)
    edges.apply(race)
    return pg.results(a=a, b=b, c=c, d=d, e=e, f=f, least=least, most=most, sigma=sigma, racing=racing)


@ALL
def test_modified_and_filters(machine: str) -> None:
    result = modifications.on(machine)(FAN)
    assert result.a.tolist() == result.b.tolist() == [3, 4]
    assert (result.c.tolist(), result.least.tolist()) == ([3], [2, 2, 2, 0, 2, 2])
    assert (result.d.tolist(), result.most.tolist()) == ([4], [2, 2, 2, 2, 3, 2])
    assert result.e.tolist() == [3]
    assert (result.f.tolist(), result.sigma.tolist()) == ([3, 4], [0, 0, 0, 3, 1, 0])
    assert result.racing[3] in (0, 1, 2)
    assert result.racing[[0, 1, 2, 4, 5]].tolist() == [-1, -1, -1, 3, -1]
    if machine == "reference":
        assert result.racing[3] == 0


# A triangle with a tail
TRIANGLE = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], undirected=True)


@pg.program
def counts_down(edges: Edges):
    """A queue from high to low with sums: each vertex loses one for each taken neighbour, down to a limit."""
    left = edges.vertices.property(i32, 0)
    taken = edges.vertices.property(i32, -1)
    turn = i32(0)

    def start(v):
        left[v] = i32(edges.degree(v))

    edges.vertices.apply(start)
    queue = pg.priority_queue(left, lowest_first=True, delta=1, start="all")
    level = i32(0)

    def peel(src, dst):
        queue.update_sum(dst, -1, level)

    def note(v):
        taken[v] = turn

    while queue:
        bucket = queue.pop()
        level = queue.priority
        bucket.apply(note)
        edges.from_(bucket).apply(peel)
        turn += 1
    return pg.results(left=left, taken=taken)


@ALL
def test_queue_sums_with_a_limit(machine: str) -> None:
    """A triangle with a tail: the tail goes first (core 1), then the triangle (core 2)."""
    result = counts_down.on(machine)(TRIANGLE)
    assert result.left.tolist() == [2, 2, 2, 1, 1]
    assert result.taken.tolist() == [2, 2, 2, 1, 0]


# --- as plain Python --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "graph", "arguments"),
    [
        (widest_path, GRAPH, {"source": 0}),
        (within_hops, GRAPH, {"sources": [1, 4], "hops": 1}),
        (swapped, GRAPH, {"rounds": 2}),
        (levels_backwards, GRAPH, {"source": 0}),
        (by_priority, GRAPH, {"source": 0}),
        (claims, GRAPH, {}),
        (neighbours_of_neighbours, GRAPH, {"values": [1.0, 2, 3, 4, 5]}),
        (several, GRAPH, {"low": 1, "high": 4}),
        (visibility, CHAIN, {}),
        (modifications, FAN, {}),
        (counts_down, TRIANGLE, {}),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_plain_python_means_the_same(program: pg.Program, graph: Graph, arguments: dict[str, Any]) -> None:
    expected = program.on("reference")(graph, **arguments).values
    found = plain.run(program, graph, **arguments)
    assert {name: np.asarray(value).tolist() for name, value in found.items()} == {
        name: np.asarray(value).tolist() for name, value in expected.items()
    }
