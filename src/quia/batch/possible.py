"""Rows that are impossible themselves: told in the words of `explain`, each with the constraint that it breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quia.batch.lists import Bools
from quia.batch.table import Faults, States, from_numpy, with_columns
from quia.errors import InstanceError
from quia.reference import admitting
from quia.variables import UNKNOWN
from quia.worlds import Worlds

if TYPE_CHECKING:
    import pyarrow as pa


def impossible(worlds: Worlds, table: pa.Table | pa.RecordBatch, states: States, sound: Bools) -> Faults:
    """Why some of the sound rows are impossible, or what is wrong with values that only constraints ask for.

    Complexity: a look at every row for each condition and each node of the constraints, and a sentence for each
    distinct row that is impossible.
    """
    if not worlds.within.bounds and worlds.given is None:
        return Faults.none(len(states))
    known, faults = with_columns(worlds.within.variables, worlds.spoken_of, table, states)
    rows = np.flatnonzero(sound & faults.sound & ~_are_possible(worlds, known))
    code = np.full(len(states), -1, np.int32)
    messages: dict[str, int] = {}
    said: dict[Any, int] = {}
    for row, instance in zip(rows.tolist(), _instances(worlds, table, rows), strict=True):
        key = (known[row].tobytes(), *map(repr, instance.values()))
        if key not in said:
            message = _sentence(worlds, known[row].tolist(), instance)
            said[key] = messages.setdefault(message, len(messages))
        code[row] = said[key]
    return faults.and_then(Faults(code, tuple(messages)))


def _are_possible(worlds: Worlds, known: States) -> Bools:
    """For each row whether `Worlds.check` takes it."""
    are = np.ones(len(known), bool)
    for v, ranges in worlds.within.bounds.items():
        are &= (known[:, v] == UNKNOWN) | admitting(worlds.within.variables[v], ranges, known[:, v])
    if worlds.given is not None:
        for each in worlds.given.each:
            are &= each.holds_rows(known)
        if worlds.given.together is not None:
            are &= worlds.given.together.holds_rows(known, worlds.possible)
    return are


def _instances(worlds: Worlds, table: Any, rows: Any) -> list[dict[str, Any]]:
    """What some rows have of the features that are spoken of, as it was given."""
    about = {*worlds.within.bounds, *(v for each in (worlds.given.each if worlds.given else ()) for v in each.tested)}
    names = [worlds.within.variables[v].name for v in sorted(about)]
    columns = {
        name: table.column(name).take(from_numpy(rows)).to_pylist() for name in names if name in table.schema.names
    }
    return [{name: values[at] for name, values in columns.items()} for at in range(len(rows))]


def _sentence(worlds: Worlds, states: list[int], instance: dict[str, Any]) -> str:
    try:
        worlds.check(states, instance)
    except InstanceError as fault:
        return str(fault)
    raise AssertionError(f"{instance} is possible")
