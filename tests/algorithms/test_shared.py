"""Programs on the small and real graphs of ../shared, against the values kept beside them and against the oracles."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from algorithm_cases import ALGORITHMS, MACHINES, run

import pantograf as pg
from pantograf.algorithms import find
from pantograf.graphs import Graph

FAST = [name for name in MACHINES if name != "reference"]
needs_a_fast_machine = pytest.mark.skipif(not FAST, reason="the reference machine alone is too slow for these graphs")


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    return shared / "data"


@pytest.fixture(scope="module")
def lagraph(data: Path) -> Any:
    return json.loads((data / "small" / "lagraph" / "expected.json").read_text())


@pytest.fixture(scope="module")
def expected(data: Path) -> Any:
    return json.loads((data / "expected.json").read_text())


def summary_of(name: str, graph: Graph, on: str, **given: Any) -> dict[str, Any]:
    """Prepare, run, check, and sum up."""
    algorithm = find(name)
    prepared = algorithm.prepare(graph)
    arguments = algorithm.arguments(prepared, given)
    result = run(algorithm, prepared, on, arguments)
    assert algorithm.check(prepared, arguments, result) == []
    return {**algorithm.summary(prepared, arguments, result), "result": result}


@pytest.mark.parametrize("on", MACHINES)
class TestPublishedValues:
    """What the tests of LAGraph, GAP and GraphIt expect of small graphs."""

    def small(self, data: Path, file: str, on: str) -> Graph | None:
        graph = pg.load(str(data / "small" / "lagraph" / f"{file}.gz"))
        return graph if on != "reference" or graph.m < 10_000 else None

    def test_triangles(self, data: Path, lagraph: Any, on: str) -> None:
        for file, count in lagraph["triangles"].items():
            if (graph := self.small(data, file, on)) is not None:
                assert summary_of("triangles", graph, on)["triangles"] == count, file

    @pytest.mark.parametrize("name", ["cc", "wcc", "cc_pointer_jumping", "cc_afforest"])
    def test_components(self, data: Path, lagraph: Any, on: str, name: str) -> None:
        for file, count in lagraph["weak_components"].items():
            if (graph := self.small(data, file, on)) is not None:
                assert summary_of(name, graph, on)["weak_components"] == count, file

    def test_cores(self, data: Path, lagraph: Any, on: str) -> None:
        for file, top in lagraph["max_core"].items():
            graph = pg.load(str(data / "small" / "lagraph" / f"{file}.gz"))
            assert summary_of("kcore", graph, on)["max_core"] == top, file

    def test_ranks(self, data: Path, lagraph: Any, on: str) -> None:
        for file, ranks in lagraph["pagerank_0.85"].items():
            graph = pg.load(str(data / "small" / "lagraph" / f"{file}.gz"))
            for name in ("pagerank", "pagerank_delta"):
                found = summary_of(name, graph, on, tolerance=1e-7)["result"].rank
                np.testing.assert_allclose(found, ranks, atol=1e-4)

    def test_betweenness(self, data: Path, lagraph: Any, on: str) -> None:
        for file, known in lagraph["betweenness_partial"].items():
            graph = pg.load(str(data / "small" / "lagraph" / f"{file}.gz"))
            found = summary_of("betweenness", graph, on, sources=known["sources"])["result"].centrality
            np.testing.assert_allclose(found, known["values"], rtol=1e-4, atol=1e-5)

    def test_levels(self, data: Path, lagraph: Any, on: str) -> None:
        for file, known in lagraph["bfs_levels"].items():
            graph = pg.load(str(data / "small" / "lagraph" / f"{file}.gz"))
            found = summary_of("bfs_depth", graph, on, source=known["source"])["result"].depth
            assert found.tolist() == known["levels"]

    def test_graphit_cores(self, data: Path, on: str) -> None:
        folder = data / "small" / "graphit"
        known = json.loads((folder / "expected.json").read_text())["kcore_max"]
        for file in ("rMatGraph_J_5_100.el", "rmat10.el.gz"):
            found = summary_of("kcore", pg.load(str(folder / file)), on)["max_core"]
            assert found == known[file.removesuffix(".gz")], file

    @pytest.mark.parametrize("name", ["karate", "lesmis", "jazz"])
    def test_classics(self, data: Path, name: str, on: str) -> None:
        """Every algorithm, on graphs that everybody knows."""
        graph = pg.load(str(data / "small" / "networkit" / f"{name}.graph.gz"))
        for algorithm in ALGORITHMS:
            given: dict[str, Any] = {"sources": [0, 5]} if algorithm == "betweenness" else {}
            if algorithm == "cf":
                given = {"rounds": 1}
            summary_of(algorithm, graph, on, **given)


@cache
def real(data: Path, name: str) -> Graph:
    return pg.load(str(data / f"{name}.npz"))


def test_reference_on_real_graphs(data: Path, expected: Any) -> None:
    for name in ("cora", "TG-road"):
        graph, known = real(data, name), expected[name]
        for algorithm in ("bfs", "bfs_depth"):
            found = summary_of(algorithm, graph, "reference", source=known["bfs_source_hub"])
            found.pop("result")
            assert found.items() <= known["bfs_from_hub"].items()
        assert summary_of("cc_afforest", graph, "reference")["weak_components"] == known["weak_components"]
        assert summary_of("triangles", graph, "reference")["triangles"] == known["triangles"]


@needs_a_fast_machine
@pytest.mark.parametrize("on", FAST)
@pytest.mark.parametrize("name", ["USA-road-FLA", "cnr-2000"])
@pytest.mark.parametrize("algorithm", ["bfs", "bfs_depth"])
def test_levels(data: Path, expected: Any, on: str, name: str, algorithm: str) -> None:
    graph, known = real(data, name), expected[name]
    for key, source in (("bfs_from_0", 0), ("bfs_from_hub", known["bfs_source_hub"])):
        found = summary_of(algorithm, graph, on, source=source)
        found.pop("result")
        assert found.items() <= known[key].items()


SOME = ["TG-road", "dictionary28", "soc-Slashdot0902", "memplus"]
MORE = ["USA-road-FLA", "cnr-2000", "cal-road", "gowalla-checkins", "npm-dependencies-2016", "email-EuAll-und", "wing"]


@needs_a_fast_machine
@pytest.mark.parametrize("on", FAST)
@pytest.mark.parametrize("name", [*SOME, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)])
class TestRealGraphs:
    """What SciPy gave for real graphs, and what the oracles say."""

    @pytest.mark.parametrize("algorithm", ["cc", "wcc", "cc_pointer_jumping", "cc_afforest"])
    def test_components(self, data: Path, expected: Any, on: str, name: str, algorithm: str) -> None:
        found = summary_of(algorithm, real(data, name), on)
        assert found["weak_components"] == expected[name]["weak_components"]

    def test_ranks(self, data: Path, expected: Any, on: str, name: str) -> None:
        known = expected[name]["pagerank_0.85"]
        found = summary_of("pagerank", real(data, name), on, tolerance=0.0, rounds=100)
        assert found["sum"] == pytest.approx(1, rel=1e-9)
        assert found["sum_of_squares"] == pytest.approx(known["sum_of_squares"], rel=1e-7)
        assert found["top_rank"] == pytest.approx(known["top5"][0][1], rel=1e-6)

    def test_ranks_by_residuals(self, data: Path, on: str, name: str) -> None:
        summary_of("pagerank_delta", real(data, name), on)

    def test_counts(self, data: Path, expected: Any, on: str, name: str) -> None:
        graph = real(data, name)
        summary_of("kcore", graph, on)
        if "triangles" in expected[name]:
            assert summary_of("triangles", graph, on)["triangles"] == expected[name]["triangles"]

    def test_distances(self, data: Path, expected: Any, on: str, name: str) -> None:
        graph, known = real(data, name), expected[name]
        if name == "memplus":  # it has negative entries
            graph = graph.with_weights("random{low=1, high=255, seed=1}")
        hub = known["bfs_source_hub"]
        exact = graph if graph.weights is None else graph.with_weights("converted{type=f64}")
        for algorithm in ("sssp", "bellman_ford"):
            found = summary_of(algorithm, exact, on, source=hub)
            if "sssp_from_hub_float64" in known:
                found.pop("result")
                wanted = {key: known["sssp_from_hub_float64"][key] for key in found}
                assert found == pytest.approx(wanted, rel=1e-9)

    def test_one_distance(self, data: Path, on: str, name: str) -> None:
        graph = real(data, name)
        if name == "memplus":
            graph = graph.with_weights("unit")
        summary_of("ppsp", graph, on, source=graph.n // 3, target=graph.n // 2)

    @pytest.mark.parametrize("algorithm", ["bc", "mis", "coloring", "spmv"])
    def test_others(self, data: Path, on: str, name: str, algorithm: str) -> None:
        summary_of(algorithm, real(data, name), on)


@needs_a_fast_machine
@pytest.mark.parametrize("on", FAST)
def test_ratings(data: Path, on: str) -> None:
    graph = real(data, "gowalla-checkins")
    before = summary_of("cf", graph, on, rounds=1)["rmse"]
    assert summary_of("cf", graph, on, rounds=5)["rmse"] < before
