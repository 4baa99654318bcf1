"""Explainable boosting machines: scores to the last bit as interpret adds them, and reasons by brute force."""

import json
import math
import pickle
import random
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quia
from quia.errors import FormatError, QuiaError, TooLarge, Unsupported
from quia.load import ebm, tables_as_trees
from quia.load.agreement import check as check_agreement
from quia.load.pickle import UnsafePickle

sys.path.append(str(Path(__file__).parent))
from test_reasons_of_models import check

pandas = pytest.importorskip("pandas")
glassbox = pytest.importorskip("interpret.glassbox", reason="interpret is not installed: pip install interpret-core")

pytestmark = pytest.mark.filterwarnings("ignore")  # of interpret: missing values are not drawn, JSON may change

NAMES = ["age", "debt", "town", "loans", "child"]
TOWNS = ["Ghent", "Bruges", "missing", "7"]


def table(seed: int, rows: int = 300) -> Any:
    rng = np.random.default_rng(seed)
    x = pandas.DataFrame(
        {
            "age": np.round(rng.normal(size=rows), 1),
            "debt": rng.normal(size=rows),
            "town": rng.choice(TOWNS, rows).astype(object),
            "loans": rng.integers(0, 3, rows),
            "child": rng.choice([True, False], rows),
        }
    )
    x.loc[rng.random(rows) < 0.1, "age"] = np.nan
    x.loc[rng.random(rows) < 0.1, "town"] = None
    return x


def target(x: Any) -> Any:
    return x["age"].fillna(1.0) * x["debt"] + (x["town"] == "Ghent") - x["loans"] / 2 + x["child"]


def machine(classes: int = 2, interactions: Any = 0, seed: int = 0, **options: Any) -> Any:
    kind = glassbox.ExplainableBoostingRegressor if classes == 1 else glassbox.ExplainableBoostingClassifier
    x = table(seed)
    y = target(x) if classes == 1 else np.digitize(target(x), [0.2, 1.0][: classes - 1])
    types = [None, None, None, "nominal", None]
    made = kind(
        feature_types=types,
        interactions=interactions,
        outer_bags=1,
        max_rounds=40,
        n_jobs=1,
        **{"max_bins": 12, **options},
    )
    return made.fit(x, y)


def rows_beside(classifier: Any, seed: int, count: int) -> Any:
    """Values at the cuts, one ulp beside, missing, infinite, and categories seen and unseen."""
    rng = random.Random(seed)
    rows = np.empty((count, len(classifier.variables)), object)
    for at, column in product(range(count), range(len(classifier.variables))):
        variable = classifier.variables[column]
        if variable.labels is not None:
            known = [label for label in variable.labels if label not in (variable.other, variable.no_value)]
            rows[at, column] = rng.choice([*known, *known, "elsewhere", None, math.nan])
        else:
            cut = rng.choice([cut.threshold for cut in variable.cuts] or [0.0])
            beside = [math.nextafter(cut, -math.inf), cut, math.nextafter(cut, math.inf)]
            rows[at, column] = rng.choice([*beside, *beside, rng.gauss(0, 2), math.inf, -math.inf, math.nan])
    return rows


def as_json(model: Any) -> dict[str, Any]:
    return json.loads(json.dumps(model.to_jsonable("minimal")))


def written(folder: Path, content: Any) -> Path:
    file = folder / "machine.json"
    file.write_text(json.dumps(content, indent=2))
    return file


@pytest.mark.parametrize("interactions", [0, 3, [(0, 1, 2), (1, 3)]], ids=["alone", "pairs", "three"])
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_and_classes_are_those_of_interpret(classes: int, interactions: Any, tmp_path: Path) -> None:
    model = machine(classes, interactions)
    loaded = quia.load(model)
    assert type(loaded).__name__ == ("Additive" if interactions == 0 else "Ensemble")
    assert loaded.kind == "explainable boosting machine" and loaded.classes == ("0", "1", "2")[:classes]
    assert loaded.variables[2].no_value == "(missing)"  # there is a town of that name
    rows = rows_beside(loaded, seed=1, count=250)
    expected = model.decision_function(rows).reshape(len(rows), -1)
    decided = [str(label) for label in model.predict(rows)]
    assert len(set(decided)) == classes
    saved = quia.load(written(tmp_path, as_json(model)))
    in_order = ebm._version() >= (0, 7, 6)
    for each in (loaded, saved) if in_order or interactions == 0 else (loaded,):
        scores = np.array([each.scores(each.encode(list(row))) for row in rows])
        assert (scores == expected).all()
        assert [each.classify(list(row)) for row in rows] == decided


def test_regressors_decide_by_a_threshold() -> None:
    model = machine(1)
    rows = rows_beside(quia.load(model, threshold=0.0), seed=2, count=200)
    at = float(model.predict(rows)[0])
    loaded = quia.load(model, threshold=[at, at + 0.5], classes=["poor", "fair", "good"])
    expected = np.digitize(model.predict(rows), [at, at + 0.5])
    assert [loaded.classes.index(loaded.classify(list(row))) for row in rows] == expected.tolist()
    assert loaded.classify(list(rows[0])) == "fair"
    with pytest.raises(Unsupported, match="this regressor predicts numbers, and no class; give the cutoff"):
        quia.load(model)


@pytest.mark.parametrize("interactions", [0, [(0, 1), (1, 3)]], ids=["alone", "pairs"])
@pytest.mark.parametrize("classes", [2, 3])
def test_reasons_by_brute_force(classes: int, interactions: Any) -> None:
    """All worlds and all sets of features, over what interpret predicts."""
    small = {"max_bins": 4, "max_interaction_bins": 4}
    model = machine(classes, interactions, seed=classes, exclude=["town"] if interactions else [], **small)
    loaded = quia.load(model)
    check(
        loaded,
        lambda rows: [str(label) for label in model.predict(np.array(rows, object))],
        random.Random(classes),
        instances=12,
    )
    row = next(iter(rows_beside(loaded, seed=3, count=1)))
    why = quia.explain(loaded, list(row))
    assert why.count_sufficient() == len(list(why.sufficient_reasons()))
    assert why.count_necessary() == len(list(why.necessary_reasons()))


def test_without_missing_values() -> None:
    model = machine()
    loaded = quia.load(model, missing=False)
    assert all(not variable.missing and variable.no_value is None for variable in loaded.variables)
    row = [0.3, 0.1, "Ghent", 1, True]
    assert loaded.classify(row) == str(model.predict(np.array([row], object))[0])


def test_pickles_and_agreement(tmp_path: Path) -> None:
    model = machine(2, 2)
    assert check_agreement(model, limit=300).holds and check_agreement(machine(3), limit=300).holds
    file = tmp_path / "machine.pkl"
    file.write_bytes(pickle.dumps(model))
    with pytest.warns(UnsafePickle):
        loaded = quia.load(file, trust_pickle=True, classes=["no", "yes"])
    assert loaded.classes == ("no", "yes")
    with pytest.warns(UnsafePickle), pytest.raises(Unsupported, match="interpret has no option 'one_hot'"):
        quia.load(file, trust_pickle=True, one_hot={})


def test_a_wrong_reading_is_noticed() -> None:
    """A machine whose predictions are not those of its tables is refused."""
    model = machine()
    model.predict = lambda rows: np.ones(len(rows), int)
    with pytest.raises(QuiaError, match="does not decide as the model does"):
        quia.load(model)


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"has no .*bins_.* give a fitted"):
        quia.load(glassbox.ExplainableBoostingClassifier())
    with pytest.raises(Unsupported, match="threshold is given, but this machine predicts classes"):
        quia.load(machine(), threshold=1)
    model = machine()
    model.link_ = "log"
    with pytest.raises(Unsupported, match="the link 'log'"):
        quia.load(model)
    content = as_json(machine(2, 1))
    with pytest.raises(Unsupported, match=r"version of the file is '2\.0'"):
        quia.load(written(tmp_path, {**content, "version": "2.0"}))


def test_damaged_files(tmp_path: Path) -> None:
    content = as_json(machine(2, 1))
    faults = {
        ("features", 0, "cuts", 0, 0): [1e9, "nan", {}],
        ("features", 2, "categories", 0, 0): [7, ["Bruges", 3], "Bruges"],
        ("features", 1, "name"): ["age", "", 3],
        ("terms", 0, "scores", 0): ["+inf", 1e308, [1.0], {}],
        ("terms", 0, "scores"): [[], [[1.0]]],
        ("features", 3, "categories"): [[], [[]]],
        ("terms", -1, "term_features"): [[], ["age", "age"], ["nobody"]],
        ("intercept",): [[], [1.0, 2.0], ["nan"]],
        ("outputs", 0, "classes"): [[0], [1, 1], [0, 1, 2], 5],
        ("outputs",): [[], {}],
    }
    for path, values in faults.items():
        for value in values:
            damaged = json.loads(json.dumps(content))
            *inner, last = path
            place = damaged["ebm"]
            for key in inner:
                place = place[key]
            place[last] = value
            with pytest.raises((FormatError, Unsupported)):
                quia.load(written(tmp_path, damaged))


def test_tables_with_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_as_trees, "MOST_CELLS", 50)
    with pytest.raises(TooLarge, match="more than 50 cells"):
        quia.load(machine(2, 1))
