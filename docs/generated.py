"""Pages made from the code: `:::{generated} graphir` and its like stand for what the docstrings and fields say."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from collections.abc import Callable
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def paragraphs(thing: object) -> str:
    return inspect.getdoc(thing) or ""


def described(kind: type) -> list[str]:
    """A docstring as Markdown: its first paragraph, then what is set in columns as it stands."""
    first, _, rest = paragraphs(kind).partition("\n\n")
    return [" ".join(first.split()), "", *(["```text", rest, "```", ""] if rest else [])]


def own_classes(module: Any) -> list[type]:
    found = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    return sorted(found, key=lambda kind: inspect.getsourcelines(kind)[1])


def graphir() -> str:
    """The dialect: the grammar of the module's docstring, then every type and operation."""
    from xdsl.ir import Operation, ParametrizedAttribute

    from pantograf.ir import graph

    intro, _, table = (graph.__doc__ or "").partition("| attribute")
    lines = [intro.strip(), "", "| attribute" + table.strip() if table else "", "", "**Types**", ""]
    kinds = [kind for kind in own_classes(graph) if isinstance(getattr(kind, "name", None), str)]
    for kind in kinds:
        if issubclass(kind, ParametrizedAttribute):
            lines += [f"`!{kind.name}`", f": {' '.join(paragraphs(kind).split())}", ""]
    lines += ["", "**Operations**", ""]
    for kind in kinds:
        if issubclass(kind, Operation):
            definition = kind.get_irdl_definition()
            parts = {
                "operands": [name for name, _ in definition.operands],
                "properties": list(definition.properties),
                "regions": [name for name, _ in definition.regions],
                "results": [name for name, _ in definition.results],
            }
            has = "; ".join(f"{what}: {', '.join(f'`{n}`' for n in names)}" for what, names in parts.items() if names)
            text = paragraphs(kind).replace("\n\n", "\n\n  ").replace("\n", "\n  ")
            lines += [f"`{kind.name}`", f": {text}", "", f"  {has or 'no operands'}", ""]
    return "\n".join(lines)


def knob_table(kind: type) -> list[str]:
    from pantograf.cli.list import knobs

    lines = ["| name | default | legal |", "|---|---|---|"]
    for name, knob in knobs(kind).items():
        legal = knob["legal"].replace("|", "\\|")
        lines.append(f"| `{name}` | `{knob['default']}` | {legal} |")
    return lines if len(lines) > 2 else []


def machines() -> str:
    """Every machine with its settings."""
    from pantograf import machine

    lines = []
    for name in machine.names():
        kind = machine.machine_class(name)
        lines += [f"**{name}**", "", *described(kind), *knob_table(kind), ""]
    return "\n".join(lines)


def schedules() -> str:
    """Every class of schedules with its knobs."""
    from pantograf import machine

    lines = []
    for name in machine.names():
        for text_name, kind in machine.find(name).schedules().items():
            lines += [f"**{text_name}**, for the machine `{name}`", "", *described(kind), *knob_table(kind), ""]
    return "\n".join(lines)


def passes() -> str:
    """The passes in their order."""
    from pantograf.passes import PASSES

    return "\n".join(f"- `{name}`: {' '.join(paragraphs(kind).split())}" for name, kind in PASSES.items())


def algorithms() -> str:
    """The algorithms in the box."""
    from pantograf import algorithms as box
    from pantograf.cli.options import signature

    lines = ["| name | arguments | what | when two answers are the same |", "|---|---|---|---|"]
    for name in box.names():
        entry = box.find(name)
        arguments = signature(entry.program.parameters()) or "-"
        lines.append(f"| `{name}` | `{arguments}` | {entry.title} | {entry.relation} |")
    return "\n".join(lines)


def command_line() -> str:
    """What `--help` prints for the command and each subcommand."""
    from pantograf.cli import app, call

    os.environ |= {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    names = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    groups = [[group.name or "", c.name or c.callback.__name__] for group in app.registered_groups if group.typer_instance
              for c in group.typer_instance.registered_commands if c.callback]  # fmt: skip
    lines = []
    for words in [[], *([name] for name in names), *groups]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            call([*words, "--help"])
        text = "\n".join(line.rstrip() for line in said.getvalue().strip("\n").splitlines())
        lines += [f"**pantograf {' '.join(words)}**".replace(" **", "**"), "", "```text", text, "```", ""]
    return "\n".join(lines)


def vocabulary() -> str:
    """Every word of programs: the methods of each kind of value, then functions."""
    from pantograf.lang import types

    def row(owner: str, name: str, thing: Any) -> str:
        call = ""
        if callable(thing):
            names = [p.name for p in inspect.signature(thing).parameters.values() if p.name != "self"]
            call = f"({', '.join(names)})"
        first = " ".join(paragraphs(thing).split("\n\n")[0].split()).replace("|", "\\|")
        return f"| `{owner}{name}{call}` | {first} |"

    lines = ["| word | what |", "|---|---|"]
    shown = {"VertexSet": "vertices", "Edges": "edges", "Property": "p", "PriorityQueue": "queue", "List": "items"}
    for kind, owner in shown.items():
        for name, member in vars(getattr(types, kind)).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                lines.append(row(f"{owner}.", name, member))
    functions = [v for v in vars(types).values() if inspect.isfunction(v) and v.__name__ in types.__all__]
    return "\n".join(lines + [row("pg.", function.__name__, function) for function in functions])


SECTIONS: dict[str, Callable[[], str]] = {
    "graphir": graphir,
    "vocabulary": vocabulary,
    "machines": machines,
    "schedules": schedules,
    "passes": passes,
    "algorithms": algorithms,
    "command_line": command_line,
}


class Generated(SphinxDirective):
    """Put one of `SECTIONS` here."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = SECTIONS[self.arguments[0]]()
        parent = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), source=f"generated {self.arguments[0]}"), 0, parent)
        return parent.children


def to_restructured_text(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written as Markdown is: `code` in single backticks, and a bar is a bar."""
    for i, line in enumerate(lines):
        pieces = re.split(r"(`[^`]+`)", line)
        lines[i] = "".join(f"`{p}`" if p.startswith("`") else re.sub(r"([|*])", r"\\\1", p) for p in pieces)


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", to_restructured_text)
    app.add_directive("generated", Generated)
    return {"parallel_read_safe": True}
