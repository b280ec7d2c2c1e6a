"""Small graphs with a name each, and ways to run an algorithm on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from pantograf import machine
from pantograf.algorithms import Algorithm, names
from pantograf.graphs import Graph
from pantograf.result import Result

ALGORITHMS = names()
MACHINES = [name for name in ("reference", "cpu") if name in machine.names()]


def edges_of(n: int, *edges: tuple[int, int], **options: Any) -> Graph:
    """A graph of listed edges."""
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, **options)


def tree_and_more(n: int, extra: int, seed: int, *, undirected: bool, weight: str = "") -> Graph:
    """A random tree over all vertices but the last two, and extra random edges among all but the last."""
    random = np.random.default_rng(seed)
    child = np.arange(1, n - 2)
    src = np.concatenate([random.integers(0, child), random.integers(0, n - 1, extra)])
    dst = np.concatenate([child, random.integers(0, n - 1, extra)])
    names = random.permutation(n)
    graph = Graph.from_edges(names[src], names[dst], n=n, undirected=undirected)
    if weight == "f64":
        return graph.with_weights("random{low=1, high=40, seed=3, type=f64}")
    return graph.with_weights(f"random{{low=0, high=40, seed=3, type={weight}}}") if weight else graph


def karate(**options: Any) -> Graph:
    """Zachary's karate club."""
    club = nx.karate_club_graph()
    pairs = np.array(list(club.edges()))
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=34, undirected=True, **options)


SMALL = {
    "one vertex": edges_of(1),
    "no edges": edges_of(4),
    "one self-loop": edges_of(2, (1, 1)),
    "path there": edges_of(9, *[(i, i + 1) for i in range(8)]),
    "path back": edges_of(9, *[(i + 1, i) for i in range(8)]),
    "star": edges_of(70, *[(0, i) for i in range(1, 70)], undirected=True),
    "star from a leaf": edges_of(70, *[(69, i) for i in range(69)], undirected=True),
    "clique": edges_of(9, *[(i, j) for i in range(9) for j in range(i)], undirected=True),
    "ring": edges_of(12, *[(i, (i + 1) % 12) for i in range(12)], undirected=True),
    "parallel edges": edges_of(5, (0, 1), (0, 1), (1, 2), (2, 2), (2, 0), (3, 4), (3, 4), undirected=True),
    "zigzag": edges_of(8, (1, 0), (1, 2), (3, 2), (3, 4), (5, 4), (5, 6), (7, 6)),
    "digraph": tree_and_more(30, 40, 1, undirected=False),
    "graph": tree_and_more(30, 25, 2, undirected=True),
    "weighted digraph": tree_and_more(30, 60, 3, undirected=False, weight="i32"),
    "weighted graph": tree_and_more(25, 30, 4, undirected=True, weight="f64"),
    "narrow weights": tree_and_more(20, 30, 5, undirected=False, weight="u8"),
    "f32 weights": tree_and_more(20, 30, 6, undirected=True, weight="f32"),
    "karate": karate(),
}


def argument_sets(algorithm: Algorithm, graph: Graph) -> Iterator[dict[str, Any]]:
    """Arguments to try: what suits the graph, and a few others."""
    yield algorithm.arguments(graph, {"rounds": 3} if algorithm.name == "cf" else {})
    last = graph.n - 1
    match algorithm.name:
        case "bfs" | "bfs_depth" | "bc" | "bellman_ford":
            yield {"source": last}
        case "sssp":
            yield {"source": last}
            yield {"source": 0, "delta": 1000}
        case "ppsp":
            yield {"source": last, "target": 0, "delta": 5}
            yield {"source": last, "target": last}
        case "betweenness":
            yield {"sources": [last]}
        case "pagerank" | "pagerank_delta":
            yield {"tolerance": 1e-9, "spread": True}
            yield {"tolerance": 1e-9, "spread": False}
            yield {"damping": 0.5}
        case "pagerank_in_place":
            yield {"tolerance": 1e-5, "spread": True}
            yield {"damping": 0.5}
        case "cc_afforest":
            yield {"first": 0}
        case "mis" | "coloring":
            yield {"seed": 7}
        case "cf":
            yield {"rounds": 1, "seed": 5}


def run(algorithm: Algorithm, graph: Graph, on: str, arguments: dict[str, Any]) -> Result:
    """Run an algorithm on a machine, on a graph that is prepared."""
    return algorithm.program.on(on)(graph, **arguments)
