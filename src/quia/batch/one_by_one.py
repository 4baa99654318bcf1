"""Rows of a classifier that explains one instance at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quia.batch.answers import LARGEST_COUNT, Answers, Numbers
from quia.batch.lists import Gathered, Lists
from quia.batch.question import Request
from quia.batch.regions import Listed
from quia.batch.superfluous import marked
from quia.batch.table import States
from quia.boxes import Box
from quia.classifier import DecidesRows, offers
from quia.counterfactual import Change, changes, without_missing
from quia.errors import QuiaError, Unsupported
from quia.explanation import Explanation
from quia.families import Found
from quia.patience import Clock, OutOfTime, Patience
from quia.question import Question
from quia.reason import KINDS, Kind, Members
from quia.region import Region
from quia.widen import Enough, Widening

if TYPE_CHECKING:
    from quia.classifier import Classifier

_MOST_ROWS = 32  # that one thread takes at a time


def answer(classifier: Classifier, rows: States, request: Request, near: Region | None = None) -> Answers:
    """The answers for encoded rows, several at a time: a kernel that works for long lets the others go on.

    `near` is what lies near to all of them.
    """
    decisions = decisions_of(classifier, rows)
    stop = threading.Event()
    size = max(1, min(_MOST_ROWS, len(rows) // (4 * request.threads)))
    pieces = [slice(first, first + size) for first in range(0, len(rows), size)]

    def answered(piece: slice) -> Answers:
        return _answered(classifier, rows[piece], decisions[piece], request, near, stop)

    if request.threads < 2 or len(pieces) < 2:
        return answered(slice(None))
    with ThreadPoolExecutor(min(request.threads, len(pieces))) as pool:
        try:
            return Answers.join(list(pool.map(answered, pieces)))
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _answered(
    classifier: Classifier,
    rows: States,
    decisions: npt.NDArray[np.int32],
    request: Request,
    near: Region | None,
    stop: threading.Event,
) -> Answers:
    table = _Table(request)
    for states, decision in zip(rows.tolist(), decisions.tolist(), strict=True):
        if stop.is_set():
            raise QuiaError("stopped")
        table.add(_explanation(classifier, states, decision, request, near))
        table.decisions.append(decision)

    def question_of(row: int) -> Question:
        return request.terms.question(rows[row].tolist(), int(decisions[row]), near)

    answers = table.answers()
    for name in request.marked:
        answers.lists[name] = marked(classifier, question_of, answers.lists[name], general=request.general)
    return answers


def decisions_of(classifier: Classifier, rows: States) -> npt.NDArray[np.int32]:
    """The class of each encoded row, none of which depends on what is unknown."""
    if offers(classifier, DecidesRows):
        return classifier.decide_rows(rows)
    return np.array([classifier.decide(row) for row in rows.tolist()], np.int32).reshape(len(rows))


def _explanation(
    classifier: Classifier, states: list[int], decision: int, request: Request, near: Region | None
) -> Explanation | None:
    """The explanation of a row; None if there is nothing to ask, as the decision is the class asked against."""
    if decision == request.terms.target:
        return None
    return Explanation(classifier, {}, request.terms.question(states, decision, near))


class _Table:
    """The columns, gathered row by row; each row has the time given to itself."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.decisions: list[int] = []
        self.complete: list[bool] = []
        self.lists = {
            name: Gathered(ranges=request.general or name == "counterfactuals") for name in _list_names(request)
        }
        self.numbers: dict[str, list[int | None]] = {name: [] for name in _number_names(request)}

    def add(self, explanation: Explanation | None) -> None:
        """One more row."""
        self.is_complete = explanation is not None
        patience = Patience(self.request.timeout)
        for kind in KINDS:
            if kind in self.request.shortest:
                found = self._find(explanation, kind, True, patience)
                self._list(f"shortest_{kind}", kind, found, explanation, patience, counted=True)
                self._number(f"shortest_{kind}_ties", found)
            if self.request.counts:
                self._number(f"{kind}_count", self._find(explanation, kind, False, patience))
            if self.request.all_reasons:
                found = self._find(explanation, kind, False, patience, wait=0.0)
                self._list(f"{kind}_reasons", kind, found, explanation, patience)
        if self.request.counterfactuals:
            self._changes(explanation, patience)
        if self.request.protected:
            alone = None if explanation is None else _protected_alone(explanation, self.request.protected)
            found = self._find(alone, "necessary", False, patience)
            self._list("bias_reasons", "necessary", found, alone, patience)
            if self.request.tells_vacuous:
                self._vacuous(explanation, found)
        self.complete.append(self.is_complete)

    def _find(
        self,
        explanation: Explanation | None,
        kind: Kind,
        shortest: bool,
        patience: Patience,
        wait: float | None = None,
    ) -> Found | None:
        if explanation is None:
            return None
        try:
            return explanation.find(kind, shortest, patience, wait)
        except Unsupported:  # a circuit may explain one of its decisions only
            return None

    def _list(
        self,
        name: str,
        kind: Kind,
        found: Found | None,
        explanation: Explanation | None,
        patience: Patience,
        *,
        counted: bool = False,
    ) -> None:
        # Of all reasons the first can be had one by one where the family does not fit; ties cannot be counted then.
        is_found = found is not None and not found.is_cut_short and (found.family is not None or not counted)
        listed = None
        if found is not None and explanation is not None and is_found:
            listed = self._boxes(kind, found, explanation, self.request.limits[name], patience)
        for members, box in listed or ():
            self.lists[name].add(members, box)
        self.lists[name].end_row(listed is not None)
        self.is_complete &= listed is not None

    def _boxes(
        self, kind: Kind, found: Found, explanation: Explanation, most: int, patience: Patience
    ) -> list[tuple[Members, Box]] | None:
        """The first reasons, each with its states; None if the time was not enough for any."""
        sets = self._sets(kind, found, explanation, most, patience)
        if not self.request.general:
            states = explanation.states
            return [(of, tuple(((states[v],) * 2,) for v in of)) for of in sets]
        widening = Widening(explanation.classifier, explanation.question, kind)
        with patience.last_step() as clock:
            first, in_time = first_boxes(widening, list(sets), most, clock, self.request.coverage)
        self.is_complete &= in_time
        return first

    def _sets(
        self, kind: Kind, found: Found, explanation: Explanation, most: int, patience: Patience
    ) -> Iterable[Members]:
        """The first so many sets of features; where they come as they are found, all that are minimal."""
        if found.is_ordered:
            return islice(found.listing(), most)
        first = [members for members in islice(found.listing(), most) if members not in found.loose]
        if found.is_all_known():
            return islice(explanation.find(kind, False, patience).listing(), most)
        self.is_complete &= len(first) == most
        return first

    def _number(self, name: str, found: Found | None) -> None:
        count = None if found is None or found.family is None else found.family.count()
        self.numbers[name].append(count)
        self.is_complete &= count is not None and count <= LARGEST_COUNT

    def _vacuous(self, explanation: Explanation | None, found: Found | None) -> None:
        """Whether the decision is not biased only because no possible world could show it."""
        count = None if found is None or found.family is None else found.family.count()
        is_vacuous = explanation is not None and count == 0 and not explanation.can_differ(self.request.protected)
        self.numbers["bias_vacuous"].append(None if count is None else int(is_vacuous))

    def _changes(self, explanation: Explanation | None, patience: Patience) -> None:
        shortest = self._find(explanation, "necessary", True, patience)
        known = shortest is not None and shortest.family is not None
        gathered = self.lists["counterfactuals"]
        if shortest is not None and explanation is not None and known:
            asked = (explanation.classifier, explanation.question, shortest.listing(), self.request.counterfactuals)
            with patience.last_step() as clock:
                found, is_whole = first_changes(*asked, clock=clock)
            gathered.add_changes(found)
            self.is_complete &= is_whole
        gathered.end_row(known)
        self.is_complete &= known

    def answers(self) -> Answers:
        """The columns."""
        return Answers(
            np.array(self.decisions, np.int32).reshape(len(self.decisions)),
            np.array(self.complete, bool),
            {name: gathered_lists(gathered) for name, gathered in self.lists.items()},
            {name: Numbers.of(numbers) for name, numbers in self.numbers.items()},
        )


def gathered_lists(gathered: Gathered) -> Lists | Listed:
    """What was gathered: single states, or regions."""
    lists = gathered.lists()
    return lists if lists.range_start is None else Listed.of(lists)


def first_boxes(
    widening: Widening, sets: Sequence[Members], most: int, clock: Clock, whole_sets: bool
) -> tuple[list[tuple[Members, Box]] | None, bool]:
    """The first so many general reasons over sets of variables, and whether time was enough; None if it was for none.

    Where boxes must be looked for, each set of variables has its share of the time, and if they are too many, the
    widest found stands for all. With `whole_sets`, all those over a set of which one is among them: another order may
    put others first.
    """
    found: list[tuple[Members, Box]] = []
    is_whole = True
    for place, of in enumerate(sets):
        if len(found) >= most:
            break
        how = {"most": most - len(found), "is_ordered": not whole_sets, "share": 1 / (len(sets) - place)}
        try:
            boxes, is_all, _, in_time = widening.all_or_some(of, clock, **how)
        except OutOfTime:
            return None, False
        found += [(of, box) for box in (boxes if is_all else boxes[:1])]
        is_whole &= in_time
    if not is_whole and not found:
        return None, False
    return (found if whole_sets else found[:most]), is_whole


def first_changes(
    classifier: Classifier,
    question: Question,
    necessary: Iterable[Members],
    most: int,
    *,
    clock: Clock | None = None,
    known: Mapping[Members, list[Box]] | None = None,
) -> tuple[list[Change], bool]:
    """The first so many of the nearest changes, and whether time was enough; `known` as for `changes`.

    They are as `Explanation.counterfactuals` has them.
    """
    clock = Clock() if clock is None else clock
    found: list[Change] = []
    try:
        found += islice(changes(classifier, question, necessary, clock, most=most, known=known), most)
        advisable = question if found or not most else without_missing(question)
        if advisable.possible.bounds == question.possible.bounds:
            return found, True
        # Whatever is shortest needs a value to go missing: ask what would be if none could.
        shortest = Explanation(classifier, {}, advisable).find("necessary", True, Patience(clock.left))
        found += islice(changes(classifier, advisable, shortest.listing(), clock, most=most), most)
        return found, not shortest.is_cut_short
    except Enough:
        return found, bool(found)
    except OutOfTime:
        return found, False


def _protected_alone(explanation: Explanation, protected: tuple[int, ...]) -> Explanation:
    """The same with nothing else that can change."""
    others = set(range(len(explanation.variables))).difference(protected)
    return replace(explanation, question=explanation.question.freeze(others))


def _list_names(request: Request) -> Iterator[str]:
    yield from (f"shortest_{kind}" for kind in KINDS if kind in request.shortest)
    yield from (f"{kind}_reasons" for kind in KINDS if request.all_reasons)
    if request.counterfactuals:
        yield "counterfactuals"
    if request.protected:
        yield "bias_reasons"


def _number_names(request: Request) -> Iterator[str]:
    for kind in KINDS:
        if kind in request.shortest:
            yield f"shortest_{kind}_ties"
        if request.counts:
            yield f"{kind}_count"
    if request.tells_vacuous:
        yield "bias_vacuous"
