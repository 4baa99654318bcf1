"""Reasons of loaded models, by brute force over what the model's own library predicts on raw rows."""

import math
import random
import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import oracle
import quia
from quia.load import pmml

sys.path.append(str(Path(__file__).parent))
from test_pmml import Evaluator, Model


def values_of(variable):
    """A raw value for each state of a variable."""
    if variable.labels is not None:
        special = {variable.other: "nor of this"} | {variable.no_value: None}
        return [special.get(label, label) for label in variable.labels]
    numbers = list(variable.below)
    above = np.float32(numbers[-1] if numbers else 0.0) if variable.single else (numbers[-1] if numbers else 0.0)
    numbers.append(float(np.nextafter(above, type(above)(math.inf))))
    return numbers + [math.nan] * variable.missing


def check(graph, predict, rng, instances=6):
    """Compare the reasons for some instances with all subsets of features on all worlds."""
    domains = [values_of(v) for v in graph.variables]
    for variable, domain in zip(graph.variables, domains, strict=True):
        assert [variable.encode(value) for value in domain] == list(range(variable.size))
    worlds = list(product(*(range(len(domain)) for domain in domains)))
    rows = [[domain[s] for domain, s in zip(domains, world, strict=True)] for world in worlds]
    classes = dict(zip(worlds, predict(rows), strict=True))
    names = [v.name for v in graph.variables]
    subsets = [set(c) for size in range(len(names) + 1) for c in combinations(range(len(names)), size)]
    for _ in range(instances):
        which = rng.randrange(len(worlds))
        mine = worlds[which]
        wrong = [w for w in worlds if classes[w] != classes[mine]]
        changed = [{i for i in range(len(names)) if w[i] != mine[i]} for w in wrong]
        enough = [s for s in subsets if all(s & change for change in changed)]
        why = quia.explain(graph, dict(zip(names, rows[which], strict=True)))
        assert why.decision == classes[mine]
        for found, expected in (
            (why.sufficient_reasons(), oracle.minimal(map(frozenset, enough))),
            (why.necessary_reasons(), oracle.minimal(map(frozenset, changed))),
        ):
            assert {frozenset(r.features) for r in found} == {frozenset(names[i] for i in e) for e in expected}
            assert found.exact_count() == len(expected)


@pytest.mark.parametrize("block", range(4))
def test_pmml(block):
    for seed in range(block * 12, block * 12 + 12):
        model = Model(random.Random(seed))
        graph = pmml.read(model.text.encode())
        if math.prod(v.size for v in graph.variables) <= 600:
            evaluate = Evaluator(model.text).classify
            names = [v.name for v in graph.variables]
            check(
                graph,
                lambda rows: [evaluate(dict(zip(names, r, strict=True))) or pmml.NO_PREDICTION for r in rows],
                random.Random(seed),
            )


@pytest.mark.parametrize("seed", range(3))
def test_xgboost_with_missing_values(seed):
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(200, 4)), 1)
    y = ((x[:, 0] > 0) ^ (x[:, 1] > 0.5) | (x[:, 2] > 1)).astype(int)
    x[rng.random(x.shape) < 0.2] = np.nan
    model = xgboost.XGBClassifier(n_estimators=1, max_depth=3, learning_rate=1.0).fit(x, y)
    graph = quia.load(model)
    check(graph, lambda rows: [str(c) for c in model.predict(np.array(rows))], random.Random(seed))


@pytest.mark.parametrize("seed", range(3))
def test_lightgbm_with_categories(seed):
    lightgbm, pandas = pytest.importorskip("lightgbm"), pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    colours = ["red", "green", "blue", "black"]
    colour, number = rng.choice(colours, 300), rng.normal(size=300)

    def table(rows):
        made = pandas.DataFrame(rows, columns=["number", "colour", "other"])
        return made.assign(
            number=made["number"].astype(float),
            other=made["other"].astype(float),
            colour=pandas.Categorical(made["colour"], categories=colours),
        )

    x = table(list(zip(number, colour, rng.normal(size=300), strict=True)))
    y = ((number > 0) ^ np.isin(colour, ["red", "blue"])).astype(int)
    model = lightgbm.LGBMClassifier(
        n_estimators=1, num_leaves=6, min_child_samples=2, min_data_per_group=2, learning_rate=1.0, n_jobs=1, verbose=-1
    ).fit(x, y)
    graph = quia.load(model)
    assert graph.variables[1].labels == (*colours, "missing")
    check(
        graph,
        lambda rows: [str(int(p > 0.5)) for p in model.booster_.predict(table(rows))],
        random.Random(seed),
    )


ADDITIVE = [
    "linear_model.LogisticRegression",
    "linear_model.LogisticRegressionCV",
    "svm.LinearSVC",
    "linear_model.SGDClassifier",
    "linear_model.RidgeClassifier",
    "linear_model.RidgeClassifierCV",
    "linear_model.Perceptron",
    "discriminant_analysis.LinearDiscriminantAnalysis",
    "naive_bayes.CategoricalNB",
    "naive_bayes.BernoulliNB",
    "naive_bayes.MultinomialNB",
    "naive_bayes.ComplementNB",
    "naive_bayes.GaussianNB",
]


@pytest.mark.parametrize("several", [False, True], ids=["two classes", "three classes"])
@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.filterwarnings("ignore")
def test_additive_models_of_scikit_learn(name, several):
    """Categories, bins and missing values, encoded in a pipeline: the reasons are those of its own predict."""
    pytest.importorskip("sklearn")
    from importlib import import_module

    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

    rng = np.random.default_rng(len(name) + several)
    module, _, kind = name.rpartition(".")
    final = getattr(import_module(f"sklearn.{module}"), kind)(
        **({"Cs": 2, "cv": 2} if kind.endswith("CV") and "Logistic" in kind else {})
    )
    jobs, towns = ["none", "new", "old"], ["here", "there"]
    x = pd.DataFrame(
        {
            "job": rng.choice(jobs, 200),
            "age": np.where(rng.random(200) < 0.15, np.nan, rng.integers(18, 80, 200)),
            "town": rng.choice(towns, 200),
            "sum": rng.normal(size=200),
        }
    )
    score = x.job.map({"none": -1, "new": 0.4, "old": 1}) + x.age.fillna(30) / 40 + (x.town == "here") + x["sum"]
    y = np.digitize(score + rng.normal(0, 0.5, 200), [1.6, 2.6] if several else [2])
    codes = kind == "CategoricalNB"
    encode = "ordinal" if codes else "onehot-dense"
    bins = make_pipeline(SimpleImputer(), KBinsDiscretizer(3, encode=encode, strategy="uniform"))
    coding = OrdinalEncoder() if codes else OneHotEncoder(sparse_output=False, drop="if_binary")
    ways = ColumnTransformer([("c", coding, ["job", "town"]), ("n", bins, ["age", "sum"])])
    model = make_pipeline(ways, final).fit(x, y)
    loaded = quia.load(model)
    assert isinstance(loaded, quia.Additive)
    assert [v.size for v in loaded.variables] == [3, 4, 2, 4]  # three bins and a missing value

    def predict(rows):
        return [str(their) for their in model.predict(pd.DataFrame(rows, columns=x.columns))]

    check(loaded, predict, random.Random(0), instances=4)
