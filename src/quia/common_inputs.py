"""Common inputs: the variables of two models made one, with all that both can be told by them.

Variables are the same if they have the same name. A number has the cuts of both models, in 64 bits unless both compare
in 32, or is a line if it is one for one of them, with the range of that. A name has the states that both models take. A
state for missing values is common if both have one; else no input in which that value is missing is common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quia.classifier import Classifier, TakesRanges, offers
from quia.cuts import Cut, among_doubles
from quia.errors import InstanceError, Unsupported, listed
from quia.variables import Variable
from quia.ways import ListedWay, OnLine, Same, Way


@dataclass(frozen=True, slots=True)
class Shared:
    """A variable that both models test: as both have it, and the ways to the old and the new one's."""

    variable: Variable
    ways: tuple[Way, Way]


@dataclass(frozen=True, slots=True)
class CommonInputs:
    """The variables of two models: `at` says for each model, and each variable that it tests, which of them it is.

    `ways` are from their states to the model's own; `models` are the models, each number without a range of its own in
    the range that the other one knows.
    """

    models: tuple[Classifier, Classifier]
    variables: tuple[Variable, ...]
    at: tuple[dict[int, int], dict[int, int]]
    ways: tuple[dict[int, Way], dict[int, Way]]


def common_inputs(old: Classifier, new: Classifier) -> CommonInputs:
    """What two models can be asked about; Unsupported if some feature has no value that both take."""
    models = _with_common_ranges(old, new)
    tested = tuple({model.variables[v].name: v for v in model.tested} for model in models)
    known = {variable.name: variable for model in reversed(models) for variable in model.variables}
    order = dict.fromkeys(variable.name for model in models for variable in model.variables)
    variables: list[Variable] = []
    at: tuple[dict[int, int], dict[int, int]] = ({}, {})
    ways: tuple[dict[int, Way], dict[int, Way]] = ({}, {})
    for place, name in enumerate(order):
        having = [side for side in (0, 1) if name in tested[side]]
        own = [models[side].variables[tested[side][name]] for side in having]
        if len(own) == 2:
            as_both = shared(*own)
            variables.append(as_both.variable)
            found: Sequence[Way] = as_both.ways
        else:  # what a model does not test, it takes whatever it is
            variables.append(own[0] if own else known[name])
            found = [Same(each.size, each.size) for each in own]
        for side, way in zip(having, found, strict=True):
            at[side][tested[side][name]] = place
            ways[side][tested[side][name]] = way
    return CommonInputs(models, tuple(variables), at, ways)


def _with_common_ranges(old: Classifier, new: Classifier) -> tuple[Classifier, Classifier]:
    """The models, where a number that neither of them cuts has one range for both: what either knows of it."""
    mine, theirs = ({v.name: v for v in model.variables if v.is_line} for model in (old, new))
    ranges: dict[str, tuple[float, float]] = {}
    for name in mine.keys() & theirs.keys():
        ends = [each.range for each in (mine[name], theirs[name]) if each.range is not None]
        if ends and mine[name].range != theirs[name].range:
            ranges[name] = min(low for low, _ in ends), max(high for _, high in ends)
    if not ranges:
        return old, new
    one, other = (model.with_ranges(ranges) if offers(model, TakesRanges) else model for model in (old, new))
    return one, other


def shared(old: Variable, new: Variable) -> Shared:
    """A variable that two models have, as both have it."""
    if old.is_numeric != new.is_numeric:
        number, name = ("old", "new") if old.is_numeric else ("new", "old")
        raise Unsupported(
            f"{old.name} is a number for the {number} model and a name for the {name} one, so that only rows can be"
            " compared",
            cure="read both models from the same kind of table",
        )
    return _numbers(old, new) if old.is_numeric else _names(old, new)


def _numbers(old: Variable, new: Variable) -> Shared:
    missing, single = old.missing and new.missing, old.single and new.single
    if old.is_line or new.is_line:
        line = replace(old if old.is_line else new, missing=missing)
        return Shared(line, (_on_line(line, old), _on_line(line, new)))
    cuts = [_cuts(each, single) for each in (old, new)]
    variable = Variable.numeric(old.name, [*cuts[0], *cuts[1]], missing=missing, single=single)
    one, other = (_cut_way(variable, each, own) for each, own in zip((old, new), cuts, strict=True))
    return Shared(variable, (one, other))


def _cuts(variable: Variable, single: bool) -> list[Cut]:
    """The cuts of a variable, among 64-bit numbers unless both models compare in 32."""
    return list(variable.cuts) if single or not variable.single else [among_doubles(below) for below in variable.below]


def _cut_way(variable: Variable, own: Variable, cuts: Sequence[Cut]) -> Way:
    below = [cut.last_below(variable.single) for cut in cuts]
    numbers = len(variable.cuts) + 1
    ends = np.searchsorted(np.array(below), np.array([*variable.below, np.inf]), side="left")
    assert len(ends) == numbers
    of = [*ends.tolist(), *([own.size - 1] if variable.missing else [])]
    return ListedWay(np.array(of, np.int64), own.size)


def _on_line(line: Variable, own: Variable) -> Way:
    if own.is_line:
        return Same(line.size, own.size)
    below = [cut.last_below(False) for cut in _cuts(own, False)]
    return OnLine.of(line, below, own.size - 1 if line.missing else None)


def _names(old: Variable, new: Variable) -> Shared:
    """Two names: of the values that either model lists, and of any other and of none, those that both take."""
    pairs: dict[tuple[int, int], str] = {}
    for label in dict.fromkeys((*(old.labels or ()), *(new.labels or ()))):
        taken = [_taken(each, label) for each in (old, new)]
        if None not in taken:
            pairs.setdefault((taken[0], taken[1]), label)  # type: ignore[arg-type]
    no_value = _special(pairs, old, new, old.no_value, new.no_value)
    other = _special(pairs, old, new, old.other, new.other)
    if not pairs:
        raise Unsupported(
            f"{old.name} has no state that both models take: it is {listed(old.labels or ())} for the old one and"
            f" {listed(new.labels or ())} for the new one",
            cure="read both models from the same kind of table",
        )
    variable = replace(
        Variable.nominal(old.name, pairs.values(), other=other, no_value=no_value),
        numbered=old.numbered and new.numbered and old.labels == new.labels == tuple(pairs.values()),
    )
    one, other_way = (
        ListedWay(np.array([pair[side] for pair in pairs], np.int64), each.size) for side, each in enumerate((old, new))
    )
    return Shared(variable, (one, other_way))


def _taken(variable: Variable, label: str) -> int | None:
    """The state of a value; None if the model does not take it, or takes it for none."""
    try:
        return variable.encode(label)
    except InstanceError:
        return None


def _special(
    pairs: dict[tuple[int, int], str], old: Variable, new: Variable, one: str | None, other: str | None
) -> str | None:
    """The common state that stands for what both models have a state for, added if there is none yet."""
    if one is None or other is None:
        return None
    pair = old.encode(one), new.encode(other)
    if pair not in pairs:
        label = one
        while label in pairs.values():
            label = f"{label} ({other})"
        pairs[pair] = label
    return pairs[pair]
