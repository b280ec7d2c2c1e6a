"""`pantograf run`: run a program on a graph, on a machine."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pantograf.cli.options import (
    DEFAULT_MACHINE,
    ArgumentTexts,
    GraphText,
    Json,
    MachineText,
    ScheduleTexts,
    WeightsText,
    Words,
    find_program,
    load_graph,
    program_arguments,
    split_words,
    with_schedules,
)
from pantograf.cli.output import Output
from pantograf.errors import UserError

if TYPE_CHECKING:
    from pantograf.result import Result

WRONG = 3


def run(
    words: Words,
    graph: GraphText,
    on: MachineText = DEFAULT_MACHINE,
    schedule: ScheduleTexts = None,
    arg: ArgumentTexts = None,
    weights: WeightsText = None,
    verify: Annotated[bool, typer.Option("--verify", help="Check the answer with the algorithm's oracle.")] = False,
    max_rounds: Annotated[int | None, typer.Option(min=0, metavar="N", help="Stop after N rounds.")] = None,
    max_seconds: Annotated[float | None, typer.Option(min=0, metavar="S", help="Stop after S seconds.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE.npz", help="Write all values to a file.")] = None,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Run N times and report the times.")] = 1,
    json: Json = False,
) -> None:
    """Run a program on a graph: pantograf run bfs --graph 'kronecker{scale=12}' --on 'cpu{threads=2}' --source 0."""
    from pantograf.machine import find

    name, settings = split_words(words)
    with Output(json) as out:
        machine = find(on)
        program, box = find_program(name)
        program = with_schedules(program, schedule)
        if verify and box is None:
            hint = f"pantograf diff {name} --graph '{graph}' --on reference --on '{on}' compares two machines"
            raise UserError(f"{program.name} has no oracle; algorithms in the box have", hint=hint)
        loaded, changes = load_graph(graph, weights, out, box)
        arguments = program_arguments(program, loaded, settings, arg, box)
        with out.working(f"compiling {program.name} for {on}"):
            ready = program.compile(loaded, on=machine)
        with out.working(f"running {program.name} on {on}"):
            results = [ready(**arguments, max_rounds=max_rounds, max_seconds=max_seconds) for _ in range(repeat)]
        result = results[-1]
        if save is not None:
            _save(result, save)
        wrong = []
        if verify and box is not None:
            with out.working("checking the answer"):
                wrong = box.check(loaded, arguments, result)
        complete = bool(result.stats["completed"])
        summary = box.summary(loaded, arguments, result) if box is not None and complete else summarise(result)
        seconds = [float(one.stats["seconds"]) for one in results]
        if json:
            document = result.to_dict(arrays=False) | {"summary": summary, "seconds": seconds, "graph_changes": changes}
            if verify:
                document |= {"verified": not wrong, "wrong": wrong}
            out.document(document)
        else:
            _show(out, result, summary, seconds)
            if verify and box is not None:
                out.text(*(f"wrong answer: {line}" for line in wrong))
                if not wrong:
                    out.text(f"verified: {box.relation}")
        if wrong:
            raise typer.Exit(WRONG)


def _show(out: Output, result: Result, summary: dict[str, Any], seconds: list[float]) -> None:
    provenance = result.provenance
    graph = provenance["graph"] or "graph"
    title = f"{provenance['program']} on {provenance['machine']}, {graph} ({provenance['vertices']:,} vertices, "
    out.pairs(title + f"{provenance['edges']:,} edges)", summary)
    out.pairs("statistics", result.stats)
    if len(seconds) > 1:
        spread = {
            "runs": len(seconds),
            "median": statistics.median(seconds),
            "fastest": min(seconds),
            "slowest": max(seconds),
        }
        out.pairs("seconds", spread)
    out.pairs("provenance", {key: value for key, value in provenance.items() if value not in (None, {}, "")})


def summarise(result: Result) -> dict[str, Any]:
    """A line for each value of a program that has no summary of its own."""
    return {name: _describe(value) for name, value in result.values.items()}


def _describe(value: Any) -> Any:
    import numpy as np

    if not isinstance(value, np.ndarray):
        return value
    if value.ndim != 1 or not value.size or value.dtype == bool:
        extra = f", {int(value.sum())} true" if value.dtype == bool else ""
        return f"array of {' x '.join(map(str, value.shape))}{extra}"
    usual = value[np.isfinite(value)] if value.dtype.kind == "f" else value[value != _infinity(value.dtype)]
    if not usual.size:
        return f"{value.size} values, none finite"
    reached = "" if usual.size == value.size else f", {value.size - usual.size} infinite"
    return (
        f"{value.size} values from {usual.min()} to {usual.max()}, sum {usual.sum(dtype=_wide(value.dtype))}{reached}"
    )


def _infinity(dtype: Any) -> Any:
    import numpy as np

    return np.iinfo(dtype).max


def _wide(dtype: Any) -> str:
    return {"f": "float64", "u": "uint64"}.get(dtype.kind, "int64")


def _save(result: Result, path: Path) -> None:
    try:
        result.save(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
