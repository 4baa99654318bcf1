"""General reasons by brute force, on the JSON format itself (DESIGN §4; Ji & Darwiche 2023, arXiv 2304.14760).

Like `oracle.py`, on which it stands, this module imports nothing of quia and tries everything: all worlds, all sets of
states, all boxes. Keep graphs tiny.

Glossary
    states    indices of a feature's states in the order of `oracle.domain`: nominal ones as written, numbers from the
              least to the greatest, missing last
    box       for some features, in the variables' order, the states that each may be in; anything of the others
    point     one state for each of some features
    keeps     the classes that leave a decision as it is
    intervals whether the numbers in a numeric feature's set must be neighbours; missing may join them or stand alone
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from math import prod
from typing import Any

import oracle
from oracle import Costs, Graph, Instance, Reason, World

States = tuple[int, ...]
Box = tuple[tuple[str, States], ...]
Point = tuple[int, ...]
Rows = Sequence[Instance]
Region = tuple[Box, str, bool]
"""What changes, the class that results, and whether it does so whatever the unknown features are."""


# Sets of states


def own_state(d: Graph, instance: Instance, feature: str) -> int:
    """The index of the state that an instance's value is in."""
    return oracle.space(d)[feature].index(oracle.state(d, feature, instance[feature]))


def number_count(d: Graph, feature: str) -> int:
    """How many states of a numeric feature are numbers."""
    return sum(state is not None for state in oracle.space(d)[feature])


def is_numeric(d: Graph, feature: str) -> bool:
    """Whether the feature's values are numbers."""
    return bool(d["variables"][feature]["kind"] == "numeric")


def is_interval(d: Graph, feature: str, states: Collection[int]) -> bool:
    """Whether the numbers among these states are neighbours; missing beside them does not matter."""
    numbers = sorted(s for s in states if s < number_count(d, feature))
    return not numbers or numbers == list(range(numbers[0], numbers[-1] + 1))


def sets_of_states(d: Graph, feature: str, intervals: bool) -> list[States]:
    """Every set of states that may be said of a feature."""
    size = len(oracle.space(d)[feature])
    every = chain.from_iterable(combinations(range(size), count) for count in range(1, size + 1))
    if intervals and is_numeric(d, feature):
        return [states for states in every if is_interval(d, feature, states)]
    return list(every)


# Boxes


def in_order_of_variables(d: Graph, features: Collection[str]) -> list[str]:
    """Features as the graph lists them."""
    return [x for x in d["variables"] if x in features]


def indices(d: Graph, world: World) -> dict[str, int]:
    """The states of a world as indices."""
    return {x: oracle.space(d)[x].index(s) for x, s in zip(d["variables"], world, strict=True)}


def is_in(box: Box, point: Mapping[str, int]) -> bool:
    """Whether a point is in a box."""
    return all(point[x] in states for x, states in box)


def points(box: Box) -> Iterator[Point]:
    """Every point of a box."""
    return product(*(states for _, states in box))


def contains(box: Box, other: Box) -> bool:
    """Whether a box of the same features is all in another."""
    return all(set(mine) >= set(theirs) for (_, mine), (_, theirs) in zip(box, other, strict=True))


def width(box: Box) -> int:
    """How many points a box has."""
    return prod(len(states) for _, states in box)


def maximal(boxes: Iterable[Box]) -> list[Box]:
    """The boxes that are in no other, the widest first, equals by their states."""
    found: list[Box] = []
    for box in sorted(boxes, key=widest_first):
        if not any(contains(wider, box) for wider in found):
            found.append(box)
    return found


def widest_first(box: Box) -> tuple[Any, ...]:
    """What boxes over the same features are ordered by."""
    return -width(box), [states for _, states in box]


def boxes(d: Graph, features: Collection[str], admits: Callable[[str, States], bool], intervals: bool) -> Iterator[Box]:
    """Every box over features whose sets of states are admitted."""
    names = in_order_of_variables(d, features)
    pools = [[states for states in sets_of_states(d, x, intervals) if admits(x, states)] for x in names]
    return (tuple(zip(names, chosen, strict=True)) for chosen in product(*pools))


# General reasons


def general_reason(
    d: Graph, instance: Instance, against: str | None = None, frozen: Collection[str] = ()
) -> set[World]:
    """The worlds that keep the decision with the instance's values of any set of features put in.

    Whatever the unknown features are: it says nothing of these.
    """
    given, refuting = oracle.known(d, instance), oracle.refutations(d, instance, against, frozen)
    # What stays of a refuting world if nothing is said of what is unknown.
    refuting_known = {tuple(new for x, new in zip(d["variables"], w, strict=True) if x in given) for w in refuting}

    def is_kept(w: World) -> bool:
        own = {x: state for x, state in zip(d["variables"], w, strict=True) if x in given}
        return all(
            tuple(given[x] if x in s else state for x, state in own.items()) not in refuting_known
            for s in oracle.subsets(given)
        )

    return set(filter(is_kept, oracle.worlds(d)))


def sufficient_boxes(
    d: Graph,
    instance: Instance,
    features: Collection[str],
    against: str | None = None,
    frozen: Collection[str] = (),
    *,
    intervals: bool = True,
) -> list[Box]:
    """The maximal boxes over features, with the instance in them, that force the decision whatever the rest."""
    names = in_order_of_variables(d, features)
    own = {x: own_state(d, instance, x) for x in names}
    worlds = (indices(d, w) for w in oracle.refutations(d, instance, against, frozen))
    refuting = [dict(zip(names, p, strict=True)) for p in sorted({tuple(w[x] for x in names) for w in worlds})]

    def forces(box: Box) -> bool:
        return not any(is_in(box, point) for point in refuting)

    return maximal(filter(forces, boxes(d, names, lambda x, states: own[x] in states, intervals)))


def changing_points(
    d: Graph, instance: Instance, features: Collection[str], against: str | None = None, frozen: Collection[str] = ()
) -> set[Point]:
    """New states of these features, all else kept, that change the decision, for some values of what is unknown."""
    names = in_order_of_variables(d, features)
    worlds = oracle.refutations(d, instance, against, frozen).items()
    changed = [indices(d, w) for w, change in worlds if change == frozenset(features)]
    return {tuple(w[x] for x in names) for w in changed}


def necessary_boxes(
    d: Graph,
    instance: Instance,
    features: Collection[str],
    against: str | None = None,
    frozen: Collection[str] = (),
    *,
    intervals: bool = True,
) -> list[Box]:
    """The maximal boxes of changes of features in which every point, all else kept, changes the decision."""
    changing = changing_points(d, instance, features, against, frozen)
    return boxes_of_points(d, instance, features, changing, intervals)


def boxes_of_points(
    d: Graph, instance: Instance, features: Collection[str], good: Collection[Point], intervals: bool
) -> list[Box]:
    """The maximal boxes of changes of features of which every point is good."""
    own = {x: own_state(d, instance, x) for x in features}
    every = boxes(d, features, lambda x, states: own[x] not in states, intervals)
    return maximal(box for box in every if all(point in good for point in points(box)))


def negated(d: Graph, box: Box) -> Box:
    """The states that a box leaves out, feature by feature: what gives way to a change."""
    return tuple((x, tuple(s for s in range(len(oracle.space(d)[x])) if s not in states)) for x, states in box)


def in_order(d: Graph, reasons: Iterable[Reason], costs: Costs | None = None) -> list[Reason]:
    """Sets of features as they are listed: by cost, by length, by the order of the variables."""
    place = {x: at for at, x in enumerate(d["variables"])}
    return sorted(reasons, key=lambda r: (oracle.cost(r, costs), len(r), sorted(place[x] for x in r)))


def general_reasons(
    kind: str,
    d: Graph,
    instance: Instance,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Costs | None = None,
    *,
    intervals: bool = True,
    shortest: bool = False,
    rows: Rows | None = None,
) -> list[Box]:
    """All general reasons of a kind, of a necessary one its changes, in the order in which they are listed.

    For each reason's set of features in its turn: the widest box first; with rows, the one that most of them fit.
    """
    found = {"sufficient": oracle.sufficient_reasons, "necessary": oracle.necessary_reasons}[kind]
    find = {"sufficient": sufficient_boxes, "necessary": necessary_boxes}[kind]
    reasons = found(d, instance, against, frozen)
    listed: list[Box] = []
    for features in in_order(d, oracle.shortest(reasons, costs) if shortest else reasons, costs):
        of_these = find(d, instance, features, against, frozen, intervals=intervals)
        if rows is not None:
            of_these.sort(key=lambda box: (-rows_in(d, box, rows), widest_first(box)))
        listed += of_these
    return listed


def rows_in(d: Graph, box: Box, rows: Rows) -> int:
    """How many rows are in a box; one that lacks a value of it is not."""
    return sum(all(x in row and own_state(d, row, x) in states for x, states in box) for row in rows)


# Counterfactuals


def counterfactual_regions(
    d: Graph,
    instance: Instance,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Costs | None = None,
    *,
    missing: bool = False,
) -> list[Region]:
    """The regions of changes of the shortest necessary reasons in which every point has one class, as they are listed.

    For each set of features and each class that does not keep the decision, the maximal boxes in intervals. What is
    certain first; then every set's first region before any one's second; then by how far the instance must move; then
    in the order of the sets and of the states. Where all of these would have a value go missing, which is no advice
    unless asked for, the same of the changes that leave none missing.
    """
    refuting = oracle.refutations(d, instance, against, frozen)
    found = _ranked_regions(d, instance, against, costs, refuting, missing)
    if found or missing:
        return found
    advisable = {w: change for w, change in refuting.items() if not becomes_missing(d, instance, w)}
    return _ranked_regions(d, instance, against, costs, advisable, missing)


def _ranked_regions(
    d: Graph,
    instance: Instance,
    against: str | None,
    costs: Costs | None,
    refuting: Mapping[World, Reason],
    missing: bool,
) -> list[Region]:
    """The regions of the shortest of what these worlds change, in order."""
    ranked = []
    shortest = oracle.shortest(oracle.minimal(refuting.values()), costs)
    for place, features in enumerate(in_order(d, shortest, costs)):
        regions = regions_of(d, instance, features, against, missing)
        for certain in (True, False):
            mine = [
                (moved(d, instance, box), [s for _, s in box], d["classes"].index(c), (box, c, certain))
                for box, c, sure in regions
                if sure == certain
            ]
            ranked += [(not certain, turn, region[0], place, region) for turn, region in enumerate(sorted(mine))]
    return [region for *_, (*_, region) in sorted(ranked)]


def becomes_missing(d: Graph, instance: Instance, world: World) -> bool:
    """Whether a number that an instance has is missing in a world."""
    given = oracle.known(d, instance)
    return any(
        is_numeric(d, x) and new is None and given.get(x) is not None
        for x, new in zip(d["variables"], world, strict=True)
    )


def regions_of(
    d: Graph, instance: Instance, features: Collection[str], against: str | None = None, missing: bool = False
) -> list[Region]:
    """The regions of changes of these features alone, for each class that results.

    Where features are unknown: those in which it certainly results, and those in which for some of their values.
    """
    keeps = classes_that_keep(d, instance, against)
    leads_to = {
        point: classes
        for point, classes in classes_of_points(d, instance, features).items()
        if missing or not has_missing(d, features, point)
    }
    found: list[Region] = []
    for c in d["classes"]:
        if c not in keeps:
            sure = {point for point, classes in leads_to.items() if classes == {c}}
            found += [(box, c, True) for box in boxes_of_points(d, instance, features, sure, intervals=True)]
            may_be = {point for point, classes in leads_to.items() if c in classes}
            wider = boxes_of_points(d, instance, features, may_be, intervals=True)
            found += [(box, c, False) for box in wider if not all(point in sure for point in points(box))]
    return found


def classes_that_keep(d: Graph, instance: Instance, against: str | None = None) -> set[str]:
    """The classes that leave the decision as it is."""
    decided = oracle.decision(d, instance)
    return {c for c in d["classes"] if (c == decided if against is None else c != against)}


def classes_of_points(d: Graph, instance: Instance, features: Collection[str]) -> dict[Point, set[str]]:
    """For new states of features, all different from the old ones, the classes that the instance then may have."""
    names = in_order_of_variables(d, features)
    states = oracle.space(d)
    own = {x: own_state(d, instance, x) for x in names}
    every = product(*([s for s in range(len(states[x])) if s != own[x]] for x in names))
    changed = {p: {**instance, **{x: states[x][s] for x, s in zip(names, p, strict=True)}} for p in every}
    return {p: {oracle.classify(d, whole) for whole in oracle.completions(d, new)} for p, new in changed.items()}


def has_missing(d: Graph, features: Collection[str], point: Point) -> bool:
    """Whether a numeric feature becomes missing."""
    names = in_order_of_variables(d, features)
    return any(is_numeric(d, x) and s >= number_count(d, x) for x, s in zip(names, point, strict=True))


def moved(d: Graph, instance: Instance, box: Box) -> Fraction:
    """How far an instance must move to be in a box: the shares of the states that each feature crosses, added up."""
    return sum((min(crossed(d, x, own_state(d, instance, x), s) for s in states) for x, states in box), Fraction())


def crossed(d: Graph, feature: str, old: int, new: int) -> Fraction:
    """The share of a feature's states between two: of the numbers; between others, all are neighbours."""
    numbers = number_count(d, feature)
    if is_numeric(d, feature) and max(old, new) < numbers:
        return Fraction(abs(old - new), numbers - 1)
    return Fraction(1, len(oracle.space(d)[feature]) - 1)


# Two instances


def smallest_box(d: Graph, one: Instance, other: Instance) -> Box:
    """The smallest box in intervals with two instances in it; a feature that one of them lacks may be anything."""
    box = []
    for x in d["variables"]:
        if x in one and x in other:
            ends = {own_state(d, one, x), own_state(d, other, x)}
            holding = [states for states in sets_of_states(d, x, intervals=True) if ends <= set(states)]
            box.append((x, min(holding, key=len)))
    return tuple(box)


def forces(d: Graph, box: Box, keeps: Collection[str]) -> bool:
    """Whether every world in a box has a class that keeps the decision."""
    return all(c in keeps for w, c in oracle.worlds(d).items() if is_in(box, indices(d, w)))


def is_sufficient_for(d: Graph, box: Box, instance: Instance, keeps: Collection[str]) -> bool:
    """Whether an instance is in a box that forces the decision, and none of its features can be dropped."""
    fewer = (tuple(literal for literal in box if literal[0] != x) for x, _ in box)
    return (
        all(own_state(d, instance, x) in states for x, states in box)
        and forces(d, box, keeps)
        and not any(forces(d, rest, keeps) for rest in fewer)
    )


def is_widest(d: Graph, box: Box, keeps: Collection[str], *, intervals: bool = True) -> bool:
    """Whether no box over the same features that forces the decision is wider than this one, which does."""

    def is_wider(x: str, states: States) -> bool:
        return set(states) >= set(dict(box)[x])

    names = [x for x, _ in box]
    return not any(forces(d, wider, keeps) for wider in boxes(d, names, is_wider, intervals) if wider != box)
