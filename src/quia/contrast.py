"""Contrasts: two instances that differ in few features, and are decided in two different ways.

Whether a decision hangs on a protected feature, whether a feature matters at all, whether more of it ever hurts: each
asks for such a pair, or for the proof that there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quia.classifier import Classifier

Pair = tuple[Sequence[int], Sequence[int]]
"""The states of two instances; what is UNKNOWN in both may be anything, as long as it is the same in both."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Which pairs are looked for: alike but in the `changing` variables, with one of some pairs of classes.

    `classes` are pairs of class indices, that of the first instance and that of the second. With an `order`, which has
    states of the one changing variable, the state of the first instance comes before that of the second in it.
    """

    changing: tuple[int, ...]
    classes: frozenset[tuple[int, int]]
    order: Sequence[int] | None = None


def any_change(classifier: Classifier, changing: Sequence[int]) -> Contrast:
    """The contrast of any two decisions, if some variables change."""
    every = range(len(classifier.classes))
    return Contrast(tuple(changing), frozenset((a, b) for a in every for b in every if a != b))
