"""The compiled kernel: decision graphs and monotone NNFs in, families of reasons out.

Everything is in indices: variables, states and classes are ints, a reason is a sorted tuple of variables. Names,
values and units are the business of the Python side.

The order of every listing is a contract: by cost (where costs are given), then by length, then
lexicographically by the sorted tuple of variables. It is the same on every run and machine, and the first ten of ten
billion are the first ten of the whole listing.

All long work releases the GIL, may run in several threads on the same objects, and answers Ctrl-C.
`timeout` is in seconds (None: no limit), `memory` caps the bytes that families and diagrams of a call may take (the
arrays of a graph come on top of it). Costs are positive int64, one per variable.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypedDict, final, type_check_only

import numpy as np
import numpy.typing as npt

_Int32: TypeAlias = npt.NDArray[np.int32]
_Int64: TypeAlias = npt.NDArray[np.int64]
_UInt8: TypeAlias = npt.NDArray[np.uint8]
_Float64: TypeAlias = npt.NDArray[np.float64]

class OverBudget(RuntimeError):
    """The time or memory limit was reached before there was an answer; the message says which."""

@type_check_only
class ReasonColumns(TypedDict):
    """Shortest reasons of many rows, in compressed sparse rows."""

    ties: _Int64
    """Per row: how many shortest reasons there are; -1 where unknown, or beyond int64 and then in `large`."""
    large: dict[int, int]
    """Row → number, for numbers beyond int64."""
    complete: _UInt8
    """Per row: 1 if `ties` is exact; 0 if a limit ended the work, and then no reason is listed."""
    reason_start: _Int64
    """Row i lists the reasons reason_start[i] … reason_start[i+1]-1: the first `limit` in contract order."""
    member_start: _Int64
    """Reason k has the variables members[member_start[k]:member_start[k+1]], ascending."""
    members: _Int32

@type_check_only
class GeneralColumns(TypedDict):
    """General reasons of many rows: as `ReasonColumns`, but that each reason is a region of the batch."""

    ties: _Int64
    large: dict[int, int]
    complete: _UInt8
    reason_start: _Int64
    region: _Int32
    """Reason k is the region region[k]."""

@type_check_only
class RegionColumns(TypedDict):
    """Boxes over some variables, each distinct one once, in an order that may differ from run to run."""

    member_start: _Int64
    """Region k has the variables members[member_start[k]:member_start[k+1]], ascending."""
    members: _Int32
    range_start: _Int64
    """members[j] has the ranges range_start[j] … range_start[j+1]-1 of its states; in a necessary reason those are the
    states that it must change to."""
    range_low: _Int32
    range_high: _Int32

@type_check_only
class CountColumn(TypedDict):
    """Exact counts of many rows."""

    count: _Int64
    """Per row: the count; -1 where unknown, or beyond int64 and then in `large`."""
    large: dict[int, int]
    complete: _UInt8

@type_check_only
class BatchResult(TypedDict, total=False):
    """What `Graph.batch` returns: `decision`, and what was asked for."""

    decision: _Int32
    necessary: ReasonColumns | GeneralColumns
    sufficient: ReasonColumns | GeneralColumns
    regions: RegionColumns
    count_necessary: CountColumn
    count_sufficient: CountColumn

@final
class SetIterator(Iterator[tuple[int, ...]]):
    """Sets one after the other, in contract order."""

    @property
    def complete(self) -> bool:
        """False once the time or memory limit has ended the iteration early."""
    def __iter__(self) -> SetIterator: ...
    def __next__(self) -> tuple[int, ...]: ...

@final
class Graph:
    """A decision graph: nodes children first, the root last; immutable.

    An inner node tests a variable and has edges labelled with sorted, disjoint, inclusive ranges of states. On every
    path the edges of a node must part the states still possible there (the weak test-once property); the kernel
    takes that for granted. A graph in which no inner node has two parents is treated as a tree, which is faster.

    The state of a variable is -1 where it is unknown, and may be any. Then no reason has the variable, and every reason
    holds whatever it is; ValueError if the decision depends on it.
    """

    def __init__(
        self,
        variable: _Int32,
        klass: _Int32,
        edge_start: _Int64,
        child: _Int32,
        range_start: _Int64,
        range_low: _Int32,
        range_high: _Int32,
        state_counts: _Int32,
        class_count: int,
        impossible: int = -1,
    ) -> None:
        """Copies the arrays and checks every index; ValueError names the first fault.

        `impossible` is a class whose leaves no possible instance reaches (-1: none).

        Node i tests variable[i] (-1 at leaves), has class klass[i] (-1 at inner nodes) and the edges edge_start[i] …
        edge_start[i+1]-1. Edge e leads to child[e] for the states of its ranges range_start[e] … range_start[e+1]-1.
        """
    @property
    def node_count(self) -> int: ...
    @property
    def is_tree(self) -> bool: ...
    def classify(self, states: _Int32, *, threads: int = 2) -> _Int32:
        """The class of each row of states (rows × variables), the same whatever its unknown variables are.

        -1 where no edge takes a row's state; -2 - v where the class depends on the unknown variable v. Leaves of the
        impossible class are left out where unknown variables may lead elsewhere.
        """
    def necessary(
        self,
        states: _Int32,
        *,
        keeps: _UInt8 | None = None,
        frozen: _UInt8 | None = None,
        shortest: bool = False,
        costs: _Int64 | None = None,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> Family:
        """The necessary reasons of the decision on one instance (prime implicates of its complete reason).

        `keeps` is the set of classes that leave the decision as it is: one entry for each, nonzero if it does. None is
        the instance's own class alone, with the impossible one (why that class); all but one asks why not that one, and
        has the impossible class only where it says so. ValueError if the instance's own class is not in the set. Frozen
        variables count as given. `shortest` keeps the shortest (cheapest) only. Where a limit ends the work the family
        is not `complete`: of a tree it has the reasons found so far, of a shared graph, and of the shortest, none.

        Complexity: the shortest of a tree, one walk over the part of it at most that many changes away; of a graph,
        a few linear passes and the size of the answer's diagram.
        Paper: Proposition 7, Equations 1 and 2.
        """
    def complete_reason(
        self, states: _Int32, *, keeps: _UInt8 | None = None, frozen: _UInt8 | None = None
    ) -> tuple[_UInt8, _Int32, _Int64, _Int32]:
        """The complete reason as the arrays that `Nnf` takes: kind, literal, child_start, child.

        Equal nodes are made once, and constants stand only where the whole is constant.
        Complexity: one pass over the graph.
        Paper: Proposition 7, Equations 1 and 2.
        """
    def shortest_length(
        self,
        states: _Int32,
        *,
        keeps: _UInt8 | None = None,
        frozen: _UInt8 | None = None,
        costs: _Int64 | None = None,
    ) -> int | None:
        """The length (cost) of the shortest necessary reasons, None if there is none.

        Complexity: one pass over the graph.
        Paper: implicate minimum length (Algorithm 1).
        """
    def escape(
        self, states: _Int32, keeps: _UInt8, bounded: _Int32, start: _Int64, low: _Int32, high: _Int32
    ) -> list[int] | None:
        """An instance in a box whose class does not keep the decision, with these states where it can; None if none is.

        In the box variable bounded[i] is in the ranges low[k] … high[k], start[i] ≤ k < start[i+1], and every other
        variable in any state. The instance has a state of every variable.
        Complexity: one pass over the graph.
        """
    def within(
        self, bounded: _Int32, start: _Int64, low: _Int32, high: _Int32
    ) -> tuple[_Int32, _Int32, _Int64, _Int32, _Int64, _Int32, _Int32]:
        """The arrays of the graph in a box, as `escape` has it, whose ranges are in order; as `__init__` takes them.

        A state that is not in the box goes where the one before it goes that is, or else the first; what nothing in the
        box reaches is left out. A tree stays a tree. Complexity: linear, but for finding states among the box's ranges.
        """
    def widen(
        self,
        states: _Int32,
        members: Sequence[int],
        *,
        necessary: bool,
        numbers: _Int32 | None = None,
        keeps: _UInt8 | None = None,
        frozen: _UInt8 | None = None,
        certain: bool = False,
        limit: int | None = None,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> tuple[_Int64, _Int32, _Int32]:
        """The general reasons over the members of a reason, as boxes: range_start, low, high.

        Of a sufficient reason, the maximal boxes with the instance in them that force the decision whatever all other
        variables are (frozen ones stay as they are). Of a necessary one, the maximal boxes in which every change of
        the members, all else kept, changes the decision; where values are unknown: some of them is enough, or with
        `certain` none may prevent it.

        There may be very many; `limit` is how many are wanted, the first ones (None: all).
        Box k has the ranges range_start[k*m+i] … range_start[k*m+i+1]-1 of the i-th of its m members' states, from low
        to high, both included. Widest first: by the product of the numbers of states, then lexicographically by the
        states of the first member, the second and so on. Of no member there is one box, which has no range.

        `numbers[v]` is how many of variable v's first states are numbers in order; a state after them stands for a
        missing value. Their sets are then one interval, which missing may join, or missing alone where no interval
        can be with it. 0, and None everywhere: any set.

        `members` are ascending, neither frozen nor unknown. ValueError if they are no reason: their own states do
        not force the decision, or no change of them changes it (with `certain` there is then no box). OverBudget
        where a limit ends the work.

        Complexity: linear in the graph where there is one box; no path of a shared graph is followed by itself.
        """
    def batch(
        self,
        states: _Int32,
        *,
        keeps: _UInt8 | None = None,
        frozen: _UInt8 | None = None,
        costs: _Int64 | None = None,
        limit: int = 10,
        shortest: bool = True,
        necessary: bool = True,
        sufficient: bool = True,
        count_necessary: bool = False,
        count_sufficient: bool = False,
        general: bool = False,
        numbers: _Int32 | None = None,
        threads: int = 2,
        timeout_per_row: float | None = None,
        memory: int = 2 << 30,
    ) -> BatchResult:
        """Shortest reasons of both kinds and exact counts, for every row; `memory` is per row in work.

        Without `shortest`, the first `limit` of all reasons, and `ties` is how many sets of variables are listed.
        With `general` the boxes of `widen` are listed, with these `numbers`: of each set in contract order all, the
        widest first, until there are `limit`. `ties` counts sets as before, so more than those may be listed.
        `regions` has each distinct box, whatever rows and kinds it is listed for.
        `keeps` is the same for every row (None: each row's own class alone); what is said of a row whose own class is
        not in it means nothing.
        """

@final
class Nnf:
    """A monotone NNF: nodes children first, the root last; ∨ need not be decomposable.

    kind: 0 false, 1 true, 2 literal, 3 and, 4 or. literal[i] is the variable of a literal node.
    """

    def __init__(self, kind: _UInt8, literal: _Int32, child_start: _Int64, child: _Int32) -> None: ...
    @property
    def node_count(self) -> int: ...
    def necessary(
        self,
        *,
        shortest: bool = False,
        frozen: _UInt8 | None = None,
        costs: _Int64 | None = None,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> Family:
        """Its prime implicates, or the shortest (cheapest) of them; not `complete` and empty where a limit ended it."""
    def values(self, fate: _UInt8) -> _UInt8:
        """Whether each node is true where `fate` says what becomes of the literals: 0 false, 1 true, 2 not true either.

        It has an entry a node, of which those of literals are read. Complexity: one pass.
        """
    def replaced(self, fate: _UInt8) -> tuple[_UInt8, _Int32, _Int64, _Int32]:
        """The formula with its literals replaced (0 by false, 1 by true, 2 by itself), as the arrays of an `Nnf`.

        Equal nodes are made once, and constants stand only where the whole is constant. Complexity: one pass.
        Paper: Proposition 3.
        """
    def shared_variable(self, kind: int) -> tuple[int, int] | None:
        """The first `and` (3) or `or` (4) whose parts share a variable, and the variable; None if there is none.

        Complexity: a pass for each 256 variables.
        """
    def sharing(self, kind: int) -> tuple[_UInt8, _Int32]:
        """For each node whether it is an `and` (3) or `or` (4) whose parts share a variable; the variables so shared.

        Complexity: memory linear in the nodes, a pass for each 256 variables.
        """

@final
class Family:
    """An immutable family of sets of variables, none of which contains another.

    >>> pairs = Family([[0, 1], [2, 3], [2, 3, 4]])
    >>> list(pairs.listing())
    [(0, 1), (2, 3)]
    >>> list(pairs.dual().listing())
    [(0, 2), (0, 3), (1, 2), (1, 3)]
    """

    def __init__(self, sets: Sequence[Sequence[int]]) -> None:
        """The minimal ones of the given sets."""
    @property
    def complete(self) -> bool:
        """False if a limit cut the family short."""
    @property
    def variables(self) -> tuple[int, ...]:
        """The variables the sets may mention, ascending."""
    @property
    def is_zdd(self) -> bool:
        """Whether the family is kept as a ZDD rather than as a table of sets."""
    @property
    def node_count(self) -> int:
        """Nodes of the ZDD; 0 for a table."""
    @property
    def bytes(self) -> int:
        """What the family takes in memory."""
    def nodes(self) -> tuple[_Int32, _Int32, _Int32, int]:
        """Of a ZDD each node's variable, the nodes below without it and with it, children first; and the root.

        Node 0 has no set, node 1 only the empty one. ValueError for a table.
        """
    def count(self, *, timeout: float | None = None, memory: int = 2 << 30) -> int:
        """The number of sets, exactly, whatever its size; nothing is listed."""
    def counts_by_length(self, *, timeout: float | None = None, memory: int = 2 << 30) -> dict[int, int]:
        """Length → number of sets of that length, by ascending length."""
    def counts_by_variable(self, *, timeout: float | None = None, memory: int = 2 << 30) -> dict[int, int]:
        """Variable → number of sets it is in, for those in at least one."""
    def contains(self, members: Sequence[int]) -> bool:
        """Whether exactly this set is in the family."""
    def restrict(
        self,
        containing: Sequence[int] = (),
        avoiding: Sequence[int] = (),
        *,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> Family:
        """The sets that have all of `containing` and none of `avoiding`."""
    def sample(
        self, n: int, seed: int, *, timeout: float | None = None, memory: int = 2 << 30
    ) -> list[tuple[int, ...]]:
        """n sets drawn uniformly, with repetition; the seed (0 … 2^64-1) decides them on every machine."""
    def shortest(self, costs: _Int64 | None = None) -> Family:
        """The shortest (cheapest) sets, all ties."""
    def listing(
        self, costs: _Int64 | None = None, *, timeout: float | None = None, memory: int = 2 << 30
    ) -> SetIterator:
        """All sets in contract order, lazily."""
    def dual(
        self,
        *,
        shortest: bool = False,
        costs: _Int64 | None = None,
        timeout: float | None = None,
        memory: int = 2 << 30,
        few: int = 20_000,
    ) -> Family:
        """The minimal hitting sets (of necessary reasons: the sufficient ones), or the shortest (cheapest) of them.

        Of a diagram with more than `few` sets none is listed: its nodes are worked on, once each. Raises OverBudget
        where the diagram of the answer does not fit; `hitting_sets` may still work then.
        """
    def hitting_sets(
        self,
        *,
        costs: _Int64 | None = None,
        shortest: bool = False,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> SetIterator:
        """The minimal hitting sets in contract order, one by one, with no memory of past ones.

        `timeout` counts the time spent in the kernel; the iterator then ends and is not `complete`.
        """
    def one_hitting_set(self, *, costs: _Int64 | None = None, memory: int = 2 << 30) -> tuple[int, ...]:
        """A minimal hitting set, found greedily; ValueError if the family has the empty set."""

@final
class Ensemble:
    """Many trees whose leaves are summed into scores, as `quia.trees.Trees` and `quia.sums.Sums` say; checked once.

    `begin` is what the scores begin with, `rule` the place of the rule in `quia.sums.RULES`.
    """

    def __init__(
        self,
        start: _Int64,
        test: _Int32,
        yes: _Int32,
        no: _Int32,
        values: _Float64,
        test_variable: _Int32,
        range_start: _Int64,
        low: _Int32,
        high: _Int32,
        state_counts: _Int32,
        outputs: _Int32,
        begin: _Float64,
        end: _Float64,
        group_trees: _Int64,
        group_divisor: _Float64,
        group_weight: _Float64,
        *,
        divisor: float,
        single: bool,
        rule: int,
        cuts: _Float64,
    ) -> None: ...
    def scores(self, states: _Int32) -> _Float64:
        """The scores of an instance, as the source adds them."""
    def decide_rows(self, rows: _Int32) -> _Int32:
        """The class of each row; every tested variable has a state."""
    @property
    def influence(self) -> _Float64:
        """Of each variable how much its trees can add to a score, all together."""
    def paired(
        self, variable: int, first: int, second: int, *, timeout: float | None = None, memory: int = 2 << 30
    ) -> Ensemble:
        """The ensemble of two instances that differ in one variable alone, which has these two states.

        Its class is that of the first instance times the number of classes, plus that of the second; its `scores` are
        those of both. No tree asks about the variable any more.

        Raises OverBudget where time or memory ends before it is made.
        """

@final
class Inquiry:
    """All that is asked about one decision of an ensemble; instances that were found to escape serve later questions.

    States of the instance may be unknown (-1); `keeps` has an entry a class, nonzero if it keeps the decision. One
    thread at a time is answered.
    """

    def __init__(self, ensemble: Ensemble, states: _Int32, keeps: _UInt8) -> None: ...
    def escape(
        self,
        bounded: _Int32,
        start: _Int64,
        low: _Int32,
        high: _Int32,
        *,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> list[int] | None:
        """An instance in a box, as `Graph.escape` has it, whose class does not keep the decision; None if none is.

        Raises OverBudget where time or memory ends before there is an answer.
        """
    def attempt(
        self,
        effort: int,
        bounded: _Int32,
        start: _Int64,
        low: _Int32,
        high: _Int32,
        *,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> tuple[list[int] | None, bool]:
        """What `escape` gives, and whether that is the answer: with little effort, or 0, it may be left open."""
    def sufficient(
        self,
        order: _Int32,
        bounded: _Int32,
        start: _Int64,
        low: _Int32,
        high: _Int32,
        *,
        timeout: float | None = None,
        memory: int = 2 << 30,
    ) -> tuple[list[int], bool]:
        """Variables that force the decision, ascending, and whether none of them can be left out.

        They are among those of `order`, which must force it together in the worlds of the box, and are tried to be left
        out in this order. Where time or memory ends, what is proved to force it by then.
        """

@final
class Thresholds:
    """Inequalities over sets of variables: a set meets one if its losses there add up to more than a limit.

    >>> import numpy as np
    >>> votes = Thresholds(np.array([0, 1, 2], np.int32), np.array([[3, 2, 2]]), np.array([3]), np.array([0]))
    >>> list(votes.minimal_sets().listing()), list(votes.listing())
    ([(0, 1), (0, 2), (1, 2)], [(0, 1), (0, 2), (1, 2)])
    """

    def __init__(self, variables: _Int32, losses: _Int64, limits: _Int64, bands: _Int64) -> None:
        """`losses[k, i]` is what `variables[i]`, which ascend, lose in the k-th inequality, whose limit is `limits[k]`.

        That limit may be off by `bands[k]`. Losses are not negative; those of one inequality add up to 2**61 at most.
        """
    def minimal_sets(
        self, *, every: bool = False, timeout: float | None = None, memory: int = 2 << 30
    ) -> Family | None:
        """The minimal sets that meet one of the inequalities, or `every` one; OverBudget where they do not fit.

        None if that depends on where in its band a limit is.
        """
    def listing(self, *, timeout: float | None = None, memory: int = 2 << 30) -> SetIterator:
        """The minimal sets of a single inequality one by one, and those of which its band leaves that open."""

def least_sets(
    numbers: _Int64,
    needs: _Int64,
    limit: int,
    *,
    band: int = 0,
    most_nodes: int = 100_000,
    threads: int = 1,
) -> tuple[_Int64, _Int64, _Int64, _Int32]:
    """Of each row the smallest sets of variables whose numbers add up to its need or more.

    Returned are how many there are (-1 where it is not told), and the first `limit` of each row by the order of
    variables: row i has the sets start[i] … start[i+1]-1, set k the members from member_start[k] on. A row is not
    told where a sum that matters is within the band around its need, or where counting takes too many nodes.
    """

class TooFarApart(RuntimeError):
    """Two probabilities that 64 bits cannot hold side by side."""

@final
class Chain:
    """A Bayesian network along an order of its features, as messages see it.

    Level i has `state_counts[i]` states (1: nothing is observed, a hidden variable is summed out) and leads from a
    separator of `widths[i]` states to one of `widths[i + 1]`; the first and the last have one. Entries are in
    compressed rows, one for each level and state: from a state of the one separator to a state of the other, with a
    number for each class. `weights` are the classes' first message; `errors` bound the relative errors of each
    level's numbers.
    """

    def __init__(
        self,
        state_counts: _Int32,
        widths: _Int32,
        start: _Int64,
        from_: _Int32,
        to: _Int32,
        values: _Float64,
        weights: _Float64,
        errors: _Float64,
    ) -> None: ...
    def compile(
        self,
        ranks: _Int32,
        decide: Callable[[_Int32, _Int32], int],
        same: Callable[[_Int32, _Int32], bool],
        *,
        most_nodes: int,
        most_work: int | None = None,
        timeout: float | None = None,
        memory: int = 2147483648,
    ) -> tuple[tuple[_Int32, _Int64, _Int32, int], bool, int, int, int]:
        """The reduced ordered decision graph: the levels of its nodes, where their children start, these, and the root.

        Children come before parents, first the classes' leaves, whose level is the number of levels. Then whether
        some states have a score of 0 for every class, how many messages were looked at, how many of these were
        recognised, and how many questions went to exact arithmetic.

        The class is that of the greatest score, of ties the one of the least rank. `decide` gives it exactly for all
        states, in two parts; `same` tells whether states of the first levels leave equal messages. `most_work` are so
        many numbers computed, the same on every machine. Raises OverBudget, TooFarApart.
        """

@final
class Separators:
    """The variables of a network, and the cuts between those that were observed and others.

    Neighbours are in compressed rows, ascending. A cut goes through variables, features too, each at its cost.
    """

    def __init__(self, start: _Int64, neighbour: _Int32, sizes: _Int32, costs: _Int64, is_feature: _UInt8) -> None: ...
    def least(self, observed: _Int32) -> tuple[_Int32, _Int32]:
        """The least cut between observed features and the others, of several the one nearest to those.

        The variables that these reach, those of the separator among them; and the separator.
        """
    def shake(self, order: _Int32, *, most_cuts: int, most_messages: float, timeout: float | None = None) -> _Int32:
        """An order of features along which messages are shorter. Raises OverBudget."""

def sift(
    state_counts: _Int32,
    classes: int,
    level: _Int32,
    start: _Int64,
    child: _Int32,
    root: int,
    *,
    most_work: int,
    timeout: float | None = None,
    memory: int = 2147483648,
) -> tuple[tuple[_Int32, _Int64, _Int32, int], _Int32]:
    """A reduced ordered decision graph, as `Chain.compile` gives it, in an order that makes it smaller.

    Each level is moved to where the graph is smallest, until that helps no more or so many nodes were looked at. Then
    the graph, and which level of the one that was given is now at each place. Raises OverBudget.
    """
