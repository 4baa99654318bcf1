"""How objects show themselves: in one line, however large they are, and in a notebook.

`repr` says what is known, and looks for nothing: it is called by debuggers, logs and failing tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import Field, fields
from itertools import islice
from typing import Any, ClassVar

MOST = 150
"""So many letters a line has at most."""
_MOST_NAMES = 4
_LONG = 40  # letters of one name


def one_line(text: str, most: int = MOST) -> str:
    """A text in one line, cut where that would be too long.

    >>> one_line("age <= 30\\nand debt=yes"), one_line("x" * 1000, 5)
    ('age <= 30 and debt=yes', 'xxxx…')
    """
    # No more is looked at than can be shown: a text may have millions of letters.
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1] + "…"


def tagged(name: str, *facts: str) -> str:
    """What an object is called, and what matters of it.

    >>> tagged("DecisionGraph", "914 nodes", "", "14 features")
    '<DecisionGraph: 914 nodes, 14 features>'
    """
    return f"<{one_line(f'{name}: ' + ', '.join(filter(None, facts)), MOST - 2)}>"


def called(name: str, texts: Iterable[str], of: int) -> str:
    """What an object is called, and as many of its `of` parts as there is room for.

    >>> called("Reason", ["age <= 32.5", "debt=yes"], 2), called("Reason", map(str, range(100)), 100)[-15:]
    ('Reason(age <= 32.5, debt=yes)', ' … and 65 more)')
    """
    kept: list[str] = []
    room = MOST - len(name) - 16
    for text in texts:
        shown = one_line(text, max(room, _LONG))
        if kept and len(shown) > room:
            break
        kept.append(shown)
        room -= len(shown) + 2
    more = of - len(kept)
    return f"{name}({', '.join(kept)}{f', … and {more:,} more' if more else ''})"


def counted(count: int, name: str) -> str:
    """A count and a noun.

    >>> counted(1, "node"), counted(14149, "node"), counted(3, "class")
    ('1 node', '14,149 nodes', '3 classes')
    """
    ending = "" if count == 1 else "es" if name.endswith(("ch", "s", "x")) else "s"
    return f"{count:,} {name}{ending}"


def few(names: Iterable[object], most: int = _MOST_NAMES) -> str:
    """Some names in a row, of many the first ones.

    >>> few(["deny", "grant"]), few(range(10)), few(["a"]), few([])
    ('deny and grant', '0, 1, 2, 3 and 6 more', 'a', 'none')
    """
    every = names if isinstance(names, Sized) else list(names)
    shown = [one_line(str(name), _LONG) or "''" for name in islice(every, most)]
    if len(every) > most:
        return f"{', '.join(shown)} and {len(every) - most:,} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:]))) or "none"


class Shown:
    """What a notebook shows as a small page of its own, in the notebook's colours."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from quia.show.notebook import view

        return view(self)


class ByName:
    """A dataclass (with `repr=False`) whose `repr` has its fields by name, as far as there is room in a line.

    >>> from dataclasses import dataclass
    >>> @dataclass(repr=False)
    ... class Point(ByName):
    ...     x: int
    ...     among: tuple[int, ...]
    >>> Point(1, (1, 2)), Point(1, tuple(range(1000)))
    (Point(x=1, among=(1, 2)), Point(x=1, among=1,000 items))
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __repr__(self) -> str:
        told = [each.name for each in fields(self) if each.repr]
        texts = (f"{name}={_value(getattr(self, name))}" for name in told)
        return called(type(self).__name__, texts, len(told))


def _value(value: object) -> str:
    """A field's value; of several the number, unless they are few and plain."""
    if isinstance(value, str):
        return one_line(repr(value[:MOST]), _LONG)
    if isinstance(value, (tuple, list, dict, set, frozenset)):
        inner = list(islice(value.values() if isinstance(value, dict) else value, 4))
        is_few = len(value) < 4 and all(each is None or isinstance(each, (str, int, float)) for each in inner)
        return one_line(repr(value), 60) if is_few else counted(len(value), "item")
    shape = getattr(value, "shape", None)
    return f"array of {' × '.join(map(str, shape))}" if shape else one_line(repr(value), 60)
