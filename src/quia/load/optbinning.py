"""optbinning's scorecards: a live `Scorecard`, whose points are added, or decided on by its estimator.

A number is in the bin of how many splits are not above it; special codes and missing values have bins of their own.
`score` adds the points of each variable's bin, in 64 bits and in the order of the variables, and then the intercept:
with a `threshold` that score decides. Without one the class is that of `predict`: the estimator's sum of weights of
evidence, each times its coefficient, above 0. What a state adds is asked of the scorecard itself, as it bins values
that were not there in training in ways of its own: `score` gives an unknown category the points of a missing value.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.additive import Additive
from quia.errors import QuiaError, Unsupported, listed, shown
from quia.load.binary import class_names, unused_name
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.places import LARGEST
from quia.sums import Rule
from quia.terms import Table
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.agreement import Model

OPTIONS = ("check", "classes", "threshold")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Column:
    """A variable, and a raw value in each of its states."""

    variable: Variable
    values: list[Any]

    def raw(self, value: Any) -> Any:
        """A value of a row as the scorecard takes it."""
        state = self.variable.encode(value)
        if self.variable.labels is not None or self.variable.is_missing_state(state):
            return self.values[state]
        return self.variable.as_number(value)


def convert(source: Any, **options: Any) -> Classifier:
    """The classifier of a fitted Scorecard.

    `threshold` decides by the score, `classes` names the classes, the one of low scores first; `check=False` leaves out
    the comparison with the scorecard's own scores.
    """
    return convert_with_predictor(source, **options).classifier


def convert_with_predictor(
    source: Any, *, threshold: Threshold | None = None, classes: Sequence[str] | None = None, check: bool = True
) -> Model:
    """The classifier together with the scorecard's own decisions."""
    from quia.load.agreement import Model, generated

    card = _Card(source)
    classifier = card.by_score(threshold, classes) if threshold is not None else card.by_estimator(classes)
    if check:
        card.compare(classifier, generated(classifier), by_score=threshold is not None)

    def predict(rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        if not rows:
            return []
        if threshold is not None:
            cuts = classifier.rule.cuts
            return [classifier.classes[sum(s >= cut for cut in cuts)] for s in source.score(card.table(rows)).tolist()]
        labels = np.asarray(source.estimator_.classes_).tolist()
        return [classifier.classes[labels.index(one)] for one in source.predict(card.table(rows)).tolist()]

    return Model(classifier, predict)


class _Card:
    """A fitted scorecard, its variables, and what it makes of each state of them."""

    def __init__(self, source: Any) -> None:
        if getattr(source, "binning_process_", None) is None or not hasattr(source, "table"):
            raise Unsupported(
                f"this {type(source).__qualname__} is no fitted scorecard", cure="give a Scorecard that was fitted"
            )
        self.source, self.process = source, source.binning_process_
        self.names = [str(name) for name in self.process.get_support(names=True)]
        self.columns = [_column(name, self.process.get_binned_variable(name)) for name in self.names]

    def table(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Rows as the data frame that the scorecard takes."""
        return self._frame([[column.raw(row[column.variable.name]) for row in rows] for column in self.columns])

    def _frame(self, columns: Sequence[Sequence[Any]]) -> Any:
        import pandas as pd

        length = max(map(len, columns))
        series = {name: pd.Series([math.nan] * length) for name in self.process.variable_names}
        for column, values in zip(self.columns, columns, strict=True):
            padded = [*values, *[values[-1]] * (length - len(values))]
            kind = float if column.variable.labels is None else object
            series[column.variable.name] = pd.Series(padded, dtype=kind)
        return pd.DataFrame(series)

    def _asked(self, metric: str | None, special: Any, missing: Any) -> Any:
        """What the binning makes of each state, a row for each."""
        return self.process.transform(
            X=self._frame([column.values for column in self.columns]),
            metric=metric,
            metric_special=special,
            metric_missing=missing,
        )

    def by_score(self, threshold: Threshold, classes: Sequence[str] | None) -> Additive:
        """The classifier that splits the scores."""
        names, rule = cutoff(threshold, classes, single=False)
        points, bins = self.source.table(style="summary"), self._asked("indices", "empirical", "empirical")
        tables = []
        for index, (name, column) in enumerate(zip(self.names, self.columns, strict=True)):
            own = np.asarray(points[points["Variable"] == name]["Points"], np.float64)
            tables.append(self._table(index, own[np.asarray(bins[name])[: column.variable.size]]))
        return self._additive(names, tables, float(self.source.intercept_), rule)

    def by_estimator(self, classes: Sequence[str] | None) -> Additive:
        """The classifier that decides as the estimator does."""
        estimator = self.source.estimator_
        if not hasattr(estimator, "classes_"):
            refuse_without(None, f"the estimator {type(estimator).__qualname__}")
        coefficients, intercept = (np.ravel(getattr(estimator, part)) for part in ("coef_", "intercept_"))
        labels = np.asarray(estimator.classes_).tolist()
        if len(labels) != 2 or len(coefficients) != len(self.names) or not hasattr(estimator, "decision_function"):
            raise Unsupported(
                f"the estimator is a {type(estimator).__qualname__} of {len(labels)} classes and {len(coefficients)}"
                f" coefficients for {len(self.names)} variables",
                cure="give the threshold that decides on the score",
            )
        names = tuple(class_names(classes or [str(label) for label in labels], 2))
        woe = self._asked(None, *(getattr(self.source, part, 0) for part in ("_metric_special", "_metric_missing")))
        tables = [
            self._table(index, np.asarray(woe[name], np.float64)[: column.variable.size] * coefficients[index])
            for index, (name, column) in enumerate(zip(self.names, self.columns, strict=True))
        ]
        return self._additive(names, tables, float(intercept.sum()), Rule("cuts", (math.nextafter(0.0, 1.0),)))

    def _table(self, index: int, added: Floats) -> Table:
        if not np.isfinite(added).all():
            raise Unsupported(
                f"a bin of {shown(self.names[index])} has points that are not finite", cure="fit it with other bins"
            )
        return Table(index, added[:, None])

    def _additive(self, names: tuple[str, ...], tables: Sequence[Table], end: float, rule: Rule) -> Additive:
        total = sum(float(np.abs(table.values).max()) for table in tables) + abs(end)
        if not total < LARGEST:
            raise Unsupported(f"the points add up to {total:g}", cure=f"scale them to less than {LARGEST:g}")
        variables = tuple(column.variable for column in self.columns)
        return Additive(variables, names, tuple(tables), (0.0,), rule, end=(end,), kind="scorecard")

    def compare(self, classifier: Additive, rows: Sequence[Mapping[str, Any]], *, by_score: bool) -> None:
        """Raise an error unless the scores of these rows are the scorecard's own.

        The estimator adds in an order of its own, so its sums may differ by as much as rounding can take them off.
        """
        ask = self.source.score if by_score else self.source.decision_function
        theirs = np.asarray(ask(self.table(rows)), np.float64)
        ours = np.array([classifier.scores(classifier.encode(row))[0] for row in rows])
        wrong = np.flatnonzero(~(np.abs(ours - theirs) <= (0.0 if by_score else classifier.margin)))
        if len(wrong):
            at = int(wrong[0])
            raise QuiaError(
                f"what was loaded does not score as the scorecard does: {dict(rows[at])} has {theirs[at]} for the"
                f" scorecard, {ours[at]} for what was loaded; please report this with the scorecard, or load it with"
                " check=False if you know better"
            )


def _column(name: str, binned: Any) -> _Column:
    """The variable of a binned variable: what its splits, categories and special codes tell apart."""
    kind = getattr(binned, "dtype", "numerical")
    if "PW" in type(binned).__name__ or not hasattr(binned, "splits") or kind not in ("numerical", "categorical"):
        raise Unsupported(
            f"{shown(name)} is binned by a {type(binned).__qualname__}",
            cure="bin it with OptimalBinning, whose bins have a number of points each",
        )
    codes = _codes(binned.special_codes)
    if kind == "categorical":
        return _nominal(name, [category for group in binned.splits for category in group], codes)
    cuts: list[tuple[float, bool]] = [(float(split), False) for split in binned.splits]
    numeric = [float(code) for code in codes if isinstance(code, numbers.Real) and math.isfinite(code)]
    cuts += [(code, after) for code in numeric for after in (False, True)]
    variable = Variable.numeric(name, cuts, missing=True)
    above = math.nextafter(variable.below[-1], math.inf) if variable.below else 0.0
    return _Column(variable, [*variable.below, above, math.nan])


def _nominal(name: str, categories: Sequence[Any], codes: Sequence[Any]) -> _Column:
    values = list(dict.fromkeys(_plain(value) for value in (*categories, *codes)))
    labels = [str(value) for value in values]
    if len(set(labels)) < len(labels):
        raise Unsupported(
            f"{shown(name)} has categories that are written alike: {listed(labels)}",
            cure="fit the scorecard on strings only",
        )
    other, no_value = unused_name("any other", labels), unused_name("missing", labels)
    variable = Variable.nominal(name, [*labels, other, no_value], other=other, no_value=no_value)
    return _Column(variable, [*values, unused_name("no category of these", labels), None])


def _codes(special: Any) -> list[Any]:
    """The special codes: a list of them, or lists by name."""
    if special is None:
        return []
    groups = special.values() if isinstance(special, Mapping) else [special]
    return [code for group in groups for code in (group if isinstance(group, (list, tuple, np.ndarray)) else [group])]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
