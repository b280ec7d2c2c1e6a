"""`.parquet`: columns src, dst and perhaps weight, each undirected edge once; what columns cannot say stands in the
metadata.

Any other file with such columns is read too: as a directed graph, whose vertices are renumbered if they are names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pantograf import files
from pantograf.errors import UserError
from pantograf.graphs import build, csr
from pantograf.graphs.csr import Graph
from pantograf.graphs.formats.edges import EdgeList

_KEY = b"pantograf"
_COLUMNS = {
    "src": ("src", "source", "from", "u"),
    "dst": ("dst", "destination", "target", "to", "v"),
    "weight": ("weight", "w"),
}


def _library() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UserError(".parquet files need pyarrow", hint="pip install 'pantograf[parquet]'") from None
    return pyarrow


def read(path: Path) -> EdgeList:
    """Weights keep their type."""
    pyarrow = _library()
    try:
        opened = pyarrow.parquet.ParquetFile(path)
        build.require_memory(opened.metadata.num_rows * 24, f"reading {path}")
        names = opened.schema_arrow.names
        found = {kind: next((n for n in spelled if n in names), None) for kind, spelled in _COLUMNS.items()}
        if found["src"] is None or found["dst"] is None:
            raise UserError(
                f"{path} has the columns {', '.join(names)}", hint="a graph has src, dst and perhaps weight"
            )
        table = opened.read([name for name in found.values() if name is not None])
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    for name in table.column_names:
        if table[name].null_count:
            raise UserError(f"{path}: column {name} has {table[name].null_count:,} nulls")
    src, dst = table[found["src"]].to_numpy(), table[found["dst"]].to_numpy()
    weights = None if found["weight"] is None else build.edge_weights(table[found["weight"]].to_numpy(), src.size)
    about = json.loads((opened.schema_arrow.metadata or {}).get(_KEY, b"{}"))
    if src.size and (src.dtype.kind not in "iu" or dst.dtype.kind not in "iu"):
        src, dst, labels = csr.numbered(src, dst)
        return EdgeList(src, dst, weights, labels.size, labels=labels)
    edges = EdgeList(build.edge_ids(src, "src"), build.edge_ids(dst, "dst"), weights)
    if about:
        edges.n, edges.undirected, edges.bipartite = about["n"], about["undirected"], about["bipartite"]
        edges.name = about["name"]
        edges.labels = None if about["labels"] is None else np.array(about["labels"])
        edges.coordinates = None if about["coordinates"] is None else np.array(about["coordinates"])
    return edges


def write(graph: Graph, path: Path) -> None:
    """Compressed with Zstandard."""
    pyarrow = _library()
    edges = EdgeList.of(graph)
    if graph.labels is not None and graph.labels.dtype.kind not in "iufU":
        raise UserError(
            f"the labels of {graph.name} are {type(graph.labels[0]).__name__}s", hint="a file holds names or numbers"
        )
    about = {
        "n": graph.n,
        "undirected": edges.undirected,
        "bipartite": edges.bipartite,
        "name": graph.name,
        "labels": None if graph.labels is None else graph.labels.tolist(),
        "coordinates": None if graph.coordinates is None else graph.coordinates.tolist(),
    }
    dst = edges.dst if edges.bipartite is None else edges.dst + np.asarray(edges.bipartite, edges.dst.dtype)
    columns = {"src": edges.src, "dst": dst} | ({} if edges.weights is None else {"weight": edges.weights})
    table = pyarrow.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    with files.replacing(path) as file:
        pyarrow.parquet.write_table(table, file, compression="zstd")
