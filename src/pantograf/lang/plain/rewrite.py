"""Rewrites a program's functions for plain Python: operators, comparisons, reductions, variables, and the names of results."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pantograf.errors import UserError
from pantograf.lang import types
from pantograf.lang.plain.numbers import VertexId, convert, dtype_of, vertex
from pantograf.lang.plain.objects import Edges, Property, VertexSet, World
from pantograf.lang.source import FunctionNode, Source

SYMBOLS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "==", ast.NotEq: "!=",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


class Rewriter(ast.NodeTransformer):
    """Makes the calls that give Python's operators the meaning that programs have."""

    def __init__(self, variables: set[str]) -> None:
        self.variables = variables

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """`a + b`."""
        return _call("_operate", _text(SYMBOLS[type(node.op)]), self.visit(node.left), self.visit(node.right))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`a < b <= c`."""
        symbols = ast.Tuple([_text(SYMBOLS[type(op)]) for op in node.ops], ast.Load())
        return _call("_compare", symbols, *(self.visit(x) for x in (node.left, *node.comparators)))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """`x += e`, `p[v] += e`."""
        symbol = SYMBOLS[type(node.op)]
        if isinstance(node.target, ast.Subscript):
            inner, at = self.visit(node.target.value), self.visit(node.target.slice)
            return ast.Expr(_call("_change", inner, at, _text(symbol), self.visit(node.value)))
        assert isinstance(node.target, ast.Name)
        load = ast.Name(node.target.id, ast.Load())
        value = _call("_operate", _text(symbol), load, self.visit(node.value))
        return ast.Assign([node.target], self.kept(node.target.id, value))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """`x = e`, `p[v] = min(p[v], e)`."""
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and (found := _reduction(target, node.value)) is not None:
            symbol, parts = found
            value = self.visit(parts[0])
            for part in parts[1:]:
                value = _call("_operate", _text(symbol), value, self.visit(part))
            return ast.Expr(_call("_change", self.visit(target.value), self.visit(target.slice), _text(symbol), value))
        value = self.visit(node.value)
        if isinstance(target, ast.Name):
            value = self.kept(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=True)
            value = ast.Tuple([self.kept(t.id, v) if isinstance(t, ast.Name) else v for t, v in pairs], ast.Load())
        return ast.Assign([self.visit(t) for t in node.targets], value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """`x: i32 = e`."""
        assert isinstance(node.target, ast.Name) and node.value is not None
        return ast.Assign([node.target], _call("_as", node.annotation, self.visit(node.value)))

    def kept(self, name: str, value: ast.expr) -> ast.expr:
        """What a name is given: of the type that it had, if it is a variable."""
        if name not in self.variables:
            return value
        before = ast.Call(
            ast.Attribute(ast.Call(ast.Name("locals", ast.Load()), [], []), "get", ast.Load()), [_text(name)], []
        )
        return _call("_keep", value, before)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A nested function: types in its signature convert its arguments."""
        inner = Rewriter(self.variables | variables(node))
        return _function(node, inner)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """A lambda."""
        return ast.Lambda(node.args, self.visit(node.body))


def _function(node: ast.FunctionDef, inner: Rewriter) -> ast.FunctionDef:
    arguments = copy.deepcopy(node.args)
    typed: list[ast.stmt] = []
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation is not None:
            value = _call("_as", argument.annotation, ast.Name(argument.arg, ast.Load()))
            typed.append(ast.Assign([ast.Name(argument.arg, ast.Store())], value))
            argument.annotation = None
        elif argument.arg in inner.variables:
            value = _call("_keep", ast.Name(argument.arg, ast.Load()), ast.Constant(None))
            typed.append(ast.Assign([ast.Name(argument.arg, ast.Store())], value))
    body: list[ast.stmt] = [part for statement in node.body if (part := inner.visit(statement)) is not None]
    if node.returns is not None:
        body = [_Returning(node.returns).visit(statement) for statement in body]
    return _define(node.name, arguments, [*typed, *body])


def _define(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    optional: Any = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
    return ast.FunctionDef(name, arguments, body, [], None, **optional)


class _Returning(ast.NodeTransformer):
    """Converts what a function with a declared type gives."""

    def __init__(self, kind: ast.expr) -> None:
        self.kind = kind

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return ast.Return(_call("_as", self.kind, node.value)) if node.value is not None else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node


def variables(node: FunctionNode) -> set[str]:
    """The names that a function and those nested in it give more than one value."""
    counts: Counter[str] = Counter(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            counts[part.id] += 1
    return {name for name, count in counts.items() if count > 1}


def _reduction(target: ast.Subscript, value: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """`p[v] = min(p[v], e)` and its like: the operator, and what is combined into `p[v]`."""
    text = ast.unparse(target)

    def others(parts: list[ast.expr]) -> list[ast.expr] | None:
        rest = [part for part in parts if ast.unparse(part) != text]
        return rest if rest and len(rest) == len(parts) - 1 else None

    symbol: str
    match value:
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
            symbol, rest = name, others(args)
        case ast.BoolOp(op=ast.Or(), values=args):
            symbol, rest = "or", others(args)
        case ast.BinOp(op=ast.Add() | ast.BitOr() as op):
            symbol, rest = SYMBOLS[type(op)], others([value.left, value.right])
        case ast.BinOp(op=ast.Sub()) if ast.unparse(value.left) == text:
            symbol, rest = "-", [value.right]
        case _:
            return None
    return (symbol, rest) if rest else None


class _Results(ast.NodeTransformer):
    """Gives each result of the program its name."""

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        value = node.value
        named: list[tuple[str, ast.expr]]
        if value is None:
            named = []
        elif isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] == "results":
            named = [(k.arg or "", k.value) for k in value.keywords]
        elif isinstance(value, ast.Tuple):
            named = [(ast.unparse(part), part) for part in value.elts]
        else:
            named = [(value.id if isinstance(value, ast.Name) else "value", value)]
        return ast.Return(ast.Dict([_text(name) for name, _ in named], [part for _, part in named]))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node


def compile_program(text: Source, node: FunctionNode, names: Mapping[str, Any]) -> Callable[..., Any]:
    """A program as a Python function that gives its results by name."""
    assert isinstance(node, ast.FunctionDef)
    body = [_Results().visit(copy.deepcopy(statement)) for statement in node.body]
    plain = _define(node.name, copy.deepcopy(node.args), body)
    for argument in (*plain.args.posonlyargs, *plain.args.args, *plain.args.kwonlyargs):
        argument.annotation = None
    plain.args.defaults, plain.args.kw_defaults = [], [None] * len(plain.args.kwonlyargs)
    return compiled(text, plain, names)


def compiled(text: Source, node: FunctionNode, names: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of a program as a Python function."""
    rewriter = Rewriter(variables(node))
    if isinstance(node, ast.Lambda):
        code = compile(
            ast.fix_missing_locations(ast.Expression(rewriter.visit(copy.deepcopy(node)))), text.file, "eval"
        )
        made: Callable[..., Any] = eval(code, dict(names))
        return made
    module = ast.Module([_function(copy.deepcopy(node), rewriter)], [])
    scope = dict(names)
    exec(compile(ast.fix_missing_locations(module), text.file, "exec"), scope)
    found: Callable[..., Any] = scope[node.name]
    return found


def arguments(node: FunctionNode, names: Mapping[str, Any], world: World, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a program, converted to their types."""
    args = node.args
    parameters = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(parameters) - len(args.defaults))
    defaults += [*args.defaults, *args.kw_defaults]
    parameters += args.kwonlyargs
    known = dict(names)
    found: dict[str, Any] = {}
    for parameter, default in zip(parameters, defaults, strict=True):
        assert parameter.annotation is not None
        kind = eval(compile(ast.Expression(parameter.annotation), "<type>", "eval"), known)
        kind = eval(kind, known) if isinstance(kind, str) else kind
        if not found:
            found[parameter.arg] = Edges.of(world, weight_type(kind, world))
            continue
        if parameter.arg in given:
            value = given[parameter.arg]
        elif default is not None:
            value = eval(compile(ast.Expression(default), "<default>", "eval"), known)
        else:
            raise UserError(
                f"{getattr(node, 'name', 'the program')} needs {parameter.arg}", hint=f"{parameter.arg}=..."
            )
        found[parameter.arg] = argument(kind, value, world)
    unknown = set(given) - set(found)
    if unknown:
        raise UserError(
            f"there is no argument {', '.join(sorted(unknown))}", hint=f"arguments: {', '.join(list(found)[1:])}"
        )
    return found


def weight_type(kind: Any, world: World) -> Any:
    """The NumPy type of the weights that `Edges[...]` declares."""
    if not isinstance(kind, types.Annotation):
        return None
    return dtype_of(kind.parameter)


def argument(kind: Any, value: Any, world: World) -> Any:
    """One argument as its type."""
    if isinstance(kind, types.Annotation):
        made = Property(world, kind.parameter)
        made.values[...] = [vertex(v) for v in value] if made.kind is VertexId else np.asarray(value)
        return made
    if kind is types.VertexSet:
        return VertexSet(world, [int(v) for v in np.atleast_1d(np.asarray(value))])
    return convert(value, kind)


def _call(name: str, *values: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(values), [])


def _text(value: str) -> ast.Constant:
    return ast.Constant(value)
