"""What an audit found, told as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from quia.auditing import rules
from quia.auditing.decisions import labels_of
from quia.auditing.document import (
    SCHEMA,
    Decisions,
    Document,
    Example,
    Feature,
    Identity,
    Monotone,
    Monotonicity,
    Proof,
    Protected,
    Rule,
    Rules,
    Share,
    Values,
    WorstCase,
)
from quia.auditing.groups import groups_told
from quia.auditing.known import with_known
from quia.auditing.proofs import changed_values, pair_told, proof_told
from quia.auditing.rows import Rows
from quia.auditing.run import Audited
from quia.auditing.subject import from_worst_to_best
from quia.auditing.unfinished import unfinished
from quia.literal import all_of
from quia.ranges import size


def told(audited: Audited, decisions: Decisions, identity: Identity, seconds: float) -> Document:
    """What was found, as a document."""
    asked, rows, terms = audited.asked, audited.rows, audited.terms
    subject = asked.subject
    coverings = [_candidates(audited, c) for c in range(len(terms.classes))]
    examples = [[_example_row(rules_, at, rows) for at in range(len(rules_))] for rules_ in coverings]
    places = {row for each in examples for row in each}
    places |= {case.row for hung in audited.hung.values() if hung for case in hung.worst}
    monotone = (found for both in audited.monotone.values() for found in both)
    pairs = [*audited.depends.values(), *audited.matters.values(), *monotone]
    places |= {found.row for found in pairs if found.row is not None}
    values = subject.table.values({int(rows.first[place]) for place in places}, subject.variables)
    features = tuple(_feature(audited, v, values) for v in range(len(subject.variables)))
    made = Document(
        SCHEMA,
        identity,
        seconds,
        (),
        decisions,
        tuple(_rules(audited, c, candidates, examples[c], values) for c, candidates in enumerate(coverings)),
        features,
        tuple(_protected(audited, names, values) for names in asked.together),
        _monotonicity(audited, values),
        audited.comparison,
    )
    return replace(made, unfinished=unfinished(made))


def _candidates(audited: Audited, label: int) -> list[rules.Candidate]:
    chosen = audited.rows.decision == label
    return [
        rules.Candidate(conditions, rules.meeting(audited.rows, audited.terms, conditions) & chosen)
        for conditions in audited.covers[label].rules
    ]


def _example_row(candidates: Sequence[rules.Candidate], at: int, rows: Rows) -> int:
    """The first row of the table that meets a rule, and none of those before it."""
    seen = np.zeros(len(rows), bool)
    for candidate in candidates[:at]:
        seen |= candidate.covered
    fitting = np.flatnonzero(candidates[at].covered & ~seen)
    return int(fitting[np.argmin(rows.first[fitting])])


def _rules(
    audited: Audited,
    label: int,
    candidates: Sequence[rules.Candidate],
    examples: Sequence[int],
    values: Mapping[int, Values],
) -> Rules:
    rows, found = audited.rows, audited.covers[label]
    of = rows.count(rows.decision == label)
    made = []
    for candidate, place, (covered, new, cumulated) in zip(
        candidates, examples, rules.cumulated(candidates, rows), strict=True
    ):
        literals = candidate.literals(audited.terms)
        number = int(rows.first[place])
        example = Example(number, values[number])
        text = all_of(map(str, literals)) or "whatever the features are"
        made.append(Rule(tuple(x.condition for x in literals), text, covered, new, cumulated, example))
    covered = made[-1].cumulated if made else 0
    wanted = rules.wanted(of, audited.asked.share)
    return Rules(
        audited.terms.classes[label],
        of,
        wanted,
        covered,
        found.explained,
        found.is_enough,
        tuple(made),
        found.are_learned,
    )


def _feature(audited: Audited, v: int, values: Mapping[int, Values]) -> Feature:
    name = audited.variables[v].name
    if v not in audited.matters:
        nothing = Share(0, audited.rows.decided)
        return Feature(name, False, False, None, nothing, nothing)
    found = audited.matters[v]
    pair = pair_told(audited.asked.subject, found, values) if found.can else None
    alone_, shortest = (
        Share(counted.rows[v], counted.of) if counted.of or not audited.rows.decided else None
        for counted in (audited.alone, audited.shortest)
    )
    return Feature(name, v in audited.asked.subject.model_tests, found.can, pair, alone_, shortest, found.why)


def _protected(audited: Audited, names: tuple[str, ...], values: Mapping[int, Values]) -> Protected:
    asked, rows, terms = audited.asked, audited.rows, audited.terms
    labelled = None if asked.label is None else labels_of(rows, terms.classes, asked.label)
    hung = audited.hung[names]
    worst = []
    for case in () if hung is None else hung.worst:
        one, other = changed_values(asked.subject, case.row, case.changes, values)
        number = int(rows.first[case.row])
        now, then = terms.classes[rows.decision[case.row]], terms.classes[case.decision]
        worst.append(WorstCase(number, one, now, other, then))
    return Protected(
        names,
        audited.in_model(names),
        groups_told(rows, audited.grouping(names), terms.classes, labelled),
        None if hung is None else hung.hanging,
        tuple(worst),
        _depends(audited, names, values),
    )


def _depends(audited: Audited, names: tuple[str, ...], values: Mapping[int, Values]) -> Proof:
    """Whether decisions depend on features; that none does may only be so as what is possible leaves no choice."""
    subject = audited.asked.subject
    proof = proof_told(subject, audited.depends[names], values)
    known = audited.in_model(names)
    terms = with_known(audited.terms, [subject.index[name] for name in known])
    possible = terms.worlds.possible
    if proof.can is False and known and all(size(possible.states(subject.index[name])) < 2 for name in known):
        return replace(proof, why=f"what is possible leaves {all_of(known)} one value only")
    return proof


def _monotonicity(audited: Audited, values: Mapping[int, Values]) -> Monotonicity | None:
    asked, terms = audited.asked, audited.terms
    made = []
    for v, (hurts, helps) in audited.monotone.items():
        labels = audited.variables[v].labels
        order = None if labels is None else tuple(labels[state] for state in asked.orders[v])
        proofs = (proof_told(asked.subject, found, values) for found in (hurts, helps))
        made.append(Monotone(audited.variables[v].name, order, *proofs))
    return Monotonicity(from_worst_to_best(terms.classes, asked.subject.rank), asked.is_assumed, tuple(made))
