"""All that the commands print: tables on a terminal, plain lines in a pipe, or one JSON document.

Errors, remarks and progress go to stderr.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TextIO

from pantograf.errors import UserError


class Output:
    """What one command says. With `json`, stdout carries the document alone: whatever else is printed there goes to stderr."""

    def __init__(self, json: bool = False) -> None:
        self.json = json
        self._kept = contextlib.ExitStack()
        self._stream: TextIO = sys.stdout

    def __enter__(self) -> Self:
        self._stream = sys.stdout
        if self.json:
            self._stream = self._kept.enter_context(_stdout_to_stderr())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kept.close()

    def document(self, value: Any) -> None:
        """The one JSON document."""
        self._stream.write(json.dumps(plain(value), indent=2, allow_nan=False) + "\n")
        self._stream.flush()

    def text(self, *lines: str) -> None:
        """Lines as they are."""
        for line in lines:
            self._stream.write(line + "\n")

    def code(self, text: str, language: str) -> None:
        """A piece of source, coloured on a terminal."""
        if self._terminal():
            from rich.syntax import Syntax

            self._console().print(Syntax(text, language, background_color="default", word_wrap=False))
        else:
            self.text(text.rstrip("\n"))

    def pairs(self, title: str, values: Mapping[str, Any]) -> None:
        """Names and values, a line each."""
        if not values:
            return
        shown = {name: brief(value) for name, value in values.items()}
        if self._terminal():
            from rich.table import Table
            from rich.text import Text

            table = Table(title=Text(title), title_justify="left", title_style="bold", box=None, show_header=False)
            for name, value in shown.items():
                table.add_row(Text(name, "cyan"), Text(value))
            self._console().print(table)
            return
        width = max(len(name) for name in shown)
        self.text(title, *(f"  {name:<{width}}  {value}".rstrip() for name, value in shown.items()))

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table; numbers stand on the right."""
        cells = [[brief(value) for value in row] for row in rows]
        right = [all(_numeric(row[i]) for row in cells) and bool(cells) for i in range(len(columns))]
        if self._terminal():
            from rich.table import Table
            from rich.text import Text

            table = Table(title=Text(title), title_justify="left", title_style="bold", box=None, header_style="bold")
            for column, numbers in zip(columns, right, strict=True):
                table.add_column(column, justify="right" if numbers else "left", overflow="fold")
            for row in cells:
                table.add_row(*(Text(cell) for cell in row))
            self._console().print(table)
            return
        widths = [max([len(column), *(len(row[i]) for row in cells)]) for i, column in enumerate(columns)]
        self.text(title)
        for row in [list(columns), *cells]:
            padded = [f"{c:>{w}}" if r else f"{c:<{w}}" for c, w, r in zip(row, widths, right, strict=True)]
            self.text(("  " + "  ".join(padded)).rstrip())

    @contextlib.contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """A spinner with the elapsed time, on stderr and only where a person can see it; call it to say something else."""
        if not sys.stderr.isatty():
            yield lambda what: None
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(what, total=None)
            yield lambda what: progress.update(task, description=what)

    @contextlib.contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int, str], None]]:
        """A bar with the time that is left, as `working`; call it with how many are done, of how many, and what comes next."""
        if not sys.stderr.isatty():
            yield lambda done, of, what: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.table import Column

        columns = (
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(what, total=None)
            yield lambda done, of, what: progress.update(task, completed=done, total=of, description=what)

    def _terminal(self) -> bool:
        return not self.json and self._stream.isatty()

    def _console(self) -> Any:
        from rich.console import Console

        return Console(file=self._stream, highlight=False, soft_wrap=False)


def note(text: str) -> None:
    """A remark for the person, apart from the result."""
    print(text, file=sys.stderr)


def show_error(error: UserError) -> None:
    """A mistake of the user or a refusal: the message, the place with a caret, the hint."""
    lines = error.lines()
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        styles = ["bold red", *("cyan" if line.startswith("hint: ") else "" for line in lines[1:])]
        for line, style in zip(lines, styles, strict=True):
            Console(stderr=True, soft_wrap=True).print(Text(line, style))
        return
    print("\n".join(lines), file=sys.stderr)


def brief(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={brief(item)}" for key, item in value.items()) or "-"
    if isinstance(value, (list, tuple)):
        return ", ".join(brief(item) for item in value) or "-"
    if hasattr(value, "dtype"):
        return brief(value.item()) if getattr(value, "ndim", 0) == 0 else f"array of {len(value)}"
    return str(value)


def plain(value: Any) -> Any:
    """The value in JSON's types; infinities and NaN as words."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def _numeric(cell: str) -> bool:
    try:
        float(cell.rstrip("x%").replace(",", ""))
    except ValueError:
        return cell == "-"
    return True


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[TextIO]:
    """The real stdout, while file descriptor 1 and `sys.stdout` lead to stderr: compiled code prints too."""
    kept = sys.stdout
    try:
        descriptor = kept.fileno()
    except (OSError, io.UnsupportedOperation):
        with contextlib.redirect_stdout(sys.stderr):
            yield kept
        return
    kept.flush()
    before = os.dup(1)
    os.dup2(2, 1)
    try:
        copy = os.dup(before if descriptor == 1 else descriptor)
        with os.fdopen(copy, "w", encoding="utf-8") as real, contextlib.redirect_stdout(sys.stderr):
            yield real
    finally:
        os.dup2(before, 1)
        os.close(before)
