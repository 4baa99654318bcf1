"""XGBoost, many trees: margins equal to the last bit, and so all classes, however a model was trained or saved."""

import contextlib
import gzip
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import quia
from quia.ensemble import Ensemble
from quia.load import xgboost as loader

sys.path.insert(0, str(Path(__file__).parent))
from near import decisions, rows_near_cuts, scores

xgboost = pytest.importorskip("xgboost")

KINDS = {
    "two classes": {},
    "hinge": {"objective": "binary:hinge"},
    "a base score": {"base_score": 0.3},
    "a forest": {"num_parallel_tree": 5, "subsample": 0.6, "n_estimators": 1, "learning_rate": 1.0},
    "forests": {"num_parallel_tree": 3, "subsample": 0.6, "n_estimators": 4},
    "pruned": {"gamma": 1.0, "tree_method": "exact"},
    "dart": {"booster": "dart", "rate_drop": 0.3},
    "three classes": {},
    "three classes, softmax": {"objective": "multi:softmax"},
    "three classes, forests": {"num_parallel_tree": 2, "subsample": 0.6, "n_estimators": 4},
    "three classes, dart": {"booster": "dart", "rate_drop": 0.3},
    "three classes, vectors": {"multi_strategy": "multi_output_tree", "tree_method": "hist"},
}


def data(rng, many):
    x = np.round(rng.normal(size=(300, 4)), int(rng.integers(1, 6)))
    x[rng.random(x.shape) < 0.1] = np.nan
    score = np.nan_to_num(x[:, 0]) - 2 * (np.nan_to_num(x[:, 1]) > 0.3) + rng.normal(size=300) * 0.3
    return x, np.digitize(score, [-1.0, 0.2] if many else [-0.5])


def fitted(kind, seed):
    rng = np.random.default_rng(seed)
    x, y = data(rng, kind.startswith("three"))
    options = {"n_estimators": 12, "max_depth": 3, "n_jobs": 1, "random_state": seed, **KINDS[kind]}
    return xgboost.XGBClassifier(**options).fit(x, y), rng


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_margins_and_classes(kind, seed, tmp_path):
    model, rng = fitted(kind, seed)
    ensemble = quia.load(model)
    assert isinstance(ensemble, Ensemble)
    rows = rows_near_cuts(ensemble, rng, 400)
    margins = model.predict(rows, output_margin=True).reshape(len(rows), -1)
    assert np.array_equal(scores(ensemble, rows.tolist()).astype(np.float32), margins)
    expected = [str(int(one)) for one in model.predict(rows)]
    assert decisions(ensemble, rows.tolist()) == expected
    assert len(set(expected)) > 1
    for file in (tmp_path / "model.json", tmp_path / "model.ubj"):
        model.save_model(file)
        saved = quia.load(file)
        assert decisions(saved, rows.tolist()) == expected
        assert np.array_equal(scores(saved, rows[:50].tolist()), scores(ensemble, rows[:50].tolist()))
    booster = model.get_booster()
    theirs = booster.predict(xgboost.DMatrix(rows), output_margin=True).reshape(len(rows), -1)
    assert np.array_equal(scores(quia.load(booster), rows.tolist()).astype(np.float32), theirs)


@pytest.mark.parametrize("unit", [1.5e-8, 2.0**-24, 1e-7, 2.0**-149])
@pytest.mark.parametrize("kind", ["two classes", "hinge", "three classes", "three classes, softmax"])
def test_sums_that_only_rounding_tells_apart(kind, unit):
    """Leaves so small that sums lie beside the border of two classes, where the link rounds them together."""
    model, rng = fitted(kind, 0)
    raw = json.loads(model.get_booster().save_raw("json"))
    raw["learner"]["learner_model_param"]["base_score"] = "5E-1" if kind == "two classes" else "0E0"
    for tree in raw["learner"]["gradient_booster"]["model"]["trees"]:
        leaf = np.array(tree["left_children"]) == -1
        small = (rng.integers(-4, 5, len(leaf)) * unit).astype(np.float32).astype(float)
        tree["split_conditions"] = np.where(leaf, small, tree["split_conditions"]).tolist()
    text = json.dumps(raw).encode()
    changed = xgboost.XGBClassifier()
    changed.load_model(bytearray(text))
    ensemble = loader.read(text)
    rows = rows_near_cuts(ensemble, rng, 500)
    theirs = changed.predict(rows)
    if kind == "three classes, softmax":
        theirs = changed.get_booster().predict(xgboost.DMatrix(rows))
    assert decisions(ensemble, rows.tolist()) == [str(int(one)) for one in theirs]


@pytest.mark.parametrize("value", [0, -1.5, np.inf])
def test_a_number_that_stands_for_missing(value):
    rng = np.random.default_rng(1)
    x, y = data(rng, False)
    x = np.where(np.isnan(x) | (rng.random(x.shape) < 0.2), value, x)
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=4, missing=value).fit(x, y)
    ensemble = quia.load(model)
    rows = rows_near_cuts(ensemble, rng, 500)
    rows = np.where(rng.random(rows.shape) < 0.3, value, rows)
    assert decisions(ensemble, rows.tolist()) == [str(int(one)) for one in model.predict(rows)]
    assert any("counts as missing" in note for note in ensemble.notes)


@pytest.mark.parametrize("many", [False, True])
def test_categories(many, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    names = ["red", "green", "blue", "black", "white"]
    table = pandas.DataFrame({"n": rng.normal(size=400), "colour": pandas.Categorical(rng.choice(names, 400), names)})
    table.loc[rng.random(400) < 0.1, "colour"] = None
    table.loc[rng.random(400) < 0.1, "n"] = np.nan
    score = (table["n"].fillna(1) > 0) + 2.0 * table["colour"].isin(["red", "blue"]) + rng.normal(size=400) * 0.3
    y = np.digitize(score, [0.8, 2.1] if many else [1.5])
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=3, enable_categorical=True, max_cat_to_onehot=2)
    model.fit(table, y)
    expected = [str(int(one)) for one in model.predict(table)]
    rows = table.astype(object).to_dict("records")
    model.save_model(tmp_path / "model.ubj")
    for ensemble in (quia.load(model), quia.load(tmp_path / "model.ubj")):
        assert ensemble.variables[1].labels == (*names, "missing")
        assert decisions(ensemble, rows) == expected


REGRESSIONS = ["reg:squarederror", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror"]


@pytest.mark.parametrize("objective", [*REGRESSIONS, "reg:quantileerror"])
def test_regressors_with_a_threshold(objective):
    rng = np.random.default_rng(3)
    x, _ = data(rng, False)
    y = np.nan_to_num(x[:, 0]) ** 2 + np.nan_to_num(x[:, 1] > 0)
    more = {"quantile_alpha": 0.7} if "quantile" in objective else {}
    model = xgboost.XGBRegressor(n_estimators=9, max_depth=3, objective=objective, **more).fit(x, y)
    predicted = model.predict(x)
    cut = float(np.median(predicted))  # a prediction itself
    ensemble = quia.load(model, threshold=cut, classes=["low", "high"])
    rows = rows_near_cuts(ensemble, rng, 400)
    assert decisions(ensemble, rows.tolist()) == [("low", "high")[int(one >= cut)] for one in model.predict(rows)]
    assert decisions(ensemble, x.tolist()) == [("low", "high")[int(one >= cut)] for one in predicted]
    bands = quia.load(model, threshold=[0.7, 1.2])
    assert bands.classes == ("below 0.7", "0.7 to below 1.2", "1.2 or more")
    theirs = np.digitize(predicted, np.array([0.7, 1.2], np.float32))
    assert decisions(bands, x.tolist()) == [bands.classes[one] for one in theirs]


def test_what_is_refused():
    rng = np.random.default_rng(0)
    x, y = data(rng, False)
    with pytest.raises(quia.Unsupported, match=r"reg:squarederror predicts numbers.*threshold=0.5"):
        quia.load(xgboost.XGBRegressor(n_estimators=2).fit(x, y))
    with pytest.raises(quia.Unsupported, match="count:poisson"):
        quia.load(xgboost.XGBRegressor(n_estimators=2, objective="count:poisson").fit(x, y), threshold=1)
    with pytest.raises(quia.Unsupported, match="threshold is given, but binary:logistic decides"):
        quia.load(xgboost.XGBClassifier(n_estimators=2).fit(x, y), threshold=0.5)
    two = np.column_stack([y, 1 - y])
    with pytest.raises(quia.Unsupported, match="several targets"):
        quia.load(xgboost.XGBRegressor(n_estimators=2).fit(x, two), threshold=0.5)


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_early_stopping(booster, tmp_path):
    rng = np.random.default_rng(0)
    x, y = data(rng, True)
    options = {"n_estimators": 60, "learning_rate": 0.4, "early_stopping_rounds": 3, "n_jobs": 1, "booster": booster}
    model = xgboost.XGBClassifier(**options)
    model.fit(x[:200], y[:200], eval_set=[(x[200:], y[200:])], verbose=False)
    assert 0 < model.best_iteration < model.get_booster().num_boosted_rounds() - 1
    ensemble = quia.load(model)
    assert len(ensemble.trees) == 3 * (model.best_iteration + 1)
    assert any(f"ends with round {model.best_iteration + 1} of" in note for note in ensemble.notes)
    rows = rows_near_cuts(ensemble, rng, 300)
    assert decisions(ensemble, rows.tolist()) == [str(one) for one in model.predict(rows)]
    every = quia.load(model.get_booster())
    theirs = model.get_booster().predict(xgboost.DMatrix(rows), output_margin=True)
    assert np.array_equal(scores(every, rows.tolist()).astype(np.float32), theirs)


@pytest.mark.parametrize("name", ["adult", "compas"])
def test_models_of_real_rows(name, shared_data):
    pandas = pytest.importorskip("pandas")
    with gzip.open(shared_data / "train" / f"{name}.csv.gz", "rt") as file:
        table = pandas.read_csv(file, nrows=3000)
    y = table.pop(table.columns[-1]).astype("category").cat.codes.to_numpy()
    for column in table.select_dtypes(exclude="number"):
        table[column] = table[column].astype("category")
    model = xgboost.XGBClassifier(n_estimators=30, max_depth=5, enable_categorical=True, n_jobs=1).fit(table, y)
    rows = table.astype(object).to_dict("records")
    ensemble = quia.load(model)
    assert decisions(ensemble, rows) == [str(one) for one in model.predict(table)]


def test_damaged_ubjson_is_refused(tmp_path):
    model, rng = fitted("two classes", 0)
    saved = bytes(model.get_booster().save_raw("ubj"))
    for end in rng.integers(0, len(saved), 150).tolist():
        with pytest.raises(quia.FormatError):
            loader.read(saved[:end] if end > 20 else saved[:20])
    for _ in range(300):
        broken = bytearray(saved)
        broken[int(rng.integers(len(saved)))] = int(rng.integers(256))
        with contextlib.suppress(quia.QuiaError), warnings.catch_warnings():
            loader.read(bytes(broken))
    key = b"L\x00\x00\x00\x00\x00\x00\x00\x07learner"
    for value in (
        b"[" * 200_000,
        b"{" + key + b"[#L\x7f" + b"\xff" * 7,
        b"[$d#L\x00\x00\x00\x7f\xff\xff\xff\xff",
        b"[$Z#U\x09",
    ):
        with pytest.raises(quia.FormatError, match="UBJSON"):
            loader.read(b"{" + key + value)


def test_leaves_that_overflow_are_refused():
    model, _ = fitted("two classes", 0)
    raw = json.loads(model.get_booster().save_raw("json"))
    tree = raw["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["split_conditions"] = [3e38 for _ in tree["split_conditions"]]
    with pytest.raises(quia.FormatError, match="add up to"):
        loader.read(json.dumps(raw).encode())
