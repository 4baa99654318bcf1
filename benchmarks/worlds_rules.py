"""What is possible, as plain data that is read twice: as quia's options, and by a plain evaluator on raw values.

The evaluator knows nothing of states, cuts or diagrams: it compares numbers and names of a row as they stand in its
table, so that it can tell whether advice is impossible whatever quia says of it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from math import inf, nextafter
from typing import Any

from quia.literal import Literal

Row = Mapping[str, Any]
_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
MOST_POINTS = 20_000
"""Of a region of changes so many points are tried at most."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A feature compared with a number (`sign` and `number`), or one of some names."""

    feature: str
    sign: str = "in"
    number: float = 0.0
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """In the language of constraints."""
        if self.sign == "in":
            return f"{_quoted(self.feature)} in {{{', '.join(map(_quoted, self.names))}}}"
        return f"{_quoted(self.feature)} {self.sign} {self.number!r}"

    def holds(self, row: Row) -> bool:
        """Whether a row passes it."""
        value = row[self.feature]
        if self.sign == "in":
            return str(value) in self.names
        return bool(_COMPARED[self.sign](float(value), self.number))


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_one_of(feature: str, *names: str) -> Fact:
    """That a feature has one of these names."""
    return Fact(feature, names=names)


@dataclass(frozen=True, slots=True)
class Rule:
    """If all of the one, then all of the other; `both_ways` if it is the same the other way round."""

    premise: tuple[Fact, ...]
    conclusion: tuple[Fact, ...]
    both_ways: bool = False

    @property
    def text(self) -> str:
        """In the language of constraints."""
        sides = (" & ".join(fact.text for fact in side) for side in (self.premise, self.conclusion))
        return (" <-> " if self.both_ways else " -> ").join(sides)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What it says of single features."""
        return self.premise + self.conclusion

    def holds(self, row: Row) -> bool:
        """Whether a row keeps it."""
        first, second = (all(fact.holds(row) for fact in side) for side in (self.premise, self.conclusion))
        return first == second if self.both_ways else second or not first


def implies(premise: Fact, *conclusion: Fact) -> Rule:
    """If the one, then all of the others."""
    return Rule((premise,), conclusion)


def same(premise: Fact, *conclusion: Fact) -> Rule:
    """The one just if all of the others."""
    return Rule((premise,), conclusion, both_ways=True)


@dataclass(frozen=True)
class Possible:
    """Which worlds are possible: what rules, bounds and directions leave."""

    rules: tuple[Rule, ...] = ()
    bounds: tuple[tuple[str, float, float], ...] = ()
    only_up: tuple[str, ...] = ()
    only_down: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """As `quia.explain` takes them."""
        return {
            "given": [rule.text for rule in self.rules] or None,
            "within": {name: f"[{low!r}, {high!r}]" for name, low, high in self.bounds} or None,
            "only_up": self.only_up,
            "only_down": self.only_down,
        }

    @property
    def features(self) -> frozenset[str]:
        """What it speaks of."""
        ruled = {fact.feature for rule in self.rules for fact in rule.facts}
        return frozenset({*ruled, *(name for name, _, _ in self.bounds), *self.only_up, *self.only_down})

    def allows(self, row: Row) -> bool:
        """Whether a row is possible at all."""
        inside = (low <= float(row[name]) <= high for name, low, high in self.bounds)
        return all(inside) and all(rule.holds(row) for rule in self.rules)

    def allows_change(self, row: Row, changes: Row) -> bool:
        """Whether a row can become what these changes make of it."""
        rises = (float(changes[name]) >= float(row[name]) for name in self.only_up if name in changes)
        falls = (float(changes[name]) <= float(row[name]) for name in self.only_down if name in changes)
        return all(rises) and all(falls) and self.allows({**row, **changes})

    def share_allowed(self, row: Row, changes: Sequence[Literal]) -> float:
        """Which share of the points tried of a region of changes is possible; 1 only if all of them are."""
        tried = [self.allows_change(row, point) for point in islice(self.points(row, changes), MOST_POINTS)]
        return sum(tried) / len(tried)

    def points(self, row: Row, changes: Sequence[Literal]) -> Iterator[dict[str, Any]]:
        """Points of a region of changes, such that one is impossible wherever any is."""
        values = [list(self._values(row, literal)) for literal in changes]
        names = [literal.feature for literal in changes]
        return (dict(zip(names, point, strict=True)) for point in product(*values))

    def _values(self, row: Row, literal: Literal) -> Iterator[Any]:
        """The values of a change that could make a difference: its own ends, and where something said ends."""
        said = literal.condition
        if "in" in said:
            yield from said["in"]
            return
        for interval in said["intervals"]:
            low, high = interval["low"], interval["high"]
            first = -inf if low is None else low if interval["low_closed"] else nextafter(low, inf)
            last = inf if high is None else high if interval["high_closed"] else nextafter(high, -inf)
            inner = [end for end in self._ends(row, literal.feature) if first < end < last]
            yield from sorted({*(end for end in (first, last) if abs(end) < inf), *_among(inner, first, last)})

    def _ends(self, row: Row, feature: str) -> Iterator[float]:
        for fact in (fact for rule in self.rules for fact in rule.facts):
            if fact.feature == feature and fact.sign != "in":
                yield fact.number
        for name, low, high in self.bounds:
            if name == feature:
                yield from (low, high)
        if feature in {*self.only_up, *self.only_down}:
            yield float(row[feature])


def _among(ends: Iterable[float], first: float, last: float) -> Iterator[float]:
    """Numbers in an interval: these, one between any two neighbours, and one beyond where it has no end.

    >>> list(_among([3.0, 5.0], 2.0, float("inf")))
    [3.0, 5.0, 2.5, 4.0, 6.0]
    >>> list(_among([], float("-inf"), 7.0)), list(_among([], float("-inf"), float("inf")))
    ([6.0], [0.0])
    """
    inner = sorted(set(ends))
    yield from inner
    finite = [end for end in (first, *inner, last) if abs(end) < inf]
    yield from (low / 2 + high / 2 for low, high in pairwise(finite) if low < high)
    if not finite:
        yield 0.0
    elif first == -inf:
        yield finite[0] - 1
    if finite and last == inf:
        yield finite[-1] + 1
