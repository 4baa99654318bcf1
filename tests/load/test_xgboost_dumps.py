"""XGBoost's dumps: trees printed as text or JSON decide as the model they were printed from."""

import contextlib
import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import quia
from quia.load import xgboost_dump as loader

sys.path.insert(0, str(Path(__file__).parent))
from near import decisions, rows_near_cuts, scores

xgboost = pytest.importorskip("xgboost")


def fitted(many, seed=0, names=None, **options):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(300, 4)), 3)
    x[rng.random(x.shape) < 0.1] = np.nan
    score = np.nan_to_num(x[:, 0]) - 2 * (np.nan_to_num(x[:, 1]) > 0.3) + rng.normal(size=300) * 0.3
    y = np.digitize(score, [-1.0, 0.2] if many else [-0.5])
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1, **options).fit(x, y)
    model.get_booster().feature_names = names
    return model, rng


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("names", [None, ["a", "b b", "c:{0}", "d"]])
@pytest.mark.parametrize("base", [0.5, 0.3])
def test_a_dump_decides_as_its_model(form, many, names, base, tmp_path):
    model, rng = fitted(many, names=names, base_score=base)
    file = tmp_path / "dump"
    model.get_booster().dump_model(file, dump_format=form, with_stats=form == "text")
    classes = ["low", "middle", "high"] if many else ["no", "yes"]
    ensemble = quia.load(file, features=names or ["p", "q", "r", "s"], classes=classes, base_score=base)
    assert [v.name for v in ensemble.variables] == (names or ["p", "q", "r", "s"])
    rows = rows_near_cuts(ensemble, rng, 400)
    margins = model.get_booster().inplace_predict(rows, predict_type="margin", validate_features=False)
    assert np.array_equal(scores(ensemble, rows.tolist()).astype(np.float32), margins.reshape(len(rows), -1))
    chances = model.get_booster().inplace_predict(rows, validate_features=False)
    theirs = np.argmax(chances, axis=1) if many else (chances > 0.5).astype(int)
    assert decisions(ensemble, rows.tolist()) == [classes[one] for one in theirs]


def test_without_names_columns_are_counted(tmp_path):
    model, _ = fitted(False)
    model.get_booster().dump_model(tmp_path / "dump.txt")
    ensemble = quia.load(tmp_path / "dump.txt")
    assert [v.name for v in ensemble.variables] == ["f0", "f1", "f2", "f3"]
    assert ensemble.classes == ("0", "1")
    names = ["d", "c", "b", "a"]
    model.get_booster().feature_names = names
    model.get_booster().dump_model(tmp_path / "dump.txt")
    assert {v.name for v in quia.load(tmp_path / "dump.txt").variables} <= set(names)


def test_a_base_score_for_each_class_and_values_for_all_at_a_leaf(tmp_path):
    model, rng = fitted(True, multi_strategy="multi_output_tree", tree_method="hist")
    raw = json.loads(model.get_booster().save_raw("json"))["learner"]["learner_model_param"]["base_score"]
    base = [float(score) for score in raw.strip("[]").split(",")]
    for form in ("text", "json"):
        model.get_booster().dump_model(tmp_path / "dump", dump_format=form)
        ensemble = quia.load(tmp_path / "dump", classes=["a", "b", "c"], base_score=base)
        rows = rows_near_cuts(ensemble, rng, 200)
        margins = model.predict(rows, output_margin=True)
        assert np.array_equal(scores(ensemble, rows.tolist()).astype(np.float32), margins)


@pytest.mark.parametrize("form", ["text", "json"])
def test_categories(form, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    kinds = ["red", "green", "blue", "black", "white"]
    table = pandas.DataFrame({"n": rng.normal(size=400), "colour": pandas.Categorical(rng.choice(kinds, 400), kinds)})
    table.loc[rng.random(400) < 0.1, "colour"] = None
    y = ((table["n"] > 0) ^ table["colour"].isin(["red", "blue"])).astype(int)
    options = {"n_estimators": 6, "max_depth": 3, "enable_categorical": True, "max_cat_to_onehot": 2, "base_score": 0.5}
    model = xgboost.XGBClassifier(**options).fit(table, y)
    model.get_booster().dump_model(tmp_path / "dump", dump_format=form)
    ensemble = quia.load(tmp_path / "dump", features=["n", "colour"], categories={"colour": kinds})
    rows = table.astype(object).to_dict("records")
    assert decisions(ensemble, rows) == [str(one) for one in model.predict(table)]


def test_a_regressor(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    model = xgboost.XGBRegressor(n_estimators=8, max_depth=3, base_score=1.25).fit(x, x[:, 0])
    model.get_booster().dump_model(tmp_path / "dump.txt")
    ensemble = quia.load(tmp_path / "dump.txt", features=["a", "b", "c"], base_score=1.25, threshold=0.25)
    rows = rows_near_cuts(ensemble, rng, 300)
    assert decisions(ensemble, rows.tolist()) == [ensemble.classes[int(v >= 0.25)] for v in model.predict(rows)]


DUMP = "booster[0]:\n0:[f0<1.5] yes=1,no=2,missing=1\n\t1:leaf=0.5\n\t2:leaf=-0.25\n"


def test_one_tree_is_a_graph():
    graph = loader.read(DUMP.encode(), features=["age"], classes=["no", "yes"])
    assert isinstance(graph, quia.DecisionGraph)
    assert [graph.classify([value]) for value in (1, 2, None)] == ["yes", "no", "yes"]


@pytest.mark.parametrize(
    ("dump", "options", "fault"),
    [
        (DUMP, {"features": ["a", "a"]}, "give different names"),
        (DUMP.replace("f0", "ages"), {"features": ["age"]}, r"tests 'ages'.*did you mean 'age'"),
        (DUMP, {"classes": ["a", "b", "c"]}, "1 trees.*3 classes"),
        (DUMP, {"base_score": 1.5}, "base score is 1.5"),
        (DUMP, {"base_score": [0.5, 0.5]}, "base scores"),
        (DUMP, {"classes": ["a"]}, "1 classes"),
        (DUMP, {"categories": {"f9": ["x"]}}, "no column"),
        (DUMP.replace("yes=1,", "yes=7,"), {}, "not there"),
        (DUMP.replace("no=2", "no=1"), {}, "two parents"),
        (DUMP.replace("missing=1", "missing=0"), {}, "neither"),
        (DUMP.replace("1:leaf", "2:leaf"), {}, "twice"),
        (DUMP.replace("0:[", "5:["), {}, "begin with node 0"),
        (DUMP.replace("=0.5", "=high"), {}, "float"),
        (DUMP.replace("=0.5", "=inf"), {}, "add up"),
        (DUMP.replace("<1.5", "<nan"), {}, "threshold"),
        (DUMP.replace("<1.5", ""), {}, "indicator"),
        (DUMP.replace("yes=1,", ""), {}, "line 2 of the dump"),
        (DUMP.replace("f0", "f123456"), {}, "123457 columns"),
        ("booster[0]:\n", {}, "line 2 of the dump"),
    ],
)
def test_what_is_refused(dump, options, fault):
    with pytest.raises(quia.QuiaError, match=fault) as refused:
        loader.read(dump.encode(), **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("form", ["text", "json"])
def test_damaged_dumps_never_crash(form, tmp_path):
    model, rng = fitted(False)
    model.get_booster().dump_model(tmp_path / "dump", dump_format=form)
    text = (tmp_path / "dump").read_text()
    for _ in range(200):
        at = int(rng.integers(len(text)))
        for broken in (
            text[:at],
            text[:at] + str(rng.choice(list('9-x"[]{},:\n'))) + text[at + int(rng.integers(3)) :],
        ):
            with contextlib.suppress(quia.QuiaError):
                loader.read(broken.encode())


def test_depth_is_no_recursion():
    """A chain of 5,000 tests, each in the one above it."""
    deep = 5000
    nodes = [
        f'{{"nodeid": {n}, "split": "f0", "split_condition": {-n}, "yes": {n + 1}, "no": {deep + 1 + n}, "missing":'
        f' {n + 1}, "children": [{{"nodeid": {deep + 1 + n}, "leaf": {n % 2 - 0.5}}}, '
        for n in range(deep)
    ]
    text = "[" + "".join(nodes) + f'{{"nodeid": {deep}, "leaf": 1}}' + "]}" * deep + "]"
    graph = loader.read(text.encode())
    assert [graph.classify([value]) for value in (5, -0.5, -1.5, -9999)] == ["0", "1", "0", "1"]


def test_published_models(shared_data):
    """The sums are those of a plain walk through the printed lines, and all rows are classified."""
    folders = sorted(path.parent for path in (shared_data / "xreason").glob("*/model.txt"))
    assert len(folders) == 19
    for folder in folders:
        with (folder / "instances.csv").open() as file:
            header, *rows = csv.reader(file)
        features = header[:-3]
        text = (folder / "model.txt").read_text()
        trees = text.count("booster[")
        count = trees // 50
        ensemble = quia.load(folder / "model.txt", features=features, classes=[str(c) for c in range(max(count, 2))])
        assert (len(ensemble.trees), len(ensemble.variables)) == (trees, len(features))
        given = [[float(value) for value in row[:-3]] for row in rows[:5]]
        ours = scores(ensemble, given)
        for row, found in zip(given, ours, strict=True):
            sums = np.full(count, np.float32(0.5 if count > 1 else 0))
            for index, tree in enumerate(text.split("booster[")[1:]):
                lines = dict(line.strip().split(":", 1) for line in tree.split("\n")[1:] if line.strip())
                at = lines["0"]
                while "leaf" not in at:
                    name, _, rest = at[1:].partition("<")
                    bound, _, ends = rest.partition("] ")
                    ends = dict(end.split("=") for end in ends.split(","))
                    at = lines[ends["yes" if np.float32(row[int(name[1:])]) < np.float32(bound) else "no"]]
                sums[index % count] += np.float32(at.partition("=")[2])
            assert np.array_equal(sums, found.astype(np.float32))
