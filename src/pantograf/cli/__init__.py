"""The command `pantograf`: one file a subcommand; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from pantograf.cli import (
    bench,
    cache,
    compile,
    conform,
    diff,
    doctor,
    explain,
    graph,
    interrupt,
    list,
    output,
    run,
    tune,
)
from pantograf.cli.options import PROGRAM_ARGUMENTS
from pantograf.errors import UserError

app = typer.Typer(
    name="pantograf",
    help="One graph program, every machine.",
    epilog="Exit codes: 0 done, 1 a mistake in what was asked, 2 usage, 3 an answer is wrong or out of its band, 130 Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(context_settings=PROGRAM_ARGUMENTS)(run.run)
app.command("compile")(compile.compile_program)
app.command()(explain.explain)
app.command(context_settings=PROGRAM_ARGUMENTS)(tune.tune)
app.command(context_settings=PROGRAM_ARGUMENTS)(diff.diff)
app.command()(conform.conform)
app.command()(bench.bench)
app.command()(doctor.doctor)
app.add_typer(list.app, name="list")
app.add_typer(graph.app, name="graph")
app.add_typer(cache.app, name="cache")


def _print_version(wanted: bool) -> None:
    if wanted:
        from pantograf import __version__

        print(f"pantograf {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """One graph program, every machine."""


def call(words: Sequence[str]) -> int:
    """Run one command in this process; the answer is its exit code."""
    with interrupt.prompt_exit() as pressed:
        try:
            app(args=words, prog_name="pantograf")
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        except UserError as error:
            output.show_error(error)
            return 1
        except KeyboardInterrupt:
            return interrupt.EXIT_CODE
        except Exception as error:
            if pressed.is_set():  # a library that was interrupted halfway fails in ways of its own
                return interrupt.EXIT_CODE
            if not isinstance(error, (OSError, MemoryError)):
                raise
            output.show_error(_from_system(error))
            return 1
    return 0


def _from_system(error: OSError | MemoryError) -> UserError:
    """What the system refused, as a mistake of the user's, who can mend it."""
    if isinstance(error, MemoryError):
        return UserError("there is not enough memory", hint="a smaller graph, or a machine with more memory")
    where = f"{error.filename}: " if error.filename else ""
    return UserError(f"{where}{error.strerror or error}")


def main() -> None:
    """The entry point: run the command that the shell gave, and end with its exit code."""
    if sys.stdout is None:  # the shell closed it
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the process ends)
    code = call(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        code = code or 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code == interrupt.EXIT_CODE:
        sys.stderr.write("interrupted\n")
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
