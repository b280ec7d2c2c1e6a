"""What contestants do: GAP's six jobs, the oracle of each, and how an answer in a library's own form is read and judged.

An oracle shares no code with any contestant but SciPy, and is asked once for each graph and sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pantograf.graphs import Graph

DAMPING, TOLERANCE = 0.85, 1e-4
INCOMPARABLE = "not comparable"
Sources = tuple[int, ...]


class Levels(NamedTuple):
    """How far each vertex is from the source in edges; below 0, n or more, inf or missing where it is not reached."""

    values: Any


class Parents(NamedTuple):
    """The vertex before each; below 0 where there is none."""

    values: Any


@dataclass(frozen=True)
class Job:
    """One job: the programs that do it, and the method of peers."""

    name: str
    programs: tuple[str, ...]
    sources: int
    """How many sources one trial takes."""
    oracle: Callable[[Graph, Sources], Any]
    judge: Callable[[Graph, Sources, Any, Any], str]
    """What is wrong with an answer beside the oracle's; empty if nothing."""
    results: Mapping[str, Callable[[Any], Any]]
    """How the result of a program that returns a value of this name is made an answer."""
    counted: Callable[[Graph], object] | None = None
    """What the machine `cpu` does once, when it compiles, and GAP counts in every trial."""

    def answer(self, results: Sequence[Any]) -> Any:
        """The answer of a program, from its results for each of the sources."""
        for name, read in self.results.items():
            if name in results[0].values:
                return read([result.values[name] for result in results])
        raise AssertionError(f"{self.name}: none of {', '.join(self.results)} in {results[0]!r}")


def dense(values: Any, missing: float) -> npt.NDArray[Any]:
    """A library's vector as an array."""
    if hasattr(values, "to_dense"):
        values = values.to_dense(fill_value=missing)
    return np.asarray(values)


def levels_of(graph: Graph, source: int, answer: Any) -> npt.NDArray[np.int64] | str:
    """The levels that an answer says, -1 where it does not reach; or why its parents are no tree."""
    from pantograf.algorithms.bfs import are_edges, depths

    found = dense(answer.values, -1)
    if found.shape != (graph.n,):
        return f"{found.size:,} values for {graph.n:,} vertices"
    with np.errstate(invalid="ignore"):
        found = np.where((found >= 0) & (found < graph.n), found, -1).astype(np.int64)
    if isinstance(answer, Levels):
        return found
    found[source] = source
    children = np.flatnonzero(found >= 0)
    children = children[children != source]
    if not are_edges(graph, found[children], children).all():
        return "a parent without an edge from it"
    return depths(found)


def judge_levels(graph: Graph, sources: Sources, expected: Any, answer: Any) -> str:
    """Whether all levels are right."""
    found = levels_of(graph, sources[0], answer)
    return found if isinstance(found, str) else unequal(found, expected, "level")


def judge_distances(graph: Graph, sources: Sources, expected: Any, answer: Any) -> str:
    """Whether all distances are right; a type's greatest value means inf."""
    found = dense(answer, np.inf)
    greatest = np.iinfo(found.dtype).max if found.dtype.kind in "iu" else np.finfo(found.dtype).max
    return unequal(np.where(found == greatest, np.inf, found.astype(np.float64)), expected, "distance")


def judge_ranks(graph: Graph, sources: Sources, expected: Any, answer: Any) -> str:
    """Whether the ranks are as near to the exact ones as rounds until the tolerance bring them, in sum.

    What vertices without out-edges hold may be spread, dropped, or dropped and the rest brought to the sum 1.
    """
    found = dense(answer, 0).astype(np.float64)
    if found.shape != (graph.n,):
        return f"{found.size:,} ranks for {graph.n:,} vertices"
    if not graph.n:
        return ""
    limit = DAMPING * TOLERANCE / (1 - DAMPING) + 1e-5  # f32 sums have an error of their own
    distance = min(np.abs(found - ranks).sum() for ranks in expected)
    if distance > limit:  # in the measure of the ranks before they were brought to the sum 1
        total = expected[1].sum()
        distance = min(distance, total * np.abs(found - expected[1] / total).sum())
    return (
        "" if distance <= limit else f"the ranks are {distance:.2g} from the exact ones in sum, more than {limit:.2g}"
    )


def judge_partition(graph: Graph, sources: Sources, expected: Any, answer: Any) -> str:
    """Whether the same vertices are together."""
    found = dense(answer, -1)
    if found.shape != (graph.n,):
        return f"{found.size:,} labels for {graph.n:,} vertices"
    _, first = np.unique(found, return_inverse=True)
    count = int(first.max(initial=-1)) + 1
    together = np.unique(first.astype(np.int64) * graph.n + expected).size
    known = int(expected.max(initial=-1)) + 1
    return "" if together == count == known else f"{count:,} components, or others than the {known:,} there are"


def judge_centralities(graph: Graph, sources: Sources, expected: Any, answer: Any) -> str:
    """Whether the dependencies of the sources, summed, are right."""
    if not np.isfinite(expected).all():
        return f"{INCOMPARABLE}: the numbers of paths exceed f64"
    return unequal(dense(answer, 0), expected, "centrality", 1e-6)


def judge_count(graph: Graph, sources: Sources, expected: Any, answer: Any) -> str:
    """Whether two numbers are equal."""
    return "" if int(answer) == expected else f"{int(answer):,} triangles, not {expected:,}"


def unequal(found: npt.NDArray[Any], expected: npt.NDArray[Any], what: str, tolerance: float = 1e-9) -> str:
    """The first vertex where two arrays differ."""
    if found.shape != expected.shape:
        return f"{found.size:,} values for {expected.size:,} vertices"
    wrong = np.flatnonzero(~np.isclose(found, expected, rtol=tolerance, atol=tolerance))
    return f"vertex {wrong[0]} has the {what} {found[wrong[0]]}, not {expected[wrong[0]]}" if wrong.size else ""


def components(graph: Graph, sources: Sources) -> Any:
    """SciPy's components."""
    from scipy.sparse.csgraph import connected_components

    return connected_components(graph.to_scipy(), directed=not graph.symmetric, connection="weak")[1].astype(np.int64)


def first(found: Sequence[Any]) -> Any:
    """The only one of a program's results."""
    return found[0]


def _oracle(file: str, name: str) -> Callable[..., Any]:
    import importlib

    oracle: Callable[..., Any] = vars(importlib.import_module(f"pantograf.algorithms.{file}"))[name]
    return oracle


JOBS = (
    Job(
        "bfs",
        ("bfs", "bfs_depth"),
        1,
        lambda graph, sources: _oracle("bfs_depth", "levels")(graph, sources[0]),
        judge_levels,
        {"parent": lambda found: Parents(found[0]), "depth": lambda found: Levels(found[0])},
    ),
    Job(
        "sssp",
        ("sssp", "bellman_ford"),
        1,
        lambda graph, sources: _oracle("sssp", "distances")(graph, sources[0]),
        judge_distances,
        {"distance": first},
    ),
    Job(
        "pagerank",
        ("pagerank_in_place", "pagerank"),
        0,
        lambda graph, sources: tuple(_oracle("pagerank", "stationary")(graph, DAMPING, s) for s in (True, False)),
        judge_ranks,
        {"rank": first},
    ),
    Job(
        "components",
        ("cc_afforest", "cc", "cc_pointer_jumping", "wcc"),
        0,
        components,
        judge_partition,
        {"component": first},
    ),
    Job(
        "bc",
        ("bc",),
        4,
        lambda graph, sources: sum(_oracle("bc", "dependencies")(graph, s) for s in sources),
        judge_centralities,
        {"centrality": lambda found: np.sum(found, axis=0)},
    ),
    Job(
        "triangles",
        ("triangles",),
        0,
        lambda graph, sources: _oracle("triangles", "count")(graph),
        judge_count,
        {"triangles": first},
        counted=lambda graph: graph.relabeled_by_degree(),
    ),
)


def job_of(program: str) -> Job | None:
    """The job that a program of the box does."""
    return next((job for job in JOBS if program in job.programs), None)


def fixed_sources(graph: Graph, count: int) -> list[int]:
    """Vertices with out-edges, drawn with a fixed seed: the same for all contestants, always."""
    candidates = np.flatnonzero(graph.out_degrees)
    if not candidates.size:
        candidates = np.arange(graph.n)
    return [int(v) for v in np.random.default_rng(27491).choice(candidates, count)] if graph.n else []


def choices(graph: Graph, count: int, each: int) -> list[Sources]:
    """What trials start from in turn: `each` of the sources at a time."""
    sources = fixed_sources(graph, count)
    if not sources:
        return [()]
    return [tuple(sources[(i * each + k) % count] for k in range(each)) for i in range(count)]
