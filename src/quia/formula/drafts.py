"""Formulas before their variables are known to the last cut: what they say of features, and how that is joined.

A number in a text may need a cut that its variable lacks. So texts are read into drafts first; then each variable gets
the cuts that all drafts together need, and then the formulas are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from quia import dag
from quia.conditions import Condition, refined, states_touched
from quia.dag import AND, NOT, OR
from quia.errors import FormatError, TooLarge, did_you_mean, listed, shown
from quia.formula.atoms import Said
from quia.formula.core import FALSE, TRUE, Formula, children_first, disjunction, joined, negation, state_number
from quia.formula.sets import StateSet, set_of
from quia.ranges import Ranges, members, size, union
from quia.variables import MISSING, Variable

MOST_STATES = 5_000_000
"""How many states all different comparisons together may list before it is given up."""


class Gate(NamedTuple):
    """A constant, or ¬, ∧, ∨ of earlier steps, by their numbers."""

    kind: int
    children: tuple[int, ...] = ()


class Draft:
    """The steps that make a formula: what is said of features, and gates of earlier steps."""

    def __init__(self) -> None:
        self.steps: list[Said | Gate] = []

    def add(self, step: Said | Gate) -> int:
        """The number of a new step."""
        self.steps.append(step)
        return len(self.steps) - 1

    def gate(self, kind: int, parts: Sequence[int]) -> int:
        """The number of ∧ or ∨ of steps; of one step its own."""
        return parts[0] if len(parts) == 1 else self.add(Gate(kind, tuple(parts)))

    def negation(self, part: int) -> int:
        """The number of ¬ of a step."""
        return self.add(Gate(NOT, (part,)))

    def implication(self, premise: int, consequence: int) -> int:
        """The number of → of steps, as `connectives.implication` has it."""
        return self.gate(OR, (self.negation(premise), consequence))

    def equivalence(self, one: int, other: int) -> int:
        """The number of ↔ of steps, as `connectives.equivalence` has it."""
        return self.gate(AND, (self.implication(one, other), self.implication(other, one)))


def by_name(variables: Iterable[Variable]) -> dict[str, Variable]:
    """The variables by name; a line, each of whose numbers is a state, is a numeric variable without cuts."""
    return {
        each.name: Variable.numeric(each.name, missing=each.missing) if each.is_line else each for each in variables
    }


def built(drafts: Sequence[Draft], variables: Mapping[str, Variable]) -> tuple[Formula, ...]:
    """The formulas of drafts, over variables with the cuts that all of them together need. Complexity: linear."""
    said = dict.fromkeys(step for draft in drafts for step in draft.steps if isinstance(step, Said))
    wanted: dict[str, dict[Condition, None]] = {}
    for each in said:
        wanted.setdefault(each.name, {}).update(dict.fromkeys(each.conditions))
    finer = {
        name: refined(variables[name], found) if variables[name].is_numeric else variables[name]
        for name, found in wanted.items()
    }
    states = {each: _states(each, finer[each.name]) for each in said}
    if sum(map(size, states.values())) > MOST_STATES:
        raise TooLarge(
            f"the {len(said)} different comparisons list more than {MOST_STATES} states together; compare with fewer"
            " numbers",
            limit=MOST_STATES,
        )
    literals: dict[str, list[Formula]] = {}  # of each variable that has sets, made once
    made = {}
    for each, ranges in states.items():
        variable = finer[each.name]
        if size(ranges) > 1 and each.name not in literals:
            literals[each.name] = [state_number(variable, state) for state in range(variable.size)]
        known = literals.get(each.name)
        made[each] = disjunction(known[s] if known else state_number(variable, s) for s in members(ranges))
    return tuple(_formula(draft, made) for draft in drafts)


def _states(said: Said, variable: Variable) -> Ranges:
    if variable.is_numeric:
        return states_touched(variable, said.conditions)
    return union((state, state) for state in said.states)


def _formula(draft: Draft, made: Mapping[Said, Formula]) -> Formula:
    formulas: list[Formula] = []
    for step in draft.steps:
        if isinstance(step, Said):
            formulas.append(made[step])
        elif step.kind == NOT:
            formulas.append(negation(formulas[step.children[0]]))
        elif step.children:
            formulas.append(joined(step.kind, (formulas[child] for child in step.children)))
        else:
            formulas.append(TRUE if step.kind == dag.TRUE else FALSE)
    return formulas[-1]


def carried(formula: Formula, variables: Mapping[str, Variable]) -> Draft:
    """The draft of a formula over these variables, which have its variables' names, but maybe other cuts.

    A set of states is one thing said, so that it brings the cuts at its ends and none between them.
    """
    nodes = list(children_first(formula))
    needed = {formula}
    sets: dict[Formula, StateSet] = {}
    for node in reversed(nodes):
        if node in needed:
            one_set = set_of(node)
            if one_set is None:
                needed.update(node.children)
            else:
                sets[node] = one_set
    draft = Draft()
    number: dict[Formula, int] = {}
    for node in nodes:
        if node in sets:
            number[node] = draft.add(_said(sets[node], variables))
        elif node in needed:
            number[node] = draft.add(Gate(node.kind, tuple(number[child] for child in node.children)))
    return draft


def _said(one_set: StateSet, variables: Mapping[str, Variable]) -> Said:
    """What a set of states of a variable says of the one of the same name."""
    own = one_set.variable
    variable = variables.get(own.name)
    if variable is None:
        raise FormatError(
            f"the formula mentions {shown(own.name)}, which is no variable; variables are {listed(variables)}"
            f"{did_you_mean(own.name, variables)}"
        )
    if own.is_numeric != variable.is_numeric:
        kinds = ("numeric", "nominal") if own.is_numeric else ("nominal", "numeric")
        raise FormatError(
            f"the formula has {own.name!r} as a {kinds[0]} variable, but it is {kinds[1]}; make it of the same one"
        )
    if own.is_numeric:
        return Said(own.name, conditions=_intervals(one_set))
    states = []
    for label in (own.text(state) for state in one_set.states):
        state = variable.state_called(label)
        if state is None:
            labels = variable.labels or ()
            raise FormatError(
                f"the formula has the state {shown(label)} of {own.name!r}, whose states are {listed(labels)}"
                f"{did_you_mean(label, labels)}"
            )
        states.append(state)
    return Said(own.name, tuple(states))


def _intervals(one_set: StateSet) -> tuple[Condition, ...]:
    """The exact numbers, and 'missing', that states of a numeric variable are."""
    own, last = one_set.variable, len(one_set.variable.cuts)
    found: list[Condition] = [own.exact_interval(low, min(high, last)) for low, high in one_set.ranges if low <= last]
    return (*found, MISSING) if one_set.ranges[-1][1] > last else tuple(found)
