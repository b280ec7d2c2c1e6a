"""PageRank by residuals: a vertex passes on what it has received since it last did, once that is above `tolerance / n`.

Residuals may be passed on in any order. Dividing the ranks by their sum in the end equals spreading, all along, what
vertices without out-edges hold: both solve one linear system but for a factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pantograf import Edges, f64
from pantograf.algorithms import Algorithm
from pantograf.algorithms.pagerank import stationary, summarise
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result


@lazy_program
def pagerank_delta(edges: Edges, damping: f64 = 0.85, tolerance: f64 = 1e-4, spread: bool = True):
    """PageRank by residuals: only vertices that have received enough since they last did pass it on."""
    n = edges.vertices.size
    threshold = tolerance / n
    rank = edges.vertices.property(f64, 0)
    share = edges.vertices.property(f64, 0)
    residual = edges.vertices.property(f64, (1 - damping) / n)
    degree = edges.out_degrees

    def settle(v):
        heavy = residual[v] > threshold
        if heavy:
            rank[v] += residual[v]
            if degree[v] > 0:
                share[v] = damping * residual[v] / degree[v]
            residual[v] = 0
        return heavy

    def send(src, dst):
        residual[dst] += share[src]

    def collect(v):
        rank[v] += residual[v]

    frontier = edges.vertices.where(settle, label="start")
    while frontier:
        received = edges.from_(frontier).apply(send, modified=residual, label="send")
        frontier = received.where(settle, label="settle")
    edges.vertices.apply(collect, label="collect")
    if spread:
        total = rank.sum()

        def normalize(v):
            rank[v] = rank[v] / total

        edges.vertices.apply(normalize, label="normalize")
    return rank


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Whether the ranks are as near to the stationary ones as residuals of at most tolerance / n leave them."""
    if not graph.n:
        return []
    damping = arguments["damping"]
    expected = stationary(graph, damping, spread=False)
    limit = damping * arguments["tolerance"] / (1 - damping)
    if arguments["spread"]:
        total = expected.sum()
        expected, limit = expected / total, 2 * limit / total
    distance = np.abs(np.asarray(result.rank) - expected).sum()
    if not distance <= limit + 1e-10:
        return [f"the ranks are {distance:.3g} from the stationary ones in sum, more than {limit:.3g}"]
    return []


algorithm = Algorithm(
    title="PageRank by residuals",
    citation="Zhang, Gao, Gao, Wang, Maiter: an asynchronous graph processing framework for delta-based accumulative "
    "iterative computation, TPDS 25, 2014",
    program=pagerank_delta,
    relation="close: the sum of differences from the stationary ranks is at most damping * tolerance / (1 - damping), "
    "and after spreading twice that over the sum before it",
    compare=compare,
    summarise=summarise,
)
