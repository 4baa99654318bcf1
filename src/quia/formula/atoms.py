"""What a formula says of one feature: `sex=F`, `age < 25`, `18 <= age < 65`, `age in (20, 30]`, `X not in {a, b}`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from quia import conditions
from quia.conditions import Condition
from quia.cuts import Interval
from quia.errors import GraphError, did_you_mean, listed, shown
from quia.formula.tokens import NUMBER, QUOTED, WORD, Scanner, Token, phrases
from quia.formula.writing import quoted
from quia.variables import MISSING, Variable

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_ORDERED = ("<", "<=", ">", ">=")


class Said(NamedTuple):
    """What is said of one feature: that it is in one of these states, or that one of these conditions holds."""

    name: str
    states: tuple[int, ...] = ()  # of a nominal variable
    conditions: tuple[Condition, ...] = ()  # of a numeric one


class Atom(NamedTuple):
    """A smallest part of a formula; `is_union` where an 'or' is part of it: `age <= 3 or missing`."""

    said: Said
    negated: bool = False
    is_union: bool = False


class AtomReader:
    """Reads the atoms of a text over variables by name."""

    def __init__(self, scanner: Scanner, variables: Mapping[str, Variable]) -> None:
        self.scanner, self.variables = scanner, variables
        self._phrases = phrases(variables)
        self._state_phrases: dict[str, dict[str, list[int]]] = {}

    def atom(self) -> Atom:
        """The atom that begins at the next token."""
        scanner = self.scanner
        token = scanner.phrase(self._phrases, self.variables)
        if token.is_sign:
            self._fail_at_sign(token)
        if token.kind == NUMBER and token.text not in self.variables:
            return self._number_first()
        variable = self._variable()
        negated = False
        if scanner.takes("in", "not in", "!"):
            negated = not scanner.takes("in")
            if scanner.takes("!"):
                scanner.next()
            if not scanner.takes("in", "not in"):
                scanner.fail(f"'not' after {variable.name!r} should be followed by 'in': not in {{…}}")
        elif scanner.takes("!="):
            negated = True
        elif scanner.token[:2] == ("is", WORD):
            return self._is(variable)
        elif not scanner.takes("=", *_ORDERED):
            return Atom(self._alone(variable, token))
        said = self._compared(variable)
        return Atom(said, True) if negated else self._union(variable, said)

    def _fail_at_sign(self, token: Token) -> None:
        there = f"there is {shown(token.text)}" if token.text else "the text ends"
        comparing = token.text in (*_MIRRORED, "in")
        cure = "; write the variable in each comparison, or 18 <= age < 65" if comparing else ""
        self.scanner.fail(f"{there} where a variable, '!', '(', true or false should be{cure}")

    def _variable(self) -> Variable:
        token = self.scanner.phrase(self._phrases, self.variables)
        if token.is_sign:
            self.scanner.fail(f"a variable should be here; variables are {listed(self.variables)}")
        found = self.variables.get(self.scanner.next().text)
        if found is None:
            self.scanner.fail(
                f"there is no variable {shown(token.text)}; variables are {listed(self.variables)}"
                f"{did_you_mean(token.text, self.variables)}",
                at=token,
            )
        return found

    def _alone(self, variable: Variable, at: Token) -> Said:
        """What a variable without a comparison says: that it is in the second of its two states."""
        if variable.is_numeric:
            if len(variable.cuts) == 1 and not variable.missing:
                return Said(variable.name, conditions=(Interval(variable.cuts[0], None),))
            self.scanner.fail(
                f"{variable.name!r} stands alone; compare it with a number, as in {quoted(variable.name)} >= 25", at=at
            )
        if variable.size != 2:
            self.scanner.fail(
                f"{variable.name!r} stands alone, which only a variable with two states may; write"
                f" {quoted(variable.name)}={quoted(variable.text(0))}",
                at=at,
            )
        return Said(variable.name, (1,))

    def _number_first(self) -> Atom:
        """`25 > age` and `18 <= age < 65`."""
        scanner = self.scanner
        number = scanner.token
        if scanner.peek().kind != "sign" or scanner.peek().text not in _MIRRORED:
            scanner.fail(
                f"the number {number.text} stands alone; compare it with a variable, as in age >= {number.text}"
            )
        scanner.next()
        sign = scanner.next()
        variable = self._variable()
        if not variable.is_numeric and sign.text in ("=", "!="):
            return Atom(Said(variable.name, (self._state_called(variable, number),)), sign.text == "!=")
        self._check_order(variable, sign)
        if not (sign.text in _ORDERED and scanner.takes(*_ORDERED)):
            compared = self._comparison(_MIRRORED[sign.text].replace("!=", "="), number)
            return Atom(Said(variable.name, conditions=(compared,)), sign.text == "!=")
        second, other = scanner.next(), self._number(variable)
        if sign.text[0] != second.text[0]:
            scanner.fail("the two signs of a chain point the same way, as in 18 <= age < 65", at=second)
        ends = [(number, "[" if "=" in sign.text else "("), (other, "]" if "=" in second.text else ")")]
        if sign.text[0] == ">":
            ends = [(other, "[" if "=" in second.text else "("), (number, "]" if "=" in sign.text else ")")]
        return Atom(Said(variable.name, conditions=(self._interval(*ends),)))

    def _is(self, variable: Variable) -> Atom:
        """`age is missing`, `age is not missing`; of states as `=` and `!=`."""
        self.scanner.next()
        negated = self.scanner.takes("!")
        if negated:
            self.scanner.next()
        return Atom(self._equal(variable), negated)

    def _compared(self, variable: Variable) -> Said:
        """What stands from a comparison sign or 'in' on."""
        sign = self.scanner.next()
        if sign.text in ("in", "not in"):
            return self._set(variable)
        if sign.text in ("=", "!="):
            return self._equal(variable)
        self._check_order(variable, sign)
        return Said(variable.name, conditions=(self._comparison(sign.text, self._number(variable)),))

    def _union(self, variable: Variable, said: Said) -> Atom:
        """The atom with what follows it about the same variable: `age <= 3 or > 5 or missing`."""
        scanner, found = self.scanner, list(said.conditions)
        while variable.is_numeric and scanner.takes("|"):
            ahead = scanner.peek()
            is_missing = ahead[:2] == (MISSING, WORD) and MISSING not in self.variables
            if not is_missing and not (ahead.is_sign and ahead.text in ("=", "in", *_ORDERED)):
                break
            scanner.next()
            found += (self._equal(variable) if is_missing else self._compared(variable)).conditions
        is_union = len(found) > len(said.conditions)
        return Atom(Said(variable.name, conditions=tuple(found)) if is_union else said, is_union=is_union)

    def _equal(self, variable: Variable) -> Said:
        """A state, or a number, 'missing' or a condition in quotes of a numeric variable."""
        if not variable.is_numeric:
            return Said(variable.name, (self._state(variable),))
        token = self.scanner.token
        if token[:2] == (MISSING, WORD):
            self._check_missing(variable)
            self.scanner.next()
            return Said(variable.name, conditions=(MISSING,))
        if token.kind == QUOTED and _as_number(token.text) is None:
            try:
                said = Said(variable.name, conditions=tuple(conditions.alternatives([token.text])))
            except GraphError as fault:
                self.scanner.fail(str(fault))
            if MISSING in said.conditions:
                self._check_missing(variable)
            self.scanner.next()
            return said
        return Said(variable.name, conditions=(self._comparison("=", self._number(variable)),))

    def _set(self, variable: Variable) -> Said:
        """What follows 'in': states in braces, or an interval of numbers."""
        scanner = self.scanner
        if variable.is_numeric and scanner.takes("(", "["):
            opening = scanner.next().text
            low = self._number(variable)
            if not scanner.takes(","):
                scanner.fail(f"a ',' and the upper end of the interval should be here: {opening}{low.text}, …]")
            scanner.next()
            high = self._number(variable)
            if not scanner.takes(")", "]"):
                scanner.fail("the bracket that closes the interval, ')' or ']', should be here")
            return Said(variable.name, conditions=(self._interval((low, opening), (high, scanner.next().text)),))
        if not scanner.takes("{"):
            intervals = " or by an interval: age in (20, 30]" if variable.is_numeric else ""
            scanner.fail(f"'in' is followed by states in braces: X in {{a, b}}{intervals}")
        scanner.next()
        parts: list[Said] = []
        while parts or not scanner.takes("}"):
            parts.append(self._equal(variable))
            if not scanner.takes(","):
                break
            scanner.next()
        if not scanner.takes("}"):
            scanner.fail("a ',' or the closing brace should be here")
        scanner.next()
        states = dict.fromkeys(state for part in parts for state in part.states)
        return Said(variable.name, tuple(states), tuple(each for part in parts for each in part.conditions))

    def _state(self, variable: Variable) -> int:
        if variable.name not in self._state_phrases:
            self._state_phrases[variable.name] = phrases(variable.labels or ())
        token = self.scanner.phrase(self._state_phrases[variable.name], variable._index)
        is_truth = self.scanner.raw(token) in ("true", "false")
        if token.is_sign and not is_truth:
            self.scanner.fail(
                f"a state of {variable.name!r} should be here; its states are {listed(variable.labels or ())}"
            )
        return self._state_called(variable, self.scanner.next())

    def _state_called(self, variable: Variable, token: Token) -> int:
        """The state with this name; failing that, the one that a table with this value would mean."""
        labels = variable.labels or ()
        state = variable.state_called(token.text)
        if state is None:
            state = _meant(variable, token)
        if state is None:
            self.scanner.fail(
                f"{variable.name!r} has no state {shown(token.text)}; its states are {listed(labels)}"
                f"{did_you_mean(token.text, labels)}",
                at=token,
            )
        return state

    def _check_order(self, variable: Variable, sign: Token) -> None:
        if not variable.is_numeric:
            name, labels = quoted(variable.name), variable.labels or ()
            self.scanner.fail(
                f"{variable.name!r} is nominal, so that {shown(sign.text)} says nothing of it; name the states that are"
                f" meant, as in {name} in {{{', '.join(map(quoted, labels[:2]))}}}",
                at=sign,
            )

    def _check_missing(self, variable: Variable) -> None:
        if not variable.missing:
            self.scanner.fail(
                f"{variable.name!r} has no state for missing values, so it is never missing; leave that out"
            )

    def _number(self, variable: Variable) -> Token:
        token = self.scanner.token
        if token.is_sign or _as_number(token.text) is None:
            there = "there is nothing" if not token.text else f"there is {shown(token.text)}"
            features = "; a formula does not compare two variables" if token.text in self.variables else ""
            self.scanner.fail(f"{there} where a number that {variable.name!r} is compared with should be{features}")
        return self.scanner.next()

    def _comparison(self, sign: str, number: Token) -> Condition:
        return conditions.parse(f"{sign} {number.text.strip()}")

    def _interval(self, low: tuple[Token, str], high: tuple[Token, str]) -> Condition:
        try:
            return conditions.parse(f"{low[1]}{low[0].text.strip()}, {high[0].text.strip()}{high[1]}")
        except GraphError as fault:
            self.scanner.fail(str(fault), at=min(low[0], high[0], key=lambda token: token.column))


def _as_number(text: str) -> float | None:
    """What a text says as a number, None if it says none."""
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _meant(variable: Variable, token: Token) -> int | None:
    """The one state that a value means to a nominal variable without a state of that name; None for none or several."""
    if token[:2] == (MISSING, WORD) and variable.no_value is not None:
        return variable.state_called(variable.no_value)
    readings: list[object] = [token.text, _as_number(token.text)]
    if token.text.lower() in ("true", "false"):
        readings.append(token.text.lower() == "true")
    states = {variable._spelled(value) for value in readings if value is not None} - {None}
    return states.pop() if len(states) == 1 else None
