"""What a plain user would do to have a network as a graph: decide all inputs one by one, or all in one array.

- `pyagrum`: its junction tree, with one piece of evidence changed from an input to the next (Gray's order, so that the
  rest stays as it is), the features nearest to the target changed most often. Of its two kinds of propagation it is the
  one that is faster on the first inputs. Where there are too many inputs, the first of them are timed, and how long all
  would take is said to be estimated.
- `numpy`: the joint probability of the target and all features as one array, by variable elimination, then the truth
  table reduced from below, in the order of quia's graph.

Features that are not connected with the target are left out. Nothing but the work is in a timed loop; an alarm stops
it. Both take variables of two states only.
"""

from __future__ import annotations

import gzip
import math
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.alarm import TimeIsUp, limited
from benchmarks.networks_asked import Asked, connected, read
from benchmarks.networks_once import NEAR, THRESHOLD
from quia.errors import Unsupported

if TYPE_CHECKING:
    from quia.compile.network import Network
    from quia.graph import DecisionGraph

WHOLE = 14
"""With so many features or fewer all inputs are decided one by one."""
_TRIED = 8
_KINDS = ("LazyPropagation", "ShaferShenoyInference")
_SAMPLED = 12
_MOST_CELLS = 1 << 26
"""An array of more numbers than this is not made: 512 MiB, of which two or three are needed at a time."""
_WORD = 6
_STEP = 1 << 18

Table = npt.NDArray[np.float64]
Factor = tuple[tuple[int, ...], Table]
"""The places of its variables, ascending, and an axis for each of them."""
Answer = tuple[dict[str, Any], "npt.NDArray[Any] | None"]
"""What was measured; and of all inputs, the first feature the slowest: 1 or 0, or -1 for a tie or an impossible one."""


class _ImpossibleInput(Exception):
    """An input has the probability 0, and so no posterior."""


class Library:
    """A network as pyAgrum reads it, and its posterior of the target's last state; all times are one thread's."""

    def __init__(self, asked: Asked, features: Sequence[str], kind: str = "LazyPropagation") -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its bindings are of types that Python deprecates
            try:
                import pyagrum
            except ImportError:
                raise Unsupported("answers are compared with pyAgrum's", cure="pip install pyagrum") from None
        with TemporaryDirectory() as scratch:
            file = Path(scratch) / "network.bif"
            file.write_bytes(gzip.decompress(asked.file.read_bytes()))
            network = pyagrum.loadBN(str(file))
        self.features, self.target = list(features), asked.target
        self.last = network.variable(asked.target).domainSize() - 1
        self.impossible = pyagrum.IncompatibleEvidence
        self.inference = getattr(pyagrum, kind)(network)
        self.inference.setNumberOfThreads(1)
        self.inference.setTargets({asked.target})
        self.inference.setEvidence(dict.fromkeys(features, 0))

    def posterior(self, states: Sequence[int]) -> float:
        """The probability of the target's last state; NaN where the input is impossible."""
        for name, state in zip(self.features, states, strict=True):
            self.inference.chgEvidence(name, state)
        try:
            self.inference.makeInference()
            return float(self.inference.posterior(self.target)[self.last])
        except self.impossible:
            return math.nan

    def is_impossible(self, states: Sequence[int]) -> bool:
        """Whether an input has the probability 0; a posterior leaves out what does not bear on it, and may not tell."""
        return math.isnan(self.posterior(states)) or not self.inference.evidenceProbability() > 0

    def enumerated(self, features: int) -> Table:
        """Posteriors for all inputs of the first features, the others at 0; the first one changes most often."""
        found = np.empty(1 << features)
        try:
            self._enumerate(features, found)
        except self.impossible:
            raise _ImpossibleInput from None
        return found

    def _enumerate(self, features: int, found: Table) -> None:
        inference, names, target, last = self.inference, self.features, self.target, self.last
        inference.makeInference()
        found[0] = inference.posterior(target)[last]
        at, states = 0, [0] * features
        for number in range(1, 1 << features):
            bit = (number & -number).bit_length() - 1
            states[bit] ^= 1
            at ^= 1 << bit
            inference.chgEvidence(names[bit], states[bit])
            inference.makeInference()
            found[at] = inference.posterior(target)[last]


def by_pyagrum(asked: Asked, limit: float, whole: int, _graph: DecisionGraph | None) -> Answer:
    """All inputs one by one, up to so many features; of more, the first 4,096 are timed."""
    features = _of_two_states(read(asked.file), asked)
    try:
        kind = min(_KINDS, key=lambda kind: _seconds_tried(Library(asked, features, kind)))
        library = Library(asked, features, kind)
        library.enumerated(0)
        count = len(features) if len(features) <= whole else min(_SAMPLED, len(features))
        started = time.thread_time()
        with limited(limit):
            posteriors = library.enumerated(count)
        seconds = time.thread_time() - started
    except _ImpossibleInput:
        return {"fault": "an input is impossible"}, None
    except TimeIsUp:
        return {"fault": f"time ran out: {limit:g} seconds of CPU were not enough"}, None
    found = {"kind": kind, "inputs": 1 << count, "each": seconds / (1 << count)}
    found |= {"seconds": seconds * 2.0 ** (len(features) - count), "is_estimated": count < len(features)}
    if count < len(features):
        return found, None
    return found, decided(posteriors.reshape((2,) * count).transpose(*reversed(range(count))).reshape(-1))


def _seconds_tried(library: Library) -> float:
    """What the first inputs take, after what is made on first use is made."""
    library.enumerated(2)
    started = time.thread_time()
    library.enumerated(min(len(library.features), _TRIED))
    return time.thread_time() - started


def by_numpy(asked: Asked, limit: float, _: int, graph: DecisionGraph | None) -> Answer:
    """All inputs in one array, then reduced."""
    network = read(asked.file)
    names = _of_two_states(network, asked)
    by_graph = [] if graph is None else order_of(graph)
    features = [*by_graph, *(name for name in names if name not in by_graph)]
    places = [network.place(name) for name in features]
    target = network.place(asked.target)
    factors = factors_of(network, [target, *places])
    started = time.thread_time()
    try:
        with limited(limit):
            table = joint(factors, (target, *places))
            seconds_joint = time.thread_time() - started
            nodes = reduced_nodes((table[1] >= table[0]).reshape(-1))
    except (_TooMany, MemoryError) as fault:
        return {"fault": f"it does not fit: {str(fault) or 'memory ran out'}"}, None
    except TimeIsUp:
        return {"fault": f"time ran out: {limit:g} seconds of CPU were not enough"}, None
    found = {"seconds": time.thread_time() - started, "joint": seconds_joint, "nodes": nodes}
    whole = table[0] + table[1]
    whole[whole == 0] = np.nan  # an input that is impossible: no decision on it is wrong
    decisions = decided(table[1] / whole)
    back = [features.index(name) for name in names]
    return found, decisions.transpose(back).reshape(-1)


RIVALS: dict[str, Callable[[Asked, float, int, DecisionGraph | None], Answer]] = {
    "pyagrum": by_pyagrum,
    "numpy": by_numpy,
}


def decided(posteriors: Table) -> npt.NDArray[np.int8]:
    """1 where a posterior is at least the threshold, 0 where it is below, -1 where doubles cannot tell."""
    found = (posteriors >= THRESHOLD).astype(np.int8)
    found[~(np.abs(posteriors - THRESHOLD) >= NEAR)] = -1
    return found


def compared(graph: DecisionGraph, asked: Asked, decisions: npt.NDArray[Any]) -> dict[str, int]:
    """A rival's decisions on all inputs beside those of the graph."""
    names = connected(read(asked.file), asked)
    shifts = [len(names) - 1 - names.index(v.name) if v.name in names else 63 for v in graph.variables]  # 63: a 0
    differing = 0
    for begin in range(0, len(decisions), _STEP):
        numbers = np.arange(begin, min(begin + _STEP, len(decisions)))
        rows = np.stack([numbers >> shift & 1 for shift in shifts], axis=1).astype(np.int32)
        of = decisions[begin : begin + _STEP]
        differing += int(((np.asarray(graph.kernel.classify(rows)) != of) & (of >= 0)).sum())
    ties = int((decisions < 0).sum())
    return {"inputs": len(decisions), "compared": len(decisions) - ties, "ties": ties, "differing": differing}


def order_of(graph: DecisionGraph) -> list[str]:
    """An order in which every way through a graph tests its variables."""
    after: dict[int, set[int]] = {variable: set() for variable in graph.tested}
    for node, variable in enumerate(graph.tests.tolist()):
        if variable >= 0:
            begin, end = graph.edge_start[node : node + 2]
            after[variable] |= {int(v) for v in graph.tests[graph.child[begin:end]] if v >= 0}
    order: list[int] = []
    while len(order) < len(after):
        waiting = [v for v in after if v not in order]
        order.append(next(v for v in waiting if not any(v in after[other] for other in waiting)))
    return [graph.variables[variable].name for variable in order]


class _TooMany(Exception):
    """An array would be too large."""


def factors_of(network: Network, places: Sequence[int]) -> list[Factor]:
    """The tables of all variables that these descend from, in doubles."""
    made = []
    for place in sorted(network.ancestors(places)):
        node = network.nodes[place]
        scope = (*node.parents, place)
        made.append((tuple(sorted(scope)), node.table.astype(np.float64).transpose(np.argsort(scope))))
    return made


MOST_FEATURES = _MOST_CELLS.bit_length() - 2
"""With more features than this the joint probability is not made."""


def joint(factors: Sequence[Factor], kept: Sequence[int]) -> Table:
    """The product of factors over the variables that are kept, in their order; the others are summed out.

    The variable whose table becomes the smallest is summed out next.
    """
    waiting = list(factors)
    hidden = {v for scope, _ in waiting for v in scope} - set(kept)
    while hidden:
        unions = {v: set().union(*(scope for scope, _ in waiting if v in scope)) for v in hidden}
        place = min(hidden, key=lambda v: (len(unions[v]), v))
        met = [factor for factor in waiting if place in factor[0]]
        scope, table = _product(met)
        waiting = [factor for factor in waiting if place not in factor[0]]
        waiting.append((tuple(v for v in scope if v != place), table.sum(axis=scope.index(place))))
        hidden.discard(place)
    scope, table = _product(waiting)
    missing = [v for v in kept if v not in scope]
    assert not missing
    return np.ascontiguousarray(table.transpose([scope.index(v) for v in kept]))


def _product(factors: Sequence[Factor]) -> Factor:
    """The product of factors, small ones first."""
    scope: tuple[int, ...] = ()
    made = np.ones(())
    for other, table in sorted(factors, key=lambda factor: factor[1].size):
        union = tuple(sorted({*scope, *other}))
        if 1 << len(union) > _MOST_CELLS:
            raise _TooMany(f"an array over {len(union)} variables is needed")
        shape = [[2 if v in each else 1 for v in union] for each in (scope, other)]
        made = made.reshape(shape[0]) * table.reshape(shape[1])
        scope = union
    return scope, made


def reduced_nodes(table: npt.NDArray[np.bool_]) -> int:
    """How many nodes the reduced decision graph of a truth table has, with its leaves; the first variable is on top.

    The lowest six levels are reduced in words of 64 decisions, equal ones once.

    >>> reduced_nodes(np.array([0, 1, 1, 0], bool)), reduced_nodes(np.array([0, 0, 1, 1], bool))
    (5, 3)
    """
    leaves = int(table.any()) + int(not table.all())
    levels = table.size.bit_length() - 1
    low = min(levels, _WORD)
    rows = table.reshape(-1, 1 << low)
    above = None
    if low == _WORD:
        words, above = np.unique(np.packbits(rows, axis=1).view(np.uint64).reshape(-1), return_inverse=True)
        rows = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).astype(bool)
    ids, nodes = rows.reshape(-1).astype(np.int64), 2
    for _ in range(low):
        ids, nodes = _joined(ids, nodes)
    if above is not None:
        ids = ids[above.reshape(-1)]
        for _ in range(levels - low):
            ids, nodes = _joined(ids, nodes)
    return nodes - 2 + leaves


def _joined(ids: npt.NDArray[np.int64], nodes: int) -> tuple[npt.NDArray[np.int64], int]:
    """The nodes above pairs of nodes, and how many there are by now."""
    first, second = ids[0::2], ids[1::2]
    differ = first != second
    made, number = np.unique(first[differ] * nodes + second[differ], return_inverse=True)
    found = first.copy()
    found[differ] = nodes + number.reshape(-1)
    return found, nodes + len(made)


def _of_two_states(network: Network, asked: Asked) -> list[str]:
    features = connected(network, asked)
    wide = [name for name in (asked.target, *features) if network.sizes[network.place(name)] != 2]
    if wide:
        raise Unsupported(f"{wide[0]} has not two states", cure="choose a network whose variables have two")
    return features
