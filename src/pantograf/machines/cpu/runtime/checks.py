"""What compiled code calls that may complain (the first complaint stops the run and is raised when all threads have met), and on a
deterministic machine: which of several writes of one apply stays."""

from __future__ import annotations

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import compare_exchange, load, store
from pantograf.machines.cpu.runtime.threads import (
    DETAIL,
    EPOCH,
    ERROR,
    NOT_ABOVE_ZERO,
    OPTIONS,
    OUT_OF_RANGE,
    OVERFLOW,
    OWN_WORDS,
    RACES,
    SITE,
    STOP,
)


@njit(**OPTIONS)
def complain(w, error, site, detail):
    """Own: note the first complaint of a run."""
    if compare_exchange(w.sync, ERROR, 0, error):
        store(w.sync, SITE, site)
        store(w.sync, DETAIL, detail)
    store(w.sync, STOP, 1)


@njit(**OPTIONS)
def inside(w, index, size, site):
    """Own: an index that is in range; otherwise a complaint, and 0 (where there always is memory)."""
    if np.uint64(np.int64(index)) >= np.uint64(size):  # below 0 is far above
        complain(w, OUT_OF_RANGE, site, np.int64(index))
        return np.int64(0)
    return np.int64(index)


@njit(**OPTIONS)
def above_zero(w, value, site):
    """Own: a value above 0; otherwise a complaint, and 1."""
    if value > 0:
        return value
    complain(w, NOT_ABOVE_ZERO, site, np.int64(value))
    return type(value)(1)


@njit(**OPTIONS)
def fits(w, exact, low, high, infinite, site):
    """Own: complain about a result that its type cannot hold (unless it is inf)."""
    if (exact < low or exact > high) and not infinite:
        complain(w, OVERFLOW, site, np.int64(0))


@njit(**OPTIONS)
def new_stamp(w):
    """Own: a number that this apply has to itself among all of a run, the same in all threads, never 0."""
    return load(w.own, w.tid * OWN_WORDS + EPOCH) + 1


@njit(**OPTIONS)
def first_write(written, at, stamp):
    """Own: note a write; whether it is the first of this apply at its place."""
    first = load(written, at) != stamp
    store(written, at, stamp)
    return first


@njit(**OPTIONS)
def comes_before(value, old):
    """Whether `value` is the smaller of two racing writes; nan is the largest."""
    return value < old or old != old


@njit(**OPTIONS)
def note_race(w, written, at, stamp, differs):
    """Own: count a plain write that takes the place of another value written in the same apply."""
    own = w.tid * OWN_WORDS
    if not first_write(written, at, stamp) and differs:
        store(w.own, own + RACES, load(w.own, own + RACES) + 1)
