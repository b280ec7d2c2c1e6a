"""Core numbers by peeling: the vertices of least remaining degree go first, and each neighbour loses a degree.

The queue never lowers a degree below that of the bucket being peeled, so a vertex keeps the degree it was peeled at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pantograf as pg
from pantograf import Edges, i64
from pantograf.algorithms import Algorithm, Needs
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def kcore(edges: Edges):
    """Core numbers: for each vertex the greatest k such that it is in a subgraph where every degree is at least k."""
    coreness = edges.out_degrees.copy()
    queue = pg.priority_queue(coreness, lowest_first=True, start="all")
    k = i64(0)

    def peel(src, dst):
        queue.update_sum(dst, -1, k)

    while queue:
        peeled = queue.pop()
        k = queue.priority
        edges.from_(peeled).apply(peel, label="peel")
    return coreness


def cores(graph: Graph) -> npt.NDArray[np.int64]:
    """Core numbers by NumPy: the level rises, and all vertices at or below it go until none is left there."""
    degree = graph.out_degrees.copy()
    core = np.zeros(graph.n, np.int64)
    alive = np.ones(graph.n, bool)
    left = graph.n
    while left:
        level = degree[alive].min()
        peeled = np.flatnonzero(alive & (degree <= level))
        while peeled.size:
            alive[peeled] = False
            core[peeled] = level
            left -= peeled.size
            touched = neighbors_of(graph, peeled)
            np.subtract.at(degree, touched, 1)
            touched = np.unique(touched)
            peeled = touched[alive[touched] & (degree[touched] <= level)]
    return core


def neighbors_of(graph: Graph, vertices: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """The neighbours of some vertices, one after the other."""
    length = graph.out_degrees[vertices]
    before = np.repeat(np.cumsum(length) - length, length)
    found: npt.NDArray[Any] = graph.neighbors[
        np.repeat(graph.offsets[vertices], length) + np.arange(length.sum()) - before
    ]
    return found


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where core numbers differ from NumPy's."""
    expected, found = cores(graph), np.asarray(result.coreness)
    wrong = np.flatnonzero(expected != found)
    return [f"vertex {v} has the core number {found[v]}, not {expected[v]} ({wrong.size:,} such)" for v in wrong[:1]]


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """The greatest core number, and how many vertices have it."""
    coreness = np.asarray(result.coreness)
    top = int(coreness.max(initial=0))
    return {"max_core": top, "in_max_core": int((coreness == top).sum())}


algorithm = Algorithm(
    title="k-core decomposition",
    citation="Matula, Beck, Smallest-last ordering, JACM 30, 1983; Dhulipala, Blelloch, Shun, Julienne, SPAA 2017",
    program=kcore,
    relation="equal",
    compare=compare,
    summarise=summarise,
    needs=Needs(undirected=True, simple=True),
)
