"""The nearest changes: regions of changes of the fewest features in which every point changes the decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import count, islice
from typing import Any, NamedTuple

from quia.boxes import Box, is_within, maximal
from quia.classifier import Classifier, escape_within
from quia.cuts import number_text
from quia.literal import Literal, all_of
from quia.look import Shown, counted, one_line, tagged
from quia.patience import Clock, OutOfTime
from quia.question import Question
from quia.ranges import Ranges, as_listed, covers, difference
from quia.reason import Members
from quia.region import Region
from quia.values import plain_value, readable_value
from quia.variables import UNKNOWN, Variable
from quia.widen import Enough, Widening

MOST_RANKED = 1000
"""Of so many sets of features at a time the regions are put in order."""
_SHARE = 0.25  # of the time that is left, for the regions of one set of features that lead to one class


@dataclass(frozen=True, slots=True)
class Counterfactual(Shown):
    """A region of changes: what changes, and what the decision is then, wherever in the region.

    Each change is a literal, any state of which will do; `now` is what the feature's value is at present, in words, and
    `values` the same as it was given. It is `certain` if the decision is that one whatever the features are whose
    values are missing; else it is so for some values of theirs.
    """

    changes: tuple[Literal, ...]
    decision: str
    certain: bool = True
    now: tuple[str, ...] = ()
    values: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that change."""
        return tuple(literal.feature for literal in self.changes)

    def to_dict(self) -> dict[str, object]:
        """The `counterfactuals` item of the JSON format."""
        values = self.values or self.now
        return {
            "features": list(self.features),
            "changes": [literal.condition for literal in self.changes],
            "now": {name: plain_value(value) for name, value in zip(self.features, values, strict=False)},
            "decision": self.decision,
            "certain": self.certain,
        }

    @property
    def text(self) -> str:
        """What changes, each with what it is now: `capital-gain > 7055.5 (now 2174)`."""
        present = self.now or ("",) * len(self.changes)
        return all_of(
            f"{literal} (now {now})" if now else str(literal)
            for literal, now in zip(self.changes, present, strict=True)
        )

    def __str__(self) -> str:
        return f"{self.text}: {'' if self.certain else 'could be '}{self.decision}"

    def __repr__(self) -> str:
        decided = f"{'' if self.certain else 'could be '}{one_line(self.decision, 40)}"
        return tagged("Counterfactual", f"{decided} with {self.text}")


class Change(NamedTuple):
    """A region of changes in indices: variables, their new states, the class that it then is, certainly or perhaps."""

    variables: Members
    box: Box
    label: int
    certain: bool


class Counterfactuals(Shown, tuple[Counterfactual, ...]):
    """The nearest changes; `complete` says whether these are all.

    Where time ran out before it was told which are the nearest, they are not `are_nearest`: there may be nearer ones.
    Where time was enough, but not all regions of the same features were looked for, they are `is_enough`.
    """

    complete: bool
    are_nearest: bool
    is_enough: bool

    @classmethod
    def within(cls, found: Iterable[Counterfactual], limit: int | None, all_known: bool) -> Counterfactuals:
        """As many as limit and time allow."""
        kept: list[Counterfactual] = []
        complete, is_enough = all_known, False
        try:
            for one in found:
                if len(kept) == limit:
                    complete = False
                    break
                kept.append(one)
        except OutOfTime as late:
            complete, is_enough = False, all_known and isinstance(late, Enough)
        made = cls(kept)
        made.complete, made.are_nearest, made.is_enough = complete, all_known, is_enough
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(self), self.complete, self.are_nearest, self.is_enough)

    def __str__(self) -> str:
        from quia.show.lists import changes_text

        return changes_text(self)

    def __repr__(self) -> str:
        sizes = sorted({len(each.changes) for each in self})
        each = "" if len(self) == 1 else "each "
        of = f"{each}of {counted(sizes[-1], 'feature')}" if sizes else ""
        if len(sizes) > 1:  # the cheapest may be of different sizes
            of = f"of {sizes[0]} to {counted(sizes[-1], 'feature')}"
        nearest = "nearest change" if self.are_nearest else "change"
        more = "" if self.complete else "there may be more" if self.are_nearest else "there may be nearer ones"
        return tagged("Counterfactuals", counted(len(self), nearest) if self else "none", of, more)


def _restored(found: Iterable[Counterfactual], complete: bool, are_nearest: bool, is_enough: bool) -> Counterfactuals:
    made = Counterfactuals.within(found, None, complete)
    made.are_nearest, made.is_enough = are_nearest, is_enough
    return made


def present(question: Question, values: Mapping[str, Any], variable: int) -> str:
    """What a feature's value is at present: as it was given, or else its state."""
    named = question.variables[variable]
    value = values.get(named.name)
    if value is None or named.is_missing(value):
        return named.text(question.states[variable])
    plain = readable_value(value)
    return number_text(plain) if isinstance(plain, float) else str(plain)


def told(question: Question, found: Iterable[Change], values: Mapping[str, Any]) -> Iterator[Counterfactual]:
    """Changes in names, with the values that the instance has now."""
    for variables, box, label, certain in found:
        yield Counterfactual(
            tuple(
                Literal(question.variables[v], states, question.states[v])
                for v, states in zip(variables, box, strict=True)
            ),
            question.classes[label],
            certain,
            tuple(present(question, values, v) for v in variables),
            tuple(values.get(question.variables[v].name) for v in variables),
        )


def changes(
    classifier: Classifier,
    question: Question,
    necessary: Iterable[Members],
    clock: Clock,
    *,
    missing: bool = False,
    most: int | None = None,
    known: Mapping[Members, list[Box]] | None = None,
) -> Iterator[Change]:
    """The regions of changes of necessary reasons' features, one for each class that they lead to, nearest first.

    Each set of features is there before any is there twice; then what crosses the smallest share of a feature's
    states comes first, and equals as the reasons come. Where variables are unknown, what is certain comes before what
    only could be. That a value goes missing is no advice, unless it is asked for. The order is that of MOST_RANKED
    sets of features at a time. OutOfTime if the clock ends; what was found until then is given before. Likewise Enough
    where only the first so many are wanted, and regions that must be looked for are too many: the widest found stand
    for all.

    Where nothing is unknown and there is one class only that changes can lead to, the general necessary reasons are
    these regions: if they are `known` by the features of each, they are taken as they are.
    """
    source = iter(necessary)
    while True:
        ranked: list[tuple[Any, Change]] = []
        is_late = is_short = taken = False
        try:
            for place, reason in zip(count(), islice(source, MOST_RANKED), strict=False):
                taken = True
                regions = (
                    _regions(classifier, question, reason, clock, missing, most)
                    if known is None
                    else _known_regions(question, reason, known[reason], missing)
                )
                found: list[Change] = []
                try:
                    found += regions
                except Enough:
                    is_short = True
                except OutOfTime:  # of what this reason may take, or of all
                    is_late = True
                    clock()
                finally:
                    ranked += _ranked(question, place, found)
        except OutOfTime:
            is_late = True
        yield from (change for _, change in sorted(ranked, key=lambda pair: pair[0]))
        if is_late:
            raise OutOfTime
        if is_short:
            raise Enough
        if not taken:
            return


def _ranked(question: Question, place: int, regions: list[Change]) -> Iterator[tuple[Any, Change]]:
    """The regions of one set of features, each with its place in the whole order."""
    for certain in (True, False):
        mine = [(distance(question, each), each) for each in regions if each.certain == certain]
        mine.sort(key=lambda pair: (pair[0], tuple(map(as_listed, pair[1].box)), pair[1].label))
        for turn, (far, change) in enumerate(mine):
            yield (not certain, turn, far, place), change


def _regions(
    classifier: Classifier, question: Question, reason: Members, clock: Clock, missing: bool, most: int | None
) -> Iterator[Change]:
    """The largest boxes of changes of a necessary reason's features that lead to each class."""
    every = frozenset(range(len(question.classes)))
    is_partial = UNKNOWN in (question.states[v] for v in classifier.tested)
    others = sorted(every - question.keeps)
    for label in others:
        clock()
        # What is known of the question serves again where there is no other class to tell this one from.
        asked = question if len(others) == 1 else replace(question, keeps=every - {label})
        if len(others) > 1 and escape_within(classifier, asked, question.worlds_changing(reason), clock) is None:
            continue
        widening = Widening(classifier, asked, "necessary")
        # Where they cost nothing, all of them are put in order; where it is a search, none may take all the time.
        regions_of = partial(widening.boxes_in_time, reason, clock, most=most, is_ordered=False, share=_SHARE)
        boxes, is_whole, _, in_time = regions_of(certain=is_partial)
        sure = _advice(question, reason, boxes, missing)
        yield from (Change(reason, box, label, True) for box in sure)
        if is_whole and is_partial:
            boxes, is_whole, _, in_time = regions_of()
            perhaps = _advice(question, reason, boxes, missing)
            new = (box for box in perhaps if not any(is_within(box, other) for other in sure))
            yield from (Change(reason, box, label, False) for box in new)
        if not is_whole:
            raise Enough if in_time else OutOfTime


def _known_regions(question: Question, reason: Members, boxes: list[Box], missing: bool) -> Iterator[Change]:
    """The regions of a reason whose boxes of changes are known, and lead to the one class that there is."""
    (label,) = set(range(len(question.classes))) - question.keeps
    return (Change(reason, box, label, True) for box in _advice(question, reason, boxes, missing))


def _advice(question: Question, reason: Members, boxes: list[Box], missing: bool) -> list[Box]:
    """The boxes without states of missing values, unless these are asked for."""
    if missing:
        return boxes
    left = [missing_states(question.variables[v]) for v in reason]
    if not any(left):
        return boxes
    kept = (tuple(map(difference, box, left)) for box in boxes)
    return maximal(box for box in kept if all(box))


def missing_states(variable: Variable) -> Ranges:
    """The state of a variable that stands for missing values, if it has one."""
    if variable.is_numeric:
        return ((len(variable.cuts) + 1,) * 2,) if variable.missing else ()
    at = None if variable.no_value is None else variable.state_called(variable.no_value)
    return () if at is None else ((at, at),)


def without_missing(question: Question) -> Question:
    """The same question where no value can go missing."""
    bounds = {}
    for v, variable in enumerate(question.variables):
        own = question.states[v]
        left = difference(question.possible.states(v), missing_states(variable))
        if left and left != question.possible.states(v) and covers(left, own):
            bounds[v] = left
    return replace(question, possible=Region(question.variables, {**question.possible.bounds, **bounds}))


def distance(question: Question, change: Change) -> Fraction:
    """How far the instance must move: the shares of their states, or ranges, that the features cross, added up."""
    return sum(
        (
            _crossed(question.variables[v], question.states[v], states)
            for v, states in zip(change.variables, change.box, strict=True)
        ),
        Fraction(0),
    )


def _crossed(variable: Variable, own: int, states: Ranges) -> Fraction:
    """The share of a variable's states between its own and the nearest of some; names are all one step apart.

    Of a line it is the share of its range.
    """
    last = len(variable.cuts)
    if variable.is_line:
        return _crossed_on_line(variable, own, states)
    ways = [Fraction(1, max(variable.size - 1, 1))]
    if variable.is_numeric and own <= last:
        numbers = [(low, min(high, last)) for low, high in states if low <= last]
        steps = (max(low - own, own - high) for low, high in numbers)
        ways = [*(Fraction(step, max(last, 1)) for step in steps), *ways[: covers(states, last + 1)]]
    return min(ways)


def _crossed_on_line(variable: Variable, own: int, states: Ranges) -> Fraction:
    last = len(variable.cuts)
    numbers = [(variable.number(low), variable.number(min(high, last))) for low, high in states if low <= last]
    if own > last or not numbers:  # to or from a missing value is all of the way
        return Fraction(1)
    here, whole = Fraction(variable.number(own)), Fraction(variable.number(last)) - Fraction(variable.number(0))
    way = min(max(Fraction(low) - here, here - Fraction(high)) for low, high in numbers)
    return way / whole if whole else Fraction(0)
