"""An independent checker: a reason in, silence or a witness out.

It shares no code with what finds reasons. It asks one thing of the classifier: is there another decision when some
features keep the instance's states and the others may be anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from quia.arguments import feature_indices, several
from quia.errors import InstanceError, Refuted, did_you_mean, shown
from quia.variables import decide_instance

if TYPE_CHECKING:
    from quia.circuit import Circuit
    from quia.classifier import Classifier
    from quia.graph import DecisionGraph
    from quia.reason import Reason


def verify(
    classifier: Classifier,
    instance: Any,
    reason: Reason | Mapping[str, Any] | Iterable[str],
    kind: Literal["sufficient", "necessary"],
    /,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
) -> None:
    """Check that a reason is one; if it is not, raise Refuted with a witness.

    A *sufficient* reason forces the decision whatever the other features are, and no part of it does. Changing all
    of a *necessary* reason's features, in some way, changes the decision (against a class: to that class), and
    changing a part of them never does. A feature whose value is missing may be anything, and is in no reason.
    `reason` may be a Reason or names of features.

    Complexity: one search of the classifier for each feature in the reason.
    """
    if kind not in ("sufficient", "necessary"):
        raise InstanceError(f"the kind of reason is {shown(kind)}; it is 'sufficient' or 'necessary'")
    from quia.classifier import loaded

    question = _Question(loaded(classifier), instance, against, frozen)
    claimed = question.features(reason)
    if kind == "sufficient":
        question.check_sufficient(claimed)
    else:
        question.check_necessary(claimed)


class _Question:
    def __init__(self, graph: Classifier, instance: Any, against: str | None, frozen: Collection[str]) -> None:
        self.graph, self.states = graph, graph.encode(instance)
        self.index = {v.name: i for i, v in enumerate(graph.variables)}
        self.frozen = frozenset(feature_indices(self.index, frozen, "frozen"))
        decision = decide_instance(graph, self.states, instance)
        if against is None:
            self.changed = frozenset(range(len(graph.classes))) - {decision}
            self.what = f"the decision {graph.classes[decision]!r}"
        elif against == graph.classes[decision]:
            raise InstanceError(f"the decision is {against!r} already, so there is no reason why it is not")
        elif against in graph.classes:
            self.changed = frozenset((graph.classes.index(against),))
            self.what = f"the decision not {against!r}"
        else:
            raise InstanceError(f"there is no class {shown(against)}{did_you_mean(against, graph.classes)}")

    def features(self, reason: Any) -> tuple[int, ...]:
        """The variables of a claimed reason; states or values, where it names them, must be the instance's."""
        texts: Mapping[str, Any] = reason if isinstance(reason, Mapping) else {}
        names = reason.features if hasattr(reason, "features") else reason
        if hasattr(reason, "to_dict"):
            texts = reason.to_dict()
        claimed = tuple(self._index(name) for name in several(names, "the reason", "features, or a Reason"))
        for name, text in texts.items():
            variable = self._index(name)
            own = self._text(variable)
            if text != own and not self._is_of(variable, text):
                raise Refuted(
                    f"the reason says {name} is {shown(text)}, but the instance's state is {own!r}",
                    witness={name: own},
                )
        return claimed

    def _is_of(self, variable: int, value: Any) -> bool:
        """Whether a value is one of the instance's state."""
        try:
            return self.graph.variables[variable].encode(value) == self.states[variable]
        except InstanceError:
            return False

    def check_sufficient(self, claimed: Sequence[int]) -> None:
        found = self._reach(keep=claimed)
        if found is not None:
            raise Refuted(
                f"{self._named(claimed)} does not force {self.what}: {self._told(found)} keeps it and is decided"
                " otherwise",
                witness=found,
            )
        for feature in claimed:
            rest = [v for v in claimed if v != feature]
            if self._reach(keep=rest) is None:
                raise Refuted(
                    f"{self._named(claimed)} is not minimal: {self._named(rest)} forces {self.what} too",
                    witness={self.graph.variables[v].name: self._text(v) for v in rest},
                )

    def check_necessary(self, claimed: Sequence[int]) -> None:
        every = frozenset(range(len(self.states)))
        if self._reach(keep=every.difference(claimed)) is None:
            raise Refuted(f"no change of {self._named(claimed)} alone changes {self.what}", witness=None)
        for feature in claimed:
            rest = [v for v in claimed if v != feature]
            found = self._reach(keep=every.difference(rest))
            if found is not None:
                raise Refuted(
                    f"{self._named(claimed)} is not minimal: changing {self._named(rest)} is enough to change"
                    f" {self.what}, as {self._told(found)} shows",
                    witness=found,
                )

    def _reach(self, keep: Collection[int]) -> dict[str, str] | None:
        """An instance that keeps what it must and is decided otherwise, or None if there is none."""
        from quia.circuit import Circuit

        if isinstance(self.graph, Circuit):
            return self._reach_in_circuit(self.graph, keep)
        return self._reach_in_graph(self.graph, keep)

    def _reach_in_circuit(self, circuit: Circuit, keep: Collection[int]) -> dict[str, str] | None:
        kept = self.frozen.union(keep)
        free = [v for v in circuit.tested if v not in kept]
        found = circuit.changed_instance(self.states, free, circuit.decide(self.states))
        return None if found is None else self._checked(found)

    def _reach_in_graph(self, graph: DecisionGraph, keep: Collection[int]) -> dict[str, str] | None:
        """Every path of a graph with the weak test-once property is possible, so reaching a leaf is enough."""
        came_from: dict[int, tuple[int, int, int] | None] = {len(graph) - 1: None}
        work = [len(graph) - 1]
        while work:
            node = work.pop()
            variable = int(graph.tests[node])
            if variable < 0:
                if int(graph.labels[node]) in self.changed:
                    return self._instance(node, came_from)
                continue
            fixed = (variable in self.frozen or variable in keep) and self.states[variable] >= 0
            for edge in range(int(graph.edge_start[node]), int(graph.edge_start[node + 1])):
                first, last = int(graph.range_start[edge]), int(graph.range_start[edge + 1])
                lows, highs = graph.low[first:last].tolist(), graph.high[first:last].tolist()
                own = any(a <= self.states[variable] <= b for a, b in zip(lows, highs, strict=True))
                child = int(graph.child[edge])
                if child not in came_from and (own or not fixed):
                    came_from[child] = (node, variable, self.states[variable] if own else lows[0])
                    work.append(child)
        return None

    def _instance(self, leaf: int, came_from: Mapping[int, tuple[int, int, int] | None]) -> dict[str, str]:
        states = list(self.states)
        step, settled = came_from[leaf], set()
        while step is not None:
            node, variable, state = step
            if variable not in settled:  # the last test of a variable on the path knows its states best
                settled.add(variable)
                states[variable] = state
            step = came_from[node]
        return self._checked(states)

    def _checked(self, states: Sequence[int]) -> dict[str, str]:
        if self.graph.decide(states) not in self.changed:
            raise AssertionError("the classifier lacks the form that its kind must have")
        return {v.name: v.text(s) for v, s in zip(self.graph.variables, states, strict=True) if s >= 0}

    def _index(self, name: Any) -> int:
        if not isinstance(name, str) or name not in self.index:
            raise InstanceError(f"{shown(name)} is no feature{did_you_mean(name, self.index)}")
        return self.index[name]

    def _text(self, variable: int) -> str:
        state = self.states[variable]
        if state >= 0:
            return self.graph.variables[variable].text(state)
        return "not known" if variable in self.graph.tested else "not tested"

    def _named(self, variables: Iterable[int]) -> str:
        return " and ".join(self.graph.variables[v].name for v in variables) or "nothing at all"

    def _told(self, witness: Mapping[str, str]) -> str:
        differing = [f"{name}: {text}" for name, text in witness.items() if text != self._text(self.index[name])]
        return "the instance with " + ", ".join(differing[:8]) + (" …" if len(differing) > 8 else "")
