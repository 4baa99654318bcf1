"""Typical values lie in the state that they are asked for, and read well."""

from __future__ import annotations

import math
import struct
from random import Random

import numpy as np
import pytest

from quia import Variable
from quia.typical import value_in

FINITE = [0.0, 1.0, -1.0, 0.1, 1e-9, 5e-324, -5e-324, 2.0**-149, 2.0**-150, 38.5, 1e16, 3.4028234663852886e38, 1e300,
          1.7976931348623157e308]  # fmt: skip


def random_number(rng: Random) -> float:
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice([1, -1]) * rng.choice(FINITE)
    if kind == 1:
        return rng.choice([math.inf, -math.inf])
    if kind == 2:
        return float(rng.randint(-50, 50))
    if kind == 3:
        return round(rng.uniform(-5, 5), rng.randrange(1, 6))
    if kind == 4:
        return rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300)
    number = struct.unpack("d", rng.randbytes(8))[0]
    return 0.0 if number != number else number


def random_variable(rng: Random) -> Variable:
    cuts = []
    for _ in range(rng.randrange(6)):
        number = random_number(rng)
        cuts.append((number, rng.choice(["before", "after"])))
        for _ in range(rng.choice([0, 0, 1, 3])):  # neighbours with nothing, or little, between them
            number = math.nextafter(number, rng.choice([-math.inf, math.inf]))
            if rng.random() < 0.3:
                number = float(np.nextafter(np.float32(max(min(number, 3e38), -3e38)), np.float32(9e37)))
            cuts.append((number, rng.choice(["before", "after"])))
    return Variable.numeric("x", cuts, missing=rng.random() < 0.3, single=rng.random() < 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_a_value_is_in_its_state(seed: int) -> None:
    rng = Random(seed)
    for _ in range(300):
        variable = random_variable(rng)
        for state in range(variable.size):
            value = value_in(variable, state)
            assert variable.encode(value) == state, (variable, state, value)
            if value is not None and variable.single:
                assert float(np.float32(value)) == value, (variable, state, value)


@pytest.mark.parametrize("seed", range(3))
def test_no_shorter_decimal_fits(seed: int) -> None:
    """Among small states: an integer where one fits, else no number with fewer decimals."""
    rng = Random(seed)
    for _ in range(200):
        cuts = [(rng.randint(-400, 400) / 100, rng.choice(["before", "after"])) for _ in range(3)]
        variable = Variable.numeric("x", cuts)
        for state in range(variable.size):
            value = value_in(variable, state)
            assert isinstance(value, float)
            decimals = next(d for d in range(20) if round(value, d) == value)
            for fewer in range(decimals):
                tried = (round(n / 10**fewer, fewer) for n in range(-5 * 10**fewer, 5 * 10**fewer + 1))
                assert not any(variable.encode(one) == state for one in tried), (variable, state, value)


def test_what_is_no_interval() -> None:
    line = Variable.line("income", -5, 250000, missing=True)
    for number in (-5.0, 0.0, 0.1, 31240.5, 250000.0):
        assert value_in(line, line.encode(number)) == number
    assert value_in(line, line.size - 1) is None
    job = Variable.nominal("job", ["cook", "any other", "none"], other="any other", no_value="none")
    assert [value_in(job, state) for state in range(3)] == ["cook", "any other", None]
    assert [job.encode(value_in(job, state)) for state in range(3)] == [0, 1, 2]


def test_they_read_well() -> None:
    hours = Variable.numeric("hours", [(40.5, "after"), (41.25, "after")], single=True)
    assert [value_in(hours, state) for state in range(3)] == [20.0, 41.0, 60.0]
    tenth = Variable.numeric("x", [0.1, 0.3], single=True)
    assert value_in(tenth, 1) == 0.25
    assert value_in(Variable.numeric("x", []), 0) == 0
