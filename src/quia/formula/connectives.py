"""What else formulas can be joined by: implication and equivalence, made of ¬, ∧ and ∨."""

from __future__ import annotations

from quia.formula.core import Formula, conjunction


def implication(premise: Formula, consequence: Formula) -> Formula:
    """The formula α → β, which `premise >> consequence` makes too; `implies` asks whether it is valid.

    >>> from quia import Variable
    >>> from quia.formula import state
    >>> sex, pregnant = Variable.nominal("sex", ["f", "m"]), Variable.nominal("pregnant", ["no", "yes"])
    >>> print(implication(state(pregnant, "yes"), state(sex, "f")))
    pregnant=no | sex=f
    """
    return premise >> consequence


def equivalence(one: Formula, other: Formula) -> Formula:
    """The formula α ↔ β: each implies the other; `equivalent` asks whether it is valid.

    >>> from quia import Variable
    >>> from quia.formula import state
    >>> here, there = (state(Variable.nominal(name, ["no", "yes"]), "yes") for name in ("here", "there"))
    >>> print(equivalence(here, there))
    (here=no | there=yes) & (there=no | here=yes)
    """
    return conjunction((one >> other, other >> one))
