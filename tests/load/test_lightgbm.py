"""LightGBM: our class is LGBMClassifier.predict's, on random models, for every way to say what is missing."""

import contextlib
import random

import numpy as np
import pytest

import quia
from quia.load import lightgbm as loader

lightgbm = pytest.importorskip("lightgbm")


def probes(booster, columns, rng, count):
    tree = dict(line.split("=", 1) for line in booster.model_to_string().split("\n") if "=" in line)
    cut = list(zip(tree["split_feature"].split(), map(float, tree["threshold"].split()), strict=True))
    tiny = 1.0000000180025095e-35
    rows = np.empty((count, columns))
    for c in range(columns):
        t = rng.choice([value for which, value in cut if int(which) == c] or [0.0], count)
        zero = rng.choice([0.0, tiny, -tiny, np.nextafter(tiny, 1), np.nextafter(-tiny, -1)], count)
        moves = [
            t,
            np.nextafter(t, -np.inf),
            np.nextafter(t, np.inf),
            np.full(count, np.nan),
            zero,
            rng.normal(size=count),
        ]
        rows[:, c] = np.choose(rng.integers(0, len(moves), count), moves)
    return rows


def fitted(x, y, rng, categories="auto", **options):
    model = lightgbm.LGBMClassifier(
        n_estimators=1,
        num_leaves=int(rng.integers(2, 20)),
        min_child_samples=2,
        min_data_per_group=2,
        cat_smooth=1,
        learning_rate=1.0,
        random_state=0,
        n_jobs=1,
        verbose=-1,
        **options,
    )
    return model.fit(x, y, categorical_feature=categories)


def predicted(model, rows):
    # The Booster's own numbers, turned into classes as LGBMClassifier.predict does.
    result = model.booster_.predict(rows)
    if result.ndim == 1:
        result = np.column_stack([1.0 - result, result])
    return [str(c) for c in model.classes_[np.argmax(result, axis=1)]]


@pytest.mark.parametrize("seed", range(16))
def test_numbers_and_missing_values(seed, tmp_path):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(300, 4)), int(rng.integers(0, 6)))
    if seed % 2:
        x[rng.random(x.shape) < 0.15] = np.nan
    x[rng.random(x.shape) < 0.2] = 0.0
    score = np.nan_to_num(x[:, 0]) - 2 * (np.nan_to_num(x[:, 1]) > 0.3) + rng.normal(size=300) * 0.3
    options = [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting_type": "rf", "subsample": 0.9, "subsample_freq": 1},
    ]
    model = fitted(x, np.where(score > -0.5, "yes", "no"), rng, **options[seed // 2 % 4])
    graph = quia.load(model)
    assert graph.classes == ("no", "yes")
    assert len(graph.variables) == 4
    rows = probes(model.booster_, 4, rng, 1500)
    expected = predicted(model, rows)
    assert [graph.classify(row) for row in rows.tolist()] == expected
    assert len(set(expected)) == 2
    file = tmp_path / "model.txt"
    model.booster_.save_model(file)
    numbered = quia.load(file)
    assert [graph.classes[int(numbered.classify(row))] for row in rows[:100].tolist()] == expected[:100]


@pytest.mark.parametrize("seed", range(4))
def test_categories(seed):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    names = [f"name {i}" for i in range(40)]
    colour, number = rng.choice(names, 600), rng.normal(size=600)
    table = pandas.DataFrame({"n": number, "colour": pandas.Categorical(colour, categories=names), "unused": 0.0})
    table.loc[rng.random(600) < 0.1, "colour"] = None
    y = ((number > 0) ^ np.isin(colour, names[:13])).astype(int)
    model = fitted(table, y, rng)
    graph = quia.load(model)
    expected = predicted(model, table)
    rows = table.astype(object).to_dict("records")
    assert [graph.classify(row) for row in rows] == expected
    unseen = table.head(50).assign(colour=pandas.Categorical(["never seen"] * 50))
    assert [graph.classify(r) for r in unseen.astype(object).to_dict("records")] == predicted(model, unseen)
    # The same without names: categories are codes.
    coded = np.column_stack([number, rng.integers(-1, 70, 600), np.zeros(600)])
    plain = fitted(coded, ((coded[:, 1] % 3 == 0) ^ (number > 0)).astype(int), rng, [1])
    graph = quia.load(plain)
    assert graph.variables[1].other == "any other" or 1 not in graph.tested
    coded[:100, 1] = np.nan
    coded[100:200, 1] += 50
    assert [graph.classify(row) for row in coded.tolist()] == predicted(plain, coded)


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
def test_several_classes_on_one_tree(objective):
    """Two of three trees are cut back to a leaf, so that the class is a function of the third."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 2))
    model = fitted(x, np.digitize(x[:, 0], [-0.5, 0.5]), rng, objective=objective)
    assert len(quia.load(model).trees) == 3
    head, *trees = model.booster_.model_to_string().split("\nTree=")
    first, second, third = trees[0], "1\nnum_leaves=1\nnum_cat=0\nleaf_value=-1.2\nis_linear=0\nshrinkage=1\n", trees[2]
    third = (
        "2\nnum_leaves=1\nnum_cat=0\nleaf_value=-0.4\nis_linear=0\nshrinkage=1\n\n\nend of trees"
        + third.partition("end of trees")[2]
    )
    head = "\n".join(line for line in head.split("\n") if not line.startswith("tree_sizes"))
    text = "\nTree=".join([head, first, second + "\n", third])
    booster = lightgbm.Booster(model_str=text)
    graph = loader.read(text.encode())
    rows = rng.normal(size=(500, 2))
    assert [graph.classify(row) for row in rows.tolist()] == [str(c) for c in np.argmax(booster.predict(rows), axis=1)]


def test_other_objectives_and_leaves_are_refused_by_name():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    y = (x[:, 0] > 0).astype(int)
    with pytest.raises(quia.Unsupported, match="cross_entropy"):
        quia.load(lightgbm.train({"objective": "cross_entropy", "verbose": -1}, lightgbm.Dataset(x, y), 1))
    with pytest.raises(quia.Unsupported, match="linear"):
        quia.load(fitted(x, y, rng, linear_tree=True))
    constant = fitted(np.zeros((50, 2)), [0] * 20 + [1] * 30, rng)
    assert quia.load(constant).classify((0, 0)) == "1"


def test_broken_models_never_crash():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    text = fitted(x, (x[:, 0] > 0).astype(int), rng).booster_.model_to_string()
    end = text.index("end of trees")
    shuffle = random.Random(0)
    for _ in range(400):
        at = shuffle.randrange(end)
        broken = text[:at] + shuffle.choice(["", "9", "-", " ", "x", "\n"]) + text[at + shuffle.randrange(3) :]
        with contextlib.suppress(quia.QuiaError):
            loader.read(broken.encode())


def test_early_stopping_ends_with_the_best_round(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = (x[:, 0] > 0.1).astype(int)
    options = {"objective": "binary", "num_leaves": 6, "learning_rate": 2.0, "num_threads": 1, "verbose": -1}
    table, stop = lightgbm.Dataset(x, y), lightgbm.early_stopping(3, verbose=False)
    against = lightgbm.Dataset(x, rng.permutation(y), reference=table)
    booster = lightgbm.train(options, table, 9, [against], callbacks=[stop], keep_training_booster=True)
    assert (booster.best_iteration, booster.current_iteration()) == (1, 4)
    file = tmp_path / "model.txt"
    booster.save_model(file)
    rows = probes(booster, 2, rng, 500)
    expected = [str(int(chance > 0.5)) for chance in booster.predict(rows)]
    for graph in (quia.load(booster), quia.load(file)):
        assert [graph.classify(row) for row in rows.tolist()] == expected
