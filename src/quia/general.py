"""General reasons in a row: for each reason's features, in the order of the reasons, all that is true of them."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

from quia.caching import cached_property
from quia.look import counted
from quia.patience import OutOfTime, Patience
from quia.reason import Members, Reason
from quia.reasons import MOST_KEPT, Reasons
from quia.widen import Enough, Widening

_SHARE = 0.4  # of the time that is left for widening, so much the next set of features has


class _First(NamedTuple):
    """The first general reasons, whether there are no others, and whether they are in order."""

    reasons: tuple[Reason, ...]
    complete: bool
    is_ordered: bool


class _Kept:
    """Reasons from a source that may run out of time, for as many readers as there are, each made once."""

    def __init__(self, source: Iterator[Reason]) -> None:
        self.is_late = False
        """Whether time ran out, or no more were looked for, as far as has been read."""
        self.is_enough = False
        """Whether it was not time that ran out."""
        self._source, self._kept = source, list[Reason]()
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Reason]:
        at = 0
        while True:
            with self._lock:
                if at == len(self._kept) and not self._make():
                    return
                found = self._kept[at]
            yield found
            at += 1

    def _make(self) -> bool:
        """Whether there is one more."""
        try:
            self._kept.append(next(self._source))
        except OutOfTime as late:
            self.is_late, self.is_enough = True, isinstance(late, Enough)
            return False
        except StopIteration:
            return False
        return True


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GeneralReasons(Reasons):
    """The general reasons of one kind: as `Reasons`, each set of features with all its boxes, the widest first.

    `limit` counts these. How many there are in all only listing them tells, so `count` is None where a limit cuts them
    short, or the sets of features are more than a hundred; `set_count`, `counts_by_length` and `counts_by_feature` are
    about those sets.

    Where a timeout is too short for all boxes of a set of features, the widest found is given, or if there is none, the
    reason in the instance's states, which is not general.
    """

    widening: Widening = field(repr=False)

    def _each(self) -> Iterator[Reason]:
        if self._keeps_first:
            return iter(self._first.reasons) if "_first" in self.__dict__ else islice(self._kept, self.limit)
        return self._until_time_is_out()

    def _many(self, sets: int) -> str:
        """How many there are, where that is known, and that speak of so many sets of features."""
        if not sets:
            return super()._many(sets)
        known = self.__dict__.get("_first")
        count = len(known.reasons) if known is not None and known.complete else None
        what = f"general {self.kind} reason"
        many = f"{what}s" if count is None else counted(count, what)
        return many if count == sets else f"{many} over {counted(sets, 'set')} of features"

    @property
    def _keeps_first(self) -> bool:
        return self.limit is not None and self.limit <= MOST_KEPT

    @cached_property
    def _kept(self) -> _Kept:
        return _Kept(self._every((self.limit or 0) + 1))

    @cached_property
    def _first(self) -> _First:
        limit = self.limit or 0
        is_ordered = "_kept" not in self.__dict__ and self._known.is_ordered
        found = tuple(islice(self._kept, limit + 1))
        is_all = len(found) <= limit and not self._kept.is_late and self._is_listing_whole
        if is_all and not is_ordered:
            is_ordered = True
            place = {members: at for at, members in enumerate(self._listing())}
            found = tuple(sorted(found, key=lambda reason: place[tuple(map(self._index, reason.features))]))
        return _First(found[:limit], is_all, is_ordered or self._answer.is_ordered)

    @property
    def is_enough(self) -> bool:
        """Whether not all are given, though time was enough: no more were looked for over the same features."""
        return self._keeps_first and not self._first.complete and self._kept.is_enough and self._is_listing_whole

    @property
    def is_ordered(self) -> bool:
        """Whether iterating gives the shortest (cheapest) first; else they come as they were found."""
        return self._first.is_ordered if self._keeps_first else super().is_ordered

    def _until_time_is_out(self) -> Iterator[Reason]:
        try:
            yield from self._every(self.limit)
        except OutOfTime:
            return

    def _every(self, most: int | None = None) -> Iterator[Reason]:
        """All of them, or the first so many; OutOfTime, in the end, where the time was too short to widen each.

        Enough, where it was not, but no more were looked for.
        """
        patience = self.patience.part(self.patience.for_last_step)
        left = most
        is_late = is_short = False
        for members in self._listing():
            # Where widening is a search, each set of features has a share of the time: the first could take it all.
            share = 1.0 if left == 1 else _SHARE
            if is_late and patience.left is not None and patience.left < _SHARE**3 * (patience.seconds or 0):
                break  # few that are wide say more than many that are not
            widened, is_whole, in_time = self._widened(members, patience, left, share)
            is_late |= not in_time
            is_short |= not is_whole
            for reason in islice(widened, left):
                yield reason
                left = None if left is None else left - 1
            if left == 0:
                break
        if is_late:
            raise OutOfTime
        if is_short:
            raise Enough

    def _widened(
        self, members: Members, patience: Patience, most: int | None = None, share: float = 1.0
    ) -> tuple[Iterable[Reason], bool, bool]:
        """The general reasons over a set of features, whether these are all, and whether time was enough."""
        as_it_is = (self._reason(members),)
        if members in self._answer.loose:
            return as_it_is, True, True
        with patience.step() as clock:
            found, is_whole, in_time = self.widening.reasons(members, clock, most=most, share=share)
        if self.superfluous is not None:
            found = map(self._with_cover, found)
        return (found, True, True) if is_whole else (tuple(islice(found, 1)) or as_it_is, False, in_time)

    def _with_cover(self, reason: Reason) -> Reason:
        """The same, of which can be told whether another one implies it."""
        assert self.superfluous is not None
        members = tuple(map(self._index, reason.features))
        ranges = tuple(literal.ranges for literal in reason.literals)
        return reason.implied_if(partial(self.superfluous, members, ranges))

    @cached_property
    def count(self) -> int | None:
        """How many there are; None if that could not be found out, or only listing beyond the limit would tell."""
        if self._keeps_first:
            return len(self._first.reasons) if self._first.complete else None
        if self.set_count is None or self.set_count > MOST_KEPT:
            return None
        try:
            return sum(1 for _ in self._every())
        except OutOfTime:
            return None

    @property
    def complete(self) -> bool:
        """Whether iterating gives all of them: False when limit, timeout or memory cut it short."""
        return self._first.complete if self._keeps_first else self._ends_by_itself

    @cached_property
    def _ends_by_itself(self) -> bool:
        if self.found and self.limit is None and self.patience.seconds is None:
            return True
        try:
            given = sum(1 for _ in self._every(None if self.limit is None else self.limit + 1))
        except OutOfTime:
            return False
        return (self.limit is None or given <= self.limit) and self._is_listing_whole

    def __contains__(self, reason: object) -> bool:
        """Whether a Reason, or one with these features, is one of them, whatever the limit."""
        if not isinstance(reason, Reason):
            return super().__contains__(reason)
        members = tuple(sorted(self._index(name) for name in reason.features))
        return super().__contains__(reason.features) and reason in self._widened(members, Patience(None))[0]

    def sample(self, n: int, *, seed: int) -> list[Reason]:
        """n reasons drawn at random, with repetition: each set of features is equally likely, and each reason of it."""
        choice = random.Random(seed)
        drawn = (tuple(map(self._index, reason.features)) for reason in super().sample(n, seed=seed))
        return [choice.choice(list(self._widened(members, Patience(None))[0])) for members in drawn]
