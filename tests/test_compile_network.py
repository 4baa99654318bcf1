"""Bayesian-network classifiers as decision graphs: against brute force, by hand and by laws; what is refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import networks
from attack_networks import FEW, SMALL, check_answers, check_case, check_graph
from network_oracle import Net, Variable
from networks import Case, network_of, random_case, random_long_case
from quia import DecisionGraph
from quia.compile import classifier, moves
from quia.compile import order as orders
from quia.compile.chain import Chain, Scores, TooMuchWork
from quia.compile.classifier import network_as_graph
from quia.compile.cuts import Cuts, as_bits
from quia.errors import QuiaError, TooLarge
from quia.patience import Clock

SEEDS = range(6)
EACH = 40
"""Random networks for each seed; for a longer attack run attack_networks.py."""

# A sprinkler: nobody hoses when it rains. The file has children before parents.
RAIN = {
    "wet": Variable(("dry", "wet"), ("rain", "hose"), (("1", "0"), ("0.1", "0.9"), ("0.2", "0.8"), ("0", "1"))),
    "rain": Variable(("no", "yes"), ("season",), (("0.8", "0.2"), ("0.5", "0.5"))),
    "hose": Variable(("off", "on"), ("rain",), (("0.5", "0.5"), ("0.999", "0"))),
    "slippery": Variable(("low", "high"), ("wet",), (("0.9", "0.1"), ("0.1", "0.9"))),
    "season": Variable(("summer", "winter"), (), (("0.5", "0.5"),)),
    "moon": Variable(("new", "half", "full"), (), (("0.333", "0.333", "0.333"),)),
    "earth": Variable(("there",), (), (("1",),)),
}


def compiled(net: Net, target: str, **asked: Any) -> DecisionGraph:
    return network_as_graph(network_of(net), target, **asked)


def children(
    *rows: tuple[tuple[str, ...], ...], prior: tuple[str, ...], classes: tuple[str, ...]
) -> dict[str, Variable]:
    """A naive Bayes network: a class `c` and for each child `x0`, `x1` … its rows."""
    net = {"c": Variable(classes, (), (prior,))}
    for at, of in enumerate(rows):
        net[f"x{at}"] = Variable(tuple(str(s) for s in range(len(of[0]))), ("c",), of)
    return net


# ---- random networks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_random_networks(seed: int) -> None:
    """Every instance is decided by the definition, ties and impossible ones too; the graph is the smallest one."""
    rng = Random(seed)
    for _ in range(EACH):
        check_case(random_case(rng, **SMALL))


@pytest.mark.parametrize("seed", SEEDS)
def test_many_features(seed: int) -> None:
    """So many that most of a graph is made by recognising messages, and not by going through all that is left."""
    rng = Random(600 + seed)
    for _ in range(EACH // 2):
        check_case(random_long_case(rng, most=12))


@pytest.mark.parametrize("seed", SEEDS)
def test_long_ways_between_features(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if networks were large: orders are made better, and hidden variables are summed out one by one."""
    rng = Random(700 + seed)
    monkeypatch.setattr(orders, "_FEW", 0)
    monkeypatch.setattr(orders, "_MANY", 0)
    monkeypatch.setattr(moves, "_SMALL", 1)
    for _ in range(EACH // 2):
        monkeypatch.setattr(moves, "_CHEAP", rng.choice((1, 8, 64)))
        check_case(random_case(rng, **SMALL))


@pytest.mark.parametrize("seed", SEEDS)
def test_orders_with_shorter_messages(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every graph took long: all are begun anew, along an order that was shaken."""
    rng = Random(800 + seed)
    shaken = []

    def watched(*given: Any) -> Any:
        shaken.append(orders.shortened(*given))
        return shaken[-1]

    monkeypatch.setattr(classifier, "_FIRST_WORK", 0)
    monkeypatch.setattr(classifier, "shortened", watched)
    monkeypatch.setattr(orders, "_SHORT", 1)
    monkeypatch.setattr(orders, "_MOST_CUTS", 300)
    for _ in range(EACH // 2):
        check_case(random_case(rng, **SMALL))
    assert shaken


def test_shaking_finds_shorter_messages() -> None:
    """Two rows of hidden variables, side by side, whose leaves are named by turns: row by row messages are short."""
    rng = Random(3)
    net = {"c": Variable(("no", "yes"), (), (("0.5", "0.5"),))}
    for row in "ab":
        for at in range(6):
            parents = ("c",) if at == 0 else (f"{row}{at - 1}",)
            net[f"{row}{at}"] = Variable(("0", "1", "2"), parents, tuple(thirds(rng) for _ in range(3 if at else 2)))
    for at in range(6):
        for row in "ab":
            net[f"x{row}{at}"] = Variable(("0", "1"), (f"{row}{at}",), tuple(decimals(rng) for _ in range(3)))
    network = network_of(net)
    features = tuple(network.place(name) for name in network.leaves)
    scores = Scores(network, network.place("c"), features, (Fraction(1), Fraction(1)), (0, 1))
    cuts = scores.cuts(1)
    before = [cuts.width(as_bits(features[: at + 1])) for at in range(len(features))]
    assert max(before) == 9
    found = orders.shortened(scores, features, cuts, Clock(None))
    assert found is not None
    order, cuts = found
    assert sorted(order) == sorted(features)
    assert max(cuts.width(as_bits(order[: at + 1])) for at in range(len(order))) == 3
    assert orders.is_short(order, cuts) and not orders.is_short(features, cuts)


def test_cuts_are_the_least_ones() -> None:
    """By trying all sets: nothing cheaper keeps the observed features apart, and of those as cheap none is nearer."""
    rng = Random(4)
    for _ in range(150):
        sizes = [rng.choice((2, 2, 3, 4)) for _ in range(7)]
        scopes = [rng.sample(range(7), rng.randint(1, 3)) for _ in range(rng.randint(3, 8))]
        variables = sorted({place for scope in scopes for place in scope})
        features = rng.sample(variables, rng.randint(1, len(variables)))
        observed = set(features[: rng.randint(0, len(features))])
        cut = Cuts(scopes, sizes, features).after(as_bits(observed))
        if observed == set(features):
            assert (cut.left, cut.separator) == (set(variables), set())
            continue
        best = None
        for bits in range(1 << len(variables)):
            separator = {place for at, place in enumerate(variables) if bits >> at & 1}
            left = reached(observed, separator, scopes)
            if not (set(features) - observed) & (left - separator) and separator <= left:
                states = prod(sizes[place] for place in separator)
                best = min(best or (states, len(left)), (states, len(left)))
                if cut.separator == separator:
                    assert cut.left == left
        assert best == (prod(sizes[place] for place in cut.separator), len(cut.left))


def reached(observed: set[int], separator: set[int], scopes: list[list[int]]) -> set[int]:
    """All that can be gone to from what is observed, up to the separator and into it."""
    found, waiting = set(observed), [place for place in observed if place not in separator]
    while waiting:
        place = waiting.pop()
        beside = {other for scope in scopes if place in scope for other in scope} - found
        found |= beside
        waiting.extend(beside - separator)
    return found


def test_how_much_is_computed_is_bounded() -> None:
    case = random_long_case(Random(2), most=12)
    network = network_of(case.net)
    features = tuple(network.place(name) for name in case.features)
    ones = (Fraction(1),) * len(case.net[case.target].states)
    scores = Scores(network, network.place(case.target), features, ones, tuple(range(len(ones))))
    order, cuts = orders.arranged(scores, Clock(None))
    chain = Chain(scores, order, cuts, Clock(None))
    with pytest.raises(TooMuchWork):
        chain.compiled(nodes=10**6, memory=1 << 30, work=1)
    whole, bounded = (chain.compiled(nodes=10**6, memory=1 << 30, work=work) for work in (None, 10**12))
    assert all(np.array_equal(a, b) for a, b in zip(whole, bounded, strict=True))


@settings(max_examples=60)
@given(networks.cases(variables=6, states=3, joint=200))
def test_drawn_networks(case: Case) -> None:
    """The same; what fails is made smaller."""
    check_case(case)


@pytest.mark.parametrize("seed", SEEDS)
def test_reasons(seed: int) -> None:
    """Sufficient, necessary and general reasons, changes and `escape` are those of the brute-force classifier."""
    rng = Random(100 + seed)
    for _ in range(EACH // 2):
        case = random_case(rng, **FEW)
        check_answers(case, case.compiled(), rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_compiled_the_same_again(seed: int) -> None:
    rng = Random(200 + seed)
    for _ in range(EACH // 4):
        case = random_case(rng, **SMALL)
        assert case.compiled() == case.compiled()


# ---- laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_network_written_otherwise(seed: int) -> None:
    """Other orders of variables, parents and states, a barren variable, a hidden state in two: the same decisions."""
    rng = Random(300 + seed)
    for _ in range(EACH // 2):
        case = random_case(rng, joint=300)
        expected = case.expected
        hidden = [x for x in case.net if x != case.target and x not in case.features]
        again = [networks.permuted(rng, case.net, keep=case.target), networks.with_barren(rng, case.net)]
        again += [networks.split(rng, case.net, rng.choice(hidden))] if hidden else []
        for net in again:
            other = replace(case, net=net)
            check_graph(other.compiled(), other, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_other_names(seed: int) -> None:
    """Names mean nothing, but for those of the positive state: where that is given, the graph has the same nodes."""
    rng = Random(400 + seed)
    for _ in range(EACH // 2):
        case = random_case(rng, joint=300)
        new, names, states = networks.renamed(rng, case)
        graph, other = case.compiled(), new.compiled()
        assert [names[v.name] for v in graph.variables] == [v.name for v in other.variables]
        for e, c in case.expected.items():
            instance = {names[x]: states[x, s] for x, s in zip(case.features, e, strict=True)}
            assert other.classify(instance) == states[case.target, c], case
        if case.order is not None:
            assert len(graph) == len(other)
            assert graph.sizes == other.sizes


@pytest.mark.parametrize("seed", SEEDS)
def test_features_in_another_order_are_other_columns(seed: int) -> None:
    rng = Random(500 + seed)
    for _ in range(EACH // 4):
        case = random_case(rng, joint=300)
        mixed = tuple(rng.sample(case.features, len(case.features)))
        other = replace(case, features=mixed)
        check_graph(other.compiled(features=list(mixed)), other)


# ---- by hand ----------------------------------------------------------------------------------------------------


def test_the_class_of_the_greatest_score() -> None:
    # In an even season P(yes) = 0.35. Dry: 0.65 · 0.55 against 0.35 · 0.2; wet: 0.65 · 0.45 against 0.35 · 0.8.
    graph = compiled(RAIN, "rain", features=["wet"])
    assert graph.classes == ("no", "yes")
    assert [graph.classify({"wet": s}) for s in ("dry", "wet")] == ["no", "no"]
    graph = compiled(RAIN, "rain", features=["wet", "season"])
    # In winter: 0.5 · 0.45 against 0.5 · 0.8.
    assert graph.classify({"wet": "wet", "season": "winter"}) == "yes"
    assert graph.classify({"wet": "dry", "season": "winter"}) == "no"
    assert graph.classify({"wet": "wet", "season": "summer"}) == "no"


def test_rows_are_divided_by_their_sums() -> None:
    """0.999 and 0 are 1 and 0: else 0.4 would be more than 0.3996, and the tie no tie."""
    net = {
        "c": Variable(("no", "yes"), (), (("0.5", "0.5"),)),
        "x": Variable(("a", "b"), ("c",), (("0.333", "0.666"), ("0.334", "0.668"))),
    }
    for threshold, expected in (("0.5", "yes"), (Fraction(1, 2) + Fraction(1, 10**40), "no")):
        graph = compiled(net, "c", threshold=threshold)
        assert {graph.classify({"x": s}) for s in "ab"} == {expected}
        assert len(graph) == 1


def test_of_ties_the_first_state_wins() -> None:
    rows = (("0.3", "0.7"), ("0.3", "0.7"), ("0.3", "0.7"))
    graph = compiled(children(rows, prior=("0.2", "0.4", "0.4"), classes=("c", "b", "a")), "c")
    assert [graph.classify({"x0": s}) for s in "01"] == ["b", "b"]
    # 0.2 · 0.3 = 0.06, 0.4 · 0.15 = 0.06, 0.4 · 0.15: all three tie.
    rows = (("0.3", "0.7"), ("0.15", "0.85"), ("0.15", "0.85"))
    graph = compiled(children(rows, prior=("0.2", "0.4", "0.4"), classes=("c", "b", "a")), "c")
    assert [graph.classify({"x0": s}) for s in "01"] == ["c", "b"]


def test_what_is_impossible() -> None:
    """All scores are 0: the first state, and with a threshold the positive one."""
    impossible = {"rain": "yes", "hose": "on"}
    possible = {"rain": "no", "hose": "off"}
    asked = {"features": ["rain", "hose"]}
    assert compiled(RAIN, "wet", **asked).classify(impossible) == "dry"
    net = {**RAIN, "wet": replace(RAIN["wet"], states=("wet", "dry"), rows=tuple(r[::-1] for r in RAIN["wet"].rows))}
    assert compiled(net, "wet", **asked).classify(impossible) == "wet"
    for positive, threshold in product(("dry", "wet"), ("0.01", "0.99")):
        graph = compiled(RAIN, "wet", positive=positive, threshold=threshold, **asked)
        assert graph.classify(impossible) == positive
        assert graph.classify(possible) == "dry"


def test_what_can_matter_and_what_cannot() -> None:
    """Features are where they like: before and after the target, apart from it, behind others, of one state."""
    features = ["earth", "moon", "season", "rain", "hose", "slippery"]
    graph = compiled(RAIN, "wet", features=features)
    assert [v.name for v in graph.variables] == features
    assert [v.labels for v in graph.variables] == [RAIN[x].states for x in features]
    tested = {graph.variables[v].name for v in graph.tested}
    assert tested == {"rain", "hose", "slippery"}, "the season is behind the rain"
    graph = compiled(RAIN, "moon", features=["earth", "rain", "wet"])
    assert len(graph) == 1 and graph.classify({}) == "new"
    assert compiled(RAIN, "season", features=["earth"]).classify({}) == "summer"


def test_the_leaves_are_the_features_by_default() -> None:
    assert [v.name for v in compiled(RAIN, "rain").variables] == ["slippery", "moon", "earth"]
    assert [v.name for v in compiled(RAIN, "slippery").variables] == ["moon", "earth"]
    assert [v.name for v in compiled(RAIN, "moon").variables] == ["slippery", "earth"]


def pairs() -> Case:
    """Whether x0 = x2 and x1 = x3 (Bryant, 1986), by hidden variables."""
    net = {f"x{at}": Variable(("0", "1"), (), (("0.5", "0.5"),)) for at in range(4)}
    equal = (("0", "1"), ("1", "0"), ("1", "0"), ("0", "1"))
    net["first"] = Variable(("no", "yes"), ("x0", "x2"), equal)
    net["second"] = Variable(("no", "yes"), ("x1", "x3"), equal)
    net["both"] = Variable(("no", "yes"), ("first", "second"), (("1", "0"), ("1", "0"), ("1", "0"), ("0", "1")))
    return Case(net, "both", ("x0", "x1", "x2", "x3"))


@pytest.mark.parametrize(
    ("order", "size"), [("x0 x1 x2 x3", 11), ("x3 x0 x1 x2", 11), ("x0 x2 x1 x3", 8), ("x3 x1 x2 x0", 8)]
)
def test_the_order_that_is_given(order: str, size: int) -> None:
    """It is kept, whatever it costs."""
    case = replace(pairs(), order=tuple(order.split()))
    graph = check_case(case)
    assert len(graph) == size
    assert graph.variables[graph.nodes[-1][0]].name == order.split()[0]


def test_a_good_order_is_found() -> None:
    assert len(check_case(pairs())) == 8


def test_what_becomes_impossible_later() -> None:
    """After x0 = b no is ruled out, and by `last` yes as well: then all tie, and no is the first."""
    net = {
        "c": Variable(("no", "yes"), (), (("0.1", "0.9"),)),
        "h": Variable(("u", "v"), ("c",), (("0.5", "0.5"), ("0.5", "0.5"))),
        "x0": Variable(("a", "b"), ("c", "h"), (("1", "0"), ("1", "0"), ("0.5", "0.5"), ("1", "0"))),
        "last": Variable(("s", "t"), ("h",), (("1", "0"), ("0.5", "0.5"))),
    }
    between = [f"y{at}" for at in range(12)]
    net |= {y: Variable(("0", "1"), ("h",), (("0.4", "0.6"), ("0.5", "0.5"))) for y in between}
    order = ("x0", *between, "last")
    graph = check_case(Case(net, "c", order, order=order))
    assert len(graph) == 4
    check_case(Case(net, "c", order, order=order, threshold="0.2"))
    check_case(Case(net, "c", order, order=order, threshold="0.2", positive="no"))


def shifted(decimal: str, by: Fraction) -> str:
    return networks.decimal(Fraction(decimal) + by)


@pytest.mark.parametrize("digits", [15, 17, 20, 50])
@pytest.mark.parametrize("count", [2, 12])
def test_states_that_doubles_do_not_tell_apart(digits: int, count: int) -> None:
    """Of x0 the state 1 speaks for yes, but by less than doubles tell; where the others tie, that decides."""
    little = Fraction(1, 10**digits)
    votes = [(("0.3", "0.7"), ("0.7", "0.3"))] * count
    hardly = (("0.3", "0.3", "0.4"), ("0.3", shifted("0.3", little), shifted("0.4", -little)))
    net = children(hardly, *votes, prior=("0.5", "0.5"), classes=("no", "yes"))
    features = tuple(f"x{at}" for at in range(count + 1))
    tie = {x: str(at % 2) for at, x in enumerate(features[1:])}
    for order in (features, features[::-1], (*features[1:3], "x0", *features[3:])):
        graph = check_case(Case(net, "c", features, order=order))
        assert [graph.classify({"x0": s, **tie}) for s in "012"] == ["no", "yes", "no"]
        check_case(Case(net, "c", features, order=order, threshold="0.5"))
        check_case(Case(net, "c", features, order=order, threshold="0.5", positive="no"))


# ---- thresholds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.1, "0.1", "1e-1", Fraction(1, 10), np.float64(0.1), ".10"])
def test_a_threshold_is_the_decimal_that_is_written(threshold: Any) -> None:
    """0.1 in binary is more than 1/10, which the probability is."""
    net = children((("0.5", "0.5"), ("0.5", "0.5")), prior=("0.9", "0.1"), classes=("no", "yes"))
    assert compiled(net, "c", threshold=threshold).classify({}) == "yes"


def test_thresholds_next_to_a_probability() -> None:
    net = children((("0.2", "0.8"), ("0.7", "0.3")), prior=("0.6", "0.4"), classes=("no", "yes"))
    exact = Fraction("0.28") / Fraction("0.40")  # of x0 = 0: 0.4 · 0.7 of that and 0.6 · 0.2
    for digits in (3, 12, 17, 60):
        near = Fraction(1, 10**digits)
        found = [compiled(net, "c", threshold=t).classify({"x0": "0"}) for t in (exact - near, exact, exact + near)]
        assert found == ["yes", "yes", "no"]
        # The other way round, where ties are negative: P(no) ≥ 1 - t.
        found = [
            compiled(net, "c", threshold=1 - t, positive="no").classify({"x0": "0"})
            for t in (exact - near, exact, exact + near)
        ]
        assert found == ["yes", "no", "no"]


@pytest.mark.parametrize("near", [Fraction(1, 10**279), Fraction(1, 10**16), Fraction(1, 3)])
def test_thresholds_near_to_certainty(near: Fraction) -> None:
    """What is impossible or certain stays so, however little would be enough."""
    net = children(
        (("1", "0"), ("0.4", "0.6")), (("0.2", "0.8"), ("1", "0")), prior=("0.3", "0.7"), classes=("yes", "no")
    )
    for threshold in (near, 1 - near):
        check_case(Case(net, "c", ("x0", "x1"), threshold=threshold))
        check_case(Case(net, "c", ("x0", "x1"), threshold=threshold, positive="no"))


def test_a_half_is_not_quite_the_greatest_score() -> None:
    """In a tie the positive state wins, not the first one."""
    net = children((("0.5", "0.5"), ("0.5", "0.5")), prior=("0.5", "0.5"), classes=("no", "yes"))
    assert compiled(net, "c").classify({}) == "no"
    assert compiled(net, "c", threshold=0.5).classify({}) == "yes"
    assert compiled(net, "c", threshold=0.5, positive="no").classify({}) == "no"


@pytest.mark.parametrize(
    ("states", "positive"),
    [
        (("yes", "no"), "yes"),
        (("no", "yes"), "yes"),
        (("true", "false"), "true"),
        (("False", "True"), "True"),
        (("present", "absent"), "present"),
        (("absent", "present"), "present"),
        (("negative", "Positive"), "Positive"),
        (("ABNORMAL", "NORMAL"), "ABNORMAL"),
        (("Off", "On"), "On"),
        (("Y", "N"), "Y"),
        (("F", "T"), "T"),
        (("1", "0"), "1"),
        (("0", "1"), "1"),
    ],
)
def test_the_affirmative_state_is_positive(states: tuple[str, str], positive: str) -> None:
    net = children((("0.5", "0.5"), ("0.5", "0.5")), prior=("0.5", "0.5"), classes=states)
    (negative,) = set(states) - {positive}
    assert compiled(net, "c", threshold=0.4).classify({}) == positive
    assert compiled(net, "c", threshold=0.5).classify({}) == positive
    assert compiled(net, "c", threshold=0.6).classify({}) == negative
    assert compiled(net, "c", threshold=0.6, positive=negative).classify({}) == positive


def test_of_other_states_the_last_is_positive_but_only_for_a_half() -> None:
    net = children((("0.5", "0.5"), ("0.5", "0.5")), prior=("0.5", "0.5"), classes=("good", "bad"))
    for half in (0.5, "0.5", Fraction(1, 2), "0.50"):
        assert compiled(net, "c", threshold=half).classify({}) == "bad"
    with pytest.raises(QuiaError) as fault:
        compiled(net, "c", threshold=0.4)
    one_sentence(fault.value, "positive", "good", "bad")
    assert compiled(net, "c", threshold=0.4, positive="good").classify({}) == "good"
    assert compiled(net, "c", threshold=0.6, positive="good").classify({}) == "bad"


# ---- many features ----------------------------------------------------------------------------------------------


def test_a_vote_of_forty() -> None:
    """The first class while at most half of them speak against it: a count, of which the graph has t · (n - t + 1)."""
    rows = (("0.7", "0.3"), ("0.3", "0.7"))
    net = children(*[rows] * 40, prior=("0.5", "0.5"), classes=("for", "against"))
    graph = compiled(net, "c")
    assert len(graph) == 21 * 20 + 2
    rng = Random(0)
    for against in range(41):
        votes = rng.sample(["1"] * against + ["0"] * (40 - against), 40)
        instance = {f"x{at}": vote for at, vote in enumerate(votes)}
        assert graph.classify(instance) == ("for" if against <= 20 else "against"), "20 of 40 tie, exactly"


def test_a_chain_of_copies() -> None:
    """What is hidden passes everything on: only the last of a hundred variables tells."""
    net = {"x0": Variable(("no", "yes"), (), (("0.5", "0.5"),))}
    for at in range(1, 100):
        net[f"x{at}"] = Variable(("no", "yes"), (f"x{at - 1}",), (("0", "1"), ("1", "0")))
    graph = compiled(net, "x0")
    assert [v.name for v in graph.variables] == ["x99"]
    assert [graph.classify({"x99": s}) for s in ("no", "yes")] == ["yes", "no"]
    noisy = {
        x: replace(v, rows=tuple(("0.51", "0.49") if r[0] == "1" else ("0.49", "0.51") for r in v.rows))
        if v.parents
        else v
        for x, v in net.items()
    }
    graph = compiled(noisy, "x0")
    assert [graph.classify({"x99": s}) for s in ("no", "yes")] == ["yes", "no"], "by 0.02 to the 99th"


def test_underflow() -> None:
    """Scores of 10 to the -900th are compared as all others are."""
    rows = (("1e-9", "0.999999999"), ("2e-9", "0.999999998"))
    net = children(*[rows] * 100, prior=("0.5", "0.5"), classes=("less", "more"))
    graph = compiled(net, "c", features=["x7", "x50"])
    assert graph.classify({"x7": "0", "x50": "0"}) == "more"
    everything = compiled(net, "c", order=[f"x{at}" for at in range(100)])
    assert everything.classify({f"x{at}": "0" for at in range(100)}) == "more"
    assert everything.classify({f"x{at}": "1" for at in range(100)}) == "less"


def test_probabilities_that_are_far_apart() -> None:
    """Doubles lose numbers below 1e-308: then it is decided exactly, or refused."""
    rng = Random(700)
    refused = compared = 0
    for _ in range(40):
        net = {"c": Variable(("no", "yes"), (), (("0.5", "0.5"),))}
        net["h"] = Variable(("u", "v", "w"), ("c",), tuple(far_apart(rng, 3) for _ in range(2)))
        rows = [tuple(far_apart(rng, 2) for _ in range(6)) for _ in range(4)]
        net |= {f"x{at}": Variable(("0", "1"), ("c", "h"), rng.choice(rows)) for at in range(11)}
        features = tuple(x for x in net if x not in ("c", "h"))
        case = Case(net, "c", features, threshold=rng.choice((None, "0.5")), order=tuple(rng.sample(features, 11)))
        try:
            check_case(case)
            compared += 1
        except TooLarge as fault:
            one_sentence(fault, "far apart", "1e-280")
            refused += 1
    assert compared > 10 and refused > 10, (compared, refused)


def far_apart(rng: Random, size: int) -> tuple[str, ...]:
    """Probabilities of which some are tiny, or 0."""
    rare = [rng.choice(("0", "1e-5", "2e-24", "3e-27", "1e-40")) for _ in range(size - 1)]
    return tuple(rng.sample((*rare, networks.decimal(1 - sum(map(Fraction, rare)))), size))


# ---- what is refused --------------------------------------------------------------------------------------------


def one_sentence(fault: Exception, *words: str) -> None:
    message = str(fault)
    assert all(word in message for word in words), message
    assert "\n" not in message and ". " not in message and len(message) < 400, message


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"target": "rian"}, ["'rian'", "did you mean 'rain'?"]),
        ({"target": "Berlin"}, ["'Berlin'"]),
        ({"target": 3}, ["3"]),
        ({"target": None}, ["None"]),
        ({"target": ["rain"]}, ["['rain']"]),
        ({"target": "earth"}, ["'earth'", "there"]),
        ({"target": "slippery", "features": None, "net": ["wet", "rain", "hose", "season", "slippery"]}, ["features"]),
        ({"features": []}, ["features"]),
        ({"features": "wet"}, ["features", "'wet'"]),
        ({"features": 7}, ["features", "7"]),
        ({"features": ["wet", "rain"]}, ["'rain'", "target"]),
        ({"features": ["wet", "wte"]}, ["'wte'", "did you mean 'wet'?"]),
        ({"features": ["wet", 5]}, ["5"]),
        ({"features": ["wet", ["moon"]]}, ["['moon']"]),
        ({"features": ["wet", "moon", "wet"]}, ["'wet'"]),
        ({"threshold": 0}, ["threshold", "0"]),
        ({"threshold": 1}, ["threshold", "1"]),
        ({"threshold": "1.0"}, ["threshold", "1.0"]),
        ({"threshold": -0.25}, ["threshold", "-0.25"]),
        ({"threshold": 1.5}, ["threshold", "1.5"]),
        ({"threshold": "half"}, ["threshold", "'half'"]),
        ({"threshold": ""}, ["threshold", "''"]),
        ({"threshold": float("nan")}, ["threshold", "nan"]),
        ({"threshold": float("inf")}, ["threshold", "inf"]),
        ({"threshold": True}, ["threshold", "True"]),
        ({"threshold": "1e-99999999999"}, ["threshold", "'1e-99999999999'"]),
        ({"threshold": "1e99999999999"}, ["threshold", "'1e99999999999'"]),
        ({"threshold": Decimal("1e-400")}, ["threshold", "1E-400", "from 1e-280 to"]),
        ({"threshold": "1e-281"}, ["threshold", "'1e-281'"]),
        ({"threshold": 1 - Fraction(1, 10**281)}, ["threshold"]),
        ({"threshold": "1/0"}, ["threshold", "'1/0'"]),
        ({"threshold": [0.5]}, ["threshold", "[0.5]"]),
        ({"threshold": 0.5, "target": "moon", "features": ["wet"]}, ["threshold", "new, half, full"]),
        ({"threshold": 0.4, "target": "wet", "features": ["rain"]}, ["positive", "dry", "wet"]),
        ({"positive": "yes"}, ["positive", "'yes'", "threshold"]),
        ({"threshold": 0.5, "positive": "ye"}, ["positive", "'ye'", "did you mean 'yes'?"]),
        ({"threshold": 0.5, "positive": 1}, ["positive", "1"]),
        ({"threshold": 0.5, "positive": ["yes"]}, ["positive", "['yes']"]),
        ({"order": ["wet"], "features": ["wet", "moon"]}, ["order", "'moon'"]),
        ({"order": ["wet", "moon", "wet"], "features": ["wet", "moon"]}, ["order", "'wet'"]),
        ({"order": ["wet", "mon"], "features": ["wet", "moon"]}, ["order", "'mon'"]),
        ({"order": ["wet", "moon", "season"], "features": ["wet", "moon"]}, ["order", "'season'"]),
        ({"order": ["wet", 5], "features": ["wet", "moon"]}, ["order", "5"]),
        ({"order": "wet", "features": ["wet"]}, ["order", "'wet'"]),
        ({"order": 3}, ["order", "3"]),
        ({"nodes": -1}, ["nodes", "-1"]),
        ({"nodes": "many"}, ["nodes", "'many'"]),
        ({"timeout": -1}, ["timeout", "-1"]),
        ({"timeout": "long"}, ["timeout", "'long'"]),
    ],
    ids=repr,
)
def test_arguments_of_the_wrong_kind(asked: dict[str, Any], words: list[str]) -> None:
    """Each fault has a sentence, with the value and the cure."""
    asked = {"target": "rain", **asked}
    net = {x: RAIN[x] for x in asked.pop("net", RAIN)}
    with pytest.raises(QuiaError) as fault:
        compiled(net, asked.pop("target"), **asked)
    one_sentence(fault.value, *words)


def test_a_target_of_too_many_states() -> None:
    states = tuple(map(str, range(1001)))
    net = {"c": Variable(states, (), (("1", *["0"] * 1000),)), "x": Variable(("a", "b"), (), (("0.5", "0.5"),))}
    with pytest.raises(QuiaError) as fault:
        compiled(net, "c")
    one_sentence(fault.value, "'c'", "1001", "1000")


def test_a_constant_has_no_order() -> None:
    graph = compiled(RAIN, "slippery", features=["moon"])
    assert len(graph) == 1
    assert not any("compiled into" in note for note in graph.notes)
    # Here there is a feature that could matter, but does not.
    net = children((("0.5", "0.5"), ("0.4", "0.6")), prior=("0.9", "0.1"), classes=("a", "b"))
    graph = compiled(net, "c")
    assert len(graph) == 1
    assert not any("compiled into" in note for note in graph.notes)


def test_features_and_order_may_be_any_lists() -> None:
    expected = compiled(RAIN, "rain", features=["wet", "season"], order=["season", "wet"])
    for kind in (tuple, iter, lambda names: dict.fromkeys(names).keys(), np.array):
        found = compiled(RAIN, "rain", features=kind(["wet", "season"]), order=kind(["season", "wet"]))
        assert found == expected


# ---- limits -----------------------------------------------------------------------------------------------------


def wide() -> dict[str, Variable]:
    """Sixty features, each with odds of its own: no two sums of their logarithms are equal, and most matter."""
    rng = Random(5)
    odds = [(decimals(rng), decimals(rng)) for _ in range(60)]
    return children(*odds, prior=("0.5", "0.5"), classes=("no", "yes"))


def thirds(rng: Random) -> tuple[str, str, str]:
    first, second = rng.randint(1000, 4000), rng.randint(1000, 4000)
    parts = (first, second, 10_000 - first - second)
    a, b, c = (networks.decimal(Fraction(part, 10_000)) for part in parts)
    return a, b, c


def decimals(rng: Random) -> tuple[str, str]:
    p = rng.randint(2000, 8000)
    return networks.decimal(Fraction(p, 10_000)), networks.decimal(1 - Fraction(p, 10_000))


@pytest.mark.parametrize("order", [None, [f"x{at}" for at in range(60)]], ids=["searched", "given"])
def test_a_graph_that_grows_too_large(order: list[str] | None) -> None:
    votes = children(*[(("0.7", "0.3"), ("0.3", "0.7"))] * 40, prior=("0.5", "0.5"), classes=("for", "against"))
    with pytest.raises(TooLarge):
        compiled(votes, "c", nodes=421)
    with pytest.raises(TooLarge) as fault:
        compiled(wide(), "c", nodes=1000, order=order)
    assert fault.value.limit == 1000
    one_sentence(fault.value, "1000" if "1000" in str(fault.value) else "1,000", "features")


@pytest.mark.parametrize("order", [None, [f"x{at}" for at in range(60)]], ids=["searched", "given"])
def test_time_that_runs_out(order: list[str] | None) -> None:
    with pytest.raises(TooLarge) as fault:
        compiled(wide(), "c", timeout=0.3, order=order, nodes=10**9)
    assert fault.value.limit in (0, 0.3)
    one_sentence(fault.value, "0.3", "time")


def test_many_features_that_nothing_connects_are_ordered_at_once() -> None:
    """Each is as near as the others: so many that comparing all of them at each place would take minutes."""
    names = [f"x{at}" for at in range(2000)]
    net = network_of(children(*[(("0.7", "0.3"), ("0.3", "0.7"))] * 2000, prior=("0.5", "0.5"), classes=("no", "yes")))
    features = tuple(net.place(name) for name in names)
    scores = Scores(net, net.place("c"), features, (Fraction(1), Fraction(1)), (0, 1))
    order, cuts = orders.arranged(scores, Clock(None))
    assert order == features
    assert cuts.searched < 2 * len(names)


def test_limits_that_are_wide_enough() -> None:
    case = random_case(Random(1), **SMALL)
    assert case.compiled(nodes=10**6, timeout=600) == case.compiled(timeout=None)
