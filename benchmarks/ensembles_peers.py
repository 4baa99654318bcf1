"""PyXAI and quia on the same forests and boosted trees in one run, its answers checked against the models.

PyXAI lets each tree of a forest vote for one class, where scikit-learn adds up the shares of the classes in the leaves;
where the two decide differently, its reason is that of another decision.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any, Literal

from benchmarks.ensembles_models import Data, learned
from benchmarks.environments import environment
from benchmarks.peers import PEERS
from quia.classifier import Classifier
from quia.errors import Refuted, Undecided
from quia.explanation import explain
from quia.load import load
from quia.reason import Kind
from quia.verify import verify

TABLES = ("compas", "spambase")
MODELS = ("forest 100x6", "XGBoost 100x6")
KIND: dict[str, Kind] = {
    "one sufficient": "sufficient",
    "one nearest change": "necessary",
}
"""What an answer claims to be."""


def measure(
    folder: Path, environments: Path, rows: int, limit: float, check_limit: float, tables: Sequence[str] | None = None
) -> dict[str, Any]:
    """quia's and PyXAI's answers on some rows of each model; a note if PyXAI cannot be had."""
    name, packages = PEERS["pyxai"]
    try:
        python = environment(environments / "pyxai", packages)
    except RuntimeError as fault:
        return {"results": [], "notes": [f"{name} could not be installed: {fault}"]}
    results, notes = [], []
    for data, recipe, model in learned(folder, tables or TABLES, MODELS):
        classifier = load(model)
        chosen = [row for _, row in data.chosen(rows)]
        decisions = [int(d) for d in model.predict(chosen)]
        votes = load(voting(model)) if hasattr(model, "estimators_") else None
        with TemporaryDirectory() as scratch:
            job = job_of(data, model, chosen, limit, Path(scratch))
            answers, trouble = ask(python, job, Path(scratch), limit)
        if trouble:
            notes.append(f"{name} on {data.name}, {recipe.name}: {trouble}")
        for question in dict.fromkeys(a["question"] for a in answers):
            own = own_answers(classifier, chosen, question, limit)
            theirs = [a for a in answers if a["question"] == question]
            result = {"name": f"{data.name}, {recipe.name}", "question": question}
            result |= compared(classifier, chosen, decisions, own, theirs, KIND[question], check_limit)
            results.append(
                result | {"wrong_by_votes": wrong_by_votes(votes, chosen, theirs, KIND[question], check_limit)}
            )
    return {"results": results, "notes": notes}


def job_of(data: Data, model: Any, rows: Sequence[Any], limit: float, scratch: Path) -> dict[str, Any]:
    """What PyXAI's runner reads."""
    job: dict[str, Any] = {"features": data.columns, "rows": [row.tolist() for row in rows], "limit": limit}
    if hasattr(model, "estimators_"):
        return job | {"kind": "forest", "trees": [tree_of(each.tree_) for each in model.estimators_]}
    file = scratch / "model.json"
    model.save_model(file)
    return job | {"kind": "boosted", "model": str(file)}


def tree_of(tree: Any) -> dict[str, list[Any]]:
    """One tree of a forest as arrays of nodes, the class with the greatest share as its label."""
    return {
        "variable": tree.feature.tolist(),
        "threshold": tree.threshold.tolist(),
        "left": tree.children_left.tolist(),
        "right": tree.children_right.tolist(),
        "label": tree.value[:, 0, :].argmax(axis=1).tolist(),
    }


def voting(forest: Any) -> Any:
    """The forest in which each tree has one vote, as PyXAI reads it."""
    import numpy as np

    twin = deepcopy(forest)
    for each in twin.estimators_:
        shares = each.tree_.value[:, 0, :]  # a view of the tree's own memory
        shares[...] = np.eye(shares.shape[1])[shares.argmax(axis=1)]
    return twin


def wrong_by_votes(
    votes: Classifier | None, rows: Sequence[Any], theirs: Sequence[dict[str, Any]], kind: Kind, check_limit: float
) -> int | None:
    """How many answers are wrong even where each tree has one vote; None of what is no forest."""
    if votes is None:
        return None
    given = [a for a in theirs if a["count"]]
    return sum(check(votes, rows[a["row"]], a["reasons"][0], kind, check_limit) == "wrong" for a in given)


def ask(python: Path, job: dict[str, Any], scratch: Path, limit: float) -> tuple[list[dict[str, Any]], str | None]:
    """PyXAI's answers, and what went wrong if it did not get to the end."""
    file, answers = scratch / "job.json", scratch / "answers.jsonl"
    file.write_text(json.dumps(job), "utf-8")
    runner = Path(__file__).parent / "peer" / "runner.py"
    command = [str(python), str(runner), "pyxai_ensemble", str(file), str(answers)]
    patience = 300 + 2 * (len(job["rows"]) + 1) * (limit + 2)
    fault = None
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=patience, cwd=scratch
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            fault = said[-1] if said else "it ended early"
    except subprocess.TimeoutExpired:
        fault = f"it did not end within {patience:.0f} s"
    lines = answers.read_text("utf-8").splitlines() if answers.exists() else []
    return [json.loads(line) for line in lines], fault


def own_answers(classifier: Classifier, rows: Sequence[Any], question: str, limit: float) -> list[dict[str, Any]]:
    """quia's answers to the same question, by its public functions."""

    def asked(row: Any) -> Any:
        why = explain(classifier, row)
        if KIND[question] == "sufficient":
            return next(iter(why.sufficient_reasons(limit=1, timeout=limit)), None)
        changes = why.necessary_reasons(shortest=True, limit=1, timeout=limit)
        return next(iter(changes), None) if changes.found else None

    asked(rows[0])  # what is made on first use is not in the time, as for the other
    found = []
    for row in rows:
        started = time.process_time()
        reason = asked(row)
        seconds = time.process_time() - started
        whole = reason is not None and reason.is_minimal
        found.append({"seconds": seconds, "length": len(reason) if whole else None})
    return found


def compared(
    classifier: Classifier,
    rows: Sequence[Any],
    decisions: Sequence[int],
    own: Sequence[dict[str, Any]],
    theirs: Sequence[dict[str, Any]],
    kind: Kind,
    check_limit: float,
) -> dict[str, Any]:
    """Both tools' times and lengths, and what is wrong with the other's answers as sets of features."""
    given = [a for a in theirs if a["count"]]
    outcomes = [check(classifier, rows[a["row"]], a["reasons"][0], kind, check_limit) for a in given]
    ours = [a["length"] for a in own if a["length"] is not None]
    times = {"own": median(a["seconds"] for a in own), "other": median(a["seconds"] for a in theirs)}
    return {
        "rows": len(rows),
        "answered": len(ours),
        "other_answered": len(given),
        **{f"{who}_median": seconds for who, seconds in times.items()},
        "own_max": max(a["seconds"] for a in own),
        "other_max": max(a["seconds"] for a in theirs),
        "ratio": times["other"] / times["own"],
        "length": fmean(ours) if ours else None,
        "other_length": fmean(len(a["reasons"][0]) for a in given) if given else None,
        "other_literals": fmean(a["literals"] for a in given) if given else None,
        "other_decision": sum(a["decision"] != decisions[a["row"]] for a in given),
        **{what: outcomes.count(what) for what in ("right", "not minimal", "wrong", "undecided")},
        "faults": sorted({a["fault"] for a in theirs if a.get("fault")}),
    }


def check(
    classifier: Classifier, row: Any, features: Sequence[int], kind: Kind, limit: float
) -> Literal["right", "not minimal", "wrong", "undecided"]:
    """What quia.verify says of a set of features, for what the model itself decides."""
    names = [classifier.variables[k].name for k in features]
    try:
        verify(classifier, row, names, kind, timeout=limit)
    except Refuted as refuted:
        return "not minimal" if "is not minimal" in str(refuted) else "wrong"
    except Undecided:
        return "undecided"
    return "right"


def text(numbers: dict[str, Any]) -> str:
    """All lines, and how to read them."""
    from benchmarks.numbers import number_text, plain_table, ratio_text, seconds_text

    header = [
        "model",
        "question",
        "quia: median",
        "max",
        "PyXAI: median",
        "max",
        "PyXAI / quia",
        "answered",
        "features",
    ]
    header += ["PyXAI answered", "features", "literals", "other decision", "wrong", "wrong by votes", "not minimal"]
    header += ["undecided"]
    body = [
        [
            r["name"],
            r["question"],
            seconds_text(r["own_median"]),
            seconds_text(r["own_max"]),
            seconds_text(r["other_median"]),
            seconds_text(r["other_max"]),
            ratio_text(r["ratio"]),
            f"{r['answered']} of {r['rows']}",
            number_text(r["length"]),
            f"{r['other_answered']} of {r['rows']}",
            number_text(r["other_length"]),
            number_text(r["other_literals"]),
            str(r["other_decision"]),
            str(r["wrong"]),
            "–" if r["wrong_by_votes"] is None else str(r["wrong_by_votes"]),
            str(r["not minimal"]),
            str(r["undecided"]),
        ]
        for r in numbers["results"]
    ]
    faults = [f"PyXAI on {r['name']}, {r['question']}: {fault}" for r in numbers["results"] for fault in r["faults"]]
    return "\n".join(
        [
            *([plain_table(header, body), ""] if body else []),
            "CPU seconds of each tool's own calls after a first one that is not counted, the solvers that PyXAI starts"
            " included; no clock is in its loops. Its answers are checked with quia.verify as sets of features, for"
            " what the library that made the model predicts: `other decision` where PyXAI's votes of trees give another"
            " class than scikit-learn's sums of shares, `wrong` where the features do not force the library's decision,"
            " or changing them alone never changes it, `wrong by votes` where this is so even if each tree has one"
            " vote. PyXAI's reasons are sets of threshold literals, so that its sets of features need not be minimal,"
            " and its nearest change is that of fewest literals, quia's of fewest features. Of boosted trees it gives"
            " tree-specific reasons, which are sufficient but need not be minimal.",
            *(f"\n- {note}" for note in [*numbers["notes"], *faults]),
        ]
    )
