"""Small model files that claim much: memory and work in proportion to the file, or a refusal in one sentence."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quia
from costs import said_by
from quia.load import lightgbm, onnx, xgboost

MEGABYTE = 2**20

LOAD = """
import sys, numpy, quia, quia.load.agreement
if sys.argv[1].endswith("skops"):
    import sklearn.ensemble, sklearn.pipeline, skops.io
before = peak()
for file in sys.argv[1:]:
    try:
        print(len(quia.load(file).variables))
    except quia.QuiaError as fault:
        print("refused:", fault)
print(peak() - before)
"""


def loaded(folder: Path, files: list[bytes], ending: str = "") -> tuple[list[str], int]:
    """What loading each file says, in another process, and by how much memory that process grew."""
    names = [folder / f"{index}{ending}" for index in range(len(files))]
    for name, content in zip(names, files, strict=True):
        name.write_bytes(content)
    *said, grown = said_by(LOAD, *names, cwd=folder).splitlines()
    assert len(said) == len(files), "one sentence each"
    return said, int(grown)


def tree(left: list[int], right: list[int], conditions: list[float], **parts: Any) -> dict[str, Any]:
    """A tree as XGBoost writes it; a leaf has no left child."""
    zeros = [0] * len(left)
    named = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    return {
        "tree_param": {"size_leaf_vector": "1"},
        "left_children": left,
        "right_children": right,
        "split_conditions": conditions,
        "split_indices": zeros,
        "default_left": zeros,
        "base_weights": zeros,
        **{key: [] for key in named},
        **parts,
    }


STUMP = tree([1, -1, -1], [2, -1, -1], [0.5, -1.0, 1.0])
LEAF = tree([-1], [-1], [0.25])


def chain(length: int, **parts: Any) -> dict[str, Any]:
    """A tree whose tests stand one below the other, each with a leaf to its right."""
    left, right, conditions = [], [], []
    for index in range(length):
        left += [2 * index + 2, -1]
        right += [2 * index + 1, -1]
        conditions += [float(-index), 1.0 if index % 2 else -1.0]
    return tree([*left, -1], [*right, -1], [*conditions, 1.0], **parts)


def boosted(trees: list[Any], *, classes: int = 0, columns: Any = 2, **more: Any) -> bytes:
    """An XGBoost model."""
    learner = {
        "learner_model_param": {"num_class": str(classes), "num_feature": str(columns), "base_score": "5E-1"},
        "objective": {"name": "multi:softprob" if classes else "binary:logistic"},
        "gradient_booster": {
            "name": "gbtree",
            "model": {"trees": trees, "tree_info": list(range(len(trees))), "gbtree_model_param": {}},
        },
        **more,
    }
    return json.dumps({"learner": learner}).encode()


def light(
    trees: list[str], *, columns: int = 2, kinds: str = "[0:1]", classes: int = 1, after: str = "", **head: Any
) -> bytes:
    """A LightGBM model."""
    first = {
        "version": "v4",
        "num_class": classes,
        "num_tree_per_iteration": classes,
        "max_feature_idx": columns - 1,
        "objective": f"multiclass num_class:{classes}" if classes > 1 else "binary sigmoid:1",
        "feature_names": " ".join(f"c{index}" for index in range(columns)),
        "feature_infos": " ".join([kinds] * columns),
        **head,
    }
    text = "tree\n" + "".join(f"{key}={value}\n" for key, value in first.items())
    return (
        text + "".join(f"\nTree={at}\n{one}\n" for at, one in enumerate(trees)) + "\nend of trees\n" + after
    ).encode()


SPLIT = "num_leaves=2\nsplit_feature=0\nthreshold=0.5\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-1 1"
ALONE = "num_leaves=1\nleaf_value=0.25"


def of_categories(sets: list[int], boundaries: list[int], words: list[int]) -> str:
    """A LightGBM tree of tests one below the other, each of whether a category is in one of the bit sets."""
    n = len(sets)
    lists = {
        "split_feature": [0] * n,
        "threshold": sets,
        "decision_type": [1] * n,
        "left_child": [~index for index in range(n)],
        "right_child": [*range(1, n), ~n],
        "leaf_value": [1 if index % 2 else -1 for index in range(n + 1)],
        "cat_boundaries": boundaries,
        "cat_threshold": words,
    }
    return f"num_leaves={n + 1}\n" + "\n".join(f"{key}={' '.join(map(str, part))}" for key, part in lists.items())


def test_what_a_boosted_model_only_counts(tmp_path: Path) -> None:
    wide = {**STUMP, "tree_param": {"size_leaf_vector": "99999999"}}
    cases = {
        "counts 300000000 columns and names none": boosted([STUMP], columns=300_000_000),
        "columns and names none": boosted([STUMP], columns=2**70),
        "0 names of -3": boosted([STUMP], columns=-3),
        "1 trees for 1000000000 classes": boosted([STUMP], classes=10**9),
        "1 trees for 99999999 classes": boosted([wide], classes=99_999_999),
        "1 trees, 1000000000 a round": light([SPLIT], classes=10**9),
        "do not fit": light([SPLIT], max_feature_idx=10**9),
        "50000": light([SPLIT], columns=50_000),
        "100000": boosted([STUMP], columns=100_000),
    }
    said, grown = loaded(tmp_path, list(cases.values()))
    for one, words in zip(said, cases, strict=True):
        assert words in one
    assert grown < 150 * MEGABYTE


def test_nodes_that_share_their_categories() -> None:
    """Lists that the nodes of a tree name one upon the other would make of n numbers n² states."""
    n = 20_000
    nodes = {
        "split_type": [1, 0] * n + [0],
        "categories": list(range(n)),
        "categories_nodes": list(range(0, 2 * n, 2)),
        "categories_segments": [0] * n,
        "categories_sizes": [n] * n,
    }
    with pytest.raises(quia.FormatError, match="more categories than there are"):
        xgboost.read(boosted([chain(n, **nodes)]))
    for sets, boundaries in (([0] * n, [0, 2000]), (list(range(n)), [0, 2000] * n)):
        with pytest.raises(quia.FormatError, match=r"two nodes have it|overlap"):
            lightgbm.read(light([of_categories(sets, boundaries, [2**32 - 1] * 2000)], kinds="0:1"))
    # As they are written, each node with its own, they are read.
    own = {**nodes, "categories_segments": list(range(n)), "categories_sizes": [1] * n}
    graph = xgboost.read(boosted([chain(n, **own)]))
    assert len(graph.variables[0].labels or ()) == n + 2
    assert [graph.classify({"f0": code}) for code in (0, 1, 17, n + 5)] == ["0", "1", "1", "1"]


def test_many_classes(tmp_path: Path) -> None:
    """A round has a tree for each of 100,000 classes; only one has a test."""
    k = 100_000
    file = boosted([LEAF] * 5 + [STUMP] + [LEAF] * (k - 6), classes=k)
    text = light([ALONE] * 5 + [SPLIT] + [ALONE] * (k - 6), classes=k)
    said, grown = loaded(tmp_path, [file, text])
    assert said == ["2", "2"]
    assert grown < 20 * len(file)
    graph = xgboost.read(file)
    assert len(graph.classes) == k
    assert [graph.classify({"f0": value}) for value in (0, 1)] == ["0", "5"]  # the first of equals, or the tree's own
    with pytest.raises(quia.TooLarge, match="5001 leaves and the model 5000 classes"):
        xgboost.read(boosted([chain(5000)] + [LEAF] * 4999, classes=5000))
    many = of_categories(list(range(5000)), list(range(5001)), [1] * 5000)
    with pytest.raises(quia.TooLarge, match="5001 leaves and the model 5000 classes"):
        lightgbm.read(light([many] + [ALONE] * 4999, classes=5000, kinds="0:1"))


def test_many_categorical_columns() -> None:
    n = 20_000
    names = json.dumps([["red", "green", "blue"]] * n)
    data = light([of_categories([0], [0, 1], [5])], columns=n, kinds="0:1:2", after=f"\npandas_categorical:{names}\n")
    graph = lightgbm.read(data, categories={"c7": ["one", "two"]})
    assert graph.variables[n - 1].labels == ("red", "green", "blue", "missing")
    assert graph.variables[7].labels == ("one", "two", "missing")
    assert [graph.classify({"c0": colour}) for colour in ("red", "green", "blue")] == ["0", "1", "0"]


def test_names_for_the_categories_of_a_number() -> None:
    with pytest.raises(quia.Unsupported, match="'f0' has names for categories, but is tested as a number"):
        xgboost.read(boosted([STUMP]), categories={"f0": ["red", "green"]})


def onnx_model(inputs: list[tuple[str, Any]], nodes: list[Any], source: str, **ensemble: Any) -> bytes:
    """An ONNX model of one test, whose inputs have these widths."""
    helper, kinds = pytest.importorskip("onnx").helper, pytest.importorskip("onnx").TensorProto
    given = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "class_treeids": [0, 0],
        "class_nodeids": [1, 2],
        "class_ids": [0, 0],
        "class_weights": [0.0, 1.0],
        "classlabels_strings": ["no", "yes"],
        **ensemble,
    }
    made = helper.make_node("TreeEnsembleClassifier", [source], ["label", "scores"], domain="ai.onnx.ml", **given)
    graph = helper.make_graph(
        [*nodes, made],
        "g",
        [helper.make_tensor_value_info(name, kinds.FLOAT, [None, width]) for name, width in inputs],
        [helper.make_tensor_value_info("label", kinds.STRING, [None])],
    )
    return bytes(helper.make_model(graph).SerializeToString())


def join(names: list[str], into: str) -> Any:
    return pytest.importorskip("onnx").helper.make_node("Concat", names, [into], axis=1)


def test_what_an_onnx_model_only_counts(tmp_path: Path) -> None:
    cases = {
        "counts 10000000 columns": onnx_model([("X", 10**7)], [], "X"),
        "columns and names none": onnx_model([("X", 2**62)], [], "X"),
        "counts 1099511627777 columns": onnx_model([("X", None)], [], "X", nodes_featureids=[2**40, 0, 0]),
        "counts 180000 columns": onnx_model([("X", 90_000), ("Y", 90_000)], [join(["X", "Y"], "Z")], "Z"),
        "counts 140000 columns": onnx_model([("X", 70_000)], [join(["X"] * 900, "Z")], "Z"),
        "has 100001 operators": onnx_model([("X", 2)], [join([], "")] * 100_000, "X"),
        "100000": onnx_model([("X", 100_000)], [], "X"),
    }
    said, grown = loaded(tmp_path, list(cases.values()))
    for one, words in zip(said, cases, strict=True):
        assert words in one
    assert grown < 150 * MEGABYTE


def test_onnx_trees_that_are_only_a_leaf() -> None:
    """20,000 of them, each with a weight for a class of its own, and 20,000 leaves beside: no product of the two."""
    k = 20_000
    below = list(range(1, 2 * k + 1, 2))  # a chain of k tests: node 2i has the leaf 2i+1 and the node 2i+2
    inner = range(0, 2 * k, 2)
    ensemble = {
        "nodes_treeids": [0] * (2 * k + 1) + list(range(1, k + 1)),
        "nodes_nodeids": list(range(2 * k + 1)) + [0] * k,
        "nodes_featureids": [0] * (3 * k + 1),
        "nodes_values": [float(-node) for node in range(2 * k + 1)] + [0.0] * k,
        "nodes_modes": ["BRANCH_GT", "LEAF"] * k + ["LEAF"] * (k + 1),
        "nodes_truenodeids": [node + 1 if node in inner else 0 for node in range(2 * k + 1)] + [0] * k,
        "nodes_falsenodeids": [node + 2 if node in inner else 0 for node in range(2 * k + 1)] + [0] * k,
        "class_treeids": [0] * (k + 1) + list(range(1, k + 1)),
        "class_nodeids": [*below, 2 * k] + [0] * k,
        "class_ids": [3] * k + [4] + list(range(k)),
        "class_weights": [1.0 if index % 2 else -1.0 for index in range(k)] + [2.0] + [0.5] * k,
        "classlabels_strings": [f"class {index}" for index in range(k)],
    }
    graph = onnx.read(onnx_model([("X", 1)], [], "X", **ensemble))
    # Above zero the first leaf takes 1 from class 3; between -2 and 0 the second adds 1; below all, class 4 gets 2.
    assert [graph.classify([value]) for value in (1, -1, -1e9)] == ["class 0", "class 3", "class 4"]


def fitted(**options: Any) -> Any:
    tree = pytest.importorskip("sklearn.tree")
    x = np.random.default_rng(0).normal(size=(100, 3))
    return tree.DecisionTreeClassifier(max_depth=4, **options).fit(x, x[:, 0] > 0)


def saved(change: Callable[[Any], Any], **members: bytes) -> bytes:
    """A tree saved by skops, its schema changed and members added, packed as well as can be."""
    skops = pytest.importorskip("skops.io")
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(skops.dumps(fitted()))) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            data = old.read(name)
            if name == "schema.json":
                schema = json.loads(data)
                changed = change(schema)
                data = json.dumps(schema if changed is None else changed).encode()
            new.writestr(name, data)
        for name, data in members.items():
            new.writestr(name, data)
    return made.getvalue()


def claims(columns: str) -> Callable[[Any], None]:
    """Another number of columns, as an object of its own."""

    def change(schema: Any) -> None:
        claimed = schema["content"]["content"]["n_features_in_"]
        claimed.update(content=columns, __id__=1)

    return change


def everywhere(key: str, value: str) -> Callable[[Any], None]:
    """A schema that names the same in every place."""

    def change(schema: Any) -> None:
        work = [schema]
        for part in work:
            if key in part:
                part[key] = value
            work.extend(inner for inner in part.values() if isinstance(inner, dict))
            work.extend(inner for inner in part.get("content") or () if isinstance(inner, dict))

    return change


def in_each_other(schema: Any) -> Any:
    """Lists that hold the list below them twice, the second time by its number alone."""
    for level in range(1, 100):
        part = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "__id__": level}
        schema = {**part, "content": [schema, {key: schema.get(key) for key in (*part,)}]}
    return {**schema, "protocol": 2, "_skops_version": "0.16"}


def test_what_a_skops_file_only_counts(tmp_path: Path) -> None:
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(4_000_000))
    cases = {
        "counts 1000000000 columns": saved(claims("1000000000")),
        "counts 100001 columns": saved(claims("100001")),
        "refused: ": saved(claims("-7")),
        "refused: {}": saved(claims("3.5")),
        "refused: {} ": saved(claims("null")),
        "refused: {}  ": saved(claims("1e300")),
        "refused: {}   ": saved(claims('"many"')),
        "unpacks to more than": saved(lambda schema: {**schema, "padding": " " * 10**8}),
        "unpacks to more than {}": saved(everywhere("file", "zeros.npy"), **{"zeros.npy": zeros.getvalue()}),
        "twice, and differently": saved(in_each_other),
        "100000": saved(claims("100000")),
    }
    said, grown = loaded(tmp_path, list(cases.values()), ".skops")
    for one, words in zip(said, cases, strict=True):
        assert words.partition("{")[0] in one
        assert len(one) < 1000
    assert grown < 300 * MEGABYTE


def test_one_step_in_many_places() -> None:
    """Each union has the one below it twice: 60 objects, and 2 to the power of 60 columns."""
    pipeline = pytest.importorskip("sklearn.pipeline")
    step: Any = pytest.importorskip("sklearn.preprocessing").StandardScaler().fit(np.eye(2))
    for _ in range(60):
        step = pipeline.FeatureUnion([("a", step), ("b", step)])
    with pytest.raises(quia.TooLarge, match="more than 20000 steps"):
        quia.load(pipeline.Pipeline([("union", step), ("tree", fitted())]))


@pytest.mark.parametrize("sparse", [True, False])
def test_a_one_hot_encoder_of_many_categories(sparse: bool) -> None:
    """Work in proportion to the categories, counted: not every column for every category, nor for every test."""
    tree = pytest.importorskip("sklearn.tree")
    pipeline, encoding = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    k = 3000
    kinds = np.array([[f"kind {index % k}"] for index in range(2 * k)], object)
    y = np.array([hash_ % 7 < 3 for hash_ in (index % k * 2654435761 % 997 for index in range(2 * k))])
    encoder = encoding.OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
    model = pipeline.make_pipeline(encoder, tree.DecisionTreeClassifier(max_depth=60, random_state=0)).fit(kinds, y)
    calls = 0

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call" and "quia" in str(frame.f_globals.get("__name__"))

    sys.setprofile(count)
    try:
        graph = quia.load(model, features=["kind"], check=False)
    finally:
        sys.setprofile(None)
    assert len(graph) > 60
    assert calls < 100 * k
    assert len(graph.variables[0].labels or ()) == k + 2  # any other, and missing
    rows = [*kinds[:k:5, 0], "unknown"]
    assert [graph.classify([kind]) for kind in rows] == [str(one) for one in model.predict(np.array(rows)[:, None])]
