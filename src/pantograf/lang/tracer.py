"""Reads one program: keeps the frames of the functions being read, their names and blocks, and finds what a name stands for.

The rules for expressions, calls and statements are functions in modules of their own; `Tracer` calls them by the kind of node.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from xdsl.ir import Attribute, Block, Operation, SSAValue

from pantograf.errors import Place
from pantograf.ir import graph
from pantograf.ir.graph import PropertyType, VertexSetType, VertexType, is_scalar, type_name
from pantograf.lang import captures, refusals, types
from pantograf.lang.builder import Builder
from pantograf.lang.captures import BUILTINS, SCALAR_TYPES
from pantograf.lang.frames import Context, Frame, Opened
from pantograf.lang.names import Path
from pantograf.lang.scalars import valid_hint, wider
from pantograf.lang.values import (
    AllVertices,
    Cell,
    Function,
    Nothing,
    NoVertex,
    Number,
    Operand,
    Row,
    Text,
    Type,
    Value,
    Word,
    describe,
    is_integer,
    is_number,
)


class Tracer:
    """The state of reading one program."""

    def __init__(
        self,
        expressions: Mapping[type, Callable[..., Operand]],
        read: Callable[[Tracer, list[ast.stmt]], None],
        weight: str,
    ) -> None:
        self.expressions = expressions
        self.read = read
        self.builder = Builder()
        self.weight: Attribute = SCALAR_TYPES[getattr(types, weight)]
        self.generic = False
        self.externs: dict[str, Callable[..., Any]] = {}
        self.frames: list[Frame] = []
        self.edges: Value | None = None
        self.queued: dict[SSAValue, str] = {}
        """Properties (or the variables that hold them) that order a queue."""
        self.fixed: set[SSAValue] = set()
        """Properties that are never written: degrees."""
        self.named: set[SSAValue] = set()
        """Values that already have a name of the author's."""
        self.pending_label: tuple[str, Place] | None = None
        self.same_place: tuple[str, list[Value]] | None = None
        """While the right side of an assignment is read: its target's text and index values."""

    # --- where we are

    @property
    def frame(self) -> Frame:
        """The function being read."""
        return self.frames[-1]

    @property
    def context(self) -> Context:
        """Where operations run now."""
        return self.frame.context

    def fail(self, node: ast.AST, message: str, hint: str) -> NoReturn:
        """Complain at a node."""
        self.frame.source.fail(node, message, hint)

    def place(self, node: ast.AST) -> Place:
        """The place of a node of the function being read."""
        return self.frame.source.place(node)

    # --- reading

    def operand(self, node: ast.expr) -> Operand:
        """What an expression stands for."""
        rule = self.expressions.get(type(node))
        if rule is None:
            message, hint = refusals.expression(node)
            self.fail(node, message, hint)
        with self.builder.at(self.place(node)):
            return rule(self, node)

    def value(self, node: ast.expr) -> Value:
        """An expression as a value in GraphIR."""
        found = self.operand(node)
        with self.builder.at(self.place(node)):
            return self.materialize(found)

    def materialize(self, x: Operand) -> Value:
        """An operand as a value in GraphIR."""
        match x:
            case Value():
                return x
            case Number() | NoVertex():
                return self.builder.own(x)
            case AllVertices():
                return self.builder.vertices(x.edges)
            case Nothing():
                self.builder.fail(x.why, x.hint)
            case Row():
                self.builder.fail("a vector is read one element at a time", "write p[v, i]")
        self.builder.fail(
            f"{describe(x)} is no value of a program",
            "values are scalars, vertices, sets, properties, queues and lists",
        )

    def materialize_at(self, x: Operand, node: ast.AST) -> Value:
        """An operand as a value, made at a node."""
        with self.builder.at(self.place(node)):
            return self.materialize(x)

    def scalar(self, node: ast.expr) -> Value | Number | NoVertex:
        """An expression that is a scalar."""
        found = self.operand(node)
        if isinstance(found, (Number, NoVertex)):
            return found
        with self.builder.at(self.place(node)):
            value = self.materialize(found)
            if not is_scalar(value.type):
                self.builder.fail(
                    f"a number or a vertex is wanted here, and this is {describe(value)}", _scalar_hint(value.type)
                )
        return value

    def operand_as(self, node: ast.expr, t: Attribute) -> Operand:
        """An expression that will be a value of a type: `1 if c else 2` takes it, as a number does."""
        if not isinstance(node, ast.IfExp):
            return self.operand(node)
        with self.builder.at(self.place(node)):
            return self.expressions[ast.IfExp](self, node, t)

    def converted(self, node: ast.expr, t: Attribute, what: str) -> Value:
        """An expression as a scalar of a type."""
        found = self.operand_as(node, t)
        if not isinstance(found, (Value, Number, NoVertex)):
            found = self.materialize_at(found, node)
        with self.builder.at(self.place(node)):
            return self.builder.convert(found, t, what)

    def condition(self, node: ast.expr) -> Value:
        """An expression as a truth value: a bool, or whether a set, a list or a queue has members."""
        found = self.operand(node)
        with self.builder.at(self.place(node)):
            return self.truth(found)

    def truth(self, x: Operand) -> Value:
        """An operand as a truth value."""
        value = self.materialize(x)
        match value.type:
            case VertexSetType() | graph.ListType():
                return self.builder.compare("gt", self.builder.size(value), Number(0))
            case graph.QueueType():
                finished = self.builder.unary("not", self.builder.queue_finished(value))
                assert isinstance(finished, Value)
                return finished
        if value.type != graph.i1:
            hint = "compare it: x != 0" if is_scalar(value.type) else "a condition is a bool, a set, a list or a queue"
            if isinstance(value.type, VertexType):
                hint = "compare it: v != pg.none"
            self.builder.fail(f"a condition is a bool, and this is {describe(value)}", hint)
        return value

    def truth_at(self, x: Operand, node: ast.AST) -> Value:
        """An operand as a truth value, made at a node."""
        with self.builder.at(self.place(node)):
            return self.truth(x)

    def truth_of_function(self, x: Operand, name: str) -> Value:
        """What a filter or an edge function gives, which is a bool."""
        value = self.materialize(x)
        if value.type != graph.i1:
            self.builder.fail(
                f"{name} gives {describe(value)}, and a bool is wanted", "return a comparison, or no value"
            )
        return value

    def vertex(self, node: ast.expr, what: str = "this") -> Value:
        """An expression as a vertex; as an index, a whole number is the id of one."""
        found = self.scalar(node)
        with self.builder.at(self.place(node)):
            if isinstance(found, Value) and is_integer(found.type):
                return self.builder.cast(found, VertexType())
            return self.builder.convert(found, VertexType(), what)

    # --- blocks

    def statements(self, nodes: list[ast.stmt]) -> None:
        """Read statements in the block that is open."""
        self.read(self, nodes)

    @contextmanager
    def opened(self, nodes: list[ast.stmt], block: Block) -> Iterator[None]:
        """Read a block of statements into a block of GraphIR; plain names bound within are unknown after it."""
        frame = self.frame
        entry = Opened(frame.names.paths[id(nodes)], block, frame.context)
        frame.opened.append(entry)
        try:
            with self.builder.inside(block):
                yield
        finally:
            frame.opened.pop()
            for name in entry.made:
                frame.bindings.pop(name, None)

    @contextmanager
    def reopened(self, path: Path) -> Iterator[None]:
        """Go on with a block of statements within the block of GraphIR that is open."""
        frame = self.frame
        frame.opened.append(Opened(path, self.builder.block, frame.context))
        try:
            yield
        finally:
            for name in frame.opened.pop().made:
                frame.bindings.pop(name, None)

    def bound(self) -> list[tuple[Frame, set[str]]]:
        """Which names have a value now."""
        return [(frame, set(frame.bound)) for frame in self.frames]

    def rebound(self, *ways: list[tuple[Frame, set[str]]]) -> None:
        """From here on, the names have a value that have one on each of these ways."""
        for frame, first in ways[0]:
            frame.bound = set(first)
        for way in ways[1:]:
            for frame, names in way:
                frame.bound &= names

    # --- names

    def bind(self, name: str, x: Operand, node: ast.AST) -> None:
        """Give a name its value: as a plain value, or into its variable."""
        frame = self.frame
        owner = frame
        if name in frame.names.outer:
            owner = self.owner(name, node)
        entry = owner.names.table[name]
        owner.lost[name] = getattr(node, "lineno", 0)
        known = owner.bindings.get(name)
        if not entry.is_variable:
            frame.bindings[name] = self.kept(name, x)
            frame.opened[-1].made.append(name)
        elif isinstance(known, Cell):
            self.assign(known, name, x, node)
        elif known is not None:
            self.fail(node, f"{name} is {describe(known)} and cannot be given another value", "use another name")
        else:
            self.declare(owner, name, x, node)
        owner.bound.add(name)

    def kept(self, name: str, x: Operand) -> Operand:
        """What a plain name is bound to; values get its name."""
        if isinstance(x, (Nothing, Row)):
            self.materialize(x)
        if isinstance(x, Value) and isinstance(x.ssa.owner, Operation) and x.ssa not in self.named:
            if not isinstance(x.ssa.owner, graph.GetOp):
                x.ssa.name_hint = valid_hint(name)
            self.named.add(x.ssa)
        return x

    def declare(self, frame: Frame, name: str, x: Operand, node: ast.AST) -> None:
        """Make the variable of a name, in its home block, with its first value."""
        home = frame.names.table[name].home
        opened = next(o for o in reversed(frame.opened) if o.path == home[: len(o.path)])
        value = self.materialize(x)
        if isinstance(value.type, (graph.EdgesType, graph.QueueType, graph.ListType)):
            self.fail(
                node, f"{name} is {describe(value)}, and cannot be given another one", "give each a name of its own"
            )
        here = frame.opened[-1]
        if opened.context is not frame.context:
            self.outer_write(name, node)
        if opened.path == here.path and frame is self.frame:
            cell = self.builder.variable(value, name)
        else:
            op = self.builder.block.parent_op()
            while op is not None and op.parent_block() is not opened.block:
                op = op.parent_op()
            if op is None:
                self.fail(node, f"{name} is made in a place that its uses cannot see", "give it a value before")
            with self.builder.before(op):
                cell = self.builder.variable(self.blank(value.type, name, node), name)
            self.builder.set(cell.ssa, value)
        frame.bindings[name] = Cell(cell.ssa, frame.context)
        opened.made.append(name)

    def blank(self, t: Attribute, name: str, node: ast.AST) -> Value:
        """What a variable holds before the branch or loop that gives it its first value."""
        if is_scalar(t):
            return self.builder.zero(t)
        if isinstance(t, VertexSetType):
            assert self.edges is not None
            return self.builder.vertex_set(self.edges, [])
        self.fail(
            node,
            f"{name} gets its first value in a branch or a loop, and {describe(t)} cannot wait for one",
            f"give {name} a value before",
        )

    def assign(self, cell: Cell, name: str, x: Operand, node: ast.AST) -> None:
        """Give a variable a value of its type."""
        if cell.context is not self.context:
            self.outer_write(name, node)
        t = cell.type
        if is_scalar(t) and isinstance(x, (Number, NoVertex)):
            if not self.adapts(x, t):
                self.two_types(name, t, x, node)
            value = self.builder.convert(x, t, name)
        else:
            value = self.materialize(x)
            if value.type != t:
                if not (is_number(t) and is_number(value.type) and wider(t, value.type) == t):
                    self.two_types(name, t, value, node)
                value = self.builder.convert(value, t, name)
        self.builder.set(cell.ssa, value)

    def outer_write(self, name: str, node: ast.AST) -> NoReturn:
        """Complain that a variable from outside is given a plain value where many turns run at once."""
        where = "a par_range loop" if self.context.kind == "par_for" else "a function that runs on many at once"
        self.fail(
            node,
            f"{name} belongs to the program, and {where} may only reduce into it",
            f"legal: {name} += e, {name} -= e, {name} = min({name}, e), max({name}, e), {name} or e",
        )

    def adapts(self, x: Number | NoVertex, t: Attribute) -> bool:
        """Whether a number can be a value of a type (that it is in range is checked elsewhere)."""
        if isinstance(x, NoVertex):
            return isinstance(t, VertexType)
        if isinstance(x.value, bool) != graph.is_bool(t):
            return False
        if isinstance(x.value, float) and not graph.is_float(t):
            return x.value in (float("inf"), float("-inf")) and not isinstance(t, VertexType)
        return True

    def two_types(self, name: str, t: Attribute, x: Operand, node: ast.AST) -> NoReturn:
        """Complain that a name would have two types."""
        have, want = type_name(t), x
        shown = type_name(want.type) if isinstance(want, Value) else ""
        first = (
            f"start it as {shown}(...), or "
            if shown and is_scalar(t) and isinstance(want, Value) and is_scalar(want.type)
            else ""
        )
        if isinstance(want, Number):
            first = f"start it as {want.own_type}(...), or "
        convert = f"convert with {have}(...)" if is_scalar(t) else "use another name"
        self.fail(
            node,
            f"{name} has two types: it is {describe(t)}, and this is {describe(want)}",
            f"a name has one type: {first}{convert}",
        )

    def owner(self, name: str, node: ast.AST) -> Frame:
        """The frame whose name a `nonlocal` declaration means."""
        frame = self.frame.outer
        while frame is not None:
            entry = frame.names.table.get(name)
            if entry is not None and entry.is_own and name not in frame.names.outer:
                return frame
            frame = frame.outer
        self.fail(
            node, f"there is no {name} around this function", "nonlocal is for names of the functions around this one"
        )

    def lookup(self, name: str, node: ast.AST) -> Operand | Cell:
        """What a name stands for here."""
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.bindings and name in frame.bound:
                return frame.bindings[name]
            entry = frame.names.table.get(name)
            if entry is not None and entry.is_own and name not in frame.names.outer:
                self.unbound(name, frame, node)
            if frame.outer is None:
                break
            frame = frame.outer
        python = self.frame.python
        if name in python:
            return captures.captured(self, name, python[name], node)
        if name in BUILTINS:
            return Type(SCALAR_TYPES[getattr(builtins, name)]) if name in ("bool", "int", "float") else Word(name)
        known = self.known_names()
        close = difflib.get_close_matches(name, known, 1)
        hint = (f"did you mean {close[0]}? " if close else "") + f"names here: {', '.join(known)}"
        if hasattr(builtins, name):
            self.fail(
                node,
                f"Python's {name} has no meaning in a program",
                f"builtins that programs know: {', '.join(BUILTINS)}",
            )
        self.fail(node, f"there is no name {name!r}", hint)

    def knows(self, name: str) -> bool:
        """Whether a name means something here."""
        return name in self.known_names() or name in self.frame.python or name in ("bool", "int", "float")

    def unbound(self, name: str, frame: Frame, node: ast.AST) -> NoReturn:
        """Complain that a name has no value yet, or not on every path."""
        line = frame.lost.get(name)
        if line is None:
            around = frame.outer
            while around is not None and name not in around.bound:
                around = around.outer
            if around is not None:
                hint = f"write nonlocal {name} at the start of this function to mean the program's {name}"
                self.fail(node, f"{name} is this function's own name, and has no value yet", hint)
            self.fail(node, f"{name} has no value yet", f"give {name} a value before this line")
        row = line + frame.source.first_line - 1
        self.fail(
            node,
            f"{name} has no value on every path to here (line {row} gives it one)",
            f"give {name} a value before the branch or loop",
        )

    def known_names(self) -> list[str]:
        """The author's names that have a value here."""
        found: list[str] = []
        frame: Frame | None = self.frame
        while frame is not None:
            found += [n for n in frame.bindings if n in frame.bound and n not in found]
            frame = frame.outer
        return found

    def beside(self, outside: Frame, node: ast.FunctionDef) -> None:
        """A function that stands beside the program in its text."""
        outside.bindings[node.name] = Function(node.name, node, outside)
        outside.bound.add(node.name)

    # --- labels

    def label(self, node: ast.AST, made: str, given: ast.expr | None = None) -> str:
        """The label of a loop or an apply: the author's, or one made from a name."""
        if given is not None:
            text = self.operand(given)
            if not isinstance(text, Text):
                self.fail(given, "a label is a text", 'write label="traverse"')
            if self.pending_label is not None:
                self.fail(given, "this has two labels", "leave out label=, or the with pg.label(...) around it")
            return self.builder.labels.given(text.value, self.place(given))
        if self.pending_label is not None:
            (text_, place), self.pending_label = self.pending_label, None
            return self.builder.labels.given(text_, place)
        return self.builder.labels.made(made)


def _scalar_hint(t: Attribute) -> str:
    match t:
        case PropertyType():
            return "p[v] is the value of a vertex; p.sum(), .min(), .max(), .any() combine all"
        case VertexSetType():
            return "s.size is its size, v in s asks for a member"
        case graph.QueueType():
            return "queue.priority is its current priority"
        case graph.ListType():
            return "l[i] is a value, l.size the length"
    return "edges.size and edges.vertices.size are numbers"
