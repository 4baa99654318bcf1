"""The published algorithms against each other and against hitting sets, on random monotone formulas."""

from itertools import product
from random import Random

import pytest

import oracle
import quia
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


def test_a_formula_too_deep_for_recursion_says_so() -> None:
    build = Builder([quia.Variable.nominal(f"v{i}", ["no", "yes"]) for i in range(5000)])
    node = build.literal(0, 1)
    for i in range(1, 5000):
        node = (build.conjunction if i % 2 else build.disjunction)([node, build.literal(i, 1)])
    with pytest.raises(quia.TooLarge, match="too deep"):
        paper.nr(build.nnf(node))
