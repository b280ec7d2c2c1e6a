"""The graph: compressed rows of out-neighbours, and on demand the same edges reversed; its arrays stay as they are."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array, Duplicates, Rows, SelfLoops

if TYPE_CHECKING:
    import scipy.sparse

Ids = Literal["auto", 32, 64]


class Graph:
    """Vertices 0..n-1 and their edges as arrays, made by `from_edges`, `from_csr`, `from_scipy`, `load` and others.

    The constructor takes rows as they are, unchecked: sorted neighbours, offsets from 0 to m. A graph never changes
    once it is made, and its arrays must not be written to; what derives from it (the transposed graph, degrees,
    fingerprint) is computed once and kept. `scratch` holds what others derive from it; it is neither pickled nor compared.
    """

    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        neighbors: Array,
        weights: Array | None = None,
        *,
        symmetric: bool = False,
        labels: Array | None = None,
        coordinates: Array | None = None,
        bipartite: int | None = None,
        name: str = "graph",
        self_loops: SelfLoops = "keep",
        duplicates: Duplicates = "keep",
    ) -> None:
        self.offsets = offsets
        self.neighbors = neighbors
        self.weights = weights
        self.symmetric = symmetric
        self.labels = labels
        self.coordinates = coordinates
        self.bipartite = bipartite
        self.name = name
        self.self_loops: SelfLoops = self_loops
        self.duplicates: Duplicates = duplicates
        self._transposed: Graph | None = None
        self._in_degrees: npt.NDArray[np.int64] | None = None
        self._out_degrees: npt.NDArray[np.int64] | None = None
        self._fingerprint = ""
        self._ids: dict[Any, int] | None = None
        self.scratch: dict[Any, Any] = {}

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.offsets.size - 1)

    @property
    def m(self) -> int:
        """The number of stored, directed edges."""
        return int(self.neighbors.size)

    @property
    def rows(self) -> Rows:
        return Rows(self.offsets, self.neighbors, self.weights)

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        weight: Any = None,
        n: int | None = None,
        *,
        undirected: bool = False,
        self_loops: SelfLoops = "keep",
        duplicates: Duplicates = "keep",
        labels: Any = None,
        compact: bool = False,
        ids: Ids = "auto",
        name: str = "graph",
    ) -> Graph:
        """The graph of edges `src[i] -> dst[i]`; the caller's arrays are copied.

        `undirected` stores each edge both ways (a self-loop once). `duplicates` keeps parallel edges, or leaves the
        first given, or one with their least, greatest or summed weight. `compact` numbers the ids or names that occur
        in ascending order and keeps them as labels.
        """
        check_choice("self_loops", self_loops, SelfLoops)
        check_choice("duplicates", duplicates, Duplicates)
        if compact:
            if labels is not None or n is not None:
                raise UserError("compact=True numbers the vertices itself", hint="leave out labels and n, or compact")
            src, dst, labels = numbered(src, dst)
        src, dst = build.edge_ids(src, "src"), build.edge_ids(dst, "dst")
        if src.size != dst.size:
            raise UserError(
                f"src has {src.size:,} vertices and dst has {dst.size:,}", hint="pass arrays of equal length"
            )
        weights = build.edge_weights(weight, src.size)
        labels = check_labels(labels, n)
        n = vertex_count(n, src, dst, labels)
        build.check_ids(src, n, "src")
        build.check_ids(dst, n, "dst")
        if self_loops == "drop":
            kept = src != dst
            if not kept.all():
                src, dst = src[kept], dst[kept]
                weights = None if weights is None else weights[kept]
        rows = build.compress(src, dst, weights, n, build.id_type(n, ids), undirected)
        rows = build.combine_duplicates(rows, duplicates)
        return cls(*rows, symmetric=undirected, labels=labels, name=name, self_loops=self_loops, duplicates=duplicates)

    @classmethod
    def from_bipartite(
        cls,
        rows: Any,
        columns: Any,
        weight: Any = None,
        n_rows: int | None = None,
        n_columns: int | None = None,
        *,
        duplicates: Duplicates = "keep",
        ids: Ids = "auto",
        name: str = "graph",
    ) -> Graph:
        """Row vertices 0..n_rows-1 and then column vertices, each edge stored both ways; `bipartite` is `n_rows`."""
        row, column = build.edge_ids(rows, "rows"), build.edge_ids(columns, "columns")
        n_rows = vertex_count(n_rows, row, row[:0], None)
        n_columns = vertex_count(n_columns, column, column[:0], None)
        build.check_ids(row, n_rows, "rows")
        build.check_ids(column, n_columns, "columns")
        graph = cls.from_edges(
            row,
            column.astype(np.int64) + n_rows,
            weight,
            n_rows + n_columns,
            undirected=True,
            duplicates=duplicates,
            ids=ids,
            name=name,
        )
        graph.bipartite = n_rows
        return graph

    @classmethod
    def from_csr(
        cls,
        offsets: Any,
        neighbors: Any,
        weights: Any = None,
        *,
        symmetric: bool = False,
        labels: Any = None,
        ids: Ids = "auto",
        name: str = "graph",
        copy: bool = True,
    ) -> Graph:
        """The graph of given rows, checked, and sorted where they are not.

        `symmetric=True` is verified. With `copy=False` the caller's arrays are used where their types allow, and must
        not be written to afterwards.
        """
        begins = build.edge_ids(offsets, "offsets").astype(np.int64, copy=copy)
        targets = build.edge_ids(neighbors, "neighbors")
        values = build.edge_weights(weights, targets.size)
        if begins.size == 0 or begins[0] != 0 or begins[-1] != targets.size or (np.diff(begins) < 0).any():
            raise UserError(
                f"offsets do not describe rows of {targets.size:,} neighbors",
                hint="offsets start at 0, never fall, and end at the number of neighbors",
            )
        n = begins.size - 1
        build.check_ids(targets, n, "neighbors")
        kind = build.id_type(n, ids)
        rows = Rows(begins, targets, values)
        if not build.are_sorted(rows):
            rows = build.compress(build.row_numbers(rows), targets, values, n, kind)
        else:
            rows = Rows(
                begins,
                targets.astype(kind, copy=copy),
                None if values is None else values.astype(values.dtype, copy=copy),
            )
        graph = cls(*rows, labels=check_labels(labels, n), name=name)
        return graph.verified_symmetric() if symmetric else graph

    @classmethod
    def from_scipy(cls, matrix: Any, *, weights: bool = True, name: str = "graph", copy: bool = True) -> Graph:
        """The graph of a SciPy sparse matrix: entry (i, j) is the edge i -> j, explicit zeros included.

        A matrix of r x c entries with r != c becomes a bipartite graph of r + c vertices. With `copy=False` a sorted
        CSR matrix is not copied where its types allow, and must not be written to afterwards.
        """
        from pantograf.graphs import interop

        return interop.from_scipy(matrix, weights=weights, name=name, copy=copy)

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: str | None = "weight", name: str | None = None) -> Graph:
        """The graph of a NetworkX one; its nodes become labels, unless they are 0..n-1 in order.

        The edge attribute `weight` is read if every edge has it; an undirected graph is stored both ways.
        """
        from pantograf.graphs import interop

        return interop.from_networkx(graph, weight=weight, name=name)

    @classmethod
    def from_dataframe(
        cls,
        table: Any,
        src: str = "src",
        dst: str = "dst",
        weight: str | None = None,
        *,
        n: int | None = None,
        **options: Any,
    ) -> Graph:
        """The graph of two or three columns of anything with `__arrow_c_stream__`, or of a mapping of names to arrays.

        Columns of names are numbered and kept as labels; `options` are those of `from_edges`.
        """
        from pantograf.graphs import interop

        return interop.from_dataframe(table, src, dst, weight, n=n, **options)

    def to_scipy(self) -> scipy.sparse.csr_array[Any, tuple[int, int]]:
        """An n x n CSR matrix; edges without weights count 1.

        It shares this graph's arrays, unless there are parallel edges: they stay, and SciPy sums them in place when it
        likes.
        """
        from pantograf.graphs import interop

        return interop.to_scipy(self)

    def to_networkx(self) -> Any:
        """A NetworkX graph with this graph's labels as nodes, a multigraph where there are parallel edges."""
        from pantograf.graphs import interop

        return interop.to_networkx(self)

    def to_arrow(self) -> Any:
        """A pyarrow table with columns src, dst and, where there are weights, weight; vertices by their labels."""
        from pantograf.graphs import interop

        return interop.to_arrow(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def edges(self) -> tuple[Array, Array, Array | None]:
        """Source, destination and weight of each stored edge, in the order of the rows."""
        return build.row_numbers(self.rows), self.neighbors, self.weights

    @property
    def out_degrees(self) -> npt.NDArray[np.int64]:
        if self._out_degrees is None:
            self._out_degrees = np.diff(self.offsets)
        return self._out_degrees

    @property
    def in_degrees(self) -> npt.NDArray[np.int64]:
        if self._in_degrees is None:
            if self.symmetric:
                self._in_degrees = self.out_degrees
            elif self._transposed is not None:
                self._in_degrees = self._transposed.out_degrees
            else:
                self._in_degrees = np.bincount(self.neighbors, minlength=self.n).astype(np.int64, copy=False)
        return self._in_degrees

    def transposed(self) -> Graph:
        """The graph of the reversed edges: this one if it is symmetric, else made once and kept."""
        if self.symmetric:
            return self
        if self._transposed is None:
            self._transposed = self._derived(build.transpose(self.rows, self.n))
            self._transposed._transposed = self
        return self._transposed

    def _derived(self, rows: Rows, **changes: Any) -> Graph:
        """A graph of other edges over the same vertices."""
        kept = {
            "symmetric": self.symmetric,
            "labels": self.labels,
            "coordinates": self.coordinates,
            "bipartite": self.bipartite,
            "name": self.name,
            "self_loops": self.self_loops,
            "duplicates": self.duplicates,
        }
        return Graph(*rows, **{**kept, **changes})

    def named(self, name: str) -> Graph:
        """This graph under another name."""
        graph = self._derived(self.rows, name=name)
        graph._fingerprint = self._fingerprint
        return graph

    def as_undirected(self, duplicates: Duplicates = "drop") -> Graph:
        """Each edge both ways; one that was already stored both ways becomes one again unless duplicates are kept."""
        src, dst, weights = self.edges()
        rows = build.compress(src, dst, weights, self.n, self.neighbors.dtype, mirror=True)
        check_choice("duplicates", duplicates, Duplicates)
        return self._derived(build.combine_duplicates(rows, duplicates), symmetric=True, duplicates=duplicates)

    def verified_symmetric(self) -> Graph:
        """This graph, known to be symmetric; a `UserError` names an edge that has no reverse of equal weight."""
        if self.symmetric:
            return self
        other = self.transposed()
        if not _same_rows(self.rows, other.rows):
            raise UserError(
                f"{self.name} is not symmetric: {_unmatched(self, other)}", hint="graph.as_undirected() adds reverses"
            )
        return self._derived(self.rows, symmetric=True)

    def with_weights(self, weights: Any) -> Graph:
        """The same edges with other weights: one array in the order of `edges()`, or a text such as
        `unit`, `none`, `random{low=1, high=255, seed=1}`, `rounded`, `converted{type=f64}`, `coordinates`.
        """
        from pantograf.graphs import weights as kinds

        return kinds.with_weights(self, weights)

    def relabeled(self, new_ids: Any, name: str | None = None) -> Graph:
        """The same graph with vertex v called `new_ids[v]`; labels and coordinates go with their vertices."""
        from pantograf.graphs import reorder

        return reorder.relabeled(self, new_ids, name)

    def relabeled_by_degree(self) -> Graph:
        """Vertices in the order of falling out-degree, equal ones by id."""
        from pantograf.graphs import reorder

        return reorder.relabeled(self, reorder.by_degree(self))

    def index_of(self, label: Any) -> int:
        """The vertex id of a label; without labels, the id itself, checked."""
        if self.labels is None:
            if isinstance(label, (int, np.integer)) and not isinstance(label, bool) and 0 <= label < self.n:
                return int(label)
            raise UserError(
                f"{label!r} is no vertex of {self.name}", hint=f"vertices are the whole numbers 0 to {self.n - 1}"
            )
        if self._ids is None:
            self._ids = {name: v for v, name in enumerate(self.labels.tolist())}
        plain = label.item() if isinstance(label, np.generic) else label
        try:
            return self._ids[plain]
        except (KeyError, TypeError):
            raise UserError(f"{label!r} is no vertex of {self.name}", hint=self._label_hint(plain)) from None

    def _label_hint(self, label: Any) -> str:
        assert self._ids is not None
        close = difflib.get_close_matches(str(label), map(str, self._ids), 3)
        shown = close or [repr(name) for name in list(self._ids)[:3]]
        return ("did you mean " if close else "vertices are called ") + ", ".join(shown) + ("?" if close else ", ...")

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of the content: rows, weights, labels and how loops and duplicates were treated."""
        if not self._fingerprint:
            digest = hashlib.blake2b(digest_size=8)
            head = (self.n, self.m, self.symmetric, self.self_loops, self.duplicates, self.bipartite)
            digest.update(repr(head).encode())
            for array in (self.offsets, self.neighbors, self.weights, self.coordinates):
                digest.update(b"none" if array is None else str(array.dtype).encode())
                if array is not None:
                    digest.update(np.ascontiguousarray(array).data)
            if self.labels is not None:
                digest.update(repr(self.labels.tolist()).encode())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def equals(self, other: Graph) -> bool:
        """Whether both have the same vertices, labels, edges in the same order, weights of the same type and value."""
        same_labels = (self.labels is None) == (other.labels is None) and (
            self.labels is None or other.labels is None or self.labels.tolist() == other.labels.tolist()
        )
        return self.symmetric == other.symmetric and same_labels and _same_rows(self.rows, other.rows)

    def __getstate__(self) -> dict[str, Any]:
        derived: dict[str, Any] = {
            "_transposed": None,
            "_in_degrees": None,
            "_out_degrees": None,
            "_ids": None,
            "scratch": {},
        }
        return {**self.__dict__, **derived}

    def __repr__(self) -> str:
        weights = "" if self.weights is None else f", weights={self.weights.dtype}"
        kind = (
            f", bipartite={self.bipartite}" if self.bipartite is not None else ", symmetric" if self.symmetric else ""
        )
        return f"Graph({self.name!r}, n={self.n:,}, m={self.m:,}{weights}{kind})"


def check_choice(what: str, value: Any, choices: Any) -> None:
    """Refuse a value that is none of a `Literal`'s."""
    legal = get_args(choices)
    if value not in legal:
        raise UserError(f"{what} cannot be {value!r}", hint=f"legal: {', '.join(map(repr, legal))}")


def vertex_count(n: int | None, src: Array, dst: Array, labels: Array | None) -> int:
    """The number of vertices: as given, or as many as there are labels, or one more than the largest id."""
    if n is not None:
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise UserError(f"n cannot be {n!r}", hint="n is the number of vertices, a whole number from 0")
        return int(n)
    if labels is not None:
        return int(labels.size)
    found = 1 + max((int(ids.max()) for ids in (src, dst) if ids.size), default=-1)
    build.require_dense_ids(found, src.size, "the graph")
    return max(found, 0)


def check_labels(labels: Any, n: int | None) -> Array | None:
    """An array of `n` different names, or None."""
    if labels is None:
        return None
    names = _name_array(labels)
    if n is not None and names.size != n:
        raise UserError(f"{names.size:,} labels are given for {n:,} vertices", hint="give one label for each vertex")
    if len(set(names.tolist())) != names.size:
        seen: set[Any] = set()
        twice = next(name for name in names.tolist() if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise UserError(f"the label {twice!r} is given to two vertices", hint="labels must differ")
    return names


def _name_array(labels: Any) -> Array:
    """An own, one-dimensional array; tuples and mixed values stay whole objects."""
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels.copy()
    names = list(labels)
    if names and (all(isinstance(name, str) for name in names) or all(type(name) is int for name in names)):
        try:
            return np.array(names)
        except OverflowError:
            pass
    objects = np.empty(len(names), object)
    objects[:] = names
    return objects


def numbered(src: Any, dst: Any) -> tuple[Array, Array, Array]:
    """Names as ids 0..k-1 in ascending order of the names, and the names."""
    first, second = np.asarray(src), np.asarray(dst)
    if first.ndim != 1 or second.ndim != 1:
        raise UserError("src and dst must have one dimension", hint="pass two arrays of equal length")
    try:
        names, ids = np.unique(np.concatenate([first, second]), return_inverse=True)
    except TypeError:
        raise UserError(
            "the vertices' names cannot be put in order", hint="use names of one kind: all text or numbers"
        ) from None
    return ids[: first.size], ids[first.size :], names


def _same_bits(first: Array | None, second: Array | None) -> bool:
    """Whether both hold the same numbers of the same type, NaN included."""
    if first is None or second is None:
        return first is second
    return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=first.dtype.kind == "f")


def _same_rows(first: Rows, second: Rows) -> bool:
    return all(_same_bits(a, b) for a, b in zip(first, second, strict=True))


def _unmatched(graph: Graph, other: Graph) -> str:
    """The first edge that differs between a graph and its transposed graph, in words."""
    for row in np.flatnonzero(np.diff(graph.offsets) != np.diff(other.offsets))[:1]:
        mine = graph.neighbors[graph.offsets[row] : graph.offsets[row + 1]]
        reverse = other.neighbors[other.offsets[row] : other.offsets[row + 1]]
        extra = np.setdiff1d(mine, reverse)
        if extra.size:
            return f"edge {row} -> {extra[0]} has no edge {extra[0]} -> {row}"
        missing = np.setdiff1d(reverse, mine)
        if missing.size:
            return f"edge {missing[0]} -> {row} has no edge {row} -> {missing[0]}"
        return f"vertex {row} has parallel edges whose reverses are fewer or more"
    differ = np.flatnonzero(graph.neighbors != other.neighbors)
    if differ.size == 0:
        assert graph.weights is not None
        assert other.weights is not None
        same = (graph.weights == other.weights) | ((graph.weights != graph.weights) & (other.weights != other.weights))
        differ = np.flatnonzero(~same)
        source = int(np.searchsorted(graph.offsets, differ[0], side="right")) - 1
        target = graph.neighbors[differ[0]]
        return f"edge {source} -> {target} weighs {graph.weights[differ[0]]}, its reverse {other.weights[differ[0]]}"
    source = int(np.searchsorted(graph.offsets, differ[0], side="right")) - 1
    target, reversed_target = int(graph.neighbors[differ[0]]), int(other.neighbors[differ[0]])
    if target < reversed_target:
        return f"edge {source} -> {target} has no edge {target} -> {source}"
    return f"edge {reversed_target} -> {source} has no edge {source} -> {reversed_target}"


def row_ranges(graph: Graph, edges: int = 1 << 20) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of vertices whose rows hold about `edges` edges."""
    begin = 0
    while begin < graph.n:
        end = int(np.searchsorted(graph.offsets, graph.offsets[begin] + edges, side="right")) - 1
        end = min(max(end, begin + 1), begin + edges, graph.n)
        yield begin, end
        begin = end


def edge_blocks(graph: Graph) -> Iterator[tuple[int, Array, Array]]:
    """(position of the first edge, sources, destinations) for blocks of rows: all edges in little memory."""
    for low, high in row_ranges(graph):
        first, last = int(graph.offsets[low]), int(graph.offsets[high])
        src = np.repeat(np.arange(low, high, dtype=graph.neighbors.dtype), np.diff(graph.offsets[low : high + 1]))
        yield first, src, graph.neighbors[first:last]
