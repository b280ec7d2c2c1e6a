"""Shortest paths by delta-stepping: threads have circular bins of linked blocks, and go on with their own while it is small.

An entry holds a vertex and its distance when it was put in, so one that is out of date is known and skipped. Where `widest` is
a number and not None, a path is as long as its longest edge, and what is returned is that number less the length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kernels.spmd import FREE, OPTIONS, barrier, begin, fill, padded, rows, run
from pantograf import Graph
from pantograf.machines.cpu.intrinsics import (
    atomic_add,
    compare_exchange,
    load,
    load_acquire,
    prefetch,
    store,
    store_release,
)

BLOCK = 256  # entries
FUSED = 3  # blocks of its own bin that a thread goes on with by itself
CHUNK = 64
FAR = np.int32(2**31 - 1)
TAIL, VOTE = FREE, FREE + 64  # four of each, used in turn
LOW = np.uint64(0xFFFFFFFF)
FREE_LIST, TOP, FULL = 0, 1, 2  # a thread's own words


@njit(**OPTIONS)
def put(own, blocks, links, heads, fills, tid, slot, entry):
    """Put an entry into a bin of this thread."""
    capacity = links.size // (own.size // 16)
    count = np.int64(load(fills, slot))
    if count == BLOCK:
        block = load(own, 16 * tid + FREE_LIST)
        if block >= 0:
            store(own, 16 * tid + FREE_LIST, load(links, tid * capacity + block))
        else:
            block = load(own, 16 * tid + TOP)
            if block + 1 >= capacity:
                store(own, 16 * tid + FULL, 1)
                block = np.int64(0)
            else:
                store(own, 16 * tid + TOP, block + 1)
        store(links, tid * capacity + block, load(heads, slot))
        store(heads, slot, np.int32(block))
        count = np.int64(0)
    store(blocks, (tid * capacity + load(heads, slot)) * BLOCK + count, entry)
    store(fills, slot, np.int32(count + 1))


@njit(**OPTIONS)
def along(far, weight, widest):
    """How long a path is with one more edge; which of both is known when this is compiled."""
    if widest is None:
        return np.int32(far + np.int32(weight))
    return max(far, np.int32(weight))


@njit(**OPTIONS)
def relax(
    tid, offsets, neighbors, weights, distance, own, blocks, links, heads, fills, first_bin, mask, shift, widest, entry
):
    """Look at the edges of a vertex, unless its entry is out of date."""
    u, far = np.int64(entry & LOW), np.int32(entry >> np.uint64(32))
    if load(distance, u) != far:
        return
    for e in range(np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))):
        v = load(neighbors, e)
        new = along(far, load(weights, e), widest)
        old = load_acquire(distance, v)
        while new < old:
            if compare_exchange(distance, v, old, new):
                slot = first_bin + ((np.int64(new) >> shift) & mask)
                put(own, blocks, links, heads, fills, tid, slot, (np.uint64(new) << np.uint64(32)) | np.uint64(v))
                break
            old = load_acquire(distance, v)


@njit(**OPTIONS)
def is_long(links, base, block):
    """Whether a bin has more than `FUSED` blocks."""
    count = 0
    while block >= 0 and count <= FUSED:
        block = np.int64(load(links, base + block))
        count += 1
    return count > FUSED


@njit(**OPTIONS)
def worker(
    tid, threads, sync, offsets, neighbors, weights, distance, frontier, own, blocks, links, heads, fills, bins,
    source, shift, widest,
):  # fmt: skip
    """All buckets."""
    mask, first_bin, base = bins - 1, tid * bins, tid * (links.size // threads)
    half = frontier.size // 2
    fill(tid, threads, distance, FAR)
    for k in range(bins):
        store(heads, first_bin + k, np.int32(-1))
        store(fills, first_bin + k, np.int32(BLOCK))
    store(own, 16 * tid + FREE_LIST, -1)
    store(own, 16 * tid + TOP, 0)
    store(own, 16 * tid + FULL, 0)
    barrier(sync, threads)
    if tid == 0:
        store(distance, source, np.int32(0))
        store(frontier, 0, np.uint64(source))
        for k in range(4):
            store(sync, VOTE + 16 * k, np.int64(FAR))
    current, step, size = np.int64(0), np.int64(0), np.int64(1)
    barrier(sync, threads)
    while True:
        counter, turn = begin(sync, tid, step), 16 * (step & 3)
        if tid == 0:
            store_release(sync, VOTE + 16 * ((step + 2) & 3), np.int64(FAR))
            store_release(sync, TAIL + 16 * ((step + 2) & 3), 0)
        at = half * (step & 1)
        while True:
            first = atomic_add(sync, counter, CHUNK)
            if first >= size:
                break
            last = min(first + CHUNK, size)
            for i in range(at + first, at + last):
                if i + 4 < at + last:
                    prefetch(offsets, load(frontier, i + 4) & LOW)
                if i + 2 < at + last:
                    ahead = load(offsets, load(frontier, i + 2) & LOW)
                    prefetch(neighbors, ahead)
                    prefetch(weights, ahead)
                entry = load(frontier, i)
                relax(
                    tid,
                    offsets,
                    neighbors,
                    weights,
                    distance,
                    own,
                    blocks,
                    links,
                    heads,
                    fills,
                    first_bin,
                    mask,
                    shift,
                    widest,
                    entry,
                )
        slot = first_bin + (current & mask)
        block = np.int64(load(heads, slot))
        while block >= 0 and not is_long(links, base, block):
            count = np.int64(load(fills, slot))
            store(heads, slot, load(links, base + block))
            store(fills, slot, np.int32(BLOCK))
            for i in range((base + block) * BLOCK, (base + block) * BLOCK + count):
                entry = load(blocks, i)
                relax(
                    tid,
                    offsets,
                    neighbors,
                    weights,
                    distance,
                    own,
                    blocks,
                    links,
                    heads,
                    fills,
                    first_bin,
                    mask,
                    shift,
                    widest,
                    entry,
                )
            store(links, base + block, np.int32(load(own, 16 * tid + FREE_LIST)))
            store(own, 16 * tid + FREE_LIST, block)
            block = np.int64(load(heads, slot))
        for k in range(current, current + bins):
            if load(heads, first_bin + (k & mask)) >= 0:
                vote = load_acquire(sync, VOTE + turn)
                while k < vote and not compare_exchange(sync, VOTE + turn, vote, k):
                    vote = load_acquire(sync, VOTE + turn)
                break
        barrier(sync, threads)
        current = load_acquire(sync, VOTE + turn)
        if current == np.int64(FAR):
            break
        slot, at = first_bin + (current & mask), half * ((step + 1) & 1)
        block, count = np.int64(load(heads, slot)), np.int64(load(fills, slot))
        while block >= 0:
            to = at + atomic_add(sync, TAIL + turn, count)
            for k in range(count):
                store(frontier, to + k, load(blocks, (base + block) * BLOCK + k))
            following = np.int64(load(links, base + block))
            store(links, base + block, np.int32(load(own, 16 * tid + FREE_LIST)))
            store(own, 16 * tid + FREE_LIST, block)
            block, count = following, np.int64(BLOCK)
        store(heads, slot, np.int32(-1))
        store(fills, slot, np.int32(BLOCK))
        barrier(sync, threads)
        size = load_acquire(sync, TAIL + turn)
        step += 1
    if widest is not None:
        n = distance.size
        for v in range(n * tid // threads, n * (tid + 1) // threads):
            store(distance, v, max(np.int32(widest - load(distance, v)), np.int32(0)) if v != source else FAR)


class Kernel:
    """`distance` of each vertex."""

    def __init__(self, graph: Graph, threads: int) -> None:
        assert graph.weights is not None
        self.threads, self.n, self.heaviest = threads, graph.n, int(graph.weights.max(initial=1))
        if graph.weights.min(initial=0) < 0 or self.heaviest > 255:
            raise SystemExit(f"the kernel takes weights from 0 to 255, and those of {graph} are not")
        self.offsets, self.neighbors = rows(graph)
        self.weights = padded(graph.weights.astype(np.uint8))
        self.frontier = np.empty(2 * (graph.m + 1024), np.uint64)
        self.capacity = max(graph.m // BLOCK, 4096) + 1024
        self.blocks = np.empty(threads * self.capacity * BLOCK, np.uint64)
        self.links = np.empty(threads * self.capacity, np.int32)
        self.own = np.zeros(threads * 16, np.int64)

    def __call__(self, source: int, delta: int) -> Any:
        """The distances of all vertices; `delta` is a power of two."""
        return self.search(source, int(delta).bit_length() - 1, 1 << (self.heaviest // delta + 2).bit_length())

    def search(self, source: int, shift: int, bins: int, widest: Any = None) -> Any:
        """The distances, or the widths."""
        heads, fills = np.empty(self.threads * bins, np.int32), np.empty(self.threads * bins, np.int32)
        distance = np.empty(self.n, np.int32)
        held = (self.frontier, self.own, self.blocks, self.links, heads, fills, bins, source, shift, widest)
        run(worker, self.threads, self.offsets, self.neighbors, self.weights, distance, *held)
        if self.own.reshape(self.threads, 16)[:, FULL].any():
            raise MemoryError("the bins were full")
        return distance
