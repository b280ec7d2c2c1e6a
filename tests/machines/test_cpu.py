"""The CPU: the same answers as the reference under 1, 2 and 8 threads, limits, interruption, the cache, checks, refusals."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import constructs
import numpy as np
import pytest

import pantograf as pg
from pantograf import algorithms
from pantograf.machines.cpu import Cpu, Traverse, cache

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "cpu"


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(3)
    plain = pg.Graph.from_edges(rng.integers(0, 60, 200), rng.integers(0, 60, 200), n=64)
    return plain.with_weights("random{low=1, high=9, seed=1}")


@pytest.fixture(scope="module")
def skewed():
    return pg.load("kronecker{scale=11, degree=8, seed=2}")


ARGUMENTS = {
    "hops": {"source": 1},
    "widest": {"source": 1},
    "lists": {"source": 1},
    "parfor": {},
    "swap": {},
    "fresh": {},
    "pulled": {},
    "misc": {},
}


def same(left, right):
    return [
        name
        for name in left.values
        if not np.allclose(np.asarray(left.values[name], float), np.asarray(right.values[name], float), equal_nan=True)
    ]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_construct_agrees_with_the_reference(name, graph):
    program = getattr(constructs, name)
    expected = program.on("reference")(graph, **ARGUMENTS[name])
    for threads in (1, 2, 8):
        found = program.on(Cpu(threads=threads))(graph, **ARGUMENTS[name])
        assert same(expected, found) == [], threads


@pytest.mark.parametrize(
    "schedule", ["cpu{direction=pull}", "cpu{direction=pull, segments=3}", "cpu{direction=hybrid}"]
)
def test_pulling_side_by_side(schedule, graph):
    """Many at once on a graph that is not symmetric, so that in-edges are not out-edges."""
    expected = constructs.pulled.on("reference")(graph)
    program = constructs.pulled.scheduled(ahead=schedule, behind=schedule).on("cpu{threads=2}")
    assert same(expected, program(graph)) == []


def test_a_limit_on_hops_is_kept(skewed):
    """In place, a vertex could be reached over two edges in one round: the state before the apply must be read."""
    from scipy.sparse.csgraph import dijkstra

    source = int(np.argmax(skewed.out_degrees))
    exact = dijkstra(skewed.to_scipy(), unweighted=True, indices=source, limit=2)
    result = constructs.hops.on(Cpu(threads=2))(skewed, source=source, limit=2)
    reached = np.isfinite(exact)
    assert np.array_equal(result.dist[reached], exact[reached].astype(int))
    assert (result.dist[~reached] == 2**31 - 1).all()


def test_results_are_fresh_and_calls_repeatable(skewed):
    ready = algorithms.bfs_depth.compile(skewed, on="cpu{threads=2}")
    first = ready(source=1).depth
    kept = first.copy()
    second = ready(source=2).depth
    assert np.array_equal(first, kept)
    assert not np.shares_memory(first, second)
    out = np.empty_like(first)
    third = ready(source=1, out={"depth": out})
    assert third.depth is out
    assert np.array_equal(out, kept)


def test_calls_at_once_do_not_meet(skewed):
    ready = algorithms.bfs_depth.compile(skewed, on="cpu{threads=2}")
    expected = [ready(source=s).depth for s in range(6)]
    wrong = []

    def call(s):
        for _ in range(5):
            if not np.array_equal(ready(source=s).depth, expected[s]):
                wrong.append(s)

    callers = [threading.Thread(target=call, args=(s,)) for s in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_limits_end_a_run(skewed):
    ready = algorithms.pagerank.compile(skewed, on="cpu{threads=2}")
    short = ready(tolerance=0.0, rounds=3)
    cut = ready(tolerance=0.0, rounds=100, max_rounds=3)
    assert cut.stats["rounds"] == 3
    assert not cut.stats["completed"]
    assert short.stats["completed"]
    assert np.allclose(cut.rank, short.rank)
    endless = ready(tolerance=0.0, rounds=2**31 - 1, max_seconds=0.3)
    assert not endless.stats["completed"]
    assert 0.2 < endless.stats["seconds"] < 5


LONG = """
import pantograf as pg
from pantograf import algorithms
graph = pg.load("kronecker{scale=12, degree=8, seed=1}")
ready = algorithms.pagerank.compile(graph, on="cpu{threads=2}")
print("ready", flush=True)
ready(tolerance=0.0, rounds=2**31 - 1)
"""


def test_interrupt_returns_within_a_second():
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.perf_counter()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    assert time.perf_counter() - sent < 3  # a second on a quiet machine; tests share two cores
    assert "KeyboardInterrupt" in process.stderr.read()


def test_a_killed_compilation_leaves_a_cache_that_works(tmp_path):
    code = (
        "import pantograf as pg\nfrom pantograf import algorithms\n"
        "g = pg.load('path{vertices=50}')\nprint(int(algorithms.spmv(g.with_weights('unit'), x=[1.0] * 50).y.sum()))"
    )
    env = {**os.environ, "PANTOGRAF_CACHE": str(tmp_path)}
    for delay in (1.2, 2.0):
        process = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.kill()
        process.wait()
    together = [
        subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [p.communicate(timeout=120)[0].strip() for p in together] == ["98", "98"]


def test_cache_is_bounded_and_can_be_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("PANTOGRAF_CACHE", str(tmp_path))
    for number in range(4):
        entry = tmp_path / f"p{number}"
        entry.mkdir()
        (entry / "code").write_bytes(b"x" * 1000)
        os.utime(entry, (number, number))
    monkeypatch.setenv("PANTOGRAF_CACHE_LIMIT", "2500")
    cache.trim()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p2", "p3"]
    assert cache.clear() == 2000
    monkeypatch.setenv("PANTOGRAF_CACHE", "/proc/nowhere")
    with pytest.raises(pg.UserError, match="cannot write to PANTOGRAF_CACHE"):
        cache.folder()


@pytest.mark.parametrize("name", ["bfs", "sssp", "pagerank"])
def test_emitted_code_is_as_reviewed(name):
    text = Cpu().show(getattr(algorithms, name), None, "source")
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("PANTOGRAF_GOLDEN") == "write":
        file.write_text(text)
    assert text == file.read_text(), "PANTOGRAF_GOLDEN=write pytest accepts the new text"


def shape(text):
    """Emitted text with every name replaced by its number in the order of appearance."""
    seen = {}
    text = re.sub(r'""".*?"""', "", text, flags=re.S)
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda m: seen.setdefault(m.group(), f"n{len(seen)}"), text)


def test_a_renamed_and_rewritten_copy_emits_the_same_code():
    """Kernels are not found by name, nor by the way a reduction is written."""
    copy = pg.parse(
        """
from pantograf import Edges, Vertex, Weight, inf
import pantograf as pg

@pg.program
def journeys(roads: Edges[Weight], home: Vertex, width: Weight = 1):
    cost = roads.vertices.property(Weight, inf)
    line = pg.priority_queue(cost, lowest_first=True, delta=width)
    def drive(here, there, length):
        line.update_min(there, cost[here] + length)
    line.add(home, 0)
    while line:
        roads.from_(line.pop()).apply(drive)
    return cost
"""
    )
    assert shape(Cpu().show(copy, None, "source")) == shape(Cpu().show(algorithms.sssp, None, "source"))


def test_printed_graphir_can_be_edited_and_run(skewed):
    text = algorithms.bfs_depth.show()
    longer = text.replace("graph.constant 1 : i32", "graph.constant 5 : i32")
    assert longer != text
    source = int(np.argmax(skewed.out_degrees))
    once = algorithms.bfs_depth.on("cpu{threads=2}")(skewed, source=source).depth
    five = pg.from_graphir(longer).on("cpu{threads=2}")(skewed, source=source).depth
    finite = once < 2**31 - 1
    assert np.array_equal(five[finite], 5 * once[finite])


@pg.program
def strays(edges: pg.Edges):
    p = edges.vertices.property(pg.Vertex, pg.none)
    q = edges.vertices.property(pg.i32, 0)

    def touch(v):
        q[p[v]] = 1

    edges.vertices.apply(touch)
    return q


@pg.program
def overflows(edges: pg.Edges):
    q = edges.vertices.property(pg.i32, 1)

    def grow(v):
        q[v] = 2000000000 * q[v] + pg.i32(2000000000)

    edges.vertices.apply(grow)
    return q


@pg.program
def races(edges: pg.Edges):
    last = edges.vertices.property(pg.i32, 0)

    def write(src, dst):
        last[dst] = pg.i32(src)

    edges.apply(write)
    return last


def test_checking_names_the_line(graph):
    checking = Cpu(threads=2, check=True)
    with pytest.raises(pg.UserError) as stray:
        strays.on(checking)(graph)
    assert "the index none is out of range here" in str(stray.value)
    assert "q[p[v]] = 1" in str(stray.value)
    with pytest.raises(pg.UserError) as overflow:
        overflows.on(checking)(graph)
    assert "an integer overflows here" in str(overflow.value)
    star = pg.Graph.from_edges([1, 2, 3], [0, 0, 0], n=4)
    assert races.on(Cpu(threads=1, check=True))(star).stats["races"] == 2


def test_deterministic_runs_keep_the_smallest(skewed):
    source = int(np.argmax(skewed.out_degrees))
    expected = algorithms.bfs.on("reference")(skewed, source=source).parent
    for _ in range(3):
        found = algorithms.bfs.on("cpu{threads=2, deterministic=true}")(skewed, source=source).parent
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("program", "label", "schedule", "says"),
    [
        (
            "bfs",
            "traverse",
            Traverse(fixpoint="async"),
            "an asynchronous schedule needs a loop that may run in any order",
        ),
        ("kcore", "peel", Traverse(priority="fused"), "fused needs a loop over this queue that may run in any order"),
        ("sssp", "relax", Traverse(priority="constant_sum"), "constant_sum counts update_sum, and this is update_min"),
        ("pagerank", "settle", Traverse(direction="pull"), "cpu.direction has no effect at 'settle'"),
        ("pagerank", "gather", Traverse(fuse=("rank", "nothing")), "cpu.fuse names 'nothing'"),
    ],
)
def test_refusals_say_why_and_where(program, label, schedule, says, graph):
    with pytest.raises(pg.Refused) as refusal:
        getattr(algorithms, program).scheduled({label: schedule}).compile(graph.as_undirected("min"))
    assert says in refusal.value.message
    assert refusal.value.place is not None
    assert refusal.value.hint


@pytest.mark.parametrize(
    "settings",
    [
        {"segments": 4, "direction": "push"},
        {"segments": 4, "segment_bytes": 100},
        {"balance": "edge"},
        {"fixpoint": "async", "direction": "pull"},
        {"parallelism": "edge", "direction": "dense_push"},
        {"parallelism": "edge", "priority": "fused"},
        {"parallelism": "edge", "dealing": "static"},
        {"grain": 8, "dealing": "static"},
        {"parallelism": "serial", "dealing": "static"},
        {"threshold": 0},
        {"delta": 0},
    ],
)
def test_contradictory_knobs_are_errors(settings):
    with pytest.raises(pg.UserError) as error:
        Traverse(**settings)
    assert error.value.hint


def test_explanations_follow_the_measured_quantity():
    """The same program on graphs on either side of the threshold."""
    lean, rich = pg.load("grid{rows=40, columns=40}"), pg.load("kronecker{scale=10, degree=16, seed=1}")
    on = Cpu(threads=2)
    assert any("push (the mean degree is 3.9, below 4" in line for line in on.explain(algorithms.bfs, lean))
    assert any("at least 4" in line and "pull while" in line for line in on.explain(algorithms.bfs, rich))
    star = pg.load("star{vertices=20000}")
    lines = Cpu(threads=2).explain(algorithms.bfs_depth, star)
    assert any("hubs are shared: one vertex has 50.0% of all edges, more than 6.2%" in line for line in lines)


def test_programs_graphs_and_results_pickle(graph):
    program = pickle.loads(pickle.dumps(constructs.hops.on("cpu{threads=2}")))
    again = pickle.loads(pickle.dumps(graph))
    result = pickle.loads(pickle.dumps(program(again, source=1)))
    assert np.array_equal(result.dist, constructs.hops.on("reference")(graph, source=1).dist)
