"""Every algorithm on every machine under schedules drawn at random, each result held against the algorithm's own oracle."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pantograf import algorithms as box
from pantograf.conformance import graphs
from pantograf.conformance.draw import Cell, Draw, Refusal, draw
from pantograf.conformance.refusals import Allowed, read
from pantograf.errors import Refused, UserError
from pantograf.machine import find
from pantograf.machine import names as all_machines

if TYPE_CHECKING:
    from pantograf.algorithms import Algorithm
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program

NUMBER = 2
"""Schedules drawn for each algorithm and machine, beside the default one."""
RANDOM_GRAPHS = 6
SECONDS = 30.0
"""After which a run on one of these small graphs counts as one that does not end."""
MOST_SOURCES = 16


@dataclass
class Verdict:
    """What came of a cell: `agrees` on all graphs, or is `wrong` (or fails, or does not end) on one, or is `refused`."""

    cell: Cell
    status: Literal["agrees", "wrong", "refused"]
    detail: str = ""
    runs: int = 0
    seconds: float = 0.0
    sources: frozenset[str] = frozenset()
    """Digests of the machine's code for it, where the machine emits code."""
    graph: str = ""
    """Where it is wrong."""


@dataclass
class Matrix:
    """All verdicts of one call of `run`."""

    seed: int
    verdicts: list[Verdict] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    wanted: dict[str, set[tuple[str, str, str]]] = field(default_factory=dict)
    allowed: list[Allowed] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong and every refusal is in the table."""
        return not self.wrong() and not self.unlisted()

    def wrong(self) -> list[Verdict]:
        """The cells with a wrong result."""
        return [v for v in self.verdicts if v.status == "wrong"]

    def unlisted(self) -> list[Refusal]:
        """The refusals that the table does not allow."""
        return [r for r in self.refusals if not is_allowed(r, self.allowed)]

    def machines(self) -> list[str]:
        """The machines that took part."""
        return sorted({v.cell.machine_name for v in self.verdicts} | {r.cell.machine_name for r in self.refusals})

    def algorithms(self) -> list[str]:
        """The algorithms that took part."""
        return sorted({v.cell.algorithm for v in self.verdicts} | {r.cell.algorithm for r in self.refusals})

    def compilations(self, machine: str) -> int:
        """How many different pieces of code the machine emitted: each is compiled once, and then in its cache."""
        sources: set[str] = set()
        for v in self.verdicts:
            if v.cell.machine_name == machine:
                sources |= v.sources
        return len(sources)

    def share_refused(self, machine: str) -> float:
        """Of all that was tried, the part that the machine refused."""
        refused = sum(r.cell.machine_name == machine for r in self.refusals)
        tried = refused + sum(v.cell.machine_name == machine for v in self.verdicts)
        return refused / tried if tried else 0.0

    def coverage(self, machine: str) -> tuple[int, int]:
        """Of the values of knobs, each counted for each algorithm whose program has a label that takes it: how many ran."""
        wanted = {(algorithm, knob) for algorithm, _, knob in self.wanted.get(machine, set())}
        ran = {
            (v.cell.algorithm, knob)
            for v in self.verdicts
            if v.cell.machine_name == machine and v.status == "agrees"
            for knob in v.cell.knobs()
        }
        return len(wanted & ran), len(wanted)

    def lines(self) -> Iterator[str]:
        """The matrix as a person reads it."""
        columns = self.machines()
        width = max([9, *map(len, self.algorithms())])
        yield " ".join(["algorithm".ljust(width), *(c.rjust(18) for c in columns)])
        for algorithm in self.algorithms():
            yield " ".join([algorithm.ljust(width), *(self._entry(algorithm, c).rjust(18) for c in columns)])
        yield ""
        for machine in columns:
            covered, of = self.coverage(machine)
            verdicts = [v for v in self.verdicts if v.cell.machine_name == machine]
            yield (
                f"{machine}: {len(verdicts)} schedules, {sum(v.runs for v in verdicts):,} runs, "
                f"{self.share_refused(machine):.0%} refused, {self.compilations(machine)} compilations, "
                f"{sum(v.seconds for v in verdicts):.0f} s"
                + (f"; {covered} of {of} knob values x algorithms ({covered / of:.0%})" if of else "")
            )
        for reason, count in Counter(r.message for r in self.refusals if is_allowed(r, self.allowed)).most_common():
            yield f"refused, as the table allows ({count}): {reason}"
        for refusal in self.unlisted():
            yield f"REFUSED, and not in the table: {refusal.cell}: {refusal.message}"
        for v in self.wrong():
            yield f"WRONG: {v.cell}: {v.detail}"
        yield f"{'all agree' if self.ok else 'NOT ALL AGREE'} (seed {self.seed}, {self.seconds:.0f} s)"

    def _entry(self, algorithm: str, machine: str) -> str:
        here = [v for v in self.verdicts if (v.cell.algorithm, v.cell.machine_name) == (algorithm, machine)]
        refused = sum((r.cell.algorithm, r.cell.machine_name) == (algorithm, machine) for r in self.refusals)
        wrong = sum(v.status == "wrong" for v in here)
        if wrong:
            return f"{wrong} of {len(here)} WRONG"
        if not here:
            return "refused" if refused else "-"
        return f"{len(here)} agree" + (f", {refused} ref." if refused else "")

    def to_dict(self) -> dict[str, Any]:
        """The matrix as JSON-able values."""
        return {
            "ok": self.ok,
            "seed": self.seed,
            "seconds": self.seconds,
            "cells": [
                {
                    "algorithm": v.cell.algorithm,
                    "machine": v.cell.machine,
                    "schedules": dict(v.cell.schedules),
                    "weights": v.cell.weights,
                    "status": v.status,
                    "detail": v.detail,
                    "runs": v.runs,
                    "seconds": v.seconds,
                }
                for v in self.verdicts
            ],
            "refusals": [
                {"cell": str(r.cell), "message": r.message, "allowed": is_allowed(r, self.allowed)}
                for r in self.refusals
            ],
            "machines": {
                machine: {
                    "refused_share": self.share_refused(machine),
                    "compilations": self.compilations(machine),
                    "knob_values_covered": self.coverage(machine)[0],
                    "knob_values": self.coverage(machine)[1],
                }
                for machine in self.machines()
            },
        }


def is_allowed(refusal: Refusal, table: Sequence[Allowed]) -> bool:
    """Whether the table has an entry for a refusal."""
    cell = refusal.cell
    return any(entry.covers(cell.machine_name, cell.algorithm, cell.knobs(), refusal.message) for entry in table)


def run(
    number: int | None = None,
    seed: int = 0,
    machines: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
    progress: Callable[[Verdict], None] | None = None,
) -> Matrix:
    """Check a seeded sample: for each algorithm and machine the default schedule and `number` drawn ones."""
    started = time.perf_counter()
    matrix = Matrix(seed, allowed=read())
    for name in algorithms or box.names():
        algorithm = box.find(name)
        for machine in machines or all_machines():
            drawn = draw(algorithm, machine, NUMBER if number is None else number, seed)
            add(matrix, drawn, machine, algorithm.name)
            for cell in drawn.cells:
                verdict = check(algorithm, cell, sample_graphs(seed))
                if verdict.graph:
                    least = smaller(algorithm, cell, {verdict.graph: sample_graphs(seed)[verdict.graph]})
                    verdict.detail += f" (also: {least})"
                if verdict.status == "refused":
                    matrix.refusals.append(Refusal(cell, verdict.detail))
                else:
                    matrix.verdicts.append(verdict)
                if progress is not None:
                    progress(verdict)
    matrix.seconds = time.perf_counter() - started
    return matrix


def add(matrix: Matrix, drawn: Draw, machine: str, algorithm: str) -> None:
    """Note what was refused and what could be covered."""
    matrix.refusals += drawn.refusals
    matrix.wanted.setdefault(machine, set()).update((algorithm, label, knob) for label, knob in drawn.wanted)


def sample_graphs(seed: int) -> dict[str, Graph]:
    """The graphs with names, and a few random ones."""
    rng = np.random.default_rng(seed)
    return graphs.named() | {f"random {i} (seed {seed})": graphs.random_graph(rng) for i in range(RANDOM_GRAPHS)}


def check(algorithm: Algorithm, cell: Cell, over: Mapping[str, Graph]) -> Verdict:
    """Run a cell on each graph, with the arguments that suit it and with other vertices; the first wrong result ends it."""
    started = time.perf_counter()
    verdict = Verdict(cell, "agrees")
    sources: set[str] = set()
    try:
        program = algorithm.program.on(find(cell.machine)).scheduled(dict(cell.schedules))
        for name, graph in over.items():
            prepared = _weighted(algorithm.prepare(graph), cell.weights)
            for arguments in arguments_for(algorithm, prepared, name):
                verdict.runs += 1
                wrong = _run(algorithm, program, prepared, arguments)
                if wrong:
                    verdict.status, verdict.detail = "wrong", f"graph {name!r}, {arguments}: {wrong[0]}"
                    verdict.graph = name
                    return verdict
            if prepared.n:
                sources.add(_digest(program, prepared))
    except Refused as error:
        verdict.status, verdict.detail = "refused", error.message
    except Exception as error:  # a defect of the machine must not hide what the other cells say
        verdict.status, verdict.detail = "wrong", f"it crashes: {crash(error)}"
    finally:
        verdict.seconds = time.perf_counter() - started
        verdict.sources = frozenset(sources - {""})
    return verdict


def smaller(algorithm: Algorithm, cell: Cell, over: Mapping[str, Graph], tries: int = 30) -> Cell:
    """A cell with fewer settings that is wrong as well: ever smaller parts of them are left out while it stays so."""
    settings = cell.settings()
    parts = 2
    while settings and tries > 0:
        size = -(-len(settings) // parts)
        for first in range(0, len(settings), size):
            fewer = settings[:first] + settings[first + size :]
            tries -= 1
            if check(algorithm, cell.only(fewer), over).status == "wrong":
                settings, parts = fewer, max(parts - 1, 2)
                break
            if tries <= 0:
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(settings))
    return cell.only(settings)


def crash(error: Exception) -> str:
    """An exception in one line: what it says at its beginning and end, and where in Pantograf it was raised."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()] or ["-"]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "pantograf" in f.filename]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    shown = " ... ".join(dict.fromkeys([said[0], *said[2:3]]))
    return f"{type(error).__name__}: {shown[:300]}{where}"


def _weighted(graph: Graph, type: str) -> Graph:
    if graph.weights is None or graph.weights.dtype == type:
        return graph
    return graph.with_weights(graph.weights.astype(type) * (0.5 if type.startswith("float") else 1))


def arguments_for(algorithm: Algorithm, graph: Graph, name: str) -> Iterator[dict[str, Any]]:
    """The arguments that suit the graph, sets of vertices cut short, and again with others where the program takes vertices."""
    suits = algorithm.arguments(graph)
    wanted = algorithm.program.for_graph(graph).parameters()
    for parameter, (kind, _) in wanted.items():
        if kind.name == "graph.vertexset" and len(suits[parameter]) > MOST_SOURCES:
            suits = suits | {parameter: suits[parameter][:: len(suits[parameter]) // MOST_SOURCES]}
    vertices = [parameter for parameter, (kind, _) in wanted.items() if kind.name == "graph.vertex"]
    if vertices and not graph.n:
        return
    yield suits
    if vertices and graph.n > 1:
        rng = np.random.default_rng(len(name))
        labels = np.arange(graph.n) if graph.labels is None else graph.labels
        yield suits | {parameter: labels[rng.integers(graph.n)].item() for parameter in vertices}


def _run(algorithm: Algorithm, program: Program, graph: Graph, arguments: Mapping[str, Any]) -> list[str]:
    """What is wrong with one run."""
    try:
        result = program(graph, **arguments, max_seconds=SECONDS)
    except Refused:
        raise
    except UserError as error:
        return [f"it fails: {error.message}"]
    if not result.stats["completed"]:
        return [f"it did not end within {SECONDS:g} s"]
    try:
        return algorithm.check(graph, arguments, result)
    except (IndexError, ValueError) as error:
        return [f"its values are such that the oracle fails: {error}"]


def _digest(program: Program, graph: Graph) -> str:
    """A digest of the code that the machine emits for a program on a graph; empty if it emits none."""
    machine = find(program._machine_wanted)
    if "source" not in machine.stages():
        return ""
    return hashlib.blake2b(machine.show(program.for_graph(graph), graph, "source").encode(), digest_size=8).hexdigest()
