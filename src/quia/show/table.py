"""Tables that are read on a phone too: there each row is a small list, and each value says which column it is of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quia.show.markup import Child, Markup, element, short


def table(heads: Sequence[str], rows: Iterable[Sequence[Child]], *, caption: str | None = None) -> Markup:
    """A table whose rows begin with what they are about.

    The roles are said because a browser may forget them where the style lays rows out as lists.
    """
    return element(
        "table",
        None if caption is None else element("caption", caption),
        element(
            "thead",
            element("tr", [element("th", name, scope="col", role="columnheader") for name in heads], role="row"),
            role="rowgroup",
        ),
        element("tbody", [_row(heads, row) for row in rows], role="rowgroup"),
        class_="wide",
        role="table",
    )


def _row(heads: Sequence[str], cells: Sequence[Child]) -> Markup:
    first, *others = cells
    return element(
        "tr",
        element("th", first, scope="row", role="rowheader"),
        [
            element("td", element("div", cell), role="cell", data_label=short(name, 60))
            for name, cell in zip(heads[1:], others, strict=True)
        ],
        role="row",
    )
