"""Why a cell lost: sentences that name the measured quantity which makes up the most of its time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pantograf.tune.cells import Space
from pantograf.tune.measure import Measured

NEAR = 1.05
"""Quotients up to this are the same, measured as roughly as here."""


def reason(loser: Measured, best: Measured) -> str:
    """One sentence: edges, rounds, or the time that each edge took."""
    if loser.status in ("refused", "wrong"):
        return f"{loser.status}: {loser.detail}"
    slower = loser.times(best)
    said = "stopped; until then it had " if loser.status == "stopped" else ""
    # A program whose work is on vertices touches few edges or none.
    on_vertices = best.count("edges_processed") < best.count("vertices_processed") / 10
    things, thing = ("vertices", "vertex") if on_vertices else ("edges", "edge")
    work, rounds = loser.counted(f"{things}_processed", best), loser.counted("rounds", best)
    each = slower / work if work else math.inf
    if not said and slower <= NEAR:
        return f"as fast within {NEAR - 1:.0%}: {work:.2g}x the {things}, {rounds:.2g}x the rounds"
    half = math.sqrt(slower)
    if work > NEAR and (work >= half or said):
        return f"{said}processed {work:.1f}x the {things}"
    if rounds > NEAR and rounds >= half:
        return f"{said}{rounds:.1f}x the rounds, with {work:.2g}x the {things}"
    if work < 1 / NEAR:
        return f"{said}{each:.1f}x the time per {thing}, more than its {work:.2g}x the {things} make up for"
    if rounds <= NEAR and work <= NEAR and rounds >= 1 / NEAR:
        return f"{said}same {things} and rounds: {each:.1f}x the time per {thing}"
    return f"{said}{each:.1f}x the time per {thing}, with {work:.2g}x the {things} and {rounds:.2g}x the rounds"


class Setting(NamedTuple):
    """A value of a knob at a label, and the best cell that has it."""

    label: str
    knob: str
    value: str
    best: Measured


def by_setting(cells: Sequence[Measured], best: Measured, space: Space) -> list[Setting]:
    """For each knob that was tried at more than one value, the best cell of each value, the fastest value first."""
    ran = sorted((o for o in cells if o.seconds and o.status != "wrong"), key=lambda o: (o != best, o.times(best)))
    found = []
    for label, knob in sorted({key for one in ran for key in one.cell.settings()}):
        values: dict[str, Measured] = {}
        for one in ran:
            values.setdefault(one.cell.settings().get((label, knob), space.default(knob)), one)
        if len(values) > 1:
            found += [Setting(label, knob, value, one) for value, one in values.items()]
    return found
