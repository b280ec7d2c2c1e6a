"""PageRank by rounds in place: a vertex takes what others have now, so that a round brings the ranks nearer than one of `pagerank`.

What vertices without out-edges hold is dropped, as GAP does, or with `spread=True` spread over all vertices, which takes more
rounds. Ranks are f32, as GAP's are: half the memory to gather from, and about seven digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pantograf import Edges, f32, f64, i32
from pantograf.algorithms import Algorithm
from pantograf.algorithms.pagerank import far_from_stationary, summarise
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result

ROUNDING = 2e-6
"""How far f32 keeps ranks from the stationary ones, in sum."""


@lazy_program
def pagerank_in_place(
    edges: Edges, damping: f32 = 0.85, tolerance: f32 = 1e-4, rounds: i32 = 100, spread: bool = False
):
    """PageRank: the probability of each vertex in a random walk that starts anew with probability 1 - damping."""
    n = edges.vertices.size
    back = edges.transpose()
    rank = edges.vertices.property(f32, f32(1 / n))
    share = edges.vertices.property(f32, 0)
    part = edges.vertices.property(f32, 0)
    lost = f64(0)
    error = f64(0)
    base = f32(0)

    def divide(v):
        nonlocal lost
        share[v] = rank[v] * part[v]
        if spread and part[v] == 0:
            lost += f64(rank[v])

    def begin(v):
        if edges.degree(v) > 0:
            part[v] = f32(1 / edges.degree(v))
        divide(v)

    def settle(v):
        nonlocal error
        incoming = f32(0)
        for k in range(back.degree(v)):
            incoming += share[back.neighbor(v, k)]
        new = base + damping * incoming
        error += f64(abs(new - rank[v]))
        rank[v] = new
        divide(v)

    edges.vertices.apply(begin, label="begin")
    for _ in range(rounds):
        base = f32((1 - f64(damping)) / n + f64(damping) * lost / n)
        error = f64(0)
        lost = f64(0)
        edges.vertices.apply(settle, in_place=True, label="settle")
        if error < f64(tolerance):
            break
    return rank


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Whether the ranks are as near to the stationary ones as rounds of this number and tolerance bring them."""
    return far_from_stationary(graph, arguments, result, ROUNDING)


algorithm = Algorithm(
    title="PageRank, in place",
    citation="Page, Brin, Motwani, Winograd, The PageRank citation ranking, Stanford 1999; "
    "Arasu, Novak, Tomkins, Tomlin, PageRank computation and the structure of the web, WWW 2002 (Gauss-Seidel)",
    program=pagerank_in_place,
    relation="close: the sum of differences from the stationary ranks is at most "
    "damping * tolerance / (1 - damping) + 2e-6",
    compare=compare,
    summarise=summarise,
)
