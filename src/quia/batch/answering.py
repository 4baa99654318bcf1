"""From encoded rows to their answers: the kernel for graphs, one by one for circuits."""

from __future__ import annotations

from functools import partial
from itertools import islice
from operator import eq, ne
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.batch import circuits
from quia.batch.answers import Answers, Bools, Ints, Lists, Numbers
from quia.batch.question import KINDS, Question
from quia.circuit import Circuit
from quia.counterfactual import changed_states
from quia.families import MEMORY

if TYPE_CHECKING:
    from quia.classifier import Classifier

LARGEST_COUNT = 10**38 - 1
"""What a decimal of 38 digits holds, which every engine can read."""


def answer(classifier: Classifier, rows: npt.NDArray[np.int32], question: Question) -> Answers:
    """The answers for encoded rows, each worked out anew."""
    batch = partial(circuits.batch, classifier) if isinstance(classifier, Circuit) else classifier.kernel.batch
    common: dict[str, Any] = {
        "keeps": _all_but(question.against, len(classifier.classes)),
        "costs": None if question.costs is None else np.array(question.costs.whole, np.int64),
        "threads": question.threads,
        "timeout_per_row": question.timeout,
        "memory": MEMORY,
    }
    frozen = _mask(classifier, question.frozen)
    # Counterfactuals come from the shortest necessary reasons, all of them, whether those are asked for or not.
    necessary = "necessary" in question.shortest or question.counterfactuals > 0
    found: Any = batch(
        rows,
        frozen=frozen,
        limit=_EVERY if question.counterfactuals else question.limit,
        necessary=necessary,
        sufficient="sufficient" in question.shortest,
        count_necessary=question.counts,
        count_sufficient=question.counts,
        **common,
    )
    decision = found["decision"]
    void = decision == question.against
    lists: dict[str, Lists] = {}
    numbers: dict[str, Numbers] = {}
    complete = ~void
    for kind in KINDS:
        if kind in question.shortest:
            lists[f"shortest_{kind}"] = _first(_lists(found[kind], rows, void), question.limit)
            numbers[f"shortest_{kind}_ties"] = _numbers(found[kind], "ties", void)
        if kind in found:
            complete &= found[kind]["complete"].astype(bool)
        if question.counts:
            numbers[f"{kind}_count"] = _numbers(found[f"count_{kind}"], "count", void)
            complete &= found[f"count_{kind}"]["complete"].astype(bool)
    for number in numbers.values():
        complete[[row for row, value in number.large.items() if value > LARGEST_COUNT]] = False
    if question.all_reasons:
        every: Any = batch(rows, frozen=frozen, limit=question.all_reasons, shortest=False, **common)
        for kind in KINDS:
            lists[f"{kind}_reasons"] = _lists(every[kind], rows, void)
            complete &= every[kind]["complete"].astype(bool)
    if question.counterfactuals:
        shortest = _lists(found["necessary"], rows, void)
        lists["counterfactuals"] = _counterfactuals(classifier, rows, decision, shortest, question)
    if question.protected:
        # The necessary reasons of protected features alone: those that are left when nothing else can change.
        others = _mask(classifier, set(range(len(classifier.variables))) - set(question.protected))
        bias = batch(rows, frozen=others, limit=max(question.limit, 1), shortest=False, sufficient=False, **common)
        lists["bias_reasons"] = _lists(bias["necessary"], rows, void)
        complete &= bias["necessary"]["complete"].astype(bool)
    return Answers(decision, complete & ~void, lists, numbers)


_EVERY = 2**40


def _all_but(against: int, classes: int) -> npt.NDArray[np.uint8] | None:
    """The classes that keep a decision against this one, as the kernel takes them; None (-1) is each row's own."""
    return None if against < 0 else (np.arange(classes) != against).astype(np.uint8)


def _mask(classifier: Classifier, variables: Any) -> npt.NDArray[np.uint8]:
    mask = np.zeros(len(classifier.variables), np.uint8)
    mask[list(variables)] = 1
    return mask


def _lists(part: Any, rows: npt.NDArray[np.int32], void: Bools) -> Lists:
    members, member_start, set_start = part["members"], part["member_start"], part["reason_start"]
    row_of_set = np.repeat(np.arange(len(rows)), np.diff(set_start))
    row_of_member = np.repeat(row_of_set, np.diff(member_start))
    found = Lists(
        part["complete"].astype(bool) & ~void,
        set_start,
        member_start,
        members,
        rows[row_of_member, members],
        np.full(len(member_start) - 1, -1, np.int32),
    )
    return _emptied(found) if not found.known.all() else found


def _emptied(found: Lists) -> Lists:
    """Without the sets of rows that have no list."""
    length = np.where(found.known, np.diff(found.set_start), 0)
    return _kept(found, length)


def _first(found: Lists, most: int) -> Lists:
    """At most so many sets a row."""
    length = np.diff(found.set_start)
    return found if not len(length) or length.max() <= most else _kept(found, np.minimum(length, most))


def _kept(found: Lists, length: Ints) -> Lists:
    """The first so many sets of each row."""
    start = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=start[1:])
    sets = np.repeat(found.set_start[:-1] - start[:-1], length) + np.arange(start[-1])
    # Taking every set as if it were a row leaves their own borders as they are.
    alone = Lists(
        np.ones(len(found.labels), bool),
        np.arange(len(found.labels) + 1),
        found.member_start,
        found.variables,
        found.states,
        found.labels,
    ).take(sets)
    return Lists(found.known, start, alone.member_start, alone.variables, alone.states, alone.labels)


def _numbers(part: Any, name: str, void: Bools) -> Numbers:
    values = np.where(void, -1, part[name])
    return Numbers(values, {row: number for row, number in part["large"].items() if not void[row]})


def _counterfactuals(
    classifier: Classifier, rows: npt.NDArray[np.int32], decision: Ints, shortest: Lists, question: Question
) -> Lists:
    """The nearest changed instances of every row, the first so many."""
    set_start, member_start = shortest.set_start.tolist(), shortest.member_start.tolist()
    members = shortest.variables.tolist()
    starts, ends = [0], [0]
    variables: list[int] = []
    states: list[int] = []
    labels: list[int] = []
    for row, own in enumerate(rows.tolist()):
        reasons = [members[member_start[k] : member_start[k + 1]] for k in range(set_start[row], set_start[row + 1])]
        sustains = partial(eq, int(decision[row])) if question.against < 0 else partial(ne, question.against)
        for change in islice(changed_states(classifier, own, reasons, sustains=sustains), question.counterfactuals):
            variables.extend(change.variables)
            states.extend(change.states)
            labels.append(change.label if change.certain else -2 - change.label)
            ends.append(len(variables))
        starts.append(len(labels))
    return Lists(
        shortest.known,
        np.array(starts, np.int64),
        np.array(ends, np.int64),
        np.array(variables, np.int32),
        np.array(states, np.int32),
        np.array(labels, np.int32),
    )
