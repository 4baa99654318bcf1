"""The class of an instance of an ensemble by the definitions of `Trees` and `Sums`, without the kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.sums import Rule, Sums
from quia.trees import Trees

if TYPE_CHECKING:
    from quia.ensemble import Ensemble


def decide(ensemble: Ensemble, states: Sequence[int]) -> int:
    """The index of the class of an instance with a state of every tested variable."""
    if ensemble.sums.rule.kind == "softmax32":
        # Python has no exponential in 32 bits that has the C library's last bit.
        return ensemble.decide(states)
    with np.errstate(over="ignore"):
        return class_of(ensemble.sums.rule, scores(ensemble.sums, reached_values(ensemble.trees, states)))


def reached_values(trees: Trees, states: Sequence[int]) -> npt.NDArray[np.float64]:
    """The values of the leaf that an instance reaches in each tree; all trees are walked down together."""
    state = np.array(states)
    at = np.array(trees.start[:-1], np.intp)
    while len(inner := np.flatnonzero(trees.test[at] >= 0)):
        test = trees.test[at[inner]]
        asked = state[trees.variable[test]]
        first, end = trees.range_start[test], trees.range_start[test + 1]
        yes = np.zeros(len(inner), bool)
        for turn in range(int((end - first).max())):
            place = np.minimum(first + turn, np.maximum(end - 1, 0))
            yes |= (first + turn < end) & (trees.low[place] <= asked) & (asked <= trees.high[place])
        at[inner] = np.where(yes, trees.yes[at[inner]], trees.no[at[inner]])
    return trees.values[trees.leaf_of_node[at]]


def scores(sums: Sums, values: npt.NDArray[np.float64]) -> list[Any]:
    """The scores that are made of the values of one leaf of each tree, added one by one."""
    number = np.float32 if sums.single else np.float64
    rows = values.astype(number)

    def add(total: list[Any], first: int, end: int) -> list[Any]:
        for tree in range(first, end):
            output = sums.outputs[tree]
            if output >= 0:
                total[output] = total[output] + rows[tree, 0]
            else:
                total = [score + value for score, value in zip(total, rows[tree], strict=True)]
        return total

    found: list[Any] = [number(score) for score in sums.start]
    if not sums.groups:
        found = add(found, 0, len(rows))
    first = 0
    for group in sums.groups:
        part = add([number(0)] * len(found), first, first + group.trees)
        first += group.trees
        if group.divisor != 1:
            part = [score / number(group.divisor) for score in part]
        if group.weight != 1:
            part = [score * number(group.weight) for score in part]
        found = [score + more for score, more in zip(found, part, strict=True)]
    if sums.divisor != 1:
        found = [score / number(sums.divisor) for score in found]
    if not sums.end:
        return found
    return [score + number(last) if last else score for score, last in zip(found, sums.end, strict=True)]


def class_of(rule: Rule, scores: Sequence[Any]) -> int:
    """The class that scores tell; not of `softmax32`."""
    told = [float(score) for score in scores]
    if rule.kind == "cuts":
        return sum(told[0] >= cut for cut in rule.cuts)
    if rule.kind == "softmax64":
        top = max(told)
        powers = [math.exp(score - top) for score in told]
        total = 0.0
        for power in powers:
            total += power
        told = [power / total for power in powers]
    elif rule.kind == "logistic":
        told = [1 / (1 + _power(-score)) for score in told]
    return told.index(max(told))


def _power(x: float) -> float:
    """The exponential, infinite where it is too large for a number."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
