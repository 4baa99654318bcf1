"""The header of an ARFF file: the attributes that a Weka model was trained on, nominal states in their order."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from quia.errors import FormatError, shown
from quia.load.files import decode, read_bytes

_NUMERIC = ("numeric", "real", "integer")
_WORD = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{},]+))""")
_NOMINAL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^{},]+))""")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}


class Attribute(NamedTuple):
    """A column: its name and, if it is nominal, its states."""

    name: str
    kind: str
    states: tuple[str, ...] | None = None


def read_header(source: str | os.PathLike[str]) -> tuple[Attribute, ...]:
    """The attributes of an ARFF file, given as its path or as the text of its header.

    >>> read_header("@relation r\\n@attribute 'a b' real\\n@attribute c {x, 'y z'}\\n@data\\n")[1].states
    ('x', 'y z')
    """
    if isinstance(source, str) and "\n" in source:
        return tuple(_attributes(source, None))
    file = os.fspath(source)
    return tuple(_attributes(decode(read_bytes(file), file), file))


def _attributes(text: str, file: str | None) -> Iterator[Attribute]:
    seen: set[str] = set()
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if line[:5].lower() == "@data":
            break
        if line[:10].lower() == "@attribute":
            try:
                attribute = _attribute(line[10:])
            except ValueError as fault:
                raise FormatError(f"{fault} in {shown(line)}", file=file, line=number) from None
            if attribute.name in seen:
                raise FormatError(f"attribute {shown(attribute.name)} is declared twice", file=file, line=number)
            seen.add(attribute.name)
            yield attribute
    if not seen:
        raise FormatError("has no @attribute line; give an ARFF file or the text of its header", file=file)


def _attribute(text: str) -> Attribute:
    found = _WORD.match(text)
    if not found:
        raise ValueError("an attribute has no name")
    name, rest = _unquoted(found), text[found.end() :].strip()
    if not rest.startswith("{"):
        kind = rest.split()[0].lower() if rest else "nothing"
        return Attribute(name, "numeric" if kind in _NUMERIC else kind)
    states: list[str] = []
    place = 1
    while True:
        state = _NOMINAL.match(rest, place)
        if not state:
            if rest[place:].strip() == "}" and not states:
                raise ValueError("a nominal attribute has no states")
            raise ValueError("a list of states is not closed")
        states.append(_unquoted(state))
        place = state.end()
        after = rest[place:].lstrip()
        place = len(rest) - len(after) + 1
        if after[:1] != ",":
            break
    if after[:1] != "}":
        raise ValueError("a list of states is not closed")
    return Attribute(name, "nominal", tuple(states))


def _unquoted(found: re.Match[str]) -> str:
    if found[3] is not None:
        return found[3].strip()
    return unescape(found[1] if found[1] is not None else found[2])


def unescape(text: str) -> str:
    r"""A text without the backslashes that Weka puts before quotes, percent signs and the like.

    >>> unescape(r"char_freq_\%24")
    'char_freq_%24'
    """
    return re.sub(r"\\(u001E|.)", lambda found: _ESCAPED.get(found[1], found[1].replace("u001E", "\x1e")), text)
