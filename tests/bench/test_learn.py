"""Trees learned with Weka, from prepared tables and from what OpenML sends."""

import random
import types

import pytest

from benchmarks import learn, models
from quia.errors import Unsupported


def rows(draw, count):
    for _ in range(count):
        x, colour = round(draw.random(), 3), draw.choice(["red", "a 'b', %"])
        yield [str(x), "?" if draw.random() < 0.01 else colour, "yes" if x > 0.5 and colour == "red" else "no"]


@pytest.mark.usefixtures("weka_jar")
def test_a_learned_tree_is_a_benchmark(tmp_path):
    table = list(rows(random.Random(1), 400))
    nominal = {"colour": ["red", "a 'b', %"], "class": ["no", "yes"]}
    learn.learn(tmp_path / "trees" / "made", "made", ["x", "colour", "class"], table, nominal)
    (found,) = models.find(tmp_path)
    loaded = models.read(found)
    assert loaded.accuracy > 0.9 and len(loaded.states) + loaded.left_out == 60 and loaded.examples == 400


def test_what_openml_sends_becomes_rows(monkeypatch, tmp_path):
    pandas = pytest.importorskip("pandas")
    asked = {}

    def fetch_openml(**how):
        asked.update(how)
        data = pandas.DataFrame({"x": [0.5, None], "c": pandas.Categorical(["u", "v"], categories=["v", "u"])})
        return types.SimpleNamespace(data=data, target=pandas.Series(pandas.Categorical(["p", "q"]), name="class"))

    module = types.ModuleType("sklearn.datasets")
    module.fetch_openml = fetch_openml
    monkeypatch.setitem(__import__("sys").modules, "sklearn", types.ModuleType("sklearn"))
    monkeypatch.setitem(__import__("sys").modules, "sklearn.datasets", module)
    columns, made, nominal = learn.fetch("spambase", tmp_path)
    assert columns == ["x", "c", "class"] and made == [["0.5", "u", "p"], ["?", "v", "q"]]
    assert nominal == {"c": ["v", "u"], "class": ["p", "q"]}
    assert (asked["name"], asked["version"]) == ("spambase", 1)

    def unreachable(**how):
        raise OSError("no network")

    module.fetch_openml = unreachable
    with pytest.raises(Unsupported, match="--data DIR"):
        learn.fetch("compas", tmp_path)


def test_what_cannot_be_learned_is_told(monkeypatch, tmp_path):
    table = (["x", "class"], [["1", "a"], ["2", "b"]], {})
    monkeypatch.delenv("WEKA_JAR", raising=False)
    monkeypatch.setattr("quia.learn_j48.find_spec", lambda name: None)
    with pytest.raises(Unsupported, match="python-weka-wrapper3"):
        learn.learn(tmp_path / "x", "x", *table)
    monkeypatch.setenv("WEKA_JAR", "/no/such/weka.jar")
    with pytest.raises(Unsupported, match=r"there is no weka\.jar at '/no/such/weka\.jar'"):
        learn.learn(tmp_path / "x", "x", *table)
    with pytest.raises(Unsupported, match="no train/"):
        learn.benchmarks(str(tmp_path), openml=False)
