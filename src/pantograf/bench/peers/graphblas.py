"""python-graphblas over SuiteSparse:GraphBLAS: the algorithms of LAGraph, written with it by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import graphblas as gb
import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring, unary

from pantograf.bench.jobs import DAMPING, TOLERANCE, Levels

if TYPE_CHECKING:
    from pantograf.graphs import Graph

DENSE = 20  # a frontier of more than 1/DENSE of the vertices is pulled


class Peer:
    """The matrix, and its transposed one where that is another; parallel edges are one."""

    version = gb.__version__

    def __init__(self, graph: Graph, threads: int) -> None:
        gb.ss.config["nthreads"] = threads
        self.threads, self.n = threads, graph.n
        src, dst, weights = graph.edges()
        shape = {"nrows": graph.n, "ncols": graph.n}
        if weights is None:
            self.matrix = Matrix.from_coo(src, dst, True, **shape)
        else:
            self.matrix = Matrix.from_coo(src, dst, weights, dup_op=binary.min, **shape)
        self.turned = self.matrix if graph.symmetric else self.matrix.T.new()
        self.both = self.matrix if graph.symmetric else binary.any(self.matrix | self.turned).new()
        degree = graph.out_degrees
        held = np.flatnonzero(degree)
        self.inverse = Vector.from_coo(held, (DAMPING / degree[held]).astype(np.float32), size=graph.n)

    def bfs(self, source: int) -> Levels:
        """Levels: small frontiers are pushed, large ones pulled."""
        level: Any = Vector(gb.dtypes.INT32, self.n)
        frontier: Any = Vector(bool, self.n)
        frontier[source] = True
        depth = 0
        while frontier.nvals:
            level(frontier.S)[:] << depth
            if frontier.nvals > self.n // DENSE:
                frontier(~level.S, replace=True) << semiring.any_pair(self.turned @ frontier)
            else:
                frontier(~level.S, replace=True) << semiring.any_pair(frontier @ self.matrix)
            depth += 1
        return Levels(level)

    def sssp(self, source: int) -> Any:
        """Bellman and Ford's rounds from the vertices that changed."""
        far = np.iinfo(np.int32).max
        distance: Any = Vector.from_scalar(far, self.n, gb.dtypes.INT32)
        changed: Any = Vector(gb.dtypes.INT32, self.n)
        distance[source] = changed[source] = 0
        while changed.nvals:
            found = semiring.min_plus(changed @ self.matrix).new()
            better = binary.lt(found & distance).new()
            changed = found.dup(mask=better.V)
            distance(changed.S) << changed
        return distance

    def pagerank(self) -> Any:
        """LAGraph's rounds for GAP, in FP32: what vertices without out-edges hold is dropped."""
        rank: Any = Vector.from_scalar(1 / self.n, self.n, gb.dtypes.FP32)
        for _ in range(100):
            before = rank
            share = binary.times(before & self.inverse).new()
            rank = Vector.from_scalar((1 - DAMPING) / self.n, self.n, gb.dtypes.FP32)
            rank(binary.plus) << semiring.plus_second(self.turned @ share)
            before << binary.minus(before & rank)
            if unary.abs(before).new().reduce(monoid.plus).value < TOLERANCE:
                break
        return rank

    def components(self) -> Any:
        """FastSV: hook to the least grandparent of the neighbours, then halve the paths."""
        ids = np.arange(self.n)
        parent = ids.copy()
        grandparent: Any = Vector.from_dense(parent)
        least: Any = grandparent.dup()
        while True:
            before = grandparent.dup()
            least(binary.min) << semiring.min_second(self.both @ grandparent)
            best = least.to_dense()
            hooked = Vector.from_coo(parent, best, size=self.n, dup_op=binary.min)
            parents: Any = Vector.from_dense(parent)
            parents(binary.min) << hooked
            parents(binary.min) << least
            parents(binary.min) << grandparent
            parent = parents.to_dense()
            grandparent = Vector.from_dense(parent[parent])
            if grandparent.isequal(before):
                return grandparent

    def bc(self, sources: tuple[int, ...]) -> Any:
        """LAGraph's batch: all sources are rows of one matrix."""
        rows = len(sources)
        paths: Any = Matrix.from_coo(range(rows), list(sources), 1.0, nrows=rows, ncols=self.n, dtype=gb.dtypes.FP64)
        frontier: Any = Matrix(gb.dtypes.FP64, rows, self.n)
        frontier(~paths.S, replace=True) << semiring.plus_first(paths @ self.matrix)
        levels = []
        while frontier.nvals:
            levels.append(unary.one(frontier).new(bool))
            paths(binary.plus) << frontier
            frontier(~paths.S, replace=True) << semiring.plus_first(frontier @ self.matrix)
        found: Any = Matrix.from_scalar(1.0, rows, self.n, gb.dtypes.FP64)
        share: Any = Matrix(gb.dtypes.FP64, rows, self.n)
        for level in range(len(levels) - 1, 0, -1):
            share(levels[level].S, replace=True) << binary.truediv(found & paths)
            share(levels[level - 1].S, replace=True) << semiring.plus_first(share @ self.turned)
            found(binary.plus) << binary.times(share & paths)
        return binary.minus(found.reduce_columnwise(monoid.plus).new(), rows).new()

    def triangles(self) -> int:
        """The lower triangle, masked by itself, times its transposed one."""
        lower = gb.select.tril(self.matrix, -1).new()
        closed: Any = Matrix(gb.dtypes.INT64, self.n, self.n)
        closed(lower.S) << semiring.plus_pair(lower @ lower.T)
        return int(closed.reduce_scalar(monoid.plus).value or 0)
