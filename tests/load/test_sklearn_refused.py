"""What cannot be explained exactly is refused by name, with a cure; dummies made by hand are one variable."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.impute import KNNImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import quia
from quia.errors import QuiaError, Unsupported
from quia.load.sklearn import heads as loading
from quia.load.sklearn.one_hot import LooksOneHot

X = np.random.default_rng(0).normal(1, 1, (80, 3))
Y = (X[:, 0] > X[:, 1]).astype(int)


@pytest.mark.parametrize(
    "step",
    [PCA(2), Normalizer(), PolynomialFeatures(), PowerTransformer(), KNNImputer(), FunctionTransformer(np.expm1)],
)
def test_steps_that_cannot_be_inverted(step: Any) -> None:
    model = make_pipeline(StandardScaler(), step, DecisionTreeClassifier()).fit(X, Y)
    with pytest.raises(Unsupported, match=f"step '{type(step).__name__.lower()}'") as refused:
        quia.load(model)
    assert refused.value.cure


def test_a_step_within_steps_is_named_by_its_path() -> None:
    inner = make_pipeline(StandardScaler(), PCA(1))
    model = make_pipeline(ColumnTransformer([("numbers", inner, [0, 1])]), DecisionTreeClassifier()).fit(X, Y)
    with pytest.raises(Unsupported, match=r"step 'columntransformer\.numbers\.pca' is a PCA"):
        quia.load(model)


class Contrary(DecisionTreeClassifier):
    def predict(self, X: Any, check_input: bool = True) -> Any:
        return 1 - super().predict(X)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KNeighborsClassifier().fit(X, Y), "decides by the nearest rows"),
        (DecisionTreeClassifier(), "not fitted"),
        (DecisionTreeClassifier().fit(X, np.column_stack([Y, 1 - Y])), "2 outputs"),
        (DecisionTreeRegressor().fit(X, Y), "label"),
        (Contrary().fit(X, Y), "derived from DecisionTreeClassifier"),
        (make_pipeline(StandardScaler(), DummyClassifier()).fit(X, Y), "is neither of decision trees nor a sum"),
    ],
)
def test_models_that_are_no_trees(model: Any, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        quia.load(model)


@pytest.mark.parametrize(
    "options",
    [
        {"label": "3 >= 0.5"},
        {"label": "1 = 0.5"},
        {"label": "1 >= much"},
        {"label": 0.5},
        {"features": ["a", "b"]},
        {"features": ["a", "b", "a"]},
        {"features": "abc"},
        {"classes": ["only one"]},
        {"classes": ["same", "same"]},
        {"one_hot": ["x0", "x1"]},
        {"one_hot": {"g": ["x0", "nope"]}},
        {"one_hot": {"g": ["x0"]}},
        {"one_hot": {"g": ["x0", "x0"]}},
        {"one_hot": {"x2": ["x0", "x1"]}},
        {"lable": "1 >= 0.5"},
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        quia.load(DecisionTreeClassifier().fit(X, Y), **options)


@pytest.mark.parametrize(
    "label", ["low < 1 < high", "low", "< 1 <=", "low < 2 <= mid < 1 <= high", "a < 1 <= a", [2, 1], [], "a < x <= b"]
)
def test_bands_that_make_no_sense(label: Any) -> None:
    with pytest.raises(Unsupported):
        quia.load(DecisionTreeRegressor().fit(X, Y), label=label)


def test_values_that_no_encoder_knows() -> None:
    """A bin that was empty when the encoder was fitted: the model would raise there, so it is refused."""
    x = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="uniform")
    model = make_pipeline(bins, OneHotEncoder(), DecisionTreeClassifier()).fit(x, [0, 1, 1, 0, 1])
    with pytest.raises(Unsupported, match="knows only the values"):
        quia.load(model)


def test_the_self_check_finds_a_wrong_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    right = loading.tree_of

    def wrong(estimator: Any) -> Any:
        tree = right(estimator)
        threshold = tree.threshold.copy()
        threshold[0] = np.nextafter(np.float32(threshold[0]), np.float32(9))
        return tree._replace(threshold=threshold.astype(np.float64))

    monkeypatch.setattr(loading, "tree_of", wrong)
    with pytest.raises(QuiaError, match="does not decide as the model does"):
        quia.load(model)
    assert quia.load(model, check=False)


def dummies() -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], 200)
    raw = pd.DataFrame({"age": rng.integers(20, 60, 200).astype(float), "colour": colours})
    y = ((raw.age > 40) ^ (raw.colour == "red") ^ (raw.colour == "blue") & (raw.age > 30)).to_numpy().astype(int)
    wide = pd.get_dummies(raw, columns=["colour"], dtype=float)
    return raw, wide, y


def test_dummies_are_one_variable() -> None:
    raw, wide, y = dummies()
    model = DecisionTreeClassifier(random_state=0).fit(wide, y)
    graph = quia.load(model, one_hot={"colour": ["colour_blue", "colour_green", "colour_red"]})
    assert [v.name for v in graph.variables] == ["age", "colour"]
    assert graph.variables[1].labels == ("blue", "green", "red")
    for row, their in zip(raw.to_dict("records"), model.predict(wide), strict=True):
        assert graph.classify(row) == str(their)
        assert "colour_" not in str(quia.explain(graph, row).complete_reason)


def test_dummies_without_the_first() -> None:
    raw, wide, y = dummies()
    wide = wide.drop(columns="colour_blue")
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)).fit(wide, y)
    groups = {"colour": {"red": "colour_red", "green": "colour_green", "blue": None}}
    graph = quia.load(model, one_hot=groups)
    for row, their in zip(raw.to_dict("records"), model.predict(wide), strict=True):
        assert graph.classify(row) == str(their)


def test_columns_that_look_like_dummies() -> None:
    _, wide, y = dummies()
    model = DecisionTreeClassifier(random_state=0).fit(wide, y)
    said = r"colour_blue, colour_green, colour_red look like one .*one_hot=\{'colour'"
    with pytest.warns(LooksOneHot, match=said) as warned:
        quia.load(model)
    assert warned[0].filename == __file__, "it points at the caller, not into quia"
    # Whatever the folder of the caller is called: a clone is called quia too.
    for file in ("/home/ada/quia/mine.py", "/home/ada/src/quia/load/mine.py", "/home/ada/mine.py"):
        with pytest.warns(LooksOneHot) as warned:
            exec(compile("quia.load(model)", file, "exec"), {"quia": quia, "model": model, "__name__": "mine"})
        assert warned[0].filename == file
    quia.load(DecisionTreeClassifier(random_state=0).fit(wide[["age", "colour_red"]], y))  # one alone is no group
