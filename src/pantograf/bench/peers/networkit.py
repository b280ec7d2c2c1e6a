"""NetworKit: C++ with OpenMP. It has no search from given sources for betweenness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkit as nk
import numpy as np

from pantograf.bench.jobs import DAMPING, TOLERANCE, Levels

if TYPE_CHECKING:
    from pantograf.graphs import Graph


class Peer:
    """A NetworKit graph; triangles are counted by a score of its edges, which have numbers."""

    version = nk.__version__

    def __init__(self, graph: Graph, threads: int) -> None:
        nk.setNumberOfThreads(threads)
        self.threads = threads
        self.symmetric = graph.symmetric
        src, dst, weights = graph.edges()
        kept = src <= dst if graph.symmetric else np.ones(graph.m, bool)
        pairs: Any = (src[kept].astype(np.uint64), dst[kept].astype(np.uint64))
        if weights is not None:
            pairs = (weights[kept].astype(np.float64), pairs)
        self.graph = nk.GraphFromCoo(pairs, n=graph.n, weighted=weights is not None, directed=not graph.symmetric)

    def bfs(self, source: int) -> Levels:
        """`BFS` without paths."""
        search = nk.distance.BFS(self.graph, source, storePaths=False)
        return Levels(search.run().getDistances(asarray=True))

    def sssp(self, source: int) -> Any:
        """`Dijkstra` without paths: one thread, but there is no other."""
        return nk.distance.Dijkstra(self.graph, source, storePaths=False).run().getDistances(asarray=True)

    def pagerank(self) -> Any:
        """`PageRank` until the changes' sum is below the tolerance."""
        ranks = nk.centrality.PageRank(self.graph, damp=DAMPING, tol=TOLERANCE)
        ranks.norm = nk.centrality.Norm.L1_NORM
        return ranks.run().scores()

    def components(self) -> Any:
        """`ParallelConnectedComponents`; weak ones of a directed graph."""
        kind = nk.components.ParallelConnectedComponents if self.symmetric else nk.components.WeaklyConnectedComponents
        return kind(self.graph).run().getPartition().getVector()

    def triangles(self) -> int:
        """A third of the sum of `TriangleEdgeScore`."""
        if not self.graph.hasEdgeIds():
            self.graph.indexEdges()
        return int(sum(nk.sparsification.TriangleEdgeScore(self.graph).run().scores())) // 3
