"""The J48 tree that Weka prints.

Names are not quoted there, so `a: b = c: d (3.0)` has several readings; the other lines of the same split, the rest of
the tree and an ARFF header decide between them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from quia.errors import FormatError, TooLarge, Unsupported, shown
from quia.load.arff import Attribute
from quia.load.weka_tree import COUNTS, Leaf, Node, Parsed, Split

_TITLE = re.compile(r"J48 (?:un)?pruned tree\s*")
_INDENT = "|   "
_LABELS_END = ("Number of Leaves", "Number of Rules", "Size of the tree")
_MOST_NOTES = 8
_READ_AGAIN = 50  # how often the text may be scanned for other ways to read it


class _Line(NamedTuple):
    number: int
    text: str
    leaf: bool


class _Reading(NamedTuple):
    """One way to read the lines of a split: for each line the (value, class) pairs it may stand for."""

    name: str
    operators: tuple[str, ...]
    pairs: tuple[tuple[tuple[str, str | None], ...], ...]


def read_printed(
    text: str,
    file: str | None,
    *,
    inputs: Sequence[Attribute] | None = None,
    classes: Sequence[str] | None = None,
) -> Parsed:
    """The tree that Weka prints; if the output has several, the first, which was trained on all of the data."""
    lines = text.replace("\r\n", "\n").split("\n")
    title, notes = _title(lines, file)
    columns = _columns(lines[: title + 1])
    body, children = _outline(lines, title + 1, file)
    if not children:
        return [Leaf(COUNTS.sub("", body[0].text).removeprefix(": "), body[0].number)], columns, notes
    header = None if inputs is None or classes is None else _Header(inputs, classes)
    work = _Work(len(text))
    groups = {parent: [body[child - 1] for child in child_nodes] for parent, child_nodes in children.items()}
    readings = {
        parent: list(_readings(group, header, work)) or _no_reading(group, file) for parent, group in groups.items()
    }
    chosen = _choose(readings, groups, set(columns), file)
    nodes: list[Node] = [Leaf("", 0)] * (len(body) + 1)
    for parent, child_nodes in children.items():
        name, operators, pairs = chosen[parent]
        values = tuple(choices[0][0] for choices in pairs)
        nodes[parent] = Split(name, operators, values, tuple(child_nodes), groups[parent][0].number)
        for child, choices in zip(child_nodes, pairs, strict=True):
            if (label := choices[0][1]) is not None:
                nodes[child] = Leaf(label, body[child - 1].number)
    ambiguous = [parent for parent, alternatives in readings.items() if len(alternatives) > 1]
    notes += [
        f"line {groups[parent][0].number} can be read in {len(readings[parent])} ways; {shown(chosen[parent].name)} was"
        " taken as the attribute; give arff= to be sure"
        for parent in ambiguous[:_MOST_NOTES]
    ]
    if len(ambiguous) > _MOST_NOTES:
        notes.append(f"so can {len(ambiguous) - _MOST_NOTES} lines more")
    return nodes, columns, notes


class _Header:
    """The attributes, states and classes that an ARFF header allows."""

    def __init__(self, inputs: Sequence[Attribute], classes: Sequence[str]) -> None:
        self.classes = frozenset(classes)
        self.states = {a.name: None if a.states is None else frozenset(a.states) for a in inputs}

    def has(self, name: str, operator: str) -> bool:
        """Whether an attribute exists and may be tested with this operator."""
        return name in self.states and (self.states[name] is None) == (operator == "<=")

    def allows(self, name: str, value: str, label: str | None) -> bool:
        """Whether an attribute may have this value, and a leaf this class."""
        states: Container[str] | None = self.states[name]
        return (states is None or value in states) and (label is None or label in self.classes)


class _Work:
    """A budget of characters to look at: a line made of ` = ` and `: ` has as many readings as it has characters."""

    def __init__(self, length: int) -> None:
        self.most = 10_000_000 + _READ_AGAIN * length
        self.left = self.most

    def spend(self, letters: int, line: _Line) -> None:
        """Use up some characters, and 100 for the call; TooLarge when none are left."""
        self.left -= letters + 100
        if self.left < 0:
            raise TooLarge(
                f"line {line.number}, {shown(line.text)}, can be read in too many ways, as ' = ' or ': ' stands in it"
                f" again and again; more than {self.most} letters would be looked at, so give shorter names",
                limit=self.most,
            )


def _title(lines: Sequence[str], file: str | None) -> tuple[int, list[str]]:
    """The line above the tree, and notes."""
    titles = [number for number, line in enumerate(lines) if _TITLE.fullmatch(line)]
    if not titles:  # only the tree was kept, or another learner's output
        for line in lines:
            if line.startswith("Scheme:") or "classifiers." in line:
                raise Unsupported(f"{shown(line.strip())} is not a J48 tree", cure="give the output of Weka's J48")
        return -1, []
    for line in lines[: titles[0]]:
        if line.startswith("Scheme:") and "weka.classifiers.trees.J48 " not in f"{line.split(None, 1)[-1]} "[:30]:
            raise Unsupported(
                f"{shown(line.strip())} is not J48 alone", cure="give the output of weka.classifiers.trees.J48"
            )
    # A combination of trees, or a filter before one, says so between Weka's heading and the first tree.
    for line in reversed(lines[: titles[0]]):
        if line.startswith("==="):
            break
        if line.strip("-= \r"):
            raise Unsupported(
                f"{shown(line.strip())} stands above the tree, so it is a part of another model",
                cure="give the output of weka.classifiers.trees.J48 alone",
            )
    notes = [f"the output has {len(titles)} trees; this is the first"] if len(titles) > 1 else []
    return titles[0], notes


def _columns(lines: Sequence[str]) -> list[str]:
    """The columns that the Explorer lists above the tree, if it does."""
    for number, line in enumerate(lines):
        if line.startswith("Attributes:"):
            rows = takewhile(lambda name: name.startswith(" " * 14), lines[number + 1 :])
            names = [name[14:].rstrip("\r") for name in rows]
            return names if str(len(names)) == line.split()[-1] else []
    return []


def _outline(lines: Sequence[str], start: int, file: str | None) -> tuple[list[_Line], dict[int, list[int]]]:
    """The lines of the tree, and the children of each node; node 0 is the root, and node n + 1 is at line n."""
    branches: list[tuple[int, int, str]] = []
    for number, line in enumerate(lines[start:], start + 1):
        if not line.strip("- \r"):
            if branches:
                break
            continue
        if line.startswith(_LABELS_END):
            break
        depth = 0
        while line.startswith(_INDENT, depth * len(_INDENT)):
            depth += 1
        branches.append((number, depth, line[depth * len(_INDENT) :].rstrip("\r")))
    if not branches:
        raise FormatError("has no tree below its title", file=file, line=start)
    depths = [depth for _, depth, _ in branches] + [0]
    children: dict[int, list[int]] = {}
    path = [0]
    body = []
    for index, (number, depth, text) in enumerate(branches):
        if depth >= len(path):
            raise FormatError(f"{shown(text)} is indented too far", file=file, line=number)
        del path[depth + 1 :]
        leaf = depths[index + 1] <= depth
        if leaf and not COUNTS.search(text):
            raise FormatError(
                f"{shown(text)} neither ends in a class with its counts nor has branches below", file=file, line=number
            )
        if not text.startswith(": ") or len(branches) > 1:
            children.setdefault(path[depth], []).append(index + 1)
        path.append(index + 1)
        body.append(_Line(number, text, leaf))
    return body, children


def _readings(group: Sequence[_Line], header: _Header | None, work: _Work) -> Iterator[_Reading]:
    """All ways to read the lines of a split that an ARFF header, if there is one, allows.

    The likeliest comes first: numbers, then long names before short ones.
    """
    first = group[0].text
    for operators in (("<=", ">"), ("=", "!="), ("=",) * len(group)):
        if len(operators) != len(group):
            continue
        sign = f" {operators[0]} "
        position = first.rfind(sign)
        while position >= 0:
            name = first[:position]
            work.spend(position, group[0])
            fits = bool(name) and (header is None or header.has(name, operators[0]))
            if fits and all(
                line.text.startswith(f"{name} {operator} ") for line, operator in zip(group, operators, strict=True)
            ):
                pairs = tuple(
                    tuple(_pairs(line, name, len(name) + len(operator) + 2, header, work))
                    for line, operator in zip(group, operators, strict=True)
                )
                yield from _consistent(_Reading(name, operators, pairs))
            position = first.rfind(sign, 0, position + len(sign) - 1)


def _pairs(line: _Line, name: str, start: int, header: _Header | None, work: _Work) -> Iterator[tuple[str, str | None]]:
    """The (value, class) pairs that the rest of a line, after its operator, may stand for."""
    rest = line.text[start:]
    work.spend(len(rest), line)
    if not line.leaf:
        if header is None or header.allows(name, rest, None):
            yield rest, None
        return
    rest = COUNTS.sub("", rest)
    position = rest.find(": ")
    while position >= 0:
        value, label = rest[:position], rest[position + 2 :]
        work.spend(len(rest), line)
        if header is None or header.allows(name, value, label):
            yield value, label
        position = rest.find(": ", position + 1)


def _consistent(reading: _Reading) -> Iterator[_Reading]:
    """The reading without pairs that no split can have; nothing if a line has no pair left."""
    if reading.operators[-1] == "=":
        pairs = reading.pairs
    elif reading.operators == ("<=", ">"):
        pairs = tuple(tuple(pair for pair in choices if _is_number(pair[0])) for choices in reading.pairs)
    else:
        both = {value for value, _ in reading.pairs[0]} & {value for value, _ in reading.pairs[1]}
        pairs = tuple(tuple(pair for pair in choices if pair[0] in both) for choices in reading.pairs)
    if all(pairs):
        yield reading._replace(pairs=pairs)


def _is_number(value: str) -> bool:
    try:
        return float(value) == float(value)
    except ValueError:
        return False


def _no_reading(group: Sequence[_Line], file: str | None) -> list[_Reading]:
    raise FormatError(
        f"{' | '.join(shown(line.text) for line in group[:3])} cannot be read as the branches of one test; if arff= is"
        " given, the attribute, its states and the classes must be in it",
        file=file,
        line=group[0].number,
    )


def _choose(
    readings: Mapping[int, list[_Reading]],
    groups: Mapping[int, Sequence[_Line]],
    names: set[str],
    file: str | None,
) -> dict[int, _Reading]:
    """One reading for each split.

    Splits with only one reading show names and classes, which decide between the readings of the others. A name that is
    still wrong does no silent harm: the instance then has no value of that name, which is an error.
    """
    sure = [alternatives[0] for alternatives in readings.values() if len(alternatives) == 1]
    names = names | {reading.name for reading in sure}
    lines = (zip(*(reading.pairs for reading in alternatives), strict=True) for alternatives in readings.values())
    labels = ({label for choices in line for _, label in choices} for group in lines for line in group)
    classes = {label for of_line in labels if len(of_line) == 1 for label in of_line}
    chosen = {}
    for parent, alternatives in readings.items():
        likeliest = next((reading for reading in alternatives if reading.name in names), alternatives[0])
        chosen[parent] = likeliest._replace(
            pairs=tuple(
                _choose_pair(choices, classes, line, file)
                for choices, line in zip(likeliest.pairs, groups[parent], strict=True)
            )
        )
    return chosen


def _choose_pair(
    choices: tuple[tuple[str, str | None], ...], classes: set[str | None], line: _Line, file: str | None
) -> tuple[tuple[str, str | None], ...]:
    if len(choices) == 1:
        return choices
    likely = [pair for pair in choices if pair[1] in classes]
    if len(likely) != 1:
        raise Unsupported(
            f"line {line.number}, {shown(line.text)}, can be read with class {shown(choices[0][1])} or"
            f" {shown(choices[1][1])}",
            cure="give arff=, the training file, whose header lists states and classes",
        )
    return (likely[0],)
