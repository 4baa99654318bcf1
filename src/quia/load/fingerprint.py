"""Comparing Boolean functions by one random number each.

A circuit whose disjuncts exclude each other and whose conjuncts share no variable is a polynomial: x for x, 1 - x
for ¬x, sums for ∨, products for ∧. Equal functions have equal polynomials, and different ones differ at a random point
of a large field but for a chance of (number of variables) / 2⁶¹. The point is drawn anew each time, so no file can aim
at it.
"""

from __future__ import annotations

from random import SystemRandom

MODULUS = 2**61 - 1


class Fingerprints:
    """The values of literals at one random point."""

    def __init__(self) -> None:
        self._random = SystemRandom()
        self._points: dict[int, int] = {}

    def literal(self, literal: int) -> int:
        """The value of the literal v or -v."""
        variable = abs(literal)
        if variable not in self._points:
            self._points[variable] = self._random.randrange(MODULUS)
        return self._points[variable] if literal > 0 else (1 - self._points[variable]) % MODULUS
