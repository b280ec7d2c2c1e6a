"""`pantograf bench`: seconds of algorithms on graphs and machines, from interleaved trials."""

from __future__ import annotations

import random
import statistics
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pantograf.cli.options import DEFAULT_MACHINE, Json, complete_algorithm, complete_machine, find_program, load_graph
from pantograf.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pantograf.machine import Executable

ALGORITHMS = ("bfs", "sssp", "pagerank", "cc", "bc", "triangles")
GRAPHS = ("kronecker{scale=14}", "uniform{scale=14}", "grid{rows=128, columns=128}")
SECONDS_PER_CELL = 10.0


class Cell(NamedTuple):
    """One algorithm, compiled for one graph and one machine."""

    algorithm: str
    graph: str
    machine: str
    edges: int
    ready: Executable
    arguments: Mapping[str, Any]


def bench(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ALGO]...", help="GAP's six by default.", autocompletion=complete_algorithm),
    ] = None,
    graph: Annotated[list[str] | None, typer.Option("--graph", "-g", metavar="G", help="May be repeated.")] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on", "-m", metavar="M", help="May be repeated; cpu by default.", autocompletion=complete_machine
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Trials of each cell, interleaved.")] = 15,
    seconds: Annotated[
        float, typer.Option(min=0, metavar="S", help="Fewer trials where a cell takes longer.")
    ] = SECONDS_PER_CELL,
    json: Json = False,
) -> None:
    """Measure: the median of interleaved trials with its 95 % interval, compilation apart."""
    with Output(json) as out:
        cells = []
        for graph_text in graph or GRAPHS:
            for name in algorithms or ALGORITHMS:
                for machine in on or [DEFAULT_MACHINE]:
                    cells.append(prepare(name, graph_text, machine, out))
        times: list[list[float]] = [[] for _ in cells]
        with out.working(f"measuring {len(cells)} cells"):
            for _ in range(trials):
                for cell, kept in zip(cells, times, strict=True):
                    if sum(kept) < seconds:
                        kept.append(float(cell.ready(**cell.arguments).stats["seconds"]))
        found = [row(cell, kept) for cell, kept in zip(cells, times, strict=True)]
        if json:
            out.document(found)
            return
        columns = ("algorithm", "graph", "machine", "edges", "trials", "median ms", "95 % interval", "M edges/s")
        out.table("seconds", columns, [shown(entry) for entry in found])


def prepare(name: str, graph_text: str, machine: str, out: Output) -> Cell:
    """Load, compile, and run once so that nothing is cold."""
    program, box = find_program(name)
    loaded, _ = load_graph(graph_text, None, out, box)
    arguments = box.arguments(loaded) if box is not None else {}
    with out.working(f"compiling {name} for {machine}"):
        ready = program.compile(loaded, on=machine)
        ready(**arguments)
    return Cell(name, graph_text, machine, loaded.m, ready, arguments)


def row(cell: Cell, times: Sequence[float]) -> dict[str, Any]:
    """The statistics of one cell."""
    low, high = interval(times)
    return {
        "algorithm": cell.algorithm,
        "graph": cell.graph,
        "machine": cell.machine,
        "edges": cell.edges,
        "trials": len(times),
        "seconds": statistics.median(times),
        "seconds_low": low,
        "seconds_high": high,
        "edges_per_second": cell.edges / statistics.median(times),
        "compile_seconds": cell.ready.compile_seconds,
    }


def interval(times: Sequence[float], draws: int = 1000) -> tuple[float, float]:
    """A bootstrap interval that holds the median with 95 %."""
    drawn = random.Random(1)
    medians = sorted(statistics.median(drawn.choices(times, k=len(times))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def shown(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    """The cells of a table's row."""
    return (
        entry["algorithm"],
        entry["graph"],
        entry["machine"],
        f"{entry['edges']:,}",
        entry["trials"],
        f"{1e3 * entry['seconds']:.2f}",
        f"{1e3 * entry['seconds_low']:.2f} to {1e3 * entry['seconds_high']:.2f}",
        f"{entry['edges_per_second'] / 1e6:.1f}",
    )
