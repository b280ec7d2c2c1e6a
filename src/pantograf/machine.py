"""The contract between programs and machines: what a machine provides, how one is found, and what every run does."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from pantograf import spec
from pantograf.errors import Refused, UserError
from pantograf.result import RESERVED, Result
from pantograf.schedule import Hybrid, Schedule

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program


@dataclass
class Outcome:
    """What an executable returns: raw values by result name, and statistics."""

    values: dict[str, Any]
    stats: dict[str, int | float | str | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """When a run stops before its end: rounds of all labelled loops together, and seconds."""

    rounds: int | None = None
    seconds: float | None = None


class Runnable(Protocol):
    """A program made ready for one machine and one graph. Thread-safe; may be called many times."""

    @property
    def chosen(self) -> Mapping[str, list[str]]:
        """What runs at each label with nothing left open, as texts of schedules, where the machine had a choice."""
        ...

    @property
    def code(self) -> str:
        """A digest of the code that the machine emitted, empty where it emits none."""
        ...

    def run(self, arguments: Mapping[str, Any], limits: Limits) -> Outcome:
        """Run once. `arguments` holds every argument but the edges: Python scalars, vertex ids, arrays, sorted id arrays."""
        ...


@runtime_checkable
class Machine(Protocol):
    """A frozen dataclass whose fields are the hardware."""

    spec_name: ClassVar[str]

    def schedules(self) -> Mapping[str, type[Schedule]]:
        """The classes of schedules that it understands, by their text names."""
        ...

    def refuses(self, program: Program) -> Refused | None:
        """Why this machine will not run the program, if so."""
        ...

    def compile(self, program: Program, graph: Graph) -> Runnable:
        """Make the program ready to run on a graph."""
        ...

    def stages(self) -> tuple[str, ...]:
        """The forms of a program that `show` can print, beside `ir`."""
        ...

    def show(self, program: Program, graph: Graph | None, stage: str) -> str:
        """One of the forms as text."""
        ...

    def knobs(self, program: Program, label: str) -> Sequence[str]:
        """The settings of its schedules that change how what stands at a label runs."""
        ...

    def space(self, program: Program, label: str) -> Iterator[Schedule]:
        """The schedules that a search tries at a label."""
        ...


def names() -> list[str]:
    """The machines there are: each file or folder in `machines/` is one."""
    import pantograf.machines as package

    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def machine_class(name: str) -> type[Any]:
    """The class of the machine of that name."""
    if name not in names():
        raise UserError(f"there is no machine {name!r}", hint=f"machines: {', '.join(names())}")
    module = importlib.import_module(f"pantograf.machines.{name}")
    for value in vars(module).values():
        if isinstance(value, type) and getattr(value, "spec_name", None) == name and hasattr(value, "refuses"):
            return value
    raise AssertionError(f"pantograf.machines.{name} defines no machine named {name}")


def find(wanted: Machine | str) -> Machine:
    """The machine that a text such as `cpu{threads=2}` describes, or the instance itself."""
    if not isinstance(wanted, str):
        if isinstance(wanted, type) or not isinstance(wanted, Machine):
            raise UserError(f"{wanted!r} is not a machine", hint=f"machines: {', '.join(names())}")
        return wanted
    text = spec.parse(wanted)
    return spec.build(machine_class(text.name), text)  # type: ignore[no-any-return]


def read_schedules(machine: Machine, schedules: Mapping[str, Schedule | str]) -> dict[str, Schedule]:
    """Each schedule as an object of a class that the machine understands."""
    from pantograf.schedule import read

    kinds = machine.schedules()
    found: dict[str, Schedule] = {}
    for label, schedule in schedules.items():
        if isinstance(schedule, str):
            schedule = read(schedule, kinds)
        for part in _leaves(schedule):
            if type(part) not in kinds.values():
                raise UserError(
                    f"the schedule for {label!r}, {spec.show(part)}, is not for {machine.spec_name}",
                    hint=f"schedules of {machine.spec_name}: {', '.join(kinds) or 'none'}",
                )
        found[label] = schedule
    return found


def _leaves(schedule: Schedule) -> Iterator[Schedule]:
    if isinstance(schedule, Hybrid):
        yield from _leaves(schedule.first)
        yield from _leaves(schedule.second)
    else:
        yield schedule


class Executable:
    """A program compiled for one machine and one graph: call it with the program's arguments, as often as you like."""

    def __init__(self, program: Program, graph: Graph, machine: Machine) -> None:
        self.program = program.for_graph(graph)
        self.graph = graph
        self.machine = machine
        read_schedules(machine, program.schedules)
        refusal = machine.refuses(self.program)
        if refusal is not None:
            raise refusal
        started = time.perf_counter()
        self._runnable = machine.compile(self.program, graph)
        self.compile_seconds = time.perf_counter() - started
        self.code = self._runnable.code

    def __call__(
        self,
        *arguments: Any,
        max_rounds: int | None = None,
        max_seconds: float | None = None,
        out: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Result:
        """Run. `max_rounds` and `max_seconds` end a run early (`stats["completed"]` says so); `out` receives values in place."""
        if max_rounds is not None and max_rounds < 0:
            raise UserError(f"max_rounds cannot be {max_rounds}", hint="a whole number from 0")
        bound = self.program.bind(self.graph, arguments, named)
        started = time.perf_counter()
        outcome = self._runnable.run(bound.values, Limits(max_rounds, max_seconds))
        seconds = time.perf_counter() - started
        if clash := [name for name in outcome.values if name in RESERVED]:
            raise UserError(f"a program cannot return {clash[0]!r}", hint=f"reserved: {', '.join(RESERVED)}")
        if out is not None:
            _deliver(outcome.values, out)
        stats = {"completed": True, **outcome.stats, "seconds": seconds, "compile_seconds": self.compile_seconds}
        return Result(outcome.values, stats, self.provenance(bound.shown), self.graph.labels)

    def provenance(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Where a result comes from, as plain values."""
        from pantograf import __version__

        schedules = {label: spec.show(s) for label, s in read_schedules(self.machine, self.program.schedules).items()}
        return {
            "program": self.program.name,
            "program_hash": self.program.digest,
            "arguments": dict(arguments),
            "seed": arguments.get("seed"),
            "graph": self.graph.name,
            "graph_fingerprint": self.graph.fingerprint,
            "vertices": self.graph.n,
            "edges": self.graph.m,
            "machine": spec.show(self.machine),
            "threads": getattr(self.machine, "thread_count", 1),
            "schedules": schedules,
            "chosen": self._runnable.chosen,
            "versions": {"pantograf": __version__, "numpy": np.__version__, **_versions()},
        }


def _versions() -> dict[str, str]:
    import platform
    import sys

    found = {"python": platform.python_version()}
    for name in ("numba", "llvmlite"):
        if name in sys.modules:
            found[name] = sys.modules[name].__version__
    return found


def _deliver(values: dict[str, Any], out: Mapping[str, Any]) -> None:
    for name, target in out.items():
        if name not in values:
            raise UserError(
                f"out has {name!r}, which the program does not return", hint=f"it returns: {', '.join(values)}"
            )
        value = values[name]
        if not isinstance(target, np.ndarray) or target.shape != np.shape(value) or target.dtype != value.dtype:
            raise UserError(
                f"out[{name!r}] does not fit",
                hint=f"an array of shape {np.shape(value)} and type {np.asarray(value).dtype}",
            )
        target[...] = value
        values[name] = target


def executable(program: Program, graph: Graph, machine: Machine | str) -> Executable:
    """The compiled program, kept with the graph so that a second call finds it."""
    found = find(machine)
    key = ("executable", program.digest, spec.show(found), repr(found), program.schedule_key())
    kept: Executable | None = graph.scratch.get(key)
    if kept is None:
        kept = Executable(program, graph, found)
        graph.scratch[key] = kept
    return kept


def refusal(program: Program, machine: Machine | str) -> Refused | None:
    """Why the machine will not run the program, if so."""
    return find(machine).refuses(program)


def show(program: Program, machine: Machine | str, graph: Graph | None, stage: str) -> str:
    """A form of the program on the machine as text."""
    found = find(machine)
    if stage not in found.stages():
        raise UserError(
            f"{found.spec_name} has no stage {stage!r}", hint=f"stages: {', '.join(['ir', *found.stages()])}"
        )
    return found.show(program, graph, stage)


__all__ = [
    "Executable",
    "Limits",
    "Machine",
    "Outcome",
    "Result",
    "Runnable",
    "executable",
    "find",
    "names",
    "refusal",
    "show",
]
