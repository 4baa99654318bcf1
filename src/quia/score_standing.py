"""Where an instance stands by its scores: what they are, how far each other class is, and how far they could go."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quia.additive import Additive
from quia.additive_needs import reaches
from quia.classifier import Classifier
from quia.ensemble import Ensemble
from quia.question import Question
from quia.region import Region
from quia.score_moves import need_of, scoring
from quia.sums import Group, Sums
from quia.variables import UNKNOWN


@dataclass(frozen=True, slots=True)
class Standing:
    """The scores of an instance in the source's points: one, which `cuts` tell classes by, or one for each class.

    `margins` are what the scores lack to each class but the decided one, in points; what is undecided by rounding is 0.
    `extent` is between which numbers a single score can lie, whatever the features are, at the most.
    """

    scores: tuple[float, ...]
    cuts: tuple[float, ...]
    margins: Mapping[int, float]
    extent: tuple[float, float] | None = None

    @property
    def nearest(self) -> int | None:
        """The class that lacks least; None if there is one class only."""
        return min(self.margins, key=lambda label: (self.margins[label], label), default=None)


def standing(classifier: Classifier, question: Question) -> Standing | None:
    """The scores of the instance that is asked about; None where a model has none, or some value is not known."""
    model = scoring(classifier)
    if not isinstance(model, (Additive, Ensemble)):
        return None
    if any(question.states[v] == UNKNOWN for v in model.tested):
        return None
    rule = model.rule if isinstance(model, Additive) else model.sums.rule
    unit = model.unit if isinstance(model, Additive) else 1.0
    scores = [float(score) for score in model.scores([max(state, 0) for state in question.states])]
    needs = {
        label: need_of(rule, len(scores), question.decision, label)
        for label in range(len(model.classes))
        if label != question.decision
    }
    margins = {
        label: max(math.fsum((*(w * s for w, s in zip(need.weights, scores, strict=True)), need.offset)), 0.0) / unit
        for label, need in needs.items()
    }
    own = tuple(score / unit for score in scores)
    return Standing(own, tuple(cut / unit for cut in rule.cuts), margins, _extent(model) if rule.cuts else None)


def _extent(model: Additive | Ensemble) -> tuple[float, float] | None:
    """What a single score is if each part adds the least that it can, and the greatest."""
    if isinstance(model, Ensemble):
        return _extent_of_trees(model)
    if model.unbounded:
        return None
    every, last = Region(model.variables), len(model.classes) - 1
    needs = (reaches(model.rule.cuts, last, 0), reaches(model.rule.cuts, 0, last))  # the least score, and the greatest
    low, high = ((model.gaps(need).least(every)[0] - need.offset) / need.weights[0] / model.unit for need in needs)
    return low, high


def _extent_of_trees(model: Ensemble) -> tuple[float, float]:
    trees, sums = model.trees, model.sums
    leaves = np.add.reduceat(trees.test < 0, trees.start[:-1]).astype(np.int64)
    begins = np.cumsum(leaves) - leaves  # each tree's leaves are in a row
    low, high = (
        _summed(sums, reduce(trees.values[:, 0], begins)) for reduce in (np.minimum.reduceat, np.maximum.reduceat)
    )
    return low, high


def _summed(sums: Sums, leaves: npt.NDArray[np.float64]) -> float:
    """A single score made of these leaves, but for how it is rounded."""
    total, at = math.fsum(sums.start), 0
    for group in sums.groups or (Group(len(leaves)),):
        total += math.fsum(leaves[at : at + group.trees]) / group.divisor * group.weight
        at += group.trees
    return total / sums.divisor + math.fsum(sums.end)
