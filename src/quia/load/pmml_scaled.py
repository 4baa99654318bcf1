"""PMML's derived fields that scale one number, as JPMML writes the scalers of scikit-learn: (x - mean) / deviation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from quia.load.pmml_schema import number_of

if TYPE_CHECKING:
    from quia.load.pmml_schema import Usable
    from quia.load.xml import Document, Element
    from quia.terms import Step

MOST_STEPS = 100
"""A number may be taken through this many steps."""

_STEPS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


class Scaled(NamedTuple):
    """The name of the field that a derived field scales, and the steps that do so."""

    name: str
    steps: tuple[Step, ...]


def scaled_fields(document: Document, model: Element, usable: Usable) -> dict[str, Scaled]:
    """The derived fields that scale a field in 64 bits, by name; others are left out.

    >>> from quia.load.xml import parse
    >>> document = parse(b"<M><LocalTransformations><DerivedField name='s' optype='continuous' dataType='double'>"
    ...     b"<Apply function='-'><FieldRef field='x'/><Constant>3</Constant></Apply></DerivedField>"
    ...     b"</LocalTransformations></M>")
    >>> scaled_fields(document, document.elements[0], {"x": None})
    {'s': Scaled(name='x', steps=(('subtract', 3.0),))}
    """
    found: dict[str, Scaled] = {}
    for where in (document.elements[0], model):
        for block in document.children(where, "TransformationDictionary", "LocalTransformations"):
            for element in document.children(block, "DerivedField"):
                name, scaled = element.attributes.get("name", ""), _scaled(document, element)
                if scaled is None or name in usable or element.attributes.get("dataType") != "double":
                    continue
                if scaled.name in found:
                    first = found[scaled.name]
                    scaled = Scaled(first.name, first.steps + scaled.steps)
                if scaled.name in usable and len(scaled.steps) <= MOST_STEPS:
                    found[name] = scaled
    return found


def _scaled(document: Document, derived: Element) -> Scaled | None:
    """The field and steps of a derived field; None if it is something else."""
    steps: list[Step] = []
    inside = [each for each in document.children(derived) if each.tag != "Extension"]
    while len(inside) == 1 and inside[0].tag == "Apply":
        apply = inside[0]
        parts = [each for each in document.children(apply) if each.tag != "Extension"]
        constants = [each for each in parts if each.tag == "Constant"]
        function = apply.attributes.get("function", "")
        plain = set(apply.attributes) <= {"function"} and function in _STEPS
        if not plain or len(parts) != 2 or len(constants) != 1 or len(steps) > MOST_STEPS:
            return None
        number, second = number_of(constants[0].text.strip()), parts[1] is constants[0]
        if constants[0].attributes.get("dataType", "double") not in ("double", "integer") or not math.isfinite(number):
            return None
        if function == "-" and not second:
            steps.append(("multiply", -1.0))  # c - x is -(x - c), to the last bit
        elif function == "/" and (not second or number == 0):
            return None
        steps.append((_STEPS[function], number))
        inside = [each for each in parts if each not in constants]
    if len(inside) != 1 or inside[0].tag != "FieldRef" or set(inside[0].attributes) != {"field"} or not steps:
        return None
    return Scaled(inside[0].attributes["field"], tuple(reversed(steps)))
