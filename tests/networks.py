"""Random small Bayesian networks, full of ties, zeros and equal rows, and questions about them.

Each `random_…` takes a `random.Random`, as in `strategies.py`; a `Net` is the oracle's, which imports nothing of quia.
"""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

import network_oracle
from network_oracle import Instance, Net, Table, Variable
from quia import DecisionGraph
from quia.compile.network import Network, Node, table_of
from strategies import NAMES, STATES, drawn

PLAIN = 2000
"""So many worlds are enumerated in fractions."""
SHAPES = ("any", "any", "tree", "naive", "chain", "noisy or", "many parents", "forest")
STYLES = ("one", "one", *["few"] * 5, *["quarters"] * 3, "digits", "even", "almost", "almost", "tiny", "long")
PAIRS = (
    ("yes", "no"),
    ("no", "yes"),
    ("false", "true"),
    ("absent", "present"),
    ("1", "0"),
    ("0", "1"),
    ("True", "False"),
)
"""Pairs of states of which one is known to be the positive one."""


@dataclass(frozen=True)
class Case:
    """A network and how it is to be compiled; `expected` is the table that the oracle makes."""

    net: Net
    target: str
    features: tuple[str, ...]
    threshold: float | str | Fraction | None = None
    positive: str | None = None
    order: tuple[str, ...] | None = None

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """The states of the features."""
        return {x: self.net[x].states for x in self.features}

    @cached_property
    def expected(self) -> Table:
        """The class of every instance."""
        if self.threshold is None:
            return network_oracle.greatest(self.net, self.target, self.features, self.scores)
        known = network_oracle.positive_of(self.net[self.target].states)
        positive = self.positive or known or self.net[self.target].states[-1]
        threshold = Fraction(str(self.threshold))
        return network_oracle.at_least(self.net, self.target, self.features, threshold, positive, self.scores)

    def scores(self, *_: Any) -> Mapping[Instance, Sequence[Any]]:
        """What the oracle makes of it: the plainest way, unless there are too many worlds."""
        return self._scores

    @cached_property
    def _scores(self) -> Mapping[Instance, Sequence[Any]]:
        is_small = prod(len(v.states) for v in self.net.values()) <= PLAIN
        found = network_oracle.scores if is_small else network_oracle.proportional
        return found(self.net, self.target, self.features)

    def compiled(self, **changed: Any) -> DecisionGraph:
        """The graph that is made of it."""
        from quia.compile.classifier import network_as_graph

        asked = {
            "features": self.features,
            "threshold": self.threshold,
            "positive": self.positive,
            "order": self.order,
            **changed,
        }
        return network_as_graph(network_of(self.net), self.target, **asked)


def network_of(net: Net) -> Network:
    """The network as quia has it: what a reader makes of a file."""
    places = {x: place for place, x in enumerate(net)}
    return Network.of([_node(net, places, x) for x in net])


def _node(net: Net, places: Mapping[str, int], name: str) -> Node:
    variable = net[name]
    shape = [len(net[parent].states) for parent in variable.parents] + [len(variable.states)]
    entries = [Fraction(decimal) for row in variable.rows for decimal in row]
    return Node(name, variable.states, tuple(places[x] for x in variable.parents), table_of(entries, shape))


# Networks


def random_net(
    rng: Random, *, variables: int = 9, fewest: int = 2, states: int = 4, joint: int = 1500
) -> dict[str, Variable]:
    """A network of so many variables and states, and with at most so many worlds; one can be a target.

    Variables come in any order, children before parents too.
    """
    count = max(rng.randint(fewest, variables), rng.randint(fewest, variables))
    shape = rng.choice(SHAPES)
    names = rng.sample((*NAMES, *(f"v{at}" for at in range(len(NAMES), variables))), count)
    binary = shape == "noisy or" or rng.random() < 0.3
    sizes = [2 if binary else rng.choice((1, *range(2, states + 1), *range(2, states + 1))) for _ in names]
    sizes[rng.randrange(count)] = 2
    while prod(sizes) > joint:
        largest = sizes.index(max(sizes))
        sizes[largest] -= 1
    labels = {x: random_labels(rng, size) for x, size in zip(names, sizes, strict=True)}
    one_pool = rng.random() < 0.3  # so that tables of different variables are equal
    how = {"even": rng.random() < 0.4, "positive": rng.random() < 0.4}
    pools = {size: random_pool(rng, size, **how) for size in sorted(set(sizes))}
    net = {}
    for at, x in enumerate(names):
        parents = random_parents(rng, shape, names[:at], count)
        choices = list(product(*(labels[parent] for parent in parents)))
        if shape == "noisy or" and all(len(labels[y]) == 2 for y in (x, *parents)):
            rows = noisy_or(rng, len(parents))
        else:
            size = len(labels[x])
            pool = pools[size] if one_pool else random_pool(rng, size, **how)
            rows = [even_row(size)] if how["even"] and not parents else _rows(rng, pool, len(choices))
        net[x] = Variable(labels[x], tuple(parents), tuple(rows))
    return {x: net[x] for x in rng.sample(names, count)}


def random_labels(rng: Random, count: int) -> tuple[str, ...]:
    """The states of a variable; of two, often a known pair."""
    return rng.choice(PAIRS) if count == 2 and rng.random() < 0.5 else tuple(rng.sample(STATES, count))


def random_parents(rng: Random, shape: str, before: Sequence[str], count: int) -> list[str]:
    """The parents of the next variable, of those before it."""
    if not before:
        return []
    if shape == "naive":
        return [before[0]]
    if shape == "chain":
        return [before[-1]]
    if shape == "tree":
        return [rng.choice(before)]
    if shape == "forest":
        return [rng.choice(before)] if rng.random() < 0.6 else []
    if shape == "noisy or":
        causes = before[: max(1, count // 2)]
        return rng.sample(causes, rng.randint(1, min(3, len(causes)))) if len(before) >= max(1, count // 2) else []
    most = 4 if shape == "many parents" and rng.random() < 0.4 else 2
    return rng.sample(before, rng.randint(0, min(most, len(before))))


def random_pool(rng: Random, size: int, *, even: bool = False, positive: bool = False) -> list[tuple[str, ...]]:
    """A few rows, which a table repeats; if even, one row and its mirror image; if positive, without zeros."""
    rows = [random_row(rng, size) for _ in range(1 if even else rng.choice((1, 2, 2, 3, 5)))]
    if positive:
        rows = [even_row(size) if "0" in row else row for row in rows]
    rows += [row[::-1] for row in rows if even or rng.random() < 0.3]
    return rows + [nudged(rng, row) for row in rows if rng.random() < 0.15]


def nudged(rng: Random, row: tuple[str, ...]) -> tuple[str, ...]:
    """A row that in doubles is the same."""
    less, more = rng.choice([at for at, p in enumerate(row) if p != "0"]), rng.randrange(len(row))
    exact = [Fraction(p) for p in row]
    exact[less] -= exact[less] / 10**20
    exact[more] += exact[more] / 10**20
    return tuple(decimal(p) for p in exact)


def even_row(size: int) -> tuple[str, ...]:
    """The same decimal for every state; of three they do not sum up to 1.

    >>> even_row(3)
    ('0.333', '0.333', '0.333')
    """
    return (decimal(Fraction(1000 // size, 1000)),) * size


def _rows(rng: Random, pool: Sequence[tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    first = list(pool[:count])  # where there is room, so that few tables are constant
    return rng.sample(first + [rng.choice(pool) for _ in range(count - len(first))], count)


def random_row(rng: Random, size: int) -> tuple[str, ...]:
    """Probabilities as decimals: zeros and ones, few digits or many, equal ones, tiny ones, sums that are almost 1."""
    style = rng.choice(STYLES)
    if style == "even":
        return even_row(size)
    of = {"one": 1, "few": 10, "long": 10, "quarters": 4}.get(style, 1000)
    units: list[int | Fraction] = [*_units(rng, of, size)]
    if style == "almost":
        units[rng.randrange(size)] += rng.choice((-1, 1, 2))
        units = list(map(abs, units))
    if style == "tiny" and size > 1:
        rare = rng.choice(("1e-6", "1e-09", "1e-20"))
        return tuple(rng.sample((decimal(1 - Fraction(rare)), rare, *["0"] * (size - 2)), size))
    if style == "long" and size > 1:  # next to a row of few digits, and in doubles the same
        units[0], units[-1] = units[0] + Fraction(1, 10**18), units[-1] - Fraction(1, 10**18)
        units = list(map(abs, units))
    return tuple(decimal(Fraction(unit) / of) for unit in units)


def _units(rng: Random, total: int, size: int) -> list[int]:
    """So many units among so many states, zeros included."""
    ends = sorted(rng.randint(0, total) for _ in range(size - 1))
    return [b - a for a, b in zip([0, *ends], [*ends, total], strict=True)]


def decimal(exact: Fraction) -> str:
    """A fraction whose decimals end, as one writes it.

    >>> decimal(Fraction(1, 8)), decimal(Fraction(0)), decimal(Fraction(999_999_999, 10**9))
    ('0.125', '0', '0.999999999')
    """
    digits = 0
    while (exact * 10**digits).denominator > 1:
        digits += 1
    whole, rest = divmod(int(exact * 10**digits), 10**digits)
    return f"{whole}.{rest:0{digits}}" if digits else str(whole)


def noisy_or(rng: Random, causes: int) -> list[tuple[str, ...]]:
    """P(no), P(yes) of a variable that each present cause fails to bring about with a probability of its own.

    The first state is the absent one, of all variables.
    """
    if not causes:
        return [random_row(rng, 2)]
    leak = Fraction(rng.choice(("1", "1", "0.9", "0.99")))
    fails = [Fraction(rng.choice(("0", "0.1", "0.5", "0.5", "0.8"))) for _ in range(causes)]
    absent = [
        leak * prod((fail for fail, present in zip(fails, given, strict=True) if present), start=Fraction(1))
        for given in product((0, 1), repeat=causes)
    ]
    return [(decimal(p), decimal(1 - p)) for p in absent]


# Questions


def random_case(rng: Random, *, most: int | None = None, hidden: int | None = None, **limits: Any) -> Case:
    """A network with a target anywhere in it, features, perhaps a threshold, perhaps an order.

    There are at most so many features, or all but at most so many variables are.
    """
    net = random_net(rng, **limits)
    targets = [x for x, variable in net.items() if len(variable.states) > 1]
    two = [x for x in targets if len(net[x].states) == 2]
    tied = {parent for v in net.values() for parent in v.parents} | {x for x, v in net.items() if v.parents}
    target = rng.choice(two if rng.random() < 0.5 else targets)
    if target not in tied and rng.random() < 0.8:  # seldom an isolated one
        target = rng.choice([x for x in targets if x in tied] or targets)
    others = [x for x in net if x != target]
    count = min(len(others), most or len(others))
    least = 1 if hidden is None else max(1, len(others) - hidden)
    features = tuple(rng.sample(others, max(rng.randint(least, count), rng.randint(least, count))))
    case = Case(net, target, features)
    if rng.random() < 0.6:
        case = replace(case, order=tuple(rng.sample(features, len(features))))
    return with_threshold(rng, case) if len(net[target].states) == 2 and rng.random() < 0.6 else case


def random_long_case(rng: Random, *, fewest: int = 10, most: int = 13) -> Case:
    """A class with many features that bear on it, most of them alike: a few pairs of rows, mirrored and hardly changed.

    Some have a hidden cause too, or a chain of these between them and the class, or the feature before as a parent; or
    they are what is seen of a hidden process, step by step.
    """
    count, classes = rng.randint(fewest, most), rng.choice((2, 2, 3))
    row = random_row if rng.random() < 0.3 else positive_row
    shape = rng.choice(("naive", "naive", "augmented", "mixture", "chain", "process", "process", "process"))
    net = {"c": Variable(rng.choice(PAIRS) if classes == 2 else ("a", "b", "d"), (), (positive_row(rng, classes),))}
    hidden = [f"h{at}" for at in range({"mixture": 2, "chain": 2, "process": count}.get(shape, 0))]
    for at, x in enumerate(hidden):
        before = ("c", *hidden[:at])[-1:] if shape != "mixture" else ()
        same = net[hidden[at - 1]].rows if at > 1 and rng.random() < 0.8 else ()
        size = rng.choice((2, 3)) if not at else len(net[hidden[0]].states)
        rows = same or tuple(row(rng, size) for _ in range(prod(len(net[y].states) for y in before)))
        net[x] = Variable(("u", "v", "w")[:size], before, rows)
    pools: dict[int, list[tuple[tuple[str, ...], ...]]] = {}
    for at in range(count):
        parents = ("c",)
        if shape == "process":
            parents = (hidden[at],)
        elif shape == "chain":
            parents = (rng.choice((*hidden, *hidden, "c")),)
        elif shape == "mixture":
            parents = ("c", rng.choice(hidden))
        elif shape == "augmented" and at > 0:
            parents = ("c", f"x{at - 1}")
        choices = prod(len(net[y].states) for y in parents)
        if choices not in pools:
            pools[choices] = _tables(rng, choices, row)
        net[f"x{at}"] = Variable(("no", "yes"), parents, rng.choice(pools[choices]))
    order = [f"x{at}" for at in range(count)]
    if shape != "process" or rng.random() < 0.2:
        rng.shuffle(order)
    if rng.random() < 0.4:  # states that doubles do not tell apart, mostly told first
        hardly = [("0.3", "0.3", "0.4")] * classes
        for at in range(classes):
            hardly[at] = nudged(rng, hardly[at]) if rng.random() < 0.5 else hardly[at]
        net["hardly"] = Variable(("r", "s", "t"), ("c",), tuple(hardly))
        order.insert(rng.choice((0, 0, 0, 1, 3)), "hardly")
    if rng.random() < 0.4:  # what repeats another feature, or never is so: much is impossible early
        often = rng.choice(((("1", "0"), ("0", "1")), (("1", "0"), ("0.5", "0.5")), (("1", "0"), ("1", "0"))))
        net["again"] = Variable(("no", "yes"), (rng.choice(order[:3]),), often)
        if len(net[net["again"].parents[0]].states) == 3:
            net["again"] = replace(net["again"], rows=(*often, often[0]))
        order.insert(rng.choice((0, 1, 2, 3)), "again")
    if shape == "process":  # so that the oracle can sum out each step once it is over
        net = {x: net[x] for x in ("c", *sorted(set(net) - {"c"}, key=lambda x: (len(x), x[1:], x)))}
    features = tuple(rng.sample(order, len(order)))
    case = Case(net, "c", features, order=tuple(order) if rng.random() < 0.8 else None)
    return with_threshold(rng, case) if classes == 2 and rng.random() < 0.7 else case


def _tables(
    rng: Random, choices: int, row: Callable[[Random, int], tuple[str, ...]]
) -> list[tuple[tuple[str, ...], ...]]:
    tables = [tuple(row(rng, 2) for _ in range(choices)) for _ in range(rng.choice((1, 2, 3)))]
    tables += [tuple(row[::-1] for row in table) for table in tables if rng.random() < 0.7]
    return tables + [tuple(nudged(rng, row) for row in table) for table in tables if rng.random() < 0.3]


def positive_row(rng: Random, size: int) -> tuple[str, ...]:
    """Probabilities, seldom with a zero."""
    made = [random_row(rng, size) for _ in range(6)]
    return next((row for row in made if "0" not in row), made[-1])


def with_threshold(rng: Random, case: Case) -> Case:
    """The case with a threshold, which mostly is a probability that occurs, or next to one."""
    states = case.net[case.target].states
    known = network_oracle.positive_of(states)
    positive = rng.choice(states)
    said = positive if known != positive or rng.random() < 0.5 else None
    occurring = posteriors(case, positive)
    exact = Fraction(rng.choice(("0.5", "0.1", "0.95", "0.01", "1e-6", "0.999999")))
    if len(occurring) > 8 and rng.random() < 0.8:  # not one of the outer ones
        occurring = occurring[len(occurring) // 4 : -len(occurring) // 4]
    if occurring and rng.random() < 0.8:
        near = Fraction(1, 10 ** rng.choice((12, 16, 18, 40)))
        exact = rng.choice(occurring) + rng.choice((0, 0, 0, near, -near))
    if not 0 < exact < 1:
        exact = Fraction(1, 2)
    if exact == Fraction(1, 2) and said is not None and said == states[-1] and known is None and rng.random() < 0.3:
        said = None  # the last one counts
    return replace(case, threshold=spelled(rng, exact), positive=said)


def posteriors(case: Case, positive: str) -> list[Fraction]:
    """The probabilities of a class that occur, but for 0 and 1."""
    at = case.net[case.target].states.index(positive)
    found = set(map(tuple, case.scores().values()))
    return sorted({Fraction(of[at]) / sum(of) for of in found if 0 < of[at] < sum(of)})


def spelled(rng: Random, exact: Fraction) -> float | str | Fraction:
    """A threshold as a float or as text, where its decimals end, or as a fraction."""
    forms: list[float | str | Fraction] = [exact]
    rest = exact.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if rest == 1:
        forms.append(decimal(exact))
        if Fraction(repr(float(exact))) == exact:
            forms += [float(exact)] * 2
    return rng.choice(forms)


def cases(**limits: Any) -> st.SearchStrategy[Case]:
    """Networks with a question about each."""
    return drawn(random_case, **limits)


# The same network, written otherwise


def renamed(rng: Random, case: Case) -> tuple[Case, dict[str, str], dict[tuple[str, str], str]]:
    """The case with other names, the new names, and the new states, of which no two are a known pair."""
    names = {x: f"variable {at}" for at, x in enumerate(rng.sample(list(case.net), len(case.net)))}
    states = {(x, s): f"state {at}" for x in case.net for at, s in enumerate(case.net[x].states)}
    net = {
        names[x]: Variable(tuple(states[x, s] for s in v.states), tuple(names[p] for p in v.parents), v.rows)
        for x, v in case.net.items()
    }
    positive = case.positive
    if case.threshold is not None and positive is None:
        of = case.net[case.target].states
        positive = network_oracle.positive_of(of) or of[-1]
    new = Case(
        net,
        names[case.target],
        tuple(names[x] for x in case.features),
        case.threshold,
        None if positive is None else states[case.target, positive],
        None if case.order is None else tuple(names[x] for x in case.order),
    )
    return new, names, states


def permuted(rng: Random, net: Net, *, keep: str) -> dict[str, Variable]:
    """The network with its variables, each variable's parents and states in another order; one keeps its states'."""
    states = {x: v.states if x == keep else tuple(rng.sample(v.states, len(v.states))) for x, v in net.items()}
    new = {}
    for x in rng.sample(list(net), len(net)):
        parents = tuple(rng.sample(net[x].parents, len(net[x].parents)))
        rows = dict(zip(product(*(net[p].states for p in net[x].parents)), net[x].rows, strict=True))
        given = [dict(zip(parents, choice, strict=True)) for choice in product(*(states[p] for p in parents))]
        by_state = [
            dict(zip(net[x].states, rows[tuple(choice[p] for p in net[x].parents)], strict=True)) for choice in given
        ]
        new[x] = Variable(states[x], parents, tuple(tuple(row[s] for s in states[x]) for row in by_state))
    return new


def with_barren(rng: Random, net: Net) -> dict[str, Variable]:
    """The network with one more variable, which is no parent, and so changes nothing where it is no feature."""
    parents = tuple(rng.sample(list(net), rng.randint(1, min(3, len(net)))))
    count = prod(len(net[p].states) for p in parents)
    barren = Variable(("u", "v", "w"), parents, tuple(random_row(rng, 3) for _ in range(count)))
    new = {**net, "barren": barren}
    return {x: new[x] for x in rng.sample(list(new), len(new))}


def split(rng: Random, net: Net, name: str) -> dict[str, Variable]:
    """The network with a state of one variable in two, each half as probable, which nothing else tells apart."""
    states = net[name].states
    at = rng.randrange(len(states))

    def halves(row: tuple[str, ...]) -> tuple[str, ...]:
        half = decimal(Fraction(row[at]) / 2)
        return (*row[:at], half, half, *row[at + 1 :])

    new = dict(net)
    new[name] = replace(
        net[name],
        states=(*states[: at + 1], "the other half", *states[at + 1 :]),
        rows=tuple(map(halves, net[name].rows)),
    )
    for x, v in net.items():
        if name in v.parents:
            rows = dict(zip(product(*(net[p].states for p in v.parents)), v.rows, strict=True))
            place = v.parents.index(name)
            as_before = ((states[at],) if s == "the other half" else (s,) for s in new[name].states)
            pools = [new[p].states for p in v.parents]
            given = product(*pools[:place], as_before, *pools[place + 1 :])
            new[x] = replace(v, rows=tuple(rows[(*e[:place], *e[place], *e[place + 1 :])] for e in given))
    return new


# Networks of files, and another library


def read_bif(path: Path) -> Net:
    """A network in BIF, by a few patterns that do for the files of repositories."""
    text = gzip.decompress(path.read_bytes()).decode()
    variables = re.findall(r"variable\s+(\S+)\s*\{[^{]*\{([^}]*)\}", text)
    states = {x: tuple(s.strip() for s in listed.split(",")) for x, listed in variables}
    net = {}
    for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{(.*?)\n\}", text, re.DOTALL):
        name, *parents = head.replace("|", " ").replace(",", " ").split()
        rows = {}
        for given, row in re.findall(r"(?:\(([^)]*)\)|table)\s+([^;()]*);", body):
            rows[tuple(s.strip() for s in given.split(",")) if parents else ()] = tuple(
                p.strip() for p in row.split(",")
            )
        choices = product(*(states[p] for p in parents))
        net[name] = Variable(states[name], tuple(parents), tuple(rows[e] for e in choices))
    return {x: net[x] for x in states}


class OtherLibrary:
    """Posteriors of a network by pyAgrum, in floats; its tables are the quotients that the oracle has."""

    def __init__(self, net: Net, target: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # its bindings are of types that Python deprecates, and an error there ends the process
            self.library = pytest.importorskip("pyagrum")
        self.net, self.target = net, target
        made = self.library.BayesNet()
        for x, v in net.items():
            made.add(self.library.LabelizedVariable(x, "", list(v.states)))
        for x, v in net.items():
            for parent in v.parents:
                made.addArc(parent, x)
            for given, row in network_oracle.conditional(net, x).items():
                states = {p: net[p].states.index(s) for p, s in zip(v.parents, given, strict=True)}
                made.cpt(x)[states] = [float(p) for p in row]
        self.inference = self.library.LazyPropagation(made)
        self.inference.addTarget(target)

    def posterior(self, instance: Mapping[str, str]) -> list[float] | None:
        """P(c | e) for every class; None where e is impossible."""
        self.inference.setEvidence({x: self.net[x].states.index(s) for x, s in instance.items()})
        try:
            self.inference.makeInference()
            # A variable of one state may stay in it as an axis of length 1.
            found = [float(p) for p in self.inference.posterior(self.target).toarray().ravel()]
            # It leaves out what does not bear on the target, and so may miss that this is impossible.
            return found if self.inference.evidenceProbability() > 0 else None
        except self.library.IncompatibleEvidence:
            return None
