"""Imputers: a value in place of a missing one, and columns that indicate where a value was missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from quia.load.sklearn.follow import Frame, Walk
from quia.load.sklearn.steps import Fill, Indicate, NoMissing, is_missing


def simple(walk: Walk, imputer: Any, frame: Frame) -> Frame:
    """SimpleImputer: a column that was always missing is dropped; indicators come after all columns."""
    fills = [fill.item() if hasattr(fill, "item") else fill for fill in imputer.statistics_]
    missing = _missing_values(imputer)
    columns = []
    for column, fill in zip(frame.columns, fills, strict=True):
        filled = column.then(Fill(missing, fill))
        if imputer.keep_empty_features or not is_missing(fill):
            columns.append(filled)
        else:
            walk.columns.append(filled)
    if imputer.add_indicator:
        columns += [frame.columns[i].then(Indicate(missing)) for i in imputer.indicator_.features_.tolist()]
    return Frame(columns, frame.sparse)


def indicator(walk: Walk, step: Any, frame: Frame) -> Frame:
    """MissingIndicator: 1 where a value is missing."""
    missing = _missing_values(step)
    chosen = step.features_.tolist()
    if step.features == "missing-only" and step.error_on_new:
        rest = set(range(len(frame.columns))) - set(chosen)
        walk.columns.extend(frame.columns[index].then(NoMissing()) for index in sorted(rest))
    columns = [frame.columns[index].then(Indicate(missing)) for index in chosen]
    return Frame(columns, frame.sparse if step.sparse == "auto" else bool(step.sparse))


def _missing_values(step: Any) -> Any:
    value = step.missing_values
    return value.item() if isinstance(value, np.generic) else value
