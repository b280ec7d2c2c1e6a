"""The demonstration that `make demo` runs: one program on several machines, its schedules, and a picture.

Every step is a command that you could type; it is printed before it runs.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

MACHINES = ("reference", "cpu{threads=1}", "cpu{threads=2}")
SCHEDULES = (
    "cpu{direction=push}",
    "cpu{direction=pull}",
    "hybrid{first=cpu{direction=pull}, second=cpu{direction=push}}",
)


def pantograf(*words: str) -> Any:
    """Run one command and return its JSON document."""
    print("$ pantograf", shlex.join(words), flush=True)
    done = subprocess.run([sys.executable, "-m", "pantograf", *words, "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def table(title: str, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Print rows below each other."""
    cells = [columns, *(tuple(map(str, row)) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


def machines(graph: str) -> list[dict[str, Any]]:
    """One program, one graph, every machine: the same answer."""
    answers = [pantograf("run", "bfs", "--graph", graph, "--on", m, "--source", "0", "--verify") for m in MACHINES]
    rows: list[tuple[object, ...]] = []
    for machine, answer in zip(MACHINES, answers, strict=True):
        milliseconds = f"{1e3 * answer['stats']['seconds']:.2f}"
        rows.append((machine, *answer["summary"].values(), milliseconds, "right" if answer["verified"] else "WRONG"))
    table(f"bfs on {graph}", ("machine", *answers[0]["summary"], "ms", "oracle"), rows)
    return answers


def schedules(graph: str, repeat: int) -> list[dict[str, Any]]:
    """One program, one machine, several schedules: the same answer at different speed."""
    answers = []
    for schedule in SCHEDULES:
        words = ("--source", "0", "--schedule", f"traverse={schedule}", "--repeat", str(repeat))
        answers.append(pantograf("run", "bfs", "--graph", graph, *words))
    rows: list[tuple[object, ...]] = []
    for schedule, answer in zip(SCHEDULES, answers, strict=True):
        rows.append((schedule, *answer["summary"].values(), f"{1e3 * float(np.median(answer['seconds'])):.2f}"))
    table(f"bfs on {graph}, cpu", ("schedule", *answers[0]["summary"], "median ms"), rows)
    return answers


def picture(folder: Path, side: int) -> None:
    """Distances over a road-like grid, from its middle, as an image."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    graph = f"road{{rows={side}, columns={side}, seed=1}}"
    source = str(side // 2 * side + side // 2)
    kept = folder / "distance.npz"
    pantograf("run", "sssp", "--graph", graph, "--source", source, "--save", str(kept))
    with np.load(kept) as file:
        distance = file["value:distance"].astype(np.float64)
    distance[distance == np.iinfo(np.int32).max] = np.nan
    figure, axes = pyplot.subplots(figsize=(6, 5), layout="constrained")
    image = axes.imshow(distance.reshape(side, side), cmap="viridis")
    axes.set_title(f"sssp on {graph}")
    axes.set_xticks([])
    axes.set_yticks([])
    figure.colorbar(image, label="distance from the middle")
    figure.savefig(folder / "distance.png", dpi=120)
    pyplot.close(figure)


def main() -> None:
    """Run all steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="where the picture and the results go")
    parser.add_argument("--small", action="store_true", help="graphs so small that it takes a moment")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    scale, side, repeat = (12, 64, 3) if options.small else (18, 256, 15)
    results = {
        "machines": machines("kronecker{scale=9, seed=1}"),
        "schedules": schedules(f"kronecker{{scale={scale}, seed=1}}", repeat),
    }
    picture(options.output, side)
    (options.output / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    print(f"written: {options.output / 'results.json'} and {options.output / 'distance.png'}")


if __name__ == "__main__":
    main()
