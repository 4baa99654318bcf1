"""Flat arrays of many trees: their decisions are those of a plain walk, their variables those of one tree at a time."""

import itertools

import numpy as np
import pytest

import quia
from quia.cuts import Cut, Interval, nearest_single
from quia.ensemble import Ensemble
from quia.graph import DecisionGraph
from quia.load import binary
from quia.load.binary import Column, build
from quia.load.ensembles import LEAF, Nodes, assemble, simplest
from quia.sums import Group, Rule, Sums

COLUMNS = [
    Column("wide"),
    Column("narrow", single=True),
    Column("named", categories=("a", "b", "c")),
    Column("coded", unseen_is_missing=True),
    Column("idle"),
]
THRESHOLDS = [0.1, 0.25, -0.0, 0.0, 1e39, np.inf, -np.inf, 3.0]


def random_tree(rng, size):
    """Parents and children in any order, and nodes that are not reached."""
    inner = (size - 1) // 2
    yes, no = np.full(size, LEAF), np.full(size, LEAF)
    order = [0, *(1 + rng.permutation(size - 1))]
    free = iter(order[1:])
    for place in range(inner):
        yes[order[place]], no[order[place]] = next(free), next(free)
    return yes, no


def random_nodes(rng, trees, most=9):
    sizes = [int(rng.integers(1, most)) for _ in range(trees)]
    shapes = [random_tree(rng, size) for size in sizes]
    total = sum(sizes)
    special_tests = [
        binary.Test(2, 0, 0, missing=True, codes=frozenset((0, 2, 9))),
        binary.Test(3, 0, 0, missing=False, codes=frozenset((4, 7))),
        binary.Test(3, 0, 0, missing=True, codes=frozenset((7,))),
        binary.Test(1, 0, 0, missing=False, where=(Interval(Cut(0.25, False), Cut(0.25)),)),
    ]
    return Nodes(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([yes for yes, _ in shapes]),
        np.concatenate([no for _, no in shapes]),
        rng.integers(0, 2, total),
        rng.choice(THRESHOLDS, total),
        rng.random(total) < 0.5,
        np.round(rng.normal(size=total), 1),
        rng.random(total) < 0.5,
        np.where(rng.random(total) < 0.3, rng.integers(0, 4, total), -1),
        special_tests,
    )


def says_yes(nodes, n, row):
    if nodes.special[n] >= 0:
        test = nodes.tests[nodes.special[n]]
        value = row[test.column]
        if test.codes is None:
            return test.missing if value != value else nearest_single(float(value)) == 0.25
        codes = {"a": 0, "b": 1, "c": 2}
        if value is None:
            return test.missing
        return (codes[value] if test.column == 2 else value) in test.codes
    value = float(row[nodes.column[n]])
    if value != value:
        return bool(nodes.missing[n])
    number = nearest_single(value) if nodes.column[n] == 1 else value
    return number < nodes.threshold[n] or (bool(nodes.after[n]) and number == nodes.threshold[n])


def leaf_of(nodes, tree, row):
    n = root = nodes.start[tree]
    while nodes.yes[n] != LEAF:
        n = root + (nodes.yes if says_yes(nodes, n, row) else nodes.no)[n]
    return n


def rows(rng, count):
    numbers = [np.nan, np.inf, -np.inf, 1e300, 5.0]
    for t in THRESHOLDS[:5]:
        with np.errstate(over="ignore"):
            near = [t, float(np.float32(t)), *(float(np.nextafter(np.float32(t), np.float32(e))) for e in (-9, 9))]
        numbers += [*near, np.nextafter(t, -np.inf), np.nextafter(t, np.inf)]
    for _ in range(count):
        yield [rng.choice(numbers), rng.choice(numbers), rng.choice(["a", "b", "c", None]), rng.choice([4, 5, 7]), 0.0]


@pytest.mark.parametrize("seed", range(30))
def test_decisions_are_those_of_a_walk(seed):
    rng = np.random.default_rng(seed)
    nodes = random_nodes(rng, int(rng.integers(1, 5)))
    trees = len(nodes.start) - 1
    variables, made = assemble(COLUMNS, nodes, missing=True)
    ensemble = Ensemble(variables, ("no", "yes"), made, Sums((0,) * trees, (0.25,), Rule("cuts", (0.5,))))
    small = simplest(ensemble)
    grown = sum(nodes.yes[start] != LEAF for start in nodes.start[:-1])
    assert isinstance(small, DecisionGraph) == (grown <= 1)
    for row in rows(rng, 60):
        score = 0.25
        for tree in range(trees):
            score += nodes.values[leaf_of(nodes, tree, row)]
        expected = ("no", "yes")[int(score >= 0.5)]
        assert ensemble.classify(row) == small.classify(row) == expected


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_one_tree_is_what_it_was(seed, missing):
    """The variables and the graph are those of the loader of single trees."""
    rng = np.random.default_rng(seed)
    nodes = random_nodes(rng, 1, 16)

    def node(n):
        if nodes.yes[n] == LEAF:
            return int(nodes.values[n] >= 0.5)
        if nodes.special[n] >= 0:
            test = nodes.tests[nodes.special[n]]
            return binary.Test(test.column, nodes.yes[n], nodes.no[n], test.missing, test.where, codes=test.codes)
        where = (Interval(None, Cut(float(nodes.threshold[n]), bool(nodes.after[n]))),)
        return binary.Test(int(nodes.column[n]), nodes.yes[n], nodes.no[n], bool(nodes.missing[n]), where)

    graph = build(COLUMNS, ("no", "yes"), 0, node, missing=missing, file=None)
    variables, made = assemble(COLUMNS, nodes, missing=missing)
    small = simplest(Ensemble(variables, ("no", "yes"), made, Sums((0,), (0.0,), Rule("cuts", (0.5,)))))
    assert small.variables == graph.variables
    assert len(small) == len(graph)
    sizes = [range(min(v.size, 6)) for v in variables]
    for states in itertools.islice(itertools.product(*sizes), 0, None, 7):
        assert small.decide(states) == graph.decide(states)


@pytest.mark.parametrize("rule", ["argmax", "softmax32", "softmax64", "logistic"])
def test_one_tree_among_leaves_keeps_its_arithmetic(rule):
    """Groups, divisors and ties between classes are the kernel's, for each leaf."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        before, count = int(rng.integers(0, 3)), int(rng.integers(1, 6))
        trees = before + 1 + int(rng.integers(0, 3))
        size = np.ones(trees, int)
        size[before] = 2 * count - 1
        start = np.concatenate([[0], np.cumsum(size)])
        total = int(start[-1])
        yes, no = np.full(total, LEAF), np.full(total, LEAF)
        for n in range(count - 1):
            yes[start[before] + n], no[start[before] + n] = 2 * n + 1, 2 * n + 2
        values = np.round(rng.normal(size=(total, 3)), 1)
        threshold = np.arange(total) - start[before] + 0.0
        nodes = Nodes(start, yes, no, np.zeros(total, int), threshold, np.zeros(total, bool), values)
        variables, made = assemble([Column("x")], nodes, missing=False)
        groups = (Group(trees, 3.0, 0.3),) if rng.random() < 0.5 else ()
        sums = Sums((-1,) * trees, (0.1, 0.0, 0.2), Rule(rule), rng.random() < 0.5, groups, 7.0, (0.0, 0.1, 0.0))
        ensemble = Ensemble(variables, ("a", "b", "c"), made, sums, notes=("kept",))
        small = simplest(ensemble)
        assert isinstance(small, DecisionGraph)
        assert small.notes[0] == "kept"
        for value in np.arange(-1, 8, 0.5).tolist():
            assert small.classify([value]) == ensemble.classify([value])


def arrays(**changed):
    given = {
        "start": np.array([0, 3, 4]),
        "yes": np.array([1, LEAF, LEAF, LEAF]),
        "no": np.array([2, LEAF, LEAF, LEAF]),
        "column": np.zeros(4, int),
        "threshold": np.zeros(4),
        "missing": np.zeros(4, bool),
        "values": np.zeros(4),
    }
    return Nodes(**(given | changed))


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"yes": np.array([2, LEAF, LEAF, LEAF])}, "two parents"),
        ({"yes": np.array([0, LEAF, LEAF, LEAF])}, "root"),
        ({"yes": np.array([3, LEAF, LEAF, LEAF])}, "not there"),
        ({"no": np.array([LEAF, LEAF, LEAF, LEAF])}, "root"),
        ({"column": np.array([1, 0, 0, 0])}, "column 1 of 1"),
        ({"column": np.array([-1, 0, 0, 0])}, "column -1 of 1"),
        ({"threshold": np.full(4, np.nan)}, "threshold"),
        ({"values": np.full(4, np.inf)}, "value"),
        ({"special": np.array([1, -1, -1, -1])}, "question 1 of 0"),
        ({"start": np.array([0, 3, 3, 4])}, "without a node"),
        ({"start": np.array([0])}, "no trees"),
    ],
)
def test_damaged_arrays_are_refused(changed, fault):
    with pytest.raises(quia.FormatError, match=fault):
        assemble([Column("x")], arrays(**changed), missing=True)


def test_nodes_in_a_ring_that_no_root_leads_to_are_left_out():
    yes, no = np.array([LEAF, 2, 1, LEAF, LEAF]), np.array([LEAF, 3, 4, LEAF, LEAF])
    nodes = Nodes(np.array([0, 5]), yes, no, np.zeros(5, int), np.zeros(5), np.zeros(5, bool), np.arange(5.0))
    _, trees = assemble([Column("x")], nodes, missing=True)
    assert trees.leaf_count == 1


def test_a_deep_chain_is_put_in_order_at_once():
    depth = 100_000
    yes = np.full(2 * depth + 1, LEAF)
    no = yes.copy()
    chain = np.concatenate([[0], 1 + np.random.default_rng(0).permutation(depth)])
    yes[chain[:-1]], no[chain[:-1]] = chain[1:], depth + 1 + np.arange(depth)
    threshold = -np.arange(2 * depth + 1.0)
    same = np.zeros(2 * depth + 1, bool)
    nodes = Nodes(np.array([0, 2 * depth + 1]), yes, no, same.astype(int), threshold, same, threshold)
    _, trees = assemble([Column("x")], nodes, missing=True)
    assert trees.leaf_count == depth + 1
    assert (trees.yes[trees.test >= 0] > np.flatnonzero(trees.test >= 0)).all()
