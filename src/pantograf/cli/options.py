"""The options that several commands share, and how their words are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pantograf.cli.output import note
from pantograf.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pantograf.algorithms import Algorithm
    from pantograf.cli.output import Output
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program

DEFAULT_MACHINE = "cpu"
PROGRAM_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}


def complete_algorithm(incomplete: str) -> list[str]:
    """Names of algorithms, for the shell."""
    from pantograf.algorithms import names

    return [name for name in names() if name.startswith(incomplete)]


def complete_machine(incomplete: str) -> list[str]:
    """Names of machines, for the shell."""
    from pantograf.machine import names

    return [name for name in names() if name.startswith(incomplete)]


def complete_graph(incomplete: str) -> list[str]:
    """Files, data sets and generators, for the shell."""
    from pathlib import Path

    from pantograf.graphs import GENERATORS, datasets, formats

    found = [*datasets.names(), *(f"{name}{{" for name in GENERATORS)]
    place = Path(incomplete or ".")
    folder = place if place.is_dir() else place.parent
    if folder.is_dir():
        files = sorted(folder.iterdir())
        found += [f"{f}/" if f.is_dir() else str(f) for f in files if f.is_dir() or formats.format_of(f) is not None]
    return [name for name in found if name.startswith(incomplete)]


def complete_stage(incomplete: str) -> list[str]:
    """Stages, for the shell."""
    return [name for name in ("ir", "scheduled", "source") if name.startswith(incomplete)]


def complete_schedule(ctx: typer.Context, incomplete: str) -> list[str]:
    """Labels of the algorithm, for the shell."""
    given = ctx.params.get("words") or ctx.params.get("program") or ctx.params.get("algorithm") or ctx.args
    try:
        program, _ = find_program(given if isinstance(given, str) else given[0])
        return [f"{label}=" for label in program.labels() if label.startswith(incomplete)]
    except (UserError, IndexError):
        return []


Words = Annotated[
    list[str],
    typer.Argument(
        metavar="ALGO [--ARGUMENT VALUE]...",
        help="An algorithm's name, file.py:program or file.gir; then the program's own arguments (--source 0).",
        autocompletion=complete_algorithm,
        show_default=False,
    ),
]
GraphText = Annotated[
    str,
    typer.Option(
        "--graph",
        "-g",
        metavar="G",
        help="A file, a data set's name, or a generator: 'kronecker{scale=10}'.",
        autocompletion=complete_graph,
    ),
]
GraphTextOrNone = Annotated[
    str | None,
    typer.Option(
        "--graph",
        "-g",
        metavar="G",
        help="A file, a data set's name, or a generator: 'kronecker{scale=10}'.",
        autocompletion=complete_graph,
    ),
]
WeightsText = Annotated[
    str | None,
    typer.Option(
        "--weights", metavar="W", help="Give the edges weights: unit, rounded, 'random{low=1, high=255, seed=1}'."
    ),
]
MachineText = Annotated[
    str,
    typer.Option(
        "--on", "-m", metavar="M", help="A machine: cpu, 'cpu{threads=2}', reference.", autocompletion=complete_machine
    ),
]
ScheduleTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--schedule",
        "-s",
        metavar="LABEL=SPEC",
        help="How to run what stands at a label. May be repeated.",
        autocompletion=complete_schedule,
    ),
]
ArgumentTexts = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=VALUE", help="An argument of the program; the same as --NAME VALUE."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def load_graph(text: str, weights: str | None, out: Output, box: Algorithm | None = None) -> tuple[Graph, list[str]]:
    """The graph that a text names, with weights if they were asked for, made such as an algorithm needs it; and what was done."""
    import pantograf

    with out.working(f"loading {text}"):
        graph: Graph = pantograf.load(text)
        if weights is not None:
            graph = graph.with_weights(weights)
        if box is None:
            return graph, []
        changes = box.changes(graph)
        for change in changes:
            note(f"note: {box.name} needs it: {change}")
        return box.prepare(graph), changes


def split_words(words: Iterable[str]) -> tuple[str, list[str]]:
    """The program's name, and the words that belong to the program's own arguments, `--name=value` each."""
    name = None
    settings = []
    rest = iter(words)
    for word in rest:
        if word.startswith("--") and len(word) > 2:
            if "=" not in word:
                value = next(rest, None)
                if value is None:
                    raise typer.BadParameter(f"{word} needs a value")
                word = f"{word}={value}"
            settings.append(word[2:])
        elif word.startswith("-") and not _is_number(word):
            raise typer.BadParameter(f"there is no option {word}")
        elif name is None:
            name = word
        else:
            raise typer.BadParameter(
                f"what is {word!r}? The program is {name!r}; its arguments are written --NAME VALUE"
            )
    if name is None:
        raise typer.BadParameter("name an algorithm, a file.py:program or a file.gir; see `pantograf list algorithms`")
    return name, settings


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def find_program(name: str) -> tuple[Program, Algorithm | None]:
    """The program that a word names, and what the box knows about it if it is one of the box."""
    if Path(name.partition(":")[0]).suffix in (".py", ".gir"):
        from pantograf.lang.program import load_program

        return load_program(name), None
    from pantograf import algorithms

    try:
        box = algorithms.find(name)
    except UserError as error:
        raise UserError(error.message, hint=f"{error.hint}; or file.py:program, or file.gir") from None
    return box.program, box


def with_schedules(program: Program, texts: Iterable[str] | None) -> Program:
    """The program with the schedules that `LABEL=SPEC` texts give it."""
    by_label = {}
    for text in texts or ():
        label, equals, schedule = text.partition("=")
        if not equals or not label or not schedule:
            raise typer.BadParameter(f"--schedule {text!r} is not LABEL=SPEC, such as 'traverse=cpu{{direction=pull}}'")
        if label.strip() in by_label:
            raise typer.BadParameter(f"--schedule says twice what to do at {label.strip()!r}")
        by_label[label.strip()] = schedule.strip()
    return program.scheduled(by_label) if by_label else program


def program_arguments(
    program: Program, graph: Graph, options: Iterable[str], texts: Iterable[str] | None, box: Algorithm | None = None
) -> dict[str, Any]:
    """The program's arguments from `name=value` words, and what suits the graph for others.

    An option that is no argument of the program is a usage error.
    """
    wanted = program.for_graph(graph).parameters()
    for option in options:
        name = option.partition("=")[0]
        if name.replace("-", "_") not in wanted:
            known = ", ".join(f"--{other.replace('_', '-')}" for other in wanted) or "none"
            raise typer.BadParameter(f"there is no option --{name}; arguments of {program.name}: {known}")
    values: dict[str, Any] = {}
    for text in [*options, *(texts or ())]:
        name, equals, word = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"--arg {text!r} is not NAME=VALUE")
        name = name.replace("-", "_")
        if name in values:
            raise typer.BadParameter(f"{name} is given twice")
        if name not in wanted:
            raise UserError(
                f"{program.name} has no argument {name!r}", hint=f"arguments: {signature(wanted) or 'none'}"
            )
        values[name] = read_value(f"{program.name}: {name}", wanted[name][0], graph, word)
    return values if box is None else box.arguments(graph, values)


def signature(parameters: Mapping[str, tuple[Any, Any]]) -> str:
    """A program's arguments and their defaults on one line."""
    return ", ".join(name if default is ... else f"{name}={default}" for name, (_, default) in parameters.items())


def read_value(where: str, kind: Any, graph: Graph, word: str) -> Any:
    """The Python value of one word, for an argument of the given type."""
    from pantograf.ir.graph import PropertyType, VertexSetType, VertexType, is_float, type_name

    if isinstance(kind, VertexType):
        return _read_vertex(graph, word)
    if isinstance(kind, VertexSetType):
        return [_read_vertex(graph, part.strip()) for part in word.strip("[]").split(",") if part.strip()]
    if isinstance(kind, PropertyType):
        return _read_array(where, word)
    shown = type_name(kind)
    if shown == "bool":
        if word.lower() not in ("true", "false"):
            raise UserError(f"{where} is a bool, not {word!r}", hint="true or false")
        return word.lower() == "true"
    try:
        return float(word) if is_float(kind) else int(word)
    except ValueError:
        legal = "a number" if is_float(kind) else "a whole number"
        raise UserError(f"{where} is a {shown}, not {word!r}", hint=f"give {legal}") from None


def _read_vertex(graph: Graph, word: str) -> Any:
    numbered = graph.labels is None or graph.labels.dtype.kind in "iu"
    try:
        return int(word) if numbered else word
    except ValueError:
        return word


def _read_array(where: str, word: str) -> Any:
    import numpy as np

    try:
        return np.load(word, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UserError(f"{where} is one value per vertex, and {word!r} is no .npy file: {error}") from None
