"""Labels: the paths by which schedules reach the applies, loops and queues of a program."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from pantograf.errors import UserError
from pantograf.ir import graph as g
from pantograf.ir.functions import LOOPS
from pantograf.passes.query import Query

LABELLED = (g.EdgeApplyOp, g.VertexApplyOp, g.WhereOp, g.IntersectOp, g.QueueOp, g.FixpointOp, *LOOPS)


def label_paths(module: ModuleOp) -> dict[str, Operation]:
    """Each label path, `s0:s1`, with the operation there (the first, where one was split), in the order of the text."""
    paths: dict[str, Operation] = {}
    for op in module.walk():
        if isinstance(op, LABELLED) and op.label.data:
            paths.setdefault(_path(op), op)
    return paths


def _path(op: Operation) -> str:
    parts: list[str] = []
    around: Operation | None = op
    while around is not None:
        if around is op or isinstance(around, LOOPS):
            parts += [name for name in (_label(around),) if name]
        if isinstance(around, g.FixpointOp):
            parts.append(around.loop.data)
        scope = around.attributes.get("scope")
        if isinstance(scope, StringAttr):
            parts.append(scope.data)
        around = around.parent_op()
    return ":".join(reversed([part for part in parts if part]))


def _label(op: Operation) -> str:
    label = op.properties.get("label")
    return label.data if isinstance(label, StringAttr) else ""


def find_label(module: ModuleOp, label: str) -> Operation:
    """What stands at the one path that `label` is, or is the end of; otherwise a `UserError` that lists what there is."""
    paths = label_paths(module)
    if label in paths:
        return paths[label]
    ends = [path for path in paths if path.endswith(":" + label)]
    if len(ends) == 1:
        return paths[ends[0]]
    if ends:
        raise UserError(f"the label {label!r} is ambiguous", hint=f"say which: {', '.join(ends)}")
    close = difflib.get_close_matches(label, [*paths, *(path.rpartition(":")[2] for path in paths)], 1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    raise UserError(f"there is no label {label!r}", hint=f"{guess}labels: {', '.join(paths) or 'none'}")


@dataclass(frozen=True)
class AttachSchedules:
    """Write each schedule's text as the attribute `schedule` on what stands at its label: `[[label, text], ...]`."""

    spec_name: ClassVar[str] = "attach-schedules"
    schedules: tuple[tuple[str, str], ...] = ()

    def apply(self, module: ModuleOp, query: Query) -> None:
        """Attach, or say which label there is not."""
        taken: dict[Operation, str] = {}
        for label, text in self.schedules:
            op = find_label(module, label)
            if taken.setdefault(op, label) != label:
                raise UserError(
                    f"two schedules are for {_path(op)}: at {taken[op]!r} and at {label!r}", hint="give one"
                )
            op.attributes["schedule"] = StringAttr(text)
