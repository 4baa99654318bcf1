"""How the leaves of many trees become scores, and scores a class, in the arithmetic of the library that made them.

Floating-point addition depends on order and width, so both are part of a model: what decides a tie is the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quia.errors import GraphError, listed, shown
from quia.look import ByName

Scores = npt.NDArray[np.float64]

RuleKind = OneOf["cuts", "argmax", "softmax32", "softmax64", "logistic"]
RULES: tuple[RuleKind, ...] = ("cuts", "argmax", "softmax32", "softmax64", "logistic")


class Group(NamedTuple):
    """So many trees in a row that are summed apart, from 0; their sum is divided, then multiplied, then added."""

    trees: int
    divisor: float = 1.0
    weight: float = 1.0


@dataclass(frozen=True, slots=True, repr=False)
class Rule(ByName):
    """How scores tell the class.

    `cuts`: there is one score, and its class is the number of the `cuts` that it reaches (`>=`); with one cut, the
    second class from there on. `argmax`: the first of the greatest scores. The others take the first of the greatest of
    what is made of the scores, as rounding may make scores equal that are not: `softmax32` powers divided by their sum
    in 32 bits, as XGBoost has them, `softmax64` the same in 64 bits, `logistic` 1 / (1 + exp(-score)) in 64 bits.
    """

    kind: RuleKind
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in RULES:
            raise GraphError(f"the rule is {shown(self.kind)}; it is one of {listed(RULES)}")
        if (self.kind == "cuts") != bool(self.cuts):
            raise GraphError(f"the rule {self.kind!r} has {len(self.cuts)} cuts; 'cuts' has some, the others have none")
        if any(not a < b for a, b in zip(self.cuts, self.cuts[1:], strict=False)) or not all(map(_finite, self.cuts)):
            raise GraphError(f"the cuts of the rule are {listed(self.cuts)}; they are numbers that ascend")

    def class_count(self, scores: int) -> int:
        """How many classes so many scores tell apart."""
        return len(self.cuts) + 1 if self.kind == "cuts" else scores


@dataclass(frozen=True, slots=True, repr=False)
class Sums(ByName):
    """The scores of an instance, made of one leaf of each tree.

    They begin with `start`. Without `groups` the trees are added one by one, in order; with groups, each group's trees
    are summed from 0, that sum is divided by its divisor and multiplied by its weight (unless these are 1), and added.
    In the end the scores are divided by `divisor` (unless it is 1), and `end` is added (unless it is 0).
    All that is in 32 bits if `single`, else in 64. `outputs[t]` is the score that tree t adds to; -1: to all of them,
    its leaves have a value for each.
    """

    outputs: tuple[int, ...]
    start: tuple[float, ...]
    rule: Rule
    single: bool = False
    groups: tuple[Group, ...] = ()
    divisor: float = 1.0
    end: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        scores = len(self.start)
        if not scores or (self.rule.kind == "cuts" and scores != 1):
            raise GraphError(f"{scores} scores are told apart by the rule {self.rule.kind!r}")
        if any(not -1 <= output < scores for output in self.outputs):
            raise GraphError(f"a tree adds to score {max(self.outputs)} of {scores}")
        if self.end and len(self.end) != scores:
            raise GraphError(f"{len(self.end)} numbers are added in the end to {scores} scores")
        if self.groups and sum(group.trees for group in self.groups) != len(self.outputs):
            raise GraphError(f"the groups have {sum(g.trees for g in self.groups)} of {len(self.outputs)} trees")
        factors = [self.divisor, *(part for group in self.groups for part in group[1:])]
        if not all(_finite(number) for number in (*self.start, *self.end, *factors)):
            raise GraphError("a number that scores begin with, end with or are divided by is not finite")
        if not all(number > 0 for number in factors):
            raise GraphError("a divisor or weight of the scores is not above 0")
        if any(group.trees < 1 for group in self.groups):
            raise GraphError("a group of trees is empty")


def _finite(number: float) -> bool:
    return bool(np.isfinite(number))
