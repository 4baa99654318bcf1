"""PMML 4.x, as R, KNIME, SAS and JPMML's exporters write it: a TreeModel that classifies, a MiningModel of trees, a
Scorecard or a RegressionModel.

A node's children are tried in order, and the first whose predicate holds is taken. A missing value makes predicates
unknown, and the model's missingValueStrategy says what then happens. Where the model would make no prediction for a
missing value, such an instance is refused; where it makes none for other values, the class is 'no prediction'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quia.errors import Unsupported, listed, shown
from quia.load.pmml_choice import Choice, Work, children_first
from quia.load.pmml_fields import Reader
from quia.load.pmml_mining import mining_model
from quia.load.pmml_regression import regression_model
from quia.load.pmml_schema import data_fields, declared_classes
from quia.load.pmml_scorecard import scorecard
from quia.load.pmml_tree import FRACTIONAL, NULL, Tree
from quia.load.xml import Document, Element, parse
from quia.ranges import difference, intersection

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.consistent import Edges
    from quia.graph import DecisionGraph
    from quia.load.regressors import Threshold

OPTIONS = ("classes", "missing", "threshold")

NO_PREDICTION = "no prediction"


def read(
    data: bytes,
    file: str | None = None,
    *,
    missing: bool = True,
    threshold: Threshold | None = None,
    classes: Sequence[str] | None = None,
) -> Classifier:
    """The classifier of a PMML model; `missing=False` assumes that no value is missing, which makes it smaller.

    `threshold` makes classes of the numbers that a Scorecard, a RegressionModel or a MiningModel of regression trees
    predicts, and `classes` names these.
    """
    document = parse(data, file)
    root = document.elements[0]
    if root.tag != "PMML":
        raise document.fault(f"begins with <{root.tag}>, so it is no PMML", root)
    model, notes = _model(document)
    if model.tag in _READERS:
        return _READERS[model.tag](document, model, missing, threshold, classes, notes)
    if threshold is not None or classes is not None:
        raise Unsupported("threshold and classes are for regressors; this is a tree of classes", cure="leave them out")
    return _Single(document, model, missing).graph(notes)


def _model(document: Document) -> tuple[Element, list[str]]:
    models = [e for e in document.children(document.elements[0]) if e.tag.endswith("Model") or e.tag in _OTHER_MODELS]
    if not models:
        raise document.fault("has no model", document.elements[0])
    model = models[0]
    if model.tag != "TreeModel" and model.tag not in _READERS:
        raise Unsupported(
            f"a <{model.tag}> (line {model.line}) is not read here", cure=f"give a {listed(('TreeModel', *_READERS))}"
        )
    if model.attributes.get("isScorable", "true").strip() in ("false", "0"):
        raise Unsupported(
            f"the tree (line {model.line}) has isScorable='false', so it is not meant to decide",
            cure="export one that is",
        )
    function = document.need(model, "functionName")
    if model.tag == "TreeModel" and function != "classification":
        raise Unsupported(f"the tree is for {shown(function)}", cure="give a tree with functionName='classification'")
    return model, [f"the file has {len(models)} models; this is the first"] if len(models) > 1 else []


_OTHER_MODELS = ("RuleSetModel", "Scorecard", "NeuralNetwork")

_READERS = {"MiningModel": mining_model, "Scorecard": scorecard, "RegressionModel": regression_model}


class _Single(Tree):
    """A TreeModel that classifies alone, and the graph built from it."""

    def __init__(self, document: Document, model: Element, missing: bool) -> None:
        self.inputs, self.target, usable = data_fields(document, model)
        reader = Reader(document, self.inputs, usable, Work(len(document.elements)))
        super().__init__(document, model, reader, declared_classes(document, self.target))
        self.missing = missing and self.strategy not in FRACTIONAL
        self.reader.check_invalid_values(missing, self.strategy in FRACTIONAL)
        self.priors = any(
            "priorProbability" in value.attributes
            for targets in document.children(model, "Targets")
            for target in document.children(targets, "Target")
            for value in document.children(target, "TargetValue")
        )

    def graph(self, notes: list[str]) -> DecisionGraph:
        """The graph of the tree; prior probabilities that would decide are refused."""
        graph = self._graph(notes)
        return self._without_priors(graph) if self.priors else graph

    def _graph(self, notes: list[str]) -> DecisionGraph:
        """The graph, in which a missing value is a state only of variables where it can lead to a prediction."""
        notes = [*notes, *(note for field in self.inputs.values() if (note := field.note()))]
        for field in self.inputs.values():
            field.routed = True
        self.reader.make_variables(self.missing)
        if not self.missing or self.keeps_last or self.strategy not in ("none", "nullPrediction"):
            return self._build(notes)
        # A value that counts as missing must not fall into the state of the values that no predicate mentions.
        routed = [
            field.replacement is not None or (field.taken_for_missing and not field.numeric)
            for field in self.inputs.values()
        ]
        for at in range(-1, len(self.nodes)):
            for variable, edges in self.choice(at)[1].values():
                absent = self.reader.absent(variable)
                routed[variable] |= any(key != NULL for states, key in edges if intersection(states, absent))
                # Where it only matters that a value is missing, no node would test it, so none would refuse it.
                routed[variable] |= sum(bool(difference(states, absent)) for states, _ in edges) < 2
        for field, has_state in zip(self.inputs.values(), routed, strict=True):
            field.routed = has_state
        self.reader.make_variables(True)
        return self._build(notes)

    def _without_priors(self, graph: DecisionGraph) -> DecisionGraph:
        """The graph, if it always makes a prediction, so that the prior probabilities of the target do not matter."""
        if any(label >= len(self.classes) for label in graph.labels):
            raise Unsupported(
                "where the tree makes no prediction, the priorProbability of <Targets> decides",
                cure="export the model without it"
                + (", or load it with missing=False if no value is ever missing" if self.missing else ""),
            )
        return graph

    def _build(self, notes: list[str]) -> DecisionGraph:
        """The graph over the current variables, its nodes in the order in which PMML tests them."""
        from quia.graph import DecisionGraph

        tests: list[int] = []
        labels: list[int] = []
        edges: list[Edges] = []
        node_of: dict[int, int] = {}  # tree node → graph node

        def add(test: int, label: int, outgoing: Edges) -> int:
            tests.append(test)
            labels.append(label)
            edges.append(outgoing)
            return len(tests) - 1

        def outcome(key: int) -> int:
            """The graph node of a tree node; below zero a leaf: -1 is no prediction, -2 - c is class c."""
            if key >= 0:
                return node_of[key]
            return add(-1, len(self.classes) if key == NULL else -2 - key, ())

        for tree_node in range(len(self.nodes) - 1, -2, -1):  # children first; -1, the entry to the root, comes last
            start, residues = self.choice(tree_node)
            node_of_choice: dict[Choice, int] = {}
            for key in children_first(residues):
                variable, choice_edges = residues[key]
                outgoing = tuple(
                    (states, outcome(next_key) if isinstance(next_key, int) else node_of_choice[next_key])
                    for states, next_key in choice_edges
                )
                node_of_choice[key] = add(variable, -1, outgoing)
            node_of[tree_node] = outcome(start) if isinstance(start, int) else node_of_choice[start]
        kept = _reachable(node_of[-1], edges)
        position = {node: index for index, node in enumerate(kept)}
        names = list(self.classes)
        if any(labels[node] == len(names) for node in kept):
            label = NO_PREDICTION
            while label in names:
                label = f"({label})"
            names.append(label)
            notes = [*notes, f"where the model makes no prediction its class is {label!r}"]
        return DecisionGraph.build(
            self.reader.variables,
            names,
            [tests[n] for n in kept],
            [labels[n] for n in kept],
            [tuple((states, position[child]) for states, child in edges[n]) for n in kept],
            notes=notes,
        )


def _reachable(root: int, edges: list[Edges]) -> list[int]:
    """The nodes that the root reaches, children first."""
    seen = {root}
    for node in range(root, -1, -1):
        if node in seen:
            seen.update(child for _, child in edges[node])
    return sorted(seen)
