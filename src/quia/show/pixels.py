"""Features that are pixels: which is where, the instance as an image, and what a reason and a change say of each.

Rows and columns are numbered from 0 on, from the top and from the left.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.errors import InstanceError, shown
from quia.literal import Literal
from quia.show.words import outcome, outcome_of, plural
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.answer import Answer
    from quia.reason import Reason

MOST_PIXELS = 65_536
_NUMBER = re.compile(r"(\d+)$", re.ASCII)
_PAIR = re.compile(r"(\d+)[x_](\d+)$", re.ASCII)

Shape = tuple[int, int]
"""How many rows and columns an image has."""
Place = tuple[int, int]
"""A pixel's row and column."""
BECAUSE, CHANGE, UNSEEN = "#6bb7f0", "#ffa04d", "#51606e"
"""The colours of marks, which are on the image whatever is around it, and of what the model does not look at."""
SAID = {
    ("because", -1): "must stay dark",
    ("because", 1): "must stay bright",
    ("because", 0): "must stay in between",
    ("change", 1): "would have to be brighter",
    ("change", -1): "would have to be darker",
    ("change", 0): "would have to be other",
}
"""What a mark of a kind says, by what it asks for."""
SIDES = {-1: "dark", 0: "between", 1: "bright"}
NOT_SEEN = "not looked at by the model"


class Mark(NamedTuple):
    """What is said of a pixel: `towards` is 1 where it must be bright, -1 where dark, 0 where in between."""

    place: Place
    towards: int
    literal: Literal


@dataclass(frozen=True, slots=True)
class PixelPicture:
    """An instance as an image: each pixel's brightness from 0 to 1, None where the model does not look.

    `because` are the pixels of a reason, `change` those of a change, and what they must be.
    """

    shape: Shape
    brightness: tuple[tuple[float | None, ...], ...]
    because: tuple[Mark, ...]
    change: tuple[Mark, ...]
    decision: str
    changed: str | None

    @property
    def kinds(self) -> list[tuple[str, int]]:
        """The kinds of marks that there are, as `SAID` has them."""
        marks = {("because", mark.towards) for mark in self.because} | {
            ("change", mark.towards) for mark in self.change
        }
        return [kind for kind in SAID if kind in marks]

    @property
    def has_unseen(self) -> bool:
        """Whether the model does not look at some pixel."""
        return any(each is None for row in self.brightness for each in row)

    @property
    def reason_text(self) -> str:
        """What forces the decision, in a sentence."""
        if not self.because:
            return ""
        sides = ((-1, "dark"), (1, "bright"), (0, "in between"))
        counts = [(sum(mark.towards == side for mark in self.because), name) for side, name in sides]
        told = [(count, name) for count, name in counts if count]
        many, (first, name), rest = len(self.because), told[0], told[1:]
        said = ["it" if many == 1 else "all" if not rest else str(first)]
        said[0] += f" must stay {name}"
        said += [f"{count} {name}" for count, name in rest]
        listed = " and ".join([", ".join(said[:-1]), said[-1]] if rest else said)
        return f"{plural(many, 'pixel')} {'forces' if many == 1 else 'force'} it, whatever the rest: {listed}."

    @property
    def change_text(self) -> str:
        """What the nearest change is, in a sentence."""
        if not self.change or self.changed is None:
            return ""
        told = [
            f"row {mark.place[0] + 1}, column {mark.place[1] + 1} {_become(mark)}" for mark in self.change[:_MOST_SAID]
        ]
        more = len(self.change) - len(told)
        also = [f"{plural(more, 'pixel')} more changed"] if more else []
        return f"It {self.changed} if {' and '.join([*told, *also])}."


_MOST_SAID = 3


def _become(mark: Mark) -> str:
    side = {1: "were brighter", -1: "were darker", 0: "were other"}[mark.towards]
    return f"{side} ({mark.literal.signs})"


def shape_of(shape: Any) -> Shape:
    """The rows and columns of an image.

    >>> shape_of([28, 28])
    (28, 28)
    >>> shape_of("28")
    Traceback (most recent call last):
    quia.errors.InstanceError: image_shape is '28'; give the image's rows and columns, as in (28, 28)
    """
    try:
        if isinstance(shape, (str, bytes)):
            raise TypeError
        rows, columns = (operator.index(each) for each in shape)
    except (TypeError, ValueError):
        raise InstanceError(
            f"image_shape is {shown(shape)}; give the image's rows and columns, as in (28, 28)"
        ) from None
    if rows < 1 or columns < 1 or rows * columns > MOST_PIXELS:
        raise InstanceError(
            f"image_shape is {shown(shape)}; give two numbers from 1 on, of at most {MOST_PIXELS:,} pixels together"
        )
    return rows, columns


def places(variables: Sequence[Variable], shape: Any) -> dict[int, Place]:
    """Where the pixel of each variable is: by its name where all names tell, else in the model's order.

    A name tells by a number at its end, which counts the pixels row by row, from 1 on, or from 0 on if some has 0; or
    by two, its row and its column.

    >>> some = [Variable.numeric(name, [0.5]) for name in ("pixel1", "pixel4")]
    >>> places(some, (2, 2)), places([Variable.numeric("at 0x1", [0.5])], (2, 2))
    ({0: (0, 0), 1: (1, 1)}, {0: (0, 1)})
    >>> places([*some, Variable.numeric("age", [30])], (2, 2))
    Traceback (most recent call last):
    quia.errors.InstanceError: image_shape is (2, 2), but the feature 'age' is no pixel of it; a model of an image has \
its 4 pixels in order, or names that end in a pixel's number, as in pixel1, or in its row and column, as in 0x1
    """
    rows, columns = shape_of(shape)
    names = [variable.name for variable in variables]
    for found in (_paired(names, rows, columns), _numbered(names, rows, columns)):
        if found is not None:
            return dict(enumerate(found))
    if len(names) == rows * columns:
        return {v: divmod(v, columns) for v in range(len(names))}
    raise InstanceError(
        f"image_shape is ({rows}, {columns}), but {_misfit(names, rows * columns)}; a model of an image has its"
        f" {rows * columns:,} pixels in order, or names that end in a pixel's number, as in pixel1, or in its row and"
        " column, as in 0x1"
    )


def _misfit(names: Sequence[str], pixels: int) -> str:
    """Why names are no pixels."""
    for name in names:
        number = _NUMBER.search(name)
        if number is None:
            return f"the feature {shown(name)} is no pixel of it"
        if int(number[1]) > pixels:
            return f"the feature {shown(name)} would be beyond its {pixels:,} pixels"
    return "several features would be the same pixel of it"


def _numbered(names: Sequence[str], rows: int, columns: int) -> list[Place] | None:
    """Where pixels are that are named by their numbers; None if these are none."""
    found = [_NUMBER.search(name) for name in names]
    numbers = [int(each[1]) for each in found if each is not None and len(each[1]) < 10]
    if len(numbers) < len(names):
        return None
    first = 0 if 0 in numbers else 1
    is_inside = all(number - first < rows * columns for number in numbers)
    if not is_inside or len(set(numbers)) < len(numbers):
        return None
    return [divmod(number - first, columns) for number in numbers]


def _paired(names: Sequence[str], rows: int, columns: int) -> list[Place] | None:
    """Where pixels are that are named by their row and column; None if these are none."""
    found = [_PAIR.search(name) for name in names]
    pairs = [(int(each[1]), int(each[2])) for each in found if each is not None and len(each[0]) < 12]
    if len(pairs) < len(names):
        return None
    first = 0 if any(0 in pair for pair in pairs) else 1
    made = [(row - first, column - first) for row, column in pairs]
    is_inside = all(row < rows and column < columns for row, column in made)
    return made if is_inside and len(set(made)) == len(made) else None


def pixel_picture(answer: Answer, shape: Any, because: Reason | None = None) -> PixelPicture:
    """The image of an answer's instance, with its shortest reason, or that given, and the nearest change."""
    known = places(answer.variables, shape)
    rows, columns = shape_of(shape)
    reason = answer.shortest if because is None else because
    nearest = answer.changes[0] if answer.changes else None
    led = () if nearest is None else nearest.changes
    index = {variable.name: v for v, variable in enumerate(answer.variables)}
    values = {v: _number(variable, answer.instance) for v, variable in enumerate(answer.variables)}
    decided = None if nearest is None else outcome(nearest)
    if reason is not None and reason.kind == "necessary":
        led, decided = reason.changes, outcome_of(reason, answer)
        reason = None

    def marks(literals: Sequence[Literal], *, is_change: bool) -> tuple[Mark, ...]:
        return tuple(
            Mark(known[v], _towards(literal, values[v] if is_change else None), literal)
            for literal in literals
            for v in (index[literal.feature],)
        )

    return PixelPicture(
        (rows, columns),
        _image(values, known, rows, columns),
        marks(() if reason is None else reason.literals, is_change=False),
        marks(led, is_change=True),
        answer.decision,
        decided if led else None,
    )


def _number(variable: Variable, values: Mapping[str, Any]) -> float | None:
    """A pixel's value as a number; None if it is missing, or is none."""
    with suppress(InstanceError, TypeError, ValueError):
        value = values.get(variable.name)
        number = variable.as_number(value) if variable.is_numeric else float(value)  # type: ignore[arg-type]
        return number if math.isfinite(number) else None
    return None


def _image(
    values: Mapping[int, float | None], known: Mapping[int, Place], rows: int, columns: int
) -> tuple[tuple[float | None, ...], ...]:
    """Brightness from the least value, or 0, to the greatest."""
    numbers = [value for value in values.values() if value is not None]
    low, high = min([0.0, *numbers]), max(numbers, default=1.0)
    image: list[list[float | None]] = [[None] * columns for _ in range(rows)]
    for v, (row, column) in known.items():
        value = values[v]
        if value is not None:
            image[row][column] = (value - low) / (high - low) if high > low else 0.0
    return tuple(map(tuple, image))


def _towards(literal: Literal, value: float | None) -> int:
    """Whether a condition asks for bright or for dark; that on a change, compared with what the pixel is."""
    numbers = _ends(literal)
    if numbers is None:
        return 0
    low, high = numbers
    if value is not None:
        return 1 if low >= value else -1 if high <= value else 0
    return 1 if math.isfinite(low) and high == math.inf else -1 if low == -math.inf and math.isfinite(high) else 0


def _ends(literal: Literal) -> tuple[float, float] | None:
    """The least and the greatest number of a condition; infinite where it does not bound them."""
    if literal.variable.is_numeric:
        intervals = literal.intervals
        if not intervals:
            return None
        lower, upper = intervals[0].lower, intervals[-1].upper
        return -math.inf if lower is None else lower.threshold, math.inf if upper is None else upper.threshold
    try:
        every = [float(literal.variable.text(state)) for state in range(literal.variable.size)]
        own = [float(literal.variable.text(state)) for state in literal.states]
    except ValueError:
        return None
    return -math.inf if min(own) == min(every) else min(own), math.inf if max(own) == max(every) else max(own)
