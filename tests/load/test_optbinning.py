"""Scorecards of optbinning: its own scores and decisions, at the splits and beside them, and reasons by brute force.

optbinning needs solvers of hundreds of megabytes to choose among bins. Here all bins are kept, and where the solvers
are not installed, empty modules stand in for them; all else, from the first bins to the scores, is optbinning's own.
"""

import importlib.util
import math
import pickle
import random
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

import quia
from quia.errors import QuiaError, Unsupported
from quia.load.agreement import check as check_agreement
from quia.load.pickle import UnsafePickle

sys.path.append(str(Path(__file__).parent))
from test_reasons_of_models import check

pd = pytest.importorskip("pandas")
linear_model = pytest.importorskip("sklearn.linear_model")
if "ortools" not in sys.modules and importlib.util.find_spec("ortools") is None:
    for _name in ("ortools", "ortools.linear_solver", "ortools.sat", "ortools.sat.python", "ropwr"):
        sys.modules.setdefault(_name, MagicMock())
optbinning = pytest.importorskip("optbinning", reason="optbinning is not installed: pip install --no-deps optbinning")

pytestmark = pytest.mark.filterwarnings("ignore")

TOWNS = ["Ghent", "Bruges", "missing", "Ostend"]
SCALE = {"pdo": 20, "odds": 1, "scorecard_points": 600}


@pytest.fixture(autouse=True)
def _all_bins_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(self: Any, splits: Any, n_nonevent: Any, n_event: Any) -> None:
        self._status, self._splits_optimal = "OPTIMAL", splits
        self._solution = np.ones(len(n_nonevent), bool)
        self._time_solver = 0.0

    monkeypatch.setattr(optbinning.OptimalBinning, "_fit_optimizer", keep)


def table(rows: int = 400, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(
        {
            "age": rng.normal(40, 10, rows).round(1),
            "income": rng.normal(3, 1, rows),
            "town": pd.Series(rng.choice(TOWNS, rows), dtype=object),
            "loans": rng.integers(0, 4, rows).astype(float),
            "noise": rng.normal(size=rows),
        }
    )
    x.loc[rng.random(rows) < 0.1, "age"] = np.nan
    x.loc[rng.random(rows) < 0.1, "income"] = rng.choice([-99, -98])
    x.loc[rng.random(rows) < 0.1, "town"] = None
    return x


def card(estimator: Any = None, special: Any = None, bins: int = 5, **options: Any) -> Any:
    x = table()
    y = (x["age"].fillna(50) / 10 - x["income"].clip(0, 9) + (x["town"] == "Ghent") > 1.3).astype(int)
    process = optbinning.BinningProcess(
        list(x.columns),
        categorical_variables=["town"],
        special_codes=special,
        max_n_prebins=bins,
        selection_criteria={"iv": {"top": 4, "strategy": "highest"}},
    )
    how = {"scaling_method": "pdo_odds", "scaling_method_params": SCALE} | options
    metrics = {name: how.pop(name) for name in ("metric_special", "metric_missing") if name in how}
    made = optbinning.Scorecard(process, estimator or linear_model.LogisticRegression(), **how)
    return made.fit(x, y, **metrics)


def rows_beside(classifier: Any, count: int, seed: int = 1) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        row: dict[str, Any] = {}
        for variable in classifier.variables:
            if variable.labels is not None:
                codes = [float(label) for label in variable.labels if label.startswith("-")]
                row[variable.name] = rng.choice([*TOWNS, *TOWNS, *codes, "Paris", None, math.nan])
            else:
                cut = rng.choice(variable.cuts).threshold
                beside = [math.nextafter(cut, -math.inf), cut, math.nextafter(cut, math.inf)]
                row[variable.name] = rng.choice([*beside, *beside, rng.gauss(3, 2), math.inf, -math.inf, math.nan])
        rows.append(row)
    return rows


def frame(source: Any, rows: list[dict[str, Any]]) -> Any:
    made = pd.DataFrame(rows).reindex(columns=source.binning_process_.variable_names)
    made["town"] = pd.Series([row.get("town") for row in rows], dtype=object)
    return made


CARDS: dict[str, dict[str, Any]] = {
    "points": {"rounding": True, "intercept_based": True},
    "fractions": {"metric_missing": "empirical", "metric_special": "empirical", "special": [-99.0, -98.0]},
    "special": {"special": {"none": -99, "few": [-98, -97]}, "metric_special": 0.3, "reverse_scorecard": True},
    "unscaled": {"scaling_method": None, "metric_missing": -0.5},
}


@pytest.mark.parametrize("which", CARDS)
def test_scores_and_decisions_are_those_of_optbinning(which: str) -> None:
    source = card(**CARDS[which])
    unbounded = quia.load(source)
    rows = rows_beside(unbounded, 250)
    scores = source.score(frame(source, rows))
    at = float(np.median(scores))
    loaded = quia.load(source, threshold=at, classes=["deny", "grant"])
    assert loaded.kind == "scorecard" and len(loaded.variables) == 4
    assert [loaded.scores(loaded.encode(row))[0] for row in rows] == scores.tolist()
    assert [loaded.classify(row) for row in rows] == ["grant" if score >= at else "deny" for score in scores]
    sums = source.decision_function(frame(source, rows))
    away = np.abs(sums) > unbounded.margin
    assert away.mean() > 0.9
    ours = np.array([unbounded.classify(row) for row in rows])
    assert (ours == source.predict(frame(source, rows)).astype(str))[away].all()
    assert set(ours) == {"0", "1"}


def test_an_unknown_category_is_scored_as_a_missing_one_but_decided_otherwise() -> None:
    """As optbinning does: its index is -1, which is the last row of the points; its weight of evidence is 0."""
    source = card(metric_missing="empirical")
    by_score, by_estimator = quia.load(source, threshold=600), quia.load(source)
    row = {"age": 40, "income": 3, "town": "Paris", "loans": 1, "noise": 0}
    gone = {**row, "town": None}
    assert by_score.scores(by_score.encode(row)) == by_score.scores(by_score.encode(gone))
    assert by_estimator.scores(by_estimator.encode(row)) != by_estimator.scores(by_estimator.encode(gone))


@pytest.mark.parametrize("threshold", [None, "median"])
def test_reasons_by_brute_force(threshold: Any) -> None:
    source = card(bins=3, rounding=True)
    if threshold is not None:
        threshold = float(np.median(source.score(table())))
    loaded = quia.load(source, threshold=threshold, classes=["deny", "grant"])

    def predict(rows: Any) -> list[str]:
        raw = frame(source, [dict(zip([v.name for v in loaded.variables], row, strict=True)) for row in rows])
        yes = source.predict(raw) == 1 if threshold is None else source.score(raw) >= threshold
        return ["grant" if one else "deny" for one in yes]

    check(loaded, predict, random.Random(0), instances=10)
    why = quia.explain(loaded, rows_beside(loaded, 1)[0])
    assert why.count_sufficient() == len(list(why.sufficient_reasons()))
    assert why.count_necessary() == len(list(why.necessary_reasons()))


def test_pickles_and_agreement(tmp_path: Path) -> None:
    source = card()
    assert check_agreement(source, limit=200).holds and check_agreement(source, limit=200, threshold=600).holds
    file = tmp_path / "card.pkl"
    file.write_bytes(pickle.dumps(source))
    with pytest.warns(UnsafePickle):
        assert quia.load(file, trust_pickle=True, threshold=[500, 600]).classes[1] == "500 to below 600"


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source = card()
    with pytest.raises(Unsupported, match="is no fitted scorecard"):
        quia.load(optbinning.Scorecard(optbinning.BinningProcess(["a"]), linear_model.LogisticRegression()))
    with pytest.raises(Unsupported, match="classes are a, b, c; give 2 different names"):
        quia.load(source, classes=["a", "b", "c"])
    monkeypatch.setattr(type(source), "score", lambda self, x: np.zeros(len(x)))
    with pytest.raises(QuiaError, match="does not score as the scorecard does"):
        quia.load(source, threshold=600)
    source.estimator_ = linear_model.Ridge()
    with pytest.raises(Unsupported, match="the estimator Ridge predicts numbers, and no class; give the cutoff"):
        quia.load(source)
    optbinning.OptimalPWBinning = type("OptimalPWBinning", (), {"dtype": "numerical", "special_codes": None})
    source.binning_process_._binned_variables["age"] = optbinning.OptimalPWBinning()
    with pytest.raises(Unsupported, match="'age' is binned by a OptimalPWBinning"):
        quia.load(source)
