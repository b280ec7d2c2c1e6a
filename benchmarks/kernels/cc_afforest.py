"""Components by Afforest: hook to the smallest neighbour, link the second one, guess the largest component, link what is outside.

The first hook needs no atomics, as rows are sorted; links are by compare-and-swap, the greater root below the smaller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kernels.spmd import FREE, OPTIONS, barrier, rows, run
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

CHUNK, AHEAD, SAMPLES = 4096, 16, 1024
GIANT = FREE
COUNTERS = FREE + 16  # one for each of six passes


@njit(**OPTIONS)
def link(u, v, component):
    """Put two vertices into one component."""
    one, two = load(component, u), load(component, v)
    while one != two:
        high, low = max(one, two), min(one, two)
        above = load(component, high)
        if above == low or (above == high and compare_exchange(component, high, high, low)):
            break
        one, two = load(component, load(component, high)), load(component, low)


@njit(**OPTIONS)
def compress(sync, counter, component):
    """Point every vertex of this thread's chunks to its root."""
    n = component.size
    while True:
        first = atomic_add(sync, counter, CHUNK)
        if first >= n:
            break
        for v in range(first, min(first + CHUNK, n)):
            one = load(component, v)
            root = load(component, one)
            if root != one:
                while root != one:
                    one, root = root, load(component, root)
                store(component, v, root)


@njit(**OPTIONS)
def hook(sync, counter, offsets, neighbors, component):
    """Every vertex below its smallest neighbour."""
    n = component.size
    while True:
        first = atomic_add(sync, counter, CHUNK)
        if first >= n:
            break
        for v in range(first, min(first + CHUNK, n)):
            if v + AHEAD < n:
                prefetch(neighbors, load(offsets, v + AHEAD))
            e = np.int64(load(offsets, v))
            least = np.int32(v)
            if e < np.int64(load(offsets, v + 1)):
                least = min(least, load(neighbors, e))
            store(component, v, least)


@njit(**OPTIONS)
def link_second(sync, counter, offsets, neighbors, component):
    """Link every vertex to its second neighbour."""
    n = component.size
    while True:
        first = atomic_add(sync, counter, CHUNK)
        if first >= n:
            break
        for v in range(first, min(first + CHUNK, n)):
            if v + AHEAD < n:
                prefetch(neighbors, load(offsets, v + AHEAD) + 1)
            e = np.int64(load(offsets, v)) + 1
            if e < np.int64(load(offsets, v + 1)):
                link(np.int32(v), load(neighbors, e), component)


@njit(**OPTIONS)
def link_rest(sync, counter, offsets, neighbors, component, giant):
    """Link all neighbours of the vertices outside the largest component."""
    n = component.size
    while True:
        first = atomic_add(sync, counter, CHUNK)
        if first >= n:
            break
        for v in range(first, min(first + CHUNK, n)):
            if load(component, v) != giant:
                for e in range(np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))):
                    link(np.int32(v), load(neighbors, e), component)


@njit(**OPTIONS)
def most_frequent(component, sample):
    """The component of most of a fixed sample of the vertices, by Boyer and Moore's vote."""
    state = np.uint64(88172645463325252)
    found, votes = np.int32(0), 0
    for _ in range(sample):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        one = load(component, np.int64(state >> np.uint64(1)) % component.size)
        if votes == 0:
            found = one
        votes += 1 if one == found else -1
    return found


@njit(**OPTIONS)
def worker(tid, threads, sync, offsets, neighbors, component):
    """All passes."""
    hook(sync, COUNTERS, offsets, neighbors, component)
    barrier(sync, threads)
    compress(sync, COUNTERS + 16, component)
    barrier(sync, threads)
    link_second(sync, COUNTERS + 32, offsets, neighbors, component)
    barrier(sync, threads)
    compress(sync, COUNTERS + 48, component)
    barrier(sync, threads)
    if tid == 0:
        store_release(sync, GIANT, np.int64(most_frequent(component, SAMPLES)))
    barrier(sync, threads)
    link_rest(sync, COUNTERS + 64, offsets, neighbors, component, np.int32(load_acquire(sync, GIANT)))
    barrier(sync, threads)
    compress(sync, COUNTERS + 80, component)


class Kernel:
    """`component` of each vertex: the smallest vertex of it."""

    def __init__(self, graph: Graph, threads: int) -> None:
        self.threads, self.n = threads, graph.n
        self.offsets, self.neighbors = rows(graph)

    def __call__(self) -> Any:
        """The components."""
        component = np.empty(self.n, np.int32)
        if self.n:
            run(worker, self.threads, self.offsets, self.neighbors, component)
        return component
