"""Why each part of a program runs as it does on the CPU, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from pantograf import spec
from pantograf.ir import graph as g
from pantograf.machines.cpu.choose import SMALL_ROUNDS, CpuQuery, queue_schedule
from pantograf.machines.cpu.lower import IN_PLACE

if TYPE_CHECKING:
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program
    from pantograf.machines.cpu.machine import Cpu


def explain(machine: Cpu, program: Program, graph: Graph) -> list[str]:
    """One sentence for each label."""
    query = machine.query(graph)
    module = machine.lowered(program, query)
    shape = f"{graph.m:,} edges over {graph.n:,} vertices, {graph.m / max(graph.n, 1):.1f} a vertex"
    lines = [f"{program.name} on {spec.show(machine)} with {machine.thread_count} threads: {shape}"]
    for op in module.walk():
        sentence = _sentence(op, query)
        if sentence:
            lines.append(f"{op.properties['label'].data}: {sentence}")  # type: ignore[attr-defined]
    return lines


def _sentence(op: Operation, query: CpuQuery) -> str:
    """How an operation runs, and why; nothing for operations without a label."""
    label = op.properties.get("label")
    if not isinstance(label, StringAttr) or not label.data:
        return ""
    match op:
        case g.EdgeApplyOp():
            choice = query.choose(op)
            direction = op.attributes["direction"].data  # type: ignore[attr-defined]
            part = op.attributes.get("part")
            when = (
                f" while the frontier is {part.data}" if isinstance(part, StringAttr) and op.from_ is not None else ""
            )
            extra = ", stops at a destination's first write" if "early_exit" in op.attributes else ""
            extra += ", removes duplicates" if "deduplicate" in op.attributes else ""
            extra += ", copies what it reads first" if _copies(op) else ""
            return f"{direction}{when} ({choice.reason}){extra}"
        case g.VertexApplyOp() | g.WhereOp():
            extra = ", copies what it reads first" if _copies(op) else ""
            how = query.choose(op).schedule.parallelism
            return ("one thread" if how == "serial" else "in parallel") + " over the vertices" + extra
        case g.WhileOp():
            why = op.attributes.get("fixpoint")
            return (
                f"not a fixpoint: {why.data}"
                if isinstance(why, StringAttr) and why.data != IN_PLACE
                else IN_PLACE
                if why
                else ""
            )
        case g.QueueOp():
            knobs = queue_schedule(op.out)
            small = " (many rounds of few vertices, as the mean degree is low)" if SMALL_ROUNDS in op.attributes else ""
            return f"priority updates are {knobs.priority}{small}, {knobs.buckets} open buckets"
    return ""


def _copies(op: Operation) -> bool:
    """Whether a property is copied before an apply, because others' writes must not be seen."""
    return any(isinstance(x, g.LoadOp) and "snapshot" in x.attributes for x in op.walk())
