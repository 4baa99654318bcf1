"""Facts in words, and as the small signs (chips) that the page shows them by."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any

from quia.literal import Literal
from quia.show.markup import Markup, element, join, short
from quia.variables import MISSING, Variable

MOST_TOLD = 4
"""How many facts a sentence tells."""


def listed(parts: Sequence[str | Markup], last: str = "and") -> Markup:
    """Parts in a row as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(parts) <= 1:
        return join(parts)
    commas = [piece for part in parts[:-2] for piece in (part, ", ")]
    return join([*commas, parts[-2], f" {last} ", parts[-1]])


def number(count: int) -> str:
    """A count with its thousands apart; a huge one by its size.

    >>> number(2592), number(10**30)
    ('2,592', 'about 1.0·10^30')
    """
    if count < 10**15:
        return f"{count:,}"
    digits = str(count)
    return f"about {digits[0]}.{digits[1]}·10^{len(digits) - 1}"


def percent(share: float) -> str:
    """A share in percent, where a little is not nothing and almost all is not all.

    >>> percent(0.5), percent(0.0001), percent(0.9999), percent(1)
    ('50 %', '< 1 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "< 1 %"
    if 0.99 < share < 1:
        return "> 99 %"
    return f"{round(100 * share)} %"


def plural(count: int, name: str) -> str:
    """A count and a noun.

    >>> plural(1, "step"), plural(3, "branch"), plural(2, "way of life")
    ('1 step', '3 branches', '2 way of lifes')
    """
    ending = "" if count == 1 else "es" if name.endswith(("ch", "s", "x")) else "s"
    return f"{number(count)} {name}{ending}"


class Facts:
    """How the facts about one classifier's variables are shown: by name, each with its number."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self.variables = tuple(variables)
        self.index = {v.name: i for i, v in enumerate(self.variables)}

    def chip(self, literal: Literal, *, extra: str = "") -> Markup:
        """A fact as a small sign that lights up with its feature."""
        feature = literal.feature
        return element(
            "span",
            element("b", short(feature)),
            " ",
            element("span", short(literal.signs), class_="state"),
            element("span", f" {extra}", class_="was") if extra else None,
            # Circuits number their features, and "1 0" says little.
            class_="fact equals" if feature.isdecimal() and not literal.variable.is_numeric else "fact",
            data_f=self.index[feature],
        )

    def given(self, feature: str, value: Any, most: int = 60) -> str:
        """A value as it was given, or that it is missing; the empty name of a state is shown by its quotes."""
        missing = self.variables[self.index[feature]].is_missing(value)
        return MISSING if missing else short(str(value), most).strip() or "''"

    def numbers(self, features: Iterable[str]) -> str:
        """The features' numbers, as the page's script wants them."""
        return " ".join(str(self.index[name]) for name in features)

    def clause(self, literal: Literal, *, verb: str = "is") -> Markup:
        """A fact as part of a sentence."""
        said = f" {verb} {literal.words if literal.variable.is_numeric else short(literal.words, 60)}"
        feature = literal.feature
        return element("span", element("bdi", short(feature, 60)), said, class_="clause", data_f=self.index[feature])

    def clauses(self, literals: Collection[Literal], *, verb: str = "is", most: int = MOST_TOLD) -> Markup:
        """A reason as a sentence, of a long one the beginning and how many facts more."""
        told = [self.clause(literal, verb=verb) for literal in islice(literals, most)]
        more = len(literals) - len(told)
        return join([listed(told), f" (and {plural(more, 'fact')} more)" if more else ""])
