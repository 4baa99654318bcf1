"""Trees and what is possible of their rows: constraints that two tables really have, and generated ones of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.kernel import spread_out
from benchmarks.worlds_rules import Fact, Possible, Rule, implies, is_one_of, same

if TYPE_CHECKING:
    from benchmarks.widths_models import Subject
    from quia.graph import DecisionGraph

LEVELS = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
    *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
"""The levels of education of the adult table, in the order of their numbers, which begin with 1."""
_MARRIED = is_one_of("marital-status", "Married-civ-spouse")
_AT_HOME = is_one_of("relationship", "Husband", "Wife", "Own-child", "Other-relative", "Not-in-family")
_SPOUSE = is_one_of("marital-status", "Married-civ-spouse", "Married-AF-spouse")
ADULT = Possible(
    (
        *(
            same(is_one_of("education", level), Fact("education-num", "=", number))
            for number, level in enumerate(LEVELS, 1)
        ),
        implies(_MARRIED, _AT_HOME),
        implies(is_one_of("relationship", "Husband", "Wife"), _SPOUSE),
        implies(is_one_of("relationship", "Husband"), is_one_of("sex", "Male")),
        implies(is_one_of("relationship", "Wife"), is_one_of("sex", "Female")),
    ),
    only_up=("age", "education-num"),
)
"""A number of education is that of its level, husbands and wives are married, and nobody gets younger or forgets."""
COMPAS = Possible(
    (
        same(is_one_of("age_cat_Lessthan25", "1"), Fact("age", "<", 25)),
        same(is_one_of("age_cat_25-45", "1"), Fact("age", ">=", 25), Fact("age", "<", 45)),
        same(is_one_of("age_cat_Greaterthan45", "1"), Fact("age", ">=", 45)),
        same(is_one_of("race_African-American", "1"), is_one_of("race_Caucasian", "0")),
        same(is_one_of("c_charge_degree_F", "1"), is_one_of("c_charge_degree_M", "0")),
    ),
    only_up=("age",),
)
"""Columns that one category was spread over say the same, its numbers too, and nobody gets younger."""
KNOWN = {"adult": ADULT, "compas": COMPAS}

MOST_USED = 40
"""Features that a tree tests most, among which implications are looked for."""
MOST_CUTS = 8
MOST_RULES = 6
FEWEST = 10
"""Rows in which the premise of a generated implication must hold, and rows in which its conclusion must not."""
BOUNDED = 4
"""Features that are bounded by the numbers of the table."""


def possible_of(subject: Subject) -> Possible:
    """What is said to be possible of a tree's rows: by its name, or generated."""
    name = subject.name.partition(",")[0]
    return KNOWN[name] if name in KNOWN else generated(subject)


def generated(subject: Subject) -> Possible:
    """Plausible constraints: what is so in all rows of the table, of numbers that the tree tests most.

    The first of these can only go up and the second only down; the next ones stay within the table's numbers; and
    implications at cuts of the tree hold in all rows, those first that chance would break in the most rows.
    """
    graph = subject.classifier
    used = Counter(v for v in graph.tests.tolist() if v >= 0 and graph.variables[v].is_numeric)
    chosen = [v for v, _ in sorted(used.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_USED]]
    columns = {v: _numbers(subject, graph.variables[v].name) for v in chosen}
    names = [graph.variables[v].name for v in chosen]
    bounds = [(v, columns[v][np.isfinite(columns[v])]) for v in chosen[2 : 2 + BOUNDED]]
    return Possible(
        tuple(_implications(graph, columns)),
        tuple((graph.variables[v].name, float(numbers.min()), float(numbers.max())) for v, numbers in bounds),
        only_up=tuple(names[:1]),
        only_down=tuple(names[1:2]),
    )


def _numbers(subject: Subject, name: str) -> npt.NDArray[np.float64]:
    """A column of the table; what is missing is no number."""
    values = subject.reference.column(name).to_pylist()
    return np.array([np.nan if value in (None, "", "?") else float(value) for value in values])


def _implications(graph: DecisionGraph, columns: dict[int, npt.NDArray[np.float64]]) -> Iterator[Rule]:
    """Implications between two features that hold in all rows, at most one of each pair, the most surprising first."""
    facts = {v: list(_facts(graph, v)) for v in columns}
    holds = {v: np.array([_holds(fact, columns[v]) for fact in facts[v]], np.float32) for v in columns}
    fails = {v: np.isfinite(columns[v]).astype(np.float32) - holds[v] for v in columns}
    found: list[tuple[float, int, int, Rule]] = []
    for a, b in permutations((v for v in columns if facts[v]), 2):
        premises, broken = holds[a].sum(1), fails[b].sum(1)  # sums of so few ones are exact
        is_telling = np.outer(premises >= FEWEST, broken >= FEWEST)
        surprise = np.where(is_telling & (holds[a] @ fails[b].T == 0), np.outer(premises, broken), 0)
        best = divmod(int(surprise.argmax()), surprise.shape[1])
        if surprise[best]:
            found.append((-float(surprise[best]), a, b, implies(facts[a][best[0]], facts[b][best[1]])))
    pairs: set[frozenset[int]] = set()
    for _, a, b, rule in sorted(found, key=lambda each: each[:3]):
        if len(pairs) < MOST_RULES and frozenset((a, b)) not in pairs:
            pairs.add(frozenset((a, b)))
            yield rule


def _facts(graph: DecisionGraph, v: int) -> Iterator[Fact]:
    """Both sides of some cuts that a tree has of a number."""
    variable = graph.variables[v]
    for cut in (variable.cuts[place] for place in spread_out(len(variable.cuts), MOST_CUTS)):
        for sign in ("<=", ">") if cut.after else ("<", ">="):
            yield Fact(variable.name, sign, cut.threshold)


def _holds(fact: Fact, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    compared: dict[str, Any] = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    return np.asarray(compared[fact.sign](numbers, fact.number))


@dataclass(frozen=True, eq=False)
class Asked:
    """The rows of which questions are asked, and how many were left out as they are impossible themselves."""

    rows: list[dict[str, Any]]
    left_out: int


def rows_of(subject: Subject, possible: Possible, most: int) -> Asked:
    """At most so many rows to explain, of which all is known that is tested or spoken of."""
    from benchmarks.widths_models import fully_known

    known = [
        row
        for row in fully_known(subject, len(subject.instances))
        if all(row[name] not in ("", "?") for name in possible.features)
    ]
    kept = [row for row in known if possible.allows(row)]
    return Asked([kept[place] for place in spread_out(len(kept), most)], len(known) - len(kept))
