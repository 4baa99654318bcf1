"""What a reason is: a set of states of features, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from quia.variables import Variable


@dataclass(frozen=True, slots=True)
class State:
    """A feature in one of its states.

    >>> state = State(Variable.nominal("GPA", ["low", "medium"]), 1)
    >>> str(state), state.feature, state.text
    ('GPA=medium', 'GPA', 'medium')
    """

    variable: Variable
    index: int

    @property
    def feature(self) -> str:
        """The feature's name."""
        return self.variable.name

    @property
    def text(self) -> str:
        """The state without the feature's name."""
        return self.variable.text(self.index)

    def __str__(self) -> str:
        return self.variable.phrase(self.index)


class Reason(AbstractSet[State]):
    """A frozen set of states, in the order of the classifier's variables.

    >>> gpa, essay = Variable.nominal("GPA", ["low", "medium"]), Variable.nominal("Essay", ["fail", "pass"])
    >>> reason = Reason([State(gpa, 1), State(essay, 0)])
    >>> str(reason), reason.features, reason.to_dict()
    ('GPA=medium and Essay=fail', ('GPA', 'Essay'), {'GPA': 'medium', 'Essay': 'fail'})
    """

    __slots__ = ("_states",)
    _states: tuple[State, ...]

    def __init__(self, states: Iterable[State] = ()) -> None:
        object.__setattr__(self, "_states", tuple(states))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a reason is frozen; {name!r} cannot be set")

    @staticmethod
    def of(variables: Sequence[Variable], states: Sequence[int], members: Iterable[int]) -> Reason:
        """The reason that holds an instance's states of these variables."""
        return Reason(State(variables[member], states[member]) for member in members)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features it speaks of."""
        return tuple(state.feature for state in self._states)

    def to_dict(self) -> dict[str, str]:
        """Feature → the text of its state."""
        return {state.feature: state.text for state in self._states}

    def __reduce__(self) -> tuple[Any, ...]:
        return Reason, (self._states,)

    def __contains__(self, state: object) -> bool:
        return state in self._states

    def __iter__(self) -> Iterator[State]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __hash__(self) -> int:
        return self._hash()

    def __str__(self) -> str:
        return " and ".join(map(str, self._states)) if self._states else "nothing at all"

    def __repr__(self) -> str:
        return f"Reason({', '.join(map(str, self._states))})"
