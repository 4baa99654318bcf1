"""Algorithms 1 and 2 of the paper, and its NR and SR, exactly as published.

They are the specification of the compiled kernel and the baseline of its measurements, so they stay plain Python and
recurse as the paper does. A reason is a frozenset of variable indices: in a monotone formula a
variable occurs in one state only.

All of them take a monotone NNF; SNR and SSR need it ∨-decomposable too, and the dual of SNR ∧-decomposable. This is
checked, and `Unsupported` is raised otherwise. The paper allows no constants; here they are simplified away first,
which can only make a formula decomposable, never the opposite.

Glossary: Δ `node`, σ `sigma`, Σ `implicants`, iml `minimum_length`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from quia.dag import AND, FALSE, LITERAL, OR, TRUE
from quia.errors import InstanceError, TooLarge, Unsupported
from quia.nnf import NNF

Set = frozenset[int]
Family = set[Set]
EMPTY: Set = frozenset()


def snr(formula: NNF) -> Family:
    """All shortest necessary reasons: the shortest implicates of the formula.

    Complexity: output polynomial, O(M·E) for M reasons and E edges. Paper: Algorithm 1, Props. 12–14.
    """
    formula = _monotone(formula, "SNR")
    _require_decomposable(formula, "SNR", OR)
    minimum_length = implicate_minimum_lengths(formula)
    cache: dict[int, Family] = {}

    def visit(node: int) -> Family:
        if node in cache:
            return cache[node]
        kind, variable, _, children = formula.nodes[node]
        if kind == FALSE:
            family = {EMPTY}
        elif kind == TRUE:
            family = set()
        elif kind == LITERAL:
            family = {frozenset((variable,))}
        elif kind == AND:  # line 7: only the conjuncts that attain the minimum length
            shortest = (c for c in children if minimum_length[c] == minimum_length[node])
            family = set().union(*(visit(child) for child in shortest))
        else:  # line 5
            family = _product([visit(child) for child in children])
        cache[node] = family
        return family

    with _depth_reported(formula):
        return visit(len(formula) - 1)


def implicate_minimum_lengths(formula: NNF) -> list[float]:
    """The length of the shortest implicates of every node; ∞ for ⊤. Paper: Def. 6, Prop. 12."""
    formula.require_monotone("iml")
    _require_decomposable(formula, "iml", OR)
    return _minimum_lengths(formula, AND)


def implicant_minimum_lengths(formula: NNF) -> list[float]:
    """The length of the shortest implicants of every node; ∞ for ⊥. Paper: the dual of Prop. 12."""
    formula.require_monotone("the dual of iml")
    _require_decomposable(formula, "the dual of iml", AND)
    return _minimum_lengths(formula, OR)


def _minimum_lengths(formula: NNF, least: int) -> list[float]:
    """The length of every node: the minimum over its children at gates of kind `least`, their sum at the others."""
    true, false = (math.inf, 0) if least == AND else (0, math.inf)
    constant = {v for v in formula.mentioned if formula.variables[v].size == 1}
    lengths: list[float] = []
    for kind, variable, _, children in formula.nodes:
        if kind == LITERAL:
            lengths.append(true if variable in constant else 1)
        elif kind in (TRUE, FALSE):
            lengths.append(true if kind == TRUE else false)
        elif kind == least:
            lengths.append(min((lengths[child] for child in children), default=math.inf))
        else:
            lengths.append(sum(lengths[child] for child in children))
    return lengths


def snr_dual(formula: NNF) -> Family:
    """All shortest implicants of a monotone, ∧-decomposable formula, by the dual of Algorithm 1.

    Complexity: output polynomial, as Algorithm 1. Paper: the remark before "Shortest Sufficient Reasons".
    """
    formula = _monotone(formula, "the dual of SNR")
    _require_decomposable(formula, "the dual of SNR", AND)
    return snr(_dual(formula))


def _dual(formula: NNF) -> NNF:
    """The formula with ∧ and ∨, ⊤ and ⊥ exchanged, whose prime implicates are the prime implicants of this one."""
    exchanged = np.array([TRUE, FALSE, LITERAL, OR, AND], np.uint8)
    return replace(formula, kind=exchanged[formula.kind])


def nr(formula: NNF) -> Family:
    """All necessary reasons: the prime implicates of the formula.

    Paper: Algorithm 1 without pruning, subsumption checked after line 7. Where disjuncts share variables, which the
    paper's closed forms exclude, it is checked after line 5 too.
    """
    formula = _monotone(formula, "NR")
    reduce_products = not formula.is_or_decomposable
    cache: dict[int, Family] = {}

    def visit(node: int) -> Family:
        if node in cache:
            return cache[node]
        kind, variable, _, children = formula.nodes[node]
        if kind == FALSE:
            family = {EMPTY}
        elif kind == TRUE:
            family = set()
        elif kind == LITERAL:
            family = {frozenset((variable,))}
        elif kind == AND:
            family = remove_subsumed(set().union(*(visit(child) for child in children)))
        else:
            family = _product([visit(child) for child in children])
            if reduce_products:
                family = remove_subsumed(family)
        cache[node] = family
        return family

    with _depth_reported(formula):
        return visit(len(formula) - 1)


def sr(formula: NNF) -> Family:
    """All sufficient reasons: the prime implicants of the formula. Paper: the dual of NR."""
    formula = _monotone(formula, "SR")
    reduce_unions = not formula.is_or_decomposable
    cache: dict[int, Family] = {}

    def visit(node: int) -> Family:
        if node in cache:
            return cache[node]
        kind, variable, _, children = formula.nodes[node]
        if kind == TRUE:
            family = {EMPTY}
        elif kind == FALSE:
            family = set()
        elif kind == LITERAL:
            family = {frozenset((variable,))}
        elif kind == AND:
            # Conjuncts may share variables, so each product must be reduced, and early, as it only grows.
            family = {EMPTY}
            for child in children:
                family = remove_subsumed(_product([family, visit(child)]))
        else:
            family = set().union(*(visit(child) for child in children))
            if reduce_unions:
                family = remove_subsumed(family)
        cache[node] = family
        return family

    with _depth_reported(formula):
        return visit(len(formula) - 1)


def ssr(formula: NNF) -> Family:
    """All shortest sufficient reasons: the shortest implicants of the formula.

    Paper: Algorithm 2. Its cache uses two facts: the k-implicants {{}} are the j-implicants for all j, and the
    k-implicants include the j-implicants for all j ≤ k.
    """
    formula = _monotone(formula, "SSR")
    _require_decomposable(formula, "SSR", OR)
    if formula.is_true:
        return {EMPTY}
    if formula.is_false:
        return set()
    cache: dict[tuple[int, int, Set], tuple[int, Family]] = {}

    def cached(key: tuple[int, int, Set], k: int) -> Family | None:
        if key not in cache:
            return None
        computed_for, implicants = cache[key]
        if implicants == {EMPTY} or computed_for == k:
            return implicants
        return {sigma for sigma in implicants if len(sigma) <= k} if computed_for > k else None

    def imp(node: int, first: int, k: int, sigma: Set) -> Family:
        """The k-implicants of Δ | σ, where Δ is the node, or its conjuncts from the first on."""
        key = (node, first, sigma)
        known = cached(key, k)
        if known is not None:
            return known
        kind, variable, _, children = formula.nodes[node]
        implicants: Family = set()
        if kind == LITERAL:
            if variable in sigma:
                implicants = {EMPTY}
            elif k >= 1:
                implicants = {frozenset((variable,))}
        elif kind != AND:
            for child in children:
                of_child = imp(child, 0, k, sigma)
                if of_child == {EMPTY}:
                    implicants = {EMPTY}
                    break
                implicants |= of_child
        elif first == len(children) - 1:
            implicants = imp(children[first], 0, k, sigma)
        else:
            for sigma1 in imp(children[first], 0, k, sigma):
                for sigma2 in imp(node, first + 1, k - len(sigma1), sigma | sigma1):
                    _add_unsubsumed(implicants, sigma1 | sigma2)
        cache[key] = (k, implicants)
        return implicants

    with _depth_reported(formula):
        k = 0
        while not (implicants := imp(len(formula) - 1, 0, k, EMPTY)):
            k += 1
        return implicants


def remove_subsumed(family: Iterable[Set]) -> Family:
    """The members of a family that include no other member.

    >>> sorted(map(sorted, remove_subsumed([frozenset({1}), frozenset({1, 2}), frozenset({2, 3})])))
    [[1], [2, 3]]
    """
    kept: list[Set] = []
    for member in sorted(family, key=len):
        if not any(smaller <= member for smaller in kept):
            kept.append(member)
    return set(kept)


def _add_unsubsumed(family: Family, member: Set) -> None:
    """Add one member to a reduced family and keep it reduced."""
    if any(other <= member for other in family):
        return
    family.difference_update([other for other in family if member <= other])
    family.add(member)


def _product(families: Iterable[Family]) -> Family:
    """S₁ × S₂ × …: every union of one member from each."""
    product: Family = {EMPTY}
    for family in families:
        joined: Family = set()
        for left in product:
            joined.update(left | right for right in family)
        product = joined
    return product


def _monotone(formula: NNF, what: str) -> NNF:
    """The formula without inner constants; an error if it is not monotone then."""
    if not isinstance(formula, NNF):
        raise InstanceError(f"{what} takes an NNF, not a {type(formula).__name__}; quia.formula.to_nnf makes one")
    simple = formula.simplified()
    simple.require_monotone(what)
    return simple


def _require_decomposable(formula: NNF, what: str, gate: int) -> None:
    if gate == OR and not formula.is_or_decomposable:
        raise Unsupported(f"{what} as published needs a ∨-decomposable formula", cure="ask for all reasons instead")
    if gate == AND and not formula.is_and_decomposable:
        raise Unsupported(f"{what} needs an ∧-decomposable formula", cure="ask for all reasons instead")


@contextmanager
def _depth_reported(formula: NNF) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        limit = sys.getrecursionlimit()
        raise TooLarge(
            f"the formula of {len(formula)} nodes is too deep for the paper's recursive algorithms (limit {limit})",
            limit=limit,
        ) from None
