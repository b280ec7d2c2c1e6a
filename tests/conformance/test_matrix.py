"""Every algorithm on every machine under a seeded sample of schedules, on graphs with names and on random ones.

`pantograf conform` runs the same and prints the matrix; with a number it draws more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pantograf import algorithms, conformance, machine
from pantograf.conformance import graphs
from pantograf.conformance.draw import Cell, Refusal
from pantograf.conformance.matrix import Matrix, Verdict, arguments_for, is_allowed, sample_graphs
from pantograf.conformance.refusals import Allowed, read
from pantograf.errors import UserError
from pantograf.graphs import Graph
from pantograf.result import Result

SEED = 0


@pytest.mark.parametrize("name", algorithms.names())
@pytest.mark.parametrize("machine_name", machine.names())
def test_all_agree(machine_name: str, name: str) -> None:
    """Compiling is what this costs: the default sample has few schedules for each pair."""
    matrix = conformance.run(seed=SEED, machines=[machine_name], algorithms=[name])
    assert matrix.verdicts or matrix.refusals
    assert matrix.ok, "\n".join(matrix.lines())


# --- the graphs -------------------------------------------------------------------------------------------------------


def test_named_graphs_are_what_they_are_called() -> None:
    found = graphs.named()
    assert found["no vertices"].n == 0
    assert found["no edges"].m == 0
    assert found["isolated source"].out_degrees[0] == found["isolated source"].in_degrees[0] == 0
    assert found["n beyond the largest id"].n > found["n beyond the largest id"].neighbors.max() + 1
    assert found["giant hub"].out_degrees[0] == found["giant hub"].n - 1
    assert (
        np.asarray(found["self-loops"].neighbors) == np.repeat(np.arange(5), found["self-loops"].out_degrees)
    ).sum() == 3
    src = np.repeat(np.arange(4), found["duplicates"].out_degrees)
    pairs = list(zip(src.tolist(), found["duplicates"].neighbors.tolist(), strict=True))
    assert len(set(pairs)) < len(pairs)
    assert components(found["several components"]) > 3


def components(graph: Graph) -> int:
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(graph.to_scipy(), directed=False)[0])


def test_random_graphs_repeat_and_vary() -> None:
    def draw(seed: int) -> list[str]:
        rng = np.random.default_rng(seed)
        return [graphs.random_graph(rng).fingerprint for _ in range(12)]

    assert draw(1) == draw(1)
    assert len(set(draw(1) + draw(2))) == 24
    rng = np.random.default_rng(5)
    made = [graphs.random_graph(rng) for _ in range(60)]
    assert {g.symmetric for g in made} == {True, False}
    assert any((g.neighbors == np.repeat(np.arange(g.n), g.out_degrees)).any() for g in made), (
        "no self-loop in 60 graphs"
    )
    assert {components(g) == 1 for g in made} == {True, False}


def test_parallel_edges_have_different_weights_and_both_ways_the_same() -> None:
    duplicates = graphs.named()["duplicates"]
    assert len(set(duplicates.weights[:3].tolist())) == 3
    both = graphs.named()["cycle"]
    assert (both.to_scipy() != both.to_scipy().T).nnz == 0


# --- the suite notices ------------------------------------------------------------------------------------------------


def wrong_in_one_place(value: Any) -> Any:
    """The same value but for one entry, which becomes one that no answer has."""
    if not isinstance(value, np.ndarray):
        return not value if isinstance(value, bool) else value + 1
    changed = value.copy()
    flat = changed.reshape(-1)
    at = flat.size // 2
    if changed.dtype.kind == "b":
        flat[at] = ~flat[at]
    elif changed.dtype.kind == "f":
        flat[at] = (flat[at] if np.isfinite(flat[at]) else 0) + 1000
    else:
        flat[at] = 9_999_999
    return changed


@pytest.mark.parametrize("name", algorithms.names())
def test_a_wrong_value_is_noticed(name: str) -> None:
    """Of each value that a program returns, one changed entry makes its check speak."""
    algorithm = algorithms.find(name)
    graph = algorithm.prepare(graphs.named()["two cliques and a bridge"])
    arguments = algorithm.arguments(graph)
    result = algorithm.program.on("reference")(graph, **arguments)
    assert algorithm.check(graph, arguments, result) == []
    for value in result.values:
        if np.size(result.values[value]) == 0:
            continue
        changed = {**result.values, value: wrong_in_one_place(result.values[value])}
        other = Result(changed, result.stats, result.provenance, result.labels)
        assert algorithm.check(graph, arguments, other), f"{name}: nobody looks at {value}"


def test_a_wrong_machine_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.machines.reference import state

    monkeypatch.setattr(state.After, "finish", lambda self: None)
    matrix = conformance.run(machines=["reference"], algorithms=["bfs_depth"])
    assert not matrix.ok
    assert len(matrix.wrong()) == 1
    text = "\n".join(matrix.lines())
    assert "WRONG: bfs_depth on reference: graph " in text
    assert "1 of 1 WRONG" in text
    assert text.splitlines()[-1].startswith("NOT ALL AGREE (seed 0")


def test_a_run_that_fails_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.machines.reference import state

    def fail(self: state.Now, row: state.Row, i: int, value: Any) -> None:
        raise UserError("no stores today")

    monkeypatch.setattr(state.Now, "store", fail)
    matrix = conformance.run(machines=["reference"], algorithms=["bfs"])
    assert "it fails: no stores today" in matrix.wrong()[0].detail


def test_a_run_that_does_not_end_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.conformance import matrix as module

    monkeypatch.setattr(module, "SECONDS", 0.0)
    matrix = conformance.run(machines=["reference"], algorithms=["bfs"])
    assert "it did not end within 0 s" in matrix.wrong()[0].detail


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_the_table_is_readable_and_names_what_exists() -> None:
    for entry in read():
        assert entry.machine in machine.names()
        assert entry.why
        assert "*" in entry.algorithm or entry.algorithm in algorithms.names()


REFUSAL = Refusal(
    Cell("bfs", "cpu{threads=2}", (("traverse", "cpu{fixpoint=async, grain=2}"),)), "cannot be raised: line 3"
)


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        (Allowed("cpu", "bfs", "fixpoint=async", "cannot be raised", "-"), True),
        (Allowed("cpu", "*", "*", "", "-"), True),
        (Allowed("cpu", "sssp", "fixpoint=async", "cannot be raised", "-"), False),
        (Allowed("reference", "bfs", "fixpoint=async", "cannot be raised", "-"), False),
        (Allowed("cpu", "bfs", "fixpoint=rounds", "cannot be raised", "-"), False),
        (Allowed("cpu", "bfs", "fixpoint=async", "something else", "-"), False),
        (Allowed("cpu", "bfs", "-", "cannot be raised", "-"), False),
    ],
)
def test_what_the_table_allows(entry: Allowed, allowed: bool) -> None:
    assert is_allowed(REFUSAL, [entry]) is allowed
    matrix = Matrix(0, refusals=[REFUSAL], allowed=[entry])
    assert matrix.ok is allowed
    assert ("REFUSED, and not in the table" in "\n".join(matrix.lines())) is not allowed
    assert matrix.share_refused("cpu") == 1.0


def test_a_refusal_of_the_program_itself_has_no_knob() -> None:
    refused = Refusal(Cell("bfs", "cpu"), "no GPU here")
    assert is_allowed(refused, [Allowed("cpu", "*", "-", "GPU", "-")])
    assert not is_allowed(refused, [Allowed("cpu", "*", "grain=*", "GPU", "-")])


# --- what is counted --------------------------------------------------------------------------------------------------


def test_what_the_matrix_counts() -> None:
    cells = [
        Cell("bfs", "cpu{threads=1}", (("traverse", "cpu{direction=pull}"),)),
        Cell("bfs", "cpu", (("traverse", "hybrid{first=cpu{direction=pull}, second=cpu{grain=5}}"),)),
    ]
    assert cells[1].knobs() == ["direction=pull", "grain=5", "hybrid"]
    verdicts = [
        Verdict(cell, "agrees", runs=3, sources=frozenset({"a", name})) for cell, name in zip(cells, "bc", strict=True)
    ]
    wanted = {("bfs", "traverse", knob) for knob in ("direction=pull", "grain=5", "grain=64", "prefetch=2")}
    matrix = Matrix(0, verdicts, [REFUSAL], {"cpu": wanted})
    assert matrix.coverage("cpu") == (2, 4)
    assert matrix.compilations("cpu") == 3
    assert matrix.share_refused("cpu") == pytest.approx(1 / 3)
    document = matrix.to_dict()
    assert document["machines"]["cpu"]["knob_values_covered"] == 2
    assert [cell["status"] for cell in document["cells"]] == ["agrees", "agrees"]
    assert (
        "cpu: 2 schedules, 6 runs, 33% refused, 3 compilations, 0 s; 2 of 4 knob values x algorithms (50%)"
        in matrix.lines()
    )


def test_arguments_vary_the_vertices() -> None:
    algorithm = algorithms.find("bfs")
    graph = graphs.named()["path"]
    sources: list[Mapping[str, Any]] = list(arguments_for(algorithm, graph, "path"))
    assert len(sources) == 2
    assert sources[0]["source"] == 0
    assert list(arguments_for(algorithm, graphs.named()["no vertices"], "x")) == []
    assert len(list(arguments_for(algorithms.find("wcc"), graph, "path"))) == 1


def test_the_sample_repeats() -> None:
    first, second = sample_graphs(3), sample_graphs(3)
    assert [g.fingerprint for g in first.values()] == [g.fingerprint for g in second.values()]
    assert set(graphs.named()) < set(first)


# --- differences ------------------------------------------------------------------------------------------------------


def test_diff_finds_the_first_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    bfs_depth = algorithms.find("bfs_depth").program
    path = graphs.named()["path"]
    assert conformance.diff(bfs_depth, path, "reference", "reference", {"source": 0}) is None
    results = [bfs_depth.on("reference")(path, source=source) for source in (0, 3)]
    found = conformance.differences(*results)
    assert [str(d) for d in found] == [f"depth[0] is 0 and {2**31 - 1} (41 entries differ)"]
    assert (found[0].vertex, found[0].count) == (0, 41)


def test_differences_of_floats_scalars_and_shapes() -> None:
    def result(**values: Any) -> Result:
        return Result(values, {}, {"vertices": 2})

    same = result(x=np.array([1.0, np.nan]), total=3, s=np.array([1]))
    near = result(x=np.array([1.0 + 1e-9, np.nan]), total=3, s=np.array([1]))
    far = result(x=np.array([1.0, 2.0]), total=4, s=np.array([1, 2, 3]))
    assert conformance.differences(same, near) == []
    assert [str(d) for d in conformance.differences(same, far)] == [
        "x[1] is nan and 2.0",
        "total is 3 and 4",
        "s is 1 values and 3 values (2 entries differ)",
    ]
    vectors = [result(p=np.array([[0, 1], [2, 3]])), result(p=np.array([[0, 1], [2, 4]]))]
    assert [str(d) for d in conformance.differences(*vectors)] == ["p[1] is [2, 3] and [2, 4]"]
