"""The numbers of docs/evidence.md that are of whole audits; see measured.py."""

from __future__ import annotations

from typing import Any

from measured_peers import filled

from benchmarks.audit_measured import sentences, steps_table


def audits(results: dict[str, Any]) -> str:
    """What each step of an audit took, what it covers, and what became of its claims."""
    return "\n\n".join(f"{steps_table(each)}\n\n{filled(' '.join(sentences(each)))}" for each in results["results"])
