"""Forests, bags, votes and boosted trees of scikit-learn, alone and in pipelines, decide as their own `predict`.

Where a model tells its sums (probabilities, decision functions), ours are equal to the last bit.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from threadpoolctl import threadpool_limits

import quia
from quia.cli import main
from quia.errors import FormatError, QuiaError, Unsupported
from quia.load import agreement
from quia.load import skops as skops_loader
from quia.load.probes import probes
from quia.load.sklearn import votes

sys.path.insert(0, str(Path(__file__).parent))
import pipelines
from pipelines import same_decisions


@pytest.fixture(autouse=True)
def one_process() -> Iterator[None]:
    """Threads and processes that wait for each other take far longer than the little work that there is here."""
    with threadpool_limits(1), joblib.parallel_backend("threading", n_jobs=None):
        yield


def forest(depth: int, seed: int) -> Any:
    how = {"criterion": "entropy"} if seed % 2 else {"bootstrap": False, "max_features": 2}
    return RandomForestClassifier(5 + seed % 4, max_depth=depth, random_state=seed, **how)


def extra(depth: int, seed: int) -> Any:
    return ExtraTreesClassifier(6, max_depth=depth, random_state=seed, bootstrap=bool(seed % 2))


def bag(depth: int, seed: int) -> Any:
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    return BaggingClassifier(
        tree,
        7,
        max_samples=0.05 if seed % 2 else 0.7,  # of so few rows some trees do not see every class
        max_features=0.6,
        bootstrap_features=bool(seed % 3),
        n_jobs=1 + seed % 3,
        random_state=seed,
    )


def ada(depth: int, seed: int) -> Any:
    tree = DecisionTreeClassifier(max_depth=1 + depth % 3, random_state=seed)
    return AdaBoostClassifier(tree, n_estimators=8, learning_rate=0.7, random_state=seed)


def gradient(depth: int, seed: int) -> Any:
    how = {"init": "zero"} if seed % 2 else {}
    return GradientBoostingClassifier(
        n_estimators=6, max_depth=1 + depth % 4, subsample=0.8, learning_rate=0.5, random_state=seed, **how
    )


def histogram(depth: int, seed: int) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=6, max_depth=depth, learning_rate=0.5, min_samples_leaf=3, random_state=seed
    )


def soft_vote(depth: int, seed: int) -> Any:
    members = [
        ("forest", RandomForestClassifier(3, max_depth=depth, random_state=seed)),
        ("tree", DecisionTreeClassifier(max_depth=depth, random_state=seed)),
        ("extra", ExtraTreesClassifier(4, max_depth=depth, random_state=seed)),
        ("bag", BaggingClassifier(DecisionTreeClassifier(max_depth=3), 3, random_state=seed)),
    ]
    weights = [None, [0.1, 3, 0.7, 1], [1, 0, 2, 2]][seed % 3]
    return VotingClassifier(members, voting="soft", weights=weights)


def hard_vote(depth: int, seed: int) -> Any:
    members: list[Any] = [(f"t{i}", ExtraTreeClassifier(max_depth=depth, random_state=seed + i)) for i in range(4)]
    members.append(("one", RandomForestClassifier(1, max_depth=depth, random_state=seed)))
    return VotingClassifier(members, weights=None if seed % 2 else [1, 2, 1, 1.5, 0.5])


def xgboost(depth: int, seed: int) -> Any:
    made = pytest.importorskip("xgboost").XGBClassifier
    return made(n_estimators=5, max_depth=depth, learning_rate=0.5, min_child_weight=0.1, random_state=seed, n_jobs=1)


def lightgbm(depth: int, seed: int) -> Any:
    made = pytest.importorskip("lightgbm").LGBMClassifier
    how = {"num_leaves": 7, "learning_rate": 0.5, "min_child_samples": 3, "n_jobs": 1, "verbose": -1}
    return made(n_estimators=5, max_depth=depth, random_state=seed, **how)


ALL = [forest, extra, bag, ada, gradient, histogram, soft_vote, hard_vote]
LIBRARIES = [xgboost, lightgbm]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("final", [*ALL, *LIBRARIES])
def test_at_the_end_of_random_pipelines(final: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pipelines.data(rng)
    classes: list[Any] = [["no", "yes"], [7, 3, 5, 1], [False, True]][seed]
    y = pipelines.target(rng, frame, list(range(len(classes))) if final is xgboost else classes)
    model = pipelines.model(rng, frame, y, final=final)
    ensemble = quia.load(model, check=seed == 0)
    assert isinstance(ensemble, quia.Ensemble)
    assert [v.name for v in ensemble.variables] == list(frame.columns)
    assert same_decisions(ensemble, model, pipelines.hard_rows(rng, ensemble, frame, 300)) > 150


def table(rng: np.random.Generator, missing: bool, classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers of three sizes, many of them equal or zero."""
    x = np.column_stack([np.round(rng.normal(0, 10.0**-places, 200), places + 1) for places in (0, 3, -2)])
    x[rng.random(x.shape) < 0.2] = 0.0
    score = x[:, 0] + (x[:, 1] > 0) * 2 - (x[:, 2] > 0) + rng.normal(0, 0.3, 200)
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    return pd.DataFrame(x, columns=["a", "b", "c"]), np.digitize(score, [0.2] if classes == 2 else [-0.5, 0.7])


def beside_cuts(rng: np.random.Generator, classifier: Any, missing: bool, count: int) -> pd.DataFrame:
    """Rows of values at every threshold and one step beside it, in 32 and in 64 bits, near to zero, and missing."""
    columns = {}
    for variable in classifier.variables:
        pool = [0.0, -0.0, 1e-36, -1e-36, 7.0, -1e30, *([np.nan] * 3 if missing else [])]
        for cut in variable.cuts:
            near = np.float32(cut.threshold)
            pool += [near, np.nextafter(near, np.float32(-9e9)), np.nextafter(near, np.float32(9e9)), cut.threshold]
            pool += [np.nextafter(cut.threshold, -np.inf), np.nextafter(cut.threshold, np.inf)]
        columns[variable.name] = rng.choice(np.array(pool, np.float64), count)
    return pd.DataFrame(columns)


def own_scores(model: Any, rows: pd.DataFrame) -> np.ndarray | None:
    """What the model itself compares, where it tells."""
    if isinstance(model, VotingClassifier) and model.voting == "hard":
        return None
    if type(model).__name__.startswith("LGBM"):
        return model.predict(rows, raw_score=True).reshape(len(rows), -1)
    if type(model).__name__.startswith("XGB"):
        scores = model.predict(rows, output_margin=True)
        return scores.reshape(len(rows), -1).astype(float)
    if isinstance(model, AdaBoostClassifier):
        scores = model.decision_function(rows)
        return scores[:, None] / 2 if scores.ndim == 1 else scores
    if hasattr(model, "_raw_predict"):
        return model._raw_predict(np.ascontiguousarray(rows, float if hasattr(model, "_predictors") else np.float32))
    return model.predict_proba(rows)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("final", [*ALL, *LIBRARIES])
def test_alone(final: Any, classes: int) -> None:
    for seed in range(2):
        missing = bool(seed) and final in (forest, bag, histogram, *LIBRARIES)
        rng = np.random.default_rng(seed)
        frame, y = table(rng, missing, classes)
        model = final(4, seed).fit(frame, y)
        ensemble = quia.load(make_pipeline(model), check=False)
        rows = beside_cuts(rng, ensemble, missing, 1500)
        states = np.array([ensemble.encode(row) for row in rows.to_dict("records")], np.int32)
        theirs = model.predict(rows)
        assert [ensemble.classes[at] for at in ensemble.decide_rows(states)] == [str(one) for one in theirs]
        assert len(set(theirs)) == classes
        scores = own_scores(model, rows)
        if scores is not None:
            assert [ensemble.scores(one).tolist() for one in states[:300]] == scores[:300].tolist()
        if final not in LIBRARIES:
            assert quia.load(model, check=bool(seed)).classes == ensemble.classes


def test_ties_go_to_the_first_class() -> None:
    """Few rows, whole numbers and many equal votes: what decides is which class comes first."""
    ties = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 3, (30, 3)).astype(float)
        y = rng.integers(0, 3, 30)
        grid = np.array(np.meshgrid(*[[0.0, 1.0, 2.0]] * 3)).reshape(3, -1).T
        trees = [(str(i), DecisionTreeClassifier(max_depth=2, max_features=1, random_state=i)) for i in range(4)]
        for model in (
            RandomForestClassifier(4, max_depth=2, random_state=seed, bootstrap=False),
            BaggingClassifier(DecisionTreeClassifier(max_depth=1), 2, max_samples=3, random_state=seed),
            VotingClassifier(trees),
            VotingClassifier(trees, voting="soft"),
            AdaBoostClassifier(n_estimators=3),
        ):
            model.fit(x, y)
            classifier = quia.load(model, check=False)
            assert [classifier.classify(row) for row in grid.tolist()] == [str(one) for one in model.predict(grid)]
            if isinstance(classifier, quia.Ensemble):
                scores = np.array([classifier.scores(classifier.encode(row)) for row in grid.tolist()])
                ties += int(((scores == scores.max(axis=1)[:, None]).sum(axis=1) > 1).sum())
    assert ties > 25


def test_sums_that_are_zero() -> None:
    """GradientBoosting gives zero the second class, HistGradientBoosting and AdaBoost the first."""
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 30)
    y = [0, 1, 1, 0] * 30
    twice = [("a", DecisionTreeClassifier(max_depth=1)), ("b", DecisionTreeClassifier(max_depth=1))]
    for model in (
        GradientBoostingClassifier(n_estimators=4, max_depth=1, random_state=0),
        HistGradientBoostingClassifier(max_iter=4, max_depth=1),
        VotingClassifier(twice, voting="soft"),
    ):
        model.fit(x, y)
        classifier = quia.load(model)
        assert [classifier.classify(row) for row in x[:4].tolist()] == [str(one) for one in model.predict(x[:4])]
    boosted = AdaBoostClassifier(n_estimators=2).fit(x, x[:, 0].astype(int) ^ (np.arange(120) < 40))
    boosted.estimators_ = boosted.estimators_[:1] * 2
    boosted.estimator_weights_ = np.array([0.3, 0.3])
    opposite = DecisionTreeClassifier(max_depth=1).fit(x, 1 - boosted.estimators_[0].predict(x))
    boosted.estimators_[1] = opposite
    assert set(boosted.decision_function(x)) == {0.0}
    ensemble = quia.load(boosted)
    assert {ensemble.classify(row) for row in x[:4].tolist()} == {"0"} == {str(one) for one in boosted.predict(x)}


@pytest.mark.parametrize("label", ["1 >= 0.3", "0 > 0.25", "1 > 0.5", "2 >= 0.4"])
@pytest.mark.parametrize("final", [forest, extra, bag, soft_vote])
def test_cut_offs_of_probabilities(final: Any, label: str) -> None:
    name, sign, limit = label.split()
    rng = np.random.default_rng(1)
    frame, y = table(rng, False, 3 if name == "2" else 2)
    model = final(4, 1).fit(frame, y)
    ensemble = quia.load(model, label=label)
    rest = "not 2" if name == "2" else str(1 - int(name))
    assert ensemble.classes == (name, rest)
    rows = beside_cuts(rng, ensemble, False, 1000)
    share = model.predict_proba(rows)[:, int(name)]
    reached = share >= float(limit) if sign == ">=" else share > float(limit)
    ours = [ensemble.classify(row) for row in rows.to_dict("records")]
    assert ours == [name if one else rest for one in reached]
    assert len(set(ours)) == 2


def test_a_cut_off_that_probabilities_reach() -> None:
    """A cut-off that is itself a probability, to the last bit, as scikit-learn adds and divides it."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 4, (60, 3)).astype(float)
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(x, rng.integers(0, 2, 60))
    grid = np.array(np.meshgrid(*[np.arange(4.0)] * 3)).reshape(3, -1).T
    shares = model.predict_proba(grid)[:, 0]
    for limit in sorted(set(shares.tolist()))[1:-1]:
        for sign, reached in ((">=", shares >= limit), (">", shares > limit)):
            ensemble = quia.load(model, label=f"0 {sign} {limit!r}", check=False)
            assert [ensemble.classify(row) for row in grid.tolist()] == ["0" if one else "1" for one in reached]


@pytest.mark.parametrize("final", [gradient, histogram])
@pytest.mark.parametrize("label", ["1 >= 0.3", "0 > 0.25"])
def test_cut_offs_of_boosted_probabilities(final: Any, label: str) -> None:
    name, sign, limit = label.split()
    rng = np.random.default_rng(1)
    frame, y = table(rng, False, 2)
    model = final(4, 1).fit(frame, y)
    ensemble = quia.load(model, label=label)
    rows = beside_cuts(rng, ensemble, False, 1000)
    share = model.predict_proba(rows)[:, int(name)]
    reached = share >= float(limit) if sign == ">=" else share > float(limit)
    ours = [ensemble.classify(row) for row in rows.to_dict("records")]
    assert ours == [name if one else str(1 - int(name)) for one in reached]
    assert len(set(ours)) == 2


REGRESSORS = [
    RandomForestRegressor(6, max_depth=4, random_state=0),
    ExtraTreesRegressor(6, max_depth=4, random_state=0),
    BaggingRegressor(DecisionTreeRegressor(max_depth=3), 5, max_features=0.7, n_jobs=2, random_state=0),
    GradientBoostingRegressor(n_estimators=6, max_depth=2, random_state=0),
    GradientBoostingRegressor(n_estimators=6, max_depth=2, loss="huber", random_state=0),
    HistGradientBoostingRegressor(max_iter=6, max_depth=3),
    DecisionTreeRegressor(max_depth=4),
    RandomForestRegressor(1, max_depth=4, random_state=0),
]


@pytest.mark.parametrize("model", REGRESSORS)
def test_regressors_with_a_threshold(model: Any) -> None:
    rng = np.random.default_rng(2)
    frame, _ = table(rng, False, 2)
    model.fit(frame, frame.a * 3 + (frame.b > 0))
    predicted = model.predict(frame)
    limit = float(np.sort(predicted)[70])  # one that is predicted
    classifier = quia.load(model, threshold=limit)
    rows = beside_cuts(rng, classifier, False, 700)
    values = model.predict(rows)
    names = classifier.classes
    assert names[1].endswith("or more")
    assert [classifier.classify(row) for row in rows.to_dict("records")] == [names[int(v >= limit)] for v in values]
    in_frame = [classifier.classify(row) for row in frame.to_dict("records")]
    assert in_frame == [names[int(v >= limit)] for v in predicted]
    banded = quia.load(model, label=f"low <= {limit!r} < middle < 2.5 <= high", check=False)
    expected = [("low", "middle", "high")[int(v > limit) + int(v >= 2.5)] for v in values]
    assert [banded.classify(row) for row in rows.to_dict("records")] == expected
    named = quia.load(model, threshold=[limit, 2.5], classes=["low", "middle", "high"], check=False)
    assert named.classes == ("low", "middle", "high")


def test_regressors_of_libraries_with_a_threshold() -> None:
    rng = np.random.default_rng(2)
    frame, _ = table(rng, True, 2)
    xgb = pytest.importorskip("xgboost")
    lgb = pytest.importorskip("lightgbm")
    for final in (
        xgb.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1),
        xgb.XGBRFRegressor(n_estimators=5, max_depth=3, n_jobs=1),
        lgb.LGBMRegressor(n_estimators=5, max_depth=3, n_jobs=1, verbose=-1),
    ):
        model = make_pipeline(StandardScaler(), final).fit(frame, frame.a.fillna(1) * 3 + (frame.b > 0))
        limit = float(np.sort(model.predict(frame))[70])  # one that is predicted
        with pytest.raises(Unsupported, match="give its cutoff"):
            quia.load(model)
        for threshold in (limit, 0.1):  # 0.1 is no number of 32 bits
            ensemble = quia.load(model, threshold=threshold, classes=["low", "high"])
            rows = beside_cuts(rng, ensemble, True, 700)
            expected = [("low", "high")[int(value >= threshold)] for value in model.predict(rows)]
            assert [ensemble.classify(row) for row in rows.to_dict("records")] == expected
            assert len(set(expected)) == 2


def categories(rng: np.random.Generator, rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    frame = pd.DataFrame(
        {
            "n": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(0, 1, rows)),
            "town": pd.Categorical(np.where(rng.random(rows) < 0.1, None, rng.choice(list("abcdefgh"), rows))),
            "code": rng.choice([3, 11, 20, 70], rows),
            "m": rng.integers(-3, 4, rows),
        }
    )
    score = frame.n.fillna(0.3) + frame.town.isin(list("bdf")) * 1.5 - frame.code.isin([11, 70]) + 0.2 * frame.m
    return frame, np.digitize(score + rng.normal(0, 0.3, rows), [0.0, 1.0])


@pytest.mark.parametrize("how", ["from_dtype", ["town", "code"], [2], [False, True, True, False]])
@pytest.mark.parametrize("classes", [2, 3])
def test_categories_of_histogram_boosting(how: Any, classes: int) -> None:
    rng = np.random.default_rng(0)
    frame, y = categories(rng)
    if how == [2]:
        frame = frame.drop(columns="town")
        how = ["code"]
    y = np.minimum(y, classes - 1)
    model = HistGradientBoostingClassifier(max_iter=8, categorical_features=how, min_samples_leaf=5).fit(frame, y)
    assert any(tree.nodes["is_categorical"].any() for each in model._predictors for tree in each)
    ensemble = quia.load(model)
    rows = frame.sample(400, replace=True, random_state=0).reset_index(drop=True).astype({"code": object})
    rows["n"] = rng.choice([np.nan, *(cut.threshold for cut in ensemble.variables[0].cuts)], 400)
    rows["code"] = pd.Series(rng.choice([3, 11, 20, 70], 400), dtype=float)
    if "town" in rows:
        towns = pd.Series(rng.choice([*"abcdefgh", "unseen", None], 400), dtype=object)
        rows["town"] = towns
    assert same_decisions(ensemble, model, rows) == 400
    if "code" in (how if isinstance(how, list) else ()):
        assert {"3", "11", "20", "70"} <= set(ensemble.variables[-2].labels or ())


def test_categories_of_histogram_boosting_after_other_steps() -> None:
    """Codes that a step before it writes, of strings and of numbers, are categories again; one tree is a graph."""
    rng = np.random.default_rng(1)
    frame, y = categories(rng)
    frame["town"] = frame.town.astype(object)
    before = ColumnTransformer(
        [
            ("town", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["town"]),
            ("bins", KBinsDiscretizer(5, encode="ordinal", strategy="uniform"), ["m"]),
            ("scaled", StandardScaler(), ["n"]),
        ]
    )
    for rounds in (1, 7):
        final = HistGradientBoostingClassifier(max_iter=rounds, categorical_features=[0, 1], min_samples_leaf=5)
        model = make_pipeline(before, final).fit(frame, y > 0)
        classifier = quia.load(model)
        assert isinstance(classifier, quia.Ensemble if rounds > 1 else quia.DecisionGraph)
        rows = frame.sample(400, replace=True, random_state=0).reset_index(drop=True)
        rows["town"] = pd.Series(rng.choice([*"abcdefgh", "unseen", np.nan], 400), dtype=object)
        rows["m"] = rng.choice([-4.0, -1.8, -1.7999999999999998, -0.6, 0.6, 0.6000000000000001, 1.8, 9.0], 400)
        assert same_decisions(classifier, model, rows) == 400


def data(classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    return x, np.digitize(x[:, 0] + x[:, 1], [0.1] if classes == 2 else [-0.4, 0.5])


def test_zeros_of_a_sparse_matrix() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(list("abcdefghij"), 400), "n": rng.integers(-2, 3, 400).astype(float)})
    y = (frame.kind.isin(list("bdf")) ^ (frame.n == 0)).astype(int)
    encoder = ColumnTransformer([("k", OneHotEncoder(handle_unknown="ignore"), ["kind"])], remainder="passthrough")
    kinds, numbers = [*"abcdefghij", "other"], [0.0, -0.0, 1e-40, 0.5, -0.5, 1.0, 1.5, -2.0, 3.0]
    rows = pd.DataFrame([(kind, number) for kind in kinds for number in numbers], columns=["kind", "n"])
    for final in (forest, extra, bag, ada, gradient, soft_vote, hard_vote, *LIBRARIES):
        model = make_pipeline(encoder, final(6, 0)).fit(frame, y)
        assert model[0].sparse_output_
        assert same_decisions(quia.load(model, check=False), model, rows) == len(rows)


def test_dummies_are_one_variable() -> None:
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], 200)
    raw = pd.DataFrame({"age": rng.integers(20, 60, 200).astype(float), "colour": colours})
    wide = pd.get_dummies(raw, columns=["colour"], dtype=float)
    model = RandomForestClassifier(8, max_depth=4, random_state=0).fit(wide, (raw.age > 40) ^ (raw.colour == "red"))
    ensemble = quia.load(model, one_hot={"colour": ["colour_blue", "colour_green", "colour_red"]})
    assert [v.name for v in ensemble.variables] == ["age", "colour"]
    ours = [ensemble.classify(row) for row in raw.to_dict("records")]
    assert ours == [str(one) for one in model.predict(wide)]


def test_jobs_change_nothing_that_is_not_said() -> None:
    x, y = data()
    model = RandomForestClassifier(20, max_depth=3, random_state=0, n_jobs=2).fit(x, y)
    assert quia.load(model).notes == (votes.ANY_ORDER,)
    assert quia.load(model.set_params(n_jobs=1)).notes == ()
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 11, random_state=0, n_jobs=3).fit(x, y)
    ensemble = quia.load(model)
    assert [group.trees for group in ensemble.sums.groups] == [4, 4, 3]
    assert quia.load(model.set_params(n_jobs=None)).sums.groups == ()


def test_a_forest_of_one_tree_is_a_tree() -> None:
    x, y = data(3)
    for model in (
        RandomForestClassifier(1, max_depth=3, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=3), 1, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=1),
        VotingClassifier([("only", DecisionTreeClassifier(max_depth=3))]),
        VotingClassifier([("only", RandomForestClassifier(1, max_depth=3))], voting="soft", weights=[0.3]),
    ):
        graph = quia.load(model.fit(x, y))
        assert isinstance(graph, quia.DecisionGraph)
        assert [graph.classify(row) for row in x.tolist()] == [str(one) for one in model.predict(x)]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (StackingClassifier([("a", DecisionTreeClassifier())]), "by a model of what its estimators predict"),
        (BaggingClassifier(LogisticRegression(), 2), "holds a LogisticRegression, which is no decision tree"),
        (AdaBoostClassifier(LogisticRegression(), n_estimators=2), "holds a LogisticRegression"),
        (
            VotingClassifier([("a", LogisticRegression())], voting="soft"),
            "LogisticRegression, which is no mean of trees",
        ),
        (VotingClassifier([("a", HistGradientBoostingClassifier(max_iter=2))], voting="soft"), "which is no mean of"),
        (VotingClassifier([("a", RandomForestClassifier(3))]), "counts the decisions of a RandomForestClassifier of 3"),
        (
            VotingClassifier([("a", DecisionTreeClassifier()), ("b", DecisionTreeClassifier())], weights=[1, -0.5]),
            r"weights of the VotingClassifier are \[1, -0.5\]",
        ),
        (
            VotingClassifier([("a", BaggingClassifier(n_estimators=4, n_jobs=2))], voting="soft"),
            "BaggingClassifier with n_jobs=2",
        ),
        (
            VotingClassifier([("a", make_pipeline(StandardScaler(), DecisionTreeClassifier()))], voting="soft"),
            "holds a Pipeline",
        ),
        (GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()), "what a LogisticRegression predicts"),
        (
            GradientBoostingClassifier(n_estimators=2, init=DummyClassifier(strategy="uniform")),
            "what a DummyClassifier predicts",
        ),
        (RandomForestRegressor(2), "decides on no class"),
    ],
)
def test_what_is_refused_by_name(model: Any, words: str) -> None:
    x, y = data()
    for fitted in (model.fit(x, y), make_pipeline(StandardScaler(), model).fit(x, y)):
        with pytest.raises(Unsupported, match=words) as refused:
            quia.load(fitted)
        assert "\n" not in str(refused.value)


def test_regressors_and_options_that_are_refused() -> None:
    x, y = data()
    for model, words in (
        (AdaBoostRegressor(n_estimators=2), "weighted median"),
        (VotingRegressor([("a", DecisionTreeRegressor())]), "VotingRegressor"),
        (HistGradientBoostingRegressor(loss="poisson", max_iter=2), "powers of its sums"),
        (RandomForestRegressor(2), "splits numbers at infinity"),
    ):
        limit = "low < inf <= high" if "infinity" in words else [0.5]
        with pytest.raises(Unsupported, match=words):
            quia.load(model.fit(x, y), label=limit)
    many = RandomForestClassifier(2).fit(x, np.column_stack([y, y]))
    with pytest.raises(Unsupported, match="knows a single class"):
        quia.load(HistGradientBoostingClassifier(max_iter=2).fit(x, 0 * y))
    with pytest.raises(Unsupported, match="2 outputs"):
        quia.load(many)
    fitted = RandomForestClassifier(3, random_state=0).fit(x, y)
    for options, words in (
        ({"threshold": 0.5}, "the model predicts classes"),
        ({"threshold": 0.5, "label": "1 >= 0.5"}, "give one of the two"),
        ({"label": lambda shares: "a" if shares["1"] > 0.2 else "b"}, "label is a function"),
        ({"label": "2 >= 0.5"}, "which is no class"),
    ):
        with pytest.raises(Unsupported, match=words):
            quia.load(fitted, **options)
    three = GradientBoostingClassifier(n_estimators=2).fit(*data(3))
    with pytest.raises(Unsupported, match="of 3 classes, whose probabilities are no sums"):
        quia.load(three, label="1 >= 0.5")
    for model in (GradientBoostingClassifier(n_estimators=2), HistGradientBoostingClassifier(max_iter=2)):
        with pytest.raises(Unsupported, match="every row into one class"):
            quia.load(model.fit(x, y), label="1 >= 2")
    with pytest.raises(Unsupported, match="AdaBoostClassifier, whose probabilities"):
        quia.load(AdaBoostClassifier(n_estimators=3).fit(x, y), label="1 >= 0.5")
    bag = BaggingClassifier(n_estimators=3).fit(x, y)
    with pytest.raises(Unsupported, match="n_estimators is 5"):
        quia.load(bag.set_params(n_estimators=5))
    ada = AdaBoostClassifier(n_estimators=3).fit(x, y)
    ada.algorithm = "SAMME.R"
    with pytest.raises(Unsupported, match=r"SAMME\.R"):
        quia.load(ada)


def test_damaged_ensembles() -> None:
    x, y = data(3)
    wide = RandomForestClassifier(3, random_state=0).fit(np.hstack([x, x]), y)
    other = RandomForestClassifier(3, random_state=0).fit(x, y > 0)
    forest = RandomForestClassifier(3, random_state=0).fit(x, y)
    for member, words in (
        (wide.estimators_[1], "3 columns, its tree 6"),
        (other.estimators_[1], "3 classes, its tree 2"),
    ):
        forest.estimators_[1] = member
        with pytest.raises(FormatError, match=words):
            quia.load(forest)
    forest.estimators_ = []
    with pytest.raises(FormatError, match="has no tree"):
        quia.load(forest)
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(x, y)
    bag.estimators_features_[1][0] = 3
    with pytest.raises(FormatError, match="takes columns that are not there"):
        quia.load(bag)
    ada = AdaBoostClassifier(n_estimators=3).fit(x, y)
    ada.estimator_weights_ = np.array([np.nan, 1.0, 1.0])
    with pytest.raises(FormatError, match="weights of the AdaBoostClassifier"):
        quia.load(ada)
    boosted = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(np.round(abs(x)), y)
    tree = next(t for each in boosted._predictors for t in each if t.nodes["is_categorical"].any())
    at = int(np.flatnonzero(tree.nodes["is_categorical"])[0])
    tree.nodes["bitset_idx"][at] = 10**6
    with pytest.raises(FormatError, match="categories that are not there"):
        quia.load(boosted)
    tree.nodes["feature_idx"][at], tree.nodes["bitset_idx"][at] = 2, 0
    with pytest.raises(FormatError, match="categories of a column that has none"):
        quia.load(boosted)
    gradient = GradientBoostingClassifier(n_estimators=2).fit(x, y)
    gradient.estimators_[0, 0].tree_.value[:] = np.nan
    with pytest.raises(FormatError, match="not a finite number"):
        quia.load(gradient)


def test_the_comparison_finds_a_tree_that_is_not_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probes go where the decision turns, so that a single wrong leaf or threshold is noticed."""
    x, y = data()
    model = RandomForestClassifier(7, max_depth=3, random_state=0).fit(x, y)
    right = votes.tree_of

    def wrong(estimator: Any) -> Any:
        tree = right(estimator)
        if estimator is not model.estimators_[3]:
            return tree
        return tree._replace(values=tree.values[:, ::-1])

    monkeypatch.setattr(votes, "tree_of", wrong)
    with pytest.raises(QuiaError, match="does not decide as the model does"):
        quia.load(model)
    assert quia.load(model, check=False)


@pytest.mark.parametrize("final", ALL)
def test_saved_by_skops(final: Any) -> None:
    skops = pytest.importorskip("skops.io")
    x, y = data(3)
    model = make_pipeline(StandardScaler(), final(3, 2)).fit(x, y)
    saved = skops.dumps(model)
    unknown = set(skops.get_untrusted_types(data=saved)) - set(skops_loader.CHECKED_HERE)
    assert bool(unknown) == (final is histogram), "only what runs no code of the file is read without a word"
    read, live = skops_loader.read(saved, trusted=unknown), quia.load(model, check=False)
    assert [read.classify(row) for row in x.tolist()] == [live.classify(row) for row in x.tolist()]
    assert read.sums == live.sums


def test_check_compares_an_ensemble() -> None:
    x, y = data(3)
    model = make_pipeline(StandardScaler(), forest(4, 0)).fit(x, y)
    report = agreement.check(model, [dict(zip(("x0", "x1", "x2"), row, strict=True)) for row in x.tolist()])
    assert report.holds
    assert report.rows == 120 + agreement.PROBES
    first = probes(quia.load(model), limit=300)
    assert first == probes(quia.load(model), limit=300)
    assert len({tuple(row.items()) for row in first}) > 250


def test_check_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skops = pytest.importorskip("skops.io")
    jsonschema = pytest.importorskip("jsonschema")
    x, y = data(3)
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    skops.dump(make_pipeline(StandardScaler(), forest(4, 0)).fit(frame, y), tmp_path / "model.skops")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["check", str(tmp_path / "model.skops"), "--data", str(tmp_path / "rows.csv")]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "a sound random forest\n  5 trees, " in said
    assert f"{120 + agreement.PROBES} of {120 + agreement.PROBES} rows agree" in said
    assert main([*asked, "--json"]) == 0
    schema = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "check-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(capsys.readouterr().out))


def test_reasons_of_a_small_forest() -> None:
    x, y = data()
    model = make_pipeline(StandardScaler(), RandomForestClassifier(3, max_depth=2, random_state=0)).fit(x, y)
    ensemble = quia.load(model)
    explanation = quia.explain(ensemble, x[0].tolist())
    assert explanation.decision == str(model.predict(x[:1])[0])
    assert list(explanation.sufficient_reasons())


@pytest.mark.filterwarnings("ignore::quia.load.sklearn.one_hot.LooksOneHot")
@pytest.mark.parametrize("name", ["compas", "adult", "spambase"])
def test_models_of_real_data(shared_data: Path, name: str) -> None:
    frame = pd.read_csv(shared_data / "train" / f"{name}.csv.gz").sample(1000, random_state=0)
    rows, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    texts = [column for column in rows if rows[column].dtype.kind not in "if"]
    rows = rows.astype(dict.fromkeys(texts, object))
    encoder = ColumnTransformer(
        [("texts", OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts)], remainder="passthrough"
    )
    for final in (
        RandomForestClassifier(10, random_state=0),
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
        GradientBoostingClassifier(n_estimators=20, random_state=0),
    ):
        model = make_pipeline(encoder, final).fit(rows, y)
        ensemble = quia.load(model)
        assert same_decisions(ensemble, model, rows) == len(rows)
