"""Printed GraphIR runs: change a constant in the text, and the program does something else."""

import pantograf as pg
from pantograf import Edges, Vertex, i32


@pg.program
def depth(edges: Edges, source: Vertex):
    level = edges.vertices.property(i32, 1000)

    def descend(src, dst):
        level[dst] = min(level[dst], level[src] + 1)

    level[source] = 0
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).apply(descend, modified=level)
    return level


text = depth.show()
print(text)

graph = pg.load("path{vertices=6}")
assert depth(graph, source=0).level.tolist() == [0, 1, 2, 3, 4, 5]
edited = pg.from_graphir(text.replace("1000", "3"))
print(edited(graph, source=0).level)
assert edited(graph, source=0).level.tolist() == [0, 1, 2, 3, 3, 3]
