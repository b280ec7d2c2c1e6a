"""Shortest paths from one vertex by relaxing the edges of each vertex whose distance fell: right in any order.

Weights may be negative as long as no cycle is; round a negative cycle the distances fall for ever (`max_rounds` ends
the run).
"""

from __future__ import annotations

import pantograf as pg
from pantograf import Edges, Vertex, Weight, inf
from pantograf.algorithms import Algorithm, Needs, first_vertex
from pantograf.algorithms.sssp import compare, summarise
from pantograf.lang.program import lazy_program


@lazy_program
def bellman_ford(edges: Edges[Weight], source: Vertex):
    """Shortest paths: each vertex's distance from the source, inf where there is no path. No cycle may be negative."""
    distance = edges.vertices.property(Weight, inf)

    def relax(src, dst, weight):
        distance[dst] = min(distance[dst], distance[src] + weight)

    distance[source] = 0
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).apply(relax, modified=distance, label="relax")
    return distance


algorithm = Algorithm(
    title="shortest paths, Bellman-Ford",
    citation="Bellman, On a routing problem, Quarterly of Applied Mathematics 16, 1958",
    program=bellman_ford,
    relation="equal; with f64 weights within 1e-9 of each distance, with f32 within 1e-4",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"source": first_vertex(graph)},
    needs=Needs(weights="random{low=1, high=255, seed=1}", lengths="numbers"),
)
