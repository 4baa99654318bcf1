"""The part of an audit's page about protected features: groups, what hangs on them, for whom, and worst cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quia.auditing.document import Document, Group, GroupHanging, Hanging, Pair, Proof, Protected, WorstCase
from quia.show.audit_parts import confusion_table
from quia.show.audit_pieces import MOST_SHOWN, Palette, changed_features, folded, not_known, side_by_side
from quia.show.audit_words import named
from quia.show.bars import Count, stacked
from quia.show.html_reasons import section
from quia.show.markup import Child, Markup, element, join, short
from quia.show.table import table
from quia.show.words import number, plural, share_text

MOST_WORST = 2
"""How many worst cases are seen at once."""


def protected(document: Document, palette: Palette) -> Markup | None:
    """For each protected feature, and for all together, what hangs on it; None if none was named."""
    if not document.protected:
        return None
    return section(
        "protected",
        "Protected features",
        *(_one(each, palette) for each in document.protected),
        about="A decision hangs on protected features if it would change if only these changed, all else kept. Shares"
        " are of the rows of the group that they stand beside.",
        id="protected",
    )


def _one(found: Protected, palette: Palette) -> Markup:
    outside = [name for name in found.features if name not in found.in_model]
    untested = f"The model does not test {named(outside)}, so no decision hangs on that." if outside else ""
    hanging = _hanging_line(found) if found.in_model else ""
    return element(
        "div",
        element("h3", " and ".join(short(name, 60) for name in found.features)),
        element("p", f"{untested} {hanging}".strip(), class_="told"),
        _every_input(found.depends, found.features, palette) if found.in_model else None,
        join([_groups(found, palette)]),
        None if found.hanging is None or not found.hanging.rows else _turns(found.hanging, palette),
        _worst(found.worst, palette) if found.worst else None,
        class_="apart",
    )


def _hanging_line(found: Protected) -> str:
    hanging = found.hanging
    if hanging is None:
        why = (found.why or "time ran out").rstrip(".")
        return f"How many decisions hang on {_it(found)} is not known: {why}."
    fixed = ""
    if hanging.fixed:
        fixed = f" For {share_text(hanging.fixed, hanging.of)} rows no possible world differs in that alone."
    return f"{share_text(hanging.rows, hanging.of)} decisions hang on {_it(found)}.{fixed}"


def _it(found: Protected) -> str:
    return "it" if len(found.features) == 1 else "them"


def _every_input(found: Proof, features: Sequence[str], palette: Palette) -> Markup:
    names = named(features, "or")
    if found.can is None:
        return element("p", f"On any input whatever: {not_known(found)}.", class_="told")
    if not found.can:
        proved = element("strong", "Proved: ")
        return element("p", proved, f"no decision, on any input, depends on {names}.", class_="told proved")
    said = element("p", f"On any input whatever: some decision depends on {names}, as two inputs show.", class_="told")
    if found.pair is None:
        return said
    heads = (palette.chip(found.pair.decisions[0]), palette.chip(found.pair.decisions[1]))
    return join([said, folded("the two inputs", side_by_side(found.pair, heads))])


def _groups(found: Protected, palette: Palette) -> Child:
    """Decisions by group as a chart, with the numbers beside it, and what hangs on the features in each."""
    if not found.groups:
        return None
    shown, rest = found.groups[:MOST_SHOWN], found.groups[MOST_SHOWN:]
    hanging = {} if found.hanging is None else {each.group: each for each in found.hanging.groups}
    more = _group_parts(rest, hanging, palette) if rest else None
    return [_group_parts(shown, hanging, palette), folded(plural(len(rest), "more group"), more) if rest else None]


def _group_parts(groups: Sequence[Group], hanging: Mapping[str, GroupHanging], palette: Palette) -> Markup:
    lines = [element("li", _group_bar(each, palette)) for each in groups]
    made: list[Child] = [element("ul", lines, class_="stacks")]
    if any(each.rows for each in hanging.values()):
        rows = [(short(each.name, 60), *_hangs(hanging.get(each.name))) for each in groups]
        made.append(table(("Group", "Hang on protected features", "Would have fared better as"), rows))
    if any(each.labelled for each in groups):
        made.append(_labelled(groups))
    return join(made)


def _group_bar(group: Group, palette: Palette) -> list[Child]:
    counts = [Count(name, rows, palette[name]) for name, rows in group.decided.items()]
    decided = sum(group.decided.values())
    numbers = [
        [palette.chip(each.name), f" {share_text(each.rows, decided)}", "" if each is counts[-1] else " · "]
        for each in counts
    ]
    undecided = f" {number(group.rows - decided)} more without a decision" if decided < group.rows else None
    return [
        element("span", element("b", short(group.name, 60)), undecided, class_="name"),
        stacked(counts, decided, about=f"Decisions on {group.name}"),
        element("span", numbers, class_="said"),
    ]


def _hangs(found: GroupHanging | None) -> tuple[str, str]:
    if found is None:
        return "not known", "not known"
    better = [f"{short(name, 60)}: {share_text(rows, found.of)}" for name, rows in _most(found.better)]
    left = sum(rows > 0 for rows in found.better.values()) - len(better)
    more = [f"and {plural(left, 'group')} more"] if left > 0 else []
    return share_text(found.rows, found.of), "; ".join([*better, *more]) or "nobody else"


def _most(better: Mapping[str, int], most: int = 4) -> list[tuple[str, int]]:
    ranked = sorted(better.items(), key=lambda item: (-item[1], item[0]))
    return [(name, rows) for name, rows in ranked if rows][:most]


def _labelled(groups: Sequence[Group]) -> Markup:
    """How each group's decisions agree with its labels: in all, and for the rows of each label."""
    labels = list(dict.fromkeys(each.label for group in groups for each in group.confusion or ()))
    heads = ("Group", "Decided as labelled", *(f"labelled {short(name, 40)}, decided so" for name in labels[:3]))
    rows = []
    for group in groups:
        right = {each.label: share_text(each.decided.get(each.label, 0), each.rows) for each in group.confusion or ()}
        whole = "no labels" if not group.labelled else share_text(group.right or 0, group.labelled)
        rows.append((short(group.name, 60), whole, *(right.get(name, "none") for name in labels[:3])))
    confused = [each for each in groups if each.confusion]
    tables = [join([element("h4", short(each.name, 60)), confusion_table(each.confusion or ())]) for each in confused]
    all_of = folded("how each group's labels were decided", tables) if len(labels) > 2 else None
    return join([table(heads, rows), all_of])


def _turns(found: Hanging, palette: Palette) -> Markup:
    ranked = sorted(found.turns, key=lambda turn: -turn.rows)[:MOST_SHOWN]
    lines = [
        element(
            "li",
            palette.chip(turn.decision),
            " could become ",
            palette.chip(turn.otherwise),
            f": {share_text(turn.rows, found.of)} rows",
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
