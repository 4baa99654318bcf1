"""How a PMML tree node chooses its child: three-valued predicates over states, compiled to tests of one variable each.

A predicate is True, False, None (unknown) or one of
    Test(variable, true, unknown)   the states in which a simple predicate holds, or cannot be told
    Compound(operator, parts)       and, or, xor, surrogate
A choice is an ordered list of (predicate, child): the first child whose predicate holds is taken; what happens at an
unknown predicate, and when none holds, is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from quia.errors import TooLarge
from quia.ranges import Ranges, covers, union

MOST_RESIDUES = 100_000
"""How many tests the predicates of one node may need."""


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
    choice: Choice, sizes: Callable[[int], int], settle: Callable[[Choice], Choice | int]
) -> tuple[Choice | int, dict[Choice, Residue]]:
    """The tests that make a choice: where to begin, and each residue by its key; an int key is an outcome.

    `settle` drops what is false from the front of a choice and gives the outcome, an int, as soon as there is one.
    """
    start = settle(choice)
    made: dict[Choice, Residue] = {}
    work = [start]
    while work:
        key = work.pop()
        if isinstance(key, int) or key in made:
            continue
        if len(made) >= MOST_RESIDUES:
            raise TooLarge(
                f"the compound predicates of a node need more than {MOST_RESIDUES} tests", limit=MOST_RESIDUES
            )
        variable = next(tests(key[0][0])).variable
        parted: dict[Choice | int, list[tuple[int, int]]] = {}
        for low, high in _regions(key, variable, sizes(variable)):
            after = settle(tuple((given(predicate, variable, low), child) for predicate, child in key))
            parted.setdefault(after, []).append((low, high))
            work.append(after)
        made[key] = Residue(variable, tuple((union(pairs), after) for after, pairs in parted.items()))
    return start, made


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
