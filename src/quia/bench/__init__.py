"""Benchmarks: the paper's table, the kernel and the peers, measured here."""
