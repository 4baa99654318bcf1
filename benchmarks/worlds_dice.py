"""DiCE beside quia on people whom a tree denies: how much of either's advice is impossible.

DiCE is told all that it can be told: which features may vary, and between which numbers, for each person. It cannot be
told what ties two features. Its counterfactuals and quia's are tried by the same evaluator on raw values.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchmarks.worlds_models import ADULT

if TYPE_CHECKING:
    from benchmarks.widths_models import Subject

WANTED = 4
"""Counterfactuals of one person, as DiCE is asked for."""
LIMIT = 60.0
"""Seconds for an answer."""
MOST_BACKGROUND = 10_000
DENIED, GRANTED = "<=50K", ">50K"
FIXED = ("fnlwgt", "race", "sex", "native-country", "capital-gain", "capital-loss")
"""What nobody can change, or nobody can decide to change."""
TIED = ("education", "education-num", "marital-status", "relationship")
"""What constraints tie, beside what is fixed."""
PERSON = {
    "age": 34,
    "workclass": "Private",
    "fnlwgt": 180000,
    "education": "HS-grad",
    "education-num": 9,
    "marital-status": "Married-civ-spouse",
    "occupation": "Adm-clerical",
    "relationship": "Wife",
    "race": "White",
    "sex": "Female",
    "capital-gain": 0,
    "capital-loss": 0,
    "hours-per-week": 45,
    "native-country": "United-States",
}
"""Made up, and no row of any table."""
SETTINGS = {
    "DiCE": "nothing said",
    "DiCE, told what it can be": "what may vary, and between which numbers, for each person",
    "DiCE, tied features fixed": "the same, and no feature that a constraint ties may vary",
}
OWN = {"quia": "nothing said", "quia, told all": "what is fixed, what can only rise, and the constraints"}


@dataclass(frozen=True, eq=False)
class Job:
    """What DiCE's runner is given: a tree, rows, and what it is told of each."""

    name: str
    subject: Subject
    instances: list[dict[str, Any]]

    def tree(self) -> dict[str, Any]:
        """The tree as plain data, each node with the child of each state, children first."""
        graph = self.subject.classifier
        return {
            "variables": [_variable(variable) for variable in graph.variables],
            "nodes": [_node(graph, node) for node in graph.nodes],
            "classes": list(graph.classes),
        }

    def job(self, limit: float) -> dict[str, Any]:
        """The tree, a table to draw from, the rows, and what is said of them."""
        from benchmarks.kernel import spread_out

        graph = self.subject.classifier
        names = [variable.name for variable in graph.variables]
        known = [row for row in self.subject.reference.to_pylist() if not any(row[x] in (None, "?") for x in names)]
        free = [x for x in names if x not in FIXED]
        return {
            **self.tree(),
            "background": [[known[k][x] for x in names] for k in spread_out(len(known), MOST_BACKGROUND)],
            "rows": [{"row": [row[x] for x in names], "ranges": _ranges(row, known)} for row in self.instances],
            "settings": dict(
                zip(
                    SETTINGS,
                    (
                        {"ranges": False, "vary": None},
                        {"ranges": True, "vary": free},
                        {"ranges": True, "vary": [x for x in free if x not in TIED]},
                    ),
                    strict=True,
                )
            ),
            "limit": limit,
        }


def _variable(variable: Any) -> dict[str, Any]:
    if variable.is_numeric:
        return {"name": variable.name, "cuts": [[cut.threshold, cut.after] for cut in variable.cuts]}
    return {"name": variable.name, "labels": list(variable.labels)}


def _node(graph: Any, node: Any) -> dict[str, Any]:
    test, label, edges = node
    if test < 0:
        return {"variable": -1, "label": int(label), "children": []}
    children = [0] * graph.variables[test].size
    for ranges, child in edges:
        for low, high in ranges:
            children[low : high + 1] = [int(child)] * (high + 1 - low)
    return {"variable": int(test), "label": -1, "children": children}


def _ranges(row: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """What can only rise, from what it is to the most that there is in the table."""
    return {x: [float(row[x]), max(float(row[x]), *(float(k[x]) for k in known))] for x in ADULT.only_up}


def measure(subject: Subject, most: int, environments: Path) -> dict[str, Any]:
    """The advice of both on at most so many people who are denied, and on one who is made up."""
    from benchmarks.environments import environment
    from benchmarks.peers import PEERS, ask
    from benchmarks.worlds_models import rows_of

    graph = subject.classifier
    denied = [row for row in rows_of(subject, ADULT, len(subject.instances)).rows if graph.classify(row) == DENIED]
    rows: list[dict[str, Any]] = [{**PERSON}, *denied[:: max(len(denied) // most, 1)][:most]]
    assert graph.classify(PERSON) == DENIED
    python = environment(environments / "dice", PEERS["dice"][1])
    with tempfile.TemporaryDirectory() as folder:
        answers, trouble = ask(python, "dice_worlds", Job("adult", subject, rows), LIMIT, Path(folder))
    names = [variable.name for variable in graph.variables]
    results = []
    for setting in SETTINGS:
        mine = [a for a in answers if a["question"] == setting]
        advice = [
            [_changes(rows[a["row"]], dict(zip(names, changed, strict=True))) for changed in a.get("changed", ())]
            for a in mine
        ]
        people = [rows[a["row"]] for a in mine]
        shares = [
            [float(ADULT.allows_change(row, c)) for c in given] for row, given in zip(people, advice, strict=True)
        ]
        lengths = [len(change) for given in advice[1:] for change in given]
        shown = [_said(rows[0], change) for change in (advice[0] if advice else [])]
        results.append(_line(setting, [a["seconds"] for a in mine], shares, lengths, shown))
    results += [_own(subject, rows, name) for name in OWN]
    return {"people": len(rows) - 1, "person": PERSON, "results": results, "trouble": trouble}


def _changes(row: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    return {x: value for x, value in changed.items() if not _same(row[x], value)}


def _same(value: Any, other: Any) -> bool:
    return float(value) == other if isinstance(other, float) else str(value) == other


def _said(row: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    parts = [f"{x}={value:g}" if isinstance(value, float) else f"{x}={value}" for x, value in change.items()]
    return f"{', '.join(parts)}: {'possible' if ADULT.allows_change(row, change) else 'IMPOSSIBLE'}"


def _own(subject: Subject, rows: Sequence[Mapping[str, Any]], setting: str) -> dict[str, Any]:
    """quia's advice, in regions: of each, the share of its points that is possible."""
    from quia.explanation import explain

    options: dict[str, Any] = {} if setting == "quia" else {**ADULT.options, "frozen": FIXED}
    explain(subject.classifier, rows[0], **options).counterfactuals()  # as the other's first answer, not counted
    seconds, shares, lengths = [], [], []
    for row in rows:
        started = time.process_time()
        found = explain(subject.classifier, row, **options).counterfactuals(limit=WANTED)
        seconds.append(time.process_time() - started)
        shares.append([ADULT.share_allowed(row, change.changes) for change in found])
        lengths += [len(change.changes) for change in found]
    first = explain(subject.classifier, rows[0], **options).counterfactuals(limit=WANTED)
    words = {0.0: "IMPOSSIBLE", 1.0: "possible"}
    shown = [f"{c.text}: {words.get(share, 'in part')}" for c, share in zip(first, shares[0], strict=True)]
    return _line(setting, seconds, shares, lengths, shown)


def _line(
    setting: str,
    seconds: Sequence[float],
    shares: Sequence[Sequence[float]],
    lengths: Sequence[int],
    shown: Sequence[str],
) -> dict[str, Any]:
    """The numbers of all but the first, who is made up and whose advice is shown."""
    every = [share for of_row in shares[1:] for share in of_row]
    return {
        "setting": setting,
        "told": {**SETTINGS, **OWN}[setting],
        "advice": len(every),
        "impossible": sum(share == 0 for share in every),
        "partly": sum(0 < share < 1 for share in every),
        "without": sum(not of_row for of_row in shares[1:]),
        "none_possible": sum(not any(of_row) for of_row in shares[1:]),
        "length": fmean(lengths) if lengths else None,
        "seconds": fmean(seconds[1:]) if len(seconds) > 1 else None,
        "shown": list(shown),
    }


def text(measured: dict[str, Any]) -> str:
    """The table, and what the person who is made up is told."""
    from benchmarks.numbers import number_text, plain_table, seconds_text
    from benchmarks.widths import percent

    header = ["tool", "is told", "advice", "impossible", "in part", "features", "CPU", "people without possible advice"]
    rows = [
        [
            r["setting"],
            r["told"],
            str(r["advice"]),
            percent(r["impossible"] / r["advice"] if r["advice"] else None),
            percent(r["partly"] / r["advice"] if r["advice"] else None),
            number_text(r["length"]),
            seconds_text(r["seconds"]),
            f"{r['none_possible']} of {measured['people']}",
        ]
        for r in measured["results"]
    ]
    lines = [
        plain_table(header, rows),
        "",
        f"{measured['people']} people of the adult table whom the tree denies, at most {WANTED} pieces of advice each;"
        " means of the features that change and of CPU seconds. DiCE cannot be told what ties features.",
        "",
        f"Someone made up: {', '.join(f'{x}={value}' for x, value in measured['person'].items())}",
    ]
    for r in measured["results"]:
        lines += ["", f"{r['setting']}:", *(f"  {each}" for each in r["shown"] or ["nothing"])]
    if measured["trouble"]:
        lines += ["", f"DiCE: {measured['trouble']}"]
    return "\n".join(lines)
