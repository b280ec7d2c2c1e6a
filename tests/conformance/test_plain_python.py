"""Each algorithm in the box, run as plain Python, gives on tiny graphs what the reference machine gives.

The two share neither tracing nor GraphIR: one reads the program, the other runs it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pantograf import algorithms
from pantograf.conformance import graphs
from pantograf.graphs import Graph
from pantograf.lang import plain


def tiny() -> dict[str, Graph]:
    """The named graphs that are small, and some random ones."""
    rng = np.random.default_rng(7)
    small = {name: graph for name, graph in graphs.named().items() if graph.m <= 50}
    return small | {f"random {i}": graphs.random_graph(rng, most=12) for i in range(6)}


@pytest.mark.parametrize("name", algorithms.names())
def test_plain_python_agrees(name: str) -> None:
    algorithm = algorithms.find(name)
    for title, graph in tiny().items():
        prepared = algorithm.prepare(graph)
        if not prepared.n and any(kind.name == "graph.vertex" for kind, _ in algorithm.program.parameters().values()):
            continue
        arguments = algorithm.arguments(prepared)
        expected = algorithm.program.on("reference")(prepared, **arguments).values
        found = plain.run(algorithm.program, prepared, **arguments)
        assert found.keys() == expected.keys()
        for value, wanted in expected.items():
            assert same(found[value], wanted), (
                f"{title}: {value} is {found[value]} in plain Python, {wanted} on reference"
            )


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, floats up to the rounding of the last places."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or (a.dtype.kind == "f") != (b.dtype.kind == "f"):
        return False
    return bool(np.allclose(a, b, rtol=1e-12, atol=0, equal_nan=True) if a.dtype.kind == "f" else (a == b).all())
