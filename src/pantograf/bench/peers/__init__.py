"""Other libraries that do GAP's jobs, one file each, each with a `Peer(graph, threads)`.

A peer's methods are called as the jobs are; where it lacks one, the library has nothing comparable. What a method returns is the
library's own form of the answer; building the library's graph is the constructor's and is not timed.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
from typing import Any

from pantograf.errors import UserError

MODULES = {
    "graphblas": "graphblas",
    "igraph": "igraph",
    "networkit": "networkit",
    "rustworkx": "rustworkx",
    "scipy": "scipy",
}


def names() -> list[str]:
    """The peers there are: each file of this folder is one."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def installed(name: str) -> bool:
    """Whether the library is there."""
    return importlib.util.find_spec(name) is not None


def chosen(text: str | None) -> list[str]:
    """The peers that a text names: `networkit,igraph`, `none`; those that are installed if there is no text."""
    if text is None:
        return [name for name in names() if installed(name)]
    if text == "none":
        return []
    found = [name.strip() for name in text.split(",") if name.strip()]
    for name in found:
        if name not in names():
            close = difflib.get_close_matches(name, names(), 1)
            hint = (f"did you mean {close[0]!r}? " if close else "") + f"peers: {', '.join(names())}; or none"
            raise UserError(f"there is no peer {name!r}", hint=hint)
    return found


def find(name: str) -> Any:
    """The class of a peer."""
    return importlib.import_module(f"{__name__}.{name}").Peer
