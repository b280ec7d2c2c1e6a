"""The meaning of edges, properties, vertex sets and lists.

After `relabel` vertices are numbered anew: its edges, and properties made over them, use the new numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Attribute, Operation

from pantograf.ir import graph as ir
from pantograf.ir.location import fail
from pantograf.machines.reference import scalars
from pantograf.machines.reference.interpreter import (
    Interpreter,
    Rows,
    Run,
    Step,
    means,
    no_vertex,
    rows_of,
    scalar_of,
    value_of,
)
from pantograf.machines.reference.state import Cell, Change, Now, Property, VertexSet

# --- the graph --------------------------------------------------------------------------------------------------------


@means(ir.VertexCountOp)
def _vertex_count(s: Interpreter, op: ir.VertexCountOp) -> Step:
    edges = s.slot(op.edges)
    return value_of(s, op, lambda env: env[edges].n)


@means(ir.EdgeCountOp)
def _edge_count(s: Interpreter, op: ir.EdgeCountOp) -> Step:
    edges = s.slot(op.edges)
    return value_of(s, op, lambda env: env[edges].m)


@means(ir.VerticesOp)
def _vertices(s: Interpreter, op: ir.VerticesOp) -> Step:
    edges = s.slot(op.edges)
    return value_of(s, op, lambda env: VertexSet(set(range(env[edges].n))))


@means(ir.TransposeOp)
def _transpose(s: Interpreter, op: ir.TransposeOp) -> Step:
    edges = s.slot(op.edges)
    return value_of(s, op, lambda env: env[edges].transposed())


@means(ir.RelabelOp)
def _relabel(s: Interpreter, op: ir.RelabelOp) -> Step:
    edges = s.slot(op.edges)
    return value_of(s, op, lambda env: env[edges].relabeled_by_degree())


@means(ir.DegreesOp)
def _degrees(s: Interpreter, op: ir.DegreesOp) -> Step:
    edges, inward = s.slot(op.edges), op.direction.data == "in"

    def degrees(env: list[Any]) -> Property:
        graph = env[edges]
        return Property(ir.i64, 1, (graph.in_degrees if inward else graph.out_degrees).tolist())

    return value_of(s, op, degrees)


@means(ir.DegreeOp)
def _degree(s: Interpreter, op: ir.DegreeOp) -> Step:
    vertex, find_rows, out = s.slot(op.vertex), rows_of(s, op), s.slot(op.out)

    def step(r: Run) -> None:
        first, end = _row(op, find_rows(r), r.env[vertex])
        r.env[out] = end - first

    return step


@means(ir.NeighborOp)
def _neighbor(s: Interpreter, op: ir.NeighborOp) -> Step:
    at, out = _edge_at(s, op), s.slot(op.out)

    def step(r: Run) -> None:
        rows, e = at(r)
        r.env[out] = rows.neighbors[e]

    return step


@means(ir.WeightOp)
def _weight(s: Interpreter, op: ir.WeightOp) -> Step:
    at, out = _edge_at(s, op), s.slot(op.out)

    def step(r: Run) -> None:
        rows, e = at(r)
        r.env[out] = rows.weights[e]

    return step


@means(ir.IntersectOp)
def _intersect(s: Interpreter, op: ir.IntersectOp) -> Step:
    a, b, below, find_rows = s.slot(op.a), s.slot(op.b), s.maybe(op.below), rows_of(s, op)
    out = s.slot(op.out)

    def step(r: Run) -> None:
        rows = find_rows(r)
        (a_first, a_end), (b_first, b_end) = _row(op, rows, r.env[a]), _row(op, rows, r.env[b])
        shared = set(rows.neighbors[a_first:a_end]) & set(rows.neighbors[b_first:b_end])
        r.env[out] = sum(1 for v in shared if below is None or v < r.env[below])

    return step


def _row(op: Operation, rows: Rows, v: int) -> tuple[int, int]:
    """Where the edges of a vertex stand."""
    if not 0 <= v < rows.graph.n:
        no_vertex(op, v, rows.graph.n)
    return rows.offsets[v], rows.offsets[v + 1]


def _edge_at(s: Interpreter, op: ir.NeighborOp | ir.WeightOp) -> Callable[[Run], tuple[Rows, int]]:
    """Where the k-th edge of a vertex stands."""
    vertex, k, find_rows = s.slot(op.vertex), s.slot(op.k), rows_of(s, op)

    def find(r: Run) -> tuple[Rows, int]:
        rows = find_rows(r)
        first, end = _row(op, rows, r.env[vertex])
        if not 0 <= r.env[k] < end - first:
            fail(
                op, f"vertex {r.env[vertex]} has no neighbour {r.env[k]}; its degree is {end - first}", "k starts at 0"
            )
        return rows, first + r.env[k]

    return find


# --- properties -------------------------------------------------------------------------------------------------------


@means(ir.PropertyOp)
def _property(s: Interpreter, op: ir.PropertyOp) -> Step:
    edges, initial = s.slot(op.edges), s.slot(op.initial)
    element = op.out.type.element
    width = element.size.data if isinstance(element, ir.VectorType) else 1
    return value_of(s, op, lambda env: Property(scalar_of(element), width, [env[initial]] * (env[edges].n * width)))


@means(ir.CopyOp)
def _copy(s: Interpreter, op: ir.CopyOp) -> Step:
    source = s.slot(op.source)
    return value_of(s, op, lambda env: _copied(env[source]))


def _copied(value: Any) -> Any:
    if isinstance(value, Property):
        return Property(value.element, value.width, list(value.values))
    return VertexSet(set(value.members)) if isinstance(value, VertexSet) else value


@means(ir.AssignOp)
def _assign(s: Interpreter, op: ir.AssignOp) -> Step:
    target, source = s.slot(op.target), s.slot(op.source)

    def step(r: Run) -> None:
        r.env[target].values[:] = r.env[source].values

    return step


@means(ir.FillOp)
def _fill(s: Interpreter, op: ir.FillOp) -> Step:
    target, value = s.slot(op.target), s.slot(op.value)

    def step(r: Run) -> None:
        r.env[target].values[:] = [r.env[value]] * len(r.env[target].values)

    return step


@means(ir.LoadOp)
def _load(s: Interpreter, op: ir.LoadOp) -> Step:
    place, out = s.place(op, op.source, tuple(op.at)), s.slot(op.out)

    def step(r: Run) -> None:
        r.env[out] = r.view.load(*place(r))

    return step


@means(ir.StoreOp)
def _store(s: Interpreter, op: ir.StoreOp) -> Step:
    place, value = s.place(op, op.target, tuple(op.at)), s.slot(op.value)

    def step(r: Run) -> None:
        r.view.store(*place(r), r.env[value])

    return step


@means(ir.ReduceOp)
def _reduce(s: Interpreter, op: ir.ReduceOp) -> Step:
    place, value, out = s.place(op, op.target, tuple(op.at)), s.slot(op.value), s.maybe(op.out)
    combine, always = scalars.reduction(op.kind.data, op.value.type), op.kind.data == "sum"

    def step(r: Run) -> None:
        row, i = place(r)
        change = Change(combine, r.env[value], always)
        own = isinstance(row, Cell) and row.call == r.call
        changed = (Now() if own else r.view).change(row, i, change)
        if out is not None:
            r.env[out] = changed

    return step


@means(ir.CompareAndSwapOp)
def _compare_and_swap(s: Interpreter, op: ir.CompareAndSwapOp) -> Step:
    place, old, new, out = s.place(op, op.target, (op.vertex,)), s.slot(op.old), s.slot(op.new), s.slot(op.out)

    def step(r: Run) -> None:
        if not isinstance(r.view, Now):
            fail(op, "compare_and_swap in an apply that is not in_place", "mark the apply in_place")
        row, i = place(r)
        r.env[out] = row.values[i] == r.env[old]
        if r.env[out]:
            r.view.store(row, i, r.env[new])

    return step


@means(ir.AggregateOp)
def _aggregate(s: Interpreter, op: ir.AggregateOp) -> Step:
    source, t = s.slot(op.source), op.out.type
    combine = scalars.reduction(op.kind.data, t)
    start = {"min": scalars.greatest, "max": scalars.least}.get(op.kind.data, scalars.zero)(t)

    def aggregate(env: list[Any]) -> Any:
        values = env[source].values
        total = values[0] if values and isinstance(t, ir.VertexType) else start
        for value in values:
            total = combine(total, value)
        return total

    return value_of(s, op, aggregate)


# --- vertex sets ------------------------------------------------------------------------------------------------------


@means(ir.VertexSetOp)
def _vertex_set(s: Interpreter, op: ir.VertexSetOp) -> Step:
    edges, members = s.slot(op.edges), [s.slot(m) for m in op.members]

    def make(env: list[Any]) -> VertexSet:
        for m in members:
            if not 0 <= env[m] < env[edges].n:
                no_vertex(op, env[m], env[edges].n)
        return VertexSet({env[m] for m in members})

    return value_of(s, op, make)


@means(ir.SizeOp)
def _size(s: Interpreter, op: ir.SizeOp) -> Step:
    source = s.slot(op.source)
    return value_of(s, op, lambda env: len(env[source].members if isinstance(env[source], VertexSet) else env[source]))


@means(ir.IsDenseOp)
def _is_dense(s: Interpreter, op: ir.IsDenseOp) -> Step:
    active, threshold, find_rows = s.maybe(op.from_), op.threshold.value.data, rows_of(s, op)
    out = s.slot(op.out)

    def step(r: Run) -> None:
        rows = find_rows(r)
        members = range(rows.graph.n) if active is None else r.env[active].members
        work = sum(1 + rows.offsets[v + 1] - rows.offsets[v] for v in members)
        r.env[out] = active is None or work > rows.graph.m / threshold

    return step


@means(ir.AddOp)
def _add(s: Interpreter, op: ir.AddOp) -> Step:
    target, vertex = s.slot(op.target), s.slot(op.vertex)

    def step(r: Run) -> None:
        if r.env[vertex] == scalars.NONE:
            fail(op, "none is used as a vertex", "compare with none first")
        r.env[target].members.add(r.env[vertex])

    return step


@means(ir.ContainsOp)
def _contains(s: Interpreter, op: ir.ContainsOp) -> Step:
    source, vertex = s.slot(op.source), s.slot(op.vertex)
    return value_of(s, op, lambda env: env[vertex] in env[source].members)


# --- lists ------------------------------------------------------------------------------------------------------------


@means(ir.ListOp)
def _list(s: Interpreter, op: ir.ListOp) -> Step:
    return value_of(s, op, lambda env: [])


@means(ir.AppendOp)
def _append(s: Interpreter, op: ir.AppendOp) -> Step:
    target, value = s.slot(op.target), s.slot(op.value)

    def step(r: Run) -> None:
        r.env[target].append(_copied(r.env[value]))

    return step


@means(ir.ListPopOp)
def _list_pop(s: Interpreter, op: ir.ListPopOp) -> Step:
    source, t = s.slot(op.source), op.out.type
    return value_of(s, op, lambda env: env[source].pop() if env[source] else _nothing(t))


@means(ir.ListGetOp)
def _list_get(s: Interpreter, op: ir.ListGetOp) -> Step:
    source, position, t = s.slot(op.source), s.slot(op.position), op.out.type

    def get(env: list[Any]) -> Any:
        inside = 0 <= env[position] < len(env[source])
        return _copied(env[source][env[position]]) if inside else _nothing(t)

    return value_of(s, op, get)


def _nothing(t: Attribute) -> Any:
    """What a list gives where it has nothing."""
    return VertexSet(set()) if isinstance(t, ir.VertexSetType) else scalars.zero(t)
