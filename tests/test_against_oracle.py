"""Everything public against the brute-force oracle, on thousands of random graphs."""

from itertools import chain
from random import Random
from typing import Any

import pytest

import general_oracle
import oracle
import quia
from contract import literals_of
from quia.complete import closed_form
from strategies import Case, every_classifier, random_case, random_frozen, random_neighbour

CASES_EACH = 150


def features(reasons: Any) -> list[frozenset[str]]:
    return [frozenset(reason.features) for reason in reasons]


def asked(case: Case) -> tuple[quia.DecisionGraph, quia.Explanation | None]:
    """The explanation that a case asks for, or None where it asks why not the class that it is."""
    graph = quia.DecisionGraph.from_dict(case.graph)
    decision = oracle.classify(case.graph, case.instance)
    assert graph.classify(case.instance) == decision
    options = {"against": case.against, "frozen": case.frozen, "costs": case.costs}
    if case.against == decision:
        with pytest.raises(quia.InstanceError, match="already"):
            quia.explain(graph, case.instance, **options)
        return graph, None
    return graph, quia.explain(graph, case.instance, **options)


@pytest.mark.parametrize("seed", range(12))
def test_reasons_of_random_graphs(seed: int) -> None:
    rng = Random(seed)
    for _ in range(CASES_EACH):
        case = random_case(rng)
        graph, why = asked(case)
        if why is None:
            continue
        question = (case.graph, case.instance, case.against, case.frozen)
        for kind in ("necessary", "sufficient"):
            expected = getattr(oracle, f"{kind}_reasons")(*question)
            found = getattr(why, f"{kind}_reasons")()
            listed = features(found)
            assert set(listed) == expected, case
            assert len(listed) == len(expected) == found.count == getattr(why, f"count_{kind}")()
            assert found.complete
            costs = [oracle.cost(reason, case.costs) for reason in listed]
            assert costs == sorted(costs)
            least = getattr(why, f"{kind}_reasons")(shortest=True)
            assert features(least) == listed[: len(features(least))]
            assert set(features(least)) == oracle.shortest(expected, case.costs), case
            for reason in found:
                assert reason in found
                quia.verify(graph, case.instance, reason, kind, against=case.against, frozen=case.frozen)
        shares = why.importance()
        assert {x: shares[x] for x in case.graph["variables"]} == oracle.importance(*question)


@pytest.mark.parametrize("seed", range(6))
def test_complete_reasons_of_random_graphs(seed: int) -> None:
    """The closed form is monotone, ∨-decomposable and means what Defs. 1 and 2 say (Props. 7–9)."""
    rng = Random(1000 + seed)
    for _ in range(CASES_EACH):
        case = random_case(rng)
        graph, why = asked(case)
        if why is None:
            continue
        formula = why.complete_reason
        assert formula == closed_form(graph, why.question)
        assert why.is_constant == formula.is_true
        assert formula.is_monotone
        assert formula.is_or_decomposable
        assert quia.NNF.from_dict(formula.to_dict(), graph.variables) == formula
        if not case.frozen:
            models = oracle.complete_reason_models(case.graph, case.instance, case.against)
            for world in oracle.worlds(case.graph):
                instance = dict(zip(case.graph["variables"], world, strict=True))
                assert formula.evaluate(instance) == (world in models), case
                assert formula.condition({graph.variables[v].name: world[v] for v in formula.mentioned}).is_true == (
                    world in models
                )


@pytest.mark.parametrize("seed", range(6))
def test_what_reasons_are_for(seed: int) -> None:
    """Counterfactuals, congruence, holds_without and bias."""
    rng = Random(2000 + seed)
    for _ in range(CASES_EACH):
        case = random_case(rng)
        graph, why = asked(case)
        if why is None:
            continue
        d = case.graph
        changes = why.counterfactuals()
        expected = general_oracle.counterfactual_regions(d, case.instance, case.against, case.frozen, case.costs)
        assert [(literals_of(change.changes), change.decision, change.certain) for change in changes] == expected, case
        assert why.counterfactuals(limit=1) == changes[:1]

        dropped = random_frozen(rng, d)
        assert why.holds_without(dropped) == oracle.holds_without(d, case.instance, dropped, case.against), case
        if case.against is None:
            other = random_neighbour(rng, d, case.instance)
            assert why.is_congruent(other) == oracle.congruent(d, case.instance, other), (case, other)
            bias = why.bias(dropped)
            assert bias.biased == oracle.decision_biased(d, case.instance, dropped), (case, dropped)
            if bias:
                assert {state.feature for state in bias.changes} <= set(dropped)
                assert bias.changed_decision != why.decision
        assert quia.bias_of_classifier(graph, dropped).biased == oracle.classifier_biased(d, dropped), (case, dropped)


def test_every_tiny_classifier() -> None:
    """All Boolean functions of three variables, and all three-class ones of a ternary and a binary one."""
    seen = 0
    binary, ternary = ("no", "yes"), ("a", "b", "c")
    for d in chain(
        every_classifier({"X": binary, "Y": binary, "Z": binary}, ("c1", "c2")),
        every_classifier({"X": ternary, "Y": binary}, ("c1", "c2", "c3")),
    ):
        graph = quia.DecisionGraph.from_dict(d)
        for world in oracle.worlds(d):
            instance = dict(zip(d["variables"], world, strict=True))
            why = quia.explain(graph, instance)
            assert set(features(why.sufficient_reasons())) == oracle.sufficient_reasons(d, instance)
            assert set(features(why.necessary_reasons())) == oracle.necessary_reasons(d, instance)
            seen += 1
    assert seen == 2**8 * 8 + 3**6 * 6
