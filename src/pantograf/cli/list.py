"""`pantograf list`: what there is."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from pantograf.cli.options import DEFAULT_MACHINE, Json, complete_algorithm, complete_machine, find_program
from pantograf.cli.output import Output

app = typer.Typer(help="What there is: machines, algorithms, graphs, schedules, passes.", no_args_is_help=True)


def first_sentence(thing: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def knobs(kind: type) -> dict[str, dict[str, str]]:
    """The settings of a spec class: legal values and defaults, as words."""
    from pantograf import spec

    types = spec.field_types(kind)
    found = {}
    for field in dataclasses.fields(kind):
        if field.init:
            default = spec.show(field.default) if field.default is not dataclasses.MISSING else "required"
            found[field.name] = {"legal": spec.legal(types[field.name]), "default": default}
    return found


@app.command()
def machines(json: Json = False) -> None:
    """The machines, and the hardware that can be set on each."""
    from pantograf import machine

    with Output(json) as out:
        kinds = {name: machine.machine_class(name) for name in machine.names()}
        found: list[dict[str, Any]] = [
            {"name": n, "what": first_sentence(k), "settings": knobs(k)} for n, k in kinds.items()
        ]
        if json:
            out.document(found)
            return
        out.table("machines", ("name", "what"), [(entry["name"], entry["what"]) for entry in found])
        for name, kind in kinds.items():
            _show_knobs(out, f"settings of {name}", knobs(kind))


@app.command()
def schedules(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            metavar="[ALGO]", help="Instead, each schedule that a search tries here.", autocompletion=complete_algorithm
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="LABEL", help="With ALGO: at this label only.")] = None,
    on: Annotated[
        str, typer.Option("--on", "-m", metavar="M", help="With ALGO: the machine.", autocompletion=complete_machine)
    ] = DEFAULT_MACHINE,
    json: Json = False,
) -> None:
    """The schedules that each machine understands, and their knobs; or the search space of one algorithm."""
    from pantograf import machine

    with Output(json) as out:
        if algorithm is not None:
            _show_space(out, algorithm, label, on, json)
            return
        found: list[dict[str, Any]] = [
            {"machine": name, "name": kind_name, "what": first_sentence(kind), "knobs": knobs(kind)}
            for name in machine.names()
            for kind_name, kind in machine.find(name).schedules().items()
        ]
        if json:
            out.document(found)
            return
        if not found:
            out.text("no machine here takes a schedule")
        for entry in found:
            _show_knobs(out, f"{entry['name']}, for {entry['machine']}: {entry['what']}", entry["knobs"])
        if found:
            out.text("two of them by density: hybrid{first=..., second=..., when=20}")


def _show_space(out: Output, algorithm: str, label: str | None, on: str, json: bool) -> None:
    from pantograf import spec

    program, _ = find_program(algorithm)
    program = program.on(on)
    with out.working(f"trying what {on} takes"):
        found = {
            each: [spec.show(schedule) for schedule in program.search_space(each)]
            for each in ([label] if label is not None else program.labels())
        }
    if json:
        out.document(found)
        return
    for each, texts in found.items():
        out.text(f"{each}: {len(texts) or 'no'} schedules")
        for text in texts:
            out.text(f"  {text}")


def _show_knobs(out: Output, title: str, settings: Mapping[str, Mapping[str, str]]) -> None:
    if settings:
        out.table(title, ("name", "default", "legal"), [(n, k["default"], k["legal"]) for n, k in settings.items()])


@app.command()
def algorithms(json: Json = False) -> None:
    """The algorithms in the box, and their arguments."""
    from pantograf import algorithms as box
    from pantograf.cli.options import signature

    with Output(json) as out:
        found: list[dict[str, Any]] = []
        with out.working("reading the algorithms"):
            for name in box.names():
                entry = box.find(name)
                found.append(
                    {
                        "name": name,
                        "arguments": signature(entry.program.parameters()),
                        "what": entry.title,
                        "labels": entry.program.labels(),
                        "same_answer": entry.relation,
                        "citation": entry.citation,
                    }
                )
        if json:
            out.document(found)
            return
        out.table("algorithms", ("name", "arguments", "what"), [(f["name"], f["arguments"], f["what"]) for f in found])


@app.command()
def passes(json: Json = False) -> None:
    """The passes between a program and a machine, in their order."""
    from pantograf.passes import PASSES

    with Output(json) as out:
        found = [{"name": name, "what": first_sentence(kind)} for name, kind in PASSES.items()]
        if json:
            out.document(found)
            return
        out.table("passes", ("name", "what"), [(entry["name"], entry["what"]) for entry in found])


@app.command()
def graphs(json: Json = False) -> None:
    """Generators, data sets by name, graphs in local folders, and the formats of files."""
    from pantograf.graphs import GENERATORS, datasets
    from pantograf.graphs.formats import FORMATS

    with Output(json) as out:
        local = {name: str(path) for name, path in datasets.local().items()}
        generators: list[dict[str, Any]] = [
            {"name": n, "what": first_sentence(k), "settings": knobs(k)} for n, k in GENERATORS.items()
        ]
        if json:
            sets = [dataclasses.asdict(entry) for entry in datasets.TABLE.values()]
            formats = [form._asdict() for form in FORMATS.values()]
            out.document({"generators": generators, "data_sets": sets, "local": local, "formats": formats})
            return
        rows = [(e["name"], ", ".join(f"{k}={v['default']}" for k, v in e["settings"].items())) for e in generators]
        out.table("generators, with what they assume", ("name", "settings"), rows)
        found = [(e.name, e.kind, e.used_by, e.licence, e.url or "no file") for e in datasets.TABLE.values()]
        out.table("data sets", ("name", "kind", "used by", "licence", "from"), found)
        if local:
            out.table("in the folders of PANTOGRAF_DATA", ("name", "file"), list(local.items()))
        out.table("formats", ("suffix", "what"), [(f.suffix, f.about) for f in FORMATS.values()])
