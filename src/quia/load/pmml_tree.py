"""One TreeModel of PMML: its nodes, what they predict, and how each chooses its child."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from quia.errors import Unsupported, listed, shown
from quia.load.pmml_choice import Choice, Residue, compile_choice
from quia.load.pmml_fields import PREDICATES, Reader

if TYPE_CHECKING:
    from quia.load.xml import Document, Element

NULL = -1
"""The outcome of a tree that makes no prediction."""

FRACTIONAL = ("weightedConfidence", "aggregateNodes")
"""Strategies by which a missing value leads to several leaves at once."""

_STRATEGIES = ("none", "lastPrediction", "nullPrediction", "defaultChild", *FRACTIONAL)


class Tree:
    """The nodes of a TreeModel, parents before children, a node is its index; `winner` is what each predicts.

    That is the number of a class in `classes`, of the node itself or the nearest above it that predicts one, or NULL.
    """

    def __init__(self, document: Document, model: Element, reader: Reader, classes: dict[str, int]) -> None:
        self.document, self.model, self.reader, self.classes = document, model, reader, classes
        self.work = reader.work
        self.strategy = self._one_of("missingValueStrategy", _STRATEGIES, "none")
        self.keeps_last = (
            self._one_of(
                "noTrueChildStrategy", ("returnNullPrediction", "returnLastPrediction"), "returnNullPrediction"
            )
            == "returnLastPrediction"
        )
        root = document.child(model, "Node")
        if root is None:
            raise document.fault("<TreeModel> has no <Node>", model)
        self.nodes: list[Element] = [root]
        self.children: list[list[int]] = []
        self.winner: list[int] = []
        self._walk()

    def _one_of(self, name: str, values: tuple[str, ...], default: str) -> str:
        value = self.model.attributes.get(name, default)
        if value not in values:
            raise self.document.fault(f"{name}={shown(value)} is not one of {listed(values)}", self.model)
        return value

    def _walk(self) -> None:
        above = [NULL]
        for number, node in enumerate(self.nodes):  # the list grows while it is walked
            for unsupported in self.document.children(node, "DecisionTree", "Regression"):
                raise Unsupported(
                    f"a node has an embedded <{unsupported.tag}> (line {unsupported.line})", cure="give a plain tree"
                )
            label = self.score(node)
            self.winner.append(above[number] if label is None else self.classes.setdefault(label, len(self.classes)))
            self.reader.gather(self._predicate(node))
            children = self.document.children(node, "Node")
            self.children.append(list(range(len(self.nodes), len(self.nodes) + len(children))))
            self.nodes += children
            above += [self.winner[number]] * len(children)

    def score(self, node: Element) -> str | None:
        """What a node predicts; None if it says nothing."""
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

    def choice(self, node: int) -> tuple[Choice | int, dict[Choice, Residue]]:
        """The tests by which a node chooses its child; node -1 is the entry, whose only child is the root."""
        children = [0] if node < 0 else self.children[node]
        winner = NULL if node < 0 else self.winner[node]
        last = NULL if winner == NULL else -2 - winner
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
            return last if self.keeps_last else NULL

        return compile_choice(choice, lambda v: self.reader.variables[v].size, settle, at_unknown, self.work)

    def _at_unknown(self, node: int, last: int) -> int:
        if self.strategy == "lastPrediction":
            return last
        if self.strategy != "defaultChild" or node < 0:
            return NULL
        default = self.nodes[node].attributes.get("defaultChild")
        for child in self.children[node]:
            if self.nodes[child].attributes.get("id") == default is not None:
                return child
        raise self.document.fault(
            f"defaultChild={shown(default)} names no child, and missingValueStrategy='defaultChild' needs one;"
            " missing=False leaves missing values out",
            self.nodes[node],
        )
