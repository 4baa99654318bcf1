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
    """An ARFF file: its attributes, and the lines of its data, not yet split into values."""

    attributes: tuple[Attribute, ...]
    rows: tuple[str, ...]


def read_arff(source: str | os.PathLike[str]) -> Table:
    """The table in an ARFF file, which is a path or the content itself; the header alone is enough.

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
    """The numbers in the wanted columns, without missing values and values that are not numbers.

    >>> numbers(read_arff("@attribute a real\\n@attribute b real\\n@data\\n1.5,2\\n{1 3}\\n?,?"), ["a", "b"])
    {'a': {0.0, 1.5}, 'b': {2.0, 3.0}}
    """
    columns = [(index, a.name) for index, a in enumerate(table.attributes) if a.name in wanted]
    numbers_in: dict[str, set[float]] = {name: set() for _, name in columns}
    name_of = dict(columns)
    sparse, given_in_sparse = 0, Counter[int]()
    for row in table.rows:
        if not row or row[0] == "%":
            continue
        if row[0] == "{":
            pairs = _sparse(row)
            sparse += 1
            given_in_sparse.update(pairs.keys() & name_of.keys())
            present = ((name_of[index], value) for index, value in pairs.items() if index in name_of)
        else:
            dense = [_unquoted(value) for value in _NOMINAL.finditer(row)]
            present = ((name, dense[index]) for index, name in columns if index < len(dense))
        for name, value in present:
            try:
                numbers_in[name].add(float(value))
            except ValueError:
                continue
    for index, name in columns:
        if given_in_sparse[index] < sparse:  # some sparse row leaves it out, so it is 0 there
            numbers_in[name].add(0.0)
    return numbers_in


def _sparse(row: str) -> dict[int, str]:
    """The values in a sparse row, by column."""
    pairs = (item.split(None, 1) for item in row.strip("{}").split(","))
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


def _attribute(declaration: str) -> Attribute:
    matched = _WORD.match(declaration)
    if not matched:
        raise ValueError("an attribute has no name")
    name, rest = _unquoted(matched), declaration[matched.end() :].strip()
    if not rest.startswith("{"):
        kind = rest.split()[0].lower() if rest else "nothing"
        return Attribute(name, "numeric" if kind in _NUMERIC else kind)
    states: list[str] = []
    position = 1
    while True:
        state = _NOMINAL.match(rest, position)
        if not state:
            if rest[position:].strip() == "}" and not states:
                raise ValueError("a nominal attribute has no states")
            raise ValueError("a list of states is not closed")
        states.append(_unquoted(state))
        position = state.end()
        after = _AFTER_STATE.match(rest, position)
        position = after.end() if after else position
        if not after or after[1] != ",":
            break
    if not after or after[1] != "}":
        raise ValueError("a list of states is not closed")
    return Attribute(name, "nominal", tuple(states))


def _unquoted(matched: re.Match[str]) -> str:
    if matched[3] is not None:
        return matched[3].strip()
    return unescape(matched[1] if matched[1] is not None else matched[2])


def unescape(quoted: str) -> str:
    r"""A string without the backslashes that Weka puts before quotes, percent signs and the like.

    >>> unescape(r"char_freq_\%24")
    'char_freq_%24'
    """
    return re.sub(r"\\(u001E|.)", lambda escape: _ESCAPED.get(escape[1], escape[1].replace("u001E", "\x1e")), quoted)
