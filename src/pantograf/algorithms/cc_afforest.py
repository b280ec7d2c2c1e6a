"""Weak components by Afforest: link along a few edges of each vertex, then skip those inside the largest component.

A vertex is linked to a lesser one, never to a greater, so that the least vertex of a component names it in the end. The
first link of each vertex races with no other; later ones compare and swap, and see each other at once: racy by intent,
and right in any order. The largest component is elected by a sample, in which it wins if it has more than half of the
votes; another winner costs time alone.
"""

from __future__ import annotations

import pantograf as pg
from pantograf import Edges, Vertex, i32, i64
from pantograf.algorithms import Algorithm
from pantograf.algorithms.cc import compare, summarise
from pantograf.lang.program import lazy_program

SAMPLES = 1024


@lazy_program
def cc_afforest(edges: Edges, first: i32 = 2, seed: i64 = 1):
    """Weakly connected components: for each vertex the least of its component. The `first` edges of each are linked first."""
    n = edges.vertices.size
    component = edges.vertices.property(Vertex, pg.none)
    giant = Vertex(0)

    def name(v):
        if edges.degree(v) > 0:
            component[v] = min(v, edges.neighbor(v, 0))
        else:
            component[v] = v

    def link(u, v):
        one = component[u]
        two = component[v]
        while one != two:
            high = max(one, two)
            low = min(one, two)
            if component[high] == low or pg.compare_and_swap(component, high, high, low):
                break
            one = component[component[high]]
            two = component[low]

    def link_one(v):
        if k < edges.degree(v):
            link(v, edges.neighbor(v, k))

    def compress(v):
        root = component[v]
        above = component[root]
        if above != root:
            while above != root:
                root = above
                above = component[root]
            component[v] = root

    def elect(v):
        nonlocal giant
        chosen = v
        votes = 0
        for sample in range(SAMPLES):
            found = component[Vertex(i64(pg.random(seed, sample) * n))]
            if votes == 0:
                chosen = found
            votes += 1 if chosen == found else -1
        giant = max(giant, chosen)

    def outside(v):
        return component[v] != giant

    edges.vertices.apply(name)
    edges.vertices.apply(compress, in_place=True, label="compress_first")
    for k in range(1, first):  # noqa: B007  (link_one reads it)
        edges.vertices.apply(link_one, label="link")
        edges.vertices.apply(compress, in_place=True, label="compress")
    if n > 0:
        pg.vertex_set(giant).apply(elect)
    rest = edges.vertices.where(outside)
    edges.from_(rest).apply(link, label="finish")
    edges.transpose().from_(rest).apply(link, label="finish_back")
    edges.vertices.apply(compress, in_place=True, label="compress_all")
    return component


algorithm = Algorithm(
    title="weak components, Afforest",
    citation="Sutton, Ben-Nun, Barak, Optimizing parallel graph connectivity computation via subgraph sampling, "
    "IPDPS 2018",
    program=cc_afforest,
    relation="the same partition",
    compare=compare,
    summarise=summarise,
)
