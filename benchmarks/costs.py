"""What programs cost beside their running time: compilation, memory, what a second thread gives, and growth with the graph.

    python benchmarks/costs.py compile [ALGO]...                              in a fresh and in a filled cache, a process each
    python benchmarks/costs.py memory  [ALGO]... [--graph 'kronecker{scale=18}']   peak beside rows and properties, a process each
    python benchmarks/costs.py scaling [ALGO]... [--graph 'kronecker{scale=18}']   from one thread to all
    python benchmarks/costs.py growth  [ALGO]... [--from 16 --to 20] [--class kronecker]

Building rows has a script of its own, `csr_build.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

ALGORITHMS = ("bfs", "sssp", "pagerank", "cc_afforest", "bc", "triangles")


def prepared(name: str, text: str) -> tuple[Any, Any]:
    """An algorithm of the box, and a graph as it needs it."""
    import pantograf
    from pantograf import algorithms

    box = algorithms.find(name)
    return box, box.prepare(pantograf.load(text))


def median_seconds(ready: Any, box: Any, graph: Any, trials: int) -> float:
    """The median of trials from fixed sources, after one that is not counted."""
    from pantograf.bench.jobs import fixed_sources

    given = box.arguments(graph)
    seconds = []
    for source in fixed_sources(graph, trials + 1):
        if "source" in given:
            given["source"] = source
        started = time.perf_counter()
        ready(**given)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


def in_new_process(words: list[str], **environment: str) -> dict[str, Any]:
    """What a subcommand of this script prints in a process of its own."""
    command = [sys.executable, __file__, *words]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compile_once(options: argparse.Namespace) -> None:
    """The seconds from importing to the first result on a small graph, and those of compiling."""
    started = time.perf_counter()
    box, graph = prepared(options.algorithms[0], "kronecker{scale=10}")
    loaded = time.perf_counter()
    ready = box.program.compile(graph)
    compiled = time.perf_counter()
    ready(**box.arguments(graph))
    print(json.dumps({"compile": compiled - loaded, "all": time.perf_counter() - started}))


def compile_times(options: argparse.Namespace) -> None:
    """Cold: an empty cache of programs, Pantograf's own functions compiled before. Warm: the same again."""
    print(f"{'':16}{'cold s':>9}{'warm s':>9}   of which the whole process took{'cold s':>9}{'warm s':>9}")
    in_new_process(["compile-once", "wcc"])
    for name in options.algorithms:
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = (in_new_process(["compile-once", name], PANTOGRAF_CACHE=folder) for _ in range(2))
        print(
            f"{name:16}{cold['compile']:9.2f}{warm['compile']:9.2f}{'':34}{cold['all']:9.2f}{warm['all']:9.2f}",
            flush=True,
        )


def resident_bytes(field: str) -> int:
    """What the system says of this process: VmRSS, VmHWM."""
    with open("/proc/self/status", encoding="ascii") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith(field))


def memory_once(options: argparse.Namespace) -> None:
    """The rise of the peak over what is resident with the compiled program in place but without the graph."""
    import numpy as np

    import pantograf
    from pantograf import algorithms

    name, path = options.algorithms[0], options.graph
    box = algorithms.find(name)
    small = box.prepare(pantograf.load("kronecker{scale=10}"))
    box.program.compile(small)(**box.arguments(small))
    with np.load(path) as held:
        rows = [
            np.ascontiguousarray(held[key]) if key in held.files else None
            for key in ("offsets", "neighbors", "weights")
        ]
    before = resident_bytes("VmRSS") - sum(a.nbytes for a in rows if a is not None)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
        reset.write("5")  # the peak from here on
    graph = pantograf.Graph(*rows, symmetric=True, self_loops="drop", duplicates="drop")
    ready = box.program.compile(graph)
    given = box.arguments(graph)
    result = ready(**given)
    peak = resident_bytes("VmHWM") - before
    csr = sum(a.nbytes for a in rows if a is not None)
    properties = property_bytes(ready, graph.n)
    del result
    print(json.dumps({"peak": peak, "csr": csr, "properties": properties}))


def property_bytes(ready: Any, n: int) -> int:
    """What the program's properties hold, as it declares them."""
    needs = ready._runnable.plan.needs.values()
    import numpy as np

    return sum(n * need.width * np.dtype(need.dtype).itemsize for need in needs if need.kind == "array")


def memory(options: argparse.Namespace) -> None:
    """The peak of one run, beside the rows and the program's properties; the bar is 1.3."""
    import numpy as np

    print(f"{options.graph}, MiB\n{'':16}{'rows':>9}{'properties':>12}{'peak':>9}{'peak / (rows + properties)':>28}")
    for name in options.algorithms:
        _, graph = prepared(name, options.graph)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.npz")
            parts = {"offsets": graph.offsets, "neighbors": graph.neighbors, "weights": graph.weights}
            np.savez(path, **{key: a for key, a in parts.items() if a is not None})
            found = in_new_process(["memory-once", name, "--graph", path])
        known = found["csr"] + found["properties"]
        sizes = [found[key] / 2**20 for key in ("csr", "properties", "peak")]
        print(f"{name:16}{sizes[0]:9.1f}{sizes[1]:12.1f}{sizes[2]:9.1f}{found['peak'] / known:28.2f}", flush=True)


def scaling(options: argparse.Namespace) -> None:
    """The median with one thread over that with all, from interleaved rounds of trials."""
    from pantograf.bench.trials import ratio
    from pantograf.machines.cpu.pool import core_count

    counts = [1, *(2**k for k in range(1, 8) if 2**k <= core_count())]
    print(f"{options.graph}\n{'':16}" + "".join(f"{f'{count} threads':>12}" for count in counts) + "   1 thread / all")
    for name in options.algorithms:
        box, graph = prepared(name, options.graph)
        ready = {count: box.program.compile(graph, on=f"cpu{{threads={count}}}") for count in counts}
        times: dict[int, list[float]] = {count: [] for count in counts}
        for _ in range(options.trials):
            for count in counts:
                times[count].append(median_seconds(ready[count], box, graph, 1))
        middle, low, high = ratio(times[1], times[counts[-1]])
        shown = "".join(f"{1e3 * statistics.median(times[count]):9.2f} ms" for count in counts)
        print(f"{name:16}{shown}   {middle:.2f} ({low:.2f} to {high:.2f})", flush=True)


def growth(options: argparse.Namespace) -> None:
    """Nanoseconds for each edge, from scale to scale."""
    scales = range(getattr(options, "from"), options.to + 1)
    print(f"{options.kind}, ns an edge\n{'scale':16}" + "".join(f"{scale:>9}" for scale in scales))
    for name in options.algorithms:
        print(f"{name:16}", end="", flush=True)
        for scale in scales:
            side = round(2 ** (scale / 2))
            text = (
                f"grid{{rows={side}, columns={side}}}" if options.kind == "grid" else f"{options.kind}{{scale={scale}}}"
            )
            box, graph = prepared(name, text)
            seconds = median_seconds(box.program.compile(graph), box, graph, options.trials)
            print(f"{1e9 * seconds / graph.m:9.2f}", end="", flush=True)
        print()


def main() -> None:
    """Run a subcommand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="compile | memory | scaling | growth")
    for name, function in (
        ("compile", compile_times),
        ("memory", memory),
        ("scaling", scaling),
        ("growth", growth),
        ("compile-once", compile_once),
        ("memory-once", memory_once),
    ):
        command = commands.add_parser(name, help=function.__doc__)
        command.set_defaults(function=function)
        command.add_argument("algorithms", nargs="*", default=ALGORITHMS, metavar="ALGO")
        if name in ("memory", "memory-once", "scaling"):
            command.add_argument("--graph", "-g", default="kronecker{scale=18}", help="an undirected one")
        if name in ("scaling", "growth"):
            command.add_argument("--trials", type=int, default=15)
        if name == "growth":
            command.add_argument("--from", type=int, default=16)
            command.add_argument("--to", type=int, default=20)
            command.add_argument("--class", dest="kind", default="kronecker", choices=("kronecker", "uniform", "grid"))
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
