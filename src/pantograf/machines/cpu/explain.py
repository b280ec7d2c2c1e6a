"""Why each part of a program runs as it does on the CPU, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr

from pantograf import spec
from pantograf.ir import graph as g
from pantograf.machines.cpu.lower import choose, queue_schedule
from pantograf.passes import label_paths

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.machines.cpu.machine import Cpu


def explain(machine: Cpu, program: Program, graph: Graph) -> list[str]:
    """One sentence for each label."""
    module = machine.lowered(program)
    shape = f"{graph.m:,} edges over {graph.n:,} vertices, {graph.m / max(graph.n, 1):.1f} a vertex"
    lines = [f"{program.name} on {spec.show(machine)} with {machine.thread_count} threads: {shape}"]
    for path, ops in label_paths(module).items():
        for op in ops:
            if isinstance(op, g.EdgeApplyOp):
                choice = choose(op, machine.deterministic)
                direction = op.attributes["direction"].data  # type: ignore[attr-defined]
                part = op.attributes.get("part")
                when = f" while the frontier is {part.data}" if isinstance(part, StringAttr) and op.from_ is not None else ""
                extra = ", stops at a destination's first write" if "early_exit" in op.attributes else ""
                extra += ", removes duplicates" if "deduplicate" in op.attributes else ""
                lines.append(f"{path}: {direction}{when} ({choice.reason}){extra}")
            elif isinstance(op, (g.VertexApplyOp, g.WhereOp)):
                lines.append(f"{path}: each vertex, {choose(op, machine.deterministic).schedule.parallelism} parallel")
            elif isinstance(op, g.WhileOp):
                why = op.attributes.get("fixpoint")
                if isinstance(why, StringAttr):
                    lines.append(f"{path}: {'a fixpoint, run as ' if why.data == 'rounds in place' else ''}{why.data}")
            elif isinstance(op, g.QueueOp):
                knobs = queue_schedule(op.out)
                lines.append(f"{path}: priority updates are {knobs.priority}, {knobs.buckets} open buckets")
    return lines
