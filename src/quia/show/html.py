"""Explanations as a page: one file that needs nothing else, or the fragment of it that a notebook shows."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from quia.classifier import HasPath
from quia.errors import TooLarge
from quia.nnf import NNF
from quia.patience import LAST_SHARE
from quia.show.html_facts import MOST_LISTED, table
from quia.show.html_formula import formula
from quia.show.html_graph import way
from quia.show.html_reasons import changes, claims, notes, reasons, shares, verdict
from quia.show.markup import Markup, clean, element, join, script_data, short
from quia.show.words import Facts

if TYPE_CHECKING:
    from quia.answer import Answer, Shares
    from quia.explanation import Explanation

BRANCHES = 1_500
"""How many nodes off the path the steps unfold to."""


def article(
    explanation: Explanation,
    answer: Answer,
    *,
    branches: int = BRANCHES,
    timeout: float | None = None,
    model: str | None = None,
) -> Markup:
    """The explanation as one element; page and JSON show the same answer."""
    # An element's id must be its own among all that a notebook shows.
    key = json.dumps([answer.plain_instance, answer.against, model], sort_keys=True)
    prefix = f"q{hashlib.sha256(key.encode()).hexdigest()[:8]}-"
    made = parts(explanation, answer, branches=branches, timeout=timeout, model=model, prefix=prefix)
    return element("article", made.values(), class_="quia")


def parts(
    explanation: Explanation,
    answer: Answer,
    *,
    branches: int = BRANCHES,
    timeout: float | None = None,
    listed: int = MOST_LISTED,
    model: str | None = None,
    prefix: str = "",
) -> dict[str, Markup]:
    """The parts of the article by their names, in order; those that the explanation has none of are left out."""
    facts, classifier = Facts(answer.variables), explanation.classifier
    importance = None if answer.sufficient.count is None else _importance(explanation, timeout)
    complete = _complete_reason(explanation, timeout)
    # Without the shares it is only known that what the complete reason does not mention is in no reason.
    mentioned = answer.tested if complete is None else complete.mentioned
    mattering = set(mentioned) if importance is None else {facts.index[name] for name in importance}
    made = {
        "verdict": verdict(answer, facts),
        "sufficient": None if answer.is_constant else reasons(answer, facts, "sufficient"),
        "necessary": None if answer.is_constant else reasons(answer, facts, "necessary"),
        "changes": changes(answer, facts),
        "shares": None if answer.is_constant else shares(importance, facts, answer.sufficient.count),
        "instance": table(answer, facts, mattering, certain=importance is not None, listed=listed),
        "way": way(classifier, answer, facts, branches, prefix) if isinstance(classifier, HasPath) else None,
        "complete": None if complete is None else formula(complete, answer, facts),
        "claims": claims(answer),
        "notes": notes(classifier, model),
    }
    return {name: part for name, part in made.items() if part is not None}


def _importance(explanation: Explanation, timeout: float | None) -> Shares | None:
    """Each feature's share of the reasons, if that is quickly told: the reasons themselves had most of the time."""
    try:
        return explanation.importance(timeout=None if timeout is None else LAST_SHARE * timeout)
    except TooLarge:
        return None


def _complete_reason(explanation: Explanation, timeout: float | None) -> NNF | None:
    """The complete reason, if it is there at once or the necessary reasons that it is made of are quickly found."""
    try:
        return explanation.complete_reason_in(None if timeout is None else LAST_SHARE * timeout)
    except TooLarge:
        return None


def fragment(explanation: Explanation, *, limit: int | None = 10, timeout: float | None = 10) -> str:
    """What a notebook shows: the article with its style and script."""
    answer = explanation.answer(limit=limit, timeout=timeout)
    style, script = asset("page.css"), asset("page.js")
    return join(
        [
            element("style", Markup(style)),
            article(explanation, answer, branches=200, timeout=timeout),
            element("script", Markup(script)),
        ]
    )


def page(
    explanation: Explanation,
    *,
    limit: int | None = 10,
    timeout: float | None = None,
    model: str | None = None,
    answer: Answer | None = None,
) -> str:
    """The explanation as one self-contained HTML file that loads nothing and sends nothing."""
    if answer is None:
        answer = explanation.answer(limit=limit, timeout=timeout)
    style, script = asset("page.css"), asset("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    decided = answer.decision if answer.against is None else f"{answer.decision}, not {answer.against}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"Why {short(decided)}: an explanation by quia"),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        element("main", article(explanation, answer, timeout=timeout, model=model)),
        script_data(answer.to_dict(), id="quia-explanation"),
        element("script", Markup(script)),
        class_="quia-page",
    )
    return clean(f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n")


@cache
def asset(name: str) -> str:
    """A file that comes with the page: its style or its script."""
    return files("quia.show").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
