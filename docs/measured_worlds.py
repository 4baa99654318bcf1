"""The numbers of docs/evidence.md that are of possible worlds; see measured.py."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from measured_peers import filled, listed, table

from benchmarks.numbers import number_text, seconds_text
from benchmarks.worlds import MOST_RATIO, QUESTIONS


def costs(results: dict[str, Any]) -> str:
    """What constraints cost: ratios of CPU seconds, question by question."""
    of = results["trees"]
    rows = [["tree", "nodes", "constraints, bounds", *QUESTIONS, "all", "new rows", "once"]]
    for r in of:
        measured = [*(r["questions"][question] for question in QUESTIONS), r["total"], r["new"]]
        said = [f"{r['nodes']:,}", f"{r['rules']}, {r['bounds']}", *(f"{each['ratio']:.1f}" for each in measured)]
        rows.append([r["name"], *said, seconds_text(r["first"])])
    over = [r["name"] for r in of if max(r["total"]["ratio"], r["new"]["ratio"]) > MOST_RATIO]
    kept = f"With constraints it takes at most {MOST_RATIO:g} times as long on {len(of) - len(over)} of {len(of)} trees"
    text = (
        f"{kept}{f', and longer on {listed(over)}' if over else ''}. Over {max(r['rows'] for r in of)} rows of each"
        " tree, the best of several runs, so that what is kept of a row counts; `new rows` are asked about once, each"
        " one question. `once` is what the first question takes more, as constraints are read and put together with the"
        " tree."
    )
    return f"{table(rows)}\n{filled(text)}"


def gains(results: dict[str, Any]) -> str:
    """What constraints give: shorter reasons, and no impossible advice."""
    head = ["tree", "features in a shortest sufficient reason", "sufficient reasons", "necessary reasons"]
    rows = [[*head, "pieces of advice", "of them impossible", "impossible in part"]]
    for r in results["trees"]:
        free, tied = r["all"], r["possible"]
        both = [
            f"{number_text(free[key])} → {number_text(tied[key])}"
            for key in ("sufficient_length", "sufficient_count", "necessary_count")
        ]
        shares = [f"{_share(free, key)} → {_share(tied, key)}" for key in ("impossible", "partly")]
        rows.append([r["name"], *both, f"{free['advice']} → {tied['advice']}", *shares])
    of = results["trees"]
    lengths = [fmean(r[form]["sufficient_length"] for r in of) for form in ("all", "possible")]
    broken = sum(len(r["broken"]) for r in of)
    text = (
        "Without → with constraints: means of lengths, medians of counts. Advice are the nearest changes, at most 10"
        " for a row; it is impossible if nothing that it admits keeps the constraints, and in part if some of it does"
        " not, told on raw values by an evaluator that shares nothing with quia's. With constraints"
        f" {broken or 'none'} is. The shortest sufficient reasons have {lengths[0]:.1f} features without them and"
        f" {lengths[1]:.1f} with them, on average over the trees."
    )
    return f"{table(rows)}\n{filled(text)}"


def advice(results: dict[str, Any]) -> str:
    """DiCE and quia on people whom a tree denies."""
    rows = [
        ["tool", "is told", "advice", "impossible", "features that change", "CPU", "people without possible advice"]
    ]
    for r in results["results"]:
        impossible = _share(r, "impossible") + (f", {_share(r, 'partly')} in part" if r["partly"] else "")
        cells = [str(r["advice"]), impossible, number_text(r["length"]), seconds_text(r["seconds"])]
        rows.append([r["setting"], r["told"], *cells, f"{r['none_possible']} of {results['people']}"])
    text = (
        f"{results['people']} people of the adult table whom its tree denies, at most 4 pieces of advice for each;"
        " means of features and of CPU seconds."
    )
    return f"{table(rows)}\n{filled(text)}"


def _share(counts: dict[str, Any], key: str) -> str:
    """A share of the advice in percent; what is some is no less than 1, and what is not all at most 99."""
    if not counts["advice"]:
        return "–"
    share = 100 * counts[key] / counts["advice"]
    return f"{share:.0f} %" if share in (0, 100) else f"{min(max(round(share), 1), 99)} %"
