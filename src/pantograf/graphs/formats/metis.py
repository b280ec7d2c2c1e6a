"""`.graph`, METIS: `N M [FORMAT [CONSTRAINTS]]`, then a line of neighbours for each vertex, ids from 1, comments by %.

M counts undirected edges, each of which stands on two lines. Files that GAPBS uses have M stored edges instead: they
are directed graphs. FORMAT 100 means vertex sizes to METIS, loops and parallel edges to the tenth DIMACS challenge: the
number of words decides. Vertex sizes and weights are read over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pantograf import files
from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array
from pantograf.graphs.csr import Graph, row_ranges
from pantograf.graphs.formats import text


def read(path: Path) -> Graph:
    """Whole edge weights become int32 or int64, others float64."""
    with text.Lines(path) as lines:
        header, line = lines.header_after("%")
        words = header.split()
        if not 2 <= len(words) <= 4 or (len(words) > 2 and not re.fullmatch(r"[01]{1,3}", words[2])):
            lines.fail(
                "expected the header 'VERTICES EDGES [FORMAT [CONSTRAINTS]]'", line, header, hint="FORMAT is 0 to 111"
            )
        n, m = text.counts(lines, words[:2], line, header, ["vertices", "edges"])
        format_ = (words[2] if len(words) > 2 else "0").zfill(3)
        constraints = text.counts(lines, words[3:4], line, header, ["constraints"])[0] if len(words) > 3 else 1
        sized, weighted = format_[0] == "1", format_[2] == "1"
        leading = constraints if format_[1] == "1" else 0
        text.check_promise(lines, n, 1, line, header)
        text.check_promise(lines, m, 2, line, header)
        build.require_memory(build.estimate_bytes(n, m), f"a graph of {n:,} vertices", lines.place(line, header))
        values, counts = _words(lines, n, weighted)
        per_edge = 2 if weighted else 1
        if sized and (values.size - n - n * leading) in (m * per_edge, 2 * m * per_edge):
            leading += 1
        offsets, neighbors, weights = _split(lines, values, counts, leading, per_edge, n, line)
    graph = Graph.from_csr(offsets, neighbors, weights, copy=False)
    loops = int((graph.edges()[0] == graph.neighbors).sum())
    if graph.m not in (m, 2 * m, 2 * m - loops):
        raise UserError(
            f"the header promises {m:,} edges, the lines have {graph.m:,} neighbours",
            lines.place(line, header),
            hint="an undirected edge stands on the lines of both its vertices",
        )
    if graph.m == m and m > loops:
        return graph
    try:
        return graph.named("the file").verified_symmetric()
    except UserError as error:
        raise UserError(error.message + ", ids counted from 0", lines.place(line, header)) from None


def _words(lines: text.Lines, n: int, weighted: bool) -> tuple[Array, Array]:
    """All numbers after the header, and how many stand on each vertex's line."""
    values: list[Array] = []
    counts: list[Array] = []
    as_float = False
    vertices = 0
    for block, first in lines.blocks():
        body = re.sub(rb"(?m)^[ \t]*%.*\n", b"", block) if b"%" in block else block
        read = text.numbers(body, as_float) if body else None
        if body and read is None and weighted and not as_float:
            as_float = True
            read = text.numbers(body, True)
        if body and read is None:
            _explain(lines, block, first)
        if read is None:
            continue
        values.append(read.values)
        per_line = read.per_line()
        vertices += per_line.size
        if vertices > n and per_line[per_line.size - (vertices - n) :].any():
            lines.fail(
                f"the header promises {n:,} vertices, a line past the last one has neighbours", lines.next_line - 1
            )
        counts.append(per_line)
    found = np.concatenate(counts)[:n] if counts else np.empty(0, np.int64)
    if found.size < n - 1:
        lines.fail(f"the header promises {n:,} vertices, the file has lines for {found.size:,}", lines.next_line - 1)
    if found.size < n:
        found = np.append(found, 0)  # an isolated last vertex, whose empty line has no end
    return np.concatenate(values) if values else np.empty(0, np.int64), found


def _explain(lines: text.Lines, block: bytes, first: int) -> None:
    for number, line in enumerate(block.split(b"\n"), first):
        if line.lstrip().startswith(b"%"):
            continue
        for word in re.finditer(rb"[^\x00-\x20]+|\x00+", line):
            if text.numbers(word.group() + b"\n", True) is None:
                shown = word.group().decode("utf-8", "replace")
                lines.fail(f"{shown!r} is no number", number, line, word.start(), len(shown))
    for number, line in enumerate(block.split(b"\n"), first):
        for word in re.finditer(rb"\S+", line):
            if text.numbers(word.group() + b"\n", False) is None:
                shown = word.group().decode("utf-8", "replace")
                lines.fail(f"{shown!r} is no vertex id", number, line, word.start(), len(shown))


def _split(
    lines: text.Lines, values: Array, counts: Array, leading: int, per_edge: int, n: int, header_line: int
) -> tuple[Array, Array, Array | None]:
    """Offsets, neighbours from 0 and weights out of the words of all lines."""
    spare = counts - leading
    if (bad := np.flatnonzero((spare < 0) | (spare % per_edge != 0))).size:
        lines.fail(
            f"vertex {bad[0] + 1} has {counts[bad[0]]} numbers, not {leading} and then {per_edge} for each neighbour",
            _line_of(lines, int(bad[0]), header_line),
        )
    begins = np.cumsum(counts) - counts
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(spare // per_edge, out=offsets[1:])
    if leading:
        keep = np.ones(values.size, bool)
        keep[(begins[:, None] + np.arange(leading)).ravel()] = False
        values = values[keep]
    found = values[::per_edge]
    ids = found.astype(np.int64)
    if (bad := np.flatnonzero((ids != found) | (ids < 1) | (ids > n))).size:
        vertex = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        shown = found[bad[0]]
        reason = f"vertex {vertex + 1} has the neighbour {shown}, vertices are 1 to {n}"
        lines.fail(reason, _line_of(lines, vertex, header_line))
    weights = text.weight_type(values[1::2].copy()) if per_edge == 2 else None
    return offsets, ids - 1, weights


def _line_of(lines: text.Lines, vertex: int, header_line: int) -> int:
    """The number of the line of a vertex, counted again because comments may stand between."""
    with text.Lines(lines.path) as again:
        passed = -1
        while (found := again.header()) is not None:
            if found[1] > header_line and not found[0].lstrip().startswith("%"):
                passed += 1
            if passed == vertex:
                return found[1]
    return header_line


def write(graph: Graph, path: Path) -> None:
    """Undirected edges counted once as METIS wants it; of a directed graph the stored edges are counted."""
    loops = int((graph.edges()[0] == graph.neighbors).sum())
    count = (graph.m + loops) // 2 if graph.symmetric else graph.m
    with files.replacing(path) as file:
        file.write(f"{graph.n} {count}{'' if graph.weights is None else ' 1'}\n".encode())
        for low, high in row_ranges(graph):
            file.write("".join(_row_lines(graph, low, high)).encode())


def _row_lines(graph: Graph, low: int, high: int) -> Iterator[str]:
    """The lines of the vertices `low` to `high - 1`."""
    first, last = int(graph.offsets[low]), int(graph.offsets[high])
    words: list[Any] = (graph.neighbors[first:last].astype(np.int64) + 1).tolist()
    per_edge = 1
    if graph.weights is not None:
        per_edge = 2
        words = [word for pair in zip(words, text.exact_words(graph.weights[first:last]), strict=True) for word in pair]
    ends = ((graph.offsets[low : high + 1] - first) * per_edge).tolist()
    return (" ".join(map(str, words[begin:end])) + "\n" for begin, end in pairwise(ends))
