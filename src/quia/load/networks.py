"""What all readers of Bayesian networks share: variables and tables checked as they come, decimals, options."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from quia.compile.network import MOST_ENTRIES, Network, Node, table_of
from quia.errors import FormatError, Unsupported, did_you_mean, listed, shown

if TYPE_CHECKING:
    from quia.classifier import Classifier

OPTIONS = ("target", "features", "threshold", "positive", "order", "nodes", "timeout")
"""The options that every reader of networks takes."""
MOST_SECONDS = 300.0
"""So long a network is compiled while it is loaded, unless the caller says how long."""


def classifier(
    network: Network,
    file: str | None = None,
    *,
    target: Any = None,
    features: Any = None,
    threshold: Any = None,
    positive: Any = None,
    order: Any = None,
    nodes: Any = None,
    timeout: Any = None,
) -> Classifier:
    """The decision graph of a network that decides about its target."""
    from quia.compile.classifier import MOST_NODES, network_as_graph  # what only reads a network need not compile

    return network_as_graph(
        network,
        target,
        features=_names(features),
        threshold=threshold,
        positive=positive,
        order=_names(order),
        nodes=MOST_NODES if nodes is None else _as_number(nodes, "nodes", int),
        timeout=MOST_SECONDS if timeout is None else _as_number(timeout, "timeout", float),
    )


def _names(given: Any) -> Any:
    """A list of names; a text, as the command line gives it, has them between commas."""
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else given


def _as_number(given: Any, option: str, kind: type[int | float]) -> Any:
    """A number, or the text of one, as the command line gives it."""
    try:
        return kind(given) if isinstance(given, str) else given
    except ValueError:
        what = "a whole number, such as 100000" if kind is int else "a number of seconds, such as 60"
        raise Unsupported(f"{option} is {shown(given)}", cure=f"give {what}") from None


MOST_PARENTS = 31
"""A variable with more parents than this is refused: arrays of NumPy 1 have up to 32 axes."""

MOST_DIGITS = 100
"""A number with more digits than this before or behind its point is refused."""
_NUMBER = re.compile(rf"([+-]?)([0-9]{{0,{MOST_DIGITS}}})(?:\.([0-9]{{0,{MOST_DIGITS}}}))?(?:[eE]([+-]?[0-9]{{1,3}}))?")
_ANY_NUMBER = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_LARGEST_EXPONENT = 400  # below it are all decimals that 64 bits can hold


def number(text: str) -> Fraction | None:
    """A decimal, exactly; None if the text is none, or one of hundreds of digits.

    >>> number("0.25"), number(".5"), number("1e-05"), number("1e999"), number("nan")
    (Fraction(1, 4), Fraction(1, 2), Fraction(1, 100000), None, None)
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, decimals, exponent = match.groups("")
    digits = whole + decimals
    power = int(exponent or 0)
    if not digits or abs(power) > _LARGEST_EXPONENT:
        return None
    value, places = int(sign + digits), len(decimals) - power
    return Fraction(value, 10**places) if places > 0 else Fraction(value * 10**-places)


def probabilities(
    texts: Sequence[str], known: dict[str, Fraction], fault: Callable[[str, int], FormatError]
) -> list[Fraction]:
    """Texts as numbers; those that are `known` need not be read again.

    `fault` makes an error of a message and the index of the text that it is about.
    """
    try:
        return [known[text] for text in texts]
    except KeyError:
        pass
    for at, text in enumerate(texts):
        if text not in known:
            found = number(text)
            if found is None:
                said = f"has {shown(text, 40)} where a probability should be, such as 0.25 or 1e-05"
                if _ANY_NUMBER.fullmatch(text):
                    said += f", of no more than {MOST_DIGITS} digits, and not below 1e-{_LARGEST_EXPONENT}"
                raise fault(said, at)
            if found < 0:
                raise fault(f"has {shown(text, 40)} where a probability should be; those are not below 0", at)
            known[text] = found
    return [known[text] for text in texts]


@dataclass(frozen=True, slots=True)
class Declared:
    """A variable of a file, the line it is declared in, and the places of its states by their names."""

    name: str
    states: Mapping[str, int]
    line: int
    place: int


@dataclass(frozen=True, slots=True)
class Family:
    """A variable and its parents, and the line in which they are told; `shape` has the child last."""

    child: Declared
    parents: tuple[Declared, ...]
    shape: tuple[int, ...]
    line: int

    @property
    def rows(self) -> int:
        """How many ways there are for the parents to be."""
        return math.prod(self.shape[:-1])

    @property
    def entries(self) -> int:
        """How many probabilities there are."""
        return math.prod(self.shape)

    def row_named(self, row: int) -> str:
        """The parents' states in a row.

        >>> rain, wet = Declared("rain", {"no": 0, "yes": 1}, 1, 0), Declared("wet", {"no": 0, "yes": 1}, 2, 1)
        >>> Family(wet, (rain,), (2, 2), 3).row_named(1)
        'rain=yes'
        """
        states = []
        for parent, size in zip(reversed(self.parents), reversed(self.shape[:-1]), strict=True):
            row, state = divmod(row, size)
            states.append(f"{parent.name}={list(parent.states)[state]}")
        return listed(reversed(states), 6)

    def wrong_count(self, count: int) -> str:
        """What to say of a table that has so many probabilities."""
        made = " × ".join(map(str, self.shape))
        return (
            f"{shown(self.child.name)} has {count} probabilities; its states and its parents' make"
            f" {made}{f' = {self.entries}' if self.parents else ''}"
        )


@dataclass(slots=True)
class Draft:
    """The variables and tables of a file, each checked as it comes; `block` is what the format calls a table."""

    file: str | None
    block: str
    declared: dict[str, Declared] = field(default_factory=dict)
    families: dict[str, Family] = field(default_factory=dict)
    tables: dict[str, list[Fraction]] = field(default_factory=dict)
    known: dict[str, Fraction] = field(default_factory=dict)
    """The numbers that were read before, so that equal ones are one object."""
    _entries: int = 0

    def fault(self, message: str, line: int | None) -> FormatError:
        """An error that names the file and a line."""
        return FormatError(message, file=self.file, line=line)

    def declare(self, name: str, states: Sequence[str], line: int) -> None:
        """Add a variable."""
        if not name:
            raise self.fault("has a variable without a name; names must differ and not be empty", line)
        if name in self.declared:
            before = self.declared[name].line
            raise self.fault(f"has the variable {shown(name)} a second time, after line {before}; rename one", line)
        if not states:
            raise self.fault(f"{shown(name)} has no states; list one or more", line)
        places = {state: place for place, state in enumerate(states)}
        if len(places) < len(states):
            twice = next(state for place, state in enumerate(states) if places[state] != place)
            raise self.fault(f"{shown(name)} has the state {shown(twice)} twice; states must differ", line)
        self.declared[name] = Declared(name, places, line, len(self.declared))

    def family(self, child: str, parents: Sequence[str], line: int) -> Family:
        """A variable and its parents by their names, which must be declared, with a table that is not too large."""
        found = [self._find(name, line) for name in (child, *parents)]
        if child in self.families:
            before = self.families[child].line
            raise self.fault(f"has a second {self.block} for {shown(child)}, after line {before}; keep one", line)
        if len(parents) > MOST_PARENTS:
            raise self.fault(
                f"{shown(child)} has {len(parents)} parents; at most {MOST_PARENTS} are read, so part them by variables"
                " between",
                line,
            )
        names = {child}
        for name in parents:
            if name in names:
                fault = "is its own parent" if name == child else f"has the parent {shown(name)} twice"
                raise self.fault(f"{shown(child)} {fault}; name other variables", line)
            names.add(name)
        shape = (*(len(parent.states) for parent in found[1:]), len(found[0].states))
        self._entries += math.prod(shape)
        if self._entries > MOST_ENTRIES:
            raise self.fault(
                f"needs more than {MOST_ENTRIES} probabilities, with the {len(parents)} parents of {shown(child)};"
                " a network of smaller tables can be read",
                line,
            )
        family = self.families[child] = Family(found[0], tuple(found[1:]), shape, line)
        return family

    def _find(self, name: str, line: int) -> Declared:
        if name not in self.declared:
            hint = did_you_mean(name, self.declared)
            raise self.fault(f"has a {self.block} that names {shown(name)}, which is no variable{hint}", line)
        return self.declared[name]

    def give(self, family: Family, entries: list[Fraction]) -> None:
        """Add a table: its probabilities, the child's states the quickest, then those of the last parent."""
        if len(entries) != family.entries:
            raise self.fault(family.wrong_count(len(entries)), family.line)
        self.tables[family.child.name] = entries

    def network(self) -> Network:
        """The network, whose variables of more than one state all have a table."""
        nodes, lines = [], []
        for name, variable in self.declared.items():
            if name not in self.tables and len(variable.states) > 1:
                raise self.fault(f"{shown(name)} has no {self.block}; add one, or take the variable out", variable.line)
            if name not in self.tables:  # its only state is certain, and so pyAgrum may write no table
                self.give(self.family(name, (), variable.line), [Fraction(1)])
            family = self.families[name]
            parents = tuple(parent.place for parent in family.parents)
            nodes.append(Node(name, tuple(variable.states), parents, table_of(self.tables[name], family.shape)))
            lines.append(family.line)
        return Network.of(nodes, self.file, lines)
