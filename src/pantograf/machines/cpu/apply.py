"""One compiled function per apply: the loops over edges or vertices with the author's functions inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from pantograf.ir import graph as g
from pantograf.ir.functions import canonical, relation
from pantograf.machines.cpu.choose import queue_schedule
from pantograf.machines.cpu.effects import FunctionWriter
from pantograf.machines.cpu.far import far_loads, own_edges
from pantograf.machines.cpu.keyed import is_keyed
from pantograf.machines.cpu.order import side
from pantograf.machines.cpu.plan import form_of
from pantograf.machines.cpu.text import Lines, scalar_type

_HOISTED = (
    g.BinaryOp,
    g.UnaryOp,
    g.CompareOp,
    g.SelectOp,
    g.CastOp,
    g.RandomOp,
    g.GetOp,
    g.LoadOp,
    g.DegreeOp,
    g.VertexCountOp,
)


@dataclass
class Emitted:
    """A written function: its text, its parameters, and what it returns."""

    name: str
    text: str
    parameters: dict[str, SSAValue | str]
    """By name: the value it stands for, or `before:<n>`, `out`, `hubs`, `owner` for things the driver provides."""
    reduced: list[SSAValue] = field(default_factory=list)
    """Variables whose new values it returns."""
    snapshots: list[SSAValue] = field(default_factory=list)
    layouts: dict[SSAValue, str] = field(default_factory=dict)
    """Which layout of each vertex set it reads: list, bits or bools."""


FEW = 256
"""So many active vertices are pushed from by one thread: to share them costs more than it saves."""


class ApplyWriter(FunctionWriter):
    """Writes the function of one apply."""

    def write(self) -> Emitted:
        """Write it."""
        body = self.out
        match self.op:
            case g.EdgeApplyOp() if self.direction == "pull":
                self.pull()
            case g.EdgeApplyOp():
                self.push()
            case _:
                self.vertices()
        self.out = Lines()
        self.out("@njit(**OPTIONS)")
        with self.out.block(f"def {self.name}({', '.join(['w', *self.parameters])})"):
            label = self.op.label.data
            self.out(f'"""{label}: {self.describe()}."""')
            for cell, (local, kind) in self.reduced.items():
                self.out(f"{local} = {self.identity(kind, cell)}")
            if any(str(stands_for).startswith("written:") for stands_for in self.parameters.values()):
                self.out("stamp = new_stamp(w)")
            self.out.extend(body)
        return Emitted(self.name, str(self.out), self.parameters, list(self.reduced), self.snapshots, self.layouts)

    def describe(self) -> str:
        """How it runs, in a few words."""
        words = [self.direction] if isinstance(self.op, g.EdgeApplyOp) else ["each vertex"]
        words.append(self.schedule.parallelism)
        return ", ".join(words)

    def close(self, counted: bool) -> None:
        """The common end: give up what was gathered, meet, state the result, combine partial values."""
        out = self.out
        if self.mode == "list":
            out(self.flush_text())
        elif self.mode in ("bits", "words"):
            out("put_int(w, phase, 15, size)")
        slots = {}
        for number, (cell, (local, kind)) in enumerate(self.reduced.items()):
            t = scalar_type(cell.type.element, self.wide)  # type: ignore[attr-defined]
            put, get = ("put_float", "get_float") if t[0] == "f" else ("put_int", "get_int")
            out(f"{put}(w, phase, {number}, {local})")
            slots[cell] = (get, number, t, kind)
        if counted:
            out("count_edges(w, looked, seen)")
        out("barrier(w)")
        if self.mode == "list":
            if self.spills:
                out("finish_spilled(w, phase, out)")
            elif self.marks:
                out("finish_marked(w, phase, out)")
            else:
                out("finish(w, out, load(w.sync, TAIL + phase), 1, 0, 0)")
        elif self.mode in ("bits", "words"):
            out("finish(w, out, total(w, phase, 15), 0, 1, 0)")
        for queue, settle in self.settling.items():
            out(settle.replace("QUEUE", self.value(queue)))
        if self.settling:
            out("barrier(w)")
        for cell, (get, number, t, kind) in slots.items():
            name = self.value(cell)
            with out.block("for thread in range(w.threads)"):
                other = f"{get}(w, phase, {number}, thread)"
                other = f"{other} != 0" if t == "bool" else f"{t}({other})"
                out(f"{name} = {self.combine(kind, name, other, t)}")
        if self.reduced:
            out(
                "return "
                + ", ".join(self.value(cell) for cell in self.reduced)
                + ("," if len(self.reduced) == 1 else "")
            )

    @contextmanager
    def dealt(self, size: str, least: int, few: int = 0) -> Iterator[None]:
        """A loop body for parts `first`..`last` of `size` items: dealt in chunks, in equal shares, or all to the first thread.
        `few` items stay with the first thread, in whose cache they are, where nobody said otherwise."""
        out = self.out
        out("phase = begin(w)")
        out(f"limit = i64({size})")
        if self.schedule.parallelism == "serial":
            out("first, last = i64(0), i64(limit if w.tid == 0 else 0)")
            with out.block("if first < last"):
                yield
            return
        if self.schedule.dealing == "static" or (self.deterministic and self.reduced):
            out("first, last = share(w, 0, limit)")
            with out.block("if first < last"):
                yield
            return
        out(f"grain = chunk_size(w, {self.knob(self.schedule.grain)}, limit, {least})")
        few = 0 if self.schedule.grain else few
        if few:
            with out.block(f"if limit <= {few}"):
                out("grain = limit if w.tid == 0 else i64(0)")
        with out.block("while grain > 0" if few else "while True"):
            out("first = take(w, phase, grain)")
            with out.block("if first >= limit"):
                out("break")
            out("last = min(first + grain, limit)")
            yield

    def edge_block(self) -> Block:
        """The block of the edge function."""
        assert isinstance(self.op, g.EdgeApplyOp)
        return self.op.apply.block

    def push(self) -> None:
        """Loop over active sources and their out-edges."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp)
        graph = self.value(op.edges)
        block = self.edge_block()
        source = self.names.make(block.args[0].name_hint, "src")
        self.text[block.args[0]] = source
        self.start_output()
        out("looked = i64(0)")
        out("seen = i64(0)")
        if self.continues:
            self.push_on(graph, source)
        elif self.schedule.parallelism == "edge":
            self.push_shared(graph, source)
        elif op.from_ is not None and self.schedule.direction == "dense_push":
            self.push_map(graph, source)
        else:
            if op.from_ is None:
                size, take = f"{graph}.offsets.size - 1", f"{source} = {self.vid}(i)"
            else:
                active = self.members(op.from_, "list")
                size, take = f"load({active}.meta, SIZE)", f"{source} = load({active}.ids, i)"
            dealt = self.dealt(size, 64, FEW) if op.from_ is not None else self.dealt(size, 256)
            with dealt, out.block("for i in range(first, last)"):
                if op.from_ is not None:
                    self.look_ahead(graph, f"{active}.ids")
                out(take)
                self.edges_of(graph, source)
        self.close(counted=True)

    def push_map(self, graph: str, source: str) -> None:
        """Walk a map of the frontier."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp) and op.from_ is not None
        if self.schedule.frontier == "boolmap":
            active = self.members(op.from_, "bools")
            each, test = out.block("for i in range(first, last)"), out.block(f"if load({active}.bools, i) != 0")
            with self.dealt(f"{graph}.offsets.size - 1", 512), each, test:
                out(f"{source} = {self.vid}(i)")
                self.edges_of(graph, source)
            return
        active = self.members(op.from_, "bits")
        with self.dealt(f"{active}.bits.size", 8), out.block("for word in range(first, last)"):
            out(f"bits = load({active}.bits, word)")
            with out.block("while bits != ZERO"):
                out(f"{source} = {self.vid}(i64(word * 64) + i64(trailing_zeros(bits)))")
                out("bits &= bits - ONE")
                self.edges_of(graph, source)

    def push_on(self, graph: str, source: str) -> None:
        """Shared work first; when it is gone each thread goes on with what it has: changed vertices, or its part of the bucket."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp) and op.from_ is not None
        active = self.members(op.from_, "list")
        if self.continues == "queue":
            updates = [u for u in op.walk() if isinstance(u, g.QueueUpdateOp)]
            queue = updates[0].queue
            keyed = "_keyed" if is_keyed(queue, self.wide) else ""
            own = f"pop_own{keyed}(w, {self.value(queue)}, second, {self.knob(queue_schedule(queue).merge)})"
        else:
            own = f"take_own(w, out.bits, second, gathered, {self.knob(self.schedule.merge)})"
        out("phase = begin(w)")
        out(f"limit = load({active}.meta, SIZE)")
        out(f"grain = chunk_size(w, {self.knob(self.schedule.grain)}, limit, 64)")
        out("second = i64(w.tid * ROW + BUFFER)")
        out("alone = False")
        with out.block("while True"):
            with out.block("if not alone"):
                if self.schedule.parallelism == "serial":
                    out("first, last = i64(0), i64(limit if w.tid == 0 else 0)")
                    out("alone = first >= last")
                    out("limit = i64(0)")
                elif self.schedule.dealing == "static":
                    out("first, last = share(w, 0, limit)")
                    out("alone = first >= last")
                    out("limit = i64(0)")
                else:
                    out("first = take(w, phase, grain)")
                    out("last = min(first + grain, limit)")
                    out("alone = first >= limit")
            with out.block("if alone"):
                out(f"count = {own}")
                with out.block("if count == 0"):
                    out("break")
                with out.block("if count < 0"):
                    out("continue")
                if self.continues == "local":
                    out("gathered = i64(0)")
                out("first, last = second, second + count")
            with out.block("for i in range(first, last)"):
                if self.schedule.lookahead:
                    with out.block("if not alone"):
                        self.look_ahead(graph, f"{active}.ids", "last")
                out(f"{source} = load(w.buffer, i) if alone else load({active}.ids, i)")
                self.edges_of(graph, source)

    def push_shared(self, graph: str, source: str) -> None:
        """Each thread takes sources; those with many edges are put aside, and all threads share their edges afterwards."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp)
        hubs = self.parameter("hubs", "hubs")
        if op.from_ is None:
            out(f"limit = i64({graph}.offsets.size - 1)")
            taken = f"{source} = {self.vid}(i)"
        else:
            active = self.members(op.from_, "list")
            out(f"limit = load({active}.meta, SIZE)")
            taken = f"{source} = load({active}.ids, i)"
        out("phase = begin(w)")
        out("tail = phase")
        out(f"grain = chunk_size(w, {self.knob(self.schedule.grain)}, limit, 64)")
        out("hub_count = i64(-1)")
        out("hub, before = i64(0), i64(0)")
        with out.block("while True"):
            with out.block("if hub_count < 0"):
                out("first = take(w, phase, grain)")
                with out.block("if first >= limit"):
                    out("barrier(w)")
                    out("hub_count = load_acquire(w.sync, AUX + phase)")
                    out("dealing = begin(w)")
                    out("continue")
                out("last = min(first + grain, limit)")
            with out.block("else"):
                out("chunk = take(w, dealing, 1)")
                with out.block(
                    "while hub < hub_count and chunk >= before + hub_chunks("
                    + graph
                    + ".offsets, load("
                    + hubs
                    + ", hub))"
                ):
                    out(f"before += hub_chunks({graph}.offsets, load({hubs}, hub))")
                    out("hub += 1")
                with out.block("if hub >= hub_count"):
                    out("break")
                out("first, last = hub, hub + 1")
            with out.block("for i in range(first, last)"):
                with out.block("if hub_count < 0"):
                    out(taken)
                    out(f"edge_start = i64(load({graph}.offsets, {source}))")
                    out(f"edge_end = i64(load({graph}.offsets, i64({source}) + 1))")
                    with out.block("if edge_end - edge_start > HUB"):
                        out(f"store({hubs}, atomic_add(w.sync, AUX + phase, 1), {source})")
                        out("continue")
                with out.block("else"):
                    out(f"{source} = {self.vid}(load({hubs}, i))")
                    out(f"edge_start = i64(load({graph}.offsets, {source})) + (chunk - before) * HUB")
                    out(f"edge_end = min(edge_start + HUB, i64(load({graph}.offsets, i64({source}) + 1)))")
                self.edges_of(graph, source, bounds=("edge_start", "edge_end"))
        out("barrier(w)")

    def edges_of(self, graph: str, source: str, bounds: tuple[str, str] | None = None) -> None:
        """The out-edges of one source: filters, then the function."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp)
        block = self.edge_block()
        with ExitStack() as stack:
            if op.from_filter is not None:
                stack.enter_context(out.block(f"if {self.filter(op.from_filter, source)}"))
            if bounds is None:
                out(f"edge_start = i64(load({graph}.offsets, {source}))")
                out(f"edge_end = i64(load({graph}.offsets, i64({source}) + 1))")
            half = side(op)
            if half:
                self.halves.add(form_of(op.edges))
                name, keep = ("edge_end", "min") if half == "below" else ("edge_start", "max")
                out(f"{name} = {keep}({name}, row_middle({graph}, {source}))")
            out("looked += edge_end - edge_start" if not half else "looked += max(edge_end - edge_start, 0)")
            out("seen += 1")
            hoisted = self.hoist(block, block.args[0])
            stack.enter_context(out.block("for edge in range(edge_start, edge_end)"))
            self.prefetch(f"{graph}.neighbors", block.args[1])
            target = self.names.make(block.args[1].name_hint, "dst")
            self.text[block.args[1]] = target
            out(f"{target} = load({graph}.neighbors, edge)")
            if op.to_ is not None:
                stack.enter_context(out.block(f"if has_bit({self.members(op.to_, 'bits')}.bits, {target})"))
            if op.to_filter is not None:
                stack.enter_context(out.block(f"if {self.filter(op.to_filter, target)}"))
            self.weight(block, f"{graph}.weights")
            self.call(block, hoisted, target)

    def weight(self, block: Block, weights: str) -> None:
        """The third argument of an edge function."""
        if len(block.args) == 3:
            name = self.names.make(block.args[2].name_hint, "weight")
            self.text[block.args[2]] = name
            self.out(f"{name} = {scalar_type(block.args[2].type, self.wide)}(load({weights}, edge))")

    def prefetch(self, neighbors: str, other: SSAValue) -> None:
        """Ask early for what the function reads or writes at the far end of an edge."""
        wanted = self.far_lines(other) if self.schedule.prefetch else []
        if not wanted:
            return
        ahead = self.knob(self.schedule.prefetch or 0)
        far = self.names.make("far")
        self.out(f"{far} = load({neighbors}, min(edge + {ahead}, {neighbors}.size - 1))")
        for array, place in wanted:
            self.out(f"prefetch({array}, {place.format(far)})")
        for graph, halved in dict.fromkeys((self.value(x.edges), x.below is other) for x in self.far_rows(other)):
            near = self.names.make("near")
            start = f"half_start({graph}, {near})" if halved else f"row_start({graph}, {near})"
            self.out(f"{near} = load({neighbors}, min(edge + {ahead} // 2, {neighbors}.size - 1))")
            self.out(f"prefetch({graph}.neighbors, {start})")

    def look_ahead(self, graph: str, sources: str, end: str = "limit") -> None:
        """On the way along a list of sources: ask early for where the edges of a later one are, and for those of a nearer one."""
        if not self.schedule.lookahead:
            return
        out, block = self.out, self.edge_block()
        ahead = self.knob(self.schedule.lookahead)
        far, near = self.names.make("far"), self.names.make("near")
        out(f"{far} = load({sources}, min(i + {ahead}, {end} - 1))")
        out(f"prefetch({graph}.offsets, {far})")
        for access in (a for function in self.functions for a in function.accesses()):
            if access.kind == "load" and access.at[0] is block.args[0]:
                out(f"prefetch({self.array(access.op, access.handle)}, {self.far_place(access.op, far)})")  # type: ignore[arg-type]
        out(f"{near} = load({graph}.offsets, load({sources}, min(i + {ahead} // 2, {end} - 1)))")
        out(f"prefetch({graph}.neighbors, {near})")
        if len(block.args) == 3:
            out(f"prefetch({graph}.weights, {near})")

    def prefetch_edges(self) -> None:
        """In a loop over all vertices: ask early for the edges that the function looks up of its own vertex."""
        for inner in own_edges(self.op) if self.schedule.lookahead else []:
            array = "neighbors" if isinstance(inner, g.NeighborOp) else "weights"
            graph = self.value(inner.edges)
            far = self.names.make("far")
            self.out(f"{far} = load({graph}.offsets, min(i + {self.knob(self.schedule.lookahead or 0)}, limit - 1))")
            self.out(f"prefetch({graph}.{array}, i64({far}) + {self.value(inner.k)})")

    def before_turn(self, loop: g.ForOp, counter: str) -> None:
        """In a loop over the edges of a vertex: ask early for what it reads at their far ends."""
        for neighbor, load in far_loads(loop) if self.schedule.prefetch else []:
            graph, v = self.value(neighbor.edges), self.value(neighbor.vertex)
            ahead = f"{counter} + {self.knob(self.schedule.prefetch or 0)}"
            far = self.names.make("far")
            place = f"min(i64(load({graph}.offsets, {v})) + {ahead}, {graph}.neighbors.size - 1)"
            self.out(f"{far} = load({graph}.neighbors, {place})")
            self.out(f"prefetch({self.array(load, load.source)}, {self.far_place(load, far)})")

    def far_place(self, load: g.LoadOp, vertex: str) -> str:
        """Where a vertex's values of a property start."""
        element = load.source.type.element  # type: ignore[attr-defined]
        return f"i64({vertex}) * {element.size.data}" if isinstance(element, g.VectorType) else vertex

    def far_lines(self, other: SSAValue) -> list[tuple[str, str]]:
        """Arrays, and places in them, that an edge needs of the vertex at its far end."""
        op = self.op
        assert isinstance(op, g.EdgeApplyOp)
        wanted: dict[tuple[str, str], None] = {}
        if op.from_ is not None and self.direction == "pull":
            if self.schedule.frontier == "boolmap":
                wanted[f"{self.members(op.from_, 'bools')}.bools", "{}"] = None
            else:
                wanted[f"{self.members(op.from_, 'bits')}.bits", "i64({}) >> 6"] = None
        for function in self.functions:
            for access in function.accesses():
                if access.at[0] is other:
                    array = self.array(access.op, access.handle) if access.kind == "load" else self.value(access.handle)
                    wide = access.handle.type.element  # type: ignore[attr-defined]
                    place = f"i64({{}}) * {wide.size.data}" if isinstance(wide, g.VectorType) else "{}"
                    wanted[array, place] = None
            for inner in function.operations():
                if isinstance(inner, g.IntersectOp) and inner.below is other:
                    wanted[f"{self.value(inner.edges)}.middles", "2 * i64({})"] = None
                elif isinstance(inner, (g.DegreeOp, g.NeighborOp, g.IntersectOp)) and other in inner.operands:
                    wanted[f"{self.value(inner.operands[0])}.offsets", "{}"] = None
        return list(wanted)

    def far_rows(self, other: SSAValue) -> list[g.IntersectOp]:
        """The intersections that walk the neighbours of the vertex at an edge's far end."""
        found = (x for function in self.functions for x in function.operations() if isinstance(x, g.IntersectOp))
        return [x for x in found if other in (x.a, x.b)]

    def filter(self, region: Region, vertex: str) -> str:
        """Write a filter's operations; the text of its answer."""
        block = region.block
        self.text[block.args[0]] = vertex
        self.block(block)
        last = block.last_op
        assert isinstance(last, g.YieldOp)
        return self.value(last.values[0])

    def hoist(self, block: Block, fixed: SSAValue) -> set[Operation]:
        """Write the operations that depend only on the vertex that stays the same along the inner loop, before that loop."""
        known: set[SSAValue] = {fixed}
        written = [a.handle for function in self.functions for a in function.accesses() if a.writes]
        done: set[Operation] = set()
        outside: set[Operation | Block] = set()
        for op in block.ops:
            if not isinstance(op, _HOISTED):
                continue
            if isinstance(op, g.GetOp):
                if not self.inner(op.variable, block):
                    self.text[op.out] = self.value(op.variable)
                    done.add(op)
                    outside.add(op)
                continue
            inner = [v for v in op.operands if self.inner(v, block) and v.owner not in outside]
            if not inner or not all(v in known for v in inner):
                continue
            if (
                isinstance(op, g.LoadOp)
                and not self.steady
                and "snapshot" not in op.attributes
                and self.changes(op.source, written)
            ):
                continue
            self.operation(op)
            done.add(op)
            known.update(op.results)
        return done

    def changes(self, handle: SSAValue, written: list[SSAValue]) -> bool:
        """Whether a property may change while this apply runs."""
        return any(relation(handle, other) != "distinct" for other in written)

    def inner(self, v: SSAValue, block: Block) -> bool:
        """Whether a value is made in the function."""
        if isinstance(v, BlockArgument):
            return v.owner is block
        if isinstance(v.owner, g.ConstantOp):
            return False
        region = block.parent_region()
        return isinstance(v.owner, Operation) and region is not None and region.is_ancestor(v.owner)

    def call(self, block: Block, hoisted: set[Operation], target: str) -> None:
        """The function's remaining operations, and what it yields."""
        self.hit_vertex = target
        for op in block.ops:
            if op not in hoisted:
                self.operation(op)
        last = block.last_op
        if isinstance(last, g.YieldOp) and last.values and self.has_out and self.tracked is None:
            with self.out.block(f"if {self.value(last.values[0])}"):
                self.gather(target)

    def pull(self) -> None:
        """Loop over destinations and their in-edges."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp)
        self.start_output()
        out("looked = i64(0)")
        out("seen = i64(0)")
        graph = self.value(op.edges)
        offsets, neighbors, weights = f"{graph}.in_offsets", f"{graph}.in_neighbors", f"{graph}.in_weights"
        n = f"{graph}.offsets.size - 1"
        with ExitStack() as stack:
            skip = ""
            if self.schedule.cuts:
                cut = self.parameter("segments", f"segments:{self.cutting()}")
                offsets, neighbors, weights = f"{cut}.in_offsets", f"{cut}.in_neighbors", f"{cut}.in_weights"
                out(f"parts = i64({offsets}.size // ({n} + 1))")
                stack.enter_context(out.block("for part in range(parts)"))
                skip = f"part * ({n} + 1) + "
            with self.dealt(f"({n} + 63) >> 6", 8), self.words(offsets, neighbors, skip, n):
                if self.mode == "words":
                    out("bits = ZERO")
                if self.narrows():
                    with out.block("while candidates != ZERO"):
                        out("i = i64(word * 64) + i64(trailing_zeros(candidates))")
                        out("candidates &= candidates - ONE")
                        self.pull_one(offsets, neighbors, weights, skip)
                else:
                    with out.block(f"for i in range(word * 64, min(word * 64 + 64, {n}))"):
                        self.pull_one(offsets, neighbors, weights, skip)
                if self.mode == "words":
                    if self.schedule.cuts:
                        with out.block("if part > 0"):
                            out("bits |= load(out.bits, word)")
                    out("store(out.bits, word, bits)")
                    counted = "size += i64(one_bits(bits))"
                    if self.schedule.cuts:
                        with out.block("if part == parts - 1"):
                            out(counted)
                    else:
                        out(counted)
            if self.schedule.cuts:
                out("barrier(w)")
        self.close(counted=True)

    def cutting(self) -> str:
        """How many parts there are, or (negative) how many bytes one has, and what they are balanced by."""
        schedule = self.schedule
        return f"{schedule.segments or -schedule.segment_bytes}:{schedule.balance}"

    def narrows(self) -> bool:
        """Whether not all destinations are asked for."""
        assert isinstance(self.op, g.EdgeApplyOp)
        return self.op.to_ is not None or self.op.to_filter is not None

    @contextmanager
    def words(self, offsets: str, neighbors: str, skip: str, n: str) -> Iterator[None]:
        """A loop body for each word of 64 destinations. With a lookahead the candidates of a word are found, and their edges asked
        for, while those of the word before it are still to come."""
        out = self.out
        if not self.narrows() or not self.schedule.lookahead:
            with out.block("for word in range(first, last)"):
                if self.narrows():
                    out("candidates = ZERO")
                    self.find_candidates("word", "candidates", offsets, skip, n)
                yield
            return
        out("upcoming = ZERO")
        with out.block("for far in range(first, last + 1)"):
            out("candidates = upcoming")
            out("upcoming = ZERO")
            with out.block("if far < last"):
                self.find_candidates("far", "upcoming", offsets, skip, n)
                out("rows = upcoming")
                with out.block("while rows != ZERO"):
                    out("i = i64(far * 64) + i64(trailing_zeros(rows))")
                    out("rows &= rows - ONE")
                    out(f"prefetch({neighbors}, load({offsets}, {skip}i))")
            out("word = far - 1")
            with out.block("if far > first"):
                yield

    def find_candidates(self, word: str, found: str, offsets: str, skip: str, n: str) -> None:
        """Of the 64 destinations of a word those that are asked for and have in-edges, as bits: without a branch for each."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp)
        with out.block(f"for i in range({word} * 64, min({word} * 64 + 64, {n}))"):
            target = self.names.make("candidate")
            out(f"{target} = {self.vid}(i)")
            tests = [f"load({offsets}, {skip}i) != load({offsets}, {skip}i + 1)"]
            if op.to_ is not None:
                tests.append(f"has_bit({self.members(op.to_, 'bits')}.bits, {target})")
            if op.to_filter is not None:
                tests.append(self.filter(op.to_filter, target))
            bits = " & ".join(f"u64({test})" for test in tests)
            out(f"{found} |= ({bits}) << u64(i & 63)")

    def pull_one(self, offsets: str, neighbors: str, weights: str, skip: str) -> None:
        """The in-edges of one destination; `skip` leads to the offsets of the part at hand."""
        op, out = self.op, self.out
        assert isinstance(op, g.EdgeApplyOp)
        block = self.edge_block()
        target = self.names.make(block.args[1].name_hint, "dst")
        self.text[block.args[1]] = target
        out(f"{target} = {self.vid}(i)")
        out(f"edge_start = i64(load({offsets}, {skip}i64({target})))")
        out(f"edge_end = i64(load({offsets}, {skip}i64({target}) + 1))")
        out("looked += edge_end - edge_start")
        out("seen += 1")
        if self.mode == "words":
            out("changed = False")
        if self.early_exit:
            out("wrote = False")
        hoisted = self.hoist(block, block.args[1])
        self.open_accumulators(block, target)
        with out.block("for edge in range(edge_start, edge_end)"), ExitStack() as inner:
            self.prefetch(neighbors, block.args[0])
            source = self.names.make(block.args[0].name_hint, "src")
            self.text[block.args[0]] = source
            out(f"{source} = load({neighbors}, edge)")
            if op.from_ is not None:
                if self.schedule.frontier == "boolmap":
                    test = f"load({self.members(op.from_, 'bools')}.bools, {source}) != 0"
                else:
                    test = f"has_bit({self.members(op.from_, 'bits')}.bits, {source})"
                inner.enter_context(out.block(f"if {test}"))
            if op.from_filter is not None:
                inner.enter_context(out.block(f"if {self.filter(op.from_filter, source)}"))
            self.weight(block, weights)
            self.call(block, hoisted, target)
            if self.early_exit:
                with out.block("if wrote"):
                    out("looked -= edge_end - edge - 1")
                    out("break")
        self.close_accumulators(target)
        if self.mode == "words":
            with out.block("if changed"):
                out(f"bits |= ONE << u64({target} & 63)")

    def open_accumulators(self, block: Block, target: str) -> None:
        """Properties that the function only reduces into, at the destination: keep the value in a register along the loop."""
        self.accumulators = {}
        accesses = [a for function in self.functions for a in function.accesses()]
        for access in accesses:
            if access.kind != "reduce" or access.at != (block.args[1],) or "atomic" in access.op.attributes:
                continue
            near = [a for a in accesses if relation(a.handle, access.handle) != "distinct"]
            alone = all(
                (a.kind == "reduce" and a.at == (block.args[1],) and relation(a.handle, access.handle) == "same")
                or (a.kind == "load" and "snapshot" in a.op.attributes)
                for a in near
            )
            key = canonical(access.handle)
            if alone and key not in self.accumulators:
                name = self.names.make(f"new_{access.handle.name_hint or 'value'}")
                array = self.value(access.handle)
                self.accumulators[key] = (name, array)
                kind = access.op.value  # type: ignore[attr-defined]
                self.out(f"{name} = {self.element(array, target, kind)}")

    def close_accumulators(self, target: str) -> None:
        """Put the registers back."""
        for name, array in self.accumulators.values():
            self.out(f"store({array}, {target}, {name})")
        self.accumulators = {}

    def vertices(self) -> None:
        """Loop over the members of a set, or over all vertices."""
        op, out = self.op, self.out
        assert isinstance(op, (g.VertexApplyOp, g.WhereOp))
        block = op.apply.block
        self.start_output()
        out("looked = i64(0)")
        out("seen = i64(0)")
        name = self.names.make(block.args[0].name_hint, "v")
        self.text[block.args[0]] = name
        every = op.vertices.owner
        if isinstance(every, g.VerticesOp):
            size, take = f"{self.value(every.edges)}.offsets.size - 1", f"{name} = {self.vid}(i)"
        else:
            active = self.members(op.vertices, "list")
            size, take = f"load({active}.meta, SIZE)", f"{name} = load({active}.ids, i)"
        with self.dealt(size, 512), out.block("for i in range(first, last)"):
            out(take)
            self.prefetch_edges()
            self.call(block, set(), name)
            out("seen += 1")
        self.close(counted=True)
