"""The text of programs: find it, parse it, and point into it."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pantograf.errors import Place, UserError

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """A file's text; the nodes parsed from it count lines from 1."""

    file: str
    lines: tuple[str, ...]
    first_line: int = 1
    shown: bool = field(default=False)
    """Whether a message must carry the text, since it cannot be read from the file."""

    def place(self, node: ast.AST) -> Place:
        """Where a node stands; its caret spans the node, or the node's part of its first line."""
        row: int = node.lineno  # type: ignore[attr-defined]
        text = self.lines[row - 1] if row <= len(self.lines) else ""
        start = _characters(text, node.col_offset)  # type: ignore[attr-defined]
        end_row: int | None = node.end_lineno  # type: ignore[attr-defined]
        end = _characters(text, node.end_col_offset) if end_row == row else len(text.rstrip())  # type: ignore[attr-defined]
        return self.at(row, start, max(1, end - start))

    def at(self, row: int, column: int, width: int = 1) -> Place:
        """A place by its row in the text."""
        text = self.lines[row - 1] if self.shown and row <= len(self.lines) else None
        return Place(self.file, row + self.first_line - 1, column, width, text)

    def name_of(self, node: FunctionNode) -> Place:
        """Where a function's name stands."""
        if isinstance(node, ast.Lambda):
            return self.place(node)
        text = self.lines[node.lineno - 1]
        start = text.find(node.name, _characters(text, node.col_offset) + 3)
        return self.at(node.lineno, max(start, 0), len(node.name))

    def fail(self, node: ast.AST, message: str, hint: str) -> NoReturn:
        """Raise a `UserError` at a node."""
        raise UserError(message, self.place(node), hint)


def _characters(text: str, column: int) -> int:
    """A column in bytes, as `ast` counts, in characters."""
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


def parse(text: str, file: str, first_line: int = 1, shown: bool = True) -> tuple[Source, ast.Module]:
    """Text as a tree; what is not Python is a `UserError`."""
    source = Source(file, tuple(text.splitlines()), first_line, shown)
    try:
        return source, ast.parse(text)
    except SyntaxError as error:
        row, column = error.lineno or 1, max((error.offset or 1) - 1, 0)
        raise UserError(
            f"this is not Python: {error.msg}", source.at(row, column), "mend the syntax at the caret"
        ) from None


@functools.lru_cache(maxsize=64)
def _functions(file: str, text: str) -> tuple[Source, dict[tuple[str, int], list[FunctionNode]]]:
    """The functions in a file, by name and by each line that Python may call their first."""
    source, tree = parse(text, file, shown=file.startswith("<"))
    found: dict[tuple[str, int], list[FunctionNode]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append(node)
        elif isinstance(node, ast.FunctionDef):
            for line in {node.lineno, *(d.lineno for d in node.decorator_list)}:
                found.setdefault((node.name, line), []).append(node)
    return source, found


def find(function: Callable[..., Any]) -> tuple[Source, FunctionNode]:
    """The source of a function object, and its node there."""
    code = function.__code__
    unreachable = UserError(
        f"the source of {function.__name__} cannot be read", hint='give the text: pg.parse("def f(edges: Edges): ...")'
    )
    try:
        file = inspect.getsourcefile(function) or code.co_filename
    except TypeError:
        raise unreachable from None
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        raise unreachable
    source, functions = _functions(file, "".join(lines))
    candidates = functions.get((code.co_name, code.co_firstlineno), [])
    if len(candidates) > 1:
        candidates = [node for node in candidates if _has_the_body_of(node, code)]
    if not candidates:
        raise unreachable
    return source, candidates[0]


def namespace(function: Callable[..., Any]) -> dict[str, Any]:
    """The names that a Python function sees from outside of itself."""
    cells: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = cell.cell_contents
        except ValueError:
            continue
    return {**function.__globals__, **cells}


def _has_the_body_of(node: FunctionNode, code: Any) -> bool:
    """Tell lambdas on one line apart by where their code says that it stands."""
    body = node.body if isinstance(node, ast.Lambda) else node.body[0]
    span = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    return span in set(code.co_positions())
