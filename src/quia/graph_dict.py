"""The JSON format of a decision graph: plain dicts in, the same dicts out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from quia import conditions
from quia.conditions import Condition
from quia.consistent import Edges
from quia.cuts import Interval
from quia.declarations import (
    VERSION,
    check_keys,
    check_version,
    declarations,
    declare,
    declared_cuts,
    given_in,
    given_of,
    read_classes,
)
from quia.errors import GraphError, brief, did_you_mean, listed, shown
from quia.graph import DecisionGraph
from quia.ranges import Ranges, union
from quia.variables import MISSING, Variable

_Conditions = tuple[Condition, ...] | tuple[object, ...]


def read(data: Mapping[str, Any]) -> DecisionGraph:
    """A graph from its JSON format; every fault is a GraphError that names the node.

    Complexity: linear in the data, but for tests that must be made consistent.
    """
    required = ("quia", "variables", "classes", "root", "nodes")
    check_keys(data, "the graph", required=required, optional=("given",))
    check_version(data["quia"])
    declared = declarations(data["variables"])
    classes = read_classes(data["classes"])
    nodes = _nodes(data["nodes"])
    root = data["root"]
    if not isinstance(root, str) or root not in nodes:
        raise GraphError(f"the root is {shown(root)}, which is no node{did_you_mean(root, nodes)}")
    order = _children_first(nodes, root)

    parsed = {name: _parsed_edges(name, node, declared) for name, node in nodes.items() if "test" in node}
    variables = _variables(declared, parsed, nodes, set(order))
    index = {v.name: i for i, v in enumerate(variables)}
    position = {name: i for i, name in enumerate(order)}
    tests, labels, edges = [], [], []
    for name in order:
        node = nodes[name]
        tests.append(index[node["test"]] if "test" in node else -1)
        labels.append(-1 if "test" in node else _class_of(name, node["class"], classes))
        edges.append(_edges(name, variables[tests[-1]], parsed[name], position) if "test" in node else ())
    unreached = [name for name in nodes if name not in position]
    notes = [f"dropped {len(unreached)} nodes that the root does not reach: {listed(unreached, 8)}"]
    return DecisionGraph.build(
        variables,
        list(classes),
        tests,
        labels,
        edges,
        names=order,
        notes=notes if unreached else (),
        given=given_in(data, variables),
    )


def write(graph: DecisionGraph) -> dict[str, Any]:
    """The JSON format of a graph."""
    nodes: dict[str, Any] = {}
    for node in range(len(graph) - 1, -1, -1):
        test, label, edges = graph.nodes[node]
        if test < 0:
            nodes[graph.name(node)] = {"class": graph.classes[label]}
            continue
        domain = union(pair for states, _ in edges for pair in states)
        nodes[graph.name(node)] = {
            "test": graph.variables[test].name,
            "edges": [
                {"if": conditions.write(graph.variables[test], states, domain), "to": graph.name(child)}
                for states, child in edges
            ],
        }
    return {
        "quia": VERSION,
        "variables": _declared(graph),
        "classes": list(graph.classes),
        **given_of(graph),
        "root": graph.name(len(graph) - 1),
        "nodes": nodes,
    }


def _declared(graph: DecisionGraph) -> dict[str, Any]:
    """The declarations of the variables, without cuts that the conditions of the nodes already show."""
    ends: dict[int, set[int]] = {v: set() for v in range(len(graph.variables))}
    for test, _, edges in graph.nodes:
        for states, _ in edges:
            ends[test].update(state for low, high in states for state in (low - 1, high))
    return {
        variable.name: declare(variable, ends[index], missing=variable.missing and not ends[index])
        for index, variable in enumerate(graph.variables)
    }


def _nodes(data: Any) -> dict[str, Mapping[str, Any]]:
    """The nodes, checked for their keys and for edges that lead to nodes."""
    if not isinstance(data, Mapping):
        raise GraphError(f"'nodes' is {shown(data)}; it must be an object from name to node")
    for name, node in data.items():
        if not isinstance(name, str):
            raise GraphError(f"a node's name is {shown(name)}; names are strings")
        if isinstance(node, Mapping) and "class" in node:
            check_keys(node, f"leaf {name!r}", required=("class",))
            continue
        check_keys(node, f"node {name!r}", required=("test", "edges"))
        if not isinstance(node["edges"], (list, tuple)) or not node["edges"]:
            raise GraphError(f"the edges of node {shown(name)} are {shown(node['edges'])}; give a list of one or more")
        for edge in node["edges"]:
            check_keys(edge, f"an edge of node {name!r}", required=("if", "to"))
            if not isinstance(edge["to"], str) or edge["to"] not in data:
                hint = did_you_mean(edge["to"], data) if len(data) <= 2000 else ""
                raise GraphError(f"an edge of node {shown(name)} leads to {shown(edge['to'])}, which is no node{hint}")
    return dict(data)


def _children_first(nodes: Mapping[str, Mapping[str, Any]], root: str) -> list[str]:
    """The nodes that the root reaches, children before parents; a cycle is an error."""
    order: list[str] = []
    on_current_path: dict[str, bool] = {root: True}  # True while on the path from the root, False when done
    work = [(root, iter(nodes[root].get("edges", ())))]
    while work:
        name, rest = work[-1]
        for edge in rest:
            there = edge["to"]
            if there not in on_current_path:
                on_current_path[there] = True
                work.append((there, iter(nodes[there].get("edges", ()))))
                break
            if on_current_path[there]:
                path = [ancestor for ancestor, _ in work]
                cycle = [*path[path.index(there) :], there]
                shown_cycle = " → ".join(brief(ancestor, 30) for ancestor in cycle[:8])
                raise GraphError(f"node {shown(there)} is below itself: {shown_cycle}; a graph has no cycle")
        else:
            work.pop()
            on_current_path[name] = False
            order.append(name)
    return order


def _parsed_edges(
    name: str, node: Mapping[str, Any], declared: Mapping[str, Mapping[str, Any]]
) -> list[tuple[_Conditions, str]]:
    """The conditions of a node's edges, each with the node it leads to."""
    test = node["test"]
    if not isinstance(test, str) or test not in declared:
        raise GraphError(f"node {shown(name)} tests {shown(test)}, which is no variable{did_you_mean(test, declared)}")
    parsed: list[tuple[_Conditions, str]] = []
    for edge in node["edges"]:
        listed_conditions = edge["if"] if isinstance(edge["if"], (list, tuple)) else [edge["if"]]
        if not listed_conditions:
            raise GraphError(f"an edge of node {shown(name)} has no condition; say for which states it is")
        if declared[test]["kind"] == "nominal":
            parsed.append((tuple(listed_conditions), edge["to"]))
            continue
        try:
            parsed.append((tuple(conditions.parse(condition) for condition in listed_conditions), edge["to"]))
        except GraphError as fault:
            raise GraphError(f"node {shown(name)}: {fault}") from None
    return parsed


def _variables(
    declared: Mapping[str, Mapping[str, Any]],
    parsed: Mapping[str, list[tuple[_Conditions, str]]],
    nodes: Mapping[str, Mapping[str, Any]],
    reached: Collection[str],
) -> list[Variable]:
    """The variables, the numeric ones cut wherever a node, or their declaration, cuts them."""
    cuts = {name: dict.fromkeys(declared_cuts(name, declaration)) for name, declaration in declared.items()}
    missing = {name for name, declaration in declared.items() if declaration.get("missing")}
    for name, edges in parsed.items():
        test = nodes[name]["test"]
        if declared[test]["kind"] == "nominal":
            continue
        for edge_conditions, _ in edges:
            for condition in edge_conditions:
                if condition == MISSING:
                    if name in reached:
                        missing.add(test)
                elif isinstance(condition, Interval):
                    cuts[test].update((cut, None) for cut in condition if cut is not None)
    return [
        Variable.nominal(
            name, declaration["states"], other=declaration.get("other"), no_value=declaration.get("missing")
        )
        if declaration["kind"] == "nominal"
        else Variable.numeric(name, cuts[name], missing=name in missing, single=declaration.get("type") == "float32")
        for name, declaration in declared.items()
    ]


def _class_of(name: str, label: Any, classes: Mapping[str, int]) -> int:
    if not isinstance(label, str) or label not in classes:
        raise GraphError(
            f"leaf {shown(name)} has the class {shown(label)}, which is not declared; the classes are {listed(classes)}"
            f"{did_you_mean(label, classes)}"
        )
    return classes[label]


def _edges(name: str, variable: Variable, parsed: list[tuple[_Conditions, str]], position: Mapping[str, int]) -> Edges:
    try:
        return tuple((_states(variable, edge_conditions), position[child]) for edge_conditions, child in parsed)
    except GraphError as fault:
        raise GraphError(f"node {shown(name)}: {fault}") from None


def _states(variable: Variable, edge_conditions: _Conditions) -> Ranges:
    if variable.is_numeric:
        return conditions.states_where(variable, edge_conditions)  # type: ignore[arg-type]
    return conditions.states_named(variable, edge_conditions)
