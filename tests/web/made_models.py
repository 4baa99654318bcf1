"""Models for the page's tests: large ones, and a hostile one."""

import random
from pathlib import Path
from typing import Any

from booleans import Compiler, pysdd
from quia import DecisionGraph, Variable

HOSTILE = "<script>window.owned=true</script>"
HOSTILE_STATE = '"><img src=x onerror="document.title=\'owned\'">'


def hostile() -> dict[str, Any]:
    """A graph whose names are markup, broken surrogates and bidirectional overrides."""
    return {
        "quia": 1,
        "variables": {
            HOSTILE: {"kind": "nominal", "states": [HOSTILE_STATE, "</title></style></script>"]},
            "\u202egnp.exe & 'quoted' \ud800": {"kind": "numeric"},
        },
        "classes": ["<b>no</b>", "</script><script>window.owned=true</script>"],
        "root": "a",
        "nodes": {
            "a": {
                "test": HOSTILE,
                "edges": [{"if": [HOSTILE_STATE], "to": "b"}, {"if": ["</title></style></script>"], "to": "y"}],
            },
            "b": {
                "test": "\u202egnp.exe & 'quoted' \ud800",
                "edges": [{"if": "<= 1", "to": "n"}, {"if": "> 1", "to": "y"}],
            },
            "n": {"class": "<b>no</b>"},
            "y": {"class": "</script><script>window.owned=true</script>"},
        },
    }


def random_tree(*, leaves: int, numeric: int, nominal: int, classes: int, seed: int) -> DecisionGraph:
    """A tree grown by splitting random leaves at random places that are still possible there."""
    chooser = random.Random(seed)
    cuts = [sorted(chooser.sample(range(1, 1000), 20)) for _ in range(numeric)]
    variables = [Variable.numeric(f"number {i}", cuts[i]) for i in range(numeric)]
    variables += [
        Variable.nominal(f"choice {i}", [f"state {j} of choice {i}" for j in range(7)]) for i in range(nominal)
    ]
    tree: dict[int, Any] = {0: None}  # node → (variable, [(states, child)]) or None at a leaf
    spans: dict[int, dict[int, tuple[int, int]]] = {0: {}}
    open_leaves = [0]
    count = 1
    while count < leaves:
        node = open_leaves.pop(chooser.randrange(len(open_leaves)))
        variable = chooser.randrange(len(variables))
        low, high = spans[node].get(variable, (0, variables[variable].size - 1))
        if low == high:
            open_leaves.append(node)
            continue
        if variables[variable].is_numeric:
            at = chooser.randrange(low, high)
            parts = [(low, at), (at + 1, high)]
        else:
            parts = [(state, state) for state in range(low, high + 1)]
        edges = []
        for part in parts:
            child = len(tree)
            tree[child], spans[child] = None, {**spans[node], variable: part}
            edges.append(((part,), child))
            open_leaves.append(child)
        tree[node] = (variable, edges)
        count += len(parts) - 1
    last = len(tree) - 1
    order = range(last, -1, -1)  # children were made after their parents
    return DecisionGraph.build(
        variables,
        [f"class {c}" for c in range(classes)],
        [tree[n][0] if tree[n] else -1 for n in order],
        [-1 if tree[n] else chooser.randrange(classes) for n in order],
        [tuple((states, last - child) for states, child in tree[n][1]) if tree[n] else () for n in order],
    )


def chain(length: int) -> DecisionGraph:
    """Who is `yes` in everything is admitted: one path of so many tests."""
    variables = [Variable.nominal(f"v{i}", ["no", "yes"]) for i in range(length)]
    tests, labels, edges = [-1, -1], [0, 1], [(), ()]
    for i in range(length):
        tests.append(i)
        labels.append(-1)
        edges.append(((((0, 0),), 0), (((1, 1),), i + 1)))
    return DecisionGraph.build(variables, ["deny", "admit"], tests, labels, edges)


def circuit_file(folder: Path, kind: str, seed: int = 5) -> Path:
    """A random function of six variables, compiled by PySDD into an .sdd file, or into a Decision-DNNF, .nnf."""
    chooser = random.Random(seed)
    function = chooser.getrandbits(64)
    file = folder / f"circuit.{kind}"
    if kind == "sdd":
        _, node = pysdd(function, 6, "balanced")
        node.save(str(file).encode())
    else:
        file.write_text(Compiler(function, 6, chooser).c2d(6))
    return file


def random_instance(graph: DecisionGraph, seed: int) -> dict[str, Any]:
    """Values for all of a graph's variables."""
    chooser = random.Random(seed)
    return {v.name: chooser.randrange(1000) if v.labels is None else chooser.choice(v.labels) for v in graph.variables}
