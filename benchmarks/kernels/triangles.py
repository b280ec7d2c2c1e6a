"""Triangle counting on rows relabelled by falling degree: a vertex marks its smaller neighbours in a bitmap of its thread.

Vertices of few smaller neighbours are merged instead. The relabelled rows are made when the kernel is, as the program's are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernels.spmd import DEALT, OPTIONS, barrier, rows, run
from pantograf import Graph
from pantograf.machines.cpu.intrinsics import atomic_add, load, prefetch, store

CHUNK = 64
MERGED = 12  # smaller neighbours up to which lists are merged
ZERO, ONE = np.uint64(0), np.uint64(1)


@njit(**OPTIONS)
def merge(neighbors, a, a_end, b, b_end):
    """How many numbers two sorted lists share."""
    found = 0
    while a < a_end and b < b_end:
        x, y = load(neighbors, a), load(neighbors, b)
        found += x == y
        a += x <= y
        b += y <= x
    return found


@njit(**OPTIONS)
def marked(bits, neighbors, low, high):
    """How many of a list are marked."""
    found = np.int64(0)
    for e in range(low, high):
        v = load(neighbors, e)
        found += np.int64((load(bits, v >> 6) >> np.uint64(v & 63)) & ONE)
    return found


@njit(**OPTIONS)
def worker(tid, threads, sync, offsets, neighbors, ends, maps, partial):
    """The count of this thread's chunks, in `partial`."""
    n = ends.size
    words = maps.size // threads
    bits = maps[tid * words : (tid + 1) * words]
    for word in range(words):
        store(bits, word, ZERO)
    for v in range(n * tid // threads, n * (tid + 1) // threads):
        low, high = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        while low < high:
            middle = (low + high) >> 1
            if load(neighbors, middle) < v:
                low = middle + 1
            else:
                high = middle
        store(ends, v, np.int32(low))
    barrier(sync, threads)
    found = np.int64(0)
    while True:
        first = atomic_add(sync, DEALT, CHUNK)
        if first >= n:
            break
        for u in range(first, min(first + CHUNK, n)):
            low, high = np.int64(load(offsets, u)), np.int64(load(ends, u))
            if high - low < 2:
                continue
            if high - low <= MERGED:
                for e in range(low + 1, high):
                    v = load(neighbors, e)
                    found += merge(neighbors, low, e, np.int64(load(offsets, v)), np.int64(load(ends, v)))
                continue
            for e in range(low, high):
                v = load(neighbors, e)
                store(bits, v >> 6, load(bits, v >> 6) | (ONE << np.uint64(v & 63)))
            for e in range(low, high):
                if e + 4 < high:
                    prefetch(offsets, load(neighbors, e + 4))
                    prefetch(ends, load(neighbors, e + 4))
                if e + 2 < high:
                    prefetch(neighbors, load(offsets, load(neighbors, e + 2)))
                v = load(neighbors, e)
                found += marked(bits, neighbors, np.int64(load(offsets, v)), np.int64(load(ends, v)))
            for e in range(low, high):
                store(bits, load(neighbors, e) >> 6, ZERO)
    store(partial, 16 * tid, found)


class Kernel:
    """How many triangles there are."""

    def __init__(self, graph: Graph, threads: int) -> None:
        self.threads = threads
        self.offsets, self.neighbors = rows(graph.relabeled_by_degree())
        self.ends = np.empty(graph.n, np.int32)
        self.maps = np.empty(threads * ((graph.n + 63) // 64), np.uint64)
        self.partial = np.zeros(16 * threads, np.int64)

    def __call__(self) -> int:
        """The count."""
        run(worker, self.threads, self.offsets, self.neighbors, self.ends, self.maps, self.partial)
        return int(self.partial[::16].sum())
