"""Every algorithm on graphs that hypothesis makes up, and makes small when something is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pantograf import algorithms, machine
from pantograf.conformance.draw import draw
from pantograf.conformance.matrix import NUMBER, check
from pantograf.graphs import Graph

SEED = 0


@st.composite
def some_graphs(draw: st.DrawFn) -> Graph:
    """A random tree, with or without each of its edges, and some edges more: loops and copies too."""
    n = draw(st.integers(1, 16))
    src, dst = [], []
    for child in range(1, n):
        parent = draw(st.integers(0, child - 1))
        if draw(st.integers(0, 9)):
            src.append(parent)
            dst.append(child)
    vertex = st.integers(0, n - 1)
    for a, b in draw(st.lists(st.tuples(vertex, vertex), max_size=2 * n)):
        src.append(a)
        dst.append(b)
    order = draw(st.permutations(range(n)))
    weights = draw(st.lists(st.integers(1, 20), min_size=len(src), max_size=len(src)))
    ends = np.array(order, np.int64)
    undirected = draw(st.booleans())
    return Graph.from_edges(
        ends[np.array(src, np.int64)],
        ends[np.array(dst, np.int64)],
        np.array(weights, np.int32),
        n=n,
        undirected=undirected,
    )


@pytest.mark.parametrize("name", algorithms.names())
@pytest.mark.parametrize("machine_name", machine.names())
def test_random_graphs(machine_name: str, name: str) -> None:
    """Under the default schedule, and under the last of those that the matrix draws (so that nothing more is compiled)."""
    algorithm = algorithms.find(name)
    drawn = draw(algorithm, machine_name, NUMBER, SEED).cells
    assert drawn, "the machine refuses the algorithm"

    @settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(some_graphs())
    def agrees(graph: Graph) -> None:
        for cell in {drawn[0], drawn[-1]}:
            verdict = check(algorithm, cell, {"drawn": graph})
            assert verdict.status == "agrees", f"{cell}: {verdict.detail}"

    agrees()
