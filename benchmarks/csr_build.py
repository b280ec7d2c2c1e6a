"""Compressed rows from random edges: time and peak memory beside SciPy's coo-to-csr with sorted indices.

    python benchmarks/csr_build.py [--edges 16777216] [--vertices 1048576] [--trials 15] [--weights]

Trials are interleaved; the ratio is that of the medians, with a bootstrap 95 % interval. Memory is the rise of the peak
resident size over the size with the edge arrays in place, each contender in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from pantograf import Graph
from pantograf.bench.trials import ratio
from pantograf.graphs import build as module

Arrays = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any] | None]


def edges(n: int, m: int, weighted: bool) -> Arrays:
    """Random edges, the same each time."""
    random = np.random.default_rng(1)
    src, dst = random.integers(0, n, m, np.int32), random.integers(0, n, m, np.int32)
    return src, dst, random.integers(1, 256, m, np.int32) if weighted else None


def with_pantograf(arrays: Arrays, n: int) -> object:
    """Rows by `Graph.from_edges`, parallel edges kept."""
    return Graph.from_edges(*arrays, n)


def with_scipy(arrays: Arrays, n: int) -> object:
    """Rows by SciPy, parallel edges summed, which is what its conversion always does; bytes where there are no weights."""
    src, dst, weights = arrays
    data = np.ones(src.size, np.int8) if weights is None else weights
    matrix = scipy.sparse.coo_array((data, (src, dst)), shape=(n, n)).tocsr()
    matrix.sort_indices()
    return matrix


CONTENDERS: dict[str, Callable[[Arrays, int], object]] = {"pantograf": with_pantograf, "scipy": with_scipy}


def peak_bytes(name: str, n: int, m: int, weighted: bool) -> int:
    """The rise of the peak resident size during one build, in a process that has built a small graph before."""
    arrays = edges(n, m, weighted)
    module.COMPILED_FROM_EDGES = 0  # so that the small graph brings in Numba and the compiled code
    CONTENDERS[name](edges(1 << 16, 1 << 19, weighted), 1 << 16)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open("/proc/self/status", encoding="ascii") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    CONTENDERS[name](arrays, n)
    return 1024 * (max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before) - resident)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=1 << 24)
    parser.add_argument("--vertices", type=int, default=1 << 20)
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--weights", action="store_true")
    options = parser.parse_args()
    n, m = options.vertices, options.edges
    arrays = edges(n, m, options.weights)
    for build in CONTENDERS.values():
        build(arrays, n)
    seconds: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for _ in range(options.trials):
        for name, build in CONTENDERS.items():
            begin = time.perf_counter()
            build(arrays, n)
            seconds[name].append(time.perf_counter() - begin)
    del arrays
    print(f"{m:,} random edges over {n:,} vertices, weights: {'int32' if options.weights else 'none'}")
    context = multiprocessing.get_context("spawn")
    for name in CONTENDERS:
        with context.Pool(1) as pool:
            peak = pool.apply(peak_bytes, (name, n, m, options.weights))
        median = statistics.median(seconds[name])
        print(f"{name:10} {1000 * median:7.0f} ms   {m / median / 1e6:6.1f} M edges/s   peak {peak / 2**20:6.0f} MiB")
    middle, low, high = ratio(seconds["pantograf"], seconds["scipy"])
    print(f"time, pantograf / scipy: {middle:.2f} [{low:.2f}, {high:.2f}]")


if __name__ == "__main__":
    main()
