"""The shortest path between two vertices: delta-stepping that ends as soon as the target's distance is final."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import pantograf as pg
from pantograf import Edges, Vertex, Weight, inf
from pantograf.algorithms import Algorithm, Needs, first_vertex
from pantograf.algorithms.sssp import bucket_width, distances
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def ppsp(edges: Edges[Weight], source: Vertex, target: Vertex, delta: Weight = 1):
    """The shortest path from source to target: its length, inf if there is none. Weights may not be negative."""
    distance = edges.vertices.property(Weight, inf)
    queue = pg.priority_queue(distance, lowest_first=True, delta=delta)

    def relax(src, dst, weight):
        queue.update_min(dst, distance[src] + weight)

    queue.add(source, 0)
    while queue and not queue.finished_node(target):
        edges.from_(queue.pop()).apply(relax, label="relax")
    length = distance[target]
    return length


def length_of(graph: Graph, result: Result) -> float:
    """The length that was found; the greatest integer of the program's weight type (i32 for narrow weights) is inf."""
    assert graph.weights is not None
    kind = graph.weights.dtype
    if kind.kind not in "iu":
        return float(result.length)
    greatest = np.iinfo(kind if kind.itemsize >= 4 else np.int32).max
    return np.inf if result.length == greatest else float(result.length)


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """How the length differs from SciPy's."""
    assert graph.weights is not None
    expected, found = distances(graph, arguments["source"])[arguments["target"]], length_of(graph, result)
    tolerance = {"f": 1e-9 if graph.weights.dtype == np.float64 else 1e-4}.get(graph.weights.dtype.kind, 0.0)
    if np.isclose(found, expected, rtol=tolerance, atol=0):
        return []
    return [f"the path from {arguments['source']} to {arguments['target']} has length {found}, not {expected}"]


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """Whether there is a path, and its length."""
    return {"reached": int(np.isfinite(length_of(graph, result))), "length": result.length}


def last_vertex(graph: Graph) -> Any:
    """The vertex with the greatest id, as a user calls it."""
    return graph.n - 1 if graph.labels is None or not graph.n else graph.labels[-1]


algorithm = Algorithm(
    title="shortest path between two vertices",
    citation="Zhang, Brahmakshatriya, Chen, Dhulipala, Kamil, Amarasinghe, Shun, "
    "Optimizing ordered graph algorithms with GraphIt, CGO 2020",
    program=ppsp,
    relation="equal; with f64 weights within 1e-9 of the length, with f32 within 1e-4",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"source": first_vertex(graph), "target": last_vertex(graph), "delta": bucket_width(graph)},
    needs=Needs(weights="random{low=1, high=255, seed=1}", lengths="nonnegative"),
)
