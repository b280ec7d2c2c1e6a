"""What emitted programs call. All threads call each function together, unless it says `Own` (a thread by itself)."""

# ruff: noqa: F403  (emitted text imports everything that is here)

from pantograf.machines.cpu.runtime.arrays import *
from pantograf.machines.cpu.runtime.checks import *
from pantograf.machines.cpu.runtime.intersections import *
from pantograf.machines.cpu.runtime.keyed import *
from pantograf.machines.cpu.runtime.lists import *
from pantograf.machines.cpu.runtime.numbers import *
from pantograf.machines.cpu.runtime.queues import *
from pantograf.machines.cpu.runtime.sets import *
from pantograf.machines.cpu.runtime.threads import *
