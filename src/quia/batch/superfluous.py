"""Sufficient reasons that another one implies, as features tie each other: marked in the lists of many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from quia.batch.lists import Lists
from quia.batch.regions import Listed
from quia.classifier import Classifier
from quia.constrained import Constrained
from quia.explanation import Explanation
from quia.question import Question
from quia.superfluous import Superfluity
from quia.widen import Widening

SUPERFLUOUS = 1
"""The label of such a reason; that of others is -1."""


def marked(
    classifier: Classifier, question_of: Callable[[int], Question], lists: Lists | Listed, *, general: bool
) -> Lists | Listed:
    """The lists of sufficient reasons, those labelled that another reason implies; `question_of` is about a row."""
    if not isinstance(classifier, Constrained):
        return lists
    tied = set(classifier.constraint.tested)
    labels = np.array(lists.labels)
    at = 0
    for row, sets in enumerate(lists.each_row()):
        if any(tied.intersection(members) for members, _ in sets):
            question = question_of(row)
            widening = Widening(classifier, question, "sufficient") if general else None
            every = partial(Explanation(classifier, {}, question).find, "sufficient", False)
            is_implied = Superfluity(classifier, question, every, widening)
            for place, (members, box) in enumerate(sets, at):
                if is_implied(members, box if general else None):
                    labels[place] = SUPERFLUOUS
        at += len(sets)
    return replace(lists, labels=labels)
