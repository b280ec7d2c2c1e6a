"""Ways to give weights to the edges of a graph, each a frozen dataclass with a text form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pantograf.errors import UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array
from pantograf.graphs.csr import Graph, edge_blocks

WeightType = Literal["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"]
_TYPES: dict[str, type[Any]] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
}
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items()}
_EARTH_RADIUS_M = 6_371_008.8  # IUGG mean radius


@dataclass(frozen=True)
class Unweighted:
    """No weights."""

    spec_name: ClassVar[str] = "none"

    def weigh(self, graph: Graph) -> Array | None:
        return None


@dataclass(frozen=True)
class Unit:
    """1 for each edge."""

    spec_name: ClassVar[str] = "unit"
    type: WeightType = "i32"

    def weigh(self, graph: Graph) -> Array | None:
        return np.ones(graph.m, _TYPES[self.type])


@dataclass(frozen=True)
class Random:
    """Whole numbers from `low` to `high`, both included, by a hash of the edge's ends and the seed: an edge and its
    reverse weigh the same, and so do parallel edges.
    """

    spec_name: ClassVar[str] = "random"
    low: int = 1
    high: int = 255
    seed: int = 1
    type: WeightType = "i32"

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise UserError(f"random weights from {self.low} to {self.high} are none", hint="low must not exceed high")
        if self.high - self.low >= 2**32:
            raise UserError(f"random weights span {self.high - self.low + 1} values", hint="at most 2**32 are possible")
        if _does_not_fit(self.low, self.type) or _does_not_fit(self.high, self.type):
            raise UserError(f"weights {self.low} to {self.high} do not fit in {self.type}", hint="choose a wider type")

    def weigh(self, graph: Graph) -> Array | None:
        result = np.empty(graph.m, _TYPES[self.type])
        seed = _mixed(np.array([self.seed & 0xFFFF_FFFF_FFFF_FFFF], np.uint64))[0]
        span = np.uint64(self.high - self.low + 1)
        for begin, src, dst in edge_blocks(graph):
            ends = np.minimum(src, dst).astype(np.uint64), np.maximum(src, dst).astype(np.uint64)
            drawn = _mixed(_mixed(ends[0] ^ seed) + ends[1]) >> np.uint64(32)
            drawn = (drawn * span) >> np.uint64(32)
            result[begin : begin + src.size] = drawn.astype(np.int64) + self.low
        return result


@dataclass(frozen=True)
class Rounded:
    """The graph's own weights as the nearest whole numbers."""

    spec_name: ClassVar[str] = "rounded"
    type: WeightType = "i32"

    def weigh(self, graph: Graph) -> Array | None:
        return _converted(graph, np.rint(_own(graph, "rounded")), self.type)


@dataclass(frozen=True)
class Converted:
    """The graph's own weights in another type that can hold each of them (a float may lose digits, not size)."""

    spec_name: ClassVar[str] = "converted"
    type: WeightType = "f64"

    def weigh(self, graph: Graph) -> Array | None:
        own = _own(graph, "converted")
        if own.dtype.kind == "f" and self.type[0] != "f" and (bad := np.flatnonzero(np.rint(own) != own)).size:
            raise UserError(
                f"weight {own[bad[0]]} of {graph.name} is no {self.type}", hint="use graph.with_weights('rounded')"
            )
        return _converted(graph, own, self.type)


@dataclass(frozen=True)
class Coordinates:
    """The distance between the ends of each edge: straight in the plane, or in metres on the globe for (lon, lat)."""

    spec_name: ClassVar[str] = "coordinates"
    globe: bool = False
    scale: float = 1.0
    type: WeightType = "f64"

    def weigh(self, graph: Graph) -> Array | None:
        if graph.coordinates is None:
            raise UserError(
                f"{graph.name} has no coordinates", hint="use graph.with_weights('unit') or 'random{low=1, high=255}'"
            )
        result = np.empty(graph.m, np.float64)
        at = graph.coordinates.astype(np.float64)
        for begin, src, dst in edge_blocks(graph):
            length = _globe_metres(at[src], at[dst]) if self.globe else np.hypot(*(at[src] - at[dst]).T)
            result[begin : begin + src.size] = length * self.scale
        return _converted(graph, np.rint(result) if self.type[0] != "f" else result, self.type)


Weighing = Unweighted | Unit | Random | Rounded | Converted | Coordinates
KINDS: dict[str, type[Weighing]] = {
    kind.spec_name: kind for kind in (Unweighted, Unit, Random, Rounded, Converted, Coordinates)
}


def type_name(kind: np.dtype[Any]) -> str:
    """The language's name of a weight's type."""
    return _NAMES[kind]


def with_weights(graph: Graph, weights: Any) -> Graph:
    """See `Graph.with_weights`."""
    if isinstance(weights, str):
        weights = _read(weights)
    if weights is None:
        weights = Unweighted()
    if isinstance(weights, Weighing):
        return graph._derived(graph.rows._replace(weights=weights.weigh(graph)))
    own = build.edge_weights(weights, graph.m)
    assert own is not None
    directed = graph._derived(graph.rows._replace(weights=own.copy() if own is weights else own), symmetric=False)
    if not graph.symmetric:
        return directed
    try:
        return directed.verified_symmetric()
    except UserError:
        return directed


def _read(text: str) -> Weighing:
    from pantograf import spec

    read = spec.parse(text)
    if read.name not in KINDS:
        raise UserError(f"no weights are called {read.name!r}", hint=f"legal: {', '.join(KINDS)}, or an array")
    return spec.fill(KINDS[read.name], read.settings)


def _mixed(x: Array) -> Array:
    """SplitMix64's finaliser (Steele, Lea, Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = x ^ (x >> np.uint64(31))
    return mixed


def _own(graph: Graph, how: str) -> Array:
    if graph.weights is None:
        raise UserError(f"{graph.name} has no weights that could be {how}", hint="use graph.with_weights('unit')")
    return graph.weights


def _does_not_fit(value: int, kind: str) -> bool:
    if kind[0] == "f":
        return False
    limits = np.iinfo(_TYPES[kind])
    return not limits.min <= value <= limits.max


def _converted(graph: Graph, values: Array, kind: str) -> Array:
    if kind[0] != "f" and values.size:
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise UserError(f"a weight of {graph.name} is NaN, which no {kind} can hold", hint="choose type=f32 or f64")
        for value in (values.min(), values.max()):
            if not np.isfinite(value) or _does_not_fit(int(value), kind):
                raise UserError(f"weight {value} of {graph.name} does not fit in {kind}", hint="choose a wider type")
    return values.astype(_TYPES[kind])


def _globe_metres(first: Array, second: Array) -> Array:
    """Great-circle distance by the haversine formula."""
    lon1, lat1 = np.radians(first).T
    lon2, lat2 = np.radians(second).T
    half = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    metres: Array = 2 * _EARTH_RADIUS_M * np.arcsin(np.sqrt(half))
    return metres
