"""Claims: what is said to be a reason, read for `verify`, exact where a condition ends between two cuts.

A claim says something of each of its features. The classifier only tells states apart, so `> 35` on a feature that is
cut at 30 and 40 touches the state `(30, 40]` and leaves a part of it, `(35, 40]`: any number of the state decides like
the numbers of that part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quia import conditions
from quia.arguments import several
from quia.errors import InstanceError, MissingValue, Refuted, did_you_mean, shown
from quia.literal import Literal
from quia.question import Question
from quia.ranges import Ranges, covers, intersection, union
from quia.refine import coarse_state, fine_states
from quia.region import Region
from quia.variables import UNKNOWN, Variable, tested_values


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said of one variable: a literal of it, or of the same one with more cuts where it ends between two.

    `states` are the variable's states in which it holds for some value.

    >>> age = Variable.numeric("age", [30, 40])
    >>> old = Statement.parse(age, "> 35")
    >>> str(old.literal), old.states, old.part(1), old.is_whole, str(old.negated.literal), old.negated.states
    ('age > 35', ((1, 2),), '(35, 40]', False, 'age <= 35', ((0, 1),))
    """

    variable: Variable
    literal: Literal
    states: Ranges

    @staticmethod
    def of(variable: Variable, literal: Literal) -> Statement:
        """What a literal says, of the variable or of the same one with more cuts."""
        finer = literal.variable
        touched = union((coarse_state(variable, finer, a), coarse_state(variable, finer, b)) for a, b in literal.ranges)
        return Statement(variable, literal, touched)

    @staticmethod
    def parse(variable: Variable, condition: Any) -> Statement:
        """What a condition says, as `Region.parse` takes it."""
        touched = Region.parse([variable], {variable.name: condition}).states(0)
        if not variable.is_numeric:
            return Statement(variable, Literal(variable, touched), touched)
        ends = conditions.alternatives(condition if _is_list(condition) else [condition])
        finer = conditions.refined(variable, ends)
        return Statement(variable, Literal(finer, conditions.states_touched(finer, ends)), touched)

    @property
    def negated(self) -> Statement | None:
        """What is said where this does not hold; None if it always holds."""
        rest = self.literal.negated
        return None if rest is None else Statement.of(self.variable, rest)

    @property
    def is_whole(self) -> bool:
        """Whether it holds in the whole of each state in which it holds for some value."""
        rest = self.negated
        return rest is None or not intersection(self.states, rest.states)

    def whole(self, states: Ranges = ()) -> Statement:
        """What says this, or that the variable is in one of some more states, of whole states alone."""
        every = union([*self.states, *states])
        return Statement(self.variable, Literal(self.variable, every), every)

    def part(self, state: int) -> str:
        """The first interval of a state, or its name, for which it holds."""
        inside = intersection(self.literal.ranges, (fine_states(self.variable, self.literal.variable, state),))
        return Literal(self.literal.variable, inside[:1]).text

    def is_just(self, state: int) -> bool:
        """Whether it says that the variable is in this state, and nothing more."""
        return self.states == ((state, state),) and self.is_whole


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of each variable by its index, and how it was given.

    `unreadable` are values that are in none of their variable's states. A claim `by_name` only names features, and
    means the instance's own states.
    """

    statements: Mapping[int, Statement]
    given: Mapping[int, Any]
    unreadable: Collection[int] = ()
    by_name: bool = False
    is_general: bool = False

    @staticmethod
    def of(question: Question, reason: Any) -> Claim:
        """The claim that a Reason, names of features or a mapping from features to conditions or values makes."""
        variables = question.variables
        index = {variable.name: i for i, variable in enumerate(variables)}
        if not hasattr(reason, "literals") and not isinstance(reason, Mapping):
            names = several(reason, "the reason", "features, or a Reason")
            named = [_index(index, name) for name in names]
            return Claim({i: _own(variables[i], question.states[i]) for i in named}, {}, by_name=True)
        pairs = [(x.feature, x) for x in reason.literals] if hasattr(reason, "literals") else reason.items()
        given: dict[int, Any] = {}
        for name, said in pairs:
            if _index(index, name) in given:
                raise InstanceError(f"the reason says two things of {shown(name)}; say one")
            given[index[name]] = said
        read = {i: _statement(variables[i], said) for i, said in given.items()}
        statements = {i: statement for i, statement in read.items() if statement is not None}
        return Claim(statements, given, given.keys() - statements.keys(), False, getattr(reason, "is_general", False))

    def check_met(self, question: Question, instance: Any, tested: Collection[int]) -> None:
        """Raise Refuted if it is not true of the instance."""
        for v, said in self.given.items():
            variable, state = question.variables[v], question.states[v]
            text = said.text if isinstance(said, Literal) else said
            says = f"the reason says {variable.name} is {shown(text)}, but the instance's"
            if v in self.unreadable or not covers(self.statements[v].states, state):
                own = variable.text(state) if state >= 0 else "not known" if v in tested else "not tested"
                raise Refuted(f"{says} state is {own!r}", witness={variable.name: own})
            # Of a state that it does not hold in the whole of, it must hold for the very value.
            if not self.statements[v].is_whole:
                (value,) = tested_values(question.variables, [v], instance)
                if not self.statements[v].literal.holds(value):
                    raise Refuted(f"{says} value is {shown(value)}", witness={variable.name: str(value)})

    def is_of_states(self, states: Sequence[int]) -> bool:
        """Whether it says of its variables that they are in these states, and nothing else."""
        said = self.statements.items()
        return self.by_name or all(statement.is_just(states[v]) for v, statement in said)


def _index(index: Mapping[str, int], name: Any) -> int:
    if not isinstance(name, str) or name not in index:
        raise InstanceError(f"{shown(name)} is no feature{did_you_mean(name, index)}")
    return index[name]


def _own(variable: Variable, state: int) -> Statement:
    """That a variable is in this state; anything, where it is not known."""
    ranges = ((0, variable.size - 1),) if state == UNKNOWN else ((state, state),)
    return Statement(variable, Literal(variable, ranges), ranges)


def _statement(variable: Variable, said: Any) -> Statement | None:
    """What a literal, a condition or a value says of a variable; None if it is a value that is in no state."""
    if isinstance(said, Literal):
        # A literal of a variable with other cuts, or other names, is read as it is written.
        return Statement.of(variable, said) if said.variable == variable else _statement(variable, said.text)
    if _is_list(said) or (isinstance(said, str) and _is_condition(variable, said)):
        return Statement.parse(variable, said)
    try:
        return _own(variable, variable.encode(said))
    except InstanceError:
        return None


def _is_condition(variable: Variable, text: str) -> bool:
    """Whether a string is a condition, and not the name or value of a state."""
    if not variable.is_numeric:
        return conditions.is_about_names(variable, text)
    try:
        variable.encode(text)
    except MissingValue:
        return False
    except InstanceError:
        return True
    return False


def _is_list(said: Any) -> bool:
    return isinstance(said, (list, tuple, set, frozenset))
