"""The part of an audit's page about protected features: groups, what hangs on them, for whom, and worst cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from quia.auditing.document import Document, Group, GroupHanging, Hanging, Pair, Protected, WorstCase
from quia.show.audit_parts import confusion_table
from quia.show.audit_pieces import MOST_SHOWN, Palette, changed_features, folded, not_known, side_by_side
from quia.show.audit_words import any_input, because, favourable_class, named, unlooked, untested_sentence
from quia.show.bars import Count, stacked
from quia.show.html_section import section
from quia.show.markup import Child, Markup, element, join, short
from quia.show.table import table
from quia.show.words import number, part_text, plural, share_text, told_apart

MOST_WORST = 2
"""How many worst cases are seen at once."""
FEW = 30
"""A rate of fewer rows than these says little."""


def protected(document: Document, palette: Palette) -> Markup | None:
    """For each protected feature, and for all together, what hangs on it; None if none was named."""
    if not document.protected:
        return None
    return section(
        "protected",
        "Protected features",
        *(_one(each, document, palette) for each in document.protected),
        about="A decision hangs on protected features if it would change if only these changed, all else kept. Shares"
        " are of the rows of the group that they stand beside.",
        id="protected",
    )


def _one(found: Protected, document: Document, palette: Palette) -> Markup:
    untested = untested_sentence(found)
    hanging = _hanging_line(found, document) if found.in_model else ""
    return element(
        "div",
        element("h3", " and ".join(short(name, 60) for name in found.features)),
        element("p", f"{untested} {hanging}".strip(), class_="told"),
        _every_input(found, any_input(document), palette) if found.in_model else None,
        join([_groups(found, favourable_class(document), palette)]),
        None if found.hanging is None or not found.hanging.rows else _turns(found.hanging, document, palette),
        _worst(found.worst, palette) if found.worst else None,
        class_="apart",
    )


def _hanging_line(found: Protected, document: Document) -> str:
    hanging, every = found.hanging, document.decisions.decided
    names = named(found.in_model, "or")
    if hanging is None or not hanging.of:
        why = (found.why or "time ran out") if hanging is None else unlooked(document)
        return f"How many decisions hang on {names} is not known: {why.rstrip('.')}."
    fixed = ""
    if hanging.fixed:
        rows = "rows " if hanging.of >= every else ""
        fixed = f" For {part_text(hanging.fixed, hanging.of, every)} {rows}no possible world differs in that alone."
    said = "decisions hang" if hanging.of >= every else "have a decision that hangs"
    return f"{part_text(hanging.rows, hanging.of, every)} {said} on {names}.{fixed}"


def _every_input(protected: Protected, inputs: str, palette: Palette) -> Markup:
    found, names = protected.depends, named(protected.in_model, "or")
    if found.can is None:
        return element("p", f"On any input whatever: {not_known(found)}.", class_="told")
    if not found.can:
        said = f"no decision, on {inputs}, depends on {names}{because(found)}."
        return element("p", element("strong", "Proved: "), said, class_="told proved")
    said = element("p", f"On any input whatever: some decision depends on {names}, as two inputs show.", class_="told")
    if found.pair is None:
        return said
    heads = (palette.chip(found.pair.decisions[0]), palette.chip(found.pair.decisions[1]))
    return join([said, folded("the two inputs", side_by_side(found.pair, heads))])


def _groups(found: Protected, favourable: str | None, palette: Palette) -> Child:
    """Decisions by group as a chart, with the numbers beside it, and what hangs on the features in each."""
    if not found.groups:
        return None
    shown, rest = found.groups[:MOST_SHOWN], found.groups[MOST_SHOWN:]
    more = _group_parts(rest, found, favourable, palette) if rest else None
    return [
        _group_parts(shown, found, favourable, palette),
        folded(plural(len(rest), "more group"), more) if rest else None,
    ]


def _group_parts(groups: Sequence[Group], found: Protected, favourable: str | None, palette: Palette) -> Markup:
    names = told_apart(each.name for each in found.groups)
    hanging = {} if found.hanging is None else {each.group: each for each in found.hanging.groups}
    made: list[Child] = [
        element("ul", [element("li", _group_bar(each, names[each.name], palette)) for each in groups], class_="stacks")
    ]
    heads, columns = ["Group"], [[names[each.name] for each in groups]]
    if favourable is not None:
        heads.append(f"Rate of {short(favourable, 40)}, of the highest")
        highest = max(_rate(each, favourable) for each in found.groups)
        columns.append([_rate_text(each, favourable, highest) for each in groups])
    if any(each.rows for each in hanging.values()):
        heads += ["Hang on protected features", "Would have fared better as"]
        hangs = [_hangs(hanging.get(each.name), sum(each.decided.values()), names) for each in groups]
        columns += [[each[0] for each in hangs], [each[1] for each in hangs]]
    if len(columns) > 1:
        made.append(table(heads, zip(*columns, strict=True)))
    if any(each.labelled for each in groups):
        made.append(_labelled(groups, names))
    return join(made)


def _rate(group: Group, favourable: str) -> Fraction:
    """The share of a group's decisions that are favourable."""
    return Fraction(group.decided.get(favourable, 0), sum(group.decided.values()) or 1)


def _rate_text(group: Group, favourable: str, highest: Fraction) -> str:
    """A group's rate, what part it is of the highest one, and whether it is of few rows."""
    decided = sum(group.decided.values())
    if not decided:
        return "no decisions"
    rate = _rate(group, favourable)
    ratio = f"; {float(rate / highest):.2f} of the highest" if rate < highest else "; the highest" if highest else ""
    return f"{share_text(group.decided.get(favourable, 0), decided)}{ratio}{'; few rows' if decided < FEW else ''}"


def _group_bar(group: Group, shown: str, palette: Palette) -> list[Child]:
    counts = [Count(name, rows, palette[name]) for name, rows in group.decided.items()]
    decided = sum(group.decided.values())
    numbers = [
        [palette.chip(each.name), f" {share_text(each.rows, decided)}", "" if each is counts[-1] else " · "]
        for each in counts
    ]
    undecided = f" {number(group.rows - decided)} more without a decision" if decided < group.rows else None
    return [
        element("span", element("b", shown), undecided, class_="name"),
        stacked(counts, decided, about=f"Decisions on {group.name}"),
        element("span", numbers, class_="said"),
    ]


def _hangs(found: GroupHanging | None, decided: int, names: Mapping[str, str]) -> tuple[str, str]:
    if found is None or (decided and not found.of):
        return "not known", "not known"
    better = [f"{names.get(name, name)}: {part_text(rows, found.of, decided)}" for name, rows in _most(found.better)]
    left = sum(rows > 0 for rows in found.better.values()) - len(better)
    more = [f"and {plural(left, 'group')} more"] if left > 0 else []
    return part_text(found.rows, found.of, decided), "; ".join([*better, *more]) or "nobody else"


def _most(better: Mapping[str, int], most: int = 4) -> list[tuple[str, int]]:
    ranked = sorted(better.items(), key=lambda item: (-item[1], item[0]))
    return [(name, rows) for name, rows in ranked if rows][:most]


def _labelled(groups: Sequence[Group], names: Mapping[str, str]) -> Markup:
    """How each group's decisions agree with its labels: in all, and for the rows of each label."""
    labels = list(dict.fromkeys(each.label for group in groups for each in group.confusion or ()))
    heads = ("Group", "Decided as labelled", *(f"labelled {short(name, 40)}, decided so" for name in labels[:3]))
    rows = []
    for group in groups:
        right = {each.label: share_text(each.decided.get(each.label, 0), each.rows) for each in group.confusion or ()}
        whole = "no labels" if not group.labelled else share_text(group.right or 0, group.labelled)
        rows.append((names[group.name], whole, *(right.get(name, "none") for name in labels[:3])))
    confused = [each for each in groups if each.confusion]
    tables = [join([element("h4", names[each.name]), confusion_table(each.confusion or ())]) for each in confused]
    all_of = folded("how each group's labels were decided", tables) if len(labels) > 2 else None
    return join([table(heads, rows), all_of])


def _turns(found: Hanging, document: Document, palette: Palette) -> Markup:
    every = document.decisions.decided
    rows = " rows" if found.of >= every else ""
    ranked = sorted(found.turns, key=lambda turn: -turn.rows)[:MOST_SHOWN]
    lines = [
        element(
            "li",
            palette.chip(turn.decision),
            " could become ",
            palette.chip(turn.otherwise),
            f": {part_text(turn.rows, found.of, every)}{rows}",
        )
        for turn in ranked
    ]
    left = len(found.turns) - len(lines)
    more = element("li", f"… {plural(left, 'more turn')}: see the JSON", class_="more") if left else None
    return element("ul", lines, more, class_="turns", aria_label="From which decision to which")


def _worst(cases: Sequence[WorstCase], palette: Palette) -> Markup:
    made = [_case(each, palette) for each in cases]
    shown, rest = made[:MOST_WORST], made[MOST_WORST:]
    more = element("div", rest, class_="pairs")
    return join(
        [
            element("h4", "Worst cases"),
            element("div", shown, class_="pairs"),
            folded(plural(len(rest), "more case"), more) if rest else None,
        ]
    )


def _case(case: WorstCase, palette: Palette) -> Markup:
    differing = changed_features(case.values, case.other)
    pair = Pair(case.values, case.other, differing, (case.decision, case.other_decision))
    heads = (
        join([f"row {number(case.row)}, as it is: ", palette.chip(case.decision)]),
        join(["as it could be: ", palette.chip(case.other_decision)]),
    )
    return side_by_side(pair, heads)
