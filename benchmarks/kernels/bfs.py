"""Breadth-first search with parents: top-down from a queue, bottom-up by bitmaps without atomics while the frontier is large.

A race between two parents of a vertex is left as it is: a vertex may stand in the queue twice. Levels of few vertices are run
by one thread without barriers. Where `label` is an array and not None, a vertex takes its parent's label instead of its id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kernels.spmd import FREE, OPTIONS, barrier, begin, fill, rows, run, total
from pantograf import Graph
from pantograf.machines.cpu.intrinsics import (
    atomic_add,
    atomic_or,
    load,
    load_acquire,
    one_bits,
    prefetch,
    store,
    store_release,
    trailing_zeros,
)

ALPHA, BETA = 15, 18  # bottom-up from 1/ALPHA of the edges that are left, until 1/BETA of the vertices
SERIAL = 512  # a smaller frontier is one thread's
BUFFER = 4096
TAIL = FREE
ZERO, ONE = np.uint64(0), np.uint64(1)


@njit(**OPTIONS)
def degree(offsets, v):
    """How many edges a vertex has."""
    return np.int64(load(offsets, np.int64(v) + 1)) - np.int64(load(offsets, v))


@njit(**OPTIONS)
def given(label, u):
    """What a vertex gives to those it finds; which of both is known when this is compiled."""
    if label is None:
        return u
    return load(label, u)


@njit(**OPTIONS)
def set_bit(bits, v):
    """Put a vertex into a bitmap."""
    atomic_or(bits, np.int64(v) >> 6, ONE << np.uint64(v & 63))


@njit(**OPTIONS)
def ask_ahead(offsets, neighbors, queue, i, end):
    """Ask for the row of the eighth vertex ahead, and for the edges of the fourth."""
    if i + 8 < end:
        prefetch(offsets, load(queue, i + 8))
    if i + 4 < end:
        prefetch(neighbors, load(offsets, load(queue, i + 4)))


@njit(**OPTIONS)
def serial_levels(offsets, neighbors, parent, label, queue, begin_at, end, left, edges, limit):
    """Levels while they are small: where the queue begins and ends, the edges that are left, the edges of the frontier."""
    while begin_at < end and end - begin_at < SERIAL and edges <= limit:
        left -= edges
        edges = np.int64(0)
        tail = end
        for i in range(begin_at, end):
            ask_ahead(offsets, neighbors, queue, i, end)
            u = load(queue, i)
            mine = given(label, u)
            for e in range(np.int64(load(offsets, u)), np.int64(load(offsets, np.int64(u) + 1))):
                v = load(neighbors, e)
                if load(parent, v) < 0:
                    store(parent, v, mine)
                    store(queue, tail, v)
                    tail += 1
                    edges += degree(offsets, v)
        begin_at, end = end, tail
    return begin_at, end, left, edges


@njit(**OPTIONS)
def top_down(tid, sync, counter, offsets, neighbors, parent, label, queue, buffer, begin_at, end):
    """One level of the queue; the edges of the vertices that this thread found."""
    edges = np.int64(0)
    base, gathered = tid * BUFFER, np.int64(0)
    size = end - begin_at
    while True:
        first = atomic_add(sync, counter, 64)
        if first >= size:
            break
        for i in range(begin_at + first, begin_at + min(first + 64, size)):
            ask_ahead(offsets, neighbors, queue, i, end)
            u = load(queue, i)
            mine = given(label, u)
            for e in range(np.int64(load(offsets, u)), np.int64(load(offsets, np.int64(u) + 1))):
                v = load(neighbors, e)
                if load(parent, v) < 0:
                    store(parent, v, mine)
                    edges += degree(offsets, v)
                    if gathered == BUFFER:
                        flush(sync, queue, buffer, base, gathered)
                        gathered = np.int64(0)
                    store(buffer, base + gathered, v)
                    gathered += 1
    flush(sync, queue, buffer, base, gathered)
    return edges


@njit(**OPTIONS)
def flush(sync, queue, buffer, base, gathered):
    """Take space in the queue for what a thread gathered."""
    if gathered > 0:
        at = atomic_add(sync, TAIL, gathered)
        for k in range(gathered):
            store(queue, at + k, load(buffer, base + k))


@njit(**OPTIONS)
def bottom_up(sync, counter, offsets, neighbors, parent, label, visited, frontier, following):
    """One level by the vertices that are not visited; how many this thread found."""
    words, found = visited.size, np.int64(0)
    while True:
        first = atomic_add(sync, counter, 16)
        if first >= words:
            break
        for word in range(first, min(first + 16, words)):
            if word + 1 < words:
                ahead = ~load(visited, word + 1)
                while ahead != ZERO:
                    prefetch(neighbors, load(offsets, 64 * (word + 1) + np.int64(trailing_zeros(ahead))))
                    ahead &= ahead - ONE
            open_, bits = ~load(visited, word), ZERO
            while open_ != ZERO:
                k = trailing_zeros(open_)
                open_ &= open_ - ONE
                u = 64 * word + np.int64(k)
                for e in range(np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))):
                    v = load(neighbors, e)
                    if (load(frontier, v >> 6) >> np.uint64(v & 63)) & ONE != ZERO:
                        store(parent, u, given(label, v))
                        bits |= ONE << k
                        found += 1
                        break
            store(following, word, bits)
            if bits != ZERO:
                store(visited, word, load(visited, word) | bits)
    return found


@njit(**OPTIONS)
def to_queue(tid, threads, sync, partial, frontier, queue):
    """Put the vertices of a bitmap at the queue's begin, in order; how many they are."""
    words = frontier.size
    low, high = words * tid // threads, words * (tid + 1) // threads
    count = np.int64(0)
    for word in range(low, high):
        count += np.int64(one_bits(load(frontier, word)))
    store(partial, 16 * tid + 1, count)
    barrier(sync, threads)
    at = np.int64(0)
    for thread in range(tid):
        at += load(partial, 16 * thread + 1)
    for word in range(low, high):
        bits = load(frontier, word)
        while bits != ZERO:
            store(queue, at, np.int32(64 * word + np.int64(trailing_zeros(bits))))
            bits &= bits - ONE
            at += 1
    size = total(partial, threads, 1)
    if tid == 0:
        store_release(sync, TAIL, size)
    barrier(sync, threads)
    return size


@njit(**OPTIONS)
def worker(
    tid, threads, sync, offsets, neighbors, lonely, parent, label, queue, visited, frontier, following, buffer, partial, sources
):  # fmt: skip
    """The search."""
    n, m = parent.size, np.int64(load(offsets, parent.size))
    words = visited.size
    fill(tid, threads, parent, np.int32(-1))
    barrier(sync, threads)
    if tid == 0:
        for i in range(sources.size):
            store(parent, load(sources, i), load(sources, i))
            store(queue, i, load(sources, i))
        store_release(sync, TAIL, sources.size)
    barrier(sync, threads)
    first, end, step, left, edges, fresh = np.int64(0), np.int64(sources.size), np.int64(0), m, np.int64(0), True
    for i in range(sources.size):
        edges += degree(offsets, load(sources, i))
    while first < end:
        if edges > left // ALPHA:
            for word in range(words * tid // threads, words * (tid + 1) // threads):
                if fresh:
                    store(visited, word, load(lonely, word))
                store(frontier, word, ZERO)
            barrier(sync, threads)
            for i in range(end * tid // threads, end * (tid + 1) // threads):
                set_bit(visited, load(queue, i))
            for i in range(first + (end - first) * tid // threads, first + (end - first) * (tid + 1) // threads):
                set_bit(frontier, load(queue, i))
            fresh = False
            found = end - first
            while True:
                before = found
                counter = begin(sync, tid, step)
                barrier(sync, threads)
                mine = bottom_up(sync, counter, offsets, neighbors, parent, label, visited, frontier, following)
                store(partial, 16 * tid + 4 * (step & 1), mine)
                barrier(sync, threads)
                found = total(partial, threads, 4 * (step & 1))
                frontier, following = following, frontier
                step += 1
                if found < before and found <= n // BETA:
                    break
            first, end, edges = np.int64(0), to_queue(tid, threads, sync, partial, frontier, queue), np.int64(1)
        elif end - first < SERIAL:
            if tid == 0:
                at = serial_levels(offsets, neighbors, parent, label, queue, first, end, left, edges, left // ALPHA)
                for k in range(4):
                    store(partial, 16 * threads + k, at[k])
                store_release(sync, TAIL, at[1])
            barrier(sync, threads)
            first, end = load_acquire(partial, 16 * threads), load_acquire(partial, 16 * threads + 1)
            left, edges = load_acquire(partial, 16 * threads + 2), load_acquire(partial, 16 * threads + 3)
            barrier(sync, threads)
        else:
            left -= edges
            counter = begin(sync, tid, step)
            mine = top_down(tid, sync, counter, offsets, neighbors, parent, label, queue, buffer, first, end)
            store(partial, 16 * tid + 8, mine)
            barrier(sync, threads)
            edges = total(partial, threads, 8)
            first, end = end, load_acquire(sync, TAIL)
            step += 1
            barrier(sync, threads)


class Kernel:
    """`parent` of each vertex."""

    def __init__(self, graph: Graph, threads: int) -> None:
        self.threads, self.n = threads, graph.n
        self.offsets, self.neighbors = rows(graph)
        words = (graph.n + 63) // 64
        lonely = np.ones(64 * words, np.uint8)
        lonely[: graph.n] = graph.out_degrees == 0
        self.lonely = np.packbits(lonely, bitorder="little").view(np.uint64)
        self.queue = np.empty(threads * graph.n + 64, np.int32)
        self.maps = [np.empty(words, np.uint64) for _ in range(3)]
        self.buffer = np.empty(BUFFER * threads, np.int32)
        self.partial = np.zeros(16 * (threads + 1), np.int64)

    def __call__(self, source: int) -> Any:
        """The parents of a search."""
        parent = np.empty(self.n, np.int32)
        self.search(parent, None, [source])
        return parent

    def search(self, parent: Any, label: Any, sources: Any) -> None:
        """Fill `parent` from sources, each given once."""
        scratch = (self.queue, *self.maps, self.buffer, self.partial, np.array(sources, np.int32))
        run(worker, self.threads, self.offsets, self.neighbors, self.lonely, parent, label, *scratch)
