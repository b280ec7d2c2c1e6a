"""Schedules drawn at random, so that few of them cover many values of many knobs."""

from __future__ import annotations

import dataclasses
import random
import types
import typing
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pantograf import machine as machines
from pantograf import spec
from pantograf.errors import UserError
from pantograf.schedule import Hybrid, Schedule

if TYPE_CHECKING:
    from pantograf.algorithms import Algorithm
    from pantograf.machine import Machine

THREADS = (1, 2, 8)
NUMBERS = (1, 2, 5, 16)
NEW, AGAIN, MIXED = 0.7, 0.25, 0.2
"""How often a value is tried that was not drawn yet, or was, and how often a schedule becomes one half of a hybrid."""
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

    def settings(self) -> list[tuple[str, spec.Text]]:
        """Each setting of each schedule, as a schedule of its own; a hybrid is one."""
        found = []
        for label, text in self.schedules:
            read = spec.parse(text)
            if read.name == Hybrid.spec_name:
                found.append((label, read))
            else:
                found += [(label, spec.Text(read.name, {key: value})) for key, value in read.settings.items()]
        return found

    def only(self, settings: Sequence[tuple[str, spec.Text]]) -> Cell:
        """The same cell with these settings and no others."""
        together: dict[str, spec.Text] = {}
        for label, text in settings:
            before = together.get(label, spec.Text(text.name, {}))
            together[label] = spec.Text(text.name, {**before.settings, **text.settings})
        return dataclasses.replace(self, schedules=tuple((k, spec.print_text(v)) for k, v in together.items()))

    def __str__(self) -> str:
        parts = [self.algorithm, "on", self.machine, *(f"{label}={text}" for label, text in self.schedules)]
        return " ".join(parts) + (f" ({self.weights} weights)" if self.weights != "int32" else "")


class Choice(NamedTuple):
    """A value of a knob at a label."""

    label: str
    kind: type[Schedule]
    way: Way

    @property
    def shown(self) -> str:
        """`knob=value`."""
        name, value = self.way[0]
        return f"{name}={spec.show(value)}"


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
    refused: set[Choice] = field(default_factory=set)
    ways: Counter[tuple[str, str]] = field(default_factory=Counter)
    """For each label and `knob=value` that acts there, in how many ways it can be had that were not refused."""

    @property
    def wanted(self) -> set[tuple[str, str]]:
        """Each label and `knob=value` that can be had."""
        return {key for key, number in self.ways.items() if number > 0}


def _settings(text: spec.Text, found: set[str]) -> None:
    if text.name == Hybrid.spec_name:
        found.add("hybrid")
    for key, value in text.settings.items():
        if isinstance(value, spec.Text):
            _settings(value, found)
        else:
            found.add(f"{key}={spec.show(value)}")


def ways(kind: type[Schedule]) -> list[Way]:
    """Each value of each knob that is not the default; where it needs another knob, once with each that will do."""
    single: list[tuple[str, Any]] = []
    defaults = {f.name: f.default for f in dataclasses.fields(kind)}
    for name, annotation in spec.field_types(kind).items():
        single += [(name, value) for value in _values(annotation) if value != defaults[name]]
    found: list[Way] = []
    for one in single:
        if _made(kind, (one,)) is not None:
            found.append((one,))
            continue
        partners: dict[str, Way] = {}
        for other in single:
            if other[0] not in (one[0], *partners) and _made(kind, (one, other)) is not None:
                partners[other[0]] = (one, other)
        found += partners.values()
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
    on = machines.find(texts[0])
    labels = algorithm.program.labels()
    acting = {label: on.knobs(algorithm.program, label) for label in labels}
    new = [
        Choice(label, schedule, way)
        for label in labels
        for schedule in on.schedules().values()
        for way in ways(schedule)
        if all(name in acting[label] for name, _ in way)
    ]
    draw.ways = Counter((choice.label, choice.shown) for choice in new)
    rng.shuffle(new)
    drawn: list[Choice] = []
    for turn in range(number if new else 0):
        weights = "float64" if turn == 0 and algorithm.program.traced.generic else "int32"
        tried = [c for c in new if rng.random() < NEW] + [c for c in drawn if rng.random() < AGAIN]
        taken = pack(algorithm, texts[(turn + 1) % len(texts)], weights, tried, draw, rng)
        new = [c for c in new if c not in taken and c not in draw.refused]
        drawn = [*drawn, *(c for c in taken if c not in drawn)]
        rng.shuffle(drawn)
    return draw


def pack(
    algorithm: Algorithm, machine: str, weights: str, choices: Sequence[Choice], draw: Draw, rng: random.Random
) -> list[Choice]:
    """One more cell, with as many of the choices as go together and are not refused; those that it has."""
    chosen: dict[str, tuple[type[Schedule], dict[str, Any]]] = {}
    taken: list[Choice] = []
    for choice in choices:
        label, kind, way = choice
        before = chosen.get(label, (kind, {}))
        settings = {**dict(way), **before[1]}
        agrees = before[0] is kind and all(settings[name] == value for name, value in way)
        if not agrees or _made(kind, tuple(settings.items())) is None:
            continue
        trial = {**chosen, label: (kind, settings)}
        if refusal(algorithm, _cell(algorithm, machine, weights, trial, None)) is None:
            chosen = trial
            taken.append(choice)
            continue
        alone = _cell(algorithm, machine, weights, {label: (kind, dict(way))}, None)
        said = refusal(algorithm, alone)
        if said is not None:
            draw.refusals.append(Refusal(alone, said))
            draw.refused.add(choice)
            draw.ways[label, choice.shown] -= 1
    cell = _cell(algorithm, machine, weights, chosen, rng)
    if refusal(algorithm, cell) is not None:
        cell = _cell(algorithm, machine, weights, chosen, None)
    if cell not in draw.cells:
        draw.cells.append(cell)
    return taken


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
        if rng is not None and rng.random() < MIXED:
            schedule = _mixed(Hybrid(schedule, kind(), rng.choice((1, 3, 20))))
        schedules.append((label, spec.show(schedule)))
    return Cell(algorithm.name, machine, tuple(schedules), weights)


def _mixed(hybrid: Hybrid) -> Schedule:
    """The hybrid, or its first part alone where the second cannot inherit its settings."""
    try:
        hybrid.parts()
    except UserError:
        return hybrid.first
    return hybrid


def refusal(algorithm: Algorithm, cell: Cell) -> str | None:
    """Why the machine will not run the cell, if so."""
    try:
        machine: Machine = machines.find(cell.machine)
        program = algorithm.program.on(machine).scheduled(dict(cell.schedules))
        refused = machine.refuses(program)
    except UserError as error:
        return error.message
    return None if refused is None else refused.message
