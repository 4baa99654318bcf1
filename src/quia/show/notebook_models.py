"""What a notebook shows of a model: what it is and how large, its graph, or what it tests and adds; and of formulas."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from quia.additive import Additive
from quia.classifier import ClassifierBase, HasPath, offers, possible_classes
from quia.constrained import Constrained
from quia.cuts import number_text
from quia.ensemble import Ensemble
from quia.formula import Formula
from quia.graph import DecisionGraph
from quia.joint import Joint
from quia.look import few
from quia.nnf import NNF
from quia.show.codes import points_text
from quia.show.markup import Child, Markup, element, join, short
from quia.show.notebook_graph import MOST_BOXES, drawing
from quia.show.notebook_pieces import counts, folds, framed, grid, title
from quia.show.words import Facts, number, plural
from quia.terms import Line

if TYPE_CHECKING:
    from quia.terms import Term
    from quia.trees import Trees

MOST_WRITTEN = 300
"""So many nodes of a formula are written out."""
_FEW_BOXES = 15
"""A drawing of at most so many boxes is seen at once."""
_MOST_LETTERS = 4000
_MOST_ROWS = 30
_MOST_STATES = 12


def model_view(model: ClassifierBase) -> str:
    """A model: the headline, and what its kind has to show."""
    return framed(title(_headline(model)), element("p", _about(model), class_="faint"), _given(model), _inside(model))


def _headline(model: ClassifierBase) -> Markup:
    kind = model.kind[:1].upper() + model.kind[1:]
    return join([kind, f" of {_size(model)}" if _size(model) else ""])


def _size(model: ClassifierBase) -> str:
    if isinstance(model, Ensemble):
        deep, leaves = plural(depth(model.trees), "test"), number(model.trees.leaf_count)
        return f"{plural(len(model.trees), 'tree')}, {deep} deep at most, {leaves} leaves"
    if isinstance(model, Additive):
        return plural(len(model.terms), "term")
    nodes = model.sizes.get("nodes")
    if nodes is None and hasattr(model, "__len__"):
        nodes = len(model)
    return "" if nodes is None else plural(nodes, "node")


def depth(trees: Trees) -> int:
    """The tests on the longest path of all trees."""
    deep, here = 0, trees.start[:-1][trees.test[trees.start[:-1]] >= 0]
    while len(here):
        deep += 1
        below = np.concatenate([trees.yes[here], trees.no[here]])
        here = below[trees.test[below] >= 0]
    return deep


def _about(model: ClassifierBase) -> str:
    tested, every = len(model.tested), len(model.variables)
    features = plural(every, "feature") if tested == every else f"{number(tested)} of {plural(every, 'feature')} tested"
    return f"{features}, classes {few(possible_classes(model), 6)}"


def _given(model: ClassifierBase) -> Markup | None:
    """The constraints between its features."""
    said = [str(each) for each in model.given]
    if isinstance(model, Constrained):
        said = [each.text for each in model.parts if each.text]
    if not said:
        return None
    more = f"; and {len(said) - 5} more" if len(said) > 5 else ""
    return element("p", f"Given: {'; '.join(short(each, 120) for each in said[:5])}{more}", class_="faint")


def _inside(model: ClassifierBase) -> Child:
    if isinstance(model, DecisionGraph):
        return _graph(model)
    if isinstance(model, Ensemble):
        return _ensemble(model)
    if isinstance(model, Additive):
        return _additive(model)
    if isinstance(model, Joint):
        sides = (("Old", model.old.model), ("New", model.new.model))
        return element("ul", [element("li", f"{name}: {side!r}") for name, side in sides])
    inner = model.model if isinstance(model, Constrained) else None
    return _inside(inner) if isinstance(inner, ClassifierBase) else folds(_features(model))


def _graph(model: DecisionGraph) -> list[Child]:
    facts = Facts(model.variables)
    drawn = drawing(model, model.classes, facts) if offers(model, HasPath) else None
    tests = Counter(int(v) for v in model.tests if v >= 0)
    ranked = [(facts.variables[v].name, n) for v, n in sorted(tests.items(), key=lambda pair: (-pair[1], pair[0]))]
    leaves = Counter(int(label) for label in model.labels if label >= 0)
    by_class = [(model.classes[at], n) for at, n in sorted(leaves.items(), key=lambda pair: -pair[1])]
    is_small, is_whole = len(model) <= _FEW_BOXES, len(model) <= MOST_BOXES
    most = max(tests.values(), default=0)
    often = counts(ranked, most, what="tests", most=_MOST_ROWS)
    return [
        drawn if is_small else counts(ranked[:5], most, what="tests"),
        folds(
            None if is_small else ("The graph" if is_whole else "The top of the graph", drawn),
            ("What it tests, how often", often) if is_small or len(ranked) > 5 else None,
            ("Leaves by class", counts(by_class, sum(leaves.values()), what="leaves")) if not is_small else None,
            _features(model),
            _notes(model),
        ),
    ]


def _ensemble(model: Ensemble) -> list[Child]:
    trees = model.trees
    asked = np.bincount(trees.variable[trees.test[trees.test >= 0]], minlength=len(model.variables))
    order = np.argsort(-asked, kind="stable")
    ranked = [(model.variables[v].name, int(asked[v])) for v in order if asked[v]]
    most = ranked[0][1] if ranked else 0
    rest = ranked[5:]
    return [
        counts(ranked[:5], most, what="tests in all trees"),
        folds(
            (f"{plural(len(rest), 'more feature')}", counts(rest, most, what="tests", most=60)) if rest else None,
            _features(model),
            _notes(model),
        ),
    ]


def _additive(model: Additive) -> list[Child]:
    return [
        element("p", _rule(model)),
        folds(("What each feature adds", _points(model)), _features(model), _notes(model)),
    ]


def _rule(model: Additive) -> str:
    """How the class follows from the score."""
    if model.rule.kind != "cuts":
        return "Each class has a score; the greatest decides."
    cuts = [_reached(cut / model.unit) for cut in model.rule.cuts[:4]]
    steps = [f"{name} {short(each, 40)}" for each, (name, _) in zip(model.classes[1:], cuts, strict=False)]
    more = f", and {len(model.rule.cuts) - 4} more" if len(model.rule.cuts) > 4 else ""
    begins = points_text((model.start[0] + (model.end[0] if model.end else 0.0)) / model.unit)
    return (
        f"The score begins with {begins}; {cuts[0][1]} it is {short(model.classes[0], 40)}, {', '.join(steps)}{more}."
    )


def _reached(cut: float) -> tuple[str, str]:
    """How a score is that reaches a cut, and how one that does not: beyond a number where that is simpler to say.

    >>> _reached(40.0), _reached(5e-324)
    (('from 40 on', 'below 40'), ('above 0', 'up to 0'))
    """
    before = math.nextafter(cut, -math.inf)
    if len(number_text(before)) < len(number_text(cut)):
        return f"above {points_text(before)}", f"up to {points_text(before)}"
    return f"from {points_text(cut)} on", f"below {points_text(cut)}"


def _points(model: Additive) -> Markup:
    rows = [
        [short(model.variables[term.variable].name, 60), short(_added(model, term), 400)]
        for term in model.terms[:_MOST_ROWS]
    ]
    return grid(["Feature", "Points"], rows, more=len(model.terms) - _MOST_ROWS, what="term")


def _added(model: Additive, term: Term) -> str:
    """What a term adds: the points of its states, or by how much a number counts."""
    variable = model.variables[term.variable]
    if isinstance(term, Line):
        weights = [points_text(weight / model.unit) for weight in term.weights]
        scale = f" after {plural(len(term.steps), 'step')}" if term.steps else ""
        return f"times {', '.join(weights)}{scale}"
    values = term.values / model.unit
    if variable.is_line or len(values) > _MOST_STATES:
        low, high = (points_text(float(end)) for end in (values.min(), values.max()))
        return f"{low} to {high}, in {plural(len(values), 'step')}"
    added = (" / ".join(points_text(float(each)) for each in row) for row in values)
    return "; ".join(f"{short(variable.text(state), 30)}: {points}" for state, points in enumerate(added))


def _features(model: ClassifierBase) -> tuple[str, Child]:
    """What the features are."""
    tested = set(model.tested)
    rows: list[Sequence[Child]] = [
        [short(variable.name, 60), short(variable.said, 120), "" if v in tested else "not tested"]
        for v, variable in enumerate(model.variables[: 2 * _MOST_ROWS])
    ]
    more = len(model.variables) - 2 * _MOST_ROWS
    return "Features", grid(["Feature", "States", ""], rows, more=more, what="feature")


def _notes(model: ClassifierBase) -> tuple[str, Child] | None:
    notes = [short(note, 400) for note in model.notes[:20]]
    return ("Notes", element("ul", [element("li", note) for note in notes])) if notes else None


def formula_view(found: NNF | Formula) -> str:
    """A formula: how large it is, and where it is not too large, itself."""
    nodes = found.node_count if isinstance(found, NNF) else found.size
    over = len(found.mentioned) if isinstance(found, NNF) else len(found.variables)
    text = str(found) if nodes <= MOST_WRITTEN else ""
    told = element("pre", short(text, _MOST_LETTERS)) if text else None
    head = title(f"Formula of {plural(nodes, 'node')} over {plural(over, 'feature')}")
    if told is None:
        return framed(
            head,
            element("p", "It is too large to be written out here: print it, or draw its to_dot().", class_="faint"),
        )
    return framed(head, told if len(text) <= 400 else folds(("Show the formula", told)))
