"""What a notebook shows of lists and short answers: reasons, changes, bias, even if, comparisons, codes, shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from quia.bias import Bias, ClassifierBias
from quia.compare import Comparison
from quia.counterfactual import Counterfactual, Counterfactuals
from quia.even_if import EvenIf
from quia.literal import State
from quia.patience import PATIENCE, Patience
from quia.reason import Reason
from quia.reason_codes import ReasonCodes
from quia.reasons import Reasons
from quia.show.codes import beside, decided_text, favourable, gain_text, rule
from quia.show.markup import Child, Markup, element, join, short
from quia.show.notebook_pieces import (
    MOST_FACTS,
    MOST_FOLDED_FACTS,
    Values,
    bar,
    decided,
    facts,
    folds,
    framed,
    grid,
    numbered,
    reason_line,
    title,
)
from quia.show.words import number, percent, plural, without_text

MOST_LISTED = 10
"""So many of a list are shown."""
MOST_BECAUSE = 3


def reason_view(reason: Reason) -> str:
    """A reason by itself."""
    name = f"{'General ' if reason.is_general else ''}{reason.kind or ''} reason".strip().capitalize()
    said = "would change it: " if reason.is_general and reason.kind == "necessary" else ""
    return framed(element("p", element("strong", f"{name}: "), said, reason_line(reason, most=MOST_FOLDED_FACTS)))


def reasons_view(found: Reasons) -> str:
    """The first reasons, and how many there are if that is known."""
    shown = in_time(found, MOST_LISTED)
    is_all = shown.complete
    first = list(shown)
    facts_known = list(shown.known_facts())
    rows = [[number(place), reason_line(each, most=8), number(len(each))] for place, each in enumerate(first, 1)]
    what = "Conditions" if found.kind == "sufficient" else "Changes" if any(r.is_general for r in first) else "Facts"
    table = grid(["", what, "Features"], rows) if rows else None
    about = "" if is_all or not first else f"The first {plural(len(first), 'reason')}; iterating gives more."
    said = ", ".join(facts_known)
    return framed(title(said[:1].upper() + said[1:]), table, element("p", about, class_="faint") if about else None)


def in_time(found: Reasons, most: int) -> Reasons:
    """The first of some reasons, within the time that people wait; nothing is found twice."""
    seconds = found.patience.seconds
    limit = most if found.limit is None else min(found.limit, most)
    patience = Patience(PATIENCE if seconds is None else min(seconds, PATIENCE))
    return replace(found, limit=limit, patience=patience, gathers=False)


def change_line(change: Counterfactual, values: Values | None, *, most: int = MOST_FACTS) -> Markup:
    """A change in a line: what changes, and what the decision is then."""
    present = values if values is not None else dict(zip(change.features, change.values or change.now, strict=False))
    perhaps = element("small", "perhaps ") if not change.certain else None
    return join(
        [facts(change.changes, present or None, most=most), " → ", perhaps, decided(change.decision, other=True)]
    )


def change_view(change: Counterfactual) -> str:
    """A change by itself."""
    return framed(element("p", element("strong", "Change: "), change_line(change, None, most=MOST_FOLDED_FACTS)))


def changes_head(found: Counterfactuals) -> str:
    """How many changes there are."""
    return plural(len(found), "nearest change" if found.are_nearest else "change")


def changes_about(found: Counterfactuals) -> str:
    """Whether these are all."""
    if found.complete:
        would = "would" if all(change.certain for change in found) else "could"
        return f"{would} change it" if len(found) == 1 else f"each {would} change it"
    return "there may be more" if found.are_nearest else "found in time; there may be nearer ones"


def changes_view(found: Counterfactuals) -> str:
    """The nearest changes, each with what the decision would be."""
    if not found:
        return framed(title("No change" if found.complete else "No change was found in time"))
    lines = (change_line(each, None, most=8) for each in found[:MOST_LISTED])
    more = len(found) - MOST_LISTED
    rest = element("p", f"… {plural(more, 'change')} more", class_="faint") if more > 0 else None
    about = element("p", changes_about(found), class_="faint") if not found.complete else None
    return framed(title(changes_head(found)), about, numbered(lines), rest)


def bias_view(found: Bias) -> str:
    """Whether a decision hangs on protected features, and the proof."""
    answer = {True: "Biased", False: "Not biased", None: "Perhaps biased"}[found.biased]
    told: Child = without_text(found)
    if found.changes:
        would = "would be " if found.certain else "could be "
        changed = decided(str(found.changed_decision), other=True)
        told = [
            "With ",
            facts(found.changes, most=MOST_FOLDED_FACTS),
            f", and all else the same, it {would}",
            changed,
            ".",
        ]
    about = f"protected: {', '.join(short(name, 40) for name in found.protected) or 'nothing'}"
    head = title(answer, ": the model decided ", decided(found.decision))
    return framed(head, element("p", told), element("p", about, class_="faint"))


def classifier_bias_view(found: ClassifierBias) -> str:
    """Whether some decision of a model is biased, and two instances that prove it."""
    names = ", ".join(short(name, 40) for name in found.protected) or "nothing"
    if not found.biased:
        return framed(title("Not biased"), element("p", f"Whatever {names} were, no decision would change."))
    shared = [state for state in found.instance if state in found.other]
    apart = sorted({s.feature for s in (*found.instance, *found.other) if s not in shared})
    sides = [{s.feature: s for s in one} for one in (found.instance, found.other)]
    rows: list[Sequence[Child]] = [[short(name, 60), *(_state(one.get(name)) for one in sides)] for name in apart]
    rows.append(["decision", decided(str(found.decision)), decided(str(found.other_decision), other=True)])
    said = f"Two inputs that differ in {names} alone are decided differently."
    same = grid(["", ""], ([short(s.feature, 60), short(s.signs, 60)] for s in shared[:60]))
    both = f"{plural(len(shared), 'feature')} {'is' if len(shared) == 1 else 'are'} the same in both"
    return framed(
        title("Biased"),
        element("p", said),
        grid(["", "the one", "the other"], rows),
        folds((both, same) if shared else None),
    )


def even_if_view(found: EvenIf) -> str:
    """Whether a decision would stick, and because of what."""
    if not found.holds:
        return framed(title(found.headline[:1].upper() + found.headline[1:]))
    reasons = in_time(found.because, MOST_BECAUSE)
    lines = [reason_line(each, most=8) for each in islice(reasons, MOST_BECAUSE)]
    headline = found.headline[:1].upper() + found.headline[1:]
    because = [element("p", "because", class_="faint"), numbered(lines)] if lines else None
    though = element("p", "No possible world differs in that alone.", class_="faint") if found.is_vacuous else None
    return framed(title(headline), because, though)


def comparison_view(found: Comparison) -> str:
    """Two decisions side by side."""
    said: list[Child] = []
    if found.common_reason is not None:
        said.append(element("p", "because ", facts(found.common_reason.literals, most=8), ", whatever the rest"))
    if found.congruent:
        said.append(element("p", "Congruent: the states that they share force the decision.", class_="faint"))
    elif found.witness is not None and found.witness.changes:
        becomes = [" is decided " if found.witness.certain else " could be decided "]
        other = decided(str(found.witness.changed_decision), other=True)
        shared = "Not congruent: who has all that they share, but "
        said.append(element("p", shared, facts(found.witness.changes, most=8), *becomes, other))
    rows = [[short(name, 60), _state(one), _state(other)] for name, one, other in found.differences]
    heads = ["Where they differ", decided(found.decisions[0]), _second(found)]
    table = grid(heads, rows[:MOST_LISTED]) if rows else element("p", "They are the same to the model.", class_="faint")
    rest = ("more differences", grid(heads, rows[MOST_LISTED:200])) if len(rows) > MOST_LISTED else None
    headline = found.headline[:1].upper() + found.headline[1:]
    return framed(title(headline), said, table, folds(rest and (f"{len(rows) - MOST_LISTED:,} {rest[0]}", rest[1])))


def _second(found: Comparison) -> Markup:
    return decided(found.decisions[1], other=found.decisions[0] != found.decisions[1])


def _state(state: State | None) -> str:
    return "not known" if state is None else short(state.signs, 60)


def codes_view(codes: ReasonCodes) -> str:
    """The principal reasons of a decision, as a notice lists them."""
    scored = any(code.points is not None for code in codes.codes)
    heads = ["", "Feature", "Now", *(["Could gain"] if scored else []), "Favourable"]
    rows: list[Sequence[Child]] = [
        [
            number(code.rank),
            element("b", short(code.feature, 60)),
            short(code.now, 60),
            *([gain_text(code)] if scored else []),
            [short(favourable(code), 80), [" ", element("small", "alone enough")] if code.alone else None],
        ]
        for code in codes.codes
    ]
    if not codes.codes:
        return framed(title(decided_text(codes)), element("p", "No feature is a reason: nothing can change this."))
    notes = [element("p", line, class_="faint") for line in (short(rule(codes), 600), *beside(codes))]
    return framed(title(decided_text(codes)), grid(heads, rows), notes)


def shares(found: Mapping[str, Fraction]) -> Markup:
    """Each feature's share of the sufficient reasons as bars."""
    rows = [
        [short(name, 60), bar(float(share)), percent(float(share))]
        for name, share in islice(found.items(), MOST_LISTED)
    ]
    return grid(["", "", "of the sufficient reasons"], rows, more=len(found) - MOST_LISTED, what="feature")


def shares_view(found: Mapping[str, Fraction]) -> str:
    """The same by itself."""
    return framed(title(f"{plural(len(found), 'feature')} in the sufficient reasons"), shares(found))
