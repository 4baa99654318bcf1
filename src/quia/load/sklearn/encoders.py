"""Encoders of categories: each encoder itself transforms every category, so that all its options are respected."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from quia.errors import Unsupported, shown
from quia.load.sklearn.follow import Frame, Walk
from quia.load.sklearn.steps import Column, Known, Lookup, is_missing

_MOST_CELLS = 2_000_000  # in a table that an encoder transforms at once
_NO_CATEGORY = "\0 no category"  # stands for every value that an encoder does not know


def one_hot(walk: Walk, encoder: Any, frame: Frame) -> Frame:
    """OneHotEncoder: a column for each category that is neither dropped nor joined with others."""
    counts = _outputs_of_each(encoder)
    columns = _encoded(walk, encoder, frame, counts)
    return Frame(columns, sparse=bool(getattr(encoder, "sparse_output", True)))


def ordinal(walk: Walk, encoder: Any, frame: Frame) -> Frame:
    """OrdinalEncoder: a number for each category."""
    return Frame(_encoded(walk, encoder, frame, [1] * len(frame.columns)))


def target(walk: Walk, encoder: Any, frame: Frame) -> Frame:
    """TargetEncoder: for each category the mean of the target, one for each class if there are several."""
    several = len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1
    return Frame(_encoded(walk, encoder, frame, [several] * len(frame.columns)))


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


def _encoded(walk: Walk, encoder: Any, frame: Frame, counts: Sequence[int]) -> list[Column]:
    """The columns of an encoder whose feature i becomes counts[i] columns, in the features' order."""
    known = [[_plain(walk, category) for category in categories] for categories in encoder.categories_]
    output_for = _EncoderOutput(encoder, known)
    dtype = np.dtype(getattr(encoder, "dtype", np.float64))
    single = dtype.kind == "f" and dtype.itemsize < 8
    columns: list[Column] = []
    start = 0
    for index, (column, categories, count) in enumerate(zip(frame.columns, known, counts, strict=True)):
        missing = [category for category in categories if is_missing(category)]
        if len(missing) > 1:
            raise Unsupported(
                f"{walk.step} knows two kinds of missing value, None and NaN, in column {walk.name_of(column)}",
                cure="write missing values one way before fitting",
            )
        present = [category for category in categories if not is_missing(category)]
        ours = range(start, start + count)
        rows = dict(zip(present, output_for(index, present, ours), strict=True))
        special = [output_for(index, [value], ours)[0] for value in (_NO_CATEGORY, math.nan, None)]
        shared = Known.of(category for category, row in rows.items() if row is not None)
        outputs: list[dict[Hashable, float]] = [{} for _ in ours]
        for category, row in rows.items():
            for position, number in (row or {}).items():
                outputs[position][category] = number
        for position, outputs_of_column in enumerate(outputs):
            other, gone, none = (None if row is None else row.get(position, 0.0) for row in special)
            lookup = Lookup(walk.step, shared, outputs_of_column, None in missing, other, gone, none, single)
            columns.append(column.then(lookup))
        if not count:  # its only category is dropped, but unknown categories may still be refused
            other, gone, none = (None if row is None else 0.0 for row in special)
            walk.columns.append(
                column.then(Lookup(walk.step, Known.of(present), {}, None in missing, other, gone, none))
            )
        start += count
    walk.check_width(start, output_for.width)
    return columns


_Row = dict[int, float] | None
"""The numbers other than zero that an encoder writes for a value, by column; None if it refuses the value."""


class _EncoderOutput:
    """An encoder's own output for values of one feature, with every other feature at its first category."""

    def __init__(self, encoder: Any, known: Sequence[Sequence[Any]]) -> None:
        self.encoder = encoder
        self.base = np.empty((1, len(known)), object)
        self.base[0] = [categories[0] for categories in known]
        row = self._transform(self.base)
        assert row is not None
        self.width = row.shape[1]

    def __call__(self, index: int, values: Sequence[Any], ours: range) -> list[_Row]:
        """What the encoder writes into our columns, numbered from the first of them."""
        encoded: list[_Row] = []
        at_once = max(1, _MOST_CELLS // max(1, self.width))
        for start in range(0, len(values), at_once):  # many values in one call, because the calls take the time
            block = values[start : start + at_once]
            rows = self._transform(self._with(index, block))
            if rows is None:
                encoded += [None] * len(block)
                continue
            written = rows[:, ours.start : ours.stop]
            written = written.toarray() if hasattr(written, "toarray") else np.asarray(written)
            block_rows: list[dict[int, float]] = [{} for _ in block]
            for row, column in zip(*(indices.tolist() for indices in np.nonzero(written)), strict=True):
                block_rows[row][column] = float(written[row, column])
            encoded += block_rows
        return encoded

    def _with(self, index: int, values: Sequence[Any]) -> Any:
        rows = np.repeat(self.base, len(values), axis=0)
        for row, value in zip(rows, values, strict=True):
            row[index] = value
        return rows

    def _transform(self, rows: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names of columns and unknown categories
            try:
                return _plain_transform(self.encoder)(rows)
            except ValueError:
                return None


def _plain_transform(encoder: Any) -> Callable[[Any], Any]:
    """The encoder's transform without the wrapping that `set_output` adds."""
    return getattr(type(encoder).transform, "__wrapped__", type(encoder).transform).__get__(encoder)  # type: ignore[no-any-return]


def _plain(walk: Walk, category: Any) -> Any:
    """A category as a plain Python value."""
    if hasattr(category, "item"):
        category = category.item()
    if category is not None and not isinstance(category, (str, int, float, bool)):
        if is_missing(category):
            return category
        raise Unsupported(
            f"{walk.step} has the category {shown(category)}, a {type(category).__name__}",
            cure="use strings, numbers or booleans as categories",
        )
    return category
