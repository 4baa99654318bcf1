"""What `quia check` says of a model that adds up: what each feature can add, and where scores become classes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from quia.additive import Additive
from quia.additive_gaps import Gaps
from quia.additive_needs import Need
from quia.cuts import number_text
from quia.errors import listed
from quia.load.scorecard_classes import band_names
from quia.show.words import plural


def with_sums(model: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of an additive model with what it adds, in the unit of those who wrote it."""
    assert isinstance(model, Additive)
    told = {**facts, "scores": _scores(model), "variables": dict(facts["variables"])}
    weights = [tuple(float(k == score) for k in range(len(model.start))) for score in range(len(model.start))]
    gaps = [Gaps.of(model, Need(each, 0.0, ties=False)) for each in weights]
    for v, variable in enumerate(model.variables):
        about = dict(told["variables"][variable.name])
        if variable.is_line:
            about |= {"kind": "line", "range": None if variable.range is None else list(variable.range)}
        if v in model.tested and variable.name not in model.unbounded:
            whole = ((0, variable.size - 1),)
            ends = [(each.least_of(v, whole)[0], each.greatest_of(v, whole)[0]) for each in gaps]
            about["adds"] = [[low / model.unit, high / model.unit] for low, high in ends]
        told["variables"][variable.name] = about
    return told


def _scores(model: Additive) -> dict[str, Any]:
    unit = model.unit
    return {
        "start": [number / unit for number in model.start],
        **({"end": [number / unit for number in model.end]} if model.end else {}),
        "rule": model.rule.kind,
        **({"cuts": [cut / unit for cut in model.rule.cuts]} if model.rule.cuts else {}),
        "exact": model.is_exact,
    }


def scores_text(facts: dict[str, Any]) -> list[str]:
    """Lines that tell how scores come about and what they mean."""
    scores, classes = facts["scores"], facts["classes"]
    exact = "sums are exact" if scores["exact"] else "sums are rounded as in 64 bits"
    begin = listed(map(_number, scores["start"]), most=6)
    if "end" in scores:
        are = "is" if len(scores["end"]) == 1 else "are"
        begin += f", and in the end {listed(map(_number, scores['end']), most=6)} {are} added"
    terms, of_lines = facts["terms"], facts["lines"]
    of_them = "" if not of_lines else f", {of_lines:,} of them" if terms > 1 else ","
    as_it_is = f"{of_them} of a number as it is" if of_lines else ""
    lines = [f"  {plural(terms, 'term')}{as_it_is}; {exact}"]
    if scores["rule"] == "argmax":
        return [*lines, f"  scores: begin with {begin}; the greatest, of equal ones the first, tells the class"]
    if tuple(classes) == band_names([Fraction(cut) for cut in scores["cuts"]]):
        return [*lines, f"  score: begins with {begin}; its bands are the classes"]
    borders = [_border(cut) for cut in scores["cuts"]]
    bands = [f"{label} {above}" for (_, above), label in zip(borders, classes[1:], strict=True)]
    below = f"{classes[0]} {borders[0][0]}"
    return [*lines, f"  score: begins with {begin}; {listed([below, *bands])}"]


def variable_text(name: str, variable: dict[str, Any], scores: dict[str, Any]) -> str:
    """What a feature is, and what it adds."""
    if variable["kind"] != "line":
        what = f"{variable['kind']}, {plural(variable['states'], 'state')}"
    elif variable["range"] is None:
        return f"any number; to explain decisions, give its range: --range '{name}=LOW:HIGH'"
    else:
        what = f"number from {_number(variable['range'][0])} to {_number(variable['range'][1])}"
    if len(scores["start"]) > 1:
        return what
    low, high = variable["adds"][0]
    return f"{what}, adds {_number(low)}" + (f" to {_number(high)}" if high > low else "")


def _border(cut: float) -> tuple[str, str]:
    """What is below a cut, and what is from it on; a cut just above a short number stands for what exceeds that.

    >>> _border(400.0), _border(5e-324)
    (('below 400', 'from 400 on'), ('up to 0', 'above 0'))
    """
    before = math.nextafter(cut, -math.inf)
    if len(number_text(before)) < len(number_text(cut)):
        return f"up to {_number(before)}", f"above {_number(before)}"
    return f"below {_number(cut)}", f"from {_number(cut)} on"


def _number(number: float) -> str:
    """A number as it was written, or, if it has more digits than people write, six of them."""
    text = number_text(number)
    return text if len(text) <= 10 else f"{number:.6g}"
