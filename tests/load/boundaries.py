"""Rows at which additive models are hardest: where a number makes the decision of scikit-learn's own model change."""

import math
from typing import Any

import numpy as np


def rows_beside(gap: Any, rows: np.ndarray, column: int, low: float, high: float) -> np.ndarray:
    """Copies of rows with a number in a column beside one where scikit-learn's gap of two scores changes its sign."""

    def signs(numbers: np.ndarray) -> np.ndarray:
        moved = rows.copy()
        moved[:, column] = numbers
        return gap(moved) > 0

    lows, highs = np.full(len(rows), low), np.full(len(rows), high)
    first = signs(lows)
    turning = signs(highs) != first
    for _ in range(70):
        middle = lows + (highs - lows) / 2
        same = signs(middle) == first
        lows, highs = np.where(same, middle, lows), np.where(same, highs, middle)
    copies = [
        np.array([*row[:column], at, *row[column + 1 :]])
        for row, x in zip(rows[turning], lows[turning], strict=True)
        for at in beside(x)
    ]
    return np.array(copies).reshape(-1, rows.shape[1])


def beside(number: float) -> list[float]:
    """A number, those one and two steps away in 64 bits, and those 1e-12 and 1e-9 away."""
    found = [number]
    for end in (-math.inf, math.inf):
        one = math.nextafter(number, end)
        found += [one, math.nextafter(one, end)]
    return [*found, *(number + move for move in (-1e-9, -1e-12, 1e-12, 1e-9))]


def same_but_for_rounding(model: Any, row: Any, theirs: str) -> bool:
    """Whether a class is ours, or its score is within the margin of that of ours; whether the two are the same."""
    ours = model.classify(row)
    if ours == theirs:
        return True
    scores = model.scores(model.encode(row)).tolist()
    if model.rule.kind == "cuts":
        (cut,) = model.rule.cuts
        assert abs(scores[0] - cut) <= model.margin, (row, scores)
    else:
        own, their = (scores[model.classes.index(name)] for name in (ours, theirs))
        assert abs(own - their) <= model.margin, (row, scores)
    return False
