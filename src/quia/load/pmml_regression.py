"""PMML's RegressionModel: a sum of numbers and categories, each times a coefficient, for each class or for a threshold.

It is evaluated as JPMML does: a table adds its numeric predictors, then its categorical ones, and the intercept last,
in 64 bits. Of a field's categorical predictors in a row the first that matches counts; a missing category adds nothing,
while a missing number leaves no prediction, so it is refused. Of two classes with `logit` or `none` only the first
table counts, and its class wins from a probability of a half on. With `softmax` it is the first of the greatest; as
JPMML rounds probabilities, for it two tables that differ by less than 2**-53 are equal too, which is so here if one of
two tables is a constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from quia.additive import Additive
from quia.errors import InstanceError, Unsupported, listed, shown
from quia.load.binary import class_names
from quia.load.links import least
from quia.load.pmml_choice import Work
from quia.load.pmml_fields import Reader
from quia.load.pmml_mining import least_even
from quia.load.pmml_scaled import scaled_fields
from quia.load.pmml_schema import NUMBERS, Field, data_fields, number_of, spelled
from quia.load.pmml_scorecard import check_plain, finite
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.places import LARGEST
from quia.sums import Rule
from quia.terms import Line, Step, Table, Term
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.load.xml import Document, Element

_POWERS: dict[float, tuple[Step, ...]] = {1.0: (), 2.0: (("square",),)}


def regression_model(
    document: Document,
    model: Element,
    missing: bool,
    threshold: Threshold | None,
    classes: Sequence[str] | None,
    notes: Sequence[str],
) -> Additive:
    """The classifier of a RegressionModel."""
    check_plain(document, model)
    tables: Sequence[Element] = document.children(model, "RegressionTable")
    method = model.attributes.get("normalizationMethod", "none")
    function = document.need(model, "functionName")
    if function == "regression":
        if method != "none" or len(tables) != 1:
            raise Unsupported(
                f"the regression has {len(tables)} tables and normalizationMethod={shown(method)}",
                cure="export one table without a normalization",
            )
        names, rule = cutoff(refuse_without(threshold, "a regression"), classes, single=False)
    elif function == "classification":
        if threshold is not None:
            raise Unsupported("threshold is for regressors; this model predicts classes", cure="leave it out")
        tables, names, rule = _decision(document, model, tables, method, classes)
    else:
        raise Unsupported(f"the model is for {shown(function)}", cure="give one that classifies, or a regression")
    return _Regression(document, model, tables, missing).classifier(names, rule, notes)


def _decision(
    document: Document, model: Element, tables: Sequence[Element], method: str, classes: Sequence[str] | None
) -> tuple[Sequence[Element], tuple[str, ...], Rule]:
    """The tables that count, the classes, and the rule that tells them."""
    labels = [document.need(table, "targetCategory") for table in tables]
    if len(labels) < 2:
        raise Unsupported(
            f"the classification has {len(labels)} <RegressionTable>",
            cure="export one for each class, of which one may be empty",
        )
    if len(set(labels)) < len(labels):
        raise document.fault(f"the tables are for the classes {listed(labels)}; they must differ", model)
    # In the data dictionary an order of classes may be declared, for which PMML has other formulas.
    _refuse_ordinal(document, model)
    if len(tables) == 2 and (method in ("logit", "none") or (method == "softmax" and not tables[1].children)):
        names = tuple(class_names(classes, 2)) if classes else (labels[1], labels[0])
        if method == "softmax":
            other = finite(document, tables[1], "intercept", "0")
            cut = least(lambda score: _softmax(score, other) >= _softmax(other, score), single=False)
        else:
            cut = least_even(False) if method == "logit" else 0.5
        return tables[:1], names, Rule("cuts", (cut,))
    if method == "softmax":
        return tables, tuple(class_names(classes or labels, len(labels))), Rule("argmax")
    raise Unsupported(
        f"the classification has {len(tables)} tables and normalizationMethod={shown(method)}",
        cure="export logit for two classes, or softmax",
    )


def _softmax(score: float, other: float) -> float:
    """The probability of a class with a score, beside one with another, as JPMML rounds it."""
    greatest = max(score, other)
    power, rest = math.exp(score - greatest), math.exp(other - greatest)
    return power / (power + rest)


def _refuse_ordinal(document: Document, model: Element) -> None:
    _, target, _ = data_fields(document, model)
    dictionary = document.child(document.elements[0], "DataDictionary")
    assert dictionary is not None
    for element in document.children(dictionary, "DataField"):
        if element.attributes["name"] == target and element.attributes["optype"] == "ordinal":
            raise Unsupported(f"the classes, {shown(target)}, are ordinal", cure="export them as categorical")


class _Regression:
    """The tables of a model, and the fields that they take."""

    def __init__(self, document: Document, model: Element, tables: Sequence[Element], missing: bool) -> None:
        self.document, self.tables, self.missing = document, tables, missing
        self.inputs, _, self.usable = data_fields(document, model)
        self.fields = list(self.inputs.values())
        self.reader = Reader(document, self.inputs, self.usable, Work(len(document.elements)))
        self.scaled = scaled_fields(document, model, self.usable)
        self.lines: set[int] = set()
        for table in tables:
            for term in document.children(table, "PredictorTerm"):
                raise Unsupported(
                    f"a <PredictorTerm> (line {term.line}) multiplies several fields",
                    cure="export the model without interactions",
                )
            self._gather(table)
        self.reader.check_invalid_values(missing, False)

    def _gather(self, table: Element) -> None:
        """Record the fields that a table takes as numbers, and the categories that it mentions."""
        for element in self.document.children(table, "NumericPredictor", "CategoricalPredictor"):
            index = self._index(element)
            field = self.fields[index]
            field.tested = field.routed = True
            if element.tag == "CategoricalPredictor":
                if field.numeric:
                    raise Unsupported(
                        f"a <CategoricalPredictor> (line {element.line}) is about {shown(field.name)}, a number",
                        cure="export the field as categorical",
                    )
                field.seen[spelled(field, self.document.need(element, "value"))] = None
            else:
                self._check_line(field, element)
                self.lines.add(index)

    def _check_line(self, field: Field, element: Element) -> None:
        named = self.usable[self._base(element)]
        fault = None
        if not field.numeric or field.type not in NUMBERS:
            fault, cure = f"is {field.optype} of type {shown(field.type)}", "export it as a continuous number"
        elif isinstance(named, Unsupported) or named.single:
            fault, cure = "is rounded to 32 bits", "export it as double"
        elif field.taken_for_missing:
            fault, cure = "has values that count as missing", "export it without these"
        if fault is not None:
            raise Unsupported(
                f"{shown(field.name)} is a <NumericPredictor> (line {element.line}), but {fault}", cure=cure
            )

    def _base(self, element: Element) -> str:
        """The field that a predictor takes, or scales before."""
        name = self.document.need(element, "name")
        return self.scaled[name].name if element.tag == "NumericPredictor" and name in self.scaled else name

    def _index(self, element: Element) -> int:
        name = self._base(element)
        named = self.usable.get(name)
        if isinstance(named, Unsupported):
            raise named
        if named is None:
            raise Unsupported(
                f"the model takes {shown(name)} (line {element.line}), which is no active field, or one derived by more"
                " than to scale a number",
                cure="export the model without other transformations, on its own columns",
            )
        return self.reader.index_of[id(named.field)]

    def classifier(self, names: tuple[str, ...], rule: Rule, notes: Sequence[str]) -> Additive:
        """The additive model; numbers are lines, whose range is the one interval of valid ones, if there is one."""
        self.reader.make_variables(self.missing)
        variables = list(self.reader.variables)
        for index in self.lines:
            field = self.fields[index]
            gone = self.missing and field.replacement is not None
            variables[index] = Variable.line(field.name, *_range(field), missing=gone)
        self.variables = tuple(variables)
        terms = _merged([self._terms(table, score) for score, table in enumerate(self.tables)])
        end = tuple(finite(self.document, table, "intercept", "0") for table in self.tables)
        numbers = [
            *end,
            *(n for term in terms for n in (term.weights if isinstance(term, Line) else term.values.ravel())),
        ]
        if sum(map(abs, numbers)) > LARGEST:
            raise self.document.fault("the coefficients are too large for exact sums", self.tables[0])
        found = (*notes, *(note for field in self.fields if (note := field.note())))
        kind = "linear model"
        return Additive(self.variables, names, tuple(terms), (0.0,) * len(end), rule, end=end, kind=kind, notes=found)

    def _terms(self, table: Element, score: int) -> list[Term]:
        terms: list[Term] = [self._line(p, score) for p in self.document.children(table, "NumericPredictor")]
        for index, run in groupby(self.document.children(table, "CategoricalPredictor"), self._index):
            coefficient_of: dict[str, float] = {}
            for predictor in run:
                value = spelled(self.fields[index], predictor.attributes["value"])
                if value not in coefficient_of:
                    coefficient_of[value] = finite(self.document, predictor, "coefficient", None)
            terms.append(self._table(index, coefficient_of, score))
        return terms

    def _only(self, score: int, number: float) -> tuple[float, ...]:
        """A number for one score, and 0 for the others."""
        return tuple(number if each == score else 0.0 for each in range(len(self.tables)))

    def _line(self, predictor: Element, score: int) -> Line:
        index = self._index(predictor)
        self.reader.work.spend(len(self.tables))
        power = finite(self.document, predictor, "exponent", "1")
        if power not in _POWERS:
            raise Unsupported(
                f"a <NumericPredictor> (line {predictor.line}) has the exponent {power:g}", cure="export 1 or 2"
            )
        weight = finite(self.document, predictor, "coefficient", None)
        scaled = self.scaled.get(predictor.attributes["name"])
        steps = (scaled.steps if scaled is not None else ()) + _POWERS[power]
        line = Line(index, steps, self._only(score, weight))
        if not self.variables[index].missing:
            return line
        number = number_of(self.fields[index].replacement or "")
        if not math.isfinite(number):
            raise self.document.fault(
                f"the missingValueReplacement of {shown(self.fields[index].name)} is no number", predictor
            )
        added = line.of_numbers(np.array([number]))[0].tolist()
        return Line(index, line.steps, line.weights, tuple(added))

    def _table(self, index: int, coefficient_of: dict[str, float], score: int) -> Table:
        field, variable = self.fields[index], self.variables[index]
        labels = variable.labels or ()
        self.reader.work.spend(len(labels) * len(self.tables))
        values = np.zeros((len(labels), len(self.tables)))
        for label, coefficient in coefficient_of.items():
            if (state := variable.state_called(label)) is not None:
                values[state, score] = coefficient
        replaced = 0.0
        if field.replacement is not None:
            try:
                replaced = coefficient_of.get(labels[variable.encode(field.replacement)], 0.0)
            except InstanceError as fault:
                raise self.document.fault(f"missingValueReplacement: {fault}", self.tables[score]) from None
        for low, high in self.reader.absent(index):
            values[low : high + 1, score] = replaced
        return Table(index, values)


def _merged(of_tables: Sequence[Sequence[Term]]) -> list[Term]:
    """The terms of all tables; where these have the same ones in the same order, one for all of them.

    Each has numbers for its own score only, and 0 for the others, so that adding them changes none.
    """
    alike = [[(term.variable, term.steps if isinstance(term, Line) else None) for term in terms] for terms in of_tables]
    if any(each != alike[0] for each in alike):
        return [term for terms in of_tables for term in terms]
    merged: list[Term] = []
    for same in zip(*of_tables, strict=True):
        lines = [term for term in same if isinstance(term, Line)]
        if lines:
            weights = tuple(map(sum, zip(*(line.weights for line in lines), strict=True)))
            gone = [line.missing for line in lines if line.missing is not None]
            missing = tuple(map(sum, zip(*gone, strict=True))) if gone else None
            merged.append(Line(lines[0].variable, lines[0].steps, weights, missing))
        else:
            added = np.sum([term.values for term in same if isinstance(term, Table)], axis=0)
            merged.append(Table(same[0].variable, added))
    return merged


def _range(field: Field) -> tuple[float, float]:
    """The range of a field's valid numbers: its one interval, if all else is refused; else there is none."""
    if field.invalid_are != "returnInvalid" or len(field.intervals) != 1 or field.declared:
        return -LARGEST, LARGEST
    low, high = field.intervals[0]
    if low is None or high is None or max(abs(low.threshold), abs(high.threshold)) > LARGEST:
        return -LARGEST, LARGEST
    ends = math.nextafter(low.last_below(False), math.inf), high.last_below(False)
    return ends if ends[0] <= ends[1] else (-LARGEST, LARGEST)
