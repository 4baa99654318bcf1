"""scikit-learn's trees and pipelines decide as their own `predict`, and are explained in their raw columns."""

import itertools
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import oracle
import quia
from quia.load.sklearn.floats import Pieces, crossings, cut_after

sys.path.insert(0, str(Path(__file__).parent))
import pipelines
from pipelines import same_decisions


@pytest.mark.parametrize("seed", range(8))
def test_random_pipelines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pipelines.data(rng)
    classes: list[Any] = [["no", "yes"], [1, 2, 3], [False, True], [0.0, 1.0]][seed % 4]
    model = pipelines.model(rng, frame, pipelines.target(rng, frame, classes))
    graph = quia.load(model)
    assert [v.name for v in graph.variables] == list(frame.columns)
    assert same_decisions(graph, model, pipelines.hard_rows(rng, graph, frame, 300)) > 150
    again = quia.DecisionGraph.from_dict(graph.to_dict())
    assert again == graph


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreeClassifier])
@pytest.mark.parametrize("missing", [False, True])
def test_bare_trees(kind: Any, missing: bool) -> None:
    """Values at and around each threshold, in 32 and 64 bits; NaN goes the tree's way."""
    rng = np.random.default_rng(5)
    x = rng.normal(0, [1, 1e-30, 1e30, 100], (200, 4))
    x[:, 3] = np.round(x[:, 3])
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    y = rng.integers(0, 3, 200)
    try:
        model = kind(random_state=0, max_depth=7).fit(x, y)
    except ValueError:
        pytest.skip("this scikit-learn has no missing values in an ExtraTree: pip install -U scikit-learn")
    graph = quia.load(model)
    checked = 0
    for _ in range(10):
        for index, variable in enumerate(graph.variables):
            pool = [float("nan")] * missing
            for threshold, _after in variable.cuts:
                near = np.float32(threshold)
                pool += [threshold, math.nextafter(threshold, math.inf), math.nextafter(threshold, -math.inf)]
                pool += [float(np.nextafter(near, np.float32(s))) for s in (-np.inf, np.inf)] + [float(near)]
            if not pool:
                continue
            rows = x[rng.integers(0, len(x), len(pool))].copy()
            rows[:, index] = pool
            for row, their in zip(rows, model.predict(rows), strict=True):
                assert graph.classify(row) == str(their)
                checked += 1
    assert checked > 1000


def altered(model: Any, *, thresholds: Any = None, values: Any = None) -> Any:
    """A fitted tree with other numbers in its arrays."""
    state = model.tree_.__getstate__()
    if thresholds is not None:
        state["nodes"] = state["nodes"].copy()
        state["nodes"]["threshold"] = thresholds(state["nodes"]["threshold"])
    if values is not None:
        state["values"] = values(state["values"])
    model.tree_.__setstate__(state)
    return model


def test_infinite_thresholds_and_equal_shares() -> None:
    x = np.arange(16.0).reshape(-1, 2)
    y = np.arange(8) % 4
    for limit in (np.inf, -np.inf):
        model = altered(
            DecisionTreeClassifier(random_state=0).fit(x, y),
            thresholds=lambda old, limit=limit: np.where(np.arange(len(old)) % 3 == 0, limit, old),
        )
        graph = quia.load(model)
        rows = np.vstack([x, -x * 1e30, x * 1e30])
        assert [graph.classify(row) for row in rows] == [str(their) for their in model.predict(rows)]
    model = altered(DecisionTreeClassifier(random_state=0).fit(x, y), values=lambda old: np.full_like(old, 0.25))
    assert {quia.load(model).classify(row) for row in x} == {"0"}, "the first of equals"


ONE_HOT = [
    {"drop": drop, "handle_unknown": unknown, **joined}
    for drop in (None, "first", "if_binary", np.array(["b"], object))
    for unknown in ("error", "ignore", "infrequent_if_exist")
    for joined in ({}, {"min_frequency": 4}, {"max_categories": 2})
]


@pytest.mark.parametrize("absent", [None, np.nan, "no"])
def test_every_option_of_one_hot(absent: Any) -> None:
    """All options, on all values: known, rare, unknown, missing."""
    values = ["a"] * 9 + ["b"] * 6 + ["c"] * 3 + ["d"] * 2 + ([absent] * 3 if absent != "no" else [])
    rng = np.random.default_rng(1)
    x = pd.DataFrame({"c": pd.Series(values * 3, dtype=object), "n": rng.normal(size=3 * len(values))})
    tried = 0
    for how in ONE_HOT:
        for seed in (0,):
            y = np.random.default_rng(seed).integers(0, 2, len(x))
            encode = ColumnTransformer([("c", OneHotEncoder(**how), ["c"])], remainder="passthrough")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model = make_pipeline(encode, DecisionTreeClassifier(random_state=seed)).fit(x, y)
                except (ValueError, AttributeError):
                    continue  # an infrequent category cannot be dropped
            graph = quia.load(model, check=False)
            asked = ["a", "b", "c", "d", "zebra"] + ([absent] if absent != "no" else [])
            pairs = list(itertools.product(asked, x["n"][:6]))
            rows = pd.DataFrame({"c": pd.Series([c for c, _ in pairs], dtype=object), "n": [n for _, n in pairs]})
            if "c" in {graph.variables[v].name for v in graph.tested}:
                tried += same_decisions(graph, model, rows)
    assert tried > 800


@pytest.mark.parametrize("seed", range(3))
def test_other_encoders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pipelines.data(rng)
    y = pipelines.target(rng, frame, ["lo", "mid", "hi"][: 2 + seed % 2])
    ways = [
        ("target", TargetEncoder(cv=2, random_state=0), ["colour", "grade"]),
        ("ordinal", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan), ["code"]),
        ("gone", MissingIndicator(), ["rate"]),
        ("filled", SimpleImputer(strategy="constant", fill_value=-1), ["rate"]),
        ("odd", make_pipeline(SimpleImputer(missing_values=50, strategy="mean"), MinMaxScaler()), ["age"]),
    ]
    picked = SelectKBest(k=5)
    tree = DecisionTreeClassifier(max_depth=6, random_state=seed)
    model = Pipeline([("ways", ColumnTransformer(ways)), ("picked", picked), ("tree", tree)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, y)
    graph = quia.load(model)
    rows = pipelines.hard_rows(rng, graph, frame, 300)
    rows.loc[::7, "age"] = 50.0
    assert same_decisions(graph, model, rows) > 150


@pytest.mark.parametrize("seed", range(4))
def test_numbers_that_an_encoder_does_not_know(seed: int) -> None:
    """It writes NaN for them, which goes where the tree sends NaN, is filled, or is scaled and stays."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 6, 120) / 2, "b": rng.normal(0, 1, 120)})
    y = np.where(frame.a.isin([0.5, 2.0]) ^ (frame.b > 1), "yes", "no")
    for after in ([], [SimpleImputer(strategy="median", add_indicator=bool(seed % 2))], [StandardScaler()]):
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        way = make_pipeline(MaxAbsScaler(), encoder, *after)
        tree = ExtraTreeClassifier(random_state=seed) if seed % 2 else DecisionTreeClassifier(random_state=seed)
        model = make_pipeline(ColumnTransformer([("a", way, ["a"])], remainder="passthrough"), tree)
        known = frame.assign(a=frame.a.where(frame.index % 5 != 0, 0.5))
        graph = quia.load(model.fit(known, y))
        rows = pd.DataFrame(
            {"a": rng.choice([0.0, 0.25, 0.5, 1.0, 2.0, 2.5, 7.0, -1.0], 200), "b": rng.normal(0, 1, 200)}
        )
        assert same_decisions(graph, model, rows) == 200


@pytest.mark.parametrize("union", [False, True])
def test_weights_of_transformers(union: bool) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(0, 1, 200), "b": rng.normal(5, 2, 200)})
    y = np.where(frame.a + frame.b > 5, "yes", "no")
    weights = {"scaled": -2.5, "plain": 3}
    if union:
        parts: Any = FeatureUnion([("scaled", StandardScaler()), ("plain", "passthrough")], transformer_weights=weights)
    else:
        parts = ColumnTransformer(
            [("scaled", StandardScaler(), ["a"]), ("plain", "passthrough", ["b"])], transformer_weights=weights
        )
    model = make_pipeline(parts, DecisionTreeClassifier(random_state=0)).fit(frame, y)
    graph = quia.load(model)
    assert same_decisions(graph, model, pipelines.hard_rows(rng, graph, frame, 300)) == 300


def test_steps_that_pass_everything_on() -> None:
    inner = make_pipeline(make_pipeline("passthrough"), make_pipeline(None, "passthrough"))
    model = make_pipeline(inner, DecisionTreeClassifier()).fit([[0.0], [1.0]], ["no", "yes"])
    assert quia.load(model).classify({"x0": 0.7}) == "yes"


def test_categories_are_told_apart_to_the_last_digit() -> None:
    """As scikit-learn does: 2^60 and 2^60 + 1 differ, True is 1, 10^16 is 1e16."""
    for known, asked in (
        ([2**60, 2**60 + 1, 7], [2**60, 2**60 + 1, 2**60 + 2, 7, 7.0]),
        ([True, False], [True, 1, 0, 1.0, False, np.True_]),
        ([1e16, 2.5, 7.0], [10**16, 10**16 + 2, 2.5, 7, np.int64(7)]),
    ):
        frame = pd.DataFrame({"c": known * 20})
        y = [f"class {which % 2}" for which, _ in enumerate(known)] * 20
        model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier()).fit(frame, y)
        graph = quia.load(model)
        for value in asked:
            row = pd.DataFrame({"c": pd.Series([value], dtype=object if isinstance(value, bool) else None)})
            assert graph.classify({"c": value}) == model.predict(row)[0], value


def test_bisection_finds_the_last_float() -> None:
    """Against trying every float around the border, for functions that rise, fall and break."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        a, b, c = rng.normal(0, 10.0 ** rng.integers(-3, 4), 3)

        def function(x: Any, a: float = a, b: float = b, c: float = c) -> Any:
            return np.where(x < c, (x - a) / (b or 1.0), -x * 0.5)

        pieces = Pieces(np.array([-1e30, c]), np.array([np.nextafter(c, -np.inf), 1e30]))
        limits = rng.normal(0, 10, 4)
        for limit, crossing in zip(limits, crossings(function, pieces, limits, missing_left=False), strict=True):
            holds, before = crossing.first, -1e30
            assert holds == bool(function(np.array([-1e30]))[0] <= limit)
            for border in crossing.borders:
                near = np.array([border, math.nextafter(border, math.inf)])
                on_this, on_other = function(near).astype(np.float32).astype(np.float64) <= limit
                assert on_this == holds, "the border itself is the last on its side"
                assert on_other != holds, "and the next float is on the other"
                far = rng.uniform(max(before, border - 10), border, 20)
                assert ((function(far).astype(np.float32) <= np.float64(limit)) == holds).all()
                cut = cut_after(border)
                assert cut.last_below(False) == border
                holds, before = not holds, border


@pytest.mark.parametrize("seed", range(6))
def test_reasons_on_raw_columns(seed: int) -> None:
    """Reasons equal those by brute force on the pipeline's own `predict`, a world being one raw value a column."""
    rng = np.random.default_rng(seed)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n).astype(float),
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": rng.choice(["S", "M", "L"], n),
            "load": rng.normal(size=n),
        }
    )
    y = np.where((frame.age > 40) ^ (frame.colour == "red") | (frame["size"] == "M") & (frame.load > 0), "yes", "no")
    ways = [
        ("n", StandardScaler(), ["age", "load"]),
        ("c", OneHotEncoder(), ["colour"]),
        ("o", OrdinalEncoder(), ["size"]),
    ]
    model = make_pipeline(ColumnTransformer(ways), DecisionTreeClassifier(max_depth=4, random_state=seed)).fit(frame, y)
    graph = quia.load(model)
    values: dict[str, list[Any]] = {}
    for variable in graph.variables:
        if variable.is_numeric:
            values[variable.name] = [cut.last_below(False) for cut in variable.cuts] + [1e6]
        else:
            values[variable.name] = list(variable.labels or ())
    worlds = pd.DataFrame(list(itertools.product(*values.values())), columns=list(values))
    worlds = worlds.assign(decision=model.predict(worlds))
    for _, row in worlds.sample(6, random_state=seed).iterrows():
        differing = worlds[worlds.decision != row.decision]
        changed = {frozenset(x for x in values if other[x] != row[x]) for _, other in differing.iterrows()}
        why = quia.explain(graph, {x: row[x] for x in values})
        assert why.decision == row.decision
        sufficient = oracle.minimal(s for s in oracle.subsets(values) if all(s & change for change in changed))
        assert {frozenset(r.features) for r in why.sufficient_reasons()} == sufficient
        assert {frozenset(r.features) for r in why.necessary_reasons()} == oracle.minimal(changed)


def test_names_of_columns_and_classes() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    y = x[:, 0] > 0
    fitted = DecisionTreeClassifier(max_depth=2).fit
    by_pandas = quia.load(fitted(pd.DataFrame(x, columns=["a b", "c"]), y))
    by_polars = quia.load(fitted(pl.DataFrame(x, schema=["a b", "c"]), y))
    assert by_pandas == by_polars
    assert [v.name for v in by_polars.variables] == ["a b", "c"]
    bare = fitted(x, y)
    assert [v.name for v in quia.load(bare).variables] == ["x0", "x1"]
    assert [v.name for v in quia.load(bare, features=["height", "width"]).variables] == ["height", "width"]
    assert quia.load(bare).classes == ("False", "True")
    assert quia.load(bare, classes=["small", "large"]).classify([1, 0]) == "large"
    assert quia.load(fitted(x, y.astype(int) + 1)).classes == ("1", "2")
    assert quia.load(fitted(x, y.astype(float))).classes == ("0", "1")
    assert quia.load(fitted(x, np.where(y, "ja", "nein"))).classes == ("ja", "nein")
    best = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(x, y)
    assert quia.load(best).classes == ("False", "True")


def test_polars_pipeline() -> None:
    frame = pl.DataFrame({"age": [20.0, 30.0, 40.0, 50.0] * 5, "colour": ["red", "blue", "red", "green"] * 5})
    ways = ColumnTransformer([("c", OneHotEncoder(), ["colour"])], remainder="passthrough")
    model = make_pipeline(ways, DecisionTreeClassifier(random_state=0)).fit(frame, ["a", "b", "b", "a"] * 5)
    graph = quia.load(model)
    for row, their in zip(frame.to_dicts(), model.predict(frame), strict=True):
        assert graph.classify(row) == their


@pytest.mark.parametrize("seed", range(3))
def test_cut_offs_on_probabilities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(150, 3))
    y = np.array(["bad", "good", "fair"])[rng.integers(0, 2 + seed % 2, 150)]
    model = DecisionTreeClassifier(max_depth=4, random_state=seed).fit(x, y)
    column = list(model.classes_).index("bad")
    shares = model.predict_proba(x)[:, column]
    for limit in (0.3, float(shares[0])):
        for sign, over in ((">=", shares >= limit), (">", shares > limit)):
            graph = quia.load(model, label=f"bad {sign} {limit!r}")
            other = "good" if seed % 2 == 0 else "not bad"
            assert [graph.classify(row) for row in x] == ["bad" if one else other for one in over]
    graph = quia.load(model, label=lambda p: "sure" if max(p.values()) > 0.8 else "unsure")
    assert [graph.classify(row) for row in x] == [
        "sure" if m > 0.8 else "unsure" for m in model.predict_proba(x).max(1)
    ]


def test_bands_of_a_regressor() -> None:
    rng = np.random.default_rng(0)
    frame = pipelines.data(rng)
    y = np.round(rng.normal(100, 50, len(frame)))
    model = pipelines.model(rng, frame, y, regress=True)
    values = model.predict(frame)
    middle = float(values[3])
    graph = quia.load(model, label=f"low < {middle!r} <= high")
    rows = frame.to_dict("records")
    assert [graph.classify(row) for row in rows] == ["high" if v >= middle else "low" for v in values]
    graph = quia.load(model, label=f"low <= {middle!r} < high")
    assert [graph.classify(row) for row in rows] == ["high" if v > middle else "low" for v in values]
    graph = quia.load(model, label=[50, 120])
    assert graph.classes == ("< 50", "[50, 120)", ">= 120")
    assert [graph.classify(row) for row in rows] == [graph.classes[int(v >= 50) + int(v >= 120)] for v in values]


def test_a_pipeline_reads_well() -> None:
    """From a fitted pipeline to a sentence that names raw columns and values."""
    frame = pd.DataFrame({"age": [20, 30, 40, 50] * 5, "colour": ["red", "blue", "red", "green"] * 5})
    ways = ColumnTransformer([("c", OneHotEncoder(), ["colour"])], remainder="passthrough")
    model = make_pipeline(ways, DecisionTreeClassifier(random_state=0)).fit(frame, ["a", "b", "b", "b"] * 5)
    text = str(quia.explain(quia.load(model), {"age": 20, "colour": "red"}))
    assert "a because age <= 25, whatever the rest" in text
    short = quia.load(DecisionTreeRegressor().fit([[0.6], [1.0]], [0, 1]), label="lo < 0.5 <= hi")
    assert short.variables[0].text(0) == "<= 0.8"
