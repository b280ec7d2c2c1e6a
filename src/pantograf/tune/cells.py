"""Cells: what each label of a program runs under; and which of them a search may try."""

from __future__ import annotations

import dataclasses
import itertools
import math
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pantograf import spec
from pantograf.errors import UserError
from pantograf.lang.program import from_graphir
from pantograf.passes import find_label
from pantograf.schedule import read

if TYPE_CHECKING:
    from pantograf.lang.program import Program
    from pantograf.machine import Machine
    from pantograf.schedule import Schedule

AROUND = (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)
"""A knob that overrides an argument of the program (`delta`) is tried at these multiples of the argument."""


@dataclass(frozen=True)
class Cell:
    """Schedules by label, as text; a label that is not there runs as the machine chooses."""

    schedules: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, schedules: Mapping[str, str]) -> Cell:
        """From a mapping; an empty text is no schedule."""
        return cls(tuple(sorted((label, text) for label, text in schedules.items() if text)))

    def at(self, label: str, text: str) -> Cell:
        """The same but for one label."""
        return Cell.of({**dict(self.schedules), label: text})

    def settings(self) -> Mapping[tuple[str, str], str]:
        """The value of each knob that is set, by label and knob."""
        return _settings(self)

    def distance(self, other: Cell) -> int:
        """In how many knobs two cells differ."""
        mine, others = self.settings(), other.settings()
        return sum(mine.get(key) != others.get(key) for key in mine.keys() | others.keys())

    def __str__(self) -> str:
        return "  ".join(f"{label}={text}" for label, text in self.schedules) or "default"


@lru_cache(maxsize=4096)
def _settings(cell: Cell) -> dict[tuple[str, str], str]:
    return {
        (label, knob): spec.print_text(value) if isinstance(value, spec.Text) else spec.show(value)
        for label, text in cell.schedules
        for knob, value in spec.parse(text).settings.items()
    }


class Space:
    """What a machine can choose for a program, label by label. A label that has a schedule already keeps it."""

    def __init__(self, program: Program, machine: Machine, arguments: Mapping[str, Any]) -> None:
        self.kinds = machine.schedules()
        fixed = [find_label(program.module, label) for label in program.schedules]
        self.options: dict[str, list[str]] = {}
        self.numbers: dict[str, dict[str, list[Any]]] = {}
        for label in program.labels():
            if any(find_label(program.module, label) is op for op in fixed):
                continue
            schedules, knobs = _offered(machine, program.show(), label)  # type: ignore[arg-type]
            # A schedule that sets nothing is the machine's own choice again.
            texts = [text for text in map(spec.show, schedules) if "{" in text]
            if texts:
                self.options[label] = ["", *dict.fromkeys(texts)]
                self.numbers[label] = _numbers(schedules, knobs, arguments)

    @property
    def size(self) -> int:
        """How many cells there are, numbers around the best apart."""
        return math.prod(len(options) for options in self.options.values())

    def near(self, best: Cell, most: int) -> Iterator[Cell]:
        """All cells where there are at most so many, else those that differ from the best at one label; then other numbers."""
        if self.size <= most:
            for chosen in itertools.product(*self.options.values()):
                yield Cell.of(dict(zip(self.options, chosen, strict=True)))
        else:
            for label, texts in self.options.items():
                yield from (best.at(label, text) for text in texts)
        for label, numbers in self.numbers.items():
            schedule = self._schedule(dict(best.schedules).get(label, ""))
            for knob, values in numbers.items():
                for value in values:
                    try:
                        changed = dataclasses.replace(schedule, **{knob: value})
                    except UserError:  # it contradicts what the best has
                        continue
                    yield best.at(label, text if "{" in (text := spec.show(changed)) else "")

    def _schedule(self, text: str) -> Schedule:
        return read(text, self.kinds) if text else next(iter(self.kinds.values()))()

    def default(self, knob: str) -> str:
        """What a knob is where nothing sets it."""
        for kind in self.kinds.values():
            if knob in spec.field_types(kind):
                return spec.show(getattr(kind, knob))
        return "unset"


@lru_cache(maxsize=256)
def _offered(machine: Machine, graphir: str, label: str) -> tuple[tuple[Schedule, ...], tuple[str, ...]]:
    """What a machine (a frozen dataclass) offers at a label: it takes seconds to say, and says the same for every graph."""
    program = from_graphir(graphir)
    return tuple(machine.space(program, label)), tuple(machine.knobs(program, label))


def _numbers(schedules: Sequence[Schedule], acting: Sequence[str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """For each knob that is a number, the values to try."""
    found: dict[str, list[Any]] = {}
    for knob, annotation in spec.field_types(type(schedules[0])).items():
        kinds = {annotation, *typing.get_args(annotation)}
        if knob not in acting or not kinds & {int, float}:
            continue
        values = dict.fromkeys(getattr(schedule, knob) for schedule in schedules)
        given = arguments.get(knob)
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            values |= dict.fromkeys(_around(given))
        if len(values) > 1:
            found[knob] = list(values)
    return found


def _around(given: int | float) -> list[int | float]:
    if isinstance(given, float):
        return [given * factor for factor in AROUND]
    return [value for value in dict.fromkeys(round(given * factor) for factor in AROUND) if value > 0]
