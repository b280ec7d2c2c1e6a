"""The default schedule beside the best that a search finds, for algorithms of the box on classes of graphs.

Run it on a quiet machine: `python benchmarks/tuned.py --scale 18 --graph road.npz`. A search that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time

import pantograf as pg
from pantograf import algorithms

ALGORITHMS = ("bfs", "sssp", "pagerank", "cc_afforest", "bc", "triangles", "cc", "kcore")
BAR = 1.2
"""What the default may take over the best: held where the interval's lower end is at most this."""


def main() -> None:
    """Print one line per algorithm and graph."""
    parser = argparse.ArgumentParser(description="The default schedule beside the best that a search finds.")
    parser.add_argument("algorithms", nargs="*", default=ALGORITHMS, help="GAP's six and two more by default")
    parser.add_argument("--scale", type=int, default=16, help="2**scale vertices, about, in generated graphs")
    parser.add_argument("--graph", action="append", default=[], help="a file, data set or generator; may be repeated")
    parser.add_argument("--only", action="store_true", help="these graphs only, no generated ones")
    parser.add_argument("--on", default="cpu", help="the machine")
    parser.add_argument("--cells", type=int, default=30, help="at most so many in each search")
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--fresh", action="store_true", help="measure again what an earlier search has measured")
    options = parser.parse_args()
    side = round(2 ** (options.scale / 2))
    classes = (
        f"kronecker{{scale={options.scale}}}",
        f"uniform{{scale={options.scale}}}",
        f"grid{{rows={side}, columns={side}}}",
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{platform.processor() or platform.machine()}, {cores} threads, Python {platform.python_version()}")
    print(
        f"{'algorithm':12} {'graph':28} default ms    best ms  ratio (95 % interval)  cells  compiled  seconds  best schedule"
    )
    over = []
    for text in [*(() if options.only else classes), *options.graph]:
        loaded = pg.load(text)
        for name in options.algorithms:
            box = algorithms.find(name)
            started = time.perf_counter()
            graph = box.prepare(loaded)
            found = pg.tune(
                box.program, graph, options.on, cells=options.cells, trials=options.trials, fresh=options.fresh
            )
            assert found.ratio is not None
            print(
                f"{name:12} {graph.name:28} {1e3 * found.default.mean_seconds:10.3f} {1e3 * found.best.mean_seconds:10.3f}  "
                f"{found.ratio!s:21}  {len(found.cells):5}  {found.compilations:8}  {time.perf_counter() - started:7.0f}  "
                f"{found.best.cell}",
                flush=True,
            )
            over += [f"{name} on {graph.name}"] if found.ratio.low > BAR else []
            if found.wrong:
                sys.exit(f"{name} on {graph.name}: a wrong answer under {found.wrong[0].cell}: {found.wrong[0].detail}")
    print(f"over {BAR}: {', '.join(over) or 'none'}")


if __name__ == "__main__":
    main()
