"""Each operation of GraphIR as a step: a function of the state of a run. The steps of a block run in order.

A step returns None to go on, or a signal that ends blocks up to the loop or function it belongs to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pantograf.ir import graph as ir
from pantograf.ir.location import fail
from pantograf.ir.text import program_of
from pantograf.machines.reference import scalars
from pantograf.machines.reference.state import After, Now, Property, Row, VertexSet

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.machine import Limits

Step = Callable[["Run"], str | None]
BREAK, CONTINUE, YIELD = "break", "continue", "yield"


class Stopped(Exception):
    """The time of the run is over; what is running ends without effect."""


class Rows(NamedTuple):
    """A graph's rows as Python lists."""

    graph: Graph
    offsets: list[int]
    neighbors: list[int]
    weights: list[Any]
    touched: bytearray
    """Which edges an apply has looked at."""


@dataclass
class Run:
    """The state of one run."""

    env: list[Any]
    limits: Limits
    out: Callable[[str], None]
    view: Now | After = field(default_factory=Now)
    yielded: Any = None
    call: int = 0
    """The number of the call of a function that is running; 0 outside functions."""
    calls: int = 0
    rows: dict[tuple[int, str], Rows] = field(default_factory=dict)
    timer: float = 0.0
    rounds: int = 0
    pops: int = 0
    edges_processed: int = 0
    vertices_processed: int = 0
    deadline: float | None = None
    completed: bool = True
    """Whether no limit has ended anything."""

    def check_time(self) -> None:
        """End what is running if the run has had its time."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.completed = False
            raise Stopped

    def may_turn(self, counts: bool) -> bool:
        """Whether a loop of the program may begin another turn; `counts` if the turn is a round."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        many = counts and self.limits.rounds is not None and self.rounds >= self.limits.rounds
        self.completed &= not (late or many)
        self.rounds += counts and not (late or many)
        return not (late or many)

    def rows_of(self, graph: Graph, weight: Attribute) -> Rows:
        """A graph's rows, with weights of the type that the program declares."""
        dtype = ir.DTYPES.get(ir.type_name(weight), "")
        found = self.rows.get((id(graph), dtype))
        if found is None:
            weights = [] if not dtype or graph.weights is None else np.asarray(graph.weights).astype(dtype).tolist()
            found = Rows(graph, graph.offsets.tolist(), graph.neighbors.tolist(), weights, bytearray(graph.m))
            self.rows[id(graph), dtype] = found
        return found

    def edges_touched(self) -> int:
        """How many edges an apply has looked at, each counted once (an edge and the same edge turned round are two)."""
        return sum(sum(rows.touched) for rows in self.rows.values())


class Interpreter:
    """The steps of one program. It keeps no state of a run."""

    def __init__(self, module: ModuleOp, externs: Mapping[str, Callable[..., Any]]) -> None:
        self.program = program_of(module)
        self.externs = externs
        self.outputs = {op.sym_name.data: op.output for op in module.ops if isinstance(op, ir.ExternOp)}
        self.in_place = self.program.visibility.data == "inplace"
        self.functions = 0
        """How many regions of functions surround the operation that is being translated."""
        self.slots: dict[SSAValue, int] = {}
        for arg in self.program.body.block.args:
            self.slot(arg)
        self.body = self.block(self.program.body.block)
        last = self.program.body.block.last_op
        assert isinstance(last, ir.ReturnOp)
        self.end = last

    # --- a run

    def run(self, arguments: Mapping[str, Any], graph: Graph, limits: Limits, out: Callable[[str], None]) -> Run:
        """Run to the end; the state then. A limit ends loops, and what follows them still runs."""
        deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        r = Run([None] * len(self.slots), limits, out, deadline=deadline)
        edges, *others = self.program.body.block.args
        r.env[self.slot(edges)] = graph
        for name, arg in zip(self.program.argument_names()[1:], others, strict=True):
            r.env[self.slot(arg)] = argument(arg.type, arguments[name])
        self.body(r)
        return r

    def results(self, r: Run) -> Iterator[tuple[str, Attribute, Any]]:
        """Name, type and value of each result."""
        for name, value in zip(self.end.names.data, self.end.values, strict=True):
            assert isinstance(name, StringAttr)
            yield name.data, value.type, r.env[self.slot(value)]

    # --- translation

    def slot(self, value: SSAValue) -> int:
        """Where a run keeps a value."""
        return self.slots.setdefault(value, len(self.slots))

    def maybe(self, value: SSAValue | None) -> int | None:
        """Where a run keeps a value, if there is one."""
        return None if value is None else self.slot(value)

    def block(self, block: Block) -> Step:
        """The steps of a block, as one."""
        steps = tuple(self.step(op) for op in block.ops)

        def run(r: Run) -> str | None:
            for step in steps:
                if (signal := step(r)) is not None:
                    return signal
            return None

        return run

    def step(self, op: Operation) -> Step:
        """The step of an operation."""
        make = MEANING.get(type(op))
        if make is None:
            fail(op, f"the reference machine does not know {op.name}")
        return make(self, op)

    def function(self, region: Region) -> Callable[..., Any]:
        """A region as a function `f(run, *arguments)`: what it yields, or None. Each call sees its own writes."""
        self.functions += 1
        body = self.block(region.block)
        self.functions -= 1
        slots = [self.slot(a) for a in region.block.args]

        def call(r: Run, *arguments: Any) -> Any:
            r.calls += 1
            outer, r.call = r.call, r.calls
            for slot, value in zip(slots, arguments, strict=False):
                r.env[slot] = value
            r.yielded = None
            body(r)
            r.call = outer
            return r.yielded

        return call

    def place(self, op: Operation, row: SSAValue, at: tuple[SSAValue, ...]) -> Callable[[Run], tuple[Row, int]]:
        """What `row[at]` refers to; an index outside is an error at `op`."""
        source, indices = self.slot(row), [self.slot(a) for a in at]
        if not indices:
            return lambda r: (r.env[source], 0)
        if len(indices) == 1:

            def of_vertex(r: Run) -> tuple[Row, int]:
                found = r.env[source]
                v = r.env[indices[0]]
                if not 0 <= v < len(found.values):
                    no_vertex(op, v, len(found.values))
                return found, v

            return of_vertex

        def of_element(r: Run) -> tuple[Row, int]:
            found = r.env[source]
            v, i = r.env[indices[0]], r.env[indices[1]]
            if not 0 <= v < len(found.values) // found.width:
                no_vertex(op, v, len(found.values) // found.width)
            if not 0 <= i < found.width:
                fail(
                    op, f"there is no element {i}; a vector here has {found.width}", f"elements: 0 to {found.width - 1}"
                )
            return found, v * found.width + i

        return of_element


def argument(t: Attribute, value: Any) -> Any:
    """An argument as this machine holds it."""
    if isinstance(t, ir.PropertyType):
        width = t.element.size.data if isinstance(t.element, ir.VectorType) else 1
        return Property(scalar_of(t.element), width, np.asarray(value).ravel().tolist())
    if isinstance(t, ir.VertexSetType):
        return VertexSet(set(np.asarray(value).tolist()))
    if isinstance(t, ir.VertexType):
        return scalars.NONE if value is None else int(value)
    return scalars.fit(t)(value)


def no_vertex(op: Operation, v: int, n: int) -> None:
    """Complain that an index is no vertex."""
    if v == scalars.NONE:
        fail(op, "none is used as a vertex", "compare with none first")
    fail(op, f"there is no vertex {v}; n is {n}", f"vertices: 0 to {n - 1}" if n else "the graph has no vertices")


def scalar_of(t: Attribute) -> Attribute:
    """The type of a property's single numbers."""
    return t.element if isinstance(t, ir.VectorType) else t


MEANING: dict[type[Operation], Callable[[Interpreter, Any], Step]] = {}


def means(kind: type[Operation]) -> Callable[[Callable[[Interpreter, Any], Step]], Callable[[Interpreter, Any], Step]]:
    """Register what makes the step of an operation."""

    def register(make: Callable[[Interpreter, Any], Step]) -> Callable[[Interpreter, Any], Step]:
        MEANING[kind] = make
        return make

    return register


def value_of(s: Interpreter, op: Operation, compute: Callable[[list[Any]], Any]) -> Step:
    """A step that gives the operation's one result a value from the environment."""
    out = s.slot(op.results[0])

    def step(r: Run) -> None:
        r.env[out] = compute(r.env)

    return step


def rows_of(s: Interpreter, op: Any) -> Callable[[Run], Rows]:
    """The rows of the edges that an operation works on."""
    edges, weight = s.slot(op.edges), op.edges.type.weight
    return lambda r: r.rows_of(r.env[edges], weight)
