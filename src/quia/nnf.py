"""NNF: the flat and/or/literal graph that a complete reason is (paper §2), and a general reason.

Nodes are ints, children before parents, the root last. A literal is a variable and one of its states; in a general
reason, some of its states. The arrays and the passes over them are in `nnf_arrays`; here is what they mean. `dag` says
what else keeps a formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from quia import _kernel
from quia.caching import cached_property
from quia.dag import AND, FALSE, LITERAL, OR, TRUE, Table, flat, reached
from quia.errors import InstanceError, Unsupported, did_you_mean, shown
from quia.look import Shown, counted, tagged
from quia.nnf_arrays import FlatFormula, Node
from quia.ranges import Ranges, size
from quia.variables import Variable

_MOST_WRITTEN = 20  # nodes of a formula that is written out in one line


@dataclass(frozen=True, eq=False)
class NNF(Shown, FlatFormula):
    """A formula of states, ∧, ∨, ⊤ and ⊥ as a graph with shared nodes.

    `kind[n]` is one of FALSE, TRUE, LITERAL, AND, OR; a literal is state `state[n]` of variable `variable[n]`, or, if
    `state[n]` is -2 - k, one of the states in `sets[k]`; the children of node n are
    `child[child_start[n]] … child[child_start[n+1] - 1]`.

    >>> e, f = Variable.nominal("E", ["no", "yes"]), Variable.nominal("F", ["no", "yes"])
    >>> build = Builder((e, f))
    >>> formula = build.nnf(build.disjunction([build.literal(0, 1), build.literal(1, 0)]))
    >>> str(formula), formula.evaluate({"E": "no", "F": "no"}), formula.is_monotone
    ('E=yes | F=no', True, True)
    """

    def find_necessary(self, **limits: Any) -> _kernel.Family:
        """The prime implicates of a monotone formula, as sets of variables."""
        # The kernel takes constants as they are, but does not know that a variable's only state is one.
        formula = self.simplified() if self._has_certain_literal or not self.is_monotone else self
        formula.require_monotone("finding prime implicates")
        return formula.kernel.necessary(**limits)

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
        certain = np.array([variable.size == 1 for variable in self.variables], bool)
        return self.replaced(lambda variables, _: np.where(certain[variables], 1, 2))

    def evaluate(self, instance: Mapping[str, Any] | Sequence[Any]) -> bool:
        """Whether an instance, which must give each mentioned variable a value, satisfies the formula."""
        from quia.variables import encode_instance

        states = np.array(encode_instance(self.variables, self.mentioned, instance))
        return bool(self.values(partial(self.hold, instance=states))[-1])

    def condition(self, term: Mapping[str, Any]) -> NNF:
        """The formula given the states of some variables: Δ | γ (paper §2), simplified.

        `term` maps variable names to values.
        """
        index = {v.name: i for i, v in enumerate(self.variables)}
        given = np.full(len(self.variables), -1)
        for name, value in term.items():
            if name not in index:
                raise InstanceError(f"there is no variable {shown(name)}{did_you_mean(name, index)}")
            given[index[name]] = self.variables[index[name]].encode(value)
        return self.replaced(lambda v, s: np.where(given[v] < 0, 2, self.hold(v, s, given)))

    @property
    def is_monotone(self) -> bool:
        """Whether no variable occurs in two different states, or sets of states (paper §2)."""
        return self._clash is None

    @cached_property
    def _clash(self) -> str | None:
        """A variable that occurs in two different states, or sets of them, in words; None if there is none."""
        variables, states = self.variable[self.literals], self.state[self.literals]
        last = np.zeros(len(self.variables), states.dtype)
        last[variables] = states
        clashing = np.flatnonzero(last[variables] != states)
        if not len(clashing):
            return None
        variable = int(variables[clashing[0]])
        return " and ".join(str(self.literal(variable, int(s))) for s in (states[clashing[0]], last[variable]))

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
        from quia.nnf_text import text

        return text(self)

    def __repr__(self) -> str:
        written = str(self) if len(self) <= _MOST_WRITTEN else ""
        return tagged("NNF", counted(self.node_count, "node"), counted(len(self.mentioned), "feature"), written)

    def __eq__(self, other: object) -> bool:
        """Whether the two are the same graph; equivalent formulas may differ."""
        if not isinstance(other, NNF):
            return NotImplemented
        return self.variables == other.variables and self._spelled_out == other._spelled_out

    @property
    def _spelled_out(self) -> Sequence[tuple[Any, ...]]:
        """The nodes with their sets of states, however these are numbered."""
        if not self.sets:
            return self.nodes
        return tuple((*node[:2], self.sets[-2 - node[2]] if node[2] < -1 else node[2], node[3]) for node in self.nodes)

    def __hash__(self) -> int:
        return hash((self.variables, self.kind.tobytes(), self.child.tobytes()))

    def to_dot(self) -> str:
        """The formula as a Graphviz drawing."""
        from quia.nnf_text import dot

        return dot(self)

    def to_dict(self) -> dict[str, Any]:
        """The formula as plain data: its nodes, children first, the root last."""
        from quia.nnf_dict import write

        return write(self)

    @staticmethod
    def from_dict(data: Any, variables: Iterable[Variable]) -> NNF:
        """A formula from `to_dict`'s data, over these variables."""
        from quia.nnf_dict import read

        return read(data, variables)


class Builder(Table[int, int]):
    """Makes an NNF from its leaves up; equal nodes are made once and constants are simplified away."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self._variables = tuple(variables)
        self._sets: dict[Ranges, int] = {}
        super().__init__({}, no_variable=-1)

    def _fresh(self, key: Node) -> int:
        return len(self._known)

    def literal(self, variable: int, state: int) -> int:
        """The state of a variable; the states of a line are too large for the array of them, and are kept as sets."""
        if state >= 0 and self._variables[variable].is_line:
            state = -2 - self._sets.setdefault(((state, state),), len(self._sets))
        return super().literal(variable, state)

    def any_of(self, variable: int, states: Ranges) -> int:
        """That a variable is in one of these states."""
        count = size(states)
        if count in (0, self._variables[variable].size):
            return self.constant(count > 0)
        if count == 1:
            return self.literal(variable, states[0][0])
        return self.literal(variable, -2 - self._sets.setdefault(states, len(self._sets)))

    def nnf(self, root: int) -> NNF:
        """The formula at a node, without the nodes it does not need."""
        nodes = list(self._known)
        place = reached(root, lambda number: nodes[number][3])
        kept = [(*nodes[number][:3], tuple(place[child] for child in nodes[number][3])) for number in place]
        return from_nodes(self._variables, kept, tuple(self._sets))


def from_nodes(variables: tuple[Variable, ...], nodes: Sequence[Node], sets: tuple[Ranges, ...] = ()) -> NNF:
    """The formula of these nodes, children first, the root last."""
    kind, variable, state, children = zip(*nodes, strict=True)
    child_start, child = flat(children)
    return NNF(
        variables,
        np.array(kind, np.uint8),
        np.array(variable, np.int32),
        np.array(state, np.int32 if max(state) < 2**31 else np.int64),  # a line has more states
        child_start,
        child,
        sets,
    )
