"""From raw columns to variables, and from a tree's tests to sets of their states."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quia.cuts import Cut, number_text
from quia.errors import Unsupported
from quia.load.sklearn.floats import Crossing, crossings, cut_after
from quia.load.sklearn.steps import (
    MISSING,
    NONE,
    OTHER,
    Column,
    Fill,
    Known,
    Lookup,
    NoMissing,
    Refused,
    as_number,
    refuse_missing,
)
from quia.ranges import Ranges, difference, union
from quia.variables import Variable

ANY_OTHER = "any other"
NO_VALUE = "missing"


@dataclass(frozen=True, eq=False)
class Numbers:
    """A raw column of numbers, cut where some test of the tree splits them."""

    raw: int
    variable: Variable
    _crossings: Mapping[tuple[Column, float, bool], Crossing] = field(default_factory=dict)
    single: bool = True

    def left(self, column: Column, threshold: float, missing_left: bool) -> Ranges:
        """The states that a test sends left."""
        last = len(self.variable.cuts)
        crossing = self._crossings[column, threshold, missing_left]
        pairs, start, now = [], 0, crossing.first
        for border in (*crossing.borders, None):
            end = last + 1 if border is None else self.variable.state_beyond(Cut(border))
            if now and start < end:
                pairs.append((start, end - 1))
            start, now = end, not now
        if self.variable.missing and _goes_left(column.value(MISSING), threshold, missing_left, self.single):
            pairs.append((last + 1, last + 1))
        return union(pairs)

    def raw_values(self, value: Any, state: int) -> dict[int, Any]:
        return {self.raw: math.nan if self.variable.missing and state > len(self.variable.cuts) else float(value)}


@dataclass(frozen=True, eq=False)
class Categories:
    """One nominal variable: a raw column of categories, or a group of raw columns that are its dummies.

    `values[s]` are the values that the raw columns have in state s.
    """

    variable: Variable
    values: tuple[Mapping[int, Any], ...]
    single: bool = True
    _states: Mapping[Any, int] = field(init=False, default_factory=dict)
    _unknown: dict[Known, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.values[0]) == 1:
            alone = (next(iter(values.values())) for values in self.values)
            object.__setattr__(self, "_states", {value: state for state, value in enumerate(alone)})

    def left(self, column: Column, threshold: float, missing_left: bool) -> Ranges:
        """The states that a test sends left.

        Complexity: for a one-hot column, only the categories that are not encoded as zero are tested one by one.
        """
        distinguished = self.distinguished(column)
        rest = difference(((0, len(self.values) - 1),), union((state, state) for state in distinguished))

        def goes_left(state: int) -> bool:
            value = column.value(self.values[state][column.raw])
            return _goes_left(value, threshold, missing_left, self.single)

        ranges = [(state, state) for state in distinguished if goes_left(state)]
        return union([*ranges, *rest] if rest and goes_left(rest[0][0]) else ranges)

    def distinguished(self, column: Column) -> Collection[int]:
        """The states that the column may distinguish; its encoder writes zero for all the others."""
        states: set[int] = set()
        for step in column.steps if self._states else ():
            if isinstance(step, Lookup):
                if step.known not in self._unknown:
                    unknown = [state for value, state in self._states.items() if value not in step.known.categories]
                    self._unknown[step.known] = unknown
                named = (self._states[value] for value in step.outputs if value in self._states)
                return states.union(self._unknown[step.known], named)
            if not isinstance(step, (Fill, NoMissing)):
                break
            if isinstance(step, Fill) and step.missing_values in self._states:
                states.add(self._states[step.missing_values])
        return range(len(self.values))

    def raw_values(self, value: Any, state: int) -> dict[int, Any]:
        special = {OTHER: value, MISSING: math.nan, NONE: None}
        return {raw: special.get(known, known) for raw, known in self.values[state].items()}


Source = Numbers | Categories
Split = tuple[float, bool]
"""A threshold, and whether a missing value goes left there."""
_Tests = tuple[Column, Sequence[Split]]


def find_sources(
    names: Sequence[str],
    produced: Sequence[Column],
    final: Sequence[Column],
    numbers: Callable[[int, str, bool], Source],
    *,
    takes_missing: bool,
    groups: Mapping[str, Mapping[str, int | None]],
    single: bool = True,
) -> list[Source]:
    """The variables of a model, in the order of its raw columns; a group stands where its first column does.

    `numbers` makes the source of a raw column of numbers, given its name and whether every step accepts a missing
    value; `takes_missing` says whether the model accepts NaN, and `single` whether it compares in 32 bits.
    """
    by_raw: dict[int, list[Column]] = defaultdict(list)
    for column in produced:
        by_raw[column.raw].append(column)
    for column in final:
        by_raw[column.raw].append(_Final(column.raw, column.steps, takes_missing))
    in_group = {raw: name for name, states in groups.items() for raw in states.values() if raw is not None}
    sources: list[Source] = []
    seen: set[str] = set()
    for raw, name in enumerate(names):
        if raw in in_group:
            if in_group[raw] not in seen:
                seen.add(in_group[raw])
                sources.append(_group(in_group[raw], groups[in_group[raw]], by_raw, single))
        elif known := _known(by_raw[raw]):
            sources.append(_categories(raw, name, known, by_raw[raw], single))
        else:
            sources.append(numbers(raw, name, bool(by_raw[raw]) and _accepted(MISSING, by_raw[raw])))
    return sources


def cut_by_tests(
    final: Sequence[Column], splits: Mapping[int, set[Split]], *, takes_missing: bool, single: bool
) -> Callable[[int, str, bool], Numbers]:
    """What makes the source of a raw column of numbers; `splits[j]` are the tests of the trees on their column j."""
    tests: dict[int, list[_Tests]] = defaultdict(list)
    for index, tests_of_column in splits.items():
        tests[final[index].raw].append((final[index], sorted(tests_of_column)))
    return lambda raw, name, missing: _numbers(raw, name, missing, tests[raw], takes_missing, single)


def _known(columns: Sequence[Column]) -> list[Hashable]:
    """The categories of a raw column: those of every encoder it reaches, and values that a step before one names."""
    coded = dict.fromkeys(column.coded for column in columns)
    return list(dict.fromkeys(c for known, named in coded if known is not None for c in (*known.categories, *named)))


@dataclass(frozen=True, eq=False)
class _Final(Column):
    """A column that ends in the tree, which takes numbers, and missing values only if it routes them."""

    takes_missing: bool = True

    @property
    def refusal(self) -> tuple[Hashable, ...]:
        return (*super().refusal, self.takes_missing)

    def run(self, value: Any) -> Any:
        arrived = super().run(value)
        missing = arrived is MISSING or arrived is NONE
        if arrived is OTHER or (missing and not self.takes_missing):
            raise Refused
        return MISSING if missing else as_number(arrived)


def _numbers(raw: int, name: str, missing: bool, tests: Sequence[_Tests], takes_missing: bool, single: bool) -> Numbers:
    crossing_of: dict[tuple[Column, float, bool], Crossing] = {}
    if unchanged := all(column.keeps_numbers for column, _ in tests):
        # The numbers reach the tree unchanged, so its own thresholds are the cuts: nothing to search for.
        for column, splits in tests:
            crossing_of.update(((column, *split), _crossing_at(split[0])) for split in splits)
        cuts = [Cut(threshold) for _, splits in tests for threshold, _ in splits]
    else:
        for column, splits in tests:
            pieces = column.pieces()
            if not takes_missing:
                refuse_missing(column.numbers(pieces.low))
            for missing_left in (False, True):
                thresholds = [threshold for threshold, left in splits if left == missing_left]
                crossed = crossings(
                    column.numbers, pieces, np.array(thresholds), missing_left=missing_left, single=single
                )
                crossing_of.update(((column, t, missing_left), c) for t, c in zip(thresholds, crossed, strict=True))
        cuts = [cut_after(border) for crossing in crossing_of.values() for border in crossing.borders]
    variable = Variable.numeric(name, cuts, missing=missing, single=single and unchanged and bool(tests))
    return Numbers(raw, variable, crossing_of, single)


def _crossing_at(threshold: float) -> Crossing:
    if threshold == math.inf:
        return Crossing(True, ())
    return Crossing(False, ()) if threshold == -math.inf else Crossing(True, (threshold,))


def _categories(raw: int, name: str, known: Sequence[Hashable], columns: Sequence[Column], single: bool) -> Categories:
    states: dict[str, Any] = {}
    by_refusal = list({column.refusal: column for column in columns}.values())  # one for each way to refuse
    for category in known:
        label = category_label(category)
        if label in states:
            raise Unsupported(
                f"column {name!r} has two categories that are written {label!r}",
                cure="give its categories names that differ",
            )
        if _accepted(category, by_refusal):
            states[label] = category
    other = no_value = None
    if _accepted(OTHER, columns):
        other = _unused_label(ANY_OTHER, states)
        states[other] = OTHER
    absent = NONE if any(column.knows_none for column in columns) else MISSING
    if _accepted(absent, columns):
        no_value = NO_VALUE
        if no_value in states and not _same_output(states[no_value], absent, columns):
            no_value = _unused_label(f"{NO_VALUE} (no value)", states)
        # A category 'missing' that an imputer writes for a missing value is the same state.
        states.setdefault(no_value, absent)
    if not states:
        raise Unsupported(
            f"no category of column {name!r} is accepted by every step that uses it",
            cure="fit the steps on the same data",
        )
    variable = Variable.nominal(name, states, other=other, no_value=no_value)
    return Categories(variable, tuple({raw: value} for value in states.values()), single)


def _group(
    name: str, states: Mapping[str, int | None], by_raw: Mapping[int, Sequence[Column]], single: bool
) -> Categories:
    raws = [raw for raw in states.values() if raw is not None]
    values = tuple({raw: float(raw == own) for raw in raws} for own in states.values())
    for state in values:
        for raw, value in state.items():
            if not _accepted(value, by_raw[raw]):
                raise Unsupported(
                    f"the one-hot group {name!r} has a column that does not take {value:g}",
                    cure="group only columns of 0 and 1",
                )
    return Categories(Variable.nominal(name, states), values, single)


def category_label(category: Any) -> str:
    """The name of a category as a state: '2' for 2.0, as a table may write it.

    >>> category_label(2.0), category_label(True), category_label("red")
    ('2', 'True', 'red')
    """
    return number_text(category) if isinstance(category, float) else str(category)


def _unused_label(wanted: str, used: Iterable[str]) -> str:
    labels = set(used)
    while wanted in labels:
        wanted += "*"
    return wanted


def _accepted(value: Any, columns: Sequence[Column]) -> bool:
    try:
        for column in columns:
            column.run(value)
    except Refused:
        return False
    return True


def _same_output(first: Any, second: Any, columns: Sequence[Column]) -> bool:
    return all(column.run(first) == column.run(second) for column in columns)


def _goes_left(value: float, threshold: float, missing_left: bool, single: bool) -> bool:
    if math.isnan(value):
        return missing_left
    if not single:
        return value <= threshold
    with np.errstate(over="ignore"):
        return bool(float(np.float32(value)) <= threshold)
