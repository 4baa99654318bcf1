"""What the views of a notebook are made of: facts, lists, tables, what is folded.

Hosts may strip the style: then the markup alone must read well, so there is text between all that is only set apart.
No element has an id and nothing is a heading by its tag: a notebook may have a hundred views and a table of contents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from quia.literal import Literal
from quia.reason import Reason, is_read_rounded
from quia.show.markup import Child, Markup, element, join, short, trusted
from quia.show.whole_file import asset
from quia.show.words import SUPERFLUOUS, number, plural
from quia.values import readable_value

MOST_FACTS = 3
"""So many facts of a reason are told in a line; what is folded tells more."""
MOST_FOLDED_FACTS = 20
_LONG = 60  # letters of a name
_WIDE, _NARROW = 120, 32
"""So many letters a condition has, where there is room and where there is little."""

Values = Mapping[str, Any]


def framed(*children: Child) -> str:
    """A view: what is in it, and the style that stays in it and lets nothing in."""
    return str(element("div", element("style", trusted(asset("notebook.css"))), children, class_="quia-note"))


def title(*said: Child) -> Markup:
    """What a view says first."""
    return element("p", element("strong", said), class_="title", role="heading", aria_level=4)


def heading(said: Child, about: str = "") -> Markup:
    """What a part of a view is about."""
    more = [" ", element("small", about)] if about else None
    return element("p", element("strong", said), more, class_="head", role="heading", aria_level=5)


def decided(name: str, *, other: bool = False) -> Markup:
    """A class: the decision, or another one."""
    return element("b", short(name, _LONG), class_="class other" if other else "class")


def folds(*parts: tuple[str, Child] | None) -> Markup | None:
    """What can be unfolded, side by side; what is empty is left out."""
    made = [
        element("details", element("summary", name), element("div", content))
        for name, content in filter(None, parts)
        if content
    ]
    return element("div", made, class_="folds") if made else None


def fact(literal: Literal, now: str = "", *, most: int = _WIDE) -> Markup:
    """What is said of one feature, with its value at present; of many states the first."""
    # Circuits number their features, and "1 0" says little.
    equals = "= " if literal.feature.isdecimal() and not literal.variable.is_numeric else ""
    name = element("b", short(literal.feature, _LONG))
    said = element("span", name, f" {equals}{short(literal.signs, most)}", class_="fact")
    return join([said, " ", element("small", f"now {now}")]) if now else said


def facts(literals: Sequence[Literal], values: Values | None = None, *, most: int = MOST_FACTS) -> Markup:
    """Facts that hold together; with `values`, each with what it is at present.

    That numbers may also be missing is said once, at the end, and not at all where there is room for few facts only:
    what is said then is narrower, and as true.
    """
    loose = [each.feature for each in literals if each.strict is not each]
    shown = [each.strict for each in literals] if len(loose) > 1 or most <= MOST_FACTS else literals
    letters = _NARROW if most <= MOST_FACTS else _WIDE
    told = [fact(each, "" if values is None else present(each, values), most=letters) for each in shown[:most]]
    pieces: list[Child] = []
    for place, each in enumerate(told):
        pieces += [" and " if place else None, each]
    if len(literals) > most:
        pieces.append(element("small", f" and {plural(len(literals) - most, 'fact')} more"))
    if len(loose) > 1 and most > MOST_FACTS:
        who = "each" if len(loose) == len(literals) else f"{len(loose)} of them"
        pieces.append(element("small", f" ({who} may also be missing)"))
    return join(pieces) if pieces else join(["nothing at all: it is so whatever the features are"])


def is_cut(literals: Collection[Literal]) -> bool:
    """Whether there is too little room in a line for all that some literals say."""
    return len(literals) > MOST_FACTS or any(len(each.strict.signs) > _NARROW for each in literals)


def present(literal: Literal, values: Values) -> str:
    """What a feature's value is at present."""
    value = values.get(literal.feature)
    return "missing" if literal.variable.is_missing(value) else short(str(readable_value(value)), 40).strip() or "''"


def reason_line(
    reason: Reason, values: Values | None = None, *, most: int = MOST_FACTS, known: Collection[Literal] = ()
) -> Markup:
    """A reason in a line: of a general necessary one what would change it.

    Of a long one those facts are told first that are not `known`, from a reason before it.
    """
    is_region = reason.is_general and reason.kind == "necessary"
    literals = reason.changes if is_region else reason.literals
    if len(literals) > most:
        literals = tuple(sorted(literals, key=lambda each: each in known))
    told = facts(literals, values if is_region else None, most=most)
    notes = []
    if reason.rows is not None:
        notes.append(f"fits {plural(reason.rows, 'row')}")
    if reason.is_superfluous:
        notes.append(SUPERFLUOUS)
    if not reason.is_minimal:
        notes.append("not proved to need all of it")
    elif not reason.is_widest and not is_read_rounded(reason):
        notes.append("may be wider")
    return join([told, [" ", element("small", f"({'; '.join(notes)})")] if notes else None])


def numbered(lines: Iterable[Child], start: int = 1) -> Markup:
    """Lines by their numbers."""
    return element("ol", [element("li", line) for line in lines], start=start if start > 1 else None)


def grid(heads: Sequence[Child], rows: Iterable[Sequence[Child]], *, more: int = 0, what: str = "row") -> Markup:
    """A table whose rows begin with what they are about, and how many more there are."""
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in cells])
        for first, *cells in rows
    ]
    if more > 0:
        body.append(element("tr", element("td", f"… {plural(more, what)} more", colspan=len(heads), class_="faint")))
    head = element("thead", element("tr", [element("th", each, scope="col") for each in heads])) if any(heads) else None
    return element("table", head, element("tbody", body))


def bar(share: float) -> Markup:
    """How much of a whole: the number beside it says the same."""
    wide = f"width:{100 * max(0.0, min(share, 1.0)):.1f}%"
    return element("span", element("span", style=wide), class_="bar", aria_hidden="true")


def counts(names: Sequence[tuple[str, int]], of: int, *, what: str, most: int = 8) -> Markup:
    """Names and how often each is there, as bars, the most frequent first."""
    rows = [[short(name, _LONG), bar(n / of if of else 0.0), number(n)] for name, n in names[:most]]
    return grid(["", "", what], rows, more=len(names) - most, what="feature")
