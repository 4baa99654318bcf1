"""The oracle of Bayesian networks itself: by hand, by laws, against another library; what the random networks have."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest

import network_oracle
import networks
from network_oracle import Table, Variable
from networks import OtherLibrary, random_case, random_net, read_bif

SEEDS = range(4)
EACH = 60
RAIN = {
    "wet": Variable(("dry", "wet"), ("rain", "hose"), (("1", "0"), ("0.1", "0.9"), ("0.2", "0.8"), ("0", "1"))),
    "rain": Variable(("no", "yes"), (), (("0.8", "0.2"),)),
    "hose": Variable(("off", "on"), ("rain",), (("0.5", "0.5"), ("0.999", "0"))),
}
"""Nobody hoses when it rains; that row sums up to 0.999, so it is 1 and 0."""


# ---- by hand ----------------------------------------------------------------------------------------------------


def test_scores_by_hand() -> None:
    found = network_oracle.scores(RAIN, "rain", ["wet"])
    # Dry: 0.8 · (0.5 · 1 + 0.5 · 0.1) and 0.2 · 0.2; wet: 0.8 · 0.5 · 0.9 and 0.2 · 0.8.
    assert found == {("dry",): (Fraction("0.44"), Fraction("0.04")), ("wet",): (Fraction("0.36"), Fraction("0.16"))}
    assert network_oracle.scores(RAIN, "wet", ["hose", "rain"]) == {
        ("off", "no"): (Fraction("0.4"), 0),
        ("off", "yes"): (Fraction("0.04"), Fraction("0.16")),
        ("on", "no"): (Fraction("0.04"), Fraction("0.36")),
        ("on", "yes"): (0, 0),
    }


def test_decisions_by_hand() -> None:
    assert network_oracle.greatest(RAIN, "rain", ["wet"]) == {("dry",): "no", ("wet",): "no"}
    assert network_oracle.greatest(RAIN, "wet", ["hose", "rain"])["on", "yes"] == "dry", "all tie, so the first"
    even = {"c": Variable(("b", "a"), (), (("0.5", "0.5"),)), "x": Variable(("u",), (), (("1",),))}
    assert network_oracle.greatest(even, "c", ["x"]) == {("u",): "b"}
    third = Fraction(4, 13)  # 0.16 / 0.52
    for threshold, decided in ((third, "yes"), (third + Fraction(1, 10**30), "no")):
        assert network_oracle.at_least(RAIN, "rain", ["wet"], threshold, "yes") == {("dry",): "no", ("wet",): decided}
    of_wet = network_oracle.at_least(RAIN, "wet", ["hose", "rain"], Fraction("0.99"), "wet")
    assert of_wet["on", "yes"] == "wet", "what is impossible is positive"
    assert network_oracle.at_least(RAIN, "rain", ["wet"], 1 - third, "no") == {("dry",): "no", ("wet",): "no"}


def test_defaults_by_hand() -> None:
    assert network_oracle.leaves(RAIN, "rain") == ["wet"]
    assert network_oracle.leaves(RAIN, "wet") == []
    pairs = [("no", "yes"), ("TRUE", "FALSE"), ("Absent", "Present"), ("1", "0"), ("a", "b"), ("yes", "no", "?")]
    assert [network_oracle.positive_of(pair) for pair in pairs] == ["yes", "TRUE", "Present", "1", None, None]


def test_asia(shared_data: Path) -> None:
    """The numbers of Lauritzen and Spiegelhalter's example, whose product rules are a few lines by hand."""
    net = read_bif(shared_data / "networks" / "asia.bif.gz")
    (of,) = network_oracle.scores(net, "either", []).values()
    tub, lung = Fraction("0.0104"), Fraction("0.055")
    assert of == (tub + lung - tub * lung, (1 - tub) * (1 - lung))
    (of,) = network_oracle.scores(net, "xray", []).values()
    either = tub + lung - tub * lung
    assert of[0] == Fraction("0.98") * either + Fraction("0.05") * (1 - either)
    found = network_oracle.scores(net, "tub", ["asia", "either"])
    assert found["yes", "no"] == (0, Fraction("0.01") * Fraction("0.95") * (1 - lung))
    assert found["yes", "yes"] == (Fraction("0.01") * Fraction("0.05"), Fraction("0.01") * Fraction("0.95") * lung)


# ---- laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_are_a_distribution(seed: int) -> None:
    """They sum up to 1; a feature less sums out; of the target's parents, its own table comes back."""
    rng = Random(seed)
    for _ in range(EACH):
        case = random_case(rng, joint=300)
        net, target, features = case.net, case.target, case.features
        found = network_oracle.scores(net, target, features)
        assert list(found) == list(product(*case.states.values()))
        assert sum(map(sum, found.values())) == 1 and min(map(min, found.values())) >= 0
        fewer = network_oracle.scores(net, target, features[1:])
        for e, of in fewer.items():
            several = [found[s, *e] for s in net[features[0]].states]
            assert tuple(map(sum, zip(*several, strict=True))) == of
        rows = network_oracle.conditional(net, target)
        for e, of in network_oracle.scores(net, target, net[target].parents).items():
            assert of == tuple(p * sum(of) for p in rows[e])


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_numbers_are_proportional_to_the_scores(seed: int) -> None:
    rng = Random(seed)
    for _ in range(EACH):
        case = random_case(rng, joint=300)
        asked = (case.net, case.target, case.features)
        found = network_oracle.proportional(*asked)
        whole = sum(map(sum, found.values()))
        exact = network_oracle.scores(*asked)
        assert {e: tuple(Fraction(p, whole) for p in of) for e, of in found.items()} == exact
        assert list(found) == list(exact)


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_against_another_library(seed: int) -> None:
    rng = Random(seed)
    compared = 0
    for _ in range(15):
        case = random_case(rng, joint=100)
        library = OtherLibrary(case.net, case.target)
        for e, of in network_oracle.scores(case.net, case.target, case.features).items():
            posterior = library.posterior(dict(zip(case.features, e, strict=True)))
            if sum(of) == 0:
                assert posterior is None
                continue
            assert posterior == pytest.approx([float(p / sum(of)) for p in of], abs=1e-9)
            compared += 1
    assert compared > 80


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_network_written_otherwise(seed: int) -> None:
    rng = Random(seed)
    for _ in range(EACH):
        case = random_case(rng, joint=200)
        asked = (case.target, case.features)
        found = network_oracle.scores(case.net, *asked)
        hidden = [x for x in case.net if x != case.target and x not in case.features]
        again = [networks.permuted(rng, case.net, keep=case.target), networks.with_barren(rng, case.net)]
        again += [networks.split(rng, case.net, rng.choice(hidden))] if hidden else []
        for net in again:
            assert network_oracle.scores(net, *asked) == found
        new, names, states = networks.renamed(rng, case)
        back = {tuple(states[x, s] for x, s in zip(case.features, e, strict=True)): of for e, of in found.items()}
        assert network_oracle.scores(new.net, new.target, new.features) == back
        assert [names[x] for x in case.features] == list(new.features)
        of_states = [states[case.target, c] for c in case.expected.values()]
        assert list(new.expected.values()) == of_states


# ---- reduced graphs ---------------------------------------------------------------------------------------------


def table_of(sizes: Sequence[int], decide: object) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """The table of a function of numbers, and its features' states."""
    states = {f"x{at}": tuple(map(str, range(size))) for at, size in enumerate(sizes)}
    assert callable(decide)
    return {e: str(decide(*map(int, e))) for e in product(*states.values())}, states


def test_sizes_by_hand() -> None:
    parity = table_of([2, 2, 2], lambda a, b, c: (a + b + c) % 2)
    assert network_oracle.levels_of(*parity, ["x2", "x0", "x1"]) == {"x2": 1, "x0": 2, "x1": 2}
    assert network_oracle.size_of(*parity, ["x0", "x1", "x2"]) == 7
    constant = table_of([2, 3], lambda a, b: 1)
    assert network_oracle.size_of(*constant, ["x1", "x0"]) == 1
    assert network_oracle.matters(*constant) == set()
    # x0 = x2 and x1 = x3: next to each other the two pairs take 6 tests and leaves, apart 8 and more (Bryant, 1986).
    pairs = table_of([2, 2, 2, 2], lambda a, b, c, d: a == c and b == d)
    assert network_oracle.size_of(*pairs, ["x0", "x2", "x1", "x3"]) == 8
    assert network_oracle.size_of(*pairs, ["x0", "x1", "x2", "x3"]) == 11
    of_one = table_of([1, 3, 2], lambda a, b, c: b)
    assert network_oracle.levels_of(*of_one, ["x2", "x0", "x1"]) == {"x2": 0, "x0": 0, "x1": 1}
    assert network_oracle.size_of(*of_one, ["x2", "x0", "x1"]) == 4
    assert network_oracle.matters(*of_one) == {"x1"}


@pytest.mark.parametrize("seed", SEEDS)
def test_sizes_against_merging_equal_nodes(seed: int) -> None:
    """The whole tree from below, where nodes that are alike are one and those that test nothing are none."""
    rng = Random(seed)
    for _ in range(EACH):
        sizes = [rng.choice((1, 2, 2, 3)) for _ in range(rng.randint(1, 5))]
        labels = {e: rng.choice("aaab") for e in product(*map(range, sizes))}
        table, states = table_of(sizes, lambda *e: labels[e])
        order = rng.sample(list(states), len(states))
        nodes: dict[object, int] = {}

        def below(e: dict[str, str]) -> int:
            if len(e) == len(order):
                key: object = table[tuple(e[x] for x in states)]
            else:
                x = order[len(e)]
                children = tuple(below({**e, x: s}) for s in states[x])
                if len(set(children)) == 1:
                    return children[0]
                key = (x, children)
            return nodes.setdefault(key, len(nodes))

        below({})
        assert network_oracle.size_of(table, states, order) == len(nodes)
        tested = {key[0] for key in nodes if isinstance(key, tuple)}
        assert tested == network_oracle.matters(table, states)


# ---- what the random networks have ------------------------------------------------------------------------------


def test_the_networks_have_what_is_hard() -> None:
    """Ties, thresholds that are met, what is impossible, rows that do not sum up to 1, every place of the target."""
    made = [random_case(Random(i)) for i in range(400)]
    tables = [network_oracle.scores(case.net, case.target, case.features) for case in made]
    classes = [len(set(case.expected.values())) for case in made]
    assert sum(count > 1 for count in classes) > 200 and sum(count > 2 for count in classes) > 4
    impossible = [any(not sum(of) for of in table.values()) for table in tables]
    assert 100 < sum(impossible) < 300
    ties = [
        case.threshold is None and any(sum(of) and of.count(max(of)) > 1 for of in table.values())
        for case, table in zip(made, tables, strict=True)
    ]
    assert sum(ties) > 30
    cut = [case for case in made if case.threshold is not None]
    assert len(cut) > 150 and {type(case.threshold) for case in cut} == {float, str, Fraction}
    met = [
        Fraction(str(case.threshold)) in networks.posteriors(case, case.positive or case.net[case.target].states[-1])
        for case in cut
    ]
    assert sum(met) > 60
    assert any(case.positive is None for case in cut) and any(case.positive is not None for case in cut)
    rows = [row for case in made for v in case.net.values() for row in v.rows]
    assert sum(sum(map(Fraction, row)) != 1 for row in rows) > 200
    assert sum(set(row) == {"0", "1"} for row in rows) > 300
    assert {len(case.net) for case in made} == set(range(2, 10))
    assert {len(v.states) for case in made for v in case.net.values()} == {1, 2, 3, 4}
    places = set()
    for case in made:
        is_parent = any(case.target in v.parents for v in case.net.values())
        places.add((bool(case.net[case.target].parents), is_parent))
    assert places == {(a, b) for a in (True, False) for b in (True, False)}
    assert any(
        list(case.net).index(p) > list(case.net).index(x)
        for case in made
        for x in case.net
        for p in case.net[x].parents
    )
    assert max(len(v.parents) for case in made for v in case.net.values()) == 4
    equal = [len({v.rows for v in case.net.values()}) < len(case.net) for case in made]
    assert sum(equal) > 100


def test_few_states_where_few_are_asked_for() -> None:
    for i in range(100):
        case = random_case(Random(i), variables=5, states=3, joint=40, most=2)
        assert len(case.features) <= 2 and len(case.net) <= 5
        assert len(network_oracle.instances(case.net, list(case.net))) <= 40
        assert random_net(Random(i)).keys() == random_net(Random(i)).keys()
