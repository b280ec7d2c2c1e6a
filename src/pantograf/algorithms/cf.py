"""Collaborative filtering: vectors of factors for users and items, whose products approach the ratings by descent.

Each edge is a rating and stored both ways. A step uses the gradient over all ratings, so results differ by rounding
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pantograf as pg
from pantograf import Edges, Weight, f64, i32, i64
from pantograf.algorithms import Algorithm, Needs
from pantograf.lang.program import lazy_program

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.result import Result

FACTORS = 20


@lazy_program
def cf(edges: Edges[Weight], step: f64 = 3.5e-7, penalty: f64 = 0.001, rounds: i32 = 10, seed: i64 = 1):
    """Collaborative filtering: 20 factors per vertex; the product of two vertices' factors is near their rating."""
    factors = edges.vertices.property(pg.vector(f64, FACTORS), 0)
    gradient = edges.vertices.property(pg.vector(f64, FACTORS), 0)

    def start(v):
        for k in range(FACTORS):
            factors[v, k] = pg.random(seed, v, k)

    def pull(src, dst, rating):
        estimate = f64(0)
        for k in range(FACTORS):
            estimate += factors[src, k] * factors[dst, k]
        error = rating - estimate
        for k in range(FACTORS):
            gradient[dst, k] += error * factors[src, k]

    def descend(v):
        for k in range(FACTORS):
            factors[v, k] += step * (gradient[v, k] - penalty * factors[v, k])
            gradient[v, k] = 0

    edges.vertices.apply(start)
    for _ in range(rounds):
        edges.apply(pull, label="pull")
        edges.vertices.apply(descend, label="descend")
    return factors


def drawn(seed: int, n: int) -> npt.NDArray[np.float64]:
    """The first factors: splitmix64 over seed, vertex and position, as numbers in [0, 1)."""

    def mixed(state: npt.NDArray[np.uint64], key: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        x = state + np.uint64(0x9E3779B97F4A7C15) + key
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    state = mixed(np.zeros(1, np.uint64), np.array([seed & (2**64 - 1)], np.uint64))
    state = mixed(state, np.arange(n, dtype=np.uint64))
    state = mixed(state[:, None], np.arange(FACTORS, dtype=np.uint64)[None, :])
    return (state >> np.uint64(11)).astype(np.float64) / 2.0**53


def descended(graph: Graph, arguments: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """The factors by SciPy's products: the errors as a sparse matrix times the factors."""
    from scipy.sparse import csr_array

    factors = drawn(arguments["seed"], graph.n)
    src, dst, weights = graph.edges()
    assert weights is not None
    ratings = weights.astype(np.float64)
    for _ in range(arguments["rounds"]):
        errors = ratings - np.einsum("ek,ek->e", factors[src], factors[dst])
        toward = csr_array((errors, graph.neighbors, graph.offsets), shape=(graph.n, graph.n), copy=True).T @ factors
        factors = factors + arguments["step"] * (toward - arguments["penalty"] * factors)
    return factors


def compare(graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
    """Where factors differ from SciPy's by more than rounding."""
    expected, found = descended(graph, arguments), np.asarray(result.factors)
    wrong = np.argwhere(~np.isclose(found, expected, rtol=1e-6, atol=1e-9, equal_nan=True))
    return [
        f"factor {k} of vertex {v} is {found[v, k]}, not {expected[v, k]} ({len(wrong):,} such)"
        for v, k in wrong[:1].tolist()
    ]


def summarise(graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
    """The root of the mean squared error over all ratings."""
    src, dst, weights = graph.edges()
    assert weights is not None
    factors = np.asarray(result.factors)
    squares = [
        (
            (weights[a : a + 2**16] - np.einsum("ek,ek->e", factors[src[a : a + 2**16]], factors[dst[a : a + 2**16]]))
            ** 2
        ).sum()
        for a in range(0, graph.m, 2**16)
    ]
    return {"rmse": float(np.sqrt(sum(squares) / max(graph.m, 1)))}


def safe_step(graph: Graph) -> float:
    """A step that does not overshoot: the curvature at a vertex is about its degree times the square of its factors."""
    return 0.2 / (FACTORS * max(int(graph.out_degrees.max(initial=0)), 1))


algorithm = Algorithm(
    title="collaborative filtering",
    citation="Koren, Bell, Volinsky, Matrix factorization techniques for recommender systems, Computer 42, 2009; "
    "Zhang, Yang, Baghdadi, Kamil, Shun, Amarasinghe, GraphIt, OOPSLA 2018",
    program=cf,
    relation="close: each factor within 1e-6 of its value",
    compare=compare,
    summarise=summarise,
    defaults=lambda graph: {"step": safe_step(graph)},
    needs=Needs(undirected=True, weights="random{low=1, high=5, seed=1}"),
)
