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
    """A field of the data dictionary, gathered while the file is read; at the end it becomes a variable.

    `declared` are the states that the file lists, in order; `seen` are those that predicates mention; `absent` are
    values that mean missing. `replacement` stands for a missing value; `routed` says whether one is a state.
    Of a continuous field, values outside `intervals` and `declared`, if it has any, are invalid; those in `invalid`
    are so too. `invalid_are` says what becomes of them. `single` says whether predicates compare in 32 bits.
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
        """Whether some values that a variable of this field takes are invalid."""
        if self.numeric:
            return bool(self.invalid or self.intervals or self.declared)
        return bool(self.invalid) and not self.declared

    @property
    def taken_for_missing(self) -> bool:
        """Whether some values that a variable of this field takes count as missing."""
        absent = bool(self.absent) and (self.numeric or not self.declared)
        return absent or (self.invalid_are == "asMissing" and self.bounded)

    def note(self) -> str | None:
        """What to say of values that the model refuses, but a variable takes."""
        if self.invalid_are != "returnInvalid" or not self.tested or not self.bounded:
            return None
        parts = [f"declared invalid ({listed(self.invalid)})"] if self.invalid else []
        if self.numeric and (self.intervals or self.declared):
            valid = [*(Interval(*interval).readable().text for interval in self.intervals), *self.declared]
            parts.insert(0, f"outside {listed(valid)}")
        return f"the model refuses values of {shown(self.name)} {' or '.join(parts)}; here they are classified too"


class Named(NamedTuple):
    """A field under one of its names, and whether it is compared in 32 bits under that name."""

    field: Field
    single: bool


Usable = dict[str, Named | Unsupported]
"""What a predicate may test by its name, or why it may not."""


def data_fields(document: Document, model: Element) -> tuple[dict[str, Field], str | None, Usable]:
    """The input fields in the model's order, the target's name, and every name that a predicate may use."""
    dictionary = document.child(document.elements[0], "DataDictionary")
    schema = document.child(model, "MiningSchema")
    if dictionary is None or schema is None:
        raise document.fault("has no <DataDictionary>, or its model no <MiningSchema>", model)
    all_fields = {made.name: made for made in (_field(document, e) for e in document.children(dictionary, "DataField"))}
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
    usable: Usable = {name: Named(made, made.type == "float") for name, made in inputs.items()}
    for where in (document.elements[0], model):
        for block in document.children(where, "TransformationDictionary", "LocalTransformations"):
            for element in document.children(block, "DerivedField"):
                if (name := document.need(element, "name")) in inputs:
                    raise document.fault(f"the derived field {shown(name)} has the name of an active field", element)
                _derive(document, element, usable)
    return inputs, target, usable


def _field(document: Document, element: Element) -> Field:
    made = Field(
        document.need(element, "name"), document.need(element, "optype"), element.attributes.get("dataType", "string")
    )
    for value in document.children(element, "Value"):
        kind, text = value.attributes.get("property", "valid"), document.need(value, "value")
        if kind == "missing":
            made.absent[spelled(made, text)] = None
        elif kind == "valid":
            made.declared[spelled(made, text)] = None
        else:
            made.invalid.append(spelled(made, text))
    made.intervals = [_interval(document, interval) for interval in document.children(element, "Interval")]
    if made.type == "boolean" and not made.declared:
        made.declared = {"false": None, "true": None}
    return made


def _interval(document: Document, element: Element) -> Interval:
    document.need(element, "closure")
    closure = _one_of(document, element, "closure", _CLOSURES)
    ends = []
    for margin, after in (("leftMargin", closure.startswith("open")), ("rightMargin", closure.endswith("Closed"))):
        text = element.attributes.get(margin)
        if text is not None and (number := number_of(text)) != number:
            raise document.fault(f"{margin} is {shown(text)}, which is no number", element)
        ends.append(None if text is None else Cut(number_of(text), after))
    return Interval(*ends)


def _one_of(document: Document, element: Element, name: str, values: tuple[str, ...]) -> str:
    value = element.attributes.get(name, values[0])
    if value not in values:
        raise document.fault(f"{name}={shown(value)} is not one of {listed(values)}", element)
    return value


def _apply_schema(document: Document, element: Element, made: Field) -> None:
    made.optype = element.attributes.get("optype", made.optype)
    if (outliers := element.attributes.get("outliers", "asIs")) != "asIs":
        raise Unsupported(
            f"field {shown(made.name)} has outliers={shown(outliers)}",
            cure="export the model with values taken as they are (outliers='asIs')",
        )
    made.invalid_are = _one_of(document, element, "invalidValueTreatment", _INVALID)
    if made.invalid_are == "asMissing" and made.bounded and not made.numeric:
        made.absent.update(dict.fromkeys(made.invalid))
    made.refuses_missing = element.attributes.get("missingValueTreatment") == "returnInvalid"
    replacement = element.attributes.get("missingValueReplacement")
    if replacement is not None:
        made.replacement = spelled(made, replacement)


def _derive(document: Document, element: Element, usable: Usable) -> None:
    """Take in a derived field that only copies a field, as exporters write to say in which type it is compared."""
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


def number_of(text: str) -> float:
    """The number that a text is in XML, or NaN; Python reads more, such as 1_000."""
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def spelled(of: Field, text: str) -> str:
    """A value's text, numbers and truth values in one spelling."""
    if of.type == "boolean":
        return TRUTHS.get(text.strip().lower(), text)
    number = number_of(text) if of.type in NUMBERS else math.nan
    return text if number != number else number_text(number)
