"""Two instances side by side: decided for a common reason or not, congruent or not, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quia.bias import Bias
from quia.compare import Comparison
from quia.literal import State
from quia.show.markup import Markup, element, join, short
from quia.show.words import Facts, plural
from quia.variables import Variable

FEW_ROWS = 15
MOST_TOLD = 30
MOST_ROWS = 1_000


def comparison(found: Comparison, variables: Iterable[Variable]) -> Markup:
    """The comparison as one element."""
    facts = Facts(variables)
    one, other = found.decisions
    parts = [element("h2", _headline(found)), *(element("p", said) for said in _why(found, facts))]
    if found.differences:
        rows = [
            element(
                "tr",
                element("th", short(difference.feature), scope="row"),
                [element("td", _state(side)) for side in (difference.one, difference.other)],
            )
            for difference in found.differences
        ]
        head = [("Where they differ", None), ("The one kept", one), ("This one", other)]
        table = element(
            "table",
            element("thead", element("tr", [_column(name, decided) for name, decided in head])),
            element("tbody", rows[:MOST_ROWS]),
        )
        summary = element("summary", f"They differ in {plural(len(rows), 'feature')}")
        parts.append(table if len(rows) <= FEW_ROWS else element("details", summary, table))
    else:
        parts.append(element("p", "They are the same to the model: no feature is in another state."))
    return element("section", parts, class_="quia compared")


def _headline(found: Comparison) -> Markup:
    one, other = (short(decided) for decided in found.decisions)
    if one == other:
        reason = "for a common reason" if found.common_reason is not None else "but for no common reason"
        return join(["Both ", element("strong", one, class_="class"), f", {reason}"])
    return join(
        [
            "Decided differently: ",
            element("strong", one, class_="class"),
            " and ",
            element("strong", other, class_="class other"),
        ]
    )


def _why(found: Comparison, facts: Facts) -> Iterator[Markup]:
    """What forces the decision for both, if anything does, and whether they are congruent."""
    reason, witness = found.common_reason, found.witness
    if reason is not None:
        told = facts.clauses(reason, most=MOST_TOLD)
        yield join(["It is so for both because ", told, ", whatever the rest."] if reason else [_WHATEVER])
    if found.congruent:
        yield join(["They are congruent: the states that they share force the decision by themselves."])
    elif witness is not None and reason is not None:
        short_of = "They are not congruent, though: the states that they share are not enough. "
        yield join([short_of, _someone(witness, facts, "someone")])
    elif witness is not None:
        yield _someone(witness, facts, "someone between the two")


def _someone(witness: Bias, facts: Facts, who: str) -> Markup:
    """Who has what the two share, and is decided otherwise."""
    if not witness.changes:
        return join([f"Time ran out before {who} was found who is decided otherwise."])
    return join(
        [
            f"With all that they share, {who} for whom ",
            facts.clauses(witness.changes, most=MOST_TOLD),
            " is decided " if witness.certain else " could be decided ",
            element("strong", short(str(witness.changed_decision)), class_="class other"),
            ".",
        ]
    )


_WHATEVER = "The model decides so whatever the features are."


def _state(state: State | None) -> str:
    return "not known" if state is None else short(state.signs, 80)


def _column(name: str, decided: str | None) -> Markup:
    return element("th", name, f": {short(decided, 40)}" if decided is not None else None, scope="col")
