"""An independent checker: a reason in, silence or a witness out.

It shares no code with the closed forms that find reasons, nor with what widens them. It asks one thing of the
classifier, `escape`: is there another decision in a region. Of an ensemble, in which finding that takes an intricate
search, it asks for the plain one. A witness is classified anew before it is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from quia.arguments import flag, seconds
from quia.errors import InstanceError, Refuted, TooLarge, Undecided, brief, shown
from quia.literal import all_of
from quia.patience import Clock, OutOfTime
from quia.ranges import Ranges, difference, intersection, union
from quia.region import Region

if TYPE_CHECKING:
    from quia.claim import Claim, Statement
    from quia.classifier import Classifier
    from quia.question import Question
    from quia.reason import Reason

MOST_POINTS = 100_000
"""How many changes are tried one by one where it depends on unknown features what they do."""
_LONG = 400
"""How many letters of a reason a message has."""


def verify(
    classifier: Classifier,
    instance: Any,
    reason: Reason | Mapping[str, Any] | Iterable[str],
    kind: Literal["sufficient", "necessary"],
    /,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    within: Mapping[str, Any] | None = None,
    only_up: Collection[str] = (),
    only_down: Collection[str] = (),
    near: Mapping[str, Any] | None = None,
    given: Any = None,
    maximal: bool = False,
    intervals: bool = True,
    timeout: float | None = None,
) -> None:
    """Check that a reason is one; if it is not, raise Refuted with a witness.

    If `timeout` seconds end before that is known, raise Undecided. Only checks of ensembles take long.

    `reason` may be a Reason, names of features, which mean the instance's own states, or a mapping from features to
    conditions (`"> 30"`, `"(0.6, 1.5]"`, `"missing"`, the name of a state, a list of these, a literal's `text`) or to
    values, which mean the states that they are in. The instance must meet all conditions. It is read as the `kind`
    that is asked for, whatever kind of reason a Reason was found as.

    A *sufficient* reason forces the decision whatever the other features are, and no part of it does. With
    `maximal`, none of its conditions can be widened.

    A *necessary* reason given by the instance's own states is one of the paper: changing all of its features, in some
    way, changes the decision (against a class: to that class), and changing a part of them never does. Given by
    other conditions, or with `maximal`, or as a Reason that is general, more is claimed: *every* change after which
    none of its conditions holds changes the decision, all else kept. With `maximal`, no condition can be narrowed so
    that this remains true of more changes.

    What can be widened is a set of states, in a necessary reason that of a feature's changes. With `intervals` the set
    of a numeric feature is one interval, which is widened by the next state at either end or by *missing*, otherwise
    any set, as that of a nominal feature always is.

    A feature whose value is missing may be anything, and is in no reason; nor is one that is frozen. Only worlds that
    are possible count, by `within`, `only_up`, `only_down`, `near` and `given`, as for `explain`.

    A condition may end between two cuts of the model, and is taken exactly, in the type in which the model
    compares: a number is rounded to 32 bits where the model does that, in a condition too. As all numbers of a state
    are decided alike, what holds of the states that a condition touches holds of what it says, and what fails in
    one fails for a number that meets the condition: the witness has that part of the state. Only with `maximal` is a
    condition refuted that leaves a part of a state, as it can be widened to the whole.

    Complexity: one search of the classifier for each feature in the reason; with `maximal` one more for each state
    by which it cannot be widened. Where a feature is unknown, and it depends on it whether changes of a necessary
    reason change the decision, they are tried one by one, at most 100,000 of them.
    """
    if kind not in ("sufficient", "necessary"):
        raise InstanceError(f"the kind of reason is {shown(kind)}; it is 'sufficient' or 'necessary'")
    from quia.asking import ask
    from quia.claim import Claim  # not above, as `verify` is there before NumPy is
    from quia.classifier import loaded

    classifier, maximal, intervals = loaded(classifier), flag(maximal, "maximal"), flag(intervals, "intervals")
    classifier, question = ask(
        classifier,
        instance,
        against=against,
        frozen=frozen,
        within=within,
        only_up=only_up,
        only_down=only_down,
        near=near,
        given=given,
    )
    claim = Claim.of(question, reason)
    claim.check_met(question, instance, classifier.tested)
    clock = Clock(seconds(timeout))
    check: _Check
    if kind == "sufficient":
        check = _Sufficient(classifier, question, claim, clock)
    elif maximal or claim.is_general or not claim.is_of_states(question.states):
        check = _Necessary(classifier, question, claim, clock)
    else:
        check = _NecessaryByStates(classifier, question, claim, clock)
    try:
        check.check()
        if maximal:
            check.check_maximal(intervals)
    except OutOfTime:
        raise Undecided(
            f"the {timeout} seconds of timeout= ended before the reason was proved or refuted; give more"
        ) from None


class _Check:
    """Whether a claim, which is true of the instance, is a reason.

    `statements` are what it says of each variable, by its index; `box` are those that are as wide as they can be in a
    reason that is maximal. Conditions reach over impossible numbers; changes, which somebody is to make, do not.
    """

    box: Mapping[int, Statement]
    reaches_over = True

    def __init__(self, classifier: Classifier, question: Question, claim: Claim, clock: Clock) -> None:
        self.clock, self.classifier, self.question, self.by_name = clock, classifier, question, claim.by_name
        self.statements = self.box = claim.statements
        decided = repr(question.classes[question.decision])
        self.what = f"the decision {decided if question.against is None else f'not {question.against!r}'}"

    def check(self) -> None:
        """Raise Refuted if it is no reason."""
        raise NotImplementedError

    def counterexample(self, box: Mapping[int, Ranges]) -> Sequence[int] | None:
        """An instance in such a box that makes it no reason; None if there is none."""
        raise NotImplementedError

    def refute_maximal(self, v: int, wider: Statement) -> Refuted:
        """That the set of a variable in the box could be wider."""
        raise NotImplementedError

    def check_maximal(self, intervals: bool) -> None:
        """Raise Refuted if a set of the box can be widened; what was checked before holds."""
        sets = {v: statement.states for v, statement in self.box.items()}
        for v, statement in self.box.items():
            if not statement.is_whole:
                raise self.refute_maximal(v, statement.whole())
            in_intervals = intervals and statement.variable.is_numeric
            numbers = intersection(statement.states, ((0, len(statement.variable.cuts)),))
            if in_intervals and len(numbers) > 1:
                raise Refuted(
                    f"{_together([statement])} is not one interval, so it is no reason in intervals; give one interval,"
                    " or intervals=False for any set",
                    witness={statement.literal.feature: statement.literal.text},
                )
            others = difference(self.question.within.states(v), statement.states)
            if in_intervals and numbers:
                last = len(statement.variable.cuts)
                beside = others if self.reaches_over else ((0, last),)
                others = intersection(others, _beside(numbers[0], beside, last))
            added = self._addable(sets, v, others)
            if added:
                # A number beside 'missing' begins an interval; two that are apart would be none.
                raise self.refute_maximal(v, statement.whole(added[:1] if in_intervals and not numbers else added))

    def _addable(self, box: Mapping[int, Ranges], v: int, others: Ranges) -> Ranges:
        """Some of these states that a variable may have as well as its own in the box; none if there are none.

        One search answers for all of them, or has one that it may not have: so it takes as many as there are of these.
        """
        while others:
            found = self.counterexample({**box, v: others})
            if found is None:
                return others
            others = difference(others, ((found[v], found[v]),))
        return ()

    def _escaped(self, question: Question, region: Region) -> Sequence[int] | None:
        """An instance in the region that is decided otherwise, or None if there is none."""
        from quia.classifier import ChecksPlainly, offers

        self.clock()
        if offers(self.classifier, ChecksPlainly):
            found = self.classifier.plain_escape(question, region, self.clock)
        else:
            found = self.classifier.escape(question, region)
        if found is not None and (not region.contains(found) or self.classifier.decide(found) in question.keeps):
            raise AssertionError("the classifier lacks the form that its kind must have")
        return found

    def _region(self, sets: Mapping[int, Ranges]) -> Region:
        """The instances in these states."""
        return Region(self.question.variables, sets)

    def _witness(self, found: Sequence[int], box: Mapping[int, Statement] | None = None) -> dict[str, str]:
        """An instance in words; of variables in the box, the part of the state that is said."""
        parts = box or {}
        variables = self.question.variables
        return {
            variables[v].name: parts[v].part(found[v]) if v in parts else variables[v].text(found[v])
            for v in self.classifier.tested
        }

    def _told(self, witness: Mapping[str, str]) -> str:
        own = {
            variable.name: variable.text(state)
            for variable, state in zip(self.question.variables, self.question.states, strict=True)
            if state >= 0
        }
        differing = [f"{name}: {text}" for name, text in witness.items() if text != own.get(name)]
        return "the instance with " + ", ".join(differing[:8]) + (" …" if len(differing) > 8 else "")

    def _named(self, variables: Iterable[int]) -> str:
        return " and ".join(self.question.variables[v].name for v in variables) or "nothing at all"

    def _said(self, variables: Iterable[int]) -> str:
        """What the reason says of these variables."""
        return self._named(variables) if self.by_name else _together(self.statements[v] for v in variables)


class _Sufficient(_Check):
    def check(self) -> None:
        sets = {v: statement.states for v, statement in self.statements.items()}
        found = self.counterexample(sets)
        if found is not None:
            witness = self._witness(found, self.statements)
            raise Refuted(
                f"{self._said(sets)} does not force {self.what}: {self._told(witness)} keeps it and is decided"
                " otherwise",
                witness=witness,
            )
        for feature in sets:
            rest = [v for v in sets if v != feature]
            if self.counterexample({v: sets[v] for v in rest}) is None:
                raise Refuted(
                    f"{self._said(sets)} is not minimal: {self._said(rest)} forces {self.what} too",
                    witness=_texts(self.statements[v] for v in rest),
                )

    def counterexample(self, box: Mapping[int, Ranges]) -> Sequence[int] | None:
        """An instance in the box that is decided otherwise."""
        return self._escaped(self.question, self.question.within.intersection(self._region(box)))

    def refute_maximal(self, v: int, wider: Statement) -> Refuted:
        """That a condition could be wider."""
        widened = {**self.statements, v: wider}
        return Refuted(
            f"{self._said(widened)} is not maximal: {_together(widened.values())} forces {self.what} too",
            witness=_texts(widened.values()),
        )


class _NecessaryByStates(_Check):
    """The paper's necessary reasons: some change of all features changes the decision, and none of a part of them."""

    def check(self) -> None:
        claimed = tuple(self.statements)
        if self._changed(claimed) is None:
            raise Refuted(f"no change of {self._named(claimed)} alone changes {self.what}", witness=None)
        for feature in claimed:
            rest = [v for v in claimed if v != feature]
            found = self._changed(rest)
            if found is not None:
                witness = self._witness(found)
                raise Refuted(
                    f"{self._said(claimed)} is not minimal: changing {self._named(rest)} is enough to change"
                    f" {self.what}, as {self._told(witness)} shows",
                    witness=witness,
                )

    def _changed(self, changing: Collection[int]) -> Sequence[int] | None:
        return self._escaped(self.question, self.question.worlds_changing(changing))


class _Necessary(_NecessaryByStates):
    """General necessary reasons: those of the paper, of which moreover every change changes the decision.

    `box` are the changes: what holds where a statement does not.
    """

    reaches_over = False

    def check(self) -> None:
        changes = {v: statement.negated for v, statement in self.statements.items()}
        for v, change in changes.items():
            # Names of features that are unknown, or have but one state, are refuted below, by other words.
            if change is None and not self.by_name:
                raise InstanceError(
                    f"{_together([self.statements[v]])} always holds, so that there is no change of"
                    f" {self.statements[v].variable.name!r}; narrow it"
                )
        super().check()
        self.box = {v: change for v, change in changes.items() if change is not None}
        found = self.counterexample({v: change.states for v, change in self.box.items()})
        if found is not None:
            witness = self._witness(found, self.box)
            raise Refuted(
                f"not every change to {_together(self.box.values())} changes {self.what}: {self._told(witness)}"
                " leaves it as it is",
                witness=witness,
            )

    def counterexample(self, box: Mapping[int, Ranges]) -> Sequence[int] | None:
        """A point of the box, all else as the instance has it, that leaves the decision as it is.

        One with unknown features does so if it does whatever these are.
        """
        others = [v for v in range(len(self.question.states)) if v not in box]
        kept = self.question.worlds(others)
        leaving = replace(self.question, keeps=frozenset(range(len(self.question.classes))) - self.question.keeps)
        is_known = all(self.question.states[v] >= 0 for v in self.classifier.tested)
        boxes = [box]
        for _ in range(MOST_POINTS):
            if not boxes:
                return None
            tried = boxes.pop()
            found = self._escaped(leaving, kept.intersection(self._region(tried)))
            if found is None:
                continue
            point = {v: ((found[v], found[v]),) for v in tried}
            if is_known or self._escaped(self.question, kept.intersection(self._region(point))) is None:
                return found
            boxes += _without(tried, point)
        raise TooLarge(
            f"whether every change of {self._named(box)} changes {self.what} depends on features that are unknown, and"
            f" there are more than {MOST_POINTS:,} changes to try; give the values of these features",
            limit=MOST_POINTS,
        )

    def refute_maximal(self, v: int, wider: Statement) -> Refuted:
        """That a change could be wider."""
        widened = {**self.box, v: wider}
        narrowed = {**self.statements, v: wider.negated}
        return Refuted(
            f"{self._said(self.box)} is not maximal: every change to {_together(widened.values())} changes"
            f" {self.what} too, and not only one to {_together(self.box.values())}",
            witness=_texts(statement for statement in narrowed.values() if statement is not None),
        )


def _beside(numbers: tuple[int, int], possible: Ranges, last: int) -> Ranges:
    """The possible numbers next to an interval of a variable's numbers, up to the last, and *missing*."""
    low, high = numbers
    below = [min(b, low - 1) for a, b in intersection(possible, ((0, last),)) if a < low]
    above = [max(a, high + 1) for a, b in intersection(possible, ((0, last),)) if b > high]
    return union([*((state, state) for state in (*below[-1:], *above[:1])), (last + 1, last + 1)])


def _without(box: Mapping[int, Ranges], point: Mapping[int, Ranges]) -> Iterator[dict[int, Ranges]]:
    """Boxes that have all points of a box but one."""
    before: dict[int, Ranges] = {}
    for v, states in box.items():
        rest = difference(states, point[v])
        if rest:
            yield {**box, **before, v: rest}
        before[v] = point[v]


def _together(statements: Iterable[Statement]) -> str:
    """What statements say, cut where a sentence would get too long: a set may have hundreds of intervals."""
    return brief(all_of(str(statement.literal) for statement in statements), _LONG) or "nothing at all"


def _texts(statements: Iterable[Statement]) -> dict[str, str]:
    return {statement.literal.feature: statement.literal.text for statement in statements}
