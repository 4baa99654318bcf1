"""The published algorithms against each other and against hitting sets, on random monotone formulas."""

from itertools import product
from math import inf
from random import Random
from typing import Any

import pytest

import oracle
import quia
from benchmarks.alarm import limited
from quia import paper
from quia.nnf import NNF, Builder


def random_formula(rng: Random, *, variables: int, decomposable: bool) -> NNF:
    """A random monotone NNF; ∨-decomposable where that is asked for."""
    build = Builder([quia.Variable.nominal(f"v{i}", ["no", "yes"]) for i in range(variables)])

    def formula(usable: list[int], depth: int) -> int:
        if not usable:
            return build.false
        if depth == 0 or len(usable) == 1:
            return build.literal(rng.choice(usable), 1)
        if rng.random() < 0.5:
            return build.conjunction([formula(usable, depth - 1) for _ in range(rng.randint(2, 3))])
        if not decomposable:
            return build.disjunction([formula(usable, depth - 1) for _ in range(rng.randint(2, 3))])
        mixed = rng.sample(usable, len(usable))
        at = rng.randint(1, len(mixed) - 1)
        return build.disjunction([formula(mixed[:at], depth - 1), formula(mixed[at:], depth - 1)])

    return build.nnf(formula(list(range(variables)), 4))


def raw_formula(rng: Random, *, variables: int, states: int = 1) -> NNF:
    """A formula as anybody may write it: constants inside, gates of no or one part, parts twice, nodes nobody needs."""
    known = [quia.Variable.nominal(f"v{i}", ["no", "yes", "maybe"]) for i in range(variables)]
    nodes: list[Any] = [{"constant": True}, {"constant": False}]
    nodes += [{"literal": [v.name, label]} for v in known for label in v.labels[1 : 1 + states]]
    for _ in range(rng.randint(1, 7)):
        nodes.append({rng.choice(("and", "or")): rng.choices(range(len(nodes)), k=rng.choice((0, 1, 2, 2, 2, 3)))})
    return NNF.from_dict({"schema": "quia/nnf/1", "nodes": nodes}, known)


def primes(formula: NNF) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
    """Prime implicants and implicates by truth table."""
    size = len(formula.variables)
    true_sets = {
        frozenset(i for i, bit in enumerate(bits) if bit)
        for bits in product((0, 1), repeat=size)
        if formula.holds(lambda v, _, bits=bits: bool(bits[v]))
    }
    everything = frozenset(range(size))
    false_sets = {everything - frozenset(bits) for bits in oracle.subsets(everything)} - true_sets
    return oracle.minimal(true_sets), oracle.minimal(everything - false for false in false_sets)


@pytest.mark.parametrize("decomposable", [True, False])
def test_algorithms_find_the_primes(decomposable: bool) -> None:
    rng = Random(7)
    for _ in range(400):
        formula = random_formula(rng, variables=rng.randint(1, 7), decomposable=decomposable)
        implicants, implicates = primes(formula)
        assert paper.sr(formula) == implicants
        assert paper.nr(formula) == implicates
        if formula.is_or_decomposable:
            assert paper.ssr(formula) == oracle.shortest(implicants)
            assert paper.snr(formula) == oracle.shortest(implicates)
        else:
            with pytest.raises(quia.Unsupported, match="∨-decomposable"):
                paper.snr(formula)
        if formula.is_and_decomposable:
            assert paper.snr_dual(formula) == oracle.shortest(implicants)


def ended(algorithm: Any, formula: quia.NNF) -> Any:
    """What an algorithm finds; TimeIsUp where it does not end by itself."""
    with limited(60.0):
        return algorithm(formula)


def test_constants_and_empty_gates_anywhere() -> None:
    rng = Random(8)
    answered = dict.fromkeys(("snr", "ssr", "snr_dual"), 0)
    for _ in range(1500):
        formula = raw_formula(rng, variables=rng.randint(1, 5))
        implicants, implicates = primes(formula)
        simple = formula.simplified()
        assert primes(simple) == (implicants, implicates)
        assert len(simple) == 1 or not any(kind in ("true", "false") for _, kind, _, _ in simple.walk())
        assert simple.simplified() is simple
        assert ended(paper.sr, formula) == implicants
        assert ended(paper.nr, formula) == implicates
        assert set(map(frozenset, formula.find_necessary().listing())) == implicates
        assert formula.is_valid == (implicants == {frozenset()})
        assert formula.is_satisfiable == bool(implicants)
        for name, decomposable, expected in (
            ("snr", simple.is_or_decomposable, implicates),
            ("ssr", simple.is_or_decomposable, implicants),
            ("snr_dual", simple.is_and_decomposable, implicants),
        ):
            if decomposable:
                assert ended(getattr(paper, name), formula) == oracle.shortest(expected), (name, str(formula))
                answered[name] += 1
            else:
                with pytest.raises(quia.Unsupported, match="decomposable"):
                    getattr(paper, name)(formula)
    assert min(answered.values()) > 300, answered


def test_the_minimum_lengths_of_every_node() -> None:
    rng = Random(9)
    seen = [0, 0]
    for _ in range(600):
        formula = raw_formula(rng, variables=rng.randint(1, 4))
        for place, (lengths, fits) in enumerate(
            (
                (paper.implicant_minimum_lengths, formula.is_and_decomposable),
                (paper.implicate_minimum_lengths, formula.is_or_decomposable),
            )
        ):
            if not fits:
                continue
            seen[place] += 1
            for node, length in enumerate(lengths(formula)):
                below = NNF.from_dict(
                    {**formula.to_dict(), "nodes": formula.to_dict()["nodes"][: node + 1]}, formula.variables
                )
                assert length == min(map(len, primes(below)[place]), default=inf)
    assert min(seen) > 100


def test_what_is_not_monotone_is_refused() -> None:
    rng = Random(10)
    refused = 0
    for _ in range(500):
        formula = raw_formula(rng, variables=2, states=2).simplified()
        states = {(v, s) for kind, v, s, _ in formula.nodes if kind == 2}
        if len(states) == len({v for v, _ in states}):
            continue
        refused += 1
        for ask in (
            *(paper.snr, paper.nr, paper.ssr, paper.sr, paper.snr_dual),
            *(paper.implicate_minimum_lengths, paper.implicant_minimum_lengths, NNF.find_necessary),
        ):
            with pytest.raises(quia.Unsupported, match=r"monotone formula.* mentions v\d=\w+ and v\d=\w+;"):
                ask(formula)
    assert refused > 30
    with pytest.raises(quia.InstanceError, match="takes an NNF, not a Formula"):
        paper.ssr(quia.formula.TRUE)


def test_nodes_that_the_root_does_not_need_do_not_count() -> None:
    known = [quia.Variable.nominal("v0", ["no", "yes"]), quia.Variable.nominal("v1", ["no", "yes"])]
    literals = [{"literal": ["v0", "no"]}, {"literal": ["v0", "yes"]}, {"literal": ["v1", "yes"]}]
    formula = NNF.from_dict({"schema": "quia/nnf/1", "nodes": [*literals, {"or": [0, 1]}, {"or": [1, 2]}]}, known)
    assert paper.ssr(formula) == paper.sr(formula) == {frozenset({0}), frozenset({1})}
    assert paper.snr(formula) == {frozenset({0, 1})}
    assert not formula.is_valid


def test_the_only_state_of_a_variable_is_a_constant() -> None:
    only, other = quia.Variable.nominal("only", ["one"]), quia.Variable.nominal("other", ["no", "yes"])
    build = Builder([only, other])
    both = build.nnf(build.conjunction([build.literal(0, 0), build.literal(1, 1)]))
    either = build.nnf(build.disjunction([build.literal(0, 0), build.literal(1, 1)]))
    for algorithm in (paper.snr, paper.nr, paper.ssr, paper.sr, paper.snr_dual):
        assert algorithm(both) == {frozenset({1})}
    assert paper.sr(either) == paper.ssr(either) == paper.snr_dual(either) == {frozenset()}
    assert paper.nr(either) == paper.snr(either) == set()
    assert [list(formula.find_necessary().listing()) for formula in (both, either)] == [[(1,)], []]
    assert (either.is_valid, both.is_valid, both.is_satisfiable) == (True, False, True)
    assert paper.implicate_minimum_lengths(either) == [inf, 1, inf]
    assert paper.implicant_minimum_lengths(either) == [0, 1, 0]


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], {}, {"schema": "quia/nnf/1"}, {"schema": "quia/nnf/1", "nodes": 5}),
        *({"schema": "quia/nnf/1", "nodes": n} for n in ({"and": []}, "and", [{"literal": [["v0"], "yes"]}], [[]])),
        *(
            {"schema": "quia/nnf/1", "nodes": [n]}
            for n in ({"literal": ["v0", []]}, {"and": [0]}, {"or": [-1]}, {"xor": []})
        ),
    ],
)
def test_what_is_no_formula_is_refused(data: Any) -> None:
    with pytest.raises(quia.FormatError, match="formula"):
        NNF.from_dict(data, [quia.Variable.nominal("v0", ["no", "yes"])])


def test_a_formula_too_deep_for_recursion_says_so() -> None:
    build = Builder([quia.Variable.nominal(f"v{i}", ["no", "yes"]) for i in range(5000)])
    node = build.literal(0, 1)
    for i in range(1, 5000):
        node = (build.conjunction if i % 2 else build.disjunction)([node, build.literal(i, 1)])
    with pytest.raises(quia.TooLarge, match="too deep"):
        paper.nr(build.nnf(node))
