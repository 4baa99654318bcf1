"""PMML's Scorecard: of each characteristic the first attribute whose predicate is true adds its partial score.

The scores begin with initialScore and are added in the order of the characteristics, in 64 bits, as JPMML does. A value
for which no attribute is true has no score: if it is a missing value, or one that nothing lists, it is refused.
Reason codes are not read: what a score is made of tells the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quia.additive import Additive
from quia.errors import Unsupported, listed, shown
from quia.load.pmml_choice import Predicate, Test, Work, substitute
from quia.load.pmml_fields import PREDICATES, Reader
from quia.load.pmml_schema import data_fields, number_of
from quia.load.regressors import Threshold, cutoff, refuse_without
from quia.places import LARGEST
from quia.ranges import members
from quia.terms import Table

if TYPE_CHECKING:
    from quia.load.xml import Document, Element

_NONE = -1  # no attribute is true


def scorecard(
    document: Document,
    model: Element,
    missing: bool,
    threshold: Threshold | None,
    classes: Sequence[str] | None,
    notes: Sequence[str],
) -> Additive:
    """The classifier that splits the scores of a Scorecard."""
    names, rule = cutoff(refuse_without(threshold, "a scorecard"), classes, single=False)
    check_plain(document, model)
    card = _Card(document, model, missing)
    start = finite(document, model, "initialScore", "0")
    tables = card.tables()
    total = sum(float(np.abs(table.values).max()) for table in tables) + abs(start)
    if not total < LARGEST:
        raise document.fault(f"the partial scores add up to {total:g}, and such sums are not exact", model)
    variables = tuple(card.reader.variables)
    found = (*notes, *card.notes)
    return Additive(variables, names, tuple(tables), (start,), rule, kind="scorecard", notes=found)


class _Card:
    def __init__(self, document: Document, model: Element, missing: bool) -> None:
        self.document, self.missing = document, missing
        inputs, _, usable = data_fields(document, model)
        self.fields = list(inputs.values())
        if not self.fields:
            raise document.fault("a <Scorecard> has no active field", model)
        self.reader = Reader(document, inputs, usable, Work(len(document.elements)))
        block = document.child(model, "Characteristics")
        self.characteristics = document.children(block, "Characteristic") if block is not None else []
        if not self.characteristics:
            raise document.fault("a <Scorecard> has no <Characteristic>", model)
        self.attributes = [self._attributes(each) for each in self.characteristics]
        self.reader.check_invalid_values(missing, False)
        self.notes = [note for field in self.fields if (note := field.note())]

    def _attributes(self, characteristic: Element) -> list[tuple[Element, float]]:
        """The predicate and the partial score of each attribute."""
        pairs = []
        for attribute in self.document.children(characteristic, "Attribute"):
            for complex_score in self.document.children(attribute, "ComplexPartialScore"):
                raise Unsupported(
                    f"an attribute (line {attribute.line}) has a <ComplexPartialScore> (line {complex_score.line})",
                    cure="export it with partialScore, a number for each attribute",
                )
            predicates = self.document.children(attribute, *PREDICATES)
            if len(predicates) != 1:
                raise self.document.fault(f"an <Attribute> has {len(predicates)} predicates; it has one", attribute)
            self.reader.gather(predicates[0])
            pairs.append((predicates[0], finite(self.document, attribute, "partialScore", None)))
        if not pairs:
            raise self.document.fault("a <Characteristic> has no <Attribute>", characteristic)
        return pairs

    def tables(self) -> list[Table]:
        """What each characteristic adds; a missing or unlisted value is a state only where it always has a score."""
        for field in self.fields:
            field.routed = True
        self.reader.make_variables(self.missing)
        for characteristic, attributes in zip(self.characteristics, self.attributes, strict=True):
            index, chosen = self._chosen(characteristic, attributes)
            field, variable = self.fields[index], self.reader.variables[index]
            gone = self.reader.absent(index)
            if any(chosen[state] == _NONE for state in members(gone)) and not field.taken_for_missing:
                field.routed = False
            other = None if variable.other is None else variable.state_called(variable.other)
            if other is not None and not field.declared and chosen[other] == _NONE:
                field.declared = dict(field.seen)
                self.notes.append(f"values of {shown(field.name)} that the scorecard does not list have no score")
        self.reader.make_variables(self.missing)
        return [self._table(*each) for each in zip(self.characteristics, self.attributes, strict=True)]

    def _table(self, characteristic: Element, attributes: Sequence[tuple[Element, float]]) -> Table:
        index, chosen = self._chosen(characteristic, attributes)
        if (chosen == _NONE).any():
            variable = self.reader.variables[index]
            states = [variable.phrase(state) for state in np.flatnonzero(chosen == _NONE).tolist()]
            raise Unsupported(
                f"a characteristic (line {characteristic.line}) has no attribute for {listed(states)}, so such an"
                " instance has no score",
                cure="export it with a last attribute that is <True/>",
            )
        return Table(index, np.array([score for _, score in attributes])[chosen][:, None])

    def _chosen(
        self, characteristic: Element, attributes: Sequence[tuple[Element, float]]
    ) -> tuple[int, npt.NDArray[np.int64]]:
        """The variable of a characteristic, and the attribute of each of its states."""
        fields = dict.fromkeys(field for predicate, _ in attributes for field in self.reader.indices(predicate))
        if len(fields) > 1:
            names = listed(shown(self.fields[index].name) for index in fields)
            raise Unsupported(
                f"a characteristic (line {characteristic.line}) tests several fields, {names}",
                cure="export it with one field for each characteristic",
            )
        index = next(iter(fields), 0)  # a characteristic that tests none adds the same for all
        size = self.reader.variables[index].size
        chosen = np.full(size, _NONE, np.int64)
        for number, (element, _) in enumerate(attributes):
            self.reader.work.spend(1 + size // 100)
            for low, high in _true(self.reader.predicate(element), index, size, self.reader.work):
                part = chosen[low : high + 1]
                part[part == _NONE] = number
        return index, chosen


def _true(predicate: Predicate, variable: int, size: int, work: Work) -> Sequence[tuple[int, int]]:
    """The states in which a predicate over one variable is true; where it is unknown, it is not."""
    if isinstance(predicate, Test):
        return predicate.true
    if predicate is None or isinstance(predicate, bool):
        return [(0, size - 1)] if predicate else []
    work.spend(size * 10)
    return [(state, state) for state in range(size) if substitute(predicate, variable, state) is True]


def finite(document: Document, element: Element, name: str, default: str | None) -> float:
    """The finite number of an attribute; without a default it must be there."""
    written = document.need(element, name) if default is None else element.attributes.get(name, default)
    number = number_of(written)
    if not math.isfinite(number):
        raise document.fault(f"{name} is {shown(written)}, which is no finite number", element)
    return number


def check_plain(document: Document, model: Element) -> None:
    """Refuse a model whose numbers are of 32 bits, or are changed afterwards."""
    if (context := model.attributes.get("x-mathContext", "double")) != "double":
        raise Unsupported(f"the x-mathContext is {shown(context)}", cure="export it with double")
    for targets in document.children(model, "Targets"):
        for target in document.children(targets, "Target"):
            changed = sorted(set(target.attributes) - {"field", "optype"})
            if changed or target.children:
                raise Unsupported(
                    f"a <Target> (line {target.line}) changes what is predicted: {listed(changed) or 'it has values'}",
                    cure="export it without",
                )
