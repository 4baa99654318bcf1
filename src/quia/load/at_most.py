"""Trees as scikit-learn has them: every node goes left where a number is at most its threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quia.cuts import Cut, Interval
from quia.errors import Unsupported
from quia.load.ensembles import LEAF, Nodes, last_below

_ZERO = 1.0000000180025095e-35
NEAR_ZERO = Interval(Cut(-_ZERO, False), Cut(_ZERO, True))
"""The numbers that LightGBM takes for zero."""


class AtMost(NamedTuple):
    """Nodes of which each asks whether a number is at most its threshold (`after` is True, `special` None).

    In the `rounded` columns, numbers near to zero count as zero.
    """

    nodes: Nodes
    rounded: frozenset[int]


def at_most(nodes: Nodes, *, single: bool) -> AtMost:
    """The same nodes with such thresholds, in the type in which they compare; others than that are refused."""
    threshold, missing = last_below(nodes.threshold, nodes.after, single), nodes.missing.copy()
    rounded: set[int] = set()
    if nodes.special is not None:
        asked = np.unique(nodes.special[(nodes.yes != LEAF) & (nodes.special >= 0)])
        for index in asked.tolist():
            test = nodes.tests[index]
            cut = test.where[0].upper if test.codes is None else None
            if cut is None:
                raise Unsupported(
                    "the trees at the end of the pipeline test categories of their own",
                    cure="encode them in a step before it",
                )
            if (len(test.where) > 1) != (cut.threshold >= 0) or NEAR_ZERO not in (*test.where, *test.where_not):
                raise Unsupported(
                    "a tree at the end of the pipeline takes zero for missing",
                    cure="train it with zero_as_missing=False",
                )
            here = nodes.special == index
            threshold[here], missing[here] = cut.last_below(single), test.missing
            rounded.add(test.column)
    plain = nodes._replace(threshold=threshold, missing=missing, after=True, special=None, tests=())
    return AtMost(plain, frozenset(rounded))
