"""Functions of the author's: helpers are inlined, and edge and vertex functions become the regions of an apply."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from pantograf.errors import UserError
from pantograf.ir import graph
from pantograf.ir.graph import CellType, EdgesType, PropertyType, VertexSetType, VertexType, i1, is_scalar
from pantograf.lang.arguments import bind, plural, program_only
from pantograf.lang.frames import Context, Frame, Returns, enter
from pantograf.lang.names import blocks, leaves, parameters
from pantograf.lang.scalars import valid_hint
from pantograf.lang.signatures import annotated
from pantograf.lang.values import (
    Cell,
    Function,
    Nothing,
    NoVertex,
    Number,
    Operand,
    Selection,
    Several,
    Value,
    describe,
    is_weighted,
)

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer


# --- reading a function -----------------------------------------------------------------------------------------------


def inline(t: Tracer, function: Function, arguments: Sequence[Operand], node: ast.AST) -> Operand:
    """Read a function in the place of a call."""
    return read(t, function, t.context, arguments, node)


def read(t: Tracer, function: Function, context: Context, arguments: Sequence[Operand], node: ast.AST) -> Operand:
    """Read a function's body here; what it gives."""
    if any(frame.node is function.node for frame in t.frames):
        t.fail(node, f"{function.shown} calls itself", "a program has no recursion: write a loop")
    refuse_signature(function)
    frame = enter(function, context)
    t.frames.append(frame)
    try:
        bind_parameters(t, frame, function, arguments, node)
        if isinstance(function.node, ast.Lambda):
            return t.operand(function.node.body)
        return body(t, frame, function.node)
    finally:
        t.frames.pop()


def refuse_signature(function: Function) -> None:
    """Refuse defaults, `*args`, decorators and generators."""
    source, node = function.frame.source, function.node
    args = node.args
    for default in (*args.defaults, *args.kw_defaults):
        if default is not None:
            what = "lambda" if isinstance(node, ast.Lambda) else f"function {node.name}"
            source.fail(
                default,
                f"the {what} has a default value",
                "functions inside of a program take each argument; capture a name instead",
            )
    for starred in (args.vararg, args.kwarg):
        if starred is not None:
            source.fail(starred, f"{function.shown} takes any number of arguments", "name each argument")
    if args.kwonlyargs:
        source.fail(
            args.kwonlyargs[0],
            f"{function.shown} has an argument that is given by name only",
            "name each argument before any *",
        )
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        source.fail(
            node.decorator_list[0],
            f"{function.shown} has a decorator",
            "functions inside of a program are plain; @pg.extern declares outside ones",
        )


def bind_parameters(t: Tracer, frame: Frame, function: Function, arguments: Sequence[Operand], node: ast.AST) -> None:
    """Bind a function's parameters to the arguments of the call."""
    names = parameters(function.node)
    assert len(names) == len(arguments)
    for arg, argument in zip((*function.node.args.posonlyargs, *function.node.args.args), arguments, strict=True):
        given = argument
        if arg.annotation is not None:
            wanted = annotated(t, arg.annotation)
            with t.builder.at(t.place(arg)):
                if is_scalar(wanted) and isinstance(given, (Value, Number, NoVertex)):
                    given = t.builder.convert(given, wanted, arg.arg)
                elif t.materialize(given).type != wanted:
                    t.fail(
                        arg,
                        f"{arg.arg} is {describe(wanted)}, and this call gives {describe(given)}",
                        "leave the type out, or change the call",
                    )
        if frame.names.table[arg.arg].is_variable:
            with t.builder.at(t.place(arg)):
                cell = t.builder.variable(t.materialize(given), arg.arg)
            frame.bindings[arg.arg] = Cell(cell.ssa, frame.context)
        else:
            frame.bindings[arg.arg] = given
        frame.bound.add(arg.arg)


def body(t: Tracer, frame: Frame, node: ast.FunctionDef) -> Operand:
    """Read the statements of a function; a `return` before the end goes through a variable."""
    found = returns(node.body)
    gives = any(not is_bare(part) for part in found)
    if gives and (any(is_bare(part) for part in found) or not leaves(node.body)):
        place = frame.source.name_of(node)
        raise UserError(
            f"{node.name} gives a value on some paths only", place, "end each path with return and a value, or none"
        )
    plan = frame.returns = Returns(gives)
    if node.returns is not None and not (isinstance(node.returns, ast.Constant) and node.returns.value is None):
        plan.wanted = annotated(t, node.returns)
    if found and not (len(found) == 1 and node.body[-1] is found[0]):
        with t.builder.at(t.place(found[0])):
            flag = t.builder.variable(t.builder.constant(False, i1), "returned").ssa.owner
            assert isinstance(flag, Operation)
            plan.returned = flag
    with t.opened(node.body, t.builder.block):
        t.statements(node.body)
    if plan.returned is not None:
        drop_unread(plan.returned)
    if not gives:
        return Nothing(f"{node.name} gives no value", f"end {node.name} with return and a value")
    if plan.cell is not None:
        return t.builder.get(plan.cell.ssa)
    assert plan.value is not None
    if plan.wanted is not None and is_scalar(plan.wanted) and isinstance(plan.value, (Value, Number, NoVertex)):
        with t.builder.at(t.place(found[0])):
            return t.builder.convert(plan.value, plan.wanted, f"what {node.name} gives")
    return plan.value


def is_bare(node: ast.Return) -> bool:
    """`return` or `return None`."""
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


def returns(statements: list[ast.stmt]) -> list[ast.Return]:
    """The return statements of a function (not of those nested in it)."""
    found: list[ast.Return] = []
    for node in statements:
        if isinstance(node, ast.Return):
            found.append(node)
        for block in blocks(node):
            found += returns(block)
    return found


def drop_unread(variable: Operation) -> None:
    """Take away a variable that is set and never read."""
    uses = [use.operation for use in variable.results[0].uses]
    if any(isinstance(op, graph.GetOp) for op in uses):
        return
    for op in (*uses, variable):
        sources = [operand.owner for operand in op.operands if operand is not variable.results[0]]
        Rewriter.erase_op(op)
        for source in sources:
            if isinstance(source, graph.ConstantOp) and not source.out.first_use:
                Rewriter.erase_op(source)


def give(t: Tracer, node: ast.Return) -> None:
    """`return` in a function."""
    frame = t.frame
    plan = frame.returns
    assert plan is not None
    if "par_for" in frame.loops:
        t.fail(
            node,
            "return cannot leave a par_range loop: its turns run together",
            "reduce into a name, and return after the loop",
        )
    found = t.operand(node.value) if node.value is not None and not is_bare(node) else None
    if isinstance(found, Nothing):
        t.materialize_at(found, node.value or node)
    if plan.returned is None:
        plan.value = found
        return
    if found is not None:
        if isinstance(found, Several):
            t.fail(node, "a tuple is returned before the end of this function", "return a tuple on the last line only")
        give_early(t, node, plan, found)
    t.builder.set(plan.returned.results[0], t.builder.constant(True, i1))
    if frame.loops:
        t.builder.leave()


def give_early(t: Tracer, node: ast.Return, plan: Returns, found: Operand) -> None:
    """Keep the value of a return before the end."""
    assert plan.returned is not None
    if plan.cell is None:
        value = t.materialize_at(found, node)
        if plan.wanted is not None:
            value = t.builder.convert(value, plan.wanted, "the result")
        with t.builder.before(plan.returned):
            plan.cell = t.builder.variable(t.blank(value.type, "the result", node), "result")
        t.builder.set(plan.cell.ssa, value)
        return
    assert isinstance(plan.cell.type, CellType)
    kind = plan.cell.type.element
    if isinstance(found, (Number, NoVertex, Value)) and is_scalar(kind):
        if (isinstance(found, Value) and found.type != kind) or (
            not isinstance(found, Value) and not t.adapts(found, kind)
        ):
            t.fail(
                node,
                f"this function gives {describe(kind)} and {describe(found)}",
                "one type on all paths: convert with f64(...), i64(...)",
            )
        value = t.builder.convert(found, kind)
    else:
        value = t.materialize_at(found, node)
        if value.type != kind:
            t.fail(node, f"this function gives {describe(kind)} and {describe(found)}", "one type on all paths")
    t.builder.set(plan.cell.ssa, value)


# --- writing ----------------------------------------------------------------------------------------------------------


def root(x: Value) -> SSAValue:
    """What stays the same each time that a handle is read: its variable, or itself."""
    owner = x.ssa.owner
    return owner.variable if isinstance(owner, graph.GetOp) else x.ssa


def check_write(t: Tracer, node: ast.AST, target: Value, at: Sequence[Value], reduction: bool = False) -> None:
    """Refuse writes that a program cannot mean; a plain write to a vertex that is not the edge's waits for the function's end."""
    name = target.ssa.name_hint or "this property"
    context = t.context
    if target.ssa in t.fixed:
        t.fail(node, "degrees cannot be written", "copy them first: d = edges.out_degrees.copy()")
    if root(target) in t.queued:
        hint = "in the program: queue.add(v, x); in functions: queue.update_min(v, x), update_max(v, x), update_sum(v, x, limit)"
        t.fail(node, f"{name} orders a queue and changes only through it", hint)
    if context.kind == "filter":
        t.fail(node, "a filter cannot write", "write in the function that apply runs")
    context.written.add(target.type)
    if context.kind == "edge" and at and not reduction and at[0].ssa not in context.ends:
        hint = f"legal: {name}[src], {name}[dst], and for any vertex v: {name}[v] += e, {name}[v] = min({name}[v], e), max, or"
        message = f"an edge function writes {name} of a vertex that is neither its src nor its dst"
        context.stray.append(UserError(message, t.place(node), hint))


# --- applies ----------------------------------------------------------------------------------------------------------


def region(
    t: Tracer, function: Function, context: Context, types: Sequence[Attribute], node: ast.AST, gives: str
) -> tuple[Block, Operand]:
    """A function as a block with arguments; `gives` says what it may give: bool, nothing, or either."""
    block = Block(arg_types=types)
    for value, name in zip(block.args, parameters(function.node), strict=True):
        value.name_hint = valid_hint(name)
    context.ends = tuple(arg for arg in block.args if isinstance(arg.type, VertexType))
    context.point = t.builder.point
    with t.builder.inside(block):
        found = read(t, function, context, [Value(arg) for arg in block.args], node)
        yielded = []
        with t.builder.at(function.frame.source.name_of(function.node)):
            if gives != "nothing" and not isinstance(found, Nothing):
                yielded = [t.truth_of_function(found, function.shown)]
            elif gives == "bool":
                t.builder.fail(
                    f"{function.shown} gives no value, and a bool is wanted",
                    f"end {function.shown} with return and a condition",
                )
            elif not isinstance(found, Nothing):
                t.builder.fail(
                    f"{function.shown} gives a value that nothing takes",
                    "leave the value out, or use where(f) for a set of vertices",
                )
        t.builder.give(*yielded)
    if not context.in_place and context.stray:
        raise context.stray[0]
    for cell, place in context.read.items():
        if cell in context.reduced:
            name = context.reduced[cell]
            raise UserError(
                f"{name} is reduced in this function and read in it too", place, f"read {name} after the apply"
            )
    return block, found


def arity(t: Tracer, node: ast.AST, function: Function, wanted: Sequence[str]) -> None:
    """Check how many arguments a function takes."""
    refuse_signature(function)
    count = len(parameters(function.node))
    if count in [len(names.split(", ")) for names in wanted]:
        return
    shape = " or ".join(f"({names})" for names in wanted)
    kind = "an edge function" if "src" in wanted[0] else "a function of vertices"
    example = (
        f"lambda {wanted[0]}: ..."
        if isinstance(function.node, ast.Lambda)
        else f"def {function.name}({wanted[0]}): ..."
    )
    t.fail(node, f"{function.shown} takes {plural(count, 'argument')}, and {kind} takes {shape}", f"write {example}")


def function_argument(t: Tracer, node: ast.expr, what: str) -> Function:
    """The function that an apply is given."""
    found = t.operand(node)
    if not isinstance(found, Function):
        t.fail(
            node,
            f"{what} takes a function, and this is {describe(found)}",
            "a def, a lambda, or a function of the module",
        )
    return found


def modified_argument(t: Tracer, found: dict[str, ast.expr]) -> Value | None:
    """The property that `modified` names."""
    if "modified" not in found:
        return None
    value = t.value(found["modified"])
    if not isinstance(value.type, PropertyType):
        t.fail(
            found["modified"],
            f"modified names a property, and this is {describe(value)}",
            "modified=p with p = edges.vertices.property(...)",
        )
    return value


def in_place_argument(t: Tracer, found: dict[str, ast.expr]) -> bool:
    """Whether calls may see each other's writes at once."""
    said = t.operand(found["in_place"]) if "in_place" in found else Number(False)
    if not isinstance(said, Number) or not isinstance(said.value, bool):
        t.fail(found["in_place"], "in_place is known when the program is read", "legal: True, False")
    return said.value


def known_handles(*values: Operand | None) -> dict[SSAValue, Value]:
    """The variables that an apply's own operands were read from, with what they held."""
    owners = [(value, value.ssa.owner) for value in values if isinstance(value, Value)]
    return {owner.variable: value for value, owner in owners if isinstance(owner, graph.GetOp)}


def never_written(t: Tracer, node: ast.AST, function: Function, context: Context, modified: Value) -> None:
    """Refuse `modified=p` of a function that writes no property of that type."""
    if modified.type not in context.written:
        name = modified.ssa.name_hint or "it"
        t.fail(node, f"{function.shown} never writes {name}", f"modified names a property that {function.shown} writes")


def no_result(name: str) -> Nothing:
    """What an apply without a result gives."""
    return Nothing("this apply has no result", f"apply({name}, modified=p) gives the vertices that were written in p")


def apply_to_edges(t: Tracer, node: ast.Call, selection: Selection) -> Operand:
    """`edges.from_(...).to(...).apply(f, modified=p, label="x")`."""
    found = bind(t, node, "apply", ["function", "modified", "label", "in_place"], 1)
    program_only(t, node, "apply", "apply in the program; in a function loop over edges.neighbor(v, k)")
    function = function_argument(t, found["function"], "apply")
    modified = modified_argument(t, found)
    label = t.label(node, function.name, found.get("label"))
    assert isinstance(selection.edges.type, EdgesType)
    weighted = is_weighted(selection.edges.type)
    if len(parameters(function.node)) == 3 and not weighted:
        hint = "declare the argument as Edges[i32], Edges[f64], or Edges[Weight] for any type"
        raise UserError(
            f"{function.shown} takes a weight, and these edges have none",
            function.frame.source.name_of(function.node),
            hint,
        )
    arity(t, found["function"], function, ["src, dst", "src, dst, weight"] if weighted else ["src, dst"])
    held = known_handles(modified, *selection.said.values())
    blocks: dict[str, Block | None] = {"from_filter": None, "to_filter": None}
    for key in blocks:
        said = selection.said.get(key)
        if isinstance(said, Function):
            arity(t, node, said, ["v"])
            blocks[key], _ = region(t, said, Context("filter", captured=held), [VertexType()], node, "bool")
    context = Context("edge", captured=held, in_place=in_place_argument(t, found))
    types: list[Attribute] = [VertexType(), VertexType(), selection.edges.type.weight][: len(parameters(function.node))]
    block, given = region(t, function, context, types, found["function"], "nothing" if modified else "either")
    if modified is not None:
        never_written(t, found["modified"], function, context, modified)
    has_result = modified is not None or not isinstance(given, Nothing)
    sets = {key: said for key, said in selection.said.items() if isinstance(said, Value)}
    result = t.builder.edge_apply(
        selection.edges,
        block,
        label=label,
        function=function.name,
        from_=sets.get("from_set"),
        to=sets.get("to_set"),
        modified=modified,
        from_filter=blocks["from_filter"],
        to_filter=blocks["to_filter"],
        in_place=context.in_place,
        has_result=has_result,
    )
    return result if result is not None else no_result(function.name)


def apply_to_vertices(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`vertices.apply(f, modified=p, label="x")`."""
    found = bind(t, node, "apply", ["function", "modified", "label", "in_place"], 1)
    program_only(t, node, "apply", "apply in the program; in a function loop over edges.neighbor(v, k)")
    function = function_argument(t, found["function"], "apply")
    modified = modified_argument(t, found)
    label = t.label(node, function.name, found.get("label"))
    arity(t, found["function"], function, ["v"])
    vertices = t.materialize(receiver)
    assert isinstance(vertices.type, VertexSetType)
    context = Context("vertex", captured=known_handles(modified, vertices), in_place=in_place_argument(t, found))
    block, _ = region(t, function, context, [VertexType()], found["function"], "nothing")
    if modified is not None:
        never_written(t, found["modified"], function, context, modified)
    result = t.builder.vertex_apply(
        vertices, block, label=label, function=function.name, modified=modified, in_place=context.in_place
    )
    return result if result is not None else no_result(function.name)


def select_vertices(t: Tracer, node: ast.Call, receiver: Operand) -> Operand:
    """`vertices.where(f, label="x")`."""
    found = bind(t, node, "where", ["function", "label"], 1)
    program_only(t, node, "where", "where in the program")
    function = function_argument(t, found["function"], "where")
    label = t.label(node, function.name, found.get("label"))
    arity(t, found["function"], function, ["v"])
    vertices = t.materialize(receiver)
    context = Context("where", captured=known_handles(vertices))
    block, _ = region(t, function, context, [VertexType()], found["function"], "bool")
    return t.builder.where(vertices, block, label=label, function=function.name, in_place=context.in_place)
