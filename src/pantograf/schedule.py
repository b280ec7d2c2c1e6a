"""What passes may ask of any schedule; each machine subclasses `Schedule` with the knobs it has."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from pantograf import spec
from pantograf.errors import UserError

Direction = Literal["push", "pull"]
Parallelism = Literal["serial", "vertex", "edge"]
Layout = Literal["list", "bitmap", "boolmap"]


class Traversal(NamedTuple):
    """How one apply runs, in the terms of the passes."""

    direction: Direction = "push"
    parallelism: Parallelism = "vertex"
    """`vertex`: one worker does all edges of a vertex; `edge`: several may share them."""
    frontier: Layout = "list"
    deduplicate: bool = True


class Mixed(NamedTuple):
    """Two ways to run one apply, and when which: `dense` if |frontier| + its out-edges > edges / `threshold`."""

    dense: Traversal
    sparse: Traversal
    threshold: int


@dataclass(frozen=True)
class Schedule:
    """How to run what stands at a label. A subclass has a `spec_name` and `Literal`, bool and number fields."""

    spec_name: ClassVar[str] = ""

    def traversal(self) -> Traversal | Mixed:
        """What this says to the passes about an apply."""
        return Traversal()


@dataclass(frozen=True)
class Hybrid(Schedule):
    """`first` while the frontier is dense (|frontier| + its out-edges > edges / `when`), else `second`.

    Knobs that one part leaves at their defaults are taken from the other part, its direction apart.
    """

    spec_name: ClassVar[str] = "hybrid"
    first: Schedule
    second: Schedule
    when: int = 20

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.when < 1:
            raise UserError(f"hybrid.when cannot be {self.when}", hint="a whole number from 1; 20 is GraphIt's")
        if type(self.first) is not type(self.second) and Hybrid not in (type(self.first), type(self.second)):
            raise UserError("the two parts of a hybrid schedule are for different machines")

    def parts(self) -> tuple[Schedule, Schedule]:
        """Both parts with inherited knobs."""
        return _inherit(self.first, self.second), _inherit(self.second, self.first)

    def traversal(self) -> Traversal | Mixed:
        """Both parts' answers; a part that is itself hybrid counts as what it does in that case."""
        dense, sparse = (part.traversal() for part in self.parts())
        return Mixed(
            dense.dense if isinstance(dense, Mixed) else dense,
            sparse.sparse if isinstance(sparse, Mixed) else sparse,
            self.when,
        )


def _inherit(part: Schedule, other: Schedule) -> Schedule:
    if isinstance(part, Hybrid) or isinstance(other, Hybrid):
        return part
    for f in dataclasses.fields(part):
        if f.init and f.name != "direction" and getattr(part, f.name) == f.default:
            with contextlib.suppress(UserError):  # what makes no sense in this part stays out of it
                part = dataclasses.replace(part, **{f.name: getattr(other, f.name)})
    return part


S = TypeVar("S", bound=Schedule)


def read(text: str | spec.Text, kinds: Mapping[str, type[Schedule]]) -> Schedule:
    """The schedule that `text` describes; `kinds` are the classes that a machine understands, by name."""
    found = spec.parse(text) if isinstance(text, str) else text
    if found.name == Hybrid.spec_name:
        settings = dict(found.settings)
        unknown = [key for key in settings if key not in ("first", "second", "when")]
        if unknown or not {"first", "second"} <= settings.keys():
            what = f"hybrid has no setting {unknown[0]!r}" if unknown else "hybrid needs first and second"
            raise UserError(what, hint="write hybrid{first=cpu{direction=pull}, second=cpu{direction=push}, when=20}")
        try:
            when = int(settings.get("when", 20))
        except (TypeError, ValueError):
            raise UserError(f"hybrid.when cannot be {settings['when']!r}", hint="legal: a whole number") from None
        first, second = (_part(settings[key], kinds) for key in ("first", "second"))
        return Hybrid(first, second, when)
    if found.name not in kinds:
        names = ", ".join([*kinds, Hybrid.spec_name])
        raise UserError(f"there is no schedule {found.name!r} on this machine", hint=f"schedules here: {names}")
    return spec.build(kinds[found.name], found)


def _part(word: Any, kinds: Mapping[str, type[Schedule]]) -> Schedule:
    return read(word if isinstance(word, spec.Text) else str(word), kinds)


def search_space(kind: type[S], **numbers: tuple[Any, ...]) -> Iterator[S]:
    """Every schedule of a class that is not contradictory: all structural knobs, and the numbers given."""
    for knobs in spec.enumerate_settings(kind, **numbers):
        try:
            yield kind(**knobs)
        except UserError:
            continue
