"""Weka's J48: the tree as Weka prints it, or as `-g` draws it.

J48 splits an instance that lacks a tested value into fractions, which follow several paths, so such an instance is
refused. Weka prints the thresholds of many trees with at most six decimals. J48 cuts at values of the training data, so
the data show which threshold was rounded; without them a note says which thresholds may be inexact.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from quia.cuts import Cut
from quia.errors import FormatError, Unsupported, did_you_mean, listed, shown
from quia.files import decode
from quia.load.arff import Attribute, Table, numbers, read_arff
from quia.load.weka_printed import read_printed
from quia.load.weka_tree import Leaf, Node, Split, read_drawn
from quia.variables import Variable

if TYPE_CHECKING:
    from quia.consistent import Edges
    from quia.graph import DecisionGraph

OPTIONS = ("arff", "states", "target")

_SIX_DECIMALS = re.compile(r"-?\d+\.\d{6}")
_AT_MOST_SIX = re.compile(r"-?\d+(\.\d{1,6})?")
_HALF_A_DIGIT = 0.0000005000001  # half of the sixth decimal, and what arithmetic may add to it


def read(
    data: bytes,
    file: str | None = None,
    *,
    arff: str | os.PathLike[str] | None = None,
    states: Mapping[str, Sequence[str]] | None = None,
    target: str | None = None,
) -> DecisionGraph:
    """The J48 tree in Weka's output.

    `arff` is the training file (or its content; the header alone is enough), which declares the columns; `states`
    lists the states of nominal columns when there is no such file; `target` is the class column, by default the last.
    """
    from quia.graph import DecisionGraph

    text = decode(data, file)
    table = None if arff is None else read_arff(arff)
    inputs, classes = (None, None) if table is None else _roles(table.attributes, target)
    nodes, columns, notes = (
        read_drawn(text, file)
        if text.lstrip().startswith("digraph")
        else read_printed(text, file, inputs=inputs, classes=classes)
    )
    nodes, unsure = _unrounded(nodes, table)
    if inputs is None:
        inputs = tuple(_inferred(nodes, columns, states or {}, target, file))
    labels = list(dict.fromkeys(classes or (node.label for node in nodes if isinstance(node, Leaf))))
    class_number = {label: number for number, label in enumerate(labels)}
    variables = _variables(nodes, inputs, file)
    variable_number = {variable.name: number for number, variable in enumerate(variables)}
    last = len(nodes) - 1
    edges: list[Edges] = []
    for node in reversed(nodes):
        if isinstance(node, Leaf):
            if node.label not in class_number:
                raise FormatError(
                    f"a leaf has class {shown(node.label)}; the classes are {listed(labels)}", file=file, line=node.line
                )
            edges.append(())
        else:
            edges.append(tuple(_edges(node, variables[variable_number[node.name]], last, file)))
    return DecisionGraph.build(
        variables,
        labels,
        [-1 if isinstance(node, Leaf) else variable_number[node.name] for node in reversed(nodes)],
        [class_number[node.label] if isinstance(node, Leaf) else -1 for node in reversed(nodes)],
        edges,
        notes=(*notes, *_rounding_note(unsure)),
    )


def _roles(header: Sequence[Attribute], target: str | None) -> tuple[tuple[Attribute, ...], tuple[str, ...]]:
    """The input attributes, and the classes."""
    names = [attribute.name for attribute in header]
    if target is not None and target not in names:
        raise FormatError(
            f"target is {shown(target)}, which the ARFF header does not have{did_you_mean(target, names)}"
        )
    chosen = header[-1] if target is None else header[names.index(target)]
    if chosen.states is None:
        raise FormatError(
            f"the class {shown(chosen.name)} is not nominal in the ARFF header; name another with target="
        )
    return tuple(attribute for attribute in header if attribute is not chosen), chosen.states


def _inferred(
    nodes: Sequence[Node],
    columns: Sequence[str],
    states: Mapping[str, Sequence[str]],
    target: str | None,
    file: str | None,
) -> Iterator[Attribute]:
    """The attributes that the output itself shows: the columns it lists, or those that the tree tests."""
    splits: dict[str, list[Split]] = {}
    for node in nodes:
        if isinstance(node, Split):
            splits.setdefault(node.name, []).append(node)
    names, listed_names = list(columns), set(columns)
    if names and (target in names or (target is None and names[-1] not in splits)):
        names.remove(names[-1] if target is None else target or "")
    for name in (*names, *(name for name in splits if name not in listed_names)):
        own_splits = splits.get(name, [])
        numeric = {split.operators[0] == "<=" for split in own_splits}
        if len(numeric) > 1:
            raise FormatError(f"{shown(name)} is tested as a number and as a name", file=file, line=own_splits[-1].line)
        if numeric == {True} or (not own_splits and name not in states):
            yield Attribute(name, "numeric")
        elif name in states:
            yield Attribute(name, "nominal", tuple(states[name]))
        else:
            many = [split for split in own_splits if "!=" not in split.operators]
            if not many:
                raise Unsupported(
                    f"the tree tests {shown(name)} only by = and !=, so its other states are unknown",
                    cure=f"give arff=, the training file, or states={{{name!r}: [...]}}",
                )
            yield Attribute(name, "nominal", tuple(dict.fromkeys(v for split in many for v in split.values)))


def _variables(nodes: Sequence[Node], inputs: Sequence[Attribute], file: str | None) -> list[Variable]:
    kinds = {attribute.name: attribute.kind for attribute in inputs}
    cuts: dict[str, list[float]] = {}
    for node in nodes:
        if isinstance(node, Split):
            wanted = "numeric" if node.operators[0] == "<=" else "nominal"
            kind = kinds.get(node.name)
            if kind is None:
                raise FormatError(
                    f"the tree tests {shown(node.name)}, which the ARFF header does not have"
                    f"{did_you_mean(node.name, kinds)}",
                    file=file,
                    line=node.line,
                )
            if kind != wanted:
                raise FormatError(
                    f"{shown(node.name)} is tested as {wanted}, but is {kind} in the ARFF header",
                    file=file,
                    line=node.line,
                )
            if wanted == "numeric":
                cuts.setdefault(node.name, []).append(_threshold(node, file))
    return [
        Variable.numeric(attribute.name, cuts.get(attribute.name, ()))
        if attribute.states is None
        else Variable.nominal(attribute.name, attribute.states)
        for attribute in inputs
    ]


def _threshold(split: Split, file: str | None) -> float:
    try:
        threshold = float(split.values[0])
        if threshold == threshold and "_" not in split.values[0] and len(set(split.values)) == 1:
            return threshold
    except ValueError:
        pass
    raise FormatError(
        f"{shown(split.name)} is compared with {listed(dict.fromkeys(split.values))}; both sides need one number",
        file=file,
        line=split.line,
    )


def _edges(
    split: Split, variable: Variable, last: int, file: str | None
) -> Iterator[tuple[tuple[tuple[int, int], ...], int]]:
    """The edges of a split; its nodes are numbered from the root on, the graph's from the last node back."""
    children = [last - child for child in split.children]
    if variable.labels is None:
        beyond = variable.state_beyond(Cut(_threshold(split, file)))
        yield ((0, beyond - 1),), children[0]
        yield ((beyond, variable.size - 1),), children[1]
        return
    for operator, value, child in zip(split.operators, split.values, children, strict=True):
        state = variable.state_called(value)
        if state is None:
            raise FormatError(
                f"{shown(split.name)} has no state {shown(value)}; its states are {listed(variable.labels)}"
                f"{did_you_mean(value, variable.labels)}",
                file=file,
                line=split.line,
            )
        if operator == "=":
            yield ((state, state),), child
        else:
            rest = ((0, state - 1), (state + 1, variable.size - 1))
            yield tuple(pair for pair in rest if pair[0] <= pair[1]), child


def _unrounded(nodes: list[Node], table: Table | None) -> tuple[list[Node], set[str]]:
    """The nodes with exact thresholds, and the names of attributes for which the training data leave them unsure.

    A threshold is the one value of the training data that Weka prints so. If no threshold has six decimals, none was
    rounded: one that was would seldom end in zeros.
    """
    numeric = [node for node in nodes if isinstance(node, Split) and node.operators[0] == "<="]
    if not any(_SIX_DECIMALS.fullmatch(split.values[0]) for split in numeric):
        return nodes, set()
    tested = {split.name for split in numeric}
    values = {} if table is None else {name: sorted(column) for name, column in numbers(table, tested).items()}
    exact: list[Node] = []
    unsure = set()
    for node in nodes:
        if isinstance(node, Split) and node.operators[0] == "<=" and _AT_MOST_SIX.fullmatch(node.values[0]):
            printed, known = float(node.values[0]), values.get(node.name, [])
            near = known[bisect_left(known, printed - _HALF_A_DIGIT) : bisect_right(known, printed + _HALF_A_DIGIT)]
            if len(near) == 1:
                exact.append(replace(node, values=(repr(near[0]),) * 2))
                continue
            if near or _SIX_DECIMALS.fullmatch(node.values[0]):
                unsure.add(node.name)
        exact.append(node)
    return exact, unsure


def _rounding_note(unsure: set[str]) -> Iterator[str]:
    if unsure:
        yield (
            "Weka prints thresholds with six decimals at most, so a value within 0.0000005 of one may fall on its"
            f" other side in Weka; arff= with the training data gives the exact ones: {listed(sorted(unsure), 8)}"
        )
