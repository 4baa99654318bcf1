"""Two models side by side: which rows they decide differently, whether any input can be, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quia.asking import Terms
from quia.auditing.difference_regions import Found, covering, regions_of
from quia.auditing.differing_rows import (
    Batches,
    DifferingRows,
    GroupOf,
    Ints,
    differing_rows,
    each_pair,
    examples,
    lacking_columns,
)
from quia.auditing.document import Comparison, Difference, Differing, Example, GroupDiffering, OldNew, Values
from quia.batch.one_by_one import decisions_of
from quia.batch.question import Request, ask
from quia.batch.table import states_type
from quia.boxes import Box
from quia.classifier import Classifier, escape_within
from quia.differing_inputs import differing_inputs
from quia.errors import QuiaError
from quia.joint import Joint, joint
from quia.joint_same import are_same
from quia.literal import Literal, all_of
from quia.patience import Clock, OutOfTime
from quia.reason import Kind, Members
from quia.typical import value_in
from quia.variables import UNKNOWN

_TRIED = 20_000
"""So many instances are tried at random before it is proved that none differs."""
_REASONS = 4  # of each differing row so many regions are looked at
_SEARCH_SHARE = 0.8  # of the time, to find an instance that differs; the rest is for the region around it


@dataclass(frozen=True, slots=True)
class _Whole:
    """What is known of all inputs: whether models can differ, an instance where they do, or why it is not known."""

    can_differ: bool | None
    states: tuple[int, ...] | None = None
    why: str | None = None


def compare(
    old: Classifier,
    new: Classifier,
    batches: Batches,
    *,
    group_of: GroupOf,
    group_names: Sequence[str],
    clock: Clock,
    within: Mapping[str, Any] | None = None,
    given: Any = None,
) -> Comparison:
    """The old model beside a new one, on all rows of a table and on all inputs.

    Rows are counted whatever the time; `group_of` gives each row of a batch the number of its group, -1 for none.
    If no row differs, an input that does is looked for, or the proof that there is none, until the clock ends.
    """
    both, request, fault = _as_one(old, new, within, given)
    inputs = differing_inputs(old, new)
    lacking = lacking_columns((old, new), batches)
    if lacking is None:
        terms = None if request is None else request.terms
        rows = differing_rows(old, new, batches, terms, group_of=group_of, groups=len(group_names))
    else:
        inputs = (*inputs, f"No row can be compared: {lacking}.")
        none = np.zeros(len(group_names), np.int64)
        rows = DifferingRows(none, none.copy(), undecided=sum(batch.num_rows for batch in batches()))
    features = list(dict.fromkeys(variable.name for model in (old, new) for variable in model.variables))
    whole, differences, complete = _told(both, request, rows, clock, fault, batches, features)
    witness = None
    if rows.first is not None:
        number, a, b = rows.first
        witness = Differing(examples(batches, [number], features)[number].values, old.classes[a], new.classes[b])
    elif whole.states is not None and both is not None and request is not None:
        witness = _witness(both, request, whole.states)
    return Comparison(
        inputs=inputs,
        of=rows.of,
        rows=rows.count,
        undecided=rows.undecided,
        turns=tuple(OldNew(old.classes[a], new.classes[b], count) for a, b, count in each_pair(rows.turns)),
        groups=tuple(
            GroupDiffering(name, differing, of)
            for name, differing, of in zip(group_names, rows.differing.tolist(), rows.decided.tolist(), strict=True)
        ),
        can_differ=whole.can_differ,
        witness=witness,
        why=whole.why,
        differences=differences,
        complete=complete,
    )


def _as_one(
    old: Classifier, new: Classifier, within: Mapping[str, Any] | None, given: Any
) -> tuple[Joint | None, Request | None, str | None]:
    """Both models as one, and what is asked of it; or why they cannot be."""
    try:
        both = joint(old, new)
        sufficient: tuple[Kind, ...] = ("sufficient",)
        asked = ask(both.answering, shortest=sufficient, limit=_REASONS, within=within, given=given)
    except QuiaError as fault:
        return None, None, f"{fault}"
    return both, asked, None


def _told(
    both: Joint | None,
    request: Request | None,
    rows: DifferingRows,
    clock: Clock,
    fault: str | None,
    batches: Batches,
    features: Sequence[str],
) -> tuple[_Whole, tuple[Difference, ...], bool]:
    """What is known of all inputs, the regions where the models differ, and whether time was enough for these."""
    if both is None or request is None:
        return _Whole(True if rows.first is not None else None, why=fault), (), False
    if rows.first is not None:
        found, complete = covering(rows, batches, request.terms.classifier, request, clock)
        return _Whole(True), _differences(both, request, rows, found, batches, features), complete
    whole = _anywhere(both, request.terms, clock)
    if whole.states is None:
        return whole, (), whole.can_differ is not None
    classifier = request.terms.classifier
    regions = regions_of(classifier, whole.states, classifier.decide(whole.states), request, clock)
    if not regions:
        return whole, (), False
    witness = _witness(both, request, whole.states)
    only = Example(0, witness.values)
    difference = _difference(request, *regions[0], (witness.old, witness.new), (0, 0, 0), only)
    return whole, (difference,), True


def _anywhere(both: Joint, terms: Terms, clock: Clock) -> _Whole:
    """Whether any input can be decided differently: two models that are the same at once, else by trying and search."""
    if are_same(both):
        return _Whole(False)
    classifier, worlds = terms.classifier, terms.worlds
    try:
        clock()
        one = worlds.member(worlds.possible)
        if one is None:
            return _Whole(False)
        found: Sequence[int] | None = next(_tried(both, terms, clock), None)
        if found is None:
            keeps = both.equal | worlds.impossible
            question = replace(terms.question(one, min(keeps, default=0)), keeps=frozenset(keeps))
            search = clock.share(_SEARCH_SHARE)
            found = escape_within(classifier, question, worlds.possible, search)
    except OutOfTime:
        return _Whole(None, why="time ran out before an input that differs was found, or none was proved")
    except QuiaError as fault:
        return _Whole(None, why=f"{fault}")
    if found is None:
        return _Whole(False)
    tested = frozenset(classifier.tested)
    known = worlds.possible.nearest(one)
    return _Whole(True, tuple(s if v in tested and s != UNKNOWN else known[v] for v, s in enumerate(found)))


def _tried(both: Joint, terms: Terms, clock: Clock) -> Iterator[Sequence[int]]:
    """Instances that differ, of some at random."""
    random = np.random.default_rng(18)
    possible, keeps = terms.worlds.possible, list(both.equal | terms.worlds.impossible)
    columns = [_drawn(random, list(possible.states(v))) for v in range(len(terms.variables))]
    states = np.column_stack(columns).astype(states_type(terms.variables))
    step = 1000
    for first in range(0, len(states), step):
        clock()
        some = np.ascontiguousarray(states[first : first + step])
        differ = np.flatnonzero(~np.isin(decisions_of(terms.classifier, some), keeps))
        yield from (some[row].tolist() for row in differ.tolist())


def _drawn(random: np.random.Generator, ranges: Sequence[tuple[int, int]]) -> Ints:
    """Some of the states in ranges, at random."""
    low, high = (np.array(ends, np.int64) for ends in zip(*ranges, strict=True))
    which = random.integers(0, len(ranges), _TRIED)
    return random.integers(low[which], high[which], endpoint=True)


def _witness(both: Joint, request: Request, states: tuple[int, ...]) -> Differing:
    """An instance in some states, and what each model says of it."""
    values: Values = {
        variable.name: value_in(variable, state)
        for variable, state in zip(request.terms.variables, states, strict=True)
    }
    return Differing(values, both.old.model.classify(values), both.new.model.classify(values))


def _differences(
    both: Joint,
    request: Request,
    rows: DifferingRows,
    found: Sequence[Found],
    batches: Batches,
    features: Sequence[str],
) -> tuple[Difference, ...]:
    """The regions as the document has them, each with the first row that is in it."""
    first: list[int] = []
    seen = np.zeros(len(rows.rows), bool)
    for each in found:
        first.append(int(rows.rows[each.fits & ~seen].min()))
        seen |= each.fits
    shown = examples(batches, first, features)
    made = []
    for each, row in zip(found, first, strict=True):
        a, b = both.parts(each.pair)
        names = both.old.model.classes[a], both.new.model.classes[b]
        counts = each.rows, each.new, each.cumulated
        made.append(_difference(request, each.members, each.box, names, counts, shown[row]))
    return tuple(made)


def _difference(
    request: Request,
    of: Members,
    box: Box,
    names: tuple[str, str],
    counts: tuple[int, int, int],
    example: Example,
) -> Difference:
    variables = request.terms.variables
    literals = [Literal(variables[v], ranges) for v, ranges in zip(of, box, strict=True)]
    text = all_of(map(str, literals)) or "whatever the input is"
    return Difference(*names, tuple(literal.condition for literal in literals), text, *counts, example)
