"""The numbers of docs/evidence.md that are of other tools; see measured.py."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.numbers import number_text, seconds_text

PEERS = ("quia", "PyXAI", "XpGraph")
ASKED = {
    "one sufficient": "one sufficient reason",
    "all sufficient": "all, listed",
    "count sufficient": "counted",
    "shortest sufficient": "shortest",
    "all necessary": "all necessary",
}


def peers(results: dict[str, Any]) -> str:
    """The tools that answer the same questions."""
    found = {(r["tree"], r["question"], r["tool"]): r for r in results["results"]}
    rows = [["tree", "question", *PEERS]]
    for tree in dict.fromkeys(r["tree"] for r in results["results"]):
        label = tree
        for question, words in ASKED.items():
            rows.append([label, words, *(_peer(found.get((tree, question, tool)), question) for tool in PEERS)])
            label = ""
    return table(rows)


def agreement(results: dict[str, Any]) -> str:
    """How the reasons of the tools that answer the same questions compare with quia's."""
    of = {tool: [r for r in results["results"] if r["tool"] == tool] for tool in PEERS}
    counted = [r for r in of["XpGraph"] if r["question"] != "one sufficient"]
    same, whole = (sum(r[key] for r in counted) for key in ("same_count", "whole"))
    theirs = {r["tree"]: r for r in of["PyXAI"] if r["question"] == "all sufficient" and r["checked"]}
    ours = {r["tree"]: number_text(r["count"]) for r in of["quia"] if r["question"] == "all sufficient"}
    wrong = sum(r["wrong"] for r in of["PyXAI"])
    more = [f"{round(100 * r['not_minimal'] / r['checked'])} % of those listed on {tree}" for tree, r in theirs.items()]
    medians = [f"{number_text(r['count'])} on {tree}, where quia has {ours[tree]}" for tree, r in theirs.items()]
    return filled(
        f"XpGraph speaks of features, as quia does, and shares no code with it: on {same} of the {whole} answers that"
        f" it finishes, its numbers of reasons are quia's. PyXAI speaks of threshold conditions. Of its reasons that"
        f" were checked {wrong or 'none'} fail; taken as sets of features, {listed(more)} are not minimal, and their"
        f" numbers differ (medians: {', '.join(medians)}), [as they must](which-reason.md#features-or-thresholds)."
    )


def others(results: dict[str, Any]) -> str:
    """The tools that answer other questions: what their answers are, taken for reasons."""
    trees = list(dict.fromkeys(r["tree"] for r in results["results"]))
    found = {(r["tree"], r["question"]): r for r in results["results"]}
    taken = {
        "top features": ("SHAP", "top features, as many as the shortest sufficient reason has, as a sufficient reason"),
        "all positive features": ("SHAP", "all features with a positive share, as a sufficient reason"),
        "one anchor": ("Anchors", "its rule's features, as a sufficient reason"),
        "one counterfactual": ("DiCE", "the features it changes, as a necessary reason"),
    }
    rows = [["tool", "answer, taken as", *trees]]
    rows += [[tool, words, *(_taken(found.get((tree, q))) for tree in trees)] for q, (tool, words) in taken.items()]
    times = [", ".join(_seconds(found.get((tree, q))) for q in taken if q != "all positive features") for tree in trees]
    return table([*rows, ["CPU time an answer", "SHAP, Anchors, DiCE", *times]])


def _peer(result: dict[str, Any] | None, question: str) -> str:
    """A mean time, the wall's too where the tool works in other processes, and how many answers were whole."""
    if result is None or not result["answered"]:
        return "–"
    text = seconds_text(result["seconds"])
    if result["wall"] > 3 * result["seconds"]:
        text += f" ({seconds_text(result['wall'])} wall)"
    whole = result["answered"] if question == "one sufficient" else result["whole"]
    return text + (f", {whole} of {result['asked']}" if whole < result["asked"] else "")


def _taken(result: dict[str, Any] | None) -> str:
    if result is None or not result["checked"]:
        return "not finished"
    wrong, more = (round(100 * result[key] / result["checked"]) for key in ("wrong", "not_minimal"))
    verb = "force" if result["kind"] == "sufficient" else "change"
    return f"{wrong} % do not {verb} the decision, {more} % are more than needed"


def _seconds(result: dict[str, Any] | None) -> str:
    return "–" if result is None else seconds_text(result["seconds"])


def listed(words: Iterable[str]) -> str:
    """Words as a sentence lists them."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def filled(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in Markdown, the first of them the header."""
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body]) + "\n"
