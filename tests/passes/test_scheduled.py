"""Passes keep the meaning: the reference gives the same for a program as traced and after the passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

import pantograf as pg
from pantograf import Edges, Vertex, algorithms, f64, i32, inf, passes
from pantograf.graphs import Graph
from pantograf.ir import graph as g
from pantograf.ir import text as ir_text
from pantograf.lang.program import Program, from_graphir
from pantograf.schedule import Mixed, Traversal


@dataclass(frozen=True)
class Split:
    """Every apply is a hybrid; loops become fixpoints or not."""

    fixpoints: bool
    deterministic: bool = False

    def traverse(self, op: Operation) -> Traversal | Mixed:
        if isinstance(op, g.EdgeApplyOp):
            return Mixed(Traversal("pull", "edge"), Traversal("push", "edge"), 3)
        return Traversal()

    def raises(self, loop: g.WhileOp) -> bool:
        return self.fixpoints


def after(program: Program, graph: Graph, query: passes.Query) -> Program:
    """The program as the passes leave it."""
    fitting = program.for_graph(graph)
    module = passes.run(fitting.module.clone(), passes.pipeline(), query)
    return from_graphir(ir_text.print_module(module), externs=fitting.externs)


def random_graph(seed: int) -> Graph:
    """Few vertices with self-loops and parallel edges."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    src, dst = rng.integers(0, n, (2, 3 * n))
    return Graph.from_edges(src, dst, rng.integers(1, 9, 3 * n).astype(np.int32), n=n)


@pytest.mark.parametrize("fixpoints", [False, True])
@pytest.mark.parametrize("name", algorithms.names())
def test_algorithms_stay_right(name: str, fixpoints: bool) -> None:
    algorithm = algorithms.find(name)
    wrong = []
    for seed in range(4):
        graph = algorithm.prepare(random_graph(seed))
        arguments = algorithm.arguments(graph, {})
        changed = after(algorithm.program, graph, Split(fixpoints))
        result = changed.on("reference")(graph, **arguments)
        wrong += [f"seed {seed}: {what}" for what in algorithm.check(graph, arguments, result)]
    assert not wrong, "\n".join(wrong)


@pg.program
def own_vertex(edges: Edges[i32]):
    """A store, reductions, and loads of the same place in all orders."""
    a = edges.vertices.property(i32, 3)
    b = edges.vertices.property(i32, 5)

    def touch(v):
        a[v] = a[v] * 2
        b[v] += a[v]
        a[v] += b[v]
        b[v] = max(b[v], a[v] - 3)
        a[v] = min(a[v] + 1, b[v])

    for _ in range(3):
        edges.vertices.apply(touch)
    return a, b


@pg.program
def branches(edges: Edges[i32]):
    """What a branch wrote is read behind it, and in the next turn of a loop."""
    degree = edges.out_degrees
    a = edges.vertices.property(i32, 1)
    b = edges.vertices.property(i32, 0)

    def touch(v):
        if degree[v] > 2:
            a[v] = 7
        elif degree[v] > 1:
            a[v] += 2
        b[v] = a[v]
        k = 0
        while k < degree[v]:
            a[v] = a[v] + a[v] % 3
            if a[v] > 20:
                a[v] = 1
            k += 1
        b[v] += a[v]

    edges.vertices.apply(touch)
    return a, b


@pg.program
def self_loops(edges: Edges[i32]):
    """An edge function that reads at src what it wrote at dst: on a self-loop that is one vertex."""
    a = edges.vertices.property(i32, 1)
    b = edges.vertices.property(i32, 0)
    c = edges.vertices.property(i32, 0)

    def touch(src, dst, weight):
        a[dst] += weight
        b[dst] += a[src]
        if weight > 4:
            a[src] += 1
        c[dst] = max(c[dst], a[dst] * 10 + a[src])

    for _ in range(2):
        edges.apply(touch)
    return a, b, c


@pg.program
def neighbours(edges: Edges[i32]):
    """A vertex function that writes where it computes, then reads at its own vertex."""
    a = edges.vertices.property(i32, 1)
    b = edges.vertices.property(i32, 0)

    def touch(v):
        a[v] += 5
        if edges.degree(v) > 0:
            u = edges.neighbor(v, 0)
            a[u] = max(a[u], 4)
            b[v] = a[u] + a[v]
        else:
            b[v] = a[v]

    edges.vertices.apply(touch)
    return a, b


@pg.program
def exchanged(edges: Edges[i32], rounds: i32 = 3):
    """Two properties that change places, and one that may be either."""
    old = edges.vertices.property(f64, 1)
    new = edges.vertices.property(f64, 0)
    some = old
    if rounds > 2:
        some = new

    def push(src, dst):
        new[dst] += old[src]

    def settle(v):
        new[v] = new[v] / 2 + some[v]

    for _ in range(rounds):
        edges.apply(push)
        edges.vertices.apply(settle)
        old, new = new, old
        new[:] = 0
    return old, new


@pg.program
def captured(edges: Edges[i32]):
    """Reductions into variables of the program's."""
    total = i32(0)
    most = i32(0)
    least = i32(inf)
    any_heavy = False

    def look(src, dst, weight):
        nonlocal total, most, least, any_heavy
        total += weight
        most = max(most, weight)
        least = min(least, weight)
        any_heavy = any_heavy or weight > 7

    edges.apply(look)
    return pg.results(total=total, most=most, least=least, any_heavy=any_heavy)


@pg.program
def guarded(edges: Edges[i32], source: Vertex):
    """Messages under conditions, filters, and a second property that the loop does not change."""
    dist = edges.vertices.property(i32, inf)
    toll = edges.vertices.property(i32, 2)

    def cheap(v):
        return toll[v] < 5

    def relax(src, dst, weight):
        if dist[src] != inf and weight < 8:
            dist[dst] = min(dist[dst], dist[src] + weight + toll[dst])

    dist[source] = 0
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).from_(cheap).to(cheap).apply(relax, modified=dist)
    return dist


PROGRAMS: list[tuple[Program, dict[str, Any]]] = [
    (own_vertex, {}),
    (branches, {}),
    (self_loops, {}),
    (neighbours, {}),
    (exchanged, {}),
    (exchanged, {"rounds": 2}),
    (captured, {}),
    (guarded, {"source": 1}),
]


@pytest.mark.parametrize("fixpoints", [False, True])
@pytest.mark.parametrize(("program", "arguments"), PROGRAMS, ids=[program.name for program, _ in PROGRAMS])
def test_programs_mean_the_same(program: Program, arguments: dict[str, Any], fixpoints: bool) -> None:
    for seed in range(12):
        graph = random_graph(seed)
        before = program.on("reference")(graph, **arguments).values
        found = after(program, graph, Split(fixpoints)).on("reference")(graph, **arguments).values
        assert before.keys() == found.keys()
        for name, value in before.items():
            np.testing.assert_array_equal(found[name], value, err_msg=f"{name}, seed {seed}")


def test_the_passes_had_something_to_do() -> None:
    """Each of these programs is changed: otherwise the tests above say nothing."""
    graph = random_graph(0)
    for program, _ in PROGRAMS:
        printed = ir_text.print_module(passes.run(program.for_graph(graph).module.clone(), "recognize-reductions"))
        text = ir_text.print_module(after(program, graph, Split(True)).module)
        assert text != printed
    assert any(isinstance(op, g.FixpointOp) for op in after(guarded, graph, Split(True)).module.walk())
    assert not any(isinstance(op, g.FixpointOp) for op in after(guarded, graph, Split(False)).module.walk())
    assert "own" in ir_text.print_module(after(branches, graph, Split(True)).module)
