"""What the page asks about a model, answered as plain data and HTML; pure functions, run in a worker process."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from quia.explanation import Explanation, explain
from quia.show.html import page, parts
from quia.show.html_compare import comparison
from quia.show.words import signs
from quia.variables import UNKNOWN, Variable, decide_instance

TIMEOUT = 1.0
"""How many seconds to look for the reasons of one kind."""
BRANCHES = 60
"""How many nodes off the path the page unfolds to; the report shows more."""
LISTED = 60
"""How many features of a kind the page has in its table, as its form has them all; the report lists more."""


def describe(classifier: Any, *, name: str, identity: str) -> dict[str, Any]:
    """What is needed to make a form for a model's instances."""
    tested = set(classifier.tested)
    return {
        "schema": "quia/model/1",
        "id": identity,
        "name": name,
        "nodes": len(classifier) if hasattr(classifier, "__len__") else None,
        "classes": list(classifier.classes),
        "variables": [_variable(v, i in tested) for i, v in enumerate(classifier.variables)],
        "example": {v.name: typical(v) for v in classifier.variables},
        "notes": list(getattr(classifier, "notes", ())),
    }


def _variable(variable: Variable, tested: bool) -> dict[str, Any]:
    states = [variable.text(state) for state in range(variable.size)]
    return {
        "name": variable.name,
        "kind": "numeric" if variable.is_numeric else "nominal",
        "tested": tested,
        "missing": variable.missing,
        "states": states,
        "signs": [signs(text, numeric=variable.is_numeric) for text in states],
        "cuts": [cut.threshold if math.isfinite(cut.threshold) else None for cut in variable.cuts],
    }


def typical(variable: Variable) -> str | float:
    """A value to begin with: the first label, or a number in the middle interval.

    >>> typical(Variable.numeric("W", [0.6, 1.5, 9])), typical(Variable.nominal("GPA", ["low", "high"]))
    (5.25, 'low')
    """
    if variable.labels is not None:
        return variable.labels[0]
    state = (len(variable.cuts) + 1) // 2
    near = [cut.threshold for cut in variable.cuts[max(state - 1, 0) : state + 1]]
    middle = sum(near) / len(near) if near else 0.0
    candidates = [middle, *near, *(t + 1 for t in near), *(t - 1 for t in near)]
    candidates += [math.nextafter(t, side) for t in near for side in (-math.inf, math.inf)]
    return next((c for c in candidates if math.isfinite(c) and variable.encode(c) == state), 0.0)


def explanation_of(classifier: Any, question: Mapping[str, Any]) -> Explanation:
    """The explanation that a question asks for; 'why not' the class that is decided is a plain 'why'.

    On the page an edit may lead to the class that was asked about, which is then no fault.
    """
    instance, against = question["instance"], question.get("against")
    decision = decide_instance(classifier, classifier.encode(instance), instance)
    if against == classifier.classes[decision]:
        against = None
    return explain(
        classifier,
        instance,
        against=against,
        frozen=question.get("frozen") or (),
        costs=question.get("costs") or None,
    )


def answer(classifier: Any, question: Mapping[str, Any], *, name: str) -> dict[str, Any]:
    """Why, as the JSON of `quia explain --json` and as HTML in parts; and whether it holds without some facts."""
    explanation = explanation_of(classifier, question)
    limit = question.get("limit", 10)
    found = explanation.to_dict(limit=limit, timeout=TIMEOUT)
    return {
        "explanation": found,
        "mentioned": [explanation.variables[v].name for v in explanation.complete_reason.mentioned],
        "without": _without(explanation, question.get("without") or ()),
        "html": parts(
            explanation, found, branches=BRANCHES, timeout=TIMEOUT, listed=LISTED, model=name, prefix="quia-"
        ),
    }


def _without(explanation: Explanation, features: Sequence[str]) -> dict[str, Any] | None:
    """Whether the decision holds whatever some features are; if not, states of them with which it does not."""
    if not features:
        return None
    found = explanation.bias(features, timeout=TIMEOUT)
    return {
        "features": list(found.protected),
        "holds": not found.biased,
        "changes": {state.feature: state.text for state in found.changes},
        "decision": found.changed_decision,
        "certain": found.certain,
    }


def report(classifier: Any, question: Mapping[str, Any], *, name: str) -> str:
    """The page of `quia report`."""
    return page(explanation_of(classifier, question), limit=question.get("limit", 10), timeout=TIMEOUT, model=name)


def compare(classifier: Any, question: Mapping[str, Any]) -> dict[str, Any]:
    """Whether two instances are decided alike for a common reason, and the proof either way."""
    one, other = (explain(classifier, question[key]) for key in ("one", "other"))
    variables = classifier.variables
    shared = [v.name for i, v in enumerate(variables) if one.states[i] == other.states[i]]
    apart = [v.name for i, v in enumerate(variables) if one.states[i] != other.states[i]]
    congruent = one.is_congruent(question["other"])
    found: dict[str, Any] = {
        "congruent": congruent,
        "decisions": [one.decision, other.decision],
        "differences": [
            {"feature": v.name, "one": _text(v, one.states[i]), "other": _text(v, other.states[i])}
            for i, v in enumerate(variables)
            if one.states[i] != other.states[i]
        ],
        "common_reason": _minimal(one, shared, apart) if congruent else None,
        "witness": None,
    }
    if not congruent and one.decision == other.decision:
        proof = one.bias(apart, timeout=TIMEOUT)
        changes = {state.feature: state.text for state in proof.changes}
        found["witness"] = {"changes": changes, "decision": proof.changed_decision}
    return {**found, "html": comparison(found, variables)}


def _text(variable: Variable, state: int) -> str | None:
    """A state in words; None if it is not known."""
    return None if state == UNKNOWN else variable.text(state)


def _minimal(explanation: Explanation, kept: Sequence[str], dropped: Sequence[str]) -> dict[str, str]:
    """A sufficient reason within the kept facts, which force the decision: drop what can be dropped, in turn."""
    gone, reason = list(dropped), {}
    index = {v.name: i for i, v in enumerate(explanation.variables)}
    mentioned = {explanation.variables[v].name for v in explanation.complete_reason.mentioned}
    for name in kept:
        if name not in mentioned or explanation.holds_without([*gone, name]):
            gone.append(name)
        else:
            reason[name] = explanation.variables[index[name]].text(explanation.states[index[name]])
    return reason
