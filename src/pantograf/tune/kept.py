"""What a search keeps as it goes: a file with a line of JSON for each finished cell, so that it can go on where it was stopped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pantograf.errors import UserError
from pantograf.tune.cells import Cell
from pantograf.tune.measure import Measured


class Kept:
    """The cells that are finished. The first line says what they are of: a file of another search is refused."""

    def __init__(self, path: Path, about: dict[str, Any], fresh: bool = False) -> None:
        self.path = path
        self.cells: dict[Cell, Measured] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [] if fresh or not path.exists() else self._lines()
            if lines and lines[0] != about:
                differs = [key for key in about if lines[0].get(key) != about[key]]
                raise UserError(
                    f"{path} was made by another search: {', '.join(differs) or 'its first line is unreadable'} differs",
                    hint="--fresh starts over, --state FILE keeps this one elsewhere",
                )
            for entry in lines[1:]:
                measured = Measured.from_dict(entry)
                self.cells[measured.cell] = measured
            if not lines:
                path.write_text("")
                self._append(about)
        except (OSError, KeyError, TypeError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            raise UserError(f"cannot keep cells in {path}: {said}", hint="--state FILE names another file") from None

    def _lines(self) -> list[dict[str, Any]]:
        """The lines that are whole: a run that was killed may have left half of one at the end, which is cut off."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        found = []
        for line in whole.splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                if not found:
                    return [{}]
        if whole != data:
            os.truncate(self.path, len(whole))
        return found

    def add(self, measured: Measured) -> None:
        """Keep a cell; it is on the disk when this returns."""
        self.cells[measured.cell] = measured
        try:
            self._append(measured.to_dict())
        except OSError as error:
            raise UserError(f"cannot keep cells in {self.path}: {error.strerror}") from None

    def _append(self, entry: dict[str, Any]) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
