"""What a leaf decides: the class of greatest share, or what `label` makes of its probabilities or its value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.cuts import Cut, Interval, number_text
from quia.errors import Unsupported, did_you_mean, listed, shown

Values = npt.NDArray[np.float64]

_CUT_OFF = re.compile(r"\s*(.+?)\s*(>=|>)\s*([^\s<>=]+)\s*")
_SIGN = re.compile(r"\s*(<=|<)\s*")


class Rule(NamedTuple):
    """For each leaf, given a row of values a leaf, the name of the class it decides; all classes, if they are known."""

    classes: tuple[str, ...] | None
    decide: Callable[[Values], list[str]]


def greatest(classes: Sequence[str]) -> Rule:
    """The class of greatest probability, the first of equals, as `predict` has it."""
    return Rule(tuple(classes), lambda values: [classes[at] for at in np.argmax(values, axis=1).tolist()])


def by_number(classes: Sequence[str]) -> Rule:
    """The class whose number is the leaf's value."""
    return Rule(tuple(classes), lambda values: [classes[int(number)] for number in values[:, 0].tolist()])


def for_classifier(classes: Sequence[str], label: Any) -> Rule:
    """The rule for a classifier: `label` may be None, a cut-off such as 'bad >= 0.3', or a function.

    >>> rule = for_classifier(["bad", "good"], "bad >= 0.3")
    >>> rule.classes, rule.decide(np.array([[0.3, 0.7], [0.2, 0.8]]))
    (('bad', 'good'), ['bad', 'good'])
    """
    if label is None:
        return greatest(classes)
    if callable(label):
        return _by_function(lambda row: label(dict(zip(classes, row, strict=True))))
    parsed = _CUT_OFF.fullmatch(label) if isinstance(label, str) else None
    if parsed is None:
        raise Unsupported(
            f"label is {shown(label)}", cure=f"write a cut-off such as '{classes[0]} >= 0.3', or give a function"
        )
    name, sign, limit = parsed[1], parsed[2], _number(parsed[3])
    if name not in classes:
        raise Unsupported(
            f"label cuts the probability of {name!r}, which is no class{did_you_mean(name, classes)}",
            cure=f"the classes are {listed(classes)}",
        )
    at = list(classes).index(name)
    others = [one for one in classes if one != name]
    rest = others[0] if len(others) == 1 else f"not {name}"

    def decide(values: Values) -> list[str]:
        share = values[:, at]
        reached = share >= limit if sign == ">=" else share > limit
        return [name if is_reached else rest for is_reached in reached.tolist()]

    return Rule((name, rest), decide)


def for_regressor(label: Any) -> Rule:
    """The rule for a regressor: `label` says in which bands its values are told apart.

    >>> rule = for_regressor("low < 100 <= middle < 200 <= high")
    >>> rule.classes, rule.decide(np.array([[99.9], [100.0], [200.0]]))
    (('low', 'middle', 'high'), ['low', 'middle', 'high'])
    >>> for_regressor([100, 200]).classes
    ('< 100', '[100, 200)', '>= 200')
    """
    if label is None:
        raise Unsupported(
            "a regressor decides on no class",
            cure="say which values to tell apart, as in label='low < 100 <= high' or label=[100, 200]",
        )
    if callable(label):
        return _by_function(lambda row: label(float(row[0])))
    names, cuts = _bands(label)
    below = np.array([cut.last_below(False) for cut in cuts])
    return Rule(names, lambda values: [names[band] for band in np.searchsorted(below, values[:, 0]).tolist()])


def class_names(classes: Iterable[Any], given: Any = None) -> list[str]:
    """Class labels as texts: strings as they are, 1.0 as '1', True as 'True'; or the names given for them."""
    found = [one.item() if hasattr(one, "item") else one for one in classes]
    if isinstance(given, Mapping):
        names = [str(given.get(one, given.get(str(one), _text(one)))) for one in found]
    elif given is not None:
        names = [str(one) for one in given]
        if isinstance(given, str) or len(names) != len(found):
            raise Unsupported(
                f"classes is {shown(given)}, but the model has the {len(found)} classes {listed(found)}",
                cure="give one name for each, in this order",
            )
    else:
        names = [_text(one) for one in found]
    if len(set(names)) < len(names):
        raise Unsupported(f"two classes have the same name: {listed(names)}", cure="name them with classes=[…]")
    return names


def _text(label: Any) -> str:
    return number_text(label) if isinstance(label, float) else str(label)


def _bands(label: Any) -> tuple[tuple[str, ...], list[Cut]]:
    if isinstance(label, str):
        parts = _SIGN.split(label.strip())
        names, signs, limits = parts[0::4], parts[1::2], parts[2::4]
        # name < limit <= name: of the two signs around a limit exactly one includes it.
        if len(parts) >= 5 and len(parts) % 4 == 1 and all(names):
            pairs = list(zip(signs[0::2], signs[1::2], strict=True))
            if all(before != after for before, after in pairs):
                cuts = [Cut(_number(limit), after=pair[0] == "<=") for limit, pair in zip(limits, pairs, strict=True)]
                return _ordered(tuple(names), cuts, label)
    elif isinstance(label, Sequence) or hasattr(label, "tolist"):
        cuts = [Cut(_number(limit), after=False) for limit in label]
        ends: list[Cut | None] = [None, *cuts, None]
        names = [Interval(a, b).readable().text for a, b in pairwise(ends)]
        if cuts:
            return _ordered(tuple(names), cuts, label)
    raise Unsupported(
        f"label is {shown(label)}", cure="write bands as in 'low < 100 <= high', or give a list of limits or a function"
    )


def _ordered(names: tuple[str, ...], cuts: list[Cut], label: Any) -> tuple[tuple[str, ...], list[Cut]]:
    below = [cut.last_below(False) for cut in cuts]
    if any(a >= b for a, b in pairwise(below)) or len(set(names)) < len(names):
        raise Unsupported(
            f"the bands of label {shown(label)} overlap", cure="give limits that grow, and differing names"
        )
    return names, cuts


def _by_function(function: Callable[[Any], Any]) -> Rule:
    return Rule(None, lambda values: [_text(function(row)) for row in values.tolist()])


def _number(text: Any) -> float:
    try:
        number = float(text)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise Unsupported(f"label has {shown(text)} where a number should be", cure="write a number")
    return number
