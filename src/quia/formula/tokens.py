"""The text of a formula as tokens: signs, words, numbers and what is in quotes, each with its column."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple, NoReturn

from quia.errors import FormatError, shown

SIGN, WORD, NUMBER, QUOTED = "sign", "word", "number", "quoted"
"""The kinds of tokens; the end of the text is a sign without text."""

# A word may have hyphens inside, as nothing is subtracted, but `a->b` has an arrow; a number must not go on as a word
# does, so that `11th` and `2020-01-01` are words. Nothing here looks back twice, so that long texts take no time.
_WORD = r"[\w.]+(?>(?:-+[\w.]+)*)"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<number>[+-]?(?>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?>(?:[eE][+-]?[0-9]+)?)(?![\w.]|-[\w.])|[+-]inf(?![\w.]|-[\w.]))
    | (?P<word>{_WORD})
    | (?P<quoted>"(?:[^"\\]|\\.)*+")
    | (?P<sign><=>|<->|!=|<=|>=|==|=>|->|&&|\|\||[()\[\]{{}}&|!~=<>,¬∧∨⊤⊥→⇒↔⇔≠≤≥∈∉])
    )""",
    re.DOTALL | re.VERBOSE,
)
_GOES_ON = re.compile(r"[\w.]|-+[\w.]")
_WORDS = re.compile(rf"{_WORD}(?: {_WORD})+")
_WAYS_TO_WRITE = {
    "&": "and && ∧",
    "|": "or || ∨",
    "!": "not ~ ¬",
    "->": "implies => → ⇒",
    "<->": "iff <=> ↔ ⇔",
    "=": "==",
    "!=": "≠",
    "<=": "≤",
    ">=": "≥",
    "in": "∈",
    "not in": "∉",
    "true": "⊤",
    "false": "⊥",
}
_SIGNS = {way: sign for sign, ways in _WAYS_TO_WRITE.items() for way in ways.split()}
RESERVED = frozenset({"and", "or", "not", "implies", "iff", "true", "false", "in"})
"""Words that are signs; a name or a state that is called so is quoted."""


class Token(NamedTuple):
    """A piece of text: what it means, its kind, the column where it begins, and the place where it ends."""

    text: str  # of a sign the one form that stands for all its forms; of a quotation what is inside
    kind: str
    column: int
    end: int

    @property
    def is_sign(self) -> bool:
        """Whether this is no name, state or number."""
        return self.kind == SIGN


class Scanner:
    """Goes through a text token by token, without looking at anything twice; `token` is the next one."""

    def __init__(self, text: str) -> None:
        self.text, self._length = text, len(text.rstrip())
        self.token = self._at(0)

    def next(self) -> Token:
        """The next token, which is then behind."""
        before, self.token = self.token, self._at(self.token.end)
        return before

    def peek(self) -> Token:
        """The token after the next one."""
        return self._at(self.token.end)

    def takes(self, *signs: str) -> bool:
        """Whether the next token is one of these signs."""
        return self.token.kind == SIGN and self.token.text in signs

    def raw(self, token: Token) -> str:
        """A token as it is in the text."""
        return self.text[token.column - 1 : token.end]

    def phrase(self, lengths: Mapping[str, Iterable[int]], names: Container[str]) -> Token:
        """The next token, lengthened to the longest of these names of several words that begins there."""
        token = self.token
        if token.kind in (WORD, NUMBER) and token.text in lengths:
            start = token.column - 1
            for length in lengths[token.text]:
                name = self.text[start : start + length]
                if name in names and not _GOES_ON.match(self.text, start + length):
                    self.token = Token(name, WORD, token.column, start + length)
                    break
        return self.token

    def fail(self, fault: str, *, at: Token | None = None, column: int | None = None) -> NoReturn:
        """Raise FormatError of the next token, of another, or of a column."""
        raise FormatError(f"column {column or (at or self.token).column}: {fault}")

    def _at(self, position: int) -> Token:
        if position >= self._length:
            return Token("", SIGN, self._length + 1, self._length)
        found = _TOKEN.match(self.text, position)
        if found is None:
            rest = re.compile(r"\s*").match(self.text, position)
            column = (rest.end() if rest else position) + 1
            self.fail(
                f"{shown(self.text[column - 1 :][:10])} is nothing that a formula has; a name or a state with such"
                ' signs is written in quotes: "a/b"',
                column=column,
            )
        kind, end = str(found.lastgroup), found.end()
        word, column = found[kind], found.start(kind) + 1
        if kind == QUOTED:
            return Token(re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL), kind, column, end)
        if kind == SIGN or word in RESERVED:
            return Token(_SIGNS.get(word, word), SIGN, column, end)
        return Token(word, kind, column, end)


def phrases(names: Iterable[str]) -> dict[str, list[int]]:
    """The lengths, longest first, of the names of several plain words, by their first word.

    Two words never stand side by side in a formula, so these names can be read without quotes.

    >>> phrases(["age", "hours per week", "hours off", "this or that"])
    {'hours': [14, 9]}
    """
    found: dict[str, set[int]] = {}
    for name in names:
        if " " in name and _WORDS.fullmatch(name):
            words = name.split(" ")
            if RESERVED.isdisjoint(words) and "is" not in words:
                found.setdefault(words[0], set()).add(len(name))
    return {first: sorted(lengths, reverse=True) for first, lengths in found.items()}
