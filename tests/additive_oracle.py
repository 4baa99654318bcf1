"""Additive models by brute force: the definitions of sums, decisions and reasons, world by world, and random models.

It imports nothing of quia. A line's feature has a handful of 64-bit numbers next to each other, so that all of its
states can be tried like those of any other feature. Sums are NumPy's, one addition after the other in 64 bits.

Glossary
    world     a state for each feature, as an index; -1 where it is unknown
    keeps     the classes that leave a decision as it is
    possible  for some features the states that they may be in; a box
    box       a set of states for each of some features
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

States = tuple[int, ...]
Possible = Mapping[int, Collection[int]]
Box = tuple[States, ...]
LEAST = 2.0**-510
"""Numbers nearer to 0 are 0."""


# ---- the definitions --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Feature:
    """A feature: nominal, numeric with so many intervals, or a line of these numbers; the last state may be missing."""

    kind: str
    count: int
    missing: bool = False
    numbers: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        return self.count + self.missing


@dataclass(frozen=True)
class Term:
    """What a feature adds: `rows` by state, by bin of a line (its last number and the rows), or steps and weights."""

    feature: int
    rows: tuple[tuple[float, ...], ...] = ()
    bins: tuple[float, ...] | None = None
    steps: tuple[tuple[Any, ...], ...] | None = None
    weights: tuple[float, ...] = ()

    def added(self, feature: Feature, state: int) -> tuple[float, ...]:
        """The numbers that a state adds to each score."""
        if state >= feature.count:
            return self.rows[-1]
        if self.steps is not None:
            return tuple(stepped(self.steps, feature.numbers[state]) * weight for weight in self.weights)
        if self.bins is not None:
            return self.rows[sum(feature.numbers[state] > last for last in self.bins)]
        return self.rows[state]


def stepped(steps: Sequence[tuple[Any, ...]], number: float) -> float:
    """The steps on a number, one after the other in 64 bits."""
    does: dict[str, Callable[..., float]] = {
        "add": lambda x, a: x + a,
        "subtract": lambda x, a: x - a,
        "multiply": lambda x, a: x * a,
        "divide": lambda x, a: x / a,
        "clip": lambda x, a, b: a if x < a else b if x > b else x,
        "square": lambda x: x * x,
    }
    for name, *operands in steps:
        number = does[name](number, *operands)
    return number


@dataclass(frozen=True)
class Model:
    """Features, terms, what scores begin and end with, and the cuts of the one score; None: the first greatest wins."""

    features: tuple[Feature, ...]
    terms: tuple[Term, ...]
    start: tuple[float, ...]
    end: tuple[float, ...] = ()
    cuts: tuple[float, ...] | None = None

    @property
    def class_count(self) -> int:
        return len(self.start) if self.cuts is None else len(self.cuts) + 1

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(feature.size for feature in self.features)

    def scores_of(self, world: Sequence[int]) -> list[float]:
        """The scores of a world."""
        scores = list(self.start)
        for term in self.terms:
            added = term.added(self.features[term.feature], world[term.feature])
            scores = [a + b for a, b in zip(scores, added, strict=True)]
        return [a + b for a, b in zip(scores, self.end, strict=True)] if self.end else scores

    def class_of(self, scores: Sequence[float]) -> int:
        """The class that scores tell."""
        if self.cuts is not None:
            return sum(scores[0] >= cut for cut in self.cuts)
        return list(scores).index(max(scores))

    @cached_property
    def points(self) -> np.ndarray:
        """All worlds."""
        return np.indices(self.sizes).reshape(len(self.sizes), -1).T.copy()

    @cached_property
    def scores(self) -> np.ndarray:
        """The scores of every world."""
        scores = np.tile(np.array(self.start), (len(self.points), 1))
        for term in self.terms:
            feature = self.features[term.feature]
            values = np.array([term.added(feature, state) for state in range(feature.size)])
            scores = scores + values[self.points[:, term.feature]]
        return scores + np.array(self.end) if self.end else scores

    @cached_property
    def classes(self) -> np.ndarray:
        """The class of every world."""
        if self.cuts is None:
            return self.scores.argmax(axis=1)
        return (self.scores >= np.array(self.cuts)).sum(axis=1)

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The features of which some term adds different numbers."""
        differ = {
            t.feature
            for t in self.terms
            if len({t.added(self.features[t.feature], s) for s in range(self.features[t.feature].size)}) > 1
        }
        return tuple(sorted(differ))

    def inside(self, possible: Possible) -> np.ndarray:
        """Which worlds are in a box."""
        found = np.ones(len(self.points), bool)
        for v, states in possible.items():
            found &= np.isin(self.points[:, v], list(states))
        return found

    def escaping(self, keeps: Collection[int], possible: Possible) -> np.ndarray:
        """Which worlds of a box are decided otherwise."""
        return self.inside(possible) & ~np.isin(self.classes, list(keeps))

    def decisions(self, world: Sequence[int]) -> set[int]:
        """The classes that a world with unknown states may have."""
        return set(self.classes[self.inside({v: (s,) for v, s in enumerate(world) if s >= 0})].tolist())

    # Reasons

    def reasons(
        self, world: Sequence[int], keeps: Collection[int], possible: Possible
    ) -> dict[str, set[frozenset[int]]]:
        """All sufficient and necessary reasons, as features: minimal sets that meet all changes, minimal changes."""
        known = [v for v, state in enumerate(world) if state >= 0]
        refuting = self.points[self.escaping(keeps, possible)][:, known] != np.array([world[v] for v in known], int)
        changes = {frozenset(known[i] for i in np.flatnonzero(row)) for row in np.unique(refuting, axis=0)}
        if len(refuting) and not known:
            changes = {frozenset()}
        every = [frozenset(chosen) for n in range(len(known) + 1) for chosen in combinations(known, n)]
        return {
            "sufficient": minimal([s for s in every if all(s & change for change in changes)]),
            "necessary": minimal([s for s in every if any(change <= s for change in changes)]),
        }

    def good_points(
        self,
        kind: str,
        world: Sequence[int],
        keeps: Collection[int],
        possible: Possible,
        of: Sequence[int],
        certain: bool,
    ) -> np.ndarray:
        """Which states of some features are good, an array with an axis for each.

        For a sufficient reason those with which every possible world keeps the decision. For a necessary one those
        that are other than the world's, possible, and change the decision: for some, or `certain`, for all values of
        what is unknown, all else kept.
        """
        kept = {} if kind == "sufficient" else {v: (s,) for v, s in enumerate(world) if v not in of and s >= 0}
        inside = self.inside(possible) & self.inside(kept)
        escapes = (inside & self.escaping(keeps, possible)).reshape(self.sizes)
        others = tuple(v for v in range(len(self.sizes)) if v not in of)
        some = escapes.any(axis=others)
        if kind == "sufficient":
            return ~some & self._admitted(of, possible)
        every = (escapes | ~inside.reshape(self.sizes)).all(axis=others)
        good = (every & some if certain else some) & self._admitted(of, possible)
        for place, v in enumerate(of):
            good[(slice(None),) * place + (world[v],)] = False
        return good

    def _admitted(self, of: Sequence[int], possible: Possible) -> np.ndarray:
        sides = [np.isin(np.arange(self.sizes[v]), list(possible.get(v, range(self.sizes[v])))) for v in of]
        return np.all(np.meshgrid(*sides, indexing="ij"), axis=0) if sides else np.array(True)

    def boxes(
        self,
        kind: str,
        world: Sequence[int],
        keeps: Collection[int],
        possible: Possible,
        of: Sequence[int],
        *,
        intervals: bool = True,
        certain: bool = False,
    ) -> list[Box]:
        """The maximal boxes over some features: around the world and forcing, or of changes that all change it.

        The widest first, equals by their states.
        """
        good = self.good_points(kind, world, keeps, possible, of, certain)
        pools = []
        for v in of:
            sets = self.sets_of_states(v, intervals)
            pools.append([s for s in sets if kind == "necessary" or world[v] in s])
        found = [box for box in product(*pools) if good[np.ix_(*box)].all()]
        found.sort(key=lambda box: (-math.prod(map(len, box)), box))
        kept: list[Box] = []
        for box in found:
            if not any(all(set(a) <= set(b) for a, b in zip(box, wider, strict=True)) for wider in kept):
                kept.append(box)
        return kept

    def sets_of_states(self, feature: int, intervals: bool) -> list[States]:
        """Every set of states that may be said of a feature; of a line always an interval, and missing."""
        about = self.features[feature]
        every = [s for n in range(1, about.size + 1) for s in combinations(range(about.size), n)]
        if about.kind == "nominal" or (about.kind == "numeric" and not intervals):
            return every
        numbers = [[s for s in states if s < about.count] for states in every]
        return [e for e, n in zip(every, numbers, strict=True) if not n or n[-1] - n[0] == len(n) - 1]

    def is_biased(self, protected: Collection[int]) -> bool:
        """Whether two worlds that differ in protected features alone are decided differently."""
        classes = self.classes.reshape(self.sizes)
        axes = tuple(sorted(protected))
        return bool((classes.min(axis=axes) != classes.max(axis=axes)).any())


def minimal(sets: Collection[frozenset[int]]) -> set[frozenset[int]]:
    """The sets that have no other in them."""
    found: list[frozenset[int]] = []
    for one in sorted(sets, key=len):
        if not any(other <= one for other in found):
            found.append(one)
    return set(found)


# ---- random models ----------------------------------------------------------------------------------------------

PALETTES: dict[str, tuple[float, ...]] = {
    "whole": (-2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0),
    "points": (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, -5.0),
    "tenths": (0.1, 0.2, 0.3, -0.1, -0.2, -0.3, 0.7, 0.0),
    "thirds": (1 / 3, 2 / 3, -1 / 3, 1.0, -1.0),
    "far apart": (1e16, -1e16, 1.0, -1.0, 0.5, 3e7, -3e7),
    "near": (1.0, 1.0 + 2.0**-52, 1.0 - 2.0**-53, -1.0, 2.0**-53),
    "tiny": (1e-9, -1e-9, 1e-17, 3e-8, -6e-8, 0.0),
    "subnormal": (1e-310, 5e-324, -5e-324, -1e-310, 0.0),
}
"""Numbers whose sums tie, or differ in the last bit, or depend on the order of additions."""


def next_number(number: float) -> float:
    """The next number of a line."""
    if number == 0:
        return LEAST
    return 0.0 if number == -LEAST else math.nextafter(number, math.inf)


def random_feature(rng: Random, most: int, lines: float) -> Feature:
    """A feature of at most so many states, one at least."""
    size = rng.choice((1, *range(2, most + 1), *range(2, most + 1)))
    missing = size > 1 and rng.random() < 0.3
    if rng.random() < lines:
        numbers = [rng.choice((1.0, 0.1, -1.0, -2.0 * LEAST, -LEAST, 0.0, 1 - 2.0**-52, 31240.5, -1e6, 0.3))]
        while len(numbers) < size - missing:
            numbers.append(next_number(numbers[-1]))
        return Feature("line", size - missing, missing, tuple(numbers))
    if rng.random() < 0.4:
        return Feature("nominal", size)
    return Feature("numeric", size - missing, missing)


def random_steps(rng: Random, numbers: Sequence[float]) -> tuple[tuple[Any, ...], ...]:
    """Steps that tell neighbouring numbers apart, mostly; clipped and squared too."""
    steps: list[tuple[Any, ...]] = []
    middle = rng.choice(numbers)
    if rng.random() < 0.8:
        steps.append(rng.choice((("subtract", middle), ("add", -middle))))
        spread = max(abs(n - middle) for n in numbers)
        if spread and rng.random() < 0.8:
            size = 2.0 ** -math.frexp(spread)[1]
            steps.append(rng.choice((("multiply", size), ("divide", 1 / size), ("multiply", -size))))
    if rng.random() < 0.3:
        values = sorted(stepped(steps, n) for n in numbers)
        a, b = sorted((rng.choice(values), rng.choice(values)))
        steps.append(("clip", a, b))
    elif rng.random() < 0.3:
        steps.append(("square",))
        if rng.random() < 0.5:
            steps.append(rng.choice((("multiply", -0.5), ("divide", 3.0), ("add", 0.1))))
    elif rng.random() < 0.3:
        steps.append(rng.choice((("divide", 3.0), ("multiply", 0.1), ("add", 0.1), ("multiply", 0.0))))
    return tuple(steps)


def random_model(
    rng: Random,
    *,
    features: int = 4,
    states: int = 4,
    scores: int = 4,
    points: int = 400,
    lines: float = 0.3,
    palette: str | None = None,
    rule: str | None = None,
) -> Model:
    """A model of at most so many features, states, scores and worlds; it has ties, cuts are at scores that are met."""
    have = [random_feature(rng, states, lines) for _ in range(rng.randint(1, features))]
    while math.prod(f.size for f in have) > points:
        have.pop()
    rule = rule or rng.choice(("cuts", "argmax"))
    count = 1 if rule == "cuts" else rng.choice((1, *range(2, scores + 1), *range(2, scores + 1)))
    name = palette or rng.choice((*PALETTES, "any"))

    def value() -> float:
        return rng.gauss(0, 1) if name == "any" or rng.random() < 0.02 else rng.choice(PALETTES[name])

    def row() -> tuple[float, ...]:
        return tuple(value() for _ in range(count))

    terms = []
    for v in [*range(len(have)), *(v for v in range(len(have)) if rng.random() < 0.2)]:
        feature = have[v]
        if rng.random() < 0.1:
            continue
        if feature.kind != "line":
            terms.append(Term(v, tuple(row() for _ in range(feature.size))))
        elif rng.random() < 0.3:
            bins = tuple(n for n in feature.numbers[:-1] if rng.random() < 0.6)
            terms.append(Term(v, tuple(row() for _ in range(len(bins) + 1 + feature.missing)), bins))
        else:
            gone = (row(),) if feature.missing else ()
            terms.append(Term(v, gone, None, random_steps(rng, feature.numbers), row()))
    rng.shuffle(terms)
    start = tuple(rng.choice((0.0, 0.0, value())) for _ in range(count))
    end = rng.choice(((), (), row()))
    whole = Model(tuple(have), tuple(terms), start, end)
    if rule == "cuts":
        reached = sorted(set(whole.scores[:, 0].tolist()))
        chosen = {rng.choice(reached) for _ in range(rng.choice((1, 1, 1, 2, 3)))}
        beside = {math.nextafter(c, rng.choice((math.inf, -math.inf))) if rng.random() < 0.3 else c for c in chosen}
        return Model(*_parts(whole), tuple(sorted({c + 0.0 for c in beside})))
    if rng.random() < 0.6:  # all scores of some world are equal
        plain = Model(whole.features, whole.terms, start)
        end = tuple(0.0 - score for score in plain.scores[rng.randrange(len(plain.points))].tolist())
        return Model(whole.features, whole.terms, start, end)
    return whole


def _parts(model: Model) -> tuple[Any, ...]:
    return model.features, model.terms, model.start, model.end


# ---- random questions -------------------------------------------------------------------------------------------


def random_world(rng: Random, model: Model, unknown: float = 0.2) -> States:
    """A world, unknown as far as its decision allows."""
    world = model.points[rng.randrange(len(model.points))].tolist()
    for v in rng.sample(range(len(world)), len(world)):
        fewer = [-1 if at == v else s for at, s in enumerate(world)]
        if rng.random() < unknown and len(model.decisions(fewer)) == 1:
            world = fewer
    return tuple(world)


def random_box(rng: Random, model: Model, share: float) -> dict[int, list[int]]:
    """Some states of some features, with gaps; never empty."""
    found = {}
    for v, size in enumerate(model.sizes):
        if rng.random() < share:
            found[v] = [s for s in range(size) if rng.random() < 0.6] or [rng.randrange(size)]
            if rng.random() < 0.2:
                found[v] = [rng.randrange(size)]
    return found


def random_keeps(rng: Random, classes: int, decision: int) -> set[int]:
    """Classes that keep a decision: its own, all but one, several, none, all."""
    every = set(range(classes))
    others = sorted(every - {decision})
    return rng.choice(
        (
            {decision},
            {decision},
            every - {rng.choice(others)} if others else every,
            {decision} | {c for c in every if rng.random() < 0.5},
            {c for c in every if rng.random() < 0.5},
        )
    )


def ranges(states: Collection[int]) -> tuple[tuple[int, int], ...]:
    """States as sorted ranges, neighbours joined."""
    found: list[tuple[int, int]] = []
    for state in sorted(states):
        if found and found[-1][1] == state - 1:
            found[-1] = (found[-1][0], state)
        else:
            found.append((state, state))
    return tuple(found)


def members(pairs: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The states of ranges."""
    for low, high in pairs:
        yield from range(low, high + 1)
