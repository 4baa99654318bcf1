"""What it takes for an additive model's decision to be another one: that weighted sums of its scores are below 0.

Glossary: a *need* holds at an instance if its gap, Σ weights · scores + offset, is below 0, or is 0 where ties are in.
A *way* out of a decision is one or several needs that must hold together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from quia.sums import Rule


class Need(NamedTuple):
    """That Σ weights[k] · scores[k] + offset is below 0; with `ties`, or 0."""

    weights: tuple[float, ...]
    offset: float
    ties: bool

    def holds(self, gap: float) -> bool:
        """Whether a gap, if it is exact, meets it.

        >>> Need((1.0,), -3.0, ties=False).holds(0.0), Need((1.0,), -3.0, ties=True).holds(0.0)
        (False, True)
        """
        return gap < 0 or (self.ties and gap == 0)


Way = Sequence[Need]


def ways(rule: Rule, scores: int, keeps: Collection[int], cuts: Sequence[float] = ()) -> list[Way]:
    """The ways in which scores tell a class that is not kept, by a rule of kind `cuts` or `argmax`.

    `cuts`, if there are any, stand for those of the rule, and tell the same of all scores that there are.

    >>> from quia.sums import Rule
    >>> [[(need.weights, need.offset, need.ties) for need in way] for way in ways(Rule("cuts", (600.0,)), 1, {1})]
    [[((1.0,), -600.0, False)]]
    >>> [[(need.weights, need.ties) for need in way] for way in ways(Rule("argmax"), 3, {1})]
    [[((-1.0, 1.0, 0.0), True)], [((0.0, 1.0, -1.0), False)]]
    """
    if rule.kind == "cuts":
        return list(_bands(cuts or rule.cuts, keeps))
    return [
        [beats(winner, loser, scores) for loser in sorted(keeps)] for winner in range(scores) if winner not in keeps
    ]


def beats(winner: int, loser: int, scores: int) -> Need:
    """That one score beats another, by a rule of kind `argmax`."""
    weights = [0.0] * scores
    weights[winner], weights[loser] = -1.0, 1.0
    return Need(tuple(weights), 0.0, ties=winner < loser)


def reaches(cuts: Sequence[float], here: int, there: int) -> Need:
    """That a score which tells one class gets to another, or beyond, by a rule of kind `cuts`.

    >>> reaches((600.0, 700.0), 0, 2), reaches((600.0, 700.0), 2, 0)
    (Need(weights=(-1.0,), offset=700.0, ties=True), Need(weights=(1.0,), offset=-600.0, ties=False))
    """
    return Need((-1.0,), cuts[there - 1], ties=True) if there > here else Need((1.0,), -cuts[there], ties=False)


def _bands(cuts: Sequence[float], keeps: Collection[int]) -> Iterator[Way]:
    """For each run of neighbouring classes that are not kept: above its lower cut, below its upper one."""
    first = 0
    while first <= len(cuts):
        last = first
        while last < len(cuts) and (last + 1 in keeps) == (first in keeps):
            last += 1
        if first not in keeps:
            lower = [Need((-1.0,), cuts[first - 1], ties=True)] if first else []
            upper = [Need((1.0,), -cuts[last], ties=False)] if last < len(cuts) else []
            yield [*lower, *upper]
        first = last + 1
