"""PMML's MiningModel: trees that are added, averaged or vote, or sums of trees that a RegressionModel makes classes of.

It is evaluated as JPMML does: numbers are added in the order of the segments, in 32 bits if x-mathContext is 'float';
of equal classes the one wins that comes first in the leaves of the first tree, or among the regression tables, or whose
first vote comes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from quia.ensemble import Ensemble
from quia.errors import Unsupported, listed, shown
from quia.load.binary import class_names
from quia.load.ensembles import simplest
from quia.load.pmml_members import Flat, Member, is_fractional
from quia.load.pmml_schema import declared_classes
from quia.load.pmml_segments import Part, Segments
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.sums import Group, Rule, Sums

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.xml import Document, Element


def mining_model(
    document: Document,
    model: Element,
    missing: bool,
    threshold: Threshold | None,
    classes: Sequence[str] | None,
    notes: Sequence[str],
) -> Classifier:
    """The classifier of a MiningModel."""
    return _Mining(document, model, missing, notes).classifier(threshold, classes)


class _Mining(Segments):
    def __init__(self, document: Document, model: Element, missing: bool, notes: Sequence[str]) -> None:
        super().__init__(document, model)
        self.missing, self.notes = missing, list(notes)

    def classifier(self, threshold: Threshold | None, classes: Sequence[str] | None) -> Classifier:
        """The ensemble, or the graph of its one tree."""
        method = self.method(self.model)
        if self.function == "regression":
            return self._regressor(refuse_without(threshold, "this PMML model"), classes)
        if threshold is not None:
            raise Unsupported("threshold is for regressors; this model predicts classes", cure="leave it out")
        if self.function != "classification":
            raise Unsupported(f"the model is for {shown(self.function)}", cure="give one that classifies")
        if method == "modelChain":
            return self._chain(classes)
        if self.document.children(self.model, "Targets"):
            raise Unsupported("the model has <Targets>, which may change its classes", cure="export it without them")
        if method in ("average", "weightedAverage"):
            return self._shares(method == "weightedAverage", classes)
        if method in ("majorityVote", "weightedMajorityVote"):
            return self._votes(method == "weightedMajorityVote", classes)
        raise self.unknown(method)

    def _chain(self, classes: Sequence[str] | None) -> Classifier:
        *first, (_, last) = self.segments(self.model)
        if last.tag != "RegressionModel" or not first:
            raise self.unknown("modelChain")
        parts = []
        for _, inner in first:
            if inner.tag != "MiningModel":
                raise Unsupported(f"a <{inner.tag}> (line {inner.line}) is chained", cure="chain sums of trees")
            self.check_inner(inner, "regression")
            parts.append(self.part(inner))
        self.check_inner(last, "classification")
        tables = [
            (self.document.need(t, "targetCategory"), self.predictor(t))
            for t in self.document.children(last, "RegressionTable")
        ]
        given = [part.output for part in parts]
        method = last.attributes.get("normalizationMethod", "none")
        names = [label for label, _ in tables]
        if method == "logit" and len(tables) == 2 and [name for _, name in tables] == [*given, None]:
            names.reverse()
            rule = Rule("cuts", (least_even(self.single),))
        elif method == "softmax" and len(tables) > 1 and [name for _, name in tables] == given:
            rule = Rule("softmax32" if self.single else "softmax64")
        else:
            raise Unsupported(
                f"the regression (line {last.line}) has {len(tables)} tables and normalizationMethod={shown(method)}",
                cure="export logit of one sum, or softmax of one sum for each class",
            )
        return self._ensemble(parts, tuple(class_names(classes or names, len(names))), rule)

    def _regressor(self, threshold: Threshold, classes: Sequence[str] | None) -> Classifier:
        part = self.part(self.model)
        names, rule = cutoff(threshold, classes, single=self.single)
        return self._ensemble([part], names, rule)

    def _ensemble(self, parts: Sequence[Part], names: tuple[str, ...], rule: Rule) -> Classifier:
        flat = self._flat(
            [(member, factor) for part in parts for member, factor in zip(part.members, part.factors, strict=True)]
        )
        outputs = tuple(index for index, part in enumerate(parts) for _ in part.members)
        plain = all(part.divisor == part.factor == 1 for part in parts)
        groups = () if plain else tuple(Group(len(part.members), part.divisor, part.factor) for part in parts)
        end = tuple(part.constant for part in parts)
        sums = Sums(outputs, (0.0,) * len(parts), rule, single=self.single, groups=groups, end=end)
        kind = "boosted trees" if all(part.divisor == 1 for part in parts) else "forest"
        return self._simplest(names, flat, sums, 1, kind)

    def _shares(self, weighted: bool, classes: Sequence[str] | None) -> Classifier:
        segments = self.segments(self.model)
        if self.single:
            raise Unsupported("shares of classes are averaged in 32 bits", cure="export it in 64 bits")
        weights = self.weights(segments, weighted)
        members = [self.tree(inner, "classification") for _, inner in segments]
        if members[0].orders != {tuple(self.classes)}:
            raise Unsupported(
                "leaves of the first tree list the classes in several orders, or not all of them, which is what settles"
                " ties",
                cure="export it with a <ScoreDistribution> of all classes in one order at each leaf",
            )
        flat = self._flat(list(zip(members, weights, strict=True)))
        count = len(self.classes)
        sums = Sums((-1,) * len(members), (0.0,) * count, Rule("argmax"), divisor=float(sum(weights)))
        return self._simplest(self._names(classes), flat, sums, count, "forest")

    def _votes(self, weighted: bool, classes: Sequence[str] | None) -> Classifier:
        """Votes, and far below them a bit for each tree, so that of equal classes the one voted for first wins."""
        segments = self.segments(self.model)
        weights = self.weights(segments, weighted)
        members = [self.tree(inner, "classification", votes=True) for _, inner in segments]
        for label in declared_classes(self.document, self.target):
            self.classes.setdefault(label, len(self.classes))  # nobody votes for these
        ranked = 1 if len(self.classes) < 3 else len(members)
        total = sum(weights)
        if any(weight != int(weight) for weight in weights) or total >= 2 ** (52 - min(ranked, 52)):
            raise Unsupported(
                f"{len(members)} trees vote for {len(self.classes)} classes with weights of {total:g} in all, and ties"
                " would be settled by the first vote",
                cure="export it with multipleModelMethod='average'",
            )
        bits = [2.0 ** -(index + 1) if index < ranked else 0.0 for index in range(len(members))]
        flat = self._flat([(m, weight + bit) for m, weight, bit in zip(members, weights, bits, strict=True)])
        count = len(self.classes)
        sums = Sums((-1,) * len(members), (0.0,) * count, Rule("argmax"))
        return self._simplest(self._names(classes), flat, sums, count, "forest")

    def _names(self, classes: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(class_names(classes or list(self.classes), len(self.classes)))

    def _flat(self, members: Sequence[tuple[Member, float]]) -> Flat:
        """All trees over variables in which missing is a state only where it always leads to a prediction."""
        fractional = is_fractional(self.members)
        missing = self.missing and not fractional
        self.reader.check_invalid_values(self.missing, fractional)
        self.notes += [note for field in self.inputs.values() if (note := field.note())]
        fields = list(self.inputs.values())
        for field in fields:
            field.routed = True
        self.reader.make_variables(missing)
        if missing:
            refusing = {variable for member in self.members for variable in member.refusing()}
            for index in refusing:
                if fields[index].replacement is None and not fields[index].taken_for_missing:
                    fields[index].routed = False
            self.reader.make_variables(True)
        flat = Flat()
        for member, factor in members:
            flat.add(member, factor)
        return flat

    def _simplest(self, names: tuple[str, ...], flat: Flat, sums: Sums, width: int, kind: str) -> Classifier:
        if len(names) < 2:
            raise Unsupported(f"the classes of the model are {listed(names)}", cure="give one with two or more")
        variables = tuple(self.reader.variables)
        return simplest(Ensemble(variables, names, flat.trees(width), sums, kind=kind, notes=tuple(self.notes)))


def least_even(single: bool) -> float:
    """The least sum whose logistic function is not below a half, in 32 bits or 64."""
    kind = np.float32 if single else np.float64
    one, low, high = kind(1), kind(-1), kind(0)
    while (middle := kind((low + high) / kind(2))) not in (low, high):
        even = one / (one + kind(math.exp(-float(middle)))) >= kind(0.5)
        low, high = (low, middle) if even else (middle, high)
    return float(high)
