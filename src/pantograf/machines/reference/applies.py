"""The meaning of applies, priority queues and fixpoints.

- A queue's `sum` adds each value in the order of the calls; a negative one takes a priority to `limit` at most, and
  leaves one that is already at or below it.
- A queue's `priority` before the first pop is 0. A delta must be above 0.
- A fixpoint runs in rounds of active vertices, in ascending order; each message sees the effect of all earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Region

from pantograf.ir import graph as ir
from pantograf.ir.location import fail
from pantograf.machines.reference import scalars
from pantograf.machines.reference.interpreter import (
    Interpreter,
    Rows,
    Run,
    Step,
    Stopped,
    means,
    no_vertex,
    rows_of,
    value_of,
)
from pantograf.machines.reference.state import After, Change, Now, Queue, VertexSet, limited_sum


# --- applies ----------------------------------------------------------------------------------------------------------
@means(ir.EdgeApplyOp)
def _edge_apply(s: Interpreter, op: ir.EdgeApplyOp) -> Step:
    sources, targets, watched, find_rows = s.maybe(op.from_), s.maybe(op.to_), s.maybe(op.modified), rows_of(s, op)
    wants, passes, apply = _filter(s, op.from_filter), _filter(s, op.to_filter), s.function(op.apply)
    weighted, now, out = len(op.apply.block.args) == 3, s.in_place or op.in_place is not None, s.maybe(op.out)

    def step(r: Run) -> None:
        rows = find_rows(r)
        handle = None if watched is None else r.env[watched]
        with _applying(r, Now(handle) if now else After(handle)) as view:
            for src in _members(r, rows, sources):
                r.check_time()
                if not wants(r, src):
                    continue
                for e in range(rows.offsets[src], rows.offsets[src + 1]):
                    dst = rows.neighbors[e]
                    if (targets is not None and dst not in r.env[targets].members) or not passes(r, dst):
                        continue
                    r.edges_processed += 1
                    rows.touched[e] = 1
                    yielded = _called(r, view, apply, src, dst, *(rows.weights[e : e + 1] if weighted else ()))
                    if yielded and watched is None:
                        view.modified.add(dst)
        if out is not None:
            r.env[out] = VertexSet(view.modified)

    return step


@means(ir.VertexApplyOp)
def _vertex_apply(s: Interpreter, op: ir.VertexApplyOp) -> Step:
    vertices, watched, out = s.slot(op.vertices), s.maybe(op.modified), s.maybe(op.out)
    apply, now = s.function(op.apply), s.in_place or op.in_place is not None

    def step(r: Run) -> None:
        handle = None if watched is None else r.env[watched]
        with _applying(r, Now(handle) if now else After(handle)) as view:
            for v in sorted(r.env[vertices].members):
                r.check_time()
                r.vertices_processed += 1
                _called(r, view, apply, v)
        if out is not None:
            r.env[out] = VertexSet(view.modified)

    return step


@means(ir.WhereOp)
def _where(s: Interpreter, op: ir.WhereOp) -> Step:
    vertices, out = s.slot(op.vertices), s.slot(op.out)
    apply, now = s.function(op.apply), s.in_place or op.in_place is not None

    def step(r: Run) -> None:
        with _applying(r, Now() if now else After()) as view:
            for v in sorted(r.env[vertices].members):
                r.check_time()
                r.vertices_processed += 1
                if _called(r, view, apply, v):
                    view.modified.add(v)
        r.env[out] = VertexSet(view.modified)

    return step


@contextmanager
def _applying(r: Run, view: Now | After) -> Iterator[Now | After]:
    """An apply: what it writes is seen when it ends. If the time of the run is over, it has no effect."""
    r.view = view
    try:
        yield view
        view.finish()
    except Stopped:
        view.modified.clear()
    finally:
        r.view, r.call = Now(), 0


def _members(r: Run, rows: Rows, active: int | None) -> Iterable[int]:
    return range(rows.graph.n) if active is None else sorted(r.env[active].members)


def _filter(s: Interpreter, region: Region | None) -> Callable[[Run, int], bool]:
    return s.function(region) if region is not None else lambda r, v: True


def _called(r: Run, view: Now | After, function: Callable[..., Any], *arguments: Any) -> Any:
    """One call of an apply's function."""
    view.begin()
    yielded = function(r, *arguments)
    view.end()
    return yielded


# --- priority queues --------------------------------------------------------------------------------------------------


@means(ir.QueueOp)
def _queue(s: Interpreter, op: ir.QueueOp) -> Step:
    priority, delta = s.slot(op.priority), s.slot(op.delta)
    highest, full = op.order.data == "highest", op.start.data == "all"

    def make(env: list[Any]) -> Queue:
        if not env[delta] > 0:
            fail(op, f"delta is {env[delta]}", "a priority queue needs a delta above 0")
        queue = Queue(env[priority], env[delta], highest)
        if full:
            queue.waiting.update(v for v, p in enumerate(queue.priority.values) if p != queue.null())
        return queue

    return value_of(s, op, make)


@means(ir.QueueAddOp)
def _queue_add(s: Interpreter, op: ir.QueueAddOp) -> Step:
    queue, vertex, priority = s.slot(op.queue), s.slot(op.vertex), s.slot(op.priority)

    def step(r: Run) -> None:
        row = r.env[queue].priority
        if not 0 <= r.env[vertex] < len(row.values):
            no_vertex(op, r.env[vertex], len(row.values))
        r.view.store(row, r.env[vertex], r.env[priority])
        r.env[queue].waiting.add(r.env[vertex])

    return step


@means(ir.QueuePopOp)
def _queue_pop(s: Interpreter, op: ir.QueuePopOp) -> Step:
    queue, out = s.slot(op.queue), s.slot(op.out)

    def step(r: Run) -> None:
        r.pops += 1
        r.env[out] = VertexSet(r.env[queue].pop())

    return step


@means(ir.QueueFinishedOp)
def _queue_finished(s: Interpreter, op: ir.QueueFinishedOp) -> Step:
    queue = s.slot(op.queue)
    return value_of(s, op, lambda env: not env[queue].waiting)


@means(ir.QueueFinishedNodeOp)
def _queue_finished_node(s: Interpreter, op: ir.QueueFinishedNodeOp) -> Step:
    queue, vertex, out = s.slot(op.queue), s.slot(op.vertex), s.slot(op.out)

    def step(r: Run) -> None:
        found, v = r.env[queue], r.env[vertex]
        if not 0 <= v < len(found.priority.values):
            no_vertex(op, v, len(found.priority.values))
        r.env[out] = found.has_passed(found.bucket(r.view.load(found.priority, v)))

    return step


@means(ir.QueuePriorityOp)
def _queue_priority(s: Interpreter, op: ir.QueuePriorityOp) -> Step:
    queue = s.slot(op.queue)
    return value_of(s, op, lambda env: env[queue].lowest_of_current())


@means(ir.QueueUpdateOp)
def _queue_update(s: Interpreter, op: ir.QueueUpdateOp) -> Step:
    queue, vertex, value, limit = s.slot(op.queue), s.slot(op.vertex), s.slot(op.value), s.maybe(op.limit)
    t = op.value.type
    combine = None if limit is not None else scalars.reduction(op.kind.data, t)

    def step(r: Run) -> None:
        found, v = r.env[queue], r.env[vertex]
        if not 0 <= v < len(found.priority.values):
            no_vertex(op, v, len(found.priority.values))
        how = limited_sum(r.env[limit], t) if limit is not None else combine
        assert how is not None
        r.view.change(found.priority, v, Change(how, r.env[value], queue=found, accumulates=limit is not None))

    return step


# --- fixpoints --------------------------------------------------------------------------------------------------------


@means(ir.FixpointOp)
def _fixpoint(s: Interpreter, op: ir.FixpointOp) -> Step:
    state, start, queue, find_rows = s.slot(op.state), s.maybe(op.start), s.maybe(op.queue), rows_of(s, op)
    passes, message = _filter(s, op.to_filter), s.function(op.message)
    settle = s.function(op.settle) if op.settle is not None else None
    arguments, last = op.message.block.args, op.message.block.last_op
    assert isinstance(last, ir.YieldOp)
    combine, always = scalars.reduction(op.kind.data, last.values[0].type), settle is not None

    def step(r: Run) -> None:
        rows, row = find_rows(r), r.env[state]
        received: list[int] = []
        waiting = None if queue is None else r.env[queue]
        active = set(r.env[start].members) if start is not None else set()
        while (active or (waiting is not None and waiting.waiting)) and r.may_turn(True):
            if waiting is not None:
                r.pops += 1
                active = waiting.pop()
            with _applying(r, Now(row)) as view:
                for src in sorted(active):
                    r.check_time()
                    for e in range(rows.offsets[src], rows.offsets[src + 1]):
                        dst = rows.neighbors[e]
                        if not passes(r, dst):
                            continue
                        r.edges_processed += 1
                        rows.touched[e] = 1
                        value = message(r, src, dst, *(rows.weights[e : e + 1] if len(arguments) == 3 else ()))
                        view.change(row, dst, Change(combine, value, always, waiting))
                received = sorted(view.modified)
                if settle is not None:
                    r.vertices_processed += len(received)
                    received = [v for v in received if settle(r, v)]
            active = set() if waiting is not None else set(received)

    return step
