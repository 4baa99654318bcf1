"""ONNX: a TreeEnsembleClassifier whose class is a function of one tree, evaluated as onnxruntime does.

A two-class ensemble has weights for one class id, and decides for its second label above 0.5, or above 0 if some weight
is negative. With more classes it decides for the greatest sum among the classes that have weights, for the first of
equal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from quia.cuts import Cut, Interval, nearest_single
from quia.errors import FormatError, QuiaError, Unsupported, listed, shown
from quia.load.binary import ENSEMBLE, Column, Node, Test, build, class_names
from quia.load.onnx_graph import Operator, read_graph

if TYPE_CHECKING:
    from quia.graph import DecisionGraph

OPTIONS = ("classes", "missing", "names")

_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def convert(source: Any, **options: Any) -> DecisionGraph:
    """The graph of a live ModelProto."""
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
) -> DecisionGraph:
    """The graph of an ONNX model; `names` names its columns, which a matrix input does not."""
    try:
        graph = read_graph(data, file)
        trees = [operator for operator in graph.operators if operator.kind.startswith("TreeEnsemble")]
        if len(trees) != 1 or trees[0].kind != "TreeEnsembleClassifier":
            kinds = listed(dict.fromkeys(operator.kind for operator in graph.operators))
            raise Unsupported(
                f"the model has the operators {kinds}", cure="give one with a single TreeEnsembleClassifier"
            )
        ensemble = _Ensemble(trees[0], file)
        graph.check_label(trees[0].outputs[0], ensemble.labels)
        columns = graph.columns(trees[0].inputs[0], 1 + max(ensemble.columns, default=0))
        ensemble.double = graph.is_double(trees[0].inputs[0])
        if names is not None:
            if len(names) != len(columns) or len(set(names)) != len(names):
                raise Unsupported(f"names are {listed(names)}", cure=f"give {len(columns)} different names")
            columns = [Column(str(name), column.single) for name, column in zip(names, columns, strict=True)]
        return ensemble.graph(columns, classes, missing)
    except QuiaError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as fault:
        raise FormatError(
            f"is not an ONNX model that can be read: {type(fault).__name__} {shown(str(fault))}", file=file
        ) from None


class _Ensemble:
    def __init__(self, operator: Operator, file: str | None) -> None:
        attributes, self.file = operator.attributes, file
        self.double = False

        def numbers(name: str) -> list[float]:
            exact = attributes.get(f"{name}_as_tensor")
            return exact if exact is not None else list(attributes.get(name) or [])

        self.ids = list(zip(attributes["nodes_treeids"], attributes["nodes_nodeids"], strict=True))
        self.position = {name: index for index, name in enumerate(self.ids)}
        count = len(self.ids)
        self.columns: list[int] = attributes["nodes_featureids"]
        self.modes: list[str] = attributes["nodes_modes"]
        self.yes: list[int] = attributes["nodes_truenodeids"]
        self.no: list[int] = attributes["nodes_falsenodeids"]
        self.values = numbers("nodes_values")
        self.tracks: list[int] = attributes.get("nodes_missing_value_tracks_true") or [0] * count
        lists = (self.columns, self.modes, self.yes, self.no, self.values, self.tracks, self.position)
        if not count or any(len(values) != count for values in lists):
            raise ValueError("the lists of nodes differ in length, or a node is there twice")
        self.labels = [
            str(label) for label in attributes.get("classlabels_strings") or attributes["classlabels_int64s"]
        ]
        self.base = numbers("base_values")
        self.weights: dict[int, list[tuple[int, float]]] = {}
        entries = zip(
            attributes["class_treeids"],
            attributes["class_nodeids"],
            attributes["class_ids"],
            numbers("class_weights"),
            strict=True,
        )
        for tree, node, class_id, weight in entries:
            if not 0 <= class_id < len(self.labels) or weight != weight:
                raise ValueError(f"class id {class_id} has the weight {weight}")
            self.weights.setdefault(self.position[tree, node], []).append((class_id, weight))
        used = {class_id for weights in self.weights.values() for class_id, _ in weights}
        self.one_sided = len(self.labels) == 2
        if len(self.labels) < 2 or (self.one_sided and (len(used) != 1 or len(self.base) > (used == {0}))):
            raise Unsupported(
                "a two-class ensemble has weights for both classes, or base values for both",
                cure="export it with weights for one class, as skl2onnx does: onnxruntime gives no labels for this one",
            )
        self.positive = all(weight >= 0 for weights in self.weights.values() for _, weight in weights)

    def graph(self, columns: Sequence[Column], classes: Sequence[str] | None, missing: bool) -> DecisionGraph:
        """The graph of the one tree that has tests."""
        inner = [index for index, mode in enumerate(self.modes) if mode != "LEAF"]
        children = {self._child(index, end[index]) for index in inner for end in (self.yes, self.no)}
        roots = [index for index in range(len(self.ids)) if index not in children]
        if len(roots) != len({tree for tree, _ in self.ids}):
            raise ValueError("a tree has no root, or two")
        grown = [root for root in roots if self.modes[root] != "LEAF"]
        if len(grown) > 1:
            raise Unsupported(f"the class depends on {len(grown)} trees", cure=ENSEMBLE)
        chosen = grown[0] if grown else roots[0]
        constant: dict[int, float] = {}
        for root in roots:
            if root != chosen:
                self._add(constant, root)
        decide = self._class_of_leaf(constant)

        def node(at: int) -> Node:
            return decide(at) if self.modes[at] == "LEAF" else self._test(at)

        names = class_names(classes or self.labels, len(self.labels))
        return build(columns, names, chosen, node, missing=missing, file=self.file)

    def _child(self, parent: int, child: int) -> int:
        return self.position[self.ids[parent][0], child]

    def _test(self, node: int) -> Test:
        mode, value = self.modes[node], self.values[node]
        if mode not in _MODES:
            raise Unsupported(f"a node has the mode {shown(mode)}", cure=f"modes are {listed(_MODES)}")
        if value != value or self.columns[node] < 0:
            raise ValueError(f"the threshold or column of node {node}")
        value = self._rounded(value)
        yes, no = self._child(node, self.yes[node]), self._child(node, self.no[node])
        tracks = bool(self.tracks[node])
        if mode in ("BRANCH_EQ", "BRANCH_NEQ"):
            where = Interval(Cut(value, False), Cut(value, True))
        else:
            where = Interval(None, Cut(value, mode in ("BRANCH_LEQ", "BRANCH_GT")))
        if mode in ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_EQ"):
            return Test(self.columns[node], yes, no, missing=tracks, where=(where,))
        # The opposite question has the answers swapped; NaN is neither greater than a number nor equal to it.
        goes_yes = tracks or mode == "BRANCH_NEQ"
        return Test(self.columns[node], no, yes, missing=not goes_yes, where=(where,))

    def _rounded(self, number: float) -> float:
        """A number in the type that sums and comparisons are in."""
        return number if self.double else nearest_single(number)

    def _add(self, sums: dict[int, float], leaf: int) -> None:
        for class_id, weight in self.weights.get(leaf, ()):
            sums[class_id] = self._rounded(sums.get(class_id, 0.0) + self._rounded(weight))

    def _class_of_leaf(self, constant: dict[int, float]) -> Callable[[int], int]:
        """A function from a leaf to its class, if `constant` are the sums of the trees that are a single leaf.

        Complexity: a leaf takes time linear in its own weights, however many classes other leaves have weights for.
        """
        if self.one_sided:
            base = sum(map(self._rounded, self.base))
            return lambda leaf: self._is_second(constant, leaf, base)
        if self.base and len(self.base) != len(self.labels):
            raise ValueError(f"{len(self.base)} base values for {len(self.labels)} classes")

        def order(class_id: int, total: float) -> tuple[float, int]:
            return -self._rounded(total + self._rounded(self.base[class_id])) if self.base else -total, class_id

        classes = range(len(self.labels)) if self.base else list(constant)
        ranked = sorted(order(class_id, constant.get(class_id, 0.0)) for class_id in classes)

        def decide(leaf: int) -> int:
            own = self._sums(constant, leaf)
            others = next((rank for rank in ranked if rank[1] not in own), None)
            ranks = [order(class_id, total) for class_id, total in own.items()]
            if not ranks and others is None:
                raise ValueError("a leaf has no weights")
            return min(ranks if others is None else [*ranks, others])[1]

        return decide

    def _sums(self, constant: dict[int, float], leaf: int) -> dict[int, float]:
        """The sums of the classes that a leaf has weights for."""
        sums = {class_id: constant[class_id] for class_id, _ in self.weights.get(leaf, ()) if class_id in constant}
        self._add(sums, leaf)
        return sums

    def _is_second(self, constant: dict[int, float], leaf: int, base: float) -> int:
        """Whether a leaf of a two-class ensemble, which has weights for one class only, gives the second label."""
        sums = dict(constant)
        self._add(sums, leaf)
        return int(self._rounded(sum(sums.values()) + base) > (0.5 if self.positive else 0))
