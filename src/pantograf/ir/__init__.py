"""GraphIR: what a program says about a graph, before any machine is chosen."""
