"""The cutoffs of a scorecard, which tell its classes: rows of the card, or what a caller gives."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from quia.cuts import number_text
from quia.errors import FormatError, Unsupported, listed, shown
from quia.load.scorecard_rows import Row, given

CUTOFF = ("cutoff", "cut-off", "cut off")


class Cutoff(NamedTuple):
    """From where on a class is told, and its name, if it has one."""

    points: Fraction
    label: str | None = None


def is_cutoff(row: Row) -> bool:
    """Whether a row is about the score, and not about a feature."""
    return row.feature.casefold() in CUTOFF


def cutoffs_and_classes(
    rows: Sequence[Row], file: str, cutoff: Any, classes: Any
) -> tuple[list[Cutoff], tuple[str, ...]]:
    """The cutoffs, ascending, and the classes below the first, and from each on."""
    own = [row for row in rows if is_cutoff(row)]
    found, below = _own_cutoffs(own, file)
    if cutoff is not None:
        several = given_cutoffs(cutoff)
        labels = [each.label for each in found] if len(several) == len(found) else [None] * len(several)
        below = below if len(several) == len(found) else None
        found = [Cutoff(points, label) for points, label in zip(several, labels, strict=True)]
    if not found:
        raise FormatError(
            "has no cutoff, so it tells no class; add a row such as 'cutoff,,600', or give it with cutoff= or, on"
            " the command line, --cutoff",
            file=file,
        )
    if classes is not None:
        return found, given_classes(classes, len(found) + 1)
    if below is None:
        return found, band_names([each.points for each in found])
    return found, (below, *(each.label or "" for each in found))


def given_cutoffs(cutoff: Any) -> list[Fraction]:
    """The cutoff that a caller gives, or several."""
    several = [given(each, "cutoff") for each in (cutoff if isinstance(cutoff, (list, tuple)) else [cutoff])]
    if not several or any(not a < b for a, b in pairwise(several)):
        raise Unsupported(f"cutoff is {shown(cutoff)}", cure="give a number, or several that ascend")
    return several


def _own_cutoffs(rows: Sequence[Row], file: str) -> tuple[list[Cutoff], str | None]:
    """The cutoffs in the rows of a card, and the class below them, if classes are named."""
    lowest = [row for row in rows if row.points is None]
    above = sorted((row for row in rows if row.points is not None), key=lambda row: row.points or 0)
    if len(lowest) > 1:
        raise FormatError(
            f"a cutoff has no points, as that in line {lowest[0].line}; only the class below all cutoffs has none",
            file=file,
            line=lowest[1].line,
        )
    for one, other in pairwise(above):
        if one.points == other.points:
            raise FormatError(f"the cutoff is that of line {one.line}; keep one", file=file, line=other.line)
    unnamed = next((row for row in rows if not row.condition), None)
    named = next((row for row in rows if row.condition), None)
    if named is not None and (unnamed is not None or not lowest):
        raise FormatError(
            f"the cutoff in line {named.line} names its class, {shown(named.condition)}; name that of every cutoff, and"
            " in a row without points, such as 'cutoff,deny,', the class below all of them",
            file=file,
            line=(unnamed or named).line,
        )
    if lowest and named is None:
        raise FormatError("a cutoff has neither points nor a class", file=file, line=lowest[0].line)
    names = [row.condition for row in rows]
    if named is not None and len(set(names)) < len(names):
        raise FormatError(
            f"the cutoffs name the classes {listed(names)}; classes must differ", file=file, line=named.line
        )
    cutoffs = [Cutoff(row.points, row.condition or None) for row in above if row.points is not None]
    return cutoffs, lowest[0].condition if lowest else None


def band_names(cutoffs: Sequence[Fraction]) -> tuple[str, ...]:
    """What classes without a name are called."""
    texts = [number_text(float(points)) for points in cutoffs]
    middle = (f"{low} to below {high}" for low, high in pairwise(texts))
    return (f"below {texts[0]}", *middle, f"{texts[-1]} or more")


def given_classes(classes: Any, count: int) -> tuple[str, ...]:
    """The names of classes that a caller gives."""
    if not isinstance(classes, (list, tuple)) or not all(isinstance(label, str) for label in classes):
        raise Unsupported(f"classes is {shown(classes)}", cure="give a list of names, that below the cutoff first")
    if len(classes) != count or len(set(classes)) < count:
        raise Unsupported(
            f"classes is {shown(classes)}, and the cutoffs tell {count} classes apart",
            cure=f"give {count} names that differ, that below the cutoff first",
        )
    return tuple(classes)
