"""Forests and boosted models of one tree, alone and at the end of a pipeline, decide as their own `predict`."""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import quia
from quia.errors import FormatError, QuiaError, Unsupported
from quia.load import skops as skops_loader

sys.path.insert(0, str(Path(__file__).parent))
import pipelines
from pipelines import same_decisions


def forest(depth: int, seed: int) -> Any:
    return RandomForestClassifier(1, max_depth=depth, random_state=seed)


def extra(depth: int, seed: int) -> Any:
    return ExtraTreesClassifier(1, max_depth=depth, random_state=seed)


def gradient(depth: int, seed: int) -> Any:
    how = {"init": "zero"} if seed % 3 == 0 else {"loss": "exponential"} if seed % 3 == 1 else {}
    return GradientBoostingClassifier(n_estimators=1, max_depth=depth, learning_rate=1.0, random_state=seed, **how)


def histogram(depth: int, seed: int) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=1, max_depth=depth, learning_rate=1.0, min_samples_leaf=3, random_state=seed
    )


def xgboost(depth: int, seed: int) -> Any:
    how = {"objective": "binary:hinge"} if seed % 4 == 0 else {}
    made = pytest.importorskip("xgboost").XGBClassifier
    return made(n_estimators=1, max_depth=depth, learning_rate=1.0, min_child_weight=0.1, random_state=seed, **how)


def lightgbm(depth: int, seed: int) -> Any:
    made = pytest.importorskip("lightgbm").LGBMClassifier
    return made(
        n_estimators=1, max_depth=depth, learning_rate=1.0, min_child_samples=3, random_state=seed, verbose=-1, n_jobs=1
    )


BINARY = [gradient, histogram, xgboost, lightgbm]
ALL = [forest, extra, *BINARY]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("final", ALL)
def test_at_the_end_of_random_pipelines(final: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pipelines.data(rng)
    classes: list[Any] = [0, 1] if final is xgboost else [["no", "yes"], [7, 3, 5], [False, True]][seed % 3]
    y = pipelines.target(rng, frame, classes[:2] if final in BINARY else classes)
    model = pipelines.model(rng, frame, y, final=final)
    graph = quia.load(model)
    assert [v.name for v in graph.variables] == list(frame.columns)
    assert same_decisions(graph, model, pipelines.hard_rows(rng, graph, frame, 500)) > 250
    assert len(graph.given_classes) > 1 or len(set(model.predict(frame))) == 1


@pytest.mark.parametrize(
    ("final", "missing"),
    [(final, missing) for final in ALL for missing in (False, True) if not missing or final not in (extra, gradient)],
)
def test_alone(final: Any, missing: bool) -> None:
    """At every threshold and one step beside it, in 32 and in 64 bits, near to zero, and missing where it may be."""
    rng = np.random.default_rng(3)
    x = np.column_stack([np.round(rng.normal(0, 10.0**-places, 400), places + 1) for places in (0, 3, -2)])
    x[rng.random(x.shape) < 0.2] = 0.0
    score = x[:, 0] + (x[:, 1] > 0) * 2 - (x[:, 2] > 0) + rng.normal(0, 0.3, 400)
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    y = np.digitize(score, [0.2] if final in BINARY else [-0.5, 0.7])
    model = final(5, 1).fit(pd.DataFrame(x, columns=["a", "b", "c"]), y)
    graph = quia.load(make_pipeline(model))
    columns = []
    for variable in graph.variables:
        pool = [0.0, -0.0, 1e-36, -1e-36, 5e-35, 7.0, -1e30, *([np.nan] if missing else [])]
        for cut in variable.cuts:
            near = np.float32(cut.threshold)
            pool += [near, np.nextafter(near, np.float32(-9e9)), np.nextafter(near, np.float32(9e9)), cut.threshold]
            pool += [np.nextafter(cut.threshold, -np.inf), np.nextafter(cut.threshold, np.inf)]
        columns.append(rng.choice(np.array(pool, np.float64), 3000))
    rows = pd.DataFrame(dict(zip("abc", columns, strict=True)))
    theirs = [str(one) for one in model.predict(rows)]
    assert [graph.classify(row) for row in rows.to_dict("records")] == theirs
    assert len(set(theirs)) > 1
    assert quia.load(model).classes == graph.classes


@pytest.mark.parametrize("final", [xgboost, lightgbm, forest, gradient])
def test_zeros_of_a_sparse_matrix(final: Any) -> None:
    """XGBoost takes what a sparse matrix does not hold for missing, zeros of other columns too; the others for zero."""
    rng = np.random.default_rng(0)
    rows = 600
    frame = pd.DataFrame({"kind": rng.choice(list("abcdefghij"), rows), "n": rng.integers(-2, 3, rows).astype(float)})
    y = (frame.kind.isin(list("bdf")) ^ (frame.n == 0)).astype(int)
    encoder = ColumnTransformer([("k", OneHotEncoder(handle_unknown="ignore"), ["kind"])], remainder="passthrough")
    model = make_pipeline(encoder, final(6, 1)).fit(frame, y)
    assert model[0].sparse_output_
    graph = quia.load(model)
    kinds, numbers = [*"abcdefghij", "other"], [0.0, -0.0, 1e-40, -1e-300, 0.5, -0.5, 1.0, 1.5, -2.0, 3.0]
    table = pd.DataFrame([(kind, number) for kind in kinds for number in numbers], columns=["kind", "n"])
    ours = [graph.classify(row) for row in table.to_dict("records")]
    assert ours == [str(one) for one in model.predict(table)]
    assert len(set(ours)) == 2


def data(classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    return x, np.digitize(x[:, 0] + x[:, 1], [0.1] if classes == 2 else [-0.4, 0.5])


def test_a_boosted_tree_beside_trees_that_are_only_a_leaf() -> None:
    """A round has a tree for each of three classes; only one of them has a test."""
    x, y = data(3)
    model = GradientBoostingClassifier(n_estimators=1, max_depth=3, learning_rate=2.0).fit(x, y)
    stump = GradientBoostingClassifier(n_estimators=1, max_depth=3, min_samples_split=1.0, min_samples_leaf=100)
    leaf = stump.fit(x, y).estimators_[0, 0]
    assert leaf.tree_.node_count == 1
    model.estimators_[0, 0] = model.estimators_[0, 2] = leaf
    graph = quia.load(model)
    assert len(graph) > 2
    assert [graph.classify(row) for row in x.tolist()] == [str(one) for one in model.predict(x)]


def test_a_sum_that_is_zero() -> None:
    """The two libraries of scikit-learn decide it differently; ours is theirs."""
    x = np.array([[0.0], [1.0]] * 30)
    for final, expected in ((gradient(1, 0), "1"), (histogram(1, 0), None)):
        model = final.fit(x, [0, 0, 1, 1] * 15)  # no column tells the classes apart
        graph = quia.load(model)
        assert graph.classify([0.0]) == str(model.predict(x[:1])[0])
        assert expected in (None, graph.classify([0.0]))


def test_one_tree_for_three_classes_of_xgboost() -> None:
    xgb = pytest.importorskip("xgboost")
    x, y = data(3)
    booster = xgb.XGBClassifier(
        n_estimators=1, max_depth=5, learning_rate=1.0, multi_strategy="multi_output_tree", tree_method="hist"
    )
    model = make_pipeline(StandardScaler(), booster).fit(x, y)
    graph = quia.load(model, classes=["low", "middle", "high"])
    expected = [["low", "middle", "high"][one] for one in model.predict(x)]
    assert [graph.classify(row) for row in x.tolist()] == expected
    assert len(set(expected)) == 3


def test_settings_of_xgboost_and_lightgbm_that_are_refused() -> None:
    xgb, lgb = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    x, y = data()
    x = np.round(x)
    with pytest.raises(Unsupported, match="takes -1 for missing"):
        quia.load(make_pipeline(StandardScaler(), xgb.XGBClassifier(n_estimators=1, missing=-1)).fit(x, y))
    zero = lgb.LGBMClassifier(n_estimators=1, zero_as_missing=True, verbose=-1, min_child_samples=2)
    x[:, 1] = 0.0
    x[::3, 0] = 0.0
    model = make_pipeline(zero).fit(x, x[:, 0] == 0)
    with pytest.raises(Unsupported, match="takes zero for missing"):
        quia.load(model)
    with pytest.raises(Unsupported, match="XGBClassifier is not fitted"):
        quia.load(make_pipeline(xgb.XGBClassifier()))


def test_bands_and_cut_offs_of_forests() -> None:
    x, y = data()
    fitted = RandomForestClassifier(1, max_depth=3, random_state=0).fit(x, y)
    graph = quia.load(fitted, label="1 >= 0.2")
    assert [graph.classify(row) for row in x.tolist()] == ["01"[int(p >= 0.2)] for p in fitted.predict_proba(x)[:, 1]]
    values = RandomForestRegressor(1, max_depth=3, random_state=0).fit(x, x[:, 0])
    graph = quia.load(values, label="low < 0.5 <= high")
    assert [graph.classify(row) for row in x.tolist()] == [("low", "high")[int(v >= 0.5)] for v in values.predict(x)]
    boosted = GradientBoostingClassifier(n_estimators=1, learning_rate=1.0).fit(x, y)
    graph = quia.load(boosted, label="1 >= 0.2")
    assert [graph.classify(row) for row in x.tolist()] == ["01"[int(p >= 0.2)] for p in boosted.predict_proba(x)[:, 1]]


@pytest.mark.parametrize("final", ALL)
def test_saved_by_skops(final: Any) -> None:
    skops = pytest.importorskip("skops.io")
    x, y = data()
    model = make_pipeline(StandardScaler(), final(3, 2)).fit(x, y)
    saved = skops.dumps(model)
    unknown = set(skops.get_untrusted_types(data=saved)) - set(skops_loader.CHECKED_HERE)
    assert bool(unknown) == (final not in (forest, extra, gradient)), (
        "only what runs no code of the file is read without a word"
    )
    if unknown:
        with pytest.raises(Unsupported, match="not known to be safe"):
            skops_loader.read(saved)
    assert skops_loader.read(saved, trusted=unknown) == quia.load(model)


def test_damaged_ensembles() -> None:
    """A part of another width or kind would make the library read beyond its rows."""
    x, y = data()
    wide = RandomForestClassifier(1, random_state=0).fit(np.hstack([x, x]), y)
    forest = RandomForestClassifier(1, random_state=0).fit(x, y)
    forest.estimators_ = wide.estimators_
    with pytest.raises(FormatError, match="has 3 columns, its tree 6"):
        quia.load(forest)
    boosted = GradientBoostingClassifier(n_estimators=1).fit(x, y)
    boosted.estimators_[0, 0] = wide.estimators_[0]
    with pytest.raises(FormatError, match="holds a DecisionTreeClassifier"):
        quia.load(boosted)
    for field, value in (("left", 10**6), ("right", 0), ("feature_idx", 99), ("num_threshold", np.nan)):
        histograms = HistGradientBoostingClassifier(max_iter=1).fit(x, y)
        histograms._predictors[0][0].nodes[field][0] = value
        with warnings.catch_warnings(), pytest.raises(QuiaError, match="damaged"):
            quia.load(histograms)
