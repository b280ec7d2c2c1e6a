"""The CPU: programs become one Numba module that every thread runs from end to end. `pg.cpu.Traverse` has its knobs."""

from pantograf.machines.cpu.machine import Cpu
from pantograf.machines.cpu.schedule import Traverse

__all__ = ["Cpu", "Traverse"]
