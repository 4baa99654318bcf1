"""How the rows of a table were decided, and how that fits their labels."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from quia.auditing.document import Confusion, Decided, Decisions, Labels
from quia.auditing.rows import Bools, Ints, Rows
from quia.errors import InstanceError, listed


def decisions_on(rows: Rows, classes: Sequence[str], label: str | None) -> Decisions:
    """All rows: how many have which decision, or why none; with a column of labels, how they fit these."""
    counts = np.bincount(rows.decision, rows.repeats, len(classes)).astype(np.int64)
    decided = tuple(Decided(name, int(counts[c]), rows.decided) for c, name in enumerate(classes))
    labels = None if label is None else _labels(rows, classes, label)
    return Decisions(rows.total, rows.decided, decided, rows.undecided, labels)


def _labels(rows: Rows, classes: Sequence[str], column: str) -> Labels:
    labelled = labels_of(rows, classes, column)
    if rows.values[column] and all(_class(value, classes) < 0 for value in rows.values[column]):
        raise InstanceError(
            f"no label in {column!r} is a class: labels are {listed(list(map(str, rows.values[column])))}, the classes"
            f" {listed(classes)}; name another column, or load the model with these names as its classes"
        )
    codes, values = rows.also[column], rows.values[column]
    other = {str(value): rows.count(codes == c) for c, value in enumerate(values) if _class(value, classes) < 0}
    confusion = confusion_in(rows, classes, labelled, np.ones(len(rows), bool))
    return Labels(
        column,
        rows.count(labelled >= 0),
        rows.count((labelled >= 0) & (labelled == rows.decision)),
        rows.count(codes < 0),
        {value: count for value, count in other.items() if count},
        confusion,
    )


def labels_of(rows: Rows, classes: Sequence[str], column: str) -> Ints:
    """The class that each row's label names; -1 for none."""
    known = np.array([*(_class(value, classes) for value in rows.values[column]), -1], np.int32)
    return np.asarray(known[rows.also[column]])


def confusion_in(rows: Rows, classes: Sequence[str], labelled: Ints, chosen: Bools) -> tuple[Confusion, ...]:
    """Of some rows, for each label that one of them has, how those with it were decided."""
    found = []
    for c, name in enumerate(classes):
        mine = chosen & (labelled == c)
        if mine.any():
            counts = np.bincount(rows.decision[mine], rows.repeats[mine], len(classes)).astype(np.int64)
            found.append(Confusion(name, int(counts.sum()), decided_as(counts, classes)))
    return tuple(found)


def decided_as(counts: Ints, classes: Sequence[str]) -> dict[str, int]:
    """How many rows have each class."""
    return {name: int(counts[c]) for c, name in enumerate(classes)}


def _class(value: Any, classes: Sequence[str]) -> int:
    """The class that a label names, also where one of the two is written as another number.

    >>> _class("good", ["bad", "good"]), _class(1.0, ["0", "1"]), _class("maybe", ["bad", "good"])
    (1, 1, -1)
    """
    texts = [str(value)]
    try:
        number = float(value)
        if isfinite(number) and number == int(number):
            texts.append(str(int(number)))
    except (TypeError, ValueError, OverflowError):
        pass
    return next((classes.index(text) for text in texts if text in classes), -1)
