"""Additive models: scorecards, linear models, naive Bayes; each feature adds to the scores that tell the class."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.additive_gaps import MOST_CLOSE, Gaps
from quia.additive_needs import Need, ways
from quia.additive_rows import weigh_rows
from quia.additive_search import FEW_BOXES, MOST_BOXES, Together
from quia.arguments import ends
from quia.boxes import Box, filled
from quia.caching import cached_property
from quia.classifier import ClassifierBase, Weighed, model_line
from quia.errors import (
    GraphError,
    InstanceError,
    MissingValue,
    OutOfRange,
    Unsupported,
    did_you_mean,
    listed,
    shown,
)
from quia.families import FindsReasons
from quia.patience import Clock
from quia.pickling import ByFields
from quia.question import Question
from quia.ranges import size
from quia.reason import Kind
from quia.region import Region
from quia.sums import Rule
from quia.terms import Floats, Line, Table, Term
from quia.variables import UNKNOWN, Variable

if TYPE_CHECKING:
    from quia.contrast import Contrast

_LEAST_NUMBER = 5e-324
"""So much a product of numbers that are almost 0 may be off: a margin of none would call sums exact that are not."""
_FEW_CLOSE = 1000
"""Of so many instances that are all but equal each is tried in a short search."""
_FEW_INSTANCES = 2000
"""Among so many, no search is long."""


class Inequality(NamedTuple):
    """Which changes of a decision one need asks for, as sums.

    Changing a set of variables, each to its worst, meets the need if the sum of their `losses` is above the `slack`,
    or equal to it where `ties` are in. That is certain only if the two differ by more than the `margin`, which is 0
    where the sums are exact.
    """

    variables: tuple[int, ...]
    losses: tuple[float, ...]
    slack: float
    ties: bool
    margin: float


@dataclass(frozen=True, eq=False)
class Additive(ByFields, ClassifierBase):
    """A classifier whose scores are sums of what each feature adds, as the library adds them that made it.

    The scores begin with `start`, the `terms` are added one by one in their order, in 64 bits, then `end` is added
    (unless it is empty). `rule` tells the class: of kind `cuts` (one score, and the class is the number of cuts that it
    reaches) or `argmax` (the first of the greatest). Several terms may be about one variable. `unit` is by how much
    people's points were multiplied to be whole numbers; `given` are constraints between the variables: what breaks one
    is decided, but counts in no answer.

    >>> job = Variable.nominal("job", ["none", "new", "old"])
    >>> income = Variable.line("income", 0, 100)
    >>> card = Additive((job, income), ("deny", "grant"),
    ...     (Table(0, np.array([[0.0], [10.0], [25.0]])), Line(1, (), (0.5,))), (0.0,), Rule("cuts", (40.0,)))
    >>> card.classify({"job": "old", "income": 30}), card.classify({"job": "new", "income": 59})
    ('grant', 'deny')
    """

    variables: tuple[Variable, ...]
    classes: tuple[str, ...]
    terms: tuple[Term, ...]
    start: tuple[float, ...]
    rule: Rule
    end: tuple[float, ...] = ()
    kind: str = "additive model"
    notes: tuple[str, ...] = ()
    unit: float = 1.0
    given: tuple[Any, ...] = ()
    any_worlds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scores = len(self.start)
        if self.rule.kind not in ("cuts", "argmax"):
            raise GraphError(f"the rule is {self.rule.kind!r}; of an additive model it is 'cuts' or 'argmax'")
        if not scores or (self.rule.kind == "cuts" and scores != 1):
            raise GraphError(f"{scores} scores are told apart by the rule {self.rule.kind!r}")
        told_apart = self.rule.class_count(scores)
        if told_apart != len(self.classes):
            raise GraphError(f"the classes are {listed(self.classes)}, but the scores tell {told_apart} apart")
        if self.end and len(self.end) != scores:
            raise GraphError(f"{len(self.end)} numbers are added in the end to {scores} scores")
        if not all(map(math.isfinite, (*self.start, *self.end))):
            raise GraphError("a number that the scores begin or end with is not finite")
        for term in self.terms:
            if not 0 <= term.variable < len(self.variables):
                raise GraphError(f"a term is about variable {term.variable} of {len(self.variables)}")
            term.check(self.variables[term.variable], scores)
        if not math.isfinite(_greatest_sum(self)):
            raise GraphError("the scores can be too large for 64-bit numbers; give smaller points, weights or ranges")

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Additive:
        """An additive model from the JSON format."""
        from quia.additive_dict import read

        return read(data)

    def to_dict(self) -> dict[str, Any]:
        """The additive model in the JSON format: reading that gives the same scores, to the last bit."""
        from quia.additive_dict import write

        return write(self)

    def __repr__(self) -> str:
        return model_line(self, self.kind)

    @property
    def sizes(self) -> dict[str, int]:
        """How many terms are added, and how many of them are lines."""
        return {"terms": len(self.terms), "lines": sum(isinstance(term, Line) for term in self.terms)}

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The indices of the variables that add something that differs from value to value."""
        return tuple(sorted({term.variable for term in self.terms if _differs(term)}))

    @cached_property
    def unbounded(self) -> tuple[str, ...]:
        """The lines that have no range yet: without one, nothing else forces a decision."""
        return tuple(
            self.variables[v].name for v in self.tested if self.variables[v].is_line and not self.variables[v].range
        )

    def with_ranges(self, ranges: Mapping[str, Sequence[float]]) -> Additive:
        """The same model, where lines have these ranges: `{"income": (0, 250000)}`."""
        names = [variable.name for variable in self.variables]
        variables = list(self.variables)
        for name, given in ranges.items():
            if name not in names:
                raise InstanceError(f"ranges has {shown(name)}, which is no variable{did_you_mean(name, names)}")
            variable = self.variables[names.index(name)]
            if not variable.is_line:
                raise InstanceError(f"ranges has {shown(name)}, whose states are listed; only a line needs a range")
            low, high = ends(given, name)
            variables[names.index(name)] = Variable.line(name, low, high, missing=variable.missing)
        return replace(self, variables=tuple(variables))

    def refined(self, variables: tuple[Variable, ...]) -> Additive:
        """The same model over variables that have all cuts of its own, and more."""
        from quia.refine import first_states

        terms = list(self.terms)
        for at, term in enumerate(self.terms):
            own, finer = self.variables[term.variable], variables[term.variable]
            if isinstance(term, Table) and own.size != finer.size:
                rows = np.repeat(np.arange(own.size), np.diff(first_states(own, finer)))
                terms[at] = replace(term, values=term.values[rows])
        return replace(self, variables=variables, terms=tuple(terms))

    def reaching(self, instance: Any) -> Additive:
        """The model itself, or where a number of an instance is outside its range, with that widened and a note."""
        model = self
        while True:
            try:
                model.encode(instance)
            except OutOfRange as outside:
                variable = model.variables[[v.name for v in model.variables].index(outside.feature)]
                low, high = variable.range or (outside.number, outside.number)
                wider = {outside.feature: (min(low, outside.number), max(high, outside.number))}
                note = f"{outside.feature} is outside its range {low:g} to {high:g}, which was widened to it"
                model = replace(model.with_ranges(wider), notes=(*model.notes, note))
            else:
                return model

    def classify(self, instance: Any) -> str:
        """The class of an instance, inside the ranges or outside."""
        return super(Additive, self.reaching(instance)).classify(instance)

    @property
    def is_exact(self) -> bool:
        """Whether sums are exact whatever their order: all numbers are multiples of one that is not too small."""
        return self.margin == 0

    @cached_property
    def margin(self) -> float:
        """How far rounding can take a difference of two scores off."""
        if _on_one_grid([*self.start, *self.end], self.terms):
            return 0.0
        total, error = np.abs(self.start), np.zeros(len(self.start))
        total = total + np.abs(self.end or (0.0,))
        for term in self.terms:
            greatest, own = term.extent(self.variables[term.variable])
            total, error = total + greatest, error + own
        rounding = 2.0**-53 * (len(self.terms) + 4)
        return 4.0 * (float((total * rounding + error).max()) + _LEAST_NUMBER * (len(self.terms) + 1))

    def scores(self, states: Sequence[int]) -> Floats:
        """The scores of an encoded instance of which all is known, added as the source adds them."""
        sums = list(self.start)
        for term in self.terms:
            added = term.at(self.variables[term.variable], states[term.variable])
            sums = [a + b for a, b in zip(sums, added, strict=True)]
        if self.end:
            sums = [a + b for a, b in zip(sums, self.end, strict=True)]
        return np.array(sums)

    def told(self, scores: Sequence[float]) -> int:
        """The class that scores tell."""
        if self.rule.kind == "cuts":
            return sum(scores[0] >= cut for cut in self.rule.cuts)
        return max(range(len(scores)), key=lambda c: scores[c])  # the first of the greatest

    def decide(self, states: Sequence[int]) -> int:
        """The index of the class of an encoded instance, the same whatever its unknown variables (-1) are.

        If it depends on one of them, MissingValue names that.
        """
        unknown = [v for v in self.tested if states[v] == UNKNOWN]
        one = [max(state, 0) for state in states]
        decision = self.told(self.scores(one).tolist())
        if unknown:
            for v in unknown:
                if self.variables[v].name in self.unbounded:
                    raise self._depending_on(v)
            question = Question(self.classes, tuple(states), decision, frozenset((decision,)), Region(self.variables))
            other = self._escaping(question, Region.at(self.variables, states, self.tested), Clock())
            if other is not None:
                at = iter(unknown)
                changed = UNKNOWN
                while self.told(self.scores(one).tolist()) == decision:
                    changed = next(at)
                    one[changed] = other[changed]
                raise self._depending_on(changed)
        return decision

    def _depending_on(self, variable: int) -> MissingValue:
        name = self.variables[variable].name
        return MissingValue(f"{name} is not known", feature=name, why="the decision depends on it")

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """An instance in the region, and possible, whose class does not keep the decision; None if there is none.

        Complexity: a look at each variable for each class that is not kept, where that can win by beating one other.
        """
        return self.escape_in_time(question, region, None)

    def escape_in_time(self, question: Question, region: Region, timeout: float | None) -> tuple[int, ...] | None:
        """As `escape`; OutOfTime if so many seconds are not enough."""
        self.refuse_unbounded()
        return self._escaping(question, region, Clock(timeout))

    def _escaping(
        self, question: Question, region: Region, clock: Clock, *, is_short: bool = False
    ) -> tuple[int, ...] | None:
        possible = region.intersection(question.within)
        if possible.is_empty:
            return None
        for way in self.ways(question):
            if len(way) > 1:
                found = self._together(way).escape(possible, clock, FEW_BOXES if is_short else MOST_BOXES)
            elif way:
                found = self._least(way[0], possible, clock, _FEW_CLOSE if is_short else MOST_CLOSE)
            else:
                found = possible.nearest(question.states)
            if found is not None:
                return found
        return None

    def escape_soon(self, question: Question, region: Region, clock: Clock) -> tuple[int, ...] | None:
        """As `escape`, by a search that is short where there are many instances; TooLarge if that does not tell."""
        instances = math.prod(size(region.states(v)) for v in self.tested)
        return self._escaping(question, region, clock, is_short=instances > _FEW_INSTANCES)

    def ends_near(self, question: Question, kind: Kind, members: Sequence[int]) -> bool:
        """Whether borders of lines in conditions may end a little before they need to, where sums are all but equal.

        They do where several classes, or several terms of one variable, take part in the rounding.
        """
        from quia.additive_asked import Asked

        asked = Asked(self, question, kind, tuple(members), True, False, Clock())
        return not asked.is_rounded_alike and any(self.variables[v].is_line for v in members)

    def plain_escape(self, question: Question, region: Region, clock: Callable[[], None]) -> tuple[int, ...] | None:
        """What `escape` gives, by a plain search that shares nothing with it, in fractions; it takes far longer."""
        from quia import additive_check

        self.refuse_unbounded()
        return additive_check.escape(self, question, region, clock)

    def ways(self, question: Question) -> Sequence[Sequence[Need]]:
        """The ways in which the decision can change."""
        return self.ways_out(question.keeps)

    def ways_out(self, keeps: Collection[int]) -> Sequence[Sequence[Need]]:
        """The ways in which a decision can change that some classes keep."""
        return ways(self.rule, len(self.start), keeps, self._cuts)

    @cached_property
    def _cuts(self) -> tuple[float, ...]:
        """The cuts of the rule; where sums are exact, the least sum that reaches each, so that gaps are exact too."""
        if self.margin > 0:
            return self.rule.cuts
        finest = _finest([*self.start, *self.end], self.terms)
        return tuple(math.ceil(Fraction(cut) * finest) / finest for cut in self.rule.cuts)

    @cached_property
    def _gaps(self) -> dict[Need, Gaps]:
        return {}

    def gaps(self, need: Need) -> Gaps:
        """What each variable adds to the gap of a need."""
        known = self._gaps.get(need)
        if known is None:
            known = self._gaps[need] = Gaps.of(self, need)
        return known

    @cached_property
    def _ways(self) -> dict[tuple[Need, ...], Together]:
        return {}

    def _together(self, way: Sequence[Need]) -> Together:
        """A way of several needs, and what is known of it."""
        key = tuple(way)
        known = self._ways.get(key)
        if known is None:
            known = self._ways[key] = Together(self, key)
        return known

    def _least(self, need: Need, possible: Region, clock: Clock, most: int = MOST_CLOSE) -> tuple[int, ...] | None:
        """An instance in a region that meets a need alone; None if there is none."""
        gaps = self.gaps(need)
        least, states = gaps.least(possible)
        if least > self.margin:
            return None
        if least < -self.margin or need.holds(self.gap(need, states)):
            return states
        return None if self.margin == 0 else gaps.search(possible, clock, most)

    def gap(self, need: Need, states: Sequence[int]) -> float:
        """The gap of a need at an instance, of scores as the source adds them."""
        scores = self.scores(states).tolist()
        used = [weight * score for weight, score in zip(need.weights, scores, strict=True) if weight]
        return math.fsum((*used, need.offset))

    def inequalities(self, question: Question) -> list[Inequality] | None:
        """What decides which sets of variables can change the decision; None if no single need does for some class.

        Its variables are those that may change: tested, known, and neither frozen nor of one possible state.
        """
        self.refuse_unbounded()
        found = []
        for way in self.ways(question):
            if len(way) != 1:
                return None
            gaps = self.gaps(way[0])
            # What is unknown is at its worst already.
            here = gaps.least(question.worlds(self.tested))[0]
            losses = {
                v: gaps.at(v, question.states[v]) - gaps.least_of(v, question.within.states(v))[0]
                for v in self.tested
                if question.states[v] != UNKNOWN
            }
            kept = [v for v in losses if v not in question.frozen]
            margin = 0.0 if self.margin == 0 else 2 * self.margin
            found.append(Inequality(tuple(kept), tuple(losses[v] for v in kept), here, way[0].ties, margin))
        return found

    def reasons_of(self, question: Question) -> FindsReasons:
        """Both kinds of reasons of a decision."""
        from quia.additive_reasons import AdditiveReasons

        return AdditiveReasons.of(self, question)

    def reduce(self, question: Question, kept: Sequence[int], timeout: float | None) -> tuple[Sequence[int], bool]:
        """Of variables that force the decision together, some that do, and whether these are a sufficient reason.

        Complexity: a look at each variable for each class that is not kept; where rounding could matter, an `escape`.
        """
        from quia.additive_reasons import reduced

        return reduced(self, question, kept, Clock(timeout))

    def find_pair(
        self, contrast: Contrast, possible: Region, clock: Clock
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Two instances in a region that a contrast looks for; None if there are none."""
        from quia.additive_pairs import find_pair

        self.refuse_unbounded()
        return find_pair(self, contrast, possible, clock)

    def widen(
        self,
        question: Question,
        kind: Kind,
        members: Sequence[int],
        intervals: bool,
        *,
        limit: int | None = None,
        certain: bool = False,
        timeout: float | None = None,
    ) -> list[Box] | None:
        """The largest boxes over a reason's variables; where lines are among them, one of them.

        None where only a search finds them: several classes, more choices than can be compared, or numbers that are
        impossible between others.
        """
        from quia import additive_sharing, additive_widen
        from quia.additive_asked import Asked

        within = question.within
        if any(filled(self.variables[v], within.states(v)) != within.states(v) for v in members):
            return None
        asked = Asked(self, question, kind, tuple(members), intervals, certain, Clock(timeout))
        if any(self.variables[v].is_line for v in members):
            return additive_sharing.boxes(asked)[:limit]
        return additive_widen.boxes(asked, limit)

    def weigh_rows(
        self, rows: npt.NDArray[Any], keeps: frozenset[int], frozen: Collection[int]
    ) -> Sequence[Weighed] | None:
        """What many rows can lose and can bear, for each way in which their decision can change."""
        self.refuse_unbounded()
        return weigh_rows(self, rows, keeps, frozen)

    def refuse_unbounded(self) -> None:
        """Unsupported where a number has no range, with how to give one."""
        if self.unbounded:
            names = listed(self.unbounded)
            raise Unsupported(
                f"{names} can be any number, so that nothing else forces a decision",
                cure=f"say between which numbers it lies, with ranges={{{self.unbounded[0]!r}: (low, high)}}, or give"
                " the table that it is in, with data=, when the model is loaded (on the command line:"
                f" --range {shown(self.unbounded[0] + '=LOW:HIGH')} or --ranges-from FILE.csv)",
            )

    def decide_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class of each encoded row; -2 - v where it depends on the unknown variable v."""
        known = np.maximum(rows, 0)
        scores = np.tile(np.array(self.start), (len(rows), 1))
        for term in self.terms:
            scores += self._added(term, known[:, term.variable])
        if self.end:
            scores += np.array(self.end)
        decided = self.told_rows(scores)
        for row in np.flatnonzero((rows[:, list(self.tested)] == UNKNOWN).any(axis=1)).tolist():
            try:
                decided[row] = self.decide(rows[row].tolist())
            except MissingValue as fault:
                decided[row] = -2 - [variable.name for variable in self.variables].index(fault.feature)
        return decided

    def told_rows(self, scores: Floats) -> npt.NDArray[np.int32]:
        """The class that each row of scores tells."""
        if self.rule.kind == "cuts":
            return np.asarray(np.searchsorted(np.array(self.rule.cuts), scores[:, 0], side="right"), np.int32)
        return np.asarray(scores.argmax(axis=1), np.int32)

    def _added(self, term: Term, states: npt.NDArray[Any]) -> Floats:
        variable = self.variables[term.variable]
        if not variable.is_line:
            assert isinstance(term, Table)
            return np.asarray(term.values[states])
        distinct, where = np.unique(states, return_inverse=True)
        numbers = [
            math.nan if variable.is_missing_state(state) else variable.number(state) for state in distinct.tolist()
        ]
        return np.asarray(term.of_numbers(np.array(numbers))[where])


def _greatest_sum(model: Additive) -> float:
    """What all that is added can come to at the most."""
    with np.errstate(over="ignore"):
        extents = (term.extent(model.variables[term.variable])[0].max() for term in model.terms)
        return float(sum(extents, max(map(abs, model.start)) + max(map(abs, model.end), default=0.0)))


def _differs(term: Term) -> bool:
    """Whether a term adds different numbers for different states."""
    if isinstance(term, Line):
        return any(term.weights) or term.missing is not None
    return bool((term.values != term.values[:1]).any())


def _on_one_grid(constants: Iterable[float], terms: Iterable[Term]) -> bool:
    """Whether all numbers are multiples of a power of two, and their sums have no more than 53 bits of these."""
    tables = [term for term in terms if isinstance(term, Table)]
    if len(tables) < len(list(terms)):
        return False
    fixed = list(constants)
    total = sum(map(abs, fixed)) + sum(float(np.abs(table.values).max()) for table in tables)
    return total < math.ldexp(1.0, 53 - _finest(fixed, tables).bit_length())


def _finest(constants: Iterable[float], terms: Iterable[Term]) -> int:
    """The power of two that makes whole numbers of all constants and tables."""
    values = [np.unique(term.values) for term in terms if isinstance(term, Table)]
    return max((float(n).as_integer_ratio()[1] for n in np.concatenate([list(constants), *values])), default=1)
