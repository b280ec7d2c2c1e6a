"""How many values two parts of sorted neighbour lists have in common, each counted once, by three methods.

The parts are given by their ends, which the caller has cut where values above a limit start.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import load, store
from pantograf.machines.cpu.runtime.sets import ONE, SIX, SIXTY_THREE, ZERO, has_bit
from pantograf.machines.cpu.runtime.threads import OPTIONS


@njit(**OPTIONS)
def row_start(g, v):
    """Where a vertex's neighbours start."""
    return np.int64(load(g.offsets, v))


@njit(**OPTIONS)
def row_end(g, v):
    """Where they end."""
    return np.int64(load(g.offsets, np.int64(v) + 1))


@njit(**OPTIONS)
def half_start(g, v):
    """Where they start, from where `row_middle` is beside it in memory."""
    return np.int64(load(g.middles, 2 * np.int64(v)))


@njit(**OPTIONS)
def row_middle(g, v):
    """Where those start that are not below the vertex itself."""
    return np.int64(load(g.middles, 2 * np.int64(v) + 1))


@njit(**OPTIONS)
def row_cut(g, v, below):
    """Where those start that are not below a limit."""
    return first_not_below(g.neighbors, row_start(g, v), row_end(g, v), np.int64(below))


@njit(**OPTIONS)
def intersect_merge(g, i, i1, j, j1):
    """By walking both."""
    count = np.int64(0)
    last = np.int64(-1)
    while i < i1 and j < j1:
        x, y = np.int64(load(g.neighbors, i)), np.int64(load(g.neighbors, j))
        if x == y and x != last:
            count += 1
            last = x
        i += np.int64(x <= y)
        j += np.int64(y <= x)
    return count


@njit(**OPTIONS)
def first_not_below(neighbors, low, high, x):
    """The first place from `low` whose neighbour is not below x: doubling steps, then halving."""
    step = np.int64(1)
    while low + step < high and np.int64(load(neighbors, low + step)) < x:
        low += step
        step *= 2
    high = min(high, low + step + 1)
    while low < high:
        middle = (low + high) >> 1
        if np.int64(load(neighbors, middle)) < x:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**OPTIONS)
def intersect_gallop(g, i, i1, j, j1):
    """By looking up each of the shorter in the longer."""
    if i1 - i > j1 - j:
        i, i1, j, j1 = j, j1, i, i1
    count = np.int64(0)
    last = np.int64(-1)
    while i < i1 and j < j1:
        x = np.int64(load(g.neighbors, i))
        if x != last:
            j = first_not_below(g.neighbors, j, j1, x)
            if j < j1 and np.int64(load(g.neighbors, j)) == x:
                count += 1
            last = x
        i += 1
    return count


@njit(**OPTIONS)
def intersect_adaptive(g, i, i1, j, j1):
    """Merge parts of like length, gallop where one is far longer."""
    x, y = i1 - i, j1 - j
    if x > 16 * y or y > 16 * x:
        return intersect_gallop(g, i, i1, j, j1)
    return intersect_merge(g, i, i1, j, j1)


@njit(**OPTIONS)
def mark_neighbors(g, bits, state, a, end):
    """Own: let a bitmap hold the neighbours of `a` up to the place `end` at least (and no longer those of the vertex before)."""
    before, at = load(state, 0), load(state, 1)
    if before != np.int64(a):
        if before >= 0:
            for i in range(row_start(g, before), at):
                store(bits, np.uint64(load(g.neighbors, i)) >> SIX, ZERO)
        at = row_start(g, a)
        store(state, 0, np.int64(a))
        store(state, 1, at)
    if at < end:
        for i in range(at, end):
            x = np.uint64(load(g.neighbors, i))
            store(bits, x >> SIX, load(bits, x >> SIX) | (ONE << (x & SIXTY_THREE)))
        store(state, 1, end)


@njit(**OPTIONS)
def intersect_bitmap(g, bits, state, a, i1, j, j1):
    """With the neighbours of `a` up to the place i1 in a thread's bitmap: best when many calls have the same `a`."""
    mark_neighbors(g, bits, state, a, i1)
    count = np.int64(0)
    last = np.int64(-1)
    for place in range(j, j1):
        x = np.int64(load(g.neighbors, place))
        count += np.int64(has_bit(bits, x)) & np.int64(x != last)
        last = x
    return count
