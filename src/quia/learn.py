"""Learning a tree for those who have only data: scikit-learn's by default, or Weka's J48."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from quia.errors import FormatError, Unsupported, listed, shown
from quia.learn_pruning import FOLDS
from quia.tables import Table, Task, number_with_comma
from quia.values import is_missing

if TYPE_CHECKING:
    from quia.graph import DecisionGraph
    from quia.learn_pruning import Pruning


@dataclass(frozen=True, slots=True)
class Report:
    """What was learned from what, and how well it does on rows it has not seen.

    `right_learned` are the rows that it learned from and decides as they say (None where nobody counted them);
    `pruning` is what cross-validation chose, if it was asked. `left_out` are the columns of texts that only name the
    rows; `grouped` are those of whose many values the rare ones are one state.
    """

    learner: str
    target: str
    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    learned_from: int
    tested_on: int
    right: int
    dropped: int
    nodes: int
    leaves: int
    left_out: tuple[str, ...] = ()
    grouped: tuple[str, ...] = ()
    right_learned: int | None = None
    pruning: Pruning | None = None

    @property
    def accuracy(self) -> float | None:
        """The share of the unseen rows that are decided as they should be."""
        return self.right / self.tested_on if self.tested_on else None

    @property
    def accuracy_learned(self) -> float | None:
        """The share of the rows learned from that are decided as they say: never less than what others will see."""
        return None if self.right_learned is None else self.right_learned / self.learned_from

    def __str__(self) -> str:
        lines = [
            f"{self.learner} learned {self.target!r} from {self.learned_from:,} rows:"
            f" {_counted(self.nodes, 'node')}, {_counted(self.leaves, 'leaf', 'leaves')}",
            f"{_counted(len(self.numeric), 'numeric column')}, {_counted(len(self.nominal), 'nominal column')}",
            *self._chosen(),
            *self._accuracies(),
        ]
        if self.dropped:
            were = "was" if self.dropped == 1 else "were"
            lines.append(f"{_counted(self.dropped, 'row')} without a {self.target!r} {were} left out")
        if self.left_out:
            lines.append(f"left out, as their texts differ in nearly every row: {listed(self.left_out)}")
        if self.grouped:
            lines.append(f"rare values of columns with very many are one state, 'any other': {listed(self.grouped)}")
        return "\n".join(lines)

    def _chosen(self) -> Iterator[str]:
        """How large the tree was left, and why."""
        if self.pruning is None:
            return
        found = self.pruning
        of = "" if found.rows == self.learned_from else f" of {found.rows:,} rows drawn from these"
        if found.strength:
            yield (
                f"pruned from {found.nodes:,} nodes: the smallest tree within one standard error of the best in"
                f" {FOLDS}-fold cross-validation{of} (ccp_alpha {found.strength:.2g})"
            )
        else:
            yield f"not pruned: no smaller tree is as good in {FOLDS}-fold cross-validation{of}"

    def _accuracies(self) -> Iterator[str]:
        """How often it is right, on rows that it has seen and on others."""
        if self.pruning is not None:
            found = self.pruning
            yield f"right in cross-validation: {found.accuracy:.1%} (best {found.best:.1%}, unpruned {found.full:.1%})"
        if self.accuracy_learned is not None:
            yield f"right on the rows learned from: {self.accuracy_learned:.1%}"
        if self.accuracy is not None:
            yield f"right on {_counted(self.tested_on, 'row')} kept apart: {self.accuracy:.1%}"


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


@dataclass(frozen=True, slots=True)
class Learned:
    """A learned classifier and its report."""

    classifier: DecisionGraph
    report: Report


def learn(
    table: Table,
    *,
    target: str | None = None,
    learner: Literal["sklearn", "j48"] = "sklearn",
    kept_apart: float = 0.15,
    seed: int = 0,
    max_depth: int | None = None,
    min_rows: int = 5,
    prune: bool = True,
    weka_jar: str | None = None,
) -> Learned:
    """A decision tree for the target column, by default the last one.

    A share of the rows, `kept_apart`, is not learned from but tested on. `max_depth` (scikit-learn only) and
    `min_rows`, the fewest rows in a leaf, bound the tree. Within these, scikit-learn's is pruned as far as
    cross-validation finds it as good, so that it learns no single row by heart; not with `prune=False`. J48, which
    prunes in its own way, needs Java and a weka.jar, found by itself or given. A column of texts that differ in nearly
    every row (more than twenty of them, and more than nine for ten rows)
    is left out, and the report says so.
    """
    if learner not in ("sklearn", "j48"):
        raise Unsupported(f"there is no learner {shown(learner)}", cure="use 'sklearn' or 'j48'")
    if not 0 <= kept_apart < 1:
        raise Unsupported(f"kept_apart is {shown(kept_apart)}", cure="give a share of the rows, from 0 up to 1")
    if learner == "j48" and max_depth is not None:
        raise Unsupported("J48 has no greatest depth", cure="use min_rows to keep its tree small")
    if learner == "j48" and not prune:
        raise Unsupported("J48 prunes in its own way", cure="leave out prune=False, or --no-prune on the command line")
    _check_whole("min_rows", min_rows, least=1)
    _check_whole("max_depth", 1 if max_depth is None else max_depth, least=1)
    _check_whole("seed", seed, least=0)
    goal = table.index(target) if target is not None else len(table.names) - 1
    labelled = [row for row in table.rows if not is_missing(row[goal])]
    random.Random(seed).shuffle(labelled)
    tested = labelled[: int(len(labelled) * kept_apart)]
    trained = labelled[len(tested) :]
    if len({row[goal] for row in trained}) < 2:
        where = " among the rows that are not kept apart" if len({row[goal] for row in labelled}) > 1 else ""
        raise FormatError(
            f"column {table.names[goal]!r} has fewer than two classes{where}, so there is nothing to learn"
        )
    task = Task(table, goal, tuple(trained))
    _refuse_decimal_commas(task)
    if not task.inputs:
        texts = listed(table.names[index] for index in sorted(task.identifiers))
        which = f"but texts that differ in nearly every row ({texts})" if texts else "with values"
        raise FormatError(f"there is no column {which} beside {table.names[goal]!r}, so there is nothing to learn")
    _refuse_large_numbers(task)
    dropped = len(table.rows) - len(labelled)
    if learner == "sklearn":
        from quia.learn_sklearn import by_sklearn

        tree = by_sklearn(task, max_depth=max_depth, min_rows=min_rows, seed=seed, prune=prune)
        report = replace(
            _report(learner, task, tree.graph, tested, dropped),
            grouped=tuple(table.names[index] for index in tree.grouped),
            right_learned=tree.right,
            pruning=tree.pruning,
        )
        return Learned(tree.graph, report)
    from quia.learn_j48 import by_j48

    classifier = by_j48(task, min_rows=min_rows, jar=weka_jar)
    return Learned(classifier, _report(learner, task, classifier, tested, dropped))


def _check_whole(name: str, value: Any, *, least: int) -> None:
    most = 2**31 - 1  # what the learners can hold
    if not isinstance(value, Integral) or not least <= int(value) <= most:
        raise Unsupported(f"{name} is {shown(value)}", cure=f"give a whole number from {least} to {most}")


def _refuse_decimal_commas(task: Task) -> None:
    """Refuse numbers that would silently be taken for hundreds of names."""
    for index in sorted((*task.inputs, *task.identifiers)):
        texts = task.table.column(index)
        found = number_with_comma(texts)
        if found is not None and len(set(texts)) > _FEW:
            raise FormatError(
                f"column {task.table.names[index]!r} has numbers with commas, such as {shown(found)};"
                " write them with decimal points"
            )


_FEW = 20  # so many different ones may well be names, such as 1,2 for two choices


def _refuse_large_numbers(task: Task) -> None:
    kinds = task.table.kinds()
    for index in task.inputs:
        if kinds[index] == "numeric":
            for text in task.table.column(index):
                if not is_missing(text) and abs(float(text)) > _LARGEST:
                    raise FormatError(
                        f"column {task.table.names[index]!r} has {shown(text)}, which no learner can hold; write it in"
                        " another unit"
                    )


_LARGEST = 3.4e38  # of 32 bits


def _report(
    learner: str, task: Task, classifier: DecisionGraph, tested: Sequence[tuple[str, ...]], dropped: int
) -> Report:
    names, kinds = task.table.names, task.table.kinds()
    right = 0
    for row in tested:
        right += _decides(classifier, dict(zip(names, row, strict=True)), row[task.goal])
    leaves = int((classifier.tests < 0).sum())
    by_kind = {
        kind: tuple(names[index] for index in task.inputs if kinds[index] == kind) for kind in ("numeric", "nominal")
    }
    return Report(
        {"sklearn": "scikit-learn", "j48": "J48"}[learner],
        names[task.goal],
        by_kind["numeric"],
        by_kind["nominal"],
        len(task.rows),
        len(tested),
        right,
        dropped,
        len(classifier),
        leaves,
        tuple(names[index] for index in sorted(task.identifiers)),
    )


def _decides(classifier: DecisionGraph, row: dict[str, str], label: str) -> bool:
    from quia.errors import InstanceError

    try:
        return classifier.classify(row) == label
    except InstanceError:  # J48 has no one path for a row that lacks a value
        return False
