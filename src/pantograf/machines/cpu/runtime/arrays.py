"""Properties as arrays: filling, copying, and reductions into one entry or over all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import address, atomic_or, compare_exchange, load, store
from pantograf.machines.cpu.runtime.threads import (
    OPTIONS,
    barrier,
    begin,
    get_float,
    get_int,
    put_float,
    put_int,
    share,
    total,
)


class Csr(NamedTuple):
    """A graph: out-edges; if something asks for that, where each row starts and where in it the neighbours from the vertex's own
    number on do; and, if something pulls, in-edges."""

    offsets: Any
    neighbors: Any
    weights: Any
    middles: Any
    in_offsets: Any
    in_neighbors: Any
    in_weights: Any


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
def free_array(pool, held):
    """The place in a pool of the first array whose address is not among `held`."""
    for i in range(len(pool)):
        taken = False
        for a in held:
            taken = taken or a == address(pool[i])
        if not taken:
            return i
    return 0


@njit(**OPTIONS)
def degrees(w, array, offsets):
    """Fill an array with the degrees that offsets say. No barrier."""
    low, high = share(w, 0, array.size)
    for v in range(low, high):
        store(array, v, np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v)))


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
