"""Betweenness centrality summed over several sources, or over all.

Each ordered pair of vertices counts: on an undirected graph all sources give twice what NetworkX gives unnormalised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import pantograf as pg
from pantograf import Edges, Vertex, VertexSet, f64, i32
from pantograf.algorithms import Algorithm
from pantograf.algorithms.bc import dependencies, differences, summarise
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def betweenness(edges: Edges, sources: VertexSet):
    """Betweenness centrality over sources: for each vertex its share in the shortest paths from each of them."""
    depth = edges.vertices.property(i32, -1)
    paths = edges.vertices.property(f64, 0)
    arriving = edges.vertices.property(f64, 0)
    behind = edges.vertices.property(f64, 0)
    share = edges.vertices.property(f64, 0)
    centrality = edges.vertices.property(f64, 0)
    levels = pg.list_of(VertexSet)
    level = i32(0)
    source = Vertex(0)

    def choose(v):
        nonlocal source
        source = max(source, v)

    def other(v):
        return v != source

    def unreached(v):
        return depth[v] < 0

    def count(src, dst):
        arriving[dst] += paths[src]

    def reach(v):
        depth[v] = level
        paths[v] = arriving[v]

    def above(v):
        return depth[v] == level - 1

    def settle(v):
        centrality[v] += paths[v] * behind[v]
        share[v] = 1 / paths[v] + behind[v]

    def send(src, dst):
        behind[dst] += share[src]

    rest = sources
    while rest:
        source = pg.none
        rest.apply(choose)
        rest = rest.where(other)
        depth[:] = -1
        arriving[:] = 0
        behind[:] = 0
        level = 0
        arriving[source] = 1
        frontier = pg.vertex_set(source)
        while frontier:
            frontier.apply(reach, label="reach")
            levels.append(frontier)
            frontier = edges.from_(frontier).to(unreached).apply(count, modified=arriving, label="forward")
            level += 1
        while level > 1:
            level -= 1
            frontier = levels.pop()
            frontier.apply(settle, label="settle")
            edges.transpose().from_(frontier).to(above).apply(send, label="backward")
        levels.pop()
    return centrality


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where centralities differ from sums of NumPy's dependencies."""
    expected = np.zeros(graph.n)
    for source in arguments["sources"]:
        expected += dependencies(graph, int(source))
    return differences(np.asarray(result.centrality), expected)


def few_sources(graph: Graph) -> Any:
    """All vertices of a small graph, else four of them, as a user calls them."""
    chosen = np.arange(graph.n) if graph.n <= 1000 else np.linspace(0, graph.n - 1, 4).astype(np.int64)
    return chosen if graph.labels is None else graph.labels[chosen]


algorithm = Algorithm(
    title="betweenness centrality, several sources",
    citation="Brandes, A faster algorithm for betweenness centrality, Journal of Mathematical Sociology 25, 2001",
    program=betweenness,
    relation="close: each within 1e-7 of its value",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"sources": few_sources(graph)},
)
