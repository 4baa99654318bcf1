"""scikit-learn's linear classifiers decide as their own `predict`, on raw columns, at every cut and boundary."""

import math
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

import quia
from quia.errors import FormatError, OutOfRange, QuiaError, Unsupported
from quia.load.agreement import check

sys.path.insert(0, str(Path(__file__).parent))
import pipelines
from boundaries import rows_beside, same_but_for_rounding

RNG = np.random.default_rng(0)
X = RNG.normal([0, 40, -3, 1e4], [1, 12, 0.1, 3e3], (150, 4))
Z = (X - X.mean(axis=0)) / X.std(axis=0) @ [1, -1, 0.5, 0.7] + RNG.normal(0, 0.5, 150)
TWO, THREE = np.where(Z > 0, "good", "bad"), np.array(["high", "low", "middle"])[np.digitize(Z, [-0.7, 0.7])]

WIDER = X.mean(axis=0) + 3 * (X - X.mean(axis=0))

LINEAR = [
    LogisticRegression(),
    LogisticRegressionCV(Cs=2, cv=2),
    LinearSVC(),
    SGDClassifier(random_state=0),
    RidgeClassifier(),
    RidgeClassifierCV(),
    Perceptron(),
    LinearDiscriminantAnalysis(),
]


@pytest.mark.parametrize(("seed", "final"), list(enumerate([LINEAR[0], *LINEAR[2:4], LINEAR[-1]])), ids=str)
@pytest.mark.filterwarnings("ignore")
def test_random_pipelines(seed: int, final: Any) -> None:
    rng = np.random.default_rng(seed)
    frame = pipelines.data(rng)
    y = pipelines.target(rng, frame, [["no", "yes"], [1, 2, 3], [False, True]][seed % 3])
    while True:
        model = pipelines.model(rng, frame, y, final=lambda depth, seed: final)
        with suppress(Unsupported):  # a QuantileTransformer
            loaded = quia.load(model)
            break
    assert [v.name for v in loaded.variables] == list(frame.columns)
    assert pipelines.same_decisions(loaded, model, pipelines.hard_rows(rng, loaded, frame, 100)) > 50


@pytest.mark.parametrize(
    ("final", "y"),
    [*((final, TWO) for final in LINEAR), *((final, THREE) for final in LINEAR[::2])],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_where_a_number_makes_the_decision_change(final: Any, y: Any) -> None:
    """Where scikit-learn's own score changes its sign, one and two steps beside: we differ only inside the margin."""
    model = make_pipeline(StandardScaler(), final).fit(X, y)
    loaded = quia.load(skops.io.loads(skops.io.dumps(model)), ranges={"x0": (-9, 9)}, data=WIDER, check=False)
    assert loaded.rule.kind == ("cuts" if len(loaded.classes) == 2 else "argmax")
    assert 0 < loaded.margin < 1e-8

    def gap(rows: Any) -> Any:
        scores = model.decision_function(rows)
        return scores if scores.ndim == 1 else scores.max(axis=1) - scores[:, 0]

    beside = [rows_beside(gap, X[:8], column, *loaded.variables[column].range) for column in range(4)]
    rows = np.vstack([X[:30], *beside])
    assert len(rows) > 120
    same = [same_but_for_rounding(loaded, row, their) for row, their in zip(rows, model.predict(rows), strict=True)]
    assert sum(same) > 0.9 * len(same)
    assert all(same[:30])


WAYS = [
    (StandardScaler(), "line"),
    (StandardScaler(with_mean=False), "line"),
    (MinMaxScaler((-1, 2), clip=True), "line"),
    (MaxAbsScaler(), "line"),
    (RobustScaler(), "line"),
    (FunctionTransformer(), "line"),
    (make_pipeline(RobustScaler(), MinMaxScaler()), "line"),
    (SelectKBest(k=3), "line"),
    (FeatureUnion([("a", StandardScaler()), ("b", KBinsDiscretizer(3, strategy="uniform"))]), "both"),
    (FeatureUnion([("a", MaxAbsScaler()), ("b", StandardScaler())], transformer_weights={"a": 0.3}), "line"),
    (Binarizer(threshold=0.25), "cuts"),
    (KBinsDiscretizer(4, encode="ordinal", strategy="uniform"), "cuts"),
    (KBinsDiscretizer(4, encode="onehot", strategy="uniform"), "cuts"),
    (make_pipeline(StandardScaler(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")), "cuts"),
    (make_pipeline(KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), StandardScaler()), "cuts"),
    (make_pipeline(QuantileTransformer(n_quantiles=9), Binarizer(threshold=0.4)), "cuts"),
    (SimpleImputer(missing_values=-1, strategy="mean"), "line"),
]


@pytest.mark.parametrize(("way", "kind"), WAYS, ids=lambda way: str(way)[:30])
@pytest.mark.filterwarnings("ignore")
def test_what_numbers_become(way: Any, kind: str) -> None:
    """Lines where the number itself arrives, cuts where it does not, and the model's own decisions at every cut."""
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(0, 1, (120, 3)), 1)
    x[::7, 1] = -1.0
    y = (x @ [1, -1.5, 0.5] + rng.normal(0, 0.3, 120) > 0).astype(int)
    model = make_pipeline(way, LogisticRegression(C=100)).fit(x, y)
    loaded = quia.load(model, data=2 * x, check=False)
    for variable in loaded.variables:
        assert variable.is_line == (kind != "cuts")
    cuts = [cut.threshold for term in loaded.terms for cut in getattr(term, "cuts", ())]
    cuts += [cut.threshold for variable in loaded.variables if not variable.is_line for cut in variable.cuts]
    assert bool(cuts) == (kind != "line" or isinstance(way, SimpleImputer))
    rows = [list(row) for row in np.vstack([1.5 * x[:40], 5 * x[:60]])]
    for at in [*cuts, -1.0]:
        for number in (at, math.nextafter(at, -math.inf), math.nextafter(at, math.inf)):
            for base in x[rng.integers(0, 120, 3)]:
                moved = base.copy()
                moved[rng.integers(3)] = number
                rows.append(list(moved))
    for row, their in zip(rows, model.predict(rows).tolist(), strict=True):
        assert same_but_for_rounding(loaded, row, str(their)), row


def test_reasons_of_numbers_that_are_scaled_and_binned() -> None:
    """No row with the facts of a reason, at or beside a cut, is decided otherwise; without one of them some are."""
    rng = np.random.default_rng(7)
    x = rng.uniform(-3, 3, (200, 3))
    x[:2] = [[-3] * 3, [3] * 3]  # so that an edge is 0
    y = (np.sign(x) @ [1, -1.5, 0.5] + x @ [0.1, 0.3, -0.2] > 0).astype(int)
    bins = KBinsDiscretizer(4, strategy="uniform", encode="onehot-dense")
    model = make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", bins)]), LogisticRegression(C=30)).fit(x, y)
    loaded = quia.load(model, data=x)
    cuts = np.array([-3, -1.5, 0, 1.5, 3.0])
    edges = np.concatenate([cuts[:-1], np.nextafter(cuts[1:], -9), [3.0, -1e-150]])
    every = np.array(np.meshgrid(edges, edges, edges)).reshape(3, -1).T
    for row in x[:25]:
        why = quia.explain(loaded, row)
        for reason in why.sufficient_reasons():
            kept = [loaded.variables[j].name in reason.features for j in range(3)]
            assert set(model.predict(np.where(kept, row, every)).astype(str)) == {why.decision}
            for j in np.flatnonzero(kept):
                without = [keeps and j != own for own, keeps in enumerate(kept)]
                assert len(set(model.predict(np.where(without, row, every)))) == 2


def people(rows: int = 200) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(18, 80, rows)),
            "income": rng.lognormal(10, 0.5, rows),
            "job": rng.choice(["none", "new", "old", "own"], rows, p=[0.4, 0.4, 0.15, 0.05]),
        }
    )
    score = frame.age.fillna(30) / 30 + frame.income / 3e4 + frame.job.map({"none": -1, "new": 0, "old": 1, "own": 2})
    return frame, np.where(score + rng.normal(0, 0.4, rows) > 2.7, "grant", "deny")


def card(**encoder: Any) -> Any:
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    ways = ColumnTransformer([("n", numbers, ["age", "income"]), ("c", OneHotEncoder(**encoder), ["job"])])
    return make_pipeline(ways, LogisticRegression(C=10))


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("unknown", ["error", "ignore", "infrequent_if_exist"])
def test_raw_columns(unknown: str, absent: bool) -> None:
    """Encoders with every way of unknown categories, imputers with an indicator: one variable for each raw column."""
    frame, y = people()
    if absent:
        frame["job"] = frame["job"].where(frame["income"].rank() % 9 > 0, None)
    model = card(handle_unknown=unknown, drop="first", min_frequency=0.1).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = quia.load(model, data=frame)
    age, income, job = loaded.variables
    assert age.is_line and age.missing and income.is_line and income.missing
    assert job.labels[:4] == ("new", "none", "old", "own")
    assert (job.other is not None) == (unknown != "error")
    assert (job.no_value is not None) == (absent or unknown != "error")
    assert [term.variable for term in loaded.terms].count(2) == 1, "one table holds all dummies of a column"
    rows = frame.sample(120, random_state=0).reset_index(drop=True)
    rows.loc[::5, "age"] = np.nan
    if unknown != "error":
        rows["job"] = rows["job"].astype(object)
        rows.loc[::7, "job"] = "king"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = model.predict(rows)
    for row, their in zip(rows.to_dict("records"), theirs, strict=True):
        assert loaded.classify(row) == their


def test_ranges(tmp_path: Path) -> None:
    """Without ranges nothing is forced, and the error says how to give them; a table gives what is not given."""
    frame, y = people()
    model = card().fit(frame, y)
    row = {"age": 40, "income": 30000.0, "job": "new"}
    with pytest.raises(Unsupported, match=r"nothing else forces a decision; say .*ranges=.*data="):
        quia.explain(quia.load(model), row).sufficient_reasons().exact_count()
    assert quia.load(model).classify(row) == model.predict(pd.DataFrame([row]))[0]
    loaded = quia.load(model, ranges={"age": (18, 99)}, data=frame)
    assert [v.range for v in loaded.variables[:2]] == [(18, 99), (frame.income.min(), frame.income.max())]
    with pytest.raises(OutOfRange, match="age is 17"):
        quia.explain(loaded, row | {"age": 17})
    file, table = tmp_path / "m.skops", tmp_path / "table.csv"
    skops.io.dump(model, file)
    frame.to_csv(table, index=False)
    saved = quia.load(file, data=table)
    reasons = [str(reason) for reason in quia.explain(saved, row).sufficient_reasons()]
    assert reasons == [str(reason) for reason in quia.explain(quia.load(model, data=frame), row).sufficient_reasons()]
    assert check(model, frame.head(30).to_dict("records")).holds
    with pytest.raises(QuiaError, match=r"job.*states are listed"):
        quia.load(model, ranges={"job": (0, 1)})


@pytest.mark.parametrize("final", [LogisticRegression(), SGDClassifier(loss="modified_huber"), LINEAR[-1]], ids=str)
@pytest.mark.parametrize("label", ["bad >= 0.3", "bad > 0.9", "fine >= 0.02"])
def test_a_cut_off_of_a_probability(final: Any, label: str) -> None:
    """A cut-off decides as the model's own predict_proba, also next to where it is reached."""
    model = make_pipeline(StandardScaler(), final).fit(X, TWO)
    loaded = quia.load(model, data=WIDER, label=label, classes={"good": "fine"}, check=False)
    name, sign, limit = label.split()
    rest = {"bad": "fine", "fine": "bad"}[name]

    def share(rows: Any) -> Any:
        return model.predict_proba(rows)[:, ["bad", "fine"].index(name)]

    beside = rows_beside(lambda rows: share(rows) - float(limit), X[:20], 0, *loaded.variables[0].range)
    rows = np.vstack([X, beside])
    assert len(rows) > len(X)
    reached = share(rows) >= float(limit) if sign == ">=" else share(rows) > float(limit)
    same = [same_but_for_rounding(loaded, r, name if is_in else rest) for r, is_in in zip(rows, reached, strict=True)]
    assert all(same[: len(X)])


def test_dummies_made_by_hand() -> None:
    """Columns of 0 and 1 that the caller names are one variable, scaled or not."""
    colour = np.random.default_rng(3).integers(0, 3, 150)
    frame = pd.DataFrame({"size": X[:, 0], "colour_red": colour == 0, "colour_blue": colour == 1}).astype(float)
    y = (X[:, 0] + (colour == 1) > 0.3).astype(int)
    groups = {"colour": {"red": "colour_red", "blue": "colour_blue", "neither": None}}
    for steps in ([], [StandardScaler()]):
        model = make_pipeline(*steps, LogisticRegression()).fit(frame, y)
        loaded = quia.load(model, one_hot=groups, ranges={"size": (-9, 9)})
        assert [v.name for v in loaded.variables] == ["size", "colour"]
        names = [["red", "blue", "neither"][code] for code in colour]
        for size, name, their in zip(frame["size"], names, model.predict(frame), strict=True):
            assert loaded.classify({"size": size, "colour": name}) == str(their)


def test_coefficients_of_zero_and_a_search() -> None:
    """A column without weight needs no range; the best estimator of a search is what is loaded."""
    x = np.column_stack([X, np.random.default_rng(4).normal(size=150)])
    final = LogisticRegression(C=0.05, solver="liblinear", l1_ratio=1)
    search = GridSearchCV(make_pipeline(StandardScaler(), final), {"logisticregression__C": [0.05]}, cv=2).fit(x, TWO)
    weights = search.best_estimator_[-1].coef_[0]
    assert 0 < (weights == 0).sum() < 5
    loaded = quia.load(search, features=list("abcde"), classes=["no", "yes"])
    assert loaded.unbounded == tuple(name for name, weight in zip("abcde", weights, strict=True) if weight)
    ranged = loaded.with_ranges(dict.fromkeys("abcde", (-1e5, 1e5)))
    for row, their in zip(x, search.predict(x), strict=True):
        assert ranged.classify(row) == {"bad": "no", "good": "yes"}[their]


@pytest.mark.parametrize("final", [LinearRegression(), Ridge(), Lasso(0.01), ElasticNet(0.01)], ids=str)
def test_regressions_with_limits(final: Any) -> None:
    model = make_pipeline(StandardScaler(), final).fit(X, Z)
    loaded = quia.load(model, ranges={"x0": (-9, 9)}, data=WIDER, label="low < -0.5 <= middle < 1 <= high")
    rows = np.vstack([X, *(rows_beside(lambda r, at=at: model.predict(r) - at, X[:9], 0, -9, 9) for at in (-0.5, 1.0))])
    theirs = np.array(["low", "middle", "high"])[np.digitize(model.predict(rows), [-0.5, 1.0])]
    for row, their in zip(rows, theirs, strict=True):
        (score,) = loaded.scores(loaded.encode(row))
        assert loaded.classify(row) == their or min(abs(score + 0.5), abs(score - 1)) <= loaded.margin
    with pytest.raises(Unsupported, match="decides on no class"):
        quia.load(model)


def refitted(final: Any, **attributes: Any) -> Any:
    fitted = final.fit(CODES, TWO)
    for name, value in attributes.items():
        setattr(fitted, name, value)
    return fitted


CODES = (X.mean(axis=0) < X).astype(int)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (make_pipeline(PCA(2), LogisticRegression()).fit(X, TWO), "'pca' is a PCA, which is no scaling"),
        (make_pipeline(PolynomialFeatures(), LinearSVC()).fit(CODES, TWO), "PolynomialFeatures, which is no scaling"),
        (make_pipeline(PowerTransformer(), LinearSVC()).fit(CODES, TWO), "PowerTransformer, whose curve.*Standard"),
        (make_pipeline(FunctionTransformer(np.abs), LinearSVC()).fit(CODES, TWO), "the function absolute"),
        (make_pipeline(QuantileTransformer(n_quantiles=5), LinearSVC()).fit(CODES, TWO), "no multiple of it.*KBins"),
        (OneVsRestClassifier(LogisticRegression()).fit(CODES, TWO), "OneVsRestClassifier compares"),
        (CalibratedClassifierCV(LinearSVC(), cv=2).fit(CODES, TWO), "CalibratedClassifierCV decides by the mean"),
        (SVC(kernel="linear").fit(CODES, TWO), "SVC compares with its support vectors.*LinearSVC"),
        (LogisticRegression(), "not fitted"),
        (LogisticRegression().fit(CODES.astype(np.float32), TWO), "32-bit numbers.*astype"),
        (RidgeClassifier().fit(CODES, np.column_stack([TWO == "good", CODES[:, 0]])), "several labels at once"),
        (
            make_pipeline(OrdinalEncoder(dtype=np.float32), StandardScaler(), LinearSVC()).fit(CODES, TWO),
            "encoded in 32 bits.*dtype='float64'",
        ),
        (refitted(LogisticRegression(), coef_=np.full((1, 4), np.nan)), "coef_ that are not finite"),
        (refitted(LogisticRegression(), coef_=np.ones((1, 3))), r"shape \(1, 3\)"),
        (refitted(LogisticRegression(), coef_=np.array([["a"] * 4])), "of the type <U1"),
        (refitted(LogisticRegression(), intercept_=np.ones(2)), "2 intercepts for 1 scores"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_refused(model: Any, words: str) -> None:
    with pytest.raises((Unsupported, FormatError), match=words):
        quia.load(model)


@pytest.mark.parametrize(
    ("final", "y", "label", "words"),
    [
        (LinearSVC(), TWO, "bad >= 0.3", "of which the LinearSVC has none"),
        (LogisticRegression(), THREE, "low >= 0.3", "of 3 classes, whose probabilities are no sums"),
        (LogisticRegression(), TWO, max, "label is a function"),
        (LogisticRegression(), TWO, "bad >= 1.5", "every row into one class"),
        (LogisticRegression(), TWO, "bat >= 0.5", "did you mean 'bad'"),
    ],
)
def test_labels_that_are_refused(final: Any, y: Any, label: Any, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        quia.load(make_pipeline(StandardScaler(), final).fit(X, y), label=label)


def test_cutoffs_that_are_none() -> None:
    rows, values = np.array([[0.0], [1.0]]), [0, 1]
    regression = LinearRegression().fit(rows, values)
    for threshold in (True, [0.5, True], "high", [2, 1], np.nan):
        with pytest.raises(Unsupported, match=r"threshold is .*; give a number, or a list of numbers that ascend"):
            quia.load(regression, threshold=threshold)
    with pytest.raises(Unsupported, match=r"no option 'cutoff'; give threshold= or, .*label='CLASS >= NUMBER'"):
        quia.load(LogisticRegression().fit(rows, values), cutoff=0.3)
