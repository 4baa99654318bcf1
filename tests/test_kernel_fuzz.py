"""A short stretch of fuzz/kernel.py."""

import importlib.util
from itertools import islice
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "fuzz" / "kernel.py"


@pytest.mark.parametrize("seed", range(3))
def test_mutated_arrays_never_crash(seed: int) -> None:
    described = importlib.util.spec_from_file_location("fuzz_kernel", FILE)
    assert described is not None
    assert described.loader is not None
    fuzz = importlib.util.module_from_spec(described)
    described.loader.exec_module(fuzz)
    taken = list(islice(fuzz.rounds(seed), 1500))
    assert 100 < sum(taken) < 1400
