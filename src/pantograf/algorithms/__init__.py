"""The algorithms in the box, one file each: the citation, the program, the oracle, and how to check a result.

`pantograf.algorithms.bfs` is the program in `bfs.py`; `find("bfs")` is everything the file says about it.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pantograf.errors import UserError

if TYPE_CHECKING:
    from pantograf.algorithms.bc import bc as bc
    from pantograf.algorithms.bellman_ford import bellman_ford as bellman_ford
    from pantograf.algorithms.betweenness import betweenness as betweenness
    from pantograf.algorithms.bfs import bfs as bfs
    from pantograf.algorithms.bfs_depth import bfs_depth as bfs_depth
    from pantograf.algorithms.cc import cc as cc
    from pantograf.algorithms.cc_afforest import cc_afforest as cc_afforest
    from pantograf.algorithms.cc_pointer_jumping import cc_pointer_jumping as cc_pointer_jumping
    from pantograf.algorithms.cf import cf as cf
    from pantograf.algorithms.coloring import coloring as coloring
    from pantograf.algorithms.kcore import kcore as kcore
    from pantograf.algorithms.mis import mis as mis
    from pantograf.algorithms.pagerank import pagerank as pagerank
    from pantograf.algorithms.pagerank_delta import pagerank_delta as pagerank_delta
    from pantograf.algorithms.pagerank_in_place import pagerank_in_place as pagerank_in_place
    from pantograf.algorithms.ppsp import ppsp as ppsp
    from pantograf.algorithms.spmv import spmv as spmv
    from pantograf.algorithms.sssp import sssp as sssp
    from pantograf.algorithms.triangles import triangles as triangles
    from pantograf.algorithms.wcc import wcc as wcc
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.result import Result


@dataclass(frozen=True)
class Needs:
    """What an algorithm asks of a graph."""

    undirected: bool = False
    """Each edge is stored both ways."""
    simple: bool = False
    """No self-loops, no parallel edges."""
    weights: str = ""
    """The edges have weights; this is how a graph without gets them, in the words of `Graph.with_weights`."""
    lengths: Literal["any", "numbers", "nonnegative"] = "any"
    """`numbers`: no weight is NaN. `nonnegative`: nor below 0."""


@dataclass(frozen=True)
class Algorithm:
    """A program, and how to know that its results are right."""

    title: str
    citation: str
    program: Program
    relation: str
    """When two results are the same answer, in words."""
    compare: Callable[[Graph, Mapping[str, Any], Result], list[str]]
    """What is wrong with a result, given all arguments as a machine takes them; nothing if it is right."""
    summarise: Callable[[Graph, Mapping[str, Any], Result], dict[str, int | float]]
    """A result in a few numbers."""
    defaults: Callable[[Graph], dict[str, Any]] = lambda graph: {}
    """Arguments that suit a graph, as a user would write them."""
    needs: Needs = Needs()

    def __post_init__(self) -> None:
        """Let the program itself refuse weights that it cannot run on, however it is called."""
        self.program.requires = lambda graph: refuse_weights(graph, self.needs.lengths, self.name)

    @property
    def name(self) -> str:
        """Its name, and that of its file."""
        return self.program.name

    def arguments(self, graph: Graph, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The arguments to run with: those given, and what suits the graph for others."""
        return {**self.defaults(graph), **(given or {})}

    def check(self, graph: Graph, arguments: Mapping[str, Any], result: Result) -> list[str]:
        """What is wrong with the result of a run with these arguments, by an oracle; an empty list if it is right."""
        return self.compare(graph, self._bound(graph, arguments), result)

    def summary(self, graph: Graph, arguments: Mapping[str, Any], result: Result) -> dict[str, int | float]:
        """The result of a run with these arguments in a few numbers."""
        return self.summarise(graph, self._bound(graph, arguments), result)

    def _bound(self, graph: Graph, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Every argument as machines take it; one left out has the program's default, else what suits the graph."""
        program = self.program.for_graph(graph)
        required = [name for name, (_, default) in program.parameters().items() if default is ...]
        suits = {name: value for name, value in self.defaults(graph).items() if name in required}
        return program.bind(graph, (), {**suits, **arguments}).values

    def prepare(self, graph: Graph) -> Graph:
        """The graph as this algorithm needs it: the same one where nothing is missing. `changes` says what was done."""
        return self._prepared(graph)[0]

    def changes(self, graph: Graph) -> list[str]:
        """What `prepare` does to a graph, in words."""
        return list(self._prepared(graph)[1])

    def _prepared(self, graph: Graph) -> tuple[Graph, list[str]]:
        key = ("prepared", self.needs)
        if key not in graph.scratch:
            changes: list[str] = []
            found = graph
            if self.needs.undirected and not found.symmetric:
                found = found.as_undirected("drop" if found.weights is None else "min")
                changes.append(f"each edge stored both ways, once: {graph.m:,} edges became {found.m:,}")
            if self.needs.simple:
                found = without_loops_and_copies(found, changes)
            if self.needs.weights and found.weights is None:
                found = found.with_weights(self.needs.weights)
                changes.append(f"weights added: {self.needs.weights}")
            refuse_weights(found, self.needs.lengths, self.name)
            graph.scratch[key] = found, changes
        kept: tuple[Graph, list[str]] = graph.scratch[key]
        return kept


def without_loops_and_copies(graph: Graph, changes: list[str]) -> Graph:
    """The graph without self-loops and with one of several parallel edges, and in `changes` how many went."""
    from pantograf.graphs import Graph

    src, dst, weights = graph.edges()
    loop = src == dst
    copy = np.zeros(graph.m, bool)
    copy[1:] = (src[1:] == src[:-1]) & (dst[1:] == dst[:-1])
    copy &= ~loop
    kept = ~(loop | copy)
    if kept.all():
        return graph
    for what, which in (("self-loops", loop), ("parallel edges", copy)):
        if which.any():
            changes.append(f"{what} dropped: {int(which.sum()):,}")
    offsets = np.zeros(graph.n + 1, np.int64)
    np.cumsum(np.bincount(src[kept], minlength=graph.n), out=offsets[1:])
    return Graph(
        offsets,
        dst[kept],
        None if weights is None else weights[kept],
        symmetric=graph.symmetric,
        labels=graph.labels,
        coordinates=graph.coordinates,
        bipartite=graph.bipartite,
        name=graph.name,
        self_loops="drop",
        duplicates="drop",
    )


def refuse_weights(graph: Graph, lengths: str, name: str) -> None:
    """Raise a `UserError` if a weight cannot be a length."""
    if lengths == "any" or graph.weights is None or not graph.m:
        return
    if "least weight" not in graph.scratch:
        graph.scratch["least weight"] = graph.weights.min()
    least = graph.scratch["least weight"]
    if least != least:
        raise UserError(f"{name} needs weights that are numbers, and {graph.name} has NaN", hint=MEND)
    negative_cycle = graph.symmetric and least < 0
    if least < 0 and (lengths == "nonnegative" or negative_cycle):
        why = (
            "which taken both ways is a cycle of negative length"
            if lengths == "numbers"
            else "and no weight may be below 0"
        )
        raise UserError(f"{name}: a weight of {graph.name} is {least}, {why}", hint=MEND)


MEND = "graph.with_weights('unit'), 'random{low=1, high=255, seed=1}', or an array"


def first_vertex(graph: Graph) -> Any:
    """Vertex 0 as a user calls it: where a traversal starts unless told otherwise."""
    return 0 if graph.labels is None or not graph.n else graph.labels[0]


def names() -> list[str]:
    """The algorithms there are: each file of this folder is one."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> Algorithm:
    """The algorithm of that name."""
    known = names()
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        hint = (f"did you mean {close[0]!r}? " if close else "") + f"algorithms: {', '.join(known)}"
        raise UserError(f"there is no algorithm {name!r}", hint=hint)
    found: Algorithm = vars(importlib.import_module(f"{__name__}.{name}"))["algorithm"]
    return found


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in names():
        raise AttributeError(f"there is no algorithm {name!r}; algorithms: {', '.join(names())}")
    return find(name).program


def __dir__() -> list[str]:
    return sorted({*globals(), *names()})


class _Box(ModuleType):
    """This package, as a module that binds an algorithm's program where an import would bind its file."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and value.__name__ == f"{__name__}.{name}":
            value = vars(value)[name]
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Box
