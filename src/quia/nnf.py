"""NNF: the flat and/or/literal graph that a complete reason is (paper §2).

Nodes are ints, children before parents, the root last. A literal is a state: a variable and one of its states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.caching import cached_property
from quia.errors import InstanceError, Unsupported, did_you_mean, shown
from quia.pickling import ByFields
from quia.variables import Variable

FALSE, TRUE, LITERAL, AND, OR = range(5)
KINDS = ("false", "true", "literal", "and", "or")
_SIGNS = {AND: " & ", OR: " | "}
_MOST_PRINTED = 2_000  # nodes of the formula written out; a larger one is printed as a list of its nodes

Ints = npt.NDArray[np.integer[Any]]
Node = tuple[int, int, int, tuple[int, ...]]
"""For plain loops: kind, variable, state, children."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class NNF(ByFields):
    """A formula of states, ∧, ∨, ⊤ and ⊥ as a graph with shared nodes.

    `kind[n]` is one of FALSE, TRUE, LITERAL, AND, OR; a literal is state `state[n]` of variable `variable[n]`; the
    children of node n are `child[child_start[n]] … child[child_start[n+1] - 1]`.

    >>> e, f = Variable.nominal("E", ["no", "yes"]), Variable.nominal("F", ["no", "yes"])
    >>> build = Builder((e, f))
    >>> formula = build.nnf(build.disjunction([build.literal(0, 1), build.literal(1, 0)]))
    >>> str(formula), formula.evaluate({"E": "no", "F": "no"}), formula.is_monotone
    ('E=yes | F=no', True, True)
    """

    variables: tuple[Variable, ...]
    kind: Ints
    variable: Ints
    state: Ints
    child_start: Ints
    child: Ints

    def __post_init__(self) -> None:
        for array in (self.kind, self.variable, self.state, self.child_start, self.child):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def node_count(self) -> int:
        """How many nodes there are, shared ones counted once."""
        return len(self.kind)

    @property
    def edge_count(self) -> int:
        """How many edges there are."""
        return len(self.child)

    @cached_property
    def kernel(self) -> _kernel.Nnf:
        """The formula in the compiled kernel, which knows a literal's variable, not its state."""
        return _kernel.Nnf(
            self.kind.astype(np.uint8),
            self.variable.astype(np.int32),
            self.child_start.astype(np.int64),
            self.child.astype(np.int32),
        )

    def find_necessary(self, **limits: Any) -> _kernel.Family:
        """The prime implicates of a monotone formula, as sets of variables."""
        # The kernel takes constants as they are, but does not know that a variable's only state is one.
        formula = self.simplified() if self._has_certain_literal or not self.is_monotone else self
        formula.require_monotone("finding prime implicates")
        return formula.kernel.necessary(**limits)

    @cached_property
    def literals(self) -> Ints:
        """The numbers of the nodes that are literals."""
        return np.flatnonzero(self.kind == LITERAL)

    def fates(self, choose: Callable[[Ints, Ints], Any]) -> npt.NDArray[np.uint8]:
        """What becomes of each literal, as the kernel takes it: `choose` gets the literals' variables and states."""
        fate = np.zeros(len(self), np.uint8)
        fate[self.literals] = choose(self.variable[self.literals], self.state[self.literals])
        return fate

    def values(self, true: Callable[[Ints, Ints], Any]) -> npt.NDArray[np.bool_]:
        """Whether each node is true; `true` tells of the literals' variables and states, whole arrays, which are."""
        return self.kernel.values(self.fates(true)).astype(bool)

    @property
    def is_true(self) -> bool:
        """Whether the formula is the constant ⊤."""
        return int(self.kind[-1]) == TRUE

    @property
    def is_false(self) -> bool:
        """Whether the formula is the constant ⊥."""
        return int(self.kind[-1]) == FALSE

    @property
    def is_valid(self) -> bool:
        """Whether every instance satisfies a formula that is ∨-decomposable or monotone.

        Of other formulas `quia.formula.is_valid` tells it. Complexity: linear. Paper: Lemma 1.
        """
        formula = self.simplified()
        if formula.is_monotone or formula.is_or_decomposable:
            return formula.is_true  # no literal is valid, and of such parts nothing valid is made
        raise Unsupported(
            "the validity of a formula that is neither ∨-decomposable nor monotone is not told in linear time",
            cure="ask quia.formula.is_valid, with quia.formula.from_nnf",
        )

    @property
    def is_satisfiable(self) -> bool:
        """Whether some instance satisfies a formula that is ∧-decomposable or monotone.

        Of other formulas `quia.formula.is_satisfiable` tells it. Complexity: linear. Paper: Lemma 1.
        """
        formula = self.simplified()
        if formula.is_monotone or formula.is_and_decomposable:
            return not formula.is_false
        raise Unsupported(
            "the satisfiability of a formula that is neither ∧-decomposable nor monotone is not told in linear time",
            cure="ask quia.formula.is_satisfiable, with quia.formula.from_nnf",
        )

    def simplified(self) -> NNF:
        """An equivalent formula with a constant only where the whole is one, and no node that the root does not need.

        A literal of a variable with one state is ⊤. The same object where nothing is to be done. Complexity: linear.

        >>> raw = {"schema": "quia/nnf/1", "nodes": [{"constant": True}, {"literal": ["E", "yes"]}, {"and": [0, 1]}]}
        >>> str(NNF.from_dict(raw, [Variable.nominal("E", ["no", "yes"])]).simplified())
        'E=yes'
        """
        return self if self._is_simple else self._simplified

    @cached_property
    def _is_simple(self) -> bool:
        gates = np.flatnonzero(self.kind >= AND)
        return bool(
            (len(self) == 1 or not (self.kind < LITERAL).any())
            and not (self.child_start[gates] == self.child_start[gates + 1]).any()
            and (np.bincount(self.child, minlength=len(self))[:-1] > 0).all()  # else there are nodes that nobody needs
            and not self._has_certain_literal
        )

    @property
    def _has_certain_literal(self) -> bool:
        """Whether a literal is a variable's only state."""
        return any(self.variables[v].size == 1 for v in self.mentioned)

    @cached_property
    def _simplified(self) -> NNF:
        build = Builder(self.variables)

        def literal(variable: int, state: int) -> int:
            return build.literal(variable, state) if self.variables[variable].size > 1 else build.true

        return build.nnf(self.fold(build.constant, literal, build.conjunction, build.disjunction))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """For plain loops: each node's kind, variable, state and children."""
        kind, variable, state = self.kind.tolist(), self.variable.tolist(), self.state.tolist()
        start, child = self.child_start.tolist(), self.child.tolist()
        return tuple((kind[n], variable[n], state[n], tuple(child[start[n] : start[n + 1]])) for n in range(len(kind)))

    def walk(self) -> Iterator[tuple[int, str, str | None, tuple[int, ...]]]:
        """Every node, children first: its number, kind, the state if it is a literal, its children."""
        for number, (kind, variable, state, children) in enumerate(self.nodes):
            yield number, KINDS[kind], self.variables[variable].phrase(state) if kind == LITERAL else None, children

    def fold(
        self,
        constant: Callable[[bool], T],
        literal: Callable[[int, int], T],
        conjunction: Callable[[list[T]], T],
        disjunction: Callable[[list[T]], T],
    ) -> T:
        """One value for the formula from one for each part; every shared node is worked out once.

        A value is let go when the last node that needs it is done, so a deep formula does not hold all of them.
        Complexity: linear in the edges, without recursion.
        """
        needed = np.bincount(self.child, minlength=len(self)).tolist()
        values: dict[int, T] = {}
        for number, (kind, variable, state, children) in enumerate(self.nodes):
            if kind == LITERAL:
                values[number] = literal(variable, state)
            elif kind in (TRUE, FALSE):
                values[number] = constant(kind == TRUE)
            else:
                parts = [values[child] for child in children]
                for child in children:
                    needed[child] -= 1
                    if not needed[child]:
                        del values[child]
                values[number] = conjunction(parts) if kind == AND else disjunction(parts)
        return values[len(self) - 1]

    def holds(self, is_true: Callable[[int, int], bool]) -> bool:
        """Whether the formula is true where `is_true(variable, state)` says which literals are."""

        def each(variables: Ints, states: Ints) -> list[bool]:
            return [is_true(v, s) for v, s in zip(variables.tolist(), states.tolist(), strict=True)]

        return bool(self.values(each)[-1])

    def evaluate(self, instance: Mapping[str, Any] | Sequence[Any]) -> bool:
        """Whether an instance, which must give each mentioned variable a value, satisfies the formula."""
        from quia.variables import encode_instance

        states = encode_instance(self.variables, self.mentioned, instance)
        return self.holds(lambda variable, state: states[variable] == state)

    @cached_property
    def mentioned(self) -> tuple[int, ...]:
        """The indices of the variables that occur."""
        return tuple(int(v) for v in np.unique(self.variable[self.kind == LITERAL]))

    def condition(self, term: Mapping[str, Any]) -> NNF:
        """The formula given the states of some variables: Δ | γ (paper §2), simplified.

        `term` maps variable names to values.
        """
        index = {v.name: i for i, v in enumerate(self.variables)}
        given = {}
        for name, value in term.items():
            if name not in index:
                raise InstanceError(f"there is no variable {shown(name)}{did_you_mean(name, index)}")
            given[index[name]] = self.variables[index[name]].encode(value)
        build = Builder(self.variables)

        def literal(variable: int, state: int) -> int:
            if variable not in given:
                return build.literal(variable, state)
            return build.constant(given[variable] == state)

        return build.nnf(self.fold(build.constant, literal, build.conjunction, build.disjunction))

    @property
    def is_monotone(self) -> bool:
        """Whether no variable occurs in two different states (paper §2)."""
        return self._clash is None

    @cached_property
    def _clash(self) -> str | None:
        """A variable that occurs in two different states, in words; None if there is none."""
        variables, states = self.variable[self.literals], self.state[self.literals]
        last = np.zeros(len(self.variables), np.int32)
        last[variables] = states
        clashing = np.flatnonzero(last[variables] != states)
        if not len(clashing):
            return None
        variable = int(variables[clashing[0]])
        return " and ".join(self.variables[variable].phrase(int(s)) for s in (states[clashing[0]], last[variable]))

    def require_monotone(self, what: str) -> None:
        """Raise Unsupported if the formula is not monotone, which `what` needs."""
        if self._clash is not None:
            raise Unsupported(
                f"{what} takes a monotone formula, in which a variable occurs in one state, but this one mentions"
                f" {self._clash}",
                cure="take the complete reason of an instance, with quia.explain or quia.formula.complete_reason",
            )

    @cached_property
    def is_or_decomposable(self) -> bool:
        """Whether the disjuncts of every disjunction share no variable (paper §2)."""
        return self.kernel.shared_variable(OR) is None

    @cached_property
    def is_and_decomposable(self) -> bool:
        """Whether the conjuncts of every conjunction share no variable (paper §2)."""
        return self.kernel.shared_variable(AND) is None

    def __str__(self) -> str:
        """The formula in one line, `&` for ∧ and `|` for ∨; a large one as a list of its nodes."""
        size = self.fold(lambda _: 1, lambda *_: 1, _capped_sum, _capped_sum)
        if size > _MOST_PRINTED:
            return self._listing()
        text, _ = self.fold(
            lambda value: ("true" if value else "false", LITERAL),
            lambda variable, state: (self.variables[variable].phrase(state), LITERAL),
            lambda parts: (_SIGNS[AND].join(_bracketed(part, OR) for part in parts) or "true", AND),
            lambda parts: (_SIGNS[OR].join(_bracketed(part, AND) for part in parts) or "false", OR),
        )
        return text

    def _listing(self) -> str:
        lines: list[str] = []
        for number, kind, state, children in self.walk():
            if len(lines) == _MOST_PRINTED:
                lines.append(f"… {len(self)} nodes in all, the root is n{len(self) - 1}")
                break
            sign = _SIGNS.get(KINDS.index(kind), "")
            lines.append(f"n{number} = {state or sign.join(f'n{child}' for child in children) or kind}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<NNF: {self.node_count} nodes, {self.edge_count} edges, {len(self.mentioned)} variables>"

    def __eq__(self, other: object) -> bool:
        """Whether the two are the same graph; equivalent formulas may differ."""
        if not isinstance(other, NNF):
            return NotImplemented
        return self.variables == other.variables and self.nodes == other.nodes

    def __hash__(self) -> int:
        return hash((self.variables, self.kind.tobytes(), self.child.tobytes()))

    def to_dot(self) -> str:
        """The formula as a Graphviz drawing."""
        lines = ["digraph reason {", '  node [fontname="sans-serif"];']
        for number, kind, state, children in self.walk():
            label = {"and": "∧", "or": "∨", "true": "⊤", "false": "⊥"}.get(kind) or str(state)
            shape = "circle" if children else "box"
            quoted = label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'  n{number} [shape={shape}, label="{quoted}"];')
            lines.extend(f"  n{number} -> n{child};" for child in children)
        return "\n".join([*lines, "}"])

    def to_dict(self) -> dict[str, Any]:
        """The formula as plain data: its nodes, children first, the root last."""
        from quia.nnf_dict import write

        return write(self)

    @staticmethod
    def from_dict(data: Any, variables: Iterable[Variable]) -> NNF:
        """A formula from `to_dict`'s data, over these variables."""
        from quia.nnf_dict import read

        return read(data, variables)


class Builder:
    """Makes an NNF from its leaves up; equal nodes are made once and constants are simplified away."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self._variables = tuple(variables)
        self._nodes: list[Node] = []
        self._known: dict[Node, int] = {}
        self.false, self.true = self._node(FALSE), self._node(TRUE)

    def constant(self, value: bool) -> int:
        """⊤ or ⊥."""
        return self.true if value else self.false

    def literal(self, variable: int, state: int) -> int:
        """The state of a variable."""
        return self._node(LITERAL, variable, state)

    def conjunction(self, parts: Iterable[int]) -> int:
        """The parts joined by ∧."""
        return self._joined(AND, parts, neutral=self.true, absorbing=self.false)

    def disjunction(self, parts: Iterable[int]) -> int:
        """The parts joined by ∨."""
        return self._joined(OR, parts, neutral=self.false, absorbing=self.true)

    def _joined(self, kind: int, parts: Iterable[int], *, neutral: int, absorbing: int) -> int:
        distinct = dict.fromkeys(part for part in parts if part != neutral)
        if absorbing in distinct:
            return absorbing
        if not distinct:
            return neutral
        return next(iter(distinct)) if len(distinct) == 1 else self._node(kind, -1, -1, tuple(distinct))

    def _node(self, kind: int, variable: int = -1, state: int = -1, children: tuple[int, ...] = ()) -> int:
        key = (kind, variable, state, children)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._nodes)
            self._nodes.append(key)
        return number

    def nnf(self, root: int) -> NNF:
        """The formula at a node, without the nodes it does not need."""
        used = bytearray(root + 1)
        used[root] = 1
        for number in range(root, -1, -1):
            if used[number]:
                for child in self._nodes[number][3]:
                    used[child] = 1
        position: dict[int, int] = {}
        kept: list[Node] = []
        for number in range(root + 1):
            if used[number]:
                position[number] = len(kept)
                kind, variable, state, children = self._nodes[number]
                kept.append((kind, variable, state, tuple(position[child] for child in children)))
        return from_nodes(self._variables, kept)


def from_nodes(variables: tuple[Variable, ...], nodes: Sequence[Node]) -> NNF:
    """The formula of these nodes, children first, the root last."""
    return NNF(
        variables,
        np.array([node[0] for node in nodes], np.uint8),
        np.array([node[1] for node in nodes], np.int32),
        np.array([node[2] for node in nodes], np.int32),
        np.cumsum([0, *(len(node[3]) for node in nodes)], dtype=np.int64),
        np.array([child for node in nodes for child in node[3]], np.int32),
    )


def _capped_sum(sizes: list[int]) -> int:
    return min(sum(sizes) + 1, _MOST_PRINTED + 1)  # the size of a shared formula written out can be astronomic


def _bracketed(part: tuple[str, int], inside: int) -> str:
    text, kind = part
    return f"({text})" if kind == inside else text
