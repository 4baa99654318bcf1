"""Reasons of many rows: which features alone could change a decision, and which are in the shortest reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quia.asking import Terms
from quia.auditing.document import Share
from quia.auditing.rows import Bools, Ints, Rows
from quia.batch.answering import answer
from quia.batch.answers import Answers
from quia.batch.lists import Lists
from quia.batch.question import Request
from quia.batch.regions import Listed
from quia.batch.table import distinct
from quia.classifier import Batches, DecidesRows, WeighsRows, offers
from quia.patience import Clock, OutOfTime
from quia.ranges import members, size
from quia.variables import UNKNOWN

MOST_TIES = 200
"""So many shortest reasons of a row are looked at; rows that have more are not counted."""
_MANY, _SOME = 2**15, 64
_CELLS = 2**22


def answers_many(terms: Terms) -> bool:
    """Whether a classifier explains many rows at once, in no time."""
    return offers(terms.classifier, Batches)


def _lists_many(terms: Terms) -> bool:
    """Whether it lists the features of many rows' reasons at once, if not what is said of them."""
    return answers_many(terms) or (offers(terms.classifier, WeighsRows) and not terms.worlds.told)


def answered(rows: Rows, order: Ints, terms: Terms, clock: Clock, **asked: Any) -> Iterator[tuple[Ints, Answers]]:
    """Rows in some order with their answers, so many at a time as long as the clock runs; `asked` as for `Request`."""
    begin, step = 0, _MANY if answers_many(terms) else _SOME if _lists_many(terms) else 1
    while begin < len(order):
        some = order[begin : begin + step]
        begin += step
        try:
            clock()
        except OutOfTime:
            return
        left = clock.left
        request = Request(terms, timeout=None if left is None else max(left / 2, 1e-3), **asked)
        yield some, answer(terms.classifier, np.ascontiguousarray(rows.states[some]), request)
        if left is not None and clock.left is not None and not answers_many(terms):
            # As many at a time as take a small share of what is left, if they are like those before.
            each = max(left - clock.left, 1e-6) / len(some)
            step = int(min(2 * step, _MANY, max(1, clock.left / each / 16)))


@dataclass(frozen=True, eq=False)
class Mentioned:
    """Of some rows which features are meant: a matrix over rows and variables, and which rows these are."""

    rows: Ints
    features: Bools

    @staticmethod
    def join(rows: Sequence[Ints], features: Sequence[Bools], width: int) -> Mentioned:
        """Several one after the other."""
        return Mentioned(
            np.concatenate([np.zeros(0, np.int64), *rows]), np.concatenate([np.zeros((0, width), bool), *features])
        )

    def and_also(self, other: Mentioned) -> Mentioned:
        """These and others."""
        return Mentioned.join([self.rows, other.rows], [self.features, other.features], self.features.shape[1])

    def share(self, variable: int, every: Rows) -> Share:
        """In how many of the rows a variable is meant."""
        return Share(
            int(every.repeats[self.rows[self.features[:, variable]]].sum()), int(every.repeats[self.rows].sum())
        )

    def first(self, variable: int) -> int | None:
        """A row in which it is."""
        found = np.flatnonzero(self.features[:, variable])
        return int(self.rows[found].min()) if len(found) else None


def alone(rows: Rows, terms: Terms, clock: Clock) -> Mentioned:
    """Which features could change each decision alone.

    Of a classifier that lists reasons, these are its necessary reasons of one feature; of any other the rows are
    decided with each state of each feature.
    """
    order = rows.in_fixed_order()
    has_lines = any(size(terms.worlds.possible.states(v)) > _CELLS for v in terms.classifier.tested)
    if not _lists_many(terms) and not has_lines:
        return _by_deciding(rows, order, terms, clock)
    # Where values are missing, necessary reasons are what could change a decision; only what does counts here.
    tested = list(terms.classifier.tested)
    is_known = (rows.states[order][:, tested] != UNKNOWN).all(axis=1)
    most = len(terms.variables)
    found = _of_lists(rows, order[is_known], terms, clock, "shortest_necessary", most=most, only_single=True)
    return found if has_lines else found.and_also(_by_deciding(rows, order[~is_known], terms, clock))


def in_shortest(rows: Rows, terms: Terms, clock: Clock) -> Mentioned:
    """Which features are in some shortest sufficient reason of each decision."""
    order = rows.in_fixed_order()
    return _of_lists(rows, order, terms, clock, "shortest_sufficient", most=MOST_TIES, only_single=False)


def _of_lists(
    rows: Rows, order: Ints, terms: Terms, clock: Clock, name: str, *, most: int, only_single: bool
) -> Mentioned:
    kind: Any = name.removeprefix("shortest_")
    seen: list[Ints] = []
    found: list[Bools] = []
    for some, answers in answered(rows, order, terms, clock, shortest=(kind,), general=False, limit=most):
        lists = answers.lists[name]
        ties = answers.numbers[f"{name}_ties"].values
        known = np.flatnonzero(lists.known if only_single else lists.known & (ties >= 0) & (ties <= most))
        mentioned = _mentioned(lists, len(some), len(terms.variables), only_single)
        seen.append(some[known])
        found.append(mentioned[known])
    return Mentioned.join(seen, found, len(terms.variables))


def _mentioned(lists: Lists | Listed, rows: int, width: int, only_single: bool) -> Bools:
    assert isinstance(lists, Lists)
    mentioned = np.zeros((rows, width), bool)
    row_of_set = np.repeat(np.arange(rows), np.diff(lists.set_start))
    lengths = np.diff(lists.member_start)
    row_of_member, length_of_member = np.repeat(row_of_set, lengths), np.repeat(lengths, lengths)
    chosen = length_of_member == 1 if only_single else np.ones(len(row_of_member), bool)
    mentioned[row_of_member[chosen], lists.variables[chosen]] = True
    return mentioned


def _by_deciding(rows: Rows, order: Ints, terms: Terms, clock: Clock) -> Mentioned:
    tested = [v for v in terms.classifier.tested if size(terms.worlds.possible.states(v)) > 1]
    states = {v: np.array(list(members(terms.worlds.possible.states(v))), np.int64) for v in tested}
    step = max(1, _CELLS // max(1, rows.states.shape[1] * max((len(s) for s in states.values()), default=1)))
    seen: list[Ints] = []
    found: list[Bools] = []
    for begin in range(0, len(order), step):
        some = order[begin : begin + step]
        mentioned = np.zeros((len(some), rows.states.shape[1]), bool)
        try:
            for v in tested:
                clock()
                mentioned[:, v] = _changed_by(rows, some, v, states[v], terms)
        except OutOfTime:
            break
        seen.append(some)
        found.append(mentioned)
    return Mentioned.join(seen, found, len(terms.variables))


def _changed_by(rows: Rows, some: Ints, v: int, states: Ints, terms: Terms) -> Bools:
    """Which rows are decided otherwise with some state of one variable."""
    classifier, impossible = terms.classifier, next(iter(terms.worlds.impossible), -1)
    rest = np.array(rows.states[some])
    rest[:, v] = 0
    first, which, _ = distinct(rest)
    every = np.repeat(rest[first], len(states), axis=0)
    every[:, v] = np.tile(states, len(first))
    if offers(classifier, DecidesRows):
        classes = classifier.decide_rows(every)
    else:
        from quia.auditing.hanging import class_of

        classes = np.array([class_of(classifier, row) for row in every.tolist()], np.int32)
    matrix = classes.reshape(len(first), len(states))[which]
    own = rows.decision[some][:, None]
    return np.asarray(((matrix != own) & (matrix >= 0) & (matrix != impossible)).any(axis=1))
