"""Scalar operations give on every machine what they give on the reference: all kinds, all types, the values where they break."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from pantograf import machine as machines
from pantograf.graphs import Graph
from pantograf.ir import graph as ir
from pantograf.lang.program import from_graphir

OTHERS = [name for name in machines.names() if name != "reference"]
DTYPES = {
    "i1": "bool",
    "i32": "int32",
    "i64": "int64",
    "ui32": "uint32",
    "ui64": "uint64",
    "f32": "float32",
    "f64": "float64",
}
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 1e30, -1e-30, math.inf, -math.inf, math.nan]
INEXACT = {"exp", "log", "pow"}


def edge_values(type: str) -> list[Any]:
    if type == "i1":
        return [False, True]
    if type.startswith("f"):
        return FLOATS
    info = np.iinfo(DTYPES[type])
    around = [0, 1, 2, 3, 7, 31, 40, 64, int(info.max) - 1, int(info.max)]
    return around + ([-1, -2, -7, int(info.min), int(info.min) + 1] if info.min < 0 else [int(info.max) // 2 + 1])


def kinds(type: str) -> tuple[list[str], list[str]]:
    """The binary and unary kinds that a type has."""
    if type == "i1":
        return ["and", "or", "xor", "min", "max"], ["not"]
    if type.startswith("f"):
        bits = {"and", "or", "xor", "shl", "shr", "cdiv", "cmod"}
        return [k for k in ir.BINARY_KINDS if k not in bits], [k for k in ir.UNARY_KINDS if k != "not"]
    return [k for k in ir.BINARY_KINDS if k != "div"], ["neg", "not", "abs"]


def casts(type: str) -> list[str]:
    """What every value of a type can be cast to: floats only to floats and truth values, as the rest may not fit."""
    return ["f32", "f64", "i1"] if type.startswith("f") else list(DTYPES)


def program(type: str) -> str:
    binary, unary = kinds(type)
    made, body, names = [], [], []
    for name, kind, target in (
        *((k, "binary", type) for k in binary),
        *((k, "unary", type) for k in unary),
        *((k, "compare", "i1") for k in ir.COMPARE_KINDS),
        *((t, "cast", t) for t in casts(type)),
    ):
        result = f"{kind}_{name}"
        operands = "%x, %y" if kind in ("binary", "compare") else "%x"
        property = "" if kind == "cast" else f' {{kind = "{name}"}}'
        zero = "false" if target == "i1" else "0.0" if target.startswith("f") else "0"
        made.append(f"%zero_{result} = graph.constant {zero} : {target}")
        made.append(f"%{result} = graph.property %edges, %zero_{result} : !graph.property<{target}>")
        body.append(f"%value_{result} = graph.{kind} {operands}{property} : {target}")
        body.append(f"graph.store %{result}, %value_{result} at(%v)")
        names.append(result)
    values, quoted = ", ".join(f"%{n}" for n in names), ", ".join(f'"{n}"' for n in names)
    return f"""builtin.module {{
    graph.program {{sym_name = "f", defaults = [unit, unit, unit], visibility = "after"}}
      body(%edges : !graph.edges<none>, %a : !graph.property<{type}>, %b : !graph.property<{type}>) {{
      {chr(10).join(made)}
      %all = graph.vertices %edges : !graph.vertexset
      graph.vertex_apply %all {{label = "a", function = "a"}} apply(%v : !graph.vertex) {{
        %x = graph.load %a at(%v) : {type}
        %y = graph.load %b at(%v) : {type}
        {chr(10).join(body)}
        graph.yield
      }}
      graph.return values({values}) {{names = [{quoted}]}}
    }}
    }}"""


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("machine", OTHERS)
def test_scalars(machine: str, type: str) -> None:
    pairs = list(itertools.product(edge_values(type), repeat=2))
    a, b = (np.array([p[i] for p in pairs], DTYPES[type]) for i in (0, 1))
    graph = Graph.from_edges([], [], n=len(pairs))
    traced = from_graphir(program(type))
    expected, found = (traced.on(name)(graph, a=a, b=b) for name in ("reference", machine))
    for name, wanted in expected.values.items():
        got = found.values[name]
        assert got.dtype == wanted.dtype, name
        exact = name.partition("_")[2] not in INEXACT
        rtol = 0 if exact else 1e-6 if type == "f32" else 1e-14
        same = np.isclose(got, wanted, rtol=rtol, atol=0, equal_nan=True) if wanted.dtype.kind == "f" else got == wanted
        wrong = np.flatnonzero(~same)
        shown = [f"{name}({a[i]}, {b[i]}) = {got[i]}, not {wanted[i]}" for i in wrong[:5]]
        assert not wrong.size, "\n".join(shown)


@pytest.mark.parametrize("machine", OTHERS)
@pytest.mark.parametrize("target", ["i32", "i64", "ui32", "ui64"])
def test_floats_truncate(machine: str, target: str) -> None:
    text = f"""builtin.module {{
    graph.program {{sym_name = "f", defaults = [unit, unit], visibility = "after"}}
      body(%edges : !graph.edges<none>, %a : !graph.property<f64>) {{
      %zero = graph.constant 0 : {target}
      %p = graph.property %edges, %zero : !graph.property<{target}>
      %all = graph.vertices %edges : !graph.vertexset
      graph.vertex_apply %all {{label = "a", function = "a"}} apply(%v : !graph.vertex) {{
        %x = graph.load %a at(%v) : f64
        %y = graph.cast %x : {target}
        graph.store %p, %y at(%v)
        graph.yield
      }}
      graph.return values(%p) {{names = ["p"]}}
    }}
    }}"""
    values = [0.0, 0.9, 1.5, 2.0**31 - 1] + ([] if target.startswith("u") else [-0.9, -1.5, -(2.0**31)])
    graph = Graph.from_edges([], [], n=len(values))
    assert from_graphir(text).on(machine)(graph, a=np.array(values)).p.tolist() == [int(v) for v in values]


@pytest.mark.parametrize("machine", machines.names())
def test_random_depends_on_the_keys_alone(machine: str) -> None:
    text = """builtin.module {
    graph.program {sym_name = "f", defaults = [unit, unit], visibility = "after"}
      body(%edges : !graph.edges<none>, %seed : i64) {
      %zero = graph.constant 0.0 : f64
      %one = graph.constant -1 : i32
      %none = graph.constant 0 : ui64
      %p = graph.property %edges, %zero : !graph.property<f64>
      %q = graph.property %edges, %none : !graph.property<ui64>
      %all = graph.vertices %edges : !graph.vertexset
      graph.vertex_apply %all {label = "a", function = "a"} apply(%v : !graph.vertex) {
        %x = graph.random keys(%seed, %v) : f64
        graph.store %p, %x at(%v)
        %y = graph.random keys(%one, %v) : ui64
        graph.store %q, %y at(%v)
        graph.yield
      }
      graph.return values(%p, %q) {names = ["p", "q"]}
    }
    }"""
    graph = Graph.from_edges([], [], n=50)
    result = from_graphir(text).on(machine)(graph, seed=7)

    def bits(*keys: int) -> int:
        h = 0
        for key in keys:
            h = (h + 0x9E3779B97F4A7C15 + key) % 2**64
            h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
            h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) % 2**64
            h ^= h >> 31
        return h

    assert result.p.tolist() == [(bits(7, v) >> 11) / 2**53 for v in range(50)]
    assert result.q.tolist() == [bits(-1, v) for v in range(50)]
