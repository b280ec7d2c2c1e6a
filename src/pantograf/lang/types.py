"""The vocabulary of programs, for editors and type checkers: the source of a program is read, and nothing here ever runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NoReturn, ParamSpec, TypeVar

from pantograf.errors import UserError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from typing_extensions import TypeVar as DefaultTypeVar

    T = TypeVar("T")
    W = DefaultTypeVar("W", default=Any)
    i32 = int
    i64 = int
    u32 = int
    u64 = int
    f32 = float
    f64 = float
    Vertex = int
    Weight = Any
else:
    T = TypeVar("T")
    W = TypeVar("W")

P = ParamSpec("P")
R = TypeVar("R")

__all__ = [
    "Edges", "List", "PriorityQueue", "Property", "Vertex", "VertexSet", "Weight", "ceil", "compare_and_swap", "exp", "extern",
    "f32", "f64", "floor", "i32", "i64", "inf", "label", "list_of", "log", "none", "par_range", "priority_queue", "random",
    "random_bits", "results", "sqrt", "timer_start", "timer_stop", "u32", "u64", "vector", "vertex_set",
]  # fmt: skip


def _outside(what: str) -> NoReturn:
    raise UserError(
        f"{what} has a meaning inside of a program only",
        hint="write it in a function under @pg.program, and call that with a graph",
    )


class Annotation:
    """A type with its parameter, as written in a program's signature: `Edges[i32]`, `vector(f64, 20)`."""

    def __init__(self, base: str, parameter: Any, size: int | None = None) -> None:
        self.base = base
        self.parameter = parameter
        self.size = size

    def __repr__(self) -> str:
        inner = getattr(self.parameter, "__name__", self.parameter)
        return f"{self.base}[{inner}]" if self.size is None else f"{self.base}({inner}, {self.size})"


class _Word:
    """A value of the vocabulary."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


none: Vertex
"""No vertex."""
inf: Any = _Word("inf")
"""More than every number; of an integer type, its largest value."""

if not TYPE_CHECKING:
    none = _Word("none")

    class _Scalar:
        """A type of single values; calling it in a program converts a value to it."""

        def __new__(cls, *_: Any) -> NoReturn:
            _outside(f"{cls.__name__}(...)")

    class i32(_Scalar):
        """Whole numbers of 32 bits."""

    class i64(_Scalar):
        """Whole numbers of 64 bits."""

    class u32(_Scalar):
        """Whole numbers from 0, of 32 bits."""

    class u64(_Scalar):
        """Whole numbers from 0, of 64 bits."""

    class f32(_Scalar):
        """Floating-point numbers of 32 bits."""

    class f64(_Scalar):
        """Floating-point numbers of 64 bits."""

    class Vertex(_Scalar):
        """A vertex, or none. `Vertex(i)` is the vertex with id i, `i64(v)` the id of a vertex."""

    class Weight(_Scalar):
        """The type of the graph's edge weights, whatever it is."""


class _Handle:
    """Made by a program when it runs, never by Python."""

    _parameters: ClassVar[str] = ""

    def __init__(self, *_: Any, **__: Any) -> None:
        _outside(type(self).__name__)


class VertexSet(_Handle):
    """A set of vertices. Order and repetition cannot be observed."""

    @property
    def size(self) -> int:
        """How many vertices it holds."""
        _outside("size")

    def __len__(self) -> int:
        _outside("len()")

    def __contains__(self, vertex: Vertex) -> bool:
        _outside("in")

    def __iter__(self) -> Iterator[NoReturn]:
        _outside("a loop over vertices")

    def apply(
        self,
        function: Callable[..., Any],
        *,
        modified: Property[Any] | None = None,
        label: str = "",
        in_place: bool = False,
    ) -> VertexSet:
        """Call `function(v)` for each vertex; the result, with `modified`, is the set of vertices that were written there.

        With `in_place` a call may see what other calls have written already: for programs that are right in any order.
        """
        _outside("apply")

    def where(self, function: Callable[..., bool], *, label: str = "") -> VertexSet:
        """The vertices for which `function(v)` is true."""
        _outside("where")

    def add(self, vertex: Vertex) -> None:
        """Put a vertex into the set."""
        _outside("add")

    def copy(self) -> VertexSet:
        """A new set with the same vertices."""
        _outside("copy")

    def property(self, element: type[T], initial: Any = 0) -> Property[T]:
        """Of `edges.vertices` only: a new value per vertex, each `initial`."""
        _outside("property")


class Edges(_Handle, Generic[W]):
    """The edges of a graph, with weights of type `W` or (plain `Edges`) without."""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, weight: Any) -> Annotation:
            return Annotation("Edges", weight)

    @property
    def vertices(self) -> VertexSet:
        """The set of all vertices."""
        _outside("vertices")

    @property
    def size(self) -> int:
        """How many directed edges there are."""
        _outside("size")

    @property
    def out_degrees(self) -> Property[int]:
        """The number of out-edges of each vertex (i64); it cannot be written."""
        _outside("out_degrees")

    @property
    def in_degrees(self) -> Property[int]:
        """The number of in-edges of each vertex (i64); it cannot be written."""
        _outside("in_degrees")

    def from_(self, sources: VertexSet | Callable[[Vertex], bool]) -> Edges[W]:
        """The edges whose source is in a set, or passes a filter."""
        _outside("from_")

    def to(self, destinations: VertexSet | Callable[[Vertex], bool]) -> Edges[W]:
        """The edges whose destination is in a set, or passes a filter."""
        _outside("to")

    def apply(
        self,
        function: Callable[..., Any],
        *,
        modified: Property[Any] | None = None,
        label: str = "",
        in_place: bool = False,
    ) -> VertexSet:
        """Call `function(src, dst)` or `function(src, dst, weight)` for each edge.

        The result is the set of vertices whose value in `modified` was written; without `modified`, the destinations for which
        the function returned true. With `in_place` a call may see what other calls have written already.
        """
        _outside("apply")

    def transpose(self) -> Edges[W]:
        """The same edges, each turned round."""
        _outside("transpose")

    def relabel(self) -> Edges[W]:
        """The same graph with vertices numbered by falling degree."""
        _outside("relabel")

    def degree(self, vertex: Vertex) -> int:
        """The number of out-edges of a vertex (i64)."""
        _outside("degree")

    def neighbor(self, vertex: Vertex, k: int) -> Vertex:
        """The k-th out-neighbour of a vertex, counted from 0 in the order of ids."""
        _outside("neighbor")

    def weight(self, vertex: Vertex, k: int) -> W:
        """The weight of the k-th out-edge of a vertex."""
        _outside("weight")

    def intersect(self, a: Vertex, b: Vertex, below: Vertex | None = None, *, label: str = "") -> int:
        """How many vertices are out-neighbours of both (i64), optionally only those with an id below `below`."""
        _outside("intersect")


class Property(_Handle, Generic[T]):
    """One value per vertex."""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, element: Any) -> Annotation:
            return Annotation("Property", element)

    def __getitem__(self, at: Vertex | tuple[Vertex, int]) -> T:
        _outside("a property's value")

    def __setitem__(self, at: Vertex | tuple[Vertex, int] | slice, value: T | Property[T]) -> None:
        _outside("a property's value")

    def copy(self) -> Property[T]:
        """A new property with the same values."""
        _outside("copy")

    def sum(self) -> T:
        """The sum of all values."""
        _outside("sum")

    def min(self) -> T:
        """The least value."""
        _outside("min")

    def max(self) -> T:
        """The greatest value."""
        _outside("max")

    def any(self) -> bool:
        """Whether some value is true."""
        _outside("any")


class PriorityQueue(_Handle, Generic[T]):
    """Vertices ordered by a property."""

    @property
    def priority(self) -> T:
        """The least priority of the bucket that was popped last."""
        _outside("priority")

    def __bool__(self) -> bool:
        _outside("bool()")

    def finished(self) -> bool:
        """Whether no vertex is queued."""
        _outside("finished")

    def finished_node(self, vertex: Vertex) -> bool:
        """Whether a vertex's priority is final."""
        _outside("finished_node")

    def add(self, vertex: Vertex, priority: T) -> None:
        """Give a vertex a priority and queue it."""
        _outside("add")

    def pop(self) -> VertexSet:
        """Take the first bucket."""
        _outside("pop")

    def update_min(self, vertex: Vertex, value: T) -> None:
        """In a function: lower a vertex's priority to `value` if that is less, and queue it then."""
        _outside("update_min")

    def update_max(self, vertex: Vertex, value: T) -> None:
        """In a function: raise a vertex's priority to `value` if that is more, and queue it then."""
        _outside("update_max")

    def update_sum(self, vertex: Vertex, value: T, limit: T) -> None:
        """In a function: add to a vertex's priority, never going below `limit`, and queue it."""
        _outside("update_sum")


class List(_Handle, Generic[T]):
    """A growing list of vertex sets or scalars."""

    @property
    def size(self) -> int:
        """How many values it holds."""
        _outside("size")

    def __len__(self) -> int:
        _outside("len()")

    def __getitem__(self, position: int) -> T:
        _outside("a list's value")

    def append(self, value: T) -> None:
        """Put a value at the end; a vertex set is copied."""
        _outside("append")

    def pop(self) -> T:
        """Take the last value off."""
        _outside("pop")


def vector(element: type[T], size: int) -> type[T]:
    """The type of `size` numbers per vertex: `vertices.property(pg.vector(f64, 20), 0.5)`, read as `p[v, i]`."""
    if not isinstance(size, int) or size < 1:
        raise UserError(f"a vector cannot have {size!r} elements", hint="its size is a whole number from 1")
    made: Any = Annotation("vector", element, size)
    return made  # type: ignore[no-any-return]


def vertex_set(*vertices: Vertex) -> VertexSet:
    """A new set that holds the given vertices."""
    _outside("vertex_set")


def priority_queue(
    priority: Property[T],
    lowest_first: bool = True,
    delta: Any = 1,
    start: Literal["none", "all"] = "none",
    label: str = "queue",
) -> PriorityQueue[T]:
    """A queue of vertices by a property; a bucket holds the priorities p with one floor(p / delta)."""
    _outside("priority_queue")


def list_of(element: type[T]) -> List[T]:
    """A new empty list."""
    _outside("list_of")


def par_range(low: int, high: int) -> range:
    """The numbers from `low` below `high`, for a loop whose turns may run together."""
    _outside("par_range")


def label(name: str) -> AbstractContextManager[None]:
    """`with pg.label("s0"):` names the one loop or apply in it, for schedules."""
    _outside("label")


def compare_and_swap(target: Property[T], vertex: Vertex, old: T, new: T) -> bool:
    """If the vertex has the value `old`, give it `new`, in one step; whether it did."""
    _outside("compare_and_swap")


def random(*keys: Any) -> float:
    """A number in [0, 1) that depends on the keys alone."""
    _outside("random")


def random_bits(*keys: Any) -> int:
    """64 random bits (u64) that depend on the keys alone."""
    _outside("random_bits")


def sqrt(x: float) -> float:
    """The square root."""
    _outside("sqrt")


def exp(x: float) -> float:
    """e to the power of x."""
    _outside("exp")


def log(x: float) -> float:
    """The natural logarithm."""
    _outside("log")


def floor(x: float) -> float:
    """The greatest whole number that is not above x, as a float."""
    _outside("floor")


def ceil(x: float) -> float:
    """The least whole number that is not below x, as a float."""
    _outside("ceil")


def timer_start() -> None:
    """Start the timer."""
    _outside("timer_start")


def timer_stop() -> float:
    """Seconds since the timer was started."""
    _outside("timer_stop")


def results(**values: Any) -> Any:
    """`return pg.results(total=x)`: results under names of their own."""
    _outside("results")


class Extern:
    """A scalar Python function that Numba can compile, which programs may call. Outside of programs it is that function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__
        import inspect

        names = {**vars_of_vocabulary(), **function.__globals__}
        signature = inspect.signature(function)
        self.inputs = [_scalar_type(self.name, p.name, p.annotation, names) for p in signature.parameters.values()]
        self.output = _scalar_type(self.name, "its result", signature.return_annotation, names)

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def vars_of_vocabulary() -> dict[str, Any]:
    """Each word of the vocabulary."""
    return {name: globals()[name] for name in __all__}


def _scalar_type(function: str, what: str, annotation: Any, names: dict[str, Any]) -> Any:
    legal = "legal: i32, i64, u32, u64, f32, f64, bool, as in def f(x: f64) -> f64"
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, names)
        except (NameError, AttributeError, TypeError, SyntaxError):
            raise UserError(f"{function}: the type {annotation!r} of {what} is not known", hint=legal) from None
    if annotation not in (i32, i64, u32, u64, f32, f64, bool, int, float):
        raise UserError(f"{function}: {what} needs a scalar type", hint=legal)
    return annotation


if TYPE_CHECKING:

    def extern(function: Callable[P, R]) -> Callable[P, R]:
        """Declare a Numba-compilable scalar function that programs may call; its types are its annotations."""

else:

    def extern(function: Callable[..., Any]) -> Extern:
        """Declare a Numba-compilable scalar function that programs may call; its types are its annotations."""
        return Extern(function)
