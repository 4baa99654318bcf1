"""What a reason is: a set of literals, each of another feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from quia.literal import Literal, State, all_of
from quia.variables import Variable


class Reason(AbstractSet[Literal]):
    """A frozen set of literals, in the order of the classifier's variables.

    >>> gpa, essay = Variable.nominal("GPA", ["low", "medium"]), Variable.nominal("Essay", ["fail", "pass"])
    >>> reason = Reason([State(gpa, 1), State(essay, 0)])
    >>> str(reason), reason.features, reason.to_dict()
    ('GPA=medium and Essay=fail', ('GPA', 'Essay'), {'GPA': 'medium', 'Essay': 'fail'})
    """

    __slots__ = ("literals",)
    literals: tuple[Literal, ...]

    def __init__(self, literals: Iterable[Literal] = ()) -> None:
        object.__setattr__(self, "literals", tuple(literals))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a reason is frozen; {name!r} cannot be set")

    @staticmethod
    def of(variables: Sequence[Variable], states: Sequence[int], members: Iterable[int]) -> Reason:
        """The reason that holds an instance's states of these variables."""
        return Reason(State(variables[member], states[member]) for member in members)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features it speaks of."""
        return tuple(literal.feature for literal in self.literals)

    def to_dict(self) -> dict[str, str]:
        """Feature → the text of its states."""
        return {literal.feature: literal.text for literal in self.literals}

    def __reduce__(self) -> tuple[Any, ...]:
        return Reason, (self.literals,)

    def __contains__(self, literal: object) -> bool:
        return literal in self.literals

    def __iter__(self) -> Iterator[Literal]:
        return iter(self.literals)

    def __len__(self) -> int:
        return len(self.literals)

    def __hash__(self) -> int:
        return self._hash()

    def __str__(self) -> str:
        return all_of(map(str, self.literals)) if self.literals else "nothing at all"

    def __repr__(self) -> str:
        return f"Reason({', '.join(map(str, self.literals))})"
