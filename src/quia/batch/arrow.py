"""Tables of decisions explained: Arrow in, Arrow out, every distinct row once."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quia.batch.circuits import explain_rows
from quia.batch.table import arrow, as_table, distinct, encode_table
from quia.costs import Costs, exact_costs
from quia.errors import InstanceError, did_you_mean, listed, shown
from quia.families import MEMORY
from quia.graph import DecisionGraph

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier

KINDS = ("necessary", "sufficient")
_LARGEST_COUNT = 10**38 - 1  # what a decimal of 38 digits holds, which every engine can read


@dataclass(frozen=True)
class Question:
    """What is asked of every row of a table."""

    against: int = -1
    frozen: tuple[int, ...] = ()
    costs: Costs | None = None
    limit: int = 10
    counts: bool = False
    timeout: float | None = None
    threads: int = 1


def explain_batch(
    classifier: Classifier,
    data: Any,
    /,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Mapping[str, Any] | None = None,
    limit: int = 10,
    counts: bool = False,
    timeout: float | None = None,
    threads: int | None = None,
) -> pa.Table:
    """The decision on every row of a table, with its shortest necessary and sufficient reasons.

    `data` is a DataFrame, an Arrow table, a list of mappings or an array. The result has a row for each of its
    rows, in their order: `decision`; `shortest_necessary` and `shortest_sufficient`, the first `limit` of them;
    `shortest_necessary_ties` and `shortest_sufficient_ties`, how many there are; with `counts=True` also
    `necessary_count` and `sufficient_count`, how many reasons there are in all; `complete`, whether all of that could
    be found in `timeout` seconds a row; `error`, why a row could not be explained. Rows that are in the same states
    are explained once.
    """
    question = ask(
        classifier,
        against=against,
        frozen=frozen,
        costs=costs,
        limit=limit,
        counts=counts,
        timeout=timeout,
        threads=threads,
    )
    table = as_table(data, [v.name for v in classifier.variables])
    return arrow().Table.from_batches([explain_table(classifier, table, question)], schema(counts=counts))


def ask(
    classifier: Classifier,
    *,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Mapping[str, Any] | None = None,
    limit: int = 10,
    counts: bool = False,
    timeout: float | None = None,
    threads: int | None = None,
) -> Question:
    """A question whose parts fit the classifier."""
    index = {v.name: i for i, v in enumerate(classifier.variables)}
    if against is not None and against not in classifier.classes:
        raise InstanceError(
            f"against is {shown(against)}; the classes are {listed(classifier.classes)}"
            f"{did_you_mean(against, classifier.classes)}"
        )
    for name in frozen:
        if name not in index:
            raise InstanceError(f"frozen is {shown(name)}, which is no feature{did_you_mean(name, index)}")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InstanceError(f"limit is {shown(limit)}; it is a whole number from 0 on")
    return Question(
        -1 if against is None else classifier.classes.index(against),
        tuple(sorted(index[name] for name in frozen)),
        None if costs is None else exact_costs(classifier.variables, costs),
        limit,
        counts,
        timeout,
        threads or os.cpu_count() or 1,
    )


def schema(*, counts: bool) -> pa.Schema:
    """The columns of the result."""
    pa = arrow()
    state = pa.struct([("feature", pa.string()), ("state", pa.string())])
    columns = [("decision", pa.string())]
    for kind in KINDS:
        columns += [(f"shortest_{kind}", pa.list_(pa.list_(state))), (f"shortest_{kind}_ties", pa.int64())]
    if counts:
        columns += [(f"{kind}_count", pa.decimal128(38, 0)) for kind in KINDS]
    return pa.schema([*columns, ("complete", pa.bool_()), ("error", pa.string())])


def explain_table(classifier: Classifier, table: pa.Table, question: Question) -> pa.RecordBatch:
    """One batch of rows explained."""
    pa = arrow()
    encoded = encode_table(classifier, table)
    faulty = np.zeros(table.num_rows, bool)
    faulty[list(encoded.faults)] = True
    sound = np.flatnonzero(~faulty)
    first, which = distinct(encoded.states[sound][:, classifier.tested])
    rows = np.ascontiguousarray(encoded.states[sound][first])
    columns = _columns(classifier, rows, question)

    # Rows that could not be encoded take nothing; the others take the answer of the row they equal.
    taken = np.full(table.num_rows, -1, np.int64)
    taken[sound] = which
    indices = pa.array(taken, mask=taken < 0)
    made = {name: column.take(indices) for name, column in columns.items()}
    made["complete"] = made["complete"].fill_null(False)
    errors = made["error"].to_pylist() if encoded.faults else None
    if errors is not None:
        for row, message in encoded.faults.items():
            errors[row] = message
        made["error"] = pa.array(errors, pa.string())
    layout = schema(counts=question.counts)
    return pa.RecordBatch.from_arrays([made[name] for name in layout.names], schema=layout)


def _columns(classifier: Classifier, rows: npt.NDArray[np.int32], question: Question) -> dict[str, Any]:
    """The answers for distinct rows."""
    pa = arrow()
    found = _answers(classifier, rows, question)
    decision = found["decision"]
    already = decision == question.against
    columns = {"decision": pa.array(list(classifier.classes), pa.string()).take(pa.array(decision))}
    complete = np.ones(len(rows), bool)
    texts = _state_texts(classifier)
    for kind in KINDS:
        part = found[kind]
        columns[f"shortest_{kind}"] = _reasons(part, rows, texts, classifier, already)
        columns[f"shortest_{kind}_ties"] = pa.array(part["ties"], mask=(part["ties"] < 0) | already)
        complete &= part["complete"].astype(bool)
        if question.counts:
            count = found[f"count_{kind}"]
            columns[f"{kind}_count"] = _counted(count["count"], count, already)
            complete &= count["complete"].astype(bool)
    message = f"the decision is {classifier.classes[question.against]!r} already" if question.against >= 0 else None
    columns["complete"] = pa.array(complete & ~already)
    columns["error"] = pa.array([message if is_so else None for is_so in already.tolist()], pa.string())
    return columns


def _answers(classifier: Classifier, rows: npt.NDArray[np.int32], question: Question) -> Any:
    if not isinstance(classifier, DecisionGraph):
        return explain_rows(classifier, rows, question)
    frozen = np.zeros(len(classifier.variables), np.uint8)
    frozen[list(question.frozen)] = 1
    return classifier.kernel.batch(
        np.maximum(rows, 0),  # variables that no node tests have no state; the kernel never looks
        target=question.against,
        frozen=frozen,
        costs=None if question.costs is None else np.array(question.costs.whole, np.int64),
        limit=question.limit,
        count_necessary=question.counts,
        count_sufficient=question.counts,
        threads=question.threads,
        timeout_per_row=question.timeout,
        memory=MEMORY,
    )


def _state_texts(classifier: Classifier) -> tuple[Any, npt.NDArray[np.int64]]:
    """All states' texts in a row, and where each variable's begin."""
    pa = arrow()
    texts: list[str] = []
    begin = np.zeros(len(classifier.variables), np.int64)
    for index in classifier.tested:
        variable = classifier.variables[index]
        begin[index] = len(texts)
        texts.extend(variable.text(state) for state in range(variable.size))
    return pa.array(texts, pa.string()), begin


def _reasons(
    part: Any, rows: npt.NDArray[np.int32], texts: tuple[Any, npt.NDArray[np.int64]], classifier: Any, void: Any
) -> Any:
    """Compressed sparse rows of variables as lists of lists of (feature, state)."""
    pa = arrow()
    members, member_start, reason_start = part["members"], part["member_start"], part["reason_start"]
    row_of_reason = np.repeat(np.arange(len(rows)), np.diff(reason_start))
    row_of_member = np.repeat(row_of_reason, np.diff(member_start))
    all_texts, begin = texts
    names = pa.array([v.name for v in classifier.variables], pa.string())
    states = pa.StructArray.from_arrays(
        [
            names.take(pa.array(members)),
            all_texts.take(pa.array(begin[members] + rows[row_of_member, members])),
        ],
        ["feature", "state"],
    )
    inner = pa.ListArray.from_arrays(pa.array(member_start.astype(np.int32)), states)
    unknown = (part["complete"] == 0) | void
    return pa.ListArray.from_arrays(pa.array(reason_start.astype(np.int32)), inner, mask=pa.array(unknown))


def _counted(numbers: npt.NDArray[np.int64], part: Any, void: npt.NDArray[np.bool_]) -> Any:
    pa = arrow()
    if not part["large"]:
        return pa.array(numbers, mask=(numbers < 0) | void).cast(pa.decimal128(38, 0))
    exact = [part["large"].get(row, number if number >= 0 else None) for row, number in enumerate(numbers.tolist())]
    return pa.array(
        [
            Decimal(n) if n is not None and n <= _LARGEST_COUNT and not is_void else None
            for n, is_void in zip(exact, void.tolist(), strict=True)
        ],
        pa.decimal128(38, 0),
    )
