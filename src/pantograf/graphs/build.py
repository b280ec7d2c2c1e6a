"""Edge arrays into compressed rows: counting, sorting within rows, dropping and combining.

Few edges are sorted by NumPy, so that a small graph costs neither Numba's import nor a compilation; many edges go
through `buckets.py`. Both give the same arrays.
"""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pantograf.errors import Place, UserError

Array = npt.NDArray[Any]
SelfLoops = Literal["keep", "drop"]
Duplicates = Literal["keep", "drop", "min", "max", "sum"]

COMPILED_FROM_EDGES = 1 << 22
"""From this number of stored edges on the compiled builder wins over NumPy's sort, its start included."""

_SPARSE_IDS_FROM = 1 << 26
_SPARSE_IDS_PER_EDGE = 256


class Rows(NamedTuple):
    """Compressed rows: `neighbors[offsets[v]:offsets[v + 1]]` ascend, and `weights` stand beside them."""

    offsets: npt.NDArray[np.int64]
    neighbors: Array
    weights: Array | None


def id_type(n: int, ids: Literal["auto", 32, 64] = "auto") -> np.dtype[Any]:
    """The integer type of vertex ids: 32-bit where `n` allows, unless 64-bit ids are asked for."""
    if ids not in ("auto", 32, 64):
        raise UserError(f"vertex ids cannot have {ids!r} bits", hint="legal: 'auto', 32, 64")
    if ids == 64 or (ids == "auto" and n > 2**31 - 1):
        return np.dtype(np.int64)
    if n > 2**31 - 1:
        raise UserError(f"{n:,} vertices do not fit in 32-bit ids", hint="leave ids='auto', or use ids=64")
    return np.dtype(np.int32)


def available_bytes() -> int:
    """Memory that can still be used without swapping, as far as the system says."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 1 << 62


def require_memory(needed_bytes: int, what: str, place: Place | None = None) -> None:
    """Refuse now what would exhaust memory later."""
    free = available_bytes()
    if needed_bytes > free:
        raise UserError(
            f"{what} would take about {_gigabytes(needed_bytes)} of memory, and {_gigabytes(free)} are free",
            place,
            hint="check the number of vertices and edges; compact=True renumbers ids that leave large gaps",
        )


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"


def require_dense_ids(n: int, edges: int, where: str, place: Place | None = None) -> None:
    """Refuse a number of vertices that only a stray id explains: it would be paid for in memory, on every run."""
    if n > _SPARSE_IDS_FROM and n > _SPARSE_IDS_PER_EDGE * max(edges, 1):
        raise UserError(
            f"{where} has vertex id {n - 1:,} but only {edges:,} edges",
            place,
            hint=f"use compact=True to number the vertices that occur, or n={n} if every id up to that one is a vertex",
        )


def estimate_bytes(n: int, m: int, weight_bytes: int = 0) -> int:
    """Peak memory of building `m` stored edges over `n` vertices, the caller's own arrays aside."""
    ids = 4 if n <= 2**31 - 1 else 8
    return 24 * (n + 1) + m * (2 * ids + 2 * weight_bytes)


def edge_ids(values: Any, what: str) -> Array:
    """A one-dimensional integer array of vertex ids; nothing is copied that already is one."""
    ids = np.asarray(values)
    if ids.ndim != 1:
        raise UserError(
            f"{what} has {ids.ndim} dimensions, an array of edges has one", hint="pass two arrays of equal length"
        )
    if ids.size == 0:
        return ids.astype(np.int64)
    if ids.dtype.kind not in "iu":
        raise UserError(
            f"{what} holds {ids.dtype} values, vertex ids are whole numbers",
            hint="use compact=True to number names, or convert with .astype(int)",
        )
    if ids.dtype == np.uint64 and int(ids.max()) > 2**63 - 1:
        raise UserError(f"{what} holds the id {ids.max()}, more than a 64-bit id can be", hint="use compact=True")
    if ids.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        ids = ids.astype(np.int32 if ids.dtype.itemsize < 4 else np.int64)
    return ids


def edge_weights(values: Any, count: int) -> Array | None:
    """A one-dimensional array of `count` numbers in a type that programs know."""
    if values is None:
        return None
    weights = np.asarray(values)
    if weights.ndim == 0 and weights.dtype.kind in "iufb":
        weights = np.full(count, weights)
    if weights.shape != (count,):
        raise UserError(f"{weights.size:,} weights are given for {count:,} edges", hint="give one weight for each edge")
    if weights.dtype == bool:
        return weights.astype(np.uint8)
    if weights.dtype == np.float16:
        return weights.astype(np.float32)
    if weights.dtype.kind not in "iuf" or weights.dtype.itemsize > 8:
        raise UserError(
            f"weights cannot be {weights.dtype}", hint="legal: int8 to int64, uint8 to uint64, float32, float64"
        )
    return weights


def check_ids(ids: Array, n: int, what: str) -> None:
    """Refuse an id that is no vertex, naming the edge."""
    if ids.size == 0:
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0:
        raise UserError(f"{what}[{int(np.argmin(ids))}] is {low}, vertex ids start at 0")
    if high >= n:
        raise UserError(f"{what}[{int(np.argmax(ids))}] is {high}, but n is {n}, so the largest vertex id is {n - 1}")


def compress(src: Array, dst: Array, weights: Array | None, n: int, ids: np.dtype[Any], mirror: bool = False) -> Rows:
    """Rows of the edges `src -> dst`; with `mirror` each edge is stored both ways, and a self-loop once.

    Parallel edges keep the order in which they were given, in both directions alike.
    """
    stored = src.size * (2 if mirror else 1)
    require_memory(
        estimate_bytes(n, stored, 0 if weights is None else weights.dtype.itemsize), f"a graph of {n:,} vertices"
    )
    if stored >= COMPILED_FROM_EDGES:
        from pantograf.graphs import buckets

        return Rows(*buckets.compress(src, dst, weights, n, ids, mirror))
    if mirror:
        src, dst, weights = _mirrored(src, dst, weights)
    return _compress_by_sorting(src, dst, weights, n, ids)


def _mirrored(src: Array, dst: Array, weights: Array | None) -> tuple[Array, Array, Array | None]:
    """Each edge followed by its reverse, the reverse of a self-loop left out."""
    both_src, both_dst = np.empty(2 * src.size, np.int64), np.empty(2 * src.size, np.int64)
    both_src[0::2], both_src[1::2] = src, dst
    both_dst[0::2], both_dst[1::2] = dst, src
    both_weights = None if weights is None else np.repeat(weights, 2)
    loops = np.flatnonzero(src == dst)
    if loops.size:
        both_src, both_dst = np.delete(both_src, 2 * loops + 1), np.delete(both_dst, 2 * loops + 1)
        both_weights = None if both_weights is None else np.delete(both_weights, 2 * loops + 1)
    return both_src, both_dst, both_weights


def _compress_by_sorting(src: Array, dst: Array, weights: Array | None, n: int, ids: np.dtype[Any]) -> Rows:
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(src, minlength=n), out=offsets[1:])
    id_bits = max(n - 1, 1).bit_length()
    place_bits = 0 if weights is None else max(src.size - 1, 1).bit_length()
    if 2 * id_bits + place_bits > 63:
        order = np.lexsort((dst, src))
        return Rows(offsets, dst[order].astype(ids), None if weights is None else weights[order])
    keys = src.astype(np.int64) << (id_bits + place_bits)
    keys |= dst.astype(np.int64) << place_bits
    if weights is not None:
        keys |= np.arange(src.size)
    keys.sort()
    neighbors = ((keys >> place_bits) & ((1 << id_bits) - 1)).astype(ids)
    return Rows(offsets, neighbors, None if weights is None else weights[keys & ((1 << place_bits) - 1)])


def transpose(rows: Rows, n: int) -> Rows:
    """The rows of the reversed edges; parallel edges keep their order."""
    return compress(rows.neighbors, row_numbers(rows), rows.weights, n, rows.neighbors.dtype)


def renumber(rows: Rows, new: Array) -> Rows:
    """The rows of the same edges with vertex v called `new[v]`; parallel edges keep their order."""
    n, stored = new.size, rows.neighbors.size
    if stored >= COMPILED_FROM_EDGES // 16:  # a smaller function, and loaded in a tenth of a second once it is compiled
        from pantograf.graphs import buckets

        return Rows(*buckets.renumber(rows.offsets, rows.neighbors, rows.weights, new))
    return compress(new[row_numbers(rows)], new[rows.neighbors], rows.weights, n, rows.neighbors.dtype)


def row_numbers(rows: Rows) -> Array:
    """The source of each stored edge."""
    return np.repeat(np.arange(rows.offsets.size - 1, dtype=rows.neighbors.dtype), np.diff(rows.offsets))


def are_sorted(rows: Rows) -> bool:
    """Whether the neighbours of each vertex ascend."""
    if rows.neighbors.size < 2:
        return True
    falls = np.flatnonzero(rows.neighbors[1:] < rows.neighbors[:-1]) + 1
    return bool(np.isin(falls, rows.offsets, assume_unique=False).all()) if falls.size else True


def firsts(rows: Rows) -> npt.NDArray[np.bool_]:
    """Of each set of parallel edges the first."""
    first = np.ones(rows.neighbors.size, bool)
    np.not_equal(rows.neighbors[1:], rows.neighbors[:-1], out=first[1:])
    starts = rows.offsets[:-1]
    first[starts[starts < first.size]] = True
    return first


def combine_duplicates(rows: Rows, how: Duplicates) -> Rows:
    """One edge for each set of parallel edges: the first given, or their least, greatest or summed weight."""
    offsets, neighbors, weights = rows
    if how == "keep" or (first := firsts(rows)).all():
        return rows
    kept = np.zeros(neighbors.size + 1, np.int64)
    np.cumsum(first, out=kept[1:])
    if weights is None or how == "drop":
        combined = None if weights is None else weights[first]
    else:
        ufunc = {"min": np.minimum, "max": np.maximum, "sum": np.add}[how]
        combined = ufunc.reduceat(weights, np.flatnonzero(first), dtype=weights.dtype)
    return Rows(kept[offsets], neighbors[first], combined)
