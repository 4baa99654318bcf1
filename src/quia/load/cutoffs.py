"""Other cutoffs and names of classes for an additive model in quia's JSON, as a caller gives them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from quia.additive import Additive
from quia.additive_points import LARGEST_UNIT, as_number
from quia.classifier import Classifier
from quia.errors import Unsupported, shown, with_article
from quia.load.scorecard_classes import band_names, given_classes, given_cutoffs


def with_cutoffs(model: Classifier, content: Mapping[str, Any], cutoff: Any, classes: Any) -> Additive:
    """The model that is in this JSON, with these cutoffs, in the points of the file, and classes.

    Classes keep their names where there are as many; those that are called after cutoffs are called after the new ones.
    """
    said = "cutoff" if cutoff is not None else "classes"
    if not isinstance(model, Additive) or model.rule.kind != "cuts":
        several = ", whose greatest score tells the class" if isinstance(model, Additive) else ""
        raise Unsupported(
            f"{said} is {shown(cutoff if cutoff is not None else classes)}, but this is {with_article(model.kind)}"
            f"{several}; cutoffs are of models that compare one score with them",
            cure=f"leave {said} out",
        )
    before = [Fraction(repr(as_number(cut / model.unit))) for cut in model.rule.cuts]
    cutoffs = before if cutoff is None else given_cutoffs(cutoff)
    if classes is not None:
        labels = given_classes(classes, len(cutoffs) + 1)
    elif len(cutoffs) == len(before) and model.classes != band_names(before):
        labels = model.classes
    else:
        labels = band_names(cutoffs)
    unit = Fraction(model.unit)
    # Of a unit of 1 nothing says that points are decimals that people add up: sums are those of 64-bit numbers.
    while unit > 1 and any((each * unit).denominator > 1 for each in cutoffs):
        unit *= 10
    if unit > LARGEST_UNIT:
        raise Unsupported(f"cutoff is {shown(cutoff)}, which has too many decimals", cure="round it")
    cuts = [as_number(float(each)) for each in cutoffs]
    changed = {**content, "rule": {"kind": "cuts", "cuts": cuts}, "classes": list(labels)}
    return Additive.from_dict(changed | ({"unit": int(unit)} if unit > 1 else {}))
