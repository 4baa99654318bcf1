"""What is given: constraints between features, read and compiled for the variables of a classifier."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from quia import conditions
from quia.constraint import IMPOSSIBLE, Constraint
from quia.dag import AND
from quia.errors import Contradiction, InstanceError, QuiaError, TooLarge, brief, shown
from quia.formula import Formula, parse_all
from quia.formula.core import parts_of
from quia.formula.diagram import FALSE, TRUE, Diagram, good_order
from quia.look import few, tagged
from quia.pickling import ByFields
from quia.ranges import Ranges, union
from quia.refine import cut_at, fine_ranges
from quia.region import Region
from quia.variables import Variable

MOST_NODES = 100_000
"""How large the graph of all constraints may get."""
_LONG = 200  # letters of a constraint in a message
_MOST_JOINED = 20_000  # how often two diagrams are joined to find out which few constraints contradict


@dataclass(frozen=True, eq=False)
class Given(ByFields):
    """Constraints over variables that have all cuts which these need.

    `said` are the constraints as they were given, `each` is one of them; `box` is what they say of single features,
    `together` all that ties some to each other, if anything does. `parts` are that, in constraints no two of which are
    about the same feature.
    """

    variables: tuple[Variable, ...]
    each: tuple[Constraint, ...]
    box: Region
    together: Constraint | None
    parts: tuple[Constraint, ...] = ()
    said: tuple[str | Formula, ...] = ()

    def __repr__(self) -> str:
        return tagged("Given", few((each.text for each in self.each), 3))

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
    if isinstance(several, (bytes, Mapping)) or not isinstance(several, Iterable):
        raise InstanceError(f"given is {shown(given)}; give a constraint such as 'a=yes -> b > 3', or a list of these")
    several = tuple(several)
    for each in several:
        if not isinstance(each, (str, Formula)):
            raise InstanceError(
                f"given has {shown(each)}; a constraint is a text such as 'a=yes -> b > 3', or a formula"
            )
    return several


def constraints_of(classifier: Any, given: Any = None) -> tuple[str | Formula, ...]:
    """A classifier's own constraints and then those that are given beside, each once."""
    own = as_constraints(getattr(classifier, "given", None))
    return tuple(dict.fromkeys((*own, *as_constraints(given))))


def unreadable(variables: Sequence[Variable], given: Sequence[str | Formula]) -> dict[int, str]:
    """The places of the constraints that cannot be read, and what is wrong with each.

    >>> unreadable([Variable.numeric("age")], ["age >= 52", "age >="])
    {1: "column 7: there is nothing where a number that 'age' is compared with should be"}
    """
    known, found = [bare(variable) for variable in variables], {}
    for place, each in enumerate(given):
        try:
            parse_all(each, known)
        except QuiaError as fault:
            found[place] = str(fault)
    return found


def compiled(variables: Sequence[Variable], given: Sequence[str | Formula]) -> Given:
    """The constraints for a classifier's variables; Contradiction if nothing can meet them, TooLarge if they are."""
    formulas, made = _read(variables, given)
    finer, index = made.variables, made.index
    each = tuple(made.constraint([formula], text=str(text)) for formula, text in zip(formulas, given, strict=True))
    parts = list(dict.fromkeys(part for formula in formulas for part in parts_of(formula, AND)))
    box = Region(finer)
    for part in parts:
        if len(part.variables) == 1:
            box = box.intersection(Region(finer, {index[part.variables[0].name]: made.states(part)}))
    tying = [part for part in parts if len(part.variables) != 1]
    together = made.constraint(tying)
    if together.root == IMPOSSIBLE or box.is_empty or together.left_by(box) is None:
        raise contradiction(variables, given, Region(tuple(variables)))
    if not together.tested:
        return Given(finer, each, box, None, said=tuple(given))
    apart = (made.constraint(group) for group in _independent(tying))
    return Given(finer, each, box, together, tuple(part for part in apart if part.tested), tuple(given))


def _independent(formulas: Sequence[Formula]) -> list[list[Formula]]:
    """The formulas in groups, no two of which speak of the same feature."""
    groups: list[tuple[set[str], list[Formula]]] = []
    for formula in formulas:
        names, joined = {variable.name for variable in formula.variables}, [formula]
        for group in [group for group in groups if not names.isdisjoint(group[0])]:
            groups.remove(group)
            names, joined = names | group[0], group[1] + joined
        groups.append((names, joined))
    return [joined for _, joined in groups]


def _read(variables: Sequence[Variable], given: Sequence[str | Formula]) -> tuple[Sequence[Formula], _Compiler]:
    """Constraints as formulas over variables with no cuts but theirs, and what compiles them."""
    formulas = parse_all(given, [bare(variable) for variable in variables])
    index = {variable.name: v for v, variable in enumerate(variables)}
    coarse = {index[variable.name]: variable for formula in formulas for variable in formula.variables}
    finer = cut_at(variables, {v: variable.cuts for v, variable in coarse.items()})
    return formulas, _Compiler(finer, coarse, formulas)


def contradiction(variables: Sequence[Variable], given: Sequence[str | Formula], within: Region) -> Contradiction:
    """That nothing in a region meets constraints, told by few of them: each is needed for that, if it is soon found."""
    formulas, made = _read(variables, given)
    finer = made.variables
    box = Region(finer, {v: fine_ranges(variables[v], finer[v], ranges) for v, ranges in within.bounds.items()})
    few = _contradicting(made, formulas, box)
    with suppress(TooLarge):
        met = made.constraint([formulas[at] for at in few])
        for v in within.bounds:
            wider = Region(finer, {u: ranges for u, ranges in box.bounds.items() if u != v})
            box = wider if met.left_by(wider) is None else box
    texts = tuple(str(given[at]) for at in few)
    told = brief("; ".join(brief(text, _LONG) for text in texts), 3 * _LONG)
    conditions = tuple(map(str, box.literals))
    if conditions:
        said = f"nothing within {box} meets the constraint{'s' * (len(few) > 1)} {told}; correct the one or the other"
    elif len(few) == 1:
        said = f"nothing can meet the constraint {told}; correct it, or leave it out"
    else:
        said = f"nothing can meet {len(few)} constraints together: {told}; correct one of them, or leave one out"
    return Contradiction(said, constraints=texts, conditions=conditions)


def _contradicting(made: _Compiler, formulas: Sequence[Formula], box: Region) -> list[int]:
    """Which formulas contradict each other in a box; where that is not soon found, more of them than need be.

    Of those in a row, the first with which there is a contradiction is one of them, and what comes after it is not
    needed; with it in front, the row is gone through again. Complexity: a row for each that is found.
    """
    few: list[int] = []
    rest = list(range(len(formulas)))
    joined, start = 0, TRUE
    try:
        nodes = [made.diagram.compile(formula) for formula in formulas]
        while made.is_met(start, box):
            joined += len(rest)
            if joined > _MOST_JOINED:
                return sorted([*few, *rest])
            rows = [start]
            for at in rest:
                rows.append(made.diagram.joined(AND, [rows[-1], nodes[at]]))
            first = bisect_left(rows, True, key=lambda row: not made.is_met(row, box)) - 1
            few.append(rest[first])
            del rest[first:]
            start = made.diagram.joined(AND, [start, nodes[few[-1]]])
    except TooLarge:
        return sorted([*few, *rest])
    return sorted(few)


class Spare(NamedTuple):
    """Constraints that say nothing, by their places: those that hold everywhere, and those that the others imply."""

    idle: tuple[int, ...]
    implied: tuple[int, ...]


def spare(variables: Sequence[Variable], given: Sequence[str | Formula]) -> Spare:
    """The constraints that can all be left out together; where there are very many, only those that hold everywhere."""
    formulas, made = _read(variables, given)
    every, diagram = Region(made.variables), made.diagram
    idle: list[int] = []
    implied: list[int] = []
    try:
        nodes = [diagram.compile(formula) for formula in formulas]
        idle = [at for at, node in enumerate(nodes) if not made.is_met(diagram.negation(node), every)]
        left = [at for at in range(len(nodes)) if at not in idle]
        for at in reversed(left) if len(left) ** 2 <= _MOST_JOINED else ():
            others = [nodes[other] for other in left if other != at and other not in implied]
            if not made.is_met(diagram.joined(AND, [*others, diagram.negation(nodes[at])]), every):
                implied.append(at)
    except TooLarge:  # what was found until then is true
        pass
    return Spare(tuple(idle), tuple(sorted(implied)))


def bare(variable: Variable) -> Variable:
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
                f"the constraints take more than {MOST_NODES:,} nodes, or too many branches; give fewer, or such that"
                " speak of fewer features, or compare with fewer numbers, at a time",
                limit=MOST_NODES,
            ) from None
        return self._flat(root, text)

    def is_met(self, root: int, box: Region) -> bool:
        """Whether something in a box meets what a node of the diagram says."""
        return root != FALSE and self._flat(root, "").left_by(box) is not None

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
        node = self.diagram.compile(formula)
        ends = self.diagram.children[node] or (node,) * variable.size
        ranges = self.ranges[self.index[variable.name]]
        return union(pair for state, end in enumerate(ends) if end == TRUE for pair in ranges[state])


def _in_states(coarse: Variable, state: int, finer: Variable) -> Ranges:
    """A state in those of the variable that has its cuts and more, or that is a line."""
    if not coarse.is_numeric:
        return ((state, state),)
    said: conditions.Condition = "missing" if coarse.is_missing_state(state) else coarse.exact_interval(state, state)
    return conditions.states_touched(finer, [said])
