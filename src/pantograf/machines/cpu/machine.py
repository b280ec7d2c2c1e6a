"""The CPU as a machine: lower, emit, compile once, and run with memory that is kept between calls."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pantograf.errors import Refused, UserError
from pantograf.graphs.build import require_memory
from pantograf.machine import Limits, Outcome, read_schedules
from pantograf.machines.cpu import cache, pool
from pantograf.machines.cpu.memory import Scratch
from pantograf.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.dialects.builtin import ModuleOp

    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.machines.cpu.choose import CpuQuery
    from pantograf.machines.cpu.plan import Need, Plan

NARROW_FROM = 1 << 20
"""Edges from which narrower copies of offsets and weights save more than compiling for them costs."""
MOST_SEGMENTS = 1024
"""Each part has offsets of its own for all vertices, so that more would cost more than the cache saves."""


@dataclass(frozen=True)
class Cpu:
    """Compiled, parallel code on the cores of this computer.

    threads        how many; none: all cores that this process may use
    deterministic  of racing plain writes the smallest stays, and sums of floats are made in one order
    check          say where an index is out of range or an integer overflows, instead of going on; count the plain writes that
                   took the place of another call's (`races`; none where deterministic decides); print what functions print
    profile        measure the seconds of each label (`seconds.relax`) and of what is between (`seconds.between`)
    """

    spec_name: ClassVar[str] = "cpu"
    threads: int | None = None
    deterministic: bool = False
    check: bool = False
    profile: bool = False

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

    def query(self, graph: Graph | None) -> CpuQuery:
        """The answers to the passes, for a graph if there is one."""
        from pantograf.machines.cpu.choose import CpuQuery, Shape

        return CpuQuery(self.deterministic, Shape.of(graph, self.thread_count) if graph is not None else None)

    def lowered(self, program: Program, query: CpuQuery | None = None) -> ModuleOp:
        """The program's GraphIR after all passes."""
        from pantograf.machines.cpu.lower import lower

        return lower(program.module, read_schedules(self, program.schedules), query or self.query(None))

    def refuses(self, program: Program) -> Refused | None:
        """What the compiled machine cannot do, with the line."""
        from pantograf.machines.cpu.refusals import find_refusal

        try:
            return find_refusal(self.lowered(program), self.deterministic)
        except Refused as refusal:
            return refusal

    def plan(self, program: Program, graph: Graph | None) -> Plan:
        """The emitted program."""
        from pantograf.machines.cpu.emit import emit

        query = self.query(graph)
        wide = graph is not None and graph.neighbors.dtype.itemsize == 8
        return emit(self.lowered(program, query), query, wide, self.check, self.profile)

    def show(self, program: Program, graph: Graph | None, stage: str) -> str:
        """One of the stages as text."""
        refused = self.refuses(program)
        if refused is not None:
            raise refused
        if stage == "scheduled":
            from pantograf.ir.text import print_module

            return print_module(self.lowered(program, self.query(graph)))
        return self.plan(program, graph).text

    def knobs(self, program: Program, label: str) -> list[str]:
        """The settings of a schedule that change how what stands at a label runs."""
        from pantograf.machines.cpu.lower import acting_knobs
        from pantograf.passes import find_label

        return acting_knobs(find_label(program.module, label))

    def space(self, program: Program, label: str) -> Iterator[Schedule]:
        """The schedules that a search tries at a label."""
        from pantograf.machines.cpu.space import space

        return space(self, program, label)

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
        self.plan = machine.plan(program, graph)
        self.chosen = self.plan.chosen
        self.code = hashlib.blake2b(self.plan.text.encode(), digest_size=8).hexdigest()
        self.threads = machine.thread_count
        self.weight = weight_dtype(program)
        self._forms: dict[str, Any] = {}
        self._free: list[Scratch] = []
        self._lock = threading.Lock()
        require_memory(Scratch.estimate(self), f"running {program.name} on {graph.name or 'this graph'}")
        module, warm = cache.load(self.plan.text, program.externs)
        self.worker = module.worker
        with self.scratch() as scratch:
            try:
                self._prepare(scratch)
            except Exception:
                if not warm:
                    raise
                cache.forget(module)  # what is kept may be damaged, as by a full disk
                self.worker = cache.load(self.plan.text, program.externs)[0].worker
                self._prepare(scratch)

    def _prepare(self, scratch: Scratch) -> None:
        """Compile, or load what was compiled before."""
        import numba

        arguments = scratch.arguments(dict.fromkeys(self.argument_kinds()))
        typeof: Any = numba.typeof
        signature = tuple(typeof(a) for a in (scratch.workers[0], *arguments))
        self.worker.compile(signature)

    def argument_kinds(self) -> dict[str, str]:
        """The program's arguments that the worker takes, with their types."""
        return {
            n.source: n.dtype
            for n in self.plan.needs.values()
            if n.kind == "argument" or (n.kind == "array" and n.source)
        }

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

    def csr(self, need: Need) -> Any:
        """A form of the graph as compiled code takes it."""
        from pantograf.machines.cpu.runtime import Csr

        halved = need.source in self.plan.halves
        key = f"{need.source}:{need.source in self.plan.pulls or need.kind == 'segments'}:{halved}"
        if key not in self._forms:
            graph = self.form(need.source)
            ids = np.int64 if self.wide else np.int32
            inward = (np.zeros(0, np.int64), np.zeros(0, ids), np.zeros(0, self.weight))
            if need.source in self.plan.pulls or need.kind == "segments":
                inward = self.arrays(graph.transposed())
            offsets, neighbors, weights = self.arrays(graph)
            pairs = np.stack([graph.offsets[:-1], middles_of(graph)], 1) if halved else graph.offsets[:0]
            middles = np.ascontiguousarray(pairs, offsets.dtype).reshape(-1)
            self._forms[key] = Csr(offsets, neighbors, weights, middles, *inward)
        return self._forms[key]

    def arrays(self, graph: Graph) -> tuple[Any, Any, Any]:
        """Offsets, neighbours and weights of the declared type."""
        weights = np.zeros(0, self.weight) if graph.weights is None else converted(graph, self.weight)
        offsets = graph.offsets
        if graph.m >= NARROW_FROM:
            offsets, weights = narrowed(graph, "offsets", offsets), narrowed(graph, "weights", weights)
        return opened(offsets), opened(graph.neighbors), opened(weights)

    def segments(self, need: Need) -> Any:
        """The in-edges of a graph by parts of the sources: the offsets of all parts one after the other, then their edges."""
        key = f"segments:{need.source}:{need.count}:{need.dtype}"
        if key not in self._forms:
            whole = self.csr(need)
            n = len(whole.offsets) - 1
            count = need.count if need.count > 0 else min(MOST_SEGMENTS, max(1, -(-8 * n // -need.count)))
            shares = np.arange(1, count)
            cuts = n * shares // count
            if need.dtype == "edge":
                cuts = np.searchsorted(whole.offsets, len(whole.neighbors) * shares // count)
            part = np.searchsorted(cuts, whole.in_neighbors, side="right").astype(np.uint16)
            order = np.argsort(part, kind="stable")
            rows = np.repeat(np.arange(n), np.diff(whole.in_offsets))
            starts = np.zeros(count * (n + 1) + 1, np.int64)
            np.cumsum(np.bincount(part * np.int64(n + 1) + rows, minlength=count * (n + 1)), out=starts[1:])
            weights = whole.in_weights[order] if len(whole.in_weights) else whole.in_weights
            self._forms[key] = whole._replace(
                in_offsets=starts[:-1], in_neighbors=whole.in_neighbors[order], in_weights=weights
            )
        return self._forms[key]

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
            outcome.stats["completed"] = in_time and not scratch.cut()
            return outcome


class _Work:
    """What each thread does: call the worker with its own first argument."""

    def __init__(self, worker: Callable[..., Any], workers: list[Any], values: list[Any]) -> None:
        self.worker, self.workers, self.values = worker, workers, values

    def __call__(self, number: int) -> Any:
        return self.worker(self.workers[number], *self.values)


def middles_of(graph: Graph) -> Any:
    """For each vertex where in its row the neighbours start that are not below it."""
    starts, ends = graph.offsets[:-1].copy(), graph.offsets[1:].copy()
    while (open_ := np.flatnonzero(starts < ends)).size:  # all rows are halved at once
        middle = (starts[open_] + ends[open_]) // 2
        below = graph.neighbors[middle] < open_
        starts[open_[below]] = middle[below] + 1
        ends[open_[~below]] = middle[~below]
    return starts


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


def narrowed(graph: Graph, what: str, array: Any) -> Any:
    """The same whole numbers in fewer bytes where they fit, kept with the graph."""
    key = (what, array.dtype.name, "narrowed")
    if key not in graph.scratch:
        wanted = np.dtype(np.int32) if what == "offsets" else np.dtype(np.uint8)
        limits = np.iinfo(wanted)
        fits = array.dtype.kind in "iu" and array.size and limits.min <= array.min() and array.max() <= limits.max
        graph.scratch[key] = array.astype(wanted) if fits else array
    return graph.scratch[key]


def weight_dtype(program: Program) -> Any:
    """The NumPy type of the weights that a program reads."""
    from pantograf.ir.graph import DTYPES
    from pantograf.lang.program import declared_weight

    return np.dtype(DTYPES[declared_weight(program.module) or "i32"])


def converted(graph: Graph, dtype: Any) -> Any:
    """A graph's weights in a type, kept with the graph."""
    assert graph.weights is not None
    if graph.weights.dtype == dtype:
        return graph.weights
    key = ("weights", np.dtype(dtype).name)
    if key not in graph.scratch:
        graph.scratch[key] = (
            graph.weights.astype(dtype) if np.can_cast(graph.weights.dtype, dtype, "safe") else np.zeros(0, dtype)
        )
    return graph.scratch[key]
