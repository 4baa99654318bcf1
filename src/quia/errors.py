"""Errors and warnings: each message names the fault, the value and the cure in one sentence."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sized
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import islice
from typing import Any


class QuiaError(Exception):
    """Any fault that quia reports; the parent of all others."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an exception is unpickled from `args` alone, which lack the keyword arguments of `__init__`.
        return _unpickled, (type(self), self.args, self.__dict__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown(str(self), 120)})"


def _unpickled(kind: type[QuiaError], args: tuple[Any, ...], details: dict[str, Any]) -> QuiaError:
    fault = kind.__new__(kind, *args)
    fault.__dict__.update(details)
    return fault


class GraphError(QuiaError):
    """An invalid decision graph: a cycle, overlapping edges, an undeclared class …"""


class InstanceError(QuiaError):
    """An instance, or a question about it, that does not fit the classifier."""


class MissingValue(InstanceError):
    """A missing value for which the model has no branch, or on which the decision depends."""

    def __init__(self, message: str, *, feature: str, why: str = "") -> None:
        self.feature, self.why = feature, why
        super().__init__(f"{message}, as {why}" if why else message)


class FormatError(QuiaError):
    """A file that is not in the format it should be in.

    >>> str(FormatError("not JSON", file="m.json", line=3))
    'm.json, line 3: not JSON'
    """

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        self.file, self.line = file, line
        location = ", line ".join(str(item) for item in (file, line) if item is not None)
        super().__init__(f"{location}: {message}" if location else message)


class Unsupported(QuiaError):
    """Something quia cannot do, and what to do instead."""

    def __init__(self, message: str, *, cure: str) -> None:
        self.cure = cure
        super().__init__(f"{message}; {cure}")


class Contradiction(InstanceError):
    """Constraints, and maybe conditions, that nothing meets together: few of those that were given, but enough."""

    def __init__(self, message: str, *, constraints: tuple[str, ...], conditions: tuple[str, ...] = ()) -> None:
        self.constraints, self.conditions = constraints, conditions
        super().__init__(message)


class OutOfRange(InstanceError):
    """A number outside the range that was given for its feature."""

    def __init__(self, message: str, *, feature: str, number: float) -> None:
        self.feature, self.number = feature, number
        super().__init__(message)


class Refuted(QuiaError):
    """A claimed reason that is not one; the witness shows why.

    The witness is an instance (feature → state, or the part of it that a condition leaves) that refutes the claim, or
    the smaller or wider reason (feature → condition) for which the claimed one is not minimal or not maximal, or the
    condition that is not one interval, or None if no change of the claimed features can change the decision.
    """

    def __init__(self, message: str, *, witness: dict[str, str] | None) -> None:
        self.witness = witness
        super().__init__(message)


class Undecided(QuiaError):
    """A claimed reason that was neither proved nor refuted, as time or memory ended before the check did."""


class TooLarge(QuiaError):
    """Work that would exceed a stated limit."""

    def __init__(self, message: str, *, limit: float) -> None:
        self.limit = limit
        super().__init__(message)


class QuiaWarning(UserWarning):
    """Something that is not wrong, but that the caller should know."""


def warn(message: str, category: type[QuiaWarning]) -> None:
    """Warn the caller of quia: the warning points at the first caller that is not a module of this package.

    Modules are recognised by name, because the directory of a clone or of a user may be called `quia` too.
    """
    package = __name__.partition(".")[0]
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def with_article(name: str) -> str:
    """A thing's name in a sentence: 'a random forest', 'an additive model', but 'boosted trees'.

    >>> with_article("sound SDD"), with_article("SDD"), with_article("boosted trees"), with_article("gradient boosting")
    ('a sound SDD', 'an SDD', 'boosted trees', 'gradient boosting')
    """
    if name.endswith(("trees", "models", "boosting", "AdaBoost")):
        return name
    return f"{'an' if name[:1].lower() in set('aeio') or name.startswith(('SDD', 'NNF')) else 'a'} {name}"


def listed(names: Iterable[Any], most: int = 12) -> str:
    """The names separated by commas, cut where a sentence would get too long.

    >>> listed(["low", "medium", "high"]), listed(range(100), most=3)
    ('low, medium, high', '0, 1, 2, … (100 in all)')
    """
    items = names if isinstance(names, Sized) else list(names)
    joined = ", ".join(brief(str(name)) or "''" for name in islice(items, most))
    return joined if len(items) <= most else f"{joined}, … ({len(items)} in all)"


def brief(text: str, most: int = 200) -> str:
    """A string, cut where a sentence would get too long."""
    return text if len(text) <= most else text[:most] + "…"


def shown(value: object, most: int = 80) -> str:
    """The repr of a value, short enough for a sentence, and in one line.

    >>> shown("midium"), shown("x" * 1000)[-6:]
    ("'midium'", 'xxxxx…')
    """
    if isinstance(value, (list, dict)) and len(value) > most:
        return f"a {type(value).__name__} of {len(value)} items"
    try:
        text = repr(value)
    except ValueError:  # an int with more digits than Python prints
        text = f"a {type(value).__name__} too long to print"
    except RecursionError:
        text = f"a deeply nested {type(value).__name__}"
    text = " ".join(text.split()) if "\n" in text else text
    return brief(text, most)


def sentence(fault: BaseException, most: int = 200) -> str:
    """An exception in one line: its type and the beginning of its message.

    >>> sentence(ValueError("the file\\n  is damaged"))
    'ValueError: the file is damaged'
    """
    message = brief(" ".join(str(fault)[: 10 * most].split()), most)
    return f"{type(fault).__name__}: {message}" if message else type(fault).__name__


def did_you_mean(wrong: object, names: Iterable[str]) -> str:
    """A hint at the nearest name, or an empty string.

    >>> did_you_mean("midium", ["low", "medium", "high"])
    " (did you mean 'medium'?)"
    >>> did_you_mean("GRANT", ["deny", "grant"])
    " (did you mean 'grant'?)"
    """
    if not isinstance(wrong, str):
        return ""
    matcher = SequenceMatcher(b=wrong[:_COMPARED].casefold())
    by_letters = []
    for place, name in enumerate(islice(names, 2000)):
        matcher.set_seq1(name[:_COMPARED].casefold())
        if matcher.real_quick_ratio() >= _ALIKE and (share := matcher.quick_ratio()) >= _ALIKE:
            by_letters.append((share, -place, name))
    best, nearest = _ALIKE, None
    for _, _, name in nlargest(_WELL_COMPARED, by_letters):
        matcher.set_seq1(name[:_COMPARED].casefold())
        if (share := matcher.ratio()) > best or (nearest is None and share >= best):
            best, nearest = share, name
    return f" (did you mean {shown(nearest)}?)" if nearest is not None else ""


_ALIKE = 0.6  # share of letters that a name must have in common with the wrong one
_COMPARED = 60  # letters of a name that are compared
_WELL_COMPARED = 20  # names with most letters in common, which are also compared in the order of letters, which is slow
