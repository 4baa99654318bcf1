"""scikit-learn's naive Bayes classifiers: logarithms of probabilities, added up for each class."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from quia.errors import FormatError, Unsupported
from quia.load.sklearn.addends import Addend, AdditiveHead, Bells, Codes, Weights, classes_of, numbers_of
from quia.load.sklearn.cut_off import least
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


def _head(final: Any, addends: Sequence[Addend], rule: Rule, end: Floats, label: Any) -> AdditiveHead:
    """The head that decides for the first of the greatest scores, or by a cut-off for one that is lowered by it."""
    if label is not None:
        rule, end = _by_probability(final, rule, end, len(addends))
    return AdditiveHead(addends, rule, ScoreRule("argmax"), tuple(end.tolist()), KIND)


def _by_probability(final: Any, rule: Rule, end: Floats, columns: int) -> tuple[Rule, Floats]:
    """The classes in the order of their scores, and the ends of these, where a cut-off decides and not the greatest.

    A probability is rounded when it is made of two sums. That is within the margin of the sums unless it is close to 1,
    where much larger differences of sums are lost.
    """
    name = type(final).__name__
    if len(end) > 2:
        raise Unsupported(
            f"label is given for a {name} of {len(end)} classes, whose probabilities are no sums", cure="leave it out"
        )
    assert rule.classes is not None
    assert rule.column is not None
    assert rule.cuts is not None
    named, rest = rule.classes
    limit = -rule.cuts[0]
    if limit <= 1 and limit * (columns + 8) > columns + 5:
        raise Unsupported(
            f"label cuts the probability of {named!r} at {limit:g}, too close to 1 for what the {name} rounds",
            cure=f"cut that of {rest!r}, as in label='{rest} > {max(1 - limit, 0.0):g}'",
        )
    own = rule.column
    cut = least(lambda sums: np.array(rule.decide(_probabilities(final, sums, own))) == named, sure=False)
    lowered = end.copy()
    lowered[own] -= cut
    return rule._replace(classes=(named, rest) if own == 0 else (rest, named)), lowered


def _probabilities(final: Any, sums: Floats, own: int) -> Any:
    """The probabilities that the model itself makes of scores, of which the one of the class `own` is not 0."""
    model = copy.copy(final)
    scores = np.zeros((len(sums), 2))
    scores[:, own] = sums[:, 0]
    model._check_X = lambda rows: rows
    model._joint_log_likelihood = lambda _: scores.copy()
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(model.predict_proba(np.zeros((len(sums), 1))), np.float64)


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
