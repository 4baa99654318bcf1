"""One-hot columns made outside the pipeline: groups of 0/1 columns that are one nominal variable.

The caller names the groups; columns that look like a group but were not named cause a warning.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Any

from quia.errors import QuiaWarning, Unsupported, did_you_mean, listed, shown, warn

Groups = dict[str, dict[str, int | None]]
"""Variable → state → the column that is 1 in that state, or None for the state in which all are 0."""


class LooksOneHot(QuiaWarning):
    """Columns that look like the dummies of one nominal variable, but were not named as such."""


def read_groups(one_hot: Any, names: Sequence[str]) -> Groups:
    """The groups in the option `one_hot`: variable → columns, or variable → {state: column, state: None}.

    >>> read_groups({"colour": ["colour_red", "colour_blue"]}, ["age", "colour_red", "colour_blue"])
    {'colour': {'red': 1, 'blue': 2}}
    >>> read_groups({"colour": {"red": "r", "none of them": None}}, ["r"])
    {'colour': {'red': 0, 'none of them': None}}
    """
    if one_hot is None:
        return {}
    if not isinstance(one_hot, Mapping):
        raise _malformed(one_hot)
    groups: Groups = {}
    used: set[str] = set()
    index_of = {name: index for index, name in enumerate(names)}
    for variable, columns in one_hot.items():
        if isinstance(columns, Mapping):
            states = dict(columns)
        elif isinstance(columns, Sequence) and not isinstance(columns, str):
            states = dict(zip(_states(variable, columns), columns, strict=True))
        else:
            raise _malformed(one_hot)
        groups[str(variable)] = {
            str(state): None if column is None else _index(column, index_of, used) for state, column in states.items()
        }
        if len(states) < 2 or sum(column is None for column in states.values()) > 1:
            raise Unsupported(
                f"the one-hot group {variable!r} is {shown(columns)}",
                cure="give it two states or more, of which at most one has no column",
            )
    clash = [name for name in groups if name in index_of and name not in used]
    if clash:
        raise Unsupported(f"the one-hot group {clash[0]!r} has the name of a column", cure="choose another name")
    return groups


def look_for_groups(names: Sequence[str], halved: Collection[int]) -> None:
    """Warn about columns named `colour_red`, `colour_blue`, … that the tree tests at 0.5 and nowhere else."""
    alike: dict[str, list[str]] = defaultdict(list)
    for raw in sorted(halved):
        stem, sign, state = _split_name(names[raw])
        if stem and state:
            alike[stem + sign].append(names[raw])
    in_order = sorted(names)
    for prefix, tested in alike.items():
        if len(tested) < 2:
            continue
        # Names with the same prefix are neighbours in sorted order.
        group = in_order[bisect_left(in_order, prefix) : bisect_left(in_order, prefix + chr(sys.maxunicode))]
        variable = prefix.rstrip("_=.: ")
        warn(
            f"the columns {listed(group, most=6)} look like one nominal variable, but are explained as"
            f" {len(group)} independent ones; if just one of them is 1 in every row, load with one_hot={{{variable!r}:"
            " [their names]}",
            LooksOneHot,
        )


def _split_name(name: str) -> tuple[str, str, str]:
    matched = re.fullmatch(r"(.+?)(=|__|_is_|: |\.|_)(.+)", name)
    if not matched:
        return "", "", ""
    if matched[2] == "_":  # the last underscore: marital_status_single
        stem, _, state = name.rpartition("_")
        return stem, "_", state
    return matched[1], matched[2], matched[3]


def _states(variable: Any, columns: Sequence[Any]) -> list[str]:
    """The columns' names without their common prefix."""
    names = [str(column) for column in columns]
    equal_letters = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    shared = "".join(letters[0] for letters in equal_letters)
    for prefix in (str(variable), shared):
        if shared.startswith(prefix):
            short = [name[len(prefix) :].lstrip("_=.: ") for name in names]
            if all(short) and len(set(short)) == len(short):
                return short
    return names


def _index(column: Any, index_of: Mapping[str, int], used: set[str]) -> int:
    if column not in index_of:
        raise Unsupported(
            f"one_hot names the column {shown(column)}, which the model does not have{did_you_mean(column, index_of)}",
            cure=f"its columns are {listed(index_of)}",
        )
    if column in used:
        raise Unsupported(f"one_hot names the column {column!r} twice", cure="name each column in one group")
    used.add(column)
    return index_of[column]


def _malformed(one_hot: Any) -> Unsupported:
    return Unsupported(
        f"one_hot is {shown(one_hot)}",
        cure="give a mapping such as {'colour': ['colour_red', 'colour_blue']}",
    )
