"""CatBoost: our class is CatBoost's and our sums are its raw values, bit by bit, on and next to every border."""

import contextlib
import json
import random

import numpy as np
import pytest

import quia
from load.beside import classes_of, rows_beside, scores_of
from quia.load import catboost as loader

catboost = pytest.importorskip("catboost")


def fitted(kind="CatBoostClassifier", seed=0, classes=2, labels=None, rounds=12, missing=0.1, **options):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 4))
    x[rng.random(x.shape) < missing] = np.nan
    known = np.nan_to_num(x)
    y = (known[:, 0] + known[:, 1] * known[:, 2] > 0).astype(int) + (known[:, 3] > 0.3) * (classes - 2)
    y = y if labels is None else np.array(labels)[y]
    settings = {"depth": 4, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "iterations": rounds}
    return getattr(catboost, kind)(**settings | options).fit(x, y)


def saved(model, tmp_path):
    file = tmp_path / "model.json"
    model.save_model(str(file), format="json")
    return file


MODELS = {
    "two classes": {},
    "names": {"labels": ["no", "yes"]},
    "truths": {"labels": [False, True]},
    "numbers": {"labels": [-1, 7]},
    "missing on top": {"nan_mode": "Max"},
    "none missing": {"missing": 0},
    "not symmetric": {"grow_policy": "Lossguide", "max_leaves": 9},
    "by depth": {"grow_policy": "Depthwise", "classes": 3},
    "three classes": {"classes": 3, "labels": ["a", "b", "c"]},
    "one against all": {"classes": 3, "loss_function": "MultiClassOneVsAll"},
    "from the average": {"boost_from_average": True},
    "a tree": {"rounds": 1, "classes": 3},
    "deep": {"depth": 9, "rounds": 3},
}


@pytest.mark.parametrize("name", MODELS)
def test_classes_and_sums_are_those_of_catboost(name, tmp_path):
    model = fitted(**MODELS[name])
    live, read = quia.load(model), quia.load(saved(model, tmp_path))
    rows = rows_beside(live, np.random.default_rng(1), 400)
    expected = [str(label) for label in np.ravel(model.predict(rows))]
    assert len(set(expected)) == len(live.classes)
    assert classes_of(live, rows) == classes_of(read, rows) == expected
    if isinstance(live, quia.Ensemble):
        raw = np.reshape(model.predict(rows, prediction_type="RawFormulaVal"), (len(rows), -1))
        assert (scores_of(live, rows) == raw).all()
    assert isinstance(live, quia.DecisionGraph) == (name == "a tree")


def test_infinite_numbers_are_on_their_sides_of_the_outermost_borders():
    for mode in ("Min", "Max"):
        model = fitted(nan_mode=mode, missing=0.4, labels=["a", "b"])
        rows = [
            [value, rest, rest, rest]
            for value in (np.inf, -np.inf, 3.4028235e38, -3.4028235e38, np.nan)
            for rest in (0, np.nan)
        ]
        assert classes_of(quia.load(model), rows) == list(model.predict(rows))


@pytest.mark.parametrize(("probability", "scale", "bias"), [(0.7, 1, 0.1), (0.123456789, 0.3, -0.2), (0.5, 2.5, 0.0)])
def test_probability_threshold_scale_and_bias(probability, scale, bias, tmp_path):
    model = fitted(seed=3)
    model.set_probability_threshold(probability)
    model.set_scale_and_bias(scale, bias)
    ours = quia.load(saved(model, tmp_path))
    rows = rows_beside(ours, np.random.default_rng(2), 400)
    assert classes_of(ours, rows) == [str(label) for label in model.predict(rows)]
    assert (scores_of(ours, rows)[:, 0] == model.predict(rows, prediction_type="RawFormulaVal")).all()


def test_a_sum_on_the_threshold_is_of_the_first_class(tmp_path):
    model = fitted(seed=4, missing=0)
    for probability in (0.5, 0.7, 0.9, 0.013):
        model.set_probability_threshold(probability)
        logit = 0.0 if probability == 0.5 else -np.log(1 / probability - 1)
        model.set_leaf_values(np.zeros(len(model.get_leaf_values())))
        for bias in (np.nextafter(logit, -9), logit, np.nextafter(logit, 9)):
            model.set_scale_and_bias(1, bias)
            ours = quia.load(saved(model, tmp_path))
            assert ours.classify([0, 0, 0, 0]) == str(model.predict([[0, 0, 0, 0]])[0]), (probability, bias)


def test_cross_entropy_has_the_classes_0_and_1(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 2))
    model = catboost.CatBoostClassifier(
        loss_function="CrossEntropy", iterations=5, verbose=0, thread_count=1, allow_writing_files=False
    ).fit(x, rng.random(100))
    ours = quia.load(model)
    rows = rows_beside(ours, rng, 200)
    assert ours.classes == ("0", "1")
    assert classes_of(ours, rows) == [str(label) for label in model.predict(rows)]


def test_a_regressor_decides_by_a_threshold():
    model = fitted("CatBoostRegressor", classes=3, labels=[0.0, 1.0, 5.0])
    rows = rows_beside(quia.load(model, threshold=1), np.random.default_rng(2), 300)
    predicted = model.predict(rows)
    for threshold in (0.8, float(np.median(predicted))):
        ours = quia.load(model, threshold=threshold, classes=["low", "high"])
        assert classes_of(ours, rows) == ["high" if number >= threshold else "low" for number in predicted]
    bands = quia.load(model, threshold=[0.5, 2])
    assert bands.classes == ("below 0.5", "0.5 to below 2", "2 or more")
    assert classes_of(bands, rows) == [bands.classes[int(number >= 0.5) + int(number >= 2)] for number in predicted]
    with pytest.raises(quia.Unsupported, match="threshold=0"):
        quia.load(model)
    for wrong in ("high", [2, 1], [], float("nan")):
        with pytest.raises(quia.Unsupported, match="threshold is"):
            quia.load(model, threshold=wrong)
    with pytest.raises(quia.Unsupported, match="for regressors"):
        quia.load(fitted(), threshold=0.5)


def test_features_keep_their_names_and_those_of_categories_that_no_tree_asks_take_any_value():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.normal(size=(100, 2)), columns=["age", "monthly income"])
    table.insert(1, "job", ["clerk"] * 100)
    options = {"iterations": 5, "depth": 2, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(cat_features=["job"], **options).fit(table, table.age > 0)
    ours = quia.load(model)
    assert [variable.name for variable in ours.variables] == ["age", "job", "monthly income"]
    assert ours.classify({"age": 1, "job": "smith", "monthly income": 0}) == "True"
    table["job"] = np.where(table.age > 0, "smith", "clerk")
    model = catboost.CatBoostClassifier(cat_features=["job"], **options).fit(table, table.age > 0)
    with pytest.raises(quia.Unsupported, match="encode these columns as numbers"):
        quia.load(model)


def test_what_is_not_a_class_is_refused():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 2)), rng.integers(0, 2, (50, 2))
    options = {"iterations": 3, "depth": 2, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    with pytest.raises(quia.Unsupported, match="MultiLogloss"):
        quia.load(catboost.CatBoostClassifier(loss_function="MultiLogloss", **options).fit(x, y))
    with pytest.raises(quia.Unsupported, match="2 numbers"):
        quia.load(catboost.CatBoostRegressor(loss_function="MultiRMSE", **options).fit(x, y))
    with pytest.raises(quia.Unsupported, match="Poisson"):
        quia.load(catboost.CatBoostRegressor(loss_function="Poisson", **options).fit(x, y[:, 0]), threshold=1)
    with pytest.raises(quia.Unsupported, match="not fitted"):
        quia.load(catboost.CatBoostClassifier())
    with pytest.raises(quia.Unsupported, match="no CatBoost model"):
        quia.load(catboost.Pool(x, y[:, 0]))


def test_broken_files_are_refused_in_a_sentence(tmp_path):
    rng = random.Random(0)
    for options in ({}, {"grow_policy": "Lossguide", "classes": 3}):
        data = saved(fitted(rounds=3, **options), tmp_path).read_bytes()
        content = json.loads(data)
        for _ in range(60):
            with pytest.raises(quia.QuiaError):
                loader.read(data[: rng.randrange(len(data) - 1)])
        for key in content:
            for wrong in (None, 0, "x", [], {}, [None], -1):
                broken = content | {key: wrong}
                if key == "model_info" and wrong in (None, 0, [], {}):
                    continue  # a regressor
                with pytest.raises((quia.FormatError, quia.Unsupported)):
                    loader.read(json.dumps(broken).encode())
        for path in _places(content, rng, 150):
            broken = json.loads(data)
            inner = broken
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = rng.choice([None, -1, 10**9, "x", [], {}, float("nan"), float("inf"), 1e400])
            with contextlib.suppress(quia.QuiaError):  # nothing else may be raised
                loader.read(json.dumps(broken).encode())


def _places(content, rng, count):
    """Paths to random places of a model, its parameters of training aside."""
    for _ in range(count):
        path, here = [], {key: content[key] for key in content if key != "model_info"}
        while isinstance(here, (dict, list)) and here:
            path.append(rng.choice(list(here) if isinstance(here, dict) else range(len(here))))
            here = here[path[-1]]
            if rng.random() < 0.1:
                break
        yield path
