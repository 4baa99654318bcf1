"""From encoded rows to their answers: many at once where the classifier can, else one by one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.batch import one_by_one
from quia.batch.answers import LARGEST_COUNT, Answers, Bools, Gathered, Ints, Lists, Numbers
from quia.batch.question import Request
from quia.classifier import Batches, offers
from quia.counterfactual import changes
from quia.families import MEMORY
from quia.patience import Clock
from quia.reason import KINDS

if TYPE_CHECKING:
    from quia.classifier import Classifier


def answer(classifier: Classifier, rows: npt.NDArray[np.int32], request: Request) -> Answers:
    """The answers for encoded rows, each worked out anew."""
    if offers(classifier, Batches):
        return _by_kernel(classifier, rows, request)
    return one_by_one.answer(classifier, rows, request)


def _by_kernel(classifier: Batches, rows: npt.NDArray[np.int32], request: Request) -> Answers:
    terms = request.terms
    common: dict[str, Any] = {
        "keeps": None if terms.target is None else _mask(len(terms.classes), terms.keeps(-1)),
        "costs": request.costs,
        "threads": request.threads,
        "timeout_per_row": request.timeout,
        "memory": MEMORY,
    }
    frozen = _mask(len(terms.variables), terms.frozen)
    # Counterfactuals come from the shortest necessary reasons, all of them, whether those are asked for or not.
    necessary = "necessary" in request.shortest or request.counterfactuals > 0
    found: Any = classifier.batch(
        rows,
        frozen=frozen,
        limit=_EVERY if request.counterfactuals else request.limit,
        necessary=necessary,
        sufficient="sufficient" in request.shortest,
        count_necessary=request.counts,
        count_sufficient=request.counts,
        **common,
    )
    decision = found["decision"]
    void = np.zeros(len(rows), bool) if terms.target is None else decision == terms.target
    lists: dict[str, Lists] = {}
    numbers: dict[str, Numbers] = {}
    complete = ~void
    for kind in KINDS:
        if kind in request.shortest:
            lists[f"shortest_{kind}"] = _first(_lists(found[kind], rows, void), request.limit)
            numbers[f"shortest_{kind}_ties"] = _numbers(found[kind], "ties", void)
        if kind in found:
            complete &= found[kind]["complete"].astype(bool)
        if request.counts:
            numbers[f"{kind}_count"] = _numbers(found[f"count_{kind}"], "count", void)
            complete &= found[f"count_{kind}"]["complete"].astype(bool)
    for number in numbers.values():
        complete[number.beyond(LARGEST_COUNT)] = False
    if request.all_reasons:
        every: Any = classifier.batch(rows, frozen=frozen, limit=request.all_reasons, shortest=False, **common)
        for kind in KINDS:
            lists[f"{kind}_reasons"] = _lists(every[kind], rows, void)
            complete &= every[kind]["complete"].astype(bool)
    if request.counterfactuals:
        shortest = _lists(found["necessary"], rows, void)
        lists["counterfactuals"] = _counterfactuals(classifier, rows, decision, shortest, request)
    if request.protected:
        # The necessary reasons of protected features alone: those that are left when nothing else can change.
        others = _mask(len(terms.variables), set(range(len(terms.variables))).difference(request.protected))
        most = max(request.limit, 1)
        bias: Any = classifier.batch(rows, frozen=others, limit=most, shortest=False, sufficient=False, **common)
        lists["bias_reasons"] = _lists(bias["necessary"], rows, void)
        complete &= bias["necessary"]["complete"].astype(bool)
    return Answers(decision, complete & ~void, lists, numbers)


_EVERY = 2**40


def _mask(size: int, members: Iterable[int]) -> npt.NDArray[np.uint8]:
    mask = np.zeros(size, np.uint8)
    mask[list(members)] = 1
    return mask


def _lists(part: Any, rows: npt.NDArray[np.int32], void: Bools) -> Lists:
    members, member_start, set_start = part["members"], part["member_start"], part["reason_start"]
    row_of_set = np.repeat(np.arange(len(rows)), np.diff(set_start))
    row_of_member = np.repeat(row_of_set, np.diff(member_start))
    found = Lists(
        part["complete"].astype(bool) & ~void,
        set_start,
        member_start,
        members,
        rows[row_of_member, members],
        np.full(len(member_start) - 1, -1, np.int32),
    )
    return _emptied(found) if not found.known.all() else found


def _emptied(found: Lists) -> Lists:
    """Without the sets of rows that have no list."""
    length = np.where(found.known, np.diff(found.set_start), 0)
    return _kept(found, length)


def _first(found: Lists, most: int) -> Lists:
    """At most so many sets a row."""
    length = np.diff(found.set_start)
    return found if not len(length) or length.max() <= most else _kept(found, np.minimum(length, most))


def _kept(found: Lists, length: Ints) -> Lists:
    """The first so many sets of each row."""
    start = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=start[1:])
    sets = np.repeat(found.set_start[:-1] - start[:-1], length) + np.arange(start[-1])
    # Taking every set as if it were a row leaves their own borders as they are.
    alone = Lists(
        np.ones(len(found.labels), bool),
        np.arange(len(found.labels) + 1),
        found.member_start,
        found.variables,
        found.states,
        found.labels,
    ).take(sets)
    return Lists(found.known, start, alone.member_start, alone.variables, alone.states, alone.labels)


def _numbers(part: Any, name: str, void: Bools) -> Numbers:
    values = np.where(void, -1, part[name])
    return Numbers(values, {row: number for row, number in part["large"].items() if not void[row]})


def _counterfactuals(
    classifier: Classifier, rows: npt.NDArray[np.int32], decision: Ints, shortest: Lists, request: Request
) -> Lists:
    """The nearest changed instances of every row, the first so many."""
    set_start, member_start = shortest.set_start.tolist(), shortest.member_start.tolist()
    members, known = shortest.variables.tolist(), shortest.known.tolist()
    gathered = Gathered()
    for row, own in enumerate(rows.tolist()):
        reasons = [
            tuple(members[member_start[k] : member_start[k + 1]]) for k in range(set_start[row], set_start[row + 1])
        ]
        if reasons:
            question = request.terms.question(own, int(decision[row]))
            gathered.add_changes(islice(changes(classifier, question, reasons, Clock()), request.counterfactuals))
        gathered.end_row(known[row])
    return gathered.lists()
