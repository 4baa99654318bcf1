"""Trees of yes/no tests on numbered columns, as boosting libraries and ONNX store them, made into decision graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from quia.conditions import states_where
from quia.cuts import Interval
from quia.errors import FormatError, TooLarge, Unsupported, listed, shown
from quia.ranges import Ranges, difference, union
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.consistent import Edges
    from quia.graph import DecisionGraph

ENSEMBLE = "give a model of one tree (one round of boosting); ensembles are planned for a later release"
"""What to do about an ensemble."""

MOST_NUMBERED = 100_000
"""How many columns a model may have that its file only counts: each takes memory, and none takes a byte of the file."""

_MOST_SCORES = 20_000_000


def check_numbered(count: int) -> None:
    """Refuse more columns than a file may count without names."""
    if count > MOST_NUMBERED:
        raise TooLarge(
            f"the model counts {count} columns and names none; at most {MOST_NUMBERED} are read without names, so train"
            " it with named columns or without those that are not used",
            limit=MOST_NUMBERED,
        )


def numbered(count: int, letter: str) -> list[str]:
    """The names of columns that are only counted.

    >>> numbered(3, "f")
    ['f0', 'f1', 'f2']
    """
    check_numbered(count)
    return [f"{letter}{index}" for index in range(count)]


@dataclass(frozen=True, slots=True)
class Test:
    """A question about one column and the nodes that its answers lead to.

    The answer about a number is yes in the `where` intervals, but not in the `but` ones; about a category it is yes if
    its code is one of `codes`. `missing` is the answer about a missing value.
    """

    column: int
    yes: int
    no: int
    missing: bool
    where: tuple[Interval, ...] = ()
    but: tuple[Interval, ...] = ()
    codes: frozenset[int] | None = None


def answered(test: Test, numbers: Interval, answer: bool) -> Test:
    """The test with its answer about some numbers given, whatever it is about their neighbours."""
    if answer:
        return replace(test, where=(*test.where, numbers))
    return replace(test, but=(*test.but, numbers))


@dataclass(frozen=True, slots=True)
class Column:
    """An input column: compared in 32 bits or 64, or with categories, whose codes 0, 1, … are named in order.

    A column without names for its categories gets the codes that the tree mentions, and one state for all others.
    With `unseen_is_missing` a value that is no category counts as missing.
    """

    name: str
    single: bool = False
    categories: tuple[str, ...] | None = None
    unseen_is_missing: bool = False


Node = Test | int
"""A test, or the class of a leaf."""


class BinaryTree(NamedTuple):
    """The name of the root, and the node of each name."""

    root: int
    node: Callable[[int], Node]


@dataclass(slots=True)
class _Gathered:
    cuts: dict[tuple[float, bool], None] = field(default_factory=dict)
    codes: set[int] = field(default_factory=set)
    kinds: set[bool] = field(default_factory=set)


def build(
    columns: Sequence[Column],
    classes: Sequence[str],
    root: int,
    node: Callable[[int], Node],
    *,
    missing: bool,
    file: str | None,
    notes: Sequence[str] = (),
) -> DecisionGraph:
    """The graph of the tree below a root; `missing` says whether a missing value is a state."""
    from quia.graph import DecisionGraph

    order, found = walk(root, node, len(columns), file)
    gathered: dict[int, _Gathered] = {}
    for each in found:
        if isinstance(each, Test):
            mine = gathered.setdefault(each.column, _Gathered())
            mine.kinds.add(each.codes is None)
            mine.codes |= each.codes or set()
            ends = (cut for interval in (*each.where, *each.but) for cut in interval)
            mine.cuts.update(dict.fromkeys((cut.threshold, cut.after) for cut in ends if cut is not None))
    variables, untested = [], _Gathered()
    states: dict[int, dict[int, int]] = {}
    for index, column in enumerate(columns):
        mine = gathered.get(index, untested)
        if len(mine.kinds) > 1:
            raise FormatError(f"column {shown(column.name)} is tested as a number and as a category", file=file)
        if mine.kinds == {True} and column.categories is not None:
            raise Unsupported(
                f"the column {shown(column.name)} has names for categories, but is tested as a number",
                cure="give categories only for the columns that have them",
            )
        variables.append(_variable(column, mine, missing))
        states[index] = _states_of_codes(column, mine)
    last = len(order) - 1
    place = {name: last - index for index, name in enumerate(order)}
    edges: list[Edges] = []
    for each in reversed(found):
        if isinstance(each, int):
            edges.append(())
            continue
        variable = variables[each.column]
        yes = _yes(each, variable, states[each.column])
        no = difference(((0, variable.size - 1),), yes)
        edges.append(tuple((s, place[there]) for s, there in ((yes, each.yes), (no, each.no)) if s))
    return DecisionGraph.build(
        variables,
        classes,
        [each.column if isinstance(each, Test) else -1 for each in reversed(found)],
        [each if isinstance(each, int) else -1 for each in reversed(found)],
        edges,
        notes=notes,
    )


def walk(root: int, node: Callable[[int], Node], columns: int, file: str | None) -> tuple[list[int], list[Node]]:
    """The names of the nodes and the nodes, parents first; a node with two parents is an error."""
    order, seen, found = [root], {root}, []
    for name in order:  # the list grows while it is walked
        each = node(name)
        found.append(each)
        if isinstance(each, Test):
            if not 0 <= each.column < columns:
                raise FormatError(f"node {name} tests column {each.column} of {columns}", file=file)
            for child in (each.yes, each.no):
                if child in seen:
                    raise FormatError(f"node {child} has two parents, or is the root; this is no tree", file=file)
                seen.add(child)
                order.append(child)
    return order, found


def _variable(column: Column, mine: _Gathered, missing: bool) -> Variable:
    if False not in mine.kinds and column.categories is None:
        return Variable.numeric(column.name, mine.cuts, missing=missing, single=column.single)
    named = column.categories
    states = list(named if named is not None else map(str, sorted(mine.codes)))
    taken = set(states)
    other = None if named is not None else free("any other", taken)
    no_value = free("missing", taken) if missing else None
    special = [state for state in (other, no_value) if state is not None]
    if column.unseen_is_missing:
        other = other or no_value
    return Variable.nominal(column.name, states + special, other=other, no_value=no_value)


def _states_of_codes(column: Column, mine: _Gathered) -> dict[int, int]:
    """The states of the codes that are tested; a code beyond the named categories has none."""
    if column.categories is None:
        return {code: state for state, code in enumerate(sorted(mine.codes))}
    return {code: code for code in mine.codes if 0 <= code < len(column.categories)}


def _yes(test: Test, variable: Variable, states: Mapping[int, int]) -> Ranges:
    last = variable.size - 1  # the state of a missing value, if there is one
    if variable.labels is None:
        values = difference(states_where(variable, test.where), states_where(variable, test.but))
        return union([*values, (last, last)]) if variable.missing and test.missing else values
    found = [states[code] for code in test.codes or () if code in states]
    if variable.no_value is not None and test.missing:
        found.append(last)
    return union((state, state) for state in found)


def check_categories(categories: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    """Refuse the categories of what is no column."""
    columns = set(names)
    for name in categories:
        if name not in columns:
            raise Unsupported(f"categories names {shown(name)}, which is no column", cure=f"use {listed(names)}")


def check_scores(leaves: int, classes: int) -> None:
    """Refuse a tree each of whose many leaves would be compared with many classes that have no tree of their own."""
    if leaves * classes > _MOST_SCORES:
        raise TooLarge(
            f"the tree has {leaves} leaves and the model {classes} classes; at most {_MOST_SCORES} scores are compared,"
            " so train it for fewer classes",
            limit=_MOST_SCORES,
        )


def class_names(classes: Sequence[str] | None, count: int) -> list[str]:
    """The names given to the classes 0, 1, …, or their numbers."""
    names = [str(which) for which in range(count)] if classes is None else [str(name) for name in classes]
    if len(names) != count or len(set(names)) != count:
        raise Unsupported(f"classes are {listed(names)}", cure=f"give {count} different names")
    return names


def free(name: str, taken: Collection[str]) -> str:
    """The name, in brackets if it is taken."""
    while name in taken:
        name = f"({name})"
    return name
