"""Reachability from several sources within a limit on hops: a vertex set as an argument, and a loop that counts."""

import pantograf as pg
from pantograf import Edges, VertexSet, i32


@pg.program
def within(edges: Edges, sources: VertexSet, limit: i32 = 2):
    hops = edges.vertices.property(i32, -1)

    def start(v):
        hops[v] = 0

    def unseen(v):
        return hops[v] < 0

    def reach(src, dst):
        hops[dst] = hops[src] + 1

    sources.apply(start)
    frontier = sources
    for _ in range(limit):
        frontier = edges.from_(frontier).to(unseen).apply(reach, modified=hops)
    return hops


if __name__ == "__main__":
    graph = pg.load("grid{rows=20, columns=20}")
    fast = within.on("cpu")(graph, sources=[0, 399], limit=3)
    plain = within.on("reference")(graph, sources=[0, 399], limit=3)
    assert (fast.hops == plain.hops).all()
    print(fast.hops.reshape(20, 20)[:5, :5])
