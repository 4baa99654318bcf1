"""Audit documents of small random models by brute force: every claim is counted by plain loops, from the definitions.

Of `quia.auditing` it imports the dataclasses alone. Decisions are those of the truth table that a model must have;
rules and shortest reasons, which an audit takes from explanations, are taken from `quia.explain`.

Glossary
    world     a state for each variable, as an index
    possible  the worlds that `within` and `given` leave
    found     what a row is decided: the index of a class, or None
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

import oracle
import quia
from contract import Subject, World
from quia.auditing import document as doc
from quia.literal import Literal
from quia.variables import UNKNOWN, Variable
from strategies import raw_values

SITES = ("north", "south")


@dataclass(frozen=True)
class Case:
    """A model with its truth table, a table, what is possible, and another model with a truth table."""

    classifier: Any
    truth: Mapping[World, int]
    rows: list[dict[str, Any]]
    settings: doc.Settings
    is_possible: Callable[[World], bool]
    samples: Sequence[Sequence[Any]]
    """A raw value for each state of each variable."""
    other: Any = None
    other_truth: Mapping[World, int] = field(default_factory=dict)
    files: tuple[doc.FileFacts | None, doc.FileFacts | None] = (None, None)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self.classifier.variables)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.classifier.classes)

    @cached_property
    def worlds(self) -> list[World]:
        return [world for world in self.truth if self.is_possible(world)]

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The variables that decisions, or what is possible, may depend on."""
        said = self.settings
        return tuple(
            quia.explain(
                self.classifier, self.values(self.worlds[0]), within=said.within, given=list(said.given) or None
            ).classifier.tested
        )

    @cached_property
    def left(self) -> list[list[int]]:
        """The states of each variable that some possible world has."""
        return [sorted({world[v] for world in self.worlds}) for v in range(len(self.variables))]

    @cached_property
    def possible(self) -> set[World]:
        return set(self.worlds)

    @cached_property
    def states(self) -> list[World]:
        """The states of each row, UNKNOWN where a value is missing and that is no state."""
        return [tuple(state_of(v, row[v.name]) for v in self.variables) for row in self.rows]

    @cached_property
    def found(self) -> list[int | None]:
        return [self.decided(states, self.truth) for states in self.states]

    @cached_property
    def other_found(self) -> list[int | None]:
        return [self.decided(states, self.other_truth) for states in self.states]

    def decided(self, states: World, truth: Mapping[World, int]) -> int | None:
        """The class that all possible worlds that a row may be have in common."""
        labels = {truth[world] for world in self.completions(states)}
        return labels.pop() if len(labels) == 1 else None

    def completions(self, states: World) -> Iterator[World]:
        every = product(*(range(v.size) if s == UNKNOWN else (s,) for v, s in zip(self.variables, states, strict=True)))
        return (world for world in every if world in self.possible)

    def values(self, world: World) -> dict[str, Any]:
        return {v.name: self.samples[at][s] for at, (v, s) in enumerate(zip(self.variables, world, strict=True))}

    @cached_property
    def ranks(self) -> list[int]:
        best = list(self.settings.favourable) or [self.classes[-1]]
        return [len(best) - best.index(c) if c in best else 0 for c in self.classes]

    def name(self, label: int | None) -> str:
        assert label is not None
        return self.classes[label]


def state_of(variable: Variable, value: Any) -> int:
    try:
        return variable.encode(value)
    except quia.InstanceError:
        return UNKNOWN


# ---- cases ------------------------------------------------------------------------------------------------------


def random_case(rng: Random, subject: Subject, *, rows: int = 40, missing: float = 0.0, worlds: bool = False) -> Case:
    """A case of a subject of the contract suite."""
    variables, classes = subject.variables, subject.classes
    samples = [_samples(v, raw_values(subject.d, v.name)) for v in variables]
    is_possible, within, given = _worlds(rng, variables) if worlds else ((lambda _: True), None, ())
    every = [world for world in subject.table if is_possible(world)]
    table = []
    for _ in range(rows):
        world = rng.choice(every)
        row = {v.name: samples[at][s] for at, (v, s) in enumerate(zip(variables, world, strict=True))}
        for v in variables:
            if rng.random() < missing and not v.missing:
                row[v.name] = None
        row["label"] = rng.choice([*classes, *classes, "none of them", None])
        row["site"] = rng.choice([*SITES, None])
        table.append(row)
    nominal = [v for v in variables if not v.is_numeric and v.size > 1]
    orders = {v.name: tuple(rng.sample(v.labels, rng.randint(2, v.size))) for v in nominal[:1]}
    settings = doc.Settings(
        label="label",
        protected=(*(v.name for v in rng.sample(variables, min(2, len(variables)))), "site"),
        favourable=tuple(rng.sample(classes, rng.randint(0, max(len(classes) - 1, 0)))),
        orders=orders or None,
        within=within,
        given=given,
    )
    other, truth = _other(rng, subject)
    return Case(subject.classifier, subject.table, table, settings, is_possible, samples, other, truth)


def _samples(variable: Variable, values: Sequence[Any]) -> list[Any]:
    """A value that JSON can hold for each state."""
    found: dict[int, Any] = {}
    for value in values:
        if value is None or isinstance(value, str) or math.isfinite(value):
            found.setdefault(state_of(variable, value), value)
    return [found[state] for state in range(variable.size)]


def _worlds(
    rng: Random, variables: Sequence[Variable]
) -> tuple[Callable[[World], bool], dict[str, str] | None, tuple[str, ...]]:
    """What is possible: one state less of a variable, and a constraint between two others."""
    several = [at for at, v in enumerate(variables) if v.size > 1]
    chosen = rng.sample(several, min(3, len(several)))
    within, given, tests = None, (), []
    if chosen:
        at = chosen[0]
        out = rng.randrange(variables[at].size)
        rest = tuple((s, s) for s in range(variables[at].size) if s != out)
        within = {variables[at].name: Literal(variables[at], _joined(rest)).text}
        tests.append(lambda world: world[at] != out)
    if len(chosen) == 3:
        (a, b), (s, t) = chosen[1:], (rng.randrange(variables[v].size) for v in chosen[1:])
        given = (f"{_atom(variables[a], s)} -> !({_atom(variables[b], t)})",)
        tests.append(lambda world: not (world[a] == s and world[b] == t))
    return (lambda world: all(test(world) for test in tests)), within, given


def _joined(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for low, high in ranges:
        if joined and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def _atom(variable: Variable, state: int) -> str:
    name, text = f'"{variable.name}"', variable.text(state)
    if not variable.is_numeric:
        return f'{name}="{text}"'
    if variable.is_missing_state(state):
        return f"{name} is missing"
    return f"{name} in {text}" if text[0] in "([" else f"{name} {text}"


def _other(rng: Random, subject: Subject) -> tuple[Any, dict[World, int]]:
    """A graph that decides as the subject does, but for some of its leaves, or for none."""
    d = dict(subject.d)
    leaves = [name for name, node in d["nodes"].items() if "class" in node]
    changed = rng.sample(leaves, rng.choice([0, 1, 1, min(2, len(leaves))]))
    d["nodes"] = {
        name: {**node, "class": rng.choice(d["classes"])} if name in changed else node
        for name, node in d["nodes"].items()
    }
    other = quia.DecisionGraph.from_dict(d)
    names = list(d["variables"])
    truth = {}
    for world, label in oracle.worlds(d).items():
        values = dict(zip(names, world, strict=True))
        truth[tuple(v.encode(values[v.name]) for v in subject.variables)] = subject.classes.index(label)
    return other, truth


# ---- documents --------------------------------------------------------------------------------------------------


def made(case: Case) -> doc.Document:
    """The whole audit of a case."""
    model, data = case.files
    return doc.Document(
        schema=doc.SCHEMA,
        identity=doc.Identity(
            quia=quia.__version__,
            made="2026-01-01T00:00:00+00:00",
            case=None,
            command=None,
            model=_facts(case.classifier, model),
            data=doc.DataFacts(data, len(case.rows)),
            compared=_facts(case.other, None),
            settings=case.settings,
        ),
        seconds=0.0,
        unfinished=(),
        decisions=_decisions(case),
        rules=tuple(_rules(case, label) for label in range(len(case.classes)) if label in case.found),
        features=tuple(_feature(case, at) for at in range(len(case.variables))),
        protected=tuple(_protected(case, names) for names in _protected_sets(case)),
        monotonicity=_monotonicity(case),
        comparison=_comparison(case),
    )


def _facts(classifier: Any, file: doc.FileFacts | None) -> doc.ModelFacts:
    return doc.ModelFacts(
        file=file,
        kind=classifier.kind,
        sizes=dict(classifier.sizes),
        classes=tuple(classifier.classes),
        features=len(classifier.variables),
        tested=len(classifier.tested),
    )


def _decisions(case: Case) -> doc.Decisions:
    counts = Counter(label for label in case.found if label is not None)
    decided = sum(counts.values())
    why: dict[str, list[int]] = {}
    errors = quia.explain_batch(
        case.classifier, case.rows, within=case.settings.within, given=list(case.settings.given) or None, shortest=[]
    )["error"].to_pylist()
    for number, (label, error) in enumerate(zip(case.found, errors, strict=True), 1):
        assert (label is None) == (error is not None)
        if error is not None:
            why.setdefault(error, []).append(number)
    return doc.Decisions(
        rows=len(case.rows),
        decided=decided,
        classes=tuple(doc.Decided(case.classes[label], n, decided) for label, n in counts.items()),
        undecided=tuple(doc.Undecided(text, len(rows), tuple(rows[:3])) for text, rows in why.items()),
        labels=_labels(case),
    )


def _labels(case: Case) -> doc.Labels:
    labels = [row["label"] for row in case.rows]
    decided = [at for at, label in enumerate(case.found) if label is not None]
    rows = [at for at in decided if labels[at] in case.classes]
    return doc.Labels(
        column="label",
        rows=len(rows),
        right=sum(case.name(case.found[at]) == labels[at] for at in rows),
        without=sum(labels[at] is None for at in decided),
        other=dict(Counter(labels[at] for at in decided if labels[at] is not None and labels[at] not in case.classes)),
        confusion=_confusion(case, rows),
    )


def _confusion(case: Case, rows: Sequence[int]) -> tuple[doc.Confusion, ...]:
    made = []
    for label in case.classes:
        of = [at for at in rows if case.rows[at]["label"] == label]
        made.append(doc.Confusion(label, len(of), dict(Counter(case.name(case.found[at]) for at in of))))
    return tuple(made)


def _meeting(case: Case, literals: Sequence[Literal], found: Sequence[Any]) -> set[int]:
    """The decided rows that meet literals."""
    return {
        at
        for at, row in enumerate(case.rows)
        if found[at] is not None and all(literal.holds(row[literal.feature]) for literal in literals)
    }


def _explained(case: Case, classifier: Any, at: int) -> Any:
    settings = case.settings
    return quia.explain(classifier, case.rows[at], within=settings.within, given=list(settings.given) or None)


def _example(case: Case, at: int) -> doc.Example:
    return doc.Example(at + 1, {v.name: case.rows[at][v.name] for v in case.variables})


def _rules(case: Case, label: int) -> doc.Rules:
    rows = [at for at, found in enumerate(case.found) if found == label]
    wanted = math.ceil(0.9 * len(rows))
    reasons: dict[str, Sequence[Literal]] = {}
    for at in rows:
        for reason in _explained(case, case.classifier, at).sufficient_reasons(general=True, limit=2):
            reasons[str(reason)] = reason.literals
    covered: set[int] = set()
    rules: list[doc.Rule] = []
    while len(covered) < wanted:
        text = max(reasons, key=lambda text: len(_meeting(case, reasons[text], case.found) - covered))
        meeting = _meeting(case, reasons[text], case.found)
        new = meeting - covered
        covered |= meeting
        conditions = tuple(literal.condition for literal in reasons[text])
        example = _example(case, min(new))
        rules.append(doc.Rule(conditions, text, len(meeting), len(new), len(covered), example))
    return doc.Rules(case.classes[label], len(rows), wanted, len(covered), len(rows), True, tuple(rules))


def _pair(case: Case, changing: Sequence[int], is_asked: Callable[[World, World], bool]) -> doc.Pair | None:
    """The first two possible worlds that differ in some variables alone and are as asked."""
    for one in case.worlds:
        for states in product(*(range(case.variables[v].size) for v in changing)):
            other = list(one)
            for v, state in zip(changing, states, strict=True):
                other[v] = state
            if tuple(other) in case.possible and is_asked(one, tuple(other)):
                pair = (one, tuple(other))
                return doc.Pair(
                    case.values(pair[0]),
                    case.values(pair[1]),
                    tuple(case.variables[v].name for v in changing if one[v] != other[v]),
                    (case.classes[case.truth[pair[0]]], case.classes[case.truth[pair[1]]]),
                )
    return None


def _known(variable: Variable) -> list[int]:
    """The states of a variable that are not those of missing values, if it has any."""
    missing = [s for s in range(variable.size) if variable.is_missing_state(s)]
    if variable.labels is not None and variable.no_value is not None:
        missing = [variable.labels.index(variable.no_value)]
    return [s for s in range(variable.size) if s not in missing]


def _reached(case: Case, at: int, changing: Sequence[int], known: bool = True) -> dict[tuple[int, ...], int]:
    """The class of a row with each possible combination of some variables' states, where it is surely that.

    They are `known`: nobody is in a group for which a value is missing.
    """
    found = {}
    choices = [_allowed(case, v) if known else range(case.variables[v].size) for v in changing]
    for states in product(*choices):
        changed = list(case.states[at])
        for v, state in zip(changing, states, strict=True):
            changed[v] = state
        if not any(True for _ in case.completions(tuple(changed))):
            continue
        label = case.decided(tuple(changed), case.truth)
        found[states] = -1 if label is None else label
    return found


def _is_changed(case: Case, at: int, changing: Sequence[int]) -> bool:
    return any(label not in (-1, case.found[at]) for label in _reached(case, at, changing, False).values())


def _allowed(case: Case, v: int) -> list[int]:
    """The states that a protected variable can change to: those that are known, if `within` leaves any."""
    left = case.left[v]
    return [s for s in left if s in _known(case.variables[v])] or left


def _feature(case: Case, at: int) -> doc.Feature:
    name = case.variables[at].name
    pair = _pair(case, [at], lambda one, other: case.truth[one] != case.truth[other])
    decided = [row for row, label in enumerate(case.found) if label is not None]
    shortest = 0
    for row in decided:
        reasons = _explained(case, case.classifier, row).sufficient_reasons(general=False, shortest=True)
        shortest += any(name in reason.features for reason in reasons)
    return doc.Feature(
        feature=name,
        tested=at in case.classifier.tested,
        matters=pair is not None,
        pair=pair,
        alone=doc.Share(sum(_is_changed(case, row, [at]) for row in decided), len(decided)),
        shortest=doc.Share(shortest, len(decided)),
    )


def _protected_sets(case: Case) -> list[tuple[str, ...]]:
    names = case.settings.protected
    return [*((name,) for name in names), *([names] if len(names) > 1 else [])]


def _protected(case: Case, names: Sequence[str]) -> doc.Protected:
    index = {v.name: at for at, v in enumerate(case.variables)}
    tested = {case.variables[v].name for v in case.tested}
    in_model = tuple(name for name in names if name in tested)
    changing = [index[name] for name in in_model]
    each = [_of_one(case, name) for name in names]
    groups = {" and ".join(name for name, *_ in group): group for group in product(*each)}
    members = {
        title: {at for at, row in enumerate(case.rows) if all(holds(row) for _, _, holds, _ in group)}
        for title, group in groups.items()
    }
    choices = {v: _allowed(case, v) for v in changing}

    def is_known(world: World) -> bool:
        return all(world[v] in choices[v] for v in changing)

    pair = _pair(
        case,
        changing,
        lambda one, other: case.truth[one] != case.truth[other] and is_known(one) and is_known(other),
    )
    return doc.Protected(
        features=tuple(names),
        in_model=in_model,
        groups=tuple(_group(case, title, group, members[title]) for title, group in groups.items()),
        hanging=_hanging(case, names, in_model, groups, members) if changing else None,
        worst=_worst(case, changing),
        depends=doc.Proof(pair is not None, pair),
    )


def _of_one(case: Case, name: str) -> list[tuple[str, Any, Callable[[Any], bool], int | None]]:
    """For each state: its name, its condition, which rows have it, and its index."""
    variable = next((v for v in case.variables if v.name == name), None)
    if variable is None:
        return [
            (f"{name}={site}", {"feature": name, "in": [site], "text": site}, lambda row, s=site: row[name] == s, None)
            for site in SITES
        ]
    literals = [(Literal(variable, ((state, state),)), state) for state in range(variable.size)]
    numbers = sorted({float(row[name]) for row in case.rows if variable.is_numeric and row[name] is not None})
    if variable.is_numeric and 0 < len(numbers) <= 6:  # few values are groups by themselves, whatever the model cuts
        cuts = [(number, side) for number in numbers for side in ("before", "after")]
        finer = Variable.numeric(name, cuts, missing=variable.missing, single=variable.single)
        pairs = [(finer.encode(number), variable.encode(number)) for number in numbers]
        pairs += [(finer.size - 1, variable.size - 1)] if variable.missing else []
        literals = [(Literal(finer, ((own, own),)), state) for own, state in pairs]
    return [
        (str(literal), literal.condition, lambda row, literal=literal: literal.holds(row[name]), state)
        for literal, state in literals
    ]


def _group(case: Case, title: str, group: Any, members: set[int]) -> doc.Group:
    decided = [at for at in sorted(members) if case.found[at] is not None]
    labelled = [at for at in decided if case.rows[at]["label"] in case.classes]
    return doc.Group(
        name=title,
        where=tuple(condition for _, condition, _, _ in group),
        rows=len(decided),
        decided=dict(Counter(case.name(case.found[at]) for at in decided)),
        labelled=len(labelled),
        right=sum(case.name(case.found[at]) == case.rows[at]["label"] for at in labelled),
        confusion=_confusion(case, labelled),
    )


def _hanging(
    case: Case,
    names: Sequence[str],
    in_model: Sequence[str],
    groups: Mapping[str, Any],
    members: Mapping[str, set[int]],
) -> doc.Hanging:
    index = {v.name: at for at, v in enumerate(case.variables)}
    changing = [index[name] for name in in_model]
    decided = [at for at, label in enumerate(case.found) if label is not None]
    reached = {at: _reached(case, at, changing) for at in decided}
    turns: Counter[tuple[int, int]] = Counter()
    hanging, fixed = set(), 0
    for at in decided:
        others = {label for label in reached[at].values() if label not in (-1, case.found[at])}
        turns.update((case.found[at] or 0, label) for label in others)
        if others:
            hanging.add(at)
        own = tuple(case.states[at][v] for v in changing)
        # It may be any of those that have what is known of it, and is one of them.
        may_be = [c for c in reached[at] if all(s in (UNKNOWN, t) for s, t in zip(own, c, strict=True))]
        fixed += len(reached[at]) <= bool(may_be)
    by_group = []
    for title in groups:
        mine = members[title].intersection(decided)
        better = {}
        for other, group in groups.items():
            if other != title:
                wanted = [state for name, (*_, state) in zip(names, group, strict=True) if name in in_model]
                better[other] = sum(
                    any(
                        list(states) == wanted and label >= 0 and case.ranks[label] > case.ranks[case.found[at] or 0]
                        for states, label in reached[at].items()
                    )
                    for at in mine
                )
        by_group.append(doc.GroupHanging(title, len(mine & hanging), len(mine), better))
    return doc.Hanging(
        rows=len(hanging),
        of=len(decided),
        fixed=fixed,
        turns=tuple(doc.Turn(case.classes[a], case.classes[b], n) for (a, b), n in turns.items()),
        groups=tuple(by_group),
    )


def _worst(case: Case, changing: Sequence[int]) -> tuple[doc.WorstCase, ...]:
    found = []
    for at, label in enumerate(case.found):
        if label is None or len(found) == 2:
            continue
        for states, other in _reached(case, at, changing).items():
            if other >= 0 and case.ranks[other] > case.ranks[label]:
                values = _example(case, at).values
                changed = {case.variables[v].name: case.samples[v][s] for v, s in zip(changing, states, strict=True)}
                found.append(
                    doc.WorstCase(at + 1, values, case.classes[label], {**values, **changed}, case.classes[other])
                )
                break
    return tuple(found)


def _monotonicity(case: Case) -> doc.Monotonicity:
    levels = sorted(set(case.ranks))
    order = tuple(tuple(c for c, r in zip(case.classes, case.ranks, strict=True) if r == level) for level in levels)
    features = []
    for at, variable in enumerate(case.variables):
        asked = (case.settings.orders or {}).get(variable.name)
        if asked is None and not variable.is_numeric:
            continue
        if asked is None:
            place = {state: state for state in range(len(variable.cuts) + 1)}
        else:
            place = {variable.encode(name): rank for rank, name in enumerate(asked)}

        def raised(sign: int, at: int = at, place: Mapping[int, int] = place) -> doc.Proof:
            def is_asked(one: World, other: World) -> bool:
                if one[at] not in place or other[at] not in place or not place[one[at]] < place[other[at]]:
                    return False
                return sign * (case.ranks[case.truth[other]] - case.ranks[case.truth[one]]) > 0

            pair = _pair(case, [at], is_asked)
            return doc.Proof(pair is not None, pair)

        features.append(doc.Monotone(variable.name, asked, hurts=raised(-1), helps=raised(1)))
    return doc.Monotonicity(order, not case.settings.favourable, tuple(features))


def _comparison(case: Case) -> doc.Comparison:
    both = [at for at in range(len(case.rows)) if None not in (case.found[at], case.other_found[at])]
    differing = [at for at in both if case.found[at] != case.other_found[at]]
    turns = Counter((case.found[at], case.other_found[at]) for at in both)
    witness = next((w for w in case.worlds if case.truth[w] != case.other_truth[w]), None)
    groups = []
    for name, _, holds, _ in _of_one(case, case.settings.protected[0]):
        mine = {at for at in both if holds(case.rows[at])}
        groups.append(doc.GroupDiffering(name, len(mine.intersection(differing)), len(mine)))
    return doc.Comparison(
        inputs=(),
        of=len(both),
        rows=len(differing),
        undecided=len(case.rows) - len(both),
        turns=tuple(doc.OldNew(case.name(a), case.name(b), n) for (a, b), n in turns.items()),
        groups=tuple(groups),
        can_differ=witness is not None,
        witness=None
        if witness is None
        else doc.Differing(case.values(witness), case.name(case.truth[witness]), case.name(case.other_truth[witness])),
        why=None,
        differences=_differences(case, differing),
        complete=True,
    )


def _differences(case: Case, differing: Sequence[int]) -> tuple[doc.Difference, ...]:
    """A region for each of some rows: what a reason of either model says of each feature, together."""
    made: list[doc.Difference] = []
    covered: set[int] = set()
    found = [None if other is None else label for label, other in zip(case.found, case.other_found, strict=True)]
    for at in differing[:3]:
        if at in covered:
            continue
        literals: dict[str, Literal] = {}
        for classifier in (case.classifier, case.other):
            reason = next(iter(_explained(case, classifier, at).sufficient_reasons(general=True)))
            for literal in reason.literals:
                variable = next(v for v in case.variables if v.name == literal.feature)
                known = literals.get(literal.feature)
                states = [
                    s
                    for s in range(variable.size)
                    if literal.holds(case.samples[case.variables.index(variable)][s])
                    and (known is None or s in known.states)
                ]
                literals[literal.feature] = Literal(variable, _joined([(s, s) for s in states]))
        meeting = _meeting(case, list(literals.values()), found)
        new = meeting - covered
        covered |= meeting
        made.append(
            doc.Difference(
                case.name(case.found[at]),
                case.name(case.other_found[at]),
                tuple(literal.condition for literal in literals.values()),
                " and ".join(f"({x})" if " or " in str(x) and len(literals) > 1 else str(x) for x in literals.values()),
                len(meeting),
                len(new),
                len(covered),
                _example(case, at),
            )
        )
    return tuple(made)
