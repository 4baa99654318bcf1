"""A model in the possible worlds of an audit, asked as `quia.verify` asks: what is decided, and what is forced."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quia.asking import Terms
from quia.auditing.checked import NotChecked, Wrong
from quia.auditing.document import Pair, Settings, Values
from quia.auditing.said import Said
from quia.caching import cached_property
from quia.classifier import ChecksPlainly, Classifier, offers
from quia.errors import MissingValue, QuiaError, brief, did_you_mean, listed, shown
from quia.literal import State, all_of
from quia.patience import Clock
from quia.question import Question
from quia.ranges import covers
from quia.region import Region
from quia.values import is_missing
from quia.variables import UNKNOWN, Variable, decide_instance

_LONG = 400


@dataclass(frozen=True)
class World:
    """A model, and the terms under which it is asked: whoever is impossible refutes nothing."""

    own: Classifier
    terms: Terms

    @staticmethod
    def of(classifier: Classifier, settings: Settings) -> World:
        """A model in the worlds that an audit's settings leave possible."""
        return World(classifier, Terms.of(classifier, within=settings.within, given=list(settings.given) or None))

    @staticmethod
    def of_other(classifier: Classifier, settings: Settings) -> World:
        """The same of a model that may lack features which the settings speak of: of these nothing can be held."""
        names = {variable.name for variable in classifier.variables}
        within = {name: said for name, said in (settings.within or {}).items() if name in names}
        try:
            return World(classifier, Terms.of(classifier, within=within, given=list(settings.given) or None))
        except QuiaError:
            raise NotChecked("the constraints speak of features that the other model lacks") from None

    @property
    def asked(self) -> Classifier:
        """The classifier that answers, whose variables may have more cuts."""
        return self.terms.classifier

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """The variables of the classifier that answers, by name."""
        return {variable.name: variable for variable in self.terms.variables}

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each variable."""
        return {variable.name: v for v, variable in enumerate(self.terms.variables)}

    def class_index(self, name: str) -> int:
        """The place of a class."""
        classes = self.terms.classes
        if name not in classes:
            raise Wrong(f"{shown(name)} is no class{did_you_mean(name, classes)}; the classes are {listed(classes)}")
        return classes.index(name)

    def has(self, feature: str, state: int) -> bool:
        """Whether a feature can be in a state; any, if that is not known."""
        return state == UNKNOWN or covers(self.terms.worlds.possible.states(self.place(feature)), state)

    def place(self, feature: str) -> int:
        """The place of a feature."""
        if feature not in self.index:
            raise Wrong(f"{shown(feature)} is no feature of the model{did_you_mean(feature, self.index)}")
        return self.index[feature]

    def region(self, said: Iterable[Said]) -> Region:
        """The possible worlds, feature by feature, for which conditions can hold."""
        bounds = {self.place(each.feature): each.states(self.variables[each.feature]) for each in said}
        return self.terms.worlds.possible.intersection(Region(self.terms.variables, bounds))

    def escape(
        self, region: Region, keeps: Collection[int], clock: Clock, near: Sequence[int] | None = None
    ) -> Sequence[int] | None:
        """A possible instance in the region whose class is none that is kept, by the plain search if there is one."""
        clock()
        if region.is_empty:
            return None
        start = self.terms.worlds.member(region, near)
        if start is None:
            return None
        kept = frozenset(keeps) | self.terms.worlds.impossible
        label = self.asked.decide(start)
        if label not in kept:
            return start
        question = Question(tuple(self.asked.classes), tuple(start), label, kept, self.terms.worlds.possible)
        if offers(self.asked, ChecksPlainly):
            found = self.asked.plain_escape(question, region, clock)
        else:
            found = self.asked.escape(question, region)
        if found is not None and (not region.contains(found) or self.asked.decide(found) in kept):
            raise AssertionError("the classifier lacks the form that its kind must have")
        return found

    def check_forces(self, said: Sequence[Said], decision: str, clock: Clock) -> None:
        """Raise Wrong, with an instance, if some possible one that meets conditions is decided otherwise."""
        found = self.escape(self.region(said), [self.class_index(decision)], clock)
        if found is not None:
            raise Wrong(f"{self.told(found)} meets it and is {self.asked.classes[self.asked.decide(found)]!r}")

    def told(self, states: Sequence[int]) -> str:
        """An encoded instance in words."""
        known = [State(self.terms.variables[v], states[v]) for v in self.asked.tested if states[v] != UNKNOWN]
        return brief(all_of(map(str, known)), _LONG) or "any instance"

    def decision_on(self, values: Mapping[str, Any]) -> str:
        """The class of an instance, which must be possible; the model itself and the one that is asked must agree."""
        states = self.asked.encode(values)
        self.terms.worlds.check_instance(states, values)
        asked = self.asked.classes[decide_instance(self.asked, states, values)]
        try:
            own = self.own.classify(values)
        except MissingValue:  # a graph does not classify what lacks a value that it asks for, even for nothing
            return asked
        if own != asked:
            raise Wrong(f"the instance is decided {own!r}, but {asked!r} where not all worlds are possible")
        return own

    def check_pair(self, pair: Pair, changing: Collection[str]) -> None:
        """Raise Wrong unless two instances differ in some features at most, and are decided as is said."""
        for at, name in enumerate(pair.differing):
            if name not in changing:
                raise Wrong(f"the two differ in {shown(name)}, which is not {listed(changing)}")
            if name in pair.differing[:at]:
                raise Wrong(f"{name} is there twice")
            if are_same(pair.one.get(name), pair.other.get(name)):
                raise Wrong(f"the two have the same {name}, {shown(pair.one.get(name))}")
        check_alike(pair.one, pair.other, pair.differing)
        for values, decision in zip((pair.one, pair.other), pair.decisions, strict=True):
            if (found := self.decision_on(values)) != decision:
                raise Wrong(f"the model decides {found!r}, not {decision!r}, on {shown(dict(values), 300)}")


def check_alike(one: Values, other: Values, differing: Collection[str]) -> None:
    """Raise Wrong if two instances differ in another feature."""
    for name in {**one, **other}:
        if name in differing:
            continue
        if name not in one or name not in other or not are_same(one[name], other[name]):
            raise Wrong(f"the two also differ in {shown(name)}: {shown(one.get(name))} and {shown(other.get(name))}")


def are_same(one: Any, other: Any) -> bool:
    """Whether two values, of which one may be a number and the other the text of it, are the same.

    >>> are_same("35", 35.0), are_same(" Private", "Private"), are_same(None, "?"), are_same("35", "36")
    (True, True, True, False)
    """
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    if str(one).strip() == str(other).strip():
        return True
    try:
        return float(one) == float(other)
    except (TypeError, ValueError, OverflowError):
        return False
