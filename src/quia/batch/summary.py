"""What a run found, over all rows: counted part by part from the result's own columns, then added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.batch.lists import Ints, spread
from quia.batch.rules import Conditions, Key
from quia.batch.table import arrow, to_numpy
from quia.batch.texts import plain_values
from quia.reason import KINDS

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SETS = 200_000
"""How many sets of features the search for surprising rows tells apart; later ones are not looked at."""
_MOST_ERRORS = 50


@dataclass
class Summary:
    """Counts over rows.

    `features[kind][class][feature]` counts the rows that have the feature in a listed shortest reason;
    `lengths[kind][n]` those whose shortest reasons have n features; `sizes[column][digits]` those whose count has so
    many digits (0 for none); `biased[class]` and `bias_features[feature]` the biased ones; `reasoned[class]` those with
    a sufficient reason, and `sets[class, features]` those whose first shortest one has just these features, with the
    first such row; `rules[decision, conditions]` those of which this general reason is a listed shortest sufficient
    one, for the most frequent ones of each part.
    """

    rows: int = 0
    rejected: int = 0
    already: int = 0
    incomplete: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    features: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    lengths: dict[str, Counter[int]] = field(default_factory=dict)
    sizes: dict[str, Counter[int]] = field(default_factory=dict)
    asked_bias: bool = False
    biased: Counter[str] = field(default_factory=Counter)
    bias_features: Counter[str] = field(default_factory=Counter)
    reasoned: Counter[str] = field(default_factory=Counter)
    sets: dict[tuple[str, tuple[str, ...]], tuple[int, str]] = field(default_factory=dict)
    rules: Counter[Key] = field(default_factory=Counter)

    @property
    def explained(self) -> int:
        """How many rows have their answer."""
        return self.rows - self.rejected - self.already

    def add(self, other: Summary) -> None:
        """Count the rows of a later part too."""
        self.rows += other.rows
        self.rejected += other.rejected
        self.already += other.already
        self.incomplete += other.incomplete
        self.classes.update(other.classes)
        for message, count in other.errors.items():
            if message in self.errors or len(self.errors) < _MOST_ERRORS:
                self.errors[message] += count
        for kind, by_class in other.features.items():
            for label, counts in by_class.items():
                self.features.setdefault(kind, {}).setdefault(label, Counter()).update(counts)
        for mine, theirs in ((self.lengths, other.lengths), (self.sizes, other.sizes)):
            for name, numbers in theirs.items():
                mine.setdefault(name, Counter()).update(numbers)
        self.asked_bias |= other.asked_bias
        self.biased.update(other.biased)
        self.bias_features.update(other.bias_features)
        self.reasoned.update(other.reasoned)
        for key, (count, row) in other.sets.items():
            if key in self.sets:
                self.sets[key] = (self.sets[key][0] + count, self.sets[key][1])
            elif len(self.sets) < MOST_SETS:
                self.sets[key] = (count, row)
        for rule, count in other.rules.items():
            if rule in self.rules or len(self.rules) < MOST_SETS:
                self.rules[rule] += count

    def surprising(self, most: int = 10) -> list[tuple[float, str, str, tuple[str, ...]]]:
        """The rows with the rarest reasons: bits of surprise, row, class, features.

        A reason that one in 2ⁿ rows of its class has is n bits of surprise; of equally rare ones the longest first.
        """
        found = [
            (log2(self.reasoned[label] / count), row, label, names)
            for (label, names), (count, row) in self.sets.items()
        ]
        return sorted(found, key=lambda one: (-one[0], -len(one[3]), one[1:]))[:most]

    def to_dict(self, *, most_sets: int | None = None) -> dict[str, Any]:
        """As plain data, with all sets of features and rules, or the rarest sets and the most frequent rules.

        `from_dict` reads it back.
        """
        sets = sorted(self.sets.items(), key=lambda item: item[1][0] / self.reasoned[item[0][0]])[:most_sets]
        return {
            "rows": self.rows,
            "rejected": self.rejected,
            "already": self.already,
            "incomplete": self.incomplete,
            "classes": dict(self.classes),
            "errors": dict(self.errors),
            "features": {k: {c: dict(n) for c, n in v.items()} for k, v in self.features.items()},
            "lengths": {k: dict(sorted(v.items())) for k, v in self.lengths.items()},
            "sizes": {k: dict(sorted(v.items())) for k, v in self.sizes.items()},
            "bias": {"rows": dict(self.biased), "features": dict(self.bias_features)} if self.asked_bias else None,
            "reasoned": dict(self.reasoned),
            "sets": [[label, list(names), count, row] for (label, names), (count, row) in sets],
            "rules": [[label, of, count] for (label, of), count in self.rules.most_common(most_sets)],
        }

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Summary:
        """What `to_dict` has written."""
        return Summary(
            data["rows"],
            data["rejected"],
            data["already"],
            data["incomplete"],
            Counter(data["classes"]),
            Counter(data["errors"]),
            {k: {c: Counter(n) for c, n in v.items()} for k, v in data["features"].items()},
            {k: Counter({int(n): c for n, c in v.items()}) for k, v in data["lengths"].items()},
            {k: Counter({int(n): c for n, c in v.items()}) for k, v in data["sizes"].items()},
            data["bias"] is not None,
            Counter((data["bias"] or {}).get("rows", {})),
            Counter((data["bias"] or {}).get("features", {})),
            Counter(data["reasoned"]),
            {(label, tuple(names)): (count, row) for label, names, count, row in data["sets"]},
            Counter({(label, _conditions(of)): count for label, of, count in data["rules"]}),
        )


def _conditions(of: Any) -> Conditions:
    """A rule as JSON has it."""
    return tuple((variable, tuple((low, high) for low, high in ranges)) for variable, ranges in of)


def summary_of(batch: pa.RecordBatch, *, ids: Sequence[str] = (), start: int = 0) -> Summary:
    """What one batch of a result says; its first row is row `start` of the input, counted from 0."""
    labels, decision = _codes(batch.column("decision"))
    is_rejected = decision < 0
    messages, error = _codes(batch.column("error"))
    has_error = error >= 0
    summary = Summary(
        batch.num_rows,
        rejected=int(is_rejected.sum()),
        already=int((has_error & ~is_rejected).sum()),
        incomplete=int((~to_numpy(batch.column("complete")) & ~has_error).sum()),
        classes=_tally(labels, decision[~is_rejected]),
    )
    if summary.rejected:
        summary.errors = Counter(dict(_tally(messages, error[is_rejected]).most_common(_MOST_ERRORS)))
    for kind in KINDS:
        if f"shortest_{kind}" in batch.schema.names:
            _count_reasons(summary, kind, batch.column(f"shortest_{kind}"), labels, decision)
        for column in (f"shortest_{kind}_ties", f"{kind}_count"):
            if column in batch.schema.names:
                summary.sizes[column] = _digits(batch.column(column))
    if "shortest_sufficient" in batch.schema.names:
        summary.sets = _sets(batch, labels, decision, ids, start)
        for (label, _), (count, _) in summary.sets.items():
            summary.reasoned[label] += count
    if "biased" in batch.schema.names:
        summary.asked_bias = True
        biased = to_numpy(batch.column("biased"), False)
        summary.biased = _tally(labels, decision[biased])
        names, mentioned = _mentions(batch.column("bias_reasons"))
        summary.bias_features = Counter(_positive(names, mentioned.sum(axis=0)))
    return summary


def _count_reasons(summary: Summary, kind: str, column: Any, labels: Sequence[str], decision: Ints) -> None:
    names, mentioned = _mentions(column)
    given = np.flatnonzero(np.bincount(decision[decision >= 0]))
    summary.features[kind] = {
        labels[code]: Counter(_positive(names, mentioned[decision == code].sum(axis=0))) for code in given.tolist()
    }
    set_start, member_start, _ = _starts(column)
    has = np.flatnonzero(np.diff(set_start) > 0)
    lengths = np.diff(member_start)[set_start[has]]
    summary.lengths[kind] = _occurrences(lengths)


def _sets(
    batch: pa.RecordBatch, labels: Sequence[str], decision: Ints, ids: Sequence[str], start: int
) -> dict[tuple[str, tuple[str, ...]], tuple[int, str]]:
    """The features of each row's first shortest sufficient reason: how many rows have just these, and the first."""
    set_start, member_start, states = _starts(batch.column("shortest_sufficient"))
    rows = np.flatnonzero(np.diff(set_start) > 0)
    if not len(rows):
        return {}
    names, codes = _codes(states.field("feature"))
    items, begin = spread(member_start, set_start[rows])
    features = codes[items]
    # A set is told from others by the sum of random numbers, one for each feature and class.
    random = np.random.default_rng(8).integers(0, 2**64, len(names) + len(labels), np.uint64)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(random[features], dtype=np.uint64)])
    marks = sums[begin[1:]] - sums[begin[:-1]] + random[len(names) + decision[rows]]
    _, first, counts = np.unique(marks, return_index=True, return_counts=True)
    found = {}
    for at, count in sorted(zip(first.tolist(), counts.tolist(), strict=True)):
        row = int(rows[at])
        members = tuple(names[code] for code in features[begin[at] : begin[at + 1]].tolist())
        found[labels[decision[row]], members] = (count, _row_name(batch, ids, row, start))
    return found


def _row_name(batch: pa.RecordBatch, ids: Sequence[str], row: int, start: int) -> str:
    if not ids:
        return f"row {start + row + 1}"
    return ", ".join(f"{name} {plain_values(batch.column(name).slice(row, 1))[0]}" for name in ids)


def _mentions(column: Any) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """Features' names, and for every row and feature whether some set of the row's list has it."""
    set_start, member_start, states = _starts(column)
    names, codes = _codes(states.field("feature"))
    mentioned = np.zeros((len(column), len(names)), bool)
    row_begin = np.arange(len(column)) * len(names)
    mentioned.reshape(-1)[np.repeat(row_begin, np.diff(member_start[set_start])) + codes] = True
    return names, mentioned


def _starts(column: Any) -> tuple[Ints, Ints, Any]:
    """Lists of lists of states: where rows' sets and sets' members begin, and all the states."""
    # A slice of a column shares all of its values: only its own are meant.
    set_start = to_numpy(column.offsets)
    sets = column.values.slice(set_start[0], set_start[-1] - set_start[0])
    member_start = to_numpy(sets.offsets)
    states = sets.values.slice(member_start[0], member_start[-1] - member_start[0])
    return set_start - set_start[0], member_start - member_start[0], states


def _codes(column: Any) -> tuple[list[str], Ints]:
    """Texts as numbers: the distinct ones, and for each which it is, -1 where there is none."""
    pa = arrow()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return column.dictionary.to_pylist(), to_numpy(column.indices, -1)


def _digits(column: Any) -> Counter[int]:
    """How many numbers have so many digits."""
    pa = arrow()
    if pa.types.is_integer(column.type):
        values = to_numpy(column, -1)
        digits = np.searchsorted(10 ** np.arange(19, dtype=np.int64), values[values >= 0], side="right")
        return _occurrences(digits)
    return Counter(len(str(n)) if n else 0 for n in column.to_pylist() if n is not None)


def _occurrences(numbers: Ints) -> Counter[int]:
    values, counts = np.unique(numbers, return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def _tally(names: Sequence[str], codes: Ints) -> Counter[str]:
    return Counter(_positive(names, np.bincount(codes, minlength=len(names))))


def _positive(names: Sequence[str], counts: Iterable[int]) -> dict[str, int]:
    return {name: int(count) for name, count in zip(names, counts, strict=True) if count}
