"""ONNX trees: our class is onnxruntime's, on random models with every mode and on what skl2onnx writes."""

import contextlib
import random

import numpy as np
import pytest

import quia
from quia.load import onnx as loader

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TYPES = {"float": np.float32, "double": np.float64, "int64": np.int64}


def predict(model, rows, feeds=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    feeds = feeds or {session.get_inputs()[0].name: rows}
    return [str(label) for label in session.run([session.get_outputs()[0].name], feeds)[0].ravel()]


def random_model(rng, kind, modes):
    """A random tree with a random number of classes, and perhaps trees that are only a leaf."""
    nodes, weights = [], []
    count = rng.choice([2, 3, 4])
    labels = [f"class {i}" for i in range(count)]
    sign = rng.choice([0, -1])

    def weigh(tree, node):
        used = [0] if count == 2 else rng.sample(range(count), rng.choice([1, count, count]))
        weights.extend((tree, node, which, rng.choice([0.25, 0.5, 0.75, rng.uniform(sign, 1)])) for which in used)

    def value():
        near = rng.choice([0.0, 0.1, 1 / 3, -2.5, 7.0, rng.gauss(0, 1)])
        return float(round(near)) if kind == "int64" else float(np.float32(near))

    open_nodes, made = [0], 1
    while open_nodes:
        node = open_nodes.pop()
        if node and (made > 40 or rng.random() < 0.3):
            nodes.append((0, node, 0, 0.0, "LEAF", 0, 0, 0))
            weigh(0, node)
            continue
        nodes.append((0, node, rng.randrange(3), value(), rng.choice(modes), made, made + 1, rng.choice([0, 1])))
        open_nodes += [made, made + 1]
        made += 2
    for tree in range(1, rng.choice([1, 1, 2, 3])):
        nodes.append((tree, 0, 0, 0.0, "LEAF", 0, 0, 0))
        weigh(tree, 0)
    keys = (
        "treeids",
        "nodeids",
        "featureids",
        "values",
        "modes",
        "truenodeids",
        "falsenodeids",
        "missing_value_tracks_true",
    )
    attributes = {f"nodes_{key}": list(column) for key, column in zip(keys, zip(*nodes, strict=True), strict=True)}
    columns = list(zip(*weights, strict=True))
    attributes |= {
        f"class_{key}": list(c) for key, c in zip(("treeids", "nodeids", "ids", "weights"), columns, strict=True)
    }
    if count > 2 and rng.random() < 0.4:
        attributes["base_values"] = [rng.uniform(-1, 1) for _ in range(count)]
    if rng.random() < 0.3:
        attributes["post_transform"] = rng.choice(["LOGISTIC", "SOFTMAX"])
    return make_model([tree_node(attributes, labels)], kind)


def tree_node(attributes, labels, source="X"):
    return onnx.helper.make_node(
        "TreeEnsembleClassifier",
        [source],
        ["label", "scores"],
        domain="ai.onnx.ml",
        classlabels_strings=labels,
        **attributes,
    )


def make_model(nodes, kind, inputs=None):
    proto = {"float": onnx.TensorProto.FLOAT, "double": onnx.TensorProto.DOUBLE, "int64": onnx.TensorProto.INT64}
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        inputs or [info("X", proto[kind], [None, 3])],
        [info("label", onnx.TensorProto.STRING, [None]), info("scores", onnx.TensorProto.FLOAT, [None, None])],
    )
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


def probes(model, rng, kind, count=300):
    attribute = {a.name: onnx.helper.get_attribute_value(a) for n in model.graph.node for a in n.attribute}
    cuts = [v for v, mode in zip(attribute["nodes_values"], attribute["nodes_modes"], strict=True) if mode != b"LEAF"]
    if kind == "int64":
        return np.array([[int(rng.choice(cuts)) + rng.randrange(-1, 2) for _ in range(3)] for _ in range(count)])
    step = TYPES[kind]

    def value():
        at = step(rng.choice(cuts))
        return rng.choice(
            [at, np.nextafter(at, step(-np.inf)), np.nextafter(at, step(np.inf)), step("nan"), step(rng.gauss(0, 1))]
        )

    return np.array([[value() for _ in range(3)] for _ in range(count)], step)


@pytest.mark.parametrize("kind", ["float", "double", "int64"])
@pytest.mark.parametrize("block", range(3))
def test_our_class_is_onnxruntimes_on_random_models(kind, block):
    several = 0
    for seed in range(block * 25, block * 25 + 25):
        rng = random.Random(f"{kind} {seed}")
        model = random_model(rng, kind, MODES if seed % 2 else [rng.choice(MODES)])
        graph = quia.load(model)
        rows = probes(model, rng, kind)
        expected = predict(model, rows)
        assert [graph.classify(row) for row in rows.tolist()] == expected, seed
        several += len(set(expected)) > 1
    assert several > 10


@pytest.mark.parametrize("labels", ["numbers", "texts", "three"])
def test_what_skl2onnx_writes(labels, tmp_path):
    skl2onnx = pytest.importorskip("skl2onnx")
    tree = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 3)).astype(np.float32)
    y = {
        "numbers": (x[:, 0] > 0).astype(int),
        "texts": np.where(x[:, 1] > x[:, 0], "a b", "c"),
        "three": rng.integers(1, 4, 300),
    }
    fitted = tree.DecisionTreeClassifier(max_depth=5, random_state=0).fit(x, y[labels])
    model = skl2onnx.to_onnx(fitted, x[:1])
    file = tmp_path / "tree.onnx"
    file.write_bytes(model.SerializeToString())
    graph = quia.load(file, names=["length", "width", "height"])
    assert [v.name for v in graph.variables] == ["length", "width", "height"]
    t = rng.choice(fitted.tree_.threshold[fitted.tree_.feature >= 0].astype(np.float32), (1000, 3))
    rows = np.choose(rng.integers(0, 3, t.shape), [t, np.nextafter(t, np.float32(-9)), np.nextafter(t, np.float32(9))])
    assert [graph.classify(row) for row in rows.tolist()] == predict(model, rows)


def test_columns_that_are_joined_keep_their_names():
    rng = random.Random(1)
    info = onnx.helper.make_tensor_value_info
    inputs = [
        info("age", onnx.TensorProto.FLOAT, [None, 1]),
        info("paid", onnx.TensorProto.DOUBLE, [None, 1]),
        info("more", onnx.TensorProto.FLOAT, [None, 1]),
    ]
    plain = random_model(rng, "float", ["BRANCH_LEQ"])
    node = plain.graph.node[0]
    node.input[0] = "joined"
    cast = onnx.helper.make_node("Cast", ["paid"], ["paid32"], to=onnx.TensorProto.FLOAT)
    join = onnx.helper.make_node("Concat", ["age", "paid32", "more"], ["joined"], axis=1)
    model = make_model([cast, join, node], "float", inputs)
    graph = quia.load(model)
    assert [v.name for v in graph.variables] == ["age", "paid", "more"]
    rows = probes(plain, rng, "double")
    feeds = {"age": rows[:, :1].astype(np.float32), "paid": rows[:, 1:2], "more": rows[:, 2:].astype(np.float32)}
    assert [graph.classify(row) for row in rows.tolist()] == predict(model, None, feeds)


def test_what_is_not_exact_is_refused_by_name():
    attributes = {
        "nodes_treeids": [0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 0, 1, 2],
        "nodes_featureids": [0] * 6,
        "nodes_values": [0.0] * 6,
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * 2,
        "nodes_truenodeids": [1, 0, 0] * 2,
        "nodes_falsenodeids": [2, 0, 0] * 2,
        "class_treeids": [0, 0, 1, 1],
        "class_nodeids": [1, 2, 1, 2],
        "class_ids": [0] * 4,
        "class_weights": [0.1, 0.9, 0.1, 0.9],
    }
    both = make_model([tree_node(attributes | {"class_ids": [0, 1, 0, 1]}, ["a", "b"])], "float")
    with pytest.raises(quia.Unsupported, match="both classes"):
        quia.load(both)
    scaled = make_model(
        [onnx.helper.make_node("Scaler", ["X"], ["Y"], domain="ai.onnx.ml"), tree_node(attributes, ["a", "b"], "Y")],
        "float",
    )
    with pytest.raises(quia.Unsupported, match="Scaler"):
        quia.load(scaled)
    twice = make_model([tree_node(attributes | {"class_nodeids": [1, 1, 1, 2]}, ["a", "b"])], "float")
    with pytest.raises(quia.Unsupported, match="two weights for one class"):
        quia.load(twice)
    sparse = attributes | {"class_ids": [0, 1, 2, 1], "class_weights": [0.5, -0.5, -0.25, 0.25]}
    with pytest.raises(quia.Unsupported, match="no weight for a class"):
        quia.load(make_model([tree_node(sparse, ["a", "b", "c"])], "float"))
    apart = make_model([tree_node(attributes | {"nodes_treeids": [0, 1, 0, 1, 0, 1]}, ["a", "b"])], "float")
    with pytest.raises(quia.FormatError, match="not side by side"):
        quia.load(apart)
    alone = make_model([tree_node(attributes, ["a"])], "float")
    with pytest.raises(quia.Unsupported, match="two or more"):
        quia.load(alone)
    with pytest.raises(quia.Unsupported, match="threshold is for regressors"):
        quia.load(make_model([tree_node(attributes, ["a", "b"])], "float"), threshold=1)
    other = make_model([onnx.helper.make_node("Abs", ["X"], ["scores"])], "float")
    with pytest.raises(quia.Unsupported, match="operators Abs"):
        quia.load(other)


def stump(labels, before=(), after=(), source="X", out="label", out_type=onnx.TensorProto.INT64):
    """A model of one test, f0 <= 0.5, between other operators."""
    attributes = {
        "nodes_treeids": [0] * 3,
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0] * 3,
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "class_treeids": [0, 0],
        "class_nodeids": [1, 2],
        "class_ids": [0, 1],
        "class_weights": [1.0, 1.0],
    }
    names = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s"
    attributes[names] = labels
    make = onnx.helper.make_node
    tree = make("TreeEnsembleClassifier", [source], ["label", "scores"], domain="ai.onnx.ml", **attributes)
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [*before, tree, *after],
        "g",
        [info("X", onnx.TensorProto.FLOAT, [None, 1])],
        [info(out, out_type, [None])],
    )
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in (("", 17), ("ai.onnx.ml", 3), ("my", 1))]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


def negation(domain):
    inner, opset = onnx.helper.make_node("Neg", ["a"], ["b"]), onnx.helper.make_opsetid("", 17)
    return onnx.helper.make_function(domain, "Identity", ["a"], ["b"], [inner], [opset])


def test_operators_of_other_domains_are_not_taken_for_those_of_onnx():
    own = stump([3, 4, 5], [onnx.helper.make_node("Identity", ["X"], ["Y"], domain="my")], source="Y")
    own.functions.append(negation("my"))
    assert predict(own, np.array([[-1.0], [1.0]], np.float32)) == ["4", "3"]
    with pytest.raises(quia.Unsupported, match=r"'my\.Identity'"):
        quia.load(own)
    tree = stump([3, 4, 5])
    tree.graph.node[0].domain = "my"
    with pytest.raises(quia.Unsupported, match=r"my\.TreeEnsembleClassifier"):
        quia.load(tree)
    for domain in ("", "ai.onnx"):
        anew = stump([3, 4, 5], [onnx.helper.make_node("Identity", ["X"], ["Y"])], source="Y")
        anew.functions.append(negation(domain))
        with pytest.raises(quia.Unsupported, match="defines the operator 'Identity'"):
            quia.load(anew)


@pytest.mark.parametrize(
    ("labels", "to", "kept"),
    [
        ([0, 256, -2], "INT64", True),
        ([0, 256, -2], "STRING", True),
        (["0", "7", "-2"], "INT64", True),
        (["a", "b", "c"], "STRING", True),
        (["1", "01", "2"], "INT64", False),
        ([0, 256, -2], "BOOL", False),
        ([0, 256, -2], "INT8", False),
        ([0, 256, -2], "FLOAT", False),
    ],
)
def test_a_cast_of_the_label_must_keep_labels(labels, to, kept):
    kind = getattr(onnx.TensorProto, to)
    model = stump(labels, after=[onnx.helper.make_node("Cast", ["label"], ["y"], to=kind)], out="y", out_type=kind)
    if kept:
        rows = np.array([[0.0], [1.0]], np.float32)
        assert [quia.load(model).classify(row) for row in rows.tolist()] == predict(model, rows)
    else:
        with pytest.raises(quia.Unsupported, match=f"goes on to Cast to {to};"):
            quia.load(model)


def test_broken_files_never_crash():
    whole = random_model(random.Random(0), "float", MODES).SerializeToString()
    rng = random.Random(1)
    for _ in range(1500):
        broken = bytearray(whole)
        for _ in range(rng.choice([1, 2, 5])):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        with contextlib.suppress(quia.QuiaError):
            loader.read(bytes(broken[: rng.choice([len(broken), rng.randrange(len(broken))])]))
