"""The `graph` dialect: types and operations, all on one page.

    module   ::= extern* program
    program  ::= graph.program @name body(%edges : !graph.edges<W>, %argument : type, ...) { operation* graph.return }
    function ::= a region of an apply: (%v) or (%src, %dst) or (%src, %dst, %weight), ending in graph.yield

Names that a program assigns more than once are variables (`graph.variable`, `get`, `set`); all other names are plain values.
A handle (set, property, queue, list) is a reference: copying the value never copies what it refers to. Functions are regions
and see the values around them. Operands and properties are needed for a correct program; attributes may be ignored.

| attribute   | on                           | says                                          | set by, read by                      |
|-------------|------------------------------|-----------------------------------------------|--------------------------------------|
| schedule    | what has a label             | text of the schedule there; a fixpoint has    | AttachSchedules, RaiseFixpoints;     |
|             |                              | `loop_schedule`, `settle_schedule` too        | machines                             |
| scope       | any                          | a name in the label paths of what is inside   | FuseLoops; AttachSchedules           |
| part        | edge_apply                   | dense, sparse: which part of a hybrid         | SplitHybrids; passes and machines    |
| direction   | edge_apply                   | push, pull                                    | ChooseDirection; passes and machines |
| early_exit  | edge_apply                   | after a call that wrote, the other edges of   | FindEarlyExits; machines that pull   |
|             |                              | that destination need no call                 |                                      |
| own_writes  | load                         | the call itself may have written there before | ForwardStores; FindSnapshots         |
| snapshot    | load                         | yes, or maybe (compare the handles): read the | FindSnapshots; machines that write   |
|             |                              | state before the apply                        | in place                             |
| atomic      | store, reduce, queue_update, | another call may write there at once          | InsertAtomics; machines that run     |
|             | compare_and_swap             |                                               | calls in parallel                    |
| replaces    | store                        | the value it takes the place of: a compare-   | Deduplicate; machines that build     |
|             |                              | and-swap from it succeeds once for a vertex   | lists in parallel                    |
| deduplicate | edge_apply                   | the result could name a vertex twice          | Deduplicate; machines with lists     |
| reuse       | edge_apply, vertex_apply,    | nothing reads the input set afterwards: the   | ReuseFrontiers; machines             |
|             | where                        | result may take its memory                    |                                      |
| fixpoint    | while                        | why the loop may not run in any order         | RaiseFixpoints; people               |
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedRegionSegments,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_region_def,
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoTerminator, SymbolOpInterface

from pantograf.ir.form import GraphOp
from pantograf.ir.location import fail

u32 = IntegerType(32, Signedness.UNSIGNED)
u64 = IntegerType(64, Signedness.UNSIGNED)
Scalar = IntegerType | Float32Type | Float64Type

# --- types ------------------------------------------------------------------------------------------------------------


@irdl_attr_definition
class VertexType(ParametrizedAttribute, TypeAttribute):
    """A vertex, or none. Its width is the graph's."""

    name = "graph.vertex"


@irdl_attr_definition
class EdgesType(ParametrizedAttribute, TypeAttribute):
    """A set of directed edges over the vertices of a graph; `weight` is a scalar type, or `none`."""

    name = "graph.edges"
    weight: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<none>` or `<type>`."""
        with parser.in_angle_brackets():
            return [NoneAttr() if parser.parse_optional_keyword("none") else parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        with printer.in_angle_brackets():
            printer.print_attribute(self.weight)


@irdl_attr_definition
class VertexSetType(ParametrizedAttribute, TypeAttribute):
    """A set of vertices. Order and repetition cannot be observed."""

    name = "graph.vertexset"


@irdl_attr_definition
class VectorType(ParametrizedAttribute, TypeAttribute):
    """A fixed number of scalars: the value a vertex has in a property of vectors."""

    name = "graph.vector"
    size: IntAttr
    element: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<size, element>`."""
        with parser.in_angle_brackets():
            size = parser.parse_integer()
            parser.parse_punctuation(",")
            return [IntAttr(size), parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<size, element>`."""
        with printer.in_angle_brackets():
            printer.print_string(f"{self.size.data}, ")
            printer.print_attribute(self.element)


@irdl_attr_definition
class PropertyType(ParametrizedAttribute, TypeAttribute):
    """One value per vertex."""

    name = "graph.property"
    element: Attribute


@irdl_attr_definition
class QueueType(ParametrizedAttribute, TypeAttribute):
    """Vertices ordered by a property of scalars."""

    name = "graph.queue"
    priority: Attribute


@irdl_attr_definition
class ListType(ParametrizedAttribute, TypeAttribute):
    """A growing list of scalars or of vertex sets."""

    name = "graph.list"
    element: Attribute


@irdl_attr_definition
class CellType(ParametrizedAttribute, TypeAttribute):
    """A variable: a place that holds one value of the given type."""

    name = "graph.cell"
    element: Attribute


def is_scalar(t: Attribute) -> bool:
    """Whether a value of this type is a number, a bool or a vertex."""
    return isinstance(t, (IntegerType, Float32Type, Float64Type, VertexType))


def is_float(t: Attribute) -> bool:
    """Whether this is a floating-point type."""
    return isinstance(t, (Float32Type, Float64Type))


def is_unsigned(t: Attribute) -> bool:
    """Whether this is an unsigned integer type."""
    return isinstance(t, IntegerType) and t.signedness.data == Signedness.UNSIGNED


def is_bool(t: Attribute) -> bool:
    """Whether this is the type of truth values."""
    return t == i1


DTYPES = {
    "bool": "bool", "i32": "int32", "i64": "int64", "u32": "uint32", "u64": "uint64", "f32": "float32", "f64": "float64",
}  # fmt: skip
"""The NumPy type of each scalar type, by the name that `type_name` gives it."""


def type_name(t: Attribute) -> str:
    """A type in the words of an author: `i32`, `Vertex`, `Property[f64]`."""
    match t:
        case IntegerType():
            return "bool" if t == i1 else f"{'u' if is_unsigned(t) else 'i'}{t.width.data}"
        case Float32Type() | Float64Type():
            return str(t)
        case VertexType():
            return "Vertex"
        case VertexSetType():
            return "VertexSet"
        case EdgesType():
            return "Edges" if isinstance(t.weight, NoneAttr) else f"Edges[{type_name(t.weight)}]"
        case VectorType():
            return f"vector({type_name(t.element)}, {t.size.data})"
        case PropertyType():
            return f"Property[{type_name(t.element)}]"
        case QueueType():
            return f"PriorityQueue[{type_name(t.priority)}]"
        case ListType():
            return f"List[{type_name(t.element)}]"
        case CellType():
            return type_name(t.element)
    return str(t)


def infinity(t: Attribute) -> int | float:
    """`inf` of a type: the largest integer, or floating-point infinity."""
    if is_float(t):
        return float("inf")
    assert isinstance(t, IntegerType)
    bits = int(t.width.data)
    return (1 << bits) - 1 if is_unsigned(t) else (1 << (bits - 1)) - 1


# --- programs ---------------------------------------------------------------------------------------------------------


@irdl_op_definition
class ProgramOp(GraphOp):
    """A program. Its first argument is the graph's edges; `defaults` holds, per argument, a constant or unit for none.

    `arguments` holds their names (without it, the names of the values: the text form cuts a trailing `_1` from those).
    `visibility` is `after` (an apply's writes are seen when it ends) or `inplace` (at once, in the order of the edges).
    """

    name = "graph.program"
    sym_name = prop_def(StringAttr)
    arguments = opt_prop_def(ArrayAttr[StringAttr])
    defaults = prop_def(ArrayAttr)
    visibility = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), SymbolOpInterface())

    def argument_names(self) -> list[str]:
        """The name of each argument, the edges first."""
        if self.arguments is not None:
            return [name.data for name in self.arguments.data]
        return [a.name_hint or "" for a in self.body.block.args]

    def verify_(self) -> None:
        """Check the arguments."""
        args = self.body.block.args
        if not args or not isinstance(args[0].type, EdgesType):
            fail(self, "the first argument of a program is its edges", "write def f(edges: Edges, ...)")
        if len(self.defaults.data) != len(args):
            fail(self, f"{len(args)} arguments but {len(self.defaults.data)} defaults")
        names = self.argument_names()
        if "" in names or len(set(names)) != len(names) or len(names) != len(args):
            fail(self, "each argument of a program needs a name of its own")
        if self.visibility.data not in ("after", "inplace"):
            fail(self, f"visibility cannot be {self.visibility.data!r}", "legal: after, inplace")
        if not isinstance(self.body.block.last_op, ReturnOp):
            fail(self, "a program ends with graph.return")


def default_value(default: Attribute) -> bool | int | float | None:
    """The Python value of an argument's default; `None` for no vertex."""
    match default:
        case IntegerAttr():
            return bool(default.value.data) if default.type == i1 else default.value.data
        case FloatAttr():
            return default.value.data
    return None


@irdl_op_definition
class ExternOp(GraphOp):
    """A scalar function that is defined outside: in Python, found by name when the program is run."""

    name = "graph.extern"
    sym_name = prop_def(StringAttr)
    inputs = prop_def(ArrayAttr)
    output = prop_def(Attribute)
    traits = traits_def(SymbolOpInterface())

    def verify_(self) -> None:
        """Check that it is about scalars."""
        for t in (*self.inputs.data, self.output):
            if not is_scalar(t):
                fail(self, f"an extern takes and returns scalars, not {type_name(t)}")


@irdl_op_definition
class ReturnOp(GraphOp):
    """End the program; each value is a result under its name."""

    name = "graph.return"
    values = var_operand_def()
    names = prop_def(ArrayAttr[StringAttr])
    traits = traits_def(IsTerminator())

    def verify_(self) -> None:
        """Check that each value has one name."""
        names = [n.data for n in self.names.data]
        if len(names) != len(self.values):
            fail(self, f"{len(self.values)} values are returned under {len(names)} names")
        if len(set(names)) != len(names):
            fail(self, f"two results have one name: {', '.join(names)}")


@irdl_op_definition
class YieldOp(GraphOp):
    """End a function, a condition or a message; at most one value."""

    name = "graph.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


# --- scalars ----------------------------------------------------------------------------------------------------------

BINARY_KINDS = (
    "add",  # integers wrap
    "add_inf",  # as add, but inf of the type (its largest value) plus anything is inf
    "sub",
    "mul",
    "div",  # f64 or f32 quotient
    "floordiv",  # Python's //
    "mod",  # Python's %: the sign of the divisor
    "cdiv",  # C's integer division, towards zero
    "cmod",  # C's %
    "pow",
    "min",
    "max",
    "and",  # bitwise on integers, logical on bool (both sides are evaluated)
    "or",
    "xor",
    "shl",
    "shr",
)
COMPARE_KINDS = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY_KINDS = ("neg", "not", "abs", "sqrt", "exp", "log", "floor", "ceil")
REDUCE_KINDS = ("sum", "min", "max", "or")


def _legal(op: GraphOp, kinds: tuple[str, ...]) -> None:
    kind = op.properties["kind"].data  # type: ignore[attr-defined]
    if kind not in kinds:
        fail(op, f"{op.name} has no kind {kind!r}", f"legal: {', '.join(kinds)}")


def _inner(t: Attribute) -> Attribute:
    """The type of what a property, a list or a queue holds for a vertex or a place, and of the weights of edges."""
    match t:
        case PropertyType() | ListType():
            return t.element
        case QueueType():
            return t.priority
        case EdgesType():
            return t.weight
    raise AssertionError(f"{t} holds nothing")


def _same_type(op: GraphOp, wanted: Attribute, found: Attribute) -> None:
    if wanted != found:
        fail(op, f"{op.name} needs {type_name(wanted)} here, not {type_name(found)}")


def _top(op: Operation) -> Operation:
    around = op.parent_op()
    return op if around is None else _top(around)


@irdl_op_definition
class ConstantOp(GraphOp):
    """A number, a truth value, or no vertex (`none`). Written `graph.constant 1.5 : f64`; `inf` is the type's infinity."""

    name = "graph.constant"
    value = prop_def(IntegerAttr | FloatAttr | NoneAttr)
    out = result_def()

    def print(self, printer: Printer) -> None:
        """Write the value plainly."""
        t = self.out.type
        v = constant_value(self)
        if v is None:
            text = "none"
        elif is_bool(t):
            text = "true" if v else "false"
        elif not isinstance(t, VertexType) and v == infinity(t):
            text = "inf"
        elif is_float(t):
            text = {float("-inf"): "neg_inf"}.get(v, "nan" if v != v else _float_text(float(v)))
        else:
            text = str(v)
        printer.print_string(f" {text}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(t)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        """Read what `print` writes."""
        word = next(
            (w for w in ("none", "inf", "neg_inf", "nan", "true", "false") if parser.parse_optional_keyword(w)), ""
        )
        number = None if word else parser.parse_number()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        t = parser.parse_type()
        special = {"none": None, "true": True, "false": False, "neg_inf": float("-inf"), "nan": float("nan")}
        value = infinity(t) if word == "inf" else special[word] if word else number
        op = constant(value, t)
        op.attributes = attributes
        return op

    def verify_(self) -> None:
        """Check the value against the type."""
        v, t = self.value, self.out.type
        if not is_scalar(t):
            fail(self, f"a constant is a scalar, not {type_name(t)}")
        if isinstance(v, NoneAttr) and not isinstance(t, VertexType):
            fail(self, f"none is a vertex, not {type_name(t)}")
        if isinstance(v, IntegerAttr) and isinstance(t, IntegerType):
            low = 0 if is_unsigned(t) or t == i1 else -(1 << (t.width.data - 1))
            high = 1 if t == i1 else int(infinity(t))
            if not low <= v.value.data <= high:
                fail(self, f"{v.value.data} does not fit {type_name(t)}", f"from {low} to {high}")
        elif isinstance(v, FloatAttr) and not is_float(t):
            fail(self, f"a constant of type {type_name(t)} is a whole number")


def _float_text(value: float) -> str:
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")  # the lexer wants a point before an exponent


def constant(value: bool | int | float | None, t: Attribute) -> ConstantOp:
    """A constant of type `t`; `None` is no vertex."""
    attr: Attribute
    if value is None:
        attr = NoneAttr()
    elif is_float(t):
        attr = FloatAttr(float(value), f64)
    elif isinstance(value, float):
        attr = FloatAttr(value, f64)  # verify_ says that it does not fit
    else:
        wide = not -(1 << 63) <= int(value) < 1 << 63  # an i64 attribute would wrap
        attr = IntegerAttr(IntAttr(int(value)), IndexType() if wide else i64)
    return ConstantOp(properties={"value": attr}, result_types=[t])


def constant_value(op: ConstantOp) -> bool | int | float | None:
    """The Python value of a constant; `None` for no vertex."""
    if isinstance(op.value, NoneAttr):
        return None
    if isinstance(op.value, FloatAttr):
        return op.value.value.data
    v = op.value.value.data
    return bool(v) if op.out.type == i1 else v


@irdl_op_definition
class BinaryOp(GraphOp):
    """`left kind right`; both sides and the result have one type (`div` on integers is not: cast first).

    Vertices have `min` and `max` alone; none is below every vertex.
    """

    name = "graph.binary"
    left = operand_def()
    right = operand_def()
    kind = prop_def(StringAttr)
    out = result_def()

    def verify_(self) -> None:
        """Check kind and types."""
        _legal(self, BINARY_KINDS)
        if not self.left.type == self.right.type == self.out.type:
            fail(self, f"{self.kind.data} of {type_name(self.left.type)} and {type_name(self.right.type)}")
        ordered = isinstance(self.out.type, VertexType) and self.kind.data in ("min", "max")
        if not ordered and not isinstance(self.out.type, (IntegerType, Float32Type, Float64Type)):
            fail(self, f"no arithmetic on {type_name(self.out.type)}")
        bitwise = self.kind.data in ("and", "or", "xor", "shl", "shr", "cdiv", "cmod")
        if bitwise and not isinstance(self.out.type, IntegerType):
            fail(self, f"{self.kind.data} is not for {type_name(self.out.type)}")
        if self.kind.data == "div" and not is_float(self.out.type):
            fail(self, f"div is not for {type_name(self.out.type)}", "cast to f64 first, or write floordiv or cdiv")


@irdl_op_definition
class UnaryOp(GraphOp):
    """`kind value`; sqrt, exp, log, floor and ceil are for floats, `not` for bool and (bitwise) integers."""

    name = "graph.unary"
    value = operand_def()
    kind = prop_def(StringAttr)
    out = result_def()

    def verify_(self) -> None:
        """Check kind and types."""
        _legal(self, UNARY_KINDS)
        if self.value.type != self.out.type:
            fail(self, f"{self.kind.data} of {type_name(self.value.type)} is not {type_name(self.out.type)}")
        t = self.out.type
        floats = ("sqrt", "exp", "log", "floor", "ceil")
        legal = is_float(t) if self.kind.data in floats else isinstance(t, IntegerType) or is_float(t)
        if self.kind.data == "not":
            legal = isinstance(t, IntegerType)
        if not legal:
            fail(self, f"{self.kind.data} is not for {type_name(t)}")


@irdl_op_definition
class CompareOp(GraphOp):
    """Whether `left kind right`; vertices compare by id, and none equals only none and is below every vertex."""

    name = "graph.compare"
    left = operand_def()
    right = operand_def()
    kind = prop_def(StringAttr)
    out = result_def(i1)

    def verify_(self) -> None:
        """Check kind and types."""
        _legal(self, COMPARE_KINDS)
        if self.left.type != self.right.type:
            fail(self, f"cannot compare {type_name(self.left.type)} with {type_name(self.right.type)}")
        if not is_scalar(self.left.type):
            fail(self, f"{type_name(self.left.type)} cannot be compared")


@irdl_op_definition
class SelectOp(GraphOp):
    """`yes` if the condition holds, else `no`; both are evaluated."""

    name = "graph.select"
    condition = operand_def(i1)
    yes = operand_def()
    no = operand_def()
    out = result_def()

    def verify_(self) -> None:
        """Check the types."""
        if not self.yes.type == self.no.type == self.out.type:
            fail(
                self,
                f"either {type_name(self.yes.type)} or {type_name(self.no.type)} is not {type_name(self.out.type)}",
            )


@irdl_op_definition
class CastOp(GraphOp):
    """The value as another scalar type: integers wrap, floats truncate towards zero, vertices are their ids."""

    name = "graph.cast"
    value = operand_def()
    out = result_def()

    def verify_(self) -> None:
        """Check the types."""
        for t in (self.value.type, self.out.type):
            if not is_scalar(t):
                fail(self, f"only scalars can be cast, not {type_name(t)}")


@irdl_op_definition
class RandomOp(GraphOp):
    """A number that depends on the keys alone: splitmix64 folded over them from 0 (`h = mix(h + 0x9E3779B97F4A7C15 + key)`).

    As u64 all bits; as f64 the top 53 bits over 2**53, in [0, 1).
    """

    name = "graph.random"
    keys = var_operand_def()
    out = result_def()

    def verify_(self) -> None:
        """Check the types."""
        if self.out.type not in (f64, u64):
            fail(self, f"a random number is f64 or u64, not {type_name(self.out.type)}")
        for key in self.keys:
            if not isinstance(key.type, (IntegerType, VertexType)):
                fail(self, f"a key of a random number is a whole number or a vertex, not {type_name(key.type)}")


@irdl_op_definition
class CallOp(GraphOp):
    """Call an extern function."""

    name = "graph.call"
    arguments = var_operand_def()
    callee = prop_def(SymbolRefAttr)
    out = result_def()

    def verify_(self) -> None:
        """Check the call against the function's declaration."""
        name = self.callee.root_reference.data
        declared = {op.sym_name.data: op for op in _top(self).walk() if isinstance(op, ExternOp)}
        if name not in declared:
            fail(self, f"there is no graph.extern named {name}", f"externs: {', '.join(declared) or 'none'}")
        wanted = [*declared[name].inputs.data, declared[name].output]
        given = [*(a.type for a in self.arguments), self.out.type]
        if given != wanted:
            shown = [", ".join(map(type_name, types[:-1])) + " -> " + type_name(types[-1]) for types in (wanted, given)]
            fail(self, f"{name} is {shown[0]}, and is called as {shown[1]}")


# --- variables and control --------------------------------------------------------------------------------------------


@irdl_op_definition
class VariableOp(GraphOp):
    """A new variable that holds `value`."""

    name = "graph.variable"
    value = operand_def()
    out = result_def(CellType)

    def verify_(self) -> None:
        """Check the type."""
        if CellType(self.value.type) != self.out.type:
            fail(self, f"a variable of {type_name(self.out.type)} cannot hold {type_name(self.value.type)}")


@irdl_op_definition
class GetOp(GraphOp):
    """The value of a variable."""

    name = "graph.get"
    variable = operand_def(CellType)
    out = result_def()

    def verify_(self) -> None:
        """Check the type."""
        if CellType(self.out.type) != self.variable.type:
            fail(self, f"a variable of {type_name(self.variable.type)} does not hold {type_name(self.out.type)}")


@irdl_op_definition
class SetOp(GraphOp):
    """Give a variable a new value. Inside a function only its own variables may be set."""

    name = "graph.set"
    variable = operand_def(CellType)
    value = operand_def()

    def verify_(self) -> None:
        """Check the type."""
        if CellType(self.value.type) != self.variable.type:
            fail(self, f"a variable of {type_name(self.variable.type)} cannot hold {type_name(self.value.type)}")


@irdl_op_definition
class IfOp(GraphOp):
    """Run `then` or `otherwise`."""

    name = "graph.if"
    condition = operand_def(i1)
    then = region_def("single_block")
    otherwise = region_def("single_block")
    traits = traits_def(NoTerminator())


@irdl_op_definition
class WhileOp(GraphOp):
    """While `condition` yields true, run `body`. `label` is empty inside functions."""

    name = "graph.while"
    label = prop_def(StringAttr)
    condition = region_def("single_block")
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        """Check the condition."""
        last = self.condition.block.last_op
        if not isinstance(last, YieldOp) or [v.type for v in last.values] != [i1]:
            fail(self, "the condition of a while must yield a bool")
        if self.condition.block.args or self.body.block.args:
            fail(self, "the regions of a while have no arguments")


@irdl_op_definition
class ForOp(GraphOp):
    """For each i64 from `low` below `high` in steps of `step`."""

    name = "graph.for"
    low = operand_def(i64)
    high = operand_def(i64)
    step = operand_def(i64)
    label = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        """Check the index."""
        if [a.type for a in self.body.block.args] != [i64]:
            fail(self, "the body of a loop takes one index, an i64")


@irdl_op_definition
class ParForOp(GraphOp):
    """For each i64 from `low` below `high`, in any order or together: `body` is a function of the index."""

    name = "graph.par_for"
    low = operand_def(i64)
    high = operand_def(i64)
    label = prop_def(StringAttr)
    body = region_def("single_block")

    def verify_(self) -> None:
        """Check the index."""
        if [a.type for a in self.body.block.args] != [i64]:
            fail(self, "the body of a loop takes one index, an i64")


def _in_loop(op: GraphOp, word: str) -> None:
    around = op.parent_op()
    while isinstance(around, IfOp):
        around = around.parent_op()
    if not isinstance(around, (WhileOp, ForOp)):
        fail(op, f"there is no loop round this {word}")


@irdl_op_definition
class BreakOp(GraphOp):
    """Leave the innermost loop."""

    name = "graph.break"

    def verify_(self) -> None:
        """Check that there is a loop to leave."""
        _in_loop(self, "break")


@irdl_op_definition
class ContinueOp(GraphOp):
    """Go on with the innermost loop's next turn."""

    name = "graph.continue"

    def verify_(self) -> None:
        """Check that there is a loop to go on with."""
        _in_loop(self, "continue")


# --- the graph --------------------------------------------------------------------------------------------------------


@irdl_op_definition
class VertexCountOp(GraphOp):
    """How many vertices the graph has."""

    name = "graph.vertex_count"
    edges = operand_def(EdgesType)
    out = result_def(i64)


@irdl_op_definition
class EdgeCountOp(GraphOp):
    """How many directed edges there are."""

    name = "graph.edge_count"
    edges = operand_def(EdgesType)
    out = result_def(i64)


@irdl_op_definition
class VerticesOp(GraphOp):
    """The set of all vertices."""

    name = "graph.vertices"
    edges = operand_def(EdgesType)
    out = result_def(VertexSetType)


@irdl_op_definition
class TransposeOp(GraphOp):
    """The same edges, each turned round."""

    name = "graph.transpose"
    edges = operand_def(EdgesType)
    out = result_def(EdgesType)

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, self.edges.type, self.out.type)


@irdl_op_definition
class RelabelOp(GraphOp):
    """The same graph with vertices numbered by falling degree (ties by id)."""

    name = "graph.relabel"
    edges = operand_def(EdgesType)
    out = result_def(EdgesType)

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, self.edges.type, self.out.type)


@irdl_op_definition
class DegreesOp(GraphOp):
    """The number of out-edges (or, with `direction = "in"`, in-edges) of each vertex, as a property of i64 that is never written."""

    name = "graph.degrees"
    edges = operand_def(EdgesType)
    direction = prop_def(StringAttr)
    out = result_def(PropertyType)

    def verify_(self) -> None:
        """Check direction and type."""
        if self.direction.data not in ("in", "out"):
            fail(self, f"direction cannot be {self.direction.data!r}", "legal: in, out")
        _same_type(self, PropertyType(i64), self.out.type)


@irdl_op_definition
class DegreeOp(GraphOp):
    """The number of out-edges of a vertex."""

    name = "graph.degree"
    edges = operand_def(EdgesType)
    vertex = operand_def(VertexType)
    out = result_def(i64)


@irdl_op_definition
class NeighborOp(GraphOp):
    """The k-th out-neighbour of a vertex; neighbours are sorted by id. `k` must be below the degree."""

    name = "graph.neighbor"
    edges = operand_def(EdgesType)
    vertex = operand_def(VertexType)
    k = operand_def(i64)
    out = result_def(VertexType)


@irdl_op_definition
class WeightOp(GraphOp):
    """The weight of the k-th out-edge of a vertex."""

    name = "graph.weight"
    edges = operand_def(EdgesType)
    vertex = operand_def(VertexType)
    k = operand_def(i64)
    out = result_def()

    def verify_(self) -> None:
        """Check the type."""
        weight = _inner(self.edges.type)
        if isinstance(weight, NoneAttr):
            fail(self, "these edges have no weights", "write edges: Edges[i32]")
        _same_type(self, weight, self.out.type)


@irdl_op_definition
class IntersectOp(GraphOp):
    """How many vertices are out-neighbours of both `a` and `b` (each counted once), optionally only those with id below `below`."""

    name = "graph.intersect"
    edges = operand_def(EdgesType)
    a = operand_def(VertexType)
    b = operand_def(VertexType)
    below = opt_operand_def(VertexType)
    label = prop_def(StringAttr)
    out = result_def(i64)


# --- properties -------------------------------------------------------------------------------------------------------


@irdl_op_definition
class PropertyOp(GraphOp):
    """A new property; every vertex (or every element of a vector) has the value `initial`."""

    name = "graph.property"
    edges = operand_def(EdgesType)
    initial = operand_def()
    out = result_def(PropertyType)

    def verify_(self) -> None:
        """Check the type."""
        element = _inner(self.out.type)
        scalar = element.element if isinstance(element, VectorType) else element
        if scalar != self.initial.type:
            fail(self, f"a property of {type_name(element)} cannot start as {type_name(self.initial.type)}")


@irdl_op_definition
class CopyOp(GraphOp):
    """A new property (or vertex set) with the same values."""

    name = "graph.copy"
    source = operand_def(PropertyType | VertexSetType)
    out = result_def()

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, self.source.type, self.out.type)


@irdl_op_definition
class AssignOp(GraphOp):
    """Give each vertex in `target` its value in `source`."""

    name = "graph.assign"
    target = operand_def(PropertyType)
    source = operand_def(PropertyType)

    def verify_(self) -> None:
        """Check the types."""
        _same_type(self, self.target.type, self.source.type)


@irdl_op_definition
class FillOp(GraphOp):
    """Give each vertex in `target` the same value."""

    name = "graph.fill"
    target = operand_def(PropertyType)
    value = operand_def()

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, _scalar_of(self.target.type), self.value.type)


@irdl_op_definition
class LoadOp(GraphOp):
    """The value of a vertex; a second index picks an element of a vector."""

    name = "graph.load"
    source = operand_def(PropertyType)
    at = var_operand_def()
    out = result_def()

    def verify_(self) -> None:
        """Check indices and type."""
        if _element(self, self.source.type, self.at) != self.out.type:
            fail(self, f"a value of {type_name(self.source.type)} is not {type_name(self.out.type)}")


@irdl_op_definition
class StoreOp(GraphOp):
    """Give a vertex a value. When several calls give one vertex different values, any one of them stays (the reference
    keeps the smallest).
    """

    name = "graph.store"
    target = operand_def(PropertyType)
    value = operand_def()
    at = var_operand_def()

    def verify_(self) -> None:
        """Check indices and type."""
        if _element(self, self.target.type, self.at) != self.value.type:
            fail(self, f"a value of {type_name(self.target.type)} is not {type_name(self.value.type)}")


@irdl_op_definition
class ReduceOp(GraphOp):
    """Combine a value into a property's vertex, or into a variable; all combinations of an apply take effect.

    The optional result says whether this one changed the target (`sum`: always).
    """

    name = "graph.reduce"
    target = operand_def(PropertyType | CellType)
    value = operand_def()
    at = var_operand_def()
    kind = prop_def(StringAttr)
    out = opt_result_def(i1)

    def verify_(self) -> None:
        """Check kind, indices and type."""
        _legal(self, REDUCE_KINDS)
        if _element(self, self.target.type, self.at) != self.value.type:
            fail(self, f"a value of {type_name(self.target.type)} is not {type_name(self.value.type)}")
        t = self.value.type
        legal = {"sum": not isinstance(t, VertexType) and not is_bool(t), "or": isinstance(t, IntegerType)}
        if not is_scalar(t) or not legal.get(self.kind.data, True):
            fail(self, f"{self.kind.data} is no reduction of {type_name(t)}")


@irdl_op_definition
class CompareAndSwapOp(GraphOp):
    """If the vertex has the value `old`, give it `new`, in one step; whether it did. Racy by intent: it sees other calls' writes."""

    name = "graph.compare_and_swap"
    target = operand_def(PropertyType)
    vertex = operand_def(VertexType)
    old = operand_def()
    new = operand_def()
    out = result_def(i1)

    def verify_(self) -> None:
        """Check the types."""
        element = _inner(self.target.type)
        if not is_scalar(element) or not element == self.old.type == self.new.type:
            found = f"{type_name(self.old.type)} for {type_name(self.new.type)}"
            fail(self, f"compare_and_swap on {type_name(self.target.type)} cannot change {found}")


@irdl_op_definition
class AggregateOp(GraphOp):
    """The sum, min, max or or of all values of a property; of no vertices: 0, inf, minus inf (the least value), false."""

    name = "graph.aggregate"
    source = operand_def(PropertyType)
    kind = prop_def(StringAttr)
    out = result_def()

    def verify_(self) -> None:
        """Check the kind."""
        _legal(self, REDUCE_KINDS)
        element = _inner(self.source.type)
        if not is_scalar(element):
            fail(self, f"there is no {self.kind.data} of {type_name(element)}")
        _same_type(self, element, self.out.type)


def _scalar_of(t: Attribute) -> Attribute:
    """The type of the scalars in a property."""
    assert isinstance(t, PropertyType)
    return t.element.element if isinstance(t.element, VectorType) else t.element


def _element(op: GraphOp, t: Attribute, at: tuple[SSAValue, ...]) -> Attribute:
    """The type of what `at` picks from a property or variable of type `t`."""
    if isinstance(t, CellType):
        if at:
            fail(op, "a variable has no index")
        return t.element
    assert isinstance(t, PropertyType)
    wanted = [VertexType(), i64] if isinstance(t.element, VectorType) else [VertexType()]
    if [a.type for a in at] != wanted:
        fail(
            op, f"a value of {type_name(t)} needs {len(wanted)} index(es): a vertex" + (", an i64" * (len(wanted) - 1))
        )
    return t.element.element if isinstance(t.element, VectorType) else t.element


# --- vertex sets and applies ------------------------------------------------------------------------------------------


@irdl_op_definition
class VertexSetOp(GraphOp):
    """A new set that holds the given vertices."""

    name = "graph.vertex_set"
    edges = operand_def(EdgesType)
    members = var_operand_def(VertexType)
    out = result_def(VertexSetType)


@irdl_op_definition
class SizeOp(GraphOp):
    """How many members a set or a list has."""

    name = "graph.size"
    source = operand_def(VertexSetType | ListType)
    out = result_def(i64)


@irdl_op_definition
class IsDenseOp(GraphOp):
    """Whether a frontier is large: its members and their out-edges are more than 1 / `threshold` of all edges.

    Without `from` every vertex is active: dense.
    """

    name = "graph.is_dense"
    edges = operand_def(EdgesType)
    from_ = opt_operand_def(VertexSetType)
    threshold = prop_def(IntegerAttr)
    out = result_def(i1)

    def verify_(self) -> None:
        """Check the threshold."""
        if self.threshold.value.data < 1:
            fail(self, f"threshold cannot be {self.threshold.value.data}", "a whole number from 1")


@irdl_op_definition
class AddOp(GraphOp):
    """Put a vertex into a set."""

    name = "graph.add"
    target = operand_def(VertexSetType)
    vertex = operand_def(VertexType)


@irdl_op_definition
class ContainsOp(GraphOp):
    """Whether a vertex is in a set."""

    name = "graph.contains"
    source = operand_def(VertexSetType)
    vertex = operand_def(VertexType)
    out = result_def(i1)


@irdl_op_definition
class EdgeApplyOp(GraphOp):
    """Call `apply(src, dst[, weight])` for each edge whose source is in `from` (and passes `from_filter`) and whose destination
    is in `to` (and passes `to_filter`).

    All calls and filters read the state before the apply; their writes combine and are seen after it (a call sees its own).
    With `in_place` they may see each other's writes at once: racy by intent. The result, if any, is the set of vertices that
    were assigned, or +=-ed, or changed by min, max, or and compare_and_swap in `modified`; without `modified`, the
    destinations for which `apply` yielded true. `keep_duplicates` states that no vertex can be modified twice.
    `parent_function` names are for people.
    """

    name = "graph.edge_apply"
    edges = operand_def(EdgesType)
    from_ = opt_operand_def(VertexSetType)
    to_ = opt_operand_def(VertexSetType)
    modified = opt_operand_def(PropertyType)
    label = prop_def(StringAttr)
    function = prop_def(StringAttr)
    in_place = opt_prop_def(UnitAttr)
    keep_duplicates = opt_prop_def(UnitAttr)
    from_filter = opt_region_def("single_block")
    to_filter = opt_region_def("single_block")
    apply = region_def("single_block")
    out = opt_result_def(VertexSetType)
    irdl_options = (AttrSizedOperandSegments(as_property=True), AttrSizedRegionSegments(as_property=True))

    def verify_(self) -> None:
        """Check the functions' arguments."""
        _edge_function(self, self.edges.type, self.apply)
        for region in (self.from_filter, self.to_filter):
            if region is not None:
                _one_vertex(self, region)
                _yields_bool(self, region)
        if self.modified is not None and self.out is None:
            fail(self, "modified without a result")
        if self.modified is None and self.out is not None:
            _yields_bool(self, self.apply)


@irdl_op_definition
class VertexApplyOp(GraphOp):
    """Call `apply(v)` for each vertex of the set; reads and writes as in `edge_apply`."""

    name = "graph.vertex_apply"
    vertices = operand_def(VertexSetType)
    modified = opt_operand_def(PropertyType)
    label = prop_def(StringAttr)
    function = prop_def(StringAttr)
    in_place = opt_prop_def(UnitAttr)
    apply = region_def("single_block")
    out = opt_result_def(VertexSetType)

    def verify_(self) -> None:
        """Check the function's argument."""
        _one_vertex(self, self.apply)
        if (self.modified is None) != (self.out is None):
            fail(self, "modified and a result go together")
        _yields_nothing(self, self.apply)


@irdl_op_definition
class WhereOp(GraphOp):
    """The set of the vertices of `vertices` for which `apply(v)` yields true. The function may also write, as in `vertex_apply`."""

    name = "graph.where"
    vertices = operand_def(VertexSetType)
    label = prop_def(StringAttr)
    function = prop_def(StringAttr)
    in_place = opt_prop_def(UnitAttr)
    apply = region_def("single_block")
    out = result_def(VertexSetType)

    def verify_(self) -> None:
        """Check the function's argument and result."""
        _one_vertex(self, self.apply)
        _yields_bool(self, self.apply)


def _edge_function(op: GraphOp, edges: Attribute, region: Region) -> None:
    assert isinstance(edges, EdgesType)
    types = [a.type for a in region.block.args]
    plain: list[Attribute] = [VertexType(), VertexType()]
    if types != plain and (types != [*plain, edges.weight] or isinstance(edges.weight, NoneAttr)):
        fail(op, f"an edge function takes (src, dst) or (src, dst, weight), not ({', '.join(map(type_name, types))})")


def _one_vertex(op: GraphOp, region: Region) -> None:
    if [a.type for a in region.block.args] != [VertexType()]:
        fail(op, "this function takes one vertex")


def _yields_nothing(op: GraphOp, region: Region) -> None:
    last = region.block.last_op
    if not isinstance(last, YieldOp) or last.values:
        fail(op, "this function returns nothing")


def _yields_bool(op: GraphOp, region: Region) -> None:
    last = region.block.last_op
    if not isinstance(last, YieldOp) or [v.type for v in last.values] != [i1]:
        fail(op, "this function must return a bool on every path")


# --- lists ------------------------------------------------------------------------------------------------------------


@irdl_op_definition
class ListOp(GraphOp):
    """A new empty list."""

    name = "graph.list"
    out = result_def(ListType)

    def verify_(self) -> None:
        """Check the type."""
        element = _inner(self.out.type)
        if not is_scalar(element) and element != VertexSetType():
            fail(self, f"a list holds scalars or vertex sets, not {type_name(element)}")


@irdl_op_definition
class AppendOp(GraphOp):
    """Put a value at the end of a list; a vertex set is copied."""

    name = "graph.append"
    target = operand_def(ListType)
    value = operand_def()

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, _inner(self.target.type), self.value.type)


@irdl_op_definition
class ListPopOp(GraphOp):
    """Take the last value off a list (an empty list gives the empty set, or 0)."""

    name = "graph.list_pop"
    source = operand_def(ListType)
    out = result_def()

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, _inner(self.source.type), self.out.type)


@irdl_op_definition
class ListGetOp(GraphOp):
    """The value at a position of a list; a set is a copy. Outside the list: the empty set, or 0."""

    name = "graph.list_get"
    source = operand_def(ListType)
    position = operand_def(i64)
    out = result_def()

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, _inner(self.source.type), self.out.type)


# --- priority queues --------------------------------------------------------------------------------------------------


@irdl_op_definition
class QueueOp(GraphOp):
    """A priority queue over a property of scalars: bucket = floor(priority / delta), least first or (`highest`) greatest first.

    `start = "all"`: each vertex starts queued unless its priority is null (inf, or the least value for `highest`);
    `"none"`: empty. Priorities change only through the queue.
    """

    name = "graph.queue"
    priority = operand_def(PropertyType)
    delta = operand_def()
    order = prop_def(StringAttr)
    start = prop_def(StringAttr)
    label = prop_def(StringAttr)
    out = result_def(QueueType)

    def verify_(self) -> None:
        """Check order and start."""
        if self.order.data not in ("lowest", "highest"):
            fail(self, f"order cannot be {self.order.data!r}", "legal: lowest, highest")
        if self.start.data not in ("none", "all"):
            fail(self, f"start cannot be {self.start.data!r}", "legal: none, all")
        element = _inner(self.priority.type)
        if not isinstance(element, (IntegerType, Float32Type, Float64Type)) or is_bool(element):
            fail(self, f"a priority is a number, not {type_name(element)}")
        _same_type(self, element, self.delta.type)
        _same_type(self, QueueType(element), self.out.type)


@irdl_op_definition
class QueueAddOp(GraphOp):
    """Give a vertex a priority and queue it."""

    name = "graph.queue_add"
    queue = operand_def(QueueType)
    vertex = operand_def(VertexType)
    priority = operand_def()

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, _inner(self.queue.type), self.priority.type)


@irdl_op_definition
class QueuePopOp(GraphOp):
    """Take the first non-empty bucket: a set in which each vertex stands once. From a finished queue: the empty set."""

    name = "graph.queue_pop"
    queue = operand_def(QueueType)
    out = result_def(VertexSetType)


@irdl_op_definition
class QueueFinishedOp(GraphOp):
    """Whether no vertex is queued."""

    name = "graph.queue_finished"
    queue = operand_def(QueueType)
    out = result_def(i1)


@irdl_op_definition
class QueueFinishedNodeOp(GraphOp):
    """Whether a vertex's bucket comes before the bucket that was popped last: its priority is final."""

    name = "graph.queue_finished_node"
    queue = operand_def(QueueType)
    vertex = operand_def(VertexType)
    out = result_def(i1)


@irdl_op_definition
class QueuePriorityOp(GraphOp):
    """The least priority of the bucket that was popped last (its number times delta)."""

    name = "graph.queue_priority"
    queue = operand_def(QueueType)
    out = result_def()

    def verify_(self) -> None:
        """Check the type."""
        _same_type(self, _inner(self.queue.type), self.out.type)


@irdl_op_definition
class QueueUpdateOp(GraphOp):
    """In a function: lower (`min`), raise (`max`) or add to (`sum`) a vertex's priority, and queue it if that changed it.

    `sum` never goes below `limit`. A vertex already finished is not queued again by `sum`.
    """

    name = "graph.queue_update"
    queue = operand_def(QueueType)
    vertex = operand_def(VertexType)
    value = operand_def()
    limit = opt_operand_def()
    kind = prop_def(StringAttr)

    def verify_(self) -> None:
        """Check kind and types."""
        _legal(self, ("min", "max", "sum"))
        if (self.limit is not None) != (self.kind.data == "sum"):
            fail(self, "a limit belongs to sum, and to nothing else")
        for value in (self.value, *([self.limit] if self.limit is not None else [])):
            _same_type(self, _inner(self.queue.type), value.type)


# --- fixpoints --------------------------------------------------------------------------------------------------------


@irdl_op_definition
class FixpointOp(GraphOp):
    """Until no vertex is active: for each edge of an active source, combine `message(src, dst[, weight])` into the destination.

    `kind` (min, max, or) combines; a destination that changed is active. `start` holds the first active vertices, or a queue
    gives them and their order. `kind = "sum"` accumulates deltas: `settle(v)` runs on each vertex that received something,
    may write its vertex, and yields whether it is active; then all its edges send before it settles again. Messages may be
    sent in any order and see any later state.
    `asserted` marks what an author claims and no pass has proven.
    """

    name = "graph.fixpoint"
    edges = operand_def(EdgesType)
    state = operand_def(PropertyType)
    start = opt_operand_def(VertexSetType)
    queue = opt_operand_def(QueueType)
    label = prop_def(StringAttr)
    loop = prop_def(StringAttr)
    function = prop_def(StringAttr)
    kind = prop_def(StringAttr)
    asserted = opt_prop_def(UnitAttr)
    to_filter = opt_region_def("single_block")
    message = region_def("single_block")
    settle = opt_region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True), AttrSizedRegionSegments(as_property=True))

    def verify_(self) -> None:
        """Check kind and regions."""
        _legal(self, REDUCE_KINDS)
        if (self.start is None) == (self.queue is None):
            fail(self, "a fixpoint starts from a set or from a queue")
        if (self.settle is not None) != (self.kind.data == "sum"):
            fail(self, "settle belongs to sum, and to nothing else")
        element = _inner(self.state.type)
        if not is_scalar(element):
            fail(self, f"the state of a fixpoint is a scalar, not {type_name(element)}")
        _edge_function(self, self.edges.type, self.message)
        last = self.message.block.last_op
        if not isinstance(last, YieldOp) or [v.type for v in last.values] != [element]:
            fail(self, f"a message to {type_name(self.state.type)} is one {type_name(element)}")
        for region in (self.to_filter, self.settle):
            if region is not None:
                _one_vertex(self, region)
                _yields_bool(self, region)


# --- what a program says ----------------------------------------------------------------------------------------------


@irdl_op_definition
class PrintOp(GraphOp):
    """Write `text` (if any) and the values on a line, a space between. In a function: on the reference machine, and where one
    checks.
    """

    name = "graph.print"
    values = var_operand_def()
    text = prop_def(StringAttr)


@irdl_op_definition
class TimerStartOp(GraphOp):
    """Start the timer."""

    name = "graph.timer_start"


@irdl_op_definition
class TimerStopOp(GraphOp):
    """Seconds since the timer was started."""

    name = "graph.timer_stop"
    out = result_def(f64)


Graph = Dialect(
    "graph",
    [op for op in list(globals().values()) if isinstance(op, type) and issubclass(op, GraphOp) and op is not GraphOp],
    [VertexType, EdgesType, VertexSetType, VectorType, PropertyType, QueueType, ListType, CellType],
)

__all__ = ["Graph", "f32", "f64", "i1", "i32", "i64", "u32", "u64"]
