"""The door to the kernel: the families of reasons of one decision, worked out when asked for, and kept.

A family is a set of sets of variable indices. Behind the sufficient reasons stands a ZDD, so that billions of them
can be counted, drawn from and asked about without listing any; where it does not fit, they still come one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from quia._kernel import Family, OverBudget, SetIterator

if TYPE_CHECKING:
    from quia.costs import Costs

Kind = Literal["necessary", "sufficient"]
Members = tuple[int, ...]

MEMORY = 2**31
"""How many bytes the kernel may take for the families of one decision."""


class FindsNecessary(Protocol):
    """How a decision's necessary reasons are found: by the kernel, in a decision graph or in any monotone NNF."""

    def __call__(
        self, *, shortest: bool, costs: npt.NDArray[np.int64] | None, timeout: float | None, memory: int
    ) -> Family: ...


@dataclass(frozen=True, eq=False)
class Answer:
    """Reasons of one kind: a family, or where that did not fit or time ran out, what can be had one by one."""

    family: Family | None
    costs: npt.NDArray[np.int64] | None
    _one_by_one: Callable[[], SetIterator] | None = None

    @property
    def is_cut_short(self) -> bool:
        """Whether time or memory ran out before even a single reason could be told from what is none."""
        return self.family is None and self._one_by_one is None

    def listing(self) -> Iterator[Members]:
        """The reasons by cost, length and variables, lazily."""
        if self.family is not None:
            return self.family.listing(self.costs)
        return self._one_by_one() if self._one_by_one is not None else iter(())

    def restrict(self, containing: frozenset[int], avoiding: frozenset[int]) -> Answer:
        """Only the reasons with all of `containing` and none of `avoiding`."""
        if self.family is not None:
            return Answer(self.family.restrict(sorted(containing), sorted(avoiding)), self.costs)
        return self


@dataclass(frozen=True, eq=False)
class Families:
    """Both kinds of reasons of one decision."""

    find_necessary: FindsNecessary = field(repr=False)
    costs: npt.NDArray[np.int64] | None = None
    _kept: dict[tuple[Kind, bool, float | None], Answer] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @staticmethod
    def of(find_necessary: FindsNecessary, costs: Costs | None) -> Families:
        """The families behind a way to find necessary reasons."""
        return Families(find_necessary, None if costs is None else np.array(costs.whole, np.int64))

    def answer(self, kind: Kind, *, shortest: bool, timeout: float | None) -> Answer:
        """The reasons of a kind; a whole answer is kept for good, one cut short for the same patience."""
        with self._lock:
            known = self._kept.get((kind, shortest, None)) or self._kept.get((kind, shortest, timeout))
        if known is not None:
            return known
        find = self._necessary if kind == "necessary" else self._sufficient
        found = find(shortest, timeout)
        with self._lock:
            self._kept[kind, shortest, timeout if found.family is None else None] = found
        return found

    def _necessary(self, shortest: bool, timeout: float | None) -> Answer:
        family = self.find_necessary(shortest=shortest, costs=self.costs, timeout=timeout, memory=MEMORY)
        # An incomplete family may hold sets that are not minimal, so it is no answer at all.
        return Answer(family if family.complete else None, self.costs)

    def _sufficient(self, shortest: bool, timeout: float | None) -> Answer:
        """The minimal hitting sets of the necessary reasons."""
        necessary = self.answer("necessary", shortest=False, timeout=timeout).family
        if necessary is None:
            return Answer(None, self.costs)
        try:
            family = necessary.dual(shortest=shortest, costs=self.costs, timeout=timeout, memory=MEMORY)
        except OverBudget:
            return Answer(
                None,
                self.costs,
                lambda: necessary.hitting_sets(costs=self.costs, shortest=shortest, timeout=timeout, memory=MEMORY),
            )
        return Answer(family, self.costs)
