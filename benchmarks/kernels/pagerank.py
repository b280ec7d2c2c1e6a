"""PageRank by pulling: one pass over the vertices a round, which gathers, settles and divides; shares of two rounds in turn.

Vertices are dealt in chunks of equal size. Memory is asked for ahead where the shares do not fit the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kernels.spmd import FAST, OPTIONS, barrier, begin, rows, run, total
from pantograf import Graph
from pantograf.machines.cpu.intrinsics import atomic_add, load, prefetch, store

CHUNK = 1024
AHEAD = 48  # edges
CACHED = 32 << 20  # bytes of shares up to which nothing is asked for ahead


@njit(**FAST)
def gathered(neighbors, share, low, high):
    """The sum of the shares of some neighbours."""
    found = share[0] * 0
    for e in range(low, high):
        found += load(share, load(neighbors, e))
    return found


@njit(**OPTIONS)
def gathered_ahead(neighbors, share, low, high):
    """The same, with the memory of the edges ahead asked for."""
    found = share[0] * 0
    for e in range(low, high):
        prefetch(share, load(neighbors, e + AHEAD))
        found += load(share, load(neighbors, e))
    return found


@njit(**OPTIONS)
def worker(
    tid, threads, sync, offsets, neighbors, rank, inverse, share, following, partial, damping, tolerance, rounds, spread, ahead
):  # fmt: skip
    """All rounds; how many they were."""
    n = rank.size
    lost = 0.0
    for v in range(n * tid // threads, n * (tid + 1) // threads):
        degree = np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))
        store(inverse, v, 1.0 / degree if degree > 0 else 0.0)
        store(rank, v, 1.0 / n)
        store(share, v, load(rank, v) * load(inverse, v))
        if degree == 0:
            lost += 1.0 / n
    store(partial, 16 * tid + 3, lost)
    barrier(sync, threads)
    lost = total(partial, threads, 3)
    for step in range(rounds):
        counter = begin(sync, tid, step)
        base = (1.0 - damping) / n + (damping * lost / n if spread else 0.0)
        error, mine = 0.0, 0.0
        while True:
            first = atomic_add(sync, counter, CHUNK)
            if first >= n:
                break
            low = np.int64(load(offsets, first))
            for v in range(first, min(first + CHUNK, n)):
                high = np.int64(load(offsets, v + 1))
                if ahead:
                    new = base + damping * gathered_ahead(neighbors, share, low, high)
                else:
                    new = base + damping * gathered(neighbors, share, low, high)
                if low == high:
                    mine += new
                low = high
                error += abs(new - np.float64(load(rank, v)))
                store(rank, v, new)
                store(following, v, new * load(inverse, v))
        bank = 4 * (step & 1)
        store(partial, 16 * tid + bank, error)
        store(partial, 16 * tid + bank + 1, mine)
        barrier(sync, threads)
        lost = total(partial, threads, bank + 1)
        share, following = following, share
        if total(partial, threads, bank) < tolerance:
            return step + 1
    return rounds


class Kernel:
    """`rank` of each vertex, held and summed in `dtype`."""

    def __init__(self, graph: Graph, threads: int, dtype: Any = np.float64, ahead: bool | None = None) -> None:
        self.threads, self.n, self.dtype = threads, graph.n, np.dtype(dtype)
        self.offsets, self.neighbors = rows(graph)
        self.scratch = [np.empty(graph.n, dtype) for _ in range(3)]
        self.partial = np.zeros(16 * threads)
        self.ahead = graph.n * self.dtype.itemsize > CACHED if ahead is None else ahead
        self.rounds = 0

    def __call__(self, damping: float = 0.85, tolerance: float = 1e-4, rounds: int = 100, spread: bool = True) -> Any:
        """The ranks; `rounds` afterwards says how many rounds it took."""
        rank = np.empty(self.n, self.dtype)
        limits = (damping, tolerance, rounds, spread, self.ahead)
        self.rounds = run(
            worker, self.threads, self.offsets, self.neighbors, rank, *self.scratch, self.partial, *limits
        )
        return rank
