"""What all of quia's JSON formats declare alike: their version, variables, classes and constraints."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from quia import conditions
from quia.classifier import Classifier
from quia.cuts import Cut, Interval
from quia.errors import GraphError, brief, did_you_mean, listed, shown
from quia.variables import Variable

VERSION = 1


def check_version(version: Any) -> None:
    """Raise GraphError unless this release reads that version of the format."""
    if type(version) is not int or version != VERSION:
        raise GraphError(f"the format version 'quia' is {shown(version)}; this release reads version {VERSION}")


def check_keys(data: Any, what: str, *, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Raise GraphError unless this is an object with just these keys."""
    if not isinstance(data, Mapping):
        raise GraphError(f"{brief(what)} is {shown(data)}; it must be an object with {listed(required)}")
    for key in required:
        if key not in data:
            raise GraphError(f"{brief(what)} has no {shown(key)}; it must have {listed(required)}")
    for key in data:
        if key not in required and key not in optional:
            known = [*required, *optional]
            hint = did_you_mean(key, known)
            raise GraphError(f"{brief(what)} has {shown(key)}; it may only have {listed(known)}{hint}")


def declarations(data: Any, *, lines: bool = False) -> dict[str, Mapping[str, Any]]:
    """The declared variables, their kinds checked; those of kind `line` only where there may be some."""
    if not isinstance(data, Mapping):
        raise GraphError(f"'variables' is {shown(data)}; it must be an object from name to kind")
    for name, declared in data.items():
        what = f"variable {shown(name)}"
        if not isinstance(name, str) or not name:
            raise GraphError(f"a variable's name is {shown(name)}; it must be a string that is not empty")
        kind = declared.get("kind") if isinstance(declared, Mapping) else None
        if kind == "nominal":
            check_keys(declared, what, required=("kind", "states"), optional=("other", "missing"))
            if not isinstance(declared["states"], (list, tuple)):
                raise GraphError(f"the states of {what} are {shown(declared['states'])}; give a list of strings")
        elif kind == "numeric":
            check_keys(declared, what, required=("kind",), optional=("type", "missing", "cuts"))
            if declared.get("type", "float64") not in ("float32", "float64"):
                raise GraphError(f"the type of {what} is {shown(declared['type'])}; it is 'float64' or 'float32'")
            if not isinstance(declared.get("cuts", []), (list, tuple)):
                raise GraphError(f"the cuts of {what} are {shown(declared['cuts'])}; give a list such as ['<= 3']")
            _check_missing(declared, what)
        elif kind == "line" and lines:
            check_keys(declared, what, required=("kind",), optional=("low", "high", "missing"))
            _check_missing(declared, what)
        else:
            shown_kind = shown(kind) if isinstance(declared, Mapping) else shown(declared)
            kinds = "'nominal', 'numeric' and 'line'" if lines else "'nominal' and 'numeric'"
            raise GraphError(f"{what} is of kind {shown_kind}; kinds are {kinds}")
    return dict(data)


def _check_missing(declared: Mapping[str, Any], what: str) -> None:
    if not isinstance(declared.get("missing", False), bool):
        raise GraphError(f"'missing' of {what} is {shown(declared['missing'])}; it is true or false")


def read_classes(data: Any) -> dict[str, int]:
    """The declared classes, numbered."""
    if not isinstance(data, (list, tuple)) or not data:
        raise GraphError(f"'classes' is {shown(data)}; it must be a list of one or more strings")
    classes: dict[str, int] = {}
    for label in data:
        if not isinstance(label, str):
            raise GraphError(f"a class is {shown(label)}; classes are strings")
        if label in classes:
            raise GraphError(f"the class {shown(label)} is named twice; classes must differ")
        classes[label] = len(classes)
    return classes


def declared_cuts(name: str, declared: Mapping[str, Any]) -> list[Cut]:
    """The cuts in a declaration, as in `"cuts": ["<= 3", "< 4"]`, which nodes need not make."""
    cuts = []
    for cut in declared.get("cuts", ()):
        try:
            condition = conditions.parse(cut)
        except GraphError as fault:
            raise GraphError(f"the cuts of variable {shown(name)}: {fault}") from None
        if isinstance(condition, str) or condition.lower is not None or condition.upper is None:
            raise GraphError(f"a cut of variable {shown(name)} is {shown(cut)}; write it as '<= t' or '< t'")
        cuts.append(condition.upper)
    return cuts


def declare(variable: Variable, ends: Collection[int], *, missing: bool) -> dict[str, Any]:
    """The declaration of a variable; without cuts after the states in `ends`, which conditions elsewhere show."""
    if variable.labels is not None:
        special = {"other": variable.other, "missing": variable.no_value}
        named = {key: label for key, label in special.items() if label is not None}
        return {"kind": "nominal", "states": list(variable.labels), **named}
    declared: dict[str, Any] = {"kind": "numeric"}
    if variable.single:
        declared["type"] = "float32"
    if missing:
        declared["missing"] = True
    unused = [cut for state, cut in enumerate(variable.cuts) if state not in ends]
    if unused:
        declared["cuts"] = [Interval(None, cut).readable().text for cut in unused]
    return declared


def given_in(data: Mapping[str, Any], variables: Sequence[Variable]) -> tuple[str, ...]:
    """The constraints that stand in a model's JSON, checked."""
    if "given" not in data:
        return ()
    from quia.own_constraints import read_given  # seldom needed, and it brings the language of formulas

    return read_given(data["given"], variables)


def given_of(model: Classifier) -> dict[str, list[str]]:
    """The constraints of a model for its JSON; nothing where there are none."""
    given = getattr(model, "given", ())
    if not given:
        return {}
    from quia.own_constraints import written_given

    return {"given": written_given(given, model.variables)}
