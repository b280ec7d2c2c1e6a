"""Graphs from and to SciPy, NetworkX and Arrow; each library is imported only when it is met."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array
from pantograf.graphs.csr import Graph

if TYPE_CHECKING:
    import scipy.sparse


def from_scipy(matrix: Any, *, weights: bool = True, name: str = "graph", copy: bool = True) -> Graph:
    """See `Graph.from_scipy`."""
    if not (hasattr(matrix, "tocsr") and hasattr(matrix, "shape")):
        raise UserError(f"{type(matrix).__name__} is no SciPy sparse matrix", hint="use Graph.from_edges for arrays")
    rows, columns = matrix.shape
    if matrix.format not in ("csr", "csc"):
        matrix = matrix.tocoo()
        values = matrix.data if weights else None
        if rows != columns:
            return Graph.from_bipartite(matrix.row, matrix.col, values, rows, columns, name=name)
        return Graph.from_edges(matrix.row, matrix.col, values, rows, name=name)
    if matrix.format == "csc":
        matrix = matrix.tocsr()
        copy = False
    values = matrix.data if weights else None
    if rows != columns:
        row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
        return Graph.from_bipartite(row, matrix.indices, values, rows, columns, name=name)
    return Graph.from_csr(matrix.indptr, matrix.indices, values, name=name, copy=copy)


def to_scipy(graph: Graph) -> scipy.sparse.csr_array[Any, tuple[int, int]]:
    """See `Graph.to_scipy`."""
    import scipy.sparse

    weights = np.ones(graph.m, np.int8) if graph.weights is None else graph.weights
    matrix = scipy.sparse.csr_array((graph.n, graph.n), dtype=weights.dtype)
    narrow = graph.m <= 2**31 - 1 and graph.neighbors.dtype == np.int32
    parallel = not build.firsts(graph.rows).all()
    matrix.indptr = graph.offsets.astype(np.int32 if narrow else np.int64, copy=parallel)
    matrix.indices = graph.neighbors.astype(np.int32 if narrow else np.int64, copy=parallel)
    matrix.data = weights.copy() if parallel else weights
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = not parallel
    return matrix


def from_networkx(graph: Any, *, weight: str | None = "weight", name: str | None = None) -> Graph:
    """See `Graph.from_networkx`."""
    nodes = list(graph)
    position = {node: v for v, node in enumerate(nodes)}
    count = graph.number_of_edges()
    pairs = np.fromiter((position[end] for u, v in graph.edges() for end in (u, v)), np.int64, 2 * count)
    weights = None
    if weight is not None and count:
        values = [value for _, _, value in graph.edges(data=weight)]
        present = [value is not None for value in values]
        if any(present) and not all(present):
            first = present.index(False)
            u, v = list(graph.edges())[first][:2]
            raise UserError(
                f"edge {u!r} - {v!r} has no attribute {weight!r}, others have",
                hint="give it to every edge, or weight=None",
            )
        if all(present):
            weights = np.array(values)
    plain = all(type(node) is int and node == v for v, node in enumerate(nodes))
    return Graph.from_edges(
        pairs[0::2],
        pairs[1::2],
        weights,
        len(nodes),
        undirected=not graph.is_directed(),
        labels=None if plain else nodes,
        name=name or str(graph.name) or "graph",
    )


def to_networkx(graph: Graph) -> Any:
    """See `Graph.to_networkx`."""
    try:
        import networkx
    except ImportError:
        raise UserError("NetworkX is not installed", hint="pip install 'pantograf[networkx]'") from None
    src, dst, weights = graph.edges()
    if graph.symmetric:
        once = src <= dst
        src, dst, weights = src[once], dst[once], None if weights is None else weights[once]
    parallel = bool(((src[1:] == src[:-1]) & (dst[1:] == dst[:-1])).any())
    kinds = {
        (False, False): networkx.DiGraph,
        (False, True): networkx.MultiDiGraph,
        (True, False): networkx.Graph,
        (True, True): networkx.MultiGraph,
    }
    result = kinds[graph.symmetric, parallel](name=graph.name)
    names = list(range(graph.n)) if graph.labels is None else graph.labels.tolist()
    result.add_nodes_from(names)
    ends = zip(map(names.__getitem__, src.tolist()), map(names.__getitem__, dst.tolist()), strict=True)
    if weights is None:
        result.add_edges_from(ends)
    else:
        result.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, weights.tolist(), strict=True))
    return result


def from_dataframe(
    table: Any, src: str = "src", dst: str = "dst", weight: str | None = None, *, n: int | None = None, **options: Any
) -> Graph:
    """See `Graph.from_dataframe`."""
    wanted = [src, dst] + ([weight] if weight is not None else [])
    if isinstance(table, Mapping):
        _check_columns(list(table), wanted)
        columns = {name: np.asarray(table[name]) for name in wanted}
    elif hasattr(table, "__arrow_c_stream__"):
        columns, labels = _arrow_columns(table, src, dst, wanted, numbered=n is None and "labels" not in options)
        if labels is not None:
            weights = None if weight is None else columns[weight]
            return Graph.from_edges(columns[src], columns[dst], weights, labels=labels, **{**options, "compact": False})
    else:
        raise UserError(
            f"{type(table).__name__} is no table",
            hint="pass anything with __arrow_c_stream__, or a mapping of names to arrays",
        )
    if n is None and columns[src].size and (columns[src].dtype.kind not in "iu" or columns[dst].dtype.kind not in "iu"):
        options = {"compact": True, **options}
    return Graph.from_edges(columns[src], columns[dst], None if weight is None else columns[weight], n, **options)


def _check_columns(names: list[Any], wanted: list[str]) -> None:
    for name in wanted:
        if name not in names:
            raise UserError(f"the table has no column {name!r}", hint=f"its columns: {', '.join(map(str, names))}")


def _arrow_columns(
    table: Any, src: str, dst: str, wanted: list[str], numbered: bool
) -> tuple[dict[str, Array], Array | None]:
    """The wanted columns without nulls, and where `numbered` names may be replaced, their names in ascending order."""
    pyarrow = _pyarrow()
    arrow = pyarrow.table(table)
    _check_columns(arrow.column_names, wanted)
    for name in wanted:
        if arrow[name].null_count:
            raise UserError(
                f"column {name!r} has {arrow[name].null_count:,} nulls", hint="drop or fill these rows first"
            )
    names = [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]
    plain = {name: arrow[name] for name in wanted}
    if not (numbered and arrow[src].type in names and arrow[dst].type in names):
        return {name: column.to_numpy() for name, column in plain.items()}, None
    ends = [plain.pop(name).cast(pyarrow.large_string()) for name in (src, dst)]
    encoded = pyarrow.chunked_array([chunk for end in ends for chunk in end.chunks], pyarrow.large_string())
    found = encoded.combine_chunks().dictionary_encode()
    labels = found.dictionary.to_numpy(zero_copy_only=False).astype("U")
    order = pyarrow.compute.array_sort_indices(found.dictionary).to_numpy()
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    ids = position[found.indices.to_numpy(zero_copy_only=False)]
    columns = {name: column.to_numpy() for name, column in plain.items()}
    columns |= {src: ids[: len(ends[0])], dst: ids[len(ends[0]) :]}
    return columns, labels[order]


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        raise UserError(
            "reading and writing Arrow data needs pyarrow",
            hint="pip install 'pantograf[parquet]', or pass a dict of arrays",
        ) from None
    return pyarrow


def to_arrow(graph: Graph) -> Any:
    """See `Graph.to_arrow`."""
    pyarrow = _pyarrow()
    src, dst, weights = graph.edges()
    if graph.labels is not None:
        src, dst = graph.labels[src], graph.labels[dst]
    columns = {"src": src, "dst": dst} | ({} if weights is None else {"weight": weights})
    return pyarrow.table(columns)
