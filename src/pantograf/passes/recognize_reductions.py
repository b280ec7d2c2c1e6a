"""Reductions as authors write them: `p[i] = p[i] + e`, `p[i] = min(p[i], e)`, `if e < p[i]: p[i] = e`; with variables too.

This decides meaning: racing plain writes keep one value, reductions combine all. A sum of integers wraps, whether the
author's `+` would have kept `inf` or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from pantograf.ir import graph as g
from pantograf.ir.functions import PURE, Function, functions_of, is_effect, relation, same_value, shown
from pantograf.ir.location import fail

_SUMS = ("add", "add_inf")
_ASSOCIATIVE = {"sum": _SUMS, "min": ("min",), "max": ("max",), "or": ("or",)}


@dataclass(frozen=True)
class RecognizeReductions:
    """Turn a load, an operation and a store to the same place into `graph.reduce`."""

    spec_name: ClassVar[str] = "recognize-reductions"

    def apply(self, module: ModuleOp, query: object) -> None:
        """Rewrite each function."""
        for op in list(module.walk()):
            for function in functions_of(op):
                _rewrite(function.block, function)
                drop_dead(function.block)
                _only_reductions(function)


def _rewrite(block: Block, function: Function) -> None:
    for op in list(block.ops):
        match op:
            case g.StoreOp():
                _rewrite_write(op, op.target, tuple(op.at), function)
            case g.SetOp() if not function.inside(op.variable):
                _rewrite_write(op, op.variable, (), function)
            case g.IfOp() if _rewrite_if(op, function):
                continue
        for region in op.regions:
            _rewrite(region.block, function)


def _rewrite_write(op: g.StoreOp | g.SetOp, target: SSAValue, at: tuple[SSAValue, ...], function: Function) -> None:
    for kind in g.REDUCE_KINDS:
        made: list[Operation] = []
        before = _loads(op.value, target, at, kind)
        if before is None or not _quiet(before, op, target):
            continue
        rest = _without(op.value, before.results[0], kind, made)
        if rest is None:
            continue
        block = op.parent_block()
        assert block is not None
        for extra in made:
            extra.location = op.location
        block.insert_ops_before(made, op)
        _replace(op, target, rest, at, kind)
        return


def _loads(value: SSAValue, target: SSAValue, at: tuple[SSAValue, ...], kind: str) -> Operation | None:
    """The load of the place among the terms of `value`."""
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if _reads(op, target, at):
        return op
    if isinstance(op, g.BinaryOp):
        if op.kind.data in _ASSOCIATIVE[kind]:
            return _loads(op.left, target, at, kind) or _loads(op.right, target, at, kind)
        if kind == "sum" and op.kind.data == "sub":
            return _loads(op.left, target, at, kind)
    if isinstance(op, g.SelectOp) and (found := _selected(op, kind)) is not None:
        return _loads(found[0], target, at, kind) or _loads(found[1], target, at, kind)
    return None


def _reads(op: Operation, target: SSAValue, at: tuple[SSAValue, ...]) -> bool:
    if isinstance(op, g.LoadOp) and isinstance(target.type, g.PropertyType):
        return relation(op.source, target) == "same" and _all_same(op.at, at)
    return isinstance(op, g.GetOp) and op.variable is target


def _all_same(a: Sequence[SSAValue], b: Sequence[SSAValue]) -> bool:
    return len(a) == len(b) and all(map(same_value, a, b))


def _without(value: SSAValue, load: SSAValue, kind: str, made: list[Operation]) -> SSAValue | None:
    """What `value` combines with `load`: all other terms; none if there are no others, or the load is in several."""
    if value is load or not isinstance(value, OpResult):
        return None
    op = value.op
    if isinstance(op, g.BinaryOp):
        left, right = op.left, op.right
        name = op.kind.data
    elif isinstance(op, g.SelectOp) and (found := _selected(op, kind)) is not None:
        left, right = found
        name = kind
    else:
        return None
    inside = _loads_it(left, load, kind)
    if inside and _loads_it(right, load, kind):
        return None
    term, other = (left, right) if inside else (right, left)
    rest = None if term is load else _without(term, load, kind, made)
    if term is not load and rest is None:
        return None
    if rest is None:
        if name != "sub":
            return other
        neg = {"kind": StringAttr("neg")}
        result: Operation = g.UnaryOp(operands=[other], properties=neg, result_types=[other.type])
    else:
        result = g.BinaryOp(operands=[rest, other], properties={"kind": StringAttr(name)}, result_types=[other.type])
    made.append(result)
    return result.results[0]


def _loads_it(value: SSAValue, load: SSAValue, kind: str) -> bool:
    if value is load:
        return True
    if not isinstance(value, OpResult):
        return False
    op = value.op
    if isinstance(op, g.BinaryOp) and (op.kind.data in _ASSOCIATIVE[kind] or (kind == "sum" and op.kind.data == "sub")):
        return _loads_it(op.left, load, kind) or (op.kind.data != "sub" and _loads_it(op.right, load, kind))
    if isinstance(op, g.SelectOp) and (found := _selected(op, kind)) is not None:
        return any(_loads_it(term, load, kind) for term in found)
    return False


def _selected(op: g.SelectOp, kind: str) -> tuple[SSAValue, SSAValue] | None:
    """The two values of which a select takes the least (kind min) or the greatest (max)."""
    compare = op.condition.owner
    if not isinstance(compare, g.CompareOp):
        return None
    below = {"lt": True, "le": True, "gt": False, "ge": False}.get(compare.kind.data)
    if below is None or kind not in ("min", "max"):
        return None
    if same_value(op.yes, compare.left) and same_value(op.no, compare.right):
        takes_least = below
    elif same_value(op.yes, compare.right) and same_value(op.no, compare.left):
        takes_least = not below
    else:
        return None
    return (op.yes, op.no) if takes_least == (kind == "min") else None


def _rewrite_if(op: g.IfOp, function: Function) -> bool:
    """`if e < p[i]: p[i] = e` becomes a min, `if e > p[i]` a max, under the rest of the condition; whether it did."""
    body = [inner for inner in op.then.block.ops if not isinstance(inner, (*PURE, g.LoadOp, g.GetOp))]
    if len(body) != 1 or op.otherwise.block.ops.first is not None:
        return False
    write = body[0]
    match write:
        case g.StoreOp():
            target, at = write.target, tuple(write.at)
        case g.SetOp() if not function.inside(write.variable):
            target, at = write.variable, ()
        case _:
            return False
    for compare, rest in _conjuncts(op.condition):
        reduce = _conditional(compare, op, write, target, at)
        if reduce is None:
            continue
        reduce.location = write.location
        if rest is None:
            Rewriter.replace_op(op, reduce, new_results=[])
        else:
            op.operands[0] = rest
            Rewriter.replace_op(write, reduce, new_results=[])
        return True
    return False


def _conjuncts(condition: SSAValue) -> list[tuple[g.CompareOp, SSAValue | None]]:
    """The comparisons that a condition demands, each with the rest of the condition where there is one."""
    op = condition.owner
    if isinstance(op, g.CompareOp):
        return [(op, None)]
    if isinstance(op, g.BinaryOp) and op.kind.data == "and":
        sides = ((op.left, op.right), (op.right, op.left))
        return [(one.owner, other) for one, other in sides if isinstance(one.owner, g.CompareOp)]
    return []


def _conditional(
    compare: g.CompareOp, op: g.IfOp, write: g.StoreOp | g.SetOp, target: SSAValue, at: tuple[SSAValue, ...]
) -> g.ReduceOp | None:
    for new, old, kinds in (
        (compare.left, compare.right, {"lt": "min", "gt": "max"}),
        (compare.right, compare.left, {"gt": "min", "lt": "max"}),
    ):
        load = old.owner
        if compare.kind.data not in kinds or not isinstance(load, Operation) or not _reads(load, target, at):
            continue
        if load.parent_block() is not op.parent_block() or not _quiet(load, op, target):
            continue
        if write.value is new or (same_value(write.value, new) and _unchanged(new, write)):
            outer = list(load.operands[1:]) if isinstance(load, g.LoadOp) else []
            return _reduction(target, new, outer, kinds[compare.kind.data])
    return None


def _unchanged(value: SSAValue, write: Operation) -> bool:
    """Whether nothing that `value` reads is written between its reads and `write`."""
    for read in _reading(value):
        source = read.operands[0]
        if not _quiet(read, write, source):
            return False
    return True


def _reading(value: SSAValue) -> list[Operation]:
    if not isinstance(value, OpResult):
        return []
    op = value.op
    found: list[Operation] = [op] if isinstance(op, (g.LoadOp, g.GetOp)) else []
    return found + [inner for operand in op.operands for inner in _reading(operand)]


def _quiet(read: Operation, write: Operation, target: SSAValue) -> bool:
    """Whether the call writes nothing to `target` between `read` and `write`, which stands in its block or in an if there."""
    block = read.parent_block()
    last: Operation | None = write
    while last is not None and last.parent_block() is not block:
        last = last.parent_op()
        if not isinstance(last, g.IfOp):
            return False
    if last is None:
        return False
    op = read.next_op
    while op is not None and op is not last:
        if any(_disturbs(inner, target) for inner in op.walk()):
            return False
        op = op.next_op
    return op is last


def _disturbs(op: Operation, target: SSAValue) -> bool:
    if not is_effect(op) or isinstance(op, g.PrintOp):
        return False
    match op:
        case g.StoreOp() | g.ReduceOp() | g.CompareAndSwapOp():
            return op.target.type == target.type and relation(op.target, target) != "distinct"
        case g.SetOp():
            return op.variable is target
    return isinstance(target.type, g.PropertyType)


def _replace(op: Operation, target: SSAValue, value: SSAValue, at: Sequence[SSAValue], kind: str) -> None:
    reduce = _reduction(target, value, at, kind)
    reduce.location = op.location
    Rewriter.replace_op(op, reduce, new_results=[])


def _reduction(target: SSAValue, value: SSAValue, at: Sequence[SSAValue], kind: str) -> g.ReduceOp:
    no_result: list[Attribute] = []
    operands: list[SSAValue | list[SSAValue]] = [target, value, list(at)]
    return g.ReduceOp(operands=operands, properties={"kind": StringAttr(kind)}, result_types=[no_result])


def drop_dead(block: Block) -> None:
    """Erase reads and pure operations that nothing uses."""
    for op in reversed(list(block.ops)):
        for region in op.regions:
            drop_dead(region.block)
        if isinstance(op, (*PURE, g.LoadOp, g.GetOp, g.ContainsOp)) and all(not list(r.uses) for r in op.results):
            Rewriter.erase_op(op)


def _only_reductions(function: Function) -> None:
    """Complain about an edge or vertex function that sets a variable of the program's in another way."""
    if isinstance(function.op, g.ParForOp):
        return
    for op in function.operations():
        if isinstance(op, g.SetOp) and not function.inside(op.variable):
            name = shown(op.variable)
            fail(
                op,
                f"a function may only combine values into {name}, which stands outside it",
                f"{name} += x, {name} = min({name}, x), max, or: every call takes part, in any order",
            )
