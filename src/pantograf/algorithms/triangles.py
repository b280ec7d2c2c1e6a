"""Triangle counting: vertices are numbered by falling degree, a triangle is found at its edge of greatest numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pantograf import Edges, i64
from pantograf.algorithms import Algorithm, Needs
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def triangles(edges: Edges):
    """How many triangles an undirected graph has."""
    ordered = edges.relabel()
    triangles = i64(0)

    def close(src, dst):
        nonlocal triangles
        if dst < src:
            triangles += ordered.intersect(src, dst, below=dst)

    ordered.apply(close, label="count")
    return triangles


def count(graph: Graph) -> int:
    """How many pairs of edges from one vertex to greater ones an edge closes, by SciPy's products of sparse blocks."""
    from scipy.sparse import csr_array

    place = np.empty(graph.n, np.int64)
    place[np.argsort(graph.out_degrees, kind="stable")] = np.arange(graph.n)
    src, dst, _ = graph.edges()
    up = place[src] < place[dst]
    src, dst = place[src[up]], place[dst[up]]
    greater = csr_array((np.ones(src.size, np.int64), (src, dst)), shape=(graph.n, graph.n))
    paths = np.cumsum(np.concatenate([[0], greater @ np.diff(greater.indptr)]))
    total = begin = 0
    while begin < graph.n:
        end = max(int(np.searchsorted(paths, paths[begin] + 20_000_000, side="right")) - 1, begin + 1)
        rows = greater[begin:end]
        total += int((rows @ greater).multiply(rows).sum())
        begin = end
    return total


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """How the count differs from SciPy's."""
    expected = count(graph)
    return [] if result.triangles == expected else [f"{result.triangles} triangles, not {expected}"]


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """The count."""
    return {"triangles": int(result.triangles)}


algorithm = Algorithm(
    title="triangle counting",
    citation="Chiba, Nishizeki, Arboricity and subgraph listing algorithms, SIAM Journal on Computing 14, 1985; "
    "Shun, Tangwongsan, Multicore triangle computations without tuning, ICDE 2015",
    program=triangles,
    relation="equal",
    compare=compare,
    summarise=summarise,
    needs=Needs(undirected=True, simple=True),
)
