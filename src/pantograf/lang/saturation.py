"""Drops the saturation of sums that can never meet `inf`.

Programs add whole numbers with `add_inf`. Here each one is made a plain `add` unless one of its sides may be the largest value of
its type: it comes from a constant `inf`, an argument, an edge weight that arrives as an argument of a function, an extern, or a
variable, property, list or queue into which such a value may have been put.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from pantograf.ir import graph
from pantograf.ir.graph import CellType, ListType, PropertyType, QueueType, infinity, is_scalar
from pantograf.lang.values import is_integer

_PASS_ON = ("add_inf", "add", "sub", "mul", "min", "max", "floordiv", "cdiv", "pow", "or", "xor", "shl")


def drop_saturation(module: ModuleOp) -> None:
    """Make each `add_inf` an `add` where neither side can be inf."""
    if not any(isinstance(op, graph.BinaryOp) and op.kind.data == "add_inf" for op in module.walk()):
        return
    found = _Reach(module)
    found.run()
    for op in module.walk():
        if (
            isinstance(op, graph.BinaryOp)
            and op.kind.data == "add_inf"
            and not (found.may(op.left) or found.may(op.right))
        ):
            op.properties["kind"] = StringAttr("add")


class _Reach:
    """Which values may be inf: grows until nothing changes."""

    def __init__(self, module: ModuleOp) -> None:
        self.operations = list(module.walk())
        self.values: set[SSAValue] = set()
        self.places: set[SSAValue] = set()
        """Variables, properties, queues and lists (each by its representative) that may hold inf."""
        self.same: dict[SSAValue, SSAValue] = {}
        for op in self.operations:
            self.join(op)

    def place(self, x: SSAValue) -> SSAValue:
        """The representative of the handles that may be the same."""
        while x in self.same:
            x = self.same[x]
        return x

    def alike(self, a: SSAValue, b: SSAValue) -> None:
        """Two handles may refer to one thing."""
        a, b = self.place(a), self.place(b)
        if a is not b:
            self.same[a] = b

    def join(self, op: Operation) -> None:
        """Handles that pass through variables, and queues and their properties."""
        match op:
            case graph.VariableOp() | graph.GetOp() | graph.SetOp() | graph.SelectOp():
                handles = [v for v in (*op.operands, *op.results) if _is_handle(v)]
                for other in handles[1:]:
                    self.alike(handles[0], other)
            case graph.QueueOp():
                self.alike(op.out, op.priority)
            case graph.CopyOp() | graph.AssignOp():
                self.alike(op.operands[0], op.results[0] if op.results else op.operands[1])

    def may(self, x: SSAValue) -> bool:
        """Whether a value may be inf."""
        return x in self.values

    def run(self) -> None:
        """Grow until nothing changes."""
        for op in self.operations:
            for region in op.regions:
                for block in region.blocks:
                    self.values |= {arg for arg in block.args if is_integer(arg.type) and not _is_index(block, arg)}
                    self.places |= {self.place(arg) for arg in block.args if isinstance(arg.type, PropertyType)}
        while True:
            size = len(self.values) + len(self.places)
            for op in self.operations:
                self.step(op)
            if len(self.values) + len(self.places) == size:
                return

    def step(self, op: Operation) -> None:
        """What one operation passes on."""
        match op:
            case graph.ConstantOp():
                if is_integer(op.out.type) and graph.constant_value(op) == infinity(op.out.type):
                    self.values.add(op.out)
            case graph.BinaryOp():
                if op.kind.data in _PASS_ON and (self.may(op.left) or self.may(op.right)):
                    self.values.add(op.out)
            case graph.UnaryOp() | graph.SelectOp():
                if any(self.may(x) for x in op.operands):
                    self.values.add(op.results[0])
            case graph.CastOp():
                if is_integer(op.out.type) and (self.may(op.value) or graph.is_float(op.value.type)):
                    self.values.add(op.out)
            case graph.CallOp() | graph.WeightOp() | graph.RandomOp() | graph.AggregateOp():
                if is_integer(op.results[0].type):
                    self.values.add(op.results[0])
            case graph.LoadOp() | graph.GetOp() | graph.ListGetOp() | graph.ListPopOp() | graph.QueuePriorityOp():
                if is_integer(op.results[0].type) and self.place(op.operands[0]) in self.places:
                    self.values.add(op.results[0])
            case graph.VariableOp() | graph.PropertyOp():
                if self.may(op.operands[-1]):
                    self.places.add(self.place(op.results[0]))
            case (
                graph.SetOp() | graph.StoreOp() | graph.FillOp() | graph.ReduceOp() | graph.CompareAndSwapOp()
                | graph.AppendOp() | graph.QueueAddOp() | graph.QueueUpdateOp()
            ):  # fmt: skip
                if any(self.may(x) for x in op.operands[1:]):
                    self.places.add(self.place(op.operands[0]))


def _is_handle(x: SSAValue) -> bool:
    kind = x.type.element if isinstance(x.type, CellType) else x.type
    return isinstance(kind, (PropertyType, QueueType, ListType)) and not is_scalar(kind)


def _is_index(block: Block, arg: BlockArgument) -> bool:
    return isinstance(block.parent_op(), (graph.ForOp, graph.ParForOp))
