"""Many edges into compressed rows: compiled counting in buckets of neighbouring vertices that fit in cache, on all
cores.

Three steps, each with a thread per core: count the edges of each bucket, scatter them there, and in each bucket scatter
them to their rows and sort the rows. Every step keeps the order of parallel edges. The scattered destinations become
the result in place, so that beside the result there is one more array of ids.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])

_EDGES_PER_BUCKET = 1 << 16
_MOST_BUCKETS = 1 << 10
_INSERTION_UP_TO = 48


def _compiled(function: F) -> F:
    """Compiled without the interpreter lock, and kept on disk where there is a place to write to."""
    try:
        return numba.njit(nogil=True, cache=True)(function)  # type: ignore[return-value]
    except RuntimeError:
        return numba.njit(nogil=True)(function)  # type: ignore[return-value]


def threads() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def compress(
    src: Array, dst: Array, weights: Array | None, n: int, ids: np.dtype[Any], mirror: bool
) -> tuple[npt.NDArray[np.int64], Array, Array | None]:
    """Offsets, neighbours and weights; see `build.compress`."""
    if src.dtype != dst.dtype:
        src, dst = src.astype(np.int64, copy=False), dst.astype(np.int64, copy=False)
    src, dst = _writable(src), _writable(dst)
    raw = np.empty(0, np.uint8) if weights is None else _writable(_as_bits(weights))
    weighted = weights is not None
    workers = threads()
    stored = src.size * (2 if mirror else 1)
    shift = max(n - 1, 1).bit_length() - min(max(stored // _EDGES_PER_BUCKET, 1), _MOST_BUCKETS).bit_length() + 1
    shift = max(shift, 0)
    buckets = max((n - 1 >> shift) + 1, 1)
    cuts = [src.size * t // workers for t in range(workers + 1)]
    counts = np.zeros((workers, buckets), np.int64)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda t: _count(src, dst, cuts[t], cuts[t + 1], shift, mirror, counts[t]), range(workers)))
        ends = np.zeros(buckets + 1, np.int64)
        np.cumsum(counts.sum(0), out=ends[1:])
        cursors = ends[:-1] + np.cumsum(counts, 0) - counts
        local = np.empty(ends[-1], np.int32)
        neighbors = np.empty(ends[-1], ids)
        values = np.empty(ends[-1] if weighted else 0, raw.dtype)
        arrays = (src, dst, raw, local, neighbors, values)
        list(
            pool.map(
                lambda t: _scatter(*arrays, cuts[t], cuts[t + 1], shift, mirror, weighted, cursors[t]), range(workers)
            )
        )
        offsets = np.zeros(n + 1, np.int64)
        list(
            pool.map(
                lambda group: _finish(local, neighbors, values, ends, offsets, group[0], group[1], shift, n, weighted),
                _groups(ends, workers),
            )
        )
    return offsets, neighbors, None if weights is None else values.view(weights.dtype)


def renumber(
    offsets: npt.NDArray[np.int64], neighbors: Array, weights: Array | None, new: Array
) -> tuple[npt.NDArray[np.int64], Array, Array | None]:
    """The rows of the same edges with vertex v called `new[v]`: each row is written once, and sorted where it is."""
    n, weighted = new.size, weights is not None
    old = np.empty(n, neighbors.dtype)
    old[new] = np.arange(n, dtype=neighbors.dtype)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.diff(offsets)[old], out=starts[1:])
    result = np.empty(neighbors.size, neighbors.dtype)
    raw = np.empty(0, np.uint8) if weights is None else _writable(_as_bits(weights))
    values = np.empty(raw.size, raw.dtype)
    arrays = (_writable(offsets), _writable(neighbors), raw, _writable(new), old, starts, result, values)
    workers = threads()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda group: _renumber(*arrays, group[0], group[1], weighted), _groups(starts, workers)))
    return starts, result, None if weights is None else values.view(weights.dtype)


def _groups(ends: npt.NDArray[np.int64], workers: int) -> Iterator[tuple[int, int]]:
    """Ranges of buckets with about equal numbers of edges, several for each worker."""
    wanted = np.linspace(0, ends[-1], 8 * workers + 1)
    cuts = sorted({0, *np.searchsorted(ends, wanted[1:-1]).tolist(), ends.size - 1})
    return pairwise(cuts)


def _as_bits(weights: Array) -> Array:
    """The same weights as unsigned integers of their size: they are moved, never computed with."""
    return np.ascontiguousarray(weights).view(f"u{weights.dtype.itemsize}")


def _writable(array: Array) -> Array:
    """The same memory without the read-only mark, for which everything would be compiled once more; it is only read."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        return array
    pointer = ctypes.cast(array.ctypes.data, ctypes.POINTER(np.ctypeslib.as_ctypes_type(array.dtype)))
    view: Array = np.ctypeslib.as_array(pointer, array.shape)
    return view


@_compiled
def _count(src: Array, dst: Array, begin: int, end: int, shift: int, mirror: bool, counts: Array) -> None:
    for i in range(begin, end):
        counts[src[i] >> shift] += 1
        if mirror and src[i] != dst[i]:
            counts[dst[i] >> shift] += 1


@_compiled
def _scatter(
    src: Array,
    dst: Array,
    weights: Array,
    local: Array,
    neighbors: Array,
    values: Array,
    begin: int,
    end: int,
    shift: int,
    mirror: bool,
    weighted: bool,
    cursors: Array,
) -> None:
    mask = (1 << shift) - 1
    for i in range(begin, end):
        s, d = src[i], dst[i]
        at = cursors[s >> shift]
        cursors[s >> shift] = at + 1
        local[at] = s & mask
        neighbors[at] = d
        if weighted:
            values[at] = weights[i]
        if mirror and s != d:
            at = cursors[d >> shift]
            cursors[d >> shift] = at + 1
            local[at] = d & mask
            neighbors[at] = s
            if weighted:
                values[at] = weights[i]


@_compiled
def _finish(
    local: Array,
    neighbors: Array,
    values: Array,
    ends: Array,
    offsets: Array,
    first: int,
    last: int,
    shift: int,
    n: int,
    weighted: bool,
) -> None:
    """Rows of the buckets `first` to `last - 1`, and the offset at the end of each row."""
    longest = 0
    for b in range(first, last):
        longest = max(longest, ends[b + 1] - ends[b])
    ids = np.empty(longest, neighbors.dtype)
    held = np.empty(longest if weighted else 0, values.dtype)
    cursor = np.empty(min(1 << shift, n), np.int64)
    digits = np.empty(256, np.int64)
    for b in range(first, last):
        begin, end = ends[b], ends[b + 1]
        low = b << shift
        width = min(1 << shift, n - low)
        cursor[:width] = 0
        for e in range(begin, end):
            cursor[local[e]] += 1
        at = begin
        for v in range(width):
            count = cursor[v]
            cursor[v] = at
            at += count
            offsets[low + v + 1] = at
        ids[: end - begin] = neighbors[begin:end]
        if weighted:
            held[: end - begin] = values[begin:end]
        for e in range(begin, end):
            v = local[e]
            at = cursor[v]
            cursor[v] = at + 1
            neighbors[at] = ids[e - begin]
            if weighted:
                values[at] = held[e - begin]
        at = begin
        for v in range(width):
            _sort_row(neighbors, values, at, cursor[v], ids, held, digits, weighted)
            at = cursor[v]


@_compiled
def _renumber(
    offsets: Array,
    neighbors: Array,
    weights: Array,
    new: Array,
    old: Array,
    starts: Array,
    result: Array,
    values: Array,
    first: int,
    last: int,
    weighted: bool,
) -> None:
    """The rows of the new ids `first` to `last - 1`."""
    longest = 0
    for v in range(first, last):
        longest = max(longest, starts[v + 1] - starts[v])
    ids = np.empty(longest, result.dtype)
    held = np.empty(longest if weighted else 0, values.dtype)
    digits = np.empty(256, np.int64)
    for v in range(first, last):
        begin, end = starts[v], starts[v + 1]
        shift = offsets[old[v]] - begin
        for e in range(begin, end):
            result[e] = new[neighbors[e + shift]]
            if weighted:
                values[e] = weights[e + shift]
        _sort_row(result, values, begin, end, ids, held, digits, weighted)


@_compiled
def _sort_row(
    neighbors: Array, values: Array, begin: int, end: int, ids: Array, held: Array, digits: Array, weighted: bool
) -> None:
    """Stable: insertion for short rows, else by digits of 8 bits through the scratch arrays."""
    low = high = neighbors[begin] if begin < end else 0
    ascending = True
    for e in range(begin + 1, end):
        if neighbors[e] < neighbors[e - 1]:
            ascending = False
        low = min(low, neighbors[e])
        high = max(high, neighbors[e])
    if ascending:
        return
    if end - begin <= _INSERTION_UP_TO:
        for e in range(begin + 1, end):
            id_ = neighbors[e]
            value = values[e] if weighted else values.dtype.type(0)
            at = e
            while at > begin and neighbors[at - 1] > id_:
                neighbors[at] = neighbors[at - 1]
                if weighted:
                    values[at] = values[at - 1]
                at -= 1
            neighbors[at] = id_
            if weighted:
                values[at] = value
        return
    count = end - begin
    moved = False
    place = 0
    while (high - low) >> place:
        digits[:] = 0
        for i in range(count):
            id_ = ids[i] if moved else neighbors[begin + i]
            digits[(id_ - low) >> place & 255] += 1
        at = 0
        for digit in range(256):
            size = digits[digit]
            digits[digit] = at
            at += size
        for i in range(count):
            id_ = ids[i] if moved else neighbors[begin + i]
            digit = (id_ - low) >> place & 255
            at = digits[digit]
            digits[digit] = at + 1
            if moved:
                neighbors[begin + at] = id_
                if weighted:
                    values[begin + at] = held[i]
            else:
                ids[at] = id_
                if weighted:
                    held[at] = values[begin + i]
        moved = not moved
        place += 8
    if moved:
        neighbors[begin:end] = ids[:count]
        if weighted:
            values[begin:end] = held[:count]
