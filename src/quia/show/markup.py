"""Markup that cannot be injected into: every text is escaped unless this module made it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from html import escape
from typing import Any
from unicodedata import east_asian_width

_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_VOID = frozenset({"br", "circle", "col", "input", "line", "link", "meta", "path", "rect"})
_LONGEST = 160


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


Child = str | None | Iterable["Child"]


def clean(text: str) -> str:
    """A text without the characters that no HTML file can hold, such as half of a surrogate pair.

    >>> clean("a" + chr(0xD800) + chr(0))
    'a��'
    """
    return _NOT_SHOWN.sub("\ufffd", text)


def short(text: str, most: int = _LONGEST) -> str:
    """A text cut where it would fill the page.

    >>> short("x" * 1000, 5)
    'xxxx…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def fitted(text: str, room: float) -> str:
    """A text cut where it is wider than so many average letters.

    >>> fitted("income", 7), fitted("INCOME", 7)
    ('income', 'INC…')
    """
    left = room
    for place, letter in enumerate(text):
        wide = 1.7 if east_asian_width(letter) in "WF" else 1.4 if letter.isupper() or letter in "mw@%—" else 1.0
        if wide > left:
            return text[: max(place - 1, 0)] + "…"
        left -= wide
    return text


def element(tag: str, /, *children: Child, **attributes: Any) -> Markup:
    """An element; `_` in an attribute's name stands for `-`, None and False leave it out, True gives it bare.

    >>> element("b", "1 < 2", element("i", "x"), class_="loud", data_f=3, hidden=True, title=None)
    '<b class="loud" data-f="3" hidden>1 &lt; 2<i>x</i></b>'
    """
    opened = "".join([_attribute(name, value) for name, value in attributes.items()]) if attributes else ""
    if tag in _VOID:
        return Markup(f"<{tag}{opened}>" if tag in ("br", "col", "input", "link", "meta") else f"<{tag}{opened}/>")
    return Markup(f"<{tag}{opened}>{join(children)}</{tag}>")


def join(children: Iterable[Child]) -> Markup:
    """Markup and texts in a row, the texts escaped."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str):
            parts.append(_text(child))
        else:
            parts.append(join(child))
    return Markup("".join(parts))


def script_data(data: Any, **attributes: Any) -> Markup:
    """Data that a script can read, and that cannot end its element.

    >>> script_data(["</script>"], id="x")
    '<script type="application/json" id="x">["\\\\u003c/script\\\\u003e"]</script>'
    """
    text = json.dumps(data)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    opened = "".join(_attribute(name, value) for name, value in attributes.items())
    return Markup(f'<script type="application/json"{opened}>{text}</script>')


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {_written(name)}"
    return f' {_written(name)}="{value if type(value) is int else _quoted(str(value))}"'


@cache
def _written(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


# The same few names and states are all over a page.
@lru_cache(4096)
def _text(text: str) -> str:
    return escape(clean(text), quote=False)


@lru_cache(4096)
def _quoted(text: str) -> str:
    return escape(clean(text))
