"""Attack possible worlds: `python tests/attack_worlds.py N SEED` compares N random questions with brute force.

It prints every disagreement, with the line that makes it again; a third number is the one case to try.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import oracle
import quia
from worlds_cases import MODELS, Model, random_case, random_formula
from worlds_oracle import Box, Case, Cells, Worlds, asking

KINDS = ("sufficient", "necessary")


class Disagreement(AssertionError):
    """What is answered is not what brute force finds."""


def same(found: Any, expected: Any, what: str) -> None:
    """Raise Disagreement unless two things are equal."""
    if found != expected:
        raise Disagreement(f"{what}: expected {expected}, got {found}")


# ---- what is read of answers ------------------------------------------------------------------------------------


def cells_of(worlds: Worlds, literal: Any) -> Cells:
    """The cells in which a literal holds; it may cut none."""
    name = literal.feature
    both = [[literal.holds(end) for end in cell] for cell in worlds.cells[name]]
    if any(first != last for first, last in both):
        raise Disagreement(f"{literal} holds in a part of a cell: {worlds.cells[name]}")
    return tuple(at for at, (first, _) in enumerate(both) if first)


def box_of(worlds: Worlds, literals: Iterable[Any]) -> Box:
    """Literals as a box."""
    return tuple((literal.feature, cells_of(worlds, literal)) for literal in literals)


def sets_of(reasons: Iterable[Any]) -> list[frozenset[str]]:
    """The features of each reason."""
    return [frozenset(reason.features) for reason in reasons]


def asked_of(why: Any, kind: str, **how: Any) -> Any:
    """The reasons of a kind."""
    return getattr(why, f"{kind}_reasons")(**how)


# ---- what is compared -------------------------------------------------------------------------------------------


def check_reasons(worlds: Worlds, why: Any) -> None:
    """All and the shortest reasons of both kinds, their number, what each feature's share is; what they say is true."""
    costs = worlds.case.costs
    same(worlds.sufficient, oracle.minimal_hitting_sets(worlds.necessary), "duality of the oracle itself")
    for kind in KINDS:
        expected = worlds.sufficient if kind == "sufficient" else worlds.necessary
        reasons = asked_of(why, kind)
        found = sets_of(reasons)
        same(len(found), len(set(found)), f"{kind} reasons, each once")
        same(set(found), expected, f"{kind} reasons")
        same(reasons.complete, True, f"{kind} reasons are complete")
        shortest = sets_of(asked_of(why, kind, shortest=True))
        same(set(shortest), oracle.shortest(expected, costs), f"shortest {kind} reasons")
        same(getattr(why, f"count_{kind}")(), len(expected), f"count of {kind} reasons")
        for reason in reasons:
            own = box_of(worlds, reason.literals)
            same(all(worlds.own[name] in cells for name, cells in own), True, f"{reason} holds of the instance")
            if kind == "sufficient":
                same(worlds.box_forces(own), True, f"{reason} forces the decision")
    same(why.is_constant, not worlds.necessary, "whether nothing can change the decision")
    total = len(worlds.sufficient)
    shares = {x: Fraction(sum(x in r for r in worlds.sufficient), total) for x in worlds.names}
    told = why.importance()
    same({x: told[x] for x in worlds.names}, shares, "importance")


def check_general(worlds: Worlds, why: Any) -> None:
    """All boxes of both kinds, in intervals and not."""
    for kind in KINDS:
        for intervals in (True, False):
            expected = worlds.boxes(kind, intervals=intervals)
            reasons = asked_of(why, kind, general=True, intervals=intervals)
            found: dict[frozenset[str], list[Box]] = {}
            for reason in reasons:
                box = box_of(worlds, reason.literals if kind == "sufficient" else reason.changes)
                found.setdefault(frozenset(reason.features), []).append(box)
            what = f"general {kind} reasons, intervals={intervals}"
            same(set(found), {reason for reason, boxes in expected.items() if boxes}, f"features of {what}")
            for reason, boxes in found.items():
                same(len(boxes), len(set(boxes)), f"{what} over {set(reason)}, each once")
                if any(worlds.features[name].is_line for name in reason):  # not all of them need be found
                    same(set(boxes) - set(expected[reason]), set(), f"{what} over {set(reason)} that are none")
                else:
                    same(set(boxes), set(expected[reason]), f"{what} over {set(reason)}")


def check_changes(worlds: Worlds, why: Any) -> None:
    """Counterfactuals are the largest regions of possible changes; what is certain comes first."""
    for missing in (False, True):
        found = why.counterfactuals(missing=missing)
        if worlds.case.given and len(worlds.known) < len(worlds.names):
            # What an unknown feature cannot be makes a change not certain, though nothing possible speaks against it.
            for c in found:
                check_changed(worlds, c.changes, c.decision, c.certain, c.features)
            continue
        told = [(box_of(worlds, c.changes), c.decision, c.certain) for c in found]
        expected = worlds.counterfactuals(missing=missing)
        what = f"counterfactuals, missing={missing}"
        same(len(told), len(set(told)), f"{what}, each once")
        if any(worlds.features[name].is_line for box, *_ in expected for name, _ in box):
            same(set(told) - expected, set(), f"{what} that are none")
            same(bool(told), bool(expected), f"whether there are {what}")
        else:
            same(set(told), expected, what)
        same([c.certain for c in found], sorted((c.certain for c in found), reverse=True), f"order of {what}")


def check_superfluous(worlds: Worlds, why: Any) -> None:
    """Reasons that another covers are marked, and shown last."""
    if worlds.merged().superfluous != worlds.superfluous:
        return  # it hangs on a cut that changes nothing
    reasons = list(asked_of(why, "sufficient"))
    marked = {frozenset(r.features) for r in reasons if r.is_superfluous}
    same(marked, worlds.superfluous, "superfluous reasons")
    same([r for r in asked_of(why, "necessary") if r.is_superfluous], [], "superfluous necessary reasons")
    shown = why.to_dict(limit=None, general=False)["sufficient"]["reasons"]
    order = [frozenset(features_shown(reason)) in worlds.superfluous for reason in shown]
    same(order, sorted(order), "superfluous reasons are shown last in to_dict()")
    if not any(feature.is_line for feature in worlds.features.values()):  # of those not all reasons need be found
        check_superfluous_boxes(worlds, why)


def check_superfluous_boxes(worlds: Worlds, why: Any) -> None:
    """Of widened reasons those are marked whose possible worlds are some of those of another one."""
    covers = {
        box: frozenset(np.flatnonzero(worlds.inside(box) & worlds.cover(())))
        for boxes in worlds.boxes("sufficient").values()
        for box in boxes
    }
    if worlds.merged().superfluous != worlds.superfluous or len(worlds.known) < len(worlds.names):
        return
    for reason in asked_of(why, "sufficient", general=True):
        own = covers[box_of(worlds, reason.literals)]
        same(reason.is_superfluous, any(own < other for other in covers.values()), f"{reason} is superfluous")


def features_shown(reason: Any) -> list[str]:
    """The features of a reason in JSON."""
    conditions = reason if isinstance(reason, list) else reason.get("conditions", reason)
    return [each["feature"] for each in conditions] if isinstance(conditions, list) else list(conditions)


def check_without(worlds: Worlds, why: Any, rng: Random) -> None:
    """What holds without some features, even if, and bias, with its vacuous cases."""
    case = worlds.case
    features = [x for x in worlds.names if rng.random() < rng.choice((0.2, 0.5))] or [rng.choice(worlds.names)]
    holds = worlds.holds_without(features)
    same(why.holds_without(features), holds, f"holds without {features}")
    even = why.even_if(features, general=False)
    same(even.holds, holds, f"even if {features}")
    if holds:
        kept = tuple(x for x in case.frozen if x not in features)
        avoiding = {r for r in asking(case, frozen=kept).sufficient if r.isdisjoint(features)}
        same(set(sets_of(even.because)), avoiding, f"even if {features}, because")
    else:
        check_changed(worlds, even.changes, even.changed_decision, even.certain, features)
    bias = why.bias(features)
    same(bias.biased, not holds, f"bias of {features}")
    if bias.biased:
        check_changed(worlds, bias.changes, bias.changed_decision, bias.certain, features)
    tested = {why.variables[v].name for v in why.classifier.tested}
    is_bounded = case.given or case.within or case.near or case.only_up or case.only_down
    if is_bounded and tested.issuperset(features):
        same(bias.is_vacuous, holds and worlds.is_vacuous(features), f"bias of {features} is vacuous")


def check_changed(worlds: Worlds, changes: Any, decision: str, certain: bool, features: Iterable[str]) -> None:
    """Changes of some features alone lead to a decision: all of them are possible."""
    box = box_of(worlds, changes)
    same({name for name, _ in box} <= set(features), True, f"{box} changes nothing but {features}")
    names = [name for name, _ in box]
    frozen_too = worlds.agrees([name for name in worlds.known if name not in names]) & worlds.is_possible
    has_it = worlds.labels == worlds.case.classes.index(decision)
    good = worlds.projected(frozen_too & has_it, names)
    if certain:
        good &= ~worlds.projected(frozen_too & ~has_it, names)
    possible = (reachable(worlds, name, cells) for name, cells in box)
    same(good[np.ix_(*possible)].all(), True, f"{box} leads to {decision}, certainly: {certain}")


def reachable(worlds: Worlds, name: str, cells: Cells) -> Cells:
    """Of some cells those that are possible at all: a condition may reach over others."""
    return tuple(at for at in cells if at in worlds.reachable(name))


def check_other(worlds: Worlds, why: Any, model: Model, rng: Random) -> None:
    """Congruence and common reasons with another possible instance, and one that is impossible."""
    case = worlds.case
    if case.only_up or case.only_down or case.near:
        return  # bounds beside one instance say nothing of another
    fresh = model.draw(rng)
    other = {x: value if rng.random() < 0.5 else fresh[x] for x, value in case.instance.items()}
    theirs = asking(case, instance=other, against=None)
    if len(theirs.classes_of_completions) != 1:
        return
    if not theirs.possible_classes:
        refused(lambda: why.is_congruent(other), theirs, "congruence with what is impossible")
        refused(lambda: why.common_reason(other), theirs, "a common reason with what is impossible")
        return
    same(why.is_congruent(other), worlds.is_congruent(other), f"congruent with {other}")
    common = why.common_reason(other)
    same(common is not None, worlds.has_common_reason(other), f"common reason with {other}")
    if common is not None:
        box = box_of(worlds, common.literals)
        whole = worlds.inside(box)
        same((worlds.changes_it & whole).any(), False, f"{common} forces the decision on {other}")


def check_verify(worlds: Worlds, why: Any, model: Model, rng: Random) -> None:
    """`verify` takes all reasons, of names, states and boxes, and no other set of features."""
    case, asked = worlds.case, worlds.case.worlds_asked
    for kind in KINDS:
        right = worlds.sufficient if kind == "sufficient" else worlds.necessary
        every = list(oracle.subsets(worlds.names))
        for claimed in [*right, *rng.sample(every, min(len(every), 8))]:
            told = verdict(model.classifier, case, sorted(claimed), kind, asked)
            same(told is None, claimed in right, f"verify {kind} {set(claimed)}: {told}")
        for reason in asked_of(why, kind):
            same(verdict(model.classifier, case, reason, kind, asked), None, f"verify {kind} {reason}")
        for intervals in (True, False):
            for reason in list(asked_of(why, kind, general=True, intervals=intervals))[:6]:
                # Conditions on lines are intervals even where any set is asked for, so they can then be widened.
                has_line = any(worlds.features[name].is_line for name in reason.features)
                how = {**asked, "maximal": intervals or not has_line, "intervals": intervals}
                told = verdict(model.classifier, case, reason, kind, how)
                same(told, None, f"verify maximal {kind} {reason}, intervals={intervals}")
                check_mutated(worlds, reason, kind, model, rng)


def check_mutated(worlds: Worlds, reason: Any, kind: str, model: Model, rng: Random) -> None:
    """A box that is wider by one cell is refuted, and one that is narrower is not the widest."""
    literals = reason.literals if kind == "sufficient" else reason.changes
    if not literals:
        return
    box = dict(box_of(worlds, literals))
    name = rng.choice(sorted(box))
    if worlds.features[name].is_line:
        return
    wider = [at for at in worlds.reachable(name) if at not in box[name] and at != worlds.own[name]]
    if not wider:
        return
    grown = {**box, name: tuple(sorted((*box[name], rng.choice(wider))))}
    claimed = grown if kind == "sufficient" else {x: negated(worlds, x, cells) for x, cells in grown.items()}
    if not all(claimed.values()):
        return
    if kind == "necessary" and all(cells == (worlds.own[x],) for x, cells in claimed.items()):
        return  # the instance's own states claim less
    texts = {x: [text_of(worlds, x, at) for at in cells] for x, cells in claimed.items()}
    items = tuple(grown.items())
    if kind == "sufficient":
        is_right = worlds.box_forces(items)
        fewer = (tuple(item for item in items if item[0] != x) for x in grown)
        is_right = is_right and not any(worlds.box_forces(part) for part in fewer)
    else:
        names = [x for x in worlds.names if x in grown]
        good = worlds.changing(names, worlds.refuting)
        is_right = bool(good[np.ix_(*(reachable(worlds, x, grown[x]) for x in names))].all())
    told = verdict(model.classifier, worlds.case, texts, kind, worlds.case.worlds_asked)
    same(told is None, is_right, f"verify {kind} {texts}: {told}")


def negated(worlds: Worlds, name: str, cells: Cells) -> Cells:
    """The other cells of a feature."""
    return tuple(at for at in range(len(worlds.cells[name])) if at not in cells)


def text_of(worlds: Worlds, name: str, at: int) -> str:
    """A cell as a condition."""
    first, last = worlds.cells[name][at]
    return (
        str(first)
        if worlds.features[name].labels
        else "missing"
        if first is None
        else f"[{first + 0.0!r}, {last + 0.0!r}]"
    )


def verdict(classifier: Any, case: Case, reason: Any, kind: Any, asked: dict[str, Any]) -> str | None:
    """Why a claim is refuted; None if it is not."""
    try:
        quia.verify(classifier, case.instance, reason, kind, **asked)
    except quia.QuiaError as refuted:
        return f"{type(refuted).__name__}: {refuted}"
    return None


def check_bias_of_classifier(worlds: Worlds, model: Model, rng: Random) -> None:
    """Whether two possible worlds that differ in protected features alone are decided differently."""
    case = worlds.case
    protected = [x for x in worlds.names if rng.random() < 0.3] or [rng.choice(worlds.names)]
    asked = {name: value for name, value in case.asked.items() if name in ("given", "within")}
    found = quia.bias_of_classifier(model.classifier, protected, **asked)
    same(found.biased, worlds.is_classifier_biased(protected), f"bias of the classifier by {protected}")
    if not found.biased:
        return
    same(found.decision != found.other_decision, True, "two decisions")
    one, other = (dict(box_of(worlds, states)) for states in (found.instance, found.other))
    same(
        {x for x in {*one, *other} if one.get(x) != other.get(x)} <= set(protected), True, "differ in what is protected"
    )
    for box, decision in ((one, found.decision), (other, found.other_decision)):
        inside = worlds.inside(tuple(box.items())) & worlds.is_possible_at_all
        classes = {case.classes[c] for c in np.unique(worlds.labels[inside])}
        same(classes, {decision}, f"{box} is possible and has one class")
    rest = [x for x in worlds.names if x not in protected]
    both = [worlds.inside(tuple(box.items())) & worlds.is_possible_at_all for box in (one, other)]
    shared = np.ones([len(worlds.cells[x]) for x in rest], bool)
    for mask in both:
        shared &= worlds.projected(mask, rest)
    same(shared.any() if rest else all(mask.any() for mask in both), True, "the pair can agree on all else")


def check_codes(worlds: Worlds, why: Any) -> None:
    """Reason codes are of a shortest sufficient reason; what is favourable alone is possible and changes it."""
    shortest = oracle.shortest(worlds.sufficient, worlds.case.costs)
    if not any(worlds.sufficient):
        return
    codes = why.reason_codes(n=99).codes
    same({frozenset(code.feature for code in codes)} <= shortest, True, f"reason codes {codes} among {shortest}")
    for code in codes:
        if code.alone:
            good = worlds.changing([code.feature], worlds.changes_it)
            cells = cells_of(worlds, code.favourable)
            same(
                good[list(reachable(worlds, code.feature, cells))].all(),
                True,
                f"{code.favourable} alone is possible and changes the decision",
            )


def check_complete_reason(worlds: Worlds, why: Any, rng: Random) -> None:
    """The complete reason holds in the worlds whose states, as far as they are the instance's, force the decision."""
    formula = why.complete_reason
    for world in rng.sample(worlds.points.tolist(), min(8, len(worlds.points))):
        values = worlds.values(world)
        agreed = [x for x, cell in zip(worlds.names, world, strict=True) if worlds.own[x] == cell]
        expected = not (worlds.refuting & worlds.agrees([x for x in agreed if x in worlds.known])).any()
        same(formula.evaluate(values), expected, f"complete reason in {values}")


def check_general_reason(worlds: Worlds, why: Any, rng: Random) -> None:
    """The general reason holds in the possible worlds from which every way back to the instance keeps the decision."""
    try:
        formula = why.general_reason
    except quia.Unsupported:
        return
    if len(worlds.known) < len(worlds.names):
        return
    refuting = {tuple(world) for world, is_one in zip(worlds.points.tolist(), worlds.refuting, strict=True) if is_one}
    possible = worlds.points[worlds.is_possible].tolist()
    for world in rng.sample(possible, min(8, len(possible))):
        both = ({cell, worlds.own[x]} for x, cell in zip(worlds.names, world, strict=True))
        expected = refuting.isdisjoint(product(*both))
        values = worlds.values(world)
        same(formula.evaluate(values), expected, f"general reason in {values}")


def refused(ask: Any, worlds: Worlds, what: str) -> None:
    """What is impossible is an error that names a constraint that is broken."""
    try:
        ask()
    except quia.InstanceError as fault:
        message = str(fault)
    else:
        raise Disagreement(f"{what} is answered")
    case = worlds.case
    broken = [formula for formula in case.given if not asking(case, given=(formula,), within={}).possible_classes]
    known = {x for x, value in case.instance.items() if value is not None or worlds.features[x].missing}
    broken += [f for _, f in case.within.values() if known.issuperset(f.features) and not f.holds(case.instance)]
    if broken and not any(all(x in message for x in formula.features) for formula in broken):
        raise Disagreement(f"{what}: {message!r} names none of {[f.text for f in broken]}")


def check_impossible(worlds: Worlds, model: Model, rng: Random) -> None:
    """An instance that breaks a constraint is refused, and so are constraints that nothing meets."""
    for _ in range(10):
        more = random_formula(rng, model.features)
        theirs = asking(worlds.case, given=(*worlds.case.given, more))
        if np.prod(theirs.sizes) <= 3000 and not theirs.possible_classes:
            asked = theirs.case.asked
            refused(lambda: quia.explain(model.classifier, theirs.case.instance, **asked), theirs, f"{asked}")
            return


def check(model: Model, case: Case, rng: Random) -> None:
    """Everything about one question."""
    worlds = Worlds(case)
    why = quia.explain(model.classifier, case.instance, **case.asked)
    same(why.decision, worlds.decision, "decision")
    check_reasons(worlds, why)
    check_general(worlds, why)
    check_changes(worlds, why)
    check_without(worlds, why, rng)
    check_other(worlds, why, model, rng)
    check_verify(worlds, why, model, rng)
    check_codes(worlds, why)
    check_complete_reason(worlds, why, rng)
    check_general_reason(worlds, why, rng)
    check_bias_of_classifier(worlds, model, rng)
    check_superfluous(worlds, why)
    check_impossible(worlds, model, rng)
    str(why)


def made(seed: str, folder: Path, only: str | None = None) -> tuple[str, Model, Case, Random] | None:
    """The random model and question that a seed makes; None if there are too many worlds."""
    rng = Random(seed)
    kind = only or rng.choice(sorted(MODELS))
    model = MODELS[kind](rng, folder)
    case = random_case(rng, model)
    return None if case is None else (kind, model, case, rng)


def attack(seed: str, only: str | None = None) -> str | None:
    """Try one case; what kind of model it was of, None if there was nothing to try."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = made(seed, Path(folder), only)
        if drawn is not None:
            check(*drawn[1:])
    return None if drawn is None else drawn[0]


def main(count: int, seed: int, at: int | None = None) -> int:
    """Try so many cases; 1 if one is answered wrongly."""
    began, tried, faults = time.process_time(), Counter[str](), Counter[str]()
    for i in range(count) if at is None else (at,):
        try:
            tried[attack(f"{seed}.{i}") or "too large"] += 1
        except Exception as fault:
            with tempfile.TemporaryDirectory() as folder:
                drawn = made(f"{seed}.{i}", Path(folder))
            assert drawn is not None
            kind, _, case, _ = drawn
            where = traceback.extract_tb(fault.__traceback__)[-1]
            faults[f"{type(fault).__name__}: {str(fault).partition(':')[0][:80]}"] += 1
            print(f"case {i} of seed {seed} ({kind}): {type(fault).__name__}: {fault} ({where.name}, {where.lineno})")
            print(f"  {case.instance}, {case.asked}")
            print(f"  again: python tests/attack_worlds.py {count} {seed} {i}")
            if at is not None:
                raise
    print(f"{dict(tried)}\n{dict(faults) or 'all right'}, in {time.process_time() - began:.1f} s of CPU")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
