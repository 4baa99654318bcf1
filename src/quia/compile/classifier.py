"""A Bayesian network as a classifier: the decision graph over some of its variables that decides about another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.arguments import seconds, several, whole
from quia.compile.chain import Chain, Ordered, Scores, TooMuchWork
from quia.compile.factors import LEAST, marginal
from quia.compile.moves import Places
from quia.compile.network import Network
from quia.compile.order import arranged, cuts_along, is_short, shortened
from quia.errors import TooLarge, Unsupported, did_you_mean, listed, shown
from quia.graph import DecisionGraph
from quia.graph_arrays import Ints
from quia.look import counted
from quia.patience import Clock, OutOfTime
from quia.variables import Variable

MOST_NODES = 2_000_000
"""So many nodes are made, unless the caller says how many."""
MOST_CLASSES = 1000
"""A target that can be in more states is refused: each two of them are compared."""
_MEMORY = 3 << 29
_FIRST_WORK = 1 << 28
"""So many numbers are computed along the first order, at the most, before a better one is looked for."""
_MOST_SIFTING = 10_000_000
"""So many nodes are looked at, at the most, while the order is made better."""
_MOST_DIGITS = 1000
_LONGEST_WRITTEN = 40
_AFFIRMATIVE = (
    ("yes", "no"), ("true", "false"), ("present", "absent"), ("positive", "negative"), ("abnormal", "normal"),
    ("on", "off"), ("y", "n"), ("t", "f"), ("1", "0"),
)  # fmt: skip


def network_as_graph(
    network: Network,
    target: str,
    /,
    *,
    features: Iterable[str] | None = None,
    threshold: Any = None,
    positive: str | None = None,
    order: Iterable[str] | None = None,
    nodes: int = MOST_NODES,
    timeout: float | None = None,
) -> DecisionGraph:
    """The reduced ordered decision graph of what a network says of its variable `target`, given its `features`.

    Other variables are hidden, and summed out; without `features` those are the leaves of the network. The class is the
    most probable state of the target, of several the one that the network lists first. With a `threshold` it is the
    state `positive` where the probability of that is at least so much, and the other one elsewhere. What is impossible,
    as the network gives it a probability of 0, is a tie.

    Every decision is exact: where the error of doubles leaves open which probability is greater, they are computed as
    fractions. `order` names the features in the order in which they are tested; without it one is looked for.
    TooLarge if the graph has more than so many `nodes`, or `timeout` seconds are over.

    >>> from fractions import Fraction
    >>> from quia.compile.network import Node, table_of
    >>> rain = Node("rain", ("no", "yes"), (), table_of([Fraction(4, 5), Fraction(1, 5)], [2]))
    >>> wet = table_of([Fraction(9, 10), Fraction(1, 10), Fraction(0), Fraction(1)], [2, 2])
    >>> network = Network.of([rain, Node("grass", ("dry", "wet"), (0,), wet)])
    >>> network_as_graph(network, "rain").classify({"grass": "wet"})
    'yes'
    >>> network_as_graph(network, "rain", threshold=0.75).classify({"grass": "wet"})
    'no'
    """
    about = _target(network, target)
    chosen = _features(network, about, features)
    weights, ranks = _rule(network, about, threshold, positive)
    scores = Scores(network, about, chosen, weights, ranks)
    most, limit = whole(nodes, "nodes"), seconds(timeout)
    given = None if order is None else _given(network, scores, order)
    what = f"{target} given {counted(len(scores.relevant), 'feature')}"
    try:
        return _smallest(scores, given, _Limits(most, Clock(limit)))
    except OutOfTime:
        raise TooLarge(
            f"time ran out: {limit:g} seconds were not enough for a graph of {what}; give it more with timeout=, or"
            " choose fewer features",
            limit=limit or 0,
        ) from None
    except _kernel.OverBudget as fault:
        raise TooLarge(
            f"a graph of {what} takes more than {most:,} nodes; allow more with nodes=, or choose fewer features"
            if "nodes" in str(fault)
            else f"a graph of {what} takes more memory than {_MEMORY >> 20:,} MiB; choose fewer features",
            limit=most if "nodes" in str(fault) else _MEMORY,
        ) from None


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many nodes there may be, and how long it may take."""

    nodes: int
    clock: Clock


def _smallest(scores: Scores, given: Places | None, limits: _Limits) -> DecisionGraph:
    """The graph along the order that is given, or along the first good order for which it is small enough."""
    if not scores.relevant:
        return _constant(scores)
    if given is None:
        chain, made = _along_a_good_order(scores, limits)
        made = _sifted(made, scores.network.sizes, limits)
    else:
        chain = Chain(scores, given, cuts_along(scores, given, limits.clock), limits.clock)
        made = chain.compiled(nodes=limits.nodes, memory=_MEMORY)
    notes = ["some inputs tie exactly"] if chain.ties else []
    if chain.has_impossible:
        notes.append(
            "some inputs have a probability of 0: all states tie there; constraints with given= leave such inputs out"
        )
    return _graph(scores, made, notes)


def _along_a_good_order(scores: Scores, limits: _Limits) -> tuple[Chain, Ordered]:
    """The graph along an order that is quickly found; where that takes long, along a better one."""
    clock = limits.clock
    order, cuts = arranged(scores, clock)
    chain = Chain(scores, order, cuts, clock)
    first = None if is_short(order, cuts) else _FIRST_WORK
    try:
        return chain, chain.compiled(nodes=limits.nodes, memory=_MEMORY, work=first)
    except TooMuchWork:
        better = shortened(scores, order, cuts, clock)
    if better is not None:
        chain = Chain(scores, *better, clock)
    return chain, chain.compiled(nodes=limits.nodes, memory=_MEMORY)


def _constant(scores: Scores) -> DecisionGraph:
    """The graph of a single leaf, where no feature bears on the decision."""
    shares = marginal(scores.factors, (scores.target,), scores.network.sizes).table
    weighted = [weight * int(share) for weight, share in zip(scores.weights, shares, strict=True)]
    best = [c for c, score in enumerate(weighted) if score == max(weighted)]
    label = min(best, key=scores.ranks.__getitem__)
    leaves = np.zeros(len(weighted), np.int32)
    made = Ordered((), leaves, np.zeros(len(weighted) + 1, np.int64), np.zeros(0, np.int32), label)
    return _graph(scores, made, ["every input is an exact tie"] if len(best) > 1 else [])


class _Nodes(NamedTuple):
    """A graph in flat arrays, children first: tests or -1, labels or -1, where children start, and they."""

    tests: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    start: npt.NDArray[Any]
    child: npt.NDArray[Any]


def _reached(start: npt.NDArray[Any], child: npt.NDArray[Any], root: int) -> npt.NDArray[np.bool_]:
    """Which nodes the root reaches; parents come after their children."""
    reached = np.zeros(len(start) - 1, bool)
    reached[root] = True
    for node in range(root, -1, -1):
        if reached[node]:
            reached[child[start[node] : start[node + 1]]] = True
    return reached


def _sifted(made: Ordered, sizes: Sequence[int], limits: _Limits) -> Ordered:
    """The graph in an order that makes it smaller; as it is, where there is no more time for that."""
    counts = np.array([sizes[feature] for feature in made.order], np.int32)
    classes = int(np.count_nonzero(made.level == len(made.order)))
    left = limits.clock.left
    try:
        arrays, order = _kernel.sift(counts, classes, *made[1:], most_work=_MOST_SIFTING, timeout=left, memory=_MEMORY)
    except _kernel.OverBudget:
        return made
    return Ordered(tuple(made.order[place] for place in order), *arrays)


def _graph(scores: Scores, made: Ordered, found: Sequence[str]) -> DecisionGraph:
    """The decision graph, without the leaves that nothing leads to."""
    kept = _reached(made.start, made.child, made.root)
    counts, places = np.diff(made.start), np.arange(len(kept))
    tested = np.array([*(scores.features.index(feature) for feature in made.order), -1])
    nodes = _Nodes(
        tested[made.level[kept]],
        np.where(places < len(scores.weights), places, -1)[kept],
        np.concatenate([[0], np.cumsum(counts[kept])]),
        (np.cumsum(kept) - 1)[made.child[np.repeat(kept, counts)]],
    )
    network = scores.network
    notes = [*network.notes, _rule_in_words(scores)]
    tested_levels = set(made.level.tolist())
    names = [network.nodes[place].name for level, place in enumerate(made.order) if level in tested_levels]
    if names:
        notes.append(f"compiled into {counted(len(nodes.tests), 'node')}, in the order {listed(names, 100)}")
    notes.extend(found)
    variables = (network.nodes[place] for place in scores.features)
    return DecisionGraph(
        tuple(Variable.nominal(node.name, node.states) for node in variables),
        network.nodes[scores.target].states,
        nodes.tests.astype(np.int32),
        nodes.labels.astype(np.int32),
        *_edges(nodes),
        notes=tuple(notes),
    )


def _edges(nodes: _Nodes) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The edges of a decision graph: a node has one to each of its children, for all states that lead there."""
    owner = np.repeat(np.arange(len(nodes.tests)), np.diff(nodes.start))
    state = np.arange(len(nodes.child)) - nodes.start[owner]
    # Each pair of a node and a child is an edge, in the order of the first states that lead there.
    pairs = owner * len(nodes.tests) + nodes.child
    _, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
    by_edge = np.lexsort((state, first[pair]))
    edge, state = first[pair][by_edge], state[by_edge]
    is_first_of_edge = np.diff(edge, prepend=-1) > 0
    is_first_of_range = is_first_of_edge | (np.diff(state, prepend=-1) != 1)
    begins = np.flatnonzero(is_first_of_range)
    ends = np.append(begins, len(state))[1:] - 1
    edges_of_node = np.bincount(owner[edge[is_first_of_edge]], minlength=len(nodes.tests))
    return (
        np.concatenate([[0], np.cumsum(edges_of_node)]),
        nodes.child[edge[is_first_of_edge]].astype(np.int32),
        np.append(np.flatnonzero(is_first_of_edge[begins]), len(begins)),
        state[begins].astype(np.int32),
        state[ends].astype(np.int32),
    )


def _rule_in_words(scores: Scores) -> str:
    about = scores.network.nodes[scores.target]
    if len(set(scores.weights)) == 1 and scores.ranks == tuple(range(len(scores.ranks))):
        return (
            f"decides for the most probable state of {about.name}; of several, for the first of {listed(about.states)}"
        )
    positive = scores.ranks.index(0)
    threshold = scores.weights[1 - positive]
    state = about.states[positive]
    return f"decides {state} where P({about.name}={state} | features) is at least {_written(threshold)}"


def _written(number: Fraction) -> str:
    """A number as a decimal if it is a short one, as a fraction otherwise.

    >>> _written(Fraction("0.99999999")), _written(Fraction(1, 3)), _written(Fraction("0.5" + "0" * 40 + "1"))
    ('0.99999999', '1/3', 'about 0.5')
    """
    decimal, fraction = repr(float(number)), str(number)
    if Fraction(decimal) == number:
        return decimal
    return fraction if len(fraction) <= _LONGEST_WRITTEN else f"about {decimal}"


def _target(network: Network, target: Any) -> int:
    """The place of the variable that is decided about."""
    if target is None:
        raise Unsupported(
            f"target is None, but a network of {counted(len(network.nodes), 'variable')} can decide about any of them",
            cure="name one with target= or, on the command line, --option target=NAME",
        )
    if not isinstance(target, str) or target not in network.names:
        raise Unsupported(
            f"target is {shown(target)}, which is no variable of the network{did_you_mean(target, network.names)}",
            cure=f"name one of {listed(network.names)}",
        )
    place = network.place(target)
    if len(network.nodes[place].states) > MOST_CLASSES:
        raise Unsupported(
            f"the target {shown(target)} has {len(network.nodes[place].states)} states, more than {MOST_CLASSES}",
            cure="name a variable that has fewer",
        )
    if len(network.nodes[place].states) < 2:
        raise Unsupported(
            f"the target {shown(target)} has one state only, {shown(network.nodes[place].states[0])}",
            cure="name a variable that can be in several",
        )
    return place


def _features(network: Network, target: int, features: Any) -> Places:
    """The places of the features, in the order in which they are named; of the leaves in that of the file."""
    if features is None:
        leaves = tuple(network.place(name) for name in network.leaves if network.place(name) != target)
        if not leaves:
            raise Unsupported(
                f"features is None, but the network has no leaf beside the target {shown(network.names[target])}",
                cure="name the features" if len(network.nodes) > 1 else "decide about a network of several variables",
            )
        return leaves
    places = _places(network, features, "features")
    if target in places:
        name = network.names[target]
        raise Unsupported(f"features has {shown(name)}, which is the target", cure="leave it out")
    if not places:
        raise Unsupported("features is empty, so that nothing is known of an input", cure="name one or more variables")
    return places


def _given(network: Network, scores: Scores, order: Any) -> Places:
    """The order of the features that bear on the decision."""
    places = _places(network, order, "order")
    for place in places:
        if place not in scores.features:
            raise Unsupported(
                f"order has {shown(network.names[place])}, which is not among the features",
                cure="order the features only",
            )
    left_out = [network.names[place] for place in scores.features if place not in places]
    if left_out:
        raise Unsupported(
            f"order leaves out {listed(map(shown, left_out))}", cure="name every feature, or leave order out"
        )
    return tuple(place for place in places if place in scores.relevant)


def _places(network: Network, names: Any, option: str) -> Places:
    found: list[int] = []
    for name in several(names, option, "variables"):
        if not isinstance(name, str) or name not in network.names:
            raise Unsupported(
                f"{option} has {shown(name)}, which is no variable of the network{did_you_mean(name, network.names)}",
                cure=f"name some of {listed(network.names)}",
            )
        place = network.place(name)
        if place in found:
            raise Unsupported(f"{option} names {shown(name)} twice", cure="name it once")
        found.append(place)
    return tuple(found)


def _rule(network: Network, target: int, threshold: Any, positive: Any) -> tuple[tuple[Fraction, ...], tuple[int, ...]]:
    """The weight of each state of the target, and its rank among those that tie."""
    node = network.nodes[target]
    count = len(node.states)
    if positive is not None and (not isinstance(positive, str) or positive not in node.states):
        raise Unsupported(
            f"positive is {shown(positive)}, which is no state of {shown(node.name)}"
            f"{did_you_mean(positive, node.states)}",
            cure=f"give one of {listed(node.states)}",
        )
    if threshold is None:
        if positive is not None:
            raise Unsupported(
                f"positive is {shown(positive)}, but there is no threshold that its probability is compared with",
                cure="give a threshold too, such as threshold=0.5, or leave positive out",
            )
        return (Fraction(1),) * count, tuple(range(count))
    limit = _threshold(threshold)
    if count != 2:
        raise Unsupported(
            f"a threshold is given, but {shown(node.name)} has {count} states: {listed(node.states)}",
            cure="leave the threshold out: then the most probable state is decided for",
        )
    chosen = node.states.index(positive) if positive is not None else _affirmative(node.states)
    if chosen is None:
        if limit != Fraction(1, 2):
            raise Unsupported(
                f"threshold is {shown(threshold)}, but it is not said of which state of {shown(node.name)}",
                cure=f"give positive={node.states[1]!r} or positive={node.states[0]!r}",
            )
        chosen = 1
    return ((1 - limit, limit), (0, 1)) if chosen == 0 else ((limit, 1 - limit), (1, 0))


def _affirmative(states: tuple[str, ...]) -> int | None:
    """Which of two states says that something is so."""
    said = tuple(state.casefold() for state in states)
    return next((said.index(pair[0]) for pair in _AFFIRMATIVE if set(pair) == set(said)), None)


def _threshold(threshold: Any) -> Fraction:
    """A probability between 0 and 1, as the decimal that is written."""
    least = Fraction(LEAST)  # doubles must be able to hold it, and what it is away from 1
    try:
        if isinstance(threshold, bool) or not isinstance(threshold, (str, Real, Decimal)):
            raise ValueError
        limit = Fraction(threshold) if isinstance(threshold, Rational) else _decimal(str(threshold).strip())
    except (ValueError, ArithmeticError):
        limit = Fraction(0)
    if not least <= limit <= 1 - least:
        raise Unsupported(
            f"threshold is {shown(threshold)}", cure=f"give a probability from {LEAST:g} to 1 - {LEAST:g}, such as 0.5"
        )
    return limit


def _decimal(text: str) -> Fraction:
    """A decimal, or a fraction such as 1/3; 0 where it is one of millions of digits."""
    if "/" not in text and abs(Decimal(text).adjusted()) > _MOST_DIGITS:
        return Fraction(0)
    return Fraction(text)
