"""Priority queues: each thread has bins of vertices for the buckets base, base+1, ..., and one for all others.

An entry counts if its vertex is queued and its priority still is in the bin's bucket; the vertex's flag, cleared by whoever
takes it, makes it come once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import atomic_add, compare_exchange, load, raw_load, store
from pantograf.machines.cpu.runtime.lists import append
from pantograf.machines.cpu.runtime.sets import finish, flush
from pantograf.machines.cpu.runtime.threads import (
    BUFFER,
    NOTHING,
    OPTIONS,
    ROW,
    STOP,
    TAIL,
    barrier,
    begin,
    get_int,
    put_int,
    share,
    stopped,
)

CURRENT, HIGHEST, SHIFT, OPEN, LAZY = 0, 1, 2, 3, 4  # words of Queue.meta
BASE, LOWEST, OTHERS_LOWEST, QUEUED = 0, 1, 2, 3  # words of a thread's row in Queue.own
QUEUE_ROW = 16
FARTHEST = float(NOTHING) / 2  # the number of a bucket that no priority but inf comes to


class Queue(NamedTuple):
    """A priority queue over the property `priority`."""

    priority: Any
    delta: Any
    flags: Any
    touched: Any
    vectors: Any
    own: Any
    meta: Any


@njit(**OPTIONS)
def bucket(q, priority):
    """The number of the bucket of a priority: less comes first."""
    shift = load(q.meta, SHIFT)
    if shift >= 0:
        b = np.int64(priority) >> shift
    else:
        b = np.int64(
            min(max(np.floor(priority / load(q.delta, 0)), -FARTHEST), FARTHEST)
        )  # no integer is as great as inf
    return -b if load(q.meta, HIGHEST) != 0 else b


@njit(**OPTIONS)
def bin_of(w, q, slot):
    """Own: where the vector of a bin starts in `q.vectors`."""
    return (w.tid * (load(q.meta, OPEN) + 2) + slot) * 3


@njit(**OPTIONS)
def start_queue(w, q, delta, shift, highest, lazy, null, everything, n):
    """Make a queue empty, or queue every vertex whose priority is not null."""
    own = w.tid * QUEUE_ROW
    barrier(w)
    if w.tid == 0:
        store(q.delta, 0, delta)
        store(q.meta, SHIFT, shift)
        store(q.meta, HIGHEST, highest)
        store(q.meta, LAZY, lazy)
        store(q.meta, CURRENT, -NOTHING)
    for slot in range(load(q.meta, OPEN) + 2):
        store(q.vectors, bin_of(w, q, slot) + 1, 0)
    store(q.own, own + BASE, 0)
    store(q.own, own + LOWEST, load(q.meta, OPEN))
    store(q.own, own + OTHERS_LOWEST, NOTHING)
    store(q.own, own + QUEUED, 0)
    low, high = share(w, 0, q.flags.size)
    for v in range(low, high):
        store(q.flags, v, 0)
        store(q.touched, v, 0)
    barrier(w)
    if everything:
        low, high = share(w, 0, n)
        for v in range(low, high):
            priority = load(q.priority, v)
            if priority != null:
                store(q.flags, v, 1)
                store(q.own, own + QUEUED, load(q.own, own + QUEUED) + 1)
                put_in_bin(w, q, v, bucket(q, priority))
        barrier(w)


@njit(**OPTIONS)
def put_in_bin(w, q, entry, b):
    """Own: an entry in the bin of a bucket."""
    own = w.tid * QUEUE_ROW
    slot = b - load(q.own, own + BASE)
    count = load(q.meta, OPEN)
    if 0 <= slot < count:
        if slot < load(q.own, own + LOWEST):
            store(q.own, own + LOWEST, slot)
    else:
        if b < load(q.own, own + OTHERS_LOWEST):
            store(q.own, own + OTHERS_LOWEST, b)
        slot = count
    append(w, q.vectors, bin_of(w, q, slot), np.int64(entry))


@njit(**OPTIONS)
def queue_vertex(w, q, v, new, old, was):
    """Own: a vertex's priority changed from `old`, in bucket terms or not at all (`was` false)."""
    if load(q.meta, LAZY) != 0:
        if load(q.touched, v) == 0 and compare_exchange(q.touched, v, 0, 1):
            append(w, q.vectors, bin_of(w, q, load(q.meta, OPEN) + 1), np.int64(v))
        return
    b = bucket(q, new)
    if load(q.flags, v) == 0 and compare_exchange(q.flags, v, 0, 1):
        own = w.tid * QUEUE_ROW + QUEUED
        store(q.own, own, load(q.own, own) + 1)
        put_in_bin(w, q, v, b)
    elif not was or bucket(q, old) != b:
        put_in_bin(w, q, v, b)


@njit(**OPTIONS)
def settle_lazy(w, q):
    """Give each vertex touched by the apply before one entry, for its final priority. After a barrier; none at its end."""
    if load(q.meta, LAZY) == 0:
        return
    at = bin_of(w, q, load(q.meta, OPEN) + 1)
    own = w.tid * QUEUE_ROW + QUEUED
    for i in range(load(q.vectors, at + 1)):
        v = raw_load(load(q.vectors, at), i)
        store(q.touched, v, 0)
        if load(q.flags, v) == 0:
            store(q.flags, v, 1)
            store(q.own, own, load(q.own, own) + 1)
        put_in_bin(w, q, v, bucket(q, load(q.priority, v)))
    store(q.vectors, at + 1, 0)


@njit(**OPTIONS)
def count_update(w, q, v):
    """Own: one more constant addition to the priority of a vertex."""
    if atomic_add(q.touched, v, 1) == 0:
        append(w, q.vectors, bin_of(w, q, load(q.meta, OPEN) + 1), np.int64(v))


@njit(**OPTIONS)
def settle_counts(w, q, change, limit):
    """Make all additions that were counted in an apply. After a barrier; none at its end."""
    at = bin_of(w, q, load(q.meta, OPEN) + 1)
    for i in range(load(q.vectors, at + 1)):
        v = raw_load(load(q.vectors, at), i)
        count = np.int64(load(q.touched, v))
        store(q.touched, v, 0)
        update_sum(w, q, v, change * count, limit, False)
    store(q.vectors, at + 1, 0)


@njit(**OPTIONS)
def current_priority(q):
    """The least priority of the bucket that was popped last."""
    b = load(q.meta, CURRENT)
    return (-b if load(q.meta, HIGHEST) != 0 else b) * load(q.delta, 0)


@njit(**OPTIONS)
def add_to_queue(w, q, v, priority):
    """Give a vertex a priority and queue it."""
    barrier(w)
    if w.tid == 0:
        store(q.priority, v, priority)
        if load(q.flags, v) == 0:
            store(q.flags, v, 1)
            store(q.own, QUEUED, load(q.own, QUEUED) + 1)
        put_in_bin(w, q, v, bucket(q, priority))
    barrier(w)


@njit(**OPTIONS)
def queue_empty(w, q):
    """Whether no vertex is queued."""
    count = np.int64(0)
    for t in range(w.threads):
        count += load(q.own, t * QUEUE_ROW + QUEUED)
    return count == 0


@njit(**OPTIONS)
def own_lowest(w, q):
    """Own: the least bucket that has an entry."""
    own = w.tid * QUEUE_ROW
    slot = load(q.own, own + LOWEST)
    count = load(q.meta, OPEN)
    while slot < count and load(q.vectors, bin_of(w, q, slot) + 1) == 0:
        slot += 1
    store(q.own, own + LOWEST, slot)
    others = load(q.own, own + OTHERS_LOWEST)
    if slot < count:
        return min(others, load(q.own, own + BASE) + slot)
    return others


@njit(**OPTIONS)
def move_window(w, q, base):
    """Own: let the open bins start at `base`."""
    own = w.tid * QUEUE_ROW
    count = load(q.meta, OPEN)
    rest = bin_of(w, q, count)
    for slot in range(load(q.own, own + LOWEST), count):
        at = bin_of(w, q, slot)
        for i in range(load(q.vectors, at + 1)):
            append(w, q.vectors, rest, raw_load(load(q.vectors, at), i))
        store(q.vectors, at + 1, 0)
    store(q.own, own + BASE, base)
    store(q.own, own + LOWEST, count)
    store(q.own, own + OTHERS_LOWEST, NOTHING)
    size = load(q.vectors, rest + 1)
    store(q.vectors, rest + 1, 0)
    for i in range(size):  # entries are written back at or before the place that is read
        v = raw_load(load(q.vectors, rest), i)
        if load(q.flags, v) != 0:
            put_in_bin(w, q, v, bucket(q, load(q.priority, v)))


@njit(**OPTIONS)
def pop(w, q, members):
    """Take the first bucket that is not empty."""
    base = w.tid * ROW
    own = w.tid * QUEUE_ROW
    while True:
        phase = begin(w)
        put_int(w, phase, 0, own_lowest(w, q))
        barrier(w)
        lowest = NOTHING
        for t in range(w.threads):
            lowest = min(lowest, get_int(w, phase, 0, t))
        if lowest == NOTHING or stopped(w):
            finish(w, members, 0, 1, 0, 0)
            return
        slot = lowest - load(q.own, own + BASE)
        if slot < 0 or slot >= load(q.meta, OPEN):
            move_window(w, q, lowest)
            slot = np.int64(0)
        at = bin_of(w, q, slot)
        gathered = np.int64(0)
        taken = np.int64(0)
        for i in range(load(q.vectors, at + 1)):
            v = raw_load(load(q.vectors, at), i)
            if (
                bucket(q, load(q.priority, v)) == lowest
                and load(q.flags, v) != 0
                and compare_exchange(q.flags, v, 1, 0)
            ):
                if gathered == BUFFER:
                    flush(w, phase, base, gathered, members.ids)
                    gathered = np.int64(0)
                store(w.buffer, base + gathered, v)
                gathered += 1
                taken += 1
        store(q.vectors, at + 1, 0)
        store(q.own, own + QUEUED, load(q.own, own + QUEUED) - taken)
        flush(w, phase, base, gathered, members.ids)
        barrier(w)
        size = load(w.sync, TAIL + phase)
        if size > 0:
            if w.tid == 0:
                store(q.meta, CURRENT, lowest)
            finish(w, members, size, 1, 0, 0)
            return


@njit(**OPTIONS)
def pop_own(w, q, base, limit):
    """Own: move this thread's entries of the current bucket to its second buffer, if they are fewer than `limit`; how many."""
    at = bin_of(w, q, load(q.meta, CURRENT) - load(q.own, w.tid * QUEUE_ROW + BASE))
    size = load(q.vectors, at + 1)
    if size == 0 or size > limit or load(w.sync, STOP) != 0:
        return np.int64(0)
    current = load(q.meta, CURRENT)
    taken = np.int64(0)
    left = max(size - BUFFER, 0)
    while size > left:
        size -= 1
        v = raw_load(load(q.vectors, at), size)
        if bucket(q, load(q.priority, v)) == current and load(q.flags, v) != 0 and compare_exchange(q.flags, v, 1, 0):
            store(w.buffer, base + taken, v)
            taken += 1
    store(q.vectors, at + 1, size)
    own = w.tid * QUEUE_ROW + QUEUED
    store(q.own, own, load(q.own, own) - taken)
    if taken == 0 and size > 0:
        return np.int64(-1)
    return taken


@njit(**OPTIONS)
def update_min(w, q, v, new, atomic):
    """Lower a priority."""
    if atomic:
        old = load(q.priority, v)
        while new < old:
            if compare_exchange(q.priority, v, old, new):
                queue_vertex(w, q, v, new, old, True)
                return True
            old = load(q.priority, v)
        return False
    old = load(q.priority, v)
    if new < old:
        store(q.priority, v, new)
        queue_vertex(w, q, v, new, old, True)
        return True
    return False


@njit(**OPTIONS)
def update_max(w, q, v, new, atomic):
    """Raise a priority."""
    old = load(q.priority, v)
    while new > old:
        if not atomic:
            store(q.priority, v, new)
        elif not compare_exchange(q.priority, v, old, new):
            old = load(q.priority, v)
            continue
        queue_vertex(w, q, v, new, old, True)
        return True
    return False


@njit(**OPTIONS)
def update_sum(w, q, v, change, limit, atomic):
    """Add to a priority, not beyond `limit`; a finished vertex changes no more."""
    while True:
        old = load(q.priority, v)
        if change < 0:
            new = max(old + change, limit)
            if old <= limit:
                return False
        else:
            new = old + change
        if new == old:
            return False
        if not atomic:
            store(q.priority, v, new)
        elif not compare_exchange(q.priority, v, old, new):
            continue
        if bucket(q, old) >= load(q.meta, CURRENT):
            queue_vertex(w, q, v, new, old, True)
        return True
