"""rustworkx: Rust, one thread. It counts no triangles, and betweenness only from all sources."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import rustworkx as rx

from pantograf.bench.jobs import DAMPING, TOLERANCE, Levels

if TYPE_CHECKING:
    from pantograf.graphs import Graph


class Peer:
    """A rustworkx graph whose edges hold their weights; ranks are of directed graphs alone, so that is made when asked."""

    version = version("rustworkx")
    threads = 1

    def __init__(self, graph: Graph, threads: int) -> None:
        src, dst, weights = graph.edges()
        kept = src <= dst if graph.symmetric else np.ones(graph.m, bool)
        self.source = graph
        self.directed: Any = None
        self.graph = rx.PyGraph() if graph.symmetric else rx.PyDiGraph()
        self.graph.add_nodes_from(range(graph.n))
        values = np.ones(graph.m) if weights is None else weights.astype(np.float64)
        self.graph.extend_from_weighted_edge_list(
            list(zip(src[kept].tolist(), dst[kept].tolist(), values[kept].tolist(), strict=True))
        )

    def bfs(self, source: int) -> Levels:
        """`bfs_layers`."""
        levels = np.full(self.source.n, -1)
        for level, members in enumerate(rx.bfs_layers(self.graph, [source])):
            levels[members] = level
        return Levels(levels)

    def sssp(self, source: int) -> Any:
        """`dijkstra_shortest_path_lengths`."""
        distance = np.full(self.source.n, np.inf)
        found = rx.dijkstra_shortest_path_lengths(self.graph, source, edge_cost_fn=float)
        distance[list(found.keys())] = list(found.values())
        distance[source] = 0
        return distance

    def pagerank(self) -> Any:
        """`pagerank`; its tolerance is for each vertex."""
        if self.directed is None:
            self.directed = rx.PyDiGraph()
            self.directed.add_nodes_from(range(self.source.n))
            src, dst, _ = self.source.edges()
            self.directed.extend_from_edge_list(list(zip(src.tolist(), dst.tolist(), strict=True)))
        found = rx.pagerank(self.directed, alpha=DAMPING, tol=TOLERANCE / self.source.n)
        return np.fromiter((found[v] for v in range(self.source.n)), np.float64, self.source.n)

    def components(self) -> Any:
        """`connected_components`."""
        weak: Any = rx.connected_components if self.source.symmetric else rx.weakly_connected_components
        component = np.empty(self.source.n, np.int64)
        for number, members in enumerate(weak(self.graph)):
            component[list(members)] = number
        return component
