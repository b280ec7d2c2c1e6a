"""Common out-neighbours of two vertices, by three methods."""

from __future__ import annotations

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import load, store
from pantograf.machines.cpu.runtime.sets import ONE, SIX, SIXTY_THREE, ZERO, has_bit
from pantograf.machines.cpu.runtime.threads import OPTIONS


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
