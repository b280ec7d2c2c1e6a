"""Plain Python threads that run compiled workers. The calling thread only waits, so that Ctrl-C and time limits reach a run."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

REST = 0.001
"""Seconds after which a thread may wake on another core than it slept on."""
_idle: list[Team] = []
_lock = threading.Lock()


def core_count() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Team:
    """Threads that wait for work."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.inbox: list[queue.SimpleQueue[Callable[[], Any]]] = [queue.SimpleQueue() for _ in range(size)]
        self.done: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
        for number in range(size):
            threading.Thread(target=self._serve, args=(number,), daemon=True, name=f"pantograf-{number}").start()

    def _serve(self, number: int) -> None:
        rested = 0.0
        while True:
            work = self.inbox[number].get()
            if time.monotonic() - rested > REST:
                spread(number, self.size)
            try:
                self.done.put((number, work(), None))
            except BaseException as error:  # a worker's failure belongs to the caller
                self.done.put((number, None, error))
            rested = time.monotonic()

    def run(self, work: Callable[[int], Any], stop: Callable[[], None], max_seconds: float | None) -> tuple[Any, bool]:
        """Let every thread do `work(number)`; the first one's answer, and whether the time sufficed."""
        started = time.perf_counter()
        for number in range(self.size):
            self.inbox[number].put(lambda number=number: work(number))  # type: ignore[misc]
        answer, missing, in_time, failure, interrupted = None, self.size, True, None, False
        while missing:
            try:
                left = None if max_seconds is None or not in_time else max_seconds - (time.perf_counter() - started)
                number, value, error = self.done.get(timeout=0.2 if left is None else min(0.2, max(left, 0.0)))
                missing -= 1
                answer = value if number == 0 else answer
                failure = failure or error
                if error is not None:
                    stop()
            except queue.Empty:
                if in_time and max_seconds is not None and time.perf_counter() - started >= max_seconds:
                    in_time = False
                    stop()
            except KeyboardInterrupt:
                interrupted = True
                stop()
        if interrupted:
            raise KeyboardInterrupt
        if failure is not None:
            raise failure
        return answer, in_time


def spread(number: int, size: int) -> None:
    """Move this thread to a core of its own, which it may leave again: two that wake on one core would wait for each other."""
    if 1 < size <= core_count() and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError, IndexError):  # where it is forbidden, threads stay where they woke
            cores = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {sorted(cores)[number]})
            os.sched_setaffinity(0, cores)


def borrow(size: int) -> Team:
    """A team of that size that nobody else is using."""
    with _lock:
        for i, team in enumerate(_idle):
            if team.size == size:
                return _idle.pop(i)
    return Team(size)


def give_back(team: Team) -> None:
    """Let others use a team."""
    with _lock:
        _idle.append(team)


def _forget() -> None:
    """After a fork the threads are gone."""
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
