"""Answers as Arrow columns: lists of lists of (feature, state), numbers, texts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quia.batch.answers import LARGEST_COUNT, Answers, Bools, Ints, Lists, Numbers
from quia.batch.question import Request
from quia.batch.table import Faults, arrow, from_numpy, from_texts
from quia.reason import KINDS

if TYPE_CHECKING:
    from quia.classifier import Classifier


class _Texts(NamedTuple):
    """Features' names and, without repetition, states' texts; `code[begin[v] + s]` is the text of state s of v."""

    features: Any
    states: Any
    code: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int64]
    classes: Any


def fields(request: Request, *, encoded: bool = False) -> list[Any]:
    """What answers a request, column by column."""
    pa = arrow()
    text = pa.dictionary(pa.int32(), pa.string()) if encoded else pa.string()
    states = pa.list_(pa.struct([("feature", text), ("state", text)]))
    columns: list[tuple[str, Any]] = [("decision", text), ("unknown", pa.list_(text))]
    for kind in request.shortest:
        columns += [(f"shortest_{kind}", pa.list_(states)), (f"shortest_{kind}_ties", pa.int64())]
    if request.all_reasons:
        columns += [(f"{kind}_reasons", pa.list_(states)) for kind in KINDS]
    if request.counts:
        columns += [(f"{kind}_count", pa.decimal128(38, 0)) for kind in KINDS]
    if request.counterfactuals:
        change = pa.struct([("changes", states), ("decision", text), ("certain", pa.bool_())])
        columns.append(("counterfactuals", pa.list_(change)))
    if request.protected:
        columns += [("biased", pa.bool_()), ("bias_reasons", pa.list_(states))]
    columns += [("complete", pa.bool_()), ("error", text)]
    return [pa.field(name, kind) for name, kind in columns]


@cache
def answer_names() -> frozenset[str]:
    """The columns that answer any request."""
    everything = Request(all_reasons=1, counts=True, counterfactuals=1, protected=(0,))
    return frozenset(field.name for field in fields(everything))


def answer_columns(
    classifier: Classifier,
    answers: Answers,
    faults: Faults,
    missing: Mapping[int, Faults],
    request: Request,
    *,
    encoded: bool = False,
) -> dict[str, Any]:
    """The columns of the answers, by name; `faults` say why some rows have none, `missing` which values they lack."""
    texts = _texts(classifier)
    columns = {
        "decision": _text(answers.decision, texts.classes, encoded),
        "unknown": _unknown(answers.decision >= 0, missing, texts, encoded),
    }
    for name, lists in answers.lists.items():
        columns[name] = _lists(lists, texts, encoded, changes=name == "counterfactuals")
    for name, numbers in answers.numbers.items():
        columns[name] = _ties(numbers) if name.endswith("_ties") else _counts(numbers)
    if request.protected:
        bias = answers.lists["bias_reasons"]
        columns["biased"] = from_numpy(np.diff(bias.set_start) > 0, ~bias.known)
    columns["complete"] = from_numpy(answers.complete)
    columns["error"] = _errors(classifier, answers, faults, request, encoded)
    return columns


def _unknown(decided: Bools, missing: Mapping[int, Faults], texts: _Texts, encoded: bool) -> Any:
    """The features of which a row lacks the value; none where there is no decision."""
    variables = np.array(sorted(missing), np.int32)
    lacking = np.zeros((len(decided), len(variables)), bool)
    for place, variable in enumerate(variables.tolist()):
        lacking[:, place] = decided & ~missing[variable].sound
    start = np.zeros(len(decided) + 1, np.int32)
    np.cumsum(lacking.sum(axis=1), out=start[1:])
    features = _text(variables[np.nonzero(lacking)[1]], texts.features, encoded)
    return _list_array(features, start, decided)


def _errors(classifier: Classifier, answers: Answers, faults: Faults, request: Request, encoded: bool) -> Any:
    if request.terms.target is not None:
        already = f"the decision is {request.terms.against!r} already"
        faults = faults.and_then(Faults((answers.decision == request.terms.target).astype(np.int32) - 1, (already,)))
    # Two columns may have the same to say, and not everything that could be said need be.
    messages: dict[str, int] = {}
    said = np.bincount(faults.code[~faults.sound], minlength=len(faults.messages))
    number = [
        messages.setdefault(message, len(messages)) if times else -1
        for message, times in zip(faults.messages, said.tolist(), strict=True)
    ]
    return _text(np.array([*number, -1], np.int32)[faults.code], from_texts(list(messages)), encoded)


_texts_of: WeakKeyDictionary[Classifier, _Texts] = WeakKeyDictionary()
"""Made once for a classifier, however many batches it explains."""


def _texts(classifier: Classifier) -> _Texts:
    if classifier not in _texts_of:
        _texts_of[classifier] = _make_texts(classifier)
    return _texts_of[classifier]


def _make_texts(classifier: Classifier) -> _Texts:
    texts: dict[str, int] = {}
    code: list[int] = []
    begin = np.zeros(len(classifier.variables), np.int64)
    for index in classifier.tested:
        variable = classifier.variables[index]
        begin[index] = len(code)
        code += [texts.setdefault(variable.text(state), len(texts)) for state in range(variable.size)]
    return _Texts(
        from_texts([v.name for v in classifier.variables]),
        from_texts(list(texts)),
        np.array(code, np.int32),
        begin,
        from_texts(classifier.classes),
    )


def _text(codes: Ints, texts: Any, encoded: bool) -> Any:
    """Texts by their number, none where that is below 0."""
    pa = arrow()
    numbers = codes.astype(np.int32, copy=False)
    indices = from_numpy(numbers, numbers < 0)
    return pa.DictionaryArray.from_arrays(indices, texts) if encoded else texts.take(indices)


def _lists(lists: Lists, texts: _Texts, encoded: bool, *, changes: bool) -> Any:
    pa = arrow()
    codes = texts.code[texts.begin[lists.variables] + lists.states] if len(texts.code) else lists.states
    states = pa.StructArray.from_arrays(
        [_text(lists.variables, texts.features, encoded), _text(codes, texts.states, encoded)], ["feature", "state"]
    )
    items = pa.ListArray.from_arrays(from_numpy(lists.member_start.astype(np.int32)), states)
    if changes:
        certain = lists.labels >= 0
        labels = np.where(certain, lists.labels, -2 - lists.labels)
        items = pa.StructArray.from_arrays(
            [items, _text(labels, texts.classes, encoded), from_numpy(certain)], ["changes", "decision", "certain"]
        )
    return _list_array(items, lists.set_start, lists.known)


def _list_array(items: Any, start: Ints, known: Bools) -> Any:
    """A list for each row that is known, none for the others."""
    pa = arrow()
    # Not `from_arrays` with a mask, which would import pyarrow.compute: a tenth of a second at the start of a run.
    valid = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
    starts = pa.py_buffer(start.astype(np.int32))
    return pa.Array.from_buffers(pa.list_(items.type), len(known), [valid, starts], children=[items])


def _ties(numbers: Numbers) -> Any:
    return from_numpy(numbers.values, numbers.values < 0)


def _counts(numbers: Numbers) -> Any:
    pa = arrow()
    if not numbers.large:
        return _ties(numbers).cast(pa.decimal128(38, 0))
    exact = [numbers.large.get(row, number) for row, number in enumerate(numbers.values.tolist())]
    return pa.array([Decimal(n) if 0 <= n <= LARGEST_COUNT else None for n in exact], pa.decimal128(38, 0))
