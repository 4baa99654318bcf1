"""The shortest reasons of a points card by a plain Python loop, as one would write it who knows how they are found.

For each row: what each feature can lose, the largest first until it is enough; then every other set of that size comes
from this one by swaps that cost no more than was spare. It shares no line with quia.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice


def loop(
    points: Sequence[Sequence[int]], cutoff: int, rows: Sequence[Sequence[int]], limit: int
) -> list[tuple[bool, list[tuple[int, ...]], int, list[tuple[int, ...]], int]]:
    """Of each row: whether it reaches the cutoff, its shortest necessary reasons and ties, and the sufficient ones."""
    least, most = [min(each) for each in points], [max(each) for each in points]
    found = []
    for row in rows:
        own = [each[state] for each, state in zip(points, row, strict=True)]
        score = sum(own)
        is_granted = score >= cutoff
        if is_granted:
            losses, rest = [a - b for a, b in zip(own, least, strict=True)], score - cutoff
        else:
            losses, rest = [b - a for a, b in zip(own, most, strict=True)], cutoff - 1 - score
        necessary = shortest(losses, rest + 1, limit)
        sufficient = shortest(losses, sum(losses) - rest, limit)
        found.append((is_granted, *necessary, *sufficient))
    return found


def shortest(losses: Sequence[int], need: int, limit: int) -> tuple[list[tuple[int, ...]], int]:
    """The first of the smallest sets whose losses sum to what is needed, and how many there are."""
    if need <= 0:
        return [()], 1
    order = sorted(range(len(losses)), key=lambda v: -losses[v])
    total = size = 0
    while total < need:
        if size == len(order):
            return [], 0
        total += losses[order[size]]
        size += 1
    spare, pivot = total - need, losses[order[size - 1]]
    following = losses[order[size]] if size < len(order) else pivot - spare - 1
    top = set(order[:size])
    fixed = [v for v in top if losses[v] - following > spare]
    zone = [
        (v, v in top, abs(losses[v] - pivot))
        for v in range(len(losses))
        if (losses[v] - following <= spare if v in top else pivot - losses[v] <= spare)
    ]
    left_out = _spent([cost for _, is_top, cost in zone if is_top], spare)
    taken = _spent([cost for _, is_top, cost in zone if not is_top], spare)
    ties = 0
    for swapped, out in enumerate(left_out):
        if swapped < len(taken) and out:
            up_to = list(accumulate(taken[swapped].get(cost, 0) for cost in range(spare + 1)))
            ties += sum(ways * up_to[spare - cost] for cost, ways in out.items())
    sets = (tuple(sorted((*fixed, *chosen))) for chosen in _chosen(zone, 0, 0, spare))
    return list(islice(sets, limit)), ties


def _spent(costs: Sequence[int], most: int) -> list[Counter[int]]:
    """In how many ways so many of them cost so much, for each number of them."""
    ways: list[Counter[int]] = [Counter({0: 1})]
    for cost in sorted(costs):
        ways.append(Counter())
        for count in range(len(ways) - 1, 0, -1):
            for spent, times in ways[count - 1].items():
                if spent + cost <= most:
                    ways[count][spent + cost] += times
        if not ways[-1]:
            ways.pop()
    return ways


def _chosen(zone: Sequence[tuple[int, bool, int]], at: int, owed: int, left: int) -> Iterator[tuple[int, ...]]:
    """The sets of a zone, in order; so many variables are owed, and so much is left to spend."""
    if at == len(zone):
        if not owed:
            yield ()
        return
    cheapest = sorted(cost for _, is_top, cost in zone[at:] if is_top == (owed < 0))[: abs(owed)]
    if len(cheapest) < abs(owed) or sum(cheapest) > left:
        return
    v, is_top, cost = zone[at]
    if is_top:
        yield from ((v, *rest) for rest in _chosen(zone, at + 1, owed, left))
        if cost <= left:
            yield from _chosen(zone, at + 1, owed + 1, left - cost)
    else:
        if cost <= left:
            yield from ((v, *rest) for rest in _chosen(zone, at + 1, owed - 1, left - cost))
        yield from _chosen(zone, at + 1, owed, left)
