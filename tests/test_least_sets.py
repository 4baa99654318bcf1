"""The smallest sets that reach a sum, of many rows at once, against all sets of each row."""

from itertools import combinations

import numpy as np
import pytest

from quia.batch import least_sets as module
from quia.batch.least_sets import least_sets


def all_least(numbers: np.ndarray, need: float) -> list[tuple[int, ...]]:
    for size in range(len(numbers) + 1):
        found = [each for each in combinations(range(len(numbers)), size) if numbers[list(each)].sum() >= need]
        if found:
            return found
    return []


@pytest.mark.parametrize("largest", [2, 6, 30, 10**6])
def test_whole_numbers(largest: int) -> None:
    rng = np.random.default_rng(largest)
    for variables in range(9):
        for limit in (0, 1, 3, 100):
            numbers = rng.integers(0, largest, (10, variables))
            need = (rng.random(10) * (numbers.sum(axis=1) * 1.2 + 1)).astype(int) - 1
            found = least_sets(numbers, need, limit)
            for row in range(10):
                wanted = all_least(numbers[row], need[row])
                assert found.ties[row] == len(wanted)
                listed = found.chosen[found.start[row] : found.start[row + 1]]
                assert [tuple(np.flatnonzero(each).tolist()) for each in listed] == wanted[:limit]


def test_numbers_that_are_rounded() -> None:
    """A row is told just where no sum of a set of the least size, nor of the largest numbers, is near its need."""
    rng = np.random.default_rng(3)
    margin, told = 0.0513, 0
    for variables in range(1, 9):
        numbers = np.round(rng.random((20, variables)) * 5, 2)
        need = np.round(rng.random(20) * numbers.sum(axis=1) * 1.1 - 0.2, 1)
        found = least_sets(numbers, need, 2, margin)
        for row in range(20):
            wanted = all_least(numbers[row], need[row] - margin)
            if found.ties[row] >= 0:
                told += 1
                assert all(numbers[row][list(each)].sum() > need[row] + margin for each in wanted)
                assert found.ties[row] == len(wanted)
                listed = found.chosen[found.start[row] : found.start[row + 1]]
                assert [tuple(np.flatnonzero(each).tolist()) for each in listed] == wanted[:2]
            else:
                assert found.start[row] == found.start[row + 1]
                every = [each for n in range(variables + 1) for each in combinations(range(variables), n)]
                assert any(abs(numbers[row][list(each)].sum() - need[row]) <= margin + 1e-9 for each in every)
    assert told > 60


def test_too_many_to_count_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, need = np.ones((1, 70), np.int64), np.array([35])
    assert least_sets(numbers, need, 3).ties.tolist() == [-1]  # more than a word has bits can swap
    monkeypatch.setattr(module, "_MOST_HALVES", 10)
    assert least_sets(np.ones((1, 30)), np.array([14.5]), 3, 0.1).ties.tolist() == [-1]
    assert least_sets(np.ones((1, 30), np.int64), np.array([15]), 3).ties.tolist() == [155117520]
