"""Edges, vertex sets, properties, queues and lists as plain Python objects.

During an apply nothing changes: each call sees the state before it and its own writes, and what all calls did is combined at the
end. Of several plain values written to one place the smallest stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pantograf.errors import UserError
from pantograf.lang.plain.numbers import NONE, VertexId, cast, dtype_of, infinity, operate, vertex

Place = tuple[int, ...]


class Call:
    """What one call of a function has written so far."""

    def __init__(self) -> None:
        self.own: dict[tuple[Property, Place], Any] = {}
        self.plain: dict[tuple[Property, Place], Any] = {}
        self.reductions: list[tuple[Property, Place, Callable[[Any], Any], bool]] = []


class World:
    """The graph, and the apply that runs now."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.n = int(graph.n)
        self.call: Call | None = None
        self.in_place = False
        self.touched: set[tuple[Property, Place]] | None = None
        self.swapping: set[str] = set()
        """Names of functions that compare and swap: their applies run in place."""

    def run(
        self,
        function: Callable[..., Any],
        calls: Iterable[tuple[Any, ...]],
        wanted: Callable[..., bool],
        in_place: bool = False,
    ) -> tuple[list[Any], set[Any]]:
        """Call a function for each tuple of arguments that is `wanted`; what each gave, and the places that were modified."""
        if self.call is not None or self.touched is not None:
            raise UserError("plain Python cannot run an apply in a function", hint="apply in the program")
        self.in_place = in_place or getattr(function, "__name__", "") in self.swapping
        self.touched = set()
        given, done = [], []
        for arguments in calls:
            self.call = None if self.in_place else Call()
            if not wanted(*arguments):
                continue
            given.append((arguments, function(*arguments)))
            if self.call is not None:
                done.append(self.call)
        self.call = None
        touched, self.touched = self.touched, None
        self.combine(done, touched)
        self.in_place = False
        return given, touched

    def combine(self, calls: list[Call], touched: set[Any]) -> None:
        """Let the writes of all calls take effect."""
        written: dict[tuple[Property, Place], list[Any]] = {}
        for call in calls:
            for place, value in call.plain.items():
                written.setdefault(place, []).append(value)
        for (target, at), values in written.items():
            target.values[at] = min(values)
            touched.add((target, at))
        for call in calls:
            for target, at, change, always in call.reductions:
                before = target.values[at]
                target.values[at] = change(before)
                if always or target.values[at] != before:
                    touched.add((target, at))


class VertexSet:
    """A set of vertices."""

    def __init__(self, world: World, members: Iterable[int]) -> None:
        self.world = world
        self.members = {VertexId(v) for v in members}

    @property
    def size(self) -> Any:
        return np.int64(len(self.members))

    def __len__(self) -> int:
        return len(self.members)

    def __contains__(self, v: Any) -> bool:
        return vertex(v) in self.members

    def add(self, v: Any) -> None:
        self.members.add(vertex(v))

    def copy(self) -> VertexSet:
        return VertexSet(self.world, self.members)

    def apply(
        self, function: Callable[..., Any], modified: Property | None = None, label: str = "", in_place: bool = False
    ) -> VertexSet | None:
        _, touched = self.world.run(function, [(v,) for v in sorted(self.members)], lambda v: True, in_place)
        return modified_set(self.world, modified, touched)

    def where(self, function: Callable[..., Any], label: str = "") -> VertexSet:
        given, _ = self.world.run(function, [(v,) for v in sorted(self.members)], lambda v: True)
        return VertexSet(self.world, [v for (v,), yes in given if yes])


class Vertices(VertexSet):
    """All vertices."""

    def property(self, type: Any, initial: Any = None) -> Property:
        return Property(self.world, type, initial)


def modified_set(world: World, modified: Property | None, touched: set[Any]) -> VertexSet | None:
    """The vertices that were written in a property."""
    if modified is None:
        return None
    return VertexSet(world, {at[0] for target, at in touched if target is modified})


class Edges:
    """Edges, some of them perhaps left out by sets and filters."""

    def __init__(
        self, world: World, rows: list[list[tuple[VertexId, Any]]], limits: dict[str, Any] | None = None
    ) -> None:
        self.world = world
        self.rows = rows
        self.limits = limits or {}

    @classmethod
    def of(cls, world: World, kind: Any) -> Edges:
        """The edges of the graph with weights of a NumPy type, or without."""
        graph = world.graph
        offsets, neighbors = np.asarray(graph.offsets), np.asarray(graph.neighbors)
        weights = None if kind is None else graph.weights
        if kind is not None and weights is None:
            raise UserError("this program needs weights, and the graph has none", hint="graph.with_weights('unit')")
        rows = [
            [
                (VertexId(neighbors[k]), None if weights is None else cast(weights[k].item(), kind))
                for k in range(int(offsets[v]), int(offsets[v + 1]))
            ]
            for v in range(world.n)
        ]
        return cls(world, rows)

    @property
    def vertices(self) -> Vertices:
        return Vertices(self.world, range(self.world.n))

    @property
    def size(self) -> Any:
        return np.int64(sum(len(row) for row in self.rows))

    def __len__(self) -> int:
        return int(self.size)

    @property
    def out_degrees(self) -> Property:
        return self.degrees(len(row) for row in self.rows)

    @property
    def in_degrees(self) -> Property:
        return self.transpose().out_degrees

    def degrees(self, counts: Iterable[int]) -> Property:
        made = Property(self.world, int, 0)
        made.values[:] = list(counts)
        return made

    def from_(self, vertices: Any) -> Edges:
        return self.limited("from", vertices)

    def to(self, vertices: Any) -> Edges:
        return self.limited("to", vertices)

    def limited(self, side: str, vertices: Any) -> Edges:
        key = f"{side} set" if isinstance(vertices, VertexSet) else f"{side} filter"
        return Edges(self.world, self.rows, {**self.limits, key: vertices})

    def wanted(self, side: str, v: VertexId) -> bool:
        members, passes = self.limits.get(f"{side} set"), self.limits.get(f"{side} filter")
        return (members is None or v in members) and (passes is None or bool(passes(v)))

    def apply(
        self, function: Callable[..., Any], modified: Property | None = None, label: str = "", in_place: bool = False
    ) -> VertexSet | None:
        weighted = function.__code__.co_argcount == 3
        calls = [
            (VertexId(v), dst, weight) if weighted else (VertexId(v), dst)
            for v, row in enumerate(self.rows)
            for dst, weight in row
        ]
        given, touched = self.world.run(
            function, calls, lambda src, dst, *_: self.wanted("from", src) and self.wanted("to", dst), in_place
        )
        if modified is None and any(value is not None for _, value in given):
            return VertexSet(self.world, [arguments[1] for arguments, value in given if value])
        if modified is None:
            return VertexSet(self.world, [])
        return modified_set(self.world, modified, touched)

    def transpose(self) -> Edges:
        rows: list[list[tuple[VertexId, Any]]] = [[] for _ in self.rows]
        for v, row in enumerate(self.rows):
            for dst, weight in row:
                rows[dst].append((VertexId(v), weight))
        return Edges(self.world, rows)

    def relabel(self) -> Edges:
        order = sorted(range(self.world.n), key=lambda v: -len(self.rows[v]))
        new = {old: VertexId(i) for i, old in enumerate(order)}
        rows = [
            sorted(((new[dst], weight) for dst, weight in self.rows[old]), key=lambda pair: pair[0]) for old in order
        ]
        return Edges(self.world, rows)

    def degree(self, v: Any) -> Any:
        return np.int64(len(self.rows[vertex(v)]))

    def neighbor(self, v: Any, k: Any) -> VertexId:
        return self.rows[vertex(v)][int(k)][0]

    def weight(self, v: Any, k: Any) -> Any:
        return self.rows[vertex(v)][int(k)][1]

    def intersect(self, a: Any, b: Any, below: Any = None, label: str = "") -> Any:
        common = {dst for dst, _ in self.rows[vertex(a)]} & {dst for dst, _ in self.rows[vertex(b)]}
        return np.int64(sum(1 for v in common if below is None or v < vertex(below)))


class Property:
    """One value per vertex."""

    def __init__(self, world: World, kind: Any, initial: Any = None) -> None:
        self.world = world
        size = getattr(kind, "size", None)
        self.kind = dtype_of(kind.parameter if size else kind)
        self.shape = (world.n, size) if size else (world.n,)
        start = self.convert(initial if initial is not None else NONE if self.kind is VertexId else 0)
        self.values = np.full(self.shape, start, object if self.kind is VertexId else self.kind)

    def convert(self, value: Any) -> Any:
        """A value as this property holds it."""
        return vertex(value) if self.kind is VertexId else cast(value, self.kind)

    def place(self, at: Any) -> Place:
        """An index as numbers."""
        found = tuple(int(i) for i in at) if isinstance(at, tuple) else (int(at),)
        if not 0 <= found[0] < self.world.n:
            raise UserError(f"there is no vertex {found[0]}; n is {self.world.n}", hint="test v != pg.none before p[v]")
        return found

    def __getitem__(self, at: Any) -> Any:
        place = self.place(at)
        if len(place) < len(self.shape):
            return Row(self, place)
        call = self.world.call
        if call is not None and (self, place) in call.own:
            return call.own[self, place]
        return self.values[place]

    def __setitem__(self, at: Any, value: Any) -> None:
        if isinstance(at, slice):
            self.values[...] = value.values if isinstance(value, Property) else self.convert(value)
            return
        place, value = self.place(at), self.convert(value)
        call = self.world.call
        if call is None:
            self.values[place] = value
            if self.world.touched is not None:
                self.world.touched.add((self, place))
            return
        call.own[self, place] = call.plain[self, place] = value
        call.reductions = [r for r in call.reductions if (r[0], r[1]) != (self, place)]

    def reduce(self, at: Any, symbol: str, value: Any) -> None:
        """Combine a value into a vertex's."""
        place = self.place(at)

        def change(before: Any) -> Any:
            return self.convert(_or(before, value) if symbol == "or" else operate(symbol, before, value))

        self.change(place, change, symbol in ("+", "-"))

    def change(self, place: Place, change: Callable[[Any], Any], always: bool) -> None:
        """Change a vertex's value, now or at the end of the apply."""
        call = self.world.call
        if call is None:
            before = self.values[place]
            self.values[place] = change(before)
            if self.world.touched is not None and (always or self.values[place] != before):
                self.world.touched.add((self, place))
            return
        after = change(self[place] if len(place) > 1 else self[place[0]])
        if (self, place) in call.plain:
            call.plain[self, place] = after
        else:
            call.reductions.append((self, place, change, always))
        call.own[self, place] = after

    def copy(self) -> Property:
        made = Property.__new__(Property)
        made.world, made.kind, made.shape, made.values = self.world, self.kind, self.shape, self.values.copy()
        return made

    def sum(self) -> Any:
        found = self.kind(0)
        for value in self.values:
            found = self.kind(found + value)
        return found

    def min(self) -> Any:
        return min(self.values, default=infinity(self.kind))

    def max(self) -> Any:
        return max(self.values, default=cast(-math.inf, self.kind))

    def any(self) -> bool:
        return bool(self.values.any())


def _or(a: Any, b: Any) -> Any:
    return bool(a) or bool(b) if isinstance(a, (bool, np.bool_)) else a | b


class Row:
    """The vector of a vertex."""

    def __init__(self, of: Property, place: Place) -> None:
        self.of, self.place = of, place

    def __getitem__(self, i: Any) -> Any:
        return self.of[(*self.place, i)]

    def __setitem__(self, i: Any, value: Any) -> None:
        self.of[(*self.place, i)] = value

    def reduce(self, i: Any, symbol: str, value: Any) -> None:
        self.of.reduce((*self.place, i), symbol, value)


class PriorityQueue:
    """Vertices ordered by a property; the bucket of a vertex follows its value."""

    def __init__(
        self, priority: Property, lowest_first: bool = True, delta: Any = 1, start: str = "none", label: str = "queue"
    ) -> None:
        self.of, self.lowest, self.delta = priority, lowest_first, cast(delta, priority.kind)
        null = infinity(priority.kind) if lowest_first else cast(-math.inf, priority.kind)
        self.queued = {v for v in range(priority.world.n) if start == "all" and priority.values[v] != null}
        self.current: int | None = None

    def bucket(self, v: int) -> int:
        return int(self.of.values[v] // self.delta)

    @property
    def priority(self) -> Any:
        return cast((self.current or 0) * self.delta.item(), self.of.kind)

    def __bool__(self) -> bool:
        return bool(self.queued)

    def finished(self) -> bool:
        return not self.queued

    def finished_node(self, v: Any) -> bool:
        if self.current is None:
            return False
        own = int(self.of[vertex(v)] // self.delta)
        return own < self.current if self.lowest else own > self.current

    def add(self, v: Any, priority: Any) -> None:
        self.of.values[vertex(v)] = self.of.convert(priority)
        self.queued.add(int(vertex(v)))

    def pop(self) -> VertexSet:
        if not self.queued:
            return VertexSet(self.of.world, [])
        self.current = (min if self.lowest else max)(self.bucket(v) for v in self.queued)
        found = {v for v in self.queued if self.bucket(v) == self.current}
        self.queued -= found
        return VertexSet(self.of.world, found)

    def update_min(self, v: Any, value: Any) -> None:
        self.update(v, lambda before: operate("min", before, self.of.convert(value)))

    def update_max(self, v: Any, value: Any) -> None:
        self.update(v, lambda before: operate("max", before, self.of.convert(value)))

    def update_sum(self, v: Any, value: Any, limit: Any) -> None:
        added, least = self.of.convert(value), self.of.convert(limit)
        self.update(
            v, lambda before: before if self.finished_node(v) else max(operate("+", before, added), min(least, before))
        )

    def update(self, v: Any, change: Callable[[Any], Any]) -> None:
        """Change a priority, and queue the vertex if that changed it."""
        at = (int(vertex(v)),)

        def changed(before: Any) -> Any:
            after = change(before)
            if after != before and self.of.world.call is None:
                self.queued.add(at[0])
            return after

        self.of.change(at, changed, False)


class List:
    """A growing list."""

    def __init__(self, world: World, element: Any) -> None:
        self.world, self.element = world, element
        self.values: list[Any] = []

    @property
    def size(self) -> Any:
        return np.int64(len(self.values))

    def __len__(self) -> int:
        return len(self.values)

    def append(self, value: Any) -> None:
        self.values.append(value.copy() if isinstance(value, VertexSet) else cast(value, dtype_of(self.element)))

    def pop(self) -> Any:
        return self.values.pop() if self.values else self.empty()

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < len(self.values):
            return self.empty()
        found = self.values[int(i)]
        return found.copy() if isinstance(found, VertexSet) else found

    def empty(self) -> Any:
        """What there is outside of the list."""
        from pantograf.lang import types

        return VertexSet(self.world, []) if self.element is types.VertexSet else dtype_of(self.element)(0)


def result(value: Any) -> Any:
    """A value as the caller of a program gets it."""
    if isinstance(value, VertexSet):
        return np.array(sorted(value.members), np.int64)
    if isinstance(value, Property):
        return value.values.astype(np.int64) if value.kind is VertexId else value.values.copy()
    return int(value) if isinstance(value, VertexId) else value
