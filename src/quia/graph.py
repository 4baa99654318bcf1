"""Decision graphs (paper §4): multi-class, shared, many-way; decision trees are a special case."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from quia import _kernel
from quia.boxes import Shape, changing_parts, forcing_parts
from quia.caching import cached_property
from quia.classifier import ClassifierBase, model_line
from quia.consistent import Edges, establish
from quia.errors import GraphError, MissingValue
from quia.graph_arrays import Ints, Node, NodesByNeed, flat_edges, names_of_copies, what_changed
from quia.look import counted
from quia.pickling import ByFields
from quia.variables import UNKNOWN, Variable, tested_values

if TYPE_CHECKING:
    from quia.contrast import Contrast
    from quia.nnf import NNF
    from quia.patience import Clock
    from quia.question import Question
    from quia.ranges import Ranges
    from quia.reason import Kind
    from quia.region import Region

States = Sequence[int] | Mapping[int, int]
"""The state of each variable."""


_MOST_KEPT = 1_000_000
"""So many nodes may the graphs have together that are kept for the boxes of possible worlds."""


@dataclass(frozen=True, eq=False)
class DecisionGraph(ByFields, ClassifierBase):
    """A classifier whose nodes test variables and whose leaves name classes.

    Nodes are ints, children before parents, the root last, all reached from it. `tests[n]` is the variable that node
    n tests, or -1 at a leaf; `labels[n]` is the class of a leaf, or -1. The edges of node n are
    `edge_start[n] … edge_start[n+1]`; edge e leads to `child[e]` for the states in the ranges
    `range_start[e] … range_start[e+1]`, each from `low` to `high`, both included. On every path the edges of a node
    part the states that are still possible there (the weak test-once property).

    `names` are the nodes' names, if they have any; `notes` say what was changed to get here; `given` are constraints
    between the variables: what breaks one is decided, but counts in no answer. `impossible` is the index
    of a class whose leaves no possible instance reaches, -1 if there is none: unknown values are not such that the
    instance is impossible, and no reason need speak of what is.

    >>> graph = DecisionGraph.from_dict({
    ...     "quia": 1, "variables": {"SAT": {"kind": "numeric"}}, "classes": ["no", "yes"], "root": "sat",
    ...     "nodes": {"sat": {"test": "SAT", "edges": [{"if": "< 1450", "to": "n"}, {"if": ">= 1450", "to": "y"}]},
    ...               "n": {"class": "no"}, "y": {"class": "yes"}}})
    >>> graph.classify({"SAT": 1450})
    'yes'
    """

    variables: tuple[Variable, ...]
    classes: tuple[str, ...]
    tests: Ints
    labels: Ints
    edge_start: Ints
    child: Ints
    range_start: Ints
    low: Ints
    high: Ints
    any_worlds: ClassVar[bool] = True
    names: tuple[str, ...] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    impossible: int = field(default=-1, repr=False)
    given: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not -1 <= self.impossible < len(self.classes):
            raise GraphError(
                f"the impossible class is {self.impossible}; give the index of one of the {len(self.classes)} classes,"
                " or -1 for none"
            )
        for array in self.arrays:
            array.setflags(write=False)

    @staticmethod
    def build(
        variables: Sequence[Variable],
        classes: Sequence[str],
        tests: Sequence[int],
        labels: Sequence[int],
        edges: Sequence[Edges],
        *,
        names: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        impossible: int = -1,
        given: Sequence[Any] = (),
    ) -> DecisionGraph:
        """A graph from plain lists, children first, root last; it is made consistent, and edges are checked.

        `edges[n]` are the (states, child) pairs of node n, the states as ranges of state indices.
        """
        called = names if names is not None else [f"n{node}" for node in range(len(tests))]
        made = establish(variables, tests, edges, called)
        return DecisionGraph(
            tuple(variables),
            tuple(classes),
            np.array([tests[n] for n in made.origin], np.int32),
            np.array([labels[n] for n in made.origin], np.int32),
            *flat_edges(made.edges),
            names=None if names is None else tuple(names_of_copies(made.origin, names)),
            notes=(*notes, *what_changed(made.origin, called)),
            impossible=impossible,
            given=tuple(given),
        )

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> DecisionGraph:
        """A graph from the JSON format."""
        from quia.graph_dict import read

        return read(data)

    def to_dict(self) -> dict[str, Any]:
        """The graph in the JSON format.

        Reading that gives the same nodes, variables and classes, and hence the same decisions and reasons. Nodes may
        come in another order, those without names are then called as they are written (`n0`, …), and `notes` are not
        kept, so it is equal (`==`) only where the graph has names in that order, as one that was read from JSON has.
        """
        from quia.graph_dict import write

        return write(self)

    def class_formula(self, label: str) -> NNF:
        """Δᶜ[T]: the formula of a class, which an instance satisfies if the graph gives it that class.

        It is positive, and ∨-decomposable but for the disjunctions of one variable's states. Complexity: linear in the
        graph, times the logarithm of the number of states. Paper: Def. 3, Prop. 6.
        """
        from quia.complete import class_formula

        return class_formula(self, label)

    @property
    def arrays(self) -> tuple[Ints, ...]:
        """The flat arrays, in the order of the fields."""
        return (self.tests, self.labels, self.edge_start, self.child, self.range_start, self.low, self.high)

    def __len__(self) -> int:
        return len(self.tests)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DecisionGraph):
            return NotImplemented
        return (
            self.variables == other.variables
            and self.classes == other.classes
            and self.names == other.names
            and self.impossible == other.impossible
            and self.given == other.given
            and all(np.array_equal(a, b) for a, b in zip(self.arrays, other.arrays, strict=True))
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.classes, len(self), self.tests.tobytes()))

    def __repr__(self) -> str:
        return model_line(self, counted(len(self), "node"))

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The indices of the variables that some node tests."""
        return tuple(int(v) for v in np.unique(self.tests[self.tests >= 0]))

    @cached_property
    def given_classes(self) -> frozenset[int]:
        """The indices of the classes that some leaf gives."""
        return frozenset(np.unique(self.labels[self.labels >= 0]).tolist())

    @cached_property
    def is_tree(self) -> bool:
        """Whether no node has two parents."""
        return len(np.unique(self.child)) == len(self.child)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """`decision tree` or `decision graph`."""
        return "decision tree" if self.is_tree else "decision graph"

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many nodes, leaves and edges there are, and the tests on the longest path."""
        depth: list[int] = []
        for _, _, edges in self.nodes:
            depth.append(1 + max((depth[child] for _, child in edges), default=-1))
        leaves = int((self.tests < 0).sum())
        return {"nodes": len(self), "leaves": leaves, "edges": len(self.child), "depth": depth[-1]}

    @cached_property
    def nodes(self) -> tuple[tuple[int, int, Edges], ...]:
        """For plain loops: each node's variable (or -1), class (or -1) and (states, child) edges."""
        tests, labels, edge_start, child, range_start, low, high = (array.tolist() for array in self.arrays)
        pairs = list(zip(low, high, strict=True))
        edges = [(tuple(pairs[range_start[e] : range_start[e + 1]]), child[e]) for e in range(len(child))]
        return tuple((tests[n], labels[n], tuple(edges[edge_start[n] : edge_start[n + 1]])) for n in range(len(tests)))

    @cached_property
    def nodes_by_need(self) -> Sequence[Node]:
        """The same, each made when it is looked at: a page shows few of many."""
        return NodesByNeed(self.arrays)

    @cached_property
    def kernel(self) -> _kernel.Graph:
        """The graph in the compiled kernel."""
        return self.in_kernel(self.low, self.high, [v.size for v in self.variables])

    def in_kernel(self, low: Ints, high: Ints, sizes: Sequence[int]) -> _kernel.Graph:
        """The graph in the compiled kernel, with these ranges of states, of which variables have so many."""
        tests, labels, edge_start, child, range_start, *_ = self.arrays
        return _kernel.Graph(
            tests.astype(np.int32),
            labels.astype(np.int32),
            edge_start.astype(np.int64),
            child.astype(np.int32),
            range_start.astype(np.int64),
            low.astype(np.int32),
            high.astype(np.int32),
            np.array(sizes, np.int32),
            len(self.classes),
            self.impossible,
        )

    def complete_reason(self, question: Question) -> NNF:
        """Why the decision is what it is, in closed form (paper: Prop. 7 and 8). Complexity: linear in the graph."""
        from quia.complete import of_graph

        return of_graph(self.within(question.possible), question)

    def general_reason(self, question: Question) -> NNF:
        """The complete reason's general sibling, over sets of states, in closed form. Complexity: linear."""
        from quia.complete import general_reason

        return general_reason(self.within(question.possible), question)

    def find_necessary(self, question: Question, **limits: Any) -> _kernel.Family:
        """The necessary reasons of a decision, as sets of variables."""
        graph = self.within(question.possible)
        return graph.kernel.necessary(np.array(question.states, np.int32), **graph.kernel_question(question), **limits)

    def within(self, possible: Region) -> DecisionGraph:
        """The graph in the worlds of a box; itself, if these are all.

        A state that is not possible goes where the possible one before it goes, or else the first: so no edge is left
        that nothing possible takes, a tree stays a tree, and possible instances are decided as they are.
        Complexity: linear.
        """
        if not possible.bounds:
            return self
        key = tuple(sorted(possible.bounds.items()))
        known = self._within.get(key)
        if known is None:
            if len(self._within) * len(self) > _MOST_KEPT:
                self._within.clear()  # at once, as other threads may ask meanwhile
            arrays = self.kernel.within(*possible.flat)
            known = self._within[key] = DecisionGraph(
                self.variables, self.classes, *arrays, notes=self.notes, impossible=self.impossible
            )
        return known

    @cached_property
    def _within(self) -> dict[Any, DecisionGraph]:
        """The graphs within the boxes that were asked about last: many instances have the same."""
        return {}

    def kernel_question(self, question: Question) -> dict[str, Any]:
        """What the kernel is to be asked, beside the instance, as its arguments."""
        asked: dict[str, Any] = {}  # the kernel takes a plain why, of everything that can change, for granted
        if question.keeps - {self.impossible} != {question.decision}:
            asked["keeps"] = self.mask_of_classes(question.keeps)
        if question.frozen:
            asked["frozen"] = np.zeros(len(self.variables), np.uint8)
            asked["frozen"][list(question.frozen)] = 1
        return asked

    def mask_of_classes(self, labels: Collection[int]) -> npt.NDArray[np.uint8]:
        """For each class whether it is one of these."""
        mask = np.zeros(len(self.classes), np.uint8)
        mask[list(labels)] = 1
        return mask

    def escape(self, question: Question, region: Region) -> tuple[int, ...] | None:
        """An instance in the region, and possible, whose class does not keep the decision; None if there is none.

        On every path the tests agree (the weak test-once property), so reaching a leaf is enough. Complexity: linear.
        """
        possible = region.intersection(question.within)
        if possible.is_empty:
            return None
        found = self.kernel.escape(
            np.array(question.states, np.int32), self.mask_of_classes(question.keeps), *possible.flat
        )
        return None if found is None else tuple(found)

    def widen(
        self,
        question: Question,
        kind: Kind,
        members: Sequence[int],
        intervals: bool,
        *,
        limit: int | None = None,
        certain: bool = False,
        timeout: float | None = None,
    ) -> list[tuple[Ranges, ...]]:
        """The largest boxes over a reason's variables, the `limit` widest first."""
        possible, asked = question.possible, (question, kind, members, intervals)
        graph = self.within(possible)
        if possible.bounds.keys().isdisjoint(members):
            return graph._boxes(*asked, limit=limit, certain=certain, timeout=timeout)
        found = graph._boxes(*asked, certain=certain, timeout=timeout)
        bounds = {place: possible.bounds[v] for place, v in enumerate(members) if v in possible.bounds}
        variables = [self.variables[v] for v in members]
        if kind == "sufficient":
            return forcing_parts(found, variables, bounds)[:limit]
        return changing_parts(found, [Shape.of(variable, intervals) for variable in variables], bounds)[:limit]

    def _boxes(
        self, question: Question, kind: Kind, members: Sequence[int], intervals: bool, **limits: Any
    ) -> list[tuple[Ranges, ...]]:
        """The same, as the kernel finds them, which knows of no bounds."""
        start, low, high = (
            part.tolist()
            for part in self.kernel.widen(
                np.array(question.states, np.int32),
                members,
                necessary=kind == "necessary",
                numbers=self.number_counts if intervals else None,
                **limits,
                **self.kernel_question(question),
            )
        )
        pairs = tuple(zip(low, high, strict=True))
        sets = [pairs[a:b] for a, b in pairwise(start)]
        width = len(members)
        return [tuple(sets[at : at + width]) for at in range(0, len(sets), width)] if width else [()]

    @cached_property
    def number_counts(self) -> npt.NDArray[np.int32]:
        """Of each variable how many of its states are numbers, in their order."""
        return np.array([len(v.cuts) + 1 if v.is_numeric else 0 for v in self.variables], np.int32)

    def refined(self, variables: tuple[Variable, ...]) -> DecisionGraph:
        """The same graph over variables that have all cuts of its own, and more."""
        from quia.refine import refine_ranges

        of_edge = np.repeat(self.tests, np.diff(self.edge_start))
        of_range = np.repeat(of_edge, np.diff(self.range_start))
        low, high = refine_ranges(self.variables, variables, of_range, self.low, self.high)
        return replace(self, variables=variables, low=low, high=high)

    def find_pair(
        self, contrast: Contrast, possible: Region, clock: Clock
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Two instances in a region that a contrast looks for, neither of them impossible; None if there are none."""
        from quia.graph_pairs import find_pair

        return find_pair(self, contrast, possible, clock)

    def decide_rows(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The class of each encoded row; -2 - v where it depends on the unknown variable v."""
        return self.kernel.classify(rows)

    def batch(self, rows: npt.NDArray[np.int32], **asked: Any) -> _kernel.BatchResult:
        """The reasons of each encoded row."""
        return self.kernel.batch(rows, **asked)

    def boxed(self, possible: Region) -> Callable[..., _kernel.BatchResult]:
        """`batch` for rows in a box, whose states alone are possible."""
        from quia.graph_box import BoxedGraph

        return BoxedGraph.of(self, possible).batch

    def classify(self, instance: Any) -> str:
        """The class that the graph gives an instance; values that its path does not ask for may be missing.

        One that it does ask for is refused even where it makes no difference, as the model itself might give no class.
        Complexity: linear in the length of its path.
        """
        values = dict(zip(self.tested, tested_values(self.variables, self.tested, instance), strict=True))
        return self.classes[self.decide(_Encoding(self.variables, values))]

    def decide(self, states: States) -> int:
        """The index of the class of an encoded instance, the same whatever its unknown variables (-1) are.

        If it depends on one of them, MissingValue names that. Leaves of the impossible class are left out, unless they
        are all that can be reached.
        """
        *_, last = self.path(states)
        return int(self.labels[last]) if self.tests[last] < 0 else self._decide_below(last, states)

    def path(self, states: States) -> Iterator[int]:
        """The nodes that an encoded instance passes, from the root to a leaf, or to a test of an unknown variable."""
        node = len(self) - 1
        while True:
            yield node
            variable = int(self.tests[node])
            if variable < 0 or states[variable] == UNKNOWN:
                return
            node = self._follow(node, states[variable])

    def _decide_below(self, start: int, states: States) -> int:
        """The class of all leaves below a node that unknown variables leave possible."""
        labels: dict[int, int] = {}
        for node, children in sorted(self._followed(start, states).items()):  # children first
            below = {labels[child] for child in children} or {int(self.labels[node])}
            below = below - {self.impossible} or below
            if len(below) > 1:  # every path is possible, so the variable alone makes the difference
                name = self.variables[self.tests[node]].name
                raise MissingValue(f"{name} is not known", feature=name, why="the decision depends on it")
            labels[node] = below.pop()
        return labels[start]

    def _followed(self, start: int, states: States) -> dict[int, list[int]]:
        """The nodes below one that an instance may pass, with their children that it may pass next."""
        followed: dict[int, list[int]] = {}
        work = [start]
        while work:
            node = work.pop()
            variable = int(self.tests[node])
            if variable < 0:
                followed[node] = []
            elif states[variable] == UNKNOWN:
                followed[node] = self.child[self.edge_start[node] : self.edge_start[node + 1]].tolist()
            else:
                followed[node] = [self._follow(node, states[variable])]
            work += [child for child in followed[node] if child not in followed]
        return followed

    def _follow(self, node: int, state: int) -> int:
        for edge in range(self.edge_start[node], self.edge_start[node + 1]):
            for r in range(self.range_start[edge], self.range_start[edge + 1]):
                if self.low[r] <= state <= self.high[r]:
                    return int(self.child[edge])
        raise AssertionError(f"node {node} has no edge for state {state}")

    def name(self, node: int) -> str:
        """The name of a node."""
        return f"n{node}" if self.names is None else self.names[node]


class _Encoding(dict[int, int]):
    """States worked out when the path asks for them: a value that no node on it looks at may be missing."""

    def __init__(self, variables: Sequence[Variable], values: Mapping[int, Any]) -> None:
        super().__init__()
        self.variables, self.values_of = variables, values

    def __missing__(self, variable: int) -> int:
        return self.variables[variable].encode(self.values_of[variable])
