"""Reasons as they are asked for: cut short and with more patience, found once and kept, by cost, length and feature."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import quia
from benchmarks import generate, generate_circuits
from quia.load import nnf

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
KINDS = ("necessary_reasons", "sufficient_reasons")


@pytest.fixture
def admissions(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "admissions.json")


@pytest.fixture(params=["graph", "circuit"])
def why(request: pytest.FixtureRequest, admissions: quia.DecisionGraph, tmp_path: Path) -> quia.Explanation:
    """A decision with several reasons of both kinds: of the paper's graph, and of (1 ∧ 2 ∨ 3) ∧ 4."""
    if request.param == "graph":
        return quia.explain(admissions, APPLICANT)
    file = tmp_path / "c.nnf"
    file.write_text("nnf 9 8 4\nL 1\nL 2\nL 3\nL -3\nL 4\nA 2 0 1\nA 2 5 3\nO 3 2 2 6\nA 2 7 4\n")
    return quia.explain(quia.load(file), [1, 1, 1, 1])


def facts(reasons: quia.Reasons) -> tuple[list[str], bool, int | None]:
    return [str(reason) for reason in reasons], reasons.complete, reasons.count


@pytest.fixture(scope="module", params=["graph", "circuit"])
def large(request: pytest.FixtureRequest) -> quia.DecisionGraph | quia.Circuit:
    """A classifier with hundreds of reasons for a decision: no time at all is not enough to find them."""
    if request.param == "graph":
        return generate.threshold_graph(800, 12)
    return nnf.read(generate_circuits.conjoined_thresholds(600, parts=2, variables=8).data)


@pytest.mark.parametrize("shortest", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_was_cut_short_is_not_kept_for_the_patient(
    large: quia.DecisionGraph | quia.Circuit, kind: str, shortest: bool
) -> None:
    """No time at all, then time enough: the second answer is the one of an explanation that never was cut short."""
    instance = [1] * len(large.variables)
    ask = getattr(quia.explain(large, instance), kind)
    for _ in range(2):
        cut = ask(shortest=shortest, timeout=0)
        assert (cut.complete, cut.count) == (False, None)
    expected = facts(getattr(quia.explain(large, instance), kind)(shortest=shortest))
    assert expected[1] and expected[2] == len(expected[0]) > 1
    assert facts(ask(shortest=shortest, timeout=600)) == expected
    assert facts(ask(shortest=shortest)) == expected
    assert facts(ask(shortest=shortest, timeout=0)) == expected, "what is whole is kept for the impatient too"


def test_kinds_and_lengths_are_kept_apart(why: quia.Explanation) -> None:
    """Each of the four questions has an answer of its own, in whatever order they are asked."""
    asked = [(kind, shortest) for kind in KINDS for shortest in (False, True)]
    alone = {
        (kind, shortest): facts(getattr(quia.explain(why.classifier, why.instance), kind)(shortest=shortest))
        for kind, shortest in asked
    }
    assert len({str(found) for found in alone.values()}) == 4
    for kind, shortest in [*asked, *reversed(asked)]:
        assert facts(getattr(why, kind)(shortest=shortest)) == alone[kind, shortest]


class Counting:
    """A graph in the kernel that counts how often it is asked for necessary reasons."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.asked = kernel, 0

    def necessary(self, *arguments: Any, **options: Any) -> Any:
        self.asked += 1
        return self.kernel.necessary(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


def test_what_is_found_is_found_once(admissions: quia.DecisionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Counting(admissions.kernel)
    monkeypatch.setitem(vars(admissions), "kernel", kernel)
    why = quia.explain(admissions, APPLICANT)
    for timeout in (600, None, 600):
        assert len(list(why.necessary_reasons(timeout=timeout))) == 3
        assert len(list(why.sufficient_reasons(timeout=timeout))) == 2
        assert why.count_necessary() == 3 and why.count_sufficient() == 2
    assert kernel.asked == 1
    for _ in range(3):
        assert len(list(why.necessary_reasons(shortest=True))) == 1
    assert kernel.asked == 1, "the shortest are among those that were found"


def test_reasons_that_are_asked_about_are_those_that_are_listed(why: quia.Explanation) -> None:
    """Lengths, features, membership and choice by feature, each against the plain list."""
    for kind in KINDS:
        reasons = getattr(why, kind)()
        listed = list(reasons)
        names = [v.name for v in why.variables]
        assert len(reasons) == reasons.count == reasons.exact_count() == len(listed) > 1
        lengths = [len(reason) for reason in listed]
        assert reasons.counts_by_length() == {n: lengths.count(n) for n in set(lengths)}
        among = {name: sum(name in reason.features for reason in listed) for name in names}
        assert reasons.counts_by_feature() == {name: n for name, n in among.items() if n}
        for bits in product([False, True], repeat=len(names)):
            some = {name for name, bit in zip(names, bits, strict=True) if bit}
            assert (some in reasons) == any(set(reason.features) == some for reason in listed)
            assert list(reasons.containing(*some)) == [r for r in listed if some <= set(r.features)]
            assert list(reasons.avoiding(*some)) == [r for r in listed if not some & set(r.features)]
            both = reasons.containing(*list(some)[:1]).avoiding(*list(some)[1:])
            assert list(both) == [r for r in listed if r in reasons.containing(*list(some)[:1]) and r in both]
        drawn = reasons.sample(200, seed=3)
        assert set(drawn) == set(listed) and drawn == reasons.sample(200, seed=3) != reasons.sample(200, seed=4)
        assert bool(reasons) and not reasons.containing(*names)
        for limit in range(len(listed) + 2):
            some_of_them = getattr(why, kind)(limit=limit)
            assert list(some_of_them) == listed[:limit]
            assert len(some_of_them) == min(limit, len(listed))
            assert some_of_them.complete == (limit >= len(listed))


def test_a_reason_of_another_instance_is_not_in(admissions: quia.DecisionGraph) -> None:
    """A Reason has its states; a set of names speaks of this instance's."""
    why = quia.explain(admissions, APPLICANT)
    better = quia.explain(admissions, APPLICANT | {"GPA": "low"})
    reasons = why.necessary_reasons()
    others = list(better.necessary_reasons().containing("GPA"))
    assert others and all(other not in reasons for other in others)
    assert any(other.features in reasons for other in others)
    for wrong in ("GPA", 7):
        with pytest.raises(TypeError, match="is no reason"):
            _ = wrong in reasons
    with pytest.raises(quia.InstanceError, match="did you mean 'GPA'"):
        _ = {"GAP"} in reasons


def test_costs_come_first_then_lengths(admissions: quia.DecisionGraph) -> None:
    """In the listings of both kinds, and in what is shortest."""
    costs = {"Interview": 4, "SAT": 1, "Essay": 2, "GPA": Fraction(5, 2)}
    why = quia.explain(admissions, APPLICANT, costs=costs)
    for kind in KINDS:
        reasons = list(getattr(why, kind)())
        keys = [(sum(costs[name] for name in reason.features), len(reason)) for reason in reasons]
        assert keys == sorted(keys) and len(set(keys)) > 1
        cheapest = [reason for reason, key in zip(reasons, keys, strict=True) if key[0] == keys[0][0]]
        assert list(getattr(why, kind)(shortest=True)) == cheapest
    dear = quia.explain(admissions, APPLICANT, costs={"Interview": 4})
    assert [str(r) for r in dear.necessary_reasons(shortest=True)] == [
        "SAT < 1450 and Essay=fail",
        "GPA=medium and Essay=fail",
    ]


@pytest.mark.parametrize("half", [0.5, "0.5", "1/2", Decimal("0.5"), Fraction(1, 2)])
def test_costs_below_one(admissions: quia.DecisionGraph, half: Any) -> None:
    """Two features of half a cost each are a tie with one that costs 1, the default."""
    why = quia.explain(admissions, APPLICANT, costs={"SAT": half, "Essay": half})
    assert [str(r) for r in why.necessary_reasons(shortest=True)] == ["Interview=fail", "SAT < 1450 and Essay=fail"]


def test_costs_as_large_as_can_be_added_exactly(admissions: quia.DecisionGraph) -> None:
    """The other three features cost 1 each; the sum must stay below 2⁵³."""
    why = quia.explain(admissions, APPLICANT, costs={"SAT": 2**53 - 4})
    assert [str(r) for r in why.necessary_reasons()][-1] == "SAT < 1450 and Essay=fail"
    with pytest.raises(quia.InstanceError, match="too large or too far apart"):
        quia.explain(admissions, APPLICANT, costs={"SAT": 2**53 - 3})


def test_importance_is_the_share_of_the_sufficient_reasons(why: quia.Explanation) -> None:
    listed = list(why.sufficient_reasons())
    shares = {
        v.name: Fraction(n, len(listed))
        for v in why.variables
        if (n := sum(v.name in reason.features for reason in listed))
    }
    found = why.importance()
    assert found == shares
    assert list(found.values()) == sorted(shares.values(), reverse=True)
