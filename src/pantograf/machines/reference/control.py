"""The meaning of scalars, variables, loops and what a program says."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from pantograf.ir import graph as ir
from pantograf.ir.location import fail
from pantograf.machines.reference import scalars
from pantograf.machines.reference.interpreter import BREAK, CONTINUE, YIELD, Interpreter, Run, Step, means, value_of
from pantograf.machines.reference.state import Cell

# --- scalars ----------------------------------------------------------------------------------------------------------


@means(ir.ConstantOp)
def _constant(s: Interpreter, op: ir.ConstantOp) -> Step:
    written = ir.constant_value(op)
    value = scalars.NONE if written is None else scalars.fit(op.out.type)(written)
    return value_of(s, op, lambda env: value)


@means(ir.BinaryOp)
def _binary(s: Interpreter, op: ir.BinaryOp) -> Step:
    a, b, apply = s.slot(op.left), s.slot(op.right), scalars.binary(op.kind.data, op.out.type)
    return value_of(s, op, lambda env: apply(env[a], env[b]))


@means(ir.UnaryOp)
def _unary(s: Interpreter, op: ir.UnaryOp) -> Step:
    a, apply = s.slot(op.value), scalars.unary(op.kind.data, op.out.type)
    return value_of(s, op, lambda env: apply(env[a]))


@means(ir.CompareOp)
def _compare(s: Interpreter, op: ir.CompareOp) -> Step:
    a, b, apply = s.slot(op.left), s.slot(op.right), scalars.COMPARE[op.kind.data]
    return value_of(s, op, lambda env: apply(env[a], env[b]))


@means(ir.SelectOp)
def _select(s: Interpreter, op: ir.SelectOp) -> Step:
    condition, yes, no = s.slot(op.condition), s.slot(op.yes), s.slot(op.no)
    return value_of(s, op, lambda env: env[yes] if env[condition] else env[no])


@means(ir.CastOp)
def _cast(s: Interpreter, op: ir.CastOp) -> Step:
    a, convert = s.slot(op.value), scalars.cast(op.value.type, op.out.type, op)
    return value_of(s, op, lambda env: convert(env[a]))


@means(ir.RandomOp)
def _random(s: Interpreter, op: ir.RandomOp) -> Step:
    keys, as_float = [s.slot(k) for k in op.keys], ir.is_float(op.out.type)

    def draw(env: list[Any]) -> Any:
        bits = scalars.random_bits([env[k] for k in keys])
        return (bits >> 11) / (1 << 53) if as_float else bits

    return value_of(s, op, draw)


@means(ir.CallOp)
def _call(s: Interpreter, op: ir.CallOp) -> Step:
    name = op.callee.root_reference.data
    inputs, t = [s.slot(a) for a in op.arguments], op.out.type
    if name not in s.externs:
        fail(op, f"there is no extern function {name!r}", f"externs given: {', '.join(s.externs) or 'none'}")
    called = s.externs[name]

    def call(env: list[Any]) -> Any:
        try:
            found = called(*(env[i] for i in inputs))
            number = found.item() if isinstance(found, np.generic) else found
            return scalars.fit(t)(float(number) if ir.is_float(t) else int(number))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            fail(op, f"{name} failed: {type(error).__name__}: {error}")

    return value_of(s, op, call)


# --- variables and control --------------------------------------------------------------------------------------------


@means(ir.VariableOp)
def _variable(s: Interpreter, op: ir.VariableOp) -> Step:
    value, out = s.slot(op.value), s.slot(op.out)

    def step(r: Run) -> None:
        r.env[out] = Cell([r.env[value]], r.call)

    return step


@means(ir.GetOp)
def _get(s: Interpreter, op: ir.GetOp) -> Step:
    variable, out = s.slot(op.variable), s.slot(op.out)

    def step(r: Run) -> None:
        cell = r.env[variable]
        r.env[out] = cell.values[0] if cell.call == r.call else r.view.load(cell, 0)

    return step


@means(ir.SetOp)
def _set(s: Interpreter, op: ir.SetOp) -> Step:
    variable, value = s.slot(op.variable), s.slot(op.value)

    def step(r: Run) -> None:
        r.env[variable].values[0] = r.env[value]

    return step


@means(ir.IfOp)
def _if(s: Interpreter, op: ir.IfOp) -> Step:
    condition, then, otherwise = s.slot(op.condition), s.block(op.then.block), s.block(op.otherwise.block)
    return lambda r: then(r) if r.env[condition] else otherwise(r)


@means(ir.WhileOp)
def _while(s: Interpreter, op: ir.WhileOp) -> Step:
    condition, body, goes_on = s.block(op.condition.block), s.block(op.body.block), _goes_on(s, op.label)

    def step(r: Run) -> str | None:
        while True:
            condition(r)
            if not r.yielded or not goes_on(r):
                return None
            signal = body(r)
            if signal == BREAK:
                return None
            if signal == YIELD:
                return signal

    return step


@means(ir.ForOp)
def _for(s: Interpreter, op: ir.ForOp) -> Step:
    low, high, stride = s.slot(op.low), s.slot(op.high), s.slot(op.step)
    index, body, goes_on = s.slot(op.body.block.args[0]), s.block(op.body.block), _goes_on(s, op.label)

    def step(r: Run) -> str | None:
        if r.env[stride] == 0:
            fail(op, "a loop's step is 0", "count up or down")
        for i in range(r.env[low], r.env[high], r.env[stride]):
            if not goes_on(r):
                return None
            r.env[index] = i
            signal = body(r)
            if signal == BREAK:
                return None
            if signal == YIELD:
                return signal
        return None

    return step


@means(ir.ParForOp)
def _par_for(s: Interpreter, op: ir.ParForOp) -> Step:
    low, high = s.slot(op.low), s.slot(op.high)
    index, body = s.slot(op.body.block.args[0]), s.block(op.body.block)

    def step(r: Run) -> None:
        for i in range(r.env[low], r.env[high]):
            if not r.may_turn(False):
                return
            r.env[index] = i
            body(r)

    return step


def _goes_on(s: Interpreter, label: StringAttr) -> Callable[[Run], bool]:
    """Whether a loop may begin another turn: limits end loops of the program, and functions only when time is over."""
    if not s.functions:
        return lambda r: r.may_turn(bool(label.data))

    def in_function(r: Run) -> bool:
        r.check_time()
        return True

    return in_function


@means(ir.BreakOp)
def _break(s: Interpreter, op: ir.BreakOp) -> Step:
    return lambda r: BREAK


@means(ir.ContinueOp)
def _continue(s: Interpreter, op: ir.ContinueOp) -> Step:
    return lambda r: CONTINUE


@means(ir.YieldOp)
def _yield(s: Interpreter, op: ir.YieldOp) -> Step:
    values = [s.slot(v) for v in op.values]

    def step(r: Run) -> str:
        r.yielded = r.env[values[0]] if values else None
        return YIELD

    return step


@means(ir.ReturnOp)
def _return(s: Interpreter, op: ir.ReturnOp) -> Step:
    for value in op.values:
        s.slot(value)
    return lambda r: None


# --- what a program says ----------------------------------------------------------------------------------------------


@means(ir.PrintOp)
def _print(s: Interpreter, op: ir.PrintOp) -> Step:
    values = [(s.slot(v), v.type) for v in op.values]
    text = [op.text.data] if op.text.data else []

    def step(r: Run) -> None:
        r.out(" ".join(text + [_shown(t, r.env[v]) for v, t in values]))

    return step


def _shown(t: Attribute, value: Any) -> str:
    if isinstance(t, ir.VertexType) and value == scalars.NONE:
        return "none"
    if t == ir.f32:
        return str(np.float32(value))
    return str(value) if ir.is_scalar(t) else ir.type_name(t)


@means(ir.TimerStartOp)
def _timer_start(s: Interpreter, op: ir.TimerStartOp) -> Step:
    def step(r: Run) -> None:
        r.timer = time.perf_counter()

    return step


@means(ir.TimerStopOp)
def _timer_stop(s: Interpreter, op: ir.TimerStopOp) -> Step:
    out = s.slot(op.out)

    def step(r: Run) -> None:
        r.env[out] = time.perf_counter() - r.timer

    return step
