"""Shortest paths from one vertex by delta-stepping: vertices in buckets of distance, the nearest bucket first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pantograf as pg
from pantograf import Edges, Vertex, Weight, inf
from pantograf.algorithms import Algorithm, Needs, first_vertex
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def sssp(edges: Edges[Weight], source: Vertex, delta: Weight = 1):
    """Shortest paths: each vertex's distance from the source, inf where there is no path. No weight may be negative."""
    distance = edges.vertices.property(Weight, inf)
    queue = pg.priority_queue(distance, lowest_first=True, delta=delta)

    def relax(src, dst, weight):
        queue.update_min(dst, distance[src] + weight)

    queue.add(source, 0)
    while queue:
        edges.from_(queue.pop()).apply(relax, label="relax")
    return distance


def distances(graph: Graph, source: int) -> npt.NDArray[np.float64]:
    """SciPy's distances: Dijkstra's, or Bellman and Ford's where a weight is negative."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import bellman_ford, dijkstra

    assert graph.weights is not None
    weights = graph.weights.astype(np.float64)
    matrix = csr_array((weights, graph.neighbors, graph.offsets), shape=(graph.n, graph.n), copy=True)
    if (weights < 0).any():
        found: npt.NDArray[np.float64] = bellman_ford(matrix, indices=[source])[0]
    else:
        found = dijkstra(matrix, indices=[source])[0]
    return found


def unlimited(distance: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Distances as f64, where the greatest integer means inf."""
    far = distance.astype(np.float64)
    if distance.dtype.kind in "iu":
        far[distance == np.iinfo(distance.dtype).max] = np.inf
    return far


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where distances differ from SciPy's: integers must be equal, sums of floats may be rounded along the path."""
    expected = distances(graph, arguments["source"])
    found = np.asarray(result.distance)
    tolerance = 0.0 if found.dtype.kind in "iu" else 1e-4 if found.dtype == np.float32 else 1e-9
    values = unlimited(found)
    wrong = np.flatnonzero(~np.isclose(values, expected, rtol=tolerance, atol=0))
    return [f"vertex {v} is at distance {values[v]}, not {expected[v]} ({wrong.size:,} such)" for v in wrong[:1]]


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """How many vertices were reached, the greatest distance and the sum of all."""
    distance = np.asarray(result.distance)
    reached = distance[np.isfinite(unlimited(distance))]
    total = reached.sum(dtype=np.int64 if distance.dtype.kind in "iu" else np.float64)
    return {"reached": reached.size, "max": reached.max(initial=0).item(), "sum": total.item()}


def bucket_width(graph: Graph) -> int | float:
    """A `delta` that suits a graph: four mean weights, shared by the edges of a vertex; of whole numbers a power of two.

    A vertex with many edges soon has a better way to each neighbour, so that wide buckets do work that is thrown away (on a uniform
    graph of degree 32 three times that of narrow ones); with few edges narrow buckets only cost rounds. The degree that counts lies
    between that of a vertex and that of an edge's end, which is far greater where there are hubs.
    """
    assert graph.weights is not None
    degrees = graph.out_degrees.astype(np.float64)
    degree = np.sqrt((degrees**2).mean()) if graph.m else 1.0  # the geometric mean of the two means
    width = 4 * float(graph.weights.mean(dtype=np.float64)) / degree if graph.m else 1.0
    if graph.weights.dtype.kind in "iub":
        return 1 << (max(1, round(width)).bit_length() - 1)
    return float(width) if width > 0 else 1.0


algorithm = Algorithm(
    title="shortest paths, delta-stepping",
    citation="Meyer, Sanders, Delta-stepping: a parallelizable shortest path algorithm, Journal of Algorithms 49, 2003",
    program=sssp,
    relation="equal; with f64 weights within 1e-9 of each distance, with f32 within 1e-4",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"source": first_vertex(graph), "delta": bucket_width(graph)},
    needs=Needs(weights="random{low=1, high=255, seed=1}", lengths="nonnegative"),
)
