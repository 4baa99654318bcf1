"""scikit-learn's naive Bayes classifiers: logarithms of probabilities, added up for each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from quia.errors import FormatError, Unsupported
from quia.load.sklearn.addends import AdditiveHead, Bells, Codes, Weights, classes_of, numbers_of
from quia.load.sklearn.floats import Floats
from quia.load.sklearn.labels import Rule
from quia.load.sklearn.steps import Formula, Known, Lookup
from quia.sums import Rule as ScoreRule

KIND = "naive Bayes"
_MOST_CODES = 2_000_000


def gaussian(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """GaussianNB: what is added is quadratic in the number."""
    rule = classes_of(final, label, classes)
    shape = (len(final.classes_), int(final.n_features_in_))
    means, variances = numbers_of(final, "theta_", shape), numbers_of(final, "var_", shape)
    if not (variances > 0).all():
        raise Unsupported("the GaussianNB has a variance of 0", cure="fit it with var_smoothing above 0")
    prior = _log(final, numbers_of(final, "class_prior_", shape[:1]))
    end = prior + -0.5 * np.log(2.0 * np.pi * variances).sum(axis=1)
    addends = [Bells(*column) for column in zip(means.T, variances.T, strict=True)]
    return _head(final, addends, rule, end, label)


def multinomial(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """MultinomialNB: counts times logarithms, and the logarithm of the prior."""
    rule, logarithms, prior = _discrete(final, label, classes)
    return _head(final, [Weights(column) for column in logarithms.T], rule, prior, label)


def complement(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """ComplementNB: counts times weights; it has no prior."""
    rule, weights, prior = _discrete(final, label, classes)
    return _head(final, [Weights(column) for column in weights.T], rule, np.zeros_like(prior), label)


def bernoulli(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """BernoulliNB: one logarithm for 1, another for 0; numbers above `binarize` count as 1."""
    rule, logarithms, prior = _discrete(final, label, classes)
    negative = _log(final, 1 - np.exp(logarithms))
    end = prior + negative.sum(axis=1)
    head = _head(final, [Weights(column) for column in (logarithms - negative).T], rule, end, label)
    if final.binarize is None:
        return head
    threshold = float(final.binarize)
    step = Formula(lambda x: (x > threshold).astype(np.float64), takes_missing=False, written=(0.0, 1.0))
    return head._replace(before=lambda _: step)


def categorical(final: Any, label: Any, classes: Any) -> AdditiveHead:
    """CategoricalNB: a logarithm for each code of a column."""
    rule = classes_of(final, label, classes)
    count, tables = len(final.classes_), list(final.feature_log_prob_)
    prior = numbers_of(final, "class_log_prior_", (count,))
    if len(tables) != final.n_features_in_:
        raise FormatError(f"the CategoricalNB has {final.n_features_in_} columns, but tables of {len(tables)}")
    addends = []
    for table in tables:
        array = np.asarray(table)
        if array.dtype != np.float64 or array.ndim != 2 or len(array) != count or not 0 < array.size < _MOST_CODES:
            raise FormatError(f"the CategoricalNB has a table of the shape {array.shape}; the model is damaged")
        if not np.isfinite(array).all():
            raise _impossible(final)
        addends.append(Codes(np.ascontiguousarray(array.T)))

    def before(column: int) -> Lookup:
        codes = range(len(addends[column].table))
        return Lookup(type(final).__name__, Known.of(codes), {code: float(code) for code in codes})

    return _head(final, addends, rule, prior, label)._replace(before=before)


def _discrete(final: Any, label: Any, classes: Any) -> tuple[Rule, Floats, Floats]:
    """The classes, the numbers of each class and column, and the logarithm of each class's prior."""
    rule = classes_of(final, label, classes)
    shape = (len(final.classes_), int(final.n_features_in_))
    return rule, numbers_of(final, "feature_log_prob_", shape), numbers_of(final, "class_log_prior_", shape[:1])


def _head(final: Any, addends: Any, rule: Rule, end: Floats, label: Any) -> AdditiveHead:
    score_rule = ScoreRule("argmax")
    numbers = tuple(end.tolist())
    if label is not None:
        raise Unsupported(
            f"label is given for a {type(final).__name__}, whose probabilities are rounded powers of its sums",
            cure="leave it out, or shift the decision by fitting it with other priors",
        )
    return AdditiveHead(addends, rule, score_rule, numbers, KIND)


def _log(final: Any, shares: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log(shares)
    if not np.isfinite(logarithms).all():
        raise _impossible(final)
    return np.asarray(logarithms)


def _impossible(final: Any) -> Unsupported:
    return Unsupported(
        f"the {type(final).__name__} has a probability of 0, whose logarithm is not finite",
        cure="fit it with alpha above 0",
    )
