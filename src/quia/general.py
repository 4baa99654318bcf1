"""General reasons in a row: for each reason's features, in the order of the reasons, all that is true of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from quia.caching import cached_property
from quia.patience import OutOfTime, Patience
from quia.reason import Members, Reason
from quia.reasons import MOST_KEPT, Reasons
from quia.widen import Widening


class _First(NamedTuple):
    """The first general reasons, and whether there are no others."""

    reasons: tuple[Reason, ...]
    complete: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneralReasons(Reasons):
    """The general reasons of one kind: as `Reasons`, each set of features with all its boxes, the widest first.

    `limit` counts these. How many there are in all only listing them tells, so `count` is None where a limit cuts them
    short, or the sets of features are more than a hundred; `set_count`, `counts_by_length` and `counts_by_feature` are
    about those sets.
    """

    widening: Widening = field(repr=False)

    def _each(self) -> Iterator[Reason]:
        return iter(self._first.reasons) if self._keeps_first else self._until_time_is_out()

    @property
    def _keeps_first(self) -> bool:
        return self.limit is not None and self.limit <= MOST_KEPT

    @cached_property
    def _first(self) -> _First:
        limit = self.limit or 0
        found: list[Reason] = []
        source = self._every(limit + 1)
        try:
            found += islice(source, limit)
            is_all = next(source, None) is None and self._is_listing_whole
        except OutOfTime:
            is_all = False
        return _First(tuple(found), is_all)

    def _until_time_is_out(self) -> Iterator[Reason]:
        try:
            yield from self._every(self.limit)
        except OutOfTime:
            return

    def _every(self, most: int | None = None) -> Iterator[Reason]:
        """All of them, or the first so many; OutOfTime where the time for the widening ends."""
        patience = Patience(self.patience.for_last_step)
        left = most
        for members in self._listing():
            for reason in islice(self._widened(members, patience, left), left):
                yield reason
                left = None if left is None else left - 1
            if left == 0:
                return

    def _widened(self, members: Members, patience: Patience, most: int | None = None) -> Iterator[Reason]:
        with self.patience.spending(), patience.step() as clock:
            return self.widening.reasons(members, clock, most=most)

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
        return super().__contains__(reason.features) and reason in self._widened(members, Patience(None))

    def sample(self, n: int, *, seed: int) -> list[Reason]:
        """n reasons drawn at random, with repetition: each set of features is equally likely, and each reason of it."""
        choice = random.Random(seed)
        drawn = (tuple(map(self._index, reason.features)) for reason in super().sample(n, seed=seed))
        return [choice.choice(list(self._widened(members, Patience(None)))) for members in drawn]
