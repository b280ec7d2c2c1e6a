"""Which names of a function are plain values and which are variables, and in which block a variable has its home.

A name that is assigned once is a plain value where it stands. A name that is assigned more than once (the targets of `for` apart)
is a variable. Its home is the innermost block around all of its assignments and uses, so that a loop's own variables start
anew in each turn.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pantograf.lang.source import FunctionNode

Path = tuple[int, ...]
"""A block of statements, as the numbers of the blocks around it and its own."""


@dataclass
class Name:
    """What a function does with one name."""

    name: str
    assigned: list[Path] = field(default_factory=list)
    targets: list[Path] = field(default_factory=list)
    """Blocks of the `for` loops whose target it is."""
    used: list[Path] = field(default_factory=list)
    reached: list[Path] = field(default_factory=list)
    """Blocks with functions that declare it `nonlocal`."""

    @property
    def is_own(self) -> bool:
        """Whether the function itself binds it."""
        return bool(self.assigned or self.targets)

    @property
    def is_variable(self) -> bool:
        """Whether it may hold different values at different times."""
        return len(self.assigned) + len(self.reached) > 1 or bool(self.assigned and self.targets)

    @property
    def home(self) -> Path:
        """The innermost block around all places that name it."""
        return common([*self.assigned, *self.targets, *self.used, *self.reached])


def common(paths: Iterable[Path]) -> Path:
    """The longest path that all of these start with."""
    first, *others = paths
    for other in others:
        size = next(
            (i for i, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other))
        )
        first = first[:size]
    return first


@dataclass
class Names:
    """The names of one function, and the number of each of its blocks."""

    table: dict[str, Name]
    outer: dict[str, ast.Nonlocal]
    """Names of the functions around it that it declares `nonlocal`."""
    paths: dict[int, Path]
    """By `id` of a list of statements."""


def analyse(node: FunctionNode) -> Names:
    """Read one function, its nested functions included."""
    reader = _Reader()
    for parameter in parameters(node):
        reader.name(parameter).assigned.append(())
    if isinstance(node, ast.FunctionDef):
        reader.block(node.body, ())
    else:
        reader.expressions(node.body, ())
    reader.captured()
    for name in reader.outer:
        reader.table.pop(name, None)
    return Names(reader.table, reader.outer, reader.paths)


def parameters(node: FunctionNode) -> list[str]:
    """The names of a function's parameters."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


class _Reader:
    def __init__(self) -> None:
        self.table: dict[str, Name] = {}
        self.outer: dict[str, ast.Nonlocal] = {}
        self.paths: dict[int, Path] = {}
        self.inner: list[tuple[str, FunctionNode, Path]] = []
        self.count = 0

    def name(self, name: str) -> Name:
        return self.table.setdefault(name, Name(name))

    def block(self, statements: list[ast.stmt], path: Path) -> None:
        self.paths[id(statements)] = path
        for statement in statements:
            self.statement(statement, path)

    def inside(self, statements: list[ast.stmt], path: Path) -> None:
        self.count += 1
        self.block(statements, (*path, self.count))

    def statement(self, node: ast.stmt, path: Path) -> None:
        match node:
            case ast.FunctionDef():
                self.name(node.name).assigned.append(path)
                self.inner.append((node.name, node, path))
                for part in (*node.decorator_list, *node.args.defaults):
                    self.expressions(part, path)
            case ast.Nonlocal():
                self.outer.update(dict.fromkeys(node.names, node))
            case ast.If():
                self.expressions(node.test, path)
                self.inside(node.body, path)
                self.inside(node.orelse, path)
            case ast.While():
                self.expressions(node.test, path)
                self.inside(node.body, path)
            case ast.For():
                self.expressions(node.iter, path)
                self.count += 1
                inner = (*path, self.count)
                for target in _stored(node.target):
                    self.name(target).targets.append(inner)
                self.block(node.body, inner)
            case ast.With():
                self.block(node.body, path)
            case _:
                self.expressions(node, path)
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                    self.name(node.target.id).used.append(path)

    def expressions(self, node: ast.AST, path: Path) -> None:
        if isinstance(node, ast.Lambda):
            self.inner.append(("", node, path))
        elif isinstance(node, ast.Name):
            entry = self.name(node.id)
            if isinstance(node.ctx, ast.Load):
                entry.used.append(path)
            else:
                entry.assigned.append(path)
        else:
            for child in ast.iter_child_nodes(node):
                self.expressions(child, path)

    def captured(self) -> None:
        """A function's outer names are used where it stands and where it is named; its `nonlocal` names are assigned there."""
        free = {id(node): (name, *_free(node)) for name, node, _ in self.inner}
        by_name = {name: (reads, writes) for name, reads, writes in free.values() if name}
        for _ in by_name:
            for _, reads, writes in free.values():
                for other in reads & by_name.keys():
                    reads |= by_name[other][0]
                    writes |= by_name[other][1]
        for name, node, path in self.inner:
            _, reads, writes = free[id(node)]
            for used in reads | writes:
                self.name(used).used += [path, *(self.table[name].used if name else ())]
            for written in writes:
                self.name(written).reached.append(path)


def _stored(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id


def _free(node: FunctionNode) -> tuple[set[str], set[str]]:
    """The names of the functions around it that a nested function reads, and those it writes."""
    own = analyse(node)
    local = {n.name for n in own.table.values() if n.is_own}
    reads = {n.name for n in own.table.values()} - local
    return reads | own.outer.keys(), set(own.outer)


def contains(
    statements: list[ast.stmt], kinds: type[ast.stmt] | tuple[type[ast.stmt], ...], into_loops: bool = True
) -> bool:
    """Whether a statement of some kind stands in these (not in functions among them)."""
    for node in statements:
        if isinstance(node, kinds):
            return True
        if isinstance(node, (ast.For, ast.While)) and not into_loops:
            continue
        if any(contains(part, kinds, into_loops) for part in blocks(node)):
            return True
    return False


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The lists of statements directly inside of a compound statement."""
    match node:
        case ast.If() | ast.For() | ast.While():
            return [node.body, node.orelse]
        case ast.With():
            return [node.body]
    return []


def leaves(statements: list[ast.stmt]) -> bool:
    """Whether the end of these statements is never reached."""
    for node in statements:
        match node:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                return True
            case ast.If() if leaves(node.body) and leaves(node.orelse):
                return True
            case ast.With() if leaves(node.body):
                return True
            case ast.While(test=ast.Constant(value=True)) if not contains(node.body, ast.Break, into_loops=False):
                return True
    return False
