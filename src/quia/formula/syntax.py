"""Formulas as text: `E=yes & (F=no | G=yes)`, `X in {a, b}`, `X != a`, and `e & !f` for variables with two states.

A name or a state that is not a plain word is quoted: `"work experience"="more than 5"`. A variable alone is its second
state. `∧ ∨ ¬ ⊤ ⊥` and `and or not true false` are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from quia.dag import AND, LITERAL, NOT, OR, written
from quia.errors import FormatError, did_you_mean, listed, shown
from quia.formula.core import FALSE, TRUE, Formula, conjunction, disjunction, member, negation, state_number
from quia.variables import Variable

_TOKEN = re.compile(
    r"""\s*(?:(?P<word>[\w.]+)|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<sign>!=|&&|\|\||[()&|!~¬∧∨⊤⊥={},]))""", re.DOTALL
)
_PLAIN = re.compile(r"[\w.]+")
_SIGNS = {"and": "&", "&&": "&", "∧": "&", "or": "|", "||": "|", "∨": "|", "not": "!", "~": "!", "¬": "!"}
_CONSTANTS = {"true": TRUE, "false": FALSE, "⊤": TRUE, "⊥": FALSE}
_RESERVED = {"and", "or", "not", "true", "false", "in"}
_MOST_WRITTEN = 1_000_000  # characters; a formula with shared parts can be astronomic when written out


class _Token(NamedTuple):
    text: str  # what it means: a sign, a word, or what is inside the quotes
    sign: bool
    column: int


def parse(text: str, variables: Iterable[Variable] | Mapping[str, Iterable[str]]) -> Formula:
    """The formula that a text says, over these variables; a fault is a FormatError that points at the column.

    >>> x, e = Variable.nominal("X", ["a", "b", "c"]), Variable.nominal("e", ["no", "yes"])
    >>> print(parse("!e | X in {a, c} & e", [x, e]))
    e=no | (X in {a, c} & e=yes)
    """
    if isinstance(variables, Mapping):
        variables = [Variable.nominal(name, states) for name, states in variables.items()]
    return _Parser(text, {variable.name: variable for variable in variables}).formula()


class _Frame:
    """What was read since a bracket opened: finished disjuncts, the conjuncts of the next one, waiting negations."""

    def __init__(self, column: int) -> None:
        self.column = column
        self.disjuncts: list[Formula] = []
        self.conjuncts: list[Formula] = []
        self.negations = 0

    def add(self, part: Formula) -> None:
        for _ in range(self.negations):
            part = negation(part)
        self.negations = 0
        self.conjuncts.append(part)

    def end_disjunct(self) -> None:
        self.disjuncts.append(conjunction(self.conjuncts))
        self.conjuncts = []

    def formula(self) -> Formula:
        self.end_disjunct()
        return disjunction(self.disjuncts)


class _Parser:
    def __init__(self, text: str, variables: Mapping[str, Variable]) -> None:
        self.text, self.variables = text, variables
        self.tokens = self._tokens()
        self.token = next(self.tokens)

    def formula(self) -> Formula:
        frames = [_Frame(0)]
        while True:
            self._operand(frames)
            while self._takes(")"):
                if len(frames) == 1:
                    self._fail("this bracket closes none")
                self._next()
                inner = frames.pop().formula()
                frames[-1].add(inner)
            if self._takes("&"):
                self._next()
            elif self._takes("|"):
                self._next()
                frames[-1].end_disjunct()
            elif self.token.text == "" and self.token.sign:
                if len(frames) > 1:
                    self._fail("this bracket is not closed", column=frames[-1].column)
                return frames[0].formula()
            else:
                self._fail(f"{shown(self.token.text)} stands where '&', '|' or the end should be")

    def _operand(self, frames: list[_Frame]) -> None:
        """Read brackets and negations that open, then one atom."""
        while True:
            if self._takes("!"):
                frames[-1].negations += 1
                self._next()
            elif self._takes("("):
                frames.append(_Frame(self.token.column))
                self._next()
            else:
                frames[-1].add(self._atom())
                return

    def _atom(self) -> Formula:
        if self.token.sign:
            if self.token.text in _CONSTANTS:
                return _CONSTANTS[self._next().text]
            what = f"there is {shown(self.token.text)}" if self.token.text else "the text ends"
            self._fail(f"{what} where a variable, '!', '(', true or false should be")
        named = self._next()
        variable = self.variables.get(named.text)
        if variable is None:
            known = list(self.variables)
            self._fail(
                f"there is no variable {shown(named.text)}; variables are {listed(known)}"
                f"{did_you_mean(named.text, known)}",
                column=named.column,
            )
        if self._takes("="):
            self._next()
            return state_number(variable, self._state(variable))
        if self._takes("!="):
            self._next()
            return negation(state_number(variable, self._state(variable)))
        if self._takes("in"):
            self._next()
            return member(variable, self._states(variable))
        if variable.size != 2:
            self._fail(
                f"{variable.name!r} stands alone, which only a variable with two states may; write"
                f" {_quoted(variable.name)}={_quoted(variable.text(0))}",
                column=named.column,
            )
        return state_number(variable, 1)

    def _state(self, variable: Variable) -> int:
        if self.token.sign:
            self._fail(f"a state of {variable.name!r} should be here; its states are {_states_of(variable)}")
        token = self._next()
        texts = [variable.text(index) for index in range(variable.size)]
        if token.text not in texts:
            self._fail(
                f"{variable.name!r} has no state {shown(token.text)}; its states are {_states_of(variable)}"
                f"{did_you_mean(token.text, texts)}",
                column=token.column,
            )
        return texts.index(token.text)

    def _states(self, variable: Variable) -> Iterator[int]:
        if not self._takes("{"):
            self._fail("'in' is followed by states in braces: X in {a, b}")
        self._next()
        if not self._takes("}"):
            yield self._state(variable)
            while self._takes(","):
                self._next()
                yield self._state(variable)
        if not self._takes("}"):
            self._fail("a ',' or the closing brace should be here")
        self._next()

    def _takes(self, sign: str) -> bool:
        return self.token.sign and self.token.text == sign

    def _next(self) -> _Token:
        before, self.token = self.token, next(self.tokens)
        return before

    def _tokens(self) -> Iterator[_Token]:
        position, end = 0, len(self.text.rstrip())
        while position < end:
            found = _TOKEN.match(self.text, position)
            if found is None:
                column = position + len(self.text[position:]) - len(self.text[position:].lstrip()) + 1
                self._fail(f"{shown(self.text[column - 1 :][:10])} is nothing that a formula has", column=column)
            position = found.end()
            kind = str(found.lastgroup)
            column = found.start(kind) + 1
            word = found[kind]
            if kind == "quoted":
                yield _Token(re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL), False, column)
            else:
                yield _Token(_SIGNS.get(word, word), kind == "sign" or word in _RESERVED, column)
        while True:
            yield _Token("", True, end + 1)

    def _fail(self, fault: str, *, column: int | None = None) -> NoReturn:
        raise FormatError(f"column {self.token.column if column is None else column}: {fault}")


def text(formula: Formula, *, most: int = _MOST_WRITTEN) -> str:
    """The formula as text that `parse` reads back as the same formula.

    One that would take more than `most` characters is only described.
    """
    pieces: list[str] = []
    length = 0
    for piece in written(formula, _words):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            return f"{''.join(pieces)[: min(most, 60)]}… ({formula.size} nodes)"
    return "".join(pieces)


def _words(node: Formula) -> list[Formula | str]:
    """What a node is written as: text and parts."""
    if node in (TRUE, FALSE):
        return ["true" if node is TRUE else "false"]
    if node.kind == LITERAL and node.variable is not None:
        return [f"{_quoted(node.variable.name)}={_quoted(node.variable.text(node.index))}"]
    if node.kind == NOT:
        return ["!", *_bracketed(node.children[0])]
    one_set = _as_set(node)
    if one_set is not None:
        return [one_set]
    words: list[Formula | str] = []
    for child in node.children:
        words.append(" & " if node.kind == AND else " | ")
        words.extend(_bracketed(child))
    return words[1:]


def _bracketed(part: Formula) -> list[Formula | str]:
    return ["(", part, ")"] if part.kind in (AND, OR) and _as_set(part) is None else [part]


def _as_set(node: Formula) -> str | None:
    """A disjunction of states of one variable, in their order, as a set literal."""
    variable = node.children[0].variable if node.kind == OR else None
    if variable is None or any(child.variable != variable for child in node.children):
        return None
    indices = [child.index for child in node.children]
    if indices != sorted(set(indices)):
        return None
    return f"{_quoted(variable.name)} in {{{', '.join(_quoted(variable.text(index)) for index in indices)}}}"


def _states_of(variable: Variable) -> str:
    return listed(variable.text(index) for index in range(variable.size))


def _quoted(word: Any) -> str:
    if _PLAIN.fullmatch(word) and word not in _RESERVED:
        return str(word)
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
