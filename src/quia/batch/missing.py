"""Rows that lack a value: explained where the decision is the same whatever it is, else refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from quia.batch.possible import impossible
from quia.batch.table import Encoded, Faults, States, distinct, encode_table
from quia.classifier import DecidesRows, offers
from quia.errors import MissingValue

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier
    from quia.worlds import Worlds


def encode_decided(classifier: Classifier, table: pa.Table | pa.RecordBatch, worlds: Worlds | None = None) -> Encoded:
    """The states of every row; one whose decision depends on a value that it lacks has a fault that says so.

    So has one that is impossible itself, where not all `worlds` are possible. Complexity: beside that of `encode_table`
    and `impossible`, one decision for each distinct row that lacks a value.
    """
    states, faults, missing = encode_table(classifier, table)
    if worlds is not None and not worlds.are_all:
        faults = faults.and_then(impossible(worlds, table, states, faults.sound))
    return Encoded(states, faults.and_then(_undecided(classifier, states, faults, missing)), missing)


def _undecided(classifier: Classifier, states: States, faults: Faults, missing: Mapping[int, Faults]) -> Faults:
    """Why rows that lack a value are not explained: their decision depends on it."""
    lacking = faults.sound & np.logical_or.reduce([~each.sound for each in missing.values()])
    code = np.full(len(states), -1, np.int32)
    if not lacking.any():
        return Faults(code)
    rows = np.flatnonzero(lacking)
    first, which, _ = distinct(states[rows])
    needed = _needed(classifier, np.ascontiguousarray(states[rows[first]]))
    messages: list[str] = []
    for need in dict.fromkeys(needed):
        if need is None:
            continue
        index, why = need
        affected = rows[np.array([one == need for one in needed])[which]]
        said = missing[index].code[affected]
        for number in np.unique(said).tolist():
            code[affected[said == number]] = len(messages)
            messages.append(f"{missing[index].messages[number]}{why and f', as {why}'}")
    return Faults(code, tuple(messages))


def _needed(classifier: Classifier, rows: States) -> list[tuple[int, str] | None]:
    """For each encoded row an unknown variable that its decision depends on, and in words that it does; or None."""
    if offers(classifier, DecidesRows):
        classes = classifier.decide_rows(rows).tolist()
        return [(-2 - label, "the decision depends on it") if label < -1 else None for label in classes]
    names = [variable.name for variable in classifier.variables]
    found: list[tuple[int, str] | None] = []
    for row in rows.tolist():
        try:
            classifier.decide(row)
            found.append(None)
        except MissingValue as fault:
            found.append((names.index(fault.feature), fault.why))
    return found
