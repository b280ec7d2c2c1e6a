"""Passes: what is true of a program whatever machine runs it. One file a pass.

The order, and why each stands where it does:

1. `attach-schedules` first: labels are the author's, before anything is merged, raised or split.
2. `recognize-reductions` decides what the functions mean; everything later reads it.
3. `forward-stores` next, so that no later pass has to think of a call's own writes.
4. `raise-fixpoints` sees whole loops, before they are split by direction.
5. `split-hybrids`, then
6. `choose-direction`: from here on each edge apply has one direction.
7. `find-early-exits` needs the direction.
8. `find-snapshots` looks at reads, and
9. `insert-atomics` at writes: both of the final functions in their final direction.
10. `deduplicate` and
11. `reuse-frontiers` last: they are about results, of which splitting has made more.

The fusing passes (`fuse-loops`, `split-loop`, `fuse-applies`) have parameters and run only where somebody asks, before all
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import ModuleOp

from pantograf import spec
from pantograf.errors import UserError
from pantograf.ir import text as ir_text
from pantograf.passes.choose_direction import ChooseDirection, SplitHybrids
from pantograf.passes.deduplicate import Deduplicate
from pantograf.passes.find_early_exits import FindEarlyExits
from pantograf.passes.find_snapshots import FindSnapshots
from pantograf.passes.forward_stores import ForwardStores
from pantograf.passes.fusion import FuseApplies, FuseLoops, SplitLoop
from pantograf.passes.insert_atomics import InsertAtomics
from pantograf.passes.labels import AttachSchedules, find_label, label_paths
from pantograf.passes.query import Defaults, Pass, Query, traversal
from pantograf.passes.raise_fixpoints import RaiseFixpoints
from pantograf.passes.recognize_reductions import RecognizeReductions
from pantograf.passes.reuse_frontiers import ReuseFrontiers

PASSES: dict[str, type[Pass]] = {
    kind.spec_name: kind
    for kind in (
        SplitLoop,
        FuseLoops,
        FuseApplies,
        AttachSchedules,
        RecognizeReductions,
        ForwardStores,
        RaiseFixpoints,
        SplitHybrids,
        ChooseDirection,
        FindEarlyExits,
        FindSnapshots,
        InsertAtomics,
        Deduplicate,
        ReuseFrontiers,
    )
}
"""Every pass, by the name that a pipeline's text uses."""


def pipeline(schedules: Mapping[str, str] | None = None) -> list[Pass]:
    """The passes of a parallel machine, in order; `schedules` holds a schedule's text for each label."""
    return [
        AttachSchedules(tuple((schedules or {}).items())),
        RecognizeReductions(),
        ForwardStores(),
        RaiseFixpoints(),
        SplitHybrids(),
        ChooseDirection(),
        FindEarlyExits(),
        FindSnapshots(),
        InsertAtomics(),
        Deduplicate(),
        ReuseFrontiers(),
    ]


def parse_pipeline(text: str) -> list[Pass]:
    """The passes in `recognize-reductions,fuse-loops{first=a, second=b, fused=c}`."""
    found: list[Pass] = []
    for word in _split(text):
        read = spec.parse(word)
        if read.name not in PASSES:
            raise UserError(f"there is no pass {read.name!r}", hint=f"passes: {', '.join(PASSES)}")
        found.append(spec.build(PASSES[read.name], read))
    return found


def _split(text: str) -> list[str]:
    words = [""]
    depth = 0
    for character in text:
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            words.append("")
        else:
            words[-1] += character
    return [word.strip() for word in words if word.strip()]


def run(module: ModuleOp, passes: Iterable[Pass] | str, query: Query | None = None) -> ModuleOp:
    """Apply passes in place, verifying after each, and return the module. A pass that breaks it is a defect of ours."""
    query = query if query is not None else Defaults()
    for each in parse_pipeline(passes) if isinstance(passes, str) else passes:
        each.apply(module, query)
        try:
            ir_text.verify(module)
        except UserError as error:
            raise AssertionError(f"{each.spec_name} made GraphIR that is not valid: {error}") from error
    return module


__all__ = [
    "PASSES",
    "AttachSchedules",
    "ChooseDirection",
    "Deduplicate",
    "Defaults",
    "FindEarlyExits",
    "FindSnapshots",
    "ForwardStores",
    "FuseApplies",
    "FuseLoops",
    "InsertAtomics",
    "Pass",
    "Query",
    "RaiseFixpoints",
    "RecognizeReductions",
    "ReuseFrontiers",
    "SplitHybrids",
    "SplitLoop",
    "find_label",
    "label_paths",
    "parse_pipeline",
    "pipeline",
    "run",
    "traversal",
]
