"""What a reason is: a set of literals, each of another feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any
from typing import Literal as OneOf

from quia.literal import Literal, State, all_of
from quia.look import Shown, called
from quia.ranges import size
from quia.variables import Variable

Kind = OneOf["necessary", "sufficient"]
KINDS: tuple[Kind, ...] = ("necessary", "sufficient")
Members = tuple[int, ...]
"""A reason as the indices of its variables, ascending."""


class Reason(Shown, AbstractSet[Literal]):
    """A frozen set of literals, in the order of the classifier's variables.

    Of what `kind` it is, and whether it `is_general`, goes with it, as does the number of `rows` of a reference table
    that it fits; two reasons that say the same are equal whatever these are. It `is_minimal`, unless time ran out
    before it was proved that all its features are needed: together they still force (or can change) the decision. Of a
    general one `is_widest` says likewise whether its conditions are proved to be as wide as they can be. Under
    constraints a sufficient one `is_superfluous` if another is true of all possible worlds it is true of, and more. A
    general necessary reason has in its literals what holds of the instance and must give way; `changes` are their
    negations, a region in which every point, all else kept, changes the decision.

    >>> gpa, essay = Variable.nominal("GPA", ["low", "medium"]), Variable.nominal("Essay", ["fail", "pass"])
    >>> reason = Reason([State(gpa, 1), State(essay, 0)])
    >>> str(reason), reason.features, reason.to_dict()
    ('GPA=medium and Essay=fail', ('GPA', 'Essay'), {'GPA': 'medium', 'Essay': 'fail'})
    """

    __slots__ = ("_superfluous", "is_general", "is_minimal", "is_widest", "kind", "literals", "rows")
    literals: tuple[Literal, ...]
    kind: Kind | None
    is_general: bool
    is_minimal: bool
    is_widest: bool
    rows: int | None
    _superfluous: bool | Callable[[], bool]

    def __init__(
        self,
        literals: Iterable[Literal] = (),
        *,
        kind: Kind | None = None,
        is_general: bool = False,
        is_minimal: bool = True,
        is_widest: bool = True,
        is_superfluous: bool | Callable[[], bool] = False,
        rows: int | None = None,
    ) -> None:
        values = (is_superfluous, is_general, is_minimal, is_widest, kind, tuple(literals), rows)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a reason is frozen; {name!r} cannot be set")

    @staticmethod
    def of(
        variables: Sequence[Variable], states: Sequence[int], members: Iterable[int], kind: Kind | None = None
    ) -> Reason:
        """The reason that holds an instance's states of these variables."""
        return Reason((State(variables[member], states[member]) for member in members), kind=kind)

    @staticmethod
    def changing(changes: Iterable[Literal], *, rows: int | None = None, is_widest: bool = True) -> Reason:
        """The general necessary reason whose features change the decision wherever these literals hold.

        >>> age = Variable.numeric("age", [30, 65])
        >>> older = Reason.changing([Literal(age, ((1, 2),))])
        >>> str(older), str(older.changes[0])
        ('age <= 30', 'age > 30')
        """
        negated = (literal.negated for literal in changes)
        literals = (each for each in negated if each is not None)
        return Reason(literals, kind="necessary", is_general=True, is_widest=is_widest, rows=rows)

    @property
    def is_superfluous(self) -> bool:
        """Whether another one is true of all possible worlds that it is true of, and of more; told when it is asked."""
        if callable(self._superfluous):
            object.__setattr__(self, "_superfluous", self._superfluous())
        return bool(self._superfluous)

    def implied_if(self, is_implied: Callable[[], bool]) -> Reason:
        """The same, of which can be told whether another one implies it."""
        return _restored(
            self.literals, self.kind, self.is_general, self.rows, self.is_minimal, self.is_widest, is_implied
        )

    @property
    def changes(self) -> tuple[Literal, ...]:
        """What its features change to: of a general necessary reason any of these states will do, of one that is not
        general some will. A sufficient reason has none."""
        if self.kind != "necessary":
            return ()
        return tuple(negated for literal in self.literals if (negated := literal.negated) is not None)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features it speaks of."""
        return tuple(literal.feature for literal in self.literals)

    def to_dict(self) -> dict[str, str]:
        """Feature → the text of its states."""
        return {literal.feature: literal.text for literal in self.literals}

    def __reduce__(self) -> tuple[Any, ...]:
        flags = (self.is_minimal, self.is_widest, self.is_superfluous)
        return _restored, (self.literals, self.kind, self.is_general, self.rows, *flags)

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
        return called("Reason", map(str, self.literals), len(self.literals))


def _restored(
    literals: tuple[Literal, ...],
    kind: Kind | None,
    is_general: bool,
    rows: int | None,
    is_minimal: bool = True,
    is_widest: bool = True,
    is_superfluous: bool | Callable[[], bool] = False,
) -> Reason:
    return Reason(
        literals,
        kind=kind,
        is_general=is_general,
        is_minimal=is_minimal,
        is_widest=is_widest,
        is_superfluous=is_superfluous,
        rows=rows,
    )


def is_read_rounded(reason: Reason) -> bool:
    """Whether people read its numbers rounded, by more than conditions that are not the widest give away."""
    lines = [size(literal.ranges) for literal in reason.literals if literal.variable.is_line]
    return bool(lines) and min(lines) > 1
