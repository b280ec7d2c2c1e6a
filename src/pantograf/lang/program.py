"""A program: GraphIR under a name, with the schedules its author or user gave it, ready to be run on any machine."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from pantograf.errors import UserError

if TYPE_CHECKING:
    from types import ModuleType

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

    from pantograf.graphs import Graph
    from pantograf.ir.graph import ProgramOp
    from pantograf.lang.trace import Traced
    from pantograf.machine import Executable, Machine
    from pantograf.result import Result
    from pantograf.schedule import Schedule

DEFAULT_MACHINE = "cpu"


def _machine() -> ModuleType:
    """The one hook by which the language finds machines."""
    return importlib.import_module("pantograf.machine")


class Bound(NamedTuple):
    """Arguments of a call: as the machine takes them, and as a person wrote them."""

    values: dict[str, Any]
    shown: dict[str, Any]


@dataclass(frozen=True)
class _Source:
    """Where a program's text comes from; tracing waits until it is needed."""

    name: str
    trace: Callable[[str], Traced]


class Program:
    """An algorithm, written once. `bfs(graph, source=3)` runs it; `on` and `scheduled` give the same program, run otherwise.
    `requires` raises on a graph that does not fit."""

    def __init__(
        self,
        source: _Source,
        *,
        machine: Machine | str = DEFAULT_MACHINE,
        schedules: Mapping[str, Schedule | str] | None = None,
        weight: str | None = None,
        requires: Callable[[Graph], None] | None = None,
    ) -> None:
        self._source = source
        self.requires = requires
        self._machine_wanted = machine
        self._weight = weight
        self._traced: dict[str, Traced] = {}
        self.schedules: dict[str, Schedule | str] = dict(schedules or {})
        self.name = source.name

    def __repr__(self) -> str:
        return f"<program {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.name, self.show(), self._machine_wanted, self.schedules, self.externs)

    # --- what it is

    @property
    def traced(self) -> Traced:
        """The traced program for the weight type that is set (i32 unless a graph said otherwise), its reductions recognised: what
        they are is part of the program's meaning."""
        from pantograf import passes

        weight = self._weight or "i32"
        if weight not in self._traced:
            try:
                self._traced[weight] = traced = self._source.trace(weight)
                passes.run(traced.module, [passes.RecognizeReductions()])
            except RecursionError:
                hint = "give parts of long expressions names of their own"
                raise UserError(f"{self.name} is nested too deeply to be read", hint=hint) from None
        return self._traced[weight]

    @property
    def module(self) -> ModuleOp:
        """Its GraphIR."""
        return self.traced.module

    @property
    def externs(self) -> dict[str, Callable[..., Any]]:
        """The Python functions that it calls, by name."""
        return self.traced.externs

    @property
    def op(self) -> ProgramOp:
        """The operation that holds the program."""
        from pantograf.ir.text import program_of

        return program_of(self.module)

    @property
    def digest(self) -> str:
        """A hash of the GraphIR and of the externs' code."""
        parts = [self.show(), *(f.__code__.co_code.hex() + repr(f.__code__.co_consts) for f in self.externs.values())]
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()

    def show(self) -> str:
        """Its GraphIR as text."""
        from pantograf.ir.text import print_module

        kept: str | None = getattr(self.traced, "_text", None)
        if kept is None:
            kept = print_module(self.module)
            object.__setattr__(self.traced, "_text", kept)
        return kept

    def labels(self) -> list[str]:
        """The label paths that schedules can address."""
        from pantograf.passes import label_paths

        return sorted(label_paths(self.module))

    def source(self, on: Machine | str | None = None, graph: Graph | None = None, stage: str = "source") -> str:
        """The code that a machine emits for it."""
        return cast(
            str, _machine().show(self.for_graph(graph) if graph else self, on or self._machine_wanted, graph, stage)
        )

    # --- variations

    def _with(self, **changes: Any) -> Program:
        settings: dict[str, Any] = {
            "machine": self._machine_wanted,
            "schedules": self.schedules,
            "weight": self._weight,
            "requires": self.requires,
        } | changes
        copy = Program(self._source, **settings)
        copy._traced = self._traced
        return copy

    def on(self, machine: Machine | str) -> Program:
        """The same program, run on another machine."""
        return self._with(machine=_machine().find(machine))

    def scheduled(
        self, schedules: Mapping[str, Schedule | str] | None = None, /, **by_label: Schedule | str
    ) -> Program:
        """The same program with schedules at labels: `scheduled({"s0:s1": x}, traverse=y)`."""
        from pantograf.passes import find_label

        changed = dict(self.schedules)
        for label, schedule in {**(schedules or {}), **by_label}.items():
            find_label(self.module, label)
            changed[label] = schedule
        return self._with(schedules=changed)

    def search_space(self, label: str) -> Iterator[Schedule]:
        """The schedules that its machine takes at a label: every choice between ways, and few values of the numbers."""
        machine = _machine().find(self._machine_wanted)
        return cast("Iterator[Schedule]", machine.space(self, label))

    def schedule_key(self) -> tuple[tuple[str, str], ...]:
        """The schedules as text, in an order of their own."""
        from pantograf import spec

        return tuple(sorted((label, s if isinstance(s, str) else spec.show(s)) for label, s in self.schedules.items()))

    def for_graph(self, graph: Graph) -> Program:
        """The same program with `Weight` as in the graph; a graph that does not fit is refused."""
        wanted = graph_weight(graph)
        if self.requires is not None:
            self.requires(graph)
        program = self._with(weight=wanted) if wanted and self.traced.generic and wanted != self._weight else self
        declared = declared_weight(program.module)
        if declared is not None and not fits(graph, declared):
            have = f"weights of {graph.weights.dtype}" if graph.weights is not None else "no weights"
            raise UserError(
                f"{self.name} needs weights of {declared}, and {graph.name or 'this graph'} has {have}",
                hint="graph.with_weights('unit'), 'random{low=1, high=255, seed=1}', 'rounded', or an array",
            )
        return program

    # --- running

    def compile(self, graph: Graph, on: Machine | str | None = None) -> Executable:
        """Make it ready for a graph: the result is called with the program's arguments, as often as you like."""
        return cast("Executable", _machine().executable(self, graph, on or self._machine_wanted))

    def __call__(
        self,
        graph: Graph,
        *arguments: Any,
        max_rounds: int | None = None,
        max_seconds: float | None = None,
        out: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Result:
        """Run on a graph, with the program's arguments by position or by name."""
        if not hasattr(graph, "offsets"):
            raise UserError(
                f"{self.name} runs on a pantograf Graph, not on {type(graph).__name__}",
                hint="pg.load(path), pg.Graph.from_edges(src, dst), from_scipy, from_networkx, from_dataframe",
            )
        ready = self.compile(graph)
        return ready(*arguments, max_rounds=max_rounds, max_seconds=max_seconds, out=out, **named)

    def many(self, graph: Graph, runs: list[Mapping[str, Any]]) -> list[Result]:
        """Run once per dictionary of arguments, compiled once: `bfs.many(graph, [{"source": s} for s in sources])`."""
        ready = self.compile(graph)
        return [ready(**run) for run in runs]

    def parameters(self) -> dict[str, tuple[Attribute, Any]]:
        """Each argument but the edges: its type and its default (`...` where there is none)."""
        from xdsl.dialects.builtin import UnitAttr

        from pantograf.ir.graph import default_value

        op = self.op
        return {
            name: (arg.type, ... if isinstance(default, UnitAttr) else default_value(default))
            for name, arg, default in list(zip(op.argument_names(), op.body.block.args, op.defaults.data, strict=True))[
                1:
            ]
        }

    def bind(self, graph: Graph, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Bound:
        """Match a call's arguments with the program's, checked and converted."""
        wanted = self.parameters()
        signature = f"{self.name}(graph{''.join(', ' + name for name in wanted)})"
        if len(arguments) > len(wanted):
            raise UserError(
                f"{self.name} takes {len(wanted)} arguments beside the graph, not {len(arguments)}", hint=signature
            )
        given = dict(zip(wanted, arguments, strict=False))
        for name, value in named.items():
            if name not in wanted:
                raise UserError(f"{self.name} has no argument {name!r}", hint=signature)
            if name in given:
                raise UserError(f"{self.name} got {name!r} twice", hint=signature)
            given[name] = value
        missing = [name for name, (_, default) in wanted.items() if default is ... and name not in given]
        if missing:
            raise UserError(f"{self.name} needs {', '.join(missing)}", hint=signature)
        values, shown = {}, {}
        for name, (kind, default) in wanted.items():
            value = given.get(name, default)
            values[name] = convert(graph, self.name, name, kind, value)
            shown[name] = value.tolist() if isinstance(value, np.generic) else value
            if isinstance(value, (np.ndarray, list)):
                shown[name] = f"array of {len(value)}"
        return Bound(values, shown)


def _unpickle(
    name: str, text: str, machine: Any, schedules: dict[str, Any], externs: dict[str, Callable[..., Any]]
) -> Program:
    program = from_graphir(text, name=name, externs=externs)
    return program._with(machine=machine, schedules=schedules)


# --- weights and arguments --------------------------------------------------------------------------------------------

WEIGHT_TYPES = {
    "int8": "i32", "int16": "i32", "int32": "i32", "uint8": "i32", "uint16": "i32", "bool": "i32",
    "uint32": "u32", "int64": "i64", "uint64": "u64", "float16": "f32", "float32": "f32", "float64": "f64",
}  # fmt: skip


def graph_weight(graph: Graph) -> str | None:
    """The name of the type of a graph's weights: narrow integers count as i32."""
    return None if graph.weights is None else WEIGHT_TYPES[graph.weights.dtype.name]


def declared_weight(module: ModuleOp) -> str | None:
    """The name of the weight type that a program's edges have."""
    from xdsl.dialects.builtin import NoneAttr

    from pantograf.ir.graph import EdgesType, type_name
    from pantograf.ir.text import program_of

    kind = program_of(module).body.block.args[0].type
    assert isinstance(kind, EdgesType)
    return None if isinstance(kind.weight, NoneAttr) else type_name(kind.weight)


def fits(graph: Graph, declared: str) -> bool:
    """Whether a graph's weights can be read as the declared type without loss."""
    if graph.weights is None:
        return False
    from pantograf.ir.graph import DTYPES

    return np.can_cast(graph.weights.dtype, np.dtype(DTYPES[declared]), "safe")


def convert(graph: Graph, program: str, name: str, kind: Attribute, value: Any) -> Any:
    """One argument as machines take it; a wrong one is a `UserError` that names it."""
    from pantograf.ir.graph import PropertyType, VertexSetType, VertexType, is_float, type_name

    where = f"{program}: {name}"
    if isinstance(kind, VertexType):
        return convert_vertex(graph, where, value)
    if isinstance(kind, VertexSetType):
        members = [convert_vertex(graph, where, v) for v in np.atleast_1d(np.asarray(value)).tolist()]
        return np.unique(np.array(members, np.int64))
    if isinstance(kind, PropertyType):
        return convert_property(graph, where, kind, value)
    if isinstance(value, np.generic):
        value = value.item()
    shown = type_name(kind)
    if isinstance(value, bool) != (shown == "bool") or not isinstance(value, (bool, int, float)):
        raise UserError(f"{where} is a {shown}, not {value!r}", hint=f"give a {shown}")
    if is_float(kind):
        return float(value)
    if isinstance(value, float):
        if not value.is_integer():
            raise UserError(f"{where} is a {shown}, not {value!r}", hint="give a whole number")
        value = int(value)
    if shown != "bool":
        bits = int(shown[1:])
        low, high = (0, 2**bits - 1) if shown[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not low <= value <= high:
            raise UserError(f"{where}: {value} does not fit {shown}", hint=f"from {low} to {high}")
    return value


def convert_vertex(graph: Graph, where: str, value: Any) -> int:
    """A vertex by the user's label, or by its id where the graph has no labels."""
    if graph.labels is not None:
        return int(graph.index_of(value))
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise UserError(f"{where} is a vertex, not {value!r}", hint="give a vertex id, a whole number")
    if not 0 <= int(value) < graph.n:
        legal = f"vertices: 0 to {graph.n - 1}" if graph.n else "the graph has no vertices"
        raise UserError(f"{where}: there is no vertex {value}; n is {graph.n}", hint=legal)
    return int(value)


def convert_property(graph: Graph, where: str, kind: Any, value: Any) -> Any:
    """An array with one value per vertex, in the program's type."""
    from pantograf.ir.graph import DTYPES, VectorType, VertexType, type_name

    element = kind.element
    shape: tuple[int, ...] = (graph.n,)
    if isinstance(element, VectorType):
        shape = (graph.n, element.size.data)
        element = element.element
    vertex = "int32" if graph.neighbors.dtype.itemsize == 4 else "int64"
    dtype = np.dtype(vertex if isinstance(element, VertexType) else DTYPES[type_name(element)])
    array = np.asarray(value)
    if array.shape != shape:
        raise UserError(f"{where} has shape {array.shape}", hint=f"an array of shape {shape}")
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise UserError(f"{where} holds {array.dtype}, not {type_name(element)}", hint=f"array.astype('{dtype}')")
    return np.ascontiguousarray(array, dtype)


# --- ways to make one -------------------------------------------------------------------------------------------------


def program(function: Callable[..., Any]) -> Program:
    """Decorate a function that is a graph program: its source is read, never run. Mistakes in it are reported here."""
    from pantograf.lang.trace import trace_function

    if not inspect.isfunction(function):
        raise UserError(f"{function!r} cannot be a program", hint="@pg.program stands before def f(edges: Edges): ...")
    made = Program(_Source(function.__name__, lambda weight: trace_function(function, weight=weight)))
    made.__doc__ = function.__doc__
    made.function = function  # type: ignore[attr-defined]
    made.traced  # noqa: B018  (trace now, so that a mistake shows where it was made)
    return made


def lazy_program(function: Callable[..., Any]) -> Program:
    """As `program`, but traced at first use: for the algorithms in the box."""

    def trace(weight: str) -> Traced:
        from pantograf.lang.trace import trace_function

        return trace_function(function, weight=weight)

    made = Program(_Source(function.__name__, trace))
    made.__doc__ = function.__doc__
    made.function = function  # type: ignore[attr-defined]
    return made


def parse(text: str, name: str | None = None, file: str = "<text>", names: Mapping[str, Any] | None = None) -> Program:
    """The program in a piece of Python text, for sources that a function object cannot give."""
    from pantograf.lang.trace import trace_text

    if not isinstance(text, str):
        raise UserError(f"parse reads text, not {type(text).__name__}", hint="pg.program takes functions")
    dedented = textwrap.dedent(text)
    first = trace_text(dedented, file, 1, name, dict(names or {}), weight="i32")
    made = Program(
        _Source(first.name, lambda weight: trace_text(dedented, file, 1, first.name, dict(names or {}), weight=weight))
    )
    made._traced["i32"] = first
    return made


def from_graphir(
    text: str, name: str | None = None, file: str = "<text>", externs: Mapping[str, Callable[..., Any]] | None = None
) -> Program:
    """The program that printed GraphIR describes."""
    from pantograf.ir.text import parse_module, program_of
    from pantograf.lang.trace import Traced

    if not isinstance(text, str):
        raise UserError(f"from_graphir reads text, not {type(text).__name__}", hint="program.show() prints it")
    module = parse_module(text, file)
    found = program_of(module)
    traced = Traced(name or found.sym_name.data, module, dict(externs or {}), False)
    return Program(_Source(traced.name, lambda weight: traced))


def load_program(where: str) -> Program:
    """The program at `file.py:name`, `file.py` (its only program), or `file.gir` (printed GraphIR)."""
    path, _, wanted = where.partition(":")
    file = Path(path)
    if not file.is_file():
        raise UserError(f"there is no file {path!r}", hint="write file.py:program, file.gir, or an algorithm's name")
    if file.suffix == ".gir":
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UserError(f"{path} is not text", hint="print a program's GraphIR to see the form") from None
        return from_graphir(text, file=str(file))
    if file.suffix != ".py":
        raise UserError(f"cannot read a program from {path!r}", hint="programs are in .py and .gir files")
    module = import_file(file)
    programs = {key: value for key, value in vars(module).items() if isinstance(value, Program)}
    if wanted and wanted not in programs:
        raise UserError(f"{path} has no program {wanted!r}", hint=f"programs there: {', '.join(programs) or 'none'}")
    own = {key: value for key, value in programs.items() if _defined_in(value, file)} or programs
    if not wanted and len(own) != 1:
        raise UserError(
            f"{path} has {len(own)} programs", hint=f"write {path}:NAME, NAME one of: {', '.join(own) or '-'}"
        )
    return programs[wanted or next(iter(own))]


def _defined_in(made: Program, file: Path) -> bool:
    function = getattr(made, "function", None)
    return function is not None and Path(inspect.getfile(function)).resolve() == file.resolve()


def import_file(file: Path) -> ModuleType:
    """A Python file as a module."""
    import importlib.util
    import sys

    name = f"pantograf_user_{file.stem}"
    found = importlib.util.spec_from_file_location(name, file)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except SyntaxError as error:
        from pantograf.errors import Place

        place = Place(str(file), error.lineno or 1, max((error.offset or 1) - 1, 0))
        raise UserError(f"this is not Python: {error.msg}", place) from None
    return module
