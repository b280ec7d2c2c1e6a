"""The search: its order, what it keeps, what it refuses. Times are made up where only the order matters."""

from __future__ import annotations

import json
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pantograf as pg
from pantograf import UserError, algorithms, machine
from pantograf.cli.options import with_schedules
from pantograf.tune import Cell, Measured, Search, measure
from pantograf.tune import search as module
from pantograf.tune.cells import Space
from pantograf.tune.kept import Kept
from pantograf.tune.measure import Bench, races
from pantograf.tune.search import Estimate, argument_sets

GRAPH = pg.load("kronecker{scale=6, seed=3}")
ON = "cpu{threads=2}"


@pytest.fixture(scope="module")
def weighted() -> pg.Graph:
    return GRAPH.with_weights("random{low=1, high=255, seed=1}")


def made_up(monkeypatch: pytest.MonkeyPatch, seconds) -> list[Cell]:
    """Cells take what `seconds` says of their settings; the list has those that were measured."""
    ran: list[Cell] = []

    def measure(self: Bench, cell: Cell, best: Measured | None) -> Measured:
        ran.append(cell)
        return Measured(cell, "measured", (seconds({k: v for (_, k), v in cell.settings().items()}),), code=str(cell))

    def interleaved(self: Bench, cells: list[Cell], trials: int):
        return [[(seconds({k: v for (_, k), v in cell.settings().items()}),)] * trials for cell in cells]

    monkeypatch.setattr(Bench, "measure", measure)
    monkeypatch.setattr(Bench, "interleaved", interleaved)
    return ran


def planted(knobs: dict[str, str]) -> float:
    """The best is pull with segments, prefetched: each on its own gives little or nothing."""
    seconds = {"pull": 0.95, "hybrid": 1.0, "push": 1.5}.get(knobs.get("direction", "hybrid"), 2.0)
    if knobs.get("direction") == "pull" and knobs.get("segments", "0") != "0":
        seconds *= {"8": 0.7}.get(knobs["segments"], 0.9)
    seconds *= {"16": 0.9, "64": 0.8}.get(knobs.get("prefetch", "0"), 1.0)
    seconds *= 3.0 if knobs.get("parallelism") == "serial" else 1.0
    return seconds * (1.2 if knobs.get("dealing") == "static" else 1.0)


def test_the_default_comes_first_and_the_best_is_found_early(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = made_up(monkeypatch, planted)
    found = pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=60, state=tmp_path / "a")
    assert ran[0] == Cell()
    assert len(ran) == len(set(ran)) == 60
    assert {tuple(cell.settings().values()) for cell in ran[1:6]} >= {("push",), ("pull",), ("hybrid",)}
    assert found.schedules == {"while:traverse": "cpu{direction=pull, segments=8, prefetch=64}"}
    assert found.ratio is not None and found.ratio.value == pytest.approx(1 / (0.95 * 0.7 * 0.8))
    assert not found.complete


def test_a_setting_that_gains_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_up(monkeypatch, lambda knobs: 1.0 - 0.001 * len(knobs))
    found = pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=20, state=tmp_path / "a")
    assert found.schedules == {}
    assert found.command_line() == ""


def test_a_small_space_is_tried_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also cells that are far from the best at two labels: 4 x 4 of them, and each number of the best."""
    program = pg.parse(
        textwrap.dedent(
            """
            def twice(edges: Edges):
                p = edges.vertices.property(i32, 0)

                def one(v):
                    p[v] += 1

                def two(v):
                    p[v] *= 2

                edges.vertices.apply(one)
                edges.vertices.apply(two)
                return p
            """
        ),
        names=vars(pg),
    )
    ran = made_up(monkeypatch, lambda knobs: 1.0)
    found = pg.tune(program, GRAPH, ON, state=tmp_path / "a")
    ways = {text for cell in ran for _, text in cell.schedules if "grain" not in text}
    assert found.complete
    structural = [cell for cell in ran if all("grain" not in text for _, text in cell.schedules)]
    assert len(structural) == (len(ways) + 1) ** 2


def test_a_label_that_has_a_schedule_keeps_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_up(monkeypatch, lambda knobs: 1.0)
    program = algorithms.pagerank.scheduled(gather="cpu{direction=push}")
    space = Space(program, machine.find(ON), {})
    assert {*space.options} == {"divide", "for:settle"}


def test_delta_is_tried_around_the_argument(weighted: pg.Graph) -> None:
    space = Space(algorithms.sssp.for_graph(weighted), machine.find(ON), {"delta": 16})
    assert {2, 4, 8, 32, 64, 128} <= {*space.numbers["while:relax"]["delta"]}
    assert all(len(options) <= 300 for options in space.options.values())
    texts = {dict(cell.schedules).get("while:relax") for cell in space.near(Cell(), 300)}
    assert "cpu{delta=64}" in texts and "cpu{grain=256}" in texts


def test_arguments_are_drawn_once_for_all(weighted: pg.Graph) -> None:
    bfs = algorithms.find("bfs")
    runs = argument_sets(bfs.program, GRAPH, bfs, {}, 4, 1)
    assert runs == argument_sets(bfs.program, GRAPH, bfs, {}, 4, 1) != argument_sets(bfs.program, GRAPH, bfs, {}, 4, 2)
    assert len({run["source"] for run in runs}) == 4
    assert all(GRAPH.out_degrees[run["source"]] > 0 for run in runs)
    assert argument_sets(bfs.program, GRAPH, bfs, {"source": 5}, 4, 1) == [{"source": 5}]
    sssp = algorithms.find("sssp")
    assert {run["delta"] for run in argument_sets(sssp.program, weighted, sssp, {}, 4, 1)} == {
        sssp.arguments(weighted)["delta"]
    }


def test_a_search_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    state = tmp_path / "kept.jsonl"
    ran = made_up(monkeypatch, planted)
    first = pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=12, state=state)
    assert (len(ran), first.kept) == (12, 0)
    with open(state, "a") as file:
        file.write('{"cell": {"while:traverse": "cpu{dir')  # the process was killed here
    again = pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=20, state=state)
    assert (len(ran), again.kept) == (20, 12)
    assert [one.cell for one in again.cells] == ran
    assert len(state.read_text().splitlines()) == 21
    assert all(json.loads(line) for line in state.read_text().splitlines())
    anew = pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=5, state=state, fresh=True)
    assert (len(ran), anew.kept) == (25, 0)


def test_the_state_of_another_search_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_up(monkeypatch, planted)
    state = tmp_path / "kept.jsonl"
    pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=2, state=state)
    with pytest.raises(UserError, match="was made by another search: arguments differs") as caught:
        pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=2, state=state, seed=2)
    assert "--fresh" in caught.value.hint
    state.write_text("no JSON\n")
    with pytest.raises(UserError, match="was made by another search"):
        pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=2, state=state)
    with pytest.raises(UserError, match="cannot keep cells"):
        Kept(tmp_path, {})


def test_what_a_machine_refuses_is_no_cell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_up(monkeypatch, planted)
    plain = Bench.measure

    def refuse(self: Bench, cell: Cell, best: Measured | None) -> Measured:
        return Measured(cell, "refused", detail="no") if "serial" in str(cell) else plain(self, cell, best)

    monkeypatch.setattr(Bench, "measure", refuse)
    found = pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=40, state=tmp_path / "a")
    refused = sum(one.status == "refused" for one in found.cells)
    assert refused > 0
    assert len(found.cells) == 40 + refused


def test_measured_cells_and_what_is_pasted(tmp_path: Path) -> None:
    """Four real cells: they are counted, their answers compared, and the best comes out as text that works."""
    search = Search(algorithms.bfs_depth, GRAPH, ON, cells=3, trials=2, state=tmp_path / "a")
    found = search.run()
    assert [one.status for one in found.cells] == ["measured"] * 3
    assert found.compilations >= 2
    assert all(one.count("edges_processed") > 0 and one.count("rounds") > 0 for one in found.cells)
    assert len(found.default.seconds) == 4
    found.best = found.cells[1]
    words = shlex.split(found.command_line())
    assert words[::2] == ["--schedule"]
    pasted = with_schedules(algorithms.bfs_depth, words[1::2])
    assert pasted.schedules == eval(found.python(), {"bfs_depth": algorithms.bfs_depth}).schedules == found.schedules
    assert np.array_equal(pasted.on(ON)(GRAPH, source=1).depth, algorithms.bfs_depth.on(ON)(GRAPH, source=1).depth)


def test_slow_cells_are_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(algorithms.bfs_depth, GRAPH, machine.find(ON), [{"source": 0}, {"source": 1}], None)
    whole = bench.measure(Cell(), None)
    assert len(whole.seconds) == 2
    quick = Measured(Cell(), "measured", (whole.seconds[0] / 1e6,) * 2)
    assert bench.measure(Cell(), quick).status == "dropped"
    monkeypatch.setattr(measure, "LEAST_SECONDS", 0.0)
    assert bench.measure(Cell(), Measured(Cell(), "measured", (1e-9, 1e-9))).status in ("stopped", "dropped")


def test_answers_are_held_against_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = machine.Executable.__call__

    def lie(self, *arguments, **named):
        result = plain(self, *arguments, **named)
        if self.program.schedules:
            result.values["depth"][-1:] += 1
        return result

    monkeypatch.setattr(machine.Executable, "__call__", lie)
    found = pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=2, trials=1, state=tmp_path / "a")
    (wrong,) = found.wrong
    assert "vertex" in wrong.detail
    assert found.schedules == {}
    assert races(algorithms.bfs.for_graph(GRAPH)) and races(algorithms.cc_afforest)
    assert not races(algorithms.bfs_depth) and not races(algorithms.pagerank)


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cells cannot be 0"):
        pg.tune(algorithms.bfs_depth, GRAPH, ON, cells=0)
    with pytest.raises(UserError, match="reference takes no schedules: there is nothing to tune"):
        pg.tune(algorithms.bfs_depth, GRAPH, "reference")
    with pytest.raises(UserError, match="has no vertices"):
        pg.tune(algorithms.bfs_depth, pg.Graph.from_edges([], [], n=0), ON)
    with pytest.raises(UserError, match="bfs_depth has no argument 'sorce'"):
        pg.tune(algorithms.bfs_depth, GRAPH, ON, arguments={"sorce": 1}, state=tmp_path / "a")


def test_an_estimate_holds_the_ratio_and_its_spread() -> None:
    sure, unsure = Estimate([2.0] * 15, [1.0] * 15), Estimate([1.0, 3.0] * 8, [1.0, 1.1] * 8)
    assert (sure.value, sure.low, sure.high) == (2.0, 2.0, 2.0)
    assert unsure.low < unsure.value < unsure.high
    assert str(sure) == "2.00 (2.00 to 2.00)"
    assert module.MOST_CELLS == 300
