"""Dependencies of one source by Brandes: levels forward, which count paths, and backward, which sum dependencies.

Forward, large frontiers are pulled by the vertices that have no depth (no atomics), small ones pushed. Backward always pulls: a
vertex sums over its neighbours one level below. The queue of all levels, one after the other, is the only list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kernels.bfs import degree
from kernels.spmd import FREE, OPTIONS, barrier, begin, fill, rows, run, total
from pantograf import Graph
from pantograf.machines.cpu.intrinsics import (
    atomic_add,
    atomic_add_float,
    compare_exchange,
    load,
    load_acquire,
    prefetch,
    store,
    store_release,
)

PULLED = 10  # a frontier is pulled if it has more than 1/PULLED of the edges that are left
BUFFER = 4096
TAIL = FREE


@njit(**OPTIONS)
def flush(sync, queue, buffer, base, gathered):
    """Take space in the queue for what a thread gathered."""
    if gathered > 0:
        at = atomic_add(sync, TAIL, gathered)
        for k in range(gathered):
            store(queue, at + k, load(buffer, base + k))


@njit(**OPTIONS)
def push(tid, sync, counter, offsets, neighbors, depth, paths, queue, buffer, low, high, level):
    """Count the paths over the edges of a level; the edges of the vertices that this thread found."""
    edges, base, gathered = np.int64(0), tid * BUFFER, np.int64(0)
    while True:
        first = low + atomic_add(sync, counter, 64)
        if first >= high:
            break
        for i in range(first, min(first + 64, high)):
            if i + 4 < high:
                prefetch(neighbors, load(offsets, load(queue, i + 4)))
            u = load(queue, i)
            mine = load(paths, u)
            for e in range(np.int64(load(offsets, u)), np.int64(load(offsets, np.int64(u) + 1))):
                v = load(neighbors, e)
                found = load(depth, v)
                if found < 0 and compare_exchange(depth, v, np.int32(-1), np.int32(level)):
                    edges += degree(offsets, v)
                    if gathered == BUFFER:
                        flush(sync, queue, buffer, base, gathered)
                        gathered = np.int64(0)
                    store(buffer, base + gathered, v)
                    gathered += 1
                    found = np.int32(level)
                if found < 0 or found == level:
                    atomic_add_float(paths, v, mine)
    flush(sync, queue, buffer, base, gathered)
    return edges


@njit(**OPTIONS)
def pull(tid, sync, counter, offsets, neighbors, depth, paths, queue, buffer, level):
    """The same by the vertices without a depth: each sums over its neighbours of the level before."""
    edges, base, gathered = np.int64(0), tid * BUFFER, np.int64(0)
    n = depth.size
    while True:
        first = atomic_add(sync, counter, 1024)
        if first >= n:
            break
        for v in range(first, min(first + 1024, n)):
            if load(depth, v) >= 0:
                continue
            low, high = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
            found = 0.0
            for e in range(low, high):
                u = load(neighbors, e)
                if load(depth, u) == level - 1:
                    found += load(paths, u)
            if found > 0:
                # others that read this depth see -1 or `level`, which is neither the level before
                store(depth, v, np.int32(level))
                store(paths, v, found)
                edges += high - low
                if gathered == BUFFER:
                    flush(sync, queue, buffer, base, gathered)
                    gathered = np.int64(0)
                store(buffer, base + gathered, np.int32(v))
                gathered += 1
    flush(sync, queue, buffer, base, gathered)
    return edges


@njit(**OPTIONS)
def gather(sync, counter, offsets, neighbors, depth, paths, share, centrality, queue, low, high, level):
    """The dependencies of the vertices of a level, from the shares of those below."""
    while True:
        first = low + atomic_add(sync, counter, 64)
        if first >= high:
            break
        for i in range(first, min(first + 64, high)):
            if i + 4 < high:
                prefetch(neighbors, load(offsets, load(queue, i + 4)))
            u = load(queue, i)
            found = 0.0
            for e in range(np.int64(load(offsets, u)), np.int64(load(offsets, np.int64(u) + 1))):
                v = load(neighbors, e)
                if load(depth, v) == level + 1:
                    found += load(share, v)
            mine = load(paths, u)
            store(share, u, 1.0 / mine + found)
            store(centrality, u, mine * found if level > 0 else 0.0)


@njit(**OPTIONS)
def worker(
    tid, threads, sync, offsets, neighbors, depth, paths, share, centrality, queue, ends, buffer, partial, source
):
    """Both ways."""
    n = depth.size
    fill(tid, threads, depth, np.int32(-1))
    fill(tid, threads, paths, 0.0)
    fill(tid, threads, centrality, 0.0)
    barrier(sync, threads)
    if tid == 0:
        store(depth, source, np.int32(0))
        store(paths, source, 1.0)
        store(queue, 0, np.int32(source))
        store(ends, 0, 0)
        store_release(sync, TAIL, 1)
    barrier(sync, threads)
    low, high, step = np.int64(0), np.int64(1), np.int64(0)
    edges, left = degree(offsets, source), np.int64(load(offsets, n))
    level = np.int64(0)
    while low < high:
        level += 1
        counter = begin(sync, tid, step)
        if edges > left // PULLED:
            mine = pull(tid, sync, counter, offsets, neighbors, depth, paths, queue, buffer, level)
        else:
            mine = push(tid, sync, counter, offsets, neighbors, depth, paths, queue, buffer, low, high, level)
        left -= edges
        store(partial, 16 * tid, mine)
        if tid == 0:
            store(ends, level, high)
        barrier(sync, threads)
        edges = total(partial, threads, 0)
        low, high = high, load_acquire(sync, TAIL)
        step += 1
        barrier(sync, threads)
    for back in range(level - 1, -1, -1):
        counter = begin(sync, tid, step)
        low, high = load(ends, back), load(ends, back + 1)
        gather(sync, counter, offsets, neighbors, depth, paths, share, centrality, queue, low, high, back)
        step += 1
        barrier(sync, threads)


class Kernel:
    """`centrality` of each vertex."""

    def __init__(self, graph: Graph, threads: int) -> None:
        self.threads, self.n = threads, graph.n
        self.offsets, self.neighbors = rows(graph)
        self.depth = np.empty(graph.n, np.int32)
        self.paths, self.share = np.empty(graph.n), np.empty(graph.n)
        self.queue, self.ends = np.empty(graph.n + 64, np.int32), np.empty(graph.n + 2, np.int64)
        self.buffer = np.empty(BUFFER * threads, np.int32)
        self.partial = np.zeros(16 * threads, np.int64)

    def __call__(self, source: int) -> Any:
        """The dependencies of a source."""
        centrality = np.empty(self.n)
        held = (self.queue, self.ends, self.buffer, self.partial)
        run(
            worker, self.threads, self.offsets, self.neighbors, self.depth, self.paths, self.share, centrality, *held, source
        )  # fmt: skip
        return centrality
