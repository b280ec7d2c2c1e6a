"""Whether every machine gives the right answer: the matrix of algorithms, machines and schedules, and where two differ."""

from __future__ import annotations

from pantograf.conformance.differences import Difference, diff, differences
from pantograf.conformance.draw import Cell, draw
from pantograf.conformance.matrix import Matrix, Verdict, check, run

__all__ = ["Cell", "Difference", "Matrix", "Verdict", "check", "diff", "differences", "draw", "run"]
