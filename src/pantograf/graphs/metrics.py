"""Numbers that describe a graph: degrees, components, diameter, and the locality metrics of Salvador et al. (ISPASS
2020).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Rows
from pantograf.graphs.csr import Graph, edge_blocks
from pantograf.graphs.weights import type_name


class Degrees(NamedTuple):
    """Least, greatest, mean, standard deviation and skewness, and the share of edges at the busiest 1 % of vertices."""

    least: int
    greatest: int
    mean: float
    deviation: float
    skewness: float
    top_share: float


def degrees(values: npt.NDArray[np.int64]) -> Degrees:
    """The distribution of out- or in-degrees; all zero without vertices."""
    if values.size == 0:
        return Degrees(0, 0, 0.0, 0.0, 0.0, 0.0)
    mean, deviation = float(values.mean()), float(values.std())
    skewness = float(((values - mean) ** 3).mean()) / deviation**3 if deviation else 0.0
    top = max(values.size // 100, 1)
    busiest = int(np.partition(values, values.size - top)[values.size - top :].sum())
    share = busiest / total if (total := int(values.sum())) else 0.0
    return Degrees(int(values.min()), int(values.max()), mean, deviation, skewness, share)


class Components(NamedTuple):
    """How many components there are, the component of each vertex, and the number of vertices in the largest."""

    number: int
    of_vertex: npt.NDArray[np.int32]
    largest: int


def components(graph: Graph, *, strong: bool = False) -> Components:
    """Weak components, or strong ones."""
    import scipy.sparse.csgraph

    count, of_vertex = scipy.sparse.csgraph.connected_components(
        _structure(graph), directed=True, connection="strong" if strong else "weak"
    )
    largest = int(np.bincount(of_vertex).max()) if count else 0
    return Components(int(count), of_vertex, largest)


def _structure(graph: Graph) -> Any:
    """A matrix without weights and parallel edges: SciPy's strong components never end where it has these."""
    rows = build.combine_duplicates(Rows(graph.offsets, graph.neighbors, None), "drop")
    return Graph(*rows).to_scipy()


def levels(graph: Graph, source: int) -> npt.NDArray[np.int64]:
    """Hops from `source` to each vertex, -1 where there is no way."""
    import scipy.sparse.csgraph

    if not 0 <= source < graph.n:
        raise UserError(f"{source} is no vertex of {graph.name}", hint=f"vertices are 0 to {graph.n - 1}")
    order, before = scipy.sparse.csgraph.breadth_first_order(_structure(graph), source, directed=True)
    hops = np.full(graph.n, -1, np.int64)
    hops[order] = 1
    hops[source] = 0
    at = before.astype(np.int64)
    at[source] = source
    while (at[order] != source).any():  # a path is halved in each round
        hops[order] += hops[at[order]]
        at[order] = at[at[order]]
    return hops


def diameter_estimate(graph: Graph, sweeps: int = 6) -> int:
    """A lower bound of the diameter in hops of the largest component, directions ignored.

    The first sweep starts at the vertex of greatest degree, each other where the one before ended farthest away, or after
    a sweep that went no farther than the best at a vertex drawn with a fixed seed.
    """
    if sweeps < 1:
        raise UserError(f"sweeps cannot be {sweeps}", hint="from 1")
    if graph.m == 0:
        return 0
    both = graph if graph.symmetric else graph.with_weights(None).as_undirected()
    parts = components(both)
    inside = np.flatnonzero(parts.of_vertex == np.bincount(parts.of_vertex).argmax())
    start = int(inside[both.out_degrees[inside].argmax()])
    draws = np.random.PCG64(1).random_raw(sweeps) % np.uint64(inside.size)
    farthest = 0
    for draw in draws:
        hops = levels(both, start)
        end = int(hops.argmax())
        if hops[end] > farthest:
            farthest, start = int(hops[end]), end
        else:
            start = int(inside[draw])
    return farthest


class Locality(NamedTuple):
    """Volume in KiB for each multiprocessor, local and remote average neighbours, reuse, and imbalance."""

    volume_kib: float
    an_local: float
    an_remote: float
    reuse: float
    imbalance: float


def locality(
    graph: Graph,
    *,
    multiprocessors: int = 15,
    block: int = 256,
    warp: int = 32,
    threshold: float = 10.0,
    element_bytes: int = 4,
) -> Locality:
    """Equations 1 to 7 of Salvador et al. for the stored edges; a thread block holds `block` consecutive vertices.

    The defaults reproduce the paper's table II: 15 compute units, blocks of 256, and elements of 4 bytes.
    """
    if min(multiprocessors, block, warp, element_bytes) < 1:
        raise UserError("multiprocessors, block, warp and element_bytes are at least 1")
    if graph.n == 0:
        return Locality(0.0, 0.0, 0.0, 0.0, 0.0)
    inside = loops = 0
    for _, src, dst in edge_blocks(graph):
        loops += int((src == dst).sum())
        inside += int((src // block == dst // block).sum())
    local = (inside - loops) / graph.n
    remote = (graph.m - inside) / graph.n
    reuse = 0.5 * (1 + (local - remote) / (graph.m / graph.n)) if graph.m else 0.0
    volume = (graph.n + graph.m) / multiprocessors * element_bytes / 1024
    return Locality(volume, local, remote, reuse, _imbalance(graph.out_degrees, block, warp, threshold))


def _imbalance(values: npt.NDArray[np.int64], block: int, warp: int, threshold: float) -> float:
    """The share of blocks where 2-means of the warps' greatest degrees has centres more than `threshold` apart.

    In one dimension the best two clusters are a split of the sorted values, so all splits are tried.
    """
    blocks = -(-values.size // block)
    warps = -(-block // warp)
    full = values.size // block
    marked = 0
    if full:
        padded = np.zeros((full, warps * warp), np.int64)
        padded[:, :block] = values[: full * block].reshape(full, block)
        marked += int((_centre_gaps(padded.reshape(full, warps, warp).max(2)) > threshold).sum())
    if full < blocks:
        rest = values[full * block :]
        busiest = np.array([[rest[at : at + warp].max() for at in range(0, rest.size, warp)]])
        marked += int((_centre_gaps(busiest) > threshold).sum())
    return marked / blocks


def _centre_gaps(values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """For each row, the distance of the two centres of its best split."""
    count = values.shape[1]
    if count < 2:
        return np.zeros(values.shape[0])
    sums = np.cumsum(np.sort(values, axis=1), axis=1).astype(np.float64)
    left = np.arange(1, count)
    gaps = (sums[:, -1:] - sums[:, :-1]) / (count - left) - sums[:, :-1] / left
    best = (left * (count - left) * gaps**2).argmax(1)  # what the split takes off the squared error, times count
    found: npt.NDArray[np.float64] = gaps[np.arange(values.shape[0]), best]
    return found


def describe(graph: Graph, *, deep: bool = True) -> dict[str, Any]:
    """All of this page as flat names and plain numbers; `deep=False` leaves out components and diameter."""
    out, into = degrees(graph.out_degrees), degrees(graph.in_degrees)
    found: dict[str, Any] = {
        "name": graph.name,
        "fingerprint": graph.fingerprint,
        "vertices": graph.n,
        "edges": graph.m,
        "symmetric": graph.symmetric,
        "bipartite": graph.bipartite,
        "id_bits": graph.neighbors.dtype.itemsize * 8,
        "weights": None if graph.weights is None else type_name(graph.weights.dtype),
        "labels": graph.labels is not None,
        "coordinates": graph.coordinates is not None,
        "self_loops": sum(int((src == dst).sum()) for _, src, dst in edge_blocks(graph)),
        "parallel_edges": graph.m - int(build.firsts(graph.rows).sum()),
        "isolated": int(((graph.out_degrees == 0) & (graph.in_degrees == 0)).sum()),
        "memory_bytes": sum(a.nbytes for a in graph.rows if a is not None),
    }
    if graph.weights is not None and graph.m:
        found["weights.least"], found["weights.greatest"] = graph.weights.min().item(), graph.weights.max().item()
    for side, values in (("out_degree", out), ("in_degree", into)):
        found |= {f"{side}.{name}": value for name, value in values._asdict().items()}
    found |= {f"locality.{name}": value for name, value in locality(graph)._asdict().items()}
    if deep:
        weak, strong = components(graph), components(graph, strong=True)
        found |= {
            "components": weak.number,
            "components.largest": weak.largest,
            "strong_components": strong.number,
            "strong_components.largest": strong.largest,
            "diameter.at_least": diameter_estimate(graph),
        }
    return found
