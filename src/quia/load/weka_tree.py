"""J48 trees with names and values as strings, as Weka writes them; and the reader of the tree that `-g` draws."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quia.errors import FormatError, listed, shown
from quia.load.arff import unescape

_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:E-?\d+)?|Infinity)"
COUNTS = re.compile(rf" \({_NUMBER}(?:/{_NUMBER})?\)\s*$")
_NODE = re.compile(r'\s*N(\w+) \[label="((?:[^"\\]|\\.)*)"([^\]]*)\]\s*')
_EDGE = re.compile(r'\s*N(\w+)->N(\w+) \[label="((?:[^"\\]|\\.)*)"[^\]]*\]\s*')
_OPERATOR = re.compile(r"\s*(<=|>|!=|=) (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A class."""

    label: str
    line: int


@dataclass(frozen=True, slots=True)
class Split:
    """A test: for each branch its operator, value and child."""

    name: str
    operators: tuple[str, ...]
    values: tuple[str, ...]
    children: tuple[int, ...]
    line: int


Node = Leaf | Split
Parsed = tuple[list[Node], list[str], list[str]]
"""The nodes, root first and parents before children; the columns that the output lists; notes."""


def read_drawn(text: str, file: str | None) -> Parsed:
    """The tree that J48's `-g` draws."""
    labels: dict[str, tuple[str, bool, int]] = {}
    branches: dict[str, list[tuple[str, str, str]]] = {}
    parents: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if edge := _EDGE.fullmatch(line):
            operation = _OPERATOR.fullmatch(unescape(edge[3]))
            if not operation or edge[2] in parents:
                raise FormatError(f"the edge {shown(line.strip())} is not one of a J48 tree", file=file, line=number)
            parents[edge[2]] = edge[1]
            branches.setdefault(edge[1], []).append((operation[1], operation[2], edge[2]))
        elif node := _NODE.fullmatch(line):
            if node[1] in labels:
                raise FormatError(f"node N{node[1]} is drawn twice", file=file, line=number)
            labels[node[1]] = unescape(node[2]), "shape=box" in node[3], number
        elif line.strip() == "}":
            break
        elif line.strip() and "digraph" not in line:
            raise FormatError(f"cannot read {shown(line.strip())} in a J48 drawing", file=file, line=number)
    roots = [name for name in labels if name not in parents]
    if len(roots) != 1:
        raise FormatError(f"the drawing has {len(roots)} roots; a tree has one", file=file)
    order, position = roots, {roots[0]: 0}
    for name in order:  # the list grows while it is walked: parents come before their children
        for _, _, child in branches.get(name, ()):
            if child not in labels:
                raise FormatError(f"an edge leads to N{child}, which is not drawn", file=file)
            position[child] = len(order)
            order.append(child)
    nodes: list[Node] = []
    for name in order:
        label, leaf, number = labels[name]
        outgoing = branches.get(name, [])
        if leaf != (not outgoing):
            raise FormatError(f"node N{name} is a box with edges, or no box without", file=file, line=number)
        if leaf:
            nodes.append(Leaf(COUNTS.sub("", label), number))
            continue
        operators, values, children = zip(*outgoing, strict=True)
        check_operators(operators, label, file, number)
        nodes.append(Split(label, operators, values, tuple(position[child] for child in children), number))
    return nodes, [], []


def check_operators(operators: Sequence[str], name: str, file: str | None, line: int) -> None:
    """Refuse operators that are not `<=` and `>`, `=` and `!=`, or `=` for each state."""
    if tuple(operators) not in (("<=", ">"), ("=", "!=")) and set(operators) != {"="}:
        raise FormatError(
            f"the branches at {shown(name)} are {listed(operators)}; J48 has no such split", file=file, line=line
        )
