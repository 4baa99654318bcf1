"""Conditions in JSON, read back as the states that they admit, by what `docs/schemas` says of them and nothing else."""

import math
from typing import Any

from quia.literal import Literal
from quia.ranges import union
from quia.variables import Variable


def admits(interval: dict[str, Any], number: float) -> bool:
    """Whether a number is in an interval."""
    low, high = interval["low"], interval["high"]
    above = low is None or number > low or (number == low and interval["low_closed"])
    return above and (high is None or number < high or (number == high and interval["high_closed"]))


def states_of(variable: Variable, condition: dict[str, Any]) -> list[int]:
    """The states that a condition admits; as it cuts none in two, one number of each is asked about."""
    assert condition["feature"] == variable.name
    if variable.labels is not None:
        return [state for state, label in enumerate(variable.labels) if label in condition["in"]]
    numbers = [*variable.below, math.inf]
    found = [s for s, number in enumerate(numbers) if any(admits(each, number) for each in condition["intervals"])]
    return found + ([len(numbers)] if condition["missing"] else [])


def literal_of(variable: Variable, condition: dict[str, Any]) -> Literal:
    """What a condition says of its feature."""
    return Literal(variable, union((state, state) for state in states_of(variable, condition)))


def signs_of(variables: tuple[Variable, ...], conditions: list[dict[str, Any]]) -> dict[str, str]:
    """Feature → the condition on it as the page shows it."""
    known = {variable.name: variable for variable in variables}
    return {each["feature"]: literal_of(known[each["feature"]], each).signs for each in conditions}
