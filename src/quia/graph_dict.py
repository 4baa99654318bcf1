"""The JSON format of a decision graph: plain dicts in, the same dicts out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from quia import conditions
from quia.conditions import Condition
from quia.consistent import Edges
from quia.cuts import Cut, Interval
from quia.errors import GraphError, brief, did_you_mean, listed, shown
from quia.graph import DecisionGraph
from quia.ranges import Ranges, union
from quia.variables import MISSING, Variable

VERSION = 1
_Conditions = tuple[Condition, ...] | tuple[object, ...]


def read(data: Mapping[str, Any]) -> DecisionGraph:
    """A graph from its JSON format; every fault is a GraphError that names the node.

    Complexity: linear in the data, but for tests that must be made consistent.
    """
    _check_keys(data, "the graph", required=("quia", "variables", "classes", "root", "nodes"))
    if type(data["quia"]) is not int or data["quia"] != VERSION:
        raise GraphError(f"the format version 'quia' is {shown(data['quia'])}; this release reads version {VERSION}")
    declared = _declarations(data["variables"])
    classes = _classes(data["classes"])
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
        variables, list(classes), tests, labels, edges, names=order, notes=notes if unreached else ()
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
        "root": graph.name(len(graph) - 1),
        "nodes": nodes,
    }


def _declared(graph: DecisionGraph) -> dict[str, Any]:
    """The declarations of the variables, without cuts that the conditions of the nodes already show."""
    ends: dict[int, set[int]] = {v: set() for v in range(len(graph.variables))}
    for test, _, edges in graph.nodes:
        for states, _ in edges:
            ends[test].update(state for low, high in states for state in (low - 1, high))
    declared: dict[str, Any] = {}
    for index, variable in enumerate(graph.variables):
        if variable.labels is not None:
            special = {"other": variable.other, "missing": variable.no_value}
            named = {key: label for key, label in special.items() if label is not None}
            declared[variable.name] = {"kind": "nominal", "states": list(variable.labels), **named}
            continue
        declared[variable.name] = {"kind": "numeric"}
        if variable.single:
            declared[variable.name]["type"] = "float32"
        if variable.missing and not ends[index]:
            declared[variable.name]["missing"] = True
        unused = [cut for state, cut in enumerate(variable.cuts) if state not in ends[index]]
        if unused:
            declared[variable.name]["cuts"] = [Interval(None, cut).readable().text for cut in unused]
    return declared


def _check_keys(data: Any, what: str, *, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    if not isinstance(data, Mapping):
        raise GraphError(f"{brief(what)} is {shown(data)}; it must be an object with {listed(required)}")
    for key in required:
        if key not in data:
            raise GraphError(f"{brief(what)} has no {shown(key)}; it must have {listed(required)}")
    for key in data:
        if key not in required and key not in optional:
            known = [*required, *optional]
            hint = did_you_mean(key, known)
            raise GraphError(f"{brief(what)} has {shown(key)}; it may only have {listed(known)}{hint}")


def _declarations(data: Any) -> dict[str, Mapping[str, Any]]:
    """The declared variables, their kinds checked."""
    if not isinstance(data, Mapping):
        raise GraphError(f"'variables' is {shown(data)}; it must be an object from name to kind")
    for name, declared in data.items():
        what = f"variable {shown(name)}"
        if not isinstance(name, str) or not name:
            raise GraphError(f"a variable's name is {shown(name)}; it must be a string that is not empty")
        kind = declared.get("kind") if isinstance(declared, Mapping) else None
        if kind == "nominal":
            _check_keys(declared, what, required=("kind", "states"), optional=("other", "missing"))
            if not isinstance(declared["states"], (list, tuple)):
                raise GraphError(f"the states of {what} are {shown(declared['states'])}; give a list of strings")
        elif kind == "numeric":
            _check_keys(declared, what, required=("kind",), optional=("type", "missing", "cuts"))
            if declared.get("type", "float64") not in ("float32", "float64"):
                raise GraphError(f"the type of {what} is {shown(declared['type'])}; it is 'float64' or 'float32'")
            if not isinstance(declared.get("cuts", []), (list, tuple)):
                raise GraphError(f"the cuts of {what} are {shown(declared['cuts'])}; give a list such as ['<= 3']")
            if not isinstance(declared.get("missing", False), bool):
                raise GraphError(f"'missing' of {what} is {shown(declared['missing'])}; it is true or false")
        else:
            shown_kind = shown(kind) if isinstance(declared, Mapping) else shown(declared)
            raise GraphError(f"{what} is of kind {shown_kind}; kinds are 'nominal' and 'numeric'")
    return dict(data)


def _classes(data: Any) -> dict[str, int]:
    if not isinstance(data, (list, tuple)) or not data:
        raise GraphError(f"'classes' is {shown(data)}; it must be a list of one or more strings")
    classes: dict[str, int] = {}
    for label in data:
        if not isinstance(label, str):
            raise GraphError(f"a class is {shown(label)}; classes are strings")
        if label in classes:
            raise GraphError(f"the class {shown(label)} is named twice; classes must differ")
        classes[label] = len(classes)
    return classes


def _nodes(data: Any) -> dict[str, Mapping[str, Any]]:
    """The nodes, checked for their keys and for edges that lead to nodes."""
    if not isinstance(data, Mapping):
        raise GraphError(f"'nodes' is {shown(data)}; it must be an object from name to node")
    for name, node in data.items():
        if not isinstance(name, str):
            raise GraphError(f"a node's name is {shown(name)}; names are strings")
        if isinstance(node, Mapping) and "class" in node:
            _check_keys(node, f"leaf {name!r}", required=("class",))
            continue
        _check_keys(node, f"node {name!r}", required=("test", "edges"))
        if not isinstance(node["edges"], (list, tuple)) or not node["edges"]:
            raise GraphError(f"the edges of node {shown(name)} are {shown(node['edges'])}; give a list of one or more")
        for edge in node["edges"]:
            _check_keys(edge, f"an edge of node {name!r}", required=("if", "to"))
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
    cuts = {name: dict.fromkeys(_declared_cuts(name, declaration)) for name, declaration in declared.items()}
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


def _declared_cuts(name: str, declared: Mapping[str, Any]) -> list[Cut]:
    """The cuts in a declaration, as in `"cuts": ["<= 3", "< 4"]`, which nodes need not make."""
    cuts = []
    for cut in declared.get("cuts", ()):
        try:
            condition = conditions.parse(cut)
        except GraphError as fault:
            raise GraphError(f"the cuts of variable {shown(name)}: {fault}") from None
        if isinstance(condition, str) or condition.lower is not None or condition.upper is None:
            raise GraphError(f"a cut of variable {shown(name)} is {shown(cut)}; write it as '<= t' or '< t'")
        cuts.append(condition.upper)
    return cuts


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
