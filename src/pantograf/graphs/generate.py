"""Graphs made from a few numbers and a seed: the same text gives the same graph everywhere.

Randomness is the raw output of PCG64, whose stream NumPy guarantees. Where a generator is undirected each edge is
stored both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array
from pantograf.graphs.csr import Graph
from pantograf.graphs.weights import Coordinates, Random, Unit, Unweighted

Weights = Unweighted | Unit | Random
KeepOrDrop = Literal["keep", "drop"]

_CHUNK = 1 << 15
_NO_WEIGHTS = Unweighted()
_LENGTHS = Coordinates(scale=100.0, type="i32")


class Generator(Protocol):
    """A recipe for a graph, with a text form."""

    spec_name: ClassVar[str]

    def build(self) -> Graph: ...


@dataclass(frozen=True)
class Kronecker:
    """`degree * 2**scale` edges over `2**scale` vertices, each in a quadrant of the matrix, of the quadrant, and so on
    with probabilities a, b, c and the rest, as Graph500 and GAP draw them; ids are permuted at the end.
    """

    spec_name: ClassVar[str] = "kronecker"
    scale: int = 16
    degree: int = 16
    seed: int = 1
    a: float = 0.57
    b: float = 0.19
    c: float = 0.19
    directed: bool = False
    self_loops: KeepOrDrop = "drop"
    duplicates: KeepOrDrop = "drop"
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("kronecker.scale", self.scale, 0, 40)
        _within("kronecker.degree", self.degree, 0)
        if min(self.a, self.b, self.c) < 0 or self.a + self.b + self.c > 1:
            raise UserError(
                f"{self.a}, {self.b}, {self.c} are no probabilities", hint="a, b, c are from 0, their sum to 1"
            )

    def build(self) -> Graph:
        n = 1 << self.scale
        count = n * self.degree
        _require_memory(n, count, self.directed)
        kind = build.id_type(n)
        src, dst = np.empty(count, kind), np.empty(count, kind)
        limits = [
            np.uint32(min(round(p * 2**32), 2**32 - 1)) for p in (self.a, self.a + self.b, self.a + self.b + self.c)
        ]
        source = _source(self.seed, 0)
        for begin in range(0, count, _CHUNK):
            size = min(_CHUNK, count - begin)
            rows, columns = np.zeros(size, kind), np.zeros(size, kind)
            for _ in range(self.scale):
                drawn = source.random_raw((size + 1) // 2).view(np.uint32)[:size]
                past_a, past_b, past_c = (drawn >= limit for limit in limits)
                rows += rows + past_b
                columns += columns + (past_a ^ past_b ^ past_c)
            src[begin : begin + size], dst[begin : begin + size] = rows, columns
        new = permutation(n, self.seed, 1).astype(kind)
        return _finished(self, new[src], new[dst], n, not self.directed, self.self_loops, self.duplicates)


@dataclass(frozen=True)
class Uniform:
    """`degree * 2**scale` edges over `2**scale` vertices, both ends drawn uniformly (GAP's `-u`)."""

    spec_name: ClassVar[str] = "uniform"
    scale: int = 16
    degree: int = 16
    seed: int = 1
    directed: bool = False
    self_loops: KeepOrDrop = "drop"
    duplicates: KeepOrDrop = "drop"
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("uniform.scale", self.scale, 0, 40)
        _within("uniform.degree", self.degree, 0)

    def build(self) -> Graph:
        n = 1 << self.scale
        count = n * self.degree
        _require_memory(n, count, self.directed)
        source = _source(self.seed, 0)
        src, dst = _below(source, n, count), _below(source, n, count)
        return _finished(self, src, dst, n, not self.directed, self.self_loops, self.duplicates)


@dataclass(frozen=True)
class Grid:
    """Points of a plane, each joined to its neighbours to the left, right, above and below."""

    spec_name: ClassVar[str] = "grid"
    rows: int = 256
    columns: int = 256
    directed: bool = False
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("grid.rows", self.rows, 0)
        _within("grid.columns", self.columns, 0)

    def build(self) -> Graph:
        n = self.rows * self.columns
        _require_memory(n, 2 * n, self.directed)
        src, dst = _grid_edges(self.rows, self.columns)
        return _finished(self, src, dst, n, not self.directed, coordinates=_grid_points(self.rows, self.columns))


@dataclass(frozen=True)
class Road:
    """A grid of jittered points thinned to a mean degree, as roads have it, but connected; weights are lengths.

    A random spanning tree is kept, and further edges by chance; an edge weighs its length in hundredths of the grid's
    spacing.
    """

    spec_name: ClassVar[str] = "road"
    rows: int = 256
    columns: int = 256
    degree: float = 2.6
    jitter: float = 0.4
    seed: int = 1
    weights: Weights | Coordinates = _LENGTHS

    def __post_init__(self) -> None:
        _within("road.rows", self.rows, 0)
        _within("road.columns", self.columns, 0)
        if not 0 <= self.jitter < 0.5:
            raise UserError(f"road.jitter cannot be {self.jitter}", hint="points stay apart from 0 to below 0.5")
        if not 2 <= self.degree <= 4:
            raise UserError(f"road.degree cannot be {self.degree}", hint="a connected part of a grid has from 2 to 4")

    def build(self) -> Graph:
        import scipy.sparse.csgraph

        n = self.rows * self.columns
        _require_memory(n, 4 * n, False)
        src, dst = _grid_edges(self.rows, self.columns)
        source = _source(self.seed, 0)
        lot = 1.0 + _fractions(source, src.size)
        keep = np.zeros(src.size, bool)
        if src.size:
            numbers = scipy.sparse.coo_array((lot, (src, dst)), shape=(n, n)).tocsr()
            tree = scipy.sparse.csgraph.minimum_spanning_tree(numbers).tocoo()
            keep[np.searchsorted(src * n + dst, np.sort(tree.row.astype(np.int64) * n + tree.col))] = True
            wanted = max(round(n * self.degree / 2) - int(keep.sum()), 0)
            others = np.flatnonzero(~keep)
            order = np.argsort(source.random_raw(others.size), kind="stable")
            keep[others[order[:wanted]]] = True
        points = _grid_points(self.rows, self.columns)
        points += (2 * _fractions(source, 2 * n).reshape(n, 2) - 1) * self.jitter
        return _finished(self, src[keep], dst[keep], n, True, coordinates=points)


@dataclass(frozen=True)
class Star:
    """Vertex 0 joined to all others."""

    spec_name: ClassVar[str] = "star"
    vertices: int = 1000
    directed: bool = False
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("star.vertices", self.vertices, 1)

    def build(self) -> Graph:
        _require_memory(self.vertices, self.vertices, self.directed)
        others = np.arange(1, self.vertices)
        return _finished(self, np.zeros_like(others), others, self.vertices, not self.directed)


@dataclass(frozen=True)
class Path:
    """Each vertex joined to the next."""

    spec_name: ClassVar[str] = "path"
    vertices: int = 1000
    directed: bool = False
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("path.vertices", self.vertices, 0)

    def build(self) -> Graph:
        _require_memory(self.vertices, self.vertices, self.directed)
        src = np.arange(max(self.vertices - 1, 0))
        return _finished(self, src, src + 1, self.vertices, not self.directed)


@dataclass(frozen=True)
class Cycle:
    """Each vertex joined to the next, and the last to the first."""

    spec_name: ClassVar[str] = "cycle"
    vertices: int = 1000
    directed: bool = False
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("cycle.vertices", self.vertices, 3)

    def build(self) -> Graph:
        _require_memory(self.vertices, self.vertices, self.directed)
        src = np.arange(self.vertices)
        return _finished(self, src, (src + 1) % self.vertices, self.vertices, not self.directed)


@dataclass(frozen=True)
class Complete:
    """Each vertex joined to every other; directed from the lower to the higher id."""

    spec_name: ClassVar[str] = "complete"
    vertices: int = 100
    directed: bool = False
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("complete.vertices", self.vertices, 0)

    def build(self) -> Graph:
        _require_memory(self.vertices, self.vertices * (self.vertices - 1) // 2, self.directed)
        src, dst = np.triu_indices(self.vertices, 1)
        return _finished(self, src, dst, self.vertices, not self.directed)


@dataclass(frozen=True)
class Tree:
    """Vertex v > 0 is a child of (v - 1) // branching, or with `branching=0` of a vertex drawn among those before it."""

    spec_name: ClassVar[str] = "tree"
    vertices: int = 1000
    branching: int = 2
    seed: int = 1
    directed: bool = False
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("tree.vertices", self.vertices, 0)
        _within("tree.branching", self.branching, 0)

    def build(self) -> Graph:
        _require_memory(self.vertices, self.vertices, self.directed)
        child = np.arange(1, self.vertices)
        if self.branching:
            parent = (child - 1) // self.branching
        else:
            parent = np.minimum((_fractions(_source(self.seed, 0), child.size) * child).astype(np.int64), child - 1)
        return _finished(self, parent, child, self.vertices, not self.directed)


@dataclass(frozen=True)
class SmallWorld:
    """Watts and Strogatz: a ring where each vertex is joined to its `degree` nearest, some edges moved to random ends.

    Moved edges that meet another edge or close a loop are dropped.
    """

    spec_name: ClassVar[str] = "small_world"
    vertices: int = 1000
    degree: int = 6
    rewired: float = 0.1
    seed: int = 1
    weights: Weights = _NO_WEIGHTS

    def __post_init__(self) -> None:
        _within("small_world.vertices", self.vertices, 0)
        _within("small_world.degree", self.degree, 0)
        if self.degree % 2 or self.degree >= max(self.vertices, 1):
            raise UserError(
                f"small_world.degree cannot be {self.degree}", hint="it is even and below the number of vertices"
            )
        if not 0 <= self.rewired <= 1:
            raise UserError(f"small_world.rewired cannot be {self.rewired}", hint="it is a probability")

    def build(self) -> Graph:
        n, half = self.vertices, self.degree // 2
        _require_memory(n, n * half, False)
        src = np.repeat(np.arange(n), half)
        dst = (src + np.tile(np.arange(1, half + 1), n)) % max(n, 1)
        source = _source(self.seed, 0)
        moved = np.flatnonzero(_fractions(source, src.size) < self.rewired)
        dst[moved] = _below(source, n, moved.size)
        return _finished(self, src, dst, n, True, "drop", "drop")


@dataclass(frozen=True)
class Ratings:
    """Users who rate items: popular items are drawn more often, the more so the greater `skew`; users come first.

    Ratings are whole numbers from `low` to `high`; of several ratings of an item by one user the first drawn stays.
    """

    spec_name: ClassVar[str] = "ratings"
    users: int = 1000
    items: int = 200
    ratings: int = 20_000
    skew: float = 1.0
    low: int = 1
    high: int = 5
    seed: int = 1

    def __post_init__(self) -> None:
        _within("ratings.users", self.users, 1)
        _within("ratings.items", self.items, 1)
        _within("ratings.ratings", self.ratings, 0)
        _within("ratings.high", self.high, self.low)
        if self.skew < 0:
            raise UserError(f"ratings.skew cannot be {self.skew}", hint="0 draws all items alike")

    def build(self) -> Graph:
        _require_memory(self.users + self.items, self.ratings, False)
        source = _source(self.seed, 0)
        user = _below(source, self.users, self.ratings)
        rank = _fractions(source, self.ratings) ** (1 + self.skew)
        item = permutation(self.items, self.seed, 1)[np.minimum((rank * self.items).astype(np.int64), self.items - 1)]
        rating = (_below(source, self.high - self.low + 1, self.ratings) + self.low).astype(np.int32)
        return Graph.from_bipartite(user, item, rating, self.users, self.items, duplicates="drop", name=self.spec_name)


GENERATORS: dict[str, type[Any]] = {
    kind.spec_name: kind
    for kind in (Kronecker, Uniform, Grid, Road, Star, Path, Cycle, Complete, Tree, SmallWorld, Ratings)
}


def permutation(n: int, seed: int, stream: int) -> npt.NDArray[np.int64]:
    """A random order of 0 to n - 1."""
    return np.argsort(_source(seed, stream).random_raw(n), kind="stable").astype(np.int64, copy=False)


def _finished(
    generator: Any,
    src: Array,
    dst: Array,
    n: int,
    undirected: bool,
    self_loops: KeepOrDrop = "keep",
    duplicates: KeepOrDrop = "keep",
    coordinates: Array | None = None,
) -> Graph:
    """The graph of these edges, named as the generator is, with the weights that it asks for."""
    graph = Graph.from_edges(
        src, dst, None, n, undirected=undirected, self_loops=self_loops, duplicates=duplicates, name=generator.spec_name
    )
    graph.coordinates = coordinates
    return graph if isinstance(generator.weights, Unweighted) else graph.with_weights(generator.weights)


def _within(what: str, value: int, low: int, high: int | None = None) -> None:
    if value < low or (high is not None and value > high):
        raise UserError(f"{what} cannot be {value}", hint=f"from {low}" + ("" if high is None else f" to {high}"))


def _require_memory(n: int, edges: int, directed: bool) -> None:
    stored = edges * (1 if directed else 2)
    ids = 4 if n <= 2**31 - 1 else 8
    build.require_memory(
        build.estimate_bytes(n, stored) + 2 * ids * edges, f"a graph of {n:,} vertices and {edges:,} edges"
    )


def _source(seed: int, stream: int) -> np.random.PCG64:
    if seed < 0:
        raise UserError(f"a seed cannot be {seed}", hint="from 0")
    return np.random.PCG64([seed, stream])


def _fractions(source: np.random.PCG64, count: int) -> npt.NDArray[np.float64]:
    """Numbers from 0 to below 1, 53 bits each."""
    return (source.random_raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _below(source: np.random.PCG64, limit: int, count: int) -> Array:
    """Whole numbers from 0 to `limit - 1`; with 32 random bits each where that is enough, so that none is favoured by
    more than one in 2**32 / limit.
    """
    if limit >= 2**31:
        return np.minimum((_fractions(source, count) * limit).astype(np.int64), limit - 1)
    result = np.empty(count, np.int32)
    for begin in range(0, count, _CHUNK):
        size = min(_CHUNK, count - begin)
        drawn = source.random_raw((size + 1) // 2).view(np.uint32)[:size].astype(np.uint64)
        result[begin : begin + size] = (drawn * np.uint64(limit)) >> np.uint64(32)
    return result


def _grid_edges(rows: int, columns: int) -> tuple[Array, Array]:
    """Edges to the right and downwards, in the order of their sources and then of their destinations."""
    points = np.arange(rows * columns)
    right = points[points % max(columns, 1) < columns - 1]
    down = points[: max(rows - 1, 0) * columns]
    src = np.concatenate([right, down])
    dst = np.concatenate([right + 1, down + columns])
    order = np.argsort(src, kind="stable")
    return src[order], dst[order]


def _grid_points(rows: int, columns: int) -> npt.NDArray[np.float64]:
    """(column, row) of each point."""
    row, column = np.divmod(np.arange(rows * columns), max(columns, 1))
    return np.column_stack([column, row]).astype(np.float64)
