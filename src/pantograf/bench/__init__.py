"""Benchmarks by GAP's rules: what the jobs are and who is right, the peers that do them too, trials, and the machine's limits."""
