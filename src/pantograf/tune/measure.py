"""Measuring cells: the same arguments for all, answers compared with the default's, hopeless ones cut short."""

from __future__ import annotations

import random
import statistics
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from pantograf.errors import Refused
from pantograf.ir.functions import functions_of
from pantograf.machine import Executable
from pantograf.tune.cells import Cell

if TYPE_CHECKING:
    from pantograf.algorithms import Algorithm
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.machine import Machine
    from pantograf.result import Result

T = TypeVar("T")
COUNTED = ("rounds", "edges_processed", "vertices_processed")
DROPPED = 3.0
"""A cell that is so many times slower than the best on the first arguments is not run on the others."""
STOPPED = 5.0
"""A run is stopped after so many times the best's seconds."""
LEAST_SECONDS = 0.5
"""But not sooner than this."""
ENOUGH_SECONDS = 0.1
"""A cell's arguments are gone through again until this much was measured, `MOST_PASSES` times at most."""
MOST_PASSES = 15
FINAL_SECONDS = 1.0
MOST_TRIALS = 10
"""Short trials are repeated until they fill this time, so many times as often as was asked for at most."""
Status = Literal["measured", "dropped", "stopped", "refused", "wrong"]


@dataclass(frozen=True)
class Measured:
    """What came of a cell. A cell that was dropped or stopped has an entry for the first arguments only."""

    cell: Cell
    status: Status
    seconds: tuple[float, ...] = ()
    """The median for each set of arguments."""
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    """Rounds, edges and vertices processed, each for each set of arguments."""
    compile_seconds: float = 0.0
    code: str = ""
    """A digest of the emitted code: cells that differ only in numbers share it."""
    detail: str = ""

    @property
    def mean_seconds(self) -> float:
        """Seconds of a run."""
        return statistics.fmean(self.seconds) if self.seconds else float("inf")

    def times(self, other: Measured) -> float:
        """The seconds as a multiple of another's, on the arguments that both ran with."""
        return _quotient(self.seconds, other.seconds)

    def count(self, what: str) -> int:
        """A count over all arguments."""
        return sum(self.counts.get(what, ()))

    def counted(self, what: str, other: Measured) -> float:
        """A count as a multiple of another's."""
        return _quotient(self.counts.get(what, ()), other.counts.get(what, ()))

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self) | {"cell": dict(self.cell.schedules), "counts": dict(self.counts)}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Measured:
        """What `to_dict` gave."""
        counts = {what: tuple(values) for what, values in entry["counts"].items()}
        return cls(**{**entry, "cell": Cell.of(entry["cell"]), "seconds": tuple(entry["seconds"]), "counts": counts})


def _quotient(mine: Sequence[float], others: Sequence[float]) -> float:
    both = min(len(mine), len(others))
    above, below = sum(mine[:both]), sum(others[:both])
    return above / below if below else 1.0 if not above else float("inf")


class Bench:
    """A program, a graph and a machine with fixed sets of arguments."""

    def __init__(
        self,
        program: Program,
        graph: Graph,
        machine: Machine,
        runs: Sequence[Mapping[str, Any]],
        box: Algorithm | None,
    ) -> None:
        self.program, self.graph, self.machine = program, graph, machine
        self.runs, self.box = runs, box
        self.default = self.compiled(Cell())
        self.expected = self.default(**runs[0])

    def compiled(self, cell: Cell) -> Executable:
        """A cell made ready. It is not kept with the graph, which would hold the memory of every cell that was tried."""
        program = self.program.scheduled(dict(cell.schedules))
        return promptly(lambda: Executable(program, self.graph, self.machine))

    def measure(self, cell: Cell, best: Measured | None) -> Measured:
        """Run a cell on all arguments, as long as it is worth it."""
        try:
            ready = self.default if cell == Cell() else self.compiled(cell)
        except Refused as refusal:
            return Measured(cell, "refused", detail=refusal.message)
        made: dict[str, Any] = {"compile_seconds": ready.compile_seconds, "code": ready.code}
        limit = None if best is None else max(LEAST_SECONDS, STOPPED * best.seconds[0])
        result = ready(**self.runs[0], max_seconds=limit)
        if not result.stats["completed"]:
            assert limit is not None
            return Measured(cell, "stopped", (float(result.stats["seconds"]),), _counts([result]), **made)
        if wrong := self.wrong(result):
            return Measured(cell, "wrong", (float(result.stats["seconds"]),), _counts([result]), **made, detail=wrong)
        if best is not None:
            seconds = self._least(ready, DROPPED * best.seconds[0], limit)
            if seconds > DROPPED * best.seconds[0]:
                return Measured(cell, "dropped", (seconds,), _counts([result]), **made)
        times: list[list[float]] = [[] for _ in self.runs]
        results = []
        spent = 0.0
        for number in range(MOST_PASSES):
            for run, kept in zip(self.runs, times, strict=True):
                result = ready(**run)
                kept.append(float(result.stats["seconds"]))
                spent += kept[-1]
                if number == 0:
                    results.append(result)
            if spent >= ENOUGH_SECONDS:
                break
        return Measured(cell, "measured", tuple(statistics.median(kept) for kept in times), _counts(results), **made)

    def _least(self, ready: Executable, enough: float, limit: float | None) -> float:
        """The seconds on the first arguments, at best: the run before paid for cold memory, and a computer has other things to do."""
        least = float("inf")
        spent = 0.0
        while least > enough and spent < ENOUGH_SECONDS:
            seconds = float(ready(**self.runs[0], max_seconds=limit).stats["seconds"])
            least, spent = min(least, seconds), spent + max(seconds, ENOUGH_SECONDS / MOST_PASSES)
        return least

    def interleaved(self, cells: Sequence[Cell], trials: int) -> list[list[tuple[float, ...]]]:
        """For each cell and trial the seconds on all arguments; every cell has its turn before the next trial. Where trials are
        short there are more of them."""
        ready = [self.compiled(cell) for cell in cells]
        for one in ready:
            one(**self.runs[0])
        found: list[list[tuple[float, ...]]] = [[] for _ in cells]
        order = list(range(len(ready)))
        drawn = random.Random(1)
        spent = 0.0
        trial = 0
        while trial < trials or (spent < FINAL_SECONDS and trial < MOST_TRIALS * trials):
            drawn.shuffle(order)  # in a fixed order what else the computer does may always meet the same cell
            for i in order:
                found[i].append(tuple(float(ready[i](**run).stats["seconds"]) for run in self.runs))
                spent += sum(found[i][-1])
            trial += 1
        return found

    def wrong(self, result: Result) -> str:
        """How an answer is not the default's: equal, or right by the algorithm's own oracle; nothing if it is the same."""
        different = [name for name, value in self.expected.values.items() if not _same(value, result.values[name])]
        if not different:
            return ""
        if self.box is not None:
            return next(iter(self.box.check(self.graph, self.runs[0], result)), "")
        if races(self.program):
            return ""
        return f"{different[0]} is not what the default schedule gives"


def _counts(results: Sequence[Result]) -> dict[str, tuple[int, ...]]:
    return {what: tuple(int(r.stats[what]) for r in results) for what in COUNTED if what in results[0].stats}


def _same(a: Any, b: Any) -> bool:
    """Equal; floats, whose sums have no order, within 1e-6 of each other."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        return bool(np.allclose(a, b, rtol=1e-6, atol=0, equal_nan=True))
    return bool(np.array_equal(a, b))


def races(program: Program) -> bool:
    """Whether two right answers may differ: a plain write or a swap of a vertex that other calls write too."""
    return any(
        access.kind in ("store", "swap") and access.index != "own"
        for op in program.module.walk()
        for function in functions_of(op)
        for access in function.accesses()
    )


def promptly(work: Callable[[], T]) -> T:
    """Do it in a thread of its own: a compiler that holds the main thread would keep Ctrl-C from being heard."""
    answer: list[T] = []
    failure: list[BaseException] = []

    def serve() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # it belongs to the caller
            failure.append(error)

    thread = threading.Thread(target=serve, name="pantograf-compile", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
    if failure:
        raise failure[0]
    return answer[0]
