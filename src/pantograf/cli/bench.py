"""`pantograf bench`: programs and other libraries on the same graphs, by GAP's rules; ratios, and what the machine allows."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pantograf.cli.options import (
    DEFAULT_MACHINE,
    Json,
    complete_algorithm,
    complete_graph,
    complete_machine,
    find_program,
)
from pantograf.cli.output import Output, note
from pantograf.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pantograf.bench.trials import Contestant
    from pantograf.graphs import Graph
    from pantograf.machine import Executable

ALGORITHMS = ("bfs", "sssp", "pagerank_in_place", "cc_afforest", "bc", "triangles")
SUITES = {
    "small": ("kronecker{scale=14}", "uniform{scale=14}", "grid{rows=128, columns=128}"),
    "gap": (
        *(f"kronecker{{scale={scale}}}" for scale in (18, 19, 20)),
        *(f"uniform{{scale={scale}}}" for scale in (18, 20)),
        *(f"grid{{rows={side}, columns={side}}}" for side in (512, 1024)),
    ),
}
SECONDS_PER_CELL = 10.0
MOST_SOURCES = 64
LENGTHS = "random{low=1, high=255, seed=1}"


def bench(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ALGO]...", help="GAP's six by default.", autocompletion=complete_algorithm),
    ] = None,
    graph: Annotated[
        list[str] | None,
        typer.Option("--graph", "-g", metavar="G", help="May be repeated.", autocompletion=complete_graph),
    ] = None,
    suite: Annotated[
        Literal["small", "gap", "real"] | None,
        typer.Option("--suite", help="A set of graphs; small by default, real takes the files of --data."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FOLDER", help="The graphs (*.npz) of --suite real.")
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on", "-m", metavar="M", help="May be repeated; cpu by default.", autocompletion=complete_machine
        ),
    ] = None,
    peers: Annotated[
        str | None,
        typer.Option(
            "--peers", metavar="P", help="Other libraries, 'networkit,igraph', or none; by default those installed."
        ),
    ] = None,
    sources: Annotated[
        int, typer.Option(min=1, max=MOST_SOURCES, metavar="N", help="Fixed sources, taken in turn by the trials.")
    ] = 16,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Trials of each cell, interleaved.")] = 15,
    seconds: Annotated[
        float, typer.Option(min=0, metavar="S", help="No more trials of what has taken as long.")
    ] = SECONDS_PER_CELL,
    limits: Annotated[
        bool, typer.Option("--limits", help="Measure what the machine's memory allows, and the part that is reached.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure programs beside other libraries: interleaved trials from fixed sources, every answer verified."""
    import pantograf
    from pantograf.bench import peers as others

    chosen = others.chosen(peers)
    with Output(json) as out:
        rows: list[dict[str, Any]] = []
        for text in graphs(graph, suite, data):
            with out.working(f"loading {text}"):
                loaded = pantograf.load(text)
            made: dict[Any, Any] = {}
            for name in algorithms or ALGORITHMS:
                cell = Cell(name, text, loaded, on or [DEFAULT_MACHINE], chosen, sources, made, out)
                with out.working(f"measuring {name} on {text}"):
                    cell.measure(trials, seconds)
                    rows += cell.rows(limits)
        if json:
            out.document({"computer": computer(), "cells": rows})
            return
        show(rows, chosen, limits, out)


def graphs(given: list[str] | None, suite: str | None, data: Path | None) -> list[str]:
    """The graphs to measure on."""
    if suite != "real":
        return [*(given or ()), *(SUITES[suite] if suite else () if given else SUITES["small"])]
    if data is None or not data.is_dir():
        raise UserError("--suite real needs a folder of graphs", hint="--data FOLDER")
    import numpy as np

    found = []
    for path in sorted(data.glob("*.npz")):
        with np.load(path, allow_pickle=False) as held:  # others hold coordinates or features
            if {"row", "col"} <= set(held.files):
                found.append(str(path))
    if not found:
        raise UserError(f"there is no graph in {data}", hint="the graphs are files *.npz with `row` and `col`")
    return [*(given or ()), *found]


def by_the_rules(graph: Graph) -> Graph:
    """The graph, with lengths of 1 to 255 where it has others."""
    weights = graph.weights
    if weights is None or not graph.m:
        return graph
    if weights.dtype.kind in "iu" and weights.min() >= 1 and weights.max() <= 255:
        return graph
    note(f"note: {graph.name} gets weights of 1 to 255, as GAP's rules say")
    return graph.with_weights(LENGTHS)


class Cell:
    """One algorithm on one graph, and all that run it: programs compiled for each machine, and peers."""

    def __init__(
        self,
        name: str,
        text: str,
        graph: Graph,
        machines: list[str],
        chosen: list[str],
        sources: int,
        made: dict[Any, Any],
        out: Output,
    ) -> None:
        from pantograf.bench import jobs, trials

        program, box = find_program(name)
        self.name, self.text = name, text
        self.job = jobs.job_of(name) if box is not None else None
        self.given: dict[str, Any] = {}
        if box is not None:
            if self.job is not None and self.job.name == "sssp":
                graph = by_the_rules(graph)
            for change in box.changes(graph):
                note(f"note: {name} needs it: {change}")
            graph = box.prepare(graph)
            self.given = box.arguments(graph)
        self.graph = graph
        self.oracle = trials.Oracle(self.job, graph, box, self.given)
        self.choices = jobs.choices(graph, sources, self.job.sources if self.job else int("source" in self.given))
        self.ready: dict[str, Executable] = {}
        for machine in machines:
            with out.working(f"compiling {name} for {machine}"):
                self.ready[machine] = program.compile(graph, on=machine)
        self.threads = max(int(getattr(ready.machine, "thread_count", 1)) for ready in self.ready.values())
        self.programs = [trials.of_program(on, ready, graph, self.job, self.given) for on, ready in self.ready.items()]
        with out.working(f"building {text} for {', '.join(chosen) or 'no peers'}"):
            self.peers = [trials.of_peer(peer, graph, self.job, self.threads, made) for peer in chosen]

    def measure(self, trials: int, seconds: float) -> None:
        """Let all of them run."""
        from pantograf.bench.trials import measure

        measure([*self.programs, *self.peers], self.oracle, self.choices, trials, seconds)

    def rows(self, limits: bool) -> Iterator[dict[str, Any]]:
        """What is known of each program: its own statistics, those of peers beside it, and of a round of PageRank its limit."""
        for program in self.programs:
            ready = self.ready[program.name]
            found = {
                "algorithm": self.name,
                "graph": self.text,
                "machine": program.name,
                "vertices": self.graph.n,
                "edges": self.graph.m,
                "sources_per_trial": len(self.choices[0]),
                "compile_seconds": ready.compile_seconds,
                **seconds_of(program),
            }
            if "seconds" in found:
                found["edges_per_second"] = self.graph.m * max(len(self.choices[0]), 1) / found["seconds"]
            found["peers"] = {peer.name: beside(peer, program) for peer in self.peers}
            if limits and self.job is not None and self.job.name == "pagerank" and "seconds" in found:
                found["round"] = round_beside_limit(ready, self.graph, self.given, self.threads)
            yield found


def seconds_of(one: Contestant) -> dict[str, Any]:
    """The statistics of one contestant."""
    from pantograf.bench.trials import interval

    found: dict[str, Any] = {"status": one.status, "threads": one.threads, "trials": len(one.seconds)}
    if one.seconds and one.runs:
        low, high = interval(one.seconds)
        found |= {"seconds": statistics.median(one.seconds), "seconds_low": low, "seconds_high": high}
    return found


def beside(peer: Contestant, program: Contestant) -> dict[str, Any]:
    """The statistics of a peer, and the ratio of its time to a program's."""
    from pantograf.bench.trials import ratio

    found = {**seconds_of(peer), "version": peer.version}
    if "seconds" in found and program.seconds and program.runs:
        found |= zip(("ratio", "ratio_low", "ratio_high"), ratio(peer.seconds, program.seconds), strict=True)
    return found


def round_beside_limit(ready: Executable, graph: Graph, given: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """The time of a round, and the least that the machine's memory allows."""
    from pantograf.bench import limits

    value_bytes = ready(**given).rank.dtype.itemsize
    measured = limits.measure(graph.n, value_bytes, threads)
    seconds, rounds = limits.round_of(ready, dict(given))
    limit = measured.round_seconds(graph, value_bytes)
    return {
        "rounds": rounds,
        "seconds": seconds,
        "limit_seconds": limit,
        "reached": limit / seconds,
        **measured._asdict(),
    }


def computer() -> dict[str, Any]:
    """Where it was measured."""
    import os
    import platform

    from pantograf import __version__

    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": name, "cores": cores, "python": platform.python_version(), "pantograf": __version__}


def show(rows: list[dict[str, Any]], chosen: list[str], limits: bool, out: Output) -> None:
    """The table, and below it what does not fit into cells."""
    about = computer()
    out.text(f"{about['processor']}, {about['cores']} cores, Python {about['python']}, Pantograf {about['pantograf']}")
    columns = ("algorithm", "graph", "machine", "edges", "trials", "median ms", "95 % interval", "M edges/s")
    out.table("seconds", columns, [shown(row) for row in rows])
    if chosen:
        titles = ("algorithm", "graph", *(title(name, rows) for name in chosen))
        out.table("time of peers / ours", titles, [compared(row, chosen) for row in rows])
    for row in rows:
        for name, each in (("", row), *row["peers"].items()):
            if ":" in each["status"]:
                out.text(f"{row['algorithm']} on {row['graph']}, {name or row['machine']}: {each['status']}")
    if limits:
        heads = (
            "graph",
            "machine",
            "rounds",
            "ms a round",
            "limit ms",
            "reached",
            "read GB/s",
            "gathers M/s",
            "ahead M/s",
        )
        out.table(
            "a round of PageRank, and what memory allows", heads, [limited(row) for row in rows if "round" in row]
        )


def title(name: str, rows: list[dict[str, Any]]) -> str:
    """A peer, and its threads where they are fewer."""
    threads = {row["peers"][name]["threads"] for row in rows if "seconds" in row["peers"][name]}
    return f"{name} ({', '.join(map(str, sorted(threads)))})" if threads else name


def shown(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The cells of a program's row."""
    head = (row["algorithm"], row["graph"], row["machine"], f"{row['edges']:,}", row["trials"])
    if "seconds" not in row:
        return (*head, row["status"].partition(":")[0], "", "")
    return (
        *head,
        f"{1e3 * row['seconds']:.2f}",
        f"{1e3 * row['seconds_low']:.2f} to {1e3 * row['seconds_high']:.2f}",
        f"{row['edges_per_second'] / 1e6:.1f}",
    )


def compared(row: Mapping[str, Any], chosen: list[str]) -> tuple[str, ...]:
    """The ratios of a row, or why there is none; nothing where a peer has nothing comparable."""
    cells = []
    for name in chosen:
        peer = row["peers"][name]
        if "ratio" in peer:
            cells.append(f"{peer['ratio']:.3g} ({peer['ratio_low']:.3g} to {peer['ratio_high']:.3g})")
        else:
            cells.append("" if peer["status"] in ("lacking", "ok") else peer["status"].partition(":")[0])
    return (row["algorithm"], row["graph"], *cells)


def limited(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A round and its limit."""
    found = row["round"]
    return (
        row["graph"],
        row["machine"],
        found["rounds"],
        f"{1e3 * found['seconds']:.2f}",
        f"{1e3 * found['limit_seconds']:.2f}",
        f"{100 * found['reached']:.0f} %",
        f"{found['stream_bytes_per_second'] / 1e9:.1f}",
        f"{found['gathers_per_second'] / 1e6:.0f}",
        f"{found['gathers_ahead_per_second'] / 1e6:.0f}",
    )
