"""Schedules drawn at random, so that few of them cover many values of many knobs."""

from __future__ import annotations

import dataclasses
import random
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pantograf import machine as machines
from pantograf import spec
from pantograf.errors import UserError
from pantograf.schedule import Hybrid, Schedule

if TYPE_CHECKING:
    from pantograf.algorithms import Algorithm
    from pantograf.machine import Machine

THREADS = (1, 2, 8)
NUMBERS = (1, 2, 5, 64)
Way = tuple[tuple[str, Any], ...]
"""Settings of one schedule that make sense together; the first is what it is about."""


@dataclass(frozen=True)
class Cell:
    """What is compiled once: an algorithm, a machine, schedules, and the type of the weights."""

    algorithm: str
    machine: str
    schedules: tuple[tuple[str, str], ...] = ()
    weights: str = "int32"

    @property
    def machine_name(self) -> str:
        """The machine without its settings."""
        return spec.parse(self.machine).name

    def knobs(self) -> list[str]:
        """The settings that differ from the defaults, as `name=value`."""
        found: set[str] = set()
        for _, text in self.schedules:
            _settings(spec.parse(text), found)
        return sorted(found)

    def __str__(self) -> str:
        parts = [self.algorithm, "on", self.machine, *(f"{label}={text}" for label, text in self.schedules)]
        return " ".join(parts) + (f" ({self.weights} weights)" if self.weights != "int32" else "")


@dataclass(frozen=True)
class Refusal:
    """A machine said no."""

    cell: Cell
    message: str


@dataclass
class Draw:
    """Cells to run, and what was refused on the way to them."""

    cells: list[Cell] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    wanted: set[tuple[str, str]] = field(default_factory=set)
    """Each label and `knob=value` there is, but for those that were refused."""


def _settings(text: spec.Text, found: set[str]) -> None:
    if text.name == Hybrid.spec_name:
        found.add("hybrid")
    for key, value in text.settings.items():
        if isinstance(value, spec.Text):
            _settings(value, found)
        else:
            found.add(f"{key}={spec.show(value)}")


def ways(kind: type[Schedule]) -> list[Way]:
    """Each value of each knob that is not the default; with another knob's value beside it where it needs one."""
    single: list[tuple[str, Any]] = []
    defaults = {f.name: f.default for f in dataclasses.fields(kind)}
    for name, annotation in spec.field_types(kind).items():
        single += [(name, value) for value in _values(annotation) if value != defaults[name]]
    found: list[Way] = []
    for one in single:
        partners = [(), *((other,) for other in single if other[0] != one[0])]
        fitting = next((rest for rest in partners if _made(kind, (one, *rest)) is not None), None)
        if fitting is not None:
            found.append((one, *fitting))
    return found


def _values(annotation: Any) -> list[Any]:
    if typing.get_origin(annotation) is Literal:
        return list(typing.get_args(annotation))
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [value for option in typing.get_args(annotation) for value in _values(option)][: len(NUMBERS)]
    if annotation is bool:
        return [False, True]
    return list(NUMBERS) if annotation in (int, float) else []


def _made(kind: type[Schedule], settings: Way) -> Schedule | None:
    try:
        return kind(**dict(settings))
    except UserError:
        return None


def draw(algorithm: Algorithm, machine_name: str, number: int, seed: int) -> Draw:
    """The default schedule and `number` others for one algorithm on one machine; each value of a knob is drawn early."""
    kind = machines.machine_class(machine_name)
    rng = random.Random(f"{algorithm.name} {machine_name} {seed}")
    threads = THREADS if "threads" in spec.field_types(kind) else ()
    texts = [f"{machine_name}{{threads={count}}}" for count in threads] or [machine_name]
    rng.shuffle(texts)
    draw = Draw()
    first = Cell(algorithm.name, texts[0])
    refused = refusal(algorithm, first)
    if refused is not None:
        draw.refusals.append(Refusal(first, refused))
        return draw
    draw.cells.append(first)
    kinds = machines.find(texts[0]).schedules()
    labels = algorithm.program.labels()
    left = [(label, schedule, way) for label in labels for schedule in kinds.values() for way in ways(schedule)]
    draw.wanted = {(label, _shown(way)) for label, _, way in left}
    rng.shuffle(left)
    for turn in range(number if left or (kinds and labels) else 0):
        weights = "float64" if turn == 0 and algorithm.program.traced.generic else "int32"
        text = texts[(turn + 1) % len(texts)]
        pack(algorithm, text, weights, left, draw, rng)
    return draw


def pack(
    algorithm: Algorithm,
    machine: str,
    weights: str,
    left: list[tuple[str, type[Schedule], Way]],
    draw: Draw,
    rng: random.Random,
) -> None:
    """One more cell, with as many of the values that are `left` as go together and are not refused."""
    chosen: dict[str, tuple[type[Schedule], dict[str, Any]]] = {}
    taken: list[tuple[str, type[Schedule], Way]] = []
    for label, kind, way in list(left):
        before = chosen.get(label, (kind, {}))
        settings = {**dict(way), **before[1]}
        agrees = before[0] is kind and all(settings[name] == value for name, value in way)
        if not agrees or _made(kind, tuple(settings.items())) is None:
            continue
        trial = {**chosen, label: (kind, settings)}
        said = refusal(algorithm, _cell(algorithm, machine, weights, trial, None))
        if said is None:
            chosen, taken = trial, [*taken, (label, kind, way)]
            continue
        alone = _cell(algorithm, machine, weights, {label: (kind, dict(way))}, None)
        said = refusal(algorithm, alone)
        if said is not None:
            draw.refusals.append(Refusal(alone, said))
            draw.wanted.discard((label, _shown(way)))
            left.remove((label, kind, way))
    cell = _cell(algorithm, machine, weights, chosen, rng)
    if cell.schedules and refusal(algorithm, cell) is not None:
        cell = _cell(algorithm, machine, weights, chosen, None)
    if cell not in draw.cells:
        draw.cells.append(cell)
    for entry in taken:
        left.remove(entry)
    left += rng.sample(taken, len(taken))


def _cell(
    algorithm: Algorithm,
    machine: str,
    weights: str,
    chosen: Mapping[str, tuple[type[Schedule], Mapping[str, Any]]],
    rng: random.Random | None,
) -> Cell:
    """A cell with these settings; with `rng`, some of its schedules become one half of a hybrid."""
    schedules = []
    for label, (kind, settings) in sorted(chosen.items()):
        schedule: Schedule = kind(**settings)
        if rng is not None and rng.random() < 0.2:
            schedule = Hybrid(schedule, kind(), rng.choice((1, 3, 20)))
        schedules.append((label, spec.show(schedule)))
    return Cell(algorithm.name, machine, tuple(schedules), weights)


def _shown(way: Way) -> str:
    name, value = way[0]
    return f"{name}={spec.show(value)}"


def refusal(algorithm: Algorithm, cell: Cell) -> str | None:
    """Why the machine will not run the cell, if so."""
    try:
        machine: Machine = machines.find(cell.machine)
        program = algorithm.program.on(machine).scheduled(dict(cell.schedules))
        refused = machine.refuses(program)
    except UserError as error:
        return error.message
    return None if refused is None else refused.message
