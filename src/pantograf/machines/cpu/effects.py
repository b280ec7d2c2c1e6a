"""What the functions of an apply do to properties, queues and the result: their statements, and what the driver must provide."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import canonical, functions_of, relation
from pantograf.machines.cpu.choose import queue_schedule, schedule_of
from pantograf.machines.cpu.far import summed_over_edges
from pantograf.machines.cpu.function import COUNT, Body, Checks
from pantograf.machines.cpu.keyed import is_keyed
from pantograf.machines.cpu.order import turned
from pantograf.machines.cpu.plan import element_of, form_of
from pantograf.machines.cpu.schedule import Traverse
from pantograf.machines.cpu.text import Lines, Names, literal, scalar_type

Apply = g.EdgeApplyOp | g.VertexApplyOp | g.WhereOp


class FunctionWriter(Body):
    """Writes the operations of an apply's functions. `knob` turns a number of a schedule into the text that reads it at run time."""

    def __init__(
        self, op: Apply, schedule: Traverse, direction: str, name: str, wide: bool, checks: Checks,
        knob: Callable[[int], str], deterministic: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(Lines(), Names(), wide, checks)
        self.op = op
        self.schedule = schedule
        self.direction = direction
        self.name = name
        self.knob = knob
        self.deterministic = deterministic
        self.parameters: dict[str, SSAValue | str] = {}
        self.reduced: dict[SSAValue, tuple[str, str]] = {}
        self.snapshots: list[SSAValue] = []
        self.layouts: dict[SSAValue, str] = {}
        self.accumulators: dict[SSAValue, tuple[str, str]] = {}
        self.vid = "i64" if wide else "i32"
        self.tracked: SSAValue | None = getattr(op, "modified", None)
        self.has_out = bool(op.results)
        self.marks = False
        self.spills = False
        continues = op.attributes.get("continues")
        self.continues = continues.data if isinstance(continues, StringAttr) and direction == "push" else ""
        self.mode = "none"
        self.hit_vertex: str | None = None
        self.functions = functions_of(op)
        self.settling: dict[SSAValue, str] = {}
        self.steady = "any_order" in op.attributes
        self.early_exit = direction == "pull" and "early_exit" in op.attributes

    def parameter(self, name: str, stands_for: SSAValue | str) -> str:
        """A parameter that stands for a value of the driver's, once per value."""
        for known, value in self.parameters.items():
            if value is stands_for or (isinstance(value, str) and value == stands_for):
                return known
        fresh = self.names.make(name)
        self.parameters[fresh] = stands_for
        return fresh

    def outer(self, v: SSAValue) -> str:
        """A value from around the apply becomes a parameter."""
        self.text[v] = self.parameter(v.name_hint or "x", v)
        return self.text[v]

    def members(self, v: SSAValue, layout: str) -> str:
        """A vertex set that is read in a layout."""
        self.layouts[v] = layout if self.layouts.get(v, layout) == layout else "both"
        return self.value(v)

    def identity(self, kind: str, cell: SSAValue) -> str:
        """The value that changes nothing in a reduction."""
        t = cell.type.element if isinstance(cell.type, g.CellType) else cell.type
        name = scalar_type(t, self.wide)
        if kind == "sum":
            return literal(0, t, self.wide)
        if kind == "or":
            return "False" if name == "bool" else f"{name}(0)"
        if kind == "min":
            return literal(g.infinity(t), t, self.wide) if not isinstance(t, g.VertexType) else f"{name}(2147483647)"
        if name in ("f32", "f64"):
            return literal(float("-inf"), t, self.wide)
        low = 0 if name[0] == "u" else -(1 << (int(name[1:]) - 1))
        return f"{name}({low})"

    def combine(self, kind: str, a: str, b: str, t: str) -> str:
        """`a` and `b` reduced."""
        if kind == "sum":
            return f"{t}({a} + {b})"
        if kind == "or":
            return f"({a} or {b})" if t == "bool" else f"{t}({a} | {b})"
        return f"{t}({kind}({a}, {b}))"

    def needs_marks(self) -> bool:
        """Whether one vertex could be gathered twice, so that a bit has to say which was."""
        op = self.op
        if isinstance(op, g.EdgeApplyOp):
            return "deduplicate" in op.attributes
        if isinstance(op, g.VertexApplyOp) and self.tracked is not None:
            return any(
                access.index != "own"
                for function in self.functions
                for access in function.accesses()
                if access.writes and relation(access.handle, self.tracked) != "distinct"
            )
        return False

    def start_output(self) -> None:
        """Choose how results are gathered, and make room."""
        op = self.op
        out = self.out
        self.marks = False
        if not self.has_out:
            return
        self.parameter("out", "out")
        if isinstance(op, g.EdgeApplyOp) and self.direction == "pull":
            at_dst = self.tracked is None or all(
                access.index == "dst"
                for function in self.functions
                for access in function.accesses()
                if access.writes and relation(access.handle, self.tracked) != "distinct"
            )
            self.mode = "words" if at_dst else "bits"
        elif self.schedule.direction == "dense_push" and isinstance(op, g.EdgeApplyOp):
            self.mode = "bits"
        else:
            self.mode = "list"
            self.marks = self.needs_marks() or self.continues == "local"
            self.spills = isinstance(op, g.EdgeApplyOp) and not self.marks and not self.schedule.deduplicate
        if self.marks or self.spills or self.mode == "bits":
            out("clear_bits(w, out)")
            out("barrier(w)")
        if self.mode == "list":
            out("base = i64(w.tid * ROW)")
            out("gathered = i64(0)")
        else:
            out("size = i64(0)")

    def gather(self, v: str) -> None:
        """Put a vertex into the result."""
        out = self.out
        with ExitStack() as stack:
            if self.mode == "words":
                out("changed = True")
            elif self.mode == "bits":
                with out.block(f"if set_bit(out.bits, {v})"):
                    out("size += 1")
            elif self.mode == "list":
                if self.marks:
                    stack.enter_context(out.block(f"if set_bit(out.bits, {v})"))
                with out.block("if gathered == BUFFER"):
                    out(self.flush_text())
                    out("gathered = i64(0)")
                out(f"store(w.buffer, base + gathered, {v})")
                out("gathered += 1")

    def flush_text(self) -> str:
        """The call that moves what was gathered to the result."""
        return f"{'spill' if self.spills else 'flush'}(w, phase, base, gathered, {'out' if self.spills else 'out.ids'})"

    def array(self, op: Operation, handle: SSAValue) -> str:
        """The array that a load reads: the property, or its copy from before the apply."""
        mark = op.attributes.get("snapshot")
        if not isinstance(mark, StringAttr):
            return self.value(handle)
        if handle not in self.snapshots:
            self.snapshots.append(handle)
        number = self.snapshots.index(handle)
        return self.parameter(f"{handle.name_hint or 'p'}_before", f"before:{number}")

    def write_load(self, op: g.LoadOp) -> None:
        """A value of a property, from before the apply where that matters."""
        place, _ = self.place(op.source, tuple(op.at), op)
        self.define(op.out, self.element(self.array(op, op.source), place, op.out))

    def write_get(self, op: g.GetOp) -> None:
        """A variable of the function's own, or one from around it as it was before the apply."""
        self.define(op.out, self.value(op.variable))

    def write_contains(self, op: g.ContainsOp) -> None:
        """Membership."""
        self.define(op.out, f"has_bit({self.members(op.source, 'bits')}.bits, {self.vertex(op.vertex, COUNT, op)})")

    def write_set(self, op: g.SetOp) -> None:
        """A new value for a variable of the function's own."""
        summand = None if self.deterministic else summed_over_edges(op)
        if summand is None:
            super().write_set(op)
        else:
            name = self.value(op.variable)
            self.out(f"{name} = add_any_order({name}, {self.value(summand)})")

    def write_size(self, op: g.SizeOp) -> None:
        """The size of a set or list."""
        self.define(op.out, set_size(self.value(op.source), op.source))

    def write_store(self, op: g.StoreOp) -> None:
        """A plain write; one that claims a vertex for a result without duplicates is a compare-and-swap."""
        array, value = self.value(op.target), self.value(op.value)
        place, vertex = self.place(op.target, tuple(op.at), op)
        lone = self.mode == "list" and not self.marks and self.is_tracked(op.target)
        if lone and "replaces" in op.attributes:
            old = self.claimed(op)
            with self.out.block(f"if compare_exchange({array}, {place}, {old}, {value})"):
                self.hit(op.target, vertex)
            return
        old = self.element(array, place, op.value)
        if self.deterministic and isinstance(self.op, g.EdgeApplyOp):
            with self.out.block(f"if first_write({self.stamps(op)}, {place}, stamp) or comes_before({value}, {old})"):
                self.out(f"store({array}, {place}, {value})")
            self.hit(op.target, vertex)
            return
        if self.checks.every and isinstance(self.op, g.EdgeApplyOp):
            self.out(f"note_race(w, {self.stamps(op)}, {place}, stamp, {old} != {value})")
        self.out(f"store({array}, {place}, {value})")
        self.hit(op.target, vertex)

    def stamps(self, op: g.StoreOp) -> str:
        """An array that says in which apply each place was last written by this store."""
        stores = [
            store for function in self.functions for store in function.operations() if isinstance(store, g.StoreOp)
        ]
        width, _ = element_of(op.target, self.wide)
        return self.parameter("written", f"written:{stores.index(op)}:{width}")

    def claimed(self, op: g.StoreOp) -> str:
        """The text of the value that a claiming store replaces."""
        constant = g.ConstantOp(properties={"value": op.attributes["replaces"]}, result_types=[op.value.type])
        return literal(g.constant_value(constant), op.value.type, self.wide)

    def write_reduce(self, op: g.ReduceOp) -> None:
        """A reduction into a property, a local variable, or one from around the apply."""
        kind, value, t = op.kind.data, self.value(op.value), self.kind(op.value)
        if self.early_exit and isinstance(op.target.type, g.PropertyType):
            self.out("wrote = True")
        if isinstance(op.target.type, g.CellType):
            self.reduce_variable(op, kind, value, t)
            return
        key = canonical(op.target)
        if key in self.accumulators:
            self.reduce_local(op, self.accumulators[key][0], kind, value, t)
            return
        array = self.value(op.target)
        place, vertex = self.place(op.target, tuple(op.at), op)
        if kind == "sum":
            if "atomic" in op.attributes:
                self.out(f"atomic_add{'_float' if t[0] == 'f' else ''}({array}, {place}, {value})")
            else:
                self.out(f"store({array}, {place}, load({array}, {place}) + {value})")
            self.noted(op, "True", vertex)
            return
        if "atomic" in op.attributes:
            name = f"reduce_{'flag' if t == 'bool' else kind}"
            self.noted(op, f"{name}({array}, {place}, {value})", vertex)
            return
        flag = self.names.make("lowered" if kind == "min" else "raised")
        old = self.names.make("old")
        self.out(f"{old} = {self.element(array, place, op.value)}")
        test = {"min": f"{value} < {old}", "max": f"{value} > {old}"}.get(
            kind, f"{self.combine('or', old, value, t)} != {old}"
        )
        self.out(f"{flag} = {test}")
        with self.out.block(f"if {flag}"):
            self.out(f"store({array}, {place}, {value if kind != 'or' else self.combine('or', old, value, t)})")
        self.noted(op, flag, vertex)

    def reduce_variable(self, op: g.ReduceOp, kind: str, value: str, t: str) -> None:
        """Into a variable: the function's own at once, one from around the apply through a partial value of the thread."""
        owner = op.target.owner
        own = any(function.inside(op.target) for function in self.functions) or not isinstance(owner, Operation)
        if own:
            name = self.value(op.target)
        else:
            self.value(op.target)
            if op.target not in self.reduced:
                local = self.names.make(f"partial_{op.target.name_hint or 'value'}")
                self.reduced[op.target] = (local, kind)
            name = self.reduced[op.target][0]
        self.reduce_local(op, name, kind, value, t, tracked=False)

    def reduce_local(self, op: g.ReduceOp, name: str, kind: str, value: str, t: str, tracked: bool = True) -> None:
        """Into a local name."""
        if op.out is None and (kind == "sum" or not (tracked and self.is_tracked(op.target))):
            if kind == "sum" and t[0] == "f" and tracked and not self.deterministic:
                self.out(f"{name} = add_any_order({name}, {value})")
            else:
                self.out(f"{name} = {self.combine(kind, name, value, t)}")
            if tracked and kind == "sum":
                self.hit(op.target, self.value(op.at[0]))
            return
        flag = self.names.make("differs")
        test = {"sum": "True", "min": f"{value} < {name}", "max": f"{value} > {name}"}.get(
            kind, f"{self.combine('or', name, value, t)} != {name}"
        )
        self.out(f"{flag} = {test}")
        self.out(f"{name} = {self.combine(kind, name, value, t)}")
        if tracked:
            self.noted(op, flag, self.value(op.at[0]))
        elif op.out is not None:
            self.text[op.out] = flag

    def noted(self, op: g.ReduceOp, changed: str, vertex: str) -> None:
        """Tell the result set, and whoever asked, that a reduction changed something."""
        if op.out is not None:
            self.define(op.out, changed)
            changed = self.value(op.out)
        if self.is_tracked(op.target):
            if changed == "True":
                self.hit(op.target, vertex)
            else:
                with self.out.block(f"if {changed}"):
                    self.hit(op.target, vertex)
        elif op.out is None and "(" in changed:
            self.out(changed)

    def is_tracked(self, handle: SSAValue) -> bool:
        """Whether writes to this property make vertices members of the result."""
        return self.tracked is not None and relation(handle, self.tracked) != "distinct"

    def hit(self, handle: SSAValue, vertex: str) -> None:
        """A vertex of a property was written: gather it if the result is about that property."""
        if self.early_exit:
            self.out("wrote = True")
        if self.tracked is None or not self.is_tracked(handle):
            return
        if relation(handle, self.tracked) == "maybe":
            with self.out.block(f"if address({self.value(handle)}) == address({self.value(self.tracked)})"):
                self.gather(vertex)
        else:
            self.gather(vertex)

    def write_compare_and_swap(self, op: g.CompareAndSwapOp) -> None:
        """One step; only tried where a look says that it can succeed, as failing costs as much and keeps others waiting."""
        array = self.value(op.target)
        place = self.vertex(op.vertex, f"{array}.size", op)
        old, new = self.value(op.old), self.value(op.new)
        likely = f"{self.element(array, place, op.old)} == {old}"
        self.define(op.out, f"{likely} and compare_exchange({array}, {place}, {old}, {new})")
        if self.is_tracked(op.target):
            with self.out.block(f"if {self.value(op.out)}"):
                self.hit(op.target, place)

    def write_queue_update(self, op: g.QueueUpdateOp) -> None:
        """A new priority: at once, once after the apply, or counted and added after it."""
        method = queue_schedule(op.queue).priority
        vertex = self.vertex(op.vertex, f"{self.value(op.queue)}.priority.size", op)
        if method == "lazy":
            self.settling[op.queue] = "settle_lazy(w, QUEUE)"
        change, limit = self.constant_text(op.value), op.limit and self.constant_text(op.limit)
        if method == "constant_sum" and op.kind.data == "sum" and change and limit:
            self.settling[op.queue] = f"settle_counts(w, QUEUE, {change}, {limit})"
            self.out(f"count_update(w, {self.value(op.queue)}, {vertex})")
            return
        arguments = [self.value(op.queue), vertex, self.value(op.value)]
        if op.limit is not None:
            arguments.append(self.value(op.limit))
        arguments.append(str("atomic" in op.attributes))
        keyed = "_keyed" if is_keyed(op.queue, self.wide) else ""
        text = f"update_{op.kind.data}{keyed}(w, {', '.join(arguments)})"
        root = op.queue.owner
        priority = root.priority if isinstance(root, g.QueueOp) else None
        if priority is not None and self.is_tracked(priority):
            with self.out.block(f"if {text}"):
                self.hit(priority, vertex)
        else:
            self.out(text)

    def constant_text(self, v: SSAValue) -> str | None:
        """The text of a value that is the same in all calls of an apply, good outside of its loops; none for other values."""
        owner = v.owner
        match owner:
            case g.ConstantOp():
                return self.value(v)
            case g.GetOp() if not any(function.inside(owner.variable) for function in self.functions):
                return self.value(owner.variable)
            case g.QueuePriorityOp():
                return f"{self.kind(v)}(current_priority({self.value(owner.queue)}))"
            case g.UnaryOp() if owner.kind.data == "neg" and (inner := self.constant_text(owner.value)):
                return f"{self.kind(v)}(-{inner})"
            case g.CastOp() if inner := self.constant_text(owner.value):
                return f"{self.kind(v)}({inner})" if self.kind(v) != "bool" else None
        return None if any(function.inside(v) for function in self.functions) else self.value(v)

    def write_queue_finished_node(self, op: g.QueueFinishedNodeOp) -> None:
        """Whether a vertex is final."""
        self.define(op.out, self.final(op))

    def write_queue_priority(self, op: g.QueuePriorityOp) -> None:
        """The current bucket's least priority."""
        self.define(op.out, f"{self.kind(op.out)}(current_priority({self.value(op.queue)}))")

    def write_queue_finished(self, op: g.QueueFinishedOp) -> None:
        """Whether the queue is empty."""
        self.define(op.out, f"queue_empty(w, {self.value(op.queue)})")

    def write_intersect(self, op: g.IntersectOp) -> None:
        """Common neighbours, by the method that the schedule names."""
        method = intersection(op, self.schedule)
        graph = self.value(op.edges)
        a, _, first, second = self.rows(op, turned(op, self.op), cut_second=method == "bitmap")
        if self.ends_here(op):
            first[1] = "edge"
        if method == "bitmap":
            marks = self.parameter("marks", f"marks:{form_of(op.edges)}")
            own = f"{marks}[w.tid].bits, {marks}[w.tid].meta, {a}"
            self.define(op.out, f"intersect_bitmap({', '.join([graph, own, first[1], *second])})")
        else:
            self.define(op.out, f"intersect_{method}({', '.join([graph, *first, *second])})")

    def ends_here(self, op: g.IntersectOp) -> bool:
        """Whether it is between the two ends of an edge and below the far one: the neighbours of the near one that are below it are
        those that the loop over them has had already."""
        loop = self.op
        if not isinstance(loop, g.EdgeApplyOp) or self.direction != "push" or loop.edges is not op.edges:
            return False
        source, target = loop.apply.block.args[0], loop.apply.block.args[1]
        return op.below is target and (op.a, op.b) in ((source, target), (target, source))

    def write_print(self, op: g.PrintOp) -> None:
        """In a function only where the machine checks."""
        if self.checks.every:
            self.out(print_text(self, op))


def intersection(op: g.IntersectOp, schedule: Traverse) -> str:
    """The runtime's name of a method: the intersection's own schedule, else that of the apply around it."""
    own = schedule_of(op)
    method = own.intersection if own is not None else schedule.intersection
    return "adaptive" if method == "auto" else method


def set_size(text: str, v: SSAValue) -> str:
    """The text for the size of a set or a list."""
    return f"list_size({text})" if isinstance(v.type, g.ListType) else f"load({text}.meta, SIZE)"


def print_text(body: Body, op: g.PrintOp) -> str:
    """A print statement."""
    parts = [repr(op.text.data)] if op.text.data else []
    return f"print({', '.join([*parts, *(body.value(v) for v in op.values)])})"
