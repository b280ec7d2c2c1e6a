"""`pantograf compile`: show a program in one of its forms, from GraphIR to the code that a machine emits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pantograf.cli.options import (
    DEFAULT_MACHINE,
    GraphTextOrNone,
    Json,
    MachineText,
    ScheduleTexts,
    WeightsText,
    complete_algorithm,
    complete_stage,
    find_program,
    load_graph,
    with_schedules,
)
from pantograf.cli.output import Output


def compile_program(
    program: Annotated[
        str,
        typer.Argument(
            metavar="ALGO", help="An algorithm's name, file.py:program or file.gir.", autocompletion=complete_algorithm
        ),
    ],
    on: MachineText = DEFAULT_MACHINE,
    stage: Annotated[
        str,
        typer.Option(
            metavar="STAGE", help="ir, or a stage of the machine: scheduled, source.", autocompletion=complete_stage
        ),
    ] = "source",
    graph: GraphTextOrNone = None,
    weights: WeightsText = None,
    schedule: ScheduleTexts = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead.")
    ] = None,
    json: Json = False,
) -> None:
    """Print a program as GraphIR (ir), after the passes (scheduled), or as emitted code (source)."""
    with Output(json) as out:
        found, box = find_program(program)
        wanted = with_schedules(found, schedule)
        loaded = load_graph(graph, weights, out, box)[0] if graph is not None else None
        with out.working(f"compiling {wanted.name} for {on}"):
            if stage == "ir":
                text = (wanted.for_graph(loaded) if loaded is not None else wanted).show()
            else:
                text = wanted.source(on=on, graph=loaded, stage=stage)
        if not text.endswith("\n"):
            text += "\n"
        if output is not None:
            from pantograf import files

            with files.replacing(output) as file:
                file.write(text.encode())
        if json:
            shown = {"text": text} if output is None else {"file": str(output), "lines": text.count("\n")}
            out.document({"program": wanted.name, "machine": on, "stage": stage} | shown)
        elif output is None:
            out.code(text, "python" if stage == "source" else "mlir")
