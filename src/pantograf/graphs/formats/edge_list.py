"""`.el` and `.wel`: a line for each edge, `source destination` or `source destination weight`, ids from 0, comments by
# or %.

A comment `# Nodes: 12` (as SNAP writes it) may give the number of vertices; the writer adds it where the largest id
does not. Nothing says whether the edges of a file are undirected: load with `undirected=True`, or use `as_undirected`.
"""

from __future__ import annotations

import re
from pathlib import Path

from pantograf import files
from pantograf.graphs.csr import Graph
from pantograf.graphs.formats import text
from pantograf.graphs.formats.edges import EdgeList


def read(path: Path) -> EdgeList:
    """Edges in the order of the file; whole weights become int32 or int64, others float64."""
    weighted = _is_weighted(path)
    form = text.EdgeLines(
        weight="number" if weighted else "", written="source destination" + (" weight" if weighted else "")
    )
    with text.Lines(path) as lines:
        src, dst, weights = text.read_edges(lines, form)
    return EdgeList(src, dst, text.weight_type(weights), at_least=_promised_vertices(path))


def _is_weighted(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".wel")


def _promised_vertices(path: Path) -> int:
    """The number in a comment `# Nodes: N` before the first edge, or 0."""
    with text.Lines(path) as lines:
        while (found := lines.header()) is not None and (not found[0].strip() or found[0].lstrip()[0] in "#%"):
            if match := re.search(r"\bNodes:\s*(\d{1,18})\b", found[0]):
                return int(match.group(1))
    return 0


def write(graph: Graph, path: Path) -> None:
    """All stored edges, so that a symmetric graph has each of its edges twice."""
    src, dst, weights = graph.edges()
    columns = [src, dst]
    if _is_weighted(path):
        columns.append(graph.with_weights("unit").weights if weights is None else weights)  # type: ignore[arg-type]
    with files.replacing(path) as file:
        if graph.n and (graph.m == 0 or max(int(src[-1]), int(dst.max())) < graph.n - 1):
            file.write(f"# Nodes: {graph.n} Edges: {graph.m}\n".encode())
        text.write_rows(file, columns, " ".join(["%s"] * len(columns)) + "\n")
