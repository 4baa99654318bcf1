"""What a user may call the variables, states and classes of a model whose file only numbers them."""

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
    given = _texts(classes, "classes")
    if len(given) < count:
        raise GraphError(
            f"classes names {len(given)} classes, {listed(given)}; the model has {count}, so name them all"
        )
    if len(set(given)) < len(given):
        raise GraphError(f"classes names a class twice: {listed(given)}; classes must differ")
    return given


def named_variables(
    own: Sequence[str],
    sizes: Sequence[int],
    states: Iterable[str] | Mapping[str, Iterable[str]] | None,
    names: Iterable[str] | Mapping[Any, str] | None,
) -> tuple[Variable, ...]:
    """The variables, called as the caller says.

    `own` are the names in the model; `names` are new ones, in order or by the old name; `states` are the names of
    the states 0, 1, … of every variable, or by variable name. A value may always be given by its number too.

    >>> exam, = named_variables(["v1"], [2], ["no", "yes"], {"v1": "Exam"})
    >>> exam.phrase(1), exam.encode(1), exam.encode(True), exam.encode("yes")
    ('Exam=yes', 1, 1, 1)
    """
    called = _called(own, names)
    by_name = (
        {name: _texts(given, f"the states of {shown(name)}") for name, given in states.items()}
        if isinstance(states, Mapping)
        else {}
    )
    for name in by_name:
        if name not in called:
            raise GraphError(
                f"states names the variable {shown(name)}, which there is none{did_you_mean(name, called)}"
            )
    for_all = None if states is None or isinstance(states, Mapping) else _texts(states, "states")
    made = []
    for name, size in zip(called, sizes, strict=True):
        labels = by_name.get(name, for_all)
        if labels is None:
            labels = tuple(str(state) for state in range(size))
        if len(labels) != size:
            raise GraphError(
                f"states gives {shown(name)} {len(labels)} states, {listed(labels)}; the model has {size} of it"
            )
        made.append(Variable(name, labels, numbered=True))
    return tuple(made)


def distinct(names: Sequence[str], file: str | None, line: int | None = None) -> None:
    """Check that the names in a file are not empty and differ."""
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            fault = f"names the variable {shown(name)} twice" if name else "has a variable without a name"
            raise FormatError(f"{fault}; names must differ and not be empty", file=file, line=line)
        seen.add(name)


def _called(own: Sequence[str], names: Iterable[str] | Mapping[Any, str] | None) -> list[str]:
    if names is None:
        return list(own)
    if isinstance(names, Mapping):
        renamed = {str(old): new for old, new in names.items()}
        for old in renamed:
            if old not in own:
                raise GraphError(f"names renames {shown(old)}, which is no variable{did_you_mean(old, own)}")
        called = [renamed.get(name, name) for name in own]
    else:
        called = list(_texts(names, "names"))
        if len(called) != len(own):
            raise GraphError(f"names has {len(called)} names; the model has {len(own)} variables, {listed(own, 6)}")
    if len(set(called)) < len(called):
        raise GraphError(f"names gives two variables the same name: {listed(called)}; names must differ")
    return called


def _texts(given: Any, what: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise GraphError(f"{what} is {shown(given)}; give a list of texts")
    texts = tuple(given)
    for text in texts:
        if not isinstance(text, str):
            raise GraphError(f"{what} has {shown(text)}; give a list of texts")
    return texts
