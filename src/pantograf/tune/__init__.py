"""Search over schedules: what runs a program fastest on a graph and a machine, and why the others lost."""

from __future__ import annotations

from pantograf.tune.cells import Cell
from pantograf.tune.measure import Measured
from pantograf.tune.reasons import reason
from pantograf.tune.search import Search, Tuning, tune

__all__ = ["Cell", "Measured", "Search", "Tuning", "reason", "tune"]
