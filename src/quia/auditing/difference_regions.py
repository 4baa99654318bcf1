"""Regions where two models differ: general sufficient reasons of both as one, few that cover most differing rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from quia.auditing.differing_rows import Batches, DifferingRows, Ints, numbered
from quia.auditing.learned import learned
from quia.auditing.rows import read_rows
from quia.auditing.table import Table
from quia.batch.answering import answer
from quia.batch.coverage import Coverage
from quia.batch.lists import Bools, Gathered
from quia.batch.question import Request
from quia.batch.regions import Listed
from quia.batch.table import States, states_type
from quia.boxes import Box
from quia.classifier import Batches as ExplainsMany
from quia.classifier import Classifier, Reduces, offers
from quia.explanation import Explanation
from quia.patience import Clock, OutOfTime
from quia.reason import Members
from quia.reference import Reference, admitting
from quia.variables import UNKNOWN, Variable
from quia.widen import Widening

SHARE = 0.9
"""So much of the differing rows is to be covered."""
MOST_REGIONS = 12
"""So many regions are enough, whatever they cover."""
MOST_EXPLAINED = 20_000
"""So many distinct rows are explained at the most, the most frequent, where all are explained at once."""
MOST_SEARCHED = 100
"""So many where each row is a search."""
_AT_A_TIME = 400  # rows, between two looks at the clock
_SHARE_OF_TIME = 0.1  # of what is left, for one row
_BOXES = 4  # regions over the same features
_CHOSEN_FROM = 2000  # regions, those that most rows are in


@dataclass(frozen=True, slots=True)
class Found:
    """A region, the pair of classes that it forces, which of the differing rows are in it, and how many of these anew.

    `cumulated` rows are in it or in one before it.
    """

    pair: int
    members: Members
    box: Box
    fits: Bools
    rows: int
    new: int
    cumulated: int


def covering(
    rows: DifferingRows, batches: Batches, classifier: Classifier, request: Request, clock: Clock
) -> tuple[list[Found], bool]:
    """Few regions that cover most of the differing rows, and whether time was enough for that."""
    states = np.ascontiguousarray(rows.states.astype(states_type(request.terms.variables)))
    if not offers(classifier, ExplainsMany):
        found = _learned(rows, states, batches, request, clock)
        if found and found[-1].cumulated >= SHARE * rows.repeats.sum():
            return found, True
        if len(found) >= MOST_REGIONS:
            return found, True
        if found and clock.left == 0:
            return found, False
    explain = _at_once if offers(classifier, ExplainsMany) else _one_after_the_other
    listed, pairs, in_time = explain(rows, states, classifier, request, clock)
    more = _greedy(rows, states, request.terms.variables, listed, np.array(pairs, np.int64)) if listed else []
    return more, in_time or (bool(more) and more[-1].cumulated >= SHARE * rows.repeats.sum())


def _learned(rows: DifferingRows, states: States, batches: Batches, request: Request, clock: Clock) -> list[Found]:
    """Regions that were learned from all rows and proved, each for the most frequent pair of what is left."""
    terms = request.terms
    if any(terms.variables[v].is_line for v in terms.classifier.tested):
        return []
    every = read_rows(Table((), lambda: numbered(batches())), terms, [])
    left, apart = np.ones(len(states), bool), every.decision.copy()
    regions: list[tuple[int, Members, Box]] = []
    with suppress(OutOfTime):
        while left.any() and len(regions) < 2 * MOST_REGIONS:
            counts = np.bincount(rows.pairs[left], rows.repeats[left])
            pair = int(np.argmax(counts))
            conditions = learned(every, pair, apart == pair, terms, clock)
            if conditions is None:
                apart[apart == pair] = -1
                left &= rows.pairs != pair
                continue
            members, box = tuple(v for v, _ in conditions), tuple(ranges for _, ranges in conditions)
            regions.append((pair, members, box))
            apart[_fits(terms.variables, every.states, members, box)] = -1
            left &= ~_fits(terms.variables, states, members, box)
    return _in_order(rows, states, terms.variables, regions)


def _in_order(
    rows: DifferingRows, states: States, variables: tuple[Variable, ...], regions: Sequence[tuple[int, Members, Box]]
) -> list[Found]:
    """Of some regions the one that covers the most, then the one that covers the most of what is left, and so on."""
    fits = [_fits(variables, states, members, box) for _, members, box in regions]
    left, total, covered = np.ones(len(states), bool), int(rows.repeats.sum()), 0
    found: list[Found] = []
    while fits and covered < SHARE * total and len(found) < MOST_REGIONS:
        counts = [int(rows.repeats[each & left].sum()) for each in fits]
        best = int(np.argmax(counts))
        if not counts[best]:
            break
        covered += counts[best]
        every = int(rows.repeats[fits[best]].sum())
        found.append(Found(*regions[best], fits[best], every, counts[best], covered))
        left &= ~fits[best]
    return found


_Explained = tuple[Listed | None, list[int], bool]
"""Regions of some rows, the pairs of classes of these rows, and whether time was enough."""


def _at_once(rows: DifferingRows, states: States, classifier: Classifier, request: Request, clock: Clock) -> _Explained:
    """The first shortest general reasons of the most frequent rows, many at a time."""
    most = np.argsort(-rows.repeats, kind="stable")[:MOST_EXPLAINED]
    parts: list[Listed] = []
    pairs: list[int] = []
    for first in range(0, len(most), _AT_A_TIME):
        some = most[first : first + _AT_A_TIME]
        try:
            clock()
        except OutOfTime:
            return (Listed.join(parts) if parts else None), pairs, False
        asked = replace(request, timeout=clock.left)
        found = answer(classifier, np.ascontiguousarray(states[some]), asked).lists["shortest_sufficient"]
        assert isinstance(found, Listed)
        parts.append(found)
        pairs += rows.pairs[some].tolist()
    return (Listed.join(parts) if parts else None), pairs, True


def _one_after_the_other(
    rows: DifferingRows, states: States, classifier: Classifier, request: Request, clock: Clock
) -> _Explained:
    """The same where each row is a search: the most frequent of the rows that are not covered is explained next."""
    left, gathered = np.ones(len(states), bool), Gathered(ranges=True)
    pairs: list[int] = []
    in_time = True
    while rows.repeats[~left].sum() < SHARE * rows.repeats.sum() and len(pairs) < MOST_SEARCHED:
        at = int(np.flatnonzero(left)[np.argmax(rows.repeats[left])])
        left[at] = False
        share = clock.share(_SHARE_OF_TIME)
        boxes = regions_of(classifier, states[at].tolist(), int(rows.pairs[at]), request, share)
        in_time &= bool(boxes)
        if clock.left == 0:
            in_time = False
            break
        pairs.append(int(rows.pairs[at]))
        for each in boxes:
            gathered.add(*each)
        gathered.end_row(True)
        best = max((_fits(request.terms.variables, states, *each) & left for each in boxes), key=np.sum, default=None)
        left = left if best is None else left & ~best
    return (Listed.of(gathered.lists()) if pairs else None), pairs, in_time


def regions_of(
    classifier: Classifier, states: Sequence[int], pair: int, request: Request, clock: Clock
) -> list[tuple[Members, Box]]:
    """Regions around an instance that force its pair of classes, over few features; none if time was not enough."""
    question = request.terms.question(states, pair)
    kept = [v for v in classifier.tested if states[v] != UNKNOWN]
    try:
        clock()
        if offers(classifier, Reduces):
            of = tuple(sorted(classifier.reduce(question, kept, clock.share(0.5).left)[0]))
        else:
            of = next(iter(Explanation(classifier, {}, question).sufficient_reasons(timeout=clock.left).members()))
        widened = Widening(classifier, question, "sufficient").boxes_in_time(of, clock, most=_BOXES)
    except (OutOfTime, StopIteration):
        return []
    own = tuple(((states[v], states[v]),) for v in of)
    return [(of, box) for box in widened.boxes[:_BOXES]] or [(of, own)]


def _greedy(
    rows: DifferingRows, states: States, variables: tuple[Variable, ...], listed: Listed, pairs: Ints
) -> list[Found]:
    """Of the regions of some rows those that cover the most, chosen as `_in_order` does."""
    listed = replace(listed, labels=np.repeat(pairs, np.diff(listed.set_start)).astype(np.int32))
    table = listed.distinct()
    pair_of = np.zeros(len(table.regions), np.int64)
    pair_of[table.which] = table.labels  # a region forces one pair, whichever row it explains
    reference = Reference(variables, np.asfortranarray(states), rows.repeats)
    most = np.argsort(-Coverage(reference).rows_of(table.regions), kind="stable")[:_CHOSEN_FROM]
    boxes = list(table.regions)
    return _in_order(rows, states, variables, [(int(pair_of[at]), *boxes[at]) for at in most.tolist()])


def _fits(variables: tuple[Variable, ...], states: States, members: Members, box: Box) -> npt.NDArray[np.bool_]:
    """Which rows are in a region."""
    fits = np.ones(len(states), bool)
    for v, ranges in zip(members, box, strict=True):
        fits &= admitting(variables[v], ranges, states[:, v])
    return fits
