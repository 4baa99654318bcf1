"""The fields of a PMML file, as its data dictionary, the mining schema and copies of fields declare them."""

from __future__ import annotations

from dataclasses import dataclass, field

from quia.errors import Unsupported, shown
from quia.load.xml import Document, Element
from quia.variables import Cut, number_text

NUMBERS = ("integer", "float", "double")


@dataclass(slots=True)
class Field:
    """A field of the data dictionary, gathered while the file is read; at the end it becomes a variable.

    `declared` are the states that the file lists, in order; `seen` are those that predicates mention; `absent` are
    values that mean missing. `replacement` stands for a missing value; `routed` says whether one is a state.
    """

    name: str
    optype: str
    type: str
    declared: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    seen: dict[str, None] = field(default_factory=dict)
    cuts: dict[Cut, None] = field(default_factory=dict)
    replacement: str | None = None
    routed: bool = False

    @property
    def numeric(self) -> bool:
        return self.optype == "continuous"


def data_fields(document: Document, model: Element) -> tuple[dict[str, Field], str | None, dict[str, Field]]:
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
    usable = dict(inputs)
    for where in (document.elements[0], model):
        for block in document.children(where, "TransformationDictionary", "LocalTransformations"):
            usable |= _aliases(document, block, usable)
    return inputs, target, usable


def _field(document: Document, element: Element) -> Field:
    made = Field(
        document.need(element, "name"), document.need(element, "optype"), element.attributes.get("dataType", "string")
    )
    for value in document.children(element, "Value"):
        kind, text = value.attributes.get("property", "valid"), document.need(value, "value")
        if kind == "missing":
            made.absent.append(spelled(made, text))
        elif kind == "valid":
            made.declared.append(spelled(made, text))
    if made.type == "boolean" and not made.declared:
        made.declared = ["false", "true"]
    made.declared = list(dict.fromkeys(made.declared))
    return made


def _apply_schema(document: Document, element: Element, made: Field) -> None:
    made.optype = element.attributes.get("optype", made.optype)
    if (outliers := element.attributes.get("outliers", "asIs")) != "asIs":
        raise Unsupported(
            f"field {shown(made.name)} has outliers={shown(outliers)}",
            cure="export the model with values taken as they are (outliers='asIs')",
        )
    replacement = element.attributes.get("missingValueReplacement")
    if replacement is not None:
        made.replacement = spelled(made, replacement)


def _aliases(document: Document, block: Element, known: dict[str, Field]) -> dict[str, Field]:
    """Derived fields that only copy a field, as exporters write to say in which type it is compared."""
    made: dict[str, Field] = {}
    for element in document.children(block, "DerivedField"):
        name, reference = document.need(element, "name"), document.child(element, "FieldRef")
        source = None if reference is None else (known | made).get(reference.attributes.get("field", ""))
        if source is None or (source.numeric and element.attributes.get("dataType") not in NUMBERS):
            continue  # refused by name if the tree tests it
        if source.numeric and element.attributes["dataType"] != source.type:
            if element.attributes["dataType"] == "integer":
                continue
            source.type = "float" if "float" in (element.attributes["dataType"], source.type) else "double"
        made[name] = source
    return made


def spelled(of: Field, text: str) -> str:
    """A value's text, numbers in one spelling."""
    if of.type not in NUMBERS:
        return text
    try:
        return number_text(float(text))
    except ValueError:
        return text
