"""Markup that cannot be injected into: MarkupSafe escapes every text that is not markup already.

All HTML and SVG is made here: `element` for what is at hand, `opened` and `closed` for what is made piece by piece.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from markupsafe import Markup, escape

__all__ = [
    "Child",
    "Markup",
    "clean",
    "closed",
    "element",
    "fitted",
    "join",
    "letters",
    "opened",
    "script_data",
    "short",
    "trusted",
]

_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_HTML_VOID = frozenset({"br", "col", "input", "link", "meta"})
_VOID = _HTML_VOID | {"circle", "line", "path", "polyline", "rect"}
_LONGEST = 160

Child = str | None | Iterable["Child"]

# Markup() itself asks each text whether it can turn itself into markup, and a page has ten thousand elements.
_made: Callable[[str], Markup] = partial(str.__new__, Markup)


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


def fitted(text: str, room: float, *, middle: bool = False) -> str:
    """A text cut where it is wider than so many average letters: at its end, or in its middle.

    >>> fitted("income", 7), fitted("INCOME", 7), fitted("level number 4", 10, middle=True)
    ('income', 'INCO…', 'leve…er 4')
    """
    if letters(text) <= room:
        return text
    if middle:
        return f"{text[: _fitting(text, room / 2 - 0.5)]}…{text[len(text) - _fitting(text[::-1], room / 2 - 0.5) :]}"
    return text[: max(_fitting(text, room) - 1, 0)] + "…"


def _fitting(text: str, room: float) -> int:
    """How many letters of a text have room."""
    for place, width in enumerate(accumulate(map(_wide, text))):
        if width > room:
            return place
    return len(text)


def letters(text: str) -> float:
    """How many average letters a text is as wide as."""
    return sum(map(_wide, text))


@lru_cache(1024)
def _wide(letter: str) -> float:
    return 1.7 if east_asian_width(letter) in "WF" else 1.4 if letter.isupper() or letter in "mw@%—" else 1.0


def element(tag: str, /, *children: Child, **attributes: Any) -> Markup:
    """An element; `_` in an attribute's name stands for `-`, None and False leave it out, True gives it bare.

    >>> element("b", "1 < 2", element("i", "x"), class_="loud", data_f=3, hidden=True, title=None)
    Markup('<b class="loud" data-f="3" hidden>1 &lt; 2<i>x</i></b>')
    """
    said = "".join([_attribute(name, value) for name, value in attributes.items()]) if attributes else ""
    if tag in _VOID:
        return _made(f"<{tag}{said}>" if tag in _HTML_VOID else f"<{tag}{said}/>")
    return _made(f"<{tag}{said}>{_inner(children)}</{tag}>")


@lru_cache(1024, typed=True)
def opened(tag: str, /, **attributes: Any) -> Markup:
    """The beginning of an element whose children follow piece by piece, as a long or deep list's do.

    >>> join([opened("ul", class_="a"), element("li", "<"), closed("ul")])
    Markup('<ul class="a"><li>&lt;</li></ul>')
    """
    return _made(f"<{tag}{''.join([_attribute(name, value) for name, value in attributes.items()])}>")


@lru_cache(1024)
def closed(*tags: str) -> Markup:
    """The ends of elements that were opened, the innermost first."""
    return _made("".join([f"</{tag}>" for tag in tags]))


def join(children: Iterable[Child]) -> Markup:
    """Markup and texts in a row, the texts escaped."""
    return _made(_inner(children))


def trusted(text: str) -> Markup:
    """A text of our own that is markup, a style or a script already: a file of the package, never what users gave."""
    return _made(text)


def script_data(data: Any, **attributes: Any) -> Markup:
    """Data that a script can read, and that cannot end its element.

    >>> script_data(["</script>"], id="x")
    Markup('<script type="application/json" id="x">["\\\\u003c/script\\\\u003e"]</script>')
    """
    text = json.dumps(data)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return element("script", _made(text), type="application/json", **attributes)


# The same few classes, names and states are all over a page.
@lru_cache(4096, typed=True)
def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{_escaped(str(value))}"'


@lru_cache(4096)
def _escaped(text: str) -> str:
    return str(escape(clean(text)))


def _inner(children: Iterable[Child]) -> str:
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str):
            parts.append(_escaped(child))
        else:
            parts.append(_inner(child))
    return "".join(parts)
