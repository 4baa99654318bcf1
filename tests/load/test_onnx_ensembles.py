"""ONNX ensembles: our class is onnxruntime's, our sums are its scores bit by bit, on and next to every threshold."""

import random

import numpy as np
import pytest

import quia
from load.beside import classes_of, rows_beside, scores_of
from quia.load import onnx as loader

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
KEYS = (
    "treeids",
    "nodeids",
    "featureids",
    "values",
    "modes",
    "truenodeids",
    "falsenodeids",
    "missing_value_tracks_true",
)
KINDS = {"float": (np.float32, onnx.TensorProto.FLOAT), "double": (np.float64, onnx.TensorProto.DOUBLE)}


def random_trees(rng, count, modes):
    """The attributes of nodes of random trees, and the leaves as (tree, node)."""
    nodes, leaves = [], []
    for tree in range(count):
        grown, open_nodes, made = [], [0], 1
        while open_nodes:
            node = open_nodes.pop(0)
            if made > 1 and (made > 14 or rng.random() < 0.3):
                grown.append((node, 0, 0.0, "LEAF", 0, 0, 0))
                continue
            value = float(np.float32(rng.choice([0.0, 0.1, 1 / 3, -2.5, rng.gauss(0, 1)])))
            grown.append((node, rng.randrange(3), value, rng.choice(modes), made, made + 1, rng.choice([0, 1])))
            open_nodes += [made, made + 1]
            made += 2
        ids = rng.sample(range(made), made)  # a node may have any number
        for node, column, value, mode, yes, no, tracks in grown:
            nodes.append((tree, ids[node], column, value, mode, ids[yes], ids[no], tracks))
        leaves += [(tree, ids[node]) for node, *_, mode, _, _, _ in grown if mode == "LEAF"]
    return {f"nodes_{key}": list(column) for key, column in zip(KEYS, zip(*nodes, strict=True), strict=True)}, leaves


def weighed(entries, prefix):
    columns = zip(*entries, strict=True)
    return {
        f"{prefix}_{key}": list(column)
        for key, column in zip(("treeids", "nodeids", "ids", "weights"), columns, strict=True)
    }


def made(operator, attributes, kind, outputs):
    node = onnx.helper.make_node(operator, ["X"], [name for name, _ in outputs], domain="ai.onnx.ml", **attributes)
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node], "g", [info("X", KINDS[kind][1], [None, 3])], [info(name, of, None) for name, of in outputs]
    )
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


def classifier(attributes, labels, kind):
    outputs = [("label", onnx.TensorProto.STRING), ("scores", onnx.TensorProto.FLOAT)]
    return made("TreeEnsembleClassifier", attributes | {"classlabels_strings": labels}, kind, outputs)


def run(model, rows):
    """What onnxruntime puts out with one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, {session.get_inputs()[0].name: rows})


def random_weight(rng, sign):
    return float(np.float32(rng.choice([0.25, 0.5, rng.uniform(sign, 1), rng.uniform(sign, 1) * 1e-4, 0.0])))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["two", "two with base", "forest", "forest with base", "boosted", "sparse", "unused"])
def test_random_ensembles(kind, shape):
    several = 0
    for seed in range(10):
        rng = random.Random(f"{kind} {shape} {seed}")
        count, sign = rng.choice([2, 3, 9, 90]), rng.choice([0, -1])
        attributes, leaves = random_trees(rng, count, MODES if seed % 2 else [rng.choice(MODES)])
        classes = 2 if shape.startswith("two") else rng.choice([3, 5])
        if shape.startswith("two"):
            only = 0 if "base" in shape else rng.choice([0, 1])
            entries = [(*leaf, only, float(np.float32(random_weight(rng, sign) * 2 / count))) for leaf in leaves]
        elif shape == "boosted":
            entries = [(*leaf, leaf[0] % classes, random_weight(rng, sign)) for leaf in leaves]
        elif shape == "sparse":  # each leaf has a weight above 0 for some classes
            entries = [
                (*leaf, which, rng.choice([0.25, 0.5, rng.random()]))
                for leaf in leaves
                for which in rng.sample(range(classes), rng.choice([1, 2]))
            ]
        else:
            used = range(1, classes) if shape == "unused" else range(classes)
            entries = [(*leaf, which, random_weight(rng, sign)) for leaf in leaves for which in used]
        if "base" in shape or (shape == "boosted" and count < classes):
            bases = rng.choice([1, 2]) if classes == 2 else classes
            middle = (0.0 if any(entry[3] < 0 for entry in entries) else 0.5) if classes == 2 else 0.0
            middle -= sum(entry[3] for entry in entries) / len(entries) * count if classes == 2 else 0.0
            attributes["base_values"] = [middle + rng.uniform(-0.05, 0.05) for _ in range(bases)]
        attributes |= weighed(entries, "class")
        labels = [f"class {index}" for index in range(classes)]
        if rng.random() < 0.3:
            attributes["post_transform"] = rng.choice(["LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
        model = classifier(attributes, labels, kind)
        ours = quia.load(model)
        rows = rows_beside(ours, np.random.default_rng(seed), 120, KINDS[kind][0])
        expected, scores = run(model, rows)
        assert classes_of(ours, rows) == list(expected), seed
        if classes > 2 and "post_transform" not in attributes and shape != "unused":
            assert (scores_of(ours, rows).astype(np.float32) == scores).all()
        several += len(set(expected)) > 1
        assert isinstance(ours, quia.Ensemble) and "one thread" in ours.notes[0]
    assert several > 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["SUM", "AVERAGE"])
def test_regressors_decide_by_a_threshold(kind, how):
    for seed in range(10):
        rng = random.Random(f"{kind} {how} {seed}")
        attributes, leaves = random_trees(rng, rng.choice([1, 3, 90]), MODES[:4])
        attributes |= weighed([(*leaf, 0, random_weight(rng, -1)) for leaf in leaves], "target")
        attributes |= {"n_targets": 1, "aggregate_function": how}
        if seed % 2:
            attributes["base_values"] = [0.1]
        model = made("TreeEnsembleRegressor", attributes, kind, [("Y", onnx.TensorProto.FLOAT)])
        rows = rows_beside(quia.load(model, threshold=0), np.random.default_rng(seed), 120, KINDS[kind][0])
        predicted = run(model, rows)[0].ravel()
        for threshold in (0.1, float(np.median(predicted)), float(np.nextafter(np.median(predicted), np.float32(9)))):
            ours = quia.load(model, threshold=threshold, classes=["low", "high"])
            assert classes_of(ours, rows) == ["high" if number >= threshold else "low" for number in predicted]
    with pytest.raises(quia.Unsupported, match="threshold=0"):
        quia.load(model)
    for change in ({"aggregate_function": "MAX"}, {"post_transform": "PROBIT"}, {"n_targets": 2}):
        other = made("TreeEnsembleRegressor", attributes | change, kind, [("Y", onnx.TensorProto.FLOAT)])
        with pytest.raises(quia.Unsupported, match="regressor"):
            quia.load(other, threshold=0)


ESTIMATORS = {
    "RandomForestClassifier": {"n_estimators": 12, "max_depth": 5},
    "ExtraTreesClassifier": {"n_estimators": 12, "max_depth": 5},
    "GradientBoostingClassifier": {"n_estimators": 12},
    "RandomForestRegressor": {"n_estimators": 12, "max_depth": 5},
    "GradientBoostingRegressor": {"n_estimators": 12},
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("classes", [2, 3])
def test_what_skl2onnx_writes(name, classes, tmp_path):
    skl2onnx = pytest.importorskip("skl2onnx")
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(classes)
    x = rng.normal(size=(200, 3)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(int) + (x[:, 2] > 0) * (classes - 2)
    model = getattr(ensemble, name)(random_state=0, **ESTIMATORS[name]).fit(x, y)
    options = {id(model): {"zipmap": False}} if name.endswith("Classifier") else None
    file = tmp_path / "model.onnx"
    file.write_bytes(skl2onnx.to_onnx(model, x[:1], options=options).SerializeToString())
    more = {} if options else {"threshold": 0.7}
    ours = quia.load(file, names=["length", "width", "height"], **more)
    rows = rows_beside(ours, rng, 400, np.float32, missing=0)
    said = run(onnx.load(file), rows)[0].ravel()
    expected = [str(label) for label in said] if options else [ours.classes[int(number >= 0.7)] for number in said]
    assert classes_of(ours, rows) == expected
    assert [variable.name for variable in ours.variables] == ["length", "width", "height"]
    assert len(set(expected)) == len(ours.classes)


def test_broken_files_never_crash():
    rng = random.Random(1)
    attributes, leaves = random_trees(rng, 5, MODES)
    entries = [(*leaf, which, rng.random()) for leaf in leaves for which in range(3)]
    whole = classifier(attributes | weighed(entries, "class"), ["a", "b", "c"], "float").SerializeToString()
    quia.load(onnx.load_from_string(whole))
    refused = 0
    for _ in range(600):
        broken = bytearray(whole)
        for _ in range(rng.choice([1, 2, 5])):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        try:
            loader.read(bytes(broken[: rng.choice([len(broken), rng.randrange(len(broken))])]))
        except quia.QuiaError:
            refused += 1
    assert refused > 300
    for key, wrong in {
        "nodes_treeids": -1, "nodes_nodeids": 2**40, "nodes_featureids": -1, "nodes_truenodeids": 2**62,
        "nodes_falsenodeids": -(2**62), "class_treeids": 77, "class_nodeids": -5, "class_ids": 3,
    }.items():  # fmt: skip
        lists = {name: list(values) for name, values in (attributes | weighed(entries, "class")).items()}
        place = 1 if key == "nodes_nodeids" else 0  # no node leads to a root, so it may have any number
        lists[key][place] = wrong
        with pytest.raises(quia.FormatError, match=r"is not an ONNX model|column"):
            loader.read(classifier(lists, ["a", "b", "c"], "float").SerializeToString())
