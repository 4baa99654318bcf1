"""How a PMML tree node chooses its child: three-valued predicates over states, compiled to tests of one variable each.

A predicate is True, False, None (unknown) or one of
    Test(variable, true, unknown)   the states in which a simple predicate holds, or cannot be told
    Compound(operator, parts)       and, or, xor, surrogate
A choice is an ordered list of (predicate, child): the first child whose predicate holds is taken; what happens at an
unknown predicate, and when none holds, is for the caller to say.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from quia.errors import TooLarge
from quia.ranges import Ranges, covers, difference, intersection, union

MOST_STEPS = 3_000_000
"""What the predicates of a file may take, and for each of its elements fifty steps more."""


class Work:
    """The steps that are left for the predicates of a file; each looks at a predicate, or makes a range of states."""

    def __init__(self, elements: int) -> None:
        self.most = self.left = MOST_STEPS + 50 * elements

    def spend(self, steps: int) -> None:
        """Take as many away; TooLarge when none are left."""
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
    parts: tuple[Predicate, ...]


Predicate = bool | None | Test | Compound
Choice = tuple[tuple[Predicate, int], ...]


class Residue(NamedTuple):
    """What is left to ask: a variable, and for each part of its states what comes next."""

    variable: int
    edges: tuple[tuple[Ranges, Choice | int], ...]


def join(operator: str, parts: tuple[Predicate, ...]) -> Predicate:
    """A compound predicate, simplified as far as its parts are settled (PMML's truth tables).

    >>> join("or", (None, True)), join("and", (None, True)), join("surrogate", (None, False)), join("xor", (True, True))
    (True, None, False, False)
    """
    if operator in ("and", "or"):
        decisive = operator == "or"
        if any(part is decisive for part in parts):
            return decisive
        open_parts = tuple(part for part in parts if part is not (not decisive))
        if not open_parts:
            return not decisive
        if all(part is None for part in open_parts):
            return None
        return open_parts[0] if len(open_parts) == 1 else Compound(operator, open_parts)
    if operator == "xor":
        if any(part is None for part in parts):
            return None
        if all(isinstance(part, bool) for part in parts):
            return sum(part is True for part in parts) % 2 == 1
        return parts[0] if len(parts) == 1 else Compound(operator, parts)
    known = tuple(part for part in parts if part is not None)  # surrogate: the first that is not unknown
    if not known:
        return None
    return known[0] if isinstance(known[0], bool) or len(known) == 1 else Compound(operator, known)


def tests(predicate: Predicate) -> Iterator[Test]:
    """The simple predicates in a predicate."""
    work = [predicate]
    while work:
        part = work.pop()
        if isinstance(part, Test):
            yield part
        elif isinstance(part, Compound):
            work.extend(reversed(part.parts))


def merged(operator: str, parts: Sequence[Predicate], size: Callable[[int], int]) -> tuple[Predicate, ...]:
    """The parts of an `and` or `or`, those that test the same variable made one, where the first of them stands.

    >>> merged("or", (Test(0, ((0, 0),)), Test(1, ((2, 2),)), Test(0, ((1, 1),))), lambda variable: 4)
    (Test(variable=0, true=((0, 1),), unknown=()), Test(variable=1, true=((2, 2),), unknown=()))
    """
    if operator not in ("and", "or"):
        return tuple(parts)
    tests_of: dict[int, list[Test]] = {}
    for part in parts:
        if isinstance(part, Test):
            tests_of.setdefault(part.variable, []).append(part)
    one = {v: found[0] if len(found) == 1 else _one(operator, found, size(v)) for v, found in tests_of.items()}
    kept: list[Predicate] = []
    for part in parts:
        if not isinstance(part, Test):
            kept.append(part)
        elif part.variable in one:
            kept.append(one.pop(part.variable))
    return tuple(kept)


def _one(operator: str, found: Sequence[Test], size: int) -> Predicate:
    """Several tests of one variable as one: `or` is false only where all are, `and` true only where all are."""
    whole: Ranges = ((0, size - 1),)
    if operator == "or":
        true = union(pair for test in found for pair in test.true)
        unknown = difference(union(pair for test in found for pair in test.unknown), true)
    else:
        true = possible = whole
        for test in found:
            true = intersection(true, test.true)
            possible = intersection(possible, union([*test.true, *test.unknown]))
        unknown = difference(possible, true)
    if true == whole:
        return True
    if unknown == whole:
        return None
    return Test(found[0].variable, true, unknown) if true or unknown else False


def given(predicate: Predicate, variable: int, state: int) -> Predicate:
    """What is left of a predicate when a variable's state is known. Recursion is as deep as compounds nest."""
    if isinstance(predicate, Test):
        if predicate.variable != variable:
            return predicate
        return None if covers(predicate.unknown, state) else covers(predicate.true, state)
    if isinstance(predicate, Compound):
        return join(predicate.operator, tuple(given(part, variable, state) for part in predicate.parts))
    return predicate


def compile_choice(
    choice: Choice,
    sizes: Callable[[int], int],
    settle: Callable[[Choice], Choice | int],
    at_unknown: Callable[[], int] | None,
    work: Work,
) -> tuple[Choice | int, dict[Choice, Residue]]:
    """The tests that make a choice: where to begin, and each residue by its key; an int key is an outcome.

    `settle` drops what is false from the front of a choice and gives the outcome, an int, as soon as there is one;
    `at_unknown` gives the outcome where a predicate is unknown, and is None where that counts as false.
    Complexity: near-linear for children that test one variable, however many they are.
    """
    work.spend(len(choice))
    start = settle(choice)
    made: dict[Choice, Residue] = {}
    waiting = [start]
    while waiting:
        key = waiting.pop()
        if isinstance(key, int) or key in made:
            continue
        variable = next(tests(key[0][0])).variable
        parted: dict[Choice | int, list[tuple[int, int]]] = {}
        for region, after in _after(key, variable, sizes(variable), settle, at_unknown, work):
            parted.setdefault(after, []).append(region)
        waiting.extend(parted)
        made[key] = Residue(variable, tuple((union(pairs), after) for after, pairs in parted.items()))
    return start, made


def _after(
    choice: Choice,
    variable: int,
    size: int,
    settle: Callable[[Choice], Choice | int],
    at_unknown: Callable[[], int] | None,
    work: Work,
) -> Iterator[tuple[tuple[int, int], Choice | int]]:
    """What is left of a choice in each region of the variable's states that its tests do not tell apart."""
    count = sum(1 for predicate, _ in choice for _ in tests(predicate))
    alone = next((i for i, (p, _) in enumerate(choice) if not isinstance(p, Test) or p.variable != variable), None)
    first, rest = (choice, ()) if alone is None else (choice[:alone], choice[alone:])
    regions = list(_regions(choice, variable, size))
    work.spend(count + len(regions))
    # The first children test the variable and nothing else, so in each region one of them is the first not to be false.
    found = _first_not_false(first, [low for low, _ in regions], at_unknown, work)
    mentioned = any(test.variable == variable for predicate, _ in rest for test in tests(predicate))
    left = None if mentioned else settle(rest)
    for region, outcome in zip(regions, found, strict=True):
        if outcome is not None:
            yield region, outcome
        elif left is not None:
            yield region, left
        else:
            work.spend(count)
            yield region, settle(tuple((given(predicate, variable, region[0]), child) for predicate, child in rest))


def _first_not_false(
    choice: Choice, lows: Sequence[int], at_unknown: Callable[[], int] | None, work: Work
) -> list[int | None]:
    """For each region, by its first state, the outcome of the first of these tests that has one; None if none has."""
    found: list[int | None] = [None] * len(lows)
    following = list(range(1, len(lows) + 1))  # of a region: the next one that may still be without an outcome

    def unsettled(place: int) -> int:
        end = place
        while end < len(lows) and found[end] is not None:
            end = following[end]
        while place < end:  # so that the way is short next time
            following[place], place = end, following[place]
        return end

    for predicate, child in choice:
        assert isinstance(predicate, Test)
        work.spend(len(predicate.true) + len(predicate.unknown))
        for low, high in predicate.unknown if at_unknown is not None else ():
            place = unsettled(bisect_left(lows, low))
            while place < len(lows) and lows[place] <= high:
                assert at_unknown is not None
                found[place] = at_unknown()
                place = unsettled(place + 1)
        for low, high in predicate.true:
            place = unsettled(bisect_left(lows, low))
            while place < len(lows) and lows[place] <= high:
                found[place] = child
                place = unsettled(place + 1)
    return found


def children_first(choices: Iterable[Choice]) -> list[Choice]:
    """The choices in an order in which each comes after those it leads to, which have a variable less."""
    return sorted(choices, key=lambda choice: len({test.variable for part, _ in choice for test in tests(part)}))


def _regions(choice: Choice, variable: int, size: int) -> Iterator[tuple[int, int]]:
    """The longest ranges of states that no test of the choice tells apart."""
    starts = {0, size}
    for predicate, _ in choice:
        for test in tests(predicate):
            if test.variable == variable:
                for low, high in (*test.true, *test.unknown):
                    starts.update((low, high + 1))
    ordered = sorted(starts)
    yield from ((low, after - 1) for low, after in pairwise(ordered))
