"""Everything public travels: to another process and back, and as a deep copy."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from ensemble_oracle import Table, random_ensemble
from quia import formula
from quia.load import sdd

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
WAYS: list[Callable[[Any], Any]] = [
    *(
        lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
    copy.deepcopy,
    copy.copy,
]


@pytest.fixture(scope="module")
def admissions(examples: Path) -> quia.DecisionGraph:
    return quia.load(examples / "admissions.json")


@pytest.fixture(scope="module")
def why(admissions: quia.DecisionGraph) -> quia.Explanation:
    """An explanation that has been asked everything, so that all it may cache is cached."""
    used = quia.explain(admissions, APPLICANT, frozen=["GPA"], costs={"SAT": 0.5})
    assert str(used)
    assert used._repr_html_()
    assert used.bias(["Interview"])
    return used


@pytest.mark.parametrize("way", WAYS)
def test_values_come_back_equal(why: quia.Explanation, way: Callable[[Any], Any]) -> None:
    exam = quia.Variable.nominal("E", ["no", "yes"])
    for value in (
        why.classifier,
        *why.variables,
        *why.necessary_reasons(),
        *next(iter(why.necessary_reasons())),
        *why.counterfactuals(),
        why.bias(["Interview"]),
        quia.bias_of_classifier(why.classifier, ["GPA"]),
        why.importance(),
        why.costs,
        quia.Variable.numeric("x", [1, (2, "before")], missing=True),
        formula.parse("E=yes", [exam]),
        formula.quantify({"E": "yes"}, formula.parse("E=yes", [exam])),
    ):
        again = way(value)
        assert type(again) is type(value)
        assert again == value
        assert str(again) == str(value)


@pytest.mark.parametrize("way", WAYS)
def test_an_explanation_answers_the_same(why: quia.Explanation, way: Callable[[Any], Any]) -> None:
    again = way(why)
    assert str(again) == str(why)
    assert again.to_json() == why.to_json()
    assert (again.frozen, again.costs, again.instance) == (why.frozen, why.costs, why.instance)
    assert str(way(why.complete_reason)) == str(why.complete_reason)


@pytest.mark.parametrize("way", WAYS)
def test_reasons_are_found_anew(why: quia.Explanation, way: Callable[[Any], Any]) -> None:
    for reasons in (
        why.sufficient_reasons(),
        why.necessary_reasons(limit=1),
        why.necessary_reasons(shortest=True, timeout=9),
        why.sufficient_reasons().containing("Interview"),
    ):
        assert len(reasons) >= 1
        again = way(reasons)
        assert list(again) == list(reasons)
        assert (again.limit, again.count, again.complete) == (reasons.limit, reasons.count, reasons.complete)


@pytest.mark.parametrize("way", WAYS)
def test_a_circuit(way: Callable[[Any], Any]) -> None:
    circuit = sdd.read(b"sdd 1\nL 0 0 1\n")
    assert str(quia.explain(way(circuit), {"1": 1})) == str(way(quia.explain(circuit, {"1": 1})))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "fault",
    [
        quia.QuiaError("a fault"),
        quia.GraphError("a fault"),
        quia.InstanceError("a fault"),
        quia.FormatError("not JSON", file="m.json", line=3),
        quia.Unsupported("a fault", cure="a cure"),
        quia.Refuted("a fault", witness={"GPA": "low"}),
        quia.TooLarge("a fault", limit=9),
    ],
    ids=type,
)
def test_errors(fault: quia.QuiaError, way: Callable[[Any], Any]) -> None:
    fault.add_note("in row 7")
    again = way(fault)
    assert type(again) is type(fault)
    assert str(again) == str(fault)
    assert vars(again) == vars(fault)


def test_other_processes(why: quia.Explanation) -> None:
    """What a worker returns or raises comes back; a result that cannot be unpickled would hang a pool for ever."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        explained = pool.submit(quia.explain, why.classifier, APPLICANT)
        listed = pool.submit(list, why.sufficient_reasons())
        biased = pool.submit(why.bias, ["Interview"])
        refused = pool.submit(quia.verify, why.classifier, APPLICANT, ["Interview"], "sufficient")
        assert str(explained.result(60)) == str(quia.explain(why.classifier, APPLICANT))
        assert listed.result(60) == list(why.sufficient_reasons())
        assert biased.result(60) == why.bias(["Interview"])
        with pytest.raises(quia.Refuted) as refuted:
            refused.result(60)
    assert refuted.value.witness is not None


@pytest.mark.parametrize("way", WAYS)
def test_ensembles_decide_and_are_explained_as_before(way: Callable[[Any], Any]) -> None:
    for seed in range(5):
        ensemble = random_ensemble(Random(seed), points=100)
        for used in (False, True):  # with the kernel that it keeps, and without
            again = way(ensemble)
            assert again.to_dict() == ensemble.to_dict()
            rows = Table(ensemble).points
            assert (again.decide_rows(rows) == Table(again).classes).all()
            assert used == ("kernel" in vars(ensemble))
            assert (ensemble.decide_rows(rows) == again.decide_rows(rows)).all()
