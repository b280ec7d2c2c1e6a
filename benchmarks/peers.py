"""Programs on the machine `cpu` beside SciPy: the same graphs and sources, interleaved trials, answers compared.

Run it on a quiet machine: `python benchmarks/peers.py --scale 18 --trials 15`. A ratio above 1 means that Pantograf is faster.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.csgraph as csgraph

import pantograf as pg
from pantograf import algorithms

DRAWS = 1000


def measured(run: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of one call, and what it gave."""
    start = time.perf_counter()
    value = run()
    return time.perf_counter() - start, value


def ratio(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    """The ratio of medians, theirs over ours, with a bootstrap interval that holds it with 95 %."""
    drawn = random.Random(1)
    ratios = sorted(
        statistics.median(drawn.choices(theirs, k=len(theirs))) / statistics.median(drawn.choices(ours, k=len(ours)))
        for _ in range(DRAWS)
    )
    return statistics.median(theirs) / statistics.median(ours), ratios[25], ratios[974]


def same_partition(a: Any, b: Any) -> bool:
    """Whether two labellings put the same vertices together."""
    _, first = np.unique(a, return_inverse=True)
    pairs = np.unique(np.stack([first, np.unique(b, return_inverse=True)[1]]), axis=1).shape[1]
    return bool(pairs == first.max() + 1 == len(np.unique(b)))


def cells(
    graph: pg.Graph, source: int
) -> dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[Any, Any], bool]]]:
    """For each algorithm: our run, SciPy's, and whether both gave the same."""
    weighted = graph.with_weights("random{low=1, high=255, seed=1}")
    plain, lengths = graph.to_scipy(), weighted.to_scipy()
    depth = algorithms.bfs_depth.compile(graph)
    distance = algorithms.sssp.compile(weighted)
    suited = algorithms.find("sssp").arguments(weighted, {"source": source})
    component = algorithms.cc.compile(graph)

    def scipy_depth() -> Any:
        order, before = csgraph.breadth_first_order(plain, source)
        return order, before

    def same_reach(ours: Any, theirs: Any) -> bool:
        return int((ours.depth < np.iinfo(ours.depth.dtype).max).sum()) == len(theirs[0])

    def same_distance(ours: Any, theirs: Any) -> bool:
        reached = np.isfinite(theirs)
        return bool(np.array_equal(ours.distance[reached], theirs[reached]))

    return {
        "bfs_depth": (lambda: depth(source=source), scipy_depth, same_reach),
        "sssp": (
            lambda: distance(**suited),
            lambda: csgraph.dijkstra(lengths, indices=source),
            same_distance,
        ),
        "cc": (
            lambda: component(),
            lambda: csgraph.connected_components(plain, directed=False)[1],
            lambda ours, theirs: same_partition(next(iter(ours.values.values())), theirs),
        ),
    }


def main() -> None:
    """Print one line per algorithm and graph."""
    parser = argparse.ArgumentParser(description="Programs on the machine cpu beside SciPy.")
    parser.add_argument("--scale", type=int, default=16, help="2**scale vertices, about")
    parser.add_argument("--trials", type=int, default=15)
    options = parser.parse_args()
    side = round(2 ** (options.scale / 2))
    print(
        f"{platform.processor() or platform.machine()}, {len(os.sched_getaffinity(0))} threads, Python {platform.python_version()}"
    )
    for text in (
        f"kronecker{{scale={options.scale}}}",
        f"uniform{{scale={options.scale}}}",
        f"grid{{rows={side}, columns={side}}}",
    ):
        graph = pg.load(text)
        source = int(np.argmax(graph.out_degrees))
        for name, (ours, theirs, same) in cells(graph, source).items():
            if not same(ours(), theirs()):
                raise SystemExit(f"{name} on {text}: the answers differ")
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(options.trials):
                times[0].append(measured(ours)[0])
                times[1].append(measured(theirs)[0])
            middle, low, high = ratio(*times)
            medians = [1e3 * statistics.median(t) for t in times]
            print(
                f"{name:10} {text:32} pantograf {medians[0]:9.2f} ms   SciPy {medians[1]:9.2f} ms   "
                f"ratio {middle:6.2f} ({low:.2f} to {high:.2f})"
            )


if __name__ == "__main__":
    main()
