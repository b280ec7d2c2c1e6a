"""Breadth-first search that keeps each vertex's parent.

The parent is any neighbour one level above, so two right results can differ: the relation is that of a breadth-first
tree. An order of writes other than by levels would not give one; `bfs_depth` is the form that any order leaves right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pantograf as pg
from pantograf import Edges, Vertex
from pantograf.algorithms import Algorithm, first_vertex
from pantograf.algorithms.bfs_depth import levels, profile
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def bfs(edges: Edges, source: Vertex):
    """Breadth-first search: the parent of each vertex in a breadth-first tree, its own for the source."""
    parent = edges.vertices.property(Vertex, pg.none)

    def unvisited(v):
        return parent[v] == pg.none

    def visit(src, dst):
        parent[dst] = src

    parent[source] = source
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).to(unvisited).apply(visit, modified=parent, label="traverse")
    return parent


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """What keeps `parent` from being a breadth-first tree of the source."""
    source = arguments["source"]
    parent = np.asarray(result.parent, np.int64)
    expected = levels(graph, source)
    if parent[source] != source:
        return [f"the parent of the source {source} is {parent[source]}, not itself"]
    if (wrong := np.flatnonzero((parent >= 0) != (expected >= 0))).size:
        v = wrong[0]
        how = f"can be reached, at level {expected[v]}" if expected[v] >= 0 else "cannot be reached"
        return [f"vertex {v} has the parent {parent[v]}, but {how} ({wrong.size:,} such)"]
    if (wrong := np.flatnonzero(parent >= graph.n)).size:
        return [f"vertex {wrong[0]} has the parent {parent[wrong[0]]}, and vertices are 0 to {graph.n - 1}"]
    child = np.flatnonzero(parent >= 0)
    child = child[child != source]
    if (wrong := child[expected[parent[child]] + 1 != expected[child]]).size:
        v = wrong[0]
        above = f"the parent {parent[v]} at level {expected[parent[v]]}"
        return [f"vertex {v} at level {expected[v]} has {above} ({wrong.size:,} such)"]
    if (wrong := child[~are_edges(graph, parent[child], child)]).size:
        return [f"vertex {wrong[0]} has the parent {parent[wrong[0]]} without an edge from it ({wrong.size:,} such)"]
    return []


def are_edges(graph: Graph, src: npt.NDArray[np.int64], dst: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each (src, dst) is an edge."""
    starts, ends, _ = graph.edges()
    keys = starts.astype(np.int64) * graph.n + ends
    wanted = src * graph.n + dst
    if not keys.size:
        return np.zeros(wanted.size, bool)
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    found: npt.NDArray[np.bool_] = keys[at] == wanted
    return found


def depths(parent: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many steps each vertex is below a vertex that is its own parent, -1 for those without a parent."""
    above = np.where(parent >= 0, parent, np.arange(parent.size))
    depth: npt.NDArray[np.int64] = (above != np.arange(parent.size)).astype(np.int64)
    for _ in range(max(parent.size, 1).bit_length()):
        depth += depth[above]
        above = above[above]
    depth[parent < 0] = -1
    return depth


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """How many vertices were reached, how deep, and the sum of their levels."""
    return profile(depths(np.asarray(result.parent, np.int64)))


algorithm = Algorithm(
    title="breadth-first search, parents",
    citation="Moore, The shortest path through a maze, 1959; "
    "Beamer, Asanovic, Patterson, Direction-optimizing breadth-first search, SC 2012",
    program=bfs,
    relation="each parent is a neighbour one level above, and the same vertices are reached",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"source": first_vertex(graph)},
)
