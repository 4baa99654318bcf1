"""`python -m benchmarks worlds`: what it costs, and what it gives, to say which worlds are possible.

The same questions are asked of the same rows in turns, without and with constraints, in one run. All advice is then
tried on raw values by an evaluator of its own, which knows nothing of how quia reads constraints.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from quia.command import Subparsers
from quia.command.streams import write

if TYPE_CHECKING:
    from benchmarks.widths_models import Subject
    from benchmarks.worlds_rules import Possible
    from quia.explanation import Explanation

REPEATS = 3
SHOWN = 10
"""Reasons of a kind, and changes, that are asked for."""
NEW = 35
"""Rows that are asked about once, each one question: what is kept of a row for its next question does not count."""
LIMIT = 5.0
"""Seconds for a count."""
MOST_RATIO = 2.0
"""Questions about possible worlds may take so many times the CPU of the same questions about all worlds."""


def _shortest(kind: str, general: bool, why: Explanation) -> list[Any]:
    return list(getattr(why, f"{kind}_reasons")(shortest=True, limit=SHOWN, general=general))


def _counts(why: Explanation) -> tuple[int | None, int | None]:
    return why.sufficient_reasons(timeout=LIMIT).count, why.necessary_reasons(timeout=LIMIT).count


QUESTIONS: dict[str, Callable[[Explanation], Any]] = {
    "shortest sufficient": partial(_shortest, "sufficient", False),
    "shortest necessary": partial(_shortest, "necessary", False),
    "general sufficient": partial(_shortest, "sufficient", True),
    "general necessary": partial(_shortest, "necessary", True),
    "changes": lambda why: why.counterfactuals(limit=SHOWN),
    "counts": _counts,
    "text": str,
}
"""What is asked of each row, each time of an explanation made anew; the text has all kinds together."""


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    from quia.command.numbers import whole

    parser = subparsers.add_parser(
        "worlds",
        help="what it costs and gives to say what is possible",
        description="Asks the same questions about the same rows of learned trees without and with constraints, in"
        " turns, and prints the ratio of the CPU seconds, how long reasons are, how many, and which share of the advice"
        " is impossible, by an evaluator of its own on raw values; the command fails if advice with constraints is. Of"
        " adult and compas the constraints are those of their columns, of other trees what holds in all rows of the"
        " table.",
    )
    parser.add_argument("--data", metavar="DIR", help="trees/NAME/tree.j48.txt and train/NAME.csv.gz")
    parser.add_argument("--benchmark", metavar="NAME", action="append", help="only this tree; repeat it")
    parser.add_argument("--rows", metavar="N", type=whole, default=10, help="instances of each tree (default 10)")
    parser.add_argument(
        "--dice",
        metavar="N",
        type=whole,
        nargs="?",
        const=100,
        help="instead, DiCE beside quia on N (100) people of the adult table, in an environment of its own",
    )
    parser.add_argument("--environments", metavar="DIR", help="where DiCE is installed (default: quia's cache)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, check and print."""
    return _run_dice(arguments) if arguments.dice is not None else _run_trees(arguments)


def _run_dice(arguments: argparse.Namespace) -> int:
    from benchmarks import worlds_dice
    from benchmarks.arguments import DEFAULT_DATA, default_cache
    from benchmarks.models import find
    from benchmarks.widths_models import printed_by_weka

    folder = Path(arguments.data or DEFAULT_DATA)
    (benchmark,) = find(folder, ["adult"])
    where = Path(arguments.environments) if arguments.environments else default_cache() / "peers"
    measured = worlds_dice.measure(printed_by_weka(benchmark, folder), arguments.dice, where)
    write(worlds_dice.text(measured))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(measured, indent=1), "utf-8")
    told = next(r for r in measured["results"] if r["setting"] == "quia, told all")
    return 1 if told["impossible"] or told["partly"] or measured["trouble"] else 0


def _run_trees(arguments: argparse.Namespace) -> int:
    from benchmarks.arguments import DEFAULT_DATA
    from benchmarks.models import find
    from benchmarks.steps import Steps
    from benchmarks.widths_models import printed_by_weka
    from benchmarks.worlds_models import possible_of

    folder = Path(arguments.data or DEFAULT_DATA)
    trees = [each for each in find(folder, arguments.benchmark or ["trees"]) if each.kind == "tree"]
    results = []
    with Steps(len(trees)) as steps:
        for benchmark in trees:
            subject = printed_by_weka(benchmark, folder)
            results.append(measure(subject, possible_of(subject), arguments.rows))
            steps.step(on=benchmark.name)
    write(text(results))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"trees": results}, indent=1), "utf-8")
    broken = [fault for result in results for fault in result["broken"]]
    for fault in broken:
        write(f"IMPOSSIBLE: {fault}")
    return 1 if broken else 0


def measure(subject: Subject, possible: Possible, most: int) -> dict[str, Any]:
    """What the constraints cost and give over at most so many of a tree's rows."""
    from benchmarks.general_speed import cpu_seconds
    from benchmarks.worlds_models import rows_of
    from quia.explanation import explain

    asked = rows_of(subject, possible, most)
    others = [row for row in rows_of(subject, possible, most + NEW).rows if row not in asked.rows][:NEW]
    options: tuple[Mapping[str, Any], ...] = ({}, possible.options)
    explain(subject.classifier, asked.rows[0])  # the kernel is made on first use, once
    before = cpu_seconds(lambda: str(explain(subject.classifier, asked.rows[0])))
    first = cpu_seconds(lambda: str(explain(subject.classifier, asked.rows[0], **options[1])))
    seconds = {
        question: [_seconds(ask, subject, row, options) for row in asked.rows] for question, ask in QUESTIONS.items()
    }
    broken: list[str] = []
    forms = {
        form: _gains(subject, possible, asked.rows, options[form == "possible"], broken if form == "possible" else [])
        for form in ("all", "possible")
    }
    return {
        "name": subject.name.partition(",")[0],
        "nodes": len(subject.classifier),
        "rules": len(possible.rules),
        "bounds": len(possible.bounds) + len(possible.only_up) + len(possible.only_down),
        "rows": len(asked.rows),
        "left_out": asked.left_out,
        "first": max(first - before, 0.0),
        "questions": {question: _compared(found) for question, found in seconds.items()},
        "total": _compared([pair for found in seconds.values() for pair in found]),
        "new": _compared(_once(subject, others, options)),
        **forms,
        "broken": broken,
    }


def _seconds(
    ask: Callable[[Explanation], Any], subject: Subject, row: Any, options: Sequence[Mapping[str, Any]]
) -> tuple[float, ...]:
    """The CPU of one question about a row without and with constraints: in turns, the best of several."""
    from benchmarks.general_speed import cpu_seconds
    from quia.explanation import explain

    def answered(which: Mapping[str, Any]) -> Any:
        return ask(explain(subject.classifier, row, **which))

    runs = [[cpu_seconds(partial(answered, which)) for which in options] for _ in range(REPEATS)]
    return tuple(min(times) for times in zip(*runs, strict=True))


def _once(subject: Subject, rows: Sequence[Any], options: Sequence[Mapping[str, Any]]) -> list[tuple[float, ...]]:
    """The CPU of one question about each of some rows that were not asked about before: nothing of them is kept."""
    from benchmarks.general_speed import cpu_seconds
    from quia.explanation import explain

    def answered(ask: Callable[[Explanation], Any], row: Any, which: Mapping[str, Any]) -> Any:
        return ask(explain(subject.classifier, row, **which))

    return [
        tuple(cpu_seconds(partial(answered, ask, row, which)) for which in options)
        for row, ask in zip(rows, cycle(QUESTIONS.values()), strict=False)
    ]


def _compared(pairs: Sequence[tuple[float, ...]]) -> dict[str, float]:
    """Mean seconds without and with constraints, the ratio of the sums, and the median of the rows' ratios."""
    plain, possible = (fmean(times) for times in zip(*pairs, strict=True))
    ratios = [with_them / without for without, with_them in pairs]
    return {"plain": plain, "possible": possible, "ratio": possible / plain, "median": median(ratios)}


def _gains(
    subject: Subject, possible: Possible, rows: Sequence[Any], options: Mapping[str, Any], broken: list[str]
) -> dict[str, Any]:
    """How long and how many reasons are, and how much of the advice is possible."""
    from quia.explanation import explain

    lengths: dict[str, list[int]] = {"sufficient": [], "necessary": []}
    counts: dict[str, list[int]] = {"sufficient": [], "necessary": []}
    advice = impossible = partly = without = 0
    for row in rows:
        why = explain(subject.classifier, row, **options)
        for kind, found in lengths.items():
            shortest = getattr(why, f"{kind}_reasons")(shortest=True, limit=1)
            found += [len(reason) for reason in islice(shortest, 1)]
        for kind, count in zip(counts, _counts(why), strict=True):
            counts[kind] += [] if count is None else [count]
        changes = why.counterfactuals(limit=SHOWN)
        without += not changes
        for change in changes:
            share = possible.share_allowed(row, change.changes)
            advice += 1
            impossible += share == 0
            partly += 0 < share < 1
            if share < 1:
                broken.append(f"{subject.name}: {change}")
    return {
        **{f"{kind}_length": fmean(found) if found else None for kind, found in lengths.items()},
        **{f"{kind}_count": median(found) if found else None for kind, found in counts.items()},
        "advice": advice,
        "impossible": impossible,
        "partly": partly,
        "without_advice": without,
    }


def text(results: Sequence[dict[str, Any]]) -> str:
    """The costs, the gains, and how to read them."""
    return "\n".join([_costs(results), "", _gained(results)])


def _costs(results: Sequence[dict[str, Any]]) -> str:
    from benchmarks.general_speed import verdict
    from benchmarks.numbers import plain_table, ratio_text, seconds_text

    header = ["tree", "nodes", "rows", "rules", "bounds", *QUESTIONS, "all", "new rows"]
    header += [f"at most {MOST_RATIO:g}", "once"]
    rows = [
        [
            r["name"],
            f"{r['nodes']:,}",
            str(r["rows"]),
            str(r["rules"]),
            str(r["bounds"]),
            *(f"{ratio_text(q['ratio'])} ({ratio_text(q['median'])})" for q in r["questions"].values()),
            f"{ratio_text(r['total']['ratio'])} ({ratio_text(r['total']['median'])})",
            f"{ratio_text(r['new']['ratio'])} ({ratio_text(r['new']['median'])})",
            verdict(max(r["total"]["ratio"], r["new"]["ratio"]) <= MOST_RATIO),
            seconds_text(r["first"]),
        ]
        for r in results
    ]
    return "\n".join(
        [
            "CPU of the same questions about the same rows with constraints, as a multiple of that without: of the sums"
            " (median of the rows):",
            "",
            plain_table(header, rows),
            "",
            "Each question is asked of an explanation made anew, in turns without and with constraints, the best of"
            f" {REPEATS}: what is kept of a row helps its next question. `new rows` are {NEW} others, each asked one of"
            " these questions, once. `rules` tie two features, `bounds` are ranges and directions. `once`: what the"
            " first question takes more, as the constraints are read and put together with the tree.",
        ]
    )


def _gained(results: Sequence[dict[str, Any]]) -> str:
    from benchmarks.numbers import number_text, plain_table
    from benchmarks.widths import percent

    header = ["tree", "length of a shortest sufficient", "necessary", "sufficient reasons", "necessary reasons"]
    header += ["advice", "of it impossible", "in part", "with constraints", "impossible", "in part", "rows without any"]
    rows = []
    for r in results:
        free, tied = r["all"], r["possible"]
        lengths = [
            f"{number_text(free[k])} → {number_text(tied[k])}"
            for k in ("sufficient_length", "necessary_length", "sufficient_count", "necessary_count")
        ]
        advice = [
            cell
            for form in (free, tied)
            for cell in (
                str(form["advice"]),
                *(percent(form[k] / form["advice"] if form["advice"] else None) for k in ("impossible", "partly")),
            )
        ]
        rows.append([r["name"], *lengths, *advice, f"{free['without_advice']} → {tied['without_advice']}"])
    left_out = sum(r["left_out"] for r in results)
    return "\n".join(
        [
            plain_table(header, rows),
            "",
            "Without → with constraints: means of lengths, medians of counts. Advice are the nearest changes, at most"
            f" {SHOWN} for a row; it is impossible if nothing that it admits keeps all constraints, and so in part if"
            " something does and something does not, told on raw values by an evaluator that shares nothing with"
            f" quia's. {left_out} rows break a constraint themselves and are left out.",
        ]
    )
