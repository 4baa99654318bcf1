"""XGBoost's dumps, text and JSON: the trees alone, as `booster.dump_model` prints them.

A dump has no base score, no objective and not all columns, so the caller says what it lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quia.cuts import nearest_single
from quia.ensemble import Ensemble
from quia.errors import FormatError, QuiaError, Unsupported, did_you_mean, listed, shown
from quia.files import decode
from quia.load.binary import Column, Test, check_categories, class_names, numbered
from quia.load.ensembles import LEAF, Nodes, assemble, check_sums, simplest
from quia.load.links import logistic_rule, logit
from quia.load.malformed import malformed
from quia.load.regressors import Threshold, cutoff
from quia.sums import Rule, Sums

if TYPE_CHECKING:
    from quia.classifier import Classifier

OPTIONS = ("base_score", "categories", "classes", "features", "missing", "threshold")

_LINE = re.compile(
    r"[ \t]*(\d+):"
    r"(?:\[([^\n<\[\]]+?)(?:<([^\]\n]+)|:\{([\d,]*)\})\] yes=(\d+),no=(\d+),missing=(\d+)"
    r"|leaf=([^,\[\n]+|\[[^\]\n]*\]))"
    r"(?:,(?:gain|cover)=[^,\n]*)*[ \t]*\n"
)
_BOOSTER = re.compile(r"booster\[\d+\]:?[^\n]*\n")
_END = re.compile(r"\s*\Z")
_NUMBERED = re.compile(r"f(\d{1,9})")


class _Node(NamedTuple):
    """A node as it is printed, in strings or numbers; of a leaf only `number` and `leaf` are given."""

    number: Any
    split: str
    threshold: Any
    codes: Any
    yes: Any
    no: Any
    missing: Any
    leaf: Any


def read(
    data: bytes,
    file: str | None = None,
    *,
    features: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    base_score: float | Sequence[float] = 0.5,
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: bool = True,
    threshold: Threshold | None = None,
) -> Classifier:
    """The classifier of an XGBoost dump.

    `features` are all columns in their order; the dump has their names, or numbers f0, f1, …. `classes` are the
    names of two classes (0 and 1, if none are given) or more, whose trees come in turn. `base_score` is XGBoost's
    parameter of that name: of two classes the chance of the second, so that 0.5 adds nothing to the sum, whose sign
    decides; of more classes what each sum begins with, the same for all or one for each; the greatest sum decides.
    With a `threshold` the dump is of a regressor, whose prediction is the sum of base score and leaves. `categories`
    names the codes 0, 1, … of categorical columns; with `missing=False` there is no state for a missing value.
    """
    with malformed("a dump of XGBoost", file):
        text = decode(data, file).replace("\r\n", "\n")
        trees = _json_trees(text) if text.lstrip("\ufeff \t\n")[:1] == "[" else _text_trees(text)
        columns = _Columns(features)
        nodes, names = columns.in_order(_nodes(trees, columns.number))
        check_categories(categories or {}, names)
        labels, sums = _sums(nodes, classes, base_score, threshold)
        check_sums(nodes, sums)
        named = [Column(name, single=True, categories=_of(categories, name)) for name in names]
        variables, made = assemble(named, nodes, missing=missing, file=file)
        return simplest(Ensemble(variables, labels, made, sums, kind="boosted trees"))


def _of(categories: Mapping[str, Sequence[str]] | None, name: str) -> tuple[str, ...] | None:
    return tuple(categories[name]) if categories is not None and name in categories else None


def _text_trees(text: str) -> Iterator[list[_Node]]:
    """The nodes of each tree of a text dump; a line that cannot be read is an error."""
    at, text = 0, text if text.endswith("\n") else text + "\n"
    while begins := _BOOSTER.match(text, at):
        at = begins.end()
        nodes = []
        while line := _LINE.match(text, at):
            nodes.append(_Node(*line.groups()))
            at = line.end()
        if not nodes or not (_BOOSTER.match(text, at) or _END.match(text, at)):
            raise _unreadable(text, at)
        yield nodes


def _unreadable(text: str, at: int) -> QuiaError:
    """What is said of a line that no dump has."""
    line = text[at:].partition("\n")[0]
    if re.match(r"\s*\d+:\[[^<:]*\] yes=", line):
        return Unsupported(
            f"the dump has a test of an indicator, {shown(line.strip())}",
            cure="dump it without a feature map, or with q in place of i",
        )
    return FormatError(f"line {text.count(chr(10), 0, at) + 1} of the dump is {shown(line)}")


def _json_trees(text: str) -> Iterator[list[_Node]]:
    """The nodes of each tree of a JSON dump, which are in each other: without that, they are a list, roots first.

    So no depth is too deep to be read.
    """
    flat = re.sub(r',?\s*"children"\s*:\s*\[', "},", text)
    flat = re.sub(r"(?<=\})(?:\s*\]\s*\})+", "", flat)
    nodes: list[_Node] = []
    for node in json.loads(flat, object_hook=_from_json):
        if not isinstance(node, _Node):
            raise ValueError(f"{shown(node)} is no node")
        if node.number == 0 and nodes:
            yield nodes
            nodes = []
        nodes.append(node)
    yield nodes


def _from_json(parsed: dict[str, Any]) -> _Node:
    if "leaf" in parsed:
        return _Node(parsed["nodeid"], "", None, None, None, None, None, parsed["leaf"])
    if "split_condition" not in parsed:
        raise Unsupported("the dump has a test of an indicator", cure="dump it without a feature map")
    condition = parsed["split_condition"]
    threshold, codes = (None, condition) if isinstance(condition, list) else (condition, None)
    ends = (parsed["yes"], parsed["no"], parsed["missing"])
    return _Node(parsed["nodeid"], str(parsed["split"]), threshold, codes, *ends, None)


class _Columns:
    """The columns that a dump mentions, by name or number."""

    def __init__(self, features: Sequence[str] | None) -> None:
        self.features = None if features is None else [str(name) for name in features]
        if self.features is not None and len(set(self.features)) != len(self.features):
            raise Unsupported(f"features are {listed(self.features)}", cure="give different names")
        self.places = {name: index for index, name in enumerate(self.features or ())}
        self.mentioned: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a column."""
        if self.features is None:
            return self.mentioned.setdefault(name, len(self.mentioned))
        place = self.places.get(name)
        if place is None and (counted := _NUMBERED.fullmatch(name)) and int(counted[1]) < len(self.features):
            place = self.places[name] = int(counted[1])
        if place is None:
            raise Unsupported(
                f"the dump tests {shown(name)}, which is none of {len(self.features)} features"
                f"{did_you_mean(name, self.features)}",
                cure="give all columns in their order, with the names of the dump, or where it has f0, f1, … any names",
            )
        return place

    def in_order(self, nodes: Nodes) -> tuple[Nodes, list[str]]:
        """The nodes, and the names of all columns: without `features` f0, f1, … up to the last that is mentioned."""
        if self.features is not None:
            return nodes, self.features
        counted = [_NUMBERED.fullmatch(name) for name in self.mentioned]
        places = np.array([int(number[1]) for number in counted if number], np.int64)
        if len(places) < len(self.mentioned):
            return nodes, list(self.mentioned)
        names = numbered(int(places.max(initial=-1)) + 1, "f")
        tests = [replace(test, column=int(places[test.column])) for test in nodes.tests]
        column = places[nodes.column] if len(places) else nodes.column
        return nodes._replace(column=column, tests=tests), names


def _nodes(trees: Iterator[list[_Node]], column_of: Callable[[str], int]) -> Nodes:
    """The nodes of all trees as arrays."""
    tests: dict[Test, int] = {}
    parts = [_arrays(tree, column_of, tests) for tree in trees]
    if not parts:
        raise ValueError("it has no trees")
    yes, no, column, threshold, missing, special = (np.concatenate([part[i] for part in parts]) for i in range(6))
    widths = {part[6].shape[1] for part in parts}
    if len(widths) > 1:
        raise ValueError(f"leaves have {listed(sorted(widths))} values")
    values = np.concatenate([part[6] for part in parts])
    start = np.cumsum([0, *(len(part[0]) for part in parts)])
    return Nodes(start, yes, no, column, threshold, missing, values, special=special, tests=list(tests))


def _arrays(tree: list[_Node], column_of: Callable[[str], int], tests: dict[Test, int]) -> tuple[Any, ...]:
    """One tree; its nodes are counted from 0 as they come."""
    number, split, threshold, codes, yes, no, missing, leaf = zip(*tree, strict=True)
    ids = _integers(number)
    order = np.argsort(ids, kind="stable")
    if ids[0] != 0 or (np.diff(ids[order]) == 0).any():
        raise ValueError("a tree does not begin with node 0, or has a node twice")
    inner = np.array([value is None for value in leaf])
    place = np.full((3, len(tree)), LEAF, np.int64)
    for ends, row in zip((yes, no, missing), place, strict=True):
        wanted = _integers([end for end, is_inner in zip(ends, inner.tolist(), strict=True) if is_inner])
        found = order[np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)]
        if (ids[found] != wanted).any():
            raise ValueError("a node leads to a node that is not there")
        row[inner] = found
    if ((place[2] != place[0]) & (place[2] != place[1])).any():
        raise ValueError("a missing value goes neither to yes nor to no")
    column = np.array([column_of(name) if name else 0 for name in split], np.int64)
    special = np.full(len(tree), -1, np.int64)
    for index, listing in enumerate(codes):
        if listing is not None:
            chosen = frozenset(map(int, listing if isinstance(listing, list) else filter(None, listing.split(","))))
            to_yes = bool(place[2, index] == place[0, index])
            test = Test(int(column[index]), 0, 0, missing=to_yes, codes=chosen)
            special[index] = tests.setdefault(test, len(tests))
    # Nine digits tell all 32-bit numbers apart.
    cuts = _singles([0 if value is None else value for value in threshold])
    values = _values(leaf)
    return place[0], place[1], column, cuts, place[2] == place[0], special, values


def _integers(values: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    if any(type(value) is not str and type(value) is not int for value in values):
        raise ValueError("a node has a number that is no integer")
    return np.array([int(value) for value in values], np.int64)


def _singles(values: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    with np.errstate(over="ignore"):
        return np.array([float(value) for value in values], np.float64).astype(np.float32).astype(np.float64)


def _values(leaves: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A row for each node: the value of a leaf, or several."""
    several = [
        leaf if isinstance(leaf, list) else leaf.strip("[]").split(",")
        for leaf in leaves
        if isinstance(leaf, list) or (isinstance(leaf, str) and leaf.startswith("["))
    ]
    if not several:
        return _singles([0 if leaf is None else leaf for leaf in leaves])[:, None]
    if len(several) != sum(leaf is not None for leaf in leaves) or len({len(each) for each in several}) > 1:
        raise ValueError("leaves differ in how many values they have")
    table = np.zeros((len(leaves), len(several[0])))
    rows = [index for index, leaf in enumerate(leaves) if leaf is not None]
    table[rows] = _singles([value for each in several for value in each]).reshape(len(rows), -1)
    return table


def _sums(
    nodes: Nodes, classes: Sequence[str] | None, base_score: float | Sequence[float], threshold: Threshold | None
) -> tuple[tuple[str, ...], Sums]:
    """The names of the classes, and how leaves are added and tell them."""
    trees, width = len(nodes.start) - 1, nodes.values.shape[1]
    given = [base_score] if isinstance(base_score, (int, float)) else list(base_score)
    scores = [nearest_single(float(score)) for score in given]
    if threshold is not None:
        names, rule = cutoff(threshold, classes, single=True)
        count = 1
    else:
        names = tuple(class_names(classes, len(classes) if classes is not None else max(width, 2)))
        count = len(names) if len(names) > 2 or width > 1 else 1
        rule = logistic_rule() if count == 1 else Rule("softmax32")
    if len(names) < 2 or (count == 1 and len(scores) != 1) or (count > 1 and len(scores) not in (1, count)):
        raise Unsupported(
            f"there are {len(names)} classes and the base scores {listed(scores)}",
            cure="give two classes or more, and one base score, or one for each of three classes or more",
        )
    if width not in (1, count) or (width == 1 and trees % count):
        raise Unsupported(
            f"the dump has {trees} trees with {width} values at a leaf, which do not go round {len(names)} classes",
            cure="give the names of as many classes as a round has trees",
        )
    start = scores * count if len(scores) == 1 else scores
    if count == 1 and threshold is None:
        if not 0 <= start[0] <= 1:
            raise Unsupported(f"the base score is {start[0]}", cure="give the chance of the second class, as 0.5")
        start = [logit(start[0])]
    outputs = tuple(tree % count for tree in range(trees)) if width == 1 else (-1,) * trees
    return names, Sums(outputs, tuple(start), rule, single=True)
