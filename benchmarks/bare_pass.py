"""The cost of the shortest necessary reasons in units of one bare pass over the classifier's arrays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import generate
from benchmarks.algorithms import ask_batch, ask_kernel
from benchmarks.models import Benchmark, random_states, read
from benchmarks.numbers import geometric_mean, number_text, plain_table, ratio_text, seconds_text
from quia.graph import DecisionGraph


def bare_pass(graph: DecisionGraph) -> float:
    """CPU seconds to add up the graph's arrays once.

    Many passes are one call, so that calling NumPy costs next to nothing.
    """
    arrays = np.concatenate([np.ascontiguousarray(array).view(np.int32) for array in graph.arrays])
    passes = int(np.clip(20_000_000 // max(len(arrays), 1), 1, 10_000))
    again = np.broadcast_to(arrays, (passes, len(arrays)))
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        np.add.reduce(again, axis=1, dtype=np.int32)
        best = min(best, (time.process_time() - started) / passes)
    return best


def measure(benchmarks: Sequence[Benchmark], rows: int) -> list[dict[str, Any]]:
    """For every benchmark, an SNR in a batch against a bare pass."""
    results = []
    for benchmark in benchmarks:
        loaded = read(benchmark)
        states = loaded.states[:rows]
        batch = ask_batch("SNR", loaded.classifier.kernel, states, 60.0, least=0.05)
        results.append(
            {
                "name": loaded.name,
                "nodes": len(loaded.classifier),
                "tree": loaded.classifier.is_tree,
                "snr": batch.seconds / batch.rows,
                "pass": bare_pass(loaded.classifier),
            }
        )
    return results


def text(results: Sequence[dict[str, Any]]) -> str:
    """The ratios as a table."""
    rows = [
        [
            r["name"],
            f"{r['nodes']:,}",
            seconds_text(r["snr"]),
            seconds_text(r["pass"]),
            ratio_text(r["snr"] / r["pass"]),
        ]
        for r in results
    ]
    for what, is_tree in (("trees", True), ("graphs", False)):
        mean = geometric_mean(r["snr"] / r["pass"] for r in results if r["tree"] == is_tree)
        rows.append([f"geometric mean of {what}", "", "", "", ratio_text(mean)])
    header = ["benchmark", "nodes", "an SNR in a batch", "a bare pass", "SNR / pass"]
    return "\nThe shortest necessary reasons against one pass over the arrays\n\n" + plain_table(header, rows)


def measure_large(nodes: int, limit: float, *, rows: int = 5) -> dict[str, Any]:
    """A generated graph as large as the paper's largest: what SNR and NR of single instances cost."""
    started = time.process_time()
    graph = generate.threshold_graph(nodes)
    made = time.process_time() - started
    started = time.process_time()
    kernel = graph.kernel
    taken = time.process_time() - started
    states = random_states(graph, rows, seed=7)
    found = []
    for row in states:
        started = time.process_time()
        length = kernel.shortest_length(row)
        of_length = time.process_time() - started
        answers = {question: ask_kernel(question, kernel, row, limit) for question in ("SNR", "NR")}
        found.append(
            {"length": length, "length_seconds": of_length}
            | {q: {"count": a.count, "seconds": a.seconds} for q, a in answers.items()}
        )
    return {
        "nodes": len(graph),
        "variables": len(graph.variables),
        "generated": made,
        "taken_in": taken,
        "pass": bare_pass(graph),
        "rows": found,
    }


def large_text(result: dict[str, Any]) -> str:
    """The large graph as a table."""
    rows = [
        [
            str(number + 1),
            f"{r['length']}",
            ratio_text(r["length_seconds"] / result["pass"]),
            number_text(r["SNR"]["count"]),
            seconds_text(r["SNR"]["seconds"]),
            ratio_text(r["SNR"]["seconds"] / result["pass"]),
            number_text(r["NR"]["count"]),
            seconds_text(r["NR"]["seconds"]),
        ]
        for number, r in enumerate(result["rows"])
    ]
    header = ["instance", "length", "its passes", "SNR", "time", "passes", "NR", "time"]
    return (
        f"\nA generated graph of {result['nodes']:,} nodes and {result['variables']} variables (a naive Bayes"
        f" classifier); a bare pass takes {seconds_text(result['pass'])}\n\n" + plain_table(header, rows)
    )
