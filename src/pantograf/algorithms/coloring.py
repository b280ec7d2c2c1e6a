"""Graph colouring: a vertex takes the least colour that its neighbours leave, once all those ahead of it have theirs.

Ahead are vertices of greater degree, or of equal degree and a lesser random number. A vertex of degree d gets a
colour from 0 to d. Self-loops do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import pantograf as pg
from pantograf import Edges, i32, i64, u64
from pantograf.algorithms import Algorithm, Needs
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def coloring(edges: Edges, seed: i64 = 1):
    """A colouring of an undirected graph: for each vertex a number from 0 that none of its neighbours has."""
    degree = edges.out_degrees
    number = edges.vertices.property(u64, 0)
    waiting = edges.vertices.property(i64, 0)
    color = edges.vertices.property(i32, -1)

    def draw(v):
        number[v] = pg.random_bits(seed, v)

    def ahead(u, v):
        if degree[u] != degree[v]:
            return degree[u] > degree[v]
        if number[u] != number[v]:
            return number[u] < number[v]
        return u < v

    def wait(src, dst):
        if ahead(src, dst):
            waiting[dst] += 1

    def release(src, dst):
        if ahead(src, dst):
            waiting[dst] -= 1

    def ready(v):
        return waiting[v] == 0

    def pick(v):
        first = i32(0)
        chosen = i32(-1)
        while chosen < 0:
            used = i64(0)
            for k in range(edges.degree(v)):
                place = color[edges.neighbor(v, k)] - first
                if 0 <= place < 62:
                    used = used | (i64(1) << place)
            for bit in range(62):
                if (used >> bit) & 1 == 0:
                    chosen = first + i32(bit)
                    break
            first += 62
        color[v] = chosen

    edges.vertices.apply(draw)
    edges.apply(wait, label="wait")
    frontier = edges.vertices.where(ready)
    while frontier:
        frontier.apply(pick, label="pick")
        released = edges.from_(frontier).apply(release, modified=waiting, label="release")
        frontier = released.where(ready)
    return color


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where two neighbours have one colour, or a colour is none that a first free one could be."""
    color = np.asarray(result.color, np.int64)
    src, dst, _ = graph.edges()
    wrong = []
    if (same := np.flatnonzero((color[src] == color[dst]) & (src != dst))).size:
        u, v = src[same[0]], dst[same[0]]
        wrong.append(f"vertices {u} and {v} are adjacent and both have colour {color[u]} ({same.size:,} such edges)")
    if (out := np.flatnonzero((color < 0) | (color > graph.out_degrees))).size:
        v = out[0]
        wrong.append(f"vertex {v} of degree {graph.out_degrees[v]} has colour {color[v]} ({out.size:,} such)")
    return wrong


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """How many colours there are."""
    return {"colors": int(np.unique(result.color).size)}


algorithm = Algorithm(
    title="graph colouring",
    citation="Jones, Plassmann, A parallel graph coloring heuristic, SIAM Journal on Scientific Computing 14, 1993; "
    "Hasenplaugh, Kaler, Schardl, Leiserson, Ordering heuristics for parallel graph coloring, SPAA 2014",
    program=coloring,
    relation="a valid colouring, each colour at most the vertex's degree",
    compare=compare,
    summarise=summarise,
    needs=Needs(undirected=True),
)
