"""Programs that between them use every construct of the language, for the machines that must agree on them."""

import pantograf as pg
from pantograf import Edges, Vertex, VertexSet, Weight, f32, f64, i32, i64, inf, u64


@pg.program
def hops(edges: Edges, source: Vertex, limit: i32 = 2):
    dist = edges.vertices.property(i32, inf)
    dist[source] = 0

    def relax(src, dst):
        dist[dst] = min(dist[dst], dist[src] + 1)

    frontier = pg.vertex_set(source)
    for _ in range(limit):
        frontier = edges.from_(frontier).apply(relax, modified=dist)
    return dist, frontier


@pg.program
def widest(edges: Edges[Weight], source: Vertex):
    width = edges.vertices.property(Weight, 0)
    queue = pg.priority_queue(width, lowest_first=False)

    def widen(src, dst, weight):
        queue.update_max(dst, min(width[src], weight))

    queue.add(source, inf)
    while queue:
        edges.from_(queue.pop()).apply(widen)
    return width


@pg.program
def lists(edges: Edges, source: Vertex):
    seen = edges.vertices.property(bool, False)
    count = edges.vertices.property(f64, 0)
    seen[source] = True
    count[source] = 1

    def unseen(v):
        return not seen[v]

    def mark(v):
        seen[v] = True

    def add(src, dst):
        count[dst] += count[src]

    levels = pg.list_of(VertexSet)
    frontier = pg.vertex_set(source)
    sizes = pg.list_of(i64)
    while frontier:
        levels.append(frontier)
        sizes.append(frontier.size)
        frontier = edges.from_(frontier).to(unseen).apply(add, modified=count)
        frontier.apply(mark)
    n = levels.size
    last = levels[n - 1]
    total = 0
    while levels:
        s = levels.pop()
        total += s.size
    return count, last, total, seen


@pg.program
def parfor(edges: Edges, k: i32 = 5):
    reach = edges.vertices.property(i64, 0)
    total = i64(0)
    for i in pg.par_range(0, k):
        depth = edges.vertices.property(i32, -1)

        def unvisited(v):
            return depth[v] == -1

        source = Vertex(i)
        depth[source] = 0
        frontier = pg.vertex_set(source)
        level = i32(0)
        while frontier:
            level += 1

            def visit(src, dst):
                depth[dst] = level

            frontier = edges.from_(frontier).to(unvisited).apply(visit, modified=depth)

        def tally(v):
            if depth[v] >= 0:
                reach[v] += 1

        edges.vertices.apply(tally)
        total += 1
    return reach, total


@pg.program
def swap(edges: Edges, rounds: i32 = 5):
    old = edges.vertices.property(f64, 1)
    new = edges.vertices.property(f64, 0)

    def push(src, dst):
        new[dst] += old[src] * 0.5

    def clear(v):
        new[v] = 0

    for _ in range(rounds):
        edges.apply(push)
        old, new = new, old
        edges.vertices.apply(clear)
    return old


@pg.program
def fresh(edges: Edges, rounds: i32 = 4):
    prev = edges.vertices.property(i64, 1)
    for _ in range(rounds):
        cur = edges.vertices.property(i64, 0)

        def push(src, dst):
            cur[dst] += prev[src]

        edges.apply(push)
        prev = cur
    return prev


@pg.extern
def twice(x: f64) -> f64:
    return 2 * x + 1


@pg.program
def misc(edges: Edges[i32], boost: f32 = 1.5, flag: bool = True, big: u64 = 7):
    a = edges.vertices.property(f32, 0)
    b = edges.vertices.property(u64, 0)
    lo = f64(inf)
    hi = i32(-5)
    anyone = False
    n = i64(0)

    def f(v):
        nonlocal lo, hi, anyone, n
        x = f32(0)
        k = 0
        while True:
            k += 1
            if k > 10:
                break
            if k % 2 == 0:
                continue
            x += f32(k) * boost
        if flag and x > 3:
            a[v] = x
        else:
            a[v] = -x
        b[v] = pg.random_bits(v, k) ^ big
        lo = min(lo, pg.random(1, v) + twice(f64(x)))
        hi = max(hi, i32(k) - i32(edges.degree(v)))
        anyone = anyone or edges.degree(v) > 3
        n += edges.degree(v) // 2**1

    edges.vertices.apply(f)

    def g(src, dst, w):
        nonlocal n
        n += edges.intersect(src, dst)

    edges.apply(g)
    m = a.max() + a.sum() + a.min()
    s = edges.vertices.where(lambda v: a[v] > 0 and edges.degree(v) > 2)
    t = pg.vertex_set()
    t.add(Vertex(3))
    t.add(Vertex(3))
    c = Vertex(3) in t
    return pg.results(lo=lo, hi=hi, anyone=anyone, n=n, m=m, s=s, t=t, c=c, a=a, b=b)


@pg.program
def pulled(edges: Edges, k: i64 = 6):
    """Breadth-first searches side by side, forwards and backwards, that pull once their frontiers are dense."""
    ahead = edges.vertices.property(i64, 0)
    behind = edges.vertices.property(i64, 0)
    for i in pg.par_range(0, min(k, edges.vertices.size)):
        seen = edges.vertices.property(bool, False)
        source = Vertex(i)

        def new(v):
            return not seen[v]

        def mark(src, dst):
            seen[dst] = True

        seen[source] = True
        frontier = pg.vertex_set(source)
        while frontier:
            ahead[source] += frontier.size
            frontier = edges.from_(frontier).to(new).apply(mark, modified=seen, label="ahead")
        seen[:] = False
        seen[source] = True
        frontier = pg.vertex_set(source)
        while frontier:
            behind[source] += frontier.size
            frontier = edges.transpose().from_(frontier).to(new).apply(mark, modified=seen, label="behind")
    return ahead, behind
