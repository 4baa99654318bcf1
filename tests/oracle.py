"""Every definition of the paper by brute force, on the JSON format itself (DESIGN §5).

This module imports nothing of quia: it is what quia is compared with. It walks the nodes with the
conditions as they are written and tries all worlds and all subsets, so keep graphs tiny.

Glossary
    d         a decision graph in the JSON format
    instance  a mapping from feature to raw value (δ in the paper); a feature that it lacks is unknown, and may be
              anything: only `classify` and `world_of` need every value
    state     what the graph can tell apart: a nominal value, or one number standing for all that
              no condition of the graph separates from it; None stands for missing
    world     one state for each variable, in the variables' order
    reason    the features whose states in the instance make up a sufficient or necessary reason
    against   c*, when the question is "why not c*" (Eq. 2) instead of "why c"
    frozen    features that no change may touch; they count as given
"""

import json
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, product
from math import inf, isnan, nextafter
from typing import Any, cast

Graph = Mapping[str, Any]
Instance = Mapping[str, Any]
State = Hashable
World = tuple[State, ...]
Space = Mapping[str, Sequence[State]]
Reason = frozenset[str]
Costs = Mapping[str, float]
Cut = tuple[float, bool]  # (t, False) cuts before t, (t, True) after t
Literal = tuple[str, State, bool]  # (X, x, True) is the state X=x, (X, x, False) its negation

MISSING = "missing"
LEAST, GREATEST = (-inf, False), (inf, True)
_COMPARISON = re.compile(r"\s*(<=|<|>=|>)\s*([^\s<>=]+)\s*")
_INTERVAL = re.compile(r"\s*([\[(])\s*([^\s,]+)\s*,\s*([^\s,]+?)\s*([\])])\s*")


# Conditions and values (DESIGN §4, §5)


@cache
def interval(text: str) -> tuple[Cut, Cut]:
    """The two cuts that a numeric condition lies between.

    An infinite end of an interval is no end: `(1.5, inf)` is `> 1.5`.

    >>> interval("(0.6, 1.5]")
    ((0.6, True), (1.5, True))
    >>> interval(">= 1450")
    ((1450.0, False), (inf, True))
    """
    if found := _COMPARISON.fullmatch(text):
        sign, cut = found[1], (float(found[2]), found[1] in ("<=", ">"))
        return (LEAST, cut) if sign[0] == "<" else (cut, GREATEST)
    if found := _INTERVAL.fullmatch(text):
        low, high = (float(found[2]), found[1] == "("), (float(found[3]), found[4] == "]")
        return (LEAST if low[0] == -inf else low, GREATEST if high[0] == inf else high)
    raise ValueError(f"{text!r} is no numeric condition")


def parts(condition: str | Sequence[str]) -> Sequence[str]:
    """The conditions that a numeric condition is the union of."""
    return [condition] if isinstance(condition, str) else condition


def number(value: Any) -> float | None:
    """A raw value of a numeric feature, which may come as text; None if it is missing."""
    return None if value is None or isnan(float(value)) else float(value)


def takes(condition: str | Sequence[str], value: Any, *, kind: str) -> bool:
    """Whether an edge with this condition is the one for this raw value."""
    if kind == "nominal":
        return value in condition
    x = number(value)
    if x is None:
        return MISSING in parts(condition)
    ranges = (interval(text) for text in parts(condition) if text != MISSING)
    return any(low <= (x, False) < high for low, high in ranges)


def classify(d: Graph, instance: Instance) -> str:
    """The class of the leaf that the instance's one path leads to (§4)."""
    node = d["nodes"][d["root"]]
    while "test" in node:
        value, kind = instance[node["test"]], d["variables"][node["test"]]["kind"]
        [child] = [e["to"] for e in node["edges"] if takes(e["if"], value, kind=kind)]
        node = d["nodes"][child]
    return str(node["class"])


# States and worlds (§2; §4, "Numeric Features")


def conditions(d: Graph, feature: str) -> set[str]:
    """Every condition on a numeric feature that the graph mentions, on whatever node."""
    tests = (node for node in d["nodes"].values() if node.get("test") == feature)
    return {text for node in tests for edge in node["edges"] for text in parts(edge["if"])}


def cuts(d: Graph, feature: str) -> list[Cut]:
    """Where the graph cuts a numeric feature's values, in increasing order."""
    ranges = (interval(text) for text in conditions(d, feature) - {MISSING})
    return sorted({cut for ends in ranges for cut in ends} - {LEAST, GREATEST})


def domain(d: Graph, feature: str) -> tuple[State, ...]:
    """The states of a variable; every interval between two cuts that holds a float is one."""
    variable = d["variables"][feature]
    if variable["kind"] == "nominal":
        return tuple(variable["states"])
    between = cuts(d, feature)
    near = {v for t, _ in between for v in (nextafter(t, -inf), t, nextafter(t, inf))} or {0.0}
    numbers = {_position(v, between): v for v in sorted(near)}.values()
    return (*numbers, None) if MISSING in conditions(d, feature) else tuple(numbers)


def state(d: Graph, feature: str, value: Any) -> State:
    """The state that a raw value is in: the member of the domain that stands for it."""
    states: Sequence[Any] = space(d)[feature]
    x = value
    if d["variables"][feature]["kind"] == "numeric":
        x, between = number(value), cuts(d, feature)
        place = {_position(v, between): v for v in states if v is not None}
        x = x if x is None else place[_position(x, between)]
    if x not in states:
        raise ValueError(f"{feature} is {value!r}; its states are {states}")
    return cast(State, x)


def _position(x: float, between: Sequence[Cut]) -> int:
    return sum(cut <= (x, False) for cut in between)


def space(d: Graph) -> dict[str, tuple[State, ...]]:
    """Every variable's states."""
    return _tabulate(json.dumps(d))[0]


def worlds(d: Graph) -> dict[World, str]:
    """Every world, with its class: the class formulas Δ¹, …, Δⁿ of §2 as one truth table."""
    return _tabulate(json.dumps(d))[1]


@lru_cache(maxsize=64)  # keyed by the text, for a dict has no hash
def _tabulate(text: str) -> tuple[dict[str, tuple[State, ...]], dict[World, str]]:
    d = json.loads(text)
    states = {feature: domain(d, feature) for feature in d["variables"]}
    every = product(*states.values())
    return states, {w: classify(d, dict(zip(states, w, strict=True))) for w in every}


def world_of(d: Graph, instance: Instance) -> World:
    """The instance as a world."""
    return tuple(state(d, feature, instance[feature]) for feature in d["variables"])


def known(d: Graph, instance: Instance) -> dict[str, State]:
    """The states of the features that the instance has a value of."""
    return {x: state(d, x, instance[x]) for x in d["variables"] if x in instance}


def completions(d: Graph, instance: Instance) -> Iterator[dict[str, Any]]:
    """The instance with every value that its unknown features could have."""
    unknown = [x for x in d["variables"] if x not in instance]
    for values in product(*(space(d)[x] for x in unknown)):
        yield {**instance, **dict(zip(unknown, values, strict=True))}


def decision(d: Graph, instance: Instance) -> str | None:
    """The class of the instance, whatever its unknown features are; None if that depends on them."""
    classes = {classify(d, whole) for whole in completions(d, instance)}
    return classes.pop() if len(classes) == 1 else None


def decisive(d: Graph, instance: Instance) -> set[str]:
    """The unknown features that alone can make a difference: two completions differ in nothing else but the class."""
    found: dict[tuple[str, World], set[str]] = {}
    for whole in completions(d, instance):
        w = world_of(d, whole)
        for at, x in enumerate(d["variables"]):
            if x not in instance:
                found.setdefault((x, (*w[:at], *w[at + 1 :])), set()).add(classify(d, whole))
    return {x for (x, _), classes in found.items() if len(classes) > 1}


# Sufficient and necessary reasons (§5)


def subsets(features: Iterable[str]) -> Iterator[Reason]:
    """Every subset, the shorter ones first."""
    pool = sorted(set(features))
    return (frozenset(s) for size in range(len(pool) + 1) for s in combinations(pool, size))


def minimal(sets: Iterable[frozenset[Any]]) -> set[frozenset[Any]]:
    """The sets that contain no other one."""
    family = set(sets)
    return {s for s in family if not any(other < s for other in family)}


def free(d: Graph, frozen: Collection[str] = ()) -> Reason:
    """The features that a reason may mention."""
    return frozenset(d["variables"]) - frozenset(frozen)


def refutations(
    d: Graph, instance: Instance, against: str | None = None, frozen: Collection[str] = ()
) -> dict[World, Reason]:
    """The worlds of another class (of c*) that keep what is frozen and known, and what they change of what is known."""
    given, decided = known(d, instance), decision(d, instance)
    changed = {
        w: frozenset(x for x, new in zip(d["variables"], w, strict=True) if x in given and given[x] != new)
        for w, c in worlds(d).items()
        if (c != decided if against is None else c == against)
    }
    return {w: features for w, features in changed.items() if features <= free(d, frozen)}


def sufficient_reasons(
    d: Graph, instance: Instance, against: str | None = None, frozen: Collection[str] = ()
) -> set[Reason]:
    """Minimal sets of features whose values alone, with the frozen ones, force the decision.

    Paper: §5, prime implicants of the complete reason; Prop. 10.
    """
    refuting = set(refutations(d, instance, against, frozen).values())
    # A world agrees with the instance on s if it changes nothing in s.
    return minimal(s for s in subsets(free(d, frozen)) if all(s & change for change in refuting))


def necessary_reasons(
    d: Graph, instance: Instance, against: str | None = None, frozen: Collection[str] = ()
) -> set[Reason]:
    """Minimal sets γ of features that, changed alone, can change the decision: δ∖γ ⊭ Δ.

    Paper: Def. 5 and Prop. 11, prime implicates of the complete reason; Eq. 2 for a target.
    """
    refuting = set(refutations(d, instance, against, frozen).values())
    return minimal(s for s in subsets(free(d, frozen)) if any(change <= s for change in refuting))


def cost(reason: Iterable[str], costs: Costs | None = None) -> float:
    """The sum of the features' costs; a feature without one costs 1."""
    return sum((costs or {}).get(feature, 1) for feature in reason)


def shortest(reasons: Iterable[Reason], costs: Costs | None = None) -> set[Reason]:
    """The reasons of least length, or of least cost (§6)."""
    family = set(reasons)
    least = min((cost(reason, costs) for reason in family), default=0)
    return {reason for reason in family if cost(reason, costs) == least}


def minimal_hitting_sets(sets: Iterable[Reason]) -> set[Reason]:
    """Minimal sets that meet every given set: SR ↔ NR, in both directions (§5, duality)."""
    family = set(sets)
    union = frozenset().union(*family)
    return minimal(s for s in subsets(union) if all(s & t for t in family))


def importance(
    d: Graph, instance: Instance, against: str | None = None, frozen: Collection[str] = ()
) -> dict[str, Fraction]:
    """For every feature, the share of the sufficient reasons that it is in; 0 if there are none."""
    reasons = sufficient_reasons(d, instance, against, frozen)
    return {x: Fraction(sum(x in r for r in reasons), len(reasons) or 1) for x in d["variables"]}


# What the reasons are for


def counterfactuals(
    d: Graph,
    instance: Instance,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Costs | None = None,
) -> list[tuple[dict[str, State], str]]:
    """Every violation of a shortest necessary reason that changes the class, with the new class.

    A violation gives each feature of the reason another state: {feature: new state}.
    Paper: §5, "Targeting a Particular Class", counterfactual explanations.
    """
    nearest = shortest(necessary_reasons(d, instance, against, frozen), costs)
    return [
        ({x: v for x, v in zip(d["variables"], w, strict=True) if x in change}, worlds(d)[w])
        for w, change in refutations(d, instance, against, frozen).items()
        if change in nearest
    ]


def possible_changes(
    d: Graph,
    instance: Instance,
    against: str | None = None,
    frozen: Collection[str] = (),
    costs: Costs | None = None,
) -> list[tuple[dict[str, State], str, bool]]:
    """The counterfactuals of an instance with unknown features: a change, a class that it then has, is that certain.

    Every violation of a shortest necessary reason, with each class that does not keep the decision and that it leads to
    for some values of the unknown features; certain if it leads there for all.
    """
    nearest = shortest(necessary_reasons(d, instance, against, frozen), costs)
    found: dict[World, tuple[dict[str, State], set[str]]] = {}
    for w, change in refutations(d, instance, against, frozen).items():
        if change in nearest:
            after = dict(zip(d["variables"], w, strict=True))
            changes = {x: after[x] for x in d["variables"] if x in change}
            found.setdefault(tuple(changes.items()), (changes, set()))[1].add(worlds(d)[w])
    return [
        (changes, c, decision(d, {**instance, **changes}) == c) for changes, classes in found.values() for c in classes
    ]


def holds_without(d: Graph, instance: Instance, features: Collection[str], against: str | None = None) -> bool:
    """Whether the decision sticks whatever these features are, all others kept."""
    changes = refutations(d, instance, against).values()
    return not any(change <= frozenset(features) for change in changes)


def decision_biased(d: Graph, instance: Instance, protected: Collection[str]) -> bool:
    """Whether the decision can change by changing protected features alone (§1, Luna)."""
    return not holds_without(d, instance, protected)


def classifier_biased(d: Graph, protected: Collection[str]) -> bool:
    """Whether some instance's decision is biased.

    That is, whether two worlds of different classes differ by protected features alone.
    """
    classes: dict[World, set[str]] = {}
    for w, c in worlds(d).items():
        rest = tuple(v for x, v in zip(d["variables"], w, strict=True) if x not in protected)
        classes.setdefault(rest, set()).add(c)
    return any(len(found) > 1 for found in classes.values())


def congruent(d: Graph, one: Instance, other: Instance) -> bool:
    """Whether the known states that two instances share imply one class (Def. 4)."""
    both = {x: (state(d, x, one[x]), state(d, x, other[x])) for x in d["variables"] if x in one and x in other}
    shared = {x: a for x, (a, b) in both.items() if a == b}
    return len({classify(d, whole) for whole in completions(d, {x: one[x] for x in shared})}) == 1


# The complete reason (§3)


def complete_reason_models(d: Graph, instance: Instance, against: str | None = None) -> set[World]:
    """The worlds congruent to the instance (Def. 4), which Prop. 9 says are the models of ∀δ·Δ.

    Against c* the class formula Δ is that of the classes other than c*.
    """
    given, refuting = world_of(d, instance), set(refutations(d, instance, against).values())

    def shares(w: World) -> Reason:
        return frozenset(x for x, a, b in zip(d["variables"], given, w, strict=True) if a == b)

    return {w for w in worlds(d) if all(shares(w) & change for change in refuting)}


def complete_reason(
    d: Graph, instance: Instance, against: str | None = None, frozen: Collection[str] = ()
) -> set[Reason]:
    """∀δ·Δ by Defs. 1 and 2, as the sets of features whose states in δ satisfy it.

    It is monotone in the states of δ, so these sets determine it. Frozen states are ⊤, unknown ones ⊥.
    """
    given = known(d, instance)
    formula = set(worlds(d)) - set(refutations(d, instance, against))
    reason = forall_each(space(d), formula, given)

    def satisfies(features: Reason) -> bool:
        kept = (features | frozenset(frozen)) & given.keys()
        pools = ([given[x]] if x in kept else space(d)[x] for x in d["variables"])
        return all(w in reason for w in product(*pools))

    return {s for s in subsets(free(d, frozen)) if satisfies(s)}


# Discrete formulas, each as the set of its models (§2, §3)


def models(variables: Space, formula: Callable[[dict[str, Any]], object]) -> set[World]:
    """The worlds that satisfy a formula, given as a predicate of {variable: state}."""
    every = product(*variables.values())
    return {w for w in every if formula(dict(zip(variables, w, strict=True)))}


def condition(variables: Space, formula: Collection[World], x: str, x_i: State) -> set[World]:
    """Δ|x_i: the worlds that satisfy Δ once X is set to x_i (§2)."""
    at = list(variables).index(x)
    return {w for w in product(*variables.values()) if (*w[:at], x_i, *w[at + 1 :]) in formula}


def forall(variables: Space, formula: Collection[World], x: str, x_i: State) -> set[World]:
    """∀x_i·Δ = (Δ|x_i) ∧ ⋀_{j≠i} (x_i ∨ Δ|x_j) (Def. 1)."""
    has_x_i = models(variables, lambda w: w[x] == x_i)
    result = condition(variables, formula, x, x_i)
    for x_j in variables[x]:
        if x_j != x_i:
            result &= has_x_i | condition(variables, formula, x, x_j)
    return result


def forall_each(variables: Space, formula: Collection[World], term: Mapping[str, State]) -> set[World]:
    """∀{x, y, …}·Δ, in the term's order, which does not matter (after Def. 1)."""
    result = set(formula)
    for x, x_i in term.items():
        result = forall(variables, result, x, x_i)
    return result


def literals(variables: Space, x: str, *, positive: bool = False) -> list[Literal]:
    """The literals of a variable that are neither valid nor the same as another one (§2).

    With two states, a negated state *is* the other state; with one, every literal is a constant.
    """
    states = variables[x] if len(variables[x]) > 1 else ()
    signs = (True,) if positive or len(states) == 2 else (True, False)
    return [(x, x_i, sign) for x_i in states for sign in signs]


def literal_sets(variables: Space, *, positive: bool = False) -> Iterator[frozenset[Literal]]:
    """Every term or clause: literals, at most one per variable (§2)."""
    choices = ([None, *literals(variables, x, positive=positive)] for x in variables)
    return (frozenset(filter(None, choice)) for choice in product(*choices))


def prime_implicants(
    variables: Space, formula: Collection[World], *, positive: bool = False
) -> set[frozenset[Literal]]:
    """The terms that imply the formula and contain no other such term (§2)."""

    def implies(term: frozenset[Literal]) -> bool:
        found = models(variables, lambda w: all((w[x] == x_i) == sign for x, x_i, sign in term))
        return found <= set(formula)

    return minimal(filter(implies, literal_sets(variables, positive=positive)))


def prime_implicates(
    variables: Space, formula: Collection[World], *, positive: bool = False
) -> set[frozenset[Literal]]:
    """The clauses that the formula implies and that contain no other such clause (§2).

    Prop. 10 (the prime implicates of a complete reason are subsets of δ) needs `positive=True`:
    among all clauses, the complete reason x₂ of a ternary X also has the prime implicate x̄₁.
    """

    def implied(clause: frozenset[Literal]) -> bool:
        found = models(variables, lambda w: any((w[x] == x_i) == sign for x, x_i, sign in clause))
        return found >= set(formula)

    return minimal(filter(implied, literal_sets(variables, positive=positive)))
