"""The tokens of a text, taken one after the other, and the line of each."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Container

from quia.errors import FormatError, shown

MOST_TOKENS = 10_000_000
"""A file with more tokens than this is refused; each takes up to seventy bytes."""
END = ""
"""What follows the last token."""

TEXT = r'"(?:[^"\\]|\\(?:.|\Z))*+"?+'
"""What is between quotation marks; without the second one it goes on to the end, so that nothing is looked at twice."""

_CLOSED = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


def pattern(token: str, *comments: str) -> re.Pattern[str]:
    """The tokens of a language, one of them or the end for each match, between blanks and comments.

    Whatever is no token is one of a single character, so that nothing is passed over in silence. Both ends of a
    comment are to be in its pattern; one that is not closed is a token.
    """
    between = "|".join([r"\s++", *comments])
    return re.compile(rf"(?:{between})*+({token}|.|\Z)", re.DOTALL)


class Tokens:
    """The tokens of a file, and which of them is the next.

    >>> tokens = Tokens("a {\\n b }", pattern(r"\\w++"), "f")
    >>> tokens.take(), tokens.next, tokens.line(2)
    ('a', '{', 2)
    """

    def __init__(self, text: str, tokens: re.Pattern[str], file: str | None) -> None:
        self.file, self.at = file, 0
        self.all: list[str] = []
        self.start = array("q")
        for match in tokens.finditer(text):
            self.all.append(match[1])
            self.start.append(match.start(1))
            if len(self.all) > MOST_TOKENS:
                raise FormatError(f"holds more than {MOST_TOKENS} words and signs; networks are smaller", file=file)
        self._breaks = array("q", (found.start() for found in re.finditer("\n", text)))
        last = len(self.all) - 2
        if last >= 0 and self.all[last][:1] == '"' and not _CLOSED.fullmatch(self.all[last]):
            raise self.fault("has a quotation mark that is not closed", last)
        if "/*" in self.all:
            raise self.fault("has a comment that is not closed", self.all.index("/*"))

    @property
    def next(self) -> str:
        """The token that is not yet taken; the end is never passed."""
        return self.all[self.at]

    def take(self) -> str:
        """The next token, taken."""
        token = self.all[self.at]
        self.at += token != END
        return token

    def took(self, token: str) -> bool:
        """Whether this was the next token, which is then taken."""
        found = self.all[self.at] == token
        self.at += found
        return found

    def expect(self, token: str, where: str) -> None:
        """Take this token; another one is a fault."""
        if not self.took(token):
            raise self.unexpected(f"{token} should be, {where}")

    def name(self, what: str, signs: Container[str]) -> str:
        """Take a word, or what is between quotation marks; one of the signs of the language is a fault."""
        token = self.next
        if token == END or token in signs:
            raise self.unexpected(f"{what} should be")
        self.at += 1
        name = unquoted(token)
        if len(name.splitlines()) > 1:
            raise self.fault(f"has {shown(name)} where {what} should be; write it in one line")
        return name

    def until(self, sign: str, what: str) -> list[str]:
        """Take all tokens before a sign, and the sign."""
        start = self.at
        try:
            end = self.all.index(sign, start)
        except ValueError:
            raise self.fault(f"{what} is not closed; add {sign} behind it", start - 1) from None
        self.at = end + 1
        return self.all[start:end]

    def line(self, at: int) -> int:
        """The line of a token."""
        return bisect_right(self._breaks, self.start[at]) + 1

    def fault(self, message: str, at: int | None = None) -> FormatError:
        """An error that names the file and the line of a token, or of the one that was taken last."""
        return FormatError(message, file=self.file, line=self.line(max(self.at - 1, 0) if at is None else at))

    def unexpected(self, should: str, at: int | None = None) -> FormatError:
        """An error about a token, by default the next one, which is not what should be there."""
        at = self.at if at is None else at
        return self.fault(f"has {named(self.all[at])} where {should}", at)


def named(token: str) -> str:
    """A token in a sentence."""
    return "the end of the file" if token == END else shown(unquoted(token), 40)


def unquoted(token: str) -> str:
    r"""What a token says.

    >>> print(unquoted('"the \\"first\\" one"'), unquoted("second"))
    the "first" one second
    """
    return _ESCAPED.sub(r"\1", token[1:-1]) if token[:1] == '"' and len(token) > 1 else token
