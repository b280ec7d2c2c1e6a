"""Threads that run one program together: barriers, dealing of work, and partial results.

A thread's writes are seen by the others after the next barrier. What a driver reads without a barrier (sizes, the current
bucket) is written only between two barriers of one call, so a slow thread has read it before a fast one changes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import atomic_add, give_up_core, load, load_acquire, pause, store, store_release

OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy", "_nrt": False}
"""No reference counts (the private `_nrt`): compiled code neither makes nor keeps arrays, and counting cost more than the work."""

# --- shared words, a cache line or more apart
LINE = 16
ARRIVED, GENERATION, STOP, STOPPED, ERROR, SITE, DETAIL = 0, 16, 32, 48, 64, 72, 80
DEALT, TAIL, AUX = 96, 160, 224  # four of each, used in turn
SYNC_WORDS = 288

# --- a thread's own words
EPOCH, EDGES, ROUNDS, CUT, VERTICES, RACES = 0, 1, 2, 3, 4, 5
OWN_WORDS = 32
PARTIALS = 32  # partial results of scalars: two banks of sixteen a thread
BUFFER = 2048  # ids that a thread gathers before it takes space in a shared list
ROW = 2 * BUFFER  # and as many that it goes on with by itself
PATIENCE = 100  # looks at a barrier before the core is offered to others: with more threads than cores, one of them may need it
HUB = 1024  # edges of a vertex from which threads share them
NOTHING = np.int64(2**62)

OUT_OF_MEMORY, OUT_OF_RANGE, OVERFLOW, NOT_ABOVE_ZERO = 1, 2, 3, 4  # values of ERROR


class Worker(NamedTuple):
    """What a thread has: its number, how many there are, and the arrays they share."""

    tid: Any
    threads: Any
    sync: Any
    own: Any
    floats: Any
    ints: Any
    buffer: Any
    knobs: Any


@njit(**OPTIONS)
def barrier(w):
    """Wait for all threads. The last to come decides whether the run was told to stop."""
    s = w.sync
    if w.threads == 1:
        store(s, STOPPED, load_acquire(s, STOP))
        return
    generation = load_acquire(s, GENERATION)
    if atomic_add(s, ARRIVED, 1) == w.threads - 1:
        store(s, STOPPED, load_acquire(s, STOP))
        store_release(s, ARRIVED, 0)
        store_release(s, GENERATION, generation + 1)
    else:
        spins = 0
        while load_acquire(s, GENERATION) == generation:
            pause()
            spins += 1
            if spins > PATIENCE:
                give_up_core()


@njit(**OPTIONS)
def stopped(w):
    """Whether the run is to stop: the same answer in all threads between two barriers."""
    return load(w.sync, STOPPED) != 0


@njit(**OPTIONS)
def told_to_stop(w):
    """Own: whether the run is to stop, for loops inside of one thread's work (read anew each time)."""
    return load_acquire(w.sync, STOP) != 0


@njit(**OPTIONS)
def begin(w):
    """Start a phase of shared work: its number."""
    own = w.tid * OWN_WORDS
    epoch = load(w.own, own + EPOCH)
    store(w.own, own + EPOCH, epoch + 1)
    if w.tid == 0:
        ahead = LINE * ((epoch + 2) & 3)
        store_release(w.sync, DEALT + ahead, 0)
        store_release(w.sync, TAIL + ahead, 0)
        store_release(w.sync, AUX + ahead, 0)
    return LINE * (epoch & 3)


@njit(**OPTIONS)
def take(w, phase, chunk):
    """The start of the next chunk of shared work; beyond everything when the run was told to stop."""
    if load(w.sync, STOP) != 0:
        return NOTHING
    return atomic_add(w.sync, DEALT + phase, chunk)


@njit(**OPTIONS)
def chunk_size(w, wanted, size, least):
    """How much of `size` a thread takes at once, where nobody said how much (`wanted` is 0): not so little that taking costs more
    than the work, not so much that threads wait for the last."""
    if wanted > 0:
        return wanted
    return max(np.int64(least), min(np.int64(16 * least), size // (16 * w.threads)))


@njit(**OPTIONS)
def count_edges(w, edges, vertices):
    """Own: add to the statistics."""
    own = w.tid * OWN_WORDS
    store(w.own, own + EDGES, load(w.own, own + EDGES) + edges)
    store(w.own, own + VERTICES, load(w.own, own + VERTICES) + vertices)


@njit(**OPTIONS)
def turn(w, limit):
    """One more turn of a loop; whether the loop must end here (the limit is on the turns of all loops together)."""
    own = w.tid * OWN_WORDS + ROUNDS
    rounds = load(w.own, own)
    if rounds >= limit:
        store(w.own, w.tid * OWN_WORDS + CUT, 1)
        return True
    store(w.own, own, rounds + 1)
    if rounds & 1023 == 1023:  # a loop of scalars alone has no other barrier at which it would hear that it is to stop
        barrier(w)
    return load(w.sync, STOPPED) != 0


@njit(**OPTIONS)
def share(w, low, high):
    """Own: this thread's part of a range."""
    size = high - low
    return low + size * w.tid // w.threads, low + size * (w.tid + 1) // w.threads


@njit(**OPTIONS)
def put_int(w, phase, slot, value):
    """Own: leave a partial result for `take_int` after the next barrier."""
    store(w.ints, w.tid * PARTIALS + ((phase & LINE) != 0) * 16 + slot, value)


@njit(**OPTIONS)
def get_int(w, phase, slot, thread):
    """Another thread's partial result."""
    return load(w.ints, thread * PARTIALS + ((phase & LINE) != 0) * 16 + slot)


@njit(**OPTIONS)
def put_float(w, phase, slot, value):
    """Own: leave a partial result."""
    store(w.floats, w.tid * PARTIALS + ((phase & LINE) != 0) * 16 + slot, value)


@njit(**OPTIONS)
def get_float(w, phase, slot, thread):
    """Another thread's partial result."""
    return load(w.floats, thread * PARTIALS + ((phase & LINE) != 0) * 16 + slot)


@njit(**OPTIONS)
def total(w, phase, slot):
    """The sum of all threads' partial integers."""
    result = np.int64(0)
    for t in range(w.threads):
        result += get_int(w, phase, slot, t)
    return result


@njit(**OPTIONS)
def hub_chunks(offsets, v):
    """How many parts of `HUB` edges a vertex has."""
    return (np.int64(load(offsets, np.int64(v) + 1)) - np.int64(load(offsets, v)) + HUB - 1) // HUB
