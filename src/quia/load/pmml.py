"""PMML 4.x: a TreeModel that classifies, as R, KNIME, SAS and scikit-learn's exporters write it.

A node's children are tried in order, and the first whose predicate holds is taken. A missing value makes predicates
unknown, and the model's missingValueStrategy says what then happens. Where the model would make no prediction for a
missing value, such an instance is refused; where it makes none for other values, the class is 'no prediction'.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from quia.errors import Unsupported, listed, shown
from quia.load.pmml_choice import Choice, Residue, Work, children_first, compile_choice
from quia.load.pmml_fields import PREDICATES, Reader
from quia.load.pmml_schema import data_fields
from quia.load.xml import Document, Element, parse
from quia.ranges import difference, intersection

if TYPE_CHECKING:
    from quia.consistent import Edges
    from quia.graph import DecisionGraph

OPTIONS = ("missing",)

NO_PREDICTION = "no prediction"
_NULL = -1
_STRATEGIES = ("none", "lastPrediction", "nullPrediction", "defaultChild", "weightedConfidence", "aggregateNodes")
_FRACTIONAL = ("weightedConfidence", "aggregateNodes")


def read(data: bytes, file: str | None = None, *, missing: bool = True) -> DecisionGraph:
    """The decision graph of a PMML tree; `missing=False` assumes that no value is missing, which makes it smaller."""
    document = parse(data, file)
    root = document.elements[0]
    if root.tag != "PMML":
        raise document.fault(f"begins with <{root.tag}>, so it is no PMML", root)
    model, notes = _model(document)
    return _Tree(document, model, missing).graph(notes)


def _model(document: Document) -> tuple[Element, list[str]]:
    models = [e for e in document.children(document.elements[0]) if e.tag.endswith("Model") or e.tag in _OTHER_MODELS]
    if not models:
        raise document.fault("has no model", document.elements[0])
    model = models[0]
    if model.tag == "MiningModel":
        raise Unsupported(
            f"a <MiningModel> (line {model.line}) combines several models",
            cure="give a single TreeModel; ensembles are planned for a later release",
        )
    if model.tag != "TreeModel":
        raise Unsupported(f"a <{model.tag}> (line {model.line}) is no tree", cure="give a TreeModel")
    if model.attributes.get("isScorable", "true").strip() in ("false", "0"):
        raise Unsupported(
            f"the tree (line {model.line}) has isScorable='false', so it is not meant to decide",
            cure="export one that is",
        )
    if (function := document.need(model, "functionName")) != "classification":
        raise Unsupported(f"the tree is for {shown(function)}", cure="give a tree with functionName='classification'")
    return model, [f"the file has {len(models)} models; this is the first"] if len(models) > 1 else []


_OTHER_MODELS = ("RuleSetModel", "Scorecard", "NeuralNetwork")


class _Tree:
    """One TreeModel, read from its document, and the graph built from it."""

    def __init__(self, document: Document, model: Element, missing: bool) -> None:
        self.document, self.model = document, model
        self.strategy = self._one_of("missingValueStrategy", _STRATEGIES, "none")
        self.keeps_last = (
            self._one_of(
                "noTrueChildStrategy", ("returnNullPrediction", "returnLastPrediction"), "returnNullPrediction"
            )
            == "returnLastPrediction"
        )
        self.missing = missing and self.strategy not in _FRACTIONAL
        root = document.child(model, "Node")
        if root is None:
            raise document.fault("<TreeModel> has no <Node>", model)
        # Parents before children; a node is identified by its index in this list.
        self.nodes: list[Element] = [root]
        self.children: list[list[int]] = []
        self.winner: list[int] = []  # the class of a node, or of the nearest above it that has one
        self.inputs, self.target, usable = data_fields(document, model)
        self.work = Work(len(document.elements))
        self.reader = Reader(document, self.inputs, usable, self.work)
        self.classes = self._declared_classes()
        self._walk()
        self.reader.check_invalid_values(missing, self.strategy in _FRACTIONAL)
        self.priors = any(
            "priorProbability" in value.attributes
            for targets in document.children(model, "Targets")
            for target in document.children(targets, "Target")
            for value in document.children(target, "TargetValue")
        )

    def _one_of(self, name: str, values: tuple[str, ...], default: str) -> str:
        value = self.model.attributes.get(name, default)
        if value not in values:
            raise self.document.fault(f"{name}={shown(value)} is not one of {listed(values)}", self.model)
        return value

    def _declared_classes(self) -> dict[str, int]:
        dictionary = self.document.child(self.document.elements[0], "DataDictionary")
        assert dictionary is not None
        for element in self.document.children(dictionary, "DataField"):
            if element.attributes["name"] == self.target:
                values = self.document.children(element, "Value")
                valid = (v.attributes["value"] for v in values if v.attributes.get("property", "valid") == "valid")
                return {label: index for index, label in enumerate(dict.fromkeys(valid))}
        return {}

    def _walk(self) -> None:
        above = [_NULL]
        for number, node in enumerate(self.nodes):  # the list grows while it is walked
            for unsupported in self.document.children(node, "DecisionTree", "Regression"):
                raise Unsupported(
                    f"a node has an embedded <{unsupported.tag}> (line {unsupported.line})", cure="give a plain tree"
                )
            label = self._score(node)
            self.winner.append(above[number] if label is None else self.classes.setdefault(label, len(self.classes)))
            self.reader.gather(self._predicate(node))
            children = self.document.children(node, "Node")
            self.children.append(list(range(len(self.nodes), len(self.nodes) + len(children))))
            self.nodes += children
            above += [self.winner[number]] * len(children)

    def _score(self, node: Element) -> str | None:
        if "score" in node.attributes:
            return node.attributes["score"]
        best, most = None, float("-inf")
        for entry in self.document.children(node, "ScoreDistribution"):
            try:
                count = float(self.document.need(entry, "recordCount"))
            except ValueError:
                raise self.document.fault("recordCount is no number", entry) from None
            if count > most:
                best, most = self.document.need(entry, "value"), count
        return best

    def _predicate(self, node: Element) -> Element:
        predicates = self.document.children(node, *PREDICATES)
        if len(predicates) != 1:
            raise self.document.fault(f"a <Node> has {len(predicates)} predicates; it has one", node)
        return predicates[0]

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
            for variable, edges in self._choice(at)[1].values():
                absent = self.reader.absent(variable)
                routed[variable] |= any(key != _NULL for states, key in edges if intersection(states, absent))
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
            return add(-1, len(self.classes) if key == _NULL else -2 - key, ())

        for tree_node in range(len(self.nodes) - 1, -2, -1):  # children first; -1, the entry to the root, comes last
            start, residues = self._choice(tree_node)
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

    def _choice(self, node: int) -> tuple[Choice | int, dict[Choice, Residue]]:
        """The tests by which a node chooses its child; node -1 is the entry, whose only child is the root."""
        children = [0] if node < 0 else self.children[node]
        winner = _NULL if node < 0 else self.winner[node]
        last = _NULL if winner == _NULL else -2 - winner
        if not children:
            return last, {}
        choice = tuple((self.reader.predicate(self._predicate(self.nodes[child])), child) for child in children)

        at_unknown = None if self.strategy == "none" else cache(lambda: self._at_unknown(node, last))

        def settle(open_choice: Choice) -> Choice | int:
            for number, (predicate, child) in enumerate(open_choice):
                if predicate is True:
                    return child
                if predicate is None and at_unknown is not None:
                    return at_unknown()
                if predicate is not None and predicate is not False:
                    return open_choice[number:]
            return last if self.keeps_last else _NULL

        return compile_choice(choice, lambda v: self.reader.variables[v].size, settle, at_unknown, self.work)

    def _at_unknown(self, node: int, last: int) -> int:
        if self.strategy == "lastPrediction":
            return last
        if self.strategy != "defaultChild" or node < 0:
            return _NULL
        default = self.nodes[node].attributes.get("defaultChild")
        for child in self.children[node]:
            if self.nodes[child].attributes.get("id") == default is not None:
                return child
        raise self.document.fault(
            f"defaultChild={shown(default)} names no child, and missingValueStrategy='defaultChild' needs one;"
            " missing=False leaves missing values out",
            self.nodes[node],
        )


def _reachable(root: int, edges: list[Edges]) -> list[int]:
    """The nodes that the root reaches, children first."""
    seen = {root}
    for node in range(root, -1, -1):
        if node in seen:
            seen.update(child for _, child in edges[node])
    return sorted(seen)
