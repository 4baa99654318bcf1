"""Decision-DNNFs in files: the nodes of `.nnf` files as c2d and dsharp write them, and of d4's nodes and arcs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from quia.dag import AND, LITERAL, OR, reached
from quia.errors import FormatError, shown
from quia.files import decode
from quia.load.lines import MOST_VARIABLES, Line, numbered_lines
from quia.load.mentioned import shared_variable


class Node(NamedTuple):
    """A literal ±v, or a conjunction or disjunction of nodes before it; of none, it is ⊤ or ⊥."""

    kind: int
    literal: int = 0
    children: tuple[int, ...] = ()
    line: int = 0


class Dnnf(NamedTuple):
    """The nodes of a file, children first, the root last, and how many variables it speaks of."""

    nodes: list[Node]
    variables: int


def parse(data: bytes, file: str | None) -> Dnnf:
    """The nodes in a file, ∧-decomposability checked."""
    lines = numbered_lines(decode(data, file), file)
    first = next(lines)
    dnnf = _parse_c2d(first, lines) if first.words[0] == "nnf" else _parse_d4(chain([first], lines), file)
    _check_decomposable(dnnf, file)
    return dnnf


def _parse_c2d(header: Line, lines: Iterator[Line]) -> Dnnf:
    declared, edges, count = header.header("nnf", 3)
    if count > MOST_VARIABLES:
        header.fail(f"declares {count} variables; at most {MOST_VARIABLES} are read")
    nodes: list[Node] = []
    for line in lines:
        values = line.numbers(start=1)
        kind, children = line.words[0], []
        if kind == "L" and len(values) == 1 and 0 < abs(values[0]) <= count:
            nodes.append(Node(LITERAL, values[0], line=line.number))
            continue
        if kind == "A" and values and len(values) == 1 + values[0]:
            children = values[1:]
        elif kind == "O" and len(values) > 1 and len(values) == 2 + values[1] and 0 <= values[0] <= count:
            children = values[2:]
        else:
            line.fail(
                f"is {shown(line.text, 40)}; lines are L literal, A n children …, O variable n children …, variables"
                f" up to {count}"
            )
        for child in children:
            if not 0 <= child < len(nodes):
                line.fail(f"has the child {child}; children are the numbers of nodes before it, 0 to {len(nodes) - 1}")
        nodes.append(Node(AND if kind == "A" else OR, 0, tuple(children), line.number))
    found = sum(len(node.children) for node in nodes)
    if (len(nodes), found) != (declared, edges) or not nodes:
        header.fail(f"says {declared} nodes and {edges} edges; there are {len(nodes)} and {found}")
    return _reached(nodes, count)


def _parse_d4(lines: Iterator[Line], file: str | None) -> Dnnf:
    """Nodes `o|a|t|f id 0`, the first one the root, and arcs `from to literal … 0`."""
    kinds: dict[int, tuple[str, int]] = {}
    arcs: dict[int, list[tuple[int, tuple[int, ...], Line]]] = {}
    count = 0
    for line in lines:
        if line.words[0] in ("o", "a", "t", "f"):
            values = line.numbers(start=1)
            if len(values) != 2 or values[1] != 0 or values[0] in kinds:
                line.fail(f"is {shown(line.text, 40)}; a node is 'o', 'a', 't' or 'f', an id of its own, and 0")
            kinds[values[0]] = (line.words[0], line.number)
            continue
        values = line.numbers()
        if len(values) < 3 or values[-1] != 0 or 0 in values[:-1]:
            line.fail(f"is {shown(line.text, 40)}; an arc is two ids, literals, and 0")
        arcs.setdefault(values[0], []).append((values[1], tuple(values[2:-1]), line))
        count = max([count, *map(abs, values[2:-1])])
        if count > MOST_VARIABLES:
            line.fail(f"speaks of variable {count}; at most {MOST_VARIABLES} are read")
    for source, outgoing in arcs.items():
        for target, _, line in outgoing:
            if source not in kinds or target not in kinds or kinds[source][0] in "tf":
                line.fail("is an arc from or to a node that is not declared, or from a constant")
    return Dnnf(_ordered(kinds, arcs, file), count)


def _ordered(
    kinds: Mapping[int, tuple[str, int]], arcs: Mapping[int, list[tuple[int, tuple[int, ...], Line]]], file: str | None
) -> list[Node]:
    """The nodes that the root reaches, children first; an arc with literals is a conjunction."""
    if not kinds:
        raise FormatError("has no nodes; the first line must be the root", file=file, line=1)
    nodes: list[Node] = []
    place: dict[int, int] = {}
    literals: dict[int, int] = {}
    root = next(iter(kinds))
    open_nodes = {root}
    work = [(root, iter(arcs.get(root, ())))]
    while work:
        node, rest = work[-1]
        for target, _, line in rest:
            if target in open_nodes:
                line.fail("closes a cycle; arcs must lead away from the root")
            if target not in place:
                open_nodes.add(target)
                work.append((target, iter(arcs.get(target, ()))))
                break
        else:
            children = []
            for target, given, line in arcs.get(node, ()):
                for literal in given:
                    if literal not in literals:
                        literals[literal] = len(nodes)
                        nodes.append(Node(LITERAL, literal, line=line.number))
                if given:
                    nodes.append(Node(AND, 0, (*(literals[g] for g in given), place[target]), line.number))
                children.append(len(nodes) - 1 if given else place[target])
            kind, number = kinds[node]
            nodes.append(Node(AND if kind in "at" else OR, 0, tuple(children), number))
            place[node] = len(nodes) - 1
            open_nodes.discard(node)
            work.pop()
    return nodes


def _reached(nodes: Sequence[Node], count: int) -> Dnnf:
    place = reached(len(nodes) - 1, lambda number: nodes[number].children)
    kept = [nodes[number] for number in place]
    return Dnnf([node._replace(children=tuple(place[child] for child in node.children)) for node in kept], count)


def _check_decomposable(dnnf: Dnnf, file: str | None) -> None:
    """That the parts of no conjunction share a variable."""
    nodes = dnnf.nodes
    shared = shared_variable([n.kind for n in nodes], [abs(n.literal) for n in nodes], [n.children for n in nodes])
    if shared is not None:
        number, variable = shared
        raise FormatError(
            f"is a conjunction whose parts share variable {variable}, so this is no DNNF",
            file=file,
            line=nodes[number].line,
        )
