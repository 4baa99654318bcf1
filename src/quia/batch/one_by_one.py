"""Rows of a classifier that explains one instance at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quia.batch.answers import LARGEST_COUNT, Answers, Numbers
from quia.batch.lists import Gathered, Lists
from quia.batch.question import Request
from quia.batch.regions import Listed
from quia.boxes import Box
from quia.counterfactual import Change, changes, without_missing
from quia.errors import Unsupported
from quia.explanation import Explanation
from quia.families import Found
from quia.patience import Clock, OutOfTime, Patience
from quia.question import Question
from quia.reason import KINDS, Kind, Members
from quia.widen import Widening

if TYPE_CHECKING:
    from quia.classifier import Classifier


def answer(classifier: Classifier, rows: npt.NDArray[np.int32], request: Request) -> Answers:
    """The answers for encoded rows."""
    table = _Table(request)
    for states in rows.tolist():
        table.add(_explanation(classifier, states, classifier.decide(states), request))
        table.decisions.append(classifier.decide(states))
    return table.answers()


def _explanation(classifier: Classifier, states: list[int], decision: int, request: Request) -> Explanation | None:
    """The explanation of a row; None if there is nothing to ask, as the decision is the class asked against."""
    if decision == request.terms.target:
        return None
    return Explanation(classifier, {}, request.terms.question(states, decision))


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
                found = self._find(explanation, kind, False, patience)
                self._list(f"{kind}_reasons", kind, found, explanation, patience)
        if self.request.counterfactuals:
            self._changes(explanation, patience)
        if self.request.protected:
            alone = None if explanation is None else _protected_alone(explanation, self.request.protected)
            found = self._find(alone, "necessary", False, patience)
            self._list("bias_reasons", "necessary", found, alone, patience)
        self.complete.append(self.is_complete)

    def _find(self, explanation: Explanation | None, kind: Kind, shortest: bool, patience: Patience) -> Found | None:
        if explanation is None:
            return None
        try:
            return explanation.find(kind, shortest, patience)
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
        """The first reasons, each with its states; None if the time was not enough to widen them."""
        if not self.request.general:
            states = explanation.states
            return [(of, tuple(((states[v],) * 2,) for v in of)) for of in islice(found.listing(), most)]
        widening = Widening(explanation.classifier, explanation.question, kind)
        with patience.last_step() as clock:
            return first_boxes(widening, found.listing(), most, clock, self.request.coverage)

    def _number(self, name: str, found: Found | None) -> None:
        count = None if found is None or found.family is None else found.family.count()
        self.numbers[name].append(count)
        self.is_complete &= count is not None and count <= LARGEST_COUNT

    def _changes(self, explanation: Explanation | None, patience: Patience) -> None:
        shortest = self._find(explanation, "necessary", True, patience)
        known = shortest is not None and shortest.family is not None
        gathered = self.lists["counterfactuals"]
        if shortest is not None and explanation is not None and known:
            asked = (explanation.classifier, explanation.question, shortest.listing(), self.request.counterfactuals)
            gathered.add_changes(first_changes(*asked))
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
    widening: Widening, sets: Iterable[Members], most: int, clock: Clock, whole_sets: bool
) -> list[tuple[Members, Box]] | None:
    """The first so many general reasons over sets of variables; None if the clock ended before.

    With `whole_sets`, all those over a set of which one is among them: another order may put others first.
    """
    found: list[tuple[Members, Box]] = []
    source = iter(sets)
    try:
        while len(found) < most and (of := next(source, None)) is not None:
            found += [(of, box) for box in widening.boxes(of, clock)]
    except OutOfTime:
        return None
    return found if whole_sets else found[:most]


def first_changes(
    classifier: Classifier,
    question: Question,
    necessary: Iterable[Members],
    most: int,
    *,
    known: Mapping[Members, list[Box]] | None = None,
) -> list[Change]:
    """The first so many of the nearest changes, as `Explanation.counterfactuals` has them; `known` as for `changes`."""
    found = list(islice(changes(classifier, question, necessary, Clock(), known=known), most))
    advisable = question if found or not most else without_missing(question)
    if advisable is question or advisable.is_only_frozen:
        return found
    # Whatever is shortest needs a value to go missing: ask what would be if none could.
    shortest = Explanation(classifier, {}, advisable).find("necessary", True, Patience(None))
    return list(islice(changes(classifier, advisable, shortest.listing(), Clock()), most))


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
