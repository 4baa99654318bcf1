"""Boosted trees of a table, and how many decisions hang on features by the library's own `predict`, at its best."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from quia.classifier import Classifier
from quia.errors import Unsupported
from quia.load import load


@dataclass(frozen=True, eq=False)
class Boosted:
    """A model as its library has it and as quia does; `columns` are what it was learned from."""

    model: Any
    classifier: Classifier
    columns: Any


def _libraries() -> tuple[Any, Any]:
    try:
        import pandas as pd
        import xgboost
    except ImportError:
        raise Unsupported("this needs pandas and XGBoost", cure="pip install 'quia[bench,oracles]'") from None
    return pd, xgboost


def read_table(file: Path, rows: int | None) -> Any:
    """A table whose last column is the class, or so many of its rows, evenly spread."""
    table = _libraries()[0].read_csv(file, keep_default_na=False)
    return table if not rows else table.iloc[:: max(1, len(table) // rows)].head(rows).reset_index(drop=True)


def boosted(table: Any, rounds: int, depth: int) -> Boosted:
    """Trees learned from all rows, nominal columns as such, by one thread."""
    pd, xgboost = _libraries()
    columns = table[table.columns[:-1]].copy()
    for name in columns.select_dtypes(exclude="number"):
        columns[name] = columns[name].astype("category")
    labels = pd.Categorical(table[table.columns[-1]])
    model = xgboost.XGBClassifier(
        n_estimators=rounds, max_depth=depth, enable_categorical=True, n_jobs=1, random_state=0
    ).fit(columns, labels.codes)
    return Boosted(model, load(model, classes=[str(name) for name in labels.categories]), columns)


def counted(boost: Boosted, table: Any, sets: Sequence[Sequence[str]]) -> dict[str, Any]:
    """How many decisions differ when only some features are replaced, by each of their values, for all rows at once.

    Complexity: one call of predict for each combination of values.
    """
    pd, _ = _libraries()
    started, calls, found = time.process_time(), 1, []
    columns = boost.columns.copy()
    own = boost.model.predict(columns)
    for names in sets:
        changed = np.zeros(len(table), bool)
        kinds = [columns[name].dtype for name in names]
        for values in product(*(kind.categories for kind in kinds)):
            other = columns.assign(
                **{
                    name: pd.Categorical.from_codes(
                        np.full(len(table), kind.categories.get_indexer([value])[0]), dtype=kind
                    )
                    for name, kind, value in zip(names, kinds, values, strict=True)
                }
            )
            changed |= boost.model.predict(other) != own
            calls += 1
        found.append(int(changed.sum()))
    return {"rows": found, "calls": calls, "cpu": time.process_time() - started}
