"""New numbers for the same vertices. An order is an array that gives each vertex its new id."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.csr import Graph


def by_degree(graph: Graph) -> npt.NDArray[np.int64]:
    """Falling out-degree; equal ones keep their order."""
    degrees = graph.out_degrees
    most = int(degrees.max(initial=0))
    keys = most - degrees
    return _positions(
        np.argsort(keys.astype(np.uint16) if most < 1 << 16 else keys, kind="stable")
    )  # 16 bits: by digits


def at_random(graph: Graph, seed: int = 1) -> npt.NDArray[np.int64]:
    """A permutation drawn from `seed`, the same on every machine."""
    if seed < 0:
        raise UserError(f"a seed cannot be {seed}", hint="from 0")
    return np.argsort(np.random.PCG64(seed).random_raw(graph.n), kind="stable").astype(np.int64, copy=False)


def _positions(order: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Where each vertex stands in a sequence of vertices."""
    positions = np.empty(order.size, np.int64)
    positions[order] = np.arange(order.size)
    return positions


def relabeled(graph: Graph, new_ids: Any, name: str | None = None) -> Graph:
    """See `Graph.relabeled`."""
    new = build.edge_ids(new_ids, "new_ids")
    if new.size != graph.n or (
        graph.n and (np.bincount(new[(new >= 0) & (new < graph.n)], minlength=graph.n) != 1).any()
    ):
        raise UserError(f"new_ids is no permutation of 0 to {graph.n - 1}", hint="give each vertex a new id of its own")
    rows = build.renumber(graph.rows, new.astype(graph.neighbors.dtype))
    back = np.argsort(new) if graph.labels is not None or graph.coordinates is not None else None
    return Graph(
        *rows,
        symmetric=graph.symmetric,
        labels=None if graph.labels is None else graph.labels[back],
        coordinates=None if graph.coordinates is None else graph.coordinates[back],
        name=name or graph.name,
        self_loops=graph.self_loops,
        duplicates=graph.duplicates,
    )
