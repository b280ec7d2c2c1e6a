"""SciPy: `csgraph`, and products of sparse matrices where it has no function; one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from scipy.sparse import csgraph, csr_array, tril

from pantograf.bench.jobs import DAMPING, TOLERANCE, Parents

if TYPE_CHECKING:
    from pantograf.graphs import Graph


class Peer:
    """A matrix of f64, which `csgraph` takes without a copy."""

    version = scipy.__version__
    threads = 1

    def __init__(self, graph: Graph, threads: int) -> None:
        values = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)
        offsets = graph.offsets.astype(np.int32) if graph.m < 2**31 else graph.offsets
        self.matrix: Any = csr_array((values, graph.neighbors.copy(), offsets), shape=(graph.n, graph.n))
        self.symmetric = graph.symmetric
        self.pull = self.matrix if graph.symmetric else self.matrix.T.tocsr()
        degree = graph.out_degrees
        self.inverse = np.divide(1.0, degree, out=np.zeros(graph.n), where=degree > 0)

    def bfs(self, source: int) -> Parents:
        """`breadth_first_order`."""
        return Parents(csgraph.breadth_first_order(self.matrix, source)[1])

    def sssp(self, source: int) -> Any:
        """`dijkstra`."""
        dijkstra: Any = csgraph.dijkstra
        return dijkstra(self.matrix, indices=source)

    def pagerank(self) -> Any:
        """Rounds of products of the matrix and a vector, until the changes' sum is below the tolerance."""
        n = self.matrix.shape[0]
        rank = np.full(n, 1 / n)
        for _ in range(100):
            new = (1 - DAMPING) / n + DAMPING * (self.pull @ (rank * self.inverse))
            error = np.abs(new - rank).sum()
            rank = new
            if error < TOLERANCE:
                break
        return rank

    def components(self) -> Any:
        """`connected_components`."""
        return csgraph.connected_components(self.matrix, directed=not self.symmetric, connection="weak")[1]

    def triangles(self) -> int:
        """The wedges of the lower triangle that an edge closes."""
        lower = tril(self.matrix, -1, format="csr")
        return int((lower @ lower).multiply(lower).sum())
