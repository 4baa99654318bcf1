"""Decision graphs: the JSON format, the weak test-once property, and what is refused."""

import copy
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest

import quia
from quia import consistent
from quia.load import json as json_format
from strategies import random_graph, random_instance


def small() -> dict[str, Any]:
    return {
        "quia": 1,
        "variables": {"N": {"kind": "numeric"}, "C": {"kind": "nominal", "states": ["a", "b", "c"]}},
        "classes": ["no", "yes"],
        "root": "n",
        "nodes": {
            "n": {"test": "N", "edges": [{"if": "<= 3", "to": "c"}, {"if": "> 3", "to": "y"}]},
            "c": {"test": "C", "edges": [{"if": ["a"], "to": "y"}, {"if": ["b", "c"], "to": "x"}]},
            "y": {"class": "yes"},
            "x": {"class": "no"},
        },
    }


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The small graph with one part replaced."""
    d = copy.deepcopy(small())
    part: Any = d
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return d


FAULTS: list[tuple[dict[str, Any], str]] = [
    (changed("quia", to=2), "version 'quia' is 2"),
    (changed("quia", to=True), "version"),
    (changed("root", to="z"), "root is 'z'"),
    (changed("root", to=None), "root is None"),
    (changed("nodes", to=[]), "'nodes' is"),
    (changed("nodes", "n", to=None), "node 'n'"),
    (changed("nodes", "n", "edges", 0, "to", to="m"), "an edge of node 'n' leads to 'm'"),
    (changed("nodes", "n", "edges", 0, "to", to="n"), "node 'n' is below itself"),
    (changed("nodes", "c", "edges", 0, "to", to="n"), "is below itself: n → c → n"),
    (changed("nodes", "n", "edges", 1, "if", to=">= 3"), "two edges of node 'n' take N = 3"),
    (changed("nodes", "n", "edges", 1, "if", to="> 4"), "no edge of node 'n' takes N in \\(3, 4\\]"),
    (changed("nodes", "n", "edges", 1, "if", to="> three"), "node 'n'.*'three' where a number should be"),
    (changed("nodes", "n", "edges", 1, "if", to="nan"), "node 'n'.*cannot be read"),
    (changed("nodes", "n", "edges", 1, "if", to="(4, 3]"), "node 'n'.*holds for no number"),
    (changed("nodes", "n", "edges", 1, "if", to=3), "node 'n'.*is not a string"),
    (changed("nodes", "n", "edges", 1, "if", to=[]), "no condition"),
    (changed("nodes", "n", "edges", to=[]), "edges of node 'n'"),
    (changed("nodes", "c", "edges", 0, "if", to=["d"]), "node 'c'.*no state 'd'"),
    (changed("nodes", "c", "edges", 0, "if", to=["a", "a"]), "node 'c'.*twice"),
    (changed("nodes", "c", "edges", 0, "if", to=["a", "b"]), "two edges of node 'c' take C=b"),
    (changed("nodes", "c", "edges", 1, "if", to=["b"]), "no edge of node 'c' takes C=c"),
    (changed("nodes", "c", "test", to="D"), "node 'c' tests 'D'"),
    (changed("nodes", "y", "class", to="maybe"), "leaf 'y' has the class 'maybe', which is not declared"),
    (changed("nodes", "y", "clas", to="yes"), "leaf 'y' has 'clas'"),
    (changed("classes", to=["no", "yes", "no"]), "'no' is named twice"),
    (changed("classes", to=[]), "'classes' is"),
    (changed("classes", to=[1]), "a class is 1"),
    (changed("variables", "C", "states", to=["a", "a"]), "'a' twice"),
    (changed("variables", "C", "kind", to="ordinal"), "kind 'ordinal'"),
    (changed("variables", "N", "cuts", to=["> 3"]), "write it as"),
    (changed("variables", to=None), "'variables' is None"),
    (changed("extra", to=1), "the graph has 'extra'"),
]


@pytest.mark.parametrize(("data", "match"), FAULTS, ids=[match for _, match in FAULTS])
def test_faults_are_named(data: dict[str, Any], match: str) -> None:
    with pytest.raises(quia.GraphError, match=match) as fault:
        quia.DecisionGraph.from_dict(data)
    assert "\n" not in str(fault.value)


def test_unreachable_nodes_are_dropped_with_a_note() -> None:
    d = changed("nodes", "z", to={"test": "N", "edges": [{"if": "<= 7", "to": "y"}, {"if": "> 7", "to": "x"}]})
    graph = quia.DecisionGraph.from_dict(d)
    assert graph.names == ("y", "x", "c", "n")
    assert graph.notes == ("dropped 1 nodes that the root does not reach: z",)


def test_round_trip_of_what_people_write(examples: Path) -> None:
    for file in examples.glob("*.json"):
        written = json.loads(file.read_text())
        assert quia.load(file).to_dict() == written


@pytest.mark.parametrize("seed", range(4))
def test_round_trip_of_random_graphs(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    for _ in range(150):
        graph = quia.DecisionGraph.from_dict(random_graph(rng))
        again = quia.DecisionGraph.from_dict(graph.to_dict())
        assert again == graph
        assert again.to_dict() == graph.to_dict()
        assert again.notes == (), "a written graph needs no more changes"
        json_format.write(graph, tmp_path / "g.json")
        assert quia.load(tmp_path / "g.json") == graph


@pytest.mark.parametrize("seed", range(4))
def test_the_weak_test_once_property_holds(seed: int) -> None:
    """On every path, a node's edges part just what the last test of its variable left possible (paper §4)."""
    rng = Random(100 + seed)
    for _ in range(100):
        graph = quia.DecisionGraph.from_dict(random_graph(rng))
        whole = {v: frozenset(range(variable.size)) for v, variable in enumerate(graph.variables)}
        work = [(len(graph) - 1, whole)]
        while work:
            node, possible = work.pop()
            test, _, edges = graph.nodes[node]
            if test < 0:
                continue
            sets = [frozenset(s for low, high in ranges for s in range(low, high + 1)) for ranges, _ in edges]
            assert all(sets)
            assert sum(map(len, sets)) == len(possible[test])
            assert frozenset().union(*sets) == possible[test]
            work += [(child, possible | {test: states}) for states, (_, child) in zip(sets, edges, strict=True)]


def test_specialising_is_told_and_keeps_what_is_decided() -> None:
    """A shared node that tests N again below two different tests of N."""
    d = small()
    d["nodes"] = {
        "n": {"test": "N", "edges": [{"if": "<= 3", "to": "c"}, {"if": "> 3", "to": "c'"}]},
        "c": {"test": "C", "edges": [{"if": ["a"], "to": "again"}, {"if": ["b", "c"], "to": "x"}]},
        "c'": {"test": "C", "edges": [{"if": ["a"], "to": "x"}, {"if": ["b", "c"], "to": "again"}]},
        "again": {
            "test": "N",
            "edges": [{"if": "<= 1", "to": "y"}, {"if": "(1, 5]", "to": "x"}, {"if": "> 5", "to": "y"}],
        },
        "y": {"class": "yes"},
        "x": {"class": "no"},
    }
    graph = quia.DecisionGraph.from_dict(d)
    assert len(graph) == 7
    assert graph.names is not None
    assert "again~2" in graph.names
    assert "specialised: 6 nodes became 7" in graph.notes[0]
    assert "in differing contexts below 1 of them" in graph.notes[0]
    assert [graph.classify({"N": n, "C": "a"}) for n in (0, 2, 4, 6)] == ["yes", "no", "no", "no"]
    assert [graph.classify({"N": n, "C": "b"}) for n in (0, 2, 4, 6)] == ["no", "no", "no", "yes"]


def test_growth_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ladder whose every rung cuts one variable anew has a context for each subset of rungs."""
    monkeypatch.setattr(consistent, "GROWTH_LIMIT", 200)
    rungs = 24
    nodes: dict[str, Any] = {"end0": {"class": "no"}, "end1": {"class": "yes"}}
    variables: dict[str, Any] = {f"v{i}": {"kind": "nominal", "states": ["a", "b", "c"]} for i in range(rungs)}
    for i in range(2 * rungs):
        below = f"r{i + 1}"
        nodes[f"r{i}"] = {
            "test": f"v{i % rungs}",
            "edges": [{"if": ["a"], "to": below}, {"if": ["b"], "to": below}, {"if": ["c"], "to": below}],
        }
    nodes[f"r{2 * rungs}"] = {"test": "v0", "edges": [{"if": ["a"], "to": "end0"}, {"if": ["b", "c"], "to": "end1"}]}
    with pytest.raises(quia.TooLarge, match="consistent would take more than"):
        quia.DecisionGraph.from_dict(
            {"quia": 1, "variables": variables, "classes": ["no", "yes"], "root": "r0", "nodes": nodes}
        )


def chain(depth: int, *, variables: int) -> dict[str, Any]:
    """A chain of tests: of one numeric variable again and again, or of many nominal ones."""
    nodes: dict[str, Any] = {"yes": {"class": "yes"}, "no": {"class": "no"}}
    for i in range(depth):
        to = f"n{i + 1}" if i + 1 < depth else "yes"
        if variables == 1:
            nodes[f"n{i}"] = {"test": "x", "edges": [{"if": f"<= {i}", "to": "no"}, {"if": f"> {i}", "to": to}]}
        else:
            nodes[f"n{i}"] = {"test": f"x{i}", "edges": [{"if": ["a"], "to": "no"}, {"if": ["b"], "to": to}]}
    declared: dict[str, Any] = {f"x{i}": {"kind": "nominal", "states": ["a", "b"]} for i in range(depth)}
    return {
        "quia": 1,
        "variables": {"x": {"kind": "numeric"}} if variables == 1 else declared,
        "classes": ["yes", "no"],
        "root": "n0",
        "nodes": nodes,
    }


def ladder(depth: int) -> dict[str, Any]:
    """Two nodes a level, each leading to both of the next."""
    nodes: dict[str, Any] = {"a0": {"class": "yes"}, "b0": {"class": "no"}}
    for i in range(1, depth + 1):
        for side, (one, other) in {"a": "ab", "b": "ba"}.items():
            nodes[f"{side}{i}"] = {
                "test": f"x{i}",
                "edges": [{"if": ["0"], "to": f"{one}{i - 1}"}, {"if": ["1"], "to": f"{other}{i - 1}"}],
            }
    variables = {f"x{i}": {"kind": "nominal", "states": ["0", "1"]} for i in range(1, depth + 1)}
    return {"quia": 1, "variables": variables, "classes": ["yes", "no"], "root": f"a{depth}", "nodes": nodes}


@pytest.mark.parametrize(
    ("make", "instance"),
    [
        (lambda n: chain(n, variables=1), lambda n: {"x": n / 2}),
        (lambda n: chain(n, variables=n), lambda n: ["b"] * n),
        (lambda n: ladder(n // 2), lambda n: ["0"] * (n // 2)),
    ],
    ids=["one variable", "many variables", "ladder"],
)
def test_deep_graphs_need_no_recursion_and_grow_linearly(make: Any, instance: Any) -> None:
    """40,000 nodes deep, or shared: loading, classifying, the complete reason, writing."""
    size = 40_000
    d, values = make(size), instance(size)
    graph = quia.DecisionGraph.from_dict(d)
    assert graph.classify(values) in ("yes", "no")
    why = quia.explain(graph, values)
    assert why.complete_reason.node_count <= 6 * size
    assert why.is_congruent(values)
    d["nodes"] = {
        name: node for name, node in d["nodes"].items() if not name.startswith("b") or name[1:] != str(size // 2)
    }
    assert graph.to_dict() == d, "all but the one node of the ladder that its root does not reach"


def test_infinite_bounds_bound_nothing() -> None:
    """As some programs write them: `[-inf, 3]` is `<= 3` and `(3, inf]` is `> 3`, infinite numbers and all."""
    edges = [{"if": "[-inf, 3]", "to": "c"}, {"if": "(3, inf]", "to": "y"}]
    graph = quia.DecisionGraph.from_dict(changed("nodes", "n", "edges", to=edges))
    assert graph == quia.DecisionGraph.from_dict(small())
    assert [graph.classify([n, "b"]) for n in (-math.inf, 3, 4, math.inf)] == ["no", "no", "yes", "yes"]


def test_a_graph_is_equal_to_graphs_alone() -> None:
    graph = quia.DecisionGraph.from_dict(small())
    assert graph == quia.DecisionGraph.from_dict(small())
    for part, to in ((("classes",), ["yes", "no"]), (("nodes", "y", "class"), "no")):
        assert graph != quia.DecisionGraph.from_dict(changed(*part, to=to))
    for other in (small(), 3, None):
        assert (graph == other) is False
        assert (quia.explain(graph, [1, "a"]).complete_reason == other) is False


def test_random_instances_are_classified_as_a_walk_would(examples: Path) -> None:
    rng = Random(5)
    for _ in range(200):
        d = random_graph(rng)
        graph = quia.DecisionGraph.from_dict(d)
        instance = random_instance(rng, d)
        assert graph.classify(instance) == graph.classify([instance[v.name] for v in graph.variables])
        assert graph.classify(instance | {"more": 1}) == graph.classify(instance)


def test_an_instance_must_have_what_is_tested(examples: Path) -> None:
    iris = quia.load(examples / "iris.json")
    assert iris.classify({"petalwidth": 0.5, "petallength": 1}) == "Iris-setosa"
    with pytest.raises(quia.InstanceError, match="no value for 'petallength'"):
        iris.classify({"petalwidth": 0.5, "petal_length": 1})
    with pytest.raises(quia.InstanceError, match="has 2 values; the classifier has 4"):
        iris.classify([0.5, 1])
    with pytest.raises(quia.InstanceError, match="give a mapping"):
        iris.classify("setosa")
    with pytest.raises(quia.InstanceError, match="give a mapping"):
        iris.classify(3)
