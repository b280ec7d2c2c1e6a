"""From lowered GraphIR to the Python text of a module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument

from pantograf.ir import graph as g
from pantograf.ir.text import program_of
from pantograf.machines.cpu.choose import CpuQuery, records
from pantograf.machines.cpu.driver import BETWEEN, DriverWriter
from pantograf.machines.cpu.function import Checks
from pantograf.machines.cpu.plan import Need, Plan, element_of
from pantograf.machines.cpu.text import Lines, Names, scalar_type

HEADER = '''"""{name}, emitted for the CPU: every thread runs `worker` from end to end."""

import numpy as np
from numba import njit

from pantograf.machines.cpu.intrinsics import *
from pantograf.machines.cpu.runtime import *

i32, i64, u32, u64, f32, f64 = np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64


'''


def emit(module: ModuleOp, query: CpuQuery, wide: bool, checked: bool, profiled: bool = False) -> Plan:
    """The Python text of a lowered program, and what it needs."""
    program = program_of(module)
    plan = Plan(knobs=[-1, -1], records=records(module), profiled=[BETWEEN] if profiled else None)
    functions: list[str] = []
    writer = DriverWriter(plan, query, wide, Checks(plan.sites, checked), Names(), functions)
    writer.names.make("sets")
    writer.module_names.make("worker")
    arguments = program.body.block.args
    writer.text[arguments[0]] = writer.graph("")
    for argument, name in list(zip(arguments, program.argument_names(), strict=True))[1:]:
        bind_argument(writer, argument, name)
    writer.note_time(BETWEEN)
    writer.block(program.body.block)
    writer.needs["sets"] = Need("sets", count=writer.set_count)
    plan.needs = writer.needs
    text = Lines()
    text("@njit(**OPTIONS)")
    with text.block(f"def worker({', '.join(['w', *plan.needs])})"):
        text(f'"""{program.sym_name.data}."""')
        text.extend(writer.out)
    plan.text = HEADER.format(name=program.sym_name.data) + "\n\n".join([*functions, str(text)])
    return plan


def bind_argument(writer: DriverWriter, argument: BlockArgument, name: str) -> None:
    """An argument of the program beside its edges."""
    match argument.type:
        case g.PropertyType():
            width, dtype = element_of(argument, writer.wide)
            writer.text[argument] = writer.need(name, Need("array", dtype, width, source=name))
        case g.VertexSetType():
            ids = writer.need(f"{name}_ids", Need("argument", "ids", source=name))
            writer.set_count += 1
            text = writer.names.make(name)
            writer.text[argument] = text
            writer.out(f"{text} = sets[0]")
            writer.out(f"load_set(w, {text}, {ids})")
        case _:
            t = scalar_type(argument.type, writer.wide)
            writer.text[argument] = writer.need(name, Need("argument", t, source=name))
