"""What several parts of an audit's page are made of: classes and their colours, conditions, pairs, what is folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from quia.auditing.document import Condition, Document, Example, Pair, Proof, Values
from quia.show.audit_words import condition_text, value_text, values_text
from quia.show.bars import COLOURS, bar
from quia.show.markup import Child, Markup, element, join, short
from quia.show.svg import shape, svg
from quia.show.words import listed, number, plural, share_text

MOST_SHOWN = 10
"""So many of a list are seen at once; more are folded, and paper does not show them."""
MOST_FOLDED = 200
"""So many more can be unfolded; all of them are in the JSON."""


class Reach(NamedTuple):
    """How many rows conditions are true of, how many of them are new, and how many are covered so far."""

    rows: int
    new: int
    cumulated: int


class Palette:
    """Each class has one colour on the whole page; the favourable ones come first."""

    def __init__(self, document: Document) -> None:
        of, compared = document.identity, document.identity.compared
        ranked = [*of.settings.favourable, *of.model.classes, *(() if compared is None else compared.classes)]
        self.place = {name: place for place, name in enumerate(dict.fromkeys(ranked))}

    def __getitem__(self, decision: str) -> int:
        return self.place.get(decision, COLOURS - 1)

    def chip(self, decision: str) -> Markup:
        """A class by its name, after its colour."""
        return chip(decision, self[decision])


def chip(decision: str, colour: int) -> Markup:
    """A class by its name, after its colour."""
    square = shape("rect", class_=f"share k{colour % COLOURS}", width=8, height=8)
    return element("span", svg(8, 8, square, class_="swatch"), short(decision, 60), class_="decided")


def contents(parts: Iterable[str]) -> Markup:
    """The ways to the parts of the page, which are named as their ids are."""
    links = [element("li", element("a", name, href=f"#{name.lower()}")) for name in parts]
    return element("nav", element("ul", links), class_="contents", aria_label="Parts of this page")


def finding(about: str, figure: Child, said: Child) -> Markup:
    """A card: what it is about, the figure that matters, and what that says."""
    card = (
        element("p", about, class_="need"),
        element("p", figure, class_="figure"),
        element("p", said),
    )
    return element("li", element("div", card, class_="card"))


def conditions_line(conditions: Sequence[Condition]) -> Markup:
    """Conditions as a sentence that forces something."""
    if not conditions:
        return join(["whatever the features are"])
    return listed([condition_chip(each["feature"], condition_text(each)) for each in conditions])


def condition_chip(feature: str, said: str) -> Markup:
    """A condition within a sentence."""
    return element("span", element("b", short(feature, 60)), " ", short(said, 200), class_="cond")


def rule_line(said: Child, reach: Reach, of: int, shown: Example, *, colour: int | None = None) -> Markup:
    """What forces something, how far it reaches, and an example whose values can be unfolded."""
    where = f"row {number(shown.row)}" if shown.row else "an input that is not in the table"
    new = f", {number(reach.new)} new" if reach.new < reach.rows else ""
    return element(
        "li",
        element("p", said, class_="if"),
        element(
            "div",
            [
                bar(reach.cumulated / of, colour=colour),
                element("p", f"{share_text(reach.rows, of)} rows{new}"),
                element("p", f"together {share_text(reach.cumulated, of)}"),
            ]
            if of
            else None,
            element(
                "details",
                element("summary", f"example: {where}"),
                element("p", values_text(shown.values, shown.values), class_="same"),
                class_="example",
            ),
            class_="reach",
        ),
    )


def shown_and_folded(items: Sequence[Markup], what: str, tag: str = "ol", class_: str | None = None) -> Child:
    """A list: its beginning, and the rest folded, which paper replaces by how much more there is."""
    first, rest = items[:MOST_SHOWN], items[MOST_SHOWN:]
    made = element(tag, first, class_=class_)
    if not rest:
        return made
    start = len(first) + 1 if tag == "ol" else None
    more = element(tag, rest[:MOST_FOLDED], class_=class_, start=start)
    return [made, folded(f"{plural(len(rest), f'more {what}')}", more, left=len(rest) - MOST_FOLDED, what=what)]


def folded(title: str, content: Child, *, left: int = 0, what: str = "") -> Markup:
    """Something to unfold; on paper a line says that it is in the JSON, as is what is too much even to unfold."""
    cut = element("p", f"… {plural(left, f'more {what}')}: see the JSON", class_="more") if left > 0 else None
    return join(
        [
            element("details", element("summary", title), content, cut),
            element("p", f"… {title}: see the JSON", class_="printed"),
        ]
    )


def side_by_side(pair: Pair, heads: tuple[Child, Child]) -> Markup:
    """Two instances, what differs between them marked, and what is the same in one line."""
    rows = [
        element(
            "tr",
            element("th", short(name, 60), scope="row"),
            [element("td", element("mark", value_text(each.get(name)))) for each in (pair.one, pair.other)],
        )
        for name in pair.differing
    ]
    alike = [name for name in pair.one if name not in pair.differing]
    if alike:
        same = element("td", values_text(pair.one, alike), colspan=2, class_="same")
        rows.append(element("tr", element("th", "the same in both", scope="row", class_="same"), same))
    head = element("tr", element("td"), [element("th", each, scope="col") for each in heads])
    return element("table", element("thead", head), element("tbody", rows), class_="pair")


def changed_features(one: Values, other: Values) -> tuple[str, ...]:
    """The features in which two instances differ, in the order of the first."""
    return tuple(name for name in one if one[name] != other.get(name))


def not_known(found: Proof) -> str:
    """Why something is not known."""
    return f"not known: {(found.why or 'time ran out').rstrip('.')}"


def paragraphs(lines: Iterable[str]) -> Markup:
    """Sentences, each a point of a list."""
    return element("ul", [element("li", line) for line in lines], class_="points")
