"""The necessary and the sufficient reasons in a complete reason: all, the shortest, how many."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Literal

from quia import paper
from quia.errors import InstanceError, did_you_mean, shown
from quia.nnf import NNF
from quia.reason import Reason
from quia.variables import Variable

Kind = Literal["necessary", "sufficient"]
Members = tuple[int, ...]


class _OutOfTime(Exception):
    pass


def cost_of(members: Collection[int], costs: Sequence[int] | None) -> int:
    """What a reason costs; without costs, its length."""
    return len(members) if costs is None else sum(costs[member] for member in members)


def find(
    formula: NNF, kind: Kind, *, shortest: bool, costs: Sequence[int] | None, timeout: float | None
) -> list[Members] | None:
    """The reasons of a kind, ordered by cost, then length, then variables; None if time ran out first."""
    deadline = None if timeout is None else time.monotonic() + timeout

    def check() -> None:
        if deadline is not None and time.monotonic() > deadline:
            raise _OutOfTime

    only_shortest = shortest and costs is None and formula.is_or_decomposable
    if kind == "necessary":
        algorithm = paper.snr if only_shortest else paper.nr
    else:
        algorithm = paper.ssr if only_shortest else paper.sr
    try:
        found = [tuple(sorted(members)) for members in algorithm(formula, check=check)]
    except _OutOfTime:
        return None
    found.sort(key=lambda members: (cost_of(members, costs), len(members), members))
    if shortest and found:
        least = cost_of(found[0], costs)
        found = [members for members in found if cost_of(members, costs) == least]
    return found


@dataclass(frozen=True, eq=False)
class Reasons:
    """Reasons of one kind: iterable, lazy and replayable, in an order that is the same on every run.

    Shortest (with costs: cheapest) first, equals by length and then by the order of the classifier's variables.
    `limit` is how many to give at most.
    """

    kind: Kind
    variables: tuple[Variable, ...]
    states: tuple[int, ...]
    limit: int | None
    _search: Callable[[], list[Members] | None] = field(repr=False)

    @cached_property
    def _found(self) -> list[Members] | None:
        return self._search()

    @property
    def complete(self) -> bool:
        """Whether iterating gives all of them: False when limit or timeout cut it short."""
        return self._found is not None and (self.limit is None or len(self._found) <= self.limit)

    @property
    def count(self) -> int | None:
        """How many there are, whatever the limit; None if that could not be found out in time."""
        return None if self._found is None else len(self._found)

    def counts_by_length(self) -> dict[int, int]:
        """How many there are of each length."""
        return dict(sorted(Counter(map(len, self._found or ())).items()))

    def __iter__(self) -> Iterator[Reason]:
        for members in islice(self._found or (), self.limit):
            yield Reason.of(self.variables, self.states, members)

    def __len__(self) -> int:
        """How many iterating gives."""
        found = len(self._found or ())
        return found if self.limit is None else min(found, self.limit)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __contains__(self, reason: object) -> bool:
        """Whether a Reason, or the reason with these features, is one of them, whatever the limit."""
        if isinstance(reason, Reason):
            if any(state.index != self.states[self._index(state.feature)] for state in reason):
                return False
            reason = reason.features
        if not isinstance(reason, Iterable) or isinstance(reason, str):
            raise TypeError(f"{shown(reason)} is no reason; ask for a Reason or a set of feature names")
        members = tuple(sorted(self._index(name) for name in reason))
        return members in set(self._found or ())

    def containing(self, *features: str) -> Reasons:
        """Those that speak of all these features."""
        wanted = {self._index(name) for name in features}
        return self._where(lambda members: wanted <= set(members))

    def avoiding(self, *features: str) -> Reasons:
        """Those that speak of none of these features."""
        unwanted = {self._index(name) for name in features}
        return self._where(lambda members: not unwanted & set(members))

    def sample(self, n: int, *, seed: int) -> list[Reason]:
        """n reasons drawn at random, each equally likely, with repetition; the same for the same seed."""
        found = self._found or []
        chooser = random.Random(seed)
        return [
            Reason.of(self.variables, self.states, found[chooser.randrange(len(found))])
            for _ in range(n if found else 0)
        ]

    def _where(self, keep: Callable[[Members], bool]) -> Reasons:
        def search() -> list[Members] | None:
            return None if self._found is None else [members for members in self._found if keep(members)]

        return replace(self, _search=search)

    def _index(self, name: str) -> int:
        for index, variable in enumerate(self.variables):
            if variable.name == name:
                return index
        raise InstanceError(f"{shown(name)} is no feature{did_you_mean(name, [v.name for v in self.variables])}")

    def __repr__(self) -> str:
        return f"<Reasons: {self.kind}, limit {self.limit}>"
