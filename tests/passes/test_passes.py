"""Each case in a .gir file: run the passes of its RUN line and match what comes out, or the complaint, with its CHECK lines.

Cases in a file are divided by `// -----`. Schedules are written in the text, as attributes `schedule = "plain{direction=pull}"`;
`// DETERMINISTIC` asks for the smallest of racing writes, `// KEEP-ROUNDS` for no fixpoints.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from pantograf import passes, schedule
from pantograf.errors import UserError
from pantograf.ir import graph as g
from pantograf.ir import text as ir_text

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Plain(schedule.Schedule):
    """A schedule with the knobs that passes know."""

    spec_name: ClassVar[str] = "plain"
    direction: schedule.Direction = "push"
    parallelism: schedule.Parallelism = "vertex"
    deduplicate: bool = True

    def traversal(self) -> schedule.Traversal:
        return schedule.Traversal(self.direction, self.parallelism, "list", self.deduplicate)


@dataclass(frozen=True)
class FromAttributes:
    """Answers from the `schedule` attribute of each operation."""

    deterministic: bool = False
    fixpoints: bool = True

    def traverse(self, op: Operation) -> schedule.Traversal | schedule.Mixed:
        text = op.attributes.get("schedule")
        if not isinstance(text, StringAttr):
            return schedule.Traversal()
        return schedule.read(text.data, {"plain": Plain}).traversal()

    def raises(self, loop: g.WhileOp) -> bool:
        return self.fixpoints


def cases() -> list[object]:
    found: list[object] = []
    for file in sorted(HERE.glob("*.gir")):
        line = 1
        for text in file.read_text().split("// -----\n"):
            found.append(pytest.param(file.name, "\n" * (line - 1) + text, id=f"{file.stem}:{line}"))
            line += text.count("\n") + 1
    return found


def output(name: str, text: str) -> str:
    """What the passes of the case make of it."""
    runs = [line.partition("RUN:")[2].strip() for line in text.splitlines() if "RUN:" in line]
    assert len(runs) == 1, f"{name}: a case has one RUN line"
    query = FromAttributes("// DETERMINISTIC" in text, "// KEEP-ROUNDS" not in text)
    try:
        return ir_text.print_module(passes.run(ir_text.parse_module(text, name), runs[0], query))
    except UserError as error:
        return f"error: {error}\n"


@pytest.mark.parametrize(("name", "text"), cases())
def test_pass(name: str, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    made = output(name, text)
    options = Options(match_filename=name)
    checks = Parser(options, io.StringIO(text), *pattern_for_opts(options))
    assert Matcher(options, FInput(name, made), checks).run() == 0, capfd.readouterr().err + "\n" + made


def test_every_pass_has_a_file() -> None:
    """Each pass is run by a case of the file named after it."""
    for name in passes.PASSES:
        file = HERE / f"{name.replace('-', '_')}.gir"
        assert file.exists(), f"{name} has no test"
        assert name in file.read_text().partition("RUN:")[2].partition("\n")[0]


def test_printed_output_reads_back() -> None:
    """What passes write is GraphIR: it prints, parses and prints equal."""
    for case in cases():
        name, text = case.values  # type: ignore[attr-defined]
        made = output(name, text)
        if not made.startswith("error:"):
            assert ir_text.print_module(ir_text.parse_module(made, name)) == made


def test_pipelines_as_text() -> None:
    found = passes.parse_pipeline("recognize-reductions, fuse-loops{first=a, second=b, fused=c},reuse-frontiers")
    assert found == [passes.RecognizeReductions(), passes.FuseLoops("a", "b", "c"), passes.ReuseFrontiers()]


def test_an_unknown_pass() -> None:
    with pytest.raises(UserError) as caught:
        passes.parse_pipeline("recognize-reductions,inline")
    assert str(caught.value) == f"there is no pass 'inline'\nhint: passes: {', '.join(passes.PASSES)}"


def test_the_pipeline_holds_every_pass_that_needs_no_parameters() -> None:
    asked = {"split-loop", "fuse-loops", "fuse-applies"}
    assert [each.spec_name for each in passes.pipeline()] == [name for name in passes.PASSES if name not in asked]


def test_a_pass_that_breaks_a_module_is_our_defect() -> None:
    class Break:
        """Takes the program's return away."""

        spec_name: ClassVar[str] = "break"

        def apply(self, module: ModuleOp, query: passes.Query) -> None:
            body = ir_text.program_of(module).body.block
            assert body.last_op is not None
            body.erase_op(body.last_op)

    text = 'graph.program {sym_name = "p", defaults = [unit], visibility = "after"} body(%e : !graph.edges<none>) {\n'
    module = ir_text.parse_module(text + "  graph.return {names = []}\n}\n")
    with pytest.raises(AssertionError, match="break made GraphIR that is not valid"):
        passes.run(module, [Break()])


def test_labels() -> None:
    text = (HERE / "attach_schedules.gir").read_text().split("// -----\n")[0]
    module = ir_text.parse_module(text)
    paths = passes.label_paths(module)
    assert list(paths) == ["queue", "s0", "s0:visit", "s0:rounds", "s0:rounds:visit"]
    assert passes.find_label(module, "rounds") is paths["s0:rounds"]
    assert passes.find_label(module, "rounds:visit") is paths["s0:rounds:visit"]
    assert passes.find_label(module, "s0:visit") is paths["s0:visit"]
