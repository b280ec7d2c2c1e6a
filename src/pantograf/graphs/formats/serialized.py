"""`.sg` and `.wsg`, the GAP benchmark's serialized graphs: CSR as bytes, 64-bit offsets, 32-bit ids and weights.

A flag byte (directed), the numbers of stored edges and of vertices, the offsets, and for each edge its neighbour
(`.wsg`: and its weight); a directed graph has the offsets and neighbours of the reversed edges after that.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pantograf import files
from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array
from pantograf.graphs.csr import Graph

_HEAD_BYTES = 17
_WEIGHTED = np.dtype([("id", "<i4"), ("weight", "<i4")])


def read(path: Path) -> Graph:
    """A directed file's reversed edges become the transposed graph; that the flag and they are true is verified."""
    size = path.stat().st_size
    record = _WEIGHTED if path.suffix == ".wsg" else np.dtype("<i4")
    with open(path, "rb") as file:
        head = file.read(_HEAD_BYTES)
        if len(head) < _HEAD_BYTES or head[0] > 1:
            raise UserError(f"{path} is no serialized graph: it does not start with a flag and two counts")
        directed = bool(head[0])
        m, n = (int(count) for count in np.frombuffer(head, "<i8", 2, 1))
        expected = _HEAD_BYTES + (1 + directed) * (8 * (n + 1) + record.itemsize * m)
        if n < 0 or m < 0 or expected != size:
            raise UserError(
                f"{path} says it has {n:,} vertices and {m:,} {'directed' if directed else 'stored'} edges, "
                f"which take {expected:,} bytes, but it has {size:,}",
                hint=".sg files have no weights, .wsg files have them; both use 32-bit ids",
            )
        build.require_memory(2 * size, f"reading {path}")
        halves = []
        for _ in range(1 + directed):
            offsets = np.fromfile(file, "<i8", n + 1)
            edges: Array = np.fromfile(file, record, m)
            weights = edges["weight"].copy() if record == _WEIGHTED else None
            halves.append(_checked(path, offsets, edges if weights is None else edges["id"].copy(), weights))
    graph = halves[0]
    if not directed:
        return _known_symmetric(path, graph)
    if not graph.transposed().equals(halves[1]):
        raise UserError(f"{path}: the reversed edges are not those of its edges")
    return graph


def _checked(path: Path, offsets: Array, ids: Array, weights: Array | None) -> Graph:
    try:
        return Graph.from_csr(offsets, ids, weights, copy=False)
    except UserError as error:
        raise UserError(f"{path}: {error.message}") from None


def _known_symmetric(path: Path, graph: Graph) -> Graph:
    try:
        return graph.named(str(path)).verified_symmetric()
    except UserError as error:
        raise UserError(f"{path} says it is undirected: {error.message}") from None


def write(graph: Graph, path: Path) -> None:
    """Without weights a `.wsg` file gets 1 for each edge; weights that are no 32-bit whole numbers are refused."""
    if graph.neighbors.dtype != np.int32:
        raise UserError(f"{path.suffix} files have 32-bit ids, {graph.name} has 64-bit ids", hint="save it as .npz")
    if path.suffix == ".wsg":
        graph = graph.with_weights("unit" if graph.weights is None else "converted{type=i32}")
    with files.replacing(path) as file:
        file.write(bytes([not graph.symmetric]))
        file.write(np.array([graph.m, graph.n], "<i8").tobytes())
        for half in (graph,) if graph.symmetric else (graph, graph.transposed()):
            file.write(half.offsets.astype("<i8", copy=False).data)
            if path.suffix == ".wsg":
                edges = np.empty(half.m, _WEIGHTED)
                edges["id"], edges["weight"] = half.neighbors, half.weights
                file.write(edges.data)
            else:
                file.write(half.neighbors.astype("<i4", copy=False).data)
