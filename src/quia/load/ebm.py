"""interpret's explainable boosting machines: a live one, or its JSON, as `to_json` writes it.

A number is in the bin of how many cuts are not above it; bin 0 is for missing values, the last one for categories that
were not there in training. The scores begin with the intercept, and what each term adds for its bins is added term by
term, in 64 bits; interpret has kept their order since 0.7.6, and a file is read as if it were by that or a later one.
Of two classes the second is the one of scores above 0; of more, it is the first with the greatest.
Terms of single features make an additive model; where some are of several features, each term becomes a tree.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.additive import Additive
from quia.ensemble import Ensemble
from quia.errors import FormatError, Unsupported, listed, shown
from quia.files import decode, refuse_many_values
from quia.load.binary import class_names, unused_name
from quia.load.ensembles import simplest
from quia.load.malformed import malformed
from quia.load.naming import distinct
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.load.tables_as_trees import Joint, trees_of
from quia.places import LARGEST
from quia.sums import Rule, Sums
from quia.terms import Table
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.agreement import Model

OPTIONS = ("check", "classes", "missing", "threshold")

KIND = "explainable boosting machine"

_CLASSIFIERS = ("logit", "mlogit", "vlogit")
_PARTS = ("feature_names_in_", "bins_", "intercept_", "term_scores_", "term_features_", "link_")

Floats = npt.NDArray[np.float64]
Bins = Floats | dict[str, int]
"""How one level bins a feature: ascending cuts, or the bin of each category. Level i is for terms of i features."""


@dataclass(frozen=True, slots=True)
class _Machine:
    """A fitted machine; `terms` are the features of each and what they add for their bins."""

    names: list[str]
    levels: list[list[Bins]]
    intercept: list[float]
    terms: list[tuple[tuple[int, ...], Floats]]
    link: str
    classes: list[Any]


def convert(source: Any, **options: Any) -> Classifier:
    """The classifier of a live ExplainableBoostingClassifier or ExplainableBoostingRegressor.

    `classes` names the classes in the machine's order; with `missing=False` there is no state for a missing value; a
    regressor decides by a `threshold`; `check=False` leaves out the comparison with the machine's own scores.
    """
    return convert_with_predictor(source, **options).classifier


def convert_with_predictor(source: Any, *, check: bool = True, **options: Any) -> Model:
    """The classifier together with the machine's own decisions."""
    from quia.load.agreement import Model, check_loaded

    machine = _live(source)
    classifier = _classifier(machine, None, **options)

    def predict(rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        if not rows:
            return []
        table = np.empty((len(rows), len(machine.names)), object)
        for at, row in enumerate(rows):
            table[at] = [row.get(name) for name in machine.names]
        if machine.link == "identity":
            _, rule = cutoff(options["threshold"], classifier.classes, single=False)
            places = np.searchsorted(rule.cuts, source.predict(table), side="right")
            return [classifier.classes[place] for place in places.tolist()]
        name_of = dict(zip(_labels(machine.classes), classifier.classes, strict=True))
        return [name_of[label] for label in _labels(source.predict(table).tolist())]

    model = Model(classifier, predict)
    if check:
        check_loaded(model)
    return model


def read(data: bytes, file: str | None = None, **options: Any) -> Classifier:
    """The classifier in the JSON of a machine.

    `classes` names the classes in the machine's order; with `missing=False` there is no state for a missing value; a
    regressor decides by a `threshold`.
    """
    refuse_many_values(data, file)
    with malformed("interpret's JSON of an explainable boosting machine", file):
        content = json.loads(decode(data, file))
        if (version := content["version"]) != "1.0":
            raise Unsupported(f"the version of the file is {shown(version)}", cure="give one of version 1.0")
        return _classifier(_saved(content["ebm"]), file, **options)


def _live(source: Any) -> _Machine:
    absent = [name for name in _PARTS if not hasattr(source, name)]
    if absent:
        raise Unsupported(
            f"this {type(source).__qualname__} has no {listed(absent)}",
            cure="give a fitted ExplainableBoostingClassifier of interpret 0.6 or later",
        )
    terms = [
        (tuple(int(feature) for feature in features), np.asarray(scores, np.float64))
        for features, scores in zip(source.term_features_, source.term_scores_, strict=True)
    ]
    return _Machine(
        [str(name) for name in source.feature_names_in_],
        [[dict(b) if isinstance(b, dict) else np.asarray(b, np.float64) for b in each] for each in source.bins_],
        np.atleast_1d(np.asarray(source.intercept_, np.float64)).tolist(),
        _as_completed(terms) if _version() < (0, 7, 6) else terms,
        str(source.link_),
        np.asarray(getattr(source, "classes_", ())).tolist(),
    )


def _version() -> tuple[int, ...]:
    """The version of interpret, whose code adds the scores of a live machine."""
    from interpret import __version__

    return tuple(int(part) for part in __version__.split(".")[:3] if part.isdigit())


def _as_completed(terms: list[tuple[tuple[int, ...], Floats]]) -> list[tuple[tuple[int, ...], Floats]]:
    """The terms in the order in which all their features have been read, as interpret added them before 0.7.6."""
    read = {feature: place for place, feature in enumerate(dict.fromkeys(f for features, _ in terms for f in features))}
    return sorted(terms, key=lambda term: max((read[feature] for feature in term[0]), default=-1))


def _saved(content: Mapping[str, Any]) -> _Machine:
    (output,) = content["outputs"]
    features = content["features"]
    names = [feature["name"] for feature in features]
    place = {name: index for index, name in enumerate(names)}
    return _Machine(
        names,
        [
            [np.array(cuts, np.float64) for cuts in feature["cuts"]]
            if feature["type"] == "continuous"
            else [_categories(level) for level in feature["categories"]]
            for feature in features
        ],
        [float(number) for number in content["intercept"]],
        [
            (tuple(place[name] for name in term["term_features"]), np.array(term["scores"], np.float64))
            for term in content["terms"]
        ],
        output["link"],
        output.get("classes", []),
    )


def _categories(level: Sequence[str | Sequence[str]]) -> dict[str, int]:
    """The bin of each category; those in a list of their own share one."""
    return {
        name: index
        for index, entry in enumerate(level, start=1)
        for name in ([entry] if isinstance(entry, str) else entry)
    }


def _classifier(
    machine: _Machine,
    file: str | None,
    *,
    classes: Sequence[str] | None = None,
    missing: bool = True,
    threshold: Threshold | None = None,
) -> Classifier:
    names, rule = _decision(machine, classes, threshold)
    _check(machine, file)
    variables = tuple(
        _variable(name, levels, missing) for name, levels in zip(machine.names, machine.levels, strict=True)
    )
    tables = []
    for features, scores in machine.terms:
        bins = tuple(_bins(variables[f], _level(machine, f, len(features))) for f in features)
        sizes = tuple(_bin_count(_level(machine, f, len(features))) for f in features)
        width = len(machine.intercept)
        if scores.shape != (sizes if width == 1 else (*sizes, width)):
            raise FormatError(
                f"a term has scores of the shape {scores.shape}, and its features have {listed(sizes)} bins", file=file
            )
        if not np.isfinite(scores).all():
            raise FormatError("a term adds a number that is not finite", file=file)
        tables.append(Joint(features, bins, scores.reshape(*sizes, width)))
    start = tuple(machine.intercept)
    if sum(float(np.abs(table.values).max()) for table in tables) + max(map(abs, start)) > LARGEST:
        raise FormatError(f"the terms add up to more than {LARGEST:g}, and such sums are not exact", file=file)
    if all(len(table.variables) == 1 for table in tables):
        terms = tuple(Table(table.variables[0], table.values[table.bins[0]]) for table in tables)
        return Additive(variables, names, terms, start, rule, kind=KIND)
    sums = Sums((-1,) * len(tables), start, rule)
    return simplest(Ensemble(variables, names, trees_of(tables), sums, kind=KIND))


def _decision(
    machine: _Machine, classes: Sequence[str] | None, threshold: Threshold | None
) -> tuple[tuple[str, ...], Rule]:
    """The classes, and the rule that tells them of scores."""
    if machine.link == "identity":
        return cutoff(refuse_without(threshold, "this regressor"), classes, single=False)
    if machine.link not in _CLASSIFIERS:
        raise Unsupported(
            f"the machine has the link {shown(machine.link)}",
            cure=f"train one with {listed((*_CLASSIFIERS, 'identity'))}: a classifier of two or more classes, or a"
            " regressor of squared errors",
        )
    if threshold is not None:
        raise Unsupported("threshold is given, but this machine predicts classes", cure="leave it out")
    names = tuple(class_names(classes or _labels(machine.classes), len(machine.classes)))
    scores = 1 if machine.link == "logit" else len(names)
    if len(machine.intercept) != scores or len(names) < 2 or (scores == 1 and len(names) > 2):
        raise FormatError(
            f"the machine has {len(machine.intercept)} scores and the link {machine.link!r} for {len(names)} classes"
        )
    return names, Rule("cuts", (math.nextafter(0.0, 1.0),)) if scores == 1 else Rule("argmax")


def _labels(classes: Sequence[Any]) -> list[str]:
    return [str(label) for label in classes]


def _check(machine: _Machine, file: str | None) -> None:
    """Refuse features, levels and terms that do not fit together."""
    distinct(machine.names, file)
    if len(machine.levels) != len(machine.names):
        raise FormatError(f"{len(machine.names)} features have names, and {len(machine.levels)} have bins", file=file)
    if not all(map(math.isfinite, machine.intercept)):
        raise FormatError("the intercept is not finite", file=file)
    for name, levels in zip(machine.names, machine.levels, strict=True):
        if len({isinstance(level, dict) for level in levels}) > 1:
            raise FormatError(f"{shown(name)} has bins of numbers and of categories", file=file)
        for level in levels:
            if isinstance(level, dict):
                if not all(isinstance(category, str) for category in level):
                    raise FormatError(f"a category of {shown(name)} is not a string", file=file)
                if not set(level.values()) <= set(range(1, len(level) + 1)):
                    raise FormatError(f"the categories of {shown(name)} are not in bins 1, 2, …", file=file)
            elif level.ndim != 1 or not np.isfinite(level).all() or any(a >= b for a, b in pairwise(level.tolist())):
                raise FormatError(f"the cuts of {shown(name)} are not finite numbers that ascend", file=file)
    for features, _ in machine.terms:
        if not features or len(set(features)) < len(features):
            raise FormatError("a term has no features, or one of them twice", file=file)
        if not all(0 <= feature < len(machine.names) for feature in features):
            raise FormatError(f"a term is about feature {max(features)} of {len(machine.names)}", file=file)
        if not all(machine.levels[feature] for feature in features):
            raise FormatError("a term is about a feature that has no bins", file=file)


def _level(machine: _Machine, feature: int, order: int) -> Bins:
    """How a feature is binned in a term of so many features: as its last level says if it has not that many."""
    levels = machine.levels[feature]
    return levels[min(len(levels), order) - 1]


def _variable(name: str, levels: Sequence[Bins], missing: bool) -> Variable:
    if not levels or not isinstance(levels[0], dict):  # a feature that is left out has none
        cuts = sorted({cut for level in levels for cut in np.asarray(level).tolist()})
        return Variable.numeric(name, [(cut, "before") for cut in cuts], missing=missing)
    labels = list(dict.fromkeys(label for level in levels for label in level))
    other = unused_name("any other", labels)
    no_value = unused_name("missing", labels) if missing else None
    special = [label for label in (other, no_value) if label is not None]
    return Variable.nominal(name, [*labels, *special], other=other, no_value=no_value)


def _bins(variable: Variable, level: Bins) -> npt.NDArray[np.int64]:
    """The bin of each state of a variable."""
    if variable.labels is None:
        lows = [cut.threshold for cut in variable.cuts]
        bins = [1, *(np.searchsorted(np.asarray(level), lows, side="right") + 1).tolist()]
        return np.array(bins + [0] * variable.missing, np.int64)
    assert isinstance(level, dict)
    last = _bin_count(level) - 1
    return np.array([0 if s == variable.no_value else level.get(s, last) for s in variable.labels], np.int64)


def _bin_count(level: Bins) -> int:
    """How many bins a level has, with those of missing and of unseen values."""
    return max(level.values(), default=0) + 2 if isinstance(level, dict) else len(level) + 3
