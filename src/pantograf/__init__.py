"""Pantograf: one graph program, every machine. Names load when they are first used."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_LANGUAGE = (
    "Edges List PriorityQueue Property Vertex VertexSet Weight i32 i64 u32 u64 f32 f64 inf none vector vertex_set priority_queue "
    "list_of par_range label compare_and_swap random random_bits extern sqrt exp log floor ceil timer_start timer_stop results"
).split()
_WHERE = {
    **dict.fromkeys(_LANGUAGE, "lang.types"),
    "Program": "lang.program",
    "from_graphir": "lang.program",
    "parse": "lang.program",
    "program": "lang.program",
    "Graph": "graphs",
    "load": "load",
    "Hybrid": "schedule",
    "Result": "result",
    "Tuning": "tune",
    "tune": "tune",
    "Refused": "errors",
    "UserError": "errors",
}
__all__ = [*_WHERE]
_MODULES = {"algorithms": "algorithms", "cpu": "machines.cpu", "reference": "machines.reference"}

if TYPE_CHECKING:
    from pantograf import algorithms as algorithms
    from pantograf.errors import Refused as Refused
    from pantograf.errors import UserError as UserError
    from pantograf.graphs import Graph as Graph
    from pantograf.lang.program import Program as Program
    from pantograf.lang.program import from_graphir as from_graphir
    from pantograf.lang.program import parse as parse
    from pantograf.lang.program import program as program
    from pantograf.lang.types import *  # noqa: F403
    from pantograf.load import load as load
    from pantograf.machines import cpu as cpu
    from pantograf.machines import reference as reference
    from pantograf.result import Result as Result
    from pantograf.schedule import Hybrid as Hybrid
    from pantograf.tune import Tuning as Tuning
    from pantograf.tune import tune as tune


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(f"pantograf.{_MODULES[name]}")
    elif name in _WHERE:
        value = getattr(importlib.import_module(f"pantograf.{_WHERE[name]}"), name)
    else:
        raise AttributeError(f"pantograf has no {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE, *_MODULES])


class _Package(ModuleType):
    """This package, as a module that binds a function where an import would bind the file of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in _WHERE:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
