"""Rows that two models decide differently: counted by classes and groups, each model asked by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.asking import Terms
from quia.auditing.document import Example
from quia.batch.missing import encode_decided
from quia.batch.one_by_one import decisions_of
from quia.batch.possible import impossible
from quia.batch.table import States, distinct, encode_table, from_numpy, states_type
from quia.batch.wanted import Wanted
from quia.classifier import Classifier
from quia.errors import InstanceError
from quia.values import plain_value

if TYPE_CHECKING:
    import pyarrow as pa

Batches = Callable[[], Iterable["pa.RecordBatch"]]
Codes = npt.NDArray[np.integer[Any]]
Ints = npt.NDArray[np.int64]
GroupOf = Callable[["pa.RecordBatch"], Codes]

_FLUSHED = 100_000  # so many rows wait until equal ones are found among them


@dataclass(slots=True)
class DifferingRows:
    """What is counted of a table's rows; `states` are those of the differing ones that both models know in common.

    `turns` counts rows by the two classes, `differing` and `decided` are by group. Of the states, each distinct row is
    there once, with the pair of classes, how often it is there, and the number of its first row.
    """

    decided: Ints
    differing: Ints
    turns: Counter[tuple[int, int]] = field(default_factory=Counter)
    of: int = 0
    undecided: int = 0
    first: tuple[int, int, int] | None = None
    states: States = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    pairs: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    repeats: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def count(self) -> int:
        """How many rows differ."""
        return sum(self.turns.values())


def differing_rows(
    old: Classifier,
    new: Classifier,
    batches: Batches,
    terms: Terms | None,
    *,
    group_of: GroupOf,
    groups: int,
) -> DifferingRows:
    """All rows of a table, decided by both models; those that `terms` say are impossible count as undecided.

    The terms are of both models as one; None if they cannot be one.
    """
    found = DifferingRows(np.zeros(groups, np.int64), np.zeros(groups, np.int64))
    named = _same_names(old, new)
    waiting: list[tuple[States, Ints, Ints]] = []
    width = 0 if terms is None else len(terms.variables)
    start = 1
    for batch in batches():
        labels = [_labels(model, batch) for model in (old, new)]
        are_decided = (labels[0] >= 0) & (labels[1] >= 0)
        states: States = np.zeros((batch.num_rows, width), np.int32)
        are_known = np.zeros(batch.num_rows, bool)
        if terms is not None:
            states, are_known, are_possible = _encoded(terms, batch)
            are_decided &= are_possible
        differ = are_decided & (named[labels[0]] != labels[1])
        group = np.asarray(group_of(batch))
        for counts, mask in ((found.decided, are_decided), (found.differing, differ)):
            chosen = group[mask]
            counts += np.bincount(chosen[chosen >= 0], minlength=groups)
        found.of += int(are_decided.sum())
        found.undecided += batch.num_rows - int(are_decided.sum())
        rows = np.flatnonzero(differ)
        pairs = labels[0][rows].astype(np.int64) * len(new.classes) + labels[1][rows]
        for code, count in zip(*np.unique(pairs, return_counts=True), strict=True):
            a, b = divmod(int(code), len(new.classes))
            found.turns[a, b] += int(count)
        if len(rows) and found.first is None:
            found.first = (start + int(rows[0]), int(labels[0][rows[0]]), int(labels[1][rows[0]]))
        kept = are_known[rows]
        waiting.append((states[rows[kept]], pairs[kept], start + rows[kept]))
        if sum(len(each[1]) for each in waiting) > _FLUSHED:
            _gather(found, waiting, width)
        start += batch.num_rows
    _gather(found, waiting, width)
    if terms is not None and len(found.states):
        _keep_agreeing(found, terms)
    return found


def _same_names(old: Classifier, new: Classifier) -> Ints:
    """For each class of the old model the one of the new model with that name, -1 if there is none."""
    names = list(new.classes)
    return np.array([names.index(name) if name in names else -1 for name in old.classes], np.int64)


def _labels(model: Classifier, batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """The class of each row, -1 where the model gives none."""
    states, faults, _ = encode_decided(model, batch)
    rows = np.flatnonzero(faults.sound)
    first, which, _ = distinct(states[rows])
    labels = np.full(batch.num_rows, -1, np.int64)
    labels[rows] = decisions_of(model, np.ascontiguousarray(states[rows[first]]))[which]
    return labels


def _encoded(terms: Terms, batch: pa.RecordBatch) -> tuple[States, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The common states of rows, which rows have some, and which are possible."""
    states, faults, _ = encode_table(terms.classifier, batch)
    sound = faults.sound
    if terms.worlds.are_all:
        return states, sound, np.ones(len(states), bool)
    broken = impossible(terms.worlds, batch, states, sound)
    return states, sound, broken.sound


def _gather(found: DifferingRows, waiting: list[tuple[States, Ints, Ints]], width: int) -> None:
    """Add rows that wait to those that are there, each distinct one once."""
    if not waiting:
        return
    before = found.states.reshape(len(found.states), width)
    states = np.concatenate([before, *(each[0] for each in waiting)])
    pairs = np.concatenate([found.pairs, *(each[1] for each in waiting)])
    rows = np.concatenate([found.rows, *(each[2] for each in waiting)])
    repeats = np.concatenate([found.repeats, *(np.ones(len(each[1]), np.int64) for each in waiting)])
    waiting.clear()
    # Rows with the same states may have other classes: those that lack a value for which one model alone has a state.
    first, which, _ = distinct(np.column_stack([states, pairs]))
    found.states, found.pairs, found.rows = states[first], pairs[first], rows[first]
    found.repeats = np.zeros(len(first), np.int64)
    np.add.at(found.repeats, which, repeats)


def _keep_agreeing(found: DifferingRows, terms: Terms) -> None:
    """Keep those rows that both models as one decide as each does: what lacks a value may have no common state."""
    both = terms.classifier
    decided = decisions_of(both, np.ascontiguousarray(found.states.astype(states_type(terms.variables))))
    agree = decided == found.pairs
    found.states, found.pairs = found.states[agree], found.pairs[agree]
    found.repeats, found.rows = found.repeats[agree], found.rows[agree]


def lacking_columns(models: Sequence[Classifier], batches: Batches) -> str | None:
    """What a table lacks that a model needs, if it does."""
    first = next(iter(batches()), None)
    if first is None:
        return None
    for model in models:
        try:
            Wanted.of(model).check(first.schema.names)
        except InstanceError as fault:
            return str(fault)
    return None


def examples(batches: Batches, rows: Iterable[int], features: Sequence[str]) -> dict[int, Example]:
    """The rows of these numbers, as the table has them."""
    wanted = np.array(sorted(set(rows)), np.int64)
    found: dict[int, Example] = {}
    start = 1
    for batch in batches() if len(wanted) else ():
        here = wanted[(wanted >= start) & (wanted < start + batch.num_rows)]
        names = [name for name in features if name in batch.schema.names]
        chosen = from_numpy(here - start)
        columns = {name: batch.column(name).take(chosen).to_pylist() for name in names}
        for at, row in enumerate(here.tolist()):
            found[row] = Example(row, {name: plain_value(values[at]) for name, values in columns.items()})
        start += batch.num_rows
        if len(found) == len(wanted):
            break
    return found


def numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches, each with the number of its first row."""
    start = 1
    for batch in batches:
        yield start, batch
        start += batch.num_rows


def each_pair(turns: Counter[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """The pairs of classes and how many rows have them, the most frequent first."""
    for (a, b), rows in sorted(turns.items(), key=lambda item: (-item[1], item[0])):
        yield a, b, rows
