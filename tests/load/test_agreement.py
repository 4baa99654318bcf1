"""The comparison of a classifier with its model: it finds what differs, and its probes reach every test."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.tree import DecisionTreeClassifier

import quia
from quia.errors import InstanceError, Unsupported
from quia.load.agreement import Model, check, compare, compare_predicted
from quia.load.json import write
from quia.load.probes import probes
from quia.load.sklearn import convert_with_predictor

GRAPH = quia.DecisionGraph.from_dict(
    {
        "quia": 1,
        "variables": {
            "SAT": {"kind": "numeric"},
            "GPA": {"kind": "nominal", "states": ["low", "high", "any other", "missing"], "other": "any other"}
            | {"missing": "missing"},
            "age": {"kind": "numeric", "type": "float32"},
        },
        "classes": ["no", "yes"],
        "root": "sat",
        "nodes": {
            "sat": {
                "test": "SAT",
                "edges": [{"if": "< 1450", "to": "gpa"}, {"if": [">= 1450", "missing"], "to": "age"}],
            },
            "gpa": {
                "test": "GPA",
                "edges": [{"if": ["low"], "to": "n"}, {"if": ["high", "any other", "missing"], "to": "age"}],
            },
            "age": {"test": "age", "edges": [{"if": "<= 40.5", "to": "n"}, {"if": "> 40.5", "to": "y"}]},
            "n": {"class": "no"},
            "y": {"class": "yes"},
        },
    }
)


def truth(row: Mapping[str, Any], *, sat: Any = lambda x: x < 1450, age: Any = lambda x: np.float32(x) <= 40.5) -> str:
    """The same graph, by hand."""
    if sat(row["SAT"]) and row["GPA"] == "low":
        return "no"
    return "no" if age(row["age"]) else "yes"


def report(**mistakes: Any) -> Any:
    def predict(rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        return [truth(row, **mistakes) for row in rows]

    return compare(Model(GRAPH, predict), probes(GRAPH, limit=500))


def test_agreement_and_its_words() -> None:
    found = report()
    assert found.holds
    assert str(found) == f"{found.rows} of {found.rows} rows agree"
    assert found.to_dict()["differing"] == 0


@pytest.mark.parametrize(
    "mistake",
    [
        {"sat": lambda x: x <= 1450},
        {"sat": lambda x: x < math.nextafter(1450, 0)},
        {"sat": lambda x: not x >= 1450},
        {"age": lambda x: x <= 40.5},
        {"age": lambda x: np.float32(x) < 40.5},
    ],
    ids=["the cut itself", "one ulp off", "missing", "not cast to 32 bits", "the cut in 32 bits"],
)
def test_every_slip_is_found(mistake: dict[str, Any]) -> None:
    found = report(**mistake)
    assert not found.holds
    assert len(found.disagreements) == min(found.differing, 10)
    assert "for the model" in str(found)


def test_probes_are_the_same_for_the_same_seed() -> None:
    assert str(probes(GRAPH, limit=50, seed=3)) == str(probes(GRAPH, limit=50, seed=3))
    assert str(probes(GRAPH, limit=50, seed=3)) != str(probes(GRAPH, limit=50, seed=4))
    assert len(probes(GRAPH, limit=50)) == 50
    reached = {GRAPH.classify(row) for row in probes(GRAPH, limit=100)}
    assert reached == {"no", "yes"}


def test_refused_rows_are_counted_apart() -> None:
    rows = [
        {"SAT": 1, "GPA": "low", "age": 1},
        {"SAT": 2, "GPA": "low", "age": 1},
        {"SAT": "?", "GPA": "low", "age": "x"},
    ]
    found = compare(Model(GRAPH, lambda given: [None if row["SAT"] == 2 else truth(row) for row in given]), rows)
    assert (found.rows, found.agreed, found.refused, found.differing) == (3, 2, 1, 0)


def test_a_column_of_predictions() -> None:
    rows = [{"SAT": "1500", "GPA": "low", "age": "50", "p": "yes"}, {"SAT": "1", "GPA": "low", "age": "50", "p": "yes"}]
    found = compare_predicted(GRAPH, rows, "p")
    assert (found.agreed, found.differing) == (1, 1)
    assert found.disagreements[0].ours == "no"
    with pytest.raises(InstanceError, match="no column 'q'"):
        compare_predicted(GRAPH, rows, "q")


def test_rows_of_data_with_dummies() -> None:
    """Rows as a file has them: texts, and dummies where the classifier has one variable."""
    rng = np.random.default_rng(0)
    raw = pd.DataFrame({"age": rng.integers(20, 60, 100), "colour": rng.choice(["red", "green", "blue"], 100)})
    wide = pd.get_dummies(raw, columns=["colour"], dtype=int)
    y = (raw.age > 40) ^ (raw.colour == "red")
    tree = DecisionTreeClassifier(random_state=0).fit(wide, y)
    model = convert_with_predictor(tree, one_hot={"colour": [name for name in wide if name.startswith("colour")]})
    texts = wide.astype(str).to_dict("records")
    assert compare(model, texts).agreed == 100
    with pytest.raises(InstanceError, match="no dummies"):
        compare(model, [{**texts[0], "colour_red": "1", "colour_blue": "1"}])


def test_checking_a_model(tmp_path: Any) -> None:
    """A model that can be asked is asked; one that cannot is compared with a column of the rows."""
    x = np.random.default_rng(0).normal(size=(50, 2))
    tree = DecisionTreeClassifier(random_state=0).fit(x, x[:, 0] > 0)
    rows = [{"x0": str(a), "x1": str(b)} for a, b in x]
    assert check(tree, rows, limit=100).agreed == 150
    file = tmp_path / "tree.skops"
    skops.io.dump(tree, file)
    assert check(file, rows, limit=0).agreed == 50
    as_json = tmp_path / "tree.json"
    write(quia.load(tree), as_json)
    with pytest.raises(Unsupported, match="column of the rows"):
        check(as_json, rows)
    known = [{**row, "class": str(their)} for row, their in zip(rows, tree.predict(x), strict=True)]
    assert check(as_json, known, predicted="class").holds
    known[3]["class"] = "neither"
    assert check(as_json, known, predicted="class").differing == 1
