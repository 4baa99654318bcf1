"""Rows of a circuit: no kernel walks it, so its complete reasons are made one by one and the kernel takes those."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.complete import complete_reason
from quia.errors import Unsupported
from quia.families import KINDS, Families, Kind
from quia.patience import Patience

if TYPE_CHECKING:
    from quia.circuit import Circuit

_UNKNOWN = -1
_Asked = tuple[Families | None, Patience]


def batch(
    circuit: Circuit,
    rows: npt.NDArray[np.int32],
    *,
    keeps: npt.NDArray[np.uint8] | None,
    frozen: npt.NDArray[np.uint8],
    costs: npt.NDArray[np.int64] | None,
    limit: int,
    timeout_per_row: float | None,
    shortest: bool = True,
    necessary: bool = True,
    sufficient: bool = True,
    count_necessary: bool = False,
    count_sufficient: bool = False,
    **_: Any,
) -> dict[str, Any]:
    """What the kernel's `batch` gives for graphs, for a circuit."""
    decisions = [circuit.decide(row.tolist()) for row in rows]
    # Of a circuit's two classes, the one that does not keep the decision.
    against = None if keeps is None else circuit.classes[int(np.argmin(keeps))]
    held = tuple(np.flatnonzero(frozen).tolist())
    families = [
        (_families(circuit, row.tolist(), decision, against, held, costs), Patience(timeout_per_row))
        for row, decision in zip(rows, decisions, strict=True)
    ]
    found: dict[str, Any] = {"decision": np.array(decisions, np.int32).reshape(len(rows))}
    asked = {"necessary": (necessary, count_necessary), "sufficient": (sufficient, count_sufficient)}
    for kind in KINDS:
        listed, counted = asked[kind]
        if listed:
            found[kind] = _reasons(families, kind, shortest, limit)
        if counted:
            found[f"count_{kind}"] = _counts(families, kind)
    return found


def _families(
    circuit: Circuit,
    states: list[int],
    decision: int,
    against: str | None,
    frozen: tuple[int, ...],
    costs: npt.NDArray[np.int64] | None,
) -> Families | None:
    if circuit.classes[decision] == against:
        return None
    try:
        formula = complete_reason(circuit, states, against=against, frozen=frozen)
    except Unsupported:  # the circuit explains the other decision only
        return None
    return Families(partial(formula.find_necessary), costs)


def _reasons(families: list[_Asked], kind: Kind, shortest: bool, limit: int) -> dict[str, Any]:
    ties, complete, reason_start = [], [], [0]
    members: list[int] = []
    member_start = [0]
    for each, patience in families:
        found = each.answer(kind, shortest=shortest, patience=patience) if each else None
        # Of all reasons the first can be had one by one where the family does not fit; ties cannot be counted then.
        known = found is not None and not (found.is_cut_short or (shortest and found.family is None))
        for reason in islice(found.listing() if found and known else (), limit):
            members.extend(reason)
            member_start.append(len(members))
        reason_start.append(len(member_start) - 1)
        listed = reason_start[-1] - reason_start[-2]
        ties.append((found.family.count() if found and found.family and shortest else listed) if known else _UNKNOWN)
        complete.append(known)
    return {
        "complete": np.array(complete, np.uint8),
        "reason_start": np.array(reason_start, np.int64),
        "member_start": np.array(member_start, np.int64),
        "members": np.array(members, np.int32),
        **_split("ties", ties),
    }


def _counts(families: list[_Asked], kind: Kind) -> dict[str, Any]:
    counts = []
    for each, patience in families:
        family = each.answer(kind, shortest=False, patience=patience).family if each else None
        counts.append(_UNKNOWN if family is None else family.count())
    return {"complete": np.array([count >= 0 for count in counts], np.uint8), **_split("count", counts)}


def _split(name: str, numbers: list[int]) -> dict[str, Any]:
    """Numbers that fit 64 bits in an array, the others beside it."""
    large = {row: number for row, number in enumerate(numbers) if number >= 2**63}
    small = [_UNKNOWN if row in large else number for row, number in enumerate(numbers)]
    return {name: np.array(small, np.int64), "large": large}
