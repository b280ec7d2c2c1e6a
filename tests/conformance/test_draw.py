"""How schedules are drawn: on a machine made for the purpose, whose knobs need each other and which refuses some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest

from pantograf import algorithms, spec
from pantograf import machine as machines
from pantograf.conformance import matrix
from pantograf.conformance.draw import Cell, draw, ways
from pantograf.conformance.matrix import Verdict
from pantograf.errors import Refused, UserError
from pantograf.lang.program import Program
from pantograf.machines.reference import Reference
from pantograf.schedule import Hybrid, Schedule


@dataclass(frozen=True)
class Knobs(Schedule):
    """`tiles` is for pulling."""

    spec_name: ClassVar[str] = "toy"
    direction: Literal["push", "pull"] = "push"
    order: Literal["a", "b", "c"] = "a"
    flag: bool = True
    tiles: int = 0
    width: float | None = None
    name: str = "x"

    def __post_init__(self) -> None:
        if self.tiles and self.direction != "pull":
            raise UserError("tiles are for pulling")
        if self.tiles > 4:
            raise UserError("at most 4 tiles")


@dataclass(frozen=True)
class Toy(Reference):
    """A machine that refuses order b."""

    spec_name: ClassVar[str] = "toy"
    threads: int = 1

    def schedules(self) -> Mapping[str, type[Schedule]]:
        return {"toy": Knobs}

    def knobs(self, program: Program, label: str) -> tuple[str, ...]:
        return tuple(spec.field_types(Knobs))

    def refuses(self, program: Program) -> Refused | None:
        for label, schedule in program.schedules.items():
            if "order=b" in str(schedule):
                return Refused(f"no order b at {label}")
        return None


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "machine_class", lambda name: Toy)
    monkeypatch.setattr(machines, "find", lambda text: spec.build(Toy, text) if isinstance(text, str) else text)


def test_ways() -> None:
    """Each value but the defaults; what needs another knob has it; what no partner makes legal is left out."""
    found: dict[tuple[str, Any], Any] = {way[0]: way[1:] for way in ways(Knobs)}
    assert found.pop(("tiles", 1)) == found.pop(("tiles", 2)) == (("direction", "pull"),)
    assert set(found) == {
        ("direction", "pull"),
        ("order", "b"),
        ("order", "c"),
        ("flag", False),
        *(("width", number) for number in (1, 2, 5, 16)),
    }
    assert set(found.values()) == {()}


def test_draw_covers_refuses_and_repeats() -> None:
    algorithm = algorithms.find("bfs")
    drawn = draw(algorithm, "toy", 6, 0)
    labels = set(algorithm.program.labels())
    assert drawn.cells[0].schedules == ()
    assert {spec.parse(cell.machine).settings["threads"] for cell in drawn.cells} == {"1", "2", "8"}
    assert {r.message for r in drawn.refusals} == {f"no order b at {label}" for label in labels}
    assert all(r.cell.knobs() == ["order=b"] for r in drawn.refusals)
    assert {label for label, knob in drawn.wanted} == labels
    assert "order=b" not in {knob for label, knob in drawn.wanted}
    ran = {knob for cell in drawn.cells for knob in cell.knobs()}
    assert {knob for label, knob in drawn.wanted} <= ran
    assert drawn.cells == draw(algorithm, "toy", 6, 0).cells
    assert drawn.cells != draw(algorithm, "toy", 6, 1).cells
    assert len(set(drawn.cells)) == len(drawn.cells)


def test_drawn_cells_are_legal_and_some_are_hybrid() -> None:
    hybrids = 0
    for seed in range(10):
        for cell in draw(algorithms.find("sssp"), "toy", 3, seed).cells:
            read = machines.read_schedules(Toy(), dict(cell.schedules))
            hybrids += sum(isinstance(s, Hybrid) for s in read.values())
    assert hybrids > 0


def test_weights_vary_where_the_program_takes_any() -> None:
    assert {c.weights for c in draw(algorithms.find("sssp"), "toy", 2, 0).cells} == {"int32", "float64"}
    assert {c.weights for c in draw(algorithms.find("bfs"), "toy", 2, 0).cells} == {"int32"}


def test_a_machine_that_refuses_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "refuses", lambda self, program: Refused("not today"))
    drawn = draw(algorithms.find("bfs"), "toy", 3, 0)
    assert drawn.cells == []
    assert [(r.message, r.cell.knobs()) for r in drawn.refusals] == [("not today", [])]


def test_a_cell_in_words() -> None:
    cell = Cell("bfs", "toy{threads=2}", (("traverse", "toy{flag=false}"),), "float64")
    assert str(cell) == "bfs on toy{threads=2} traverse=toy{flag=false} (float64 weights)"
    assert cell.machine_name == "toy"


def test_cells_with_fewer_settings() -> None:
    hybrid = "hybrid{first=toy{order=c}, second=toy}"
    cell = Cell("bfs", "toy", (("a", "toy{flag=false, order=c}"), ("b", hybrid)))
    assert [(label, spec.print_text(text)) for label, text in cell.settings()] == [
        ("a", "toy{flag=false}"),
        ("a", "toy{order=c}"),
        ("b", hybrid),
    ]
    assert cell.only(cell.settings()) == cell
    assert cell.only(cell.settings()[1:2]).schedules == (("a", "toy{order=c}"),)
    assert cell.only([]).schedules == ()


def test_what_is_wrong_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong whenever `tiles` of `b` and `flag` of `a` come together: the other five settings go."""

    def toy_check(algorithm: Any, cell: Cell, over: Any) -> Verdict:
        schedules = dict(cell.schedules)
        wrong = "flag" in schedules.get("a", "") and "tiles" in schedules.get("b", "")
        return Verdict(cell, "wrong" if wrong else "agrees")

    monkeypatch.setattr(matrix, "check", toy_check)
    schedules = (
        ("a", "toy{flag=false, order=c, width=2}"),
        ("b", "toy{direction=pull, order=c, tiles=2}"),
        ("c", "toy{order=c}"),
    )
    found = matrix.smaller(algorithms.find("bfs"), Cell("bfs", "toy", schedules), {})
    assert found.schedules == (("a", "toy{flag=false}"), ("b", "toy{tiles=2}"))
