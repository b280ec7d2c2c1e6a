"""The CPU as a machine: lower, emit, compile once, and run with memory that is kept between calls."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pantograf.errors import Refused, UserError
from pantograf.machine import Limits, Outcome, read_schedules
from pantograf.machines.cpu import cache, pool
from pantograf.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.dialects.builtin import ModuleOp

    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.machines.cpu.driver import Need, Plan

_libc = ctypes.CDLL(None)
_libc.free.argtypes = [ctypes.c_void_p]


@dataclass(frozen=True)
class Cpu:
    """Compiled, parallel code on the cores of this computer.

    threads        how many; none: all cores that this process may use
    deterministic  of racing plain writes the smallest stays, and sums of floats are made in one order
    check          say where an index is out of range or an integer overflows, instead of going on
    """

    spec_name: ClassVar[str] = "cpu"
    threads: int | None = None
    deterministic: bool = False
    check: bool = False

    def __post_init__(self) -> None:
        """Refuse a number of threads that cannot be."""
        if self.threads is not None and not 1 <= self.threads <= 1024:
            raise UserError(f"cpu.threads cannot be {self.threads}", hint="from 1 to 1024, or none for all cores")

    @property
    def thread_count(self) -> int:
        """How many threads a run has."""
        return self.threads or pool.core_count()

    def schedules(self) -> Mapping[str, type[Schedule]]:
        """One class, for all labels."""
        from pantograf.machines.cpu.schedule import Traverse

        return {Traverse.spec_name: Traverse}

    def stages(self) -> tuple[str, ...]:
        """Beside `ir`: after the passes, and as Python."""
        return ("scheduled", "source")

    def lowered(self, program: Program) -> ModuleOp:
        """The program's GraphIR after all passes."""
        from pantograf.machines.cpu.lower import lower

        return lower(program.module, read_schedules(self, program.schedules), self.deterministic)

    def refuses(self, program: Program) -> Refused | None:
        """What the compiled machine cannot do, with the line."""
        from pantograf.machines.cpu.refusals import find_refusal

        try:
            return find_refusal(self.lowered(program), self.deterministic)
        except Refused as refusal:
            return refusal

    def plan(self, program: Program, wide: bool) -> Plan:
        """The emitted program."""
        from pantograf.machines.cpu.driver import emit
        from pantograf.machines.cpu.lower import CpuQuery

        return emit(self.lowered(program), CpuQuery(self.deterministic), wide, self.check)

    def show(self, program: Program, graph: Graph | None, stage: str) -> str:
        """One of the stages as text."""
        if stage == "scheduled":
            from pantograf.ir.text import print_module

            return print_module(self.lowered(program))
        return self.plan(program, graph is not None and graph.neighbors.dtype.itemsize == 8).text

    def explain(self, program: Program, graph: Graph) -> list[str]:
        """Why each part runs as it does."""
        from pantograf.machines.cpu.explain import explain

        return explain(self, program, graph)

    def compile(self, program: Program, graph: Graph) -> CpuRunnable:
        """Emit, compile or find the compiled code, and make room."""
        return CpuRunnable(self, program, graph)


class CpuRunnable:
    """An emitted program with its graph. Calls at once from several threads each have memory of their own."""

    def __init__(self, machine: Cpu, program: Program, graph: Graph) -> None:
        self.machine = machine
        self.graph = graph
        self.wide = graph.neighbors.dtype.itemsize == 8
        self.plan = machine.plan(program, self.wide)
        self.threads = machine.thread_count
        self.weight = weight_dtype(program)
        self._forms: dict[str, Any] = {}
        self._free: list[Scratch] = []
        self._lock = threading.Lock()
        module, _ = cache.load(self.plan.text, program.externs)
        self.worker = module.worker
        with self.scratch() as scratch:
            self._prepare(scratch)

    def _prepare(self, scratch: Scratch) -> None:
        """Compile, or load what was compiled before."""
        import numba

        arguments = scratch.arguments({name: None for name in self.argument_kinds()})
        signature = tuple(numba.typeof(a) for a in (scratch.workers[0], *arguments))
        misses = sum(self.worker.stats.cache_misses.values())
        self.worker.compile(signature)
        if sum(self.worker.stats.cache_misses.values()) > misses:
            cache.count_compilation()

    def argument_kinds(self) -> dict[str, str]:
        """The program's arguments that the worker takes, with their types."""
        return {n.source: n.dtype for n in self.plan.needs.values() if n.kind == "argument" or (n.kind == "array" and n.source)}

    @contextmanager
    def scratch(self) -> Iterator[Scratch]:
        """Memory for one call."""
        with self._lock:
            found = self._free.pop() if self._free else None
        if found is None:
            found = Scratch(self)
        try:
            yield found
        except BaseException:
            found.free()
            raise
        with self._lock:
            self._free.append(found)

    def form(self, made: str) -> Graph:
        """The graph, transposed (`t`) or relabelled (`r`) as often as the text says."""
        graph = self.graph
        for step in made:
            graph = graph.transposed() if step == "t" else graph.relabeled_by_degree()
        return graph

    def csr(self, name: str, need: Need) -> Any:
        """A form of the graph as compiled code takes it."""
        from pantograf.machines.cpu.runtime import Csr

        key = f"{need.source}:{name in self.plan.pulls or need.kind == 'segments'}"
        if key not in self._forms:
            graph = self.form(need.source)
            ids = np.int64 if self.wide else np.int32
            inward = (np.zeros(0, np.int64), np.zeros(0, ids), np.zeros(0, self.weight))
            if name in self.plan.pulls or need.kind == "segments":
                inward = self.arrays(graph.transposed())
            self._forms[key] = Csr(*self.arrays(graph), *inward)
        return self._forms[key]

    def arrays(self, graph: Graph) -> tuple[Any, Any, Any]:
        """Offsets, neighbours and weights of the declared type."""
        weights = np.zeros(0, self.weight) if graph.weights is None else converted(graph, self.weight)
        return opened(graph.offsets), opened(graph.neighbors), opened(weights)

    def segments(self, name: str, need: Need) -> tuple[Any, ...]:
        """The in-edges of a graph in parts by source."""
        key = f"segments:{need.source}:{need.count}"
        if key not in self._forms:
            whole = self.csr(name, need)
            n = len(whole.offsets) - 1
            cuts = [n * i // need.count for i in range(need.count + 1)]
            parts = []
            for low, high in zip(cuts, cuts[1:], strict=False):
                inside = (whole.in_neighbors >= low) & (whole.in_neighbors < high)
                before = np.concatenate([[0], np.cumsum(inside)]).astype(np.int64)
                weights = whole.in_weights[inside] if len(whole.in_weights) else whole.in_weights
                empty = whole._replace(in_offsets=before[whole.in_offsets], in_neighbors=whole.in_neighbors[inside])
                parts.append(empty._replace(in_weights=weights))
            self._forms[key] = tuple(parts)
        return self._forms[key]  # type: ignore[no-any-return]

    def run(self, arguments: Mapping[str, Any], limits: Limits) -> Outcome:
        """Run once."""
        with self.scratch() as scratch:
            values = scratch.start(arguments, limits)
            team = pool.borrow(self.threads)
            try:
                work = _Work(self.worker, scratch.workers, values)
                answer, in_time = team.run(work, scratch.stop, limits.seconds)
            finally:
                pool.give_back(team)
            scratch.complain()
            outcome = Outcome(scratch.results(answer), scratch.stats())
            completed = in_time and not scratch.stopped_early(limits)
            outcome.stats["completed"] = completed
            return outcome


class _Work:
    """What each thread does: call the worker with its own first argument."""

    def __init__(self, worker: Callable[..., Any], workers: list[Any], values: list[Any]) -> None:
        self.worker, self.workers, self.values = worker, workers, values

    def __call__(self, number: int) -> Any:
        return self.worker(self.workers[number], *self.values)


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
        return self.runtime.Worker(number, threads, *team, self.knobs)

    # --- what the plan needs

    def arguments(self, given: Mapping[str, Any]) -> list[Any]:
        """The worker's arguments, in order."""
        return [self.argument(name, need, given) for name, need in self.runnable.plan.needs.items()]

    def argument(self, name: str, need: Need, given: Mapping[str, Any]) -> Any:
        """One of them: made once and kept, unless it is the user's or was given away as a result."""
        if need.kind == "argument":
            return self.scalar(need, given[need.source])
        if need.kind == "graph":
            return self.runnable.csr(name, need)
        if need.kind == "segments":
            return self.runnable.segments(name, need)
        if need.kind == "members":
            return self.inner
        if name not in self.held:
            copies = self.runnable.threads if need.per_thread else 1
            made = [self.make(need) for _ in range(copies)]
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
        kind = {"i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64, "f32": np.float32, "f64": np.float64}
        return kind[need.dtype](0 if value is None else value)

    def make(self, need: Need) -> Any:
        """New memory for something that the plan needs."""
        r, n = self.runtime, self.n
        match need.kind:
            case "array":
                return room(n * need.width, need.dtype)
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
            case "queue":
                return self.queue(need)
        raise AssertionError(need.kind)

    def vertex_set(self, index: int) -> Any:
        """An empty buffer for a set."""
        meta = np.zeros(8, np.int64)
        meta[self.runtime.INDEX] = index
        bools = room(self.n, "uint8") if "boolmap" in self.runnable.plan.text or ".bools" in self.runnable.plan.text else room(0, "uint8")
        return self.runtime.Set(room(self.n, self.ids), np.zeros((self.n + 63) // 64, np.uint64), bools, meta)

    def marks(self) -> Any:
        """A thread's bitmap for intersections; `meta` says whose neighbours it holds."""
        bits = np.zeros((self.n + 63) // 64, np.uint64)
        return self.runtime.Set(room(0, self.ids), bits, room(0, "uint8"), np.full(1, -1, np.int64))

    def queue(self, need: Need) -> Any:
        """The bins of a priority queue."""
        r, threads = self.runtime, 1 if need.per_thread else self.runnable.threads
        vectors = np.zeros(threads * (need.count + 2) * 3, np.int64)
        self.vectors.append(vectors)
        meta = np.zeros(8, np.int64)
        meta[r.OPEN] = need.count
        own = np.zeros(threads * r.QUEUE_ROW, np.int64)
        flags, touched = room(self.n, "uint8"), room(self.n, "uint32")
        return r.Queue(room(0, need.dtype), np.zeros(1, need.dtype), flags, touched, vectors, own, meta)

    # --- a run

    def start(self, given: Mapping[str, Any], limits: Limits) -> list[Any]:
        """Everything as it must be before a run; the worker's arguments."""
        for team in self.teams:
            for array in team[:4]:
                array[:] = 0
        self.knobs[0] = np.iinfo(np.int64).max if limits.rounds is None else limits.rounds
        for marks in self.held.values():
            if isinstance(marks, tuple) and marks and isinstance(marks[0], self.runtime.Set) and len(marks[0].meta) == 1:
                for each in marks:
                    each.bits[:] = 0
                    each.meta[:] = -1
        return self.arguments(given)

    def stop(self) -> None:
        """Let the run end at its next barrier."""
        for team in self.teams:
            team[0][self.runtime.STOP] = 1

    def complain(self) -> None:
        """Raise what went wrong inside of compiled code."""
        for team in self.teams:
            if team[0][self.runtime.ERROR] == self.runtime.OUT_OF_MEMORY:
                raise UserError("there was not enough memory for this run", hint="fewer threads, or a smaller graph")

    def stopped_early(self, limits: Limits) -> bool:
        """Whether the limit on turns ended a loop."""
        r = self.runtime
        rounds = int(self.teams[0][1][r.ROUNDS])
        return limits.rounds is not None and rounds >= limits.rounds and bool(self.teams[0][1][r.COUNT])

    def stats(self) -> dict[str, int | float | str | bool]:
        """What was counted."""
        r = self.runtime
        rows = np.concatenate([team[1].reshape(-1, r.OWN_WORDS) for team in self.teams])
        return {
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
                size = self.n if value is None else int(value.meta[self.runtime.SIZE])
                ids = np.arange(size) if value is None else np.unique(value.ids[:size])
                found[name] = ids.astype(np.int64)
            elif kind.startswith("list:"):
                found[name] = self.items(value, kind.removeprefix("list:"))
            else:
                found[name] = value
        return found

    def give(self, value: Any, kind: str, width: int, given: dict[int, Any]) -> Any:
        """A property as the user's own array: the memory that held it, which is replaced at the next run."""
        address = value.ctypes.data
        if address in given:
            array = given[address].copy()
        else:
            array = None
            for name, kept in list(self.held.items()):
                if isinstance(kept, np.ndarray) and kept.ctypes.data == address and kept.size:
                    array = self.held.pop(name)
                elif isinstance(kept, tuple) and any(isinstance(k, np.ndarray) and k.ctypes.data == address for k in kept):
                    array = value.copy()
            array = value.copy() if array is None else array
            given[address] = array
        array = array.view(np.bool_) if kind == "bools" else array
        return array.reshape(self.n, -width) if width < 0 else array

    def items(self, value: Any, kind: str) -> list[Any]:
        """A list as Python objects."""
        data, size, _, ends, count, _ = (int(x) for x in value.vectors)
        values = memory(data, size)
        if kind == "set":
            stops = [0, *memory(ends, count).tolist()]
            return [np.unique(values[a:b]) for a, b in zip(stops, stops[1:], strict=False)]
        if kind[0] == "f":
            return values.view(np.float64).tolist()  # type: ignore[no-any-return]
        return [bool(v) for v in values] if kind == "bool" else values.tolist()  # type: ignore[no-any-return]

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


def memory(address: int, words: int) -> Any:
    """A copy of int64 values at an address."""
    if not words:
        return np.zeros(0, np.int64)
    return np.ctypeslib.as_array((ctypes.c_int64 * words).from_address(address)).copy()


def room(size: int, dtype: Any) -> Any:
    """Uninitialised memory; at least one cache line, so that a read at 0 is safe."""
    return np.empty(size + 64, dtype)[:size]


def opened(array: Any) -> Any:
    """The same memory as an array whose type does not say read-only, so that there is one compiled version."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        return array
    view = _Opened(array)
    return np.asarray(view)


class _Opened:
    """Presents a read-only array as writable; compiled code never writes to graphs."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def weight_dtype(program: Program) -> Any:
    """The NumPy type of the weights that a program reads."""
    from pantograf.lang.program import declared_weight

    names = {"i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64, "f32": np.float32, "f64": np.float64}
    return names[declared_weight(program.module) or "i32"]


def converted(graph: Graph, dtype: Any) -> Any:
    """A graph's weights in a type, kept with the graph."""
    assert graph.weights is not None
    if graph.weights.dtype == dtype:
        return graph.weights
    key = ("weights", np.dtype(dtype).name)
    if key not in graph.scratch:
        graph.scratch[key] = graph.weights.astype(dtype) if np.can_cast(graph.weights.dtype, dtype, "safe") else np.zeros(0, dtype)
    return graph.scratch[key]
