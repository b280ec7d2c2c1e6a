"""Vertex sets in up to three layouts (list, bitmap, boolmap), each made from another when somebody needs it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import atomic_add, atomic_and, atomic_or, load, one_bits, store, trailing_zeros
from pantograf.machines.cpu.runtime.threads import (
    BUFFER,
    ERROR,
    OPTIONS,
    OUT_OF_MEMORY,
    STOP,
    TAIL,
    barrier,
    begin,
    get_int,
    put_int,
    share,
    total,
)

SIZE, LIST, BITS, BOOLS, INDEX = 0, 1, 2, 3, 4  # words of Set.meta
CROWDED = 16  # a set of more than one in so many vertices is walked in the order of memory
ONE, ZERO, SIX, SIXTY_THREE = np.uint64(1), np.uint64(0), np.uint64(6), np.uint64(63)


class Set(NamedTuple):
    """A vertex set in up to three layouts; `meta` says how many members, which layouts hold, and which buffer this is."""

    ids: Any
    bits: Any
    bools: Any
    meta: Any


@njit(**OPTIONS)
def used(members):
    """A set's buffer as a bit."""
    return np.int64(1) << load(members.meta, INDEX)


@njit(**OPTIONS)
def free_set(pool, taken):
    """A buffer that no live handle has."""
    return pool[np.int64(trailing_zeros(np.uint64(~taken)))]


@njit(**OPTIONS)
def finish(w, members, size, has_list, has_bits, has_bools):
    """State what a set holds. Called by all between two barriers; ends with one."""
    if w.tid == 0:
        store(members.meta, SIZE, size)
        store(members.meta, LIST, has_list)
        store(members.meta, BITS, has_bits)
        store(members.meta, BOOLS, has_bools)
    barrier(w)


@njit(**OPTIONS)
def finish_marked(w, phase, members):
    """State what a set holds whose members were marked. If they are many, the list in the order of their coming is given up: one made
    of the marks is in the order of memory. Called by all between two barriers; ends with one."""
    size = load(w.sync, TAIL + phase)
    finish(w, members, size, np.int64(size * CROWDED < members.ids.size), 1, 0)


@njit(**OPTIONS)
def clear_bits(w, members):
    """Make the bitmap empty. No barrier."""
    low, high = share(w, 0, members.bits.size)
    for i in range(low, high):
        store(members.bits, i, ZERO)


@njit(**OPTIONS)
def has_bit(bits, v):
    """Whether a bit is set."""
    u = np.uint64(v)
    return (load(bits, u >> SIX) >> (u & SIXTY_THREE)) & ONE != ZERO


@njit(**OPTIONS)
def set_bit(bits, v):
    """Set a bit, together with other threads; whether this call set it."""
    u = np.uint64(v)
    bit = ONE << (u & SIXTY_THREE)
    if load(bits, u >> SIX) & bit != ZERO:
        return False
    return atomic_or(bits, u >> SIX, bit) & bit == ZERO


@njit(**OPTIONS)
def need_bits(w, members):
    """See to it that the bitmap holds."""
    if load(members.meta, BITS) != 0:
        return
    clear_bits(w, members)
    barrier(w)
    if w.tid == 0:
        store(members.meta, BITS, 1)
    low, high = share(w, 0, load(members.meta, SIZE))
    for i in range(low, high):
        v = np.uint64(load(members.ids, i))
        atomic_or(members.bits, v >> SIX, ONE << (v & SIXTY_THREE))
    barrier(w)


@njit(**OPTIONS)
def need_bools(w, members, n):
    """See to it that the boolmap holds."""
    if load(members.meta, BOOLS) != 0:
        return
    from_list = load(members.meta, LIST) != 0
    low, high = share(w, 0, n)
    if from_list:
        for i in range(low, high):
            store(members.bools, i, 0)
        barrier(w)
        a, b = share(w, 0, load(members.meta, SIZE))
        for i in range(a, b):
            store(members.bools, load(members.ids, i), 1)
    else:
        for i in range(low, high):
            store(members.bools, i, np.uint8(has_bit(members.bits, i)))
        barrier(w)
    if w.tid == 0:
        store(members.meta, BOOLS, 1)
    barrier(w)


@njit(**OPTIONS)
def need_list(w, members):
    """See to it that the list holds: in the order of the ids."""
    if load(members.meta, LIST) != 0:
        return
    phase = begin(w)
    low, high = share(w, 0, members.bits.size)
    count = np.int64(0)
    for i in range(low, high):
        count += np.int64(one_bits(load(members.bits, i)))
    put_int(w, phase, 0, count)
    barrier(w)
    if w.tid == 0:
        store(members.meta, LIST, 1)
    at = np.int64(0)
    for t in range(w.tid):
        at += get_int(w, phase, 0, t)
    for i in range(low, high):
        word = load(members.bits, i)
        while word != ZERO:
            store(members.ids, at, np.int64(i * 64) + np.int64(trailing_zeros(word)))
            at += 1
            word &= word - ONE
    barrier(w)


@njit(**OPTIONS)
def make_set(w, members, vertices):
    """A set of given vertices."""
    barrier(w)
    if w.tid == 0:
        count = 0
        for v in vertices:
            known = False
            for i in range(count):
                known = known or load(members.ids, i) == v
            if not known:
                store(members.ids, count, v)
                count += 1
        store(members.meta, SIZE, count)
        store(members.meta, LIST, 1)
        store(members.meta, BITS, 0)
        store(members.meta, BOOLS, 0)
    barrier(w)


@njit(**OPTIONS)
def make_all(w, members, n):
    """The set of all vertices."""
    barrier(w)
    low, high = share(w, 0, n)
    for i in range(low, high):
        store(members.ids, i, i)
    finish(w, members, n, 1, 0, 0)


@njit(**OPTIONS)
def make_empty(w, members):
    """The empty set."""
    barrier(w)
    finish(w, members, 0, 1, 0, 0)


@njit(**OPTIONS)
def load_set(w, members, ids):
    """A set that the user gave, sorted and without duplicates."""
    barrier(w)
    low, high = share(w, 0, ids.size)
    for i in range(low, high):
        store(members.ids, i, load(ids, i))
    finish(w, members, ids.size, 1, 0, 0)


@njit(**OPTIONS)
def copy_set(w, target, source):
    """A copy of a set."""
    need_list(w, source)
    size = load(source.meta, SIZE)
    low, high = share(w, 0, size)
    for i in range(low, high):
        store(target.ids, i, load(source.ids, i))
    barrier(w)
    finish(w, target, size, 1, 0, 0)


@njit(**OPTIONS)
def copy_members(w, members, width, target, source):
    """Copy the entries of a set's members: what a sparse apply will read."""
    low, high = share(w, 0, load(members.meta, SIZE))
    for i in range(low, high):
        v = np.int64(load(members.ids, i)) * width
        for k in range(width):
            store(target, v + k, load(source, v + k))


@njit(**OPTIONS)
def add_vertex(w, members, v):
    """Put a vertex into a set."""
    need_list(w, members)
    need_bits(w, members)
    barrier(w)
    if w.tid == 0 and set_bit(members.bits, v):
        size = load(members.meta, SIZE)
        store(members.ids, size, v)
        store(members.meta, SIZE, size + 1)
        store(members.meta, BOOLS, 0)
    barrier(w)


@njit(**OPTIONS)
def contains(w, members, v):
    """Whether a vertex is in a set."""
    need_bits(w, members)
    return has_bit(members.bits, v)


@njit(**OPTIONS)
def is_dense(w, g, members, divisor):
    """Whether |set| + its out-edges > edges / divisor."""
    limit = g.neighbors.size // divisor
    size = load(members.meta, SIZE)
    if size > limit:
        return True
    need_list(w, members)
    phase = begin(w)
    low, high = share(w, 0, size)
    work = high - low
    for i in range(low, high):
        v = np.int64(load(members.ids, i))
        work += np.int64(load(g.offsets, v + 1)) - np.int64(load(g.offsets, v))
    put_int(w, phase, 0, work)
    barrier(w)
    return total(w, phase, 0) > limit


@njit(**OPTIONS)
def flush(w, phase, base, count, ids):
    """Own: move what was gathered to the end of a shared list."""
    at = atomic_add(w.sync, TAIL + phase, count)
    if at + count > ids.size:
        store(w.sync, ERROR, OUT_OF_MEMORY)
        store(w.sync, STOP, 1)
        return
    for i in range(count):
        store(ids, at + i, load(w.buffer, base + i))


@njit(**OPTIONS)
def spill(w, phase, base, count, members):
    """Own: as `flush`, but what does not fit (vertices that came several times) goes into the bitmap."""
    at = atomic_add(w.sync, TAIL + phase, count)
    for i in range(count):
        if at + i < members.ids.size:
            store(members.ids, at + i, load(w.buffer, base + i))
        else:
            set_bit(members.bits, load(w.buffer, base + i))


@njit(**OPTIONS)
def finish_spilled(w, phase, members):
    """State what a set holds that may have spilled into its bitmap. Called by all between two barriers; ends with one."""
    size = load(w.sync, TAIL + phase)
    capacity = members.ids.size
    if size <= capacity:
        finish(w, members, size, 1, 0, 0)
        return
    low, high = share(w, 0, capacity)
    for i in range(low, high):
        set_bit(members.bits, load(members.ids, i))
    barrier(w)
    low, high = share(w, 0, members.bits.size)
    count = np.int64(0)
    for i in range(low, high):
        count += np.int64(one_bits(load(members.bits, i)))
    put_int(w, phase, 15, count)
    barrier(w)
    finish(w, members, total(w, phase, 15), 0, 1, 0)


@njit(**OPTIONS)
def take_own(w, bits, second, gathered, limit):
    """Own: move the changed vertices that a thread has gathered to its second buffer, if few; their marks go before they are read."""
    if gathered == 0 or gathered > limit or load(w.sync, STOP) != 0:
        return np.int64(0)
    base = second - BUFFER
    for i in range(gathered):
        v = load(w.buffer, base + i)
        u = np.uint64(v)
        atomic_and(bits, u >> SIX, ~(ONE << (u & SIXTY_THREE)))
        store(w.buffer, second + i, v)
    return gathered
