"""The necessary or the sufficient reasons of a decision: all, the shortest, how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from quia._kernel import Family
from quia.arguments import whole
from quia.errors import InstanceError, TooLarge, did_you_mean, shown
from quia.families import MEMORY, Answer, Kind, Members
from quia.pickling import ByFields
from quia.reason import Reason
from quia.variables import Variable


@dataclass(frozen=True, eq=False)
class Reasons(ByFields):
    """Reasons of one kind: iterable, lazy and replayable, in an order that is the same on every run and machine.

    Shortest (with costs: cheapest) first, equals by length and then by the order of the classifier's variables, so
    that the first ten of ten billion come at once. `limit` is how many to give at most. Pickled, they are the question;
    whoever unpickles them finds them anew.
    """

    kind: Kind
    variables: tuple[Variable, ...]
    states: tuple[int, ...]
    limit: int | None
    _search: Callable[[], Answer] = field(repr=False)
    _with: frozenset[int] = frozenset()
    _without: frozenset[int] = frozenset()

    @cached_property
    def _answer(self) -> Answer:
        return self._search().restrict(self._with, self._without)

    @property
    def complete(self) -> bool:
        """Whether iterating gives all of them: False when limit, timeout or memory cut it short."""
        if self._answer.is_cut_short:
            return False
        if self.count is not None:
            return self.limit is None or self.count <= self.limit
        return self._ends_by_itself

    @cached_property
    def _ends_by_itself(self) -> bool:
        """Whether the reasons that come one by one, as they could not be counted, end before limit and time do."""
        stream = self._answer.listing()
        given = sum(1 for _ in islice(stream, None if self.limit is None else self.limit + 1))
        return (self.limit is None or given <= self.limit) and bool(getattr(stream, "complete", True))

    @cached_property
    def count(self) -> int | None:
        """How many there are, exactly, whatever the limit; None if that could not be found out."""
        return None if self._answer.family is None else self._answer.family.count()

    def exact_count(self) -> int:
        """How many there are; TooLarge if that could not be found out."""
        return self._family.count()

    def counts_by_length(self) -> dict[int, int]:
        """How many there are of each length, without listing them."""
        return self._family.counts_by_length()

    def counts_by_feature(self) -> dict[str, int]:
        """In how many of them each feature is, without listing them; features that are in none are left out."""
        return {self.variables[v].name: n for v, n in sorted(self._family.counts_by_variable().items())}

    def __iter__(self) -> Iterator[Reason]:
        for members in islice(self._listing(), self.limit):
            yield Reason.of(self.variables, self.states, members)

    def _listing(self) -> Iterator[Members]:
        listing = self._answer.listing()
        if self._answer.family is not None or not (self._with or self._without):
            return listing
        return (m for m in listing if self._with <= set(m) and not self._without & set(m))

    def __len__(self) -> int:
        """How many iterating gives."""
        if self.count is None:
            return sum(1 for _ in self)
        return self.count if self.limit is None else min(self.count, self.limit)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def __contains__(self, reason: object) -> bool:
        """Whether a Reason, or the reason with these features, is one of them, whatever the limit."""
        if isinstance(reason, Reason):
            if any(state.index != self.states[self._index(state.feature)] for state in reason):
                return False
            reason = reason.features
        if not isinstance(reason, Iterable) or isinstance(reason, str):
            raise TypeError(f"{shown(reason)} is no reason; ask for a Reason or a set of feature names")
        return self._family.contains(sorted({self._index(name) for name in reason}))

    def containing(self, *features: str) -> Reasons:
        """Those that speak of all these features."""
        return replace(self, _with=self._with | {self._index(name) for name in features})

    def avoiding(self, *features: str) -> Reasons:
        """Those that speak of none of these features."""
        return replace(self, _without=self._without | {self._index(name) for name in features})

    def sample(self, n: int, *, seed: int) -> list[Reason]:
        """n reasons drawn at random, each equally likely, with repetition; the same for the same seed."""
        wanted, start = whole(n, "n"), whole(seed, "seed")
        drawn = self._family.sample(wanted, start) if self.count else []
        return [Reason.of(self.variables, self.states, members) for members in drawn]

    @property
    def _family(self) -> Family:
        if self._answer.family is None:
            raise TooLarge(
                f"the {self.kind} reasons could not be gathered within the time and {MEMORY >> 20} MiB given; they can"
                " only be listed one by one",
                limit=MEMORY,
            )
        return self._answer.family

    def _index(self, name: object) -> int:
        for index, variable in enumerate(self.variables):
            if variable.name == name:
                return index
        raise InstanceError(f"{shown(name)} is no feature{did_you_mean(name, [v.name for v in self.variables])}")

    def __repr__(self) -> str:
        return f"<Reasons: {self.kind}, limit {self.limit}>"
