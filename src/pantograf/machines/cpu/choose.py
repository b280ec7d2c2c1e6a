"""The schedule of each apply with nothing left open: what the user said, and for the rest what suits the program and the graph."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import functions_of, relation
from pantograf.machines.cpu.far import edge_loops, own_edges
from pantograf.machines.cpu.schedule import Direction, Traverse
from pantograf.passes.find_early_exits import claimed, one_write_is_enough
from pantograf.schedule import Hybrid, Mixed, Schedule, Traversal, read

if TYPE_CHECKING:
    from pantograf.graphs import Graph

KINDS: dict[str, type[Schedule]] = {Traverse.spec_name: Traverse}

LOW_DEGREE = 4.0
"""Below this mean degree a frontier is never dense for long, and asking costs more than it gains (measured on roads and grids)."""
SMALL_ROUNDS = "small_rounds"
"""Written on the queue of a fixpoint over a graph of low degree: there are many rounds of few vertices, and meeting after each costs
more than some edges that are looked at twice."""
LONG = 8
"""From this mean degree on a bitmap of one neighbour list pays for being made."""
FAR = 1 << 18
"""Places of four bytes that a core's own cache holds: what is read at random from more is asked for early."""
FARTHER = 1 << 23
"""Places of four bytes that the cores' common cache holds: asking early for what a gather reads cost more than it saved below."""
HUB_SHARE = 8
"""A vertex with more than 1 / (threads * HUB_SHARE) of all edges would keep one thread busy while the others wait."""


class Shape(NamedTuple):
    """What a default schedule asks of a graph."""

    vertices: int
    edges: int
    mean_degree: float
    max_degree: int
    threads: int

    @classmethod
    def of(cls, graph: Graph, threads: int) -> Shape:
        """Measure a graph."""
        degrees = graph.out_degrees
        return cls(graph.n, graph.m, graph.m / max(graph.n, 1), int(degrees.max()) if graph.n else 0, threads)

    @property
    def has_hubs(self) -> bool:
        """Whether one vertex's edges should be shared among threads."""
        return self.threads > 1 and self.max_degree * self.threads * HUB_SHARE > self.edges and self.max_degree > 4096


@lru_cache(maxsize=1024)
def _read(text: str) -> Schedule:
    return read(text, KINDS)


def attached(op: Operation) -> Schedule | None:
    """The schedule that was written on an operation."""
    text = op.attributes.get("schedule")
    return _read(text.data) if isinstance(text, StringAttr) else None


def schedule_of(op: Operation) -> Traverse | None:
    """The attached schedule of an operation as one `Traverse`: of a hybrid, the part that this operation is."""
    found = attached(op)
    while isinstance(found, Hybrid):
        first, second = found.parts()
        found = second if op.attributes.get("part") == StringAttr("sparse") else first
    assert found is None or isinstance(found, Traverse)
    return found


@dataclass(frozen=True)
class Choice:
    """A resolved schedule and the reason for what was chosen."""

    schedule: Traverse
    reason: str = ""


@dataclass(frozen=True)
class CpuQuery:
    """The CPU's answers to the passes."""

    deterministic: bool = False
    shape: Shape | None = None

    def traverse(self, op: Operation) -> Traversal | Mixed:
        """How an apply runs."""
        found = attached(op)
        if isinstance(found, Hybrid) and not self.deterministic and not in_par_for(op):
            dense, sparse = found.parts()
            return Mixed(_plain(dense), _plain(sparse), found.when)
        return self.choose(op).schedule.traversal()

    def raises(self, loop: g.WhileOp) -> bool:
        """Always: rounds in place need no copies of properties."""
        return True

    def choose(self, op: Operation) -> Choice:
        """The schedule of an apply with nothing left open."""
        return choose(op, self.deterministic, self.shape)


def _plain(part: Schedule) -> Traversal:
    found = part.traversal()
    return found.dense if isinstance(found, Mixed) else found


def in_par_for(op: Operation) -> bool:
    """Whether an operation runs inside a par_for, where everything is serial."""
    around = op.parent_op()
    while around is not None:
        if isinstance(around, g.ParForOp):
            return True
        around = around.parent_op()
    return False


def choose(op: Operation, deterministic: bool, shape: Shape | None = None) -> Choice:
    """The schedule of an apply with nothing left open, and why."""
    given = schedule_of(op) or Traverse()
    reason = "as scheduled"
    if isinstance(op, g.EdgeApplyOp):
        direction, reason = _direction(op, given, deterministic, shape)
        if direction == "hybrid" and isinstance(op.attributes.get("part"), StringAttr):
            direction = "push" if op.attributes["part"] == StringAttr("sparse") else "pull"
        given = given.going(direction)
        given, more = _share_hubs(op, given, shape)
        reason += more
    if given.intersection == "auto" and shape is not None and shape.mean_degree >= LONG and _one_stays(op):
        given = dataclasses.replace(given, intersection="bitmap")
        reason += f"; intersects by a bitmap of the vertex that stays: the mean degree is {shape.mean_degree:.1f}, at least {LONG}"
    given, more = _ask_early(op, given, shape)
    reason += more
    if in_par_for(op) and given.parallelism != "serial":
        given = dataclasses.replace(given, parallelism="serial", dealing="dynamic", grain=0)
        reason += "; serial, as it stands in a par_for"
    return Choice(given, reason)


def _direction(op: g.EdgeApplyOp, given: Traverse, deterministic: bool, shape: Shape | None) -> tuple[Direction, str]:
    """`push`, `dense_push`, `pull` or `hybrid`, and the reason."""
    writes = [a for function in functions_of(op) for a in function.accesses() if a.writes]
    racing = [a for a in writes if a.index != "own"]
    if deterministic and racing and all(a.index == "dst" for a in racing):
        return "pull", "deterministic: one thread decides on each destination, over its sources in order"
    if deterministic and racing and all(a.index == "src" for a in racing):
        return "push", "deterministic: one thread decides on each source, over its destinations in order"
    if given.direction != "auto":
        return given.direction, "as scheduled"
    if given.cuts:
        return "pull", "as scheduled: it is the sources of a pull that are cut into parts"
    if given.fixpoint == "async":
        return "push", "as scheduled: a thread goes on by pushing from what it has changed"
    narrowed = op.to_ is not None or op.to_filter is not None
    settles = claimed(op) is not None or (narrowed and one_write_is_enough(op, deterministic))
    if op.from_ is not None and settles:
        if shape is not None and shape.mean_degree < LOW_DEGREE:
            return (
                "push",
                f"the mean degree is {shape.mean_degree:.1f}, below {LOW_DEGREE:g}: a frontier is hardly ever dense",
            )
        degree = "" if shape is None else f"the mean degree is {shape.mean_degree:.1f}, at least {LOW_DEGREE:g}; "
        return (
            "hybrid",
            f"{degree}the first write settles a destination, so pulling stops there while many sources are active",
        )
    reduced = writes and all(a.kind == "reduce" and a.index == "dst" for a in writes)
    summed = reduced and all(isinstance(a.op, g.ReduceOp) and a.op.kind.data == "sum" for a in writes)
    if op.from_ is not None and summed and shape is not None and shape.mean_degree >= LOW_DEGREE:
        return (
            "hybrid",
            f"the mean degree is {shape.mean_degree:.1f}, at least {LOW_DEGREE:g}; every edge adds to its destination, which takes "
            "no atomics in a pull",
        )
    if op.from_ is None and op.from_filter is None and reduced:
        return "pull", "every edge is visited and writes its destination only: pulling needs no atomics"
    return "push", "the out-edges of the active vertices alone are visited"


def _share_hubs(op: g.EdgeApplyOp, given: Traverse, shape: Shape | None) -> tuple[Traverse, str]:
    """Edge-wise sharing where one vertex would hold up the rest and nobody said otherwise."""
    if shape is None or not shape.has_hubs or given.direction != "push":
        return given, ""
    plain = (
        given.parallelism == "vertex"
        and given.dealing == "dynamic"
        and given.grain == 0
        and "continues" not in op.attributes
    )
    if not plain or "schedule" in op.attributes:
        return given, ""
    share = shape.max_degree / max(shape.edges, 1)
    limit = 1 / (shape.threads * HUB_SHARE)
    reason = f"; hubs are shared: one vertex has {share:.1%} of all edges, more than {limit:.1%}"
    return dataclasses.replace(given, parallelism="edge"), reason


def _one_stays(op: Operation) -> bool:
    """Whether intersections in an apply have a vertex that stays the same in the inner loop."""
    found = [x for x in op.walk() if isinstance(x, g.IntersectOp) and schedule_of(x) is None]
    if not isinstance(op, (g.EdgeApplyOp, g.VertexApplyOp)) or not found or in_par_for(op):
        return False
    first = op.apply.block.args[0]
    return all(first in (x.a, x.b) for x in found)


def _ask_early(op: Operation, given: Traverse, shape: Shape | None) -> tuple[Traverse, str]:
    """How far ahead memory is asked for, where nobody said so."""
    edges, vertices = 0, 0
    if shape is not None and isinstance(op, g.EdgeApplyOp) and shape.edges > FAR:
        edges = 8 if given.intersection == "bitmap" else 0
        narrowed = op.to_ is not None or op.to_filter is not None
        sought = op.from_ is not None if given.direction == "push" else narrowed and given.direction != "dense_push"
        vertices = 8 if sought else 0
    elif shape is not None and isinstance(op, (g.VertexApplyOp, g.WhereOp)):
        edges = 32 if edge_loops(op) and shape.vertices > FARTHER else 0
        vertices = 16 if own_edges(op) and shape.edges > FAR else 0
    chosen: dict[str, int] = {}
    said = []
    for name, number, what in (("prefetch", edges, "edges"), ("lookahead", vertices, "vertices")):
        if number and getattr(given, name) is None:
            chosen[name] = number
            said.append(f"; asks for memory {number} {what} ahead")
    return dataclasses.replace(given, **chosen), "".join(said)  # type: ignore[arg-type]


def queue_schedule(queue: SSAValue) -> Traverse:
    """The knobs of a queue: those at its own label, then those of the applies that update it."""
    found: list[Traverse] = []
    owner = queue.owner
    if isinstance(queue, OpResult) and isinstance(owner, g.QueueOp) and (own := schedule_of(owner)) is not None:
        found.append(own)
    for use in queue.uses:
        around: Operation | None = use.operation
        while around is not None:
            if (
                isinstance(around, (g.EdgeApplyOp, g.VertexApplyOp, g.FixpointOp))
                and (at := schedule_of(around)) is not None
            ):
                found.append(at)
            around = around.parent_op()
    said: dict[str, Any] = {}
    for each in found:
        for name in ("priority", "delta", "buckets", "merge"):
            if getattr(each, name) != getattr(Traverse, name):
                said.setdefault(name, getattr(each, name))
    onward = "fused" if isinstance(owner, g.QueueOp) and SMALL_ROUNDS in owner.attributes else "eager"
    said.setdefault("priority", "constant_sum" if _adds_constants(queue) else onward)
    if said["priority"] != "fused":  # an asynchronous apply may have one of its own
        said.pop("merge", None)
    return Traverse(**said)


def _adds_constants(queue: SSAValue) -> bool:
    """Whether all updates of a queue add one and the same constant: they can be counted, and made once for each vertex."""
    updates = [use.operation for use in queue.uses if isinstance(use.operation, g.QueueUpdateOp)]
    added = {op.value.owner.properties["value"] for op in updates if isinstance(op.value.owner, g.ConstantOp)}
    return len(updates) == 1 and len(added) == 1 and updates[0].kind.data == "sum" and not tells_changes(queue)


def tells_changes(queue: SSAValue) -> bool:
    """Whether the result of an apply is the vertices whose priority it has changed."""
    owner = queue.owner
    if not isinstance(owner, g.QueueOp):
        return False
    for use in queue.uses:
        around: Operation | None = use.operation if isinstance(use.operation, g.QueueUpdateOp) else None
        while around is not None:
            tracked = getattr(around, "modified", None)
            if isinstance(tracked, SSAValue) and relation(tracked, owner.priority) != "distinct":
                return True
            around = around.parent_op()
    return False


def records(module: ModuleOp) -> list[tuple[str, ...]]:
    """The groups of properties that lie side by side, by the `fuse` knobs of a program's schedules."""
    found: list[tuple[str, ...]] = []
    for op in module.walk():
        schedule = schedule_of(op)
        if schedule is not None and schedule.fuse and schedule.fuse not in found:
            found.append(schedule.fuse)
    return found
