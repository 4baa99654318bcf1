"""Whether a loaded classifier decides as its model does: on the caller's rows, and at and around every threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from quia.additive import Additive
from quia.errors import InstanceError, QuiaError, did_you_mean
from quia.load import load, load_with_predictor
from quia.load.additive_probes import additive_probes, decisions_of, undecided
from quia.load.probes import decision_of, probes

if TYPE_CHECKING:
    from quia.classifier import Classifier

Row = Mapping[str, Any]
Predict = Callable[[Sequence[Row]], Sequence[str | None]]
"""From rows to the model's own class of each; None for a row that the model refuses."""

MOST_SHOWN = 10
PROBES = 2000
"""How many generated rows a model is compared on."""


class Model(NamedTuple):
    """A loaded classifier beside the model's own decisions."""

    classifier: Classifier
    predict: Predict


class Disagreement(NamedTuple):
    """A row on which the two differ; `ours` is None where the loaded classifier refuses the row."""

    row: Row
    ours: str | None
    theirs: str

    def __str__(self) -> str:
        values = list(self.row.items())
        shown = ", ".join(f"{name}={value!r}" for name, value in values[:12]) + (", …" if len(values) > 12 else "")
        ours = "refused" if self.ours is None else f"{self.ours!r}"
        return f"{shown} is {self.theirs!r} for the model, {ours} for what was loaded"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a loaded classifier and its model decided alike; the first few rows on which they did not.

    >>> print(Agreement(rows=3, agreed=3, refused=0, differing=0))
    3 of 3 rows agree
    """

    rows: int
    agreed: int
    refused: int
    differing: int
    disagreements: tuple[Disagreement, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.differing == 0

    def __str__(self) -> str:
        report = f"{self.agreed} of {self.rows - self.refused} rows agree"
        if self.refused:
            report += f"; the model refuses {self.refused} more"
        return "\n".join([report, *(f"  {one}" for one in self.disagreements)])

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "rows": self.rows,
            "agreed": self.agreed,
            "refused": self.refused,
            "differing": self.differing,
            "disagreements": [{"row": dict(d.row), "ours": d.ours, "theirs": d.theirs} for d in self.disagreements],
        }


def generated(classifier: Classifier, limit: int = PROBES) -> list[dict[str, Any]]:
    """At most so many rows at and around the thresholds of a classifier."""
    return (additive_probes if isinstance(classifier, Additive) else probes)(classifier, limit=limit)  # type: ignore[arg-type]


def compare(model: Model, rows: Iterable[Row], *, most_shown: int = MOST_SHOWN) -> Agreement:
    """The agreement on these rows: a row that both refuse agrees, one that only the model refuses counts as refused.

    A row of an additive model agrees also where its scores are equal but for rounding, which is not defined: the
    model's library may add numbers up in any order.
    """
    row_list = list(rows)
    as_instance = getattr(model.predict, "instance", dict)
    instances = [as_instance(row) for row in row_list]
    ours = decisions_of(model.classifier, instances)
    asked = [i for i, decision in enumerate(ours) if decision is not None]
    theirs: list[str | None] = [None] * len(row_list)
    for i, decision in zip(asked, model.predict([instances[i] for i in asked]), strict=True):
        theirs[i] = decision
    refused = sum(own is not None and their is None for own, their in zip(ours, theirs, strict=True))
    differing = [
        Disagreement(row, own, their)
        for row, instance, own, their in zip(row_list, instances, ours, theirs, strict=True)
        if their is not None and own != their and not undecided(model.classifier, instance, own, their)
    ]
    agreed = len(row_list) - refused - len(differing)
    return Agreement(len(row_list), agreed, refused, len(differing), tuple(differing[:most_shown]))


def check(
    source: Any,
    rows: Iterable[Row] = (),
    *,
    predicted: str | None = None,
    limit: int = PROBES,
    format: str | None = None,
    **options: Any,
) -> Agreement:
    """Load a model, and compare it with its own decisions on rows, and at and around its thresholds.

    A live estimator, a skops file or a trusted pickle predicts the rows itself; for any other model `predicted` names
    the column of the rows that holds its decisions.
    """
    if predicted is not None:
        return compare_predicted(load(source, format=format, **options), rows, predicted)
    model = load_with_predictor(source, format=format, **{"check": False, **options})
    return compare(model, [*rows, *generated(model.classifier, limit)])


def check_loaded(model: Model) -> None:
    """Raise an error unless what was loaded decides as the model does, at and around its thresholds."""
    report = compare(model, generated(model.classifier))
    if report.disagreements:
        raise QuiaError(
            f"what was loaded does not decide as the model does: {report.disagreements[0]};"
            " please report this with the model, or load it with check=False if you know better"
        )
    if not report.agreed:
        raise QuiaError(
            f"the model refuses all {report.rows} rows that were generated to compare it with what was loaded;"
            " load it with check=False, and compare it on rows of your own"
        )


def compare_predicted(classifier: Classifier, rows: Iterable[Row], column: str) -> Agreement:
    """The agreement of our classes with the model's own, which a column of the rows holds."""
    row_list = list(rows)
    for row in row_list:
        if column not in row:
            raise InstanceError(
                f"a row has no column {column!r}, which should hold the model's own class{did_you_mean(column, row)}"
            )
    differing = []
    for row in row_list:
        own, their = decision_of(classifier, row), str(row[column])
        if own != their:
            differing.append(Disagreement(row, own, their))
    return Agreement(len(row_list), len(row_list) - len(differing), 0, len(differing), tuple(differing[:MOST_SHOWN]))
