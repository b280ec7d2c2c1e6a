"""What the machine's memory allows: bytes read in sequence and values gathered at random, by all threads at once."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from pantograf.machines.cpu import pool
from pantograf.machines.cpu.intrinsics import load, prefetch

if TYPE_CHECKING:
    from pantograf.graphs import Graph

OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy"}
STREAMED_BYTES = 1 << 28
GATHERS = 1 << 23
AHEAD = 32
REPEATS = 7


class Limits(NamedTuple):
    """The best of several runs each, with as many threads as the programs have."""

    threads: int
    stream_bytes_per_second: float
    gathers_per_second: float
    gathers_ahead_per_second: float
    """With the memory of the next ones asked for."""
    gathered_bytes: int
    """How large the array is that was gathered from."""

    def round_seconds(self, graph: Graph, value_bytes: int) -> float:
        """The least that a round over all edges can take: the rows and each vertex's old and new value in sequence, and then a
        gather for each edge."""
        streamed = graph.m * graph.neighbors.itemsize + graph.n * (graph.offsets.itemsize + 2 * value_bytes)
        return streamed / self.stream_bytes_per_second + graph.m / max(
            self.gathers_per_second, self.gathers_ahead_per_second
        )


@njit(fastmath=True, **OPTIONS)
def stream(values, low, high):
    """The sum of a part."""
    total = 0
    for i in range(low, high):
        total += load(values, i)
    return total


@njit(**OPTIONS)
def place(k, mask):
    """A number that looks random, from its position: no index is read from memory."""
    x = np.uint64(k) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((x ^ (x >> np.uint64(29))) >> np.uint64(16)) & mask


@njit(**OPTIONS)
def gather(values, low, high):
    """The sum of values from anywhere; the array has a power of two of them."""
    total, mask = values[0] * 0, np.int64(values.size - 1)
    for k in range(low, high):
        total += load(values, place(k, mask))
    return total


@njit(**OPTIONS)
def gather_ahead(values, low, high):
    """The same, with the memory asked for before."""
    total, mask = values[0] * 0, np.int64(values.size - 1)
    for k in range(low, high):
        prefetch(values, place(k + AHEAD, mask))
        total += load(values, place(k, mask))
    return total


def quickest(function: Any, values: Any, count: int, threads: int) -> float:
    """The least seconds in which all threads together do `count` steps."""

    def work(number: int) -> Any:
        return function(values, count * number // threads, count * (number + 1) // threads)

    function(values, 0, 1)
    team = pool.borrow(threads)
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        team.run(work, lambda: None, None)
        times.append(time.perf_counter() - started)
    pool.give_back(team)
    return min(times)


def measure(vertices: int, value_bytes: int, threads: int) -> Limits:
    """The limits for a property of as many vertices, up to the next power of two."""
    words = np.ones(STREAMED_BYTES // 8, np.int64)
    streamed = STREAMED_BYTES / quickest(stream, words, words.size, threads)
    del words
    values = np.ones(1 << max(vertices - 1, 1).bit_length(), {4: np.float32, 8: np.float64}[value_bytes])
    plain, ahead = (GATHERS / quickest(function, values, GATHERS, threads) for function in (gather, gather_ahead))
    return Limits(threads, streamed, plain, ahead, values.nbytes)


def round_of(executable: Any, arguments: dict[str, Any], trials: int = REPEATS) -> tuple[float, int]:
    """The seconds of one round of a program that runs in rounds until a tolerance, and how many rounds it runs.

    Half of the rounds are taken from all of them, so that what is done once is not counted.
    """
    whole, half, rounds = [], [], 0
    for _ in range(trials):
        started = time.perf_counter()
        found = executable(**arguments)
        whole.append(time.perf_counter() - started)
        rounds = int(found.stats["rounds"])
        started = time.perf_counter()
        executable(**arguments, max_rounds=max(rounds // 2, 1))
        half.append(time.perf_counter() - started)
    counted = rounds - max(rounds // 2, 1)
    if counted < 1:
        return statistics.median(whole) / max(rounds, 1), rounds
    return (statistics.median(whole) - statistics.median(half)) / counted, rounds
