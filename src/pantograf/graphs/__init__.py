"""Graphs as arrays; nothing here knows of programs or machines."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pantograf.graphs.csr import Graph as Graph

if TYPE_CHECKING:
    from pantograf.graphs.generate import GENERATORS as GENERATORS
    from pantograf.graphs.metrics import describe as describe

_WHERE = {"describe": "metrics", "GENERATORS": "generate"}
__all__ = ["GENERATORS", "Graph", "describe", "save"]


def save(graph: Graph, path: str | Path, *, form: str | None = None) -> None:
    """Write a graph in the format that the path's suffix names; `form="scipy"` makes a .npz a SciPy matrix."""
    from pantograf.graphs import formats

    formats.write(graph, path, form=form)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"pantograf.graphs has no {name!r}")
    return getattr(importlib.import_module(f"pantograf.graphs.{_WHERE[name]}"), name)
