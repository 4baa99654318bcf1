"""How the inputs of two models differ, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from quia.classifier import Classifier
from quia.common_inputs import shared
from quia.cuts import number_text
from quia.errors import Unsupported, listed
from quia.variables import Variable

_MOST = 12  # names in a sentence
_WHICH = ("old", "new")


def differing_inputs(old: Classifier, new: Classifier) -> tuple[str, ...]:
    """How the inputs, and the classes, of two models differ, a sentence each."""
    names = [[variable.name for variable in model.variables] for model in (old, new)]
    said = [
        f"Only the {_WHICH[side]} model has the feature{'s' * (len(only) > 1)} {_list(only)}."
        for side in (0, 1)
        if (only := [name for name in names[side] if name not in names[1 - side]])
    ]
    if set(old.classes) != set(new.classes):
        said.append(
            f"The classes of the old model are {_list(old.classes)}, those of the new one {_list(new.classes)}."
        )
    tested = [{model.variables[v].name: model.variables[v] for v in model.tested} for model in (old, new)]
    pairs = [(variable, tested[1][name]) for name, variable in tested[0].items() if name in tested[1]]
    return (*said, *_unlike(pairs))


def _unlike(pairs: Sequence[tuple[Variable, Variable]]) -> Iterator[str]:
    """How variables that both models test differ."""
    alike = []
    for pair in pairs:
        try:
            shared(*pair)
            alike.append(pair)
        except Unsupported as fault:
            yield f"{fault}."
    for pair in alike:
        yield from _states(*pair)
    for side in (0, 1):
        mine, other = f"the {_WHICH[side]} model", f"the {_WHICH[1 - side]} one"
        if only := _only(alike, side, lambda variable: variable.missing or variable.no_value is not None):
            yield (
                f"Only {mine} says where a missing value of {_list(only)} goes: what is said of all inputs is about"
                " those that have one."
            )
        if only := _only(alike, side, lambda variable: variable.other is not None):
            yield f"Only {mine} takes any value of {_list(only)}, {other} those that it lists."
        if only := _only(alike, side, lambda variable: variable.single):
            yield (
                f"Only {mine} rounds {_list(only)} to 32 bits before it compares: next to a threshold the two may"
                " differ for that alone."
            )
    for pair in alike:
        yield from _ranges(*pair)


def _only(pairs: Sequence[tuple[Variable, Variable]], side: int, has: Callable[[Variable], bool]) -> list[str]:
    """The variables of which one model has something that the other has not."""
    return [pair[side].name for pair in pairs if has(pair[side]) and not has(pair[1 - side])]


def _states(old: Variable, new: Variable) -> Iterator[str]:
    """The states of a name that only one model knows, but for those of values that are missing or not listed."""
    if old.labels is None or new.labels is None:
        return
    ways = shared(old, new).ways
    for side, variable in enumerate((old, new)):
        named = [(at, label) for at, label in enumerate(variable.labels or ()) if label not in _special(variable)]
        if only := [label for at, label in named if not ways[side].common_ranges(((at, at),))]:
            yield (
                f"Only the {_WHICH[side]} model knows the state{'s' * (len(only) > 1)} {_list(only)} of {old.name}:"
                " what is said of all inputs is about the values that both take."
            )


def _special(variable: Variable) -> tuple[str | None, str | None]:
    return variable.other, variable.no_value


def _ranges(old: Variable, new: Variable) -> Iterator[str]:
    """Between which numbers what is said holds, where only one of the models has a range."""
    line = old if old.is_line else new
    if old.is_line != new.is_line and line.range is not None:
        low, high = map(number_text, line.range)
        yield f"What is said of all inputs is about {old.name} from {low} to {high}."


def _list(names: Sequence[str]) -> str:
    return listed(names, most=_MOST)
