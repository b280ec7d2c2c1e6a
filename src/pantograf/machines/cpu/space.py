"""Which schedules a search tries at a label: every choice between ways, and few values of the numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pantograf.machines.cpu.schedule import Traverse
from pantograf.schedule import search_space

if TYPE_CHECKING:
    from pantograf.lang.program import Program
    from pantograf.machines.cpu.machine import Cpu

CHOICES: dict[str, tuple[Any, ...]] = {
    "direction": ("push", "dense_push", "pull", "hybrid"),
    "priority": ("eager", "lazy", "fused", "constant_sum"),
    "prefetch": (0, 16),
    "segments": (0, 8),
    "balance": ("vertex",),
}
"""Numbers that change which code is best (grain, threshold and the like move its speed by little), and no `auto`."""


def space(machine: Cpu, program: Program, label: str) -> Iterator[Traverse]:
    """Each schedule that the machine takes at a label of a program; none where nothing can be chosen."""
    acting = machine.knobs(program, label)
    choices: dict[str, tuple[Any, ...]] = {name: values for name, values in CHOICES.items() if name in acting}
    if not acting:
        return
    for knob in dataclasses.fields(Traverse):
        if knob.name not in acting:
            choices[knob.name] = (knob.default,)
    for schedule in search_space(Traverse, **choices):
        if machine.refuses(program.scheduled({label: schedule})) is None:
            yield schedule
