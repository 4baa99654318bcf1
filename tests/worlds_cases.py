"""Random questions about possible worlds: constraints as text and as predicates, bounds, and instances that meet them.

The models are those of the contract suite, and additive models of lines, whose numbers are a handful of neighbours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import additive_oracle
import oracle
from attack_additive import additive_of
from contract import Subject
from oracle import Cut
from strategies import random_costs, random_frozen, random_instance
from test_contract import KINDS
from worlds_oracle import Case, Feature, Formula, Worlds, atom, features_of

MOST_WORLDS = 1500
"""Worlds of a case, once all cuts are made."""
MOST_CELLS = 7
_RESERVED = {"and", "or", "not", "true", "false", "in", "is", "missing", "inf", "nan"}


@dataclass(frozen=True)
class Model:
    """A classifier with its features, and what it must decide on raw values."""

    classifier: Any
    features: tuple[Feature, ...]
    decide: Callable[[dict[str, Any]], str]
    draw: Callable[[Random], dict[str, Any]]
    """A raw value for each feature."""

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.classifier.classes)


# ---- models -----------------------------------------------------------------------------------------------------


def of_subject(subject: Subject, classifier: Any = None) -> Model:
    """A subject of the contract suite, or a twin of it."""
    by_name = {feature.name: feature for feature in features_of(subject.d)}
    features = tuple(by_name[variable.name] for variable in subject.variables)
    draw = partial(random_instance, d=subject.d)
    return Model(classifier or subject.classifier, features, partial(oracle.classify, subject.d), draw)


def random_lines(rng: Random) -> Model:
    """An additive model some of whose features are lines of a few numbers."""
    model = additive_oracle.random_model(rng, states=4, points=150, lines=0.6, scores=3)
    names = [f"v{i}" for i in range(len(model.features))]
    features = []
    for name, about in zip(names, model.features, strict=True):
        if about.kind == "nominal":
            features.append(Feature(name, tuple(f"s{i}" for i in range(about.count))))
            continue
        ends = about.numbers or tuple(map(float, range(about.count)))
        cuts = tuple((number, True) for number in ends[:-1])
        if about.kind == "line":
            features.append(Feature(name, (), cuts, about.missing, ends[0], ends[-1], True))
        else:
            features.append(Feature(name, (), cuts, about.missing))
    plain = {feature.name: Worlds(Case((feature,), (), lambda _: "", {feature.name: None})) for feature in features}

    def decide(values: dict[str, Any]) -> str:
        states = [plain[name].cell_of(name, values[name]) for name in names]
        return f"c{model.class_of(model.scores_of(states))}"

    def draw(rng: Random) -> dict[str, Any]:
        return {feature.name: rng.choice(feature.cells())[rng.random() < 0.5] for feature in features}

    return Model(additive_of(model), tuple(features), decide, draw)


def random_twin(kind: str, rng: Random, folder: Path) -> Model:
    """A model of a kind, explained by `escape` alone."""
    subject = KINDS[kind](rng, folder)
    return of_subject(subject, subject.twin(rng))


def random_of_kind(kind: str, rng: Random, folder: Path) -> Model:
    """A model of a kind of the contract suite."""
    return of_subject(KINDS[kind](rng, folder))


MODELS: dict[str, Callable[[Random, Path], Model]] = {
    **{kind: partial(random_of_kind, kind) for kind in KINDS},
    "lines": lambda rng, _folder: random_lines(rng),
    **{f"{kind}, escape alone": partial(random_twin, kind) for kind in ("several classes", "vote", "ensemble")},
}


# ---- formulas ---------------------------------------------------------------------------------------------------


def quoted(rng: Random, word: str) -> str:
    """A name or a state as formulas have it: in quotes, unless it is a plain word, and sometimes then too."""
    is_plain = re.fullmatch(r"[^\W\d]\w*", word) and word.lower() not in _RESERVED
    if is_plain and rng.random() < 0.8:
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def random_cut(rng: Random, feature: Feature) -> Cut:
    """A cut of the model, its other side, or one that the model lacks."""
    thresholds = sorted({t for t, _ in feature.cuts}) or [0.0]
    if feature.is_line:
        return rng.choice([feature.low, *thresholds, feature.high]), rng.random() < 0.5
    near = [a / 2 + b / 2 for a, b in pairwise(thresholds)]
    t = rng.choice([*thresholds, *thresholds, *near, thresholds[0] - 1, thresholds[-1] + 1, 0.0, 2.5])
    return t, rng.random() < 0.5


def number_text(rng: Random, t: float) -> str:
    """A number as people may write it."""
    return str(int(t)) if t.is_integer() and abs(t) < 1e6 and rng.random() < 0.7 else repr(t)


def random_condition(rng: Random, feature: Feature) -> str:
    """A condition on a numeric feature: a comparison or an interval."""
    (low, after), (high, up_to) = sorted((random_cut(rng, feature), random_cut(rng, feature)))
    if rng.random() < 0.3 and low < high:
        return f"{'(' if after else '['}{number_text(rng, low)}, {number_text(rng, high)}{']' if up_to else ')'}"
    return f"{rng.choice(('<', '<=', '>', '>='))} {number_text(rng, low)}"


def random_atom(rng: Random, feature: Feature) -> Formula:
    """One thing said of a feature."""
    name = quoted(rng, feature.name)
    if feature.is_numeric:
        condition = random_condition(rng, feature)
        return atom(feature, condition, f"{name}{' in ' if condition[0] in '([' else ' '}{condition}")
    chosen = rng.sample(feature.labels, rng.randint(1, max(1, len(feature.labels) - 1)))
    if len(chosen) == 1 and rng.random() < 0.7:
        return atom(feature, chosen, f"{name}={quoted(rng, chosen[0])}")
    if len(feature.labels) > 1 and rng.random() < 0.2:
        others = [label for label in feature.labels if label != chosen[0]]
        return atom(feature, others, f"{name} != {quoted(rng, chosen[0])}")
    return atom(feature, chosen, f"{name} in {{{', '.join(quoted(rng, label) for label in chosen)}}}")


def random_formula(rng: Random, features: Sequence[Feature]) -> Formula:
    """A formula about one to three features, in one of the shapes that people write."""
    count = min(len(features), rng.choice((1, 2, 2, 2, 2, 3, 3)))
    atoms = [random_atom(rng, feature) for feature in rng.sample(features, count)]
    if count > 1 and rng.random() < 0.15:
        atoms[-1] = random_atom(rng, next(f for f in features if f.name == atoms[0].feature))
    atoms = [Formula("!", (each,)) if rng.random() < 0.15 else each for each in atoms]
    if len(atoms) == 1:
        return atoms[0]
    first, *rest = atoms
    if len(rest) > 1:
        rest = [Formula(rng.choice("&|"), tuple(rest)) if rng.random() < 0.8 else Formula("<->", tuple(rest))]
    shape = rng.choice(("->", "->", "<->", "!&", "|", "backwards"))
    if shape == "!&":
        return Formula("!", (Formula("&", (first, *rest)),))
    if shape == "backwards":
        return Formula("->", (rest[0], first))
    return Formula(shape, (first, *rest))


# ---- bounds -----------------------------------------------------------------------------------------------------


def random_within(rng: Random, feature: Feature) -> tuple[Any, Formula]:
    """A condition as `within` takes it, and the formula that says the same; it need not hold of any instance."""
    if not feature.is_numeric:
        chosen = rng.sample(feature.labels, rng.randint(1, len(feature.labels)))
        alone = len(chosen) == 1 and rng.random() < 0.5
        return (chosen[0] if alone else chosen), atom(feature, chosen)
    texts = [random_condition(rng, feature) for _ in range(rng.choice((1, 1, 1, 2)))]
    low, high = rng.choice(((None, None), (None, None), (feature.low, feature.high)))
    if low is not None and math.isfinite(low):
        texts = [f"[{low!r}, {high!r}]"]
    if feature.missing and rng.random() < 0.4:
        texts.append("missing")
    condition: Any = texts[0] if len(texts) == 1 else rng.choice((texts, " or ".join(texts)))
    return condition, Formula("|", tuple(atom(feature, text) for text in texts))


def random_near(rng: Random, feature: Feature) -> float | str:
    """How far a number may move; a share only where the range is known."""
    thresholds = sorted({t for t, _ in feature.cuts})
    if feature.is_line and rng.random() < 0.5:
        return rng.choice(("0%", "25%", "50%", "100%"))
    if len(thresholds) > 1 and not feature.is_line and thresholds[-1] < 1e200 and rng.random() < 0.4:
        return rng.choice(("12.5%", "25%", "50%", "100%"))
    if feature.is_line:
        numbers = [first for first, _ in feature.cells() if first is not None]
        return abs(rng.choice(numbers) - rng.choice(numbers))
    return rng.choice((0, 0.5, 1, 2.5, 4, 1450, 0.1))


# ---- cases ------------------------------------------------------------------------------------------------------


def is_number(feature: Feature, value: Any) -> bool:
    """Whether a value is a finite number of a numeric feature."""
    return feature.is_numeric and value is not None and math.isfinite(float(value))


def with_unknown(rng: Random, model: Model, instance: dict[str, Any], share: float) -> dict[str, Any]:
    """Some values are taken away where the decision does not depend on them."""
    for feature in rng.sample(model.features, len(model.features)):
        if feature.missing or rng.random() >= share:
            continue
        fewer = {**instance, feature.name: None}
        if len(Worlds(Case(model.features, model.classes, model.decide, fewer)).classes_of_completions) == 1:
            instance = fewer
    return instance


def random_case(rng: Random, model: Model, *, unknown: float = 0.2) -> Case | None:
    """A question about possible worlds with the instance among them; None if there are too many worlds, or none."""
    instance = model.draw(rng)
    if rng.random() < unknown:
        instance = with_unknown(rng, model, instance, 0.3)
    about = {"variables": [feature.name for feature in model.features]}
    case = Case(
        model.features,
        model.classes,
        model.decide,
        instance,
        frozen=tuple(sorted(random_frozen(rng, about))),
        costs=random_costs(rng, about),
    )
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        case = _if_possible(case, given=(*case.given, random_formula(rng, model.features)))
    for feature in model.features:
        name, has_number = feature.name, is_number(feature, instance[feature.name])
        kind = rng.random()
        if kind < 0.15:
            case = _if_possible(case, within={**case.within, name: random_within(rng, feature)})
        elif kind < 0.22 and has_number:
            case = replace(case, only_up=(*case.only_up, name))
        elif kind < 0.29 and has_number:
            case = replace(case, only_down=(*case.only_down, name))
        if rng.random() < 0.1 and has_number:
            case = replace(case, near={**case.near, name: random_near(rng, feature)})
    worlds = Worlds(case)
    if not is_small(worlds) or len(worlds.possible_classes) != 1 or len(worlds.classes_of_completions) != 1:
        return None
    others = [c for c in model.classes if c != worlds.decision]
    return replace(case, against=rng.choice([None, None, *others]))


def is_small(worlds: Worlds) -> bool:
    """Whether all worlds can be tried."""
    return math.prod(worlds.sizes) <= MOST_WORLDS and max(worlds.sizes) <= MOST_CELLS


def _if_possible(case: Case, **changes: Any) -> Case:
    """The case with something more asked, unless the instance is then impossible or there is too much to try."""
    asked = replace(case, **changes)
    worlds = Worlds(asked)
    return asked if is_small(worlds) and worlds.possible_classes else case
