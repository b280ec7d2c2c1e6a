"""Interleaved trials of contestants on one graph: what each took, whether it is right, and ratios with their intervals."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pantograf.bench import peers
from pantograf.bench.jobs import INCOMPARABLE, Job, Sources

if TYPE_CHECKING:
    from pantograf.algorithms import Algorithm
    from pantograf.graphs import Graph
    from pantograf.machine import Executable

DRAWS = 1000
REST = (
    0.03  # seconds between two contestants: OpenMP's threads spin for about ten milliseconds after their work is done
)


@dataclass
class Contestant:
    """One that does a job: a call, which is timed, how its answer is read, and what became of it."""

    name: str
    call: Callable[[Sources], Any]
    answer: Callable[[Any], Any] = lambda found: found
    threads: int = 1
    version: str = ""
    status: str = "ok"
    """`ok`, `absent` (not installed), `lacking` (nothing comparable), or `wrong: ...` and `failed: ...` with the reason."""
    seconds: list[float] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        """Whether it takes part in trials: a wrong one does not."""
        return self.status == "ok"


def of_program(name: str, ready: Executable, graph: Graph, job: Job | None, given: Mapping[str, Any]) -> Contestant:
    """A compiled program; it is called once for each source."""
    counted = job.counted if job is not None and name.partition("{")[0] == "cpu" else None

    def call(sources: Sources) -> list[Any]:
        if counted is not None:
            counted(graph)
        return [ready(**{**given, **start}) for start in starts(graph, given, sources)]

    threads = int(getattr(ready.machine, "thread_count", 1))
    return Contestant(name, call, job.answer if job is not None else lambda found: found, threads)


def starts(graph: Graph, given: Mapping[str, Any], sources: Sources) -> list[dict[str, Any]]:
    """The arguments of each call: one for each source if the program takes one."""
    if "source" not in given or not sources:
        return [{}]
    return [{"source": v if graph.labels is None else graph.labels[v]} for v in sources]


def of_peer(name: str, graph: Graph, job: Job | None, threads: int, made: dict[Any, Any]) -> Contestant:
    """A peer; its form of a graph is kept in `made` for its other jobs."""
    nothing = Contestant(name, lambda sources: None, status="lacking")
    if not peers.installed(name):
        nothing.status = "absent"
        return nothing
    try:
        kind = peers.find(name)
        if job is None or not hasattr(kind, job.name):
            return nothing
        key = (name, id(graph))
        if key not in made:
            made[key] = graph, kind(graph, threads)  # the graph too, so that no other gets its id
        peer = made[key][1]
    except Exception as error:  # another library's failure is a result
        nothing.status = failure(error)
        return nothing
    method = getattr(peer, job.name)
    single = job.sources == 1

    def call(sources: Sources) -> Any:
        return method() if not job.sources else method(sources[0]) if single else method(sources)

    return Contestant(name, call, threads=peer.threads, version=peer.version)


def failure(error: Exception) -> str:
    """What to say of an error."""
    return f"failed: {type(error).__name__}: {error}".splitlines()[0]


class Oracle:
    """Says what is wrong with answers for one job on one graph; asked once for each choice of sources."""

    def __init__(
        self, job: Job | None, graph: Graph, box: Algorithm | None = None, given: Mapping[str, Any] | None = None
    ):
        self.job, self.graph, self.box, self.given = job, graph, box, given or {}
        self.known: dict[Sources, Any] = {}

    def wrong(self, contestant: Contestant, sources: Sources, found: Any) -> str:
        """What is wrong; of a program without a job, what its own check in the box says."""
        if self.job is None:
            if self.box is None:
                return ""
            given = {**self.given, **starts(self.graph, self.given, sources)[0]}
            return next(iter(self.box.check(self.graph, given, found[0])), "")
        if sources not in self.known:
            self.known[sources] = self.job.oracle(self.graph, sources)
        return self.job.judge(self.graph, sources, self.known[sources], contestant.answer(found))


def measure(
    contestants: Sequence[Contestant], oracle: Oracle, choices: Sequence[Sources], trials: int, seconds: float
) -> None:
    """Run all once and judge them; then trials in turn, each from the next sources, and judge the last answers.

    Before each timed call stands one from the sources before that is not timed, as if a contestant's trials followed each
    other: what the others left in the caches is no matter. A contestant has no more trials once it has taken `seconds`. Who goes
    first in a trial changes from one to the next.
    """
    for one in contestants:
        attempt(one, oracle, choices[0], judged=True)
    for trial in range(trials):
        turn = trial % len(contestants)
        for one in (*contestants[turn:], *contestants[:turn]):
            if one.runs and sum(one.seconds) < seconds:
                time.sleep(REST)
                attempt(one, oracle, choices[(trial - 1) % len(choices)], judged=False)
                took = attempt(one, oracle, choices[trial % len(choices)], judged=trial == trials - 1)
                if took is not None:
                    one.seconds.append(took)


def attempt(one: Contestant, oracle: Oracle, sources: Sources, judged: bool) -> float | None:
    """One call: its seconds, unless it failed or is wrong, which its status then says."""
    if not one.runs:
        return None
    try:
        started = time.perf_counter()
        found = one.call(sources)
        took = time.perf_counter() - started
        if judged and (wrong := oracle.wrong(one, sources, found)):
            one.status = wrong if wrong.startswith(INCOMPARABLE) else f"wrong: {wrong}"
            return None
    except Exception as error:
        if one.version == "":
            raise  # our own
        one.status = failure(error)
        return None
    return took


def interval(times: Sequence[float], draws: int = DRAWS) -> tuple[float, float]:
    """A bootstrap interval that holds the median with 95 %."""
    drawn = random.Random(1)
    medians = sorted(statistics.median(drawn.choices(times, k=len(times))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def ratio(theirs: Sequence[float], ours: Sequence[float], draws: int = DRAWS) -> tuple[float, float, float]:
    """The ratio of medians, theirs over ours, with a bootstrap interval that holds it with 95 %."""
    drawn = random.Random(1)
    ratios = sorted(
        statistics.median(drawn.choices(theirs, k=len(theirs))) / statistics.median(drawn.choices(ours, k=len(ours)))
        for _ in range(draws)
    )
    middle = statistics.median(theirs) / statistics.median(ours)
    return middle, ratios[int(0.025 * draws)], ratios[int(0.975 * draws)]
