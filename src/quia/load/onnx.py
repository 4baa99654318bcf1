"""ONNX: a TreeEnsembleClassifier, or a TreeEnsembleRegressor with a threshold, evaluated as onnxruntime does.

onnxruntime adds the weights of the leaves in the type of the input, 32 or 64 bits, tree after tree, and then the base
values; that is so with one thread, and with several threads for up to 50 rows and 80 trees at a time. A two-class
ensemble has weights for one class id, and decides for its second label above 0.5, or above 0 if some weight is
negative. With more classes it decides for the greatest sum among the classes that have weights, for the first of equal
ones. The label comes from the sums, whatever the post_transform is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from quia.ensemble import Ensemble
from quia.errors import Unsupported, listed, shown
from quia.load.binary import Column, check_scores, class_names
from quia.load.ensembles import assemble, simplest
from quia.load.malformed import malformed
from quia.load.onnx_classes import labels_of_leaves, refuse_twice, sums_of_many, sums_of_two
from quia.load.onnx_graph import Graph, Operator, read_graph
from quia.load.onnx_trees import Forest
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.sums import Rule, Sums

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.ensembles import Nodes

OPTIONS = ("classes", "missing", "names", "threshold")

_CLASSIFIER, _REGRESSOR = "TreeEnsembleClassifier", "TreeEnsembleRegressor"
_ORDER = "onnxruntime adds the trees in this order with one thread; with several the last bit of a sum may differ"


def convert(source: Any, **options: Any) -> Classifier:
    """The classifier of a live ModelProto."""
    if not hasattr(source, "SerializeToString"):
        raise Unsupported(f"a {type(source).__qualname__} is no ONNX model", cure="give a ModelProto")
    return read(source.SerializeToString(), **options)


def read(
    data: bytes,
    file: str | None = None,
    *,
    names: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    missing: bool = True,
    threshold: Threshold | None = None,
) -> Classifier:
    """The classifier of an ONNX model.

    `names` names its columns, which a matrix input does not; `threshold` makes classes of what a regressor predicts.
    """
    with malformed("an ONNX model", file):
        graph = read_graph(data, file)
        trees = [operator for operator in graph.operators if operator.kind.startswith("TreeEnsemble")]
        if len(trees) != 1 or trees[0].kind not in (_CLASSIFIER, _REGRESSOR):
            kinds = listed(dict.fromkeys(operator.kind for operator in graph.operators))
            raise Unsupported(f"the model has the operators {kinds}", cure=f"give one with a single {_CLASSIFIER}")
        if trees[0].kind == _REGRESSOR:
            return _regressor(graph, trees[0], refuse_without(threshold, "this ONNX model"), names, classes, missing)
        if threshold is not None:
            raise Unsupported("threshold is for regressors; this model predicts classes", cure="leave it out")
        return _classifier(graph, trees[0], names, classes, missing)


def _classifier(
    graph: Graph, operator: Operator, names: Sequence[str] | None, classes: Sequence[str] | None, missing: bool
) -> Classifier:
    given = operator.attributes.get("classlabels_strings") or operator.attributes["classlabels_int64s"]
    labels = [str(label) for label in given]  # strings, or an array of integers
    if len(labels) < 2:
        raise Unsupported(f"the classes of the ensemble are {listed(labels)}", cure="give one with two or more")
    graph.check_label(operator.outputs[0], labels)
    forest, columns = _read(graph, operator, "class", names)
    if not ((forest.scores_named >= 0) & (forest.scores_named < len(labels))).all():
        raise ValueError(f"there are weights for class {forest.scores_named[-1]} of {len(labels)}")
    base = forest.base(operator.attributes)
    chosen = class_names(classes or labels, len(labels))
    if len(forest.grown) < 2:
        only = int(forest.grown[0]) if len(forest.grown) else 0
        cuts = tuple(number + 0.5 for number in range(len(labels) - 1))  # the class of a leaf is its number
        sums = Sums((0,), (0.0,), Rule("cuts", cuts))
        nodes = forest.nodes(labels_of_leaves(forest, len(labels), base), only)
        return _build(columns, chosen, nodes, sums, missing, graph.file)
    if len(labels) == 2:
        values, sums = sums_of_two(forest, base)
    else:
        check_scores(int(forest.leaf.sum()), len(labels))
        values, sums = sums_of_many(forest, len(labels), base)
    return _build(columns, chosen, forest.nodes(values), sums, missing, graph.file)


def _regressor(
    graph: Graph,
    operator: Operator,
    threshold: Threshold,
    names: Sequence[str] | None,
    classes: Sequence[str] | None,
    missing: bool,
) -> Classifier:
    attributes = operator.attributes
    graph.check_label(operator.outputs[0], ["0.5"])
    forest, columns = _read(graph, operator, "target", names)
    base = forest.base(attributes)
    how, after = attributes.get("aggregate_function", "SUM"), attributes.get("post_transform", "NONE")
    if how not in ("SUM", "AVERAGE") or after != "NONE":
        raise Unsupported(
            f"the regressor has aggregate_function={shown(how)} and post_transform={shown(after)}",
            cure="export one that adds or averages its trees, with no transform",
        )
    if attributes.get("n_targets") != 1 or forest.scores_named.tolist() != [0] or len(base) > 1:
        raise Unsupported("the regressor predicts several numbers", cure="give one that predicts one")
    values = np.zeros(len(forest.mode))
    values[forest.at] = forest.weight
    refuse_twice(forest.at)
    chosen, rule = cutoff(threshold, classes, single=True)
    if forest.double:
        rule = Rule("cuts", tuple(map(_least_rounded_up, rule.cuts)))
    count = len(forest.start) - 1
    divisor = 1.0 if how == "SUM" else float(count)
    sums = Sums((0,) * count, (0.0,), rule, single=not forest.double, divisor=divisor, end=tuple(base))
    return _build(columns, chosen, forest.nodes(values), sums, missing, graph.file)


def _least_rounded_up(single: float) -> float:
    """The least 64-bit number that is not below a 32-bit number once it is rounded to 32 bits."""
    before = np.nextafter(np.float32(single), np.float32(-np.inf))
    middle = (float(before) + single) / 2
    return middle if np.float32(middle) == np.float32(single) else float(np.nextafter(middle, np.inf))


def _read(graph: Graph, operator: Operator, weights: str, names: Sequence[str] | None) -> tuple[Forest, list[Column]]:
    """The trees of an operator, and the columns that they test."""
    tested = operator.attributes["nodes_featureids"]
    columns = graph.columns(operator.inputs[0], 1 + int(np.max(tested, initial=0)))
    if names is not None:
        if len(names) != len(columns) or len(set(names)) != len(names):
            raise Unsupported(f"names are {listed(names)}", cure=f"give {len(columns)} different names")
        columns = [Column(str(name), column.single) for name, column in zip(names, columns, strict=True)]
    return Forest(operator.attributes, weights, graph.is_double(operator.inputs[0])), columns


def _build(
    columns: Sequence[Column], classes: Sequence[str], nodes: Nodes, sums: Sums, missing: bool, file: str | None
) -> Classifier:
    variables, trees = assemble(columns, nodes, missing=missing, file=file)
    if len(trees.test) != len(nodes.yes):
        raise ValueError("the first node of a tree does not lead to all others")
    notes = (_ORDER,) if len(trees) > 1 else ()
    return simplest(Ensemble(variables, tuple(classes), trees, sums, notes=notes))
