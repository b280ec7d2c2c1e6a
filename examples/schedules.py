"""One program, several schedules, one answer: push, pull, and both by the density of the frontier."""

import pantograf as pg
from pantograf.algorithms import bfs_depth

graph = pg.load("kronecker{scale=12, seed=1}")
label = "traverse"
expected = bfs_depth(graph, source=0).depth

for schedule in (
    pg.cpu.Traverse(direction="push"),
    pg.cpu.Traverse(direction="pull"),
    pg.Hybrid(pg.cpu.Traverse(direction="pull"), pg.cpu.Traverse(direction="push"), when=20),
):
    program = bfs_depth.scheduled({label: schedule})
    result = program(graph, source=0)
    assert (result.depth == expected).all()
    print(f"{result.provenance['schedules'][label]:70} {1e3 * result.stats['seconds']:8.3f} ms")
