"""Reasons among possible worlds by brute force: every world is tried, every set of features, every box.

It imports nothing of quia. Features are cut at all places where the model, a constraint or a bound cuts them; what lies
between two neighbouring cuts is one cell, and a world is a cell for each feature. All numbers of a cell are decided
alike and are as possible as each other, so its least and its greatest number stand for it.

Glossary
    cell      a nominal value, the numbers between two cuts, or None, which is missing; by its place, from 0 on
    world     a cell for each feature
    given     formulas that hold in every possible world
    bounds    for single features, what they can be; `within` for every instance, the others beside the instance's value
    keeps     the classes that leave the decision as it is
    known     the features that the instance has a cell of; the others may be anything that is possible
    refuting  possible worlds, in which what is frozen stays, whose class does not keep the decision
    box       for each of some features a set of cells
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from math import inf, nextafter
from typing import Any

import numpy as np

import oracle
from additive_oracle import next_number
from oracle import Cut, Reason

Values = Mapping[str, Any]
Cells = tuple[int, ...]
Box = tuple[tuple[str, Cells], ...]
Change = tuple[Box, str, bool]
"""What changes, the class that results, and whether it does so whatever the unknown features are."""


# ---- what is said of features -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """What is possible, as a predicate and as the text that people write for it.

    `sign` is `in` for an atom: its `feature` is one of the `states`, or between two cuts, or missing. Otherwise it
    joins the `parts`: `!`, `&`, `|`, `->` or `<->`.
    """

    sign: str
    parts: tuple[Formula, ...] = ()
    feature: str = ""
    states: tuple[str, ...] = ()
    between: tuple[Cut | None, Cut | None] | None = None
    missing: bool = False
    written: str = ""

    def holds(self, values: Values) -> bool:
        """Whether it is true of raw values; a missing number is in no interval."""
        if self.sign == "in":
            return self.admits(values[self.feature])
        told = [part.holds(values) for part in self.parts]
        if self.sign == "!":
            return not told[0]
        if self.sign == "->":
            return told[1] or not told[0]
        if self.sign == "<->":
            return told[0] == told[1]
        return all(told) if self.sign == "&" else any(told)

    def admits(self, value: Any) -> bool:
        """Whether an atom is true of a value of its feature."""
        if value is None:
            return self.missing
        if self.between is None:
            return value in self.states
        low, high = self.between
        return (low is None or low <= (value, False)) and (high is None or (value, False) < high)

    @property
    def atoms(self) -> Iterator[Formula]:
        """The atoms in it."""
        if self.sign == "in":
            yield self
        for part in self.parts:
            yield from part.atoms

    @property
    def features(self) -> set[str]:
        """What it speaks of."""
        return {atom.feature for atom in self.atoms}

    def cuts(self, feature: str) -> set[Cut]:
        """Where it cuts a number."""
        ends = (atom.between for atom in self.atoms if atom.feature == feature and atom.between is not None)
        return {cut for pair in ends for cut in pair if cut is not None}

    @property
    def text(self) -> str:
        """It as people write it, every part that is joined in brackets."""
        if self.sign == "in":
            return self.written
        if self.sign == "!":
            return f"!({self.parts[0].text})"
        return f" {self.sign} ".join(part.text if part.sign in ("in", "!") else f"({part.text})" for part in self.parts)


@dataclass(frozen=True)
class Feature:
    """A feature: nominal with `labels`, or numeric with the model's cuts; a line lies between `low` and `high`."""

    name: str
    labels: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    missing: bool = False
    low: float = -inf
    high: float = inf
    is_line: bool = False

    @property
    def is_numeric(self) -> bool:
        return not self.labels

    def cells(self, more: Collection[Cut] = ()) -> list[tuple[Any, Any]]:
        """The first and the last value of each cell, if there are more cuts than the model's."""
        if self.labels:
            return [(label, label) for label in self.labels]
        found, first = [], self.low
        for t, after in sorted({*self.cuts, *more}):
            last = t if after else self._beside(t, -1)
            if first <= last < self.high and not (t == -inf and not after):
                found.append((first, last))
                first = self._beside(last, 1)
        return [*found, (first, self.high), *([(None, None)] if self.missing else [])]

    def _beside(self, number: float, way: int) -> float:
        """The next number below or above; on a line those nearer to 0 than its least ones count as 0."""
        return way * next_number(way * number) if self.is_line else nextafter(number, way * inf)


def features_of(d: Mapping[str, Any]) -> tuple[Feature, ...]:
    """The features of a graph in the JSON format."""
    return tuple(
        Feature(x, tuple(about["states"]))
        if about["kind"] == "nominal"
        else Feature(x, (), tuple(oracle.cuts(d, x)), None in oracle.domain(d, x))
        for x, about in d["variables"].items()
    )


# ---- a question -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A model, an instance, and what is asked about it.

    `within` has for a feature the condition as it is passed, and the formula that says the same. `near` has how far a
    number may move, or a share of its range, as text. A feature whose value is None and that has no cell for missing
    values is unknown.
    """

    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    decide: Callable[[dict[str, Any]], str] = field(repr=False)
    instance: dict[str, Any]
    against: str | None = None
    frozen: tuple[str, ...] = ()
    within: Mapping[str, tuple[Any, Formula]] = field(default_factory=dict)
    only_up: tuple[str, ...] = ()
    only_down: tuple[str, ...] = ()
    near: Mapping[str, float | str] = field(default_factory=dict)
    given: tuple[Formula, ...] = ()
    costs: Mapping[str, float] | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """What it is in the words of `explain`: only what is asked at all."""
        every = {
            "against": self.against,
            "frozen": list(self.frozen),
            "within": {x: condition for x, (condition, _) in self.within.items()},
            "only_up": list(self.only_up),
            "only_down": list(self.only_down),
            "near": dict(self.near),
            "given": [formula.text for formula in self.given],
            "costs": self.costs,
        }
        return {name: value for name, value in every.items() if value}

    @property
    def worlds_asked(self) -> dict[str, Any]:
        """The same without costs, as `verify` is asked."""
        return {name: value for name, value in self.asked.items() if name != "costs"}

    def near_interval(self, feature: Feature) -> tuple[float, float]:
        """Between which numbers a feature must stay, as `near` has it."""
        how, own = self.near[feature.name], self.instance[feature.name]
        if isinstance(how, str):
            ends = (feature.low, feature.high) if feature.is_line else (feature.cuts[0][0], feature.cuts[-1][0])
            how = float(how.removesuffix("%")) / 100 * (ends[1] - ends[0])
        return own - how, own + how


class Worlds:
    """All worlds of a case, and the definitions."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.names = [feature.name for feature in case.features]
        self.at = {name: i for i, name in enumerate(self.names)}
        self.features = {feature.name: feature for feature in case.features}
        self.cells = {feature.name: feature.cells(self._cuts(feature)) for feature in case.features}
        self.sizes = tuple(len(cells) for cells in self.cells.values())
        self.own = {name: self.cell_of(name, value) for name, value in case.instance.items()}
        self.known = [name for name in self.names if self.own[name] is not None]

    def _cuts(self, feature: Feature) -> set[Cut]:
        formulas = [*self.case.given, *(formula for _, formula in self.case.within.values())]
        cuts = {cut for formula in formulas for cut in formula.cuts(feature.name)}
        if feature.name in self.case.near:
            low, high = self.case.near_interval(feature)
            cuts |= {(low, False), (high, True)}
        return cuts

    def cell_of(self, name: str, value: Any) -> int | None:
        """The cell that a value is in; None if it is not known."""
        number = oracle.number(value) if self.features[name].is_numeric else value
        for at, (first, last) in enumerate(self.cells[name]):
            if number == first or (number is not None and first is not None and first <= number <= last):
                return at
        return None

    # Worlds as arrays

    @cached_property
    def points(self) -> np.ndarray:
        """All worlds, a row for each."""
        return np.indices(self.sizes).reshape(len(self.sizes), -1).T.copy()

    def values(self, world: Sequence[int], *, last: bool = False) -> dict[str, Any]:
        """Raw values in the cells of a world: the least of each, or the greatest."""
        return {name: self.cells[name][cell][last] for name, cell in zip(self.names, world, strict=True)}

    @cached_property
    def labels(self) -> np.ndarray:
        """The class of each world, as its index."""
        model = {name: [*map(self._in_model(name), (first for first, _ in self.cells[name]))] for name in self.names}
        known: dict[tuple[int, ...], int] = {}
        found = []
        for world in self.points.tolist():
            coarse = tuple(model[name][cell] for name, cell in zip(self.names, world, strict=True))
            if coarse not in known:
                known[coarse] = self.case.classes.index(self.case.decide(self.values(world)))
            found.append(known[coarse])
        return np.array(found)

    def _in_model(self, name: str) -> Callable[[Any], int]:
        """The cell of the model, without what the question cuts, that a value is in."""
        cells = self.features[name].cells()

        def place(value: Any) -> int:
            return next(
                at
                for at, (first, last) in enumerate(cells)
                if value == first or (value is not None and first is not None and first <= value <= last)
            )

        return place

    @cached_property
    def is_given(self) -> np.ndarray:
        """In which worlds all constraints hold."""
        return np.array([self._meets(world) for world in self.points.tolist()], bool)

    def _meets(self, world: Sequence[int]) -> bool:
        both = [
            all(formula.holds(self.values(world, last=last)) for formula in self.case.given) for last in (False, True)
        ]
        assert both[0] == both[1], "a cell is cut by a constraint"
        return both[0]

    @cached_property
    def is_possible_at_all(self) -> np.ndarray:
        """In which worlds all constraints hold, and all that is `within`."""
        found = self.is_given.copy()
        for name, (_, formula) in self.case.within.items():
            admitted = [cell for cell, (first, _) in enumerate(self.cells[name]) if formula.holds({name: first})]
            found &= np.isin(self.points[:, self.at[name]], admitted)
        return found

    def bounds(self, name: str) -> Cells:
        """The cells that a feature may be in, beside the instance's own: those of numbers alone where it is bounded."""
        cells = self.cells[name]
        own, every = self.own[name], range(len(cells))
        numbers = [at for at in every if cells[at][0] is not None]
        found = list(every)
        if own is not None and name in self.case.only_up:
            found = [at for at in numbers if at >= own]
        if own is not None and name in self.case.only_down:
            found = [at for at in found if at in numbers and at <= own]
        if own is not None and name in self.case.near:
            low, high = self.case.near_interval(self.features[name])
            found = [at for at in found if at in numbers and low <= cells[at][0] <= high]
        return tuple(found)

    @cached_property
    def is_possible(self) -> np.ndarray:
        """Which worlds are possible, whether or not what is frozen stays."""
        found = self.is_possible_at_all.copy()
        for name in self.names:
            found &= np.isin(self.points[:, self.at[name]], self.bounds(name))
        return found

    def agrees(self, names: Collection[str]) -> np.ndarray:
        """Which worlds agree with the instance on some features, as far as it is known."""
        found = np.ones(len(self.points), bool)
        for name in names:
            if self.own[name] is not None:
                found &= self.points[:, self.at[name]] == self.own[name]
        return found

    # The decision

    @property
    def possible_classes(self) -> set[str]:
        """The classes that the instance may have; none if it is impossible."""
        mask = self.is_possible & self.agrees(self.names)
        return {self.case.classes[c] for c in np.unique(self.labels[mask])}

    @property
    def classes_of_completions(self) -> set[str]:
        """The classes that the instance could have if everything were possible."""
        return {self.case.classes[c] for c in np.unique(self.labels[self.agrees(self.names)])}

    @cached_property
    def decision(self) -> str:
        """The class of the instance."""
        (found,) = self.possible_classes
        return found

    @cached_property
    def keeps(self) -> set[str]:
        """The classes that leave the decision as it is."""
        against = self.case.against
        return {self.decision} if against is None else set(self.case.classes) - {against}

    @cached_property
    def changes_it(self) -> np.ndarray:
        """Which worlds are possible and do not keep the decision, whether or not what is frozen stays."""
        kept = [self.case.classes.index(c) for c in self.keeps]
        return self.is_possible & ~np.isin(self.labels, kept)

    @cached_property
    def refuting(self) -> np.ndarray:
        """Which possible worlds, in which what is frozen stays, do not keep the decision."""
        return self.changes_it & self.agrees(self.case.frozen)

    def changed(self, mask: np.ndarray) -> set[Reason]:
        """The known features that each of some worlds changes."""
        known = [self.at[name] for name in self.known]
        own = np.array([self.own[name] for name in self.known], int)
        rows = np.unique(self.points[mask][:, known] != own, axis=0) if mask.any() else np.zeros((0, len(known)), bool)
        return {frozenset(self.known[i] for i in np.flatnonzero(row)) for row in rows}

    # Reasons

    @cached_property
    def minimal_changes(self) -> set[Reason]:
        """The necessary reasons: least sets of features of which some possible change changes the decision."""
        return oracle.minimal(self.changed(self.refuting))

    @cached_property
    def sufficient(self) -> set[Reason]:
        """Least sets of features such that every possible world that agrees on them keeps the decision."""
        free = [name for name in self.known if name not in self.case.frozen]
        return oracle.minimal(s for s in oracle.subsets(free) if not (self.refuting & self.agrees(s)).any())

    @cached_property
    def necessary(self) -> set[Reason]:
        """Least sets of features such that some possible world that differs in no other does not keep the decision."""
        free = [name for name in self.known if name not in self.case.frozen]
        others = {s: [name for name in self.known if name not in s] for s in oracle.subsets(free)}
        return oracle.minimal(s for s, kept in others.items() if (self.refuting & self.agrees(kept)).any())

    def cover(self, names: Collection[str]) -> np.ndarray:
        """The possible worlds that a sufficient reason speaks of."""
        return self.is_possible & self.agrees(self.case.frozen) & self.agrees(names)

    @cached_property
    def superfluous(self) -> set[Reason]:
        """The sufficient reasons whose cover lies strictly inside another's."""
        covers = {reason: self.cover(reason) for reason in self.sufficient}
        return {
            reason
            for reason, mine in covers.items()
            if any((mine <= theirs).all() and (mine != theirs).any() for theirs in covers.values())
        }

    # Boxes

    def reachable(self, name: str) -> Cells:
        """The cells that a feature has in some possible world."""
        return tuple(np.unique(self.points[self.is_possible, self.at[name]]).tolist())

    def sets(self, name: str, cells: Sequence[int], intervals: bool, reaching: bool) -> Iterator[Cells]:
        """Every set of some cells that may be said of a feature: for intervals, no number lies between.

        Of sets that are `reaching` over what is impossible, no possible number does.
        """
        place = {at: rank for rank, at in enumerate(self.reachable(name) if reaching else range(len(self.cells[name])))}
        for size in range(1, len(cells) + 1):
            for chosen in combinations(cells, size):
                numbers = [place[at] for at in chosen if self.cells[name][at][0] is not None]
                is_interval = not numbers or numbers[-1] - numbers[0] == len(numbers) - 1
                if is_interval or not self.must_be_interval(name, intervals):
                    yield chosen

    def must_be_interval(self, name: str, intervals: bool) -> bool:
        """Whether sets of a feature's numbers must be intervals: those of a line always."""
        return self.features[name].is_numeric and (intervals or self.features[name].is_line)

    def maximal_boxes(self, names: Sequence[str], good: np.ndarray, holds_own: bool, intervals: bool) -> list[Box]:
        """The largest boxes all of whose points are good; `good` has an axis for each feature."""
        if not names:
            return [()] if good.all() else []
        pools = []
        for axis, name in enumerate(names):
            others = tuple(i for i in range(len(names)) if i != axis)
            some = np.flatnonzero(good.any(axis=others)).tolist()
            sets = self.sets(name, some, intervals, holds_own)
            pools.append([s for s in sets if self.own[name] in s] if holds_own else list(sets))
        found: list[tuple[Cells, ...]] = []
        for chosen in product(*pools[:-1]):
            inner = good
            for cells in chosen:
                inner = inner[list(cells)].all(axis=0)
            fitting = [s for s in pools[-1] if inner[list(s)].all()]
            found += [(*chosen, s) for s in fitting if not any(set(s) < set(t) for t in fitting)]
        widest = sorted(found, key=lambda box: -int(np.prod([len(s) for s in box])))
        kept: list[tuple[Cells, ...]] = []
        for box in widest:
            if not any(all(set(a) <= set(b) for a, b in zip(box, other, strict=True)) for other in kept):
                kept.append(box)
        if not holds_own:
            return [tuple(zip(names, box, strict=True)) for box in kept]
        return [tuple((name, self.filled(name, cells)) for name, cells in zip(names, box, strict=True)) for box in kept]

    def filled(self, name: str, cells: Cells) -> Cells:
        """Cells, with those that are not possible between two of them and no other possible number between."""
        if not self.features[name].is_numeric:
            return cells
        numbers = [at for at in self.reachable(name) if self.cells[name][at][0] is not None]
        between = [range(a, b) for a, b in pairwise(numbers) if a in cells and b in cells]
        return tuple(sorted({*cells, *(at for each in between for at in each)}))

    def projected(self, mask: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Which cells of some features a set of worlds has, an axis for each."""
        found = np.zeros([len(self.cells[name]) for name in names], bool)
        found[tuple(self.points[mask][:, [self.at[name] for name in names]].T)] = bool(mask.any())
        return found

    def sufficient_boxes(self, reason: Collection[str], *, intervals: bool = True) -> list[Box]:
        """The largest boxes around the instance, of cells that are possible at all, that force the decision."""
        names = [name for name in self.names if name in reason]
        good = ~self.projected(self.refuting, names)
        for axis, name in enumerate(names):
            allowed = np.isin(np.arange(len(self.cells[name])), self.reachable(name))
            good &= allowed.reshape([-1 if i == axis else 1 for i in range(len(names))])
        return self.maximal_boxes(names, good, True, intervals)

    def changing(self, reason: Collection[str], mask: np.ndarray) -> np.ndarray:
        """Which new cells of some features, all else kept, worlds of a set have, all of them other than the old."""
        names = [name for name in self.names if name in reason]
        mask = mask & self.agrees([name for name in self.known if name not in reason])
        for name in names:
            mask &= self.points[:, self.at[name]] != self.own[name]
        return self.projected(mask, names)

    def necessary_boxes(self, reason: Collection[str], *, intervals: bool = True) -> list[Box]:
        """The largest boxes of changes in which every point is possible and, for some unknowns, changes it."""
        names = [name for name in self.names if name in reason]
        return self.maximal_boxes(names, self.changing(names, self.refuting), False, intervals)

    def boxes(self, kind: str, *, intervals: bool = True, shortest: bool = False) -> dict[Reason, list[Box]]:
        """All general reasons of a kind, of a necessary one its changes, by their features."""
        reasons = self.sufficient if kind == "sufficient" else self.necessary
        find = self.sufficient_boxes if kind == "sufficient" else self.necessary_boxes
        chosen = oracle.shortest(reasons, self.case.costs) if shortest else reasons
        return {reason: find(reason, intervals=intervals) for reason in chosen}

    def inside(self, box: Box) -> np.ndarray:
        """Which worlds are in a box."""
        found = np.ones(len(self.points), bool)
        for name, cells in box:
            found &= np.isin(self.points[:, self.at[name]], cells)
        return found

    def box_forces(self, box: Box) -> bool:
        """Whether every possible world in a box keeps the decision."""
        return not (self.refuting & self.inside(box)).any()

    # Counterfactuals

    def counterfactuals(self, *, missing: bool = False) -> set[Change]:
        """The regions of changes of the shortest necessary reasons, in each of which every point has one class.

        That a value goes missing is no advice unless asked for; where that leaves none, the same of the worlds in which
        no value does.
        """
        found = self._regions(self.refuting, missing)
        if found or missing:
            return found
        return self._regions(self.refuting & ~self.loses_a_value, missing)

    @cached_property
    def loses_a_value(self) -> np.ndarray:
        """In which worlds a number that the instance has is missing."""
        found = np.zeros(len(self.points), bool)
        for name in self.known:
            last = len(self.cells[name]) - 1
            if self.features[name].missing and self.own[name] != last:
                found |= self.points[:, self.at[name]] == last
        return found

    def _regions(self, refuting: np.ndarray, missing: bool) -> set[Change]:
        found: set[Change] = set()
        for reason in oracle.shortest(oracle.minimal(self.changed(refuting)), self.case.costs):
            names = [name for name in self.names if name in reason]
            advice = self.is_possible & self.agrees(self.case.frozen) & (True if missing else ~self.loses_a_value)
            for c in set(self.case.classes) - self.keeps:
                has_c = self.labels == self.case.classes.index(c)
                perhaps = self.changing(names, advice & has_c)
                sure = perhaps & ~self.changing(names, advice & ~has_c)
                certain = self.maximal_boxes(names, sure, False, True)
                found |= {(box, c, True) for box in certain}
                for box in self.maximal_boxes(names, perhaps, False, True):
                    possible = (set(cells).intersection(self.reachable(name)) for name, cells in box)
                    if not sure[np.ix_(*map(sorted, possible))].all():
                        found.add((box, c, False))
        return found

    # What else is asked

    def holds_without(self, features: Collection[str]) -> bool:
        """Whether every possible world that differs in these features alone, frozen or not, keeps the decision."""
        return not (self.changes_it & self.agrees([name for name in self.names if name not in features])).any()

    def is_vacuous(self, protected: Collection[str]) -> bool:
        """Whether no possible world differs from the instance in protected features alone."""
        alike = self.is_possible & self.agrees([name for name in self.names if name not in protected])
        return not (alike & ~self.agrees(protected)).any()

    def is_classifier_biased(self, protected: Collection[str]) -> bool:
        """Whether two possible worlds that differ in protected features alone have different classes."""
        rest = [i for i, name in enumerate(self.names) if name not in protected]
        seen: dict[tuple[int, ...], set[int]] = {}
        for world, label in zip(
            self.points[self.is_possible_at_all][:, rest].tolist(), self.labels[self.is_possible_at_all], strict=True
        ):
            seen.setdefault(tuple(world), set()).add(int(label))
        return any(len(found) > 1 for found in seen.values())

    def shared(self, other: Values) -> list[str]:
        """The features of which another instance has the same cell."""
        return [name for name in self.known if self.cell_of(name, other[name]) == self.own[name]]

    def is_congruent(self, other: Values) -> bool:
        """Whether what two instances share forces the decision, whatever is frozen."""
        return not (self.changes_it & self.agrees(self.shared(other))).any()

    def hull(self, other: Values) -> Box:
        """The smallest box with both instances in it: of numbers, all between."""
        box = []
        for name in self.known:
            own, theirs = self.own[name], self.cell_of(name, other[name])
            assert own is not None
            if theirs is not None:
                ends = sorted((own, theirs))
                is_range = self.features[name].is_numeric and self.cells[name][ends[1]][0] is not None
                box.append((name, tuple(range(ends[0], ends[1] + 1)) if is_range else tuple(sorted({*ends}))))
        return tuple(box)

    def has_common_reason(self, other: Values) -> bool:
        """Whether the smallest box with both instances in it forces the decision, whatever is frozen."""
        return not (self.changes_it & self.inside(self.hull(other))).any()

    def merged(self) -> Worlds:
        """The same worlds; cells that neither the model nor what is possible tells apart are cut no more."""
        alike = Worlds(self.case)
        for name in self.names:
            if not self.features[name].is_numeric:
                continue
            cells, axis = self.cells[name], self.at[name]
            told = (np.where(self.is_possible, self.labels, -1) * 2 + self.is_given).reshape(self.sizes)
            model = self._in_model(name)
            joined: list[tuple[Any, Any]] = []
            for at, (first, last) in enumerate(cells):
                same = (
                    at
                    and first is not None
                    and model(first) == model(cells[at - 1][0])
                    and (told.take(at, axis) == told.take(at - 1, axis)).all()
                )
                if same:
                    joined[-1] = (joined[-1][0], last)
                else:
                    joined.append((first, last))
            alike.cells[name] = joined
        alike.sizes = tuple(len(cells) for cells in alike.cells.values())
        alike.own = {name: alike.cell_of(name, value) for name, value in self.case.instance.items()}
        return alike


def atom(feature: Feature, condition: str | Iterable[str], written: str = "") -> Formula:
    """What a condition says of a feature: states of a nominal one; `<= 3`, `(1, 2]` or `missing` of a numeric one."""
    if feature.labels:
        return Formula("in", feature=feature.name, states=tuple(condition), written=written)
    assert isinstance(condition, str)
    if condition == oracle.MISSING:
        return Formula("in", feature=feature.name, between=((inf, True), None), missing=True, written=written)
    low, high = oracle.interval(condition)
    ends = (None if low == oracle.LEAST else low, None if high == oracle.GREATEST else high)
    return Formula("in", feature=feature.name, between=ends, written=written)


def asking(case: Case, **changes: Any) -> Worlds:
    """The worlds of the same case with something else asked."""
    return Worlds(replace(case, **changes))
