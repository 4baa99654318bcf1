"""Lists of what was found as text: reasons, changes and shares, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from quia.show.words import number, percent, plural

if TYPE_CHECKING:
    from quia.counterfactual import Counterfactuals
    from quia.reasons import Reasons

MOST_LISTED = 20
"""So many lines there are at most; iterating gives all."""


def reasons_text(found: Reasons) -> str:
    """The first reasons, after how many there are; no more are looked for."""
    first = list(islice(found, MOST_LISTED + 1))
    count = len(first) if len(first) <= MOST_LISTED and found.limit is None else None
    if len(first) > MOST_LISTED and found.found:
        count = found.count if found.limit is None or found.count is None else min(found.count, found.limit)
    head = f"{found.kind.capitalize()} reasons" if count is None else plural(count, f"{found.kind} reason")
    if not first:
        return f"No {found.kind} reason"
    return _listed(head, map(str, first), len(first), count)


def changes_text(found: Counterfactuals) -> str:
    """The changes, after how many there are."""
    if not found:
        return "No change" if found.complete else "No change found in time"
    head = plural(len(found), "nearest change" if found.are_nearest else "change")
    more = "" if found.complete else "; there may be more" if found.are_nearest else "; there may be nearer ones"
    return _listed(f"{head}{more}", map(str, found), len(found), len(found))


def shares_text(shares: Mapping[str, Fraction]) -> str:
    """Each feature with its share of the sufficient reasons."""
    if not shares:
        return "No feature is in a sufficient reason"
    wide = min(max(map(len, shares)), 40)
    lines = (f"{name:<{wide}}  {percent(float(share)):>6}" for name, share in shares.items())
    return _listed(
        f"{plural(len(shares), 'feature')}, and the share of reasons each is in", lines, len(shares), len(shares)
    )


def _listed(head: str, lines: Iterable[str], given: int, count: int | None) -> str:
    """A heading, and the first of the lines below it."""
    told = [head, *(f"  {line}" for line in islice(lines, MOST_LISTED))]
    if given > MOST_LISTED:
        told.append("  …" if count is None else f"  … {number(count - MOST_LISTED)} more")
    return "\n".join(told)
