"""The program's own level: control flow, variables and properties, and when threads have to meet.

All threads compute the same scalars. What only one may do (a store to a vertex) the first thread does; `settle` puts a barrier
where something written must be seen, or something read must not yet change.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from pantograf.ir import graph as g
from pantograf.machines.cpu.choose import CpuQuery
from pantograf.machines.cpu.function import Body, Checks
from pantograf.machines.cpu.liveness import as_range, cells_of, in_loop, live_sets, maker
from pantograf.machines.cpu.plan import Need, Plan, element_of, extreme, form_of
from pantograf.machines.cpu.text import Lines, Names, literal


class LevelWriter(Body):
    """Writes what every thread does, or the body of a par_for (which one thread runs by itself)."""

    def __init__(
        self,
        plan: Plan,
        query: CpuQuery,
        wide: bool,
        checks: Checks,
        module_names: Names,
        functions: list[str],
    ) -> None:
        super().__init__(Lines(), Names(), wide, checks)
        self.plan = plan
        self.halves = plan.halves
        self.query = query
        self.module_names = module_names
        self.functions = functions
        self.needs: dict[str, Need] = {}
        self.captured: dict[str, SSAValue] = {}
        self.pending: str | None = None
        self.reading = False
        self.graphs: dict[str, str] = {}
        self.set_count = 1
        self.par_for: g.ParForOp | None = None
        self.lowest: dict[g.QueuePopOp, str] = {}
        """For a pop the name of the bucket that it takes, where the loop around it has found out."""
        self.partials: dict[SSAValue, tuple[str, str]] = {}

    def need(self, hint: str, need: Need) -> str:
        """The name of something that the host provides."""
        name = self.names.make(hint)
        self.needs[name] = need
        return name

    def shared_need(self, hint: str, need: Need) -> str:
        """Scratch memory that all applies use in turn."""
        for name, known in self.needs.items():
            if known == need:
                return name
        return self.need(hint, need)

    def knob(self, value: int) -> str:
        """The text that reads a number of a schedule at run time; which number it is does not change the text."""
        self.plan.knobs.append(value)
        return f"load(w.knobs, {len(self.plan.knobs) - 1})"

    def knob_float(self, value: float) -> str:
        """A float among the knobs, as its bits."""
        import struct

        return self.knob(struct.unpack("<q", struct.pack("<d", value))[0])

    def graph(self, made: str) -> str:
        """The name of a form of the graph."""
        for name, need in self.needs.items():
            if need.kind == "graph" and need.source == made:
                return name
        hint = "graph" + {"": "", "t": "_transposed", "r": "_relabelled"}.get(made, f"_{made}")
        return self.need(hint, Need("graph", source=made))

    def settle(self, reading: bool = False) -> None:
        """Before all threads work together (or one reads what another wrote): what is pending must be done."""
        if self.pending is not None or (self.reading and not reading):
            self.out("barrier(w)")
            self.pending, self.reading = None, False

    def alone(self, kind: str) -> None:
        """Before a write without a barrier of its own: `fill` (each thread its share) or `first` (the first thread)."""
        if self.reading or self.pending not in (None, kind):
            self.out("barrier(w)")
            self.reading = False
        self.pending = kind

    def outer(self, v: SSAValue) -> str:
        """In a par_for: a value of the program around it."""
        assert self.par_for is not None, f"{v} has no text"
        name = self.names.make(v.name_hint)
        self.captured[name] = v
        self.text[v] = name
        return name

    def write_if(self, op: g.IfOp) -> None:
        """Two branches, each settled at its end."""
        self.settle()
        with self.out.block(f"if {self.value(op.condition)}"):
            self.block(op.then.block)
            self.settle()
        if op.otherwise.block.first_op is not None:
            with self.out.block("else"):
                self.block(op.otherwise.block)
                self.settle()

    def write_while(self, op: g.WhileOp) -> None:
        """A loop, settled before and at the end of its body."""
        self.settle()
        with self.out.block("while True"):
            self.block(op.condition.block)
            last = op.condition.block.last_op
            assert isinstance(last, g.YieldOp)
            self.settle(reading=True)
            with self.out.block(f"if not {self.value(last.values[0])}"):
                self.out("break")
            self.turn(op)
            self.block(op.body.block)
            self.settle()
        self.reading = True  # the condition may have read values just before the loop ended

    def write_for(self, op: g.ForOp) -> None:
        """A counting loop."""
        self.settle()
        argument = op.body.block.args[0]
        counter = self.names.make(argument.name_hint, "i")
        self.text[argument] = counter
        bounds = ", ".join(self.value(v) for v in (op.low, op.high, op.step))
        with self.out.block(f"for {counter} in range({bounds})"):
            self.turn(op)
            self.block(op.body.block)
            self.settle()

    def turn(self, op: Operation) -> None:
        """Count a turn of a labelled loop; end where the run has to."""
        label = op.properties.get("label")
        if isinstance(label, StringAttr) and label.data:
            with self.out.block(f"if turn(w, {'load(w.knobs, 0)'})"):
                self.out("break")

    def write_break(self, op: g.BreakOp) -> None:
        """Leave the loop, settled."""
        pending, reading = self.pending, self.reading
        self.settle()
        self.out("break")
        self.pending, self.reading = pending, reading

    def write_continue(self, op: g.ContinueOp) -> None:
        """Next turn, settled."""
        pending, reading = self.pending, self.reading
        self.settle()
        self.out("continue")
        self.pending, self.reading = pending, reading

    def write_variable(self, op: g.VariableOp) -> None:
        """A variable: each thread has its own, all with the same value."""
        name = self.names.make(op.out.name_hint)
        self.text[op.out] = name
        self.out(f"{name} = {self.typed(op.value)}")

    def write_reduce(self, op: g.ReduceOp) -> None:
        """A reduction at the program's level."""
        kind, value, t = op.kind.data, self.value(op.value), self.kind(op.value)
        if isinstance(op.target.type, g.CellType):
            if self.par_for is not None and not self.par_for.is_ancestor(maker(op.target)):
                name = self.partial(op.target, kind)
            else:
                name = self.value(op.target)
            changed = f"{self.combined(kind, name, value, t)} != {name}"
            if op.out is not None:
                self.define(op.out, "True" if kind == "sum" else changed)
            self.out(f"{name} = {self.combined(kind, name, value, t)}")
            return
        array, (place, _) = self.value(op.target), self.place(op.target, tuple(op.at), op)
        if "atomic" in op.attributes:
            name = {"sum": f"atomic_add{'_float' if t[0] == 'f' else ''}"}.get(
                kind, f"reduce_{'flag' if t == 'bool' else kind}"
            )
            self.out(f"{name}({array}, {place}, {value})")
            return
        self.settle(reading=True)
        old = self.names.make("old")
        self.out(f"{old} = {self.element(array, place, op.value)}")
        self.out("barrier(w)")
        if op.out is not None:
            self.define(op.out, "True" if kind == "sum" else f"{self.combined(kind, old, value, t)} != {old}")
        with self.out.block("if w.tid == 0"):
            self.out(f"store({array}, {place}, {self.combined(kind, old, value, t)})")
        self.pending, self.reading = "first", False

    def partial(self, cell: SSAValue, kind: str) -> str:
        """In a par_for: what a thread has reduced so far into a variable from around it."""
        if cell not in self.partials:
            self.partials[cell] = (self.names.make(f"partial_{cell.name_hint or 'value'}"), kind)
        return self.partials[cell][0]

    def combined(self, kind: str, a: str, b: str, t: str) -> str:
        """`a` and `b` reduced."""
        if kind == "sum":
            return f"{t}({a} + {b})"
        if kind == "or":
            return f"({a} or {b})" if t == "bool" else f"{t}({a} | {b})"
        return f"{t}({kind}({a}, {b}))"

    def write_vertices(self, op: g.VerticesOp) -> None:
        """All vertices: a range, unless somebody needs it as a set."""
        if all(as_range(use.operation, use.index) for use in op.out.uses):
            return
        self.settle()
        self.new_set(op, op.out)
        self.out(f"make_all(w, {self.value(op.out)}, {self.value(op.edges)}.offsets.size - 1)")

    def write_transpose(self, op: g.TransposeOp) -> None:
        """The graph with its edges turned round."""
        self.text[op.out] = self.graph(form_of(op.out))

    def write_relabel(self, op: g.RelabelOp) -> None:
        """The graph numbered by falling degree."""
        self.text[op.out] = self.graph(form_of(op.out))

    def write_degrees(self, op: g.DegreesOp) -> None:
        """Degrees as a property, computed where the program stands."""
        graph = self.value(op.edges)
        name = self.need(op.out.name_hint or "degrees", Need("array", "int64"))
        self.text[op.out] = name
        side = "offsets" if op.direction.data == "out" else "in_offsets"
        if side == "in_offsets":
            self.plan.pulls.add(form_of(op.edges))
        self.alone("fill")
        self.out(f"degrees(w, {name}, {graph}.{side})")

    def write_property(self, op: g.PropertyOp) -> None:
        """A new property: memory of its own, filled."""
        self.alone("fill")
        name = self.storage(op, op.out)
        scalar = op.initial
        self.out(f"fill(w, {name}, {self.value(scalar)})")

    def storage(self, op: Operation, out: SSAValue) -> str:
        """Memory for a property: fixed, or in a loop whose variables may still hold the one before, any that is free."""
        width, dtype = element_of(out, self.wide)
        hint = out.name_hint or "property"
        holders = cells_of(op, out.type) if in_loop(op) else []
        if holders and any(isinstance(use.operation, (g.SetOp, g.VariableOp)) for use in out.uses):
            pool = self.need(f"{hint}_pool", Need("pool", dtype, width, len(holders) + 2))
            name = self.names.make(hint)
            held = [f"address({self.value(c)})" for c in holders if c in self.text]
            self.out(f"{name} = {pool}[free_array({pool}, ({', '.join(held)},))]")
            self.text[out] = name
        else:
            group = next((names for names in self.plan.records if hint in names), ()) if width == 1 else ()
            self.text[out] = self.need(hint, Need("array", dtype, width, record=group))
        return self.text[out]

    def write_copy(self, op: g.CopyOp) -> None:
        """A copy of a property or of a set."""
        if isinstance(op.source.type, g.VertexSetType):
            self.settle()
            self.new_set(op, op.out)
            self.out(f"copy_set(w, {self.value(op.out)}, {self.value(op.source)})")
            return
        self.settle()
        name = self.storage(op, op.out)
        self.out(f"copy_array(w, {name}, {self.value(op.source)})")
        self.pending, self.reading = "fill", True

    def write_assign(self, op: g.AssignOp) -> None:
        """All values of one property for another."""
        self.settle()
        self.out(f"copy_array(w, {self.value(op.target)}, {self.value(op.source)})")
        self.pending, self.reading = "fill", True

    def write_fill(self, op: g.FillOp) -> None:
        """One value for all vertices."""
        self.alone("fill")
        self.out(f"fill(w, {self.value(op.target)}, {self.value(op.value)})")

    def write_load(self, op: g.LoadOp) -> None:
        """All threads read the same value."""
        self.settle(reading=True)
        super().write_load(op)
        self.reading = True

    def write_store(self, op: g.StoreOp) -> None:
        """The first thread writes."""
        self.alone("first")
        with self.out.block("if w.tid == 0"):
            place, _ = self.place(op.target, tuple(op.at), op)
            self.out(f"store({self.value(op.target)}, {place}, {self.value(op.value)})")

    def write_compare_and_swap(self, op: g.CompareAndSwapOp) -> None:
        """At the program's level: a test and a write."""
        self.settle(reading=True)
        array = self.value(op.target)
        place = self.vertex(op.vertex, f"{array}.size", op)
        if "atomic" in op.attributes:
            self.define(op.out, f"compare_exchange({array}, {place}, {self.value(op.old)}, {self.value(op.new)})")
            return
        self.define(op.out, f"load({array}, {place}) == {self.value(op.old)}")
        self.out("barrier(w)")
        with self.out.block(f"if w.tid == 0 and {self.value(op.out)}"):
            self.out(f"store({array}, {place}, {self.value(op.new)})")
        self.pending, self.reading = "first", False

    def write_aggregate(self, op: g.AggregateOp) -> None:
        """A reduction over all vertices."""
        self.settle()
        t, kind = self.kind(op.out), op.kind.data
        start = {"sum": literal(0, op.out.type, self.wide), "or": "False"}.get(kind) or extreme(op.out, kind, self.wide)
        name = f"aggregate_{kind}{'_float' if t[0] == 'f' else ''}"
        text = f"{name}(w, {self.value(op.source)}, {start})"
        self.define(op.out, f"{text} != 0" if t == "bool" else f"{t}({text})")

    def new_set(self, op: Operation, out: SSAValue) -> str:
        """A buffer that no live set uses."""
        live = live_sets(op, out)
        self.set_count = max(self.set_count, len(live) + 1)
        name = self.names.make(out.name_hint or "vertices")
        self.text[out] = name
        taken = (
            " | ".join(f"used({self.value(v)})" for v in live if v in self.text or not isinstance(v.owner, Block))
            or "i64(0)"
        )
        self.out(f"{name} = free_set(sets, {taken})")
        return name
