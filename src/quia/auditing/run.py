"""What is asked in an audit, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quia.auditing import comparison, rules
from quia.auditing.document import Comparison, Hanging, Share
from quia.auditing.groups import Grouping, Parting, grouping_of, parting_of_column, parting_of_states, parting_of_values
from quia.auditing.hanging import Protection
from quia.auditing.known import with_known
from quia.auditing.proofs import Found, changed_row, found_pair
from quia.auditing.reasons import alone, in_shortest
from quia.auditing.steps import Steps
from quia.auditing.subject import Subject
from quia.batch.table import with_columns
from quia.contrast import any_change, rising, worse
from quia.literal import all_of
from quia.patience import Clock
from quia.ranges import covers

if TYPE_CHECKING:
    from quia.classifier import Classifier

Conditions = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class Covering:
    """Rules of a class, as conditions on states, and the rest of a `rules.Cover`."""

    rules: tuple[Conditions, ...]
    explained: int
    is_enough: bool
    are_learned: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """For each variable in how many of `of` rows something holds, and the place of one of these."""

    of: int
    rows: tuple[int, ...]
    first: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Somebody who would have fared better: a row by its place, changes of its states, and the class it would have."""

    row: int
    changes: tuple[tuple[int, int], ...]
    decision: int


@dataclass(frozen=True, slots=True)
class Hung:
    """What hangs on protected features, and the worst cases."""

    hanging: Hanging
    worst: tuple[Case, ...]


@dataclass(frozen=True, eq=False)
class Compared:
    """Two models, and which worlds are possible: `within` and `given` as for `explain`."""

    old: Classifier
    new: Classifier
    within: Mapping[str, Any] | None
    given: Any


@dataclass(frozen=True, eq=False)
class Asked:
    """What an audit is about, beside its subject: columns, and orders of states."""

    subject: Subject
    label: str | None
    protected: tuple[str, ...]
    orders: Mapping[int, Sequence[int]]
    share: float
    is_assumed: bool
    compared: Compared | None = None

    @property
    def together(self) -> list[tuple[str, ...]]:
        """The protected features, each by itself and all together."""
        single: list[tuple[str, ...]] = [(name,) for name in self.protected]
        return [*single, self.protected] if len(single) > 1 else single

    def rises(self) -> dict[int, Sequence[int]]:
        """The variables that can be raised, with their states in rising order."""
        variables = self.subject.variables
        return {
            v: self.orders[v] if v in self.orders else rising(variable)
            for v, variable in enumerate(variables)
            if v in self.orders or variable.is_numeric
        }


def weights_of(asked: Asked) -> dict[str, float]:
    """The steps of an audit, and how they share its time."""
    tested = asked.subject.terms.classifier.tested
    classes = asked.subject.terms.classes
    sets, rises = asked.together, asked.rises()
    counts = np.bincount(asked.subject.rows.decision, asked.subject.rows.repeats, len(classes))
    steps = {f"what hangs on {all_of(names)}": 10.0 / len(sets) for names in sets}
    steps["what each feature alone changes"] = 25.0
    steps |= {f"whether decisions depend on {all_of(names)}": 10.0 / len(sets) for names in sets}
    names = [asked.subject.variables[v].name for v in tested]
    steps |= {f"whether {name} matters": 12.0 / len(tested) for name in names}
    for v in rises:
        name = asked.subject.variables[v].name
        steps |= {f"whether more {name} {does}": 15.0 / len(rises) for does in ("hurts", "helps")}
    if asked.compared is not None:
        steps["how two models differ"] = 25.0
    for c, name in enumerate(classes):
        steps[f"rules for {name}"] = 2.0 + 28.0 * float(counts[c]) / max(1.0, float(counts.sum()))
    steps["the shortest reasons"] = 10.0
    return steps


@dataclass(eq=False)
class Audited:
    """All that was found, before it is told."""

    asked: Asked
    steps: Steps

    def __post_init__(self) -> None:
        subject = self.asked.subject
        self.terms, self.rows, self.variables = subject.terms, subject.rows, subject.variables
        self.partings = {name: self._parting(name) for name in self.asked.protected}
        self.hung = {names: self._hung(names) for names in self.asked.together}
        self.alone = self._counted("what each feature alone changes", alone)
        self.depends = {names: self._depends(names) for names in self.asked.together}
        self.matters = {v: self._matters(v) for v in self.terms.classifier.tested}
        self.monotone = {v: self._monotone(v, order) for v, order in self.asked.rises().items()}
        self.comparison = self._comparison()
        self.covers = [self._cover(c) for c in range(len(self.terms.classes))]
        self.shortest = self._counted("the shortest reasons", in_shortest)

    def _parting(self, name: str) -> Parting:
        v = self.asked.subject.index.get(name)
        if v is None or v not in self.terms.classifier.tested:
            return parting_of_column(self.rows, name, None if v is None else self.variables[v])
        variable, states = self.variables[v], self.rows.states[:, v]
        few = parting_of_values(self.rows, variable, states) if variable.is_numeric else None
        return few or parting_of_states(self.rows, variable, states)

    def grouping(self, names: Sequence[str]) -> Grouping:
        """The rows grouped by protected features."""
        return grouping_of(self.rows, [self.partings[name] for name in names])

    def in_model(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of some features that decisions may depend on."""
        index, tested = self.asked.subject.index, self.terms.classifier.tested
        return tuple(name for name in names if index.get(name) in tested)

    def _hung(self, names: tuple[str, ...]) -> Hung | None:
        known = self.in_model(names)

        def found(clock: Clock) -> Hung:
            variables = tuple(self.asked.subject.index[name] for name in known)
            asked = Protection(self.rows, self.terms, self.grouping(names), variables, self.asked.subject.rank)
            hanging, worst = asked.found(clock)
            return Hung(hanging, tuple(Case(w.row, self._changes(w.row, w.other), w.decision) for w in worst))

        step = f"what hangs on {all_of(names)}"
        if not known:
            self.steps.skip(step)
            return None
        return self.steps.take(step, Hung, found)

    def _changes(self, row: int, other: Sequence[int]) -> tuple[tuple[int, int], ...]:
        own = self.rows.states[row].tolist()
        return tuple((v, state) for v, state in enumerate(other) if state != own[v])

    def _counted(self, step: str, count: Callable[..., Any]) -> Counted:
        def found(clock: Clock) -> Counted:
            mentioned = count(self.rows, self.terms, clock)
            shares: list[Share] = [mentioned.share(v, self.rows) for v in range(len(self.variables))]
            of = shares[0].of if shares else 0
            first = tuple(mentioned.first(v) for v in range(len(self.variables)))
            return Counted(of, tuple(share.rows for share in shares), first)

        return self.steps.take(step, Counted, found)

    def _depends(self, names: tuple[str, ...]) -> Found:
        step, known = f"whether decisions depend on {all_of(names)}", self.in_model(names)
        hung = self.hung[names]
        if hung is None:
            self.steps.skip(step)
            return Found(False)
        changing = [self.asked.subject.index[name] for name in known]
        bounds = with_known(self.terms, changing).worlds.possible
        for case in hung.worst:
            if all(covers(bounds.states(v), int(self.rows.states[case.row, v])) for v in changing):
                self.steps.skip(step)
                return Found(True, row=case.row, changes=case.changes)
        asked = any_change(self.terms.classifier, changing)
        subject = replace(self.asked.subject, terms=with_known(self.terms, changing))
        return self.steps.take(step, Found, lambda clock: found_pair(subject, asked, clock))

    def _matters(self, v: int) -> Found:
        row = self.alone.first[v]

        def found(clock: Clock) -> Found:
            shown = None if row is None else changed_row(self.asked.subject, row, [v], clock)
            return shown or found_pair(self.asked.subject, any_change(self.terms.classifier, [v]), clock)

        return self.steps.take(f"whether {self.variables[v].name} matters", Found, found)

    def _monotone(self, v: int, order: Sequence[int]) -> tuple[Found, Found]:
        name, rank = self.variables[v].name, self.asked.subject.rank
        hurts, helps = (worse(len(rank), [sign * each for each in rank], v, order) for sign in (1, -1))
        return (
            self.steps.take(f"whether more {name} hurts", Found, lambda c: found_pair(self.asked.subject, hurts, c)),
            self.steps.take(f"whether more {name} helps", Found, lambda c: found_pair(self.asked.subject, helps, c)),
        )

    def _cover(self, label: int) -> Covering:
        def found(clock: Clock) -> Covering:
            made = rules.cover(self.rows, self.rows.decision == label, self.terms, self.asked.share, clock)
            return Covering(
                tuple(rule.conditions for rule in made.rules), made.explained, made.is_enough, made.are_learned
            )

        return self.steps.take(f"rules for {self.terms.classes[label]}", Covering, found)

    def _comparison(self) -> Comparison | None:
        models = self.asked.compared
        if models is None:
            return None
        grouping = self.grouping(self.asked.protected) if self.asked.protected else None

        def group_of(batch: Any) -> Any:
            if grouping is None:
                return np.full(batch.num_rows, -1, np.int64)
            return grouping.group_of([_states_in(parting, batch) for parting in grouping.partings])

        def found(clock: Clock) -> Comparison:
            return comparison.compare(
                models.old,
                models.new,
                lambda: (batch for _, batch in self.asked.subject.table.batches()),
                group_of=group_of,
                group_names=() if grouping is None else grouping.names,
                clock=clock,
                within=models.within,
                given=models.given,
            )

        return self.steps.take("how two models differ", Comparison, found)


def _states_in(parting: Parting, batch: Any) -> Any:
    """Which of a parting's literals holds of each row of a batch."""
    blank = np.full((batch.num_rows, 1), -1, np.int64)
    states, _ = with_columns([parting.variable], [0], batch, blank)
    return parting.of_states(states[:, 0])
