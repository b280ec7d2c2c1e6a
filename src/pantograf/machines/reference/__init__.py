"""The meaning of GraphIR: a plain interpreter of programs as they were written. All other machines are held to it.

It runs everything and takes no schedules. One call of a function comes after the other, in the order of the rows, and
float sums are added in that order. An index that is no vertex stops the run at its line. `print` works everywhere.

| statistic            | meaning                                                              |
|----------------------|----------------------------------------------------------------------|
| `rounds`             | turns of the program's labelled loops                                |
| `edges`              | edges that an edge function was called for, each counted once        |
| `edges_processed`    | calls of edge functions                                              |
| `vertices_processed` | calls of vertex functions                                            |
| `pops`               | buckets taken from priority queues                                   |
| `completed`          | false if a limit ended something                                     |

`max_rounds` ends loops: what follows them still runs. After `max_seconds` loops end, and applies have no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from xdsl.ir import Attribute

from pantograf.ir import graph as ir
from pantograf.machine import Limits, Outcome
from pantograf.machines.reference import applies, control, data  # noqa: F401  (they fill the table of meanings)
from pantograf.machines.reference.interpreter import Interpreter, scalar_of
from pantograf.passes.recognize_reductions import RecognizeReductions
from pantograf.schedule import Schedule

if TYPE_CHECKING:
    from pantograf.errors import Refused
    from pantograf.graphs import Graph
    from pantograf.lang.program import Program


@dataclass(frozen=True)
class Reference:
    """The interpreter as a machine."""

    spec_name: ClassVar[str] = "reference"

    def schedules(self) -> Mapping[str, type[Schedule]]:
        """None: programs run as they are written."""
        return {}

    def knobs(self, program: Program, label: str) -> tuple[str, ...]:
        """None."""
        return ()

    def space(self, program: Program, label: str) -> Iterator[Schedule]:
        """None: nothing can be chosen."""
        return iter(())

    def refuses(self, program: Program) -> Refused | None:
        """Never."""
        return None

    def compile(self, program: Program, graph: Graph) -> Interpreted:
        """Make the program ready to run on a graph. Of the passes it needs the one that is part of the language's meaning."""
        module = program.module.clone()
        RecognizeReductions().apply(module, None)
        return Interpreted(Interpreter(module, program.externs), graph)

    def stages(self) -> tuple[str, ...]:
        """None: it runs GraphIR itself."""
        return ()

    def show(self, program: Program, graph: Graph | None, stage: str) -> str:
        """The program's GraphIR."""
        return program.show()


@dataclass(frozen=True)
class Interpreted:
    """A program and the graph it will run on."""

    interpreter: Interpreter
    graph: Graph

    code = ""

    @property
    def chosen(self) -> dict[str, list[str]]:
        """Nothing: the machine has no choice."""
        return {}

    def run(self, arguments: Mapping[str, Any], limits: Limits) -> Outcome:
        """Run once."""
        r = self.interpreter.run(arguments, self.graph, limits, print)
        values = {name: self._result(t, value) for name, t, value in self.interpreter.results(r)}
        stats: dict[str, int | float | str | bool] = {
            "completed": r.completed,
            "rounds": r.rounds,
            "edges": r.edges_touched(),
            "edges_processed": r.edges_processed,
            "vertices_processed": r.vertices_processed,
            "pops": r.pops,
        }
        return Outcome(values, stats)

    def _result(self, t: Attribute, value: Any) -> Any:
        """A value as results have it."""
        if isinstance(t, ir.PropertyType):
            array = np.array(value.values, self._dtype(scalar_of(t.element)))
            return array.reshape(-1, value.width) if isinstance(t.element, ir.VectorType) else array
        if isinstance(t, ir.VertexSetType):
            return np.array(sorted(value.members), np.int64)
        if isinstance(t, ir.ListType):
            return [self._result(t.element, item) for item in value]
        return value

    def _dtype(self, t: Attribute) -> np.dtype[Any]:
        return self.graph.neighbors.dtype if isinstance(t, ir.VertexType) else np.dtype(ir.DTYPES[ir.type_name(t)])


__all__ = ["Reference"]
