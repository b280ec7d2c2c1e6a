"""Priority queues whose entries carry the priority with which a vertex was queued.

Where a priority only falls (or only rises), each change gives a vertex a value that it never had before: the entry that still
agrees with the property is the one that counts, and no vertex needs a flag.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import compare_exchange, load, raw_load, raw_store, store
from pantograf.machines.cpu.runtime.lists import append
from pantograf.machines.cpu.runtime.queues import (
    BASE,
    CURRENT,
    LOWEST,
    OPEN,
    OTHERS_LOWEST,
    QUEUE_ROW,
    bin_of,
    bucket,
    put_in_bin,
)
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
    stopped,
)

LOW_HALF, HALF = np.int64(0xFFFFFFFF), np.int64(32)


@njit(**OPTIONS)
def entry_of(v, priority):
    """A vertex and its priority in one word."""
    return (np.int64(priority) << HALF) | np.int64(v)


@njit(**OPTIONS)
def vertex_of(entry):
    """The vertex of an entry."""
    return entry & LOW_HALF


@njit(**OPTIONS)
def counts(q, entry):
    """Whether the vertex of an entry still has the priority with which it was queued."""
    return entry_of(vertex_of(entry), load(q.priority, vertex_of(entry))) == entry


@njit(**OPTIONS)
def put_keyed(w, q, v, priority):
    """Own: an entry for a vertex."""
    put_in_bin(w, q, entry_of(v, priority), bucket(q, priority))


@njit(**OPTIONS)
def add_keyed(w, q, v, priority):
    """Give a vertex a priority and queue it."""
    barrier(w)
    if w.tid == 0:
        store(q.priority, v, priority)
        put_keyed(w, q, v, priority)
    barrier(w)


@njit(**OPTIONS)
def update_min_keyed(w, q, v, new, atomic):
    """Lower a priority."""
    old = load(q.priority, v)
    while new < old:
        if not atomic:
            store(q.priority, v, new)
        elif not compare_exchange(q.priority, v, old, new):
            old = load(q.priority, v)
            continue
        put_keyed(w, q, v, new)
        return True
    return False


@njit(**OPTIONS)
def update_max_keyed(w, q, v, new, atomic):
    """Raise a priority."""
    old = load(q.priority, v)
    while new > old:
        if not atomic:
            store(q.priority, v, new)
        elif not compare_exchange(q.priority, v, old, new):
            old = load(q.priority, v)
            continue
        put_keyed(w, q, v, new)
        return True
    return False


@njit(**OPTIONS)
def keep_counting(w, q, at):
    """Own: drop the entries of a bin that no longer count; how many are left."""
    kept = np.int64(0)
    for i in range(load(q.vectors, at + 1)):
        entry = raw_load(load(q.vectors, at), i)
        if counts(q, entry):
            raw_store(load(q.vectors, at), kept, entry)
            kept += 1
    store(q.vectors, at + 1, kept)
    return kept


@njit(**OPTIONS)
def own_lowest_keyed(w, q):
    """Own: the least bucket that has an entry that counts."""
    own = w.tid * QUEUE_ROW
    slot = load(q.own, own + LOWEST)
    count = load(q.meta, OPEN)
    while slot < count:
        at = bin_of(w, q, slot)
        size = load(q.vectors, at + 1)
        while size > 0 and not counts(q, raw_load(load(q.vectors, at), size - 1)):
            size -= 1
        store(q.vectors, at + 1, size)
        if size > 0:
            break
        slot += 1
    store(q.own, own + LOWEST, slot)
    lowest = load(q.own, own + BASE) + slot if slot < count else NOTHING
    if load(q.own, own + OTHERS_LOWEST) < lowest:
        at = bin_of(w, q, count)
        others = NOTHING
        for i in range(keep_counting(w, q, at)):
            v = vertex_of(raw_load(load(q.vectors, at), i))
            others = min(others, bucket(q, load(q.priority, v)))
        store(q.own, own + OTHERS_LOWEST, others)
        lowest = min(lowest, others)
    return lowest


@njit(**OPTIONS)
def lowest_keyed(w, q):
    """The least bucket in which a vertex is queued, the same in all threads."""
    phase = begin(w)
    put_int(w, phase, 0, own_lowest_keyed(w, q))
    barrier(w)
    lowest = NOTHING
    for t in range(w.threads):
        lowest = min(lowest, get_int(w, phase, 0, t))
    return lowest


@njit(**OPTIONS)
def move_window_keyed(w, q, base):
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
        entry = raw_load(load(q.vectors, rest), i)
        if counts(q, entry):
            put_in_bin(w, q, entry, bucket(q, load(q.priority, vertex_of(entry))))


@njit(**OPTIONS)
def pop_keyed(w, q, members, lowest):
    """Take the bucket `lowest`."""
    base = w.tid * ROW
    phase = begin(w)
    if lowest == NOTHING or stopped(w):
        barrier(w)
        finish(w, members, 0, 1, 0, 0)
        return
    slot = lowest - load(q.own, w.tid * QUEUE_ROW + BASE)
    if slot < 0 or slot >= load(q.meta, OPEN):
        move_window_keyed(w, q, lowest)
        slot = np.int64(0)
    at = bin_of(w, q, slot)
    gathered = np.int64(0)
    for i in range(load(q.vectors, at + 1)):
        entry = raw_load(load(q.vectors, at), i)
        if counts(q, entry):
            if gathered == BUFFER:
                flush(w, phase, base, gathered, members.ids)
                gathered = np.int64(0)
            store(w.buffer, base + gathered, vertex_of(entry))
            gathered += 1
    store(q.vectors, at + 1, 0)
    flush(w, phase, base, gathered, members.ids)
    barrier(w)
    if w.tid == 0:  # not before: a loop's condition may have asked for the current bucket without a barrier after it
        store(q.meta, CURRENT, lowest)
    finish(w, members, load(w.sync, TAIL + phase), 1, 0, 0)


@njit(**OPTIONS)
def pop_own_keyed(w, q, base, limit):
    """Own: move this thread's entries of the current bucket to its second buffer, if they are fewer than `limit`; how many."""
    at = bin_of(w, q, load(q.meta, CURRENT) - load(q.own, w.tid * QUEUE_ROW + BASE))
    size = load(q.vectors, at + 1)
    if size == 0 or size > limit or load(w.sync, STOP) != 0:
        return np.int64(0)
    taken = np.int64(0)
    left = max(size - BUFFER, 0)
    while size > left:
        size -= 1
        entry = raw_load(load(q.vectors, at), size)
        if counts(q, entry):
            store(w.buffer, base + taken, vertex_of(entry))
            taken += 1
    store(q.vectors, at + 1, size)
    if taken == 0 and size > 0:
        return np.int64(-1)
    return taken
