"""Each knob of the CPU's schedules acts wherever it is accepted: another value gives another plan, or is refused with a reason."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import pytest

import pantograf as pg
from pantograf import UserError, algorithms, machine, spec
from pantograf.conformance.draw import Way, ways
from pantograf.machines.cpu import Traverse

PROGRAMS = ("bfs_depth", "sssp", "kcore", "pagerank", "triangles")
KNOBS = sorted(f.name for f in dataclasses.fields(Traverse) if f.name != "fuse")
ON = machine.find("cpu{threads=2}")
GRAPH = pg.load("kronecker{scale=6, seed=1}").with_weights("random{low=1, high=9, seed=1}")


@cache
def plan(name: str, label: str, schedule: str) -> Any:
    """What is emitted under a schedule; none if it is refused."""
    algorithm = algorithms.find(name)
    graph = algorithm.prepare(GRAPH)
    try:
        program = algorithm.program.for_graph(graph).scheduled({label: schedule} if schedule else {})
        plan = None if ON.refuses(program) else ON.plan(program, graph)
        return plan and (plan.text, plan.knobs, plan.needs)
    except UserError:
        return None


def text(settings: Way) -> str:
    """Settings as a schedule."""
    return spec.show(Traverse(**dict(settings))) if settings else ""


@pytest.mark.parametrize("knob", KNOBS)
def test_a_knob_acts_where_it_is_accepted(knob: str) -> None:
    acted = 0
    for name in PROGRAMS:
        for label in algorithms.find(name).program.labels():
            changing = []
            for way in [way for way in ways(Traverse) if way[0][0] == knob and not stated(name, label, way[0])][:4]:
                changed = plan(name, label, text(way))
                if changed is not None:
                    changing.append(all(plan(name, label, fewer) != changed for fewer in {"", alone(way)}))
            number = isinstance(getattr(Traverse, knob), int) and knob != "deduplicate"
            few = number or changing.count(False) <= 1  # one of several may be what is chosen anyway
            assert (few and any(changing)) or not changing, f"{name}: {knob} is accepted at {label} and does nothing"
            acted += len(changing)
    assert acted, f"{knob} acts nowhere in {', '.join(PROGRAMS)}"


def alone(way: Way) -> str:
    """What the first setting needs beside it, as a schedule of its own."""
    try:
        return text(way[1:])
    except UserError:
        return ""


def stated(name: str, label: str, setting: tuple[str, Any]) -> bool:
    """Whether a setting only states what the machine chooses anyway."""
    algorithm = algorithms.find(name)
    graph = algorithm.prepare(GRAPH)
    chosen = [
        line.split()[1]
        for line in ON.explain(algorithm.program.for_graph(graph), graph)
        if line.startswith(f"{label.split(':')[-1]}: ")
    ]
    return setting == ("priority", "eager") or (setting[0] == "direction" and setting[1] in chosen)


@pytest.mark.parametrize(
    ("name", "label"), [("bfs", "while:traverse"), ("sssp", "while:relax"), ("triangles", "count")]
)
def test_the_search_space_holds_what_the_machine_takes(name: str, label: str) -> None:
    program = algorithms.find(name).program.on(ON)
    found = list(program.search_space(label))
    assert 20 < len(found) <= 300
    assert len(set(map(spec.show, found))) == len(found)
    for schedule in found[:: len(found) // 8]:
        assert ON.refuses(program.scheduled({label: spec.show(schedule)})) is None
    assert {schedule.direction for schedule in found} >= {"push", "pull"}
    assert ("while" in program.labels()) == (name != "triangles")
    if name != "triangles":
        assert list(program.search_space("while")) == []
