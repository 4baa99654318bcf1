"""What an audit leaves open, in words, as its own figures tell."""

from __future__ import annotations

from quia.auditing.document import Document, Share
from quia.literal import all_of


def unfinished(document: Document) -> tuple[str, ...]:
    """What time did not suffice for, or could not be told, a sentence each."""
    found = []
    decided = document.decisions.decided
    for protected in document.protected:
        name = all_of(protected.features)
        if protected.hanging is not None and protected.hanging.of < decided:
            found.append(f"What hangs on {name} was told of {protected.hanging.of:,} of {decided:,} rows.")
        if protected.depends.can is None:
            found.append(f"Whether any decision at all depends on {name} is not known: {protected.depends.why}.")
    open_ = [feature for feature in document.features if feature.matters is None]
    found += [f"Whether any decision depends on {each.feature} is not known: {each.why}." for each in open_]
    for share, what in (("alone", "what each feature alone changes"), ("shortest", "the shortest reasons")):
        shares: list[Share | None] = [getattr(feature, share) for feature in document.features if feature.tested]
        of = min((0 if each is None else each.of for each in shares), default=decided)
        if of < decided:
            found.append(f"For {what}, {of:,} of {decided:,} rows were looked at.")
    for each in document.monotonicity.features if document.monotonicity else ():
        for proof, does in ((each.hurts, "hurt"), (each.helps, "help")):
            if proof.can is None:
                found.append(f"Whether more {each.feature} can {does} is not known: {proof.why}.")
    for covering in document.rules:
        if not covering.complete:
            found.append(
                f"The rules for {covering.decision} cover {covering.covered:,} of {covering.of:,} rows, not the"
                f" {covering.wanted:,} that were wanted: time ran out."
            )
    if document.comparison is not None and document.comparison.why is not None:
        found.append(f"Whether the two models can differ is not known: {document.comparison.why}.")
    elif document.comparison is not None and not document.comparison.complete:
        found.append("Where the two models differ is told in part: time ran out.")
    return tuple(found)
