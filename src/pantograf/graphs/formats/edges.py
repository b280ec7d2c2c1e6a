"""What a file's reader hands over: edges that are not yet a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pantograf.errors import Place
from pantograf.graphs import build
from pantograf.graphs.build import Array, Duplicates, SelfLoops
from pantograf.graphs.csr import Graph


@dataclass
class EdgeList:
    """Edges as they stand in a file, each undirected one once, and what the file says about the graph."""

    src: Array
    dst: Array
    weights: Array | None = None
    n: int | None = None
    at_least: int = 0
    """A number of vertices that the file mentions but may exceed."""
    undirected: bool = False
    bipartite: int | None = None
    labels: Array | None = None
    coordinates: Array | None = None
    name: str = ""
    place: Place | None = None
    """Where the file says how many vertices there are."""

    @classmethod
    def of(cls, graph: Graph) -> EdgeList:
        """The edges of a graph as a file stores them: an undirected edge once, with source <= destination."""
        src, dst, weights = graph.edges()
        if graph.symmetric:
            once = src <= dst
            src, dst, weights = src[once], dst[once], None if weights is None else weights[once]
        bipartite = graph.bipartite if is_bipartite(graph) else None
        if bipartite is not None:
            dst = dst - np.asarray(bipartite, dst.dtype)
        return cls(src, dst, weights, graph.n, undirected=graph.symmetric, bipartite=bipartite, name=graph.name)

    def graph(
        self, n: int | None, undirected: bool, self_loops: SelfLoops, duplicates: Duplicates, compact: bool, name: str
    ) -> Graph:
        """The graph of these edges."""
        if not compact and n is None:
            n = self.n if self.n is not None else self._counted(name)
        if n is not None:
            build.require_memory(build.estimate_bytes(n, self.src.size), f"a graph of {n:,} vertices", self.place)
        graph = Graph.from_edges(
            self.src,
            self.dst,
            self.weights,
            n,
            undirected=undirected or self.undirected,
            self_loops=self_loops,
            duplicates=duplicates,
            labels=self.labels if n == self.n else None,
            compact=compact,
            name=name,
        )
        if compact:
            self._select(graph)
        elif n == self.n:
            graph.coordinates, graph.bipartite = self.coordinates, self.bipartite
        return graph

    def _select(self, graph: Graph) -> None:
        """Give the vertices of a compact graph what the file says about them."""
        chosen = graph.labels
        assert chosen is not None
        graph.labels = chosen if self.labels is None else self.labels[chosen]
        graph.coordinates = None if self.coordinates is None else self.coordinates[chosen]
        graph.bipartite = None if self.bipartite is None else int((chosen < self.bipartite).sum())

    def _counted(self, name: str) -> int:
        largest = max((int(ids.max()) for ids in (self.src, self.dst) if ids.size), default=-1)
        if largest + 1 > self.at_least:
            build.require_dense_ids(largest + 1, self.src.size, name, self.place)
        return max(largest + 1, self.at_least)


def is_bipartite(graph: Graph) -> bool:
    """Whether the graph is known to be bipartite, stored both ways."""
    return graph.bipartite is not None and graph.symmetric
