"""Contrasts of every kind of classifier against their definition: all instances, all pairs, in all possible worlds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import quia
from quia.asking import Terms
from quia.classifier import FindsPairs, offers
from quia.contrast import Contrast, any_change, find_pair, rising, worse
from quia.errors import TooLarge
from quia.patience import Clock, OutOfTime
from quia.variables import UNKNOWN
from worlds_cases import MODELS, Model, is_small, random_formula, random_within
from worlds_oracle import Case, Worlds

States = tuple[int, ...]


@dataclass(frozen=True)
class Situation:
    """A classifier in possible worlds: the class of every possible instance, by brute force, in states."""

    terms: Terms
    table: dict[States, int]

    @property
    def sizes(self) -> list[int]:
        return [variable.size for variable in self.terms.variables]


def random_situation(rng: Random, model: Model) -> Situation | None:
    """Some bounds and constraints, or none; None if nothing is possible then, or there are too many worlds."""
    case = Case(model.features, model.classes, model.decide, {feature.name: None for feature in model.features})
    for _ in range(rng.choice((0, 0, 1, 2))):
        case = replace(case, given=(*case.given, random_formula(rng, model.features)))
    for feature in model.features:
        if rng.random() < rng.choice((0.0, 0.4)):
            case = replace(case, within={**case.within, feature.name: random_within(rng, feature)})
    worlds = Worlds(case)
    if not is_small(worlds) or not worlds.is_possible_at_all.any():
        return None
    terms = Terms.of(model.classifier, **{x: how for x, how in case.asked.items() if x in ("given", "within")})
    by_name = {variable.name: variable for variable in terms.variables}
    # The states of cells: both are cut where the model, a bound or a constraint is.
    states = [[by_name[x].encode(first) for first, _ in worlds.cells[x]] for x in worlds.names]
    table: dict[States, int] = {}
    for world, label, is_possible in zip(
        worlds.points.tolist(), worlds.labels.tolist(), worlds.is_possible_at_all, strict=True
    ):
        encoded = dict(zip(worlds.names, (states[v][cell] for v, cell in enumerate(world)), strict=True))
        if is_possible:
            key = tuple(encoded[variable.name] for variable in terms.variables)
            assert table.setdefault(key, label) == label
    return Situation(terms, table)


def random_contrast(rng: Random, situation: Situation) -> Contrast:
    """Any classes, ranks of classes, or some pairs of classes; one variable, in an order or not, or several."""
    variables, classes = situation.terms.variables, len(situation.terms.classes)
    pairs = [(a, b) for a, b in product(range(classes), repeat=2) if a != b]
    v = rng.randrange(len(variables))
    numeric = rising(variables[v]) if variables[v].is_numeric else range(variables[v].size)
    shuffled = rng.sample(range(variables[v].size), rng.randint(0, variables[v].size))
    order: Sequence[int] = rng.choice((numeric, numeric, numeric[::-1], shuffled))
    kind = rng.random()
    if kind < 0.5:
        return worse(classes, [rng.randrange(3) for _ in range(classes)], v, order)
    asked = frozenset(pairs if kind < 0.75 else rng.sample(pairs, rng.randint(0, len(pairs))))
    if rng.random() < 0.4:
        return Contrast((v,), asked, order)
    several = rng.sample(range(len(variables)), min(len(variables), rng.choice((1, 1, 2, 3))))
    return Contrast(tuple(several), asked)


def is_pair(situation: Situation, contrast: Contrast, one: States, other: States) -> bool:
    """The definition: both possible, alike but in changing variables, the classes and the order as asked."""
    table = situation.table
    if one not in table or other not in table or (table[one], table[other]) not in contrast.classes:
        return False
    if any(a != b for v, (a, b) in enumerate(zip(one, other, strict=True)) if v not in contrast.changing):
        return False
    if contrast.order is None:
        return True
    place = {state: at for at, state in enumerate(contrast.order)}
    (v,) = contrast.changing
    return one[v] in place and other[v] in place and place[one[v]] < place[other[v]]


def there_is_a_pair(situation: Situation, contrast: Contrast) -> bool:
    """Whether any two of all instances are such a pair."""
    alike: dict[States, list[States]] = {}
    for world in situation.table:
        alike.setdefault(tuple(s for v, s in enumerate(world) if v not in contrast.changing), []).append(world)
    return any(is_pair(situation, contrast, *two) for group in alike.values() for two in product(group, repeat=2))


def completions(situation: Situation, one: States, other: States) -> Iterator[tuple[States, States]]:
    """The pairs that two instances stand for: what is unknown in both is the same in both."""
    for states in product(*(range(n) if s == UNKNOWN else (s,) for n, s in zip(situation.sizes, one, strict=True))):
        theirs = (a if b == UNKNOWN else b for a, b in zip(states, other, strict=True))
        yield states, tuple(theirs)


def check(situation: Situation, contrast: Contrast) -> bool:
    """What is found is such a pair, whatever is unknown in it, and nothing is found just if there is none."""
    found = find_pair(situation.terms, contrast, Clock(60.0))
    about = (situation.terms.classifier, situation.terms.worlds.told, contrast, found)
    assert (found is not None) == there_is_a_pair(situation, contrast), about
    if found is None:
        return False
    one, other = map(tuple, found)
    assert [s == UNKNOWN for s in one] == [s == UNKNOWN for s in other], about
    meant = list(completions(situation, one, other))
    possible = [two for two in meant if two[0] in situation.table and two[1] in situation.table]
    assert possible and all(is_pair(situation, contrast, *two) for two in possible), about
    decide, table = situation.terms.classifier.decide, situation.table
    assert (decide(one), decide(other)) == (table[possible[0][0]], table[possible[0][1]]), about
    return True


def attack(kind: str, rng: Random, count: int, folder: Path) -> list[bool]:
    """So many random contrasts of models of a kind: whether each was found, or none."""
    found: list[bool] = []
    while len(found) < count:
        situation = random_situation(rng, MODELS[kind](rng, folder))
        if situation is not None:
            found += [check(situation, random_contrast(rng, situation)) for _ in range(4)]
    return found


@pytest.mark.parametrize("kind", MODELS)
def test_pairs_are_those_of_the_definition(kind: str, tmp_path: Path) -> None:
    found = attack(kind, Random(18), 60, tmp_path)
    assert 5 < sum(found) < 55, "both outcomes are met with"


if __name__ == "__main__":
    number, seed = map(int, sys.argv[1:3])
    for each in sys.argv[3:] or MODELS:
        with TemporaryDirectory() as made:
            told = attack(each, Random(seed), number, Path(made))
            print(f"{each}: {sum(told)} of {len(told)} found, all right")
