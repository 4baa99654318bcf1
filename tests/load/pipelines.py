"""Random data frames and pipelines for the scikit-learn tests, and the rows that are hardest for them.

Nothing here knows how quia loads a model: rows are made from the graph's public cuts and states alone, and compared
with the model's own decisions.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from quia.errors import InstanceError
from quia.load.sklearn.labels import class_names
from quia.variables import UNKNOWN

COLOURS = ["red", "green", "blue", "puce", "teal"]
TOWNS = ["Ghent", "Lyon", "Bari"]


def data(rng: np.random.Generator, rows: int = 150) -> pd.DataFrame:
    """Columns of every sort: whole, real and missing numbers, texts, categories, booleans, codes."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "income": rng.lognormal(9, 2, rows),
            "rate": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(0, 1e-3, rows)),
            "colour": rng.choice(COLOURS, rows, p=[0.4, 0.3, 0.2, 0.07, 0.03]),
            "grade": pd.Categorical(rng.choice(["A", "B", "C"], rows)),
            "code": rng.choice([10, 20, 35], rows),
            "member": rng.random(rows) < 0.5,
        }
    )
    absent = [None, np.nan][int(rng.integers(2))]
    towns = [
        absent if lost else town for lost, town in zip(rng.random(rows) < 0.15, rng.choice(TOWNS, rows), strict=True)
    ]
    frame["town"] = pd.Series(towns, dtype=object)
    return frame


def target(rng: np.random.Generator, frame: pd.DataFrame, classes: list[Any]) -> np.ndarray:
    """Classes that depend on every column, so that a tree has something to learn."""
    score = (
        (frame.age - 50) / 20
        + np.log(frame.income) / 3
        + frame.rate.fillna(5e-4) * 900
        + frame.colour.map(dict(zip(COLOURS, rng.normal(0, 1, 5), strict=True)))
        + frame.grade.astype(str).map({"A": -1, "B": 0.3, "C": 1})
        + frame.code.map({10: 1, 20: -1, 35: 0.5})
        + frame.member
        + frame.town.map({"Ghent": 1.0, "Lyon": -1.0}).fillna(0.2)
    )
    score += rng.normal(0, 0.7, len(frame))
    bands = np.quantile(score, np.linspace(0, 1, len(classes) + 1)[1:-1])
    return np.array(classes)[np.searchsorted(bands, score)]


def numeric_step(rng: np.random.Generator, *, missing: bool) -> Any:
    """A random way of numbers."""
    steps = [
        lambda: StandardScaler(with_mean=bool(rng.integers(2)), with_std=bool(rng.integers(4))),
        lambda: MinMaxScaler(feature_range=(-1, 3), clip=bool(rng.integers(2))),
        lambda: MaxAbsScaler(),
        lambda: RobustScaler(),
        lambda: FunctionTransformer(),
        lambda: QuantileTransformer(n_quantiles=int(rng.integers(2, 30))),
        lambda: "passthrough",
    ]
    strict = [
        lambda: KBinsDiscretizer(n_bins=int(rng.integers(2, 6)), encode="ordinal", strategy="uniform"),
        lambda: KBinsDiscretizer(n_bins=4, encode="onehot", strategy="uniform"),
        lambda: KBinsDiscretizer(n_bins=3, encode="onehot-dense", strategy="uniform"),
        lambda: Binarizer(threshold=float(rng.normal())),
    ]
    chosen = []
    if not missing or rng.random() < 0.6:
        if missing:
            chosen.append(
                SimpleImputer(
                    strategy=str(rng.choice(["mean", "median", "most_frequent"])), add_indicator=bool(rng.integers(2))
                )
            )
        chosen += [steps[i]() for i in rng.integers(0, len(steps), int(rng.integers(0, 3)))]
        if rng.random() < 0.4:
            chosen.append(strict[int(rng.integers(len(strict)))]())
    else:
        chosen += [steps[i]() for i in rng.integers(0, len(steps), int(rng.integers(0, 3)))]
    return make_pipeline(*chosen) if chosen else "passthrough"


def nominal_step(rng: np.random.Generator, *, missing: bool) -> Any:
    """A random way of categories."""
    how: dict[str, Any] = {}
    if rng.random() < 0.4:
        how["min_frequency"] = [0.1, 12][int(rng.integers(2))]
    elif rng.random() < 0.3:
        how["max_categories"] = 3
    chosen: list[Any] = []
    if missing and rng.random() < 0.5:
        fill = (
            {"strategy": "constant", "fill_value": "missing"} if rng.random() < 0.5 else {"strategy": "most_frequent"}
        )
        chosen.append(SimpleImputer(missing_values=[None, np.nan][int(rng.integers(2))], **fill))
    if rng.random() < 0.7:
        unknown = str(rng.choice(["error", "ignore", "infrequent_if_exist"]))
        drop = [None, "first", "if_binary"][int(rng.integers(3))]
        chosen.append(OneHotEncoder(drop=drop, handle_unknown=unknown, sparse_output=bool(rng.integers(2)), **how))
        if rng.random() < 0.3:
            chosen.append(StandardScaler(with_mean=False) if rng.random() < 0.5 else MaxAbsScaler())
    else:
        unknown_value = [-1, np.nan][int(rng.integers(2))]
        known = {"handle_unknown": "use_encoded_value", "unknown_value": unknown_value} if rng.integers(2) else {}
        chosen.append(OrdinalEncoder(encoded_missing_value=-2 if rng.integers(2) else np.nan, **known, **how))
    return make_pipeline(*chosen)


def model(
    rng: np.random.Generator, frame: pd.DataFrame, y: np.ndarray, *, regress: bool = False, final: Any = None
) -> Pipeline:
    """A random fitted pipeline that ends in a tree, or in what `final` makes of a depth and a seed.

    Not every random choice can be fitted, so it tries again.
    """
    while True:
        ways = [("numbers", numeric_step(rng, missing=False), ["age", "income"])]
        ways.append(("rate", numeric_step(rng, missing=True), ["rate"]))
        ways.append(("texts", nominal_step(rng, missing=False), ["colour", "grade"]))
        ways.append(("town", nominal_step(rng, missing=True), ["town"]))
        ways.append(("codes", nominal_step(rng, missing=False), ["code"]))
        if rng.random() < 0.5:
            ways.append(("age again", numeric_step(rng, missing=False), ["age"]))
        order = rng.permutation(len(ways))
        rest = "passthrough" if rng.random() < 0.7 else "drop"
        transformer: Any = ColumnTransformer([ways[i] for i in order], remainder=rest)
        if rng.random() < 0.2:
            transformer = FeatureUnion([("one", transformer), ("two", ColumnTransformer([ways[0]]))])
        kind = ExtraTreeClassifier if rng.random() < 0.3 else DecisionTreeClassifier
        kind = DecisionTreeRegressor if regress else kind
        seed = int(rng.integers(1 << 30))
        depth = int(rng.integers(2, 9))
        tree = kind(max_depth=depth, random_state=seed) if final is None else final(depth, seed)
        pipe = Pipeline([("pre", transformer), ("tree", tree)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                pipe.fit(frame, y)
                pipe.predict(frame)
            except (ValueError, TypeError):
                continue
        return pipe


def hard_rows(rng: np.random.Generator, graph: Any, frame: pd.DataFrame, count: int) -> pd.DataFrame:
    """Rows with values at every cut of the graph and one ulp around, missing, unknown, and as in the data."""
    rows = frame.sample(count, replace=True, random_state=int(rng.integers(1 << 30))).reset_index(drop=True)
    for variable in (graph.variables[index] for index in graph.tested):
        values: list[Any] = list(rows[variable.name])
        pool: list[Any] = []
        strange: list[Any] = []
        if variable.is_line:
            known = [float(value) for value in frame[variable.name].dropna()[:40]]
            pool = [beside for x in known for beside in (x, math.nextafter(x, math.inf), -x, 10 * x)] + [0.0]
            strange = [math.nan]
        elif variable.is_numeric:
            for threshold, _ in variable.cuts:
                near = np.float32(threshold)
                singles = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
                doubles = [math.nextafter(threshold, -math.inf), threshold, math.nextafter(threshold, math.inf)]
                pool += [float(x) for x in (*singles, *doubles)]
            pool += [0.0, -1e9, 1e9]
            strange = [math.nan]
        elif rows[variable.name].dtype.kind in "if":
            pool, strange = [10, 20, 35], [36, -1, math.nan]
        else:
            lost = [value for value in frame[variable.name] if value is None or value != value][:1]
            pool, strange = (
                [*map(str, set(frame[variable.name]) - set(lost)), *lost],
                ["mauve", lost[0] if lost else None],
            )
        mixed = rng.random(count)
        picks = [pool[i] for i in rng.integers(0, len(pool), count)]
        # Few, for a row that the model refuses says nothing of what it makes of the others.
        for at in rng.integers(0, count, count // 100):
            picks[at] = strange[int(rng.integers(len(strange)))]
        values = [pick if m < 0.6 else v for pick, m, v in zip(picks, mixed, values, strict=True)]
        rows[variable.name] = pd.Series(values, dtype=float if variable.is_numeric else object)
    return rows


def own_decisions(model: Any, rows: pd.DataFrame) -> list[Any]:
    """The model's own decision on each row; None where it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(model.predict(rows))
        except (ValueError, TypeError):
            if len(rows) == 1:
                return [None]
    middle = len(rows) // 2
    return [*own_decisions(model, rows.iloc[:middle]), *own_decisions(model, rows.iloc[middle:])]


def taken(graph: Any, row: dict[str, Any]) -> bool:
    try:
        states = graph.encode(row)
    except InstanceError:
        return False
    # The model itself refuses rows that lack a value, also where none makes a difference.
    return UNKNOWN not in [states[v] for v in graph.tested]


def same_decisions(graph: Any, model: Any, rows: pd.DataFrame) -> int:
    """Compare row by row, and some of the refusals; how many rows were decided."""
    known = np.array([taken(graph, row) for row in rows.to_dict("records")])
    theirs = own_decisions(model, rows[known])
    for row, their in zip(rows[known].to_dict("records"), theirs, strict=True):
        assert their is not None, f"the model refuses {row}"
        assert graph.classify(row) == class_names([their])[0], row
    for _, row in rows[~known].iloc[:8].iterrows():
        alone = row.to_frame().T.astype(rows.dtypes.to_dict())
        assert own_decisions(model, alone) == [None], f"the model takes {row.to_dict()}"
    return int(known.sum())
