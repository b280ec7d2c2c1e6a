"""`pantograf tune`: search for the schedules under which a program runs fastest, and say why the others lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from pantograf.cli.output import Output, note

if TYPE_CHECKING:
    from pantograf.tune import Tuning

WRONG = 3
SHOWN = 10


def tune(
    words: Words,
    graph: GraphText,
    on: MachineText = DEFAULT_MACHINE,
    schedule: ScheduleTexts = None,
    arg: ArgumentTexts = None,
    weights: WeightsText = None,
    cells: Annotated[int, typer.Option(min=1, metavar="N", help="Try N cells at most.")] = 300,
    sources: Annotated[
        int, typer.Option(min=1, metavar="N", help="Draw N times the vertices that are arguments and not given.")
    ] = 4,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Trials of the best few, interleaved.")] = 15,
    seed: Annotated[int, typer.Option(metavar="S", help="Which vertices are drawn.")] = 1,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where finished cells are kept; a file in the cache by default."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what an earlier search has measured.")] = False,
    json: Json = False,
) -> None:
    """Search for the fastest schedules: pantograf tune bfs --graph 'kronecker{scale=14}' --on cpu.

    A label that is given a --schedule keeps it. A search that was stopped goes on where it was; Ctrl-C shows what it has found.
    """
    from pantograf.machine import find
    from pantograf.tune import Search

    name, settings = split_words(words)
    with Output(json) as out:
        machine = find(on)
        program, box = find_program(name)
        program = with_schedules(program, schedule)
        loaded, _ = load_graph(graph, weights, out, box)
        given = program_arguments(program, loaded, settings, arg)
        with out.working(f"compiling {program.name} for {on}"):
            search = Search(
                program,
                loaded,
                machine,
                arguments=given,
                cells=cells,
                sources=sources,
                trials=trials,
                seed=seed,
                state=state,
                fresh=fresh,
            )
        if search.file.cells:
            note(f"note: {len(search.file.cells)} cells are kept in {search.file.path}; --fresh starts over")
        with out.working(f"asking what {on} takes"):
            _ = search.space
        try:
            with out.counting(f"tuning {program.name}") as say:
                found = search.run(say)
        except KeyboardInterrupt:
            if search.tried:
                show(out, search.found(), json)
                note(f"stopped after {len(search.tried)} cells, which are kept; the same command goes on from here")
            raise
        show(out, found, json)
        for one in found.wrong:
            note(f"wrong answer: {one.cell}: {one.detail}")
        if found.wrong:
            raise typer.Exit(WRONG)


def show(out: Output, found: Tuning, json: bool) -> None:
    """The best cells, what each setting costs, and the best schedule as text to paste."""
    from pantograf.tune import reason

    best = found.best
    if json:
        out.document(
            found.to_dict() | {"why": {str(one.cell): reason(one, best) for one in found.cells if one != best}}
        )
        return
    rows = []
    ranked = found.ranked()
    for one in dict.fromkeys([*ranked[:SHOWN], found.default]):
        work = one.count("edges_processed")
        rows.append(
            (
                ranked.index(one) + 1,
                f"{1e3 * one.mean_seconds:.3f}",
                f"{one.times(best):.2f}x",
                f"{one.count('rounds'):,}",
                f"{work:,}",
                f"{1e9 * sum(one.seconds) / work:.2f}" if work else "-",
                f"{one.compile_seconds:.2f}",
                str(one.cell),
            )
        )
    title = f"{found.program} on {found.machine}, {found.graph}: the best of {len(found.cells)} cells"
    out.table(title, ("", "ms", "ratio", "rounds", "edges", "ns/edge", "compiled s", "schedules"), rows)
    settings = [
        (
            f"{s.label}: {s.knob}={s.value}",
            f"{s.best.times(best):.2f}x",
            "the best" if s.best == best else reason(s.best, best),
        )
        for s in found.settings
    ]
    if settings:
        out.table("the best cell of each setting", ("setting", "ratio", "why"), settings)
    ended = {status: sum(one.status == status for one in found.cells) for status in ("dropped", "stopped", "refused")}
    said = ", ".join(f"{number} {status}" for status, number in ended.items() if number)
    what = {"cells": f"{len(found.cells)}, {found.kept} of them kept from before" + (f"; {said}" if said else "")}
    what["compilations"] = str(found.compilations)
    if not found.complete:
        what["left out"] = "cells near the best: --cells N tries more"
    if found.ratio is not None:
        what["default / best"] = str(found.ratio)
    out.pairs("search", what)
    if not found.schedules:
        out.text("the default is the best: no schedule is needed")
        return
    out.text("best schedule", f"  {found.command_line()}", f"  {found.python()}")
