"""The trees of a PMML MiningModel: what each leaf contributes, and the trees as yes/no tests on shared variables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from quia.cuts import nearest_single
from quia.errors import Unsupported
from quia.load.binary import check_scores
from quia.load.pmml_tree import FRACTIONAL, NULL, Tree
from quia.ranges import intersection
from quia.trees import Trees

if TYPE_CHECKING:
    from quia.load.pmml_choice import Choice
    from quia.load.pmml_fields import Reader
    from quia.load.xml import Document, Element
    from quia.ranges import Ranges

    Branches = Sequence[tuple[Ranges, Choice | int]]

Row = dict[int, float]
"""What a leaf contributes to some of the scores."""


class Member(Tree):
    """A tree of a MiningModel: it predicts a number, or shares of the classes, in the order in which leaves list them.

    `votes` says that only the class counts that a leaf predicts.
    """

    def __init__(
        self, document: Document, model: Element, reader: Reader, *, single: bool, classes: dict[str, int], votes: bool
    ) -> None:
        self.single, self.all_classes, self.votes = single, classes, votes
        self.rows: dict[str, Row] = {}
        self.orders: set[tuple[str, ...]] = set()
        self.numbers = document.need(model, "functionName") == "regression"
        super().__init__(document, model, reader, {})

    def score(self, node: Element) -> str | None:
        """A name for what a node contributes; None if it has no score."""
        if self.numbers or self.votes:
            written = super().score(node)
            if written is not None and written not in self.rows:
                self.rows[written] = {0: self._number(written, node)} if self.numbers else self._vote(written)
            return written
        entries = self.document.children(node, "ScoreDistribution")
        if not entries:
            if "score" in node.attributes:
                raise Unsupported(
                    f"a leaf (line {node.line}) has no <ScoreDistribution>", cure="export it with one, or with votes"
                )
            return None
        counts: dict[str, float] = {}
        for entry in entries:
            if "probability" in entry.attributes:
                raise Unsupported(
                    f"a leaf (line {entry.line}) has probabilities", cure="export it with the recordCount alone"
                )
            count = self._number(self.document.need(entry, "recordCount"), entry)
            counts[self.document.need(entry, "value")] = count
        total = sum(counts.values())
        if len(counts) < len(entries) or min(counts.values()) < 0 or not total > 0:
            raise self.document.fault("a <ScoreDistribution> has counts that cannot be", node)
        order = tuple(counts)
        self.orders.add(order)
        for label in order:
            self.all_classes.setdefault(label, len(self.all_classes))
        name = repr(counts)
        self.rows[name] = {self.all_classes[label]: count / total for label, count in counts.items()}
        return name

    def _vote(self, label: str) -> Row:
        return {self.all_classes.setdefault(label, len(self.all_classes)): 1.0}

    def _number(self, written: str, element: Element) -> float:
        try:
            number = float(written) if written.isascii() and "_" not in written else math.nan
        except ValueError:
            number = math.nan
        number = nearest_single(number) if self.single else number
        if not math.isfinite(number):
            raise self.document.fault(f"a score is {written!r}, which is no finite number", element)
        return number

    def refusing(self) -> Iterator[int]:
        """The variables of which a missing value leads to no prediction."""
        for at in range(-1, len(self.nodes)):
            for variable, edges in self.choice(at)[1].values():
                absent = self.reader.absent(variable)
                if any(key == NULL for states, key in edges if intersection(states, absent)):
                    yield variable


class Flat:
    """Flat arrays that trees are appended to."""

    def __init__(self) -> None:
        self.start: list[int] = [0]
        self.test: list[int] = []
        self.yes: list[int] = []
        self.no: list[int] = []
        self.leaves: list[tuple[int, Row]] = []
        self.tests: dict[tuple[int, Ranges], int] = {}

    def add(self, tree: Member, factor: float = 1.0) -> None:
        """Append a tree, what its leaves contribute multiplied by a factor.

        Several branches become a chain of yes/no tests; the last branch is the answer no of the last test.
        """
        names, choice = list(tree.classes), cache(tree.choice)
        first, _ = choice(-1)
        # To do: at a node of the tree, its variable, branches, the first one left, and whose answer that is.
        waiting: list[tuple[int, int, Branches, int, int, bool]] = [(-1, 0, (((), first),), 0, -1, True)]
        while waiting:
            at, variable, branches, index, parent, is_yes = waiting.pop()
            states, key = branches[index]
            if index + 1 < len(branches):
                tree.work.spend(1)
                node = self._node(parent, is_yes)
                self.test[node] = self.tests.setdefault((variable, states), len(self.tests))
                waiting.append((at, variable, branches, index + 1, node, False))
                waiting.append((at, variable, ((states, key),), 0, node, True))
                continue
            while isinstance(key, int) and key >= 0:
                at = key
                key, _ = choice(at)
            if isinstance(key, int):
                self._leaf(tree, names, key, factor, self._node(parent, is_yes))
            else:
                residue = choice(at)[1][key]
                waiting.append((at, residue.variable, residue.edges, 0, parent, is_yes))
        self.start.append(len(self.test))

    def _node(self, parent: int, is_yes: bool) -> int:
        for ends in (self.test, self.yes, self.no):
            ends.append(-1)
        here = len(self.test) - 1
        if parent >= 0:
            (self.yes if is_yes else self.no)[parent] = here
        return here

    def _leaf(self, tree: Member, names: Sequence[str], key: int, factor: float, node: int) -> None:
        if key == NULL:
            raise Unsupported(
                f"a tree (line {tree.model.line}) makes no prediction for some values",
                cure="export it with noTrueChildStrategy='returnLastPrediction', or load it with missing=False",
            )
        row = tree.rows[names[-2 - key]]
        self.leaves.append((node, {score: number * factor for score, number in row.items()}))

    def trees(self, width: int) -> Trees:
        """The trees, with so many values a leaf."""
        check_scores(len(self.leaves), width)
        values = np.zeros((len(self.leaves), width))
        for index, (_, row) in enumerate(sorted(self.leaves, key=itemgetter(0))):
            for score, number in row.items():
                values[index, score] = number
        return Trees.build(self.start, self.test, self.yes, self.no, values, list(self.tests))


def is_fractional(members: Sequence[Member]) -> bool:
    """Whether a missing value may lead to several leaves at once."""
    return any(member.strategy in FRACTIONAL for member in members)
