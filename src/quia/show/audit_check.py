"""The part of an audit's page that says what is proved, how to check it again, and what is not known."""

from __future__ import annotations

import shlex

from quia.auditing.document import Document, Protected
from quia.show.audit_pieces import paragraphs
from quia.show.audit_words import any_input, because, named, not_asked
from quia.show.html_section import section
from quia.show.markup import Markup, element, short
from quia.show.words import number, plural


def check(document: Document) -> Markup:
    """What is proved, how to check it again, and what is not known."""
    model = document.identity.model.file
    command = f"quia verify {'MODEL' if model is None else shlex.quote(model.path)} audit.json"
    unknown = [*document.unfinished, *_reasons_why(document)]
    return section(
        "check",
        "Check it yourself",
        element("pre", element("code", command)),
        element("h3", "What is proved"),
        paragraphs(_proved(document)),
        element("h3", "What is not known") if unknown else None,
        paragraphs(unknown[:20]) if unknown else None,
        element("p", f"… {number(len(unknown) - 20)} more: see the JSON", class_="more") if len(unknown) > 20 else None,
        element("h3", "What was not asked") if not_asked(document) else None,
        paragraphs(not_asked(document)) if not_asked(document) else None,
        element("h3", "What this page does not say"),
        paragraphs(_NOT_SAID),
        about="The file that quia audit writes with --json has every claim of this page, and what it takes to check it:"
        " conditions, rows and pairs of inputs. This command checks them again, by a checker of its own, and says how"
        " many hold; audit.json stands for the file that --json wrote.",
        id="check",
    )


_NOT_SAID = (
    "It is about the model, not about cause: in life, one feature may change with another.",
    "It does not say whether a decision, or a difference between groups, is right, fair or lawful, nor whether the data"
    " are true.",
)


def _proved(document: Document) -> list[str]:
    """What follows from the model by logic, and how much of it there is."""
    rules = sum(len(each.rules) for each in document.rules)
    idle = sum(each.matters is False for each in document.features)
    never = 0
    if document.monotonicity is not None:
        never = sum(proof.can is False for each in document.monotonicity.features for proof in (each.hurts, each.helps))
    inputs = any_input(document)
    regions = 0 if document.comparison is None else len(document.comparison.differences)
    counted = [
        (rules, "rule", "whoever meets one gets its decision"),
        (idle, "feature", f"no decision on {inputs} depends on one of them"),
        (never, "direction", "raising a feature never hurts, or never helps"),
        (regions, "region", "the two models differ throughout each"),
    ]
    told = [f"{plural(count, what)}: {that}." for count, what, that in counted if count]
    told += [
        f"{named(each.features)}: no decision on {inputs} depends on that{because(each.depends)}."
        for each in document.protected
        if each.depends.can is False
    ]
    return [*told, "Every count is of all the rows that it names; nothing is sampled or estimated."]


def _reasons_why(document: Document) -> list[str]:
    """Why something is not known, wherever it is said, each sentence once."""
    found = [
        *((f"Feature {short(each.feature, 60)}", each.why) for each in document.features),
        *((f"Protected {named(each.features)}", why) for each in document.protected for why in _whys(each)),
    ]
    if document.monotonicity is not None:
        found += [
            (f"Raising {short(each.feature, 60)}", proof.why)
            for each in document.monotonicity.features
            for proof in (each.hurts, each.helps)
            if proof.can is None
        ]
    if document.comparison is not None:
        found.append(("Two models", document.comparison.why))
    return list(dict.fromkeys(f"{about}: {why.rstrip('.')}." for about, why in found if why))


def _whys(protected: Protected) -> tuple[str | None, str | None]:
    return protected.why, protected.depends.why if protected.depends.can is None else None
