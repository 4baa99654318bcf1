"""What a pipeline may end in: trees, or a linear or naive Bayes classifier; anything else is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quia.errors import FormatError, Unsupported, listed
from quia.load.sklearn import bayes, boosted, boosting, linear, votes
from quia.load.sklearn.addends import AdditiveHead
from quia.load.sklearn.head import OWN_TREES, TREES, Head, boosted_rule, one_tree, rule_of
from quia.load.sklearn.labels import Rule
from quia.load.sklearn.tree import probabilities, takes_missing, tree_of

_FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "ExtraTreesRegressor")
_XGBOOST = ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor")
_NEITHER = "is neither of decision trees nor a sum of what each column adds"
_WHY_NOT = {
    "AdaBoostRegressor": "predicts the weighted median of its trees, which is no sum",
    "VotingRegressor": "is a mean of regressors that need not be trees",
    "StackingClassifier": "decides by a model of what its estimators predict, which is no sum",
    "StackingRegressor": "predicts by a model of what its estimators predict, which is no sum",
    "IsolationForest": "tells outliers by the lengths of paths, which are no classes",
    "RandomTreesEmbedding": "predicts nothing",
    "CalibratedClassifierCV": "decides by the mean of several curves, which is no sum of what each column adds",
    "OneVsRestClassifier": "compares what several models predict, each made of its own sum",
    "OneVsOneClassifier": "counts what several models decide, which is no sum",
    "SVC": "compares with its support vectors, which is no sum of what each column adds",
    "KNeighborsClassifier": "decides by the nearest rows, which is no sum",
    "MLPClassifier": "has layers between its columns and its scores",
    "QuadraticDiscriminantAnalysis": "multiplies its columns with each other",
}


def head_of(final: Any, label: Any, classes: Any) -> Head | AdditiveHead:
    """The head of a fitted estimator; an error if it is neither of trees nor additive."""
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
    return one_tree(tree, rule_of(final, label, classes), values, lambda sparse: takes_missing(final, sparse))


def _xgboost(final: Any, label: Any, classes: Any) -> Head:
    """XGBoost's: in 32 bits; what a sparse matrix does not store is missing."""
    rule = boosted_rule(final, label, classes, single=True)
    made = boosted.xgboost_trees(final, rule.cuts or None)
    return _assembled(final, rule, made, drops_zeros=True, kind="boosted trees")


def _assembled(final: Any, rule: Rule, made: boosted.Assembled, **how: Any) -> Head:
    told_apart = made.sums.rule.class_count(len(made.sums.start))
    if rule.classes is None or len(rule.classes) != told_apart:
        raise FormatError(
            f"the {type(final).__name__} has the classes {rule.classes}, its trees tell {told_apart} apart"
        )
    return Head(made.trees, rule, None, made.sums, lambda sparse: True, notes=made.notes, rounded=made.rounded, **how)


def _lightgbm(final: Any, label: Any, classes: Any) -> Head:
    """LightGBM's: in 64 bits."""
    rule = boosted_rule(final, label, classes, single=False)
    made = boosted.lightgbm_trees(final, rule.cuts or None)
    return _assembled(final, rule, made, single=False, kind="boosted trees")


_READERS: dict[str, Callable[[Any, Any, Any], Head | AdditiveHead]] = {
    **{OWN_TREES + name: _own_tree for name in TREES},
    **{f"sklearn.ensemble._forest.{name}": votes.forest for name in _FORESTS},
    **{f"sklearn.ensemble._bagging.{name}": votes.bagging for name in ("BaggingClassifier", "BaggingRegressor")},
    "sklearn.ensemble._weight_boosting.AdaBoostClassifier": boosting.ada_boost,
    "sklearn.ensemble._voting.VotingClassifier": votes.voting,
    **{
        f"sklearn.ensemble._gb.{name}": boosting.gradient
        for name in ("GradientBoostingClassifier", "GradientBoostingRegressor")
    },
    **{
        f"sklearn.ensemble._hist_gradient_boosting.gradient_boosting.{name}": boosting.histogram
        for name in ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
    },
    **{f"xgboost.sklearn.{name}": _xgboost for name in _XGBOOST},
    **{f"lightgbm.sklearn.{name}": _lightgbm for name in ("LGBMClassifier", "LGBMRegressor")},
    **dict.fromkeys(linear.KINDS, linear.linear),
    **dict.fromkeys(linear.REGRESSIONS, linear.regression),
    "sklearn.naive_bayes.GaussianNB": bayes.gaussian,
    "sklearn.naive_bayes.MultinomialNB": bayes.multinomial,
    "sklearn.naive_bayes.ComplementNB": bayes.complement,
    "sklearn.naive_bayes.BernoulliNB": bayes.bernoulli,
    "sklearn.naive_bayes.CategoricalNB": bayes.categorical,
}
"""The types that a pipeline may end in; the class must be exactly this one, as a derived class may decide otherwise."""


def _refusal(final: Any, kind: str) -> Unsupported:
    name = type(final).__name__
    known = [path.rpartition(".")[2] for path in _READERS]
    parents = [parent.__name__ for parent in type(final).__mro__[1:] if parent.__name__ in known]
    if kind.startswith("sklearn.") and name in _WHY_NOT:
        fault = _WHY_NOT[name]
    else:
        fault = f"is derived from {parents[0]} and may decide otherwise" if parents else _NEITHER
    return Unsupported(
        f"a {name} {fault}", cure=f"give one of {listed(known, most=30)}, or a Pipeline that ends in one"
    )
