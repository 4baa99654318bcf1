"""Rules: the general sufficient reasons of many decisions, counted, and checked against every row of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.batch.explained import Explained
from quia.batch.missing import encode_decided
from quia.batch.one_by_one import decisions_of
from quia.batch.question import Request
from quia.batch.table import distinct
from quia.literal import Literal
from quia.ranges import Ranges
from quia.reason import Reason

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier

Conditions = tuple[tuple[int, Ranges], ...]
"""A rule in indices: variables and the ranges of their states."""
Key = tuple[str, Conditions]
"""What a rule decides, and its conditions."""

MOST_A_PART = 2000
"""Of so many rules of a part, the most frequent, the decisions that they explain are counted."""
MOST_SHOWN = 10
"""How many rules of each decision are told."""


def rules_of(rows: Explained, classifier: Classifier, request: Request) -> Counter[Key]:
    """How many decisions each general reason explains: those of which it is a listed shortest sufficient reason.

    Where each row has its own worlds, its reasons say nothing of other rows, and are no rules.
    """
    listed = rows.listed.get("shortest_sufficient")
    if listed is None or not request.general or request.worlds.are_each_ones_own:
        return Counter()
    classes = len(classifier.classes)
    decision = np.repeat(rows.decision, np.diff(listed.set_start))
    if request.terms.target is not None:
        decision = np.zeros(len(decision), np.int64)  # all that it decides is that it is not the one asked against
    codes, counts = np.unique(listed.which * classes + decision, return_counts=True)
    most = np.lexsort((codes, -counts))[:MOST_A_PART]
    regions = list(listed.regions)
    found: Counter[Key] = Counter()
    for code, count in zip(codes[most].tolist(), counts[most].tolist(), strict=True):
        region, label = divmod(code, classes)
        found[decided(classifier, request, label), tuple(zip(*regions[region], strict=True))] = count
    return found


def decided(classifier: Classifier, request: Request, label: int) -> str:
    """What a reason of a decision for a class forces: that class, or not to be the one asked against."""
    return classifier.classes[label] if request.terms.against is None else f"not {request.terms.against}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A general reason of many decisions: how many it `explains`; how many `rows` it is true of, and how many of these
    are `decided` so, if that was counted."""

    decision: str
    reason: Reason
    explains: int
    rows: int | None = None
    decided: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "decision": self.decision,
            "text": str(self.reason),
            "conditions": [literal.condition for literal in self.reason.literals],
            "explains": self.explains,
            "rows": self.rows,
            "decided": self.decided,
        }


def most_frequent(
    counts: Counter[Key], classifier: Classifier, parts: Iterable[pa.RecordBatch] | None, request: Request
) -> list[Rule]:
    """The rules that explain the most, those of each decision together; with `parts`, counted in their rows too."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    kept: list[tuple[Key, int]] = []
    for label in sorted({label for (label, _), _ in ranked}):
        kept += [item for item in ranked if item[0][0] == label][:MOST_SHOWN]
    rules = [Rule(label, _reason(classifier, of), count) for (label, of), count in kept]
    if parts is None:
        return rules
    found = _in_rows(classifier, [key for key, _ in kept], parts, request)
    return [replace(rule, rows=rows, decided=right) for rule, (rows, right) in zip(rules, found.tolist(), strict=True)]


def _reason(classifier: Classifier, of: Conditions) -> Reason:
    literals = (Literal(classifier.variables[v], ranges) for v, ranges in of)
    return Reason(literals, kind="sufficient", is_general=True)


def _in_rows(
    classifier: Classifier, rules: Sequence[Key], parts: Iterable[pa.RecordBatch], request: Request
) -> npt.NDArray[np.int64]:
    """For each rule the rows that it is true of, and those of them that are decided as it says; each decided anew."""
    found = np.zeros((len(rules), 2), np.int64)
    for part in parts:
        states, faults, _ = encode_decided(classifier, part, request.worlds)
        rows = np.ascontiguousarray(states[faults.sound])
        first, which, _ = distinct(rows)
        rows, repeats = np.ascontiguousarray(rows[first]), np.bincount(which, minlength=len(first))
        labels = decisions_of(classifier, rows)
        said = np.array([decided(classifier, request, label) for label in range(len(classifier.classes))], object)
        if request.terms.target is not None:
            said[request.terms.target] = request.terms.against
        for at, (label, of) in enumerate(rules):
            fits = np.ones(len(rows), bool)
            for variable, ranges in of:
                column = rows[:, variable]
                fits &= np.logical_or.reduce([(low <= column) & (column <= high) for low, high in ranges])
            found[at] += repeats[fits].sum(), repeats[fits & (said == label)[labels]].sum()
    return found
