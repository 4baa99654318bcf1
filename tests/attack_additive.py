"""Attack additive models: `python tests/attack_additive.py N SEED` compares N random ones with brute force.

It prints the first disagreement, with the line that makes it again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

import additive_oracle as plain
from additive_oracle import Model, Possible, members, random_box, random_keeps, random_model, random_world, ranges
from ensemble_oracle import as_graph
from quia import Additive, Variable
from quia.cuts import Cut
from quia.errors import MissingValue
from quia.patience import Clock
from quia.question import Question
from quia.region import Region
from quia.sums import Rule
from quia.terms import Line, Table, Term

SMALL = {"features": 4, "states": 4, "scores": 4, "points": 300}
MEDIUM = {"features": 6, "states": 5, "scores": 4, "points": 4000}
REGIONS = 20
"""Regions that are asked about in each model."""


class Disagreement(AssertionError):
    """What the model says is not what brute force finds."""


def variable_of(feature: plain.Feature, name: str) -> Variable:
    """A feature of the oracle as quia has it; the interval i of a numeric one ends at i."""
    if feature.kind == "nominal":
        return Variable.nominal(name, [f"s{i}" for i in range(feature.count)])
    if feature.kind == "numeric":
        return Variable.numeric(name, range(feature.count - 1), missing=feature.missing)
    return Variable.line(name, feature.numbers[0], feature.numbers[-1], missing=feature.missing)


def additive_of(model: Model) -> Additive:
    """A model of the oracle as quia has it."""
    variables = tuple(variable_of(feature, f"v{i}") for i, feature in enumerate(model.features))
    terms: list[Term] = []
    for term in model.terms:
        if term.steps is not None:
            terms.append(Line(term.feature, term.steps, term.weights, term.rows[-1] if term.rows else None))
        else:
            cuts = tuple(Cut(last) for last in term.bins or ())
            terms.append(Table(term.feature, np.array(term.rows), cuts))
    rule = Rule("argmax") if model.cuts is None else Rule("cuts", model.cuts)
    classes = tuple(f"c{i}" for i in range(model.class_count))
    return Additive(variables, classes, tuple(terms), model.start, rule, model.end)


def random_with_graph(rng: Random, **limits: Any) -> tuple[Additive, dict[str, Any]]:
    """A small model of tables and a graph that decides as it does; what is not asked about has no cuts there."""
    model = random_model(rng, states=3, points=54, lines=0.0, **limits)
    asked = set(additive_of(model).tested)
    features = tuple(
        f if v in asked or f.kind == "nominal" else replace(f, count=1, missing=False)
        for v, f in enumerate(model.features)
    )
    terms = tuple(replace(t, rows=t.rows[: features[t.feature].size]) for t in model.terms)
    model = replace(model, features=features, terms=terms)
    additive = additive_of(model)
    return additive, as_graph(additive, lambda states: model.class_of(model.scores_of(states)))


def region_of(additive: Additive, possible: Possible) -> Region:
    """A box as a region."""
    return Region(additive.variables, {v: ranges(states) for v, states in possible.items()})


def question_of(
    additive: Additive, world: Sequence[int], decision: int, keeps: set[int], possible: Possible
) -> Question:
    """The question that the oracle is asked."""
    return Question(additive.classes, tuple(world), decision, frozenset(keeps), region_of(additive, possible))


def value_of(feature: plain.Feature, state: int) -> Any:
    """A raw value in a state; None is missing."""
    if state < 0 or state >= feature.count:
        return None
    return f"s{state}" if feature.kind == "nominal" else feature.numbers[state] if feature.numbers else float(state)


def check_decisions(model: Model, additive: Additive, rng: Random) -> None:
    """Scores to the last bit, and decisions, one by one and all at once, with unknown values too."""
    if not set(model.tested) <= set(additive.tested):
        raise Disagreement(f"tested are {additive.tested}, not {model.tested}")
    decided = additive.decide_rows(model.points)
    for point, scores, label, row in zip(
        model.points.tolist(), model.scores.tolist(), model.classes, decided, strict=True
    ):
        if additive.scores(point).tolist() != scores or additive.decide(point) != label or row != label:
            raise Disagreement(f"{point} has {scores}, class {label}, not {additive.scores(point)}, {row}")
    for _ in range(8):
        world = [s if rng.random() < 0.6 else -1 for s in model.points[rng.randrange(len(model.points))].tolist()]
        labels = model.decisions(world)
        try:
            told = {additive.decide(world)}
        except MissingValue as fault:
            told = set()
            v = [x.name for x in additive.variables].index(fault.feature)
            if len(labels) == 1 or world[v] >= 0 or v not in additive.tested:
                raise Disagreement(f"{world} is decided {labels}, but {fault}") from None
            (row,) = additive.decide_rows(np.array([world]))
            if row != -2 - v:
                raise Disagreement(f"{world} is decided {row} in a row, but depends on {v}") from None
        if told and told != labels:
            raise Disagreement(f"{world} is decided {labels}, not {told}")


def check_escape(model: Model, found: Any, keeps: set[int], possible: Possible, about: str) -> None:
    """What is found is in the box and decided otherwise; nothing is found where nothing is."""
    expected = model.escaping(keeps, possible)
    if found is None:
        if expected.any():
            raise Disagreement(f"None, but {model.points[np.flatnonzero(expected)[0]].tolist()} escapes: {about}")
        return
    if len(found) != len(model.sizes) or any(not 0 <= s < n for s, n in zip(found, model.sizes, strict=True)):
        raise Disagreement(f"{found} is no instance: {about}")
    if not expected[int(np.ravel_multi_index(found, model.sizes))]:
        raise Disagreement(f"{found} has class {model.class_of(model.scores_of(found))} or is outside: {about}")


def check_regions(model: Model, additive: Additive, rng: Random, regions: int) -> None:
    """`escape` and the plain search behind `verify`, in any region and among any possible worlds."""
    for _ in range(regions):
        world = random_world(rng, model)
        (decision,) = model.decisions(world)
        keeps = random_keeps(rng, model.class_count, decision)
        possible = random_box(rng, model, rng.choice((0.0, 0.3)))
        box = random_box(rng, model, rng.choice((0.0, 0.3, 0.6, 1.0)))
        if rng.random() < 0.5:  # as reasons ask: some features kept, the rest free
            box = {v: [s] for v, s in enumerate(world) if s >= 0 and rng.random() < 0.5}
        question = question_of(additive, world, decision, keeps, possible)
        both = {
            v: set(box.get(v, possible.get(v, ()))) & set(possible.get(v, box.get(v, ()))) for v in {*box, *possible}
        }
        region = region_of(additive, box)
        about = f"world={world}, keeps={keeps}, box={box}, possible={possible}"
        check_escape(model, additive.escape(question, region), keeps, both, about)
        check_escape(model, additive.plain_escape(question, region, Clock()), keeps, both, f"plainly, {about}")


def check_boxes(model: Model, additive: Additive, rng: Random) -> None:
    """The boxes over reasons' features are those of the definition; with lines, each is one of them."""
    world = random_world(rng, model, rng.choice((0.0, 0.3)))
    world = tuple(s if v in additive.tested else -1 for v, s in enumerate(world))
    (decision,) = model.decisions(world)
    keeps = {decision} | {c for c in range(model.class_count) if rng.random() < 0.2}
    drawn = random_box(rng, model, rng.choice((0.0, 0.3)))
    possible = {v: sorted({*states, *([world[v]] if world[v] >= 0 else [])}) for v, states in drawn.items()}
    question = question_of(additive, world, decision, keeps, possible)
    reasons = model.reasons(world, keeps, possible)
    for kind in ("sufficient", "necessary"):
        for members_ in sorted(map(sorted, reasons[kind]))[:3]:
            if not members_:
                continue
            for intervals, certain in ((True, False), (False, False), (True, True)):
                _check_widened(model, additive, question, possible, kind, members_, intervals, certain)


def _check_widened(
    model: Model,
    additive: Additive,
    question: Question,
    possible: Possible,
    kind: Any,
    of: Sequence[int],
    intervals: bool,
    certain: bool,
) -> None:
    keeps = set(question.keeps)
    about = f"{kind} boxes over {of}: states={question.states}, keeps={keeps}, {possible=}, {intervals=}, {certain=}"
    expected = model.boxes(kind, question.states, keeps, possible, of, intervals=intervals, certain=certain)
    widened = additive.widen(question, kind, of, intervals, certain=certain)
    if widened is None:
        return
    found = [tuple(tuple(members(states)) for states in box) for box in widened]
    if any(model.features[v].kind == "line" for v in of):
        wrong = [box for box in found if box not in expected]
        if wrong or (expected and not found):
            raise Disagreement(f"{wrong or 'nothing'} is found, the largest are {expected}: {about}")
    elif found != expected:
        raise Disagreement(f"{found} are found, the largest are {expected}: {about}")


def check_model(seed: str, limits: dict[str, Any], regions: int = REGIONS) -> Model:
    """Everything about the random model that a seed makes."""
    rng = Random(seed)
    model = random_model(rng, **limits)
    additive = additive_of(model)
    check_decisions(model, additive, rng)
    check_regions(model, additive, rng, regions)
    for _ in range(3):
        check_boxes(model, additive, rng)
    return model


def main(count: int, seed: int, only: int | None = None) -> int:
    """Try so many models, every fourth a larger one; 1 if one is answered wrongly."""
    began, worlds = time.process_time(), 0
    for i in range(count) if only is None else (only,):
        limits = MEDIUM if i % 4 == 3 else SMALL
        try:
            worlds += len(check_model(f"{seed}.{i}", limits).points)
        except Exception as fault:
            print(f"model {i} of seed {seed}: {type(fault).__name__}: {fault}")
            print(random_model(Random(f"{seed}.{i}"), **limits))
            print(f"again: python tests/attack_additive.py {count} {seed} {i}")
            if not isinstance(fault, Disagreement):
                raise
            return 1
    seconds = time.process_time() - began
    print(f"{count} models, {worlds:,} worlds, {REGIONS * count:,} regions: all right, in {seconds:.1f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
