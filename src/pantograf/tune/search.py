"""The search: which cell comes next, and what is known when it ends."""

from __future__ import annotations

import json
import math
import random
import shlex
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pantograf import algorithms, spec
from pantograf.errors import UserError
from pantograf.machine import find
from pantograf.tune.cells import Cell, Space
from pantograf.tune.kept import Kept
from pantograf.tune.measure import Bench, Measured
from pantograf.tune.reasons import Setting, by_setting

if TYPE_CHECKING:
    from pantograf.algorithms import Algorithm
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.machine import Machine

MOST_CELLS = 300
FINALISTS = 5
EARNED = 1.01
"""A setting must make a cell faster by so much to be better than the same without it."""
DRAWS = 1000


class Estimate:
    """The ratio of two medians with a bootstrap interval that holds it with 95 %."""

    def __init__(self, above: Sequence[float], below: Sequence[float]) -> None:
        drawn = random.Random(1)
        median = statistics.median
        ratios = sorted(
            median(drawn.choices(above, k=len(above))) / median(drawn.choices(below, k=len(below)))
            for _ in range(DRAWS)
        )
        self.value = median(above) / median(below)
        self.low, self.high = ratios[int(0.025 * DRAWS)], ratios[int(0.975 * DRAWS) - 1]

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass
class Tuning:
    """What a search found. `schedules` are the best ones by label, empty where nothing beat the default."""

    program: str
    graph: str
    machine: str
    cells: list[Measured]
    """In the order in which they were tried; the default comes first."""
    settings: list[Setting]
    best: Measured
    ratio: Estimate | None
    """The default's time over the best's, from interleaved trials; none where the search was stopped before them."""
    finalists: list[Measured]
    """The default and the best few, with their times in these trials; the fastest first."""
    kept: int
    """How many cells were known from an earlier search."""
    complete: bool
    """Whether no cell near the best was left out."""
    runs: list[dict[str, Any]] = field(default_factory=list)
    """The arguments that every cell ran with."""

    @property
    def default(self) -> Measured:
        """The cell in which nothing is set."""
        return self.cells[0]

    @property
    def schedules(self) -> dict[str, str]:
        """The best schedules by label."""
        return dict(self.best.cell.schedules)

    @property
    def compilations(self) -> int:
        """How many different pieces of code the cells are."""
        return len({one.code for one in self.cells if one.code})

    @property
    def wrong(self) -> list[Measured]:
        """The cells whose answer is not the default's."""
        return [one for one in self.cells if one.status == "wrong"]

    def ranked(self) -> list[Measured]:
        """The cells that ran to their end: the finalists, then the others, the fastest first."""
        last = {one.cell for one in self.finalists}
        ran = [one for one in self.cells if one.status == "measured" and one.cell not in last]
        return [*self.finalists, *sorted(ran, key=lambda one: one.mean_seconds)]

    def command_line(self) -> str:
        """The options that give the best schedule to `pantograf run`."""
        return " ".join(f"--schedule {shlex.quote(f'{label}={text}')}" for label, text in self.best.cell.schedules)

    def python(self) -> str:
        """The same in Python."""
        return f"{self.program}.scheduled({json.dumps(self.schedules)})"

    def __str__(self) -> str:
        ratio = "" if self.ratio is None else f", the default takes {self.ratio} times as long"
        return f"{self.program} on {self.graph}: best of {len(self.cells)} cells {self.best.cell}{ratio}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values."""
        ratio = self.ratio
        return {
            "program": self.program,
            "graph": self.graph,
            "machine": self.machine,
            "best": self.schedules,
            "command_line": self.command_line(),
            "python": self.python(),
            "ratio": None if ratio is None else {"value": ratio.value, "low": ratio.low, "high": ratio.high},
            "finalists": [{"cell": dict(one.cell.schedules), "seconds": one.mean_seconds} for one in self.finalists],
            "kept": self.kept,
            "complete": self.complete,
            "compilations": self.compilations,
            "arguments": self.runs,
            "cells": [one.to_dict() for one in self.cells],
        }


class Search:
    """A search that can be asked at any time what it has found."""

    def __init__(
        self,
        program: Program,
        graph: Graph,
        on: Machine | str | None = None,
        *,
        arguments: Mapping[str, Any] | None = None,
        cells: int = MOST_CELLS,
        sources: int = 4,
        trials: int = 15,
        seed: int = 1,
        state: str | Path | None = None,
        fresh: bool = False,
    ) -> None:
        for name, number in (("cells", cells), ("sources", sources), ("trials", trials)):
            if number < 1:
                raise UserError(f"{name} cannot be {number}", hint="a whole number from 1")
        if not graph.n:
            raise UserError(f"{graph.name} has no vertices: there is nothing to measure")
        self.machine = find(program._machine_wanted if on is None else on)
        self.program = program.for_graph(graph)
        self.graph = graph
        self.most, self.trials = cells, trials
        if not self.machine.schedules():
            hint = "pantograf list schedules says which machines take schedules"
            raise UserError(f"{self.machine.spec_name} takes no schedules: there is nothing to tune", hint=hint)
        if (refusal := self.machine.refuses(self.program)) is not None:
            raise refusal
        box = _in_the_box(self.program, graph)
        self.runs = argument_sets(self.program, graph, box, arguments or {}, sources, seed)
        self.program.bind(graph, (), self.runs[0])
        self.bench = Bench(self.program, graph, self.machine, self.runs, box)
        about = {
            "program": self.program.digest,
            "code": self.bench.default.code,
            "given": [list(pair) for pair in self.program.schedule_key()],
            "graph": graph.fingerprint,
            "machine": spec.show(self.machine),
            **_where(self.machine),
            "arguments": [self.program.bind(graph, (), run).shown for run in self.runs],
        }
        place = Path(state) if state is not None else _place(about)
        self.file = Kept(place, about, fresh)
        self.tried: dict[Cell, Measured] = {}
        self.kept = 0
        self.complete = False
        self.finals: dict[Cell, list[tuple[float, ...]]] = {}

    @cached_property
    def space(self) -> Space:
        """What can be chosen."""
        return Space(self.program, self.machine, self.runs[0])

    def run(self, progress: Callable[[int, int, str], None] = lambda done, of, what: None) -> Tuning:
        """Try cells until there are none near the best, or as many as were asked for; then compare the best with the default."""
        cell: Cell | None = Cell()
        while cell is not None and self._counted() < self.most:
            progress(self._counted(), self.most, str(cell))
            self.tried[cell] = self._measured(cell)
            cell = self._next()
        self.complete = cell is None
        finalists = self._finalists()
        progress(self._counted(), self._counted(), f"{self.trials} trials of the best {len(finalists)}")
        self.finals = dict(zip(finalists, self.bench.interleaved(finalists, self.trials), strict=True))
        return self.found()

    def found(self) -> Tuning:
        """What is known by now; a `UserError` if not even the default was measured."""
        if not self.tried:
            raise UserError("nothing was measured yet")
        finalists = [
            replace(self.tried[cell], seconds=tuple(statistics.median(times) for times in zip(*trials, strict=True)))
            for cell, trials in self.finals.items()
        ]
        finalists.sort(key=cost)
        best = finalists[0] if finalists else self._best()
        sums = {cell: [sum(times) for times in trials] for cell, trials in self.finals.items()}
        last = {one.cell: one for one in finalists}
        cells = [last.get(cell, one) for cell, one in self.tried.items()]
        return Tuning(
            self.program.name,
            self.graph.name,
            spec.show(self.machine),
            cells,
            by_setting(cells, best, self.space),
            best,
            Estimate(sums[Cell()], sums[best.cell]) if sums else None,
            finalists,
            self.kept,
            self.complete,
            [self.program.bind(self.graph, (), run).shown for run in self.runs],
        )

    def _counted(self) -> int:
        """How many cells ran: one that the machine refuses costs nothing."""
        return sum(one.status != "refused" for one in self.tried.values())

    def _measured(self, cell: Cell) -> Measured:
        known = self.file.cells.get(cell)
        if known is not None:
            self.kept += 1
            return known
        measured = self.bench.measure(cell, self._best() if self.tried else None)
        if cell == Cell() and measured.status == "wrong":
            raise UserError(f"{self.program.name} gives a wrong answer as it is: {measured.detail}")
        self.file.add(measured)
        return measured

    def _best(self) -> Measured:
        ran = [one for one in self.tried.values() if one.status == "measured"]
        return min(ran, key=cost)

    def _next(self) -> Cell | None:
        """First what sets one thing; then the cell that differs least from the best, and of these the one whose settings did best."""
        default, best = self.tried[Cell()], self._best().cell
        effects: dict[tuple[tuple[str, str], str], float] = {}
        for one in self.tried.values():
            if one.seconds and one.status != "wrong":
                effect = math.log(one.times(default))
                for setting in one.cell.settings().items():
                    effects[setting] = min(effect, effects.get(setting, effect))

        def order(cell: Cell) -> tuple[bool, int, float]:
            settings = cell.settings()
            return len(settings) > 1, cell.distance(best), sum(effects.get(each, 0.0) for each in settings.items())

        return min((c for c in self.space.near(best, self.most) if c not in self.tried), key=order, default=None)

    def _finalists(self) -> list[Cell]:
        ran = [one for one in self.tried.values() if one.status == "measured" and one.cell != Cell()]
        ran.sort(key=cost)
        return [Cell(), *(one.cell for one in ran[: FINALISTS - 1])]


def cost(one: Measured) -> float:
    """What the best has least of: seconds, and settings that do nothing."""
    return one.mean_seconds * EARNED ** len(one.cell.settings())


def tune(
    program: Program,
    graph: Graph,
    on: Machine | str | None = None,
    *,
    arguments: Mapping[str, Any] | None = None,
    cells: int = MOST_CELLS,
    sources: int = 4,
    trials: int = 15,
    seed: int = 1,
    state: str | Path | None = None,
    fresh: bool = False,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
) -> Tuning:
    """Search for the schedules under which a program runs fastest on a graph; labels that have a schedule keep it.

    At most `cells` are tried. `arguments` are the program's; those that are vertices are drawn where they are not given,
    `sources` times. Finished cells are kept in the file `state` (one in the cache by default), and a search that was stopped
    goes on from there unless it is to be `fresh`. At the end the best few and the default run in interleaved `trials`.
    """
    search = Search(
        program,
        graph,
        on,
        arguments=arguments,
        cells=cells,
        sources=sources,
        trials=trials,
        seed=seed,
        state=state,
        fresh=fresh,
    )
    return search.run(progress)


def _in_the_box(program: Program, graph: Graph) -> Algorithm | None:
    """What the box knows about a program, if it is one of the box."""
    if program.name not in algorithms.names():
        return None
    box = algorithms.find(program.name)
    return box if box.program.for_graph(graph).digest == program.digest else None


def argument_sets(
    program: Program, graph: Graph, box: Algorithm | None, given: Mapping[str, Any], number: int, seed: int
) -> list[dict[str, Any]]:
    """The arguments of each run: vertices that are not given are drawn from those with out-edges, others are as in a plain run."""
    plain = dict(given) if box is None else box.arguments(graph, given)
    vertices = [n for n, (kind, _) in program.parameters().items() if kind.name == "graph.vertex" and n not in given]
    if not vertices:
        return [plain]
    drawn = np.random.default_rng(seed)
    usable = np.flatnonzero(graph.out_degrees) if graph.m else np.zeros(1, np.int64)
    columns = [drawn.permutation(usable)[:number] for _ in vertices]
    names = columns if graph.labels is None else [graph.labels[column] for column in columns]
    return [
        {**plain, **dict(zip(vertices, row, strict=True))} for row in zip(*(n.tolist() for n in names), strict=True)
    ]


def _where(machine: Machine) -> dict[str, Any]:
    """What times depend on beside program and graph."""
    import platform

    from pantograf import __version__

    return {"threads": getattr(machine, "thread_count", 1), "computer": platform.node(), "version": __version__}


def _place(about: Mapping[str, Any]) -> Path:
    """Where cells are kept unless the user says otherwise."""
    import hashlib

    from pantograf.machines.cpu import cache

    digest = hashlib.blake2b(json.dumps(about, default=str).encode(), digest_size=12).hexdigest()
    return cache.folder() / "tuned" / f"{digest}.jsonl"
