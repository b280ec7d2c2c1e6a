"""What Python has and a program has not: each kind of statement and expression that is refused, and what to write instead."""

from __future__ import annotations

import ast

Refusal = tuple[str, str]

STATEMENTS: dict[type[ast.stmt], Refusal] = {
    ast.ClassDef: ("a program has no classes", "values per vertex are properties: edges.vertices.property(f64, 0)"),
    ast.AsyncFunctionDef: ("a program has no async functions", "write def"),
    ast.AsyncFor: ("a program has no async loops", "write for i in range(n)"),
    ast.AsyncWith: ("a program has no async with", 'the only with is: with pg.label("s0"):'),
    ast.Try: ("a program has no exceptions", "test with if before"),
    ast.TryStar: ("a program has no exceptions", "test with if before"),
    ast.Raise: ("a program has no exceptions", "return a value that says so, or break"),
    ast.Assert: ("a program has no assert", "test the result after the run"),
    ast.Import: (
        "a program cannot import",
        "import at the top of the file: numbers and functions of it are found there",
    ),
    ast.ImportFrom: (
        "a program cannot import",
        "import at the top of the file: numbers and functions of it are found there",
    ),
    ast.Global: (
        "a program cannot assign global names",
        "use a local name, and nonlocal in a function inside the program",
    ),
    ast.Delete: ("a program has no del", "leave it out: memory is given back when nothing refers to it"),
    ast.Match: ("a program has no match", "write if, elif, else"),
}

EXPRESSIONS: dict[type[ast.expr], Refusal] = {
    ast.ListComp: (
        "a program has no list comprehension",
        "apply a function to vertices: edges.vertices.apply(f), or where(f)",
    ),
    ast.SetComp: (
        "a program has no set comprehension",
        "edges.vertices.where(f) is the set of vertices for which f is true",
    ),
    ast.DictComp: (
        "a program has no dictionaries",
        "one value per vertex is a property: edges.vertices.property(i32, 0)",
    ),
    ast.GeneratorExp: ("a program has no generator", "p.sum(), p.min(), p.max(), p.any() combine a property"),
    ast.List: ("a program has no Python list", "pg.list_of(i32) or pg.list_of(VertexSet), or pg.vertex_set(v, w)"),
    ast.Set: ("a program has no Python set", "pg.vertex_set(v, w) is a set of vertices"),
    ast.Dict: ("a program has no dictionaries", "one value per vertex is a property: edges.vertices.property(i32, 0)"),
    ast.JoinedStr: ("a program has no formatted texts", 'print("rounds", i) writes a text and values'),
    ast.Await: ("a program has no await", "leave it out: an apply is done when it returns"),
    ast.Yield: ("a program has no yield", "return the results at the end"),
    ast.YieldFrom: ("a program has no yield", "return the results at the end"),
    ast.NamedExpr: ("a program has no :=", "assign on a line of its own"),
    ast.Starred: ("a program has no starred expressions", "write each argument out"),
    ast.Slice: ("a slice has no value", "p[:] = x gives all vertices a value; p.copy() copies a property"),
}


def statement(node: ast.stmt) -> Refusal:
    """Why a statement is refused."""
    return STATEMENTS.get(
        type(node),
        (f"a program has no {type(node).__name__}", "legal: assignments, calls, if, while, for, break, return"),
    )


def expression(node: ast.expr) -> Refusal:
    """Why an expression is refused."""
    return EXPRESSIONS.get(
        type(node), (f"a program has no {type(node).__name__}", "legal: numbers, names, operators, calls, p[v]")
    )
