"""From encoded rows to their answers: many at once where the classifier can, else one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.batch import one_by_one
from quia.batch.answers import LARGEST_COUNT, Answers, Bools, Gathered, Ints, Lists, Numbers
from quia.batch.question import Request
from quia.classifier import Batches, offers
from quia.families import MEMORY
from quia.patience import Clock
from quia.reason import KINDS, Kind
from quia.widen import Widening

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
    if request.general:
        for name in lists:
            if name != "counterfactuals":
                lists[name] = _widened(classifier, rows, decision, lists[name], name, request)
                complete &= lists[name].known
    return Answers(decision, complete & ~void, lists, numbers)


def _widened(
    classifier: Classifier, rows: npt.NDArray[np.int32], decision: Ints, lists: Lists, name: str, request: Request
) -> Lists:
    """The general reasons of lists of states."""
    kind: Kind = "sufficient" if "sufficient" in name else "necessary"
    set_start, member_start = lists.set_start.tolist(), lists.member_start.tolist()
    members = lists.variables.tolist()
    gathered = Gathered(ranges=True)
    others = set(range(rows.shape[1])).difference(request.protected)
    for row, own in enumerate(rows.tolist()):
        if not lists.known[row]:
            gathered.end_row(False)
            continue
        question = request.terms.question(own, int(decision[row]))
        widening = Widening(classifier, question.freeze(others) if name == "bias_reasons" else question, kind)
        sets = (tuple(members[member_start[k] : member_start[k + 1]]) for k in range(*set_start[row : row + 2]))
        found = one_by_one.first_boxes(widening, sets, request.limits[name], Clock(request.timeout), request.coverage)
        for variables, box in found or ():
            gathered.add(variables, box)
        gathered.end_row(found is not None)
    return gathered.lists()


_EVERY = 2**40


def _mask(size: int, members: Iterable[int]) -> npt.NDArray[np.uint8]:
    mask = np.zeros(size, np.uint8)
    mask[list(members)] = 1
    return mask


def _lists(part: Any, rows: npt.NDArray[np.int32], void: Bools) -> Lists:
    members, member_start, set_start = part["members"], part["member_start"], part["reason_start"]
    row_of_set = np.repeat(np.arange(len(rows)), np.diff(set_start))
    row_of_member = np.repeat(row_of_set, np.diff(member_start))
    found = Lists.of_states(
        part["complete"].astype(bool) & ~void,
        set_start,
        member_start,
        members,
        rows[row_of_member, members],
        np.full(len(member_start) - 1, -1, np.int32),
    )
    # A row that has no list has no sets.
    return found if found.known.all() else found.first(np.where(found.known, np.diff(found.set_start), 0))


def _first(found: Lists, most: int) -> Lists:
    """At most so many sets a row."""
    length = np.diff(found.set_start)
    return found if not len(length) or length.max() <= most else found.first(np.minimum(length, most))


def _numbers(part: Any, name: str, void: Bools) -> Numbers:
    values = np.where(void, -1, part[name])
    return Numbers(values, {row: number for row, number in part["large"].items() if not void[row]})


def _counterfactuals(
    classifier: Classifier, rows: npt.NDArray[np.int32], decision: Ints, shortest: Lists, request: Request
) -> Lists:
    """The nearest changes of every row, the first so many."""
    set_start, member_start = shortest.set_start.tolist(), shortest.member_start.tolist()
    members, known = shortest.variables.tolist(), shortest.known.tolist()
    gathered = Gathered(ranges=True)
    for row, own in enumerate(rows.tolist()):
        reasons = [tuple(members[member_start[k] : member_start[k + 1]]) for k in range(*set_start[row : row + 2])]
        if reasons:
            question = request.terms.question(own, int(decision[row]))
            gathered.add_changes(one_by_one.first_changes(classifier, question, reasons, request.counterfactuals))
        gathered.end_row(known[row])
    return gathered.lists()
