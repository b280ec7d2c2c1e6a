"""The driver: one compiled function that every thread runs from end to end, calling the functions of the applies."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from pantograf import spec
from pantograf.ir import graph as g
from pantograf.ir.functions import function_around, functions_of, relation
from pantograf.machines.cpu.apply import ApplyWriter, Emitted
from pantograf.machines.cpu.containers import ContainerWriter
from pantograf.machines.cpu.effects import intersection, print_text
from pantograf.machines.cpu.plan import Need, element_of, extreme, form_of
from pantograf.machines.cpu.schedule import Traverse
from pantograf.machines.cpu.text import Lines, literal, scalar_type

BETWEEN = "between"
"""Where the time goes that no apply takes: sets, queues, copies, the program's own statements."""


class DriverWriter(ContainerWriter):
    """Writes applies, par_fors and results."""

    def write_edge_apply(self, op: g.EdgeApplyOp) -> None:
        """Call the function of an edge apply."""
        self.apply(op)

    def write_vertex_apply(self, op: g.VertexApplyOp) -> None:
        """Call the function of a vertex apply."""
        self.apply(op)

    def write_where(self, op: g.WhereOp) -> None:
        """Call the function of a filter."""
        self.apply(op)

    def apply(self, op: g.EdgeApplyOp | g.VertexApplyOp | g.WhereOp) -> None:
        """Write the apply's function, prepare what it reads, call it."""
        schedule = self.query.choose(op).schedule
        direction = "pull" if op.attributes.get("direction") == StringAttr("pull") else "push"
        ways = self.plan.chosen.setdefault(op.label.data, [])
        if (shown := spec.show(schedule)) not in ways:
            ways.append(shown)
        what = direction if isinstance(op, g.EdgeApplyOp) else "where" if isinstance(op, g.WhereOp) else "each"
        name = self.function_name(f"{op.label.data or op.function.data}_{what}")
        writer = ApplyWriter(op, schedule, direction, name, self.wide, self.checks, self.knob, self.query.deterministic)
        emitted = writer.write()
        self.functions.append(emitted.text)
        self.plan.halves |= writer.halves
        self.settle()
        if direction == "pull" and isinstance(op, g.EdgeApplyOp):
            self.plan.pulls.add(form_of(op.edges))
        for value, layout in emitted.layouts.items():
            self.layout(value, layout)
        before = [self.snapshot(op, handle, i) for i, handle in enumerate(emitted.snapshots)]
        if op.results:
            self.new_set(op, op.results[0])
        arguments = [self.argument(op, stands_for, before) for stands_for in emitted.parameters.values()]
        call = f"{name}({', '.join(['w', *arguments])})"
        self.call(op, emitted, call)
        self.pending, self.reading = None, False

    def function_name(self, hint: str) -> str:
        """A name for a function of the module, which no local of this driver has."""
        return self.names.make(self.module_names.make(hint))

    def call(self, op: Operation, emitted: Emitted, call: str) -> None:
        """The call, and where its reductions go."""
        self.note_time(BETWEEN)
        targets = ", ".join(self.value(cell) for cell in emitted.reduced)
        self.out(f"{targets}{',' if len(emitted.reduced) == 1 else ''} = {call}" if emitted.reduced else call)
        part = op.attributes.get("part")
        way = f".{part.data}" if isinstance(part, StringAttr) else ""
        self.note_time(op.properties["label"].data + way)  # type: ignore[attr-defined]

    def note_time(self, label: str) -> None:
        """Where time is measured: all since this was written before belongs to a label."""
        if self.plan.profiled is None or self.par_for is not None:
            return
        if label not in self.plan.profiled:
            self.plan.profiled.append(label)
        profile = self.shared_need("profile", Need("profile"))
        self.out(f"note_time(w, {profile}, {self.plan.profiled.index(label)})")

    def layout(self, v: SSAValue, layout: str) -> None:
        """See to it that a set has a layout."""
        text = self.value(v)
        if layout in ("list", "both"):
            self.out(f"need_list(w, {text})")
        if layout in ("bits", "both"):
            self.out(f"need_bits(w, {text})")
        if layout in ("bools", "both"):
            self.out(f"need_bools(w, {text}, {text}.bools.size)")

    def argument(self, op: Operation, stands_for: SSAValue | str, before: list[str]) -> str:
        """What a parameter of an apply's function gets."""
        if not isinstance(stands_for, str):
            return self.value(stands_for)
        kind, _, detail = stands_for.partition(":")
        if kind == "before":
            return before[int(detail)]
        if kind == "out":
            return self.value(op.results[0])
        if kind == "hubs":
            return self.shared_need("hubs", Need("ids"))
        if kind == "written":
            store, _, width = detail.partition(":")
            return self.shared_need("written", Need("stamps", width=int(width), count=int(store)))
        if kind == "marks":
            return self.shared_need("marks", Need("marks", source=detail))
        assert kind == "segments" and isinstance(op, g.EdgeApplyOp)
        count, _, balance = detail.partition(":")
        return self.shared_need("segments", Need("segments", balance, count=int(count), source=form_of(op.edges)))

    def snapshot(self, op: g.EdgeApplyOp | g.VertexApplyOp | g.WhereOp, handle: SSAValue, number: int) -> str:
        """The state before the apply of a property that it reads and writes: a copy of the active vertices' values if that is
        all that is read, else a whole copy; no copy where the property, it turns out, is another one than what is written."""
        width, dtype = element_of(handle, self.wide)
        copy = self.shared_need("before", Need("array", dtype, width, count=100 + number))
        source = self.value(handle)
        loads = [x for x in op.walk() if isinstance(x, g.LoadOp) and x.source is handle and "snapshot" in x.attributes]
        active = op.from_ if isinstance(op, g.EdgeApplyOp) else op.vertices
        sparse = (
            active is not None
            and not (isinstance(active.owner, g.VerticesOp) and active not in self.text)
            and all(_at_active(op, x) for x in loads)
        )
        name = self.names.make(f"{handle.name_hint or 'p'}_before")
        certain = any(x.attributes["snapshot"] == StringAttr("yes") for x in loads)
        if certain:
            self.copy_before(sparse, active, width, copy, source)
            self.out(f"{name} = {copy}")
            return name
        self.out(f"{name} = {source}")
        written = [
            a for f in functions_of(op) for a in f.accesses() if a.writes and relation(a.handle, handle) != "distinct"
        ]
        tests = sorted({f"address({source}) == address({self.value(a.handle)})" for a in written})
        with self.out.block(f"if {' or '.join(tests)}"):
            self.copy_before(sparse, active, width, copy, source)
            self.out(f"{name} = {copy}")
        return name

    def copy_before(self, sparse: bool, active: SSAValue | None, width: int, copy: str, source: str) -> None:
        """Copy what will be read."""
        if sparse and active is not None:
            self.out(f"need_list(w, {self.value(active)})")
            self.out(f"copy_members(w, {self.value(active)}, {width}, {copy}, {source})")
        else:
            self.out(f"copy_array(w, {copy}, {source})")
        self.out("barrier(w)")

    def write_par_for(self, op: g.ParForOp) -> None:
        """Indices are dealt one by one; each thread runs the body by itself, with memory of its own."""
        self.settle()
        name = self.function_name(f"{op.label.data}_body")
        inner = DriverWriter(self.plan, self.query, self.wide, self.checks, self.module_names, self.functions)
        inner.par_for = op
        inner.names.make("sets")
        index = inner.names.make(op.body.block.args[0].name_hint, "i")
        inner.text[op.body.block.args[0]] = index
        inner.block(op.body.block)
        inner.settle()
        own = {}
        for key, n in inner.needs.items():
            if n.kind == "graph":
                own[key] = self.graph(n.source)
            elif n.kind == "segments":
                own[key] = self.shared_need(key, n)
            else:
                own[key] = self.need(key, Need(n.kind, n.dtype, n.width, n.count, n.source, True)) + "[w.tid]"
        sets = self.need("inner_sets", Need("sets", count=inner.set_count, per_thread=True))
        text = Lines()
        text("@njit(**OPTIONS)")
        partials = [local for local, _ in inner.partials.values()]
        with text.block(f"def {name}({', '.join(['w', 'sets', index, *inner.captured, *own, *partials])})"):
            text(f'"""{op.label.data}: what one index does, by one thread."""')
            text.extend(inner.out)
            text(f"return ({', '.join(partials)}{',' if len(partials) == 1 else ''})" if partials else "return")
        self.functions.append(str(text))
        captured = [self.value(v) for v in inner.captured.values()]
        for v in inner.captured.values():
            if isinstance(v.type, g.VertexSetType):
                self.layout(v, "both")
        self.parallel(op, name, sets, captured, list(own.values()), inner.partials)

    def parallel(
        self, op: g.ParForOp, name: str, sets: str, captured: list[str], own: list[str],
        partials: Mapping[SSAValue, tuple[str, str]],
    ) -> None:  # fmt: skip
        """The dealing of a par_for's indices, and the sum of what threads reduced."""
        out = self.out
        workers = self.shared_need("inner", Need("members"))
        phase = self.names.make("phase_of_par_for")
        index = self.names.make("index")
        out(f"{phase} = begin(w)")
        locals_ = {}
        for cell, (local, kind) in partials.items():
            locals_[cell] = (self.names.make(local), kind)
            start = {"sum": literal(0, cell.type.element, self.wide), "or": "False"}.get(kind)  # type: ignore[attr-defined]
            out(f"{locals_[cell][0]} = {start or extreme(cell, kind, self.wide)}")
        with out.block("while True"):
            out(f"{index} = {self.value(op.low)} + take(w, {phase}, 1)")
            with out.block(f"if {index} >= {self.value(op.high)}"):
                out("break")
            results = [local for local, _ in locals_.values()]
            call = f"{name}({', '.join([f'{workers}[w.tid]', f'{sets}[w.tid]', index, *captured, *own, *results])})"
            out(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}" if results else call)
        for number, (cell, (local, _)) in enumerate(locals_.items()):
            t = scalar_type(cell.type.element, self.wide)  # type: ignore[attr-defined]
            out(f"put_{'float' if t[0] == 'f' else 'int'}(w, {phase}, {number}, {local})")
        out("barrier(w)")
        for number, (cell, (_, kind)) in enumerate(locals_.items()):
            t = scalar_type(cell.type.element, self.wide)  # type: ignore[attr-defined]
            with out.block("for thread in range(w.threads)"):
                other = f"get_{'float' if t[0] == 'f' else 'int'}(w, {phase}, {number}, thread)"
                other = f"{other} != 0" if t == "bool" else f"{t}({other})"
                out(f"{self.value(cell)} = {self.combined(kind, self.value(cell), other, t)}")
        self.pending, self.reading = None, False

    def write_intersect(self, op: g.IntersectOp) -> None:
        """Common neighbours of two vertices."""
        method = intersection(op, Traverse())
        method = "adaptive" if method == "bitmap" else method
        _, _, first, second = self.rows(op)
        self.define(op.out, f"intersect_{method}({', '.join([self.value(op.edges), *first, *second])})")

    def write_print(self, op: g.PrintOp) -> None:
        """The first thread prints."""
        with self.out.block("if w.tid == 0"):
            self.out(print_text(self, op))

    def write_timer_start(self, op: g.TimerStartOp) -> None:
        """Note the time."""
        self.settle()
        self.out(f"timer = seconds(w, {self.clock()}, 0.0)")

    def write_timer_stop(self, op: g.TimerStopOp) -> None:
        """Seconds since the start."""
        self.settle()
        self.define(op.out, f"seconds(w, {self.clock()}, timer)")

    def clock(self) -> str:
        """Where the time is noted."""
        return self.shared_need("clock", Need("clock"))

    def write_return(self, op: g.ReturnOp) -> None:
        """The results: scalars as they are, arrays as where they lie, sets as which buffer."""
        self.settle()
        self.note_time(BETWEEN)
        texts = []
        for value, name in zip(op.values, op.names.data, strict=True):
            text = self.value(value) if not (isinstance(value.owner, g.VerticesOp) and value not in self.text) else None
            kind, width = "scalar", 1
            match value.type:
                case g.PropertyType():
                    width, _ = element_of(value, self.wide)
                    element = value.type.element
                    scalar = element.element if isinstance(element, g.VectorType) else element
                    kind = "bools" if scalar == g.i1 else "array"
                    width = -width if isinstance(element, g.VectorType) else 1
                case g.VertexSetType():
                    kind = "set"
                    self.out(f"need_list(w, {text})")
            match kind:
                case "scalar":
                    text = self.typed(value)
                case "array" | "bools":
                    text = f"address({text})"
                case "set":
                    text = f"load({text}.meta, INDEX)" if text is not None else "i64(-1)"
            self.plan.results.append((name.data, kind, width))
            texts.append(str(text))
        self.out(f"return ({', '.join(texts)}{',' if len(texts) == 1 else ''})" if texts else "return None")


def _at_active(op: Operation, load: g.LoadOp) -> bool:
    """Whether a load reads at the active vertex of its function: src, or the own vertex."""
    function = function_around(load)
    return function is not None and function.index(load.at[0]) in ("src", "own")
