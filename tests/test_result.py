"""What a result knows of itself, and how it is kept."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import pantograf as pg
from pantograf import Edges, UserError, algorithms, i64, load
from pantograf.graphs import Graph

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
BOTH = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4, undirected=True)


@pytest.mark.parametrize(("machine", "threads"), [("reference", 1), ("cpu{threads=2}", 2)])
def test_a_result_knows_where_it_comes_from(machine: str, threads: int) -> None:
    program = algorithms.mis.on(machine)
    found = program(BOTH, seed=7).provenance
    assert found["program"] == "mis"
    assert found["program_hash"] == program.for_graph(BOTH).digest
    assert found["arguments"] == {"seed": 7}
    assert found["seed"] == 7
    assert found["graph_fingerprint"] == BOTH.fingerprint != PATH.fingerprint
    assert (found["vertices"], found["edges"]) == (4, 6)
    assert (found["machine"], found["threads"]) == (machine, threads)
    assert found["schedules"] == {}
    assert found["versions"]["pantograf"] == pg.__version__
    assert found["versions"]["numpy"] == np.__version__


def test_schedules_are_part_of_it_and_programs_without_a_seed_have_none() -> None:
    program = algorithms.bfs.scheduled(traverse="cpu{direction=pull}")
    found = program(PATH, source=0).provenance
    assert found["schedules"] == {"traverse": "cpu{direction=pull}"}
    assert found["chosen"] == {"traverse": ["cpu{direction=pull}"]}
    assert found["seed"] is None
    assert found["arguments"] == {"source": 0}


def test_what_the_machine_chose_is_part_of_it() -> None:
    complete = algorithms.bfs(load("complete{vertices=20}"), source=0).provenance
    assert complete["schedules"] == {}
    assert complete["chosen"] == {"traverse": ["cpu{direction=pull}", "cpu{direction=push}"]}
    assert algorithms.bfs.on("reference")(BOTH, source=0).provenance["chosen"] == {}


@pg.program
def ranks(edges: Edges):
    """An array, a set and a number."""
    degree = edges.out_degrees.copy()
    some = edges.vertices.where(lambda v: degree[v] > 0)
    total = i64(degree.sum())
    return pg.results(degree=degree, some=some, total=total)


def test_results_are_kept(tmp_path: Path) -> None:
    result = ranks(PATH)
    result.save(tmp_path / "kept.npz")
    for other in (pg.Result.load(tmp_path / "kept.npz"), pickle.loads(pickle.dumps(result))):
        assert other.degree.tolist() == [1, 1, 1, 0]
        assert other.some.tolist() == [0, 1, 2]
        assert other.total == 3
        assert other.provenance == result.provenance
        assert other.stats == result.stats


def test_a_name_that_it_has_not() -> None:
    with pytest.raises(AttributeError, match="this result has no 'rank'; it has: degree, some, total"):
        ranks(PATH).rank  # noqa: B018
    with pytest.raises(UserError, match="'total' is not a property of this result"):
        ranks(PATH).by_label("total")
