"""Classifiers from class formulas (paper §2): a formula for each class; every world satisfies exactly one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quia.dag import AND, OR
from quia.errors import GraphError, did_you_mean, listed, shown
from quia.formula.core import Formula, negation
from quia.formula.diagram import FALSE, GROWTH_LIMIT, TRUE, Diagram, good_order
from quia.formula.syntax import parse_all
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.graph import DecisionGraph


def classifier(
    formulas: Mapping[str, Formula | str] | Formula,
    variables: Iterable[Variable] | Mapping[str, Iterable[str]] | None = None,
    *,
    classes: Sequence[str] = ("0", "1"),
    order: Sequence[str] | None = None,
    limit: int = GROWTH_LIMIT,
) -> DecisionGraph:
    """The decision graph of class formulas, which must be mutually exclusive and exhaustive.

    `formulas` maps each class to its formula, or is one formula, for the second of two `classes` (its negation is
    the first's). `variables` lists the variables in the order wanted (those that occur, if it is not given); texts
    are parsed over them. `order` overrides the order in which variables are tested, `limit` how many nodes there may
    be before `TooLarge` is raised.

    >>> graph = classifier({"admit": "e & !f", "deny": "!e | f"}, {"e": ["0", "1"], "f": ["0", "1"]})
    >>> graph.classify({"e": 1, "f": 0})
    'admit'
    """
    if isinstance(variables, Mapping):
        variables = [Variable.nominal(name, states) for name, states in variables.items()]
    listing = None if variables is None else tuple(variables)
    if isinstance(formulas, Formula):
        if len(classes) != 2:
            raise GraphError(f"classes is {shown(list(classes))}; one formula parts the worlds into two classes")
        formulas = {classes[0]: negation(formulas), classes[1]: formulas}
    if not formulas:
        raise GraphError("there are no class formulas; give one for each class")
    parsed = _parsed(formulas, listing)
    used = list(dict.fromkeys(v for formula in parsed.values() for v in formula.variables))
    finer = {variable.name: variable for variable in used}
    known = tuple(used) if listing is None else tuple(finer.get(each.name, each) for each in listing)
    if len({v.name for v in known}) < len(known):
        raise GraphError(f"two variables have the same name among {listed(v.name for v in known)}; names must differ")
    diagram = Diagram(_ordered(parsed, used, order), limit=limit)
    nodes = [diagram.compile(formula) for formula in parsed.values()]
    _check_parts(diagram, list(parsed), nodes)
    return _graph(diagram, known, list(parsed), nodes)


def compiled(formula: Formula, **options: Any) -> DecisionGraph:
    """The decision graph that tells the models of one formula (class 1) from the other worlds (class 0)."""
    return classifier(formula, **options)


def _parsed(formulas: Mapping[str, Any], variables: Sequence[Variable] | None) -> dict[str, Formula]:
    """The class formulas, over the variables if these are given, with the cuts that all of the formulas need."""
    names = None if variables is None else {variable.name for variable in variables}
    for name, formula in formulas.items():
        if isinstance(formula, str):
            if names is None:
                raise GraphError(f"the formula of class {shown(name)} is a text; say over which variables to read it")
        elif not isinstance(formula, Formula):
            raise GraphError(f"the formula of class {shown(name)} is {shown(formula)}; give a Formula or a text")
        elif names is not None:
            for variable in formula.variables:
                if variable.name not in names:
                    raise GraphError(f"a formula mentions {variable.name!r}, which is not among the variables given")
    if variables is None:
        return dict(formulas)
    return dict(zip(formulas, parse_all(list(formulas.values()), variables), strict=True))


def _ordered(
    formulas: Mapping[str, Formula], used: Sequence[Variable], order: Sequence[str] | None
) -> tuple[Variable, ...]:
    best = good_order(list(formulas.values()))
    if order is None:
        return best
    by_name = {v.name: v for v in used}
    for name in order:
        if not isinstance(name, str):
            raise GraphError(f"order has {shown(name)}; give names of variables{did_you_mean(name, by_name)}")
    first = [by_name[name] for name in dict.fromkeys(order) if name in by_name]
    return (*first, *(v for v in best if v not in first))


def _check_parts(diagram: Diagram, names: Sequence[str], nodes: Sequence[int]) -> None:
    seen = FALSE
    for place, node in enumerate(nodes):
        if diagram.joined(AND, (seen, node)) != FALSE:
            other = next(k for k in range(place) if diagram.joined(AND, (nodes[k], node)) != FALSE)
            both = diagram.world(diagram.joined(AND, (nodes[other], node)))
            raise GraphError(
                f"the formulas of {names[other]!r} and {names[place]!r} are not exclusive: both hold where"
                f" {_told(both)}"
            )
        seen = diagram.joined(OR, (seen, node))
    if seen != TRUE:
        left = diagram.world(seen, value=FALSE)
        raise GraphError(f"the class formulas are not exhaustive: none holds where {_told(left)}")


def _told(world: Mapping[Variable, int] | None) -> str:
    return " and ".join(v.phrase(s) for v, s in (world or {}).items()) or "nothing is assumed"


def _graph(
    diagram: Diagram, variables: tuple[Variable, ...], classes: Sequence[str], roots: Sequence[int]
) -> DecisionGraph:
    """One graph of all formulas: a node is what is left of each of them, a leaf where one is left true."""
    from quia.graph import DecisionGraph

    number = {variable: i for i, variable in enumerate(variables)}
    tests: list[int] = []
    labels: list[int] = []
    edges: list[tuple[tuple[tuple[tuple[int, int], ...], int], ...]] = []
    place: dict[tuple[int, ...], int] = {}
    work = [tuple(roots)]
    while work:
        parts = work[-1]
        if parts in place:
            work.pop()
            continue
        if TRUE in parts:
            tests.append(-1)
            labels.append(parts.index(TRUE))
            edges.append(())
        else:
            level = min(diagram.level[part] for part in parts)
            variable = diagram.order[level]
            below = [
                tuple(diagram.children[part][s] if diagram.level[part] == level else part for part in parts)
                for s in range(variable.size)
            ]
            waiting = [child for child in below if child not in place]
            if waiting:
                work.extend(waiting)
                continue
            tests.append(number[variable])
            labels.append(-1)
            edges.append(_merged([place[child] for child in below]))
        place[parts] = len(tests) - 1
        work.pop()
    return DecisionGraph.build(variables, list(classes), tests, labels, edges)


def _merged(children: Sequence[int]) -> tuple[tuple[tuple[tuple[int, int], ...], int], ...]:
    """The edges of a node: the states that go to one child are joined into ranges."""
    from quia.ranges import union

    states: dict[int, list[tuple[int, int]]] = {}
    for state, child in enumerate(children):
        states.setdefault(child, []).append((state, state))
    return tuple((union(pairs), child) for child, pairs in states.items())
