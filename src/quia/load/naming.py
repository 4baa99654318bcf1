"""The caller's names for the variables, states and classes of a model whose file only numbers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quia.errors import FormatError, GraphError, did_you_mean, listed, shown
from quia.variables import Variable

OPTIONS = ("classes", "states", "names")
"""The options that every loader of a model with numbered states takes."""


def named_classes(count: int, classes: Iterable[str] | None) -> tuple[str, ...]:
    """The names of the classes 0, 1, …: their numbers, unless the caller names them.

    >>> named_classes(2, None), named_classes(2, ["deny", "admit"])
    (('0', '1'), ('deny', 'admit'))
    """
    if classes is None:
        return tuple(str(number) for number in range(count))
    labels = _strings(classes, "classes")
    if len(labels) < count:
        raise GraphError(
            f"classes names {len(labels)} classes, {listed(labels)}; the model has {count}, so name them all"
        )
    if len(set(labels)) < len(labels):
        raise GraphError(f"classes names a class twice: {listed(labels)}; classes must differ")
    return labels


def named_variables(
    old_names: Sequence[str],
    sizes: Sequence[int],
    states: Iterable[str] | Mapping[str, Iterable[str]] | None,
    names: Iterable[str] | Mapping[Any, str] | None,
) -> tuple[Variable, ...]:
    """The variables under the names that the caller gives them.

    `old_names` are the names in the model; `names` are new ones, in order or by the old name; `states` are the names of
    the states 0, 1, … of every variable, or by variable name. A value may always be given by its number too.

    >>> exam, = named_variables(["v1"], [2], ["no", "yes"], {"v1": "Exam"})
    >>> exam.phrase(1), exam.encode(1), exam.encode(True), exam.encode("yes")
    ('Exam=yes', 1, 1, 1)
    """
    new_names = _renamed(old_names, names)
    by_name = (
        {name: _strings(labels, f"the states of {shown(name)}") for name, labels in states.items()}
        if isinstance(states, Mapping)
        else {}
    )
    for name in by_name:
        if name not in new_names:
            raise GraphError(
                f"states names the variable {shown(name)}; there is none of this name{did_you_mean(name, new_names)}"
            )
    for_all = None if states is None or isinstance(states, Mapping) else _strings(states, "states")
    variables = []
    for name, size in zip(new_names, sizes, strict=True):
        labels = by_name.get(name, for_all)
        if labels is None:
            labels = tuple(str(state) for state in range(size))
        if len(labels) != size:
            raise GraphError(
                f"states gives {shown(name)} {len(labels)} states, {listed(labels)}; the model has {size} of it"
            )
        variables.append(Variable(name, labels, numbered=True))
    return tuple(variables)


def distinct(names: Sequence[str], file: str | None, line: int | None = None) -> None:
    """Check that the names in a file are not empty and differ."""
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            fault = f"names the variable {shown(name)} twice" if name else "has a variable without a name"
            raise FormatError(f"{fault}; names must differ and not be empty", file=file, line=line)
        seen.add(name)


def _renamed(old_names: Sequence[str], names: Iterable[str] | Mapping[Any, str] | None) -> list[str]:
    if names is None:
        return list(old_names)
    if isinstance(names, Mapping):
        new_name_of = {str(old): new for old, new in names.items()}
        for old in new_name_of:
            if old not in old_names:
                raise GraphError(f"names renames {shown(old)}, which is no variable{did_you_mean(old, old_names)}")
        new_names = [new_name_of.get(name, name) for name in old_names]
    else:
        new_names = list(_strings(names, "names"))
        if len(new_names) != len(old_names):
            raise GraphError(
                f"names has {len(new_names)} names; the model has {len(old_names)} variables, {listed(old_names, 6)}"
            )
    if len(set(new_names)) < len(new_names):
        raise GraphError(f"names gives two variables the same name: {listed(new_names)}; names must differ")
    return new_names


def _strings(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise GraphError(f"{what} is {shown(value)}; give a list of strings")
    strings = tuple(value)
    for item in strings:
        if not isinstance(item, str):
            raise GraphError(f"{what} has {shown(item)}; give a list of strings")
    return strings
