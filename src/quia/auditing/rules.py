"""Rules: few general sufficient reasons that together explain most decisions for a class.

Finding the fewest is hard; the greedy choice, each time what covers the most of what is left, is within a factor of
1 + ln(rows) of it, and mostly far nearer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import ceil

import numpy as np

from quia.asking import Terms
from quia.auditing.learned import learned
from quia.auditing.reasons import answered, answers_many
from quia.auditing.rows import Bools, Rows
from quia.batch.coverage import Coverage
from quia.batch.explained import Explained
from quia.batch.question import Request
from quia.classifier import FindsOwnReasons, offers
from quia.explanation import Explanation
from quia.literal import Literal
from quia.patience import Clock, OutOfTime
from quia.ranges import Ranges
from quia.reason import Reason
from quia.reference import Reference, admitting

Conditions = tuple[tuple[int, Ranges], ...]
"""Variables and the states that they may have."""

_LISTED = 10
"""So many shortest sufficient reasons of a row may become rules."""
_ENOUGH = 4000
"""Of so many rows reasons are found one by one, even if fewer would cover what is wanted."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Conditions that may become a rule, and the rows that meet them."""

    conditions: Conditions
    covered: Bools

    def literals(self, terms: Terms) -> tuple[Literal, ...]:
        """What it says."""
        return tuple(Literal(terms.variables[v], ranges) for v, ranges in self.conditions)


@dataclass(frozen=True, eq=False)
class Cover:
    """Rules in the order in which they were chosen, of how many rows reasons were found, and if they cover enough.

    If they `are_learned`, so many were learned.
    """

    rules: tuple[Candidate, ...]
    explained: int
    is_enough: bool
    are_learned: bool = False


def wanted(of: int, share: float) -> int:
    """How many rows of so many are to be covered.

    >>> wanted(1000, 0.9), wanted(7, 0.9), wanted(0, 0.9)
    (900, 7, 0)
    """
    return min(of, ceil(of * share - 1e-9))


def cover(rows: Rows, chosen: Bools, terms: Terms, share: float, clock: Clock) -> Cover:
    """Rules of rows that have the same decision, until so large a share of these is covered, or the clock ends."""
    needed = wanted(rows.count(chosen), share)
    if not needed:
        return Cover((), 0, True)
    candidates: list[tuple[int, Conditions]] = []
    explained = 0
    if answers_many(terms):
        candidates, explained = _of_all(rows, chosen, terms, clock)
    elif not any(terms.variables[v].is_line for v in terms.classifier.tested):
        candidates = _learned(rows, chosen, terms, needed, clock)
    are_learned = bool(candidates) and not explained
    rules, covered = _greedily(candidates, rows, chosen, terms, needed)
    if covered < needed:  # nothing was learned of rows with values that are missing
        own, explained_here = _of_rows(rows, chosen, terms, needed, clock)
        explained += explained_here
        rules, covered = _greedily([*candidates, *own], rows, chosen, terms, needed)
    return Cover(tuple(rules), explained or len(candidates), covered >= needed, are_learned)


def meeting(rows: Rows, terms: Terms, conditions: Conditions) -> Bools:
    """Which rows meet conditions."""
    fits = np.ones(len(rows), bool)
    for v, ranges in conditions:
        fits &= admitting(terms.variables[v], ranges, rows.states[:, v])
    return fits


def _of_all(rows: Rows, chosen: Bools, terms: Terms, clock: Clock) -> tuple[list[tuple[int, Conditions]], int]:
    """The shortest reasons of all rows, each once, with how many rows of the table meet it."""
    found: dict[Conditions, int] = {}
    explained = 0
    reference = Reference(tuple(terms.variables), np.asfortranarray(rows.states[chosen]), rows.repeats[chosen])
    order = np.flatnonzero(chosen)
    for some, answers in answered(rows, order, terms, clock, shortest=("sufficient",), general=True, limit=_LISTED):
        listed = Explained.of(answers, Request(terms), None).listed["shortest_sufficient"]
        explained += rows.count(some[listed.known])
        counts = Coverage(reference).rows_of(listed.regions)
        for count, (variables, box) in zip(counts.tolist(), listed.regions, strict=True):
            found[tuple(zip(variables, box, strict=True))] = count
    return [(count, conditions) for conditions, count in found.items()], explained


def _learned(rows: Rows, chosen: Bools, terms: Terms, needed: int, clock: Clock) -> list[tuple[int, Conditions]]:
    """One rule learned after the other, each for rows that meet none before, until enough rows meet some."""
    left, label = chosen.copy(), int(rows.decision[np.argmax(chosen)])
    found: list[tuple[int, Conditions]] = []
    with suppress(OutOfTime):
        while rows.count(chosen & ~left) < needed:
            conditions = learned(rows, label, left, terms, clock)
            if conditions is None:
                break
            fits = meeting(rows, terms, conditions) & chosen
            left &= ~fits
            found.append((rows.count(fits), conditions))
    return found


def _of_rows(
    rows: Rows, chosen: Bools, terms: Terms, needed: int, clock: Clock
) -> tuple[list[tuple[int, Conditions]], int]:
    """Reasons of one row after the other: of such as meet none before, until enough do, then of some others.

    The more there are to choose from, the fewer are needed.
    """
    left, explained = chosen.copy(), 0
    found: list[tuple[int, Conditions]] = []
    index = {variable.name: v for v, variable in enumerate(terms.variables)}
    order = [row for row in rows.in_fixed_order().tolist() if chosen[row]]
    with suppress(OutOfTime):
        for is_first in (True, False):
            for row in order:
                if is_first and rows.count(chosen & ~left) >= needed:
                    break
                if not is_first and explained >= _ENOUGH:
                    break
                if left[row] != is_first:
                    continue
                explained += 1
                for reason in _reasons(rows, row, terms, clock):
                    conditions = tuple((index[literal.feature], literal.ranges) for literal in reason.literals)
                    fits = meeting(rows, terms, conditions) & chosen
                    left &= ~fits
                    found.append((rows.count(fits), conditions))
    return found, explained


def _reasons(rows: Rows, row: int, terms: Terms, clock: Clock) -> Iterable[Reason]:
    """General sufficient reasons of a row, the shortest where these are soon told, else any; none if time ends."""
    clock()
    question = terms.question(rows.states[row].tolist(), int(rows.decision[row]))
    timeout = None if clock.left is None else max(clock.left / 2, 1e-3)
    is_soon = offers(terms.classifier, FindsOwnReasons)
    return Explanation(terms.classifier, {}, question).sufficient_reasons(
        general=True, shortest=is_soon, limit=_LISTED if is_soon else 1, timeout=timeout
    )


def _greedily(
    candidates: Sequence[tuple[int, Conditions]], rows: Rows, chosen: Bools, terms: Terms, needed: int
) -> tuple[list[Candidate], int]:
    """Each time the candidate that covers the most rows which none before it covers; how many rows that are in all.

    What a candidate adds only gets less, so that it is counted anew only when it comes to the top.
    """
    heap = [(-count, len(conditions), conditions) for count, conditions in candidates]
    heapify(heap)
    picked: list[Candidate] = []
    left = chosen.copy()
    covered = 0
    while heap and covered < needed:
        _, length, conditions = heappop(heap)
        fits = meeting(rows, terms, conditions) & chosen
        adds = rows.count(fits & left)
        if not adds:
            continue
        if heap and (-adds, length, conditions) > heap[0]:
            heappush(heap, (-adds, length, conditions))
            continue
        picked.append(Candidate(conditions, fits))
        left &= ~fits
        covered += adds
    return picked, covered


def cumulated(rules: Sequence[Candidate], rows: Rows) -> Iterator[tuple[int, int, int]]:
    """For each rule the rows that meet it, those of them that meet none before, and those that meet any so far."""
    seen = np.zeros(len(rows), bool)
    for rule in rules:
        new = rule.covered & ~seen
        seen |= rule.covered
        yield rows.count(rule.covered), rows.count(new), rows.count(seen)
