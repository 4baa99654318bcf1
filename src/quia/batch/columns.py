"""Answers as Arrow columns: lists of lists of (feature, state), numbers, texts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quia.batch.answers import LARGEST_COUNT, Numbers
from quia.batch.explained import Explained
from quia.batch.lists import Bools, Ints, Lists
from quia.batch.question import Request
from quia.batch.regions import Listed
from quia.batch.superfluous import SUPERFLUOUS
from quia.batch.table import Faults, arrow, from_numpy, from_texts
from quia.batch.vocabulary import condition_type, list_array, spoken, states_array
from quia.reason import KINDS
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.classifier import Classifier


class _Texts(NamedTuple):
    """Features' names and, without repetition, states' texts; `code[begin[v] + s]` is the text of state s of v.

    The states of `lines` are too many: those that are met are put into words as they come.
    """

    features: Any
    states: Any
    code: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int64]
    classes: Any
    lines: Mapping[int, Variable]


def fields(request: Request, *, encoded: bool = False) -> list[Any]:
    """What answers a request, column by column."""
    pa = arrow()
    text = pa.dictionary(pa.int32(), pa.string()) if encoded else pa.string()
    states = pa.list_(condition_type(text) if request.general else pa.struct([("feature", text), ("state", text)]))
    columns: list[tuple[str, Any]] = [("decision", text), ("unknown", pa.list_(text))]

    def add_lists(name: str, items: Any, *, counted: bool) -> None:
        columns.append((name, pa.list_(items)))
        if request.general:
            columns.append((f"{name}_text", pa.list_(text)))
        if request.coverage and counted:
            columns.append((f"{name}_rows", pa.list_(pa.int64())))
        if name in request.marked:
            columns.append((f"{name}_superfluous", pa.list_(pa.bool_())))

    for kind in request.shortest:
        add_lists(f"shortest_{kind}", states, counted=True)
        columns.append((f"shortest_{kind}_ties", pa.int64()))
    if request.all_reasons:
        for kind in KINDS:
            add_lists(f"{kind}_reasons", states, counted=True)
    if request.counts:
        columns += [(f"{kind}_count", pa.decimal128(38, 0)) for kind in KINDS]
    if request.counterfactuals:
        change = pa.struct([("changes", states), ("decision", text), ("certain", pa.bool_())])
        add_lists("counterfactuals", change, counted=False)
    if request.protected:
        columns.append(("biased", pa.bool_()))
        if request.tells_vacuous:
            columns.append(("bias_vacuous", pa.bool_()))
        add_lists("bias_reasons", states, counted=True)
    columns += [("complete", pa.bool_()), ("error", text)]
    return [pa.field(name, kind) for name, kind in columns]


@cache
def answer_names() -> frozenset[str]:
    """The columns that answer any request."""
    everything = Request(coverage=True, all_reasons=1, counts=True, counterfactuals=1, protected=(0,), superfluous=True)
    return frozenset({*(field.name for field in fields(everything)), "bias_vacuous"})


def answer_columns(
    classifier: Classifier,
    answers: Explained,
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
        columns[name] = _lists(lists, texts, encoded)
    for name, listed in answers.listed.items():
        columns |= _listed(name, classifier, listed, texts, request, encoded)
    for name in request.marked:
        of = answers.lists.get(name) or answers.listed[name]
        columns[f"{name}_superfluous"] = list_array(from_numpy(of.labels == SUPERFLUOUS), of.set_start, of.known)
    for name, numbers in answers.numbers.items():
        columns[name] = _NUMBERS.get(name.rpartition("_")[2], _counts)(numbers)
    if request.protected:
        bias = answers.lists.get("bias_reasons") or answers.listed["bias_reasons"]
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
    return list_array(features, start, decided)


def _errors(classifier: Classifier, answers: Explained, faults: Faults, request: Request, encoded: bool) -> Any:
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
        if variable.is_line:
            continue
        code += [texts.setdefault(variable.text(state), len(texts)) for state in range(variable.size)]
    return _Texts(
        from_texts([v.name for v in classifier.variables]),
        from_texts(list(texts)),
        np.array(code, np.int32),
        begin,
        from_texts(classifier.classes),
        {index: classifier.variables[index] for index in classifier.tested if classifier.variables[index].is_line},
    )


def _text(codes: Ints, texts: Any, encoded: bool) -> Any:
    """Texts by their number, none where that is below 0."""
    pa = arrow()
    numbers = codes.astype(np.int32, copy=False)
    indices = from_numpy(numbers, numbers < 0)
    return pa.DictionaryArray.from_arrays(indices, texts) if encoded else texts.take(indices)


def _lists(lists: Lists, texts: _Texts, encoded: bool) -> Any:
    """Lists of sets of single states."""
    pa = arrow()
    if texts.lines:
        codes, words = _line_codes(lists, texts)
    else:
        codes = texts.code[texts.begin[lists.variables] + lists.low] if len(texts.code) else lists.low
        words = texts.states
    states = pa.StructArray.from_arrays(
        [_text(lists.variables, texts.features, encoded), _text(codes, words, encoded)], ["feature", "state"]
    )
    items = pa.ListArray.from_arrays(from_numpy(lists.member_start.astype(np.int32)), states)
    return list_array(items, lists.set_start, lists.known)


def _line_codes(lists: Lists, texts: _Texts) -> tuple[Ints, Any]:
    """The number of each state's text, and the texts, with those of the lines' states that are met."""
    is_line = np.isin(lists.variables, list(texts.lines))
    codes = np.empty(len(lists.low), np.int64)
    codes[~is_line] = texts.code[texts.begin[lists.variables[~is_line]] + lists.low[~is_line]]
    met: list[str] = []
    for index, variable in texts.lines.items():
        own = lists.variables == index
        states, which = np.unique(lists.low[own], return_inverse=True)
        codes[own] = which.reshape(-1) + len(texts.states) + len(met)
        met += map(variable.text, states.tolist())
    return codes, arrow().concat_arrays([texts.states, from_texts(met)])


def _listed(
    name: str, classifier: Classifier, listed: Listed, texts: _Texts, request: Request, encoded: bool
) -> dict[str, Any]:
    """The columns of lists of regions: what each says as data, as text, and how many rows it fits."""
    if not request.general:
        items = states_array(classifier, listed.regions, encoded=encoded).take(from_numpy(listed.which))
        if name == "counterfactuals":
            items = _changes(items, listed, texts, encoded)
        return {name: list_array(items, listed.set_start, listed.known)}
    said = spoken(classifier, listed.regions, encoded=encoded)
    items = said.listed(listed.which)
    if name == "counterfactuals":
        items = _changes(items, listed, texts, encoded)
        phrases = _change_texts(said.texts, listed, texts, encoded)
    else:
        phrases = _text(listed.which, said.texts, encoded)
    columns = {name: items, f"{name}_text": phrases}
    if listed.rows is not None:
        columns[f"{name}_rows"] = from_numpy(listed.rows[listed.which])
    return {each: list_array(column, listed.set_start, listed.known) for each, column in columns.items()}


def _changes(items: Any, listed: Listed, texts: _Texts, encoded: bool) -> Any:
    """Regions of changes, each with the class that it leads to."""
    certain = listed.labels >= 0
    labels = np.where(certain, listed.labels, -2 - listed.labels)
    columns = [items, _text(labels, texts.classes, encoded), from_numpy(certain)]
    return arrow().StructArray.from_arrays(columns, ["changes", "decision", "certain"])


def _change_texts(said: Any, listed: Listed, texts: _Texts, encoded: bool) -> Any:
    """Regions of changes in words, each distinct one once: `capital-gain > 7055.5: >50K`."""
    import pyarrow.compute as pc

    pa = arrow()
    labels = listed.labels.astype(np.int64)
    _, first, which = np.unique(
        listed.which * (2 * len(texts.classes) + 2) + labels + len(texts.classes) + 1,
        return_index=True,
        return_inverse=True,
    )
    label = labels[first]
    classes = texts.classes.take(from_numpy(np.where(label >= 0, label, -2 - label)))
    link = pc.if_else(from_numpy(label >= 0), ": ", ": could be ")
    words = said.take(from_numpy(listed.which[first]))
    joined = pc.binary_join_element_wise(words, link, classes, pa.scalar(""))
    return _text(which.reshape(-1), joined, encoded)


def _ties(numbers: Numbers) -> Any:
    return from_numpy(numbers.values, numbers.values < 0)


def _counts(numbers: Numbers) -> Any:
    pa = arrow()
    if not numbers.large:
        return _ties(numbers).cast(pa.decimal128(38, 0))
    exact = [numbers.large.get(row, number) for row, number in enumerate(numbers.values.tolist())]
    return pa.array([Decimal(n) if 0 <= n <= LARGEST_COUNT else None for n in exact], pa.decimal128(38, 0))


def _flags(numbers: Numbers) -> Any:
    return from_numpy(numbers.values > 0, numbers.values < 0)


_NUMBERS = {"ties": _ties, "vacuous": _flags}
