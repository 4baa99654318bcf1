"""Two instances side by side: congruent or not, and why."""

from __future__ import annotations

from collections.abc import Iterable

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
    parts: list[Markup] = [element("h2", _headline(found))]
    if found.common_reason is not None:
        reason = found.common_reason
        enough = join([facts.clauses(reason, most=MOST_TOLD), " force the decision for both, whatever else they are."])
        parts.append(element("p", enough if reason else "The model decides so whatever the features are."))
    elif found.witness is not None and not found.witness.changes:
        parts.append(element("p", "What they share does not settle it; time ran out before an example was found."))
    elif found.witness is not None:
        parts.append(
            element(
                "p",
                "What they share does not settle it: with all that in common, someone for whom ",
                facts.clauses(found.witness.changes, most=MOST_TOLD),
                " is decided ",
                element("strong", short(str(found.witness.changed_decision)), class_="class other"),
                ".",
            )
        )
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
    one, other = found.decisions
    if found.congruent:
        return join(["Congruent: both ", element("strong", short(one), class_="class"), ", for a common reason"])
    if one == other:
        return join(
            ["Not congruent: both ", element("strong", short(one), class_="class"), ", but for no common reason"]
        )
    return join(
        [
            "Decided differently: ",
            element("strong", short(one), class_="class"),
            " and ",
            element("strong", short(other), class_="class other"),
        ]
    )


def _state(state: State | None) -> str:
    return "not known" if state is None else short(state.signs, 80)


def _column(name: str, decided: str | None) -> Markup:
    return element("th", name, f": {short(decided, 40)}" if decided is not None else None, scope="col")
