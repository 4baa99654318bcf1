"""Claims of features: whether a decision depends on one, how many it alone could change, how raising it moves them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quia.auditing.check_facts import expect, needed
from quia.auditing.check_pairs import Found, find_pair, rising
from quia.auditing.check_rows import Rows
from quia.auditing.check_sums import never_turns
from quia.auditing.check_world import World
from quia.auditing.checked import Claim, NotChecked, Wrong
from quia.auditing.document import Feature, Monotone, Monotonicity, Proof, Settings, Share
from quia.auditing.known import with_known
from quia.errors import listed, shown
from quia.patience import Clock

_MOST_REASONS = 1000
"""How many shortest reasons of a row are listed; if it has more, it is not told which features are in one."""


def feature_claims(place: str, said: Feature, world: World, rows: Rows | None, shortest: Shortest) -> Iterator[Claim]:
    """What is said of one feature."""

    def check_tested(_: Clock) -> None:
        expect(said.tested, world.place(said.feature) in world.own.tested)

    def check_alone(clock: Clock) -> None:
        assert said.alone is not None
        table = needed(rows)
        feature, decided = world.place(said.feature), int(table.is_decided.sum())
        if feature not in world.own.tested:
            expect_rows(said.alone.rows, said.alone.of, 0, decided)
            return
        right = int(table.reach([feature], clock).changing().sum())
        expect_rows(said.alone.rows, said.alone.of, right, decided)

    def check_shortest(_: Clock) -> None:
        assert said.shortest is not None
        shortest.check(said.feature, said.shortest)

    tested = f"{said.feature} is {'' if said.tested else 'not '}tested"
    yield Claim(f"{place}.tested", tested, check_tested)
    if said.matters is not None:
        proof = Proof(said.matters, said.pair)
        what = f"decisions can depend on {said.feature}" if said.matters else f"no decision depends on {said.feature}"
        yield depends_claim(f"{place}.matters", what, proof, [said.feature], world)
    if said.alone is not None:
        alone = f"{said.feature} alone could change {said.alone.rows:,} of {said.alone.of:,} decisions"
        yield Claim(f"{place}.alone", alone, check_alone, hard=True)
    if said.shortest is not None:
        told = f"{said.feature} is in a shortest reason of {said.shortest.rows:,} of {said.shortest.of:,} decisions"
        yield Claim(f"{place}.shortest", f"{told} (recounted by the same code)", check_shortest, hard=True)


def expect_rows(said: int, of: int, right: int, every: int) -> None:
    """Raise Wrong unless so many of so many rows are right; of a part of the rows NotChecked, if they can be."""
    if of == every and said != right:
        raise Wrong(f"it is {right:,}, not {said:,}")
    if of > every:
        raise Wrong(f"{every:,} rows have a decision, not {of:,}")
    if not max(0, of - (every - right)) <= said <= min(of, right):
        raise Wrong(f"of all {every:,} rows it is {right:,}, so that it cannot be {said:,} of {of:,}")
    if of < every:
        raise NotChecked(f"only a part of the rows was looked at, {of:,} of {every:,}")


class Shortest:
    """In how many decisions each feature is in a shortest sufficient reason, explained anew when it is first asked."""

    def __init__(self, world: World, rows: Rows | None, clock: Clock) -> None:
        """That takes a quarter of what is left of the time."""
        self._world, self._rows, self._clock = world, rows, clock
        self._found: dict[str, Share] | None = None

    def check(self, feature: str, said: Share) -> None:
        """Raise Wrong if a share is another one."""
        self._world.place(feature)
        table = needed(self._rows)
        if self._found is None:
            self._found = self._counted(table, self._clock.share(1 / 4))
        right, decided = self._found[feature], int(table.is_decided.sum())
        if said.of > decided or said.rows > said.of:
            raise Wrong(f"{decided:,} rows have a decision, not {said.of:,}")
        if right.of != said.of:
            raise NotChecked("time ran out" if right.of < said.of else f"only {said.of:,} rows were looked at")
        expect(said.rows, right.rows, f"have {feature} in a shortest reason")

    def _counted(self, rows: Rows, clock: Clock) -> dict[str, Share]:
        from quia.auditing.reasons import in_shortest
        from quia.auditing.rows import read_rows
        from quia.auditing.table import Table

        batches = rows.table.to_batches()
        starts = np.cumsum([1, *(batch.num_rows for batch in batches)]).tolist()
        table = Table(tuple(rows.table.schema.names), lambda: zip(starts, batches, strict=False))
        every = read_rows(table, self._world.terms, [])
        found = in_shortest(every, self._world.terms, clock)
        names = [variable.name for variable in self._world.terms.variables]
        return {name: found.share(v, every) for v, name in enumerate(names)}


def depends_claim(
    place: str, says: str, proof: Proof, features: Collection[str], world: World, *, known: bool = False
) -> Claim:
    """Whether decisions depend on some features: a pair of instances shows it, or a proof that there is none.

    If these are to be `known`, no value of them is missing in either.
    """

    def check(clock: Clock) -> None:
        places = [world.place(feature) for feature in features] if known else []
        asked = replace(world, terms=with_known(world.terms, places))
        for values in () if proof.pair is None else (proof.pair.one, proof.pair.other):
            states = dict(zip(world.index, world.asked.encode(values), strict=True)) if places else {}
            if lacking := [n for n, s in states.items() if n in features and not asked.has(n, s)]:
                raise Wrong(f"{lacking[0]} is missing in one of the two")
        _check_proof(proof, world if proof.pair is not None else asked, features, lambda a, b: a != b, None, clock)
        if proof.pair is not None and proof.pair.decisions[0] == proof.pair.decisions[1]:
            raise Wrong(f"both are decided {proof.pair.decisions[0]!r}")

    return Claim(place, says, check, hard=proof.pair is None)


def _check_proof(
    proof: Proof,
    world: World,
    features: Collection[str],
    is_asked: Callable[[int, int], bool],
    order: Sequence[int] | None,
    clock: Clock,
) -> None:
    changing = [world.place(feature) for feature in features]
    if proof.pair is not None:
        if not proof.can:
            raise Wrong("a pair of instances is given for what is said not to be")
        world.check_pair(proof.pair, features)
        return
    found = find_pair(world, changing, is_asked, order, clock)
    if (found is None) == bool(proof.can):
        raise Wrong("there is no such pair of instances" if found is None else _told(world, found))


def _told(world: World, found: Found) -> str:
    one, other = found
    decided = [world.asked.classes[world.asked.decide(states)] for states in found]
    return f"{world.told(one)} is decided {decided[0]!r}, and {world.told(other)} {decided[1]!r}"


# ---- raising ----------------------------------------------------------------------------------------------------


def ranks(classes: Sequence[str], favourable: Sequence[str]) -> list[int]:
    """The rank of each class, the higher the better: those not named are worst, and if none is, the last is best."""
    best_first = list(favourable) or list(classes[-1:])
    return [len(best_first) - best_first.index(name) if name in best_first else 0 for name in classes]


def monotonicity_claims(said: Monotonicity, world: World, settings: Settings) -> Iterator[Claim]:
    """What is said of raising features."""
    rank = ranks(world.terms.classes, settings.favourable)

    def check_order(_: Clock) -> None:
        levels = sorted(set(rank))
        right = [{name for name, r in zip(world.terms.classes, rank, strict=True) if r == level} for level in levels]
        if [set(each) for each in said.order] != right or sum(map(len, said.order)) != len(rank):
            raise Wrong(f"from the worst to the best they are {listed(' or '.join(sorted(each)) for each in right)}")
        expect(said.is_assumed, not settings.favourable)

    told = listed(" or ".join(each) for each in said.order)
    yield Claim("monotonicity.order", f"the classes from the worst to the best are {told}", check_order)
    for at, each in enumerate(said.features):
        yield from _monotone_claims(f"monotonicity.features[{at}]", each, world, settings, rank)


def _monotone_claims(
    place: str, said: Monotone, world: World, settings: Settings, rank: Sequence[int]
) -> Iterator[Claim]:
    def order() -> Sequence[int]:
        feature = world.place(said.feature)
        variable, possible = world.terms.variables[feature], world.terms.worlds.possible.states(feature)
        if said.order is None:
            if not variable.is_numeric:
                raise Wrong(f"the states of {said.feature} have no order")
            return rising(variable, possible)
        states = [variable.state_called(name) for name in said.order]
        if None in states or len(set(states)) < len(states):
            raise Wrong(f"{listed(said.order)} are not each one state of {said.feature}")
        return [s for s in states if s is not None and any(low <= s <= high for low, high in possible)]

    def claim(name: str, proof: Proof, worse: bool) -> Iterator[Claim]:
        if proof.can is None:
            return

        def is_asked(a: int, b: int) -> bool:
            return rank[a] > rank[b] if worse else rank[a] < rank[b]

        def check(clock: Clock) -> None:
            asked = (settings.orders or {}).get(said.feature)
            if said.order != asked:
                raise Wrong(f"the order that was asked for is {shown(asked)}")
            if proof.pair is None:
                feature = world.place(said.feature)
                states = None if world.terms.variables[feature].is_line else order()
                if not proof.can and never_turns(world, feature, is_asked, states):
                    return
                _check_proof(proof, world, [said.feature], is_asked, order(), clock)
                return
            _check_proof(proof, world, [said.feature], is_asked, None, clock)
            one, other = (_place(world, said, values) for values in (proof.pair.one, proof.pair.other))
            if not one < other:
                raise Wrong(f"{said.feature} does not rise from the first instance to the second")
            decided = [world.class_index(label) for label in proof.pair.decisions]
            if not is_asked(*decided):
                raise Wrong(f"the decision does not get {'worse' if worse else 'better'}")

        can, way = "can" if proof.can else "can never", "worse" if worse else "better"
        yield Claim(
            f"{place}.{name}", f"raising {said.feature} {can} make a decision {way}", check, hard=proof.pair is None
        )

    yield from claim("hurts", said.hurts, worse=True)
    yield from claim("helps", said.helps, worse=False)


def _place(world: World, said: Monotone, values: Any) -> float:
    """Where an instance's value stands in the order of a feature."""
    variable = world.variables[said.feature]
    if said.order is None:
        number = variable.as_number(values.get(said.feature))
        if number != number or not variable.is_numeric:
            raise Wrong(f"{said.feature} is no number in the pair")
        return number
    name = variable.text(variable.encode(values.get(said.feature)))
    if name not in said.order:
        raise Wrong(f"{said.feature} is {shown(name)} in the pair, which is not in its order")
    return said.order.index(name)
