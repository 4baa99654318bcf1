"""Cuts: borders between numbers, exact in 32 and in 64 bits; intervals between them, and how these are written."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple


class Cut(NamedTuple):
    """A border between numbers: after the threshold (`<= t` | `> t`) or before it (`< t` | `>= t`)."""

    threshold: float
    after: bool = True

    def last_below(self, single: bool) -> float:
        """The greatest number on the lower side, in the type the model compares in.

        Two cuts with no number between them have the same one, so they make no state that nothing can be in.
        """
        if single:
            below = nearest_single(self.threshold)
            if below > self.threshold or (below == self.threshold and not self.after):
                below = _single_before(below)
            return below
        return self.threshold if self.after else math.nextafter(self.threshold, -math.inf)

    def exact(self, single: bool) -> Cut:
        """The same cut at a finite number of the type that the model compares in.

        >>> Cut(0.1).exact(single=True), Cut(2.5, after=False).exact(single=True)
        (Cut(threshold=0.10000000149011612, after=False), Cut(threshold=2.5, after=False))
        """
        below = self.last_below(single)
        at = nearest_single(self.threshold) if single else self.threshold
        if math.isinf(at):  # between the infinite and all that is finite
            finite = below if math.isfinite(below) else -Cut(math.inf, False).last_below(single)
            return Cut(finite, after=finite == below)
        return Cut(at + 0.0, after=at == below)

    @property
    def has_empty_side(self) -> bool:
        """Whether no number lies on one side: `<= inf` and `< -inf`."""
        return self.threshold == (math.inf if self.after else -math.inf)


def number_text(number: float) -> str:
    """A number as people write it, and as it is read back exactly.

    >>> number_text(1450.0), number_text(0.1), number_text(-0.0)
    ('1450', '0.1', '0')
    """
    text = repr(number + 0.0)
    return text[:-2] if text.endswith(".0") else text


class Interval(NamedTuple):
    """The numbers between two cuts; None is no cut.

    `text` is how it is written and read back, `signs` what people read, `words` what is read aloud.

    >>> some = Interval(Cut(0.6), Cut(1.5, after=False))
    >>> some.text, some.signs, some.words
    ('(0.6, 1.5)', '> 0.6 and < 1.5', 'more than 0.6 and less than 1.5')
    """

    lower: Cut | None
    upper: Cut | None

    @property
    def text(self) -> str:
        """As in the JSON format: `<= 3`, `> 3`, `(3, 4]`, `(-inf, inf)`."""
        if self.lower is None and self.upper is None:
            return "(-inf, inf)"
        if self.is_one:
            return " ".join(*self._sides(_OPERATORS))
        if self.lower is None or self.upper is None:
            return " ".join(next(self._sides(_OPERATORS)))
        opening, closing = "(" if self.lower.after else "[", "]" if self.upper.after else ")"
        return f"{opening}{number_text(self.lower.threshold)}, {number_text(self.upper.threshold)}{closing}"

    @property
    def signs(self) -> str:
        """With the signs that people read: `≤ 3`, `> 3 and ≤ 4`."""
        return " and ".join(map(" ".join, self._sides(_SIGNS))) or "any number"

    @property
    def words(self) -> str:
        """In words: `at most 3`, `more than 3 and at most 4`."""
        return " and ".join(map(" ".join, self._sides(_WORDS))) or "any number"

    @property
    def is_one(self) -> bool:
        """Whether it is a single number, by itself."""
        return self.lower is not None and self.upper == (self.lower.threshold, True) and not self.lower.after

    def _sides(self, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Each end that there is: how it compares, by its name, and the number."""
        if self.lower is not None and self.is_one:
            yield names["="], number_text(self.lower.threshold)
            return
        if self.lower is not None:
            yield names[">" if self.lower.after else ">="], number_text(self.lower.threshold)
        if self.upper is not None:
            yield names["<=" if self.upper.after else "<"], number_text(self.upper.threshold)

    def readable(self, *, single: bool = False) -> Interval:
        """The same numbers between cuts that read well.

        A cut among `single` numbers is written with the shortest number that, itself rounded to 32 bits, cuts there.

        >>> tenths = Interval(None, Cut(0.800000011920929))
        >>> tenths.readable().text, tenths.readable(single=True).text
        ('<= 0.800000011920929', '<= 0.8')
        """
        lower, upper = self
        if lower is not None and upper is not None:
            # 'up to infinity' would read as if infinity were in, so the last number that is in is named.
            lower = Cut(-Cut(math.inf, False).last_below(single), False) if lower.threshold == -math.inf else lower
            upper = Cut(upper.last_below(single), True) if upper.threshold == math.inf else upper
        if single:
            lower, upper = lower and _shortest_single(lower), upper and _shortest_single(upper)
        return Interval(lower, upper)


_OPERATORS = {"<=": "<=", ">=": ">=", "<": "<", ">": ">", "=": "="}
_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">", "=": "="}
_WORDS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than", "=": "exactly"}


@lru_cache(maxsize=1 << 16)
def _shortest_single(cut: Cut) -> Cut:
    """A cut that reads short: after the last 32-bit number below, or before the first above, as 32 bits tell them.

    So that what people write falls on the side that they read: where 2.45 is the first number above, it says `< 2.45`.
    """
    below = cut.last_below(True)
    above = -_single_before(-below)
    if not (math.isfinite(below) and math.isfinite(above)):
        return cut
    for digits in range(1, 10):  # nine digits tell all 32-bit numbers apart
        for number in (cut.threshold, below, above):
            short = float(f"{number:.{digits}g}")
            rounded = nearest_single(short)
            if rounded in (below, above):
                return Cut(short, after=rounded == below)
    return cut


def nearest_single(number: float) -> float:
    """The number rounded to 32 bits, as a cast to float32 does; too large becomes infinite."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def first_above(number: float, *, single: bool = False) -> float:
    """The least number above a number, of 32-bit numbers if they are `single`."""
    return -_single_before(-number) if single else math.nextafter(number, math.inf)


def among_doubles(below: float) -> Cut:
    """The cut of 64-bit numbers between those that 32 bits round to at most a 32-bit number, and those above.

    What lies in the middle of two 32-bit numbers is rounded to the one whose last bit is 0.

    >>> among_doubles(1.0), among_doubles(first_above(1.0, single=True))
    (Cut(threshold=1.0000000596046448, after=True), Cut(threshold=1.0000001788139343, after=False))
    """
    above = first_above(below, single=True)
    if math.isinf(below) or math.isinf(above):  # what is rounded to the infinite begins where it would to 2**128
        middle = math.copysign(2.0**128 - 2.0**103, below)
    else:
        middle = (below + above) / 2
    return Cut(middle, after=nearest_single(middle) <= below)


def _single_before(number: float) -> float:
    """The greatest 32-bit number below a 32-bit number."""
    if number == -math.inf:
        return number
    if number == 0:
        return -(2.0**-149)
    bits = struct.unpack("i", struct.pack("f", number))[0]
    before = struct.unpack("f", struct.pack("i", bits - 1 if number > 0 else bits + 1))[0]
    return float(before)
