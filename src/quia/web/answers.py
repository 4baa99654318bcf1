"""What the page asks about a model, answered as plain data and HTML; pure functions, run in a worker process."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from quia import compare as comparing
from quia.answer import Answer
from quia.asking import Terms
from quia.classifier import Classifier
from quia.errors import QuiaError, brief, shown
from quia.explanation import Explanation
from quia.given import unreadable
from quia.literal import Literal, State
from quia.question import given_values
from quia.rounding import short_above
from quia.show.html import complete_reason_if_found, page, parts
from quia.show.html_compare import comparison
from quia.show.trying import nearest_value
from quia.show.words import without_text
from quia.variables import Variable
from quia.worlds import worlds_of

TIMEOUT = 1.0
"""How many seconds to look for the reasons of one kind."""
BRANCHES = 60
"""How many nodes off the path the page unfolds to; the report shows more."""
MOST_CHECKED = 50
"""Of how many features it is told, each by itself, that what is said of them cannot be."""
LISTED = 60
"""How many features of a kind the page has in its table, as its form has them all; the report lists more."""


class Unreadable(QuiaError):
    """Constraints that cannot be read: `given` has what is wrong with each, by its place."""

    def __init__(self, given: Mapping[int, str], texts: Sequence[str]) -> None:
        self.given = dict(given)
        told = "; ".join(f"in {shown(texts[place])}, {fault}" for place, fault in given.items())
        super().__init__(f"given cannot be read: {brief(told, 600)}")


class AtFeatures(QuiaError):
    """What is said of single features that cannot be: `features` has each of them, the option and what is wrong."""

    def __init__(self, said: str, features: Sequence[Mapping[str, str]]) -> None:
        self.features = list(features)
        super().__init__(said)


def describe(
    classifier: Any,
    *,
    name: str,
    identity: str,
    possible: Mapping[str, Any] | None = None,
    image_shape: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """What is needed to make a form for a model's instances; `possible` is what was said when the server started."""
    tested = set(classifier.tested)
    own = [str(each) for each in getattr(classifier, "given", ())]
    begun = {key: said for key, said in (possible or {}).items() if said}
    return {
        "schema": "quia/model/1",
        "id": identity,
        "name": name,
        "nodes": len(classifier) if hasattr(classifier, "__len__") else None,
        "classes": list(classifier.classes),
        "variables": [_variable(v, i in tested) for i, v in enumerate(classifier.variables)],
        "example": example(classifier, begun),
        "notes": list(getattr(classifier, "notes", ())),
        **({"given": own} if own else {}),
        **({"possible": begun} if begun else {}),
        **({"image_shape": list(image_shape)} if image_shape else {}),
    }


def example(classifier: Any, possible: Mapping[str, Any]) -> dict[str, str | int | float]:
    """An instance to begin with: a typical value of each feature, or one near to it where these are not possible."""
    values = {v.name: typical(v) for v in classifier.variables}
    try:
        worlds = worlds_of(classifier, within=possible.get("within"), given=possible.get("given"))
    except QuiaError:  # the file may have changed since; whoever asks is told what is wrong
        return values
    if worlds.are_all:
        return values
    variables = worlds.possible.variables
    values = {v.name: typical(v) for v in variables}
    states = [v.encode(values[v.name]) for v in variables]
    found = worlds.member(worlds.possible, states) or states
    for variable, state, typical_state in zip(variables, found, states, strict=True):
        near = None if state == typical_state else nearest_value(Literal(variable, ((state, state),)), None)
        values[variable.name] = values[variable.name] if near is None else near
    return values


def _variable(variable: Variable, tested: bool) -> dict[str, Any]:
    # Those of a line are all numbers of its range, and a form for it needs that alone.
    states = range(0 if variable.is_line else variable.size)
    return {
        "name": variable.name,
        "kind": "numeric" if variable.is_numeric else "nominal",
        "tested": tested,
        "missing": variable.missing,
        "states": [variable.text(state) for state in states],
        "signs": [State(variable, state).signs for state in states],
        "cuts": [cut.threshold if math.isfinite(cut.threshold) else None for cut in variable.cuts[: len(states)]],
        **({"range": list(variable.range)} if variable.range else {}),
    }


def typical(variable: Variable) -> str | float:
    """A value to begin with: the first label, or a number in the middle interval, or of a range.

    >>> typical(Variable.numeric("W", [0.6, 1.5, 9])), typical(Variable.nominal("GPA", ["low", "high"]))
    (5.25, 'low')
    """
    if variable.labels is not None:
        return variable.labels[0]
    if variable.is_line:
        low, high = variable.range or (0.0, 0.0)
        return short_above(low / 2 + high / 2, (Fraction(high) - Fraction(low)) / 10)
    state = (len(variable.cuts) + 1) // 2
    near = [cut.threshold for cut in variable.cuts[max(state - 1, 0) : state + 1]]
    middle = sum(near) / len(near) if near else 0.0
    candidates = [middle, *near, *(t + 1 for t in near), *(t - 1 for t in near)]
    candidates += [math.nextafter(t, side) for t in near for side in (-math.inf, math.inf)]
    return next((c for c in candidates if math.isfinite(c) and variable.encode(c) == state), 0.0)


def explanation_of(classifier: Classifier, asked: Mapping[str, Any]) -> Explanation:
    """The explanation that a request asks for; 'why not' the class that is decided is a plain 'why'.

    On the page an edit may lead to the class that was asked about, which is then no fault. Raises AtFeatures where what
    is said of single features cannot be.
    """
    try:
        return _explanation_of(classifier, asked)
    except Unreadable:
        raise
    except QuiaError as fault:
        features = _faults_at_features(classifier, asked)
        if features:
            raise AtFeatures(str(fault), features) from None
        raise


def _faults_at_features(classifier: Classifier, asked: Mapping[str, Any]) -> list[dict[str, str]]:
    """What cannot be of what is said of single features, each by itself; an instance that is none has no say in it."""
    said = [(o, f, one) for o in ("within", "near", "costs") for f, one in (asked.get(o) or {}).items()]
    instance = asked["instance"]
    try:
        Terms.of(classifier).at(instance)
    except QuiaError:
        instance = None
    found = []
    for option, feature, one in said[:MOST_CHECKED]:
        try:
            only: dict[str, Any] = {option: {feature: one}}
            terms = Terms.of(classifier, **only)
            if instance is not None:
                terms.at(instance)
        except QuiaError as fault:
            found.append({"feature": feature, "option": option, "error": str(fault)})
    return found


def _explanation_of(classifier: Classifier, asked: Mapping[str, Any]) -> Explanation:
    instance = asked["instance"]
    terms = _terms(
        classifier,
        asked,
        against=asked.get("against"),
        frozen=asked.get("frozen") or (),
        costs=asked.get("costs") or None,
        only_up=asked.get("only_up") or (),
        only_down=asked.get("only_down") or (),
        near=asked.get("near") or None,
    )
    asker, question = replace(terms, against=None).at(instance)
    if terms.against not in (None, terms.classes[question.decision]):
        asker, question = terms.at(instance)
    return Explanation(asker, given_values(question.variables, instance), question, worlds=terms.worlds)


def _terms(classifier: Classifier, asked: Mapping[str, Any], **how: Any) -> Terms:
    """What a request asks whatever the instance; constraints that cannot be read are told apart from other faults."""
    within, given = asked.get("within") or None, asked.get("given") or ()
    try:
        return Terms.of(classifier, within=within, given=given, **how)
    except QuiaError:
        faults = unreadable(classifier.variables, given)
        if faults:
            raise Unreadable(faults, given) from None
        raise


def answer(
    classifier: Classifier, asked: Mapping[str, Any], *, name: str, image_shape: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Why, as the JSON of `quia explain --json` and as HTML in parts; and whether it holds without some facts."""
    explanation = explanation_of(classifier, asked)
    found = _found(explanation, asked)
    return {
        "explanation": found.to_dict(),
        "mentioned": _mentioned(explanation, found),
        "without": _without(explanation, asked.get("without") or ()),
        "html": parts(
            explanation,
            [found],
            branches=BRANCHES,
            timeout=TIMEOUT,
            listed=LISTED,
            model=name,
            prefix="quia-",
            editable=True,
            image_shape=image_shape,
        ),
    }


def _found(explanation: Explanation, asked: Mapping[str, Any]) -> Answer:
    """The answer that a request asks for: general reasons, unless it wants the instance's states."""
    general = not asked.get("states", False)
    protected = asked.get("protected") or ()
    return explanation.answer(limit=asked.get("limit", 10), timeout=TIMEOUT, general=general, protected=protected)


def _mentioned(explanation: Explanation, found: Answer) -> list[str]:
    """The features that reasons may speak of: where those were not all found, every one that is tested."""
    formula = complete_reason_if_found(explanation, found)
    mentioned = explanation.classifier.tested if formula is None else formula.mentioned
    return [explanation.variables[v].name for v in mentioned]


def _without(explanation: Explanation, features: Sequence[str]) -> dict[str, Any] | None:
    """Whether the decision holds whatever some features are; if not, a region of them in which it does not."""
    if not features:
        return None
    found = explanation.bias(features, timeout=TIMEOUT)
    return {
        "features": list(found.protected),
        "holds": None if found.biased is None else not found.biased,
        "changes": [literal.condition for literal in found.changes],
        "decision": found.changed_decision,
        "certain": found.certain,
        "text": without_text(found),
    }


def report(
    classifier: Classifier, asked: Mapping[str, Any], *, name: str, image_shape: tuple[int, int] | None = None
) -> str:
    """The page of `quia report`."""
    explanation = explanation_of(classifier, asked)
    found = _found(explanation, asked)
    return page(explanation, answer=found, timeout=TIMEOUT, model=name, image_shape=image_shape)


def compare(classifier: Classifier, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Whether two instances are decided alike for a common reason, and the proof either way."""
    terms = _terms(classifier, asked)
    asker, one = terms.at(asked["one"])
    sides = (one, terms.at(asked["other"]).question)
    pair = [
        Explanation(asker, given_values(question.variables, asked[key]), question)
        for key, question in zip(("one", "other"), sides, strict=True)
    ]
    found = comparing.compare(*pair, timeout=TIMEOUT)
    return {**found.to_dict(), "html": comparison(found, one.variables)}
