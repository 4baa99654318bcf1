"""`verify` takes conditions: what it accepts and refutes against the definitions by brute force, and its witnesses."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from random import Random
from typing import Any

import pytest

import quia
from contract import EscapeOnly, Subject, World, random_states
from quia.asking import ask
from quia.cuts import nearest_single
from quia.errors import InstanceError, Refuted, TooLarge
from quia.literal import Literal, State
from quia.question import Question
from quia.ranges import members, union
from quia.reason import Reason
from quia.region import Region
from quia.variables import UNKNOWN, Variable
from strategies import random_graph

verify = quia.verify
Sets = dict[int, frozenset[int]]
"""States of some variables, by index."""

APPLICANT = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}


# ---- the definitions, by brute force ----------------------------------------------------------------------------


class Brute:
    """What is a reason, over all worlds of a truth table."""

    def __init__(self, classifier: EscapeOnly, question: Question, intervals: bool) -> None:
        self.variables, self.question, self.intervals = classifier.variables, question, intervals
        self.changed = {
            w
            for w, c in classifier.table.items()
            if c not in question.keeps and all(question.states[v] in (w[v], UNKNOWN) for v in question.frozen)
        }

    def is_reason(self, kind: str, said: Sets, *, general: bool = True, maximal: bool = False) -> bool:
        """Whether it is one; `said` are the states in which each condition holds, the instance's among them."""
        if any(self.question.states[v] not in states for v, states in said.items()):
            return False
        if kind == "sufficient":
            found = self.forces(said) and not any(self.forces(less) for less in fewer(said))
            return found and not (maximal and any(map(self.forces, self.wider(said))))
        parts = [set(less) for less in fewer(said)]
        found = self.can_change(set(said)) and not any(map(self.can_change, parts))
        if not found or not (general or maximal):
            return found
        changes = {v: frozenset(range(self.variables[v].size)) - states for v, states in said.items()}
        return self.all_change(changes) and not (maximal and any(map(self.all_change, self.wider(changes))))

    def forces(self, box: Sets) -> bool:
        return not any(all(w[v] in states for v, states in box.items()) for w in self.changed)

    def can_change(self, features: set[int]) -> bool:
        own = self.question.states
        return any(all(own[v] in (w[v], UNKNOWN) or v in features for v in range(len(own))) for w in self.changed)

    def all_change(self, box: Sets) -> bool:
        """Whether every point of the box can change the decision, all else kept, in some way to complete it."""
        own = self.question.states
        reached = {
            tuple(w[v] for v in box)
            for w in self.changed
            if all(v in box or own[v] in (w[v], UNKNOWN) for v in range(len(own)))
        }
        return all(point in reached for point in product(*box.values()))

    def wider(self, box: Sets) -> Iterator[Sets]:
        """All larger boxes; where intervals are asked for, none if this is not one of them."""
        if not all(self.is_admitted(v, states) for v, states in box.items()):
            yield box  # what is none cannot be the widest of them
            return
        every = [self.supersets(v, states) for v, states in box.items()]
        for chosen in product(*every):
            larger = dict(zip(box, chosen, strict=True))
            if larger != box:
                yield larger

    def supersets(self, v: int, states: frozenset[int]) -> list[frozenset[int]]:
        rest = [s for s in range(self.variables[v].size) if s not in states]
        found = [states.union(more) for n in range(len(rest) + 1) for more in combinations(rest, n)]
        return [each for each in found if self.is_admitted(v, each)]

    def is_admitted(self, v: int, states: frozenset[int]) -> bool:
        """Whether the numbers among the states are an interval, if they have to be."""
        variable = self.variables[v]
        numbers = sorted(s for s in states if s <= len(variable.cuts))
        return not (self.intervals and variable.is_numeric) or all(b - a == 1 for a, b in pairwise(numbers))


def fewer(said: Sets) -> Iterator[Sets]:
    """What is said of fewer features."""
    for kept in subsets(sorted(said)):
        if len(kept) < len(said):
            yield {v: said[v] for v in kept}


def subsets(features: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Some of the features, in all ways."""
    return (chosen for n in range(len(features) + 1) for chosen in combinations(features, n))


def own_states(states: Sequence[int], features: Sequence[int]) -> Sets:
    """What a reason of the paper says."""
    return {v: frozenset([states[v]]) for v in features}


def widened(rng: Random, brute: Brute, kind: str, features: Sequence[int]) -> Sets | None:
    """A maximal reason over some features, or None if there is none; of a necessary one its literals."""
    own = own_states(brute.question.states, features)
    holds = brute.forces if kind == "sufficient" else brute.all_change
    starts = [own]
    if kind == "necessary":
        every = [[s for s in range(brute.variables[v].size) if s not in own[v]] for v in features]
        starts = [{v: frozenset([s]) for v, s in zip(features, point, strict=True)} for point in product(*every)]
    starts = [box for box in starts if holds(box)]
    if not starts:
        return None
    box = rng.choice(starts)
    while larger := [each for each in brute.wider(box) if holds(each)]:
        box = rng.choice(larger)
    if kind == "sufficient":
        return box
    said = {v: frozenset(range(brute.variables[v].size)) - states for v, states in box.items()}
    return said if all(said.values()) else None


# ---- random classifiers and claims ------------------------------------------------------------------------------

NAMES = ("no", "yes", "> 5", "missing", "(0, 1]", "a, b", "a", "≠", "in {x}", "é")
THRESHOLDS = (0.0, 1.0, 2.5, -3.0, 0.1, 0.8, 1450.0, 0.1 + 0.2, 2.0**53)


def random_variable(rng: Random, name: str, *, single: bool) -> Variable:
    if rng.random() < 0.4:
        labels = rng.sample(NAMES, rng.randint(2, 4))
        return Variable.nominal(name, labels)
    cuts = [(t, rng.choice(("before", "after"))) for t in rng.sample(THRESHOLDS, rng.randint(1, 3))]
    return Variable.numeric(name, cuts, missing=rng.random() < 0.4, single=single)


def random_table(rng: Random, *, single: bool = False) -> EscapeOnly:
    """A classifier with few rules, so that it has wide reasons."""
    variables = tuple(random_variable(rng, name, single=single) for name in ("age", "b c", "x=1")[: rng.randint(1, 3)])
    classes = ("c", "not c", "d")[: rng.choice((2, 2, 3))]
    rules = []
    for _ in range(rng.randint(1, 4)):
        bounds = {v: random_states(rng, x) for v, x in enumerate(variables) if rng.random() < 0.6}
        rules.append((Region(variables, bounds), rng.randrange(len(classes))))
    worlds = product(*(range(v.size) for v in variables))
    table = {w: next((c for rule, c in rules if rule.contains(w)), 0) for w in worlds}
    return EscapeOnly(variables, classes, tuple(range(len(variables))), table, rng)


def random_instance(rng: Random, classifier: Any, unknown: float = 0.0) -> dict[str, Any]:
    """A value for each variable that has one; the others are missing, as far as the decision allows."""
    instance = {v.name: rng.choice(values_of(v)) for v in classifier.variables}
    for name in instance:
        fewer_known = {**instance, name: None}
        if rng.random() < unknown and is_decided(classifier, fewer_known):
            instance = fewer_known
    return instance


def is_decided(classifier: Any, instance: Mapping[str, Any]) -> bool:
    try:
        classifier.decide(classifier.encode(instance))
    except InstanceError:
        return False
    return True


def values_of(variable: Variable, thresholds: Sequence[float] = ()) -> list[Any]:
    """Values at, beside and between the cuts and some more thresholds, as far as the variable's type tells them."""
    if variable.labels is not None:
        return list(variable.labels)
    found = {0.0, -math.inf, math.inf}
    for t in (*thresholds, *(cut.threshold for cut in variable.cuts)):
        near = nearest_single(t) if variable.single else t
        step = abs(near) * 2**-22 or 2.0**-140
        found |= {near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf), near + step, near - step}
    numbers = sorted(found)
    between = [a / 2 + b / 2 for a, b in pairwise(numbers) if math.isfinite(a / 2 + b / 2)]
    return [*numbers, *between, *([math.nan] if variable.missing else [])]


def random_question(rng: Random, classifier: Any, unknown: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """An instance and what is asked about it."""
    instance = random_instance(rng, classifier, unknown)
    decided = classifier.decide(classifier.encode(instance))
    against = rng.choice([None, None, *(c for i, c in enumerate(classifier.classes) if i != decided)])
    return instance, {"against": against, "frozen": [v.name for v in classifier.variables if rng.random() < 0.1]}


def random_claim(rng: Random, brute: Brute, kind: str) -> Sets:
    """A reason, or one with a fault: a condition less or more, narrower, wider or shifted by a state."""
    states = brute.question.states
    known = [v for v, state in enumerate(states) if state != UNKNOWN]
    reasons = [each for each in subsets(known) if brute.is_reason(kind, own_states(states, each), general=False)]
    features = rng.choice(reasons) if reasons and rng.random() < 0.8 else [v for v in known if rng.random() < 0.7]
    said = widened(rng, brute, kind, features) or own_states(states, features)
    for _ in range(rng.choice((0, 1, 1, 2))):
        said = faulty(rng, brute, said)
    return said


def faulty(rng: Random, brute: Brute, said: Sets) -> Sets:
    v = rng.randrange(len(brute.variables))
    every = frozenset(range(brute.variables[v].size))
    if v not in said:
        return {**said, v: frozenset(rng.sample(sorted(every), rng.randint(1, len(every))))}
    state, inside, outside = brute.question.states[v], said[v], every - said[v]
    choices = [inside | {s} for s in outside] + [inside - {s} for s in inside if s != state]
    choices = [chosen for chosen in choices if chosen]
    choices += [inside - {a} | {b} for a in inside if a != state for b in outside]
    if not choices or rng.random() < 0.2:
        return {u: states for u, states in said.items() if u != v}
    return {**said, v: rng.choice(choices)}


def as_given(rng: Random, variables: Sequence[Variable], said: Sets) -> Any:
    """A claim as a Reason, or as a mapping of texts or lists."""
    literals = [Literal(variables[v], union((s, s) for s in states)) for v, states in said.items()]
    if rng.random() < 0.4:
        return Reason(literals)
    names = {literal.feature: [literal.variable.text(state) for state in literal.states] for literal in literals}
    return {x.feature: rng.choice((x.text, names[x.feature], set(names[x.feature]))) for x in literals}


def verdict(*claim: Any, **asked: Any) -> Refuted | None:
    """What `verify` says."""
    try:
        verify(*claim, **asked)
    except Refuted as refuted:
        return refuted
    return None


# ---- against brute force ----------------------------------------------------------------------------------------


def of_graph(rng: Random) -> tuple[Any, EscapeOnly]:
    """A decision graph and its twin."""
    d = random_graph(rng, features=3, states=4, classes=3, tests=8)
    graph = quia.DecisionGraph.from_dict(d)
    return graph, Subject(graph, d).twin(rng)


def of_table(rng: Random) -> tuple[Any, EscapeOnly]:
    """A truth table, which compares in 32 bits at times."""
    table = random_table(rng, single=rng.random() < 0.3)
    return table, table


@pytest.mark.parametrize("made", [of_graph, of_table])
@pytest.mark.parametrize("kind", ["sufficient", "necessary"])
@pytest.mark.parametrize("unknown", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_claims_against_the_definitions(made: Any, kind: Any, unknown: float, seed: int) -> None:
    rng = Random(f"{seed} {unknown}")
    counts = {True: 0, False: 0}
    for _ in range(150):
        classifier, twin = made(rng)
        instance, asked = random_question(rng, twin, unknown)
        _, question = ask(classifier, instance, **asked)
        for intervals, maximal in product((True, False), repeat=2):
            brute = Brute(twin, question, intervals)
            said = random_claim(rng, brute, kind)
            if kind == "necessary" and any(len(s) == twin.variables[v].size for v, s in said.items()):
                continue  # such a condition always holds; there is no change
            reason = as_given(rng, twin.variables, said)
            own = all(states == {question.states[v]} for v, states in said.items())
            expected = brute.is_reason(kind, said, general=not own, maximal=maximal)
            for asking in (classifier, twin):
                refuted = verdict(asking, instance, reason, kind, **asked, maximal=maximal, intervals=intervals)
                about = (twin.variables, twin.table, instance, asked, reason, maximal, intervals, refuted)
                assert (refuted is None) == expected, about
                if refuted is not None:
                    check_witness(brute, twin.table, kind, said, refuted)
            counts[expected] += 1
    assert min(counts.values()) > 40, counts


def check_witness(brute: Brute, table: Mapping[World, int], kind: str, said: Sets, refuted: Refuted) -> None:
    """The witness shows what the message says."""
    variables, own, message, witness = brute.variables, brute.question.states, str(refuted), refuted.witness
    assert "\n" not in message
    if witness is None:
        assert "no change of" in message and not brute.can_change(set(said))
        return
    index = {v.name: i for i, v in enumerate(variables)}
    if "but the instance's state is" in message:
        ((name, text),) = witness.items()
        assert own[index[name]] not in said[index[name]]
        state = own[index[name]]
        assert text in ("not known", "not tested") if state == UNKNOWN else text == variables[index[name]].text(state)
        return
    shown = {index[name]: states_in(variables[index[name]], text) for name, text in witness.items()}
    if "is not one interval" in message:
        ((v, states),) = shown.items()
        assert not brute.is_admitted(v, states)
    elif "forces" in message or "is not maximal" in message:
        if "is not minimal" in message:
            assert shown.keys() < said.keys() and brute.forces(shown) and kind == "sufficient"
        elif kind == "sufficient":
            assert shown in list(brute.wider(said)) and brute.forces(shown)
        else:
            every = {v: frozenset(range(variables[v].size)) for v in said}
            changes = {v: every[v] - shown[v] for v in said}
            assert changes in list(brute.wider({v: every[v] - said[v] for v in said})) and brute.all_change(changes)
    else:
        # It says nothing of variables that are not tested.
        assert all(len(states) == 1 for states in shown.values())
        check_instance(brute, table, said, message, tuple(min(shown.get(v, {0})) for v in range(len(variables))))


def check_instance(brute: Brute, table: Mapping[World, int], said: Sets, message: str, world: World) -> None:
    """An instance that refutes a claim does."""
    changed = table[world] not in brute.question.keeps
    differing = {v for v, state in enumerate(brute.question.states) if state not in (world[v], UNKNOWN)}
    assert differing.isdisjoint(brute.question.frozen)
    if "does not force" in message:
        assert changed and all(world[v] in states for v, states in said.items())
    elif "is enough to change" in message:
        assert changed and differing < said.keys()
    else:
        assert "not every change to" in message
        assert not changed and differing == said.keys() and all(world[v] not in said[v] for v in said)


def states_in(variable: Variable, text: str) -> frozenset[int]:
    """The states that a text names."""
    return frozenset(members(Region.parse([variable], {variable.name: text}).states(0)))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_found_is_a_reason(seed: int) -> None:
    """General reasons, as they are, and as what they say is read back."""
    rng = Random(seed)
    found = 0
    for _ in range(60):
        graph, twin = of_graph(rng)
        instance, asked = random_question(rng, twin, unknown=0.2)
        why = quia.explain(graph, instance, **asked)
        for kind, intervals in product(("sufficient", "necessary"), (True, False)):
            for reason in getattr(why, f"{kind}_reasons")(general=True, intervals=intervals):
                found += 1
                for claim in (reason, reason.to_dict()):
                    for classifier in (graph, twin):
                        verify(classifier, instance, claim, kind, **asked, maximal=True, intervals=intervals)
    assert found > 100


# ---- conditions that end between cuts ---------------------------------------------------------------------------


def admits(variable: Variable, condition: Any, value: Any) -> bool:
    """Whether a value meets a condition, compared in the model's type: by the definition of what is written."""
    if isinstance(condition, (list, tuple)):
        return any(admits(variable, each, value) for each in condition)
    if variable.labels is not None:
        return bool(value == condition)
    if value != value or condition == "missing":
        return value != value and condition == "missing"

    def typed(number: float) -> float:
        return nearest_single(number) if variable.single else number

    x = typed(value)
    if compared := re.fullmatch(r"(<=|>=|<|>|=) (\S+)", condition):
        t = typed(float(compared[2]))
        return bool({"<=": x <= t, ">=": x >= t, "<": x < t, ">": x > t, "=": x == t}[compared[1]])
    interval = re.fullmatch(r"([(\[])(\S+), (\S+)([)\]])", condition)
    assert interval is not None, condition
    low, high = typed(float(interval[2])), typed(float(interval[3]))
    return (low < x or (interval[1] == "[" and low == x)) and (x < high or (interval[4] == "]" and x == high))


def random_condition(rng: Random, variable: Variable) -> Any:
    """One that need not end at a cut; a text, or a list of these."""
    if variable.labels is not None:
        return rng.sample(variable.labels, rng.randint(1, len(variable.labels)))
    near = [t + d for t in (cut.threshold for cut in variable.cuts) for d in (-0.3, 0.0, 0.0, 0.2)]
    a, b = sorted(rng.sample(sorted({*near, -7.0, 7.5}), 2))
    texts = [f"{sign} {a!r}" for sign in ("<=", "<", ">", ">=")] + [f"[{a!r}, {b!r})", f"({a!r}, {b!r}]"]
    chosen = rng.sample([*texts, *(["missing"] if variable.missing else [])], rng.choice((1, 1, 2)))
    return chosen[0] if len(chosen) == 1 and rng.random() < 0.7 else chosen


class ByValue:
    """What conditions claim of an instance, by values at, beside and between their ends and the cuts."""

    def __init__(self, rng: Random, table: EscapeOnly) -> None:
        self.table = table
        chosen = rng.sample(table.variables, rng.randint(1, min(2, len(table.variables))))
        self.claim = {v.name: random_condition(rng, v) for v in chosen}
        ends = [float(t) for c in self.claim.values() for t in re.findall(r"[-+.\de]*\d", str(c)) if is_number(t)]
        self.variables = {v.name: v for v in table.variables}
        self.values = {x: values_of(v, ends) for x, v in self.variables.items()}
        self.meets = {x: [y for y in self.values[x] if admits(self.variables[x], c, y)] for x, c in self.claim.items()}
        self.others = {x: [y for y in self.values[x] if not is_in(y, self.meets[x])] for x in self.claim}
        self.instance = {
            x: rng.choice(self.meets[x] if self.meets.get(x) and rng.random() < 0.8 else self.values[x])
            for x in self.values
        }
        self.decided = table.decide(table.encode(self.instance))

    def decisions(self, box: Mapping[str, Any]) -> set[int]:
        """The classes of all instances in a box of values; other features may be anything."""
        each = [{v.encode(y) for y in box.get(x, self.values[x])} for x, v in self.variables.items()]
        return {self.table.table[world] for world in product(*each)}

    def is_reason(self, kind: str) -> bool:
        if not all(admits(self.variables[x], c, self.instance[x]) for x, c in self.claim.items()):
            return False
        own = {self.decided}
        if kind == "sufficient":
            smaller = [{x: self.meets[x] for x in self.claim if x != y} for y in self.claim]
            return self.decisions(self.meets) == own and not any(self.decisions(each) == own for each in smaller)
        kept = {x: [y] for x, y in self.instance.items()}
        changing = [{x: y for x, y in kept.items() if x not in self.claim or x == z} for z in self.claim]
        if not all(self.decisions(each) == own for each in changing):
            return False
        if all(self.states(self.meets, x) == self.states(kept, x) and not self.is_cut(x) for x in self.claim):
            return self.decisions({x: y for x, y in kept.items() if x not in self.claim}) != own  # as in the paper
        return self.decided not in self.decisions(kept | self.others)

    def states(self, box: Mapping[str, Any], feature: str) -> set[int]:
        return {self.variables[feature].encode(y) for y in box[feature]}

    def is_cut(self, feature: str) -> bool:
        """Whether the condition holds for some values of a state and not for others."""
        return bool(self.states(self.meets, feature) & self.states(self.others, feature))


@pytest.mark.parametrize("kind", ["sufficient", "necessary"])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_conditions_between_cuts_mean_just_the_values_that_meet_them(kind: Any, single: bool, seed: int) -> None:
    rng = Random(f"{seed} {single}")
    seen = {"accepted": 0, "not maximal": 0, "instance's value": 0, "does not force": 0, "not every change": 0}
    for _ in range(500):
        brute = ByValue(rng, random_table(rng, single=single))
        if not all(brute.meets.values()) or (kind == "necessary" and not all(brute.others.values())):
            continue  # it never holds, or always
        refuted = verdict(brute.table, brute.instance, brute.claim, kind)
        about = (brute.variables, brute.table.table, brute.instance, brute.claim, refuted)
        assert (refuted is None) == brute.is_reason(kind), about
        box = brute.meets if kind == "sufficient" else brute.others
        if refuted is None:
            seen["accepted"] += 1
            if any(map(brute.is_cut, brute.claim)):
                widest = verdict(brute.table, brute.instance, brute.claim, kind, maximal=True, intervals=False)
                assert widest is not None and widest.witness is not None and "is not maximal" in str(widest), about
                assert verdict(brute.table, brute.instance, widest.witness, kind) is None, about
                seen["not maximal"] += 1
            continue
        said = next((what for what in seen if what in str(refuted)), "")
        seen[said or "accepted"] += bool(said)
        if said in ("does not force", "not every change"):  # whatever the witness says is a counterexample
            witness: Any = refuted.witness
            fitting = {x: [y for y in brute.values[x] if fits(v, witness[x], y)] for x, v in brute.variables.items()}
            assert all(fitting.values()), about
            assert all(is_in(y, box[x]) for x in box for y in fitting[x]), about
            assert (brute.decided in brute.decisions(fitting)) == (kind == "necessary"), about
    missing = "not every change" if kind == "sufficient" else "does not force"
    assert min(count for what, count in seen.items() if what != missing) > 1, seen


def is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def is_in(value: Any, values: Sequence[Any]) -> bool:
    """Whether a value is one of these; NaN is NaN."""
    return any(value == each or (value != value and each != each) for each in values)


def fits(variable: Variable, text: str, value: Any) -> bool:
    """Whether a value is what a witness says."""
    return admits(variable, text if variable.labels is not None else text.split(" or "), value)


# ---- what is read, and what is said -----------------------------------------------------------------------------


LOANS = quia.DecisionGraph.from_dict(
    {
        "quia": 1,
        "variables": {
            "age": {"kind": "numeric"},
            "job": {"kind": "nominal", "states": ["none", "new", "old", "own"]},
            "home": {"kind": "nominal", "states": ["rents", "owns"]},
        },
        "classes": ["deny", "grant", "ask"],
        "root": "age",
        "nodes": {
            "age": {
                "test": "age",
                "edges": [
                    {"if": "<= 20", "to": "deny"},
                    {"if": "(20, 30]", "to": "young"},
                    {"if": "(30, 40]", "to": "job"},
                    {"if": "(40, 60]", "to": "job"},
                    {"if": "> 60", "to": "ask"},
                    {"if": "missing", "to": "job"},
                ],
            },
            "young": {"test": "home", "edges": [{"if": ["rents"], "to": "deny"}, {"if": ["owns"], "to": "job"}]},
            "job": {
                "test": "job",
                "edges": [{"if": ["none"], "to": "deny"}, {"if": ["new", "old", "own"], "to": "grant"}],
            },
            **{name: {"class": name} for name in ("deny", "grant", "ask")},
        },
    }
)
ANNA = {"age": 35, "job": "old", "home": "owns"}
"""She is granted a loan."""

WIDEST = {"age": "(30, 60] or missing", "job": "≠ none"}
"""A sufficient reason, as wide as it can be."""


@pytest.mark.parametrize(
    "claim",
    [
        WIDEST,
        {"age": ["(30, 40]", "(40, 60]", "missing"], "job": "≠ none"},
        {"job": "!= none", "age": ["missing", "(30, 60]"]},
        {"age": ("(30, 50]", "(45, 60] or missing"), "job": {"new", "old", "own"}},
        {"age": WIDEST["age"], "job": "in {new, old, own}"},
        {"age": WIDEST["age"], "job": "in {own, old, new}"},
        Reason([Literal(LOANS.variables[1], ((1, 3),)), Literal(LOANS.variables[0], ((2, 3), (5, 5)))]),
    ],
)
def test_one_reason_said_in_many_ways(claim: Any) -> None:
    for intervals in (True, False):
        verify(LOANS, ANNA, claim, "sufficient", maximal=True, intervals=intervals)


@pytest.mark.parametrize(
    ("claim", "said", "witness"),
    [
        ({"age": "(30, 60] or missing"}, "age in (30, 60] or missing does not force the decision 'grant'", None),
        ({**WIDEST, "home": "owns"}, "is not minimal: (age in (30, 60] or missing) and job ≠ none forces", WIDEST),
        ({**WIDEST, "age": "(30, 40] or missing"}, "is not maximal: (age in (30, 60] or missing) and", WIDEST),
        ({**WIDEST, "age": "(30, 60]"}, "age in (30, 60] and job ≠ none is not maximal: (age", WIDEST),
        ({**WIDEST, "job": ["old", "new"]}, "and job in {new, old} is not maximal", WIDEST),
        ({**WIDEST, "age": "(20, 60] or missing"}, "does not force the decision 'grant': the instance with", None),
        ({**WIDEST, "age": "> 30 or missing"}, "(age > 30 or missing) and job ≠ none does not force", None),
        ({**WIDEST, "age": "(40, 60]"}, "says age is '(40, 60]', but the instance's state is '(30, 40]'",
         {"age": "(30, 40]"}),
        ({**WIDEST, "age": "(36, 60]"}, "says age is '(36, 60]', but the instance's value is 35", {"age": "35"}),
        ({**WIDEST, "age": "(32.5, 60] or missing"}, "(age in (32.5, 60] or missing) and job ≠ none is not maximal:"
         " (age in (30, 60] or missing) and job ≠ none forces the decision 'grant' too", WIDEST),
        ({**WIDEST, "job": "new"}, "the reason says job is 'new', but the instance's state is 'old'", {"job": "old"}),
    ],
)  # fmt: skip
def test_every_fault_is_told_with_its_witness(claim: Any, said: str, witness: Any) -> None:
    with pytest.raises(Refuted, match=re.escape(said)) as refuted:
        verify(LOANS, ANNA, claim, "sufficient", maximal=True)
    found: Any = refuted.value.witness
    if witness is not None:
        assert found == witness
        return
    number = {"<= 20": 20, "(20, 30]": 30, "(30, 40]": 40, "(40, 60]": 60, "> 60": 61, "missing": None}[found["age"]]
    assert LOANS.classify({**found, "age": number}) != "grant"
    literals = {x: Region.parse(LOANS.variables, {x: c}).literals for x, c in claim.items()}
    assert all(next(literals[x]).holds(number if x == "age" else found[x]) for x in claim)


def test_a_witness_has_the_part_of_a_state_that_the_condition_leaves() -> None:
    with pytest.raises(Refuted, match=r"age <= 25 does not force.*the instance with age: \(20, 25\]") as refuted:
        verify(LOANS, {**ANNA, "age": 10}, {"age": "<= 25"}, "sufficient")
    found: Any = refuted.value.witness
    assert found["age"] == "(20, 25]" and LOANS.classify({**found, "age": 25}) != "deny"


def test_against_a_class() -> None:
    """Up to 60, or of unknown age, nobody is asked."""
    asked: Any = {"against": "ask", "maximal": True}
    verify(LOANS, ANNA, {"age": "<= 60 or missing"}, "sufficient", **asked)
    with pytest.raises(Refuted, match=r"age <= 60 is not maximal: age <= 60 or missing forces the decision not 'ask'"):
        verify(LOANS, ANNA, {"age": "<= 60"}, "sufficient", **asked)
    with pytest.raises(Refuted, match="does not force the decision not 'deny'"):
        verify(LOANS, ANNA, {"age": "<= 60 or missing"}, "sufficient", against="deny")
    verify(LOANS, ANNA, {"age": "<= 60 or missing"}, "necessary", **asked)
    with pytest.raises(Refuted, match="not every change to age <= 20 or > 60 changes the decision not 'ask'"):
        verify(LOANS, ANNA, {"age": "(20, 60] or missing"}, "necessary", against="ask")


def test_necessary_reasons_in_conditions() -> None:
    """Changes of age are the intervals ≤ 20 and > 60; of any set, both together."""
    for low in ("<= 20", "> 60"):
        change = Region.parse(LOANS.variables, {"age": low})
        (literal,) = change.literals
        reason = Reason([literal.negated])  # type: ignore[list-item]
        verify(LOANS, ANNA, reason, "necessary", maximal=True)
        verify(LOANS, ANNA, reason.to_dict(), "necessary", maximal=True)
        with pytest.raises(Refuted, match=r"is not maximal: every change to age <= 20 or > 60 changes") as refuted:
            verify(LOANS, ANNA, reason, "necessary", maximal=True, intervals=False)
        assert refuted.value.witness == {"age": "(20, 60] or missing"}
    both = {"age": "(20, 60] or missing"}
    verify(LOANS, ANNA, both, "necessary", maximal=True, intervals=False)
    with pytest.raises(Refuted, match=r"age <= 20 or > 60 is not one interval.*intervals=False for any set"):
        verify(LOANS, ANNA, both, "necessary", maximal=True)
    verify(LOANS, ANNA, {"age": "<= 70 or missing"}, "necessary")
    with pytest.raises(Refuted, match=r"is not maximal: every change to age > 60 changes") as refuted:
        verify(LOANS, ANNA, {"age": "<= 70 or missing"}, "necessary", maximal=True)
    assert refuted.value.witness == {"age": "<= 60 or missing"}
    with pytest.raises(
        Refuted, match=r"not every change to age > 35.5 changes .* age: \(35.5, 40\] leaves it"
    ) as refuted:
        verify(LOANS, ANNA, {"age": "<= 35.5 or missing"}, "necessary")
    found: Any = refuted.value.witness
    assert LOANS.classify({**found, "age": 36}) == "grant"


def test_of_a_necessary_reason_the_own_states_alone_mean_what_the_paper_means() -> None:
    """Some other age changes the decision, not every one; with `maximal`, or in general form, every one must."""
    own = {"age": "(30, 40]"}
    paper = Reason([State(LOANS.variables[0], 2)])
    for claim in (own, {"age": 33}, {"age": "33"}, paper, ["age"]):
        verify(LOANS, ANNA, claim, "necessary")
        with pytest.raises(Refuted, match="not every change to age <= 30 or > 40 or missing changes"):
            verify(LOANS, ANNA, claim, "necessary", maximal=True)
    with pytest.raises(Refuted, match="not every change to"):
        verify(LOANS, ANNA, Reason(paper, is_general=True), "necessary")
    young = {"age": 25, "job": "old", "home": "rents"}
    for claim in (["home"], {"home": "rents"}, Reason([State(LOANS.variables[2], 0)], is_general=True)):
        verify(LOANS, young, claim, "necessary", maximal=True)


def test_names_are_the_own_states_and_may_be_too_narrow() -> None:
    verify(LOANS, ANNA, ["age", "job"], "sufficient")
    with pytest.raises(
        Refuted, match=r"age and job is not maximal: \(age in \(30, 60\] or missing\) and job=old forces"
    ):
        verify(LOANS, ANNA, ["age", "job"], "sufficient", maximal=True)


def test_frozen_features_are_in_no_reason() -> None:
    young = {"age": 25, "job": "old", "home": "rents"}
    verify(LOANS, young, {"age": "<= 30"}, "sufficient", frozen=["home"], maximal=True)
    with pytest.raises(Refuted, match="is not minimal: age <= 30 forces"):
        verify(LOANS, young, {"age": "<= 30", "home": "rents"}, "sufficient", frozen=["home"])
    with pytest.raises(Refuted, match="no change of home alone changes"):
        verify(LOANS, young, {"home": "rents"}, "necessary", frozen=["home"], maximal=True)


def test_a_literal_of_another_model_is_read_as_it_is_written() -> None:
    other = Variable.numeric("age", [30, 40, 60], missing=True)
    verify(LOANS, ANNA, Reason([Literal(other, ((1, 2), (4, 4))), State(LOANS.variables[1], 2)]), "sufficient")


@pytest.mark.parametrize(
    ("claim", "kind", "fault"),
    [
        ({"agee": "> 30"}, "sufficient", "'agee' is no feature (did you mean 'age'?)"),
        ({"age": ">> 30"}, "sufficient", "the condition on 'age' is '>> 30': the condition '>> 30' cannot be read"),
        ({"age": [35]}, "sufficient", "the condition 35 is not a string"),
        ({"age": "(60, 30]"}, "sufficient", "holds for no number"),
        ({"age": []}, "sufficient", "which never holds; widen it"),
        ({"job": "in {new, odd}"}, "sufficient", "'job' has no state 'odd'"),
        ({"job": "≠ odd"}, "sufficient", "'job' has no state 'odd'; its states are none, new, old, own (did you mean"),
        ({"age": ["(-inf, inf)", "missing"]}, "necessary", "always holds, so that there is no change of 'age'; narrow"),
        ({"home": ["rents", "owns"]}, "necessary", "home in {rents, owns} always holds"),
        (Reason([State(LOANS.variables[0], 2), State(LOANS.variables[0], 3)]), "sufficient", "two things of 'age'"),
    ],
)
def test_claims_that_are_none(claim: Any, kind: Any, fault: str) -> None:
    with pytest.raises(InstanceError, match=re.escape(fault)) as refused:
        verify(LOANS, ANNA, claim, kind)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("option", ["maximal", "intervals"])
def test_flags_of_the_wrong_kind(option: str) -> None:
    with pytest.raises(InstanceError, match=f"{option} is 'no'; it is True or False"):
        verify(LOANS, ANNA, WIDEST, "sufficient", **{option: "no"})  # type: ignore[arg-type]


# ---- unknown features, and what it costs ------------------------------------------------------------------------


def coins(n: int, never: int = 0) -> EscapeOnly:
    """Heads if a number, one of n but not this one, and a coin are both even or both odd."""
    number, coin = Variable.numeric("number", range(1, n)), Variable.nominal("coin", ["even", "odd"])
    table = {(a, b): int(a not in (0, never) and a % 2 == b) for a in range(n) for b in (0, 1)}
    return EscapeOnly((number, coin), ("tails", "heads"), (0, 1), table, Random(1))


def test_what_changes_do_may_depend_on_an_unknown_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one side of the coin, which nobody has seen, every other number gives heads: it can change the decision."""
    instance = {"number": 0, "coin": None}
    verify(coins(9), instance, ["number"], "necessary", maximal=True)
    verify(coins(9), instance, {"number": "<= 1"}, "necessary", maximal=True)
    with pytest.raises(Refuted, match="the reason says coin is 'odd', but the instance's state is 'not known'"):
        verify(coins(9), instance, {"coin": "odd"}, "sufficient")
    for claim in ({"number": "<= 1"}, {"number": "<= 2"}):
        with pytest.raises(Refuted, match=r"not every change to number > . changes the decision 'tails'") as refuted:
            verify(coins(9, never=5), instance, claim, "necessary", maximal=True)
        found: Any = refuted.value.witness
        assert found["number"] == "(5, 6]"
    monkeypatch.setattr(sys.modules["quia.verify"], "MOST_POINTS", 6)
    verify(coins(6), instance, ["number"], "necessary", maximal=True)
    with pytest.raises(TooLarge, match="more than 6 changes to try; give the values of these features") as fault:
        verify(coins(9), instance, ["number"], "necessary", maximal=True)
    assert fault.value.limit == 6
    verify(coins(9), {"number": 0, "coin": "odd"}, {"number": ["<= 1", "> 2"]}, "necessary")


class Counting(EscapeOnly):
    """It counts how often it is asked."""

    calls = 0

    def escape(self, question: Question, region: Region) -> World | None:
        self.calls += 1
        return super().escape(question, region)


@pytest.mark.parametrize("kind", ["sufficient", "necessary"])
def test_one_search_for_each_state_that_cannot_be_added(kind: Any) -> None:
    """Of 60 numbers one of three is refused; an interval has but two neighbours and 'missing'."""
    number = Variable.numeric("number", range(1, 60), missing=True)
    table = {(a,): int(a % 3 == 0) for a in range(61)}
    classifier = Counting((number,), ("no", "yes"), (0,), table, Random(1))
    states = [a for a in range(61) if (a % 3 == 0) == (kind == "necessary")]
    literal = Literal(number, union((a, a) for a in states))
    verify(classifier, {"number": 1.5} if kind == "sufficient" else {"number": 0}, Reason([literal]), kind,
           maximal=True, intervals=False)  # fmt: skip
    refused = 61 - len(states) if kind == "sufficient" else len(states)
    assert classifier.calls <= refused + 3
    classifier.calls = 0
    change = Literal(number, ((1, 2),))
    reason = Reason([change if kind == "sufficient" else change.negated])  # type: ignore[list-item]
    verify(classifier, {"number": 1.5} if kind == "sufficient" else {"number": 0}, reason, kind, maximal=True)
    assert classifier.calls <= 6


def test_a_message_is_not_as_long_as_a_reason_can_be() -> None:
    number = Variable.numeric("number", range(1, 200))
    classifier = EscapeOnly((number,), ("no", "yes"), (0,), {(a,): a % 2 for a in range(200)}, Random(1))
    even = Literal(number, union((a, a) for a in range(0, 198, 2)))
    with pytest.raises(Refuted, match="… is not maximal: number <= 1 or ") as refuted:
        verify(classifier, {"number": 0}, Reason([even]), "sufficient", maximal=True, intervals=False)
    assert len(str(refuted.value)) < 1000
    assert refuted.value.witness == {"number": Literal(number, union((a, a) for a in range(0, 200, 2))).text}
