"""XGBoost: our class is XGBClassifier.predict's, on random models, at every threshold and one ulp beside it."""

import contextlib
import json
import warnings

import numpy as np
import pytest

import quia
from quia.load import xgboost as loader

xgboost = pytest.importorskip("xgboost")


def near(values, rng, count):
    """Values on and next to the thresholds, in 32 and in 64 bits, and missing."""
    t = rng.choice(np.asarray(values, np.float32), count)
    moves = [
        t,
        np.nextafter(t, np.float32(-np.inf)),
        np.nextafter(t, np.float32(np.inf)),
        np.nextafter(t.astype(float), -np.inf),
        np.nextafter(t.astype(float), np.inf),
        np.full(count, np.nan),
        rng.normal(size=count),
    ]
    return np.choose(rng.integers(0, len(moves), count), moves)


def probes(model, columns, rng, count):
    tree = json.loads(model.get_booster().save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"][0]
    inner = [i for i, left in enumerate(tree["left_children"]) if left != -1]
    of = {c: [tree["split_conditions"][i] for i in inner if tree["split_indices"][i] == c] for c in range(columns)}
    return np.column_stack([near(of[c] or [0.0], rng, count) for c in range(columns)])


@pytest.mark.parametrize("seed", range(12))
def test_numbers_and_missing_values(seed, tmp_path):
    rng = np.random.default_rng(seed)
    many = seed % 3 == 2
    x = np.round(rng.normal(size=(300, 4)), int(rng.integers(0, 8)))
    x[rng.random(x.shape) < 0.1] = np.nan
    score = np.nan_to_num(x[:, 0]) - 2 * (np.nan_to_num(x[:, 1]) > 0.3) + rng.normal(size=300) * 0.3
    y = np.digitize(score, [-1.0, 0.2]) if many else (score > -0.5).astype(int)
    options = {"multi_strategy": "multi_output_tree", "tree_method": "hist"} if many else {}
    if seed % 4 == 1 and not many:
        options["objective"] = "binary:hinge"
    model = xgboost.XGBClassifier(n_estimators=1, max_depth=int(rng.integers(1, 7)), learning_rate=1.0, **options)
    model.fit(x, y)
    file = tmp_path / "model.json"
    model.save_model(file)
    graph = quia.load(file)
    assert [v.name for v in graph.variables] == ["f0", "f1", "f2", "f3"]
    rows = probes(model, 4, rng, 1500)
    assert [graph.classify(row) for row in rows.tolist()] == [str(c) for c in model.predict(rows)]
    assert quia.load(model) == graph
    assert len(graph) > 2 or model.objective == "binary:hinge"


@pytest.mark.parametrize("seed", range(4))
def test_categories(seed):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    names = ["red", "green", "blue", "black", "white"]
    colour = rng.choice(names, 400)
    number = rng.normal(size=400)
    table = pandas.DataFrame({"n": number, "colour": pandas.Categorical(colour, categories=names), "unused": 0.0})
    table.loc[rng.random(400) < 0.1, "colour"] = None
    y = ((number > 0) ^ np.isin(colour, ["red", "blue"])).astype(int)
    model = xgboost.XGBClassifier(
        n_estimators=1, max_depth=4, enable_categorical=True, max_cat_to_onehot=[1, 10][seed % 2], learning_rate=1.0
    )
    model.fit(table, y)
    graph = quia.load(model, classes=("no", "yes"))
    assert graph.variables[1].labels == (*names, "missing")
    expected = [("no", "yes")[c] for c in model.predict(table)]
    rows = table.astype(object).to_dict("records")
    assert [graph.classify(row) for row in rows] == expected
    # An older file has only the codes.
    raw = json.loads(model.get_booster().save_raw("json"))
    raw["learner"]["gradient_booster"]["model"].pop("cats")
    old = loader.read(json.dumps(raw).encode())
    codes = table.assign(colour=table["colour"].cat.codes.astype(float).replace(-1, np.nan))
    got = [old.classify(row) for row in codes.to_dict("records")]
    assert [("no", "yes")[int(c)] for c in got] == expected
    named = loader.read(json.dumps(raw).encode(), categories={"colour": names}, classes=("no", "yes"))
    assert [named.classify(row) for row in rows] == expected
    # A category beyond those of a node's set goes left, as one that the set has not.
    assert old.variables[1].other == "any other"


def trained(**options):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 2))
    y = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0) * options.pop("more", 0)
    return xgboost.XGBClassifier(**{"n_estimators": 1, "max_depth": 2} | options).fit(x, y)


def test_other_boosters_and_objectives_are_refused_by_name():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear = trained(booster="gblinear")
    with pytest.raises(quia.Unsupported, match="gblinear"):
        quia.load(linear)
    with pytest.raises(quia.Unsupported, match="binary:logitraw"):
        quia.load(trained(objective="binary:logitraw"))


def test_a_stump_without_a_split_is_a_constant():
    x = np.zeros((20, 2))
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2).fit(x, [0] * 5 + [1] * 15)
    assert quia.load(model).classify((0, 0)) == str(model.predict(x[:1])[0]) == "1"


def test_broken_models_never_crash():
    raw = trained().get_booster().save_raw("json").decode()
    rng = np.random.default_rng(1)
    whole = json.loads(raw)
    for old, new in [
        ("left_children", "x"),
        ('"num_feature":"2"', '"num_feature":"two"'),
        ('"name":"gbtree"', '"nam":1'),
    ]:
        assert old in raw
        with pytest.raises(quia.QuiaError):
            loader.read(raw.replace(old, new).encode())
    tree = whole["learner"]["gradient_booster"]["model"]["trees"][0]
    for key in ("left_children", "right_children", "split_indices", "default_left", "split_conditions"):
        for value in (-5, 999999, None, "a", 0, float("nan")):
            kept = list(tree[key])
            tree[key][int(rng.integers(0, 3))] = value
            with contextlib.suppress(quia.QuiaError):
                loader.read(json.dumps(whole).encode())
            tree[key] = kept
    with pytest.raises(quia.FormatError):
        loader.read(b'{"learner":' + b"[" * 100_000)


@pytest.mark.parametrize("value", [0, -1.5, 0.1, -999, np.inf])
@pytest.mark.parametrize("seed", range(3))
def test_a_number_that_stands_for_missing(value, seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(300, 3)), 1)
    x[rng.random(x.shape) < 0.2] = value
    y = (np.where(x[:, 0] == value, 2, x[:, 0]) - (x[:, 1] > 0.3) > 0).astype(int)
    model = xgboost.XGBClassifier(n_estimators=1, max_depth=4, learning_rate=1.0, missing=value).fit(x, y)
    graph = quia.load(model)
    rows = probes(model, 3, rng, 800)
    rows = np.where(rng.random(rows.shape) < 0.3, near([value], rng, rows.size).reshape(rows.shape), rows)
    rows = np.where(np.abs(rows) > 3e38, value, rows)  # other infinite numbers XGBoost refuses
    assert [graph.classify(row) for row in rows.tolist()] == [str(c) for c in model.predict(rows)]
    assert any(f"missing={value:g}" in note for note in graph.notes)
    assert quia.load(model.get_booster()).notes == ()  # which knows nothing of it


def test_a_number_for_missing_among_categories_is_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"k": pandas.Categorical(list("abcd") * 30)})
    options = {"n_estimators": 1, "enable_categorical": True}
    model = xgboost.XGBClassifier(**options, missing=0).fit(table, [0, 1, 1, 0] * 30)
    with pytest.raises(quia.Unsupported, match=r"missing=0 and tests categories.*train with missing=nan"):
        quia.load(model)


def with_base_score(score, leaf=0.0):
    """A model whose leaves all add the same, so that the base score decides."""
    raw = json.loads(trained().get_booster().save_raw("json"))
    raw["learner"]["learner_model_param"]["base_score"] = score
    tree = raw["learner"]["gradient_booster"]["model"]["trees"][0]
    inner = [left != -1 for left in tree["left_children"]]
    tree["split_conditions"] = [t if i else leaf for t, i in zip(tree["split_conditions"], inner, strict=True)]
    return json.dumps(raw).encode()


@pytest.mark.parametrize("score", ["0", "-0.0", "1E-7", "1E-6", "2E-6", "5E-1", "[9.99998E-1]", "9.999999E-1", "1"])
def test_base_scores_are_kept_away_from_0_and_1(score):
    for leaf in (0.0, 13.7, 13.74515, 13.74517, 13.8, 13.81550, 13.81552, 14.0, 17.0):
        for sign in (1, -1):
            data = with_base_score(score, sign * leaf)
            model = xgboost.Booster()
            model.load_model(bytearray(data))
            expected = int(model.predict(xgboost.DMatrix([[0.0, 0.0]]))[0] > 0.5)
            assert loader.read(data).classify((0, 0)) == str(expected), (score, leaf)


@pytest.mark.parametrize("score", ["nan", "inf", "-1", "2", "[nan]", "1e400"])
def test_a_base_score_that_is_no_chance_is_refused(score):
    data = with_base_score(score)
    with pytest.raises(xgboost.core.XGBoostError):
        xgboost.Booster(model_file=bytearray(data)).predict(xgboost.DMatrix([[0.0, 0.0]]))
    with pytest.raises(quia.FormatError, match="base score"):
        loader.read(data)


@pytest.mark.parametrize("many", [False, True])
def test_early_stopping_ends_with_the_best_round(many, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = np.digitize(x[:, 0], [-0.3, 0.6] if many else [0.1])
    options = {"multi_strategy": "multi_output_tree", "tree_method": "hist"} if many else {}
    # With so large a step all rounds after the first make it worse.
    model = xgboost.XGBClassifier(
        n_estimators=9, max_depth=3, learning_rate=2.0, early_stopping_rounds=3, min_child_weight=0, **options
    )
    model.fit(x, y, eval_set=[(x, rng.permutation(y))], verbose=False)
    assert model.best_iteration == 0
    assert model.get_booster().num_boosted_rounds() > 1
    file = tmp_path / "model.json"
    model.save_model(file)
    rows = probes(model, 2, rng, 500)
    expected = [str(c) for c in model.predict(rows)]
    raw = json.loads(file.read_bytes())
    del raw["learner"]["gradient_booster"]["model"]["iteration_indptr"]  # as before XGBoost 2.0
    for graph in (quia.load(model), quia.load(file), loader.read(json.dumps(raw).encode())):
        assert [graph.classify(row) for row in rows.tolist()] == expected
        assert any("ends with round 1 of" in note for note in graph.notes)
    assert len(quia.load(model.get_booster()).trees) > 1  # Booster.predict takes all of them
