"""Rows that can only change to what is near: each cuts its numbers where its own neighbourhood ends.

Rows with the same numbers share their cuts and are answered together. What is said of all is put into the states of
variables that have the cuts of all, in which every condition reads as it does alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.asking import Terms
from quia.batch.answering import answer
from quia.batch.answers import Answers
from quia.batch.lists import Ints, Lists
from quia.batch.question import Request
from quia.batch.regions import Conditions, Listed
from quia.batch.table import Faults, States, distinct, numbers_of
from quia.conditions import Condition, refined
from quia.refine import fine_ranges
from quia.region import Region
from quia.variables import Variable
from quia.worlds import Worlds

if TYPE_CHECKING:
    import pyarrow as pa

Values = npt.NDArray[np.float64]


def values_of(worlds: Worlds, table: pa.Table | pa.RecordBatch) -> tuple[Values, Faults]:
    """What rows have of the variables that must stay near, NaN where it is missing; and what is wrong with it."""
    values = np.empty((table.num_rows, len(worlds.near)))
    faults = Faults.none(table.num_rows)
    for place, (v, _) in enumerate(worlds.near):
        variable = worlds.possible.variables[v]
        values[:, place], wrong = numbers_of(variable, table.column(variable.name))
        faults = faults.and_then(wrong)
    return values, faults


class Near(NamedTuple):
    """Answers over variables that have the cuts of all neighbourhoods, and a classifier that has these."""

    terms: Terms
    answers: Answers


def answer_near(rows: States, values: Values, request: Request) -> Near:
    """The answers for encoded rows with these numbers."""
    if not len(rows):
        return Near(request.terms, _spelled_out(answer(request.terms.classifier, rows, request)))
    # Equal numbers have equal bits but for zeros, which are made alike.
    first, which, _ = distinct((values + 0.0).view(np.int64))
    every = _cut_by_all(request.terms, values[first])
    order = np.argsort(which, kind="stable")
    own = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    parts: list[Answers] = []
    for row, members in zip(first.tolist(), own, strict=True):
        group = _Group.of(request, values[row].tolist())
        parts.append(_in_states_of(every.variables, group, group.answer(rows[members], request)))
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows))
    return Near(every, Answers.join(parts).take(place))


def _cut_by_all(terms: Terms, values: Values) -> Terms:
    """The terms cut where any of the neighbourhoods ends."""
    around: dict[int, list[Condition]] = {}
    for row in values.tolist():
        for v, said in terms.worlds.neighbourhood(_numbers(terms.worlds, row)).items():
            around.setdefault(v, []).append(said)
    numbers = {v: said for v, said in around.items() if not terms.variables[v].is_line}
    return terms.cutting({v: refined(terms.variables[v], said).cuts for v, said in numbers.items()})


def _numbers(worlds: Worlds, values: Sequence[float]) -> dict[int, float]:
    """What a row has of each variable that must stay near, but for what is missing."""
    return {v: value for (v, _), value in zip(worlds.near, values, strict=True) if value == value}


class _Group(NamedTuple):
    """Rows that have the same numbers: the terms with their cuts, what is near, and the states of these numbers."""

    terms: Terms
    near: Region
    states: Mapping[int, int]

    @staticmethod
    def of(request: Request, values: list[float]) -> _Group:
        """The group of rows with these numbers."""
        numbers = _numbers(request.worlds, values)
        terms, near = request.terms.near_to(numbers)
        tested = set(terms.classifier.tested)
        return _Group(terms, near, {v: terms.variables[v].encode(n) for v, n in numbers.items() if v in tested})

    def answer(self, rows: States, request: Request) -> Answers:
        """The answers of its rows, in its own states."""
        own = np.array(rows)
        for v, state in self.states.items():
            own[:, v] = state
        return answer(self.terms.classifier, own, replace(request, terms=self.terms), self.near)


def _in_states_of(finer: tuple[Variable, ...], group: _Group, answers: Answers) -> Answers:
    """Answers in the states of variables with more cuts."""
    old = group.terms.variables
    apart = [v for v, _ in group.terms.worlds.near if old[v].size != finer[v].size]
    return _spelled_out(answers, lambda each: _recut(old, finer, apart, each))


def _spelled_out(answers: Answers, said: Callable[[Listed], Listed] = lambda each: each) -> Answers:
    """Answers whose lists are all of regions, as one state may be several in the end."""
    lists: dict[str, Lists | Listed] = {}
    for name, each in answers.lists.items():
        lists[name] = said(Listed.of(each) if isinstance(each, Lists) else each)
    return replace(answers, lists=lists)


def _recut(old: tuple[Variable, ...], finer: tuple[Variable, ...], apart: Sequence[int], listed: Listed) -> Listed:
    """Lists of regions in the states of finer variables, some of which have more cuts."""
    conditions = listed.regions.conditions
    if not np.isin(conditions.variables, apart).any():
        return listed
    ranges = [fine_ranges(old[v], finer[v], states) if v in apart else states for v, states in conditions]
    start: Ints = np.concatenate([[0], np.cumsum([len(each) for each in ranges])]).astype(np.int64)
    pairs = np.array([pair for each in ranges for pair in each], conditions.low.dtype).reshape(-1, 2)
    made = Conditions(conditions.variables, start, pairs[:, 0], pairs[:, 1])
    return replace(listed, regions=replace(listed.regions, conditions=made))
