"""Validity and satisfiability: in linear time where a formula's form allows it (paper, Lemma 1), else by a diagram.

Validity goes over ∧ always, and over ∨ where the disjuncts share no variable; a disjunction whose parts share some is
compiled, and nothing else is. A formula is satisfiable if its negation, by de Morgan's laws, is not valid.
"""

from __future__ import annotations

from quia.dag import AND, LITERAL, NOT, OR
from quia.errors import TooLarge
from quia.formula.core import TRUE, Formula, children_first, disjunction, negation, simplified
from quia.formula.diagram import TRUE as VALID
from quia.formula.diagram import Diagram, good_order
from quia.formula.forms import negation_normal_form
from quia.formula.sharing import sharing
from quia.variables import Variable


def is_valid(formula: Formula) -> bool:
    """Whether every world is a model.

    Complexity: linear if the formula is ∨-decomposable or monotone (Lemma 1), and for the parts of it that are;
    other parts are compiled, TooLarge where that takes too much.
    """
    return _is_valid(without_constants(formula))


def is_satisfiable(formula: Formula) -> bool:
    """Whether some world is a model.

    Complexity: linear if the formula is ∧-decomposable or monotone (Lemma 1), and for the parts of it that are;
    other parts are compiled, TooLarge where that takes too much.
    """
    return not is_valid(negation(formula))


def implies(one: Formula, other: Formula) -> bool:
    """Whether every model of one is a model of the other: α ⊨ β.

    Complexity: of a positive term α, that of the validity of β | α.
    """
    if one.is_term and one.is_positive:
        return is_valid(other.condition(one))
    return is_valid(disjunction((negation(one), other)))


def without_constants(formula: Formula) -> Formula:
    """The formula in negation normal form, with a constant only where the whole is one.

    The only state of a variable is ⊤.
    """

    def leaf(node: Formula) -> Formula:
        return TRUE if node.variable is not None and node.variable.size == 1 else node

    return negation_normal_form(formula).fold(leaf, lambda node, parts: simplified(node.kind, parts))


def _is_valid(formula: Formula) -> bool:
    """Whether an NNF without inner constants is valid."""
    if not formula.children or formula.is_literal:
        return formula is TRUE
    if _can_all_be_false(formula):
        return False
    shared = sharing(formula, OR).gates
    nodes = list(children_first(formula))
    # First what is not valid by the form alone: all that is left are disjunctions that share variables.
    invalid: set[Formula] = set()
    for node in nodes:
        one = node.kind == AND and not invalid.isdisjoint(node.children)
        every = node.kind == OR and node not in shared and invalid.issuperset(node.children)
        if node.is_literal or one or every:
            invalid.add(node)
    if formula in invalid:
        return False
    # Then what the root still depends on, from the root down; of a disjunction that shares variables no part is asked.
    asked = {formula}
    for node in reversed(nodes):
        if node in asked and node not in shared:
            asked.update(child for child in node.children if child not in invalid)
    return _told(formula, [node for node in nodes if node in asked], shared)


def _told(formula: Formula, asked: list[Formula], shared: frozenset[Formula]) -> bool:
    """Whether the last of the nodes asked, children first, is valid; those that share variables are compiled."""
    known: dict[Formula, bool | None] = {}  # None where it could not be compiled
    fault: TooLarge | None = None
    for node in asked:
        if node in shared:
            try:
                known[node] = not _can_all_be_false(node) and _compiled(node)
            except TooLarge as caught:
                known[node], fault = None, caught
            continue
        parts = [known.get(child, False) for child in node.children]
        decisive = node.kind == OR  # one valid disjunct, or one conjunct that is not, decides
        known[node] = decisive if decisive in parts else None if None in parts else not decisive
    answer = known[formula]
    if answer is None:
        assert fault is not None
        raise fault
    return answer


def _compiled(formula: Formula) -> bool:
    return Diagram(good_order((formula,))).compile(formula) == VALID


def _can_all_be_false(formula: Formula) -> bool:
    """Whether some world makes all literals false, and with them an NNF without constants.

    So it is in monotone formulas, and wherever no variable's literals say together that it is in one of all its states.
    """
    ruled_out: dict[Variable, set[int]] = {}
    needed: dict[Variable, int] = {}
    for node in children_first(formula):
        for part in node.children if node.kind in (AND, OR) else ():
            if part.kind == LITERAL and part.variable is not None:
                ruled_out.setdefault(part.variable, set()).add(part.index)
            elif part.kind == NOT:
                state = part.children[0]
                assert state.variable is not None
                if needed.setdefault(state.variable, state.index) != state.index:
                    return False
    if any(index in ruled_out.get(variable, ()) for variable, index in needed.items()):
        return False
    return all(len(states) < variable.size for variable, states in ruled_out.items())
