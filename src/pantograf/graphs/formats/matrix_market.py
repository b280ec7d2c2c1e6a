"""`.mtx`, Matrix Market: entry (i, j) is the edge i -> j, ids from 1; a rectangular matrix is a bipartite graph.

A comment `%%GraphBLAS type fp32` gives the type of the weights, as SuiteSparse writes it; without one they are int32,
int64 or float64. Of an `array` (dense) matrix the entries that are not zero are edges.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from pantograf import files
from pantograf.errors import UserError
from pantograf.graphs.build import Array
from pantograf.graphs.csr import Graph
from pantograf.graphs.formats import text
from pantograf.graphs.formats.edges import EdgeList

_TYPES: dict[str, type[Any]] = {
    "bool": np.uint8,
    "int8_t": np.int8,
    "int16_t": np.int16,
    "int32_t": np.int32,
    "int64_t": np.int64,
    "uint8_t": np.uint8,
    "uint16_t": np.uint16,
    "uint32_t": np.uint32,
    "uint64_t": np.uint64,
    "float": np.float32,
    "fp32": np.float32,
    "double": np.float64,
    "fp64": np.float64,
}
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items() if name not in ("bool", "fp32", "fp64")}
_FIRST_LINE = "%%MatrixMarket matrix coordinate|array pattern|integer|real general|symmetric|skew-symmetric"


def read(path: Path) -> EdgeList:
    """A symmetric matrix becomes an undirected graph; a skew-symmetric one has reverses of negative weight."""
    with text.Lines(path) as lines:
        form, field, symmetry = _banner(lines)
        kind = None
        while (found := lines.header()) is not None and (not found[0].strip() or found[0].startswith("%")):
            if match := re.match(r"%%GraphBLAS\s+type\s+(\w+)", found[0]):
                kind = _TYPES.get(match.group(1))
        if found is None:
            raise UserError(f"{path} ends before the line with its size")
        sizes, line = found
        words = sizes.split()
        wanted = ["rows", "columns", "entries"] if form == "coordinate" else ["rows", "columns"]
        if len(words) != len(wanted):
            lines.fail(f"expected the numbers of {', '.join(wanted)}, found {len(words)} words", line, sizes)
        rows, columns, *entries = text.counts(lines, words, line, sizes, wanted)
        if symmetry != "general" and rows != columns:
            lines.fail(f"a {symmetry} matrix cannot be {rows} x {columns}", line, sizes)
        place = lines.place(line, sizes)
        if form == "array":
            src, dst, values = _dense(lines, rows, columns, symmetry, line, sizes)
        else:
            text.check_promise(lines, entries[0], 4 if field == "pattern" else 6, line, sizes)
            layout = text.EdgeLines(
                weight={"pattern": "", "integer": "integer"}.get(field, "number"),
                base=1,
                rows=rows,
                columns=columns,
                promised=entries[0],
                promise_line=line,
                comments=b"%",
                written="row column" + ("" if field == "pattern" else " value"),
            )
            src, dst, values = text.read_edges(lines, layout)
        weights = _typed(lines, values, field, kind)
    if symmetry == "skew-symmetric":
        if weights is None or weights.dtype.kind == "u":
            raise UserError(f"{path} is skew-symmetric, which needs signed values")
        src, dst, weights = np.concatenate([src, dst]), np.concatenate([dst, src]), np.concatenate([weights, -weights])
    if rows != columns:
        dst = dst.astype(np.int64) + rows
        return EdgeList(src, dst, weights, rows + columns, undirected=True, bipartite=rows, place=place)
    return EdgeList(src, dst, weights, rows, undirected=symmetry == "symmetric", place=place)


def _banner(lines: text.Lines) -> tuple[str, str, str]:
    """Form, field and symmetry of the first line."""
    found = lines.header()
    if found is None:
        raise UserError(f"{lines.path} is empty", hint=f"the first line is: {_FIRST_LINE}")
    words = found[0].lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        lines.fail("this is no Matrix Market header", 1, found[0], hint=f"the first line is: {_FIRST_LINE}")
    legal = (("coordinate", "array"), ("pattern", "integer", "unsigned-integer", "real", "double"))
    for word, options in zip(words[2:], (*legal, ("general", "symmetric", "skew-symmetric")), strict=True):
        if word not in options:
            at = found[0].lower().find(word)
            lines.fail(f"{word!r} matrices are not graphs", 1, found[0], at, len(word), f"legal: {', '.join(options)}")
    if words[2] == "array" and words[3] == "pattern":
        lines.fail("an array matrix cannot be a pattern", 1, found[0], hint="legal: integer, real")
    field = {"unsigned-integer": "integer", "double": "real"}.get(words[3], words[3])
    return words[2], field, words[4]


def _dense(
    lines: text.Lines, rows: int, columns: int, symmetry: str, line: int, sizes: str
) -> tuple[Array, Array, Array | None]:
    """The entries that are not zero of a matrix given column by column, its lower half only if symmetric."""
    least = {"general": rows * columns, "symmetric": rows * (rows + 1) // 2}.get(symmetry, rows * (rows - 1) // 2)
    text.check_promise(lines, least, 2, line, sizes)
    found: list[Array] = []
    count = 0
    for block, first in lines.blocks():
        read = text.numbers(re.sub(rb"(?m)^%.*$", b"", block), True)
        if read is None:
            for number, content in enumerate(block.split(b"\n"), first):
                if not content.startswith(b"%") and text.numbers(content + b"\n", True) is None:
                    lines.fail(f"{content.strip().decode('utf-8', 'replace')!r} is no number", number, content)
        assert read is not None
        count += read.values.size
        if count > least:
            break
        found.append(read.values)
    if count != least:
        lines.fail(
            f"a matrix of this size has {least:,} values, the file has {'more' if count > least else count}",
            line,
            sizes,
        )
    values = np.concatenate(found) if found else np.empty(0)
    if symmetry == "general":
        dst, src = np.divmod(np.arange(values.size), max(rows, 1))
    else:
        dst, src = np.triu_indices(rows, 0 if symmetry == "symmetric" else 1)
    filled = values != 0
    return src[filled], dst[filled], values[filled]


def _typed(lines: text.Lines, weights: Array | None, field: str, kind: type[Any] | None) -> Array | None:
    """Weights in the type that the file names, or that its field suggests."""
    if weights is None:
        return None
    if kind is None:
        return weights.astype(np.float64) if field == "real" else text.weight_type(weights.astype(np.int64))
    if np.dtype(kind).kind != "f" and weights.size:
        limits = np.iinfo(kind)
        if weights.dtype.kind == "f" and (np.rint(weights) != weights).any():
            raise UserError(f"{lines.path} has weights that are no whole numbers, but says they are {kind.__name__}")
        if weights.min() < limits.min or weights.max() > limits.max:
            raise UserError(f"{lines.path} has weights that do not fit in the {kind.__name__} it says they are")
    return weights.astype(kind)


def write(graph: Graph, path: Path) -> None:
    """Symmetric graphs as symmetric matrices, bipartite ones as rectangular ones, weights with their type."""
    edges = EdgeList.of(graph)
    src, dst, rows, columns = edges.src, edges.dst, graph.n, graph.n
    if edges.bipartite is not None:
        rows, columns = edges.bipartite, graph.n - edges.bipartite
    symmetry = "symmetric" if edges.undirected and edges.bipartite is None else "general"
    if rows == columns and edges.bipartite is not None:  # a square matrix would be read as a directed graph
        src, dst, rows, columns, symmetry = src, dst + rows, graph.n, graph.n, "symmetric"
    if symmetry == "symmetric":
        src, dst = dst, src
    weights = edges.weights
    field = "pattern" if weights is None else "real" if weights.dtype.kind == "f" else "integer"
    with files.replacing(path) as file:
        file.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n".encode())
        if weights is not None:
            file.write(f"%%GraphBLAS type {_NAMES[weights.dtype]}\n".encode())
        file.write(f"{rows} {columns} {src.size}\n".encode())
        cells = [src.astype(np.int64) + 1, dst.astype(np.int64) + 1] + ([] if weights is None else [weights])
        text.write_rows(file, cells, " ".join(["%s"] * len(cells)) + "\n")
