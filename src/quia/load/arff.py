"""ARFF files: the attributes that a Weka model was trained on, nominal states in their order, and the numbers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from quia.errors import FormatError, shown
from quia.files import decode, read_bytes

_NUMERIC = ("numeric", "real", "integer")
_WORD = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{},]+))""")
_NOMINAL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^{},]+))""")
_AFTER_STATE = re.compile(r"\s*(.?)", re.DOTALL)
_COLUMN = re.compile(r"[0-9]{1,9}")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}


class Attribute(NamedTuple):
    """A column: its name and, if it is nominal, its states."""

    name: str
    kind: str
    states: tuple[str, ...] | None = None


class Table(NamedTuple):
    """An ARFF file: its attributes, and the lines of its data, still as text."""

    attributes: tuple[Attribute, ...]
    rows: tuple[str, ...]


def read_arff(source: str | os.PathLike[str]) -> Table:
    """An ARFF file, given as its path or as its text; the header alone will do.

    >>> read_arff("@relation r\\n@attribute 'a b' real\\n@attribute c {x, 'y z'}\\n@data\\n").attributes[1].states
    ('x', 'y z')
    """
    inline = isinstance(source, str) and "\n" in source
    file = None if inline else os.fspath(source)
    text = str(source) if file is None else decode(read_bytes(file, unpacked=None), file)
    lines = [line.strip() for line in text.split("\n")]
    data = next((number for number, line in enumerate(lines) if line[:5].lower() == "@data"), len(lines))
    return Table(tuple(_attributes(lines[:data], file)), tuple(lines[data + 1 :]))


def numbers(table: Table, wanted: Container[str]) -> dict[str, set[float]]:
    """The numbers that the data have in the wanted columns; what is missing or no number is left out.

    >>> numbers(read_arff("@attribute a real\\n@attribute b real\\n@data\\n1.5,2\\n{1 3}\\n?,?"), ["a", "b"])
    {'a': {0.0, 1.5}, 'b': {2.0, 3.0}}
    """
    places = [(index, a.name) for index, a in enumerate(table.attributes) if a.name in wanted]
    found: dict[str, set[float]] = {name: set() for _, name in places}
    name_of = dict(places)
    sparse, told = 0, Counter[int]()
    for row in table.rows:
        if not row or row[0] == "%":
            continue
        if row[0] == "{":
            values = _sparse(row)
            sparse += 1
            told.update(values.keys() & name_of.keys())
            present = ((name_of[index], text) for index, text in values.items() if index in name_of)
        else:
            dense = [_unquoted(value) for value in _NOMINAL.finditer(row)]
            present = ((name, dense[index]) for index, name in places if index < len(dense))
        for name, text in present:
            try:
                found[name].add(float(text))
            except ValueError:
                continue
    for index, name in places:
        if told[index] < sparse:  # some sparse row says nothing of it, so it is 0 there
            found[name].add(0.0)
    return found


def _sparse(row: str) -> dict[int, str]:
    """The values that a sparse row gives, by column."""
    pairs = (part.split(None, 1) for part in row.strip("{}").split(","))
    return {int(pair[0]): pair[1] for pair in pairs if len(pair) == 2 and _COLUMN.fullmatch(pair[0])}


def _attributes(lines: Sequence[str], file: str | None) -> Iterator[Attribute]:
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
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
        after = _AFTER_STATE.match(rest, place)
        place = after.end() if after else place
        if not after or after[1] != ",":
            break
    if not after or after[1] != "}":
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
