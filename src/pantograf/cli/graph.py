"""`pantograf graph`: look at a graph, convert one, generate one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pantograf.cli.options import Json, WeightsText
from pantograf.cli.output import Output, note
from pantograf.errors import UserError

if TYPE_CHECKING:
    from pantograf.graphs import Graph

app = typer.Typer(help="Look at a graph, convert one, generate one.", no_args_is_help=True)

Text = Annotated[
    str, typer.Argument(metavar="G", help="A file, a data set's name, or a generator: 'kronecker{scale=10}'.")
]
Undirected = Annotated[
    bool, typer.Option("--undirected", help="Store each edge both ways, also where the file does not say so.")
]
SelfLoops = Annotated[str, typer.Option("--self-loops", metavar="keep|drop", help="What happens to edges from v to v.")]
Duplicates = Annotated[
    str, typer.Option("--duplicates", metavar="keep|drop|min|max|sum", help="What happens to parallel edges.")
]
Compact = Annotated[bool, typer.Option("--compact", help="Number only the ids that occur.")]
Form = Annotated[str | None, typer.Option("--form", metavar="FORM", help="Of .npz: scipy writes a SciPy matrix.")]


def load(text: str, weights: str | None, **options: Any) -> Graph:
    """The graph, read as the options say; what does not apply to a generated graph is left out if it is not set."""
    import pantograf

    wanted = {key: value for key, value in options.items() if value not in (False, "keep")}
    return pantograf.load(text, weights=True if weights is None else weights, **wanted)


@app.command()
def info(
    graph: Text,
    weights: WeightsText = None,
    undirected: Undirected = False,
    self_loops: SelfLoops = "keep",
    duplicates: Duplicates = "keep",
    compact: Compact = False,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out components and diameter.")] = False,
    json: Json = False,
) -> None:
    """Say what a graph is: sizes, degrees, components, diameter, locality."""
    from pantograf.graphs import describe

    with Output(json) as out:
        with out.working(f"loading {graph}"):
            loaded = load(
                graph, weights, undirected=undirected, self_loops=self_loops, duplicates=duplicates, compact=compact
            )
            found = describe(loaded, deep=not quick)
        if json:
            out.document(found)
            return
        out.pairs(loaded.name or graph, found)


@app.command()
def convert(
    graph: Text,
    output: Annotated[Path, typer.Argument(metavar="FILE", help="Its suffix says the format.")],
    weights: WeightsText = None,
    undirected: Undirected = False,
    self_loops: SelfLoops = "keep",
    duplicates: Duplicates = "keep",
    compact: Compact = False,
    form: Form = None,
    json: Json = False,
) -> None:
    """Read a graph and write it in another format; the file appears whole or not at all."""
    with Output(json) as out:
        with out.working(f"loading {graph}"):
            loaded = load(
                graph, weights, undirected=undirected, self_loops=self_loops, duplicates=duplicates, compact=compact
            )
        _write(out, loaded, output, form)


@app.command()
def generate(
    graph: Annotated[
        str, typer.Argument(metavar="GENERATOR", help="Such as 'kronecker{scale=18, degree=16, seed=1}'.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Its suffix says the format.")],
    weights: WeightsText = None,
    form: Form = None,
    json: Json = False,
) -> None:
    """Generate a graph and write it to a file; `pantograf list graphs` shows the generators."""
    from pantograf import spec
    from pantograf.graphs import GENERATORS

    with Output(json) as out:
        if spec.parse(graph).name not in GENERATORS:
            raise UserError(f"{graph} is not a generator", hint=f"generators: {', '.join(GENERATORS)}")
        with out.working(f"generating {graph}"):
            made = load(graph, weights)
        _write(out, made, output, form)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A data set that `pantograf list graphs` shows.")],
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Take what comes if no checksum is known, and keep its checksum from now on."),
    ] = False,
    json: Json = False,
) -> None:
    """Download a data set into the cache, from where it is loaded by its name."""
    from pantograf.graphs import datasets

    with Output(json) as out:
        entry = datasets.find(name)
        with out.working(f"fetching {name} from {entry.url}"):
            file = datasets.download(entry, verify=not trust)
        if json:
            out.document({"name": name, "file": str(file), "bytes": file.stat().st_size, "licence": entry.licence})
        else:
            out.text(f"{file}: {file.stat().st_size:,} bytes; licence: {entry.licence}")


def _write(out: Output, graph: Graph, path: Path, form: str | None) -> None:
    from pantograf.graphs import save

    with out.working(f"writing {path}"):
        try:
            save(graph, path, form=form)
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}") from None
    for remark in _left_out(graph, path.with_suffix("") if path.suffix == ".gz" else path):
        note(f"{path}: {remark}")
    written = {"file": str(path), "bytes": path.stat().st_size, "vertices": graph.n, "edges": graph.m}
    if out.json:
        out.document(written)
    else:
        out.text(f"{path}: {graph.n:,} vertices, {graph.m:,} edges, {written['bytes']:,} bytes")


def _left_out(graph: Graph, path: Path) -> Iterator[str]:
    """What a format cannot say of a graph, in words."""
    if graph.weights is not None and path.suffix in (".el", ".sg"):
        yield "the format has no weights, and those of the graph were left out"
    if graph.weights is None and path.suffix in (".wel", ".gr", ".wsg"):
        yield "the format has weights, and each edge was given the weight 1"
    if not graph.symmetric and path.suffix == ".graph":
        yield "the format is for undirected graphs, and others read each edge both ways; --undirected stores them so"
