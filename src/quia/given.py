"""What is given: constraints between features, read and compiled for the variables of a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from quia import conditions
from quia.constraint import IMPOSSIBLE, Constraint
from quia.dag import AND
from quia.errors import InstanceError, QuiaError, TooLarge, brief, shown
from quia.formula import Formula, parse_all
from quia.formula.core import parts_of
from quia.formula.diagram import FALSE, TRUE, Diagram, good_order
from quia.pickling import ByFields
from quia.ranges import Ranges, union
from quia.refine import cut_at
from quia.region import Region
from quia.variables import Variable

MOST_NODES = 100_000
"""How large the graph of all constraints may get."""
_LONG = 200  # letters of a constraint in a message


@dataclass(frozen=True, eq=False)
class Given(ByFields):
    """Constraints over variables that have all cuts which these need.

    `each` is a constraint as it was given; `box` is what they say of single features, `together` all that ties some to
    each other, if anything does.
    """

    variables: tuple[Variable, ...]
    each: tuple[Constraint, ...]
    box: Region
    together: Constraint | None

    def broken(self, states: Sequence[int]) -> list[Constraint]:
        """The constraints that an encoded instance breaks, whatever its unknown variables are."""
        every = Region(self.variables)
        return [each for each in self.each if each.completed(states, every) is None]


def as_constraints(given: Any) -> tuple[str | Formula, ...]:
    """Constraints that are given as one or as several.

    >>> as_constraints("a -> b"), as_constraints(None)
    (('a -> b',), ())
    """
    if given is None:
        return ()
    several = (given,) if isinstance(given, (str, Formula)) else given
    if not isinstance(several, Iterable):
        raise InstanceError(f"given is {shown(given)}; give a constraint such as 'a=yes -> b > 3', or a list of these")
    several = tuple(several)
    for each in several:
        if not isinstance(each, (str, Formula)):
            raise InstanceError(
                f"given has {shown(each)}; a constraint is a text such as 'a=yes -> b > 3', or a formula"
            )
    return several


def unreadable(variables: Sequence[Variable], given: Sequence[str | Formula]) -> dict[int, str]:
    """The places of the constraints that cannot be read, and what is wrong with each.

    >>> unreadable([Variable.numeric("age")], ["age >= 52", "age >="])
    {1: "column 7: there is nothing where a number that 'age' is compared with should be"}
    """
    known, found = [_bare(variable) for variable in variables], {}
    for place, each in enumerate(given):
        try:
            parse_all(each, known)
        except QuiaError as fault:
            found[place] = str(fault)
    return found


def compiled(variables: Sequence[Variable], given: Sequence[str | Formula]) -> Given:
    """The constraints for a classifier's variables; InstanceError if nothing can meet them, TooLarge if they are."""
    formulas = parse_all(given, [_bare(variable) for variable in variables])
    index = {variable.name: v for v, variable in enumerate(variables)}
    coarse = {index[variable.name]: variable for formula in formulas for variable in formula.variables}
    finer = cut_at(variables, {v: variable.cuts for v, variable in coarse.items()})
    made = _Compiler(finer, coarse, formulas)
    each = tuple(made.constraint([formula], text=str(text)) for formula, text in zip(formulas, given, strict=True))
    parts = list(dict.fromkeys(part for formula in formulas for part in parts_of(formula, AND)))
    box = Region(finer)
    for part in parts:
        if len(part.variables) == 1:
            box = box.intersection(Region(finer, {index[part.variables[0].name]: made.states(part)}))
    together = made.constraint([part for part in parts if len(part.variables) != 1])
    if together.root == IMPOSSIBLE or box.is_empty or together.left_by(box) is None:
        raise _unmet(each)
    return Given(finer, each, box, together if together.tested else None)


def _unmet(each: Sequence[Constraint]) -> InstanceError:
    """That nothing can meet the constraints."""
    return InstanceError(
        f"nothing can meet {'the constraint' if len(each) == 1 else 'all constraints'}"
        f" {brief('; '.join(c.text for c in each), 3 * _LONG)}; correct or leave out"
        f" {'it' if len(each) == 1 else 'some'}"
    )


def _bare(variable: Variable) -> Variable:
    """The variable without cuts, so that a formula has just those that it needs."""
    if not variable.is_numeric:
        return variable
    return Variable.numeric(variable.name, missing=variable.missing, single=variable.single)


class _Compiler:
    """Formulas over variables with the cuts that they need alone, made constraints over those of a classifier."""

    def __init__(
        self, variables: tuple[Variable, ...], coarse: dict[int, Variable], formulas: Sequence[Formula]
    ) -> None:
        self.variables = variables
        self.index = {variable.name: v for v, variable in enumerate(variables)}
        self.diagram = Diagram(good_order(formulas), limit=MOST_NODES)
        self.ranges = {v: [_in_states(each, s, variables[v]) for s in range(each.size)] for v, each in coarse.items()}

    def constraint(self, formulas: Sequence[Formula], *, text: str = "") -> Constraint:
        """The constraint that all of these hold."""
        diagram = self.diagram
        try:
            root = diagram.joined(AND, [diagram.compile(formula) for formula in formulas])
        except TooLarge:
            raise TooLarge(
                f"the constraints take more than {MOST_NODES:,} nodes when they are put together; give fewer, or such"
                " that speak of fewer features at a time",
                limit=MOST_NODES,
            ) from None
        return self._flat(root, text)

    def _flat(self, root: int, text: str) -> Constraint:
        """The nodes below one, numbered anew, with edges for states of the classifier's variables."""
        reached = {FALSE, TRUE, root}
        for node in range(root, TRUE, -1):
            if node in reached:
                reached.update(self.diagram.children[node])
        number = {node: at for at, node in enumerate(sorted(reached))}
        tests, edges = [], []
        for node in sorted(reached):
            v = -1 if node <= TRUE else self.index[self.diagram.order[self.diagram.level[node]].name]
            leading: dict[int, list[tuple[int, int]]] = {}
            for state, child in enumerate(self.diagram.children[node]):
                leading.setdefault(number[child], []).extend(self.ranges[v][state])
            tests.append(v)
            edges.append(tuple((union(pairs), child) for child, pairs in leading.items() if pairs))
        return Constraint(self.variables, tuple(tests), tuple(edges), number[root], text)

    def states(self, formula: Formula) -> Ranges:
        """The states of its one variable for which a formula holds."""
        (variable,) = formula.variables
        kept = (s for s in range(variable.size) if formula.holds({variable: s}))
        return union(pair for s in kept for pair in self.ranges[self.index[variable.name]][s])


def _in_states(coarse: Variable, state: int, finer: Variable) -> Ranges:
    """A state in those of the variable that has its cuts and more, or that is a line."""
    if not coarse.is_numeric:
        return ((state, state),)
    said: conditions.Condition = "missing" if coarse.is_missing_state(state) else coarse.exact_interval(state, state)
    return conditions.states_touched(finer, [said])
