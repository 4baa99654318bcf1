"""scikit-learn's naive Bayes classifiers decide as their own `predict`, in every kind of column that they take."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

import quia
from quia.errors import FormatError, InstanceError, Unsupported

sys.path.insert(0, str(Path(__file__).parent))
from boundaries import rows_beside, same_but_for_rounding

RNG = np.random.default_rng(0)
X = RNG.normal([0, 40, -3], [1, 12, 0.1], (150, 3))
Z = (X - X.mean(axis=0)) / X.std(axis=0) @ [1, -1, 0.5] + RNG.normal(0, 0.7, 150)
TWO, THREE = np.where(Z > 0, "good", "bad"), np.array(["high", "low", "middle"])[np.digitize(Z, [-0.7, 0.7])]
COUNTS = np.clip(np.round((X - X.mean(axis=0)) / X.std(axis=0) * 2 + 3), 0, 6).astype(int)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("steps", [[], [StandardScaler()]], ids=["raw", "scaled"])
def test_gaussian(y: Any, steps: Any) -> None:
    """What is added is quadratic in the number; we differ from scikit-learn only where its scores are equal."""
    model = make_pipeline(*steps, GaussianNB()).fit(X, y)
    loaded = quia.load(
        skops.io.loads(skops.io.dumps(model)), data=X.mean(axis=0) + 3 * (X - X.mean(axis=0)), check=False
    )
    assert 0 < loaded.margin < 1e-8

    def joint(rows: Any) -> Any:
        for step in steps:
            rows = step.transform(rows)
        return model[-1].predict_joint_log_proba(rows)

    def gap(rows: Any) -> Any:
        scores = joint(rows)
        return scores.max(axis=1) - scores[:, 0]

    beside = [
        rows_beside(gap, X[:12], column, *(X[:, column].mean() + 3 * X[:, column].std() * np.array([-s, s])))
        for column in range(3)
        for s in (0.3, 0.9)
    ]
    rows = np.vstack([X, *beside])
    assert len(rows) > 250
    same = [same_but_for_rounding(loaded, row, their) for row, their in zip(rows, model.predict(rows), strict=True)]
    assert all(same[:150])
    assert sum(same) > 0.8 * len(same)
    scores = np.array([loaded.scores(loaded.encode(row)) for row in X[:20]])
    assert np.abs(scores - joint(X[:20])).max() <= loaded.margin


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "final",
    [
        MultinomialNB(),
        ComplementNB(norm=True),
        BernoulliNB(binarize=2.5),
        BernoulliNB(),
        BernoulliNB(binarize=None),
        CategoricalNB(),
    ],
    ids=str,
)
def test_counts_and_codes(final: Any, y: Any) -> None:
    """Counts are lines, thresholds are cuts, codes are categories."""
    kind, binarize = type(final), getattr(final, "binarize", None)
    seen = COUNTS if kind is not BernoulliNB or binarize is not None else np.minimum(COUNTS, 1)
    model = final.fit(seen, y)
    loaded = quia.load(model, data=seen)
    for variable in loaded.variables:
        if kind is CategoricalNB:
            assert variable.labels == tuple(map(str, range(len(variable.labels))))
        elif binarize is not None:
            assert [cut.threshold for cut in variable.cuts] == [binarize]
        else:
            assert variable.is_line
    rows = seen.astype(float)
    if binarize is not None:
        some = [binarize, np.nextafter(binarize, 9), np.nextafter(binarize, -9), 5.0, -1.0]
        rows = np.random.default_rng(1).choice(some, (200, 3))
    for row, their in zip(rows, model.predict(rows), strict=True):
        assert same_but_for_rounding(loaded, row, their)
    if kind is CategoricalNB:  # it adds in order, so that the sums are the same to the last bit
        sums = [loaded.scores(loaded.encode(row)) for row in rows]
        assert np.array_equal(sums, model.predict_joint_log_proba(seen))
        with pytest.raises(InstanceError, match="x1 is 7"):
            loaded.classify([0, 7, 0])


@pytest.mark.parametrize("final", [CategoricalNB(), BernoulliNB(), MultinomialNB(), GaussianNB()], ids=str)
def test_in_pipelines(final: Any) -> None:
    """Encoded categories and bins are explained as the raw columns, with what encoders make of unknown ones."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"job": rng.choice(["none", "new", "old"], 150), "size": X[:, 0], "town": rng.integers(0, 2, 150)}
    )
    y = np.where(X[:, 0] + (frame.job == "old") > 0.5, "yes", "no")
    if isinstance(final, CategoricalNB):
        coding: Any = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    else:
        coding = OneHotEncoder(handle_unknown="ignore")
        bins = KBinsDiscretizer(3, encode="onehot", strategy="uniform")
    ways = ColumnTransformer([("c", coding, ["job", "town"]), ("n", bins, ["size"])], sparse_threshold=0)
    model = make_pipeline(ways, final).fit(frame, y)
    loaded = quia.load(model)
    assert [v.name for v in loaded.variables] == ["job", "size", "town"]
    assert len(loaded.variables[1].cuts) == 2
    rows = frame.copy()
    if isinstance(final, CategoricalNB):
        assert loaded.variables[0].other is None, "it refuses the code -1"
    else:
        rows.loc[::9, "job"] = "king"
    cuts = [cut.threshold for cut in loaded.variables[1].cuts]
    rows["size"] = rng.choice([*cuts, *np.nextafter(cuts, 99), *np.nextafter(cuts, -99), *X[:9, 0]], 150)
    theirs = model.predict(rows)
    for row, their in zip(rows.to_dict("records"), theirs, strict=True):
        assert same_but_for_rounding(loaded, row, their)


@pytest.mark.parametrize("label", ["bad >= 0.3", "good > 0.7", "good >= 0.2"])
@pytest.mark.parametrize("final", [GaussianNB(), BernoulliNB(binarize=2.5)], ids=str)
def test_a_cut_off_of_a_probability(final: Any, label: str) -> None:
    """A cut-off decides as the model's own predict_proba, but for rounding."""
    seen = X if isinstance(final, GaussianNB) else COUNTS.astype(float)
    model = final.fit(seen, TWO)
    loaded = quia.load(model, data=seen, label=label)
    name, sign, limit = label.split()

    def share(rows: Any) -> Any:
        return model.predict_proba(rows)[:, ["bad", "good"].index(name)]

    beside = rows_beside(lambda rows: share(rows) - float(limit), seen[:20], 0, seen[:, 0].min(), seen[:, 0].max())
    rows = np.vstack([seen, beside])
    reached = share(rows) >= float(limit) if sign == ">=" else share(rows) > float(limit)
    other = {"bad": "good", "good": "bad"}[name]
    same = [same_but_for_rounding(loaded, r, name if is_in else other) for r, is_in in zip(rows, reached, strict=True)]
    assert all(same[:150])
    assert {loaded.classify(row) for row in rows} == {"bad", "good"}


def refitted(final: Any, **attributes: Any) -> Any:
    fitted = final.fit(COUNTS, TWO)
    for name, value in attributes.items():
        setattr(fitted, name, value)
    return fitted


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (GaussianNB().fit(X, TWO), {"label": "bad >= 0.99"}, r"too close to 1.*label='good > 0.01'"),
        (GaussianNB().fit(X, THREE), {"label": "low >= 0.5"}, "of 3 classes"),
        (GaussianNB().fit(X, TWO), {"label": "bad >= 2"}, "every row into one class"),
        (GaussianNB().fit(X, [1] * 150), {}, "a single class"),
        (make_pipeline(MinMaxScaler(clip=True), GaussianNB()).fit(X, TWO), {}, "clipped before they are squared"),
        (make_pipeline(MinMaxScaler(), CategoricalNB()).fit(X, TWO), {}, "knows only the values 0"),
        (refitted(GaussianNB(), var_=np.zeros((2, 3))), {}, "a variance of 0"),
        (refitted(BernoulliNB(), feature_log_prob_=np.zeros((2, 3))), {}, "a probability of 0.*alpha above 0"),
        (refitted(MultinomialNB(), feature_log_prob_=np.full((2, 3), -np.inf)), {}, "not finite"),
        (refitted(CategoricalNB(), feature_log_prob_=[np.full((2, 3), -np.inf)] * 3), {}, "alpha above 0"),
        (refitted(CategoricalNB(), feature_log_prob_=[np.ones((3, 3))] * 3), {}, "damaged"),
        (refitted(CategoricalNB(), feature_log_prob_=[np.ones((2, 3))]), {}, "3 columns, but tables of 1"),
        (refitted(MultinomialNB(), class_log_prior_=np.zeros(3)), {}, r"shape \(3,\)"),
    ],
    ids=lambda value: None if isinstance(value, (str, dict)) else type(value).__name__,
)
def test_what_is_refused(model: Any, options: Any, words: str) -> None:
    with pytest.raises((Unsupported, FormatError), match=words):
        quia.load(model, **options)
