"""scikit-learn's linear classifiers: numbers times their coefficients, added up, and the intercept."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np

from quia.errors import FormatError, Unsupported
from quia.load.sklearn.addends import AdditiveHead, Weights, classes_of, numbers_of
from quia.load.sklearn.cut_off import least
from quia.load.sklearn.floats import Floats
from quia.load.sklearn.labels import Rule
from quia.sums import Rule as ScoreRule

ABOVE_ZERO = ScoreRule("cuts", (math.nextafter(0.0, math.inf),))
"""The second class where the score is above 0."""

KINDS = {
    "sklearn.linear_model._logistic.LogisticRegression": "logistic regression",
    "sklearn.linear_model._logistic.LogisticRegressionCV": "logistic regression",
    "sklearn.svm._classes.LinearSVC": "linear support vector classifier",
    "sklearn.linear_model._stochastic_gradient.SGDClassifier": "linear model",
    "sklearn.linear_model._ridge.RidgeClassifier": "ridge classifier",
    "sklearn.linear_model._ridge.RidgeClassifierCV": "ridge classifier",
    "sklearn.linear_model._perceptron.Perceptron": "perceptron",
    "sklearn.linear_model._passive_aggressive.PassiveAggressiveClassifier": "linear model",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": "linear discriminant analysis",
}
"""The types that are read here, and what they are called."""


def linear(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """A linear classifier: of two classes by one score above 0, of several by the first of the greatest."""
    coefficients = np.atleast_2d(numbers_of(final, "coef_"))
    rule = classes_of(final, label, classes)
    name = type(final).__name__
    binarizer = getattr(final, "_label_binarizer", None)
    if binarizer is not None and str(binarizer.y_type_).startswith("multilabel"):
        raise Unsupported(f"the {name} decides on several labels at once", cure="fit one for each label")
    scores = 1 if len(final.classes_) == 2 else len(final.classes_)
    if coefficients.shape != (scores, int(final.n_features_in_)):
        raise FormatError(
            f"the {name} has {len(final.classes_)} classes, {final.n_features_in_} columns, and coefficients of the"
            f" shape {coefficients.shape}; the model is damaged"
        )
    intercept = numbers_of(final, "intercept_")
    if intercept.shape not in ((), (1,), (scores,)):
        raise FormatError(f"the {name} has {intercept.size} intercepts for {scores} scores; the model is damaged")
    end = tuple(np.broadcast_to(intercept, (scores,)).tolist())
    score_rule = ABOVE_ZERO if scores == 1 else ScoreRule("argmax")
    if label is not None:
        rule, score_rule = _by_probability(final, rule, scores)
    addends = [Weights(column) for column in coefficients.T]
    kind = KINDS[f"{type(final).__module__}.{type(final).__qualname__}"]
    return AdditiveHead(addends, rule, score_rule, end, kind)


def _by_probability(final: Any, rule: Rule, scores: int) -> tuple[Rule, ScoreRule]:
    """Where the score is cut: at the least one whose probability decides for the class that has the greater scores."""
    name = type(final).__name__
    if not hasattr(final, "predict_proba"):
        raise Unsupported(
            f"label cuts a probability, of which the {name} has none", cure="leave it out, or use a LogisticRegression"
        )
    if scores > 1:
        raise Unsupported(
            f"label is given for a {name} of {scores} classes, whose probabilities are no sums", cure="leave it out"
        )
    assert rule.classes is not None
    above = rule.classes[0] if rule.column == 1 else rule.classes[1]
    cut = least(lambda sums: np.array(rule.decide(_probabilities(final, sums))) == above)
    ordered = rule if above == rule.classes[1] else rule._replace(classes=rule.classes[::-1])
    return ordered, ScoreRule("cuts", (cut,))


def _probabilities(final: Any, sums: Floats) -> Any:
    """The probabilities that the model itself makes of scores."""
    model = copy.copy(final)
    model.decision_function = lambda _: sums[:, 0].copy()
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(model.predict_proba(np.zeros((len(sums), 1))), np.float64)
