"""igraph: C, one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import igraph
import numpy as np

from pantograf.bench.jobs import DAMPING, Levels

if TYPE_CHECKING:
    from pantograf.graphs import Graph


class Peer:
    """An igraph graph."""

    version = igraph.__version__
    threads = 1

    def __init__(self, graph: Graph, threads: int) -> None:
        src, dst, weights = graph.edges()
        kept = src <= dst if graph.symmetric else np.ones(graph.m, bool)
        pairs = np.stack([src[kept], dst[kept]], axis=1)
        self.graph = igraph.Graph(n=graph.n, edges=pairs, directed=not graph.symmetric)
        self.symmetric = graph.symmetric
        self.weights = None if weights is None else weights[kept].tolist()

    def forget(self) -> None:
        """Forget what igraph remembers of a call before: whether the graph is connected, or has loops."""
        forget = "__invalidate_cache"  # as an attribute it would be mangled
        getattr(self.graph, forget)()

    def bfs(self, source: int) -> Levels:
        """`distances` without weights, which is quicker than `bfs`."""
        return Levels(self.graph.distances(source=source, mode="out")[0])

    def sssp(self, source: int) -> Any:
        """`distances`: Dijkstra's algorithm."""
        return self.graph.distances(source=source, weights=self.weights, mode="out")[0]

    def pagerank(self) -> Any:
        """`pagerank`, which solves exactly: it takes no tolerance."""
        return self.graph.pagerank(damping=DAMPING, directed=not self.symmetric)

    def components(self) -> Any:
        """`connected_components`."""
        self.forget()
        return self.graph.connected_components(mode="weak").membership

    def bc(self, sources: tuple[int, ...]) -> Any:
        """`betweenness` from the sources; of undirected graphs it counts half."""
        found = [self.graph.betweenness(directed=not self.symmetric, sources=[source]) for source in sources]
        return np.sum(found, axis=0) * (2 if self.symmetric else 1)

    def triangles(self) -> int:
        """From each vertex's clustering, which igraph counts triangles for; it has no quicker count of them all."""
        self.forget()
        degree = np.asarray(self.graph.degree(), np.float64)
        clustering = np.asarray(self.graph.transitivity_local_undirected(mode="zero"))
        return round(float((clustering * degree * (degree - 1)).sum()) / 6)
