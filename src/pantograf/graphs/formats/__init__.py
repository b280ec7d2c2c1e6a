"""Graph files, one module a format; the suffix of a path decides, `.gz` after it means compressed."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import NamedTuple

from pantograf.errors import UserError
from pantograf.graphs.build import Duplicates, SelfLoops
from pantograf.graphs.csr import Graph, check_choice
from pantograf.graphs.formats.edges import EdgeList


class Format(NamedTuple):
    """A suffix, the module beside this one that reads and writes it, what it is, and whether it is text."""

    suffix: str
    module: str
    about: str
    is_text: bool


FORMATS = {
    form.suffix: form
    for form in (
        Format(".el", "edge_list", "edges as lines of text", True),
        Format(".wel", "edge_list", "weighted edges as lines of text", True),
        Format(".mtx", "matrix_market", "Matrix Market", True),
        Format(".gr", "dimacs", "ninth DIMACS challenge, shortest paths", True),
        Format(".graph", "metis", "METIS, rows of neighbours", True),
        Format(".sg", "serialized", "GAP benchmark, serialized", False),
        Format(".wsg", "serialized", "GAP benchmark, serialized, weighted", False),
        Format(".npz", "npz", "NumPy arrays: edges, or a SciPy matrix", False),
        Format(".parquet", "parquet", "Parquet table of edges", False),
    )
}


def format_of(path: Path) -> Format | None:
    """The format that a path's suffix names."""
    compressed = path.suffix == ".gz"
    form = FORMATS.get(Path(path.stem).suffix if compressed else path.suffix)
    return None if form is None or (compressed and not form.is_text) else form


def _format(path: Path) -> Format:
    form = format_of(path)
    if form is None:
        suffix = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
        legal = ", ".join(f"{s}[.gz]" if f.is_text else s for s, f in FORMATS.items())
        raise UserError(f"{path} has the suffix {suffix!r}, which is no graph's", hint=f"legal: {legal}")
    return form


def _module(suffix: str) -> str:
    if suffix in FORMATS:
        return FORMATS[suffix].module
    if suffix == "movielens":
        return suffix
    raise UserError(f"no format has the suffix {suffix!r}", hint=f"legal: {', '.join(FORMATS)}, movielens")


def stem(path: Path) -> str:
    """The name of a graph file without its suffixes."""
    form = format_of(path)
    name = path.name.removesuffix(".gz")
    return name.removesuffix(form.suffix) if form else name


def read(
    path: str | Path,
    *,
    n: int | None = None,
    undirected: bool = False,
    self_loops: SelfLoops = "keep",
    duplicates: Duplicates = "keep",
    weights: bool = True,
    compact: bool = False,
    name: str | None = None,
    suffix: str | None = None,
) -> Graph:
    """The graph in a file, whose suffix `suffix` may replace; `undirected` stores each edge both ways even where the
    file does not say so.
    """
    path = Path(path)
    module = _format(path).module if suffix is None else _module(suffix)
    check_choice("self_loops", self_loops, SelfLoops)
    check_choice("duplicates", duplicates, Duplicates)
    if compact and n is not None:
        raise UserError("compact=True numbers the vertices itself", hint="leave out n, or compact")
    if path.is_dir():
        raise UserError(f"cannot read {path}: it is a folder")
    if not path.exists():
        raise UserError(f"cannot read {path}: there is no such file")
    found: EdgeList | Graph = importlib.import_module(f"{__name__}.{module}").read(path)
    name = name or (found.name if isinstance(found, EdgeList) else "") or stem(path)
    if isinstance(found, Graph):
        plain = not compact and self_loops == "keep" and duplicates == "keep" and n in (None, found.n)
        if plain and (found.symmetric or not undirected):
            found.name = name
            graph = found
        else:
            graph = EdgeList.of(found).graph(n, undirected, self_loops, duplicates, compact, name)
    else:
        graph = found.graph(n, undirected, self_loops, duplicates, compact, name)
    return graph if weights else graph.with_weights(None)


def write(graph: Graph, path: str | Path, *, form: str | None = None) -> None:
    """A file that appears whole or not at all; `form` chooses between forms of a format that has several (.npz)."""
    path = Path(path)
    module = importlib.import_module(f"{__name__}.{_format(path).module}")
    if form is None:
        module.write(graph, path)
    elif "form" in inspect.signature(module.write).parameters:
        module.write(graph, path, form)
    else:
        raise UserError(f"{path.suffix} files have one form", hint="leave out form")
