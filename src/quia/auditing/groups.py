"""Groups of people: rows parted by protected features, numbers in bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from quia.auditing.decisions import confusion_in, decided_as
from quia.auditing.document import Condition, Group
from quia.auditing.rows import Ints, Rows
from quia.batch.table import numbers_of
from quia.cuts import Cut
from quia.errors import InstanceError
from quia.literal import Literal, all_of
from quia.ranges import Ranges
from quia.reference import admitting
from quia.variables import Variable

MOST_STATES = 6
"""A number that has more states than this is grouped in bands."""
_BANDS = 5
MOST_VALUES = 100
"""So many different texts a column may have by which people are grouped."""


@dataclass(frozen=True, eq=False)
class Parting:
    """Rows parted by one feature: literals that exclude each other, and which of them holds of each row (-1: none).

    `touched` are, for each literal, the states of the model's variable that it has values in.
    """

    variable: Variable
    literals: tuple[Literal, ...]
    of_row: Ints
    touched: tuple[Ranges, ...]

    def of_states(self, states: Ints) -> Ints:
        """Which of the literals holds of each of some states of the variable."""
        found = np.full(len(states), -1, np.int64)
        for at, literal in enumerate(self.literals):
            found[admitting(self.variable, literal.ranges, states)] = at
        return found


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows grouped by one or several features: of each group which literal of each parting holds, and who is in it."""

    partings: tuple[Parting, ...]
    members: tuple[tuple[int, ...], ...]
    of_row: Ints

    @property
    def features(self) -> tuple[str, ...]:
        """What they are grouped by."""
        return tuple(parting.variable.name for parting in self.partings)

    @property
    def names(self) -> tuple[str, ...]:
        """What holds of each group."""
        return tuple(all_of(str(literal) for literal in self.literals(group)) for group in range(len(self.members)))

    def literals(self, group: int) -> tuple[Literal, ...]:
        """What holds of a group."""
        return tuple(parting.literals[at] for parting, at in zip(self.partings, self.members[group], strict=True))

    def group_of(self, parts: Sequence[Ints]) -> Ints:
        """Which group is meant by a literal of each parting, for many at once; -1 if nobody is in it."""
        shape = [len(parting.literals) for parting in self.partings]
        index = np.full(int(np.prod(shape)) + 1, -1, np.int64)
        for group, member in enumerate(self.members):
            index[np.ravel_multi_index(member, shape)] = group
        known = np.all([part >= 0 for part in parts], axis=0)
        flat = np.ravel_multi_index([np.where(known, part, 0) for part in parts], shape)
        return np.asarray(np.where(known, index[flat], -1))


def parting_of_states(rows: Rows, variable: Variable, states: Ints) -> Parting:
    """Rows parted by a variable, given the state of it that each has: by its states, or if these are many, in bands."""
    if variable.is_numeric and (variable.is_line or len(variable.cuts) + 1 > MOST_STATES):
        ranges = _bands(states, rows.repeats, len(variable.cuts))
        if variable.missing:
            ranges.append((variable.size - 1, variable.size - 1))
    else:
        ranges = [(state, state) for state in range(variable.size)]
    literals = tuple(Literal(variable, (each,)) for each in ranges)
    bare = Parting(variable, literals, np.zeros(0, np.int64), tuple((each,) for each in ranges))
    return replace(bare, of_row=bare.of_states(states))


def parting_of_values(rows: Rows, variable: Variable, states: Ints) -> Parting | None:
    """Rows parted by a number that has few values in the table, each value a group; None if it has many.

    A model may not tell them apart: `sex = 0` and `sex = 1` are two groups even if it never asks.
    """
    values, codes = rows.values[variable.name], rows.also[variable.name]
    numbers = _numbers(variable.name, values)
    if numbers is None or not 0 < len(np.unique(numbers)) <= MOST_STATES:
        return None
    ends = sorted(set(numbers.tolist()))
    cuts = [cut for end in ends for cut in (Cut(end, False), Cut(end, True))]
    made = Variable.numeric(variable.name, cuts, missing=variable.missing, single=variable.single)
    own = [made.encode(end) for end in ends]
    touched = [variable.encode(end) for end in ends]
    of_row = _states_of([ends.index(number) for number in numbers.tolist()], codes)
    if variable.missing:
        own.append(made.size - 1)
        touched.append(variable.size - 1)
        of_row = np.where(states == variable.size - 1, len(ends), of_row)
    literals = tuple(Literal(made, ((state, state),)) for state in own)
    return Parting(made, literals, of_row, tuple(((state, state),) for state in touched))


def parting_of_column(rows: Rows, name: str, variable: Variable | None = None) -> Parting:
    """Rows parted by a column that no decision depends on: by its values, or bands of its numbers.

    A variable of the model that it is, but that is not tested, tells which of the two it has.
    """
    values, codes = rows.values[name], rows.also[name]
    numbers = None if variable is not None and not variable.is_numeric else _numbers(name, values)
    if numbers is not None and (variable is not None or len(values) > MOST_STATES):
        known = codes >= 0
        ends = (
            np.unique(numbers) if len(values) <= MOST_STATES else _quantiles(numbers[codes[known]], rows.repeats[known])
        )
        cuts = sorted({float(end) for end in ends if end < numbers.max()})
        made = Variable.numeric(name, [(cut, "after") for cut in cuts])
        return parting_of_states(rows, made, _states_of(np.searchsorted(np.array(cuts), numbers), codes))
    if len(values) > MOST_VALUES:
        raise InstanceError(
            f"{name!r} has {len(values):,} different values; to compare groups of people, give a column with at most"
            f" {MOST_VALUES}"
        )
    texts = sorted({str(value) for value in values})
    made = Variable.nominal(name, texts or ["(none)"])
    return parting_of_states(rows, made, _states_of([texts.index(str(value)) for value in values], codes))


def _states_of(states: Any, codes: Ints) -> Ints:
    """The states of rows, given those of a column's values and which of these each row has."""
    return np.asarray(np.array([*states, -1], np.int64)[codes])


def _numbers(name: str, values: Sequence[Any]) -> Any:
    """The numbers that all values of a column are; None if one is none."""
    from quia.batch.table import arrow

    column = arrow().array([str(value) for value in values], arrow().string())
    numbers, faults = numbers_of(Variable.line(name), column)
    return numbers if faults.sound.all() and not np.isnan(numbers).any() else None


def _quantiles(numbers: Ints, weights: Ints) -> Ints:
    """Where sorted numbers are cut into bands that have about as many rows each; never after the last."""
    order = np.argsort(numbers, kind="stable")
    if not len(order):
        return numbers
    cumulated = np.cumsum(weights[order])
    at = np.searchsorted(cumulated, cumulated[-1] * np.arange(1, _BANDS) / _BANDS)
    found = np.unique(numbers[order[at]])
    return np.asarray(found[found < numbers.max()])


def _bands(states: Ints, weights: Ints, last: int) -> list[tuple[int, int]]:
    """Runs of the numbers' states 0 … last that have about as many rows each."""
    known = (states >= 0) & (states <= last)
    ends = [*(int(each) for each in _quantiles(states[known], weights[known])), last]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return list(zip(starts, ends, strict=True))


def grouping_of(rows: Rows, partings: Sequence[Parting]) -> Grouping:
    """Rows grouped by all of some partings; combinations that nobody has are no groups, unless there is one parting."""
    every = list(product(*(range(len(parting.literals)) for parting in partings)))
    bare = Grouping(tuple(partings), tuple(every), np.zeros(0, np.int64))
    of_row = bare.group_of([parting.of_row for parting in partings])
    if len(partings) == 1:
        return Grouping(tuple(partings), tuple(every), of_row)
    used = np.unique(of_row[of_row >= 0])
    place = np.full(len(every) + 1, -1, np.int64)
    place[used] = np.arange(len(used))
    return Grouping(tuple(partings), tuple(every[at] for at in used.tolist()), np.asarray(place[of_row]))


def groups_told(rows: Rows, grouping: Grouping, classes: Sequence[str], labelled: Ints | None) -> tuple[Group, ...]:
    """Decisions by group, and how they fit the labels, if there are any; groups that nobody is in are left out."""
    found = []
    for at, name in enumerate(grouping.names):
        mine = grouping.of_row == at
        if not mine.any():
            continue
        counts = np.bincount(rows.decision[mine], rows.repeats[mine], len(classes)).astype(np.int64)
        where: tuple[Condition, ...] = tuple(literal.condition for literal in grouping.literals(at))
        group = Group(name, where, rows.count(mine), decided_as(counts, classes))
        if labelled is not None:
            known = mine & (labelled >= 0)
            group = Group(
                group.name,
                where,
                group.rows,
                group.decided,
                rows.count(known),
                rows.count(known & (labelled == rows.decision)),
                confusion_in(rows, classes, labelled, mine),
            )
        found.append(group)
    return tuple(found)
