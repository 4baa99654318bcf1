"""How a PMML tree node chooses its child: three-valued predicates over states, compiled to tests of one variable each.

A predicate is True, False, None (unknown) or one of
    Test(variable, true, unknown)     the states in which a simple predicate is true, and those in which it is unknown
    Compound(operator, predicates)    and, or, xor, surrogate
A choice is an ordered list of (predicate, child): the first child whose predicate holds is taken; the caller decides
what happens at an unknown predicate, and when no predicate holds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from quia.errors import TooLarge
from quia.ranges import Ranges, covers, difference, intersection, union

MOST_STEPS = 3_000_000
"""How many steps the predicates of a file may take, and fifty more for each of its elements."""


class Work:
    """A budget of steps for the predicates of a file; a step looks at a predicate or makes a range of states."""

    def __init__(self, elements: int) -> None:
        self.most = self.left = MOST_STEPS + 50 * elements

    def spend(self, steps: int) -> None:
        """Use up some steps; TooLarge when none are left."""
        self.left -= steps
        if self.left < 0:
            raise TooLarge(
                f"the predicates of the tree take more than {self.most} steps to turn into tests of one field each;"
                " export it with fewer branches a node, or with simple predicates",
                limit=self.most,
            )


class Test(NamedTuple):
    """A simple predicate as sets of states of one variable."""

    variable: int
    true: Ranges
    unknown: Ranges = ()


class Compound(NamedTuple):
    """Predicates joined by and, or, xor or surrogate."""

    operator: str
    predicates: tuple[Predicate, ...]


Predicate = bool | None | Test | Compound
Choice = tuple[tuple[Predicate, int], ...]


class Residue(NamedTuple):
    """The rest of a choice: the variable to test, and for each set of its states what comes next."""

    variable: int
    edges: tuple[tuple[Ranges, Choice | int], ...]


def join(operator: str, predicates: tuple[Predicate, ...]) -> Predicate:
    """A compound predicate, simplified as far as its predicates are known (PMML's truth tables).

    >>> join("or", (None, True)), join("and", (None, True)), join("surrogate", (None, False)), join("xor", (True, True))
    (True, None, False, False)
    """
    if operator in ("and", "or"):
        decisive = operator == "or"
        if any(predicate is decisive for predicate in predicates):
            return decisive
        undecided = tuple(predicate for predicate in predicates if predicate is not (not decisive))
        if not undecided:
            return not decisive
        if all(predicate is None for predicate in undecided):
            return None
        return undecided[0] if len(undecided) == 1 else Compound(operator, undecided)
    if operator == "xor":
        if any(predicate is None for predicate in predicates):
            return None
        if all(isinstance(predicate, bool) for predicate in predicates):
            return sum(predicate is True for predicate in predicates) % 2 == 1
        return predicates[0] if len(predicates) == 1 else Compound(operator, predicates)
    # A surrogate is its first predicate that is not unknown.
    known = tuple(predicate for predicate in predicates if predicate is not None)
    if not known:
        return None
    return known[0] if isinstance(known[0], bool) or len(known) == 1 else Compound(operator, known)


def tests(predicate: Predicate) -> Iterator[Test]:
    """The simple predicates in a predicate."""
    work = [predicate]
    while work:
        inner = work.pop()
        if isinstance(inner, Test):
            yield inner
        elif isinstance(inner, Compound):
            work.extend(reversed(inner.predicates))


def merged(operator: str, predicates: Sequence[Predicate], size: Callable[[int], int]) -> tuple[Predicate, ...]:
    """The predicates of an `and` or `or`, in which all tests of a variable are merged into the first of them.

    >>> merged("or", (Test(0, ((0, 0),)), Test(1, ((2, 2),)), Test(0, ((1, 1),))), lambda variable: 4)
    (Test(variable=0, true=((0, 1),), unknown=()), Test(variable=1, true=((2, 2),), unknown=()))
    """
    if operator not in ("and", "or"):
        return tuple(predicates)
    tests_of: dict[int, list[Test]] = {}
    for predicate in predicates:
        if isinstance(predicate, Test):
            tests_of.setdefault(predicate.variable, []).append(predicate)
    merged_test = {
        v: tests[0] if len(tests) == 1 else _merge(operator, tests, size(v)) for v, tests in tests_of.items()
    }
    kept: list[Predicate] = []
    for predicate in predicates:
        if not isinstance(predicate, Test):
            kept.append(predicate)
        elif predicate.variable in merged_test:
            kept.append(merged_test.pop(predicate.variable))
    return tuple(kept)


def _merge(operator: str, tests: Sequence[Test], size: int) -> Predicate:
    """Several tests of one variable as one: `or` is false only where all are, `and` true only where all are."""
    all_states: Ranges = ((0, size - 1),)
    if operator == "or":
        true = union(pair for test in tests for pair in test.true)
        unknown = difference(union(pair for test in tests for pair in test.unknown), true)
    else:
        true = possible = all_states
        for test in tests:
            true = intersection(true, test.true)
            possible = intersection(possible, union([*test.true, *test.unknown]))
        unknown = difference(possible, true)
    if true == all_states:
        return True
    if unknown == all_states:
        return None
    return Test(tests[0].variable, true, unknown) if true or unknown else False


def substitute(predicate: Predicate, variable: int, state: int) -> Predicate:
    """The predicate that remains when a variable's state is known. Recursion is as deep as compounds nest."""
    if isinstance(predicate, Test):
        if predicate.variable != variable:
            return predicate
        return None if covers(predicate.unknown, state) else covers(predicate.true, state)
    if isinstance(predicate, Compound):
        return join(predicate.operator, tuple(substitute(inner, variable, state) for inner in predicate.predicates))
    return predicate


def compile_choice(
    choice: Choice,
    sizes: Callable[[int], int],
    settle: Callable[[Choice], Choice | int],
    at_unknown: Callable[[], int] | None,
    work: Work,
) -> tuple[Choice | int, dict[Choice, Residue]]:
    """The tests that make a choice: the first key, and the residue of each key; a key that is an int is an outcome.

    `settle` drops false predicates from the front of a choice, and returns the outcome, an int, as soon as it is known;
    `at_unknown` returns the outcome where a predicate is unknown, and is None where unknown counts as false.
    Complexity: near-linear for children that test one variable, however many they are.
    """
    work.spend(len(choice))
    start = settle(choice)
    residues: dict[Choice, Residue] = {}
    waiting = [start]
    while waiting:
        key = waiting.pop()
        if isinstance(key, int) or key in residues:
            continue
        variable = next(tests(key[0][0])).variable
        ranges_to: dict[Choice | int, list[tuple[int, int]]] = {}
        for states, following in _remaining(key, variable, sizes(variable), settle, at_unknown, work):
            ranges_to.setdefault(following, []).append(states)
        waiting.extend(ranges_to)
        residues[key] = Residue(variable, tuple((union(pairs), following) for following, pairs in ranges_to.items()))
    return start, residues


def _remaining(
    choice: Choice,
    variable: int,
    size: int,
    settle: Callable[[Choice], Choice | int],
    at_unknown: Callable[[], int] | None,
    work: Work,
) -> Iterator[tuple[tuple[int, int], Choice | int]]:
    """What remains of a choice in each range of the variable's states that its tests do not distinguish."""
    count = sum(1 for predicate, _ in choice for _ in tests(predicate))
    length = next((i for i, (p, _) in enumerate(choice) if not isinstance(p, Test) or p.variable != variable), None)
    first, rest = (choice, ()) if length is None else (choice[:length], choice[length:])
    regions = list(_regions(choice, variable, size))
    work.spend(count + len(regions))
    # The first children test only this variable, so in each region one of them is the first that is not false.
    outcomes = _first_not_false(first, [low for low, _ in regions], at_unknown, work)
    mentioned = any(test.variable == variable for predicate, _ in rest for test in tests(predicate))
    settled = None if mentioned else settle(rest)
    for region, outcome in zip(regions, outcomes, strict=True):
        if outcome is not None:
            yield region, outcome
        elif settled is not None:
            yield region, settled
        else:
            work.spend(count)
            remaining = tuple((substitute(predicate, variable, region[0]), child) for predicate, child in rest)
            yield region, settle(remaining)


def _first_not_false(
    choice: Choice, lows: Sequence[int], at_unknown: Callable[[], int] | None, work: Work
) -> list[int | None]:
    """For each region, given by its first state, the outcome of the first test that has one; None if none has."""
    outcomes: list[int | None] = [None] * len(lows)
    following = list(range(1, len(lows) + 1))  # for each region, the next one that may not have an outcome yet

    def unsettled(index: int) -> int:
        end = index
        while end < len(lows) and outcomes[end] is not None:
            end = following[end]
        while index < end:  # shorten the chain for next time
            following[index], index = end, following[index]
        return end

    for predicate, child in choice:
        assert isinstance(predicate, Test)
        work.spend(len(predicate.true) + len(predicate.unknown))
        for low, high in predicate.unknown if at_unknown is not None else ():
            index = unsettled(bisect_left(lows, low))
            while index < len(lows) and lows[index] <= high:
                assert at_unknown is not None
                outcomes[index] = at_unknown()
                index = unsettled(index + 1)
        for low, high in predicate.true:
            index = unsettled(bisect_left(lows, low))
            while index < len(lows) and lows[index] <= high:
                outcomes[index] = child
                index = unsettled(index + 1)
    return outcomes


def children_first(choices: Iterable[Choice]) -> list[Choice]:
    """The choices sorted so that each comes after those it leads to, which test fewer variables."""
    return sorted(
        choices, key=lambda choice: len({test.variable for predicate, _ in choice for test in tests(predicate)})
    )


def _regions(choice: Choice, variable: int, size: int) -> Iterator[tuple[int, int]]:
    """The longest ranges of states that no test of the choice distinguishes."""
    starts = {0, size}
    for predicate, _ in choice:
        for test in tests(predicate):
            if test.variable == variable:
                for low, high in (*test.true, *test.unknown):
                    starts.update((low, high + 1))
    ordered = sorted(starts)
    yield from ((low, after - 1) for low, after in pairwise(ordered))
