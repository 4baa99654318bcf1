"""The numbers of docs/evidence.md that are of forests and boosted trees; see measured.py."""

from __future__ import annotations

from typing import Any

from measured_peers import filled, listed, table

from benchmarks.ensembles_models import PREDICTED
from benchmarks.numbers import number_text, ratio_text, seconds_text

ASKED = {"one sufficient": "one sufficient reason", "one nearest change": "one nearest change"}


def published(results: dict[str, Any]) -> str:
    """Boosted trees with published times: the slowest five there, then all."""
    of = results["xreason"]
    head = ["model", "features", "trees", "instances", "a reason: median", "most", "MaxSAT, published: mean"]
    rows = [[*head, "SMT, published: mean", "length", "MaxSAT's"]]
    for r in sorted(of, key=lambda r: -r["maxsat"] / r["rows"])[:6]:
        cells = [str(r["features"]), str(r["trees"]), str(r["rows"]), seconds_text(r["median"]), seconds_text(r["max"])]
        means = [seconds_text(r[other] / r["rows"]) for other in ("maxsat", "smt")]
        rows.append([r["name"], *cells, *means, number_text(r["length"]), number_text(r["maxsat_length"])])
    sums = {key: sum(r[key] for r in of) for key in ("rows", "total", "maxsat", "smt", "shorter", "longer")}
    checks = {key: sum(r[key] for r in of) for key in ("minimal", "checked", "undecided")}
    refuted = sum(len(r["refuted"]) for r in of)
    least = [r for r in of if r["shortest"]]
    finished, asked = sum(r["shortest"]["finished"] for r in least), sum(r["rows"] for r in least)
    slow = max(least, key=lambda r: r["shortest"]["median"], default=None)
    text = (
        f"The {len(rows) - 1} of {len(of)} models that took MaxSAT longest. All {sums['rows']:,} instances together:"
        f" {seconds_text(sums['total'])} of CPU here, {sums['maxsat']:,.0f} s by MaxSAT and {sums['smt']:,.0f} s by SMT"
        f" as published, {_order(sums['maxsat'] / sums['total'])} and {_order(sums['smt'] / sums['total'])} times as"
        " much; on other hardware, so that only the order of magnitude counts."
        f" {sums['shorter']:,} reasons are shorter than MaxSAT's, {sums['longer']:,} longer. {checks['minimal']:,} are"
        f" proved minimal; `quia.verify`, by a search that shares nothing with the one that found them, confirms"
        f" {checks['checked']:,}, refutes {refuted or 'none'} and leaves {checks['undecided'] or 'none'} undecided."
    )
    if slow is not None:
        text += (
            f" The shortest reasons are known in time for {finished:,} of {asked:,} instances of the models with at"
            f" most 21 features, in the median after {seconds_text(min(r['shortest']['median'] for r in least))} to"
            f" {seconds_text(slow['shortest']['median'])} ({slow['name']})."
        )
    return f"{table(rows)}\n{filled(text)}"


def forests(results: dict[str, Any]) -> str:
    """Models as people make them: what one reason costs, beside the library's own predictions."""
    of = results["models"]["one"]
    head = ["model", "leaves", "a reason: median", "90 % within", "most", "features in it", "proved minimal"]
    rows = [[*head, f"median / the library's `predict` of {PREDICTED:,} rows"]]
    for r in of:
        times = [seconds_text(r[key]) for key in ("median", "p90", "max")]
        minimal = f"{r['minimal']} of {r['rows']} in {r['limit']:g} s"
        ratio = ratio_text(r["median"] / r["predict"])
        rows.append([r["name"], f"{r['leaves']:,}", *times, number_text(r["length"]), minimal, ratio])
    checks = {key: sum(r[key] for r in of) for key in ("rows", "checked", "undecided")}
    refuted = sum(len(r["refuted"]) for r in of)
    text = (
        f"Of {checks['rows']:,} reasons `quia.verify` confirms {checks['checked']:,} and leaves"
        f" {checks['undecided']:,} undecided in its time, the others were not proved minimal;"
        f" {refuted or 'none'} is refuted, by it or by the library's own decisions on {PREDICTED:,} rows"
        " with the reason's values put in."
    )
    for r in results["models"]["all"]:
        text += (
            f" All reasons of both kinds, {r['name']}: {r['complete']} of {r['rows']} rows complete in {r['limit']:g}"
            f" s, {seconds_text(r['median'])} of CPU in the median."
        )
    if (m := results.get("memory")) is not None:
        text += (
            f" A forest of {m['leaves']:,} leaves is loaded in {seconds_text(m['load'])} of CPU; loading and explaining"
            f" take {m['explained'] / 2**20:,.0f} MiB at most, {m['before'] / 2**20:,.0f} of them scikit-learn's, with"
            " its forest, before."
        )
    return f"{table(rows)}\n{filled(text)}"


def rivals(results: dict[str, Any]) -> str:
    """PyXAI on the same models in one run."""
    of = results["peers"]["results"]
    head = ["model", "question", "quia", "PyXAI", "PyXAI / quia", "features: quia", "PyXAI"]
    rows = [[*head, "PyXAI's that are wrong for the library's decision", "wrong by votes of trees"]]
    for r in of:
        times = [_within(r, "own_median", "answered"), _within(r, "other_median", "other_answered")]
        times.append(ratio_text(r["ratio"]))
        lengths = [number_text(r["length"]), number_text(r["other_length"])]
        votes = "–" if r["wrong_by_votes"] is None else str(r["wrong_by_votes"])
        wrong = f"{r['wrong']} of {r['other_answered']}"
        rows.append([r["name"], ASKED[r["question"]], *times, *lengths, wrong, votes])
    minimal = [f"{r['not minimal']} of {r['other_answered']} ({r['name']}, {ASKED[r['question']]})" for r in of]
    undecided = sum(r["undecided"] for r in of)
    text = (
        f"Medians of CPU over {max((r['rows'] for r in of), default=0)} rows of each model, the solvers that PyXAI"
        f" starts included; `3 of 6` is how many were answered in time, where not all were: the"
        " others count with the time they had. Not minimal as sets of"
        f" features: {listed(minimal)}; {undecided or 'none'} of its answers"
        " left undecided."
    )
    return f"{table(rows)}\n{filled(text)}"


def _within(result: dict[str, Any], median: str, answered: str) -> str:
    """A median, and how many rows were answered, if not all."""
    some = "" if result[answered] == result["rows"] else f", {result[answered]} of {result['rows']}"
    return f"{seconds_text(result[median])}{some}"


def _order(ratio: float) -> str:
    """A ratio between machines, with two digits: it is an order of magnitude."""
    return f"{float(f'{ratio:.2g}'):,.0f}"
