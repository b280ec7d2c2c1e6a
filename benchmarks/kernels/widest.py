"""Widest paths: the kernel of shortest ones, on how much narrower than the widest edge each edge is."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels import sssp
from kernels.spmd import padded
from pantograf import Graph


class Kernel(sssp.Kernel):
    """`width` of each vertex."""

    def __init__(self, graph: Graph, threads: int) -> None:
        super().__init__(graph, threads)
        self.weights = padded((self.heaviest - graph.weights).astype(np.uint8))  # type: ignore[operator]

    def __call__(self, source: int) -> Any:  # type: ignore[override]
        """The widths of all vertices: 0 where there is no path, and the greatest integer at the source."""
        return self.search(source, 0, 1 << self.heaviest.bit_length(), self.heaviest)
