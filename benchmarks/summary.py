"""The table as numbers: what each engine did on each benchmark, averaged as the paper averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.algorithms import QUESTIONS
from benchmarks.numbers import geometric_mean, spread
from benchmarks.printed import printed

PARTNER = {"SR": "SSR", "SSR": "SR", "NR": "SNR", "SNR": "NR"}
"""The paper averages over the instances that both SR and SSR, respectively NR and SNR, finish."""


def summarise(records: Sequence[dict[str, Any]], kinds: dict[str, str]) -> list[dict[str, Any]]:
    """One entry a benchmark, in the given order."""
    return [
        _summary(name, kind, [r for r in records if r["benchmark"] == name])
        for name, kind in kinds.items()
        if any(r["benchmark"] == name for r in records)
    ]


def _summary(name: str, kind: str, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    instances = sorted((r for r in records if r["what"] == "instance"), key=lambda r: r["row"])
    compared = [r for r in instances if "paper" in r]
    about = next(r for r in records if r["what"] == "about")
    batch = next((r for r in records if r["what"] == "batch"), None)
    return {
        "name": name,
        "kind": kind,
        **{k: v for k, v in about.items() if k not in ("benchmark", "what", "row")},
        "measured": len(instances),
        "compared": len(compared),
        "differ": sum(len(r["differ"]) for r in compared),
        "agree": sum(_both_finish(r, q) for r in compared for q in QUESTIONS) - sum(len(r["differ"]) for r in compared),
        "complete_reason": spread([r["complete_reason"] for r in compared])["mean"],
        "printed": printed(name) if kind == "tree" else None,
        "paper": {q: _paper(compared, q) for q in QUESTIONS},
        "kernel": {q: _kernel(instances, compared, q) for q in QUESTIONS},
        "batch": None if batch is None else {q: batch[q] for q in QUESTIONS},
    }


def _both_finish(record: dict[str, Any], question: str) -> bool:
    return record["paper"][question][0] is not None and record["kernel"][question][0] is not None


def _averaged(compared: Sequence[dict[str, Any]], question: str) -> list[dict[str, Any]]:
    """The instances that the paper would average over."""
    return [r for r in compared if all(r["paper"][q][0] is not None for q in (question, PARTNER[question]))]


def _paper(compared: Sequence[dict[str, Any]], question: str) -> dict[str, Any]:
    averaged = [r["paper"][question] for r in _averaged(compared, question)]
    return {
        "averaged": len(averaged),
        "count": spread([count for count, _ in averaged]),
        "time": spread([seconds for _, seconds in averaged]),
        "unfinished": sum(r["paper"][question][0] is None for r in compared),
    }


def _kernel(instances: Sequence[dict[str, Any]], compared: Sequence[dict[str, Any]], question: str) -> dict[str, Any]:
    """Over the instances that paper.py's row averages over, with all reasons listed; then over all of them."""
    same = [r["kernel"][question] for r in _averaged(compared, question) if r["kernel"][question][0] is not None]
    every = [r["kernel"][question] for r in instances]
    finished = [answer for answer in every if answer[0] is not None]
    # A count is no match for a list: where the kernel only counted, there is no ratio.
    both = [r for r in compared if _both_finish(r, question) and r["kernel"][question][2] is not None]
    theirs = sum(r["paper"][question][1] for r in both)
    ours = sum(_listed(r["kernel"][question]) for r in both)
    return {
        "averaged": len(same),
        "count": spread([count for count, _, _ in same]),
        "time": spread([_listed(answer) for answer in same]),
        "unfinished": len(every) - len(finished),
        "every_count": _exact_spread([count for count, _, _ in finished]),
        "every_time": spread([seconds for _, seconds, _ in finished]),
        "ratio": theirs / ours if ours else None,
    }


def _listed(answer: Sequence[Any]) -> float:
    _, seconds, listed = answer
    return float(seconds if listed is None else listed)


def _exact_spread(counts: Sequence[int]) -> dict[str, Any]:
    """Median and maximum of counts that may be beyond any float."""
    ordered = sorted(counts)
    if not ordered:
        return {"mean": None, "median": None, "max": None}
    total = sum(ordered)
    mean: float = total / len(ordered) if total < 10**300 else total // len(ordered)
    return {"mean": mean, "median": ordered[len(ordered) // 2], "max": ordered[-1]}


def totals(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the whole table says: unfinished answers, exact counts, agreement and ratios."""
    measured = sum(s["measured"] for s in summaries)
    return {
        "benchmarks": len(summaries),
        "measured": measured,
        "compared": sum(s["compared"] for s in summaries),
        "differ": sum(s["differ"] for s in summaries),
        "agree": sum(s["agree"] for s in summaries),
        "questions": {
            q: {
                "paper_unfinished": sum(s["paper"][q]["unfinished"] for s in summaries),
                "kernel_unfinished": sum(s["kernel"][q]["unfinished"] for s in summaries),
                "ratio": geometric_mean(s["kernel"][q]["ratio"] or 0 for s in summaries),
                "most": max((s["kernel"][q]["every_count"]["max"] or 0 for s in summaries), default=0),
                "slowest": max((s["kernel"][q]["every_time"]["max"] or 0 for s in summaries), default=0),
            }
            for q in QUESTIONS
        },
        "exact": 1 - sum(s["kernel"]["SR"]["unfinished"] for s in summaries) / measured if measured else None,
    }
