"""Attack compiled networks: `python tests/attack_networks.py N SEED` compares N random ones with brute force.

It prints every disagreement, with the line that makes it again; a third number is the one case to try.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Mapping
from itertools import product
from random import Random
from typing import Any

import numpy as np

import network_oracle
from contract import Subject, check_decisions, check_escape, check_reasons
from network_oracle import Table
from networks import Case, random_case, random_long_case
from quia import DecisionGraph
from strategies import complete_tree

SMALL: dict[str, Any] = {"variables": 9, "states": 4, "joint": 1500}
MEDIUM: dict[str, Any] = {"variables": 9, "states": 4, "joint": 12_000}
FEW: dict[str, Any] = {"variables": 7, "states": 3, "joint": 400, "most": 4}
"""Few enough features that every reason can be found by trying all sets."""
WIDE: dict[str, Any] = {"variables": 13, "states": 2, "joint": 9000}
LARGE: dict[str, Any] = {"variables": 16, "fewest": 11, "states": 3, "joint": 1 << 16, "hidden": 2}
SIZES = (MEDIUM, SMALL, None, FEW, LARGE, SMALL, WIDE, FEW)
"""None: as `random_long_case` makes them."""


class Disagreement(AssertionError):
    """What was compiled is not what brute force finds."""


def same(found: Any, expected: Any, what: str) -> None:
    """Raise Disagreement unless two things are equal."""
    if found != expected:
        raise Disagreement(f"{what}: expected {expected}, got {found}")


def check_graph(graph: DecisionGraph, case: Case, expected: Table | None = None) -> None:
    """A graph decides every instance as expected, by the case's own table if none is given, and is the smallest one."""
    table = case.expected if expected is None else expected
    same([v.name for v in graph.variables], list(case.features), "the features")
    same({v.name: v.labels for v in graph.variables}, case.states, "the features' states")
    same(graph.classes, case.net[case.target].states, "the classes")
    decided = decisions(graph)
    for e, c in table.items():
        if decided[e] != c:
            instance = dict(zip(case.features, e, strict=True))
            raise Disagreement(f"the class of {instance}: expected {c}, got {graph.classify(instance)}")
    order = check_reduced(graph, case.order)
    same({graph.variables[v].name for v in graph.tested}, network_oracle.matters(table, case.states), "what is tested")
    same(len(graph), network_oracle.size_of(table, case.states, order), f"the nodes in the order {order}")


def decisions(graph: DecisionGraph) -> Table:
    """The class of every instance: all of them walk the graph together."""
    sizes = [v.size for v in graph.variables]
    points = np.indices(sizes, np.int32).reshape(len(sizes), -1)
    at: dict[int, list[Any]] = {len(graph) - 1: [np.arange(points.shape[1])]}
    found = np.full(points.shape[1], -1)
    for node in range(len(graph) - 1, -1, -1):
        here = np.concatenate(at.pop(node))
        test, label, edges = graph.nodes[node]
        for ranges, child in edges:
            states = [s for low, high in ranges for s in range(low, high + 1)]
            at.setdefault(child, []).append(here[np.isin(points[test, here], states)])
        if test < 0:
            found[here] = label
    every = product(*(v.labels or () for v in graph.variables))
    return {e: graph.classes[label] for e, label in zip(every, found.tolist(), strict=True)}


def check_reduced(graph: DecisionGraph, order: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """No node is like another or tests for nothing, and all tests are in one order, which is given or found."""
    nodes: dict[tuple[object, ...], int] = {}
    before: dict[int, set[int]] = {v: set() for v in range(len(graph.variables))}
    for node, (test, label, edges) in enumerate(graph.nodes):
        to = {s: child for ranges, child in edges for low, high in ranges for s in range(low, high + 1)}
        if test >= 0:
            same(sorted(to), list(range(graph.variables[test].size)), f"the states at node {node}")
            same(
                len({child for _, child in edges}), len(edges), f"the edges of node {node} that lead to different nodes"
            )
            for child in to.values():
                if graph.nodes[child][0] >= 0:
                    before[graph.nodes[child][0]].add(test)
        if test >= 0 and len(edges) < 2:
            raise Disagreement(f"node {node} tests {graph.variables[test].name} for nothing")
        key = (test, label, *(to[s] for s in sorted(to)))
        if key in nodes:
            raise Disagreement(f"the nodes {nodes[key]} and {node} are alike")
        nodes[key] = node
    names = [v.name for v in graph.variables]
    found = order or tuple(names[v] for v in _in_order(before))
    for v, earlier in before.items():
        for u in earlier:
            if found.index(names[u]) >= found.index(names[v]):
                raise Disagreement(f"{names[u]} is tested before {names[v]}, against the order {found}")
    return found


def _in_order(before: Mapping[int, set[int]]) -> list[int]:
    """An order with each variable after all that are tested right before it; if there is none, just some order."""
    found: list[int] = []
    while len(found) < len(before):
        free = [v for v in before if v not in found and before[v] <= set(found)]
        found += free or [v for v in before if v not in found]
    return found


def check_case(case: Case) -> DecisionGraph:
    """Compile a case, and compare all of it with brute force."""
    graph = case.compiled()
    check_graph(graph, case)
    return graph


def check_answers(case: Case, graph: DecisionGraph, rng: Random) -> None:
    """The reasons of a compiled graph, and all else that is said of it, are those of the oracle's table."""
    table = case.expected
    d = complete_tree(case.states, lambda e: table[tuple(e.values())])
    subject = Subject(graph, d)
    check_decisions(subject, graph, [dict(zip(case.features, e, strict=True)) for e in rng.sample(list(table), 1)])
    check_escape(subject, graph, rng, regions=4)
    for _ in range(3):
        check_reasons(subject, graph, rng)


def case_of(rng: Random, at: int) -> Case:
    """A random case, of one size after the other."""
    size = SIZES[at % len(SIZES)]
    return random_long_case(rng) if size is None else random_case(rng, **size)


def check_seed(seed: str, at: int) -> int:
    """The random case that a seed makes, of one size after the other; how many instances it has."""
    rng = Random(seed)
    case = case_of(rng, at)
    graph = check_case(case)
    if at % 4 == 3:
        check_answers(case, graph, rng)
    if at % 16 == 1:
        same(case.compiled(), graph, "the graph compiled again")
        smallest = min(_sizes(case, rng), default=len(graph))
        if case.order is None and len(graph) > 2 * smallest:
            raise Disagreement(f"the order that was found takes {len(graph)} nodes, another one {smallest}")
    return len(case.expected)


def _sizes(case: Case, rng: Random) -> list[int]:
    orders = (tuple(rng.sample(case.features, len(case.features))) for _ in range(20))
    return [network_oracle.size_of(case.expected, case.states, order) for order in orders]


def main(count: int, seed: int, only: int | None = None) -> int:
    """Try so many networks; 1 if one is compiled wrongly."""
    began, instances, wrong = time.process_time(), 0, 0
    for i in range(count) if only is None else (only,):
        try:
            instances += check_seed(f"{seed}.{i}", i)
        except Exception:  # whatever happens is to be told, with what was asked
            wrong += 1
            traceback.print_exc()
            print(case_of(Random(f"{seed}.{i}"), i))
            print(f"again: python tests/attack_networks.py {count} {seed} {i}\n", flush=True)
    seconds = time.process_time() - began
    told = "all right" if not wrong else f"{wrong} WRONG"
    print(f"{count} networks, {instances:,} instances: {told}, in {seconds:.1f} s of CPU")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
