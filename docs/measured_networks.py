"""The numbers of docs/evidence.md that are of Bayesian networks; see measured.py."""

from __future__ import annotations

from typing import Any

from measured_peers import filled, table

from benchmarks.algorithms import QUESTIONS
from benchmarks.networks import sentences
from benchmarks.networks import table as points_table
from benchmarks.networks_asked import CHOICE
from benchmarks.numbers import geometric_mean, number_text, ratio_text, seconds_text
from benchmarks.printed import printed
from benchmarks.summary import totals


def compiled(results: dict[str, Any]) -> str:
    """Graphs compiled here beside the paper's: how large, and what each question gives and takes."""
    rows = [["graph", "features", "nodes", "compiled in", "memory", *QUESTIONS]]
    summaries = {summary["name"]: summary for summary in results["summaries"]}
    shown: set[str] = set()
    for r in results["compiled"]:
        figures = printed(r["paper"]) if r["paper"] and r["paper"] not in shown else None
        if figures is not None:
            shown.add(r["paper"])
            theirs = [
                _cell(count, seconds, unfinished) for count, seconds, unfinished in (figures[q] for q in QUESTIONS)
            ]
            rows.append([f"*{r['paper']}, the paper's*", str(figures["nom"]), f"{figures['nodes']:,}", "", "", *theirs])
        rows.append(_row(r, summaries.get(r["benchmark"])))
    left = [f"{r['benchmark']} was not compiled: {r['fault']}." for r in results["compiled"] if r["fault"]]
    return f"{table(rows)}\n{filled(' '.join([_read(results), *left]))}"


def _row(r: dict[str, Any], summary: dict[str, Any] | None) -> list[str]:
    memory = "–" if "peak" not in r else f"{r['peak'] / 2**20:,.0f} MiB"
    if summary is None:
        seconds = f"not in {r['plan']['limit']:g} s of CPU"
        return [r["benchmark"], str(r["features"]), "–", seconds, memory, *["–"] * len(QUESTIONS)]
    of = [summary["kernel"][q] for q in QUESTIONS]
    ours = [_cell(float(q["every_count"]["mean"] or 0), q["every_time"]["mean"], q["unfinished"]) for q in of]
    return [r["benchmark"], str(r["features"]), f"{r['nodes']:,}", seconds_text(r["seconds"]), memory, *ours]


def _cell(count: float, seconds: float | None, unfinished: int) -> str:
    return f"{number_text(count)}, {seconds_text(seconds)}{f' ({unfinished} out)' if unfinished else ''}"


def _read(results: dict[str, Any]) -> str:
    whole, limit = totals(results["summaries"]), results["plan"]["limit"]
    checks = [r["check"] for r in results["compiled"] if "check" in r]
    compared, differing = (sum(check[key] for check in checks) for key in ("compared", "differing"))
    ratios = ", ".join(f"{q} {ratio_text(whole['questions'][q]['ratio'])}" for q in QUESTIONS)
    return (
        f"Means of counts and of CPU seconds over {whole['measured']:,} random instances, of the kernel, which has"
        f" {limit:g} s for each; `out` are those that did not finish. The paper's times are of its own machine. Of"
        f" {compared:,} sampled inputs {differing or 'none'} {'are' if differing > 1 else 'is'} decided otherwise than"
        f" by pyAgrum's posterior. On the instances that `paper.py` was asked about too, {whole['agree']:,} answers are"
        f" equal and {whole['differ']:,} differ, and it takes so many times as long as the kernel: {ratios}. {CHOICE}"
    )


def networks(results: dict[str, Any]) -> str:
    """Time, nodes and messages against features, beside rivals."""
    points = results["points"]
    made = [point for point in points if not point["quia"]["fault"]]
    said = [
        _beside(made, "pyagrum", "Deciding all inputs one by one"),
        _beside(made, "numpy", "One array of all inputs, then reduced,"),
    ]
    read = "\n\n".join(filled(line).strip() for line in (" ".join(said), *sentences(results).splitlines()))
    return f"{points_table(points)}\n\n{read}"


def _beside(made: list[dict[str, Any]], by: str, name: str) -> str:
    """How many times as long a rival takes as compiling: geometric means, and from which to which."""
    parts = []
    for low, high in ((1, 16), (17, 24), (25, 10**6)):
        of = [
            point[by]["seconds"] / point["quia"]["seconds"]
            for point in made
            if low <= point["features"] <= high and "seconds" in point[by]
        ]
        if of:
            features = f"up to {high}" if low == 1 else f"{low} to {high}" if high < 10**6 else f"{low} and more"
            between = f"{ratio_text(min(of))} to {ratio_text(max(of))}"
            parts.append(f"{ratio_text(geometric_mean(of))} with {features} features ({between})")
    return f"{name} takes this many times the time of compiling: {', '.join(parts)}." if parts else ""
