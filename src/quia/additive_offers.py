"""Which sets of states a variable of an additive model may have, where several needs are looked at at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quia.additive_asked import Asked
from quia.additive_budgets import Choice
from quia.additive_gaps import Gaps
from quia.boxes import Shape
from quia.ranges import Ranges, covers, difference, members, size, union

_MOST_STATES = 500
_MOST_CHOICES = 200
"""So many sets of states of one variable are told apart; of more states, or sets, a search finds boxes."""

Costs = tuple[float, ...]


class Offered(NamedTuple):
    """What sets of states a variable may have, in their order, and what the best of them adds to each gap."""

    choices: list[Choice]
    best: Costs


def offered(asked: Asked, every: Sequence[Gaps], place: int) -> Offered | None:
    """The choices of a variable, made once for each of its states; None if they are too many."""
    v = asked.of[place]
    needs = tuple(gaps.need for gaps in every)
    key = (needs, v, asked.question.states[v], asked.kind, asked.intervals, asked.largest[place])
    kept = every[0].offered
    if key not in kept:
        kept[key] = _offered(asked, every, place)
    found: Offered | None = kept[key]
    return found


def _offered(asked: Asked, every: Sequence[Gaps], place: int) -> Offered | None:
    v, shape, possible = asked.of[place], asked.shapes[place], asked.largest[place]
    if size(possible) > _MOST_STATES:
        return None
    own = asked.question.states[v] if asked.is_sufficient else None
    sign = -1.0 if asked.is_sufficient else 1.0
    losses = {state: tuple(sign * gaps.at(v, state) for gaps in every) for state in members(possible)}
    base = losses[own] if own is not None else tuple(map(min, zip(*losses.values(), strict=True)))
    sets = _sets(shape, losses, own)
    if sets is None:
        return None
    costs = {states: tuple(a - b for a, b in zip(worst, base, strict=True)) for states, (worst, _) in sets.items()}
    choices = [
        Choice(
            states,
            size(states),
            costs[states],
            tuple({tuple(b - a for a, b in zip(costs[states], costs[more], strict=True)) for more in larger}),
        )
        for states, (_, larger) in sets.items()
    ]
    choices.sort(key=lambda choice: list(members(choice.states)))
    return Offered(choices, tuple(sign * number for number in base))


def _sets(shape: Shape, losses: dict[int, Costs], own: int | None) -> dict[Ranges, tuple[Costs, list[Ranges]]] | None:
    """The sets that are the largest for the most that their states lose, with that, and the next larger ones."""
    found: dict[Ranges, tuple[Costs, list[Ranges]]] = {}
    begun: list[Ranges] = [((state, state),) for state in (losses if own is None else [own])]
    if own is not None and own >= shape.numbers:  # a missing value may have any numbers beside it
        begun += [union(((own, own), (state, state))) for state in losses if state < shape.numbers]
    work = [each for states in begun for each in _closed(shape, losses, states)]
    while work:
        states = work.pop()
        if states in found:
            continue
        if len(found) == _MOST_CHOICES:
            return None
        larger = [
            each
            for state in _beside(shape, losses, states)
            for each in _closed(shape, losses, union((*states, (state, state))))
        ]
        found[states] = _worst(losses, states), list(dict.fromkeys(larger))
        work += larger
    return found


def _worst(losses: dict[int, Costs], states: Ranges) -> Costs:
    return tuple(map(max, zip(*(losses[state] for state in members(states)), strict=True)))


def _beside(shape: Shape, losses: dict[int, Costs], states: Ranges) -> Iterator[int]:
    """The states by one of which a set can grow."""
    numbers = shape.numbers_of(states)
    for state in losses:
        if covers(states, state):
            continue
        is_far = numbers and state < shape.numbers and not numbers[0][0] - 1 <= state <= numbers[-1][1] + 1
        if not is_far:
            yield state


def _closed(shape: Shape, losses: dict[int, Costs], states: Ranges) -> Iterator[Ranges]:
    """The largest sets with these states in which none loses more than these do."""
    worst = _worst(losses, states)
    fits = union((s, s) for s, lost in losses.items() if all(a <= b for a, b in zip(lost, worst, strict=True)))
    return (part for part in shape.parts(fits) if not difference(states, part))
