"""The JSON format of an ensemble: plain dicts in, the same dicts out.

Tests stand once in a table, in the words of the format of graphs; the nodes of a tree are a list, in which `[test, yes,
no]` asks and leads to two later nodes, a number is a leaf of one score, and `{"values": […]}` one of all scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from quia import conditions
from quia.conditions import Condition
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
from quia.ensemble import Ensemble
from quia.errors import GraphError, did_you_mean, listed, shown
from quia.ranges import Ranges
from quia.sums import RULES, Group, Rule, Sums
from quia.trees import Trees
from quia.variables import MISSING, Variable

_Test = tuple[str, Sequence[Any]]
Ints = npt.NDArray[np.int64]


def read(data: Mapping[str, Any]) -> Ensemble:
    """An ensemble from its JSON format; every fault is a GraphError that names the tree and the node.

    Complexity: linear in the data.
    """
    required = ("quia", "variables", "classes", "tests", "trees", "sums", "rule")
    check_keys(data, "the ensemble", required=required, optional=("kind", "notes", "given"))
    check_version(data["quia"])
    declared = declarations(data["variables"])
    classes = read_classes(data["classes"])
    parsed = _parsed(data["tests"], declared)
    variables = _variables(declared, parsed)
    index = {v.name: i for i, v in enumerate(variables)}
    tests = [(index[name], _states(at, variables[index[name]], said)) for at, (name, said) in enumerate(parsed)]
    trees, outputs = _trees(data["trees"], tests)
    ensemble = Ensemble(
        tuple(variables),
        tuple(classes),
        trees,
        _sums(data["sums"], _rule(data["rule"]), outputs),
        _text(data.get("kind", "tree ensemble"), "kind"),
        tuple(_text(note, "notes") for note in _list(data.get("notes", []), "'notes'", "strings")),
        given_in(data, variables),
    )
    try:
        assert ensemble.kernel
    except ValueError as fault:
        raise GraphError(str(fault)) from None
    return ensemble


def write(ensemble: Ensemble) -> dict[str, Any]:
    """The JSON format of an ensemble."""
    trees, sums = ensemble.trees, ensemble.sums
    ends: dict[int, set[int]] = {v: set() for v in range(len(ensemble.variables))}
    tests = []
    for at, v in enumerate(trees.variable.tolist()):
        variable = ensemble.variables[v]
        few = slice(trees.range_start[at], trees.range_start[at + 1])
        ranges = tuple(zip(trees.low[few].tolist(), trees.high[few].tolist(), strict=True))
        ends[v].update(state for low, high in ranges for state in (low - 1, min(high, len(variable.cuts))))
        said = conditions.write(variable, ranges, ((0, variable.size - 1),))
        tests.append({"variable": variable.name, "if": said})
    return {
        "quia": VERSION,
        "kind": ensemble.kind,
        "variables": {v.name: declare(v, ends[i], missing=v.missing) for i, v in enumerate(ensemble.variables)},
        "classes": list(ensemble.classes),
        **({"notes": list(ensemble.notes)} if ensemble.notes else {}),
        **given_of(ensemble),
        "rule": {"kind": sums.rule.kind, **({"cuts": list(sums.rule.cuts)} if sums.rule.cuts else {})},
        "sums": {
            "start": list(sums.start),
            "type": "float32" if sums.single else "float64",
            **({"groups": [group._asdict() for group in sums.groups]} if sums.groups else {}),
            **({"divisor": sums.divisor} if sums.divisor != 1 else {}),
            **({"end": list(sums.end)} if sums.end else {}),
        },
        "tests": tests,
        "trees": _written_trees(trees, sums.outputs),
    }


def _written_trees(trees: Trees, outputs: Sequence[int]) -> list[dict[str, Any]]:
    first = np.repeat(trees.start[:-1], np.diff(trees.start))
    nodes: list[Any] = np.stack([trees.test, trees.yes - first, trees.no - first], axis=1).tolist()
    bounds = trees.start.tolist()
    is_shared = any(output < 0 for output in outputs)
    for node, values in zip(np.flatnonzero(trees.test < 0).tolist(), trees.values.tolist(), strict=True):
        nodes[node] = {"values": values} if is_shared else values[0]
    return [
        {**({} if is_shared else {"score": output}), "nodes": nodes[bounds[tree] : bounds[tree + 1]]}
        for tree, output in enumerate(outputs)
    ]


# ---- tests and variables ----------------------------------------------------------------------------------------


def _parsed(data: Any, declared: Mapping[str, Mapping[str, Any]]) -> list[_Test]:
    """The variable of each test, and its conditions."""
    parsed: list[_Test] = []
    for at, test in enumerate(_list(data, "'tests'", 'objects such as {"variable": "age", "if": "< 30"}')):
        check_keys(test, f"test {at}", required=("variable", "if"))
        name, said = test["variable"], test["if"]
        if not isinstance(name, str) or name not in declared:
            raise GraphError(f"test {at} is about {shown(name)}, which is no variable{did_you_mean(name, declared)}")
        listed_conditions = said if isinstance(said, (list, tuple)) else [said]
        if declared[name]["kind"] == "numeric":
            try:
                listed_conditions = [conditions.parse(condition) for condition in listed_conditions]
            except GraphError as fault:
                raise GraphError(f"test {at}: {fault}") from None
        parsed.append((name, listed_conditions))
    return parsed


def _variables(declared: Mapping[str, Mapping[str, Any]], parsed: Sequence[_Test]) -> list[Variable]:
    """The variables, the numeric ones cut wherever a test, or their declaration, cuts them."""
    cuts = {name: dict.fromkeys(declared_cuts(name, declaration)) for name, declaration in declared.items()}
    missing = {name for name, declaration in declared.items() if declaration.get("missing")}
    for name, said in parsed:
        if declared[name]["kind"] == "numeric":
            if MISSING in said:
                missing.add(name)
            for each in said:
                if isinstance(each, Interval):
                    cuts[name].update((cut, None) for cut in each if cut is not None)
    return [
        Variable.nominal(name, given["states"], other=given.get("other"), no_value=given.get("missing"))
        if given["kind"] == "nominal"
        else Variable.numeric(name, cuts[name], missing=name in missing, single=given.get("type") == "float32")
        for name, given in declared.items()
    ]


def _states(at: int, variable: Variable, said: Sequence[Any]) -> Ranges:
    try:
        if variable.is_numeric:
            numeric: Sequence[Condition] = said
            return conditions.states_where(variable, numeric)
        return conditions.states_named(variable, said)
    except GraphError as fault:
        raise GraphError(f"test {at}: {fault}") from None


# ---- trees ------------------------------------------------------------------------------------------------------


def _trees(data: Any, tests: Sequence[tuple[int, Ranges]]) -> tuple[Trees, tuple[int, ...]]:
    """The trees in flat arrays, every number of a node or a test checked, and the score that each adds to."""
    lists, outputs = [], []
    for at, tree in enumerate(_list(data, "'trees'", 'objects such as {"score": 0, "nodes": [[0, 1, 2], -1.5, 1.5]}')):
        check_keys(tree, f"tree {at}", required=("nodes",), optional=("score",))
        nodes = _list(tree["nodes"], f"the list of nodes of tree {at}", "[test, yes, no] and leaves")
        if not nodes:
            raise GraphError(f"tree {at} has no node; a tree is a leaf at least")
        outputs.append(_whole(tree["score"], f"the score of tree {at}") if "score" in tree else -1)
        lists.append(nodes)
    start = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    every = list(chain.from_iterable(lists))
    asks = np.fromiter((isinstance(node, (list, tuple)) for node in every), bool, len(every))
    triples = [node for node in every if isinstance(node, (list, tuple))]
    values = _values([node for node in every if not isinstance(node, (list, tuple))], start, asks)
    if any(map(_is_no_triple, triples)):
        wrong = next(at for at, node in enumerate(triples) if _is_no_triple(node))
        raise _fault(start, np.flatnonzero(asks)[wrong], f"is {shown(triples[wrong])}; it is [test, yes, no]")
    try:
        test, yes, no = np.array(triples, np.int64).reshape(-1, 3).T
    except OverflowError:
        raise GraphError(f"a node has a number beyond those of nodes and tests; there are {len(every)} nodes") from None
    _check_nodes(start, np.flatnonzero(asks), test, yes, no, len(tests))
    first = np.repeat(start[:-1], np.diff(start))[asks]
    arrays = np.full((3, len(every)), -1, np.int64)
    arrays[:, asks] = test, yes + first, no + first
    return Trees.build(start, arrays[0], arrays[1], arrays[2], values, tests), tuple(outputs)


def _is_no_triple(node: Sequence[Any]) -> bool:
    return len(node) != 3 or not type(node[0]) is type(node[1]) is type(node[2]) is int


def _values(leaves: Sequence[Any], start: Ints, asks: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The values of leaves, a row each; all have as many."""
    rows = [leaf["values"] if isinstance(leaf, Mapping) and leaf.keys() == {"values"} else leaf for leaf in leaves]
    lengths = [len(row) if isinstance(row, (list, tuple)) else -1 for row in rows]
    for at, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        numbers = row if length >= 0 else (row,)
        if not all(type(number) in (int, float) for number in numbers):
            raise _fault(
                start, np.flatnonzero(~asks)[at],
                f'is {shown(leaves[at])}; a leaf is a number, or {{"values": [a number for each score]}}',
            )  # fmt: skip
        if length != lengths[0]:
            raise _fault(start, np.flatnonzero(~asks)[at], f"has {abs(length)} values and another {abs(lengths[0])}")
    try:
        values = np.array(rows, np.float64)
    except OverflowError:
        raise GraphError("a leaf has a number too large for 64 bits") from None
    values = values.reshape(len(rows), -1)
    if not (finite := np.isfinite(values).all(axis=1)).all():
        at = int(np.flatnonzero(~finite)[0])
        raise _fault(start, np.flatnonzero(~asks)[at], f"is {shown(rows[at])}, which is not finite")
    return values


def _check_nodes(start: Ints, nodes: Ints, test: Ints, yes: Ints, no: Ints, tests: int) -> None:
    """Each asks a test that there is, leads to later nodes of its tree, and each but the root has one parent."""
    tree = np.searchsorted(start, nodes, side="right") - 1
    own, size = nodes - start[tree], np.diff(start)[tree]
    for wrong, what in (
        ((test < 0) | (test >= tests), f"asks a test that is not among the {tests}"),
        ((yes <= own) | (yes >= size), "has a 'yes' that is no later node of its tree"),
        ((no <= own) | (no >= size), "has a 'no' that is no later node of its tree"),
    ):
        if wrong.any():
            raise _fault(start, nodes[np.flatnonzero(wrong)[0]], what)
    parents = np.bincount(np.concatenate([yes, no]) + np.tile(start[tree], 2), minlength=int(start[-1]))
    parents[start[:-1]] += 1
    if (parents != 1).any():
        at = int(np.flatnonzero(parents != 1)[0])
        raise _fault(start, at, f"has {parents[at]} parents; it has one")


def _fault(start: Ints, node: Any, what: str) -> GraphError:
    """What is wrong with a node, and which it is."""
    tree = int(np.searchsorted(start, node, side="right")) - 1
    return GraphError(f"node {int(node - start[tree])} of tree {tree} {what}")


# ---- sums -------------------------------------------------------------------------------------------------------


def _rule(data: Any) -> Rule:
    check_keys(data, "the rule", required=("kind",), optional=("cuts",))
    if data["kind"] not in RULES:
        raise GraphError(f"the rule is {shown(data['kind'])}; it is one of {listed(RULES)}")
    return Rule(data["kind"], _numbers(data.get("cuts", []), "the cuts of the rule"))


def _sums(data: Any, rule: Rule, outputs: tuple[int, ...]) -> Sums:
    check_keys(data, "'sums'", required=("start",), optional=("type", "groups", "divisor", "end"))
    if data.get("type", "float64") not in ("float32", "float64"):
        raise GraphError(f"the type of 'sums' is {shown(data['type'])}; it is 'float64' or 'float32'")
    groups = []
    for at, group in enumerate(_list(data.get("groups", []), "the groups of 'sums'", 'objects such as {"trees": 10}')):
        check_keys(group, f"group {at}", required=("trees",), optional=("divisor", "weight"))
        factors = (_number(group.get(key, 1.0), f"the {key} of group {at}") for key in ("divisor", "weight"))
        groups.append(Group(_whole(group["trees"], f"the number of trees of group {at}"), *factors))
    return Sums(
        outputs,
        _numbers(data["start"], "'start' of 'sums'"),
        rule,
        data.get("type") == "float32",
        tuple(groups),
        _number(data.get("divisor", 1.0), "the divisor of 'sums'"),
        _numbers(data.get("end", []), "'end' of 'sums'"),
    )


def _list(data: Any, what: str, of: str) -> Sequence[Any]:
    if not isinstance(data, (list, tuple)):
        raise GraphError(f"{what} is {shown(data)}; it must be a list of {of}")
    return data


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise GraphError(f"{what!r} has {shown(value)}, which is no string")
    return value


def _whole(value: Any, what: str) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise GraphError(f"{what} is {shown(value)}; it must be a whole number from 0 on")
    return value


def _number(value: Any, what: str) -> float:
    if type(value) not in (int, float):
        raise GraphError(f"{what} is {shown(value)}; it must be a number")
    try:
        return float(value)
    except OverflowError:
        raise GraphError(f"{what} is too large for 64 bits") from None


def _numbers(data: Any, what: str) -> tuple[float, ...]:
    return tuple(_number(value, what) for value in _list(data, what, "numbers"))
