"""An algorithm of one's own: the widest path to every vertex, on two machines with equal results.

The width of a path is that of its narrowest edge, as in a network of pipes.
"""

import pantograf as pg
from pantograf import Edges, Vertex, i32, inf


@pg.program
def widest_path(edges: Edges[i32], source: Vertex):
    width = edges.vertices.property(i32, 0)

    def widen(src, dst, weight):
        width[dst] = max(width[dst], min(width[src], weight))

    width[source] = inf
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).apply(widen, modified=width)
    return width


if __name__ == "__main__":
    graph = pg.load("kronecker{scale=8, seed=1}").with_weights("random{low=1, high=255, seed=1}")
    fast = widest_path.on("cpu{threads=2}")(graph, source=0)
    plain = widest_path.on("reference")(graph, source=0)
    assert (fast.width == plain.width).all()
    print(f"{graph.n} vertices, {graph.m} edges")
    print(
        f"widths from {fast.width.min()} to {fast.width[1:].max()}, the same on {fast.provenance['machine']} and reference"
    )
