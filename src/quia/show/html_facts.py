"""The instance as a table: each feature, its value, and the interval or state that the value is in."""

from __future__ import annotations

from collections.abc import Collection

from quia.answer import Answer
from quia.cuts import number_text
from quia.literal import State
from quia.show.html_section import fold
from quia.show.markup import Child, Markup, element, short
from quia.show.svg import Axis, rounded, shape, svg
from quia.show.words import Facts, plural
from quia.values import readable_value
from quia.variables import UNKNOWN, Variable

MOST_CELLS = 48
MOST_ROWS = 60
MOST_LISTED = 1_000
_WIDE, _HIGH = 96, 10


def table(
    answer: Answer, facts: Facts, mattering: Collection[int], *, certain: bool, listed: int = MOST_LISTED
) -> Markup:
    """The features: those in some reason, or maybe if not `certain`, first, others folded; at most `listed` of each."""
    tested, frozen = set(answer.tested), set(answer.question.frozen)
    tied = bool(answer.question.told)  # constraints may speak of features that the model does not test
    groups: list[list[int]] = [[], [], []]
    for index in range(len(facts.variables)):
        groups[0 if index in mattering else 1 if index in tested else 2].append(index)
    parts: list[Markup] = []
    for place, (title, members) in enumerate(
        zip(
            (
                "Features that matter here" if certain else "Features that may matter here",
                f"Tested by the model{', or tied to what is' if tied else ''}, but no part of any reason here",
                "Never tested by the model",
            ),
            groups,
            strict=True,
        )
    ):
        if not members:
            continue
        rows = [_row(answer, facts, index, index in frozen, pictured=place == 0) for index in members[:listed]]
        if len(members) > len(rows):
            more = element("td", f"… {plural(len(members) - len(rows), 'feature')} more", colspan=4, class_="more")
            rows.append(element("tr", more))
        heading = f"{title} ({len(members):,})"
        shown = _rows(heading, rows, folded=place > 0 or len(rows) > MOST_ROWS)
        parts.append(shown)
    return fold(
        "instance",
        "The facts",
        *parts,
        hint=f"{plural(len(facts.variables), 'feature')}, and what each counts as",
        about="The strip shows the intervals or states the model tells apart, and which one the value is in; of a"
        " number that counts itself, where it is in its range.",
    )


def _rows(title: str, rows: list[Markup], *, folded: bool) -> Markup:
    head = element(
        "thead",
        element("tr", [element("th", name, scope="col") for name in ("Feature", "Value", "Counts as", "Among")]),
    )
    made = element(
        "table", element("caption", title, class_="hidden" if folded else None), head, element("tbody", rows)
    )
    return element("details", element("summary", title), made) if folded else made


def _row(answer: Answer, facts: Facts, index: int, frozen: bool, *, pictured: bool) -> Markup:
    variable, state = answer.in_model(index)
    said = "not given"
    if variable.name in answer.instance:
        said = facts.given(variable.name, readable_value(answer.instance[variable.name]))
    counts = "—" if state < 0 else "itself" if _is_number(variable, state) else State(variable, state).signs
    if state == UNKNOWN and index in answer.tested:
        counts = "not known: may be anything"
    return element(
        "tr",
        element("th", short(variable.name), element("span", " given", class_="tag") if frozen else None, scope="row"),
        element("td", said),
        element("td", short(counts, 80)),
        element("td", _strip(variable, state) if pictured and state >= 0 else _among(variable)),
        data_f=index,
    )


def _is_number(variable: Variable, state: int) -> bool:
    """Whether a state is one number of a line."""
    return variable.is_line and not variable.is_missing_state(state)


def _among(variable: Variable) -> str:
    """What the states are, in words."""
    if variable.range is None:
        return "any number" if variable.is_line else plural(variable.size, "state")
    return f"{number_text(variable.range[0])} to {number_text(variable.range[1])}"


def _strip(variable: Variable, state: int) -> Markup | str:
    """The states in a row, the instance's one filled; of a line, where it is in its range."""
    if variable.is_line:
        return _place(variable, state)
    size = variable.size
    cells = size if size <= MOST_CELLS else MOST_CELLS
    wide = _WIDE / cells
    at = state if size <= MOST_CELLS else min(state * cells // size, cells - 1)
    ticks = "".join(f"M{rounded(place * wide)} 0v{_HIGH}" for place in range(1, cells))
    return _drawn(
        shape("rect", class_="here", x=at * wide, width=max(wide, 2.0), height=_HIGH, rx=2),
        shape("path", d=ticks, class_="ticks") if ticks else None,
        label=f"state {state + 1} of {size}",
    )


def _place(variable: Variable, state: int) -> Markup | str:
    """Where a line's number is in its range."""
    if variable.range is None or variable.is_missing_state(state):
        return _among(variable)
    share = Axis(*variable.range, 0, _WIDE - 3).at(variable.number(state))
    here = shape("rect", class_="here", x=share, width=3, height=_HIGH, rx=1)
    return _drawn(here, label=f"in its range {_among(variable)}")


def _drawn(*parts: Child, label: str) -> Markup:
    track = shape("rect", class_="track", width=_WIDE, height=_HIGH, rx=2)
    return svg(_WIDE, _HIGH, track, *parts, label=label, class_="strip")
