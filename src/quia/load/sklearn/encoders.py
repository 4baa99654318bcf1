"""Encoders of categories: what they write for each category is asked of them, so that every option counts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from quia.errors import Unsupported, shown
from quia.load.sklearn.follow import Frame, Way
from quia.load.sklearn.steps import Column, Lookup, is_missing

_NO_CATEGORY = "\0 no category"  # stands for every value that an encoder does not know


def one_hot(way: Way, encoder: Any, frame: Frame) -> Frame:
    """OneHotEncoder: a column for each category that is neither dropped nor joined with others."""
    counts = _outputs_of_each(encoder)
    made = _encoded(way, encoder, frame, counts)
    return Frame(made, sparse=bool(getattr(encoder, "sparse_output", True)))


def ordinal(way: Way, encoder: Any, frame: Frame) -> Frame:
    """OrdinalEncoder: a number for each category."""
    return Frame(_encoded(way, encoder, frame, [1] * len(frame.columns)))


def target(way: Way, encoder: Any, frame: Frame) -> Frame:
    """TargetEncoder: for each category the mean of the target, one for each class if there are several."""
    several = len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1
    return Frame(_encoded(way, encoder, frame, [several] * len(frame.columns)))


def _outputs_of_each(encoder: Any) -> list[int]:
    """How many columns each feature of a OneHotEncoder becomes."""
    counts = []
    for index, categories in enumerate(encoder.categories_):
        count = len(categories)
        infrequent = getattr(encoder, "infrequent_categories_", None) if _joins(encoder) else None
        if infrequent is not None and infrequent[index] is not None:
            count += 1 - len(infrequent[index])
        if encoder.drop_idx_ is not None and encoder.drop_idx_[index] is not None:
            count -= 1
        counts.append(count)
    return counts


def _joins(encoder: Any) -> bool:
    return encoder.min_frequency is not None or encoder.max_categories is not None


def _encoded(way: Way, encoder: Any, frame: Frame, counts: Sequence[int]) -> list[Column]:
    """The columns of an encoder whose feature i becomes counts[i] columns, in the features' order."""
    known = [[_plain(way, category) for category in categories] for categories in encoder.categories_]
    written = _Asked(encoder, known)
    columns: list[Column] = []
    start = 0
    for index, (column, categories, count) in enumerate(zip(frame.columns, known, counts, strict=True)):
        missing = [category for category in categories if is_missing(category)]
        if len(missing) > 1:
            raise Unsupported(
                f"{way.step} knows two kinds of missing value, None and NaN, in column {way.name_of(column)}",
                cure="write missing values one way before fitting",
            )
        present = [category for category in categories if not is_missing(category)]
        rows = [written(index, category) for category in present]
        special = [written(index, value) for value in (_NO_CATEGORY, math.nan, None)]
        for at in range(start, start + count):
            outputs: dict[Hashable, float] = {
                category: float(row[at]) for category, row in zip(present, rows, strict=True) if row is not None
            }
            others = [None if row is None else float(row[at]) for row in special]
            columns.append(column.then(Lookup(way.step, outputs, None in missing, *others)))
        if not count:  # a feature of one category, dropped; unknown ones may still be refused
            others = [None if row is None else 0.0 for row in special]
            way.made.append(column.then(Lookup(way.step, dict.fromkeys(present, 0.0), None in missing, *others)))
        start += count
    way.check_width(start, written.width)
    return columns


class _Asked:
    """An encoder's own output for one value of one feature, the other features being at their first category."""

    def __init__(self, encoder: Any, known: Sequence[Sequence[Any]]) -> None:
        self.encoder = encoder
        self.base = np.empty((1, len(known)), object)
        self.base[0] = [categories[0] for categories in known]
        rows = self._transform(self.base)
        assert rows is not None
        self.width = rows.shape[1]
        # All categories of a feature in one call, which is what takes the time.
        self.cache = {
            (index, _key(category)): row
            for index, categories in enumerate(known)
            for category, row in zip(categories, self._column(index, categories), strict=True)
        }

    def __call__(self, index: int, value: Any) -> Any:
        key = (index, _key(value))
        if key not in self.cache:
            rows = self._transform(self._with(index, [value]))
            self.cache[key] = None if rows is None else rows[0]
        return self.cache[key]

    def _column(self, index: int, values: Sequence[Any]) -> Any:
        rows = self._transform(self._with(index, values))
        return rows if rows is not None else [None] * len(values)

    def _with(self, index: int, values: Sequence[Any]) -> Any:
        rows = np.repeat(self.base, len(values), axis=0)
        for row, value in zip(rows, values, strict=True):
            row[index] = value
        return rows

    def _transform(self, rows: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names of columns, unknown categories: we know
            try:
                made = _plain_output(self.encoder)(rows)
            except ValueError:
                return None
        return made.toarray() if hasattr(made, "toarray") else np.asarray(made)


def _plain_output(encoder: Any) -> Callable[[Any], Any]:
    """The encoder's transform without the wrapping that `set_output` adds."""
    return getattr(type(encoder).transform, "__wrapped__", type(encoder).transform).__get__(encoder)  # type: ignore[no-any-return]


def _plain(way: Way, category: Any) -> Any:
    """A category as a plain Python value."""
    if hasattr(category, "item"):
        category = category.item()
    if category is not None and not isinstance(category, (str, int, float, bool)):
        if is_missing(category):
            return category
        raise Unsupported(
            f"{way.step} has the category {shown(category)}, a {type(category).__name__}",
            cure="use texts, numbers or booleans as categories",
        )
    return category


def _key(value: Any) -> Hashable:
    return type(value).__name__ if is_missing(value) else (type(value) is str, value)
