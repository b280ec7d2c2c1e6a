"""Hand-written kernels, one file each, for what the language's programs are compared with: see `emission.py` and `own_programs.py`.

Each has `Kernel(graph, threads)` and is called like the program of the same name; what it returns is new each time, what it
needs in between is kept. They share with the CPU machine its intrinsics and its threads, and no emitted code.
"""
