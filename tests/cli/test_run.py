"""`pantograf run`, `compile`, `explain`, `diff`, `doctor`, `cache`, `bench`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pantograf

GRID = "grid{rows=4, columns=5}"
WIDEST = """
import pantograf as pg
from pantograf import Edges, Vertex, i32, inf

print("loading the file")


@pg.program
def widest(edges: Edges[i32], source: Vertex, least: i32 = 0):
    width = edges.vertices.property(i32, least)

    def widen(src, dst, weight):
        width[dst] = max(width[dst], min(width[src], weight))

    width[source] = inf
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).apply(widen, modified=width)
    return width


@pg.program
def count(edges: Edges):
    total = 0
    degree = edges.out_degrees

    def look(v):
        nonlocal total
        total += degree[v]

    edges.vertices.apply(look)
    return total
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "own.py").write_text(WIDEST)
    return "own.py"


def test_summary_of_an_algorithm_in_the_box(here) -> None:
    said = here("run", "bfs", "--graph", GRID, "--on", "reference", "--source", "0", "--verify")
    assert (said.code, said.err) == (0, "")
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines[0] == "bfs on reference, grid{rows=4, columns=5} (20 vertices, 62 edges)"
    assert "reached 20" in lines
    assert "depth 7" in lines
    assert f"verified: {pantograf.algorithms.find('bfs').relation}" in lines
    assert "statistics" in lines
    assert "provenance" in lines


@pytest.mark.parametrize("machine", ["reference", "cpu{threads=2}", "cpu:threads=2"])
def test_json_is_one_document(here, machine: str) -> None:
    document = here("run", "bfs", "--graph", GRID, "--on", machine, "--source", "0", "--verify", "--json").document
    assert document["verified"] is True
    assert document["summary"]["reached"] == 20
    assert document["stats"]["seconds"] >= 0
    assert document["provenance"]["program"] == "bfs"
    assert document["provenance"]["machine"] == machine.replace("cpu:threads=2", "cpu{threads=2}")
    assert document["provenance"]["arguments"] == {"source": 0}


def test_json_stays_clean_when_a_program_s_file_prints(here, file: str) -> None:
    said = here("run", f"{file}:count", "--graph", GRID, "--on", "reference", "--json")
    assert said.document["summary"] == {"total": 62}
    assert "loading the file" in said.err


def test_prints_of_a_program_go_to_stderr_with_json(new_process, tmp_path: Path) -> None:
    (tmp_path / "talk.py").write_text(
        "import pantograf as pg\nfrom pantograf import Edges\n\n@pg.program\n"
        "def talk(edges: Edges):\n    n = edges.vertices.size\n    print(n)\n    return n\n"
    )
    for machine in ("reference", "cpu"):
        said = new_process("run", "talk.py", "--graph", "path{vertices=3}", "--on", machine, "--json")
        assert said.document["values"] == {"n": 3}
        assert "3" in said.err.split()


def test_a_program_in_a_file(here, file: str) -> None:
    words = (
        "run",
        f"{file}:widest",
        "--graph",
        GRID,
        "--weights",
        "random{low=1, high=9, seed=1}",
        "--on",
        "reference",
    )
    values = here(*words, "--source", "3", "--least", "2", "--json").document
    assert values["provenance"]["arguments"] == {"source": 3, "least": 2}
    assert here(*words, "--arg", "source=3", "--arg", "least=2", "--json").document["summary"] == values["summary"]
    assert here(*words, "--source=3", "--least=2", "--json").document["summary"] == values["summary"]


def test_a_file_with_several_programs_wants_a_name(here, file: str) -> None:
    said = here("run", file, "--graph", GRID)
    assert said.code == 1
    assert "hint: write own.py:NAME, NAME one of: widest, count" in said.err


def test_graphir_can_be_printed_edited_and_run(here, tmp_path: Path) -> None:
    assert here("compile", "bfs_depth", "--stage", "ir", "-o", "depth.gir").code == 0
    words = ("--graph", "path{vertices=5}", "--on", "reference", "--source", "0", "--json")
    assert here("run", "depth.gir", *words).document["summary"]["depth"] == "5 values from 0 to 4, sum 10"
    assert [path.name for path in tmp_path.iterdir()] == ["depth.gir"]


def test_saved_values(here, tmp_path: Path) -> None:
    words = ("run", "bfs_depth", "--graph", "path{vertices=5}", "--on", "reference", "--source", "0")
    assert here(*words, "--save", "out.npz").code == 0
    from pantograf import Result

    assert Result.load(tmp_path / "out.npz").depth.tolist() == [0, 1, 2, 3, 4]
    said = here(*words, "--save", "nowhere/out.npz")
    assert said.code == 1
    assert said.err == "cannot write nowhere/out.npz: No such file or directory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_repeat(here) -> None:
    words = ("run", "bfs", "--graph", GRID, "--on", "reference", "--source", "0", "--repeat", "3")
    assert len(here(*words, "--json").document["seconds"]) == 3
    assert "median" in here(*words).out


def test_limits(here) -> None:
    words = ("run", "bfs_depth", "--graph", "path{vertices=50}", "--on", "reference", "--source", "0", "--json")
    whole = here(*words).document
    part = here(*words, "--max-rounds", "3").document
    assert whole["stats"]["completed"] is True
    assert part["stats"]["completed"] is False


def test_defaults_that_suit_the_graph_and_changes_to_it(here, tmp_path: Path) -> None:
    (tmp_path / "g.el").write_text("0 1\n1 2\n2 0\n2 2\n")
    said = here("run", "triangles", "--graph", "g.el", "--on", "reference", "--verify", "--json")
    assert said.document["verified"] is True
    assert said.document["graph_changes"]
    assert "note: triangles needs it: " in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bfss", "--graph", GRID], ["there is no algorithm 'bfss'", "did you mean"]),
        (["none.py", "--graph", GRID], ["there is no file 'none.py'"]),
        (["bfs", "--graph", "krnecker{scale=3}"], ["krnecker", "kronecker"]),
        (["bfs", "--graph", "none.mtx"], ["none.mtx"]),
        (["bfs", "--graph", GRID, "--on", "cpuu"], ["there is no machine 'cpuu'", "hint: machines: cpu, reference"]),
        (["bfs", "--graph", GRID, "--on", "cpu{threads=x}"], ["cpu.threads cannot be 'x'", "legal: "]),
        (["bfs", "--graph", GRID, "--source", "20"], ["there is no vertex 20; n is 20", "hint: vertices: 0 to 19"]),
        (["bfs", "--graph", GRID, "--source", "a"], ["bfs: source is a vertex, not 'a'"]),
        (["bfs", "--graph", GRID, "--arg", "sorce=1"], ["bfs has no argument 'sorce'", "hint: arguments: source"]),
        (["sssp", "--graph", GRID, "--delta", "1.5"], ["sssp: delta is a", "hint: give a whole number"]),
        (["bfs", "--graph", GRID, "--schedule", "nothing=cpu{direction=pull}"], ["'nothing'", "traverse"]),
        (["bfs", "--graph", GRID, "--schedule", "traverse=cpu{direction=sideways}"], ["sideways", "legal: "]),
        (["bfs", "--graph", GRID, "--schedule", "traverse=gpu"], ["gpu"]),
    ],
)
def test_mistakes_have_code_1_and_say_what_would_work(here, words: list[str], message: list[str]) -> None:
    said = here("run", *words)
    assert said.code == 1
    assert said.out == ""
    assert "Traceback" not in said.err
    for part in message:
        assert part in said.err


def test_verify_needs_an_oracle(here, file: str) -> None:
    said = here("run", f"{file}:count", "--graph", GRID, "--verify")
    assert said.code == 1
    assert said.err.splitlines()[1].startswith("hint: pantograf diff own.py:count")


def test_a_wrong_answer_has_code_3(here, monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.machine import Executable

    plain = Executable.__call__

    def lie(self, *arguments, **named):
        result = plain(self, *arguments, **named)
        result.values["depth"][3] += 1
        return result

    monkeypatch.setattr(Executable, "__call__", lie)
    words = ("run", "bfs_depth", "--graph", GRID, "--on", "reference", "--source", "0", "--verify")
    said = here(*words)
    assert said.code == 3
    assert "wrong answer: " in said.out
    document = here(*words, "--json").document
    assert document["verified"] is False
    assert document["wrong"]


def test_diff_finds_the_first_vertex(here, monkeypatch: pytest.MonkeyPatch) -> None:
    from pantograf.machine import Executable

    words = ("diff", "bfs_depth", "--graph", GRID, "--source", "0")
    assert here(*words).code == 0
    plain = Executable.__call__

    def lie(self, *arguments, **named):
        result = plain(self, *arguments, **named)
        if self.machine.spec_name == "cpu":
            result.values["depth"][[3, 7]] += 1
        return result

    monkeypatch.setattr(Executable, "__call__", lie)
    said = here(*words, "--json")
    assert said.code == 3
    assert said.document["same_answer"] is False
    assert said.document["values"] == [{"value": "depth", "different": 2, "vertex": 3, "left": 3, "right": 4}]
    assert here(*words).code == 3


def test_diff_of_two_right_answers(here, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two breadth-first trees of one graph: they differ at a vertex, and both are right."""
    from pantograf.machine import Executable

    plain = Executable.__call__

    def other_tree(self, *arguments, **named):
        result = plain(self, *arguments, **named)
        result.values["parent"][6] = 1 if self.machine.spec_name == "reference" else 5
        return result

    monkeypatch.setattr(Executable, "__call__", other_tree)
    said = here("diff", "bfs", "--graph", GRID, "--source", "0", "--json")
    assert said.code == 0
    assert said.document["same_answer"] is True
    assert said.document["values"][0]["vertex"] == 6


@pytest.mark.parametrize("stage", ["ir", "scheduled", "source"])
def test_compile_prints_each_stage(here, stage: str) -> None:
    said = here("compile", "bfs", "--stage", stage)
    assert said.code == 0
    assert ("graph.program" in said.out) == (stage != "source")
    assert here("compile", "bfs", "--stage", stage, "--json").document["text"] == said.out


def test_compile_shows_what_a_schedule_changes(here) -> None:
    plain = here("compile", "bfs", "--stage", "scheduled", "--schedule", "traverse=cpu{direction=push}").out
    pulled = here("compile", "bfs", "--stage", "scheduled", "--schedule", "traverse=cpu{direction=pull}").out
    assert plain != pulled
    assert "pull" in pulled


def test_compile_knows_its_stages(here) -> None:
    said = here("compile", "bfs", "--stage", "isa")
    assert said.code == 1
    assert "hint: stages: ir, " in said.err


def test_compile_writes_whole_files(here, tmp_path: Path) -> None:
    said = here("compile", "bfs", "--stage", "source", "-o", "out.py", "--json")
    assert said.document["lines"] == len((tmp_path / "out.py").read_text().splitlines())
    assert here("compile", "bfs", "-o", "nowhere/out.py").code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out.py"]


def test_explain_names_the_line_of_a_loop_that_is_not_raised(here) -> None:
    said = here("explain", "bfs", "--graph", GRID, "--json")
    assert said.code == 0
    reasons = "\n".join(said.document["reasons"])
    source = Path(pantograf.algorithms.__file__).with_name("bfs.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if text.strip() == "parent[dst] = src")
    assert f"while: not a fixpoint: line {line}: parent[dst] = src" in reasons
    assert here("explain", "bfs", "--graph", GRID).out.strip() == reasons.strip()


def test_explain_names_a_measured_quantity_and_follows_it(here) -> None:
    """A choice of direction names the number that it rests on; another graph gives another number and another choice."""

    def choices(graph: str) -> str:
        lines = here("explain", "bfs", "--graph", graph, "--json").document["reasons"]
        return "\n".join(line for line in lines if line.startswith("traverse: "))

    sparse, dense = choices(GRID), choices("complete{vertices=40}")
    assert "3.1" in sparse
    assert ("pull" in sparse, "pull" in dense) == (False, True)


def test_explain_on_a_machine_without_schedules(here) -> None:
    said = here("explain", "bfs", "--graph", GRID, "--on", "reference")
    assert said.out == "reference runs bfs as it is written: it takes no schedules\n"


def test_doctor(here) -> None:
    document = here("doctor", "--json").document
    found = {finding["name"]: finding for finding in document["findings"]}
    assert document["healthy"] is True
    assert {"numba", "xdsl", "threads", "memory", "cache", "compiler"} <= found.keys()
    assert here("doctor").out.splitlines()[0] == "doctor"


def test_doctor_finds_a_missing_folder(here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANTOGRAF_DATA", "/nowhere/at/all")
    said = here("doctor", "--json")
    assert said.code == 1
    assert {f["name"]: f["fine"] for f in said.document["findings"]}["PANTOGRAF_DATA"] is False


def test_cache_is_filled_counted_and_cleared(new_process, tmp_path: Path) -> None:
    place = {"PANTOGRAF_CACHE": str(tmp_path / "cache")}
    assert new_process("cache", "info", "--json", **place).document["bytes"] == 0
    assert new_process("run", "bfs", "--graph", GRID, "--source", "0", **place).code == 0
    filled = new_process("cache", "info", "--json", **place).document
    assert filled["bytes"] > 1000
    assert filled["folder"] == str(tmp_path / "cache")
    assert new_process("cache", "clear", "--json", **place).document["freed_bytes"] == filled["bytes"]
    assert new_process("cache", "info", "--json", **place).document["bytes"] == 0


def test_bench(here) -> None:
    words = ("bench", "bfs", "--graph", GRID, "--on", "reference", "--on", "cpu", "--peers", "scipy", "--trials", "3")
    found = here(*words, "--json").document
    assert {"processor", "cores", "python", "pantograf"} == found["computer"].keys()
    cells = found["cells"]
    assert [(cell["machine"], cell["status"], cell["trials"]) for cell in cells] == [
        ("reference", "ok", 3),
        ("cpu", "ok", 3),
    ]
    assert all(0 < cell["seconds_low"] <= cell["seconds"] <= cell["seconds_high"] for cell in cells)
    for cell in cells:
        peer = cell["peers"]["scipy"]
        assert (peer["status"], peer["trials"], peer["threads"]) == ("ok", 3, 1)
        assert peer["ratio"] == pytest.approx(peer["seconds"] / cell["seconds"])
        assert peer["ratio_low"] <= peer["ratio"] <= peer["ratio_high"]
    shown = here(*words).out
    assert "95 % interval" in shown
    assert "scipy (1)" in shown


def test_bench_says_what_peers_lack_and_refuses_unknown_ones(here) -> None:
    words = ("bench", "bc", "kcore", "--graph", GRID, "--on", "reference", "--trials", "1")
    cells = here(*words, "--peers", "scipy", "--json").document["cells"]
    assert [cell["peers"]["scipy"]["status"] for cell in cells] == ["lacking", "lacking"]
    assert [cell["status"] for cell in cells] == ["ok", "ok"]
    refused = here(*words, "--peers", "scypi")
    assert refused.code == 1
    assert "did you mean 'scipy'?" in refused.err
    assert "--data FOLDER" in here("bench", "bfs", "--suite", "real").err


@pytest.mark.parametrize("machine", ["reference", "cpu"])
def test_ctrl_c_ends_a_long_run_within_a_second(tmp_path: Path, machine: str) -> None:
    """A loop that never ends, interrupted while it runs."""
    (tmp_path / "spin.py").write_text(
        "import pantograf as pg\nfrom pantograf import Edges, i64\n\n@pg.program\n"
        "def spin(edges: Edges):\n    x = edges.vertices.property(i64, 0)\n"
        "    def step(v):\n        x[v] += 1\n"
        "    while edges.vertices.size > 0:\n        edges.vertices.apply(step)\n    return x\n"
    )
    words = [sys.executable, "-m", "pantograf", "run", "spin.py", "--graph", "path{vertices=100}", "--on", machine]
    subprocess.run([*words, "--max-rounds", "2"], cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    assert process.poll() is None
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.perf_counter() - start < 4  # a second, and what a busy computer adds
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_program_is_compiled_leaves_a_sound_cache(new_process, tmp_path: Path) -> None:
    words = ("run", "bfs_depth", "--graph", GRID, "--source", "0", "--json")
    place = {"PANTOGRAF_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "pantograf", *words]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=os.environ | place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.perf_counter() + 60
    while not list(tmp_path.glob("cache/*/*.py")) and time.perf_counter() < deadline:
        time.sleep(0.02)
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert time.perf_counter() - start < 4
    assert (process.returncode, err) == (130, "interrupted\n")
    assert new_process(*words, **place).document["summary"]["reached"] == 20


@pytest.mark.parametrize("name", ["USA-road-FLA", "cnr-2000"])
def test_real_graphs(here, shared: Path, name: str) -> None:
    expected = json.loads((shared / "data" / "expected.json").read_text())[name]["bfs_from_0"]
    words = ("run", "bfs", "--graph", str(shared / "data" / f"{name}.npz"), "--on", "cpu", "--source", "0", "--json")
    summary = here(*words).document["summary"]
    assert [summary[key] for key in ("reached", "depth", "level_sum")] == [
        expected[key] for key in ("reached", "depth", "level_sum")
    ]
