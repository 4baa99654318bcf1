"""Sentential Decision Diagrams: live PySDD nodes, and `.sdd` files, with or without their `.vtree`.

An SDD node is ⋁ᵢ (pᵢ ∧ sᵢ) where the primes pᵢ part the worlds. So its negation is ⋁ᵢ (pᵢ ∧ ¬sᵢ), both are
∧-decomposable, and by de Morgan's laws ⋀ᵢ (¬pᵢ ∨ sᵢ) and ⋀ᵢ (¬pᵢ ∨ ¬sᵢ) are ∨-decomposable formulas of the two classes
(paper, "Further Extensions"). Files are read here, without PySDD.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from quia.circuit import Circuit
from quia.dag import AND, LITERAL, OR
from quia.errors import FormatError, Unsupported, shown
from quia.files import decode, read_bytes
from quia.load import naming
from quia.load.fingerprint import MODULUS, Fingerprints
from quia.load.lines import MOST_VARIABLES, numbered_lines
from quia.load.mentioned import shared_variable
from quia.nnf import Builder

OPTIONS = (*naming.OPTIONS, "vtree")


class Node(NamedTuple):
    """⊥ (literal 0, no elements), ⊤ (None), a literal ±v, or the elements (prime, sub) of a decision."""

    literal: int | None
    elements: tuple[tuple[int, int], ...] = ()
    line: int | None = None
    vtree: int | None = None


FALSE_NODE, TRUE_NODE = Node(0), Node(None)


def read(
    data: bytes,
    file: str | None = None,
    *,
    vtree: str | os.PathLike[str] | None = None,
    classes: Iterable[str] | None = None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    names: Iterable[str] | Mapping[Any, str] | None = None,
) -> Circuit:
    """The circuit of an `.sdd` file; with its `vtree` file, that the SDD respects it is checked too.

    >>> read(b"sdd 3\\nL 1 0 1\\nL 2 2 2\\nT 0\\n").classify([0, 0])
    '1'
    """
    nodes = _nodes(data, file)
    count = max((abs(node.literal) for node in nodes if node.literal), default=0)
    if vtree is not None:
        tree = read_vtree(read_bytes(os.fspath(vtree)), os.fspath(vtree))
        _check_vtree(nodes, tree, file)
        count = max([count, *tree.place])
    return circuit_of(nodes, count, file, classes=classes, states=states, names=names)


def convert(
    source: Any,
    *,
    vtree: object = None,
    classes: Iterable[str] | None = None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    names: Iterable[str] | Mapping[Any, str] | None = None,
) -> Circuit:
    """The circuit of a live PySDD node, over all variables of its manager."""
    if not all(hasattr(source, name) for name in ("is_decision", "elements", "manager", "literal")):
        raise Unsupported(f"a {type(source).__qualname__} of PySDD cannot be loaded", cure="give an SddNode")
    if vtree is not None:
        raise Unsupported("'vtree' is for files; a live node has its own", cure="leave it out")
    place: dict[int, int] = {}
    nodes: list[Node] = []
    work = [source]
    while work:
        node = work[-1]
        if node.id in place:
            work.pop()
            continue
        made = FALSE_NODE if node.is_false() else TRUE_NODE
        if node.is_literal():
            made = Node(int(node.literal))
        elif node.is_decision():
            elements = list(node.elements())
            waiting = [part for pair in elements for part in pair if part.id not in place]
            if waiting:
                work.extend(waiting)
                continue
            made = Node(None, tuple((place[prime.id], place[sub.id]) for prime, sub in elements))
        place[node.id] = len(nodes)
        nodes.append(made)
        work.pop()
    return circuit_of(nodes, source.manager.var_count(), None, classes=classes, states=states, names=names)


def circuit_of(
    nodes: Sequence[Node],
    count: int,
    file: str | None,
    *,
    classes: Iterable[str] | None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None,
    names: Iterable[str] | Mapping[Any, str] | None,
) -> Circuit:
    """The circuit of SDD nodes, children first, the root last. Complexity: linear."""
    _check(nodes, file)
    variables = naming.named_variables([str(v + 1) for v in range(count)], [2] * count, states, names)
    build = Builder(variables)
    formula: list[int] = []  # of each node, and of its negation
    negated: list[int] = []
    for node in nodes:
        if node.elements:
            formula.append(build.conjunction(build.disjunction((negated[p], formula[s])) for p, s in node.elements))
            negated.append(build.conjunction(build.disjunction((negated[p], negated[s])) for p, s in node.elements))
        elif node.literal:
            variable, state = abs(node.literal) - 1, int(node.literal > 0)
            formula.append(build.literal(variable, state))
            negated.append(build.literal(variable, 1 - state))
        else:
            formula.append(build.constant(node.literal is None))
            negated.append(build.constant(node.literal is not None))
    formulas = build.nnf(negated[-1]), build.nnf(formula[-1])
    return Circuit(variables, naming.named_classes(2, classes), formulas, kind="SDD")


def _check(nodes: Sequence[Node], file: str | None) -> None:
    """That primes and subs share no variable, and that the primes of a decision part the worlds.

    The latter by fingerprints, so that a wrong one passes with a probability below 10⁻¹².
    """
    _check_elements(nodes, file)
    fingerprints = Fingerprints()
    values: list[int] = []
    for node in nodes:
        if not node.elements:
            values.append(fingerprints.literal(node.literal) if node.literal else int(node.literal is None))
            continue
        if sum(values[prime] for prime, _ in node.elements) % MODULUS != 1:
            raise FormatError(
                "has primes that are not exclusive and exhaustive, so this is no SDD", file=file, line=node.line
            )
        values.append(sum(values[prime] * values[sub] for prime, sub in node.elements) % MODULUS)


def _check_elements(nodes: Sequence[Node], file: str | None) -> None:
    """That the prime and the sub of no element share a variable: as conjunctions, all are decomposable."""
    kinds: list[int] = []
    variables: list[int] = []
    children: list[Sequence[int]] = []
    place: list[int] = []  # of each node, where it is among nodes and elements
    owner: list[Node] = []
    for node in nodes:
        for prime, sub in node.elements:
            kinds.append(AND)
            variables.append(-1)
            children.append((place[prime], place[sub]))
            owner.append(node)
        last = len(kinds)
        place.append(last)
        kinds.append(LITERAL if node.literal else OR)
        variables.append(abs(node.literal) if node.literal else -1)
        children.append(range(last - len(node.elements), last))
        owner.append(node)
    shared = shared_variable(kinds, variables, children)
    if shared is not None:
        at, variable = shared
        raise FormatError(f"has a prime and a sub that share variable {variable}", file=file, line=owner[at].line)


def _nodes(data: bytes, file: str | None) -> list[Node]:
    lines = numbered_lines(decode(data, file), file)
    header = next(lines)
    declared = header.header("sdd", 1)[0]
    nodes: list[Node] = []
    place: dict[int, int] = {}
    for line in lines:
        kind = line.words[0]
        values = line.numbers(start=1)
        if kind in ("F", "T") and len(values) == 1:
            node = Node(0 if kind == "F" else None, (), line.number)
        elif kind == "L" and len(values) == 3 and 0 < abs(values[2]) <= MOST_VARIABLES:
            node = Node(values[2], (), line.number, values[1])
        elif kind == "D" and len(values) >= 5 and len(values) == 3 + 2 * values[2]:
            for child in values[3:]:
                if child not in place:
                    line.fail(f"has the child {child}, which no line before it defines")
            pairs = zip(values[3::2], values[4::2], strict=True)
            node = Node(None, tuple((place[prime], place[sub]) for prime, sub in pairs), line.number, values[1])
        else:
            line.fail(f"is {shown(line.text, 40)}; lines are F id, T id, L id vtree literal, D id vtree n prime sub …")
        if values[0] in place:
            line.fail(f"gives the id {values[0]} a second time; ids must differ")
        place[values[0]] = len(nodes)
        nodes.append(node)
    if len(nodes) != declared:
        header.fail(f"says {declared} nodes; there are {len(nodes)}")
    if not nodes:
        header.fail("has no nodes after it; the last line must be the root")
    return nodes


class Vtree(NamedTuple):
    """A vtree laid out from left to right: where each variable is, where each inner node begins, turns and ends."""

    place: dict[int, int]
    sides: dict[int, tuple[int, int, int]]


def read_vtree(data: bytes, file: str | None = None) -> Vtree:
    """The vtree in a `.vtree` file."""
    lines = numbered_lines(decode(data, file), file)
    header = next(lines)
    declared = header.header("vtree", 1)[0]
    leaves: dict[int, int] = {}
    inner: dict[int, tuple[int, int]] = {}
    tops: dict[int, None] = {}  # nodes that have no parent yet
    for line in lines:
        kind = line.words[0]
        values = line.numbers(start=1)
        if values and (values[0] in leaves or values[0] in inner):
            line.fail(f"gives the id {values[0]} a second time; ids must differ")
        if kind == "L" and len(values) == 2 and 0 < values[1] <= MOST_VARIABLES:
            leaves[values[0]] = values[1]
        elif kind == "I" and len(values) == 3 and values[1] != values[2] and {*values[1:]} <= tops.keys():
            inner[values[0]] = (values[1], values[2])
            for child in values[1:]:
                del tops[child]
        else:
            line.fail(f"is {shown(line.text, 40)}; lines are L id variable, I id left right, children first, each once")
        tops[values[0]] = None
    if len(leaves) + len(inner) != declared or len(tops) != 1 or len(set(leaves.values())) < len(leaves):
        header.fail(
            f"says {declared} nodes; there are {len(leaves) + len(inner)} in {len(tops)} trees, and it must be one tree"
            " with each variable once"
        )
    return _laid_out(leaves, inner, next(iter(tops)))


def _laid_out(leaves: Mapping[int, int], inner: Mapping[int, tuple[int, int]], root: int) -> Vtree:
    place: dict[int, int] = {}
    sides: dict[int, tuple[int, int, int]] = {}
    begin: dict[int, int] = {}
    middle: dict[int, int] = {}
    work = [root]
    while work:
        node = work.pop()
        if node in leaves:
            place[leaves[node]] = len(place)
        elif node not in begin:
            begin[node] = len(place)
            work.extend((node, inner[node][0]))
        elif node not in middle:
            middle[node] = len(place)
            work.extend((node, inner[node][1]))
        else:
            sides[node] = (begin[node], middle[node], len(place))
    return Vtree(place, sides)


def _check_vtree(nodes: Sequence[Node], tree: Vtree, file: str | None) -> None:
    """That the primes of each decision are over the left side of its vtree node, and the subs over the right."""
    nothing = (len(tree.place), -1)
    spans: list[tuple[int, int]] = []  # the first and the last place of a variable below each node
    for node in nodes:
        if node.literal:
            if abs(node.literal) not in tree.place:
                raise FormatError(f"has the literal {node.literal}, which the vtree lacks", file=file, line=node.line)
            spans.append((tree.place[abs(node.literal)],) * 2)
            continue
        span = nothing
        if node.elements:
            begin, middle, end = tree.sides.get(-1 if node.vtree is None else node.vtree, (0, 0, 0))
            for prime, sub in node.elements:
                for (first, last), low, high in ((spans[prime], begin, middle), (spans[sub], middle, end)):
                    if first <= last and (first < low or last >= high):
                        fault = f"does not respect the vtree at its node {node.vtree}"
                        raise FormatError(fault, file=file, line=node.line)
                    span = (min(span[0], first), max(span[1], last))
        spans.append(span)
