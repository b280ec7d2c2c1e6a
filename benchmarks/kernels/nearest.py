"""Breadth-first search from several sources: the kernel of one, whose vertices give on the source that they were reached from."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels import bfs


class Kernel(bfs.Kernel):
    """`nearest` of each vertex."""

    def __call__(self, sources: Any) -> Any:  # type: ignore[override]
        """The sources that vertices are reached from, -1 for none."""
        nearest = np.empty(self.n, np.int32)
        self.search(nearest, nearest, sources)
        return nearest
