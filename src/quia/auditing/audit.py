"""`quia.audit`: a whole model and its decisions on a table, on pages that can be filed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import NoneType
from typing import TYPE_CHECKING, Any

from quia import __version__
from quia.arguments import seconds as seconds_of
from quia.arguments import several
from quia.asking import Terms
from quia.auditing.decisions import decisions_on
from quia.auditing.document import DataFacts, Document, FileFacts, Identity, ModelFacts, Settings
from quia.auditing.reading import from_dict, to_dict
from quia.auditing.rows import read_rows
from quia.auditing.run import Asked, Audited, Compared, weights_of
from quia.auditing.steps import Progress, Steps
from quia.auditing.subject import Subject, orders_of, ranks
from quia.auditing.table import open_table
from quia.auditing.telling import told
from quia.batch.journal import Journal
from quia.classifier import Classifier, loaded
from quia.cuts import number_text
from quia.errors import InstanceError, shown
from quia.files import reading
from quia.identity import file_facts, now
from quia.literal import all_of
from quia.look import Shown, one_line, tagged
from quia.patience import Clock

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Audit(Shown):
    """What was found of a model and its decisions on a table: a `document`, which pages and texts are made of.

    `str()` is a summary, `to_html()` a page that needs nothing else, `to_json()` what `quia verify` checks.
    """

    document: Document

    @property
    def complete(self) -> bool:
        """Whether time sufficed for everything."""
        return not self.document.unfinished

    @staticmethod
    def from_dict(data: Any) -> Audit:
        """An audit from its JSON format."""
        return Audit(from_dict(data))

    def to_dict(self) -> dict[str, Any]:
        """The audit in the JSON format `quia/audit/1`."""
        return to_dict(self.document)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def to_html(self) -> str:
        """The audit as one self-contained HTML file that loads nothing and sends nothing."""
        from quia.show.audit import page

        return page(self.document)

    def plot_groups(
        self, features: str | Collection[str] | None = None, *, ax: Axes | None = None, most: int = 15
    ) -> Axes:
        """Draw the decisions on each group of people by protected `features`, by all together if none are named.

        Needs matplotlib, as all plots do; draws on `ax` if that is given, and returns the Axes.
        """
        from quia.plot.audit_groups import plot_groups

        return plot_groups(self.document, features, ax, most)

    def plot_rules(self, decision: str | None = None, *, ax: Axes | None = None, most: int = 8) -> Axes:
        """Draw how many rows each rule of a decision covers, of the favourable one if none is named."""
        from quia.plot.audit_rules import plot_rules

        return plot_rules(self.document, decision, ax, most)

    def plot_features(self, *, ax: Axes | None = None, most: int = 15) -> Axes:
        """Draw in how many decisions each feature alone could change them, and is in a shortest reason."""
        from quia.plot.audit_features import plot_features

        return plot_features(self.document, ax, most)

    def __str__(self) -> str:
        from quia.show.audit import text

        return text(self.document)

    def __repr__(self) -> str:
        decisions = self.document.decisions
        state = "complete" if self.complete else "unfinished"
        rows = f"{decisions.decided:,} of {decisions.rows:,} rows"
        return tagged("Audit", one_line(self.document.identity.model.kind, 60), rows, state)


def audit(
    classifier: Classifier,
    data: Any,
    /,
    *,
    label: str | None = None,
    protected: Collection[str] = (),
    favourable: str | Sequence[str] = (),
    orders: Mapping[str, Sequence[str]] | None = None,
    compare: Classifier | None = None,
    within: Mapping[str, Any] | None = None,
    given: Any = None,
    share: float = 0.9,
    timeout: float | None = None,
    case: str | None = None,
) -> Audit:
    """What is true of a model as a whole, and of its decisions on a table.

    `data` is a DataFrame, an Arrow table, a list of mappings, or the name of a CSV, Parquet or Arrow file. `label` is
    the column of the right class. `protected` are features, or other columns of the table, by which people must not be
    treated differently. `favourable` is the class that people hope for, or several, the best first; else the last one.
    `orders` are states of nominal features from the lowest to the highest, to be raised as numbers are. `compare` is a
    newer model. `within` and `given` say which worlds are possible, as for `explain`. Rules cover a `share` of the rows
    of each class. What `timeout` seconds in all are not enough for is told as not known. `case` is a text to file it
    by.
    """
    document = run(
        loaded(classifier),
        data,
        Facts(case=case),
        label=label,
        protected=protected,
        favourable=favourable,
        orders=orders,
        compare=None if compare is None else loaded(compare),
        within=within,
        given=given,
        share=share,
        timeout=timeout,
    )
    return Audit(document)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of where an audit's parts came from, which its answers do not depend on."""

    model: FileFacts | None = None
    compared: FileFacts | None = None
    options: dict[str, Any] | None = None
    compare_options: dict[str, Any] | None = None
    command: str | None = None
    case: str | None = None


def run(
    classifier: Classifier,
    data: Any,
    facts: Facts,
    *,
    label: str | None,
    protected: Collection[str],
    favourable: str | Sequence[str],
    orders: Mapping[str, Sequence[str]] | None,
    compare: Classifier | None,
    within: Mapping[str, Any] | None,
    given: Any,
    share: float,
    timeout: float | None,
    journal: Journal | None = None,
    progress: Progress | None = None,
) -> Document:
    """The document of an audit; steps that a journal has are not done again."""
    started, made = monotonic(), now()
    timeout = seconds_of(timeout)
    clock = Clock(timeout)
    if not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise InstanceError(f"share is {shown(share)}; it is a number above 0, at most 1")
    if not isinstance(facts.case, (str, NoneType)):
        raise InstanceError(f"case is {shown(facts.case)}; it is a text to file the audit by")
    names = tuple(dict.fromkeys(several(protected, "protected", "features or columns")))
    best = (favourable,) if isinstance(favourable, str) else several(favourable, "favourable", "classes")
    terms = Terms.of(classifier, within=within, given=given)
    rank = ranks(terms.classes, best)
    path = str(data) if isinstance(data, (str, Path)) else None
    source = None if path is None else data_facts(path)
    also = [*([] if label is None else [label]), *names, *_columns(compare)]
    table = open_table(data if path is None else path, terms, also)
    if label is not None:
        table.require(label, "the label")
        if label in {variable.name for variable in classifier.variables}:
            raise InstanceError(f"the label is {label!r}, which is a feature of the model; name another column")
    for name in names:
        table.require(name, "protected")
        if name == label:
            raise InstanceError(f"{name!r} is the label and protected, too; leave out one of the two")
    rows = read_rows(table, terms, [name for name in dict.fromkeys([label, *names]) if name])
    if not rows.total:
        raise InstanceError("the table has no rows; an audit needs at least one")
    subject = Subject(terms, table, rows, rank)
    compared = None if compare is None else Compared(classifier, compare, within, given)
    asked = Asked(subject, label, names, orders_of(terms.variables, orders), share, not best, compared)
    decisions = decisions_on(rows, terms.classes, label)
    audited = Audited(asked, Steps(clock, weights_of(asked), journal, progress))
    settings = Settings(
        label=label,
        protected=names,
        favourable=best,
        orders=None if orders is None else {name: tuple(states) for name, states in orders.items()},
        within={literal.feature: literal.text for literal in terms.worlds.within.literals} or None,
        given=() if terms.worlds.given is None else tuple(each.text for each in terms.worlds.given.each),
        share=share,
        timeout=timeout,
        options=facts.options,
        compare_options=facts.compare_options,
    )
    identity = Identity(
        __version__,
        made,
        facts.case,
        facts.command,
        model_facts(classifier, facts.model),
        DataFacts(source, rows.total),
        None if compare is None else model_facts(compare, facts.compared),
        settings,
    )
    return told(audited, decisions, identity, round(monotonic() - started, 3))


def data_facts(path: str) -> FileFacts:
    """Which file, or folder of files, a table is."""
    with reading(path):
        Path(path).stat()
    return file_facts(path)


def _columns(compare: Classifier | None) -> list[str]:
    return [] if compare is None else [compare.variables[v].name for v in compare.tested]


def model_facts(classifier: Classifier, file: FileFacts | None) -> ModelFacts:
    """What a model is, and how large."""
    return ModelFacts(
        file,
        classifier.kind,
        dict(classifier.sizes),
        tuple(classifier.classes),
        len(classifier.variables),
        len(classifier.tested),
        (*classifier.notes, *_ranges(classifier)),
    )


def _ranges(classifier: Classifier) -> list[str]:
    """Between which numbers what is proved holds, where numbers are added up as they are."""
    lines = [variable for variable in classifier.variables if variable.is_line and variable.range is not None]
    told = (f"{v.name} from {number_text(v.range[0])} to {number_text(v.range[1])}" for v in lines if v.range)
    return [f"What is proved holds for {all_of(told)}."] if lines else []
