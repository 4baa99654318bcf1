"""The discrete formula itself: immutable, hash-consed, walked without recursion.

Equal formulas are one object, so `is` compares them and shared parts are worked on once (`dag` says how, and what a
formula shares with its flat picture, the NNF).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NoReturn, TypeVar
from weakref import WeakValueDictionary

from quia import dag
from quia.dag import AND, LITERAL, NOT, OR
from quia.errors import InstanceError
from quia.look import Shown, tagged
from quia.variables import Variable

T = TypeVar("T")


class Formula(Shown):
    """A state, ⊤, ⊥, or ¬, ∧, ∨ of formulas; `&`, `|`, `~` and `>>` (→, which Python binds most) make larger ones.

    `kind` says which; a state is number `index` of `variable`; `children` are the parts. A negated state of a
    variable with two states is its other state, as the paper has it.

    >>> e, f = (Variable.nominal(name, ["no", "yes"]) for name in "EF")
    >>> state(e, "yes") & ~state(f, "yes") is state(e, "yes") & state(f, "no")
    True
    """

    __slots__ = ("__weakref__", "children", "index", "kind", "variable")
    kind: int
    variable: Variable | None
    index: int
    children: tuple[Formula, ...]

    def __init__(self) -> None:
        raise TypeError("formulas are made by parse, state, conjunction, disjunction and negation")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("a formula does not change; make a new one")

    def __and__(self, other: Formula) -> Formula:
        return conjunction((self, other)) if isinstance(other, Formula) else NotImplemented

    def __or__(self, other: Formula) -> Formula:
        return disjunction((self, other)) if isinstance(other, Formula) else NotImplemented

    def __rshift__(self, other: Formula) -> Formula:
        return disjunction((negation(self), other)) if isinstance(other, Formula) else NotImplemented

    def __invert__(self) -> Formula:
        return negation(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a formula is neither true nor false by itself; ask is_valid, is_satisfiable or satisfied_by")

    def __copy__(self) -> Formula:
        return self

    def __deepcopy__(self, memo: Any) -> Formula:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        nodes = list(children_first(self))
        number = {node: i for i, node in enumerate(nodes)}
        return _restored, ([(n.kind, n.variable, n.index, tuple(number[c] for c in n.children)) for n in nodes],)

    def __str__(self) -> str:
        from quia.formula.writing import text

        return text(self)

    def __repr__(self) -> str:
        from quia.formula.writing import text

        return tagged("Formula", text(self, most=120))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that occur, in the order of their first occurrence."""
        return tuple(dict.fromkeys(node.variable for node in children_first(self) if node.variable is not None))

    @property
    def size(self) -> int:
        """How many nodes there are, shared ones counted once."""
        return sum(1 for _ in children_first(self))

    def fold(self, leaf: Callable[[Formula], T], joined: Callable[[Formula, list[T]], T]) -> T:
        """One value for the formula from one for each part. Complexity: linear, every shared part once."""
        steps = ((node, ()) for node in children_first(self))
        return dag.fold(steps, _children, lambda node, parts: joined(node, parts) if parts else leaf(node))

    def condition(self, term: Any) -> Formula:
        """The formula given the states of a positive term: Δ | γ (paper §2), constants simplified away.

        The term is a mapping from variable name to value, a formula that is a positive term, or states.
        """
        from quia.formula.terms import positive_term

        given = positive_term(term, self.variables)

        def leaf(node: Formula) -> Formula:
            if node.variable not in given:
                return node
            return TRUE if given[node.variable] == node.index else FALSE

        return self.fold(leaf, lambda node, parts: simplified(node.kind, parts))

    def satisfied_by(self, world: Mapping[str, Any]) -> bool:
        """Whether a world, a value for every variable that occurs, is a model."""
        given = {}
        for variable in self.variables:
            if variable.name not in world:
                raise InstanceError(f"the world has no value for {variable.name!r}, which the formula mentions")
            given[variable] = variable.encode(world[variable.name])
        return self.holds(given)

    def holds(self, given: Mapping[Variable, int]) -> bool:
        """Whether the formula is true where the variables are in these states."""

        def leaf(node: Formula) -> bool:
            if node.variable is None:
                return node is TRUE
            return given[node.variable] == node.index

        def joined(node: Formula, parts: list[bool]) -> bool:
            return not parts[0] if node.kind == NOT else all(parts) if node.kind == AND else any(parts)

        return self.fold(leaf, joined)

    @property
    def is_literal(self) -> bool:
        """Whether this is a state or a negated state."""
        return self.kind == LITERAL or (self.kind == NOT and self.children[0].kind == LITERAL)

    @property
    def is_clause(self) -> bool:
        """Whether this is a disjunction of literals, at most one of each variable; ⊥ is the empty one."""
        return self is FALSE or _is_flat(self, OR)

    @property
    def is_term(self) -> bool:
        """Whether this is a conjunction of literals, at most one of each variable; ⊤ is the empty one."""
        return self is TRUE or _is_flat(self, AND)

    @property
    def is_cnf(self) -> bool:
        """Whether this is a conjunction of clauses."""
        return self is TRUE or all(part.is_clause for part in parts_of(self, AND))

    @property
    def is_dnf(self) -> bool:
        """Whether this is a disjunction of terms."""
        return self is FALSE or all(part.is_term for part in parts_of(self, OR))

    @property
    def is_nnf(self) -> bool:
        """Whether only states are negated."""
        return all(node.kind != NOT or node.is_literal for node in children_first(self))

    @property
    def is_positive(self) -> bool:
        """Whether nothing is negated."""
        return all(node.kind != NOT for node in children_first(self))

    @property
    def is_monotone(self) -> bool:
        """Whether nothing is negated and no variable occurs in two different states."""
        states = {(node.variable, node.index) for node in children_first(self) if node.kind == LITERAL}
        return self.is_positive and len(states) == len({variable for variable, _ in states})

    @property
    def is_or_decomposable(self) -> bool:
        """Whether this is an NNF in which the disjuncts of every disjunction share no variable."""
        return self.is_nnf and not self._shares(OR)

    @property
    def is_and_decomposable(self) -> bool:
        """Whether this is an NNF in which the conjuncts of every conjunction share no variable."""
        return self.is_nnf and not self._shares(AND)

    def _shares(self, kind: int) -> bool:
        from quia.formula.sharing import sharing

        return bool(sharing(self, kind).gates)


_children: Callable[[Formula], tuple[Formula, ...]] = attrgetter("children")


class _Formulas(dag.Table[Formula, Variable | None]):
    """The table of all formulas, which forgets those that nobody holds."""

    def _fresh(self, key: dag.Key[Variable | None, Formula]) -> Formula:
        fresh = object.__new__(Formula)
        for name, value in zip(("kind", "variable", "index", "children"), key, strict=True):
            object.__setattr__(fresh, name, value)
        return fresh


_formulas = _Formulas(WeakValueDictionary(), no_variable=None)
FALSE, TRUE = _formulas.false, _formulas.true


def state(variable: Variable, value: Any) -> Formula:
    """The state that a value of a variable is in: the formula X=x."""
    return state_number(variable, variable.encode(value))


def state_number(variable: Variable, index: int) -> Formula:
    """The state of a variable with this number."""
    return _formulas.literal(variable, index)


def member(variable: Variable, indices: Iterable[int]) -> Formula:
    """The set literal: the variable is in one of the states with these numbers."""
    return disjunction(state_number(variable, index) for index in sorted(set(indices)))


def negation(part: Formula) -> Formula:
    """¬ of a formula."""
    if part.variable is not None and part.variable.size == 2:
        return state_number(part.variable, 1 - part.index)
    return _formulas.made(NOT, None, -1, (part,))


def conjunction(parts: Iterable[Formula]) -> Formula:
    """∧ of formulas; of none it is ⊤, of one that one."""
    return joined(AND, parts)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """∨ of formulas; of none it is ⊥, of one that one."""
    return joined(OR, parts)


def joined(kind: int, parts: Iterable[Formula]) -> Formula:
    """∧ or ∨ of formulas as they are; of none it is ⊤ or ⊥, of one that one."""
    return _formulas.joined(kind, tuple(parts))


def simplified(kind: int, parts: Sequence[Formula]) -> Formula:
    """¬, ∧ or ∨ of parts, with constants and repeated parts simplified away."""
    if kind != NOT:
        return _formulas.simplified(kind, parts)
    return _formulas.constant(parts[0] is FALSE) if parts[0] in (TRUE, FALSE) else negation(parts[0])


def children_first(root: Formula) -> Iterator[Formula]:
    """Every node of a formula once, parts before what they are part of. Complexity: linear, no recursion."""
    seen: set[Formula] = set()
    work = [(root, iter(root.children))]
    while work:
        node, rest = work[-1]
        for child in rest:
            if child not in seen:
                work.append((child, iter(child.children)))
                break
        else:
            work.pop()
            if node not in seen:
                seen.add(node)
                yield node


def with_last_uses(root: Formula) -> Iterator[tuple[Formula, list[Formula]]]:
    """`dag.with_last_uses` of every node of a formula."""
    return dag.with_last_uses(list(children_first(root)), _children)


def parts_of(formula: Formula, kind: int) -> Iterator[Formula]:
    """The conjuncts (disjuncts) of nested conjunctions (disjunctions); of another kind, the formula."""
    work, seen = [formula], set()
    while work:
        node = work.pop()
        if node.kind != kind:
            yield node
        elif node not in seen:
            seen.add(node)
            work.extend(reversed(node.children))


def _is_flat(formula: Formula, kind: int) -> bool:
    seen: set[Variable | None] = set()
    for part in parts_of(formula, kind):
        variable = part.children[0].variable if part.kind == NOT else part.variable
        if not part.is_literal or variable in seen:
            return False
        seen.add(variable)
    return True


def _restored(nodes: Sequence[tuple[int, Variable | None, int, tuple[int, ...]]]) -> Formula:
    made: list[Formula] = []
    for kind, variable, index, children in nodes:
        made.append(_formulas.made(kind, variable, index, tuple(made[c] for c in children)))
    return made[-1]
