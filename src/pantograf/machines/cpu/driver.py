"""The program's own level: one compiled function that every thread runs from end to end, calling the functions of the applies.

All threads compute the same scalars. What only one may do (a store to a vertex) the first thread does; `settle` puts a barrier
where something written must be seen, or something read must not yet change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import relation
from pantograf.ir.text import program_of
from pantograf.machines.cpu.apply import ApplyWriter, Emitted, intersection, print_text, set_size
from pantograf.machines.cpu.function import Body
from pantograf.machines.cpu.lower import CpuQuery, queue_schedule
from pantograf.machines.cpu.schedule import Traverse
from pantograf.machines.cpu.text import DTYPES, Lines, Names, literal, scalar_type

SETS = (g.VertexSetOp, g.EdgeApplyOp, g.VertexApplyOp, g.WhereOp, g.QueuePopOp, g.CopyOp, g.ListGetOp, g.ListPopOp, g.VerticesOp)


@dataclass(frozen=True)
class Need:
    """Something that the host gives to an emitted program as an argument."""

    kind: Literal["graph", "array", "pool", "argument", "members", "sets", "queue", "list", "clock", "ids", "marks", "segments"]
    dtype: str = ""
    width: int = 1
    count: int = 1
    source: str = ""
    """graph: how it is made from the user's, `t` for transposed and `r` for relabelled, in order; argument: its name."""
    per_thread: bool = False


@dataclass
class Plan:
    """An emitted program: its text, what it needs, and what it gives back."""

    text: str = ""
    needs: dict[str, Need] = field(default_factory=dict)
    knobs: list[int] = field(default_factory=list)
    results: list[tuple[str, str, int]] = field(default_factory=list)
    """Name, kind (`array`, `bools`, `set`, `list`, `scalar`, `bool`) and width of each returned value."""
    pulls: set[str] = field(default_factory=set)
    """The graphs whose in-edges are read."""


class DriverWriter(Body):
    """Writes the driver, or the body of a par_for (which one thread runs by itself)."""

    def __init__(self, plan: Plan, query: CpuQuery, wide: bool, checked: bool, module_names: Names, functions: list[str]) -> None:
        super().__init__(Lines(), Names(), wide, checked)
        self.plan = plan
        self.query = query
        self.module_names = module_names
        self.functions = functions
        self.needs: dict[str, Need] = {}
        self.captured: dict[str, SSAValue] = {}
        self.pending: str | None = None
        self.reading = False
        self.graphs: dict[str, str] = {}
        self.set_count = 1
        self.inside: g.ParForOp | None = None
        self.partials: dict[SSAValue, tuple[str, str]] = {}
        self.loops = 0

    # --- needs

    def need(self, hint: str, need: Need) -> str:
        """The name of something that the host provides."""
        name = self.names.make(hint)
        self.needs[name] = need
        return name

    def knob(self, value: int) -> str:
        """The text that reads a number of a schedule at run time."""
        if value not in self.plan.knobs:
            self.plan.knobs.append(value)
        return f"load(w.knobs, {self.plan.knobs.index(value)})"

    def graph(self, made: str) -> str:
        """The name of a form of the graph."""
        for name, need in self.needs.items():
            if need.kind == "graph" and need.source == made:
                return name
        hint = "graph" + {"": "", "t": "_transposed", "r": "_relabelled"}.get(made, f"_{made}")
        return self.need(hint, Need("graph", source=made))

    # --- order among threads

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
        assert self.inside is not None, f"{v} has no text"
        name = self.names.make(v.name_hint)
        self.captured[name] = v
        self.text[v] = name
        return name

    # --- blocks

    def operation(self, op: Operation) -> None:
        """Operations of the program level differ where threads meet; the scalar ones are as in functions."""
        super().operation(op)

    def write_IfOp(self, op: g.IfOp) -> None:  # noqa: N802
        """Two branches, each settled at its end."""
        self.settle()
        with self.out.block(f"if {self.value(op.condition)}"):
            self.block(op.then.block)
            self.settle()
        if op.otherwise.block.first_op is not None:
            with self.out.block("else"):
                self.block(op.otherwise.block)
                self.settle()

    def write_WhileOp(self, op: g.WhileOp) -> None:  # noqa: N802
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
        self.reading = False
        self.settle_reads_after_loop()

    def settle_reads_after_loop(self) -> None:
        """A condition may have read values just before the loop ended."""
        self.reading = True

    def write_ForOp(self, op: g.ForOp) -> None:  # noqa: N802
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
            with self.out.block(f"if turn(w, {self.knob_rounds()})"):
                self.out("break")

    def knob_rounds(self) -> str:
        """Where the limit on turns stands: the first knob, set for each run."""
        return "load(w.knobs, 0)"

    def write_BreakOp(self, op: g.BreakOp) -> None:  # noqa: N802
        """Leave the loop, settled."""
        pending, reading = self.pending, self.reading
        self.settle()
        self.out("break")
        self.pending, self.reading = pending, reading

    def write_ContinueOp(self, op: g.ContinueOp) -> None:  # noqa: N802
        """Next turn, settled."""
        pending, reading = self.pending, self.reading
        self.settle()
        self.out("continue")
        self.pending, self.reading = pending, reading

    # --- variables and the graph

    def write_VariableOp(self, op: g.VariableOp) -> None:  # noqa: N802
        """A variable: each thread has its own, all with the same value."""
        name = self.names.make(op.out.name_hint)
        self.text[op.out] = name
        self.out(f"{name} = {self.typed(op.value)}")

    def write_ReduceOp(self, op: g.ReduceOp) -> None:  # noqa: N802
        """A reduction at the program's level."""
        kind, value, t = op.kind.data, self.value(op.value), self.kind(op.value)
        if isinstance(op.target.type, g.CellType):
            if self.inside is not None and not self.inside.is_ancestor(_maker(op.target)):
                name = self.partial(op.target, kind)
            else:
                name = self.value(op.target)
            changed = f"{self.combined(kind, name, value, t)} != {name}"
            if op.out is not None:
                self.define(op.out, "True" if kind == "sum" else changed)
            self.out(f"{name} = {self.combined(kind, name, value, t)}")
            return
        array, place = self.value(op.target), self.place(op.target, tuple(op.at))
        if "atomic" in op.attributes:
            name = {"sum": f"atomic_add{'_float' if t[0] == 'f' else ''}"}.get(kind, f"reduce_{'flag' if t == 'bool' else kind}")
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

    def write_VerticesOp(self, op: g.VerticesOp) -> None:  # noqa: N802
        """All vertices: a range, unless somebody needs it as a set."""
        if all(_as_range(use.operation, use.index) for use in op.out.uses):
            return
        self.settle()
        self.new_set(op, op.out)
        self.out(f"make_all(w, {self.value(op.out)}, {self.value(op.edges)}.offsets.size - 1)")

    def write_TransposeOp(self, op: g.TransposeOp) -> None:  # noqa: N802
        """The graph with its edges turned round."""
        self.text[op.out] = self.derived(op.edges, "t")

    def write_RelabelOp(self, op: g.RelabelOp) -> None:  # noqa: N802
        """The graph numbered by falling degree."""
        self.text[op.out] = self.derived(op.edges, "r")

    def derived(self, edges: SSAValue, step: str) -> str:
        """A form of the graph made from another form."""
        source = self.needs[self.value(edges)].source
        return self.graph(source[:-1] if step == "t" and source.endswith("t") else source + step)

    def write_DegreesOp(self, op: g.DegreesOp) -> None:  # noqa: N802
        """Degrees as a property, computed where the program stands."""
        graph = self.value(op.edges)
        name = self.need(op.out.name_hint or "degrees", Need("array", "int64"))
        self.text[op.out] = name
        side = "offsets" if op.direction.data == "out" else "in_offsets"
        if side == "in_offsets":
            self.plan.pulls.add(graph)
        self.alone("fill")
        self.out(f"degrees(w, {name}, {graph}.{side})")

    def write_DegreeOp(self, op: g.DegreeOp) -> None:  # noqa: N802
        """Out-degree of a vertex."""
        super().write_DegreeOp(op)

    # --- properties

    def write_PropertyOp(self, op: g.PropertyOp) -> None:  # noqa: N802
        """A new property: memory of its own, filled."""
        self.alone("fill")
        name = self.storage(op, op.out)
        scalar = op.initial
        self.out(f"fill(w, {name}, {self.value(scalar)})")

    def storage(self, op: Operation, out: SSAValue) -> str:
        """Memory for a property: fixed, or in a loop whose variables may still hold the one before, any that is free."""
        width, dtype = element_of(out, self.wide)
        hint = out.name_hint or "property"
        holders = _cells_of(op, out.type) if _in_loop(op) else []
        if holders and any(isinstance(use.operation, (g.SetOp, g.VariableOp)) for use in out.uses):
            pool = self.need(f"{hint}_pool", Need("pool", dtype, width, len(holders) + 2))
            name = self.names.make(hint)
            held = [f"address({self.value(c)})" for c in holders if c in self.text]
            self.out(f"{name} = free_array({pool}, ({', '.join(held)},))")
            self.text[out] = name
        else:
            self.text[out] = self.need(hint, Need("array", dtype, width))
        return self.text[out]

    def write_CopyOp(self, op: g.CopyOp) -> None:  # noqa: N802
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

    def write_AssignOp(self, op: g.AssignOp) -> None:  # noqa: N802
        """All values of one property for another."""
        self.settle()
        self.out(f"copy_array(w, {self.value(op.target)}, {self.value(op.source)})")
        self.pending, self.reading = "fill", True

    def write_FillOp(self, op: g.FillOp) -> None:  # noqa: N802
        """One value for all vertices."""
        self.alone("fill")
        self.out(f"fill(w, {self.value(op.target)}, {self.value(op.value)})")

    def write_LoadOp(self, op: g.LoadOp) -> None:  # noqa: N802
        """All threads read the same value."""
        self.settle(reading=True)
        super().write_LoadOp(op)
        self.reading = True

    def write_StoreOp(self, op: g.StoreOp) -> None:  # noqa: N802
        """The first thread writes."""
        self.alone("first")
        with self.out.block("if w.tid == 0"):
            place = self.place(op.target, tuple(op.at))
            self.out(f"store({self.value(op.target)}, {place}, {self.value(op.value)})")

    def write_CompareAndSwapOp(self, op: g.CompareAndSwapOp) -> None:  # noqa: N802
        """At the program's level: a test and a write."""
        self.settle(reading=True)
        array, place = self.value(op.target), self.value(op.vertex)
        if "atomic" in op.attributes:
            self.define(op.out, f"compare_exchange({array}, {place}, {self.value(op.old)}, {self.value(op.new)})")
            return
        self.define(op.out, f"load({array}, {place}) == {self.value(op.old)}")
        self.out("barrier(w)")
        with self.out.block(f"if w.tid == 0 and {self.value(op.out)}"):
            self.out(f"store({array}, {place}, {self.value(op.new)})")
        self.pending, self.reading = "first", False

    def write_AggregateOp(self, op: g.AggregateOp) -> None:  # noqa: N802
        """A reduction over all vertices."""
        self.settle()
        t, kind = self.kind(op.out), op.kind.data
        start = {"sum": literal(0, op.out.type, self.wide), "or": "False"}.get(kind) or _extreme(op.out, kind, self.wide)
        name = f"aggregate_{kind}{'_float' if t[0] == 'f' else ''}"
        text = f"{name}(w, {self.value(op.source)}, {start})"
        self.define(op.out, f"{text} != 0" if t == "bool" else f"{t}({text})")

    # --- sets

    def new_set(self, op: Operation, out: SSAValue) -> str:
        """A buffer that no live set uses."""
        live = live_sets(op, out)
        self.set_count = max(self.set_count, len(live) + 1)
        name = self.names.make(out.name_hint or "vertices")
        self.text[out] = name
        taken = " | ".join(f"used({self.value(v)})" for v in live if v in self.text or not isinstance(v.owner, Block)) or "i64(0)"
        self.out(f"{name} = free_set(sets, {taken})")
        return name

    def write_VertexSetOp(self, op: g.VertexSetOp) -> None:  # noqa: N802
        """A set of given vertices."""
        self.settle()
        name = self.new_set(op, op.out)
        vid = "i64" if self.wide else "i32"
        members = ", ".join(f"{vid}({self.value(m)})" for m in op.members)
        if members:
            self.out(f"make_set(w, {name}, ({members},))")
        else:
            self.out(f"make_empty(w, {name})")

    def write_SizeOp(self, op: g.SizeOp) -> None:  # noqa: N802
        """How many."""
        if isinstance(op.source.owner, g.VerticesOp) and op.source not in self.text:
            self.define(op.out, f"i64({self.value(op.source.owner.edges)}.offsets.size - 1)")
        else:
            self.define(op.out, set_size(self.value(op.source), op.source))

    def write_IsDenseOp(self, op: g.IsDenseOp) -> None:  # noqa: N802
        """Whether a frontier is large."""
        if op.from_ is None:
            self.define(op.out, "True")
            return
        self.settle()
        self.define(op.out, f"is_dense(w, {self.value(op.edges)}, {self.value(op.from_)}, {self.knob(op.threshold.value.data)})")

    def write_AddOp(self, op: g.AddOp) -> None:  # noqa: N802
        """One more member."""
        self.settle()
        self.out(f"add_vertex(w, {self.value(op.target)}, {self.value(op.vertex)})")

    def write_ContainsOp(self, op: g.ContainsOp) -> None:  # noqa: N802
        """Membership."""
        self.settle()
        self.define(op.out, f"contains(w, {self.value(op.source)}, {self.value(op.vertex)})")
        self.reading = True

    # --- lists

    def write_ListOp(self, op: g.ListOp) -> None:  # noqa: N802
        """A new list."""
        self.settle()
        self.text[op.out] = self.need(op.out.name_hint or "items", Need("list"))
        self.out(f"clear_list(w, {self.value(op.out)})")

    def write_AppendOp(self, op: g.AppendOp) -> None:  # noqa: N802
        """One more entry."""
        self.settle()
        if isinstance(op.value.type, g.VertexSetType):
            self.out(f"append_set(w, {self.value(op.target)}, {self.value(op.value)})")
        else:
            value = self.value(op.value)
            value = f"float_bits(f64({value}))" if self.kind(op.value)[0] == "f" else f"i64({value})"
            self.out(f"append_value(w, {self.value(op.target)}, {value})")

    def write_ListGetOp(self, op: g.ListGetOp) -> None:  # noqa: N802
        """An entry."""
        self.settle()
        self.entry(op, op.source, op.out, f"i64({self.value(op.position)})")

    def write_ListPopOp(self, op: g.ListPopOp) -> None:  # noqa: N802
        """The last entry, taken off."""
        self.settle()
        source = self.value(op.source)
        self.entry(op, op.source, op.out, f"list_size({source}) - 1")
        self.out(f"shorten(w, {source})")
        self.reading = False

    def entry(self, op: Operation, source: SSAValue, out: SSAValue, position: str) -> None:
        """Read an entry of a list."""
        if isinstance(out.type, g.VertexSetType):
            name = self.new_set(op, out)
            self.out(f"get_set(w, {self.value(source)}, {position}, {name})")
            return
        text, t = f"get_value({self.value(source)}, {position})", self.kind(out)
        text = f"{t}(bits_float({text}))" if t[0] == "f" else f"{text} != 0" if t == "bool" else f"{t}({text})"
        self.define(out, text)
        self.reading = True

    # --- queues

    def write_QueueOp(self, op: g.QueueOp) -> None:  # noqa: N802
        """A priority queue over a property."""
        self.settle()
        knobs = queue_schedule(op.out)
        priority = self.value(op.priority)
        width, dtype = element_of(op.priority, self.wide)
        store = self.need(f"{op.out.name_hint or 'queue'}_store", Need("queue", dtype, count=knobs.buckets))
        name = self.names.make(op.out.name_hint or "queue")
        self.text[op.out] = name
        t = scalar_type(op.priority.type.element, self.wide)  # type: ignore[attr-defined]
        delta = self.value(op.delta)
        shift = "i64(-1)"
        if t[0] != "f":
            delta = self.knob(int(knobs.delta)) if knobs.delta is not None else delta
            shift = f"shift_of(i64({delta}))"
        elif knobs.delta is not None:
            delta = f"bits_float({self.knob_float(float(knobs.delta))})"
        fields = ", ".join(f"{store}.{f}" for f in ("delta", "flags", "touched", "vectors", "own", "meta"))
        self.out(f"{name} = Queue({priority}, {fields})")
        highest = op.order.data == "highest"
        lazy = int(knobs.priority == "lazy")
        null = _null(op, self.wide)
        everything = op.start.data == "all"
        n = f"{priority}.size"
        self.out(f"start_queue(w, {name}, {t}({delta}), {shift}, {int(highest)}, {lazy}, {null}, {everything}, {n})")

    def knob_float(self, value: float) -> str:
        """A float among the knobs, as its bits."""
        import struct

        return self.knob(struct.unpack("<q", struct.pack("<d", value))[0])

    def write_QueueAddOp(self, op: g.QueueAddOp) -> None:  # noqa: N802
        """Queue a vertex."""
        self.settle()
        q = self.value(op.queue)
        self.out(f"add_to_queue(w, {q}, {self.value(op.vertex)}, {self.value(op.priority)})")

    def write_QueuePopOp(self, op: g.QueuePopOp) -> None:  # noqa: N802
        """The first bucket."""
        self.settle(reading=True)
        name = self.new_set(op, op.out)
        self.out(f"pop(w, {self.value(op.queue)}, {name})")
        self.reading = False

    def write_QueueUpdateOp(self, op: g.QueueUpdateOp) -> None:  # noqa: N802
        """An update at the program's level: by the first thread."""
        self.settle()
        arguments = [self.value(op.queue), self.value(op.vertex), self.value(op.value)]
        if op.limit is not None:
            arguments.append(self.value(op.limit))
        with self.out.block("if w.tid == 0"):
            self.out(f"update_{op.kind.data}(w, {', '.join([*arguments, 'False'])})")
        self.out("barrier(w)")
        if queue_schedule(op.queue).priority == "lazy":
            self.out(f"settle_lazy(w, {self.value(op.queue)})")
            self.out("barrier(w)")

    def write_QueueFinishedOp(self, op: g.QueueFinishedOp) -> None:  # noqa: N802
        """Whether the queue is empty."""
        self.settle(reading=True)
        self.define(op.out, f"queue_empty(w, {self.value(op.queue)})")
        self.reading = True

    def write_QueueFinishedNodeOp(self, op: g.QueueFinishedNodeOp) -> None:  # noqa: N802
        """Whether a vertex is final."""
        self.settle(reading=True)
        q = self.value(op.queue)
        self.define(op.out, f"bucket({q}, load({q}.priority, {self.value(op.vertex)})) < load({q}.meta, CURRENT)")
        self.reading = True

    def write_QueuePriorityOp(self, op: g.QueuePriorityOp) -> None:  # noqa: N802
        """The current bucket's least priority."""
        self.settle(reading=True)
        self.define(op.out, f"{self.kind(op.out)}(current_priority({self.value(op.queue)}))")
        self.reading = True

    # --- applies

    def write_EdgeApplyOp(self, op: g.EdgeApplyOp) -> None:  # noqa: N802
        """Call the function of an edge apply."""
        self.apply(op)

    def write_VertexApplyOp(self, op: g.VertexApplyOp) -> None:  # noqa: N802
        """Call the function of a vertex apply."""
        self.apply(op)

    def write_WhereOp(self, op: g.WhereOp) -> None:  # noqa: N802
        """Call the function of a filter."""
        self.apply(op)

    def apply(self, op: g.EdgeApplyOp | g.VertexApplyOp | g.WhereOp) -> None:
        """Write the apply's function, prepare what it reads, call it."""
        schedule = self.query.choose(op).schedule
        direction = "pull" if op.attributes.get("direction") == StringAttr("pull") else "push"
        name = self.module_names.make(f"{op.label.data or op.function.data}_{direction}" if isinstance(op, g.EdgeApplyOp) else op.label.data)
        writer = ApplyWriter(op, schedule, direction, name, self.wide, self.checked, self.knob, self.query.deterministic)
        emitted = writer.write()
        self.functions.append(emitted.text)
        self.settle()
        if direction == "pull" and isinstance(op, g.EdgeApplyOp):
            self.plan.pulls.add(self.graph_name(op.edges))
        for value, layout in emitted.layouts.items():
            self.layout(value, layout)
        before = [self.snapshot(op, handle, i) for i, handle in enumerate(emitted.snapshots)]
        if op.results:
            self.new_set(op, op.results[0])
        arguments = [self.argument(op, stands_for, before) for stands_for in emitted.parameters.values()]
        call = f"{name}({', '.join(['w', *arguments])})"
        self.call(op, emitted, call)
        self.pending, self.reading = None, False

    def call(self, op: Operation, emitted: Emitted, call: str) -> None:
        """The call, and where its reductions go."""
        if not emitted.reduced:
            self.out(call)
            return
        targets = ", ".join(self.value(cell) for cell in emitted.reduced)
        self.out(f"{targets}{',' if len(emitted.reduced) == 1 else ''} = {call}")

    def graph_name(self, edges: SSAValue) -> str:
        """The argument that a graph handle is."""
        return self.value(edges)

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
        if kind == "marks":
            return self.shared_need("marks", Need("marks"))
        assert kind == "segments" and isinstance(op, g.EdgeApplyOp)
        graph = self.value(op.edges)
        made = self.needs[graph].source if graph in self.needs else ""
        return self.need("segments", Need("segments", source=made, count=int(detail)))

    def shared_need(self, hint: str, need: Need) -> str:
        """Scratch memory that all applies use in turn."""
        for name, known in self.needs.items():
            if known == need:
                return name
        return self.need(hint, need)

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
        written = [a for f in _functions(op) for a in f.accesses() if a.writes and relation(a.handle, handle) != "distinct"]
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

    # --- par_for

    def write_ParForOp(self, op: g.ParForOp) -> None:  # noqa: N802
        """Indices are dealt one by one; each thread runs the body by itself, with memory of its own."""
        self.settle()
        name = self.module_names.make(op.label.data or "body")
        inner = DriverWriter(self.plan, self.query, self.wide, self.checked, self.module_names, self.functions)
        inner.inside = op
        inner.names.make("sets")
        index = inner.names.make(op.body.block.args[0].name_hint, "i")
        inner.text[op.body.block.args[0]] = index
        inner.block(op.body.block)
        inner.settle()
        own = {key: self.need(key, Need(n.kind, n.dtype, n.width, n.count, n.source, True)) for key, n in inner.needs.items()}
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
        self.parallel(op, name, sets, captured, [f"{memory}[w.tid]" for memory in own.values()], inner.partials)

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
            out(f"{locals_[cell][0]} = {start or _extreme(cell, kind, self.wide)}")
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

    # --- the rest

    def write_IntersectOp(self, op: g.IntersectOp) -> None:  # noqa: N802
        """Common neighbours of two vertices."""
        method = intersection(op, Traverse())
        method = "adaptive" if method == "bitmap" else method
        below = f"i64({self.value(op.below)})" if op.below is not None else "NOTHING"
        self.define(op.out, f"intersect_{method}({self.value(op.edges)}, {self.value(op.a)}, {self.value(op.b)}, {below})")

    def write_PrintOp(self, op: g.PrintOp) -> None:  # noqa: N802
        """The first thread prints."""
        with self.out.block("if w.tid == 0"):
            self.out(print_text(self, op))

    def write_TimerStartOp(self, op: g.TimerStartOp) -> None:  # noqa: N802
        """Note the time."""
        self.settle()
        self.out(f"timer = seconds(w, {self.clock()}, 0.0)")

    def write_TimerStopOp(self, op: g.TimerStopOp) -> None:  # noqa: N802
        """Seconds since the start."""
        self.settle()
        self.define(op.out, f"seconds(w, {self.clock()}, timer)")

    def clock(self) -> str:
        """Where the time is noted."""
        return self.shared_need("clock", Need("clock"))

    def write_ReturnOp(self, op: g.ReturnOp) -> None:  # noqa: N802
        """The results, each in a form that the host understands."""
        self.settle()
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
                case g.ListType():
                    kind = f"list:{scalar_type(value.type.element, self.wide)}" if g.is_scalar(value.type.element) else "list:set"
            if kind == "scalar":
                text = self.typed(value)
            self.plan.results.append((name.data, kind, width))  # type: ignore[attr-defined]
            texts.append(text or "None")
        self.out(f"return ({', '.join(texts)}{',' if len(texts) == 1 else ''})" if texts else "return None")


# --- the whole module -------------------------------------------------------------------------------------------------

HEADER = '''"""{name}, emitted for the CPU: every thread runs `worker` from end to end."""

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import *
from pantograf.machines.cpu.runtime import *

i32, i64, u32, u64, f32, f64 = np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64


'''


def emit(module: ModuleOp, query: CpuQuery, wide: bool, checked: bool) -> Plan:
    """The Python text of a lowered program, and what it needs."""
    program = program_of(module)
    plan = Plan(knobs=[-1])
    functions: list[str] = []
    writer = DriverWriter(plan, query, wide, checked, Names({"worker"}), functions)
    writer.names.make("sets")
    arguments = program.body.block.args
    writer.text[arguments[0]] = writer.graph("")
    for argument, name in list(zip(arguments, program.argument_names(), strict=True))[1:]:
        bind_argument(writer, argument, name)
    writer.block(program.body.block)
    writer.needs["sets"] = Need("sets", count=writer.set_count)
    plan.needs = writer.needs
    text = Lines()
    text("@njit(**OPTIONS)")
    with text.block(f"def worker({', '.join(['w', *plan.needs])})"):
        text(f'"""{program.sym_name.data}."""')
        text.extend(writer.out)
    plan.text = HEADER.format(name=program.sym_name.data) + "\n\n".join([*functions, str(text)])
    return plan


def bind_argument(writer: DriverWriter, argument: BlockArgument, name: str) -> None:
    """An argument of the program beside its edges."""
    match argument.type:
        case g.PropertyType():
            width, dtype = element_of(argument, writer.wide)
            writer.text[argument] = writer.need(name, Need("array", dtype, width, source=name))
        case g.VertexSetType():
            ids = writer.need(f"{name}_ids", Need("argument", "ids", source=name))
            writer.set_count += 1
            text = writer.names.make(name)
            writer.text[argument] = text
            writer.out(f"{text} = sets[0]")
            writer.out(f"load_set(w, {text}, {ids})")
        case _:
            t = scalar_type(argument.type, writer.wide)
            writer.text[argument] = writer.need(name, Need("argument", t, source=name))


# --- facts about operations -------------------------------------------------------------------------------------------


def element_of(v: SSAValue, wide: bool) -> tuple[int, str]:
    """How many scalars a vertex has in a property, and their NumPy type."""
    element = v.type.element  # type: ignore[attr-defined]
    if isinstance(element, g.VectorType):
        return element.size.data, DTYPES[scalar_type(element.element, wide)]
    return 1, DTYPES[scalar_type(element, wide)]


def _functions(op: Operation) -> list:  # type: ignore[type-arg]
    from pantograf.ir.functions import functions_of

    return functions_of(op)


def _at_active(op: Operation, load: g.LoadOp) -> bool:
    """Whether a load reads at the active vertex of its function: src, or the own vertex."""
    from pantograf.ir.functions import function_around

    function = function_around(load)
    return function is not None and function.index(load.at[0]) in ("src", "own")


def _extreme(v: SSAValue, kind: str, wide: bool) -> str:
    """What min starts from, or max."""
    t = v.type.element if isinstance(v.type, g.CellType) else v.type
    name = scalar_type(t, wide)
    if isinstance(t, g.VertexType):
        return f"{name}({2**31 - 1 if kind == 'min' else -(2**31)})"
    if kind == "min":
        return literal(g.infinity(t), t, wide)
    if name[0] == "f":
        return literal(float("-inf"), t, wide)
    return f"{name}({0 if name[0] == 'u' else -(1 << (int(name[1:]) - 1))})"


def _null(op: g.QueueOp, wide: bool) -> str:
    """The priority that means `not queued` at the start."""
    t = op.priority.type.element  # type: ignore[attr-defined]
    name = scalar_type(t, wide)
    if op.order.data == "lowest":
        return literal(g.infinity(t), t, wide)
    if name[0] == "f":
        return literal(float("-inf"), t, wide)
    return f"{name}({0 if name[0] == 'u' else -(1 << (int(name[1:]) - 1))})"


def _as_range(op: Operation, index: int) -> bool:
    """Whether an operation takes the set of all vertices as a range."""
    if isinstance(op, (g.VertexApplyOp, g.WhereOp)):
        return index == 0
    return isinstance(op, g.SizeOp)


def _maker(v: SSAValue) -> Operation:
    owner = v.owner
    made = owner if isinstance(owner, Operation) else owner.parent_op()
    assert made is not None
    return made


def _in_loop(op: Operation) -> bool:
    around = op.parent_op()
    while around is not None and not isinstance(around, g.ParForOp):
        if isinstance(around, (g.WhileOp, g.ForOp)):
            return True
        around = around.parent_op()
    return False


def _cells_of(op: Operation, t: object) -> list[SSAValue]:
    """The variables of a type that may be alive at an operation."""
    top = op
    while (parent := top.parent_op()) is not None:
        top = parent
    return [x.out for x in top.walk() if isinstance(x, g.VariableOp) and x.value.type == t]


def live_sets(op: Operation, out: SSAValue) -> list[SSAValue]:
    """The sets whose buffers must not be overwritten when `op` makes a new one: variables in sight, and values still to be used."""
    found: list[SSAValue] = []
    block: Block | None = op.parent_block()
    at: Operation = op
    while block is not None:
        for argument in block.args:
            if isinstance(argument.type, g.VertexSetType):
                found.append(argument)
        for other in block.ops:
            if other is at:
                break
            for result in other.results:
                if isinstance(result.type, g.CellType) and isinstance(result.type.element, g.VertexSetType):
                    found.append(result)
                elif isinstance(result.type, g.VertexSetType) and _used_from(result, at, block) and not _covered(result, at):
                    found.append(result)
        parent = block.parent_op()
        if parent is None or isinstance(parent, (g.ProgramOp, g.ParForOp)):
            break
        at, block = parent, parent.parent_block()
    return [v for v in found if not (isinstance(v.owner, g.VerticesOp) and all(_as_range(u.operation, u.index) for u in v.uses))]


def _used_from(v: SSAValue, at: Operation, block: Block) -> bool:
    """Whether a value made in `block` is used by `at` or later (anywhere in `at`, if that is a loop)."""
    for use in v.uses:
        user: Operation | None = use.operation
        while user is not None and user.parent_block() is not block:
            user = user.parent_op()
        if user is None:
            return True
        if user is at or at.is_before_in_block(user):
            return True
    return False


def _covered(v: SSAValue, at: Operation) -> bool:
    """Whether a value read from a variable still is that variable's, so that the variable protects it."""
    if not isinstance(v, OpResult) or not isinstance(v.op, g.GetOp):
        return False
    step = v.op.next_op
    while step is not None and step is not at:
        if any(isinstance(x, g.SetOp) and x.variable is v.op.variable for x in step.walk()):
            return False
        step = step.next_op
    return step is at and not any(isinstance(x, g.SetOp) and x.variable is v.op.variable for x in at.walk() if x is not at)
