"""A maximal independent set: of the undecided vertices, those whose random number is less than all neighbours' enter.

The numbers depend on the seed and the vertex alone, so each machine finds the same set: the one that a greedy pass in
the order of the numbers would find. A self-loop does not keep a vertex out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import pantograf as pg
from pantograf import Edges, i64, u64
from pantograf.algorithms import Algorithm, Needs
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def mis(edges: Edges, seed: i64 = 1):
    """A maximal independent set of an undirected graph: whether each vertex is in it."""
    number = edges.vertices.property(u64, 0)
    beaten = edges.vertices.property(bool, False)
    covered = edges.vertices.property(bool, False)
    independent = edges.vertices.property(bool, False)

    def draw(v):
        number[v] = pg.random_bits(seed, v)

    def beat(src, dst):
        if number[src] < number[dst] or (number[src] == number[dst] and src < dst):
            beaten[dst] = True

    def unbeaten(v):
        wins = not beaten[v]
        beaten[v] = False
        return wins

    def enter(v):
        independent[v] = True

    def cover(src, dst):
        covered[dst] = True

    def undecided(v):
        return not covered[v] and not independent[v]

    edges.vertices.apply(draw)
    frontier = edges.vertices
    while frontier:
        edges.from_(frontier).apply(beat, label="beat")
        winners = frontier.where(unbeaten)
        winners.apply(enter)
        edges.from_(winners).apply(cover, label="cover")
        frontier = frontier.where(undecided)
    return independent


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """What keeps the set from being independent, or from being maximal."""
    inside = np.asarray(result.independent, bool)
    src, dst, _ = graph.edges()
    apart = src != dst
    wrong = []
    if (both := np.flatnonzero(inside[src] & inside[dst] & apart)).size:
        wrong.append(
            f"vertices {src[both[0]]} and {dst[both[0]]} are both in the set, and adjacent ({both.size:,} such edges)"
        )
    near = inside.copy()
    near[dst[inside[src]]] = True
    near[src[inside[dst]]] = True
    if (free := np.flatnonzero(~near)).size:
        wrong.append(f"vertex {free[0]} could be in the set: none of its neighbours is ({free.size:,} such)")
    return wrong


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """How many vertices are in the set."""
    return {"size": int(np.count_nonzero(result.independent))}


algorithm = Algorithm(
    title="maximal independent set",
    citation="Luby, A simple parallel algorithm for the maximal independent set problem, "
    "SIAM Journal on Computing 15, 1986; "
    "Blelloch, Fineman, Shun, Greedy sequential maximal independent set and matching are parallel on average, "
    "SPAA 2012",
    program=mis,
    relation="a valid maximal independent set",
    compare=compare,
    summarise=summarise,
    needs=Needs(undirected=True),
)
