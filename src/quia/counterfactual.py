"""The nearest changed instances: every way to violate a shortest necessary reason that changes the decision."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from typing import Any, NamedTuple

from quia.classifier import Classifier, ListsChanges, offers
from quia.literal import State, all_of
from quia.patience import OutOfTime
from quia.question import Question
from quia.ranges import difference, members
from quia.region import Region
from quia.variables import UNKNOWN, nearest_first


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A nearest changed instance: what changes, and what the decision is then.

    A numeric feature moves into an interval: any number in it will do. It is `certain` if the decision is that one
    whatever the features are whose values are missing; else it is so for some values of theirs.
    """

    changes: tuple[State, ...]
    decision: str
    certain: bool = True

    def to_dict(self) -> dict[str, object]:
        """The `counterfactuals` item of the JSON format."""
        return {
            "changes": {state.feature: state.text for state in self.changes},
            "decision": self.decision,
            **({} if self.certain else {"certain": False}),
        }

    def __str__(self) -> str:
        return f"{all_of(map(str, self.changes))}: {'' if self.certain else 'could be '}{self.decision}"


class Change(NamedTuple):
    """A changed instance in indices: variables, their new states, the class that it then is, certainly or perhaps."""

    variables: Sequence[int]
    states: tuple[int, ...]
    label: int
    certain: bool


class Counterfactuals(tuple[Counterfactual, ...]):
    """The nearest changed instances; `complete` says whether these are all."""

    complete: bool

    @classmethod
    def within(cls, found: Iterable[Counterfactual], limit: int | None, all_known: bool) -> Counterfactuals:
        """As many as limit and time allow."""
        kept: list[Counterfactual] = []
        complete = all_known
        try:
            for one in found:
                if len(kept) == limit:
                    complete = False
                    break
                kept.append(one)
        except OutOfTime:
            complete = False
        made = cls(kept)
        made.complete = complete
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(self), self.complete)


def _restored(found: Iterable[Counterfactual], complete: bool) -> Counterfactuals:
    return Counterfactuals.within(found, None, complete)


Poll = Callable[[], None]
"""Called at every step; it may raise OutOfTime."""
Changed = Iterable[tuple[tuple[int, ...], Collection[int]]]
"""New states of some variables, and the classes that they can lead to."""


def changes(
    classifier: Classifier, question: Question, necessary: Iterable[Sequence[int]], poll: Poll
) -> Iterator[Counterfactual]:
    """Every change of all of a necessary reason's features, and no others, that does not keep the decision.

    In the order of the reasons; within one, states nearest to the instance's come first. Where variables are unknown
    there is one for each class that a change could lead to, those that are certain before all others.
    """
    for change in changed_states(classifier, question, necessary, poll):
        pairs = zip(change.variables, change.states, strict=True)
        yield Counterfactual(
            tuple(State(classifier.variables[v], s) for v, s in pairs), classifier.classes[change.label], change.certain
        )


def changed_states(
    classifier: Classifier, question: Question, necessary: Iterable[Sequence[int]], poll: Poll = lambda: None
) -> Iterator[Change]:
    """`changes` in indices."""
    is_partial = UNKNOWN in (question.states[v] for v in classifier.tested)
    passes = zip((True, False), tee(necessary), strict=True) if is_partial else [(True, necessary)]
    for certain, reasons in passes:
        for reason in reasons:
            poll()
            for changed, labels in _changes_of(classifier, question, reason, poll):
                if (len(labels) == 1) == certain:
                    kept = question.keeps
                    yield from (Change(reason, changed, c, certain) for c in sorted(labels) if c not in kept)


def _changes_of(classifier: Classifier, question: Question, changing: Sequence[int], poll: Poll) -> Changed:
    if offers(classifier, ListsChanges) and question.is_only_frozen:
        return classifier.changes(question, changing, poll)
    return changes_by_escape(classifier, question, changing, poll)


def changes_by_escape(classifier: Classifier, question: Question, changing: Sequence[int], poll: Poll) -> Changed:
    """New states of these variables, one chosen after the other as long as an instance with them escapes.

    Complexity: a call of `escape` for each state of each variable, for each change that is found.
    """
    own = question.states
    region = question.worlds_changing(changing)
    others = {v: difference(question.within.states(v), ((own[v], own[v]),)) for v in changing}
    region = region.replaced(others)

    def options() -> Iterator[int]:
        variable = changing[len(chosen)]
        possible = set(members(others[variable]))
        return (s for s in nearest_first(question.variables[variable], own[variable]) if s in possible)

    chosen: list[int] = []
    work = [options()] if changing else []
    while work:
        poll()
        state = next(work[-1], None)
        if state is None:
            work.pop()
            if chosen:
                chosen.pop()
            continue
        fixed = {v: ((s, s),) for v, s in zip(changing, (*chosen, state), strict=False)}
        there = region.replaced(fixed)
        if classifier.escape(question, there) is None:
            continue
        if len(fixed) == len(changing):
            yield (*chosen, state), possible_classes(classifier, question, there)
        else:
            chosen.append(state)
            work.append(options())


def possible_classes(classifier: Classifier, question: Question, region: Region) -> list[int]:
    """The classes that instances in a region have. Complexity: a call of `escape` for each class."""
    every = range(len(classifier.classes))
    others = ((label, replace(question, keeps=frozenset(every) - {label})) for label in every)
    return [label for label, asked in others if classifier.escape(asked, region) is not None]
