"""The memory of one call of an emitted program: what threads share, made once and kept for the next call."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pantograf.errors import UserError
from pantograf.ir import graph as g
from pantograf.ir.location import place_of
from pantograf.machine import Limits

if TYPE_CHECKING:
    from pantograf.machines.cpu.machine import CpuRunnable
    from pantograf.machines.cpu.plan import Need

MOST_KEPT = 4
"""Results whose memory is kept for the next ones."""
_libc = ctypes.CDLL(None)
_libc.free.argtypes = [ctypes.c_void_p]


class Scratch:
    """The memory of one call at a time: what threads share, and everything that the plan needs."""

    def __init__(self, runnable: CpuRunnable) -> None:
        from pantograf.machines.cpu import runtime

        self.runnable = runnable
        self.n = runnable.graph.n
        self.ids = np.int64 if runnable.wide else np.int32
        self.runtime = runtime
        threads = runnable.threads
        self.knobs = np.array(runnable.plan.knobs, np.int64)
        self.vectors: list[Any] = []
        self.queues: list[Any] = []
        self.teams = [self._team(threads)] + [self._team(1) for _ in range(threads if self._nests() else 0)]
        self.workers = [self._worker(self.teams[0], t, threads) for t in range(threads)]
        self.inner = tuple(self._worker(team, 0, 1) for team in self.teams[1:])
        self.held: dict[str, Any] = {}
        self.records: dict[tuple[str, ...], Any] = {}
        self.given: list[Any] = []

    @staticmethod
    def estimate(runnable: CpuRunnable) -> int:
        """About how many bytes a run holds at once, beside the graph that is there."""
        threads, ids = runnable.threads, 8 if runnable.wide else 4
        each = 0
        for need in runnable.plan.needs.values():
            match need.kind:
                case "array" | "pool":
                    bytes_here = need.width * np.dtype(need.dtype).itemsize * need.count
                case "sets":
                    bytes_here = (ids + 1) * need.count
                case "ids":
                    bytes_here = ids
                case "queue":
                    bytes_here = ids + 5 * need.width
                case "stamps":
                    bytes_here = 8 * need.width
                case _:
                    continue
            each += bytes_here * (threads if need.per_thread else 1)
        graph = runnable.graph
        turned = bool(runnable.plan.pulls) and not graph.symmetric
        return graph.n * each + (sum(a.nbytes for a in graph.rows if a is not None) if turned else 0)

    def _nests(self) -> bool:
        return any(need.kind == "members" for need in self.runnable.plan.needs.values())

    def _team(self, threads: int) -> tuple[Any, ...]:
        r = self.runtime
        return (
            np.zeros(r.SYNC_WORDS, np.int64),
            np.zeros(threads * r.OWN_WORDS, np.int64),
            np.zeros(threads * r.PARTIALS, np.float64),
            np.zeros(threads * r.PARTIALS, np.int64),
            np.zeros(threads * r.ROW, self.ids),
        )

    def _worker(self, team: tuple[Any, ...], number: int, threads: int) -> Any:
        sync, own, floats, ints, buffer = team
        return self.runtime.Worker(number, threads, sync, own, floats, ints, buffer, self.knobs)

    # --- what the plan needs

    def arguments(self, given: Mapping[str, Any]) -> list[Any]:
        """The worker's arguments, in order."""
        return [self.argument(name, need, given) for name, need in self.runnable.plan.needs.items()]

    def argument(self, name: str, need: Need, given: Mapping[str, Any]) -> Any:
        """One of them: made once and kept, unless it is the user's or was given away as a result."""
        if need.kind == "argument":
            return self.scalar(need, given[need.source])
        if need.kind == "graph":
            return self.runnable.csr(need)
        if need.kind == "segments":
            return self.runnable.segments(need)
        if need.kind == "members":
            return self.inner
        if name not in self.held:
            copies = self.runnable.threads if need.per_thread else 1
            made = [self.make(name, need) for _ in range(copies)]
            self.held[name] = tuple(made) if need.per_thread else made[0]
        if need.kind == "array" and need.source and given[need.source] is not None:
            flat = np.ascontiguousarray(given[need.source]).reshape(-1)
            self.held[name][:] = flat
        return self.held[name]

    def scalar(self, need: Need, value: Any) -> Any:
        """An argument in exactly its type."""
        if need.dtype == "ids":
            return np.zeros(0, np.int64) if value is None else np.ascontiguousarray(value, np.int64)
        if need.dtype == "bool":
            return bool(value)
        return np.dtype(g.DTYPES[need.dtype]).type(0 if value is None else value)

    def make(self, name: str, need: Need) -> Any:
        """New memory for something that the plan needs."""
        r, n = self.runtime, self.n
        match need.kind:
            case "array" if need.record:
                return self.field(name, need)
            case "array":
                found = self.given_back(n * need.width, need.dtype)
                return room(n * need.width, need.dtype) if found is None else found
            case "pool":
                return tuple(room(n * need.width, need.dtype) for _ in range(need.count))
            case "ids":
                return room(n, self.ids)
            case "sets":
                return tuple(self.vertex_set(i) for i in range(need.count))
            case "marks":
                return tuple(self.marks() for _ in range(self.runnable.threads))
            case "list":
                vectors = np.zeros(6, np.int64)
                self.vectors.append(vectors)
                return r.List(vectors)
            case "clock":
                return np.zeros(4, np.int64)
            case "profile":
                return np.zeros(r.SPENT + len(self.runnable.plan.profiled or ()), np.int64)
            case "stamps":
                return np.zeros(n * need.width, np.int64)
            case "queue":
                return self.queue(need)
        raise AssertionError(need.kind)

    def given_back(self, size: int, dtype: str) -> Any:
        """An array that was given away as a result and that nobody has any more: its pages are there already."""
        for i, array in enumerate(self.given):
            if array.size == size and array.dtype == dtype:
                return self.given.pop(i)
        return None

    def field(self, name: str, need: Need) -> Any:
        """One property of a record: a strided view of memory that the record's properties share."""
        fields = {n: x.dtype for n, x in self.runnable.plan.needs.items() if x.record == need.record}
        if need.record not in self.records:
            kind = np.dtype({"names": list(fields), "formats": list(fields.values())}, align=True)
            self.records[need.record] = room(self.n, kind)
        return self.records[need.record][name]

    def vertex_set(self, index: int) -> Any:
        """An empty buffer for a set."""
        meta = np.zeros(8, np.int64)
        meta[self.runtime.INDEX] = index
        bools = room(self.n if ".bools" in self.runnable.plan.text else 0, "uint8")
        return self.runtime.Set(room(self.n, self.ids), np.zeros((self.n + 63) // 64, np.uint64), bools, meta)

    def marks(self) -> Any:
        """A thread's bitmap for intersections; `meta` says whose neighbours it holds, and up to which."""
        bits = np.zeros((self.n + 63) // 64, np.uint64)
        return self.runtime.Set(room(0, self.ids), bits, room(0, "uint8"), np.full(2, -1, np.int64))

    def queue(self, need: Need) -> Any:
        """The bins of a priority queue."""
        r, threads = self.runtime, 1 if need.per_thread else self.runnable.threads
        vectors = np.zeros(threads * (need.count + 2) * 3, np.int64)
        self.vectors.append(vectors)
        meta = np.zeros(8, np.int64)
        meta[r.OPEN] = need.count
        own = np.zeros(threads * r.QUEUE_ROW, np.int64)
        flags, touched = room(self.n * need.width, "uint8"), room(self.n * need.width, "uint32")
        return r.Queue(room(0, need.dtype), np.zeros(1, need.dtype), flags, touched, vectors, own, meta)

    # --- a run

    def start(self, given: Mapping[str, Any], limits: Limits) -> list[Any]:
        """Everything as it must be before a run; the worker's arguments."""
        for team in self.teams:
            for array in team[:4]:
                array[:] = 0
        self.knobs[1] = self.n
        self.knobs[0] = np.iinfo(np.int64).max if limits.rounds is None else limits.rounds
        for name, need in self.runnable.plan.needs.items():
            if name in self.held and need.kind in ("marks", "stamps", "profile"):
                self.forget(self.held[name])
        return self.arguments(given)

    def forget(self, kept: Any) -> None:
        """Bring the marks of intersections, or stamps, to their first state."""
        for each in kept if type(kept) is tuple else (kept,):
            if type(each) is tuple:
                self.forget(each)
            elif isinstance(each, self.runtime.Set):
                each.bits[:] = 0
                each.meta[:] = -1
            else:
                each[:] = 0

    def stop(self) -> None:
        """Let the run end at its next barrier."""
        for team in self.teams:
            team[0][self.runtime.STOP] = 1

    def complain(self) -> None:
        """Raise what went wrong inside of compiled code."""
        r = self.runtime
        for team in self.teams:
            sync = team[0]
            error = int(sync[r.ERROR])
            if error == r.OUT_OF_MEMORY:
                raise UserError("there was not enough memory for this run", hint="fewer threads, or a smaller graph")
            if error:
                op, hint = self.runnable.plan.sites[int(sync[r.SITE])]
                place = place_of(op)
                if error == r.OUT_OF_RANGE:
                    found = int(sync[r.DETAIL])
                    shown = "none" if found == -1 else str(found)
                    raise UserError(f"the index {shown} is out of range here", place, hint.format(last=self.n - 1))
                if error == r.NOT_ABOVE_ZERO:
                    raise UserError(f"delta is {int(sync[r.DETAIL])}", place, hint)
                raise UserError("an integer overflows here", place, hint)

    def cut(self) -> bool:
        """Whether the limit on turns ended a loop."""
        return any(bool(team[1][self.runtime.CUT]) for team in self.teams)

    def stats(self) -> dict[str, int | float | str | bool]:
        """What was counted."""
        r = self.runtime
        rows = np.concatenate([team[1].reshape(-1, r.OWN_WORDS) for team in self.teams])
        races = {"races": int(rows[:, r.RACES].sum())} if self.runnable.machine.check else {}
        spent = {}
        for name, need in self.runnable.plan.needs.items():
            if need.kind == "profile":
                nanoseconds = self.held[name][r.SPENT :]
                labels = self.runnable.plan.profiled or ()
                spent = {f"seconds.{label}": int(t) / 1e9 for label, t in zip(labels, nanoseconds, strict=True)}
        return {
            **races,
            **spent,
            "rounds": int(self.teams[0][1][r.ROUNDS]),
            "edges_processed": int(rows[:, r.EDGES].sum()),
            "vertices_processed": int(rows[:, r.VERTICES].sum()),
        }

    def results(self, answer: Any) -> dict[str, Any]:
        """The worker's answer under the program's names."""
        found: dict[str, Any] = {}
        given: dict[int, Any] = {}
        for value, (name, kind, width) in zip(answer or (), self.runnable.plan.results, strict=True):
            if kind in ("array", "bools"):
                found[name] = self.give(value, kind, width, given)
            elif kind == "set":
                found[name] = self.members(value)
            else:
                found[name] = value
        return found

    def members(self, index: int) -> Any:
        """A vertex set as sorted ids; the one without a buffer holds all vertices."""
        if index < 0:
            return np.arange(self.n, dtype=np.int64)
        found = self.held["sets"][index]
        return np.unique(found.ids[: found.meta[self.runtime.SIZE]]).astype(np.int64)

    def give(self, address: int, kind: str, width: int, given: dict[int, Any]) -> Any:
        """A property as the user's own array: the memory that held it, which is replaced at the next run."""
        if address in given:
            array = given[address].copy()
        else:
            array = self.release(address)
            given[address] = array
        array = array.view(np.bool_) if kind == "bools" else array
        return array.reshape(self.n, -width) if width < 0 else array

    def release(self, address: int) -> Any:
        """The array at an address, no longer held; a copy where it is one of a pool."""
        for name, kept in self.held.items():
            if isinstance(kept, np.ndarray) and kept.ctypes.data == address:
                if self.runnable.plan.needs[name].record:
                    return kept.copy()
                return np.asarray(Lent(self.held.pop(name), self.given))
            if isinstance(kept, tuple):
                for each in kept:
                    if isinstance(each, np.ndarray) and each.ctypes.data == address:
                        return each.copy()
        raise AssertionError("the worker returned an array that nobody made")

    def free(self) -> None:
        """Give the growing arrays back."""
        for vectors in self.vectors:
            for i in range(0, len(vectors), 3):
                if vectors[i]:
                    _libc.free(int(vectors[i]))
                    vectors[i : i + 3] = 0

    def __del__(self) -> None:
        try:
            self.free()
        except (AttributeError, TypeError):  # at the interpreter's end
            return


class Lent:
    """The memory of a result, which comes back to where it was made when nobody looks at it any more."""

    def __init__(self, memory: Any, home: list[Any]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self.memory, self.home = memory, home

    def __del__(self) -> None:
        if len(self.home) < MOST_KEPT:
            self.home.append(self.memory)


def room(size: int, dtype: Any) -> Any:
    """Uninitialised memory; at least one cache line, so that a read at 0 is safe."""
    return np.empty(size + 64, dtype)[:size]
