"""Rows of a circuit: no kernel walks it, so its complete reasons are made one by one and the kernel takes those."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.complete import complete_reason
from quia.errors import Unsupported
from quia.families import Families, Kind

if TYPE_CHECKING:
    from quia.batch.arrow import Question
    from quia.circuit import Circuit

_UNKNOWN = -1


def explain_rows(circuit: Circuit, rows: npt.NDArray[np.int32], question: Question) -> dict[str, Any]:
    """What the kernel's `batch` gives for graphs, for a circuit."""
    decisions = [circuit.decide(row.tolist()) for row in rows]
    families = [
        _families(circuit, row.tolist(), decision, question) for row, decision in zip(rows, decisions, strict=True)
    ]
    found: dict[str, Any] = {"decision": np.array(decisions, np.int32).reshape(len(rows))}
    kinds: tuple[Kind, ...] = ("necessary", "sufficient")
    for kind in kinds:
        found[kind] = _shortest(families, kind, question)
        if question.counts:
            found[f"count_{kind}"] = _counts(families, kind, question)
    return found


def _families(circuit: Circuit, states: list[int], decision: int, question: Question) -> Families | None:
    if decision == question.against:
        return None
    against = None if question.against < 0 else circuit.classes[question.against]
    try:
        formula = complete_reason(circuit, states, against=against, frozen=question.frozen)
    except Unsupported:  # the circuit explains the other decision only
        return None
    return Families.of(partial(formula.find_necessary), question.costs)


def _shortest(families: list[Families | None], kind: Kind, question: Question) -> dict[str, Any]:
    ties, complete, reason_start = [], [], [0]
    members: list[int] = []
    member_start = [0]
    for each in families:
        family = each.answer(kind, shortest=True, timeout=question.timeout).family if each else None
        ties.append(_UNKNOWN if family is None else family.count())
        complete.append(family is not None)
        for reason in islice(family.listing() if family else (), question.limit):
            members.extend(reason)
            member_start.append(len(members))
        reason_start.append(len(member_start) - 1)
    return {
        "complete": np.array(complete, np.uint8),
        "reason_start": np.array(reason_start, np.int64),
        "member_start": np.array(member_start, np.int64),
        "members": np.array(members, np.int32),
        **_split("ties", ties),
    }


def _counts(families: list[Families | None], kind: Kind, question: Question) -> dict[str, Any]:
    counts = []
    for each in families:
        family = each.answer(kind, shortest=False, timeout=question.timeout).family if each else None
        counts.append(_UNKNOWN if family is None else family.count())
    return {"complete": np.array([count >= 0 for count in counts], np.uint8), **_split("count", counts)}


def _split(name: str, numbers: list[int]) -> dict[str, Any]:
    """Numbers that fit 64 bits in an array, the others beside it."""
    large = {row: number for row, number in enumerate(numbers) if number >= 2**63}
    small = [_UNKNOWN if row in large else number for row, number in enumerate(numbers)]
    return {name: np.array(small, np.int64), "large": large}
