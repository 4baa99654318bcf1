"""Universal quantification of states (paper §3), by the linear-time rules where the formula's form allows them.

Quantification goes over ∧ always, over ∨ only if a rule licenses it for every quantified variable X that several
disjuncts mention:

- Prop. 2/3: at most one disjunct mentions X, the states of X in one disjunction counting as one set;
- Prop. 4: the disjuncts are positive in X, and mention only xᵢ, or only other states than xᵢ;
- Prop. 5: one disjunct is a set of states S of X, and X occurs in the others only in sets S′ ⊇ S.

Where none does, Definition 1 itself is applied for that state, which can double the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, Literal, NamedTuple

from quia.dag import AND, LITERAL, NOT, OR
from quia.errors import TooLarge
from quia.formula.core import FALSE, TRUE, Formula, simplified, state_number, with_last_uses
from quia.formula.forms import negation_normal_form
from quia.formula.sharing import sharing
from quia.formula.terms import positive_term
from quia.variables import Variable

Rule = Literal["Prop. 3", "Prop. 4", "Prop. 5", "Def. 1"]
GROWTH_LIMIT = 1_000_000
"""How many nodes a formula may have before Definition 1 is not applied to it any more."""

_ORDER: tuple[Rule, ...] = ("Prop. 3", "Prop. 4", "Prop. 5", "Def. 1")


class Quantified(NamedTuple):
    """∀γ·Δ, and the rule that licensed it: the last that was needed, of Prop. 3, Prop. 4, Prop. 5 and Def. 1."""

    formula: Formula
    rule: Rule


def forall(states: Any, formula: Formula) -> Formula:
    """∀γ·Δ: the universal quantification of states, at most one of each variable, from a formula.

    The states are a mapping from variable name to value, a positive term, or an iterable of state formulas. An
    instance may name variables that the formula does not mention, which changes nothing; a mapping that leaves one of
    the formula's variables out may not, as a name that is misspelt looks like that.

    >>> from quia.formula import parse
    >>> x = Variable.nominal("X", ["x1", "x2", "x3"])
    >>> print(forall({"X": "x2"}, parse("X != x1", [x])), forall({"X": "x1"}, parse("X != x1", [x])))
    X=x2 false
    """
    return quantify(states, formula).formula


def quantify(states: Any, formula: Formula) -> Quantified:
    """∀γ·Δ together with the rule that licensed it.

    Complexity: where no disjunction shares a quantified variable, a pass for each 256 variables; memory linear.
    """
    given = positive_term(states, formula.variables)
    found = negation_normal_form(formula)
    rule: Rule = "Prop. 3"
    for variable in sorted(sharing(found, OR).variables & given.keys(), key=lambda v: v.name):
        licence = _licence(found, variable, given[variable])
        if licence == "Def. 1":
            found = by_definition(variable, given.pop(variable), found)
            if found.size > GROWTH_LIMIT:
                raise TooLarge(
                    f"quantifying {variable.name!r} by the definition gave more than {GROWTH_LIMIT} nodes; compile the"
                    " formula into a decision graph instead",
                    limit=GROWTH_LIMIT,
                )
        rule = max(rule, licence, key=_ORDER.index)
    return Quantified(_replaced(found, given), rule)


def by_definition(variable: Variable, index: int, formula: Formula) -> Formula:
    """∀xᵢ·Δ = (Δ|xᵢ) ∧ ⋀_{j≠i} (xᵢ ∨ Δ|xⱼ). Paper: Def. 1."""
    own = state_number(variable, index)
    given = [formula.condition([state_number(variable, state)]) for state in range(variable.size)]
    return simplified(AND, [simplified(OR, (own, part)) if j != index else part for j, part in enumerate(given)])


def _states_in(node: Formula, variable: Variable) -> int | None:
    """The states, as bits, of a literal of the variable; None if the node is none."""
    if node.kind == LITERAL and node.variable == variable:
        return 1 << node.index
    if node.kind == NOT and node.children[0].variable == variable:
        return (1 << variable.size) - 1 & ~(1 << node.children[0].index)
    return None


class _Occurrences(NamedTuple):
    """How a variable occurs in a part: all of the states that sets of it mention, and those that every set has."""

    union: int
    common: int


def _licence(formula: Formula, variable: Variable, index: int) -> Rule:
    """The weakest rule that lets ∀xᵢ into every disjunction, or Def. 1 if there is one that none lets it into."""
    own = 1 << index
    as_set: dict[Formula, int] = {}  # disjunctions of literals of the variable and nothing else
    occurs: dict[Formula, _Occurrences] = {}

    def states(node: Formula) -> int | None:
        found = _states_in(node, variable)  # not kept, as there may be many
        return as_set.get(node) if found is None else found

    rule: Rule = "Prop. 3"
    for node, done in with_last_uses(formula):
        if node.children and node.kind != NOT:
            every = [states(child) for child in node.children]
            sets = [each for each in every if each is not None]
            deep = [occurs[child] for child in node.children if child in occurs]
            if node.kind == OR and len(sets) == len(every):
                as_set[node] = _bits_joined(sets)
            else:
                if node.kind == OR:
                    own_set = _bits_joined(sets)
                    licence = _licence_of(own, own_set if sets else None, deep)
                    if licence == "Def. 1":
                        return licence
                    rule = max(rule, licence, key=_ORDER.index)
                    sets = [own_set] if sets else []
                if sets or deep:
                    occurs[node] = _Occurrences(
                        _bits_joined([*sets, *(o.union for o in deep)]), _common([*sets, *(o.common for o in deep)])
                    )
        for part in done:
            as_set.pop(part, None)
            occurs.pop(part, None)
    return rule


def _licence_of(own: int, own_set: int | None, deep: Sequence[_Occurrences]) -> Rule:
    if len(deep) + (own_set is not None) < 2:
        return "Prop. 3"
    together = _bits_joined([o.union for o in deep])
    if own_set is not None and (together | own_set == own or not (together | own_set) & own):
        return "Prop. 4"
    if len(deep) > 1 and not (together == own or not together & own):
        return "Def. 1"
    if own_set is None:
        return "Prop. 4"
    return "Prop. 5" if _common([o.common for o in deep]) & own_set == own_set else "Def. 1"


def _replaced(formula: Formula, given: dict[Variable, int]) -> Formula:
    """∀γ·Δ where a rule licenses every distribution: literals and sets of states are replaced (Props. 1 and 3)."""
    made: dict[Formula, Formula] = {}
    as_set: dict[Formula, tuple[Variable, int]] = {}

    def states(node: Formula) -> tuple[Variable, int] | None:
        variable = _variable(node)
        found = None if variable is None else _states_in(node, variable)  # not kept, as there may be many
        return as_set.get(node) if variable is None or found is None else (variable, found)

    for node, done in with_last_uses(formula):
        if (of := states(node)) is not None:
            made[node] = _quantified_set(node, *of, given)
        elif not node.children:
            made[node] = node
        else:
            parts = [made[child] for child in node.children]
            if node.kind == OR:
                every = [states(child) for child in node.children]
                sets: dict[Variable, int] = {}
                for each in every:
                    if each is not None:
                        sets[each[0]] = sets.get(each[0], 0) | each[1]
                if len(sets) == 1 and None not in every:
                    as_set[node] = next(iter(sets.items()))
                whole = {v: _quantified_set(None, v, bits, given) for v, bits in sets.items() if v in given}
                parts = [
                    whole.get(each[0], part) if each is not None else part
                    for each, part in zip(every, parts, strict=True)
                ]
            made[node] = simplified(node.kind, parts)
        for part in done:
            as_set.pop(part, None)
            made.pop(part, None)
    return made[formula]


def _variable(node: Formula) -> Variable | None:
    """The variable of a literal; None if the node is none."""
    return node.children[0].variable if node.kind == NOT else node.variable


def _quantified_set(node: Formula | None, variable: Variable, states: int, given: dict[Variable, int]) -> Formula:
    """∀xᵢ of 'the variable is in one of these states': ⊤ if it always is, xᵢ if xᵢ is one of them, else ⊥."""
    if variable not in given:
        assert node is not None
        return node
    if states == (1 << variable.size) - 1:
        return TRUE
    return state_number(variable, given[variable]) if states >> given[variable] & 1 else FALSE


def _bits_joined(parts: Sequence[int]) -> int:
    return reduce(or_, parts, 0)


def _common(parts: Sequence[int]) -> int:
    return reduce(and_, parts)
