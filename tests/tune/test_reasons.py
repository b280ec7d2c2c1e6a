"""Why cells lost: the sentence names the measured quantity, and another quantity gives another sentence."""

from __future__ import annotations

import pytest

from pantograf.tune.cells import Cell
from pantograf.tune.measure import Measured
from pantograf.tune.reasons import by_setting, reason

DEFAULT = Cell()


def measured(
    seconds: float, edges: int, rounds: int, status: str = "measured", cell: Cell = DEFAULT, vertices: int = 10
):
    counts = {"edges_processed": (edges,), "rounds": (rounds,), "vertices_processed": (vertices,)}
    return Measured(cell, status, (seconds,), counts)


BEST = measured(1.0, 1000, 10)


@pytest.mark.parametrize(
    ("seconds", "edges", "rounds", "said"),
    [
        (3.0, 3100, 10, "processed 3.1x the edges"),
        (4.0, 1000, 52, "5.2x the rounds, with 1x the edges"),
        (1.4, 1000, 10, "same edges and rounds: 1.4x the time per edge"),
        (2.0, 500, 10, "4.0x the time per edge, more than its 0.5x the edges make up for"),
        (9.0, 1200, 12, "7.5x the time per edge, with 1.2x the edges and 1.2x the rounds"),
        (1.04, 1000, 10, "as fast within 5%: 1x the edges, 1x the rounds"),
    ],
)
def test_a_sentence_names_what_was_measured(seconds: float, edges: int, rounds: int, said: str) -> None:
    assert reason(measured(seconds, edges, rounds), BEST) == said


def test_the_inverse_quantity_gives_the_opposite_sentence() -> None:
    """The same time, but the best and the loser have each other's edges; then each other's rounds."""
    many, few = measured(3.0, 3000, 10), measured(1.0, 1000, 10)
    assert reason(many, few) == "processed 3.0x the edges"
    many, few = measured(1.0, 3000, 10), measured(3.0, 1000, 10)
    assert reason(few, many) == "9.0x the time per edge, more than its 0.33x the edges make up for"
    assert "5.0x the rounds" in reason(measured(3.0, 1000, 50), BEST)
    assert "0.2x the rounds" in reason(measured(3.0, 1000, 10), measured(1.0, 1000, 50))


def test_what_was_cut_short_says_so() -> None:
    assert reason(measured(1.0, 8000, 10, "stopped"), BEST) == "stopped; until then it had processed 8.0x the edges"
    assert reason(Measured(Cell(), "refused", detail="it cannot"), BEST) == "refused: it cannot"


def test_a_dropped_cell_is_compared_on_what_it_ran() -> None:
    best = Measured(Cell(), "measured", (1.0, 9.0), {"edges_processed": (100, 900), "rounds": (1, 1)})
    loser = Measured(Cell(), "dropped", (4.0,), {"edges_processed": (400,), "rounds": (1,)})
    assert loser.times(best) == 4.0
    assert reason(loser, best) == "processed 4.0x the edges"


def test_work_on_vertices_is_not_told_in_edges() -> None:
    best = measured(1.0, 0, 3, vertices=1000)
    assert reason(measured(2.0, 0, 3, vertices=2000), best) == "processed 2.0x the vertices"


class Knobs:
    def default(self, knob: str) -> str:
        return f"default {knob}"


def test_each_setting_has_its_best_cell() -> None:
    def cell(text: str) -> Cell:
        return Cell.of({"a": text})

    default = measured(2.0, 2000, 10)
    pull = measured(1.0, 1000, 10, cell=cell("cpu{direction=pull}"))
    slow = measured(5.0, 1000, 10, cell=cell("cpu{direction=pull, dealing=static}"))
    wrong = measured(0.1, 1000, 10, "wrong", cell=cell("cpu{direction=push}"))
    found = [(s.knob, s.value, s.best) for s in by_setting([default, pull, slow, wrong], pull, Knobs())]
    assert found == [
        ("dealing", "default dealing", pull),
        ("dealing", "static", slow),
        ("direction", "pull", pull),
        ("direction", "default direction", default),
    ]
