"""ONNX: a TreeEnsembleClassifier whose class is a function of one tree, evaluated as onnxruntime does.

A two-class ensemble has weights for one class id, and its second label is taken above 0.5, or above 0 if some weight is
negative. With more classes the label is the first of those with the greatest sum among those that a leaf gives weights.
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
    """The graph of an ONNX model; `names` are its columns', which a matrix input does not tell."""
    try:
        graph = read_graph(data, file)
        trees = [operator for operator in graph.operators if operator.kind.startswith("TreeEnsemble")]
        if len(trees) != 1 or trees[0].kind != "TreeEnsembleClassifier":
            found = listed(dict.fromkeys(operator.kind for operator in graph.operators))
            raise Unsupported(
                f"the model has the operators {found}", cure="give one with a single TreeEnsembleClassifier"
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
        given, self.file = operator.attributes, file
        self.double = False

        def numbers(name: str) -> list[float]:
            exact = given.get(f"{name}_as_tensor")
            return exact if exact is not None else list(given.get(name) or [])

        self.ids = list(zip(given["nodes_treeids"], given["nodes_nodeids"], strict=True))
        self.place = {name: index for index, name in enumerate(self.ids)}
        count = len(self.ids)
        self.columns: list[int] = given["nodes_featureids"]
        self.modes: list[str] = given["nodes_modes"]
        self.yes: list[int] = given["nodes_truenodeids"]
        self.no: list[int] = given["nodes_falsenodeids"]
        self.values = numbers("nodes_values")
        self.tracks: list[int] = given.get("nodes_missing_value_tracks_true") or [0] * count
        parts = (self.columns, self.modes, self.yes, self.no, self.values, self.tracks, self.place)
        if not count or any(len(part) != count for part in parts):
            raise ValueError("the lists of nodes differ in length, or a node is there twice")
        self.labels = [str(label) for label in given.get("classlabels_strings") or given["classlabels_int64s"]]
        self.base = numbers("base_values")
        self.weights: dict[int, list[tuple[int, float]]] = {}
        entries = zip(
            given["class_treeids"], given["class_nodeids"], given["class_ids"], numbers("class_weights"), strict=True
        )
        for tree, node, which, weight in entries:
            if not 0 <= which < len(self.labels) or weight != weight:
                raise ValueError(f"class id {which} has the weight {weight}")
            self.weights.setdefault(self.place[tree, node], []).append((which, weight))
        used = {which for mine in self.weights.values() for which, _ in mine}
        self.one_sided = len(self.labels) == 2
        if len(self.labels) < 2 or (self.one_sided and (len(used) != 1 or len(self.base) > (used == {0}))):
            raise Unsupported(
                "a two-class ensemble has weights for both classes, or base values for both",
                cure="export it with weights for one class, as skl2onnx does: onnxruntime gives no labels for this one",
            )
        self.positive = all(weight >= 0 for mine in self.weights.values() for _, weight in mine)

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
        decide = self._decided_by(constant)

        def node(at: int) -> Node:
            return decide(at) if self.modes[at] == "LEAF" else self._test(at)

        names = class_names(classes or self.labels, len(self.labels))
        return build(columns, names, chosen, node, missing=missing, file=self.file)

    def _child(self, at: int, node: int) -> int:
        return self.place[self.ids[at][0], node]

    def _test(self, at: int) -> Test:
        mode, value = self.modes[at], self.values[at]
        if mode not in _MODES:
            raise Unsupported(f"a node has the mode {shown(mode)}", cure=f"modes are {listed(_MODES)}")
        if value != value or self.columns[at] < 0:
            raise ValueError(f"the threshold or column of node {at}")
        value = self._kept(value)
        yes, no = self._child(at, self.yes[at]), self._child(at, self.no[at])
        tracks = bool(self.tracks[at])
        if mode in ("BRANCH_EQ", "BRANCH_NEQ"):
            where = Interval(Cut(value, False), Cut(value, True))
        else:
            where = Interval(None, Cut(value, mode in ("BRANCH_LEQ", "BRANCH_GT")))
        if mode in ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_EQ"):
            return Test(self.columns[at], yes, no, missing=tracks, where=(where,))
        # The opposite question has the answers swapped; NaN is neither greater than a number nor equal to it.
        goes_yes = tracks or mode == "BRANCH_NEQ"
        return Test(self.columns[at], no, yes, missing=not goes_yes, where=(where,))

    def _kept(self, number: float) -> float:
        """A number in the type that sums and comparisons are in."""
        return number if self.double else nearest_single(number)

    def _add(self, sums: dict[int, float], leaf: int) -> None:
        for which, weight in self.weights.get(leaf, ()):
            sums[which] = self._kept(sums.get(which, 0.0) + self._kept(weight))

    def _decided_by(self, constant: dict[int, float]) -> Callable[[int], int]:
        """The class of each leaf, given the sums of the trees that are only a leaf.

        Complexity: a leaf takes time in its own weights, however many classes the others have weights for.
        """
        if self.one_sided:
            base = sum(map(self._kept, self.base))
            return lambda leaf: self._second(constant, leaf, base)
        if self.base and len(self.base) != len(self.labels):
            raise ValueError(f"{len(self.base)} base values for {len(self.labels)} classes")

        def order(which: int, total: float) -> tuple[float, int]:
            return -self._kept(total + self._kept(self.base[which])) if self.base else -total, which

        classes = range(len(self.labels)) if self.base else list(constant)
        ranked = sorted(order(which, constant.get(which, 0.0)) for which in classes)

        def decide(leaf: int) -> int:
            own = self._sums(constant, leaf)
            others = next((rank for rank in ranked if rank[1] not in own), None)
            ranks = [order(which, total) for which, total in own.items()]
            if not ranks and others is None:
                raise ValueError("a leaf has no weights")
            return min(ranks if others is None else [*ranks, others])[1]

        return decide

    def _sums(self, constant: dict[int, float], leaf: int) -> dict[int, float]:
        """The sums of the classes that a leaf has weights for."""
        sums = {which: constant[which] for which, _ in self.weights.get(leaf, ()) if which in constant}
        self._add(sums, leaf)
        return sums

    def _second(self, constant: dict[int, float], leaf: int, base: float) -> int:
        """Whether a leaf of a two-class ensemble, which has weights for one of them, gives the second label."""
        sums = dict(constant)
        self._add(sums, leaf)
        return int(self._kept(sum(sums.values()) + base) > (0.5 if self.positive else 0))
