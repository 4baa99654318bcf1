"""One sufficient reason of each of some rows: its CPU seconds, its length, and what an independent check says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean, median, quantiles
from typing import Any, Literal

from quia.classifier import Classifier
from quia.errors import Refuted, Undecided
from quia.explanation import explain
from quia.reason import Reason
from quia.verify import verify

SLOW = 1.0
"""Rows that take more CPU seconds are named."""


@dataclass
class Reduced:
    """The reasons of some rows of one model."""

    seconds: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    checked: int = 0
    undecided: int = 0
    unproved: int = 0
    """Reasons that were not proved minimal in time."""
    refuted: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    """Rows that were slow, not proved minimal or refuted."""

    def numbers(self) -> dict[str, Any]:
        """The same, in sum."""
        many = len(self.seconds)
        return {
            "rows": many,
            "total": sum(self.seconds),
            "median": median(self.seconds),
            "p90": quantiles(self.seconds, n=10, method="inclusive")[-1] if many > 1 else self.seconds[0],
            "max": max(self.seconds),
            "length": fmean(self.lengths),
            "minimal": many - self.unproved,
            "checked": self.checked,
            "undecided": self.undecided,
            "refuted": self.refuted,
            "named": self.named,
        }


def reduce_rows(
    classifier: Classifier,
    rows: Iterable[tuple[int, Any]],
    limit: float | None,
    check_limit: float,
    attack: Callable[[Any, Reason], str | None] | None = None,
) -> Reduced:
    """One reason for each numbered row, checked; what is made on first use is not in the times.

    `attack` looks for a row with a reason's values and another class, and says what it found.
    """
    result = Reduced()
    for number, row in rows:
        if not result.seconds:
            one_reason(classifier, row, limit)
        seconds, reason = one_reason(classifier, row, limit)
        result.seconds.append(seconds)
        result.lengths.append(len(reason))
        faults = [f"{seconds:.2f} s"] if seconds > SLOW else []
        if reason.is_minimal:
            outcome, fault = check(classifier, row, reason, check_limit)
            result.checked += outcome == "right"
            result.undecided += outcome == "undecided"
        else:
            outcome, fault = "undecided", ""
            result.unproved += 1
            faults.append("not proved minimal")
        if outcome != "refuted" and attack is not None and (broken := attack(row, reason)):
            outcome, fault = "refuted", broken
        if outcome == "refuted":
            faults.append(outcome)
            result.refuted.append(f"row {number}: {reason}: {fault}")
        if faults:
            result.named.append(f"row {number}: {', '.join(faults)}")
    return result


def one_reason(classifier: Classifier, row: Any, limit: float | None) -> tuple[float, Reason]:
    """The CPU seconds from the row to its first sufficient reason, and that reason."""
    started = time.process_time()
    reason = next(iter(explain(classifier, row).sufficient_reasons(limit=1, timeout=limit)))
    return time.process_time() - started, reason


def check(
    classifier: Classifier, row: Any, reason: Reason, limit: float
) -> tuple[Literal["right", "refuted", "undecided"], str]:
    """What the independent search says of a reason that is claimed to be minimal, and why it refutes it."""
    try:
        verify(classifier, row, reason, "sufficient", timeout=limit)
    except Refuted as fault:
        return "refuted", str(fault)
    except Undecided:
        return "undecided", ""
    return "right", ""
