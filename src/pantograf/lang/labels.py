"""The labels of a program's applies and loops: the author's, or made from names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pantograf.errors import Place, UserError


@dataclass
class Labels:
    """The labels of a program: each place has its own path of labels, the author's or one made from a name."""

    reserved: set[str] = field(default_factory=set)
    """The author's labels, which no made label may take."""
    around: list[str] = field(default_factory=list)
    taken: dict[tuple[str, ...], Place] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def made(self, name: str) -> str:
        """`visit`, then `visit.2`, ..."""
        while True:
            count = self.counts[name] = self.counts.get(name, 0) + 1
            label = name if count == 1 else f"{name}.{count}"
            if label not in self.reserved:
                return label

    def given(self, label: str, place: Place) -> str:
        """A label of the author's, which must be the only one at its path."""
        path = (*self.around, label)
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", label):
            raise UserError(
                f"{label!r} cannot be a label",
                place,
                "a label is a word: letters, digits, _ . -, beginning with a letter",
            )
        if path in self.taken:
            raise UserError(
                f"the label {':'.join(path)!r} is used twice (first on line {self.taken[path].line})",
                place,
                "give each apply and loop a label of its own, or leave label= out and have one made",
            )
        self.taken[path] = place
        return label
