"""Another decision of an additive model in a region, searched plainly: what `verify` asks, so that it shares nothing
with the model's own search.

A box is tried as a whole in two ways. The scores are added as the source adds them, but of each term the least and the
most that the box admits: rounding is monotone, so what every instance has lies between. And what a class needs, that it
beats each other or that the score is between two cuts, is bounded exactly, in fractions, with a margin for all that can
be rounded. A box that neither way rules out is split in two, until nothing in it makes a difference.

Glossary: a *spread* is the least and the most of each score; a *form* is a weighted sum of scores and a number that
must not be above 0.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from quia.additive_plain import ULP, Form, Spread, bends, interval, plus, row, run, size_of, total
from quia.caching import cached_property
from quia.errors import Undecided
from quia.places import last_until
from quia.ranges import Ranges, members, size
from quia.terms import Line, Table

if TYPE_CHECKING:
    from quia.additive import Additive
    from quia.question import Question
    from quia.region import Region
    from quia.terms import Term

Box = dict[int, Ranges]

MOST_BOXES = 5_000
"""So many boxes are tried before it is given up."""
_ROUNDS = 8
"""So often the needs of a class are weighted anew, to see that they cannot be met together."""


def escape(model: Additive, question: Question, region: Region, clock: Callable[[], None]) -> tuple[int, ...] | None:
    """An instance in the region, and possible, whose class does not keep the decision; None if there is none.

    `clock` is called now and then, and may raise to end the search; Undecided, if too many boxes are left.
    """
    possible = region.intersection(question.within)
    if possible.is_empty:
        return None
    near = possible.nearest(question.states)
    used = sorted({term.variable for term in model.terms})
    search = _Search(model, near, {v: possible.states(v) for v in used}, sorted(question.keeps))
    waiting = [search.whole]
    for _ in range(MOST_BOXES):
        if not waiting:
            return None
        clock()
        box = waiting.pop()
        left = [c for c in search.reached(box) if c not in search.keeps]
        for c in left:
            point, is_settled = search.attempt(box, c)
            if point is not None:
                return point
            if not is_settled:
                waiting += search.halves(box)
                break
    raise Undecided(
        "the scores of too many instances are equal but for rounding, so that they cannot be checked plainly; give"
        " values to features that are unknown, or the model numbers with fewer digits"
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """What is known of a model in the `whole` box; `near` is an instance in it."""

    model: Additive
    near: tuple[int, ...]
    whole: Box
    keeps: Sequence[int]
    _least: dict[tuple[int, Ranges, tuple[int, ...]], tuple[Fraction, int]] = field(default_factory=dict)
    _spreads: dict[tuple[int, Ranges], Spread] = field(default_factory=dict)

    def reached(self, box: Box) -> list[int]:
        """The classes that the spread of a box does not rule out."""
        spread: Spread = [(number, number) for number in self.model.start]
        for at, term in enumerate(self.model.terms):
            spread = plus(spread, self._spread(at, box[term.variable]))
        if self.model.end:
            spread = plus(spread, [(number, number) for number in self.model.end])
        if self.model.rule.kind == "cuts":
            ((low, high),) = spread
            first, last = (sum(score >= cut for cut in self.model.rule.cuts) for score in (low, high))
            return list(range(first, last + 1))
        return [
            c
            for c, (_, high) in enumerate(spread)
            if all(high > low if j < c else high >= low for j, (low, _) in enumerate(spread) if j != c)
        ]

    def attempt(self, box: Box, wanted: int) -> tuple[tuple[int, ...] | None, bool]:
        """An instance of the box that is decided otherwise, if one is met with; else whether none can have a class."""
        forms = self._forms(wanted)
        weights = [1] * len(forms)
        for turn in range(_ROUNDS if len(forms) > 1 else 1):
            for form in [total(forms, weights)] if turn else forms:
                least, point = self._at_least(box, form)
                margin = sum((abs(w) * e for w, e in zip(form.weights, self._errors, strict=True)), Fraction())
                if least > margin or (least == margin == 0 and form.is_strict):
                    return None, True
                if self._decides_otherwise(point):
                    return point, True
            # The needs that are not met there count for more.
            values = [self._value(form, point) for form in forms]
            worst = max(values, default=Fraction())
            weights = [w + (4 if value == worst else 0) for w, value in zip(weights, values, strict=True)]
        return None, not any(size(states) > 1 for states in box.values())

    def _decides_otherwise(self, point: tuple[int, ...]) -> bool:
        (decided, *others) = self.reached({v: ((point[v], point[v]),) for v in self.whole})
        assert not others, "one instance has one class"
        return decided not in self.keeps

    def _forms(self, wanted: int) -> list[Form]:
        """What a class needs to be decided."""
        cuts, count = self.model.rule.cuts, len(self.model.start)
        if self.model.rule.kind == "cuts":
            lower = [Form((-1,), Fraction(cuts[wanted - 1]), False)] if wanted else []
            return [*lower, *(Form((1,), -Fraction(cut), True) for cut in cuts[wanted : wanted + 1])]
        rivals = [j for j in range(count) if j != wanted]
        if not rivals:
            return [Form((0,), Fraction(), False)]
        return [Form(tuple((k == j) - (k == wanted) for k in range(count)), Fraction(), j < wanted) for j in rivals]

    def _at_least(self, box: Box, form: Form) -> tuple[Fraction, tuple[int, ...]]:
        """The least that a form is in a box, exactly, and an instance that is near to it."""
        added_up, point = form.offset + self._constant(form), list(self.near)
        for v, states in box.items():
            key = (v, states, form.weights)
            if key not in self._least:
                self._least[key] = min(self._added(v, states, form.weights))
            added, point[v] = self._least[key]
            added_up += added
        return added_up, tuple(point)

    def _value(self, form: Form, point: tuple[int, ...]) -> Fraction:
        return self._at_least({v: ((point[v], point[v]),) for v in self.whole}, form)[0]

    def _constant(self, form: Form) -> Fraction:
        ends = self.model.end or (0.0,) * len(self.model.start)
        both = zip(form.weights, self.model.start, ends, strict=True)
        return sum((w * (Fraction(a) + Fraction(b)) for w, a, b in both), Fraction())

    def _added(self, v: int, states: Ranges, weights: tuple[int, ...]) -> Iterator[tuple[Fraction, int]]:
        """What a variable adds to a form, exactly, in states among which, or near to which, it is least."""
        variable = self.model.variables[v]
        if not variable.is_line:
            yield from ((self._exact(v, None, state, weights), state) for state in members(states))
            return
        last = len(variable.cuts)
        for first, final in self._pieces(v, states):
            if first > last:
                yield self._exact(v, None, first, weights), first
                continue
            low, high = (Fraction(variable.number(state)) for state in (first, final))
            inner = {x for t in self._lines(v) for x in bends(t) if low < x < high}
            points = sorted({low, high, *inner})
            vertices = [self._vertex(v, a, b, first, weights) for a, b in pairwise(points)]
            for x in [*points, *(x for x in vertices if x is not None)]:
                yield self._exact(v, x, first, weights), min(max(variable.encode(float(x)), first), final)

    def _lines(self, v: int) -> list[Line]:
        return [term for term in self.model.terms if term.variable == v and isinstance(term, Line)]

    def _pieces(self, v: int, states: Ranges) -> Iterator[tuple[int, int]]:
        """The states of a line in pieces on which tables of it are constant."""
        variable = self.model.variables[v]
        last = len(variable.cuts)
        tables = [t for t in self.model.terms if t.variable == v and isinstance(t, Table)]
        ends = {
            bisect_left(variable.below, last_until(cut.last_below(False))) for table in tables for cut in table.cuts
        } | {last}
        for low, high in states:
            borders = sorted({*(end for end in ends if low <= end < high), high})
            yield from zip([low, *(border + 1 for border in borders)], borders, strict=False)

    def _exact(self, v: int, x: Fraction | None, state: int, weights: tuple[int, ...]) -> Fraction:
        """What a state of a variable adds to a form; of its lines, what a number x does, if one is given."""
        variable, total = self.model.variables[v], Fraction()
        for term in self.model.terms:
            if term.variable != v:
                continue
            if isinstance(term, Line) and x is not None:
                total += run(term, x) * sum(w * Fraction(own) for w, own in zip(weights, term.weights, strict=True))
            else:
                added = row(term, variable.number(state) if x is not None else None, state)
                total += sum((w * Fraction(number) for w, number in zip(weights, added, strict=True)), Fraction())
        return total

    def _vertex(self, v: int, a: Fraction, b: Fraction, state: int, weights: tuple[int, ...]) -> Fraction | None:
        """Where a line turns between two numbers, between which it is of second degree at most."""
        middle = (a + b) / 2
        one, two, three = (self._exact(v, x, state, weights) for x in (a, middle, b))
        first, second = (two - one) / (middle - a), (three - two) / (b - middle)
        if first == second:
            return None
        bend = (second - first) / (b - a)
        turn = (a + middle - first / bend) / 2
        return turn if a < turn < b else None

    def _spread(self, at: int, states: Ranges) -> Spread:
        """The least and the most that a term adds to each score."""
        known = self._spreads.get((at, states))
        if known is None:
            known = self._spreads[at, states] = self._spread_of(self.model.terms[at], states)
        return known

    def _spread_of(self, term: Term, states: Ranges) -> Spread:
        variable = self.model.variables[term.variable]
        last = len(variable.cuts)
        rows: list[Sequence[float]] = []
        if not variable.is_line:
            rows += [row(term, None, state) for state in members(states)]
        elif isinstance(term, Table):
            rows += [
                row(term, None if first > last else variable.number(first), first)
                for first, _ in self._pieces(term.variable, states)
            ]
        else:
            for low, high in states:
                if low <= last:
                    ends = interval(term, variable.number(low), variable.number(min(high, last)))[0]
                    rows += [[end * weight for weight in term.weights] for end in ends]
                if high > last:
                    rows.append(row(term, None, high))
        return [(min(column), max(column)) for column in zip(*rows, strict=True)]

    @cached_property
    def _errors(self) -> list[Fraction]:
        """How far rounding can take each score off, anywhere in the whole box; 0 where all sums are exact."""
        if self._is_exact:
            return [Fraction()] * len(self.model.start)
        spread: Spread = [(number, number) for number in self.model.start]
        errors = [0.0] * len(spread)
        for at, term in enumerate(self.model.terms):
            spread = plus(spread, self._spread(at, self.whole[term.variable]))
            own = self._own_error(term)
            errors = [e + o + ULP * size_of(*ends) for e, o, ends in zip(errors, own, spread, strict=True)]
        errors = [e + ULP * (size_of(*ends) + abs(end)) for e, ends, end in
                  zip(errors, spread, self.model.end or errors, strict=True)]  # fmt: skip
        return [Fraction(2 * e) + Fraction(2) ** -1050 for e in errors]

    def _own_error(self, term: Term) -> list[float]:
        """How far rounding can take what a line adds off."""
        variable = self.model.variables[term.variable]
        low, high = self.whole[term.variable][0][0], min(self.whole[term.variable][-1][1], len(variable.cuts))
        if isinstance(term, Table) or low > high:
            return [0.0] * len(self.model.start)
        ends, error = interval(term, variable.number(low), variable.number(high))
        return [abs(weight) * (error + ULP * size_of(*ends)) for weight in term.weights]

    @property
    def _is_exact(self) -> bool:
        if any(isinstance(term, Line) for term in self.model.terms):
            return False
        columns = [list(map(abs, (*self.model.start, *self.model.end)))]
        columns += [
            [abs(float(n)) for n in term.values.ravel()] for term in self.model.terms if isinstance(term, Table)
        ]
        finest = max(number.as_integer_ratio()[1] for column in columns for number in column)
        total = sum(map(Fraction, columns[0])) + sum(Fraction(max(column)) for column in columns[1:])
        return total * finest <= 2**53

    def halves(self, box: Box) -> Iterator[Box]:
        """The box split in two, where it makes the greatest difference to the scores."""
        matter: dict[int, float] = {}
        for at, term in enumerate(self.model.terms):
            spread = self._spread(at, box[term.variable])
            matter[term.variable] = matter.get(term.variable, 0.0) + max(high - low for low, high in spread)
        v = max((v for v in box if size(box[v]) > 1), key=lambda v: matter[v], default=None)
        if v is None or not matter[v]:
            return  # all of it is decided alike, and a point of it was tried
        for part in self._parts(v, box[v]):
            yield {**box, v: part}

    def _parts(self, v: int, states: Ranges) -> tuple[Ranges, Ranges]:
        if len(states) > 1:
            return states[: len(states) // 2], states[len(states) // 2 :]
        variable, (low, high) = self.model.variables[v], states[0]
        middle = (low + high) // 2
        if variable.is_line:
            last = min(high, len(variable.cuts))
            if last == high:
                middle = variable.encode(variable.number(low) / 2 + variable.number(last) / 2)
            middle = min(max(middle if last == high else last, low), high - 1)
        return ((low, middle),), ((middle + 1, high),)
