"""`.gr`, the ninth DIMACS challenge: `p sp N M`, then an arc `a SOURCE DESTINATION WEIGHT` on each line, ids from 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pantograf import files
from pantograf.graphs.csr import Graph
from pantograf.graphs.formats import text
from pantograf.graphs.formats.edges import EdgeList


def read(path: Path) -> EdgeList:
    """Arcs are directed; whole weights become int32 or int64, others float64."""
    with text.Lines(path) as lines:
        header, line = lines.header_after("c")
        words = header.split()
        if len(words) != 4 or words[:2] != ["p", "sp"]:
            lines.fail("expected the header 'p sp VERTICES ARCS'", line, header, hint="lines before it start with c")
        n, m = text.counts(lines, words[2:], line, header, ["vertices", "arcs"])
        text.check_promise(lines, m, 8, line, header)
        form = text.EdgeLines(
            weight="number",
            base=1,
            rows=n,
            columns=n,
            promised=m,
            promise_line=line,
            prefix=b"a",
            comments=b"c",
            written="a source destination weight",
        )
        src, dst, weights = text.read_edges(lines, form)
        return EdgeList(src, dst, text.weight_type(weights), n, place=lines.place(line, header))


def write(graph: Graph, path: Path) -> None:
    """All stored edges; without weights each weighs 1."""
    src, dst, weights = graph.edges()
    if weights is None:
        weights = np.ones(graph.m, np.int32)
    with files.replacing(path) as file:
        file.write(f"p sp {graph.n} {graph.m}\n".encode())
        text.write_rows(file, [src.astype(np.int64) + 1, dst.astype(np.int64) + 1, weights], "a %s %s %s\n")
