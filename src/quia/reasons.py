"""The necessary or the sufficient reasons of a decision: all, the shortest, how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar, overload

from quia._kernel import Family, OverBudget
from quia.arguments import whole
from quia.caching import cached_property
from quia.errors import InstanceError, TooLarge, did_you_mean, shown
from quia.families import MEMORY, Found
from quia.look import Shown, counted, tagged
from quia.patience import Patience
from quia.pickling import ByFields
from quia.reason import Kind, Members, Reason
from quia.reference import Reference
from quia.variables import Variable

T = TypeVar("T")

MOST_KEPT = 100
"""Of at most so many reasons, each is made once."""
MOMENT = 0.1
"""How many seconds `repr` may take."""
WAIT = 5.0
"""How many seconds all reasons are looked for before they come as they are found, where nobody says how long."""


@dataclass(frozen=True, eq=False)
class Reasons(Shown, ByFields):
    """Reasons of one kind: iterable, lazy and replayable, in an order that is the same on every run and machine.

    Shortest (with costs: cheapest) first, equals by length and then by the order of the classifier's variables, so
    that the first ten of ten billion come at once. `limit` is how many to give at most, `patience` how long finding
    and counting them may take. With a `reference` table, each sufficient one knows how many of its rows it fits.
    Pickled, they are the question; whoever unpickles them finds them anew.

    A classifier that has no closed form must look for them: they are in that order once all are known, and until then
    come as they are found, each by a search of its own. With a limit nothing else is looked for. Without one, all are
    looked for first, until the timeout, or for WAIT seconds if there is none. Where `gathers` is False, nothing is
    looked for beyond what iterating gives, not even to count. `glance` gives what a moment is enough to find.
    """

    kind: Kind
    variables: tuple[Variable, ...]
    states: tuple[int, ...]
    limit: int | None
    patience: Patience
    _search: Callable[[Patience, float | None], Found] = field(repr=False)
    _with: frozenset[int] = frozenset()
    _without: frozenset[int] = frozenset()
    reference: Reference | None = field(default=None, repr=False)
    wait: float | None = field(default=None, repr=False)
    gathers: bool = field(default=True, repr=False)
    superfluous: Callable[..., bool] | None = field(default=None, repr=False)
    glance: Callable[[], Found | None] | None = field(default=None, repr=False)

    @cached_property
    def _answer(self) -> Found:
        wait = self.wait
        if wait is None:
            wait = 0 if self.limit is not None else WAIT if self.patience.seconds is None else None
        return self._search(self.patience, wait).restrict(self._with, self._without)

    @property
    def _known(self) -> Found:
        """The same; a family, if by now all are known."""
        answer = self._answer
        return self._whole if answer.family is None and answer.is_all_known() else answer

    @cached_property
    def _whole(self) -> Found:
        return self._search(self.patience, None).restrict(self._with, self._without)

    @cached_property
    def _sought(self) -> Found:
        """All of them, looked for with all the time that is left."""
        return self._search(self.patience, None).restrict(self._with, self._without)

    @property
    def _gathered(self) -> Found:
        """All of them, if time and memory are enough."""
        known = self._known
        return known if known.family is not None or not self.gathers else self._sought

    @property
    def found(self) -> bool:
        """Whether time and memory were enough to find them, so that all can be had."""
        return self._known.family is not None

    @property
    def complete(self) -> bool:
        """Whether iterating gives all of them: False when limit, timeout or memory cut it short."""
        if self._answer.is_cut_short:
            return False
        if self.found and self.count is not None:
            return self.limit is None or self.count <= self.limit
        return self._ends_by_itself

    @property
    def is_enough(self) -> bool:
        """Whether not all are given, though limit, time and memory were enough."""
        return False

    @property
    def is_ordered(self) -> bool:
        """Whether iterating gives the shortest (cheapest) first; else they come as they were found."""
        return self._known.is_ordered

    @cached_property
    def _ends_by_itself(self) -> bool:
        """Whether the reasons that come one by one, as they could not be counted, end before limit and time do."""
        given = sum(1 for _ in islice(self._listing(), None if self.limit is None else self.limit + 1))
        return (self.limit is None or given <= self.limit) and self._is_listing_whole

    @property
    def _is_listing_whole(self) -> bool:
        """Whether what was listed to its end is all."""
        source = self._known.one_by_one
        return not self._known.is_cut_short and (source is None or source.complete)

    @property
    def count(self) -> int | None:
        """How many there are, exactly, whatever the limit; None if that could not be found out."""
        return self.set_count

    @property
    def set_count(self) -> int | None:
        """How many sets of features they speak of; None if that could not be found out."""
        return None if self._gathered.family is None else self._counted

    @cached_property
    def _counted(self) -> int | None:
        family = self._family
        with self.patience.spending():
            try:
                return family.count(timeout=self.patience.for_last_step, memory=MEMORY)
            except OverBudget:
                return None

    def exact_count(self) -> int:
        """How many there are; TooLarge if that could not be found out."""
        if self.count is None:
            raise self._too_large("counted")
        return self.count

    def counts_by_length(self) -> dict[int, int]:
        """How many there are of each length, without listing them; TooLarge if that takes more time than given."""
        return self._asked(lambda family, **limits: family.counts_by_length(**limits))

    def counts_by_feature(self) -> dict[str, int]:
        """In how many of them each feature is, without listing them; features that are in none are left out."""
        counts = self._asked(lambda family, **limits: family.counts_by_variable(**limits))
        return {self.variables[v].name: n for v, n in sorted(counts.items())}

    def __iter__(self) -> Iterator[Reason]:
        return iter(self._few) if self._is_few else self._each()

    def _each(self) -> Iterator[Reason]:
        return map(self._reason, self.members())

    def _reason(self, members: Members) -> Reason:
        reason = Reason.of(self.variables, self.states, members, self.kind)
        is_minimal = members not in self._answer.loose
        if self.reference is None or self.kind == "necessary":
            rows = None  # what the features of a necessary one change to, its states do not tell
        else:
            rows = self.reference.fitting(reason)
        is_implied = partial(self.superfluous, members) if self.superfluous is not None and is_minimal else False
        return Reason(reason.literals, kind=self.kind, is_minimal=is_minimal, is_superfluous=is_implied, rows=rows)

    @property
    def _is_few(self) -> bool:
        """Whether they are worth keeping: text, JSON and page go through them in turn."""
        return self.found and self.limit is not None and self.limit <= MOST_KEPT

    @cached_property
    def _few(self) -> tuple[Reason, ...]:
        return tuple(self._each())

    def members(self) -> Iterator[Members]:
        """The same reasons as the indices of their variables."""
        return islice(self._listing(), self.limit)

    def _listing(self) -> Iterator[Members]:
        known = self._known
        listing = known.listing()
        if known.family is not None or not (self._with or self._without):
            return listing
        return (m for m in listing if self._with <= set(m) and not self._without & set(m))

    def __len__(self) -> int:
        """How many iterating gives."""
        if not self.found or self.count is None:
            return sum(1 for _ in self)
        return self.count if self.limit is None else min(self.count, self.limit)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    @overload
    def __getitem__(self, index: int) -> Reason: ...
    @overload
    def __getitem__(self, index: slice) -> list[Reason]: ...
    def __getitem__(self, index: int | slice) -> Reason | list[Reason]:
        """The reason at a place, or those of a slice, of what iterating gives."""
        if isinstance(index, slice):
            if all(at is None or at >= 0 for at in (index.start, index.stop)) and (index.step or 1) > 0:
                return list(islice(self, index.start, index.stop, index.step))
            return list(self)[index]
        at = index + len(self) if index < 0 else index
        found = next(islice(self, at, at + 1), None) if at >= 0 else None
        if found is None:
            raise IndexError(f"there is no reason at {index}; there are {len(self)}")
        return found

    def __contains__(self, reason: object) -> bool:
        """Whether a Reason, or the reason with these features, is one of them, whatever the limit."""
        if isinstance(reason, Reason):
            if any(literal.ranges != ((self.states[self._index(literal.feature)],) * 2,) for literal in reason):
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
        """n reasons drawn at random, each equally likely, with repetition; the same for the same seed.

        TooLarge if the reasons could not be gathered: of those that come one by one none is drawn, as the first ones
        are no fair sample. Where there is no reason at all, none is drawn.
        """
        wanted, start = whole(n, "n"), whole(seed, "seed")
        drawn = self._asked(lambda family, **limits: family.sample(wanted, start, **limits))
        return [self._reason(members) for members in drawn]

    def to_dict(self) -> dict[str, Any]:
        """The `necessary` or `sufficient` item of the JSON format: those that iterating gives, and how many there are.

        `count` is None where only listing them all would tell, `sets` where the sets of features could not be counted.
        """
        complete = self.complete  # asked first: where all are known by then, they come in order
        listed = [self._plain(reason) for reason in self.as_shown()]
        count = len(listed) if complete else self.count
        return {"complete": complete, "count": count, "sets": self.set_count, "reasons": listed}

    def as_shown(self) -> list[Reason]:
        """What iterating gives, those that another one implies last."""
        return sorted(self, key=lambda reason: reason.is_superfluous)

    def _plain(self, reason: Reason) -> dict[str, Any]:
        """A reason as plain data: the instance's states of its features, and what is said of them."""
        states = {name: self.states[self._index(name)] for name in reason.features}
        texts = {literal.feature: literal.variable.text(states[literal.feature]) for literal in reason}
        # The states that a reason which is not general names say nothing of what each change would lead to.
        told = reason.changes if reason.is_general and self.kind == "necessary" else None
        return {
            "features": list(reason.features),
            "states": texts,
            "conditions": [literal.condition for literal in reason],
            **({} if told is None else {"changes": [literal.condition for literal in told]}),
            **({} if reason.rows is None else {"rows": reason.rows}),
            **({} if reason.is_minimal else {"is_minimal": False}),
            **({} if reason.is_widest else {"is_widest": False}),
            **({"superfluous": True} if reason.is_superfluous else {}),
        }

    def _asked(self, question: Callable[..., T]) -> T:
        """What a family says to a question, which has all the time given to itself."""
        family = self._family
        try:
            return question(family, timeout=self.patience.seconds, memory=MEMORY)
        except OverBudget:
            raise self._too_large("counted") from None

    @property
    def _family(self) -> Family:
        if self._gathered.family is None:
            raise self._too_large("gathered")
        return self._gathered.family

    def _too_large(self, what: str) -> TooLarge:
        if (most := self._gathered.more_than) is not None:
            return TooLarge(
                f"there are more than {most:,} reasons of a kind, and this classifier gives them one by one: the"
                f" {self.kind} ones are not {what}; list the first ones, with a limit",
                limit=most,
            )
        seconds = self.patience.seconds
        given = "" if seconds is None else f"{seconds:g} s and "
        return TooLarge(
            f"the {self.kind} reasons could not be {what} within {given}{MEMORY >> 20} MiB; they can only be listed one"
            " by one, the first ones with a limit",
            limit=MEMORY,
        )

    def _index(self, name: object) -> int:
        found = self._places.get(name) if isinstance(name, str) else None
        if found is None:
            raise InstanceError(f"{shown(name)} is no feature{did_you_mean(name, self._places)}")
        return found

    @cached_property
    def _places(self) -> dict[str, int]:
        return {variable.name: index for index, variable in enumerate(self.variables)}

    def __str__(self) -> str:
        from quia.show.lists import reasons_text

        return reasons_text(self)

    def __repr__(self) -> str:
        limit = "" if self.limit is None else f"limit {self.limit:,}"
        return tagged(type(self).__name__, *self.known_facts(), limit)

    def known_facts(self) -> Iterator[str]:
        """How many there are and how short the shortest is, if that is known, or a moment is enough to tell."""
        found = self._glanced
        sets = None if found is None or found.family is None else _quick_count(found.family)
        if found is None or sets is None:
            yield f"{self.kind} reasons, not counted"
            return
        yield self._many(sets)
        first = next(found.listing(), None)
        if first:
            which = "" if sets == 1 else "the shortest " if found.costs is None else "the cheapest "
            yield f"{which}of {counted(len(first), 'feature')}"

    def _many(self, sets: int) -> str:
        """How many there are, that speak of so many sets of features."""
        return counted(sets, f"{self.kind} reason") if sets else f"no {self.kind} reason"

    @property
    def _glanced(self) -> Found | None:
        """What is known by now, or found in a moment."""
        if "_answer" in self.__dict__:
            return self._known
        found = None if self.glance is None else self.glance()
        return None if found is None else found.restrict(self._with, self._without)


def _quick_count(family: Family) -> int | None:
    try:
        return family.count(timeout=MOMENT, memory=MEMORY)
    except OverBudget:
        return None
