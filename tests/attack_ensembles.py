"""Attack `escape` of ensembles: `python tests/attack_ensembles.py N SEED` compares N random ones with brute force.

It prints the first disagreement, with the line that makes it again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Sequence
from random import Random
from typing import Any

import numpy as np

from ensemble_oracle import Bounds, Table, decide, random_bounds, random_ensemble, random_keeps, random_states
from quia import Ensemble, _kernel

SMALL = {"variables": 5, "states": 4, "trees": 8, "depth": 4, "points": 700}
MEDIUM = {"variables": 8, "fewest": 5, "states": 5, "trees": 30, "depth": 5, "points": 20_000}
REGIONS = 25
"""Regions that are asked about in each ensemble."""


class Disagreement(AssertionError):
    """What the kernel says is not what brute force finds."""


def escape(ensemble: Ensemble, states: Sequence[int], keeps: Collection[int], bounds: Bounds) -> list[int] | None:
    """The kernel's answer about a box."""
    bounded = sorted(bounds)
    pairs = [pair for v in bounded for pair in bounds[v]]
    kept = np.zeros(len(ensemble.classes), np.uint8)
    kept[list(keeps)] = 1
    return _kernel.Inquiry(ensemble.kernel, np.array(states, np.int32), kept).escape(
        np.array(bounded, np.int32),
        np.cumsum([0, *(len(bounds[v]) for v in bounded)], dtype=np.int64),
        np.array([low for low, _ in pairs], np.int32),
        np.array([high for _, high in pairs], np.int32),
    )


def check_escape(table: Table, states: Sequence[int], keeps: Collection[int], bounds: Bounds) -> None:
    """What is found is in the box and decided otherwise; nothing is found where nothing is."""
    ensemble = table.ensemble
    found = escape(ensemble, states, keeps, bounds)
    expected = table.escaping(keeps, bounds)
    asked = f"states={tuple(states)}, keeps={set(keeps)}, bounds={dict(bounds)}"
    if found is None:
        if expected.any():
            point = table.points[np.flatnonzero(expected)[0]].tolist()
            raise Disagreement(f"None, but {point} has class {decide(ensemble, point)}: {asked}")
        return
    if len(found) != len(ensemble.variables) or any(s < 0 for s in found):
        raise Disagreement(f"{found} is no instance: {asked}")
    at = int(np.ravel_multi_index(found, [v.size for v in ensemble.variables]))
    if not expected[at]:
        raise Disagreement(f"{found} has class {table.classes[at]} or is outside: {asked}")


def check_reduction(table: Table, rng: Random) -> None:
    """What is left of variables that force a decision does so, and needs each of them; one inquiry is asked again."""
    ensemble = table.ensemble
    sizes = [v.size for v in ensemble.variables]
    states = random_states(rng, table, 0.0)
    decision = int(table.classes[int(np.ravel_multi_index(states, sizes))])
    keeps = random_keeps(rng, len(ensemble.classes), decision) | {decision}
    kept = np.zeros(len(ensemble.classes), np.uint8)
    kept[list(keeps)] = 1
    asked = _kernel.Inquiry(ensemble.kernel, np.array(states, np.int32), kept)
    none = (np.array([], np.int32), np.array([0], np.int64), np.array([], np.int32), np.array([], np.int32))

    def is_forced(variables: Collection[int]) -> bool:
        return not table.escaping(keeps, {v: ((states[v], states[v]),) for v in variables}).any()

    for _ in range(3):
        order = rng.sample(range(len(sizes)), rng.randint(1, len(sizes)))
        if not is_forced(order):
            continue
        members, is_minimal = asked.sufficient(np.array(order, np.int32), *none)
        told = f"{members} of {order}: states={states}, keeps={keeps}"
        if not is_minimal or not set(members) <= set(order) or not is_forced(members):
            raise Disagreement(f"not enough, or not minimal: {told}")
        for v in members:
            if is_forced(set(members) - {v}):
                raise Disagreement(f"{v} is not needed: {told}")


def check_ensemble(seed: str, limits: dict[str, Any], regions: int = REGIONS) -> Table:
    """Decisions and `escape` of the random ensemble that a seed makes."""
    rng = Random(seed)
    ensemble = random_ensemble(rng, **limits)
    table = Table(ensemble)
    decided = ensemble.kernel.decide_rows(table.points)
    if (decided != table.classes).any():
        point = table.points[np.flatnonzero(decided != table.classes)[0]].tolist()
        raise Disagreement(f"{point} has class {decide(ensemble, point)}, not {ensemble.kernel.decide_rows([point])}")
    sizes = [v.size for v in ensemble.variables]
    for _ in range(regions):
        states = random_states(rng, table, rng.choice((0.0, 0.3)))
        at = int(np.ravel_multi_index([max(s, 0) for s in states], sizes))
        keeps = random_keeps(rng, len(ensemble.classes), int(table.classes[at]))
        bounds = random_bounds(rng, sizes, rng.choice((0.0, 0.3, 0.6, 1.0)))
        if rng.random() < 0.5:  # as reasons ask: some variables kept, the rest free
            bounds = {v: ((s, s),) for v, s in enumerate(states) if s >= 0 and rng.random() < rng.choice((0.3, 0.7))}
        check_escape(table, states, keeps, bounds)
    for _ in range(max(regions // 8, 1)):
        check_reduction(table, rng)
    return table


def main(count: int, seed: int, only: int | None = None) -> int:
    """Try so many ensembles, every fourth a larger one; 1 if one is answered wrongly."""
    began, points = time.process_time(), 0
    for i in range(count) if only is None else (only,):
        try:
            points += len(check_ensemble(f"{seed}.{i}", MEDIUM if i % 4 == 3 else SMALL).points)
        except Disagreement as fault:
            ensemble = random_ensemble(Random(f"{seed}.{i}"), **(MEDIUM if i % 4 == 3 else SMALL))
            print(f"ensemble {i} of seed {seed}: {fault}\n{ensemble!r}\n{ensemble.sums}")
            print([v.size for v in ensemble.variables], *ensemble.trees.arrays, sep="\n")
            print(f"again: python tests/attack_ensembles.py {count} {seed} {i}")
            return 1
    seconds = time.process_time() - began
    print(f"{count} ensembles, {points:,} points, {REGIONS * count:,} regions: all right, in {seconds:.1f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
