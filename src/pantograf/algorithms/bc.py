"""Brandes' dependencies of one source: what it adds to the betweenness centrality of each vertex.

Paths are counted forward level by level, dependencies backward. Parallel edges make parallel paths. Counts are f64:
beyond 1e308 paths (large grids) they are inf. Summed over all sources this is betweenness: see `betweenness`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pantograf as pg
from pantograf import Edges, Vertex, VertexSet, f64, i32
from pantograf.algorithms import Algorithm, first_vertex
from pantograf.algorithms.bfs_depth import levels
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def bc(edges: Edges, source: Vertex):
    """Betweenness centrality from one source: for each vertex its share in the shortest paths from the source."""
    depth = edges.vertices.property(i32, -1)
    paths = edges.vertices.property(f64, 0)
    arriving = edges.vertices.property(f64, 0)
    behind = edges.vertices.property(f64, 0)
    share = edges.vertices.property(f64, 0)
    centrality = edges.vertices.property(f64, 0)
    levels = pg.list_of(VertexSet)
    level = i32(0)

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
        centrality[v] = paths[v] * behind[v]
        share[v] = 1 / paths[v] + behind[v]

    def send(src, dst):
        behind[dst] += share[src]

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
    return centrality


def dependencies(graph: Graph, source: int) -> npt.NDArray[np.float64]:
    """The dependencies of a source, from SciPy's levels and NumPy's sums over the edges between two levels."""
    level = levels(graph, source)
    src, dst, _ = graph.edges()
    down = np.flatnonzero((level[src] >= 0) & (level[dst] == level[src] + 1))
    down = down[np.argsort(level[src[down]], kind="stable")]
    src, dst = src[down], dst[down]
    bounds = np.searchsorted(level[src], np.arange(level.max(initial=0) + 1))
    steps = [slice(a, b) for a, b in pairwise(bounds)]
    paths, dependency = np.zeros(graph.n), np.zeros(graph.n)
    paths[source] = 1
    for step in steps:
        np.add.at(paths, dst[step], paths[src[step]])
    for step in reversed(steps):
        np.add.at(dependency, src[step], paths[src[step]] / paths[dst[step]] * (1 + dependency[dst[step]]))
    dependency[source] = 0
    return dependency


def differences(found: npt.NDArray[Any], expected: npt.NDArray[np.float64]) -> list[str]:
    """Where two centralities differ by more than rounding."""
    wrong = np.flatnonzero(~np.isclose(found, expected, rtol=1e-7, atol=1e-9))
    return [f"vertex {v} has the centrality {found[v]}, not {expected[v]} ({wrong.size:,} such)" for v in wrong[:1]]


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where dependencies differ from NumPy's."""
    return differences(np.asarray(result.centrality), dependencies(graph, arguments["source"]))


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """The most central vertex, its centrality, and the sum of all."""
    centrality = np.asarray(result.centrality)
    if not centrality.size:
        return {"sum": 0.0}
    return {"top": int(centrality.argmax()), "top_centrality": float(centrality.max()), "sum": float(centrality.sum())}


algorithm = Algorithm(
    title="betweenness centrality, one source",
    citation="Brandes, A faster algorithm for betweenness centrality, Journal of Mathematical Sociology 25, 2001",
    program=bc,
    relation="close: each within 1e-7 of its value",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"source": first_vertex(graph)},
)
