"""Weak components of any graph by the least label: along the edges until none falls, then against them, in turn."""

from __future__ import annotations

import pantograf as pg
from pantograf import Edges, Vertex
from pantograf.algorithms import Algorithm
from pantograf.algorithms.cc import compare, summarise
from pantograf.lang.program import lazy_program


@lazy_program
def wcc(edges: Edges):
    """Weakly connected components: for each vertex the least vertex that it reaches when directions are ignored."""
    component = edges.vertices.property(Vertex, pg.none)

    def name(v):
        component[v] = v

    def relax(src, dst):
        component[dst] = min(component[dst], component[src])

    edges.vertices.apply(name)
    before = component.copy()

    def moved(v):
        return component[v] != before[v]

    changed = edges.vertices
    while changed:
        before[:] = component
        frontier = edges.vertices
        while frontier:
            frontier = edges.from_(frontier).apply(relax, modified=component, label="forward")
        frontier = edges.vertices
        while frontier:
            frontier = edges.transpose().from_(frontier).apply(relax, modified=component, label="backward")
        changed = edges.vertices.where(moved)
    return component


algorithm = Algorithm(
    title="weak components, least label",
    citation="Kang, Tsourakakis, Faloutsos, PEGASUS: a peta-scale graph mining system, ICDM 2009 (HCC)",
    program=wcc,
    relation="the same partition",
    compare=compare,
    summarise=summarise,
)
