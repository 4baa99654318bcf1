"""The parts of an audit's page about what raising features does, and about two models."""

from __future__ import annotations

from quia.auditing.document import Comparison, Difference, Document, Monotone, Pair, Proof
from quia.show.audit_pieces import Palette, Reach, conditions_line, folded, not_known, rule_line, shown_and_folded
from quia.show.audit_words import (
    UNCOMPARED,
    because,
    every_input,
    model_name,
    new_name,
    uncompared,
    value_text,
    values_text,
)
from quia.show.bars import bar
from quia.show.html_section import section
from quia.show.markup import Child, Markup, element, join, short
from quia.show.table import table
from quia.show.words import plural, share_text, told_apart

MOST_FEATURES = 15
MOST_CLASSES = 12


def monotonicity(document: Document, palette: Palette) -> Markup | None:
    """For each feature that has an order whether more of it can hurt or help; None if that was not asked."""
    found = document.monotonicity
    if found is None:
        return None
    heads = ("Feature", "Can more of it hurt?", "Can more of it help?")
    first, rest = found.features[:MOST_FEATURES], found.features[MOST_FEATURES:]
    order = ", then ".join(" or ".join(short(name, 40) for name in equals) for equals in found.order)
    assumed = ", which was assumed: name the favourable classes to change it" if found.is_assumed else ""
    return section(
        "monotonicity",
        "Monotonicity",
        table(heads, (_monotone(each, palette) for each in first)) if first else None,
        folded(plural(len(rest), "more feature"), table(heads, (_monotone(each, palette) for each in rest)))
        if rest
        else None,
        about=f"Decisions from the worst to the best: {order}{assumed}. More of a feature hurts if raising it, all else"
        f" kept, can make a decision worse; “never” is proved for {every_input(document)}, and “yes” has a pair that"
        " shows it.",
        id="monotonicity",
    )


def _monotone(found: Monotone, palette: Palette) -> tuple[Child, ...]:
    order = "" if found.order is None else f" ({' < '.join(short(name, 30) for name in found.order[:8])})"
    return (
        [short(found.feature, 60), element("span", order, class_="same") if order else None],
        *(_direction(each, found.feature, palette) for each in (found.hurts, found.helps)),
    )


def _direction(found: Proof, feature: str, palette: Palette) -> Child:
    if found.can is None:
        return not_known(found)
    if not found.can:
        return element("span", f"never: proved{because(found)}", class_="proved")
    return ["yes", None if found.pair is None else _witness(found.pair, feature, palette)]


def _witness(pair: Pair, feature: str, palette: Palette) -> Child:
    """What the feature is in both instances, and all else when it is unfolded."""
    one, other = (value_text(each.get(feature)) for each in (pair.one, pair.other))
    alike = [name for name in pair.one if name != feature]
    return [
        ": at ",
        element("mark", one),
        " ",
        palette.chip(pair.decisions[0]),
        ", at ",
        element("mark", other),
        " ",
        palette.chip(pair.decisions[1]),
        element("details", element("summary", "all else"), element("p", values_text(pair.one, alike), class_="same"))
        if alike
        else None,
    ]


def comparison(document: Document, palette: Palette) -> Markup | None:
    """The audited model beside a new one; None if there is none."""
    found = document.comparison
    if found is None:
        return None
    new = new_name(document)
    inputs = [each for each in found.inputs if not each.startswith(UNCOMPARED)]
    undecided, them = "", "it" if found.undecided == 1 else "them"
    if found.undecided:
        undecided = f" {plural(found.undecided, 'row')} left out: one or both do not decide {them}."
    rows = f"{share_text(found.rows, found.of)} rows are decided differently.{undecided}"
    shares = f" Shares are of the {plural(found.of, 'row')} that both decide, where nothing else is said."
    return section(
        "compared",
        "Two models",
        element("p", rows if found.of else uncompared(found), class_="told"),
        _every_input(found, palette, every_input(document)),
        element("ul", [element("li", short(each, 300)) for each in inputs], class_="points") if inputs else None,
        _matrix(found) if found.turns else None,
        join([element("h3", "By group"), _by_group(found)]) if found.groups and found.of else None,
        _differences(found, palette) if found.differences else None,
        about=f"Old is {model_name(document)}, new is {new}.{shares if found.of else ''}",
        id="compared",
    )


def _every_input(found: Comparison, palette: Palette, inputs: str) -> Markup:
    if found.can_differ is None:
        return element(
            "p", f"On any input whatever: not known: {(found.why or 'time ran out').rstrip('.')}.", class_="told"
        )
    if not found.can_differ:
        proved = element("strong", "Proved equivalent: ")
        return element("p", proved, f"both decide alike on {inputs}.", class_="told proved")
    witness = found.witness
    if witness is None:
        return element("p", "On some input they differ.", class_="told")
    said = [
        "They differ, for example, on an input that is ",
        palette.chip(witness.old),
        " by the old one and ",
        palette.chip(witness.new),
        " by the new one.",
    ]
    values = element("p", values_text(witness.values, witness.values), class_="same")
    return join([element("p", said, class_="told"), folded("that input", values)])


def _matrix(found: Comparison) -> Markup:
    """Old decisions down, new ones across; what did not change is marked by a dash if it was not counted."""
    counts = {(turn.old, turn.new): turn.rows for turn in found.turns}
    old, new = (list(dict.fromkeys(pair[side] for pair in counts)) for side in (0, 1))
    if max(len(old), len(new)) > MOST_CLASSES:
        ranked = sorted(found.turns, key=lambda turn: -turn.rows)
        lines = [
            element("li", f"{short(turn.old, 40)} → {short(turn.new, 40)}: {share_text(turn.rows, found.of)} rows")
            for turn in ranked
            if turn.old != turn.new
        ]
        return join([shown_and_folded(lines, "turn", tag="ul", class_="turns")])
    rows = [[short(name, 40), *(_cell(counts, name, other, found.of) for other in new)] for name in old]
    return table(["Old decision", *(f"new {short(name, 40)}" for name in new)], rows)


def _cell(counts: dict[tuple[str, str], int], old: str, new: str, of: int) -> Child:
    rows = counts.get((old, new))
    if rows is None:
        return "—" if old == new else "0"
    said = share_text(rows, of)
    return said if old == new or not rows else element("mark", said)


def _by_group(found: Comparison) -> Markup:
    shown = told_apart(each.group for each in found.groups)
    lines = [
        element(
            "li",
            element("span", shown[each.group], class_="name"),
            bar(each.rows / each.of if each.of else 0.0),
            element("span", share_text(each.rows, each.of), class_="said"),
        )
        for each in found.groups
    ]
    return element("div", shown_and_folded(lines, "group", tag="ul", class_="bars"))


def _differences(found: Comparison, palette: Palette) -> Markup:
    lines = [_difference(each, found.rows, palette) for each in found.differences]
    out = "" if found.complete else " Time ran out before all were found."
    about = f"Throughout each of these regions the old model decides so and the new one so: proved.{out}"
    are = "is" if found.rows == 1 else "are"
    shares = f" Shares are of the {plural(found.rows, 'row')} that {are} decided differently." if found.rows else ""
    return join(
        [
            element("h3", "Where they differ"),
            element("p", f"{about}{shares}", class_="about"),
            join([shown_and_folded(lines, "region", class_="rules")]),
        ]
    )


def _difference(found: Difference, of: int, palette: Palette) -> Markup:
    said = [palette.chip(found.old), " → ", palette.chip(found.new), " if ", conditions_line(found.conditions)]
    return rule_line(said, Reach(found.rows, found.new_rows, found.cumulated), of, found.example)
