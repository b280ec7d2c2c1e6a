"""Vertex sets, lists and priority queues at the program's level."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pantograf.ir import graph as g
from pantograf.machines.cpu.choose import queue_schedule
from pantograf.machines.cpu.effects import set_size
from pantograf.machines.cpu.function import COUNT
from pantograf.machines.cpu.keyed import is_keyed, popped_next
from pantograf.machines.cpu.level import LevelWriter
from pantograf.machines.cpu.plan import Need, element_of, null
from pantograf.machines.cpu.text import scalar_type


class ContainerWriter(LevelWriter):
    """Writes operations on sets, lists and queues."""

    def write_vertex_set(self, op: g.VertexSetOp) -> None:
        """A set of given vertices."""
        self.settle()
        name = self.new_set(op, op.out)
        vid = "i64" if self.wide else "i32"
        size = f"{self.value(op.edges)}.offsets.size - 1"
        members = ", ".join(f"{vid}({self.vertex(m, size, op)})" for m in op.members)
        if members:
            self.out(f"make_set(w, {name}, ({members},))")
        else:
            self.out(f"make_empty(w, {name})")

    def write_size(self, op: g.SizeOp) -> None:
        """How many."""
        if isinstance(op.source.owner, g.VerticesOp) and op.source not in self.text:
            self.define(op.out, f"i64({self.value(op.source.owner.edges)}.offsets.size - 1)")
        else:
            self.define(op.out, set_size(self.value(op.source), op.source))

    def write_is_dense(self, op: g.IsDenseOp) -> None:
        """Whether a frontier is large."""
        if op.from_ is None:
            self.define(op.out, "True")
            return
        self.settle()
        self.define(
            op.out, f"is_dense(w, {self.value(op.edges)}, {self.value(op.from_)}, {self.knob(op.threshold.value.data)})"
        )

    def write_add(self, op: g.AddOp) -> None:
        """One more member."""
        self.settle()
        self.out(f"add_vertex(w, {self.value(op.target)}, {self.vertex(op.vertex, COUNT, op)})")

    def write_contains(self, op: g.ContainsOp) -> None:
        """Membership."""
        self.settle()
        self.define(op.out, f"contains(w, {self.value(op.source)}, {self.vertex(op.vertex, COUNT, op)})")
        self.reading = True

    def write_list(self, op: g.ListOp) -> None:
        """A new list."""
        self.settle()
        self.text[op.out] = self.need(op.out.name_hint or "items", Need("list"))
        self.out(f"clear_list(w, {self.value(op.out)})")

    def write_append(self, op: g.AppendOp) -> None:
        """One more entry."""
        self.settle()
        if isinstance(op.value.type, g.VertexSetType):
            self.out(f"append_set(w, {self.value(op.target)}, {self.value(op.value)})")
        else:
            value = self.value(op.value)
            value = f"float_bits(f64({value}))" if self.kind(op.value)[0] == "f" else f"i64({value})"
            self.out(f"append_value(w, {self.value(op.target)}, {value})")

    def write_list_get(self, op: g.ListGetOp) -> None:
        """An entry."""
        self.settle()
        self.entry(op, op.source, op.out, f"i64({self.value(op.position)})")

    def write_list_pop(self, op: g.ListPopOp) -> None:
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

    def write_queue(self, op: g.QueueOp) -> None:
        """A priority queue over a property."""
        self.settle()
        knobs = queue_schedule(op.out)
        priority = self.value(op.priority)
        _, dtype = element_of(op.priority, self.wide)
        flags = 0 if is_keyed(op.out, self.wide) else 1
        store = self.need(f"{op.out.name_hint or 'queue'}_store", Need("queue", dtype, flags, knobs.buckets))
        name = self.names.make(op.out.name_hint or "queue")
        self.text[op.out] = name
        t = scalar_type(op.priority.type.element, self.wide)  # type: ignore[attr-defined]
        delta = self.value(op.delta)
        shift = "i64(-1)"
        if knobs.delta is None:
            site = self.site(op, "a priority queue needs a delta above 0")
            delta = self.names.make("delta")
            self.out(f"{delta} = above_zero(w, {t}({self.value(op.delta)}), {site})")
        if t[0] != "f":
            delta = self.knob(int(knobs.delta)) if knobs.delta is not None else delta
            shift = f"shift_of(i64({delta}))"
        elif knobs.delta is not None:
            delta = f"bits_float({self.knob_float(float(knobs.delta))})"
        fields = ", ".join(f"{store}.{f}" for f in ("delta", "flags", "touched", "vectors", "own", "meta"))
        self.out(f"{name} = Queue({priority}, {fields})")
        highest = op.order.data == "highest"
        lazy = int(knobs.priority == "lazy")
        unqueued = null(op, self.wide)
        everything = op.start.data == "all"
        n = f"{priority}.size"
        self.out(
            f"start_queue(w, {name}, {t}({delta}), {shift}, {int(highest)}, {lazy}, {unqueued}, {everything}, {n})"
        )

    def write_queue_add(self, op: g.QueueAddOp) -> None:
        """Queue a vertex."""
        self.settle()
        q = self.value(op.queue)
        add = "add_keyed" if is_keyed(op.queue, self.wide) else "add_to_queue"
        self.out(f"{add}(w, {q}, {self.vertex(op.vertex, COUNT, op)}, {self.value(op.priority)})")

    def write_queue_pop(self, op: g.QueuePopOp) -> None:
        """The first bucket."""
        self.settle(reading=True)
        name, queue = self.new_set(op, op.out), self.value(op.queue)
        if is_keyed(op.queue, self.wide):
            self.out(f"pop_keyed(w, {queue}, {name}, {self.lowest.get(op) or f'lowest_keyed(w, {queue})'})")
        else:
            self.out(f"pop(w, {queue}, {name})")
        self.reading = False

    def write_queue_update(self, op: g.QueueUpdateOp) -> None:
        """An update at the program's level: by the first thread."""
        self.settle()
        arguments = [self.value(op.queue), self.vertex(op.vertex, COUNT, op), self.value(op.value)]
        if op.limit is not None:
            arguments.append(self.value(op.limit))
        with self.out.block("if w.tid == 0"):
            keyed = "_keyed" if is_keyed(op.queue, self.wide) else ""
            self.out(f"update_{op.kind.data}{keyed}(w, {', '.join([*arguments, 'False'])})")
        self.out("barrier(w)")
        if queue_schedule(op.queue).priority == "lazy":
            self.out(f"settle_lazy(w, {self.value(op.queue)})")
            self.out("barrier(w)")

    def write_queue_finished(self, op: g.QueueFinishedOp) -> None:
        """Whether the queue is empty."""
        self.settle(reading=True)
        queue = self.value(op.queue)
        if is_keyed(op.queue, self.wide):
            lowest = self.names.make("lowest")
            self.out(f"{lowest} = lowest_keyed(w, {queue})")
            self.define(op.out, f"{lowest} == NOTHING")
            if (pop := popped_next(op)) is not None:
                self.lowest[pop] = lowest
            self.reading = False
            return
        self.define(op.out, f"queue_empty(w, {queue})")
        self.reading = True

    def write_queue_finished_node(self, op: g.QueueFinishedNodeOp) -> None:
        """Whether a vertex is final."""
        self.settle(reading=True)
        self.define(op.out, self.final(op))
        self.reading = True

    def write_queue_priority(self, op: g.QueuePriorityOp) -> None:
        """The current bucket's least priority."""
        self.settle(reading=True)
        self.define(op.out, f"{self.kind(op.out)}(current_priority({self.value(op.queue)}))")
        self.reading = True
