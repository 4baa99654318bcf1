"""`python -m benchmarks kernel`: the kernel against the paper's algorithms, and how its cost grows."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quia.command import Subparsers
from quia.command.streams import write

if TYPE_CHECKING:
    from benchmarks.models import Benchmark, Loaded
    from benchmarks.steps import Steps

LEAST_BATCH = 300
"""Rows of a batch at least: one of five rows would be a measurement of its overhead."""
MOST_REASONS = 1_000_000
"""Reasons that a batch lists, about; fewer rows where these have many."""
LEAST_SECONDS = 0.05
PARTS = ("benchmarks", "growth", "pass", "large")


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    from benchmarks.arguments import add_data
    from quia.command.numbers import positive_seconds, whole

    parser = subparsers.add_parser(
        "kernel",
        help="the kernel against the paper's algorithms, and how its cost grows",
        description="Times are CPU seconds. Ratios are against paper.py on the same instances in the same run, over"
        " those that both finish, with every reason listed by both. In a batch one core is used; its mean time over all"
        " instances is that of counting all reasons, and of listing the shortest ones.",
    )
    add_data(parser)
    parser.add_argument("--model", metavar="FILE", help="measure this decision tree or graph instead")
    parser.add_argument("--rows-of", metavar="FILE.csv", help="the instances of --model (else random ones)")
    parser.add_argument("--rows", metavar="N", type=whole, default=200, help="instances of each (default 200)")
    parser.add_argument("--paper-rows", metavar="N", type=whole, default=20, help="of them for paper.py (default 20)")
    parser.add_argument(
        "--limit", metavar="S", type=positive_seconds, default=60.0, help="for an instance (default 60)"
    )
    parser.add_argument(
        "--paper-limit", metavar="S", type=positive_seconds, default=1.0, help="for paper.py (default 1)"
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="this part only; repeat it")
    parser.add_argument("--large-nodes", metavar="N", type=whole, default=4_000_000, help="of the generated graph")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from benchmarks.arguments import benchmarks_of

    parts = arguments.only or PARTS
    numbers: dict[str, Any] = {}
    benchmarks = benchmarks_of(arguments) if {"benchmarks", "pass"} & set(parts) else []
    if "benchmarks" in parts:
        numbers["benchmarks"] = _measure_all(benchmarks, arguments)
        write(benchmark_tables(numbers["benchmarks"]))
    if "growth" in parts:
        from benchmarks import growth

        numbers["growth"] = growth.measure()
        write(growth.text(numbers["growth"]))
    if "pass" in parts:
        from benchmarks import bare_pass

        numbers["pass"] = bare_pass.measure(benchmarks, arguments.rows)
        write(bare_pass.text(numbers["pass"]))
    if "large" in parts:
        from benchmarks import bare_pass

        numbers["large"] = bare_pass.measure_large(arguments.large_nodes, arguments.limit)
        write(bare_pass.large_text(numbers["large"]))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(numbers, indent=1), "utf-8")
    return 0


def _measure_all(benchmarks: Sequence[Benchmark], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    from benchmarks.models import read
    from benchmarks.steps import Steps

    with Steps(len(benchmarks) * (arguments.paper_rows + 10)) as steps:
        return [
            measure(
                read(benchmark),
                rows=arguments.rows,
                paper_rows=arguments.paper_rows,
                limit=arguments.limit,
                paper_limit=arguments.paper_limit,
                steps=steps,
            )
            for benchmark in benchmarks
        ]


def measure(
    loaded: Loaded, *, rows: int, paper_rows: int, limit: float, paper_limit: float, steps: Steps | None = None
) -> dict[str, Any]:
    """One benchmark: every question asked of the kernel and, on the first rows, of paper.py."""
    import numpy as np

    from benchmarks.algorithms import (
        QUESTIONS,
        ask_batch,
        ask_kernel,
        ask_paper,
        complete_reason_seconds,
        reason_formula,
    )

    graph = loaded.classifier.kernel
    states = loaded.states[spread_out(len(loaded.states), rows)]
    compared = spread_out(len(states), paper_rows)
    by_paper: dict[str, list[Any]] = {question: [] for question in QUESTIONS}
    complete_reasons = []
    for row in compared:
        formula = reason_formula(loaded.classifier, states[row])
        complete_reasons.append(complete_reason_seconds(loaded.classifier, states[row]))
        for question in QUESTIONS:
            by_paper[question].append(ask_paper(question, formula, paper_limit))
        if steps is not None:
            steps.step(on=f"{loaded.name}: paper.py")
    measured = {}
    for question in QUESTIONS:
        ours = [ask_kernel(question, graph, row, limit) for row in states]
        both = [
            (row, theirs)
            for row, theirs in zip(compared, by_paper[question], strict=True)
            if theirs.finished and ours[row].reasons is not None
        ]
        differing = [row for row, theirs in both if ours[row].reasons != theirs.reasons]
        batch = ask_batch(question, graph, states, limit)
        measured[question] = {
            **_times([o.seconds for o in ours if o.finished]),
            "unfinished": sum(not o.finished for o in ours),
            "batch_mean": batch.seconds / max(batch.rows, 1),
            "batch_unfinished": batch.unfinished,
            "largest_count": max((o.count for o in ours if o.count is not None), default=None),
            "paper_rows": len(compared),
            "paper_finished": sum(theirs.finished for theirs in by_paper[question]),
            "differing": len(differing),
        }
        if both:
            paper_mean = sum(theirs.seconds for _, theirs in both) / len(both)
            single = sum(ours[row].listed or 0.0 for row, _ in both) / len(both)
            reasons = sum(len(theirs.reasons) for _, theirs in both)
            times = max(1, min(-(-LEAST_BATCH // len(both)), MOST_REASONS // max(reasons, 1)))
            chosen = np.ascontiguousarray(np.tile(states[[row for row, _ in both]], (times, 1)))
            listed = ask_batch(question, graph, chosen, limit, listed=True, least=LEAST_SECONDS)
            in_batch = listed.seconds / len(chosen)
            with_form = paper_mean + sum(complete_reasons) / len(complete_reasons)
            measured[question] |= {
                "paper_mean": paper_mean,
                "ratio_single": paper_mean / single,
                "ratio_batch": paper_mean / in_batch,
                "ratio_from_instance": with_form / in_batch,
            }
        if steps is not None:
            steps.step(2.5, on=f"{loaded.name}: kernel {question}")
    about = {"name": loaded.name, "tree": loaded.classifier.is_tree, **loaded.describe()}
    return about | {"rows": len(states), "complete_reason": _times(complete_reasons), "questions": measured}


def spread_out(count: int, most: int) -> list[int]:
    """At most so many indices, evenly spread.

    >>> spread_out(10, 4), spread_out(3, 4)
    ([0, 2, 5, 7], [0, 1, 2])
    """
    return list(range(count)) if count <= most else [i * count // most for i in range(most)]


def _times(seconds: Sequence[float]) -> dict[str, float | None]:
    return {"mean": sum(seconds) / len(seconds) if seconds else None, "max": max(seconds, default=None)}


def ratio_means(results: Sequence[dict[str, Any]], question: str) -> dict[str, dict[str, float | None]]:
    """The geometric means of a question's ratios over the trees, over the graphs, and over all benchmarks."""
    from benchmarks.numbers import geometric_mean

    groups = {"trees": [r for r in results if r["tree"]], "graphs": [r for r in results if not r["tree"]]}
    groups = {which: of for which, of in groups.items() if of} | {"all": list(results)}
    return {
        which: {ratio: geometric_mean(r["questions"][question].get(ratio, 0) for r in of) for ratio in RATIOS}
        for which, of in groups.items()
    }


def benchmark_tables(results: Sequence[dict[str, Any]]) -> str:
    """A table a question, and the geometric means of the ratios."""
    from benchmarks.numbers import number_text, plain_table, ratio_text, seconds_text

    header = ["benchmark", "rows", "mean", "max", "unfinished", "batch mean", "unfinished", "most reasons"]
    header += ["paper.py finished", "its mean", "ratio, single", "ratio, batch", "from the instance"]
    lines = []
    for question in results[0]["questions"] if results else ():
        rows = []
        for result in results:
            q = result["questions"][question]
            rows.append(
                [
                    result["name"],
                    str(result["rows"]),
                    seconds_text(q["mean"]),
                    seconds_text(q["max"]),
                    str(q["unfinished"]),
                    seconds_text(q["batch_mean"]),
                    str(q["batch_unfinished"]),
                    number_text(q["largest_count"]),
                    f"{q['paper_finished']} of {q['paper_rows']}",
                    seconds_text(q.get("paper_mean")),
                    ratio_text(q.get("ratio_single")),
                    ratio_text(q.get("ratio_batch")),
                    ratio_text(q.get("ratio_from_instance")),
                ]
            )
        for which, means in ratio_means(results, question).items():
            rows.append([f"geometric mean of {which}", *[""] * 9, *map(ratio_text, means.values())])
        lines += ["", f"{question}: {NAMES[question]}", "", plain_table(header, rows)]
    differing = sum(q["differing"] for r in results for q in r["questions"].values())
    lines += [
        "",
        "The first two ratios leave out, as the paper does, the time in which the complete reason is made; the kernel's"
        " times always begin with the instance. For the last ratio paper.py begins there too, with quia's own call for"
        " the complete reason.",
    ]
    lines += ["", f"paper.py and the kernel differ on {differing} answers that both finish."]
    return "\n".join(lines)


RATIOS = ("ratio_single", "ratio_batch", "ratio_from_instance")
NAMES = {
    "SR": "all sufficient reasons; times are of counting them, ratios of listing them",
    "SSR": "the shortest sufficient reasons",
    "NR": "all necessary reasons; times are of counting them, ratios of listing them",
    "SNR": "the shortest necessary reasons",
}
