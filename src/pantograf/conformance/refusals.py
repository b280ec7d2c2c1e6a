"""The table of refusals that are allowed: what a machine may say no to. Any other refusal is a defect.

Each entry of `refusals.toml` has a `machine`; an `algorithm` and a `knob` (patterns such as `*` or `fixpoint=*`), and
`says`, a regular expression that the refusal's sentence matches; `why` is for people. A refusal that has nothing to do
with a schedule has the knob `-`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pantograf.errors import UserError

TABLE = Path(__file__).with_name("refusals.toml")


@dataclass(frozen=True)
class Allowed:
    """One entry of the table."""

    machine: str
    algorithm: str
    knob: str
    says: str
    why: str

    def covers(self, machine: str, algorithm: str, knobs: Sequence[str], message: str) -> bool:
        """Whether this entry allows a refusal: of a program with these knobs (`name=value`), in these words."""
        return (
            self.machine == machine
            and fnmatchcase(algorithm, self.algorithm)
            and any(fnmatchcase(knob, self.knob) for knob in knobs or ["-"])
            and re.search(self.says, message) is not None
        )


def read(path: Path = TABLE) -> list[Allowed]:
    """The committed table; a mistake in it is a `UserError`."""
    entries = tomllib.loads(path.read_text()).get("refusal", [])
    try:
        return [Allowed(**entry) for entry in entries]
    except TypeError as error:
        raise UserError(f"{path.name} has a wrong entry: {error}", hint="machine, algorithm, knob, says, why") from None
