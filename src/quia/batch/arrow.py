"""Tables of decisions explained: Arrow in, Arrow out, every distinct row once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.arguments import several
from quia.batch.answering import answer
from quia.batch.answers import Answers
from quia.batch.cache import Cache
from quia.batch.columns import answer_columns, fields
from quia.batch.coverage import Coverage, table_reference
from quia.batch.explained import Explained
from quia.batch.missing import encode_decided
from quia.batch.near import answer_near, values_of
from quia.batch.question import Request, ask
from quia.batch.table import FAULT, Faults, arrow, as_table, distinct, whole
from quia.batch.wanted import Wanted
from quia.errors import InstanceError, did_you_mean
from quia.reason import KINDS, Kind
from quia.reference import Reference

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier


def explain_batch(
    classifier: Classifier,
    data: Any,
    /,
    *,
    ids: Sequence[str] = (),
    against: str | None = None,
    frozen: Collection[str] = (),
    within: Mapping[str, Any] | None = None,
    only_up: Collection[str] = (),
    only_down: Collection[str] = (),
    near: Mapping[str, Any] | None = None,
    given: Any = None,
    costs: Mapping[str, Any] | None = None,
    shortest: Collection[Kind] = KINDS,
    general: bool = True,
    coverage: bool = False,
    limit: int = 10,
    all_reasons: int = 0,
    counts: bool = False,
    counterfactuals: int = 0,
    protected: Collection[str] = (),
    superfluous: bool = False,
    timeout: float | None = None,
    threads: int | None = None,
) -> pa.Table:
    """The decision on every row of a table, with its shortest necessary and sufficient reasons.

    `data` is a DataFrame, an Arrow table, a list of mappings or an array. The result has a row for each of its
    rows, in their order: the columns `ids` as they are; `decision`; `unknown`, the features whose values are missing,
    as the decision does not depend on them; `shortest_necessary` and `shortest_sufficient`, the first `limit` of them;
    `shortest_necessary_ties` and `shortest_sufficient_ties`, how many sets of features have one. If asked for:
    `necessary_reasons` and `sufficient_reasons`, the first `all_reasons` of all; `necessary_count` and
    `sufficient_count`, how many sets of features there are in all; `counterfactuals`, the nearest changes; with
    `protected` features, `biased` and `bias_reasons`, the necessary reasons made of them alone. Last `complete`,
    whether all of that could be found in `timeout` seconds a row, and `error`, why a row could not be explained. Rows
    that are in the same states are explained once.

    Reasons are general, with numbers as intervals: a sufficient one lists conditions that force the decision, a
    necessary one those that change it, all else kept. Each is there as data, and in a column `…_text` as text. With
    `coverage` a column `…_rows` says how many rows of this table meet its conditions, and of several reasons with the
    same features those come first that most rows meet. With `general=False` reasons list the row's own states.

    `within`, `only_up`, `only_down`, `near` and `given` say which worlds are possible, as for `explain`; each row has
    its own directions and neighbourhoods. A row that is impossible itself says in `error` what it breaks. With
    `protected` there is then a column `bias_vacuous`: whether a decision is not biased only because no possible world
    differs in protected features alone. With `superfluous`, sufficient reasons that another one implies, as constraints
    tie their features, come last, and a column `…_superfluous` says which these are; that is a search for each reason.
    """
    request = ask(
        classifier,
        against=against,
        frozen=frozen,
        within=within,
        only_up=only_up,
        only_down=only_down,
        near=near,
        given=given,
        costs=costs,
        shortest=shortest,
        general=general,
        coverage=coverage,
        limit=limit,
        all_reasons=all_reasons,
        counts=counts,
        counterfactuals=counterfactuals,
        protected=protected,
        superfluous=superfluous,
        timeout=timeout,
        threads=threads,
    )
    table = as_table(_rows(data), classifier.variables)
    batch = explain_table(classifier, table, request, ids=ids)
    return arrow().Table.from_batches([batch])


def _rows(data: Any) -> Any:
    """The data, unless they are a single row."""
    values = data.values() if isinstance(data, Mapping) else ()
    is_series = hasattr(data, "keys") and getattr(data, "ndim", 2) == 1
    if is_series or any(isinstance(value, str) or not hasattr(value, "__len__") for value in values):
        raise InstanceError("the data are one row; give a list of rows, or use explain")
    return data


def explain_batches(
    batches: Iterable[pa.RecordBatch],
    classifier: Classifier,
    request: Request,
    *,
    ids: Sequence[str] = (),
    cache: Cache | None = None,
    encoded: bool = False,
    reference: Reference | None = None,
) -> Iterator[pa.RecordBatch]:
    """Record batches in, record batches out, row for row: what every engine runs.

    `encoded` gives features and states as dictionary arrays, which take less memory and are written faster. Coverage is
    counted in the rows of a `reference`, as a batch does not know the others.
    """
    check_reference(request, reference)
    kept = cache if cache is not None else Cache()
    for batch in batches:
        yield explain_table(classifier, batch, request, ids=ids, cache=kept, encoded=encoded, reference=reference)


def check_reference(request: Request, reference: Reference | None) -> None:
    """Refuse to count rows of no table."""
    if request.coverage and reference is None:
        raise InstanceError(
            "coverage counts rows of the whole table, and here it is seen in parts; give a reference, or use"
            " quia.explain_batch or quia batch, which see all of it"
        )


def schema(request: Request, id_fields: Sequence[Any] = (), *, encoded: bool = False) -> pa.Schema:
    """The columns of the result."""
    return arrow().schema([*id_fields, *fields(request, encoded=encoded)])


def explain_table(
    classifier: Classifier,
    table: pa.Table | pa.RecordBatch,
    request: Request,
    *,
    ids: Sequence[str] = (),
    cache: Cache | None = None,
    encoded: bool = False,
    reference: Reference | None = None,
) -> pa.RecordBatch:
    """One table explained; without a `reference`, coverage is counted in its own rows that have a decision."""
    return explain_rows(classifier, table, request, ids=ids, cache=cache, encoded=encoded, reference=reference).batch


class ExplainedTable(NamedTuple):
    """A table explained: its columns, and what they are made of."""

    batch: pa.RecordBatch
    rows: Explained


def explain_rows(
    classifier: Classifier,
    table: pa.Table | pa.RecordBatch,
    request: Request,
    *,
    ids: Sequence[str] = (),
    cache: Cache | None = None,
    encoded: bool = False,
    reference: Reference | None = None,
) -> ExplainedTable:
    """`explain_table`, with what the columns are made of."""
    pa = arrow()
    id_fields = check_ids(table.schema, ids, request)
    classifier = request.answering(classifier)
    Wanted.of(classifier, request.worlds).check(table.schema.names)
    states, faults, missing = encode_decided(classifier, table, request.worlds)
    if request.coverage and reference is None:
        reference = table_reference(tuple(classifier.variables), states[faults.sound])
    if request.worlds.near:
        values, wrong = values_of(request.worlds, table)
        faults = wrong.and_then(faults)
        classifier, answers = _answers_near(states, values, faults, request)
    else:
        answers = _answers(classifier, states, faults, request, cache, reference)
    columns = answer_columns(classifier, answers, faults, missing, request, encoded=encoded)
    layout = schema(request, id_fields, encoded=encoded)
    carried = [whole(table.column(field.name)) for field in id_fields]
    made = [columns[name] for name in layout.names[len(carried) :]]
    return ExplainedTable(pa.RecordBatch.from_arrays([*carried, *made], schema=layout), answers)


def _answers(
    classifier: Classifier,
    states: Any,
    faults: Faults,
    request: Request,
    cache: Cache | None,
    reference: Reference | None,
) -> Explained:
    """The answers of all rows, nothing for those with a fault; distinct rows are worked out once."""
    sound = np.flatnonzero(faults.sound)
    has_faults = len(sound) < len(states)
    taken = np.empty(len(states), np.int64)
    if has_faults:
        states = states[sound]
    tested = states[:, list(classifier.tested)] if len(classifier.tested) < states.shape[1] else states
    first, which, hashes = distinct(tested)
    rows = np.ascontiguousarray(states[first])
    if cache is None:
        parts, place = [answer(classifier, rows, request)], np.arange(len(rows))
    else:
        parts, place = cache.look_up(hashes, rows, lambda missing: answer(classifier, missing, request))
    if has_faults:
        parts.append(parts[0].nothing())
    coverage = Coverage(reference) if request.coverage and reference is not None else None
    found = Explained.of(Answers.join(parts), request, coverage)
    taken.fill(len(found.decision) - 1)
    taken[sound] = place[which]
    return found if np.array_equal(taken, np.arange(len(found.decision))) else found.take(taken)


def _answers_near(
    states: Any, values: npt.NDArray[np.float64], faults: Faults, request: Request
) -> tuple[Classifier, Explained]:
    """The answers of all rows, distinct ones worked out once, and a classifier with the states that they are in."""
    sound = np.flatnonzero(faults.sound)
    keys = np.concatenate([states[sound].astype(np.int64), values[sound].view(np.int64)], axis=1)
    first, which, _ = distinct(keys)
    near = answer_near(states[sound[first]], values[sound[first]], request)
    found = Explained.of(Answers.join([near.answers, near.answers.nothing()]), request, None)
    taken = np.full(len(states), len(first), np.int64)
    taken[sound] = which
    return near.terms.classifier, found.take(taken)


def check_ids(given: pa.Schema, ids: Sequence[str], request: Request) -> list[Any]:
    """The fields of the columns that are carried along."""
    made = {FAULT, *(field.name for field in fields(request))}
    wanted = several(ids, "ids", "columns")
    for name in wanted:
        if wanted.count(name) > 1:
            raise InstanceError(f"the column {name!r} is to be carried along twice; name it once")
        if given.names.count(name) > 1:
            raise InstanceError(f"the table has more than one column {name!r} to carry along; rename one of them")
        if name not in given.names:
            raise InstanceError(f"the table has no column {name!r} to carry along{did_you_mean(name, given.names)}")
        if name in made:
            raise InstanceError(f"the column {name!r} cannot be carried along, as the result has one of that name")
    return [given.field(name) for name in wanted]
