"""What a pipeline ends in, as the loader sees it: trees, what becomes of their leaves, and what they take."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from quia.errors import FormatError, Unsupported, shown
from quia.load.regressors import cutoff
from quia.load.sklearn import boosted, encoders
from quia.load.sklearn.boosted import Chosen
from quia.load.sklearn.follow import Frame, Walk
from quia.load.sklearn.labels import Cutoff, Rule, Values, by_cuts, class_names, for_classifier, for_regressor
from quia.load.sklearn.predict import in_this_process
from quia.load.sklearn.steps import Column, ZeroIsMissing
from quia.load.sklearn.tree import Tree
from quia.sums import Group, Sums
from quia.sums import Rule as ScoreRule

OWN_TREES = "sklearn.tree._classes."
CLASSIFIERS = ("DecisionTreeClassifier", "ExtraTreeClassifier")
REGRESSORS = ("DecisionTreeRegressor", "ExtraTreeRegressor")
TREES = CLASSIFIERS + REGRESSORS


class Head(NamedTuple):
    """The trees, how their leaves tell the class, and how they treat their input columns.

    `rule` names the classes, and makes decisions of what the model itself predicts. With `sums`, each tree's values at
    its leaves are added up; without, there is one tree, and the rule decides on its `values`.
    They compare in 32 bits if they are `single`; `routes_missing` says whether they have a branch for NaN, in a sparse
    matrix or not; with `drops_zeros` the zeros of a sparse matrix count as missing; in the `rounded` columns, numbers
    near to zero are zero. `encoder` encodes the `categorical` columns, which then come first; `chosen` are more
    columns, each made of one of these: zero for a choice of its codes, else one.
    """

    trees: Sequence[Tree]
    rule: Rule
    values: Values | None
    sums: Sums | None
    routes_missing: Callable[[bool], bool]
    kind: str = "tree ensemble"
    notes: tuple[str, ...] = ()
    single: bool = True
    drops_zeros: bool = False
    rounded: frozenset[int] = frozenset()
    encoder: Any = None
    categorical: tuple[int, ...] = ()
    chosen: tuple[Chosen, ...] = ()

    def arriving(self, walk: Walk, frame: Frame) -> Sequence[Column]:
        """The columns as the trees' tests compare them."""
        if frame.sparse:  # LightGBM rounds only the numbers of a dense matrix
            return [column.then(ZeroIsMissing()) for column in frame.columns] if self.drops_zeros else frame.columns
        columns = [
            column.then(boosted.NEAR_ZERO_IS_ZERO) if index in self.rounded else column
            for index, column in enumerate(frame.columns)
        ]
        if self.encoder is not None:
            encoded = encoders.ordinal(walk, self.encoder, Frame([columns[index] for index in self.categorical]))
            columns = [*encoded.columns, *(c for index, c in enumerate(columns) if index not in self.categorical)]
        return [*columns, *(columns[chosen.column].then(chosen.step) for chosen in self.chosen)]


def one_tree(tree: Tree, rule: Rule, values: Values, routes_missing: Callable[[bool], bool], **how: Any) -> Head:
    """The head of a single tree, whose rule decides on a row of values for each node."""
    return Head((tree,), rule, values, None, routes_missing, **how)


def summed(
    final: Any,
    trees: Sequence[Tree],
    rule: Rule,
    routes_missing: Callable[[bool], bool],
    *,
    groups: Sequence[Group] = (),
    divisor: float = 1.0,
    start: Sequence[float] | None = None,
    outputs: Sequence[int] | None = None,
    score_rule: ScoreRule | None = None,
    **how: Any,
) -> Head:
    """The head of trees whose values are added up, to each score one, from `start` (or 0)."""
    if not trees:
        raise FormatError(f"the {type(final).__name__} has no tree; the model is damaged")
    if score_rule is None:
        score_rule = _score_rule(final, rule)
    width = 1 if outputs is not None else trees[0].values.shape[1]
    if any(tree.values.shape[1] != width for tree in trees):
        raise FormatError(f"the trees of the {type(final).__name__} have not all {width} values a leaf")
    if not all(np.isfinite(tree.values[tree.left < 0]).all() for tree in trees):
        raise FormatError(f"a leaf of the {type(final).__name__} is not a finite number; the model is damaged")
    begin = tuple(start) if start is not None else (0.0,) * width
    adds_to = tuple(outputs) if outputs is not None else (0 if width == 1 else -1,) * len(trees)
    told_apart = score_rule.class_count(len(begin))
    if rule.classes is None or len(rule.classes) != told_apart:
        raise FormatError(
            f"the {type(final).__name__} has {len(rule.classes or ())} classes, its trees tell {told_apart} apart"
        )
    sums = Sums(adds_to, begin, score_rule, groups=tuple(groups), divisor=divisor)
    return Head(trees, rule, None, sums, routes_missing, **how)


def _score_rule(final: Any, rule: Rule) -> ScoreRule:
    if rule.cuts is None:
        raise Unsupported(
            f"label is a function, but the {type(final).__name__} has several trees, whose sums it would have to split",
            cure="write a cut-off such as 'bad >= 0.3', or bands such as 'low < 100 <= high'",
        )
    if not all(map(math.isfinite, rule.cuts)):
        raise Unsupported("label splits numbers at infinity", cure="give finite limits")
    return ScoreRule("cuts", rule.cuts) if rule.cuts else ScoreRule("argmax")


def rule_of(final: Any, label: Any, classes: Any) -> Rule:
    """How the estimator's probabilities or values become classes, and what these are called."""
    if hasattr(final, "classes_"):
        return for_classifier(class_names(final.classes_, classes), label)
    return for_regressor(label, classes)


def without_label(final: Any, label: Any, classes: Any) -> Rule:
    """The rule of an estimator of whose probabilities no cut-off is exact."""
    if label is not None and not isinstance(label, Cutoff):
        raise Unsupported(
            f"label is given for a {type(final).__name__}, whose probabilities are not those of its leaves",
            cure="leave it out, or fit a tree or a forest",
        )
    return for_classifier(class_names(final.classes_, classes), label)


def boosted_rule(final: Any, label: Any, classes: Any, *, single: bool) -> Rule:
    """The rule of a boosting library's classifier, or of its regressor, which predicts in 32 bits if it is `single`."""
    if hasattr(final, "classes_"):
        return without_label(final, label, classes)
    if not isinstance(label, Cutoff):
        raise Unsupported(
            f"the {type(final).__name__} predicts numbers, and no class", cure="give its cutoff, as in threshold=100"
        )
    names, rule = cutoff(label.threshold, classes, single=single)
    return by_cuts(names, rule.cuts)


def check_member(final: Any, member: Any, kinds: Sequence[str], columns: int) -> None:
    """Refuse a tree in an ensemble of an unknown type or other width: the ensemble passes rows on unchecked."""
    if f"{type(member).__module__}." != OWN_TREES or type(member).__qualname__ not in kinds:
        raise FormatError(f"the {type(final).__name__} holds a {type(member).__qualname__}; the model is damaged")
    if member.n_features_in_ != columns:
        raise FormatError(f"the {type(final).__name__} has {columns} columns, its tree {member.n_features_in_}")


def check_kind(final: Any, member: Any) -> None:
    """Refuse a member of an ensemble that is no decision tree."""
    name = type(member).__name__
    if f"{type(member).__module__}." != OWN_TREES:
        raise Unsupported(
            f"the {type(final).__name__} holds a {name}, which is no decision tree",
            cure="give it decision trees, and put other steps before it",
        )


def place_of(final: Any, classes: Any, label: Any) -> int:
    """The place of a tree's class among those of its ensemble."""
    found = np.flatnonzero(np.asarray(classes) == label)
    if len(found) != 1:
        raise FormatError(f"a tree of the {type(final).__name__} knows the class {shown(label)}, the model does not")
    return int(found[0])


def predicts_missing(estimator: Any) -> Callable[[bool], bool]:
    """Whether an estimator accepts NaN, tried on itself."""

    def routes_missing(sparse: bool) -> bool:
        if sparse:
            return False
        row = np.full((1, estimator.n_features_in_), np.nan, np.float32)
        with warnings.catch_warnings(), in_this_process(estimator):
            warnings.simplefilter("ignore")  # about the names of the columns
            try:
                estimator.predict(row)
            except ValueError:
                return False
        return True

    return routes_missing
