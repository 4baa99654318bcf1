"""From encoded rows to their answers: many at once where the classifier can, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.batch import one_by_one, weighed
from quia.batch.answers import LARGEST_COUNT, Answers, Numbers
from quia.batch.lists import Bools, Gathered, Ints, Lists
from quia.batch.question import Request
from quia.batch.regions import Conditions, Listed, Regions, reaching_over
from quia.batch.superfluous import marked
from quia.batch.table import States as Rows
from quia.batch.table import distinct
from quia.boxes import Box
from quia.classifier import Batches, WeighsRows, offers
from quia.constrained import Constrained
from quia.explanation import Explanation
from quia.families import MEMORY
from quia.patience import Clock
from quia.question import Question
from quia.ranges import difference
from quia.reason import KINDS, Kind, Members
from quia.region import Region
from quia.variables import UNKNOWN
from quia.widen import Widening

if TYPE_CHECKING:
    from quia.classifier import Classifier


def answer(classifier: Classifier, rows: Rows, request: Request, near: Region | None = None) -> Answers:
    """The answers for encoded rows, each worked out anew; `near` is what lies near to all of them."""
    if offers(classifier, Batches):
        return _in_boxes(classifier, rows, request, near)
    if offers(classifier, WeighsRows) and not request.worlds.told:
        return weighed.answer(classifier, rows, request)
    return one_by_one.answer(classifier, rows, request, near)


def _in_boxes(classifier: Batches, rows: Rows, request: Request, near: Region | None) -> Answers:
    """The answers for rows, those together that have the same bounds."""
    worlds = request.worlds
    directed = sorted({*worlds.rising, *worlds.falling})
    if not directed or not len(rows):
        groups = [np.arange(len(rows))]
    else:
        _, which, _ = distinct(rows[:, directed])
        order = np.argsort(which, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    parts: list[Answers] = []
    for group in groups:
        own = np.ascontiguousarray(rows[group])
        possible = worlds.bounds(own[0].tolist(), near) if len(own) else worlds.possible
        batch = classifier.boxed(possible) if possible.bounds else classifier.batch
        found = _by_kernel(_Kernel(classifier, batch, request, near), own)
        parts.append(
            _without_reaching_over(
                found, own, possible, partial(one_by_one.answer, classifier, request=request, near=near)
            )
        )
    place = np.empty(len(rows), np.int64)
    place[np.concatenate(groups)] = np.arange(len(rows))
    return Answers.join(parts).take(place) if len(groups) > 1 else parts[0]


def _without_reaching_over(
    found: Answers, rows: Rows, possible: Region, answer_rows: Callable[[Rows], Answers]
) -> Answers:
    """The answers, those of rows made anew whose changes reach over what is impossible: nobody can change to that."""
    bad = np.zeros(len(rows), bool)
    for name, lists in found.lists.items():
        if isinstance(lists, Listed) and "sufficient" not in name and possible.bounds:
            reaches = reaching_over(lists.regions, possible)
            bad[np.repeat(np.arange(len(rows)), np.diff(lists.set_start))[reaches[lists.which]]] = True
    again = np.flatnonzero(bad)
    if not len(again):
        return found
    place = np.arange(len(rows))
    place[again] = np.arange(len(rows), len(rows) + len(again))
    return Answers.join([found, answer_rows(np.ascontiguousarray(rows[again]))]).take(place)


_FEW = 200
"""So many rows are answered in less time than it takes to start threads for them."""


class _Kernel(NamedTuple):
    """What the kernel is asked for rows that share their bounds: by `batch`, of a request about a classifier."""

    classifier: Batches
    batch: Callable[..., Any]
    request: Request
    near: Region | None

    def ask(self, rows: Rows, **asked: Any) -> Any:
        """What it has to say of all rows."""
        terms, request = self.request.terms, self.request
        return self.batch(
            rows,
            keeps=None if terms.target is None else _mask(len(self.classifier.classes), terms.keeps(-1)),
            costs=request.costs,
            numbers=np.array([len(v.cuts) + 1 if v.is_numeric else 0 for v in terms.variables], np.int32),
            threads=request.threads if len(rows) > _FEW else 1,
            timeout_per_row=request.timeout,
            memory=MEMORY,
            **asked,
        )

    def question(self, states: list[int], decision: int) -> Question:
        """The question about one of the rows."""
        return self.request.terms.question(states, decision, self.near)


def _by_kernel(kernel: _Kernel, rows: Rows) -> Answers:
    request, terms = kernel.request, kernel.request.terms
    frozen = _mask(len(terms.variables), terms.frozen)
    found = kernel.ask(
        rows,
        frozen=frozen,
        limit=request.limit,
        general=request.general,
        necessary="necessary" in request.shortest,
        sufficient="sufficient" in request.shortest,
        count_necessary=request.counts,
        count_sufficient=request.counts,
    )
    decision = found["decision"]
    void = np.zeros(len(rows), bool) if terms.target is None else decision == terms.target
    lists: dict[str, Lists | Listed] = {}
    numbers: dict[str, Numbers] = {}
    complete = ~void
    for kind in KINDS:
        if kind in request.shortest:
            lists[f"shortest_{kind}"] = _lists(found, kind, rows, void)
            numbers[f"shortest_{kind}_ties"] = _numbers(found[kind], "ties", void)
            complete &= found[kind]["complete"].astype(bool)
        if request.counts:
            numbers[f"{kind}_count"] = _numbers(found[f"count_{kind}"], "count", void)
            complete &= found[f"count_{kind}"]["complete"].astype(bool)
    for number in numbers.values():
        complete[number.beyond(LARGEST_COUNT)] = False
    if request.all_reasons:
        asked = {"frozen": frozen, "limit": request.all_reasons, "general": request.general}
        every = kernel.ask(rows, shortest=False, **asked)
        for kind in KINDS:
            lists[f"{kind}_reasons"] = _lists(every, kind, rows, void)
            complete &= every[kind]["complete"].astype(bool)
    if request.protected:
        # The necessary reasons of protected features alone: those that are left when nothing else can change.
        others = _mask(len(terms.variables), set(range(len(terms.variables))).difference(request.protected))
        asked = {"frozen": others, "limit": request.limits["bias_reasons"], "general": request.general}
        bias = kernel.ask(rows, shortest=False, sufficient=False, **asked)
        lists["bias_reasons"] = _lists(bias, "necessary", rows, void)
        complete &= bias["necessary"]["complete"].astype(bool)
        if request.tells_vacuous:
            numbers["bias_vacuous"] = _vacuous(kernel, rows, decision, lists["bias_reasons"])
    if request.coverage:
        for name, first in lists.items():
            assert isinstance(first, Listed), "only general reasons are counted"
            lists[name] = _with_whole_sets(kernel, rows, decision, first, name)
            complete &= lists[name].known
    for name in request.marked:
        each = partial(_question_of, kernel, rows, decision)
        lists[name] = marked(kernel.classifier, each, lists[name], general=request.general)
    if request.counterfactuals:
        lists["counterfactuals"] = _counterfactuals(kernel, rows, decision, void, frozen)
        complete &= lists["counterfactuals"].known
    return Answers(decision, complete & ~void, lists, numbers)


def _question_of(kernel: _Kernel, rows: Rows, decision: Ints, row: int) -> Question:
    return kernel.question(rows[row].tolist(), int(decision[row]))


def _mask(size: int, members: Iterable[int]) -> npt.NDArray[np.uint8]:
    mask = np.zeros(size, np.uint8)
    mask[list(members)] = 1
    return mask


def _lists(found: Any, kind: Kind, rows: Rows, void: Bools) -> Lists | Listed:
    part = found[kind]
    known, set_start = part["complete"].astype(bool) & ~void, part["reason_start"]
    labels = np.full(set_start[-1], -1, np.int32)
    lists: Lists | Listed
    if "regions" in found:
        table = found["regions"]
        conditions = Conditions(table["members"], table["range_start"], table["range_low"], table["range_high"])
        lists = Listed(known, set_start, part["region"], labels, Regions.of(conditions, table["member_start"]))
    else:
        members, member_start = part["members"], part["member_start"]
        row_of_set = np.repeat(np.arange(len(rows)), np.diff(set_start))
        row_of_member = np.repeat(row_of_set, np.diff(member_start))
        lists = Lists.of_states(known, set_start, member_start, members, rows[row_of_member, members], labels)
    # A row that has no list has no sets.
    return lists if known.all() else lists.first(np.where(known, np.diff(set_start), 0))


def _numbers(part: Any, name: str, void: Bools) -> Numbers:
    values = np.where(void, -1, part[name])
    return Numbers(values, {row: number for row, number in part["large"].items() if not void[row]})


def _vacuous(kernel: _Kernel, rows: Rows, decision: Ints, reasons: Lists | Listed) -> Numbers:
    """Of each row whether it is not biased only because no possible world could show it: 1 or 0; -1 if not known."""
    classifier, protected = kernel.classifier, kernel.request.protected
    values = np.where(reasons.known, 0, -1)
    clear = np.flatnonzero(reasons.known & (np.diff(reasons.set_start) == 0))
    # It turns on these alone, and on the bounds, which all rows share.
    tied = classifier.constraint.tested if isinstance(classifier, Constrained) else ()
    first, which, _ = distinct(rows[clear][:, sorted({*tied, *protected})])
    told = [
        not Explanation(classifier, {}, _question_of(kernel, rows, decision, row)).can_differ(protected)
        for row in clear[first].tolist()
    ]
    values[clear] = np.array(told, np.int64)[which]
    return Numbers(values.astype(np.int64))


def _with_whole_sets(kernel: _Kernel, rows: Rows, decision: Ints, lists: Listed, name: str) -> Listed:
    """The lists with all regions of the last set of features that a limit has cut short: any may fit the most rows."""
    request = kernel.request
    cut = np.flatnonzero(np.diff(lists.set_start) >= max(request.limits[name], 1))
    if not len(cut):
        return lists
    kind: Kind = "sufficient" if "sufficient" in name else "necessary"
    others = set(range(rows.shape[1])).difference(request.protected)
    gathered = Gathered(ranges=True)
    sets = list(lists.each_row())
    for row in cut.tolist():
        question = _question_of(kernel, rows, decision, row)
        widening = Widening(kernel.classifier, question.freeze(others) if name == "bias_reasons" else question, kind)
        last, _ = sets[row][-1]
        found, _ = one_by_one.first_boxes(widening, [last], 1, Clock(request.timeout), True)
        for variables, box in [*(each for each in sets[row] if each[0] != last), *(found or ())]:
            gathered.add(variables, box)
        gathered.end_row(found is not None)
    place = np.arange(len(rows))
    place[cut] = np.arange(len(rows), len(rows) + len(cut))
    return Listed.join([lists, Listed.of(gathered.lists())]).take(place)


_EVERY = 2**40


def _counterfactuals(kernel: _Kernel, rows: Rows, decision: Ints, void: Bools, frozen: npt.NDArray[np.uint8]) -> Listed:
    """The nearest changes of every row, the first so many, from all its shortest necessary reasons."""
    classifier, terms = kernel.classifier, kernel.request.terms
    # What changes a decision leads to one class if there is only one to lead to.
    is_direct = len(terms.classes) == 2 or terms.target is not None
    asked = {"frozen": frozen, "limit": _EVERY, "general": is_direct, "sufficient": False}
    found = kernel.ask(rows, **asked)
    shortest = _lists(found, "necessary", rows, void)
    is_partial = (rows[:, list(classifier.tested)] == UNKNOWN).any(axis=1).tolist()
    gathered = Gathered(ranges=True)
    for row, (own, sets) in enumerate(zip(rows.tolist(), shortest.each_row(), strict=True)):
        boxes: dict[Members, list[Box]] = {}
        for variables, box in sets:
            boxes.setdefault(variables, []).append(box)
        if boxes:
            question = kernel.question(own, int(decision[row]))
            known = boxes if is_direct and not is_partial[row] and not _reach_over(boxes, question) else None
            most = kernel.request.counterfactuals
            gathered.add_changes(one_by_one.first_changes(classifier, question, boxes, most, known=known)[0])
        gathered.end_row(bool(shortest.known[row]))
    return Listed.of(gathered.lists())


def _reach_over(boxes: Mapping[Members, list[Box]], question: Question) -> bool:
    """Whether one of some boxes has states that are not possible."""
    bounds = question.possible.bounds
    return any(
        difference(states, bounds[v])
        for members, found in boxes.items()
        if not bounds.keys().isdisjoint(members)
        for box in found
        for v, states in zip(members, box, strict=True)
        if v in bounds
    )
