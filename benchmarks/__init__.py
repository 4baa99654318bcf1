"""Benchmarks: the paper's table, the kernel and other tools, measured here; `python -m benchmarks` runs them."""
