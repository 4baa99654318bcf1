"""The kernel's general reasons against brute force over their definitions."""

from itertools import chain, combinations, product
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import strategies
from quia import _kernel as kernel
from quia.graph import DecisionGraph
from quia.variables import Variable

States = frozenset[int]
Box = tuple[States, ...]


class Asked(NamedTuple):
    """A graph as a function, an instance of it (-1: unknown), and what is asked."""

    graph: DecisionGraph
    instance: tuple[int, ...]
    kept: frozenset[int]
    frozen: frozenset[int]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(v.size for v in self.graph.variables)

    @property
    def numbers(self) -> list[int]:
        """How many states of each variable are numbers."""
        return [v.size - v.missing if v.is_numeric else 0 for v in self.graph.variables]

    def options(self, intervals: bool) -> dict[str, Any]:
        keeps = np.array([c in self.kept for c in range(len(self.graph.classes))], np.uint8)
        frozen = np.array([v in self.frozen for v in range(len(self.sizes))], np.uint8)
        numbers = np.array(self.numbers, np.int32) if intervals else None
        return {"keeps": keeps, "frozen": frozen, "numbers": numbers}


# ---- the definitions, by brute force --------------------------------------------------------------------------


def wrong_worlds(asked: Asked) -> set[tuple[int, ...]]:
    """Every world whose class does not keep the decision."""
    worlds = np.array(list(product(*map(range, asked.sizes))), np.int32)
    classes = asked.graph.kernel.classify(worlds)
    return {tuple(w) for w, c in zip(worlds.tolist(), classes.tolist(), strict=True) if c not in asked.kept}


def allowed_sets(size: int, numbers: int) -> list[States]:
    """The sets that a variable may have in a box."""
    if not numbers:
        return [frozenset(s) for n in range(1, size + 1) for s in combinations(range(size), n)]
    runs = [frozenset(range(a, b)) for a in range(numbers) for b in range(a + 1, numbers + 1)]
    missing = [frozenset({numbers})] if size > numbers else []
    return [*runs, *missing, *(run | m for run in runs for m in missing)]


def maximal_boxes(bad: set[tuple[int, ...]], pools: list[list[States]]) -> list[Box]:
    """The maximal products of allowed sets without a bad point, widest first."""
    good = [box for box in product(*pools) if not any(all(x in s for x, s in zip(p, box, strict=True)) for p in bad)]
    top = [b for b in good if not any(b != c and all(s <= t for s, t in zip(b, c, strict=True)) for c in good)]
    return sorted(top, key=lambda box: (-int(np.prod([len(s) for s in box])), [sorted(s) for s in box]))


def projected(worlds: set[tuple[int, ...]], members: tuple[int, ...]) -> set[tuple[int, ...]]:
    return {tuple(w[v] for v in members) for w in worlds}


def sufficient_boxes(asked: Asked, members: tuple[int, ...], intervals: bool) -> list[Box]:
    """The maximal boxes with the instance in them outside of which no other variable leads, but for frozen ones."""
    fixed = [v for v in asked.frozen if asked.instance[v] >= 0]
    reachable = {w for w in wrong_worlds(asked) if all(w[v] == asked.instance[v] for v in fixed)}
    pools = [
        [s for s in allowed_sets(asked.sizes[v], intervals * asked.numbers[v]) if asked.instance[v] in s]
        for v in members
    ]
    return maximal_boxes(projected(reachable, members), pools)


def necessary_boxes(asked: Asked, members: tuple[int, ...], intervals: bool, certain: bool = False) -> list[Box]:
    """The maximal boxes in which every point, all else kept, is wrong: certainly, or if what is unknown is so."""
    wrong = wrong_worlds(asked)
    unknown = [v for v, s in enumerate(asked.instance) if s < 0]
    bad = set()
    for point in product(*(range(asked.sizes[v]) for v in members)):
        changed = dict(zip(members, point, strict=True))
        fates = set()
        for values in product(*(range(asked.sizes[v]) for v in unknown)):
            other = changed | dict(zip(unknown, values, strict=True))
            fates.add(tuple(other.get(v, s) for v, s in enumerate(asked.instance)) in wrong)
        if not (all(fates) if certain else any(fates)):
            bad.add(point)
    return maximal_boxes(bad, [allowed_sets(asked.sizes[v], intervals * asked.numbers[v]) for v in members])


# ---- the kernel's answers, in the same form -------------------------------------------------------------------


def widened(asked: Asked, members: tuple[int, ...], *, intervals: bool, **options: Any) -> list[Box]:
    found = asked.graph.kernel.widen(np.array(asked.instance, np.int32), members, **asked.options(intervals), **options)
    return boxes(*found, len(members))


def boxes(start: Any, low: Any, high: Any, members: int) -> list[Box]:
    sets = []
    for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        assert all(high[r] + 1 < low[r + 1] for r in range(a, b - 1)), "ranges next to each other"
        sets.append(frozenset(chain(*(range(low[r], high[r] + 1) for r in range(a, b)))))
    return [tuple(sets[k : k + members]) for k in range(0, len(sets), members)] if members else [()]


# ---- random questions -----------------------------------------------------------------------------------------


def random_question(rng: Random, **limits: Any) -> Asked | None:
    """A question about a random graph in the JSON format; None where unknown values decide."""
    case = strategies.random_case(rng, **limits)
    graph = DecisionGraph.from_dict(case.graph)
    frozen = frozenset(v for v, variable in enumerate(graph.variables) if variable.name in case.frozen)
    return question_about(rng, graph, graph.encode(case.instance), frozen)


def question_about(rng: Random, graph: DecisionGraph, states: Any, frozen: States) -> Asked | None:
    """Some values maybe unknown, the class alone or several that keep the decision."""
    if rng.random() < 0.3:
        states = [-1 if rng.random() < 0.3 else s for s in states]
    decision = int(graph.kernel.classify(np.array([states], np.int32))[0])
    if decision < 0:
        return None
    kept = {decision, *(c for c in range(len(graph.classes)) if rng.random() < 0.3)}
    return Asked(graph, tuple(states), frozenset({decision} if rng.random() < 0.5 else kept), frozen)


def tangled_question(rng: Random, *, shared: bool, variables: int, states: int) -> Asked | None:
    """A question whose reasons have several boxes: what changes the decision lies about the instance in boxes."""
    made = [_variable(rng, f"x{v}", rng.randint(max(2, states - 1), states)) for v in range(variables)]
    instance = [rng.randrange(v.size) for v in made]
    wrong = [random_box(rng, made, instance, rng.randint(2, variables)) for _ in range(rng.randint(2, 8))]
    if rng.random() < 0.6:  # most variables matter by themselves: long sufficient reasons, short necessary ones
        wrong += [random_box(rng, made, instance, 1) for _ in range(variables)]
    graph = tangled_graph(rng, made, wrong, shared)
    frozen = frozenset(v for v in range(variables) if rng.random() < 0.1)
    return question_about(rng, graph, instance, frozen)


def random_box(rng: Random, variables: list[Variable], instance: list[int], apart: int) -> list[States]:
    """A set of states for each variable, in so many of them without the instance's, few where it is one."""
    box = [frozenset(range(variable.size)) for variable in variables]
    for v in rng.sample(range(len(variables)), apart):
        others = sorted(box[v] - {instance[v]})
        first = rng.randrange(len(others))
        run = others[first : 1 if apart == 1 else rng.randint(first + 1, len(others))]
        some = rng.sample(others, 1 if apart == 1 else rng.randint(1, len(others)))
        box[v] = frozenset(run or some) if rng.random() < 0.6 else frozenset(some)
    return box


def _variable(rng: Random, name: str, size: int) -> Variable:
    if rng.random() < 0.4:
        return Variable.nominal(name, [f"s{k}" for k in range(size)])
    missing = rng.random() < 0.5
    return Variable.numeric(name, [(float(k), True) for k in range(size - 1 - missing)], missing=missing)


def tangled_graph(rng: Random, variables: list[Variable], wrong: list[list[States]], shared: bool) -> DecisionGraph:
    """Which of the boxes a world is in first, by tests in any order, again and again; equal parts are one if shared."""
    nodes: dict[Any, int] = {}

    def add(node: Any) -> int:
        return nodes.setdefault(node if shared else (node, len(nodes)), len(nodes))

    def grow(possible: list[States]) -> int:
        met = [k for k, box in enumerate(wrong) if all(s & p for s, p in zip(box, possible, strict=True))]
        if not met:
            return add(0)
        box = wrong[met[0]]
        cuts = [v for v, states in enumerate(possible) if not states <= box[v]]
        if not cuts:
            return add(1 + met[0] % 2)
        v = rng.choice(cuts)
        parts = [possible[v] & box[v], possible[v] - box[v]]
        if rng.random() < 0.3:  # another cut, after which the variable is tested again
            order = sorted(possible[v])
            cut = rng.randrange(1, len(order))
            parts = [frozenset(order[:cut]), frozenset(order[cut:])]
        below = [grow([*possible[:v], part, *possible[v + 1 :]]) for part in parts]
        return add((v, *((tuple(sorted(part)), child) for part, child in zip(parts, below, strict=True))))

    grow([frozenset(range(v.size)) for v in variables])
    plain = [key if shared else key[0] for key in nodes]
    return DecisionGraph.build(
        variables,
        ["a", "b", "c"],
        [node[0] if isinstance(node, tuple) else -1 for node in plain],
        [-1 if isinstance(node, tuple) else node for node in plain],
        [[(runs(states), child) for states, child in node[1:]] if isinstance(node, tuple) else [] for node in plain],
    )


def runs(states: tuple[int, ...]) -> list[tuple[int, int]]:
    """Ascending states as ranges, both ends included; some next to each other, as a label may have them."""
    found: list[tuple[int, int]] = []
    for state in states:
        if found and found[-1][1] == state - 1 and state % 3:
            found[-1] = (found[-1][0], state)
        else:
            found.append((state, state))
    return found


def reasons(asked: Asked) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Sufficient and necessary ones."""
    options = asked.options(False)
    del options["numbers"]
    family = asked.graph.kernel.necessary(np.array(asked.instance, np.int32), **options)
    return list(family.dual().listing()), list(family.listing())


RANDOM = [
    {"features": 4, "states": 4, "tests": 12, "sharing": 0.0},
    {"features": 4, "states": 4, "tests": 14, "sharing": 0.5},
    {"features": 5, "states": 3, "tests": 20, "sharing": 0.6},
]
TANGLED = [
    {"shared": shared, "variables": variables, "states": states}
    for shared in (False, True)
    for variables, states in ((2, 6), (3, 4), (4, 3))
]


def compare(asked: Asked, intervals: bool) -> int:
    """Compares all boxes of a few reasons with the definitions; how many reasons had several."""
    several = 0
    sufficient, necessary = reasons(asked)
    for members in sufficient[:5]:
        expected = sufficient_boxes(asked, members, intervals)
        assert widened(asked, members, necessary=False, intervals=intervals) == expected
        several += len(expected) > 1
    for members in necessary[:5]:
        expected = necessary_boxes(asked, members, intervals)
        assert widened(asked, members, necessary=True, intervals=intervals) == expected
        assert all(asked.instance[v] not in s for box in expected for v, s in zip(members, box, strict=True))
        several += len(expected) > 1
        if -1 in asked.instance:
            expected = necessary_boxes(asked, members, intervals, certain=True)
            assert widened(asked, members, necessary=True, intervals=intervals, certain=True) == expected
    return several


@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("limits", RANDOM, ids=str)
def test_all_boxes_of_reasons(limits: dict[str, Any], intervals: bool) -> None:
    rng = Random(f"{limits}")
    for _ in range(150):
        if asked := random_question(rng, **limits):
            compare(asked, intervals)


@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("limits", TANGLED, ids=str)
def test_all_boxes_where_there_are_several(limits: dict[str, Any], intervals: bool) -> None:
    rng = Random(f"{limits}")
    assert sum(compare(asked, intervals) for _ in range(100) if (asked := tangled_question(rng, **limits))) > 2


@pytest.mark.parametrize("limits", TANGLED, ids=str)
def test_any_members_have_their_boxes_or_are_no_reason(limits: dict[str, Any]) -> None:
    """Members that are more than a reason, or none: what the definitions say, or a fault."""
    rng = Random(f"any {limits}")
    faults = 0
    for _ in range(100):
        asked = tangled_question(rng, **limits)
        if asked is None:
            continue
        known = [v for v, s in enumerate(asked.instance) if s >= 0 and v not in asked.frozen]
        members = tuple(sorted(rng.sample(known, rng.randint(0, min(3, len(known))))))
        intervals = rng.random() < 0.5
        for necessary, define in ((False, sufficient_boxes), (True, necessary_boxes)):
            expected = define(asked, members, intervals)
            if expected:
                assert widened(asked, members, necessary=necessary, intervals=intervals) == expected
            else:
                faults += 1
                with pytest.raises(ValueError, match=r"they are no (sufficient|necessary) reason"):
                    widened(asked, members, necessary=necessary, intervals=intervals)
    assert faults > 10


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("variables", "states"), [(2, 9), (3, 8), (5, 6)])
def test_the_first_boxes_are_the_first_of_all(shared: bool, variables: int, states: int) -> None:
    rng = Random(f"first {shared} {variables} {states}")
    several = 0
    for _ in range(100):
        if asked := tangled_question(rng, shared=shared, variables=variables, states=states):
            intervals = rng.random() < 0.5
            for kind, found in zip((False, True), reasons(asked), strict=True):
                for members in found[:3]:
                    every = widened(asked, members, necessary=kind, intervals=intervals)
                    several += len(every) > 2
                    for limit in (1, 2, 3):
                        first = widened(asked, members, necessary=kind, intervals=intervals, limit=limit)
                        assert first == every[:limit]
    assert several > 10


@pytest.mark.parametrize("limits", TANGLED, ids=str)
@pytest.mark.parametrize("shortest", [True, False])
def test_a_batch_lists_the_boxes_of_each_set_in_turn(limits: dict[str, Any], shortest: bool) -> None:
    rng = Random(f"batch {limits}")
    for _ in range(40):
        asked = tangled_question(rng, **limits)
        if asked is None:
            continue
        graph, options = asked.graph.kernel, asked.options(rng.random() < 0.7)
        decided = [
            row
            for row in (
                [rng.choice((s, rng.randrange(n))) for s, n in zip(asked.instance, asked.sizes)] for _ in range(20)
            )
            if int(graph.classify(np.array([row], np.int32))[0]) in asked.kept
        ]
        rows = np.array([asked.instance, *decided], np.int32)
        limit = rng.randint(1, 6)
        plain = {name: value for name, value in options.items() if name != "numbers"}
        sets = graph.batch(rows, limit=100, shortest=shortest, **plain)
        found = graph.batch(rows, limit=limit, shortest=shortest, general=True, **options)
        for kind in ("necessary", "sufficient"):
            if shortest:
                assert found[kind]["ties"].tolist() == sets[kind]["ties"].tolist()
            for i, row in enumerate(rows):
                expected = [
                    (members, box)
                    for members, _ in listed(sets, kind, i)
                    for box in boxes(*graph.widen(row, members, necessary=kind == "necessary", **options), len(members))
                ]
                assert listed(found, kind, i) == expected[:limit]


def listed(found: Any, kind: str, row: int) -> list[tuple[tuple[int, ...], Box]]:
    """The members of each reason of a row, and their states if it is general."""
    columns, table = found[kind], found.get("regions", found[kind])
    reasons = []
    for reason in range(columns["reason_start"][row], columns["reason_start"][row + 1]):
        k = columns["region"][reason] if "regions" in found else reason
        first, end = table["member_start"][k : k + 2].tolist()
        box: Box = ()
        if "regions" in found and end > first:
            [box] = boxes(table["range_start"][first : end + 1], table["range_low"], table["range_high"], end - first)
        reasons.append((tuple(table["members"][first:end].tolist()), box))
    return reasons


# ---- faults, limits, sizes ------------------------------------------------------------------------------------


def chain_of(variables: int, states: int = 2) -> DecisionGraph:
    """All variables are tested in turn: in its first state each leaves the decision to the next."""
    made = [Variable.nominal(f"x{v}", [f"s{k}" for k in range(states)]) for v in range(variables)]
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    for v in reversed(range(variables)):
        below = len(tests) - 1 if len(tests) > 2 else 0
        tests.append(v)
        labels.append(-1)
        edges.append(((((0, 0),), below), (((1, states - 1),), 1)))
    return DecisionGraph.build(made, ["a", "b"], tests, labels, edges)


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ((2,), "member 2 is no variable of the graph"),
        ((-1,), "member -1 is no variable of the graph"),
        ((1, 0), "member 0 is not in ascending order"),
        ((0, 0), "member 0 is not in ascending order"),
        ((0,), "do not force the decision"),
    ],
)
def test_members_that_are_none(members: tuple[int, ...], fault: str) -> None:
    graph = chain_of(2).kernel
    with pytest.raises(ValueError, match=fault):
        graph.widen(np.array([0, 0], np.int32), members, necessary=False)


def test_frozen_and_unknown_variables_are_in_no_reason() -> None:
    graph = chain_of(2, states=3).kernel
    own = np.array([0, 0], np.int32)
    with pytest.raises(ValueError, match="member 1 is frozen"):
        graph.widen(own, (1,), necessary=True, frozen=np.array([0, 1], np.uint8))
    with pytest.raises(ValueError, match="member 1 is unknown"):
        graph.widen(np.array([1, -1], np.int32), (1,), necessary=True)
    with pytest.raises(ValueError, match="no change of just these members"):
        graph.widen(own, (), necessary=True)


def test_numbers_that_do_not_fit_the_states() -> None:
    graph, own = chain_of(2, states=3).kernel, np.array([0, 0], np.int32)
    with pytest.raises(ValueError, match="numbers has 1 entries; it needs 2"):
        graph.widen(own, (0,), necessary=True, numbers=np.array([3], np.int32))
    for numbers in (-1, 1, 4):
        with pytest.raises(ValueError, match=f"variable 1 has 3 states, which {numbers} numbers"):
            graph.widen(own, (0,), necessary=True, numbers=np.array([0, numbers], np.int32))


def test_a_decision_that_is_always_the_same_has_one_box_without_members() -> None:
    graph = DecisionGraph.build([Variable.nominal("x", ["a"])], ["c"], [-1], [0], [()]).kernel
    start, low, high = graph.widen(np.array([0], np.int32), (), necessary=False)
    assert (start.tolist(), low.tolist(), high.tolist()) == ([0], [], [])


def test_long_paths_and_boxes_of_more_points_than_a_word_can_count() -> None:
    """No recursion in the depth of a graph, and the widest of 2^100 and more points come first."""
    graph = chain_of(5000, states=3)
    members = tuple(range(5000))
    start, low, high = graph.kernel.widen(np.zeros(5000, np.int32), members, necessary=False)
    assert boxes(start, low, high, 5000) == [(frozenset({0}),) * 5000]
    start, low, high = graph.kernel.widen(np.zeros(5000, np.int32), (4999,), necessary=True)
    assert boxes(start, low, high, 1) == [(frozenset({1, 2}),)]
    # x0 < 2 or x1 < 3 keeps the decision, if all others are not in their last state.
    states = 5
    made = [Variable.numeric(f"x{v}", [(float(k), True) for k in range(states - 1)]) for v in range(60)]
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]

    def add(variable: int, *below: Any) -> int:
        tests.append(variable)
        labels.append(-1)
        edges.append(below)
        return len(tests) - 1

    node = add(0, (((0, 1),), 0), (((2, 4),), add(1, (((0, 2),), 0), (((3, 4),), 1))))
    for v in range(2, 60):
        node = add(v, (((0, 3),), node), (((4, 4),), 1))
    tangled = DecisionGraph.build(made, ["a", "b"], tests, labels, edges).kernel
    own, numbers = np.zeros(60, np.int32), np.full(60, states, np.int32)
    with_first = (0, *range(2, 60))
    start, low, high = tangled.widen(own, with_first, necessary=False, numbers=numbers)
    assert boxes(start, low, high, 59) == [(frozenset({0, 1}), *[frozenset(range(4))] * 58)]
    # With more members than a reason needs there is a choice.
    start, low, high = tangled.widen(own, tuple(range(60)), necessary=False, numbers=numbers)
    rest = [frozenset(range(4))] * 58
    assert boxes(start, low, high, 60) == [
        (frozenset(range(5)), frozenset(range(3)), *rest),
        (frozenset(range(2)), frozenset(range(5)), *rest),
    ]


def test_a_shared_graph_is_not_unfolded_into_its_paths() -> None:
    """At least half of 60 switches are on: millions of millions of paths, a thousand nodes."""
    n = 60
    made = [Variable.nominal(f"x{v}", ["off", "on"]) for v in range(n)]
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    below = [int(count >= n // 2) for count in range(n + 1)]
    for v in reversed(range(n)):
        here = []
        for count in range(v + 1):
            tests.append(v)
            labels.append(-1)
            edges.append(((((0, 0),), below[count]), (((1, 1),), below[count + 1])))
            here.append(len(tests) - 1)
        below = here
    graph = DecisionGraph.build(made, ["few", "many"], tests, labels, edges).kernel
    own = np.array([1] * 40 + [0] * 20, np.int32)
    half, rest = tuple(range(n // 2)), tuple(range(40 - n // 2 + 1))
    assert boxes(*graph.widen(own, half, necessary=False, timeout=60.0), 30) == [(frozenset({1}),) * 30]
    assert boxes(*graph.widen(own, rest, necessary=True, timeout=60.0), 11) == [(frozenset({0}),) * 11]


def test_limits_end_the_work() -> None:
    """Of n pairs one each must stay: 2^n boxes, which neither the time nor the memory is enough for."""
    n = 40
    made = [Variable.nominal(f"x{v}", ["own", "other", "wrong"]) for v in range(2 * n)]
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    node = 0
    for v in range(0, 2 * n, 2):
        second = len(tests)
        tests += [v + 1, v + 1, v]
        labels += [-1] * 3
        edges += [
            ((((0, 0),), node), (((1, 1),), 1), (((2, 2),), 1)),
            ((((0, 1),), node), (((2, 2),), 1)),
            ((((0, 0),), second + 1), (((1, 1),), second), (((2, 2),), 1)),
        ]
        node = second + 2
    graph = DecisionGraph.build(made, ["a", "b"], tests, labels, edges).kernel
    own, members = np.zeros(2 * n, np.int32), tuple(range(2 * n))
    with pytest.raises(kernel.OverBudget, match="time"):
        graph.widen(own, members, necessary=False, timeout=0.05)
    with pytest.raises(kernel.OverBudget, match="memory"):
        graph.widen(own, members, necessary=False, memory=100_000)
