"""Ensembles whose trees vote: forests, bagging and voting, weighted and added as scikit-learn does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from quia.errors import FormatError, Unsupported, shown
from quia.load.sklearn.head import (
    CLASSIFIERS,
    REGRESSORS,
    TREES,
    Head,
    check_kind,
    check_member,
    one_tree,
    place_of,
    predicts_missing,
    rule_of,
    summed,
    without_label,
)
from quia.load.sklearn.labels import Rule
from quia.load.sklearn.tree import Tree, probabilities, takes_missing, tree_of
from quia.sums import Group

ANY_ORDER = (
    "with this n_jobs scikit-learn adds the trees in any order, so its last bit may vary; here it is as with n_jobs=1"
)
ALL_CORES = "scikit-learn adds the trees in as many parts as there are cores; here it is as on this machine"


def forest(final: Any, label: Any, classes: Any) -> Head:
    """RandomForest and ExtraTrees: the mean of the trees' probabilities or values."""
    members = _forest_members(final)
    rule = rule_of(final, label, classes)

    def routes_missing(sparse: bool) -> bool:
        return takes_missing(final, sparse)

    if len(members) == 1:  # the mean of one is itself
        return one_tree(members[0], rule, members[0].values, routes_missing)
    kind = "random forest" if type(final).__name__.startswith("Random") else "extra trees"
    notes = (ANY_ORDER,) if final.n_jobs not in (None, 1) else ()
    scored = [_scored(tree, rule) for tree in members]
    return summed(final, scored, rule, routes_missing, divisor=len(members), kind=kind, notes=notes)


def bagging(final: Any, label: Any, classes: Any) -> Head:
    """Bagging of trees: the mean of their probabilities or values, each on its own choice of columns."""
    members = _bagged_members(final)
    rule = rule_of(final, label, classes)
    if len(members) == 1:
        return one_tree(members[0], rule, members[0].values, predicts_missing(final))
    parts = _parts(final)
    scored = [_scored(tree, rule) for tree in members]
    return summed(
        final,
        scored,
        rule,
        predicts_missing(final),
        groups=[Group(count) for count in parts] if len(parts) > 1 else (),
        divisor=len(members),
        kind="bagged trees",
        notes=(ALL_CORES,) if (final.n_jobs or 1) < 0 and len(parts) > 1 else (),
    )


def voting(final: Any, label: Any, classes: Any) -> Head:
    """VotingClassifier: the mean of its members' probabilities, or a count of the classes they decide on."""
    if not np.array_equal(final.le_.classes_, final.classes_):
        raise FormatError("the VotingClassifier has two lists of classes; the model is damaged")
    members = [_voter(final, member) for member in final.estimators_]
    weights = _voting_weights(final)
    if final.voting == "soft":
        return _soft_vote(final, members, weights, rule_of(final, label, classes))
    rule = without_label(final, label, classes)
    trees = []
    for member, weight in zip(members, weights if weights is not None else [1.0] * len(members), strict=True):
        if len(member.trees) > 1:
            raise Unsupported(
                f"the VotingClassifier counts the decisions of a {member.name} of {len(member.trees)} trees, which are"
                " no sum of its leaves",
                cure="fit it with voting='soft'",
            )
        tree = member.trees[0]
        winners = np.argmax(tree.values, axis=1)
        trees.append(tree._replace(values=np.where(winners[:, None] == np.arange(len(final.classes_)), weight, 0.0)))
    return summed(final, trees, rule, predicts_missing(final), kind="voting trees")


class _Voter(NamedTuple):
    """A member of a vote: its trees, which have a probability of every class, and by what their sum is divided."""

    name: str
    trees: Sequence[Tree]


def _voter(final: Any, member: Any) -> _Voter:
    name = type(member).__name__
    module = type(member).__module__
    if module.startswith("sklearn.tree.") and name in CLASSIFIERS:
        trees = [_tree_with_probabilities(member)]
    elif module == "sklearn.ensemble._forest" and name in ("RandomForestClassifier", "ExtraTreesClassifier"):
        trees = _forest_members(member)
    elif module == "sklearn.ensemble._bagging" and name == "BaggingClassifier":
        trees = _bagged_members(member)
        if len(_parts(member)) > 1:
            raise Unsupported(
                f"the VotingClassifier holds a BaggingClassifier with n_jobs={member.n_jobs}, which sums in parts",
                cure="set its n_jobs to 1",
            )
    else:
        raise Unsupported(
            f"the VotingClassifier holds a {name}, which is no mean of trees",
            cure="let only decision trees, RandomForests, ExtraTrees and Bagging vote, and put other steps before it",
        )
    if member.n_features_in_ != final.n_features_in_:
        raise FormatError(
            f"the VotingClassifier has {final.n_features_in_} columns, its {name} {member.n_features_in_}"
        )
    if not np.array_equal(member.classes_, np.arange(len(final.classes_))):
        raise FormatError(f"the VotingClassifier holds a {name} of other classes; the model is damaged")
    return _Voter(name, trees)


def _voting_weights(final: Any) -> list[float] | None:
    weights = final._weights_not_none
    if weights is None:
        return None
    numbers = np.asarray(weights, np.float64)
    if len(numbers) != len(final.estimators_) or not (np.isfinite(numbers) & (numbers >= 0)).all() or not numbers.any():
        raise Unsupported(
            f"the weights of the VotingClassifier are {shown(weights)}",
            cure="give each estimator one that is not below 0",
        )
    return [float(number) for number in numbers]


def _soft_vote(final: Any, members: Sequence[_Voter], weights: Sequence[float] | None, rule: Rule) -> Head:
    """numpy.average of the members' probabilities: their weighted sum, member after member, divided by all weights."""
    if weights is None:
        total, factors = float(len(members)), [1.0] * len(members)
    else:
        shape = np.zeros((len(members), 1, len(final.classes_)))
        total = float(np.average(shape, axis=0, weights=weights, returned=True)[1].flat[0])
        factors = list(weights)
    heard = [(member, factor) for member, factor in zip(members, factors, strict=True) if factor]  # others add 0
    trees = [_scored(tree, rule) for member, _ in heard for tree in member.trees]
    groups = [Group(len(member.trees), float(len(member.trees)), factor) for member, factor in heard]
    plain = all(group == Group(1) for group in groups)
    jobs = [getattr(member, "n_jobs", None) for member in final.estimators_]
    return summed(
        final,
        trees,
        rule,
        predicts_missing(final),
        groups=() if plain else groups,
        divisor=total,
        kind="voting trees",
        notes=(ANY_ORDER,) if any(count not in (None, 1) for count in jobs) else (),
    )


def _scored(tree: Tree, rule: Rule) -> Tree:
    return tree._replace(values=rule.scores(tree.values))


def _forest_members(final: Any) -> list[Tree]:
    if final.n_outputs_ != 1:
        raise Unsupported(f"the forest decides on {final.n_outputs_} outputs", cure="fit one forest for each output")
    trees = []
    for member in final.estimators_:
        check_member(final, member, TREES, final.n_features_in_)
        if hasattr(final, "classes_") and len(getattr(member, "classes_", ())) != len(final.classes_):
            raise FormatError(
                f"the forest has {len(final.classes_)} classes, its tree {len(getattr(member, 'classes_', ()))}"
            )
        trees.append(_tree_with_probabilities(member))
    return trees


def _tree_with_probabilities(member: Any) -> Tree:
    tree = tree_of(member)
    return tree._replace(values=probabilities(tree.values)) if hasattr(member, "classes_") else tree


def _bagged_members(final: Any) -> list[Tree]:
    """The trees of a bag over the columns of the bag, with a probability for each of its classes."""
    if len(final.estimators_) != final.n_estimators:
        raise Unsupported(
            f"the {type(final).__name__} has {len(final.estimators_)} estimators, but n_estimators is"
            f" {final.n_estimators}, by which scikit-learn divides",
            cure="fit it anew",
        )
    is_classifier = hasattr(final, "classes_")
    trees = []
    for member, features in zip(final.estimators_, final.estimators_features_, strict=True):
        check_kind(final, member)
        chosen = _columns(final, features)
        check_member(final, member, CLASSIFIERS if is_classifier else REGRESSORS, len(chosen))
        tree = _tree_with_probabilities(member)
        tree = tree._replace(column=np.where(tree.left < 0, 0, chosen[np.maximum(tree.column, 0)]))
        if is_classifier:
            known = np.asarray(member.classes_)
            count = len(final.classes_)
            if len(known) == count:
                trees.append(tree)
                continue
            values = np.zeros((len(tree.left), count))
            values[:, [place_of(final, np.arange(count), label) for label in known]] = tree.values
            tree = tree._replace(values=values)
        trees.append(tree)
    return trees


def _columns(final: Any, features: Any) -> Any:
    """The columns of the bag that a tree takes."""
    try:
        return np.arange(final.n_features_in_)[features]
    except IndexError:
        raise FormatError(f"a tree of the {type(final).__name__} takes columns that are not there") from None


def _parts(final: Any) -> list[int]:
    """How many trees scikit-learn adds in each of its jobs, whose sums it then adds."""
    from sklearn.ensemble._base import _partition_estimators

    bounds = _partition_estimators(len(final.estimators_), final.n_jobs)[2]
    return [end - start for start, end in pairwise(bounds)]
