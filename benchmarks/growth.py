"""How the kernel's cost grows with nodes and with features, on generated trees."""

from __future__ import annotations

from typing import Any

from benchmarks import generate
from benchmarks.algorithms import QUESTIONS, ask_batch
from benchmarks.models import random_states
from benchmarks.numbers import plain_table, seconds_text

NODES = (1_001, 10_001, 100_001, 1_000_001)
FEATURES = (30, 100, 300, 1000)
ROWS = 20
LIMIT = 5.0


def measure() -> list[dict[str, Any]]:
    """Trees of growing size over 100 features, then trees of 10,001 nodes over more and more features."""
    shapes = [("nodes", n, 100) for n in NODES] + [("features", 10_001, f) for f in FEATURES]
    results = []
    for what, nodes, features in shapes:
        tree = generate.tree(nodes, features)
        states = random_states(tree, ROWS, seed=7)
        result: dict[str, Any] = {"what": what, "nodes": len(tree), "features": features}
        for question in QUESTIONS:
            batch = ask_batch(question, tree.kernel, states, LIMIT, least=0.02)
            result[question] = {"mean": batch.seconds / batch.rows, "unfinished": batch.unfinished}
        results.append(result)
    return results


def text(results: list[dict[str, Any]]) -> str:
    """The growth as two tables."""
    lines = []
    for what in ("nodes", "features"):
        rows = [
            [f"{r['nodes']:,}", str(r["features"]), *(_cell(r[question]) for question in QUESTIONS)]
            for r in results
            if r["what"] == what
        ]
        lines += ["", f"Generated trees, more and more {what}: mean of {ROWS} random instances, in a batch", ""]
        lines.append(plain_table(["nodes", "features", *QUESTIONS], rows))
    lines.append(f"\nSR is the exact count. In brackets: rows not finished in {LIMIT:g} s.")
    return "\n".join(lines)


def _cell(measured: dict[str, Any]) -> str:
    unfinished = f" ({measured['unfinished']})" if measured["unfinished"] else ""
    return seconds_text(measured["mean"]) + unfinished
