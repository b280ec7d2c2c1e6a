"""Breadth-first search that keeps each vertex's level, as a minimum over its edges: right in any order of updates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pantograf as pg
from pantograf import Edges, Vertex, i32, inf
from pantograf.algorithms import Algorithm, first_vertex
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def bfs_depth(edges: Edges, source: Vertex):
    """Breadth-first search: the level of each vertex, inf where the source does not reach it."""
    depth = edges.vertices.property(i32, inf)

    def relax(src, dst):
        depth[dst] = min(depth[dst], depth[src] + 1)

    depth[source] = 0
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).apply(relax, modified=depth, label="traverse")
    return depth


def levels(graph: Graph, source: int) -> npt.NDArray[np.int64]:
    """SciPy's search: the level of each vertex, -1 where there is none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    ones = np.ones(graph.m, np.float64)
    matrix = csr_array((ones, graph.neighbors, graph.offsets), shape=(graph.n, graph.n), copy=True)
    order, above = breadth_first_order(matrix, source)
    parent = np.where(above < 0, np.arange(graph.n), above)
    level = (parent != np.arange(graph.n)).astype(np.int64)
    while (level[parent] > 0).any():  # each turn doubles the distance that is looked up
        level += level[parent]
        parent = parent[parent]
    reached = np.full(graph.n, -1, np.int64)
    reached[order] = level[order]
    return reached


def profile(level: npt.NDArray[np.int64]) -> dict[str, int | float]:
    """Levels (-1 for none) in three numbers."""
    reached = level[level >= 0]
    return {"reached": reached.size, "depth": int(reached.max(initial=0)), "level_sum": int(reached.sum())}


def finite(result: Result) -> npt.NDArray[np.int64]:
    """The levels of a result, -1 for inf."""
    depth = np.asarray(result.depth)
    return np.where(depth == np.iinfo(depth.dtype).max, -1, depth.astype(np.int64))


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where the levels differ from SciPy's."""
    expected, found = levels(graph, arguments["source"]), finite(result)
    wrong = np.flatnonzero(expected != found)
    return [f"vertex {v} is at level {found[v]}, not {expected[v]} ({wrong.size:,} such)" for v in wrong[:1]]


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """How many vertices were reached, how deep, and the sum of their levels."""
    return profile(finite(result))


algorithm = Algorithm(
    title="breadth-first search, levels",
    citation="Moore, The shortest path through a maze, 1959",
    program=bfs_depth,
    relation="equal",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"source": first_vertex(graph)},
)
