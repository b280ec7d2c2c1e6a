"""`pantograf explain`: how a machine would run a program on a graph, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from pantograf.cli.options import (
    DEFAULT_MACHINE,
    GraphText,
    Json,
    MachineText,
    ScheduleTexts,
    WeightsText,
    complete_algorithm,
    find_program,
    load_graph,
    with_schedules,
)
from pantograf.cli.output import Output


def explain(
    program: Annotated[
        str,
        typer.Argument(
            metavar="ALGO", help="An algorithm's name, file.py:program or file.gir.", autocompletion=complete_algorithm
        ),
    ],
    graph: GraphText,
    on: MachineText = DEFAULT_MACHINE,
    weights: WeightsText = None,
    schedule: ScheduleTexts = None,
    json: Json = False,
) -> None:
    """Why this schedule, and why a loop may or may not run in any order."""
    from pantograf.machine import find

    with Output(json) as out:
        machine = find(on)
        found, box = find_program(program)
        loaded, _ = load_graph(graph, weights, out, box)
        wanted = with_schedules(found, schedule).for_graph(loaded)
        refusal = machine.refuses(wanted)
        reasons = getattr(machine, "explain", None)
        if refusal is not None:
            lines = refusal.lines()
        elif reasons is None:
            lines = [f"{on} runs {wanted.name} as it is written: it takes no schedules"]
        else:
            with out.working(f"explaining {wanted.name} on {on}"):
                lines = list(reasons(wanted, loaded))
        if json:
            document = {
                "program": wanted.name,
                "machine": on,
                "refused": refusal is not None,
                "labels": wanted.labels(),
            }
            out.document(document | {"reasons": lines})
            return
        out.text(*lines)
