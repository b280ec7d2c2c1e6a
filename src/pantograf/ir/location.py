"""Where an operation came from, and how to complain there."""

from __future__ import annotations

from typing import NoReturn

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation

from pantograf.errors import Place, UserError


def at(file: str, line: int, column: int) -> FileLineColLoc:
    """A location for an operation: line from 1, column from 0."""
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def place_of(op: Operation) -> Place | None:
    """The source place of `op`, or of the nearest operation around it that has one."""
    seen: Operation | None = op
    while seen is not None:
        if isinstance(seen.location, FileLineColLoc):
            found = seen.location
            return Place(found.filename.data, found.line.data, found.column.data)
        seen = seen.parent_op()
    return None


def fail(op: Operation, message: str, hint: str = "") -> NoReturn:
    """Raise a `UserError` at the source of `op`."""
    raise UserError(message, place_of(op), hint)
