"""Claims about which model and table were audited, and about the decisions on all rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from quia.auditing.check_rows import NONE, OTHER, Bools, Rows
from quia.auditing.checked import Claim, NotChecked, Wrong
from quia.auditing.document import Confusion, Decisions, FileFacts, Labels, ModelFacts, Undecided
from quia.classifier import Classifier
from quia.errors import listed, shown
from quia.files import reading
from quia.patience import Clock

_BLOCK = 2**20
_FIRST = 10


def file_claims(place: str, what: str, facts: FileFacts, path: str | None) -> Iterator[Claim]:
    """That a file is the one that was audited."""

    def check(_: Clock) -> None:
        if path is None:
            raise NotChecked(f"the file of {what} is not given")
        if Path(path).is_dir():
            raise NotChecked(f"{path} is a folder")
        sha256, size = _digest(path)
        if sha256 != facts.sha256.lower():
            raise Wrong(f"the SHA-256 of {path} is {sha256}")
        if size != facts.bytes:
            raise Wrong(f"{path} has {size:,} bytes")
        if facts.name != Path(facts.path).name:
            raise Wrong(f"the path {shown(facts.path)} has another name")

    said = f"the file of {what}, {facts.name}, has {facts.bytes:,} bytes and the SHA-256 {facts.sha256}"
    yield Claim(f"{place}.file", said, check)


def sha256_of(path: str) -> str:
    """The SHA-256 of a file."""
    return _digest(path)[0]


def _digest(path: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with reading(path), open(path, "rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def model_claims(place: str, facts: ModelFacts, classifier: Classifier | None) -> Iterator[Claim]:
    """That a model is what is said."""

    def given() -> Classifier:
        if classifier is None:
            raise NotChecked("the other model is not given")
        return classifier

    def check_kind(_: Clock) -> None:
        expect(facts.kind, given().kind)
        for name, number in facts.sizes.items():
            if given().sizes.get(name) != number:
                raise Wrong(f"it has {given().sizes.get(name)} {name}")

    def check_classes(_: Clock) -> None:
        if facts.classes != tuple(given().classes):
            raise Wrong(f"its classes are {listed(given().classes)}")

    def check_features(_: Clock) -> None:
        expect(facts.features, len(given().variables))
        expect(facts.tested, len(given().tested))

    sizes = "".join(f", {number:,} {name}" for name, number in facts.sizes.items())
    yield Claim(f"{place}.kind", f"the model is: {facts.kind}{sizes}", check_kind)
    yield Claim(f"{place}.classes", f"its classes are {listed(facts.classes)}", check_classes)
    features = f"it has {facts.features:,} features, of which {facts.tested:,} are tested"
    yield Claim(f"{place}.features", features, check_features)


def decisions_claims(said: Decisions, rows: Rows | None) -> Iterator[Claim]:
    """The decisions on all rows, recounted."""

    def check_rows(_: Clock) -> None:
        table = needed(rows)
        expect(said.rows, len(table))
        expect(said.decided, int(table.is_decided.sum()), "have a decision")

    def check_classes(_: Clock) -> None:
        table = needed(rows)
        counted = by_class(table, table.is_decided)
        names = [each.decision for each in said.classes]
        if len(set(names)) < len(names):
            raise Wrong(f"a class is counted twice: {listed(names)}")
        expect_counts({each.decision: each.rows for each in said.classes}, counted)
        for each in said.classes:
            expect(each.of, int(table.is_decided.sum()), "have a decision")

    def check_undecided(_: Clock) -> None:
        _check_undecided(said.undecided, needed(rows))

    yield Claim("decisions", f"of {said.rows:,} rows {said.decided:,} have a decision", check_rows)
    told = listed(f"{each.rows:,} {each.decision}" for each in said.classes)
    yield Claim("decisions.classes", f"they are decided: {told}", check_classes)
    missing = listed(f"{each.rows:,} as {each.why}" for each in said.undecided) or "none"
    yield Claim("decisions.undecided", f"rows without a decision: {missing}", check_undecided)
    if said.labels is not None:
        labels = said.labels
        told = f"of {labels.rows:,} rows with a class in {labels.column}, {labels.right:,} are decided so"
        yield Claim("decisions.labels", told, lambda _: _check_labels(labels, needed(rows)))


def _check_undecided(said: tuple[Undecided, ...], rows: Rows) -> None:
    """Rows without a decision by what is said of them; one that gathers all other reasons may be the last."""
    left: dict[str, Any] = {}
    for at, message in enumerate(rows.faults.messages):
        found = np.flatnonzero(rows.faults.code == at) + 1
        if len(found):
            left[message] = np.sort(np.concatenate([left.get(message, found[:0]), found]))
    for each in said:
        if each.why in left:
            found = left.pop(each.why)
        elif each is said[-1] and len(left) > 1:
            found = np.sort(np.concatenate(list(left.values())))
            left.clear()
        else:
            raise Wrong(f"no row lacks a decision because {shown(each.why)}; reasons are {listed(left, most=3) or 0}")
        expect(each.rows, len(found), f"have none as {each.why}")
        if list(each.first) != found[: len(each.first)].tolist() or not each.first:
            raise Wrong(f"the first such rows are {listed(found[:_FIRST].tolist())}")
    if left:
        message, found = next(iter(left.items()))
        raise Wrong(f"{len(found):,} more rows have no decision: {message}")


def _check_labels(said: Labels, rows: Rows) -> None:
    labels, others = rows.labels(said.column)
    check_right(said.rows, said.right, said.confusion, rows, rows.is_decided, said.column)
    without = int(((labels == NONE) & rows.is_decided).sum())
    counts = {name: int((which & rows.is_decided).sum()) for name, which in others.items()}
    counts = {name: number for name, number in counts.items() if number}
    if (said.without, {name: n for name, n in said.other.items() if n}) != (without, counts):
        raise Wrong(f"{without:,} rows with a decision have no label, and other labels are {shown(counts)}")


def check_right(
    counted: int, right: int, confusion: tuple[Confusion, ...] | None, rows: Rows, among: Bools, column: str
) -> None:
    """Raise Wrong unless some of the decided rows have so many labels, and are decided so by these."""
    labels, _ = rows.labels(column)
    known = among & rows.is_decided & (labels > min(NONE, OTHER)) & (labels >= 0)
    expect(counted, int(known.sum()), "have a decision and a class as their label")
    expect(right, int((known & (labels == rows.decision)).sum()), "are decided as their label says")
    if confusion is None:
        return
    classes = rows.world.terms.classes
    names = [each.label for each in confusion]
    if len(set(names)) < len(names):
        raise Wrong(f"a label is counted twice: {listed(names)}")
    wanted = {name: int((known & (labels == at)).sum()) for at, name in enumerate(classes)}
    expect_counts({each.label: each.rows for each in confusion}, wanted)
    for each in confusion:
        of_label = known & (labels == rows.world.class_index(each.label))
        expect_counts(each.decided, by_class(rows, of_label), f" of those labelled {each.label}")


def by_class(rows: Rows, among: Bools) -> dict[str, int]:
    """How many of some rows have each class."""
    return {name: int((among & (rows.decision == at)).sum()) for at, name in enumerate(rows.world.terms.classes)}


def needed(rows: Rows | None) -> Rows:
    """The table, which a claim cannot be checked without."""
    if rows is None:
        raise NotChecked("no table is given")
    return rows


def expect(said: Any, right: Any, what: str = "") -> None:
    """Raise Wrong unless two are equal."""
    if said != right:
        shown_right = f"{right:,}" if isinstance(right, int) else str(right)
        raise Wrong(f"it is {shown_right}{f' that {what}' if what else ''}, not {said}")


def expect_counts(said: Mapping[str, int], right: Mapping[str, int], of: str = "") -> None:
    """Raise Wrong unless two say the same numbers; what is not there is 0."""
    for name in {**right, **said}:
        if said.get(name, 0) != right.get(name, 0):
            raise Wrong(f"{name} are {right.get(name, 0):,}{of}, not {said.get(name, 0):,}")
