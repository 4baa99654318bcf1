"""The fields of a PMML file, as its data dictionary, the mining schema and copies of fields declare them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from quia.cuts import Cut, Interval, number_text
from quia.errors import Unsupported, listed, shown
from quia.load.xml import Document, Element
from quia.values import TRUTHS

NUMBERS = ("integer", "float", "double")
_CLOSURES = ("openOpen", "openClosed", "closedOpen", "closedClosed")
_INVALID = ("returnInvalid", "asIs", "asMissing", "asValue")


@dataclass(slots=True)
class Field:
    """A field of the data dictionary, filled while the file is read; a variable is built from it at the end.

    `declared` are the states that the file lists, in order; `seen` are those that predicates mention; `absent` are
    values that mean missing. `replacement` stands for a missing value; `routed` says whether missing is a state.
    If a continuous field has `intervals` or `declared` values, all others are invalid; those in `invalid` are invalid
    too. `invalid_are` says how they are treated. `single` says whether predicates compare in 32 bits.
    """

    name: str
    optype: str
    type: str
    declared: dict[str, None] = field(default_factory=dict)
    absent: dict[str, None] = field(default_factory=dict)
    seen: dict[str, None] = field(default_factory=dict)
    cuts: dict[Cut, None] = field(default_factory=dict)
    replacement: str | None = None
    routed: bool = False
    intervals: list[Interval] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    invalid_are: str = "returnInvalid"
    refuses_missing: bool = False
    tested: bool = False
    single: bool | None = None

    @property
    def numeric(self) -> bool:
        return self.optype == "continuous"

    @property
    def bounded(self) -> bool:
        """Whether some values that a variable of this field accepts are invalid."""
        if self.numeric:
            return bool(self.invalid or self.intervals or self.declared)
        return bool(self.invalid) and not self.declared

    @property
    def taken_for_missing(self) -> bool:
        """Whether some values that a variable of this field accepts count as missing."""
        absent = bool(self.absent) and (self.numeric or not self.declared)
        return absent or (self.invalid_are == "asMissing" and self.bounded)

    def note(self) -> str | None:
        """A note about values that the model refuses, but a variable accepts; None if there are none."""
        if self.invalid_are != "returnInvalid" or not self.tested or not self.bounded:
            return None
        refused = [f"declared invalid ({listed(self.invalid)})"] if self.invalid else []
        if self.numeric and (self.intervals or self.declared):
            valid = [*(Interval(*interval).readable().text for interval in self.intervals), *self.declared]
            refused.insert(0, f"outside {listed(valid)}")
        return f"the model refuses values of {shown(self.name)} {' or '.join(refused)}; here they are classified too"


class Named(NamedTuple):
    """A field under one of its names, and whether it is compared in 32 bits under that name."""

    field: Field
    single: bool


Usable = dict[str, Named | Unsupported]
"""The fields that predicates may test, by name, or the reason why one may not be tested."""


def data_fields(document: Document, model: Element) -> tuple[dict[str, Field], str | None, Usable]:
    """The input fields in the model's order, the target's name, and every name that a predicate may use."""
    dictionary = document.child(document.elements[0], "DataDictionary")
    schema = document.child(model, "MiningSchema")
    if dictionary is None or schema is None:
        raise document.fault("has no <DataDictionary>, or its model no <MiningSchema>", model)
    all_fields = {
        declared.name: declared
        for declared in (_field(document, e) for e in document.children(dictionary, "DataField"))
    }
    inputs: dict[str, Field] = {}
    target = None
    for element in document.children(schema, "MiningField"):
        name, usage = document.need(element, "name"), element.attributes.get("usageType", "active")
        if name not in all_fields:
            raise document.fault(f"the mining field {shown(name)} is not in the data dictionary", element)
        if usage in ("target", "predicted"):
            target = name
        elif usage == "active":
            inputs[name] = all_fields[name]
            _apply_schema(document, element, all_fields[name])
    usable: Usable = {name: Named(declared, declared.type == "float") for name, declared in inputs.items()}
    for where in (document.elements[0], model):
        for block in document.children(where, "TransformationDictionary", "LocalTransformations"):
            for element in document.children(block, "DerivedField"):
                if (name := document.need(element, "name")) in inputs:
                    raise document.fault(f"the derived field {shown(name)} has the name of an active field", element)
                _derive(document, element, usable)
    return inputs, target, usable


def _field(document: Document, element: Element) -> Field:
    result = Field(
        document.need(element, "name"), document.need(element, "optype"), element.attributes.get("dataType", "string")
    )
    for value in document.children(element, "Value"):
        kind, written = value.attributes.get("property", "valid"), document.need(value, "value")
        if kind == "missing":
            if result.type in NUMBERS and written.strip() == "NaN":
                continue  # NaN is missing anyway
            result.absent[spelled(result, written)] = None
        elif kind == "valid":
            result.declared[spelled(result, written)] = None
        else:
            result.invalid.append(spelled(result, written))
    result.intervals = [_interval(document, interval) for interval in document.children(element, "Interval")]
    if result.type == "boolean" and not result.declared:
        result.declared = {"false": None, "true": None}
    return result


def _interval(document: Document, element: Element) -> Interval:
    document.need(element, "closure")
    closure = _one_of(document, element, "closure", _CLOSURES)
    ends = []
    for margin, after in (("leftMargin", closure.startswith("open")), ("rightMargin", closure.endswith("Closed"))):
        limit = element.attributes.get(margin)
        if limit is not None and (number := number_of(limit)) != number:
            raise document.fault(f"{margin} is {shown(limit)}, which is no number", element)
        ends.append(None if limit is None else Cut(number_of(limit), after))
    return Interval(*ends)


def _one_of(document: Document, element: Element, name: str, values: tuple[str, ...]) -> str:
    value = element.attributes.get(name, values[0])
    if value not in values:
        raise document.fault(f"{name}={shown(value)} is not one of {listed(values)}", element)
    return value


def _apply_schema(document: Document, element: Element, input_field: Field) -> None:
    input_field.optype = element.attributes.get("optype", input_field.optype)
    if (outliers := element.attributes.get("outliers", "asIs")) != "asIs":
        raise Unsupported(
            f"field {shown(input_field.name)} has outliers={shown(outliers)}",
            cure="export the model with values taken as they are (outliers='asIs')",
        )
    input_field.invalid_are = _one_of(document, element, "invalidValueTreatment", _INVALID)
    if input_field.invalid_are == "asMissing" and input_field.bounded and not input_field.numeric:
        input_field.absent.update(dict.fromkeys(input_field.invalid))
    input_field.refuses_missing = element.attributes.get("missingValueTreatment") == "returnInvalid"
    replacement = element.attributes.get("missingValueReplacement")
    if replacement is not None:
        input_field.replacement = spelled(input_field, replacement)


def _derive(document: Document, element: Element, usable: Usable) -> None:
    """Add a derived field that only copies a field; exporters write these to say in which type it is compared."""
    name, reference = element.attributes["name"], document.child(element, "FieldRef")
    source = None if reference is None else usable.get(reference.attributes.get("field", ""))
    kind = element.attributes.get("dataType")
    if reference is None or source is None:
        return  # refused by name if the tree tests it
    if "mapMissingTo" in reference.attributes:
        usable[name] = Unsupported(
            f"the tree tests {shown(name)} (line {element.line}), which gives missing values the value"
            f" {shown(reference.attributes['mapMissingTo'])}",
            cure="export the model with missingValueReplacement in its mining schema instead of mapMissingTo",
        )
    elif isinstance(source, Unsupported) or not source.field.numeric:
        usable[name] = source
    elif kind in NUMBERS and (kind == source.field.type or kind != "integer"):
        usable[name] = Named(source.field, source.single or kind == "float")


def number_of(written: str) -> float:
    """The number that a string is in XML, or NaN; Python reads more, such as 1_000."""
    try:
        return float(written) if written.isascii() and "_" not in written else math.nan
    except ValueError:
        return math.nan


def spelled(field: Field, value: str) -> str:
    """A value in its one spelling, if it is a number or a truth value."""
    if field.type == "boolean":
        return TRUTHS.get(value.strip().lower(), value)
    number = number_of(value) if field.type in NUMBERS else math.nan
    return value if number != number else number_text(number)


def declared_classes(document: Document, target: str | None) -> dict[str, int]:
    """The values that the data dictionary declares for the target, in order."""
    dictionary = document.child(document.elements[0], "DataDictionary")
    assert dictionary is not None
    for element in document.children(dictionary, "DataField"):
        if element.attributes["name"] == target:
            values = document.children(element, "Value")
            valid = (v.attributes["value"] for v in values if v.attributes.get("property", "valid") == "valid")
            return {label: index for index, label in enumerate(dict.fromkeys(valid))}
    return {}
