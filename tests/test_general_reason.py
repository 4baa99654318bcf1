"""The general reason: its definition by brute force, its clauses from leaf boxes, and the formula that keeps it."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import oracle
import quia
from booleans import CIRCUITS, tree
from contract import Subject
from quia import formula
from quia.classifier import ClassifierBase
from quia.nnf import NNF, Builder
from quia.nnf_text import dot
from quia.ranges import members, union
from quia.variables import UNKNOWN
from strategies import random_against, random_case, random_frozen, random_graph, random_instance

EXAMPLES = Path(__file__).parents[1] / "examples"
APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
LIMITS = {"features": 4, "states": 4, "tests": 12}


def models(
    d: Mapping[str, Any], instance: Mapping[str, Any], against: str | None, frozen: frozenset[str]
) -> set[tuple[Any, ...]]:
    """The definition: every mixture of the world with the instance, which keeps what is frozen, keeps the decision.

    Unknown features have every value in turn, so that it is kept whatever they are.
    """
    classes, known = oracle.worlds(d), oracle.known(d, instance)
    decided = oracle.decision(d, instance)

    def mixtures(world: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        choices = []
        for x, value in zip(d["variables"], world, strict=True):
            if x not in known:
                choices.append(oracle.space(d)[x])
            else:
                choices.append([known[x]] if x in frozen else list({known[x], value}))
        return product(*choices)

    def kept(label: str) -> bool:
        return label == decided if against is None else label != against

    return {world for world in classes if all(kept(classes[mixed]) for mixed in mixtures(world))}


def partial_question(rng: Random, **limits: Any) -> tuple[dict[str, Any], dict[str, Any], quia.Explanation] | None:
    """A graph, an instance that may lack values, and the explanation; None if it asks for nothing."""
    case = random_case(rng, **{**LIMITS, **limits})
    graph = quia.DecisionGraph.from_dict(case.graph)
    can = {v.name for v in graph.variables if not v.missing}
    share = rng.choice((0.0, 0.4))
    known = {x: value for x, value in case.instance.items() if x not in can or rng.random() > share}
    decided = oracle.decision(case.graph, known)
    if decided is None or decided == case.against:
        return None
    given = {x: known.get(x) for x in case.graph["variables"]}
    return case.graph, known, quia.explain(graph, given, against=case.against, frozen=case.frozen)


def instances(d: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every world, and the values of an instance in it."""
    return ((world, dict(zip(d["variables"], world, strict=True))) for world in oracle.worlds(d))


@pytest.mark.parametrize("sharing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_it_holds_where_every_mixture_with_the_instance_keeps_the_decision(seed: int, sharing: float) -> None:
    rng = Random(seed)
    with_sets = with_unknown = 0
    for _ in range(120):
        asked = partial_question(rng, sharing=sharing)
        if asked is None:
            continue
        d, known, why = asked
        reason = why.general_reason
        expected = models(d, known, why.against, frozenset(why.frozen))
        with_sets += any(state < -1 for _, _, state, _ in reason.nodes)
        with_unknown += bool(why.unknown)
        assert not set(why.unknown) & {why.variables[v].name for v in reason.mentioned}
        assert not set(why.frozen) & {why.variables[v].name for v in reason.mentioned}
        assert why.is_constant == reason.is_true
        assert len(reason) == 1 or not {"true", "false"} & {kind for _, kind, _, _ in reason.walk()}
        assert len(set(reason.nodes)) == len(reason), "equal nodes are made once"
        narrow = why.complete_reason
        for world, values in instances(d):
            assert reason.evaluate(values) == (world in expected), (d, known, why.against, why.frozen, world)
            assert reason.evaluate(values) or not narrow.evaluate(values), "the complete reason implies it"
    assert with_sets > 10 and with_unknown > 3


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_clauses_of_the_leaf_boxes(seed: int) -> None:
    """For each path to a leaf of another class: one of the features is not where the path goes and the instance not."""
    rng = Random(100 + seed)
    for _ in range(80):
        asked = partial_question(rng)
        if asked is None:
            continue
        _, _, why = asked
        graph, question = why.classifier, why.question
        assert isinstance(graph, quia.DecisionGraph)
        clauses = list(clauses_of(graph, question))
        worlds = product(*(range(variable.size) for variable in graph.variables))
        for world in worlds:
            values = why.general_reason.holds(
                lambda v, s, world=world: why.general_reason.literal(v, s).covers(world[v])
            )
            assert values == all(any(world[v] not in box for v, box in clause.items()) for clause in clauses)


def clauses_of(graph: quia.DecisionGraph, question: Any) -> Iterator[dict[int, set[int]]]:
    """Of each leaf box that does not keep the decision: what keeps the instance from it, and the sides of the box."""
    work: list[tuple[int, dict[int, set[int]]]] = [(len(graph) - 1, {})]
    while work:
        node, box = work.pop()
        test, label, edges = graph.nodes[node]
        for ranges, child in edges:
            states = set(members(ranges))
            work.append((child, {**box, test: box[test] & states if test in box else states}))
        if test < 0 and label not in question.keeps:
            apart = {v: b for v, b in box.items() if question.states[v] not in {UNKNOWN, *b}}
            if not apart.keys() & set(question.frozen):
                yield apart


@pytest.mark.parametrize("name", sorted(CIRCUITS))
def test_of_two_states_it_is_the_complete_reason(name: str, tmp_path: Path) -> None:
    rng = Random(7)
    for _ in range(12):
        n = rng.choice((2, 3, 4))
        mask = rng.getrandbits(1 << n)
        d = tree(mask, n)
        circuit = CIRCUITS[name](mask, n, rng, tmp_path)
        instance = random_instance(rng, d)
        frozen = random_frozen(rng, d)
        why = quia.explain(circuit, instance, frozen=frozen)
        graph = quia.explain(quia.DecisionGraph.from_dict(d), instance, frozen=frozen)
        assert why.general_reason is why.complete_reason
        assert graph.general_reason is graph.complete_reason
        assert isinstance(graph.classifier, quia.DecisionGraph)
        form = graph.classifier.general_reason(graph.question)
        expected = models(d, instance, None, frozen)
        for world, values in instances(d):
            assert why.general_reason.evaluate(values) == form.evaluate(values) == (world in expected)


def test_admissions() -> None:
    """The paper's applicant: any GPA but a high one would do as well."""
    why = quia.explain(quia.load(EXAMPLES / "admissions.json"), APPLICANT)
    assert str(why.general_reason) == (
        "Interview=fail & (GPA ≠ high | (Interview=fail & Essay=fail)) & (SAT < 1450 | (Interview=fail & Essay=fail))"
    )
    assert str(why.complete_reason) == str(why.general_reason).replace("GPA ≠ high", "GPA=medium")
    assert why.general_reason.evaluate({**APPLICANT, "GPA": "low", "Essay": "pass"})
    assert not why.complete_reason.evaluate({**APPLICANT, "GPA": "low", "Essay": "pass"})
    assert "SAT < 1450" in dot(why.general_reason) and "GPA ≠ high" in dot(why.general_reason)


def test_iris() -> None:
    """A feature that is tested again: what cannot be any more is not said again, and an 'or' is in brackets."""
    graph = quia.load(EXAMPLES / "iris.json")
    found = {}
    for length, width in ((1, 0.2), (4, 1.3), (6, 2.0)):
        why = quia.explain(graph, {"petallength": length, "petalwidth": width})
        found[why.decision] = str(why.general_reason)
    assert found == {
        "Iris-setosa": "petalwidth <= 0.6",
        "Iris-versicolor": "petalwidth > 0.6 & petallength <= 4.9 & petalwidth <= 1.7",
        "Iris-virginica": (
            "petalwidth > 0.6 & ((petalwidth <= 0.6 or > 1.7) | (petallength > 4.9 & petalwidth in (0.6, 1.5]))"
        ),
    }


def sizes(graph: quia.DecisionGraph, values: Any) -> tuple[int, int]:
    """How large a general reason is, its sets of states included, and how large the graph is."""
    reason = quia.explain(graph, values).general_reason
    made = len(reason) + reason.edge_count + sum(map(len, reason.sets))
    return made, len(graph) + len(graph.child) + len(graph.low)


def many_states(cuts: int) -> quia.DecisionGraph:
    """A chain of cuts of one number, each of which asks of one state of a name with as many."""
    width = quia.Variable.numeric("W", range(cuts))
    name = quia.Variable.nominal("N", map(str, range(cuts + 1)))
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    below = 0
    for cut in reversed(range(cuts)):
        tests += [1, 0]
        labels += [-1, -1]
        others = union(pair for pair in ((0, cut - 1), (cut + 1, cuts)) if pair[0] <= pair[1])
        edges.append(((((cut, cut),), cut % 2), (others, 1 - cut % 2)))
        edges.append(((((0, cut),), len(tests) - 2), (((cut + 1, cuts),), below)))
        below = len(tests) - 1
    return quia.DecisionGraph.build([width, name], ["no", "yes"], tests, labels, edges)


def test_it_is_linear_in_the_graph() -> None:
    ratios = []
    for cuts in (250, 500, 1000, 2000):
        made, given = sizes(many_states(cuts), {"W": cuts / 2, "N": "1"})
        ratios.append(made / given)
    assert max(ratios) < 2 and max(ratios) < 1.1 * min(ratios), ratios


@pytest.mark.parametrize("seed", range(3))
def test_it_is_linear_in_shared_graphs(seed: int) -> None:
    rng = Random(200 + seed)
    for tests in (20, 80, 200):
        d = random_graph(rng, features=8, states=6, tests=tests, sharing=0.6)
        made, given = sizes(quia.DecisionGraph.from_dict(d), random_instance(rng, d))
        assert made <= 4 * given + 4


# ---- no closed form ------------------------------------------------------------------------------------------------


def test_without_a_closed_form_it_says_what_to_ask() -> None:
    rng = Random(1)
    d = json.loads((EXAMPLES / "admissions.json").read_text())
    graph = quia.DecisionGraph.from_dict(d)
    twin = Subject(graph, d).twin(rng)
    with pytest.raises(quia.Unsupported, match=r"for a truth table; ask .* with sufficient_reasons\(general=True"):
        _ = quia.explain(twin, APPLICANT).general_reason
    with pytest.raises(quia.Unsupported, match="no closed form for some worlds only"):
        _ = quia.explain(ClosedForAllWorlds(graph), APPLICANT, within={"GPA": ["low", "medium"]}).general_reason
    assert str(quia.explain(ClosedForAllWorlds(graph), APPLICANT).general_reason)


class ClosedForAllWorlds(ClassifierBase):
    """A graph whose general reason is known only where all worlds are possible."""

    def __init__(self, graph: quia.DecisionGraph) -> None:
        self.variables, self.classes = graph.variables, graph.classes
        self.decide, self.escape, self.general_reason = graph.decide, graph.escape, graph.general_reason

    general_reason: Any = None
    escape: Any = None


def test_a_classifier_that_has_nothing_but_escape_and_two_states_has_it() -> None:
    rng = Random(2)
    for _ in range(15):
        d = tree(rng.getrandbits(8), 3)
        twin = Subject(quia.DecisionGraph.from_dict(d), d).twin(rng)
        assert isinstance(twin, ClassifierBase)
        instance = random_instance(rng, d)
        against = random_against(rng, d)
        if against == oracle.classify(d, instance):
            continue
        expected = models(d, instance, against, frozenset())
        reason = quia.explain(twin, instance, against=against).general_reason
        assert {world for world, values in instances(d) if reason.evaluate(values)} == expected


# ---- formulas with sets of states ----------------------------------------------------------------------------------


def reasons_with_sets(seed: int, count: int) -> Iterator[tuple[dict[str, Any], quia.Explanation]]:
    rng = Random(seed)
    while count:
        asked = partial_question(rng)
        if asked is not None and any(state < -1 for _, _, state, _ in asked[2].general_reason.nodes):
            count -= 1
            yield asked[0], asked[2]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_they_travel(way: Any) -> None:
    for _, why in reasons_with_sets(10, 20):
        reason = why.general_reason
        again = way(reason)
        assert again == reason and hash(again) == hash(reason) and str(again) == str(reason)
        assert reason != why.complete_reason


def test_they_are_equal_however_their_sets_are_numbered() -> None:
    variable = quia.Variable.nominal("X", list("abcd"))
    built = []
    for first in (((0, 1),), ((2, 3),)):
        build = Builder([variable])
        build.any_of(0, first)
        parts = [build.any_of(0, ((0, 1),)), build.any_of(0, ((1, 2),))]
        built.append(build.nnf(build.conjunction(parts)))
    one, other = built
    assert one.sets != other.sets and one == other and hash(one) == hash(other)
    assert str(one) == "X in {a, b} & X in {b, c}"
    assert not one.is_monotone
    with pytest.raises(quia.Unsupported, match=r"mentions X in \{a, b\} and X in \{b, c\}"):
        one.find_necessary()
    build = Builder([variable])
    assert build.any_of(0, ((0, 3),)) == build.true and build.any_of(0, ()) == build.false
    assert build.any_of(0, ((2, 2),)) == build.literal(0, 2)


def test_in_json() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((EXAMPLES.parent / "docs" / "schemas" / "nnf-2.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for _, why in reasons_with_sets(11, 60):
        reason = why.general_reason
        data = json.loads(json.dumps(reason.to_dict(), allow_nan=False))
        validator.validate(data)
        assert data["schema"] == "quia/nnf/2"
        assert NNF.from_dict(data, why.variables) == reason
        with pytest.raises(quia.FormatError, match=r"must be a literal of"):
            NNF.from_dict({**data, "schema": "quia/nnf/1"}, why.variables)
    assert not validator.is_valid({**data, "schema": "quia/nnf/1"})
    assert not validator.is_valid({**data, "nodes": [*data["nodes"], {"condition": {"feature": "X"}}]})


CONDITIONS = {
    "W": {
        "feature": "W",
        "intervals": [{"low": 1.0, "high": 2.0, "low_closed": False, "high_closed": False}],
        "missing": True,
        "text": "(1, 2) or missing",
    },
    "N": {"feature": "N", "in": ["a", "b"], "text": "≠ c"},
}


@pytest.mark.parametrize(
    ("feature", "wrong"),
    [
        ("W", {"feature": "V"}),
        ("W", {"feature": ["W"]}),
        ("W", {"intervals": None}),
        ("W", {"intervals": [], "missing": False}),
        ("W", {"missing": 1}),
        ("W", {"type": "float32"}),
        ("W", {"more": 1}),
        ("W", {"intervals": [3]}),
        *(
            ("W", {"intervals": [{**CONDITIONS["W"]["intervals"][0], **change}]})  # type: ignore[index]
            for change in (
                {"low": 1.5},
                {"low": "1"},
                {"low": True},
                {"high": float("nan")},
                {"high": 10**400},
                {"low_closed": True},
                {"high_closed": None},
                {"low": None, "low_closed": True},
                {"more": 0},
            )
        ),
        ("N", {"in": ["a", "x"]}),
        ("N", {"in": ["b", "a"]}),
        ("N", {"in": [["a"], "b"]}),
        ("N", {"in": []}),
        ("N", {"in": "ab"}),
        ("N", {"missing": False}),
    ],
)
def test_conditions_that_cannot_be_read_are_refused(feature: str, wrong: dict[str, Any]) -> None:
    variables = [
        quia.Variable.numeric("W", [1, (2, "before")], missing=True),
        quia.Variable.nominal("N", ["a", "b", "c"]),
    ]
    data = {"schema": "quia/nnf/2", "nodes": [{"condition": CONDITIONS[feature]}]}
    assert str(NNF.from_dict(data, variables)) == {"W": "W in (1, 2) or missing", "N": "N ≠ c"}[feature]
    data["nodes"] = [{"condition": {**CONDITIONS[feature], **wrong}}]
    with pytest.raises(quia.FormatError, match="must be a literal or condition of W, N"):
        NNF.from_dict(data, variables)


def test_a_condition_of_one_state_or_of_all_is_what_it_is() -> None:
    name = quia.Variable.nominal("N", ["a", "b"])
    for states, said in ((["a"], "N=a"), (["a", "b"], "true")):
        data = {"schema": "quia/nnf/2", "nodes": [{"condition": {"feature": "N", "in": states}}]}
        assert str(NNF.from_dict(data, [name])) == said


@pytest.mark.parametrize("seed", range(3))
def test_they_are_conditioned_and_become_formulas(seed: int) -> None:
    """Given some values, and as a formula that can be quantified, they mean the same."""
    rng = Random(300 + seed)
    for d, why in reasons_with_sets(20 + seed, 25):
        reason = why.general_reason
        as_formula = formula.from_nnf(reason)
        worlds = dict(instances(d))
        for _, values in rng.sample(sorted(worlds.items(), key=str), min(20, len(worlds))):
            given = {x: value for x, value in values.items() if rng.random() < 0.5}
            assert reason.condition(given).evaluate(values) == reason.evaluate(values)
            assert as_formula.satisfied_by(values) == reason.evaluate(values)
        assert reason.simplified() is reason
