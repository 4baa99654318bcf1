"""An additive model as a decision graph, of few nodes: its features in a good order, its sums in intervals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from quia.additive import Additive
from quia.arguments import seconds, several, whole
from quia.compile.intervals import Compilation
from quia.compile.whole_sums import InOrder, WholeSums
from quia.consistent import Edges
from quia.dag import reached
from quia.errors import InstanceError, TooLarge, Unsupported, did_you_mean, listed, shown, with_article
from quia.graph import DecisionGraph
from quia.look import counted
from quia.patience import Clock, OutOfTime
from quia.ranges import union
from quia.terms import Line, Table, Term
from quia.variables import Variable

MOST_NODES = 500_000
"""So many nodes are made, equal ones counted apart, unless the caller says how many."""
_FEW = 1000
"""With so few nodes every order is tried first."""
_MANY = 20_000
"""Where an order takes so many, it is taken, and no other is tried."""


def additive_as_graph(
    model: Any,
    /,
    *,
    order: Iterable[str] | None = None,
    nodes: int = MOST_NODES,
    timeout: float | None = None,
) -> DecisionGraph:
    """The decision graph of an additive model: it decides every instance alike, those too that rounding decides.

    It is reduced and ordered. `order` names all features that matter; without it some orders are tried, and the
    smallest graph is kept. TooLarge if more than so many `nodes` are made on the way, or `timeout` seconds are over;
    Unsupported where a number is added as it is, as no finite graph tells all numbers apart.

    >>> import numpy as np
    >>> from quia.sums import Rule
    >>> job = Variable.nominal("job", ["none", "new", "old"])
    >>> debt = Variable.nominal("debt", ["no", "yes"])
    >>> points = Table(0, np.array([[0.0], [10.0], [25.0]])), Table(1, np.array([[15.0], [0.0]]))
    >>> card = Additive((job, debt), ("deny", "grant"), points, (0.0,), Rule("cuts", (25.0,)))
    >>> graph = additive_as_graph(card)
    >>> len(graph), graph.classify({"job": "new", "debt": "no"}), graph.classify({"job": "new", "debt": "yes"})
    (4, 'grant', 'deny')
    """
    most, limit = whole(nodes, "nodes"), seconds(timeout)
    if not isinstance(model, Additive):
        fault = (
            "is a graph already"
            if isinstance(model, DecisionGraph)
            else "is no sum of what each feature adds, which is what becomes a graph"
        )
        raise Unsupported(f"{with_article(model.kind)} {fault}", cure="use it as it is, without as_graph")
    tables = _of_tables(model)
    sums = WholeSums(tables)
    orders = _orders(sums) if order is None else [_given(tables, order)]
    try:
        made = _smallest(sums, orders, most, Clock(limit))
    except OutOfTime:
        raise TooLarge(
            f"{with_article(model.kind)} did not become a graph within {limit:g} seconds; use the model as it is,"
            " or give it more with timeout=",
            limit=limit or 0.0,
        ) from None
    if made is None:
        raise TooLarge(
            f"{with_article(model.kind)} of {counted(len(orders[0]), 'feature')} takes more than {most:,} nodes as a"
            f" graph{' in this order' if order is not None else ''}; use the model as it is, or allow more with nodes="
            " of quia.compile.additive_as_graph",
            limit=most,
        )
    graph = _graph(tables, made)
    note = f"compiled from {with_article(model.kind)} into {counted(len(graph), 'node')}"
    if made.sums.order:
        note += f", in the order {listed([tables.variables[v].name for v in made.sums.order])}"
    return replace(graph, notes=(*graph.notes, note))


def _orders(sums: WholeSums) -> list[tuple[int, ...]]:
    """Orders that may give small graphs.

    What moves sums most comes first, or last. Where rounding decides ties, sums that are equal but for rounding are
    told apart least in the order in which the model adds.
    """
    tested = sums.model.tested
    by_moves = sorted(tested, key=lambda v: -sums.moves(v))
    added = dict.fromkeys(term.variable for term in sums.model.terms if term.variable in tested)
    return list(dict.fromkeys((tuple(by_moves), tuple(added), tuple(reversed(by_moves)))))


def _smallest(
    sums: WholeSums, orders: Sequence[tuple[int, ...]], most: int, clock: Callable[[], None]
) -> Compilation | None:
    """The smallest graph of these orders, all tried with a limit that grows until one is enough; None if none is."""
    best: Compilation | None = None
    limit = min(_FEW, most)
    while best is None:
        for order in orders:
            try:
                made = Compilation(InOrder(sums, order), limit if best is None else min(limit, len(best)), clock)
            except TooLarge:
                continue
            if best is None or len(made) < len(best):
                best = made
            if len(best) > _MANY:
                return best
        if limit == most:
            break
        limit = min(10 * limit, most)
    return best


def _given(model: Additive, order: Iterable[str]) -> tuple[int, ...]:
    """The tested features in the order that the caller gives."""
    names = [variable.name for variable in model.variables]
    given = several(order, "order")
    for name in given:
        if name not in names:
            raise InstanceError(f"order has {shown(name)}, which is no feature{did_you_mean(name, names)}")
    places = [names.index(name) for name in given]
    if len(set(places)) < len(places):
        twice = next(name for name in given if given.count(name) > 1)
        raise InstanceError(f"order names {shown(twice)} twice; name each feature once")
    left_out = [names[v] for v in model.tested if v not in places]
    if left_out:
        raise InstanceError(f"order leaves out {listed(left_out)}; name every feature that the model adds")
    return tuple(v for v in places if v in model.tested)


def _of_tables(model: Additive) -> Additive:
    """The model with states that can be listed: a number of which only intervals count is cut between these."""
    tested = set(model.tested)
    lines = sorted({term.variable for term in model.terms if isinstance(term, Line) and term.variable in tested})
    if lines:
        names = listed([model.variables[v].name for v in lines])
        raise Unsupported(
            f"{names} can be any number, and each adds something else, so that no finite graph decides alike",
            cure="use the model as it is, without as_graph, or fit it again on bins of these numbers",
        )
    terms = [term for term in model.terms if isinstance(term, Table)]
    if not any(variable.is_line for variable in model.variables):
        return model
    variables = tuple(
        _cut(variable, [term for term in terms if term.variable == v]) if variable.is_line else variable
        for v, variable in enumerate(model.variables)
    )
    cut: list[Term] = [
        _rows_of(term, variables[term.variable]) if model.variables[term.variable].is_line else term for term in terms
    ]
    return replace(model, variables=variables, terms=tuple(cut))


def _cut(line: Variable, tables: Sequence[Table]) -> Variable:
    """A line's numbers, cut wherever a table is."""
    cuts = [(cut.threshold, cut.after) for table in tables for cut in table.cuts]
    return Variable.numeric(line.name, cuts, missing=line.missing)


def _rows_of(table: Table, cut: Variable) -> Table:
    """The table of a line for the states of its cut variable."""
    below = [end.last_below(False) for end in table.cuts]
    rows = [bisect_left(below, number) for number in cut.below]
    rows += [len(below)] + [len(below) + 1] * cut.missing
    return Table(table.variable, table.values[rows])


def _graph(model: Additive, made: Compilation) -> DecisionGraph:
    """What was compiled, as a decision graph over the model's features."""
    order, choices = made.sums.order, made.sums.choices
    number = reached(made.root, lambda node: made.children[node])
    tests, labels = list[int](), list[int]()
    edges: list[Edges] = []
    for node in number:
        level = made.levels[node]
        tests.append(-1 if level < 0 else order[level])
        labels.append(node if level < 0 else -1)
        below: dict[int, list[tuple[int, int]]] = {}
        for choice, child in zip(choices[level] if level >= 0 else (), made.children[node], strict=True):
            below.setdefault(number[child], []).extend(choice.states)
        edges.append(tuple((union(states), child) for child, states in below.items()))
    return DecisionGraph.build(
        model.variables, model.classes, tests, labels, edges, notes=model.notes, given=model.given
    )
