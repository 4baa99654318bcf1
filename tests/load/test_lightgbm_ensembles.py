"""LightGBM, many trees: sums equal to the last bit, and so all classes, however a model was trained or saved."""

import contextlib
import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

import quia
from quia.ensemble import Ensemble
from quia.load import lightgbm as loader

sys.path.insert(0, str(Path(__file__).parent))
from near import decisions, rows_near_cuts, scores

lightgbm = pytest.importorskip("lightgbm")

FOREST = {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}
KINDS = {
    "two classes": {},
    "zero is missing": {"zero_as_missing": True},
    "nothing is missing": {"use_missing": False},
    "a steep curve": {"sigmoid": 2.5},
    "a forest": FOREST,
    "dart": {"boosting_type": "dart", "drop_rate": 0.4},
    "three classes": {},
    "three classes, forest": FOREST,
    "three classes, ova": {"objective": "multiclassova"},
    "three classes, ova, steep": {"objective": "multiclassova", "sigmoid": 0.7},
    "three classes, ova, forest": {"objective": "multiclassova", **FOREST},
}


def data(rng, many):
    x = np.round(rng.normal(size=(300, 4)), int(rng.integers(1, 6)))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[rng.random(x.shape) < 0.1] = 0.0
    score = np.nan_to_num(x[:, 0]) - 2 * (np.nan_to_num(x[:, 1]) > 0.3) + rng.normal(size=300) * 0.3
    return x, np.digitize(score, [-1.0, 0.2] if many else [-0.5])


COMMON = {"n_estimators": 8, "num_leaves": 8, "min_child_samples": 3, "n_jobs": 1, "verbose": -1}


def fitted(kind, seed):
    rng = np.random.default_rng(seed)
    x, y = data(rng, kind.startswith("three"))
    return lightgbm.LGBMClassifier(random_state=seed, **COMMON, **KINDS[kind]).fit(x, y), rng


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_classes(kind, seed, tmp_path):
    model, rng = fitted(kind, seed)
    ensemble = quia.load(model)
    assert isinstance(ensemble, Ensemble)
    rows = rows_near_cuts(ensemble, rng, 400)
    sums = model.booster_.predict(rows, raw_score=True).reshape(len(rows), -1)
    if "forest" in kind:  # the raw score is not yet the mean
        sums = sums / 8
    factor = 0.7 if kind.endswith("ova, steep") else 1.0
    assert np.array_equal(scores(ensemble, rows.tolist()), sums * factor)
    expected = [str(one) for one in model.predict(rows)]
    assert decisions(ensemble, rows.tolist()) == expected
    assert len(set(expected)) > 1
    model.booster_.save_model(tmp_path / "model.txt")
    assert decisions(quia.load(tmp_path / "model.txt"), rows.tolist()) == expected
    assert ensemble.kind == ("random forest" if "forest" in kind else "boosted trees")


@pytest.mark.parametrize("unit", [2.0**-54, 1e-16, 3e-8, 5e-324])
@pytest.mark.parametrize("kind", ["two classes", "a steep curve", "three classes", "three classes, ova"])
def test_sums_that_only_rounding_tells_apart(kind, unit):
    """Leaves so small that sums lie beside the border of two classes, where the link rounds them together."""
    model, rng = fitted(kind, 0)
    lines = model.booster_.model_to_string().split("\n")
    for at, line in enumerate(lines):
        if line.startswith("leaf_value="):
            count = len(line.split(" "))
            lines[at] = "leaf_value=" + " ".join(repr(float(n * unit)) for n in rng.integers(-3, 4, count))
    text = "\n".join(line for line in lines if not line.startswith("tree_sizes"))
    booster = lightgbm.Booster(model_str=text)
    ensemble = loader.read(text.encode())
    rows = rows_near_cuts(ensemble, rng, 500)
    chances = booster.predict(rows)
    if chances.ndim == 1:
        chances = np.column_stack([1.0 - chances, chances])
    assert decisions(ensemble, rows.tolist()) == [str(one) for one in np.argmax(chances, axis=1)]


@pytest.mark.parametrize("objective", ["regression", "regression_l1", "huber", "fair", "quantile", "mape"])
def test_regressors_with_a_threshold(objective):
    rng = np.random.default_rng(3)
    x, _ = data(rng, False)
    y = np.nan_to_num(x[:, 0]) ** 2 + 1 + np.nan_to_num(x[:, 1] > 0)
    model = lightgbm.LGBMRegressor(objective=objective, **COMMON).fit(x, y)
    predicted = model.predict(x)
    cut = float(np.sort(predicted)[150])  # a prediction itself
    ensemble = quia.load(model, threshold=cut, classes=["low", "high"])
    rows = rows_near_cuts(ensemble, rng, 300)
    assert decisions(ensemble, rows.tolist()) == [("low", "high")[int(one >= cut)] for one in model.predict(rows)]
    assert decisions(ensemble, x.tolist()) == [("low", "high")[int(one >= cut)] for one in predicted]


def test_what_is_refused():
    rng = np.random.default_rng(0)
    x, y = data(rng, False)
    with pytest.raises(quia.Unsupported, match=r"regression predicts numbers.*threshold=0.5"):
        quia.load(lightgbm.LGBMRegressor(**COMMON).fit(x, y))
    for options in ({"objective": "poisson"}, {"reg_sqrt": True}):
        with pytest.raises(quia.Unsupported, match=r"objective is '(poisson|regression sqrt)'"):
            quia.load(lightgbm.LGBMRegressor(**COMMON, **options).fit(x, y), threshold=0.5)
    model, _ = fitted("two classes", 0)
    with pytest.raises(quia.Unsupported, match="threshold is given, but binary decides"):
        quia.load(model, threshold=0.5)
    with pytest.raises(quia.Unsupported, match="pred_early_stop"):
        quia.load(model.set_params(pred_early_stop=True))
    model, _ = fitted("three classes, ova", 0)
    text = model.booster_.model_to_string().replace("sigmoid:1", "sigmoid:100")
    with pytest.raises(quia.Unsupported, match=r"two classes of multiclassova can reach .*objective='multiclass'"):
        loader.read(text.encode())


@pytest.mark.parametrize("many", [False, True])
def test_categories(many):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    names = [f"name {i}" for i in range(40)]
    table = pandas.DataFrame({"n": rng.normal(size=600), "colour": pandas.Categorical(rng.choice(names, 600), names)})
    table.loc[rng.random(600) < 0.1, "colour"] = None
    score = (table["n"] > 0) + 2.0 * table["colour"].isin(names[:13]) + rng.normal(size=600) * 0.3
    options = {"min_data_per_group": 2, "cat_smooth": 1, **COMMON}
    model = lightgbm.LGBMClassifier(**options).fit(table, np.digitize(score, [0.8, 2.1] if many else [1.5]))
    ensemble = quia.load(model)
    assert isinstance(ensemble, Ensemble)
    unseen = table.head(50).assign(colour=pandas.Categorical(["never seen"] * 50))
    for rows in (table, unseen):
        expected = [str(one) for one in model.predict(rows)]
        assert decisions(ensemble, rows.astype(object).to_dict("records")) == expected


def test_early_stopping_ends_with_the_best_round():
    rng = np.random.default_rng(0)
    x, y = data(rng, True)
    model = lightgbm.LGBMClassifier(**COMMON | {"n_estimators": 200, "learning_rate": 0.3})
    stop = lightgbm.early_stopping(3, verbose=False)
    model.fit(x[:200], y[:200], eval_X=(x[200:],), eval_y=(y[200:],), callbacks=[stop])
    assert 1 < model.best_iteration_ < 200
    ensemble = quia.load(model)
    assert len(ensemble.trees) == 3 * model.best_iteration_
    rows = rows_near_cuts(ensemble, rng, 300)
    assert decisions(ensemble, rows.tolist()) == [str(one) for one in model.predict(rows)]


@pytest.mark.parametrize("name", ["adult", "compas"])
def test_models_of_real_rows(name, shared_data):
    pandas = pytest.importorskip("pandas")
    with gzip.open(shared_data / "train" / f"{name}.csv.gz", "rt") as file:
        table = pandas.read_csv(file, nrows=3000)
    table.columns = [column.replace("-", "_") for column in table.columns]
    y = table.pop(table.columns[-1]).astype("category").cat.codes.to_numpy()
    for column in table.select_dtypes(exclude="number"):
        table[column] = table[column].astype("category")
    model = lightgbm.LGBMClassifier(n_estimators=30, n_jobs=1, verbose=-1).fit(table, y)
    rows = table.astype(object).to_dict("records")
    assert decisions(quia.load(model), rows) == [str(one) for one in model.predict(table)]


def test_damaged_models_never_crash():
    model, rng = fitted("three classes", 0)
    text = model.booster_.model_to_string()
    end = text.index("end of trees")
    for _ in range(150):
        at = int(rng.integers(end))
        changed = text[:at] + str(rng.choice(list("9- x\n="))) + text[at + int(rng.integers(3)) :]
        for broken in (text[:at], changed):
            with contextlib.suppress(quia.QuiaError):
                loader.read(broken.encode())
