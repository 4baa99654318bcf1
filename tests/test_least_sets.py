"""The smallest sets that reach a sum, of many rows at once, against all sets of each row."""

import math
from itertools import combinations

import numpy as np
import pytest

from quia import _kernel
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
                assert found.each_set()[found.start[row] : found.start[row + 1]] == wanted[:limit]


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
                assert found.each_set()[found.start[row] : found.start[row + 1]] == wanted[:2]
            else:
                assert found.start[row] == found.start[row + 1]
                every = [each for n in range(variables + 1) for each in combinations(range(variables), n)]
                assert any(abs(numbers[row][list(each)].sum() - need[row]) <= margin + 1e-9 for each in every)
    assert told > 60


def test_too_many_to_count_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = np.ones((1, 70), np.int64)
    assert least_sets(alike, np.array([35]), 3).ties.tolist() == [-1]  # more than 63 bits hold
    found = least_sets(alike[:, :60], np.array([30]), 3)
    assert found.ties.tolist() == [math.comb(60, 30)]
    assert found.each_set() == [(*range(29), last) for last in (29, 30, 31)]
    numbers = np.random.default_rng(1).integers(1, 2**40, (1, 40))
    need = numbers.sum(axis=1) // 3
    assert least_sets(numbers, need, 1).ties[0] > 0
    monkeypatch.setattr(module, "_MOST_NODES", 10)
    assert least_sets(numbers, need, 1).ties.tolist() == [-1]


def test_many_rows_on_several_threads_are_those_of_one() -> None:
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 40, (1000, 12))
    need = numbers.sum(axis=1) // 2
    one, several = (least_sets(numbers, need, 2, threads=threads) for threads in (1, 3))
    assert one.each_set() == several.each_set() and one.ties.tolist() == several.ties.tolist()
    some = one.of_rows(np.array([700, 3]))
    alone = [least_sets(numbers[[row]], need[[row]], 2).each_set() for row in (700, 3)]
    assert some.each_set() == [*alone[0], *alone[1]]


@pytest.mark.parametrize(
    ("numbers", "needs", "fault"),
    [([[-1, 2]], [1], "negative"), ([[2**61, 1]], [1], "beyond"), ([[1, 2]], [1, 1], "one need for each row")],
)
def test_malformed_needs_are_refused(numbers: list, needs: list, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        _kernel.least_sets(np.array(numbers), np.array(needs), 1)
