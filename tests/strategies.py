"""Random decision graphs in the JSON format (DESIGN §5), valid as they are made, and questions.

Each `random_…` takes a `random.Random`, for loops of thousands of cases; Hypothesis feeds the same
functions a generator that it can shrink, so smaller draws are made to give simpler graphs.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, product
from math import inf, nan, nextafter
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st

import oracle
from oracle import Cut

T = TypeVar("T")
Context = tuple[frozenset[int], ...]  # for each variable, its cells that a path leaves possible

NAMES = ("A", "b c", "x=1", "größe", "a<b", "<= 3", "missing", "☃", "0", "é", "e\u0301")
STATES = ("no", "yes", "so so", "x=y", "> 5", "ü", "missing", "1", "1.0", "(0, 1]", "é", "e\u0301")
CLASSES = ("c", "not c", "c=1", "ç", "0")
THRESHOLDS = (0.0, 1.0, 2.5, -3.0, 0.1, 1450.0, 0.1 + 0.2, -1e-9, 1e300, 2.0**53)


@dataclass(frozen=True)
class Variable:
    """A variable of a graph to be: nominal states, or cuts; its cells are numbered in order."""

    name: str
    states: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    missing: bool = False

    @property
    def cells(self) -> range:
        """Its states, as many as there may be."""
        return range(len(self.states) or len(self.cuts) + 1 + self.missing)

    def to_dict(self) -> dict[str, Any]:
        """It as the format has it; numeric states follow from the conditions."""
        if self.states:
            return {"kind": "nominal", "states": list(self.states)}
        return {"kind": "numeric"}


@dataclass(frozen=True)
class Case:
    """One question: why is this instance's class what it is (why not `against`)?"""

    graph: dict[str, Any]
    instance: dict[str, Any]
    against: str | None = None
    frozen: frozenset[str] = frozenset()
    costs: dict[str, float] | None = None


# Graphs


def random_graph(
    rng: Random,
    *,
    features: int = 5,
    states: int = 4,
    classes: int = 4,
    tests: int = 14,
    sharing: float = 0.4,
) -> dict[str, Any]:
    """A decision graph of at most so many features, states, classes and tests; a tree if sharing=0.

    Tests repeat in any order. Their edges part all states, or only those still possible at the
    node, or mention impossible ones as they like; some nodes are out of every instance's reach.
    """
    names = rng.sample(NAMES, _size(rng, 1, features))
    states = rng.randint(min(2, states), states)
    growing = _Growing(
        rng,
        variables=[random_variable(rng, name, states=states) for name in names],
        classes=rng.sample(CLASSES, _size(rng, 1, classes)),
        tests=rng.randint(0, tests),
        sharing=sharing,
    )
    return growing.graph()


def random_variable(rng: Random, name: str, *, states: int = 4) -> Variable:
    """A nominal variable, or a numeric one with cuts before, after or around a few thresholds."""
    if rng.random() < 0.5:
        return Variable(name, states=tuple(rng.sample(STATES, _size(rng, 1, states))))
    sides = [(t, after) for t in rng.sample(THRESHOLDS, 3) for after in (True, False)]
    missing = states > 1 and rng.random() > 0.7
    chosen = rng.sample(sides, _size(rng, 0, min(states - 1 - missing, len(sides))))
    return Variable(name, cuts=tuple(sorted(chosen)), missing=missing)


@dataclass
class _Growing:
    """A graph that grows test by test, in an order in which parents come before their children."""

    rng: Random
    variables: list[Variable]
    classes: list[str]
    tests: int
    sharing: float
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    contexts: list[set[Context]] = field(default_factory=list)  # in which each test is reached
    conditions: list[tuple[int, list[frozenset[int]], list[Any]]] = field(default_factory=list)

    def graph(self) -> dict[str, Any]:
        root = self.child(-1, {tuple(frozenset(v.cells) for v in self.variables)})
        for i in range(self.tests):
            if i < len(self.contexts):
                self.grow(i)
        self.bury()
        return {
            "quia": 1,
            "variables": {v.name: v.to_dict() for v in self.variables},
            "classes": self.classes,
            "root": root,
            "nodes": dict(_shuffled(self.rng, list(self.nodes.items()))),
        }

    def grow(self, i: int) -> None:
        """Give the i-th test its variable, its conditions and its children."""
        # Where no instance comes, an old test is repeated, so that it brings no cut of its own.
        test = self.test(i) if self.contexts[i] else self.rng.choice(self.conditions)
        self.conditions.append(test)
        x, cells, conditions = test
        edges = [
            {"if": condition, "to": self.child(i, _narrowed(self.contexts[i], x, part))}
            for part, condition in zip(cells, conditions, strict=True)
        ]
        edges = _shuffled(self.rng, edges)
        self.nodes[f"n{i}"] = {"test": self.variables[x].name, "edges": edges}

    def test(self, i: int) -> tuple[int, list[frozenset[int]], list[Any]]:
        """A variable and how its cells are parted: each possible one is in exactly one part."""
        every = range(len(self.variables))
        new = [x for x in every if all(c[x] >= set(self.variables[x].cells) for c in self.contexts[i])]
        x = self.rng.choice(new if new and self.rng.random() < 0.6 else every)
        variable = self.variables[x]
        possible = sorted(frozenset().union(*(context[x] for context in self.contexts[i])))
        impossible = sorted(set(variable.cells) - set(possible))
        styles = ("unrestricted", "restricted", "careless")
        style = self.rng.choice(styles if len(possible) > 1 else (*styles[:1] * 4, *styles))
        cells = _parted(self.rng, list(variable.cells) if style == "unrestricted" else possible)
        if style == "careless":
            cells = [part | {j for j in impossible if self.rng.random() > 0.6} for part in cells]
        return x, cells, [random_condition(self.rng, variable, part) for part in cells]

    def child(self, i: int, contexts: set[Context]) -> str:
        """A new test, an old one that is still to be grown, or a leaf."""
        waiting = i + 1 < len(self.contexts)
        if len(self.contexts) < self.tests and (not waiting or self.rng.random() > 0.4):
            self.contexts.append(contexts)
            return f"n{len(self.contexts) - 1}"
        if waiting and self.rng.random() < self.sharing:
            j = self.rng.randrange(i + 1, len(self.contexts))
            self.contexts[j] |= contexts
            return f"n{j}"
        k = 1 + 2 * (i + 1) * len(self.classes) // (self.tests + 1)
        return self.leaf(self.rng.choice(self.classes[:k]))

    def leaf(self, c: str) -> str:
        """A leaf of this class, maybe one that there is already."""
        same = [name for name, node in self.nodes.items() if node.get("class") == c]
        if same and self.rng.random() < self.sharing:
            return self.rng.choice(same)
        name = f"leaf {len(self.nodes)}"
        self.nodes[name] = {"class": c}
        return name

    def bury(self) -> None:
        """Add nodes that no edge of the others leads to."""
        for k in range(self.rng.choice((0, 0, 0, 1, 2))):
            node: dict[str, Any] = {"class": self.rng.choice(self.classes)}
            if self.conditions:
                x, _, conditions = self.rng.choice(self.conditions)
                to = [self.rng.choice(list(self.nodes)) for _ in conditions]
                edges = [{"if": c, "to": t} for c, t in zip(conditions, to, strict=True)]
                node = {"test": self.variables[x].name, "edges": edges}
            self.nodes[f"buried {k}"] = node


def _narrowed(contexts: set[Context], x: int, cells: frozenset[int]) -> set[Context]:
    """The contexts once the variable x is known to be in these cells."""
    return {(*c[:x], c[x] & cells, *c[x + 1 :]) for c in contexts if c[x] & cells}


def _parted(rng: Random, cells: Sequence[int]) -> list[frozenset[int]]:
    """Cells in two to four parts, as far as they go, runs of neighbours or not."""
    order = list(cells) if rng.random() < 0.6 else _shuffled(rng, cells)
    count = min(len(order), rng.choice((2, 2, 2, 3, 4)))
    bounds = [0, *sorted(rng.sample(range(1, len(order)), count - 1)), len(order)]
    return [frozenset(order[a:b]) for a, b in pairwise(bounds)]


def _size(rng: Random, low: int, high: int) -> int:
    """A number that is rather large than small."""
    return max(rng.randint(low, high), rng.randint(low, high))


def _shuffled(rng: Random, items: Sequence[T]) -> list[T]:
    return rng.sample(list(items), len(items))


def random_condition(rng: Random, variable: Variable, cells: frozenset[int]) -> str | list[str]:
    """A way to write cells: states; a comparison, an interval, "missing", or a list of these."""
    if variable.states:
        return [variable.states[j] for j in _shuffled(rng, sorted(cells))]
    numbers = [j for j in sorted(cells) if j <= len(variable.cuts)]
    runs: list[list[int]] = []
    for j in numbers:
        if runs and runs[-1][-1] == j - 1 and rng.random() < 0.8:
            runs[-1].append(j)
        else:
            runs.append([j])
    ends = [None, *variable.cuts, None]
    texts = [_range(rng, ends[run[0]], ends[run[-1] + 1]) for run in runs]
    texts += ["missing"] * (len(numbers) < len(cells))
    return texts[0] if len(texts) == 1 and rng.random() < 0.9 else _shuffled(rng, texts)


def _range(rng: Random, low: Cut | None, high: Cut | None) -> str:
    """What lies between two cuts, as a comparison where one is enough, or as an interval."""
    if low is None and high is not None and rng.random() < 0.7:
        return f"{'<=' if high[1] else '<'} {_number(rng, high[0])}"
    if high is None and low is not None and rng.random() < 0.7:
        return f"{'>' if low[1] else '>='} {_number(rng, low[0])}"
    left = "(-inf" if low is None else f"{'(' if low[1] else '['}{_number(rng, low[0])}"
    right = "inf)" if high is None else f"{_number(rng, high[0])}{']' if high[1] else ')'}"
    return f"{left}, {right}"


def _number(rng: Random, t: float) -> str:
    return str(int(t)) if t.is_integer() and abs(t) < 1e6 and rng.random() < 0.5 else repr(t)


def complete_tree(space: Mapping[str, Sequence[str]], decide: Callable[[dict[str, str]], Hashable]) -> dict[str, Any]:
    """The tree that tests every nominal variable of the space, in order, and then decides."""
    names = list(space)
    nodes: dict[str, Any] = {}
    for depth in range(len(names) + 1):
        for path in product(*(space[x] for x in names[:depth])):
            if depth < len(names):
                edges = [{"if": [s], "to": repr((*path, s))} for s in space[names[depth]]]
                nodes[repr(path)] = {"test": names[depth], "edges": edges}
            else:
                nodes[repr(path)] = {"class": str(decide(dict(zip(names, path, strict=True))))}
    return {
        "quia": 1,
        "variables": {x: {"kind": "nominal", "states": list(space[x])} for x in names},
        "classes": sorted({node["class"] for node in nodes.values() if "class" in node}),
        "root": "()",
        "nodes": nodes,
    }


def every_classifier(space: Mapping[str, Sequence[str]], classes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every function from a tiny space to classes, as a tree: |classes| to the power |worlds|."""
    every = list(product(*space.values()))
    for labels in product(classes, repeat=len(every)):
        table = dict(zip(every, labels, strict=True))
        yield complete_tree(space, partial(_looked_up, table))


def _looked_up(table: Mapping[tuple[str, ...], str], world: Mapping[str, str]) -> str:
    return table[tuple(world.values())]


# Questions about a graph


def random_instance(rng: Random, d: Mapping[str, Any]) -> dict[str, Any]:
    """A raw value for every feature: on the cuts, one ulp off, between, infinite, or missing."""
    return {feature: rng.choice(raw_values(d, feature)) for feature in d["variables"]}


def raw_values(d: Mapping[str, Any], feature: str) -> list[Any]:
    """The values worth trying: they cover every state, and both sides of every cut."""
    if d["variables"][feature]["kind"] == "nominal":
        return list(d["variables"][feature]["states"])
    thresholds = sorted({t for t, _ in oracle.cuts(d, feature)})
    values: list[Any] = [0, -inf, inf, *thresholds]
    values += [nextafter(t, side) for t in thresholds for side in (-inf, inf)]
    values += [a / 2 + b / 2 for a, b in pairwise(thresholds)]
    return values + [None, nan] * (None in oracle.domain(d, feature))


def random_neighbour(rng: Random, d: Mapping[str, Any], instance: Mapping[str, Any]) -> dict[str, Any]:
    """Another instance, which shares about half of the values, for congruence."""
    fresh = random_instance(rng, d)
    return {x: value if rng.random() < 0.5 else fresh[x] for x, value in instance.items()}


def random_against(rng: Random, d: Mapping[str, Any]) -> str | None:
    """None, or any class of the graph: the instance's own and one that no leaf has included."""
    classes: list[str] = d["classes"]
    return rng.choice([None, None, *classes])


def random_frozen(rng: Random, d: Mapping[str, Any]) -> frozenset[str]:
    """Some features, mostly few; protected features too are drawn so."""
    few = rng.choice((0.0, 0.0, 0.2, 0.5))
    return frozenset(x for x in d["variables"] if rng.random() < few)


def random_costs(rng: Random, d: Mapping[str, Any]) -> dict[str, float] | None:
    """None, or costs for some features, exact in binary, so that equal sums are equal."""
    some = {x: rng.choice((1, 2, 3, 0.5, 2.25)) for x in d["variables"] if rng.random() < 0.8}
    return rng.choice((None, some))


def random_case(rng: Random, **limits: Any) -> Case:
    """A graph with a question about it; the limits are those of `random_graph`."""
    d = random_graph(rng, **limits)
    return Case(
        d,
        random_instance(rng, d),
        random_against(rng, d),
        random_frozen(rng, d),
        random_costs(rng, d),
    )


# The same for Hypothesis


def drawn(draw: Callable[..., T], *args: Any, **limits: Any) -> st.SearchStrategy[T]:
    """A strategy for what a `random_…` function gives."""
    return st.randoms(use_true_random=False).map(lambda rng: draw(rng, *args, **limits))


def graphs(**limits: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Decision graphs, with the limits of `random_graph`."""
    return drawn(random_graph, **limits)


def trees(**limits: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Decision trees: no node has two parents."""
    return drawn(random_graph, sharing=0.0, **limits)


def instances(d: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Instances of a graph."""
    return drawn(random_instance, d)


def targets(d: Mapping[str, Any]) -> st.SearchStrategy[str | None]:
    """What to ask against: nothing, or any class."""
    return drawn(random_against, d)


def frozen_sets(d: Mapping[str, Any]) -> st.SearchStrategy[frozenset[str]]:
    """Sets of features."""
    return drawn(random_frozen, d)


def cost_tables(d: Mapping[str, Any]) -> st.SearchStrategy[dict[str, float] | None]:
    """Costs of some features, or none."""
    return drawn(random_costs, d)


def cases(**limits: Any) -> st.SearchStrategy[Case]:
    """Graphs with a question about each."""
    return drawn(random_case, **limits)
