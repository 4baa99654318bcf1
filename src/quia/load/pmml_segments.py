"""The segments of a PMML MiningModel: the trees in them, what they are weighed with, and what is made of their sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quia.errors import Unsupported, listed, shown
from quia.load.pmml_choice import Work
from quia.load.pmml_fields import Reader
from quia.load.pmml_members import Member
from quia.load.pmml_schema import data_fields

if TYPE_CHECKING:
    from quia.load.xml import Document, Element

_PLAIN = {"name", "usageType", "importance", "optype"}


class Part(NamedTuple):
    """Trees that make one number: their factors, what divides their sum, then multiplies it, and what is added then."""

    members: list[Member]
    factors: list[float]
    divisor: float
    factor: float
    constant: float
    output: str | None


class Segments:
    """A MiningModel as it is read: its fields, the classes and the trees found so far."""

    def __init__(self, document: Document, model: Element) -> None:
        self.document, self.model = document, model
        self.single = self._is_single(model)
        self.inputs, self.target, usable = data_fields(document, model)
        self.reader = Reader(document, self.inputs, usable, Work(len(document.elements)))
        self.classes: dict[str, int] = {}
        self.members: list[Member] = []
        self.function = document.need(model, "functionName")

    def unknown(self, method: str) -> Unsupported:
        """A refusal of a way to combine models."""
        return Unsupported(
            f"the {self.function} has multipleModelMethod={shown(method)}",
            cure="export one that adds, averages or counts its trees, or chains a sum with a RegressionModel",
        )

    def method(self, model: Element) -> str:
        """How a MiningModel combines its segments."""
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

    def segments(self, model: Element) -> list[tuple[Element, Element]]:
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

    def check_inner(self, model: Element, function: str) -> None:
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

    def tree(self, model: Element, function: str, votes: bool = False) -> Member:
        """The tree in a segment."""
        if model.tag != "TreeModel":
            raise Unsupported(f"a segment (line {model.line}) has a <{model.tag}>", cure="give segments of trees")
        self.check_inner(model, function)
        if self.document.children(model, "Targets", "Output"):
            raise Unsupported(f"a tree (line {model.line}) has targets or outputs of its own", cure="export it without")
        member = Member(self.document, model, self.reader, single=self.single, classes=self.classes, votes=votes)
        self.members.append(member)
        return member

    def weights(self, segments: Sequence[tuple[Element, Element]], weighted: bool) -> list[float]:
        """The weights of segments, all 1 if they do not count."""
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

    def part(self, model: Element) -> Part:
        """The trees of a model that predicts a number, and how they make it."""
        method = self.method(model)
        if method not in ("sum", "average", "weightedAverage", "weightedSum"):
            raise self.unknown(method)
        segments = self.segments(model)
        weights = self.weights(segments, method.startswith("weighted"))
        if method.startswith("weighted") and self.single:
            raise Unsupported("weights of segments are used in 32 bits", cure="export it in 64 bits")
        members = [self.tree(inner, "regression") for _, inner in segments]
        divisor = 1.0 if method in ("sum", "weightedSum") else float(sum(weights))
        factor, constant = self._rescaled(model)
        return Part(members, weights, divisor, factor, constant, self._output(model))

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

    def predictor(self, table: Element) -> str | None:
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
