"""Where something ends that is true up to there: found from a guess on, by few questions."""

from __future__ import annotations

from collections.abc import Callable

_FINE = 2.0**-50
"""Two shares that are nearer than this are not told apart."""


def furthest(is_good: Callable[[int], bool], near: int, most: int, step: int = 1) -> int:
    """The largest number up to `most` that is good, where all below a good one are, and 0 is.

    From a guess on the first step is doubled until it is too far, then halved.

    >>> asked = []
    >>> furthest(lambda n: asked.append(n) or n <= 1000, 998, 10**9), asked
    (1000, [998, 999, 1001, 1000])
    """
    near = min(max(near, 0), most)
    if near == 0 or is_good(near):
        good = near
        while good + step <= most and is_good(good + step):
            good, step = good + step, 2 * step
        bad = min(good + step, most + 1)
    else:
        bad = near
        while bad - step > 0 and not is_good(bad - step):
            bad, step = bad - step, 2 * step
        good = max(bad - step, 0)
    while good + 1 < bad:
        middle = (good + bad) // 2
        if is_good(middle):
            good = middle
        else:
            bad = middle
    return good


def turning(value: Callable[[float], float], enough: float) -> float:
    """About where from 0 to 1 a value that falls gets below 0: where it is nearer to 0 than `enough`, or jumps.

    Where it falls evenly that is interpolated; where it does not, halving gets there as well.

    >>> asked = []
    >>> turning(lambda x: asked.append(x) or 3 - 4 * x, 1e-9), asked
    (0.75, [0.0, 1.0, 0.75])
    """
    low, high = 0.0, 1.0
    above, below = value(low), value(high)
    if above <= enough:
        return low
    if below >= -enough:
        return high
    interpolates = True
    while high - low > _FINE:
        before = high - low
        tried = low + before * (above / (above - below) if interpolates else 0.5)
        found = value(tried)
        if abs(found) <= enough:
            return tried
        if found > 0:
            low, above = tried, found
        else:
            high, below = tried, found
        interpolates = not interpolates or high - low < before / 2
    return low
