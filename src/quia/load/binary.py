"""Decision graphs from trees of yes/no tests on numbered columns, as boosting libraries and ONNX store them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from quia.conditions import states_where
from quia.cuts import Interval
from quia.errors import FormatError, TooLarge, Unsupported, listed, shown
from quia.ranges import Ranges, difference, union
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.consistent import Edges
    from quia.graph import DecisionGraph

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

    The answer for a number is yes if it is in a `where` interval and in no `where_not` interval; for a category it is
    yes if its code is one of `codes`. `missing` is the answer for a missing value.
    """

    column: int
    yes: int
    no: int
    missing: bool
    where: tuple[Interval, ...] = ()
    where_not: tuple[Interval, ...] = ()
    codes: frozenset[int] | None = None


def answered(test: Test, numbers: Interval, answer: bool) -> Test:
    """The test with this answer for the numbers of one interval."""
    if answer:
        return replace(test, where=(*test.where, numbers))
    return replace(test, where_not=(*test.where_not, numbers))


@dataclass(frozen=True, slots=True)
class Column:
    """An input column: compared in 32 bits or 64, or with categories, whose codes 0, 1, … are named in order.

    A column without names for its categories gets the codes that the tree mentions, and one state for all others.
    With `unseen_is_missing` a value that is not a category counts as missing.
    """

    name: str
    single: bool = False
    categories: tuple[str, ...] | None = None
    unseen_is_missing: bool = False


Node = Test | int
"""A test, or the class of a leaf."""


@dataclass(slots=True)
class ColumnTests:
    """The cuts and codes in the tests of one column, and whether they are of numbers (True) or categories (False)."""

    cuts: dict[tuple[float, bool], None] = field(default_factory=dict)
    codes: set[int] = field(default_factory=set)
    kinds: set[bool] = field(default_factory=set)

    def add(self, test: Test) -> None:
        """Add what one test mentions."""
        self.kinds.add(test.codes is None)
        self.codes |= test.codes or set()
        ends = (cut for interval in (*test.where, *test.where_not) for cut in interval)
        self.cuts.update(dict.fromkeys((cut.threshold, cut.after) for cut in ends if cut is not None))


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

    order, nodes = walk(root, node, len(columns), file)
    tests_of: dict[int, ColumnTests] = {}
    for here in nodes:
        if isinstance(here, Test):
            tests_of.setdefault(here.column, ColumnTests()).add(here)
    variables, states = variables_of(columns, tests_of, missing=missing, file=file)
    last = len(order) - 1
    position = {number: last - index for index, number in enumerate(order)}
    edges: list[Edges] = []
    for here in reversed(nodes):
        if isinstance(here, int):
            edges.append(())
            continue
        variable = variables[here.column]
        yes = states_of_yes(here, variable, states[here.column])
        no = difference(((0, variable.size - 1),), yes)
        edges.append(tuple((ranges, position[child]) for ranges, child in ((yes, here.yes), (no, here.no)) if ranges))
    return DecisionGraph.build(
        variables,
        classes,
        [here.column if isinstance(here, Test) else -1 for here in reversed(nodes)],
        [here if isinstance(here, int) else -1 for here in reversed(nodes)],
        edges,
        notes=notes,
    )


def walk(root: int, node: Callable[[int], Node], columns: int, file: str | None) -> tuple[list[int], list[Node]]:
    """The numbers of the nodes and the nodes themselves, parents first; a node with two parents is an error."""
    order, seen, nodes = [root], {root}, []
    for number in order:  # the list grows while it is walked
        here = node(number)
        nodes.append(here)
        if isinstance(here, Test):
            if not 0 <= here.column < columns:
                raise FormatError(f"node {number} tests column {here.column} of {columns}", file=file)
            for child in (here.yes, here.no):
                if child in seen:
                    raise FormatError(f"node {child} has two parents, or is the root; this is no tree", file=file)
                seen.add(child)
                order.append(child)
    return order, nodes


def variables_of(
    columns: Sequence[Column], tests_of: Mapping[int, ColumnTests], *, missing: bool, file: str | None
) -> tuple[list[Variable], dict[int, dict[int, int]]]:
    """The variables of the columns, and the states of the codes of those that are tested."""
    variables, untested = [], ColumnTests()
    states: dict[int, dict[int, int]] = {}
    for index, column in enumerate(columns):
        tests = tests_of.get(index, untested)
        if len(tests.kinds) > 1:
            raise FormatError(f"column {shown(column.name)} is tested as a number and as a category", file=file)
        if tests.kinds == {True} and column.categories is not None:
            raise Unsupported(
                f"the column {shown(column.name)} has names for categories, but is tested as a number",
                cure="give categories only for the columns that have them",
            )
        variables.append(_variable(column, tests, missing))
        if index in tests_of:
            states[index] = _states_of_codes(column, tests)
    return variables, states


def _variable(column: Column, tests: ColumnTests, missing: bool) -> Variable:
    if False not in tests.kinds and column.categories is None:
        return Variable.numeric(column.name, tests.cuts, missing=missing, single=column.single)
    categories = column.categories
    states = list(categories if categories is not None else map(str, sorted(tests.codes)))
    names = set(states)
    other = None if categories is not None else unused_name("any other", names)
    no_value = unused_name("missing", names) if missing else None
    special = [state for state in (other, no_value) if state is not None]
    if column.unseen_is_missing:
        other = other or no_value
    return Variable.nominal(column.name, states + special, other=other, no_value=no_value)


def _states_of_codes(column: Column, tests: ColumnTests) -> dict[int, int]:
    """The states of the codes that are tested; a code beyond the named categories has none."""
    if column.categories is None:
        return {code: state for state, code in enumerate(sorted(tests.codes))}
    return {code: code for code in tests.codes if 0 <= code < len(column.categories)}


def states_of_yes(test: Test, variable: Variable, states: Mapping[int, int]) -> Ranges:
    """The states of a variable that a test answers with yes; `states` are those of its codes."""
    last = variable.size - 1  # the state of a missing value, if there is one
    if variable.labels is None:
        values = difference(states_where(variable, test.where), states_where(variable, test.where_not))
        return union([*values, (last, last)]) if variable.missing and test.missing else values
    yes = [states[code] for code in test.codes or () if code in states]
    if variable.no_value is not None and test.missing:
        yes.append(last)
    return union((state, state) for state in yes)


def check_categories(categories: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    """Refuse categories for a name that is not a column."""
    columns = set(names)
    for name in categories:
        if name not in columns:
            raise Unsupported(f"categories names {shown(name)}, which is no column", cure=f"use {listed(names)}")


def check_scores(leaves: int, classes: int) -> None:
    """Refuse a tree with so many leaves that comparing the scores of all classes at each would take too long."""
    if leaves * classes > _MOST_SCORES:
        raise TooLarge(
            f"the tree has {leaves} leaves and the model {classes} classes; at most {_MOST_SCORES} scores are compared,"
            " so train it for fewer classes",
            limit=_MOST_SCORES,
        )


def class_names(classes: Sequence[str] | None, count: int) -> list[str]:
    """The caller's names of the classes 0, 1, …, or else their numbers."""
    names = [str(index) for index in range(count)] if classes is None else [str(name) for name in classes]
    if len(names) != count or len(set(names)) != count:
        raise Unsupported(f"classes are {listed(names)}", cure=f"give {count} different names")
    return names


def unused_name(name: str, used: Collection[str]) -> str:
    """The name, in as many brackets as it takes to differ from all names in use."""
    while name in used:
        name = f"({name})"
    return name
