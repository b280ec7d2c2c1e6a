"""What makes the CPU fast is right, and follows from the program and the graph: nothing here is timed."""

from __future__ import annotations

import os

import numpy as np
import pytest

import pantograf as pg
from pantograf import algorithms
from pantograf.machines.cpu import Cpu
from pantograf.machines.cpu.choose import Shape

HEAD = "import pantograf as pg\nfrom pantograf import Edges, Vertex, Weight, f64, i32, i64, inf\n\n@pg.program\ndef"


@pytest.fixture(scope="module")
def graph():
    """Undirected, with loops and parallel edges: what a simple graph would hide."""
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 40, 260), rng.integers(0, 40, 260)
    return pg.Graph.from_edges(np.concatenate([src, dst]), np.concatenate([dst, src]), n=70)


def rows(graph):
    return [sorted(graph.neighbors[a:b].tolist()) for a, b in zip(graph.offsets[:-1], graph.offsets[1:], strict=True)]


# --- halves of rows


@pytest.mark.parametrize("test", ["dst < src", "src > dst", "dst > src", "src < dst", "dst <= src", "dst != src"])
def test_a_guard_on_two_ends_halves_the_loop_and_keeps_the_answer(graph, test):
    program = pg.parse(
        f"""{HEAD} count(edges: Edges):
    found = i64(0)
    def look(src, dst):
        nonlocal found
        if {test}:
            found += i64(src) * 100 + i64(dst)
    edges.apply(look)
    return found
"""
    )
    result = program.on("cpu{threads=2}")(graph)
    wanted = [(s, d) for s, row in enumerate(rows(graph)) for d in row if eval(test, {"src": s, "dst": d})]
    assert result.found == sum(100 * s + d for s, d in wanted)
    one_sided = "=" not in test
    loops = sum(s == d for s, row in enumerate(rows(graph)) for d in row)
    spared = loops if test in ("dst > src", "src < dst") else 0
    assert result.stats["edges_processed"] <= (len(wanted) + spared if one_sided else graph.m)
    if not one_sided:
        assert result.stats["edges_processed"] == graph.m


@pytest.mark.parametrize("method", ["merge", "gallop", "bitmap", "auto"])
@pytest.mark.parametrize("below", ["", "below=src", "below=dst", "below=Vertex(20)"])
@pytest.mark.parametrize("pair", ["src, dst", "dst, src"])
def test_intersections_are_sets_of_common_neighbours(graph, method, below, pair):
    program = pg.parse(
        f"""{HEAD} common(edges: Edges):
    found = edges.vertices.property(i64, 0)
    def look(src, dst):
        found[src] += edges.intersect({pair}{", " + below if below else ""})
    edges.apply(look, label="look")
    return found
"""
    )
    result = program.scheduled({"look": f"cpu{{intersection={method}}}"}).on("cpu{threads=2}")(graph)
    every = rows(graph)
    expected = np.zeros(graph.n, np.int64)
    for src, row in enumerate(every):
        for dst in row:
            limit = {"": graph.n, "below=src": src, "below=dst": dst}.get(below, 20)
            expected[src] += sum(v < limit for v in set(every[src]) & set(every[dst]))
    assert np.array_equal(result.found, expected)


def test_a_long_mean_row_is_met_with_a_bitmap_a_short_one_is_merged():
    on = Cpu(threads=2)
    short = "\n".join(on.explain(algorithms.triangles, pg.load("grid{rows=20, columns=20}")))
    long = "\n".join(on.explain(algorithms.triangles, pg.load("uniform{scale=10, degree=16}")))
    assert "bitmap" not in short
    assert "intersects by a bitmap of the vertex that stays: the mean degree is" in long
    assert "intersect_bitmap" in on.show(algorithms.triangles, pg.load("uniform{scale=10, degree=16}"), "source")


# --- queues


def keyed(body, graph=None):
    program = pg.parse(f"{HEAD} {body}")
    return "_keyed(" in Cpu().show(program if graph is None else program.for_graph(graph), graph, "source")


SEARCH = """walk(edges: Edges[Weight], source: Vertex, delta: Weight = 1):
    far = edges.vertices.property({kind}, inf)
    queue = pg.priority_queue(far, lowest_first=True, delta=delta)
    def relax(src, dst, weight):
        queue.update_min(dst, far[src] + weight)
    {start}
    while queue:
        edges.from_(queue.pop()).apply(relax, label="relax")
        {more}
    return far
"""


def test_entries_carry_their_priority_only_where_none_can_come_twice():
    plain = SEARCH.format(kind="Weight", start="queue.add(source, 0)", more="pass")
    assert keyed(plain)
    assert not keyed(SEARCH.format(kind="Weight", start="queue.add(source, 0); queue.add(Vertex(0), 0)", more="pass"))
    assert not keyed(SEARCH.format(kind="Weight", start="queue.add(source, 0)", more="queue.add(source, 0)"))
    wide = pg.load("grid{rows=4, columns=4}").with_weights(np.arange(1.0, 49.0))
    assert not keyed(plain, wide), "a float and a vertex do not fit one word"
    assert "_keyed(" not in Cpu().show(algorithms.kcore, None, "source")
    lazy = algorithms.sssp.scheduled({"relax": "cpu{priority=lazy}"})
    assert "_keyed(" not in Cpu().show(lazy, None, "source")


@pytest.mark.parametrize("schedule", ["cpu", "cpu{priority=fused, merge=3}", "cpu{buckets=2}", "cpu{parallelism=edge}"])
@pytest.mark.parametrize("delta", [1, 3, 100000])
def test_keyed_queues_find_shortest_paths(schedule, delta):
    from scipy.sparse.csgraph import dijkstra

    graph = pg.load("kronecker{scale=9, degree=6, seed=4}").with_weights("random{low=1, high=40, seed=2}")
    ready = algorithms.sssp.scheduled({"relax": schedule}).compile(graph, on="cpu{threads=2}")
    for source in (0, 3, 77):
        found = ready(source=source, delta=delta).distance
        exact = dijkstra(graph.to_scipy(), indices=source)
        assert np.array_equal(np.where(found == 2**31 - 1, np.inf, found), exact)


def test_a_keyed_queue_gives_each_bucket_once_as_the_reference_does():
    program = pg.parse(
        f"""{HEAD} buckets(edges: Edges[Weight], source: Vertex, delta: Weight = 4):
    far = edges.vertices.property(Weight, inf)
    queue = pg.priority_queue(far, lowest_first=True, delta=delta)
    popped = i64(0)
    rounds = i64(0)
    def relax(src, dst, weight):
        queue.update_min(dst, far[src] + weight)
    queue.add(source, 0)
    while queue:
        bucket = queue.pop()
        popped += bucket.size
        rounds += 1
        edges.from_(bucket).apply(relax)
    return far, popped, rounds
"""
    )
    graph = pg.load("grid{rows=9, columns=7}").with_weights("random{low=1, high=9, seed=3}")
    one, other = (program.on(m)(graph, source=5) for m in ("reference", "cpu{threads=1}"))
    assert (one.popped, one.rounds) == (other.popped, other.rounds)
    assert np.array_equal(one.far, other.far)


# --- in place, sums, memory


def test_in_place_calls_see_what_others_wrote():
    program = pg.parse(
        f"""{HEAD} compress(edges: Edges, once: bool):
    up = edges.vertices.property(Vertex, pg.none)
    def name(v):
        up[v] = edges.neighbor(v, 0) if edges.degree(v) > 0 else v
    def shorten(v):
        up[v] = up[up[v]]
    edges.vertices.apply(name)
    if once:
        edges.vertices.apply(shorten, in_place=True, label="in_place")
    else:
        edges.vertices.apply(shorten, label="after")
    return up
"""
    )
    path = pg.Graph.from_edges(np.arange(1, 64), np.arange(63), n=64)  # each vertex points at the one before
    for machine in ("reference", "cpu{threads=1}"):
        ready = program.on(machine)
        assert np.array_equal(ready(path, once=False).up, np.maximum(np.arange(64) - 2, 0))
        assert (ready(path, once=True).up == 0).all(), "in order, each call sees the one before"


def test_sums_over_edges_have_an_order_only_where_it_is_asked_for():
    assert "add_any_order" in Cpu().show(algorithms.pagerank, None, "source")
    assert "add_any_order" in Cpu().show(algorithms.pagerank_in_place, None, "source")
    assert "add_any_order" not in Cpu(deterministic=True).show(algorithms.pagerank, None, "source")
    kept = pg.parse(
        f"""{HEAD} running(edges: Edges):
    x = edges.vertices.property(f64, 1)
    top = edges.vertices.property(f64, 0)
    def look(v):
        total = f64(0)
        for k in range(edges.degree(v)):
            total += x[edges.neighbor(v, k)]
            top[v] = total
    edges.vertices.apply(look)
    return top
"""
    )
    assert "add_any_order" not in Cpu().show(kept, None, "source"), "partial sums are looked at"


def test_the_memory_of_a_result_is_used_again_when_nobody_has_it():
    graph = pg.load("uniform{scale=10}")
    ready = algorithms.bfs_depth.compile(graph, on="cpu{threads=2}")
    first = ready(source=1).depth
    part, address, kept = first[5:9], first.ctypes.data, first.copy()
    del first
    others = {ready(source=s).depth.ctypes.data for s in range(2, 8)}
    assert address not in others, "a part of it is still held"
    assert np.array_equal(part, kept[5:9])
    del part
    assert address in {ready(source=s).depth.ctypes.data for s in range(2, 8)}


def test_profile_splits_the_time_of_a_run_by_label():
    graph = pg.load("kronecker{scale=10, seed=1}")
    result = algorithms.bfs.on("cpu{threads=2, profile=true}")(graph, source=int(np.argmax(graph.out_degrees)))
    spent = {name: value for name, value in result.stats.items() if name.startswith("seconds.")}
    assert set(spent) == {"seconds.between", "seconds.traverse.dense", "seconds.traverse.sparse"}
    assert all(value >= 0 for value in spent.values())
    assert 0 < sum(spent.values()) <= result.stats["seconds"]
    assert not [name for name in algorithms.bfs.on("cpu")(graph, source=0).stats if name.startswith("seconds.")]


def test_a_thread_may_leave_the_core_that_it_was_moved_to():
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system has no affinity of threads")
    import threading

    from pantograf.machines.cpu import pool

    found = []

    def look():
        pool.spread(0, 2)
        found.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [os.sched_getaffinity(0)]


def test_memory_is_asked_for_early_only_in_large_graphs():
    def explained(program, vertices, edges):
        from pantograf.machines.cpu.choose import CpuQuery, choose
        from pantograf.machines.cpu.lower import lower

        shape = Shape(vertices, edges, edges / vertices, 100, 2)
        module = lower(program.module, {}, CpuQuery(False, shape))
        return " ".join(choose(op, False, shape).reason for op in module.walk() if "label" in op.properties)

    assert "8 vertices ahead" in explained(algorithms.bfs, 1 << 20, 1 << 24)
    assert "ahead" not in explained(algorithms.bfs, 1 << 10, 1 << 14)
    assert "16 vertices ahead" in explained(algorithms.cc_afforest, 1 << 20, 1 << 24)
    assert "32 edges ahead" in explained(algorithms.pagerank_in_place, 1 << 24, 1 << 28)
    assert "edges ahead" not in explained(algorithms.pagerank_in_place, 1 << 20, 1 << 24)


def shape_of(text):
    """Emitted text with every name replaced by its number in the order of appearance."""
    import re

    seen = {}
    text = re.sub(r'""".*?"""', "", text, flags=re.S)
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda m: seen.setdefault(m.group(), f"n{len(seen)}"), text)


COPIES = {
    "triangles": """corners(links: Edges):
    sorted_links = links.relabel()
    total = i64(0)
    def shut(far, near):
        nonlocal total
        if far > near:
            total += sorted_links.intersect(near, far, below=near)
    sorted_links.apply(shut)
    return total
""",
    "bfs": """tree(links: Edges, root: Vertex):
    above = links.vertices.property(Vertex, pg.none)
    def step(here, there):
        above[there] = here
    above[root] = root
    wave = pg.vertex_set(root)
    while wave.size > 0:
        wave = links.from_(wave).to(lambda v: above[v] == pg.none).apply(step, modified=above)
    return above
""",
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("text", ["kronecker{scale=9, degree=16}", "grid{rows=12, columns=12}"])
def test_rewritten_copies_of_boxed_programs_emit_the_same_code(name, text):
    graph = pg.load(text)
    copy = pg.parse(f"{HEAD} {COPIES[name]}")
    one, other = (shape_of(Cpu(threads=2).show(p, graph, "source")) for p in (copy, getattr(algorithms, name)))
    assert one == other


def test_rounds_of_few_vertices_are_run_onward_without_meeting():
    graph = pg.load("grid{rows=30, columns=30}").with_weights("random{low=1, high=9, seed=1}")
    lines = "\n".join(Cpu(threads=2).explain(algorithms.sssp, graph))
    assert "priority updates are fused (many rounds of few vertices" in lines
    eager = algorithms.sssp.scheduled({"relax": "cpu{priority=eager}"})
    assert "priority updates are eager" in "\n".join(Cpu(threads=2).explain(eager, graph))
    rich = pg.load("uniform{scale=8, degree=8}").with_weights("random{low=1, high=9, seed=1}")
    assert "priority updates are eager" in "\n".join(Cpu(threads=2).explain(algorithms.sssp, rich))
    one, other = (p.on("cpu{threads=1}")(graph, source=0, delta=2) for p in (algorithms.sssp, eager))
    assert np.array_equal(one.distance, other.distance)
    assert one.stats["rounds"] < other.stats["rounds"]


def test_a_claim_of_a_loaded_value_is_pulled_like_one_of_the_source():
    program = pg.parse(
        f"""{HEAD} nearest(edges: Edges, source: Vertex):
    owner = edges.vertices.property(Vertex, pg.none)
    def free(v):
        return owner[v] == pg.none
    def claim(src, dst):
        owner[dst] = owner[src]
    owner[source] = source
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).to(free).apply(claim, modified=owner, label="claim")
    return owner
"""
    )
    graph = pg.load("kronecker{scale=9, seed=2}")
    assert "claim: pull while the frontier is dense" in "\n".join(Cpu(threads=2).explain(program, graph))
    one, other = (program.on(m)(graph, source=3).owner for m in ("reference", "cpu{threads=2}"))
    assert np.array_equal(one, other)


# --- what a reader found: shortcuts that held for one intersection and one queue, but not for two

G = ([0, 0, 1, 1, 2, 2, 3, 3, 3, 1], [1, 2, 0, 2, 0, 3, 0, 1, 2, 3])
BODIES = {
    "both ends the same": "total += edges.intersect(dst, dst, below=dst)",
    "neither end is the source": "total += edges.intersect(other[src], dst, below=dst)",
    "an earlier call marked more": "more += edges.intersect(src, dst)\n        total += edges.intersect(src, dst, below=src)",
    "another form of the graph": "more += back.intersect(src, dst)\n        total += edges.intersect(src, dst)",
    "a variable that changed": (
        "u = src\n        if src > dst:\n            u = dst\n        old = u\n        if old > 1:\n            u = Vertex(0)\n"
        "        total += edges.intersect(src, u, below=old)"
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize(
    "schedule", ["cpu{direction=push}", "cpu{direction=push, intersection=bitmap}", "cpu{direction=pull}"]
)
def test_intersections_beside_each_other(body, schedule):
    program = pg.parse(
        f"""{HEAD} p(edges: Edges):
    total = i64(0)
    more = i64(0)
    other = edges.vertices.property(Vertex, Vertex(0))
    back = edges.transpose()
    def f(src, dst):
        nonlocal total, more
        {body}
    edges.apply(f, label="f")
    return total, more
"""
    )
    rng = np.random.default_rng(7)
    for graph in (
        pg.Graph.from_edges(*G, n=4),
        pg.Graph.from_edges(rng.integers(0, 12, 90), rng.integers(0, 12, 90), n=12),
    ):
        one, two = (program.on("reference")(graph), program.scheduled({"f": schedule}).on("cpu{threads=2}")(graph))
        assert (one.total, one.more) == (two.total, two.more)


def test_a_loop_over_the_edges_of_a_changing_vertex_asks_for_nothing_early():
    program = pg.parse(
        f"""{HEAD} p(edges: Edges):
    x = edges.vertices.property(i64, 1)
    out = edges.vertices.property(i64, 0)
    def f(v):
        u = v
        if edges.degree(v) > 2:
            u = edges.neighbor(v, 0)
        for k in range(edges.degree(u)):
            out[v] += x[edges.neighbor(u, k)] * k
    edges.vertices.apply(f, label="f")
    return out
"""
    )
    graph = pg.Graph.from_edges(*G, n=4)
    assert np.array_equal(program.on("cpu{threads=2}")(graph).out, program.on("reference")(graph).out)
    with pytest.raises(pg.UserError, match="prefetch has no effect"):
        program.scheduled({"f": "cpu{prefetch=8}"}).on("cpu")(graph)


def test_counted_updates_are_not_made_where_an_apply_tells_what_changed():
    text = f"""{HEAD} peeled(edges: Edges):
    core = edges.out_degrees
    queue = pg.priority_queue(core, lowest_first=True, delta=1, start="all")
    touched = i64(0)
    k = i64(0)
    def peel(src, dst):
        queue.update_sum(dst, -1, k)
    while queue:
        bucket = queue.pop()
        k = queue.priority
        changed = edges.from_(bucket).apply(peel, modified=core, label="peel")
        touched += changed.size
    return core, touched
"""
    graph = pg.load("kronecker{scale=7, degree=8, seed=4}")
    program = pg.parse(text)
    one, other = (program.on(m)(graph) for m in ("reference", "cpu{threads=2}"))
    assert (one.touched, one.core.tolist()) == (other.touched, other.core.tolist())
    with pytest.raises(pg.UserError, match="constant_sum makes its updates after the apply"):
        program.scheduled({"peel": "cpu{priority=constant_sum}"}).on("cpu")(graph)


def test_one_property_orders_one_queue():
    program = pg.parse(
        f"""{HEAD} p(edges: Edges[Weight]):
    far = edges.vertices.property(Weight, inf)
    one = pg.priority_queue(far, lowest_first=True, delta=4)
    two = pg.priority_queue(far, lowest_first=True, delta=4)
    one.add(Vertex(0), 0)
    two.add(Vertex(0), 0)
    return far
"""
    )
    with pytest.raises(pg.UserError, match="one property orders two queues"):
        program.on("cpu")(pg.load("path{vertices=3}").with_weights("random{low=1, high=2, seed=1}"))


def test_a_record_of_one_vertex_is_not_given_away():
    program = pg.parse(
        f"""{HEAD} p(edges: Edges, x: i64):
    a = edges.vertices.property(i64, x)
    b = edges.vertices.property(i64, x + 1)
    def f(v):
        a[v] += 0
        b[v] += 0
    edges.vertices.apply(f, label="f")
    return a, b
"""
    ).scheduled({"f": "cpu{fuse=[a, b]}"})
    ready = program.compile(pg.Graph.from_edges([0], [0], n=1), on="cpu{threads=1}")
    first = ready(x=5)
    ready(x=70)
    assert (first.a.tolist(), first.b.tolist()) == ([5], [6])


def test_a_condition_on_the_current_bucket_is_the_same_in_all_threads():
    """A thread that asks late must not see the bucket that a fast one has gone on to: it would stay behind at a barrier."""
    graph = pg.load("grid{rows=40, columns=40}").with_weights("random{low=1, high=9, seed=1}")
    exact = algorithms.sssp.on("reference")(graph, source=0).distance
    ready = algorithms.ppsp.scheduled({"relax": "cpu{priority=eager}"}).compile(graph, on="cpu{threads=8}")
    for target in range(20, graph.n, 80):
        found = ready(source=0, target=target, delta=1, max_seconds=20)
        assert found.stats["completed"]
        assert found.length == exact[target]
