"""The estimator's own decisions on instances of its decision graph."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from quia.errors import InstanceError
from quia.load.sklearn.labels import Rule, class_names
from quia.load.sklearn.sources import Categories, Source


@dataclass(frozen=True, eq=False)
class Predictor:
    """A function from rows to classes, or None for a row that the estimator refuses."""

    estimator: Any
    final: Any
    names: Sequence[str]
    sources: tuple[Source, ...]
    rule: Rule
    by_probability: bool

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        raws = [self._raw(row) for row in rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown categories, casts that overflow, columns without names
            return list(self._decide(raws))

    def instance(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """A row of data as an instance: where it has the dummies of a group, the state they stand for."""
        made = dict(row)
        for source in self.sources:
            name = source.variable.name
            if isinstance(source, Categories) and name not in made and len(source.values[0]) > 1:
                given = {raw: float(row[self.names[raw]]) for raw in source.values[0]}
                if given not in source.values:
                    raise InstanceError(f"the columns of {name!r} are no dummies in a row: {list(given.values())}")
                made[name] = source.variable.text(source.values.index(given))
        return made

    def _raw(self, row: Mapping[str, Any]) -> list[Any]:
        raw: dict[int, Any] = {}
        for source in self.sources:
            value = row[source.variable.name]
            raw.update(source.raw_values(value, source.variable.encode(value)))
        return [raw[index] for index in range(len(self.names))]

    def _decide(self, raws: Sequence[Sequence[Any]]) -> list[str | None]:
        try:
            return list(self._decisions(self._table(raws)))
        except (ValueError, TypeError):
            if len(raws) == 1:
                return [None]
        middle = len(raws) // 2  # some row is refused: find it by halves
        return [*self._decide(raws[:middle]), *self._decide(raws[middle:])] if raws else []

    def _decisions(self, table: Any) -> list[str]:
        if not hasattr(self.final, "classes_"):
            return self.rule.decide(np.asarray(self.estimator.predict(table), np.float64).reshape(-1, 1))
        if self.by_probability:
            return self.rule.decide(np.asarray(self.estimator.predict_proba(table), np.float64))
        texts = dict(zip(class_names(self.final.classes_), self.rule.classes or (), strict=True))
        return [texts[class_names([one])[0]] for one in self.estimator.predict(table).tolist()]

    def _table(self, raws: Sequence[Sequence[Any]]) -> Any:
        """The rows as the estimator was fitted on: a data frame if it knows columns by name, else an array."""
        columns = [_column([row[index] for row in raws]) for index in range(len(self.names))]
        own = getattr(self.estimator, "feature_names_in_", None)
        if own is not None:
            pandas = _data_frames()
            if pandas is not None:
                named = zip(map(str, own), columns, strict=True)
                return pandas.DataFrame({name: _series(pandas, column) for name, column in named})
        if all(column.dtype == np.float64 for column in columns):
            return np.column_stack(columns)
        return np.array([column.tolist() for column in columns], object).T


def _column(values: Sequence[Any]) -> Any:
    """One raw column: numbers as numbers, anything else, and numbers that would be rounded, as objects."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        numbers = np.array(values, np.float64)
        if all(number == value or value != value for number, value in zip(numbers.tolist(), values, strict=True)):
            return numbers
    made = np.empty(len(values), object)
    made[:] = values
    return made


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
