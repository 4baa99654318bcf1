"""What an additive model at the end of a pipeline adds up: for each of its columns, numbers made of that column's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from quia.errors import FormatError, Unsupported
from quia.load.sklearn.floats import Floats
from quia.load.sklearn.head import rule_of
from quia.load.sklearn.labels import Rule
from quia.load.sklearn.steps import Operation, Step
from quia.sums import Rule as ScoreRule

Lined = tuple[tuple[Operation, ...], tuple[float, ...]]
"""Operations on a number, and by what the result is multiplied for each score."""


@dataclass(frozen=True, eq=False)
class Weights:
    """A column's number is added to each score, times a weight."""

    weights: Floats

    @property
    def is_nothing(self) -> bool:
        """Whether it adds 0, whatever the number."""
        return not self.weights.any()

    def at(self, numbers: Floats) -> Floats:
        """What each of some numbers adds: a row for each, with a column for each score."""
        return numbers[:, None] * self.weights

    def lines(self) -> list[Lined]:
        """The same as operations and weights."""
        return [((), tuple(self.weights.tolist()))]


@dataclass(frozen=True, eq=False)
class Bells:
    """What is added is the logarithm of each class's normal density, but for its constant."""

    means: Floats
    variances: Floats
    is_nothing = False

    def at(self, numbers: Floats) -> Floats:
        """What each of some numbers adds: a row for each, with a column for each score."""
        return -0.5 * ((numbers[:, None] - self.means) ** 2 / self.variances)

    def lines(self) -> list[Lined]:
        """The same as operations and weights, for each class by itself."""
        count = len(self.means)
        return [
            (
                (("subtract", mean), ("square",), ("divide", variance)),
                tuple(-0.5 if other == own else 0.0 for other in range(count)),
            )
            for own, (mean, variance) in enumerate(zip(self.means.tolist(), self.variances.tolist(), strict=True))
        ]


@dataclass(frozen=True, eq=False)
class Codes:
    """A column's number is a code, for which a table has what is added to each score."""

    table: Floats
    is_nothing = False

    def at(self, numbers: Floats) -> Floats:
        """What each of some codes adds: a row for each, with a column for each score."""
        return np.asarray(self.table[numbers.astype(np.int64)])

    def lines(self) -> list[Lined]:
        """None: codes are looked up."""
        raise Unsupported("a number that is no code is looked up", cure="encode it with an OrdinalEncoder")


Addend = Weights | Bells | Codes


class AdditiveHead(NamedTuple):
    """An additive model: its scores begin with 0, each column adds its one of `addends`, and `end` is added.

    `rule` names the classes, and makes decisions of what the model itself predicts; `score_rule` tells the class from
    the scores. `before(j)` is a step that the model itself puts before its column j.
    """

    addends: Sequence[Addend]
    rule: Rule
    score_rule: ScoreRule
    end: tuple[float, ...]
    kind: str
    before: Callable[[int], Step] | None = None


def numbers_of(final: Any, attribute: str, shape: tuple[int, ...] | None = None) -> Floats:
    """An array of finite 64-bit numbers that a fitted estimator has; an error if it is not that."""
    name, value = type(final).__name__, getattr(final, attribute, None)
    if value is None:
        raise Unsupported(f"the {name} is not fitted", cure="call its fit first")
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if array.dtype.kind not in "fiu" or (shape is not None and array.shape != shape):
        raise FormatError(
            f"the {name} has {attribute} of the type {array.dtype} and shape {array.shape}; the model is damaged"
        )
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        raise Unsupported(
            f"the {name} was fitted to {8 * array.dtype.itemsize}-bit numbers, which it adds up as such",
            cure="fit it to 64-bit numbers, as in fit(X.astype('float64'), y)",
        )
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise Unsupported(
            f"the {name} has {attribute} that are not finite, so that one value decides whatever the others are",
            cure="fit it anew, with alpha above 0 where it counts",
        )
    return numbers


def classes_of(final: Any, label: Any, classes: Any) -> Rule:
    """The rule that names the classes of a classifier, of which there are two or more."""
    rule = rule_of(final, label, classes)
    if len(final.classes_) < 2:
        raise Unsupported(f"the {type(final).__name__} knows a single class", cure="fit it to two classes or more")
    if rule.classes is None:
        raise Unsupported(
            f"label is a function, but the {type(final).__name__} adds up numbers, whose sums it would have to split",
            cure="write a cut-off such as 'bad >= 0.3'",
        )
    return rule
