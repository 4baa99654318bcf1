"""Explanations as a page: one file that needs nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from quia.classifier import HasPath, offers
from quia.errors import TooLarge, Unsupported
from quia.nnf import NNF
from quia.patience import LAST_SHARE
from quia.show.html_bias import bias
from quia.show.html_changes import changes
from quia.show.html_claims import claims, node_count, notes
from quia.show.html_facts import MOST_LISTED, table
from quia.show.html_formula import formula
from quia.show.html_graph import way
from quia.show.html_picture import picture
from quia.show.html_pixels import image
from quia.show.html_points import points
from quia.show.html_reasons import reasons
from quia.show.html_scores import scores
from quia.show.html_section import each_form
from quia.show.html_shares import shares
from quia.show.html_verdict import switch, verdict
from quia.show.identity import identity_block, page_rows
from quia.show.markup import Markup, element, join, script_data, short
from quia.show.neighbourhood import Looked
from quia.show.whole_file import whole_file
from quia.show.words import Facts

if TYPE_CHECKING:
    from quia.answer import Answer, Shares
    from quia.explanation import Explanation
    from quia.identity import PageFacts

BRANCHES = 60
"""How many nodes off the path the steps unfold to."""
MOST_GENERAL = 2_000
"""How many nodes a graph may have for its general reason to be drawn; of a larger one it is the complete reason."""


def article(
    explanation: Explanation,
    answer: Answer,
    *,
    branches: int = BRANCHES,
    timeout: float | None = None,
    model: str | None = None,
    identity: PageFacts | None = None,
    image_shape: tuple[int, int] | None = None,
) -> Markup:
    """The explanation as one element; page and JSON show the same answer. `identity` is said at its foot.

    With an `image_shape`, rows and columns, features are pixels.
    """
    # An element's id must be its own among all that a notebook shows.
    key = json.dumps([answer.plain_instance, answer.against, model], sort_keys=True)
    prefix = f"q{hashlib.sha256(key.encode()).hexdigest()[:8]}-"
    forms = forms_of(explanation, answer)
    made = parts(
        explanation, forms, branches=branches, timeout=timeout, model=model, prefix=prefix, image_shape=image_shape
    )
    *shown, notes_at_the_end = made.values()
    told = None if identity is None else identity_block(page_rows(identity))
    return element("article", shown, told, notes_at_the_end, class_="quia")


def forms_of(explanation: Explanation, answer: Answer) -> list[Answer]:
    """An answer, and if its reasons are general, the same with those in the instance's states, where they are others.

    Those are what the general ones were made of, so they cost next to nothing.
    """
    if not answer.is_general or answer.is_constant:
        return [answer]
    limit, timeout = answer.necessary.limit, answer.necessary.patience.for_last_step
    necessary, sufficient = (
        replace(listing(shortest=answer.is_shortest, limit=limit, timeout=timeout), wait=0.0, gathers=False)
        for listing in (explanation.necessary_reasons, explanation.sufficient_reasons)
    )
    pairs = ((necessary, answer.necessary), (sufficient, answer.sufficient))
    if all([one.literals for one in states] == [one.literals for one in general] for states, general in pairs):
        return [answer]
    return [answer, replace(answer, necessary=necessary, sufficient=sufficient, is_general=False)]


def parts(
    explanation: Explanation,
    forms: Sequence[Answer],
    *,
    branches: int = BRANCHES,
    timeout: float | None = None,
    listed: int = MOST_LISTED,
    model: str | None = None,
    prefix: str = "",
    editable: bool = False,
    image_shape: tuple[int, int] | None = None,
) -> dict[str, Markup]:
    """The parts of the article by their names, in order; those that the explanation has none of are left out.

    The `forms` are answers that differ in what their reasons say of features; the first is what is seen at first. Where
    the page has a form to put values into, it is `editable`. Where features are pixels, of an image of that shape, the
    image is the picture.
    """
    answer, classifier = forms[0], explanation.classifier
    facts, rows = Facts(answer.variables), None if explanation.reference is None else len(explanation.reference)
    importance = None if answer.sufficient.set_count is None else _importance(explanation, timeout)
    complete = complete_reason_if_found(explanation, answer)
    # Without the shares it is only known that what the complete reason does not mention is in no reason.
    mentioned = answer.tested if complete is None else complete.mentioned
    mattering = set(mentioned) if importance is None else {facts.index[name] for name in importance}
    made = {
        "verdict": verdict(forms, facts),
        "image": None if image_shape is None else image(answer, facts, image_shape),
        "picture": None if answer.is_constant or image_shape is not None else _pictures(explanation, forms, facts),
        "changes": changes(answer, facts, editable=editable),
        "bias": bias(answer, facts),
        "scores": scores(classifier, answer),
        "points": points(classifier, answer, facts),
        "switch": switch(forms),
        "sufficient": None if answer.is_constant else reasons(forms, facts, "sufficient", rows=rows, editable=editable),
        "necessary": None if answer.is_constant else reasons(forms, facts, "necessary", rows=rows, editable=editable),
        "shares": None if answer.is_constant else shares(importance, facts, answer.sufficient.set_count),
        "instance": table(answer, facts, mattering, certain=importance is not None, listed=listed),
        "way": way(Looked(classifier), answer, facts, branches, prefix) if offers(classifier, HasPath) else None,
        "complete": _formulas(explanation, forms, facts),
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


def _formulas(explanation: Explanation, forms: Sequence[Answer], facts: Facts) -> Markup | None:
    """The formula that the reasons of each form come from; None if there is none to see."""
    # The general reason of a large graph takes far longer than all else on the page.
    if (node_count(explanation.classifier) or 0) > MOST_GENERAL:
        return _formula(explanation, replace(forms[0], is_general=False), facts)
    return _joined(each_form(forms, partial(_formula, explanation), facts, "div"))


def _pictures(explanation: Explanation, forms: Sequence[Answer], facts: Facts) -> Markup | None:
    """The shortest reason of each form as a picture."""
    extents = None if explanation.reference is None else explanation.reference.extents
    return _joined(each_form(forms, lambda answer, _: picture(answer, extents=extents), facts, "div"))


def _joined(drawn: Sequence[Markup | None]) -> Markup | None:
    return join(drawn) if any(drawn) else None


def _formula(explanation: Explanation, answer: Answer, facts: Facts) -> Markup | None:
    if answer.is_general and explanation.has_closed_form:
        with suppress(Unsupported):
            return formula(explanation.general_reason, answer, facts)
    complete = complete_reason_if_found(explanation, answer)
    return None if complete is None else formula(complete, replace(answer, is_general=False), facts)


def complete_reason_if_found(explanation: Explanation, answer: Answer) -> NNF | None:
    """The complete reason, unless it has no closed form and the reasons that it is made of were not found in time."""
    is_found = answer.necessary.set_count is not None and not answer.is_shortest
    return explanation.complete_reason if is_found or explanation.has_closed_form else None


def page(
    explanation: Explanation,
    *,
    limit: int | None = 10,
    timeout: float | None = None,
    model: str | None = None,
    answer: Answer | None = None,
    identity: PageFacts | None = None,
    image_shape: tuple[int, int] | None = None,
) -> str:
    """The explanation as one self-contained HTML file that loads nothing and sends nothing.

    With `identity`, its foot says what it was made of, when and how; with an `image_shape` features are pixels.
    """
    if answer is None:
        answer = explanation.answer(limit=limit, timeout=timeout)
    decided = answer.decision if answer.against is None else f"{answer.decision}, not {answer.against}"
    return whole_file(
        f"Why {short(decided)}: an explanation by quia",
        article(explanation, answer, timeout=timeout, model=model, identity=identity, image_shape=image_shape),
        script="page.js",
        data=script_data(answer.to_dict(), id="quia-explanation"),
    )
