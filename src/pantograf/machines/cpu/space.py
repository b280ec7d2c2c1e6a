"""Which schedules a search tries at a label: every choice between ways, then few values of the numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pantograf import spec
from pantograf.errors import UserError
from pantograf.machines.cpu.schedule import Traverse
from pantograf.schedule import search_space

if TYPE_CHECKING:
    from pantograf.lang.program import Program
    from pantograf.machines.cpu.machine import Cpu

CHOICES: dict[str, tuple[Any, ...]] = {
    "direction": ("push", "dense_push", "pull", "hybrid"),
    "priority": ("eager", "lazy", "fused", "constant_sum"),
    "prefetch": (None, 16),
    "segments": (0, 8),
    "balance": ("vertex",),
}
"""Numbers that change which code is best, and no `auto`."""

NUMBERS: dict[str, tuple[int, ...]] = {
    "grain": (16, 256, 4096),
    "threshold": (4, 100),
    "merge": (100, 10000),
    "prefetch": (4, 64),
    "lookahead": (0, 4, 32),
    "segments": (2, 32),
}
"""Numbers that code takes when it runs: each value once, in the plainest schedule that takes it. They suit any other as well."""


def space(machine: Cpu, program: Program, label: str) -> Iterator[Traverse]:
    """Each schedule that the machine takes at a label of a program; none where nothing can be chosen."""
    acting = machine.knobs(program, label)
    choices: dict[str, tuple[Any, ...]] = {name: values for name, values in CHOICES.items() if name in acting}
    if not acting:
        return
    for knob in dataclasses.fields(Traverse):
        if knob.name not in acting:
            choices[knob.name] = (knob.default,)

    def taken(schedule: Traverse) -> bool:
        return machine.refuses(program.scheduled({label: schedule})) is None

    found = []
    for schedule in search_space(Traverse, **choices):
        if taken(schedule):
            found.append(schedule)
            yield schedule
    found.sort(key=lambda schedule: len(spec.show(schedule)))
    for name, values in NUMBERS.items():
        for value in values if name in acting else ():
            yield from next(([one] for one in _with(found, name, value) if taken(one)), [])


def _with(schedules: list[Traverse], name: str, value: int) -> Iterator[Traverse]:
    """Each schedule that can have a number, with it."""
    for schedule in schedules:
        try:
            yield dataclasses.replace(schedule, **{name: value})  # type: ignore[arg-type]
        except UserError:
            continue
