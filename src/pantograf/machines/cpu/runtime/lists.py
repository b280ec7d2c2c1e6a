"""Growing arrays in raw memory, and lists of numbers or of vertex sets made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import load, raw_load, raw_store, reallocate, store
from pantograf.machines.cpu.runtime.sets import SIZE, finish, need_list
from pantograf.machines.cpu.runtime.threads import ERROR, OPTIONS, OUT_OF_MEMORY, STOP, barrier, share


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
