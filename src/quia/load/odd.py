"""Ordered decision graphs in `.odd` text, as compilers of Bayesian-network classifiers write them.

The first line is the variable order in brackets; each other line is `id level child0 child1 …`: the node tests the
variable at that level (from 0) and goes to child k in its state k. A child is the id of an earlier line, or a sink
`S0`, `S1`, … for a class; the last line is the root.

A file can have millions of lines, so everything is done on whole columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quia.errors import FormatError, shown
from quia.files import decode
from quia.graph import DecisionGraph
from quia.load import naming

OPTIONS = naming.OPTIONS
_MALFORMED = re.compile(rb"[^0-9S \t\r\n]|[0-9S]S|S(?![0-9])|[0-9]{10}")
_MOST_CLASSES = 10_000

Ints = npt.NDArray[np.int64]


class _Rows(NamedTuple):
    """The node lines: where each is in the file, its id and level, and its children, of which `start` tells."""

    line: Ints
    identity: Ints
    level: Ints
    start: Ints
    child: Ints  # an id, or -1 - k for the sink Sk


def read(
    data: bytes,
    file: str | None = None,
    *,
    classes: Iterable[str] | None = None,
    states: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    names: Iterable[str] | Mapping[Any, str] | None = None,
) -> DecisionGraph:
    """The decision graph in an `.odd` file.

    Complexity: linear memory, and as much time as sorting the ids takes.

    >>> graph = read(b"[E, F]\\n1 1 S0 S1\\n0 0 S0 1\\n", classes=["deny", "admit"])
    >>> graph.classify({"E": 1, "F": "1"})
    'admit'
    """
    order, body, first_line = _header(data, file)
    rows = _rows(body, first_line, file)
    widths = np.diff(rows.start)
    _check_levels(rows, widths, order, file)
    position = _positions(rows, file)
    owner = np.repeat(np.arange(len(rows.line)), widths)
    _check_order(rows, position, owner, order, file)

    kept = _reached(rows, position)
    sinks = np.unique(-1 - position[position < 0])
    class_count = max(2, int(sinks[-1]) + 1)
    renumbered = np.cumsum(kept) - 1 + len(sinks)
    edges = kept[owner]
    child = np.empty(int(edges.sum()), np.int32)
    there = position[edges]
    child[there >= 0] = renumbered[there[there >= 0]]
    child[there < 0] = np.searchsorted(sinks, -1 - there[there < 0])

    sizes = np.full(len(order), 2)
    sizes[rows.level] = widths
    state = (np.arange(len(owner)) - rows.start[owner])[edges].astype(np.int32)
    leaves = len(sinks)
    dropped = len(kept) - int(kept.sum())
    return DecisionGraph(
        naming.named_variables(order, sizes.tolist(), states, names),
        naming.named_classes(class_count, classes),
        np.concatenate([np.full(leaves, -1), rows.level[kept]]).astype(np.int32),
        np.concatenate([sinks, np.full(int(kept.sum()), -1)]).astype(np.int32),
        np.concatenate([np.zeros(leaves, np.int64), [0], np.cumsum(widths[kept])]),
        child,
        np.arange(len(child) + 1),
        state,
        state.copy(),
        notes=(f"dropped {dropped} nodes that the root does not reach",) if dropped else (),
    )


def _header(data: bytes, file: str | None) -> tuple[list[str], bytes, int]:
    """The variable order, the rest of the file, and the number of its first line."""
    start = len(data) - len(data.lstrip(b"\xef\xbb\xbf \t\r\n"))
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    line = data.count(b"\n", 0, start) + 1
    text = decode(data[start:end], file).strip()
    if not text.startswith("[") or not text.endswith("]"):
        raise FormatError(
            f"begins with {shown(text, 40)}; the first line must be the variable order in brackets",
            file=file,
            line=line,
        )
    order = [name.strip() for name in text[1:-1].split(",")] if text[1:-1].strip() else []
    naming.distinct(order, file, line)
    return order, data[end + 1 :], line + 1


def _rows(body: bytes, first_line: int, file: str | None) -> _Rows:
    wrong = _MALFORMED.search(body)
    if wrong is not None:
        text = body[body.rfind(b"\n", 0, wrong.start()) + 1 :][:80].split(b"\n", 1)[0].decode("utf-8", "replace")
        raise FormatError(
            f"is {shown(text.strip(), 60)}; a node is 'id level child0 child1 …' in numbers below 10⁹,"
            " sinks are S0, S1, …",
            file=file,
            line=first_line + body.count(b"\n", 0, wrong.start()),
        )
    # The sink Sk becomes the number -1k (S0 is -10, S12 is -112), so that one conversion reads the whole body.
    values: Ints = (
        np.fromstring(body.replace(b"S", b"-1"), dtype=np.int64, sep=" ") if body.strip() else np.array([], np.int64)
    )
    counts = _words_per_line(body)
    filled = counts > 0
    line = np.flatnonzero(filled) + first_line
    count = counts[filled]
    if not len(count):
        raise FormatError("has no nodes; each line after the first must be one", file=file, line=first_line)
    if count.min() < 3:
        short = int(np.argmax(count < 3))
        raise FormatError(
            f"has {count[short]} words; a node is 'id level child0 child1 …'", file=file, line=int(line[short])
        )
    begin = np.cumsum(count) - count
    is_child = np.ones(len(values), bool)
    is_child[begin] = is_child[begin + 1] = False
    for where, what in ((begin, "an id"), (begin + 1, "a level")):
        sink = values[where] < 0
        if sink.any():
            raise FormatError(f"has a sink where {what} should be", file=file, line=int(line[np.argmax(sink)]))
    child = values[is_child]
    start = np.concatenate([[0], np.cumsum(count - 2)])
    codes, which = np.unique(child[child < 0], return_inverse=True)
    sinks = np.array([int(str(code)[2:]) for code in codes.tolist()], np.int64)
    if len(sinks) and sinks.max() >= _MOST_CLASSES:
        edge = int(np.argmax(child == codes[np.argmax(sinks)]))
        raise FormatError(
            f"has the sink S{sinks.max()}; at most {_MOST_CLASSES} classes are read",
            file=file,
            line=int(line[np.searchsorted(start, edge, side="right") - 1]),
        )
    child[child < 0] = -1 - sinks[which]
    return _Rows(line, values[begin], values[begin + 1], start, child)


def _words_per_line(body: bytes) -> Ints:
    text = np.frombuffer(body, np.uint8)
    inside = text > ord(" ")
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    ends = np.flatnonzero(text == ord("\n"))
    bounds = np.concatenate([[0], ends, [len(text)]])
    return np.diff(np.searchsorted(np.flatnonzero(begins), bounds))


def _check_levels(rows: _Rows, widths: Ints, order: list[str], file: str | None) -> None:
    beyond = rows.level >= len(order)
    if beyond.any():
        at = int(np.argmax(beyond))
        raise FormatError(
            f"has the level {rows.level[at]}; the order has {len(order)} variables, so levels are below that",
            file=file,
            line=int(rows.line[at]),
        )
    usual = np.zeros(len(order), np.int64)
    usual[rows.level[::-1]] = widths[::-1]  # the first line of a level tells how many states its variable has
    differing = widths != usual[rows.level]
    if differing.any():
        at = int(np.argmax(differing))
        raise FormatError(
            f"has {widths[at]} children; nodes before it that test {order[rows.level[at]]!r} have"
            f" {usual[rows.level[at]]}, one for each state",
            file=file,
            line=int(rows.line[at]),
        )


def _positions(rows: _Rows, file: str | None) -> Ints:
    """For every child, on which node line it is; sinks stay below 0."""
    by_identity = np.argsort(rows.identity, kind="stable")
    ordered = rows.identity[by_identity]
    again = ordered[1:] == ordered[:-1]
    if again.any():
        at = int(by_identity[1:][again].min())
        raise FormatError(
            f"gives the id {rows.identity[at]} a second time; ids must differ", file=file, line=int(rows.line[at])
        )
    found = np.minimum(np.searchsorted(ordered, rows.child), len(ordered) - 1)
    inner = rows.child >= 0
    unknown = inner & (ordered[found] != rows.child)
    if unknown.any():
        edge = int(np.argmax(unknown))
        at = int(np.searchsorted(rows.start, edge, side="right")) - 1
        raise FormatError(
            f"has the child {rows.child[edge]}, which no line defines", file=file, line=int(rows.line[at])
        )
    return np.where(inner, by_identity[found], rows.child)


def _check_order(rows: _Rows, position: Ints, owner: Ints, order: list[str], file: str | None) -> None:
    inner = position >= 0
    late = inner & (position >= owner)
    if late.any():
        edge = int(np.argmax(late))
        raise FormatError(
            f"has the child {rows.child[edge]}, whose line does not come before; children must come before parents",
            file=file,
            line=int(rows.line[owner[edge]]),
        )
    above = inner & (rows.level[np.where(inner, position, 0)] <= rows.level[owner])
    if above.any():
        edge = int(np.argmax(above))
        raise FormatError(
            f"tests {order[rows.level[owner[edge]]]!r}, but its child {rows.child[edge]} tests"
            f" {order[rows.level[position[edge]]]!r}, which is not after it in the order",
            file=file,
            line=int(rows.line[owner[edge]]),
        )


def _reached(rows: _Rows, position: Ints) -> npt.NDArray[np.bool_]:
    """Which nodes the last line reaches; a pass for each level, as a child's level is always below."""
    reached = np.zeros(len(rows.line), bool)
    reached[-1] = True
    by_level = np.argsort(rows.level, kind="stable")
    for nodes in np.split(by_level, np.flatnonzero(np.diff(rows.level[by_level])) + 1):
        mine = nodes[reached[nodes]]
        for k in range(int(rows.start[nodes[0] + 1] - rows.start[nodes[0]])):
            there = position[rows.start[mine] + k]
            reached[there[there >= 0]] = True
    return reached
