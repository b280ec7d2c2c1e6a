"""GraphIR as text: print, and read back with the place of each operation."""

from __future__ import annotations

from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, UnknownLoc
from xdsl.ir import Block, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from pantograf.errors import Place, UserError
from pantograf.ir import location
from pantograf.ir.graph import Graph, ProgramOp


def context() -> Context:
    """What a parser must know to read GraphIR."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Graph)
    return ctx


def print_module(module: Operation) -> str:
    """The text of a module; `parse_module` reads it back."""
    out = StringIO()
    Printer(stream=out).print_op(module)
    return out.getvalue() + "\n"


class _Parser(Parser):
    """Gives each operation the place where it stands in the text."""

    file = "<text>"

    def parse_operation(self) -> Operation:
        span = self._current_token.span
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            before = span.input.content[: span.start]
            op.location = location.at(self.file, before.count("\n") + 1, span.start - before.rfind("\n") - 1)
        return op


def parse_module(text: str, file: str = "<text>") -> ModuleOp:
    """Read GraphIR text and verify it; a mistake is a `UserError` with its line."""
    _check_quotes(text, file)
    parser = _Parser(context(), text, file)
    parser.file = file
    try:
        module = parser.parse_module()
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        at = text.count("\n", 0, parser.pos) + 1
        place = Place(file, at, 0, 1, text.split("\n")[at - 1])
        raise UserError("cannot read GraphIR here", place, "print a program's GraphIR to see the form") from None
    except ParseError as error:
        span = error.span
        before = text[: span.start]
        line = before.count("\n") + 1
        place = Place(
            file, line, span.start - before.rfind("\n") - 1, max(1, span.end - span.start), text.split("\n")[line - 1]
        )
        raise UserError(
            f"cannot read GraphIR: {error.msg.strip()}", place, "print a program's GraphIR to see the form"
        ) from None
    verify(module, text, file)
    return module


def _check_quotes(text: str, file: str) -> None:
    """Refuse a line with a string that does not end: the lexer takes for ever to see it."""
    for number, line in enumerate(text.split("\n"), 1):
        start = None
        i = 0
        while i < len(line):
            if start is None and line.startswith("//", i):
                break
            if line[i] == '"':
                start = i if start is None else None
            i += 2 if line[i] == "\\" and start is not None else 1
        if start is not None:
            raise UserError("this string does not end", Place(file, number, start, 1, line), 'close it with "')


def verify(module: ModuleOp, text: str | None = None, file: str = "<text>") -> None:
    """Check a module; what is wrong is a `UserError`."""
    try:
        module.verify()
        _check_scopes(module.body.block, set())
    except UserError as error:
        raise UserError(error.message, _in_text(error.place, text, file), error.hint) from None
    except VerifyException:
        raise _complaint(module, text, file) from None


def _check_scopes(block: Block, known: set[SSAValue]) -> None:
    """A value is used only behind the operation that makes it, in its block or further in."""
    here: set[SSAValue] = set(block.args)
    known |= here
    for op in block.ops:
        for operand in op.operands:
            if operand not in known:
                name = operand.name_hint or "a value"
                location.fail(op, f"{op.name} uses {name} where it is not known", "use a value behind what makes it")
        for region in op.regions:
            for inner in region.blocks:
                _check_scopes(inner, known)
        here |= set(op.results)
        known |= set(op.results)
    known -= here


def _complaint(module: ModuleOp, text: str | None, file: str) -> UserError:
    """What a verifier of xDSL's says, at the operation that it says it of."""
    op: Operation = module
    while True:
        inner = (i for region in op.regions for block in region.blocks for i in block.ops)
        wrong = next((i for i in inner if _verifies(i) is not None), None)
        if wrong is None:
            message = f"this GraphIR is not valid: {_verifies(op)}"
            return UserError(message, _in_text(location.place_of(op), text, file))
        op = wrong


def _verifies(op: Operation) -> str | None:
    """What xDSL says against an operation, if anything."""
    try:
        op.verify()
    except VerifyException as error:
        return str(error).strip().splitlines()[-1]
    return None


def _in_text(place: Place | None, text: str | None, file: str) -> Place | None:
    """A place with its line taken from `text`, when that is where it is."""
    if place is None or text is None or place.file != file:
        return place
    shown = text.split("\n")[place.line - 1]
    return Place(file, place.line, place.column, len(shown) - place.column, shown)


def program_of(module: ModuleOp) -> ProgramOp:
    """The program in a module."""
    for op in module.ops:
        if isinstance(op, ProgramOp):
            return op
    raise UserError("there is no graph.program in this module")
