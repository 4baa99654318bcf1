"""What a pipeline ends in: a tree, or an ensemble whose class is a function of one tree.

A forest of one tree takes the class of that tree's greatest probability. Boosting adds its trees' leaves to a first
guess and compares the sums, in the library's own arithmetic; it is one tree if all others are only a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.errors import FormatError, Unsupported, listed
from quia.load.sklearn import boosted
from quia.load.sklearn.follow import TREES, Frame
from quia.load.sklearn.labels import Rule, Values, by_number, class_names, for_classifier, for_regressor
from quia.load.sklearn.steps import Column, ZeroIsMissing
from quia.load.sklearn.tree import LEAF, Tree, probabilities, takes_missing, tree_of

_OWN_TREES = "sklearn.tree._classes."
_FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "ExtraTreesRegressor")
_CURE = (
    "give a model of one tree; ensembles are planned, until then explain a DecisionTreeClassifier fitted to its"
    " predictions"
)


class Head(NamedTuple):
    """The tree, the class of each of its leaves, and how it treats its input columns.

    It compares in 32 bits if it is `single`; `routes_missing` says whether it has a branch for NaN, in a sparse matrix
    or not; with `drops_zeros` the zeros of a sparse matrix count as missing; in the `rounded` columns, numbers near to
    zero are zero.
    """

    tree: Tree
    rule: Rule
    values: Values
    routes_missing: Callable[[bool], bool]
    single: bool = True
    drops_zeros: bool = False
    rounded: frozenset[int] = frozenset()

    def arriving(self, frame: Frame) -> Sequence[Column]:
        """The columns as the tree's tests compare them."""
        if frame.sparse:  # LightGBM rounds only the numbers of a dense matrix
            return [column.then(ZeroIsMissing()) for column in frame.columns] if self.drops_zeros else frame.columns
        return [
            column.then(boosted.NEAR_ZERO_IS_ZERO) if index in self.rounded else column
            for index, column in enumerate(frame.columns)
        ]


def head_of(final: Any, label: Any, classes: Any) -> Head:
    """The head of a fitted estimator; an error if its decision depends on more than one tree."""
    kind = f"{type(final).__module__}.{type(final).__qualname__}"
    reader = _READERS.get(kind)
    if reader is None:
        raise _refusal(final, kind)
    if not any(hasattr(final, fitted) for fitted in ("tree_", "estimators_", "_predictors", "n_features_in_")):
        raise Unsupported(f"the {type(final).__name__} is not fitted", cure="call its fit first")
    return reader(final, label, classes)


def _own_tree(final: Any, label: Any, classes: Any) -> Head:
    """A tree by itself."""
    tree = tree_of(final)
    values = probabilities(tree.values) if hasattr(final, "classes_") and label is not None else tree.values
    return Head(tree, _rule(final, label, classes), values, lambda sparse: takes_missing(final, sparse))


def _forest(final: Any, label: Any, classes: Any) -> Head:
    """A forest of one tree: its mean is that tree's value."""
    _check_count(final, len(final.estimators_))
    if final.n_outputs_ != 1:
        raise Unsupported(f"the forest decides on {final.n_outputs_} outputs", cure="fit one forest for each output")
    only = final.estimators_[0]
    _check_member(final, only, TREES)
    tree = tree_of(only)
    if hasattr(final, "classes_"):
        if len(only.classes_) != len(final.classes_):
            raise FormatError(f"the forest has {len(final.classes_)} classes, its tree {len(only.classes_)}")
        tree = tree._replace(values=probabilities(tree.values))
    return Head(tree, _rule(final, label, classes), tree.values, lambda sparse: takes_missing(final, sparse))


def _gradient_boosting(final: Any, label: Any, classes: Any) -> Head:
    """GradientBoostingClassifier: a constant first guess, and the learning rate times the leaves of each round."""
    trees = [
        [_regression(final, member) for member in members] for members in np.atleast_2d(final.estimators_).tolist()
    ]
    start = _first_guess(final, len(trees[0]))
    tree, sums = _sums(final, trees, start, float(final.learning_rate))
    return _additive(final, tree, sums, label, classes, at_zero=1, single=True, missing=False)


def _hist_gradient_boosting(final: Any, label: Any, classes: Any) -> Head:
    """HistGradientBoostingClassifier: a first guess, and the leaves of each round; it compares in 64 bits."""
    if getattr(final, "is_categorical_", None) is not None:
        raise Unsupported(
            f"the {type(final).__name__} has categorical features of its own", cure="encode them in a step before it"
        )
    width = int(final.n_features_in_)
    trees = [[boosted.histogram_tree(member.nodes, width) for member in members] for members in final._predictors]
    start = np.asarray(final._baseline_prediction, np.float64).reshape(-1)
    tree, sums = _sums(final, trees, start, 1.0)
    return _additive(final, tree, sums, label, classes, at_zero=0, single=False, missing=True)


def _xgboost(final: Any, label: Any, classes: Any) -> Head:
    """XGBClassifier: in 32 bits, left below the threshold; what a sparse matrix does not store is missing."""
    tree, numbers = boosted.xgboost_tree(final)
    return Head(tree, _rule_by_number(final, label, classes), numbers, lambda sparse: True, drops_zeros=True)


def _lightgbm(final: Any, label: Any, classes: Any) -> Head:
    """LGBMClassifier: in 64 bits."""
    tree, numbers, rounded = boosted.lightgbm_tree(final)
    return Head(
        tree, _rule_by_number(final, label, classes), numbers, lambda sparse: True, single=False, rounded=rounded
    )


_READERS: dict[str, Callable[[Any, Any, Any], Head]] = {
    **{_OWN_TREES + name: _own_tree for name in TREES},
    **{f"sklearn.ensemble._forest.{name}": _forest for name in _FORESTS},
    "sklearn.ensemble._gb.GradientBoostingClassifier": _gradient_boosting,
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier": (
        _hist_gradient_boosting
    ),
    "xgboost.sklearn.XGBClassifier": _xgboost,
    "lightgbm.sklearn.LGBMClassifier": _lightgbm,
}
"""The types that a pipeline may end in; the class must be exactly this one, as a derived class may decide otherwise."""


def _refusal(final: Any, kind: str) -> Unsupported:
    name = type(final).__name__
    if kind.startswith("sklearn.ensemble."):
        return Unsupported(f"the {name} is an ensemble of a kind that is not read", cure=_CURE)
    known = [path.rpartition(".")[2] for path in _READERS]
    parents = [parent.__name__ for parent in type(final).__mro__[1:] if parent.__name__ in known]
    fault = f"is derived from {parents[0]} and may decide otherwise" if parents else "is no decision tree"
    return Unsupported(
        f"a {name} {fault}", cure=f"give one of {listed(known, most=20)}, or a Pipeline that ends in one"
    )


def _check_count(final: Any, trees: int) -> None:
    if trees != 1:
        raise Unsupported(f"the {type(final).__name__} has {trees} trees", cure=_CURE)


def _check_member(final: Any, member: Any, kinds: Sequence[str]) -> None:
    """Refuse a tree in an ensemble of an unknown type or other width: the ensemble passes rows on unchecked."""
    if f"{type(member).__module__}." != _OWN_TREES or type(member).__qualname__ not in kinds:
        raise FormatError(f"the {type(final).__name__} holds a {type(member).__qualname__}; the model is damaged")
    if member.n_features_in_ != final.n_features_in_:
        raise FormatError(
            f"the {type(final).__name__} has {final.n_features_in_} columns, its tree {member.n_features_in_}"
        )


def _regression(final: Any, member: Any) -> Tree:
    _check_member(final, member, ("DecisionTreeRegressor",))
    return tree_of(member)


def _first_guess(final: Any, count: int) -> npt.NDArray[np.float64]:
    """The sums before the first round, where they are the same for every row."""
    init = final.init_
    if not (isinstance(init, str) and init == "zero"):
        kind = f"{type(init).__module__}.{type(init).__qualname__}"
        if kind != "sklearn.dummy.DummyClassifier" or init.strategy not in ("prior", "most_frequent", "constant"):
            raise Unsupported(
                f"the {type(final).__name__} begins with what a {type(init).__qualname__} predicts",
                cure="fit it without init, or with init='zero'",
            )
    start = np.asarray(final._raw_predict_init(np.zeros((1, final.n_features_in_), np.float32)), np.float64).reshape(-1)
    if len(start) != count:
        raise FormatError(f"the {type(final).__name__} begins with {len(start)} sums for {count} trees a round")
    return start


def _sums(
    final: Any, trees: Sequence[Sequence[Tree]], start: npt.NDArray[np.float64], rate: float
) -> tuple[Tree, npt.NDArray[np.float64]]:
    """The one tree that has tests, and for each of its nodes the sums at that leaf, added in the model's order."""
    all_trees = [tree for each_round in trees for tree in each_round]
    grown = [tree for tree in all_trees if len(tree.left) > 1]
    if len(grown) > 1:
        each_class = f", one for each of {len(trees[0])} classes a round" if len(trees[0]) > 1 else ""
        raise Unsupported(f"the {type(final).__name__} has {len(grown)} trees{each_class}", cure=_CURE)
    if not all_trees or any(len(each_round) != len(start) for each_round in trees):
        raise FormatError(f"the {type(final).__name__} has rounds without a tree for each of its {len(start)} sums")
    only = grown[0] if grown else all_trees[0]
    sums = np.tile(start, (len(only.left), 1))
    for each_round in trees:
        for column, tree in enumerate(each_round):
            sums[:, column] += rate * (tree.values[:, 0] if tree is only else tree.values[0, 0])
    return only, sums


def _additive(
    final: Any,
    tree: Tree,
    sums: npt.NDArray[np.float64],
    label: Any,
    classes: Any,
    *,
    at_zero: int,
    single: bool,
    missing: bool,
) -> Head:
    """The head that decides for the greatest sum, or by the sign of a single sum; `at_zero` is the class of zero."""
    rule = _rule_by_number(final, label, classes)
    count = sums.shape[1]
    if len(rule.classes or ()) != max(count, 2):
        raise FormatError(f"the {type(final).__name__} has {len(rule.classes or ())} classes and {count} sums")
    if np.isnan(sums[tree.left == LEAF]).any():
        raise FormatError(f"a leaf of the {type(final).__name__} is not a number; the model is damaged")
    if count > 1:
        numbers = np.argmax(sums, axis=1)
    else:
        numbers = (sums[:, 0] >= 0 if at_zero else sums[:, 0] > 0).astype(np.int64)
    return Head(tree, rule, numbers[:, None].astype(np.float64), lambda sparse: missing, single=single)


def _rule(final: Any, label: Any, classes: Any) -> Rule:
    if hasattr(final, "classes_"):
        return for_classifier(class_names(final.classes_, classes), label)
    if classes is not None:
        raise Unsupported("a regressor has no classes to name", cure="name its bands in label")
    return for_regressor(label)


def _rule_by_number(final: Any, label: Any, classes: Any) -> Rule:
    if label is not None:
        raise Unsupported(
            f"label is given for a {type(final).__name__}, whose probabilities are not those of its leaves",
            cure="leave it out, or fit a tree or a forest of one tree",
        )
    return by_number(class_names(final.classes_, classes))
