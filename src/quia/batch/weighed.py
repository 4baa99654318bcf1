"""Rows of a classifier whose decisions turn on sums: the shortest reasons of many at once, all else one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quia.batch import one_by_one
from quia.batch.answers import Answers, Numbers
from quia.batch.least_sets import Least, least_sets
from quia.batch.lists import Bools, Gathered, Lists
from quia.batch.question import Request
from quia.batch.regions import Listed
from quia.batch.table import States
from quia.classifier import Weighed, WeighsRows
from quia.patience import Clock
from quia.reason import KINDS, Kind
from quia.widen import Widening

_MOST_ROWS = 2**13
"""So many are weighed at a time."""


def answer(classifier: WeighsRows, rows: States, request: Request) -> Answers:
    """The answers for encoded rows; where a sum is too close to tell, or several matter, as for any classifier."""
    if not request.shortest or request.terms.costs is not None:
        return one_by_one.answer(classifier, rows, request)
    blocks = [rows[begin : begin + _MOST_ROWS] for begin in range(0, max(len(rows), 1), _MOST_ROWS)]
    return Answers.join([_answered(classifier, block, request) for block in blocks])


def _answered(classifier: WeighsRows, rows: States, request: Request) -> Answers:
    decision = one_by_one.decisions_of(classifier, rows)
    parts: list[Answers] = []
    place = np.empty(len(rows), np.int64)
    slow = np.ones(len(rows), bool)
    for label in np.unique(decision).tolist():
        own = np.flatnonzero(decision == label)
        if label == request.terms.target:
            continue
        weighed = classifier.weigh_rows(rows[own], request.terms.keeps(label), request.terms.frozen)
        if not weighed:  # nothing can change it, or only several things at once
            continue
        told, found = _shortest(weighed, request)
        fast = own[told]
        if len(fast):
            slow[fast] = False
            place[fast] = np.arange(len(fast)) + sum(map(len, parts))
            parts.append(_answers(classifier, rows[fast], label, found, request))
    if slow.any() or not parts:
        place[slow] = np.arange(slow.sum()) + sum(map(len, parts))
        parts.append(one_by_one.answer(classifier, rows[slow], request))
    return Answers.join(parts).take(place)


def _shortest(weighed: Sequence[Weighed], request: Request) -> tuple[Bools, dict[Kind, Least]]:
    """Of which rows the shortest reasons of all kinds asked for are told, and these."""
    one, is_one = _that_matters(weighed)
    total = one.losses.sum(axis=1)
    # What is left must not lose more than can be borne; what changes must.
    least = 0 if one.margin else 1
    needs = {"sufficient": total - one.budget, "necessary": one.budget + least}
    found = {
        kind: least_sets(one.losses, needs[kind], request.limit, one.margin, threads=request.threads)
        for kind in request.shortest
    }
    told = is_one & np.logical_and.reduce([each.ties >= 0 for each in found.values()])
    return told, {kind: each.of_rows(np.flatnonzero(told)) for kind, each in found.items()}


def _that_matters(weighed: Sequence[Weighed]) -> tuple[Weighed, Bools]:
    """For each row the one way in which its decision can change, if any, and whether there is no other."""
    can_change = np.stack([each.losses.sum(axis=1) > each.budget - each.margin for each in weighed])
    which = can_change.argmax(axis=0)
    rows = np.arange(can_change.shape[1])
    losses, budget = np.stack([each.losses for each in weighed]), np.stack([each.budget for each in weighed])
    one = Weighed(losses[which, rows], budget[which, rows], max(each.margin for each in weighed))
    return one, can_change.sum(axis=0) < 2


def _answers(classifier: WeighsRows, rows: States, label: int, found: dict[Kind, Least], request: Request) -> Answers:
    """What is known of rows of one class, their shortest reasons being told; what else is asked, one by one."""
    others = one_by_one.answer(classifier, rows, replace(request, shortest=())) if _asks_more(request) else None
    complete = np.ones(len(rows), bool) if others is None else others.complete
    lists: dict[str, Lists | Listed] = {} if others is None else others.lists
    numbers = {} if others is None else others.numbers
    for kind in KINDS:
        if kind in found:
            states = _lists(rows, found[kind])
            name = f"shortest_{kind}"
            in_time = np.ones(len(rows), bool)
            lists[name] = states
            if request.general:
                lists[name], in_time = _widened(classifier, rows, label, states, kind, request)
            numbers[f"{name}_ties"] = Numbers(found[kind].ties)
            complete = complete & lists[name].known & in_time
    return Answers(np.full(len(rows), label, np.int32), complete, lists, numbers)


def _asks_more(request: Request) -> bool:
    return bool(request.counts or request.all_reasons or request.counterfactuals or request.protected)


def _lists(rows: States, found: Least) -> Lists:
    """Sets of variables as lists of the rows' own states."""
    row_of_set = np.repeat(np.arange(len(rows)), np.diff(found.start))
    row_of_member = np.repeat(row_of_set, np.diff(found.member_start))
    states = rows[row_of_member, found.members]
    labels: npt.NDArray[Any] = np.full(len(row_of_set), -1, np.int32)
    known = np.ones(len(rows), bool)
    return Lists.of_states(known, found.start, found.member_start, found.members, states, labels)


def _widened(
    classifier: WeighsRows, rows: States, label: int, states: Lists, kind: Kind, request: Request
) -> tuple[Listed, Bools]:
    """The first general reasons of each row, over its sets of variables, and whether time was enough for these."""
    gathered = Gathered(ranges=True)
    in_time = np.ones(len(rows), bool)
    for row, (own, sets) in enumerate(zip(rows.tolist(), states.each_row(), strict=True)):
        widening = Widening(classifier, request.terms.question(own, label), kind)
        of = [variables for variables, _ in sets]
        found, in_time[row] = one_by_one.first_boxes(
            widening, of, request.limit, Clock(request.timeout), request.coverage
        )
        for variables, box in found or ():
            gathered.add(variables, box)
        gathered.end_row(found is not None)
    return Listed.of(gathered.lists()), in_time
