"""The words and numbers of conditions, as Arrow arrays: each distinct condition's once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quia.batch.lists import Bools, Ints, spread
from quia.batch.regions import Conditions, Regions
from quia.batch.table import arrow, from_numpy, from_texts
from quia.literal import Literal, beside_others
from quia.ranges import Ranges
from quia.reason import Reason
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier

AND = " and "
MOST_KEPT = 100_000
"""Of so many conditions of a classifier the words are kept from batch to batch."""


class Said(NamedTuple):
    """What is said of one feature: in `words` with its name, as `text` without it, and as data.

    Numbers from `low` to `high`, None where there is no bound, or no number at all, which is said as (0, 0); of a
    nominal feature `one_of` these names or `none_of` these, whichever are fewer.
    """

    words: str
    text: str
    low: float | None
    high: float | None
    low_closed: bool | None
    high_closed: bool | None
    missing: bool
    one_of: tuple[str, ...] | None
    none_of: tuple[str, ...] | None


@dataclass(eq=False)
class Vocabulary:
    """The words of conditions on some variables."""

    variables: tuple[Variable, ...]
    _said: dict[tuple[int, Ranges], Said] = field(default_factory=dict)

    def said(self, conditions: Conditions) -> list[Said]:
        """What each condition says."""
        if len(self._said) + len(conditions) > MOST_KEPT:
            self._said = {}
        known = self._said  # another thread may begin anew meanwhile
        return [known.get(each) or known.setdefault(each, self._say(*each)) for each in conditions]

    def _say(self, variable: int, ranges: Ranges) -> Said:
        return say(Literal(self.variables[variable], ranges))


def say(literal: Literal) -> Said:
    """What a literal says; its numbers are one interval.

    >>> from quia.variables import Variable
    >>> age, sex = Variable.numeric("age", [30, 65]), Variable.nominal("sex", ["F", "M", "X"])
    >>> say(Literal(age, ((1, 1),)))[:6]
    ('age in (30, 65]', '(30, 65]', 30.0, 65.0, False, True)
    >>> say(Literal(sex, ((0, 1),)))[-2:]
    (None, ('X',))
    """
    variable = literal.variable
    if variable.labels is None:
        condition = literal.condition
        (ends,) = condition["intervals"] or [_NO_NUMBER]
        return Said(str(literal), literal.text, **ends, missing=condition["missing"], one_of=None, none_of=None)
    names, others = _names(literal), _names(literal.negated)
    missing = variable.no_value in names
    is_short = len(names) <= max(len(others), 1)
    one_of, none_of = (names, None) if is_short else (None, others)
    return Said(str(literal), literal.text, None, None, None, None, missing, one_of, none_of)


_NO_NUMBER: dict[str, Any] = {"low": 0.0, "high": 0.0, "low_closed": False, "high_closed": False}


def _names(literal: Literal | None) -> tuple[str, ...]:
    return () if literal is None else tuple(literal.variable.text(state) for state in literal.states)


_vocabularies: WeakKeyDictionary[Classifier, Vocabulary] = WeakKeyDictionary()


def vocabulary(classifier: Classifier) -> Vocabulary:
    """That of a classifier, kept as long as it is."""
    if classifier not in _vocabularies:
        _vocabularies[classifier] = Vocabulary(tuple(classifier.variables))
    return _vocabularies[classifier]


def condition_type(text: Any) -> Any:
    """What a condition is in Arrow, with this type of texts."""
    pa = arrow()
    fields = [("feature", text), ("condition", text), ("low", pa.float64()), ("high", pa.float64())]
    fields += [(name, pa.bool_()) for name in ("low_closed", "high_closed", "missing")]
    return pa.struct([*fields, ("one_of", pa.list_(text)), ("none_of", pa.list_(text))])


class Spoken(NamedTuple):
    """Distinct regions in words and numbers: which conditions each has, these in columns of Arrow, and its text."""

    regions: Regions
    columns: _Columns
    texts: Any

    def listed(self, which: Ints) -> Any:
        """The conditions of regions, by their numbers, as an Arrow array of lists."""
        members, start = spread(self.regions.start, which)
        conditions = self.columns.take(self.regions.members[members])
        return list_array(conditions, start, np.ones(len(which), bool))


def spoken(classifier: Classifier, regions: Regions, *, encoded: bool) -> Spoken:
    """The regions in words and numbers; `encoded` gives the texts in conditions as dictionary arrays."""
    said = vocabulary(classifier).said(regions.conditions)
    names = [classifier.variables[v].name for v in regions.conditions.variables.tolist()]
    return Spoken(regions, _Columns.of(names, said, encoded), _texts(said, regions))


class _Columns(NamedTuple):
    """What distinct conditions say: Arrow arrays of texts, and NumPy's of numbers, which are taken faster from them.

    `has_*` says where there is a bound; `is_number` where a condition is one on a number.
    """

    features: Any
    texts: Any
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    has_low: Bools
    has_high: Bools
    low_closed: Bools
    high_closed: Bools
    is_number: Bools
    missing: Bools
    one_of: Any
    none_of: Any

    @staticmethod
    def of(names: Sequence[str], said: Sequence[Said], encoded: bool) -> _Columns:
        """What is said of features with these names."""
        return _Columns(
            texts_array(names, encoded),
            texts_array([each.text for each in said], encoded),
            np.array([each.low or 0.0 for each in said], np.float64),
            np.array([each.high or 0.0 for each in said], np.float64),
            np.array([each.low is not None for each in said], bool),
            np.array([each.high is not None for each in said], bool),
            np.array([bool(each.low_closed) for each in said], bool),
            np.array([bool(each.high_closed) for each in said], bool),
            np.array([each.low_closed is not None for each in said], bool),
            np.array([each.missing for each in said], bool),
            _names_array([each.one_of for each in said], encoded),
            _names_array([each.none_of for each in said], encoded),
        )

    def take(self, chosen: Ints) -> Any:
        """These conditions, in this order, as an Arrow array of structs."""
        pa = arrow()
        chosen = chosen.astype(np.int32)
        indices, is_name = from_numpy(chosen), ~self.is_number[chosen]
        columns = [
            self.features.take(indices),
            self.texts.take(indices),
            from_numpy(self.low[chosen], ~self.has_low[chosen]),
            from_numpy(self.high[chosen], ~self.has_high[chosen]),
            from_numpy(self.low_closed[chosen], is_name),
            from_numpy(self.high_closed[chosen], is_name),
            from_numpy(self.missing[chosen]),
            self.one_of.take(indices),
            self.none_of.take(indices),
        ]
        return pa.StructArray.from_arrays(columns, names=[field.name for field in condition_type(pa.string())])


def states_array(classifier: Classifier, regions: Regions, *, encoded: bool) -> Any:
    """The regions as lists of features, each with the text of its states."""
    pa = arrow()
    said = vocabulary(classifier).said(regions.conditions)
    names = [classifier.variables[v].name for v in regions.conditions.variables.tolist()]
    columns = [texts_array(names, encoded), texts_array([each.text for each in said], encoded)]
    states = pa.StructArray.from_arrays(columns, ["feature", "state"]).take(from_numpy(regions.members))
    return pa.ListArray.from_arrays(from_numpy(regions.start.astype(np.int32)), states)


def _texts(said: Sequence[Said], regions: Regions) -> Any:
    """Each region's text, as that of a `Reason` with its conditions."""
    import pyarrow.compute as pc

    pa = arrow()
    alone = [each.words for each in said]
    beside = list(map(beside_others, alone))
    is_alone = (np.diff(regions.start) == 1)[np.repeat(np.arange(len(regions)), np.diff(regions.start))]
    words = from_texts([*alone, *beside]).take(from_numpy(regions.members + np.where(is_alone, 0, len(said))))
    joined = pc.binary_join(pa.ListArray.from_arrays(from_numpy(regions.start.astype(np.int32)), words), AND)
    is_empty = np.diff(regions.start) == 0
    return pc.if_else(from_numpy(is_empty), str(Reason()), joined) if is_empty.any() else joined


def texts_array(texts: Sequence[str], encoded: bool) -> Any:
    """Texts as an Arrow array, `encoded` with each distinct one once."""
    if not encoded:
        return from_texts(texts)
    number = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    codes = from_numpy(np.array([number[text] for text in texts], np.int32))
    return arrow().DictionaryArray.from_arrays(codes, from_texts(list(number)))


def _names_array(lists: Sequence[Sequence[str] | None], encoded: bool) -> Any:
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(each or ()) for each in lists], out=start[1:])
    names = texts_array([name for each in lists for name in each or ()], encoded)
    return list_array(names, start, np.array([each is not None for each in lists], bool))


def list_array(items: Any, start: Ints, known: Bools) -> Any:
    """A list for each row that is known, none for the others."""
    pa = arrow()
    # Not `from_arrays` with a mask, which would import pyarrow.compute: a tenth of a second at the start of a run.
    valid = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
    starts = pa.py_buffer(start.astype(np.int32))
    return pa.Array.from_buffers(pa.list_(items.type), len(known), [valid, starts], children=[items])
