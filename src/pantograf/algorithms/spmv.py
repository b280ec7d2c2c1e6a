"""Sparse matrix times vector: an edge from i to j of weight w is the entry w in row i and column j."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pantograf import Edges, Property, Weight, f64
from pantograf.algorithms import Algorithm, Needs
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def spmv(edges: Edges[Weight], x: Property[f64]):
    """Sparse matrix times vector: y = A x."""
    y = edges.vertices.property(f64, 0)

    def multiply(row, column, entry):
        y[row] += entry * x[column]

    edges.apply(multiply, label="multiply")
    return y


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where y differs from SciPy's product by more than rounding of its summands."""
    from scipy.sparse import csr_array

    assert graph.weights is not None
    x, found = arguments["x"], np.asarray(result.y)
    weights = graph.weights.astype(np.float64)
    matrix = csr_array((weights, graph.neighbors, graph.offsets), shape=(graph.n, graph.n), copy=True)
    sizes = csr_array((np.abs(weights), graph.neighbors, graph.offsets), shape=(graph.n, graph.n), copy=True)
    expected, size = matrix @ x, sizes @ np.abs(x)
    same = (np.abs(found - expected) <= 1e-12 * size) | (found == expected) | (np.isnan(found) & np.isnan(expected))
    wrong = np.flatnonzero(~same)
    return [f"entry {v} of y is {found[v]}, not {expected[v]} ({wrong.size:,} such)" for v in wrong[:1]]


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """The sum and the length of y."""
    return {"sum": float(np.sum(result.y)), "norm": float(np.linalg.norm(result.y))}


algorithm = Algorithm(
    title="sparse matrix times vector",
    citation="Saad, Iterative methods for sparse linear systems, 2003, section 3.5",
    program=spmv,
    relation="close: each entry within 1e-12 of the sum of its summands' sizes",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"x": np.random.default_rng(1).random(graph.n)},
    needs=Needs(weights="unit"),
)
