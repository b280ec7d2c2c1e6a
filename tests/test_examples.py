"""Every example runs as written, and so does every piece of Python and every command in the documentation."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pantograf import cli

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_PYTHON = {path.name for path in PAGES if "```python" in path.read_text()}
NEEDS_SHELL = {path.name for path in PAGES if "$ pantograf" in path.read_text()} - {"README.md", "CONTRIBUTING.md"}


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return [text for found, text in BLOCK.findall(page.read_text()) if found == language]


def run_file(file: Path, folder: Path, *words: str) -> str:
    """Run a Python file as a user would."""
    done = subprocess.run([sys.executable, file, *words], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.name != "demo.py"], ids=lambda path: path.stem)
def test_example(example: Path, tmp_path: Path) -> None:
    assert run_file(example, tmp_path).strip()


def test_demo(tmp_path: Path) -> None:
    said = run_file(ROOT / "examples" / "demo.py", tmp_path, "--small", "--output", "out")
    assert said.count("$ pantograf run") >= 7
    assert "WRONG" not in said
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len({json.dumps(answer["summary"]) for answer in results["machines"]}) == 1
    assert len({json.dumps(answer["summary"]) for answer in results["schedules"]}) == 1
    assert (tmp_path / "out" / "distance.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("page", [p for p in PAGES if p.name in NEEDS_PYTHON], ids=lambda path: path.stem)
def test_python_of_a_page(page: Path, tmp_path: Path) -> None:
    """All Python of a page is one program, read from top to bottom; what it prints stands in a block of text behind it."""
    file = tmp_path / "page.py"
    file.write_text("\n".join(blocks(page, "python")))
    said = run_file(file, tmp_path)
    for expected in blocks(page, "text"):
        assert expected.strip() in said


@pytest.mark.parametrize("page", [p for p in PAGES if p.name in NEEDS_SHELL], ids=lambda path: path.stem)
def test_commands_of_a_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every command of a page ends with 0, in one folder that holds the page's Python under the names that it says."""
    monkeypatch.chdir(tmp_path)
    for name in set(re.findall(r"\$ pantograf \w+ (\w+\.py)", page.read_text())):
        (tmp_path / name).write_text(blocks(page, "python")[0])
    ran = 0
    for block in blocks(page, "console"):
        for line in block.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if not line.startswith("$ pantograf"):
                continue
            capfd.readouterr()
            code = cli.call(words[1:])
            assert code == 0, f"{line}: exit code {code}\n{capfd.readouterr().err}"
            ran += 1
    assert ran


def test_the_readme_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Lines behind a command in the README are lines that it prints, but for what was measured."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "widest.py").write_text(blocks(ROOT / "README.md", "python")[0])
    compared = 0
    for block in blocks(ROOT / "README.md", "console"):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = piece.splitlines()
            words = shlex.split(command)
            if words[0] != "pantograf":
                continue
            capfd.readouterr()
            assert cli.call(words[1:]) == 0
            printed = {steady(line) for line in capfd.readouterr().out.splitlines()}
            for line in shown:
                if line.strip() not in ("", "..."):
                    assert steady(line) in printed, f"{command} does not print {line!r}"
                    compared += 1
    assert compared > 5


steady: Callable[[str], str] = lambda line: re.sub(r"\d+\.\d+(e-\d+)?", "#", " ".join(line.split()))  # noqa: E731
