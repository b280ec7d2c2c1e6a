"""Reads one program: keeps the frames of the functions being read, their names and blocks, and finds what a name stands for.

The rules for expressions, calls and statements are functions in modules of their own; `Tracer` calls them by the kind of node.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import numbers
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from xdsl.dialects.builtin import IntAttr, NoneAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pantograf.errors import Place, UserError
from pantograf.ir import graph
from pantograf.ir.graph import PropertyType, VectorType, VertexSetType, VertexType, is_scalar, type_name
from pantograf.lang import source, types
from pantograf.lang.builder import Builder, valid_hint, wider
from pantograf.lang.names import Names, Path, analyse
from pantograf.lang.source import FunctionNode, Source
from pantograf.lang.values import (
    AllVertices,
    Cell,
    Foreign,
    Function,
    Module,
    NoVertex,
    Nothing,
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

SCALAR_TYPES: dict[Any, Attribute] = {
    types.i32: graph.i32,
    types.i64: graph.i64,
    types.u32: graph.u32,
    types.u64: graph.u64,
    types.f32: graph.f32,
    types.f64: graph.f64,
    types.Vertex: VertexType(),
    bool: graph.i1,
    int: graph.i64,
    float: graph.f64,
}
TYPE_NAMES = "i32, i64, u32, u64, f32, f64, bool, Vertex"
BUILTINS = ("abs", "min", "max", "len", "print", "range", "bool", "int", "float")
_WORDS = {id(word): name for name, word in types.vars_of_vocabulary().items() if callable(word)}


@dataclass(eq=False)
class Context:
    """Where operations run: the program itself, or a function that machines run on many edges or vertices at once."""

    kind: str
    """program, edge, vertex, where, filter or par_for."""
    ends: tuple[SSAValue, ...] = ()
    """The vertices that the function was given."""
    in_place: bool = False
    """Whether it swaps: racy by intent."""
    reduced: dict[SSAValue, str] = field(default_factory=dict)
    """Variables from outside that it reduces into, by name."""
    written: set[Attribute] = field(default_factory=set)
    """The types of the properties that it writes."""
    read: dict[SSAValue, Place] = field(default_factory=dict)
    """Variables from outside that it reads."""
    stray: list[UserError] = field(default_factory=list)
    """Writes to vertices other than its own, wrong unless it turns out to be racy by intent."""

    @property
    def is_function(self) -> bool:
        """Whether this is a function that an apply runs."""
        return self.kind not in ("program", "par_for")


@dataclass
class Opened:
    """A block of statements being read, and the GraphIR block that it began in."""

    path: Path
    block: Block
    context: Context
    made: list[str] = field(default_factory=list)
    """Plain names bound here: unknown outside."""


@dataclass(eq=False)
class Frame:
    """One function being read."""

    node: FunctionNode | None
    source: Source
    outer: Frame | None
    python: Mapping[str, Any]
    """What Python knows under names that are not the program's."""
    context: Context
    names: Names
    bindings: dict[str, Operand | Cell] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    lost: dict[str, int] = field(default_factory=dict)
    """Names that have a value on some paths only, and the line that gave it."""
    opened: list[Opened] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    """The loops around, innermost last: while, for or par_for."""
    returns: Returns | None = None


@dataclass
class Returns:
    """How a function gives its one value: at its end, or through a variable and one that says that it is there."""

    gives: bool
    """Whether it gives a value at all."""
    returned: Operation | None = None
    """The variable that says whether it has returned; none where the only return is the end."""
    cell: Value | None = None
    wanted: Attribute | None = None
    value: Operand | None = None
    """The value of a return at the end."""


class Tracer:
    """The state of reading one program."""

    def __init__(self, expressions: Mapping[type, Callable[..., Operand]], weight: str) -> None:
        self.expressions = expressions
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
            from pantograf.lang.refusals import expression

            message, hint = expression(node)
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
        self.builder.fail(f"{describe(x)} is no value of a program", "values are scalars, vertices, sets, properties, queues and lists")

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
                self.builder.fail(f"a number or a vertex is wanted here, and this is {describe(value)}", _scalar_hint(value.type))
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
            self.builder.fail(f"{name} gives {describe(value)}, and a bool is wanted", "return a comparison, or no value")
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
        from pantograf.lang.statements import read

        read(self, nodes)

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
            f"legal: {name} += x, {name} -= x, {name} = min({name}, x), max({name}, x), {name} or x",
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
        first = f"start it as {shown}(...), or " if shown and is_scalar(t) and isinstance(want, Value) and is_scalar(want.type) else ""
        if isinstance(want, Number):
            first = f"start it as {want.own_type}(...), or "
        convert = f"convert with {have}(...)" if is_scalar(t) else "use another name"
        self.fail(node, f"{name} has two types: it is {describe(t)}, and this is {describe(want)}", f"a name has one type: {first}{convert}")

    def owner(self, name: str, node: ast.AST) -> Frame:
        """The frame whose name a `nonlocal` declaration means."""
        frame = self.frame.outer
        while frame is not None:
            if name in frame.names.table and (frame.names.table[name].assigned or frame.names.table[name].targets):
                if name not in frame.names.outer:
                    return frame
            frame = frame.outer
        self.fail(node, f"there is no {name} around this function", "nonlocal is for names of the functions around this one")

    def lookup(self, name: str, node: ast.AST) -> Operand | Cell:
        """What a name stands for here."""
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.bindings and name in frame.bound:
                return frame.bindings[name]
            entry = frame.names.table.get(name)
            if entry is not None and (entry.assigned or entry.targets) and name not in frame.names.outer:
                self.unbound(name, frame, node)
            if frame.outer is None:
                break
            frame = frame.outer
        python = self.frame.python
        if name in python:
            return self.captured(name, python[name], node)
        if name in BUILTINS:
            return Type(SCALAR_TYPES[getattr(builtins, name)]) if name in ("bool", "int", "float") else Word(name)
        known = self.known_names()
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]}?" if close else f"names here: {', '.join(known)}"
        if hasattr(builtins, name):
            self.fail(node, f"Python's {name} has no meaning in a program", f"builtins that programs know: {', '.join(BUILTINS)}")
        self.fail(node, f"there is no name {name!r}", hint)

    def unbound(self, name: str, frame: Frame, node: ast.AST) -> NoReturn:
        """Complain that a name has no value yet, or not on every path."""
        line = frame.lost.get(name)
        if line is None:
            self.fail(node, f"{name} has no value yet", f"give {name} a value before this line")
        row = line + frame.source.first_line - 1
        self.fail(node, f"{name} has no value on every path to here (line {row} gives it one)", f"give {name} a value before the branch or loop")

    def known_names(self) -> list[str]:
        """The author's names that have a value here."""
        found: list[str] = []
        frame: Frame | None = self.frame
        while frame is not None:
            found += [n for n in frame.bindings if n in frame.bound and n not in found]
            frame = frame.outer
        return found

    def captured(self, name: str, x: Any, node: ast.AST) -> Operand:
        """A Python object as an operand: numbers are frozen, functions are read, the vocabulary is known."""
        if x is types.none:
            return NoVertex()
        if x is types.inf:
            return Number(float("inf"))
        if x is types.Weight:
            self.generic = True
            return Type(self.weight)
        if isinstance(x, type) and x in SCALAR_TYPES:
            return Type(SCALAR_TYPES[x])
        if x is types.VertexSet:
            return Type(VertexSetType())
        if id(x) in _WORDS:
            return Word(_WORDS[id(x)])
        if isinstance(x, types.Annotation):
            return Type(self.annotation(x, node))
        if isinstance(x, types.Extern):
            return Foreign(x)
        if isinstance(x, ModuleType):
            return Module(x)
        if isinstance(x, (bool, int, float)):
            return Number(x)
        if isinstance(x, numbers.Number) and hasattr(x, "item") and isinstance(x.item(), (bool, int, float)):
            return Number(x.item())
        if type(x).__name__ == "bool" and hasattr(x, "item"):
            return Number(bool(x))
        if isinstance(x, str):
            return Text(x)
        if isinstance(x, FunctionType):
            return self.outside(x)
        if type(x).__module__ == "numpy" and hasattr(x, "shape"):
            self.fail(node, f"{name} is a NumPy array, which a program cannot capture", f"make it an argument: {name}: Property[f64]")
        if getattr(x, "__module__", "") == "pantograf.lang.program" or type(x).__module__ == "pantograf.lang.program":
            self.fail(node, f"{name} is a program, and a program cannot call another", "move what they share into a plain function; calls are inlined")
        builtin = getattr(x, "__name__", name)
        if builtin in BUILTINS and getattr(builtins, builtin, None) is x:
            return Word(builtin)
        if callable(x):
            self.fail(
                node,
                f"{name} is a Python {type(x).__name__}, which a program cannot call",
                "legal: functions in Python source, which are inlined; @pg.extern functions; pg.sqrt exp log floor ceil; abs min max",
            )
        self.fail(
            node,
            f"{name} is a Python {type(x).__name__}, which a program cannot capture",
            "numbers and bools are frozen when the program is read; arrays come in as arguments: Property[f64]",
        )

    def beside(self, outside: Frame, node: ast.FunctionDef) -> None:
        """A function that stands beside the program in its text."""
        outside.bindings[node.name] = Function(node.name, node, outside)
        outside.bound.add(node.name)

    def outside(self, function: FunctionType) -> Function:
        """A Python function from outside of the program, as one that can be inlined."""
        text, node = source.find(function)
        frame = Frame(None, text, None, namespace(function), self.frames[0].context, Names({}, {}, {}))
        return Function(function.__name__ if function.__name__ != "<lambda>" else "lambda", node, frame)

    # --- types

    def annotation(self, x: Any, node: ast.AST) -> Attribute:
        """A Python object as a type."""
        if x is types.Weight:
            self.generic = True
            return self.weight
        if isinstance(x, type) and x in SCALAR_TYPES:
            return SCALAR_TYPES[x]
        if x is types.Edges:
            return graph.EdgesType(NoneAttr())
        if x is types.VertexSet:
            return VertexSetType()
        if isinstance(x, types.Annotation):
            inner = self.annotation(x.parameter, node)
            if x.base == "Property" and (is_scalar(inner) or isinstance(inner, VectorType)):
                return PropertyType(inner)
            if is_scalar(inner) and not isinstance(inner, VertexType):
                if x.base == "Edges":
                    return graph.EdgesType(inner)
                if x.base == "vector" and x.size is not None:
                    return VectorType(IntAttr(x.size), inner)
            self.fail(node, f"{x!r} is not a type of a program", f"in brackets: {TYPE_NAMES}")
        self.fail(
            node,
            "this is not a type of a program",
            f"legal: {TYPE_NAMES}, VertexSet, Edges, Edges[i32], Property[f64], Property[vector(f64, 20)]",
        )

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


def namespace(function: FunctionType) -> dict[str, Any]:
    """The names that a Python function sees from outside of itself."""
    cells: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = cell.cell_contents
        except ValueError:
            continue
    return {**function.__globals__, **cells}


def enter(function: Function, context: Context) -> Frame:
    """A frame to read a function in."""
    base = function.frame
    return Frame(function.node, base.source, base, base.python, context, analyse(function.node))


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
