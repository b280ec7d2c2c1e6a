"""What passes ask of a schedule, and the one shape that every pass has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from pantograf.ir import graph as g
from pantograf.schedule import Mixed, Traversal


class Query(Protocol):
    """A machine's answers about the schedules that a program has there."""

    @property
    def deterministic(self) -> bool:
        """Whether of racing plain writes the smallest must stay, on every run."""
        ...

    def traverse(self, op: Operation) -> Traversal | Mixed:
        """How an apply, a where or a par_for runs."""
        ...

    def raises(self, loop: g.WhileOp) -> bool:
        """Whether a loop that may become a fixpoint should: the machine, or its schedule, can use the freedom."""
        ...


@dataclass(frozen=True)
class Defaults:
    """The answers of an empty schedule."""

    deterministic: bool = False

    def traverse(self, op: Operation) -> Traversal | Mixed:
        """Push, a worker per vertex."""
        return Traversal()

    def raises(self, loop: g.WhileOp) -> bool:
        """Always."""
        return True


class Pass(Protocol):
    """A frozen dataclass with a name; it changes a module in place."""

    spec_name: ClassVar[str]

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Do it."""
        ...


def traversal(op: Operation, query: Query) -> Traversal:
    """How `op` runs, once SplitHybrids has said which part of a hybrid schedule it is."""
    found = query.traverse(op)
    if isinstance(found, Mixed):
        part = op.attributes.get("part")
        sparse = isinstance(part, StringAttr) and part.data == "sparse"
        return found.sparse if sparse else found.dense
    return found


def in_place(op: Operation) -> bool:
    """Whether the functions of this apply may see each other's writes: racy by intent, or a program seen `inplace`."""
    if "in_place" in op.properties:
        return True
    around: Operation | None = op
    while around is not None and not isinstance(around, g.ProgramOp):
        around = around.parent_op()
    return around is not None and around.visibility.data == "inplace"
