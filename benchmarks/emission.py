"""Programs from the language beside hand-written kernels of the same design, in `kernels/`: is the emitted code as fast?

    python benchmarks/emission.py [bfs sssp pagerank cc_afforest bc triangles] [--graph 'kronecker{scale=18}']... [--trials 15]

Both run on as many threads, from the same sources, in interleaved trials; both return new arrays and keep their other memory;
forms of the graph (narrow offsets and weights, rows relabelled by degree) are made before. The program runs under its default
schedule, or under what `--schedule LABEL=SPEC` says, and each answer is verified. The ratio is that of the medians, program over
kernel, with a bootstrap interval that holds it with 95 %: above 1 the kernel is faster, and the bar is 1.1.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pantograf as pg
from pantograf import algorithms
from pantograf.algorithms import Algorithm
from pantograf.bench.jobs import fixed_sources
from pantograf.bench.trials import ratio
from pantograf.machine import find as find_machine

NAMES = ("bfs", "sssp", "pagerank", "cc_afforest", "bc", "triangles")
GRAPHS = ("kronecker{scale=16}", "uniform{scale=16}", "grid{rows=256, columns=256}")
SET = 16  # sources, where a program takes several


def compare(box: Algorithm, text: str, options: argparse.Namespace) -> None:
    """Measure one program on one graph, and print."""
    name = box.name
    graph = box.prepare(pg.load(text))
    program = (
        box.program.scheduled(dict(s.split("=", 1) for s in options.schedule)) if options.schedule else box.program
    )
    machine = find_machine("cpu" if options.threads is None else f"cpu{{threads={options.threads}}}")
    threads = machine.thread_count
    ready = program.compile(graph, on=machine)
    kernel = importlib.import_module(f"kernels.{name}").Kernel(graph, threads)
    calls, sources = [], fixed_sources(graph, SET * options.trials)
    for trial in range(options.trials):
        starts = {"source": sources[trial], "sources": sorted(set(sources[SET * trial : SET * (trial + 1)]))}
        calls.append({key: starts.get(key, value) for key, value in box.arguments(graph).items()})
    for given in calls[:2]:
        values = ready(**given).values
        for found in (values, dict.fromkeys(values, kernel(**given))):
            if wrong := box.check(graph, given, SimpleNamespace(**found)):  # type: ignore[arg-type]
                raise SystemExit(f"{name} on {text}: {wrong[0]}")
    ours: list[float] = []
    theirs: list[float] = []
    for trial, given in enumerate(calls):
        sides: list[tuple[list[float], Any]] = [(ours, ready), (theirs, kernel)]
        for seconds, side in sides if trial % 2 else reversed(sides):
            started = time.perf_counter()
            kept = side(**given)
            seconds.append(time.perf_counter() - started)
            del kept
    middle, low, high = ratio(ours, theirs)
    print(
        f"{name:12} {text:32} program {1e3 * statistics.median(ours):9.3f} ms   kernel {1e3 * statistics.median(theirs):9.3f} ms"
        f"   ratio {middle:5.2f} ({low:.2f} to {high:.2f}){'' if low <= 1.1 else '   above the bar'}",
        flush=True,
    )


def main(text: str | None, boxes: Mapping[str, Algorithm]) -> None:
    """Print one line for each program and graph."""
    names = ", ".join(boxes)
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(boxes), metavar="PROGRAM", help=names)
    parser.add_argument("--graph", "-g", action="append", help="an undirected one; may be repeated")
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--schedule", "-s", action="append", default=[], metavar="LABEL=SPEC")
    options = parser.parse_args()
    if unknown := set(options.programs) - set(boxes):
        parser.error(f"there is no kernel for {', '.join(sorted(unknown))}; there are: {names}")
    for graph in options.graph or GRAPHS:
        for name in options.programs:
            compare(boxes[name], graph, options)


if __name__ == "__main__":
    main(__doc__, {name: algorithms.find(name) for name in NAMES})
