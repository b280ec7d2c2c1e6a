"""Weak components by hooking and pointer jumping: roots hook onto lesser neighbouring roots, then paths are cut short.

After jumping every vertex points at a root, so an edge whose ends point at two roots hooks the greater one.
Directions of edges do not matter. Rounds are few where labels would have far to run.
"""

from __future__ import annotations

import pantograf as pg
from pantograf import Edges, Vertex
from pantograf.algorithms import Algorithm
from pantograf.algorithms.cc import compare, summarise
from pantograf.lang.program import lazy_program


@lazy_program
def cc_pointer_jumping(edges: Edges):
    """Weakly connected components: for each vertex the least vertex of its component."""
    component = edges.vertices.property(Vertex, pg.none)

    def name(v):
        component[v] = v

    def hook(src, dst):
        one = component[src]
        two = component[dst]
        if one != two:
            component[max(one, two)] = min(component[max(one, two)], min(one, two))

    def deep(v):
        return component[component[v]] != component[v]

    def jump(v):
        component[v] = component[component[v]]

    edges.vertices.apply(name)
    hooked = edges.vertices
    while hooked:
        hooked = edges.apply(hook, modified=component, label="hook")
        below = edges.vertices.where(deep)
        while below:
            below.apply(jump, label="jump")
            below = below.where(deep)
    return component


algorithm = Algorithm(
    title="weak components, hooking and pointer jumping",
    citation="Shiloach, Vishkin, An O(log n) parallel connectivity algorithm, Journal of Algorithms 3, 1982",
    program=cc_pointer_jumping,
    relation="the same partition",
    compare=compare,
    summarise=summarise,
)
