"""Formulas read from text: `E=yes & (F=no | G=yes)`, `pregnant=yes -> sex=female`, `18 <= age < 65`, `X in {a, b}`.

From the one that binds most: `!`, `&`, `|`, `->` (the right one first: a -> b -> c is a -> (b -> c)) and `<->`. These
can be written `and or not implies iff`, `∧ ∨ ¬ → ↔`, `=>` and `<=>` too; `true false ⊤ ⊥` are constants.

A variable alone is the second of its two states. A name or a state of words, which may have hyphens and dots inside, is
written as it is; any other in quotes: `"a/b"="<= 50K"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quia import dag
from quia.dag import AND, OR
from quia.errors import FormatError, shown
from quia.formula.atoms import AtomReader
from quia.formula.core import Formula
from quia.formula.drafts import Draft, Gate, built, by_name, carried
from quia.formula.tokens import WORD, Scanner, Token
from quia.variables import Variable

_CONSTANTS = {"true": dag.TRUE, "false": dag.FALSE}
_QUOTED = 60  # characters of a text that an error quotes


def parse(text: str, variables: Iterable[Variable] | Mapping[str, Iterable[str]]) -> Formula:
    """The formula that a text says, over these variables; a fault is a FormatError that points at the column.

    A numeric variable gets a cut wherever the text compares it with a number at which it has none.

    >>> x, e = Variable.nominal("X", ["a", "b", "c"]), Variable.nominal("e", ["no", "yes"])
    >>> print(parse("!e | X in {a, c} & e", [x, e]))
    e=no | (X in {a, c} & e=yes)
    >>> rule = parse("18 <= age < 65 -> e", [Variable.numeric("age", [30]), e])
    >>> print(rule, "|", rule.satisfied_by({"age": 17, "e": "no"}), rule.satisfied_by({"age": 18, "e": "no"}))
    !(age in [18, 65)) | e=yes | True False
    """
    known = _known(variables)
    return built([_draft(text, known)], known)[0]


def parse_all(
    given: str | Formula | Iterable[str | Formula], variables: Iterable[Variable] | Mapping[str, Iterable[str]]
) -> tuple[Formula, ...]:
    """The formulas of texts, or of formulas, over the same variables, which have the cuts that any of them needs.

    What a formula says of a variable is said of the one of that name among `variables`, whose cuts may be others.

    >>> age = Variable.numeric("age", [40])
    >>> young, old = parse_all(["age < 25", parse("age > 60", [age])], [Variable.numeric("age")])
    >>> print(young, "|", old, "|", [cut.threshold for cut in young.variables[0].cuts])
    age < 25 | age > 60 | [25.0, 60.0]
    """
    known = _known(variables)
    if isinstance(given, (str, Formula)):
        return built([_draft(given, known)], known)
    if isinstance(given, (Mapping, bytes)) or not isinstance(given, Iterable):
        raise FormatError(f"the formulas are {shown(given)}; give a text, a Formula or a list of these")
    every = list(given)
    drafts = []
    for each in every:
        try:
            drafts.append(_draft(each, known))
        except FormatError as fault:
            if len(every) == 1 or not isinstance(each, (str, Formula)):
                raise
            quote = each if isinstance(each, str) else repr(each)
            raise FormatError(f"in {shown(quote, _QUOTED)}, {fault}") from None
    return built(drafts, known)


def _known(variables: Iterable[Variable] | Mapping[str, Iterable[str]]) -> dict[str, Variable]:
    if isinstance(variables, Mapping):
        variables = [Variable.nominal(name, states) for name, states in variables.items()]
    return by_name(variables)


def _draft(given: str | Formula, variables: Mapping[str, Variable]) -> Draft:
    if isinstance(given, Formula):
        return carried(given, variables)
    if not isinstance(given, str):
        raise FormatError(f"a formula is {shown(given)}; give a text, as in 'age < 25', or a Formula")
    return _Parser(given, variables).draft


class _Frame:
    """What was read since a bracket opened, as numbers of steps.

    From the sign that binds most: waiting negations, conjuncts, finished disjuncts, premises, what is before `<->`.
    """

    def __init__(self, draft: Draft, column: int) -> None:
        self.draft, self.column = draft, column
        self.negations = 0
        self.conjuncts: list[int] = []
        self.disjuncts: list[int] = []
        self.premises: list[int] = []
        self.equal: int | None = None

    def add(self, part: int) -> None:
        for _ in range(self.negations):
            part = self.draft.negation(part)
        self.negations = 0
        self.conjuncts.append(part)

    def end_disjunct(self) -> None:
        self.disjuncts.append(self.draft.gate(AND, self.conjuncts))
        self.conjuncts = []

    def end_premise(self) -> None:
        self.premises.append(self._disjunction())

    def end_equal(self) -> None:
        self.equal = self._implications()

    def whole(self) -> int:
        found = self._implications()
        return found if self.equal is None else self.draft.equivalence(self.equal, found)

    def _disjunction(self) -> int:
        self.end_disjunct()
        found, self.disjuncts = self.draft.gate(OR, self.disjuncts), []
        return found

    def _implications(self) -> int:
        found = self._disjunction()
        for premise in reversed(self.premises):
            found = self.draft.implication(premise, found)
        self.premises = []
        return found


class _Parser:
    """Reads a text into a draft, with a frame for each open bracket instead of recursion."""

    def __init__(self, text: str, variables: Mapping[str, Variable]) -> None:
        self.scanner, self.draft = Scanner(text), Draft()
        self.atoms = AtomReader(self.scanner, variables)
        self.frames = [_Frame(self.draft, 0)]
        while True:
            self._operand()
            while self.scanner.takes(")"):
                if len(self.frames) == 1:
                    self.scanner.fail("this bracket closes none; take it out, or open one before")
                self.scanner.next()
                inner = self.frames.pop().whole()
                self.frames[-1].add(inner)
            if self._ends():
                break
        if len(self.frames) > 1:
            self.scanner.fail("this bracket is not closed; close it with ')'", column=self.frames[-1].column)
        self.frames[0].whole()

    def _ends(self) -> bool:
        """Read the sign after an operand; whether there is none, as the text ends."""
        scanner, frame = self.scanner, self.frames[-1]
        token = scanner.token
        if token.is_sign and token.text == "":
            return True
        if scanner.takes("|"):
            frame.end_disjunct()
        elif scanner.takes("->"):
            frame.end_premise()
        elif scanner.takes("<->"):
            if frame.equal is not None:
                scanner.fail("a <-> b <-> c can be read in several ways; put two of the parts in brackets")
            frame.end_equal()
        elif not scanner.takes("&"):
            cure = "; a name or a state of several words is written in quotes" if token.kind == WORD else ""
            scanner.fail(f"{shown(token.text)} stands where '&', '|', '->', '<->' or the end should be{cure}")
        scanner.next()
        return False

    def _operand(self) -> None:
        """Read brackets and negations that open, then one atom."""
        scanner = self.scanner
        while True:
            frame, token = self.frames[-1], scanner.token
            if scanner.takes("!"):
                frame.negations += 1
                scanner.next()
            elif scanner.takes("("):
                self.frames.append(_Frame(self.draft, token.column))
                scanner.next()
            elif scanner.takes(*_CONSTANTS):
                frame.add(self.draft.add(Gate(_CONSTANTS[scanner.next().text])))
                return
            else:
                self._atom(frame, token)
                return

    def _atom(self, frame: _Frame, token: Token) -> None:
        atom = self.atoms.atom()
        if atom.is_union and (frame.negations or frame.conjuncts or self.scanner.takes("&")):
            self.scanner.fail(
                "this comparison goes on after '|' ('or'), which binds less than the '&' or '!' beside it; put it in"
                " brackets",
                at=token,
            )
        part = self.draft.add(atom.said)
        frame.add(self.draft.negation(part) if atom.negated else part)
