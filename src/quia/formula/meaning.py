"""What formulas mean: worlds, models, equivalence, and prime implicants and implicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod

from quia._kernel import Family, OverBudget
from quia.dag import AND, LITERAL, NOT
from quia.errors import TooLarge
from quia.formula.core import TRUE, Formula, negation, state_number
from quia.formula.diagram import Diagram, good_order
from quia.formula.nnfs import to_nnf
from quia.formula.validity import without_constants
from quia.variables import Variable

World = dict[str, str]
Literals = frozenset[Formula]

MOST_WORLDS = 2**20
"""How many worlds, or sets of literals, are looked at or listed before it is given up."""


def worlds(variables: Iterable[Variable]) -> Iterator[World]:
    """Every function from the variables to their states.

    >>> [world["E"] for world in worlds([Variable.nominal("E", ["no", "yes"])])]
    ['no', 'yes']
    """
    every = tuple(variables)
    for states in product(*(range(variable.size) for variable in every)):
        yield {variable.name: variable.text(s) for variable, s in zip(every, states, strict=True)}


def models(formula: Formula, variables: Iterable[Variable] | None = None) -> Iterator[World]:
    """The worlds that satisfy a formula, over its own variables or over these."""
    every = formula.variables if variables is None else tuple(variables)
    for states in product(*(range(variable.size) for variable in every)):
        if formula.holds(dict(zip(every, states, strict=True))):
            yield {variable.name: variable.text(s) for variable, s in zip(every, states, strict=True)}


def equivalent(one: Formula, other: Formula) -> bool:
    """Whether two formulas have the same models."""
    diagram = Diagram(good_order((one, other)))
    return diagram.compile(one) == diagram.compile(other)


def prime_implicants(formula: Formula, *, positive: bool = False) -> set[Literals]:
    """The terms, as sets of literals, that imply the formula and contain no other such term (paper §2).

    With `positive`, of the positive terms alone. Of a complete reason both are the sufficient reasons, subsets of the
    instance (Prop. 10). A monotone formula may be large, and is answered by the kernel; any other is by the definition,
    so it has to be small.
    """
    simple = without_constants(formula)
    if simple.is_monotone:
        return _listed(simple, lambda family: family.dual())
    table = _Table(formula)
    return table.minimal(
        lambda literals: table.true_in & table.everywhere(literals) == table.everywhere(literals), positive
    )


def prime_implicates(formula: Formula, *, positive: bool = False) -> set[Literals]:
    """The clauses, as sets of literals, that the formula implies and that contain no other such clause (paper §2).

    With `positive`, of the positive clauses alone: of a complete reason these are the necessary reasons, the subsets of
    the instance that Prop. 10 speaks of. Without it there are more where a variable has three states or more: X=x2
    implies the clauses X≠x1 and X≠x3 too, and none of the three contains another. A monotone formula may be large, and
    is answered by the kernel; any other is by the definition, so it has to be small.
    """
    simple = without_constants(formula)
    if simple.is_monotone:
        found = _listed(simple, lambda family: family)
        return found if positive else _with_weaker_literals(found)
    table = _Table(formula)
    return table.minimal(lambda literals: table.true_in & table.somewhere(literals) == table.true_in, positive)


def _listed(formula: Formula, primes: Callable[[Family], Family]) -> set[Literals]:
    """The members of a family that is made of the prime implicates of a monotone formula, as sets of its states."""
    nnf = to_nnf(formula)
    state = {v: state_number(nnf.variables[v], s) for kind, v, s, _ in nnf.nodes if kind == LITERAL}
    try:
        necessary = nnf.find_necessary()
        family = primes(necessary) if necessary.complete else None
    except OverBudget:
        family = None
    if family is None:
        raise TooLarge(
            "the primes of the formula do not fit into 2 GiB; ask for the shortest, with paper.ssr", limit=2**31
        )
    _check_count(family.count())
    return {frozenset(state[member] for member in members) for members in family.listing()}


def _with_weaker_literals(clauses: set[Literals]) -> set[Literals]:
    """The prime clauses of a monotone formula: in a positive one, each xᵢ may be any x̄ⱼ, j ≠ i, in its stead.

    All states but xᵢ are alike to the formula, so a clause of such literals is implied just if the one with xᵢ is.
    """
    choices = {literal: _weaker(literal) for clause in clauses for literal in clause}
    _check_count(sum(prod(len(choices[literal]) for literal in clause) for clause in clauses))
    return {frozenset(choice) for clause in clauses for choice in product(*(choices[literal] for literal in clause))}


def _weaker(literal: Formula) -> list[Formula]:
    assert literal.variable is not None
    size = literal.variable.size
    others = (negation(state_number(literal.variable, j)) for j in range(size) if j != literal.index)
    return [literal, *others] if size > 2 else [literal]


def _check_count(count: int) -> None:
    if count > MOST_WORLDS:
        raise TooLarge(
            f"the formula has {count} primes, too many for a set; list the first, with explain(…) of a classifier of"
            " it, or take the shortest, with quia.paper",
            limit=MOST_WORLDS,
        )


class _Table:
    """A truth table: sets of worlds are the bits of one number."""

    def __init__(self, formula: Formula) -> None:
        self.variables = formula.variables
        sizes = [variable.size for variable in self.variables]
        self.count = prod(sizes)
        if self.count > MOST_WORLDS or prod(2 * size + 1 for size in sizes) > MOST_WORLDS * 16:
            raise TooLarge(
                f"{len(sizes)} variables have too many worlds and terms for the definition; take the complete reason of"
                " an instance first, with quia.formula.complete_reason, or explain a classifier of the formula",
                limit=MOST_WORLDS,
            )
        self.all = (1 << self.count) - 1
        self.state: dict[tuple[Variable, int], int] = {}
        repeat = 1
        for variable in reversed(self.variables):
            run = (1 << repeat) - 1
            step = repeat * variable.size
            comb = sum(1 << start for start in range(0, self.count, step))
            for index in range(variable.size):
                self.state[variable, index] = comb * run << index * repeat
            repeat = step
        self.true_in = formula.fold(self._leaf, self._joined)

    def _leaf(self, node: Formula) -> int:
        if node.variable is None:
            return self.all if node is TRUE else 0
        return self.state[node.variable, node.index]

    def _joined(self, node: Formula, parts: list[int]) -> int:
        if node.kind == NOT:
            return self.all & ~parts[0]
        found = self.all if node.kind == AND else 0
        for part in parts:
            found = found & part if node.kind == AND else found | part
        return found

    def _worlds(self, literal: Formula) -> int:
        return self._leaf(literal) if literal.kind != NOT else self.all & ~self._leaf(literal.children[0])

    def everywhere(self, literals: Literals) -> int:
        """The worlds that satisfy all of the literals."""
        found = self.all
        for literal in literals:
            found &= self._worlds(literal)
        return found

    def somewhere(self, literals: Literals) -> int:
        """The worlds that satisfy one of the literals."""
        found = 0
        for literal in literals:
            found |= self._worlds(literal)
        return found

    def minimal(self, fits: Callable[[Literals], bool], positive: bool) -> set[Literals]:
        """The sets of literals, at most one of each variable, that fit and contain no other that fits."""
        choices: list[list[Formula | None]] = [[None, *_literals(v, positive)] for v in self.variables]
        every = (frozenset(literal for literal in choice if literal is not None) for choice in product(*choices))
        found: list[Literals] = []
        for literals in sorted(filter(fits, every), key=len):
            if not any(smaller <= literals for smaller in found):
                found.append(literals)
        return set(found)


def _literals(variable: Variable, positive: bool) -> list[Formula]:
    """The literals that are neither constant nor the same as another one."""
    if variable.size < 2:
        return []
    states = [state_number(variable, index) for index in range(variable.size)]
    return states if positive or variable.size == 2 else [*states, *(negation(state) for state in states)]
