"""`load`: a graph from a file, from a data set's name, or from a generator's text."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

from pantograf import spec
from pantograf.errors import UserError
from pantograf.graphs.build import Duplicates, SelfLoops
from pantograf.graphs.csr import Graph


def load(
    source: str | os.PathLike[str],
    *,
    n: int | None = None,
    undirected: bool = False,
    self_loops: SelfLoops = "keep",
    duplicates: Duplicates = "keep",
    weights: bool | str = True,
    compact: bool = False,
    name: str | None = None,
    suffix: str | None = None,
    verify: bool = True,
) -> Graph:
    """The graph in a file, in the data set of that name, or made by a generator such as `kronecker{scale=18, seed=1}`.

    Self-loops and parallel edges are kept unless told otherwise. `undirected` stores each edge both ways even where a
    file does not say so; `compact` numbers the ids that occur; `weights` is False for none, or a text for
    `Graph.with_weights`; `suffix` says which format a file with another suffix has; `verify=False` lets a data set of
    unknown checksum be downloaded.
    """
    from pantograf.graphs import datasets, formats
    from pantograf.graphs.generate import GENERATORS

    given = {
        "n": n,
        "undirected": undirected,
        "self_loops": self_loops,
        "duplicates": duplicates,
        "compact": compact,
        "suffix": suffix,
    }
    changed: dict[str, Any] = {key: value for key, value in given.items() if value != _PLAIN[key]}
    if not isinstance(source, (str, os.PathLike)):
        raise UserError(
            f"a graph is loaded from a text, not from {type(source).__name__}",
            hint="a file, a data set's name, or 'kronecker{scale=10}'; Graph.from_edges, from_scipy, from_networkx take objects",
        )
    text = os.fspath(source)
    path = Path(text).expanduser()
    if isinstance(source, os.PathLike) or suffix is not None or _names_a_file(text, path):
        graph = formats.read(path, weights=weights is not False, name=name, **changed)
    elif (made := _generated(text)) is not None:
        if changed:
            raise UserError(
                f"{', '.join(changed)} cannot be set for a generated graph", hint=f"legal settings: {_settings(text)}"
            )
        graph = made.named(name) if name else made
        graph = graph if weights is not False else graph.with_weights(None)
    else:
        if text not in (known := datasets.names()):
            close = difflib.get_close_matches(text, [*known, *GENERATORS], 3)
            hint = f"did you mean {', '.join(close)}? " if close else ""
            raise UserError(
                f"there is no file, data set or generator {text!r}",
                hint=hint + f"generators: {', '.join(GENERATORS)}; PANTOGRAF_DATA names folders with data sets",
            )
        if name:
            changed["name"] = name
        graph = datasets.load(text, verify=verify, weights=weights is not False, **changed)
    return graph.with_weights(weights) if isinstance(weights, str) else graph


_PLAIN = {"n": None, "undirected": False, "self_loops": "keep", "duplicates": "keep", "compact": False, "suffix": None}


def _names_a_file(text: str, path: Path) -> bool:
    from pantograf.graphs import formats

    if path.exists() and not path.is_dir():
        return True
    if "{" in text:
        return False
    return os.sep in text or formats.format_of(path) is not None


def _generated(text: str) -> Graph | None:
    """The graph that a generator's text describes, or None if it names no generator and has no settings."""
    from pantograf.graphs.generate import GENERATORS

    if "{" not in text and ":" not in text and text not in GENERATORS:
        return None
    read = spec.parse(text)
    if read.name not in GENERATORS:
        close = difflib.get_close_matches(read.name, GENERATORS, 1)
        hint = (f"did you mean {close[0]!r}? " if close else "") + f"generators: {', '.join(GENERATORS)}"
        raise UserError(f"no generator is called {read.name!r}", hint=hint)
    generator: Any = spec.fill(GENERATORS[read.name], read.settings)
    graph: Graph = generator.build()
    return graph.named(spec.show(generator))


def _settings(text: str) -> str:
    from pantograf.graphs.generate import GENERATORS

    return ", ".join(spec.field_types(GENERATORS[spec.parse(text).name]))
