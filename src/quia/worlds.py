"""Possible worlds: what of a question's `within`, directions, neighbourhoods and constraints holds for which instance.

What is the same for all instances is worked out once and kept with the classifier: its states are cut where conditions
and constraints end, and what ties features to each other makes a constrained classifier of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from quia import conditions
from quia.arguments import feature_indices
from quia.caching import cached_property
from quia.classifier import Classifier, TakesRanges, offers
from quia.constrained import Constrained, constrained
from quia.constraint import POSSIBLE
from quia.cuts import Cut, Interval, number_text
from quia.errors import GraphError, InstanceError, MissingValue, brief, did_you_mean, shown
from quia.given import Given, compiled, constraints_of, contradiction
from quia.look import few, tagged
from quia.pickling import ByFields
from quia.question import given_values
from quia.ranges import Ranges, covers
from quia.refine import cut_at, fine_ranges, refined
from quia.region import Region
from quia.variables import UNKNOWN, Variable, tested_values

_KEPT = 8  # how many worlds are kept with a classifier


@dataclass(frozen=True)
class Worlds(ByFields):
    """The worlds that count: which classifier answers in them, and what bounds each instance has.

    `possible` is what is possible at all, feature by feature; `given` the constraints. Variables in `rising` can only
    go up from where an instance is, those in `falling` only down; `near` says how far from it they can be.
    """

    classifier: Classifier
    possible: Region
    within: Region
    given: Given | None = None
    rising: tuple[int, ...] = ()
    falling: tuple[int, ...] = ()
    near: tuple[tuple[int, float], ...] = ()
    told: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return tagged("Worlds", f"where {few(self.told, 3)}" if self.told else "all of them")

    @property
    def impossible(self) -> frozenset[int]:
        """The class of what is impossible, if the classifier has one."""
        asked = self.classifier
        return frozenset((asked.impossible,)) if isinstance(asked, Constrained) else frozenset()

    @property
    def are_all(self) -> bool:
        """Whether everything is possible."""
        return not (self.told or self.impossible)

    @property
    def are_each_ones_own(self) -> bool:
        """Whether what is possible depends on where an instance is."""
        return bool(self.rising or self.falling or self.near)

    def bounds(self, states: Sequence[int], near: Region | None = None) -> Region:
        """What is possible, feature by feature, from where an encoded instance is; `near` is what lies near to it."""
        own: dict[int, Ranges] = {}
        for v in {*self.rising, *self.falling}:
            state, last = states[v], len(self.possible.variables[v].cuts)
            if 0 <= state <= last:
                low = state if v in self.rising else 0
                own[v] = ((low, state if v in self.falling else last),)
            elif state != UNKNOWN:  # where a value is missing, nothing is above or below it
                own[v] = ((state, state),)
        if not own and near is None:
            return self.possible
        possible = self.possible.intersection(Region(self.possible.variables, own))
        possible = possible if near is None else possible.intersection(near)
        # What a feature can be may bound what others can be.
        return self.classifier.left_in(possible) if isinstance(self.classifier, Constrained) else possible

    @cached_property
    def spoken_of(self) -> tuple[int, ...]:
        """The variables that something is said of, which decisions may not depend on."""
        constraints = () if self.given is None else self.given.each
        named = {*self.within.bounds, *(v for each in constraints for v in each.tested)}
        return tuple(sorted(named.difference(self.classifier.tested)))

    def check_instance(self, states: Sequence[int], instance: Any) -> None:
        """As `check`, with all that is said of features which no decision depends on, where the instance has them."""
        known = list(states)
        for v in self.spoken_of:
            given = given_values(self.within.variables, instance)
            if self.within.variables[v].name in given:
                with suppress(MissingValue):
                    known[v] = self.within.variables[v].encode(given[self.within.variables[v].name])
        self.check(known, instance)

    def check(self, states: Sequence[int], instance: Any = None) -> None:
        """Raise InstanceError if an encoded instance is impossible itself."""
        if self._has_world(states):
            return
        for v, ranges in self.within.bounds.items():
            if states[v] != UNKNOWN and not covers(ranges, states[v]):
                region = Region(self.within.variables, {v: ranges})
                raise InstanceError(
                    f"the instance is impossible: {_has(self.within.variables[v], states[v], instance)}, but what is"
                    f" possible is within {brief(str(region), 600)}; correct the one or the other"
                )
        for broken in () if self.given is None else self.given.broken(states):
            has = [_has(self.within.variables[v], states[v], instance) for v in broken.tested if states[v] != UNKNOWN]
            raise InstanceError(
                f"the instance is impossible: it breaks the constraint {brief(broken.text)}, as"
                f" {' and '.join(has[:8])}; correct the one or the other"
            )
        assert self.given is not None  # what is within, it is
        known = self.within.intersection(Region.at(self.within.variables, states, range(len(states))))
        few = contradiction(self.given.variables, self.given.said, known).constraints
        raise InstanceError(
            "the instance is impossible: whatever its unknown features are, it breaks one of the constraints"
            f" {brief('; '.join(few), 600)}; correct the one or the other"
        )

    def _has_world(self, states: Sequence[int]) -> bool:
        """Whether an encoded instance is possible, for some of what its unknown variables can be."""
        for v, ranges in self.possible.bounds.items():
            if states[v] != UNKNOWN and not covers(ranges, states[v]):
                return False
        together = None if self.given is None else self.given.together
        if together is None:
            return True
        if all(states[v] != UNKNOWN for v in together.tested):
            return together.path(states) == POSSIBLE
        return together.completed(states, self.possible) is not None

    def member(self, region: Region, near: Sequence[int] | None = None) -> tuple[int, ...] | None:
        """A possible instance in a region, one that has many of some states if any are given; None if there is none."""
        one = region.nearest([UNKNOWN] * len(region.variables) if near is None else near)
        together = None if self.given is None else self.given.together
        return one if together is None else together.nearest(one, region)

    def cutting(self, cuts: Mapping[int, Iterable[Cut]]) -> Worlds:
        """The same worlds over variables with more cuts."""
        old = self.possible.variables
        new = cut_at(old, cuts)
        if all(a.size == b.size for a, b in zip(old, new, strict=True)):
            return self
        asked = self.classifier
        model = refined(asked.model if isinstance(asked, Constrained) else asked, new)
        given = None if self.given is None else _recut(self.given, new)
        if isinstance(asked, Constrained):
            assert given is not None
            model = asked.cut_finer(model, given)
        finer = [_finer(region, new) for region in (self.possible, self.within)]
        return replace(self, classifier=model, possible=finer[0], within=finer[1], given=given)

    def neighbourhood(self, values: Mapping[int, float]) -> dict[int, Interval]:
        """Between which numbers what is near an instance lies, by what the values of its variables are."""
        found = {}
        for v, reach in self.near:
            if values.get(v) is not None:
                low, high = values[v] - reach, values[v] + reach
                found[v] = Interval(Cut(low, after=False), Cut(high))
        return found

    def near_values(self, instance: Any) -> dict[int, float]:
        """The numbers that an instance has of the variables that must be near; what is missing is left out."""
        variables = self.possible.variables
        named = [v for v, _ in self.near]
        values = zip(named, tested_values(variables, named, instance), strict=True)
        numbers = {v: variables[v].as_number(value) for v, value in values}
        return {v: number for v, number in numbers.items() if number == number}


_NONE: Any = None
NO_WORLDS = Worlds(_NONE, Region(()), Region(()))
"""Those of no classifier."""


def _has(variable: Variable, state: int, instance: Any) -> str:
    """What an instance has of a variable: its value if that is at hand, or its state."""
    if isinstance(instance, Mapping) and variable.name in instance and variable.is_numeric:
        value = instance[variable.name]
        return f"{variable.name} is {brief(value.strip(), 80) if isinstance(value, str) else shown(value)}"
    return variable.phrase(state)


def _finer(region: Region, new: tuple[Variable, ...]) -> Region:
    old = region.variables
    return Region(new, {v: fine_ranges(old[v], new[v], ranges) for v, ranges in region.bounds.items()})


def _recut(given: Given, new: tuple[Variable, ...]) -> Given:
    """The same constraints over variables with more cuts."""
    old = given.variables

    def recut(constraint: Any) -> Any:
        edges = tuple(
            tuple((fine_ranges(old[v], new[v], ranges), child) for ranges, child in outgoing)
            for v, outgoing in zip(constraint.tests, constraint.edges, strict=True)
        )
        return replace(constraint, variables=new, edges=edges)

    together = None if given.together is None else recut(given.together)
    parts = tuple(map(recut, given.parts))
    return Given(new, tuple(map(recut, given.each)), _finer(given.box, new), together, parts, given.said)


def worlds_of(
    classifier: Classifier,
    *,
    within: Mapping[str, Any] | None = None,
    only_up: Collection[str] = (),
    only_down: Collection[str] = (),
    near: Mapping[str, Any] | None = None,
    given: Any = None,
) -> Worlds:
    """The worlds that these leave possible, for a classifier that may have constraints of its own."""
    constraints = constraints_of(classifier, given)
    conditions_given = _mapping(within, "within", '{"age": ">= 52"}')
    base = _kept(classifier, conditions_given, constraints)
    own = (only_up, only_down, near)
    if all(each is None or (isinstance(each, _PLAIN) and not each) for each in own):
        return base
    if not all(each is None or isinstance(each, _PLAIN) for each in own):
        return _directed(classifier, base, *own)
    key = (_key(conditions_given), constraints, repr(own))
    return _remembered(classifier, key, lambda: _directed(classifier, base, *own))


_PLAIN = (str, list, tuple, dict)  # what is told apart by its text


def _directed(classifier: Classifier, base: Worlds, only_up: Any, only_down: Any, near: Any) -> Worlds:
    """The worlds in which an instance can moreover only go up or down from where it is, or not far."""
    variables = base.possible.variables
    index = {variable.name: v for v, variable in enumerate(variables)}
    rising, falling = (
        _numbers(variables, feature_indices(index, names, option, or_one=True), option)
        for names, option in ((only_up, "only_up"), (only_down, "only_down"))
    )
    reaches = _reaches(variables, classifier.variables, index, _mapping(near, "near", '{"income": 5000}'))
    conditions_told = len(base.within.bounds)  # constraints, of which there may be many, come last
    told = (
        *base.told[:conditions_told],
        *(f"{variables[v].name} can only go up" for v in rising if v not in falling),
        *(f"{variables[v].name} can only go down" for v in falling if v not in rising),
        *(f"{variables[v].name} stays as it is" for v in rising if v in falling),
        *(f"{variables[v].name} within {number_text(reach)} of what it is" for v, reach in reaches),
        *base.told[conditions_told:],
    )
    return replace(base, rising=rising, falling=falling, near=reaches, told=told)


def _mapping(given: Any, option: str, such: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InstanceError(f"{option} is {shown(given)}; give a mapping such as {such}")
    return given


def _numbers(variables: Sequence[Variable], named: tuple[int, ...], option: str) -> tuple[int, ...]:
    for v in named:
        if not variables[v].is_numeric:
            raise InstanceError(
                f"{option} is {variables[v].name!r}, whose values are names, which go neither up nor down; say in"
                " within which it may be"
            )
    return named


def _reaches(
    variables: Sequence[Variable], own: Sequence[Variable], index: Mapping[str, int], near: Mapping[str, Any]
) -> tuple[tuple[int, float], ...]:
    """How far from its value each variable may be; a share is one of the range that the model's own one has."""
    found = []
    for name, given in near.items():
        if name not in index:
            raise InstanceError(f"near has {shown(name)}, which is no feature{did_you_mean(name, index)}")
        finer = variables[index[name]]
        variable = finer if finer.is_line else own[index[name]]
        if not variable.is_numeric:
            raise InstanceError(f"near has {name!r}, whose values are names; say in within which it may be")
        found.append((index[name], _reach(variable, given)))
    return tuple(sorted(found))


def _reach(variable: Variable, given: Any) -> float:
    """A number, or a share of a variable's range."""
    text = str(given).strip()
    share = text.endswith("%")
    try:
        number = float(text[:-1] if share else text) if not isinstance(given, bool) and "_" not in text else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InstanceError(
            f"near says {shown(given)} of {variable.name!r}; give how far it may be from its value, a number from 0 on,"
            " or a share of its range such as '10%'"
        )
    if not share:
        return number
    ends = variable.range if variable.is_line else _span(variable)
    if ends is None:
        raise InstanceError(
            f"near says {shown(given)} of {variable.name!r}, which has no range that it is a share of; give a number"
        )
    return float(Fraction(number) / 100 * (Fraction(ends[1]) - Fraction(ends[0])))


def _span(variable: Variable) -> tuple[float, float] | None:
    """From the first to the last cut."""
    return (variable.cuts[0].threshold, variable.cuts[-1].threshold) if len(variable.cuts) > 1 else None


def _kept(classifier: Classifier, within: Mapping[str, Any], constraints: tuple[Any, ...]) -> Worlds:
    """What holds for all instances, worked out once for a classifier."""
    if not within and not constraints:
        every = Region(tuple(classifier.variables))
        return Worlds(classifier, every, every)
    made = partial(_everywhere, classifier, within, constraints)
    return _remembered(classifier, (_key(within), constraints), made)


def _key(within: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(name), repr(said)) for name, said in within.items()))


def _remembered(classifier: Classifier, key: tuple[Any, ...], make: Callable[[], Worlds]) -> Worlds:
    """What is made once for a classifier; the last few are kept with it, if it can keep something."""
    made: dict[Any, Worlds] | None = classifier.__dict__.get("_worlds") if hasattr(classifier, "__dict__") else {}
    if made is None:
        made = classifier.__dict__.setdefault("_worlds", {})
    found = made.get(key)
    if found is None:
        found = make()
        if len(made) >= _KEPT:
            made.clear()  # at once, as other threads may ask meanwhile
        made[key] = found
    return found


def _everywhere(classifier: Classifier, within: Mapping[str, Any], constraints: tuple[Any, ...]) -> Worlds:
    model = _ranged(classifier, within)
    index = {variable.name: v for v, variable in enumerate(model.variables)}
    Region.parse(model.variables, within)  # refuses what cannot be read
    ends = {index[name]: _ends(model.variables[index[name]], said) for name, said in within.items()}
    variables = cut_at(model.variables, ends)
    given = compiled(variables, constraints) if constraints else None
    variables = variables if given is None else given.variables
    box = Region.parse(variables, within)
    possible = box if given is None else box.intersection(given.box)
    asked = refined(model, variables)
    if given is not None and given.together is not None:
        left = given.together.left_by(possible)
        if possible.is_empty or left is None:
            raise contradiction(variables, given.said, box)
        possible = _narrowed(possible, left)
        asked = constrained(asked, given)
    elif given is not None and possible.is_empty:
        raise contradiction(variables, given.said, box)
    told = (*map(str, box.literals), *(each.text for each in (given.each if given else ())))
    return Worlds(asked, possible, box, given, told=told)


def _narrowed(region: Region, left: Mapping[int, Ranges]) -> Region:
    """The region with what a constraint leaves of it, feature by feature."""
    narrower = {v: states for v, states in left.items() if states != region.states(v)}
    return region.replaced(narrower)


def _ends(variable: Variable, said: Any) -> list[Cut]:
    """Where the conditions on a number end."""
    if not variable.is_numeric:
        return []
    several = said if isinstance(said, (list, tuple, set, frozenset)) else [said]
    finer = conditions.refined(variable, conditions.alternatives(several))
    return [] if finer is variable else list(finer.cuts)


def _ranged(classifier: Classifier, within: Mapping[str, Any]) -> Classifier:
    """A model that must be told between which its numbers lie, told so by what is possible where nothing else has."""
    if not offers(classifier, TakesRanges):
        return classifier
    unbounded, ranges = set(classifier.unbounded), {}
    for name in unbounded.intersection(within):
        said = within[name]
        try:
            parts = conditions.alternatives(said if isinstance(said, (list, tuple)) else [said])
        except GraphError:
            continue
        pairs = [each for each in parts if isinstance(each, Interval)]
        if pairs and all(each.lower is not None and each.upper is not None for each in pairs):
            lows, highs = [p.lower.threshold for p in pairs if p.lower], [p.upper.threshold for p in pairs if p.upper]
            ranges[name] = (min(lows), max(highs))
    return classifier.with_ranges(ranges) if ranges else classifier
