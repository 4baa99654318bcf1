"""The class of a leaf: that of the greatest share, or the one that `label` derives from its probabilities or value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.cuts import Cut, Interval, first_above, number_text
from quia.errors import Unsupported, did_you_mean, listed, shown
from quia.load.regressors import cutoff

Values = npt.NDArray[np.float64]

_CUT_OFF = re.compile(r"\s*(.+?)\s*(>=|>)\s*([^\s<>=]+)\s*")
_SIGN = re.compile(r"\s*(<=|<)\s*")


class Rule(NamedTuple):
    """All classes, if they are known, and a function from a row of values for each leaf to the name of its class.

    What decides is a single number if there are `cuts`: its class is the number of cuts that it reaches. With `column`
    it is the probability of that class, negated; without, a regressor's value. If there are none (), the greatest value
    decides; if that is not known (None), a function.
    """

    classes: tuple[str, ...] | None
    decide: Callable[[Values], list[str]]
    cuts: tuple[float, ...] | None = None
    column: int | None = None

    def scores(self, values: Values) -> Values:
        """What is added up, of the values at leaves: all of them, or the one that is cut."""
        return values if self.column is None else -values[:, [self.column]]


def greatest(classes: Sequence[str]) -> Rule:
    """The class of greatest probability, the first of equals, as `predict` has it."""
    return Rule(tuple(classes), lambda values: [classes[at] for at in np.argmax(values, axis=1).tolist()], ())


def for_classifier(classes: Sequence[str], label: Any) -> Rule:
    """The rule for a classifier: `label` may be None, a cut-off such as 'bad >= 0.3', or a function.

    >>> rule = for_classifier(["bad", "good"], "bad >= 0.3")
    >>> rule.classes, rule.decide(np.array([[0.3, 0.7], [0.2, 0.8]]))
    (('bad', 'good'), ['bad', 'good'])
    """
    if label is None:
        return greatest(classes)
    if isinstance(label, Cutoff):
        raise Unsupported(
            f"threshold is {shown(label.threshold)}, but the model predicts classes",
            cure=f"leave it out, or cut off a probability, as in label='{classes[0]} >= 0.3'",
        )
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
    column = list(classes).index(name)
    others = [other for other in classes if other != name]
    rest = others[0] if len(others) == 1 else f"not {name}"

    def decide(values: Values) -> list[str]:
        share = values[:, column]
        reached = share >= limit if sign == ">=" else share > limit
        return [name if is_reached else rest for is_reached in reached.tolist()]

    # The named class comes first, so the probability is negated: what reaches the cut is the rest.
    cut = math.nextafter(-limit, math.inf) if sign == ">=" else -limit
    return Rule((name, rest), decide, (cut,), column)


class Cutoff(NamedTuple):
    """The option `threshold`: what a regressor predicts, from there on, is another class."""

    threshold: Any


def for_regressor(label: Any, classes: Any = None) -> Rule:
    """The rule for a regressor: `label` splits its values into bands; those of a Cutoff may have names in `classes`.

    >>> rule = for_regressor("low < 100 <= middle < 200 <= high")
    >>> rule.classes, rule.decide(np.array([[99.9], [100.0], [200.0]]))
    (('low', 'middle', 'high'), ['low', 'middle', 'high'])
    >>> for_regressor([100, 200]).classes
    ('< 100', '[100, 200)', '>= 200')
    """
    if isinstance(label, Cutoff):
        names, rule = cutoff(label.threshold, classes, single=False)
        return by_cuts(names, rule.cuts)
    if classes is not None:
        raise Unsupported("a regressor has no classes to name", cure="name its bands in label, or give a threshold")
    if label is None:
        raise Unsupported(
            "a regressor decides on no class",
            cure="give its cutoff, as in threshold=100, or name classes, as in label='low < 100 <= high'",
        )
    if callable(label):
        return _by_function(lambda row: label(float(row[0])))
    names, cuts = _bands(label)
    return by_cuts(names, [first_above(cut.last_below(False)) for cut in cuts])


def by_cuts(names: tuple[str, ...], cuts: Sequence[float]) -> Rule:
    """The class whose number is how many cuts a value reaches."""

    def decide(values: Values) -> list[str]:
        return [names[band] for band in np.searchsorted(cuts, values[:, 0], side="right").tolist()]

    return Rule(names, decide, tuple(cuts))


def class_names(classes: Iterable[Any], new_names: Any = None) -> list[str]:
    """Class labels as strings, '1' for 1.0 and 'True' for True, or the names that the caller gives them."""
    labels = [label.item() if hasattr(label, "item") else label for label in classes]
    if isinstance(new_names, Mapping):
        names = [str(new_names.get(label, new_names.get(str(label), _label_string(label)))) for label in labels]
    elif new_names is not None:
        names = [str(label) for label in new_names]
        if isinstance(new_names, str) or len(names) != len(labels):
            raise Unsupported(
                f"classes is {shown(new_names)}, but the model has the {len(labels)} classes {listed(labels)}",
                cure="give one name for each, in this order",
            )
    else:
        names = [_label_string(label) for label in labels]
    if len(set(names)) < len(names):
        raise Unsupported(f"two classes have the same name: {listed(names)}", cure="name them with classes=[…]")
    return names


def _label_string(label: Any) -> str:
    return number_text(label) if isinstance(label, float) else str(label)


def _bands(label: Any) -> tuple[tuple[str, ...], list[Cut]]:
    if isinstance(label, str):
        tokens = _SIGN.split(label.strip())
        names, signs, limits = tokens[0::4], tokens[1::2], tokens[2::4]
        # name < limit <= name: of the two signs around a limit exactly one includes it.
        if len(tokens) >= 5 and len(tokens) % 4 == 1 and all(names):
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
    return Rule(None, lambda values: [_label_string(function(row)) for row in values.tolist()])


def _number(limit: Any) -> float:
    try:
        number = float(limit)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise Unsupported(f"label has {shown(limit)} where a number should be", cure="write a number")
    return number
