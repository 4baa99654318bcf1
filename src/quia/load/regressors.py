"""Regressors that decide by a cutoff: the caller's thresholds split what they predict into classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from quia.cuts import nearest_single, number_text
from quia.errors import Unsupported, shown
from quia.load.binary import class_names
from quia.sums import Rule

Threshold = float | Sequence[float]
"""A number, or several that ascend."""

NEEDED = "give the cutoff that decides, as in threshold=0.5"
"""What to do about a regressor without a cutoff."""


def cutoff(threshold: Threshold, classes: Sequence[str] | None, *, single: bool) -> tuple[tuple[str, ...], Rule]:
    """The classes below and from each threshold on, and the rule that tells them, of predictions in 32 bits or 64.

    Predictions are compared as NumPy compares them with a Python number: in the type of the predictions.

    >>> cutoff(0.5, None, single=False)
    (('below 0.5', '0.5 or more'), Rule(kind='cuts', cuts=(0.5,)))
    >>> cutoff([1, 2.5], None, single=True)[0]
    ('below 1', '1 to below 2.5', '2.5 or more')
    """
    given = list(threshold) if isinstance(threshold, Sequence) and not isinstance(threshold, str) else [threshold]
    try:
        numbers = [] if any(isinstance(number, bool) for number in given) else [float(number) for number in given]
    except (TypeError, ValueError):
        numbers = []
    cuts = tuple(nearest_single(number) if single else number for number in numbers)
    ascend = all(low < high for low, high in pairwise(cuts))
    if not cuts or not ascend or not all(map(math.isfinite, cuts)):
        raise Unsupported(f"threshold is {shown(threshold)}", cure="give a number, or a list of numbers that ascend")
    words = [number_text(number) for number in numbers]
    between = [f"{low} to below {high}" for low, high in pairwise(words)]
    names = class_names(classes or [f"below {words[0]}", *between, f"{words[-1]} or more"], len(cuts) + 1)
    return tuple(names), Rule("cuts", cuts)


def refuse_without(threshold: Threshold | None, what: str) -> Threshold:
    """The threshold; a regressor that has none is refused."""
    if threshold is None:
        raise Unsupported(f"{what} predicts numbers, and no class", cure=NEEDED)
    return threshold
