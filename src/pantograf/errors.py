"""The two exceptions that a user sees; everything else that escapes is a defect of Pantograf and shows a traceback."""

from __future__ import annotations

import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a mistake stands: a file, a line (from 1), a column (from 0), and how many columns the caret spans."""

    file: str
    line: int
    column: int = 0
    width: int = 1
    text: str | None = None
    """The source line, when it cannot be read from `file`."""

    def source_line(self) -> str:
        return self.text if self.text is not None else linecache.getline(self.file, self.line).rstrip("\n")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class UserError(Exception):
    """Something the user wrote cannot work: what, where, and what would."""

    def __init__(self, message: str, place: Place | None = None, hint: str = "") -> None:
        super().__init__(message, place, hint)
        self.message = message
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The message, then the source line with a caret when the place is known, then the hint."""
        place = self.place
        lines = [self.message if place is None else f"{place}: {self.message}"]
        if place is not None and (source := place.source_line()):
            shown = source.lstrip()
            column = max(place.column - (len(source) - len(shown)), 0)
            width = max(1, min(place.width, len(shown) - column))
            lines += [f"    {shown}", "    " + " " * column + "^" * width]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return lines


class Refused(UserError):
    """A machine will not run this program, or not under this schedule, and says why."""
