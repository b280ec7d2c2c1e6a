"""What every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from pantograf.machines.cpu import cache

ROOT = Path(__file__).resolve().parents[1]
COMPILATIONS = 250
"""How many programs the suite may compile: compiling is what its time goes to. A warm cache needs none."""


class Compilations:
    """Counts the programs that the suite adds to the cache of compiled code, and fails it when they are too many."""

    def __init__(self) -> None:
        self.before = self.names()

    def names(self) -> set[str]:
        return {entry.name for entry in cache.entries()}

    def count(self) -> int:
        return len(self.names() - self.before)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.count() > COMPILATIONS:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        found = self.count()
        terminalreporter.write_line(
            f"{found} programs were compiled, of {COMPILATIONS} at most", red=found > COMPILATIONS
        )


def pytest_configure(config: pytest.Config) -> None:
    """Count in the process that the others report to."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Compilations(), "compilations")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real graphs and expected answers beside the repository; tests that need it skip where it is not."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder ../shared with real graphs and expected answers is not here")
    return folder
