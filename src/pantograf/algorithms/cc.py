"""Connected components by the least label: a vertex takes the least id of its neighbours' and its own until none falls.

A label runs along the direction of edges, so each edge must be there both ways: for graphs where it is not, there is
`wcc`. Right in any order of updates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pantograf as pg
from pantograf import Edges, Vertex
from pantograf.algorithms import Algorithm, Needs
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def cc(edges: Edges):
    """Connected components of an undirected graph: for each vertex the least vertex of its component."""
    component = edges.vertices.property(Vertex, pg.none)

    def name(v):
        component[v] = v

    def relax(src, dst):
        component[dst] = min(component[dst], component[src])

    edges.vertices.apply(name)
    frontier = edges.vertices
    while frontier:
        frontier = edges.from_(frontier).apply(relax, modified=component, label="relax")
    return component


def weak_components(graph: Graph) -> npt.NDArray[np.int32]:
    """SciPy's components of the graph without directions: a number from 0 for each vertex."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    matrix = csr_array((np.ones(graph.m, np.int8), graph.neighbors, graph.offsets), shape=(graph.n, graph.n), copy=True)
    found: npt.NDArray[np.int32] = connected_components(matrix, directed=True, connection="weak")[1]
    return found


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where the partition into components differs from SciPy's; the labels may be any."""
    if not graph.n:
        return []
    expected = weak_components(graph).astype(np.int64)
    labels, found = np.unique(np.asarray(result.component), return_inverse=True)
    both, first = np.unique(expected * labels.size + found, return_index=True)
    wrong = []
    if both.size > labels.size:
        joined, count = np.unique(both % labels.size, return_counts=True)
        u, v = first[both % labels.size == joined[count.argmax()]][:2]
        wrong.append(f"vertices {u} and {v} have one label, {result.component[u]}, but no path joins them")
    if both.size > expected.max() + 1:
        split, count = np.unique(both // labels.size, return_counts=True)
        u, v = first[both // labels.size == split[count.argmax()]][:2]
        wrong.append(
            f"a path joins vertices {u} and {v}, but their labels are {result.component[u]} and {result.component[v]}"
        )
    return wrong


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """How many components there are, and how many vertices the largest has."""
    sizes = np.unique(np.asarray(result.component), return_counts=True)[1]
    return {"weak_components": sizes.size, "largest": int(sizes.max(initial=0))}


algorithm = Algorithm(
    title="connected components, least label",
    citation="Kang, Tsourakakis, Faloutsos, PEGASUS: a peta-scale graph mining system, ICDM 2009 (HCC)",
    program=cc,
    relation="the same partition",
    compare=compare,
    summarise=summarise,
    needs=Needs(undirected=True),
)
