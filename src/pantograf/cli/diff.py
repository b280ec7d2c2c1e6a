"""`pantograf diff`: run a program on two machines and find the first vertex where their answers differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pantograf.cli.options import (
    DEFAULT_MACHINE,
    ArgumentTexts,
    GraphText,
    Json,
    ScheduleTexts,
    WeightsText,
    Words,
    complete_machine,
    find_program,
    load_graph,
    program_arguments,
    split_words,
    with_schedules,
)
from pantograf.cli.output import Output

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result

DIFFERENT = 3


def diff(
    words: Words,
    graph: GraphText,
    on: Annotated[
        list[str] | None,
        typer.Option("--on", "-m", metavar="M", help="Two machines.", autocompletion=complete_machine),
    ] = None,
    schedule: ScheduleTexts = None,
    arg: ArgumentTexts = None,
    weights: WeightsText = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Numbers this close, relative to the larger, are equal.")
    ] = 1e-6,
    json: Json = False,
) -> None:
    """Find the first vertex where two machines differ (reference and cpu unless told otherwise).

    Two answers that differ may both be right, such as two breadth-first trees: the oracle of an algorithm in the box says so.
    """
    from pantograf.machine import find

    machines = on or ["reference", DEFAULT_MACHINE]
    if len(machines) != 2:
        raise typer.BadParameter(f"two machines are compared: write --on twice (it stands here {len(machines)} times)")
    name, settings = split_words(words)
    with Output(json) as out:
        takers = [machine for machine in machines if find(machine).schedules()]
        program, box = find_program(name)
        loaded, _ = load_graph(graph, weights, out, box)
        arguments = program_arguments(program, loaded, settings, arg, box)
        results = []
        for machine in machines:
            scheduled = with_schedules(program, schedule) if machine in takers else program
            with out.working(f"running {program.name} on {machine}"):
                results.append(scheduled.compile(loaded, on=machine)(**arguments))
        rows = compare(loaded, results[0], results[1], tolerance)
        differ = any(row["different"] for row in rows)
        same = not differ
        if differ and box is not None:
            with out.working("checking both answers"):
                same = not any(box.check(loaded, arguments, result) for result in results)
        if json:
            out.document({"program": program.name, "machines": machines, "same_answer": same, "values": rows})
        else:
            columns = ("value", "different", "first at", *machines)
            cells = [(r["value"], r["different"], r["vertex"], r["left"], r["right"]) for r in rows]
            out.table(f"{program.name} on {loaded.name or graph}", columns, cells)
            if differ and same and box is not None:
                out.text(f"both answers are right: {box.relation}")
        if not same:
            raise typer.Exit(DIFFERENT)


def compare(graph: Graph, left: Result, right: Result, tolerance: float) -> list[dict[str, Any]]:
    """For each value: how many entries differ, and the first vertex where they do, by the user's name for it."""
    from pantograf.conformance import differences

    found = {difference.value: difference for difference in differences(left, right, tolerance)}
    rows = []
    for name in left.values:
        row: dict[str, Any] = {"value": name, "different": 0, "vertex": None, "left": None, "right": None}
        if (difference := found.get(name)) is not None:
            vertex = difference.vertex
            if vertex is not None and graph.labels is not None:
                vertex = graph.labels[vertex]
            row |= {"different": difference.count, "vertex": vertex, "left": difference.left, "right": difference.right}
        rows.append(row)
    return rows
