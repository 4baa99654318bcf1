"""What an audit says: one document, which pages, texts and checks are made of (schema `quia/audit/1`).

Every count of rows stands beside the number that it is a share of. What time did not suffice for is None, never a
guess, and `unfinished` says it in words. Rows are numbered from 1 on. Conditions are as `Literal.condition` has them,
instances as plain values, so that each claim can be checked with the model, and the table, alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quia.identity import FileFacts as FileFacts
from quia.look import ByName

SCHEMA = "quia/audit/1"

Value = str | int | float | bool | None
Values = dict[str, Value]
"""An instance: a value for each feature; None for one that is missing."""
Condition = dict[str, Any]
"""What is said of one feature, as `Literal.condition` has it."""


@dataclass(frozen=True, slots=True, repr=False)
class ModelFacts(ByName):
    """A model: where it came from, what it is, how large."""

    file: FileFacts | None
    kind: str
    sizes: dict[str, int]
    classes: tuple[str, ...]
    features: int
    tested: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class DataFacts(ByName):
    """A table: where it came from, and how many rows it has."""

    file: FileFacts | None
    rows: int


@dataclass(frozen=True, slots=True, repr=False)
class Settings(ByName):
    """What was asked: all that the answers depend on beside the model and the table.

    `favourable` are classes, the best first; `orders` are those of nominal features' states, the lowest first; `share`
    is how much of each class rules are to cover; `options` are how the model was read, and `compare_options` the other.
    """

    label: str | None = None
    protected: tuple[str, ...] = ()
    favourable: tuple[str, ...] = ()
    orders: dict[str, tuple[str, ...]] | None = None
    within: dict[str, str] | None = None
    given: tuple[str, ...] = ()
    share: float = 0.9
    timeout: float | None = None
    options: dict[str, Any] | None = None
    compare_options: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Identity(ByName):
    """Which model and table were audited, when, by what, and how."""

    quia: str
    made: str
    case: str | None
    command: str | None
    model: ModelFacts
    data: DataFacts
    compared: ModelFacts | None
    settings: Settings


@dataclass(frozen=True, slots=True, repr=False)
class Share(ByName):
    """So many rows of so many."""

    rows: int
    of: int


@dataclass(frozen=True, slots=True, repr=False)
class Example(ByName):
    """A row of the table, by its number and its values as the table has them."""

    row: int
    values: Values


@dataclass(frozen=True, slots=True, repr=False)
class Pair(ByName):
    """Two instances that are alike but in the `differing` features, and their decisions."""

    one: Values
    other: Values
    differing: tuple[str, ...]
    decisions: tuple[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class Decided(ByName):
    """How many rows, of those that have a decision, have this one."""

    decision: str
    rows: int
    of: int


@dataclass(frozen=True, slots=True, repr=False)
class Undecided(ByName):
    """Why some rows have no decision, and the numbers of the first of them."""

    why: str
    rows: int
    first: tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Confusion(ByName):
    """How the rows with one label were decided."""

    label: str
    rows: int
    decided: dict[str, int]


@dataclass(frozen=True, slots=True, repr=False)
class Labels(ByName):
    """Decisions against labels: of `rows` that have a decision and a class as their label, how many are `right`.

    Of the other rows with a decision, `without` have no label, and `other` has labels that are no class.
    """

    column: str
    rows: int
    right: int
    without: int
    other: dict[str, int]
    confusion: tuple[Confusion, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Decisions(ByName):
    """All rows of the table: how many have a decision, which, and why the others have none."""

    rows: int
    decided: int
    classes: tuple[Decided, ...]
    undecided: tuple[Undecided, ...]
    labels: Labels | None


@dataclass(frozen=True, slots=True, repr=False)
class Rule(ByName):
    """Conditions that force a decision, whatever else an instance is: `rows` meet them.

    `new` of these meet no rule before it in the list; `cumulated` rows meet this one or one before it.
    """

    conditions: tuple[Condition, ...]
    text: str
    rows: int
    new: int
    cumulated: int
    example: Example


@dataclass(frozen=True, slots=True, repr=False)
class Rules(ByName):
    """Few rules that cover what was `wanted` of the rows with a decision; `covered` is what they do cover.

    They were chosen greedily, each as what covers the most of what is left, from the general sufficient reasons of
    `explained` rows; where each of these takes a search, from so many conditions `learned` from the rows, and proved.
    If not `complete`, time ran out before they covered what was wanted.
    """

    decision: str
    of: int
    wanted: int
    covered: int
    explained: int
    complete: bool
    rules: tuple[Rule, ...]
    learned: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Feature(ByName):
    """What a feature does to decisions.

    Whether some decision depends on it (`matters`; False is a proof, and if it is True, two instances that differ in it
    alone are the `pair`); how many decisions it `alone` could change; in how many it is in a `shortest` sufficient
    reason. `why` says why something is not known.
    """

    feature: str
    tested: bool
    matters: bool | None
    pair: Pair | None
    alone: Share | None
    shortest: Share | None
    why: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Group(ByName):
    """People who meet the conditions `where` on protected features: of those with a decision, how they were decided.

    `right` of those `labelled` were decided as their label says.
    """

    name: str
    where: tuple[Condition, ...]
    rows: int
    decided: dict[str, int]
    labelled: int | None = None
    right: int | None = None
    confusion: tuple[Confusion, ...] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Turn(ByName):
    """How many rows are decided so and could be decided otherwise."""

    decision: str
    otherwise: str
    rows: int


@dataclass(frozen=True, slots=True, repr=False)
class GroupHanging(ByName):
    """How many decisions on a group's people hang on protected features; how many would have fared `better` as whom.

    `better` has for other groups how many would get a better decision if they were in that one, all else the same.
    """

    group: str
    rows: int
    of: int
    better: dict[str, int]


@dataclass(frozen=True, slots=True, repr=False)
class Hanging(ByName):
    """How many decisions would change if only protected features changed, from which to which, and for whom.

    They change to other values, not to a missing one.
    `fixed` rows have no possible world that differs in these features alone. A row counts in each turn it could take.
    """

    rows: int
    of: int
    fixed: int
    turns: tuple[Turn, ...]
    groups: tuple[GroupHanging, ...]


@dataclass(frozen=True, slots=True, repr=False)
class WorstCase(ByName):
    """Somebody who would have fared better with other protected features: the row as it is, and as it could be."""

    row: int
    values: Values
    decision: str
    other: Values
    other_decision: str


@dataclass(frozen=True, slots=True, repr=False)
class Proof(ByName):
    """Whether something can happen to any instance: True has a pair that shows it, False is a proof that it cannot.

    None is not known, and `why` says why.
    """

    can: bool | None
    pair: Pair | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Protected(ByName):
    """Protected features, one or several together: decisions by group, what hangs on them, on rows and on any input.

    Those not `in_model` are columns of the table that the model does not know, or does not test: no decision hangs on
    them.
    """

    features: tuple[str, ...]
    in_model: tuple[str, ...]
    groups: tuple[Group, ...]
    hanging: Hanging | None
    worst: tuple[WorstCase, ...]
    depends: Proof
    why: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Monotone(ByName):
    """Whether raising a feature, all else the same, can make a decision worse (`hurts`) or better (`helps`)."""

    feature: str
    order: tuple[str, ...] | None
    hurts: Proof
    helps: Proof


@dataclass(frozen=True, slots=True, repr=False)
class Monotonicity(ByName):
    """What raising features does to decisions; `order` has the classes from the worst to the best, equals together."""

    order: tuple[tuple[str, ...], ...]
    is_assumed: bool
    features: tuple[Monotone, ...]


@dataclass(frozen=True, slots=True, repr=False)
class OldNew(ByName):
    """How many rows the old model decides so and the new one so."""

    old: str
    new: str
    rows: int


@dataclass(frozen=True, slots=True, repr=False)
class GroupDiffering(ByName):
    """How many rows of a group are decided differently by two models."""

    group: str
    rows: int
    of: int


@dataclass(frozen=True, slots=True, repr=False)
class Difference(ByName):
    """Conditions under which the old model always decides so and the new one so; rows are counted as a rule's are."""

    old: str
    new: str
    conditions: tuple[Condition, ...]
    text: str
    rows: int
    new_rows: int
    cumulated: int
    example: Example


@dataclass(frozen=True, slots=True, repr=False)
class Differing(ByName):
    """An instance that two models decide differently."""

    values: Values
    old: str
    new: str


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(ByName):
    """The audited model, which is the old one, beside a new one.

    `inputs` says, a sentence each, how their inputs differ. Of `of` rows that both decide, `rows` are decided
    differently; `undecided` by one or both. `can_differ` is about all inputs: its `can` is False if they are proved
    equivalent. `differences` are regions where they differ, those that cover the most rows first.
    """

    inputs: tuple[str, ...]
    of: int
    rows: int
    undecided: int
    turns: tuple[OldNew, ...]
    groups: tuple[GroupDiffering, ...]
    can_differ: bool | None
    witness: Differing | None
    why: str | None
    differences: tuple[Difference, ...]
    complete: bool


@dataclass(frozen=True, slots=True, repr=False)
class Document(ByName):
    """An audit: the model and the table, and all that was found. `unfinished` are what time did not suffice for."""

    schema: str
    identity: Identity
    seconds: float
    unfinished: tuple[str, ...]
    decisions: Decisions
    rules: tuple[Rules, ...]
    features: tuple[Feature, ...]
    protected: tuple[Protected, ...]
    monotonicity: Monotonicity | None
    comparison: Comparison | None
