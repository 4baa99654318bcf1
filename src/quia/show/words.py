"""Facts in words, and as the small signs (chips) that the page shows them by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from quia.show.markup import Markup, element, join, short
from quia.variables import MISSING

MOST_TOLD = 4
"""How many facts a sentence tells."""

_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">"}
_WORDS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}


def signs(text: str, *, numeric: bool) -> str:
    """A state with the signs people read.

    >>> signs("<= 3", numeric=True), signs("(0.6, 1.5]", numeric=True), signs("<= 3", numeric=False)
    ('≤ 3', '> 0.6 and ≤ 1.5', '<= 3')
    """
    if not numeric:
        return text
    if text == "(-inf, inf)":
        return "any number"
    operator, _, number = text.partition(" ")
    if operator in _SIGNS:
        return f"{_SIGNS[operator]} {number}"
    if text == MISSING:
        return text
    low, high = text[1:-1].split(", ")
    return f"{'>' if text[0] == '(' else '≥'} {low} and {'<' if text[-1] == ')' else '≤'} {high}"


def sentence(feature: str, text: str, *, numeric: bool, verb: str = "is") -> str:
    """A fact as a clause that can be read aloud.

    >>> sentence("GPA", "medium", numeric=False), sentence("W", "(0.6, 1.5]", numeric=True)
    ('GPA is medium', 'W is more than 0.6 and at most 1.5')
    """
    if not numeric or text == MISSING:
        return f"{feature} {verb} {text}"
    if text == "(-inf, inf)":
        return f"{feature} {verb} any number"
    operator, _, number = text.partition(" ")
    if operator in _WORDS:
        return f"{feature} {verb} {_WORDS[operator]} {number}"
    low, high = text[1:-1].split(", ")
    above = "more than" if text[0] == "(" else "at least"
    below = "less than" if text[-1] == ")" else "at most"
    return f"{feature} {verb} {above} {low} and {below} {high}"


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

    def __init__(self, variables: Iterable[Any]) -> None:
        self.variables = tuple(variables)
        self.index = {v.name: i for i, v in enumerate(self.variables)}

    def chip(self, feature: str, text: str, *, extra: str = "") -> Markup:
        """A fact as a small sign that lights up with its feature."""
        index = self.index[feature]
        numeric = self.variables[index].is_numeric
        return element(
            "span",
            element("b", short(feature)),
            " ",
            element("span", short(signs(text, numeric=numeric)), class_="state"),
            element("span", f" {extra}", class_="was") if extra else None,
            # Circuits number their features, and "1 0" says little.
            class_="fact equals" if feature.isdecimal() and not numeric else "fact",
            data_f=index,
        )

    def given(self, feature: str, value: Any, most: int = 60) -> str:
        """A value as it was given, or that it is missing; the empty name of a state is shown by its quotes."""
        missing = self.variables[self.index[feature]].is_missing(value)
        return MISSING if missing else short(str(value), most).strip() or "''"

    def numbers(self, features: Iterable[str]) -> str:
        """The features' numbers, as the page's script wants them."""
        return " ".join(str(self.index[name]) for name in features)

    def clause(self, feature: str, text: str, *, verb: str = "is") -> Markup:
        """A fact as part of a sentence."""
        numeric = self.variables[self.index[feature]].is_numeric
        said = sentence("", short(text, 60), numeric=numeric, verb=verb)
        return element("span", element("bdi", short(feature, 60)), said, class_="clause", data_f=self.index[feature])

    def clauses(self, reason: Mapping[str, str], *, verb: str = "is", most: int = MOST_TOLD) -> Markup:
        """A reason as a sentence, of a long one the beginning and how many facts more."""
        told = [self.clause(feature, text, verb=verb) for feature, text in islice(reason.items(), most)]
        more = len(reason) - len(told)
        return join([listed(told), f" (and {plural(more, 'fact')} more)" if more else ""])
