"""What the parts of the page are made of: sections, those that are folded, and the forms that reasons have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from quia.show.markup import Child, Markup, element

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.show.words import Facts


def section(
    name: str, title: str, *children: Markup | None, about: str | Markup | None = None, id: str | None = None
) -> Markup:
    """A part of the page with its heading and a line on how to read it."""
    return element(
        "section",
        element("h2", title),
        element("p", about, class_="about") if about else None,
        children,
        class_=f"part {name}",
        id=id,
    )


def fold(
    name: str, title: str, *children: Child, hint: str = "", about: str | Markup | None = None, id: str | None = None
) -> Markup:
    """A part of the page that is folded: its heading, with a hint at what is in it, unfolds it."""
    heading = [element("h2", title), element("span", hint, class_="hint") if hint else None]
    return element(
        "section",
        element(
            "details",
            element("summary", heading),
            element("p", about, class_="about") if about else None,
            children,
            class_="fold",
            data_part=name,
        ),
        class_=f"part {name}",
        id=id,
    )


def each_form(
    forms: Sequence[Answer], made: Callable[[Answer, Facts], Markup | None], facts: Facts, tag: str = "span"
) -> list[Markup | None]:
    """The same of each form of the reasons: where there are several, one is seen at a time."""
    if len(forms) == 1:
        return [made(forms[0], facts)]
    found = ((made(each, facts), "in-general" if each.is_general else "in-states") for each in forms)
    return [part and element(tag, part, class_=form) for part, form in found]
