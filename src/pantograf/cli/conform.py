"""`pantograf conform`: whether every machine gives every algorithm's right answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pantograf.cli.options import Json, complete_algorithm, complete_machine
from pantograf.cli.output import Output

if TYPE_CHECKING:
    from pantograf.conformance import Verdict

WRONG = 3


def conform(
    algorithms: Annotated[
        list[str] | None, typer.Argument(metavar="[ALGO]...", help="All by default.", autocompletion=complete_algorithm)
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on", "-m", metavar="M", help="May be repeated; all by default.", autocompletion=complete_machine
        ),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Schedules drawn for each algorithm and machine.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Which schedules and which random graphs.")] = 0,
    json: Json = False,
) -> None:
    """Run algorithms on machines under schedules drawn at random, judge each result, and print the matrix."""
    from pantograf import conformance

    with Output(json) as out:
        with out.working("conformance") as say:

            def progress(verdict: Verdict) -> None:
                say(f"{verdict.cell}: {verdict.status}")

            matrix = conformance.run(draws, seed, on, algorithms, progress)
        if json:
            out.document(matrix.to_dict())
        else:
            out.text(*matrix.lines())
        if not matrix.ok:
            raise typer.Exit(WRONG)
