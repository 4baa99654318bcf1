"""The reasons of additive models, straight from their sums.

A set of variables can change a decision if what they can lose adds up to more than is left of it, and forces the
decision if what all others can lose does not. So the reasons of both kinds are the minimal sets whose losses add up to
more than a limit. The kernel makes a diagram of them, in which limits that no sum tells apart share a node; where that
does not fit, they come one by one, the shortest first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from quia._kernel import Family, OverBudget, Thresholds
from quia.caching import cached_property
from quia.classifier import escape_within
from quia.families import FindsReasons, Found, OneByOne
from quia.patience import Clock, OutOfTime, Patience
from quia.question import Question
from quia.reason import Kind, Members
from quia.search import SearchedReasons

if TYPE_CHECKING:
    from quia.additive import Additive, Inequality

MEMORY = 2**28
"""How many bytes the diagram of one kind of reasons may take: of sums that share nothing, no memory is enough."""
_AT_ONCE = 2**24
"""How many it may take where the reasons are wanted one by one anyway: a moment's work."""
_MOST_LISTED = 20_000
"""Of at most so many sets a family is made by listing them."""
_BITS = 60
"""So many bits the whole numbers have that losses are brought to."""


class Whole(NamedTuple):
    """An inequality in whole numbers: a set changes the decision if its losses add up to more than the limit.

    Only where that sum is within the `band` around the limit, rounding leaves it open.
    """

    losses: dict[int, int]
    limit: int
    band: int

    @staticmethod
    def of(inequality: Inequality) -> Whole:
        """The inequality brought to whole numbers: without an error, where its sums are exact."""
        exponent = _BITS - math.frexp(math.fsum(inequality.losses))[1]
        losses = {
            v: round(_scaled(loss, exponent)) for v, loss in zip(inequality.variables, inequality.losses, strict=True)
        }
        margin, slack = _scaled(inequality.margin, exponent), _scaled(inequality.slack, exponent)
        if margin > 2**_BITS:  # whatever the sum is, rounding decides
            return Whole(losses, 0, 2 ** (_BITS + 1))
        band = 0 if margin == 0 else math.ceil(margin) + len(losses) + 1
        most = 3 * 2 ** (_BITS - 1)  # beyond which no sum comes
        limit = math.floor(max(min(slack, most), -most))
        return Whole(losses, limit - 1 if inequality.ties and limit == slack else limit, band)

    def of_kind(self, kind: Kind) -> Whole:
        """What a reason of a kind meets: what is kept forces the decision, if all else is lost and not above it."""
        if kind == "necessary":
            return self
        return self._replace(limit=sum(self.losses.values()) - self.limit - 1)

    def is_certain(self, members: Members) -> bool:
        """Whether a set that may be minimal is so wherever in its band the limit is."""
        own = [self.losses[v] for v in members]
        return sum(own) > self.limit + self.band and sum(own) - min(own, default=0) <= self.limit - self.band


def _scaled(number: float, exponent: int) -> float | Fraction:
    """A number times a power of two, exactly, however small the number is."""
    return number * 2.0**exponent if exponent <= 1000 else Fraction(number) * 2**exponent


@dataclass(frozen=True, eq=False)
class AdditiveReasons:
    """Both kinds of reasons of a decision of an additive model."""

    model: Additive
    question: Question
    inequalities: Sequence[Inequality]
    searched: SearchedReasons
    _kept: dict[tuple[Kind, bool], Family] = field(default_factory=dict, repr=False)
    _failed: dict[tuple[Kind, bool], tuple[int, float | None]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(model: Additive, question: Question) -> FindsReasons:
        """The reasons of a decision; where several sums are to change together, they are looked for."""
        searched = SearchedReasons.of(model, question)
        inequalities = model.inequalities(question)
        return searched if inequalities is None else AdditiveReasons(model, question, inequalities, searched)

    def answer(self, kind: Kind, *, shortest: bool, patience: Patience, wait: float | None = None) -> Found:
        """The reasons of a kind: a family where it fits, else one by one, the shortest first."""
        # What does not come one by one would be a long search.
        is_quick = wait == 0 and (self.is_single or not shortest)
        family = self._family(kind, shortest, patience, _AT_ONCE if is_quick else MEMORY, wait)
        if family is not None:
            return Found(family, self.costs)
        if not self.is_single:
            return self.searched.answer(kind, shortest=shortest, patience=patience, wait=wait)
        timeout = patience.for_last_step
        return Found(None, None, OneByOne(lambda: Listing(self, kind, shortest, timeout)))

    @property
    def costs(self) -> npt.NDArray[np.int64] | None:
        """What changing each variable costs, if that differs."""
        return self.searched.search.costs

    @property
    def is_single(self) -> bool:
        """Whether one sum alone decides, and lengths, not costs, give the order: then reasons come one by one."""
        return len(self.inequalities) == 1 and self.costs is None

    @cached_property
    def whole(self) -> list[Whole]:
        """The inequalities in whole numbers."""
        return [Whole.of(inequality) for inequality in self.inequalities]

    def thresholds(self, kind: Kind) -> Thresholds:
        """What the kernel finds minimal sets of: a necessary reason meets one of them, a sufficient one each."""
        own = [whole.of_kind(kind) for whole in self.whole]
        # Where sums are rounded, even what seems to lose nothing can matter.
        losing = sorted({v for whole in own for v, loss in whole.losses.items() if loss or whole.band})
        return Thresholds(
            np.array(losing, np.int32),
            np.array([[whole.losses[v] for v in losing] for whole in own], np.int64).reshape(len(own), len(losing)),
            np.array([whole.limit for whole in own], np.int64),
            np.array([whole.band for whole in own], np.int64),
        )

    def _family(self, kind: Kind, shortest: bool, patience: Patience, memory: int, wait: float | None) -> Family | None:
        """The reasons of a kind, if they fit; what was found out is kept, that they do not fit too."""
        asked = kind, shortest
        if asked in self._kept:
            return self._kept[asked]
        had = patience.left if not wait else wait if patience.left is None else min(wait, patience.left)
        if asked in self._failed:
            tried, lasted = self._failed[asked]
            if memory <= tried and not Patience(had).is_more_than(lasted):
                return None
        with patience.part(had).spending():
            found = self._listed(kind, shortest, had) if shortest else None
            if found is None:
                found = self._diagram(kind, shortest, memory, had)
        if found is None:
            self._failed[asked] = memory, had
        else:
            self._kept[asked] = found
        return found

    def _diagram(self, kind: Kind, shortest: bool, memory: int, timeout: float | None) -> Family | None:
        if shortest and (kind, False) in self._kept:
            return self._kept[kind, False].shortest(self.costs)
        try:
            found = self.thresholds(kind).minimal_sets(every=kind == "sufficient", timeout=timeout, memory=memory)
        except OverBudget:
            return None
        if found is None:  # rounding decides about some of them
            return None if shortest else self._listed(kind, shortest, timeout)
        return found.shortest(self.costs) if shortest else found

    def _listed(self, kind: Kind, shortest: bool, timeout: float | None) -> Family | None:
        """A family of what comes one by one, if that is not too much."""
        if not self.is_single:
            return None
        listing = Listing(self, kind, shortest, timeout)
        sets = list(islice(listing, _MOST_LISTED + 1))
        return Family(sets) if listing.complete and len(sets) <= _MOST_LISTED else None


class Listing:
    """Reasons of a kind one after the other, by length and variables, as the kernel gives sets."""

    def __init__(self, reasons: AdditiveReasons, kind: Kind, shortest: bool, timeout: float | None) -> None:
        self.complete: bool = True
        self._reasons, self._kind, self._shortest = reasons, kind, shortest
        self._clock = Clock(timeout)
        self._whole = reasons.whole[0].of_kind(kind)
        self._source = reasons.thresholds(kind).listing(timeout=timeout, memory=MEMORY)
        self._length: int | None = None

    def __iter__(self) -> Iterator[Members]:
        return self

    def __next__(self) -> Members:
        for members in self._source:
            if self._shortest and self._length is not None and len(members) > self._length:
                raise StopIteration
            try:
                if self._whole.is_certain(members) or self._is_reason(members):
                    self._length = len(members)
                    return members
            except OutOfTime:
                self.complete = False
                raise StopIteration from None
        self.complete = self._source.complete
        raise StopIteration

    def _is_reason(self, members: Members) -> bool:
        """Whether a set is a reason by the model's own sums, to the last bit."""
        is_necessary = self._kind == "necessary"
        return self._changes(members) == is_necessary and all(
            self._changes([v for v in members if v != left_out]) != is_necessary for left_out in members
        )

    def _changes(self, members: Sequence[int]) -> bool:
        """Whether changing these variables, or of a sufficient reason all others, can change the decision."""
        question = self._reasons.question
        changing = self._kind == "necessary"
        region = question.worlds_changing(members) if changing else question.worlds(members)
        return escape_within(self._reasons.model, question, region, self._clock) is not None


def reduced(model: Additive, question: Question, kept: Sequence[int], clock: Clock) -> tuple[Sequence[int], bool]:
    """`kept` without what can be left out, tried in its order, and whether time was enough for all of it."""
    inequalities = model.inequalities(question)
    whole = [] if inequalities is None else [Whole.of(each) for each in inequalities]
    left = list(kept)
    lost = [sum(loss for v, loss in each.losses.items() if v not in kept) for each in whole]
    for v in kept:
        losing = [so_far + each.losses.get(v, 0) for so_far, each in zip(lost, whole, strict=True)]
        stays = any(sum_ > each.limit + each.band for sum_, each in zip(losing, whole, strict=True))
        if stays:
            continue
        rest = [each for each in left if each != v]
        is_open = inequalities is None or any(
            sum_ > each.limit - each.band for sum_, each in zip(losing, whole, strict=True)
        )
        try:
            if is_open and escape_within(model, question, question.worlds(rest), clock) is not None:
                continue
        except OutOfTime:
            return left, False
        left, lost = rest, losing
    return left, True
