"""Programs that use each construct of the language, for the tests of the front end and of the plain shim."""

import math

import pantograf as pg
from pantograf import Edges, Property, Vertex, VertexSet, Weight, f32, f64, i32, i64, inf, u32, u64

STEP = 3
EAGER = False


def bfs(edges: Edges, source: Vertex):
    parent = edges.vertices.property(Vertex, pg.none)

    def unvisited(v):
        return parent[v] == pg.none

    def visit(src, dst):
        parent[dst] = src

    parent[source] = source
    frontier = pg.vertex_set(source)
    while frontier:
        frontier = edges.from_(frontier).to(unvisited).apply(visit, modified=parent, label="traverse")
    return parent


def sssp(edges: Edges[i32], source: Vertex, delta: i32 = 1):
    distance = edges.vertices.property(i32, inf)
    queue = pg.priority_queue(distance, lowest_first=True, delta=delta)

    def relax(src, dst, weight):
        queue.update_min(dst, distance[src] + weight)

    queue.add(source, 0)
    while queue:
        edges.from_(queue.pop()).apply(relax)
    return distance


def pagerank(edges: Edges, damping: f64 = 0.85, tolerance: f64 = 1e-4, rounds: i32 = 100):
    n = edges.vertices.size
    rank = edges.vertices.property(f64, 1 / n)
    incoming = edges.vertices.property(f64, 0)
    degree = edges.out_degrees
    error = f64(0)

    def contribute(src, dst):
        incoming[dst] += rank[src] / degree[src]

    def settle(v):
        nonlocal error
        new = (1 - damping) / n + damping * incoming[v]
        error += abs(new - rank[v])
        rank[v] = new
        incoming[v] = 0

    for i in range(rounds):
        error = 0
        edges.apply(contribute)
        edges.vertices.apply(settle)
        if error < tolerance:
            break
    return rank


def bfs_depth(edges: Edges, source: Vertex):
    """Rounds, and a variable that a function reads."""
    depth = edges.vertices.property(i64, -1)
    depth[source] = 0
    frontier = pg.vertex_set(source)
    rounds = 0

    def visit(src, dst):
        depth[dst] = rounds

    with pg.label("rounds"):
        while frontier:
            rounds += 1
            frontier = edges.from_(frontier).to(lambda v: depth[v] < 0).apply(visit, modified=depth)
    return depth, rounds


def components(edges: Edges):
    """Labels fall to the least of each component; pointers jump."""
    label = edges.vertices.property(Vertex, pg.none)

    def start(v):
        label[v] = v

    def hook(src, dst):
        label[dst] = min(label[dst], label[src])

    def jump(v):
        label[v] = label[label[v]]

    edges.vertices.apply(start)
    frontier = edges.vertices
    frontier = edges.from_(frontier).apply(hook, modified=label)
    while frontier.size > 0:
        edges.vertices.apply(jump)
        frontier = edges.from_(frontier).apply(hook, modified=label)
    return label


def hooking(edges: Edges):
    """Compare-and-swap: racy by intent."""
    label = edges.vertices.property(Vertex)

    def own(v):
        label[v] = v

    def link(src, dst):
        a = label[src]
        b = label[dst]
        while a != b:
            high, low = max(a, b), min(a, b)
            over = label[high]
            if over == low or (over == high and pg.compare_and_swap(label, high, high, low)):
                break
            a = label[label[high]]
            b = label[low]

    def compress(v):
        while label[v] != label[label[v]]:
            label[v] = label[label[v]]

    edges.vertices.apply(own)
    edges.apply(link)
    edges.vertices.apply(compress)
    return label


def brandes(edges: Edges, source: Vertex):
    """Lists of sets, loops downwards, edges turned round."""
    paths = edges.vertices.property(f64, 0)
    dependency = edges.vertices.property(f64)
    depth = edges.vertices.property(i32, -1)
    back = edges.transpose()
    paths[source] = 1
    depth[source] = 0
    frontier = pg.vertex_set(source)
    levels = pg.list_of(VertexSet)
    levels.append(frontier)
    level = i32(0)

    def count(src, dst):
        paths[dst] += paths[src]

    def mark(v):
        depth[v] = level

    def share(src, dst):
        if depth[dst] == depth[src] - 1:
            dependency[dst] += paths[dst] / paths[src] * (1 + dependency[src])

    while frontier:
        level += 1
        frontier = edges.from_(frontier).to(lambda v: depth[v] == -1).apply(count, modified=paths)
        frontier.apply(mark)
        levels.append(frontier)
    for i in range(levels.size - 1, 0, -1):
        back.from_(levels[i]).apply(share)
    dependency[source] = 0
    return dependency


def cores(edges: Edges):
    """A queue of all vertices; sums with a limit."""
    degree = edges.out_degrees.copy()
    queue = pg.priority_queue(degree, start="all", label="peel")
    core = edges.vertices.property(i64, 0)
    done = 0

    def settle(v):
        core[v] = queue.priority

    def lower(src, dst):
        if not queue.finished_node(dst):
            queue.update_sum(dst, -1, queue.priority)

    while done < edges.vertices.size:
        bucket = queue.pop()
        done += bucket.size
        bucket.apply(settle)
        edges.from_(bucket).apply(lower)
    return core


def triangles(edges: Edges):
    ordered = edges.relabel()
    total = 0

    def count(src, dst):
        nonlocal total
        if src > dst:
            total += ordered.intersect(src, dst, below=dst)

    ordered.apply(count)
    return total


def factors(edges: Edges[f32], rounds: i32 = 2):
    """Vectors: one gradient step per round."""
    size = 4
    latent = edges.vertices.property(pg.vector(f32, size), 0.5)
    error = edges.vertices.property(pg.vector(f32, size), 0)

    def gradient(src, dst, rating):
        estimate = f32(0)
        for i in range(size):
            estimate += latent[src, i] * latent[dst][i]
        difference = rating - estimate
        for i in range(size):
            error[dst, i] += f32(0.1) * difference * latent[src, i]

    def step(v):
        for i in range(size):
            latent[v, i] += error[v, i]
            error[v, i] = 0

    for _ in range(rounds):
        edges.apply(gradient)
        edges.vertices.apply(step)
    return latent


def independent(edges: Edges, seed: i64 = 1):
    """Random keys, and a set that shrinks."""
    state = edges.vertices.property(i32, 0)
    blocked = edges.vertices.property(bool, False)
    left = edges.vertices.copy()

    def key(v):
        return pg.random_bits(seed, v)

    def beats(a, b):
        return key(a) < key(b) or (key(a) == key(b) and a < b)

    def compare(src, dst):
        if state[src] == 0 and src != dst and beats(src, dst):
            blocked[dst] = True

    def choose(v):
        if not blocked[v]:
            state[v] = 1
        blocked[v] = False

    def drop(src, dst):
        if state[src] == 1 and src != dst:
            state[dst] = 2

    while left:
        edges.from_(left).to(left).apply(compare)
        left.apply(choose)
        edges.from_(left).to(left).apply(drop)
        left = left.where(lambda v: state[v] == 0)
    return pg.results(members=edges.vertices.where(lambda v: state[v] == 1), noise=pg.random(seed, 7))


def early(edges: Edges, wanted: Vertex):
    """Functions that return in the middle of loops and branches."""
    found = edges.vertices.property(i64, -1)

    def position(v):
        if edges.degree(v) == 0:
            return -2
        for k in range(edges.degree(v)):
            if edges.neighbor(v, k) == wanted:
                return k
            if k > 100:
                break
        return -1

    def grade(v):
        if v == wanted:
            return 0
        elif v < wanted:
            return 1
        return 2

    def settle(v):
        if v == wanted:
            return
        found[v] = position(v) * 10 + grade(v)

    def nested(v):
        for i in range(3):
            for j in range(3):
                if i + j == 3:
                    return i == 2
        return False

    edges.vertices.apply(settle)
    chosen = edges.vertices.where(nested)
    return found, chosen


def guarded(edges: Edges, source: Vertex):
    """Short circuits and conditional expressions."""
    parent = edges.vertices.property(Vertex, pg.none)
    level = edges.vertices.property(i32, 0)
    parent[source] = source

    def deep(v):
        return parent[v] != pg.none and level[parent[v]] == 0 or v == source

    def clamp(v):
        level[v] = 1 if 0 <= level[v] < 5 else -1
        level[v] += level[parent[v]] if parent[v] != pg.none else 7

    some = edges.vertices.where(deep)
    some.apply(clamp)
    known = source in some and source not in pg.vertex_set()
    return level, some, known


def parallel(edges: Edges, low: i64 = 0, high: i64 = 10):
    total = i64(0)
    best = i64(0)
    mark = edges.vertices.property(i64, 0)
    for i in pg.par_range(low, high):
        square = i * i
        if square % 2 == 0:
            square += 1
        total += square
        best = max(best, square)
        mark[0] += i
    return total, best, mark


def double(x):
    return x * 2


@pg.extern
def blend(x: f64, k: i64) -> f64:
    return x * k + 0.5


def helpers(edges: Edges):
    """Functions that are inlined: nested, of the module, lambdas; an extern; captured numbers."""
    value = edges.vertices.property(f64, math.pi)
    square = lambda x: x * x  # noqa: E731

    def pair(a, b):
        return a + b, a - b

    def change(v):
        more, less = pair(value[v], STEP)
        value[v] = blend(double(square(more)) + less, 2)
        if EAGER:
            value[v] = 0

    edges.vertices.apply(change)
    return value


def scalars(edges: Edges, a: i32 = 7, b: i32 = -2, x: f64 = 2.5, y: f32 = 0.5, k: u32 = 3, flag: bool = True):
    """Operators and conversions."""
    quotient, floor, rest = a / b, a // b, a % b
    power = a**2 + i64(k) ** 3
    bits = (a & 6 | 1) ^ b
    shifted = (a << 2) >> 1
    roots = pg.sqrt(a) + pg.exp(x) + pg.log(x) + pg.floor(x) - pg.ceil(-x)
    small = min(a, b, 4)
    large = max(x, y)
    big = u64(5) * 2
    wide = ~i64(a) - -3
    whole = int(x) + i32(True)
    one = float(a) + abs(b)
    truth = bool(a) and not flag or a != b
    high = i32(inf) + 1
    edge = edges.size
    return pg.results(
        quotient=quotient, floor=floor, rest=rest, power=power, bits=bits, shifted=shifted, roots=roots, small=small,
        large=large, edge=edge, big=big, wide=wide, whole=whole, one=one, truth=truth, high=high, top=u32(4294967295),
    )  # fmt: skip


def properties(edges: Edges, given: Property[f64], start: VertexSet):
    """Handles are bound, never copied; values are copied on request."""
    old = given.copy()
    new = edges.vertices.property(f64, 0)
    flags = edges.vertices.property(bool)
    for i in range(3):
        new[:] = 0
        old, new = new, old
    old[:] = given
    total = old.sum() + old.min() - old.max()
    flags[0] = True
    both = start.copy()
    both.add(1)
    size = len(both) + edges.size + len(edges.vertices)
    return pg.results(old=old, total=total, any=flags.any(), both=both, size=size)


def labels(edges: Edges):
    """Labels at two levels, made and given."""
    p = edges.vertices.property(i64, 0)

    def up(v):
        p[v] += 1

    with pg.label("s0"):
        for i in range(2):
            with pg.label("s1"):
                edges.vertices.apply(up)
            edges.vertices.apply(up)
    for i in range(2):
        edges.vertices.apply(up, label="s1")
        edges.vertices.apply(up)
    return p


def spoken(edges: Edges):
    pg.timer_start()
    numbers = pg.list_of(i32)
    for i in range(0, 10, 4):
        numbers.append(i32(i))
    last = numbers.pop() + numbers[0]
    print("last", last, len(numbers))
    print("done")
    return last if pg.timer_stop() >= 0 and edges.size >= 0 else 0


def generic(edges: Edges[Weight], source: Vertex):
    """The weights' type is the graph's."""
    distance = edges.vertices.property(Weight, inf)
    distance[source] = 0
    frontier = pg.vertex_set(source)

    def relax(src, dst, weight):
        distance[dst] = min(distance[dst], distance[src] + weight)

    while frontier:
        frontier = edges.from_(frontier).apply(relax, modified=distance)
    return distance


def reached(edges: Edges, source: Vertex):
    """An edge function that gives a bool makes a set; variables that wait for a branch."""
    seen = edges.vertices.property(bool, False)
    seen[source] = True
    frontier = pg.vertex_set(source)
    turns = 0
    while True:
        if not frontier:
            break

        def visit(src, dst):
            if not seen[dst]:
                seen[dst] = True
                return True
            return False

        frontier = edges.from_(frontier).apply(visit)
        if turns > 10:
            speed = 2
        else:
            speed = 1
        turns += speed
    return seen, turns


ALL = [
    bfs, sssp, pagerank, bfs_depth, components, hooking, brandes, cores, triangles, factors, independent, early, guarded,
    parallel, helpers, scalars, properties, labels, spoken, generic, reached,
]  # fmt: skip
