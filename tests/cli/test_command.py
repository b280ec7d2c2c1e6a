"""The command as a whole: help, usage, exit codes, Ctrl-C."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pantograf
from pantograf.cli import app

COMMANDS = ["run", "compile", "explain", "tune", "diff", "conform", "bench", "doctor", "list", "graph", "cache"]


def test_help_names_each_command_and_the_exit_codes(here) -> None:
    said = here("--help")
    assert said.code == 0
    for name in COMMANDS:
        assert f" {name} " in said.out
    assert "Exit codes" in said.out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(here, name: str) -> None:
    said = here(name, "--help")
    assert said.code == 0
    assert f"pantograf {name}" in said.out


def test_every_command_takes_json() -> None:
    groups = [group.typer_instance for group in app.registered_groups]
    commands = [command for each in [app, *groups] for command in each.registered_commands]
    assert len(commands) > 12
    for command in commands:
        assert "json" in command.callback.__annotations__, command.callback.__name__


def test_help_is_quick() -> None:
    """In seconds of the processor, so that a busy computer changes nothing."""
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "pantograf", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.3


def test_version(here) -> None:
    assert here("--version").out == f"pantograf {pantograf.__version__}\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["run", "bfs"], "Missing option '--graph'"),
        (["run", "--graph", "path{vertices=3}"], "Missing argument"),
        (["run", "bfs", "--graph", "path{vertices=3}", "--repeat", "0"], "--repeat"),
        (["run", "bfs", "sssp", "--graph", "path{vertices=3}"], "what is 'sssp'?"),
        (["run", "bfs", "--graph", "path{vertices=3}", "--source"], "--source needs a value"),
        (["run", "bfs", "--graph", "path{vertices=3}", "-x"], "there is no option -x"),
        (["run", "bfs", "--graph", "path{vertices=3}", "--sorce", "1"], "arguments of bfs: --source"),
        (["run", "bfs", "--graph", "path{vertices=3}", "--schedule", "pull"], "is not LABEL=SPEC"),
        (["diff", "bfs", "--graph", "path{vertices=3}", "--on", "cpu"], "two machines are compared"),
    ],
)
def test_usage_errors_have_code_2(here, words: list[str], complaint: str) -> None:
    said = here(*words)
    assert said.code == 2
    assert complaint in " ".join(said.err.replace("│", " ").split())
    assert said.out == ""


def test_ctrl_c_while_compiled_code_holds_the_main_thread() -> None:
    """Code that never returns to Python cannot be interrupted by Python; the process still ends within a second."""
    code = (
        "import hashlib; from pantograf.cli import interrupt\n"
        "with interrupt.prompt_exit():\n"
        "    print('busy', flush=True)\n"
        "    hashlib.pbkdf2_hmac('sha256', b'a', b'b', 200_000_000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "busy\n"
    time.sleep(0.1)
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert time.perf_counter() - start < 4  # a second, and what a busy computer adds
    assert process.returncode == 130
    assert err == "interrupted\n"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pantograf run bfs_d", ["bfs_depth"]),
        ("pantograf run bfs --on ref", ["reference"]),
        ("pantograf run bfs --graph kro", ["kronecker{"]),
        ("pantograf run bfs --schedule while:", ["while:traverse="]),
        ("pantograf compile bfs --stage s", ["scheduled", "source"]),
    ],
)
def test_shell_completion(line: str, offered: list[str]) -> None:
    environment = os.environ | {
        "_PANTOGRAF_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    command = Path(sys.executable).with_name("pantograf")
    done = subprocess.run([command], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == offered
