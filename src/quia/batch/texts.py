"""Columns of lists as text, without a loop over rows: for CSV as phrases, for JSON lines as objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from quia.batch.columns import answer_names
from quia.batch.table import arrow

if TYPE_CHECKING:
    import pyarrow as pa

AND, OR = " and ", " | "
TEXT = "_text"


def csv_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Columns of lists as text, several items of a list parted by ` | `.

    General reasons are there as their texts only, `age <= 32.5 and sex=M`; others read `Essay: fail and Interview:
    fail`.
    """
    pa = arrow()
    names = csv_names(batch.schema.names)
    return pa.RecordBatch.from_arrays([_for_csv(name, batch.column(name)) for name in names], names=names)


def csv_names(names: Sequence[str]) -> list[str]:
    """The columns that CSV has: where there is a column of texts, not the one of data that they tell."""
    told = {name.removesuffix(TEXT) for name in names if name.endswith(TEXT) and name in answer_names()}
    return [name for name in names if name not in told]


def json_lines(batch: pa.RecordBatch) -> bytes:
    """A JSON object a row, with the columns of the table; a reason of states is an object from feature to state."""
    import pyarrow.compute as pc

    pa = arrow()
    pieces: list[Any] = []
    for position, (name, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        pieces += [pa.scalar(f"{', ' if position else '{'}{_json(name)}: "), _as_json(name, column)]
    lines = pc.binary_join_element_wise(*pieces, pa.scalar("}\n"), pa.scalar(""))
    return "".join(lines.to_pylist()).encode() if batch.num_rows else b""


def _for_csv(name: str, column: Any) -> Any:
    import pyarrow.compute as pc

    pa = arrow()
    kind = column.type
    if _holds_states(name, kind):
        return _join_lists(column, _states_text, AND, OR, "", "")
    if _holds_answers(name, kind):
        values = _decoded(column.values).cast(pa.string())
        return _only_known(column, pc.binary_join(pa.ListArray.from_arrays(column.offsets, values), OR))
    if pa.types.is_dictionary(kind):
        return column.dictionary_decode()
    if pa.types.is_decimal(kind):
        return column.cast(pa.string())
    return _quoted_values(column) if pa.types.is_nested(kind) else column


def _as_json(name: str, column: Any) -> Any:
    import pyarrow.compute as pc

    pa = arrow()
    kind = column.type
    if _holds_states(name, kind):
        text = _join_lists(column, _states_json, ", ", ", ", "{", "}")
        text = pc.binary_join_element_wise(pa.scalar("["), text, pa.scalar("]"), pa.scalar(""))
    elif _holds_answers(name, kind):
        text = _nested_json(column)
    elif pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        text = column.cast(pa.string())
    else:
        text = _quoted_values(column)
    return text.fill_null("null")


def _holds_answers(name: str, kind: Any) -> bool:
    """Whether a column is an answer made of lists; one that is carried along has another name."""
    return name in answer_names() and bool(arrow().types.is_list(kind))


def _holds_states(name: str, kind: Any) -> bool:
    """Whether a column is an answer made of lists of features, each in one state."""
    pa = arrow()
    if not _holds_answers(name, kind):
        return False
    inner = kind.value_type
    if pa.types.is_struct(inner):
        inner = inner.field("changes").type
    return bool(pa.types.is_list(inner)) and inner.value_type.get_field_index("state") >= 0


def _nested_json(column: Any) -> Any:
    """Lists, structs and what is in them as JSON, `null` where there is none."""
    import pyarrow.compute as pc

    pa = arrow()
    kind = column.type
    if pa.types.is_list(kind):
        items = pa.ListArray.from_arrays(column.offsets, _nested_json(column.values))
        parts = [pa.scalar("["), pc.binary_join(items, ", "), pa.scalar("]")]
    elif pa.types.is_struct(kind):
        parts = [pa.scalar("{")]
        for position, field in enumerate(kind):
            key = f"{', ' if position else ''}{_json(field.name)}: "
            parts += [pa.scalar(key), _nested_json(column.field(position))]
        parts.append(pa.scalar("}"))
    elif pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return _quoted_values(column).fill_null("null")
    else:
        return column.cast(pa.string()).fill_null("null")
    text = pc.binary_join_element_wise(*parts, pa.scalar(""))
    return _only_known(column, text).fill_null("null")


def _only_known(column: Any, text: Any) -> Any:
    """The texts of what a column has, none where it has none."""
    import pyarrow.compute as pc

    pa = arrow()
    return pc.if_else(column.is_valid(), text, pa.scalar(None, pa.string())) if column.null_count else text


def _join_lists(column: Any, states_text: Any, inner: str, outer: str, opening: str, closing: str) -> Any:
    """Lists of lists of states, or of changes, each as one text."""
    import pyarrow.compute as pc

    pa = arrow()
    sets = column.values
    change = None
    if pa.types.is_struct(sets.type):
        sets, change = sets.field("changes"), sets
    members = states_text(sets.values)
    texts = pc.binary_join(pa.ListArray.from_arrays(sets.offsets, members), inner)
    texts = pc.binary_join_element_wise(pa.scalar(opening), texts, pa.scalar(closing), pa.scalar(""))
    if change is not None:
        texts = _with_decision(texts, change.field("decision"), change.field("certain"), as_json=bool(opening))
    lists = pa.ListArray.from_arrays(column.offsets, texts)
    return _only_known(column, pc.binary_join(lists, outer))


def _with_decision(texts: Any, decision: Any, certain: Any, *, as_json: bool) -> Any:
    import pyarrow.compute as pc

    pa = arrow()
    if as_json:
        quoted = _quoted_values(decision)
        end = pc.if_else(certain, ', "certain": true}', ', "certain": false}')
        parts = [pa.scalar('{"changes": '), texts, pa.scalar(', "decision": '), quoted, end]
    else:
        parts = [texts, pc.if_else(certain, ": ", ": could be "), _decoded(decision)]
    return pc.binary_join_element_wise(*parts, pa.scalar(""))


def _states_text(states: Any) -> Any:
    import pyarrow.compute as pc

    pa = arrow()
    feature, state = _decoded(states.field("feature")), _decoded(states.field("state"))
    return pc.binary_join_element_wise(feature, state, pa.scalar(": "))


def _states_json(states: Any) -> Any:
    import pyarrow.compute as pc

    pa = arrow()
    feature, state = _quoted_values(states.field("feature")), _quoted_values(states.field("state"))
    return pc.binary_join_element_wise(feature, state, pa.scalar(": "))


def _decoded(column: Any) -> Any:
    pa = arrow()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _quoted_values(column: Any) -> Any:
    """Each value as JSON; distinct texts are looked at once."""
    pa = arrow()
    if not pa.types.is_dictionary(column.type) and pa.types.is_string(column.type):
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        texts = [_json(value) for value in plain_values(column)]
        return pa.array([None if text == "null" else text for text in texts], pa.string())
    quoted = [_json(value) for value in plain_values(column.dictionary)]
    return pa.array(quoted, pa.string()).take(column.indices)


def plain_values(column: Any) -> list[Any]:
    """The values as Python's, or as texts where Python has none of the kind, such as dates after the year 9999."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return list(column.cast(arrow().string()).to_pylist())


def _json(value: Any) -> str:
    """A value as JSON, which has no number that is none or infinite: null, or a text, stands for it."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return None if isnan(value) else str(value)
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value
