"""The door to the kernel: the families of reasons of one decision, worked out when asked for, and kept.

A family is a set of sets of variable indices. Behind the sufficient reasons stands a ZDD, so that billions of them
can be counted, drawn from and asked about without listing any; where it does not fit, they still come one by one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from quia._kernel import Family, OverBudget
from quia.errors import TooLarge
from quia.patience import Patience
from quia.reason import Kind, Members

if TYPE_CHECKING:
    from quia.costs import Costs

MEMORY = 2**31
"""How many bytes the kernel may take for the families of one decision."""
KEPT = 100_000
"""How many of the reasons that come one by one are kept, so that asking again costs no more time."""


class FindsReasons(Protocol):
    """Both kinds of reasons of one decision, however they are found."""

    def answer(self, kind: Kind, *, shortest: bool, patience: Patience, wait: float | None = None) -> Found:
        """The reasons of a kind; what was worked out is kept.

        Where they can be had one by one, as they are found, `wait` is how many seconds to look for all of them before
        (None: all the time there is).
        """
        ...


class FindsNecessary(Protocol):
    """How a decision's necessary reasons are found: by the kernel, in a decision graph or in any monotone NNF."""

    def __call__(
        self, *, shortest: bool, costs: npt.NDArray[np.int64] | None, timeout: float | None, memory: int
    ) -> Family: ...


class SetSource(Protocol):
    """Sets one after the other, until there is no other or time and memory are out."""

    @property
    def complete(self) -> bool:
        """Whether time and memory were enough so far."""
        ...

    def __iter__(self) -> Iterator[Members]: ...
    def __next__(self) -> Members: ...


class OneByOne:
    """The sets that the kernel finds one after the other, for as many readers as there are, found once.

    `find` starts the kernel anew: for what comes after the first KEPT, and in a process forked from the one that
    began, whose lock might never be released there.
    """

    def __init__(self, find: Callable[[], SetSource], *, loose: Collection[Members] = ()) -> None:
        self._find = find
        self.loose = loose
        """Those of them that were given though time ran out before it was proved that they are minimal."""
        self._kept: list[Members] = []
        self._source: SetSource | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self.complete = True
        """Whether time and memory were enough, as far as has been read."""

    def __iter__(self) -> Iterator[Members]:
        if os.getpid() != self._process:
            yield from self._started()
            return
        at = 0
        while at < KEPT:
            with self._lock:
                found = self._kept[at] if at < len(self._kept) else self._next()
            if found is None:
                return
            yield found
            at += 1
        yield from islice(self._started(), KEPT, None)

    def _next(self) -> Members | None:
        """One more set, kept; None if there is none, or none could be found."""
        try:
            if self._source is None:
                self._source = self._find()
        except OverBudget:
            self.complete = False
            return None
        found = next(self._source, None)
        if found is None:
            self.complete = self._source.complete
        else:
            self._kept.append(found)
        return found

    def _started(self) -> Iterator[Members]:
        try:
            source = self._find()
        except OverBudget:
            self.complete = False
            return
        yield from source
        self.complete = self.complete and source.complete


def _never() -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Found:
    """Reasons of one kind: a family, or where that did not fit or time ran out, what can be had one by one."""

    family: Family | None
    costs: npt.NDArray[np.int64] | None
    one_by_one: OneByOne | None = None
    more_than: int | None = None
    """How many of a kind were found when it was given up to gather them, as they were too many; else None."""
    is_all_known: Callable[[], bool] = field(default=_never, repr=False)
    """Whether by now all that come one by one were found, so that asking again gives the family."""

    @property
    def loose(self) -> Collection[Members]:
        """Those that were given though time ran out before it was proved that they are minimal."""
        return () if self.one_by_one is None else self.one_by_one.loose

    @property
    def is_cut_short(self) -> bool:
        """Whether time or memory ran out before even a single reason could be told from what is none."""
        return self.family is None and self.one_by_one is None

    @property
    def is_ordered(self) -> bool:
        """Whether they are listed by cost, length and variables, not as they were found."""
        return self.family is not None or self.is_all_known is _never

    def listing(self) -> Iterator[Members]:
        """The reasons, lazily: of a family by cost, length and variables; one by one, as whoever finds them says."""
        return iter(self.one_by_one or ()) if self.family is None else self._members(self.family)

    def _members(self, family: Family) -> Iterator[Members]:
        source = family.listing(self.costs, memory=MEMORY)
        yield from source
        if not source.complete:
            raise TooLarge(
                f"listing on would take more than {MEMORY >> 20} MiB; ask for fewer, with a limit, containing(…) or"
                " avoiding(…)",
                limit=MEMORY,
            )

    def restrict(self, containing: frozenset[int], avoiding: frozenset[int]) -> Found:
        """Only the reasons with all of `containing` and none of `avoiding`."""
        if self.family is not None and (containing or avoiding):
            return Found(self.family.restrict(sorted(containing), sorted(avoiding)), self.costs)
        return self


@dataclass(frozen=True, eq=False)
class Families:
    """Both kinds of reasons of one decision."""

    find_necessary: FindsNecessary = field(repr=False)
    costs: npt.NDArray[np.int64] | None = None
    _whole: dict[tuple[Kind, bool], Found] = field(default_factory=dict, repr=False)
    _cut_short: dict[tuple[Kind, bool], tuple[Found, float | None]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(find_necessary: FindsNecessary, costs: Costs | None) -> Families:
        """The families behind a way to find necessary reasons."""
        return Families(find_necessary, None if costs is None else np.array(costs.whole, np.int64))

    def answer(self, kind: Kind, *, shortest: bool, patience: Patience, wait: float | None = None) -> Found:
        """The reasons of a kind; a whole answer is kept for good, one cut short until there is more patience."""
        if (whole := self._whole.get((kind, shortest))) is not None:
            return whole
        cut_short, had = self._cut_short.get((kind, shortest), (None, None))
        if cut_short is not None and not patience.is_more_than(had):
            return cut_short
        had = patience.left
        find = self._necessary if kind == "necessary" else self._sufficient
        found = find(shortest, patience)
        if found.family is None:
            self._cut_short[kind, shortest] = found, had
        else:
            self._whole[kind, shortest] = found
        return found

    def _necessary(self, shortest: bool, patience: Patience) -> Found:
        every = self._whole.get(("necessary", False))
        if shortest and every is not None and every.family is not None:
            return Found(every.family.shortest(self.costs), self.costs)
        with patience.spending():
            family = self.find_necessary(shortest=shortest, costs=self.costs, timeout=patience.left, memory=MEMORY)
        # An incomplete family may hold sets that are not minimal, so it is no answer at all.
        return Found(family if family.complete else None, self.costs)

    def _sufficient(self, shortest: bool, patience: Patience) -> Found:
        """The minimal hitting sets of the necessary reasons."""
        necessary = self.answer("necessary", shortest=False, patience=patience).family
        if necessary is None:
            return Found(None, self.costs)
        memory = max(MEMORY - necessary.bytes, 0)
        with patience.spending():
            try:
                family = necessary.dual(shortest=shortest, costs=self.costs, timeout=patience.left, memory=memory)
                return Found(family, self.costs)
            except OverBudget:
                pass
        timeout = patience.for_last_step
        return Found(
            None,
            self.costs,
            OneByOne(
                lambda: necessary.hitting_sets(costs=self.costs, shortest=shortest, timeout=timeout, memory=memory)
            ),
        )
