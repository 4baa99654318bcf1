"""PMML's MiningModel: trees that are added, averaged or vote, or sums of trees that a RegressionModel makes classes of.

It is evaluated as JPMML does: numbers are added in the order of the segments, in 32 bits if x-mathContext is 'float';
of equal classes the one wins that comes first in the leaves of the first tree, or among the regression tables, or whose
first vote comes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quia.ensemble import Ensemble
from quia.errors import Unsupported, listed, shown
from quia.load.binary import class_names
from quia.load.ensembles import simplest
from quia.load.pmml_choice import Work
from quia.load.pmml_fields import Reader
from quia.load.pmml_members import Flat, Member, is_fractional
from quia.load.pmml_schema import data_fields, declared_classes
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.sums import Group, Rule, Sums

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.load.xml import Document, Element

_PLAIN = {"name", "usageType", "importance", "optype"}


class _Part(NamedTuple):
    """Trees that make one number: their factors, what divides their sum, then multiplies it, and what is added then."""

    members: list[Member]
    factors: list[float]
    divisor: float
    factor: float
    constant: float
    output: str | None


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


class _Mining:
    def __init__(self, document: Document, model: Element, missing: bool, notes: Sequence[str]) -> None:
        self.document, self.model, self.missing, self.notes = document, model, missing, list(notes)
        self.single = self._is_single(model)
        self.inputs, self.target, usable = data_fields(document, model)
        self.reader = Reader(document, self.inputs, usable, Work(len(document.elements)))
        self.classes: dict[str, int] = {}
        self.members: list[Member] = []
        self.function = document.need(model, "functionName")

    def classifier(self, threshold: Threshold | None, classes: Sequence[str] | None) -> Classifier:
        """The ensemble, or the graph of its one tree."""
        method = self._method(self.model)
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
        raise self._unknown(method)

    def _unknown(self, method: str) -> Unsupported:
        return Unsupported(
            f"the {self.function} has multipleModelMethod={shown(method)}",
            cure="export one that adds, averages or counts its trees, or chains a sum with a RegressionModel",
        )

    def _method(self, model: Element) -> str:
        return self.document.need(self._segmentation(model), "multipleModelMethod")

    def _segmentation(self, model: Element) -> Element:
        found = self.document.child(model, "Segmentation")
        if found is None:
            raise self.document.fault("<MiningModel> has no <Segmentation>", model)
        return found

    def _is_single(self, model: Element) -> bool:
        context = model.attributes.get("x-mathContext", "double")
        if context not in ("float", "double"):
            raise Unsupported(f"the x-mathContext is {shown(context)}", cure="export it with float or double")
        return context == "float"

    def _segments(self, model: Element) -> list[tuple[Element, Element]]:
        """Each segment and its model; all of them must always be used."""
        pairs = []
        for segment in self.document.children(self._segmentation(model), "Segment"):
            inside = [e for e in self.document.children(segment) if e.tag.endswith("Model")]
            if len(inside) != 1:
                raise self.document.fault(f"a <Segment> has {len(inside)} models; it has one", segment)
            if self.document.child(segment, "True") is None:
                raise Unsupported(
                    f"a segment (line {segment.line}) is used for some instances only", cure="export it with <True/>"
                )
            pairs.append((segment, inside[0]))
        if not pairs:
            raise self.document.fault("<Segmentation> has no <Segment>", model)
        return pairs

    def _check_inner(self, model: Element, function: str) -> None:
        """Refuse an inner model that changes its fields, its numbers or its arithmetic."""
        if self._is_single(model) != self.single:
            raise Unsupported(
                f"a <{model.tag}> (line {model.line}) has another x-mathContext than the whole",
                cure="export one for all",
            )
        if (found := self.document.need(model, "functionName")) != function:
            raise Unsupported(f"a <{model.tag}> (line {model.line}) is for {shown(found)}", cure=f"export {function}")
        for block in self.document.children(model, "LocalTransformations"):
            if self.document.children(block, "DerivedField"):
                raise Unsupported(
                    f"a <{model.tag}> (line {model.line}) transforms fields of its own", cure="export it without that"
                )
        schema = self.document.child(model, "MiningSchema")
        for field in self.document.children(schema, "MiningField") if schema is not None else ():
            if unknown := set(field.attributes) - _PLAIN:
                raise Unsupported(
                    f"a field of an inner model (line {field.line}) has {listed(sorted(unknown))}",
                    cure="export it with these in the outer mining schema only",
                )

    def _tree(self, model: Element, function: str, votes: bool = False) -> Member:
        if model.tag != "TreeModel":
            raise Unsupported(f"a segment (line {model.line}) has a <{model.tag}>", cure="give segments of trees")
        self._check_inner(model, function)
        if self.document.children(model, "Targets", "Output"):
            raise Unsupported(f"a tree (line {model.line}) has targets or outputs of its own", cure="export it without")
        member = Member(self.document, model, self.reader, single=self.single, classes=self.classes, votes=votes)
        self.members.append(member)
        return member

    def _weights(self, segments: Sequence[tuple[Element, Element]], weighted: bool) -> list[float]:
        weights = []
        for segment, _ in segments:
            try:
                weight = float(segment.attributes.get("weight", "1")) if weighted else 1.0
            except ValueError:
                weight = math.nan
            if not (math.isfinite(weight) and weight > 0):
                raise self.document.fault("the weight of a <Segment> is no number above 0", segment)
            weights.append(weight)
        return weights

    def _part(self, model: Element) -> _Part:
        """The trees of a model that predicts a number, and how they make it."""
        method = self._method(model)
        if method not in ("sum", "average", "weightedAverage", "weightedSum"):
            raise self._unknown(method)
        segments = self._segments(model)
        weights = self._weights(segments, method.startswith("weighted"))
        if method.startswith("weighted") and self.single:
            raise Unsupported("weights of segments are used in 32 bits", cure="export it in 64 bits")
        members = [self._tree(inner, "regression") for _, inner in segments]
        divisor = 1.0 if method in ("sum", "weightedSum") else float(sum(weights))
        factor, constant = self._rescaled(model)
        return _Part(members, weights, divisor, factor, constant, self._output(model))

    def _rescaled(self, model: Element) -> tuple[float, float]:
        factor, constant = 1.0, 0.0
        for targets in self.document.children(model, "Targets"):
            for target in self.document.children(targets, "Target"):
                known = {"field", "optype", "rescaleFactor", "rescaleConstant"}
                if unknown := set(target.attributes) - known:
                    raise Unsupported(f"a <Target> has {listed(sorted(unknown))}", cure="export it without")
                if self.document.children(target, "TargetValue"):
                    raise Unsupported("a <Target> has values", cure="export it without")
                factor = self._number(target, "rescaleFactor", factor)
                constant = self._number(target, "rescaleConstant", constant)
        if factor <= 0:
            raise Unsupported(f"the rescaleFactor is {factor:g}", cure="export one above 0")
        return factor, constant

    def _number(self, element: Element, name: str, default: float) -> float:
        written = element.attributes.get(name)
        try:
            number = default if written is None else float(written)
        except ValueError:
            number = math.nan
        number = float(np.float32(number)) if self.single else number
        if not math.isfinite(number):
            raise self.document.fault(f"{name} is {shown(written)}, which is no finite number", element)
        return number

    def _output(self, model: Element) -> str | None:
        """The name under which a model's number goes on."""
        names = []
        for output in self.document.children(model, "Output"):
            for field in self.document.children(output, "OutputField"):
                if field.attributes.get("feature", "predictedValue") != "predictedValue" or field.children:
                    raise Unsupported(f"an output (line {field.line}) is computed", cure="export predicted values only")
                if self.single != (field.attributes.get("dataType", "double") == "float"):
                    raise Unsupported(
                        f"an output (line {field.line}) is rounded to another type",
                        cure="export it in the type of sums",
                    )
                names.append(self.document.need(field, "name"))
        return names[-1] if names else None

    def _chain(self, classes: Sequence[str] | None) -> Classifier:
        *first, (_, last) = self._segments(self.model)
        if last.tag != "RegressionModel" or not first:
            raise self._unknown("modelChain")
        parts = []
        for _, inner in first:
            if inner.tag != "MiningModel":
                raise Unsupported(f"a <{inner.tag}> (line {inner.line}) is chained", cure="chain sums of trees")
            self._check_inner(inner, "regression")
            parts.append(self._part(inner))
        self._check_inner(last, "classification")
        tables = [
            (self.document.need(t, "targetCategory"), self._predictor(t))
            for t in self.document.children(last, "RegressionTable")
        ]
        given = [part.output for part in parts]
        method = last.attributes.get("normalizationMethod", "none")
        names = [label for label, _ in tables]
        if method == "logit" and len(tables) == 2 and [name for _, name in tables] == [*given, None]:
            names.reverse()
            rule = Rule("cuts", (_least_even(self.single),))
        elif method == "softmax" and len(tables) > 1 and [name for _, name in tables] == given:
            rule = Rule("softmax32" if self.single else "softmax64")
        else:
            raise Unsupported(
                f"the regression (line {last.line}) has {len(tables)} tables and normalizationMethod={shown(method)}",
                cure="export logit of one sum, or softmax of one sum for each class",
            )
        return self._ensemble(parts, tuple(class_names(classes or names, len(names))), rule)

    def _predictor(self, table: Element) -> str | None:
        """The one number that a regression table takes as it is; None if it takes none."""
        predictors = self.document.children(table, "NumericPredictor", "CategoricalPredictor", "PredictorTerm")
        plain = all(
            p.tag == "NumericPredictor" and self._number(p, "coefficient", 1) == self._number(p, "exponent", 1) == 1
            for p in predictors
        )
        if len(predictors) > 1 or not plain or self._number(table, "intercept", 0) != 0:
            raise Unsupported(
                f"a <RegressionTable> (line {table.line}) does more than to take a sum", cure="export it as JPMML does"
            )
        return self.document.need(predictors[0], "name") if predictors else None

    def _regressor(self, threshold: Threshold, classes: Sequence[str] | None) -> Classifier:
        part = self._part(self.model)
        names, rule = cutoff(threshold, classes, single=self.single)
        return self._ensemble([part], names, rule)

    def _ensemble(self, parts: Sequence[_Part], names: tuple[str, ...], rule: Rule) -> Classifier:
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
        segments = self._segments(self.model)
        if self.single:
            raise Unsupported("shares of classes are averaged in 32 bits", cure="export it in 64 bits")
        weights = self._weights(segments, weighted)
        members = [self._tree(inner, "classification") for _, inner in segments]
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
        segments = self._segments(self.model)
        weights = self._weights(segments, weighted)
        members = [self._tree(inner, "classification", votes=True) for _, inner in segments]
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


def _least_even(single: bool) -> float:
    """The least sum whose logistic function is not below a half, in 32 bits or 64."""
    kind = np.float32 if single else np.float64
    one, low, high = kind(1), kind(-1), kind(0)
    while (middle := kind((low + high) / kind(2))) not in (low, high):
        even = one / (one + kind(math.exp(-float(middle)))) >= kind(0.5)
        low, high = (low, middle) if even else (middle, high)
    return float(high)
