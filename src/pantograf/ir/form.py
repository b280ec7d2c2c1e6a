"""The one text form that all operations of the dialect share.

    %result = graph.name %operand, %operand clause(%optional) {property = value} region(%argument : type) { ... } : result type

Operands that may be absent or many stand in a clause named after them; a region stands behind its name and its arguments.
Types of operands follow from their definitions, so only result types are written.
"""

from __future__ import annotations

from typing import Self

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OperandDef, OptOperandDef, OptSingleBlockRegionDef, ResultDef, VarOperandDef
from xdsl.parser import Parser
from xdsl.printer import Printer

_HIDDEN = ("operandSegmentSizes", "resultSegmentSizes", "regionSegmentSizes")


class GraphOp(IRDLOperation):
    """An operation with the dialect's text form."""

    def print(self, printer: Printer) -> None:
        """Write everything behind the operation's name."""
        definition = self.get_irdl_definition()
        plain: list[SSAValue] = []
        clauses: list[tuple[str, list[SSAValue]]] = []
        for name, kind in definition.operands:
            value = getattr(self, name)
            if isinstance(kind, (VarOperandDef, OptOperandDef)):
                values = [] if value is None else [value] if isinstance(value, SSAValue) else list(value)
                if values:
                    clauses.append((name, values))
            else:
                plain.append(value)
        if plain:
            printer.print_string(" ")
            printer.print_list(plain, printer.print_ssa_value)
        for name, values in clauses:
            printer.print_string(f" {name.rstrip('_')}(")
            printer.print_list(values, printer.print_ssa_value)
            printer.print_string(")")
        attributes = {k: v for k, v in (self.properties | self.attributes).items() if k not in _HIDDEN}
        printer.print_op_attributes(attributes)
        for name, _ in definition.regions:
            region = getattr(self, name)
            if region is not None:
                _print_region(printer, name.rstrip("_"), region)
        if self.results:
            printer.print_string(" : ")
            printer.print_list([r.type for r in self.results], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""
        definition = cls.get_irdl_definition()
        plain_count = sum(1 for _, kind in definition.operands if type(kind) is OperandDef)
        plain: list[SSAValue] = []
        for i in range(plain_count):
            if i:
                parser.parse_punctuation(",")
            plain.append(_parse_value(parser))
        operands: list[list[SSAValue]] = []
        for name, kind in definition.operands:
            if type(kind) is OperandDef:
                operands.append([plain.pop(0)])
            elif parser.parse_optional_keyword(name.rstrip("_")):
                operands.append(parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_value(parser)))
            else:
                operands.append([])
        written = parser.parse_optional_attr_dict()
        properties = {k: v for k, v in written.items() if k in definition.properties}
        attributes = {k: v for k, v in written.items() if k not in definition.properties}
        regions: list[list[Region]] = []
        for name, region_kind in definition.regions:
            if isinstance(region_kind, OptSingleBlockRegionDef):
                found = parser.parse_optional_keyword(name.rstrip("_"))
                regions.append([_parse_region(parser)] if found else [])
            else:
                parser.parse_keyword(name.rstrip("_"))
                regions.append([_parse_region(parser)])
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        fewest = sum(1 for _, kind in definition.results if type(kind) is ResultDef)
        if not fewest <= len(types) <= len(definition.results):
            parser.raise_error(f"{cls.name} has {len(definition.results)} result(s) and needs their types")
        result_groups: list[list[Attribute]] = [[t] for t in types]
        while len(result_groups) < len(definition.results):
            result_groups.append([])
        return cls(
            operands=operands,
            result_types=result_groups,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )


def _print_region(printer: Printer, name: str, region: Region) -> None:
    printer.print_string(f" {name}")
    arguments = region.block.args
    if arguments:
        printer.print_string("(")
        printer.print_list(arguments, printer.print_block_argument)
        printer.print_string(")")
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False, print_empty_block=False)


def _parse_value(parser: Parser) -> SSAValue:
    """A value that is already defined: its type is the definition's."""
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        parser.raise_error(f"%{operand.operand_name} is not defined", operand.span)
    return values[operand.index]


def _parse_region(parser: Parser) -> Region:
    arguments = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
    region = parser.parse_region(arguments or ())
    if not region.blocks:
        from xdsl.ir import Block

        region.add_block(Block(arg_types=[a.type for a in arguments or ()]))
    return region


def function_name(op: Operation) -> str:
    """The name the author gave the function that `op` applies."""
    name = op.properties.get("function")
    return name.data if name is not None else ""  # type: ignore[attr-defined]
