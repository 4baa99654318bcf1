"""Whether the conjuncts of a circuit's conjunctions share variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quia import _kernel
from quia.dag import AND, flat


def shared_variable(
    kinds: Sequence[int], variables: Sequence[int], children: Sequence[Sequence[int]]
) -> tuple[int, int] | None:
    """The first conjunction whose conjuncts share a variable, and that variable; None if there is none.

    Nodes come children first, with kinds as in an NNF. Complexity: memory linear in the nodes, a pass over them for
    each 256 variables.

    >>> shared_variable([2, 2, 3], [7, 7, -1], [(), (), (0, 1)])
    (2, 7)
    """
    nodes = _kernel.Nnf(np.array(kinds, np.uint8), np.array(variables, np.int32), *flat(children))
    return nodes.shared_variable(AND)
