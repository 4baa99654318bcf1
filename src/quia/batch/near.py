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
    # Equal numbers have equal bits but for zeros, which are made alike.
    first, which, _ = distinct((values + 0.0).view(np.int64))
    groups = [_Group.of(request, values[row].tolist()) for row in first.tolist()]
    cut = [v for v, _ in request.worlds.near if not request.terms.variables[v].is_line]
    cuts = {v: [each for group in groups for each in group.terms.variables[v].cuts] for v in cut}
    every = request.terms.cutting(cuts)
    order = np.argsort(which, kind="stable")
    parts: list[Answers] = []
    for group, own in zip(groups, np.split(order, np.flatnonzero(np.diff(which[order])) + 1), strict=True):
        parts.append(_in_states_of(every.variables, group, group.answer(rows[own], request)))
    if not parts:
        return Near(every, _spelled_out(answer(every.classifier, rows, replace(request, terms=every))))
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows))
    return Near(every, Answers.join(parts).take(place))


class _Group(NamedTuple):
    """Rows that have the same numbers: the terms with their cuts, what is near, and the states of these numbers."""

    terms: Terms
    near: Region
    states: Mapping[int, int]

    @staticmethod
    def of(request: Request, values: list[float]) -> _Group:
        """The group of rows with these numbers."""
        numbers = {v: value for (v, _), value in zip(request.worlds.near, values, strict=True) if value == value}
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
    return _spelled_out(answers, lambda each: _refined(old, finer, apart, each))


def _spelled_out(answers: Answers, said: Callable[[Listed], Listed] = lambda each: each) -> Answers:
    """Answers whose lists are all of regions, as one state may be several in the end."""
    lists: dict[str, Lists | Listed] = {}
    for name, each in answers.lists.items():
        lists[name] = said(Listed.of(each) if isinstance(each, Lists) else each)
    return replace(answers, lists=lists)


def _refined(old: tuple[Variable, ...], finer: tuple[Variable, ...], apart: Sequence[int], listed: Listed) -> Listed:
    """Lists of regions in the states of finer variables, some of which have more cuts."""
    conditions = listed.regions.conditions
    if not np.isin(conditions.variables, apart).any():
        return listed
    ranges = [fine_ranges(old[v], finer[v], states) if v in apart else states for v, states in conditions]
    start: Ints = np.concatenate([[0], np.cumsum([len(each) for each in ranges])]).astype(np.int64)
    pairs = np.array([pair for each in ranges for pair in each], conditions.low.dtype).reshape(-1, 2)
    made = Conditions(conditions.variables, start, pairs[:, 0], pairs[:, 1])
    return replace(listed, regions=replace(listed.regions, conditions=made))
