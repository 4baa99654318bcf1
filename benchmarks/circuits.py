"""`python -m benchmarks circuits`: complete reasons of OBDDs, SDDs and Decision-DNNFs are linear in time and size.

Every family has more and more nodes over a few dozen variables, so that what grows is the circuit. Nothing but quia is
needed: the circuits are made here, and SDDs and Decision-DNNFs are read from the text of their files.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from quia.command import Subparsers
from quia.command.streams import write

if TYPE_CHECKING:
    from quia.circuit import Circuit
    from quia.classifier import Classifier
    from quia.graph import DecisionGraph

T = TypeVar("T")

INSTANCES = 3
"""How many instances of each decision are explained."""
TRIES = 400
"""How many random instances are looked at for that."""
LEAST = 0.1
"""CPU seconds that a time is measured for at least."""


class Made(NamedTuple):
    """A generated circuit: its own nodes and edges, and the CPU seconds that reading it took, if it was read."""

    classifier: DecisionGraph | Circuit
    nodes: int
    edges: int
    seconds: float | None = None


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    from quia.command.numbers import positive_seconds, whole

    parser = subparsers.add_parser(
        "circuits",
        help="complete reasons of BDDs, SDDs and Decision-DNNFs: time and size, as these grow",
        description="Times are CPU seconds, means over instances of each decision. A slope is that of the logarithm of"
        " the time over that of the size: 1 is linear.",
    )
    parser.add_argument("--most", metavar="N", type=whole, default=3_000_000, help="nodes and edges (default 3000000)")
    parser.add_argument(
        "--limit", metavar="S", type=positive_seconds, default=10.0, help="for necessary reasons (default 10)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    results = [
        measure(kind, made, limit=arguments.limit)
        for kind, family in FAMILIES.items()
        for made in family(arguments.most)
    ]
    write(text(results))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1), "utf-8")
    return 0


def measure(kind: str, made: Made, *, limit: float) -> dict[str, Any]:
    """One circuit: the size of the complete reasons of either decision, and what they cost."""
    from quia.asking import why
    from quia.explanation import explain

    by_decision: dict[str, Any] = {}
    for decision, instances in _instances(made.classifier).items():
        sizes, times, necessary = [], [], []
        for states in instances:
            question = why(made.classifier, states)
            reason, seconds = _timed(partial(made.classifier.complete_reason, question), least=LEAST)
            sizes.append(reason.node_count + reason.edge_count)
            times.append(seconds)
            started = time.process_time()
            found = explain(made.classifier, list(states)).necessary_reasons(timeout=limit)
            count = found.count
            necessary.append((time.process_time() - started, count))
        by_decision[decision] = {
            "instances": len(instances),
            "largest_reason": max(sizes, default=0),
            "seconds": sum(times) / len(times) if times else None,
            "necessary_seconds": sum(s for s, _ in necessary) / len(necessary) if necessary else None,
            "most_necessary": max((n for _, n in necessary if n is not None), default=None),
            "unfinished": sum(n is None for _, n in necessary),
        }
    return {
        "kind": kind,
        "variables": len(made.classifier.variables),
        "nodes": made.nodes,
        "edges": made.edges,
        "read": made.seconds,
        "decisions": by_decision,
    }


def _instances(classifier: Classifier) -> dict[str, list[tuple[int, ...]]]:
    """Random instances of either decision, drawn with more and fewer ones, as many as are found of those asked for."""
    import numpy as np

    draw = np.random.default_rng(7)
    found: dict[str, list[tuple[int, ...]]] = {name: [] for name in classifier.classes}
    for number in range(TRIES):
        rate = (0.5, 0.4, 0.6, 0.25, 0.75)[number % 5]
        states = tuple((draw.random(len(classifier.variables)) < rate).astype(int).tolist())
        group = found[classifier.classes[classifier.decide(states)]]
        if len(group) < INSTANCES:
            group.append(states)
        if all(len(group) == INSTANCES for group in found.values()):
            break
    return found


def _timed(work: Callable[[], T], *, least: float = 0.0) -> tuple[T, float]:
    """What is worked out, and the CPU seconds it takes: the least of some times, as others use the caches too."""
    best, spent = float("inf"), 0.0
    while spent <= least:
        started = time.process_time()
        made = work()
        seconds = time.process_time() - started
        best, spent = min(best, seconds), spent + seconds
    return made, best


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """By what power of the size the time grows: the slope of the line through the logarithms.

    >>> slope([10, 100, 1000], [1.0, 10.0, 100.0]), slope([10, 100], [1.0, 100.0]), slope([10], [1.0])
    (1.0, 2.0, None)
    """
    import numpy as np

    if len(set(sizes)) < 2:
        return None
    return round(float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]), 3)


def text(results: Sequence[dict[str, Any]]) -> str:
    """The measurements as a table for each kind, with the slopes below."""
    from benchmarks.numbers import number_text, plain_table, seconds_text

    header = ["nodes", "edges", "read", "reason of ⊤", "of ⊥", "size / size", "time of ⊤", "of ⊥", "a node"]
    header += ["necessary ⊤", "of ⊥", "most of them"]
    lines = []
    for kind in dict.fromkeys(r["kind"] for r in results):
        rows = []
        mine = [r for r in results if r["kind"] == kind]
        for r in mine:
            yes, no = r["decisions"]["1"], r["decisions"]["0"]
            size = r["nodes"] + r["edges"]
            known = [d["seconds"] for d in (yes, no) if d["seconds"] is not None]
            rows.append(
                [
                    f"{r['nodes']:,}",
                    f"{r['edges']:,}",
                    seconds_text(r["read"]),
                    f"{yes['largest_reason']:,}",
                    f"{no['largest_reason']:,}",
                    f"{max(yes['largest_reason'], no['largest_reason']) / size:.2f}",
                    seconds_text(yes["seconds"]),
                    seconds_text(no["seconds"]),
                    f"{max(known) / r['nodes'] * 1e6:.3f} µs",
                    _necessary(yes),
                    _necessary(no),
                    number_text(max(d["most_necessary"] or 0 for d in (yes, no))),
                ]
            )
        lines += ["", f"{kind}, {mine[0]['variables']} to {mine[-1]['variables']} variables", ""]
        lines.append(plain_table(header, rows))
        grows = {
            name: slope(
                [r["nodes"] + r["edges"] for r in mine if r["decisions"][c]["seconds"]],
                [r["decisions"][c]["seconds"] for r in mine if r["decisions"][c]["seconds"]],
            )
            for name, c in (("⊤", "1"), ("⊥", "0"))
        }
        lines.append("\nslope of the time: " + ", ".join(f"{name} {value}" for name, value in grows.items()))
    lines.append(f"\nMeans of up to {INSTANCES} instances a decision, the largest reason. In brackets: not finished.")
    return "\n".join(lines)


def _necessary(measured: dict[str, Any]) -> str:
    from benchmarks.numbers import seconds_text

    unfinished = f" ({measured['unfinished']})" if measured["unfinished"] else ""
    return seconds_text(measured["necessary_seconds"]) + unfinished


def obdds(most: int) -> Iterator[Made]:
    """Naive Bayes classifiers over 46 binary features as ordered decision graphs."""
    from benchmarks import generate

    for size in _growing(3_000, most):
        graph = generate.threshold_graph(size // 3)
        yield Made(graph, len(graph), len(graph.child))


def sdds(most: int) -> Iterator[Made]:
    """Random functions on balanced vtrees, from the text of `.sdd` files; two more variables, some three times as many
    nodes and edges."""
    from benchmarks import generate_circuits
    from quia.load import sdd

    for variables in range(12, 40, 2):
        compiled = generate_circuits.random_sdd(variables)
        circuit, seconds = _timed(partial(sdd.read, compiled.data))
        yield Made(circuit, compiled.nodes, compiled.edges, seconds)
        if 3 * (compiled.nodes + compiled.edges) > most:
            return


def dnnfs(most: int) -> Iterator[Made]:
    """Conjunctions of four naive Bayes classifiers over 30 features each, from the text of `.nnf` files."""
    from benchmarks import generate_circuits
    from quia.load import nnf

    for size in _growing(10_000, most):
        compiled = generate_circuits.conjoined_thresholds(size // 3)
        circuit, seconds = _timed(partial(nnf.read, compiled.data))
        yield Made(circuit, compiled.nodes, compiled.edges, seconds)


FAMILIES: dict[str, Callable[[int], Iterator[Made]]] = {"OBDD": obdds, "SDD": sdds, "Decision-DNNF": dnnfs}


def _growing(least: int, most: int) -> Iterator[int]:
    """Sizes by factors of √10."""
    size = float(least)
    while size <= most * 1.001:
        yield round(size)
        size *= 10**0.5
