"""The kernel against brute force, written from the definitions in plain Python."""

import contextlib
import itertools
import math
import os
import signal
import sys
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks import generate
from quia import _kernel as kernel
from sanitizer import not_sanitized

# ---- the oracle: definitions, by brute force ------------------------------------------------------------------


def minimal(sets):
    """The sets that contain no other one."""
    sets = {frozenset(s) for s in sets}
    return {s for s in sets if not any(t < s for t in sets)}


def hitting(sets, universe):
    """All minimal sets that meet every one of `sets`."""
    sets = [frozenset(s) for s in sets]
    hits = [
        frozenset(h)
        for n in range(len(universe) + 1)
        for h in itertools.combinations(sorted(universe), n)
        if all(s & set(h) for s in sets)
    ]
    return minimal(hits)


def contract(sets, costs=None):
    """The order of every listing: cost, length, lexicographic."""
    return sorted(
        (tuple(sorted(s)) for s in sets),
        key=lambda s: (sum(costs[v] for v in s) if costs else 0, len(s), s),
    )


def cheapest(sets, costs=None):
    price = (lambda s: sum(costs[v] for v in s)) if costs else len
    least = min(map(price, sets), default=0)
    return {s for s in sets if price(s) == least}


def implicates(true_under, variables):
    """Prime implicates of a monotone function: the minimal sets whose absence alone makes it false."""
    return minimal(
        frozenset(off)
        for n in range(len(variables) + 1)
        for off in itertools.combinations(variables, n)
        if not true_under(set(variables) - set(off))
    )


# ---- graphs, as nested data and as arrays ---------------------------------------------------------------------


class Built:
    """A decision graph as a list of nodes: ('leaf', class) or ('test', variable, [(states, child)])."""

    def __init__(self, nodes, state_counts, class_count):
        self.nodes, self.state_counts, self.class_count = nodes, state_counts, class_count

    def kernel(self):
        variable, klass, edge_start, child, range_start, low, high = [], [], [0], [], [0], [], []
        for node in self.nodes:
            variable.append(-1 if node[0] == "leaf" else node[1])
            klass.append(node[1] if node[0] == "leaf" else -1)
            for states, target in node[2] if node[0] == "test" else ():
                for _, run in itertools.groupby(enumerate(sorted(states)), lambda pair: pair[1] - pair[0]):
                    run = [state for _, state in run]
                    low.append(run[0])
                    high.append(run[-1])
                child.append(target)
                range_start.append(len(low))
            edge_start.append(len(child))
        i32, i64 = lambda x: np.array(x, np.int32), lambda x: np.array(x, np.int64)
        return kernel.Graph(
            i32(variable),
            i32(klass),
            i64(edge_start),
            i32(child),
            i64(range_start),
            i32(low),
            i32(high),
            i32(self.state_counts),
            self.class_count,
        )

    def classify(self, instance):
        node = self.nodes[-1]
        while node[0] == "test":
            node = self.nodes[next(c for states, c in node[2] if instance[node[1]] in states)]
        return node[1]

    def sticks(self, instance, kept, right):
        """Whether every instance that agrees on `kept` has a right class."""
        pools = [[s] if v in kept else range(n) for v, (s, n) in enumerate(zip(instance, self.state_counts))]
        return all(right(self.classify(other)) for other in itertools.product(*pools))

    def necessary(self, instance, keeps=None, frozen=()):
        right = keepers(self, instance, keeps).__contains__
        free = [v for v in range(len(self.state_counts)) if v not in frozen]
        return implicates(lambda kept: self.sticks(instance, kept | set(frozen), right), free)


def keepers(graph, instance, keeps):
    """The classes that keep the decision; None is the instance's own alone."""
    return {graph.classify(instance)} if keeps is None else keeps


@st.composite
def graphs(draw, shared):
    """Weak test-once graphs: trees that test again, or ordered graphs with shared nodes."""
    state_counts = draw(st.lists(st.integers(2, 4), min_size=1, max_size=5))
    class_count = draw(st.integers(1, 4))
    nodes = []

    def add(node):
        if shared and node in nodes:
            return nodes.index(node)
        nodes.append(node)
        return len(nodes) - 1

    def parts(states):
        states = sorted(states)
        labels = draw(st.lists(st.integers(0, 2), min_size=len(states), max_size=len(states)))
        groups = [frozenset(s for s, g in zip(states, labels) if g == k) for k in range(3)]
        return [g for g in groups if g]

    def tree(possible, depth):
        testable = [v for v, states in enumerate(possible) if len(states) > 1]
        if depth == 0 or not testable or draw(st.integers(0, 4)) == 0:
            return add(("leaf", draw(st.integers(0, class_count - 1))))
        v = draw(st.sampled_from(testable))
        edges = tuple(
            (part, tree([part if u == v else s for u, s in enumerate(possible)], depth - 1))
            for part in parts(possible[v])
        )
        return add(("test", v, edges))

    if not shared:
        tree([frozenset(range(n)) for n in state_counts], 4)
        return Built(nodes, state_counts, class_count)
    layer = [add(("leaf", c)) for c in range(class_count)]
    for v in reversed(draw(st.permutations(range(len(state_counts))))):
        fresh = [
            add(("test", v, tuple((p, draw(st.sampled_from(layer))) for p in parts(range(state_counts[v])))))
            for _ in range(draw(st.integers(1, 3)))
        ]
        layer = layer + fresh
    if nodes[-1] is not nodes[layer[-1]]:
        del nodes[layer[-1] + 1 :]
    return Built(nodes, state_counts, class_count)


any_graph = st.one_of(graphs(shared=False), graphs(shared=True))


@st.composite
def questions(draw, graph_strategy=any_graph):
    graph = draw(graph_strategy)
    instance = [draw(st.integers(0, n - 1)) for n in graph.state_counts]
    decision = graph.classify(instance)
    others = [c for c in range(graph.class_count) if c != decision]
    keeps = draw(st.none() | st.sets(st.sampled_from(others) if others else st.nothing()).map({decision}.union))
    frozen = draw(st.sets(st.integers(0, len(graph.state_counts) - 1), max_size=2))
    return graph, instance, keeps, frozen


def mask(members, n):
    return None if members is None else np.array([v in members for v in range(n)], np.uint8)


def asked(graph, keeps, frozen):
    return {"keeps": mask(keeps, graph.class_count), "frozen": mask(frozen, len(graph.state_counts))}


some_sets = st.lists(st.frozensets(st.integers(0, 8), min_size=1, max_size=5), max_size=9)
some_costs = st.lists(st.integers(1, 4), min_size=9, max_size=9)


# ---- graphs ---------------------------------------------------------------------------------------------------


@given(any_graph, st.data())
def test_classify(graph, data):
    rows = data.draw(st.lists(st.tuples(*(st.integers(0, n - 1) for n in graph.state_counts)), min_size=1, max_size=5))
    assert graph.kernel().classify(np.array(rows, np.int32)).tolist() == [graph.classify(r) for r in rows]


@given(questions())
def test_necessary_reasons(question):
    graph, instance, keeps, frozen = question
    expected = graph.necessary(instance, keeps, frozen)
    family = graph.kernel().necessary(np.array(instance, np.int32), **asked(graph, keeps, frozen))
    assert family.complete
    assert list(family.listing()) == contract(expected)
    assert family.count() == len(expected)


@given(questions(), some_costs)
def test_shortest_and_cheapest_necessary_reasons(question, costs):
    graph, instance, keeps, frozen = question
    expected = graph.necessary(instance, keeps, frozen)
    native, states = graph.kernel(), np.array(instance, np.int32)
    options = asked(graph, keeps, frozen)
    shortest = native.necessary(states, shortest=True, **options)
    assert list(shortest.listing()) == contract(cheapest(expected))
    prices = costs[: len(instance)]
    array = np.array(prices, np.int64)
    best = native.necessary(states, shortest=True, costs=array, **options)
    assert list(best.listing(costs=array)) == contract(cheapest(expected, prices), prices)
    least = min((sum(prices[v] for v in s) for s in expected), default=None)
    assert native.shortest_length(states, costs=array, **options) == least
    assert native.shortest_length(states, **options) == min(map(len, expected), default=None)


@given(questions())
def test_sufficient_reasons_are_minimal_sets_that_make_the_decision_stick(question):
    graph, instance, keeps, frozen = question
    right = keepers(graph, instance, keeps).__contains__
    free = [v for v in range(len(instance)) if v not in frozen]
    expected = minimal(
        kept
        for n in range(len(free) + 1)
        for kept in itertools.combinations(free, n)
        if graph.sticks(instance, set(kept) | frozen, right)
    )
    family = graph.kernel().necessary(np.array(instance, np.int32), **asked(graph, keeps, frozen))
    assert list(family.dual().listing()) == contract(expected)
    assert list(family.hitting_sets()) == contract(expected)
    assert frozenset(family.one_hitting_set()) in expected


@given(questions())
def test_classes_that_keep_the_decision_are_as_one(question):
    """Asked with a set of classes, a graph answers as if its leaves said only whether the decision is kept."""
    graph, instance, keeps, frozen = question
    kept = keepers(graph, instance, keeps)
    merged = [("leaf", int(node[1] not in kept)) if node[0] == "leaf" else node for node in graph.nodes]
    twin = Built(merged, graph.state_counts, 2).kernel()
    native, states = graph.kernel(), np.array(instance, np.int32)
    for ask in ("complete_reason", "necessary"):
        one, other = (
            getattr(kernel_graph, ask)(states, **options)
            for kernel_graph, options in ((native, asked(graph, keeps, frozen)), (twin, asked(graph, None, frozen)))
        )
        if ask == "necessary":
            assert list(one.listing()) == list(other.listing())
        else:
            assert [array.tolist() for array in one] == [array.tolist() for array in other]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_sets_of_more_classes_than_a_word_has_bits(shared, seed):
    """Beyond 64 classes a node's classes are known roughly; the answers are exact."""
    rng = np.random.default_rng(seed)
    class_count, depth = 150, 5
    labels = rng.integers(0, class_count, class_count)
    nodes = [("leaf", int(c)) for c in labels]
    layer = list(range(len(nodes)))
    for v in reversed(range(depth)):
        width = 3 if shared and v else 2**v
        children = rng.choice(layer, (width, 2)) if shared or v == depth - 1 else np.reshape(layer, (width, 2))
        nodes += [("test", v, ((frozenset({0}), int(a)), (frozenset({1, 2}), int(b)))) for a, b in children]
        layer = list(range(len(nodes) - width, len(nodes)))
    graph = Built(nodes, [3] * depth, class_count)
    native = graph.kernel()
    rows = rng.integers(0, 3, (12, depth)).astype(np.int32)
    for share in (0.02, 0.5, 0.95):
        keeps = set(np.flatnonzero(rng.random(class_count) < share).tolist())
        found = native.batch(rows, keeps=mask(keeps, class_count), count_necessary=True, limit=100)
        for i, row in enumerate(rows.tolist()):
            if graph.classify(row) in keeps:
                expected = graph.necessary(row, keeps)
                assert found["count_necessary"]["count"][i] == len(expected)
                assert found["necessary"]["ties"][i] == len(cheapest(expected))
            own = keeps | {graph.classify(row)}
            family = native.necessary(rows[i], keeps=mask(own, class_count))
            assert list(family.listing()) == contract(graph.necessary(row, own))


@given(any_graph, st.data())
def test_rows_of_a_class_that_does_not_keep_the_decision_leave_the_others_as_they_are(graph, data):
    row = st.tuples(*(st.integers(0, n - 1) for n in graph.state_counts))
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=20)), np.int32)
    keeps = data.draw(st.sets(st.integers(0, graph.class_count - 1)))
    kept = [i for i, own in enumerate(rows.tolist()) if graph.classify(own) in keeps]
    options = {"keeps": mask(keeps, graph.class_count), "count_necessary": True, "count_sufficient": True}
    both, alone = graph.kernel().batch(rows, **options), graph.kernel().batch(rows[kept], **options)
    assert both["decision"].tolist() == [graph.classify(own) for own in rows.tolist()]
    for kind in ("necessary", "sufficient"):
        assert both[kind]["ties"][kept].tolist() == alone[kind]["ties"].tolist()
        assert np.diff(both[kind]["reason_start"])[kept].tolist() == np.diff(alone[kind]["reason_start"]).tolist()
        assert both["count_" + kind]["count"][kept].tolist() == alone["count_" + kind]["count"].tolist()


@given(questions(), st.data(), st.integers(0, 3), st.one_of(st.none(), some_costs))
def test_batch_equals_single_questions(question, data, limit, costs):
    graph, instance, keeps, frozen = question
    # More rows than lanes, so that lanes are full, half full and filled again.
    more = st.lists(st.tuples(*(st.integers(0, n - 1) for n in graph.state_counts)), max_size=20)
    rows = [instance] + [row for row in data.draw(more) if keeps is None or graph.classify(row) in keeps]
    prices = costs and costs[: len(graph.state_counts)]
    result = graph.kernel().batch(
        np.array(rows, np.int32),
        **asked(graph, keeps, frozen),
        threads=data.draw(st.integers(1, 2)),
        limit=limit,
        count_necessary=True,
        count_sufficient=True,
        costs=prices and np.array(prices, np.int64),
    )
    assert result["decision"].tolist() == [graph.classify(r) for r in rows]
    for i, row in enumerate(rows):
        nr = graph.necessary(row, keeps, frozen)
        sr = hitting(nr, range(len(row)))
        for kind, all_of_them in (("necessary", nr), ("sufficient", sr)):
            part, expected = result[kind], contract(cheapest(all_of_them, prices), prices)
            assert part["complete"][i] and part["ties"][i] == len(expected)
            reasons = [
                tuple(part["members"][part["member_start"][k] : part["member_start"][k + 1]].tolist())
                for k in range(part["reason_start"][i], part["reason_start"][i + 1])
            ]
            assert reasons == expected[:limit]
            counts = result["count_" + kind]
            assert counts["complete"][i] and counts["count"][i] == len(all_of_them)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", ["tree", "graph"])
def test_counts_in_a_batch_are_those_of_the_diagrams(model, seed):
    """A batch searches where reasons are few and makes diagrams where they are many: both are met here."""
    graph = generate.tree(401, 60, seed=seed) if model == "tree" else generate.threshold_graph(9000, 26, seed=seed)
    sizes = [variable.size for variable in graph.variables]
    rows = np.random.default_rng(seed).integers(0, sizes, (60, len(sizes)), np.int32)
    found = graph.kernel.batch(rows, count_sufficient=True, count_necessary=True, limit=10**6)
    for row, few, many, ties in zip(
        rows,
        found["count_necessary"]["count"],
        found["count_sufficient"]["count"],
        found["necessary"]["ties"],
        strict=True,
    ):
        family = graph.kernel.necessary(row)
        assert (few, many) == (family.count(), family.dual().count())
        assert ties == graph.kernel.necessary(row, shortest=True).count()
    assert min(found["count_sufficient"]["count"]) < 100
    assert (max(found["count_sufficient"]["count"]) > 1500) == (model == "graph")


@given(any_graph, st.data())
def test_arrays_are_checked(graph, data):
    """Any one entry out of place is a ValueError or a valid graph, never a crash."""
    native = graph.kernel()
    assert native.node_count == len(graph.nodes)
    arrays = [
        np.array([-1], np.int32),
        np.array([0], np.int32),
        np.array([0, 0], np.int64),
        np.array([], np.int32),
        np.array([0], np.int64),
        np.array([], np.int32),
        np.array([], np.int32),
        np.array([2], np.int32),
    ]
    which, value = data.draw(st.integers(0, 7)), data.draw(st.integers(-3, 5))
    if len(arrays[which]):
        arrays[which][data.draw(st.integers(0, len(arrays[which]) - 1))] = value
    with contextlib.suppress(ValueError):
        kernel.Graph(*arrays, 2)


def test_messages_name_the_fault():
    leaf = [
        np.array(a, d)
        for a, d in (
            ([-1], "i4"),
            ([5], "i4"),
            ([0, 0], "i8"),
            ([], "i4"),
            ([0], "i8"),
            ([], "i4"),
            ([], "i4"),
            ([], "i4"),
        )
    ]
    with pytest.raises(ValueError, match="node 0 has class 5 of 2"):
        kernel.Graph(*leaf, 2)
    graph = Built([("leaf", 0), ("leaf", 1), ("test", 0, ((frozenset({0}), 0), (frozenset({1}), 1)))], [2], 2).kernel()
    with pytest.raises(ValueError, match="variable 0 has state 2 of 2"):
        graph.necessary(np.array([2], np.int32))
    for wrong in ([1], [1, 1, 1]):
        for ask in (graph.necessary, graph.complete_reason, graph.shortest_length):
            with pytest.raises(ValueError, match=f"keeps has {len(wrong)} entries; the graph has 2 classes"):
                ask(np.array([0], np.int32), keeps=np.array(wrong, np.uint8))
        with pytest.raises(ValueError, match=f"keeps has {len(wrong)} entries; the graph has 2 classes"):
            graph.batch(np.array([[0]], np.int32), keeps=np.array(wrong, np.uint8))
    for wrong in ([0, 1], [0, 0]):
        for ask in (graph.necessary, graph.complete_reason, graph.shortest_length):
            with pytest.raises(ValueError, match="the instance has class 0, which is not among those that keep"):
                ask(np.array([0], np.int32), keeps=np.array(wrong, np.uint8))
    with pytest.raises(ValueError, match="costs are positive"):
        graph.necessary(np.array([0], np.int32), costs=np.array([0], np.int64))


# ---- escape ---------------------------------------------------------------------------------------------------


def escaped(graph, states, keeps, box):
    """What the kernel is asked, of a box given as variable → ranges."""
    ranges = [pair for v in sorted(box) for pair in box[v]]
    return graph.escape(
        np.array(states, np.int32),
        np.array(keeps, np.uint8),
        np.array(sorted(box), np.int32),
        np.cumsum([0, *(len(box[v]) for v in sorted(box))], dtype=np.int64),
        np.array([low for low, _ in ranges], np.int32),
        np.array([high for _, high in ranges], np.int32),
    )


@given(any_graph, st.data())
def test_escape(graph, data):
    """Of every box: an instance in it whose class does not keep the decision, or that there is none."""
    counts = graph.state_counts
    states = [data.draw(st.integers(-1, n - 1)) for n in counts]
    keeps = data.draw(st.sets(st.integers(0, graph.class_count - 1)))
    allowed = [sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1))) for n in counts]
    box = {v: [(s, s) for s in own] for v, own in enumerate(allowed) if len(own) < counts[v]}
    found = escaped(graph.kernel(), states, [c in keeps for c in range(graph.class_count)], box)
    refuting = [each for each in itertools.product(*allowed) if graph.classify(each) not in keeps]
    assert (found is None) == (not refuting)
    assert found is None or tuple(found) in refuting


def test_boxes_that_are_none():
    graph = Built([("leaf", 0), ("leaf", 1), ("test", 0, ((frozenset({0}), 0), (frozenset({1}), 1)))], [2], 2).kernel()
    assert escaped(graph, [0], [1, 0], {}) == [1] and escaped(graph, [0], [1, 0], {0: [(0, 0)]}) is None
    for box, fault in [
        ({1: [(0, 0)]}, "bounds variable 1 of 1"),
        ({-1: [(0, 0)]}, "bounds variable -1 of 1"),
        ({0: []}, "leaves variable 0 no state"),
        ({0: [(0, 2)]}, "has a range that variable 0 does not have"),
        ({0: [(-1, 0)]}, "has a range that variable 0 does not have"),
        ({0: [(1, 0)]}, "has a range that variable 0 does not have"),
    ]:
        with pytest.raises(ValueError, match=fault):
            escaped(graph, [0], [1, 0], box)
    with pytest.raises(ValueError, match="states; the graph has 1 variables"):
        escaped(graph, [0, 0], [1, 0], {})
    with pytest.raises(ValueError, match="keeps has 1 entries"):
        escaped(graph, [0], [1], {})
    none, one = np.zeros(0, np.int32), np.zeros(1, np.int32)
    for start in ([], [1], [0, 1], [0, 9]):
        with pytest.raises(ValueError, match="lengths that do not fit together"):
            graph.escape(one, np.ones(2, np.uint8), none, np.array(start, np.int64), none, none)


def test_a_chain_of_a_hundred_thousand_tests():
    n = 100_000
    nodes = [("leaf", 0), ("leaf", 1), ("test", n - 1, ((frozenset({0}), 0), (frozenset({1}), 1)))]
    for v in range(n - 2, -1, -1):
        nodes.append(("test", v, ((frozenset({0}), len(nodes) - 1), (frozenset({1}), 1))))
    graph = Built(nodes, [2] * n, 2).kernel()
    states = np.zeros(n, np.int32)
    assert graph.shortest_length(states) == 1
    assert graph.necessary(states, shortest=True).count() == n
    assert graph.necessary(states).count() == n
    assert graph.necessary(1 - states).count() == 1  # one decides; the others would have to change as well


# ---- NNFs -----------------------------------------------------------------------------------------------------


@st.composite
def nnfs(draw):
    nodes = []
    for i in range(draw(st.integers(1, 9))):
        kind = draw(st.integers(0, 4)) if i else draw(st.integers(0, 2))
        if kind == 2:
            nodes.append((2, draw(st.integers(0, 4)), ()))
        elif kind >= 3:
            nodes.append((kind, -1, tuple(draw(st.lists(st.integers(0, i - 1), max_size=3)))))
        else:
            nodes.append((kind, -1, ()))
    return nodes


def evaluate(nodes, true):
    values = []
    for kind, literal, children in nodes:
        parts = [values[c] for c in children]
        values.append([False, True, literal in true, all(parts), any(parts)][kind])
    return values[-1]


@given(nnfs(), st.sets(st.integers(0, 4), max_size=2), some_costs)
def test_nnf(nodes, frozen, costs):
    native = kernel.Nnf(
        np.array([n[0] for n in nodes], np.uint8),
        np.array([n[1] for n in nodes], np.int32),
        np.cumsum([0] + [len(n[2]) for n in nodes]).astype(np.int64),
        np.array([c for n in nodes for c in n[2]], np.int32),
    )
    free = [v for v in range(5) if v not in frozen]
    expected = implicates(lambda true: evaluate(nodes, true | frozen), free)
    ice, prices = mask(frozen, 5), np.array(costs, np.int64)
    assert list(native.necessary(frozen=ice).listing()) == contract(expected)
    assert list(native.necessary(frozen=ice, shortest=True).listing()) == contract(cheapest(expected))
    best = native.necessary(frozen=ice, shortest=True, costs=prices)
    assert list(best.listing(prices)) == contract(cheapest(expected, costs), costs)


# ---- families -------------------------------------------------------------------------------------------------


@given(some_sets)
def test_dual_both_ways(sets):
    expected = minimal(sets)
    family = kernel.Family([sorted(s) for s in sets])
    assert list(family.listing()) == contract(expected)
    dual = family.dual()
    assert list(dual.listing()) == list(family.hitting_sets()) == contract(hitting(expected, range(9)))
    assert list(dual.dual().listing()) == contract(expected)


@given(some_sets, some_costs)
def test_costs(sets, costs):
    family, prices = kernel.Family([sorted(s) for s in sets]), np.array(costs, np.int64)
    expected = hitting(minimal(sets), range(9))
    assert list(family.listing(prices)) == contract(minimal(sets), costs)
    assert list(family.hitting_sets(costs=prices)) == contract(expected, costs)
    assert list(family.dual().listing(prices)) == contract(expected, costs)
    best = contract(cheapest(expected, costs), costs)
    assert list(family.hitting_sets(costs=prices, shortest=True)) == best
    assert list(family.dual(shortest=True, costs=prices).listing(prices)) == best
    assert list(family.dual().shortest(prices).listing(prices)) == best
    assert list(family.dual(shortest=True).listing()) == contract(cheapest(expected))
    assert list(family.hitting_sets(shortest=True)) == contract(cheapest(expected))
    assert frozenset(family.one_hitting_set(costs=prices)) in expected


@given(some_sets, st.sets(st.integers(0, 10), max_size=2), st.sets(st.integers(0, 10), max_size=2))
def test_questions_to_a_family(sets, containing, avoiding):
    for family, members in (
        (kernel.Family([sorted(s) for s in sets]), minimal(sets)),
        (kernel.Family([sorted(s) for s in sets]).dual(), hitting(minimal(sets), range(9))),
    ):
        assert family.count() == len(members)
        lengths = [len(s) for s in members]
        assert family.counts_by_length() == {n: lengths.count(n) for n in sorted(set(lengths))}
        tallies = {v: sum(v in s for s in members) for v in range(9)}
        assert family.counts_by_variable() == {v: n for v, n in tallies.items() if n}
        kept = {s for s in members if containing <= s and not avoiding & s}
        part = family.restrict(sorted(containing), sorted(avoiding))
        assert list(part.listing()) == contract(kept) and part.count() == len(kept)
        assert all(family.contains(sorted(s)) for s in members)
        for s in itertools.combinations(range(9), 2):
            assert family.contains(s) == (frozenset(s) in members)
        sampled = family.sample(20, 7)
        assert len(sampled) == (20 if members else 0)
        assert {frozenset(s) for s in sampled} <= members
        assert family.sample(20, 7) == sampled


def test_constants():
    true, false = kernel.Family([]), kernel.Family([[]])
    assert list(true.listing()) == [] and list(true.dual().listing()) == [()]
    assert list(true.hitting_sets()) == [()] and true.one_hitting_set() == ()
    assert list(false.listing()) == [()] and list(false.dual().listing()) == []
    assert list(false.hitting_sets()) == [] and list(false.dual(shortest=True).listing()) == []
    assert true.dual().count() == 1 and false.dual().count() == 0 and false.count() == 1
    with pytest.raises(ValueError):
        false.one_hitting_set()


def pairs(n):
    """n disjoint pairs: 2^n minimal hitting sets, all of length n."""
    return kernel.Family([[2 * i, 2 * i + 1] for i in range(n)])


def test_counts_beyond_machine_words():
    dual = pairs(200).dual()
    assert dual.count() == 2**200
    assert dual.counts_by_length() == {200: 2**200}
    assert dual.counts_by_variable() == dict.fromkeys(range(400), 2**199)
    assert dual.shortest().count() == 2**200
    assert next(dual.listing()) == tuple(range(0, 400, 2))
    assert dual.contains(range(1, 400, 2)) and not dual.contains(range(200))
    assert dual.restrict([0], [2]).count() == 2**198
    assert all(len(s) == 200 for s in dual.sample(5, 1))
    assert pairs(200).dual(shortest=True).count() == 2**200
    assert next(pairs(200).hitting_sets()) == tuple(range(0, 400, 2))


@pytest.mark.parametrize("seed", range(5))
def test_counts_with_many_digits(seed):
    """Sums, products and their carries, in numbers whose digits are not mostly zeros."""
    sizes = np.random.default_rng(seed).integers(2, 40, 120).tolist()
    starts = list(itertools.accumulate(sizes, initial=0))
    dual = kernel.Family([list(range(*pair)) for pair in itertools.pairwise(starts)]).dual()
    total = math.prod(sizes)
    assert dual.count() == total
    assert dual.counts_by_length() == {120: total}
    assert dual.counts_by_variable() == {v: total // n for n, a in zip(sizes, starts) for v in range(a, a + n)}


def test_samples_are_uniform():
    family = pairs(4).dual()
    counts = {}
    for s in family.sample(16_000, 3):
        counts[s] = counts.get(s, 0) + 1
    assert len(counts) == 16 and all(800 < n < 1200 for n in counts.values())


def test_samples_do_not_depend_on_the_machine():
    """A change of this answer is a change of what a seed means."""
    sampled = kernel.Family([[0, 1], [1, 2], [2, 3, 4]]).dual().sample(4, 11)
    assert sampled == [(1, 3), (1, 4), (1, 2), (1, 2)]


def test_long_listings_keep_their_order():
    """Past the first sets the listing sorts parts; the seam and the parts must not show."""
    family = kernel.Family([[3 * i, 3 * i + 1, 3 * i + 2] for i in range(8)] + [[0, 3, 6, 9], [1, 12, 20]])
    dual = family.dual()
    listed = list(dual.listing())
    assert len(listed) == dual.count() > 1000
    assert listed == contract(listed)
    assert listed == list(family.hitting_sets())
    costs = np.arange(1, 25, dtype=np.int64)
    assert list(dual.listing(costs)) == contract(listed, costs.tolist())


def test_listing_more_than_fits_in_a_part():
    family = kernel.Family([[6 * i + k for k in range(6)] for i in range(10)])  # 6^10 sets, all of length 10
    listing = family.dual().listing()
    expected = itertools.product(*[[6 * i + k for k in range(6)] for i in range(10)])
    for _ in range(5000):
        assert next(listing) == next(expected)


# ---- limits ---------------------------------------------------------------------------------------------------


def hard_family(n=60, m=400, seed=1):
    random = np.random.default_rng(seed)
    return kernel.Family([sorted(random.choice(n, 5, replace=False).tolist()) for _ in range(m)])


def test_time_and_memory_limits_are_told():
    family = hard_family()  # without a limit it takes all memory before it ends
    with pytest.raises(kernel.OverBudget, match="time"):
        family.dual(timeout=0.2)
    with pytest.raises(kernel.OverBudget, match="memory"):
        family.dual(memory=1 << 22)
    listing = hard_family(90, 3000).hitting_sets(timeout=0.3)
    list(listing)
    assert not listing.complete
    stream = pairs(5).hitting_sets(timeout=60)
    assert len(list(stream)) == 32 and stream.complete


@pytest.fixture
def interruptible():
    """SIGINT raises KeyboardInterrupt here, also where the tests run in the background or a library took it over."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt(interruptible):
    """Ctrl-C ends work that would go on for hours; the minute is only there to end a test that fails."""
    family = hard_family()

    def raise_soon():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    for work in (
        lambda: family.dual(memory=1 << 34, timeout=60),
        lambda: list(hard_family(90, 3000).hitting_sets(timeout=60)),
    ):
        thread = threading.Thread(target=raise_soon)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        thread.join()


def resident():
    """Bytes of memory that this process has in use."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory in use is read from /proc: run it on Linux")
@not_sanitized
@pytest.mark.parametrize("model", ["tree", "graph"])
def test_memory_does_not_grow(model):
    """Neither over the rows of batches nor over questions asked one by one, cut short and interrupted ones too."""
    graph = generate.tree(2001, 40) if model == "tree" else generate.threshold_graph(800, 12)
    sizes = [variable.size for variable in graph.variables]
    rows = np.random.default_rng(1).integers(0, sizes, (500, len(sizes)), np.int32)

    def ask(times):
        for _ in range(times):
            graph.kernel.batch(rows, count_necessary=True, count_sufficient=True)
            for row in rows[:20]:
                family = graph.kernel.necessary(row)
                dual = family.dual()
                dual.restrict(containing=[0]).count()
                dual.sample(3, seed=1)
                next(iter(dual.listing()), None)
                next(iter(family.hitting_sets()), None)
            with contextlib.suppress(kernel.OverBudget):
                hard_family(40, 60).dual(memory=1 << 20)

    ask(10)
    before = resident()
    ask(60)
    assert resident() - before < 4e6  # of 30,000 rows: a leak of a set for each would be seen


def test_many_threads_on_one_graph():
    random = np.random.default_rng(0)
    leaves = [("leaf", 0), ("leaf", 1)]
    layer, nodes = [0, 1], leaves
    for v in range(11, -1, -1):
        fresh = []
        for _ in range(6):
            a, b = random.choice(layer, 2)
            fresh.append(len(nodes))
            nodes.append(("test", v, ((frozenset({0}), int(a)), (frozenset({1}), int(b)))))
        layer = [*fresh, 0, 1]
    graph = Built(nodes, [2] * 12, 2).kernel()
    rows = random.integers(0, 2, (200, 12), dtype=np.int32)
    expected = [list(graph.necessary(r).listing()) for r in rows]
    failures = []

    def work():
        if [list(graph.necessary(r).listing()) for r in rows] != expected:
            failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


@given(some_sets)
def test_shares_add_up(sets):
    """Each variable's share of the sets, from counts alone, is the share in the listing."""
    dual = kernel.Family([sorted(s) for s in sets]).dual()
    listed = list(dual.listing())
    assume(listed)
    for v, n in dual.counts_by_variable().items():
        assert Fraction(n, dual.count()) == Fraction(sum(v in s for s in listed), len(listed))
