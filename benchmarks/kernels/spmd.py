"""Threads that run one compiled worker from end to end: a barrier, dealing of chunks, and the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from pantograf import Graph
from pantograf.machines.cpu import pool
from pantograf.machines.cpu.intrinsics import atomic_add, give_up_core, load, load_acquire, pause, store, store_release

OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy", "_nrt": False}
FAST: dict[str, Any] = {**OPTIONS, "fastmath": {"reassoc", "nsz", "contract", "arcp"}}

# Words of `sync`, each on cache lines of its own: the barrier's two, four counters to deal from in turn, and those that are free.
ARRIVED, GENERATION, DEALT, FREE, WORDS = 0, 16, 32, 96, 320
PATIENCE = 200  # looks at a barrier before the core is offered to others


@njit(**OPTIONS)
def barrier(sync, threads):
    """Wait for all threads."""
    generation = load_acquire(sync, GENERATION)
    if atomic_add(sync, ARRIVED, 1) == threads - 1:
        store_release(sync, ARRIVED, 0)
        store_release(sync, GENERATION, generation + 1)
    else:
        looks = 0
        while load_acquire(sync, GENERATION) == generation:
            pause()
            looks += 1
            if looks > PATIENCE:
                give_up_core()


@njit(**OPTIONS)
def begin(sync, tid, step):
    """The counter of a step; the one after the next is made ready. Between two steps there is a barrier."""
    if tid == 0:
        store_release(sync, DEALT + 16 * ((step + 2) & 3), 0)
    return DEALT + 16 * (step & 3)


@njit(**OPTIONS)
def total(partial, threads, slot):
    """The sum of what threads left at a slot of their cache lines."""
    found = partial[slot]
    for thread in range(1, threads):
        found += load(partial, 16 * thread + slot)
    return found


@njit(**OPTIONS)
def fill(tid, threads, array, value):
    """This thread's part of an array."""
    for i in range(array.size * tid // threads, array.size * (tid + 1) // threads):
        store(array, i, value)


def run(worker: Callable[..., Any], threads: int, *arguments: Any, sync: Any = None) -> Any:
    """Let every thread do `worker(tid, threads, sync, *arguments)`; what the first one gave."""
    shared = np.zeros(WORDS, np.int64) if sync is None else sync
    team = pool.borrow(threads)
    try:
        return team.run(lambda tid: worker(tid, threads, shared, *arguments), lambda: None, None)[0]
    finally:
        pool.give_back(team)


def rows(graph: Graph) -> tuple[Any, Any]:
    """Offsets of 32 bits, and neighbours with room behind them for what reads ahead."""
    if not graph.symmetric or graph.neighbors.dtype != np.int32 or graph.m >= 2**31 - 1:
        raise SystemExit(f"the kernels take undirected graphs of at most 2^31 edges, and {graph} is none")
    return graph.offsets.astype(np.int32), padded(graph.neighbors)


def padded(array: Any) -> Any:
    """A copy with 64 zeros behind it."""
    found = np.zeros(array.size + 64, array.dtype)
    found[: array.size] = array
    return found
