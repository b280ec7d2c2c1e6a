"""Benchmarks: wrong contestants are found out, ratios are right, and every peer that is installed answers right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pantograf as pg
from pantograf import algorithms
from pantograf.bench import jobs, peers
from pantograf.bench.trials import Contestant, Oracle, interval, measure, ratio
from pantograf.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
GRAPHS = {
    "undirected": lambda: pg.load("kronecker{scale=7}"),
    "directed": lambda: pg.Graph.from_edges([0, 0, 1, 2, 3, 5, 6, 6], [1, 2, 3, 3, 4, 6, 7, 5], n=9),
}
JOBS = {job.name: job for job in jobs.JOBS}


def prepared(job: jobs.Job, kind: str) -> pg.Graph:
    return algorithms.find(job.programs[0]).prepare(GRAPHS[kind]())


def sources_of(job: jobs.Job, graph: pg.Graph) -> jobs.Sources:
    return jobs.choices(graph, 8, job.sources)[0] if job.sources else ()


def test_ratios_are_of_medians_and_lie_in_their_intervals() -> None:
    assert ratio([4.0] * 5, [2.0] * 5) == (2.0, 2.0, 2.0)
    assert interval([3.0]) == (3.0, 3.0)
    theirs, ours = [10.0, 11.0, 12.0, 100.0, 9.0], [5.0, 5.5, 6.0, 4.5, 50.0]
    middle, low, high = ratio(theirs, ours)
    assert middle == 2.0
    assert low < 2.0 < high
    low, high = interval(theirs)
    assert 9.0 <= low <= 11.0 <= high <= 100.0


def test_sources_are_fixed_and_have_edges() -> None:
    graph = GRAPHS["undirected"]()
    found = jobs.fixed_sources(graph, 64)
    assert found == jobs.fixed_sources(GRAPHS["undirected"](), 64)
    assert len(set(found)) > 10
    assert (graph.out_degrees[found] > 0).all()
    assert jobs.choices(graph, 8, 4)[1] == tuple(found[4:8])
    assert jobs.choices(pg.Graph.from_edges([], [], n=0), 8, 1) == [()]


def damaged(job: str, answer: Any) -> Any:
    """An answer with one thing wrong."""
    if job == "triangles":
        return answer + 1
    array = np.array(answer.values if isinstance(answer, tuple) else answer)
    if job == "components":
        array[np.flatnonzero(array == np.bincount(array).argmax())[0]] = array.max() + 1
    else:
        array[np.flatnonzero(array > 0)[-1]] += 1
    return type(answer)(array) if isinstance(answer, tuple) else array


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_a_wrong_peer_is_reported_and_not_timed(job: jobs.Job) -> None:
    graph = prepared(job, "undirected")
    sources = sources_of(job, graph)
    known = job.oracle(graph, sources)
    match job.name:
        case "bfs":
            right: Any = jobs.Levels(known)
        case "pagerank":
            right = known[0]
        case _:
            right = known
    wrong = right * 1.01 if job.name == "pagerank" else damaged(job.name, right)

    def fail(sources: jobs.Sources) -> Any:
        raise RuntimeError("out of luck")

    contestants = [
        Contestant("right", lambda sources: right, version="1"),
        Contestant("wrong", lambda sources: wrong, version="1"),
        Contestant("broken", fail, version="1"),
        Contestant("absent", fail, status="absent"),
    ]
    measure(contestants, Oracle(job, graph), [sources], trials=3, seconds=10)
    assert [one.status.partition(":")[0] for one in contestants] == ["ok", "wrong", "failed", "absent"]
    assert [len(one.seconds) for one in contestants] == [3, 0, 0, 0]
    assert contestants[2].status == "failed: RuntimeError: out of luck"


def test_parents_must_be_neighbours_one_level_above() -> None:
    graph = pg.load("grid{rows=3, columns=3}")
    levels = JOBS["bfs"].oracle(graph, (0,))
    judge = JOBS["bfs"].judge
    right = np.array([-9999, 0, 1, 0, 1, 2, 3, 4, 5])
    assert judge(graph, (0,), levels, jobs.Parents(right)) == ""
    for vertex, parent in ((8, 4), (5, 1), (8, -1)):  # no edge; no edge, though of the right level; not reached
        wrong = right.copy()
        wrong[vertex] = parent
        assert judge(graph, (0,), levels, jobs.Parents(wrong)), (vertex, parent)


def test_an_answer_that_becomes_wrong_in_the_last_trial_is_found_out() -> None:
    job = JOBS["triangles"]
    graph = prepared(job, "undirected")
    right = job.oracle(graph, ())
    calls = []

    def call(sources: jobs.Sources) -> int:
        calls.append(sources)
        return right + (len(calls) == 7)  # one, and two for each of three trials

    one = Contestant("fickle", call, version="1")
    measure([one], Oracle(job, graph), [()], trials=3, seconds=10)
    assert one.status.startswith("wrong: ")


def test_no_more_trials_when_the_time_is_used_up() -> None:
    job = JOBS["triangles"]
    graph = prepared(job, "directed")
    right = job.oracle(graph, ())
    one = Contestant("slow", lambda sources: right, version="1")
    measure([one], Oracle(job, graph), [()], trials=9, seconds=0)
    assert one.seconds == []


@pytest.mark.parametrize("name", peers.names())
@pytest.mark.parametrize("kind", GRAPHS)
def test_peers_answer_right(name: str, kind: str) -> None:
    if not peers.installed(name):
        pytest.skip(f"{name} is not installed: pip install 'pantograf[bench]'")
    does = 0
    for job in jobs.JOBS:
        graph = prepared(job, kind)
        peer = peers.find(name)(graph, 2)
        if not hasattr(peer, job.name):
            continue
        does += 1
        sources = sources_of(job, graph)
        method = getattr(peer, job.name)
        answer = method() if not sources else method(sources[0]) if job.sources == 1 else method(sources)
        assert job.judge(graph, sources, job.oracle(graph, sources), answer) == "", job.name
    assert does >= 4


def test_every_program_of_a_job_has_its_answer_read() -> None:
    for job in jobs.JOBS:
        for name in job.programs:
            returned = algorithms.find(name).program.module.walk()
            names = [
                text for op in returned if op.name.endswith("return") and hasattr(op, "names") for text in op.names.data
            ]
            assert {getattr(text, "data", text) for text in names} & set(job.results), name


def test_unknown_peers_are_refused() -> None:
    assert peers.chosen("none") == []
    assert peers.chosen("scipy, igraph") == ["scipy", "igraph"]
    assert "scipy" in peers.chosen(None)
    with pytest.raises(UserError) as refused:
        peers.chosen("networkx,scipy")
    assert refused.value.message == "there is no peer 'networkx'"
    assert refused.value.hint == (
        "did you mean 'networkit'? peers: graphblas, igraph, networkit, rustworkx, scipy; or none"
    )


@pytest.mark.slow
def test_kernels_answer_right() -> None:
    graphs = ("kronecker{scale=9}", "uniform{scale=9}", "grid{rows=40, columns=40}")
    words = [word for text in graphs for word in ("--graph", text)]
    for script, programs in (("emission.py", 6), ("own_programs.py", 2)):
        command = [sys.executable, str(ROOT / "benchmarks" / script), "--trials", "2", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.count("ratio") == programs * len(graphs)
