"""The arguments of calls by name, and where calls may stand."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pantograf.lang.tracer import Tracer


def bind(t: Tracer, node: ast.Call, what: str, names: Sequence[str], required: int) -> dict[str, ast.expr]:
    """The arguments of a call by name."""
    signature = f"{what}({', '.join(n if i < required else f'{n}=...' for i, n in enumerate(names))})"
    if len(node.args) > len(names):
        t.fail(node, f"{what} takes {plural(len(names), 'argument')}, not {len(node.args)}", signature)
    found = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        assert keyword.arg is not None
        if keyword.arg not in names:
            close = difflib.get_close_matches(keyword.arg, names, 1)
            t.fail(
                keyword,
                f"{what} has no argument {keyword.arg!r}",
                (f"did you mean {close[0]}? " if close else "") + signature,
            )
        if keyword.arg in found:
            t.fail(keyword, f"{what} got {keyword.arg!r} twice", signature)
        found[keyword.arg] = keyword.value
    missing = [n for n in names[:required] if n not in found]
    if missing:
        t.fail(node, f"{what} needs {', '.join(missing)}", signature)
    return found


def plural(count: int, word: str) -> str:
    """`1 argument`, `2 arguments`, `no arguments`."""
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


def program_only(t: Tracer, node: ast.AST, what: str, instead: str) -> None:
    """Refuse what only the program itself may do."""
    if t.context.is_function:
        t.fail(node, f"{what} cannot be in a function that runs on many at once", instead)
