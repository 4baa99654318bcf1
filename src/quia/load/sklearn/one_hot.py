"""Dummies made by hand: groups of 0/1 columns that are one nominal variable, told by the caller or looked out for."""

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
    """Columns that look like the dummies of one nominal variable, but were not said to be."""


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
    taken: set[str] = set()
    places = {name: index for index, name in enumerate(names)}
    for variable, given in one_hot.items():
        if isinstance(given, Mapping):
            states = dict(given)
        elif isinstance(given, Sequence) and not isinstance(given, str):
            states = dict(zip(_states(variable, given), given, strict=True))
        else:
            raise _malformed(one_hot)
        groups[str(variable)] = {
            str(state): None if column is None else _index(column, places, taken) for state, column in states.items()
        }
        if len(states) < 2 or sum(column is None for column in states.values()) > 1:
            raise Unsupported(
                f"the one-hot group {variable!r} is {shown(given)}",
                cure="give it two states or more, of which at most one has no column",
            )
    clash = [name for name in groups if name in places and name not in taken]
    if clash:
        raise Unsupported(f"the one-hot group {clash[0]!r} has the name of a column", cure="choose another name")
    return groups


def look_for_groups(names: Sequence[str], halved: Collection[int]) -> None:
    """Warn of columns named `colour_red`, `colour_blue`, … that the tree tests at 0.5 and nowhere else."""
    alike: dict[str, list[str]] = defaultdict(list)
    for raw in sorted(halved):
        stem, sign, state = _parts(names[raw])
        if stem and state:
            alike[stem + sign].append(names[raw])
    in_order = sorted(names)
    for prefix, tested in alike.items():
        if len(tested) < 2:
            continue
        # Those that begin with it stand together.
        group = in_order[bisect_left(in_order, prefix) : bisect_left(in_order, prefix + chr(sys.maxunicode))]
        variable = prefix.rstrip("_=.: ")
        warn(
            f"the columns {listed(group, most=6)} look like one nominal variable, but are explained as"
            f" {len(group)} independent ones; if just one of them is 1 in every row, load with one_hot={{{variable!r}:"
            " [their names]}",
            LooksOneHot,
        )


def _parts(name: str) -> tuple[str, str, str]:
    found = re.fullmatch(r"(.+?)(=|__|_is_|: |\.|_)(.+)", name)
    if not found:
        return "", "", ""
    if found[2] == "_":  # the last underscore: marital_status_single
        stem, _, state = name.rpartition("_")
        return stem, "_", state
    return found[1], found[2], found[3]


def _states(variable: Any, columns: Sequence[Any]) -> list[str]:
    """The columns' names without what they have in common at their beginning."""
    texts = [str(column) for column in columns]
    shared = "".join(same[0] for same in takewhile(lambda at: len(set(at)) == 1, zip(*texts, strict=False)))
    for prefix in (str(variable), shared):
        if shared.startswith(prefix):
            short = [text[len(prefix) :].lstrip("_=.: ") for text in texts]
            if all(short) and len(set(short)) == len(short):
                return short
    return texts


def _index(column: Any, places: Mapping[str, int], taken: set[str]) -> int:
    if column not in places:
        raise Unsupported(
            f"one_hot names the column {shown(column)}, which the model does not have{did_you_mean(column, places)}",
            cure=f"its columns are {listed(places)}",
        )
    if column in taken:
        raise Unsupported(f"one_hot names the column {column!r} twice", cure="name each column in one group")
    taken.add(column)
    return places[column]


def _malformed(one_hot: Any) -> Unsupported:
    return Unsupported(
        f"one_hot is {shown(one_hot)}",
        cure="give a mapping such as {'colour': ['colour_red', 'colour_blue']}",
    )
