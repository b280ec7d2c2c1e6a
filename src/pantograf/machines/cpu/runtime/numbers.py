"""Integer arithmetic with the meaning that GraphIR gives it, seeded random numbers, and the clock."""

from __future__ import annotations

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import bits_float, float_bits, load, read_clock, store, trailing_zeros
from pantograf.machines.cpu.runtime.threads import OPTIONS, barrier

SPENT = 3  # where the nanoseconds of each place start, after the two words of the clock and the time noted last


@njit(**OPTIONS)
def floor_divide(a, b):
    """Integers, as Python's // but 0 for a division by 0."""
    if b == 0:
        return a - a
    if b == -1:
        return a - a - a
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
        return a - a - a
    q = a // b
    return q + type(a)(1) if q < 0 and q * b != a else q


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
    result = type(a)(1)
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
    """Integers, keeping the sign: it is all that is left when everything is shifted out."""
    if b < 0 or b >= width:
        return (a >> (width - 1)) >> 1
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


@njit(**OPTIONS)
def note_time(w, profile, place):
    """By the first thread: the time since this was called before was spent on what has this place."""
    if w.tid == 0:
        read_clock(np.int32(1), profile.ctypes.data)
        now = load(profile, 0) * np.int64(1000000000) + load(profile, 1)
        if load(profile, 2) != 0:
            store(profile, SPENT + place, load(profile, SPENT + place) + now - load(profile, 2))
        store(profile, 2, now)


@njit(**OPTIONS)
def shift_of(delta):
    """The logarithm of a power of two; -1 for other numbers."""
    if delta <= 0 or delta & (delta - 1) != 0:
        return np.int64(-1)
    return np.int64(trailing_zeros(np.uint64(delta)))
