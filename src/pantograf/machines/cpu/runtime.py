"""What emitted programs call: barriers, dealing of work, vertex sets, lists and priority queues. All threads call each function
together, unless it says `own` (thread-private) or `first` (only the first thread).

A thread's writes are seen by the others after the next barrier. What a driver reads without a barrier (sizes, the current
bucket) is written only between two barriers of one call, so a slow thread has read it before a fast one changes it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import (
    address,
    atomic_add,
    atomic_and,
    atomic_or,
    bits_float,
    compare_exchange,
    float_bits,
    give_up_core,
    load,
    load_acquire,
    one_bits,
    pause,
    raw_load,
    raw_store,
    read_clock,
    reallocate,
    store,
    store_release,
    trailing_zeros,
)

OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy"}

# --- shared words, one cache line each (8 int64)
LINE = 16
ARRIVED, GENERATION, STOP, STOPPED, ERROR, SHARED = 0, 16, 32, 48, 64, 80
DEALT, TAIL, AUX = 96, 160, 224  # four of each, used in turn
SYNC_WORDS = 288

# --- a thread's own words
EPOCH, EDGES, ROUNDS, COUNT, VERTICES = 0, 1, 2, 3, 4
OWN_WORDS = 32
PARTIALS = 32  # partial sums of scalars: two banks of sixteen a thread
BUFFER = 2048  # ids that a thread gathers before it takes space in a shared list
ROW = 2 * BUFFER  # and as many that it goes on with by itself
HUB = 1024  # edges of a vertex from which threads share them

OUT_OF_MEMORY = 1


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


class Csr(NamedTuple):
    """A graph: out-edges and, if something pulls, in-edges."""

    offsets: Any
    neighbors: Any
    weights: Any
    in_offsets: Any
    in_neighbors: Any
    in_weights: Any


class Set(NamedTuple):
    """A vertex set in up to three layouts; `meta` says how many members, which layouts hold, and which buffer this is."""

    ids: Any
    bits: Any
    bools: Any
    meta: Any


SIZE, LIST, BITS, BOOLS, INDEX = 0, 1, 2, 3, 4
ONE, ZERO, SIX, SIXTY_THREE = np.uint64(1), np.uint64(0), np.uint64(6), np.uint64(63)
NOTHING = np.int64(2**62)


# --- threads together ---------------------------------------------------------------------------------------------------


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
            if spins > 4000:
                give_up_core()
                spins = 3900


@njit(**OPTIONS)
def stopped(w):
    """Whether the run is to stop: the same answer in all threads between two barriers."""
    return load(w.sync, STOPPED) != 0


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
def count_edges(w, edges, vertices):
    """Own: add to the statistics."""
    own = w.tid * OWN_WORDS
    store(w.own, own + EDGES, load(w.own, own + EDGES) + edges)
    store(w.own, own + VERTICES, load(w.own, own + VERTICES) + vertices)


@njit(**OPTIONS)
def turn(w, limit):
    """Own: one more turn of a loop; whether the loop must end here (the limit is on the turns of all loops together)."""
    own = w.tid * OWN_WORDS + ROUNDS
    rounds = load(w.own, own)
    if rounds >= limit:
        return True
    store(w.own, own, rounds + 1)
    return load(w.sync, STOPPED) != 0


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


@njit(**OPTIONS)
def hub_chunks(offsets, v):
    """How many parts of `HUB` edges a vertex has."""
    return (np.int64(load(offsets, np.int64(v) + 1)) - np.int64(load(offsets, v)) + HUB - 1) // HUB


@njit(**OPTIONS)
def share(w, low, high):
    """Own: this thread's part of a range."""
    size = high - low
    return low + size * w.tid // w.threads, low + size * (w.tid + 1) // w.threads


# --- partial sums -------------------------------------------------------------------------------------------------------


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


# --- arrays -------------------------------------------------------------------------------------------------------------


@njit(**OPTIONS)
def fill(w, array, value):
    """Give every entry a value. No barrier: each thread writes its own share."""
    low, high = share(w, 0, array.size)
    for i in range(low, high):
        store(array, i, value)


@njit(**OPTIONS)
def copy_array(w, target, source):
    """Copy an array. No barrier."""
    low, high = share(w, 0, target.size)
    for i in range(low, high):
        store(target, i, load(source, i))


@njit(**OPTIONS)
def copy_members(w, members, width, target, source):
    """Copy the entries of a set's members: what a sparse apply will read."""
    low, high = share(w, 0, load(members.meta, SIZE))
    for i in range(low, high):
        v = np.int64(load(members.ids, i)) * width
        for k in range(width):
            store(target, v + k, load(source, v + k))


@njit(**OPTIONS)
def free_array(pool, used):
    """The first array of a pool whose address is not among `used`."""
    for i in range(len(pool)):
        taken = False
        for a in used:
            taken = taken or a == address(pool[i])
        if not taken:
            return pool[i]
    return pool[0]


# --- vertex sets --------------------------------------------------------------------------------------------------------


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


# --- growing arrays (a thread's own, or used by the first thread): [address, size, capacity] -----------------------------


@njit(**OPTIONS)
def append(w, vectors, at, value):
    """Own: put a value at the end of a growing array."""
    size = load(vectors, at + 1)
    capacity = load(vectors, at + 2)
    if size == capacity:
        capacity = max(np.int64(64), capacity * 2)
        moved = np.int64(reallocate(load(vectors, at), capacity * 8))
        if moved == 0:
            store(w.sync, ERROR, OUT_OF_MEMORY)
            store(w.sync, STOP, 1)
            return
        store(vectors, at, moved)
        store(vectors, at + 2, capacity)
    raw_store(load(vectors, at), size, value)
    store(vectors, at + 1, size + 1)


# --- lists --------------------------------------------------------------------------------------------------------------


class List(NamedTuple):
    """A growing list: `vectors` holds the values (or all sets' members) and, for sets, where each ends."""

    vectors: Any


@njit(**OPTIONS)
def clear_list(w, items):
    """Make a list empty."""
    barrier(w)
    if w.tid == 0:
        store(items.vectors, 1, 0)
        store(items.vectors, 4, 0)
    barrier(w)


@njit(**OPTIONS)
def list_size(items):
    """How many entries a list has."""
    return load(items.vectors, 4)


@njit(**OPTIONS)
def append_set(w, items, members):
    """Put a copy of a set at the end of a list."""
    need_list(w, members)
    barrier(w)
    if w.tid == 0:
        for i in range(load(members.meta, SIZE)):
            append(w, items.vectors, 0, np.int64(load(members.ids, i)))
        append(w, items.vectors, 3, load(items.vectors, 1))
    barrier(w)


@njit(**OPTIONS)
def append_value(w, items, value):
    """Put an int64 (or a float's bits) at the end of a list."""
    barrier(w)
    if w.tid == 0:
        append(w, items.vectors, 0, value)
        append(w, items.vectors, 3, load(items.vectors, 1))
    barrier(w)


@njit(**OPTIONS)
def get_set(w, items, position, members):
    """A copy of the set at a position; the empty set outside the list."""
    count = list_size(items)
    low, high = np.int64(0), np.int64(0)
    if 0 <= position < count:
        ends = load(items.vectors, 3)
        high = raw_load(ends, position)
        low = raw_load(ends, position - 1) if position > 0 else np.int64(0)
    a, b = share(w, low, high)
    values = load(items.vectors, 0)
    for i in range(a, b):
        store(members.ids, i - low, raw_load(values, i))
    barrier(w)
    finish(w, members, high - low, 1, 0, 0)


@njit(**OPTIONS)
def get_value(items, position):
    """The int64 at a position; 0 outside the list."""
    if 0 <= position < list_size(items):
        return raw_load(load(items.vectors, 0), position)
    return np.int64(0)


@njit(**OPTIONS)
def shorten(w, items):
    """Drop the last entry."""
    barrier(w)
    if w.tid == 0 and list_size(items) > 0:
        count = list_size(items) - 1
        store(items.vectors, 4, count)
        store(items.vectors, 1, raw_load(load(items.vectors, 3), count - 1) if count > 0 else np.int64(0))
    barrier(w)


# --- priority queues ----------------------------------------------------------------------------------------------------
#
# Each thread has bins of vertices for the buckets base, base+1, ..., and one for all others. An entry counts if its vertex is
# queued and its priority still is in the bin's bucket; the vertex's flag, cleared by whoever takes it, makes it come once.

CURRENT, HIGHEST, SHIFT, OPEN, LAZY = 0, 1, 2, 3, 4  # words of Queue.meta
BASE, LOWEST, OTHERS_LOWEST, QUEUED, TOUCHED = 0, 1, 2, 3, 4  # words of a thread's row in Queue.own
QUEUE_ROW = 16


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
        b = np.int64(np.floor(priority / load(q.delta, 0)))
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
    low, high = share(w, 0, n)
    for v in range(low, high):
        store(q.flags, v, 0)
        store(q.touched, v, 0)
    barrier(w)
    if everything:
        for v in range(low, high):
            priority = load(q.priority, v)
            if priority != null:
                store(q.flags, v, 1)
                store(q.own, own + QUEUED, load(q.own, own + QUEUED) + 1)
                put_in_bin(w, q, v, bucket(q, priority))
        barrier(w)


@njit(**OPTIONS)
def put_in_bin(w, q, v, b):
    """Own: an entry for a vertex."""
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
    append(w, q.vectors, bin_of(w, q, slot), np.int64(v))


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


# --- reductions into properties -----------------------------------------------------------------------------------------


@njit(**OPTIONS)
def reduce_min(array, at, value):
    """Lower an entry, together with other threads; whether it changed."""
    old = load(array, at)
    while value < old:
        if compare_exchange(array, at, old, value):
            return True
        old = load(array, at)
    return False


@njit(**OPTIONS)
def reduce_max(array, at, value):
    """Raise an entry, together with other threads; whether it changed."""
    old = load(array, at)
    while value > old:
        if compare_exchange(array, at, old, value):
            return True
        old = load(array, at)
    return False


@njit(**OPTIONS)
def reduce_flag(array, at, value):
    """Or into a bool, together with other threads; whether it changed."""
    return value and load(array, at) == 0 and compare_exchange(array, at, 0, 1)


@njit(**OPTIONS)
def reduce_or(array, at, value):
    """Or into an entry, together with other threads; whether it changed."""
    if load(array, at) | value == load(array, at):
        return False
    before = atomic_or(array, at, value)
    return before | value != before


# --- numbers ------------------------------------------------------------------------------------------------------------


@njit(**OPTIONS)
def floor_divide(a, b):
    """Integers, as Python's // but 0 for a division by 0."""
    if b == 0:
        return a - a
    if b == -1:
        return -a
    return a // b


@njit(**OPTIONS)
def modulo(a, b):
    """Integers, as Python's % but 0 for a division by 0."""
    if b == 0 or b == -1:
        return a - a
    return a % b


@njit(**OPTIONS)
def c_divide(a, b):
    """Integers, towards zero; 0 for a division by 0."""
    if b == 0:
        return a - a
    if b == -1:
        return -a
    q = a // b
    if q < 0 and q * b != a:
        q += 1
    return q


@njit(**OPTIONS)
def c_modulo(a, b):
    """Integers: the remainder of `c_divide`."""
    if b == 0 or b == -1:
        return a - a
    return a - c_divide(a, b) * b


@njit(**OPTIONS)
def power(a, b):
    """Integers by squaring, wrapping; 0 for a negative exponent unless the base is 1 or -1."""
    if b < 0:
        if a == 1:
            return a
        if a == -1:
            return a if b & 1 else -a
        return a - a
    result = a - a + 1
    while b > 0:
        if b & 1:
            result = result * a
        a = a * a
        b >>= 1
    return result


@njit(**OPTIONS)
def shift_left(a, b, width):
    """Integers: 0 when everything is shifted out."""
    return a - a if b < 0 or b >= width else a << b


@njit(**OPTIONS)
def shift_right(a, b, width):
    """Integers, keeping the sign."""
    if b < 0 or b >= width:
        b = a - a + width - 1
    return a >> b


@njit(**OPTIONS)
def mix(h, key):
    """One step of splitmix64 over a key."""
    h = h + np.uint64(0x9E3779B97F4A7C15) + key
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(**OPTIONS)
def seconds(w, clock, since):
    """The time, the same in all threads."""
    barrier(w)
    if w.tid == 0:
        read_clock(np.int32(1), clock.ctypes.data)
        now = np.float64(load(clock, 0)) + np.float64(load(clock, 1)) * 1e-9
        store(clock, 2, float_bits(now))
    barrier(w)
    return bits_float(load(clock, 2)) - since


# --- intersections ------------------------------------------------------------------------------------------------------


@njit(**OPTIONS)
def intersect_merge(g, a, b, below):
    """Common out-neighbours with ids below `below`, by walking both lists."""
    i, i1 = np.int64(load(g.offsets, a)), np.int64(load(g.offsets, np.int64(a) + 1))
    j, j1 = np.int64(load(g.offsets, b)), np.int64(load(g.offsets, np.int64(b) + 1))
    count = np.int64(0)
    last = np.int64(-1)
    while i < i1 and j < j1:
        x, y = np.int64(load(g.neighbors, i)), np.int64(load(g.neighbors, j))
        if x >= below or y >= below:
            break
        if x == y and x != last:
            count += 1
            last = x
        i += np.int64(x <= y)
        j += np.int64(y <= x)
    return count


@njit(**OPTIONS)
def first_not_below(g, low, high, x):
    """The first place from `low` whose neighbour is not below x: doubling steps, then halving."""
    step = np.int64(1)
    while low + step < high and np.int64(load(g.neighbors, low + step)) < x:
        low += step
        step *= 2
    high = min(high, low + step + 1)
    while low < high:
        middle = (low + high) >> 1
        if np.int64(load(g.neighbors, middle)) < x:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**OPTIONS)
def intersect_gallop(g, a, b, below):
    """Common out-neighbours, by looking up each of the shorter list in the longer."""
    if load(g.offsets, np.int64(a) + 1) - load(g.offsets, a) > load(g.offsets, np.int64(b) + 1) - load(g.offsets, b):
        a, b = b, a
    j, j1 = np.int64(load(g.offsets, b)), np.int64(load(g.offsets, np.int64(b) + 1))
    count = np.int64(0)
    last = np.int64(-1)
    for i in range(np.int64(load(g.offsets, a)), np.int64(load(g.offsets, np.int64(a) + 1))):
        x = np.int64(load(g.neighbors, i))
        if x >= below or j >= j1:
            break
        if x != last:
            j = first_not_below(g, j, j1, x)
            if j < j1 and np.int64(load(g.neighbors, j)) == x:
                count += 1
            last = x
    return count


@njit(**OPTIONS)
def intersect_adaptive(g, a, b, below):
    """Merge lists of like length, gallop where one is far longer."""
    x = np.int64(load(g.offsets, np.int64(a) + 1)) - np.int64(load(g.offsets, a))
    y = np.int64(load(g.offsets, np.int64(b) + 1)) - np.int64(load(g.offsets, b))
    if x > 16 * y or y > 16 * x:
        return intersect_gallop(g, a, b, below)
    return intersect_merge(g, a, b, below)


@njit(**OPTIONS)
def mark_neighbors(g, bits, owner, a):
    """Own: let a bitmap hold the out-neighbours of `a` (and no longer those of the vertex before)."""
    before = np.int64(load(owner, 0))
    if before == np.int64(a):
        return
    if before >= 0:
        for i in range(np.int64(load(g.offsets, before)), np.int64(load(g.offsets, before + 1))):
            store(bits, np.uint64(load(g.neighbors, i)) >> SIX, ZERO)
    for i in range(np.int64(load(g.offsets, a)), np.int64(load(g.offsets, np.int64(a) + 1))):
        x = np.uint64(load(g.neighbors, i))
        store(bits, x >> SIX, load(bits, x >> SIX) | (ONE << (x & SIXTY_THREE)))
    store(owner, 0, np.int64(a))


@njit(**OPTIONS)
def intersect_bitmap(g, bits, owner, a, b, below):
    """Common out-neighbours, with those of `a` in a thread's bitmap: best when many calls have the same `a`."""
    mark_neighbors(g, bits, owner, a)
    count = np.int64(0)
    last = np.int64(-1)
    for i in range(np.int64(load(g.offsets, b)), np.int64(load(g.offsets, np.int64(b) + 1))):
        x = np.int64(load(g.neighbors, i))
        if x >= below:
            break
        count += np.int64(x != last and has_bit(bits, x))
        last = x
    return count




# --- reductions over all vertices ---------------------------------------------------------------------------------------


@njit(**OPTIONS)
def aggregate_sum(w, array, start):
    """The sum of integers, wrapping."""
    phase = begin(w)
    low, high = share(w, 0, array.size)
    result = np.int64(start)
    for i in range(low, high):
        result += np.int64(load(array, i))
    put_int(w, phase, 0, result)
    barrier(w)
    return total(w, phase, 0)


@njit(**OPTIONS)
def aggregate_sum_float(w, array, start):
    """The sum of floats."""
    phase = begin(w)
    low, high = share(w, 0, array.size)
    result = np.float64(start)
    for i in range(low, high):
        result += load(array, i)
    put_float(w, phase, 0, result)
    barrier(w)
    result = np.float64(0)
    for t in range(w.threads):
        result += get_float(w, phase, 0, t)
    return result


@njit(**OPTIONS)
def aggregate_min(w, array, start):
    """The least integer."""
    phase = begin(w)
    low, high = share(w, 0, array.size)
    result = start
    for i in range(low, high):
        result = min(result, load(array, i))
    put_int(w, phase, 0, result)
    barrier(w)
    least = np.int64(start)
    for t in range(w.threads):
        least = min(least, get_int(w, phase, 0, t))
    return least


@njit(**OPTIONS)
def aggregate_max(w, array, start):
    """The greatest integer."""
    phase = begin(w)
    low, high = share(w, 0, array.size)
    result = start
    for i in range(low, high):
        result = max(result, load(array, i))
    put_int(w, phase, 0, result)
    barrier(w)
    greatest = np.int64(start)
    for t in range(w.threads):
        greatest = max(greatest, get_int(w, phase, 0, t))
    return greatest


@njit(**OPTIONS)
def aggregate_min_float(w, array, start):
    """The least float."""
    phase = begin(w)
    low, high = share(w, 0, array.size)
    result = np.float64(start)
    for i in range(low, high):
        result = min(result, np.float64(load(array, i)))
    put_float(w, phase, 0, result)
    barrier(w)
    result = np.float64(start)
    for t in range(w.threads):
        result = min(result, get_float(w, phase, 0, t))
    return result


@njit(**OPTIONS)
def aggregate_max_float(w, array, start):
    """The greatest float."""
    phase = begin(w)
    low, high = share(w, 0, array.size)
    result = np.float64(start)
    for i in range(low, high):
        result = max(result, np.float64(load(array, i)))
    put_float(w, phase, 0, result)
    barrier(w)
    result = np.float64(start)
    for t in range(w.threads):
        result = max(result, get_float(w, phase, 0, t))
    return result


@njit(**OPTIONS)
def aggregate_or(w, array, start):
    """Whether any bool holds."""
    phase = begin(w)
    low, high = share(w, 0, array.size)
    found = np.int64(start)
    for i in range(low, high):
        found |= np.int64(load(array, i))
    put_int(w, phase, 0, found)
    barrier(w)
    found = np.int64(start)
    for t in range(w.threads):
        found |= get_int(w, phase, 0, t)
    return found


@njit(**OPTIONS)
def degrees(w, array, offsets):
    """Fill an array with the degrees that offsets say. No barrier."""
    low, high = share(w, 0, array.size)
    for v in range(low, high):
        store(array, v, np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v)))


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
def shift_of(delta):
    """The logarithm of a power of two; -1 for other numbers."""
    if delta <= 0 or delta & (delta - 1) != 0:
        return np.int64(-1)
    return np.int64(trailing_zeros(np.uint64(delta)))
