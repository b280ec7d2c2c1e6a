"""What a program's handles refer to, and when writes are seen: at once (`Now`) or after the apply (`After`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Attribute

from pantograf.ir.graph import is_float
from pantograf.machines.reference.scalars import Number, fit, greatest, least


@dataclass(eq=False)
class Property:
    """One value per vertex (`width` values per vertex if they are vectors), in one row. Compared by identity."""

    element: Attribute
    width: int
    values: list[Number]


@dataclass(eq=False)
class Cell:
    """A variable: a row of one value. `call` is the call of a function that made it, 0 outside functions."""

    values: list[Any]
    call: int = 0


@dataclass(eq=False)
class VertexSet:
    """A set of vertices; handles share it."""

    members: set[int]


@dataclass(eq=False)
class Queue:
    """Vertices that wait, by the priority they have when they are taken."""

    priority: Property
    delta: Number
    highest: bool
    waiting: set[int] = field(default_factory=set)
    current: Number | None = None
    """The bucket that was popped last."""

    def bucket(self, priority: Number) -> Number:
        """floor(priority / delta); infinity is a bucket of its own, nan is in the last one."""
        if not isinstance(priority, float):
            return priority // self.delta
        if math.isnan(priority):
            return -math.inf if self.highest else math.inf
        return math.floor(priority / self.delta) if math.isfinite(priority / self.delta) else priority

    def null(self) -> Number:
        """The priority of a vertex that was never queued."""
        return least(self.priority.element) if self.highest else greatest(self.priority.element)

    def pop(self) -> set[int]:
        """Take the vertices of the first bucket."""
        if not self.waiting:
            return set()
        buckets = {v: self.bucket(self.priority.values[v]) for v in self.waiting}
        self.current = (max if self.highest else min)(buckets.values())
        taken = {v for v, bucket in buckets.items() if bucket == self.current}
        self.waiting -= taken
        return taken

    def has_passed(self, bucket: Number) -> bool:
        """Whether a bucket comes before the one that was popped last."""
        return self.current is not None and (bucket > self.current if self.highest else bucket < self.current)

    def lowest_of_current(self) -> Number:
        """The least priority of the bucket that was popped last; 0 before the first."""
        t = self.priority.element
        if self.current is None or not math.isfinite(self.current):
            return self.current or (0.0 if is_float(t) else 0)
        return fit(t)(self.current * self.delta)


def differs(a: Number, b: Number) -> bool:
    """Whether two values are not the same; nan is the same as nan."""
    return bool(a != b and not (a != a and b != b))


@dataclass(frozen=True)
class Change:
    """One combination into a place: `combine(old, value)`; `queue` learns of it when it is a priority."""

    combine: Callable[[Number, Number], Number]
    value: Number
    always: bool = False
    """Whether the place counts as modified even if its value stays: true of sums."""
    queue: Queue | None = None
    accumulates: bool = False


Row = Property | Cell
Place = tuple[Row, int]


class Now:
    """Everything is seen at once. `modified` collects the vertices of `watched` that were modified.

    `load` and `store` are a place's value. `change` combines a value into it and says whether that modified it. `begin` and
    `end` are called round each call of a function, `finish` when the apply ends.
    """

    def __init__(self, watched: Property | None = None) -> None:
        self.watched = watched
        self.modified: set[int] = set()

    def load(self, row: Row, i: int) -> Any:
        return row.values[i]

    def store(self, row: Row, i: int, value: Any) -> None:
        row.values[i] = value
        self._note(row, i)

    def change(self, row: Row, i: int, change: Change) -> bool:
        before = row.values[i]
        passed = change.queue is not None and change.queue.has_passed(change.queue.bucket(before))
        row.values[i] = change.combine(before, change.value)
        changed = differs(row.values[i], before)
        if changed and change.queue is not None and not (change.accumulates and passed):
            change.queue.waiting.add(i)
        if changed or change.always:
            self._note(row, i)
        return changed or change.always

    def begin(self) -> None:
        pass

    def end(self) -> None:
        pass

    def finish(self) -> None:
        pass

    def _note(self, row: Row, i: int) -> None:
        if row is self.watched:
            self.modified.add(i // self.watched.width)


@dataclass
class _Own:
    """What one call did to one place: the value it sees, whether it stored, and what it combined since."""

    value: Any
    stored: bool = False
    changes: list[Change] = field(default_factory=list)


class After:
    """The state before the apply is seen, and what the call itself wrote; all writes take effect at the end.

    A place that several calls wrote gets the smallest of the values they stored, then what others combined, in order.
    """

    def __init__(self, watched: Property | None = None) -> None:
        self.now = Now(watched)
        self.modified = self.now.modified
        self.own: dict[Place, _Own] = {}
        self.stored: dict[Place, list[Any]] = {}
        self.changes: dict[Place, list[Change]] = {}

    def load(self, row: Row, i: int) -> Any:
        own = self.own.get((row, i))
        return row.values[i] if own is None else own.value

    def store(self, row: Row, i: int, value: Any) -> None:
        self.own[row, i] = _Own(value, stored=True)

    def change(self, row: Row, i: int, change: Change) -> bool:
        own = self.own.setdefault((row, i), _Own(row.values[i]))
        before = own.value
        own.value = change.combine(before, change.value)
        own.changes.append(change)
        return differs(own.value, before) or change.always

    def begin(self) -> None:
        self.own = {}

    def end(self) -> None:
        for place, own in self.own.items():
            if own.stored:
                self.stored.setdefault(place, []).append(own.value)
            else:
                self.changes.setdefault(place, []).extend(own.changes)
        self.own = {}

    def finish(self) -> None:
        for (row, i), values in self.stored.items():
            self.now.store(row, i, min(values, key=lambda x: (x != x, x)))
        for (row, i), changes in self.changes.items():
            for change in changes:
                self.now.change(row, i, change)


def limited_sum(limit: Number, t: Attribute) -> Callable[[Number, Number], Number]:
    """Add, but a value never falls below `limit`; one that is there already stays."""
    cut = fit(t)
    return lambda old, x: min(old, limit) if x < 0 and old + x < limit else cut(old + x)
