"""The estimator's own decisions on instances of the classifier that was made of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from quia.errors import InstanceError
from quia.load.sklearn.labels import Rule, class_names
from quia.load.sklearn.sources import Categories, Numbers, Source

_MOST_CELLS = 2_000_000  # in a table that the estimator predicts at once


@dataclass(frozen=True, eq=False)
class Predictor:
    """A function from rows to classes, or None for a row that the estimator refuses."""

    estimator: Any
    final: Any
    names: Sequence[str]
    sources: tuple[Source, ...]
    rule: Rule
    by_probability: bool
    _groups: tuple[Categories, ...] = field(init=False)

    def __post_init__(self) -> None:
        groups = (s for s in self.sources if isinstance(s, Categories) and len(s.values[0]) > 1)
        object.__setattr__(self, "_groups", tuple(groups))

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        at_once = max(1, _MOST_CELLS // max(len(self.names), int(self.final.n_features_in_)))
        blocks = (rows[start : start + at_once] for start in range(0, len(rows), at_once))
        with warnings.catch_warnings(), in_this_process(self.final):
            warnings.simplefilter("ignore")  # unknown categories, casts that overflow, columns without names
            return [decision for block in blocks for decision in self._decide(self._raw(block), len(block))]

    def instance(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """A row of data as an instance: the dummies of a group are replaced by the state they stand for."""
        instance = dict(row)
        for source in self._groups:
            name = source.variable.name
            if name not in instance and any(self.names[raw] in row for raw in source.values[0]):
                dummies = {raw: float(row[self.names[raw]]) for raw in source.values[0]}
                if dummies not in source.values:
                    raise InstanceError(f"the columns of {name!r} are no dummies in a row: {list(dummies.values())}")
                instance[name] = source.variable.text(source.values.index(dummies))
        return instance

    def _raw(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The raw columns of the rows; a column that no row names, because no node tests it, is constant."""
        raw: dict[int, Any] = {}
        named = {name for row in rows for name in row}
        for source in self.sources:
            variable = source.variable
            if variable.name in named:
                values = [row[variable.name] for row in rows]
                if isinstance(source, Numbers):
                    raw[source.raw] = [v if type(v) is float else variable.as_number(v) for v in values]
                    continue
                raw_rows = [source.raw_values(value, variable.encode(value)) for value in values]
                raw.update((index, [raw_row[index] for raw_row in raw_rows]) for index in raw_rows[0])
            else:
                first = source.raw_values(0.0 if variable.is_numeric else variable.text(0), 0)
                raw.update((index, np.repeat(_column([value]), len(rows))) for index, value in first.items())
        return [raw[index] for index in range(len(self.names))]

    def _decide(self, columns: Sequence[Any], rows: int) -> list[str | None]:
        try:
            return list(self._decisions(self._table(columns)))
        except (ValueError, TypeError):
            if rows == 1:
                return [None]
        middle = rows // 2  # some row is refused: find it by halves
        before, after = ([column[half] for column in columns] for half in (slice(middle), slice(middle, None)))
        return [*self._decide(before, middle), *self._decide(after, rows - middle)]

    def _decisions(self, table: Any) -> list[str]:
        if not hasattr(self.final, "classes_"):
            return self.rule.decide(np.asarray(self.estimator.predict(table), np.float64).reshape(-1, 1))
        if self.by_probability:
            return self.rule.decide(np.asarray(self.estimator.predict_proba(table), np.float64))
        class_of = dict(zip(class_names(self.final.classes_), self.rule.classes or (), strict=True))
        return [class_of[class_names([label])[0]] for label in self.estimator.predict(table).tolist()]

    def _table(self, raw_columns: Sequence[Any]) -> Any:
        """The columns in the form of the training data: a data frame if the estimator has names, else an array."""
        columns = [column if isinstance(column, np.ndarray) else _column(column) for column in raw_columns]
        own = getattr(self.estimator, "feature_names_in_", None)
        if own is not None:
            pandas = _data_frames()
            if pandas is not None:
                named = zip(map(str, own), columns, strict=True)
                return pandas.DataFrame({name: _series(pandas, column) for name, column in named})
        if all(column.dtype == np.float64 for column in columns):
            return np.column_stack(columns)
        return np.array([column.tolist() for column in columns], object).T


def in_this_process(final: Any) -> AbstractContextManager[Any]:
    """A context in which an ensemble predicts without other processes, and in a certain order.

    The trees of a forest are added as they come, one by one here; those of a bag in as many parts as there are jobs.
    """
    if not type(final).__module__.startswith("sklearn.ensemble."):
        return nullcontext()
    import joblib

    backend = "threading" if type(final).__name__.startswith("Bagging") else "sequential"
    context: AbstractContextManager[Any] = joblib.parallel_backend(backend, n_jobs=None)
    return context


def _column(values: Sequence[Any]) -> Any:
    """One raw column: an array of numbers, or of objects if some are not numbers or would be rounded."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        numbers = np.array(values, np.float64)
        if all(number == value or value != value for number, value in zip(numbers.tolist(), values, strict=True)):
            return numbers
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def _series(library: Any, column: Any) -> Any:
    if library.__name__ == "pandas" and column.dtype == object:
        return library.Series(column, dtype=object)  # or it would take None for NaN
    return column


def _data_frames() -> Any:
    for name in ("pandas", "polars"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
