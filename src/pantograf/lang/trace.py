"""From Python source to GraphIR: reads a program's text, never runs it."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

import pantograf
from pantograf.errors import UserError
from pantograf.ir.text import verify
from pantograf.lang import source as sources
from pantograf.lang import types
from pantograf.lang.expressions import EXPRESSIONS
from pantograf.lang.frames import Context, Frame
from pantograf.lang.names import Names, analyse
from pantograf.lang.saturation import drop_saturation
from pantograf.lang.signatures import program_arguments
from pantograf.lang.source import Source
from pantograf.lang.statements import read
from pantograf.lang.tracer import Tracer
from pantograf.lang.values import Cell, Value


@dataclass(frozen=True)
class Traced:
    """A program as GraphIR, with the Python functions that it calls."""

    name: str
    module: ModuleOp
    externs: dict[str, Callable[..., Any]]
    generic: bool
    """Whether the type of the edges' weights was left to the graph (`Weight`)."""


def trace_function(function: Callable[..., Any], weight: str = "i32") -> Traced:
    """Trace a Python function; `weight` is what `Weight` means."""
    text, node = sources.find(function)
    if not isinstance(node, ast.FunctionDef):
        raise UserError("a lambda cannot be a program", text.place(node), "write def f(edges: Edges): ...")
    return _trace(text, node, sources.namespace(function), weight)


def trace_text(
    text: str, file: str, first_line: int, function_name: str | None, names: Mapping[str, Any], weight: str = "i32"
) -> Traced:
    """Trace a function of a piece of text: the one of that name, or the only one under `@pg.program`, or the last."""
    source, tree = sources.parse(text, file, first_line)
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if not defined:
        raise UserError("there is no function in this text", source.at(1, 0), "write def f(edges: Edges): ...")
    decorated = [name for name, node in defined.items() if node.decorator_list]
    wanted = function_name or (decorated[0] if len(decorated) == 1 else list(defined)[-1])
    if wanted not in defined:
        raise UserError(
            f"there is no function {wanted!r} in this text", source.at(1, 0), f"functions: {', '.join(defined)}"
        )
    known = types.vars_of_vocabulary() | outside(source, tree) | dict(names)
    known.setdefault("pg", pantograf)
    known.setdefault("pantograf", pantograf)
    return _trace(source, defined[wanted], known, weight, [n for name, n in defined.items() if name != wanted])


def outside(source: Source, tree: ast.Module) -> dict[str, Any]:
    """The numbers and imports at the top of a text."""
    found: dict[str, Any] = {}
    for node in tree.body:
        match node:
            case ast.Import() | ast.ImportFrom():
                modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                if not set(modules) <= {"pantograf", "math", "numpy", "__future__"}:
                    source.fail(
                        node, f"a program in a text cannot import {modules[0]}", "legal: pantograf, math, numpy"
                    )
                for alias in node.names:
                    module = importlib.import_module(modules[0] if isinstance(node, ast.ImportFrom) else alias.name)
                    if isinstance(node, ast.ImportFrom) and not hasattr(module, alias.name):
                        source.fail(node, f"there is no {alias.name} in {modules[0]}", "import what is there")
                    value = getattr(module, alias.name) if isinstance(node, ast.ImportFrom) else module
                    found[alias.asname or alias.name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                found[name] = value
    return found


def _trace(
    source: Source,
    node: ast.FunctionDef,
    python: Mapping[str, Any],
    weight: str,
    beside: list[ast.FunctionDef] | None = None,
) -> Traced:
    tracer = Tracer(EXPRESSIONS, read, weight)
    context = Context("program")
    outside = Frame(None, source, None, python, context, Names({}, {}, {}))
    for other in beside or []:
        tracer.beside(outside, other)
    frame = Frame(node, source, outside, python, context, analyse(node))
    tracer.frames.append(frame)
    tracer.builder.labels.reserved |= _labels(node)
    with tracer.builder.at(source.name_of(node)):
        arguments = program_arguments(tracer, node)
        program = tracer.builder.program(node.name, arguments)
        block = program.body.block
        tracer.edges = Value(block.args[0])
        with tracer.opened(node.body, block):
            for (name, _, _), arg in zip(arguments, block.args, strict=True):
                _bind(tracer, frame, name, Value(arg))
            tracer.statements(node.body)
            if not isinstance(node.body[-1], ast.Return):
                tracer.builder.results([])
    drop_saturation(tracer.builder.module)
    verify(tracer.builder.module)
    return Traced(node.name, tracer.builder.module, tracer.externs, tracer.generic)


def _bind(tracer: Tracer, frame: Frame, name: str, value: Value) -> None:
    tracer.named.add(value.ssa)
    if frame.names.table[name].is_variable:
        frame.bindings[name] = Cell(tracer.builder.variable(value, name).ssa, frame.context)
    else:
        frame.bindings[name] = value
    frame.bound.add(name)


def _labels(node: ast.FunctionDef) -> set[str]:
    """The labels that the author gives, which none that are made may take."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            texts = [k.value for k in part.keywords if k.arg == "label"]
            if isinstance(part.func, (ast.Name, ast.Attribute)):
                name = part.func.id if isinstance(part.func, ast.Name) else part.func.attr
                texts += part.args[:1] if name == "label" else []
            found |= {t.value for t in texts if isinstance(t, ast.Constant) and isinstance(t.value, str)}
    return found
