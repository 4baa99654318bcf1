"""Numbers of a table: averages, ratios and how they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, median, pstdev


def geometric_mean(values: Iterable[float]) -> float | None:
    """The mean of ratios; None of none.

    >>> geometric_mean([10, 1000])
    100.0
    """
    logs = [math.log(v) for v in values if v > 0]
    return round(math.exp(fmean(logs)), 10) if logs else None


def spread(values: Sequence[float]) -> dict[str, float | None]:
    """Mean, standard deviation, median and maximum."""
    if not values:
        return {"mean": None, "stdev": None, "median": None, "max": None}
    return {"mean": fmean(values), "stdev": pstdev(values), "median": median(values), "max": max(values)}


def seconds_text(seconds: float | None) -> str:
    """A time in the unit that fits it.

    >>> [seconds_text(s) for s in (None, 0.0000042, 0.0123, 3.79)]
    ['–', '4.2 µs', '12.3 ms', '3.79 s']
    """
    if seconds is None:
        return "–"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{_three(seconds * scale)} {unit}"
    raise AssertionError


def number_text(number: float | None) -> str:
    """A count in a table.

    >>> [number_text(n) for n in (None, 2.83, 1851.6, 7.7e9, 10**400)]
    ['–', '2.8', '1,851.6', '7.7·10⁹', '1.0·10⁴⁰⁰']
    """
    if number is None:
        return "–"
    if number < 1e6:
        return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"
    power = len(str(int(number))) - 1
    lead = int(number) // 10 ** max(power - 2, 0) / 10 ** min(power, 2)
    return f"{lead:.1f}·10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def ratio_text(ratio: float | None) -> str:
    """How many times as fast.

    >>> ratio_text(1234.5), ratio_text(0.52), ratio_text(None)
    ('1,234×', '0.52×', '–')
    """
    if ratio is None:
        return "–"
    return f"{_three(ratio)}×" if ratio < 1000 else f"{ratio:,.0f}×"


def _three(number: float) -> str:
    """Two or three digits: 0.52, 4.2, 4.25, 12.3, 620."""
    return f"{round(number, 2):g}" if number < 10 else f"{number:.3g}"


def plain_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns under their names, the first one left, the others right, as Markdown reads it too."""
    body = [list(row) for row in rows]
    widths = [max(len(row[i]) for row in [list(header), *body]) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([line(header), rule, *map(line, body)])
