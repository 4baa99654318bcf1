"""Decision-DNNFs: `.nnf` files as c2d and dsharp write them, and d4's files of nodes and arcs.

A Decision-DNNF is an ∧-decomposable NNF whose disjunctions decide a variable: (x ∧ α) ∨ (x̄ ∧ β). Its negation by de
Morgan's laws is an ∨-decomposable formula of class 0. For class 1, consensus adds α ∧ β to each disjunction and
filtering drops the literals that the instance contradicts, which leaves xα ∨ αβ = α ∧ (x ∨ β) for an instance with x
(the paper's footnote). That is what quantifying (x̄ ∨ α) ∧ (x ∨ β) gives, the same decision written as a conjunction,
which is ∨-decomposable too. So one circuit is enough for both decisions.

A disjunction that decides nothing (a DNNF that is no Decision-DNNF) leaves class 1 without a formula, unless the
circuit of class 0 is given as well: then its negation is one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quia.circuit import Circuit
from quia.dag import AND, LITERAL, OR
from quia.errors import FormatError, TooLarge
from quia.files import read_bytes
from quia.load import naming
from quia.load.fingerprint import MODULUS, Fingerprints
from quia.load.nnf_files import Dnnf, Node, parse
from quia.nnf import NNF, Builder
from quia.variables import Variable

OPTIONS = (*naming.OPTIONS, "negative")


def read(
    data: bytes,
    file: str | None = None,
    *,
    negative: str | os.PathLike[str] | None = None,
    classes: Iterable[str] | None = None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    names: Iterable[str] | Mapping[Any, str] | None = None,
) -> Circuit:
    """The circuit of a `.nnf` file, which is class 1; `negative` is the file of the circuit of class 0, if any.

    `names` are the variables' names, in order or by number. Complexity: linear.

    >>> read(b"nnf 1 0 1\\nL 1\\n").classify([1])
    '1'
    """
    positive = parse(data, file)
    other = None if negative is None else parse(read_bytes(os.fspath(negative)), os.fspath(negative))
    count = max(positive.variables, 0 if other is None else other.variables)
    if isinstance(names, Sequence) and not isinstance(names, str):
        count = max(count, len(names))  # d4 does not say how many there are
    variables = naming.named_variables([str(v + 1) for v in range(count)], [2] * count, states, names)
    decisions = _decisions(positive)
    formula, notes = None, []
    undecided = next((node for node, found in decisions.items() if found is None), None)
    if undecided is None:
        formula = class_formula(positive, decisions, variables)
    else:
        notes = [f"no Decision-DNNF: the disjunction on line {positive.nodes[undecided].line} decides no variable"]
        formula = None if other is None else negation(other, variables)
    if other is not None:
        _check_complementary(positive, other, os.fspath(negative) if negative is not None else None)
    return Circuit(
        variables,
        naming.named_classes(2, classes),
        (negation(positive, variables), formula),
        kind="Decision-DNNF" if undecided is None else "DNNF",
        notes=tuple(notes),
    )


def _decisions(dnnf: Dnnf) -> dict[int, int | None]:
    """For each disjunction of two or more, the variable that it decides; None if it decides none."""
    found: dict[int, int | None] = {}
    allowed = _Work(dnnf)
    literals: dict[int, frozenset[int]] = {}  # that each part begins with; a part may have many parents
    for number, node in enumerate(dnnf.nodes):
        if node.kind == OR and len(node.children) > 1:
            found[number] = None
            if len(node.children) > 2:
                continue
            for child in node.children:
                if child not in literals:
                    literals[child] = _literals(dnnf, child)
            few, many = sorted((literals[child] for child in node.children), key=len)
            allowed.spend(len(few), node)
            opposite = [abs(literal) for literal in few if -literal in many]
            found[number] = min(opposite, default=None)
    return found


def _literals(dnnf: Dnnf, node: int) -> frozenset[int]:
    """The literals that a part of a disjunction begins with."""
    kind, literal, children, _ = dnnf.nodes[node]
    if kind == LITERAL:
        return frozenset((literal,))
    parts = (dnnf.nodes[child] for child in children) if kind == AND else ()
    return frozenset(part.literal for part in parts if part.kind == LITERAL)


class _Work:
    """What may be spent on long conjunctions that many disjunctions share, so that all of it stays linear.

    A compiler's disjunctions have branches of their own, or share them as they are.
    """

    def __init__(self, dnnf: Dnnf) -> None:
        self.most = 1_000_000 + 10 * sum(len(node.children) for node in dnnf.nodes)
        self.left = self.most

    def spend(self, steps: int, node: Node) -> None:
        """Take as much away; TooLarge when nothing is left."""
        self.left -= steps
        if self.left < 0:
            raise TooLarge(
                f"the disjunction on line {node.line} shares long conjunctions with too many others: more than"
                f" {self.most} steps are needed to tell what they decide",
                limit=self.most,
            )


def class_formula(dnnf: Dnnf, decisions: Mapping[int, int | None], variables: Sequence[Variable]) -> NNF:
    """The function of a Decision-DNNF as an ∨-decomposable NNF: (x ∧ α) ∨ (x̄ ∧ β) becomes (x̄ ∨ α) ∧ (x ∨ β)."""
    build = Builder(variables)
    made: list[int] = []
    allowed = _Work(dnnf)
    sides: dict[tuple[int, int], int] = {}  # (x ∧ α) under x → x̄ ∨ α; shared branches are made once

    def side(node: Node, child: int, decided: int) -> int:
        branch = dnnf.nodes[child]
        parts = branch.children if branch.kind == AND else (child,)
        allowed.spend(len(parts), node)
        sign = decided if any(dnnf.nodes[part].literal == decided for part in parts) else -decided
        rest = build.conjunction(made[part] for part in parts if dnnf.nodes[part].literal != sign)
        return build.disjunction((build.literal(decided - 1, int(sign < 0)), rest))

    for number, node in enumerate(dnnf.nodes):
        decided = decisions.get(number)
        if node.kind == LITERAL:
            made.append(build.literal(abs(node.literal) - 1, int(node.literal > 0)))
        elif decided is not None:
            for child in node.children:
                if (child, decided) not in sides:
                    sides[child, decided] = side(node, child, decided)
            made.append(build.conjunction(sides[child, decided] for child in node.children))
        else:
            join = build.conjunction if node.kind == AND else build.disjunction
            made.append(join(made[child] for child in node.children))
    return build.nnf(made[-1])


def negation(dnnf: Dnnf, variables: Sequence[Variable]) -> NNF:
    """The negation of a DNNF by de Morgan's laws, which is ∨-decomposable."""
    build = Builder(variables)
    made: list[int] = []
    for node in dnnf.nodes:
        if node.kind == LITERAL:
            made.append(build.literal(abs(node.literal) - 1, int(node.literal < 0)))
        else:
            join = build.disjunction if node.kind == AND else build.conjunction
            made.append(join(made[child] for child in node.children))
    return build.nnf(made[-1])


def _check_complementary(one: Dnnf, other: Dnnf, file: str | None) -> None:
    """That two Decision-DNNFs are each other's negation; of other DNNFs only each decision can be checked."""
    fingerprints = Fingerprints()
    total = 0
    for dnnf in (one, other):
        if None in _decisions(dnnf).values():
            return
        values: list[int] = []
        for node in dnnf.nodes:
            value = fingerprints.literal(node.literal) if node.kind == LITERAL else int(node.kind == AND)
            for child in node.children:
                value = (value * values[child] if node.kind == AND else value + values[child]) % MODULUS
            values.append(value)
        total += values[-1]
    if total % MODULUS != 1:
        raise FormatError("is not the negation of the other circuit; the two must part the instances", file=file)
