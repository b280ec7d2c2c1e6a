"""What an emitted program is: its text, what the host must give it, and what it gives back; and facts about its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir import BlockArgument, Operation, SSAValue

from pantograf.ir import graph as g
from pantograf.machines.cpu.text import DTYPES, literal, scalar_type


@dataclass(frozen=True)
class Need:
    """Something that the host gives to an emitted program as an argument."""

    kind: Literal[
        "graph",
        "array",
        "pool",
        "argument",
        "members",
        "sets",
        "queue",
        "list",
        "clock",
        "profile",
        "ids",
        "marks",
        "segments",
        "stamps",
    ]
    dtype: str = ""
    width: int = 1
    count: int = 1
    source: str = ""
    """graph: how it is made from the user's, `t` for transposed and `r` for relabelled, in order; argument: its name."""
    per_thread: bool = False
    record: tuple[str, ...] = ()
    """array: the properties that it lies beside, in memory of one record for each vertex."""


@dataclass
class Plan:
    """An emitted program: its text, what it needs, and what it gives back."""

    text: str = ""
    needs: dict[str, Need] = field(default_factory=dict)
    knobs: list[int] = field(default_factory=list)
    results: list[tuple[str, str, int]] = field(default_factory=list)
    """Name, kind (`array`, `bools`, `set` or `scalar`) and width (negative: of vectors) of each returned value."""
    records: list[tuple[str, ...]] = field(default_factory=list)
    """Groups of properties that share memory, a record for each vertex."""
    chosen: dict[str, list[str]] = field(default_factory=dict)
    """For each label of an apply the schedules that it runs under (two where it is split by density), nothing left open."""
    sites: list[tuple[Operation, str]] = field(default_factory=list)
    """What compiled code may complain about, by number, and what would be right there."""
    profiled: list[str] | None = None
    """The labels whose time is measured, in the order of their places; none where none is."""
    pulls: set[str] = field(default_factory=set)
    """The forms of the graph whose in-edges are read."""
    halves: set[str] = field(default_factory=set)
    """The forms of the graph whose rows are read up to a vertex's own number, or from there."""


def form_of(edges: SSAValue) -> str:
    """How a graph was made from the program's: `t` turned round, `r` relabelled, one after the other."""
    owner = edges.owner
    if isinstance(owner, g.TransposeOp):
        source = form_of(owner.edges)
        return source[:-1] if source.endswith("t") else source + "t"
    if isinstance(owner, g.RelabelOp):
        return form_of(owner.edges) + "r"
    assert isinstance(edges, BlockArgument)
    return ""


def element_of(v: SSAValue, wide: bool) -> tuple[int, str]:
    """How many scalars a vertex has in a property, and their NumPy type."""
    element = v.type.element  # type: ignore[attr-defined]
    if isinstance(element, g.VectorType):
        return element.size.data, DTYPES[scalar_type(element.element, wide)]
    return 1, DTYPES[scalar_type(element, wide)]


def extreme(v: SSAValue, kind: str, wide: bool) -> str:
    """What min starts from, or max."""
    t = v.type.element if isinstance(v.type, g.CellType) else v.type
    name = scalar_type(t, wide)
    if isinstance(t, g.VertexType):
        return f"{name}({2**31 - 1 if kind == 'min' else -(2**31)})"
    if kind == "min":
        return literal(g.infinity(t), t, wide)
    if name[0] == "f":
        return literal(float("-inf"), t, wide)
    return f"{name}({0 if name[0] == 'u' else -(1 << (int(name[1:]) - 1))})"


def null(op: g.QueueOp, wide: bool) -> str:
    """The priority that means `not queued` at the start."""
    t = op.priority.type.element  # type: ignore[attr-defined]
    name = scalar_type(t, wide)
    if op.order.data == "lowest":
        return literal(g.infinity(t), t, wide)
    if name[0] == "f":
        return literal(float("-inf"), t, wide)
    return f"{name}({0 if name[0] == 'u' else -(1 << (int(name[1:]) - 1))})"
