"""PageRank by rounds over all edges, started at 1/n, ended when the sum of all changes is below `tolerance`.

What vertices without out-edges hold is spread over all vertices (as SciPy and NetworkX do) or, with `spread=False`,
dropped (as GAP and GraphIt do: the ranks then sum to less than 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pantograf import Edges, f64, i32
from pantograf.algorithms import Algorithm
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def pagerank(edges: Edges, damping: f64 = 0.85, tolerance: f64 = 1e-4, rounds: i32 = 100, spread: bool = True):
    """PageRank: the probability of each vertex in a random walk that starts anew with probability 1 - damping."""
    n = edges.vertices.size
    rank = edges.vertices.property(f64, 1 / n)
    share = edges.vertices.property(f64, 0)
    incoming = edges.vertices.property(f64, 0)
    degree = edges.out_degrees
    lost = f64(0)
    error = f64(0)
    base = f64(0)

    def divide(v):
        nonlocal lost
        if degree[v] > 0:
            share[v] = rank[v] / degree[v]
        elif spread:
            lost += rank[v]

    def gather(src, dst):
        incoming[dst] += share[src]

    def settle(v):
        nonlocal error
        new = base + damping * incoming[v]
        error += abs(new - rank[v])
        rank[v] = new
        incoming[v] = 0
        divide(v)

    edges.vertices.apply(divide, label="divide")
    for _ in range(rounds):
        base = (1 - damping) / n + damping * lost / n
        error = 0
        lost = 0
        edges.apply(gather, label="gather")
        edges.vertices.apply(settle, label="settle")
        if error < tolerance:
            break
    return rank


def stationary(graph: Graph, damping: float, spread: bool) -> npt.NDArray[np.float64]:
    """The ranks that rounds without end would give, by SciPy's products, as far as f64 goes."""
    from scipy.sparse import csr_array

    n = graph.n
    degree = graph.out_degrees
    pull = csr_array((np.ones(graph.m), graph.neighbors, graph.offsets), shape=(n, n), copy=True).T.tocsr()
    inverse = np.divide(1.0, degree, out=np.zeros(n), where=degree > 0)
    rank = np.full(n, 1 / n) if n else np.zeros(0)
    # the distance to the end is at most 2 at first, and each round multiplies it by the damping
    for _ in range(math.ceil(math.log(1e-13) / math.log(damping)) if 0 < damping < 1 else 10_000 if damping else 1):
        restart = 1 - damping + (damping * rank[degree == 0].sum() if spread else 0)
        rank = restart / n + damping * (pull @ (rank * inverse))
    return rank


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Whether the ranks are as near to the stationary ones as rounds of this number and tolerance bring them."""
    return far_from_stationary(graph, arguments, result, 1e-10)


def far_from_stationary(graph: Graph, arguments: Mapping[str, Any], result: Result, rounding: float) -> list[str]:
    """Whether ranks are farther from the stationary ones than rounds, tolerance and rounding leave them."""
    damping, spread = arguments["damping"], arguments["spread"]
    rank = np.asarray(result.rank)
    if not graph.n:
        return []
    distance = np.abs(rank - stationary(graph, damping, spread)).sum()
    # a round multiplies the distance by the damping; it is at most 2 at first, tolerance / (1 - damping) in the end
    limit = max(2 * damping ** arguments["rounds"], damping * arguments["tolerance"] / (1 - damping)) + rounding
    if not distance <= limit:
        return [f"the ranks are {distance:.3g} from the stationary ones in sum, more than {limit:.3g}"]
    return []


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """The vertex of greatest rank, the sum of the ranks and the sum of their squares."""
    rank = np.asarray(result.rank)
    if not rank.size:
        return {"sum": 0.0, "sum_of_squares": 0.0}
    return {
        "top": int(rank.argmax()),
        "top_rank": float(rank.max()),
        "sum": float(rank.sum()),
        "sum_of_squares": float((rank**2).sum()),
    }


algorithm = Algorithm(
    title="PageRank",
    citation="Page, Brin, Motwani, Winograd, The PageRank citation ranking, Stanford 1999",
    program=pagerank,
    relation="close: the sum of differences from the stationary ranks is at most damping * tolerance / (1 - damping)",
    compare=compare,
    summarise=summarise,
)
