"""`.npz` in two forms told apart by their keys: SciPy's sparse matrices, and edge arrays.

Edge arrays are `row`, `col`, perhaps `weight`, `n_rows`, `n_cols`, `directed` and `name`. An undirected graph has each
edge once. With n_rows != n_cols (or the key `bipartite`) rows and columns are vertices of two kinds: rows become
vertices 0 to n_rows - 1, columns those after them, and each edge is stored both ways. `labels` and `coordinates` are
read where they stand; coordinates may also lie beside the file, as `lon` and `lat` in NAME.coords.npz.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from pantograf import files
from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array
from pantograf.graphs.csr import Graph
from pantograf.graphs.formats.edges import EdgeList

_SCIPY = {"format", "shape", "data"}
_EDGES = {"row", "col", "n_rows", "n_cols", "directed"}


def read(path: Path) -> EdgeList | Graph:
    """Ids become 32-bit where they can; weights keep their type."""
    arrays = _arrays(path)
    if set(arrays) >= _SCIPY:
        return _from_scipy(path, arrays)
    if set(arrays) >= _EDGES:
        return _from_edges(path, arrays)
    raise UserError(
        f"{path} holds {', '.join(sorted(arrays)) or 'nothing'}, which is no graph",
        hint=f"SciPy's form has {', '.join(sorted(_SCIPY))}, ...; edge arrays are {', '.join(sorted(_EDGES))}, ...",
    )


def _arrays(path: Path) -> dict[str, Array]:
    """All arrays of a file, after their sizes are checked against the file's own table."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            build.require_memory(2 * sum(member.file_size for member in members), f"reading {path}")
            for member in members:
                with archive.open(member) as file:
                    shape, kind, end = _header(file)
                if kind.hasobject:
                    raise UserError(f"{path}: {member.filename[:-4]} holds Python objects, which are not read")
                count = int(np.prod([int(size) for size in shape], dtype=object)) if shape else 1
                if count * kind.itemsize + end != member.file_size:
                    raise UserError(
                        f"{path}: {member.filename[:-4]} promises {count:,} values, which its "
                        f"{member.file_size:,} bytes do not hold"
                    )
        with np.load(path, allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except FileNotFoundError:
        raise UserError(f"cannot read {path}: No such file or directory") from None
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        raise UserError(f"cannot read {path}: {error}") from None


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, kind = read(file)
    return shape, kind, file.tell()


def _from_scipy(path: Path, arrays: dict[str, Array]) -> EdgeList | Graph:
    """A CSR, CSC or COO matrix."""
    form = arrays["format"].item()
    form = form.decode() if isinstance(form, bytes) else str(form)
    if arrays["shape"].shape != (2,):
        raise UserError(f"{path}: the shape {arrays['shape'].tolist()} is no matrix's")
    rows, columns = (int(size) for size in arrays["shape"])
    needed = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "coo": ("row", "col")}
    if form not in needed:
        raise UserError(f"{path} is a {form} matrix", hint=f"legal: {', '.join(needed)}")
    if missing := [name for name in needed[form] if name not in arrays]:
        raise UserError(f"{path} is a {form} matrix without {', '.join(missing)}")
    try:
        values = arrays["data"]
        if form == "coo":
            return _matrix_edges(arrays["row"], arrays["col"], values, rows, columns)
        lines = rows if form == "csr" else columns
        if arrays["indptr"].size != lines + 1:
            raise UserError(f"indptr has {arrays['indptr'].size:,} entries for {lines:,} lines")
        if form == "csr" and rows == columns:
            return Graph.from_csr(arrays["indptr"], arrays["indices"], values, copy=False)
        line = np.repeat(np.arange(lines), np.diff(arrays["indptr"]))
        row, column = (line, arrays["indices"]) if form == "csr" else (arrays["indices"], line)
        return _matrix_edges(row, column, values, rows, columns)
    except (UserError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'message', error)}") from None


def _matrix_edges(row: Array, column: Array, values: Array, rows: int, columns: int) -> EdgeList:
    build.check_ids(build.edge_ids(row, "row"), rows, "row")
    build.check_ids(build.edge_ids(column, "col"), columns, "col")
    if rows == columns:
        return EdgeList(row, column, values, rows)
    return EdgeList(row, column.astype(np.int64) + rows, values, rows + columns, undirected=True, bipartite=rows)


def _from_edges(path: Path, arrays: dict[str, Array]) -> EdgeList:
    try:
        rows, columns, directed = (arrays[name].item() for name in ("n_rows", "n_cols", "directed"))
        row, column = build.edge_ids(arrays["row"], "row"), build.edge_ids(arrays["col"], "col")
        if row.size != column.size:
            raise UserError(f"row has {row.size:,} values, col {column.size:,}")
        build.check_ids(row, rows, "row")
        build.check_ids(column, columns, "col")
        weights = build.edge_weights(arrays.get("weight"), row.size)
    except (UserError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'message', error)}") from None
    name = str(arrays["name"]) if "name" in arrays else ""
    if rows != columns or "bipartite" in arrays:
        column = column.astype(np.int64) + rows
        edges = EdgeList(row, column, weights, rows + columns, undirected=True, bipartite=rows, name=name)
    else:
        edges = EdgeList(row, column, weights, rows, undirected=not directed, name=name)
    edges.labels = arrays.get("labels")
    edges.coordinates = arrays.get("coordinates")
    beside = path.with_name(path.name.removesuffix(".npz") + ".coords.npz")
    if edges.coordinates is None and beside.exists():
        found = _arrays(beside)
        if {"lon", "lat"} <= set(found) and found["lon"].shape == found["lat"].shape == (edges.n,):
            edges.coordinates = np.column_stack([found["lon"], found["lat"]])
    return edges


def write(graph: Graph, path: Path, form: str = "edges") -> None:
    """Compressed edge arrays, or with `form="scipy"` a matrix for `scipy.sparse.load_npz`."""
    arrays: dict[str, Any]
    if form == "scipy":
        matrix = graph.to_scipy()
        arrays = {name: getattr(matrix, name) for name in ("indptr", "indices", "data")}
        arrays |= {"format": np.array(b"csr"), "shape": np.array(matrix.shape), "_is_array": np.array(True)}
    elif form == "edges":
        arrays = _as_arrays(graph)
    else:
        raise UserError(f".npz files have no form {form!r}", hint="legal: edges, scipy")
    with files.replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _as_arrays(graph: Graph) -> dict[str, Any]:
    edges = EdgeList.of(graph)
    rows = columns = graph.n
    if edges.bipartite is not None:
        rows, columns = edges.bipartite, graph.n - edges.bipartite
    arrays = {
        "row": edges.src,
        "col": edges.dst,
        "n_rows": np.int64(rows) if rows >= 2**31 else np.int32(rows),
        "n_cols": np.int64(columns) if columns >= 2**31 else np.int32(columns),
        "directed": np.bool_(not graph.symmetric or edges.bipartite is not None),
        "name": np.str_(graph.name),
    }
    if edges.bipartite is not None:
        arrays["bipartite"] = np.bool_(True)
    if edges.weights is not None:
        arrays["weight"] = edges.weights
    if graph.coordinates is not None:
        arrays["coordinates"] = graph.coordinates
    if graph.labels is not None:
        if graph.labels.dtype.kind not in "iufU":
            raise UserError(
                f"the labels of {graph.name} are {type(graph.labels[0]).__name__}s",
                hint="a file holds names or numbers",
            )
        arrays["labels"] = graph.labels
    return arrays
