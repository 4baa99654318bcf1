"""A network's classifier along an order of its features: the messages that its sub-classifiers are told by."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.compile.cuts import Cuts
from quia.compile.factors import Factor, factors_of, in_doubles, product, too_far_apart, whole_numbers
from quia.compile.moves import Move, Places, moves_along
from quia.compile.network import Exact, Network
from quia.patience import Clock, OutOfTime

_MOST_KEPT = 20_000

_Entries = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]
"""Of a transfer: the states of the separators before and after, and the numbers there, a column for each class."""


@dataclass(frozen=True, eq=False)
class Scores:
    """What is compared to decide: for each state of the target a weight times its probability with the features.

    The class is the state with the greatest; of those that tie, the one with the least rank.
    """

    network: Network
    target: int
    features: Places
    weights: tuple[Fraction, ...]
    ranks: tuple[int, ...]

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The factors that bear on a decision.

        A part of the network that the features keep apart from the target multiplies all scores by the same number.
        It is left out, unless that may be 0.
        """
        network = self.network
        waiting = factors_of(network, sorted(network.ancestors((self.target, *self.features))))
        kept: list[Factor] = []
        for part in _parts(waiting, set(self.features)):
            matters = any(self.target in factor.scope for factor in part)
            if matters or not all((factor.table > 0).all() for factor in part):
                kept.extend(part)
        return tuple(kept)

    @cached_property
    def relevant(self) -> Places:
        """The features that bear on a decision."""
        met = {place for factor in self.factors for place in factor.scope}
        return tuple(place for place in self.features if place in met)

    @cached_property
    def rounded(self) -> tuple[Factor, ...]:
        """The same factors in doubles."""
        return tuple(in_doubles(factor) for factor in self.factors)

    def cuts(self, price: int) -> Cuts:
        """The separators between features, of which those are left out that the target makes: it is in all of them."""
        scopes = [[place for place in factor.scope if place != self.target] for factor in self.factors]
        return Cuts(scopes, self.network.sizes, self.relevant, price)


def _parts(factors: Sequence[Factor], features: Container[int]) -> Iterable[list[Factor]]:
    """The factors, those together that hidden variables connect."""
    beside: dict[int, set[int]] = {}  # of each hidden variable, those in its factors
    for factor in factors:
        hidden = [place for place in factor.scope if place not in features]
        for place in hidden:
            beside.setdefault(place, set()).update(hidden)
    part_of: dict[int, int] = {}
    for first in beside:
        waiting = [] if first in part_of else [first]
        while waiting:
            place = waiting.pop()
            part_of[place] = first
            waiting.extend(other for other in beside[place] if other not in part_of)
    parts: dict[int, list[Factor]] = {}
    for number, factor in enumerate(factors, 1):
        part = next((part_of[place] for place in factor.scope if place in part_of), -number)
        parts.setdefault(part, []).append(factor)
    return parts.values()


class TooMuchWork(Exception):
    """A graph takes more work than it may."""


class Ordered(NamedTuple):
    """A reduced ordered decision graph over features in this order, as the kernel has it.

    Nodes come after their children, leaves first: one for each class, whose level is the number of features.
    """

    order: Places
    level: npt.NDArray[np.int32]
    start: npt.NDArray[np.int64]
    child: npt.NDArray[np.int32]
    root: int


class Chain:
    """Scores along an order of the features that bear on them.

    A message after the first moves has a row for each state of the target and a column for each state of the separator.
    In the kernel messages are doubles with a bound on their error, here they are whole numbers.
    """

    def __init__(self, scores: Scores, order: Sequence[int], cuts: Cuts, clock: Clock) -> None:
        self.scores, self.order, self._clock = scores, tuple(order), clock
        self._sizes = scores.network.sizes
        self._cuts = cuts.along(order)
        self._moves = list[Move[Factor]]()
        for move in moves_along(scores.rounded, scores.target, order, self._cuts, self._sizes):
            clock()
            self._moves.append(move)
        self._exact: dict[tuple[int, int], _Entries] = {}
        self._messages: dict[Places, Exact] = {}
        self._later: dict[Places, Exact] = {}
        self.ties = 0
        self.has_impossible = False

    def compiled(self, *, nodes: int, memory: int, work: int | None = None) -> Ordered:
        """The reduced ordered decision graph; TooMuchWork where it takes more than that."""
        kernel = self._kernel
        ranks = np.array(self.scores.ranks, np.int32)
        try:
            (level, start, child, root), self.has_impossible, *_ = kernel.compile(
                ranks,
                self.decide,
                self.is_same,
                most_nodes=nodes,
                most_work=work,
                timeout=self._clock.left,
                memory=memory,
            )
        except _kernel.TooFarApart:
            raise too_far_apart() from None
        except _kernel.OverBudget as fault:
            if "time" in str(fault):
                raise OutOfTime from None
            if "limit of work" in str(fault):
                raise TooMuchWork from None
            raise
        # Moves that observe nothing are no levels of the graph.
        of_features = np.cumsum([0, *(move.feature is not None for move in self._moves)])
        return Ordered(self.order, of_features[level].astype(np.int32), start, child, root)

    @cached_property
    def _kernel(self) -> _kernel.Chain:
        start, from_, to, values, errors = [0], [], [], [], []
        for move in self._moves:
            factor = product(move.tables, self._sizes)
            errors.append(factor.error)
            for state in range(self._states(move)):
                self._clock()
                here, there, entries = self._entries(move, factor, state)
                filled = (entries > 0).any(axis=1)
                from_.append(here[filled])
                to.append(there[filled])
                values.append(entries[filled].astype(np.float64))
                start.append(start[-1] + int(filled.sum()))
        weights = [weight / max(self.scores.weights) for weight in self.scores.weights]
        return _kernel.Chain(
            np.array([self._states(move) for move in self._moves], np.int32),
            np.array([1, *(self._width(move.after) for move in self._moves)], np.int32),
            np.array(start, np.int64),
            np.concatenate(from_).astype(np.int32),
            np.concatenate(to).astype(np.int32),
            np.concatenate(values),
            np.array([float(weight) for weight in weights]),
            np.array(errors, np.float64),
        )

    def decide(self, first: npt.NDArray[np.int32], rest: npt.NDArray[np.int32]) -> int:
        """The class of features' states, exactly; the states are given in two parts, of which many share one."""
        message, later = self._message(tuple(first.tolist())), self._after(tuple(rest.tolist()))
        scores = (message * later).sum(axis=1)
        greatest = max(scores)
        best = [c for c, score in enumerate(scores) if score == greatest]
        self.ties += len(best) > 1
        return min(best, key=self.scores.ranks.__getitem__)

    def is_same(self, first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> bool:
        """Whether states of the first features leave messages that are equal up to a factor."""
        a, b = (self._message(tuple(states.tolist())) for states in (first, second))
        return bool((a == b).all())

    def _message(self, states: Places) -> Exact:
        """The message after the first moves, divided by what all its numbers have in common."""
        known = next((k for k in range(len(states), 0, -1) if states[:k] in self._messages), 0)
        message = self._messages[states[:known]] if known else _column(whole_numbers(np.array(self.scores.weights)))
        for number in range(known, len(states)):
            here, there, entries = self._exact_entries(number, states[number])
            made = np.zeros((len(message), self._width(self._moves[number].after)), object)
            for c in range(len(message)):
                np.add.at(made[c], there, message[c, here] * entries[:, c])
            message = _reduced(made)
            _keep(self._messages, states[: number + 1], message)
        return message

    def _after(self, states: Places) -> Exact:
        """What the last moves say: what a message is multiplied with."""
        known = next((k for k in range(len(states)) if states[k:] in self._later), len(states))
        after = self._later[states[known:]] if known < len(states) else _column([1] * len(self.scores.weights))
        for place in range(known - 1, -1, -1):
            number = len(self._moves) - len(states) + place
            here, there, entries = self._exact_entries(number, states[place])
            made = np.zeros((len(after), self._width(self._moves[number].before)), object)
            for c in range(len(after)):
                np.add.at(made[c], here, after[c, there] * entries[:, c])
            after = _reduced(made)
            _keep(self._later, states[place:], after)
        return after

    @cached_property
    def _exact_moves(self) -> list[Move[Factor]]:
        scores = self.scores
        return list(moves_along(scores.factors, scores.target, self.order, self._cuts, self._sizes))

    def _width(self, separator: Places) -> int:
        return math.prod(self._sizes[place] for place in separator)

    def _states(self, move: Move[Factor]) -> int:
        return 1 if move.feature is None else self._sizes[move.feature]

    def _exact_entries(self, number: int, state: int) -> _Entries:
        if (number, state) not in self._exact:
            move = self._exact_moves[number]
            factor = product(move.tables, self._sizes)
            for each in range(self._states(move)):
                self._exact[number, each] = self._entries(move, factor, each)
        return self._exact[number, state]

    def _entries(self, move: Move[Factor], factor: Factor, state: int) -> _Entries:
        """For each state of the variables that a move meets: which of both separators it is, and the factor there.

        The feature that it observes is there in its state only.
        """
        target, observed = self.scores.target, {move.feature}
        free = tuple(sorted({*move.before, *move.after, *factor.scope} - observed - {target}))
        shape = [self._sizes[place] for place in free]
        count = math.prod(shape)
        states = dict(zip(free, np.indices(shape).reshape(len(free), count), strict=True))
        if move.feature is not None:
            states[move.feature] = np.full(count, state)

        def number(separator: Places) -> npt.NDArray[np.int64]:
            made = np.zeros(count, np.int64)
            for place in separator:
                made = made * self._sizes[place] + states[place]
            return made

        entries = np.empty((count, self._sizes[target]), factor.table.dtype)
        for c in range(self._sizes[target]):
            states[target] = np.full(count, c)
            entries[:, c] = factor.table[tuple(states[place] for place in factor.scope)]
        return number(move.before), number(move.after), entries


def _column(numbers: Sequence[int] | Exact) -> Exact:
    made = np.empty((len(numbers), 1), object)
    made[:, 0] = numbers
    return made


def _reduced(message: Exact) -> Exact:
    common = math.gcd(*message.reshape(-1))
    return message // common if common > 1 else message


def _keep(known: dict[Places, Exact], states: Places, message: Exact) -> None:
    if len(known) >= _MOST_KEPT:
        known.clear()
    known[states] = message
