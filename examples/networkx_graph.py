"""A graph from NetworkX, with its own vertex names, in and out."""

import networkx as nx

import pantograf as pg
from pantograf.algorithms import pagerank

families = nx.florentine_families_graph()
graph = pg.Graph.from_networkx(families)
rank = pagerank(graph, tolerance=1e-9, rounds=1000).by_label("rank")

for family, value in sorted(rank.items(), key=lambda pair: -pair[1])[:3]:
    print(f"{family:12} {value:.4f}")

expected = nx.pagerank(families, tol=1e-12, max_iter=1000)
assert all(abs(rank[name] - expected[name]) < 1e-6 for name in families)
