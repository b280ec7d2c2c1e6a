"""Where two results differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.machine import Machine
    from pantograf.result import Result


@dataclass(frozen=True)
class Difference:
    """One value of a program, and the first place where two results disagree about it."""

    value: str
    vertex: int | None
    """The first vertex that differs, in the graph's numbering; none when the value is not a property."""
    left: Any
    right: Any
    count: int
    """How many entries differ."""

    def __str__(self) -> str:
        where = self.value if self.vertex is None else f"{self.value}[{self.vertex}]"
        more = f" ({self.count:,} entries differ)" if self.count > 1 else ""
        return f"{where} is {self.left} and {self.right}{more}"


def differences(left: Result, right: Result, tolerance: float = 1e-6) -> list[Difference]:
    """One entry for each value that is not the same in both; floats are the same when they are within `tolerance`."""
    found = []
    for name in left.values:
        a, b = np.asarray(left.values[name]), np.asarray(right.values[name])
        if a.shape != b.shape:
            found.append(Difference(name, None, f"{a.size:,} values", f"{b.size:,} values", abs(a.size - b.size) or 1))
            continue
        wrong = a != b
        if a.dtype.kind == "f" or b.dtype.kind == "f":
            wrong = ~np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        rows = wrong.reshape(wrong.shape[0], -1).any(axis=1) if wrong.ndim else np.atleast_1d(wrong)
        if rows.any():
            first = int(np.argmax(rows))
            vertex = first if name in left.properties() else None
            entries = (a[first], b[first]) if a.ndim else (a, b)
            found.append(Difference(name, vertex, entries[0].tolist(), entries[1].tolist(), int(rows.sum())))
    return found


def diff(
    program: Program,
    graph: Graph,
    left: Machine | str,
    right: Machine | str,
    arguments: Mapping[str, Any],
    tolerance: float = 1e-6,
) -> Difference | None:
    """Run a program on two machines: the first vertex where they differ, properties before other values."""
    results = [program.on(machine)(graph, **arguments) for machine in (left, right)]
    found = sorted(differences(results[0], results[1], tolerance), key=lambda d: d.vertex is None)
    return found[0] if found else None
