"""The graphs that every algorithm meets: those with a name for what is special about them, and random ones."""

from __future__ import annotations

import numpy as np

from pantograf.graphs import Graph


def named() -> dict[str, Graph]:
    """Small graphs, each with one thing that programs and machines get wrong."""
    rng = np.random.default_rng(1)
    hub = 70
    return {
        "no vertices": _graph([], [], 0),
        "one vertex": _graph([], [], 1),
        "no edges": _graph([], [], 5),
        "isolated source": _graph([1, 2, 3, 4], [2, 3, 1, 3], 6),
        "n beyond the largest id": _graph([0, 1, 2], [1, 2, 0], 140),
        "giant hub": _graph([0] * hub + [*range(1, hub + 1)], [*range(1, hub + 1)] + [0] * hub, hub + 1),
        "hub that only receives": _graph([*range(1, hub)], [0] * (hub - 1), hub),
        "several components": _graph([0, 1, 2, 5, 6, 9, 10, 11, 12], [1, 2, 0, 6, 5, 10, 11, 12, 9], 14),
        "self-loops": _graph([0, 0, 1, 2, 2, 3], [0, 1, 2, 2, 3, 3], 5),
        "duplicates": _graph([0, 0, 0, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 3, 3, 0], 4),
        "path": _graph([*range(40)], [*range(1, 41)], 41),
        "cycle": _graph([*range(9)], [*range(1, 9), 0], 9, undirected=True),
        "everyone with everyone": _graph(*_pairs(7), 7),
        "two cliques and a bridge": _graph(*_bridge(), 12, undirected=True),
        "scattered": _graph(rng.integers(0, 200, 900), rng.integers(0, 200, 900), 200),
        "skewed": _graph(*_skewed(rng, 256, 1500), 256, undirected=True),
    }


def random_graph(rng: np.random.Generator, most: int = 40) -> Graph:
    """A random tree (or forest) and some extra edges, directed or not, perhaps with self-loops and parallel edges.

    A tree reaches every vertex over one way only: an edge that a machine drops shows.
    """
    n = int(rng.integers(1, most + 1))
    parent = np.array([rng.integers(0, v) for v in range(1, n)], np.int64)
    child = np.arange(1, n)
    kept = rng.random(n - 1) < rng.choice([0.8, 1.0])
    extra = int(rng.integers(0, 2 * n))
    src = np.concatenate([parent[kept], rng.integers(0, n, extra)])
    dst = np.concatenate([child[kept], rng.integers(0, n, extra)])
    order = rng.permutation(n)
    return _graph(order[src], order[dst], n, undirected=bool(rng.integers(0, 2)))


def _graph(src: object, dst: object, n: int, undirected: bool = False) -> Graph:
    """A graph with weights from 1 to 9 that differ between parallel edges and are the same both ways."""
    src, dst = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    weights = (np.minimum(src, dst) * 5 + np.maximum(src, dst) * 3 + (0 if undirected else np.arange(src.size))) % 9 + 1
    return Graph.from_edges(src, dst, weights.astype(np.int32), n=n, undirected=undirected)


def _pairs(n: int) -> tuple[list[int], list[int]]:
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _bridge() -> tuple[list[int], list[int]]:
    pairs = [(a + k, b + k) for k in (0, 6) for a in range(6) for b in range(a)] + [(0, 6)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _skewed(rng: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges whose ends are small ids much more often than large ones."""
    ends = (n * rng.random((2, m)) ** 3).astype(np.int64)
    return ends[0], ends[1]
