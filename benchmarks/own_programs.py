"""Two programs as a user writes them, which are not in the box, beside hand-written kernels: are they as fast as those in it?

    python benchmarks/own_programs.py [widest nearest] [--graph 'kronecker{scale=18}']... [--trials 15]

`widest` is the best bottleneck from a source to each vertex, `nearest` the closest of 16 sources. The rules, the options and the
table are those of `emission.py`; widths are verified along SciPy's spanning tree, sources against its distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import pantograf as pg
from pantograf import Edges, Graph, Vertex, VertexSet, i32, inf
from pantograf.algorithms import Algorithm, Needs


@pg.program
def widest(edges: Edges[i32], source: Vertex):
    """The widest path to each vertex: its narrowest edge, inf for the source, 0 where there is no path."""
    width = edges.vertices.property(i32, 0)
    queue = pg.priority_queue(width, lowest_first=False)

    def widen(src, dst, weight):
        queue.update_max(dst, min(width[src], weight))

    queue.add(source, inf)
    while queue:
        edges.from_(queue.pop()).apply(widen)
    return width


@pg.program
def nearest(edges: Edges, sources: VertexSet):
    """One of the sources that are closest to each vertex."""
    nearest = edges.vertices.property(Vertex, pg.none)

    def start(v):
        nearest[v] = v

    def unclaimed(v):
        return nearest[v] == pg.none

    def claim(src, dst):
        nearest[dst] = nearest[src]

    sources.apply(start)
    frontier = sources
    while frontier:
        frontier = edges.from_(frontier).to(unclaimed).apply(claim, modified=nearest)
    return nearest


def check_widths(graph: Graph, arguments: Mapping[str, Any], result: Any) -> list[str]:
    """Where widths differ from those along the spanning tree of the widest edges."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    assert graph.weights is not None
    shape, source = (graph.n, graph.n), arguments["source"]
    narrow = csr_array((256.0 - graph.weights, graph.neighbors, graph.offsets), shape=shape, copy=True)
    tree = minimum_spanning_tree(narrow)
    tree = (tree + tree.T).tocsr()
    order, above = breadth_first_order(tree, source)
    expected = np.zeros(graph.n, np.int64)
    expected[source] = np.iinfo(np.int32).max
    edge = 256 - np.asarray(tree[above[order[1:]], order[1:]]).ravel().astype(np.int64)
    for v, weight in zip(order[1:], edge, strict=True):
        expected[v] = min(expected[above[v]], weight)
    wrong = np.flatnonzero(np.asarray(result.width) != expected)
    return [f"vertex {v} has the width {result.width[v]}, not {expected[v]} ({wrong.size:,} such)" for v in wrong[:1]]


def check_nearest(graph: Graph, arguments: Mapping[str, Any], result: Any) -> list[str]:
    """What keeps the sources of vertices from being handed down level by level."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    matrix = csr_array((np.ones(graph.m), graph.neighbors, graph.offsets), shape=(graph.n, graph.n), copy=True)
    sources = list(arguments["sources"])
    level = dijkstra(matrix, unweighted=True, indices=sources, min_only=True)
    found = np.asarray(result.nearest)
    src, dst, _ = graph.edges()
    right = np.isinf(level) & (found < 0)
    right[dst[(level[src] + 1 == level[dst]) & (found[src] == found[dst]) & (found[dst] >= 0)]] = True
    right[sources] = found[sources] == sources
    wrong = np.flatnonzero(~right)
    return [f"vertex {v} has the source {found[v]} ({wrong.size:,} such)" for v in wrong[:1]]


OWN = (
    Algorithm(
        title="widest paths",
        citation="Pollack, The maximum capacity through a network, Operations Research 8, 1960",
        program=widest,
        relation="equal",
        compare=check_widths,
        summarise=lambda graph, arguments, result: {"sum": int(result.width.sum(dtype=np.int64))},
        defaults=lambda graph: {"source": 0},
        needs=Needs(undirected=True, weights="random{low=1, high=255, seed=1}", lengths="nonnegative"),
    ),
    Algorithm(
        title="nearest of several sources",
        citation="Erwig, The graph Voronoi diagram with applications, Networks 36, 2000",
        program=nearest,
        relation="each source is that of a neighbour one level above",
        compare=check_nearest,
        summarise=lambda graph, arguments, result: {"reached": int((result.nearest >= 0).sum())},
        defaults=lambda graph: {"sources": [0]},
        needs=Needs(undirected=True),
    ),
)

if __name__ == "__main__":
    from emission import main

    main(__doc__, {box.name: box for box in OWN})
