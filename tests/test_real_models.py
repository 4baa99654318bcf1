"""Real trees and graphs: the kernel against the paper's algorithms, wherever those finish."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from benchmarks.alarm import TimeIsUp, limited
from quia import paper

TREES = [
    "adult",
    "compas",
    "fashion_mnist",
    "gisette_like",
    "isolet",
    "la1s.wc",
    "mnist_784",
    "nomao",
    "ohscal.wc",
    "spambase",
]
PATIENCE = 1.0  # seconds of CPU for each of the paper's algorithms; SR may take for ever


def patient(algorithm: Any, formula: quia.NNF) -> set[tuple[int, ...]] | None:
    try:
        with limited(PATIENCE):
            return {tuple(sorted(members)) for members in algorithm(formula)}
    except TimeIsUp:
        return None


def members(why: quia.Explanation, reasons: quia.Reasons) -> list[tuple[int, ...]]:
    index = {v.name: i for i, v in enumerate(why.variables)}
    return [tuple(index[name] for name in reason.features) for reason in reasons]


def compare(why: quia.Explanation) -> int:
    """All four kinds of reasons by both; how many kinds the paper's algorithms finished."""
    formula = why.complete_reason
    finished = 0
    for algorithm, reasons in (
        (paper.snr, why.necessary_reasons(shortest=True)),
        (paper.nr, why.necessary_reasons()),
        (paper.ssr, why.sufficient_reasons(shortest=True)),
        (paper.sr, why.sufficient_reasons()),
    ):
        expected = patient(algorithm, formula)
        if expected is None:
            continue
        finished += 1
        found = members(why, reasons)
        assert len(found) == reasons.count == len(expected)
        assert set(found) == expected
        assert found == sorted(found, key=lambda m: (len(m), m))
    return finished


def rows(folder: Path) -> Iterator[dict[str, str]]:
    with gzip.open(folder / "rows.csv.gz", "rt", newline="") as stream:
        yield from csv.DictReader(stream)


@pytest.mark.parametrize("name", TREES)
def test_trees(shared_data: Path, name: str) -> None:
    folder = shared_data / "trees" / name
    tree = quia.load(folder / "tree.j48.txt")
    finished = explained = 0
    for number, row in enumerate(rows(folder)):
        if number % 150 != 7:
            continue
        try:
            why = quia.explain(tree, row)
        except quia.InstanceError as fault:
            assert "missing" in str(fault)  # noqa: PT017
            continue
        finished += compare(why)
        explained += 1
        for reason in why.sufficient_reasons(limit=3, timeout=5):
            quia.verify(tree, row, reason, "sufficient")
        for reason in why.necessary_reasons(limit=3):
            quia.verify(tree, row, reason, "necessary")
    assert explained >= 2
    assert finished >= 2 * explained, "at least SNR and NR finish"


@pytest.mark.parametrize(
    "name", ["andes_COMPO16_n24_T0.5_robdd", "andes_COMPO16_n24_T0.5_quasi", "tcc4e_var_30_n24_T0.5"]
)
def test_graphs(shared_data: Path, name: str) -> None:
    graph = quia.load(shared_data / "graphs" / f"{name}.odd.gz")
    rng = Random(1)
    for _ in range(2):
        instance = [rng.randrange(2) for _ in graph.variables]
        why = quia.explain(graph, instance)
        assert compare(why) >= 1
        for reason in why.sufficient_reasons(limit=2):
            quia.verify(graph, instance, reason, "sufficient")


def test_billions_are_counted_and_asked_about(shared_data: Path) -> None:
    """The first of ten billion come at once, in the order of the whole, and the rest can be asked about."""
    folder = shared_data / "trees" / "fashion_mnist"
    tree = quia.load(folder / "tree.j48.txt")
    most = 0
    for _, row in zip(range(40), rows(folder), strict=False):
        why = quia.explain(tree, row)
        reasons = why.sufficient_reasons(limit=20)
        assert reasons.count is not None
        most = max(most, reasons.count)
        if reasons.count < 10**8:
            continue
        first = list(reasons)
        assert len(first) == 20 and not reasons.complete
        assert [len(r) for r in first] == sorted(len(r) for r in first)
        assert all(reason in reasons for reason in first)
        by_length = reasons.counts_by_length()
        assert sum(by_length.values()) == reasons.count
        assert min(by_length) == len(first[0])
        assert by_length[min(by_length)] == why.sufficient_reasons(shortest=True).count
        feature = first[0].features[0]
        assert reasons.containing(feature).count + reasons.avoiding(feature).count == reasons.count
        assert why.importance()[feature] * reasons.count == reasons.containing(feature).count
        for reason in reasons.sample(3, seed=1):
            quia.verify(tree, row, reason, "sufficient")
    assert most > 10**8
