"""Every program on every machine gives what its oracle says, on small graphs of all shapes."""

from __future__ import annotations

import numpy as np
import pytest
from algorithm_cases import ALGORITHMS, MACHINES, SMALL, argument_sets, edges_of, run

from pantograf import UserError
from pantograf.algorithms import find
from pantograf.graphs import Graph


@pytest.mark.parametrize("on", MACHINES)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_right_on_small_graphs(name: str, on: str) -> None:
    algorithm = find(name)
    wrong = []
    for title, graph in SMALL.items():
        prepared = algorithm.prepare(graph)
        for arguments in argument_sets(algorithm, prepared):
            result = run(algorithm, prepared, on, arguments)
            shown = {key: value for key, value in arguments.items() if key != "x"}
            wrong += [f"{title} {shown}: {what}" for what in algorithm.check(prepared, arguments, result)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("on", MACHINES)
def test_many_colors(on: str) -> None:
    """More than fit the word in which a vertex collects its neighbours' colours."""
    algorithm = find("coloring")
    graph = edges_of(70, *[(i, j) for i in range(70) for j in range(i)], undirected=True)
    result = run(algorithm, graph, on, {})
    assert algorithm.check(graph, {}, result) == []
    assert algorithm.summary(graph, {}, result) == {"colors": 70}


@pytest.mark.parametrize("on", MACHINES)
def test_negative_lengths(on: str) -> None:
    algorithm = find("bellman_ford")
    lengths = np.array([4, 3, -2, -1, -9], np.int32)
    graph = Graph.from_edges([0, 0, 1, 2, 4], [1, 2, 3, 1, 3], lengths, n=5)
    result = run(algorithm, graph, on, {"source": 0})
    assert result.distance.tolist() == [0, 2, 3, 0, 2**31 - 1]
    assert algorithm.check(graph, {"source": 0}, result) == []


@pytest.mark.parametrize("on", MACHINES)
def test_a_target_that_is_near_ends_the_search(on: str) -> None:
    """On a long path the nearest target is found without walking to its end."""
    algorithm = find("ppsp")
    graph = edges_of(2000, *[(i, i + 1) for i in range(1999)]).with_weights("unit")
    arguments = {"source": 0, "target": 3, "delta": 1}
    near = run(algorithm, graph, on, arguments)
    assert near.length == 3
    far = run(algorithm, graph, on, {**arguments, "target": 1999})
    assert far.length == 1999
    rounds = [key for key in near.stats if "round" in key]
    assert rounds, f"no count of rounds among {list(near.stats)}"
    assert near.stats[rounds[0]] < 10 < 1000 < far.stats[rounds[0]]


@pytest.mark.parametrize("on", MACHINES)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_vertices(name: str, on: str) -> None:
    algorithm = find(name)
    graph = algorithm.prepare(edges_of(0))
    arguments = algorithm.arguments(graph)
    if "source" in arguments:
        with pytest.raises(UserError, match="there is no vertex 0; n is 0"):
            run(algorithm, graph, on, arguments)
        return
    result = run(algorithm, graph, on, arguments)
    assert algorithm.check(graph, arguments, result) == []
    assert algorithm.summary(graph, arguments, result) is not None


@pytest.mark.parametrize("name", ALGORITHMS)
def test_labels_are_the_file_s(name: str) -> None:
    """Each program can be read, has a label per apply, and says what it is."""
    program = find(name).program
    assert program.labels(), "a program without an apply computes nothing"
    assert program.name == name
    assert program.__doc__ and program.__doc__.endswith(".")
