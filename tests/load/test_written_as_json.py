"""What every loader makes, written as JSON and read again: the same graph node by node, if not in the same order."""

import json
import pickle
import random
import sys
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import pytest
import skops.io
import xgboost
from dd.autoref import BDD
from skl2onnx import to_onnx
from sklearn.tree import DecisionTreeClassifier

import quia
from quia.load import FORMATS, OBJECTS, pmml
from strategies import random_graph

sys.path.append(str(Path(__file__).parent))
from test_pmml import Model

ROWS = np.random.default_rng(3).normal(size=(300, 4)).round(1)
CLASSES = np.digitize(ROWS[:, 0] * ROWS[:, 1], [-0.3, 0.4])
TREE = DecisionTreeClassifier(max_depth=4, random_state=0).fit(ROWS, CLASSES)
NAMED = pd.DataFrame({"colour": pd.Categorical(np.digitize(ROWS[:, 3], [-1, 0, 1])), "x": ROWS[:, 0]})
J48 = """J48 pruned tree
------------------

outlook = sunny
|   humidity <= 75: yes (2.0)
|   humidity > 75: no (3.0)
outlook = overcast: yes (4.0)
outlook = rainy: no (5.0/2.0)
"""


def of_json(folder):
    return quia.DecisionGraph.from_dict(random_graph(random.Random(4)))


def of_sklearn(folder):
    return quia.load(TREE)


def of_skops(folder):
    skops.io.dump(TREE, folder / "tree.skops")
    return quia.load(folder / "tree.skops")


def of_pickle(folder):
    (folder / "tree.pkl").write_bytes(pickle.dumps(TREE))
    with pytest.warns(UserWarning, match="with your trust"):
        return quia.load(folder / "tree.pkl", trust_pickle=True)


def of_xgboost(folder):
    return quia.load(xgboost.XGBClassifier(n_estimators=1, max_depth=4).fit(ROWS, CLASSES > 1))


def of_xgboost_with_categories(folder):
    return quia.load(xgboost.XGBClassifier(n_estimators=1, enable_categorical=True).fit(NAMED, CLASSES > 1))


def of_xgboost_dump(folder):
    model = xgboost.XGBClassifier(n_estimators=1, max_depth=4).fit(ROWS, CLASSES > 1)
    model.get_booster().dump_model(folder / "dump.txt")
    return quia.load(folder / "dump.txt")


def of_lightgbm(folder):
    model = lightgbm.LGBMClassifier(n_estimators=1, verbose=-1, min_child_samples=5).fit(ROWS, CLASSES > 1)
    model.booster_.save_model(folder / "model.txt")
    return quia.load(folder / "model.txt")


def of_catboost(folder):
    borders = [-0.5, 0.25, 1.5]
    content = {
        "features_info": {
            "float_features": [
                {"borders": borders, "feature_id": name, "feature_index": index, "flat_feature_index": index}
                for index, name in enumerate("xy")
            ]
        },
        "model_info": {"class_params": {"class_names": ["a", "b"], "class_to_label": [0, 1]}},
        "oblivious_trees": [
            {
                "leaf_values": [-1.0, 0.5, 2.0, -3.0],
                "splits": [
                    {"border": borders[i], "float_feature_index": i, "split_type": "FloatFeature"} for i in range(2)
                ],
            }
        ],
        "scale_and_bias": [1, [0.25]],
    }
    (folder / "model.json").write_text(json.dumps(content))
    return quia.load(folder / "model.json")


def of_onnx(folder):
    return quia.load(to_onnx(TREE, ROWS[:1].astype(np.float32)))


def of_pmml(folder):
    return pmml.read(Model(random.Random(5)).text.encode())


def of_weka(folder):
    (folder / "tree.txt").write_text(J48)
    return quia.load(folder / "tree.txt")


def of_odd(folder):
    (folder / "graph.odd").write_text("[a, b, c]\n4 2 S0 S1\n3 2 S1 S0\n2 1 3 4\n1 1 4 S1\n0 0 1 2\n")
    return quia.load(folder / "graph.odd")


def of_dd(folder):
    bdd = BDD()
    bdd.declare("a", "b", "c")
    return quia.load(bdd.add_expr("(a & b) | ~ c"))


LOADERS = {
    name.removeprefix("of_").replace("_", "-"): made for name, made in list(globals().items()) if name.startswith("of_")
}


def test_every_loader_of_graphs_is_here():
    of_circuits = {"nnf", "sdd", "pysdd"}
    others = {"quia"}  # class formulas, which are circuits
    others |= {"ebm", "interpret", "optbinning", "scorecard"}  # sums of tables: see test_additive_json
    others |= {"bif", "hugin", "xmlbif"}  # networks, of which graphs are made: see test_networks
    assert (set(FORMATS) | set(OBJECTS)) - of_circuits - others <= set(LOADERS)


@pytest.mark.parametrize("loader", LOADERS)
def test_what_is_written_is_the_graph(loader, tmp_path):
    graph = LOADERS[loader](tmp_path)
    assert isinstance(graph, quia.DecisionGraph) and len(graph) > 3
    written = json.loads(json.dumps(graph.to_dict()))
    again = quia.DecisionGraph.from_dict(written)
    assert again.to_dict() == written
    assert quia.DecisionGraph.from_dict(again.to_dict()) == again
    assert (again.variables, again.classes) == (graph.variables, graph.classes)
    # The nodes are the same by the names that they are written with, in whatever order.
    assert {again.name(k): _as_named(again, k) for k in range(len(again))} == {
        graph.name(k): _as_named(graph, k) for k in range(len(graph))
    }
    sizes = [v.size for v in graph.variables]
    for states in np.random.default_rng(1).integers(0, sizes, (300, len(sizes))).tolist():
        assert again.decide(states) == graph.decide(states)


def _as_named(graph, node):
    test, label, edges = graph.nodes[node]
    return test, label, [(states, graph.name(child)) for states, child in edges]


@pytest.mark.parametrize("loader", ["json", "sklearn", "skops", "pickle"])
def test_a_graph_with_names_in_the_order_of_reading_is_equal_too(loader, tmp_path):
    graph = LOADERS[loader](tmp_path)
    assert quia.DecisionGraph.from_dict(graph.to_dict()) == graph


def test_names_and_notes_are_all_that_reading_may_change(tmp_path):
    graph = of_weka(tmp_path)
    again = quia.DecisionGraph.from_dict(graph.to_dict())
    assert graph.names is None and again.names is not None and again != graph
    noted = pmml.read(Model(random.Random(3)).text.encode())
    assert noted.notes and not quia.DecisionGraph.from_dict(noted.to_dict()).notes
